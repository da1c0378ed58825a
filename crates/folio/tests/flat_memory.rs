//! Memory in use does not grow with the number of submissions that have ended. In a process of its
//! own, because the bytes of all threads are counted.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

mod counting;

use counting::{IN_USE, one, runtime};
use folio::hal::LaneKind;
use folio::{Queue, Runtime};
use folio_sim::{DeviceSpec, SimBackend};
use std::sync::atomic::Ordering;

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

/// Memory does not grow with the number of submissions that have ended.
fn a_million_kernels() {
    for domains in [1, 2] {
        let rt = runtime(domains);
        let queues: Vec<Queue> = rt.devices().iter().map(|d| rt.queue_on(d).unwrap()).collect();
        let mut x = rt.buffer::<u32>(1).unwrap();
        let mut y = rt.buffer::<u32>(1).unwrap();
        let submit = |n: usize| {
            // Now and then on the other device, so that there are transfers.
            one(
                &queues[n % 1000 / 999 % domains],
                if n.is_multiple_of(2) { &mut x } else { &mut y },
            );
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

/// Nor with events, host tasks, reads of the host and queues that come and go.
fn everything_else() {
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

/// A large backlog takes memory while it is there, and none afterwards.
fn a_backlog() {
    let spec = DeviceSpec::new().max_in_flight(16);
    let backend = SimBackend::builder().device(spec).build();
    let sim = backend.handle();
    let rt = Runtime::builder().backend(backend).build().unwrap();
    let q = rt.queue().unwrap();
    let mut x = rt.buffer::<u32>(1).unwrap();
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
}
