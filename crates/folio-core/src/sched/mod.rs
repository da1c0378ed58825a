//! Which device runs a command of a queue that has several. Pure: a scheduler sees numbers and
//! answers with an index; the engine checks it.

mod model;
mod split;

use crate::geom::Dims;
pub use model::Model;
pub(crate) use model::{Rates, Schedule, is_worth, taking_part};
pub use split::Split;
pub(crate) use split::{Parts, rounded, tile};

/// What a scheduler is told of the command.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Task<'a> {
    /// Its name, or empty.
    pub label: &'a str,
    /// Its launch range; `None` for anything but a kernel.
    pub range: Option<Dims>,
    /// How many commands this queue has placed before.
    pub sequence: u64,
}

/// What a scheduler is told of a device.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Candidate<'a> {
    /// Its name, such as `cpu:0`.
    pub name: &'a str,
    /// Bytes of the command's accesses that would have to be copied there.
    pub bytes_to_move: u64,
    /// Bytes that the command writes and that are current elsewhere only: it would take them away
    /// from there.
    pub bytes_to_take: u64,
    /// Operations handed to it that have not ended, as far as is known.
    pub in_flight: u64,
    /// Commands of this queue that it was chosen for.
    pub placed: u64,
    /// How much it does at once.
    pub compute_units: u32,
    /// When it could begin the command with its data there, in nanoseconds on a clock of the
    /// queue's: 0 unless the scheduler [measures](Scheduler::measures).
    pub starts_ns: u64,
    /// How long it takes for the command, by what was measured of kernels of that name.
    pub run_ns: Option<u64>,
}

impl<'a> Candidate<'a> {
    /// A device of which nothing more is known.
    #[cfg(test)]
    pub(crate) fn of(name: &'a str) -> Candidate<'a> {
        let [bytes_to_move, bytes_to_take, in_flight, placed, starts_ns] = [0; 5];
        let (compute_units, run_ns) = (1, None);
        Candidate {
            name,
            bytes_to_move,
            bytes_to_take,
            in_flight,
            placed,
            compute_units,
            starts_ns,
            run_ns,
        }
    }
}

/// Chooses devices. The answer is an index into the candidates; one that is out of range means
/// the first. Called without any lock, from the thread that submits; the numbers are a snapshot.
pub trait Scheduler: Send + Sync {
    /// Chooses.
    fn choose(&self, task: &Task<'_>, candidates: &[Candidate<'_>]) -> usize;

    /// How what all devices share is divided among them. With a split, fills and copies are shared
    /// as well; without one, only launches by [`Queue::spread`](crate::Queue::spread), in bands of
    /// rows.
    fn split(&self) -> Option<Split> {
        None
    }

    /// Its queues have kernels timed, and tell it how long they take.
    fn measures(&self) -> bool {
        false
    }
}

/// Fewest bytes to move; then least load for its size, least used by the queue for its size, the
/// first.
///
/// Where all devices read the same, the one that has read it needs the fewest bytes for whatever
/// comes next, and gets it: there [`OwnerComputes`] is the better choice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Locality;

fn by_size(candidate: &Candidate<'_>, n: u64) -> u64 {
    n.saturating_mul(1024) / u64::from(candidate.compute_units.max(1))
}

fn cheapest<C: Ord>(candidates: &[Candidate<'_>], cost: impl Fn(&Candidate<'_>) -> C) -> usize {
    let best = candidates.iter().enumerate().min_by_key(|(_, candidate)| cost(candidate));
    best.map_or(0, |(at, _)| at)
}

impl Scheduler for Locality {
    fn choose(&self, _: &Task<'_>, candidates: &[Candidate<'_>]) -> usize {
        cheapest(candidates, |c| (c.bytes_to_move, by_size(c, c.in_flight), by_size(c, c.placed)))
    }
}

/// Where most of what the command writes is, whatever it has to read there. What is nowhere yet is
/// spread: it goes to the device that the queue has used least for its size; then where the fewest
/// bytes need to move.
///
/// Data that is read is copied, and is then there as well; data that is written is in one place. So
/// each device keeps its part of what is computed, also where all of them need everything, as
/// bodies that attract each other do.
#[derive(Clone, Copy, Debug, Default)]
pub struct OwnerComputes;

impl Scheduler for OwnerComputes {
    fn choose(&self, _: &Task<'_>, candidates: &[Candidate<'_>]) -> usize {
        cheapest(candidates, |c| (c.bytes_to_take, by_size(c, c.placed), c.bytes_to_move))
    }
}

/// A launch that one device runs goes where most of what it writes is.
impl Scheduler for Split {
    fn choose(&self, task: &Task<'_>, candidates: &[Candidate<'_>]) -> usize {
        OwnerComputes.choose(task, candidates)
    }

    fn split(&self) -> Option<Split> {
        Some(self.clone())
    }

    fn measures(&self) -> bool {
        self.is_measured()
    }
}

/// One after the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundRobin;

impl Scheduler for RoundRobin {
    fn choose(&self, task: &Task<'_>, candidates: &[Candidate<'_>]) -> usize {
        (task.sequence % candidates.len().max(1) as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(bytes_to_move: u64, in_flight: u64, compute_units: u32) -> Candidate<'static> {
        Candidate { bytes_to_move, in_flight, compute_units, ..Candidate::of("d") }
    }

    const TASK: Task<'static> = Task { label: "", range: None, sequence: 5 };

    #[test]
    fn locality_moves_least_then_balances() {
        // BACK-03
        let choose = |c: &[Candidate<'_>]| Locality.choose(&TASK, c);
        assert_eq!(choose(&[candidate(8, 0, 1), candidate(4, 9, 1)]), 1);
        assert_eq!(choose(&[candidate(4, 2, 1), candidate(4, 1, 1)]), 1);
        assert_eq!(choose(&[candidate(4, 2, 1), candidate(4, 3, 2)]), 1);
        assert_eq!(choose(&[candidate(4, 1, 1), candidate(4, 1, 1)]), 0);
        assert_eq!(choose(&[]), 0);
    }

    #[test]
    fn what_costs_the_same_is_spread() {
        // BACK-03
        let mut all = [candidate(4, 0, 1), candidate(4, 0, 2), candidate(4, 0, 1)];
        for _ in 0..400 {
            let chosen = Locality.choose(&TASK, &all);
            all[chosen].placed += 1;
        }
        assert_eq!(all.each_ref().map(|c| c.placed), [100, 200, 100]);
        all[0].bytes_to_move = 3;
        assert_eq!(Locality.choose(&TASK, &all), 0);
    }

    #[test]
    fn owners_compute_what_they_have() {
        // BACK-03
        let choose = |c: &[Candidate<'_>]| OwnerComputes.choose(&TASK, c);
        let [mut here, mut there] = [candidate(0, 0, 1), candidate(1000, 9, 1)];
        assert_eq!(choose(&[here.clone(), there.clone()]), 0);
        here.bytes_to_take = 1;
        assert_eq!(choose(&[here.clone(), there.clone()]), 1);
        there.bytes_to_take = 1;
        assert_eq!(choose(&[here.clone(), there.clone()]), 0);
        // Nobody has more of it: whoever has been used least.
        here.placed = 3;
        there.placed = 2;
        assert_eq!(choose(&[here, there]), 1);
        assert_eq!(choose(&[]), 0);
    }

    #[test]
    fn round_robin_takes_turns() {
        assert_eq!(RoundRobin.choose(&TASK, &[candidate(0, 0, 1), candidate(0, 0, 1)]), 1);
        assert_eq!(RoundRobin.choose(&TASK, &[]), 0);
    }
}
