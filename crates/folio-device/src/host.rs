//! The form that a kernel finds in place of a device function where it calls another function, so
//! that rustc says one thing, at the call: functions of the host are not for kernels. Device
//! functions hide what is here: their types are imported by name and this by a glob, and functions
//! of a type come before those of traits.

use super::{Called, Form, Mode};
use folio_kernel::source::Entry;

/// A function that a kernel calls. A function of the host ([`HostFunction`]) is not.
///
/// # Safety
/// No type is one: of what it gives, the description of a kernel says nothing.
#[diagnostic::on_unimplemented(
    message = "a kernel calls what is no `#[device_fn]`",
    label = "not for devices",
    note = "a function of your own: write `#[device_fn]` above it",
    note = "a kernel calls no other kernel: what both do is a `#[device_fn]`",
    note = "of the standard library kernels have numbers with their methods, `a.max(b)`, and nothing else"
)]
pub unsafe trait DeviceFunction {
    /// The form that is called.
    type Function;
    /// Gives it.
    fn function() -> Self::Function;
}

/// A type whose function or method a kernel calls. A type of the host has none.
///
/// # Safety
/// No type is one, as of [`DeviceFunction`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no `#[device_fn]` of this name",
    label = "not for devices",
    note = "of a type of your own: write `#[device_fn]` above the `impl` that has it",
    note = "of the standard library kernels have numbers with their methods, `a.max(b)`, and nothing else"
)]
pub unsafe trait DeviceMethod {
    /// The form that is called.
    type Function;
    /// Gives it.
    fn function() -> Self::Function;
}

/// Stands for a function of the host, by the name by which kernels import what they call. Functions
/// that kernels call begin with a small letter, and the glob has no other such name, which would
/// hide the user's.
#[derive(Debug)]
pub enum HostFunction {}

pub use HostFunction as __callee;

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

/// A function of every type, which is found where the type has none of this name; with `self`, a
/// method.
#[doc(hidden)]
#[macro_export]
macro_rules! host_function {
    ($name:ident $(, $this:ident)?) => {
        #[doc(hidden)]
        pub trait __Host: Sized {
            #[doc(hidden)]
            fn $name<__M: $crate::Mode>($(&$this)?) -> $crate::Form<
                $crate::host::Unknown, __M, <Self as $crate::host::DeviceMethod>::Function,
            >
            where
                Self: $crate::host::DeviceMethod,
            {
                $crate::host::no_method::<Self, __M>()
            }
        }
        impl<__T> __Host for __T {}
    };
}

/// The result of [`host_function`].
pub fn no_method<T: DeviceMethod, M: Mode>() -> Form<Unknown, M, T::Function> {
    // SAFETY: no type has such a method, so this does not run.
    unsafe { Form::new(T::function()) }
}

/// [`host_function`] of the name by which functions are called.
#[doc(hidden)]
pub trait __Host: Sized {
    #[doc(hidden)]
    fn __at<M: Mode>() -> Form<Unknown, M, Self::Function>
    where
        Self: DeviceFunction,
    {
        // SAFETY: no type is one, so this does not run.
        unsafe { Form::new(Self::function()) }
    }
}

impl<T> __Host for T {}
