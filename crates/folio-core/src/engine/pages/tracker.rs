//! A storage's page tracker: ours, or a user's, whose every answer is checked.
//!
//! A user's tracker may lie, and may panic. The answer is cut to the pages it was asked for, each
//! told once; pages that it leaves out count as never written; a panic is kept, and fails the
//! command that was being submitted. Whether a domain can be a source at all is decided by the
//! engine's own knowledge of what is defined where.

use crate::geom::Box3;
use crate::hal::PanicPayload;
use crate::pages::{BlockTracker, DomainId, DomainSet, PageTracker};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Who keeps track of a storage's pages.
#[expect(clippy::large_enum_variant, reason = "the large one is the usual one")]
pub(crate) enum Tracker {
    Own(BlockTracker),
    Foreign(Foreign),
}

/// A user's tracker.
pub(crate) struct Foreign {
    inner: Box<dyn PageTracker>,
    /// The payloads of its panics, until the engine asks: their drops are the user's.
    panicked: RefCell<Vec<PanicPayload>>,
}

impl Foreign {
    pub(crate) fn new(inner: Box<dyn PageTracker>) -> Foreign {
        Foreign { inner, panicked: RefCell::default() }
    }

    /// Its answers, clipped, each page once.
    fn visit(&self, range: &Box3, out: &mut dyn FnMut(Box3, DomainSet)) {
        let mut told: Vec<(Box3, DomainSet)> = Vec::new();
        self.contained(|inner| inner.visit(range, &mut |run, set| told.push((run, set))));
        // Boxes and not a bit for each page: a grid may have more pages than there is memory.
        let (mut left, mut rest) = (vec![*range], Vec::new());
        for (run, set) in told {
            for part in left.drain(..) {
                let here = part.intersect(&run);
                if !here.is_empty() {
                    out(here, set);
                }
                part.subtract(&here, |b| rest.push(b));
            }
            std::mem::swap(&mut left, &mut rest);
        }
        left.iter().filter(|part| !part.is_empty()).for_each(|part| out(*part, DomainSet::EMPTY));
    }

    fn contained(&self, f: impl FnOnce(&dyn PageTracker)) {
        self.keep(called(|| f(&*self.inner)));
    }

    fn contained_mut(&mut self, f: impl FnOnce(&mut dyn PageTracker)) {
        let result = called(|| f(&mut *self.inner));
        self.keep(result);
    }

    fn keep(&self, result: Result<(), PanicPayload>) {
        self.panicked.borrow_mut().extend(result.err());
    }
}

thread_local! {
    /// This thread is in a user's tracker, and has a ledger locked.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// A handle was dropped there.
    static LEAKED: Cell<bool> = const { Cell::new(false) };
}

fn called(f: impl FnOnce()) -> Result<(), PanicPayload> {
    let before = INSIDE.replace(true);
    // Inside, since the text of a payload is the user's code.
    let result = catch_unwind(AssertUnwindSafe(f)).map_err(PanicPayload::new);
    INSIDE.set(before);
    if LEAKED.take() && result.is_ok() {
        let payload = Box::new("a page tracker dropped a handle of the runtime");
        return Err(PanicPayload::new(payload));
    }
    result
}

/// For the drop of a handle, which must not panic. In a user's tracker it has to leave alone what
/// is behind the handle, which is leaked; the tracker's call fails as one that panics.
pub(crate) fn leaks_inside() -> bool {
    let inside = INSIDE.get();
    if inside {
        LEAKED.set(true);
    }
    inside
}

/// Where a thread finds the ledger locked: a tracker that calls the runtime, which its contract
/// forbids, gets a panic, which fails the command, in place of a deadlock.
#[expect(clippy::panic, reason = "it is caught in `called`")]
pub(crate) fn refuse_inside() {
    if INSIDE.get() {
        panic!("a page tracker called the runtime");
    }
}

impl Tracker {
    /// Where the pages of `range` are current.
    pub(crate) fn visit(&self, range: &Box3, out: &mut dyn FnMut(Box3, DomainSet)) {
        match self {
            Tracker::Own(tracker) => tracker.visit(range, out),
            Tracker::Foreign(tracker) => tracker.visit(range, out),
        }
    }

    /// The domains on which all of `range` is current, if that is one set for all of it.
    pub(crate) fn uniform(&self, range: &Box3) -> Option<DomainSet> {
        match self {
            Tracker::Own(tracker) => tracker.uniform(range),
            Tracker::Foreign(tracker) => {
                let (mut first, mut same) = (None, true);
                tracker.visit(range, &mut |_, set| same &= *first.get_or_insert(set) == set);
                first.filter(|_| same)
            }
        }
    }

    /// Where all pages are current, if they are alike, which is sure to be seen of our own only.
    #[inline]
    pub(crate) fn flat(&self) -> Option<DomainSet> {
        match self {
            Tracker::Own(tracker) => tracker.flat(),
            Tracker::Foreign(_) => None,
        }
    }

    /// All pages are current on `domain` only. For [`flat`](Self::flat) trackers.
    #[inline]
    pub(crate) fn set_flat(&mut self, domain: DomainId) {
        if let Tracker::Own(tracker) = self {
            tracker.set_flat(DomainSet::of(domain));
        }
    }

    pub(crate) fn set(&mut self, range: &Box3, current: DomainSet) {
        match self {
            Tracker::Own(tracker) => tracker.set(range, current),
            Tracker::Foreign(tracker) => tracker.contained_mut(|t| t.set(range, current)),
        }
    }

    pub(crate) fn insert(&mut self, range: &Box3, domain: DomainId) {
        match self {
            Tracker::Own(tracker) => tracker.insert(range, domain),
            Tracker::Foreign(tracker) => tracker.contained_mut(|t| t.insert(range, domain)),
        }
    }

    pub(crate) fn remove(&mut self, range: &Box3, domain: DomainId) {
        match self {
            Tracker::Own(tracker) => tracker.remove(range, domain),
            Tracker::Foreign(tracker) => tracker.contained_mut(|t| t.remove(range, domain)),
        }
    }

    /// True for a user's.
    pub(crate) fn is_foreign(&self) -> bool {
        matches!(self, Tracker::Foreign(_))
    }

    /// The payloads of panics of a user's tracker since the last call.
    pub(crate) fn take_panics(&mut self) -> Vec<PanicPayload> {
        match self {
            Tracker::Own(_) => Vec::new(),
            Tracker::Foreign(tracker) => std::mem::take(tracker.panicked.get_mut()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tells boxes that overlap, that lie outside, and leaves some out.
    struct Liar;

    impl PageTracker for Liar {
        fn visit(&self, _: &Box3, out: &mut dyn FnMut(Box3, DomainSet)) {
            let a = DomainSet::of(DomainId(1));
            out(Box3 { min: [0, 0, 0], max: [1, 1, 3] }, a);
            out(Box3 { min: [0, 0, 2], max: [9, 9, 5] }, DomainSet::of(DomainId(2)));
            out(Box3::EMPTY, a);
        }
        fn set(&mut self, _: &Box3, _: DomainSet) {
            panic!("no");
        }
        fn insert(&mut self, _: &Box3, _: DomainId) {}
        fn remove(&mut self, _: &Box3, _: DomainId) {}
        fn name(&self) -> &'static str {
            "liar"
        }
    }

    #[test]
    fn every_page_is_told_once_whatever_a_tracker_says() {
        // PAGE-05
        let mut tracker = Tracker::Foreign(Foreign::new(Box::new(Liar)));
        let range = Box3 { min: [0, 0, 1], max: [1, 1, 7] };
        let mut told = Vec::new();
        tracker.visit(&range, &mut |run, set| {
            run.cells().for_each(|cell| told.push((cell[2], set.first().map(|d| d.0))));
        });
        told.sort();
        let (a, b) = (Some(1), Some(2));
        assert_eq!(told, [(1, a), (2, a), (3, b), (4, b), (5, None), (6, None)]);
        assert!(tracker.take_panics().is_empty());
        (0..2).for_each(|_| tracker.set(&range, DomainSet::EMPTY));
        let messages = tracker.take_panics();
        assert_eq!(messages.iter().map(PanicPayload::message).collect::<Vec<_>>(), ["no"; 2]);
        assert!(tracker.take_panics().is_empty());
    }
}
