//! Bad input to every public function: a typed error, and nothing has changed.

use super::rig::*;
use super::tests;
use folio_core::{Buffer, BufferOptions, Destination, Error, Read, Runtime};

tests![
    ranges_past_the_end,
    overlapping_accesses,
    what_touches_is_no_overlap,
    one_access_twice,
    accesses_of_other_groups,
    mismatched_reinterpretations,
    handles_of_another_runtime,
    sizes_too_large,
    wrong_pages,
    launches_larger_than_their_output,
    several_actions,
    sources_and_targets_of_other_sizes,
    errors_of_the_builder_closure,
    too_many_parameters,
    elements_that_cannot_be,
];

/// Runs `test` and looks that counters and contents are as before.
fn unchanged(
    rt: &Runtime,
    x: &mut Buffer<i32>,
    test: impl FnOnce(&mut Buffer<i32>) -> Outcome,
) -> Outcome {
    let (before, contents) = (rt.counters(), x.to_vec()?);
    test(x)?;
    ensure_eq!(rt.counters(), before, "something was counted");
    ensure_eq!(x.to_vec()?, contents, "the contents changed");
    Ok(())
}

/// BUF-01, ERR-01
fn ranges_past_the_end(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let mut x = rig.rt.buffer_from(&[1, 2, 3, 4])?;
    unchanged(&rig.rt, &mut x, |x| {
        let wrong =
            [(0, 5), (4, 1), (5, 0), (3, 2), (usize::MAX, 1), (1, usize::MAX), (usize::MAX, 0)];
        for (at, n) in wrong {
            refused!(x.slice([at], [n]), Error::OutOfRange { .. });
            refused!(x.slice_mut([at], [n]), Error::OutOfRange { .. });
            let mut run = || q.run(1, puts(9, x.slice_mut([at], [n])?));
            refused!(run(), Error::OutOfRange { .. });
        }
        refused!(x.split_at_mut(5), Error::OutOfRange { .. });
        refused!(x.split_at_mut(usize::MAX), Error::OutOfRange { .. });
        Ok(())
    })?;
    let y = rig.rt.buffer_with::<u8, 3>([2, 3, 4], BufferOptions::new().label("named"))?;
    for (at, n) in [([0, 0, 0], [2, 3, 5]), ([2, 0, 0], [1, 1, 1]), ([0, usize::MAX, 0], [1, 2, 1])]
    {
        match y.slice(at, n).map(|_| ()) {
            Err(Error::OutOfRange { buffer, offset, extent, range }) => {
                ensure_eq!(buffer.as_str(), "named");
                ensure_eq!((&offset[..], &extent[..]), (&at[..], &n[..]));
                ensure_eq!(range, [2, 3, 4]);
            }
            other => return Err(Stop::Failed(format!("{other:?}"))),
        }
    }
    Ok(())
}

/// DEP-05
fn overlapping_accesses(rig: &Rig) -> Outcome {
    rig.closures()?;
    let q = rig.queue()?;
    let mut x = rig.rt.buffer_with::<i32, 1>([8], BufferOptions::new().label("x"))?;
    x.write()?.copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8]);
    let x = x.into_shared();
    let twin = x.clone();
    let bytes = x.reinterpret::<u8, 2>([4, 8])?;
    let before = rig.rt.counters();
    // Whole against whole, writes against writes.
    refused!(
        q.submit(|cg| {
            let (a, b) = (cg.read(&x), cg.write(&twin));
            cg.host_kernel([8], (a, b), |_, _| {});
            Ok(())
        }),
        Error::Aliasing { .. }
    );
    refused!(
        q.submit(|cg| {
            cg.copy(x.slice([0], [4])?, twin.slice_mut([3], [4])?);
            Ok(())
        }),
        Error::Aliasing { .. }
    );
    refused!(
        q.submit(|cg| {
            let (a, b) = (cg.discard(x.slice_mut([0], [4])?), cg.discard(x.slice_mut([3], [1])?));
            cg.host_task((a, b), |_| {});
            Ok(())
        }),
        Error::Aliasing { .. }
    );
    // Accesses count even where the action does not use them.
    refused!(
        q.submit(|cg| {
            let (_, b) = (cg.read(&x), cg.read_write(&twin));
            cg.host_kernel([8], b, |_, _| {});
            Ok(())
        }),
        Error::Aliasing { .. }
    );
    // Through another type and shape: the bytes of element 2 are row 1, columns 0 to 3.
    let mixed = |row: usize, column: usize, n: usize| {
        q.submit(|cg| {
            let a = cg.read(x.slice([2], [1])?);
            let b = cg.write(bytes.slice_mut([row, column], [1, n])?);
            cg.host_kernel([1], (a,), |_, _| {});
            let _ = b;
            Ok(())
        })
    };
    for (row, column, n) in [(1, 0, 1), (1, 3, 5), (1, 0, 8)] {
        refused!(mixed(row, column, n), Error::Aliasing { .. });
    }
    ensure_eq!(rig.rt.counters(), before);
    mixed(0, 0, 8)?;
    mixed(1, 4, 4)?;
    mixed(2, 0, 8)?;
    match q.submit(|cg| {
        cg.label("mine");
        let (a, b) = (cg.read(&x), cg.write(&twin));
        cg.host_kernel([8], (a, b), |_, _| {});
        Ok(())
    }) {
        Err(Error::Aliasing { command, buffer, accesses, .. }) => {
            ensure_eq!((command.as_str(), buffer.as_str()), ("mine", "x"));
            ensure_eq!(accesses, [0, 1]);
        }
        other => return Err(Stop::Failed(format!("{other:?}"))),
    }
    ensure_eq!(x.to_vec()?, [1, 2, 3, 4, 5, 6, 7, 8]);
    Ok(())
}

/// DEP-05: exact element ranges count, not pages.
fn what_touches_is_no_overlap(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let mut x = rig.rt.buffer_from(&[1, 2, 3, 4, 5, 6])?;
        let (mut low, high) = x.split_at_mut(3)?;
        drop(low.write()?);
        q.run(3, adds_ten_times(high, low))?;
        q.submit(|cg| {
            let x = &x;
            cg.prefetch(x.slice([0], [2])?, Destination::Device);
            Ok(())
        })?;
        let mut pair = x.reinterpret::<i32, 2>([3, 2])?;
        let (first, mut rest) = pair.split_at_mut(1)?;
        drop(rest.write()?);
        drop((first, rest));
        let pair = pair.into_shared();
        q.submit(|cg| {
            cg.copy(pair.slice([0, 0], [1, 2])?, pair.slice_mut([1, 0], [1, 2])?);
            Ok(())
        })?;
        let x = pair;
        ensure_eq!(x.to_vec()?, [41, 52, 41, 52, 5, 6], "device {at}");
        let y = rig.rt.buffer_from(&[0; 6])?.into_shared();
        let parts = |at| y.slice_mut([at], [2]);
        let call = fills_three(parts(0)?, parts(2)?, parts(4)?);
        q.submit(|cg| {
            let _ = (cg.read(y.slice([6], [0])?), cg.write(y.slice_mut([3], [0])?));
            cg.run(2, call);
            Ok(())
        })?;
        ensure_eq!(y.to_vec()?, [1, 1, 2, 2, 3, 3], "device {at}");
        // Readers may overlap as they like.
        q.run(1, compares(&y, y.slice([1], [3])?))?.wait()?;
    }
    Ok(())
}

/// DEP-05
fn one_access_twice(rig: &Rig) -> Outcome {
    rig.closures()?;
    let q = rig.queue()?;
    let mut x = rig.rt.buffer_from(&[1, 2])?;
    unchanged(&rig.rt, &mut x, |x| {
        for task in [false, true] {
            let event = q.submit(|cg| {
                let x = cg.read_write(&mut *x);
                if task {
                    cg.host_task((x, x), |(mut a, b)| a.copy_from_slice(&b));
                } else {
                    cg.host_kernel([2], (x, x), |i, (mut a, mut b)| {
                        std::mem::swap(&mut a[i], &mut b[i]);
                    });
                }
                Ok(())
            });
            refused!(event, Error::Aliasing { .. });
            let event = q.submit(|cg| {
                let x = cg.write(&mut *x);
                cg.host_kernel([2], [x, x], |_, _| {});
                Ok(())
            });
            refused!(event, Error::Aliasing { .. });
        }
        Ok(())
    })?;
    q.submit(|cg| {
        let x = cg.read(&x);
        cg.host_kernel([2], (x, [x, x]), |i, (a, [b, c])| assert_eq!(a[i] + b[i], 2 * c[i]));
        Ok(())
    })?
    .wait()?;
    Ok(())
}

/// DEP-05, ERR-01
fn accesses_of_other_groups(rig: &Rig) -> Outcome {
    rig.closures()?;
    let q = rig.queue()?;
    let mut x = rig.rt.buffer_from(&[1, 2])?;
    let other = rig.rt.buffer_from(&[3, 4])?;
    let mut foreign: Option<Read<i32>> = None;
    q.submit(|cg| {
        foreign = Some(cg.read(&other));
        Ok(())
    })?;
    let Some(foreign) = foreign else { return Err(Stop::Failed("no access".into())) };
    unchanged(&rig.rt, &mut x, |x| {
        let event = q.submit(|cg| {
            let x = cg.read_write(&mut *x);
            cg.host_kernel([2], (x, foreign), |i, (mut x, y)| x[i] = y[i]);
            Ok(())
        });
        refused!(event, Error::ForeignAccess { .. });
        let event = q.submit(|cg| {
            cg.host_task(foreign, |_| {});
            Ok(())
        });
        refused!(event, Error::ForeignAccess { .. });
        Ok(())
    })
}

/// BUF-06
fn mismatched_reinterpretations(rig: &Rig) -> Outcome {
    let x = rig.rt.buffer_from(&[1u8; 12])?.into_shared();
    refused!(x.reinterpret::<u32, 1>([4]), Error::Reinterpret { .. });
    refused!(x.reinterpret::<u32, 1>([2]), Error::Reinterpret { .. });
    refused!(x.reinterpret::<u64, 1>([1]), Error::Reinterpret { .. });
    refused!(x.reinterpret::<u16, 2>([2, usize::MAX]), Error::Reinterpret { .. });
    refused!(x.reinterpret::<[u8; 0], 1>([12]), Error::Reinterpret { .. });
    refused!(x.reinterpret::<u8, 3>([usize::MAX, 2, 6]), Error::Reinterpret { .. });
    ensure_eq!(x.reinterpret::<u32, 2>([3, 1])?.to_vec()?, [0x0101_0101; 3]);
    ensure_eq!(x.to_vec()?, [1; 12]);
    Ok(())
}

/// ERR-01
fn handles_of_another_runtime(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let other = rig.builder().build()?;
    let theirs = other.buffer_from(&[1, 2])?;
    let event = on(&other, 0)?.submit(|_| Ok(()))?;
    let mut x = rig.rt.buffer_from(&[1, 2])?;
    unchanged(&rig.rt, &mut x, |x| {
        refused!(read_into(&q, &theirs, x), Error::WrongRuntime { what: "buffer", .. });
        let after = q.submit(|cg| {
            cg.after(&event);
            Ok(())
        });
        refused!(after, Error::WrongRuntime { what: "event", .. });
        let devices = other.devices();
        let queue = rig.rt.queue_over(&devices, folio_core::sched::RoundRobin);
        refused!(queue, Error::WrongRuntime { what: "device", .. });
        refused!(rig.rt.queue_on(&devices[0]), Error::WrongRuntime { what: "device", .. });
        Ok(())
    })
}

/// ERR-01
fn sizes_too_large(rig: &Rig) -> Outcome {
    refused!(rig.rt.buffer::<u64, 1>(usize::MAX), Error::TooLarge { .. });
    refused!(rig.rt.buffer::<u64, 1>(usize::MAX / 8), Error::TooLarge { .. });
    let options = BufferOptions::new;
    let cube = [1 << 22, 1 << 22, 1 << 22];
    refused!(rig.rt.buffer_with::<u8, 3>(cube, options()), Error::TooLarge { .. });
    let zero = [usize::MAX, usize::MAX, 0];
    if let Ok(buffer) = rig.rt.buffer_with::<u8, 3>(zero, options()) {
        ensure_eq!(buffer.len(), 0);
        ensure_eq!(buffer.to_vec()?.len(), 0);
    }
    // Large enough to be legal, too large for any machine: an error on first use.
    let q = rig.queue()?;
    let mut huge = rig.rt.buffer::<u8, 1>(isize::MAX as usize / 2)?;
    let before = rig.rt.counters();
    let event = q.submit(|cg| {
        cg.fill(huge.slice_mut([7], [1])?, 1);
        Ok(())
    });
    refused!(event, Error::OutOfMemory { .. } | Error::Device { .. });
    refused!(huge.read(), Error::OutOfMemory { .. });
    ensure_eq!(rig.rt.counters(), before);
    Ok(())
}

/// PAGE-01
fn wrong_pages(rig: &Rig) -> Outcome {
    let with = |page: &[usize]| {
        rig.rt.buffer_with::<i32, 2>([4, 4], BufferOptions::new().page(page)).map(|_| ())
    };
    for page in [&[][..], &[2], &[2, 2, 2], &[0, 2], &[2, 0]] {
        refused!(with(page), Error::Configuration { what: "page", .. });
    }
    with(&[1, 4])?;
    Ok(())
}

/// KRN-03
fn launches_larger_than_their_output(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let mut x = rig.rt.buffer_from(&[1, 2, 3, 4])?;
    unchanged(&rig.rt, &mut x, |x| {
        match q.run(5, puts(9, &mut *x)) {
            // A buffer without a name goes by the parameter's.
            Err(Error::LaunchTooLarge { access: 0, buffer, .. }) => {
                ensure_eq!(buffer.as_str(), "x");
            }
            other => return Err(Stop::Failed(format!("{other:?}"))),
        }
        let part = q.submit(|cg| {
            cg.label("wide").run(3, adds(9, x.slice_mut([1], [2])?));
            Ok(())
        });
        match part {
            Err(Error::LaunchTooLarge { command, launch, extent, .. }) => {
                ensure_eq!(command.as_str(), "wide");
                ensure_eq!((&launch[..], &extent[..]), (&[3][..], &[2][..]));
            }
            other => return Err(Stop::Failed(format!("{other:?}"))),
        }
        let empty = q.run(1, puts(9, x.slice_mut([1], [0])?));
        refused!(empty, Error::LaunchTooLarge { .. });
        Ok(())
    })?;
    let mut y = rig.rt.buffer::<i32, 2>([4, 2])?;
    refused!(q.run([2, 4], puts_2(9, &mut y)), Error::LaunchTooLarge { .. });
    ensure_eq!(y.to_vec()?, [0; 8]);
    // Smaller is fine.
    q.run([3, 1], puts_2(9, &mut y))?;
    ensure_eq!(y.to_vec()?, [9, 0, 9, 0, 9, 0, 0, 0]);
    Ok(())
}

/// ERR-01
fn several_actions(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let mut x = rig.rt.buffer_from(&[1, 2])?;
    unchanged(&rig.rt, &mut x, |x| {
        let event = q.submit(|cg| {
            cg.fill(&mut *x, 1);
            cg.host_task((), |()| {});
            Ok(())
        });
        refused!(event, Error::Actions { actions: 2, .. });
        let event = q.submit(|cg| {
            cg.prefetch(&*x, Destination::Device);
            cg.prefetch(&*x, Destination::Host);
            cg.host_task((), |()| {});
            Ok(())
        });
        refused!(event, Error::Actions { actions: 3, .. });
        Ok(())
    })
}

/// ERR-01
fn sources_and_targets_of_other_sizes(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let y = rig.rt.buffer_from(&[9, 9, 9])?;
    let square = rig.rt.buffer::<i32, 2>([1, 2])?;
    let tall = rig.rt.buffer::<i32, 2>([2, 1])?;
    let mut x = rig.rt.buffer_from(&[1, 2])?;
    unchanged(&rig.rt, &mut x, |x| {
        let copy = q.submit(|cg| {
            cg.copy(&y, &mut *x);
            Ok(())
        });
        refused!(copy, Error::Mismatch { .. });
        let turned = q.submit(|cg| {
            cg.copy(&tall, &mut *x);
            Ok(())
        });
        refused!(turned, Error::Mismatch { .. });
        for data in [&[][..], &[1], &[1, 2, 3]] {
            let upload = q.submit(|cg| {
                cg.copy_from_slice(data, &mut *x);
                Ok(())
            });
            refused!(upload, Error::Mismatch { .. });
        }
        Ok(())
    })?;
    q.submit(|cg| {
        cg.copy(&square, &mut x);
        Ok(())
    })?;
    ensure_eq!(x.to_vec()?, [0, 0]);
    let from = |range: [usize; 2]| rig.rt.buffer_from((&[1, 2, 3], range)).map(|_| ());
    refused!(from([2, 2]), Error::Mismatch { .. });
    refused!(from([1, 2]), Error::Mismatch { .. });
    refused!(from([usize::MAX, 3]), Error::Mismatch { .. });
    from([3, 1])?;
    Ok(())
}

/// ERR-01: an error of the closure is the submission's, and nothing has happened.
fn errors_of_the_builder_closure(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let mut x = rig.rt.buffer_from(&[1, 2])?;
    unchanged(&rig.rt, &mut x, |x| {
        let event = q.submit(|cg| -> Result<(), Error> {
            cg.fill(&mut *x, 3);
            Err(Error::ShutDown)
        });
        refused!(event, Error::ShutDown);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            q.submit(|cg| -> Result<(), Error> {
                cg.fill(&mut *x, 3);
                panic!("in the closure")
            })
        }));
        ensure!(panicked.is_err(), "the panic was lost");
        Ok(())
    })?;
    add(&q, &mut x, 1)?;
    ensure_eq!(x.to_vec()?, [2, 3]);
    Ok(())
}

/// ERR-01
fn too_many_parameters(rig: &Rig) -> Outcome {
    rig.closures()?;
    const MOST: usize = 300;
    let q = rig.queue()?;
    let limit = q.device().info().caps.max_params;
    let x = rig.rt.buffer_from(&[1, 2])?;
    let event = q.submit(|cg| {
        let all: [Read<i32>; MOST] = std::array::from_fn(|_| cg.read(&x));
        cg.host_kernel([1], all, |i, all| assert!(all.iter().all(|x| x[i] == 1)));
        Ok(())
    });
    if limit < MOST {
        refused!(event, Error::Unsupported { .. });
    } else {
        event?.wait()?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
#[repr(align(128))]
struct Aligned([u8; 128]);
// SAFETY: bytes without padding.
unsafe impl folio_core::DeviceType for Aligned {}

/// BUF-06, ERR-01
fn elements_that_cannot_be(rig: &Rig) -> Outcome {
    refused!(rig.rt.buffer::<[u32; 0], 1>(4), Error::Configuration { what: "element type", .. });
    refused!(rig.rt.buffer::<Aligned, 1>(4), Error::Configuration { what: "element type", .. });
    let bytes = rig.rt.buffer::<u8, 1>(512)?.into_shared();
    refused!(bytes.reinterpret::<Aligned, 1>([4]), Error::Reinterpret { .. });
    ensure_eq!(Aligned([1; 128]).0[0], 1);
    Ok(())
}
