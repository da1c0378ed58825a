//! The calls that native lanes get.

use super::*;
use crate::engine::threads::courier::{Patience, become_fewer};
use crate::hal::Lost;
use std::time::Instant;

/// A lane that notes the ticks which others wait for, each with the last tick enqueued then.
#[derive(Default)]
pub(crate) struct AwaitedLane {
    enqueued: AtomicU64,
    awaited: Mutex<Vec<(Tick, Tick)>>,
}

// SAFETY: it does nothing, and touches no memory.
unsafe impl Lane for AwaitedLane {
    fn enqueue(&self, head: &Head<'_>, _: Op<'_>) -> Result<(), HalError> {
        self.enqueued.store(head.tick, Ordering::Relaxed);
        Ok(())
    }
    fn awaited(&self, tick: Tick) {
        self.awaited.lock().push((tick, self.enqueued.load(Ordering::Relaxed)));
    }
    fn completed(&self) -> Result<Tick, Lost> {
        Ok(self.enqueued.load(Ordering::Relaxed))
    }
    fn wait(&self, _: Tick, _: Option<Instant>) -> Result<bool, Lost> {
        Ok(true)
    }
    fn failures(&self, _: &mut dyn FnMut(Tick, HalError)) {}
}

struct Nobody;

impl Lanes for Nobody {
    fn shared(&self, _: LaneId) -> Option<&LaneShared> {
        None
    }
}

/// Operations up to so many ticks, for a lane that no thread looks after.
pub(crate) fn filled(native: Arc<AwaitedLane>, ticks: Tick) -> LaneShared {
    let lane = LaneShared::new(LaneId(0), native, 1000);
    for tick in 1..=ticks {
        let (order, waits, label) = (Order::Free, Waits::default(), Label::default());
        let payload = Payload::Copy(Vec::new());
        let op = || LaneOp { tick, order, waits, label, timed: false, payload };
        // SAFETY: this thread is the only one.
        unsafe { lane.mailbox.push_with(op) };
    }
    lane
}

/// Who has submitted too much waits while something of it is taken, however slowly, and no longer.
#[test]
fn submitters_wait_for_couriers_that_get_on() {
    let lane = filled(Arc::default(), 100);
    let mut looks = 0;
    let slowly = || {
        looks += 1;
        assert!(!lane.drain(&Nobody, looks / 900));
        Some(lane.enqueued())
    };
    assert!(become_fewer(&lane, 95, slowly));
    assert_eq!((lane.enqueued(), looks), (6, 5400));
    assert!(become_fewer(&lane, 95, || None));
    assert!(!become_fewer(&lane, 94, || None));
    assert!(!become_fewer(&lane, 94, || Some(6)));
}

/// Patience ends after so many looks at which nothing more has been handed over.
#[test]
fn patience_begins_anew_when_something_is_handed_over() {
    let mut patience = Patience::default();
    for enqueued in [0, 1, 16, 17] {
        for _ in 0..1000 {
            assert!(!patience.is_over(enqueued, 1000));
        }
    }
    assert!(patience.is_over(17, 1000));
    assert!(!patience.is_over(18, 1000));
}

/// A lane hears of a tick for which others wait when it has that tick, and not those behind it; of
/// one that it has already, it does not.
#[test]
fn lanes_are_told_what_is_waited_for() {
    let told = Arc::new(AwaitedLane::default());
    let lane = filled(told.clone(), 100);
    [3, 4, 80].into_iter().for_each(|tick| lane.expect_wait_for(tick));
    assert!(!lane.drain(&Nobody, 2));
    assert!(told.awaited.lock().is_empty());
    assert!(!lane.drain(&Nobody, 70));
    lane.expect_wait_for(70);
    assert!(!lane.drain(&Nobody, 100));
    assert_eq!(*told.awaited.lock(), [(3, 3), (4, 4), (80, 80)]);
}
