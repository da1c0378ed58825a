//! The work that the threads of a round share: stages of blocks.
//!
//! A job has *stages*, of which each begins when all blocks of the one before have ended; a launch
//! by itself is a job of one. A stage is cut into blocks, and these into parts. `round` says how
//! threads take them.

use crate::sync::{AtomicBool, AtomicU64, AtomicUsize, Line, Ordering};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Parts of a stage, at most: a bit each.
pub(crate) const PARTS: usize = 64;
/// A thread takes blocks for about so long at a time.
const TAKE_NS: u64 = 2_500;
/// The most blocks of a part.
pub(crate) const PLACES: u64 = 1 << 20;

/// The work of a job.
pub(crate) trait Work: Sync {
    /// Runs a block of a stage, without a panic. `false` ends the job.
    fn run(&self, stage: usize, block: usize) -> bool;

    /// The work of one thread before a stage, and after the blocks of those before. `false` ends
    /// the job.
    fn prepare(&self, _stage: usize) -> bool {
        true
    }
}

/// A launch by itself.
impl<F: Fn(usize) -> bool + Sync> Work for F {
    fn run(&self, _: usize, block: usize) -> bool {
        self(block)
    }
}

/// Blocks that may run at the same time.
#[derive(Default)]
pub(crate) struct Stage {
    pub(crate) count: usize,
    pub(crate) parts: usize,
    /// The time of all stages behind this one, as far as that is known.
    later_ns: u64,
    /// The time of a block; 0 while no thread knows.
    block_ns: AtomicU64,
    tally: Line<Tally>,
}

#[derive(Default)]
struct Tally {
    /// Blocks that have run.
    done: AtomicUsize,
    /// Nanoseconds of all threads together.
    busy: AtomicU64,
}

impl Stage {
    pub(crate) fn new((count, block_ns): (usize, u64), threads: usize) -> Stage {
        let parts = threads.min(count).clamp(1, PARTS);
        Stage { count, parts, block_ns: AtomicU64::new(block_ns), ..Stage::default() }
    }

    /// Tells each stage what those behind it take.
    pub(crate) fn link(stages: &mut [Stage]) {
        let mut later = 0u64;
        for stage in stages.iter_mut().rev() {
            stage.later_ns = later;
            later = later.saturating_add(stage.ns_of(stage.count, Duration::ZERO));
        }
    }

    /// First block of a part.
    pub(crate) fn start(&self, part: usize) -> usize {
        let (each, over) = (self.count / self.parts, self.count % self.parts);
        part * each + part * over / self.parts
    }

    pub(crate) fn len(&self, part: usize) -> usize {
        self.start(part + 1) - self.start(part)
    }

    pub(crate) fn is_unknown(&self) -> bool {
        self.block_ns.load(Ordering::Relaxed) == 0
    }

    /// How many of `left` blocks a thread takes at a time: as many as are worth it.
    pub(crate) fn grab(&self, left: usize) -> usize {
        let block_ns = self.block_ns.load(Ordering::Relaxed);
        let worth = TAKE_NS.checked_div(block_ns).map_or(1, |blocks| blocks as usize);
        worth.min(left.div_ceil(2)).max(1)
    }

    /// The time of so many blocks on one thread. While no block has ended, one takes at least the
    /// time since the job began.
    fn ns_of(&self, blocks: usize, since: Duration) -> u64 {
        let block_ns = match self.block_ns.load(Ordering::Relaxed) {
            0 => nanos(since),
            known => known,
        };
        block_ns.saturating_mul(blocks as u64)
    }

    /// Tells the others what a block takes, if that is news.
    pub(crate) fn learn(&self, ns: u64, blocks: u64) {
        let (new, old) = ((ns / blocks).max(1), self.block_ns.load(Ordering::Relaxed));
        if new > 2 * old || new < old / 2 {
            self.block_ns.store(new, Ordering::Relaxed);
        }
    }

    /// Nanoseconds of all threads together, of a job that is measured.
    pub(crate) fn busy(&self) -> u64 {
        self.tally.0.busy.load(Ordering::Relaxed)
    }

    /// A thread was busy for so long.
    pub(crate) fn spend(&self, ns: u64) {
        if ns > 0 {
            self.tally.0.busy.fetch_add(ns, Ordering::Relaxed);
        }
    }

    /// Counts blocks that a thread has run; `true` for the thread that counts the last.
    pub(crate) fn counts(&self, blocks: usize) -> bool {
        // Release what the blocks have computed; acquire, for the last one, what all have.
        blocks > 0 && self.tally.0.done.fetch_add(blocks, Ordering::AcqRel) + blocks == self.count
    }
}

/// Stages in their order, and what they do.
pub(crate) struct Job<'j> {
    pub(crate) work: &'j dyn Work,
    pub(crate) stages: &'j [Stage],
    /// The times of blocks are looked at.
    pub(crate) measured: bool,
    stopped: AtomicBool,
    started: Instant,
}

impl<'j> Job<'j> {
    pub(crate) fn new(work: &'j dyn Work, stages: &'j [Stage], measured: bool) -> Job<'j> {
        let stopped = AtomicBool::new(false);
        Job { work, stages, measured, stopped, started: Instant::now() }
    }

    /// More than one thread may take part, and each place has its number.
    pub(crate) fn is_shared(&self) -> bool {
        let fits = |stage: &Stage| stage.count.div_ceil(stage.parts) < PLACES as usize;
        self.most() > 1 && self.stages.iter().all(fits)
    }

    /// Threads that may work at the same time.
    pub(crate) fn most(&self) -> usize {
        self.stages.iter().map(|stage| stage.parts).max().unwrap_or(1)
    }

    /// Blocks take an unknown time.
    pub(crate) fn is_unknown(&self) -> bool {
        self.stages.first().is_some_and(Stage::is_unknown)
    }

    /// All of it is left.
    pub(crate) fn whole(&self) -> Left {
        let of_first = |of: fn(&Stage) -> usize| self.stages.first().map_or(0, of);
        Left { stage: 0, blocks: of_first(|stage| stage.len(0)), parts: of_first(|s| s.parts) }
    }

    /// The time of the rest of the job, by what a thread that is in it knows.
    pub(crate) fn ns_of(&self, left: Left, at_work: usize) -> u64 {
        let Some(stage) = self.stages.get(left.stage) else { return 0 };
        let blocks = left.of_all(at_work, stage.len(0));
        stage.ns_of(blocks, self.started.elapsed()).saturating_add(stage.later_ns)
    }

    /// A thread has ended it.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Runs blocks; `false` when all threads are to stop.
    pub(crate) fn run(&self, stage: usize, mut blocks: Range<usize>) -> bool {
        blocks.all(|block| {
            let goes_on = !self.is_stopped() && self.work.run(stage, block);
            if !goes_on {
                self.stop();
            }
            goes_on
        })
    }

    /// All of it, on this thread.
    pub(crate) fn run_alone(&self) {
        let mut before = Duration::ZERO;
        for (number, stage) in self.stages.iter().enumerate() {
            let goes_on = number == 0 || self.work.prepare(number);
            if !goes_on || !self.run(number, 0..stage.count) {
                return;
            }
            let now = self.started.elapsed();
            stage.spend(nanos(now.saturating_sub(before)));
            before = now;
        }
    }
}

pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// A thread's knowledge of the rest.
#[derive(Clone, Copy)]
pub(crate) struct Left {
    pub(crate) stage: usize,
    /// Blocks of the part that it is in.
    pub(crate) blocks: usize,
    /// Parts in which there may be blocks.
    pub(crate) parts: usize,
}

impl Left {
    /// Blocks of the stage, about: threads at work are as far in their parts as this one, and the
    /// other parts, of so many blocks, are whole.
    pub(crate) fn of_all(self, at_work: usize, each: usize) -> usize {
        let begun = self.parts.min(at_work);
        self.blocks * begun + (self.parts - begun) * each
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A place behind the last one would be that of the next stage.
    #[test]
    fn a_part_with_more_blocks_than_places_is_not_shared() {
        let places = PLACES as usize;
        for (count, shared) in [(2 * places - 2, true), (2 * places - 1, false)] {
            let stages = [Stage::new((count, 1), 2)];
            assert_eq!(Job::new(&|_| true, &stages, false).is_shared(), shared, "{count}");
        }
    }
}
