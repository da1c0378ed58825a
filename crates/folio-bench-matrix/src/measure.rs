//! Times both sides of a row, round by round, and checks their results before and after.

use crate::bench::{Counted, Pair, Side};
use crate::error::{Error, Result};
use crate::peers;
use std::time::{Duration, Instant};

/// How long a row is measured.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The least time of a sample, by doing the work several times.
    pub sample: Duration,
    /// Rounds, at least and at most.
    pub rounds: [usize; 2],
    /// After this time a row ends with the least number of rounds.
    pub time: Duration,
}

/// The measurements: nanoseconds of one run in each round.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Runs in a sample.
    pub times: usize,
    /// By way of Folio.
    pub ours: Vec<f64>,
    /// By hand.
    pub theirs: Vec<f64>,
    /// A summary of our results after one run.
    pub check: Vec<f64>,
}

fn timed(side: &mut Side, times: usize) -> Result<Duration> {
    let started = Instant::now();
    (side.run)(times)?;
    let all = started.elapsed();
    Ok(side.counted.as_ref().map_or(all, Counted::take))
}

/// Both sides begin together and run equally often, so their results stay comparable.
fn both(pair: &mut Pair, times: usize, ours_first: bool) -> Result<[Duration; 2]> {
    if ours_first {
        let ours = timed(&mut pair.ours, times)?;
        return Ok([ours, timed(&mut pair.theirs, times)?]);
    }
    let theirs = timed(&mut pair.theirs, times)?;
    Ok([timed(&mut pair.ours, times)?, theirs])
}

/// Runs both once, which compiles and allocates, and checks that this gave results, equal ones.
/// Returns a summary of these.
fn first(pair: &mut Pair) -> Result<Vec<f64>> {
    let before = [(pair.ours.results)()?, (pair.theirs.results)()?];
    both(pair, 1, true)?;
    let after = [(pair.ours.results)()?, (pair.theirs.results)()?];
    for (at, side) in ["ours", "by hand"].into_iter().enumerate() {
        if before[at] == after[at] {
            return Err(Error::NothingDone { side });
        }
    }
    after[0].check(&after[1], [pair.tolerance, pair.scale])?;
    Ok(peers::protocol::check(&after[0]))
}

/// Runs in a sample: the slower side takes as long as it should, or up to ten times that where the
/// faster one would otherwise be over in a moment, which any interrupt would double.
fn times(slower: Duration, faster: Duration, sample: Duration) -> usize {
    let runs = |time: Duration| sample.as_secs_f64() / time.as_secs_f64().max(1e-9);
    let wanted = runs(slower).max(runs(faster) / 10.0).min(runs(slower) * 10.0);
    wanted.round().clamp(1.0, 1e6) as usize
}

/// Measures a row. Rounds take turns in which side goes first, so that drift cancels.
pub fn measure(pair: &mut Pair, limits: Limits) -> Result<Samples> {
    let started = Instant::now();
    let check = first(pair)?;
    let [ours, theirs] = both(pair, 1, false)?;
    let times = times(ours.max(theirs), ours.min(theirs), limits.sample);
    let mut samples = Samples { times, check, ..Samples::default() };
    let [least, most] = limits.rounds;
    for round in 0..most {
        if round >= least && started.elapsed() > limits.time {
            break;
        }
        let time = both(pair, times, round % 2 == 0)?;
        let [ours, theirs] = time.map(|time| time.as_nanos() as f64 / times as f64);
        samples.ours.push(ours);
        samples.theirs.push(theirs);
    }
    let [ours, theirs] = [(pair.ours.results)()?, (pair.theirs.results)()?];
    ours.check(&theirs, [pair.tolerance, pair.scale])?;
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_the_faster_side_are_long_enough() {
        let of = |slower: u64, faster: u64| {
            let micros = Duration::from_micros;
            times(micros(slower), micros(faster), micros(3000))
        };
        assert_eq!(of(10, 10), 300);
        assert_eq!(of(10, 5), 300);
        assert_eq!(of(300, 10), 30);
        assert_eq!(of(300, 1), 100);
        assert_eq!(of(100_000, 1), 1);
    }
}
