//! Vulkan with its validation layer, which has nothing to say.

use folio_vulkan::{Messages, VulkanBackend};
use std::sync::{Mutex, PoisonError};

static ALL: Mutex<Vec<Messages>> = Mutex::new(vec![]);

/// A backend whose calls the validation layer looks at.
pub fn validated() -> VulkanBackend {
    let backend = VulkanBackend::new().validated();
    ALL.lock().unwrap_or_else(PoisonError::into_inner).push(backend.messages());
    backend
}

/// The layer has said nothing of any of them.
#[track_caller]
pub fn is_silent() {
    let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let said: Vec<_> = all.iter().flat_map(Messages::all).collect();
    assert!(said.is_empty(), "{} messages: {}", said.len(), said[0]);
}
