//! The default page tracker: costs what differs between pages, not how many there are.

use super::domains::{DomainId, DomainSet};
use super::map::PageMap;
use super::tracker::{PageTracker, PageTrackerFactory};
use crate::geom::{Box3, Dims};

/// A [`PageTracker`] over a [`PageMap`], with its costs.
#[derive(Clone, Debug)]
pub struct BlockTracker {
    current: PageMap<DomainSet>,
}

impl BlockTracker {
    /// A tracker of a grid of `pages`, none of which holds initialised data.
    pub fn new(pages: Dims) -> BlockTracker {
        BlockTracker { current: PageMap::new(pages, DomainSet::EMPTY) }
    }

    /// The domains of all pages, where they are alike and it takes no looking.
    #[inline]
    pub(crate) fn flat(&self) -> Option<DomainSet> {
        self.current.flat()
    }

    /// All pages, which are [`flat`](Self::flat), are current on exactly these domains.
    #[inline]
    pub(crate) fn set_flat(&mut self, current: DomainSet) {
        self.current.set_flat(current);
    }
}

impl PageTracker for BlockTracker {
    fn visit(&self, range: &Box3, out: &mut dyn FnMut(Box3, DomainSet)) {
        self.current.visit(range, &mut |at, set| out(at, set));
    }

    fn uniform(&self, range: &Box3) -> Option<DomainSet> {
        self.current.uniform(range)
    }

    fn set(&mut self, range: &Box3, current: DomainSet) {
        self.current.set(range, current);
    }

    fn insert(&mut self, range: &Box3, domain: DomainId) {
        self.current.update(range, &mut |_, set| set.union(DomainSet::of(domain)));
    }

    fn remove(&mut self, range: &Box3, domain: DomainId) {
        self.current.update(range, &mut |_, set| set.minus(DomainSet::of(domain)));
    }

    fn name(&self) -> &'static str {
        "block"
    }
}

/// Makes a [`BlockTracker`] for each buffer.
#[derive(Clone, Copy, Debug, Default)]
pub struct BlockTrackers;

impl PageTrackerFactory for BlockTrackers {
    fn make(&self, pages: Dims) -> Box<dyn PageTracker> {
        Box::new(BlockTracker::new(pages))
    }
}
