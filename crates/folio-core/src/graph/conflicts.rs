//! Which commands of a graph conflict: use elements of one storage, and one of them writes.

use crate::engine::access::{Access, Mode};
use crate::engine::replay::Order;
use crate::engine::storage::StorageId;
use crate::geom::Box3;
use smallvec::SmallVec;
use std::collections::HashMap;

/// The accesses so far that later ones may conflict with.
#[derive(Default)]
pub(super) struct Conflicts {
    storages: HashMap<StorageId, Formers>,
    /// How many pairs of accesses have been compared: the cost of making a graph.
    compared: u64,
}

/// Those of one storage. Apart, since a read is compared with no other read: many commands may read
/// what none of them writes.
#[derive(Default)]
struct Formers {
    reads: Vec<Former>,
    writes: Vec<Former>,
}

struct Former {
    at: u32,
    elements: Box3,
}

impl Conflicts {
    /// Command `at` is the next one, with these accesses. `found` is told of the earlier ones that
    /// it conflicts with, maybe repeatedly, and whether it uses what they write.
    pub(super) fn add(&mut self, at: u32, accesses: &[Access], found: &mut dyn FnMut(u32, bool)) {
        for access in accesses.iter().filter(|access| !access.elements.is_empty()) {
            let Formers { reads, writes } = self.storages.entry(access.storage).or_default();
            let (elements, uses) = (access.elements, !access.mode.discards());
            let now = Former { at, elements };
            self.compared += writes.len() as u64;
            if !access.mode.writes() {
                let conflicts = |former: &&Former| former.at != at && former.meets(&elements);
                writes.iter().filter(conflicts).for_each(|former| found(former.at, uses));
                reads.push(now);
                continue;
            }
            self.compared += reads.len() as u64;
            for (formers, uses) in [(reads, false), (&mut *writes, uses)] {
                formers.retain(|former| {
                    if former.at == at || !former.meets(&elements) {
                        return true;
                    }
                    found(former.at, uses);
                    // What comes later conflicts with this one, too.
                    !elements.contains(&former.elements)
                });
            }
            writes.push(now);
        }
    }
}

impl Former {
    fn meets(&self, elements: &Box3) -> bool {
        self.elements.overlaps(elements)
    }
}

/// The edges of each command to earlier ones, and whether it fails with them.
pub(super) type After = Vec<SmallVec<[(u32, bool); 2]>>;

/// The order of commands with these edges and accesses.
pub(super) fn order_of<'a>(after: After, accesses: impl Iterator<Item = &'a [Access]>) -> Order {
    let (mut comes_after, mut is_used) = (vec![false; after.len()], vec![false; after.len()]);
    let mut conflicts = Conflicts::default();
    for (at, (edges, accesses)) in after.iter().zip(accesses).enumerate() {
        let mut follow = |before: u32, uses: bool| {
            comes_after[at] = true;
            is_used[before as usize] |= uses;
        };
        edges.iter().for_each(|&(before, uses)| follow(before, uses));
        conflicts.add(at as u32, accesses, &mut follow);
    }
    let without = |flags: &[bool]| -> Vec<u32> {
        (0..flags.len() as u32).filter(|at| !flags[*at as usize]).collect()
    };
    Order { first: without(&comes_after), last: without(&is_used), after }
}

/// A number for a way of access.
pub(super) fn number_of(mode: Mode) -> u64 {
    match mode {
        Mode::Read => 0,
        Mode::Update => 1,
        Mode::Discard { whole: false } => 2,
        Mode::Discard { whole: true } => 3,
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::geom::Grid;
    use crate::pages::DomainId;

    /// How many comparisons and edges so many commands take, each of these accesses: storage, part
    /// in tenths, mode.
    fn cost(commands: u32, accesses: impl Fn(u32) -> Vec<(u32, usize, Mode)>) -> [u64; 2] {
        let grid = Grid::new([1, 1, 10], [1, 1, 1]);
        let (mut conflicts, mut edges) = (Conflicts::default(), 0);
        for at in 0..commands {
            let accesses = accesses(at).into_iter().map(|(storage, part, mode)| {
                let elements = Box3 { min: [0, 0, part], max: [1, 1, part + 1] };
                Access::new((StorageId(storage), &grid), elements, mode, DomainId(1))
            });
            let accesses: Vec<Access> = accesses.collect();
            conflicts.add(at, &accesses, &mut |_, _| edges += 1);
        }
        [conflicts.compared, edges]
    }

    /// GRAPH-01: what adding nodes, recording and `finalize` do for each node is bounded by the
    /// writers of parts that it meets, and not by the size of the graph.
    #[test]
    fn twice_the_commands_take_twice_the_comparisons() {
        use Mode::{Read, Update};
        const WHOLE: Mode = Mode::Discard { whole: true };
        type Shape = fn(u32) -> Vec<(u32, usize, Mode)>;
        let shapes: [(&str, Shape); 5] = [
            ("a chain", |_| vec![(0, 0, Update)]),
            ("two buffers in turn", |at| vec![(at % 2, 0, Read), (1 - at % 2, 0, WHOLE)]),
            ("all read one buffer", |at| vec![(0, 0, Read), (1 + at, 0, WHOLE)]),
            ("parts of one buffer", |at| vec![(0, at as usize % 10, Update)]),
            ("readers, and a writer now and then", |at| {
                vec![(0, 0, if at % 100 == 99 { Update } else { Read })]
            }),
        ];
        for (name, shape) in shapes {
            let [[once, edges], [twice, more]] = [1000, 2000].map(|commands| cost(commands, shape));
            assert!(twice <= 2 * once + 100 && more <= 2 * edges + 100, "{name}: {once}, {twice}");
            assert!(twice <= 20 * 2000, "{name}: {twice} comparisons");
        }
    }
}
