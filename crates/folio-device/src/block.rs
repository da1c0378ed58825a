//! How a block is computed: as far as the ends of its indices are within what is accessed, without
//! checks and with the best instructions; the rest, the edges of a block at most, with a check of
//! each access. Of the former, as far as all guards are decided, what is behind them alone.

use super::{Checked, Kernel, Launched, ParamPtr, Positions, versions};

/// Blocks of fewer items are not taken apart.
const SMALL: usize = 64;
/// How much is tried to cut off at a time: halos are narrow.
const WIDTHS: [usize; 5] = [1, 2, 4, 8, 16];

/// How the items of a part of a block are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Each access is checked.
    Checked,
    /// Nothing is unproved.
    Proved,
    /// Nothing is undecided either.
    Interior,
}

/// Computes the items of a block, or its groups, which are whole: of such a block nothing is cut
/// off.
///
/// # Safety
/// `scalars` has the words of the scalar parameters, and `memory` an entry for each view and
/// reduction, in their order: live memory of its shape, which no other code uses against the
/// access's mode. Each position is computed once in a launch, and what owns an element by it (an
/// item, or its group) lies within each view that is written. `launch` is the same for all blocks
/// of a launch, and of no other.
pub unsafe fn run<K: Kernel>(
    scalars: &[u64],
    memory: &[ParamPtr],
    block: &Positions,
    launch: &Launched,
) {
    if block.min.iter().zip(&block.max).any(|(first, end)| first >= end) {
        return;
    }
    // SAFETY: the caller's promise.
    let unproved = |part: &Positions| unsafe { K::unproved(scalars, memory, part, launch) };
    // SAFETY: the caller's promise.
    let undecided = |part: &Positions| unsafe { K::undecided(scalars, memory, part, launch) };
    let mut compute = |part: &Positions, form| match form {
        // SAFETY: the caller's promise; the parts of a block are disjoint.
        Form::Checked => unsafe { K::items::<Checked>(scalars, memory, part, launch) },
        // SAFETY: the caller's promise; nothing is unproved for this part.
        Form::Proved => unsafe { versions::best::<K, false>(scalars, memory, part, launch) },
        // SAFETY: as above, nor undecided.
        Form::Interior => unsafe { K::interior(scalars, memory, part, launch) },
    };
    match (unproved(block), undecided(block)) {
        (0, None) => compute(block, Form::Proved),
        (0, Some(0)) => compute(block, Form::Interior),
        (open, guards) => {
            let items = launch.group == [1; 3];
            let undecided = |part: &Positions| undecided(part).unwrap_or(0);
            let undecided: &dyn Fn(&Positions) -> usize = &undecided;
            let undecided = guards.map(|_| undecided);
            apart(block, (open, items), &unproved, undecided, &mut compute);
        }
    }
    // SAFETY: the caller's promise.
    unsafe { launch.computed(block, memory) };
}

/// Takes a block apart, and has its parts computed: `open` indices are unproved for all of it. This
/// is compiled once, and not for each kernel, as all would be that is called by a generic function.
fn apart(
    block: &Positions,
    (open, items): (usize, bool),
    unproved: &dyn Fn(&Positions) -> usize,
    undecided: Option<&dyn Fn(&Positions) -> usize>,
    compute: &mut dyn FnMut(&Positions, Form),
) {
    let inner = |block: &Positions, open, count| match items {
        true => inner(block, open, count),
        false => (open == 0).then_some(*block),
    };
    let proved = inner(block, open, unproved);
    if let Some(proved) = &proved {
        let decided = undecided.and_then(|undecided| inner(proved, undecided(proved), undecided));
        if let Some(decided) = &decided {
            compute(decided, Form::Interior);
        }
        around(proved, decided.as_ref()).for_each(|part| compute(&part, Form::Proved));
    }
    around(block, proved.as_ref()).for_each(|part| compute(&part, Form::Checked));
}

/// The part of a block where nothing is open, where that is so of `open` things for all of it; none
/// if no part is found. What is tried first is a frame of one width.
fn inner(block: &Positions, open: usize, count: &dyn Fn(&Positions) -> usize) -> Option<Positions> {
    if open == 0 {
        return Some(*block);
    }
    if sizes(block).iter().product::<usize>() < SMALL {
        return None;
    }
    let framed = WIDTHS.iter().find_map(|width| {
        let part = frameless(block, *width)?;
        (count(&part) == 0).then(|| widened(block, part, *width, count))
    });
    framed.or_else(|| by_edges(block, open, count))
}

fn sizes(block: &Positions) -> [usize; 3] {
    std::array::from_fn(|dim| block.max[dim] - block.min[dim])
}

/// A block without a frame, in the dimensions that have room for one; none if no dimension has.
fn frameless(block: &Positions, width: usize) -> Option<Positions> {
    let (mut part, sizes) = (*block, sizes(block));
    for dim in (0..3).filter(|dim| sizes[*dim] > 2 * width) {
        part.min[dim] += width;
        part.max[dim] -= width;
    }
    (part != *block).then_some(part)
}

/// A part again with what need not be cut off of a frame of this width.
fn widened(
    block: &Positions,
    mut part: Positions,
    width: usize,
    count: &dyn Fn(&Positions) -> usize,
) -> Positions {
    let widths = || std::iter::once(0).chain(WIDTHS).take_while(|less| *less < width);
    for dim in 0..3 {
        let (mut first, mut end) = (part, part);
        if part.min[dim] > block.min[dim] {
            let least = widths().find(|less| {
                first.min[dim] = block.min[dim] + less;
                count(&first) == 0
            });
            part.min[dim] = least.map_or(part.min[dim], |less| block.min[dim] + less);
        }
        end.min = part.min;
        if part.max[dim] < block.max[dim] {
            let least = widths().find(|less| {
                end.max[dim] = block.max[dim] - less;
                count(&end) == 0
            });
            part.max[dim] = least.map_or(part.max[dim], |less| block.max[dim] - less);
        }
    }
    part
}

/// What [`inner`] gives: edges are cut off one by one, for as long as that leaves less open.
fn by_edges(
    block: &Positions,
    mut open: usize,
    count: &dyn Fn(&Positions) -> usize,
) -> Option<Positions> {
    let mut inner = *block;
    while open > 0 {
        (inner, open) = smaller(&inner).find_map(|part| {
            let left = count(&part);
            (left < open).then_some((part, left))
        })?;
    }
    Some(inner)
}

/// What is left of a block without one of its edges.
fn smaller(block: &Positions) -> impl Iterator<Item = Positions> {
    let block = *block;
    let sizes = sizes(&block);
    let large = sizes.iter().product::<usize>() >= SMALL;
    let dims = (0..3).filter(move |_| large).flat_map(|dim| WIDTHS.map(|width| (dim, width)));
    dims.filter(move |(dim, width)| sizes[*dim] > *width).flat_map(move |(dim, width)| {
        let (mut after, mut before) = (block, block);
        after.min[dim] += width;
        before.max[dim] -= width;
        [after, before]
    })
}

/// A block without its inner part, in boxes.
fn around(block: &Positions, inner: Option<&Positions>) -> impl Iterator<Item = Positions> {
    let mut rest = *block;
    let inner = *inner.unwrap_or(&Positions { max: block.min, ..*block });
    let edges = (0..3).flat_map(move |dim| {
        let (mut before, mut after) = (rest, rest);
        before.max[dim] = inner.min[dim];
        after.min[dim] = inner.max[dim];
        (rest.min[dim], rest.max[dim]) = (inner.min[dim], inner.max[dim]);
        [before, after]
    });
    edges.filter(|edge| edge.min.iter().zip(&edge.max).all(|(first, end)| first < end))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is kept of a block of 2 dimensions, of which all but a border is proved, and what is
    /// cut off.
    fn cut(block: Positions, border: [usize; 4]) -> (Option<Positions>, Vec<Positions>) {
        let [top, bottom, left, right] = border;
        let unproved = |p: &Positions| {
            let beyond = [p.min[1] < top, p.max[1] > bottom, p.min[2] < left, p.max[2] > right];
            beyond.iter().filter(|beyond| **beyond).count()
        };
        let kept = inner(&block, unproved(&block), &unproved);
        (kept, around(&block, kept.as_ref()).collect())
    }

    fn block(min: [usize; 2], max: [usize; 2]) -> Positions {
        Positions { min: [0, min[0], min[1]], max: [1, max[0], max[1]] }
    }

    #[test]
    fn edges_are_cut_off_and_no_more() {
        let all = block([0, 0], [50, 100]);
        let (kept, edges) = cut(all, [1, 49, 2, 99]);
        assert_eq!(kept, Some(block([1, 2], [49, 99])));
        let mut times = vec![0; 50 * 100];
        for part in edges.iter().chain(&kept) {
            for r in part.min[1]..part.max[1] {
                (part.min[2]..part.max[2]).for_each(|c| times[r * 100 + c] += 1);
            }
        }
        assert!(times.iter().all(|times| *times == 1));
        // Of a block in the middle only what sticks out.
        let (kept, edges) = cut(block([10, 0], [20, 100]), [1, 49, 2, 100]);
        assert_eq!(kept, Some(block([10, 2], [20, 100])));
        assert_eq!(edges, [block([10, 0], [20, 2])]);
        assert_eq!(cut(all, [0, 50, 0, 100]), (Some(all), vec![]));
    }

    #[test]
    fn what_cannot_be_proved_is_checked_as_a_whole() {
        let all = block([0, 0], [50, 100]);
        assert_eq!(cut(all, [1, 49, 90, 10]), (None, vec![all]));
        // Small ones are not taken apart.
        let all = block([0, 0], [7, 9]);
        assert_eq!(cut(all, [1, 7, 0, 9]), (None, vec![all]));
    }
}
