//! Checks the HAL's contract at run time, from both sides.
//!
//! Of the engine: ticks, waits, memory references, shapes, and that any two operations that touch
//! the same bytes, one of them writing, are ordered (vector clocks; what a launch may touch is what
//! its parameters say). Of the backend: completion, failures, allocations, loss. Never panics and
//! never changes a call: what it finds goes to a [`Report`].
//!
//! The layer relies on seeing every call. The layer does not see what the engine learns past the
//! HAL (a host thread that touches mapped memory).

mod memory;
mod order;
mod region;
mod rule;

pub use rule::{Report, Rule, Violation};

use crate::graph::{Launched, NodeRef, Noted};
use crate::layer::{DeviceRef, HeadRef, Hooks, LaneRef, Layer};
use folio_core::hal::{
    AllocKind, AllocReq, Allocation, Backend, CopyRect, Device, FillRect, Geometry, HalError,
    KernelHandle, KernelSource, Lane, LaneKind, Link, Lost, MemBase, MemRef, MemoryHome, Notify,
    Op, Param, Tick, WaitGroup,
};
use memory::{Access, How, Memory};
use order::Lanes;
use region::Region;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

#[derive(Default)]
struct State {
    lanes: Lanes,
    memory: Memory,
    lost: HashSet<u32>,
    homes: HashMap<u32, MemoryHome>,
    groups: HashMap<u32, Option<WaitGroup>>,
    peers: HashSet<(u32, u32)>,
    loaded: HashSet<(u32, KernelHandle)>,
    /// Operations whose call returned an error, by lane, with what they wait for.
    refused: HashMap<u32, VecDeque<(Tick, Waits)>>,
    /// The waits of such operations that have ended; by their lane.
    due: Vec<(u32, Waits)>,
}

type Waits = Vec<(Arc<dyn Lane>, Tick)>;

impl State {
    /// A lane shows the end of a tick.
    fn end_refused(&mut self, lane: u32, completed: Tick) {
        let Some(refused) = self.refused.get_mut(&lane) else { return };
        while let Some((_, waits)) = refused.pop_front_if(|(tick, _)| *tick <= completed) {
            self.due.push((lane, waits));
        }
    }
}

/// A layer that checks the contract.
#[derive(Default)]
pub struct Validate {
    report: Report,
    state: Mutex<State>,
}

/// A memory operand as its operation names it.
struct Operand {
    mem: MemRef,
    region: Option<Region>,
    how: How,
    /// An empty one is legal: a parameter that a launch does not touch.
    may_be_empty: bool,
    /// Which of a graph's nodes has it.
    node: usize,
}

impl Operand {
    /// So many bytes in a row.
    fn bytes(mem: MemRef, bytes: u64, how: How) -> Operand {
        Operand::rect(mem, [bytes; 2], [1, 1, bytes], how)
    }

    fn rect(mem: MemRef, pitch: [u64; 2], extent: [u64; 3], how: How) -> Operand {
        Operand { mem, region: Region::new(0, pitch, extent), how, may_be_empty: false, node: 0 }
    }
}

impl Validate {
    /// With an empty report.
    pub fn new() -> Validate {
        Validate::default()
    }

    /// The layer's report.
    pub fn report(&self) -> Report {
        self.report.clone()
    }

    /// Around this backend.
    pub fn over(self, inner: impl Backend) -> Layer<Validate> {
        Layer::new(self, Arc::new(inner))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that what refused operations waited for has been reached, of those that have ended. A
    /// lane may show its ends late, so it is waited for, and only where the engine holds no lock.
    fn check_refused(&self) {
        // Without the layer's own lock, too: a wait may run kernels.
        let due = std::mem::take(&mut self.lock().due);
        for (lane, waits) in due {
            for (other, tick) in waits {
                if other.wait(tick, Some(Instant::now())) == Ok(false) {
                    let what = format!("a refused tick of lane {lane} did not wait for {tick}");
                    self.report.add(Rule::BackendCompleted, what);
                }
            }
        }
    }

    /// Operands may be of the nodes of a graph.
    fn begin(&self, lane: &LaneRef, head: &HeadRef<'_>, operands: Vec<Operand>, nodes: &[NodeRef]) {
        let mut state = self.lock();
        self.check_head(&mut state, lane, head);
        let Some(clock) = state.lanes.issue(lane.id, head.inner.order, head.waits) else { return };
        let Some(tick) = state.lanes.get(lane.id).map(|l| l.issued) else { return };
        let in_flight = tick - state.lanes.host.get(lane.id);
        let lost = state.lost.contains(&lane.device.index);
        if in_flight > u64::from(lane.device.inner.info().caps.max_in_flight) && !lost {
            self.report.add(Rule::InFlight, format!("{in_flight} on lane {}", lane.id));
        }
        if lost {
            // The device will refuse the operation, and its memory may be gone.
            return;
        }
        let accesses = self.locate(&state, lane, operands);
        // The steps of a conditional node run one after the other.
        let in_turn = |node: usize| {
            nodes.get(node).is_some_and(|node| matches!(node.does, Noted::Branch(..)))
        };
        for (i, (node, a)) in accesses.iter().enumerate() {
            let clash = accesses[..i].iter().find(|(other, b)| {
                let ordered = nodes.get(*node).is_some_and(|node| node.comes_after(*other));
                let touches = a.how.conflicts(b.how) && a.space == b.space;
                !ordered && touches && a.region.overlaps(&b.region)
            });
            let what = format!("operand {i} of tick {tick} of lane {}", lane.id);
            if let Some((other, _)) = clash.filter(|(other, _)| other != node) {
                let what = format!("{what}, of node {node}, and node {other}, unordered");
                self.report.add(Rule::Race, what);
            } else if clash.is_some() && !in_turn(*node)
                || (a.how == How::Writes && a.region.overlaps_itself())
            {
                self.report.add(Rule::Alias, what);
            }
        }
        let State { lanes, memory, lost, .. } = &mut *state;
        let ended = |lane, tick| lanes.ended(lane, tick, lost);
        for (_, access) in accesses {
            memory.touch(access, (lane.id, tick), &clock, ended, &self.report);
        }
    }

    fn check_head(&self, state: &mut State, lane: &LaneRef, head: &HeadRef<'_>) {
        let Some(known) = state.lanes.get(lane.id) else { return };
        if std::mem::replace(&mut known.in_call, true) {
            self.report.add(Rule::Concurrent, format!("two calls at once on lane {}", lane.id));
        }
        let (next, tick) = (known.issued + 1, head.inner.tick);
        if tick != next {
            let what = format!("lane {} expects tick {next}, not {tick}", lane.id);
            self.report.add(Rule::Ticks, what);
        }
        let group = lane.device.inner.info().caps.wait_group;
        for (&(other, tick), wait) in head.waits.iter().zip(head.inner.waits) {
            let Some((id, known)) = other.and_then(|id| Some((id, state.lanes.get(id)?))) else {
                let what =
                    format!("lane {} waits for a lane of another group at {}", lane.id, wait.tick);
                self.report.add(Rule::WaitGroup, what);
                continue;
            };
            if tick > known.returned {
                let what = format!("lane {} waits for tick {tick} of lane {id}", lane.id);
                self.report.add(Rule::WaitIssued, what);
            }
            if id != lane.id && (group.is_none() || state.groups.get(&id) != Some(&group)) {
                let what = format!("lane {} waits for lane {id}", lane.id);
                self.report.add(Rule::WaitGroup, what);
            }
        }
    }

    /// Where the operands are, and which node has each. Reports those that are nowhere.
    fn locate(
        &self,
        state: &State,
        lane: &LaneRef,
        operands: Vec<Operand>,
    ) -> Vec<(usize, Access)> {
        let mut out = Vec::with_capacity(operands.len());
        for Operand { mem, region, how, may_be_empty, node } in operands {
            let Some(region) = region else {
                if !may_be_empty {
                    self.report.add(Rule::Shape, format!("on lane {}: {mem:?}", lane.id));
                }
                continue;
            };
            if let MemBase::Device { device, .. } = mem.base {
                let (from, to) = (lane.device.index, device);
                let shared = state.homes.get(&from) == state.homes.get(&to);
                if from != to && !shared && !state.peers.contains(&(from, to)) {
                    let what = format!("device {from} does not reach device {to}");
                    self.report.add(Rule::Reach, what);
                }
            }
            if let Some((space, region)) = state.memory.locate(&mem, region, &self.report) {
                out.push((node, Access { space, region, how }));
            }
        }
        out
    }

    /// The rules for an operation, whatever came before. Returns its operands.
    fn check_op(&self, lane: &LaneRef, op: &Noted) -> Vec<Operand> {
        if let Noted::Branch(..) = op {
            self.report.add(Rule::Caps, "a condition on a lane".to_owned());
            return Vec::new();
        }
        self.check_noted(lane, op);
        operands_of(op)
    }

    /// The rules for the work of an operation or of a node.
    fn check_noted(&self, lane: &LaneRef, noted: &Noted) {
        let (caps, device) = (&lane.device.inner.info().caps, lane.device.index);
        match noted {
            Noted::Copy(_) | Noted::Join => {}
            Noted::Fill(rects, pattern) => {
                let whole = |r: &FillRect| r.extent[2].checked_rem(pattern.len() as u64) == Some(0);
                if !rects.iter().all(whole) {
                    let what = format!("{} pattern bytes in {rects:?}", pattern.len());
                    self.report.add(Rule::Shape, what);
                }
            }
            Noted::Launch(kernel, geometry, params) => {
                self.check_launch(lane, *kernel, geometry, params);
            }
            Noted::Hint(_, _, hint) => {
                if !caps.hints {
                    self.report.add(Rule::Caps, format!("{hint:?} on device {device}"));
                }
            }
            Noted::Switch(_, _, to) => {
                if caps.links.is_none() {
                    self.report.add(Rule::Caps, format!("{to:?} on device {device}"));
                }
            }
            Noted::Replay(nodes) => nodes.iter().for_each(|node| self.check_noted(lane, node)),
            Noted::Branch(_, bytes, steps) => {
                if !caps.conditions || ![1, 2, 4, 8].contains(bytes) {
                    let what = format!("a condition of {bytes} bytes");
                    self.report.add(Rule::Caps, what);
                }
                steps.iter().for_each(|step| self.check_noted(lane, step));
            }
        }
    }

    fn check_launch(&self, lane: &LaneRef, what: Launched, geometry: &Geometry, params: &[Param]) {
        let (caps, device) = (&lane.device.inner.info().caps, lane.device.index);
        let runs = match what {
            Launched::Native => caps.closures,
            Launched::Loaded(handle) => self.lock().loaded.contains(&(device, handle)),
            Launched::Foreign => caps.native.is_some(),
        };
        if !runs {
            self.report.add(Rule::Caps, format!("{what:?} on device {device}"));
        }
        if params.len() > caps.max_params {
            self.report.add(Rule::Caps, format!("{} parameters", params.len()));
        }
        let divides = geometry.group.is_none_or(|group| {
            (0..3).all(|d| group[d] > 0 && geometry.range[d].is_multiple_of(group[d]))
        });
        let fits = folio_core::geom::checked_volume(geometry.range).is_some_and(|n| n > 0);
        if !divides || !fits || !(1..=3).contains(&geometry.rank) {
            self.report.add(Rule::Shape, format!("{geometry:?}"));
        }
    }

    /// How far the lane has said that it is, and whether its device has been lost.
    fn before(&self, lane: &LaneRef) -> (Tick, bool) {
        let mut state = self.lock();
        let said = state.lanes.get(lane.id).map_or(0, |l| l.said);
        (said, state.lost.contains(&lane.device.index))
    }

    fn lose(&self, lane: &LaneRef) {
        self.lock().lost.insert(lane.device.index);
    }

    /// `lost`: the device was, before a call that did not say so.
    fn check_not_lost(&self, lane: &LaneRef, lost: bool) {
        if lost {
            let what = format!("device {} was lost, and lane {} lives", lane.device.index, lane.id);
            self.report.add(Rule::BackendLoss, what);
        }
    }
}

/// The operands of an operation; of a replay, those of its nodes by number.
fn operands_of(noted: &Noted) -> Vec<Operand> {
    match noted {
        Noted::Copy(rects) => {
            let both = |r: &CopyRect| {
                let from = Operand::rect(r.src, r.src_pitch, r.extent, How::Reads);
                [from, Operand::rect(r.dst, r.dst_pitch, r.extent, How::Writes)]
            };
            rects.iter().flat_map(both).collect()
        }
        Noted::Fill(rects, _) => {
            rects.iter().map(|r| Operand::rect(r.dst, r.pitch, r.extent, How::Writes)).collect()
        }
        Noted::Launch(_, _, params) => params.iter().map(operand_of).collect(),
        Noted::Hint(mem, bytes, _) => vec![Operand::bytes(*mem, *bytes, How::Names)],
        Noted::Switch(mem, bytes, _) => vec![Operand::bytes(*mem, *bytes, How::Writes)],
        Noted::Replay(nodes) => {
            let all = nodes.iter().enumerate().flat_map(|(at, node)| {
                let operands = operands_of(node);
                operands.into_iter().map(move |operand| Operand { node: at, ..operand })
            });
            all.collect()
        }
        Noted::Branch(value, bytes, steps) => {
            let value = Operand::bytes(*value, *bytes, How::Reads);
            std::iter::once(value).chain(steps.iter().flat_map(operands_of)).collect()
        }
        Noted::Join => Vec::new(),
    }
}

fn operand_of(param: &Param) -> Operand {
    // Located relative to its reference, which holds the offset already.
    let region = Region::of_param(param).map(|r| r.at(r.start - param.mem.offset));
    let empty = param.extent.contains(&0) && param.size > 0;
    Operand { mem: param.mem, region, how: How::of(param.write), may_be_empty: empty, node: 0 }
}

// SAFETY: passes every call on as it is.
unsafe impl Hooks for Validate {
    unsafe fn open(
        &self,
        inner: &dyn Backend,
        index: usize,
        notify: Notify,
    ) -> Result<Arc<dyn Device>, HalError> {
        // SAFETY: the caller's promise.
        let device = unsafe { inner.open(index, notify) }?;
        self.lock().homes.insert(index as u32, device.info().home);
        Ok(device)
    }

    fn lane(
        &self,
        device: &DeviceRef,
        id: u32,
        kind: LaneKind,
        priority: i8,
    ) -> Result<Arc<dyn Lane>, HalError> {
        let lane = device.inner.lane(kind, priority)?;
        let mut state = self.lock();
        state.lanes.add(id, device.index);
        state.groups.insert(id, device.inner.info().caps.wait_group);
        Ok(lane)
    }

    fn peer(&self, device: &DeviceRef, other: &DeviceRef) -> Option<Link> {
        let link = device.inner.peer(&*other.inner)?;
        self.lock().peers.insert((device.index, other.index));
        Some(link)
    }

    fn load(
        &self,
        device: &DeviceRef,
        source: &KernelSource<'_>,
    ) -> Result<KernelHandle, HalError> {
        let handle = device.inner.load(source)?;
        self.lock().loaded.insert((device.index, handle));
        Ok(handle)
    }

    fn unload(&self, device: &DeviceRef, handle: KernelHandle) {
        if !self.lock().loaded.remove(&(device.index, handle)) {
            self.report.add(Rule::Caps, format!("unloads {handle:?} of device {}", device.index));
        }
        device.inner.unload(handle);
    }

    fn alloc(&self, device: &DeviceRef, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        if req.size == 0 || !req.align.is_power_of_two() {
            self.report.add(Rule::Request, format!("{req:?}"));
        }
        if req.linked {
            let links = device.inner.info().caps.links.is_some();
            if !links || req.kind != AllocKind::Device {
                self.report.add(Rule::Caps, format!("{req:?} on device {}", device.index));
            }
        }
        if req.exported && (!device.inner.info().caps.exports || req.kind != AllocKind::Device) {
            self.report.add(Rule::Caps, format!("{req:?} on device {}", device.index));
        }
        let made = device.inner.usm().alloc(req)?;
        if req.zeroed && !made.zeroed {
            self.report.add(Rule::BackendMemory, format!("{req:?} was given {made:?}"));
        }
        self.lock().memory.alloc(device.index, req, &made, &self.report);
        Ok(made)
    }

    fn reserve(&self, device: &DeviceRef, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        let plain = req.import.is_none() && !req.zeroed && !req.linked && !req.exported;
        let frames = device.inner.info().caps.frame.is_some();
        if !frames || !plain || req.kind != AllocKind::Device {
            self.report.add(Rule::Caps, format!("reserves {req:?} on device {}", device.index));
        }
        let made = device.inner.usm().reserve(req)?;
        self.lock().memory.alloc(device.index, req, &made, &self.report);
        Ok(made)
    }

    fn free(&self, device: &DeviceRef, handle: u64) {
        {
            let mut state = self.lock();
            let State { lanes, memory, lost, .. } = &mut *state;
            let ended = |lane, tick| lanes.ended(lane, tick, lost);
            memory.free(device.index, handle, ended, &self.report);
        }
        device.inner.usm().free(handle);
    }

    fn operation(&self, lane: &LaneRef, head: &HeadRef<'_>, op: Op<'_>) -> Result<(), HalError> {
        let operands = self.check_op(lane, &Noted::of(op, head.nodes));
        self.begin(lane, head, operands, head.nodes);
        let out = lane.inner.enqueue(&head.inner, op);
        let mut state = self.lock();
        let refused = out.is_err();
        if let Some(known) = state.lanes.get(lane.id) {
            known.in_call = false;
            known.returned = known.issued;
            if refused {
                known.told.insert(head.inner.tick);
            }
        }
        if refused {
            state.memory.untouch(lane.id, head.inner.tick);
            let waits = head.inner.waits.iter().map(|w| (w.lane.clone(), w.tick)).collect();
            state.refused.entry(lane.id).or_default().push_back((head.inner.tick, waits));
        }
        out
    }

    fn completed(&self, lane: &LaneRef) -> Result<Tick, Lost> {
        let (floor, lost) = self.before(lane);
        let tick = lane.inner.completed().inspect_err(|_| self.lose(lane))?;
        self.check_not_lost(lane, lost);
        let mut state = self.lock();
        state.end_refused(lane.id, tick);
        let issued = state.lanes.get(lane.id).map_or(0, |l| l.issued);
        if tick < floor || tick > issued {
            let what = format!("lane {}: {tick}, not in {floor}..={issued}", lane.id);
            self.report.add(Rule::BackendCompleted, what);
        }
        state.lanes.seen(lane.id, tick.min(issued));
        Ok(tick)
    }

    fn wait(&self, lane: &LaneRef, tick: Tick, until: Option<Instant>) -> Result<bool, Lost> {
        let issued = self.lock().lanes.get(lane.id).map_or(0, |l| l.issued);
        if tick > issued {
            let what = format!("the host waits for tick {tick} of {issued} of lane {}", lane.id);
            self.report.add(Rule::WaitIssued, what);
        }
        let (_, lost) = self.before(lane);
        let reached = lane.inner.wait(tick, until).inspect_err(|_| self.lose(lane))?;
        self.check_not_lost(lane, lost);
        if reached {
            let mut state = self.lock();
            state.end_refused(lane.id, tick);
            state.lanes.seen(lane.id, tick.min(issued));
        }
        self.check_refused();
        Ok(reached)
    }

    fn flush(&self, lane: &LaneRef) {
        lane.inner.flush();
        self.check_refused();
    }

    fn drive(&self, lane: &LaneRef) {
        lane.inner.drive();
        self.check_refused();
    }

    fn failures(&self, lane: &LaneRef, sink: &mut dyn FnMut(Tick, HalError)) {
        let mut last = 0;
        lane.inner.failures(&mut |tick, error| {
            let mut state = self.lock();
            let known = state.lanes.get(lane.id);
            let right = known.is_some_and(|l| tick <= l.issued && l.told.insert(tick));
            drop(state);
            if !right || tick <= last {
                let what = format!("tick {tick} of lane {} after {last}: {error}", lane.id);
                self.report.add(Rule::BackendFailure, what);
            }
            last = tick;
            sink(tick, error);
        });
    }
}
