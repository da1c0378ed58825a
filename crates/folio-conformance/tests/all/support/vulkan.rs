//! Vulkan with its validation layer, which has nothing to say.

use folio_core::hal::{Backend, Device, DeviceInfo, HalError, Notify, Unavailable};
use folio_vulkan::{Messages, VulkanBackend};
use std::sync::{Arc, Mutex, PoisonError};

static ALL: Mutex<Vec<Messages>> = Mutex::new(vec![]);

/// A backend whose calls the validation layer looks at.
pub fn validated() -> VulkanBackend {
    let backend = VulkanBackend::new().validated();
    ALL.lock().unwrap_or_else(PoisonError::into_inner).push(backend.messages());
    backend
}

/// One backend for all runtimes of a test: it looks for devices and measures what they compute
/// once, and opens them for each runtime.
#[derive(Clone)]
pub struct Shared(Arc<VulkanBackend>);

impl Shared {
    /// Shares it.
    pub fn new(backend: VulkanBackend) -> Shared {
        Shared(Arc::new(backend))
    }
}

// SAFETY: it is the backend's own answers.
unsafe impl Backend for Shared {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>, Unavailable> {
        self.0.devices()
    }

    unsafe fn open(&self, index: usize, notify: Notify) -> Result<Arc<dyn Device>, HalError> {
        // SAFETY: the caller's promise, passed on.
        unsafe { self.0.open(index, notify) }
    }
}

/// The layer has said nothing of any of them.
#[track_caller]
pub fn is_silent() {
    let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let said: Vec<_> = all.iter().flat_map(Messages::all).collect();
    assert!(said.is_empty(), "{} messages: {}", said.len(), said[..said.len().min(4)].join("\n"));
}
