//! The graphs of devices, and when their nodes may be exchanged.
//!
//! A backend exchanges a node for the replays that it is given from then on. A replay that the
//! engine holds back has not been given to it, and would do what was meant for a later one. Nodes
//! are exchanged only while no submitted replay of the graph is on its way. Each exchange makes
//! another version: commands of an earlier one are refused, and made again.

use crate::engine::lanes::list::List;
use crate::hal::Graph;
use crate::order::stamp::Stamp;
use crate::planted::{Plant, Planted};
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// A graph of a device, of which several [`List`]s are versions.
pub(crate) struct Native {
    pub(crate) graph: Arc<dyn Graph>,
    /// The version that its nodes are of. Changes under the ledger's lock.
    version: AtomicU64,
    /// Replays that were submitted, and that no native lane has been given.
    on_their_way: AtomicU64,
    /// The latest replay. Another one comes after it: a device may keep what a replay does in one
    /// place.
    latest: Mutex<Stamp>,
}

impl Native {
    pub(crate) fn new(graph: Arc<dyn Graph>) -> Native {
        let [version, on_their_way] = [0; 2].map(AtomicU64::new);
        Native { graph, version, on_their_way, latest: Mutex::new(Stamp::DONE) }
    }

    /// The latest replay. To be called under the ledger's lock.
    pub(in crate::engine) fn latest(&self) -> Stamp {
        *self.latest.lock()
    }

    /// A replay is this operation. To be called under the ledger's lock.
    pub(in crate::engine) fn note_latest(&self, stamp: Stamp) {
        *self.latest.lock() = stamp;
    }

    /// The version that its nodes are of, or will be when an exchange has ended.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Relaxed)
    }

    /// All replays that were submitted have been given to a native lane.
    pub(crate) fn is_idle(&self) -> bool {
        self.on_their_way.load(Ordering::Acquire) == 0
    }

    /// Begins an exchange of this version, whose commands are refused from now on. Returns the
    /// number of the next version; nothing if a replay is on its way, or another exchange came
    /// first. To be called under the ledger's lock.
    pub(crate) fn begin_exchange(&self, version: u64, plant: Plant) -> Option<u64> {
        // What a lane has been given comes before what the backend is told next.
        let may = self.is_idle() || plant.is(Planted::EarlyExchange);
        if !may || self.version() != version {
            return None;
        }
        self.version.store(version + 1, Ordering::Relaxed);
        Some(version + 1)
    }
}

/// A replay on its way to a native lane.
pub(crate) struct Replaying(Arc<List>);

impl Replaying {
    /// To be called under the ledger's lock.
    pub(crate) fn new(list: Arc<List>) -> Replaying {
        list.native.on_their_way.fetch_add(1, Ordering::Relaxed);
        Replaying(list)
    }

    pub(crate) fn list(&self) -> &List {
        &self.0
    }

    pub(crate) fn graph(&self) -> &Arc<dyn Graph> {
        &self.0.native.graph
    }

    /// The native lane has been given it.
    pub(crate) fn given(self) -> Arc<List> {
        self.0.clone()
    }
}

impl Drop for Replaying {
    fn drop(&mut self) {
        self.0.native.on_their_way.fetch_sub(1, Ordering::Release);
    }
}
