//! Folio: heterogeneous compute in which data moves itself.
//!
//! Describe what a command reads and writes, hand it to a queue, and Folio allocates where it is
//! needed, copies the fewest pages, and keeps independent work apart.
//!
//! ```
//! use folio::prelude::*;
//!
//! fn main() -> folio::Result<()> {
//!     let rt = folio::runtime()?;
//!     let q = rt.queue()?;
//!     let x = rt.buffer_from(&[1.0f32; 1000])?;
//!     let mut y = rt.buffer::<f32>(1000)?; // allocated where it is first used; reads as zero
//!     q.submit(|cg| {
//!         let (x, y) = (cg.read(&x), cg.read_write(&mut y));
//!         cg.host_kernel([1000], (x, y), |i, (x, mut y)| y[i] += 2.0 * x[i]);
//!         Ok(())
//!     })?;
//!     assert_eq!(y.read()?[0], 2.0); // waits for exactly what it needs
//!     Ok(())
//! }
//! ```
//!
//! Backends are Cargo features; `cpu` is on by default. Other backends, yours too, are added with
//! [`RuntimeBuilder::backend`].

pub use folio_core::*;

#[cfg(feature = "cpu")]
pub use folio_cpu as cpu;

/// What most programs need.
pub mod prelude {
    pub use folio_core::{
        Buffer, BufferOptions, CommandGroup, DeviceType, Error, Event, Item, Queue, Runtime,
        Selector, Shared, Status,
    };
}

/// A builder with every backend that is compiled in, set up from the environment
/// (`FOLIO_CPU_DOMAINS`, `FOLIO_CPU_THREADS`).
pub fn builder() -> Result<RuntimeBuilder> {
    let builder = Runtime::builder();
    #[cfg(feature = "cpu")]
    let builder = builder.backend(cpu_from_env()?);
    Ok(builder)
}

/// A runtime with every backend that is compiled in. Devices are found now and opened on
/// first use.
pub fn runtime() -> Result<Runtime> {
    builder()?.build()
}

#[cfg(feature = "cpu")]
fn cpu_from_env() -> Result<cpu::CpuBackend> {
    cpu::CpuBackend::new().map_err(|error| Error::Environment {
        variable: error.setting,
        value: error.value,
        allowed: error.allowed,
    })
}
