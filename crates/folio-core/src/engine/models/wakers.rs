//! Those who do not wait are told: futures, and lanes that an interop task has put something on.

use super::*;
use crate::engine::kernels::interop::{Body, Task};
use std::any::{Any, TypeId};
use std::task::{Wake, Waker};

/// What a thread that runs a future sleeps on.
struct Bed(Reaper);

impl Wake for Bed {
    fn wake(self: Arc<Self>) {
        self.0.call();
    }
}

/// Runs the future of a stamp: looks, and when it is pending sleeps until its waker is called.
fn block_on(model: &Model, stamp: Stamp) -> Outcome {
    let bed = Arc::new(Bed(Reaper::running()));
    let waker = Waker::from(bed.clone());
    loop {
        let mut waker = Some(waker.clone());
        let (pending, outcome) = model.engine.enter(|ledger| {
            ledger.poll_for(stamp);
            let Ledger { timeline, topology, outbox, .. } = &mut *ledger;
            let wakes = timeline.wake_when_done(stamp, &mut waker, (topology, outbox));
            (wakes, timeline.outcome(stamp))
        });
        if !pending {
            return outcome;
        }
        bed.0.sleep(None);
    }
}

/// A future is looked at while another thread retires its tick, or finds its device gone: it is
/// woken, or sees it.
#[test]
fn loom_a_future_meets_the_end_of_its_tick() {
    for goes in [false, true] {
        check(None, move || {
            let model = Arc::new(Rig { at_once: [false; 2], ..RIG }.engine());
            let stamp = model.engine.enter(|ledger| ledger.submit(on_lane(0, &[])));
            let other = model.clone();
            let thread = thread::spawn(move || {
                match goes {
                    true => other.natives[0].lose(),
                    false => other.natives[0].finish(1),
                }
                other.engine.enter(|ledger| ledger.poll(LANES[0]));
            });
            let expected = if goes { Outcome::Failed } else { Outcome::Fine };
            assert_eq!(block_on(&model, stamp), expected);
            thread.join().unwrap();
        });
    }
}

/// The same where only the reaper looks, which has to see that a future waits.
#[test]
fn loom_the_reaper_wakes_futures() {
    check(Some(2), || {
        let model = Arc::new(Rig { at_once: [false; 2], reaper: true, ..RIG }.engine());
        let engine = model.engine.clone();
        let reaper = thread::spawn(move || engine.reap(0));
        let stamp = model.engine.enter(|ledger| ledger.submit(on_lane(0, &[])));
        let other = model.clone();
        let driver = thread::spawn(move || other.natives[0].finish(1));
        assert_eq!(block_on(&model, stamp), Outcome::Fine);
        driver.join().unwrap();
        model.engine.close();
        reaper.join().unwrap();
    });
}

/// The same for a tick whose lane shows it before the lane of the tick that it waited for.
#[test]
fn loom_the_reaper_wakes_futures_that_a_late_lane_holds() {
    check(Some(2), || {
        let rig = Rig { waits: true, at_once: [false, true], reaper: true, ..RIG };
        let model = Arc::new(rig.engine());
        let engine = model.engine.clone();
        let reaper = thread::spawn(move || engine.reap(0));
        let first = model.engine.enter(|ledger| ledger.submit(on_lane(0, &[])));
        let second = model.engine.enter(|ledger| ledger.submit(on_lane(1, &[(first, true)])));
        let other = model.clone();
        let driver = thread::spawn(move || other.natives[0].finish(1));
        assert_eq!(block_on(&model, second), Outcome::Fine);
        driver.join().unwrap();
        model.engine.close();
        reaper.join().unwrap();
    });
}

/// An interop task submits to a lane, which it cannot drain, while another thread comes to that
/// lane because operations were held back there: what the task has put in is handed over, by that
/// one or by the reaper.
#[test]
fn loom_what_an_interop_task_submits_is_not_left() {
    check(Some(2), || {
        let model = Arc::new(Rig { reaper: true, ..RIG }.engine());
        let lane = model.engine.table.shared(LANES[0]).unwrap();
        lane.stalled.store(true, Ordering::Release);
        let engine = model.engine.clone();
        let reaper = thread::spawn(move || engine.reap(0));
        let other = model.clone();
        let task = thread::spawn(move || {
            let own = other.clone();
            let body = move |_: &dyn Any| {
                own.engine.enter(|ledger| ledger.submit(on_lane(0, &[])));
                Ok(())
            };
            let task = Task {
                native: TypeId::of::<()>(),
                name: "()",
                body: Body::once(body),
                captures: false,
            };
            assert!(task.call(&()).is_ok());
        });
        task.join().unwrap();
        model.engine.close();
        reaper.join().unwrap();
        assert_eq!(model.natives[0].has.load(Ordering::Relaxed), 1);
    });
}
