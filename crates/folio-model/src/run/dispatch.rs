//! From programs, which know types and dimensions as values, to the typed calls.

use crate::compute;
use crate::handle::{Elem, Handle, slice, slice_mut};
use crate::program::{Access, Action, Mode, Ty, View};
use crate::typed::{self, Digest, Job};
use folio_core::{
    CommandGroup, Destination, Result,
    memory::{Advice, UsmRows},
};

macro_rules! counts {
    ($t:ty, $d:literal, $cg:expr, $all:expr, $range:expr, $job:expr, $n:expr,
     $($r:literal $w:literal $x:literal),*) => {
        match $n {
            $(($r, $w, $x) => typed::kernel::<$t, $d, $r, $w, $x>($cg, $all, $range, $job),)*
            _ => Ok(()),
        }
    };
}

pub(super) fn kernel(
    cg: &mut CommandGroup,
    rank: usize,
    all: &[(Access, Handle)],
    range: [usize; 3],
    job: Job,
) -> Result<()> {
    let count = |f: fn(Mode) -> bool| all.iter().filter(|(a, _)| f(a.mode)).count();
    let n = (
        count(|m| m == Mode::Read),
        count(|m| m == Mode::Write || m.discards()),
        count(|m| m == Mode::ReadWrite),
    );
    let ty = all.first().map_or(Ty::U32, |(a, _)| a.view.ty);
    macro_rules! ranked {
        ($t:ty, $d:literal) => {
            counts!($t, $d, cg, all, range, job, n,
                0 1 0, 0 0 1, 0 1 1, 0 2 0, 0 0 2, 1 1 0, 1 0 1, 1 1 1, 1 2 0, 1 0 2,
                2 1 0, 2 0 1, 2 1 1, 2 2 0, 2 0 2)
        };
    }
    match (ty, rank) {
        (Ty::U32, 1) => ranked!(u32, 1),
        (Ty::U32, 2) => ranked!(u32, 2),
        (Ty::U32, _) => ranked!(u32, 3),
        (Ty::U64, 1) => ranked!(u64, 1),
        (Ty::U64, 2) => ranked!(u64, 2),
        (Ty::U64, _) => ranked!(u64, 3),
    }
}

pub(super) fn task(
    cg: &mut CommandGroup,
    r: Option<(View, &Handle)>,
    w: Option<(Access, &Handle)>,
    job: Job,
    digest: Digest,
) -> Result<()> {
    let types =
        (r.as_ref().map_or(Ty::U32, |r| r.0.ty), w.as_ref().map_or(Ty::U32, |w| w.0.view.ty));
    match types {
        (Ty::U32, Ty::U32) => typed::task::<u32, u32>(cg, r, w, job, digest),
        (Ty::U32, Ty::U64) => typed::task::<u32, u64>(cg, r, w, job, digest),
        (Ty::U64, Ty::U32) => typed::task::<u64, u32>(cg, r, w, job, digest),
        (Ty::U64, Ty::U64) => typed::task::<u64, u64>(cg, r, w, job, digest),
    }
}

pub(super) fn copy<T: Elem>(
    cg: &mut CommandGroup,
    from: (&View, &Handle),
    to: (&View, &Handle),
) -> Result<()> {
    slice::<T, 3, _>(from.1, from.0, |source| {
        slice_mut::<T, 3, _>(to.1, to.0, |target| cg.copy(source, target))
    })?
}

pub(super) fn give<T: Elem>(
    cg: &mut CommandGroup,
    to: &View,
    any: &Handle,
    salt: u32,
    fill: bool,
) -> Result<()> {
    slice_mut::<T, 3, _>(any, to, |part| {
        if fill {
            cg.fill(part, T::narrow(compute::given(salt, 0)));
        } else {
            let data: Vec<T> =
                (0..to.part.volume()).map(|i| T::narrow(compute::given(salt, i))).collect();
            cg.copy_from_slice(&data, part);
        }
    })
}

pub(super) fn bring<T: Elem>(
    cg: &mut CommandGroup,
    view: &View,
    any: &Handle,
    action: &Action,
) -> Result<()> {
    slice::<T, 3, _>(any, view, |part| match action {
        Action::UpdateHost { .. } => cg.prefetch(part, Destination::Host),
        Action::Advise { .. } => cg.advise(part, Advice::ReadMostly),
        _ => cg.prefetch(part, Destination::Device),
    })
}

/// The rank that a part needs: rows and slices that are there once need no distances.
fn rank(view: &View) -> usize {
    match view.part.extent() {
        [1, 1, _] => 1,
        [1, ..] => 2,
        _ => 3,
    }
}

pub(super) fn raw_copy(cg: &mut CommandGroup, from: UsmRows, to: UsmRows, view: &View) {
    let [slices, rows, columns] = view.part.extent();
    let bytes = columns * view.ty.size();
    // SAFETY: both hold data, and programs order what uses them.
    unsafe {
        match rank(view) {
            1 => cg.copy_raw(from, to, [bytes]),
            2 => cg.copy_raw(from, to, [rows, bytes]),
            _ => cg.copy_raw(from, to, [slices, rows, bytes]),
        }
    }
}

pub(super) fn raw_fill(cg: &mut CommandGroup, to: UsmRows, view: &View, salt: u32) {
    match view.ty {
        Ty::U32 => raw_fill_of::<u32>(cg, to, view, salt),
        Ty::U64 => raw_fill_of::<u64>(cg, to, view, salt),
    }
}

fn raw_fill_of<T: Elem>(cg: &mut CommandGroup, to: UsmRows, view: &View, salt: u32) {
    let value = T::narrow(compute::given(salt, 0));
    let [slices, rows, columns] = view.part.extent();
    // SAFETY: programs order what uses it.
    unsafe {
        match rank(view) {
            1 => cg.fill_raw(to, [columns], value),
            2 => cg.fill_raw(to, [rows, columns], value),
            _ => cg.fill_raw(to, [slices, rows, columns], value),
        }
    }
}
