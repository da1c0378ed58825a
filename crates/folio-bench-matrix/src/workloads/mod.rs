//! The workloads. To add one: write its file here, and add it to [`ALL`].
//!
//! A file has the kernels three times: Folio's, loops for rayon, and C for drivers.

use crate::bench::Workload;

mod algorithms;
mod arguments;
mod control;
mod functions;
mod fusion;
mod graphs;
mod groups;
mod indices;
mod launch;
mod library;
mod linear;
mod links;
mod managed;
mod matmul;
mod nbody;
mod overlap;
mod pages;
mod policies;
mod pressure;
mod recorded;
mod several;
mod solvers;
mod stencil;
mod stream;
mod tasks;
mod threads;
mod transfer;

/// All of them, in the order of the table.
pub const ALL: &[&dyn Workload] = &[
    &control::Control,
    &launch::Launch,
    &arguments::Arguments,
    &tasks::Tasks,
    &graphs::Graphs,
    &recorded::Recorded,
    &threads::Threads,
    &stream::Stream,
    &stencil::Stencil,
    &matmul::MatMul,
    &nbody::NBody,
    &functions::Functions,
    &indices::Indices,
    &groups::Groups,
    &algorithms::Algorithms,
    &library::Library,
    &linear::Linear,
    &solvers::Solvers,
    &fusion::Fusion,
    &transfer::Transfer,
    &pages::Pages,
    &policies::Policies,
    &pressure::Pressure,
    &managed::Managed,
    &links::Links,
    &overlap::Overlap,
    &several::Several,
];
