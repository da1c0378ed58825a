//! Folio's cost where it has no rival. A program with a rival is a row of the matrix of benchmarks.
//!
//! [`submit`], [`graphs`], [`steps`], [`runs`] and [`pages`] hold the programs, and [`baseline`]
//! what a program does that tracks nothing. Each returns the time of so many operations; all but
//! [`runs`] check their results.

pub mod baseline;
pub mod graphs;
pub mod pages;
pub mod runs;
pub mod steps;
pub mod submit;
