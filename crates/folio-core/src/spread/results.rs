//! Results that all items of a launch share, of launches in parts. A reduction's parts end at
//! leaves of its tree, and leave a value for each; an array in which a kernel only counts has a
//! copy for each part but the first. The host combines both, as one launch would.

use super::WholeLaunch;
use crate::buffer::{BufferOptions, Part};
use crate::call::Passed;
use crate::engine::runs::command::HostBody;
use crate::engine::terms::access::Mode;
use crate::error::{Error, Result};
use crate::geom::{Box3, Dims, linear};
use crate::group::CommandGroup;
use crate::hal::{Geometry, ParamPtr};
use crate::queue::Queue;
use folio_device::{Combiner, LEAF};
use folio_kernel::code::Counted;
use folio_kernel::{ParamKind, Scalar};
use std::ops::Range;

/// Where a result comes from.
enum Source {
    /// Leaves of which a part's copy has the values.
    Leaves(Vec<Leaves>),
    /// An array that is counted in, from these elements on.
    Counts([u8; 8]),
}

/// Leaves that follow each other, in the tree and in a part's copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Leaves {
    /// The first one's number in the tree.
    first: usize,
    count: usize,
    copy: usize,
    /// The first one's number in the copy.
    at: usize,
}

/// A result that is combined.
struct Gathered {
    /// Of which argument.
    nth: usize,
    into: Part,
    scalar: Scalar,
    combiner: Combiner,
    source: Source,
    /// What parts leave.
    copies: Vec<Part>,
}

/// All such results of a launch.
pub(super) struct Results {
    all: Vec<Gathered>,
    parts: usize,
}

impl Results {
    /// Those of a launch that its [check](WholeLaunch::check) has passed.
    pub(super) fn of(launch: &WholeLaunch<'_>) -> Results {
        let gathered = |(nth, passed): (usize, &Passed)| {
            let (scalar, combine, source) = match launch.kind(passed) {
                Some(ParamKind::Reduce { element, combine }) => {
                    (element.scalar()?, *combine, Source::Leaves(vec![]))
                }
                _ => {
                    let Counted { scalar, combine, .. } = launch.counted(nth)?;
                    let identity = combine.identity(*scalar).unwrap_or(0);
                    (*scalar, *combine, Source::Counts(identity.to_ne_bytes()))
                }
            };
            let combiner = Combiner::of(scalar, combine)?;
            let into = passed.part.clone();
            Some(Gathered { nth, into, scalar, combiner, source, copies: vec![] })
        };
        let all = launch.given.iter().enumerate().filter_map(gathered).collect();
        Results { all, parts: 0 }
    }

    /// A device is about to compute a part: makes the memory for what that leaves.
    pub(super) fn begin(
        &mut self,
        (q, device): (&Queue, u16),
        (launch, part): (&WholeLaunch<'_>, &Box3),
        groups: &mut Vec<CommandGroup>,
    ) -> Result<()> {
        self.parts += 1;
        let leaves = if launch.code.reductions > 0 { launch.leaves(part) } else { vec![] };
        for gathered in &mut self.all {
            let size = gathered.scalar.size() as usize;
            let of = |dims: Dims, rank: usize| {
                let options = BufferOptions { own_tracker: true, ..BufferOptions::new() };
                let view = q.runtime().storage_of((size, size), (dims, rank), options, None)?;
                Ok::<Part, Error>(view.whole())
            };
            match &mut gathered.source {
                Source::Leaves(all) => {
                    let (copy, mut at) = (gathered.copies.len(), 0);
                    for Range { start: first, end } in leaves.iter().cloned() {
                        let count = end - first;
                        all.push(Leaves { first, count, copy, at });
                        at += count;
                    }
                    gathered.copies.push(of([1, 1, at], 1)?);
                }
                // The first part counts in the array itself.
                Source::Counts(_) if self.parts == 1 => {}
                Source::Counts(identity) => {
                    let Part { view, part, .. } = &gathered.into;
                    let copy = of(part.extent(), usize::from(view.rank))?;
                    // Also where it is zero: a graph counts again and again.
                    let mut fill = q.group_on(device);
                    fill.fill_bytes(copy.clone(), &identity[..size]);
                    groups.push(fill);
                    gathered.copies.push(copy);
                }
            }
        }
        Ok(())
    }

    /// The arguments of the part that has begun.
    pub(super) fn take(&self, given: &mut [Passed]) {
        for gathered in &self.all {
            let Some(passed) = given.get_mut(gathered.nth) else { continue };
            let Some(copy) = gathered.copies.last() else { continue };
            passed.part = copy.clone();
            if let Source::Leaves(_) = gathered.source {
                (passed.mode, passed.leaves) = (Mode::Discard { whole: true }, true);
            }
        }
    }

    /// The commands that combine what all parts leave.
    pub(super) fn end(self, q: &Queue, label: &str, groups: &mut Vec<CommandGroup>) {
        for gathered in self.all {
            let Gathered { into, combiner, source, copies, .. } = gathered;
            if copies.is_empty() {
                continue;
            }
            let (mode, body) = match source {
                Source::Leaves(mut order) => {
                    order.sort_unstable();
                    let body = move |params: &[ParamPtr]| fold(combiner, &order, params);
                    (Mode::Discard { whole: true }, HostBody::again(body))
                }
                Source::Counts(_) => {
                    (Mode::Update, HostBody::again(move |params| merge(combiner, params)))
                }
            };
            let first = Part { part: first_of(&into.part, mode), whole: false, ..into };
            let reads = copies.into_iter().map(|copy| (copy, Mode::Read));
            let mut group = q.group_on(q.on_devices()[0]);
            group.label(label);
            group.task_over(std::iter::once((first, mode)).chain(reads), body);
            groups.push(group);
        }
    }
}

/// A reduction writes its argument's first element.
fn first_of(part: &Box3, mode: Mode) -> Box3 {
    if mode.discards() { Box3::cell(part.min) } else { *part }
}

/// Folds the values of leaves, in their order, into the first parameter's element.
fn fold(combiner: Combiner, order: &[Leaves], params: &[ParamPtr]) -> Result<(), crate::Cause> {
    let Some((into, copies)) = params.split_first() else { return Ok(()) };
    let size = combiner.bytes();
    let mut values = Vec::new();
    for Leaves { count, copy, at, .. } in order {
        if let Some(copy) = copies.get(*copy) {
            // SAFETY: the engine has brought the parameters' elements, which others do not write
            // while a host task runs.
            let row = unsafe { &*row(copy, 0, size) };
            values.extend_from_slice(&row[at * size..][..count * size]);
        }
    }
    // SAFETY: as above; only this task uses the element.
    let row = unsafe { &mut *row(into, 0, size) };
    row.copy_from_slice(&combiner.fold(&values)[..size]);
    Ok(())
}

/// Combines the first parameter's elements with those of the others, which have its extent.
fn merge(combiner: Combiner, params: &[ParamPtr]) -> Result<(), crate::Cause> {
    let Some((into, copies)) = params.split_first() else { return Ok(()) };
    for at in 0..into.extent[0] * into.extent[1] {
        // SAFETY: the engine has brought the parameters' elements; those of the first one are this
        // task's alone while it runs, and others do not write those of the copies.
        let own = unsafe { &mut *row(into, at, combiner.bytes()) };
        for copy in copies {
            // SAFETY: as above; a copy is memory of its own.
            combiner.merge(own, unsafe { &*row(copy, at, combiner.bytes()) });
        }
    }
    Ok(())
}

/// The bytes of a row of a parameter's elements of this size.
///
/// # Safety
/// The memory of the parameter's box is live; the row is in the box.
unsafe fn row(param: &ParamPtr, at: usize, size: usize) -> *mut [u8] {
    let ([z, y, x], [_, rows, columns]) = (param.origin, param.extent);
    let begin = [z + at / rows.max(1), y + at % rows.max(1), x];
    let first = crate::geom::linear(param.dims, begin) * size;
    // SAFETY: the caller's promise.
    std::ptr::slice_from_raw_parts_mut(unsafe { param.base.add(first) }, columns * size)
}

impl WholeLaunch<'_> {
    /// The array of a parameter in which the kernel only counts, if it does.
    pub(super) fn counted(&self, nth: usize) -> Option<&Counted> {
        self.code.counted.iter().find(|counted| counted.memory == nth)
    }

    /// The box of items of which parts are made.
    pub(super) fn unit(&self) -> Dims {
        match self.geometry.group {
            Some(group) => group,
            None if self.code.reductions == 0 => [1; 3],
            None => whole_leaves(self.geometry.range),
        }
    }

    /// Which leaves of a reduction a part has: by their numbers in the whole launch, in the order
    /// in which the part's own launch numbers them.
    fn leaves(&self, part: &Box3) -> Vec<Range<usize>> {
        let Geometry { offset, range, group, .. } = self.geometry;
        let group = group.unwrap_or([1; 3]);
        let of_items = if self.code.ir.shape.groups { 1 } else { LEAF };
        let own = part.counted_from(offset);
        let [min, max, all] =
            [own.min, own.max, range].map(|at| [0, 1, 2].map(|d| at[d] / group[d]));
        let mut leaves: Vec<Range<usize>> = Vec::new();
        for z in min[0]..max[0] {
            for y in min[1]..max[1] {
                let row = linear(all, [z, y, min[2]]);
                let row = row.div_ceil(of_items)..(row + max[2] - min[2]).div_ceil(of_items);
                match leaves.last_mut() {
                    Some(last) if last.end == row.start => last.end = row.end,
                    _ if row.is_empty() => {}
                    _ => leaves.push(row),
                }
            }
        }
        leaves
    }
}

/// The smallest box of items that has whole leaves, of which the launch is made.
fn whole_leaves(range: Dims) -> Dims {
    let (mut left, mut unit) = (LEAF, [1; 3]);
    for d in (0..3).rev() {
        let is_last = range[..d].iter().all(|n| *n == 1);
        if is_last || range[d].is_multiple_of(left) {
            unit[d] = left.min(range[d]);
            break;
        }
        unit[d] = range[d];
        left /= common_divisor(left, range[d]);
    }
    unit
}

/// The greatest one of both, neither of which is 0.
fn common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_made_of_whole_leaves() {
        assert_eq!(whole_leaves([1, 1, 10_000]), [1, 1, 4096]);
        assert_eq!(whole_leaves([1, 1, 100]), [1, 1, 100]);
        assert_eq!(whole_leaves([1, 100, 64]), [1, 64, 64]);
        assert_eq!(whole_leaves([1, 3, 8192]), [1, 1, 4096]);
        assert_eq!(whole_leaves([7, 16, 64]), [4, 16, 64]);
        assert_eq!(whole_leaves([2, 3, 5]), [2, 3, 5]);
        assert_eq!(whole_leaves([1, 4000, 1000]), [1, 512, 1000]);
        assert_eq!(whole_leaves([4, 10, 640]), [4, 10, 640]);
        assert_eq!(whole_leaves([20, 10, 640]), [16, 10, 640]);
        assert_eq!(whole_leaves([3, 24, 512]), [1, 8, 512]);
        assert_eq!(whole_leaves([1, 3, 10_000]), [1, 3, 10_000]);
        assert_eq!(whole_leaves([1, 1, 1 << 30]), [1, 1, 4096]);
    }
}
