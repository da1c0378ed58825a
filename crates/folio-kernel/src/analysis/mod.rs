//! Analyses: what a kernel does, asked of verified IR. They change no kernel.
//!
//! Imports `ir`.

pub mod access;
pub mod checks;
pub(crate) mod computed;
pub mod divide;
pub mod flow;
pub mod interval;
pub mod launch;
pub mod linear;
pub mod outputs;
