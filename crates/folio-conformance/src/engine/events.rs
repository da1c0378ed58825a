//! Events: status, waiting, futures, timestamps.

use super::rig::*;
use super::tests;
use folio_core::canary::Canary;
use folio_core::{Event, Queue, Status};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

tests![
    events_tell_how_they_stand,
    waits_time_out,
    events_are_futures,
    futures_fail_with_their_command,
    reads_are_futures,
    timing_on_request,
    events_are_sticky,
    events_name_their_device,
];

fn after(q: &Queue, event: &Event) -> Result<Event, Stop> {
    let mut x = q.runtime().buffer::<i32, 1>(1)?;
    let call = adds(1, &mut x);
    Ok(q.submit(|cg| {
        cg.after(event).run(1, call);
        Ok(())
    })?)
}

/// DEP-04, ERR-02
fn events_tell_how_they_stand(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let gate = Gate::new();
    let first = gated(&q, &gate)?;
    let second = after(&q, &first)?;
    ensure!(is_pending(&first) && is_pending(&second), "done too early");
    ensure!(!first.is_done(), "done too early");
    gate.open();
    // Status alone must see the end of it.
    eventually("the second event is done", || second.is_done())?;
    ensure!(matches!(first.status(), Status::Done), "{:?}", first.status());
    ensure!(matches!(second.status(), Status::Done), "{:?}", second.status());
    let failed = q.submit(|cg| {
        cg.host_task((), |()| Err("broken"));
        Ok(())
    })?;
    eventually("the failed event is done", || failed.is_done())?;
    let Status::Failed(error) = failed.status() else {
        return Err(Stop::Failed(format!("{:?}", failed.status())));
    };
    ensure!(error.to_string().contains("broken"), "{error}");
    Ok(())
}

/// DEP-04
fn waits_time_out(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let gate = Gate::new();
    let first = gated(&q, &gate)?;
    let second = after(&q, &first)?;
    let short = Duration::from_millis(2);
    ensure!(!first.wait_timeout(short)? && !second.wait_timeout(short)?, "did not time out");
    ensure!(!second.wait_timeout(Duration::ZERO)? && !q.wait_timeout(short)?, "did not time out");
    gate.open();
    ensure!(second.wait_timeout(PATIENCE)? && first.wait_timeout(Duration::MAX)?, "timed out");
    ensure!(q.wait_timeout(PATIENCE)?, "timed out");
    Ok(())
}

struct Unpark(Thread, Canary);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.1.runs();
        self.0.unpark();
    }
}

/// Runs a future to its end. Only its waker makes it look again.
pub(super) fn block_on<F: Future>(future: F) -> Result<F::Output, Stop> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current(), Canary::new("a waker"))));
    let mut future = pin!(future);
    let start = std::time::Instant::now();
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Ok(value);
        }
        ensure!(start.elapsed() < PATIENCE / 2, "the waker was not called");
        std::thread::park_timeout(PATIENCE / 2);
    }
}

/// DEP-04
fn events_are_futures(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let mut x = rig.rt.buffer_from(&[0; 100])?;
        for _ in 0..20 {
            block_on(add(&q, &mut x, 1)?)??;
        }
        let gate = Gate::new();
        let first = gated(&q, &gate)?;
        let second = after(&q, &first)?;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(2));
                gate.open();
            });
            block_on(async {
                second.await?;
                first.await
            })
        })??;
        ensure_eq!(x.to_vec()?, [20; 100]);
    }
    Ok(())
}

/// ERR-02, ERR-03
fn futures_fail_with_their_command(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let failed = q.run(1, fails(0, &mut rig.rt.buffer(1)?))?;
    let dependent = after(&q, &failed)?;
    let root = failure(block_on(dependent)?)?;
    ensure_eq!(panic_message(&root).as_deref(), Some("on purpose"));
    ensure_eq!(failure(block_on(failed)?)?.id(), root.id());
    Ok(())
}

/// DEP-04
fn reads_are_futures(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let mut x = rig.rt.buffer_from(&[1; 10])?;
    add(&q, &mut x, 1)?;
    ensure_eq!(block_on(x.read_async()?)??.to_vec(), [2; 10]);
    add(&q, &mut x, 1)?;
    ensure_eq!(x.read_async()?.wait()?.to_vec(), [3; 10]);
    let pending = x.read_async()?;
    drop(pending);
    add(&q, &mut x, 1)?;
    ensure_eq!(x.to_vec()?, [4; 10]);
    Ok(())
}

/// OBS-01
fn timing_on_request(rig: &Rig) -> Outcome {
    for (at, device) in rig.rt.devices().iter().enumerate() {
        let q = rig.on(at)?;
        let gate = Gate::new();
        let first = gated(&q, &gate)?;
        // A command that goes straight to its lane, and a deferred one.
        let timed = |after: Option<&Event>| {
            let mut x = rig.rt.buffer::<i32, 1>(1)?;
            let call = adds(1, &mut x);
            q.submit(|cg| {
                if let Some(event) = after {
                    cg.after(event);
                }
                cg.timed().run(1, call);
                Ok(())
            })
        };
        let events = [timed(None)?, timed(Some(&first))?];
        ensure!(events[1].timing().is_none(), "timing before the end");
        gate.open();
        for (n, event) in events.iter().enumerate() {
            event.wait()?;
            let timing = event.timing();
            ensure_eq!(timing.is_some(), device.info().caps.timing, "{} {n}", device.name());
            ensure!(
                timing.is_none_or(|t| t.queued <= t.started && t.started <= t.ended),
                "{timing:?}"
            );
        }
    }
    Ok(())
}

/// ERR-03
fn events_are_sticky(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let failed = q.submit(|cg| {
        cg.host_task((), |()| Err("for good"));
        Ok(())
    })?;
    let fine = q.submit(|_| Ok(()))?;
    let root = failure(failed.wait())?;
    let mut x = rig.rt.buffer_from(&[0; 4])?;
    for _ in 0..500 {
        add(&q, &mut x, 1)?;
        q.submit(|cg| {
            cg.host_task((), |()| {});
            Ok(())
        })?;
    }
    x.to_vec()?;
    ensure_eq!(failure(failed.wait())?.id(), root.id());
    ensure_eq!(failure(failed.clone().wait())?.id(), root.id());
    fine.wait()?;
    Ok(())
}

/// DEP-04, ERR-02
fn events_name_their_device(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let kernel = add(&q, &mut rig.rt.buffer(1)?, 1)?;
        ensure_eq!(
            kernel.device().map(|d| d.name().to_owned()),
            Some(q.device().name().to_owned())
        );
        // A task that never returns is a task, too.
        let task = q.submit(|cg| {
            cg.host_task((), |()| panic!("no"));
            Ok(())
        })?;
        ensure!(task.device().is_none(), "a host task has a device");
        ensure!(task.wait().is_err(), "the panic is lost");
        ensure!(q.barrier()?.device().is_none(), "a barrier has a device");
    }
    Ok(())
}
