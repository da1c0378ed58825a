//! Which commands of a graph conflict: use elements of one storage, and one of them writes.

use super::boxes::Boxes;
use crate::engine::pages::storage::StorageId;
use crate::engine::terms::access::{Access, Mode};
use crate::geom::Box3;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The accesses so far that later ones may conflict with. Of an access only the elements are kept
/// that no later command has written: what comes later comes after that one.
#[derive(Default)]
pub(super) struct Conflicts {
    storages: IdMap<Formers>,
    /// How many commands there are.
    pub(super) commands: u32,
}

/// By storage. Their ids are small numbers of the engine's own.
pub(super) type IdMap<T> = HashMap<StorageId, T, BuildHasherDefault<IdHasher>>;

/// Spreads a number.
#[derive(Default)]
pub(super) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }

    fn write_u32(&mut self, id: u32) {
        self.0 = (self.0 ^ u64::from(id)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }
}

/// Accesses of one storage, by their elements. Apart, since a read is compared with no other read:
/// many commands may read what none of them writes.
#[derive(Default)]
struct Formers {
    reads: Boxes<u32>,
    writes: Boxes<u32>,
}

impl Conflicts {
    /// Command `at` is the next one, with these accesses. `found` is told of the earlier ones that
    /// it conflicts with, maybe repeatedly, and whether it uses what they write.
    pub(super) fn add(&mut self, at: u32, accesses: &[Access], found: &mut dyn FnMut(u32, bool)) {
        self.commands = at + 1;
        for access in accesses.iter().filter(|access| !access.elements.is_empty()) {
            let Formers { reads, writes } = self.storages.entry(access.storage).or_default();
            let (elements, uses) = (access.elements, !access.mode.discards());
            let mut meets = |former: u32, uses: bool| {
                if former != at {
                    found(former, uses);
                }
                true
            };
            if !access.mode.writes() {
                writes.find(&elements, |_, former| meets(former, uses));
                reads.insert(elements, at);
                continue;
            }
            // What this command itself has used there is cut, too: its boxes do not overlap.
            reads.cut(&elements, |former| meets(former, false));
            writes.cut(&elements, |former| meets(former, uses));
            writes.insert(elements, at);
        }
    }

    /// The latest command that an access by something else conflicts with, and whether that writes.
    pub(super) fn latest(
        &mut self,
        storage: StorageId,
        elements: &Box3,
        mode: Mode,
    ) -> Option<(u32, bool)> {
        let Formers { reads, writes } = self.storages.get_mut(&storage)?;
        let mut latest = None;
        writes.find(elements, |_, former| {
            latest = latest.max(Some((former, true)));
            true
        });
        if mode.writes() {
            reads.find(elements, |_, former| {
                latest = latest.max(Some((former, false)));
                true
            });
        }
        latest
    }

    /// How many pairs of accesses have been compared: the cost of making a graph.
    #[cfg(test)]
    pub(super) fn compared(&self) -> u64 {
        self.storages.values().map(|of| of.reads.compared + of.writes.compared).sum()
    }
}

/// The edges of a command to earlier ones, and whether it fails with them.
pub(super) type Edges = SmallVec<[(u32, bool); 2]>;

/// The edges of each command.
pub(super) type After = Vec<Edges>;

/// Sorts edges, and has one from each command. Failure travels along it if along one of several.
pub(super) fn merge<A: smallvec::Array<Item = (u32, bool)>>(edges: &mut SmallVec<A>) {
    edges.sort_unstable();
    edges.dedup_by(|again, first| {
        let same = again.0 == first.0;
        first.1 |= same && again.1;
        same
    });
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

    /// How many comparisons and edges so many commands take, each of these accesses: storage, first
    /// element and length, mode.
    fn cost(commands: u32, accesses: impl Fn(u32) -> Vec<(u32, [usize; 2], Mode)>) -> [u64; 2] {
        let grid = Grid::new([1, 1, 1 << 20], [1, 1, 1 << 10]);
        let (mut conflicts, mut edges) = (Conflicts::default(), 0);
        for at in 0..commands {
            let accesses = accesses(at).into_iter().map(|(storage, [first, length], mode)| {
                let elements = Box3 { min: [0, 0, first], max: [1, 1, first + length] };
                Access::new((StorageId(storage, 0), &grid), elements, mode, DomainId(1))
            });
            let accesses: Vec<Access> = accesses.collect();
            conflicts.add(at, &accesses, &mut |_, _| edges += 1);
        }
        [conflicts.compared(), edges]
    }

    /// GRAPH-01: what adding nodes, recording and `finalize` do for each node is bounded by the
    /// writers of parts that it meets, and not by the size of the graph.
    #[test]
    fn twice_the_commands_take_twice_the_comparisons() {
        use Mode::{Read, Update};
        const WHOLE: Mode = Mode::Discard { whole: true };
        const ALL: [usize; 2] = [0, 1 << 20];
        let own = |at: u32| [at as usize * 16, 16];
        type Shape<'s> = &'s dyn Fn(u32) -> Vec<(u32, [usize; 2], Mode)>;
        let shapes: [(&str, Shape<'_>); 9] = [
            ("a chain", &|_| vec![(0, ALL, Update)]),
            ("two buffers in turn", &|at| vec![(at % 2, ALL, Read), (1 - at % 2, ALL, WHOLE)]),
            ("all read one buffer", &|at| vec![(0, ALL, Read), (1 + at, ALL, WHOLE)]),
            ("ten parts of one buffer", &|at| vec![(0, own(at % 10), Update)]),
            ("readers, and a writer now and then", &|at| {
                vec![(0, ALL, if at % 100 == 99 { Update } else { Read })]
            }),
            ("a part for each", &|at| vec![(0, own(at), WHOLE)]),
            ("a part for each, and its neighbours", &|at| {
                let [first, length] = own(at);
                vec![(0, [first.saturating_sub(8), length + 16], Read), (1, own(at), WHOLE)]
            }),
            ("parts of two buffers in turn", &|at| {
                let part = own(at / 2 % 100);
                vec![(at % 2, part, Read), (1 - at % 2, part, WHOLE)]
            }),
            ("a part is written, all is read", &|at| match at % 2 {
                0 => vec![(0, own(at / 2 % 8), Update)],
                _ => vec![(0, ALL, Read)],
            }),
        ];
        for (name, shape) in shapes {
            let [[once, edges], [twice, more]] = [1000, 2000].map(|commands| cost(commands, shape));
            assert!(10 * twice <= 21 * once + 20_000, "{name}: {once}, {twice} comparisons");
            assert!(10 * more <= 22 * edges + 1000, "{name}: {edges}, {more} edges");
            assert!(twice <= 50 * 2000, "{name}: {twice} comparisons");
        }
    }

    /// Also if they are many, and in any order.
    #[test]
    fn commands_conflict_with_the_latest_users_of_their_elements() {
        use Mode::{Read, Update};
        let grid = Grid::new([1, 1, 400], [1, 1, 1]);
        let mut conflicts = Conflicts::default();
        let mut add = |at: u32, first: usize, length: usize, mode: Mode| {
            let elements = Box3 { min: [0, 0, first], max: [1, 1, first + length] };
            let access = Access::new((StorageId(0, 0), &grid), elements, mode, DomainId(1));
            let mut all = Vec::new();
            conflicts.add(at, &[access], &mut |former, _| all.push(former));
            all.sort_unstable();
            all.dedup();
            all
        };
        assert_eq!(add(0, 0, 400, Update), []);
        for part in 0..40 {
            assert_eq!(add(1 + part, 10 * part as usize, 10, Update), [0]);
        }
        // Every element has been written since.
        assert_eq!(add(41, 95, 10, Read), [10, 11]);
        assert_eq!(add(42, 0, 400, Read), (1..=40).collect::<Vec<u32>>());
        assert_eq!(add(43, 100, 10, Update), [11, 41, 42]);
        assert_eq!(add(44, 90, 15, Update), [10, 41, 42, 43]);
        assert_eq!(add(45, 90, 20, Read), [43, 44]);
    }
}
