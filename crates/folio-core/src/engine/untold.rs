//! Failures that no call has returned, and work that is left at the end: nothing of it is silent.
//!
//! A root failure is *told* once a call has returned it: a wait, a read or a guard, a future, an
//! event's `status`. [`Runtime::wait`](crate::Runtime::wait) returns, one by one, those that are
//! not. Whoever has no handler reads of the rest on standard error: when the last handle of the
//! runtime goes, since nothing can ask from then on, and of each that is found after that at once.
//! The flag in the failure decides, so each has one line at most.

use super::ledger::Ledger;
use super::threads::wait::{in_kernel, in_task_of};
use super::trace::tell;
use super::{Engine, contain};
use crate::error::{Failure, Unfinished, listed, operations};
use crate::{notice, program};
use folio_kernel::words;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How many are kept for `Runtime::wait`; of more, only the number.
const MOST_UNTOLD: usize = 1000;
/// How many lines are written at the end.
const MOST_LINES: usize = 16;
/// How many operations that have not ended a line names.
const MOST_NAMED: usize = 3;

/// Root failures that no call has returned, the oldest first, and some that were told meanwhile.
#[derive(Default)]
pub(crate) struct Untold {
    kept: VecDeque<Arc<Failure>>,
    /// Beyond those.
    more: usize,
}

impl Untold {
    /// Keeps one more. What comes back is told, or too much; it may hold something of the user's,
    /// whose drop is foreign code.
    pub(crate) fn keep(&mut self, failure: Arc<Failure>) -> Vec<Arc<Failure>> {
        let mut over = Vec::new();
        if self.kept.len() == MOST_UNTOLD {
            let told: VecDeque<_>;
            (self.kept, told) = self.kept.drain(..).partition(|failure| failure.untold());
            over.extend(told);
        }
        while let Some(told) = self.kept.pop_front_if(|failure| !failure.untold()) {
            over.push(told);
        }
        if self.kept.len() < MOST_UNTOLD {
            self.kept.push_back(failure);
        } else {
            self.more += 1;
            over.push(failure);
        }
        over
    }

    /// Takes the oldest.
    pub(crate) fn next(&mut self) -> Option<Arc<Failure>> {
        let at = self.kept.iter().position(|failure| failure.untold())?;
        self.kept.remove(at)
    }
}

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
        let left = self.enter(|ledger| ledger.unfinished());
        // A task or kernel that holds the last handle is itself at work. Whoever has a handler is
        // told by it alone. The end of a strict program waits.
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

    /// The program ends: waits for all work, and tells what nothing has told.
    pub(crate) fn finish(&self) {
        // It is refused where waiting makes no sense.
        let _ = self.wait_idle(None);
        while self.lock().is_reporting() {
            crate::sync::yield_now();
        }
        self.tell_untold();
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
    fn say_unfinished(&self, (count, left): &(usize, Vec<Unfinished>)) {
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

impl Ledger {
    /// A thread is still to call the handler, or is in it.
    fn is_reporting(&self) -> bool {
        let own = 1 + usize::from(self.outbox.reporting.is_some());
        Arc::strong_count(&self.reporting) > own
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

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;
    use crate::error::{Cause, Error, Label};

    fn failure(id: u64) -> Arc<Failure> {
        Arc::new(Failure::new(id, "kernel", Label::NONE, String::new(), Cause::DataLost))
    }

    /// ERR-03: what calls have returned is skipped and not kept; of too many the first stay, and
    /// the rest is counted.
    #[test]
    fn untold_failures_are_kept_in_order_and_bounded() {
        let all: Vec<_> = (0..2 * MOST_UNTOLD as u64).map(failure).collect();
        let mut untold = Untold::default();
        let keep = |untold: &mut Untold, at: usize| untold.keep(all[at].clone()).len();
        assert_eq!((0..3).map(|at| keep(&mut untold, at)).sum::<usize>(), 0);
        drop(Error::failed(all[1].clone()));
        assert_eq!(keep(&mut untold, 3), 0, "behind an untold one");
        assert_eq!(untold.next().map(|f| f.id()), Some(0));
        assert_eq!(untold.next().map(|f| f.id()), Some(2), "1 is told");
        drop(Error::failed(all[3].clone()));
        assert_eq!(keep(&mut untold, 4), 2, "1 and 3");
        let full = 4 + MOST_UNTOLD;
        assert_eq!((5..full).map(|at| keep(&mut untold, at)).sum::<usize>(), 0);
        assert_eq!((keep(&mut untold, full), untold.more), (1, 1));
        drop(Error::failed(all[100].clone()));
        assert_eq!((keep(&mut untold, full + 1), untold.more), (1, 1), "there is room again");
        assert_eq!(untold.kept.len(), MOST_UNTOLD);
        assert_eq!(untold.next().map(|f| f.id()), Some(4));
    }
}
