//! The steps before a command can run, as a value.
//!
//! A plan is made of what the ledger knows and changes nothing of it: which pages are outdated
//! where the command uses them, from where they come, and which hold nothing yet. [`apply`]
//! submits it. Its steps depend on what was submitted before, and not on each other, but for those
//! of a [link](crate::engine::memory::link), which are done in turn. The command comes after all of
//! them.
//!
//! A page is made current on its target together with the stamp of the copy that brings it. The
//! next use of the page waits for the copy, and for no other use of it.

pub(crate) mod apply;
pub(crate) mod copies;
pub(crate) mod staged;
pub(crate) mod union;

use crate::engine::ledger::Ledger;
use crate::engine::ledger::Planning;
use crate::engine::ledger::storages::Storages;
use crate::engine::ledger::timeline::Timeline;
use crate::engine::ledger::topology::Topology;
use crate::engine::pages::pieces::Fragment;
use crate::engine::pages::storage::{StorageId, StorageState};
use crate::engine::terms::access::{Access, Mode};
use crate::geom::Box3;
use crate::hal::Side;
use crate::order::hazards::{Deps, Outcome, add_dep};
use crate::pages::{DomainId, DomainSet, Need, PageMap};
use smallvec::SmallVec;

/// The steps before a command, and its dependencies.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<PlanStep>,
    /// Other stamps that the command comes after.
    pub(crate) deps: Deps,
}

/// Something to do with pages of a storage.
pub(crate) struct PlanStep {
    pub(crate) storage: StorageId,
    /// On which domain they are kept track of.
    pub(crate) on: DomainId,
    /// Whose memory that is: the same, but for one side of a link.
    pub(crate) at: DomainId,
    /// The change of these pages.
    pub(crate) pages: SmallVec<[Box3; 2]>,
    pub(crate) what: What,
}

/// A change of pages.
pub(crate) enum What {
    /// They are copied there: so many of these boxes of pages as a whole; the others are in pieces,
    /// of which what is missing is copied.
    Bring { whole: usize, copies: SmallVec<[Copies; 1]> },
    /// They are zeroed, but for these elements.
    Zero { spared: Box3, after: Deps },
    /// They hold something that may be seen: all of their pieces are there.
    Complete,
    /// Only lost devices have them, on these domains: the command fails.
    Lost { from: DomainSet },
    /// No pages: the other side of the link is active from then on.
    Switch { to: Side },
}

/// Copies from one domain.
pub(crate) struct Copies {
    pub(crate) from: DomainId,
    /// Elements.
    pub(crate) boxes: SmallVec<[Box3; 2]>,
    pub(crate) after: Deps,
}

/// The parts of a memory that are outdated.
#[derive(Default)]
struct OutdatedParts {
    needs: SmallVec<[Need; 2]>,
    /// The pages of the needs; those that it needs whole, and those of which it needs pieces.
    whole: SmallVec<[Box3; 2]>,
    parts: SmallVec<[Box3; 2]>,
    /// Pages that only lost devices have, and where those have them.
    gone: SmallVec<[Box3; 2]>,
    gone_on: DomainSet,
}

impl Plan {
    /// True if some step is about pages of a storage on a domain.
    fn touches(&self, id: StorageId, domain: DomainId) -> bool {
        self.steps.iter().any(|step| (step.storage, step.on) == (id, domain))
    }

    /// The parts of `pages` of which no step sees to what is on `domain`.
    fn left(&self, id: StorageId, domain: DomainId, pages: &Box3) -> SmallVec<[Box3; 2]> {
        let mut left = SmallVec::new();
        if !self.touches(id, domain) {
            left.push(*pages);
            return left;
        }
        let mut seen_to = PageMap::new(pages.max, false);
        for step in self.steps.iter().filter(|step| (step.storage, step.on) == (id, domain)) {
            step.pages.iter().for_each(|pages| seen_to.set(pages, true));
        }
        seen_to.visit(pages, &mut |run, seen_to| {
            if !seen_to {
                left.push(run);
            }
        });
        left
    }
}

impl StorageState {
    /// The pages that `domain` lacks.
    fn outdated(&self, pages: &[Box3], domain: DomainId, lost: DomainSet) -> OutdatedParts {
        let mut found = OutdatedParts::default();
        pages.iter().for_each(|pages| self.add_outdated(pages, domain, lost, &mut found));
        found
    }

    /// The parts of `pages` which `domain` lacks and only lost devices have.
    pub(super) fn only_on_lost(
        &self,
        pages: &[Box3],
        domain: DomainId,
        lost: DomainSet,
    ) -> SmallVec<[Box3; 2]> {
        self.outdated(pages, domain, lost).gone
    }

    fn add_outdated(
        &self,
        pages: &Box3,
        domain: DomainId,
        lost: DomainSet,
        out: &mut OutdatedParts,
    ) {
        let OutdatedParts { needs, whole, parts, gone, gone_on } = out;
        let residency = &self.residency;
        residency.tracker().visit(pages, &mut |run, set| {
            if set.is_empty() || set.contains(domain) {
                return;
            }
            let mut need = |pages: Box3, all: DomainSet| {
                let sources = all.minus(lost);
                if sources.is_empty() {
                    *gone_on = gone_on.union(all);
                    return gone.push(pages);
                }
                needs.push(Need { elements: residency.grid.elements_of(&pages), sources });
                whole.push(pages);
            };
            residency.pieces.visit(&run, &mut |run, fragments| {
                if !fragments.is_empty() {
                    return;
                }
                if !residency.tracker().is_foreign() {
                    return need(run, set);
                }
                // A user's tracker may name a domain that holds nothing: such a source is none.
                residency.defined.visit(&run, &mut |part, defined: DomainSet| {
                    let real = set.intersect(defined);
                    if !real.is_empty() {
                        self.unheld(&part, domain, &mut |part| need(part, real));
                    }
                });
            });
        });
        // Of pages in pieces only what is missing is written, even if some domain has all of it:
        // should the copies that brought it there fail, nothing is lost.
        let mut add_fragments = |run: Box3, fragments: &[Fragment]| {
            let before = needs.len();
            for fragment in fragments {
                let all = fragment.on();
                let sources = all.minus(lost);
                if all.is_empty() || all.contains(domain) {
                    // Nobody: who wrote it has failed, and so does this command.
                } else if sources.is_empty() {
                    *gone_on = gone_on.union(all);
                    gone.push(run);
                } else {
                    let part = &fragment.elements;
                    let need = &mut |elements| needs.push(Need { elements, sources });
                    residency.grid.parts_of(&run, part, need);
                }
            }
            if needs.len() > before {
                parts.push(run);
            }
        };
        residency.pieces.visit(pages, &mut |run, fragments| {
            self.unheld(&run, domain, &mut |run| add_fragments(run, fragments));
        });
    }
}

/// The facts for planning.
#[derive(Clone, Copy)]
pub(crate) struct View<'l> {
    pub(crate) storages: &'l Storages,
    pub(crate) timeline: &'l Timeline,
    pub(crate) topology: &'l Topology,
}

impl Ledger {
    /// The facts for planning.
    pub(crate) fn view(&self) -> View<'_> {
        let Ledger { storages, timeline, topology, .. } = self;
        View { storages, timeline, topology }
    }
}

impl View<'_> {
    /// The steps before a command of these accesses, which also uses all of `raw` by its address.
    /// Changes nothing.
    pub(crate) fn plan(
        &self,
        accesses: &[Access],
        raw: &[(StorageId, DomainId)],
        with: &mut Planning,
    ) -> Plan {
        let mut plan = Plan::default();
        // Those that need what is there first: then a discard of a part of the same page finds it.
        for a in accesses.iter().filter(|a| !a.mode.discards()) {
            self.plan_access(a, &mut plan, with);
        }
        for a in accesses.iter().filter(|a| a.mode.discards()) {
            self.plan_access(a, &mut plan, with);
        }
        // Who uses nothing needs no turn.
        for a in accesses.iter().filter(|a| !a.elements.is_empty()) {
            self.plan_side(a.storage, a.domain, &mut plan);
        }
        for &(id, domain) in raw {
            // Memory of USM that is used raw is defined first: the engine does not see what becomes
            // of it then.
            let all = self.storages[id.0].residency.grid.all();
            let zeros = (&all, &Box3::EMPTY, &Box3::EMPTY, &[][..]);
            self.plan_zero(id, zeros, (domain, domain), &mut plan, &with.before);
        }
        plan
    }

    /// Makes the pages of an access usable where it is.
    fn plan_access(&self, a: &Access, plan: &mut Plan, with: &mut Planning) {
        let (place, residency) = (a.place, &self.storages[a.storage.0].residency);
        let all = residency.pages(a);
        if all.is_empty() {
            return;
        }
        if !a.mode.discards() && !residency.is_current(&all, place) {
            let pages = plan.left(a.storage, place, &all);
            self.plan_copies(a.storage, &pages, place, plan, with);
        }
        let unsure = residency.unsure_rests(a, &|s| self.timeline.outcome(s));
        let undefined = !residency.is_defined(&all, place);
        if undefined {
            self.plan_completion(a, plan, with);
        }
        if undefined || !unsure.is_empty() {
            let replaced = match a.mode {
                Mode::Discard { whole: true } => residency.grid.pages_inside(&a.elements),
                Mode::Read | Mode::Update | Mode::Discard { whole: false } => Box3::EMPTY,
            };
            let zeros = (&all, &replaced, &Box3::EMPTY, &*unsure);
            self.plan_zero(a.storage, zeros, (place, a.domain), plan, &with.before);
        }
    }

    /// Copies what is outdated on `domain`.
    fn plan_copies(
        &self,
        id: StorageId,
        pages: &[Box3],
        domain: DomainId,
        plan: &mut Plan,
        with: &mut Planning,
    ) {
        let storage = &self.storages[id.0];
        let found = storage.outdated(pages, domain, self.topology.lost);
        if !found.gone.is_empty() {
            let what = What::Lost { from: found.gone_on };
            plan.steps.push(PlanStep {
                storage: id,
                on: domain,
                at: domain,
                pages: found.gone,
                what,
            });
            return;
        }
        if found.needs.is_empty() {
            return;
        }
        let link = |from| self.topology.link(from, domain);
        let Planning { planner, transfers, .. } = with;
        planner.plan(&found.needs, storage.element_bytes, &link, transfers);
        transfers.sort_by_key(|transfer| transfer.source);
        let copies = transfers.chunk_by(|a, b| a.source == b.source).map(|group| {
            let from = group[0].source;
            let boxes: SmallVec<[Box3; 2]> = group.iter().map(|t| t.elements).collect();
            let mut after = Deps::new();
            for elements in &boxes {
                storage.residency.copy_deps(elements, from, domain, &mut after);
            }
            Copies { from, boxes, after }
        });
        let copies: SmallVec<[Copies; 1]> = copies.collect();
        for from in copies.iter().map(|copies| copies.from) {
            self.plan_side(id, from, plan);
        }
        self.plan_side(id, domain, plan);
        let what = What::Bring { copies, whole: found.whole.len() };
        let mut pages = found.whole;
        pages.extend(found.parts);
        plan.steps.push(PlanStep { storage: id, on: domain, at: domain, pages, what });
    }

    /// Gives linked memory to the side that uses `domain`'s.
    fn plan_side(&self, id: StorageId, domain: DomainId, plan: &mut Plan) {
        let storage = &self.storages[id.0];
        let (Some(link), Some(to)) = (&storage.link, storage.side(domain)) else { return };
        let switched = |step: &PlanStep| match step.what {
            What::Switch { to } if step.storage == id => Some(to),
            _ => None,
        };
        if plan.steps.iter().rev().find_map(switched).unwrap_or(link.turn.active) != to {
            let (on, at) = (DomainId::HOST, link.device);
            let (pages, what) = (SmallVec::new(), What::Switch { to });
            plan.steps.push(PlanStep { storage: id, on, at, pages, what });
        }
    }

    /// After a copy that failed, some pieces of a page may be here and its memory not be defined.
    /// The page is not zeroed then, unless all of it is discarded: what is missing is brought. A
    /// discard of a part of it counts as an update.
    fn plan_completion(&self, a: &Access, plan: &mut Plan, with: &mut Planning) {
        let (domain, storage) = (a.place, &self.storages[a.storage.0]);
        let residency = &storage.residency;
        if residency.pieces.is_empty() {
            return;
        }
        let discarded = match a.mode.discards() {
            true => residency.grid.pages_inside(&a.elements),
            false => Box3::EMPTY,
        };
        let left = plan.left(a.storage, domain, &residency.pages(a));
        for page in left.iter().flat_map(|p| residency.incomplete(p, &discarded, domain)) {
            let mut writers = Deps::new();
            residency.hazards.read_deps(&page, domain, &mut writers);
            if writers.iter().any(|d| self.timeline.outcome(d.stamp) == Outcome::Failed) {
                // The memory is not to be seen before all of it is written.
                continue;
            }
            if residency.is_current(&page, domain) {
                let pages = [page].into_iter().collect();
                let what = What::Complete;
                let at = domain;
                plan.steps.push(PlanStep { storage: a.storage, on: domain, at, pages, what });
            } else if a.mode.discards() {
                plan.deps.append(&mut writers);
                self.plan_copies(a.storage, &[page], domain, plan, with);
            }
        }
    }

    /// Zeroes the pages that hold nothing on `domain`, in the memory of `at`, other than those in
    /// `replaced`, and but for the elements in `spared`; also those of `unsure`.
    fn plan_zero(
        &self,
        id: StorageId,
        (pages, replaced, spared, unsure): (&Box3, &Box3, &Box3, &[Box3]),
        (domain, at): (DomainId, DomainId),
        plan: &mut Plan,
        before: &Deps,
    ) {
        let storage = &self.storages[id.0];
        let residency = &storage.residency;
        let mut holes: SmallVec<[Box3; 2]> = SmallVec::new();
        for pages in plan.left(id, domain, pages) {
            residency.defined.visit(&pages, &mut |run, set: DomainSet| {
                if !set.contains(domain) {
                    run.subtract(replaced, |part| holes.push(part));
                }
            });
            for run in unsure.iter().map(|run| run.intersect(&pages)).filter(|run| !run.is_empty())
            {
                residency.defined.visit(&run, &mut |run, set: DomainSet| {
                    if set.contains(domain) {
                        holes.push(run);
                    }
                });
            }
        }
        if holes.is_empty() {
            return;
        }
        merge(&mut holes);
        let mut after = Deps::new();
        if storage.home.is_some() {
            // Raw commands use it, too. Those that the program lets run beside this command do not
            // touch what it touches; but this touches everything.
            before.iter().for_each(|d| add_dep(&mut after, d.stamp, false));
            storage.raw.iter().for_each(|stamp| add_dep(&mut after, *stamp, false));
        }
        holes.iter().for_each(|hole| residency.zero_deps(hole, domain, &mut after));
        let what = What::Zero { spared: *spared, after };
        self.plan_side(id, at, plan);
        plan.steps.push(PlanStep { storage: id, on: domain, at, pages: holes, what });
    }

    /// The program has written all of an access. Elements beside it are zeroed, in pages that hold
    /// nothing where it is.
    fn plan_surroundings(&self, a: &Access) -> Plan {
        let residency = &self.storages[a.storage.0].residency;
        let inside = residency.grid.pages_inside(&a.elements);
        let mut plan = Plan::default();
        let zeros = (&residency.pages(a), &inside, &a.elements, &[][..]);
        self.plan_zero(a.storage, zeros, (a.place, a.domain), &mut plan, &Deps::new());
        plan
    }
}

/// Joins boxes that touch, one pass per neighbour.
fn merge(boxes: &mut SmallVec<[Box3; 2]>) {
    let mut out: SmallVec<[Box3; 2]> = SmallVec::new();
    for b in boxes.drain(..) {
        match out.last_mut().and_then(|last| last.joined(&b).map(|j| (last, j))) {
            Some((last, joined)) => *last = joined,
            None => out.push(b),
        }
    }
    *boxes = out;
}

#[cfg(all(test, not(loom)))]
mod tests;
