//! Compilers of emitted C, found when tests run: none of them is needed to build anything.

pub mod nvrtc;
pub mod opencl;
pub mod spirv;
