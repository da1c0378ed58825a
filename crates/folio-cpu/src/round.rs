//! One launch that threads share: the job, and the slot in which its round is found (see `crew`).
//!
//! A launch is cut into blocks, and these into parts. No word is changed by all threads for each
//! block: a thread begins in the part that its number names, and the place in a part is a word of
//! its own, which stays in that thread's cache from one launch to the next. The number of the round
//! is in the word, so that no thread has to reset it.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// Parts of a launch, at most: a bit each.
pub(crate) const PARTS: usize = 64;
/// A thread takes blocks for about so long at a time.
const TAKE_NS: u64 = 2_500;
/// Bits of a place in a part; the others are the number of the round.
const PLACE_BITS: u32 = 20;
pub(crate) const PLACES: u64 = 1 << PLACE_BITS;

/// A line of the cache, or two that processors load together, so that no two words share one.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Line<T>(pub T);

/// One launch, cut into blocks.
pub(crate) struct Job<'j> {
    pub(crate) work: &'j (dyn Fn(usize) -> bool + Sync),
    pub(crate) count: usize,
    pub(crate) parts: usize,
    /// What a block takes; 0 while no thread knows.
    pub(crate) block_ns: AtomicU64,
    pub(crate) stopped: AtomicBool,
    /// Nanoseconds of all threads together.
    pub(crate) busy: AtomicU64,
    pub(crate) started: Instant,
}

impl<'j> Job<'j> {
    /// `work` does not panic. It returns `false` to stop the others.
    pub(crate) fn new(
        (count, block_ns): (usize, u64),
        threads: usize,
        work: &'j (dyn Fn(usize) -> bool + Sync),
    ) -> Job<'j> {
        Job {
            work,
            count,
            parts: threads.min(count).clamp(1, PARTS),
            block_ns: AtomicU64::new(block_ns),
            stopped: AtomicBool::new(false),
            busy: AtomicU64::new(0),
            started: Instant::now(),
        }
    }

    /// First block of a part.
    pub(crate) fn start(&self, part: usize) -> usize {
        let (each, over) = (self.count / self.parts, self.count % self.parts);
        part * each + part.min(over)
    }

    pub(crate) fn len(&self, part: usize) -> usize {
        self.start(part + 1) - self.start(part)
    }

    /// A bit for each part.
    pub(crate) fn all_parts(&self) -> u64 {
        u64::MAX >> (PARTS - self.parts)
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

    /// What a thread would take for so many blocks. While no block has ended, one takes at least
    /// the time until now.
    pub(crate) fn ns_of(&self, blocks: usize) -> u64 {
        let block_ns = match self.block_ns.load(Ordering::Relaxed) {
            0 => nanos(self.started.elapsed()),
            known => known,
        };
        block_ns.saturating_mul(blocks as u64)
    }

    /// Runs blocks; `false` when all threads are to stop.
    pub(crate) fn run(&self, mut blocks: Range<usize>) -> bool {
        blocks.all(|index| {
            let goes_on = !self.stopped.load(Ordering::Relaxed) && (self.work)(index);
            if !goes_on {
                self.stopped.store(true, Ordering::Relaxed);
            }
            goes_on
        })
    }

    /// Tells the others what a block takes, if that is news.
    pub(crate) fn learn(&self, ns: u64, blocks: u64) {
        let (new, old) = ((ns / blocks).max(1), self.block_ns.load(Ordering::Relaxed));
        if new > 2 * old || new < old / 2 {
            self.block_ns.store(new, Ordering::Relaxed);
        }
    }

    /// All of it, on this thread.
    pub(crate) fn run_alone(&self) {
        self.run(0..self.count);
        self.busy.fetch_add(nanos(self.started.elapsed()), Ordering::Relaxed);
    }
}

pub(crate) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// What a thread knows of what is left.
#[derive(Clone, Copy)]
pub(crate) struct Left {
    /// Blocks of the part that it is in.
    pub(crate) blocks: usize,
    /// Parts in which there may be blocks.
    pub(crate) parts: usize,
}

impl Left {
    /// Blocks in all, about: threads at work are as far in their parts as this one, and the other
    /// parts, of so many blocks, are whole.
    pub(crate) fn of_all(self, at_work: usize, each: usize) -> usize {
        let begun = self.parts.min(at_work);
        self.blocks * begun + (self.parts - begun) * each
    }
}

/// Where a round is found.
#[derive(Default)]
pub(crate) struct Slot {
    pub(crate) claimed: AtomicBool,
    /// The number of the round that is open, or 0.
    pub(crate) round: AtomicU64,
    /// The number of the last round. Its leader's.
    pub(crate) last: AtomicU64,
    /// A `Job`, while a round is open or a seat names this slot.
    pub(crate) job: AtomicPtr<()>,
    /// Tells rounds of one lane from others: its address.
    pub(crate) owner: AtomicUsize,
    /// Parts in which there may be blocks.
    pub(crate) full: Line<AtomicU64>,
    /// By part: the number of the round, and the next block.
    pub(crate) next: Vec<Line<AtomicU64>>,
    /// The leader sleeps until the last member has left.
    pub(crate) sleeps: AtomicBool,
    pub(crate) bed: Mutex<()>,
    pub(crate) wake: Condvar,
}

impl Slot {
    pub(crate) fn new(parts: usize) -> Slot {
        Slot { next: (0..parts).map(|_| Line::default()).collect(), ..Slot::default() }
    }

    pub(crate) fn claim(&self) -> bool {
        !self.claimed.load(Ordering::Relaxed) && !self.claimed.swap(true, Ordering::Acquire)
    }

    /// The claimer's: opens a round for `job`.
    pub(crate) fn open(&self, job: &Job<'_>, owner: usize) {
        let at = std::ptr::from_ref(job).cast::<()>().cast_mut();
        self.job.store(at, Ordering::Relaxed);
        self.owner.store(owner, Ordering::Relaxed);
        self.full.0.store(job.all_parts(), Ordering::Relaxed);
        let round = (self.last.load(Ordering::Relaxed) + 1) & (u64::MAX >> PLACE_BITS);
        let round = round.max(1);
        self.last.store(round, Ordering::Relaxed);
        // A member that reads this sees all of the above.
        self.round.store(round, Ordering::SeqCst);
    }

    /// The next blocks of a part, and how many are left there after them.
    pub(crate) fn take(
        &self,
        job: &Job<'_>,
        round: u64,
        part: usize,
    ) -> Option<(Range<usize>, usize)> {
        let (next, len) = (&self.next.get(part)?.0, job.len(part));
        loop {
            // Relaxed: a place is all that is shared here; seats order the rest.
            let word = next.load(Ordering::Relaxed);
            let is_begun = word >> PLACE_BITS == round;
            let first = if is_begun { (word & (PLACES - 1)) as usize } else { 0 };
            let wanted = job.grab(len.checked_sub(first).filter(|left| *left > 0)?);
            let end = (first + wanted).min(len);
            let taken = round << PLACE_BITS | end as u64;
            let order = Ordering::Relaxed;
            if next.compare_exchange_weak(word, taken, order, order).is_ok() {
                let start = job.start(part);
                return Some((start + first..start + end, len - end));
            }
        }
    }

    /// The next part after this one in which there may be blocks.
    pub(crate) fn part_after(&self, part: usize) -> Option<usize> {
        let full = self.full.0.load(Ordering::Relaxed);
        let later = full & !(u64::MAX >> (PARTS - 1 - part));
        let from = if later == 0 { full } else { later };
        (from != 0).then(|| from.trailing_zeros() as usize)
    }

    /// Takes blocks, from part `own` first, until there are none, or `leaves` says so; it is told
    /// how many are left in this thread's part, and how many parts may have blocks.
    pub(crate) fn work(
        &self,
        job: &Job<'_>,
        round: u64,
        own: usize,
        mut leaves: impl FnMut(Left) -> bool,
    ) {
        let started = Instant::now();
        let (mut ns, mut blocks, mut part) = (0, 0, own);
        loop {
            let Some((range, left)) = self.take(job, round, part) else {
                if self.full.0.load(Ordering::Relaxed) & 1 << part != 0 {
                    self.full.0.fetch_and(!(1 << part), Ordering::Relaxed);
                }
                match self.part_after(part) {
                    Some(next) => part = next,
                    None => break,
                }
                continue;
            };
            blocks += range.len() as u64;
            let goes_on = job.run(range);
            ns = nanos(started.elapsed());
            job.learn(ns, blocks);
            let parts = self.full.0.load(Ordering::Relaxed).count_ones() as usize;
            if !goes_on || leaves(Left { blocks: left, parts }) {
                break;
            }
        }
        job.busy.fetch_add(ns, Ordering::Relaxed);
    }
}
