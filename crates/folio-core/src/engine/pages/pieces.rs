//! Which pages are in pieces, at the cost of what differs: pages that are cut alike, with pieces on
//! the same domains by the same copies, share one record.

use crate::geom::{Box3, Dims};
use crate::order::hazards::Outcome;
use crate::order::stamp::Stamp;
use crate::pages::{DomainId, DomainSet, PageMap};
use smallvec::SmallVec;

/// Among so many records an equal one is looked for; beyond, equal ones may be there twice.
const SHARED: usize = 64;

/// A part of a page that no single domain holds whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fragment {
    /// Counted from the page's first element.
    pub(crate) elements: Box3,
    /// Who has it.
    pub(crate) domains: DomainSet,
    /// Who gets it, by which copies; all of those must succeed.
    pub(crate) arriving: SmallVec<[(DomainId, Stamp); 1]>,
}

impl Fragment {
    /// A piece that these domains have.
    pub(crate) fn new(elements: Box3, domains: DomainSet) -> Fragment {
        Fragment { elements, domains, arriving: SmallVec::new() }
    }

    /// Who has it once all copies are done.
    pub(crate) fn on(&self) -> DomainSet {
        self.arriving.iter().fold(self.domains, |all, (domain, _)| all.with(*domain))
    }

    /// Both in one, if they are alike and together a box.
    pub(crate) fn joined(&self, other: &Fragment) -> Option<Fragment> {
        let elements = self.elements.joined(&other.elements)?;
        let alike = self.domains == other.domains && self.arriving == other.arriving;
        alike.then(|| Fragment { elements, ..self.clone() })
    }

    /// Learns from the copies that have ended.
    pub(crate) fn learn(&mut self, known: &mut dyn FnMut(Stamp) -> Outcome) {
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

/// The record that pages which are cut alike share.
#[derive(Debug, Default)]
struct Kind {
    /// How many pages; 0 if the record is free.
    pages: usize,
    /// How many of them the update in progress has met, and what those become.
    met: usize,
    becomes: u32,
    /// The pieces, which together are a page.
    fragments: Vec<Fragment>,
}

/// The pages of a storage that are in pieces.
#[derive(Debug)]
pub(crate) struct Pieces {
    /// 0 for a page that is whole, otherwise the number of its kind.
    map: PageMap<u32>,
    /// The first is that of whole pages, and has no fragments.
    kinds: Vec<Kind>,
    free: Vec<u32>,
}

impl Pieces {
    /// All pages are whole.
    pub(crate) fn new(pages: Dims) -> Pieces {
        Pieces { map: PageMap::new(pages, 0), kinds: Vec::new(), free: Vec::new() }
    }

    /// True if all pages are whole.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.kinds.len() <= self.free.len() + 1
    }

    /// True if all of `range` are whole.
    pub(super) fn are_whole(&self, range: &Box3) -> bool {
        self.is_empty() || range.is_empty() || self.map.uniform(range) == Some(0)
    }

    /// The pages of `range` in runs of those that are alike, with their pieces; none if they are
    /// whole.
    pub(crate) fn visit(&self, range: &Box3, out: &mut dyn FnMut(Box3, &[Fragment])) {
        if self.is_empty() {
            if !range.is_empty() {
                out(*range, &[]);
            }
            return;
        }
        self.map.visit(range, &mut |run, kind| out(run, self.of(kind)));
    }

    /// All fragments, once for all pages that share them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Fragment> {
        self.kinds.iter().flat_map(|kind| &kind.fragments)
    }

    /// The pages of `range` are whole from now on.
    pub(crate) fn clear(&mut self, range: &Box3) {
        if !self.is_empty() && !range.is_empty() {
            self.put(range, 0);
        }
    }

    /// All pages of `range` are in these pieces from now on.
    pub(crate) fn set(&mut self, range: &Box3, fragments: Vec<Fragment>) {
        let kind = self.kind(fragments);
        self.put(range, kind);
    }

    /// Changes the pieces of the pages of `range`.
    pub(crate) fn update(&mut self, range: &Box3, change: &mut dyn FnMut(&mut Fragment)) {
        if self.is_empty() {
            return;
        }
        let (mut touched, kinds) = (Vec::new(), &mut self.kinds);
        self.map.visit(range, &mut |run, kind| {
            if let Some(at) = kinds.get_mut(kind as usize).filter(|_| kind != 0) {
                if at.met == 0 {
                    touched.push(kind);
                }
                at.met += run.volume();
            }
        });
        let mut moved = false;
        for &kind in &touched {
            let mut new = self.of(kind).to_vec();
            new.iter_mut().for_each(&mut *change);
            let becomes = if new == self.of(kind) { kind } else { self.kind(new) };
            moved |= becomes != kind;
            self.kinds[kind as usize].becomes = becomes;
        }
        if moved {
            let kinds = &self.kinds;
            let becomes = |kind: u32| if kind == 0 { 0 } else { kinds[kind as usize].becomes };
            self.map.update(range, &mut |_, kind| becomes(kind));
        }
        for &kind in &touched {
            let Kind { met, becomes, .. } = self.kinds[kind as usize];
            self.kinds[becomes as usize].pages += met;
        }
        for kind in touched {
            let met = std::mem::take(&mut self.kinds[kind as usize].met);
            self.leave(kind, met);
        }
    }

    fn of(&self, kind: u32) -> &[Fragment] {
        self.kinds.get(kind as usize).map_or(&[], |kind| &kind.fragments)
    }

    /// The kind of these fragments; it may have no pages yet.
    fn kind(&mut self, fragments: Vec<Fragment>) -> u32 {
        if self.kinds.is_empty() {
            self.kinds.push(Kind::default());
        }
        let same = |kind: &Kind| kind.fragments == fragments;
        let few = &self.kinds[..self.kinds.len().min(SHARED)];
        if let Some(at) = few.iter().skip(1).position(same) {
            return at as u32 + 1;
        }
        let new = Kind { fragments, ..Kind::default() };
        match self.free.pop() {
            Some(kind) => {
                self.kinds[kind as usize] = new;
                kind
            }
            None => {
                self.kinds.push(new);
                self.kinds.len() as u32 - 1
            }
        }
    }

    fn put(&mut self, range: &Box3, kind: u32) {
        let mut left: SmallVec<[(u32, usize); 4]> = SmallVec::new();
        self.map.visit(range, &mut |run, kind| left.push((kind, run.volume())));
        self.map.set(range, kind);
        if kind != 0 {
            self.kinds[kind as usize].pages += range.volume();
        }
        left.into_iter().filter(|(kind, _)| *kind != 0).for_each(|(kind, n)| self.leave(kind, n));
    }

    /// This many pages are of this kind no more.
    fn leave(&mut self, kind: u32, pages: usize) {
        let at = &mut self.kinds[kind as usize];
        at.pages -= pages;
        if at.pages == 0 {
            at.fragments = Vec::new();
            self.free.push(kind);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::pages::testing::Rng;
    use std::collections::{BTreeMap, HashSet};

    const PAGES: Dims = [2, 9, 21];

    fn cut(rng: &mut Rng) -> Vec<Fragment> {
        let at = rng.below(3) + 1;
        let part = |min, max| Box3 { min: [0, 0, min], max: [1, 1, max] };
        let on = |rng: &mut Rng| DomainSet::of(DomainId(rng.below(3) as u8));
        vec![Fragment::new(part(0, at), on(rng)), Fragment::new(part(at, 8), on(rng))]
    }

    fn range(rng: &mut Rng) -> Box3 {
        let ends = PAGES.map(|n| [rng.below(n + 1), rng.below(n + 1)]);
        let out = Box3 { min: ends.map(|[a, b]| a.min(b)), max: ends.map(|[a, b]| a.max(b)) };
        if rng.below(8) == 0 { Box3::whole(PAGES) } else { out }
    }

    /// They are what a list of each page's pieces is, and no record stays that no page has.
    #[test]
    fn pages_that_are_cut_alike_are_a_list_of_pages() {
        let mut rng = Rng::new(7);
        let (mut pieces, mut list) = (Pieces::new(PAGES), BTreeMap::<Dims, Vec<Fragment>>::new());
        for _ in 0..3000 {
            let at = range(&mut rng);
            match rng.below(4) {
                _ if at.is_empty() => {}
                0 => {
                    pieces.clear(&at);
                    at.cells().for_each(|page| drop(list.remove(&page)));
                }
                1 => {
                    let new = cut(&mut rng);
                    pieces.set(&at, new.clone());
                    at.cells().for_each(|page| drop(list.insert(page, new.clone())));
                }
                _ => {
                    // Two kinds may change places, and several may become one.
                    let (from, to) = (DomainId(rng.below(3) as u8), DomainId(rng.below(3) as u8));
                    let change = |f: &mut Fragment| {
                        f.domains = match f.domains {
                            set if set == DomainSet::of(from) => DomainSet::of(to),
                            set if set == DomainSet::of(to) => DomainSet::of(from),
                            set => set,
                        };
                    };
                    pieces.update(&at, &mut { change });
                    let inside =
                        list.iter_mut().filter(|(page, _)| at.contains(&Box3::cell(**page)));
                    inside.for_each(|(_, all)| all.iter_mut().for_each(change));
                }
            }
            let (mut seen, asked) = (BTreeMap::new(), range(&mut rng));
            let mut whole = true;
            pieces.visit(&asked, &mut |run, all| {
                whole &= all.is_empty();
                let cells = run.cells().filter(|_| !all.is_empty());
                cells.for_each(|page| drop(seen.insert(page, all.to_vec())));
            });
            let expected = list.iter().filter(|(page, _)| asked.contains(&Box3::cell(**page)));
            assert_eq!(seen, expected.map(|(page, all)| (*page, all.clone())).collect());
            assert_eq!(pieces.are_whole(&asked), whole);
            assert_eq!(pieces.is_empty(), list.is_empty());
            let kinds: HashSet<String> = list.values().map(|all| format!("{all:?}")).collect();
            let records = pieces.kinds.iter().filter(|kind| kind.pages > 0).count();
            assert_eq!(records, kinds.len(), "records are shared, and given back");
            assert_eq!(pieces.all().count(), 2 * records);
        }
    }
}
