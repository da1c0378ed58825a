//! Backends of the machine that a test runs on, as programs know them.

use folio_core::hal::{Backend, MemoryHome};
use folio_core::{Runtime, UsmKind};
use std::fmt;
use std::sync::Arc;

/// A backend of this machine whose devices load kernels.
#[derive(Clone)]
pub struct Machine {
    backend: Arc<dyn Backend>,
    homes: Vec<MemoryHome>,
    shares: bool,
}

impl Machine {
    /// Looks for its devices; an error is why there are none.
    pub fn new(backend: Arc<dyn Backend>) -> Result<Machine, String> {
        let infos = backend.devices().map_err(|why| why.reason.to_string())?;
        let homes = infos.into_iter().map(|info| info.home).collect();
        let rt = Runtime::builder().shared_backend(backend.clone()).build();
        let rt = rt.map_err(|error| error.to_string())?;
        let devices = rt.devices();
        let reached = |kind| devices.iter().all(|device| rt.usm::<u32>(device, kind, 1).is_ok());
        let shares = reached(UsmKind::Host) && reached(UsmKind::Shared);
        Ok(Machine { backend, homes, shares })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.backend.name()
    }

    /// Where the memory of each device is.
    pub fn homes(&self) -> &[MemoryHome] {
        &self.homes
    }

    /// Whether there is USM that the host reaches.
    pub fn shares(&self) -> bool {
        self.shares
    }

    /// The backend.
    pub fn backend(&self) -> Arc<dyn Backend> {
        self.backend.clone()
    }
}

impl PartialEq for Machine {
    fn eq(&self, other: &Machine) -> bool {
        Arc::ptr_eq(&self.backend, &other.backend)
    }
}

impl Eq for Machine {}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} devices", self.name(), self.homes.len())
    }
}
