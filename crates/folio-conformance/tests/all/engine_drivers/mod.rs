//! The backends over drivers under the engine's suite, where there are devices: alone, with CPUs,
//! and together on one GPU.

mod cuda;
mod each;
mod opencl;
mod twins;
mod vulkan;
