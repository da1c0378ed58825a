//! `#[kernel]`, `#[device_fn]`, `derive(DeviceType)`, `#[folio::main]`.
//!
//! A function's body becomes two things in one walk over its syntax (`body`): Rust, with
//! arithmetic and indexing turned into calls of `folio_device`, and a static tree of
//! `folio_kernel::source`, from which the IR is made. They cannot disagree about syntax; types are
//! inferred by rustc, in the Rust form, and told to the tree by slots. A type error is therefore
//! reported once, in the user's code.
//!
//! A kernel also becomes a function that makes a call of its arguments (`forms`). All that is
//! written names its parts by way of the crate `folio`.
//!
//! Source that kernels do not support is refused where it stands, with advice; all such errors of a
//! function come at once (`errors`).

mod associated;
mod body;
mod called;
mod columns;
mod combine;
mod conditions;
mod deep;
mod derive;
mod entry;
mod enums;
mod errors;
mod foreign;
mod forms;
mod fragments;
mod function;
#[cfg(test)]
mod fuzz;
mod inside;
mod methods;
mod names;
mod outputs;
mod parameter;
mod pattern;
mod positions;
mod program;
mod refused;
mod signature;
mod stub;
mod traits;
mod tree;

use proc_macro::TokenStream;

// The examples of these pages are tests of `folio`, without which they do not compile.
#[doc = include_str!("docs/kernel.md")]
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    function::expand(arguments.into(), item.into(), function::Kind::Kernel).into()
}

#[doc = include_str!("docs/device_fn.md")]
#[proc_macro_attribute]
pub fn device_fn(arguments: TokenStream, item: TokenStream) -> TokenStream {
    function::expand(arguments.into(), item.into(), function::Kind::Device).into()
}

#[doc = include_str!("docs/device_type.md")]
#[proc_macro_derive(DeviceType)]
pub fn device_type(item: TokenStream) -> TokenStream {
    derive::expand(item.into()).into()
}

#[doc = include_str!("docs/columns.md")]
#[proc_macro_derive(Columns)]
pub fn columns(item: TokenStream) -> TokenStream {
    columns::derive(item.into()).into()
}

/// For what `derive(Columns)` writes.
#[doc(hidden)]
#[proc_macro]
pub fn kernel_of_columns(tokens: TokenStream) -> TokenStream {
    columns::kernel(tokens.into()).into()
}

#[doc = include_str!("docs/main.md")]
#[proc_macro_attribute]
pub fn main(arguments: TokenStream, item: TokenStream) -> TokenStream {
    program::expand(&arguments.into(), item.into()).into()
}
