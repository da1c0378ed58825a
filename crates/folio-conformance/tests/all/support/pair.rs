//! Two backends as one, so that what takes one backend runs on the devices of both.

use folio_core::hal::{
    Backend, Device, DeviceInfo, HalError, MemoryHome, Notify, Unavailable, WaitGroup,
};
use std::sync::Arc;

/// The devices of the first, and then those of the second, which must know memory by its handle
/// alone: by their numbers, its devices are others.
pub struct Pair<A, B>(pub A, pub B);

/// What tells memories and groups of the second from those of the first.
const SECOND: u32 = 1 << 16;

// SAFETY: its devices are those of two backends that keep the contract. What the two have in common
// is the host's memory only: their memories have different keys, and no lane of one is waited for
// by one of the other, since no group is of both.
unsafe impl<A: Backend, B: Backend> Backend for Pair<A, B> {
    fn name(&self) -> &str {
        "pair"
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>, Unavailable> {
        let mut all = self.0.devices()?;
        all.extend(self.1.devices()?.into_iter().map(|mut info| {
            if let MemoryHome::Own(key) = info.home {
                info.home = MemoryHome::Own(key + SECOND);
            }
            info.caps.wait_group = info.caps.wait_group.map(|group| WaitGroup(group.0 + SECOND));
            info
        }));
        Ok(all)
    }

    unsafe fn open(&self, index: usize, notify: Notify) -> Result<Arc<dyn Device>, HalError> {
        let first = self.0.devices().map_or(0, |devices| devices.len());
        // SAFETY: the caller's promise, passed on.
        unsafe {
            match index.checked_sub(first) {
                None => self.0.open(index, notify),
                Some(index) => self.1.open(index, notify),
            }
        }
    }
}
