//! Lanes in the ledger: the operations under way on each, and what waits for their ticks.

use crate::engine::kernels::loaded::LoadedKernel;
use crate::engine::lanes::list::List;
use crate::engine::terms::access::StorageId;
use crate::engine::terms::staging::Staging;
use crate::error::Label;
use crate::hal::{HalError, Tick};
use crate::order::hazards::Flow;
use crate::order::stamp::{LaneId, SlotId, Stamp};
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::Arc;
use std::task::Waker;

/// An operation on its lane, remembered until it is done.
pub(crate) struct Record {
    pub(crate) what: &'static str,
    pub(crate) label: Label,
    pub(crate) queue: Option<u32>,
    /// The storages that it keeps alive; of a list, none beside those of its nodes.
    pub(in crate::engine) storages: SmallVec<[StorageId; 4]>,
    pub(crate) sources: Sources,
    /// Ticks of other lanes that it waited for there.
    pub(crate) after: SmallVec<[Stamp; 4]>,
    /// The slot in which it waited, whose stamp others may know.
    pub(crate) slot: Option<SlotId>,
    /// Memory that only this operation uses.
    pub(crate) staging: Option<Arc<Staging>>,
    /// Should it fail by itself, its memory is spoilt.
    pub(crate) defines: bool,
    /// Of a replay: what has its nodes, and their names.
    pub(crate) nodes: Option<Arc<List>>,
    /// Of a launch: the code that must stay loaded meanwhile.
    pub(crate) code: Option<Arc<LoadedKernel>>,
}

impl Record {
    /// The storages that it keeps alive, its nodes' included.
    pub(in crate::engine) fn storages(&self) -> impl Iterator<Item = StorageId> {
        let of_nodes = self.nodes.as_ref().filter(|_| self.storages.is_empty());
        let of_nodes = of_nodes.into_iter().flat_map(|nodes| nodes.storages());
        self.storages.iter().copied().chain(of_nodes)
    }

    /// The code that it runs, of what the device unloads when nothing uses it.
    pub(super) fn code(&self) -> impl Iterator<Item = &Arc<LoadedKernel>> {
        self.code.iter().chain(self.nodes.iter().flat_map(|nodes| nodes.code()))
    }

    /// The operation keeps another storage alive, too.
    pub(in crate::engine) fn share(&mut self, storage: StorageId) {
        if self.storages.is_empty() {
            self.storages = self.storages().collect();
        }
        self.storages.push(storage);
    }
}

/// From whom failure may reach an operation.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// Any.
    pub(crate) uses: SmallVec<[Stamp; 4]>,
    /// Only if it spoilt memory.
    pub(crate) keeps: SmallVec<[Stamp; 2]>,
}

impl Sources {
    pub(crate) fn add(&mut self, stamp: Stamp, flow: Flow) {
        if flow.has(Flow::USES) {
            self.uses.push(stamp);
        } else if flow.has(Flow::KEEPS) {
            self.keeps.push(stamp);
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Stamp> {
        self.uses.iter().chain(&self.keeps).copied()
    }
}

/// The room that an idle lane keeps, in records.
const USUAL_BACKLOG: usize = 1024;

/// A lane in the ledger.
#[repr(align(128))]
pub(crate) struct LaneState {
    /// Ticks given out.
    pub(crate) issued: Tick,
    /// Ticks whose operations have been accounted for.
    pub(crate) retired: Tick,
    /// The operations in between, oldest first.
    pub(crate) records: VecDeque<Record>,
    /// Slots that wait for ticks, and what travels there.
    pub(crate) watches: BinaryHeap<Reverse<(Tick, u32, Flow)>>,
    /// Futures that wait for ticks.
    pub(crate) wakers: BTreeMap<Tick, Vec<Waker>>,
    /// Failures that the backend told and that are not accounted for yet, in tick order.
    pub(crate) reported: VecDeque<(Tick, HalError)>,
    /// A tick of another lane. The next operation here has ended, and is retired after that tick.
    pub(crate) held: Option<(LaneId, Tick)>,
}

impl LaneState {
    pub(crate) const fn new() -> LaneState {
        LaneState {
            issued: 0,
            retired: 0,
            records: VecDeque::new(),
            watches: BinaryHeap::new(),
            wakers: BTreeMap::new(),
            reported: VecDeque::new(),
            held: None,
        }
    }

    pub(crate) fn idle(&self) -> bool {
        self.issued == self.retired
    }

    /// Gives back the room that a large backlog has taken, once the lane is idle.
    pub(super) fn shrink(&mut self) {
        if self.idle() && self.records.capacity() > USUAL_BACKLOG {
            self.records.shrink_to(USUAL_BACKLOG);
            self.watches.shrink_to(USUAL_BACKLOG);
        }
    }
}
