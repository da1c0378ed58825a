//! Page trackers that lie: results may be old, but nothing that was never in the buffer shows, and
//! no memory is touched that should not be.

use super::rig::*;
use super::tests;
use folio_core::canary::Canary;
use folio_core::geom::{Box3, Dims};
use folio_core::pages::{DenseTrackers, DomainId, DomainSet, PageTracker, PageTrackerFactory};
use folio_core::{Buffer, BufferOptions, Destination, Error, UsmKind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

tests![
    another_tracker_gives_the_same,
    lies_show_nothing_foreign,
    lies_change_nothing_that_a_guard_shows,
    lies_change_no_usm_that_a_guard_shows,
    reports_outside_the_question_are_cut,
    trackers_that_panic_fail_their_command,
    trackers_that_drop_handles_fail_their_command,
];

/// PAGE-05: the dense tracker counts the same transfers.
fn another_tracker_gives_the_same(rig: &Rig) -> Outcome {
    let queues = rig.separate(1)?;
    let rt = rig.builder().page_tracker(Arc::new(DenseTrackers)).build()?;
    let others = separate(&rt, 1)?;
    let mut seen = Vec::new();
    for (rt, q) in [(&rig.rt, &queues[0]), (&rt, &others[0])] {
        let mut x = paged(rt, &[1, 2, 3, 4, 5])?;
        set(q, &mut x, 1, 1, 9)?;
        set(q, &mut x, 3, 2, 8)?;
        ensure_eq!(x.to_vec()?, [1, 9, 3, 8, 8]);
        add(q, &mut x, 1)?;
        seen.push((x.to_vec()?, x.counters()));
    }
    ensure_eq!(seen[0], seen[1]);
    Ok(())
}

/// The tracker's answer instead of the truth.
#[derive(Clone, Copy, Debug)]
enum Lie {
    Everywhere,
    Nowhere,
    OnDomainsThatAreNot,
    Outside,
    Nothing,
    Panics,
}

struct Liar(Lie);

impl PageTrackerFactory for Liar {
    fn make(&self, pages: Dims) -> Box<dyn PageTracker> {
        Box::new(Lying { lie: self.0, pages })
    }
}

struct Lying {
    lie: Lie,
    pages: Dims,
}

impl PageTracker for Lying {
    fn visit(&self, range: &Box3, out: &mut dyn FnMut(Box3, DomainSet)) {
        let all: DomainSet = (0..4).map(DomainId).collect();
        match self.lie {
            Lie::Everywhere => out(*range, all),
            Lie::Nowhere => out(*range, DomainSet::EMPTY),
            Lie::OnDomainsThatAreNot => {
                out(*range, [DomainId(40), DomainId(63)].into_iter().collect())
            }
            Lie::Outside => {
                out(Box3 { min: [5; 3], max: [2; 3] }, all);
                out(Box3::whole(self.pages.map(|n| n + 100)), DomainSet::of(DomainId(1)));
            }
            Lie::Nothing => {}
            Lie::Panics => std::panic::panic_any(Canary::new("a tracker's panic")),
        }
    }
    fn set(&mut self, _: &Box3, _: DomainSet) {}
    fn insert(&mut self, _: &Box3, _: DomainId) {}
    fn remove(&mut self, _: &Box3, _: DomainId) {}
    fn name(&self) -> &'static str {
        "liar"
    }
}

/// Values that the program wrote, and zero; nothing else may show.
const WRITTEN: [i32; 5] = [0, 11, 22, 33, 44];

fn lie_to(rig: &Rig, lie: Lie) -> Outcome {
    let devices = rig.rt.devices().len();
    let options = || BufferOptions::new().page([4]).tracker(Arc::new(Liar(lie)));
    let mut x = rig.rt.buffer_with(&[11; 32], options())?;
    let mut y = rig.rt.buffer_with::<i32, 1>([32], options())?;
    for round in 0..3 {
        for at in 0..devices {
            let q = rig.on(at)?;
            set(&q, &mut x, 3, 10, 22)?;
            read_into(&q, &x, &mut y)?;
            x.slice_mut([8], [5])?.write()?[2] = 33;
            let all = y.to_vec()?;
            let known = |v: &i32| WRITTEN.contains(v);
            ensure!(all.iter().all(known), "{lie:?}, {at}, round {round}: {all:?}");
            let all = x.to_vec()?;
            ensure!(all.iter().all(known), "{lie:?}, {at}, round {round}: {all:?}");
        }
    }
    rig.rt.wait()?;
    Ok(())
}

/// PAGE-05, BUF-07
fn lies_show_nothing_foreign(rig: &Rig) -> Outcome {
    for lie in [Lie::Everywhere, Lie::Nowhere, Lie::OnDomainsThatAreNot, Lie::Nothing] {
        lie_to(rig, lie)?;
    }
    Ok(())
}

/// Tells the truth, until it is told what to say: one more than a set of domains in bits.
#[derive(Clone, Default)]
struct Turncoat(Arc<AtomicU64>);

impl Turncoat {
    fn says(&self, domains: std::ops::Range<u8>) {
        let bits: u64 = domains.map(|domain| 1 << domain).sum();
        self.0.store(bits + 1, Ordering::SeqCst);
    }
}

impl PageTrackerFactory for Turncoat {
    fn make(&self, pages: Dims) -> Box<dyn PageTracker> {
        Box::new(Turning { told: self.clone(), truth: DenseTrackers.make(pages) })
    }
}

struct Turning {
    told: Turncoat,
    truth: Box<dyn PageTracker>,
}

impl PageTracker for Turning {
    fn visit(&self, range: &Box3, out: &mut dyn FnMut(Box3, DomainSet)) {
        match self.told.0.load(Ordering::SeqCst).checked_sub(1) {
            None => self.truth.visit(range, out),
            Some(bits) => {
                out(*range, (0..64).filter(|d| bits >> d & 1 == 1).map(DomainId).collect())
            }
        }
    }
    fn set(&mut self, range: &Box3, current: DomainSet) {
        self.truth.set(range, current);
    }
    fn insert(&mut self, range: &Box3, domain: DomainId) {
        self.truth.insert(range, domain);
    }
    fn remove(&mut self, range: &Box3, domain: DomainId) {
        self.truth.remove(range, domain);
    }
    fn name(&self) -> &'static str {
        "turncoat"
    }
}

/// PAGE-05, DEP-04: of a page in pieces, too.
fn lies_change_nothing_that_a_guard_shows(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let turncoat = Turncoat::default();
    let options = BufferOptions::new().page([8]).tracker(Arc::new(turncoat.clone()));
    let mut x = rig.rt.buffer_with(&[11; 16], options)?;
    set(&q, &mut x, 2, 3, 22)?.wait()?;
    set(&q, &mut x, 8, 8, 22)?.wait()?;
    turncoat.says(0..60);
    let guard = x.read()?;
    let before = guard.to_vec();
    turncoat.says(1..60);
    q.submit(|cg| {
        cg.prefetch(&x, Destination::Host);
        Ok(())
    })?
    .wait()?;
    ensure_eq!(guard.to_vec(), before);
    drop(guard);
    let all = x.to_vec()?;
    ensure_eq!((all[1], all[2], all[4], all[5]), (11, 22, 22, 11), "{all:?}");
    Ok(())
}

/// PAGE-05, DEP-04: in memory of the host's kind on a device, which has become a buffer's.
fn lies_change_no_usm_that_a_guard_shows(rig: &Rig) -> Outcome {
    let turncoat = Turncoat::default();
    let rt = rig.builder().page_tracker(Arc::new(turncoat.clone())).build()?;
    let q = separate(&rt, 1)?.remove(0);
    let mut usm = match rt.usm::<i32>(&q.device(), UsmKind::Host, 8) {
        Err(Error::Unsupported { .. }) => return Ok(()),
        other => other?,
    };
    match usm.write() {
        Err(Error::NotAccessible { .. }) => return Ok(()),
        guard => guard?.fill(3),
    }
    let guard = usm.read()?;
    let x = usm.into_buffer();
    let submit = |host: bool| {
        let event = q.submit(|cg| {
            if host {
                cg.prefetch(&x, Destination::Host)
            } else {
                cg.prefetch(&x, Destination::Device)
            };
            Ok(())
        });
        event?.wait()
    };
    submit(true)?;
    turncoat.says(0..1);
    let before = rt.counters().transfers();
    submit(false)?;
    ensure_eq!(rt.counters().transfers(), before, "into what the guard shows");
    ensure_eq!(guard.to_vec(), [3; 8]);
    Ok(())
}

/// PAGE-05, BUF-07
fn reports_outside_the_question_are_cut(rig: &Rig) -> Outcome {
    lie_to(rig, Lie::Outside)
}

/// PAGE-05, ERR-01
fn trackers_that_panic_fail_their_command(rig: &Rig) -> Outcome {
    let options = BufferOptions::new().tracker(Arc::new(Liar(Lie::Panics)));
    let mut bad = rig.rt.buffer_with::<i32, 1>([8], options)?;
    let q = rig.queue()?;
    let caught =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| match add(&q, &mut bad, 1) {
            Ok(event) => event.wait().is_err(),
            Err(_) => true,
        }));
    let mut x = rig.rt.buffer_from(&[1; 8])?;
    add(&q, &mut x, 1)?;
    ensure_eq!(x.to_vec()?, [2; 8]);
    rig.rt.wait()?;
    match caught {
        Ok(true) => Ok(()),
        Ok(false) => Err(Stop::Failed("no failure".into())),
        Err(_) => Err(Stop::Failed("the panic came out of the runtime".into())),
    }
}

/// Drops buffers when it is asked.
struct Dropping(Arc<Mutex<Option<[Buffer<u8>; 2]>>>);

impl PageTrackerFactory for Dropping {
    fn make(&self, _: Dims) -> Box<dyn PageTracker> {
        Box::new(Dropping(self.0.clone()))
    }
}

impl PageTracker for Dropping {
    fn visit(&self, range: &Box3, out: &mut dyn FnMut(Box3, DomainSet)) {
        if let Ok(mut held) = self.0.lock() {
            *held = None;
        }
        out(*range, DomainSet::EMPTY);
    }
    fn set(&mut self, _: &Box3, _: DomainSet) {}
    fn insert(&mut self, _: &Box3, _: DomainId) {}
    fn remove(&mut self, _: &Box3, _: DomainId) {}
    fn name(&self) -> &'static str {
        "drops"
    }
}

/// PAGE-05, ERR-01: the drops do not panic.
fn trackers_that_drop_handles_fail_their_command(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let held = [rig.rt.buffer::<u8, 1>(8)?, rig.rt.buffer::<u8, 1>(8)?];
    let tracker = Arc::new(Dropping(Arc::new(Mutex::new(Some(held)))));
    let mut x = rig.rt.buffer_with::<i32, 1>([8], BufferOptions::new().tracker(tracker))?;
    let failed = failure(add(&q, &mut x, 1).and_then(|event| event.wait()))?;
    let message = panic_message(&failed).unwrap_or_default();
    ensure!(message.contains("dropped a handle"), "{message}");
    let mut y = rig.rt.buffer_from(&[1; 8])?;
    add(&q, &mut y, 1)?;
    ensure_eq!(y.to_vec()?, [2; 8]);
    Ok(())
}
