//! Whether threads share what is short. Both ways are tried, and the quicker one stays.
//!
//! To share moves memory from the cache of one thread to those of others, which the kernels before
//! and after pay for, too. A trial is therefore several runs long, and begins at fixed numbers of
//! runs: kernels of one loop have run equally often, and are tried together.

use std::sync::atomic::{AtomicU64, Ordering};

/// Work that takes one thread so long is shared without a trial.
pub(crate) const TRIED_NS: u64 = 30_000;
/// Work that threads have shared seems up to so many times as long, since each of them moves
/// memory. Its first runs alone tell.
const SEEMS: u64 = 8;
/// So many of them: memory is in the caches of others before the first one.
const FIRST_RUNS: u64 = 2;
/// Runs of a trial. In the first ones, memory is where the other way has left it.
const TRIAL_RUNS: u64 = 4;
/// The way that lost is tried again at run 64 and at each power of 8 from there on, so that a
/// change of the machine is noticed.
const AGAIN_SHIFT: u32 = 3;

/// How work runs that threads could share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Alone,
    Shared,
}

/// The elapsed times of both ways. Every field is a hint.
#[derive(Default)]
pub(crate) struct Trial {
    runs: AtomicU64,
    /// 0 while there is none.
    alone: AtomicU64,
    shared: AtomicU64,
}

impl Trial {
    /// The way of the next run of work that seems to take one thread so long, unless it is longer
    /// than `most`.
    pub(crate) fn next(&self, time: u64, most: u64) -> Option<Way> {
        let least = match self.runs.load(Ordering::Relaxed) {
            0..FIRST_RUNS => time / SEEMS,
            _ => self.alone.load(Ordering::Relaxed).min(time),
        };
        (least < most).then(|| self.way())
    }

    fn way(&self) -> Way {
        let [runs, alone, shared] =
            [&self.runs, &self.alone, &self.shared].map(|word| word.load(Ordering::Relaxed));
        let is_shared = match runs {
            0..TRIAL_RUNS => false,
            _ if runs < 2 * TRIAL_RUNS => true,
            _ => (0 < shared && shared < alone) != is_again(runs),
        };
        if is_shared { Way::Shared } else { Way::Alone }
    }

    /// A run took so long. One that was interrupted changes little, and the first ones, of which
    /// memory was not in a cache, nothing.
    pub(crate) fn record(&self, way: Way, time: u64) {
        let kept = match way {
            Way::Alone => &self.alone,
            Way::Shared => &self.shared,
        };
        let (new, old) = (time.max(1), kept.load(Ordering::Relaxed));
        let is_young = self.runs.fetch_add(1, Ordering::Relaxed) < 2 * TRIAL_RUNS;
        let next = match old {
            0 => new,
            _ if is_young => old.min(new),
            _ if new < old => old - (old - new) / 4,
            _ => old + (new - old).min(old) / 8,
        };
        kept.store(next, Ordering::Relaxed);
    }

    /// Nothing is known.
    pub(crate) fn clear(&self) {
        for word in [&self.runs, &self.alone, &self.shared] {
            word.store(0, Ordering::Relaxed);
        }
    }
}

/// The way that lost is tried again in this run.
fn is_again(runs: u64) -> bool {
    let shift = runs.max(1).ilog2() / AGAIN_SHIFT * AGAIN_SHIFT;
    shift > AGAIN_SHIFT && runs < (1 << shift) + TRIAL_RUNS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs so often, of which each takes what its way does; tells how many were shared.
    fn run(trial: &Trial, runs: u64, [alone, shared]: [u64; 2]) -> u64 {
        let one = || {
            let way = trial.way();
            trial.record(way, if way == Way::Alone { alone } else { shared });
            u64::from(way == Way::Shared)
        };
        (0..runs).map(|_| one()).sum()
    }

    #[test]
    fn a_way_that_loses_is_tried_again_a_few_times() {
        // At first, and from run 64, 512, 4,096 on.
        assert_eq!(run(&Trial::default(), 10_000, [20, 50]), 4 * TRIAL_RUNS);
        assert_eq!(run(&Trial::default(), 10_000, [50, 20]), 10_000 - 4 * TRIAL_RUNS);
    }

    #[test]
    fn work_that_is_long_is_not_tried() {
        let trial = Trial::default();
        assert_eq!(trial.next(99, 100), Some(Way::Alone));
        // It may seem to be longer than it is.
        assert_eq!(
            [100, 799, 800].map(|time| trial.next(time, 100).is_some()),
            [true, true, false]
        );
        (0..2).for_each(|_| trial.record(Way::Alone, 100));
        assert_eq!([99, 100].map(|time| trial.next(time, 100).is_some()), [true, false]);
        trial.record(Way::Alone, 99);
        assert_eq!(trial.next(800, 100), Some(Way::Alone));
    }

    #[test]
    fn a_way_that_is_quick_now_and_then_is_not_chosen_for_that() {
        let trial = Trial::default();
        run(&trial, 60, [20, 15]);
        run(&trial, 10, [20, 50]);
        assert_eq!(trial.way(), Way::Alone);
        (0..3).for_each(|_| trial.record(Way::Shared, 15));
        (0..5).for_each(|_| trial.record(Way::Shared, 50));
        assert_eq!(trial.way(), Way::Alone);
    }

    #[test]
    fn an_outlier_does_not_change_the_way() {
        for (times, shared) in [([20, 50], 0), ([50, 20], 20)] {
            let trial = Trial::default();
            run(&trial, 20, times);
            let way = trial.way();
            trial.record(way, 1_000_000);
            assert_eq!(run(&trial, 20, times), shared);
        }
    }

    #[test]
    fn a_cold_first_run_does_not_decide() {
        let trial = Trial::default();
        trial.record(trial.way(), 1_000_000);
        assert_eq!(trial.next(799, 100), Some(Way::Alone));
        assert_eq!(run(&trial, 60, [20, 50]), TRIAL_RUNS);
        assert_eq!(trial.next(799, 100), Some(Way::Alone));
    }

    #[test]
    fn a_machine_that_changes_is_noticed() {
        for (before, after, way) in
            [([20, 50], [50, 20], Way::Shared), ([50, 20], [20, 50], Way::Alone)]
        {
            let trial = Trial::default();
            run(&trial, 60, before);
            run(&trial, 40, after);
            assert_eq!(trial.way(), way);
        }
    }
}
