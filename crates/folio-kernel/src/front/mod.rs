//! The front end: what makes kernels, out of a builder's calls, of their text form, or of what
//! `#[kernel]` has written of a function.
//!
//! Imports `ir` and `analysis`.

pub(crate) mod build;
pub mod parse;
pub mod source;
