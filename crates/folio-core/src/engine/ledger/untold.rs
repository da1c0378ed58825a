//! Root failures that no call has returned.

use crate::error::Failure;
use std::collections::VecDeque;
use std::sync::Arc;

/// How many are kept for `Runtime::wait`; of more, only the number.
const MOST_UNTOLD: usize = 1000;
/// Root failures that no call has returned, the oldest first, and some that were told meanwhile.
#[derive(Default)]
pub(crate) struct UntoldFailures {
    pub(in crate::engine) kept: VecDeque<Arc<Failure>>,
    /// Beyond those.
    pub(in crate::engine) more: usize,
}

impl UntoldFailures {
    /// Keeps one more. A failure that comes back is told, or too much; it may hold something of the
    /// user's, whose drop is foreign code.
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
        let mut untold = UntoldFailures::default();
        let keep = |untold: &mut UntoldFailures, at: usize| untold.keep(all[at].clone()).len();
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
