//! Memory in use does not grow with the number of submissions that have ended, nor does their cost.
//! In a process of its own, because the bytes of all threads are counted.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

mod counting;

use counting::{IN_USE, one, runtime};
use folio::hal::LaneKind;
use folio::{Buffer, Cause, Error, Queue, Runtime};
use folio_sim::{DeviceSpec, SimBackend};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

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

/// The allowed difference: a few segments and vectors that have grown.
const SLACK: isize = 256 << 10;

/// How long steps of 10,000 submissions take. The median of many says little of a busy machine, and
/// a cost that grows with the number of submissions would make it grow a hundredfold.
struct Pace(Vec<Duration>, Instant);

impl Pace {
    const STEP: usize = 10_000;
    const FEW: usize = 15;

    fn new() -> Pace {
        Pace(Vec::new(), Instant::now())
    }

    fn step(&mut self, n: usize) {
        if n.is_multiple_of(Pace::STEP) {
            self.0.push(self.1.elapsed());
            self.1 = Instant::now();
        }
    }

    /// The medians of the first and of the last steps.
    fn ends(&self) -> (Duration, Duration) {
        let median = |steps: &[Duration]| {
            let mut steps = steps.to_vec();
            steps.sort_unstable();
            steps[steps.len() / 2]
        };
        // The first one is the warm-up.
        let steps = &self.0[1..];
        (median(&steps[..Pace::FEW]), median(&steps[steps.len() - Pace::FEW..]))
    }
}

/// Memory does not grow with the number of submissions that have ended.
fn a_million_kernels() {
    for domains in [1, 2] {
        let rt = runtime(domains);
        let queues: Vec<Queue> = rt.devices().iter().map(|d| rt.queue_on(d).unwrap()).collect();
        let mut x = rt.buffer::<u32, 1>(1).unwrap();
        let mut y = rt.buffer::<u32, 1>(1).unwrap();
        let mut pace = Pace::new();
        let submit = |n: usize| {
            pace.step(n);
            // Now and then on the other device, so that there are transfers.
            one(
                &queues[n % 1000 / 999 % domains],
                if n.is_multiple_of(2) { &mut x } else { &mut y },
            );
            // Outstanding commands take memory, which lanes keep: no more than this are.
            if n % 100 == 99 {
                rt.wait().unwrap();
            }
        };
        let grown = in_use_after([10_000, 1_000_000], submit, || rt.wait().unwrap());
        assert!(grown < SLACK, "{domains} domains: {grown} bytes more");
        let (first, last) = pace.ends();
        assert!(last < first * 3, "{domains} domains: {first:?} at first, {last:?} at last");
        assert_eq!((x.to_vec().unwrap(), y.to_vec().unwrap()), (vec![500_000], vec![500_000]));
    }
}

/// Nor with events, host tasks, reads of the host and queues that come and go.
fn everything_else() {
    let rt = runtime(2);
    let device = &rt.devices()[1];
    let mut x = rt.buffer::<u32, 1>(1).unwrap();
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

/// Nor with the number of commands that have failed, by themselves or because of others. Events and
/// data of old failures have failed still, also when nothing else is known of them.
fn a_million_failures() {
    const EACH: usize = 10;
    std::panic::set_hook(Box::new(|_| {}));
    let rt = runtime(1);
    let q = rt.queue().unwrap();
    let mut x = rt.buffer::<u32, 1>(1).unwrap();
    let mut poisoned = rt.buffer::<u32, 1>(1).unwrap();
    let fail = |x: &mut Buffer<u32>, n: usize| {
        q.submit(|cg| {
            let x = if n.is_multiple_of(EACH) { cg.discard(&mut *x) } else { cg.write(&mut *x) };
            cg.label(format!("command {n}"));
            cg.host_kernel([1], x, |_, _| panic!("on purpose"));
            Ok(())
        })
        .unwrap()
    };
    drop(fail(&mut poisoned, 0));
    let mut events = Vec::new();
    let submit = |n: usize| {
        let event = fail(&mut x, n);
        if n.is_multiple_of(1000) && (n <= 5000 || n == 999_000) {
            events.push((event, n));
        }
        if n % EACH == EACH - 1 {
            while q.wait().is_err() {}
        }
    };
    let grown = in_use_after([100_000, 1_000_000], submit, || rt.wait().unwrap());
    assert!(grown < SLACK, "{grown} bytes more");
    let is_forgotten = |error: Error| match error {
        Error::Failed(failure) => matches!(failure.cause(), Cause::Forgotten),
        _ => false,
    };
    for (event, n) in events {
        let error = event.wait().unwrap_err();
        let text = error.to_string();
        let is_old = n <= 5000;
        assert_eq!(text.contains(&format!("`command {n}`")), !is_old, "{text}");
        assert_eq!(is_forgotten(error), is_old, "{text}");
    }
    assert!(is_forgotten(poisoned.to_vec().unwrap_err()));
    let _ = std::panic::take_hook();
}

/// A large backlog takes memory while it is there, and none afterwards.
fn a_backlog() {
    let spec = DeviceSpec::new().max_in_flight(16);
    let backend = SimBackend::builder().device(spec).build();
    let sim = backend.handle();
    let rt = Runtime::builder().backend(backend).build().unwrap();
    let q = rt.queue().unwrap();
    let mut x = rt.buffer::<u32, 1>(1).unwrap();
    let settle = || rt.wait().unwrap();
    one(&q, &mut x);
    settle();
    let before = IN_USE.load(Ordering::Relaxed);
    sim.hold(0, LaneKind::Compute);
    (0..20_000).for_each(|_| one(&q, &mut x));
    let backlog = IN_USE.load(Ordering::Relaxed) - before;
    sim.release(0, LaneKind::Compute);
    settle();
    let left = IN_USE.load(Ordering::Relaxed) - before;
    assert!(backlog > 8 * SLACK && left < 2 * SLACK, "{backlog} bytes, {left} left");
}

/// DEP-02, DEP-03, DEP-04
#[test]
fn a_million_submissions_keep_memory_flat() {
    a_million_kernels();
    everything_else();
    a_backlog();
    a_million_failures();
}
