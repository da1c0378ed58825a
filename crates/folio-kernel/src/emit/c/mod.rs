//! C: the texts of OpenCL C and CUDA C++. Code that all targets share is a floor above, in `emit`.

mod atomic;
mod body;
mod dialect;
mod entry;
mod group;
mod helpers;
mod memory;
mod query;
mod reduce;
mod rows;
mod scalar;
mod types;
mod units;
mod writer;

pub use dialect::Dialect;
pub(super) use entry::{emit, emit_abreast};

use super::{Form, Module, Reduction, abi, lacks, live, names, phases, unroll};
