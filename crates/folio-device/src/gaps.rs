//! Gaps: by how much the indices of a block miss being inside, and its guards being decided. They
//! change along a dimension as the positions do, so those of a block's first and last row tell
//! between which rows something opens or closes: there [`run`](super::run) cuts the block.

use super::Ends;
use super::interior::SMALL;
use std::cell::RefCell;

/// Rows at which a block is cut at a time. Others are found when what is left is cut again.
const MOST: usize = 64;

/// More than a kernel has comparisons. Something that counts as this is closed in no part of the
/// block.
pub(super) const NEVER: usize = 1 << (usize::BITS / 2);

/// A gap of what is not known.
const UNKNOWN: i64 = i64::MAX;

/// The gaps of a block, in the order in which the kernel asks. Each is closed at 0 and below.
#[derive(Debug)]
pub struct Gaps(Option<RefCell<Vec<i64>>>);

impl Gaps {
    /// To be told.
    #[must_use]
    pub fn new() -> Gaps {
        Gaps(Some(RefCell::new(Vec::with_capacity(32))))
    }

    /// Of no interest.
    #[must_use]
    pub const fn untold() -> Gaps {
        Gaps(None)
    }

    /// Something misses by so much, or by an unknown amount.
    #[inline]
    pub(super) fn tell(&self, gap: Option<i128>) {
        if let Some(all) = &self.0 {
            let far = |gap: i128| gap.clamp(i64::MIN.into(), (UNKNOWN - 1).into()) as i64;
            all.borrow_mut().push(gap.map_or(UNKNOWN, far));
        }
    }

    /// Of ways in which one guard is decided the nearest one: what that misses.
    #[must_use]
    pub fn any<const N: usize>(&self, ways: [usize; N]) -> usize {
        #[cfg(feature = "planted")]
        if planted::IS.load(std::sync::atomic::Ordering::Relaxed) {
            return 0;
        }
        ways.into_iter().min().unwrap_or(NEVER)
    }

    fn told(&self) -> Vec<i64> {
        self.0.as_ref().map(|all| all.borrow().clone()).unwrap_or_default()
    }
}

impl Default for Gaps {
    fn default() -> Self {
        Gaps::new()
    }
}

/// Where a gap opens or closes, between a first row that has these gaps and a row `rows` after it:
/// each time the first row, counted from the first, that is otherwise than the first.
pub(super) fn changes(
    first: &Gaps,
    last: &Gaps,
    rows: usize,
    between: impl Fn(usize) -> Gaps,
) -> Vec<usize> {
    let ends = first.told().into_iter().zip(last.told()).enumerate();
    let changes = ends.filter(|(_, (a, b))| (*a > 0) != (*b > 0));
    let mut all: Vec<usize> = changes
        .map(|(nth, (a, b))| match [a, b].contains(&UNKNOWN) {
            // Along a line.
            false => {
                let (a, by, rows) = (i128::from(a), i128::from(b) - i128::from(a), rows as i128);
                let change = match by < 0 {
                    true => (a * rows + (-by - 1)) / -by,
                    false => -a * rows / by + 1,
                };
                change as usize
            }
            true => {
                let is_first =
                    |row| between(row).told().get(nth).is_some_and(|gap| (*gap > 0) == (a > 0));
                let (mut low, mut high) = (0, rows);
                while high - low > 1 {
                    let row = low + (high - low) / 2;
                    if is_first(row) { low = row } else { high = row }
                }
                high
            }
        })
        .collect();
    all.sort_unstable();
    all.dedup();
    all.truncate(MOST);
    all
}

/// Below a type and above: of a type that is not known.
const FAR: [i128; 2] = [UNKNOWN as i128; 2];

/// The condition of a guard, which [`Kernel::undecided`](super::Kernel::undecided) counts: 0 if it
/// holds for all values that the two can have, [`NEVER`] if for none, else 1.
impl Ends {
    /// `a < b`
    #[must_use]
    pub fn unless_below(self, b: Ends, gaps: &Gaps) -> usize {
        self.unless(b, gaps, |a, b| ([above(a, b) + 1], a.lo >= b.hi))
    }

    /// `a <= b`
    #[must_use]
    pub fn unless_up_to(self, b: Ends, gaps: &Gaps) -> usize {
        self.unless(b, gaps, |a, b| ([above(a, b)], a.lo > b.hi))
    }

    /// `a == b`
    #[must_use]
    pub fn unless_equal(self, b: Ends, gaps: &Gaps) -> usize {
        self.unless(b, gaps, |a, b| ([above(a, b), above(b, a)], a.hi < b.lo || b.hi < a.lo))
    }

    /// `a != b`
    #[must_use]
    pub fn unless_apart(self, b: Ends, gaps: &Gaps) -> usize {
        gaps.any([self.unless_below(b, gaps), b.unless_below(self, gaps)])
    }

    /// `a + b` is within the type.
    #[must_use]
    pub fn unless_sum(self, b: Ends, gaps: &Gaps) -> usize {
        self.unless(b, gaps, |a, b| (a.plus(b).outside().unwrap_or(FAR), false))
    }

    /// `a - b` is within the type.
    #[must_use]
    pub fn unless_difference(self, b: Ends, gaps: &Gaps) -> usize {
        self.unless(b, gaps, |a, b| (a.minus(b).outside().unwrap_or(FAR), false))
    }

    /// The condition that the number is so small that sums of a few stay within 32 bits.
    #[must_use]
    pub fn unless_small(self, gaps: &Gaps) -> usize {
        self.unless_within(0, SMALL, gaps)
    }

    /// All values, as they index, are among the `size` from `low` on.
    pub(super) fn unless_within(self, low: usize, size: usize, gaps: &Gaps) -> usize {
        let (low, end) = (low as i128, low as i128 + size as i128);
        let ([lo, hi], known) = (self.wide(), self.is_known());
        for gap in [low - lo, hi - end + 1] {
            gaps.tell(known.then_some(gap));
        }
        match known && (hi < low || lo >= end) {
            true => NEVER,
            false => usize::from(!(self.is_exact() && lo >= low && hi < end)),
        }
    }

    /// By how much something is missed that two ends are asked for, and whether it is so for no two
    /// of their values.
    fn unless<const N: usize>(
        self,
        b: Ends,
        gaps: &Gaps,
        missed: impl FnOnce(Ends, Ends) -> ([i128; N], bool),
    ) -> usize {
        let Some((a, b)) = self.exact_with(b) else {
            (0..N).for_each(|_| gaps.tell(None));
            return 1;
        };
        let (missed, never) = missed(a, b);
        missed.iter().for_each(|gap| gaps.tell(Some(*gap)));
        if never { NEVER } else { usize::from(missed.iter().any(|gap| *gap > 0)) }
    }
}

/// By how much `a` is above `b`, at most.
fn above(a: Ends, b: Ends) -> i128 {
    i128::from(a.hi) - i128::from(b.lo)
}

/// A bug on purpose: conditions that one comparison decides are taken to be decided. No access
/// follows from that which is not proved.
#[cfg(feature = "planted")]
#[doc(hidden)]
pub mod planted {
    use std::sync::atomic::{AtomicBool, Ordering};

    pub(super) static IS: AtomicBool = AtomicBool::new(false);

    /// From now on it is there.
    pub fn plant() {
        IS.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gaps that are these.
    fn gaps(all: &[Option<i128>]) -> Gaps {
        let gaps = Gaps::new();
        all.iter().for_each(|gap| gaps.tell(*gap));
        gaps
    }

    #[test]
    fn lines_change_where_they_cross_zero() {
        for (slope, at) in
            [-7i128, -3, -1, 1, 2, 5].into_iter().flat_map(|s| (-9..90).map(move |at| (s, at)))
        {
            let line = |row: usize| slope * row as i128 + at;
            let rows = 12;
            let expected = (1..=rows).find(|row| (line(*row) > 0) != (line(0) > 0));
            let found = changes(&gaps(&[Some(line(0))]), &gaps(&[Some(line(rows))]), rows, |row| {
                gaps(&[Some(line(row))])
            });
            assert_eq!(found, Vec::from_iter(expected), "{slope} {at}");
        }
    }

    #[test]
    fn unknown_gaps_change_where_they_become_known() {
        let of = |row: usize| gaps(&[None, (row >= 37).then_some(0), Some(1)]);
        assert_eq!(changes(&of(0), &of(100), 100, of), [37]);
        let of = |row: usize| gaps(&[(row < 5).then_some(-3), Some(7 - row as i128)]);
        assert_eq!(changes(&of(0), &of(9), 9, of), [5, 7]);
    }

    #[test]
    fn untold_gaps_change_nowhere() {
        let (a, b) = (Gaps::untold(), Gaps::untold());
        a.tell(Some(1));
        b.tell(Some(-1));
        assert_eq!(changes(&a, &b, 10, |_| Gaps::untold()), []);
    }
}
