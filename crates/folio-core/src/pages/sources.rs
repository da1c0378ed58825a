//! Ways to choose a source for each need of a transfer. The planner costs them and takes the best.

use super::domains::{DomainId, DomainSet};
use super::planner::Need;
use super::runs::continues;
use crate::hal::Link;

/// What a plan costs: estimated time in picoseconds, then operations. Finer than the nanoseconds
/// of [`Link::estimate_ns`], so that many small copies are not free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cost {
    time_ps: u128,
    ops: u64,
}

impl Cost {
    /// The cost of `ops` operations over `link` that move `bytes` together.
    pub(super) fn of(link: &Link, bytes: u64, ops: u64) -> Cost {
        let moved = u128::from(bytes) * 1_000_000 / u128::from(link.bytes_per_us.max(1));
        let started = u128::from(ops) * u128::from(link.op_ns) * 1000;
        Cost { time_ps: moved.saturating_add(started), ops }
    }

    /// Both, one after the other.
    pub(super) fn plus(self, other: Cost) -> Cost {
        Cost {
            time_ps: self.time_ps.saturating_add(other.time_ps),
            ops: self.ops.saturating_add(other.ops),
        }
    }
}

/// The links from all domains; those that are no source are not asked for.
#[derive(Clone, Debug)]
pub(super) struct Links([Link; DomainId::LIMIT as usize]);

impl Links {
    /// Asks once for the link from each of `sources`.
    pub(super) fn ask(sources: DomainSet, cost: &dyn Fn(DomainId) -> Link) -> Links {
        let mut links = [Link::default(); DomainId::LIMIT as usize];
        for source in sources {
            links[usize::from(source.0)] = cost(source);
        }
        Links(links)
    }

    /// The link from `source`, which was asked for.
    pub(super) fn of(&self, source: DomainId) -> &Link {
        &self.0[usize::from(source.0)]
    }

    /// The cheapest of `sources` for `ops` operations of `bytes` together; the lowest of equals.
    pub(super) fn cheapest(&self, sources: DomainSet, bytes: u64, ops: u64) -> Option<DomainId> {
        sources.iter().min_by_key(|s| Cost::of(self.of(*s), bytes, ops))
    }
}

/// The bytes of a need.
pub(super) fn bytes_of(need: &Need, element_bytes: usize) -> u64 {
    (need.elements.volume() as u64).saturating_mul(element_bytes as u64)
}

/// All needs with equal sources.
#[derive(Clone, Copy, Debug)]
struct Class {
    sources: DomainSet,
    bytes: u64,
    chosen: Option<DomainId>,
}

/// Needs by their sets of sources, of which there are few.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes(Vec<Class>);

impl Classes {
    /// Sorts `needs` into classes.
    pub(super) fn fill(&mut self, needs: &[Need], element_bytes: usize) {
        self.0.clear();
        self.0.extend(needs.iter().map(|need| Class {
            sources: need.sources,
            bytes: bytes_of(need, element_bytes),
            chosen: None,
        }));
        self.0.sort_unstable_by_key(|class| class.sources);
        self.0.dedup_by(|next, class| {
            let same = next.sources == class.sources;
            if same {
                class.bytes = class.bytes.saturating_add(next.bytes);
            }
            same
        });
    }

    /// Chooses for each class what is cheapest for it, if it were one operation.
    pub(super) fn choose_apart(&mut self, links: &Links) {
        for class in &mut self.0 {
            class.chosen = links.cheapest(class.sources, class.bytes, 1);
        }
    }

    /// Chooses few sources: again and again the one that has the most bytes of what is left; of
    /// equals the cheapest, then the lowest.
    pub(super) fn choose_few(&mut self, links: &Links) {
        self.0.iter_mut().for_each(|class| class.chosen = None);
        // Each round serves at least one source's classes: at most LIMIT rounds.
        for _ in 0..DomainId::LIMIT {
            let mut covered = [0u64; DomainId::LIMIT as usize];
            let mut left = DomainSet::EMPTY;
            for class in self.0.iter().filter(|class| class.chosen.is_none()) {
                left = left.union(class.sources);
                for source in class.sources {
                    let sum = &mut covered[usize::from(source.0)];
                    *sum = sum.saturating_add(class.bytes);
                }
            }
            let best = left.iter().min_by_key(|s| {
                let bytes = covered[usize::from(s.0)];
                (std::cmp::Reverse(bytes), Cost::of(links.of(*s), bytes, 1))
            });
            let Some(best) = best else { return };
            let open = self.0.iter_mut().filter(|class| class.chosen.is_none());
            open.filter(|c| c.sources.contains(best)).for_each(|c| c.chosen = Some(best));
        }
    }

    /// Writes the chosen source of each need.
    pub(super) fn apply(&self, needs: &[Need], choice: &mut Vec<DomainId>) {
        choice.clear();
        choice.extend(needs.iter().map(|need| {
            let class = self.0.binary_search_by_key(&need.sources, |class| class.sources);
            let chosen = class.ok().and_then(|c| self.0[c].chosen);
            chosen.or(need.sources.first()).unwrap_or(DomainId::HOST)
        }));
    }
}

/// Chooses along the row-major order of needs so that neighbours in a row share an operation
/// where that pays: the least cost there is, as far as joining along rows goes.
///
/// For each need from the last to the first: what it costs to serve it and the rest from each of
/// its sources, if its operation is open already. Staying with the source is free where the next
/// need continues this one and has it; else the rest starts anew with its best source.
#[derive(Clone, Debug, Default)]
pub(super) struct Chain {
    /// For each need: the best source to start an operation with.
    start: Vec<DomainId>,
    /// For each need: the sources with which the next need had better be served, too.
    stay: Vec<DomainSet>,
}

impl Chain {
    /// Writes the chosen source of each of `needs`, which are in row-major order.
    pub(super) fn choose(
        &mut self,
        needs: &[Need],
        element_bytes: usize,
        links: &Links,
        choice: &mut Vec<DomainId>,
    ) {
        self.start.clear();
        self.start.resize(needs.len(), DomainId::HOST);
        self.stay.clear();
        self.stay.resize(needs.len(), DomainSet::EMPTY);
        let mut rest = [Cost::default(); DomainId::LIMIT as usize];
        let mut anew = Cost::default();
        for i in (0..needs.len()).rev() {
            let need = &needs[i];
            let bytes = bytes_of(need, element_bytes);
            let next = needs.get(i + 1);
            let on = next.filter(|next| continues(&need.elements, &next.elements, 2));
            let mut best = None;
            for s in need.sources {
                let mut after = anew;
                if on.is_some_and(|next| next.sources.contains(s)) {
                    let open = rest[usize::from(s.0)];
                    if (open, s) <= (anew, self.start[i + 1]) {
                        after = open;
                        self.stay[i].insert(s);
                    }
                }
                let cost = Cost::of(links.of(s), bytes, 0).plus(after);
                rest[usize::from(s.0)] = cost;
                let cost = cost.plus(Cost::of(links.of(s), 0, 1));
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, s));
                }
            }
            if let Some((cost, source)) = best {
                (anew, self.start[i]) = (cost, source);
            }
        }
        choice.clear();
        let mut open = None;
        for i in 0..needs.len() {
            let source = open.unwrap_or(self.start[i]);
            choice.push(source);
            open = self.stay[i].contains(source).then_some(source);
        }
    }
}
