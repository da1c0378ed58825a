//! Kernels: what is loaded, from IR or from SPIR-V of others, and how a launch is cut.

pub(crate) mod fma;
pub(crate) mod module;
pub(crate) mod opaque;
pub(crate) mod outline;
pub(crate) mod subgroups;
pub(crate) mod threads;
