//! `#[kernel]`, `#[device_fn]`, `derive(DeviceType)`.
//!
//! A function's body becomes two things in one walk over its syntax (`body`): Rust, with
//! arithmetic and indexing turned into calls of `folio_kernel::device`, and a static tree of
//! `folio_kernel::source`, from which the IR is made. They cannot disagree about syntax; types are
//! inferred by rustc, in the Rust form, and told to the tree by slots. So a type error is reported
//! once, in the user's code.
//!
//! A kernel also becomes a function that makes a call of its arguments (`function`). All that is written
//! names its parts by way of the crate `folio`.
//!
//! What kernels do not support is refused where it stands, with what to write instead; all such
//! errors of a function come at once (`errors`).

mod body;
mod conditions;
mod deep;
mod derive;
mod entry;
mod errors;
mod fragments;
mod function;
#[cfg(test)]
mod fuzz;
mod methods;
mod names;
mod parameter;
mod pattern;
mod refused;
mod tree;

use proc_macro::TokenStream;

/// Makes a function a kernel. The attribute's arguments: `group = 256` or `group = [16, 16]`, the size of its groups;
/// `contract`, by which devices may round a product and the sum or difference that uses it once instead of twice.
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    function::expand(arguments.into(), item.into(), function::Kind::Kernel).into()
}

/// Makes a function one that kernels can call; it remains an ordinary function, too. On an `impl` of a struct it
/// makes its functions such, `self` by value; on the `impl` of an operator, kernels have that operator.
#[proc_macro_attribute]
pub fn device_fn(arguments: TokenStream, item: TokenStream) -> TokenStream {
    function::expand(arguments.into(), item.into(), function::Kind::Device).into()
}

/// Makes a struct one that kernels can compute with. It must be `repr(C)`, `Copy`, without
/// padding, and its fields device types.
#[proc_macro_derive(DeviceType)]
pub fn device_type(item: TokenStream) -> TokenStream {
    derive::expand(item.into()).into()
}
