//! Lanes outside the ledger: the way of operations to the native lane ([`LaneShared`]).
//!
//! An operation gets its tick under the ledger and goes into the lane's mailbox there, so mailboxes
//! are in tick order. The holder of the lane lock empties the mailbox into the native lane. An
//! operation that waits for another lane's tick needs that tick to be with its native lane: the
//! drainer then lets go of its own lane, drains the other one up to there, and comes back. A
//! drainer never holds two lane locks; waits point only at operations that were placed earlier, so
//! the earliest operation can always go and there is no deadlock.

pub(crate) mod list;
pub(crate) mod mailbox;
pub(crate) mod native;
pub(crate) mod port;

use crate::engine::kernels::interop;
use crate::engine::kernels::launch::Launch;
use crate::engine::kernels::loaded::LoadedKernel;
use crate::engine::lanes::list::List;
use crate::engine::lanes::mailbox::Mailbox;
use crate::engine::lanes::native::Replaying;
use crate::error::Label;
use crate::hal::{
    CopyRect, FillRect, HalError, HalErrorKind, Head, Hint, Lane, MemRef, Op, Order, Side, Tick,
    Wait,
};
use crate::order::stamp::{LaneId, Waits};
use crate::panics::contain;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use crate::sync::{Mutex, MutexGuard};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// An operation as a native lane is given it.
pub(crate) enum Payload {
    /// Until it is handed over.
    Launch(Option<Box<Launch>>),
    Copy(Vec<CopyRect>),
    Fill(Box<Filling>),
    /// Prefetch or advice for so many bytes.
    Hint(Box<(MemRef, u64, Hint)>),
    /// All of linked memory, its bytes, and who is to use it.
    Switch(Box<(MemRef, u64, Side)>),
    /// All nodes of a graph; there until it is handed over.
    Replay(Option<Replaying>),
}

impl Payload {
    /// The operation, as lanes and graphs of devices are told it. `None` after
    /// [`remains`](Self::remains).
    pub(crate) fn op(&mut self) -> Option<Op<'_>> {
        Some(match self {
            Payload::Launch(launch) => launch.as_mut()?.op(),
            Payload::Copy(rects) => Op::Copy(rects),
            Payload::Fill(fill) => Op::Fill(&fill.rects, &fill.pattern),
            Payload::Hint(hint) => Op::Hint(hint.0, hint.1, hint.2),
            Payload::Switch(switch) => Op::Switch(switch.0, switch.1, switch.2),
            Payload::Replay(replay) => Op::Replay(replay.as_ref()?.graph()),
        })
    }

    /// Ends an operation that a native lane was told. Returns what the caller drops later, without
    /// a lock.
    fn remains(&mut self) -> Option<Remains> {
        if let Payload::Launch(launch) = self {
            let launch = launch.take()?;
            if launch.kernel.is_some() || launch.foreign.is_some() {
                return Some(Remains::Launch(launch));
            }
            launch.recycle();
        } else if let Payload::Replay(replay) = self {
            let last = Arc::into_inner(replay.take()?.given());
            return last.map(|list| Remains::Graph(Box::new(list)));
        }
        None
    }

    /// The code that is loaded for as long as something uses it, if this does.
    pub(crate) fn uses(&self) -> Option<&Arc<LoadedKernel>> {
        match self {
            Payload::Launch(Some(launch)) => launch.uses(),
            _ => None,
        }
    }
}

/// A fill. Boxed, like hints, so that operations on their way stay small: they pass through memory
/// that a driver's work has driven out of the caches.
pub(crate) struct Filling {
    pub(crate) rects: Vec<FillRect>,
    pub(crate) pattern: SmallVec<[u8; 16]>,
}

/// An operation on its way to a native lane.
pub(crate) struct LaneOp {
    pub(crate) tick: Tick,
    pub(crate) order: Order,
    /// Ticks of other lanes.
    pub(crate) waits: Waits,
    pub(crate) label: Label,
    pub(crate) timed: bool,
    pub(crate) payload: Payload,
}

impl LaneOp {
    /// Another processor may have written it: it should be here when the operations before it have
    /// been handed over.
    fn prefetch(&self) {
        if let Payload::Launch(Some(launch)) = &self.payload {
            prefetch(&raw const **launch, 1);
        }
    }

    /// The memory to which [`prefetch`](Self::prefetch) leads.
    fn prefetch_parameters(&self) {
        if let Payload::Launch(Some(launch)) = &self.payload {
            prefetch(launch.params.as_ptr(), launch.params.len());
        }
    }
}

/// Asks for the memory of values, to read and to write it.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn prefetch<T>(values: *const T, len: usize) {
    use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
    for line in (0..size_of::<T>() * len).step_by(64) {
        // SAFETY: a hint; it touches nothing.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(values.cast::<i8>().wrapping_byte_add(line)) };
    }
}

/// Asks for the memory of values.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn prefetch<T>(_: *const T, _: usize) {}

/// Written by submitters, so it shares no cache line with what a courier writes for each operation.
#[repr(align(128))]
struct CacheLine(AtomicU64);

/// Ticks for which others will wait, a bit for each of the next so many: of more than those, some
/// are taken for others, which costs a mark too many or too late. On lines of their own, as
/// [`CacheLine`].
#[derive(Default)]
#[repr(align(128))]
struct AwaitedTicks([AtomicU64; (FAR / 64) as usize]);

/// Ticks that are told apart.
pub(super) const FAR: u64 = 256;

impl AwaitedTicks {
    fn of(&self, tick: Tick) -> (&AtomicU64, u64) {
        (&self.0[(tick % FAR / 64) as usize], 1 << (tick % 64))
    }
}

/// A lane outside the ledger.
#[repr(align(128))]
pub(crate) struct LaneShared {
    pub(crate) id: LaneId,
    pub(crate) native: Arc<dyn Lane>,
    pub(crate) mailbox: Mailbox<LaneOp>,
    /// The lane lock.
    lock: Mutex<()>,
    /// The last tick that the native lane has been given.
    enqueued: AtomicU64,
    /// Operations are held back because the native lane has enough.
    pub(crate) stalled: AtomicBool,
    /// The last tick handed over when the reaper last looked.
    looked: AtomicU64,
    /// The last tick submitted when a submitter last looked how far the courier is.
    paced: CacheLine,
    most_in_flight: u64,
    /// Up to here the native lane takes ticks, as far as known; written under the lane lock.
    room: AtomicU64,
    awaited: AwaitedTicks,
    /// Failures of calls, for the ledger.
    refused: Mutex<Vec<(Tick, HalError)>>,
    any_refused: AtomicBool,
}

impl LaneShared {
    pub(crate) fn new(id: LaneId, native: Arc<dyn Lane>, most_in_flight: u32) -> LaneShared {
        LaneShared {
            id,
            native,
            mailbox: Mailbox::new(),
            lock: Mutex::new(()),
            enqueued: AtomicU64::new(0),
            stalled: AtomicBool::new(false),
            looked: AtomicU64::new(0),
            paced: CacheLine(AtomicU64::new(0)),
            most_in_flight: u64::from(most_in_flight.max(1)),
            room: AtomicU64::new(0),
            awaited: AwaitedTicks::default(),
            refused: Mutex::new(Vec::new()),
            any_refused: AtomicBool::new(false),
        }
    }

    /// Another lane, or a thread, will wait for this tick.
    pub(crate) fn expect_wait_for(&self, tick: Tick) {
        if self.enqueued() < tick {
            let (word, bit) = self.awaited.of(tick);
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// How many operations are in the mailbox.
    pub(crate) fn backlog(&self) -> u64 {
        // Each has the next tick.
        let enqueued = self.enqueued();
        self.mailbox.pushed() - enqueued
    }

    /// Operations are in the mailbox, and not held back for want of room.
    pub(crate) fn is_waiting(&self) -> bool {
        self.backlog() > 0 && !self.stalled.load(Ordering::Acquire)
    }

    /// They are, and none has been handed over since [`news`](Self::news) was asked.
    pub(crate) fn is_held_up(&self) -> bool {
        self.is_waiting() && self.enqueued() == self.looked()
    }

    /// How many operations have been handed over since this was last asked.
    pub(crate) fn news(&self) -> u64 {
        let enqueued = self.enqueued();
        enqueued.wrapping_sub(self.looked.swap(enqueued, Ordering::Relaxed))
    }

    /// As if another thread were draining for as long as this is kept.
    #[cfg(all(test, not(loom)))]
    pub(super) fn hold_up(&self) -> MutexGuard<'_, ()> {
        self.lock.lock()
    }

    /// The last tick handed over when [`news`](Self::news) was last asked.
    pub(crate) fn looked(&self) -> Tick {
        self.looked.load(Ordering::Relaxed)
    }

    /// True once for each `n` operations or so.
    pub(crate) fn is_due(&self, n: u64) -> bool {
        let (pushed, paced) = (self.mailbox.pushed(), self.paced.0.load(Ordering::Relaxed));
        let due = pushed.wrapping_sub(paced) >= n;
        if due {
            self.paced.0.store(pushed, Ordering::Relaxed);
        }
        due
    }

    pub(crate) fn enqueued(&self) -> Tick {
        self.enqueued.load(Ordering::Acquire)
    }

    /// Hands the mailbox's operations to the native lane, up to tick `until` unless the lane is
    /// full, then offers the thread to the backend. The bound keeps lanes that wait for each other
    /// in turn from recursing deeper than there are lanes, and a thread from working for others
    /// that go on submitting. True when a lane has newly stalled: the reaper must come back to it.
    #[must_use]
    pub(crate) fn drain(&self, lanes: &dyn Lanes, until: Tick) -> bool {
        self.drain_if(lanes, until, || Some(self.lock.lock())).unwrap_or(false)
    }

    /// As [`drain`](Self::drain), if no other thread is at it.
    pub(crate) fn try_drain(&self, lanes: &dyn Lanes, until: Tick) -> Option<bool> {
        self.drain_if(lanes, until, || self.lock.try_lock())
    }

    fn drain_if<'l>(
        &'l self,
        lanes: &dyn Lanes,
        until: Tick,
        lock: impl FnOnce() -> Option<MutexGuard<'l, ()>>,
    ) -> Option<bool> {
        if interop::inside() {
            // This thread may hold the lock.
            return Some(self.stall());
        }
        let mut first = Some(lock()?);
        let (mut drove, mut stalls) = (false, false);
        let mut left = Vec::new();
        loop {
            let held = first.take().unwrap_or_else(|| self.lock.lock());
            match self.drain_own(held, lanes, until, &mut left) {
                DrainEnd::Needs(lane, tick) => {
                    if let Some(lane) = lanes.shared(lane) {
                        stalls |= lane.drain(lanes, tick);
                        // A full lane cannot take the tick yet; a waiter or the reaper comes back
                        // when it has made progress.
                        if lane.enqueued() < tick {
                            stalls |= self.stall();
                            break;
                        }
                    }
                }
                DrainEnd::Empty => break,
                DrainEnd::Full(new) => {
                    stalls |= new;
                    if drove {
                        break;
                    }
                    // The backend may do the work that is there on this thread and make room.
                    drove = true;
                    self.native.flush();
                    self.native.drive();
                }
            }
        }
        // No lock is held: what the user's captures do when they go is up to them.
        left.into_iter().for_each(|remains| contain(|| remains.end()));
        self.native.drive();
        Some(stalls)
    }

    /// Operations are held back; true when they were not before.
    fn stall(&self) -> bool {
        !self.stalled.swap(true, Ordering::AcqRel)
    }

    /// Launches that the native lane has refused are `left`, to be dropped without the lock.
    fn drain_own(
        &self,
        _held: MutexGuard<'_, ()>,
        lanes: &dyn Lanes,
        until: Tick,
        left: &mut Vec<Remains>,
    ) -> DrainEnd {
        loop {
            // SAFETY: the lane lock makes us the only consumer.
            let Some(head) = (unsafe { self.mailbox.peek() }) else {
                if !self.stalled.load(Ordering::Acquire) {
                    return DrainEnd::Empty;
                }
                // An interop task may have put something in since, which it can only tell in this
                // way: then this sees it.
                self.stalled.swap(false, Ordering::AcqRel);
                // A courier that has seen the lane held back has left it to this.
                fence(Ordering::SeqCst);
                continue;
            };
            if head.tick > until {
                // Its submitter sees to it, or has left it to a courier, or to the thread that
                // comes back to a lane that is held back.
                return DrainEnd::Empty;
            }
            if head.tick > self.room.load(Ordering::Relaxed) {
                let done = self.native.completed().unwrap_or(Tick::MAX / 2);
                self.room.store(done + self.most_in_flight, Ordering::Relaxed);
                if head.tick > done + self.most_in_flight {
                    return DrainEnd::Full(self.stall());
                }
            }
            for (lane, tick) in head.waits.iter() {
                if lanes.shared(lane).is_some_and(|l| l.enqueued() < tick) {
                    return DrainEnd::Needs(lane, tick);
                }
            }
            let tick = head.tick;
            // SAFETY: as above.
            if let Some(next) = unsafe { self.mailbox.peek_ahead(1) } {
                next.prefetch_parameters();
            }
            // SAFETY: as above.
            if let Some(later) = unsafe { self.mailbox.peek_ahead(2) } {
                later.prefetch();
            }
            // SAFETY: as above.
            if let Some(last) = unsafe { self.mailbox.peek_ahead(4) } {
                prefetch(last, 1);
            }
            // SAFETY: as above.
            let given = unsafe { self.mailbox.pop_with(|op| self.enqueue_safely(lanes, op, left)) };
            if let Some(Err(error)) = given {
                self.refused.lock().push((tick, error));
                self.any_refused.store(true, Ordering::Release);
            }
            let (word, bit) = self.awaited.of(tick);
            if word.load(Ordering::Relaxed) & bit != 0 {
                contain(|| self.native.awaited(tick));
                word.fetch_and(!bit, Ordering::Relaxed);
            }
            self.enqueued.store(tick, Ordering::Release);
        }
    }

    /// A backend that panics has failed.
    fn enqueue_safely(
        &self,
        lanes: &dyn Lanes,
        op: &mut LaneOp,
        left: &mut Vec<Remains>,
    ) -> Result<(), HalError> {
        let enqueue = AssertUnwindSafe(|| self.enqueue(lanes, op, left));
        catch_unwind(enqueue).unwrap_or_else(|payload| Err(HalError::panic(payload)))
    }

    fn enqueue(
        &self,
        lanes: &dyn Lanes,
        op: &mut LaneOp,
        left: &mut Vec<Remains>,
    ) -> Result<(), HalError> {
        let mut waits: SmallVec<[Wait<'_>; 4]> = SmallVec::new();
        for (lane, tick) in op.waits.iter() {
            if let Some(lane) = lanes.shared(lane) {
                waits.push(Wait { lane: &lane.native, tick });
            }
        }
        let head = Head {
            tick: op.tick,
            order: op.order,
            waits: &waits,
            label: op.label.as_str(),
            timed: op.timed,
        };
        // An operation that was to be handed over once has failed.
        let none = || HalError::new(HalErrorKind::Driver, "an operation handed over twice");
        let result = self.native.enqueue(&head, op.payload.op().ok_or_else(none)?);
        left.extend(op.payload.remains());
        result
    }

    /// Moves what failed, in calls and later, to the ledger's list.
    fn tell_failures(&self, told: &mut VecDeque<(Tick, HalError)>) {
        let before = told.len();
        if self.any_refused.swap(false, Ordering::AcqRel) {
            told.extend(self.refused.lock().drain(..));
        }
        self.native.failures(&mut |tick, error| told.push_back((tick, error)));
        if told.len() > before {
            told.make_contiguous().sort_by_key(|(tick, _)| *tick);
        }
    }
}

/// Remains that hold the user's captures.
enum Remains {
    /// A launch that the native lane has refused.
    Launch(Box<Launch>),
    /// The list that was replayed.
    Graph(Box<List>),
}

impl Remains {
    fn end(self) {
        match self {
            Remains::Launch(launch) => launch.recycle(),
            Remains::Graph(list) => drop(list),
        }
    }
}

enum DrainEnd {
    Empty,
    /// The native lane has enough; `true` if that is new.
    Full(bool),
    Needs(LaneId, Tick),
}

/// Finds lanes by id.
pub(crate) trait Lanes {
    fn shared(&self, id: LaneId) -> Option<&LaneShared>;
}

#[cfg(all(test, not(loom)))]
#[path = "lanes_tests.rs"]
pub(super) mod tests;
