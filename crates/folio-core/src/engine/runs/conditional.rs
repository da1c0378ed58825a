//! Conditional nodes of graphs: which list of commands runs, and how often, depends on a value that
//! is known only when the node's turn comes.
//!
//! For the ledger such a node is one operation, which uses on its device everything that its bodies
//! use. So all data are there before it begins, and no other operation uses them until it ends.
//! When its turn comes, a host thread reads the value and submits the commands of the chosen body
//! to one lane, one behind the other. They look at no hazards: they stay within what the node has.
//!
//! Where the device's own graphs take conditional nodes ([`branch`](super::branch)), the device
//! reads the value, and no thread waits.
//!
//! The thread waits for lanes only. What is on a lane never waits for a node that is under way, so
//! no two nodes wait for each other. An operation that fails ends its body, and the node fails with
//! that same failure, when all that it has submitted has ended.

use crate::engine::Engine;
use crate::engine::lanes::Payload;
use crate::engine::ledger::{Body, NewOp, TaskError};
use crate::engine::plan::copies::Route;
use crate::engine::runs::command::{Action, Command};
use crate::engine::terms::access::Access;
use crate::engine::terms::access::RawMem;
use crate::engine::terms::staging::Staging;
use crate::engine::threads::wait::WaitEnd;
use crate::error::{Cause, GraphError, Label};
use crate::hal::{Choice, CopyRect, HalError, HalErrorKind, HostPtr, MemBase, MemRef, Timing};
use crate::order::hazards::{Deps, add_dep};
use crate::order::stamp::{LaneId, Stamp};
use crate::pages::DomainId;
use std::ops::Bound;
use std::sync::{Arc, OnceLock, Weak};

/// What a conditional node does.
pub(crate) struct Conditional {
    pub(crate) engine: Weak<Engine>,
    pub(crate) device: u16,
    pub(crate) choice: Choice,
    pub(crate) value: Value,
    pub(crate) bodies: Vec<Arc<[Command]>>,
    /// How deep conditional nodes are nested in it: with none in its bodies, 1.
    pub(crate) depth: usize,
    /// The raw memory that the bodies name.
    pub(crate) raw: Vec<RawMem>,
    /// Of a timed run.
    pub(crate) timing: Option<BodyTiming>,
}

/// When the device ran what a host thread submitted for a node; none if that was nothing. Empty
/// until the node has ended.
pub(crate) type BodyTiming = Arc<OnceLock<Option<Timing>>>;

/// Where the value is: so many bytes of an access, from a byte on.
#[derive(Clone, Copy)]
pub(crate) struct Value {
    pub(crate) access: Access,
    pub(crate) offset: u64,
    pub(crate) bytes: usize,
    /// In place of the value counts whether it is in a range.
    pub(crate) within: Option<Within>,
}

/// A range of numbers, by their bits.
#[derive(Clone, Copy)]
pub(crate) struct Within {
    pub(crate) ends: [Bound<u64>; 2],
    pub(crate) has: fn(u64, [Bound<u64>; 2]) -> bool,
}

impl Conditional {
    /// Runs the node, on a host thread when its turn has come.
    pub(crate) fn run(&self, queue: Option<u32>, label: &Label) -> Result<(), TaskError> {
        let Some(engine) = self.engine.upgrade() else {
            return Err(broken("the runtime is gone"));
        };
        let ledger = engine.lock();
        let lane = ledger.timeline.free_lane(self.device, None, &ledger.topology);
        drop(ledger);
        let timed = self.timing.is_some();
        let last = Stamp::DONE;
        let mut run = Run { engine: &engine, queue, lane, last, timed, span: None, ran: None };
        let result = run.node(self, label);
        // The node has what it uses until nothing of it is under way.
        let ended = run.wait();
        if let Some(timing) = &self.timing {
            let _ = timing.set(run.ran);
        }
        result.and(ended)
    }

    /// The same node, which tells when it ran.
    pub(crate) fn timed(&self) -> (Conditional, BodyTiming) {
        let timing = BodyTiming::default();
        let node = Conditional {
            engine: self.engine.clone(),
            device: self.device,
            choice: self.choice,
            value: self.value,
            bodies: self.bodies.clone(),
            depth: self.depth,
            raw: self.raw.clone(),
            timing: Some(timing.clone()),
        };
        (node, timing)
    }
}

/// A node under way.
struct Run<'e> {
    engine: &'e Engine,
    queue: Option<u32>,
    lane: LaneId,
    /// The latest operation; it comes after all others.
    last: Stamp,
    timed: bool,
    /// The first and last command of bodies since the latest wait.
    span: Option<[Stamp; 2]>,
    /// When all before that ran.
    ran: Option<Timing>,
}

impl Run<'_> {
    fn node(&mut self, node: &Conditional, label: &Label) -> Result<(), TaskError> {
        match node.choice {
            Choice::If => {
                let body = usize::from(self.value(node, label)? == 0);
                self.body(node, body)
            }
            Choice::Switch => {
                let body = usize::try_from(self.value(node, label)?).unwrap_or(usize::MAX);
                self.body(node, body)
            }
            Choice::While { limit } => {
                let mut times = 0;
                while self.value(node, label)? != 0 {
                    if times == limit {
                        let command = label.clone();
                        let storage = node.value.access.storage;
                        let state =
                            self.engine.lock().storages.get(storage.0).map(|s| s.label.clone());
                        let buffer = state.unwrap_or_default();
                        let reached = GraphError::LimitReached { command, buffer, limit };
                        return Err(Cause::Graph(Arc::new(reached)).into());
                    }
                    times += 1;
                    self.body(node, 0)?;
                }
                Ok(())
            }
        }
    }

    /// Submits the commands of a body, if there is one of this number. Nodes within it run here.
    fn body(&mut self, node: &Conditional, body: usize) -> Result<(), TaskError> {
        let Some(commands) = node.bodies.get(body) else { return Ok(()) };
        let inner = |command: &Command| matches!(command.action, Action::Conditional(_));
        for part in commands.chunk_by(|a, b| !inner(a) && !inner(b)) {
            match &part[0].action {
                Action::Conditional(inner) => self.node(inner, &part[0].label)?,
                _ => self.submit(part)?,
            }
        }
        Ok(())
    }

    fn submit(&mut self, commands: &[Command]) -> Result<(), TaskError> {
        // Without the lock: what they call is the user's to clone.
        let again = commands.iter().map(Command::again).collect::<Option<Vec<_>>>();
        // The graph has checked that each of them can be done again and again.
        let mut commands = again.ok_or_else(|| broken("a command of a body can run only once"))?;
        commands.iter_mut().for_each(Command::arm);
        self.engine.enter(|ledger| {
            for command in &mut commands {
                let Command { action, accesses, .. } = command;
                let payload = ledger.storages.node_payload(action, accesses);
                let Some(mut payload) = payload else { continue };
                ledger.count_payload(&mut payload, self.queue);
                let (what, label) = (command.action.name(), std::mem::take(&mut command.label));
                self.last = ledger.submit(NewOp {
                    what,
                    label,
                    queue: self.queue,
                    timed: self.timed,
                    deps: after(self.last),
                    body: Body::Lane(self.lane, payload),
                    ..NewOp::default()
                });
                self.span = Some([self.span.map_or(self.last, |[first, _]| first), self.last]);
            }
        });
        Ok(())
    }

    /// The value, after everything so far.
    fn value(&mut self, node: &Conditional, label: &Label) -> Result<u64, TaskError> {
        let Value { access, offset, bytes, within } = node.value;
        let no_memory = || broken("no memory on the host for the value of a condition");
        let staging = Staging::of(&[0; 8]).map(Arc::new).ok_or_else(no_memory)?;
        let host = staging.ptr();
        let alloc = self.engine.enter(|ledger| {
            let alloc = ledger.storages[access.storage.0].alloc(access.domain).copied()?;
            if access.domain == DomainId::HOST {
                return Some(alloc);
            }
            let rect = CopyRect {
                src: alloc.at(offset),
                src_pitch: [bytes as u64; 2],
                dst: MemRef { base: MemBase::Host(host), offset: 0 },
                dst_pitch: [bytes as u64; 2],
                extent: [1, 1, bytes as u64],
            };
            let lane = match ledger.topology.route(access.domain, DomainId::HOST) {
                Route::Direct(lane) => lane,
                Route::Staged(..) | Route::Host => self.lane,
            };
            self.last = ledger.submit(NewOp {
                what: "condition",
                label: label.clone(),
                queue: self.queue,
                deps: after(self.last),
                staging: Some(staging.clone()),
                body: Body::Lane(lane, Payload::Copy(vec![rect])),
                ..NewOp::default()
            });
            Some(alloc)
        });
        self.wait()?;
        let from = match alloc.map(|alloc| alloc.at(offset)) {
            Some(MemRef { base: MemBase::Host(HostPtr(base)), offset })
                if access.domain == DomainId::HOST =>
            {
                base.wrapping_add(offset as usize)
            }
            _ => host.0,
        };
        let mut value = [0; 8];
        let bytes = bytes.min(value.len());
        // SAFETY: the node has the access, whose memory holds that many bytes there, and nothing of
        // it is under way; the staging memory is this function's own, and the copy has ended.
        unsafe { from.copy_to_nonoverlapping(value.as_mut_ptr(), bytes) };
        let shift = if cfg!(target_endian = "big") { 8 * (8 - bytes as u32) } else { 0 };
        let value = u64::from_ne_bytes(value) >> shift;
        Ok(within.map_or(value, |Within { ends, has }| has(value, ends).into()))
    }

    /// Waits for everything so far.
    fn wait(&mut self) -> Result<(), TaskError> {
        let waited = self.engine.wait_anywhere(self.last);
        if self.timed
            && let Some(span) = self.span.take()
        {
            // Now: a lane remembers the latest operations only.
            let ran = span.into_iter().filter_map(|at| self.engine.timing_of(at));
            self.ran = self.ran.into_iter().chain(ran).reduce(Timing::and);
        }
        match waited {
            WaitEnd::Failed(failure) => Err(TaskError::Known(failure)),
            WaitEnd::Done | WaitEnd::TimedOut => Ok(()),
        }
    }
}

/// A failure that is not the user's.
fn broken(why: &'static str) -> TaskError {
    Cause::Backend(HalError::new(HalErrorKind::Driver, why)).into()
}

fn after(stamp: Stamp) -> Deps {
    let mut deps = Deps::new();
    add_dep(&mut deps, stamp, true);
    deps
}
