//! The memory of devices that is out, whoever has it: watched under everything else that is around
//! a backend, so that it can be asked for when the runtime is gone.

use folio_core::hal::{AllocReq, Allocation, Backend, HalError};
use folio_layers::{DeviceRef, Hooks, Layer};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Backend, device and handle of each allocation, with its label.
type Out = HashMap<(usize, u32, u64), String>;

/// The allocations that some backends have made and not got back.
#[derive(Clone, Default)]
pub struct Live(Arc<Mutex<Out>>);

impl Live {
    /// Watches a backend, which has this number.
    pub fn watch(&self, number: usize, backend: Arc<dyn Backend>) -> Arc<dyn Backend> {
        Arc::new(Layer::new(Watch { live: self.clone(), number }, backend))
    }

    /// The labels of what is out.
    pub fn labels(&self) -> Vec<String> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Out> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Watch {
    live: Live,
    number: usize,
}

// SAFETY: passes calls on.
unsafe impl Hooks for Watch {
    fn alloc(&self, device: &DeviceRef, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        let made = device.inner.usm().alloc(req)?;
        let place = (self.number, device.index, made.handle);
        self.live.lock().insert(place, req.label.to_owned());
        Ok(made)
    }

    fn free(&self, device: &DeviceRef, handle: u64) {
        // Before somebody gets the same handle.
        self.live.lock().remove(&(self.number, device.index, handle));
        device.inner.usm().free(handle);
    }
}
