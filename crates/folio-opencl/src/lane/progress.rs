//! How far a lane is: a load. The driver is asked by those who hand operations over or wait, and not by a thread
//! beside a courier, which that would hold up.
//!
//! Whoever sees that a tick has ended must also see that those have which it waited for, on whatever lane: failures
//! are told from there. So lanes advance one at a time, and each takes those along that it has waited for
//! ([`OpenClLane::publish`]).

use super::OpenClLane;
use crate::verdict::Told;
use folio_core::hal::{Lost, Tick};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError, TryLockError};

/// Held by whoever advances lanes, and taken before a lane's state. A lane's `done` changes under this only.
static ADVANCE: Mutex<()> = Mutex::new(());

impl OpenClLane {
    /// How far it is, as far as known.
    pub(super) fn done(&self) -> Tick {
        self.done.load(Ordering::Acquire)
    }

    /// Looks how far the queue is.
    pub(super) fn look(&self) -> Result<Tick, Lost> {
        let _advance = ADVANCE.lock().unwrap_or_else(PoisonError::into_inner);
        self.advance()
    }

    /// The same, unless somebody is at it. Of a loss, everybody else who looks tells.
    pub(super) fn try_look(&self) {
        let _advance = match ADVANCE.try_lock() {
            Ok(advance) => advance,
            Err(TryLockError::Poisoned(advance)) => advance.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        drop(self.advance());
    }

    fn advance(&self) -> Result<Tick, Lost> {
        let passed = self.sweep()?;
        self.publish(passed);
        Ok(self.done())
    }

    /// The last mark that the queue has passed. What launches before it have said is kept.
    fn sweep(&self) -> Result<Tick, Lost> {
        let mut state = self.lock();
        state.looked = state.issued;
        while let Some(mark) = state.marks.front() {
            // A command that fails leaves its queue, and on most drivers its context, unusable.
            match mark.event.ended() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return Err(self.lose(&error)),
            }
            let Some(mark) = state.marks.pop_front() else { break };
            mark.told.into_iter().flat_map(Told::failures).for_each(|failure| self.fail(failure));
            state.passed = mark.tick;
        }
        Ok(state.passed)
    }

    /// Lets everybody see that what the queue has passed has ended, up to `tick`: tick by tick, each after what
    /// it waited for. Those waited for their part for earlier ticks, which are seen by then, so this ends.
    fn publish(&self, tick: Tick) {
        while self.done() < tick {
            let wait = self.lock().waits.pop_front_if(|(own, ..)| *own <= tick);
            let Some((own, lane, theirs)) = wait else { break };
            self.ended(own - 1);
            let lane = lane.upgrade();
            let other = lane.as_ref().and_then(|lane| lane.as_any().downcast_ref::<OpenClLane>());
            if let Some(other) = other {
                other.reach(theirs);
            }
        }
        self.ended(tick);
    }

    /// Somebody waited for this tick and goes on: the queue has passed its mark.
    fn reach(&self, tick: Tick) {
        if self.done() < tick
            && let Ok(passed) = self.sweep()
        {
            // Otherwise the device is lost, and its lanes tell.
            self.publish(passed.min(tick));
        }
    }

    fn ended(&self, tick: Tick) {
        self.done.fetch_max(tick, Ordering::Release);
    }
}
