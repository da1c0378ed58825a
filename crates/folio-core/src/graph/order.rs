//! The order of a graph's commands, those of graphs within it included. One pass finds it, however
//! deep these are nested.
//!
//! A nest is a range of the list. A command comes first in a nest if everything that it comes after
//! is before the range. It comes last if nothing has used it where the range ends.

use super::conflicts::{After, Conflicts};
use crate::engine::runs::run::Order;
use crate::engine::terms::access::Access;
use std::ops::Range;

/// A graph within a graph: a part of the list between two points. Its first commands come after the
/// one, and the other, which is next in the list, comes after its last. Which commands these are
/// depends on what they access, and so may change with an exchange.
#[derive(Clone, Debug)]
pub(super) struct Nest {
    /// Where it begins, if it comes after something.
    pub(super) entry: Option<u32>,
    pub(super) commands: Range<u32>,
}

impl Nest {
    /// Where it ends.
    pub(super) fn meet(&self) -> u32 {
        self.commands.end
    }
}

/// A nest whose commands are being looked at.
struct Open<'n> {
    nest: &'n Nest,
    /// Of the innermost nest around its commands that has an entry: its first command, and that.
    entry: Option<(u32, u32)>,
    /// Its commands, without those of nests within it.
    own: Vec<u32>,
}

/// The order of commands with these edges and accesses, each nest before those within it.
pub(super) fn order_of<'a>(
    after: After,
    nests: &[Nest],
    accesses: impl Iterator<Item = &'a [Access]>,
) -> Order {
    compared(after, nests, accesses).0
}

/// As [`order_of`], with what it has compared.
fn compared<'a>(
    mut after: After,
    nests: &[Nest],
    accesses: impl Iterator<Item = &'a [Access]>,
) -> (Order, Conflicts) {
    let (mut comes_after, mut is_used) = (vec![false; after.len()], vec![false; after.len()]);
    let (mut nests, mut open) = (nests.iter().peekable(), Vec::<Open<'_>>::new());
    let mut conflicts = Conflicts::default();
    for ((at, edges), accesses) in (0..).zip(&mut after).zip(accesses) {
        while let Some(nest) = nests.next_if(|nest| nest.commands.start == at) {
            let own = nest.entry.map(|entry| (at, entry));
            let entry = own.or_else(|| open.last().and_then(|around| around.entry));
            open.push(Open { nest, entry, own: Vec::new() });
        }
        if let Some(Open { nest, own, .. }) = open.pop_if(|open| open.nest.meet() == at) {
            let last = own.into_iter().filter(|command| !is_used[*command as usize]);
            edges.extend(last.map(|command| (command, true)));
            edges.extend(nest.entry.filter(|_| nest.commands.is_empty()).map(|at| (at, true)));
        }
        let mut latest: Option<u32> = None;
        let mut follow = |before: u32, uses: bool| {
            latest = latest.max(Some(before));
            is_used[before as usize] |= uses;
        };
        edges.iter().for_each(|&(before, uses)| follow(before, uses));
        conflicts.add(at, accesses, &mut follow);
        if let Some(Open { entry, own, .. }) = open.last_mut() {
            own.push(at);
            if let Some((_, entry)) = entry.filter(|(first, _)| latest < Some(*first)) {
                edges.push((entry, true));
                (latest, is_used[entry as usize]) = (Some(entry), true);
            }
        }
        comes_after[at as usize] = latest.is_some();
    }
    let without = |flags: &[bool]| -> Vec<u32> {
        (0..flags.len() as u32).filter(|at| !flags[*at as usize]).collect()
    };
    (Order { first: without(&comes_after), last: without(&is_used), after }, conflicts)
}

#[cfg(all(test, not(loom)))]
pub(super) mod tests {
    use super::*;
    use crate::engine::pages::storage::StorageId;
    use crate::engine::terms::access::Mode;
    use crate::geom::{Box3, Grid};
    use crate::pages::DomainId;

    /// How many pairs of accesses are compared for an order.
    pub(in crate::graph) fn comparisons<'a>(
        after: After,
        nests: &[Nest],
        accesses: impl Iterator<Item = &'a [Access]>,
    ) -> u64 {
        compared(after, nests, accesses).1.compared()
    }

    /// The order by its definition: nest by nest, the inner ones first, each as a list of its own.
    fn defined(mut after: After, nests: &[Nest], accesses: &[Vec<Access>]) -> Order {
        let order = |after: After, accesses: &[Vec<Access>]| {
            order_of(after, &[], accesses.iter().map(Vec::as_slice))
        };
        for nest in nests.iter().rev() {
            let (base, end) = (nest.commands.start, nest.commands.end);
            let within = base as usize..end as usize;
            let own = after[within.clone()].iter().map(|edges| {
                let edges = edges.iter().filter(|(from, _)| *from >= base);
                edges.map(|(from, uses)| (from - base, *uses)).collect()
            });
            let Order { first, last, .. } = order(own.collect(), &accesses[within]);
            if let Some(entry) = nest.entry {
                first.iter().for_each(|at| after[(base + at) as usize].push((entry, true)));
            }
            let ends = &mut after[end as usize];
            ends.extend(last.iter().map(|at| (base + at, true)));
            ends.extend(nest.entry.filter(|_| base == end).map(|entry| (entry, true)));
        }
        order(after, accesses)
    }

    /// A list in the making, by numbers that look random.
    struct Random {
        seed: u64,
        after: After,
        nests: Vec<Nest>,
        accesses: Vec<Vec<Access>>,
    }

    impl Random {
        fn next(&mut self, most: u64) -> u64 {
            self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            (self.seed >> 33) % most
        }

        fn push(&mut self, edges: &[(u32, bool)], accesses: Vec<Access>) -> u32 {
            self.after.push(edges.iter().copied().collect());
            self.accesses.push(accesses);
            self.after.len() as u32 - 1
        }

        fn access(&mut self) -> Access {
            let grid = Grid::new([1, 1, 12], [1, 1, 4]);
            let (first, length) = (self.next(10) as usize, 1 + self.next(2) as usize);
            let elements = Box3 { min: [0, 0, first], max: [1, 1, first + length] };
            let modes = [Mode::Read, Mode::Update, Mode::Discard { whole: true }];
            let which = (StorageId(self.next(2) as u32, 0), &grid);
            let mode = modes[self.next(3) as usize];
            Access::new(which, elements, mode, DomainId(1))
        }

        /// Commands, and graphs of at most this depth.
        fn list(&mut self, depth: u32) {
            let mut ends: Vec<u32> = Vec::new();
            for _ in 0..self.next(5) {
                let mut edges = Vec::new();
                for end in ends.clone() {
                    if self.next(4) == 0 {
                        edges.push((end, self.next(2) == 0));
                    }
                }
                if depth == 0 || self.next(2) == 0 {
                    let accesses = (0..self.next(3)).map(|_| self.access()).collect();
                    ends.push(self.push(&edges, accesses));
                    continue;
                }
                let entry = (!edges.is_empty()).then(|| self.push(&edges, Vec::new()));
                let (nest, base) = (self.nests.len(), self.after.len() as u32);
                self.nests.push(Nest { entry, commands: base..base });
                self.list(depth - 1);
                self.nests[nest].commands.end = self.after.len() as u32;
                ends.push(self.push(&[], Vec::new()));
            }
        }
    }

    /// GRAPH-02: the first commands of a graph within a graph come after what that comes after, and
    /// what comes after it comes after its last, whatever is within it.
    #[test]
    fn nests_ordered_in_one_pass_are_as_ordered_one_by_one() {
        let (mut nested, mut entered) = (0, 0);
        for seed in 0..2000 {
            let (after, nests, accesses) = (After::new(), Vec::new(), Vec::new());
            let mut list = Random { seed, after, nests, accesses };
            list.list(4);
            let Random { after, nests, accesses, .. } = list;
            let order = order_of(after.clone(), &nests, accesses.iter().map(Vec::as_slice));
            assert_eq!(order, defined(after, &nests, &accesses), "seed {seed}: {nests:?}");
            nested += nests.len();
            entered += nests.iter().filter(|nest| nest.entry.is_some()).count();
        }
        assert!(nested > 2000 && entered > 500, "{nested}, {entered}");
    }
}
