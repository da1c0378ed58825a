//! Failures that nothing asks for, and work that is left at the end, are told on standard error.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use crate::scene::{lines, play};
use folio::prelude::*;
use folio::{Error, Event, buffer::ViewPolicy};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

/// Long enough for anything.
const PATIENCE: Duration = Duration::from_secs(100);

/// Plays `scene` in a process of its own, as the test `name` of this file; the lines of Folio's on
/// its standard error.
fn said(name: &str, quiet: bool, scene: impl FnOnce()) -> Vec<String> {
    let quiet = ("FOLIO_QUIET", quiet.then_some("1"));
    let output = play(&format!("untold::{name}"), &[quiet], scene);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    lines(&output)
}

fn builder() -> folio::RuntimeBuilder {
    Runtime::builder().backend(folio::cpu::CpuBackend::builder().domains(1).build().unwrap())
}

fn fail(q: &Queue, label: &str) -> Event {
    let label = label.to_owned();
    q.submit(|cg| {
        cg.label(label).host_task((), |()| Err("no space\nleft"));
        Ok(())
    })
    .unwrap()
}

/// Until it has ended, without asking how.
fn end(event: &Event) {
    while !event.is_done() {
        std::thread::yield_now();
    }
}

/// The error of a task; says when nothing holds it any more.
#[derive(Debug)]
struct Last(#[expect(dead_code, reason = "its drop is what counts")] Sender<()>);

impl fmt::Display for Last {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too late")
    }
}

impl std::error::Error for Last {}

/// Submits a task that fails when it is allowed to; what it says when it is forgotten.
fn fails_later(q: &Queue) -> (Sender<()>, Receiver<()>) {
    let (open, gate) = mpsc::channel::<()>();
    let (tell, told) = mpsc::channel();
    q.submit(|cg| {
        cg.label("late").host_task((), move |()| {
            let _ = gate.recv_timeout(PATIENCE);
            Err::<(), _>(Last(tell))
        });
        Ok(())
    })
    .unwrap();
    (open, told)
}

/// ERR-01, ERR-03: a failure that no call has returned is written once, on one line, also where
/// several commands failed by it and where a poll has found that they have ended.
#[test]
fn an_untold_failure_is_one_line() {
    let lines = said("an_untold_failure_is_one_line", false, || {
        let rt = builder().build().unwrap();
        let q = rt.queue().unwrap();
        let root = fail(&q, "save");
        let dependent = q
            .submit(|cg| {
                cg.after(&root).host_task((), |()| ());
                Ok(())
            })
            .unwrap();
        end(&dependent);
    });
    assert_eq!(lines, ["folio: host task `save` on host failed: no space\\nleft"]);
}

/// ERR-03: what a call has returned is not written.
#[test]
fn a_told_failure_is_no_line() {
    let lines = said("a_told_failure_is_no_line", false, || {
        let rt = builder().build().unwrap();
        let q = rt.queue().unwrap();
        assert!(fail(&q, "by wait").wait().is_err());
        let event = fail(&q, "by status");
        end(&event);
        assert!(matches!(event.status(), folio::Status::Failed(_)));
        let mut x = rt.buffer::<u32, 1>(4).unwrap();
        q.submit(|cg| {
            let x = cg.discard(&mut x);
            cg.host_kernel([4], x, |_, _| panic!("in a kernel"));
            Ok(())
        })
        .unwrap();
        assert!(x.read().is_err());
        let mut y = rt.buffer::<u32, 1>(4).unwrap();
        q.submit(|cg| {
            let y = cg.discard(&mut y);
            cg.host_kernel([4], y, |_, _| panic!("in another"));
            Ok(())
        })
        .unwrap();
        assert!(y.to_vec().is_err());
        let other = rt.queue().unwrap();
        end(&fail(&other, "by queue"));
        assert!(other.wait().is_err());
        end(&fail(&q, "by runtime"));
        assert!(rt.wait().is_err());
    });
    assert_eq!(lines, [""; 0]);
}

/// POL-05, ERR-03: what failed to be written to a view is told with its storage, or on a line.
#[test]
fn a_storage_does_not_hide_a_failure() {
    let failed_view = |rt: &Runtime| {
        let q = rt.queue().unwrap();
        let (mut x, back) = rt.view(4, vec![7u32; 4], ViewPolicy::Async).unwrap();
        let event = q.submit(|cg| {
            let x = cg.read_write(&mut x);
            cg.label("double").host_kernel(4, x, |_, _| panic!("in a view"));
            Ok(())
        });
        end(&event.unwrap());
        back
    };
    let lines = said("a_storage_does_not_hide_a_failure", false, || {
        let rt = builder().build().unwrap();
        drop(failed_view(&rt));
        let Err(refused) = failed_view(&rt).take() else { panic!("a storage without its failure") };
        assert!(matches!(&refused.error, Error::Failed(why) if why.label() == "double"));
        assert_eq!(refused.storage.unwrap(), [7; 4]);
    });
    assert_eq!(lines, ["folio: kernel `double` on cpu:0 failed: panicked: in a view"]);
}

/// ERR-01, ERR-03: a handler replaces the lines, those of unfinished work included.
#[test]
fn a_handler_replaces_the_lines() {
    let lines = said("a_handler_replaces_the_lines", false, || {
        let (tell, told) = mpsc::channel();
        let tell = std::sync::Mutex::new(tell);
        let handler = move |failure: &Arc<folio::Failure>| {
            let _ = tell.lock().unwrap().send(failure.label().to_owned());
        };
        let rt = builder().on_failure(handler).build().unwrap();
        let q = rt.queue().unwrap();
        end(&fail(&q, "save"));
        let (open, over) = fails_later(&q);
        drop((rt, q));
        drop(open);
        assert!(over.recv_timeout(PATIENCE).is_err());
        assert_eq!(told.iter().collect::<Vec<_>>(), ["save", "late"]);
    });
    assert_eq!(lines, [""; 0]);
}

/// ERR-04: dropping the last handle does not wait; it says what is left, and later how that failed.
#[test]
fn work_that_is_left_is_told() {
    let scene = || {
        let rt = builder().build().unwrap();
        let q = rt.queue().unwrap();
        let (open, over) = fails_later(&q);
        drop((rt, q)); // does not wait: the task does, for what comes next
        drop(open);
        // Disconnected: its error has been dropped, with all that held it.
        assert_eq!(over.recv_timeout(PATIENCE), Err(mpsc::RecvTimeoutError::Disconnected));
    };
    let failed = "folio: host task `late` on host failed: too late";
    let lines = said("work_that_is_left_is_told", false, scene);
    let left = "folio: 1 operation had not ended when the last handle of its runtime was dropped \
                (host task `late` on host): it runs on only while the process lives; call `Runtime::wait` first";
    assert_eq!(lines, [left, failed]);
    let quiet = said("work_that_is_left_is_told", true, scene);
    assert_eq!(quiet, [failed], "a failure is not a hint");
}

/// ERR-04: while a panic unwinds, and from within a task, the last handle goes without a word.
#[test]
fn work_that_is_left_in_a_panic_is_not_told() {
    let lines = said("work_that_is_left_in_a_panic_is_not_told", false, || {
        let (open, gate) = mpsc::channel::<()>();
        let panic = std::panic::catch_unwind(move || {
            let rt = builder().build().unwrap();
            let q = rt.queue().unwrap();
            q.submit(|cg| {
                cg.host_task((), move |()| {
                    let _ = gate.recv_timeout(PATIENCE);
                });
                Ok(())
            })
            .unwrap();
            panic!("on purpose");
        });
        assert!(panic.is_err());
        drop(open);
        let rt = builder().build().unwrap();
        let (own, (tell, told)) = (rt.clone(), mpsc::channel::<()>());
        let (open, gate) = mpsc::channel::<()>();
        let q = rt.queue().unwrap();
        q.submit(|cg| {
            cg.host_task((), move |()| {
                let _ = gate.recv_timeout(PATIENCE);
                drop(own);
                drop(tell);
            });
            Ok(())
        })
        .unwrap();
        drop((rt, q));
        drop(open);
        assert_eq!(told.recv_timeout(PATIENCE), Err(mpsc::RecvTimeoutError::Disconnected));
    });
    assert_eq!(lines, [""; 0]);
}

/// Counts warnings.
struct Warnings(Arc<AtomicUsize>);

impl tracing::Subscriber for Warnings {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target() == "folio" && *metadata.level() <= tracing::Level::WARN
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let warns = *event.metadata().level() == tracing::Level::WARN;
        self.0.fetch_add(usize::from(warns), Ordering::Relaxed);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

/// ERR-01: a hint goes to the subscriber of `tracing` where there is one, and not to standard
/// error.
#[test]
fn hints_go_to_the_subscriber() {
    let lines = said("hints_go_to_the_subscriber", false, || {
        let warned = Arc::new(AtomicUsize::new(0));
        tracing::subscriber::set_global_default(Warnings(warned.clone())).unwrap();
        let rt = builder().build().unwrap();
        let q = rt.queue().unwrap();
        let (open, over) = fails_later(&q);
        drop((rt, q));
        assert_eq!(warned.load(Ordering::Relaxed), 1);
        drop(open);
        assert_eq!(over.recv_timeout(PATIENCE), Err(mpsc::RecvTimeoutError::Disconnected));
    });
    assert_eq!(lines, ["folio: host task `late` on host failed: too late"]);
}

/// ERR-01: a program that cannot write the trace that the environment asks for says so.
#[cfg(not(feature = "trace"))]
#[test]
fn a_trace_without_the_feature_is_a_hint() {
    let lines = said("a_trace_without_the_feature_is_a_hint", false, || {
        // SAFETY: a process of its own, in which no other thread reads the environment meanwhile.
        unsafe { std::env::set_var("FOLIO_TRACE", "t.json") };
        drop(folio::builder().unwrap());
    });
    let hint = "folio: FOLIO_TRACE is set, and the program is built without Folio's feature `trace`: there is no trace";
    assert_eq!(lines, [hint]);
}

/// ERR-01: the tests of this workspace are optimised, and so nothing is said of the first kernel.
#[test]
fn optimised_kernels_are_no_news() {
    let lines = said("optimised_kernels_are_no_news", false, || {
        let rt = builder().build().unwrap();
        let q = rt.queue().unwrap();
        let mut x = rt.buffer::<u32, 1>(100).unwrap();
        q.submit(|cg| {
            let x = cg.discard(&mut x);
            cg.host_kernel(100, x, |i, mut x| x.put(i, 1));
            Ok(())
        })
        .unwrap();
        assert_eq!(x.to_vec().unwrap(), [1; 100]);
    });
    let optimised = option_env!("CARGO_PROFILE_TEST_OPT_LEVEL") != Some("0");
    assert_eq!(lines.is_empty(), optimised, "{lines:?}");
}

/// ERR-03: `Runtime::wait` returns, oldest first, each failure that no other call has returned;
/// many that are left are a few lines and a number.
#[test]
fn the_runtime_tells_what_nothing_has_told() {
    let lines = said("the_runtime_tells_what_nothing_has_told", false, || {
        let rt = builder().build().unwrap();
        let q = rt.queue().unwrap();
        let events = ["a", "b", "c"].map(|label| {
            let event = fail(&q, label);
            end(&event);
            event
        });
        assert!(events[1].wait().is_err());
        for expected in ["a", "c"] {
            match rt.wait() {
                Err(Error::Failed(failure)) => assert_eq!(failure.label(), expected),
                other => panic!("{other:?}"),
            }
        }
        rt.wait().unwrap();
        assert!(events[0].wait().is_err() && q.wait().is_err(), "they stay failed");
        (0..20).for_each(|_| end(&fail(&q, "again")));
    });
    assert_eq!(lines.len(), 17);
    assert!(lines[..16].iter().all(|line| line.contains("`again`")), "{lines:?}");
    assert_eq!(lines[16], "folio: and 4 more failures that nothing asked for");
}
