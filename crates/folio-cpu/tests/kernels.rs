//! Kernels: every item once, panics and drops contained, who runs what.

#![allow(clippy::panic, clippy::unwrap_used, reason = "what is tested is panics, also in helpers")]

mod common;

use common::*;
use folio_core::geom::linear;
use folio_core::hal::{
    Args, Block, BlockKernel, Geometry, HalErrorKind, Head, KernelHandle, KernelRef, Lane,
    NativeKernel, Op, ParamPtr, Verdict,
};
use folio_core::{Violation, ViolationKind, error::Site};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

#[test]
fn every_item_runs_exactly_once() {
    for threads in [1, 2, 5] {
        let backend = backend(threads);
        let mut script = Script::new(&device(&backend, 0));
        let shapes = [
            [1, 1, 1],
            [1, 1, 63],
            [1, 1, 64],
            [1, 1, 65],
            [1, 1, 100_003],
            [1, 100_003, 1],
            [100_003, 1, 1],
            [1, 317, 331],
            [2, 50_001, 1],
            [3, 5, 7],
            [41, 43, 47],
            [3, 1, 40_000],
        ];
        for range in shapes {
            let volume = range[0] * range[1] * range[2];
            let hits: Arc<Vec<AtomicU32>> = Arc::new((0..volume).map(|_| 0.into()).collect());
            // Once unknown or wide, then as measured.
            for _ in 0..3 {
                let hits = Arc::clone(&hits);
                script.run(range, move |block| {
                    for item in block.cells() {
                        hits[linear(range, item)].fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            script.finish();
            assert!(hits.iter().all(|n| n.load(Ordering::Relaxed) == 3), "{range:?}");
        }
        assert!(script.failures().is_empty());
    }
}

#[test]
fn a_huge_thin_launch_is_a_few_blocks() {
    let backend = backend(3);
    let mut script = Script::new(&device(&backend, 0));
    for range in [[1, 1, 1 << 45], [1, 1 << 45, 1], [1 << 45, 1, 1]] {
        let (items, blocks) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (i, b) = (items.clone(), blocks.clone());
        script.run(range, move |block| {
            i.fetch_add(block.volume(), Ordering::Relaxed);
            b.fetch_add(1, Ordering::Relaxed);
        });
        script.finish();
        assert_eq!(items.load(Ordering::Relaxed), 1 << 45);
        // 64 for each thread, and fewer than twice as many, once it is known how long one takes.
        assert!((2..384).contains(&blocks.load(Ordering::Relaxed)), "{blocks:?}");
    }
}

#[test]
fn groups_are_never_cut() {
    let backend = backend(4);
    let mut script = Script::new(&device(&backend, 0));
    let geometry = Geometry { group: Some([1, 5, 16]), ..Geometry::new(2, [1, 30, 64]) };
    let items = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&items);
    let kernel = kernel(move |_, block| {
        counted.fetch_add(block.volume(), Ordering::Relaxed);
        assert_eq!((block.min[1] % 5, block.max[1] % 5), (0, 0));
        assert_eq!((block.min[2] % 16, block.max[2] % 16), (0, 0));
    });
    let args = Args::new(&[]);
    script.launch(&[], kernel, &geometry, &args).unwrap();
    script.lane.drive();
    script.finish();
    assert_eq!(items.load(Ordering::Relaxed), 30 * 64);
    assert!(script.failures().is_empty());
}

#[test]
fn parameters_arrive_with_their_shapes_and_offsets() {
    let backend = backend(2);
    let mut script = Script::new(&device(&backend, 0));
    let mut memory = vec![0u32; 40];
    let mut mem = host(&mut memory);
    mem.offset = 8;
    let params: Vec<_> = (1..=12).map(|i| param(mem, [1, 1, i])).collect();
    let kernel = kernel(|params, _| {
        for (i, param) in params.iter().enumerate() {
            assert_eq!(param.dims, [1, 1, i + 1]);
            // SAFETY: 12 words from word 2 on lie in the vector; one item, one block.
            unsafe { *param.base.cast::<u32>().add(i) += 1 };
        }
    });
    let args = Args { blob: &[1, 2, 3], ..Args::new(&params) };
    script.launch(&[], kernel, &geometry(ONE), &args).unwrap();
    script.lane.drive();
    script.finish();
    assert!(script.failures().is_empty());
    let expect: Vec<u32> = (0..40).map(|i| u32::from((2..14).contains(&i))).collect();
    assert_eq!(memory, expect);
}

#[test]
fn the_first_panic_is_told_once_and_stops_the_rest() {
    let backend = backend(2);
    let mut script = Script::new(&device(&backend, 0));
    let runs = Arc::new(AtomicUsize::new(0));
    for range in [ONE, [1, 1, 100_000]] {
        let counted = Arc::clone(&runs);
        let bad = script.run(range, move |block| {
            counted.fetch_add(1, Ordering::Relaxed);
            std::panic::panic_any(format!("bad {}", block.volume()));
        });
        let seen = Arc::clone(&runs);
        script.run(ONE, move |_| assert!(seen.load(Ordering::Relaxed) > 0));
        script.finish();
        let failures = script.failures();
        assert_eq!(failures.len(), 1, "{failures:?}");
        assert_eq!(failures[0].0, bad);
        let HalErrorKind::Panic(payload) = &failures[0].1.kind else { panic!("{failures:?}") };
        assert!(payload.message().starts_with("bad "), "{payload:?}");
        assert!(payload.take().unwrap().is::<String>());
        assert!(script.failures().is_empty());
    }
    // Eight blocks on two threads: each thread at most one that panics.
    assert!(runs.load(Ordering::Relaxed) <= 3);
}

/// Fails in the blocks that `fails` picks, and counts how many ran.
struct Outside<F>(Arc<AtomicUsize>, F);

impl<F: Fn(&Block) -> bool + Send + Sync + 'static> BlockKernel for Outside<F> {
    unsafe fn run(&self, _: &[ParamPtr], block: &Block) -> Verdict {
        self.0.fetch_add(1, Ordering::Relaxed);
        match (self.1)(block) {
            false => Ok(()),
            true => Err(Box::new(Violation {
                kernel: "outside".to_owned(),
                site: Site { file: String::new(), line: 1, column: 1, message: None },
                kind: ViolationKind::DivisionByZero,
            })),
        }
    }
}

/// KRN-03: what has not begun when a block violates something does not begin.
#[test]
fn a_violation_stops_the_other_blocks() {
    let blocks = |threads: usize, fails: fn(&Block) -> bool| {
        let backend = backend(threads);
        let mut script = Script::new(&device(&backend, 0));
        let ran = Arc::new(AtomicUsize::new(0));
        let kernel = NativeKernel::new(Outside(Arc::clone(&ran), fails));
        script.launch_only([1, 1, 100_000], &[], kernel).unwrap();
        script.lane.drive();
        script.finish();
        (ran.load(Ordering::Relaxed), script.failures().len())
    };
    let (all, failures) = blocks(1, |_| false);
    assert!(all >= 4 && failures == 0, "{all} blocks");
    assert_eq!(blocks(1, |_| true), (1, 1));
    // The first one in the upper half.
    assert_eq!(blocks(1, |block| block.min[2] >= 50_000), (all / 2 + 1, 1));
    for threads in [2, 4] {
        let (ran, failures) = blocks(threads, |_| true);
        assert!((1..=threads).contains(&ran), "{ran} blocks on {threads} threads");
        assert_eq!(failures, 1);
    }
}

struct Bomb(Arc<AtomicUsize>);

impl Drop for Bomb {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        std::panic::panic_any(Nested(true));
    }
}

/// A payload whose own drop panics.
struct Nested(bool);

impl Drop for Nested {
    fn drop(&mut self) {
        if self.0 {
            std::panic::panic_any(Nested(false));
        }
    }
}

#[test]
fn panics_in_drops_are_contained() {
    let backend = backend(2);
    let dropped = Arc::new(AtomicUsize::new(0));
    let mut script = Script::new(&device(&backend, 0));
    for (i, range) in [ONE, [1, 1, 1000], ONE, [1, 1, 1000]].into_iter().enumerate() {
        let bomb = Bomb(Arc::clone(&dropped));
        script.run(range, move |_| {
            let _keep = &bomb;
            if i >= 2 {
                std::panic::panic_any("the run");
            }
        });
    }
    script.finish();
    assert_eq!(dropped.load(Ordering::Relaxed), 4);
    let failures = script.failures();
    let ticks: Vec<_> = failures.iter().map(|(tick, _)| *tick).collect();
    assert_eq!(ticks, [1, 2, 3, 4]);
    assert_eq!(&*failures[3].1.message, "the run");
    for (_, error) in failures {
        let HalErrorKind::Panic(payload) = &error.kind else { panic!("{error}") };
        std::mem::forget(payload.take());
    }
    // Failures that nobody asks for are dropped with the lane.
    let bomb = Bomb(Arc::clone(&dropped));
    script.run(ONE, move |_| {
        let _keep = &bomb;
    });
    script.finish();
}

#[test]
fn closures_are_dropped_before_their_tick_is_reached() {
    let backend = backend(2);
    let mut script = Script::new(&device(&backend, 0));
    for i in 0..2000 {
        let token = Arc::new(());
        let held = Arc::clone(&token);
        script.run([1, 1, 1 + i % 3 * 500], move |_| {
            let _keep = &held;
        });
        script.finish();
        assert_eq!(Arc::strong_count(&token), 1);
    }
}

/// Open, or closed; who waits gives up after some time.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, std::sync::Condvar)>);

impl Gate {
    fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    /// Whether it was opened.
    fn pass(&self) -> bool {
        let closed = self.0.0.lock().unwrap();
        *self.0.1.wait_timeout_while(closed, HUNG, |open| !*open).unwrap().0
    }
}

/// DEP-03: how long the first launch of a kernel takes is not known, and its items may wait for
/// what the submitter does next.
#[test]
fn unknown_kernels_never_block_the_submitter() {
    for items in [1, 16, 64, 1000] {
        let backend = backend(2);
        let mut script = Script::new(&device(&backend, 0));
        let (gate, passed) = (Gate::default(), Arc::new(AtomicUsize::new(0)));
        let (door, count) = (gate.clone(), passed.clone());
        script.run([1, 1, items], move |block| {
            if door.pass() {
                count.fetch_add(block.volume(), Ordering::Relaxed);
            }
        });
        assert_eq!(script.lane.completed(), Ok(0));
        gate.open();
        script.finish();
        assert_eq!(passed.load(Ordering::Relaxed), items);
    }
}

/// DEP-03: the same, through a runtime.
#[test]
fn submit_returns_before_a_first_launch_has_ended() {
    let rt = folio_core::Runtime::builder().backend(backend(2)).build().unwrap();
    let q = rt.queue_on("cpu:0").unwrap();
    let mut x = rt.buffer::<u32, 1>(8).unwrap();
    let gate = Gate::default();
    let door = gate.clone();
    let event = q
        .submit(|cg| {
            let x = cg.discard(&mut x);
            cg.host_kernel([8], x, move |i, mut x| x.put(i, u32::from(door.pass())));
            Ok(())
        })
        .unwrap();
    assert!(!event.is_done());
    gate.open();
    assert_eq!(x.to_vec().unwrap(), [1; 8]);
}

/// KRN-01: loops over neighbouring items stay vectors where a launch of unknown cost is cut.
#[test]
fn first_launches_are_cut_between_vectors() {
    for (range, count) in [([1, 1, 8], 1), ([1, 1, 16], 1), ([1, 1, 100], 7), ([1, 3, 100], 21)] {
        let backend = backend(8);
        let mut script = Script::new(&device(&backend, 0));
        let blocks = Arc::new(Mutex::new(Vec::new()));
        let seen = blocks.clone();
        script.run(range, move |block| seen.lock().unwrap().push(*block));
        script.finish();
        let blocks = blocks.lock().unwrap();
        assert_eq!(blocks.len(), count, "{range:?}");
        let whole = |block: &Block| {
            block.min[2].is_multiple_of(16)
                && (block.max[2] == range[2] || block.max[2].is_multiple_of(16))
        };
        assert!(blocks.iter().all(whole), "{blocks:?}");
    }
}

#[test]
fn known_tiny_kernels_stay_on_the_submitting_thread() {
    let backend = backend(2);
    let mut script = Script::new(&device(&backend, 0));
    let here = thread::current().id();
    let count = Arc::new(AtomicUsize::new(0));
    for _ in 0..5000 {
        let count = Arc::clone(&count);
        script.run(ONE, move |_| {
            count.fetch_add(usize::from(thread::current().id() == here), Ordering::Relaxed);
        });
        script.finish();
    }
    // An interrupted run may send a few to the pool.
    assert!(count.load(Ordering::Relaxed) > 2500, "{count:?}");
}

#[test]
fn heavy_kernels_never_run_on_the_submitting_thread() {
    let backend = backend(2);
    let device = device(&backend, 0);
    let here = thread::current().id();
    let inline = Arc::new(AtomicUsize::new(0));
    // The cost is known to all lanes of a backend.
    for _ in 0..4 {
        let mut script = Script::new(&device);
        for _ in 0..5 {
            let inline = Arc::clone(&inline);
            script.run(ONE, move |_| {
                inline.fetch_add(usize::from(thread::current().id() == here), Ordering::Relaxed);
                burn(Duration::from_micros(50));
            });
            // Waiting with a deadline does not run it here either.
            script.finish();
        }
    }
    assert_eq!(inline.load(Ordering::Relaxed), 0);
}

#[test]
fn wide_kernels_use_several_threads() {
    let backend = backend(2);
    let mut script = Script::new(&device(&backend, 0));
    let threads = Arc::new((Mutex::new(HashSet::new()), std::sync::Condvar::new()));
    let seen = Arc::clone(&threads);
    script.run([1, 1, 1000], move |_| {
        let (set, both) = &*seen;
        let mut set = set.lock().unwrap();
        set.insert(thread::current().id());
        both.notify_all();
        // Until the other thread has come too.
        drop(both.wait_timeout_while(set, HUNG, |set| set.len() < 2).unwrap());
    });
    script.finish();
    let set = threads.0.lock().unwrap();
    assert_eq!(set.len(), 2);
    assert!(!set.contains(&thread::current().id()));
}

#[test]
fn a_waiter_without_deadline_runs_what_nobody_runs() {
    within_time(|| {
        let backend = backend(1);
        let mut script = Script::new(&device(&backend, 0));
        let ran_on = Arc::new(Mutex::new(None));
        let tell = Arc::clone(&ran_on);
        let heavy = kernel(move |_, _| *tell.lock().unwrap() = Some(thread::current().id()));
        script.launch_only(ONE, &[], heavy).unwrap();
        assert_eq!(script.lane.completed(), Ok(0));
        assert_eq!(script.lane.wait(1, None), Ok(true));
        assert_eq!(*ran_on.lock().unwrap(), Some(thread::current().id()));
    });
}

#[test]
fn times_are_told_when_asked_for() {
    let backend = backend(2);
    let mut script = Script::new(&device(&backend, 0));
    script.run(ONE, |_| {});
    script.timed = true;
    let (a, b) = (script.run(ONE, |_| {}), script.run([1, 1, 5000], |_| {}));
    script.finish();
    assert_eq!(script.lane.timing(1), None);
    let (a, b) = (script.lane.timing(a).unwrap(), script.lane.timing(b).unwrap());
    assert!(a.queued <= a.started && a.started <= a.ended && a.ended <= b.started);
    assert!(b.queued <= b.started && b.started <= b.ended);
    assert_eq!(script.lane.timing(99), None);
}

#[test]
fn what_cannot_be_is_refused_but_reaches_its_tick() {
    let backend = backend(2);
    let mut script = Script::new(&device(&backend, 0));
    let loaded = KernelRef::Loaded(KernelHandle(1));
    let args = Args::new(&[]);
    let launch = |lane: &dyn Lane, head: &Head<'_>| {
        lane.enqueue(head, Op::Launch(loaded, &geometry(ONE), args))
    };
    let error = script.enqueue(&[], launch).unwrap_err();
    assert!(matches!(error.kind, HalErrorKind::Unsupported));
    script.enqueue(&[], |lane, head| lane.enqueue(head, Op::Fill(&[], &[]))).unwrap_err();
    script.lane.drive();
    script.finish();
    assert_eq!(script.lane.completed(), Ok(2));
    assert!(script.failures().is_empty());
}
