//! Random programs, a sequential oracle that says what they must do, and what holds the two
//! against each other.
//!
//! A [`program::Program`] is plain data. [`generate`] makes one from a seed, [`run`] gives it to a
//! runtime and records everything that can be seen, [`oracle`] replays the record one step after
//! another and says where it is wrong, [`blame`] says by which names a fault may be told,
//! [`shrink`] makes a wrong program small. [`order`] knows which steps are over before which, since
//! raw memory is ordered by what programs say and by nothing else; [`features`] counts what
//! programs were made of. Devices are simulated ones, CPUs, and those of the [`machine`]; where one
//! runs no closures, kernels are [`functions`]. Nothing here depends on time, but for the patience
//! after which a program counts as hanging.
//!
//! [`managed`] is the same for managed pointers, step by step.
//!
//! For kernels, [`interp`] says what they mean, [`kernels`] makes random ones, [`source`] random
//! ones as Rust source, and [`exact`] is what functions are measured by. [`compilers`] are those of
//! the machine, and [`drivers`] the backends over its drivers: the one table for tests.

pub mod blame;
pub mod compilers;
pub mod compute;
pub mod drivers;
pub mod faulty;
pub mod features;
pub mod functions;
pub mod fusion;
pub mod generate;
pub mod handle;
pub mod kernels;
pub mod lend;
pub mod live;
pub mod machine;
pub mod managed;
pub mod oracle;
pub mod order;
pub mod place;
pub mod planted;
pub mod program;
pub mod residency;
pub mod run;
pub mod shrink;
pub mod source;
pub mod suite;
pub mod typed;
pub mod watched;
pub mod world;

pub use folio_interp::{exact, interp, rng};
