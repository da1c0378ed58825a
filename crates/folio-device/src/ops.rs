//! Arithmetic as semantics 3 to 5 define it: the same in every build profile.

use super::verdict::{Seen, note};
use super::{Cast, Checked, Mode, Shared};
use std::cmp::Ordering;

pub use super::fast::*;
pub use super::functions::*;
pub use super::operators::*;
pub use super::printed::{printed_high, printed_kind, printed_low};

/// A number.
///
/// # Safety
/// Both forms of a kernel compute the same: what the semantics define for the operation.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no arithmetic in kernels",
    label = "no number",
    note = "for own types, write a #[device_fn] with another name"
)]
pub unsafe trait Arith:
    Shared + Equal + PartialOrd + Plus + Minus + Times + Over + Modulo + Negated
{
    /// The lesser (semantics 5.5).
    #[must_use]
    fn lesser(self, b: Self) -> Self;
    /// The greater (semantics 5.5).
    #[must_use]
    fn greater(self, b: Self) -> Self;
    /// Without its sign.
    #[must_use]
    fn absolute(self) -> Self;
}

/// A number, of which generic kernels can be: they make it from literals, and by `as T` from
/// others.
///
/// # Safety
/// Both forms of a kernel compute the same: what the semantics define for the operation.
pub unsafe trait Number: Arith + Cast {
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// The least value; of floats the least finite one.
    const MIN: Self;
    /// The greatest value; of floats the greatest finite one.
    const MAX: Self;
    /// The number nearest to a literal.
    fn lit(value: f64) -> Self;
}

/// An integer.
///
/// # Safety
/// Both forms of a kernel compute the same: what the semantics define for the operation.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no integer in a kernel",
    label = "no integer",
    note = "of floats: `x.powi(2)` or `x.powf(0.5)` for `pow`, and `x.to_bits()` has the bits"
)]
pub unsafe trait Int: Arith {
    /// `self << by`, by the low bits of `by`.
    #[must_use]
    fn shl(self, by: u64) -> Self;
    /// `self >> by`, by the low bits of `by`.
    #[must_use]
    fn shr(self, by: u64) -> Self;
    /// The low 64 bits, extended by the sign.
    fn low(self) -> u64;
    /// The upper half of the product.
    #[must_use]
    fn high(self, b: Self) -> Self;
    /// `self` to the power of `n`, wrapping.
    #[must_use]
    fn power(self, n: u32) -> Self;
}

/// The functions of integers that generic kernels have only where they ask for them: so a trait of
/// the user's can have others of these names.
///
/// # Safety
/// Both forms of a kernel compute the same: what the semantics define for the operation.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no integer that has this in a kernel",
    label = "no integer"
)]
pub unsafe trait IntFunctions: Int {
    /// The type of a distance between two.
    type Distance: Shared;
    /// `self + b`, within the type.
    #[must_use]
    fn added(self, b: Self) -> Self;
    /// `self - b`, within the type.
    #[must_use]
    fn without(self, b: Self) -> Self;
    /// `self * b`, within the type.
    #[must_use]
    fn multiplied(self, b: Self) -> Self;
    /// `self + b`, if the type has it.
    fn sum(self, b: Self) -> Option<Self>;
    /// `self - b`, if the type has it.
    fn difference(self, b: Self) -> Option<Self>;
    /// `self * b`, if the type has it.
    fn product(self, b: Self) -> Option<Self>;
    /// `self / b`, if there is one.
    fn quotient(self, b: Self) -> Option<Self>;
    /// `self % b`, if there is one.
    fn rest(self, b: Self) -> Option<Self>;
    /// Its bits, `n` places further up; the upper ones come below.
    #[must_use]
    fn turned(self, n: u32) -> Self;
    /// All of its bits are others.
    #[must_use]
    fn inverse(self) -> Self;
    /// Its bits in the other order.
    #[must_use]
    fn reversed(self) -> Self;
    /// Its bytes in the other order.
    #[must_use]
    fn swapped(self) -> Self;
    /// How many bits are ones.
    fn ones(self) -> u32;
    /// How many of the upper bits are zeros, before a one.
    fn upper_zeros(self) -> u32;
    /// How many of the lower bits are zeros, before a one.
    fn lower_zeros(self) -> u32;
    /// How far it is from the other.
    fn distance(self, b: Self) -> Self::Distance;
}

/// An integer with a sign.
///
/// # Safety
/// Both forms of a kernel compute the same: what the semantics define for the operation.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no integer with a sign in a kernel",
    label = "no integer with a sign"
)]
pub unsafe trait Signed: IntFunctions {
    /// Its distance from 0.
    fn size(self) -> Self::Distance;
}

/// Floats, and the integers of the same width.
///
/// # Safety
/// Both forms of a kernel compute the same: what the semantics define for the operation.
#[diagnostic::on_unimplemented(message = "`{Self}` is no float in a kernel", label = "no float")]
pub unsafe trait Bits: Shared {
    /// The integer that they are.
    type Bits: Shared;
    /// They.
    fn bits_of(self) -> Self::Bits;
    /// The number with these bits.
    fn of_bits(bits: Self::Bits) -> Self;
}

/// A float that is made of wider ones, and made one, by functions of its own.
///
/// # Safety
/// Both forms of a kernel compute the same: what the semantics define for the operation.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither `f16` nor `bf16`",
    label = "no such float"
)]
pub unsafe trait Half: Float {
    /// As `f32`.
    fn single(self) -> f32;
    /// As `f64`.
    fn double(self) -> f64;
    /// The nearest one.
    fn of_single(x: f32) -> Self;
    /// The nearest one.
    fn of_double(x: f64) -> Self;
}

/// A float.
///
/// # Safety
/// Both forms of a kernel compute the same: what the semantics define for the operation.
pub unsafe trait Float: Number + Functions {
    /// Infinity.
    const INFINITY: Self;
    /// There are fast forms of its functions: of `f32`.
    const FAST: bool;
    /// `self * b + c`, rounded once.
    #[must_use]
    fn fma(self, b: Self, c: Self) -> Self;
    /// The square root.
    #[must_use]
    fn root(self) -> Self;
    /// With the sign of `b`.
    #[must_use]
    fn signed_as(self, b: Self) -> Self;
    /// As `total_cmp` of the standard library.
    fn order(&self, b: &Self) -> Ordering;
}

#[cold]
#[inline(never)]
#[track_caller]
fn by_zero() {
    note(|| Seen::DivisionByZero);
}

macro_rules! ints {
    ($($ty:ident $wide:ident $distance:ident $abs:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Plus for $ty {
            #[inline(always)]
            fn plus<M: Mode>(self, b: $ty) -> $ty {
                self.wrapping_add(b)
            }
            #[inline(always)]
            fn is_beyond(self, b: $ty) -> bool {
                self.checked_add(b).is_none()
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Minus for $ty {
            #[inline(always)]
            fn minus<M: Mode>(self, b: $ty) -> $ty {
                self.wrapping_sub(b)
            }
            #[inline(always)]
            fn is_beyond(self, b: $ty) -> bool {
                self.checked_sub(b).is_none()
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Times for $ty {
            #[inline(always)]
            fn times<M: Mode>(self, b: $ty) -> $ty {
                self.wrapping_mul(b)
            }
            #[inline(always)]
            fn is_beyond(self, b: $ty) -> bool {
                self.checked_mul(b).is_none()
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Over for $ty {
            #[inline(always)]
            #[track_caller]
            fn over<M: Mode>(self, b: $ty) -> $ty {
                if b == 0 {
                    by_zero();
                    return 0;
                }
                self.wrapping_div(b)
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Modulo for $ty {
            #[inline(always)]
            #[track_caller]
            fn modulo<M: Mode>(self, b: $ty) -> $ty {
                if b == 0 {
                    by_zero();
                    return 0;
                }
                // Lengths often are powers of two, and a division takes far longer than this test.
                if $ty::MIN == 0 && b & b.wrapping_sub(1) == 0 {
                    return self & b.wrapping_sub(1);
                }
                self.wrapping_rem(b)
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Negated for $ty {
            #[inline(always)]
            fn negated<M: Mode>(self) -> $ty {
                self.wrapping_neg()
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Arith for $ty {
            #[inline(always)]
            fn lesser(self, b: $ty) -> $ty {
                Ord::min(self, b)
            }
            #[inline(always)]
            fn greater(self, b: $ty) -> $ty {
                Ord::max(self, b)
            }
            #[inline(always)]
            fn absolute(self) -> $ty {
                $abs(self)
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Number for $ty {
            const ZERO: $ty = 0;
            const ONE: $ty = 1;
            const MIN: $ty = $ty::MIN;
            const MAX: $ty = $ty::MAX;
            #[inline(always)]
            fn lit(value: f64) -> $ty {
                value as $ty
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Int for $ty {
            #[inline(always)]
            fn shl(self, by: u64) -> $ty {
                self.wrapping_shl(by as u32)
            }
            #[inline(always)]
            fn shr(self, by: u64) -> $ty {
                self.wrapping_shr(by as u32)
            }
            #[inline(always)]
            fn low(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn high(self, b: $ty) -> $ty {
                ((self as $wide * b as $wide) >> $ty::BITS) as $ty
            }
            #[inline(always)]
            fn power(self, n: u32) -> $ty {
                self.wrapping_pow(n)
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl IntFunctions for $ty {
            type Distance = $distance;
            #[inline(always)]
            fn added(self, b: $ty) -> $ty {
                self.saturating_add(b)
            }
            #[inline(always)]
            fn without(self, b: $ty) -> $ty {
                self.saturating_sub(b)
            }
            #[inline(always)]
            fn multiplied(self, b: $ty) -> $ty {
                self.saturating_mul(b)
            }
            #[inline(always)]
            fn sum(self, b: $ty) -> Option<$ty> {
                self.checked_add(b)
            }
            #[inline(always)]
            fn difference(self, b: $ty) -> Option<$ty> {
                self.checked_sub(b)
            }
            #[inline(always)]
            fn product(self, b: $ty) -> Option<$ty> {
                self.checked_mul(b)
            }
            #[inline(always)]
            fn quotient(self, b: $ty) -> Option<$ty> {
                self.checked_div(b)
            }
            #[inline(always)]
            fn rest(self, b: $ty) -> Option<$ty> {
                self.checked_rem(b)
            }
            #[inline(always)]
            fn turned(self, n: u32) -> $ty {
                self.rotate_left(n)
            }
            #[inline(always)]
            fn inverse(self) -> $ty {
                !self
            }
            #[inline(always)]
            fn reversed(self) -> $ty {
                self.reverse_bits()
            }
            #[inline(always)]
            fn swapped(self) -> $ty {
                self.swap_bytes()
            }
            #[inline(always)]
            fn ones(self) -> u32 {
                self.count_ones()
            }
            #[inline(always)]
            fn upper_zeros(self) -> u32 {
                self.leading_zeros()
            }
            #[inline(always)]
            fn lower_zeros(self) -> u32 {
                self.trailing_zeros()
            }
            #[inline(always)]
            fn distance(self, b: $ty) -> $distance {
                self.abs_diff(b)
            }
        }
    )*};
}
ints! {
    i8 i16 u8 i8::wrapping_abs; u8 u16 u8 std::convert::identity;
    i16 i32 u16 i16::wrapping_abs; u16 u32 u16 std::convert::identity;
    i32 i64 u32 i32::wrapping_abs; u32 u64 u32 std::convert::identity;
    i64 i128 u64 i64::wrapping_abs; u64 u128 u64 std::convert::identity;
    isize i128 usize isize::wrapping_abs; usize u128 usize std::convert::identity;
}

macro_rules! signed {
    ($($ty:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Signed for $ty {
            #[inline(always)]
            fn size(self) -> Self::Distance {
                self.unsigned_abs()
            }
        }
    )*};
}
signed! { i8 i16 i32 i64 isize }

macro_rules! floats {
    ($($ty:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Plus for $ty {
            #[inline(always)]
            fn plus<M: Mode>(self, b: $ty) -> $ty {
                self + b
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Minus for $ty {
            #[inline(always)]
            fn minus<M: Mode>(self, b: $ty) -> $ty {
                self - b
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Times for $ty {
            #[inline(always)]
            fn times<M: Mode>(self, b: $ty) -> $ty {
                self * b
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Over for $ty {
            #[inline(always)]
            fn over<M: Mode>(self, b: $ty) -> $ty {
                self / b
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Modulo for $ty {
            #[inline(always)]
            fn modulo<M: Mode>(self, b: $ty) -> $ty {
                self % b
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Negated for $ty {
            #[inline(always)]
            fn negated<M: Mode>(self) -> $ty {
                -self
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Arith for $ty {
            #[inline(always)]
            fn lesser(self, b: $ty) -> $ty {
                let first = b.is_nan() | (self < b) | ((self == b) & self.is_sign_negative());
                if first { self } else { b }
            }
            #[inline(always)]
            fn greater(self, b: $ty) -> $ty {
                let first = b.is_nan() | (self > b) | ((self == b) & self.is_sign_positive());
                if first { self } else { b }
            }
            #[inline(always)]
            fn absolute(self) -> $ty {
                self.abs()
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Number for $ty {
            const ZERO: $ty = 0.0;
            const ONE: $ty = 1.0;
            const MIN: $ty = $ty::MIN;
            const MAX: $ty = $ty::MAX;
            #[inline(always)]
            fn lit(value: f64) -> $ty {
                value as $ty
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Float for $ty {
            const INFINITY: $ty = $ty::INFINITY;
            const FAST: bool = size_of::<$ty>() == 4;
            #[inline(always)]
            fn fma(self, b: $ty, c: $ty) -> $ty {
                self.mul_add(b, c)
            }
            #[inline(always)]
            fn root(self) -> $ty {
                self.sqrt()
            }
            #[inline(always)]
            fn signed_as(self, b: $ty) -> $ty {
                self.copysign(b)
            }
            #[inline(always)]
            fn order(&self, b: &$ty) -> Ordering {
                self.total_cmp(b)
            }
        }
    )*};
}
floats! { f32 f64 }

macro_rules! bits {
    ($($ty:ident $bits:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Bits for $ty {
            type Bits = $bits;
            #[inline(always)]
            fn bits_of(self) -> $bits {
                self.to_bits()
            }
            #[inline(always)]
            fn of_bits(bits: $bits) -> $ty {
                $ty::from_bits(bits)
            }
        }
    )*};
}
pub(super) use bits;
bits! { f32 u32 f64 u64 }

/// `a << b`
#[inline(always)]
pub fn shl<T: Int, S: Int>(a: T, b: S) -> T {
    a.shl(b.low())
}
/// `a >> b`
#[inline(always)]
pub fn shr<T: Int, S: Int>(a: T, b: S) -> T {
    a.shr(b.low())
}
/// The lesser.
#[inline(always)]
pub fn min<T: Arith>(a: T, b: T) -> T {
    a.lesser(b)
}
/// The greater.
#[inline(always)]
pub fn max<T: Arith>(a: T, b: T) -> T {
    a.greater(b)
}
/// `min(max(x, lo), hi)`
#[inline(always)]
pub fn clamp<T: Arith>(x: T, lo: T, hi: T) -> T {
    x.greater(lo).lesser(hi)
}
/// Without its sign.
#[inline(always)]
pub fn abs<T: Arith>(a: T) -> T {
    a.absolute()
}
/// The upper half of the product.
#[inline(always)]
pub fn mul_hi<T: Int>(a: T, b: T) -> T {
    a.high(b)
}
/// `a` to the power of `n`, wrapping.
#[inline(always)]
pub fn pow<T: Int>(a: T, n: u32) -> T {
    a.power(n)
}
/// `a + b`
#[inline(always)]
pub fn wrapping_add<T: Int>(a: T, b: T) -> T {
    a.plus::<Checked>(b)
}
/// `a - b`
#[inline(always)]
pub fn wrapping_sub<T: Int>(a: T, b: T) -> T {
    a.minus::<Checked>(b)
}
/// `a * b`
#[inline(always)]
pub fn wrapping_mul<T: Int>(a: T, b: T) -> T {
    a.times::<Checked>(b)
}
/// `-a`
#[inline(always)]
pub fn wrapping_neg<T: Int>(a: T) -> T {
    a.negated::<Checked>()
}
/// `a` to the power of `n`, wrapping.
#[inline(always)]
pub fn wrapping_pow<T: Int>(a: T, n: u32) -> T {
    a.power(n)
}
/// `a + b`, within the type.
#[inline(always)]
pub fn saturating_add<T: IntFunctions>(a: T, b: T) -> T {
    a.added(b)
}
/// `a - b`, within the type.
#[inline(always)]
pub fn saturating_sub<T: IntFunctions>(a: T, b: T) -> T {
    a.without(b)
}
/// `a * b`, within the type.
#[inline(always)]
pub fn saturating_mul<T: IntFunctions>(a: T, b: T) -> T {
    a.multiplied(b)
}
/// `a + b`, if the type has it.
#[inline(always)]
pub fn checked_add<T: IntFunctions>(a: T, b: T) -> Option<T> {
    a.sum(b)
}
/// `a - b`, if the type has it.
#[inline(always)]
pub fn checked_sub<T: IntFunctions>(a: T, b: T) -> Option<T> {
    a.difference(b)
}
/// `a * b`, if the type has it.
#[inline(always)]
pub fn checked_mul<T: IntFunctions>(a: T, b: T) -> Option<T> {
    a.product(b)
}
/// `a / b`, if there is one.
#[inline(always)]
pub fn checked_div<T: IntFunctions>(a: T, b: T) -> Option<T> {
    a.quotient(b)
}
/// `a % b`, if there is one.
#[inline(always)]
pub fn checked_rem<T: IntFunctions>(a: T, b: T) -> Option<T> {
    a.rest(b)
}
/// Its bits, `n` places further up; the upper ones come below.
#[inline(always)]
pub fn rotate_left<T: IntFunctions>(a: T, n: u32) -> T {
    a.turned(n)
}
/// Its bits, `n` places further down; the lower ones come above.
#[inline(always)]
pub fn rotate_right<T: IntFunctions>(a: T, n: u32) -> T {
    a.turned(n.wrapping_neg())
}
/// How far one is from the other.
#[inline(always)]
pub fn abs_diff<T: IntFunctions>(a: T, b: T) -> T::Distance {
    a.distance(b)
}
/// Its distance from 0.
#[inline(always)]
pub fn unsigned_abs<T: Signed>(a: T) -> T::Distance {
    a.size()
}
/// How many bits are ones.
#[inline(always)]
pub fn count_ones<T: IntFunctions>(a: T) -> u32 {
    a.ones()
}
/// How many bits are zeros.
#[inline(always)]
pub fn count_zeros<T: IntFunctions>(a: T) -> u32 {
    a.inverse().ones()
}
/// How many of the upper bits are ones, before a zero.
#[inline(always)]
pub fn leading_ones<T: IntFunctions>(a: T) -> u32 {
    a.inverse().upper_zeros()
}
/// How many of the upper bits are zeros, before a one.
#[inline(always)]
pub fn leading_zeros<T: IntFunctions>(a: T) -> u32 {
    a.upper_zeros()
}
/// How many of the lower bits are ones, before a zero.
#[inline(always)]
pub fn trailing_ones<T: IntFunctions>(a: T) -> u32 {
    a.inverse().lower_zeros()
}
/// How many of the lower bits are zeros, before a one.
#[inline(always)]
pub fn trailing_zeros<T: IntFunctions>(a: T) -> u32 {
    a.lower_zeros()
}
/// Its bits in the other order.
#[inline(always)]
pub fn reverse_bits<T: IntFunctions>(a: T) -> T {
    a.reversed()
}
/// Its bytes in the other order.
#[inline(always)]
pub fn swap_bytes<T: IntFunctions>(a: T) -> T {
    a.swapped()
}
/// The bits of a float.
#[inline(always)]
pub fn to_bits<T: Bits>(a: T) -> T::Bits {
    a.bits_of()
}
/// The float with these bits.
#[inline(always)]
pub fn from_bits<T: Bits>(bits: T::Bits) -> T {
    T::of_bits(bits)
}
/// As `f32`.
#[inline(always)]
pub fn to_f32<T: Half>(a: T) -> f32 {
    a.single()
}
/// As `f64`.
#[inline(always)]
pub fn to_f64<T: Half>(a: T) -> f64 {
    a.double()
}
/// The nearest one.
#[inline(always)]
pub fn from_f32<T: Half>(x: f32) -> T {
    T::of_single(x)
}
/// The nearest one.
#[inline(always)]
pub fn from_f64<T: Half>(x: f64) -> T {
    T::of_double(x)
}
/// The remainder that is not negative.
#[inline(always)]
#[track_caller]
pub fn rem_euclid<T: Number>(a: T, b: T) -> T {
    let rest = a.modulo::<Checked>(b);
    if rest < T::ZERO { rest.plus::<Checked>(b.absolute()) } else { rest }
}
/// `a / b`, rounded up.
#[inline(always)]
#[track_caller]
pub fn div_ceil<T: Number + IntFunctions<Distance = T>>(a: T, b: T) -> T {
    let (whole, rest) = (a.over::<Checked>(b), a.modulo::<Checked>(b));
    if rest == T::ZERO { whole } else { whole.plus::<Checked>(T::ONE) }
}
/// `a * b + c`, rounded once.
#[inline(always)]
pub fn mul_add<T: Float>(a: T, b: T, c: T) -> T {
    a.fma(b, c)
}
/// The square root.
#[inline(always)]
pub fn sqrt<T: Float>(a: T) -> T {
    a.root()
}
/// `1 / x`
#[inline(always)]
pub fn recip<T: Float>(a: T) -> T {
    T::ONE.over::<Checked>(a)
}
/// `x - trunc(x)`
#[inline(always)]
pub fn fract<T: Float>(a: T) -> T {
    a.minus::<Checked>(trunc(a))
}

/// With the sign of `b`.
#[inline(always)]
pub fn copysign<T: Float>(a: T, b: T) -> T {
    a.signed_as(b)
}

macro_rules! totals {
    ($($name:ident $holds:ident)*) => {$(
        #[doc = concat!("`a.total_cmp(&b).", stringify!($holds), "()`")]
        #[inline(always)]
        pub fn $name<T: Float>(a: T, b: T) -> bool {
            a.order(&b).$holds()
        }
    )*};
}
totals! {
    total_lt is_lt total_le is_le total_gt is_gt total_ge is_ge total_eq is_eq total_ne is_ne
}

/// `c`, plus the products of the bytes of `a` and `b`, which have signs.
#[inline(always)]
pub fn dot4_i8(a: u32, b: u32, c: i32) -> i32 {
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    let products = a.iter().zip(b).map(|(a, b)| i32::from(*a as i8) * i32::from(b as i8));
    products.fold(c, i32::wrapping_add)
}
/// `c`, plus the products of the bytes of `a` and `b`, which have no signs.
#[inline(always)]
pub fn dot4_u8(a: u32, b: u32, c: u32) -> u32 {
    let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
    let products = a.iter().zip(b).map(|(a, b)| u32::from(*a) * u32::from(b));
    products.fold(c, u32::wrapping_add)
}

/// ±1 with the sign of `a`; NaN for NaN.
#[inline(always)]
pub fn signum<T: Float>(a: T) -> T {
    if is_nan(a) { a } else { T::ONE.signed_as(a) }
}
/// `a` to a whole power.
#[inline(always)]
pub fn powi<T: Float>(a: T, n: i32) -> T {
    a.powf(T::cast_from(n))
}
/// True for NaN.
#[inline(always)]
#[expect(clippy::eq_op, reason = "NaN is not itself")]
pub fn is_nan<T: Float>(a: T) -> bool {
    a != a
}
/// True for both infinities.
#[inline(always)]
pub fn is_infinite<T: Float>(a: T) -> bool {
    a.absolute() == T::INFINITY
}
/// True for what is neither infinite nor NaN.
#[inline(always)]
pub fn is_finite<T: Float>(a: T) -> bool {
    a.absolute() < T::INFINITY
}

#[cfg(test)]
mod tests {
    use super::Modulo;
    use crate::Checked;

    #[test]
    fn remainders_are_those_of_rust() {
        macro_rules! check {
            ($($ty:ident)*) => {$(
                let less = (0 as $ty).wrapping_sub(3);
                let all = [less, 1, 2, 3, 7, 8, 100, 1 << ($ty::BITS - 2), $ty::MIN, $ty::MAX];
                for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (*a, *b))) {
                    if b != 0 {
                        assert_eq!(a.modulo::<Checked>(b), a.wrapping_rem(b), "{a} % {b}");
                    }
                }
            )*};
        }
        check! { i8 u8 i16 u16 i32 u32 i64 u64 isize usize }
    }
}
