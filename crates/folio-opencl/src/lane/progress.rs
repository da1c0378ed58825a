//! How far a lane is: a load. The driver is asked by those who hand operations over or wait, and
//! not by a thread beside a courier, which that would hold up.
//!
//! Whoever sees that a tick has ended must also see that those have which it waited for, on
//! whatever lane: failures are told from there. So lanes of one context advance one at a time
//! (`Shared::advance`), and each takes those along that it has waited for
//! ([`OpenClLane::publish`]). Whoever advances them waits for no lane's state, which somebody may
//! hold for as long as the driver takes: a lane whose state is held is swept by whoever can wait
//! for that, and who then advances again.
//!
//! A device is lost when a command of its fails, or the driver refuses what makes a lane go on. The
//! others of its commands may still be at work, and what is told as over may be given back. So from
//! then on its lanes take nothing, and the loss is told when all that they have taken is over
//! ([`OpenClLane::is_over`]).

use super::{OpenClLane, State};
use crate::cl::is_short;
use crate::verdict::Told;
use folio_core::hal::{HalError, HalErrorKind, Lane, Tick};
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError, TryLockError};

/// What a lane cannot be advanced for now: another one, whose state somebody holds, or whose device
/// is lost.
struct Held(Arc<dyn Lane>, Tick);

impl OpenClLane {
    /// How far it is, as far as known.
    pub(super) fn done(&self) -> Tick {
        self.done.load(Ordering::Acquire)
    }

    /// The last mark that the queue has been seen to have passed.
    pub(super) fn passed(&self) -> Tick {
        self.passed.load(Ordering::Acquire)
    }

    /// Looks how far the queue is, and of a lost device whether it is gone.
    pub(super) fn look(&self) {
        self.sweep(self.lock());
        loop {
            let advance = self.core.shared.advance.lock().unwrap_or_else(PoisonError::into_inner);
            let published = self.publish(self.passed());
            drop(advance);
            let Err(Held(lane, tick)) = published else { break };
            let Some(other) = of(&lane) else { break };
            // This queue has passed what it waited for there, so each turn is about something else.
            other.sweep(other.lock());
            if other.passed() < tick || !other.core.is_told() {
                break;
            }
        }
        self.core.is_told();
    }

    /// The same, as far as that waits for nobody: whoever else is at it, or comes later, does the
    /// rest.
    pub(super) fn try_look(&self) {
        if !self.try_sweep() || !self.core.is_told() {
            return;
        }
        let _advance = match self.core.shared.advance.try_lock() {
            Ok(advance) => advance,
            Err(TryLockError::Poisoned(advance)) => advance.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        drop(self.publish(self.passed()));
    }

    /// Looks which marks the queue has passed. What launches before them have said is kept.
    fn sweep(&self, mut state: MutexGuard<'_, State>) {
        state.looked = state.issued;
        state.held.refused().into_iter().for_each(|failure| self.fail(failure));
        while let Some(mark) = state.marks.front() {
            // A command that fails leaves its queue, and on most drivers its context, unusable.
            match mark.event.ended() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    self.core.lose(&error);
                    break;
                }
            }
            let Some(mark) = state.marks.pop_front() else { break };
            mark.told.into_iter().flat_map(Told::failures).for_each(|failure| self.fail(failure));
            self.passed.store(mark.tick, Ordering::Release);
        }
        if self.passed() == state.issued {
            state.held.rest();
        }
    }

    /// The same, unless somebody holds the state.
    fn try_sweep(&self) -> bool {
        match self.state.try_lock() {
            Ok(state) => self.sweep(state),
            Err(TryLockError::Poisoned(state)) => self.sweep(state.into_inner()),
            Err(TryLockError::WouldBlock) => return false,
        }
        true
    }

    /// Lets everybody see that what the queue has passed has ended, up to `tick`: tick by tick,
    /// each after what it waited for. Those waited for their part for earlier ticks, which are seen
    /// by then, so this ends.
    fn publish(&self, tick: Tick) -> Result<(), Held> {
        while self.done() < tick {
            let wait = self.waited().pop_front_if(|(own, ..)| *own <= tick);
            let Some((own, lane, theirs)) = wait else { break };
            self.ended(own - 1);
            let reached = lane.upgrade().map_or(Ok(()), |other| reach(&other, theirs));
            if let Err(held) = reached {
                self.waited().push_front((own, lane, theirs));
                return Err(held);
            }
        }
        self.ended(tick);
        Ok(())
    }

    fn ended(&self, tick: Tick) {
        self.done.fetch_max(tick, Ordering::Release);
    }

    /// Whether nothing that this lane has enqueued touches memory any more, on a device that is
    /// lost: so it takes nothing more. The driver is asked for an event behind what has none; if it
    /// refuses that, to wait for the queue; and if it refuses that, too, it has given the queue up.
    pub(crate) fn is_over(&self) -> bool {
        let mut state = self.lock();
        if state.foreign {
            return false;
        }
        if let Err(lost) = self.core.lost() {
            state.held.give_up(&HalError::new(HalErrorKind::Driver, lost.reason));
        }
        let unmarked = state.issued > state.marked;
        let marked = if unmarked { state.mark_end() } else { Ok(()) };
        // An event that is not on its way is not over.
        if marked.and_then(|()| state.flush()).is_err()
            && state.queue.finish().is_err_and(|error| is_short(&error))
        {
            return false;
        }
        state.marks.iter().all(|mark| mark.event.is_over())
    }
}

/// Somebody waited for this tick of a lane and goes on: the queue has passed its mark.
fn reach(lane: &Arc<dyn Lane>, tick: Tick) -> Result<(), Held> {
    let Some(other) = of(lane) else { return Ok(()) };
    if other.done() >= tick || other.core.gone().is_err() {
        return Ok(());
    }
    if other.passed() < tick && !(other.try_sweep() && other.passed() >= tick) {
        return Err(Held(lane.clone(), tick));
    }
    other.publish(tick)
}

fn of(lane: &Arc<dyn Lane>) -> Option<&OpenClLane> {
    lane.downcast_ref()
}
