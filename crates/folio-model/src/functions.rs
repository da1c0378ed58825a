//! The work of programs' kernels, as kernel functions: for devices that load kernels. They do what
//! the closures of [`crate::typed`] do, written once more, since the oracle must not depend on what
//! is tested.
//!
//! Everything has three dimensions, and two inputs; those that a program does not have are empty.
//! Ten kernels suffice: for each element type, one or two views that are written, each an `Out` or
//! an `InOut`.

use crate::compute;
use crate::handle::{Elem, Handle, slice, slice_mut};
use crate::program::{Access, Ends, Mode, Skip, Ty, View};
use crate::typed::Job;
use folio::buffer::Overwritten;
use folio::prelude::*;
use folio_core::geom::{Box3, Dims};
use folio_core::{CommandGroup, Result, Slice, SliceMut};

/// The work of a launch, as its items see it.
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
pub struct Work {
    salt: u64,
    /// Of the launch.
    rows: u64,
    columns: u64,
    /// Who does not write: `number % every == which`. 0: everybody writes.
    every: u64,
    which: u64,
    /// 0: all is well.
    fails: u64,
    /// Numbers that are mixed into the values of the views that are written.
    first: u64,
    second: u64,
}

#[device_fn]
fn scramble(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)) * 0xbf58_476d_1ce4_e5b9;
    z = (z ^ (z >> 27)) * 0x94d0_49bb_1331_11eb;
    z ^ (z >> 31)
}

/// [`crate::rng::mix`].
#[device_fn]
fn mix(a: u64, b: u64) -> u64 {
    scramble(a.rotate_left(23) ^ (b * 0x9e37_79b9_7f4a_7c15 + 0x1234_5678))
}

/// [`compute::reads_at`], of what is not empty.
#[device_fn]
fn reads_at(salt: u64, item: u64, nth: u64, shape: [usize; 3]) -> u64 {
    (item * 7 + nth + mix(salt, nth) % 64) % (shape[0] * shape[1] * shape[2]) as u64
}

/// [`compute::writes`].
#[device_fn]
fn writes(work: Work, number: u64) -> bool {
    work.every == 0 || number % work.every != work.which
}

/// [`compute::written`] or [`compute::updated`], as the tag says.
#[device_fn]
fn value(acc: u64, old: u64, tag: u64) -> u64 {
    mix(if tag < compute::UPDATED { acc } else { mix(acc, old) }, tag)
}

/// Elements for which there are kernels.
pub trait Launch: Elem {
    /// Launches the kernel for views of which the first `outs` are `Out`.
    ///
    /// # Safety
    /// The items write all of each view that is `whole`, which is an `Out`.
    unsafe fn launch(
        cg: &mut CommandGroup,
        range: Dims,
        work: Work,
        from: [Slice<'_, Self, 3>; 2],
        to: (SliceMut<'_, Self, 3>, Option<SliceMut<'_, Self, 3>>),
        outs: usize,
        whole: [bool; 2],
    );
}

macro_rules! kernels {
    ($($name:ident($ty:ident; $($out:ident $of_out:ident)*; $($inout:ident $of_inout:ident)*))*) => {$(
        #[kernel]
        fn $name(
            i: Item<3>,
            work: Work,
            a: In<$ty, 3>,
            b: In<$ty, 3>,
            $($out: Out<$ty, 3>,)*
            $($inout: InOut<$ty, 3>,)*
        ) {
            let (z, y, x) = i.pos();
            let number = (z as u64 * work.rows + y as u64) * work.columns + x as u64;
            let mut acc = mix(work.salt + 1, number);
            let shape = a.shape();
            if shape[0] * shape[1] * shape[2] > 0 {
                let at = reads_at(work.salt, number, 0, shape) as usize;
                let row = at / shape[2];
                acc = mix(acc, a[(row / shape[1], row % shape[1], at % shape[2])] as u64);
            }
            let shape = b.shape();
            if shape[0] * shape[1] * shape[2] > 0 {
                let at = reads_at(work.salt, number, 1, shape) as usize;
                let row = at / shape[2];
                acc = mix(acc, b[(row / shape[1], row % shape[1], at % shape[2])] as u64);
            }
            assert!(work.fails == 0, "planned");
            $($out[i] = value(acc, 0, work.$of_out) as $ty;)*
            $(if writes(work, number) {
                $inout[i] = value(acc, $inout[i] as u64, work.$of_inout) as $ty;
            })*
        }
    )*};
}

macro_rules! launches {
    ($ty:ident: $out:ident $inout:ident $outs:ident $mixed:ident $inouts:ident) => {
        kernels! {
            $out($ty; p first;)
            $inout($ty;; p first)
            $outs($ty; p first q second;)
            $mixed($ty; p first; q second)
            $inouts($ty;; p first q second)
        }

        impl Launch for $ty {
            unsafe fn launch(
                cg: &mut CommandGroup,
                range: Dims,
                work: Work,
                [a, b]: [Slice<'_, Self, 3>; 2],
                (p, q): (SliceMut<'_, Self, 3>, Option<SliceMut<'_, Self, 3>>),
                outs: usize,
                whole: [bool; 2],
            ) {
                // SAFETY: the caller's promise, where it is called; no kernel reads its `Out`.
                let over = |part| unsafe { Overwritten::new(part) };
                match (q, outs, whole) {
                    (None, 0, _) => cg.run(range, $inout(work, a, b, p)),
                    (None, _, [true, _]) => cg.run(range, $out(work, a, b, over(p))),
                    (None, ..) => cg.run(range, $out(work, a, b, p)),
                    (Some(q), 0, _) => cg.run(range, $inouts(work, a, b, p, q)),
                    (Some(q), 1, [true, _]) => cg.run(range, $mixed(work, a, b, over(p), q)),
                    (Some(q), 1, _) => cg.run(range, $mixed(work, a, b, p, q)),
                    (Some(q), _, [true, true]) => {
                        cg.run(range, $outs(work, a, b, over(p), over(q)))
                    }
                    (Some(q), _, [true, _]) => cg.run(range, $outs(work, a, b, over(p), q)),
                    (Some(q), _, [_, true]) => cg.run(range, $outs(work, a, b, p, over(q))),
                    (Some(q), ..) => cg.run(range, $outs(work, a, b, p, q)),
                }
            }
        }
    };
}
launches!(u32: out_u32 inout_u32 outs_u32 mixed_u32 inouts_u32);
launches!(u64: out_u64 inout_u64 outs_u64 mixed_u64 inouts_u64);

/// Changes what a kernel of a program does to what kernel functions can: they access what is
/// written at their items only, discard what every item writes, and nothing if there is no item.
/// Outs come first.
pub fn fit(accesses: &mut [Access], range: Dims, skip: Skip) {
    for access in &mut *accesses {
        let part = &mut access.view.part;
        if range.contains(&0) {
            *part = Box3::EMPTY;
        } else if access.mode != Mode::Read {
            part.max = std::array::from_fn(|d| part.min[d] + range[d]);
        }
        if access.mode.discards() && skip.is_some() {
            access.mode = Mode::Write;
        }
    }
    accesses.sort_by_key(|access| match access.mode {
        Mode::Read => 0,
        Mode::Discard | Mode::Overwrite => 1,
        Mode::Write | Mode::ReadWrite => 2,
    });
}

/// Launches what [`fit`] has made of a kernel.
pub fn kernel(
    rt: &Runtime,
    cg: &mut CommandGroup,
    accesses: &[(Access, Handle)],
    range: Dims,
    job: Job,
) -> Result<()> {
    match accesses.first().map(|(access, _)| access.view.ty) {
        Some(Ty::U32) => typed::<u32>(rt, cg, accesses, range, job),
        Some(Ty::U64) => typed::<u64>(rt, cg, accesses, range, job),
        None => Ok(()),
    }
}

fn typed<T: Launch>(
    rt: &Runtime,
    cg: &mut CommandGroup,
    accesses: &[(Access, Handle)],
    range: Dims,
    job: Job,
) -> Result<()> {
    let nothing = T::handle(rt.buffer([1, 1, 0])?.into_shared());
    let none = View { buffer: 0, ty: Ty::U32, dims: [1, 1, 0], part: Box3::EMPTY };
    let mut reads = accesses.iter().filter(|(access, _)| access.mode == Mode::Read);
    let [(a, of_a), (b, of_b)] = std::array::from_fn(|_| {
        reads.next().map_or((&none, &nothing), |(access, any)| (&access.view, any))
    });
    let [mut written, mut updated] = [0, 0];
    let mut writes: Vec<(u64, &View, &Handle)> = Vec::new();
    for (Access { view, mode }, any) in accesses.iter().filter(|(a, _)| a.mode != Mode::Read) {
        let (base, nth) = match mode {
            Mode::ReadWrite => (compute::UPDATED, &mut updated),
            _ => (compute::WRITTEN, &mut written),
        };
        writes.push((base + *nth, view, any));
        *nth += 1;
    }
    let mut whole = [false; 2];
    let written = accesses.iter().filter(|(access, _)| access.mode != Mode::Read);
    whole.iter_mut().zip(written).for_each(|(whole, (a, _))| *whole = a.mode == Mode::Overwrite);
    let outs = accesses.iter().filter(|(access, _)| access.mode.discards()).count();
    let Some((first, view, any)) = writes.first().copied() else { return Ok(()) };
    let second = writes.get(1).copied();
    let [_, rows, columns] = range.map(|n| n as u64);
    let (every, which) = job.skip.map_or((0, 0), |(every, which)| (every as u64, which as u64));
    let work = Work {
        salt: job.salt.into(),
        rows,
        columns,
        every,
        which,
        fails: u64::from(job.ends != Ends::Well),
        first,
        second: second.map_or(0, |(tag, ..)| tag),
    };
    slice(of_a, a, |a| {
        slice(of_b, b, |b| {
            slice_mut(any, view, |p| match second {
                None => {
                    // SAFETY: `fit` has let no item skip where something is overwritten, and has
                    // made that as large as the range.
                    unsafe { T::launch(cg, range, work, [a, b], (p, None), outs, whole) };
                    Ok(())
                }
                Some((_, view, any)) => slice_mut(any, view, |q| {
                    // SAFETY: as above.
                    unsafe { T::launch(cg, range, work, [a, b], (p, Some(q)), outs, whole) };
                }),
            })
        })
    })???
}
