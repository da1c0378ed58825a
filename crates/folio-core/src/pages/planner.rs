//! The transfer planner: from which memory each outdated element comes, in how few rectangles.
//!
//! Pure: needs in, transfers out. How a transfer is carried out (peer to peer or staged) is
//! not its business; the link costs that it is given speak of that.

use super::domains::{DomainId, DomainSet};
use super::rects::Merger;
use super::sources::{Chain, Classes, Cost, Links, bytes_of};
use crate::geom::Box3;
use crate::hal::Link;

/// Elements that are outdated at the target, and where they are current.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// The elements. Those of different needs are disjoint.
    pub elements: Box3,
    /// The domains that hold all of them; not empty.
    pub sources: DomainSet,
}

/// One copy to the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Where the elements come from.
    pub source: DomainId,
    /// The elements, one rectangle.
    pub elements: Box3,
}

/// Plans transfers; keeps its memory from plan to plan.
///
/// ```
/// use folio_core::geom::Box3;
/// use folio_core::hal::Link;
/// use folio_core::pages::{DomainId, DomainSet, Need, Planner};
///
/// let [a, b, c] = [1, 2, 3].map(DomainId);
/// let part = |from, to, sources: [DomainId; 2]| Need {
///     elements: Box3 { min: [0, 0, from], max: [1, 1, to] },
///     sources: sources.into_iter().collect(),
/// };
/// let mut out = Vec::new();
/// let needs = [part(0, 10, [a, b]), part(10, 20, [b, c])];
/// Planner::default().plan(&needs, 4, &|_| Link::default(), &mut out);
/// assert_eq!(out.len(), 1, "both are current on b, and touch");
/// assert_eq!((out[0].source, out[0].elements.volume()), (b, 20));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Planner {
    needs: Vec<Need>,
    choice: Vec<DomainId>,
    boxes: Vec<Box3>,
    trial: Vec<Transfer>,
    classes: Classes,
    chain: Chain,
    merger: Merger,
}

impl Planner {
    /// A planner without memory yet.
    pub fn new() -> Planner {
        Planner::default()
    }

    /// Replaces `out` by transfers that serve `needs`: exactly their elements, none twice, each
    /// from one of its sources. Ordered by source, then by place; equal needs give equal plans.
    ///
    /// `cost` is the link from a source to the target; it is asked at most once for each source.
    /// The estimate of a plan is the sum of [`Link::estimate_ns`] over its transfers (in finer
    /// units). Several ways to choose sources are costed, with the rectangles that they lead to:
    /// one source for everything, where there is one, else few; the cheapest for all needs with
    /// equal sources; and the best along rows. Least time wins, then fewest operations, then the
    /// first.
    ///
    /// Guaranteed:
    /// * one source only, or sets of sources all equal: the cheapest source, the lowest of equals;
    /// * never slower than any one source for everything;
    /// * needs on one line: no plan is faster, nor as fast with fewer operations;
    /// * per source, rectangles are minimal on a line; otherwise at most as many as needs, as
    ///   joining rows, then planes, then blocks gives, and in a plane as maximal runs along either
    ///   dimension give.
    ///
    /// Takes O(n log n) time, times the number of sources. One need allocates nothing but room in
    /// `out`. Needs without elements or sources are passed over.
    pub fn plan(
        &mut self,
        needs: &[Need],
        element_bytes: usize,
        cost: &dyn Fn(DomainId) -> Link,
        out: &mut Vec<Transfer>,
    ) {
        out.clear();
        if let [need] = needs {
            return plan_one(need, element_bytes, cost, out);
        }
        self.needs.clear();
        let served = |need: &&Need| !need.elements.is_empty() && !need.sources.is_empty();
        self.needs.extend(needs.iter().filter(served));
        let Some(first) = self.needs.first().map(|need| need.sources) else { return };
        self.needs.sort_unstable_by_key(|need| need.elements);
        let (mut any, mut all) = (first, first);
        for need in &self.needs {
            any = any.union(need.sources);
            all = all.intersect(need.sources);
        }
        let links = Links::ask(any, cost);
        let mut best = None;
        for way in [Way::Few, Way::Apart, Way::Chain] {
            if way == Way::Few && !all.is_empty() {
                best = Some(self.serve_from_one(all, element_bytes, &links, out));
                if any == all {
                    return;
                }
                continue;
            }
            self.choose(way, element_bytes, &links);
            let found = self.build(any, element_bytes, &links);
            if best.is_none_or(|best| found < best) {
                best = Some(found);
                std::mem::swap(out, &mut self.trial);
            }
        }
    }

    /// Serves all needs from one of `sources`, which each of them has. How many rectangles that
    /// takes does not depend on which one it is.
    fn serve_from_one(
        &mut self,
        sources: DomainSet,
        element_bytes: usize,
        links: &Links,
        out: &mut Vec<Transfer>,
    ) -> Cost {
        self.boxes.clear();
        self.boxes.extend(self.needs.iter().map(|need| need.elements));
        self.merger.merge(&mut self.boxes);
        let sizes = self.needs.iter().map(|need| bytes_of(need, element_bytes));
        let (bytes, ops) = (sizes.fold(0, u64::saturating_add), self.boxes.len() as u64);
        let source = links.cheapest(sources, bytes, ops).unwrap_or(DomainId::HOST);
        out.extend(self.boxes.iter().map(|&elements| Transfer { source, elements }));
        Cost::of(links.of(source), bytes, ops)
    }

    /// Chooses a source for each need.
    fn choose(&mut self, way: Way, element_bytes: usize, links: &Links) {
        if way == Way::Chain {
            return self.chain.choose(&self.needs, element_bytes, links, &mut self.choice);
        }
        self.classes.fill(&self.needs, element_bytes);
        match way {
            Way::Few => self.classes.choose_few(links),
            _ => self.classes.choose_apart(links),
        }
        self.classes.apply(&self.needs, &mut self.choice);
    }

    /// Makes a trial of the present choice of sources, which are among `any`.
    fn build(&mut self, any: DomainSet, element_bytes: usize, links: &Links) -> Cost {
        self.trial.clear();
        let mut total = Cost::default();
        for source in any {
            self.boxes.clear();
            let mut bytes = 0u64;
            for (need, _) in self.needs.iter().zip(&self.choice).filter(|(_, c)| **c == source) {
                self.boxes.push(need.elements);
                bytes = bytes.saturating_add(bytes_of(need, element_bytes));
            }
            self.merger.merge(&mut self.boxes);
            total = total.plus(Cost::of(links.of(source), bytes, self.boxes.len() as u64));
            self.trial.extend(self.boxes.iter().map(|&elements| Transfer { source, elements }));
        }
        total
    }
}

/// A way to choose sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// One for everything, or else few.
    Few,
    /// The cheapest for all needs with equal sources.
    Apart,
    /// The best along rows.
    Chain,
}

/// The plan of one need: its cheapest source; the lowest of equals.
fn plan_one(
    need: &Need,
    element_bytes: usize,
    cost: &dyn Fn(DomainId) -> Link,
    out: &mut Vec<Transfer>,
) {
    if need.elements.is_empty() {
        return;
    }
    let bytes = bytes_of(need, element_bytes);
    let source = match need.sources.len() {
        0 | 1 => need.sources.first(),
        _ => need.sources.iter().min_by_key(|source| Cost::of(&cost(*source), bytes, 1)),
    };
    out.extend(source.map(|source| Transfer { source, elements: need.elements }));
}

#[cfg(test)]
#[path = "planner_tests.rs"]
mod tests;
