//! The contract of page trackers: which memories hold the current contents of which pages.

use super::domains::{DomainId, DomainSet};
use crate::geom::{Box3, Dims};

/// Which domains hold the current contents of which pages of one buffer.
///
/// Safe to implement, and replaceable by a user: the engine cuts what is reported to what it asked
/// for and checks it against the allocations that exist, and it keeps itself whether memory was
/// ever written. A tracker that lies costs speed (needless copies) or freshness (old contents),
/// never memory safety.
///
/// Ranges are boxes of pages and lie in the grid that the factory was given; an implementation
/// ignores what lies outside. All methods run under the engine's lock: they must be short, must
/// not block, and must not call into the runtime. A panic fails the command that asked.
pub trait PageTracker: Send {
    /// Reports disjoint boxes of pages that together are `range`, each with the domains on which
    /// all of its pages are current. The empty set: these pages hold no initialised data.
    fn visit(&self, range: &Box3, out: &mut dyn FnMut(Box3, DomainSet));

    /// The domains on which the pages of `range` are current, if there are pages and they are
    /// alike.
    fn uniform(&self, range: &Box3) -> Option<DomainSet> {
        let (mut found, mut alike) = (None, true);
        self.visit(range, &mut |_, set| alike &= *found.get_or_insert(set) == set);
        if alike { found } else { None }
    }

    /// The pages of `range` are current on exactly these domains.
    fn set(&mut self, range: &Box3, current: DomainSet);

    /// The pages of `range` arrived on `domain`: they are current there too.
    fn insert(&mut self, range: &Box3, domain: DomainId);

    /// The pages of `range` are no longer current on `domain` (a transfer failed, an allocation
    /// was released).
    fn remove(&mut self, range: &Box3, domain: DomainId);

    /// What to call this kind of tracker in messages.
    fn name(&self) -> &'static str;
}

/// Makes a tracker for each buffer.
///
/// ```
/// use folio_core::geom::Box3;
/// use folio_core::pages::{BlockTrackers, DomainId, DomainSet, PageTrackerFactory};
///
/// let mut tracker = BlockTrackers.make([1, 1, 100]);
/// tracker.set(&Box3::whole([1, 1, 100]), DomainSet::of(DomainId::HOST));
/// tracker.insert(&Box3::cell([0, 0, 7]), DomainId(2));
/// assert_eq!(format!("{:?}", tracker.uniform(&Box3::cell([0, 0, 7]))), "Some({0, 2})");
/// ```
pub trait PageTrackerFactory: Send + Sync {
    /// A tracker of a grid of `pages`, none of which holds initialised data.
    fn make(&self, pages: Dims) -> Box<dyn PageTracker>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::linear;
    use crate::pages::testing::{GRIDS, Rng, seeds};
    use crate::pages::{BlockTrackers, DenseTrackers};

    fn check(tracker: &dyn PageTracker, pages: Dims, model: &[DomainSet], range: &Box3, seed: u64) {
        let note = format!("{}, seed {seed}, grid {pages:?}, {range:?}", tracker.name());
        let inside = range.intersect(&Box3::whole(pages));
        let mut seen = vec![false; model.len()];
        tracker.visit(range, &mut |at, set| {
            assert!(inside.contains(&at), "{note}: {at:?}");
            for page in at.cells() {
                let page = linear(pages, page);
                assert!(!std::mem::replace(&mut seen[page], true), "{note}: twice");
                assert_eq!(set, model[page], "{note}: page {page}");
            }
        });
        assert_eq!(seen.iter().filter(|s| **s).count(), inside.volume(), "{note}");
        let mut sets = inside.cells().map(|p| model[linear(pages, p)]);
        let first = sets.next();
        let expect = first.filter(|first| sets.all(|set| set == *first));
        assert_eq!(tracker.uniform(range), expect, "{note}");
    }

    fn program(factory: &dyn PageTrackerFactory, seed: u64) {
        let mut rng = Rng::new(seed);
        let pages = GRIDS[seed as usize % GRIDS.len()];
        let mut tracker = factory.make(pages);
        let mut model = vec![DomainSet::EMPTY; Box3::whole(pages).volume()];
        for _ in 0..if cfg!(miri) { 10 } else { 100 } {
            let range = rng.box_in(pages);
            let domain = DomainId([0, 1, 2, 63, 64][rng.below(5)]);
            let set = [domain, DomainId(rng.below(3) as u8)].into_iter().collect();
            let action = rng.below(3);
            match action {
                0 => tracker.set(&range, set),
                1 => tracker.insert(&range, domain),
                _ => tracker.remove(&range, domain),
            }
            for page in range.intersect(&Box3::whole(pages)).cells() {
                let value = &mut model[linear(pages, page)];
                match action {
                    0 => *value = set,
                    1 => value.insert(domain),
                    _ => value.remove(domain),
                }
            }
            check(&*tracker, pages, &model, &Box3::whole(pages), seed);
            check(&*tracker, pages, &model, &rng.box_in(pages), seed);
        }
    }

    #[test]
    fn trackers_agree_on_a_large_grid() {
        let pages = [3, 70, 130];
        for seed in seeds(10) {
            let mut rng = Rng::new(seed);
            let mut trackers = [BlockTrackers.make(pages), DenseTrackers.make(pages)];
            for _ in 0..if cfg!(miri) { 2 } else { 50 } {
                let (range, domain) = (rng.box_in(pages), DomainId(rng.below(3) as u8));
                let action = rng.below(4);
                let [block, dense] = trackers.each_mut().map(|tracker| {
                    match action {
                        0 => tracker.set(&range, DomainSet::of(domain)),
                        1 => tracker.remove(&range, domain),
                        _ => tracker.insert(&range, domain),
                    }
                    let mut painted = vec![None; Box3::whole(pages).volume()];
                    tracker.visit(&Box3::whole(pages), &mut |at, set| {
                        at.cells().for_each(|page| painted[linear(pages, page)] = Some(set));
                    });
                    painted
                });
                assert!(block == dense, "seed {seed}, {range:?}");
            }
        }
    }

    #[test]
    fn trackers_equal_the_model() {
        for seed in seeds(300) {
            program(&BlockTrackers, seed);
            program(&DenseTrackers, seed);
        }
    }
}
