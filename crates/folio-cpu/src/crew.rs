//! Threads that share a launch, or a graph's launches.
//!
//! # The protocol
//!
//! A driver that has a long launch, or a list of them, is its *leader*. The leader writes a [`Job`]
//! on its own stack and opens a *round* for it in one of the crew's slots. A *member* is another
//! thread that takes part. Each thread has a *seat*, a word that says in which slot it is.
//!
//! - A thread enters a slot by writing its seat, and then reads whether a round is open there. If
//!   not, it leaves at once. If one is, it is a member, and uses the job until it clears its seat.
//! - The leader closes the round when no block is left, and then reads all seats until none names
//!   the slot.
//! - Both write first and read then, sequentially consistent. A thread that the leader does not see
//!   in its seat therefore sees that the round is closed, and no member uses a job that has gone.
//! - A round that replaced another one meanwhile is as good: the thread is a member of the new one.

#[cfg(all(loom, test))]
mod models;

use crate::job::{Job, PARTS, nanos};
use crate::round::Slot;
use crate::sync::{AtomicBool, AtomicU64, AtomicUsize, LOOK, Line, Ordering, Spell, announce};
use std::time::Instant;

/// Rounds that may be open at once; a leader that finds no slot works alone.
const SLOTS: usize = if cfg!(loom) { 1 } else { 8 };
/// Seats for threads of the program; without one a thread takes part in no launch.
const GUESTS: usize = if cfg!(loom) { 0 } else { 8 };
/// The time of waking a thread before one has been woken.
const FIRST_WAKE_NS: u64 = 10_000;
/// Bounds of it: below, clocks tell nothing; above, all threads were busy.
const WAKE_NS: std::ops::RangeInclusive<u64> = 2_000..=100_000;

/// A thread's place.
#[derive(Default)]
pub(crate) struct Seat {
    /// The slot that it is in, counted from 1, or 0.
    slot: AtomicUsize,
    /// The thread is awake without work, and would take part in a launch.
    pub looks: AtomicBool,
    /// A guest has it.
    taken: AtomicBool,
}

/// The state of a machine's launches that all threads share.
pub(crate) struct Crew {
    slots: Box<[Line<Slot>]>,
    /// By number of the thread, then those of guests.
    seats: Box<[Line<Seat>]>,
    /// Open rounds: where there is none, no slot is looked at.
    open: Line<AtomicUsize>,
    wake_ns: AtomicU64,
    /// Threads that were called and have not come.
    called: AtomicUsize,
    /// Threads that were called since the machine was made.
    #[cfg(test)]
    pub calls: AtomicUsize,
    /// Rounds that were opened since then.
    #[cfg(test)]
    pub rounds: AtomicUsize,
}

impl Crew {
    pub(crate) fn new(threads: usize) -> Crew {
        let parts = (threads + 1).min(PARTS);
        Crew {
            slots: (0..SLOTS).map(|_| Line(Slot::new(parts))).collect(),
            seats: (0..threads + GUESTS).map(|_| Line::default()).collect(),
            open: Line::default(),
            wake_ns: AtomicU64::new(FIRST_WAKE_NS),
            called: AtomicUsize::new(0),
            #[cfg(test)]
            calls: AtomicUsize::new(0),
            #[cfg(test)]
            rounds: AtomicUsize::new(0),
        }
    }

    /// The slots, and their numbers.
    pub(crate) fn slots(&self) -> impl Iterator<Item = (usize, &Slot)> {
        self.slots.iter().map(|line| &line.0).enumerate()
    }

    /// Some round is open.
    pub(crate) fn is_open(&self) -> bool {
        self.open.0.load(Ordering::Relaxed) > 0
    }

    /// A round is open.
    pub(crate) fn opens_one(&self) {
        self.open.0.fetch_add(1, Ordering::Relaxed);
        #[cfg(test)]
        self.rounds.fetch_add(1, Ordering::Relaxed);
    }

    /// A round is closed. Waits until no thread uses its job, and releases the slot; `relax` lets
    /// other threads run.
    pub(crate) fn closes_one(&self, (at, slot): (usize, &Slot), relax: impl Fn()) {
        self.open.0.fetch_sub(1, Ordering::Relaxed);
        self.wait_for_members((at, slot), relax);
        slot.release();
    }

    /// Nanoseconds from a call until a thread has come.
    pub(crate) fn wake_ns(&self) -> u64 {
        self.wake_ns.load(Ordering::Relaxed)
    }

    /// Waking takes as long as it may.
    #[cfg(test)]
    pub(crate) fn wakes_slowly(&self) {
        self.wake_ns.store(*WAKE_NS.end(), Ordering::Relaxed);
    }

    /// A thread is called.
    pub(crate) fn calls_one(&self) {
        self.called.fetch_add(1, Ordering::Relaxed);
        #[cfg(test)]
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// A thread has come that was called at this time. The time of a wake goes down at once: a
    /// thread also comes late because all of them were busy.
    pub(crate) fn has_come(&self, called: Instant) {
        self.called.fetch_sub(1, Ordering::Relaxed);
        let (new, old) = (nanos(called.elapsed()), self.wake_ns());
        let next = if new < old { old / 2 + new / 2 } else { old + (new - old).min(old) / 16 };
        self.wake_ns.store(next.clamp(*WAKE_NS.start(), *WAKE_NS.end()), Ordering::Relaxed);
    }

    /// A seat for a thread that is not of the pool, until it is given back.
    pub(crate) fn guest(&self, threads: usize) -> Option<&Seat> {
        let free = |seat: &&Seat| {
            !seat.taken.load(Ordering::Relaxed) && !seat.taken.swap(true, Ordering::Acquire)
        };
        self.seats.iter().skip(threads).map(|line| &line.0).find(free)
    }

    pub(crate) fn seat(&self, number: usize) -> Option<&Seat> {
        self.seats.get(number).map(|line| &line.0)
    }

    /// Threads that are in a slot, or will come without a call.
    pub(crate) fn members(&self, slot: usize) -> usize {
        let comes = |Line(seat): &&Line<Seat>| match seat.slot.load(Ordering::Relaxed) {
            0 => seat.looks.load(Ordering::Relaxed),
            at => at == slot + 1,
        };
        self.seats.iter().filter(comes).count() + self.called.load(Ordering::Relaxed)
    }

    /// No seat names this slot. The leader has closed the round.
    fn is_empty(&self, slot: usize) -> bool {
        self.seats.iter().all(|line| line.0.slot.load(Ordering::SeqCst) != slot + 1)
    }

    /// The leader's: waits until no member is there. The leader runs no lane meanwhile: the launch
    /// would end after what that lane does, which may wait for the launch.
    fn wait_for_members(&self, (at, slot): (usize, &Slot), relax: impl Fn()) {
        let spell = Spell::of(LOOK);
        while !self.is_empty(at) {
            if spell.is_over() {
                slot.bed.sleep_unless(|| self.is_empty(at));
            } else {
                std::hint::spin_loop();
                relax();
            }
        }
    }
}

/// A thread in a slot whose round is open. The leader keeps the job until this is dropped.
pub(crate) struct Member<'s> {
    seat: &'s Seat,
    slot: &'s Slot,
    pub round: u64,
}

impl Member<'_> {
    pub(crate) fn job(&self) -> &Job<'_> {
        let address = self.slot.job.load(Ordering::Relaxed).cast::<Job<'_>>();
        // SAFETY: this thread's seat named the slot before it read that a round is open there. The
        // leader stored the address before it opened the round, and keeps the job until it has
        // closed the round and then found no seat that names the slot (`lead`).
        unsafe { &*address }
    }
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        self.seat.leave(self.slot);
    }
}

impl Seat {
    /// Enters a slot, if a round is open there.
    pub(crate) fn enter<'s>(&'s self, slot: &'s Slot, at: usize) -> Option<Member<'s>> {
        if slot.round.load(Ordering::Relaxed) == 0 {
            return None;
        }
        announce(|order| self.slot.store(at + 1, order));
        let round = slot.round.load(Ordering::SeqCst);
        if round == 0 {
            self.leave(slot);
            return None;
        }
        Some(Member { seat: self, slot, round })
    }

    /// Its thread is in a slot.
    pub(crate) fn is_in_slot(&self) -> bool {
        self.slot.load(Ordering::Relaxed) != 0
    }

    fn leave(&self, slot: &Slot) {
        // The leader that reads this sees what the member has computed.
        slot.bed.rouse(|order| self.slot.store(0, order));
    }

    /// A guest does not need it any more.
    pub(crate) fn give_back(&self) {
        self.taken.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_waking_takes_goes_down_at_once_and_up_slowly() {
        let crew = Crew::new(2);
        let come = |ago: Duration| {
            crew.calls_one();
            let called = Instant::now().checked_sub(ago);
            called.into_iter().for_each(|called| crew.has_come(called));
            crew.wake_ns()
        };
        assert!(come(Duration::from_secs(1)) < 2 * FIRST_WAKE_NS * 1000);
        assert!((0..40).map(|_| come(Duration::from_secs(1))).max() <= Some(*WAKE_NS.end()));
        assert!((0..20).map(|_| come(Duration::ZERO)).min() < Some(FIRST_WAKE_NS));
        assert_eq!(crew.called.load(Ordering::Relaxed), 0);
    }
}
