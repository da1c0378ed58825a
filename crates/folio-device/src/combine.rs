//! The operations of reductions and scans (semantics 8), and the tree that fixes their order;
//! [`scan`](super::scan) has that of scans.

use super::ops::Arith;
use super::shared::Shared;
use super::{Called, Form, Mode};
use folio_kernel as ir;
use folio_kernel::source::Entry;
use std::marker::PhantomData;

/// An operation that combines two values of a reduction or scan: one of [`Add`], [`Mul`], [`Min`],
/// [`Max`], [`And`], [`Or`], [`Xor`].
///
/// # Safety
/// [`Combine::combine`] computes what `COMBINE` says: which kernels are fused on the host rests on
/// that.
pub unsafe trait Combining: Copy + 'static {
    /// Its name in the IR.
    const COMBINE: ir::Combine;

    /// Its entry in the table.
    fn entry() -> Entry {
        Entry::Combine(Self::COMBINE)
    }
}

/// A function of two values.
type OfTwo<T> = fn(T, T) -> T;

/// An operation that combines two values of type `T`.
///
/// # Safety
/// As of [`Combining`].
#[diagnostic::on_unimplemented(
    message = "values of type `{T}` cannot be combined with `{Self}`",
    label = "no reduction of this type",
    note = "`Add`, `Mul`, `Min` and `Max` combine numbers; `And`, `Or` and `Xor` integers"
)]
pub unsafe trait Combine<T>: Combining {
    /// The value that changes nothing.
    const IDENTITY: T;
    /// Both in one. Kernels call it, too: `O::combine(a, b)`.
    fn combine(a: T, b: T) -> T;

    /// The value that changes no value on its right, NaN included. [`IDENTITY`](Combine::IDENTITY)
    /// does: the lesser of infinity and NaN is infinity.
    #[doc(hidden)]
    const NEUTRAL: T = Self::IDENTITY;
    /// Every order of combining gives the same value.
    #[doc(hidden)]
    const ANY_ORDER: bool = false;

    /// The macro's form of such a call.
    #[doc(hidden)]
    #[inline(always)]
    fn device_fn_combine<M: Mode>() -> Form<Combined<Self>, M, OfTwo<T>> {
        // SAFETY: `combine` computes what the entry says: the promise of who implements this.
        unsafe { Form::new(Self::combine) }
    }
}

/// Stands for [`Combine::combine`] as what is called.
#[doc(hidden)]
#[derive(Debug)]
pub struct Combined<O>(PhantomData<O>);

#[diagnostic::do_not_recommend]
// SAFETY: the function that it says.
unsafe impl<O: Combining> Called for Combined<O> {
    fn called() -> Entry {
        O::entry()
    }
}

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
        #[diagnostic::do_not_recommend]
        // SAFETY: the operation of this name.
        unsafe impl Combining for $name {
            const COMBINE: ir::Combine = ir::Combine::$name;
        }
    )*};
}
operations! {
    /// The sum; of integers it wraps.
    Add;
    /// The product; of integers it wraps.
    Mul;
    /// The least.
    Min;
    /// The greatest.
    Max;
    /// The bits that all have.
    And;
    /// The bits that any has.
    Or;
    /// The bits that an odd number have.
    Xor;
}

macro_rules! combine {
    ($($ty:ident)*: $($name:ident = $identity:expr, $neutral:expr, $any_order:literal,
        |$a:ident, $b:ident| $both:expr;)*) => {
        combine! { @each [$($ty)*] $(($name, $identity, $neutral, $any_order, $a, $b, $both))* }
    };
    (@each [$($ty:ident)*] $one:tt $($rest:tt)*) => {
        $(combine! { @one $ty $one })*
        combine! { @each [$($ty)*] $($rest)* }
    };
    (@each [$($ty:ident)*]) => {};
    (@one $ty:ident ($name:ident, $identity:expr, $neutral:expr, $any_order:literal,
        $a:ident, $b:ident, $both:expr)) => {
        #[diagnostic::do_not_recommend]
        // SAFETY: the same in Rust; the kernel suite compares both.
        unsafe impl Combine<$ty> for $name {
            const IDENTITY: $ty = {
                #[allow(dead_code, reason = "some identities need the type")]
                type T = $ty;
                $identity as $ty
            };
            const NEUTRAL: $ty = {
                #[allow(dead_code, reason = "some need the type")]
                type T = $ty;
                $neutral as $ty
            };
            const ANY_ORDER: bool = $any_order;
            #[inline(always)]
            fn combine($a: $ty, $b: $ty) -> $ty {
                $both
            }
        }
    };
}
combine! { i8 u8 i16 u16 i32 u32 i64 u64 isize usize:
    Add = 0, 0, true, |a, b| a.wrapping_add(b);
    Mul = 1, 1, true, |a, b| a.wrapping_mul(b);
    Min = T::MAX, T::MAX, true, |a, b| Ord::min(a, b);
    Max = T::MIN, T::MIN, true, |a, b| Ord::max(a, b);
    And = (0 as T).wrapping_sub(1), (0 as T).wrapping_sub(1), true, |a, b| a & b;
    Or = 0, 0, true, |a, b| a | b;
    Xor = 0, 0, true, |a, b| a ^ b;
}
combine! { f32 f64:
    Add = -0.0, -0.0, false, |a, b| a + b;
    Mul = 1.0, 1.0, false, |a, b| a * b;
    Min = T::INFINITY, T::NAN, true, |a, b| a.lesser(b);
    Max = T::NEG_INFINITY, T::NAN, true, |a, b| a.greater(b);
}

/// The tree over the values (semantics 8.1), which it overwrites.
#[inline(always)]
pub(super) fn tree<O: Combine<T>, T: Shared>(values: &mut [T]) -> T {
    let mut len = values.len();
    let mut half = len.next_power_of_two();
    while half > 1 {
        half /= 2;
        let (low, high) = values.split_at_mut(half.min(len));
        for (a, b) in low.iter_mut().zip(&high[..len.saturating_sub(half)]) {
            *a = O::combine(*a, *b);
        }
        len = len.min(half);
    }
    values.first().copied().unwrap_or(O::IDENTITY)
}
