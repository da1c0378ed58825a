//! Intervals of integers, with arithmetic that knows each type's wrapping: a result that might wrap
//! is any value of the type.

use crate::op::{Binary, Unary};
use crate::types::Scalar;

/// All integers from `lo` to `hi`, both included; `lo <= hi`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The least.
    pub lo: i128,
    /// The greatest.
    pub hi: i128,
}

impl Interval {
    /// From `lo` to `hi`.
    pub fn new(lo: i128, hi: i128) -> Interval {
        Interval { lo, hi: hi.max(lo) }
    }

    /// The interval of a single number.
    pub fn exactly(value: i128) -> Interval {
        Interval::new(value, value)
    }

    /// All values of a type; for floats an interval of no meaning.
    pub fn of(scalar: Scalar) -> Interval {
        let (lo, hi) = scalar.limits().unwrap_or((0, 0));
        Interval { lo, hi }
    }

    /// The smallest that contains both.
    #[must_use]
    pub fn join(self, other: Interval) -> Interval {
        Interval { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// The numbers in both, if there are any.
    pub fn meet(self, other: Interval) -> Option<Interval> {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        (lo <= hi).then_some(Interval { lo, hi })
    }

    /// Each number of it, and so much more.
    #[must_use]
    pub fn plus(self, by: i128) -> Interval {
        Interval { lo: self.lo + by, hi: self.hi + by }
    }

    /// Contains all of `other`.
    pub fn contains(self, other: Interval) -> bool {
        self.lo <= other.lo && other.hi <= self.hi
    }

    /// The one number in it.
    pub fn single(self) -> Option<i128> {
        (self.lo == self.hi).then_some(self.lo)
    }

    /// Itself if it is in the type's range, else all of the type. A single number is taken modulo 2
    /// to the type's bits.
    #[must_use]
    pub fn wrapped(self, scalar: Scalar) -> Interval {
        let all = Interval::of(scalar);
        match self.single() {
            _ if all.contains(self) => self,
            Some(value) if scalar.is_int() => Interval::exactly(scalar.int(value as u64)),
            _ => all,
        }
    }

    /// The hull of a function's values at the corners of two intervals.
    fn corners(self, other: Interval, f: impl Fn(i128, i128) -> Option<i128>) -> Option<Interval> {
        let at = [
            f(self.lo, other.lo)?,
            f(self.lo, other.hi)?,
            f(self.hi, other.lo)?,
            f(self.hi, other.hi)?,
        ];
        let lo = at.iter().copied().min()?;
        let hi = at.iter().copied().max()?;
        Some(Interval { lo, hi })
    }
}

/// The results of an operation on integers.
pub fn binary(op: Binary, scalar: Scalar, a: Interval, b: Interval) -> Interval {
    let all = Interval::of(scalar);
    let exact = match op {
        Binary::Add => a.corners(b, i128::checked_add),
        Binary::Sub => a.corners(b, i128::checked_sub),
        Binary::Mul => a.corners(b, i128::checked_mul),
        Binary::Div if b.lo > 0 => a.corners(b, i128::checked_div),
        Binary::Rem if b.lo > 0 => Some(Interval {
            lo: if a.lo < 0 { -(b.hi - 1).min(-a.lo) } else { 0 },
            hi: if a.hi > 0 { (b.hi - 1).min(a.hi) } else { 0 },
        }),
        Binary::Min => Some(Interval { lo: a.lo.min(b.lo), hi: a.hi.min(b.hi) }),
        Binary::Max => Some(Interval { lo: a.lo.max(b.lo), hi: a.hi.max(b.hi) }),
        Binary::And if a.lo >= 0 && b.lo >= 0 => Some(Interval { lo: 0, hi: a.hi.min(b.hi) }),
        Binary::And if a.lo >= 0 => Some(Interval { lo: 0, hi: a.hi }),
        Binary::And if b.lo >= 0 => Some(Interval { lo: 0, hi: b.hi }),
        Binary::Or | Binary::Xor if a.lo >= 0 && b.lo >= 0 => {
            let top = (a.hi | b.hi) as u128;
            let bits = 128 - top.leading_zeros();
            Some(Interval { lo: 0, hi: (1i128 << bits) - 1 })
        }
        Binary::Shl => amount(b, scalar).and_then(|by| {
            let shift = |x: i128, _| x.checked_mul(1i128 << by);
            a.corners(b, shift)
        }),
        Binary::Shr => amount(b, scalar).map(|by| Interval { lo: a.lo >> by, hi: a.hi >> by }),
        Binary::SatAdd => a.corners(b, |x, y| Some((x + y).clamp(all.lo, all.hi))),
        Binary::SatSub => a.corners(b, |x, y| Some((x - y).clamp(all.lo, all.hi))),
        _ => None,
    };
    exact.map_or(all, |result| result.wrapped(scalar))
}

/// A known amount of a shift.
fn amount(b: Interval, scalar: Scalar) -> Option<u32> {
    let by = u32::try_from(b.single()?).ok()?;
    (by < scalar.bits()).then_some(by)
}

/// The results of an operation on integers or `bool`.
pub fn unary(op: Unary, scalar: Scalar, a: Interval) -> Interval {
    let bits = i128::from(scalar.bits());
    match op {
        Unary::Neg => Interval { lo: -a.hi, hi: -a.lo }.wrapped(scalar),
        Unary::Abs if a.lo >= 0 => a,
        Unary::Abs => Interval { lo: 0, hi: a.hi.max(-a.lo) }.wrapped(scalar),
        Unary::Not if scalar == Scalar::Bool => Interval { lo: 1 - a.hi, hi: 1 - a.lo },
        Unary::CountOnes | Unary::LeadingZeros | Unary::TrailingZeros => Interval::new(0, bits),
        _ => Interval::of(scalar),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of small intervals of `i8` and `u8`, against all their members.
    #[test]
    fn intervals_contain_every_result() {
        let ops = [
            Binary::Add,
            Binary::Sub,
            Binary::Mul,
            Binary::Div,
            Binary::Rem,
            Binary::Min,
            Binary::Max,
            Binary::And,
            Binary::Or,
            Binary::Xor,
            Binary::Shl,
            Binary::Shr,
            Binary::SatAdd,
            Binary::SatSub,
        ];
        for scalar in [Scalar::I8, Scalar::U8] {
            let (lo, hi) = scalar.limits().unwrap();
            let ends = [lo, lo + 1, -3, -1, 0, 1, 2, 5, 7, 8, 100, hi - 1, hi];
            let ends: Vec<_> = ends.into_iter().filter(|e| (lo..=hi).contains(e)).collect();
            for op in ops {
                for (&al, &bl) in ends.iter().flat_map(|a| ends.iter().map(move |b| (a, b))) {
                    let (a, b) =
                        (Interval::new(al, (al + 3).min(hi)), Interval::new(bl, (bl + 2).min(hi)));
                    let all = binary(op, scalar, a, b);
                    for (x, y) in (a.lo..=a.hi).flat_map(|x| (b.lo..=b.hi).map(move |y| (x, y))) {
                        let z = concrete(op, scalar, x, y);
                        assert!(all.contains(Interval::exactly(z)), "{op} {x} {y} = {z}: {all:?}");
                    }
                }
            }
        }
    }

    fn concrete(op: Binary, scalar: Scalar, x: i128, y: i128) -> i128 {
        let (lo, hi) = scalar.limits().unwrap();
        let raw = match op {
            Binary::Add => x + y,
            Binary::Sub => x - y,
            Binary::Mul => x * y,
            Binary::Div => x.checked_div(y).unwrap_or(0),
            Binary::Rem => x.checked_rem(y).unwrap_or(0),
            Binary::Min => x.min(y),
            Binary::Max => x.max(y),
            Binary::And => x & y,
            Binary::Or => x | y,
            Binary::Xor => x ^ y,
            Binary::Shl => x << (y & 7),
            Binary::Shr => x >> (y & 7),
            Binary::SatAdd => (x + y).clamp(lo, hi),
            _ => (x - y).clamp(lo, hi),
        };
        scalar.int(raw as u64)
    }
}
