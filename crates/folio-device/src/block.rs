//! How a block is computed. Where the ends of its indices are within what is accessed, it runs
//! without checks and with the best instructions; elsewhere each access is checked. Where moreover
//! all guards are decided, only what is behind them runs.
//!
//! A block of which only a part is so is cut: in each dimension along the rows where an index or a
//! guard opens or closes, as its [`Gaps`] tell. Borders are cut off in this way, and so are single
//! rows, columns and points in the middle.

use super::gaps::{Gaps, NEVER, changes};
use super::{Kernel, Launched, ParamPtr, Positions, versions};

/// Blocks of fewer items are not cut.
const SMALL: usize = 64;
/// How often a part is cut again: twice for each dimension. The second time is for gaps that do not
/// change along a line.
const CUTS: usize = 6;
/// Items of a launch with reductions that are cut together: values of cut rows are kept until the
/// parts around have given theirs.
const BAND: usize = 1 << 16;

/// How the items of a part of a block are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Each access is checked.
    Checked,
    /// Nothing is unproved.
    Proved,
    /// Nothing is undecided either.
    Interior,
}

/// What counts things that are open for a block: 0 if none is, [`NEVER`] or more if one is for each
/// item.
type Count<'c> = &'c dyn Fn(&Positions, &Gaps) -> usize;

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
    let mut compute = |part: &Positions, form| match form {
        // SAFETY: the caller's promise; the parts of a block are disjoint.
        Form::Checked => unsafe { versions::checked::<K>(scalars, memory, part, launch) },
        // SAFETY: the caller's promise; nothing is unproved for this part.
        Form::Proved => unsafe { versions::best::<K, false>(scalars, memory, part, launch) },
        // SAFETY: as above, nor undecided.
        Form::Interior => unsafe { K::interior(scalars, memory, part, launch) },
    };
    // SAFETY: the caller's promise.
    unsafe { parts::<K>(scalars, memory, block, launch, &mut compute) };
    if !is_empty(block) {
        // SAFETY: the caller's promise.
        unsafe { launch.computed(block, memory) };
    }
}

/// How many items of a block are computed with checks, without, and in the interior. For tests.
///
/// # Safety
/// That of [`run`].
#[doc(hidden)]
pub unsafe fn items_by_form<K: Kernel>(
    scalars: &[u64],
    memory: &[ParamPtr],
    block: &Positions,
    launch: &Launched,
) -> [usize; 3] {
    let mut items = [0; 3];
    let mut count = |part: &Positions, form| items[form as usize] += volume(part);
    // SAFETY: the caller's promise.
    unsafe { parts::<K>(scalars, memory, block, launch, &mut count) };
    items
}

/// Takes a block apart, and has each part computed in its form.
///
/// # Safety
/// That of [`run`].
unsafe fn parts<K: Kernel>(
    scalars: &[u64],
    memory: &[ParamPtr],
    block: &Positions,
    launch: &Launched,
    compute: &mut dyn FnMut(&Positions, Form),
) {
    // SAFETY: the caller's promise.
    let block = &unsafe { K::part(memory, block) };
    if is_empty(block) {
        return;
    }
    let unproved = |part: &Positions, gaps: &Gaps| {
        // SAFETY: the caller's promise.
        unsafe { K::unproved(scalars, memory, part, launch, gaps) }
    };
    let undecided = |part: &Positions, gaps: &Gaps| {
        // SAFETY: the caller's promise.
        unsafe { K::undecided(scalars, memory, part, launch, gaps) }
    };
    let none = Gaps::untold();
    match (unproved(block, &none), undecided(block, &none)) {
        (0, 0) => compute(block, Form::Interior),
        (0, _) if launch.group != [1; 3] => compute(block, Form::Proved),
        _ if launch.group != [1; 3] => compute(block, Form::Checked),
        _ if launch.reduces() => bands(block, &mut |band| {
            apart(band, unproved(band, &none), [&unproved, &undecided], compute);
        }),
        (open, _) => apart(block, open, [&unproved, &undecided], compute),
    }
}

/// Takes a block apart, of which so many indices are unproved, and has its parts computed. This is
/// compiled once, and not for each kernel, as all would be that is called by a generic function.
fn apart(
    block: &Positions,
    open: usize,
    [unproved, undecided]: [Count<'_>; 2],
    compute: &mut dyn FnMut(&Positions, Form),
) {
    let untold = Gaps::untold();
    cut(block, open, CUTS, unproved, &mut |part, proved| match proved {
        false => compute(part, Form::Checked),
        true => cut(part, undecided(part, &untold), CUTS, undecided, &mut |part, decided| {
            compute(part, if decided { Form::Interior } else { Form::Proved });
        }),
    });
}

/// Cuts a block, for which so many things are open, into parts, and tells of each whether all is
/// closed there.
fn cut(
    block: &Positions,
    open: usize,
    cuts: usize,
    count: Count<'_>,
    part: &mut dyn FnMut(&Positions, bool),
) {
    if open == 0 || open >= NEVER || cuts == 0 || volume(block) < SMALL {
        return part(block, open == 0);
    }
    let mut of_dims = (0..3).map(|dim| changes_of(block, dim, count));
    let Some(changes) = of_dims.find(|changes| !changes.rows.is_empty()) else {
        return part(block, false);
    };
    let (mut from, mut at) = (block.min[changes.dim], 0);
    while let Some(end) = changes.rows.get(at) {
        let open = changes.open(from, *end, count);
        at += 1;
        if open > 0 {
            cut(&changes.slice(from, *end), open, cuts - 1, count, part);
            from = *end;
            continue;
        }
        // Some rows change what makes no difference here.
        let more =
            changes.rows[at..].iter().take_while(|end| changes.open(from, **end, count) == 0);
        at += more.count();
        part(&changes.slice(from, changes.rows[at - 1]), true);
        from = changes.rows[at - 1];
    }
}

/// Where a block changes in a dimension.
struct Changes {
    block: Positions,
    dim: usize,
    /// The rows at which something opens or closes, and one past the last; none if nothing does.
    rows: Vec<usize>,
    /// What is open in the first row, and in the last.
    ends: [usize; 2],
}

impl Changes {
    fn slice(&self, from: usize, end: usize) -> Positions {
        let mut slice = self.block;
        (slice.min[self.dim], slice.max[self.dim]) = (from, end);
        slice
    }

    /// What is open in these rows.
    fn open(&self, from: usize, end: usize, count: Count<'_>) -> usize {
        match end - from {
            1 if from == self.block.min[self.dim] => self.ends[0],
            1 if end == self.block.max[self.dim] => self.ends[1],
            _ => count(&self.slice(from, end), &Gaps::untold()),
        }
    }
}

/// Where a block changes in a dimension.
fn changes_of(block: &Positions, dim: usize, count: Count<'_>) -> Changes {
    let mut of = Changes { block: *block, dim, rows: vec![], ends: [0; 2] };
    let (min, last) = (block.min[dim], block.max[dim] - block.min[dim] - 1);
    if last > 0 {
        let row = |row: usize| {
            let gaps = Gaps::new();
            (count(&of.slice(min + row, min + row + 1), &gaps), gaps)
        };
        let (first_row, last_row) = (row(0), row(last));
        let rows = changes(&first_row.1, &last_row.1, last, |at| row(at).1);
        of.ends = [first_row.0, last_row.0];
        of.rows = rows.iter().map(|row| min + row).collect();
        if !of.rows.is_empty() {
            of.rows.push(block.max[dim]);
        }
    }
    of
}

/// Calls `each` for a block's bands: rows that are neighbours, of [`BAND`] items together.
fn bands(block: &Positions, each: &mut dyn FnMut(&Positions)) {
    let slowest = (0..2).find(|dim| block.max[*dim] - block.min[*dim] > 1);
    match slowest.filter(|_| volume(block) > BAND) {
        None => each(block),
        Some(dim) => {
            let (mut first, mut second) = (*block, *block);
            let middle = block.min[dim] + (block.max[dim] - block.min[dim]) / 2;
            (first.max[dim], second.min[dim]) = (middle, middle);
            bands(&first, each);
            bands(&second, each);
        }
    }
}

fn volume(block: &Positions) -> usize {
    (0..3).map(|dim| block.max[dim] - block.min[dim]).product()
}

fn is_empty(block: &Positions) -> bool {
    block.min.iter().zip(&block.max).any(|(first, end)| first >= end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ends;
    use crate::ends::tests::block;

    /// The parts of a block of 2 dimensions, closed and open ones.
    fn parts(block: Positions, count: Count<'_>) -> [Vec<Positions>; 2] {
        let [mut closed, mut open] = [vec![], vec![]];
        cut(&block, count(&block, &Gaps::untold()), CUTS, count, &mut |part, is_closed| {
            match is_closed {
                true => closed.push(*part),
                false => open.push(*part),
            }
        });
        let all = closed.iter().chain(&open);
        assert_eq!(all.map(volume).sum::<usize>(), volume(&block));
        for r in block.min[1]..block.max[1] {
            for c in block.min[2]..block.max[2] {
                let has = |part: &&Positions| {
                    (part.min[1]..part.max[1]).contains(&r)
                        && (part.min[2]..part.max[2]).contains(&c)
                };
                assert_eq!(closed.iter().chain(&open).filter(has).count(), 1, "{r} {c}");
            }
        }
        [closed, open]
    }

    fn n(value: usize) -> Ends {
        Ends::of(value)
    }

    /// Of a border, as indices have it.
    fn border(part: &Positions, gaps: &Gaps, [top, bottom, left, right]: [usize; 4]) -> usize {
        let [r, c] = Ends::positions(part);
        r.unless_within(top, bottom - top, gaps) + c.unless_within(left, right - left, gaps)
    }

    #[test]
    fn edges_are_cut_off_and_no_more() {
        let count = |part: &Positions, gaps: &Gaps| border(part, gaps, [1, 49, 40, 99]);
        let [closed, open] = parts(block([0, 0], [50, 100]), &count);
        assert_eq!(closed, [block([1, 40], [49, 99])]);
        assert_eq!(open.len(), 4);
        // Of a block in the middle only what sticks out.
        let [closed, open] = parts(block([10, 0], [20, 99]), &count);
        assert_eq!(closed, [block([10, 40], [20, 99])]);
        assert_eq!(open, [block([10, 0], [20, 40])]);
        let [closed, open] = parts(block([1, 40], [49, 99]), &count);
        assert_eq!((closed, open), (vec![block([1, 40], [49, 99])], vec![]));
    }

    #[test]
    fn blocks_where_nothing_closes_stay_whole() {
        let all = block([0, 0], [50, 100]);
        let never = |part: &Positions, gaps: &Gaps| border(part, gaps, [60, 90, 0, 100]);
        assert_eq!(parts(all, &never), [vec![], vec![all]]);
        let unknown = |part: &Positions, gaps: &Gaps| {
            let [r, _] = Ends::positions::<2>(part);
            r.minus(n(usize::MAX)).unless_below(n(3), gaps)
        };
        assert_eq!(parts(all, &unknown), [vec![], vec![all]]);
        // Small ones are not cut.
        let all = block([0, 0], [7, 9]);
        let count = |part: &Positions, gaps: &Gaps| border(part, gaps, [1, 7, 0, 9]);
        assert_eq!(parts(all, &count), [vec![], vec![all]]);
    }

    #[test]
    fn points_in_the_middle_are_cut_out() {
        let count = |part: &Positions, gaps: &Gaps| {
            let [r, c] = Ends::positions(part);
            gaps.any([r.unless_apart(n(20), gaps), c.unless_apart(n(70), gaps)])
        };
        let [closed, open] = parts(block([0, 0], [50, 100]), &count);
        assert_eq!(open, [block([20, 70], [21, 71])]);
        let rows = [block([0, 0], [20, 100]), block([21, 0], [50, 100])];
        assert_eq!(closed.len(), 4);
        assert!(rows.iter().all(|rows| closed.contains(rows)), "{closed:?}");
        // What makes no difference in these rows cuts nothing.
        let both =
            |part: &Positions, gaps: &Gaps| count(part, gaps) + border(part, gaps, [1, 49, 1, 99]);
        let [closed, _] = parts(block([0, 0], [50, 100]), &both);
        assert!(closed.contains(&block([1, 1], [20, 99])), "{closed:?}");
    }

    #[test]
    fn gaps_that_follow_no_line_are_cut_all_the_same() {
        let count = |part: &Positions, gaps: &Gaps| {
            let [r, c] = Ends::positions::<2>(part);
            let (seventh, before) = (c.over(Ends::literal(7)), r.minus(Ends::literal(3)));
            Ends::literal(4).unless_up_to(seventh, gaps)
                + before.at_most(n(9)).unless_up_to(n(9), gaps)
        };
        let [closed, _] = parts(block([0, 0], [50, 100]), &count);
        assert_eq!(closed.iter().map(volume).sum::<usize>(), 47 * 72, "{closed:?}");
    }

    #[test]
    fn bands_are_all_rows_once_and_in_order() {
        for all in [block([3, 5], [700, 900]), block([0, 0], [1, 1 << 20]), block([0, 0], [9, 9])] {
            let mut next = all.min[1];
            bands(&all, &mut |band| {
                assert_eq!((band.min[1], band.min[2], band.max[2]), (next, all.min[2], all.max[2]));
                assert!(volume(band) <= BAND || band.max[1] - band.min[1] == 1);
                next = band.max[1];
            });
            assert_eq!(next, all.max[1]);
        }
    }
}
