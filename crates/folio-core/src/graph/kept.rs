//! What a queue remembers of its batches: orders of commands by *shape*, what is expected of blocks
//! by *kind*, and blocks of which the device has a graph.
//!
//! A block that is a known one but for its arguments is one operation after these have been
//! exchanged in the device's graph. Yet where an earlier block had the same arguments, it is worth
//! a graph of its own, as long as there is room: buffers that take turns have one each. So has a
//! block for which the graph could not be exchanged, since its latest replay is on its way: the
//! graphs of a kind take turns then.

use super::batch::{BatchReport, Desk};
use super::chains::before_of;
use super::conflicts::{After, IdMap};
use super::known::{Changed, KNOWN, Known};
use super::order::order_of;
use super::pool::{Pool, Temporaries};
use super::replay::can_fail;
use super::shapes::{Expected, Kind, Shape, key_of};
use super::template::Work;
use super::trail::Trail;
use super::values::Values;
use super::{Inner, alike};
use crate::buffer::StorageHandle;
use crate::engine::runs::block::{Block as OneOperation, On, Trust};
use crate::engine::runs::command::{Action, Command};
use crate::engine::runs::exchange::{Exchange, NotExchanged};
use crate::engine::runs::part::Apart;
use crate::engine::runs::replay::Order;
use crate::group::Leases;
use crate::hal::DeviceKind;
use crate::planted::{Plant, Planted};
use crate::sync::Mutex;
use std::borrow::Cow;
use std::sync::Arc;

/// How many shapes, and kinds, of blocks a queue keeps.
const SHAPES: usize = 16;

pub(super) const NEW: Apart = "it is one of the first blocks of these commands";
const LEARNT: Apart = "the device was given a graph of it for later blocks";
pub(super) const MAKES: Apart = "it makes buffers";
const ORDER: Apart = "its commands use each other's data in another way than before";
const FIXED: Apart = "the device does not exchange what these commands do";
const NO_GRAPH: Apart = "the device makes no graph of its commands";
const UNKNOWN: Apart = "what one of its commands does cannot be compared with earlier ones";
const CALLS: Apart = "it calls a library, and what that does cannot be compared";
const OF_HOST: Apart = "a pointer names memory of the host, which may be gone the next time";
const MANY: Apart = "as much of its memory is other as takes the CPU no longer one by one";
const CONDITION: Apart = "it has a condition that the device does not decide";

/// What the batches of a queue have in common.
#[derive(Default)]
pub(crate) struct Batches {
    kept: Mutex<Kept>,
    pub(super) trust: Mutex<Trust>,
}

#[derive(Default)]
struct Kept {
    desk: Option<Desk>,
    /// Those that were found last come first.
    shapes: Vec<Shape>,
    kinds: Vec<Kind>,
    known: Arc<Vec<Arc<Known>>>,
    report: BatchReport,
    pool: Pool,
}

/// A block that is submitted one by one.
pub(super) struct Block<'b> {
    pub(super) commands: &'b [Command],
    pub(super) works: &'b [Work],
    pub(super) after: &'b After,
    /// Kernels that were described, and the launches that they are.
    pub(super) launches: (usize, usize),
    /// Why no such block is one operation, if that is known.
    pub(super) apart: Option<Apart>,
}

/// What is known of a block.
pub(super) struct Found {
    pub(super) order: Arc<Order>,
    pub(super) kind: u64,
    pub(super) expected: Expected,
}

impl Kept {
    fn kind(&mut self, key: u64) -> Option<&mut Kind> {
        self.kinds.iter_mut().find(|kind| kind.key == key)
    }

    /// There is room for one more graph, or for one in place of one that is not used any more.
    fn has_room(&self) -> bool {
        let now = self.report.batches;
        self.known.len() < KNOWN || self.known.iter().any(|known| known.is_stale(now))
    }

    /// Gives up a graph. Returns it, to be dropped without a lock.
    fn give_up(&mut self, at: usize) -> Arc<Known> {
        let old = Arc::make_mut(&mut self.known).remove(at);
        if let Some(kind) = self.kind(old.kind) {
            if old.was_used() { kind.gain() } else { kind.waste() }
        }
        old
    }
}

impl Batches {
    pub(super) fn report(&self) -> BatchReport {
        self.kept.lock().report
    }

    /// The desk, if it is free, and the blocks that are known.
    pub(super) fn take_desk(&self) -> (Option<Desk>, Arc<Vec<Arc<Known>>>) {
        let mut kept = self.kept.lock();
        (kept.desk.take(), kept.known.clone())
    }

    pub(super) fn give_desk(&self, desk: Desk) {
        let other = self.kept.lock().desk.replace(desk);
        drop(other);
    }

    pub(super) fn has_room(&self) -> bool {
        self.kept.lock().has_room()
    }

    /// Says why the latest block was submitted one by one.
    pub(super) fn tell(&self, why_not: Apart) {
        self.kept.lock().report.why_not = Some(why_not);
    }

    /// A block was one operation.
    pub(super) fn count_known(&self, known: &Known, exchanged: bool) {
        let report = &mut self.kept.lock().report;
        report.batches += 1;
        report.found += 1;
        report.replayed += 1;
        report.exchanged += u64::from(exchanged);
        report.why_not = None;
        report.temporaries = 0;
        (report.commands, report.kernels) = (known.len(), known.kernels);
        report.launches = known.kernels;
        known.note_used(report.batches);
    }

    /// Exchanges commands of a known block for those of one that was recorded along it. An error
    /// says why that one has to be submitted one by one.
    pub(super) fn exchange(
        &self,
        graph: &Inner,
        on: On,
        (trail, made): (&mut Trail, bool),
        leases: &mut Vec<Arc<StorageHandle>>,
    ) -> Result<Arc<Known>, Apart> {
        let known = trail.whole().ok_or(NEW)?.0.clone();
        graph.core.engine.may_exchange(&known.block)?;
        if let Some(values) = trail.values() {
            let digest = known.digest(&[], values);
            self.may_exchange(known.kind, digest)?;
            if let Some(why) = values.iter().find_map(|(at, words)| known.why_not(at, words)) {
                return Err(why);
            }
            let exchange = known.exchange_values(values);
            let done = graph.core.engine.exchange(on, &known.block, exchange, &self.trust);
            let block = self.exchanged(&known, done)?;
            let new = Arc::new(known.with_values(trail.take_values(), block));
            self.keep(&known, &new, (trail, digest));
            return Ok(new);
        }
        let changed = trail.changed();
        if made && has_temporary(changed) {
            return Err(MAKES);
        }
        let digest = known.digest(changed, &Values::default());
        self.may_exchange(known.kind, digest)?;
        let refused = |(_, template): &Changed| graph.why_no_block(&template.command);
        if let Some(why) = changed.iter().find_map(refused) {
            return Err(why);
        }
        let done = match known.exchange(changed) {
            Some(exchange) if !graph.pays(&exchange, known.len()) => return Err(MANY),
            Some(exchange) => graph.core.engine.exchange(on, &known.block, exchange, &self.trust),
            None => Err(NotExchanged::Apart(ORDER)),
        };
        let block = self.exchanged(&known, done)?;
        let Some((changed, buffers)) = trail.take_changed() else {
            self.replace(&known, None, |_| ());
            return Err(NEW);
        };
        leases.extend(buffers);
        let new = Arc::new(known.with(changed, block));
        self.keep(&known, &new, (trail, digest));
        Ok(new)
    }

    /// What has become of an exchange.
    fn exchanged(
        &self,
        known: &Arc<Known>,
        done: Result<OneOperation, NotExchanged>,
    ) -> Result<OneOperation, Apart> {
        done.map_err(|why| match why {
            NotExchanged::Apart(why) => {
                if let Some(kind) = self.kept.lock().kind(known.kind) {
                    kind.fail(why);
                }
                why
            }
            NotExchanged::Refused => {
                self.replace(known, None, |kind| kind.fixed = true);
                FIXED
            }
        })
    }

    /// Keeps what a block is by now in the place of what it was.
    fn keep(&self, old: &Arc<Known>, new: &Arc<Known>, (trail, digest): (&mut Trail, u64)) {
        // If another thread exchanges commands of it before it is submitted, these are its own.
        trail.is_now(new.clone());
        self.replace(old, Some(new.clone()), |kind| kind.succeed(digest));
    }

    /// That a block of these arguments is worth an exchange, and no graph of its own.
    fn may_exchange(&self, kind: u64, digest: u64) -> Result<(), Apart> {
        let mut kept = self.kept.lock();
        let has_room = kept.has_room();
        match kept.kind(kind) {
            Some(kind) if kind.fixed => Err(FIXED),
            Some(kind) if has_room && kind.has(digest) => Err(NEW),
            Some(kind) => kind.try_again(),
            None => Ok(()),
        }
    }

    /// Keeps a block in the place of another one, or gives up that one.
    fn replace(&self, old: &Arc<Known>, new: Option<Arc<Known>>, note: impl FnOnce(&mut Kind)) {
        let mut kept = self.kept.lock();
        if let Some(kind) = kept.kind(old.kind) {
            note(kind);
        }
        // Another thread may have given it up.
        let at = kept.known.iter().position(|known| Arc::ptr_eq(known, old));
        let gone = match (at, new) {
            (Some(at), Some(new)) => {
                let all = Arc::make_mut(&mut kept.known);
                all.get_mut(at).map(|known| std::mem::replace(known, new))
            }
            (Some(at), None) => Some(kept.give_up(at)),
            (None, _) => None,
        };
        drop(kept);
        drop(gone);
    }

    /// Keeps commands as a block that is one operation from now on, if they can be.
    pub(super) fn learn(&self, graph: &Inner, commands: Vec<Command>, after: After, kind: u64) {
        let why = commands.iter().find_map(|command| {
            let unknown = !alike::is_alike(command, command);
            graph.why_no_block(command).or_else(|| unknown.then(|| why_unknown(command)))
        });
        let made = match why {
            Some(why) => Ok(Err(why)),
            None => graph.as_block(&commands, &after).map(|block| block.ok_or(NO_GRAPH)),
        };
        // The block has been submitted. What went wrong since is met by the next one.
        let Ok(made) = made else { return };
        let mut kept = self.kept.lock();
        let block = match made {
            Ok(block) => block,
            Err(why) => {
                kept.report.why_not = Some(why);
                if let Some(kind) = kept.kind(kind) {
                    kind.apart = Some(why);
                }
                return;
            }
        };
        let now = kept.report.batches;
        kept.report.graphs += 1;
        kept.report.why_not = Some(LEARNT);
        let same = kept.known.iter().position(|known| known.is_for(&commands));
        let full = kept.known.len() == KNOWN;
        let oldest = || {
            let all = kept.known.iter().enumerate().filter(|_| full);
            all.min_by_key(|(_, known)| known.latest()).map(|(at, _)| at)
        };
        // Its memory is elsewhere, or it is the one that was not used for the longest.
        let old = same.or_else(oldest).map(|at| kept.give_up(at));
        let new = Arc::new(Known::new(commands, after, block, (kind, now)));
        Arc::make_mut(&mut kept.known).insert(0, new);
        drop(kept);
        drop(old);
    }

    /// Gives the temporaries of a block memory. Returns what is given up for that, to be dropped
    /// without a lock.
    pub(super) fn place(
        &self,
        commands: &mut [Command],
        after: &After,
        (temporaries, leases): (Temporaries, &[Leases]),
        plant: Plant,
    ) -> Vec<Arc<StorageHandle>> {
        let mut kept = self.kept.lock();
        let Kept { report, pool, .. } = &mut *kept;
        report.temporaries = temporaries.len();
        if temporaries.is_empty() {
            return Vec::new();
        }
        let before = before_of(after, commands.iter().map(|command| &command.accesses[..]));
        let handles = leases.iter().flatten();
        let handles = handles.filter(|handle| temporaries.contains_key(&handle.id)).cloned();
        let old = pool.place(commands, &before, (&temporaries, handles.collect()), plant);
        (report.memories, report.bytes) = pool.counts();
        old
    }

    /// What is known of a block: its order is that of an earlier one if it was the same but for its
    /// buffers and values.
    pub(super) fn find(&self, block: &Block<'_>, plant: Plant) -> Found {
        let Block { commands, works, after, launches, apart } = *block;
        let (key, kind) = key_of(commands, works, after);
        let mut kept = self.kept.lock();
        let Kept { shapes, kinds, report, .. } = &mut *kept;
        report.batches += 1;
        report.commands = commands.len();
        (report.kernels, report.launches) = launches;
        let mut expected = Expected::default();
        if apart.is_none() {
            match kinds.iter().position(|known| known.key == kind) {
                Some(at) => kinds[..=at].rotate_right(1),
                None => {
                    kinds.truncate(SHAPES - 1);
                    kinds.insert(0, Kind::new(kind));
                }
            }
            expected = kinds[0].found(commands.iter());
        }
        let is_equal = |shape: &Shape| {
            let count = shape.key.len() == key.len();
            shape.key == key || count && plant.is(Planted::OtherStructure)
        };
        if let Some(at) = shapes.iter().position(is_equal) {
            report.found += 1;
            shapes[..=at].rotate_right(1);
            return Found { order: shapes[0].order.clone(), kind, expected };
        }
        report.made += 1;
        let accesses = commands.iter().map(|command| &command.accesses[..]);
        let order = Arc::new(order_of(after.clone(), &[], accesses));
        if shapes.len() == SHAPES {
            shapes.pop();
            report.evicted += 1;
        }
        shapes.insert(0, Shape { key, order: order.clone() });
        Found { order, kind, expected }
    }
}

/// Why a command is like no other one, not even itself.
fn why_unknown(command: &Command) -> Apart {
    match &command.action {
        Action::Launch(Some(launch)) if launch.foreign.is_some() => CALLS,
        action if action.raw().any(|raw| raw.storage.is_none()) => OF_HOST,
        _ => UNKNOWN,
    }
}

/// One of these commands uses a buffer of which nothing else has a handle.
fn has_temporary(changed: &[Changed]) -> bool {
    let handles = || changed.iter().flat_map(|(_, template)| &template.leases);
    let mut uses: IdMap<usize> = IdMap::default();
    handles().for_each(|handle| *uses.entry(handle.id).or_default() += 1);
    handles().any(|handle| uses.get(&handle.id) == Some(&Arc::strong_count(handle)))
}

impl Inner {
    /// An exchange of commands of a block costs less than to submit all of them. That is so of
    /// other values. Of other memory it is on a CPU, which runs tiny commands while they are
    /// submitted: with these a command takes 15,000 instructions, one of a known block 2,900, and
    /// an exchange of memory some 13,500 more.
    fn pays(&self, exchange: &Exchange<'_>, all: usize) -> bool {
        let info = &self.core.engine.devices[usize::from(self.device)].info;
        let is_submitter = info.kind == DeviceKind::Cpu && info.caps.closures;
        !is_submitter || exchange.accesses.is_none() || 3 * exchange.changed.len() + 4 <= all
    }

    /// Why a command cannot be of a block that is one operation.
    fn why_no_block(&self, command: &Command) -> Option<Apart> {
        let why = self.why_not(command, true)?;
        let fault = match &command.action {
            Action::Launch(Some(launch)) => can_fail(launch).map(|fault| fault.apart()),
            _ => None,
        };
        Some(match why {
            Cow::Borrowed(why) => why,
            Cow::Owned(_) => fault.unwrap_or(CONDITION),
        })
    }
}
