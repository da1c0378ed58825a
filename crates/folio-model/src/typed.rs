//! From programs, which know types and dimensions as values, to the API, which knows them as types.

use crate::compute;
use crate::program::{Access, BufferSpec, Ends, Mode, Skip, Ty, View};
use folio_core::pages::DenseTrackers;
use folio_core::{
    Buffer, BufferOptions, CommandGroup, DeviceType, HostRead, HostWrite, Read, ReadWrite, Result,
    Runtime, Shared, Write,
};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An element.
pub trait Elem: DeviceType {
    /// As a number.
    fn wide(self) -> u64;
    /// The low bits of a number.
    fn narrow(value: u64) -> Self;
}

impl Elem for u32 {
    fn wide(self) -> u64 {
        u64::from(self)
    }
    fn narrow(value: u64) -> u32 {
        value as u32
    }
}

impl Elem for u64 {
    fn wide(self) -> u64 {
        self
    }
    fn narrow(value: u64) -> u64 {
        value
    }
}

/// A buffer of any type and shape, seen in three dimensions.
#[derive(Clone)]
pub enum Any3 {
    /// Of `u32`.
    U32(Shared<u32, 3>),
    /// Of `u64`.
    U64(Shared<u64, 3>),
}

/// Does something with the typed handle.
#[macro_export]
macro_rules! with_handle {
    ($any:expr, $name:ident => $body:expr) => {
        match $any {
            $crate::typed::Any3::U32($name) => $body,
            $crate::typed::Any3::U64($name) => $body,
        }
    };
}

/// The last `D` numbers.
pub fn cut<const D: usize>(dims: [usize; 3]) -> [usize; D] {
    std::array::from_fn(|d| dims[3 - D + d])
}

fn make<T: Elem, const D: usize>(
    rt: &Runtime,
    at: usize,
    spec: &BufferSpec,
) -> Result<Shared<T, 3>> {
    let mut options = BufferOptions::new().label(format!("buffer {at}"));
    if let Some(page) = spec.page {
        options = options.page(cut::<D>(page));
    }
    if spec.dense {
        options = options.tracker(Arc::new(DenseTrackers));
    }
    let range = cut::<D>(spec.dims);
    let buffer: Buffer<T, D> = if spec.initialised {
        let volume = spec.dims.iter().product();
        let data: Vec<T> = (0..volume).map(|i| T::narrow(compute::initial(at, i))).collect();
        rt.buffer_from_with(&data, range, options)?
    } else {
        rt.buffer_with(range, options)?
    };
    buffer.share().reinterpret(spec.dims)
}

/// Makes a buffer.
pub fn buffer(rt: &Runtime, at: usize, spec: &BufferSpec) -> Result<Any3> {
    Ok(match (spec.ty, spec.rank) {
        (Ty::U32, 1) => Any3::U32(make::<u32, 1>(rt, at, spec)?),
        (Ty::U32, 2) => Any3::U32(make::<u32, 2>(rt, at, spec)?),
        (Ty::U32, _) => Any3::U32(make::<u32, 3>(rt, at, spec)?),
        (Ty::U64, 1) => Any3::U64(make::<u64, 1>(rt, at, spec)?),
        (Ty::U64, 2) => Any3::U64(make::<u64, 2>(rt, at, spec)?),
        (Ty::U64, _) => Any3::U64(make::<u64, 3>(rt, at, spec)?),
    })
}

/// A buffer as a view sees it.
pub fn seen_as<T: Elem, const D: usize>(any: &Any3, view: &View) -> Result<Shared<T, D>> {
    with_handle!(any, h => h.reinterpret::<T, D>(cut::<D>(view.dims)))
}

/// What a kernel or task computes, apart from its data.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// The step.
    pub salt: u32,
    /// Who does not write.
    pub skip: Skip,
    /// How it ends.
    pub ends: Ends,
}

/// Launches with `N` reads, `M` writes and `K` reads and writes.
pub fn kernel<T: Elem, const D: usize, const N: usize, const M: usize, const K: usize>(
    cg: &mut CommandGroup,
    accesses: &[(Access, Any3)],
    range: [usize; 3],
    job: Job,
) -> Result<()> {
    let mut reads: Vec<Read<T, 3>> = Vec::new();
    let mut outs: Vec<Write<T, D>> = Vec::new();
    let mut inouts: Vec<ReadWrite<T, D>> = Vec::new();
    for (access, any) in accesses {
        let (min, extent) = (access.view.part.min, access.view.part.extent());
        if access.mode == Mode::Read {
            let shared = seen_as::<T, 3>(any, &access.view)?;
            reads.push(cg.read(shared.slice(min, extent)?));
            continue;
        }
        let shared = seen_as::<T, D>(any, &access.view)?;
        let part = shared.slice_mut(cut::<D>(min), cut::<D>(extent))?;
        match access.mode {
            Mode::Discard => outs.push(cg.discard(part)),
            Mode::ReadWrite => inouts.push(cg.read_write(part)),
            _ => outs.push(cg.write(part)),
        }
    }
    let args: Option<([_; N], [_; M], [_; K])> = reads
        .try_into()
        .ok()
        .zip(outs.try_into().ok())
        .zip(inouts.try_into().ok())
        .map(|((reads, outs), inouts)| (reads, outs, inouts));
    let Some(args) = args else { return Ok(()) };
    let [_, rows, columns] = range;
    cg.host_kernel(cut::<D>(range), args, move |item, (ins, mut outs, mut inouts)| {
        let position = item.position();
        let number = (0..D).fold(0, |n, d| n * [0, rows, columns][3 - D + d] + position[d]);
        let mut acc = compute::start(job.salt, number);
        for (nth, input) in ins.iter().enumerate() {
            let [slices, rows, columns] = input.range();
            let volume = slices * rows * columns;
            if volume > 0 {
                let at = compute::reads_at(job.salt, number, nth, volume);
                let cell = [at / (rows * columns), at / columns % rows, at % columns];
                acc = compute::with(acc, input[cell].wide());
            }
        }
        end_badly(job.ends);
        if compute::writes(job.skip, number) {
            for (nth, out) in outs.iter_mut().enumerate() {
                out.put(item, T::narrow(compute::written(acc, nth)));
            }
            for (nth, inout) in inouts.iter_mut().enumerate() {
                let old = inout[item].wide();
                inout[item] = T::narrow(compute::updated(acc, old, nth));
            }
        }
    });
    Ok(())
}

fn end_badly(ends: Ends) {
    if ends == Ends::Panics {
        // Not `panic!`: this one says nothing.
        std::panic::resume_unwind(Box::new("planned"));
    }
}

/// What a host task has seen: a digest of what it read.
pub type Digest = Arc<AtomicU64>;

type Outcome = std::result::Result<(), std::io::Error>;

/// What is done with both views of a host task.
fn work<R: Elem, W: Elem>(
    job: Job,
    read: Option<&HostRead<'_, R, 3>>,
    write: Option<(&mut HostWrite<'_, W, 3>, bool)>,
    digest: &Digest,
) -> Outcome {
    let rows = |r: &HostRead<'_, R, 3>| {
        let [slices, rows, _] = r.range();
        (0..slices * rows).filter_map(|i| r.row(i)).flatten().map(|v| v.wide()).collect::<Vec<_>>()
    };
    let input: Vec<u64> = read.map(rows).unwrap_or_default();
    digest.store(input.iter().fold(1, |d, v| compute::with(d, *v)), Ordering::SeqCst);
    end_badly(job.ends);
    if let Some((view, keep)) = write {
        let [slices, rows, columns] = view.range();
        for row in 0..slices * rows {
            let Some(cells) = view.row_mut(row) else { continue };
            for (x, cell) in cells.iter_mut().enumerate() {
                let item = row * columns + x;
                if compute::writes(job.skip, item) {
                    let old = keep.then(|| cell.wide());
                    *cell = W::narrow(task_value(job.salt, item, &input, old));
                }
            }
        }
    }
    if job.ends == Ends::Fails { Err(std::io::Error::other("planned")) } else { Ok(()) }
}

/// What a host task writes at an item.
pub fn task_value(salt: u32, item: usize, input: &[u64], old: Option<u64>) -> u64 {
    let mut acc = compute::start(salt, item);
    if !input.is_empty() {
        acc = compute::with(acc, input[compute::reads_at(salt, item, 0, input.len())]);
    }
    match old {
        Some(old) => compute::updated(acc, old, 0),
        None => compute::written(acc, 0),
    }
}

/// Describes a host task.
pub fn task<R: Elem, W: Elem>(
    cg: &mut CommandGroup,
    read: Option<(View, &Any3)>,
    write: Option<(Access, &Any3)>,
    job: Job,
    digest: Digest,
) -> Result<()> {
    let r = match &read {
        Some((view, any)) => {
            let handle = seen_as::<R, 3>(any, view)?;
            Some(cg.read(handle.slice(view.part.min, view.part.extent())?))
        }
        None => None,
    };
    let mut keep = false;
    let w = match &write {
        Some((access, any)) => {
            let handle = seen_as::<W, 3>(any, &access.view)?;
            let part = handle.slice_mut(access.view.part.min, access.view.part.extent())?;
            keep = access.mode != Mode::Discard;
            Some(if keep { cg.write(part) } else { cg.discard(part) })
        }
        None => None,
    };
    match (r, w) {
        (Some(r), Some(w)) => cg.host_task((r, w), move |(r, mut w)| {
            work::<R, W>(job, Some(&r), Some((&mut w, keep)), &digest)
        }),
        (Some(r), None) => cg.host_task(r, move |r| work::<R, W>(job, Some(&r), None, &digest)),
        (None, Some(w)) => {
            cg.host_task(w, move |mut w| work::<R, W>(job, None, Some((&mut w, keep)), &digest))
        }
        (None, None) => cg.host_task((), move |()| work::<R, W>(job, None, None, &digest)),
    }
    Ok(())
}

/// Reads a part on the host, and keeps the guard if asked.
pub fn read<T: Elem>(any: &Any3, view: &View) -> Result<(Vec<u64>, Box<dyn Any>)> {
    let handle = seen_as::<T, 3>(any, view)?;
    let guard = handle.slice(view.part.min, view.part.extent())?.read_rows()?;
    let data = guard.to_vec().into_iter().map(T::wide).collect();
    Ok((data, Box::new(guard)))
}

/// Writes a part on the host; says what was there, if that was asked for, and keeps the guard.
pub fn write<T: Elem>(
    any: &Any3,
    view: &View,
    overwrite: bool,
    job: Option<Job>,
) -> Result<(Vec<u64>, Box<dyn Any>)> {
    let handle = seen_as::<T, 3>(any, view)?;
    let mut part = handle.slice_mut(view.part.min, view.part.extent())?;
    let mut guard = if overwrite { part.overwrite_rows()? } else { part.write_rows()? };
    let [slices, rows, columns] = view.part.extent();
    let mut before = Vec::new();
    for row in 0..slices * rows {
        let Some(cells) = guard.row_mut(row) else { continue };
        for (x, cell) in cells.iter_mut().enumerate() {
            before.push(cell.wide());
            if let Some(job) = job.filter(|j| compute::writes(j.skip, row * columns + x)) {
                *cell = T::narrow(compute::given(job.salt, row * columns + x));
            }
        }
    }
    Ok((before, Box::new(guard)))
}
