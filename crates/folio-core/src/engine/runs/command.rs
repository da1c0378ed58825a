//! The way of one command through the ledger: checks that change nothing, then transfers, fills,
//! dependencies and the action itself, then what the pages are from now on.

use crate::engine::kernels::launch::Launch;
use crate::engine::lanes::Payload;
use crate::engine::ledger::storages::Storages;
use crate::engine::ledger::topology::Topology;
use crate::engine::ledger::{Body, Ledger, Leftover, NewOp};
use crate::engine::pages::storage::{Life, StorageId};
use crate::engine::plan::apply::For;
use crate::engine::plan::copies::CopyJob;
use crate::engine::runs::conditional::Conditional;
use crate::engine::runs::list::List;
use crate::engine::terms::access::Access;
use crate::engine::terms::access::RawMem;
use crate::engine::terms::note::{Note, Plan};
use crate::engine::terms::staging::Staging;
use crate::error::{Cause, Error, Label, UseSite};
use crate::geom::{Box3, Dims, linear};
use crate::hal::{HalError, HalErrorKind, Hint, ParamPtr};
use crate::order::hazards::{Deps, add_dep, tidy};
use crate::order::stamp::{LaneId, Stamp};
use crate::pages::DomainId;
use crate::report::Moves;
use crate::sync::OnlyMoved;
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
    /// What it comes after, and fails with.
    pub(crate) after: SmallVec<[Stamp; 4]>,
    /// What it comes after, whether that fails or not.
    pub(crate) behind: SmallVec<[Stamp; 2]>,
    /// Which fusion it took part in or why it did not, for a subscriber that listens.
    pub(crate) fusion: Option<Arc<str>>,
    pub(crate) action: Action,
}

impl Command {
    /// One that does nothing, on the host.
    pub(crate) fn new(queue: Option<u32>, in_order: bool) -> Command {
        Command {
            queue,
            in_order,
            device: None,
            label: Label::NONE,
            timed: false,
            accesses: SmallVec::new(),
            after: SmallVec::new(),
            behind: SmallVec::new(),
            fusion: None,
            action: Action::Nothing,
        }
    }

    /// The same command once more, if what it does can be done more than once. It is
    /// [armed](Self::arm) before it is submitted.
    pub(crate) fn again(&self) -> Option<Command> {
        Some(Command {
            queue: self.queue,
            in_order: self.in_order,
            device: self.device,
            label: self.label.clone(),
            timed: self.timed,
            accesses: self.accesses.clone(),
            after: self.after.clone(),
            behind: self.behind.clone(),
            fusion: None,
            action: self.action.again()?,
        })
    }

    /// Makes a copy ready to be submitted: see [`Launch::arm`].
    pub(crate) fn arm(&mut self) {
        if let Action::Launch(Some(launch)) = &mut self.action {
            launch.arm();
        }
    }

    /// It does nothing so far, and gets its kernel.
    #[inline]
    pub(crate) fn set_launch(&mut self, launch: Box<Launch>) {
        let before = std::mem::replace(&mut self.action, Action::Launch(Some(launch)));
        debug_assert!(matches!(before, Action::Nothing), "an action in place of another one");
        // Nothing holds nothing; to find that out costs more than all else here.
        std::mem::forget(before);
    }

    /// What a subscriber is told of it. It gets its stamp later.
    pub(in crate::engine) fn told(&mut self, after: Deps, moves: Moves) -> Box<Plan> {
        let (kernel, checks, fast) = match &mut self.action {
            Action::Launch(Some(launch)) => {
                let fast = launch.function.as_ref().is_some_and(|function| function.code.is_fast());
                (launch.kernel_name().map(Arc::from), launch.checks.take(), fast)
            }
            _ => (None, None, false),
        };
        let (what, label, fusion) = (self.action.name(), self.label.clone(), self.fusion.take());
        let (stamp, accesses) = (Stamp::DONE, self.accesses.len());
        Box::new(Plan { what, label, kernel, stamp, accesses, after, moves, checks, fast, fusion })
    }

    /// Where it uses something, for errors.
    #[cold]
    fn used(&self, access: usize) -> UseSite {
        let parameter = match &self.action {
            Action::Launch(Some(launch)) => launch.parameter(access),
            _ => Label::NONE,
        };
        UseSite { command: self.label.clone(), access: Some(access), parameter }
    }
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

    /// Of memory without elements, which may have any extents, that is no pitch.
    fn pitch(&self) -> [u64; 2] {
        let row = self.dims[2].wrapping_mul(self.element_bytes);
        [row.wrapping_mul(self.dims[1]) as u64, row as u64]
    }

    fn extent(&self) -> [u64; 3] {
        let e = self.part.extent();
        [e[0] as u64, e[1] as u64, e[2].wrapping_mul(self.element_bytes) as u64]
    }
}

/// Memory that a command names.
#[derive(Clone)]
pub(crate) enum End {
    /// An access, by its position.
    Access(usize),
    /// Host memory that the command owns.
    Host(Arc<Staging>),
    /// Memory for which the caller answers.
    Raw(RawMem),
}

/// A rectangle of memory, in bytes: what copies, fills and hints work on.
#[derive(Clone)]
pub(crate) struct MemRect {
    pub(crate) end: End,
    /// From the start of `end`.
    pub(crate) offset: u64,
    /// From one slice, and from one row, to the next.
    pub(crate) pitch: [u64; 2],
    /// Slices, rows, bytes.
    pub(crate) extent: [u64; 3],
}

impl MemRect {
    pub(crate) fn of(end: End, shape: &Shape) -> MemRect {
        MemRect { end, offset: shape.offset(), pitch: shape.pitch(), extent: shape.extent() }
    }

    /// The host memory of the command's own that it lies in.
    fn staging(&self) -> Option<Arc<Staging>> {
        match &self.end {
            End::Host(staging) => Some(staging.clone()),
            End::Access(_) | End::Raw(_) => None,
        }
    }

    /// Bytes from its first to its last.
    pub(super) fn span(&self) -> u64 {
        let [slices, rows, bytes] = self.extent;
        slices.saturating_sub(1) * self.pitch[0] + rows.saturating_sub(1) * self.pitch[1] + bytes
    }
}

/// A host task, before it knows its memory.
pub(crate) enum HostBody {
    /// A closure that is called once.
    Once(OnlyMoved<OnceBody>),
    /// A closure that a graph calls at each run.
    Again(Arc<AgainBody>),
}

type OnceBody = Box<dyn FnOnce(&[ParamPtr]) -> Result<(), Cause> + Send>;
type AgainBody = dyn Fn(&[ParamPtr]) -> Result<(), Cause> + Send + Sync;

impl HostBody {
    /// A closure that is called once.
    pub(crate) fn once(
        body: impl FnOnce(&[ParamPtr]) -> Result<(), Cause> + Send + 'static,
    ) -> HostBody {
        HostBody::Once(OnlyMoved::new(Box::new(body)))
    }

    /// A closure that may be called again and again.
    pub(crate) fn again(
        body: impl Fn(&[ParamPtr]) -> Result<(), Cause> + Send + Sync + 'static,
    ) -> HostBody {
        HostBody::Again(Arc::new(body))
    }

    /// Leaves one that does nothing.
    fn take(&mut self) -> HostBody {
        std::mem::replace(self, HostBody::once(|_| Ok(())))
    }

    pub(crate) fn call(self, params: &[ParamPtr]) -> Result<(), Cause> {
        match self {
            HostBody::Once(body) => body.into_inner()(params),
            HostBody::Again(body) => body(params),
        }
    }
}

/// What a command does.
pub(crate) enum Action {
    /// A kernel, whose parameters do not know their memory yet; there until it is placed.
    Launch(Option<Box<Launch>>),
    /// A copy from the first to the second.
    Copy { from: MemRect, to: MemRect },
    /// A fill.
    Fill { to: MemRect, pattern: SmallVec<[u8; 16]> },
    /// A hint about memory: prefetch or advice.
    Hint { at: MemRect, hint: Hint },
    /// A closure on the host, over accesses by their positions, and their shapes.
    Task { body: HostBody, params: SmallVec<[(usize, Shape); 2]> },
    /// Bodies of which a value chooses.
    Conditional(Arc<Conditional>),
    /// A list, by the device's own graph.
    Replay(Arc<List>),
    /// Only that the data is there, or that everything before is done.
    Nothing,
}

impl Action {
    /// The same once more. `None` for what calls a closure that can be called only once.
    pub(crate) fn again(&self) -> Option<Action> {
        Some(match self {
            Action::Launch(None) => Action::Launch(None),
            Action::Launch(Some(launch)) => Action::Launch(Some(launch.again()?)),
            Action::Copy { from, to } => Action::Copy { from: from.clone(), to: to.clone() },
            Action::Fill { to, pattern } => {
                Action::Fill { to: to.clone(), pattern: pattern.clone() }
            }
            Action::Hint { at, hint } => Action::Hint { at: at.clone(), hint: *hint },
            Action::Task { body: HostBody::Again(body), params } => {
                Action::Task { body: HostBody::Again(body.clone()), params: params.clone() }
            }
            Action::Task { body: HostBody::Once(_), .. } => return None,
            Action::Conditional(node) => Action::Conditional(node.clone()),
            Action::Replay(list) => Action::Replay(list.clone()),
            Action::Nothing => Action::Nothing,
        })
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Action::Launch { .. } => "kernel",
            Action::Copy { .. } => "copy",
            Action::Fill { .. } => "fill",
            Action::Hint { .. } => "hint",
            Action::Task { .. } => "host task",
            Action::Conditional(_) => "conditional node",
            Action::Replay(_) => "graph",
            Action::Nothing => "barrier",
        }
    }

    /// The memory that it works on beside the parameters of a kernel or a task.
    pub(crate) fn rects(&self) -> [Option<&MemRect>; 2] {
        match self {
            Action::Copy { from, to } => [Some(from), Some(to)],
            Action::Fill { to: at, .. } | Action::Hint { at, .. } => [Some(at), None],
            Action::Launch(_)
            | Action::Task { .. }
            | Action::Conditional(_)
            | Action::Replay(_)
            | Action::Nothing => [None, None],
        }
    }

    /// Slices, rows and bytes of each of its rectangles; not empty where it has none.
    pub(crate) fn extent(&self) -> [u64; 3] {
        self.rects()[0].map_or([1; 3], |place| place.extent)
    }

    /// The raw memory that it names.
    pub(crate) fn raw(&self) -> impl Iterator<Item = &RawMem> {
        let pointers = match self {
            Action::Launch(Some(launch)) => launch.pointers(),
            Action::Conditional(node) => &node.raw[..],
            Action::Replay(list) => &list.fixed.raw[..],
            _ => &[],
        };
        let places = self.rects().into_iter().flatten().filter_map(|place| match &place.end {
            End::Raw(raw) => Some(raw),
            _ => None,
        });
        places.chain(pointers)
    }
}

/// USM that a command uses by pointers, and where.
pub(crate) type RawUsm = SmallVec<[(StorageId, DomainId); 2]>;

impl Ledger {
    /// What speaks against a command. Changes nothing.
    pub(crate) fn check(&self, command: &Command) -> Result<(), Error> {
        if self.shutdown {
            return Err(Error::ShutDown);
        }
        for (at, access) in command.accesses.iter().enumerate() {
            let storage = &self.storages[access.storage.0];
            if storage.life != Life::Open {
                return Err(Error::ScopeEnded { label: storage.label.clone() });
            }
            // A guard has mapped all of linked memory.
            let maps = storage.link.is_some_and(|link| link.device == access.domain)
                && !storage.guards.is_empty();
            if maps || storage.held(&storage.residency.pages(access), access.mode.writes()) {
                let (buffer, by) = (storage.label.clone(), Some(command.used(at)));
                return Err(Error::HostAccessHeld { buffer, by });
            }
        }
        if command.action.raw().any(|raw| !self.storages.is_live(raw)) {
            return Err(Error::Freed { what: "command", label: command.label.clone() });
        }
        if let Action::Task { params, .. } = &command.action {
            let storages = &self.storages;
            params.iter().try_for_each(|(at, _)| {
                storages.check_reach(&command.accesses[*at], &self.topology)
            })?;
        }
        Ok(())
    }

    /// Takes a command that [`Ledger::check`] has passed and whose memory is there.
    pub(crate) fn run(&mut self, command: &mut Command) -> Stamp {
        let (mut deps, lane) = self.begin(command);
        let (queue, in_order) = (command.queue, command.in_order);
        let moved = self.traced.then(|| self.counters.transfers());
        let who = For { queue, label: &command.label, lane };
        let raw = self.storages.raw_usm(command);
        self.prepare(&command.accesses, &raw, who, &mut deps);
        self.tracker_panics(&command.accesses, &command.label, &mut deps);
        tidy(&mut deps);
        let plan = moved.map(|moved| {
            let moves = self.counters.transfers().since(moved);
            command.told(deps.clone(), moves)
        });
        let before = self.outbox.notes.len();
        let stamp = self.act(command, lane, deps);
        if let Some(mut plan) = plan {
            plan.stamp = stamp;
            self.outbox.notes.insert(before, Note::Plan(plan));
        }
        let Ledger { storages, timeline, queues, .. } = self;
        storages.mark(&command.accesses, stamp, timeline);
        raw.iter().for_each(|(id, _)| storages.note_raw(*id, stamp, timeline));
        queues.note_stamp((queue, in_order), stamp, timeline);
        stamp
    }

    /// What a command comes after by its queue and by what it names, and its lane.
    pub(crate) fn begin(&mut self, command: &mut Command) -> (Deps, Option<LaneId>) {
        let (deps, last) = self.deps_by_queue(command);
        let lane = command.device.map(|at| self.view().choose_lane(at, &command.accesses, last));
        (deps, lane)
    }

    /// What a command comes after by its queue and by what it names, and the latest command of a
    /// queue in order. Its accesses learn where they are.
    pub(in crate::engine) fn deps_by_queue(&self, command: &mut Command) -> (Deps, Stamp) {
        for a in &mut command.accesses {
            a.place = self.storages[a.storage.0].place(a.domain);
        }
        let state = command.queue.and_then(|q| self.queues.get(q));
        let (last, fence) = state.map_or_else(Default::default, |q| (q.last, q.fence));
        let mut deps: Deps = SmallVec::new();
        add_dep(&mut deps, fence, false);
        let last = if command.in_order { last } else { Stamp::DONE };
        add_dep(&mut deps, last, false);
        command.after.iter().for_each(|s| add_dep(&mut deps, *s, true));
        command.behind.iter().for_each(|s| add_dep(&mut deps, *s, false));
        (deps, last)
    }

    /// A panic of a user's page tracker is a failure of the command.
    pub(crate) fn tracker_panics(&mut self, accesses: &[Access], label: &Label, deps: &mut Deps) {
        for a in accesses {
            let panics = self.storages[a.storage.0].residency.tracker_mut().take_panics();
            let mut panics = panics.into_iter();
            if let Some(first) = panics.next() {
                let cause = Cause::Panic(first);
                self.outbox.leftovers.extend(panics.map(Leftover::Panic));
                let failure = self.fail("page tracker", label, "host", cause);
                let stamp = self.timeline.failed_stamp(failure, &mut self.outbox);
                add_dep(deps, stamp, true);
            }
        }
    }

    pub(crate) fn act(&mut self, command: &mut Command, lane: Option<LaneId>, deps: Deps) -> Stamp {
        let defines = self.storages.defines(&command.accesses, &deps, &self.timeline);
        let accesses = &command.accesses;
        let mut op = NewOp {
            what: command.action.name(),
            label: std::mem::take(&mut command.label),
            queue: command.queue,
            timed: command.timed,
            deps,
            storages: accesses.iter().map(|a| a.storage).collect(),
            defines,
            ..NewOp::default()
        };
        op.storages.extend(command.action.raw().filter_map(|raw| raw.storage));
        op.body = match &mut command.action {
            Action::Nothing => Body::Nothing,
            Action::Copy { from, to } => {
                self.count(None, op.queue, |c| c.copies += 1);
                let NewOp { what, label, queue, timed, deps, storages, defines, .. } = op;
                let (who, staging) = (For { queue, label: &label, lane }, from.staging());
                let job = CopyJob { what, who, timed, deps, storages, staging, defines };
                return self.act_copy(job, accesses, from, to);
            }
            Action::Task { body, params } => {
                self.count(None, op.queue, |c| c.host_tasks += 1);
                let (body, params) = (body.take(), params.iter());
                let params = params.map(|(at, s)| self.storages.host_param(&accesses[*at], s));
                let params: SmallVec<[ParamPtr; 4]> = params.collect();
                Body::Host(Box::new(move || Ok(body.call(&params)?)))
            }
            Action::Conditional(node) => {
                let (node, queue, label) = (node.clone(), op.queue, op.label.clone());
                Body::Host(Box::new(move || node.run(queue, &label)))
            }
            action => {
                if let Action::Replay(list) = action {
                    op.nodes = Some(list.clone());
                }
                let payload = self.storages.payload(action, accesses);
                let Some((lane, mut payload)) = lane.zip(payload) else {
                    return self.nowhere(op.what, &op.label, action.extent());
                };
                self.count_payload(&mut payload, op.queue);
                let device = || &self.topology.devices[self.topology.device_of(lane)];
                match payload {
                    Payload::Hint(_) if !device().hints => Body::Nothing,
                    payload => Body::Lane(lane, payload),
                }
            }
        };
        self.submit_at(&mut op)
    }

    /// The stamp of a command for which there is no memory or no lane. With nothing to do it is
    /// done; anything else is a mistake of the engine's, which does not pass for success.
    pub(crate) fn nowhere(&mut self, what: &'static str, label: &Label, extent: [u64; 3]) -> Stamp {
        if extent.contains(&0) {
            return Stamp::DONE;
        }
        let error = HalError::new(HalErrorKind::Driver, "the engine has no memory or lane for it");
        let failure = self.fail(what, label, "?", Cause::Backend(error));
        self.timeline.failed_stamp(failure, &mut self.outbox)
    }

    fn act_copy(
        &mut self,
        job: CopyJob<'_>,
        accesses: &[Access],
        from: &MemRect,
        to: &MemRect,
    ) -> Stamp {
        let Some((rect, [source, target])) = self.storages.rect(accesses, from, to) else {
            return self.nowhere(job.what, job.who.label, from.extent);
        };
        let route = match source == target {
            true => {
                let of_host = [from, to].map(|place| self.storages.is_of_host(accesses, place));
                self.topology.route_within(source, of_host, job.who.lane)
            }
            false => self.topology.route(source, target),
        };
        self.copy_by(job, route, smallvec![rect])
    }
}

impl Storages {
    /// A host task finds the memory of an access at an address of the host. USM that a graph has
    /// named may have become a buffer's memory since.
    fn check_reach(&self, access: &Access, topology: &Topology) -> Result<(), Error> {
        let storage = &self[access.storage.0];
        if access.domain.is_host() || access.elements.is_empty() {
            return Ok(());
        }
        let mapped = storage.alloc(access.domain).is_some_and(|alloc| alloc.host.is_some());
        if mapped && storage.home == Some(access.domain) {
            return Ok(());
        }
        Err(Error::NotAccessible {
            label: storage.label.clone(),
            home: topology.domain_name(access.domain),
            device: "the host".to_owned(),
        })
    }

    /// The USM that a command uses by pointers.
    pub(crate) fn raw_usm(&self, command: &Command) -> RawUsm {
        let hints = matches!(command.action, Action::Hint { .. });
        let used = command.action.raw().filter(|_| !hints);
        used.filter_map(|at| self.usm_of(at)).collect()
    }

    /// An access as the host finds it; an empty one may have no memory.
    fn host_param(&self, access: &Access, shape: &Shape) -> ParamPtr {
        let alloc = self[access.storage.0].alloc(access.domain);
        let base = alloc.and_then(|a| a.host).map_or(std::ptr::null_mut(), |host| host.0);
        let extent = shape.part.extent();
        let (dims, origin) = (shape.dims, shape.part.min);
        ParamPtr { base, dims, origin, extent, index: [0; 3], shape: extent }
    }

    /// Whether a place is memory that the host has, too.
    fn is_of_host(&self, accesses: &[Access], place: &MemRect) -> bool {
        let host = |id: StorageId, domain| {
            let alloc = self.get(id.0).and_then(|storage| storage.alloc(domain));
            alloc.is_some_and(|alloc| alloc.host.is_some())
        };
        match &place.end {
            End::Access(at) => host(accesses[*at].storage, accesses[*at].domain),
            End::Raw(raw) => raw.storage.is_none_or(|id| host(id, raw.domain)),
            End::Host(_) => true,
        }
    }
}
