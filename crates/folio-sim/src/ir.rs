//! Kernels in IR on simulated devices. The caller brings the interpreter: a simulated device knows
//! when kernels run, on which memory, and who may not use it meanwhile.

use folio_core::hal::{Geometry, HalError, ParamPtr};
use folio_core::ir::Kernel;
use std::fmt;
use std::sync::Arc;

/// Runs kernels in IR on the host. [`DeviceSpec::ir`](crate::DeviceSpec::ir) takes one.
pub trait IrRunner: fmt::Debug + Send + Sync {
    /// Makes a verified kernel runnable, or says why that is impossible.
    fn load(&self, kernel: &Kernel) -> Result<Arc<dyn IrKernel>, HalError>;

    /// Items of a sub-group.
    fn subgroup(&self) -> u32 {
        1
    }
}

/// A kernel in IR that can be run.
pub trait IrKernel: Send + Sync {
    /// The reason to refuse such a launch: groups that are too large, for one. Asked before each
    /// launch in groups.
    fn check(&self, geometry: &Geometry) -> Result<(), HalError> {
        let _ = geometry;
        Ok(())
    }

    /// Runs a launch: `blob`, `params` and `proved` are those of [`folio_core::hal::Args`]. May
    /// panic.
    ///
    /// # Safety
    /// `params` point to live memory of their shapes, in the kernel's order; for the length of the
    /// call nobody else writes what the kernel reads in the accessed boxes, nor touches what it
    /// writes there.
    unsafe fn run(
        &self,
        geometry: &Geometry,
        blob: &[u8],
        params: &[ParamPtr],
        proved: bool,
    ) -> Result<(), HalError>;
}
