//! Who must be waited for: last writers, readers since, and copies under way, for each page.
//!
//! All pages that are alike share one [`PageState`]; the map from pages to states is a
//! [`PageMap`], so one page costs O(1) and a whole buffer collapses to one state. Knows
//! nothing of lanes or slots: stamps are opaque, and whether one is done is asked of the caller.
//!
//! A *flow* dependency is one along which data, and so failure, travels: from a writer, or from the
//! copy that brought the data. Most others only order; see [`Flow`].

use crate::geom::{Box3, Dims};
use crate::order::stamp::{LaneId, Stamp};
use crate::pages::{DomainId, PageMap};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// How a stamp stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// Not done.
    Pending,
    /// Done and well.
    Fine,
    /// Done, and failed.
    Failed,
}

/// The kind of a dependency, besides order. A failed operation may have *spoilt* the memory that it
/// should have written: that may hold what is no value of anything.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Flow(u8);

impl Flow {
    /// Nothing.
    pub(crate) const ORDER: Flow = Flow(0);
    /// The data that it made are used: failure travels.
    pub(crate) const USES: Flow = Flow(1);
    /// Where it wrote some may stay as it is: the failure travels if that memory is spoilt.
    pub(crate) const KEEPS: Flow = Flow(2);
    /// Where it wrote is written again: who does not run leaves it spoilt, if it was.
    pub(crate) const COVERS: Flow = Flow(4);
    /// The switch gives the memory to the side that uses it: no operation is handed over behind it
    /// before it has ended well. A lane runs what it has, whatever has failed before.
    pub(crate) const TURN: Flow = Flow(8);

    /// True if it is one of these, too.
    pub(crate) fn has(self, any: Flow) -> bool {
        self.0 & any.0 != 0
    }

    /// True if the failure of what comes before is one of who comes after.
    pub(crate) fn carries(self, spoilt: bool) -> bool {
        self.has(Flow::USES) || spoilt && self.has(Flow::KEEPS)
    }
}

impl std::ops::BitOr for Flow {
    type Output = Flow;

    fn bitor(self, other: Flow) -> Flow {
        Flow(self.0 | other.0)
    }
}

impl From<bool> for Flow {
    fn from(uses: bool) -> Flow {
        if uses { Flow::USES } else { Flow::ORDER }
    }
}

/// A stamp to wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dep {
    pub(crate) stamp: Stamp,
    pub(crate) flow: Flow,
}

/// A set of dependencies being gathered.
pub(crate) type Deps = SmallVec<[Dep; 6]>;

/// How many of the latest dependencies are searched for an equal one while gathering.
const RECENT: usize = 8;

/// Adds a dependency, or strengthens the one that is there. Far-apart repetitions stay until
/// [`tidy`].
pub(crate) fn add_dep(deps: &mut Deps, stamp: Stamp, flow: impl Into<Flow>) {
    if stamp == Stamp::DONE {
        return;
    }
    let flow = flow.into();
    match deps.iter_mut().rev().take(RECENT).find(|d| d.stamp == stamp) {
        Some(dep) => dep.flow = dep.flow | flow,
        None => deps.push(Dep { stamp, flow }),
    }
}

/// Removes repetitions.
pub(crate) fn tidy(deps: &mut Deps) {
    if deps.len() > RECENT {
        deps.sort_unstable_by_key(|d| d.stamp);
        deps.dedup_by(|again, dep| {
            let same = again.stamp == dep.stamp;
            if same {
                dep.flow = dep.flow | again.flow;
            }
            same
        });
    }
}

/// The writers, readers and arrivals of pages that are alike.
#[derive(Clone, Debug, Default)]
struct PageState {
    /// How many pages.
    pages: usize,
    /// How many of them the update in progress has met, and the state that they get.
    met: usize,
    becomes: u32,
    /// Whose data the pages hold. Several only after discards of parts of a page.
    writers: SmallVec<[Writer; 1]>,
    /// Who wrote before that, elsewhere: where nothing has replaced what they left in memory.
    older: SmallVec<[Writer; 1]>,
    /// Who reads it; one per lane.
    readers: SmallVec<[Stamp; 4]>,
    /// Operations under way that make the pages' memory on a domain hold something.
    arrivals: SmallVec<[Arrival; 2]>,
}

impl PageState {
    /// `stamp` reads.
    fn read(&mut self, stamp: Stamp, outcome: &mut dyn FnMut(Stamp) -> Outcome) {
        let lane = stamp.lane();
        if let Some(slot) = same_lane(&mut self.readers, lane) {
            *slot = (*slot).max(stamp);
        } else {
            let len = self.readers.len();
            // Looked through at 4, 8, 16, ..: constant cost per reader.
            if len >= 4 && len.is_power_of_two() {
                self.readers.retain(|r| outcome(*r) == Outcome::Pending);
            }
            self.readers.push(stamp);
        }
    }

    /// `stamp` writes everything on `domain`, after everything else.
    #[inline]
    fn written(
        &mut self,
        stamp: Stamp,
        domain: DomainId,
        outcome: &mut dyn FnMut(Stamp) -> Outcome,
    ) {
        let new = Writer { stamp, domain, healed: false };
        match self.writers.as_mut_slice() {
            [writer] => *writer = new,
            _ => {
                self.writers.clear();
                self.writers.push(new);
            }
        }
        if !self.readers.is_empty() || !self.arrivals.is_empty() || !self.older.is_empty() {
            self.readers.clear();
            self.arrivals.retain(|arrival| outcome(arrival.stamp) != Outcome::Fine);
            self.arrivals.iter_mut().for_each(|arrival| arrival.live = false);
            self.older.clear();
        }
    }
}

/// The writers, readers and arrivals of a storage whose pages are alike.
pub(crate) struct RestingPages<'a> {
    pub(crate) writers: &'a [Writer],
    pub(crate) older: &'a [Writer],
    pub(crate) readers: &'a [Stamp],
    pub(crate) arrivals: &'a [Arrival],
}

/// Whose data pages hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Writer {
    pub(crate) stamp: Stamp,
    /// Where it wrote.
    pub(crate) domain: DomainId,
    /// The writer has failed, and what that did to the memory is dealt with.
    healed: bool,
}

impl Writer {
    /// The relation of a write on `domain` to it, by what it leaves in memory.
    fn leaves(&self, domain: DomainId, how: Writing) -> Flow {
        match (self.domain == domain && !self.healed, how) {
            (false, _) => Flow::ORDER,
            (true, Writing::Discard) => Flow::KEEPS | Flow::COVERS,
            (true, Writing::Update | Writing::Replace) => Flow::COVERS,
        }
    }
}

/// A copy or fill under way into the memory of a domain, or one that has failed and that nobody has
/// dealt with. An arrival outlives a later write of the pages: elements that the write leaves alone
/// are still those of the arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrival {
    domain: DomainId,
    pub(crate) stamp: Stamp,
    /// The pages still hold what it copies.
    live: bool,
}

impl Arrival {
    /// Uses of the pages on this domain come after it, and fail with it.
    pub(crate) fn is_to(&self, domain: DomainId) -> bool {
        self.domain == domain
    }
}

/// How a command writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Writing {
    /// The write uses what is there.
    Update,
    /// The write uses nothing of what is there, but may leave some as it is.
    Discard,
    /// The write is known to cover every element.
    Replace,
}

/// Beyond this many unfinished discards of parts of one page, a further one counts as reading
/// what was there: order is exact still, failure becomes coarser, memory stays bounded.
const MOST_WRITERS: usize = 16;

/// The hazards of one storage.
pub(crate) struct Hazards {
    map: PageMap<u32>,
    states: Vec<PageState>,
    free: Vec<u32>,
    /// The states that the update in progress has met.
    touched: Vec<u32>,
}

impl Hazards {
    pub(crate) fn new(pages: Dims) -> Hazards {
        let count = pages[0] * pages[1] * pages[2];
        Hazards {
            map: PageMap::new(pages, 0),
            states: vec![PageState { pages: count, ..PageState::default() }],
            free: Vec::new(),
            touched: Vec::new(),
        }
    }

    /// There are other pages from now on: what `moved` makes of the pages of a run has its state.
    pub(crate) fn cut(&mut self, pages: Dims, moved: &dyn Fn(&Box3) -> Box3) {
        let mut map = PageMap::new(pages, 0);
        self.states.iter_mut().for_each(|state| state.pages = 0);
        let states = &mut self.states;
        self.map.visit(&Box3::whole(self.map.dims()), &mut |run, id| {
            let run = moved(&run);
            map.set(&run, id);
            if let Some(state) = states.get_mut(id as usize) {
                state.pages += run.volume();
            }
        });
        self.map = map;
    }

    /// How many different states the pages are in.
    #[cfg(test)]
    pub(crate) fn states(&self) -> usize {
        self.states.len() - self.free.len()
    }

    /// The state of all pages, if they are alike.
    #[inline]
    pub(crate) fn at_rest(&self) -> Option<RestingPages<'_>> {
        let state = self.states.get(self.map.flat()? as usize)?;
        let PageState { writers, older, readers, arrivals, .. } = state;
        Some(RestingPages { writers, older, readers, arrivals })
    }

    /// The latest writer of all pages, if they are alike.
    #[inline]
    pub(crate) fn writer(&self) -> Option<Stamp> {
        let state = self.states.get(self.map.flat()? as usize)?;
        state.writers.last().map(|writer| writer.stamp)
    }

    /// `stamp`, which comes after all arrivals and, if it writes there, after everything else, uses
    /// all pages, which are alike. Nobody has written elsewhere who is not done.
    #[inline]
    pub(crate) fn mark_at_rest(
        &mut self,
        stamp: Stamp,
        writes: Option<DomainId>,
        outcome: &mut dyn FnMut(Stamp) -> Outcome,
    ) {
        let Some(id) = self.map.flat() else { return };
        let Some(state) = self.states.get_mut(id as usize) else { return };
        match writes {
            Some(domain) => state.written(stamp, domain, outcome),
            None => state.read(stamp, outcome),
        }
    }

    /// Every stamp along which a later command may get data, and failure.
    pub(crate) fn each_source(&self, f: &mut dyn FnMut(Stamp)) {
        for state in self.states.iter().filter(|state| state.pages > 0) {
            state.writers.iter().chain(&state.older).for_each(|writer| f(writer.stamp));
            state.arrivals.iter().for_each(|arrival| f(arrival.stamp));
        }
    }

    /// The arrivals under way, by domain.
    pub(crate) fn arrivals(&self) -> impl Iterator<Item = (DomainId, Stamp)> {
        let states = self.states.iter().filter(|state| state.pages > 0);
        states.flat_map(|state| &state.arrivals).map(|arrival| (arrival.domain, arrival.stamp))
    }

    fn each(&self, range: &Box3, mut f: impl FnMut(&PageState)) {
        if let Some(id) = self.map.uniform(range) {
            if let Some(state) = self.states.get(id as usize) {
                f(state);
            }
            return;
        }
        let mut last = u32::MAX;
        self.map.visit(range, &mut |_, id| {
            if id != last {
                last = id;
                if let Some(state) = self.states.get(id as usize) {
                    f(state);
                }
            }
        });
    }

    /// The stamps that a read of `range` on `domain` waits for.
    pub(crate) fn read_deps(&self, range: &Box3, domain: DomainId, deps: &mut Deps) {
        self.each(range, |state| {
            state.writers.iter().for_each(|w| add_dep(deps, w.stamp, true));
            for a in state.arrivals.iter().filter(|a| a.domain == domain) {
                add_dep(deps, a.stamp, true);
            }
            // Data that a copy has not replaced are not looked at, unless a tracker lies.
            for w in state.older.iter().filter(|w| w.domain == domain) {
                add_dep(deps, w.stamp, Flow::KEEPS);
            }
        });
    }

    /// The pages of `range`, apart where different operations, which have not ended well, make what
    /// they hold.
    pub(crate) fn by_fate(
        &self,
        range: &Box3,
        outcome: &dyn Fn(Stamp) -> Outcome,
    ) -> Vec<SmallVec<[Box3; 2]>> {
        let mut fates: BTreeMap<SmallVec<[Stamp; 2]>, SmallVec<[Box3; 2]>> = BTreeMap::new();
        self.map.visit(range, &mut |pages, id| {
            let Some(state) = self.states.get(id as usize) else { return };
            let writers = state.writers.iter().map(|writer| writer.stamp);
            let arrivals = state.arrivals.iter().map(|arrival| arrival.stamp);
            let unsure = writers.chain(arrivals).filter(|stamp| outcome(*stamp) != Outcome::Fine);
            let mut fate: SmallVec<[Stamp; 2]> = unsure.collect();
            fate.sort_unstable();
            let of_fate = fates.entry(fate).or_default();
            match of_fate.last_mut().and_then(|last| last.joined(&pages).map(|all| (last, all))) {
                Some((last, joined)) => *last = joined,
                None => of_fate.push(pages),
            }
        });
        fates.into_values().collect()
    }

    /// The stamps that another write into the memory of `range` on `domain`, by a copy or fill,
    /// comes after.
    pub(crate) fn order_arrivals(&self, range: &Box3, domain: DomainId, deps: &mut Deps) {
        self.each(range, |state| {
            for a in state.arrivals.iter().filter(|a| a.domain == domain) {
                add_dep(deps, a.stamp, false);
            }
        });
    }

    /// The pages of `range` into whose memory on `domain` something comes, or has come, that is not
    /// known to be well.
    pub(crate) fn unsure(
        &self,
        range: &Box3,
        domain: DomainId,
        outcome: &dyn Fn(Stamp) -> Outcome,
        mut out: impl FnMut(Box3),
    ) {
        self.map.visit(range, &mut |run, id| {
            let Some(state) = self.states.get(id as usize) else { return };
            let writers = state.writers.iter().chain(&state.older);
            let writers = writers.filter(|w| w.domain == domain && !w.healed).map(|w| w.stamp);
            let arrivals = state.arrivals.iter().filter(|a| a.domain == domain).map(|a| a.stamp);
            if writers.chain(arrivals).any(|stamp| outcome(stamp) != Outcome::Fine) {
                out(run);
            }
        });
    }

    /// Everything that uses `range` anywhere, only to come after it.
    pub(crate) fn order_all(&self, range: &Box3, deps: &mut Deps) {
        self.each(range, |state| {
            let arrivals = state.arrivals.iter().map(|a| a.stamp);
            let writers = state.writers.iter().map(|w| w.stamp);
            let all = writers.chain(state.readers.iter().copied()).chain(arrivals);
            all.for_each(|stamp| add_dep(deps, stamp, false));
        });
    }

    /// The stamps that a write of `range` on `domain` waits for. Unless it replaces everything it
    /// depends on what comes to its memory: that is what it leaves alone.
    pub(crate) fn write_deps(&self, range: &Box3, domain: DomainId, how: Writing, deps: &mut Deps) {
        self.each(range, |state| {
            for w in &state.writers {
                let uses = Flow::from(how == Writing::Update);
                add_dep(deps, w.stamp, w.leaves(domain, how) | uses);
            }
            for w in state.older.iter().filter(|w| w.domain == domain) {
                add_dep(deps, w.stamp, w.leaves(domain, how));
            }
            state.readers.iter().for_each(|&r| add_dep(deps, r, false));
            for a in &state.arrivals {
                add_dep(deps, a.stamp, a.domain == domain && how != Writing::Replace);
            }
        });
    }

    /// A stamp that the latest use of the first pages of `range` left, for choosing a lane.
    pub(crate) fn latest(&self, range: &Box3, writes: bool) -> Option<Stamp> {
        if range.is_empty() {
            return None;
        }
        let state = self.states.get(self.map.get(range.min) as usize)?;
        let reader = state.readers.last().filter(|_| writes).copied();
        reader.or(state.writers.last().map(|w| w.stamp))
    }

    /// True when a further discard of a part of a page must count as reading it.
    pub(crate) fn crowded(&self, range: &Box3) -> bool {
        let mut crowded = false;
        self.each(range, |state| crowded |= state.writers.len() >= MOST_WRITERS);
        crowded
    }

    /// `stamp` reads `range`.
    pub(crate) fn mark_read(
        &mut self,
        range: &Box3,
        stamp: Stamp,
        outcome: &mut dyn FnMut(Stamp) -> Outcome,
    ) {
        self.update(range, &mut |state| state.read(stamp, outcome));
    }

    /// `stamp` writes `range` on `domain`; `keep` when it leaves some of each page as it was. With
    /// `first`, and if it replaces what comes to its memory, that holds nothing should it fail.
    pub(crate) fn mark_written(
        &mut self,
        range: &Box3,
        domain: DomainId,
        stamp: Stamp,
        (how, keep, first): (Writing, bool, bool),
        outcome: &mut dyn FnMut(Stamp) -> Outcome,
    ) {
        let replaces = how == Writing::Replace && !keep;
        self.update(range, &mut |state| {
            if keep {
                state.writers.retain(|w| outcome(w.stamp) != Outcome::Fine);
            } else {
                state.older.append(&mut state.writers);
                state.older.retain(|w| {
                    w.domain != domain && !w.healed && outcome(w.stamp) != Outcome::Fine
                });
            }
            state.writers.push(Writer { stamp, domain, healed: false });
            state.readers.clear();
            state.arrivals.retain(|a| outcome(a.stamp) != Outcome::Fine);
            let before = state.arrivals.len();
            state.arrivals.retain(|a| !(replaces && a.domain == domain));
            if !keep {
                state.arrivals.iter_mut().for_each(|a| a.live = false);
            }
            if first || state.arrivals.len() < before {
                state.arrivals.push(Arrival { domain, stamp, live: false });
            }
        });
        if !keep {
            self.unite(range);
        }
    }

    /// `stamp` brings something to the memory of `range` on `domain`: to all of each page, if
    /// `whole`; contents, if `live`.
    pub(crate) fn mark_arrival(
        &mut self,
        range: &Box3,
        domain: DomainId,
        stamp: Stamp,
        (whole, live): (bool, bool),
        outcome: &mut dyn FnMut(Stamp) -> Outcome,
    ) {
        self.update(range, &mut |state| {
            let replaced = |a: &Arrival| whole && a.domain == domain;
            state.arrivals.retain(|a| !replaced(a) && outcome(a.stamp) != Outcome::Fine);
            state.older.retain(|w| !(whole && w.domain == domain));
            if whole && !live {
                let there = state.writers.iter_mut().filter(|w| w.domain == domain);
                there.for_each(|w| w.healed = true);
            }
            state.arrivals.push(Arrival { domain, stamp, live });
        });
    }

    /// The copies whose contents the pages of `range` hold, as long as they have not failed.
    pub(crate) fn arriving(&self, range: &Box3, mut out: impl FnMut(Box3, &[(DomainId, Stamp)])) {
        self.map.visit(range, &mut |run, id| {
            let state = self.states.get(id as usize);
            let live = state.into_iter().flat_map(|s| &s.arrivals).filter(|a| a.live);
            let live: SmallVec<[_; 2]> = live.map(|a| (a.domain, a.stamp)).collect();
            out(run, &live);
        });
    }

    /// Whether any of `range` holds the contents of a copy.
    pub(crate) fn any_arriving(&self, range: &Box3) -> bool {
        let mut any = false;
        self.each(range, |state| any |= state.arrivals.iter().any(|a| a.live));
        any
    }

    /// The contents of `range` rest on no copy any more.
    pub(crate) fn bury(&mut self, range: &Box3) {
        self.update(range, &mut |state| state.arrivals.iter_mut().for_each(|a| a.live = false));
    }

    /// Forgets the arrivals of `range` that have failed, and tells which and where that was.
    pub(crate) fn take_failed(
        &mut self,
        range: &Box3,
        failed: &dyn Fn(Stamp) -> bool,
        mut out: impl FnMut(Box3, DomainId, Stamp),
    ) {
        let mut any = false;
        self.map.visit(range, &mut |run, id| {
            let state = self.states.get(id as usize);
            let arrivals = state.into_iter().flat_map(|s| &s.arrivals);
            for arrival in arrivals.filter(|a| failed(a.stamp)) {
                any = true;
                out(run, arrival.domain, arrival.stamp);
            }
        });
        if any {
            self.update(range, &mut |state| state.arrivals.retain(|a| !failed(a.stamp)));
        }
    }

    /// Tells where the memory on `domain` may hold what was no value: copies to it have failed that
    /// may have brought that, or operations there that ran on it.
    pub(crate) fn spoilt_memory(
        &self,
        range: &Box3,
        domain: DomainId,
        spoilt: &dyn Fn(Stamp) -> bool,
        mut out: impl FnMut(&Box3),
    ) {
        self.map.visit(range, &mut |run, id| {
            let Some(state) = self.states.get(id as usize) else { return };
            let arrivals = state.arrivals.iter().map(|a| (a.domain, a.stamp));
            let new = state.writers.iter().chain(&state.older).filter(|writer| !writer.healed);
            let writers = new.map(|writer| (writer.domain, writer.stamp));
            if arrivals.chain(writers).any(|(on, stamp)| on == domain && spoilt(stamp)) {
                out(&run);
            }
        });
    }

    /// All of `range` on `domain` is what copies bring.
    pub(crate) fn replaced(&mut self, range: &Box3, domain: DomainId) {
        let mut any = false;
        self.each(range, |state| any |= !state.older.is_empty());
        if any {
            self.update(range, &mut |state| state.older.retain(|w| w.domain != domain));
        }
    }

    /// Tells where writers have failed and spoilt the memory of pages of `range`, once, and forgets
    /// older ones that have failed.
    pub(crate) fn take_spoilt(
        &mut self,
        range: &Box3,
        failed: &dyn Fn(Stamp) -> bool,
        spoilt: &dyn Fn(Stamp) -> bool,
        mut out: impl FnMut(Box3, DomainId),
    ) {
        let new = |w: &Writer| !w.healed && spoilt(w.stamp);
        let mut any = false;
        self.map.visit(range, &mut |run, id| {
            let Some(state) = self.states.get(id as usize) else { return };
            any |= state.older.iter().any(|w| failed(w.stamp));
            for writer in state.writers.iter().chain(&state.older).filter(|w| new(w)) {
                any = true;
                out(run, writer.domain);
            }
        });
        if any {
            self.update(range, &mut |state| {
                state.writers.iter_mut().for_each(|w| w.healed |= new(w));
                state.older.retain(|w| !failed(w.stamp));
            });
        }
    }

    /// The contents of `range` are gone: an operation that would use them fails with `stamp`.
    pub(crate) fn poison(&mut self, range: &Box3, stamp: Stamp) {
        let writer = Writer { stamp, domain: DomainId::HOST, healed: true };
        self.update(range, &mut |state| state.writers.push(writer));
    }

    /// The contents of `range` are not used any more. The next write comes after its writers, and
    /// takes over no failure of theirs.
    pub(crate) fn forget(&mut self, range: &Box3, outcome: &mut dyn FnMut(Stamp) -> Outcome) {
        self.update(range, &mut |state| {
            let writers = std::mem::take(&mut state.writers);
            let older = std::mem::take(&mut state.older);
            let arrivals = std::mem::take(&mut state.arrivals);
            let stamps = writers.iter().chain(&older).map(|writer| writer.stamp);
            for stamp in stamps.chain(arrivals.iter().map(|arrival| arrival.stamp)) {
                if outcome(stamp) == Outcome::Pending {
                    state.read(stamp, outcome);
                }
            }
        });
    }

    /// The memory of `range` on `domain` is given away. Copies to it that are under way read what
    /// they read, and bring nothing.
    pub(crate) fn leave(
        &mut self,
        range: &Box3,
        domain: DomainId,
        outcome: &mut dyn FnMut(Stamp) -> Outcome,
    ) {
        self.update(range, &mut |state| {
            let gone = |arrival: &Arrival| arrival.domain == domain;
            let stamps: SmallVec<[Stamp; 2]> =
                state.arrivals.iter().filter(|a| gone(a)).map(|a| a.stamp).collect();
            state.arrivals.retain(|arrival| !gone(arrival));
            state.older.retain(|writer| writer.domain != domain);
            for stamp in stamps {
                if outcome(stamp) == Outcome::Pending {
                    state.read(stamp, outcome);
                }
            }
        });
    }

    /// Changes the state of every page in `range`; pages outside keep theirs.
    fn update(&mut self, range: &Box3, change: &mut dyn FnMut(&mut PageState)) {
        if range.is_empty() {
            return;
        }
        if let Some(id) = self.map.uniform(range) {
            if let Some(new) = self.changed(id, range.volume(), change) {
                self.map.set(range, new);
            }
            return;
        }
        let mut touched = self.meet(range);
        let mut moved = false;
        for &id in &touched {
            let met = self.states.get_mut(id as usize).map_or(0, |s| std::mem::take(&mut s.met));
            let new = self.changed(id, met, change).unwrap_or(id);
            if let Some(state) = self.states.get_mut(id as usize) {
                state.becomes = new;
            }
            moved |= new != id;
        }
        if moved {
            let states = &self.states;
            self.map.update(range, &mut |_, id| states.get(id as usize).map_or(id, |s| s.becomes));
        }
        touched.clear();
        self.touched = touched;
    }

    /// Counts the pages of each state in `range`, in the states' `met`; lists those states.
    fn meet(&mut self, range: &Box3) -> Vec<u32> {
        let mut touched = std::mem::take(&mut self.touched);
        let states = &mut self.states;
        self.map.visit(range, &mut |run, id| {
            if let Some(state) = states.get_mut(id as usize) {
                if state.met == 0 {
                    touched.push(id);
                }
                state.met += run.volume();
            }
        });
        touched
    }

    /// Changes state `id` for `pages` of its pages: in place if that is all of them, otherwise
    /// as a new state, which is returned.
    fn changed(
        &mut self,
        id: u32,
        pages: usize,
        change: &mut dyn FnMut(&mut PageState),
    ) -> Option<u32> {
        let state = self.states.get_mut(id as usize)?;
        if state.pages == pages {
            change(state);
            return None;
        }
        state.pages -= pages;
        let mut new = PageState { pages, ..state.clone() };
        change(&mut new);
        Some(self.insert(new))
    }

    fn insert(&mut self, state: PageState) -> u32 {
        if let Some(id) = self.free.pop() {
            if let Some(place) = self.states.get_mut(id as usize) {
                *place = state;
            }
            id
        } else {
            self.states.push(state);
            (self.states.len() - 1) as u32
        }
    }

    /// After a whole write the states in `range` are equal, but for arrivals and older writers:
    /// makes them one.
    fn unite(&mut self, range: &Box3) {
        if range.is_empty() || self.map.uniform(range).is_some() {
            return;
        }
        let mut touched = self.meet(range);
        let mut pages = 0;
        let first = touched.first().copied();
        let differs = |s: &PageState| !s.arrivals.is_empty() || !s.older.is_empty();
        let differs = |id: &u32| self.states.get(*id as usize).is_some_and(differs);
        if touched.iter().any(differs) {
            for id in touched.drain(..) {
                if let Some(state) = self.states.get_mut(id as usize) {
                    state.met = 0;
                }
            }
            self.touched = touched;
            return;
        }
        for &id in &touched {
            if let Some(state) = self.states.get_mut(id as usize) {
                pages += std::mem::take(&mut state.met);
                state.pages = 0;
            }
            if Some(id) != first {
                self.free.push(id);
            }
        }
        if let Some(first) = first {
            if let Some(state) = self.states.get_mut(first as usize) {
                state.pages = pages;
            }
            self.map.set(range, first);
        }
        touched.clear();
        self.touched = touched;
    }
}

fn same_lane(stamps: &mut [Stamp], lane: Option<LaneId>) -> Option<&mut Stamp> {
    let lane = lane?;
    stamps.iter_mut().find(|s| s.lane() == Some(lane))
}

#[cfg(test)]
mod tests;
