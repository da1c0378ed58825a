//! Loom models of the engine's protocol: the real engine, ledger, lanes, reaper and `Notify`, over
//! a native lane that checks what its contract promises it. Run with
//! `RUSTFLAGS="--cfg loom" cargo test -p folio-compute-core --release --lib loom_`.
//!
//! What is not modelled: the starting of threads (models start the reaper themselves), and
//! time-outs, which under loom never pass. So what is found to end here ends without them.

mod loss;
mod wakers;

use super::Engine;
use super::devices::DeviceEntry;
use super::kernels::Kernels;
use super::lanes::port::LaneTable;
use super::lanes::{LaneShared, Lanes, Payload};
use super::ledger::{Body, DeviceFacts, Ledger, NewOp};
use super::pages::storage::{Alloc, Life, Owner, StorageId, StorageState};
use super::threads::courier::CourierSide;
use super::threads::host::HostThreads;
use super::threads::reaper::Reaper;
use super::threads::wait::WaitEnd;
use crate::engine::terms::budget::Budget;
use crate::engine::terms::lane::{LANES_PER_DEVICE, WaitKey};
use crate::engine::terms::lender::{HostMemory, take};
use crate::error::{Cause, Label};
use crate::geom::Grid;
use crate::hal::{
    Caps, DeviceInfo, DeviceKind, HalError, Head, Lane, Link, Lost, MemoryHome, Notify, Op, Tick,
    WaitGroup,
};
use crate::loom_model::check;
use crate::order::hazards::{Dep, Deps, Outcome};
use crate::order::stamp::{LaneId, SlotId, Stamp, When};
use crate::pages::{BlockTracker, DomainId};
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Condvar, Mutex, UnsafeCell};
use loom::thread;
use smallvec::SmallVec;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

/// A native lane. The engine calls it under the lane lock, in tick order, and gives it waits only
/// for ticks that their lanes have: all three are checked.
struct Native {
    /// Loom finds two callers that nothing orders.
    given: UnsafeCell<Tick>,
    /// The same for others; relaxed, so that only what the engine orders is sure to be seen.
    has: AtomicU64,
    completed: AtomicU64,
    /// Operations end as soon as they are given.
    at_once: bool,
    /// The device is gone.
    lost: AtomicBool,
    notify: Notify,
}

impl Native {
    fn is_lost(&self) -> Result<(), Lost> {
        match self.lost.load(Ordering::Acquire) {
            true => Err(Lost::new("gone")),
            false => Ok(()),
        }
    }

    /// Nothing ends here any more.
    fn lose(&self) {
        self.lost.store(true, Ordering::Release);
        self.notify.progress();
    }

    fn take(&self, head: &Head<'_>) -> Result<(), HalError> {
        self.given.with_mut(|given| {
            // SAFETY: the lane lock is held (loom checks it).
            let given = unsafe { &mut *given };
            assert_eq!(head.tick, *given + 1, "out of order");
            *given = head.tick;
        });
        for wait in head.waits {
            let other = wait.lane.downcast_ref::<Native>().unwrap();
            assert!(other.has.load(Ordering::Relaxed) >= wait.tick, "waits for what is not there");
        }
        self.has.store(head.tick, Ordering::Relaxed);
        self.is_lost()?;
        if self.at_once {
            self.finish(head.tick);
        }
        Ok(())
    }

    fn finish(&self, tick: Tick) {
        self.completed.store(tick, Ordering::Release);
        self.notify.progress();
    }
}

// SAFETY: `given` is touched under the lane lock, which is what the models check.
unsafe impl Send for Native {}
// SAFETY: as above.
unsafe impl Sync for Native {}

// SAFETY: it touches no memory.
unsafe impl Lane for Native {
    fn enqueue(&self, head: &Head<'_>, _: Op<'_>) -> Result<(), HalError> {
        self.take(head)
    }
    fn completed(&self) -> Result<Tick, Lost> {
        self.is_lost()?;
        Ok(self.completed.load(Ordering::Acquire))
    }
    fn wait(&self, tick: Tick, _: Option<Instant>) -> Result<bool, Lost> {
        while self.completed.load(Ordering::Acquire) < tick {
            self.is_lost()?;
            thread::yield_now();
        }
        Ok(true)
    }
    fn failures(&self, _: &mut dyn FnMut(Tick, HalError)) {}
}

/// What a model's engine is like.
#[derive(Clone, Copy)]
struct Rig {
    /// Devices whose lanes wait for each other, or cannot.
    waits: bool,
    /// For each device: operations end at once.
    at_once: [bool; 2],
    most_in_flight: u32,
    reaper: bool,
    /// The first one has a courier.
    courier: bool,
}

const RIG: Rig =
    Rig { waits: false, at_once: [true; 2], most_in_flight: 100, reaper: false, courier: false };

/// An engine with two devices, of which the first lanes exist.
struct Model {
    engine: Arc<Engine>,
    natives: Vec<Arc<Native>>,
    reports: Arc<AtomicUsize>,
}

const LANES: [LaneId; 2] = [LaneId(0), LaneId(LANES_PER_DEVICE)];

impl Rig {
    fn engine(self) -> Model {
        let group = self.waits.then_some(WaitGroup(0));
        let reapers: Vec<_> =
            self.reaper.then(|| Arc::new(Reaper::running())).into_iter().collect();
        let called = reapers.clone();
        let notify = Notify::new(move || called.iter().for_each(|reaper| reaper.call()));
        let table = Arc::new(LaneTable::new(2));
        let natives: Vec<_> = (0..2)
            .map(|at| {
                let native = Arc::new(Native {
                    given: UnsafeCell::new(0),
                    has: AtomicU64::new(0),
                    completed: AtomicU64::new(0),
                    at_once: self.at_once[at],
                    lost: AtomicBool::new(false),
                    notify: notify.clone(),
                });
                table.set(LaneShared::new(LANES[at], native.clone(), self.most_in_flight));
                native
            })
            .collect();
        let key = WaitKey { backend: 0, group };
        let facts = vec![DeviceFacts { domain: DomainId::HOST, key, hints: false }; 2];
        let names: Arc<[String]> = ["a", "b"].map(str::to_owned).into();
        let ledger = Ledger::new(facts, names, vec![Link::default()], 1, table.clone());
        let reports = Arc::new(AtomicUsize::new(0));
        let told = reports.clone();
        let engine = Arc::new(Engine {
            ledger: Mutex::new(ledger),
            changed: Condvar::new(),
            table,
            devices: vec![device(self.courier), device(false)],
            backends: Vec::new(),
            notifies: vec![notify],
            reapers,
            host: HostThreads::default(),
            handler: Some(Box::new(move |_| {
                told.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            })),
            links: Default::default(),
            evict: None,
            tracker: None,
            host_budget: Arc::new(Budget::new(u64::MAX)),
            absent: Vec::new(),
            closing: AtomicBool::new(false),
            opening: Mutex::new(()),
            allocating: Mutex::new(()),
            storages_made: AtomicU64::new(0),
            plant: crate::planted::Plant::default(),
            tunings: crate::tune::Tunings::new(Default::default()),
            me: Weak::new(),
        });
        Model { engine, natives, reports }
    }
}

fn device(courier: bool) -> DeviceEntry {
    let caps = Caps { notifies: true, ..Caps::default() };
    let info = DeviceInfo {
        name: String::new(),
        vendor: String::new(),
        driver: String::new(),
        kind: DeviceKind::Simulated,
        uuid: None,
        home: MemoryHome::Host,
        memory: 0,
        compute_units: 1,
        caps,
    };
    DeviceEntry {
        backend: 0,
        index: 0,
        name: String::new(),
        info,
        domain: DomainId::HOST,
        budget: Arc::new(Budget::new(0)),
        opened: OnceLock::new(),
        kernels: Kernels::new(),
        courier: courier.then(CourierSide::running),
    }
}

fn op(body: Body, deps: &[(Stamp, bool)]) -> NewOp {
    NewOp {
        what: "operation",
        deps: deps.iter().map(|&(stamp, flow)| Dep { stamp, flow: flow.into() }).collect::<Deps>(),
        body,
        ..NewOp::default()
    }
}

fn on_lane(at: usize, deps: &[(Stamp, bool)]) -> NewOp {
    op(Body::Lane(LANES[at], Payload::Copy(Vec::new())), deps)
}

impl Model {
    /// A host task that runs until the model says that it is done.
    fn host_task(&self) -> (Stamp, SlotId) {
        let stamp = self.engine.enter(|l| l.submit(op(Body::Host(Box::new(|| Ok(()))), &[])));
        match stamp.when() {
            When::Unplaced(slot, _) => (stamp, slot),
            _ => unreachable!(),
        }
    }

    fn outcome(&self, stamp: Stamp) -> Outcome {
        self.engine.enter(|ledger| {
            ledger.poll_all();
            ledger.timeline.outcome(stamp)
        })
    }

    fn reported(&self) -> usize {
        self.reports.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// A storage with 64 bytes of the host's memory.
    fn storage(&self) -> StorageId {
        let grid = Grid::new([1, 1, 64], [1, 1, 64]);
        assert!(self.engine.host_budget.take(64));
        let HostMemory { at, lender, .. } = take(None, 64).unwrap();
        let alloc = Alloc::of_host(at, Owner::Host(lender), true);
        let tracker = crate::engine::pages::tracker::Tracker::Own(BlockTracker::new(grid.pages));
        let mut state = StorageState::new(Label::NONE, (grid, 1), tracker, None);
        state.set_alloc(DomainId::HOST, alloc);
        self.engine.enter(|ledger| StorageId(ledger.storages.insert(state), 0))
    }

    /// What the drop of the last handle does.
    fn drop_handle(&self, id: StorageId) {
        self.engine.enter(|ledger| {
            ledger.storages[id.0].life = Life::Dropped;
            ledger.storages.discard_if_over(id, &mut ledger.outbox);
        });
    }
}

/// Two threads give work to two lanes, each operation waiting for the latest one of the other lane.
/// A thread that drains a lane whose head waits for what the other lane has not been given yet
/// drains that one first. Everything arrives, in order, after what it waits for, without a
/// deadlock.
#[test]
fn loom_lanes_that_wait_for_each_other_in_turn() {
    check(Some(4), || {
        let model = Arc::new(Rig { waits: true, ..RIG }.engine());
        let work = |model: &Model, own: usize| {
            for _ in 0..2 {
                model.engine.enter(|ledger| {
                    let issued = ledger.timeline.lanes[usize::from(LANES[1 - own].0)].issued;
                    let wait = match issued {
                        0 => Stamp::DONE,
                        tick => Stamp::placed(LANES[1 - own], tick),
                    };
                    ledger.submit(on_lane(own, &[(wait, true)]));
                });
            }
        };
        let other = model.clone();
        let thread = thread::spawn(move || work(&other, 1));
        work(&model, 0);
        thread.join().unwrap();
        assert!(model.natives.iter().all(|n| n.has.load(Ordering::Relaxed) == 2));
    });
}

/// Both lanes' operations are submitted first, and not drained; then two threads drain a lane each.
#[test]
fn loom_two_threads_drain_lanes_that_need_each_other() {
    check(None, || {
        let model = Arc::new(Rig { waits: true, ..RIG }.engine());
        let outbox = {
            let mut ledger = model.engine.ledger.lock();
            let mut last = Stamp::DONE;
            for at in [0, 1, 0, 1] {
                last = ledger.submit(on_lane(at, &[(last, true)]));
            }
            std::mem::take(&mut ledger.outbox)
        };
        drop(outbox);
        let drain = |model: &Model, at: usize| {
            let lane = model.engine.table.shared(LANES[at]).unwrap();
            assert!(!lane.drain(&*model.engine.table, Tick::MAX));
            assert_eq!(lane.enqueued(), 2);
        };
        let other = model.clone();
        let thread = thread::spawn(move || drain(&other, 1));
        drain(&model, 0);
        thread.join().unwrap();
        assert_eq!(model.outcome(Stamp::placed(LANES[1], 2)), Outcome::Fine);
    });
}

/// A courier takes what is submitted from when it is called, and goes to sleep, again and again.
/// Nothing is left behind, whether it is waited for or not.
#[test]
fn loom_a_courier_leaves_nothing_behind() {
    check(Some(3), || {
        let model = Arc::new(Rig { courier: true, ..RIG }.engine());
        let engine = model.engine.clone();
        let thread = thread::spawn(move || engine.carry(0));
        let submit = || model.engine.enter(|ledger| ledger.submit(on_lane(0, &[])));
        submit();
        assert!(matches!(model.engine.wait(submit(), None), Ok(WaitEnd::Done)));
        submit();
        model.engine.close();
        thread.join().unwrap();
        assert_eq!(model.natives[0].has.load(Ordering::Relaxed), 3);
    });
}

/// A host task ends while a thread submits an operation that waits for it, and waits for that.
/// Either the task finds the dependent or the dependent finds the task done.
#[test]
fn loom_a_dependent_meets_the_end_of_a_host_task() {
    check(None, || {
        let model = Arc::new(RIG.engine());
        let (task, slot) = model.host_task();
        let other = model.clone();
        let thread = thread::spawn(move || {
            other.engine.enter(|ledger| ledger.host_done(slot, Ok(())));
        });
        let stamp = model.engine.enter(|ledger| ledger.submit(on_lane(0, &[(task, true)])));
        assert!(matches!(model.engine.wait(stamp, None), Ok(WaitEnd::Done)));
        thread.join().unwrap();
        assert_eq!(model.natives[0].has.load(Ordering::Relaxed), 1);
    });
}

/// An operation on a lane that cannot wait for another one's: the other one is polled by the thread
/// that completes it, while its dependent is being submitted.
#[test]
fn loom_a_dependent_meets_the_end_of_a_tick() {
    check(None, || {
        let model = Arc::new(Rig { at_once: [false, true], ..RIG }.engine());
        let first = model.engine.enter(|ledger| ledger.submit(on_lane(0, &[])));
        let other = model.clone();
        let thread = thread::spawn(move || {
            other.natives[0].finish(1);
            other.engine.enter(|ledger| ledger.poll(LANES[0]));
        });
        let stamp = model.engine.enter(|ledger| ledger.submit(on_lane(1, &[(first, true)])));
        assert!(matches!(model.engine.wait(stamp, None), Ok(WaitEnd::Done)));
        thread.join().unwrap();
        assert_eq!(model.natives[1].has.load(Ordering::Relaxed), 1);
    });
}

/// A lane shows an operation before the lane of what that waited for shows this: a waiter and
/// another thread that polls both see it after that, and the waiter comes to its end.
#[test]
fn loom_a_lane_that_shows_late_holds_what_waited_for_it() {
    check(None, || {
        let model = Arc::new(Rig { waits: true, at_once: [false, true], ..RIG }.engine());
        let first = model.engine.enter(|ledger| ledger.submit(on_lane(0, &[])));
        let second = model.engine.enter(|ledger| ledger.submit(on_lane(1, &[(first, true)])));
        let other = model.clone();
        let driver = thread::spawn(move || {
            other.natives[0].finish(1);
            other.engine.enter(|ledger| ledger.poll(LANES[1]));
        });
        let outcomes = |model: &Model| {
            model.engine.enter(|ledger| {
                ledger.poll(LANES[1]);
                [second, first].map(|stamp| ledger.timeline.outcome(stamp))
            })
        };
        assert_ne!(outcomes(&model), [Outcome::Fine, Outcome::Pending]);
        assert!(matches!(model.engine.wait(second, None), Ok(WaitEnd::Done)));
        assert_eq!(outcomes(&model), [Outcome::Fine; 2]);
        driver.join().unwrap();
    });
}

/// A host task fails while dependents are submitted: who depends on its data fails, who only comes
/// after it runs, the failure is reported once.
#[test]
fn loom_failure_reaches_dependents_once() {
    check(None, || {
        let model = Arc::new(RIG.engine());
        let (task, slot) = model.host_task();
        let queue = model.engine.enter(|ledger| ledger.queues.open());
        let other = model.clone();
        let thread = thread::spawn(move || {
            let error = Cause::Backend(HalError::unsupported("this"));
            other.engine.enter(|ledger| ledger.host_done(slot, Err(error.into())));
        });
        let mut fails = on_lane(0, &[(task, true)]);
        fails.queue = Some(queue);
        let fails = model.engine.enter(|ledger| ledger.submit(fails));
        let runs = model.engine.enter(|ledger| ledger.submit(on_lane(0, &[(task, false)])));
        let after = model.engine.enter(|ledger| ledger.submit(on_lane(1, &[(fails, true)])));
        assert!(matches!(model.engine.wait(after, None), Ok(WaitEnd::Failed(_))));
        assert!(matches!(model.engine.wait(runs, None), Ok(WaitEnd::Done)));
        thread.join().unwrap();
        assert_eq!(model.outcome(fails), Outcome::Failed);
        let has = |at: usize| model.natives[at].has.load(Ordering::Relaxed);
        assert_eq!((has(0), has(1)), (1, 0));
        assert_eq!(model.reported(), 1);
        let taken = |model: &Model| model.engine.enter(|ledger| ledger.queues.take_failure(queue));
        assert!(taken(&model).is_some() && taken(&model).is_none());
    });
}

/// The last handle goes while the last operation is accounted for, by two threads that look at the
/// lane: the memory is freed once, and not before both.
#[test]
fn loom_the_last_handle_and_the_last_operation_free_once() {
    check(None, || {
        let model = Arc::new(Rig { at_once: [false; 2], ..RIG }.engine());
        let id = model.storage();
        let mut user = on_lane(0, &[]);
        user.storages = SmallVec::from_iter([id]);
        model.engine.enter(|ledger| ledger.submit(user));
        let (a, b) = (model.clone(), model.clone());
        let a = thread::spawn(move || {
            assert_eq!(a.engine.host_budget.in_use(), 64, "it is in use");
            a.natives[0].finish(1);
            a.engine.enter(|ledger| ledger.poll(LANES[0]));
        });
        let b = thread::spawn(move || {
            b.engine.enter(|ledger| ledger.poll(LANES[0]));
        });
        model.drop_handle(id);
        a.join().unwrap();
        b.join().unwrap();
        assert_eq!(model.engine.host_budget.in_use(), 0);
        assert!(model.engine.enter(|ledger| ledger.storages.get(id.0).is_none()));
    });
}

/// Who arms and then looks, and who makes progress and then tells: one of the two sees the other.
#[test]
fn loom_notify_loses_no_wake_up() {
    check(None, || {
        let reaper = Arc::new(Reaper::running());
        let called = reaper.clone();
        let notify = Notify::new(move || called.call());
        let completed = Arc::new(AtomicU64::new(0));
        let (done, told) = (completed.clone(), notify.clone());
        let thread = thread::spawn(move || {
            done.store(1, Ordering::Release);
            told.progress();
        });
        notify.arm();
        if completed.load(Ordering::Acquire) == 0 {
            reaper.sleep(None);
            assert_eq!(completed.load(Ordering::Acquire), 1);
        }
        thread.join().unwrap();
    });
}

/// Nobody waits: an operation that is deferred until a tick of another lane is placed by the
/// reaper, whenever that tick ends.
#[test]
fn loom_the_reaper_places_what_nobody_waits_for() {
    check(Some(2), || {
        let model = Arc::new(Rig { at_once: [false, true], reaper: true, ..RIG }.engine());
        let engine = model.engine.clone();
        let reaper = thread::spawn(move || engine.reap(0));
        let first = model.engine.enter(|ledger| ledger.submit(on_lane(0, &[])));
        let other = model.clone();
        let driver = thread::spawn(move || other.natives[0].finish(1));
        model.engine.enter(|ledger| ledger.submit(on_lane(1, &[(first, true)])));
        driver.join().unwrap();
        model.engine.close();
        reaper.join().unwrap();
        assert_eq!(model.natives[1].has.load(Ordering::Relaxed), 1);
    });
}

/// A courier and the reaper over a lane that takes one operation at a time: what one finds held
/// back and leaves, the other one sees.
#[test]
fn loom_a_courier_leaves_full_lanes_to_the_reaper() {
    check(Some(2), || {
        let rig = Rig { most_in_flight: 1, reaper: true, courier: true, ..RIG };
        let model = Arc::new(rig.engine());
        let (carrier, reaping) = (model.engine.clone(), model.engine.clone());
        let courier = thread::spawn(move || carrier.carry(0));
        let reaper = thread::spawn(move || reaping.reap(0));
        let submit = || model.engine.enter(|ledger| ledger.submit(on_lane(0, &[])));
        submit();
        assert!(matches!(model.engine.wait(submit(), None), Ok(WaitEnd::Done)));
        model.engine.close();
        courier.join().unwrap();
        reaper.join().unwrap();
        assert_eq!(model.natives[0].has.load(Ordering::Relaxed), 2);
    });
}

/// A lane that takes one operation at a time is full: the drainer leaves the second operation
/// there, and the reaper hands it over when there is room.
#[test]
fn loom_a_full_lane_goes_on_when_there_is_room() {
    check(Some(2), || {
        let rig = Rig { at_once: [false; 2], most_in_flight: 1, reaper: true, ..RIG };
        let model = Arc::new(rig.engine());
        let engine = model.engine.clone();
        let reaper = thread::spawn(move || engine.reap(0));
        model.engine.enter(|ledger| ledger.submit(on_lane(0, &[])));
        let other = model.clone();
        let driver = thread::spawn(move || {
            other.natives[0].finish(1);
            while other.natives[0].has.load(Ordering::Acquire) < 2 {
                thread::yield_now();
            }
            other.natives[0].finish(2);
        });
        model.engine.enter(|ledger| ledger.submit(on_lane(0, &[])));
        driver.join().unwrap();
        model.engine.close();
        reaper.join().unwrap();
    });
}
