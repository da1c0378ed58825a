//! Scopes: storage that is only borrowed, and comes back.

use super::rig::*;
use super::tests;
use folio_core::geom::{Box3, Dims};
use folio_core::pages::{DenseTrackers, DomainId, DomainSet, PageTracker, PageTrackerFactory};
use folio_core::{Buffer, BufferOptions, Error, Event, Queue, Shared};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

tests![
    what_was_written_is_in_the_slice,
    a_slice_to_read_is_only_read,
    a_scope_waits_for_what_is_deferred,
    handles_in_other_threads_end_with_the_scope,
    failures_come_out_of_the_scope,
    a_panic_in_a_scope_waits_for_its_commands,
    a_views_own_memory_is_not_released,
    lent_memory_is_as_aligned_as_it_is,
    scopes_in_host_tasks,
];

fn increment(q: &Queue, x: &Shared<i32>) -> Result<Event, Error> {
    q.run(x.len(), adds(1, x))
}

/// POL-05, POL-03
fn what_was_written_is_in_the_slice(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let (mut whole, mut part, input) = ([1; 8], [1; 8], [10, 20, 30, 40]);
        let sum = rig.rt.scope(|scope| -> Result<i32, Error> {
            let (x, mut y) =
                (scope.view_mut(&mut whole)?.into_shared(), scope.view_mut(&mut part)?);
            let input = scope.view(&input)?;
            for _ in 0..3 {
                increment(&q, &x)?;
            }
            q.run(4, copies(&input, y.slice_mut([2], [4])?))?;
            // Its own contents can be asked for inside, too.
            Ok(x.to_vec()?.iter().sum())
        })??;
        ensure_eq!(sum, 32, "device {at}");
        ensure_eq!(whole, [4; 8], "device {at}");
        ensure_eq!(part, [1, 1, 10, 20, 30, 40, 1, 1], "device {at}");
    }
    Ok(())
}

/// Says that everything is on the second memory and nowhere else.
struct Elsewhere;

impl PageTrackerFactory for Elsewhere {
    fn make(&self, _: Dims) -> Box<dyn PageTracker> {
        Box::new(Elsewhere)
    }
}

impl PageTracker for Elsewhere {
    fn visit(&self, range: &Box3, out: &mut dyn FnMut(Box3, DomainSet)) {
        out(*range, DomainSet::of(DomainId(1)));
    }
    fn set(&mut self, _: &Box3, _: DomainSet) {}
    fn insert(&mut self, _: &Box3, _: DomainId) {}
    fn remove(&mut self, _: &Box3, _: DomainId) {}
    fn name(&self) -> &'static str {
        "elsewhere"
    }
}

/// POL-05, PAGE-05: others may read the slice meanwhile, so nothing is ever copied into it, not
/// even where a user's tracker says that it is out of date.
fn a_slice_to_read_is_only_read(rig: &Rig) -> Outcome {
    let rt = rig.builder().page_tracker(Arc::new(Elsewhere)).build()?;
    let own = || BufferOptions::new().tracker(Arc::new(DenseTrackers));
    for at in 0..rt.devices().len() {
        let q = on(&rt, at)?;
        let input = vec![5; 100];
        let mut copy = rt.buffer_with([100], own())?;
        let before = rt.counters().device_to_host;
        rt.scope(|scope| -> Outcome {
            let view = scope.view(&input)?;
            ensure_eq!((view.len(), view.is_empty()), (100, false));
            for _ in 0..2 {
                q.run(100, copies(&view, &mut copy))?.wait()?;
                let task = q.submit(|cg| {
                    let view = cg.read(&view);
                    cg.host_task(view, |view| assert_eq!(view.to_vec(), [5; 100]));
                    Ok(())
                })?;
                ensure_eq!(input.iter().sum::<i32>(), 500);
                task.wait()?;
            }
            Ok(())
        })??;
        ensure_eq!(rt.counters().device_to_host, before, "device {at}");
        ensure_eq!(copy.to_vec()?, [5; 100], "device {at}");
        ensure_eq!(input, [5; 100]);
    }
    Ok(())
}

/// POL-05: also for work that has not begun.
fn a_scope_waits_for_what_is_deferred(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let gate = Gate::new();
        let door = gate.door();
        let opened = AtomicBool::new(false);
        let mut data = [1; 8];
        std::thread::scope(|threads| {
            rig.rt.scope(|scope| -> Outcome {
                let x = scope.view_mut(&mut data)?.into_shared();
                let task = q.submit(|cg| {
                    cg.host_task((), move |()| door.pass());
                    Ok(())
                })?;
                let call = adds(6, &x);
                q.submit(|cg| {
                    cg.after(&task).run(8, call);
                    Ok(())
                })?;
                threads.spawn(|| {
                    std::thread::sleep(Duration::from_millis(5));
                    opened.store(true, Ordering::Release);
                    gate.open();
                });
                Ok(())
            })?
        })?;
        ensure!(opened.load(Ordering::Acquire), "did not wait");
        ensure_eq!(data, [7; 8], "device {at}");
    }
    Ok(())
}

/// POL-05, ERR-04: another thread goes on with a handle; from the end of the scope on it is
/// refused, and the slice changes no more.
fn handles_in_other_threads_end_with_the_scope(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let mut data = [0; 8];
        let (after, counted) = std::thread::scope(|threads| -> Result<_, Stop> {
            let others = rig.rt.scope(|scope| -> Result<_, Stop> {
                let x = scope.view_mut(&mut data)?.into_shared();
                let others = (0..2).map(|_| {
                    let (q, x) = (rig.on(at)?, x.clone());
                    Ok(threads.spawn(move || {
                        let mut n = 0;
                        loop {
                            match increment(&q, &x) {
                                Ok(_) => n += 1,
                                Err(Error::ScopeEnded { .. }) => return Ok(n),
                                Err(other) => return Err(other),
                            }
                            if n % 16 == 0 {
                                q.wait()?;
                            }
                        }
                    }))
                });
                let others: Result<Vec<_>, Stop> = others.collect();
                std::thread::sleep(Duration::from_millis(2));
                others
            })??;
            // Here the scope is over and the slice is ours again, whatever the threads do.
            let after = data;
            let counted = others.into_iter().map(|thread| match thread.join() {
                Ok(n) => Ok(n?),
                Err(_) => Err(Stop::Failed("a thread panicked".into())),
            });
            let counted: Result<Vec<i32>, Stop> = counted.collect();
            ensure_eq!(data, after, "written after the scope");
            Ok((after, counted?))
        })?;
        ensure_eq!(after, [counted.iter().sum::<i32>(); 8], "device {at}");
    }
    Ok(())
}

/// POL-05, ERR-02
fn failures_come_out_of_the_scope(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let (mut bad, mut good) = ([1; 8], [1; 8]);
        let result = rig.rt.scope(|scope| -> Result<(), Error> {
            let (x, y) =
                (scope.view_mut(&mut bad)?.into_shared(), scope.view_mut(&mut good)?.into_shared());
            q.run(8, fails(3, &x))?;
            increment(&q, &x)?;
            increment(&q, &y)?;
            Ok(())
        });
        let root = failure(result)?;
        ensure_eq!(panic_message(&root).as_deref(), Some("on purpose"));
        // Nothing but what it held before or what the kernels wrote; and the other view is whole.
        ensure!(bad.iter().all(|v| (1..=2).contains(v)), "{bad:?}");
        ensure_eq!(good, [2; 8], "device {at}");
    }
    Ok(())
}

/// POL-05, BUF-01
fn a_views_own_memory_is_not_released(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let home = folio_core::hal::MemoryHome::Host;
    let Some(host) = rig.rt.devices().into_iter().find(|d| d.info().home == home) else {
        return unsupported("a device in the host's memory");
    };
    let far = rig.separate(1)?.remove(0);
    let mut data = [1; 8];
    rig.rt.scope(|scope| -> Outcome {
        let mut x = scope.view_mut(&mut data)?;
        add(&far, &mut x, 1)?.wait()?;
        refused!(x.release(&host), Error::InUse { .. });
        add(&q, &mut x, 1)?.wait()?;
        x.release(&far.device())?;
        Ok(())
    })??;
    ensure_eq!(data, [3; 8]);
    Ok(())
}

/// POL-05, ERR-02: the slice is nobody's but the program's when the panic leaves the scope.
fn a_panic_in_a_scope_waits_for_its_commands(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        for leaks in [false, true] {
            let mut data = [1; 8];
            let inside = std::panic::AssertUnwindSafe(|| {
                rig.rt.scope(|scope| {
                    let x = scope.view_mut(&mut data).map(Buffer::into_shared);
                    if let Ok(x) = &x {
                        (0..3).for_each(|_| drop(increment(&q, x)));
                    }
                    if leaks {
                        std::mem::forget(x);
                    }
                    std::panic::resume_unwind(Box::new("on purpose"));
                })
            });
            let payload = std::panic::catch_unwind(inside).map(|_: Result<(), _>| ()).err();
            let payload = payload.and_then(|payload| payload.downcast_ref::<&str>().copied());
            ensure_eq!((payload, data), (Some("on purpose"), [4; 8]), "device {at}");
        }
    }
    Ok(())
}

/// BUF-06, POL-05
fn lent_memory_is_as_aligned_as_it_is(rig: &Rig) -> Outcome {
    let mut words = [0u64; 4];
    // SAFETY: the bytes of four words, borrowed from them.
    let bytes = unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), 32) };
    rig.rt.scope(|scope| -> Outcome {
        let odd: Shared<u8> = scope.view_mut(&mut bytes[1..17])?.into_shared();
        refused!(odd.reinterpret::<u64, 1>([2]), Error::Reinterpret { .. });
        refused!(odd.reinterpret::<u16, 1>([8]), Error::Reinterpret { .. });
        ensure_eq!(odd.reinterpret::<u8, 2>([4, 4])?.len(), 16);
        Ok(())
    })??;
    rig.rt.scope(|scope| -> Outcome {
        let even: Buffer<u8> = scope.view_mut(&mut bytes[8..24])?;
        even.reinterpret::<u64, 1>([2])?;
        Ok(())
    })?
}

/// POL-05, DEP-04
fn scopes_in_host_tasks(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let (rt, inner) = (rig.rt.clone(), q.clone());
        let (tell, told) = std::sync::mpsc::channel();
        q.submit(|cg| {
            cg.host_task((), move |()| -> Result<(), Error> {
                let mut data = [1; 4];
                rt.scope(|scope| increment(&inner, &scope.view_mut(&mut data)?.into_shared()))??;
                let _ = tell.send(data);
                Ok(())
            });
            Ok(())
        })?
        .wait()?;
        ensure_eq!(told.recv().ok(), Some([2; 4]), "device {at}");
    }
    Ok(())
}
