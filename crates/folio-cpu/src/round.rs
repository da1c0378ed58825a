//! A list of launches that threads share: the job, and the slot in which its round is found (see
//! `crew`).
//!
//! A job has *stages*, of which each begins when all blocks of the one before have ended; a launch
//! by itself is a job of one. A stage is cut into blocks, and these into parts. No word is changed
//! by all threads for each block: a thread begins in the part that its number names, in each stage
//! anew, so it finds in its cache what it wrote in the stage before. The place in a part is a word
//! of its own. The number of the stage is in the word, so that no thread has to reset it.
//!
//! # Between stages
//!
//! Blocks are counted, and not threads: a thread that finds no further block adds to the stage's
//! count what it has run. The thread that brings the count to all blocks does what one thread does
//! before the next stage, and then writes the next stage's number into `now`, which the others
//! watch. No thread therefore waits for a thread that runs no block: threads may come and leave at
//! any time, and a machine with fewer processors than threads goes on.
//!
//! - A part's blocks are taken once: its word goes up only. Numbers of stages grow through all
//!   rounds of a slot, so a thread that is late sees that its stage is over, or fails to exchange.
//! - A thread's blocks are counted before it leaves or waits. The count therefore reaches all
//!   blocks, and one thread sees that: it alone writes `now`, unless a block fails.
//! - A thread whose block fails does not count it, and writes the number behind the last stage. The
//!   stage's count cannot reach all blocks any more, so no other thread writes another number.

use crate::lock;
use crate::pool::LOOK;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Parts of a stage, at most: a bit each.
pub(crate) const PARTS: usize = 64;
/// A thread takes blocks for about so long at a time.
const TAKE_NS: u64 = 2_500;
/// Bits of a place in a part; the others are the number of the stage.
const PLACE_BITS: u32 = 20;
pub(crate) const PLACES: u64 = 1 << PLACE_BITS;
/// How long a thread leaves a part to the thread whose part it is, and which takes part: some times
/// what a number needs to pass from one cache to another.
pub(crate) const GRACE: Duration = Duration::from_micros(2);
/// How often a thread looks for something before it looks at the clock.
pub(crate) const SPINS: usize = 32;

/// A line of the cache, or two that processors load together, so that no two words share one.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Line<T>(pub T);

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
    count: usize,
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
    fn start(&self, part: usize) -> usize {
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
    fn grab(&self, left: usize) -> usize {
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
    fn learn(&self, ns: u64, blocks: u64) {
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
    fn spend(&self, ns: u64) {
        if ns > 0 {
            self.tally.0.busy.fetch_add(ns, Ordering::Relaxed);
        }
    }

    /// Counts blocks that a thread has run; `true` for the thread that counts the last.
    fn counts(&self, blocks: usize) -> bool {
        // Release what the blocks have computed; acquire, for the last one, what all have.
        blocks > 0 && self.tally.0.done.fetch_add(blocks, Ordering::AcqRel) + blocks == self.count
    }
}

/// A thread's blocks of a stage.
#[derive(Clone, Copy, Default)]
struct Ran {
    blocks: usize,
    ns: u64,
}

/// Stages in their order, and what they do.
pub(crate) struct Job<'j> {
    work: &'j dyn Work,
    pub(crate) stages: &'j [Stage],
    /// The times of blocks are looked at.
    measured: bool,
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
        let fits = |stage: &Stage| stage.len(0) < PLACES as usize;
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

    /// Runs blocks; `false` when all threads are to stop.
    fn run(&self, stage: usize, mut blocks: Range<usize>) -> bool {
        blocks.all(|block| {
            let goes_on = !self.stopped.load(Ordering::Relaxed) && self.work.run(stage, block);
            if !goes_on {
                self.stopped.store(true, Ordering::Relaxed);
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

/// The content of a part, as a thread finds it.
enum Found {
    Blocks {
        range: Range<usize>,
        left: usize,
    },
    /// The part is whole, and its thread takes part.
    Whole,
    Nothing,
}

/// Why a thread stopped working.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// There is nothing left for it.
    Over,
    /// The thread wanted to.
    Left,
    /// Each part has a thread.
    Full,
    /// The stage with this number has taken long, and this thread has no block of it.
    Waits(u64),
}

/// Where a round is found.
#[derive(Default)]
pub(crate) struct Slot {
    pub(crate) claimed: AtomicBool,
    /// The number of the first stage of the round that is open, or 0.
    pub(crate) round: AtomicU64,
    /// The last number that a round has. Its leader's.
    last: AtomicU64,
    /// A `Job`, while a round is open or a seat names this slot.
    pub(crate) job: AtomicPtr<()>,
    /// Tells rounds of one lane from others: its address.
    pub(crate) owner: AtomicUsize,
    /// A bit for each part whose thread takes part. A hint.
    present: Line<AtomicU64>,
    /// The number of the stage whose blocks run.
    now: Line<AtomicU64>,
    /// The last stage all of whose blocks were found taken.
    taken: Line<AtomicU64>,
    /// The last round all of whose blocks were found taken.
    over: AtomicU64,
    /// By part: the number of the stage, and the next block.
    next: Vec<Line<AtomicU64>>,
    /// The leader sleeps until a stage begins, or the last member has left.
    sleeps: AtomicBool,
    bed: Mutex<()>,
    wake: Condvar,
}

impl Slot {
    pub(crate) fn new(parts: usize) -> Slot {
        Slot { next: (0..parts).map(|_| Line::default()).collect(), ..Slot::default() }
    }

    pub(crate) fn claim(&self) -> bool {
        !self.claimed.load(Ordering::Relaxed) && !self.claimed.swap(true, Ordering::Acquire)
    }

    /// The claimer's: opens a round for `job`, and tells its number.
    pub(crate) fn open(&self, job: &Job<'_>, owner: usize) -> u64 {
        let at = std::ptr::from_ref(job).cast::<()>().cast_mut();
        self.job.store(at, Ordering::Relaxed);
        self.owner.store(owner, Ordering::Relaxed);
        let numbers = job.stages.len() as u64 + 1;
        let mut last = self.last.load(Ordering::Relaxed);
        if last + numbers > u64::MAX >> PLACE_BITS {
            // No other thread is here: numbers begin anew.
            self.next.iter().for_each(|Line(next)| next.store(0, Ordering::Relaxed));
            last = 0;
        }
        let round = last + 1;
        self.last.store(last + numbers, Ordering::Relaxed);
        self.present.0.store(0, Ordering::Relaxed);
        self.now.0.store(round, Ordering::Relaxed);
        // A member that reads this sees all of the above.
        self.round.store(round, Ordering::SeqCst);
        round
    }

    /// The leader's: no thread enters any more.
    pub(crate) fn close(&self) {
        self.round.store(0, Ordering::SeqCst);
    }

    /// A round is open here, and there may be blocks in it.
    pub(crate) fn has_blocks(&self) -> bool {
        let round = self.round.load(Ordering::Relaxed);
        round != 0 && self.over.load(Ordering::Relaxed) != round
    }

    /// The next blocks of a part. A part that is whole is left to its thread unless `takes_whole`.
    fn take(&self, stage: &Stage, number: u64, part: usize, takes_whole: bool) -> Found {
        let Some(Line(next)) = self.next.get(part) else { return Found::Nothing };
        let len = stage.len(part);
        loop {
            // Relaxed: a place is all that is shared here; seats and counts order the rest.
            let word = next.load(Ordering::Relaxed);
            let first = match (word >> PLACE_BITS).cmp(&number) {
                std::cmp::Ordering::Less if !takes_whole && self.is_present(part) => {
                    return Found::Whole;
                }
                std::cmp::Ordering::Less => 0,
                std::cmp::Ordering::Equal => (word & (PLACES - 1)) as usize,
                std::cmp::Ordering::Greater => return Found::Nothing,
            };
            if first >= len {
                return Found::Nothing;
            }
            let end = (first + stage.grab(len - first)).min(len);
            let word_then = number << PLACE_BITS | end as u64;
            let order = Ordering::Relaxed;
            if next.compare_exchange_weak(word, word_then, order, order).is_ok() {
                let start = stage.start(part);
                return Found::Blocks { range: start + first..start + end, left: len - end };
            }
        }
    }

    fn is_present(&self, part: usize) -> bool {
        self.present.0.load(Ordering::Relaxed) & 1 << part != 0
    }

    /// A part for this thread, of so many: the one that its number names, unless another thread has
    /// it. None if each has a thread.
    pub(crate) fn enter_part(&self, thread: usize, parts: usize) -> Option<usize> {
        let own = 1 << (thread % parts);
        loop {
            let free = u64::MAX >> (PARTS - parts) & !self.present.0.load(Ordering::Relaxed);
            let bit = if free & own != 0 { own } else { free & free.wrapping_neg() };
            if bit == 0 {
                return None;
            }
            if self.present.0.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
                return Some(bit.trailing_zeros() as usize);
            }
        }
    }

    fn leave_part(&self, part: usize) {
        self.present.0.fetch_and(!(1 << part), Ordering::Relaxed);
    }

    /// A member's: takes part until there is nothing left for this thread, or `leaves` says so (see
    /// [`Slot::work`]).
    pub(crate) fn join(
        &self,
        job: &Job<'_>,
        (round, thread): (u64, usize),
        leaves: &mut impl FnMut(Option<Left>) -> bool,
    ) -> End {
        if job.stages.len() == 1 {
            return self.work(job, (round, thread % job.most()), leaves);
        }
        let Some(part) = self.enter_part(thread, job.most()) else { return End::Full };
        let end = self.work(job, (round, part), leaves);
        self.leave_part(part);
        end
    }

    /// Runs blocks until there is nothing left for this thread, which begins in part `own`, or
    /// `leaves` says so. `leaves` is told what is left after each time that this thread has taken
    /// blocks, and asked without that while it waits.
    pub(crate) fn work(
        &self,
        job: &Job<'_>,
        (round, own): (u64, usize),
        leaves: &mut impl FnMut(Option<Left>) -> bool,
    ) -> End {
        loop {
            let number = self.now.0.load(Ordering::Acquire);
            let at = usize::try_from(number - round).unwrap_or(usize::MAX);
            let Some(stage) = job.stages.get(at) else {
                self.over.store(round, Ordering::Relaxed);
                break End::Over;
            };
            let hand = Hand { slot: self, job, stage, at, number };
            let (ran, wants) = hand.work(own, leaves);
            stage.spend(ran.ns);
            if job.stopped.load(Ordering::Relaxed) {
                self.publish(round + job.stages.len() as u64);
                break End::Over;
            }
            let next = at + 1;
            if next == job.stages.len() {
                if !wants {
                    self.over.store(round, Ordering::Relaxed);
                }
                break if wants { End::Left } else { End::Over };
            }
            if stage.counts(ran.blocks) {
                self.advance(job, round, next);
            } else if !wants && !self.watch(number, leaves) {
                break End::Waits(number);
            }
            if wants {
                break End::Left;
            }
        }
    }

    /// All blocks before this stage have run, and this thread has counted the last.
    fn advance(&self, job: &Job<'_>, round: u64, next: usize) {
        let goes_on = job.work.prepare(next);
        if !goes_on {
            job.stopped.store(true, Ordering::Relaxed);
        }
        self.publish(round + if goes_on { next } else { job.stages.len() } as u64);
    }

    fn publish(&self, number: u64) {
        // A thread that reads this sees what the stages before have computed.
        self.now.0.store(number, Ordering::SeqCst);
        self.rouse();
    }

    /// Wakes the leader, if it sleeps.
    pub(crate) fn rouse(&self) {
        if self.sleeps.load(Ordering::SeqCst) {
            // The leader holds this lock from its last look on until it sleeps.
            drop(lock(&self.bed));
            self.wake.notify_all();
        }
    }

    /// The leader's: sleeps until [`rouse`](Self::rouse), unless there is something to do.
    pub(crate) fn sleep_unless(&self, ready: impl Fn() -> bool) {
        let guard = lock(&self.bed);
        self.sleeps.store(true, Ordering::SeqCst);
        if !ready() {
            drop(self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner));
        }
        self.sleeps.store(false, Ordering::Relaxed);
    }

    /// The stage with this number is over.
    pub(crate) fn is_past(&self, number: u64) -> bool {
        self.now.0.load(Ordering::SeqCst) != number
    }

    /// Waits a while for the end of a stage; `false` if that did not come, or `leaves` says so.
    fn watch(&self, number: u64, leaves: &mut impl FnMut(Option<Left>) -> bool) -> bool {
        let mut started = None;
        loop {
            if (0..SPINS).any(|_| {
                std::hint::spin_loop();
                self.now.0.load(Ordering::Relaxed) != number
            }) {
                return true;
            }
            let long = started.get_or_insert_with(Instant::now).elapsed() > LOOK;
            if long || leaves(None) {
                return false;
            }
        }
    }
}

/// A thread in a stage.
struct Hand<'h> {
    slot: &'h Slot,
    job: &'h Job<'h>,
    stage: &'h Stage,
    at: usize,
    /// The stage's.
    number: u64,
}

impl Hand<'_> {
    /// Runs blocks until none can be taken, or this thread wants to leave.
    fn work(&self, own: usize, leaves: &mut impl FnMut(Option<Left>) -> bool) -> (Ran, bool) {
        let Hand { job, stage, .. } = *self;
        let measured = job.measured || stage.is_unknown();
        let started = measured.then(Instant::now);
        let (mut ran, mut search) = (Ran::default(), Search::new(own, stage.parts));
        while let Some((range, left)) = self.find(&mut search) {
            let blocks = range.len();
            if !job.run(self.at, range) {
                return (Ran::default(), false);
            }
            ran.blocks += blocks;
            if let Some(started) = started {
                ran.ns = nanos(started.elapsed());
                stage.learn(ran.ns, ran.blocks as u64);
            }
            let parts = stage.parts - search.seen;
            if leaves(Some(Left { stage: self.at, blocks: left, parts })) {
                return (ran, true);
            }
        }
        (ran, false)
    }

    /// Takes blocks: from this thread's part, then from those of threads that are not here, and
    /// from those of all after a while.
    fn find(&self, search: &mut Search) -> Option<(Range<usize>, usize)> {
        let Hand { slot, stage, number, .. } = *self;
        loop {
            while search.seen < stage.parts {
                let is_own = search.part == search.own;
                match slot.take(stage, number, search.part, is_own || search.takes_whole) {
                    Found::Blocks { range, left } => return Some((range, left)),
                    Found::Whole => search.whole = true,
                    Found::Nothing => {}
                }
                if search.seen == 0 && slot.taken.0.load(Ordering::Relaxed) == number {
                    return None;
                }
                search.seen += 1;
                search.part = (search.part + 1) % stage.parts;
            }
            if !search.whole {
                slot.taken.0.store(number, Ordering::Relaxed);
                return None;
            }
            if self.is_over_in_grace() {
                return None;
            }
            *search = Search { takes_whole: true, ..Search::new(search.own, stage.parts) };
        }
    }

    /// Leaves parts to their threads for a while; `true` if the stage ends meanwhile.
    fn is_over_in_grace(&self) -> bool {
        let end = Instant::now() + GRACE;
        let is_over = || {
            self.slot.now.0.load(Ordering::Relaxed) != self.number
                || self.slot.taken.0.load(Ordering::Relaxed) == self.number
        };
        while Instant::now() < end {
            if (0..SPINS).any(|_| {
                std::hint::spin_loop();
                is_over()
            }) {
                return true;
            }
        }
        false
    }
}

/// Where a thread looks for blocks.
struct Search {
    own: usize,
    /// Where it looks next.
    part: usize,
    /// Parts in which it found nothing, one after the other.
    seen: usize,
    /// The thread takes parts of threads that are here.
    takes_whole: bool,
    /// The thread has left a whole part to its thread.
    whole: bool,
}

impl Search {
    /// A thread without a part begins with those of others.
    fn new(own: usize, parts: usize) -> Search {
        Search { own, part: own % parts, seen: 0, takes_whole: false, whole: false }
    }
}
