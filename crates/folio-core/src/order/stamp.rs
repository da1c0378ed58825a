//! When something is done.
//!
//! A [`Stamp`] is one word. *Placed*: a tick of a lane; it is done when the lane has retired that
//! tick. *Unplaced*: a slot of the engine's slab and a generation; it is done when the slot has
//! moved on to another generation. Stamps are never reused, so they can be stored anywhere and
//! looked at much later.

use crate::hal::Tick;
use smallvec::SmallVec;

/// Index of a lane in the ledger.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) struct LaneId(pub u16);

/// Index of a deferred operation or host task in the ledger's slab.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct SlotId(pub u32);

/// When something is done, in one word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Stamp(u64);

impl Default for Stamp {
    fn default() -> Stamp {
        Stamp::DONE
    }
}

/// What a stamp says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum When {
    /// Since ever.
    Done,
    /// When this lane retires this tick.
    Placed(LaneId, Tick),
    /// When this slot leaves this generation.
    Unplaced(SlotId, u32),
}

const UNPLACED: u64 = 1 << 63;
const TICK_BITS: u32 = 48;
const GENERATION_BITS: u32 = 31;

impl Stamp {
    /// Done since ever.
    pub(crate) const DONE: Stamp = Stamp(0);

    /// A tick of a lane. 2^48 ticks are 8 years at a million a second.
    pub(crate) fn placed(lane: LaneId, tick: Tick) -> Stamp {
        debug_assert!(tick > 0 && tick < 1 << TICK_BITS && lane.0 < 1 << 15);
        Stamp((u64::from(lane.0) << TICK_BITS) | tick)
    }

    /// How many generations a slot has.
    pub(crate) const GENERATIONS: u32 = 1 << GENERATION_BITS;

    /// A generation of a slot.
    pub(crate) fn unplaced(slot: SlotId, generation: u32) -> Stamp {
        debug_assert!(generation < Stamp::GENERATIONS);
        Stamp(UNPLACED | (u64::from(slot.0) << GENERATION_BITS) | u64::from(generation))
    }

    /// Decodes.
    pub(crate) fn when(self) -> When {
        if self.0 & UNPLACED != 0 {
            let slot = (self.0 & !UNPLACED) >> GENERATION_BITS;
            let generation = self.0 & ((1 << GENERATION_BITS) - 1);
            When::Unplaced(SlotId(slot as u32), generation as u32)
        } else if self.0 == 0 {
            When::Done
        } else {
            When::Placed(LaneId((self.0 >> TICK_BITS) as u16), self.0 & ((1 << TICK_BITS) - 1))
        }
    }

    /// The stamp of the next tick, or of the next generation.
    pub(crate) fn next(self) -> Stamp {
        Stamp(self.0.saturating_add(1))
    }

    /// Both are ticks of one lane, or generations of one slot.
    pub(crate) fn is_beside(self, other: Stamp) -> bool {
        match (self.when(), other.when()) {
            (When::Placed(a, _), When::Placed(b, _)) => a == b,
            (When::Unplaced(a, _), When::Unplaced(b, _)) => a == b,
            _ => false,
        }
    }

    /// The lane of a placed stamp.
    pub(crate) fn lane(self) -> Option<LaneId> {
        match self.when() {
            When::Placed(lane, _) => Some(lane),
            _ => None,
        }
    }
}

/// Ticks of lanes to wait for: the last of each lane.
#[derive(Default, Debug)]
pub(crate) struct Waits(SmallVec<[Stamp; 4]>);

impl Waits {
    /// Waits for `tick` of `lane`, too.
    #[inline]
    pub(crate) fn add(&mut self, lane: LaneId, tick: Tick) {
        let stamp = Stamp::placed(lane, tick);
        match self.0.iter_mut().find(|s| s.lane() == Some(lane)) {
            // Of two stamps of one lane the later one is greater.
            Some(s) => *s = stamp.max(*s),
            None => self.0.push(stamp),
        }
    }

    /// Need not wait for `lane`; true if it had to.
    #[inline]
    pub(crate) fn remove(&mut self, lane: LaneId) -> bool {
        let before = self.0.len();
        self.0.retain(|s| s.lane() != Some(lane));
        self.0.len() < before
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn stamps(&self) -> &[Stamp] {
        &self.0
    }

    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (LaneId, Tick)> {
        self.0.iter().filter_map(|s| match s.when() {
            When::Placed(lane, tick) => Some((lane, tick)),
            _ => None,
        })
    }
}

impl std::fmt::Debug for Stamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.when() {
            When::Done => f.write_str("done"),
            When::Placed(lane, tick) => write!(f, "{}@{tick}", lane.0),
            When::Unplaced(slot, generation) => write!(f, "slot {}.{generation}", slot.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_say_what_went_in() {
        assert_eq!(Stamp::DONE.when(), When::Done);
        for lane in [0, 1, 77, (1 << 15) - 1] {
            for tick in [1, 2, 1 << 32, (1 << 48) - 1] {
                let stamp = Stamp::placed(LaneId(lane), tick);
                assert_eq!(stamp.when(), When::Placed(LaneId(lane), tick));
            }
        }
        for slot in [0, 5, u32::MAX] {
            for generation in [0, 1, (1 << 31) - 1] {
                let stamp = Stamp::unplaced(SlotId(slot), generation);
                assert_eq!(stamp.when(), When::Unplaced(SlotId(slot), generation));
            }
        }
    }
}
