//! What Folio costs, against hand-written code that does the same in the same run.
//!
//! [`submit`], [`graphs`], [`pages`] and [`kernels`] hold the programs, [`baseline`], [`hand`],
//! [`raw`] (OpenCL) and [`driver`] (CUDA) the hand-written ones. Each returns the time of so many
//! operations, and checks its result. `cargo bench -p folio-benches` runs them under criterion;
//! `cargo bench -p folio-benches --bench summary` prints one table of ratios in under a minute;
//! `--bench kernels` does so for kernels.

pub mod baseline;
pub mod by_hand;
pub mod check;
pub mod driver;
pub mod graphs;
pub mod hand;
pub mod kernels;
pub mod pages;
pub mod raw;
pub mod steps;
pub mod submit;
pub mod table;
