//! Where barriers are, and between what.
//!
//! A barrier is between kinds of operations: dispatches, and the device's own copies and fills. The
//! barrier orders all operations before it of the first kinds, and what they have written, before
//! all operations after it of the second kinds.
//!
//! * On a lane, an operation has a barrier before it if it uses what an earlier one writes, or
//!   writes what an earlier one uses, and no barrier toward its kind came in between. That barrier
//!   is from the kinds that came since the last one toward its kind. Barriers toward a kind
//!   therefore follow one another without a gap, and each operation is behind all that came before
//!   the last. A replay of a graph is one operation, of several kinds perhaps.
//! * In a graph, operations have levels: one more than the highest level that they come after. A
//!   barrier is between two levels, from the kinds of the one to the kinds of the other. Each
//!   barrier thus begins where the one before it has ended, and orders all earlier levels, too.

use ash::vk;
use folio_driver::memory::Handles;

/// Buffers that are remembered across barriers, at most.
const REMEMBERED: usize = 1024;

/// The kind of an operation, for the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A dispatch.
    Compute,
    /// A copy or fill by a command.
    Transfer,
}

impl Kind {
    const ALL: [Kind; 2] = [Kind::Compute, Kind::Transfer];
}

/// Some kinds.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Kinds(u8);

impl Kinds {
    pub(crate) const ALL: Kinds = Kinds(3);

    pub(crate) const fn of(kind: Kind) -> Kinds {
        Kinds(1 << kind as u8)
    }

    pub(crate) fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    fn has(self, kind: Kind) -> bool {
        self.0 & Kinds::of(kind).0 != 0
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether both have a kind in common.
    #[cfg(test)]
    pub(crate) fn meets(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    /// All of those are among them.
    #[cfg(test)]
    pub(crate) fn has_all(self, other: Kinds) -> bool {
        self.0 & other.0 == other.0
    }

    /// The kinds that a queue without kernels has.
    pub(crate) fn without_compute(self) -> Kinds {
        Kinds(self.0 & Kinds::of(Kind::Transfer).0)
    }

    /// When they are.
    pub(crate) fn stages(self) -> vk::PipelineStageFlags2 {
        let flags = [
            (Kind::Compute, vk::PipelineStageFlags2::COMPUTE_SHADER),
            (Kind::Transfer, vk::PipelineStageFlags2::ALL_TRANSFER),
        ];
        self.select(flags)
    }

    /// How they write memory.
    pub(crate) fn writes(self) -> vk::AccessFlags2 {
        let flags = [
            (Kind::Compute, vk::AccessFlags2::SHADER_STORAGE_WRITE),
            (Kind::Transfer, vk::AccessFlags2::TRANSFER_WRITE),
        ];
        self.select(flags)
    }

    /// How they use memory.
    pub(crate) fn accesses(self) -> vk::AccessFlags2 {
        let flags = [
            (Kind::Compute, vk::AccessFlags2::SHADER_STORAGE_READ),
            (Kind::Transfer, vk::AccessFlags2::TRANSFER_READ),
        ];
        self.select(flags) | self.writes()
    }

    fn select<T: Default + std::ops::BitOr<Output = T>>(self, flags: [(Kind, T); 2]) -> T {
        let own = flags.into_iter().filter(|(kind, _)| self.has(*kind));
        own.fold(T::default(), |all, (_, flag)| all | flag)
    }
}

/// A barrier between all operations before it of some kinds, and those after it of others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Barrier {
    pub(crate) from: Kinds,
    pub(crate) to: Kinds,
}

impl Barrier {
    pub(crate) const FULL: Barrier = Barrier { from: Kinds::ALL, to: Kinds::ALL };
}

/// The buffers that were used since barriers, as far as a lane's operations may depend on it.
#[derive(Debug, Default)]
pub(crate) struct Hazards {
    /// By buffer, and by the kind of what comes.
    uses: Handles<vk::Buffer, [Use; 2]>,
    /// By the kind of what comes.
    toward: [Toward; 2],
}

/// Buffers that a recording tells apart, at most: each replay looks at all of them.
const TOLD: usize = 64;

/// The buffers that a graph's operations use, each once, and whether any writes it. Of too many it
/// is only known that they are too many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used(Vec<(vk::Buffer, bool)>);

impl Used {
    pub(crate) fn add(&mut self, all: &[(vk::Buffer, bool)]) {
        for (buffer, writes) in all {
            if self.0.len() > TOLD {
                return;
            }
            match self.0.iter_mut().find(|(known, _)| known == buffer) {
                Some((_, known)) => *known |= writes,
                None => self.0.push((*buffer, *writes)),
            }
        }
    }

    /// All of them, if they are not too many.
    pub(crate) fn all(&self) -> Option<&[(vk::Buffer, bool)]> {
        (self.0.len() <= TOLD).then_some(&self.0)
    }
}

/// How a buffer has been used since the last barrier toward a kind, which this is the number of.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    barrier: u32,
    writes: bool,
}

/// The last barrier toward a kind.
#[derive(Clone, Copy, Debug)]
struct Toward {
    number: u32,
    /// The kinds that came since.
    since: Kinds,
}

impl Default for Toward {
    fn default() -> Toward {
        // Buffers that were never used have number 0.
        Toward { number: 1, since: Kinds::default() }
    }
}

impl Hazards {
    /// The barrier before an operation, which is noted. Each buffer that it uses, and whether it
    /// writes that.
    pub(crate) fn before(&mut self, kinds: Kinds, all: &[(vk::Buffer, bool)]) -> Option<Barrier> {
        let conflicts = all.iter().any(|(buffer, writes)| {
            let Some(uses) = self.uses.get(buffer) else { return false };
            uses.iter().zip(&self.toward).zip(Kind::ALL).any(|((known, toward), kind)| {
                kinds.has(kind) && known.barrier == toward.number && (known.writes || *writes)
            })
        });
        let barrier = conflicts.then(|| {
            let mut from = Kinds::default();
            let own = self.toward.iter_mut().zip(Kind::ALL).filter(|(_, kind)| kinds.has(*kind));
            for (toward, _) in own {
                from = from.and(std::mem::take(&mut toward.since));
                toward.number += 1;
            }
            Barrier { from, to: kinds }
        });
        for toward in &mut self.toward {
            toward.since = toward.since.and(kinds);
        }
        for (buffer, writes) in all {
            let uses = self.uses.entry(*buffer).or_default();
            for (own, toward) in uses.iter_mut().zip(&self.toward) {
                let before = own.barrier == toward.number && own.writes;
                *own = Use { barrier: toward.number, writes: before || *writes };
            }
        }
        barrier
    }

    /// All that came before is ordered before all that comes.
    pub(crate) fn clear(&mut self) {
        for toward in &mut self.toward {
            *toward = Toward { number: toward.number + 1, since: Kinds::default() };
        }
        if self.uses.len() > REMEMBERED {
            self.uses.clear();
        }
    }
}

/// Operations of a graph in the order in which they are recorded, and the kinds of each level. Each
/// operation is the kinds that it is of, and those that it comes after. An operation of no kind,
/// where several meet, has no level of its own.
pub(crate) fn levels(all: &[(Kinds, &[usize])]) -> (Vec<usize>, Vec<(Kinds, usize)>) {
    let mut ends: Vec<usize> = Vec::with_capacity(all.len());
    let mut levels: Vec<(Kinds, usize)> = vec![];
    for (kinds, after) in all {
        let behind = after.iter().filter_map(|at| ends.get(*at)).max().copied().unwrap_or(0);
        if kinds.is_empty() {
            ends.push(behind);
            continue;
        }
        if levels.len() == behind {
            levels.push((Kinds::default(), 0));
        }
        let level = &mut levels[behind];
        *level = (level.0.and(*kinds), level.1 + 1);
        ends.push(behind + 1);
    }
    let mut order: Vec<usize> = (0..all.len()).filter(|at| !all[*at].0.is_empty()).collect();
    order.sort_by_key(|at| ends[*at]);
    (order, levels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Kind::{Compute, Transfer};
    use ash::vk::Handle;

    const COMPUTE: Kinds = Kinds::of(Compute);
    const TRANSFER: Kinds = Kinds::of(Transfer);

    /// The kind of an operation, the buffers that it uses, and from what it has a barrier.
    type Case<'a> = (Kind, &'a [(vk::Buffer, bool)], Option<Kinds>);

    /// Barriers are only between operations of which one writes what the other uses, and name no
    /// other kinds than theirs.
    #[test]
    fn barriers_are_between_operations_that_depend_on_each_other() {
        let [a, b] = [1, 2].map(vk::Buffer::from_raw);
        // Memory that others have, too, may be any of its kind.
        let others = vk::Buffer::null();
        let operations: [Case<'_>; 17] = [
            (Compute, &[(a, true)], None),
            (Compute, &[(b, true)], None),
            // A read of what was written; two reads.
            (Compute, &[(a, false)], Some(COMPUTE)),
            (Compute, &[(a, false), (b, false)], None),
            // A write of what was read; a write of what nothing has used since.
            (Compute, &[(b, true)], Some(COMPUTE)),
            (Compute, &[(a, true)], None),
            (Compute, &[(a, true)], Some(COMPUTE)),
            (Compute, &[(others, true)], None),
            (Compute, &[(others, false)], Some(COMPUTE)),
            (Compute, &[(b, true)], None),
            // No barrier so far was toward copies.
            (Transfer, &[(b, false)], Some(COMPUTE)),
            (Transfer, &[(a, false)], None),
            // A dispatch behind copies and dispatches; a copy behind that; nothing of both.
            (Compute, &[(b, true)], Some(Kinds::ALL)),
            (Transfer, &[(a, true)], Some(Kinds::ALL)),
            (Compute, &[(a, false)], Some(Kinds::ALL)),
            // The last barrier toward copies came behind what has written this.
            (Transfer, &[(b, false)], None),
            (Transfer, &[(a, true)], Some(Kinds::ALL)),
        ];
        let mut hazards = Hazards::default();
        for (at, (kind, all, from)) in operations.into_iter().enumerate() {
            let want = from.map(|from| Barrier { from, to: Kinds::of(kind) });
            assert_eq!(hazards.before(Kinds::of(kind), all), want, "operation {at}");
        }
        hazards.clear();
        assert_eq!(hazards.before(COMPUTE, &[(a, true), (b, true)]), None, "behind a full barrier");
        // A replay of both kinds: toward one of them there was no barrier since.
        assert_eq!(
            hazards.before(TRANSFER, &[(b, false)]),
            Some(Barrier { from: COMPUTE, to: TRANSFER })
        );
        let both = Barrier { from: Kinds::ALL, to: Kinds::ALL };
        assert_eq!(hazards.before(Kinds::ALL, &[(a, false)]), Some(both));
        assert_eq!(hazards.before(Kinds::ALL, &[(b, false)]), None);
        assert_eq!(
            hazards.before(COMPUTE, &[(b, true)]),
            Some(Barrier { from: Kinds::ALL, to: COMPUTE })
        );
    }

    #[test]
    fn levels_are_as_many_as_operations_in_a_row() {
        let none = Kinds::default();
        // Independent; a chain; a fork and a join.
        let many = [(COMPUTE, &[][..]); 5];
        assert_eq!(levels(&many), (vec![0, 1, 2, 3, 4], vec![(COMPUTE, 5)]));
        let chain = [(COMPUTE, &[][..]), (TRANSFER, &[0]), (COMPUTE, &[1])];
        let each = [(COMPUTE, 1), (TRANSFER, 1), (COMPUTE, 1)];
        assert_eq!(levels(&chain), (vec![0, 1, 2], each.to_vec()));
        let fork = [
            (COMPUTE, &[][..]),
            (COMPUTE, &[0]),
            (COMPUTE, &[1]),
            (TRANSFER, &[0]),
            // Where they meet, without an operation, and behind that.
            (none, &[2, 3]),
            (COMPUTE, &[4]),
            (COMPUTE, &[]),
        ];
        let (order, each) = levels(&fork);
        assert_eq!(order, [0, 6, 1, 3, 2, 5]);
        assert_eq!(each, [(COMPUTE, 2), (Kinds::ALL, 2), (COMPUTE, 1), (COMPUTE, 1)]);
    }
}
