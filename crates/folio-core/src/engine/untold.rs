//! Failures that no call has returned, and work that is left at the end: nothing of it is silent.
//!
//! A root failure is *told* once a call has returned it: a wait, a read or a guard, a future, an
//! event's `status`. [`Runtime::wait`](crate::Runtime::wait) returns, one by one, those that are
//! not. A program without a handler reads of the rest on standard error: when the last handle of
//! the runtime goes, since nothing can ask from then on, and of each that is found after that at
//! once. The flag in the failure decides, so each has one line at most.

use super::Engine;
use super::threads::wait::in_task_of;
use crate::error::{Failure, PendingWork, listed, operations};
use crate::foreign::{in_kernel, tell};
use crate::panics::contain;
use crate::{notice, program};
use folio_kernel::words;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How many lines are written at the end.
const MOST_LINES: usize = 16;
/// How many operations that have not ended a line names.
const MOST_NAMED: usize = 3;

impl Engine {
    /// A failure that has just been found.
    pub(crate) fn report(&self, failure: &Arc<Failure>) {
        tell(|| tracing::error!(target: "folio", id = failure.id, "{failure}"));
        // Nothing can ask for it.
        let is_last = self.closing.load(Ordering::SeqCst) && failure.untold();
        if is_last {
            program::note_failure();
        }
        match &self.handler {
            Some(handler) => contain(|| handler(failure)),
            None if is_last => write_untold(failure),
            None => {}
        }
    }

    /// The user's last handle is gone, and the engine is closing: tells what nothing has told.
    pub(crate) fn take_leave(&self) {
        self.tell_untold();
        let left = self.enter(|ledger| ledger.timeline.unfinished(&ledger.topology));
        // A task or kernel that holds the last handle is itself at work. A program with a handler
        // is told by it alone. The end of a strict program waits.
        if left.0 > 0
            && self.handler.is_none()
            && !program::is_strict()
            && !in_kernel()
            && !in_task_of(self)
            && !std::thread::panicking()
        {
            self.say_unfinished(&left);
        }
    }

    /// Writes a line for each failure that no call has returned. A handler has been told.
    fn tell_untold(&self) {
        let untold = self.enter(|ledger| {
            ledger.poll_all();
            std::mem::take(&mut ledger.untold)
        });
        let all = || untold.kept.iter().filter(|failure| failure.untold());
        if untold.more > 0 || all().next().is_some() {
            program::note_failure();
        }
        if self.handler.is_none() {
            let more = all().count().saturating_sub(MOST_LINES) + untold.more;
            all().take(MOST_LINES).for_each(write_untold);
            if more > 0 {
                let more = words::count(more as u64, "more failure");
                notice::write(&format!("and {more} that nothing asked for"));
            }
        }
        contain(|| drop(untold));
    }

    #[cold]
    fn say_unfinished(&self, (count, left): &(usize, Vec<PendingWork>)) {
        let text = format!(
            "{} not ended when the last handle of {} runtime was dropped ({}): {} on only while the \
             process lives; call `Runtime::wait` first",
            operations(*count, ["had"; 2]),
            if *count == 1 { "its" } else { "their" },
            listed(&left[..left.len().min(MOST_NAMED)], *count),
            if *count == 1 { "it runs" } else { "they run" },
        );
        notice::hint(&text);
    }
}

impl program::Work for Engine {
    fn finish(&self) {
        // The wait is refused where waiting makes no sense.
        let _ = self.wait_idle(None);
        let is_reporting = || {
            let ledger = self.lock();
            crate::engine::ledger::is_out(&ledger.reporting, ledger.outbox.reporting.as_ref())
        };
        while is_reporting() {
            crate::sync::yield_now();
        }
        self.tell_untold();
    }
}

fn write_untold(failure: &Arc<Failure>) {
    if failure.untold() {
        // A task's error has a `Display` of the user's.
        contain(|| {
            let text = failure.to_string();
            if !failure.told.swap(true, Ordering::Relaxed) {
                notice::write(&text);
            }
        });
    }
}
