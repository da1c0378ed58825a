//! The logical timeline of one backend: what may begin, what ends next, what is visible.
//!
//! Time is a number. Time advances by one for each look at a lane's progress, and as far as needed
//! when somebody waits. An operation begins when its dependencies have ended, ends after its
//! latency, and *has its effect at its end*: the order of effects obeys waits and lanes and nothing
//! else, so that an edge that the engine forgot shows as wrong data. `World` is a plain state
//! machine; [`crate::shared`] drives it and owns the lock.

use crate::device::DeviceSpec;
use crate::handle::{Counters, LogEntry, Violation};
use crate::ir::IrKernel;
use crate::memory::{Budget, Memory};
use crate::script::{Random, Script};
use crate::work::{Job, Op, Outcome, Phase, Work};
use folio_core::hal::{
    HalError, HalErrorKind, KernelHandle, LaneKind, Lost, MemBase, MemoryHome, Notify, Side, Tick,
    Timing,
};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::thread::ThreadId;

/// Timestamps that a lane keeps for [`folio_core::hal::Lane::timing`].
const TIMINGS: usize = 4096;
/// Nanoseconds that one logical step counts as.
const STEP_NS: u64 = 1000;

pub(crate) struct LaneState {
    pub(crate) device: u32,
    pub(crate) kind: LaneKind,
    pub(crate) held: bool,
    /// Last tick that was issued, and last one that is not held back in a batch.
    pub(crate) issued: Tick,
    pub(crate) given: Tick,
    /// Everything up to here has ended, and everything up to here is visible.
    pub(crate) ended: Tick,
    pub(crate) visible: Tick,
    /// Ticks after `visible` that have ended, and from when on each may be seen.
    unseen: VecDeque<(Tick, u64)>,
    /// Operations after `ended`, in tick order.
    pub(crate) pending: VecDeque<Op>,
    pub(crate) failures: BTreeMap<Tick, HalError>,
    pub(crate) timings: VecDeque<(Tick, Timing)>,
}

pub(crate) struct DeviceState {
    pub(crate) spec: DeviceSpec,
    pub(crate) home: MemoryHome,
    pub(crate) lost: Option<Lost>,
    pub(crate) notify: Vec<Notify>,
    /// Progress that `notify` was not told of.
    pub(crate) progressed: bool,
    /// Kernels, by the numbers of their handles.
    loaded: HashMap<u64, Arc<dyn IrKernel>>,
    ended: u64,
}

pub(crate) struct World {
    pub(crate) script: Script,
    pub(crate) now: u64,
    pub(crate) lanes: Vec<LaneState>,
    pub(crate) devices: Vec<DeviceState>,
    pub(crate) memory: Memory,
    /// Pairs for which [`folio_core::hal::Device::peer`] was called.
    pub(crate) peers: HashSet<(u32, u32)>,
    /// The thread that executes an operation just now.
    pub(crate) running: Option<ThreadId>,
    pub(crate) counters: Counters,
    pub(crate) log: Option<Vec<LogEntry>>,
    pub(crate) violations: Vec<Violation>,
    pub(crate) stop: bool,
    random: Random,
    /// Memory and closures of lost operations, to be dropped without the lock.
    pub(crate) litter: Vec<Work>,
}

impl World {
    pub(crate) fn new(script: Script, specs: Vec<DeviceSpec>, log: bool) -> World {
        let budget = |s: &DeviceSpec| Budget {
            limit: s.memory,
            max_alloc: s.max_alloc,
            in_use: 0,
            host_visible: s.host_visible(),
            links: s.has_links(),
            frame: s.frame,
        };
        let budgets = specs.iter().map(budget).collect();
        let devices = specs.into_iter().enumerate().map(|(i, spec)| DeviceState {
            home: spec.home_of(i),
            spec,
            lost: None,
            notify: Vec::new(),
            progressed: false,
            loaded: HashMap::new(),
            ended: 0,
        });
        World {
            now: 0,
            lanes: Vec::new(),
            devices: devices.collect(),
            memory: Memory::new(budgets),
            peers: HashSet::new(),
            running: None,
            counters: Counters::default(),
            log: log.then(Vec::new),
            violations: Vec::new(),
            stop: false,
            random: Random::new(script.seed.unwrap_or(0)),
            litter: Vec::new(),
            script,
        }
    }

    /// Records a breach of the contract by the engine and makes the error for it.
    pub(crate) fn violate(&mut self, rule: &'static str, detail: String) -> HalError {
        let message = format!("contract violation ({rule}): {detail}");
        self.violations.push(Violation { rule, detail });
        HalError::new(HalErrorKind::Driver, message)
    }

    pub(crate) fn lost(&self, lane: usize) -> Option<&Lost> {
        self.devices[self.lanes[lane].device as usize].lost.as_ref()
    }

    /// Whether lanes of `device` may touch memory of `other`.
    pub(crate) fn reaches(&self, device: u32, other: u32) -> bool {
        device == other
            || self.devices[device as usize].home == self.devices[other as usize].home
            || self.peers.contains(&(device, other))
    }

    /// Keeps a kernel. Handles do not come again.
    pub(crate) fn load(&mut self, device: u32, kernel: Arc<dyn IrKernel>) -> KernelHandle {
        self.counters.loads += 1;
        let handle = self.counters.loads;
        self.devices[device as usize].loaded.insert(handle, kernel);
        KernelHandle(handle)
    }

    /// Drops a kernel: a launch of it is a violation from now on.
    pub(crate) fn unload(&mut self, device: u32, handle: KernelHandle) {
        self.counters.unloads += 1;
        let Some(kernel) = self.devices[device as usize].loaded.remove(&handle.0) else {
            self.violate("what is unloaded was loaded", format!("{handle:?}"));
            return;
        };
        let mut under_way = self.lanes.iter().flat_map(|lane| &lane.pending);
        if under_way.any(|op| op.work.runs(&kernel)) {
            self.violate("what is launched stays loaded until it has ended", format!("{handle:?}"));
        }
    }

    /// The kernel of a handle.
    pub(crate) fn loaded(
        &mut self,
        device: u32,
        handle: KernelHandle,
    ) -> Result<Arc<dyn IrKernel>, HalError> {
        let found = self.devices[device as usize].loaded.get(&handle.0).cloned();
        found.ok_or_else(|| self.violate("loaded kernels are launched", format!("{handle:?}")))
    }

    /// The first unfinished operation that names `handle`.
    pub(crate) fn user_of(&self, device: u32, handle: u64) -> Option<(usize, Tick)> {
        let base = MemBase::Device { device, handle };
        self.first_that(|work| work.memory().iter().any(|(mem, _)| mem.base == base))
    }

    /// The first unfinished operation that uses some of these bytes of `handle`.
    pub(crate) fn user_of_bytes(
        &self,
        device: u32,
        handle: u64,
        bytes: &Range<u64>,
    ) -> Option<(usize, Tick)> {
        self.first_that(|work| work.uses(MemBase::Device { device, handle }, bytes))
    }

    fn first_that(&self, is: impl Fn(&Work) -> bool) -> Option<(usize, Tick)> {
        self.lanes.iter().enumerate().find_map(|(lane, state)| {
            let op = state.pending.iter().find(|op| is(&op.work))?;
            Some((lane, op.tick))
        })
    }

    /// Begins what can begin.
    pub(crate) fn start_ready(&mut self) {
        for lane in 0..self.lanes.len() {
            let window = if self.script.overlap { self.lanes[lane].pending.len() } else { 1 };
            for at in 0..window.min(self.lanes[lane].pending.len()) {
                if self.can_start(lane, at) {
                    let kind = self.lanes[lane].pending[at].kind;
                    let duration = self.script.duration(kind, &mut self.random);
                    let due = self.now.saturating_add(duration);
                    let op = &mut self.lanes[lane].pending[at];
                    op.phase = Phase::Started { due };
                    op.started = self.now;
                }
            }
        }
    }

    fn can_start(&self, lane: usize, at: usize) -> bool {
        let state = &self.lanes[lane];
        let op = &state.pending[at];
        let free = self.script.overlap && op.order == folio_core::hal::Order::Free;
        op.phase == Phase::Waiting
            && op.tick <= state.given
            && (at == 0 || free)
            && op.waits.iter().all(|&(l, t)| self.lanes[l].ended >= t)
    }

    /// Operations that are due now: lane and position.
    fn due(&self) -> impl Iterator<Item = (u64, usize, usize)> {
        // In order, only the first operation of a lane can have started.
        let window = if self.script.overlap { usize::MAX } else { 1 };
        let lanes = self.lanes.iter().enumerate().filter(|(_, state)| !state.held);
        lanes.flat_map(move |(lane, state)| {
            let ops = state.pending.iter().take(window).enumerate();
            ops.filter_map(move |(at, op)| match op.phase {
                Phase::Started { due } => Some((due, lane, at)),
                _ => None,
            })
        })
    }

    /// Something that ends now runs or drops a kernel.
    pub(crate) fn foreign_due(&self) -> bool {
        self.litter.iter().any(Work::has_code)
            || self.due().any(|(due, lane, at)| {
                let state = &self.lanes[lane];
                let device = &self.devices[state.device as usize];
                due <= self.now
                    && (state.pending[at].work.has_code()
                        || device.spec.lose_at == Some(device.ended + 1))
            })
    }

    /// Takes the operation that ends next, if one ends now.
    pub(crate) fn take_due(&mut self) -> Option<Job> {
        let (lane, at) = if self.script.seed.is_some() {
            let all: Vec<_> = self.due().filter(|(due, ..)| *due <= self.now).collect();
            let pick = self.random.below(all.len() as u64) as usize;
            all.get(pick).map(|&(_, lane, at)| (lane, at))?
        } else {
            let first = self.due().filter(|(due, ..)| *due <= self.now).min()?;
            (first.1, first.2)
        };
        let device = self.lanes[lane].device as usize;
        let next = self.devices[device].ended + 1;
        if self.devices[device].lost.is_none() && self.devices[device].spec.lose_at == Some(next) {
            self.lose(device as u32, "scripted");
            return self.take_due();
        }
        let op = &mut self.lanes[lane].pending[at];
        op.phase = Phase::Running;
        let work = std::mem::replace(&mut op.work, Work::Nothing);
        let tick = op.tick;
        self.count(lane, &work);
        let job = Job::new(lane, tick, work, &self.memory, &mut self.random);
        if let Some(what) = job.failure().map(|e| e.message.to_string()) {
            self.violate("memory is live until its users have ended", what);
        }
        Some(job)
    }

    /// Counts what is done. Returns how much it is, of what has an amount.
    fn amount(&mut self, work: &Work) -> Option<u64> {
        let c = &mut self.counters;
        Some(match work {
            Work::Copy(rects) => {
                c.copies += 1;
                c.rects += rects.len() as u64;
                for r in rects {
                    *c.direction(&r.src.base, &r.dst.base) += r.bytes();
                }
                rects.iter().map(|r| r.bytes()).sum()
            }
            Work::Fill(rects, _) => {
                let bytes = rects.iter().map(|r| r.bytes()).sum();
                c.fills += 1;
                c.filled += bytes;
                bytes
            }
            Work::Launch(launch) => {
                c.launches += 1;
                launch.geometry.items() as u64
            }
            Work::Hint(_, bytes) => {
                c.hints += 1;
                *bytes
            }
            Work::Switch(_, bytes, to) => {
                *if *to == Side::Device { &mut c.unmaps } else { &mut c.maps } += 1;
                *bytes
            }
            Work::Replay(nodes) => nodes.iter().filter_map(|node| self.amount(node)).sum(),
            // The work of a branch is not known before.
            Work::Branch(_) => 0,
            Work::Nothing => return None,
        })
    }

    fn count(&mut self, lane: usize, work: &Work) {
        let Some(amount) = self.amount(work) else { return };
        let state = &self.lanes[lane];
        let Some(op) = state.pending.iter().find(|op| op.phase == Phase::Running) else { return };
        if let Some(log) = &mut self.log {
            log.push(LogEntry {
                time: self.now,
                device: state.device,
                lane,
                kind: state.kind,
                tick: op.tick,
                op: op.kind,
                amount,
                label: op.label.to_string(),
                failed: false,
            });
        }
    }

    /// Books the end of a job.
    pub(crate) fn finish(&mut self, outcome: Outcome) {
        let Outcome { lane, tick, failure } = outcome;
        let (now, failed) = (self.now, failure.is_some());
        let state = &mut self.lanes[lane];
        let device = &mut self.devices[state.device as usize];
        device.ended += 1;
        let Some(op) = state.pending.iter_mut().find(|op| op.tick == tick) else { return };
        op.phase = Phase::Ended;
        if op.timed {
            let [queued, started, ended] = [op.queued, op.started, now].map(|t| t * STEP_NS);
            if state.timings.len() == TIMINGS {
                state.timings.pop_front();
            }
            state.timings.push_back((tick, Timing { queued, started, ended }));
        }
        if let Some(error) = failure {
            self.counters.failures += 1;
            state.failures.insert(tick, error);
        }
        let before = state.ended;
        state.retire();
        if before < state.ended {
            let from = now.saturating_add(self.script.lag(lane));
            state.unseen.push_back((state.ended, from));
        }
        let entry = self.log.as_mut().and_then(|log| log.last_mut());
        if let Some(entry) = entry.filter(|e| e.lane == lane && e.tick == tick) {
            entry.failed = failed;
        }
    }

    /// Shows what has ended, if this is a step at which it shows.
    pub(crate) fn publish(&mut self) {
        if !self.now.is_multiple_of(self.script.visible_every) && self.now < u64::MAX {
            return;
        }
        for state in &mut self.lanes {
            while let Some((tick, _)) = state.unseen.pop_front_if(|(_, from)| *from <= self.now) {
                state.visible = tick;
                self.devices[state.device as usize].progressed = true;
            }
        }
    }

    /// A thread waits for the lane: all that has ended there is seen, also what another thread that
    /// is at work has not published yet.
    pub(crate) fn show(&mut self, lane: usize) {
        let state = &mut self.lanes[lane];
        if let Some((tick, _)) = state.unseen.pop_back() {
            state.unseen.clear();
            state.visible = tick;
            self.devices[state.device as usize].progressed = true;
        }
    }

    /// When something happens next without anybody's doing; `None`: never.
    pub(crate) fn next_event(&mut self) -> Option<u64> {
        self.start_ready();
        let first = self.lanes.iter().filter_map(|lane| lane.unseen.front()).map(|(_, from)| from);
        let every = self.script.visible_every;
        let step = |from: u64| from.checked_next_multiple_of(every).unwrap_or(u64::MAX);
        let shown = first.min().map(|from| step(self.now.max(*from)));
        let due = self.due().map(|(due, ..)| due.max(self.now)).min();
        due.into_iter().chain(shown).min()
    }

    /// Takes a device away, with everything that it had not finished: nothing of that has an effect
    /// any more, but whoever waits for it still comes after what it would have come after.
    pub(crate) fn lose(&mut self, device: u32, reason: &str) {
        let Some(state) = self.devices.get_mut(device as usize) else { return };
        if state.lost.is_some() {
            return;
        }
        state.lost = Some(Lost::new(format!("{reason}: simulated loss of device {device}")));
        state.progressed = true;
        for lane in self.lanes.iter_mut().filter(|l| l.device == device) {
            let work = |op: &mut Op| std::mem::replace(&mut op.work, Work::Nothing);
            self.litter.extend(lane.pending.iter_mut().map(work));
            lane.given = lane.issued;
            lane.held = false;
        }
    }

    /// Whom to tell of progress.
    pub(crate) fn take_progress(&mut self) -> Vec<Notify> {
        let mut told = Vec::new();
        for device in &mut self.devices {
            if std::mem::take(&mut device.progressed) {
                told.extend(device.notify.iter().cloned());
            }
        }
        told
    }
}

impl LaneState {
    pub(crate) fn new(device: u32, kind: LaneKind, held: bool) -> LaneState {
        LaneState {
            device,
            kind,
            held,
            issued: 0,
            given: 0,
            ended: 0,
            visible: 0,
            unseen: VecDeque::new(),
            pending: VecDeque::new(),
            failures: BTreeMap::new(),
            timings: VecDeque::new(),
        }
    }

    /// Advances `ended` over operations that have ended.
    fn retire(&mut self) {
        while self.pending.front().is_some_and(|op| op.phase == Phase::Ended) {
            self.pending.pop_front();
            self.ended += 1;
        }
    }

    /// Failures that are visible, each once.
    pub(crate) fn take_failures(&mut self) -> BTreeMap<Tick, HalError> {
        let later = self.failures.split_off(&(self.visible + 1));
        std::mem::replace(&mut self.failures, later)
    }
}

/// The lane's error when its device is gone.
pub(crate) fn gone(lost: &Lost) -> HalError {
    HalError::new(HalErrorKind::Lost, Arc::clone(&lost.reason))
}
