//! The backends over drivers under the engine's suite, where there are devices: alone, with CPUs,
//! and together on one GPU. One binary, since it is most of what `cargo xtask gpu-test` packs.

mod cuda;
mod opencl;
mod twins;
mod vulkan;

#[path = "../support/vulkan.rs"]
mod layer;
#[path = "../support/mod.rs"]
mod support;
