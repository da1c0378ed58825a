//! Blocks of commands as one operation of a lane: what a queue's batch submits when it has seen the
//! same commands before.
//!
//! None of the commands can fail by itself. So all of them fail or none does, unless something
//! before the block fails that one of them uses and another one does not. A block is one operation
//! only where that cannot be: all that it waits for has ended well, or is a block of the same queue
//! of which the same is true ([`Trust`]), or brings data that are there. Otherwise its commands are
//! submitted one by one.

use crate::engine::Engine;
use crate::engine::ledger::Ledger;
use crate::engine::ledger::timeline::Timeline;
use crate::engine::runs::part::{Apart, Joined, MOVES, TRACED};
use crate::engine::runs::replay::Sure;
use crate::engine::runs::whole::Whole;
use crate::engine::terms::access::{Access, Mode};
use crate::error::Label;
use crate::foreign;
use crate::metrics::Hold;
use crate::order::hazards::Outcome;
use crate::order::stamp::{LaneId, Stamp};
use crate::planted::{Plant, Planted};
use crate::sync::Mutex;
use smallvec::SmallVec;
use std::sync::Arc;

pub(in crate::engine) const SLOW: Apart =
    "the device would take longer for them as one: it runs them one after the other";
pub(crate) const MOVED: Apart = "memory is elsewhere than it was before";
const EXCHANGED: Apart = "another thread has exchanged what the device's graph does";
pub(in crate::engine) const CLOSED: Apart = "a device was lost, or the runtime is shut down";

/// Commands that cannot fail by themselves, as one operation.
pub(crate) struct Block {
    pub(in crate::engine) whole: Arc<Whole>,
    /// Those of the whole. What is only overwritten counts as used, too: what it waits for has
    /// ended well, so this spreads no failure.
    pub(in crate::engine) accesses: Arc<[Access]>,
}

impl Block {
    pub(crate) fn new(whole: Whole) -> Block {
        let accesses = Block::accesses(&whole.uses.accesses);
        Block { accesses, whole: Arc::new(whole) }
    }

    /// How a block uses what its commands use.
    pub(in crate::engine) fn accesses(all: &[Access]) -> Arc<[Access]> {
        let of_block = |access: &Access| {
            let mode = if access.mode.writes() { Mode::Update } else { Mode::Read };
            Access { mode, ..*access }
        };
        all.iter().map(of_block).collect()
    }

    /// What its commands use together.
    pub(crate) fn uses(&self) -> &[Access] {
        &self.whole.uses.accesses
    }

    /// By command: the earlier ones that it comes after.
    pub(crate) fn after(&self) -> &[Vec<usize>] {
        &self.whole.fixed.after
    }
}

/// What is known of a queue's blocks that have not ended: of which of them only the device can fail
/// one.
#[derive(Default)]
pub(crate) struct Trust {
    /// Operations of blocks. They cannot fail unless a doubt does.
    sure: Sure,
    /// With so many of them, those are left out that have ended.
    full: usize,
    /// What these wait for, and is not one of them.
    doubts: Vec<Stamp>,
    /// What the latest block would have waited for besides.
    asked: SmallVec<[Stamp; 4]>,
}

/// How many operations of blocks are kept at least before those are left out that have ended.
const KEPT: usize = 64;

impl Trust {
    /// Nothing of this can fail but by the device.
    pub(in crate::engine) fn covers(
        &mut self,
        sources: impl Iterator<Item = Stamp>,
        timeline: &Timeline,
    ) -> bool {
        self.forget(|stamp| timeline.outcome(stamp) == Outcome::Pending);
        if self.doubts.iter().any(|doubt| timeline.outcome(*doubt) == Outcome::Failed) {
            (self.sure, self.doubts) = (Sure::default(), Vec::new());
        }
        self.doubts.retain(|doubt| timeline.outcome(*doubt) == Outcome::Pending);
        self.asked.clear();
        self.asked.extend(sources.filter(|source| !self.sure.contains(*source)));
        self.asked.is_empty() && self.doubts.is_empty()
    }

    /// Only the device, or a doubt, can fail this.
    pub(in crate::engine) fn contains(&self, stamp: Stamp) -> bool {
        self.doubts.is_empty() && self.sure.contains(stamp)
    }

    /// A block is this operation, or needs what it brings.
    pub(in crate::engine) fn add(&mut self, stamp: Stamp) {
        self.sure.push(stamp);
    }

    /// Leaves out what has ended, once that may be much.
    fn forget(&mut self, is_pending: impl Fn(Stamp) -> bool) {
        if self.sure.len() >= self.full.max(KEPT) {
            self.sure.retain(is_pending);
            self.full = 2 * self.sure.len();
        }
    }

    /// The latest block that was asked about was submitted one by one, as these operations.
    pub(crate) fn add_apart(&mut self, stamps: impl Iterator<Item = Stamp>) {
        self.doubts.extend(self.asked.drain(..));
        stamps.for_each(|stamp| self.sure.push(stamp));
    }
}

/// On which queue a block runs.
#[derive(Clone, Copy)]
pub(crate) struct On {
    pub(crate) queue: u32,
    pub(crate) in_order: bool,
    pub(crate) device: u16,
    pub(crate) timed: bool,
}

impl Engine {
    /// Submits a block as one operation. An error says why its commands have to be submitted one by
    /// one; then nothing has been submitted but what may have brought data for it.
    pub(crate) fn run_block(
        &self,
        on: On,
        block: &Block,
        trust: &Mutex<Trust>,
    ) -> Result<Stamp, Apart> {
        if foreign::listening() {
            return Err(TRACED);
        }
        if block.whole.native.graph.is_slow() {
            return Err(SLOW);
        }
        let mut ledger = self.lock();
        let hold = Hold::begin();
        ledger.traced = false;
        ledger.look_at(on.device);
        // Another thread that knew this block may have exchanged commands of it.
        let submitted = match block.whole.is_current() || self.plant.is(Planted::OldVersion) {
            true => {
                let mut trust = trust.lock();
                match ledger.straight_block(on, block, &mut trust) {
                    Err(MOVES) => ledger.general_block(on, block, &mut trust, self.plant),
                    straight => straight.map(|(stamp, lane)| (stamp, Some(lane))),
                }
            }
            false => Err(EXCHANGED),
        };
        hold.end();
        match submitted {
            Ok((_, Some(lane))) if ledger.is_quiet() => {
                drop(ledger);
                self.hand_over(lane);
            }
            Ok((_, Some(lane))) => {
                ledger.outbox.drain.push(lane);
                self.leave(ledger);
            }
            Ok((_, None)) | Err(_) => self.leave(ledger),
        }
        submitted.map(|(stamp, _)| stamp)
    }
}

impl Ledger {
    /// All of this has memory.
    pub(in crate::engine) fn are_allocated(&self, all: &[Access]) -> bool {
        let alloc = |at: &Access| self.storages.get(at.storage.0)?.alloc(at.domain);
        all.iter().all(|at| alloc(at).is_some())
    }

    /// Takes a block as one operation as any command, because data must be brought for it, or
    /// because it uses a part of a buffer.
    fn general_block(
        &mut self,
        on: On,
        block: &Block,
        trust: &mut Trust,
        plant: Plant,
    ) -> Result<(Stamp, Option<LaneId>), Apart> {
        let whole = &block.whole;
        let mut command = whole.command(on.device, &Label::of(&"batch"));
        (command.queue, command.in_order, command.timed) = (Some(on.queue), on.in_order, on.timed);
        command.behind.extend(Some(whole.native.latest()).filter(|latest| *latest != Stamp::DONE));
        if !self.are_allocated(&command.accesses) || self.check(&command).is_err() {
            return Err(MOVES);
        }
        let known = |stamp| trust.contains(stamp);
        let Joined { stamp, brought, .. } = self.join(&mut command, whole, &known, plant)?;
        brought.iter().chain([&stamp]).for_each(|stamp| trust.add(*stamp));
        whole.native.note_latest(stamp);
        Ok((stamp, None))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::order::stamp::LaneId;
    use std::cell::Cell;

    /// A device may be many blocks behind. Each of them is looked at a few times, and those that
    /// have ended are forgotten.
    #[test]
    fn many_blocks_in_flight_take_linear_time() {
        let (mut trust, looks) = (Trust::default(), Cell::new(0));
        let stamp = |tick| Stamp::placed(LaneId(0), tick);
        for tick in 1..=100_000 {
            let is_pending = |_| {
                looks.set(looks.get() + 1);
                true
            };
            trust.forget(is_pending);
            trust.add(stamp(tick));
        }
        assert!(looks.get() <= 300_000, "{} looks", looks.get());
        assert_eq!(trust.sure.len(), 100_000);
        for tick in 100_001..=300_000 {
            trust.forget(|_| false);
            trust.add(stamp(tick));
        }
        assert!(trust.sure.len() <= KEPT, "{}", trust.sure.len());
        let timeline = Timeline::new(8);
        assert!(trust.covers(std::iter::once(stamp(300_000)), &timeline));
        assert!(!trust.covers(std::iter::once(stamp(300_001)), &timeline));
    }
}
