//! Order on a lane and across lanes, waiting, and no wake-up lost.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod common;

use common::*;
use folio_core::hal::{
    Backend, CopyRect, HalError, HalErrorKind, Head, Lane, LaneKind, Lost, Notify, Op, Tick, Wait,
};
use folio_cpu::CpuBackend;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn a_lane_keeps_its_order() {
    let backend = backend(3);
    let mut script = Script::new(&device(&backend, 0));
    let next = Arc::new(AtomicU64::new(0));
    let mut random = Random(1);
    for i in 0..5000 {
        let next = Arc::clone(&next);
        // A single item, many items, and now and then long enough for the pool.
        let range = [1, 1, [1, 1, 1, 500][random.below(4)]];
        let long = random.below(500) == 0;
        script.run(range, move |block| {
            if block.min[2] == 0 {
                assert_eq!(next.swap(i + 1, Ordering::Relaxed), i);
            }
            if long {
                burn(Duration::from_micros(30));
            }
        });
    }
    script.finish();
    assert!(script.failures().is_empty());
}

#[test]
fn lanes_wait_for_each_other_in_both_directions() {
    let backend = CpuBackend::builder().threads(2).domains(2).build().unwrap();
    let mut lanes = [0, 1].map(|i| Script::new(&device(&backend, i)));
    let next = Arc::new(AtomicUsize::new(0));
    for i in 0..4000 {
        let [a, b] = &mut lanes;
        let (this, other) = if i % 2 == 0 { (a, b) } else { (b, a) };
        let next = Arc::clone(&next);
        let wait = Wait { lane: &other.lane, tick: other.tick };
        // The first of each hundred is slow, so that the others pile up behind it, parked.
        this.run_after(ONE, &[wait], move |_| {
            if i % 100 == 0 {
                burn(Duration::from_micros(100));
            }
            assert_eq!(next.swap(i + 1, Ordering::Relaxed), i);
        });
    }
    for script in &lanes {
        script.finish();
        assert!(script.failures().is_empty());
    }
}

#[test]
fn two_threads_submit_to_two_lanes() {
    within_time(|| {
        let backend = backend(2);
        let device = device(&backend, 0);
        let lanes = [0, 1].map(|_| Mutex::new(Script::new(&device)));
        let count = Arc::new(AtomicUsize::new(0));
        thread::scope(|scope| {
            for me in 0..2 {
                let (lanes, count) = (&lanes, &count);
                scope.spawn(move || {
                    for i in 0..20_000 {
                        let target = (i + me) % 2;
                        let (other, tick) = {
                            let other = lanes[1 - target].lock().unwrap();
                            (Arc::clone(&other.lane), other.tick)
                        };
                        let count = Arc::clone(count);
                        let kernel = kernel(move |_, _| {
                            count.fetch_add(1, Ordering::Relaxed);
                        });
                        let lane = {
                            // The engine holds a lock here, and none when it drives.
                            let mut script = lanes[target].lock().unwrap();
                            let wait = Wait { lane: &other, tick };
                            script.launch_only(ONE, &[wait], kernel).unwrap();
                            Arc::clone(&script.lane)
                        };
                        lane.drive();
                    }
                });
            }
        });
        for script in lanes {
            let script = script.into_inner().unwrap();
            assert_eq!(script.lane.wait(script.tick, None), Ok(true));
        }
        assert_eq!(count.load(Ordering::Relaxed), 40_000);
    });
}

/// Random operations on many lanes, each waiting for random earlier ones, checked by each.
fn stress(seed: u64, threads: usize, lanes: usize, ops: usize) {
    let backend = backend(threads);
    let device = device(&backend, 0);
    let mut random = Random(seed);
    let mut scripts: Vec<Script> = (0..lanes).map(|_| Script::new(&device)).collect();
    let done: Arc<Vec<AtomicBool>> = Arc::new((0..ops).map(|_| false.into()).collect());
    let mut made: Vec<(usize, Tick)> = Vec::new();
    for i in 0..ops {
        let lane = random.below(lanes);
        let recent = made.len().min(3 * lanes);
        let picks: Vec<usize> = (0..random.below(4).min(recent))
            .map(|_| made.len() - 1 - random.below(recent))
            .collect();
        let arcs: Vec<_> = picks.iter().map(|&p| scripts[made[p].0].lane.clone()).collect();
        let waits: Vec<_> =
            picks.iter().zip(&arcs).map(|(&p, lane)| Wait { lane, tick: made[p].1 }).collect();
        let (all, needs) = (Arc::clone(&done), picks.clone());
        let slow = random.below(40) == 0;
        let wide = random.below(60) == 0;
        let body = kernel(move |_, block| {
            assert!(needs.iter().all(|&p| all[p].load(Ordering::Relaxed)));
            if slow {
                burn(Duration::from_micros(20));
            }
            if block.min[2] == 0 {
                all[i].store(true, Ordering::Relaxed);
            }
        });
        let range = [1, 1, if wide { 1000 } else { 1 }];
        scripts[lane].launch_only(range, &waits, body).unwrap();
        // Now and then late: others may park on what nobody drives yet.
        if random.below(10) > 0 {
            scripts[lane].lane.drive();
        }
        made.push((lane, scripts[lane].tick));
        if random.below(100) == 0 {
            let (lane, tick) = made[random.below(made.len())];
            assert_eq!(scripts[lane].lane.wait(tick, None), Ok(true));
        }
    }
    for script in &scripts {
        script.lane.drive();
    }
    for script in &scripts {
        script.finish();
        assert!(script.failures().is_empty(), "seed {seed}: {:?}", script.failures());
    }
    assert!(done.iter().all(|done| done.load(Ordering::Relaxed)));
}

#[test]
fn no_wake_up_is_lost() {
    within_time(|| {
        for seed in 1..=12 {
            for threads in [1, 2, 4] {
                stress(seed * 0x9e37_79b9, threads, 3 + seed as usize * 2, 1500);
            }
        }
    });
}

#[test]
fn parking_on_a_lane_that_nobody_drives_starts_it() {
    let backend = backend(2);
    let device = device(&backend, 0);
    let [mut first, mut second] = [Script::new(&device), Script::new(&device)];
    first.launch_only(ONE, &[], kernel(|_, _| {})).unwrap();
    second.run_after(ONE, &[Wait { lane: &first.lane, tick: 1 }], |_| {});
    second.finish();
    assert_eq!(first.lane.completed(), Ok(1));
}

#[test]
fn many_waiters_on_one_lane_all_wake() {
    within_time(|| {
        for round in 0..50 {
            // Each time one that does not know the kernel yet.
            let backend = backend(2);
            let mut script = Script::new(&device(&backend, 0));
            let gate = Arc::new(AtomicBool::new(false));
            let opened = Arc::clone(&gate);
            let first = script.tick + 1;
            // Unknown and of more than 64 items: not on this thread.
            script.run([1, 1, 65], move |_| {
                while !opened.load(Ordering::Relaxed) {
                    thread::yield_now();
                }
            });
            for _ in 0..8 {
                script.run(ONE, |_| {});
            }
            thread::scope(|scope| {
                for i in 0..8 {
                    let lane = &script.lane;
                    let until = (i % 2 == 0).then(|| Instant::now() + HUNG);
                    scope.spawn(move || assert_eq!(lane.wait(first + i, until), Ok(true)));
                }
                if round % 2 == 0 {
                    thread::yield_now();
                }
                gate.store(true, Ordering::Relaxed);
            });
        }
    });
}

#[test]
fn a_deadline_passes() {
    let backend = backend(2);
    let mut script = Script::new(&device(&backend, 0));
    let (open, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    script.run([1, 1, 65], move |block| {
        if block.min[2] == 0 {
            let _closed = gate.lock().unwrap().recv();
        }
    });
    script.run(ONE, |_| {});
    let soon = || Some(Instant::now() + Duration::from_millis(2));
    assert_eq!(script.lane.wait(1, soon()), Ok(false));
    assert_eq!(script.lane.wait(2, soon()), Ok(false));
    assert_eq!(script.lane.wait(2, Some(Instant::now())), Ok(false));
    drop(open);
    script.finish();
}

#[test]
fn a_kernel_may_submit_and_wait() {
    within_time(|| {
        let backend = backend(2);
        let device = device(&backend, 0);
        let mut outer = Script::new(&device);
        let log = Arc::new(Mutex::new(Vec::new()));
        let own = Arc::clone(&outer.lane);
        let (inner_log, outer_log) = (Arc::clone(&log), Arc::clone(&log));
        let other = Arc::new(Mutex::new(Script::new(&device)));
        outer.run(ONE, move |_| {
            // To another lane: runs right here. To one's own: after this one.
            let mut other = other.lock().unwrap();
            let log = Arc::clone(&inner_log);
            other.run(ONE, move |_| log.lock().unwrap().push("other"));
            assert_eq!(other.lane.wait(other.tick, None), Ok(true));
            let log = Arc::clone(&inner_log);
            let mut mine = Script { lane: Arc::clone(&own), tick: 1, timed: false };
            mine.run(ONE, move |_| log.lock().unwrap().push("own, later"));
            // Waiting for oneself ends with the deadline, and holds no lock.
            let soon = Some(Instant::now() + Duration::from_millis(1));
            assert_eq!(own.wait(1, soon), Ok(false));
            assert_eq!(own.completed(), Ok(0));
            inner_log.lock().unwrap().push("outer");
        });
        outer.tick = 2;
        outer.finish();
        assert!(outer.failures().is_empty());
        assert_eq!(*outer_log.lock().unwrap(), ["other", "outer", "own, later"]);
    });
}

#[test]
fn workers_that_wait_in_kernels_run_others_meanwhile() {
    within_time(|| {
        let backend = backend(1);
        let device = device(&backend, 0);
        let mut scripts: Vec<Script> = (0..4).map(|_| Script::new(&device)).collect();
        let mut below: Option<(Arc<dyn Lane>, Tick)> = None;
        // The only worker runs the last lane's kernel first or not; either way all end.
        for script in scripts.iter_mut().rev() {
            let wait_for = below.take();
            let body = kernel(move |_, block| {
                if let (Some((lane, tick)), 0) = (&wait_for, block.min[2]) {
                    assert_eq!(lane.wait(*tick, None), Ok(true));
                }
            });
            script.launch_only([1, 1, 65], &[], body).unwrap();
            below = Some((Arc::clone(&script.lane), script.tick));
        }
        for script in &scripts {
            script.lane.drive();
        }
        for script in &scripts {
            script.finish();
            assert!(script.failures().is_empty());
        }
    });
}

#[test]
fn a_busy_lane_does_not_starve_another() {
    let backend = backend(1);
    let device = device(&backend, 0);
    let (mut busy, mut other) = (Script::new(&device), Script::new(&device));
    let stop = Arc::new(AtomicBool::new(false));
    // Each keeps the worker for a while, and there is always a next one.
    for _ in 0..20_000 {
        let stop = Arc::clone(&stop);
        busy.run(ONE, move |_| {
            if !stop.load(Ordering::Relaxed) {
                burn(Duration::from_micros(10));
            }
        });
    }
    let before = Arc::clone(&busy.lane);
    let last = busy.tick;
    other.run([1, 1, 100], move |_| assert!(before.completed().unwrap() < last));
    other.finish();
    stop.store(true, Ordering::Relaxed);
    busy.finish();
    assert!(other.failures().is_empty());
}

#[test]
fn progress_is_told() {
    within_time(|| {
        let backend = backend(2);
        let (sender, receiver) = mpsc::channel();
        let notify = Notify::new(move || sender.send(()).unwrap_or(()));
        // SAFETY: the test keeps the contract of the HAL.
        let device = unsafe { backend.open(0, notify.clone()) }.unwrap();
        let mut script = Script::new(&device);
        for i in 0..1000 {
            notify.arm();
            let tick = script.run([1, 1, 1 + i % 2 * 100], |_| {});
            receiver.recv_timeout(HUNG).unwrap();
            assert!(script.lane.completed().unwrap() >= tick);
        }
    });
}

#[test]
fn lanes_and_devices_may_be_dropped_with_work_in_flight() {
    within_time(|| {
        let count = Arc::new(AtomicUsize::new(0));
        for i in 0..200 {
            let backend = backend(2);
            let device = device(&backend, 0);
            let mut scripts = [Script::new(&device), Script::new(&device)];
            for j in 0..20 {
                let other = Arc::clone(&scripts[1 - j % 2].lane);
                let wait = Wait { lane: &other, tick: scripts[1 - j % 2].tick };
                let count = Arc::clone(&count);
                let body = kernel(move |_, block| {
                    burn(Duration::from_micros(1));
                    count.fetch_add(block.volume(), Ordering::Relaxed);
                });
                scripts[j % 2].launch_only([1, 1, 65], &[wait], body).unwrap();
                if i % 2 == 0 {
                    scripts[j % 2].lane.drive();
                }
            }
        }
        let start = Instant::now();
        while count.load(Ordering::Relaxed) < 200 * 20 * 65 && start.elapsed() < HUNG {
            thread::yield_now();
        }
        assert_eq!(count.load(Ordering::Relaxed), 200 * 20 * 65);
    });
}

struct Foreign;

// SAFETY: never called.
unsafe impl Lane for Foreign {
    fn enqueue(&self, _: &Head<'_>, _: Op<'_>) -> Result<(), HalError> {
        Ok(())
    }
    fn completed(&self) -> Result<Tick, Lost> {
        Ok(0)
    }
    fn wait(&self, _: Tick, _: Option<Instant>) -> Result<bool, Lost> {
        Ok(false)
    }
    fn failures(&self, _: &mut dyn FnMut(Tick, HalError)) {}
}

#[test]
fn foreign_lanes_are_refused_without_running_anything() {
    let backend = backend(2);
    let device = device(&backend, 0);
    let mut script = Script::new(&device);
    let slow = device.lane(LaneKind::Compute, 0).unwrap();
    let foreign: Arc<dyn Lane> = Arc::new(Foreign);
    let waits = [Wait { lane: &slow, tick: 0 }, Wait { lane: &foreign, tick: 1 }];
    let token = Arc::new(());
    let held = Arc::clone(&token);
    let body = kernel(move |_, _| assert_eq!(Arc::strong_count(&held), 0));
    let error = script.launch_only(ONE, &waits, body).unwrap_err();
    assert!(matches!(error.kind, HalErrorKind::Unsupported), "{error}");
    let (mut from, mut to) = ([1u8; 4], [2u8; 4]);
    let rect = CopyRect {
        src: host(&mut from),
        src_pitch: [4; 2],
        dst: host(&mut to),
        dst_pitch: [4; 2],
        extent: [1, 1, 4],
    };
    script.enqueue(&waits, |lane, head| lane.enqueue(head, Op::Copy(&[rect]))).unwrap_err();
    script.run(ONE, |_| {});
    script.finish();
    assert_eq!((script.lane.completed(), Arc::strong_count(&token), to), (Ok(3), 1, [2; 4]));
    assert!(script.failures().is_empty());
}
