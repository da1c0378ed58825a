//! Where the ledger meets the native lanes: it hands operations over, and asks how far lanes are
//! and what has failed. Nothing else of it touches a backend.

use crate::engine::lanes::{LaneOp, LaneShared, Lanes, Payload};
use crate::engine::terms::lane::LANES_PER_DEVICE;
use crate::error::Label;
use crate::hal::{HalError, Lost, Order, Tick};
use crate::order::stamp::{LaneId, Stamp, Waits, When};
use std::collections::VecDeque;
use std::sync::OnceLock;

/// All native lanes, by id; filled as devices are opened.
pub(crate) struct LaneTable(Box<[OnceLock<LaneShared>]>);

impl LaneTable {
    pub(crate) fn new(devices: usize) -> LaneTable {
        let count = devices * usize::from(LANES_PER_DEVICE);
        LaneTable((0..count).map(|_| OnceLock::new()).collect())
    }

    /// The lanes of the devices that are open.
    pub(crate) fn all(&self) -> impl Iterator<Item = &LaneShared> {
        self.0.iter().filter_map(OnceLock::get)
    }

    pub(crate) fn set(&self, lane: LaneShared) {
        if let Some(place) = self.0.get(usize::from(lane.id.0)) {
            let _ = place.set(lane);
        }
    }

    /// The tick up to which the operations of a lane have ended, as far as it is known whether they
    /// have failed; nothing for a lane that is not open.
    pub(in crate::engine) fn ended(&self, lane: LaneId) -> Result<Tick, Lost> {
        let Some(shared) = self.shared(lane) else { return Ok(0) };
        // An operation whose call has not returned may have ended; but whether the call failed is
        // not known before.
        Ok(shared.native.completed()?.min(shared.enqueued()))
    }

    /// Moves what has failed on a lane to `told`.
    pub(in crate::engine) fn failures(&self, lane: LaneId, told: &mut VecDeque<(Tick, HalError)>) {
        if let Some(shared) = self.shared(lane) {
            shared.tell_failures(told);
        }
    }

    /// Something will wait for exactly this tick, which is to be handed over next.
    pub(in crate::engine) fn expect_wait_for(&self, stamp: Stamp) {
        if let When::Placed(lane, tick) = stamp.when()
            && let Some(shared) = self.shared(lane)
        {
            shared.expect_wait_for(tick);
        }
    }

    /// Puts the operation of a tick at the end of a lane's mailbox. The operation waits for other
    /// lanes.
    ///
    /// # Safety
    /// A single thread at a time calls this: the one that has the ledger locked.
    #[inline]
    pub(in crate::engine) unsafe fn hand_over(
        &self,
        (lane, tick): (LaneId, Tick),
        (order, waits): (Order, Waits),
        (label, timed): (Label, bool),
        payload: Payload,
    ) {
        let Some(shared) = self.shared(lane) else { return };
        for (other, tick) in waits.iter() {
            if let Some(other) = self.shared(other) {
                other.expect_wait_for(tick);
            }
        }
        let make = || LaneOp { tick, order, waits, label, timed, payload };
        // SAFETY: the caller's promise: there is one producer at a time.
        unsafe { shared.mailbox.push_with(make) };
    }
}

impl Lanes for LaneTable {
    fn shared(&self, id: LaneId) -> Option<&LaneShared> {
        self.0.get(usize::from(id.0))?.get()
    }
}
