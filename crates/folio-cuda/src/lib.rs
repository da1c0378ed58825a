//! NVIDIA GPUs as Folio's devices, over the CUDA driver API.
//!
//! The driver is loaded when devices are looked for: a program with this crate starts on any
//! machine, and where there is no driver it has no CUDA devices, with the reason.
//!
//! - [`CudaBackend`] and its devices: `platform`, `device`; the driver's answers and contexts:
//!   `driver`.
//! - A lane is a stream (`lane`); how far it is, is known by few events (`progress`).
//! - Memory is the driver's stream-ordered pool's (`memory`), or imported (`imports`). Copies of
//!   rectangles are in `copy`, many rows in one call, those of memory that is not page-locked in
//!   `pageable`, fills in `fill`.
//! - Code is PTX, a cubin, or CUDA C (`program`), which NVRTC compiles where it is installed
//!   (`compiler`); what it has compiled is kept on disk ([`Cache`]), or goes along with a program
//!   ([`Bundle`]). Kernels in IR become CUDA C (`module`); what they say of their launches is in
//!   `verdict`. Those that the user wrote are in `opaque`. An interop task gets a [`Native`].
//! - A `graph` is made of the same commands; `way` is where they go, into a stream or into a graph,
//!   and `graph_failures` what the launches of a replay report.
//! - A thread that submits, waits or allocates has the primary context of the device current
//!   afterwards, and not another one that it had made current: whoever calls the driver on several
//!   devices in one thread enters his own.
//! - Others in the process may capture graphs meanwhile, in whatever mode.
//! - NVIDIA's profilers, where one is attached, see the labels of commands as ranges (`nvtx`).

mod allocations;
mod arguments;
mod capture;
mod compiler;
mod condition;
mod copy;
mod device;
mod driver;
mod fill;
mod frames;
mod graph;
mod graph_failures;
mod host;
mod imports;
mod lane;
mod memory;
mod module;
mod native;
mod nvtx;
mod opaque;
mod pageable;
mod platform;
mod program;
mod progress;
#[cfg(test)]
mod refusals;
mod timing;
mod verdict;
mod way;

pub use folio_cache::{Bundle, Cache, Counts, NoBundle};
pub use native::{Native, NativeMemory};
pub use platform::CudaBackend;
