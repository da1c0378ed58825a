//! The range of an index in a block: its ends. The macro writes, for each index that is a sum of
//! positions, loop variables and what does not change, the same sum of ends; if they are within a
//! view, so is every index between them, and none needs a check of its own.

use super::param::last;
use super::{Launched, Positions};
use std::any::TypeId;

/// The least and greatest value of an expression, as exact integers; natively it is computed modulo
/// 2 to the width of its type. Both agree where the ends are within the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    pub(super) lo: i64,
    pub(super) hi: i64,
    of: Of,
}

/// The type of an expression, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    /// Nothing is known, of the value neither.
    Unknown,
    /// The number is made of literals alone.
    Literal,
    /// The number is made of literals alone, one of which has a minus, and therefore its type has a
    /// sign.
    Signed,
    /// This one.
    Type(Integer),
}

/// A type of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Integer {
    signed: bool,
    bits: u32,
}

impl Integer {
    /// Its least and greatest value.
    fn limits(self) -> (i128, i128) {
        match self.signed {
            true => (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1),
            false => (0, (1 << self.bits) - 1),
        }
    }
}

/// Positions.
const USIZE: Of = Of::Type(Integer { signed: false, bits: usize::BITS });
/// Ends beyond this are unknown.
const FAR: i64 = 1 << 62;
/// Anything.
const UNKNOWN: Ends = Ends { lo: -FAR, hi: FAR, of: Of::Unknown };

impl Of {
    /// That of an operation between two: they have one type.
    fn both(self, b: Of) -> Of {
        match (self, b) {
            (Of::Literal, of) | (of, Of::Literal) => of,
            (Of::Signed, of @ (Of::Signed | Of::Type(..))) => b.signed(of),
            (of @ Of::Type(..), Of::Signed) => self.signed(of),
            (a, b) if a == b => a,
            _ => Of::Unknown,
        }
    }

    /// `of`, if this is a type with a sign.
    fn signed(self, of: Of) -> Of {
        match self {
            Of::Type(Integer { signed: false, .. }) => Of::Unknown,
            _ => of,
        }
    }

    /// The values that are surely in the type. A literal may be an `i32`, and if it has a minus, an
    /// `i8`.
    fn limits(self) -> Option<(i128, i128)> {
        match self {
            Of::Unknown => None,
            Of::Literal => Some((0, i32::MAX.into())),
            Of::Signed => Some((i8::MIN.into(), i8::MAX.into())),
            Of::Type(integer) => Some(integer.limits()),
        }
    }
}

macro_rules! integers {
    ($($ty:ident)*) => {
        /// A type of integers that indices are made of; unknown for others.
        #[inline(always)]
        fn type_of<T: 'static>() -> Of {
            $(if TypeId::of::<T>() == TypeId::of::<$ty>() {
                return Of::Type(Integer { signed: $ty::MIN != 0, bits: $ty::BITS });
            })*
            Of::Unknown
        }

        /// The value, if it is of such a type.
        #[inline(always)]
        fn exactly<T: Copy + 'static>(value: T) -> i128 {
            $(if TypeId::of::<T>() == TypeId::of::<$ty>() {
                // SAFETY: they are one type.
                return unsafe { *(&raw const value).cast::<$ty>() } as i128;
            })*
            0
        }
    };
}
integers! { usize isize u32 i32 u64 i64 }

impl Ends {
    #[inline(always)]
    fn new(lo: impl Into<i128>, hi: impl Into<i128>, of: Of) -> Ends {
        let (lo, hi) = (lo.into(), hi.into());
        let known = of != Of::Unknown && lo > -i128::from(FAR) && hi < i128::from(FAR);
        if known { Ends { lo: lo as i64, hi: hi as i64, of } } else { UNKNOWN }
    }

    /// As integers of which sums and products do not overflow.
    #[inline(always)]
    pub(super) fn wide(self) -> [i128; 2] {
        [self.lo.into(), self.hi.into()]
    }

    /// The positions of a block.
    #[must_use]
    pub fn positions<const D: usize>(block: &Positions) -> [Ends; D] {
        std::array::from_fn(|dim| {
            let at = 3 - D + dim;
            let (first, end) = (block.min[at] as i128, block.max[at] as i128);
            Ends::new(first, end - 1, USIZE)
        })
    }

    /// A literal, whose type is that of what it is added to.
    #[must_use]
    pub fn literal(value: u64) -> Ends {
        Ends::new(value, value, Of::Literal)
    }

    /// A literal with a minus.
    #[must_use]
    pub fn minus_literal(value: u64) -> Ends {
        let value = -i128::from(value);
        Ends::new(value, value, Of::Signed)
    }

    /// Something that does not change; unknown if it is of no type that indices are made of.
    #[must_use]
    #[inline(always)]
    pub fn of<T: Copy + 'static>(value: T) -> Ends {
        let value = exactly(value);
        Ends::new(value, value, type_of::<T>())
    }

    /// `for k in start..end`: what `k` can be. Without a turn nothing is; then it is as if `k` were
    /// `start`.
    #[must_use]
    pub fn turns(start: Ends, end: Ends, inclusive: bool) -> Ends {
        let Some((start, end)) = start.exact_with(end) else { return UNKNOWN };
        let last = end.hi - i64::from(!inclusive);
        Ends::new(start.lo, last.max(start.hi), start.of)
    }

    /// `a + b`
    #[must_use]
    pub fn plus(self, b: Ends) -> Ends {
        let ([a, b], [c, d], of) = (self.wide(), b.wide(), self.of.both(b.of));
        Ends::new(a + c, b + d, of)
    }

    /// `a - b`
    #[must_use]
    pub fn minus(self, b: Ends) -> Ends {
        let ([a, b], [c, d], of) = (self.wide(), b.wide(), self.of.both(b.of));
        Ends::new(a - d, b - c, of)
    }

    /// `a * b`
    #[must_use]
    pub fn times(self, b: Ends) -> Ends {
        let ([a, b], [c, d], of) = (self.wide(), b.wide(), self.of.both(b.of));
        let corners = [a * c, a * d, b * c, b * d];
        let (lo, hi) = corners
            .iter()
            .fold((corners[0], corners[0]), |(lo, hi), corner| (lo.min(*corner), hi.max(*corner)));
        Ends::new(lo, hi, of)
    }

    /// `a / b`
    #[must_use]
    pub fn over(self, b: Ends) -> Ends {
        self.by(b, |a, b| Ends::new(a.lo / b.hi, a.hi / b.lo, a.of))
    }

    /// `a % b`
    #[must_use]
    pub fn modulo(self, b: Ends) -> Ends {
        self.by(b, |a, b| Ends::new(0, a.hi.min(b.hi - 1), a.of))
    }

    /// The result of `of`, of a divisor whose ends are known, and of the type of both.
    fn by(self, b: Ends, of: impl FnOnce(Ends, Ends) -> Ends) -> Ends {
        let known = self.exact_with(b).filter(|(a, b)| a.lo >= 0 && b.lo > 0);
        known.map_or(UNKNOWN, |(a, b)| of(a, b))
    }

    /// `a.max(b)`
    #[must_use]
    pub fn at_least(self, b: Ends) -> Ends {
        let of = |(a, b): (Ends, Ends)| Ends::new(a.lo.max(b.lo), a.hi.max(b.hi), a.of);
        self.exact_with(b).map_or(UNKNOWN, of)
    }

    /// `a.min(b)`
    #[must_use]
    pub fn at_most(self, b: Ends) -> Ends {
        let of = |(a, b): (Ends, Ends)| Ends::new(a.lo.min(b.lo), a.hi.min(b.hi), a.of);
        self.exact_with(b).map_or(UNKNOWN, of)
    }

    /// `a.saturating_add(b)`
    #[must_use]
    pub fn plus_within(self, b: Ends) -> Ends {
        self.exact_with(b).map_or(UNKNOWN, |(a, b)| a.plus(b).saturated())
    }

    /// `a.saturating_sub(b)`
    #[must_use]
    pub fn minus_within(self, b: Ends) -> Ends {
        self.exact_with(b).map_or(UNKNOWN, |(a, b)| a.minus(b).saturated())
    }

    /// The ends, clamped to the type.
    fn saturated(self) -> Ends {
        match self.of {
            Of::Type(integer) => {
                let (least, most) = integer.limits();
                let [lo, hi] = self.wide().map(|end| end.clamp(least, most));
                Ends::new(lo, hi, self.of)
            }
            _ => UNKNOWN,
        }
    }

    /// The ends of one or the other.
    #[must_use]
    pub fn or(self, b: Ends) -> Ends {
        Ends::new(self.lo.min(b.lo), self.hi.max(b.hi), self.of.both(b.of))
    }

    /// `a as T`; unknown if `T` is of no type that indices are made of, or cannot have all of the
    /// values.
    #[must_use]
    pub fn cast<T: 'static>(self) -> Ends {
        let literal = matches!(self.of, Of::Literal | Of::Signed);
        let cast = Ends { of: type_of::<T>(), ..self };
        let known = !literal && self.is_exact() && cast.is_exact();
        if known { cast } else { UNKNOWN }
    }

    #[cfg(test)]
    fn within(self, low: usize, size: usize) -> bool {
        self.unless_within(low, size, &crate::Gaps::untold()) == 0
    }

    /// By how much it is below its type and above; unknown if its type is.
    pub(super) fn outside(self) -> Option<[i128; 2]> {
        let ([lo, hi], limits) = (self.wide(), self.of.limits());
        limits.map(|(least, most)| [least - lo, hi - most])
    }

    /// Something is known of it.
    pub(super) fn is_known(self) -> bool {
        self.of != Of::Unknown
    }

    /// Whether native arithmetic computes the exact value.
    pub(super) fn is_exact(self) -> bool {
        let [lo, hi] = self.wide();
        self.of.limits().is_some_and(|(least, most)| lo >= least && hi <= most)
    }

    /// Both, with the type that they have together, if what is computed natively are the exact
    /// values.
    pub(super) fn exact_with(self, b: Ends) -> Option<(Ends, Ends)> {
        let of = self.of.both(b.of);
        let (a, b) = (Ends { of, ..self }, Ends { of, ..b });
        (a.is_exact() && b.is_exact()).then_some((a, b))
    }
}

/// The groups of a block: the ends of positions of items within them, and of their own indices.
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
    /// The groups of a block, of whole groups.
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
pub(super) mod tests {
    use super::*;
    use crate::gaps::{Gaps, NEVER};
    use crate::interior::SMALL;

    /// A block of 2 dimensions.
    pub(crate) fn block(min: [usize; 2], max: [usize; 2]) -> Positions {
        Positions { min: [0, min[0], min[1]], max: [1, max[0], max[1]] }
    }

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
        assert!(!Ends::of(true).within(0, 10) && !Ends::of(1.0f32).within(0, 10));
    }

    /// `interior::cast` rests on this.
    #[test]
    fn positions_are_small_where_all_of_a_block_are() {
        let block = |first: usize, end: usize| {
            let block = Positions { min: [0, 0, first], max: [1, 1, end] };
            let [at] = Ends::positions::<1>(&block);
            at.unless_small(&Gaps::untold())
        };
        assert_eq!((block(0, 1), block(SMALL - 9, SMALL)), (0, 0));
        assert_eq!((block(SMALL - 9, SMALL + 1), block(SMALL, SMALL + 1)), (1, NEVER));
        assert_eq!(block(0, usize::MAX), 1);
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
        // A type that is called `usize` may be another type.
        assert!(!Ends::of(5u32).cast::<f32>().within(5, 1));
        assert!(Ends::of(5u32).cast::<i32>().minus(one).cast::<usize>().within(4, 1));
        assert!(!Ends::of(u32::MAX).cast::<i32>().within(0, usize::MAX));
    }

    /// Numbers below 0 are exact where the type has a sign, and never index.
    #[test]
    fn types_with_a_sign_have_numbers_below_zero() {
        let at = Ends::positions::<1>(&Positions { min: [0, 0, 2], max: [1, 1, 6] })[0];
        let (zero, three, less) = (Ends::literal(0), Ends::literal(3), Ends::minus_literal(3));
        let signed = at.cast::<isize>().minus(three);
        assert!(!signed.within(0, 10) && !signed.cast::<usize>().within(0, usize::MAX));
        assert!(signed.at_least(zero).cast::<usize>().within(0, 3));
        let around = at.cast::<isize>().plus(Ends::turns(less, three, true));
        assert!(around.at_least(zero).at_most(Ends::of(6isize)).cast::<usize>().within(0, 7));
        // There is no such literal of this type; and one of these types is at most 127.
        assert!(!at.plus(less).within(0, usize::MAX));
        let far = Ends::minus_literal(100).plus(Ends::minus_literal(100));
        assert!(!Ends::turns(far, zero, false).at_least(zero).within(0, 1));
        assert!(!less.cast::<isize>().at_least(zero).within(0, usize::MAX), "of which type is it?");
    }

    /// The hull of what each pair of numbers gives, or unknown.
    #[test]
    fn limits_are_those_of_each_value() {
        let all = (0..6u32).flat_map(|lo| (lo..6).map(move |hi| (lo, hi)));
        let all: Vec<_> = all.collect();
        let of = |(lo, hi): (u32, u32)| Ends::of(lo).or(Ends::of(hi));
        for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (*a, *b))) {
            let is = |ends: Ends, op: &dyn Fn(u32, u32) -> u32| {
                let pairs = (a.0..=a.1).flat_map(|x| (b.0..=b.1).map(move |y| (x, y)));
                let given: Vec<_> = pairs.map(|(x, y)| op(x, y)).collect();
                let (lo, hi) = (given.iter().min().copied(), given.iter().max().copied());
                assert_eq!((lo, hi), (Some(ends.lo as u32), Some(ends.hi as u32)), "{a:?} {b:?}");
            };
            is(of(a).at_least(of(b)), &|x, y| x.max(y));
            is(of(a).at_most(of(b)), &|x, y| x.min(y));
            is(of(a).minus_within(of(b)), &|x, y| x.saturating_sub(y));
            is(of(a).plus_within(of(b)), &|x, y| x.saturating_add(y));
            let holds = |op: &dyn Fn(u32, u32) -> bool| {
                let pairs = || (a.0..=a.1).flat_map(|x| (b.0..=b.1).map(move |y| (x, y)));
                match (pairs().all(|(x, y)| op(x, y)), pairs().any(|(x, y)| op(x, y))) {
                    (true, _) => 0,
                    (false, true) => 1,
                    (false, false) => NEVER,
                }
            };
            let none = &Gaps::untold();
            assert_eq!(of(a).unless_below(of(b), none), holds(&|x, y| x < y));
            assert_eq!(of(a).unless_up_to(of(b), none), holds(&|x, y| x <= y));
            assert_eq!(of(a).unless_equal(of(b), none), holds(&|x, y| x == y));
            assert_eq!(of(a).unless_difference(of(b), none).min(1), holds(&|x, y| x >= y).min(1));
            // Of ranges that meet, some numbers may be the same; all are if there is one.
            let apart = a.1 < b.0 || b.1 < a.0;
            let same = a.0 == a.1 && a == b;
            let expected = if apart {
                0
            } else if same {
                NEVER
            } else {
                1
            };
            assert_eq!(of(a).unless_apart(of(b), none), expected);
        }
        let most = Ends::of(u32::MAX);
        assert_eq!(most.plus_within(Ends::literal(9)), most);
        let none = &Gaps::untold();
        let sums = [0, 1].map(|by| most.unless_sum(Ends::literal(by), none));
        assert_eq!(sums, [0, 1]);
        // Ends that have wrapped are not compared with others.
        let wrapped = Ends::of(2u32).minus(Ends::literal(3));
        assert_eq!(wrapped.unless_below(Ends::literal(5), none), 1);
        assert_eq!(wrapped.plus_within(Ends::literal(9)), UNKNOWN);
        let low = Ends::of(i32::MIN).minus_within(Ends::literal(3));
        assert_eq!(low, Ends::of(i32::MIN));
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
        assert!(Ends::turns(none, Ends::of(-1i32), true).within(0, 1), "no turn");
        assert!(!Ends::turns(Ends::of(-1i32), Ends::of(3i32), false).within(0, 4));
    }
}
