//! Results that all items of a launch share, of launches in parts. A reduction's parts are the
//! leaves of its tree, each a launch that leaves a value; an array in which a kernel only counts
//! has a copy for each part but the first. The host combines both, as one launch would.

use super::WholeLaunch;
use crate::buffer::{BufferOptions, Part};
use crate::call::Passed;
use crate::engine::runs::command::HostBody;
use crate::engine::terms::access::Mode;
use crate::error::{Error, Result};
use crate::geom::{Box3, Dims};
use crate::hal::{Geometry, ParamPtr};
use crate::queue::{Queue, Ready};
use folio_device::Combiner;
use folio_kernel::code::Counted;
use folio_kernel::{ParamKind, Scalar};

/// Values of items that a leaf has (semantics 8.4).
const LEAF: usize = 4096;
/// Leaves of a launch, each of which is a launch of its own.
const MOST_LEAVES: usize = 1 << 14;

/// Where a result comes from.
enum Source {
    /// By leaf that is launched: its number, the part's copy, and the element in that.
    Leaves(Vec<(usize, usize, usize)>),
    /// An array that is counted in, from these elements on.
    Counts([u8; 8]),
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

    /// A device is about to compute so many leaves: makes the memory for what they leave.
    pub(super) fn begin(
        &mut self,
        (q, device): (&Queue, u16),
        leaves: usize,
        ready: &mut Vec<Ready>,
    ) -> Result<()> {
        self.parts += 1;
        for gathered in &mut self.all {
            let size = gathered.scalar.size() as usize;
            let of = |dims: Dims, rank: usize| {
                let options = BufferOptions { own_tracker: true, ..BufferOptions::new() };
                let view = q.runtime().storage_of((size, size), (dims, rank), options, None)?;
                Ok::<Part, Error>(view.whole())
            };
            match &gathered.source {
                Source::Leaves(_) => gathered.copies.push(of([1, 1, leaves], 1)?),
                // The first part counts in the array itself.
                Source::Counts(_) if self.parts == 1 => {}
                Source::Counts(identity) => {
                    let Part { view, part, .. } = &gathered.into;
                    let copy = of(part.extent(), usize::from(view.rank))?;
                    if *identity != [0; 8] {
                        let fill = (copy.clone(), &identity[..size]);
                        let fill =
                            |cg: &mut crate::CommandGroup| cg.fill_bytes(fill.0.clone(), fill.1);
                        ready.push(q.ready_on(device, &mut { fill })?);
                    }
                    gathered.copies.push(copy);
                }
            }
        }
        Ok(())
    }

    /// The arguments of a leaf, which has this number, the `nth` of its part.
    pub(super) fn take(&mut self, (leaf, nth): (usize, usize), given: &mut [Passed]) {
        for gathered in &mut self.all {
            let Some(passed) = given.get_mut(gathered.nth) else { continue };
            let Some(copy) = gathered.copies.last() else { continue };
            passed.part = copy.clone();
            if let Source::Leaves(order) = &mut gathered.source {
                order.push((leaf, gathered.copies.len() - 1, nth));
                passed.part.part = Box3::cell([0, 0, nth]);
                passed.part.whole = false;
            }
        }
    }

    /// The commands that combine what all parts leave.
    pub(super) fn end(self, q: &Queue, label: &str, ready: &mut Vec<Ready>) -> Result<()> {
        for gathered in self.all {
            let Gathered { into, combiner, source, copies, .. } = gathered;
            if copies.is_empty() {
                continue;
            }
            let (mode, body) = match source {
                Source::Leaves(mut order) => {
                    order.sort_unstable();
                    let body = move |params: &[ParamPtr]| fold(combiner, &order, params);
                    (Mode::Discard { whole: true }, HostBody::once(body))
                }
                Source::Counts(_) => {
                    (Mode::Update, HostBody::once(move |params| merge(combiner, params)))
                }
            };
            let first = Part { part: first_of(&into.part, mode), whole: false, ..into };
            let reads = copies.into_iter().map(|copy| (copy, Mode::Read));
            let mut parts = Some((std::iter::once((first, mode)).chain(reads), body));
            ready.push(q.ready_on(q.inner.devices[0], &mut |cg| {
                if let Some((parts, body)) = parts.take() {
                    cg.label(label);
                    cg.task_over(parts, body);
                }
            })?);
        }
        Ok(())
    }
}

/// A reduction writes its argument's first element.
fn first_of(part: &Box3, mode: Mode) -> Box3 {
    if mode.discards() { Box3::cell(part.min) } else { *part }
}

/// Folds the values of leaves, in their order, into the first parameter's element.
fn fold(
    combiner: Combiner,
    order: &[(usize, usize, usize)],
    params: &[ParamPtr],
) -> Result<(), crate::Cause> {
    let Some((into, copies)) = params.split_first() else { return Ok(()) };
    let size = combiner.bytes();
    let mut values = Vec::with_capacity(order.len() * size);
    for (_, copy, nth) in order {
        if let Some(copy) = copies.get(*copy) {
            // SAFETY: the engine has brought the parameters' elements, which others do not write
            // while a host task runs.
            let row = unsafe { &*row(copy, 0, size) };
            values.extend_from_slice(&row[nth * size..][..size]);
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
    pub(super) fn unit(&self) -> Result<Dims> {
        let Geometry { range, group, .. } = self.geometry;
        if self.code.reductions == 0 {
            return Ok(group.unwrap_or([1; 3]));
        }
        let unit = group.or_else(|| leaf(range)).filter(|unit| {
            let leaves = [0, 1, 2].map(|d| range[d].div_ceil(unit[d].max(1)));
            leaves.iter().product::<usize>() <= MOST_LEAVES
        });
        let reduces =
            |passed: &&Passed| matches!(self.kind(passed), Some(ParamKind::Reduce { .. }));
        let nth = self.given.iter().position(|passed| reduces(&passed)).unwrap_or(0);
        let why = || {
            let leaves = match group {
                Some(_) => "there are too many groups, each of which is a leaf of its tree",
                None => "the 4096 items of a leaf of its tree are no box of the launch",
            };
            self.refused(self.function.parameter(nth), leaves)
        };
        unit.ok_or_else(why)
    }

    /// The launches of a part, in order, with their numbers: one, or the leaves of a reduction.
    pub(super) fn leaves(&self, part: &Box3, unit: Dims) -> Vec<(usize, Box3)> {
        if self.code.reductions == 0 {
            return vec![(0, *part)];
        }
        let Geometry { offset, range, .. } = self.geometry;
        let counts: Dims = std::array::from_fn(|d| range[d].div_ceil(unit[d]));
        let own = part.counted_from(offset);
        let units = Box3 {
            min: [0, 1, 2].map(|d| own.min[d] / unit[d]),
            max: [0, 1, 2].map(|d| own.max[d].div_ceil(unit[d])),
        };
        let leaf = |at: Dims| {
            let min = [0, 1, 2].map(|d| offset[d] + at[d] * unit[d]);
            let max = [0, 1, 2].map(|d| (min[d] + unit[d]).min(offset[d] + range[d]));
            (crate::geom::linear(counts, at), Box3 { min, max })
        };
        units.cells().map(leaf).collect()
    }
}

/// The box of items of a leaf, if the items of leaves, row after row, are boxes. In a large launch
/// what is launched is a branch of the tree, with 4096 times as many items.
fn leaf(range: Dims) -> Option<Dims> {
    let items = range.iter().product::<usize>();
    let mut left = LEAF;
    while items.div_ceil(left) > MOST_LEAVES {
        left = left.checked_mul(LEAF)?;
    }
    let mut unit = [1; 3];
    for d in (0..3).rev() {
        if left >= items || left.is_multiple_of(range[d]) {
            unit[d] = range[d];
            left = (left / range[d]).max(1);
        } else if range[d].is_multiple_of(left) || range[..d].iter().all(|n| *n == 1) {
            (unit[d], left) = (left, 1);
        } else {
            return None;
        }
    }
    Some(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_are_boxes_of_4096_items_in_a_row() {
        assert_eq!(leaf([1, 1, 10_000]), Some([1, 1, 4096]));
        assert_eq!(leaf([1, 1, 100]), Some([1, 1, 100]));
        assert_eq!(leaf([1, 100, 64]), Some([1, 64, 64]));
        assert_eq!(leaf([1, 3, 8192]), Some([1, 1, 4096]));
        assert_eq!(leaf([7, 16, 64]), Some([4, 16, 64]));
        assert_eq!(leaf([2, 3, 5]), Some([2, 3, 5]));
        assert_eq!(leaf([4, 10, 640]), None);
        assert_eq!(leaf([1, 100, 100]), None);
        assert_eq!(leaf([1, 1, 1 << 30]), Some([1, 1, 1 << 24]));
    }
}
