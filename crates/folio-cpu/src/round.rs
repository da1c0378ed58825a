//! How threads share a job: the slot in which its round is found (see `crew`), and what they take.
//!
//! No word is changed by all threads for each block: a thread begins in the part that its number
//! names, in each stage anew, so it finds in its cache what it wrote in the stage before. The place
//! in a part is a word of its own. The number of the stage is in the word, so that no thread has to
//! reset it.
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

use crate::bed::Bed;
use crate::job::{Job, Left, PARTS, PLACES, Stage, nanos};
use crate::sync::{
    AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, LOOK, Line, Ordering, SPINS, Spell, announce,
};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Bits of a place in a part; the others are the number of the stage.
const PLACE_BITS: u32 = PLACES.trailing_zeros();
/// How long a thread leaves a part to the thread whose part it is, and which takes part: some times
/// what a number needs to pass from one cache to another.
pub(crate) const GRACE: Duration = Duration::from_micros(2);

/// A thread's blocks of a stage.
#[derive(Clone, Copy, Default)]
struct Ran {
    blocks: usize,
    ns: u64,
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
    claimed: AtomicBool,
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
    /// The leader sleeps here until a stage begins, or the last member has left.
    pub(crate) bed: Bed,
}

impl Slot {
    pub(crate) fn new(parts: usize) -> Slot {
        Slot { next: (0..parts).map(|_| Line::default()).collect(), ..Slot::default() }
    }

    pub(crate) fn claim(&self) -> bool {
        !self.claimed.load(Ordering::Relaxed) && !self.claimed.swap(true, Ordering::Acquire)
    }

    /// The leader's: another thread may claim the slot.
    pub(crate) fn release(&self) {
        // A thread that claims the slot next comes after this round.
        self.claimed.store(false, Ordering::Release);
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
            let all = self.next.iter().chain([&self.taken]).map(|line| &line.0);
            all.chain([&self.over]).for_each(|word| word.store(0, Ordering::Relaxed));
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

    /// The leader's: runs blocks until all have been taken, and closes the round.
    pub(crate) fn lead(
        &self,
        job: &Job<'_>,
        (round, thread): (u64, usize),
        leaves: &mut impl FnMut(Option<Left>) -> bool,
    ) {
        let part = self.enter_part(thread, job.most()).unwrap_or(thread % job.most());
        while let End::Waits(stage) = self.work(job, (round, part), leaves) {
            self.bed.sleep_unless(|| self.is_past(stage));
        }
        self.close();
    }

    /// No thread enters any more.
    fn close(&self) {
        announce(|order| self.round.store(0, order));
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
    fn work(
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
            if job.is_stopped() {
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
            job.stop();
        }
        self.publish(round + if goes_on { next } else { job.stages.len() } as u64);
    }

    fn publish(&self, number: u64) {
        // A thread that reads this sees what the stages before have computed.
        self.bed.rouse(|order| self.now.0.store(number, order));
    }

    /// The stage with this number is over.
    fn is_past(&self, number: u64) -> bool {
        self.now.0.load(Ordering::SeqCst) != number
    }

    /// Waits a while for the end of a stage; `false` if that did not come, or `leaves` says so.
    fn watch(&self, number: u64, leaves: &mut impl FnMut(Option<Left>) -> bool) -> bool {
        let mut spell = None;
        loop {
            if (0..SPINS).any(|_| {
                std::hint::spin_loop();
                self.now.0.load(Ordering::Relaxed) != number
            }) {
                return true;
            }
            if spell.get_or_insert_with(|| Spell::of(LOOK)).is_over() || leaves(None) {
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
        let spell = Spell::of(GRACE);
        let is_over = || {
            self.slot.now.0.load(Ordering::Relaxed) != self.number
                || self.slot.taken.0.load(Ordering::Relaxed) == self.number
        };
        while !spell.is_over() {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_whose_part_is_taken_begins_in_one_that_has_no_thread() {
        let slot = Slot::new(4);
        let enter = |thread| slot.enter_part(thread, 4);
        assert_eq!([1, 5, 3, 3, 0].map(enter), [Some(1), Some(0), Some(3), Some(2), None]);
        assert_eq!(Slot::new(64).enter_part(63, 64), Some(63));
        assert_eq!(Slot::new(64).enter_part(63, 1), Some(0));
    }

    #[test]
    fn numbers_that_begin_anew_hide_no_blocks() {
        let (slot, ran) = (Slot::new(2), AtomicUsize::new(0));
        let work = |_: usize| ran.fetch_add(1, Ordering::Relaxed) < 4;
        let stages = [Stage::new((4, 1 << 20), 2)];
        let job = Job::new(&work, &stages, false);
        slot.last.store((u64::MAX >> PLACE_BITS) - 1, Ordering::Relaxed);
        // The first round of all had this number, too.
        slot.taken.0.store(1, Ordering::Relaxed);
        slot.over.store(1, Ordering::Relaxed);
        assert_eq!(slot.open(&job, 1), 1);
        assert!(slot.has_blocks());
        slot.lead(&job, (1, 0), &mut |_| false);
        assert_eq!(ran.load(Ordering::Relaxed), 4);
    }
}
