//! The way of one command through the ledger: checks that change nothing, then transfers, fills,
//! dependencies and the action itself, then what the pages are from now on.

use super::access::{Access, Mode};
use super::lanes::{Payload, Promise};
use super::ledger::{Body, COMPUTE_LANES, LANES_PER_DEVICE, Ledger, NewOp, outcome};
use super::staging::Staging;
use super::stamp::{LaneId, Stamp, When};
use super::storage::StorageId;
use super::transfer::{CopyJob, For};
use crate::error::{Cause, Error, Label};
use crate::geom::{Box3, Dims, linear};
use crate::graph::hazards::{Deps, Outcome, Writing, add_dep, tidy};
use crate::hal::{
    CopyRect, FillRect, Geometry, HostPtr, KernelRef, MemBase, MemRef, NativeKernel, Param,
    ParamPtr,
};
use crate::pages::{DomainId, DomainSet};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// A command, checked as far as that goes without the ledger.
pub(crate) struct Command {
    pub(crate) queue: Option<u32>,
    pub(crate) in_order: bool,
    /// Where it runs; `None`: on the host.
    pub(crate) device: Option<u16>,
    pub(crate) label: Label,
    pub(crate) timed: bool,
    pub(crate) accesses: SmallVec<[Access; 4]>,
    pub(crate) after: SmallVec<[Stamp; 4]>,
    pub(crate) action: Action,
}

/// Memory in the shape in which a command sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// All of it, in elements.
    pub(crate) dims: Dims,
    pub(crate) element_bytes: usize,
    /// What the command uses of it.
    pub(crate) part: Box3,
}

impl Shape {
    fn offset(&self) -> u64 {
        (linear(self.dims, self.part.min) * self.element_bytes) as u64
    }

    fn pitch(&self) -> [u64; 2] {
        let row = self.dims[2] * self.element_bytes;
        [(row * self.dims[1]) as u64, row as u64]
    }

    fn extent(&self) -> [u64; 3] {
        let e = self.part.extent();
        [e[0] as u64, e[1] as u64, (e[2] * self.element_bytes) as u64]
    }
}

/// One end of a copy.
pub(crate) enum End {
    /// An access, by its position.
    Access(usize),
    /// Host memory that the command owns.
    Host(Arc<Staging>),
}

/// A host task, before it knows its memory.
pub(crate) type HostBody = Box<dyn FnOnce(&[ParamPtr]) -> Result<(), Cause> + Send>;

/// What a command does.
pub(crate) enum Action {
    /// A kernel; each parameter is an access and its shape.
    Launch { kernel: NativeKernel, geometry: Geometry, params: SmallVec<[(usize, Shape); 4]> },
    /// A copy from the first to the second.
    Copy { from: (End, Shape), to: (End, Shape) },
    /// A fill of an access.
    Fill { access: usize, shape: Shape, pattern: SmallVec<[u8; 16]> },
    /// A closure on the host, over these accesses.
    Task { body: HostBody, params: SmallVec<[(usize, Shape); 4]> },
    /// Only that the data is there, or that everything before is done.
    Nothing,
}

impl Action {
    fn name(&self) -> &'static str {
        match self {
            Action::Launch { .. } => "kernel",
            Action::Copy { .. } => "copy",
            Action::Fill { .. } => "fill",
            Action::Task { .. } => "host task",
            Action::Nothing => "barrier",
        }
    }
}

impl Ledger {
    /// What speaks against a command. Changes nothing.
    pub(crate) fn check(&self, command: &Command) -> Result<(), Error> {
        if self.shutdown {
            return Err(Error::ShutDown);
        }
        for access in &command.accesses {
            let storage = &self.storages[access.storage.0];
            if storage.closed {
                return Err(Error::ScopeEnded { label: storage.label.clone() });
            }
            if !storage.guards.is_empty() {
                let pages = storage.grid.pages_of(&access.elements);
                if storage.held(&pages, access.mode.writes()) {
                    return Err(Error::HostAccessHeld { buffer: storage.label.clone() });
                }
            }
        }
        Ok(())
    }

    /// The allocations that a command needs and that are not there.
    pub(crate) fn missing(&self, accesses: &[Access]) -> SmallVec<[(StorageId, DomainId); 4]> {
        let mut missing = SmallVec::new();
        for a in accesses {
            let need = (a.storage, a.domain);
            if !a.elements.is_empty()
                && self.storages[a.storage.0].alloc(a.domain).is_none()
                && !missing.contains(&need)
            {
                missing.push(need);
            }
        }
        missing
    }

    /// Takes a command that [`Ledger::check`] has passed and whose memory is there.
    pub(crate) fn run(&mut self, command: Command) -> Stamp {
        let queue = command.queue;
        let in_order = command.in_order;
        let state = queue.and_then(|q| self.queues.get_mut(q));
        let (last, fence) = state.map_or_else(Default::default, |q| (q.last, q.fence));
        let mut deps: Deps = SmallVec::new();
        add_dep(&mut deps, fence, false);
        let last = if in_order { last } else { Stamp::DONE };
        add_dep(&mut deps, last, false);
        command.after.iter().for_each(|s| add_dep(&mut deps, *s, true));
        let lane = command.device.map(|device| self.choose_lane(device, &command.accesses, last));
        let who = For { queue, label: &command.label, lane };
        // Those that need what is there first: then a discard of a part of the same page finds it.
        for access in command.accesses.iter().filter(|a| !a.mode.discards()) {
            self.bring(access, who, &mut deps);
        }
        for access in command.accesses.iter().filter(|a| a.mode.discards()) {
            self.bring(access, who, &mut deps);
        }
        self.hazard_deps(&command.accesses, &mut deps);
        tidy(&mut deps);
        let accesses = command.accesses.clone();
        let stamp = self.act(command, lane, deps);
        self.mark(&accesses, stamp);
        self.note_in_queue(queue, stamp, in_order);
        stamp
    }

    fn note_in_queue(&mut self, queue: Option<u32>, stamp: Stamp, in_order: bool) {
        let Some(state) = queue.and_then(|q| self.queues.get_mut(q)) else { return };
        if in_order {
            state.last = stamp;
        }
        match stamp.when() {
            When::Done => {}
            When::Placed(lane, tick) => match state.placed.iter_mut().find(|(l, _)| *l == lane) {
                Some((_, t)) => *t = tick,
                None => state.placed.push((lane, tick)),
            },
            When::Unplaced(..) => {
                let len = state.unplaced.len();
                state.unplaced.push(stamp);
                // Looked through at 64, 128, ..: constant cost per command.
                if len >= 64 && len.is_power_of_two() {
                    let (lanes, slots, failures) = (&self.lanes, &self.slots, &self.failures);
                    let pending =
                        |s: &Stamp| outcome(lanes, slots, failures, *s) == Outcome::Pending;
                    state.unplaced.retain(pending);
                }
            }
        }
    }

    /// What the accesses wait for.
    pub(crate) fn hazard_deps(&mut self, accesses: &[Access], deps: &mut Deps) {
        for a in accesses {
            let storage = &self.storages[a.storage.0];
            let pages = storage.grid.pages_of(&a.elements);
            if pages.is_empty() {
                continue;
            }
            match a.mode {
                Mode::Read => storage.hazards.read_deps(&pages, a.domain, deps),
                mode => {
                    let how = self.writing(a, &pages, mode);
                    storage.hazards.write_deps(&pages, a.domain, how, deps);
                }
            }
        }
    }

    fn writing(&self, a: &Access, pages: &Box3, mode: Mode) -> Writing {
        let storage = &self.storages[a.storage.0];
        let inside = storage.grid.pages_inside(&a.elements);
        match mode.writing() {
            Writing::Update => Writing::Update,
            _ if inside != *pages && storage.hazards.crowded(pages) => Writing::Crowded,
            Writing::Replace if inside != *pages => Writing::Discard,
            how => how,
        }
    }

    /// What the pages are from now on.
    pub(crate) fn mark(&mut self, accesses: &[Access], stamp: Stamp) {
        let (lanes, slots, failures) = (&self.lanes, &self.slots, &self.failures);
        for a in accesses.iter().filter(|a| !a.mode.writes()) {
            let storage = &mut self.storages[a.storage.0];
            let pages = storage.grid.pages_of(&a.elements);
            let known = &mut |s| outcome(lanes, slots, failures, s);
            storage.hazards.mark_read(&pages, stamp, known);
        }
        for a in accesses.iter().filter(|a| a.mode.writes()) {
            self.mark_written(a, stamp);
        }
    }

    fn mark_written(&mut self, a: &Access, stamp: Stamp) {
        let grid = self.storages[a.storage.0].grid;
        let pages = grid.pages_of(&a.elements);
        if pages.is_empty() {
            return;
        }
        let how = self.writing(a, &pages, a.mode);
        let inside = if a.mode.discards() { grid.pages_inside(&a.elements) } else { pages };
        if inside != pages {
            let mut borders: SmallVec<[Box3; 6]> = SmallVec::new();
            pages.subtract(&inside, |b| borders.push(b));
            borders.iter().for_each(|border| self.discard_parts(a, border));
        }
        let (lanes, slots, failures) = (&self.lanes, &self.slots, &self.failures);
        let storage = &mut self.storages[a.storage.0];
        if !storage.mixed.is_empty() && !inside.is_empty() {
            for number in storage.mixed_in(&inside) {
                storage.mixed.remove(&number);
            }
        }
        let known = &mut |s| outcome(lanes, slots, failures, s);
        if !inside.is_empty() {
            storage.tracker.set(&inside, DomainSet::of(a.domain));
        }
        // One that comes after everything before it in all of its pages stands for all of that,
        // whatever it leaves as it was.
        let alone = match how {
            Writing::Update | Writing::Crowded => pages,
            _ => inside,
        };
        if !alone.is_empty() {
            storage.hazards.mark_written(&alone, a.domain, stamp, false, how, known);
        }
        if alone != pages {
            pages.subtract(&alone, |border| {
                storage.hazards.mark_written(&border, a.domain, stamp, true, how, known);
            });
        }
        if a.mode == (Mode::Discard { whole: true }) && !inside.is_empty() {
            let undefined = !storage.defined.uniform(&inside).is_some_and(|s| s.contains(a.domain));
            if undefined {
                storage.hazards.mark_arrival(&inside, a.domain, stamp, true, known);
                storage.defined.update(&inside, &mut |_, set| set.with(a.domain));
            }
        }
    }

    /// The lane for a kernel: where its latest dependency is the last operation; else an idle one;
    /// else the shortest.
    fn choose_lane(&mut self, device: u16, accesses: &[Access], last: Stamp) -> LaneId {
        let first = device * LANES_PER_DEVICE;
        let is_tail = |ledger: &Ledger, stamp: Stamp| match stamp.when() {
            When::Placed(lane, tick) => {
                let compute = (first..first + COMPUTE_LANES).contains(&lane.0);
                (compute && ledger.lanes[usize::from(lane.0)].issued == tick).then_some(lane)
            }
            _ => None,
        };
        let mut found = is_tail(self, last);
        if found.is_none() {
            'search: for a in accesses.iter().take(4) {
                let storage = &self.storages[a.storage.0];
                let pages = storage.grid.pages_of(&a.elements);
                if let Some(stamp) = storage.hazards.latest(&pages, a.mode.writes()) {
                    found = is_tail(self, self.resolve(stamp));
                    if found.is_some() {
                        break 'search;
                    }
                }
            }
        }
        if let Some(lane) = found {
            // Now and then, so that what is known of it stays short.
            if self.lanes[usize::from(lane.0)].records.len() >= 16 {
                self.poll(lane);
            }
            return lane;
        }
        let lanes = (first..first + COMPUTE_LANES).map(|l| self.lane_alias[usize::from(l)]);
        let lanes: SmallVec<[LaneId; 4]> = lanes.collect();
        let mut best = lanes[0];
        for &lane in &lanes {
            let length = |ledger: &Ledger, l: LaneId| ledger.lanes[usize::from(l.0)].records.len();
            if length(self, lane) > 0 {
                self.poll(lane);
            }
            if length(self, lane) == 0 {
                return lane;
            }
            if length(self, lane) < length(self, best) {
                best = lane;
            }
        }
        best
    }

    fn act(&mut self, command: Command, lane: Option<LaneId>, deps: Deps) -> Stamp {
        let Command { queue, label, timed, accesses, action, .. } = command;
        let mut storages: SmallVec<[StorageId; 4]> = SmallVec::new();
        for a in &accesses {
            if !storages.contains(&a.storage) {
                storages.push(a.storage);
            }
        }
        let what = action.name();
        let promises = self.definitions(&accesses);
        let body = match action {
            Action::Launch { kernel, geometry, params } => {
                let Some(lane) = lane else { return Stamp::DONE };
                self.count(None, queue, |c| c.launches += 1);
                let params = params.iter().map(|(at, shape)| self.param(&accesses[*at], shape));
                let params = params.collect();
                let kernel = KernelRef::Native(kernel);
                Body::Lane(lane, Payload::Launch { kernel, geometry, params, blob: Box::default() })
            }
            Action::Fill { access, shape, pattern } => {
                let Some(lane) = lane else { return Stamp::DONE };
                self.count(None, queue, |c| c.fills += 1);
                let base = self.storages[accesses[access].storage.0].alloc(accesses[access].domain);
                let Some(base) = base.map(|a| a.base) else { return Stamp::DONE };
                let dst = MemRef { base, offset: shape.offset() };
                let rect = FillRect { dst, pitch: shape.pitch(), extent: shape.extent() };
                Body::Lane(lane, Payload::Fill { rects: smallvec![rect], pattern })
            }
            Action::Copy { from, to } => {
                self.count(None, queue, |c| c.copies += 1);
                let who = For { queue, label: &label, lane };
                let job = CopyJob { what, who, timed, deps, storages, promises, staging: None };
                return self.act_copy(job, &accesses, from, to);
            }
            Action::Task { body, params } => {
                self.count(None, queue, |c| c.host_tasks += 1);
                let params: SmallVec<[ParamPtr; 4]> = (params.iter())
                    .map(|(at, shape)| self.host_param(&accesses[*at], shape))
                    .collect();
                Body::Host(Box::new(move || body(&params)))
            }
            Action::Nothing => Body::Nothing,
        };
        let staging = None;
        self.submit(NewOp { what, label, queue, timed, deps, storages, promises, staging, body })
    }

    /// What a command defines by writing all of it.
    fn definitions(&self, accesses: &[Access]) -> SmallVec<[Promise; 1]> {
        let replaces = |a: &&Access| a.mode == Mode::Discard { whole: true };
        let promises = accesses.iter().filter(replaces).map(|a| {
            let pages = self.storages[a.storage.0].grid.pages_inside(&a.elements);
            Promise { storage: a.storage, pages, domain: a.domain, arrival: false }
        });
        promises.filter(|p| !p.pages.is_empty()).collect()
    }

    /// An access as a kernel finds it; an empty one may have no memory, and keeps its place.
    fn param(&self, access: &Access, shape: &Shape) -> Param {
        let alloc = self.storages[access.storage.0].alloc(access.domain);
        let nowhere = || MemBase::Host(HostPtr(std::ptr::null_mut()));
        Param {
            mem: MemRef { base: alloc.map_or_else(nowhere, |a| a.base), offset: 0 },
            size: shape.element_bytes as u32,
            dims: shape.dims,
            origin: shape.part.min,
            extent: shape.part.extent(),
            write: access.mode.writes(),
        }
    }

    /// An access as the host finds it; an empty one may have no memory.
    fn host_param(&self, access: &Access, shape: &Shape) -> ParamPtr {
        let alloc = self.storages[access.storage.0].alloc(access.domain);
        let base = alloc.and_then(|a| a.host).map_or(std::ptr::null_mut(), |host| host.0);
        ParamPtr { base, dims: shape.dims, origin: shape.part.min, extent: shape.part.extent() }
    }

    fn act_copy(
        &mut self,
        mut job: CopyJob<'_>,
        accesses: &[Access],
        from: (End, Shape),
        to: (End, Shape),
    ) -> Stamp {
        let mut side = |(end, shape): &(End, Shape)| {
            let (base, domain) = match end {
                End::Access(at) => {
                    let a = &accesses[*at];
                    (self.storages[a.storage.0].alloc(a.domain)?.base, a.domain)
                }
                End::Host(staging) => {
                    job.staging = Some(staging.clone());
                    (MemBase::Host(staging.ptr()), DomainId::HOST)
                }
            };
            Some((MemRef { base, offset: shape.offset() }, shape.pitch(), domain))
        };
        let (Some((src, src_pitch, source)), Some((dst, dst_pitch, target))) =
            (side(&from), side(&to))
        else {
            return Stamp::DONE;
        };
        let rect = CopyRect { src, src_pitch, dst, dst_pitch, extent: from.1.extent() };
        self.copy(job, source, target, smallvec![rect])
    }
}
