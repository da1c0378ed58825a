//! How far a lane is: a load. The driver is asked by those who hand operations over or wait, and
//! not by a thread beside a courier, which that would hold up.
//!
//! A device is lost when a command of its fails, or the driver refuses what makes a lane go on. The
//! others of its commands may still be at work, and what is told as over may be given back. From
//! then on its lanes therefore take nothing, and the loss is told when all that they have taken is
//! over ([`OpenClLane::is_over`]).

use super::{LaneState, OpenClLane};
use crate::verdict::Readback;
use folio_core::hal::{HalError, HalErrorKind, Tick};
use folio_driver::memory::is_short;
use std::sync::{MutexGuard, TryLockError};

impl OpenClLane {
    /// The last mark that the queue has been seen to have passed. The tick changes under the
    /// state's lock.
    pub(super) fn done(&self) -> Tick {
        self.retired.done()
    }

    /// Looks how far the queue is, and of a lost device whether it is gone.
    pub(super) fn look(&self) {
        self.sweep(self.lock());
        self.core.is_told();
    }

    /// The same, unless another thread holds the state, perhaps for as long as the driver takes:
    /// that thread, or a later one, looks.
    pub(super) fn try_look(&self) {
        match self.state.try_lock() {
            Ok(state) => self.sweep(state),
            Err(TryLockError::Poisoned(state)) => self.sweep(state.into_inner()),
            Err(TryLockError::WouldBlock) => return,
        }
        self.core.is_told();
    }

    /// Looks which marks the queue has passed. The records of launches before them are kept.
    fn sweep(&self, mut state: MutexGuard<'_, LaneState>) {
        state.looked = state.issued;
        state.batch.refused().into_iter().for_each(|failure| self.fail(failure));
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
            mark.told
                .into_iter()
                .flat_map(Readback::failures)
                .for_each(|failure| self.fail(failure));
            self.retired.ended(mark.tick);
        }
        if self.done() == state.issued {
            state.batch.rest();
        }
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
            state.batch.give_up(&HalError::new(HalErrorKind::Driver, lost.reason));
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
