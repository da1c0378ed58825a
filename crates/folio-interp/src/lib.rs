//! The meaning of kernels in IR, for tests of the code that compiles and runs them.
//!
//! [`interp`] runs them as `docs/semantics.md` says, [`exact`] is what functions are measured by,
//! and [`rng`] is where random tests have their numbers from. [`replay`] runs launches again that
//! programs have kept. The conformance suite needs no more
//! than this of the model: who tests a backend compiles no other.

pub mod exact;
pub mod interp;
pub mod replay;
pub mod rng;
