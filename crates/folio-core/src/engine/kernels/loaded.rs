//! Code that a device keeps loaded for as long as something uses it: fused kernels and opaque ones.
//! The code of kernel functions is in [`kernels`](super) and stays until the device goes, as there
//! are no more of it than the program has.
//!
//! Graphs, handles of opaque kernels and operations under way own a [`LoadedKernel`]. When its last
//! owner lets go of it, the device unloads it. A [`LoadedTable`] finds it by what it is made of.
//! The store owns the latest ones, too. So a program that makes the same graph again and again
//! compiles it once.

use crate::engine::kernels::blame::Blame;
use crate::hal::{Device, KernelHandle};
use crate::panics::contain;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Weak};

/// Kernels that a device keeps although nothing uses them: some megabytes of code.
pub(super) const UNUSED_KERNELS: usize = 64;

/// Code that a device has loaded. Dropping it unloads it: not under the ledger's lock.
pub(crate) struct LoadedKernel {
    pub(crate) handle: KernelHandle,
    device: Arc<dyn Device>,
    /// Of a fused kernel: whose failures its failures are.
    pub(super) blame: Option<Blame>,
}

impl LoadedKernel {
    pub(crate) fn new(
        device: &Arc<dyn Device>,
        handle: KernelHandle,
        blame: Option<Blame>,
    ) -> LoadedKernel {
        LoadedKernel { handle, device: device.clone(), blame }
    }
}

impl Drop for LoadedKernel {
    fn drop(&mut self) {
        // Every operation and graph that names it was an owner, and has ended.
        contain(|| self.device.unload(self.handle));
    }
}

/// Loaded code by what it is made of.
pub(crate) struct LoadedTable<K> {
    known: HashMap<K, Weak<LoadedKernel>>,
    /// The kernels that were asked for last, the latest one behind.
    latest: VecDeque<Arc<LoadedKernel>>,
}

impl<K> Default for LoadedTable<K> {
    fn default() -> Self {
        LoadedTable { known: HashMap::new(), latest: VecDeque::new() }
    }
}

impl<K: Eq + Hash> LoadedTable<K> {
    /// The loaded kernel of this content.
    pub(crate) fn find(&mut self, key: &K) -> Option<Arc<LoadedKernel>> {
        let found = self.known.get(key)?.upgrade()?;
        self.latest.retain(|kept| !Arc::ptr_eq(kept, &found));
        self.keep(&found);
        Some(found)
    }

    /// Remembers what was loaded now, and forgets what is unloaded.
    pub(crate) fn add(&mut self, key: K, loaded: &Arc<LoadedKernel>) {
        self.keep(loaded);
        self.known.retain(|_, known| known.strong_count() > 0);
        self.known.insert(key, Arc::downgrade(loaded));
    }

    fn keep(&mut self, loaded: &Arc<LoadedKernel>) {
        if self.latest.len() == UNUSED_KERNELS {
            self.latest.pop_front();
        }
        self.latest.push_back(loaded.clone());
    }
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::UNUSED_KERNELS;
    use crate::engine::null::{Null, UNLOADED};
    use crate::{
        Runtime,
        opaque::{OpaqueKernel, Source},
    };

    /// The device keeps what a handle names, and the latest others.
    #[test]
    fn opaque_kernels_are_unloaded_when_nothing_uses_them() {
        let rt = Runtime::builder().backend(Null::new(1)).build().unwrap();
        let device = rt.queue_on("null:0").unwrap().device();
        let load = |n: usize| device.load(Source::Ptx("text"), &format!("k{n}")).unwrap();
        let handle = |kernel: &OpaqueKernel| kernel.loaded.handle.0;
        let unloaded = || UNLOADED.with_borrow(Vec::len);
        let (kept, dropped) = (load(0), load(1));
        let (clone, gone) = (kept.clone(), handle(&dropped));
        drop(dropped);
        (2..UNUSED_KERNELS).for_each(|n| drop(load(n)));
        assert_eq!(unloaded(), 0, "none is old");
        drop(load(UNUSED_KERNELS));
        assert_eq!(unloaded(), 0, "the oldest is used");
        drop(load(UNUSED_KERNELS + 1));
        assert_eq!(UNLOADED.take(), [gone]);
        assert_eq!(handle(&load(0)), handle(&kept), "it is found, and among the latest again");
        assert_eq!(UNLOADED.with_borrow(Vec::len), 1);
        assert_ne!(handle(&load(1)), gone, "it is loaded anew");
        drop((kept, clone));
        let last = unloaded();
        (2..UNUSED_KERNELS).for_each(|n| drop(load(n)));
        assert_eq!(unloaded() - last, UNUSED_KERNELS - 2);
    }
}
