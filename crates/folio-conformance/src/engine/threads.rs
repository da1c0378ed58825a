//! Many threads on one runtime.

use super::rig::*;
use super::tests;
use folio_core::{Error, Queue, Shared};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

tests![opposite_groups_have_one_order, many_threads_on_one_buffer, threads_open_devices_together];

/// How often; a soak says more. Where devices cannot wait for each other the engine defers, which
/// is what the test is about.
fn rounds(a: &Queue, b: &Queue) -> i64 {
    let soak = std::env::var("FOLIO_SOAK_CASES").ok().and_then(|n| n.parse().ok());
    let [a, b] = [a, b].map(|q| q.device().info().caps.wait_group);
    soak.unwrap_or(if a.is_none() || a != b { 100_000 } else { 10_000 })
}

/// Numbers the groups in the order in which they ran, for both buffers.
fn both(q: &Queue, x: &Shared<i64>, y: &Shared<i64>, factor: i64) -> Result<(), Error> {
    q.run(1, turns_both(factor, 1, x, y))?;
    Ok(())
}

/// DEP-01, DEP-02, DEP-03: groups {x, y} and {y, x} from two threads. Where one order does not
/// hold for both buffers, they end with different values.
fn opposite_groups_have_one_order(rig: &Rig) -> Outcome {
    let last = rig.rt.devices().len() - 1;
    let (a, b) = (rig.on(0)?, rig.on(last)?);
    let x = rig.rt.buffer_from(&[1i64])?.into_shared();
    let y = rig.rt.buffer_from(&[1i64])?.into_shared();
    let run = |q: &Queue, x: &Shared<i64>, y: &Shared<i64>, factor: i64| -> Outcome {
        for n in 0..rounds(&a, &b) {
            both(q, x, y, factor)?;
            // Memory stays small by this wait; the other thread goes on.
            if n % 512 == 511 {
                q.wait()?;
            }
        }
        Ok(())
    };
    let (first, second) = std::thread::scope(|scope| {
        let other = scope.spawn(|| run(&b, &y, &x, 3));
        let first = run(&a, &x, &y, 7);
        (first, other.join())
    });
    first?;
    second.unwrap_or_else(|_| Err(Stop::Failed("the other thread panicked".into())))?;
    ensure_eq!(x.to_vec()?, y.to_vec()?);
    Ok(())
}

/// DEP-02
fn many_threads_on_one_buffer(rig: &Rig) -> Outcome {
    const THREADS: usize = 64;
    const ROUNDS: usize = 40;
    let count = rig.rt.devices().len();
    let x = paged(&rig.rt, &[0i32; THREADS])?.into_shared();
    let sum = rig.rt.buffer_from(&[0i32])?.into_shared();
    let failed = AtomicUsize::new(0);
    let one = |thread: usize| -> Result<(), Stop> {
        let q = rig.on(thread % count)?;
        for n in 0..ROUNDS {
            q.run(1, counts_both(x.slice_mut([thread], [1])?, &sum))?;
            if n % 8 == thread % 8 {
                let own = x.slice([thread], [1])?.to_vec();
                match own {
                    Ok(own) => ensure_eq!(own, [n as i32 + 1]),
                    // Another thread may hold nothing of ours: pages are one element.
                    Err(error) => return Err(error.into()),
                }
            }
        }
        q.wait()?;
        Ok(())
    };
    let why = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (one, why, failed) = (&one, &why, &failed);
            scope.spawn(move || {
                if let Err(Stop::Failed(text) | Stop::Unsupported(text)) = one(thread) {
                    failed.fetch_add(1, Ordering::Relaxed);
                    why.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(text);
                }
            });
        }
    });
    let why = why.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    ensure_eq!(failed.load(Ordering::Relaxed), 0, "{why:?}");
    ensure_eq!(sum.to_vec()?, [(THREADS * ROUNDS) as i32]);
    ensure_eq!(x.to_vec()?, [ROUNDS as i32; THREADS]);
    Ok(())
}

/// BACK-01, BUF-05: the first uses of devices and allocations, all at once.
fn threads_open_devices_together(rig: &Rig) -> Outcome {
    for _ in 0..20 {
        let rt = rig.builder().build()?;
        let x = rt.buffer_from(&[1; 100])?.into_shared();
        let results = Arc::new(AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (rt, x, results) = (rt.clone(), x.clone(), results.clone());
                scope.spawn(move || {
                    let devices = rt.devices();
                    let device = &devices[thread % devices.len()];
                    let run = || -> Result<(), Error> {
                        let q = rt.queue_on(device)?;
                        let mut y = rt.buffer::<i32, 1>(100)?;
                        q.run(100, copies(&x, &mut y))?;
                        let good = y.to_vec()? == [1; 100];
                        results.fetch_add(usize::from(good), Ordering::Relaxed);
                        Ok(())
                    };
                    drop(run());
                });
            }
        });
        ensure_eq!(results.load(Ordering::Relaxed), 8);
        // A single allocation for each memory, however many asked for it at once.
        let homes: std::collections::HashSet<_> = rt
            .devices()
            .iter()
            .take(8)
            .map(|d| d.info().home)
            .filter(|h| *h != folio_core::hal::MemoryHome::Host)
            .collect();
        ensure_eq!(x.counters().allocations as usize, 1 + homes.len());
    }
    Ok(())
}
