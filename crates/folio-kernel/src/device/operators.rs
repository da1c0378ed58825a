//! The operators that structs can have, too: each is a trait, with the result of the left operand's
//! type, so that inference of literals goes both ways.

use super::{Mode, Slot};
use crate::source::Entry;

macro_rules! operators {
    ($($name:ident $method:ident $function:ident $text:literal, $message:literal;)*) => {$(
        #[doc = concat!("What `", $text, "` needs on the left.")]
        #[diagnostic::on_unimplemented(
            message = $message,
            label = "not of one type",
            note = "convert numbers with `as`; for own types, write #[device_fn] on the operator's `impl`"
        )]
        pub trait $name<B = Self>: Copy {
            #[doc = concat!("`self ", $text, " b`")]
            #[must_use]
            #[track_caller]
            fn $method<M: Mode>(self, b: B) -> Self;

            /// What the table says of it: the function that it is, for structs.
            fn entry() -> Entry {
                Entry::Unit
            }
        }

        #[doc = concat!("`a ", $text, " b`")]
        #[inline(always)]
        #[track_caller]
        pub fn $function<M: Mode, T: $name<B>, B>(_: &Slot<(T, B)>, a: T, b: B) -> T {
            a.$method::<M>(b)
        }

        impl<T: $name<B>, B> Slot<(T, B)> {
            #[doc = concat!("The entry of `", $text, "` between these types.")]
            pub const fn $function(&self) -> fn() -> Entry {
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

/// What `-` before it needs.
#[diagnostic::on_unimplemented(
    message = "`-` cannot be applied to `{Self}` in a kernel",
    label = "no number",
    note = "for own types, write #[device_fn] on the operator's `impl`"
)]
pub trait Negated: Copy {
    /// `-self`
    #[must_use]
    fn negated<M: Mode>(self) -> Self;

    /// What the table says of it: the function that it is, for structs.
    fn entry() -> Entry {
        Entry::Unit
    }
}

/// `-a`
#[inline(always)]
pub fn neg<M: Mode, T: Negated>(_: &Slot<T>, a: T) -> T {
    a.negated::<M>()
}

impl<T: Negated> Slot<T> {
    /// The entry of `-` before this type.
    pub const fn neg(&self) -> fn() -> Entry {
        T::entry
    }
}
