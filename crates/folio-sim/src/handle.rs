//! A test's view of a simulated backend: counts, a log, violations; and how it interferes.

use crate::shared::Core;
use folio_core::hal::{LaneKind, MemBase, OpKind, Tick};
use std::fmt;
use std::sync::Arc;

/// A breach of the HAL contract by the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule that should hold.
    pub rule: &'static str,
    /// The breach of it.
    pub detail: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.detail)
    }
}

/// An executed operation, in the order of effects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// Logical time of its end.
    pub time: u64,
    /// Its lane's device.
    pub device: u32,
    /// Its lane, counted from 0 in the order of creation.
    pub lane: usize,
    /// The lane's kind.
    pub kind: LaneKind,
    /// Its tick.
    pub tick: Tick,
    /// Its kind.
    pub op: OpKind,
    /// Bytes of copies, fills, hints and switches, items of launches.
    pub amount: u64,
    /// Its label.
    pub label: String,
    /// Whether it failed.
    pub failed: bool,
}

/// The executed operations so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Copy operations, and rectangles in them.
    pub copies: u64,
    /// Rectangles of all copies.
    pub rects: u64,
    /// Bytes from host to device.
    pub uploaded: u64,
    /// Bytes from device to host.
    pub downloaded: u64,
    /// Bytes from one device to another.
    pub peer: u64,
    /// Bytes inside one device, or inside the host.
    pub local: u64,
    /// Fill operations.
    pub fills: u64,
    /// Bytes filled.
    pub filled: u64,
    /// Launches.
    pub launches: u64,
    /// Hints.
    pub hints: u64,
    /// Linked memory given to the host.
    pub maps: u64,
    /// Linked memory given back to the device.
    pub unmaps: u64,
    /// Operations that failed when they ran.
    pub failures: u64,
    /// Allocations made.
    pub allocs: u64,
    /// Allocations given back.
    pub frees: u64,
    /// Budgets that a device was told.
    pub trims: u64,
    /// Kernels loaded.
    pub loads: u64,
    /// Kernels unloaded.
    pub unloads: u64,
}

impl Counters {
    pub(crate) fn direction(&mut self, src: &MemBase, dst: &MemBase) -> &mut u64 {
        use MemBase::{Device, Host};
        match (src, dst) {
            (Host(_), Device { .. }) => &mut self.uploaded,
            (Device { .. }, Host(_)) => &mut self.downloaded,
            (Device { device: a, .. }, Device { device: b, .. }) if a != b => &mut self.peer,
            _ => &mut self.local,
        }
    }
}

/// Controls and observes a [`crate::SimBackend`]; made by [`crate::SimBackend::handle`].
#[derive(Clone)]
pub struct SimHandle(pub(crate) Arc<Core>);

impl fmt::Debug for SimHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SimHandle").field(&self.0.name).finish()
    }
}

impl SimHandle {
    /// Takes `device` away: what it has not finished never ends. A device that is not there cannot
    /// be lost, nor held.
    pub fn lose(&self, device: u32) {
        self.0.shared.lose(device);
    }

    /// Lets no operation of this device's lanes of `kind` end, until [`SimHandle::release`]. Also
    /// for lanes made later.
    pub fn hold(&self, device: u32, kind: LaneKind) {
        self.set_held(device, kind, true);
    }

    /// Ends a [`SimHandle::hold`].
    pub fn release(&self, device: u32, kind: LaneKind) {
        self.set_held(device, kind, false);
    }

    fn set_held(&self, device: u32, kind: LaneKind, on: bool) {
        self.0.shared.change(|world| {
            let Some(state) = world.devices.get_mut(device as usize) else { return };
            let held = &mut state.spec.held;
            held.retain(|k| *k != kind);
            if on {
                held.push(kind);
            }
            for lane in world.lanes.iter_mut().filter(|l| l.device == device && l.kind == kind) {
                lane.held = on;
            }
        });
    }

    /// Lets `n` steps of logical time pass.
    pub fn step(&self, n: u64) {
        for _ in 0..n {
            self.0.shared.step();
        }
    }

    /// The logical time.
    pub fn now(&self) -> u64 {
        self.0.shared.lock().now
    }

    /// Operations of `device` that were issued and have not ended.
    pub fn pending(&self, device: u32) -> usize {
        let world = self.0.shared.lock();
        world.lanes.iter().filter(|l| l.device == device).map(|l| l.pending.len()).sum()
    }

    /// The executed operations, in order. Empty unless [`crate::Builder::log`] asked for it.
    pub fn log(&self) -> Vec<LogEntry> {
        self.0.shared.lock().log.clone().unwrap_or_default()
    }

    /// Sums of what was executed.
    pub fn counters(&self) -> Counters {
        self.0.shared.lock().counters
    }

    /// Breaches of the contract so far. Also looks for writes to freed memory.
    pub fn violations(&self) -> Vec<Violation> {
        self.0.shared.change(|world| {
            for what in world.memory.sweep(Some(0)) {
                world.violate("freed memory is not touched", what);
            }
            world.violations.clone()
        })
    }

    /// How many allocations are live, and their bytes.
    pub fn live_allocations(&self) -> (usize, u64) {
        self.0.shared.lock().memory.live()
    }

    /// The labels of live allocations, oldest first.
    pub fn live_labels(&self) -> Vec<String> {
        self.0.shared.lock().memory.labels()
    }
}
