//! Looks for missing barriers: in what batches and recordings have recorded, operations that depend
//! on each other and that no barrier between them orders. For tests. The audit knows nothing of how
//! barriers are chosen ([`barriers`](crate::lane::barriers)).

use crate::lane::barriers::{Barrier, Kinds};
use ash::vk;

/// The recorded commands, in the order of the queue.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Operation(Operation),
    Barrier(Barrier),
}

/// An operation, as far as others may depend on it.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) kinds: Kinds,
    pub(crate) uses: Uses,
}

#[derive(Clone, Debug)]
pub(crate) enum Uses {
    /// Buffers, and whether they are written.
    Buffers(Vec<(vk::Buffer, bool)>),
    /// The buffers of a graph's node, by its number: dependencies are the graph's edges.
    Node(usize),
    /// Anything: a replay that uses many buffers.
    Everything,
}

impl Event {
    pub(crate) fn operation(kinds: Kinds, uses: Uses) -> Event {
        Event::Operation(Operation { kinds, uses })
    }
}

/// Whether two operations use a buffer that one of them writes.
pub(crate) fn conflict(one: &Operation, other: &Operation) -> bool {
    match (&one.uses, &other.uses) {
        (Uses::Buffers(one), Uses::Buffers(other)) => one.iter().any(|(buffer, writes)| {
            other.iter().any(|(own, writes_too)| own == buffer && (*writes || *writes_too))
        }),
        (Uses::Node(_), _) | (_, Uses::Node(_)) => false,
        (Uses::Everything, _) | (_, Uses::Everything) => true,
    }
}

/// The first operation that depends on an earlier one without being ordered behind it, by their
/// numbers among all events: the earlier one, and it.
pub(crate) fn unordered(
    events: &[Event],
    depends: impl Fn(&Operation, &Operation) -> bool,
) -> Option<(usize, usize)> {
    for (from, event) in events.iter().enumerate() {
        let Event::Operation(first) = event else { continue };
        // The kinds of later operations that are behind it.
        let mut behind = Kinds::default();
        for (to, event) in events.iter().enumerate().skip(from + 1) {
            match event {
                // A barrier orders what is before it; and what is before one that leads to it.
                Event::Barrier(barrier) => {
                    if first.kinds.and(behind).meets(barrier.from) {
                        behind = behind.and(barrier.to);
                    }
                }
                Event::Operation(later)
                    if depends(first, later) && !behind.has_all(later.kinds) =>
                {
                    return Some((from, to));
                }
                Event::Operation(_) => {}
            }
        }
    }
    None
}

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % n as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::barriers::{Hazards, Kind, levels};
    use ash::vk::Handle;

    fn kind(random: &mut Random) -> Kind {
        if random.below(2) == 0 { Kind::Compute } else { Kind::Transfer }
    }

    /// A lane's operations over some buffers, with the barriers that it chooses.
    fn lane(random: &mut Random) -> Vec<Event> {
        let (mut hazards, mut events) = (Hazards::default(), vec![]);
        for _ in 0..1 + random.below(16) {
            if random.below(12) == 0 {
                hazards.clear();
                events.push(Event::Barrier(Barrier::FULL));
            }
            // A replay may be of both.
            let kinds = match random.below(6) {
                0 => Kinds::ALL,
                _ => Kinds::of(kind(random)),
            };
            let buffers = (0..1 + random.below(3))
                .map(|_| (vk::Buffer::from_raw(random.below(4) as u64), random.below(3) == 0));
            let buffers: Vec<_> = buffers.collect();
            events.extend(hazards.before(kinds, &buffers).map(Event::Barrier));
            events.push(Event::operation(kinds, Uses::Buffers(buffers)));
        }
        events
    }

    /// The nodes of a graph level by level with the barriers between these; and its edges, those
    /// that lead over nodes without a kind included.
    fn graph(random: &mut Random) -> (Vec<Event>, Vec<Vec<usize>>) {
        let count = 1 + random.below(12);
        let mut after: Vec<Vec<usize>> = vec![];
        for own in 0..count {
            let edges = (0..random.below(3)).filter(|_| own > 0);
            after.push(edges.map(|_| random.below(own)).collect());
        }
        let kinds = (0..count).map(|_| match random.below(8) {
            0 => Kinds::default(),
            1 => Kinds::ALL,
            _ => Kinds::of(kind(random)),
        });
        let kinds: Vec<Kinds> = kinds.collect();
        let all: Vec<_> = kinds.iter().copied().zip(after.iter().map(Vec::as_slice)).collect();
        let (order, levels) = levels(&all);
        let (mut events, mut order, mut before) = (vec![], order.into_iter(), None);
        for (to, count) in levels {
            let barrier = before.replace(to).map(|from| Event::Barrier(Barrier { from, to }));
            events.extend(barrier);
            let nodes = order.by_ref().take(count);
            events.extend(nodes.map(|node| Event::operation(kinds[node], Uses::Node(node))));
        }
        for own in 0..count {
            let over: Vec<usize> = after[own].iter().flat_map(|at| after[*at].clone()).collect();
            after[own].extend(over);
        }
        (events, after)
    }

    fn edge(after: &[Vec<usize>]) -> impl Fn(&Operation, &Operation) -> bool {
        |one, other| match (&one.uses, &other.uses) {
            (Uses::Node(one), Uses::Node(other)) => after[*other].contains(one),
            _ => false,
        }
    }

    /// Each barrier of a lane is needed, so the planted loss of any is found.
    #[test]
    fn planted_loss_of_a_barrier_of_a_lane_is_found() {
        let (mut random, mut planted) = (Random(1), 0);
        for case in 0..5_000 {
            let events = lane(&mut random);
            assert_eq!(unordered(&events, conflict), None, "case {case}: {events:#?}");
            for at in 0..events.len() {
                // A full barrier was not chosen for what follows.
                if !matches!(events[at], Event::Barrier(barrier) if barrier != Barrier::FULL) {
                    continue;
                }
                let mut fewer = events.clone();
                fewer.remove(at);
                assert!(unordered(&fewer, conflict).is_some(), "case {case}, {at}: {events:#?}");
                planted += 1;
            }
        }
        assert!(planted > 5_000, "{planted}");
    }

    /// A level is behind another since a node of it comes after one of that: so a barrier between
    /// two levels is needed, and its planted loss is found.
    #[test]
    fn planted_loss_of_a_barrier_of_a_graph_is_found() {
        let (mut random, mut planted) = (Random(2), 0);
        for case in 0..5_000 {
            let (events, after) = graph(&mut random);
            assert_eq!(unordered(&events, edge(&after)), None, "case {case}: {events:#?}");
            for at in 0..events.len() {
                if !matches!(events[at], Event::Barrier(_)) {
                    continue;
                }
                let mut fewer = events.clone();
                fewer.remove(at);
                let found = unordered(&fewer, edge(&after));
                assert!(found.is_some(), "case {case}, {at}: {events:#?}");
                planted += 1;
            }
        }
        assert!(planted > 5_000, "{planted}");
    }
}
