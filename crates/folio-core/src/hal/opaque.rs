//! What somebody else wrote: kernels in a language of their device's driver, and commands by its
//! own functions.

use super::HalError;
use std::any::Any;

/// A kernel's code, in a language that a driver or its compiler reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source<'a> {
    /// OpenCL C, for devices of the backend `opencl`.
    OpenClC(&'a str),
    /// CUDA C++, for devices of the backend `cuda` on machines that have NVRTC. Its kernels are
    /// `extern "C"`.
    CudaC(&'a str),
    /// PTX, for devices of the backend `cuda`.
    Ptx(&'a str),
    /// A cubin or a fat binary, for devices of the backend `cuda` that it was made for.
    CudaBinary(Image<'a>),
    /// SPIR-V for devices of the backend `vulkan`, as modules of its versions up to 1.6. The push
    /// constant is a `u64`: the address of the arguments, which are words of 64 bits: an address
    /// for what is memory, and for a value its bytes in as many words as they begin. Threads of a
    /// group along x, y and z are the specialization constants 0, 1 and 2.
    SpirV(Image<'a>),
}

/// The bytes of a compiled program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Image<'a>(&'a [u8]);

impl<'a> Image<'a> {
    /// From these bytes.
    ///
    /// # Safety
    /// They are what a compiler of the driver's vendor made, all of it and undamaged: the driver
    /// reads as far as they say themselves.
    pub const unsafe fn new(bytes: &'a [u8]) -> Image<'a> {
        Image(bytes)
    }

    /// The bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.0
    }
}

impl<'a> Source<'a> {
    /// What the language is called.
    pub fn language(&self) -> &'static str {
        match self {
            Source::OpenClC(_) => "OpenCL C",
            Source::CudaC(_) => "CUDA C",
            Source::Ptx(_) => "PTX",
            Source::CudaBinary(_) => "binaries of CUDA",
            Source::SpirV(_) => "SPIR-V",
        }
    }

    /// The code.
    pub fn code(&self) -> &'a [u8] {
        match self {
            Source::OpenClC(text) | Source::CudaC(text) | Source::Ptx(text) => text.as_bytes(),
            Source::CudaBinary(image) | Source::SpirV(image) => image.bytes(),
        }
    }
}

/// An argument of an opaque kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Argument {
    /// The memory parameter of this number: where the element lies that the kernel counts as the
    /// first, by [`Param::index`](super::Param::index).
    Memory(u16),
    /// The next scalar, of so many bytes.
    Value(u32),
    /// So many bytes of a group's local memory. OpenCL has an argument for it; CUDA has none, and
    /// one piece of dynamic shared memory that is as large as all of these together.
    Local(u32),
}

/// A closure that enqueues commands by the driver's functions, called in the place of a launch.
pub trait Foreign {
    /// Calls it with what the backend has for it: a value of the type in
    /// [`Caps::native`](super::Caps::native). A second call is an error.
    fn call(&self, native: &dyn Any) -> Result<(), HalError>;
}

impl<F: Fn(&dyn Any) -> Result<(), HalError>> Foreign for F {
    fn call(&self, native: &dyn Any) -> Result<(), HalError> {
        self(native)
    }
}
