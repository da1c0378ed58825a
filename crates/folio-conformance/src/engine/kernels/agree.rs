//! Each kernel launched on each device, as a function on the host, and interpreted: three times the
//! same bits, all NaN being one, or the same violation (KRN-01, KRN-04).

use super::code::*;
use crate::engine::rig::*;
use folio::prelude::*;
use folio_core::hal::ParamPtr;
use folio_core::ir::device::{Code, Kernel, Launched, Positions, run as compute, watch};
use folio_core::ir::launch::Launch;
use folio_core::{Violation, ViolationKind, bf16, f16};
use folio_interp::interp::{Arg, Order, run, same};

/// A view's elements.
pub(super) struct Data<T, const D: usize> {
    extent: [usize; D],
    pub(super) values: Vec<T>,
}

pub(super) fn data<T: DeviceType, const D: usize>(
    extent: [usize; D],
    of: impl Fn(usize) -> T,
) -> Data<T, D> {
    Data { extent, values: (0..extent.iter().product()).map(of).collect() }
}

fn bytes<T: DeviceType>(values: &[T]) -> Vec<u8> {
    let (first, len) = (values.as_ptr().cast::<u8>(), size_of_val(values));
    // SAFETY: device types have no padding, so all their bytes are initialised.
    unsafe { std::slice::from_raw_parts(first, len) }.to_vec()
}

pub(super) fn scalar<T: DeviceType>(value: T) -> Arg {
    Arg::Scalar(bytes(&[value]))
}

impl<T: DeviceType, const D: usize> Data<T, D> {
    pub(super) fn buffer(&self, rt: &Runtime) -> Result<Buffer<T, D>, Error> {
        rt.buffer_from((&self.values, self.extent))
    }

    pub(super) fn arg(&self) -> Arg {
        let extent = self.extent.iter().map(|n| *n as u64).collect();
        Arg::View { extent, bytes: bytes(&self.values) }
    }
}

/// The outputs of a run, or its failure.
type Ended = Result<Vec<Vec<u8>>, Violation>;

/// The arguments, with these bytes in the last views of them.
fn with_views(args: &[Arg], views: Vec<Vec<u8>>) -> Vec<Arg> {
    let mut args = args.to_vec();
    let held = args.iter_mut().rev().filter_map(|arg| match arg {
        Arg::View { bytes, .. } | Arg::Reduce(bytes) => Some(bytes),
        Arg::Scalar(_) | Arg::Local => None,
    });
    held.zip(views.into_iter().rev()).for_each(|(held, view)| *held = view);
    args
}

/// How the Rust form ended, and what is in its views then.
type Computed = (Result<(), Violation>, Vec<Vec<u8>>);

/// Launches a kernel, and gives what is in its outputs.
type LaunchFn<'l> = &'l dyn Fn(&Runtime, &Queue) -> Result<Vec<Vec<u8>>, Error>;

/// The Rust form on copies of the arguments, as one block.
fn on_the_host<K: Kernel>((range, group): (&[usize], Option<&[usize]>), args: &[Arg]) -> Computed {
    let (mut scalars, mut memory, mut params) = (vec![], vec![], vec![]);
    for arg in args {
        let words = |bytes: &[u8]| {
            let mut words = vec![0u64; bytes.len().div_ceil(8)];
            for (at, byte) in bytes.iter().enumerate() {
                words[at / 8] |= u64::from(*byte) << (at % 8 * 8);
            }
            words
        };
        match arg {
            Arg::Scalar(bytes) => scalars.extend(words(bytes)),
            Arg::View { .. } | Arg::Reduce(_) => {
                let (extent, bytes): (&[u64], _) = match arg {
                    Arg::View { extent, bytes } => (extent, bytes),
                    Arg::Reduce(bytes) => (&[1], bytes),
                    _ => continue,
                };
                memory.push((words(bytes), bytes.len()));
                let mut dims = [1; 3];
                for (dim, n) in extent.iter().enumerate() {
                    dims[3 - extent.len() + dim] = *n as usize;
                }
                let base = memory.last_mut().map_or(std::ptr::null_mut(), |m| m.0.as_mut_ptr());
                let (origin, index, base) = ([0; 3], [0; 3], base.cast());
                params.push(ParamPtr { base, dims, origin, extent: dims, index, shape: dims });
            }
            Arg::Local => {}
        }
    }
    let three = |dims: &[usize]| {
        let mut all = [1; 3];
        all[3 - dims.len()..].copy_from_slice(dims);
        all
    };
    let block = Positions { min: [0; 3], max: three(range) };
    let reductions = args.iter().filter(|arg| matches!(arg, Arg::Reduce(_))).count();
    let launch = Launched::new([0; 3], three(range), three(group.unwrap_or(&[])), reductions);
    // SAFETY: the memory above, of the arguments' shapes, and each position once.
    let verdict =
        watch(K::FUNCTION, &mut || unsafe { compute::<K>(&scalars, &params, &block, &launch) });
    let left = memory
        .into_iter()
        .map(|(words, len)| words.iter().flat_map(|word| word.to_le_bytes()).take(len).collect());
    (verdict.map_err(|violation| *violation), left.collect())
}

/// The three ways of a kernel give the same; `launch` runs it and gives what is in its outputs,
/// which are its last views. Returns how it failed, if so.
pub(super) fn agree<K: Kernel>(
    rig: &Rig,
    range: &[usize],
    args: Vec<Arg>,
    launch: impl Fn(&Runtime, &Queue) -> Result<Vec<Vec<u8>>, Error>,
) -> Result<Option<Violation>, Stop> {
    agree_in::<K>(rig, (range, None), args, launch)
}

/// The same, in groups.
pub(super) fn agree_in<K: Kernel>(
    rig: &Rig,
    (range, group): (&[usize], Option<&[usize]>),
    args: Vec<Arg>,
    launch: impl Fn(&Runtime, &Queue) -> Result<Vec<Vec<u8>>, Error>,
) -> Result<Option<Violation>, Stop> {
    let code = K::code().as_ref().map_err(|error| Stop::Failed(error.to_string()))?;
    let native = on_the_host::<K>((range, group), &args);
    agrees(rig, (range, group), args, (code, native), &launch)
}

/// The part that does not depend on a kernel's type, so that it is compiled once.
fn agrees(
    rig: &Rig,
    (range, group): (&[usize], Option<&[usize]>),
    args: Vec<Arg>,
    (code, (verdict, native)): (&Code, Computed),
    launch: LaunchFn<'_>,
) -> Result<Option<Violation>, Stop> {
    let mut shape = Launch { range: [1; 3], ..Launch::default() };
    for (dim, n) in range.iter().enumerate() {
        shape.range[dim] = *n as u64;
    }
    for (dim, n) in group.into_iter().flatten().enumerate() {
        shape.group[dim] = *n as u64;
    }
    let mut theirs = args;
    let ran = run(&code.ir, &shape, &mut theirs, Order::Forward, 10_000_000);
    let failure = match ran {
        Ok(ran) => ran.failure,
        Err(stop) => return Err(Stop::Failed(format!("{stop:?}\n{}", code.ir))),
    };
    let wanted = match failure {
        None => None,
        Some(failure) => match failure.violation(&code.ir) {
            Some(violation) => Some(violation),
            None => return Err(Stop::Failed("a failure without a place".into())),
        },
    };
    let compare = |found: Ended, place: &dyn std::fmt::Display| {
        let why = match (&wanted, found) {
            (None, Ok(views)) => same(&code.ir, &theirs, &with_views(&theirs, views)).err(),
            (Some(wanted), Err(found)) if *wanted == found => None,
            (wanted, found) => Some(format!("{found:?}, but {wanted:?} when interpreted")),
        };
        ensure!(why.is_none(), "on {place}: {why:?}\n{}", code.ir);
        Ok(())
    };
    compare(verdict.map(|()| native), &"the host")?;
    for at in 0..rig.rt.devices().len() {
        let found: Ended = match launch(&rig.rt, &rig.on(at)?) {
            Ok(outputs) => Ok(outputs),
            Err(Error::Failed(failure)) => match failure.cause() {
                folio_core::Cause::Kernel(violation) => Err((**violation).clone()),
                _ => return Err(Stop::Failed(failure.to_string())),
            },
            Err(other) => return Err(other.into()),
        };
        compare(found, &format_args!("device {at}"))?;
    }
    Ok(wanted)
}

pub(super) fn contents<T: DeviceType, const D: usize>(
    buffer: &Buffer<T, D>,
) -> Result<Vec<u8>, Error> {
    Ok(bytes(&buffer.to_vec()?))
}

/// Inputs by their places.
pub(super) type Floats = fn(usize) -> f32;

pub(super) fn wave(k: usize) -> f32 {
    (k as f32 * 0.7).sin() * 8.0
}

pub(super) fn noise(k: usize) -> i32 {
    (k as i32).wrapping_mul(0x9e37_79b1u32 as i32) ^ (k as i32) << 13
}

/// Fails unless the kernel came to its end.
pub(super) fn fine(failed: Option<Violation>) -> Outcome {
    match failed {
        None => Ok(()),
        Some(violation) => Err(Stop::Failed(violation.to_string())),
    }
}

pub(super) fn one_dimension(rig: &Rig) -> Outcome {
    lines(rig, wave)
}

pub(super) fn lines(rig: &Rig, of: Floats) -> Outcome {
    let (x, y) = (data([100], of), data([100], |k| of(k + 50)));
    fine(agree::<saxpy>(rig, &[100], vec![scalar(1.5f32), x.arg(), y.arg()], |rt, q| {
        let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
        q.run(y.range(), saxpy(1.5, &x, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)?;
    fine(agree::<guarded>(rig, &[100], vec![x.arg(), y.arg()], |rt, q| {
        let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
        q.run(y.range(), guarded(&x, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)
}

pub(super) fn planes(rig: &Rig, of: Floats) -> Outcome {
    let (x, y) = (data([9, 7], of), data([9, 7], |_| 0f32));
    fine(agree::<stencil>(rig, &[9, 7], vec![x.arg(), y.arg()], |rt, q| {
        let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
        q.run(y.range(), stencil(&x, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)
}

pub(super) fn more_dimensions(rig: &Rig) -> Outcome {
    planes(rig, wave)?;
    let (x, y) = (data([3, 4, 5], noise), data([3, 4, 5], |_| 0));
    fine(agree::<shifted>(rig, &[3, 4, 5], vec![x.arg(), y.arg()], |rt, q| {
        let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
        q.run(y.range(), shifted(&x, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)?;
    let out = data([12, 20], |_| 0u32);
    let args = vec![scalar(20f32), scalar(12f32), out.arg()];
    fine(agree::<mandelbrot>(rig, &[12, 20], args, |rt, q| {
        let mut out = out.buffer(rt)?;
        q.run(out.range(), mandelbrot(20.0, 12.0, &mut out))?;
        Ok(vec![contents(&out)?])
    })?)
}

pub(super) fn structs_and_device_functions(rig: &Rig) -> Outcome {
    bodies(rig, wave)?;
    let three = |k: usize| three(wave, k);
    let (a, b) = (three(1), three(2));
    ensure_eq!(minus(a, b).z, a.z - b.z);
    ensure_eq!(lerp(1.0f32, 3.0, 0.5), 2.0);
    Ok(())
}

fn three(of: Floats, k: usize) -> Vec3 {
    Vec3 { x: of(k), y: of(k + 100), z: of(k + 200) }
}

pub(super) fn bodies(rig: &Rig, of: Floats) -> Outcome {
    let body = |k: usize| {
        let (pos, vel) = (three(of, k), three(of, k + 300));
        Body { pos, mass: of(k + 7), vel, spare: 0.0 }
    };
    let bodies = data([24], body);
    let args = vec![scalar(0.01f32), bodies.arg(), bodies.arg()];
    fine(agree::<nbody>(rig, &[24], args, |rt, q| {
        let (p, mut out) = (bodies.buffer(rt)?, rt.buffer(24)?);
        q.run(out.range(), nbody(0.01, &p, &mut out))?;
        Ok(vec![contents(&out)?])
    })?)
}

/// Loops of which several turns may be written down at once, with others left over and without.
pub(super) fn loops_walk_through_views(rig: &Rig) -> Outcome {
    for n in [1, 3, 15, 16, 17, 51] {
        let element = |k: usize| (k as u32).wrapping_mul(0x9e37_79b1) >> 16;
        let (x, y) = (data([n, n], element), data([n], |_| 0u32));
        fine(agree::<walks>(rig, &[n], vec![x.arg(), y.arg()], |rt, q| {
            let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
            q.run(y.range(), walks(&x, &mut y))?;
            Ok(vec![contents(&y)?])
        })?)?;
        fine(agree::<strides>(rig, &[n], vec![x.arg(), y.arg()], |rt, q| {
            let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
            q.run(y.range(), strides(&x, &mut y))?;
            Ok(vec![contents(&y)?])
        })?)?;
    }
    Ok(())
}

/// A generic kernel at one type.
pub(super) fn at_type<T: DeviceType + Number>(rig: &Rig, t: T, of: impl Fn(usize) -> T) -> Outcome {
    let (a, b) = (data([30], &of), data([30], |k| of(k + 9)));
    let o = data([30], |_| T::ZERO);
    let args = vec![scalar(t), a.arg(), b.arg(), o.arg()];
    fine(agree::<blend<T>>(rig, &[30], args, |rt, q| {
        let (a, b, mut o) = (a.buffer(rt)?, b.buffer(rt)?, o.buffer(rt)?);
        q.run(o.range(), blend(t, &a, &b, &mut o))?;
        Ok(vec![contents(&o)?])
    })?)
}

pub(super) fn generic_kernels(rig: &Rig) -> Outcome {
    let single = |k: usize| k as f32 * 0.25 - 3.0;
    at_type(rig, 0.3f32, single)?;
    at_type(rig, 0.3f64, |k| f64::from(single(k)))?;
    at_type(rig, f16::from_f32(0.3), |k| f16::from_f32(single(k)))?;
    at_type(rig, bf16::from_f32(0.3), |k| bf16::from_f32(single(k)))?;
    at_type(rig, 7, noise)?;
    at_type(rig, 7, |k| noise(k) as u32)?;
    at_type(rig, -7, |k| noise(k) as i64)?;
    at_type(rig, 7, |k| noise(k) as u64)?;
    let (x, o) = (data([200], noise), data([200], |k| k as i32));
    for _ in 0..2 {
        let args = || vec![x.arg(), o.arg()];
        fine(agree::<zoo<5>>(rig, &[200], args(), |rt, q| {
            let (x, mut o) = (x.buffer(rt)?, o.buffer(rt)?);
            q.run(o.range(), zoo::<5>(&x, &mut o))?;
            Ok(vec![contents(&o)?])
        })?)?;
        fine(agree::<zoo<2>>(rig, &[200], args(), |rt, q| {
            let (x, mut o) = (x.buffer(rt)?, o.buffer(rt)?);
            q.run(o.range(), zoo::<2>(&x, &mut o))?;
            Ok(vec![contents(&o)?])
        })?)?;
    }
    Ok(())
}

/// semantics 3, 4
pub(super) fn edges_of_integers(rig: &Rig) -> Outcome {
    let edges = [0, 1, -1, i32::MIN, i32::MAX, 31, 32, 33, 255, -128, 7];
    let n = edges.len() * edges.len();
    let a = data([n], |k| edges[k / edges.len()]);
    let b = data([n], |k| edges[k % edges.len()]);
    let o = data([n], |_| 0i64);
    fine(agree::<integers>(rig, &[n], vec![a.arg(), b.arg(), o.arg()], |rt, q| {
        let (x, y, mut o) = (a.buffer(rt)?, b.buffer(rt)?, o.buffer(rt)?);
        q.run(o.range(), integers(&x, &y, &mut o))?;
        Ok(vec![contents(&o)?])
    })?)?;
    let b = data([n], |k| match b.values[k] {
        0 => 1,
        other => other,
    });
    fine(agree::<divides>(rig, &[n], vec![a.arg(), b.arg(), a.arg()], |rt, q| {
        let (x, y, mut o) = (a.buffer(rt)?, b.buffer(rt)?, rt.buffer(n)?);
        q.run(o.range(), divides(&x, &y, &mut o))?;
        Ok(vec![contents(&o)?])
    })?)
}

/// semantics 3.4: the Rust form has the standard library's functions, the IR what they are made of.
pub(super) fn more_of_integers(rig: &Rig) -> Outcome {
    let edges = [0, 1, -1, i64::MIN, i64::MAX, 3, 7, -128, 255, 1 << 31, -5, 0x1234_5678_9abc_def1];
    let n = edges.len() * edges.len();
    macro_rules! agrees {
        ($($kernel:ident $t:ident $u:ident;)*) => {$(
            let a = data([n], |k| edges[k / edges.len()] as $t);
            let b = data([n], |k| edges[k % edges.len()] as $t);
            let o = data([n], |_| [0 as $u; 10]);
            fine(agree::<$kernel>(rig, &[n], vec![a.arg(), b.arg(), o.arg()], |rt, q| {
                let (x, y, mut o) = (a.buffer(rt)?, b.buffer(rt)?, o.buffer(rt)?);
                q.run(o.range(), $kernel(&x, &y, &mut o))?;
                Ok(vec![contents(&o)?])
            })?)?;
        )*};
    }
    agrees! { methods_of_i8 i8 u8; methods_of_i32 i32 u32; methods_of_u64 u64 u64; }
    let (x, f) = (data([n], |k| edges[k % edges.len()]), data([n], |k| (k as f32 - 70.0) * 0.31));
    let (o, p) = (data([n], |_| 0u64), data([n], |_| 0f32));
    fine(agree::<sizes>(rig, &[n], vec![x.arg(), f.arg(), o.arg(), p.arg()], |rt, q| {
        let (x, f, mut o, mut p) = (x.buffer(rt)?, f.buffer(rt)?, o.buffer(rt)?, p.buffer(rt)?);
        q.run(n, sizes(&x, &f, &mut o, &mut p))?;
        Ok(vec![contents(&o)?, contents(&p)?])
    })?)
}

/// KRN-03, KRN-07. In each launch one item fails, so there is one answer.
pub(super) fn both_forms_fail_alike(rig: &Rig) -> Outcome {
    let (x, y) = (data([3], noise), data([3], |k| 1 - k as i32));
    let failed = agree::<divides>(rig, &[3], vec![x.arg(), y.arg(), x.arg()], |rt, q| {
        let (x, y, mut o) = (x.buffer(rt)?, y.buffer(rt)?, rt.buffer(3)?);
        q.run(3, divides(&x, &y, &mut o))?;
        Ok(vec![contents(&o)?])
    })?;
    ensure_eq!(failed.map(|v| v.kind), Some(ViolationKind::DivisionByZero));
    let (at, x) = (data([3], |k| [0, 40, 51][k]), data([41], wave));
    let o = data([3], wave);
    let failed = agree::<gathers>(rig, &[3], vec![at.arg(), x.arg(), o.arg()], |rt, q| {
        let (at, x, mut o) = (at.buffer(rt)?, x.buffer(rt)?, rt.buffer(3)?);
        q.run(o.range(), gathers(&at, &x, &mut o))?;
        Ok(vec![contents(&o)?])
    })?;
    let outside =
        ViolationKind::OutOfBounds { param: Some("x".into()), index: vec![51], extent: vec![41] };
    ensure_eq!(failed.map(|v| v.kind), Some(outside));
    let (x, o) = (data([9], |k| if k == 4 { -1.0 } else { wave(k).abs() }), data([9], wave));
    let failed = agree::<asserts>(rig, &[9], vec![x.arg(), o.arg()], |rt, q| {
        let (x, mut o) = (x.buffer(rt)?, o.buffer(rt)?);
        q.run(o.range(), asserts(&x, &mut o))?;
        Ok(vec![contents(&o)?])
    })?;
    ensure_eq!(failed.and_then(|v| v.site.message).as_deref(), Some("no negative numbers"));
    Ok(())
}
