//! Pages in pieces: what discards of parts have split between domains.
//!
//! A page stays in pieces until all of it is written, or all of it is in one place and nowhere else:
//! what is current somewhere is not copied there again, and a copy that fails loses nothing, since
//! those who had a piece before have it still.

use super::access::Access;
use super::ledger::{Ledger, outcome};
use super::stamp::Stamp;
use super::storage::{StorageId, StorageState};
use crate::geom::Box3;
use crate::graph::hazards::Outcome;
use crate::pages::{DomainId, DomainSet};
use smallvec::SmallVec;

/// With more fragments than this a page that is whole somewhere counts as being there only.
const MOST_FRAGMENTS: usize = 64;

/// A part of a page that no single domain holds whole.
#[derive(Clone, Debug)]
pub(crate) struct Fragment {
    pub(crate) elements: Box3,
    /// Who has it.
    pub(crate) domains: DomainSet,
    /// Who gets it, by which copies; all of those must succeed.
    pub(crate) arriving: SmallVec<[(DomainId, Stamp); 1]>,
}

impl Fragment {
    /// Who has it once all copies are done.
    pub(crate) fn on(&self) -> DomainSet {
        self.arriving.iter().fold(self.domains, |all, (domain, _)| all.with(*domain))
    }

    /// Learns from the copies that have ended.
    fn settle(&mut self, known: &mut dyn FnMut(Stamp) -> Outcome) {
        let (mut open, mut failed) = (DomainSet::EMPTY, DomainSet::EMPTY);
        for (domain, stamp) in &self.arriving {
            match known(*stamp) {
                Outcome::Pending => open.insert(*domain),
                Outcome::Failed => failed.insert(*domain),
                Outcome::Fine => {}
            }
        }
        let there = self.on().minus(open).minus(failed);
        self.domains = self.domains.union(there);
        self.arriving.retain(|(domain, _)| open.minus(failed).contains(*domain));
    }
}

/// Where all fragments are.
fn common(fragments: &[Fragment], on: impl Fn(&Fragment) -> DomainSet) -> DomainSet {
    fragments.iter().map(on).reduce(DomainSet::intersect).unwrap_or(DomainSet::EMPTY)
}

impl StorageState {
    /// What is known of the fragments of page `number` now.
    fn settle_page(&mut self, number: usize, known: &mut dyn FnMut(Stamp) -> Outcome) {
        let page = Box3::cell(self.page_at(number));
        let Some(fragments) = self.mixed.get_mut(&number) else { return };
        fragments.iter_mut().for_each(|f| f.settle(known));
        self.tracker.set(&page, common(fragments, Fragment::on));
    }

    /// All of these pages is on `domain` and nowhere else, no copy brings any of it, and none is in pieces: a
    /// discard of parts of them there splits nothing.
    pub(crate) fn is_only_on(&self, pages: &Box3, domain: DomainId) -> bool {
        let here = Some(DomainSet::of(domain));
        self.tracker.uniform(pages) == here
            && self.defined.uniform(pages).is_some_and(|set| set.contains(domain))
            && !self.hazards.any_arriving(pages)
            && self.mixed_in(pages).is_empty()
    }

    /// The pages of `range` in pieces of which `domain` has some.
    pub(crate) fn pieces_on(&self, range: &Box3, domain: DomainId) -> SmallVec<[usize; 4]> {
        let mut numbers = self.mixed_in(range);
        let here = |f: &Fragment| f.on().contains(domain);
        numbers.retain(|number| self.mixed.get(number).is_some_and(|all| all.iter().any(here)));
        numbers
    }
}

impl Ledger {
    /// What copies and fills that are known to have failed should have brought to `pages` is not
    /// there, and what commands did to them that have run on such memory is to be seen by nobody.
    /// Whoever looks at the state of pages looks here first; so failure needs nobody to act
    /// upon it when it happens.
    pub(crate) fn heal(&mut self, id: StorageId, pages: &Box3) {
        if self.failures.is_empty() || pages.is_empty() {
            return;
        }
        let (lanes, slots, failures) = (&self.lanes, &self.slots, &self.failures);
        let known = &mut |s| outcome(lanes, slots, failures, s);
        let storage = &mut self.storages[id.0];
        let failed = |s| outcome(lanes, slots, failures, s) == Outcome::Failed;
        let StorageState { hazards, tracker, defined, broken, .. } = storage;
        hazards.take_failed(pages, &failed, |run, domain| {
            *broken = true;
            defined.update(&run, &mut |_, set: DomainSet| set.without(domain));
            tracker.remove(&run, domain);
        });
        hazards.take_spoilt(pages, &failed, &|s| failures.spoilt(s), |run, domain| {
            *broken = true;
            defined.update(&run, &mut |_, set: DomainSet| set.without(domain));
        });
        for number in storage.mixed_in(pages) {
            storage.settle_page(number, known);
        }
    }

    /// The fragments of page `number` come to `domain` by the copies `stamps`.
    pub(crate) fn gather(
        &mut self,
        id: StorageId,
        number: usize,
        domain: DomainId,
        stamps: &[Stamp],
    ) {
        let storage = &mut self.storages[id.0];
        let page = Box3::cell(storage.page_at(number));
        let Some(fragments) = storage.mixed.get_mut(&number) else { return };
        for fragment in fragments.iter_mut().filter(|f| !f.on().contains(domain)) {
            fragment.arriving.extend(stamps.iter().map(|stamp| (domain, *stamp)));
        }
        storage.tracker.set(&page, common(fragments, Fragment::on));
    }

    /// An access that discards parts of pages that are current elsewhere splits those pages.
    pub(crate) fn discard_parts(&mut self, a: &Access, border: &Box3) {
        let (lanes, slots, failures) = (&self.lanes, &self.slots, &self.failures);
        let known = &mut |s| outcome(lanes, slots, failures, s);
        let here = DomainSet::of(a.domain);
        let storage = &mut self.storages[a.storage.0];
        for page in border.cells() {
            let cell = Box3::cell(page);
            let number = storage.page_number(page);
            let elements = storage.grid.elements_of(&cell);
            let covered = elements.intersect(&a.elements);
            storage.settle_page(number, known);
            let only_here = |f: &Fragment| {
                f.domains == here && f.arriving.is_empty() && f.elements.contains(&covered)
            };
            if storage.mixed.get(&number).is_some_and(|all| all.iter().any(only_here)) {
                continue;
            }
            let told = storage.tracker.uniform(&cell).unwrap_or(DomainSet::EMPTY);
            let set = told.intersect(storage.defined.get(page));
            let old = match storage.mixed.remove(&number) {
                Some(fragments) => {
                    let whole = common(&fragments, |f| f.domains);
                    let few = fragments.len() <= MOST_FRAGMENTS || whole.is_empty();
                    let one = || Fragment { elements, domains: whole, arriving: SmallVec::new() };
                    if few { fragments } else { vec![one()] }
                }
                None if set.is_empty() => {
                    storage.tracker.set(&cell, here);
                    continue;
                }
                None => {
                    let mut whole = Fragment { elements, domains: set, arriving: SmallVec::new() };
                    storage.hazards.arriving(page, |domain, stamp| {
                        if set.contains(domain) {
                            whole.domains.remove(domain);
                            whole.arriving.push((domain, stamp));
                        }
                    });
                    whole.settle(known);
                    vec![whole]
                }
            };
            let mut new =
                vec![Fragment { elements: covered, domains: here, arriving: SmallVec::new() }];
            for fragment in &old {
                fragment.elements.subtract(&covered, |elements| {
                    new.push(Fragment { elements, ..fragment.clone() });
                });
            }
            storage.tracker.set(&cell, here.intersect(common(&new, Fragment::on)));
            if new.iter().any(|f| f.domains != here || !f.arriving.is_empty()) {
                storage.mixed.insert(number, new);
            } else {
                storage.hazards.bury(&cell);
            }
        }
    }
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use crate::engine::null::Null;
    use crate::pages::steps_taken;
    use crate::{Buffer, BufferOptions, Queue, Result, Runtime};

    const ROWS: usize = 1000;

    /// What it takes page maps to discard all columns but the first and the last, of which each row is a page.
    fn discard(q: &Queue, x: &mut Buffer<u32, 2>) -> Result<u64> {
        let before = steps_taken();
        q.submit(|cg| {
            let x = cg.discard(x.slice_mut([0, 1], [ROWS, 6])?);
            cg.host_kernel([ROWS, 6], x, |_, _| {});
            Ok(())
        })?;
        Ok(steps_taken() - before)
    }

    /// PAGE-05, PAGE-06: parts of pages are discarded at no cost for each page where that splits none.
    #[test]
    fn discards_of_parts_in_one_place_look_at_no_page() {
        let rt = Runtime::builder().backend(Null::new(2)).build().unwrap();
        let [here, there] = ["null:0", "null:1"].map(|at| rt.queue_on(at).unwrap());
        let mut x = rt.buffer_with([ROWS, 8], BufferOptions::new().page([1, 8])).unwrap();
        here.submit(|cg| {
            cg.fill(&mut x, 1u32);
            Ok(())
        })
        .unwrap();
        for _ in 0..20 {
            let taken = discard(&here, &mut x).unwrap();
            assert!(taken < 100, "{taken} steps for {ROWS} pages");
        }
        let taken = discard(&there, &mut x).unwrap();
        assert!(taken >= ROWS as u64, "each page is split, or the steps are not counted: {taken}");
    }
}
