//! What an index can be in a block: its ends. The macro writes, for each index that is a sum of positions,
//! loop variables and what does not change, the same sum of ends; if they are within a view, so is every
//! index between them, and none needs a check of its own.

use super::param::last;
use super::{Launched, Positions};
use std::any::TypeId;

/// The least and greatest value of an expression, as exact integers; natively it is computed modulo 2 to
/// the width of its type. Both agree where the ends are within the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    lo: i128,
    hi: i128,
    /// The greatest value of the type. [`LITERAL`] if it is made of literals alone.
    limit: i128,
}

/// No type has such values; sums and products of two such numbers do not overflow.
const FAR: i128 = 1 << 62;
const LITERAL: i128 = i128::MAX;
/// Anything.
const UNKNOWN: Ends = Ends { lo: -FAR, hi: FAR, limit: 0 };

impl Ends {
    fn new(lo: i128, hi: i128, limit: i128) -> Ends {
        let known = limit != 0 && lo > -FAR && hi < FAR;
        if known { Ends { lo, hi, limit } } else { UNKNOWN }
    }

    /// The positions of a block.
    #[must_use]
    pub fn positions<const D: usize>(block: &Positions) -> [Ends; D] {
        std::array::from_fn(|dim| {
            let at = 3 - D + dim;
            let (first, end) = (block.min[at] as i128, block.max[at] as i128);
            Ends::new(first, end - 1, usize::MAX as i128)
        })
    }

    /// A literal, whose type is that of what it is added to.
    #[must_use]
    pub fn literal(value: u64) -> Ends {
        Ends::new(value.into(), value.into(), LITERAL)
    }

    /// Something that does not change; unknown if it is of no type that indexes.
    #[must_use]
    #[inline(always)]
    pub fn of<T: Copy + 'static>(value: T) -> Ends {
        fn as_a<T: 'static, U: Copy + 'static>(value: &T) -> Option<U> {
            let same = TypeId::of::<T>() == TypeId::of::<U>();
            // SAFETY: they are one type.
            same.then(|| unsafe { *(&raw const *value).cast::<U>() })
        }
        let exactly = |value: i128, limit| Ends::new(value, value, limit);
        if let Some(value) = as_a::<T, usize>(&value) {
            exactly(value as i128, usize::MAX as i128)
        } else if let Some(value) = as_a::<T, u32>(&value) {
            exactly(value.into(), u32::MAX.into())
        } else if let Some(value) = as_a::<T, i32>(&value) {
            exactly(value.into(), i32::MAX.into())
        } else {
            UNKNOWN
        }
    }

    /// `for k in start..end`: what `k` can be. Without a turn nothing is; then it is as if `k` were `start`.
    #[must_use]
    pub fn turns(start: Ends, end: Ends, inclusive: bool) -> Ends {
        let limit = start.limit.min(end.limit);
        let typed = |of: Ends| Ends { limit, ..of }.is_exact();
        if !typed(start) || !typed(end) {
            return UNKNOWN;
        }
        let last = end.hi - i128::from(!inclusive);
        Ends::new(start.lo, last.max(start.hi), limit)
    }

    /// `a + b`
    #[must_use]
    pub fn plus(self, b: Ends) -> Ends {
        Ends::new(self.lo + b.lo, self.hi + b.hi, self.limit.min(b.limit))
    }

    /// `a - b`
    #[must_use]
    pub fn minus(self, b: Ends) -> Ends {
        Ends::new(self.lo - b.hi, self.hi - b.lo, self.limit.min(b.limit))
    }

    /// `a * b`
    #[must_use]
    pub fn times(self, b: Ends) -> Ends {
        let corners = [self.lo * b.lo, self.lo * b.hi, self.hi * b.lo, self.hi * b.hi];
        let (lo, hi) = corners
            .iter()
            .fold((corners[0], corners[0]), |(lo, hi), corner| (lo.min(*corner), hi.max(*corner)));
        Ends::new(lo, hi, self.limit.min(b.limit))
    }

    /// `a / b`
    #[must_use]
    pub fn over(self, b: Ends) -> Ends {
        self.by(b, |by| Ends::new(self.lo / by.hi, self.hi / by.lo, by.limit))
    }

    /// `a % b`
    #[must_use]
    pub fn modulo(self, b: Ends) -> Ends {
        self.by(b, |by| Ends::new(0, self.hi.min(by.hi - 1), by.limit))
    }

    /// What `of` says, of a divisor of which all is known, and of the type of both.
    fn by(self, b: Ends, of: impl FnOnce(Ends) -> Ends) -> Ends {
        let limit = self.limit.min(b.limit);
        let known = [self, b].iter().all(|of| Ends { limit, ..*of }.is_exact());
        if known && b.lo > 0 { of(Ends { limit, ..b }) } else { UNKNOWN }
    }

    /// `a as T`; unknown if `T` is not `usize`, of which a cast changes nothing that is known.
    #[must_use]
    pub fn cast<T: 'static>(self) -> Ends {
        let known = self.limit != LITERAL && self.is_exact();
        let known = known && TypeId::of::<T>() == TypeId::of::<usize>();
        if known { Ends { limit: usize::MAX as i128, ..self } } else { UNKNOWN }
    }

    /// What is computed natively is the exact value. A literal's type may be `i32`.
    fn is_exact(self) -> bool {
        let limit = if self.limit == LITERAL { i32::MAX.into() } else { self.limit };
        self.lo >= 0 && self.hi <= limit
    }

    /// All values, as they index, are among the `size` from `low` on.
    pub(super) fn within(self, low: usize, size: usize) -> bool {
        self.is_exact() && self.lo >= low as i128 && self.hi < low as i128 + size as i128
    }
}

/// What a block has of groups: the ends of what their items are within them, and of what they are.
#[derive(Debug)]
pub struct InGroups<const D: usize> {
    /// Of an item's position in its group.
    pub local: [Ends; D],
    /// Of its number there.
    pub number: Ends,
    /// Of a group's index.
    pub index: [Ends; D],
    /// Items of a group.
    pub size: [Ends; D],
    /// Groups of the launch.
    pub count: [Ends; D],
}

impl Launched {
    /// Those of a block, of whole groups.
    #[must_use]
    pub fn in_groups<const D: usize>(&self, block: &Positions) -> InGroups<D> {
        let (size, places) = (self.group.map(|size| size.max(1)), self.places(block));
        let all = |max: [usize; 3]| Positions { min: [0; 3], max };
        let [number] = Ends::positions(&all([1, 1, size.iter().product()]));
        InGroups {
            local: Ends::positions(&all(size)),
            number,
            index: Ends::positions(&places),
            size: last(size).map(Ends::of),
            count: last(self.grid()).map(Ends::of),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of what natively wraps are within what they are natively, or unknown.
    #[test]
    fn ends_hold_what_wraps() {
        let at = Ends::positions::<1>(&Positions { min: [0, 0, 2], max: [1, 1, 6] })[0];
        let [one, three] = [1, 3].map(Ends::literal);
        assert!(at.plus(one).within(3, 4) && !at.plus(one).within(4, 4));
        assert!(!at.plus(one).within(3, 3));
        // 2 - 3 wraps.
        assert!(!at.minus(three).within(0, usize::MAX));
        assert!(at.minus(three).plus(three).within(2, 4));
        assert!(Ends::of(7usize).minus(at).within(2, 4));
        assert!(at.times(three).plus(at.times(one)).within(8, 13));
        assert!(at.over(three).within(0, 2) && at.modulo(three).within(0, 3));
        assert!(!at.over(three.minus(three)).within(0, usize::MAX));
        // 2 - 3 is no small number to divide.
        assert!(!at.minus(three).over(Ends::of(usize::MAX)).within(0, 2));
        assert!(!at.minus(three).modulo(three).within(0, 3));
        // Too far to be told, also when it comes back.
        let far = Ends::of(usize::MAX);
        assert!(!far.minus(far).within(0, 1) && !far.times(far).within(0, usize::MAX));
        assert!(!Ends::of(1u8).within(0, 10) && !Ends::of(1.0f32).within(0, 10));
    }

    #[test]
    fn narrow_types_wrap_earlier() {
        let (top, one) = (Ends::of(u32::MAX), Ends::literal(1));
        assert!(!top.plus(one).within(0, usize::MAX) && top.within(0, usize::MAX));
        assert!(!Ends::of(i32::MAX).plus(one).within(0, usize::MAX));
        assert!(!Ends::of(-1i32).within(0, usize::MAX));
        assert!(!Ends::of(-1i32).cast::<usize>().plus(one).within(0, 1));
        // `2000000000 + 2000000000` is an `i32`, and below 0.
        let large = Ends::literal(2_000_000_000);
        assert!(large.within(0, usize::MAX) && !large.plus(large).within(0, usize::MAX));
        // The literal may be a `u8` that has wrapped.
        assert!(!Ends::literal(200).plus(Ends::literal(200)).cast::<usize>().within(0, 500));
        assert!(Ends::of(5u32).cast::<usize>().minus(one).within(4, 1));
        assert!(
            !Ends::of(5u32).cast::<i32>().within(5, 1),
            "what is called `usize` may be another type"
        );
    }

    #[test]
    fn groups_are_of_the_launch() {
        let (offset, range, group) = ([0, 8, 30], [1, 8, 60], [1, 2, 10]);
        let launch = Launched::new(offset, range, group, 0);
        let block = Positions { min: [0, 12, 40], max: [1, 16, 70] };
        let of = launch.in_groups::<2>(&block);
        assert!(of.local[0].within(0, 2) && of.local[1].within(0, 10) && of.number.within(0, 20));
        assert!(!of.local[0].within(0, 1) && !of.number.within(0, 19));
        assert!(of.index[0].within(2, 2) && of.index[1].within(1, 3));
        assert!(!of.index[0].within(2, 1) && !of.index[1].within(1, 2));
        let [rows, columns] = of.count;
        assert!(rows.within(4, 1) && columns.within(6, 1) && of.size[1].within(10, 1));
    }

    #[test]
    fn turns_are_between_the_ends_of_a_loop() {
        let [none, four] = [0, 4].map(Ends::literal);
        let n = |n: usize| Ends::of(n);
        assert!(Ends::turns(none, n(4), false).within(0, 4));
        assert!(!Ends::turns(none, n(4), true).within(0, 4));
        assert!(Ends::turns(n(4), n(1), false).within(4, 1), "no turn");
        // `0..n - 4` with 0 items is a loop to the end of the world.
        assert!(!Ends::turns(none, n(0).minus(four), false).within(0, 4));
        assert!(!Ends::turns(none, Ends::of(-1i32), true).within(0, 4));
    }
}
