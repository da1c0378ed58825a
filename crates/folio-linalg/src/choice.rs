//! Which code computes.

use std::fmt;

/// Which code a call uses.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Choice {
    /// The library of the device, where there is one that takes the call; else the own kernels.
    #[default]
    Auto,
    /// The own kernels: the same bits on every device.
    Own,
    /// The library of the device; where there is none, the call is an error.
    Library,
}

/// The code that a call has used.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Library {
    /// Folio's own kernels.
    Own,
    /// The Rust crate `gemm`, on CPUs.
    Gemm,
    /// cuBLAS, on NVIDIA's GPUs.
    CuBlas,
    /// The Rust crate `rustfft`, on CPUs.
    RustFft,
    /// cuFFT, on NVIDIA's GPUs.
    CuFft,
    /// cuSPARSE, on NVIDIA's GPUs.
    CuSparse,
}

impl Library {
    /// The name in labels of commands.
    pub fn name(self) -> &'static str {
        match self {
            Library::Own => "own",
            Library::Gemm => "gemm",
            Library::CuBlas => "cuBLAS",
            Library::RustFft => "rustfft",
            Library::CuFft => "cuFFT",
            Library::CuSparse => "cuSPARSE",
        }
    }
}

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a library is not used, or what it has reported.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LibraryError {
    /// No file of the library was found.
    #[error("{library} is not installed: {why}")]
    Missing {
        /// The library.
        library: &'static str,
        /// What the system's loader said of each file that was tried.
        why: String,
    },
    /// The library lacks a function, so that it is too old or another one.
    #[error("{library} has no function {function}")]
    Function {
        /// The library.
        library: &'static str,
        /// The function.
        function: &'static str,
    },
    /// A function has failed.
    #[error("{library}: {function} failed: {status}")]
    Call {
        /// The library.
        library: &'static str,
        /// The function.
        function: &'static str,
        /// The library's words, or the number of its status.
        status: String,
    },
    /// The device has no library for this.
    #[error("no library computes {what} on this device")]
    None {
        /// The call.
        what: &'static str,
    },
}
