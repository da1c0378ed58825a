//! The ends of a lane's operations: ticks in order, failures, and when operations ran.

use crate::lock;
use folio_core::hal::{HalError, Tick};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Operations whose times a lane keeps.
const TIMED: usize = 4096;

/// How far a lane is, and which of its operations have failed.
///
/// A failure is noted before its tick is reported: a thread that sees the tick finds the failure.
#[derive(Debug, Default)]
pub struct Retired {
    done: AtomicU64,
    /// Rising.
    failures: Mutex<VecDeque<(Tick, HalError)>>,
}

impl Retired {
    /// The last tick that has ended, as far as known.
    #[inline]
    pub fn done(&self) -> Tick {
        self.done.load(Ordering::Acquire)
    }

    /// Everything up to a tick has ended, and its failures have been noted.
    pub fn ended(&self, tick: Tick) {
        self.done.fetch_max(tick, Ordering::AcqRel);
    }

    /// Keeps a failure until its tick has ended. Of several failures of one tick, that of the first
    /// node counts, and among equal ones the first.
    pub fn fail(&self, tick: Tick, error: HalError) {
        let mut failures = lock(&self.failures);
        let at = failures.partition_point(|(other, _)| *other < tick);
        let node = |error: &HalError| error.node.unwrap_or(u32::MAX);
        match failures.get_mut(at).filter(|(other, _)| *other == tick) {
            Some((_, first)) if node(&error) < node(first) => *first = error,
            Some(_) => {}
            None => failures.insert(at, (tick, error)),
        }
    }

    /// Tells each failure of what has ended once, in the order of ticks, without a lock.
    pub fn failures(&self, sink: &mut dyn FnMut(Tick, HalError)) {
        let done = self.done();
        let mut failures = lock(&self.failures);
        let count = failures.partition_point(|(tick, _)| *tick <= done);
        let ended: Vec<_> = failures.drain(..count).collect();
        drop(failures);
        ended.into_iter().for_each(|(tick, error)| sink(tick, error));
    }
}

/// The known times of a lane's latest operations.
#[derive(Debug)]
pub struct Times<T>(VecDeque<(Tick, T)>);

impl<T> Default for Times<T> {
    fn default() -> Times<T> {
        Times(VecDeque::new())
    }
}

impl<T> Times<T> {
    /// Notes the times of a tick. Returns the oldest, if there are too many.
    pub fn note(&mut self, tick: Tick, times: T) -> Option<T> {
        self.0.push_back((tick, times));
        if self.0.len() > TIMED { self.0.pop_front().map(|(_, old)| old) } else { None }
    }

    /// The times of a tick, if they are known.
    pub fn of(&self, tick: Tick) -> Option<&T> {
        self.0.iter().rev().find(|(of, _)| *of == tick).map(|(_, times)| times)
    }

    /// All of them, when the lane goes.
    pub fn drain(&mut self) -> impl Iterator<Item = T> {
        self.0.drain(..).map(|(_, times)| times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(retired: &Retired) -> Vec<(Tick, String)> {
        let mut all = vec![];
        retired.failures(&mut |tick, error| all.push((tick, error.message.to_string())));
        all
    }

    #[test]
    fn failures_are_told_once_and_in_order_when_their_ticks_have_ended() {
        let retired = Retired::default();
        let error = |what: &str| HalError::new(folio_core::hal::HalErrorKind::Driver, what);
        retired.fail(3, error("third"));
        retired.fail(1, error("first"));
        assert!(told(&retired).is_empty(), "nothing has ended");
        retired.ended(2);
        assert_eq!(told(&retired), [(1, "first".to_owned())]);
        retired.ended(1);
        assert_eq!(retired.done(), 2, "what has ended stays so");
        retired.fail(3, error("third again"));
        retired.fail(4, error("of node 5").at_node(5));
        retired.fail(4, error("of node 2").at_node(2));
        retired.fail(4, error("of node 7").at_node(7));
        retired.ended(9);
        assert_eq!(told(&retired), [(3, "third".to_owned()), (4, "of node 2".to_owned())]);
        assert!(told(&retired).is_empty(), "each is told once");
    }

    #[test]
    fn the_oldest_times_go() {
        let mut times = Times::default();
        for tick in 1..=TIMED as Tick {
            assert_eq!(times.note(tick, 10 * tick), None);
        }
        assert_eq!(times.note(5000, 7), Some(10));
        assert_eq!((times.of(1), times.of(2), times.of(5000)), (None, Some(&20), Some(&7)));
        assert_eq!(times.drain().count(), TIMED);
        assert_eq!(times.of(2), None);
    }
}
