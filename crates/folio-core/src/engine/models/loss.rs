//! The loss of a device, while others wait for it or give it work.

use super::*;

const HANGS: Rig = Rig { at_once: [false, true], ..RIG };

fn failed(model: &Model, stamp: Stamp) -> Arc<crate::error::Failure> {
    match model.engine.wait(stamp, None) {
        Ok(WaitEnd::Failed(failure)) => failure,
        _ => panic!("it has not failed"),
    }
}

/// A device that hangs goes while one thread waits for it, and another one looks at its lane: the
/// wait ends, and both find the same failure, which is reported once.
#[test]
fn loom_a_loss_meets_a_waiter() {
    check(Some(3), || {
        let model = Arc::new(HANGS.engine());
        let stamp = model.engine.enter(|ledger| ledger.submit(on_lane(0, &[])));
        let (other, third) = (model.clone(), model.clone());
        let waiter = thread::spawn(move || failed(&other, stamp).id);
        let driver = thread::spawn(move || third.natives[0].lose());
        model.engine.enter(|ledger| ledger.poll(LANES[0]));
        driver.join().unwrap();
        let id = waiter.join().unwrap();
        assert_eq!(failed(&model, stamp).id, id);
        assert_eq!(model.reported(), 1);
        assert!(model.engine.enter(|ledger| ledger.timeline.lanes[0].idle()));
    });
}

/// A device goes while it is given work on which an operation of another device depends: all of it
/// ends, whether the device took it, refused it or was known to be gone, and what comes after only
/// runs.
#[test]
fn loom_a_loss_meets_a_submission() {
    check(Some(3), || {
        let model = Arc::new(HANGS.engine());
        let first = model.engine.enter(|ledger| ledger.submit(on_lane(0, &[])));
        let other = model.clone();
        let driver = thread::spawn(move || {
            other.natives[0].lose();
            other.engine.enter(|ledger| ledger.poll(LANES[0]));
        });
        let second = model.engine.enter(|ledger| ledger.submit(on_lane(0, &[(first, true)])));
        let uses = model.engine.enter(|ledger| ledger.submit(on_lane(1, &[(second, true)])));
        let after = model.engine.enter(|ledger| ledger.submit(on_lane(1, &[(second, false)])));
        let ids = [first, second, uses].map(|stamp| failed(&model, stamp).id);
        assert_eq!(ids, [ids[0]; 3]);
        assert!(matches!(model.engine.wait(after, None), Ok(WaitEnd::Done)));
        driver.join().unwrap();
        assert_eq!(model.reported(), 1);
        assert_eq!(model.natives[1].has.load(Ordering::Relaxed), 1);
    });
}
