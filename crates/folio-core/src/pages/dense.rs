//! The plain page tracker: a bit for each page and domain. Slower on large grids than the default
//! and obviously right, so that the two can be held against each other.

use bitvec::vec::BitVec;

use super::domains::{DomainId, DomainSet};
use super::tracker::{PageTracker, PageTrackerFactory};
use crate::geom::{Box3, Dims, linear};

/// A [`PageTracker`] of one bit plane per domain. Costs grow with the pages of a range.
#[derive(Clone, Debug)]
pub struct DenseTracker {
    pages: Dims,
    /// Bit `p` of plane `d`: page `p` is current on domain `d`. Planes appear with their domains.
    planes: Vec<BitVec>,
}

impl DenseTracker {
    /// A tracker of a grid of `pages`, none of which holds initialised data.
    pub fn new(pages: Dims) -> DenseTracker {
        DenseTracker { pages, planes: Vec::new() }
    }

    /// Writes `bit` for each page of `range` in the plane of `domain`.
    fn fill(&mut self, range: &Box3, domain: DomainId, bit: bool) {
        let plane = usize::from(domain.0);
        if plane >= self.planes.len() {
            if !bit || domain.0 >= DomainId::LIMIT {
                return;
            }
            let empty = BitVec::repeat(false, Box3::whole(self.pages).volume());
            self.planes.resize(plane + 1, empty);
        }
        for row in rows(&range.intersect(&Box3::whole(self.pages))) {
            let start = linear(self.pages, row.min);
            self.planes[plane][start..start + row.extent()[2]].fill(bit);
        }
    }

    fn get(&self, page: Dims) -> DomainSet {
        let at = linear(self.pages, page);
        let planes = self.planes.iter().enumerate();
        planes.filter(|(_, plane)| plane[at]).map(|(d, _)| DomainId(d as u8)).collect()
    }
}

/// The rows of `range`.
fn rows(range: &Box3) -> impl Iterator<Item = Box3> {
    let Box3 { min, max } = *range;
    let starts = Box3 { min, max: [max[0], max[1], max[2].min(min[2] + 1)] };
    starts.cells().map(move |at| Box3 { min: at, max: [at[0] + 1, at[1] + 1, max[2]] })
}

impl PageTracker for DenseTracker {
    fn visit(&self, range: &Box3, out: &mut dyn FnMut(Box3, DomainSet)) {
        for mut run in rows(&range.intersect(&Box3::whole(self.pages))) {
            let end = run.max[2];
            while run.min[2] < end {
                let set = self.get(run.min);
                run.max[2] = run.min[2] + 1;
                while run.max[2] < end && self.get([run.min[0], run.min[1], run.max[2]]) == set {
                    run.max[2] += 1;
                }
                out(run, set);
                run.min[2] = run.max[2];
            }
        }
    }

    fn set(&mut self, range: &Box3, current: DomainSet) {
        for d in 0..DomainId::LIMIT {
            self.fill(range, DomainId(d), current.contains(DomainId(d)));
        }
    }

    fn insert(&mut self, range: &Box3, domain: DomainId) {
        self.fill(range, domain, true);
    }

    fn remove(&mut self, range: &Box3, domain: DomainId) {
        self.fill(range, domain, false);
    }

    fn name(&self) -> &'static str {
        "dense"
    }
}

/// Makes a [`DenseTracker`] for each buffer.
#[derive(Clone, Copy, Debug, Default)]
pub struct DenseTrackers;

impl PageTrackerFactory for DenseTrackers {
    fn make(&self, pages: Dims) -> Box<dyn PageTracker> {
        Box::new(DenseTracker::new(pages))
    }
}
