//! The steady state takes nothing from the heap. One test in a process of its own, which counts.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod common;

use common::*;
use folio_core::hal::{Args, CopyRect, FillRect, Op, Wait};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn round(a: &mut Script, b: &mut Script, memory: &mut [u64], hops: &Arc<AtomicUsize>) {
    let mem = host(memory);
    let params = [param(mem, [1, 1, 8]); 12];
    let args = Args::new(&params);
    let here = std::thread::current().id();
    for _ in 0..8 {
        let counted = Arc::clone(hops);
        let kernel = kernel(move |_, _| {
            let hop = usize::from(std::thread::current().id() != here);
            counted.fetch_add(hop, Ordering::Relaxed);
        });
        let lane = Arc::clone(&b.lane);
        let waits = [Wait { lane: &lane, tick: b.tick }; 3];
        a.launch(&waits, kernel, &geometry(ONE), &args).unwrap();
    }
    a.lane.drive();
    let dst_pitch = [32, 16];
    let extent = [1, 2, 8];
    let mut dst = mem;
    dst.offset = 8;
    let rect = CopyRect { src: mem, src_pitch: dst_pitch, dst, dst_pitch, extent };
    let fill = FillRect { dst, pitch: dst_pitch, extent };
    let lane = Arc::clone(&a.lane);
    let waits = [Wait { lane: &lane, tick: a.tick }];
    b.enqueue(&waits, |lane, head| lane.enqueue(head, Op::Copy(&[rect; 3]))).unwrap();
    b.enqueue(&[], |lane, head| lane.enqueue(head, Op::Fill(&[fill; 3], &[1, 2, 3, 4]))).unwrap();
    b.lane.drive();
    a.finish();
    b.finish();
}

#[test]
fn the_steady_state_allocates_nothing() {
    let backend = backend(2);
    let device = device(&backend, 0);
    let (mut a, mut b) = (Script::new(&device), Script::new(&device));
    let mut memory = vec![0u64; 16];
    let hops = Arc::new(AtomicUsize::new(0));
    // Threads take memory while they start: let both have worked.
    for _ in 0..10 {
        a.run([1, 1, 1000], |_| burn(Duration::from_micros(200)));
    }
    a.finish();
    for _ in 0..100 {
        round(&mut a, &mut b, &mut memory, &hops);
    }
    let mut quiet = 0;
    for _ in 0..2000 {
        let (before, hops_before) =
            (ALLOCATIONS.load(Ordering::Relaxed), hops.load(Ordering::Relaxed));
        round(&mut a, &mut b, &mut memory, &hops);
        // When the system interrupted a kernel that was being measured, a few runs go to the
        // pool, whose jobs are boxed.
        if hops.load(Ordering::Relaxed) == hops_before {
            quiet += 1;
            assert_eq!(ALLOCATIONS.load(Ordering::Relaxed), before);
        }
    }
    assert!(quiet > 1000, "{quiet}");

    // Behind a busy lane a chain costs one boxed job for all its operations together.
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for _ in 0..10 {
        a.run([1, 1, 65], |_| {});
        for _ in 0..100 {
            a.run(ONE, |_| {});
        }
        a.finish();
    }
    let boxed = ALLOCATIONS.load(Ordering::Relaxed) - before;
    assert!(boxed < 200, "{boxed}");
}
