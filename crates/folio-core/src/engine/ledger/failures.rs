//! Which stamps have failed, and how.
//!
//! Of the newest [`DETAILS`] failed stamps the table has all. Of older ones it has only that they
//! have failed, as *runs*: stamps beside one another, from the first to the last. A failure that
//! travels along a lane is one run, however long. A command that depends on a forgotten failure
//! fails by [`Cause::Forgotten`](crate::error::Cause), and memory that such a command has left
//! counts as spoilt.
//!
//! A run costs memory, too. With more than [`RUNS`] of them the neighbours on one lane, and of one
//! slot, become one run. Stamps between two neighbours then count as failed. The ledger looks
//! through all that it keeps before that, and keeps runs apart where it could ask for a stamp
//! between them. Only an event that the program has kept for as long can be wrong, and only to the
//! safe side: a failed stamp is never taken for a fine one.

use crate::engine::ledger::queues::Queues;
use crate::engine::ledger::storages::Storages;
use crate::engine::ledger::timeline::Timeline;
use crate::error::Failure;
use crate::order::hazards::Flow;
use crate::order::stamp::Stamp;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound::Excluded;
use std::sync::Arc;

/// Failed stamps whose failures are kept: some 4 MB, and the failures themselves.
const DETAILS: usize = 65_536;
/// Runs of older ones: some 2 MB in a tree.
const RUNS: usize = 65_536;

/// How something has failed.
#[derive(Clone, Debug)]
pub(crate) struct Failed {
    pub(crate) failure: Arc<Failure>,
    /// The memory that it should have written may hold what is no value of anything: it has run on
    /// such memory, or has left as it was what it should have been the first to write.
    pub(crate) spoilt: bool,
}

/// The failed stamps.
pub(crate) struct Failures {
    newest: BTreeMap<Stamp, Failed>,
    /// The same, in the order in which they failed.
    order: VecDeque<Stamp>,
    /// Older ones: the first of each run, and its last.
    runs: BTreeMap<Stamp, Stamp>,
    /// How all of these have failed, once there are some.
    forgotten: Option<Failed>,
    most_details: usize,
    /// With more runs neighbours are joined.
    most_runs: usize,
}

impl Failures {
    pub(crate) fn new() -> Failures {
        Failures::with_bounds(DETAILS, RUNS)
    }

    pub(super) fn with_bounds(most_details: usize, most_runs: usize) -> Failures {
        let (newest, order) = (BTreeMap::new(), VecDeque::new());
        let (runs, forgotten) = (BTreeMap::new(), None);
        Failures { newest, order, runs, forgotten, most_details, most_runs }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.newest.is_empty()
    }

    fn find(&self, stamp: Stamp) -> Option<&Failed> {
        if let Some(failed) = self.newest.get(&stamp) {
            return Some(failed);
        }
        let (_, last) = self.runs.range(..=stamp).next_back()?;
        self.forgotten.as_ref().filter(|_| stamp <= *last)
    }

    pub(crate) fn contains(&self, stamp: Stamp) -> bool {
        self.find(stamp).is_some()
    }

    pub(crate) fn get(&self, stamp: Stamp) -> Option<&Arc<Failure>> {
        self.find(stamp).map(|failed| &failed.failure)
    }

    /// The failure that travels from `stamp` along such a dependency.
    pub(crate) fn along(&self, stamp: Stamp, flow: Flow) -> Option<&Arc<Failure>> {
        let failed = self.find(stamp)?;
        flow.carries(failed.spoilt).then_some(&failed.failure)
    }

    /// True of a stamp that has failed and spoilt memory.
    pub(crate) fn spoilt(&self, stamp: Stamp) -> bool {
        self.find(stamp).is_some_and(|failed| failed.spoilt)
    }

    /// The failures that a stamp has.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Failure>> {
        self.newest.values().chain(&self.forgotten).map(|failed| &failed.failure)
    }

    /// A stamp has failed. Returns how the oldest one has, if that is too much: its drop may be
    /// foreign code.
    #[must_use]
    pub(crate) fn insert(&mut self, stamp: Stamp, failed: Failed) -> Option<Failed> {
        let is_full = self.order.len() == self.most_details;
        let oldest = if is_full { self.order.pop_front() } else { None };
        self.order.push_back(stamp);
        self.newest.insert(stamp, failed);
        self.forget(oldest?);
        self.newest.remove(&oldest?)
    }

    /// Of this one it stays known that it has failed.
    fn forget(&mut self, stamp: Stamp) {
        self.forgotten.get_or_insert_with(|| {
            let failure = Arc::new(Failure::forgotten());
            Failed { failure, spoilt: true }
        });
        let last = self.runs.remove(&stamp.next()).unwrap_or(stamp);
        match self.runs.range_mut(..stamp).next_back() {
            Some((_, before)) if before.next() == stamp => *before = last,
            _ => drop(self.runs.insert(stamp, last)),
        }
    }

    /// [`Timeline::thin_failures`] has something to do.
    #[inline]
    pub(crate) fn is_crowded(&self) -> bool {
        self.runs.len() > self.most_runs
    }

    /// Joins neighbouring runs, but where one of `kept` is between them.
    fn thin(&mut self, kept: &BTreeSet<Stamp>) {
        let mut joined: BTreeMap<Stamp, Stamp> = BTreeMap::new();
        for (first, last) in std::mem::take(&mut self.runs) {
            match joined.last_entry() {
                Some(mut before)
                    if before.get().is_beside(first)
                        && kept
                            .range((Excluded(*before.get()), Excluded(first)))
                            .next()
                            .is_none() =>
                {
                    before.insert(last);
                }
                _ => drop(joined.insert(first, last)),
            }
        }
        self.runs = joined;
        // Looking costs a constant for each failure.
        self.most_runs = self.most_runs.max(2 * self.runs.len());
    }
}

impl Timeline {
    /// Joins runs of failed stamps between which nothing asks. Called when no thread holds stamps
    /// but the ledger itself, and the program.
    #[cold]
    pub(in crate::engine) fn thin_failures(&mut self, storages: &Storages, queues: &Queues) {
        let mut kept = BTreeSet::new();
        let mut keep = |stamp| _ = kept.insert(stamp);
        storages.iter().for_each(|storage| storage.residency.each_source(&mut keep));
        let records = self.lanes.iter().flat_map(|lane| &lane.records);
        records.flat_map(|record| record.sources.iter()).for_each(&mut keep);
        self.slots.iter().flat_map(|slot| slot.depends_on()).for_each(&mut keep);
        queues.iter().flat_map(|queue| queue.stamps()).for_each(&mut keep);
        self.failures.thin(&kept);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::error::{Cause, Label};
    use crate::order::stamp::{LaneId, SlotId};

    fn failed(id: u64) -> Failed {
        let failure = Failure::new(id, "kernel", Label::NONE, String::new(), Cause::DataLost);
        Failed { failure: Arc::new(failure), spoilt: false }
    }

    fn tick(tick: u64) -> Stamp {
        Stamp::placed(LaneId(0), tick)
    }

    /// Fails these stamps of a table with so many details and runs.
    fn table(details: usize, runs: usize, stamps: &[Stamp]) -> Failures {
        let mut failures = Failures::with_bounds(details, runs);
        for (id, stamp) in (1..).zip(stamps) {
            drop(failures.insert(*stamp, failed(id)));
        }
        failures
    }

    fn ids(failures: &Failures, ticks: std::ops::RangeInclusive<u64>) -> Vec<Option<u64>> {
        ticks.map(|at| failures.get(tick(at)).map(|failure| failure.id)).collect()
    }

    /// ERR-02, ERR-03: a failure whose details are gone is a failure still, and spoils.
    #[test]
    fn oldest_details_are_forgotten_and_the_failures_stay() {
        let failures = table(2, 9, &[tick(1), tick(2), tick(4), tick(5), tick(7)]);
        let want = [Some(0), Some(0), None, Some(0), Some(4), None, Some(5), None];
        assert_eq!(ids(&failures, 1..=8), want);
        assert_eq!(failures.runs.len(), 2, "neighbours are one run");
        assert!(failures.spoilt(tick(1)) && !failures.spoilt(tick(7)));
        assert!(failures.along(tick(4), Flow::KEEPS).is_some());
    }

    /// A run takes in what fails beside it, whatever the order.
    #[test]
    fn chain_of_failures_is_one_run() {
        let failures = table(1, 9, &[3, 1, 2, 5, 4, 9].map(tick));
        assert_eq!(failures.runs, BTreeMap::from([(tick(1), tick(5))]));
        let many: Vec<Stamp> = (1..=100_000).map(tick).collect();
        let failures = table(10, 9, &many);
        assert_eq!((failures.runs.len(), failures.newest.len()), (1, 10));
    }

    /// A stamp that the ledger keeps is never taken for failed, and no failed stamp for a fine one.
    #[test]
    fn runs_are_joined_where_nothing_can_ask_between_them() {
        let other = Stamp::placed(LaneId(1), 2);
        let slot = |generation| Stamp::unplaced(SlotId(0), generation);
        let stamps = [
            tick(1),
            tick(3),
            tick(6),
            tick(9),
            other,
            slot(0),
            slot(2),
            Stamp::placed(LaneId(2), 1),
        ];
        let mut failures = table(1, 6, &stamps);
        assert!(failures.is_crowded());
        failures.thin(&BTreeSet::from([tick(3), tick(5), slot(9)]));
        let want = [(tick(1), tick(3)), (tick(6), tick(9)), (other, other), (slot(0), slot(2))];
        assert_eq!(failures.runs, BTreeMap::from(want));
        assert_eq!(failures.get(tick(5)).map(|failure| failure.id), None);
        assert!(stamps.iter().all(|stamp| failures.contains(*stamp)));
        assert!(!failures.contains(tick(10)) && !failures.contains(slot(3)));
        assert!(!failures.is_crowded());
    }

    /// ERR-02, ERR-03: events and memory of failures whose details are gone. A fine command between
    /// two of them is told apart for as long as their runs are not joined.
    #[cfg(not(miri))]
    #[test]
    fn events_and_memory_of_forgotten_failures_have_failed() {
        use crate::engine::null::Null;
        use crate::{Error, Runtime};

        let rt = Runtime::builder().backend(Null::new(1)).build().unwrap();
        rt.core.engine.enter(|ledger| ledger.timeline.failures = Failures::with_bounds(2, 4));
        let q = rt.queue_on("null:0").unwrap();
        let mut x = rt.buffer::<u32, 1>(4).unwrap();
        let mut submit = |result: Result<(), Error>| {
            let event = q.submit(|cg| {
                let x = cg.discard(&mut x);
                cg.host_task(x, move |_| result);
                Ok(())
            });
            let event = event.unwrap();
            (event.wait().is_err(), event)
        };
        let cause = |event: &crate::Event| match event.wait() {
            Err(Error::Failed(failure)) => Some(matches!(failure.cause(), Cause::Forgotten)),
            _ => None,
        };
        let mut pairs = vec![];
        for n in 0..4 {
            let (failed, fine) = (submit(Err(Error::ShutDown)), submit(Ok(())));
            assert!(failed.0 && !fine.0, "pair {n}");
            pairs.push((failed.1, fine.1));
        }
        let causes = pairs.iter().map(|(failed, fine)| (cause(failed), cause(fine)));
        let forgotten = (Some(true), None);
        let known = (Some(false), None);
        assert_eq!(causes.collect::<Vec<_>>(), [forgotten, forgotten, known, known]);
        let (_, last) = submit(Err(Error::ShutDown));
        (0..12).for_each(|_| {
            let mut y = rt.buffer::<u32, 1>(4).unwrap();
            let other = q.submit(|cg| {
                let y = cg.discard(&mut y);
                cg.host_task(y, |_| Err::<(), _>(Error::ShutDown));
                Ok(())
            });
            assert!(other.unwrap().wait().is_err());
        });
        assert_eq!(cause(&last), Some(true));
        assert!(x.read().is_err(), "the last writer has failed, however long ago");
        let runs = rt.core.engine.enter(|ledger| ledger.timeline.failures.runs.len());
        assert!(runs <= 8, "{runs} runs");
        assert!(pairs.iter().all(|(failed, _)| cause(failed) == Some(true)));
    }
}
