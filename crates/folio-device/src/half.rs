//! `f16` and `bf16`: each operation computes as `f32`, and rounds (semantics 2.2).

use super::cast::{Cast, CastFrom};
use super::ops::{
    Arith, Bits, Float, Half, Minus, Modulo, Negated, Number, Over, Plus, Times, bits,
};
use super::{Functions, Mode, Shared};
use crate::math::{narrow, single};
use folio_kernel::{Scalar, Type, Types};
use half::{bf16, f16};
use std::cmp::Ordering;

/// A format, and `f32`.
trait Narrow: Copy {
    fn wide(self) -> f32;
    fn of(x: f32) -> Self;
}

macro_rules! formats {
    ($($ty:ident $scalar:ident $wide:ident $narrow:ident;)*) => {$(
        impl Narrow for $ty {
            #[inline(always)]
            fn wide(self) -> f32 {
                narrow::$wide(self.to_bits())
            }
            #[inline(always)]
            fn of(x: f32) -> $ty {
                $ty::from_bits(narrow::$narrow(x))
            }
        }
        // SAFETY: the same scalar, in two bytes.
        #[diagnostic::do_not_recommend]
        unsafe impl Shared for $ty {
            fn describe(_: &mut Types) -> Type {
                Scalar::$scalar.into()
            }
            fn bits(self, all: &mut Vec<u64>) {
                all.push(self.to_bits().into());
            }
        }
        operators! { $ty: Plus plus +, Minus minus -, Times times *, Over over /, Modulo modulo % }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Negated for $ty {
            #[inline(always)]
            fn negated<M: Mode>(self) -> $ty {
                $ty::from_bits(self.to_bits() ^ 0x8000)
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Arith for $ty {
            #[inline(always)]
            fn lesser(self, b: $ty) -> $ty {
                $ty::of(self.wide().lesser(b.wide()))
            }
            #[inline(always)]
            fn greater(self, b: $ty) -> $ty {
                $ty::of(self.wide().greater(b.wide()))
            }
            #[inline(always)]
            fn absolute(self) -> $ty {
                $ty::from_bits(self.to_bits() & 0x7fff)
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Number for $ty {
            const ZERO: $ty = $ty::ZERO;
            const ONE: $ty = $ty::ONE;
            const MIN: $ty = $ty::MIN;
            const MAX: $ty = $ty::MAX;
            #[inline(always)]
            fn lit(value: f64) -> $ty {
                $ty::cast_from(value)
            }
        }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Float for $ty {
            const INFINITY: $ty = $ty::INFINITY;
            const FAST: bool = false;
            #[inline(always)]
            fn fma(self, b: $ty, c: $ty) -> $ty {
                $ty::of(self.wide().mul_add(b.wide(), c.wide()))
            }
            #[inline(always)]
            fn root(self) -> $ty {
                $ty::of(self.wide().sqrt())
            }
            #[inline(always)]
            fn signed_as(self, b: $ty) -> $ty {
                $ty::from_bits(self.to_bits() & 0x7fff | b.to_bits() & 0x8000)
            }
            #[inline(always)]
            fn order(&self, b: &$ty) -> Ordering {
                self.total_cmp(b)
            }
        }
        functions! {
            $ty;
            exp exp2 exp_m1 ln log2 log10 ln_1p sin cos tan asin acos atan sinh cosh tanh cbrt rsqrt
            floor ceil trunc round round_ties_even;
            powf atan2 hypot
        }
        from! { $ty: i8 i16 i32 i64 isize, |x| narrow::odd_double(x < 0, (x as i64).unsigned_abs()) }
        from! { $ty: u8 u16 u32 u64 usize, |x| narrow::odd_double(false, x as u64) }
        from! { $ty: f32, |x| f64::from(x) }
        from! { $ty: f64, |x| x }
        from! { $ty: f16 bf16, |x| f64::from(x.wide()) }
        into! { $ty: i8 u8 i16 u16 i32 u32 i64 u64 isize usize f32 f64 }
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Cast for $ty {}
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Half for $ty {
            #[inline(always)]
            fn single(self) -> f32 {
                self.wide()
            }
            #[inline(always)]
            fn double(self) -> f64 {
                self.wide().into()
            }
            #[inline(always)]
            fn of_single(x: f32) -> $ty {
                $ty::of(x)
            }
            #[inline(always)]
            fn of_double(x: f64) -> $ty {
                $ty::cast_from(x)
            }
        }
        bits! { $ty u16 }
    )*};
}

macro_rules! operators {
    ($ty:ident: $($name:ident $method:ident $op:tt),*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl $name for $ty {
            #[inline(always)]
            fn $method<M: Mode>(self, b: $ty) -> $ty {
                $ty::of(self.wide() $op b.wide())
            }
        }
    )*};
}

macro_rules! functions {
    ($ty:ident; $($one:ident)*; $($two:ident)*) => {
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Functions for $ty {
            $(
                #[inline(always)]
                fn $one(self) -> $ty {
                    $ty::of(single::$one(self.wide()))
                }
            )*
            $(
                #[inline(always)]
                fn $two(self, b: $ty) -> $ty {
                    $ty::of(single::$two(self.wide(), b.wide()))
                }
            )*
        }
    };
}

macro_rules! from {
    ($ty:ident: $($from:ident)*, |$x:ident| $wide:expr) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl CastFrom<$from> for $ty {
            #[inline(always)]
            fn cast_from($x: $from) -> $ty {
                $ty::of(narrow::odd_single($wide))
            }
        }
    )*};
}

macro_rules! into {
    ($ty:ident: $($to:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl CastFrom<$ty> for $to {
            #[inline(always)]
            fn cast_from(x: $ty) -> $to {
                x.wide() as $to
            }
        }
    )*};
}

formats! {
    f16 F16 single_of_f16 f16_of_single;
    bf16 Bf16 single_of_bf16 bf16_of_single;
}
