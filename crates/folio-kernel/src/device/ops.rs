//! Arithmetic as semantics 3 to 5 define it: the same in every build profile.

use super::verdict::{Seen, note};
use super::{Cast, Checked, Mode, Shared};

pub use super::functions::*;
pub use super::operators::*;

/// A number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no arithmetic in kernels",
    label = "no number",
    note = "for own types, write a #[device_fn] with another name"
)]
pub trait Arith: Shared + PartialOrd + Plus + Minus + Times + Over + Modulo + Negated {
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

/// A number, of which generic kernels can be: they make it from literals, and by `as T` from others.
pub trait Number: Arith + Cast {
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
pub trait Int: Arith {
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

/// A float.
pub trait Float: Number + Functions {
    /// Infinity.
    const INFINITY: Self;
    /// `self * b + c`, rounded once.
    #[must_use]
    fn fma(self, b: Self, c: Self) -> Self;
    /// The square root.
    #[must_use]
    fn root(self) -> Self;
    /// With the sign of `b`.
    #[must_use]
    fn signed_as(self, b: Self) -> Self;
}

#[cold]
#[inline(never)]
#[track_caller]
fn by_zero() {
    note(|| Seen::DivisionByZero);
}

macro_rules! ints {
    ($($ty:ident $wide:ident $abs:expr;)*) => {$(
        impl Plus for $ty {
            #[inline(always)]
            fn plus<M: Mode>(self, b: $ty) -> $ty {
                self.wrapping_add(b)
            }
        }
        impl Minus for $ty {
            #[inline(always)]
            fn minus<M: Mode>(self, b: $ty) -> $ty {
                self.wrapping_sub(b)
            }
        }
        impl Times for $ty {
            #[inline(always)]
            fn times<M: Mode>(self, b: $ty) -> $ty {
                self.wrapping_mul(b)
            }
        }
        impl Over for $ty {
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
        impl Modulo for $ty {
            #[inline(always)]
            #[track_caller]
            fn modulo<M: Mode>(self, b: $ty) -> $ty {
                if b == 0 {
                    by_zero();
                    return 0;
                }
                self.wrapping_rem(b)
            }
        }
        impl Negated for $ty {
            #[inline(always)]
            fn negated<M: Mode>(self) -> $ty {
                self.wrapping_neg()
            }
        }
        impl Arith for $ty {
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
        impl Number for $ty {
            const ZERO: $ty = 0;
            const ONE: $ty = 1;
            const MIN: $ty = $ty::MIN;
            const MAX: $ty = $ty::MAX;
            #[inline(always)]
            fn lit(value: f64) -> $ty {
                value as $ty
            }
        }
        impl Int for $ty {
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
    )*};
}
ints! {
    i8 i16 i8::wrapping_abs; u8 u16 std::convert::identity;
    i16 i32 i16::wrapping_abs; u16 u32 std::convert::identity;
    i32 i64 i32::wrapping_abs; u32 u64 std::convert::identity;
    i64 i128 i64::wrapping_abs; u64 u128 std::convert::identity;
    isize i128 isize::wrapping_abs; usize u128 std::convert::identity;
}

macro_rules! floats {
    ($($ty:ident)*) => {$(
        impl Plus for $ty {
            #[inline(always)]
            fn plus<M: Mode>(self, b: $ty) -> $ty {
                self + b
            }
        }
        impl Minus for $ty {
            #[inline(always)]
            fn minus<M: Mode>(self, b: $ty) -> $ty {
                self - b
            }
        }
        impl Times for $ty {
            #[inline(always)]
            fn times<M: Mode>(self, b: $ty) -> $ty {
                self * b
            }
        }
        impl Over for $ty {
            #[inline(always)]
            fn over<M: Mode>(self, b: $ty) -> $ty {
                self / b
            }
        }
        impl Modulo for $ty {
            #[inline(always)]
            fn modulo<M: Mode>(self, b: $ty) -> $ty {
                self % b
            }
        }
        impl Negated for $ty {
            #[inline(always)]
            fn negated<M: Mode>(self) -> $ty {
                -self
            }
        }
        impl Arith for $ty {
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
        impl Number for $ty {
            const ZERO: $ty = 0.0;
            const ONE: $ty = 1.0;
            const MIN: $ty = $ty::MIN;
            const MAX: $ty = $ty::MAX;
            #[inline(always)]
            fn lit(value: f64) -> $ty {
                value as $ty
            }
        }
        impl Float for $ty {
            const INFINITY: $ty = $ty::INFINITY;
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
        }
    )*};
}
floats! { f32 f64 }

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
/// The remainder that is not negative.
#[inline(always)]
#[track_caller]
pub fn rem_euclid<T: Number>(a: T, b: T) -> T {
    let rest = a.modulo::<Checked>(b);
    if rest < T::ZERO { rest.plus::<Checked>(b.absolute()) } else { rest }
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
