//! Products of matrices, Fourier transforms and solvers on any device that Folio has: by the
//! library that is kept for the device, where it is there, and by Folio's own kernels.
//!
//! Programs use them as `folio::linalg`, with the feature `linalg` of `folio`:
//!
//! ```
//! use folio::linalg::Linalg;
//!
//! fn main() -> folio::Result<()> {
//!     let rt = folio::runtime()?;
//!     let linalg = Linalg::new(&rt.queue()?)?;
//!     let a = rt.buffer_from((&[1.0f32, 2.0, 3.0, 4.0], [2, 2]))?;
//!     let mut c = rt.buffer([2, 2])?;
//!     let used = linalg.matmul(&a, &a, &mut c)?;
//!     assert_eq!(c.to_vec()?, [7.0, 10.0, 15.0, 22.0]);
//!     println!("by {used}");
//!     Ok(())
//! }
//! ```
//!
//! | to | use |
//! | --- | --- |
//! | multiply matrices, also in batches | [`Linalg::matmul`], [`Linalg::matmul_with`] |
//! | transform | [`Linalg::fft`], [`Linalg::fft_real`], [`Linalg::fft_real_inverse`] |
//! | multiply by a sparse matrix | [`Csr`], [`Linalg::spmv`], [`Linalg::spmm`] |
//! | solve a symmetric positive definite system | [`ConjugateGradient`] |
//! | say which code computes | [`Choice`], [`Linalg::with_choice`] |
//! | ask which code computed | [`Library`], and the command's label |
//!
//! All of them have this in common:
//!
//! - **Arguments** are what kernels take: buffers, shared ones, USM, parts of these.
//! - **Nothing waits.** A call submits commands and returns. [`Linalg::new`] waits once, where a
//!   GPU's libraries have to be set up, and so do the first transform of a shape and cuSPARSE's
//!   first product of a matrix.
//! - **No library is linked.** NVIDIA's are opened when they are there; without them the own
//!   kernels compute. [`Linalg::missing`] says why one is not used.
//! - **Own kernels give the same bits on every device.** A library adds in an order of its own.

// The macros' output names everything by way of `folio`. Of that crate, which has this one in it,
// all that kernels need is in `folio-core`.
extern crate folio_core as folio;

mod choice;
#[cfg(feature = "cuda")]
mod cuda;
mod element;
mod fft;
mod linalg;
mod matmul;
mod solver;
mod sparse;
#[cfg(feature = "cpu")]
mod threads;

pub use choice::{Choice, Library, LibraryError};
#[cfg(feature = "cuda")]
pub use cuda::libraries;
pub use element::Element;
pub use fft::{Real, Transform};
pub use linalg::Linalg;
pub use matmul::Matmul;
pub use solver::ConjugateGradient;
pub use sparse::Csr;

/// The names with which the kernels here are written.
mod prelude {
    pub(crate) use folio::ir::device::{CastFrom, Float, Number};
    pub(crate) use folio::{
        Buffer, DeviceType, Group, In, InOut, Item, Items, Local, Out, Queue, Racy, Result, Slice,
        SliceMut,
        buffer::{AsPart, AsPartMut},
    };
    pub(crate) use folio_macros::kernel;
}

/// Shapes that do not fit each other.
fn mismatch(label: &'static str, source: &[usize], target: &[usize]) -> folio::Error {
    folio::Error::Mismatch {
        what: "command",
        label: label.into(),
        source_extent: source.to_vec(),
        target: target.to_vec(),
        needed: None,
    }
}

/// The programs of the guide, compiled and run as tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../docs/guide/linalg.md")]
    mod linalg {}
    #[doc = include_str!("../../../docs/guide/cookbook/matrices.md")]
    mod matrices {}
    #[doc = include_str!("../../../docs/guide/cookbook/sparse.md")]
    mod sparse {}
    #[doc = include_str!("../../../docs/guide/cookbook/transforms.md")]
    mod transforms {}
}
