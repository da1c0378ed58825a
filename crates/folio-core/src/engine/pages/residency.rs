//! Where the contents of a storage's pages are, who brings and writes them, and the few ways in
//! which that changes.

use crate::engine::pages::layout::Layout;
use crate::engine::pages::pieces::{Fragment, Pieces};
use crate::engine::pages::tracker::Tracker;
use crate::engine::terms::access::{Access, Mode};
use crate::engine::terms::link::Turn;
use crate::geom::{Box3, Grid};
use crate::order::hazards::{Deps, Flow, Hazards, Outcome, RestingPages, Writing, add_dep};
use crate::order::stamp::Stamp;
use crate::pages::{DomainId, DomainSet, PageMap};
use smallvec::SmallVec;

/// So many parts that the host's memory has got wrong are told apart.
const MOST_SPOILT: usize = 64;

/// How a stamp stands.
pub(crate) type Outcomes<'a> = &'a dyn Fn(Stamp) -> Outcome;

/// A storage's pages: where they are current and defined, and what is under way.
pub(crate) struct Residency {
    pub(crate) grid: Layout,
    /// Which pages are current where. May be a user's.
    pub(in crate::engine) tracker: Tracker,
    /// Where each page holds zeros or some value that this storage had: the engine's own
    /// knowledge, on which memory safety rests whatever the tracker says.
    pub(in crate::engine) defined: PageMap<DomainSet>,
    pub(in crate::engine) hazards: Hazards,
    /// Changes of the active side of a link, of which all but the first may be under way, with what
    /// was true before each. The latest comes before all uses of the host's place.
    switches: SmallVec<[(Stamp, Turn); 1]>,
    /// Changes with what is current or defined anywhere.
    changes: u64,
    /// Operations may be at work still on memory that holds nothing any more: a copy or fill has
    /// failed, and they for it; or the contents were [forgotten](Self::forget) behind them.
    pub(in crate::engine) broken: bool,
    /// Elements of which the host's memory has got what was no value. Some may have got values
    /// since: their pages are defined there.
    pub(in crate::engine) spoilt_on_host: Vec<Box3>,
    /// Operations that used memory on a domain while that was another storage's. They come before
    /// copies to it, and before commands that need no copy.
    earlier: Vec<(DomainId, Stamp)>,
    /// Pages that discards of parts have split between domains; also those that copies make whole
    /// again, as long as they are not written.
    pub(in crate::engine) pieces: Pieces,
}

impl Residency {
    /// That of pages which hold nothing anywhere.
    pub(crate) fn new(grid: Grid, tracker: Tracker) -> Residency {
        Residency {
            grid: grid.into(),
            tracker,
            defined: PageMap::new(grid.pages, DomainSet::EMPTY),
            hazards: Hazards::new(grid.pages),
            switches: SmallVec::new(),
            changes: 0,
            broken: false,
            spoilt_on_host: Vec::new(),
            earlier: Vec::new(),
            pieces: Pieces::new(grid.pages),
        }
    }

    /// The pages that an access is in.
    #[inline]
    pub(crate) fn pages(&self, a: &Access) -> Box3 {
        self.grid.pages_of(&a.elements)
    }

    /// What is current or defined somewhere has changed, or which pages there are.
    pub(super) fn note_change(&mut self) {
        self.changes += 1;
    }

    /// A number that is another one when what is current or defined somewhere has changed.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// See [`link`](crate::engine::memory::link).
    #[inline]
    pub(crate) fn switch(&self) -> Stamp {
        self.switches.last().map_or(Stamp::DONE, |(stamp, _)| *stamp)
    }

    /// The active side of a link changes; `before` is how it was.
    pub(crate) fn mark_switched(&mut self, stamp: Stamp, before: Turn, known: Outcomes<'_>) {
        self.switches.retain(|(earlier, _)| known(*earlier) != Outcome::Fine);
        self.switches.push((stamp, before));
    }

    /// Forgets the switches that have failed; tells how it was before them.
    pub(crate) fn take_failed_switches(&mut self, known: Outcomes<'_>) -> Option<Turn> {
        let mut before = None;
        while let Some(&(stamp, turn)) = self.switches.last()
            && known(stamp) == Outcome::Failed
        {
            self.switches.pop();
            before = Some(turn);
        }
        before
    }

    /// The host's place, which was that of a link, is gone with the link's other side: what was
    /// current there was so on `device`, which is lost.
    pub(crate) fn lose_place(&mut self, device: DomainId) {
        let all = self.grid.all();
        let there = |set: DomainSet| match set.contains(DomainId::HOST) {
            true => set.without(DomainId::HOST).with(device),
            false => set,
        };
        self.changes += 1;
        self.broken = true;
        let mut runs: SmallVec<[Box3; 2]> = SmallVec::new();
        self.tracker.visit(&all, &mut |run, set| {
            if set.contains(DomainId::HOST) {
                runs.push(run);
            }
        });
        for run in &runs {
            self.tracker.insert(run, device);
            self.tracker.remove(run, DomainId::HOST);
        }
        self.pieces.update(&all, &mut |fragment| {
            fragment.domains = there(fragment.domains);
            for (to, _) in fragment.arriving.iter_mut().filter(|(to, _)| to.is_host()) {
                *to = device;
            }
        });
        self.defined.update(&all, &mut |_, set: DomainSet| there(set));
        self.switches.clear();
    }

    /// There is no link any more, and what the host has stays.
    pub(crate) fn forget_switches(&mut self) {
        self.switches.clear();
    }

    pub(crate) fn tracker(&self) -> &Tracker {
        &self.tracker
    }

    pub(crate) fn tracker_mut(&mut self) -> &mut Tracker {
        &mut self.tracker
    }

    /// All of `pages` are current on `domain`.
    #[inline]
    pub(crate) fn is_current(&self, pages: &Box3, domain: DomainId) -> bool {
        self.tracker.uniform(pages).is_some_and(|set| set.contains(domain))
    }

    /// All of `pages` hold something on `domain` that may be seen.
    #[inline]
    pub(crate) fn is_defined(&self, pages: &Box3, domain: DomainId) -> bool {
        self.defined.uniform(pages).is_some_and(|set| set.contains(domain))
    }

    /// The state of all pages, if they are alike, whole, and current and defined on `domain`.
    #[inline]
    pub(crate) fn at_rest(&self, domain: DomainId) -> Option<RestingPages<'_>> {
        let here = |set: DomainSet| set.contains(domain);
        let fine = self.pieces.is_empty()
            && self.tracker.flat().is_some_and(here)
            && self.defined.flat().is_some_and(here);
        if fine { self.hazards.at_rest() } else { None }
    }

    /// `stamp` uses all pages, which are [at rest](Self::at_rest), and writes them on `writes`.
    #[inline]
    pub(crate) fn mark_at_rest(
        &mut self,
        stamp: Stamp,
        writes: Option<DomainId>,
        known: Outcomes<'_>,
    ) {
        self.hazards.mark_at_rest(stamp, writes, &mut |s| known(s));
        if let Some(domain) = writes {
            self.changes += 1;
            self.tracker.set_flat(domain);
        }
    }

    /// All pages hold something on `domain` that may be seen: zeros, or what the program left.
    pub(crate) fn holds(&mut self, domain: DomainId) {
        let all = self.grid.all();
        self.changes += 1;
        self.defined.update(&all, &mut |_, set: DomainSet| set.with(domain));
    }

    /// All pages are current on `domain`, and nowhere else.
    pub(crate) fn adopt(&mut self, domain: DomainId) {
        self.holds(domain);
        self.tracker.set(&self.grid.all(), DomainSet::of(domain));
    }

    /// Some page is current on `domain` and on no other domain that is not lost.
    pub(crate) fn rests_on(&self, domain: DomainId, lost: DomainSet) -> bool {
        // Of a lost domain, too: without it the data would not be lost but never have been.
        let alone =
            |set: DomainSet| set.contains(domain) && set.minus(lost).without(domain).is_empty();
        let mut only = self.pieces.all().any(|fragment| alone(fragment.on()));
        // The writers of a page in pieces do not count: each piece may have others.
        let whole = |pages: &Box3| {
            let mut any = false;
            self.pieces.visit(pages, &mut |_, fragments| any |= fragments.is_empty());
            any
        };
        let all = self.grid.all();
        self.tracker.visit(&all, &mut |pages, set| only |= alone(set) && whole(&pages));
        only
    }

    /// As [`leave`](Self::leave), while operations may be at work on that memory.
    pub(crate) fn leave_in_use(&mut self, domain: DomainId, known: Outcomes<'_>) {
        let all = self.grid.all();
        self.hazards.leave(&all, domain, &mut |s| known(s));
        self.leave(&all, domain);
    }

    /// The memory of `pages` on `domain` is given away.
    pub(crate) fn leave(&mut self, pages: &Box3, domain: DomainId) {
        self.changes += 1;
        self.tracker.remove(pages, domain);
        self.pieces.update(pages, &mut |fragment| {
            fragment.domains = fragment.domains.without(domain);
            fragment.arriving.retain(|(to, _)| *to != domain);
        });
        self.defined.update(pages, &mut |_, set: DomainSet| set.without(domain));
    }

    /// All of the memory of `domain` is given away.
    pub(crate) fn leave_all(&mut self, domain: DomainId) {
        self.leave(&self.grid.all(), domain);
    }

    /// Nothing is under way to where data are current, other than on `domain`: that could fail.
    pub(crate) fn is_sure_without(&self, domain: DomainId, known: Outcomes<'_>) -> bool {
        let pieces = self.pieces.all().flat_map(|fragment| fragment.arriving.iter().copied());
        let mut arrivals = self.hazards.arrivals().chain(pieces);
        arrivals.all(|(to, stamp)| to == domain || known(stamp) == Outcome::Fine)
            && known(self.switch()) == Outcome::Fine
    }

    /// The memory of `domain` is new here, and was another storage's, which these have used.
    pub(crate) fn come_after(&mut self, domain: DomainId, users: &[Stamp]) {
        self.earlier.retain(|(at, _)| *at != domain);
        self.earlier.extend(users.iter().map(|stamp| (domain, *stamp)));
    }

    /// Operations that used the memory of `domain` before this storage did.
    pub(crate) fn earlier(&self, domain: DomainId) -> impl Iterator<Item = Stamp> {
        self.earlier.iter().filter(move |(at, _)| *at == domain).map(|(_, stamp)| *stamp)
    }

    /// Some of its memory was another storage's, and so may soon be another one's again.
    #[inline]
    pub(crate) fn is_under_pressure(&self) -> bool {
        !self.earlier.is_empty()
    }

    fn earlier_deps(&self, domain: DomainId, deps: &mut Deps) {
        self.earlier(domain).for_each(|stamp| add_dep(deps, stamp, false));
    }

    /// How many pages are current on a domain as a whole.
    pub(crate) fn current_pages(&self, domain: DomainId) -> usize {
        let mut count = 0;
        self.tracker.visit(&self.grid.all(), &mut |run, set| {
            count += if set.contains(domain) { run.volume() } else { 0 };
        });
        count
    }

    /// Bytes of an access that are elsewhere: those that are to be copied, and those that are
    /// written.
    pub(crate) fn elsewhere(&self, a: &Access, element_bytes: usize) -> [u64; 2] {
        let [mut moved, mut taken] = [0, 0];
        self.tracker.visit(&self.pages(a), &mut |run, set| {
            if !set.is_empty() && !set.contains(a.place) {
                let bytes = (self.grid.elements_of(&run).volume() * element_bytes) as u64;
                moved += if a.mode.discards() { 0 } else { bytes };
                taken += if a.mode.writes() { bytes } else { 0 };
            }
        });
        [moved, taken]
    }

    /// Every stamp along which a later command may get data, and failure.
    pub(crate) fn each_source(&self, f: &mut dyn FnMut(Stamp)) {
        self.hazards.each_source(f);
        self.switches.iter().for_each(|(stamp, _)| f(*stamp));
        let arriving = self.pieces.all().flat_map(|fragment| &fragment.arriving);
        arriving.for_each(|(_, stamp)| f(*stamp));
    }

    /// The stamps that an access waits for.
    pub(crate) fn deps(&self, a: &Access, deps: &mut Deps) {
        let pages = self.pages(a);
        if pages.is_empty() {
            return;
        }
        self.switch_deps(a.place, deps);
        match a.mode {
            Mode::Read => self.hazards.read_deps(&pages, a.place, deps),
            Mode::Update | Mode::Discard { .. } => {
                self.hazards.write_deps(&pages, a.place, self.writing(a), deps)
            }
        }
        if a.mode.discards() {
            self.earlier_deps(a.place, deps);
        }
    }

    fn switch_deps(&self, place: DomainId, deps: &mut Deps) {
        if place.is_host() {
            self.turn_deps(deps);
        }
    }

    /// A use of linked memory comes after the latest change of its active side, and is handed over
    /// when that has ended well.
    pub(crate) fn turn_deps(&self, deps: &mut Deps) {
        add_dep(deps, self.switch(), Flow::USES | Flow::TURN);
    }

    /// The stamps that a change of the active side comes after: everything that uses the storage.
    pub(crate) fn all_deps(&self, deps: &mut Deps) {
        self.turn_deps(deps);
        self.hazards.order_all(&self.grid.all(), deps);
    }

    /// The stamps of everything that uses the storage.
    pub(crate) fn users(&self, deps: &mut Deps) {
        let all = self.grid.all();
        add_dep(deps, self.switch(), false);
        self.earlier.iter().for_each(|(_, stamp)| add_dep(deps, *stamp, false));
        self.hazards.write_deps(&all, DomainId::HOST, Writing::Update, deps);
    }

    /// A stamp that the latest use of an access's first pages left, for choosing a lane.
    pub(crate) fn latest(&self, a: &Access) -> Option<Stamp> {
        self.hazards.latest(&self.pages(a), a.mode.writes())
    }

    fn writing(&self, a: &Access) -> Writing {
        if a.mode == Mode::Update {
            return Writing::Update;
        }
        let (pages, inside) = (self.pages(a), self.grid.pages_inside(&a.elements));
        match a.mode.writing() {
            _ if inside != pages && self.hazards.crowded(&pages) => Writing::Update,
            Writing::Replace if inside != pages => Writing::Discard,
            how => how,
        }
    }

    /// `stamp` uses an access, which it reads.
    pub(crate) fn mark_read(&mut self, a: &Access, stamp: Stamp, known: Outcomes<'_>) {
        self.hazards.mark_read(&self.grid.pages_of(&a.elements), stamp, &mut |s| known(s));
    }

    /// `stamp` writes an access.
    pub(crate) fn mark_written(&mut self, a: &Access, stamp: Stamp, known: Outcomes<'_>) {
        let pages = self.pages(a);
        if pages.is_empty() {
            return;
        }
        self.changes += 1;
        let how = self.writing(a);
        let inside = if a.mode.discards() { self.grid.pages_inside(&a.elements) } else { pages };
        if inside != pages {
            let mut borders: SmallVec<[Box3; 6]> = SmallVec::new();
            pages.subtract(&inside, |b| borders.push(b));
            for border in &borders {
                if !self.is_only_on(border, a.place) {
                    self.discard_parts(a, border, known);
                }
            }
        }
        self.pieces.clear(&inside);
        if !inside.is_empty() {
            self.tracker.set(&inside, DomainSet::of(a.place));
        }
        // A stamp that comes after everything before it in all of its pages stands for all of that,
        // whatever it leaves as it was.
        let alone = if how == Writing::Update { pages } else { inside };
        let whole = a.mode == (Mode::Discard { whole: true }) && !inside.is_empty();
        let first = whole && !self.is_defined(&inside, a.place);
        if first {
            self.defined.update(&inside, &mut |_, set| set.with(a.place));
        }
        let mut mark = |part: &Box3, keep, first| {
            let known = &mut |s| known(s);
            self.hazards.mark_written(part, a.place, stamp, (how, keep, first), known);
        };
        if !alone.is_empty() {
            mark(&alone, false, first);
        }
        if alone != pages {
            pages.subtract(&alone, |border| mark(&border, true, false));
        }
    }

    /// `stamp` copies boxes of elements to `domain`.
    pub(crate) fn mark_copied(
        &mut self,
        boxes: &[Box3],
        domain: DomainId,
        stamp: Stamp,
        known: Outcomes<'_>,
    ) {
        self.changes += 1;
        for elements in boxes {
            let pages = self.grid.pages_of(elements);
            let whole = self.grid.elements_of(&pages) == *elements;
            let known = &mut |s| known(s);
            self.hazards.mark_arrival(&pages, domain, stamp, (whole, true), known);
            self.defined.update(&pages, &mut |_, set| set.with(domain));
        }
    }

    /// The copies `stamps` make pages current on `domain`: those of `whole` as a whole, those of
    /// `parts`, which are in pieces, by what they lack. By page and not by rectangle: the planner
    /// may cut a page in two.
    pub(crate) fn mark_current(
        &mut self,
        (whole, parts): (&[Box3], &[Box3]),
        domain: DomainId,
        stamps: &[Stamp],
    ) {
        for run in whole {
            self.tracker.insert(run, domain);
            self.hazards.replaced(run, domain);
        }
        parts.iter().for_each(|pages| self.gather(pages, domain, stamps));
    }

    /// `stamp` zeroes `pages` on `domain`, which held nothing there.
    pub(crate) fn mark_zeroed(
        &mut self,
        pages: &[Box3],
        domain: DomainId,
        stamp: Stamp,
        known: Outcomes<'_>,
    ) {
        self.changes += 1;
        for hole in pages {
            let known = &mut |s| known(s);
            self.hazards.mark_arrival(hole, domain, stamp, (true, false), known);
            self.defined.update(hole, &mut |_, set| set.with(domain));
        }
    }

    /// All pieces of these pages are on `domain`, or come there.
    pub(crate) fn mark_complete(&mut self, pages: &[Box3], domain: DomainId) {
        self.changes += 1;
        for page in pages {
            self.defined.update(page, &mut |_, set| set.with(domain));
        }
    }

    /// The contents of `pages` are gone: a command that would use them fails with `stamp`.
    pub(crate) fn poison(&mut self, pages: &[Box3], stamp: Stamp) {
        self.changes += 1;
        pages.iter().for_each(|pages| self.hazards.poison(pages, stamp));
    }

    /// The contents of `pages` are gone, and they count as never written. Operations that use them
    /// now go on, and what writes them later comes after those.
    pub(crate) fn forget(&mut self, pages: &Box3, known: Outcomes<'_>) {
        self.changes += 1;
        self.broken = true;
        self.tracker.set(pages, DomainSet::EMPTY);
        self.pieces.clear(pages);
        self.defined.update(pages, &mut |_, _| DomainSet::EMPTY);
        self.hazards.forget(pages, &mut |s| known(s));
    }

    /// What copies and fills that are known to have failed should have brought to `pages` is not
    /// there, and what commands did to them that have run on such memory is not to be seen. Each
    /// look at the state of pages begins here, so failure needs no action when it happens. Tells
    /// whether the host's memory has got something of that.
    pub(crate) fn heal(
        &mut self,
        pages: &Box3,
        is_spoilt: &dyn Fn(Stamp) -> bool,
        known: Outcomes<'_>,
    ) -> bool {
        let failed = |s| known(s) == Outcome::Failed;
        let mut on_host = false;
        let Residency { hazards, tracker, defined, broken, changes, spoilt_on_host, grid, .. } =
            self;
        let mut note = |run: &Box3| {
            if spoilt_on_host.len() == MOST_SPOILT {
                *spoilt_on_host = vec![Box3::whole(grid.dims)];
            }
            spoilt_on_host.push(grid.elements_of(run));
        };
        hazards.take_failed(pages, &failed, |run, domain, stamp| {
            on_host |= domain.is_host();
            if domain.is_host() && is_spoilt(stamp) {
                note(&run);
            }
            *broken = true;
            *changes += 1;
            defined.update(&run, &mut |_, set: DomainSet| set.without(domain));
            tracker.remove(&run, domain);
        });
        hazards.take_spoilt(pages, &failed, is_spoilt, |run, domain| {
            on_host |= domain.is_host();
            if domain.is_host() {
                note(&run);
            }
            *broken = true;
            *changes += 1;
            defined.update(&run, &mut |_, set: DomainSet| set.without(domain));
        });
        self.learn_pieces(pages, known);
        on_host
    }

    /// The stamps that a copy of `elements` from `source` to `domain` comes after.
    pub(crate) fn copy_deps(
        &self,
        elements: &Box3,
        source: DomainId,
        domain: DomainId,
        deps: &mut Deps,
    ) {
        let pages = self.grid.pages_of(elements);
        self.switch_deps(source, deps);
        self.switch_deps(domain, deps);
        self.earlier_deps(domain, deps);
        self.hazards.read_deps(&pages, source, deps);
        self.hazards.order_arrivals(&pages, domain, deps);
        if self.broken || self.tracker.is_foreign() {
            // A user's tracker may have called pages outdated that are in use.
            self.hazards.order_all(&pages, deps);
        }
    }

    /// The pages of which an access discards a part where none of their contents are, and where
    /// its memory holds what is not known to be well. Elements beside the part would be that.
    pub(crate) fn unsure_rests(&self, a: &Access, known: Outcomes<'_>) -> SmallVec<[Box3; 2]> {
        let mut found = SmallVec::new();
        let (pages, inside) = (self.pages(a), self.grid.pages_inside(&a.elements));
        if !a.mode.discards() || inside == pages || self.tracker.is_foreign() {
            return found;
        }
        pages.subtract(&inside, |border| {
            self.tracker.visit(&border, &mut |run, set| {
                if !set.contains(a.place) {
                    self.pieces.visit(&run, &mut |run, fragments| {
                        if !fragments.iter().any(|f| f.on().contains(a.place)) {
                            self.hazards.unsure(&run, a.place, known, |run| found.push(run));
                        }
                    });
                }
            });
        });
        found
    }

    /// The stamps that zeroing `pages` on `domain` comes after.
    pub(crate) fn zero_deps(&self, pages: &Box3, domain: DomainId, deps: &mut Deps) {
        self.switch_deps(domain, deps);
        self.earlier_deps(domain, deps);
        self.hazards.order_arrivals(pages, domain, deps);
        if self.broken || !self.defined_nowhere(pages, domain) {
            self.hazards.order_all(pages, deps);
        }
    }

    fn defined_nowhere(&self, pages: &Box3, domain: DomainId) -> bool {
        self.defined.uniform(pages).is_some_and(|set| !set.contains(domain))
    }

    /// Copies and fills under way to `domain`, to come after them.
    pub(crate) fn arrivals(&self, domain: DomainId, deps: &mut Deps) {
        self.hazards.order_arrivals(&self.grid.all(), domain, deps);
    }

    /// Pages, outside of `discarded`, of which some piece is on `domain` although its memory is not
    /// defined there: after a copy that failed.
    pub(in crate::engine) fn incomplete(
        &self,
        pages: &Box3,
        discarded: &Box3,
        domain: DomainId,
    ) -> Vec<Box3> {
        let (mut undefined, on) = (Vec::new(), |f: &Fragment| f.on().contains(domain));
        self.pieces.visit(pages, &mut |run, fragments| {
            if fragments.iter().any(on) {
                self.defined.visit(&run, &mut |run, set: DomainSet| {
                    if !set.contains(domain) {
                        run.subtract(discarded, |run| {
                            undefined.extend(run.cells().map(Box3::cell));
                        });
                    }
                });
            }
        });
        undefined
    }
}
