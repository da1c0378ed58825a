//! Lists: commands that a device does as one operation, by the backend's own graph of them.
//!
//! A list is *one command*. It waits for what its commands wait for, uses what they use, and fails
//! as one. So what it waits for, and what has to be moved before it, is found as for any command. A
//! list is compiled alike from a part of an executable, from a recorded block, and from a fused
//! plan; bodies of conditions on which the device decides are within it.
//!
//! The backend's graph names memory. It holds while all allocations are those for which it was
//! compiled, which each run compares under the ledger's lock: otherwise the list is compiled again.
//! Commands that do something else from a run on are exchanged in it, if the backend can
//! (`lanes::native`): then the list is of another version.

use crate::engine::Engine;
use crate::engine::kernels::loaded::LoadedKernel;
use crate::engine::lanes::Payload;
pub(crate) use crate::engine::lanes::list::List;
use crate::engine::lanes::list::{AllocNames, Branches, Counts, ListFacts, Uses};
use crate::engine::lanes::native::Native;
use crate::engine::ledger::Ledger;
use crate::engine::ledger::storages::Storages;
use crate::engine::plan::union::Union;
use crate::engine::runs::branch::{Draft, drafts};
use crate::engine::runs::command::{Action, Command};
use crate::engine::runs::run::On;
use crate::engine::terms::access::Access;
use crate::error::{Error, Label};
use crate::hal::{BodyNode, Device, HalError, Node, Op};
use crate::order::stamp::Stamp;
use crate::panics::contain;
use crate::planted::Planted;
use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::HashMap;
use std::sync::Arc;

/// Commands of which a list is compiled.
pub(crate) struct Members<'a> {
    pub(crate) commands: Vec<&'a Command>,
    /// By command: the earlier ones that it comes after.
    pub(crate) after: Vec<Vec<usize>>,
}

/// The difference between a list and what is to run in its place.
pub(crate) struct Exchange<'c> {
    pub(crate) changed: Vec<Change<'c>>,
    /// The union of all accesses, if another one than before.
    pub(crate) accesses: Option<Vec<Access>>,
}

/// A command in the place of another one.
pub(crate) struct Change<'c> {
    pub(crate) at: usize,
    pub(crate) command: &'c Command,
    /// Its scalars, where these are not its own.
    pub(crate) scalars: Option<Cow<'c, [u64]>>,
}

impl Exchange<'_> {
    /// The scalars that launches of loaded code get, by their nodes, if nothing else differs.
    fn scalars(&self) -> Option<Vec<(usize, Cow<'_, [u64]>)>> {
        match self.accesses {
            None => self.changed.iter().map(Change::loaded_scalars).collect(),
            Some(_) => None,
        }
    }
}

impl Change<'_> {
    fn loaded_scalars(&self) -> Option<(usize, Cow<'_, [u64]>)> {
        let Action::Launch(Some(launch)) = &self.command.action else { return None };
        Some((self.at, launch.loaded_scalars(self.scalars.as_deref()?)?))
    }
}

/// Why a list was not exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotExchanged {
    /// A run of it is on its way to the device, or its memory is elsewhere. It does what it did.
    NotNow,
    /// The backend has refused it, and the list is of no use any more.
    Refused,
}

impl List {
    /// The command that runs it.
    pub(crate) fn command(self: &Arc<List>, device: u16, label: &Label) -> Command {
        let mut command = Command::new(None, false);
        command.device = Some(device);
        command.label = label.clone();
        command.accesses.extend_from_slice(&self.uses.accesses);
        command.action = Action::Replay(self.clone());
        command
    }
}

impl List {
    /// The command that runs it here, after its latest run.
    pub(in crate::engine) fn command_on(self: &Arc<List>, on: On<'_>) -> Command {
        let mut command = self.command(on.device, on.label);
        (command.queue, command.in_order, command.timed) = (Some(on.queue), on.in_order, on.timed);
        command.after.extend_from_slice(on.after);
        command.behind.extend_from_slice(on.behind);
        command.behind.extend(Some(self.native.latest()).filter(|latest| *latest != Stamp::DONE));
        command.fusion = on.fusion.cloned();
        command
    }
}

/// What a node of a graph does. Advice is left out.
pub(super) fn op_of(payload: &mut Option<Payload>) -> Op<'_> {
    payload.as_mut().and_then(Payload::op).unwrap_or(Op::Join)
}

/// The nodes of a native graph, until it is made.
struct Nodes {
    commands: Vec<Command>,
    branches: Branches,
    drafts: Vec<Option<Draft>>,
    payloads: Vec<Option<Payload>>,
    counts: Counts,
}

impl Nodes {
    /// Without the ledger's lock: what commands call is the user's to clone. `None` if one of them
    /// can run only once.
    fn of(members: &Members<'_>) -> Option<Nodes> {
        let again = members.commands.iter().map(|command| command.again());
        let mut commands = again.collect::<Option<Vec<Command>>>()?;
        commands.iter_mut().for_each(Command::arm);
        let mut branches = Branches::default();
        let drafts = drafts(&commands, &mut branches)?;
        Some(Nodes { commands, branches, drafts, payloads: Vec::new(), counts: Counts::default() })
    }

    /// Finds their memory, all of which is there.
    fn locate(&mut self, ledger: &Ledger) {
        let Nodes { commands, branches, drafts, payloads, .. } = self;
        payloads.extend(
            commands.iter_mut().map(|command| {
                ledger.storages.node_payload(&mut command.action, &command.accesses)
            }),
        );
        drafts.iter_mut().flatten().for_each(|draft| draft.locate(ledger, branches));
    }

    /// Has a device make a graph of them.
    fn make(&mut self, device: &dyn Device, after: &[Vec<usize>]) -> Result<Native, HalError> {
        let steps = self.payloads.iter_mut().zip(&mut self.drafts);
        let steps = steps.map(|(payload, draft)| match draft {
            Some(draft) => draft.step(),
            None => BodyNode::Op(op_of(payload)),
        });
        let steps: Vec<BodyNode<'_>> = steps.collect();
        for step in &steps {
            if let BodyNode::Op(op) = step {
                self.counts[op.kind() as usize] += 1;
            }
        }
        let nodes = steps.iter().zip(after).map(|(step, after)| match step {
            BodyNode::Op(op) => Node { op: *op, after },
            BodyNode::Branch(branch) => Node { op: Op::Branch(branch), after },
        });
        let nodes: Vec<Node<'_>> = nodes.collect();
        device.graph(&nodes).map(Native::new)
    }

    /// The code that they run, each once.
    fn code(&self) -> Vec<Arc<LoadedKernel>> {
        let payloads = self.payloads.iter().flatten();
        let mut code: Vec<_> = payloads.filter_map(|of| of.uses().cloned()).collect();
        self.drafts.iter().flatten().for_each(|draft| draft.code(&mut code));
        code.sort_unstable_by_key(|code| Arc::as_ptr(code).addr());
        code.dedup_by(|one, other| Arc::ptr_eq(one, other));
        code
    }
}

impl Engine {
    /// Has a device make one operation of commands. An inner error says why it cannot.
    pub(crate) fn compile(
        &self,
        device: u16,
        members: Members<'_>,
    ) -> Result<Result<List, HalError>, Error> {
        let opened = self.open(device)?.clone();
        let Some(mut nodes) = Nodes::of(&members) else {
            return Ok(Err(HalError::unsupported("a command that can run only once")));
        };
        let accesses = members.commands.iter().flat_map(|command| &command.accesses);
        let accesses = Union::of(accesses);
        let ledger = self.reserve(self.lock(), &accesses, |ledger| {
            members.commands.iter().try_for_each(|command| ledger.check(command))?;
            Ok(ledger.storages.missing(&accesses))
        })?;
        let uses = Arc::new(Uses { memory: ledger.storages.places(&accesses), accesses });
        nodes.locate(&ledger);
        self.leave(ledger);
        let native = nodes.make(&*opened, &members.after);
        let code = nodes.code();
        let Nodes { branches, commands, drafts, payloads, counts } = nodes;
        // The closures that the device has not taken are the user's.
        contain(|| drop((payloads, drafts, commands)));
        let all = || members.commands.iter();
        let names = all().map(|command| (command.action.name(), command.label.clone())).collect();
        let raw = all().flat_map(|command| command.action.raw().copied()).collect();
        let after = members.after;
        let fixed = Arc::new(ListFacts { raw, names, branches, after, counts });
        Ok(native.map(|native| List { native: Arc::new(native), version: 0, uses, code, fixed }))
    }

    /// Exchanges commands of a list. Runs that were submitted before do what they did.
    pub(crate) fn exchange(
        &self,
        list: &List,
        exchange: Exchange<'_>,
    ) -> Result<Result<List, NotExchanged>, Error> {
        if !list.native.is_idle() && !self.plant.is(Planted::EarlyExchange) {
            return Ok(Err(NotExchanged::NotNow));
        }
        let Some(scalars) = exchange.scalars() else {
            return self.exchange_commands(list, exchange);
        };
        let Some((version, uses)) = self.begin_exchange(list, None, &mut [])? else {
            return Ok(Err(NotExchanged::NotNow));
        };
        let (native, code, fixed) = (list.native.clone(), list.code.clone(), list.fixed.clone());
        let new = List { native, version, uses, code, fixed };
        let nodes: Vec<_> = scalars.iter().map(|(at, words)| (*at, &**words)).collect();
        let stale = self.plant.is(Planted::StaleScalar);
        match if stale { Ok(true) } else { list.native.graph.set_scalars(&nodes) } {
            Ok(true) => Ok(Ok(new)),
            Ok(false) => self.exchange_commands(&new, exchange),
            Err(_) => Ok(Err(NotExchanged::Refused)),
        }
    }

    fn exchange_commands(
        &self,
        list: &List,
        exchange: Exchange<'_>,
    ) -> Result<Result<List, NotExchanged>, Error> {
        let Exchange { changed, accesses } = exchange;
        let Some(mut actions) = actions(changed) else { return Ok(Err(NotExchanged::Refused)) };
        let Some((version, uses)) = self.begin_exchange(list, accesses, &mut actions)? else {
            return Ok(Err(NotExchanged::NotNow));
        };
        let mut code = list.code.clone();
        let mut done = Ok(());
        for Changed { at, mut payload, .. } in actions {
            let stale = self.plant.is(Planted::StaleScalar);
            if done.is_ok() && payload.is_some() && !stale {
                done = list.native.graph.update(at, op_of(&mut payload));
            }
            if let Some(new) = payload.as_ref().and_then(Payload::uses)
                && !code.iter().any(|known| Arc::ptr_eq(known, new))
            {
                code.push(new.clone());
            }
            if let Some(Payload::Launch(Some(launch))) = payload {
                launch.recycle();
            }
        }
        let (native, fixed) = (list.native.clone(), list.fixed.clone());
        let exchanged = |()| List { native, version, uses, code, fixed };
        Ok(done.map(exchanged).map_err(|_| NotExchanged::Refused))
    }

    /// Begins an exchange: from here on no thread submits the list as it was. Returns its next
    /// version, and the memory that it uses.
    fn begin_exchange(
        &self,
        list: &List,
        accesses: Option<Vec<Access>>,
        actions: &mut [Changed<'_>],
    ) -> Result<Option<(u64, Arc<Uses>)>, Error> {
        let mut ledger = self.lock();
        if let Some(all) = &accesses
            && !ledger.storages.missing(all).is_empty()
        {
            ledger = self.reserve(ledger, all, |ledger| Ok(ledger.storages.missing(all)))?;
        }
        let uses = match accesses {
            None => ledger.storages.is_where_it_was(list).then(|| list.uses.clone()),
            Some(all) => ledger.storages.uses(all, &list.uses).map(Arc::new),
        };
        let version = || list.native.begin_exchange(list.version, self.plant);
        let begun = uses.and_then(|uses| Some((version()?, uses)));
        if begun.is_some() {
            for Changed { accesses, action, payload, .. } in actions {
                *payload = ledger.storages.node_payload(action, accesses);
            }
        }
        self.leave(ledger);
        Ok(begun)
    }
}

/// An action in the place of another one.
struct Changed<'c> {
    at: usize,
    accesses: &'c [Access],
    action: Action,
    payload: Option<Payload>,
}

/// Copies of the actions of commands. `None` for what no backend exchanges: conditions, tasks, and
/// what calls a library.
fn actions(changed: Vec<Change<'_>>) -> Option<Vec<Changed<'_>>> {
    let action = |Change { at, command, scalars }| {
        let mut action = command.action.again()?;
        match &mut action {
            Action::Conditional(_) | Action::Task { .. } | Action::Replay(_) => return None,
            Action::Launch(Some(launch)) if launch.foreign.is_some() => return None,
            Action::Launch(Some(launch)) => {
                scalars.into_iter().for_each(|words| launch.set_scalars(&words));
                launch.arm();
            }
            _ => {}
        }
        Some(Changed { at, accesses: &command.accesses, action, payload: None })
    };
    changed.into_iter().map(action).collect()
}

impl Storages {
    /// A list's memory is elsewhere than when it was compiled, or its native graph does something
    /// else by now.
    pub(crate) fn is_outdated(&self, command: &Command) -> bool {
        match &command.action {
            Action::Replay(list) => !list.is_current() || !self.is_where_it_was(list),
            _ => false,
        }
    }

    /// The memory of a list is where it was when it was compiled.
    pub(in crate::engine) fn is_where_it_was(&self, list: &List) -> bool {
        let Uses { accesses, memory } = &*list.uses;
        accesses.iter().zip(memory).all(|(access, place)| self.place_of(access) == *place)
    }

    /// What a list uses when commands have been exchanged, and where that is. `None` if memory that
    /// it has used before is elsewhere by now: other commands name it.
    fn uses(&self, accesses: Vec<Access>, before: &Uses) -> Option<Uses> {
        let memory = self.places(&accesses);
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
        stays.then_some(Uses { accesses, memory })
    }

    fn places(&self, accesses: &[Access]) -> Vec<Option<AllocNames>> {
        accesses.iter().map(|access| self.place_of(access)).collect()
    }

    fn place_of(&self, access: &Access) -> Option<AllocNames> {
        // A command that was exchanged may have used what is gone.
        let alloc = self.get(access.storage.0)?.alloc(access.domain)?;
        Some((alloc.mem, alloc.address, alloc.host))
    }
}
