//! The functions of semantics 5.7 and 5.8, for floats of either width.

use super::ops::Float;
use crate::math::{double, single};

macro_rules! functions {
    ($($one:ident)*; $($two:ident)*) => {
        /// The functions that [`math`](crate::math) has for a float.
        ///
        /// # Safety
        /// Both forms of a kernel compute the same: what the semantics define for the operation.
        pub unsafe trait Functions: Sized {
            $(
                #[doc = concat!("`", stringify!($one), "`")]
                #[must_use]
                fn $one(self) -> Self;
            )*
            $(
                #[doc = concat!("`", stringify!($two), "`")]
                #[must_use]
                fn $two(self, b: Self) -> Self;
            )*
        }

        functions! { f32 single; $($one)*; $($two)* }
        functions! { f64 double; $($one)*; $($two)* }

        $(
            #[doc = concat!("`", stringify!($one), "`, as semantics 5.7 and 5.8 say.")]
            #[inline(always)]
            pub fn $one<T: Float>(a: T) -> T {
                Functions::$one(a)
            }
        )*
        $(
            #[doc = concat!("`", stringify!($two), "`, as semantics 5.8 says.")]
            #[inline(always)]
            pub fn $two<T: Float>(a: T, b: T) -> T {
                Functions::$two(a, b)
            }
        )*
    };
    ($float:ident $module:ident; $($one:ident)*; $($two:ident)*) => {
        #[diagnostic::do_not_recommend]
        // SAFETY: it computes what the semantics define; the kernel suite compares both forms.
        unsafe impl Functions for $float {
            $(
                #[inline(always)]
                fn $one(self) -> $float {
                    $module::$one(self)
                }
            )*
            $(
                #[inline(always)]
                fn $two(self, b: $float) -> $float {
                    $module::$two(self, b)
                }
            )*
        }
    };
}
functions! {
    exp exp2 exp_m1 ln log2 log10 ln_1p sin cos tan asin acos atan sinh cosh tanh cbrt rsqrt
    floor ceil trunc round round_ties_even;
    powf atan2 hypot
}
