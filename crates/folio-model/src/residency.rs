//! Which pages are current where, by the definition (PAGE-01 to PAGE-06, XFER-01 to XFER-04), page
//! by page and without any cleverness; and from whom failure travels.

use folio_core::Moves;
use folio_core::geom::{Box3, Dims, Grid, linear};

/// Beyond this many discards of parts of one page, failure may travel further than data.
const CROWD: usize = 16;

#[derive(Clone, Debug)]
struct Page {
    /// The domains that have all of it; nobody: it is in parts, or holds no initialised data.
    whole: u64,
    /// Who has which element, since parts of it were discarded.
    parts: Option<Vec<u64>>,
    /// Failures of those who wrote what it holds.
    failed: Vec<String>,
    /// Discards of parts since it was last written whole.
    partial: usize,
    /// Failures of transfers into its memory, by domain.
    tainted: Vec<(usize, String)>,
    /// A transfer of it has failed: where it is current depends on when that was noticed.
    uncertain: bool,
}

/// The transfers of one buffer by one command.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Exactly.
    pub bytes: u64,
    /// At least, and at most: a page that comes from several domains may count for each.
    pub pages: [u64; 2],
    /// At most.
    pub operations: u64,
    /// Nothing can be said.
    pub uncertain: bool,
}

impl Tally {
    /// Adds the transfers of another command.
    pub fn add(&mut self, other: &Tally) {
        self.bytes += other.bytes;
        self.pages.iter_mut().zip(other.pages).for_each(|(a, b)| *a += b);
        self.operations += other.operations;
        self.uncertain |= other.uncertain;
    }

    /// That may be what was moved.
    pub fn fits(&self, moved: &Moves) -> bool {
        let pages = self.pages[0]..=self.pages[1];
        moved.bytes == self.bytes
            && pages.contains(&moved.pages)
            && moved.operations <= self.operations
    }
}

/// The pages of one buffer.
#[derive(Clone, Debug)]
pub struct Residency {
    grid: Grid,
    size: usize,
    pages: Vec<Page>,
}

impl Page {
    /// Its memory on `domain` may have come to nothing because of `root`.
    fn taint(&mut self, domain: usize, root: &str) {
        if !self.tainted.iter().any(|(d, r)| *d == domain && r == root) {
            self.tainted.push((domain, root.to_owned()));
        }
    }
}

impl Residency {
    /// Current on these domains.
    pub fn new(grid: Grid, size: usize, current: u64) -> Residency {
        let page = Page {
            whole: current,
            parts: None,
            failed: Vec::new(),
            partial: 0,
            tainted: Vec::new(),
            uncertain: false,
        };
        Residency { grid, size, pages: vec![page; grid.count()] }
    }

    /// The page range of an access.
    pub fn pages_of(&self, elements: &Box3) -> Box3 {
        self.grid.pages_of(elements)
    }

    fn at(&self, cell: Dims) -> usize {
        linear(self.grid.pages, cell)
    }

    /// A command on `domain` reads `elements`: what must come.
    /// With `doomed` it may have been known that it fails, and then nothing comes.
    pub fn bring(&mut self, elements: &Box3, domain: usize, doomed: bool, tally: &mut Tally) {
        let bit = 1u64 << domain;
        let size = self.size as u64;
        let mut runs = Runs::default();
        let mut came: Vec<usize> = Vec::new();
        let mut roots: Vec<String> = Vec::new();
        for cell in self.grid.pages_of(elements).cells() {
            let volume = self.grid.elements_of(&Box3::cell(cell)).volume() as u64;
            let at = self.at(cell);
            let page = &mut self.pages[at];
            tally.uncertain |= page.uncertain || doomed;
            page.uncertain |= doomed;
            let mut moved = false;
            match &mut page.parts {
                Some(parts) => {
                    let missing = parts.iter().filter(|set| **set & bit == 0).count() as u64;
                    moved = missing > 0;
                    tally.bytes += missing * size;
                    tally.pages[0] += u64::from(missing > 0);
                    tally.pages[1] += missing;
                    tally.operations += missing;
                    runs.stop();
                    parts.iter_mut().for_each(|set| *set |= bit);
                    page.whole = parts.iter().fold(u64::MAX, |all, set| all & set);
                }
                None if page.whole == 0 || page.whole & bit != 0 => runs.stop(),
                None => {
                    moved = true;
                    tally.bytes += volume * size;
                    tally.pages.iter_mut().for_each(|p| *p += 1);
                    tally.operations += runs.next(cell, page.whole);
                    page.whole |= bit;
                }
            }
            // An uncertain one may have come.
            if moved || page.uncertain {
                came.push(at);
                roots.extend(page.failed.iter().cloned());
                // And from where that has failed.
                let sources = page.tainted.iter().filter(|_| page.uncertain);
                roots.extend(sources.map(|(_, root)| root.clone()));
            }
        }
        if roots.is_empty() {
            return;
        }
        roots.sort_unstable();
        roots.dedup();
        // They may have been one operation, which has failed.
        tally.uncertain = true;
        for at in came {
            self.pages[at].uncertain = true;
            roots.iter().for_each(|root| self.pages[at].taint(domain, root));
        }
    }

    /// The failures that a use of `elements` meets.
    pub fn failures(&self, elements: &Box3) -> Vec<String> {
        let cells = self.grid.pages_of(elements).cells();
        cells.flat_map(|cell| self.pages[self.at(cell)].failed.clone()).collect()
    }

    /// The failures that a use of `elements` on `domain` (any, if there is none) may meet, besides:
    /// those of transfers into that memory, as long as they are not known, and which bring several
    /// pages at a time.
    pub fn taints(&self, elements: &Box3, domain: Option<usize>, discards: bool) -> Vec<String> {
        let cells = self.grid.pages_of(elements).cells();
        let pages = cells.map(|cell| &self.pages[self.at(cell)]);
        let mut out = Vec::new();
        for page in pages {
            // A transfer that has failed may be the source of another one.
            let others = page.uncertain || !page.failed.is_empty();
            let fits = |d: usize| others || domain.is_none_or(|domain| d == domain);
            let here = page.tainted.iter().filter(|(d, _)| fits(*d));
            out.extend(here.map(|(_, root)| root.clone()));
            // The writer before them counts, too.
            if discards && page.partial + 1 >= CROWD {
                out.extend(page.failed.iter().cloned());
            }
        }
        out
    }

    /// Some data is on `domain` and nowhere else.
    pub fn only_on(&self, domain: usize) -> bool {
        let only = 1u64 << domain;
        self.pages.iter().any(|page| match &page.parts {
            Some(parts) => parts.contains(&only),
            None => page.whole == only,
        })
    }

    /// Some data is on `domain`.
    pub fn some_on(&self, domain: usize) -> bool {
        let on = |set: u64| set & 1 << domain != 0;
        let here = |page: &Page| match &page.parts {
            Some(parts) => parts.iter().any(|set| on(*set)),
            None => on(page.whole),
        };
        self.pages.iter().any(here)
    }

    /// Where some of it is depends on what failed, and when.
    pub fn doubted(&self) -> bool {
        self.pages.iter().any(|page| page.uncertain)
    }

    /// The memory on `domain` is gone.
    pub fn leave(&mut self, domain: usize) {
        for page in &mut self.pages {
            page.whole &= !(1 << domain);
            page.parts.iter_mut().flatten().for_each(|set| *set &= !(1 << domain));
        }
    }

    /// Some of `elements` may not be where they were brought.
    pub fn uncertain(&self, elements: &Box3) -> bool {
        let mut cells = self.grid.pages_of(elements).cells();
        cells.any(|cell| self.pages[self.at(cell)].uncertain)
    }

    /// A transfer of `elements` may have failed.
    pub fn doubt(&mut self, elements: &Box3) {
        for cell in self.grid.pages_of(elements).cells() {
            let at = self.at(cell);
            self.pages[at].uncertain = true;
        }
    }

    /// A command that would have defined all of `elements` on `domain` has failed.
    pub fn taint(&mut self, elements: &Box3, domain: usize, root: &str) {
        for cell in self.grid.pages_of(elements).cells() {
            let at = self.at(cell);
            self.pages[at].taint(domain, root);
        }
    }

    /// A command on `domain` writes in `elements`, and uses what was there.
    pub fn update(&mut self, elements: &Box3, domain: usize, failed: Option<&str>) {
        for cell in self.grid.pages_of(elements).cells() {
            let at = self.at(cell);
            self.pages[at].rewrite(domain, failed);
        }
    }

    /// A command on `domain` discards `elements`.
    pub fn discard(&mut self, elements: &Box3, domain: usize, failed: Option<&str>) {
        let bit = 1u64 << domain;
        for cell in self.grid.pages_of(elements).cells() {
            let whole = self.grid.elements_of(&Box3::cell(cell));
            let at = self.at(cell);
            let page = &mut self.pages[at];
            if elements.contains(&whole) {
                page.rewrite(domain, failed);
                continue;
            }
            page.partial += 1;
            page.uncertain |= failed.is_some();
            let new = failed.filter(|root| !page.failed.iter().any(|f| f == root));
            page.failed.extend(new.map(str::to_owned));
            let whole_on = if page.whole == 0 && page.parts.is_none() { bit } else { page.whole };
            let mut parts = page.parts.take().unwrap_or_else(|| vec![0; whole.volume()]);
            parts.iter_mut().for_each(|set| *set |= whole_on);
            for (set, element) in parts.iter_mut().zip(whole.cells()) {
                if elements.contains(&Box3::cell(element)) {
                    *set = bit;
                }
            }
            let here = parts.iter().all(|set| set & bit != 0);
            page.whole = if here { bit } else { 0 };
            page.parts = parts.iter().any(|set| *set != bit).then_some(parts);
        }
    }
}

impl Page {
    fn rewrite(&mut self, domain: usize, failed: Option<&str>) {
        self.whole = 1 << domain;
        self.parts = None;
        self.failed = failed.map(str::to_owned).into_iter().collect();
        self.partial = 0;
        self.uncertain = failed.is_some();
    }
}

/// Runs of neighbouring pages of a row with equal sources: one operation each is enough.
#[derive(Default)]
struct Runs(Option<(Dims, u64)>);

impl Runs {
    fn stop(&mut self) {
        self.0 = None;
    }

    fn next(&mut self, cell: Dims, set: u64) -> u64 {
        let follows = self.0.is_some_and(|(last, same)| {
            same == set && last[..2] == cell[..2] && last[2] + 1 == cell[2]
        });
        self.0 = Some((cell, set));
        u64::from(!follows)
    }
}
