//! From programs, which know types and dimensions as values, to the API, which knows them as types.

use crate::compute;
use crate::handle::{Elem, Handle, cut, load, slice, slice_mut, store};
use crate::program::{Access, Ends, Mode, Skip, View};
use folio_core::canary::Canary;
use folio_core::geom::linear;
use folio_core::{CommandGroup, HostRead, HostWrite, Read, ReadWrite, Result, Write};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The work of a kernel or task, apart from its data.
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
    accesses: &[(Access, Handle)],
    range: [usize; 3],
    job: Job,
) -> Result<()> {
    let mut reads: Vec<Read<T, 3>> = Vec::new();
    let mut outs: Vec<Write<T, D>> = Vec::new();
    let mut inouts: Vec<ReadWrite<T, D>> = Vec::new();
    for (access, any) in accesses {
        let view = &access.view;
        match access.mode {
            Mode::Read => reads.push(slice(any, view, |part| cg.read(part))?),
            Mode::Discard | Mode::Overwrite => {
                outs.push(slice_mut(any, view, |part| cg.discard(part))?)
            }
            Mode::ReadWrite => inouts.push(slice_mut(any, view, |part| cg.read_write(part))?),
            Mode::Write => outs.push(slice_mut(any, view, |part| cg.write(part))?),
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
    let canary = Canary::new("a kernel");
    cg.host_kernel(cut::<D>(range), args, move |item, (ins, mut outs, mut inouts)| {
        canary.runs();
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
        std::panic::resume_unwind(Box::new(Canary::new("the payload of a panic")));
    }
}

/// The digest of the values that a host task read.
pub type Digest = Arc<AtomicU64>;

type Outcome = std::result::Result<(), std::io::Error>;

/// The work of a host task on both views.
fn work<R: Elem, W: Elem>(
    job: Job,
    read: Option<&HostRead<'_, R, 3>>,
    write: Option<(&mut HostWrite<'_, W, 3>, bool)>,
    (digest, canary): &(Digest, Canary),
) -> Outcome {
    canary.runs();
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
    if job.ends == Ends::Fails {
        Err(std::io::Error::other(Canary::new("the error of a task")))
    } else {
        Ok(())
    }
}

/// The value that a host task writes at an item.
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
    read: Option<(View, &Handle)>,
    write: Option<(Access, &Handle)>,
    job: Job,
    digest: Digest,
) -> Result<()> {
    let r = match &read {
        Some((view, any)) => Some(slice::<R, 3, _>(any, view, |part| cg.read(part))?),
        None => None,
    };
    let keep = write.as_ref().is_some_and(|(access, _)| !access.mode.discards());
    let w = match &write {
        Some((access, any)) => Some(slice_mut::<W, 3, _>(any, &access.view, |part| {
            if keep { cg.write(part) } else { cg.discard(part) }
        })?),
        None => None,
    };
    let digest = (digest, Canary::new("a task"));
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

/// Memory that is found by its address.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The first byte of all of it.
    pub address: usize,
    /// The part of it.
    pub view: View,
}

impl Place {
    fn index(&self, item: usize) -> usize {
        let [_, rows, columns] = self.view.part.extent();
        let at = [item / (rows * columns), item / columns % rows, item % columns];
        linear(self.view.dims, std::array::from_fn(|d| self.view.part.min[d] + at[d]))
    }

    /// All elements, in order.
    ///
    /// # Safety
    /// They are there, and nobody writes them meanwhile.
    pub unsafe fn values(&self) -> Vec<u64> {
        let items = 0..self.view.part.volume();
        // SAFETY: the caller's.
        items.map(|i| unsafe { load(self.address, self.view.ty, self.index(i)) }).collect()
    }
}

/// Describes a kernel or a host task that finds what it uses by its address.
pub fn by_address(
    cg: &mut CommandGroup,
    on_host: bool,
    read: Option<Place>,
    write: Place,
    job: Job,
) {
    let canary = Canary::new("a kernel or task");
    let one = move |item: usize| {
        canary.runs();
        // SAFETY: programs order what is not ordered by accesses, and keep the memory.
        let input = read.map(|read| unsafe { read.values() }).unwrap_or_default();
        end_badly(job.ends);
        let value = task_value(job.salt, item, &input, None);
        // SAFETY: as above; each item has its own element.
        unsafe { store(write.address, write.view.ty, write.index(item), value) };
    };
    let items = write.view.part.volume();
    if on_host {
        cg.host_task((), move |()| (0..items).for_each(one));
    } else {
        cg.host_kernel([items], (), move |item, ()| one(item.index()));
    }
}

/// Reads a part on the host, and keeps the guard if asked.
pub fn read<T: Elem>(any: &Handle, view: &View) -> Result<(Vec<u64>, Box<dyn Any>)> {
    if let Handle::Lent(lent) = any {
        let place = Place { address: lent.address(), view: *view };
        // SAFETY: programs wait for those who write it.
        return Ok((unsafe { place.values() }, Box::new(())));
    }
    let guard = slice::<T, 3, _>(any, view, |part| part.read_rows())??;
    let data = guard.to_vec().into_iter().map(T::wide).collect();
    Ok((data, Box::new(guard)))
}

/// Copies a part on the host.
pub fn copied<T: Elem>(any: &Handle, view: &View) -> Result<Vec<u64>> {
    let data = slice::<T, 3, _>(any, view, |part| part.to_vec())??;
    Ok(data.into_iter().map(T::wide).collect())
}

/// Writes a part on the host; says what was there, if that was asked for, and keeps the guard.
pub fn write<T: Elem>(
    any: &Handle,
    view: &View,
    overwrite: bool,
    job: Option<Job>,
) -> Result<(Vec<u64>, Box<dyn Any>)> {
    let mut guard = slice_mut::<T, 3, _>(any, view, |mut part| {
        if overwrite { part.discard_rows() } else { part.write_rows() }
    })??;
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
