//! What submitting costs, counted: heap allocations of the hot path, and memory in use after many
//! submissions. In a process of its own, which counts; the tests take turns.

use folio::cpu::CpuBackend;
use folio::{Buffer, Queue, Runtime};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static IN_USE: AtomicIsize = AtomicIsize::new(0);
static TRACE: AtomicBool = AtomicBool::new(false);

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        IN_USE.fetch_add(layout.size() as isize, Ordering::Relaxed);
        if TRACE.swap(false, Ordering::Relaxed) {
            eprintln!("{}", std::backtrace::Backtrace::force_capture());
            TRACE.store(true, Ordering::Relaxed);
        }
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// One test at a time: they count what the process does.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn runtime(domains: usize) -> Runtime {
    let backend = CpuBackend::builder().domains(domains).threads(2).build().unwrap();
    Runtime::builder().backend(backend).build().unwrap()
}

fn one(q: &Queue, x: &mut Buffer<u32>) {
    q.submit(|cg| {
        let x = cg.read_write(x);
        cg.host_kernel([1], x, |i, mut x| x[i] += 1);
        Ok(())
    })
    .unwrap();
}

fn four(q: &Queue, [a, b, c, d]: &mut [Buffer<u32>; 4]) {
    q.submit(|cg| {
        let args = (cg.read(&*a), cg.read(&*b), cg.read_write(c), cg.read_write(d));
        cg.host_kernel([1], args, |i, (a, b, mut c, mut d)| {
            c[i] += a[i] + 1;
            d[i] += b[i] + 1;
        });
        Ok(())
    })
    .unwrap();
}

/// How many of `rounds` submissions' worth of allocations there are after a warm-up.
fn allocations(rounds: usize, mut submit: impl FnMut()) -> usize {
    (0..2000).for_each(|_| submit());
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    TRACE.store(std::env::var_os("FOLIO_TRACE_ALLOCATIONS").is_some(), Ordering::Relaxed);
    (0..rounds).for_each(|_| submit());
    TRACE.store(false, Ordering::Relaxed);
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

/// DEP-02: a dependent chain over one buffer.
#[test]
fn submitting_over_one_buffer_allocates_nothing() {
    let _alone = alone();
    for domains in [1, 2] {
        let rt = runtime(domains);
        let q = rt.queue_on(&rt.devices()[domains - 1]).unwrap();
        let mut x = rt.buffer::<u32>(1).unwrap();
        let count = allocations(1000, || one(&q, &mut x));
        assert_eq!(x.to_vec().unwrap(), [3000]);
        assert_eq!(count, 0, "{domains} domains");
    }
}

/// DEP-02
#[test]
fn submitting_over_four_buffers_allocates_nothing() {
    let _alone = alone();
    for domains in [1, 2] {
        let rt = runtime(domains);
        let q = rt.queue_on(&rt.devices()[domains - 1]).unwrap();
        let mut all: [Buffer<u32>; 4] = std::array::from_fn(|_| rt.buffer(1).unwrap());
        let count = allocations(1000, || four(&q, &mut all));
        assert_eq!(all[3].to_vec().unwrap(), [3000]);
        assert_eq!(count, 0, "{domains} domains");
    }
}

/// Bytes in use after so many submissions in all.
fn in_use_after(counts: [usize; 2], mut submit: impl FnMut(usize), settle: impl Fn()) -> isize {
    let mut at = [0; 2];
    let mut done = 0;
    for (n, count) in counts.into_iter().enumerate() {
        while done < count {
            submit(done);
            done += 1;
        }
        settle();
        at[n] = IN_USE.load(Ordering::Relaxed);
    }
    at[1] - at[0]
}

/// What may differ: a few segments and vectors that have grown.
const SLACK: isize = 256 << 10;

/// DEP-02, DEP-03: memory does not grow with the number of submissions that have ended.
#[test]
fn a_million_submissions_keep_memory_flat() {
    let _alone = alone();
    for domains in [1, 2] {
        let rt = runtime(domains);
        let queues: Vec<Queue> = rt.devices().iter().map(|d| rt.queue_on(d).unwrap()).collect();
        let mut x = rt.buffer::<u32>(1).unwrap();
        let mut y = rt.buffer::<u32>(1).unwrap();
        let submit = |n: usize| {
            // Now and then on the other device, so that there are transfers.
            one(&queues[n % 1000 / 999 % domains], if n % 2 == 0 { &mut x } else { &mut y });
            // What is outstanding takes memory: no more than this is.
            if n % 1000 == 999 {
                rt.wait().unwrap();
            }
        };
        let grown = in_use_after([10_000, 1_000_000], submit, || rt.wait().unwrap());
        assert!(grown < SLACK, "{domains} domains: {grown} bytes more");
        assert_eq!((x.to_vec().unwrap(), y.to_vec().unwrap()), (vec![500_000], vec![500_000]));
    }
}

/// DEP-04: nor with events, host tasks, reads of the host and queues that come and go.
#[test]
fn everything_else_keeps_memory_flat_too() {
    let _alone = alone();
    let rt = runtime(2);
    let device = &rt.devices()[1];
    let mut x = rt.buffer::<u32>(1).unwrap();
    let submit = |n: usize| {
        let q = rt.queue_on(device).unwrap();
        one(&q, &mut x);
        let y = rt.buffer_from(&[n as u32]).unwrap();
        let event = q.submit(|cg| {
            let (x, y) = (cg.read(&x), cg.read(&y));
            cg.host_task((x, y), |(x, y)| assert!(x[0] > y[0]));
            Ok(())
        });
        q.barrier().unwrap().wait().unwrap();
        event.unwrap().wait().unwrap();
        assert_eq!(x.read().unwrap()[0], n as u32 + 1);
    };
    let grown = in_use_after([500, 20_000], submit, || rt.wait().unwrap());
    assert!(grown < SLACK, "{grown} bytes more");
}
