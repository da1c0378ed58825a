//! The hazards against the obvious model: a list of stamps for every single page.

use super::*;
use crate::pages::DomainId;
use std::collections::{BTreeMap, BTreeSet, HashMap};

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    fn range(&mut self, pages: Dims) -> Box3 {
        let mut out = Box3::EMPTY;
        for (d, pages) in pages.into_iter().enumerate() {
            let a = self.below(pages as u64) as usize;
            let b = a + 1 + self.below((pages - a) as u64) as usize;
            (out.min[d], out.max[d]) = (a, b);
        }
        out
    }
}

/// One page, told naively: stamps by what they did.
#[derive(Clone, Default)]
struct Page {
    writers: Vec<(DomainId, Stamp)>,
    /// Writers before those, elsewhere, of whom something is left in memory.
    older: Vec<(DomainId, Stamp)>,
    readers: Vec<Stamp>,
    arrivals: Vec<(DomainId, Stamp)>,
}

fn stamp(lane: u64, tick: u64) -> Stamp {
    Stamp::placed(LaneId(lane as u16), tick)
}

/// What must be waited for, per lane the latest, and what else there is to a dependency.
fn summary(deps: &Deps, done: &BTreeSet<Stamp>) -> (HashMap<LaneId, u64>, BTreeMap<Stamp, Flow>) {
    let mut order = HashMap::new();
    let mut flow = BTreeMap::new();
    for dep in deps.iter().filter(|d| !done.contains(&d.stamp)) {
        if let crate::order::stamp::When::Placed(lane, tick) = dep.stamp.when() {
            let latest = order.entry(lane).or_insert(0);
            *latest = tick.max(*latest);
        }
        if dep.flow != Flow::ORDER {
            let known = flow.entry(dep.stamp).or_insert(dep.flow);
            *known = *known | dep.flow;
        }
    }
    (order, flow)
}

struct Model {
    pages: HashMap<Dims, Page>,
    done: BTreeSet<Stamp>,
}

impl Model {
    fn each(&mut self, range: &Box3, mut f: impl FnMut(&mut Page)) {
        for page in range.cells() {
            f(self.pages.entry(page).or_default());
        }
    }

    fn reads(&mut self, range: &Box3, domain: DomainId) -> Deps {
        let mut deps = Deps::new();
        self.each(range, |page| {
            page.writers.iter().for_each(|(_, w)| add_dep(&mut deps, *w, true));
            for (d, a) in &page.arrivals {
                if *d == domain {
                    add_dep(&mut deps, *a, true);
                }
            }
            for (_, w) in page.older.iter().filter(|(d, _)| *d == domain) {
                add_dep(&mut deps, *w, Flow::KEEPS);
            }
        });
        deps
    }

    fn writes(&mut self, range: &Box3, domain: DomainId, how: Writing) -> Deps {
        let mut deps = Deps::new();
        self.each(range, |page| {
            // Memory in which they wrote is covered, or some of it kept.
            let left = match how {
                Writing::Discard => Flow::KEEPS | Flow::COVERS,
                Writing::Update | Writing::Replace => Flow::COVERS,
            };
            for (d, w) in &page.writers {
                add_dep(&mut deps, *w, how == Writing::Update);
                if *d == domain {
                    add_dep(&mut deps, *w, left);
                }
            }
            for (_, w) in page.older.iter().filter(|(d, _)| *d == domain) {
                add_dep(&mut deps, *w, left);
            }
            page.readers.iter().for_each(|r| add_dep(&mut deps, *r, false));
            for (d, a) in &page.arrivals {
                add_dep(&mut deps, *a, *d == domain && how != Writing::Replace);
            }
        });
        deps
    }

    fn written(&mut self, range: &Box3, domain: DomainId, by: Stamp, keep: bool, how: Writing) {
        let done = self.done.clone();
        self.each(range, |page| {
            if !keep {
                let before = std::mem::take(&mut page.writers);
                page.older.extend(before);
                page.older.retain(|(d, _)| *d != domain);
            }
            page.writers.push((domain, by));
            page.readers.clear();
            page.arrivals.retain(|(_, a)| !done.contains(a));
            let before = page.arrivals.len();
            let replaces = how == Writing::Replace && !keep;
            page.arrivals.retain(|(d, _)| !(replaces && *d == domain));
            if page.arrivals.len() < before {
                page.arrivals.push((domain, by));
            }
        });
    }
}

/// One random history over a grid; panics on the first difference.
fn history(seed: u64, grid: Dims, steps: u64) {
    let mut rng = Rng(seed);
    let mut hazards = Hazards::new(grid);
    let mut model = Model { pages: HashMap::new(), done: BTreeSet::new() };
    let mut ticks = [0u64; 3];
    for step in 0..steps {
        let range = rng.range(grid);
        let domain = DomainId(rng.below(3) as u8);
        let lane = rng.below(3);
        ticks[lane as usize] += 1;
        let by = stamp(lane, ticks[lane as usize]);
        let how = [Writing::Update, Writing::Discard, Writing::Replace][rng.below(3) as usize];
        let (mut deps, expect);
        deps = Deps::new();
        let action = rng.below(5);
        if action == 0 || action == 3 {
            hazards.read_deps(&range, domain, &mut deps);
            expect = model.reads(&range, domain);
        } else {
            hazards.write_deps(&range, domain, how, &mut deps);
            expect = model.writes(&range, domain, how);
        }
        tidy(&mut deps);
        let context = format!("seed {seed}, step {step}, {range:?}");
        assert_eq!(summary(&deps, &model.done), summary(&expect, &model.done), "{context}");
        let done = model.done.clone();
        let mut known = |s: Stamp| if done.contains(&s) { Outcome::Fine } else { Outcome::Pending };
        match action {
            0 => {
                hazards.mark_read(&range, by, &mut known);
                model.each(&range, |page| page.readers.push(by));
            }
            1 | 2 => {
                let keep = how == Writing::Discard && action == 2;
                // As the engine does it: a crowded page is not discarded in part.
                if keep && hazards.crowded(&range) {
                    continue;
                }
                hazards.mark_written(&range, domain, by, (how, keep, false), &mut known);
                model.written(&range, domain, by, keep, how);
            }
            3 => {
                hazards.mark_arrival(&range, domain, by, (true, true), &mut known);
                model.each(&range, |page| {
                    page.arrivals.retain(|(d, ..)| *d != domain);
                    page.arrivals.push((domain, by));
                    page.older.retain(|(d, _)| *d != domain);
                });
            }
            _ => {
                hazards.forget(&range, &mut known);
                model.each(&range, |page| {
                    let Page { writers, older, readers, arrivals } = page;
                    let all = writers.drain(..).chain(older.drain(..)).chain(arrivals.drain(..));
                    readers.extend(all.map(|(_, stamp)| stamp));
                });
            }
        }
        if rng.below(3) == 0 {
            // Everything up to here on one lane is done.
            let lane = rng.below(3);
            model.done.extend((1..=ticks[lane as usize]).map(|t| stamp(lane, t)));
        }
    }
}

#[test]
fn random_histories_match_a_list_per_page() {
    // DEP-01, DEP-02
    let histories = if cfg!(miri) { 4 } else { 400 };
    for seed in 0..histories {
        history(seed, [1, 1, 1], 40);
        history(seed, [1, 1, 9], 40);
        history(seed, [1, 5, 4], 60);
        history(seed, [2, 3, 70], 60);
    }
}

#[test]
fn a_whole_write_collapses_to_one_state() {
    // PAGE-05
    let mut hazards = Hazards::new([1, 1, 1000]);
    let mut pending = |_| Outcome::Pending;
    for page in 0..1000 {
        let cell = Box3::cell([0, 0, page]);
        hazards.mark_read(&cell, stamp(page as u64 % 3, page as u64 + 1), &mut pending);
    }
    assert_eq!(hazards.states(), 1000);
    let all = Box3::whole([1, 1, 1000]);
    let by = stamp(0, 5000);
    hazards.mark_written(&all, DomainId::HOST, by, (Writing::Update, false, false), &mut pending);
    assert_eq!(hazards.states(), 1);
    let mut deps = Deps::new();
    hazards.read_deps(&all, DomainId::HOST, &mut deps);
    assert_eq!(deps.as_slice(), [Dep { stamp: by, flow: Flow::USES }]);
}

/// FUSE-06: forgotten contents are no source, and the next write comes after their writers.
#[test]
fn forgotten_writers_only_order() {
    let mut hazards = Hazards::new([1, 1, 2]);
    let mut pending = |_| Outcome::Pending;
    let (all, device) = (Box3::whole([1, 1, 2]), DomainId(1));
    let (writer, copy) = (stamp(0, 1), stamp(1, 1));
    let how = (Writing::Update, false, false);
    hazards.mark_written(&all, device, writer, how, &mut pending);
    hazards.mark_arrival(&all, DomainId::HOST, copy, (true, true), &mut pending);
    hazards.forget(&all, &mut pending);
    let mut deps = Deps::new();
    hazards.read_deps(&all, device, &mut deps);
    assert!(deps.is_empty(), "{deps:?}");
    hazards.write_deps(&all, device, Writing::Update, &mut deps);
    let order = |stamp| Dep { stamp, flow: Flow::ORDER };
    assert_eq!(deps.as_slice(), [order(writer), order(copy)]);
}

#[test]
fn a_planted_missing_write_after_read_edge_shows() {
    let mut hazards = Hazards::new([1, 1, 1]);
    let all = Box3::whole([1, 1, 1]);
    let mut pending = |_| Outcome::Pending;
    hazards.mark_read(&all, stamp(1, 1), &mut pending);
    let mut deps = Deps::new();
    hazards.write_deps(&all, DomainId::HOST, Writing::Replace, &mut deps);
    assert_eq!(deps.as_slice(), [Dep { stamp: stamp(1, 1), flow: Flow::ORDER }]);
}

/// Where failed arrivals were.
fn failed(hazards: &mut Hazards, stamps: &[Stamp]) -> Vec<Box3> {
    let (all, mut gone) = (Box3::whole([1, 1, 4]), Vec::new());
    hazards.take_failed(&all, &|s| stamps.contains(&s), |pages, _, _| gone.push(pages));
    gone
}

/// BUF-07: what replaces an arrival before that is known to have come answers for the memory in its
/// place.
#[test]
fn a_failed_arrival_is_found_once_where_it_still_counts() {
    let mut hazards = Hazards::new([1, 1, 4]);
    let mut pending = |_| Outcome::Pending;
    let (all, device) = (Box3::whole([1, 1, 4]), DomainId(1));
    let (fill, copy, kernel, other) = (stamp(0, 1), stamp(0, 2), stamp(0, 3), stamp(0, 4));
    hazards.mark_arrival(&all, device, fill, (true, false), &mut pending);
    hazards.mark_arrival(&all, device, copy, (true, true), &mut pending);
    // Page 0 is replaced, page 1 updated in place, pages 2 and 3 stay as they came.
    let cell = |x| Box3::cell([0, 0, x]);
    let how = (Writing::Replace, false, false);
    hazards.mark_written(&cell(0), device, kernel, how, &mut pending);
    let how = (Writing::Update, false, false);
    hazards.mark_written(&cell(1), device, other, how, &mut pending);
    let tail = Box3 { min: [0, 0, 2], max: [1, 1, 4] };
    assert_eq!(failed(&mut hazards, &[fill, copy]), [cell(1), tail]);
    assert!(failed(&mut hazards, &[fill, copy, other]).is_empty());
    assert_eq!(failed(&mut hazards, &[kernel]), [cell(0)]);
}

/// BUF-07: who has spoilt memory is found once, also when others have written elsewhere since; what
/// has replaced that memory makes it right.
#[test]
fn spoilt_memory_is_found_once_where_it_still_counts() {
    let mut hazards = Hazards::new([1, 1, 4]);
    let mut pending = |_| Outcome::Pending;
    let (all, here, there) = (Box3::whole([1, 1, 4]), DomainId(1), DomainId(2));
    let (spoilt, other, copy) = (stamp(0, 1), stamp(1, 1), stamp(0, 2));
    let cell = |x| Box3::cell([0, 0, x]);
    let how = (Writing::Update, false, false);
    hazards.mark_written(&all, here, spoilt, how, &mut pending);
    // Page 1 is written elsewhere, page 2 also brought back, page 3 written here again.
    hazards.mark_written(&cell(1), there, other, how, &mut pending);
    hazards.mark_written(&cell(2), there, other, how, &mut pending);
    hazards.mark_arrival(&cell(2), here, copy, (true, true), &mut pending);
    hazards.mark_written(&cell(3), here, other, how, &mut pending);
    let found = |hazards: &mut Hazards| {
        let (mut pages, is) = (Vec::new(), |s| s == spoilt);
        hazards.take_spoilt(&all, &is, &is, |run, domain| pages.push((run, domain)));
        pages
    };
    assert_eq!(found(&mut hazards), [(cell(0), here), (cell(1), here)]);
    assert!(found(&mut hazards).is_empty());
    // It is dealt with: whoever discards now is not concerned, whoever reads is.
    let mut deps = Deps::new();
    hazards.write_deps(&cell(0), here, Writing::Discard, &mut deps);
    assert_eq!(deps.as_slice(), [Dep { stamp: spoilt, flow: Flow::ORDER }]);
    hazards.read_deps(&cell(0), here, &mut deps);
    assert_eq!(deps.as_slice(), [Dep { stamp: spoilt, flow: Flow::USES }]);
}
