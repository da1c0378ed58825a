//! What a kernel finds in place of a device function where it calls something else, so that rustc
//! says one thing, at the call: functions of the host are not for kernels. Device functions hide
//! what is here: their types are imported by name and this by a glob, and functions of a type come
//! before those of traits.

use super::{Called, Form, Mode};
use folio_kernel::source::Entry;
use std::marker::PhantomData;

/// What is called by a kernel. A function of the host ([`OfTheHost`]) is not.
#[diagnostic::on_unimplemented(
    message = "a kernel calls what is no `#[device_fn]`",
    label = "not for devices",
    note = "a function of your own: write `#[device_fn]` above it; a method: above its `impl`",
    note = "a kernel calls no other kernel: what both do is a `#[device_fn]`",
    note = "of the standard library kernels have numbers with their methods, `a.max(b)`, and nothing else"
)]
pub trait Callable {
    /// What is called.
    type Function;
    /// Gives it.
    fn function() -> Self::Function;
}

/// Stands for a function of the host, in a mode.
#[derive(Debug)]
pub struct OfTheHost<M>(PhantomData<M>);

/// Stands for its form. What kernels call begins with a small letter, so no such name is here: the
/// glob would hide the user's.
pub type Absent<M> = Form<Unknown, M, <OfTheHost<M> as Callable>::Function>;

impl<M: Mode> OfTheHost<M>
where
    Self: Callable,
{
    /// Gives it.
    pub fn form() -> Absent<M> {
        // SAFETY: no type is `Callable`, so this does not run.
        unsafe { Form::new(<Self as Callable>::function()) }
    }
}

/// The callee's type in the table, which is never made.
#[derive(Debug)]
pub enum Unknown {}

#[diagnostic::do_not_recommend]
// SAFETY: the function that it says.
unsafe impl Called for Unknown {
    fn called() -> Entry {
        Entry::Unit
    }
}

/// Has the name by which kernels import what they call.
#[derive(Debug)]
#[expect(non_camel_case_types, reason = "the macro's name for it")]
pub enum __callee {}

/// A function of every type, which is found where the type has none of this name; with `self`, a
/// method.
#[doc(hidden)]
#[macro_export]
macro_rules! host_function {
    ($name:ident $(, $this:ident)?) => {
        #[doc(hidden)]
        pub trait __Host: Sized {
            #[doc(hidden)]
            fn $name<__M: $crate::Mode>($($this)?)
                -> $crate::host::Absent<__M>
            where
                $crate::host::OfTheHost<__M>: $crate::host::Callable,
            {
                $crate::host::OfTheHost::form()
            }
        }
        impl<__T> __Host for __T {}
    };
}

/// [`host_function`] of the name by which functions are called.
#[doc(hidden)]
pub trait __Host: Sized {
    #[doc(hidden)]
    fn __at<M: Mode>() -> Absent<M>
    where
        OfTheHost<M>: Callable,
    {
        OfTheHost::form()
    }
}

impl<T> __Host for T {}
