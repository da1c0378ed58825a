//! Commands of a graph as one operation of a lane, by the backend's own graph of them.
//!
//! For the ledger such an operation is one command, which uses what all of its members use. So what
//! it waits for, and what has to be moved before it, is found as for any command. The backend's
//! graph names memory. It holds while all allocations are those for which it was made, which each
//! run compares under the ledger's lock: otherwise it is made again. Commands that do something
//! else from a run on are exchanged in it, if the backend can ([`native`](
//! crate::engine::lanes::native)).

use crate::element::bytes_of;
use crate::engine::Engine;
use crate::engine::kernels::loaded::LoadedKernel;
use crate::engine::lanes::Payload;
use crate::engine::lanes::native::Native;
use crate::engine::ledger::Ledger;
use crate::engine::pages::storage::StorageId;
use crate::engine::plan::union::Union;
use crate::engine::runs::branch::{Branches, Draft};
use crate::engine::runs::command::{Action, Command};
use crate::engine::terms::access::Access;
use crate::engine::terms::access::RawMem;
use crate::error::{Error, Label};
use crate::hal::{
    Args, Branch, Choice, CopyRect, Device, FillRect, Foreign, Geometry, Graph, HalError,
    HalErrorKind, HostPtr, KernelRef, MemRef, Node, Op, Step,
};
use crate::panics::contain;
use crate::planted::Plant;
use std::any::Any;
use std::cell::{Cell, LazyCell};
use std::collections::HashMap;
use std::sync::Arc;

/// Commands of a graph as one of the backend's.
pub(crate) struct Whole {
    pub(crate) native: Arc<Native>,
    /// Its nodes do what this says while the graph is of this version.
    version: u64,
    pub(in crate::engine) uses: Arc<Uses>,
    /// The code that its launches name, or have named before an exchange.
    code: Vec<Arc<LoadedKernel>>,
    pub(crate) fixed: Arc<Fixed>,
}

/// What the commands of a graph use.
pub(crate) struct Uses {
    pub(crate) accesses: Vec<Access>,
    /// Where the memory of each was.
    memory: Vec<Option<Place>>,
}

/// What stays as it is when commands of a [block](crate::engine::runs::block) are exchanged.
pub(crate) struct Fixed {
    /// What its commands name by pointers.
    pub(crate) raw: Vec<RawMem>,
    /// The commands' numbers in the run, of which the first is before all others.
    pub(crate) at: Vec<u32>,
    /// The commands of a [part](super::part), to submit them one by one. None of a whole run.
    pub(crate) members: Vec<Command>,
    /// What its nodes are called in failures.
    names: Vec<(&'static str, Label)>,
    /// What its conditional nodes are, also those in bodies.
    pub(crate) branches: Branches,
    /// By command: the earlier ones that it comes after.
    pub(crate) after: Vec<Vec<usize>>,
    /// They are a [chain](Kind::Chain).
    pub(crate) is_chain: bool,
    pub(crate) launches: u64,
    pub(crate) copies: u64,
    pub(crate) fills: u64,
}

/// An earlier graph, and which of its nodes are exchanged, in their order.
pub(crate) type Exchanged = (Arc<Whole>, Vec<usize>);

/// Commands of which a graph of the device's is to be made.
pub(crate) struct Members<'a> {
    pub(crate) commands: Vec<&'a Command>,
    /// By command: the earlier ones that it comes after.
    pub(crate) after: Vec<Vec<usize>>,
    /// Their numbers in the run.
    pub(crate) at: Vec<u32>,
    /// What they are exchanged for, and which of them do something else there.
    pub(crate) in_place_of: Option<Exchanged>,
    pub(crate) kind: Kind,
}

/// What commands are together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// They fail as one.
    Whole,
    /// A [part](crate::engine::runs::part) of any commands.
    Part,
    /// One of commands that come after the one before them.
    Chain,
}

/// Why there is no graph.
pub(crate) enum NoGraph {
    /// The device cannot have it, or one of its commands runs only once.
    Refused(HalError),
    /// Nodes cannot be exchanged this time: a run is on its way, or memory is elsewhere.
    NotNow,
}

/// An allocation: how the device, its kernels and the host name it.
type Place = (MemRef, Option<u64>, Option<HostPtr>);

impl Whole {
    /// What its nodes use; some of it several times.
    pub(in crate::engine) fn storages(&self) -> impl Iterator<Item = StorageId> {
        self.uses.accesses.iter().map(|access| access.storage)
    }

    /// The code that its launches name.
    pub(crate) fn code(&self) -> &[Arc<LoadedKernel>] {
        &self.code
    }

    /// What a node is, and its label.
    pub(crate) fn name(&self, node: u32) -> Option<&(&'static str, Label)> {
        self.fixed.names.get(node as usize)
    }

    /// The nodes do what this says, and nothing else by now. True for good only under the ledger's
    /// lock.
    pub(in crate::engine) fn is_current(&self) -> bool {
        self.native.version() == self.version
    }

    /// Begins an exchange of nodes: see [`Native::begin_exchange`].
    pub(in crate::engine) fn next_version(&self, plant: Plant) -> Option<u64> {
        self.native.begin_exchange(self.version, plant)
    }

    /// The graph when nodes have been exchanged.
    pub(in crate::engine) fn exchanged(&self, version: u64, uses: Arc<Uses>) -> Whole {
        let (native, fixed) = (self.native.clone(), self.fixed.clone());
        Whole { native, version, uses, code: self.code.clone(), fixed }
    }
}

/// What a node does, until the graph is made.
enum Part<'a> {
    Launch(KernelRef<'a>, &'a Geometry, Args<'a>),
    Copy(&'a [CopyRect]),
    Fill(&'a [FillRect], &'a [u8]),
    Branch { choice: Choice, value: MemRef, bytes: usize, number: u32, bodies: Bodies<'a> },
    Join,
}

type Bodies<'a> = Vec<Vec<Part<'a>>>;

/// What calls an interop task once.
type Call = Box<dyn Fn(&dyn Any) -> Result<(), HalError>>;

/// The interop task of a payload.
fn call_of(payload: &mut Option<Payload>) -> Option<Call> {
    let Some(Payload::Launch(Some(launch))) = payload else { return None };
    let task = Cell::new(Some(launch.foreign.take()?));
    Some(Box::new(move |native| {
        let twice = || HalError::new(HalErrorKind::Driver, "a task called twice");
        task.take().ok_or_else(twice)?.call(native)
    }))
}

impl<'a> Part<'a> {
    fn of(payload: &'a mut Option<Payload>, call: Option<&'a Call>) -> Part<'a> {
        match payload {
            Some(Payload::Launch(Some(launch))) => {
                let launch = &mut **launch;
                let kernel = match (call, launch.loaded) {
                    (Some(call), _) => KernelRef::Foreign(Foreign::new(&**call)),
                    (None, Some(handle)) => KernelRef::Loaded(handle),
                    (None, None) => KernelRef::Native(Cell::from_mut(&mut launch.kernel)),
                };
                let arguments = launch.opaque.as_ref().map_or(&[][..], |opaque| &opaque.arguments);
                let (blob, params, proved) =
                    (bytes_of(&launch.scalars), &launch.params, launch.proved);
                Part::Launch(kernel, &launch.geometry, Args { blob, params, proved, arguments })
            }
            Some(Payload::Copy(rects)) => Part::Copy(rects),
            Some(Payload::Fill(fill)) => Part::Fill(&fill.rects, &fill.pattern),
            // Advice is left out. The others are in no replay (`why_not`).
            Some(
                Payload::Launch(None) | Payload::Hint(_) | Payload::Switch(_) | Payload::Replay(_),
            )
            | None => Part::Join,
        }
    }

    fn branch(draft: &'a mut Draft) -> Part<'a> {
        let Draft { choice, bytes, number, value, .. } = *draft;
        // Without memory for the value it has no body either.
        let Some(value) = value else { return Part::Join };
        let bodies = draft.bodies.iter_mut().map(|members| {
            let parts = members.iter_mut().map(|member| match &mut member.branch {
                Some(branch) => Part::branch(branch),
                None => Part::of(&mut member.payload, None),
            });
            parts.collect()
        });
        Part::Branch { choice, value, bytes, number, bodies: bodies.collect() }
    }

    fn step(&self) -> Step<'_> {
        Step::Op(match self {
            Part::Launch(kernel, geometry, args) => Op::Launch(*kernel, geometry, args),
            Part::Copy(rects) => Op::Copy(rects),
            Part::Fill(rects, pattern) => Op::Fill(rects, pattern),
            Part::Branch { choice, value, bytes, number, bodies } => {
                let (choice, value, bytes, number) = (*choice, *value, *bytes, *number);
                let bodies = bodies.iter().map(|parts| parts.iter().map(Part::step).collect());
                let bodies = bodies.collect();
                return Step::Branch(Branch { choice, value, bytes, number, bodies });
            }
            Part::Join => Op::Join,
        })
    }
}

impl Engine {
    /// Makes a graph of the device's, of commands all of whose memory is there; or exchanges those
    /// of an earlier one.
    pub(crate) fn whole(
        &self,
        device: u16,
        members: Members<'_>,
    ) -> Result<Result<Whole, NoGraph>, Error> {
        let opened = self.open(device)?.clone();
        let refused = |what| Ok(Err(NoGraph::Refused(HalError::unsupported(what))));
        let all = &members.commands;
        // An exchange looks closely at what is exchanged. Branches are numbered in all of a graph.
        let is_branch = |command: &&Command| matches!(command.action, Action::Conditional(_));
        let at = match &members.in_place_of {
            Some((_, changed)) if !all.iter().any(is_branch) => changed.clone(),
            _ => (0..all.len()).collect(),
        };
        let again = at.iter().map(|at| all.get(*at)?.again());
        let kept = match members.kind {
            Kind::Whole => Some(Vec::new()),
            Kind::Part | Kind::Chain => all.iter().map(|command| command.again()).collect(),
        };
        let (Some(mut commands), Some(kept)) = (again.collect::<Option<Vec<Command>>>(), kept)
        else {
            return refused("a command that can run only once");
        };
        commands.iter_mut().for_each(Command::arm);
        let mut branches = Branches::default();
        let Some(mut drafts) = branches.drafts(&commands) else {
            return refused("a body that can run only once");
        };
        let (mut union, mut raw) = (Union::default(), Vec::new());
        for command in all {
            command.accesses.iter().for_each(|access| union.add(access, true));
            raw.extend(command.action.raw().copied());
        }
        let accesses = union.into_accesses();
        let keep: Vec<StorageId> = accesses.iter().map(|access| access.storage).collect();
        let reserved = self.reserve(self.lock(), &keep, |ledger| {
            all.iter().try_for_each(|command| ledger.check(command))?;
            Ok(ledger.missing(&accesses))
        });
        let ledger = reserved?;
        let version = match &members.in_place_of {
            None => Some(0),
            Some((old, _)) => ledger.begin_exchange(old, self.plant),
        };
        let Some(version) = version else {
            self.leave(ledger);
            return Ok(Err(NoGraph::NotNow));
        };
        let memory = ledger.places(&accesses);
        let uses = Arc::new(Uses { accesses, memory });
        let mut payloads: Vec<_> = commands.iter_mut().map(|c| ledger.payload(c)).collect();
        drafts.iter_mut().flatten().for_each(|draft| draft.locate(&ledger, &mut branches));
        self.leave(ledger);
        // All memory is there, so each of them does something.
        let count = |is: fn(&Action) -> bool| {
            all.iter().filter(|command| is(&command.action)).count() as u64
        };
        let launches = count(|action| matches!(action, Action::Launch(Some(_))));
        let copies = count(|action| matches!(action, Action::Copy { .. }));
        let fills = count(|action| matches!(action, Action::Fill { .. }));
        let calls: Vec<Option<Call>> = payloads.iter_mut().map(call_of).collect();
        let graph = {
            let parts = payloads.iter_mut().zip(&calls).zip(&mut drafts);
            let parts = parts.map(|((payload, call), draft)| match draft {
                Some(draft) => Part::branch(draft),
                None => Part::of(payload, call.as_ref()),
            });
            let parts: Vec<Part<'_>> = parts.collect();
            let steps: Vec<Step<'_>> = parts.iter().map(Part::step).collect();
            let nodes = steps.iter().zip(&at).filter_map(|(step, at)| {
                let after = members.after.get(*at)?;
                Some(match step {
                    Step::Op(op) => Node { op: *op, after },
                    Step::Branch(branch) => Node { op: Op::Branch(branch), after },
                })
            });
            let nodes: Vec<Node<'_>> = nodes.collect();
            native(&*opened, &nodes, (&at, members.in_place_of.as_ref()))
        };
        let mut code: Vec<Arc<LoadedKernel>> = match &members.in_place_of {
            Some((old, _)) => old.code.clone(),
            None => vec![],
        };
        code.extend(payloads.iter().flatten().filter_map(|payload| payload.uses().cloned()));
        drafts.iter().flatten().for_each(|draft| draft.code(&mut code));
        code.sort_unstable_by_key(|code| Arc::as_ptr(code).addr());
        code.dedup_by(|one, other| Arc::ptr_eq(one, other));
        let names = all.iter().map(|c| (c.action.name(), c.label.clone())).collect();
        // What the device has not taken is the user's.
        contain(|| drop((payloads, calls, drafts, commands)));
        let Members { at, kind, after, .. } = members;
        let (members, is_chain) = (kept, kind == Kind::Chain);
        let fixed =
            Fixed { raw, at, members, names, branches, after, is_chain, launches, copies, fills };
        let made = graph.map(|native| {
            let fixed = Arc::new(fixed);
            Whole { native, version, uses, code, fixed }
        });
        Ok(made.map_err(NoGraph::Refused))
    }
}

/// A new graph of these nodes, or an earlier one in which those of these numbers do what these do.
fn native(
    device: &dyn Device,
    nodes: &[Node<'_>],
    (at, in_place_of): (&[usize], Option<&Exchanged>),
) -> Result<Arc<Native>, HalError> {
    let Some((old, changed)) = in_place_of else {
        return device.graph(nodes).map(Native::new).map(Arc::new);
    };
    let is_changed = |at: &usize| changed.binary_search(at).is_ok();
    for (at, node) in at.iter().zip(nodes).filter(|(at, _)| is_changed(at)) {
        old.native.graph.update(*at, node.op)?;
    }
    Ok(old.native.clone())
}

/// Has a node of a graph do what a payload does, which is no interop task.
pub(in crate::engine) fn update(
    graph: &dyn Graph,
    node: usize,
    payload: &mut Option<Payload>,
) -> Result<(), HalError> {
    match Part::of(payload, None).step() {
        Step::Op(op) => graph.update(node, op),
        Step::Branch(_) => Ok(()),
    }
}

impl Whole {
    /// The command that replays it.
    pub(crate) fn command(self: &Arc<Whole>, device: u16, label: &Label) -> Command {
        let mut command = Command::new(None, false);
        command.device = Some(device);
        command.label = label.clone();
        command.accesses.extend_from_slice(&self.uses.accesses);
        command.action = Action::Replay(self.clone());
        command
    }
}

impl Ledger {
    /// The memory of a replay is elsewhere than when its graph was made, or its nodes do something
    /// else by now.
    pub(crate) fn is_outdated(&self, command: &Command) -> bool {
        match &command.action {
            Action::Replay(whole) => !whole.is_current() || !self.is_where_it_was(whole),
            _ => false,
        }
    }

    /// Begins an exchange of nodes, where all memory is that of the graph. Returns the number of
    /// the next version.
    fn begin_exchange(&self, old: &Whole, plant: Plant) -> Option<u64> {
        let same = self.is_where_it_was(old);
        same.then(|| old.next_version(plant)).flatten()
    }

    /// The memory of a replay is where it was when its graph was made.
    pub(in crate::engine) fn is_where_it_was(&self, whole: &Whole) -> bool {
        let Uses { accesses, memory } = &*whole.uses;
        accesses.iter().zip(memory).all(|(access, place)| self.place_of(access) == *place)
    }

    /// What a graph uses when nodes have been exchanged, and where that is. None if memory that it
    /// has used before is elsewhere by now: other nodes name it.
    pub(in crate::engine) fn uses(&self, accesses: &[Access], before: &Uses) -> Option<Uses> {
        let memory = self.places(accesses);
        let key = |access: &Access| (access.storage, access.domain);
        let all = before.accesses.iter().enumerate();
        // As a rule each is where it was.
        let others = LazyCell::new(|| -> HashMap<_, usize> {
            all.map(|(at, access)| (key(access), at)).collect()
        });
        let old = |at: usize, access: &Access| {
            let is_there = before.accesses.get(at).is_some_and(|old| key(old) == key(access));
            if is_there { Some(at) } else { others.get(&key(access)).copied() }
        };
        let stays = accesses.iter().zip(&memory).enumerate().all(|(at, (access, place))| {
            old(at, access).and_then(|old| before.memory.get(old)).is_none_or(|old| old == place)
        });
        stays.then(|| Uses { accesses: accesses.to_vec(), memory })
    }

    /// What speaks against a command of a run. Changes nothing.
    pub(crate) fn check_in_run(&self, command: &Command) -> Result<(), Error> {
        let checked = self.check(command);
        if let (Action::Replay(whole), Err(_)) = (&command.action, &checked) {
            // Which of them it is.
            whole.fixed.members.iter().try_for_each(|member| self.check(member))?;
        }
        checked
    }

    fn places(&self, accesses: &[Access]) -> Vec<Option<Place>> {
        accesses.iter().map(|access| self.place_of(access)).collect()
    }

    fn place_of(&self, access: &Access) -> Option<Place> {
        // A node that was exchanged may have used what is gone.
        let alloc = self.storages.get(access.storage.0)?.alloc(access.domain)?;
        Some((alloc.mem, alloc.address, alloc.host))
    }

    /// Counts a run's operations for its queue.
    pub(crate) fn count_whole(&mut self, queue: Option<u32>, whole: &Whole) {
        self.count(None, queue, |c| {
            c.copies += whole.fixed.copies;
            c.fills += whole.fixed.fills;
            c.replays += 1;
        });
        // As for each launch: in one place.
        match queue.and_then(|id| self.queues.get_mut(id)) {
            Some(queue) => queue.counters.launches += whole.fixed.launches,
            None => self.counters.launches += whole.fixed.launches,
        }
    }
}
