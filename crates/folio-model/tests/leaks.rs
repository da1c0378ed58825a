//! ERR-02: a program of which a call of a backend fails leaves nothing on the host either: no
//! staging, no temporaries, no records; also if the runtime is dropped at once. Simulated devices
//! and CPUs keep their memory there, too.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio_model::faulty;
use folio_model::generate::Target;
use folio_model::run::PATIENCE;
use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::time::{Duration, Instant};

struct Counting;

/// Bytes in use now.
static IN_USE: AtomicIsize = AtomicIsize::new(0);

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size() as isize, Ordering::Relaxed);
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

fn in_use() -> isize {
    IN_USE.load(Ordering::Relaxed)
}

/// Whether more is in use after each of some runs. What is made once and kept, by threads or in
/// statics, comes in the first of them; threads that end are given some time.
fn leaks(patience: Duration, run: impl Fn()) -> bool {
    (0..6).all(|_| {
        let before = in_use();
        run();
        let until = Instant::now() + patience;
        while in_use() > before && Instant::now() < until {
            std::thread::yield_now();
        }
        in_use() > before
    })
}

#[test]
fn faults_leave_nothing_on_the_host() {
    let forget = || std::mem::forget(black_box(vec![0_u8; 100]));
    assert!(leaks(Duration::from_millis(5), forget));
    let programs = [Target::Sim, Target::Cpu].into_iter().flat_map(|target| {
        let all = (1..).map(move |seed| faulty::program(seed, &[target]));
        let dropped = all.clone().filter(|program| program.config.abrupt);
        all.take(12).chain(dropped.take(4))
    });
    for program in programs {
        for planned in faulty::plans(&program).unwrap().iter().step_by(17) {
            let run = || faulty::verdict(&program, planned, PATIENCE).unwrap();
            assert!(!leaks(Duration::from_secs(5), run), "{planned:?}\n{program:?}");
        }
    }
}
