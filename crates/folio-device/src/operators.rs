//! The operators that structs can have, too: each is a trait, with the result of the left operand's
//! type, so that inference of literals goes both ways. Slots can compute as well as tell what they
//! are of: where both are in the same place, rustc says once what is wrong there.

use super::verdict::end_item;
use super::{Mode, Slot};
use folio_kernel::source::Entry;
use half::{bf16, f16};
use std::marker::PhantomData;

macro_rules! operators {
    ($($name:ident $method:ident $function:ident $text:literal, $message:literal;)*) => {$(
        #[doc = concat!("What `", $text, "` needs on the left.")]
        ///
        /// # Safety
        /// Both forms of a kernel compute the same: the entry says what the function does.
        #[diagnostic::on_unimplemented(
            message = $message,
            label = "not of one type, or of one without this operator",
            note = "convert numbers with `as`; for own types, write #[device_fn] on the operator's `impl`"
        )]
        pub unsafe trait $name<B = Self>: Copy {
            #[doc = concat!("`self ", $text, " b`")]
            #[must_use]
            fn $method<M: Mode>(self, b: B) -> Self;

            /// The type lacks the exact result, which integers have all the same.
            fn is_beyond(self, _: B) -> bool {
                false
            }

            /// The table's entry for it: the function that it is, for structs.
            fn entry() -> Entry {
                Entry::Unit
            }
        }

        // The bound is the method's: rustc reports a missing one as it does that of the operation,
        // and so once.
        impl<T, B> Slot<(T, B)> {
            #[doc = concat!("The entry of `", $text, "` between these types.")]
            pub const fn $function(self) -> fn() -> Entry
            where
                T: $name<B>,
            {
                T::entry
            }
        }
    )*};
}
operators! {
    Plus plus add "+", "`{Self}` and `{B}` cannot be added in a kernel";
    Minus minus sub "-", "`{Self}` and `{B}` cannot be subtracted in a kernel";
    Times times mul "*", "`{Self}` and `{B}` cannot be multiplied in a kernel";
    Over over div "/", "`{Self}` and `{B}` cannot be divided in a kernel";
    Modulo modulo rem "%", "`{Self}` and `{B}` cannot be divided in a kernel";
}

/// Operators that cannot fail, computed by slots. Written out, as what else states a bound of which
/// rustc shows the source.
impl<T: Plus<B>, B> Slot<(T, B)> {
    /// `a + b`
    #[inline(always)]
    pub fn plus<M: Mode>(self, a: T, b: B) -> T {
        a.plus::<M>(b)
    }
}

impl<T: Minus<B>, B> Slot<(T, B)> {
    /// `a - b`
    #[inline(always)]
    pub fn minus<M: Mode>(self, a: T, b: B) -> T {
        a.minus::<M>(b)
    }
}

impl<T: Times<B>, B> Slot<(T, B)> {
    /// `a * b`
    #[inline(always)]
    pub fn times<M: Mode>(self, a: T, b: B) -> T {
        a.times::<M>(b)
    }
}

/// What `*` needs on the left where that may be a number, and a struct on the right, of whose type
/// the product is.
///
/// # Safety
/// Both forms of a kernel compute the same: the entry says what the function does.
#[diagnostic::on_unimplemented(
    message = "`{Self}` and `{B}` cannot be multiplied in a kernel",
    label = "not of one type, or of one without this operator",
    note = "convert numbers with `as`; for own types, write #[device_fn] on the operator's `impl`"
)]
pub unsafe trait TimesRight<B>: Copy {
    /// `self * b`
    #[must_use]
    fn times_right<M: Mode>(self, b: B) -> B;

    /// The table's entry for it: the function that it is, for structs.
    fn entry() -> Entry {
        Entry::Unit
    }
}

macro_rules! numbers {
    ($($ty:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: it is the product of `Times`.
        unsafe impl TimesRight<$ty> for $ty {
            #[inline(always)]
            fn times_right<M: Mode>(self, b: $ty) -> $ty {
                self.times::<M>(b)
            }
        }
    )*};
}
numbers! { i8 i16 i32 i64 isize u8 u16 u32 u64 usize f16 bf16 f32 f64 }

impl<T: TimesRight<B>, B> Slot<(T, B)> {
    /// `a * b`, of the type on the right.
    #[inline(always)]
    pub fn times_right<M: Mode>(self, a: T, b: B) -> B {
        a.times_right::<M>(b)
    }
}

impl<T, B> Slot<(T, B)> {
    /// The entry of `*` between these types, of which the product has the second.
    pub const fn mul_right(self) -> fn() -> Entry
    where
        T: TimesRight<B>,
    {
        T::entry
    }
}

/// `a / b`, at the place of the call: it can fail.
#[inline(always)]
#[track_caller]
pub fn div<M: Mode, T: Over<B>, B>(_: &Slot<(T, B)>, a: T, b: B) -> T {
    a.over::<M>(b)
}

/// `a % b`, at the place of the call: it can fail.
#[inline(always)]
#[track_caller]
pub fn rem<M: Mode, T: Modulo<B>, B>(_: &Slot<(T, B)>, a: T, b: B) -> T {
    a.modulo::<M>(b)
}

macro_rules! checked {
    ($($function:ident $name:ident $method:ident $text:literal $message:literal;)*) => {$(
        #[doc = concat!("`", $text, "` of a kernel that is `checked`, at the place of the call.")]
        #[inline(always)]
        #[track_caller]
        pub fn $function<M: Mode, T: $name<B>, B: Copy>(_: &Slot<(T, B)>, a: T, b: B) -> T {
            if a.is_beyond(b) {
                // An item that goes on with the wrapped number may do so for ever.
                end_item::<()>($message);
            }
            a.$method::<M>(b)
        }
    )*};
}
checked! {
    checked_plus Plus plus "a + b" "attempt to add with overflow";
    checked_minus Minus minus "a - b" "attempt to subtract with overflow";
    checked_times Times times "a * b" "attempt to multiply with overflow";
}

/// A trait that is Rust's of an operator; by that macros ask whether a trait is it.
///
/// # Safety
/// The trait is that of the mark: what the trait's method is called for, the table calls the
/// operator.
#[diagnostic::on_unimplemented(
    message = "this is not the trait of Rust's operator",
    label = "another trait",
    note = "of traits, only `Add`, `Sub`, `Mul`, `Div`, `Rem` and `Neg` of `std::ops` can be device functions; write an `impl` of \
        the struct"
)]
pub unsafe trait IsOperator<const MARK: char, B> {}

/// The operand of such a trait.
#[derive(Debug)]
pub struct Operand<A>(PhantomData<A>);

macro_rules! is_operator {
    ($($mark:literal $rust:ident;)*) => {$(
        #[diagnostic::do_not_recommend]
        // SAFETY: only types that the trait of Rust's own takes have it.
        unsafe impl<B, A: std::ops::$rust<B>> IsOperator<$mark, B> for Operand<A> {}
    )*};
}
is_operator! { '+' Add; '-' Sub; '*' Mul; '/' Div; '%' Rem; }

#[diagnostic::do_not_recommend]
// SAFETY: as above.
unsafe impl<B, A: std::ops::Neg> IsOperator<'!', B> for Operand<A> {}

/// Compiles where it is.
pub fn is_operator<const MARK: char, A: IsOperator<MARK, B>, B>() {}

/// Numbers that have a unary `-`.
///
/// # Safety
/// Both forms of a kernel compute the same: the entry says what the function does.
#[diagnostic::on_unimplemented(
    message = "`-` cannot be applied to `{Self}` in a kernel",
    label = "no number",
    note = "for own types, write #[device_fn] on the operator's `impl`"
)]
pub unsafe trait Negated: Copy {
    /// `-self`
    #[must_use]
    fn negated<M: Mode>(self) -> Self;

    /// The table's entry for it: the function that it is, for structs.
    fn entry() -> Entry {
        Entry::Unit
    }
}

impl<T> Slot<T> {
    /// The entry of `-` before this type.
    pub const fn neg(self) -> fn() -> Entry
    where
        T: Negated,
    {
        T::entry
    }
}

impl<T: Negated> Slot<T> {
    /// `-a`
    #[inline(always)]
    pub fn negated<M: Mode>(self, a: T) -> T {
        a.negated::<M>()
    }
}

/// Types that can be compared.
///
/// # Safety
/// Devices compare it as Rust does.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be compared in a kernel",
    label = "no number and no `bool`",
    note = "compare its parts: `a.x == b.x && a.y == b.y`"
)]
pub unsafe trait Compared: Copy + PartialOrd {}

/// Types of which two are equal or not: numbers, `bool`, and enums.
///
/// # Safety
/// Devices compare it like this: numbers as Rust does, variants by their numbers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be compared in a kernel",
    label = "no number, no `bool` and no enum",
    note = "compare its parts: `a.x == b.x && a.y == b.y`"
)]
pub unsafe trait Equal: Copy {
    /// Whether both are the same.
    fn equals(self, b: Self) -> bool;
}

macro_rules! compared {
    ($($ty:ty)*) => {$(
        // SAFETY: a scalar (semantics 3.5, 5.1).
        #[diagnostic::do_not_recommend]
        unsafe impl Compared for $ty {}
        // SAFETY: as above.
        #[diagnostic::do_not_recommend]
        unsafe impl Equal for $ty {
            #[inline(always)]
            fn equals(self, b: $ty) -> bool {
                self == b
            }
        }
    )*};
}
compared! { bool i8 u8 i16 u16 i32 u32 i64 u64 isize usize f32 f64 half::f16 half::bf16 }

/// `a == b`
#[inline(always)]
pub fn eq<T: Equal>(a: T, b: T) -> bool {
    a.equals(b)
}

/// `a != b`
#[inline(always)]
pub fn ne<T: Equal>(a: T, b: T) -> bool {
    !a.equals(b)
}

/// `a < b`
#[inline(always)]
pub fn lt<T: Compared>(a: T, b: T) -> bool {
    a < b
}

/// `a <= b`
#[inline(always)]
pub fn le<T: Compared>(a: T, b: T) -> bool {
    a <= b
}

/// `a > b`
#[inline(always)]
pub fn gt<T: Compared>(a: T, b: T) -> bool {
    a > b
}

/// `a >= b`
#[inline(always)]
pub fn ge<T: Compared>(a: T, b: T) -> bool {
    a >= b
}

/// The type `A` alone. The macro asks so where the source tells that two types meet, for a message
/// of ours.
///
/// # Safety
/// The type is `A`, and gives itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` where `{A}` is needed",
    label = "this is `{Self}`; cast it: `.. as {A}`",
    note = "kernels convert numbers with `as` alone, of two sides either: `n + k as usize`, `n as u32 + k`; `2` is an integer, \
        `2.0` a float"
)]
pub unsafe trait Is<A> {
    /// The same value.
    fn same(self) -> A;
}

// SAFETY: the same type.
#[diagnostic::do_not_recommend]
unsafe impl<A> Is<A> for A {
    #[inline(always)]
    fn same(self) -> A {
        self
    }
}

/// `b`, which is an `A`.
#[inline(always)]
pub fn is<A, B: Is<A>>(b: B) -> A {
    b.same()
}

/// The type of a condition: `bool` alone. The macro asks so where the source tells that it is a
/// number.
///
/// # Safety
/// The type is `bool`, and gives itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no condition",
    label = "this is `{Self}`; compare it: `.. != 0`",
    note = "conditions are `bool`: `n > 0`, `x != 0.0`"
)]
pub unsafe trait Condition {
    /// Whether it holds.
    fn holds(self) -> bool;
}

// SAFETY: it is.
#[diagnostic::do_not_recommend]
unsafe impl Condition for bool {
    #[inline(always)]
    fn holds(self) -> bool {
        self
    }
}

/// `a`, which is a `bool`.
#[inline(always)]
pub fn holds<T: Condition>(a: T) -> bool {
    a.holds()
}
