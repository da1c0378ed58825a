//! Which device runs a command of a queue that has several. Pure: a scheduler sees numbers and
//! answers with an index; the engine checks it.

use crate::geom::Dims;

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
    /// Operations handed to it that have not ended, as far as is known.
    pub in_flight: u64,
    /// How much it does at once.
    pub compute_units: u32,
}

/// Chooses devices. The answer is an index into the candidates; one that is out of range means
/// the first. Called without any lock, from the thread that submits; the numbers are a snapshot.
pub trait Scheduler: Send + Sync {
    /// Chooses.
    fn choose(&self, task: &Task<'_>, candidates: &[Candidate<'_>]) -> usize;
}

/// Fewest bytes to move, then least load for its size, then the first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Locality;

impl Scheduler for Locality {
    fn choose(&self, _: &Task<'_>, candidates: &[Candidate<'_>]) -> usize {
        let load = |c: &Candidate<'_>| c.in_flight * 1024 / u64::from(c.compute_units.max(1));
        let best = candidates.iter().enumerate().min_by_key(|(_, c)| (c.bytes_to_move, load(c)));
        best.map_or(0, |(at, _)| at)
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
        Candidate { name: "d", bytes_to_move, in_flight, compute_units }
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
    fn round_robin_takes_turns() {
        assert_eq!(RoundRobin.choose(&TASK, &[candidate(0, 0, 1), candidate(0, 0, 1)]), 1);
        assert_eq!(RoundRobin.choose(&TASK, &[]), 0);
    }
}
