//! The ledger: hazards, residency, placement and failure, under one lock.
//!
//! Everything here happens with the ledger locked, is short, and calls neither drivers nor foreign
//! code. Work that must follow (drain lanes, run host tasks, wake threads and futures, free memory)
//! is put into the [`Outbox`], and the engine does it once the lock is released.

pub(crate) mod failures;
pub(crate) mod queues;
pub(crate) mod records;
pub(crate) mod retire;
pub(crate) mod slab;
pub(crate) mod slots;
pub(crate) mod storages;
pub(crate) mod timeline;
pub(crate) mod topology;
pub(crate) mod untold;

use crate::engine::kernels::loaded::LoadedKernel;
use crate::engine::lanes::Payload;
use crate::engine::lanes::list::List;
use crate::engine::lanes::port::LaneTable;
use crate::engine::ledger::queues::Queues;
use crate::engine::ledger::records::{Record, Sources};
use crate::engine::ledger::storages::Storages;
use crate::engine::ledger::timeline::{Readiness, Timeline};
use crate::engine::ledger::topology::Topology;
use crate::engine::ledger::untold::UntoldFailures;
use crate::engine::pages::storage::{Garbage, StorageState};
use crate::engine::terms::access::StorageId;
use crate::engine::terms::budget::Budget;
use crate::engine::terms::lane::{LANES_PER_DEVICE, WaitKey};
use crate::engine::terms::note::Note;
use crate::engine::terms::staging::Staging;
use crate::error::{Cause, Failure, Label};
use crate::hal::{HalError, Link, Order, PanicPayload};
use crate::order::hazards::Deps;
use crate::order::stamp::{LaneId, SlotId, Stamp, Waits};
use crate::pages::{DomainId, Planner, Transfer};
use crate::report::Counters;
use smallvec::SmallVec;
use std::sync::Arc;
use std::task::Waker;

/// The work of a host task, and its result.
pub(crate) type HostWork = Box<dyn FnOnce() -> Result<(), TaskError> + Send>;

/// Why a host task failed.
pub(crate) enum TaskError {
    /// A failure of its own.
    Own(Cause),
    /// The failure of another operation, which the engine knows already.
    Known(Arc<Failure>),
}

impl From<Cause> for TaskError {
    fn from(cause: Cause) -> TaskError {
        TaskError::Own(cause)
    }
}

/// An operation that is to be placed.
#[derive(Default)]
pub(crate) struct NewOp {
    pub(crate) what: &'static str,
    pub(crate) label: Label,
    pub(crate) queue: Option<u32>,
    pub(crate) timed: bool,
    pub(crate) deps: Deps,
    pub(crate) storages: SmallVec<[StorageId; 4]>,
    pub(crate) staging: Option<Arc<Staging>>,
    /// Should it fail by itself, what it should have written all of may hold anything.
    pub(crate) defines: bool,
    pub(crate) nodes: Option<Arc<List>>,
    pub(crate) body: Body,
}

/// The action of an operation.
#[derive(Default)]
pub(crate) enum Body {
    /// Something on a lane.
    Lane(LaneId, Payload),
    /// A closure on a host thread.
    Host(HostWork),
    /// An action of the thread that submitted it, between
    /// [`Engine::wait_turn`](crate::engine::Engine::wait_turn) and [`Ledger::end_turn`].
    Here,
    /// Nothing: it is done when its dependencies are.
    #[default]
    Nothing,
}

/// Values that may hold something of the user's, whose drop is foreign code: to be dropped.
#[expect(dead_code, reason = "they are dropped and not looked at")]
pub(crate) enum Leftover {
    /// Of an operation that will not run.
    Body(Body),
    /// A storage that is gone, with a user's page tracker or allocator.
    Storage(Box<StorageState>),
    /// A view that is gone: the drop of its keepers gives the storage back.
    View(Box<StorageState>),
    /// A panic's payload or a task's error may be in it.
    Failure(Arc<Failure>),
    /// Of an operation that had failed before.
    Error(HalError),
    /// Of a tracker that had panicked before.
    Panic(PanicPayload),
    /// Of a replay that has ended.
    Graph(Box<List>),
    /// Of a launch that has ended, and nothing else uses it: its drop calls the driver.
    Code(LoadedKernel),
}

impl Leftover {
    pub(crate) fn is_view(&self) -> bool {
        matches!(self, Leftover::View(_))
    }
}

/// Work to be done when the ledger is free again.
#[derive(Default)]
pub(crate) struct Outbox {
    pub(crate) drain: SmallVec<[LaneId; 8]>,
    pub(crate) host: Vec<(SlotId, HostWork)>,
    pub(crate) wakers: Vec<Waker>,
    pub(crate) garbage: Vec<Garbage>,
    pub(crate) reports: Vec<Arc<Failure>>,
    pub(crate) leftovers: Vec<Leftover>,
    pub(crate) staging: Vec<Arc<Staging>>,
    pub(crate) notes: Vec<Note>,
    /// Kept until they have been told.
    pub(crate) telling: Option<Arc<()>>,
    /// Kept until the handler has been called for the reports.
    pub(crate) reporting: Option<Arc<()>>,
    /// Something that waiting threads may wait for has happened.
    pub(crate) notify: bool,
    /// Backends whose reaper must look.
    pub(crate) reapers: u64,
}

/// The facts that the ledger needs of a device; fixed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeviceFacts {
    pub(crate) domain: DomainId,
    pub(crate) key: WaitKey,
    /// Its lanes take hints.
    pub(crate) hints: bool,
}

/// Memory that planning needs beside the ledger.
#[derive(Default)]
pub(crate) struct Planning {
    pub(in crate::engine) planner: Planner,
    pub(in crate::engine) transfers: Vec<Transfer>,
    /// The stamps that the command comes after so far; kept for zeroing USM.
    pub(crate) before: Deps,
}

/// The state that the ledger lock guards.
///
/// Threads that submit take turns with it, so what it costs is, above all, the cache lines that one
/// of them writes and the next one reads or writes. A submission that goes
/// [straight](crate::engine::runs::straight) writes the lock and what belongs to its own storages,
/// lane and queue, which are aligned to lines.
#[repr(align(128))]
pub(crate) struct Ledger {
    pub(crate) storages: Storages,
    pub(crate) timeline: Timeline,
    pub(crate) topology: Topology,
    pub(crate) table: Arc<LaneTable>,
    pub(crate) queues: Queues,
    /// Failures that no call has returned yet.
    pub(crate) untold: UntoldFailures,
    pub(crate) next_guard: u64,
    /// But for launches, which queues count.
    pub(crate) counters: Counters,
    pub(crate) outbox: Outbox,
    /// The budget of the engine's own memory on the host.
    pub(crate) host_budget: Arc<Budget>,
    pub(crate) planning: Planning,
    pub(crate) shutdown: bool,
    /// Somebody listens to trace events.
    pub(crate) traced: bool,
    /// Operations that a subscriber is told of are timed by their devices.
    pub(crate) device_times: bool,
    /// Outboxes whose notes are being told have it, too.
    pub(crate) telling: Arc<()>,
    /// As many clones as outboxes with reports.
    pub(crate) reporting: Arc<()>,
}

impl Ledger {
    pub(crate) fn new(
        devices: Vec<DeviceFacts>,
        device_names: Arc<[String]>,
        host_links: Vec<Link>,
        backends: usize,
        table: Arc<LaneTable>,
    ) -> Ledger {
        let lanes = devices.len() * usize::from(LANES_PER_DEVICE);
        Ledger {
            storages: Storages::new(),
            timeline: Timeline::new(lanes, backends),
            topology: Topology::new(devices, device_names, host_links),
            table,
            queues: Queues::new(),
            untold: UntoldFailures::default(),
            next_guard: 0,
            counters: Counters::default(),
            outbox: Outbox::default(),
            host_budget: Arc::new(Budget::new(u64::MAX)),
            planning: Planning::default(),
            shutdown: false,
            traced: false,
            device_times: false,
            telling: Arc::new(()),
            reporting: Arc::new(()),
        }
    }

    /// Gives the operation a tick on its lane if everything it waits for is done or can be waited
    /// for there; otherwise keeps it in a slot until then.
    pub(crate) fn submit(&mut self, mut op: NewOp) -> Stamp {
        self.submit_at(&mut op)
    }

    /// As [`submit`](Self::submit), of an operation that is taken from where it lies.
    pub(crate) fn submit_at(&mut self, op: &mut NewOp) -> Stamp {
        self.storages.retain(&op.storages);
        let is_for_lane = matches!(op.body, Body::Lane(..));
        let (blockers, failed) = match self.timeline.sort_deps(op, &self.topology) {
            Readiness::Go { waits, sources } if is_for_lane => {
                return self.place(op, waits, sources, None);
            }
            Readiness::Go { .. } => (SmallVec::new(), None),
            Readiness::Wait { blockers, failed } => (blockers, failed),
        };
        self.counters.deferred += u64::from(is_for_lane);
        let Ledger { timeline, topology, outbox, .. } = self;
        let stamp = timeline.defer(std::mem::take(op), (&blockers, failed), topology, outbox);
        self.settle();
        stamp
    }

    /// Gives an operation its tick.
    pub(crate) fn place(
        &mut self,
        op: &mut NewOp,
        waits: Waits,
        sources: Sources,
        slot: Option<SlotId>,
    ) -> Stamp {
        let Body::Lane(lane, payload) = std::mem::take(&mut op.body) else {
            return self.nowhere(op.what, &op.label, [1; 3]);
        };
        if op.storages.iter().any(|id| self.storages[id.0].residency.is_under_pressure()) {
            self.table.expect_wait_for(self.timeline.next_stamp(lane));
        }
        let record = Record {
            what: op.what,
            label: std::mem::take(&mut op.label),
            queue: op.queue,
            storages: std::mem::take(&mut op.storages),
            sources,
            after: SmallVec::new(),
            slot,
            staging: op.staging.take(),
            defines: op.defines,
            nodes: op.nodes.take(),
            code: payload.uses().cloned(),
        };
        if !self.outbox.drain.contains(&lane) {
            self.outbox.drain.push(lane);
        }
        self.issue(lane, record, waits, op.timed, payload)
    }

    /// Puts an operation at the end of a lane, which is to be drained. If it waits for nothing
    /// there, it may overlap with what is.
    #[inline]
    pub(crate) fn issue(
        &mut self,
        lane: LaneId,
        mut record: Record,
        mut waits: Waits,
        timed: bool,
        payload: Payload,
    ) -> Stamp {
        let order = if waits.remove(lane) { Order::AfterPrevious } else { Order::Free };
        if !waits.is_empty() {
            record.after = waits.stamps().into();
        }
        let (what, label, slot) = (record.what, record.label.clone(), record.slot);
        let state = &mut self.timeline.lanes[usize::from(lane.0)];
        state.issued += 1;
        let tick = state.issued;
        state.records.push_back(record);
        let timed = timed || self.traced && self.device_times;
        if self.traced {
            let stamp = self.timeline.known_as(slot, Stamp::placed(lane, tick));
            let (label, place) = (label.clone(), (Some(lane), Some(tick)));
            self.trace(|| Note::Launch { what, label, stamp, place });
        }
        let backend = self.topology.key(lane).backend;
        if self.timeline.reaper_idle[usize::from(backend)] {
            self.timeline.call_reaper(backend, &mut self.outbox);
        }
        // SAFETY: `&mut self` is the ledger under its lock.
        unsafe { self.table.hand_over((lane, tick), (order, waits), (label, timed), payload) };
        Stamp::placed(lane, tick)
    }
}

impl Ledger {
    /// Counts something, for the runtime, a storage and a queue.
    pub(crate) fn count(
        &mut self,
        storage: Option<StorageId>,
        queue: Option<u32>,
        add: impl Fn(&mut Counters),
    ) {
        add(&mut self.counters);
        if let Some(storage) = storage.and_then(|id| self.storages.get_mut(id.0)) {
            add(&mut storage.counters);
        }
        if let Some(queue) = queue.and_then(|id| self.queues.get_mut(id)) {
            add(&mut queue.counters);
        }
    }

    /// The counts of the runtime.
    pub(crate) fn counters(&self) -> Counters {
        Counters { launches: self.queues.launches(), ..self.counters }
    }

    /// Notes something for the subscriber, if there is one that listens.
    pub(crate) fn trace(&mut self, note: impl FnOnce() -> Note) {
        if self.traced {
            self.outbox.notes.push(note());
            self.outbox.telling.get_or_insert_with(|| self.telling.clone());
        }
    }
}

/// True while an outbox other than this one has a clone of `all`.
pub(in crate::engine) fn is_out(all: &Arc<()>, own: Option<&Arc<()>>) -> bool {
    Arc::strong_count(all) > 1 + usize::from(own.is_some())
}
