//! The way of operations from the ledger to a lane: one producer (the holder of the ledger lock),
//! one consumer (the holder of the lane lock), no lock of its own, unbounded, and without
//! allocations once it is warm.
//!
//! A list of segments. The producer writes a slot and then raises `pushed`; the consumer reads
//! `pushed` before it touches a slot. Drained segments are kept as spares for the producer. The two
//! ends may be on two processors for long, so they share no cache line but that of the spares.

use crate::sync::UnsafeCell;
use crate::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::mem::MaybeUninit;
use std::ptr;

/// Few enough that two segments stay in the cache.
const SEGMENT: usize = if cfg!(loom) { 2 } else { 8 };

/// Drained segments that are kept.
const SPARES: usize = if cfg!(loom) { 1 } else { 8 };

struct Segment<T> {
    slots: [UnsafeCell<MaybeUninit<T>>; SEGMENT],
    next: AtomicPtr<Segment<T>>,
}

impl<T> Segment<T> {
    fn boxed() -> *mut Segment<T> {
        Box::into_raw(Box::new(Segment {
            slots: std::array::from_fn(|_| UnsafeCell::new(MaybeUninit::uninit())),
            next: AtomicPtr::new(ptr::null_mut()),
        }))
    }
}

/// The position of one side.
struct End<T> {
    segment: *mut Segment<T>,
    /// Items that have passed this end.
    count: u64,
    /// Items whose segments lie before `segment`.
    start: u64,
    /// The consumer has seen `pushed` to be at least this.
    seen: u64,
}

impl<T> End<T> {
    /// Where item `count` lies in `segment`; `SEGMENT` or more: in the next one.
    fn at(&self) -> usize {
        (self.count - self.start) as usize
    }

    fn enter(&mut self, segment: *mut Segment<T>) {
        self.segment = segment;
        self.start += SEGMENT as u64;
    }
}

/// An unbounded queue with one producer and one consumer at a time.
pub(crate) struct Mailbox<T> {
    producer: Producer<T>,
    consumer: Consumer<T>,
    spares: [AtomicPtr<Segment<T>>; SPARES],
}

#[repr(align(128))]
struct Producer<T> {
    pushed: AtomicU64,
    tail: UnsafeCell<End<T>>,
}

#[repr(align(128))]
struct Consumer<T> {
    head: UnsafeCell<End<T>>,
}

// SAFETY: the queue owns its items; the two ends are each used by one thread at a time (the
// contract of `push` and `pop`), and slots change hands through `pushed`.
unsafe impl<T: Send> Send for Mailbox<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Mailbox<T> {}

impl<T> Mailbox<T> {
    pub(crate) fn new() -> Mailbox<T> {
        let first = Segment::boxed();
        let end = || UnsafeCell::new(End { segment: first, count: 0, start: 0, seen: 0 });
        Mailbox {
            producer: Producer { pushed: AtomicU64::new(0), tail: end() },
            consumer: Consumer { head: end() },
            spares: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
        }
    }

    /// Adds an item.
    #[cfg(test)]
    unsafe fn push(&self, item: T) {
        // SAFETY: our caller's promise, that of `push_with`.
        unsafe { self.push_with(|| item) }
    }

    /// Adds an item that is made where it will lie.
    ///
    /// # Safety
    /// No two calls at the same time; each returns, with `make`, before the next begins.
    #[inline]
    pub(super) unsafe fn push_with(&self, make: impl FnOnce() -> T) {
        // SAFETY: only the producer touches `tail`, and there is one at a time.
        self.producer.tail.with_mut(|tail| self.push_at(unsafe { &mut *tail }, make));
    }

    #[inline]
    fn push_at(&self, tail: &mut End<T>, make: impl FnOnce() -> T) {
        if tail.at() == SEGMENT {
            let spares = self.spares.iter().map(|s| s.swap(ptr::null_mut(), Ordering::Acquire));
            let next = spares.into_iter().find(|s| !s.is_null()).unwrap_or_else(Segment::boxed);
            // SAFETY: the consumer leaves (and frees) the tail segment only after `pushed` has
            // passed its end, which happens below.
            unsafe { (*tail.segment).next.store(next, Ordering::Release) };
            tail.enter(next);
        }
        // SAFETY: as above the segment is alive.
        let slot = unsafe { &(*tail.segment).slots[tail.at()] };
        // SAFETY: slot `count` is not visible to the consumer yet.
        slot.with_mut(|slot| unsafe { (*slot).write(make()) });
        tail.count += 1;
        self.producer.pushed.store(tail.count, Ordering::Release);
    }

    /// How many items have ever been added.
    pub(crate) fn pushed(&self) -> u64 {
        self.producer.pushed.load(Ordering::Acquire)
    }

    /// The oldest item, left in place.
    ///
    /// # Safety
    /// No two calls of `peek` and `pop` at the same time; each happens before the next.
    pub(crate) unsafe fn peek(&self) -> Option<&T> {
        // SAFETY: only the consumer touches `head`, and there is one at a time.
        let slot = self.consumer.head.with_mut(|head| self.oldest(unsafe { &mut *head }))?;
        // SAFETY: `oldest` found the slot initialised, and it is not taken while we borrow it.
        Some(slot.with(|slot| unsafe { (*slot).assume_init_ref() }))
    }

    /// The item `n` after the oldest one, if it is already known to be there; of the next segment,
    /// if it lies there.
    ///
    /// # Safety
    /// As [`Mailbox::peek`].
    pub(super) unsafe fn peek_ahead(&self, n: usize) -> Option<&T> {
        self.consumer.head.with(|head| {
            // SAFETY: only the consumer touches `head`, and there is one at a time.
            let head = unsafe { &*head };
            if head.count + n as u64 >= head.seen {
                return None;
            }
            let (mut segment, mut at) = (head.segment, head.at() + n);
            if at >= SEGMENT {
                // SAFETY: the segment is alive until the head leaves it, and the producer has
                // linked the one of a later item.
                segment = unsafe { (*segment).next.load(Ordering::Acquire) };
                at -= SEGMENT;
            }
            if at >= SEGMENT {
                return None;
            }
            // SAFETY: this segment is alive as the other one is.
            let slot = unsafe { &(*segment).slots[at] };
            // SAFETY: item `count + n` was pushed into this segment, and has not been taken.
            Some(slot.with(|slot| unsafe { (*slot).assume_init_ref() }))
        })
    }

    /// Takes the oldest item.
    ///
    /// # Safety
    /// As [`Mailbox::peek`].
    pub(crate) unsafe fn pop(&self) -> Option<T> {
        self.consumer.head.with_mut(|head| {
            // SAFETY: only the consumer touches `head`, and there is one at a time.
            let head = unsafe { &mut *head };
            let slot = self.oldest(head)?;
            // SAFETY: `oldest` found the slot initialised; raising `count` gives it up.
            let item = slot.with(|slot| unsafe { (*slot).assume_init_read() });
            head.count += 1;
            Some(item)
        })
    }

    /// Takes the oldest item where it lies: `f` uses it, then it is dropped.
    ///
    /// # Safety
    /// As [`Mailbox::peek`], until `f` has returned.
    pub(super) unsafe fn pop_with<R>(&self, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.consumer.head.with_mut(|head| {
            // SAFETY: only the consumer touches `head`, and there is one at a time.
            let head = unsafe { &mut *head };
            let slot = self.oldest(head)?;
            // Before `f`, so that an item on which it panics is leaked and not seen again.
            head.count += 1;
            Some(slot.with_mut(|slot| {
                // SAFETY: `oldest` found the slot initialised.
                let item = unsafe { (*slot).assume_init_mut() };
                let result = f(item);
                // SAFETY: no other thread sees the item, now that `count` is above it.
                unsafe { ptr::drop_in_place(item) };
                result
            }))
        })
    }

    /// The slot of the oldest item, which was written before `pushed` rose above it and has not
    /// been taken since.
    fn oldest(&self, head: &mut End<T>) -> Option<&UnsafeCell<MaybeUninit<T>>> {
        if head.count == head.seen {
            head.seen = self.producer.pushed.load(Ordering::Acquire);
            if head.count == head.seen {
                return None;
            }
        }
        if head.at() == SEGMENT {
            self.advance(head);
        }
        // SAFETY: the segment is alive until the head leaves it.
        Some(unsafe { &(*head.segment).slots[head.at()] })
    }

    /// Moves the head to the next segment and keeps the old one as a spare.
    fn advance(&self, head: &mut End<T>) {
        let old = head.segment;
        // SAFETY: `old` is alive until it is given up below; item `count` exists, so the producer
        // has linked the segment that holds it.
        head.enter(unsafe { (*old).next.load(Ordering::Acquire) });
        // SAFETY: the producer left `old` before it raised `pushed` past its end; nobody else
        // refers to it.
        unsafe { (*old).next.store(ptr::null_mut(), Ordering::Relaxed) };
        // Only the consumer adds spares: a place that is free stays so until then.
        let free = self.spares.iter().find(|s| s.load(Ordering::Relaxed).is_null());
        match free {
            Some(place) => place.store(old, Ordering::Release),
            // SAFETY: as above, `old` is ours alone; it was made by `boxed`.
            None => drop(unsafe { Box::from_raw(old) }),
        }
    }
}

impl<T> Drop for Mailbox<T> {
    fn drop(&mut self) {
        // SAFETY: `&mut self`: no other producer or consumer.
        while unsafe { self.pop() }.is_some() {}
        // SAFETY: as above.
        let mut segment = self.consumer.head.with(|head| unsafe { (*head).segment });
        while !segment.is_null() {
            // SAFETY: each segment of the chain is owned by the queue and freed once.
            let owned = unsafe { Box::from_raw(segment) };
            segment = owned.next.load(Ordering::Relaxed);
        }
        for spare in &self.spares {
            let spare = spare.load(Ordering::Relaxed);
            if !spare.is_null() {
                // SAFETY: a spare is in no chain.
                drop(unsafe { Box::from_raw(spare) });
            }
        }
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn items_come_out_in_order_and_none_is_lost() {
        let mailbox = Arc::new(Mailbox::new());
        let producer = mailbox.clone();
        const N: u64 = if cfg!(miri) { 300 } else { 100_000 };
        let thread = std::thread::spawn(move || {
            for i in 0..N {
                // SAFETY: this thread is the only producer.
                unsafe { producer.push(Box::new(i)) };
            }
        });
        let mut next = 0;
        while next < N {
            // SAFETY: this thread is the only consumer.
            unsafe {
                if let Some(seen) = mailbox.peek().map(|b| **b) {
                    assert_eq!(mailbox.peek().map(|b| **b), Some(seen));
                    assert_eq!(mailbox.pop().map(|b| *b), Some(next));
                    assert_eq!(seen, next);
                    next += 1;
                }
            }
        }
        thread.join().unwrap();
        // SAFETY: the only consumer.
        assert!(unsafe { mailbox.pop() }.is_none());
    }

    #[test]
    fn what_is_left_is_dropped() {
        let item = Arc::new(());
        let mailbox = Mailbox::new();
        for _ in 0..100 {
            // SAFETY: one thread.
            unsafe { mailbox.push(item.clone()) };
        }
        for _ in 0..40 {
            // SAFETY: one thread.
            drop(unsafe { mailbox.pop() });
        }
        assert_eq!(Arc::strong_count(&item), 61);
        drop(mailbox);
        assert_eq!(Arc::strong_count(&item), 1);
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::loom_model::check;
    use crate::sync::Mutex;
    use loom::sync::Arc;
    use loom::thread;

    /// Five items through segments of two: the consumer leaves segments while the producer enters
    /// the next, a spare, or one of its own. An item must be seen whole, in order, once, and
    /// dropped.
    #[test]
    fn loom_a_mailbox_hands_items_over() {
        const ITEMS: usize = 5;
        check(Some(4), || {
            let mailbox = Arc::new(Mailbox::new());
            let witness = std::sync::Arc::new(());
            let (producer, item) = (mailbox.clone(), witness.clone());
            let thread = thread::spawn(move || {
                for i in 0..ITEMS {
                    // SAFETY: this thread is the only producer.
                    unsafe { producer.push((i, item.clone())) };
                }
            });
            let mut taken = 0;
            for _ in 0..ITEMS {
                // SAFETY: this thread is the only consumer.
                unsafe {
                    if let Some(&(seen, _)) = mailbox.peek() {
                        let ahead = mailbox.peek_ahead(1);
                        assert!(ahead.is_none_or(|(ahead, _)| *ahead == seen + 1));
                        assert_eq!(mailbox.pop().map(|(i, _)| i), Some(seen));
                        assert_eq!(seen, taken);
                        taken += 1;
                    }
                }
            }
            thread.join().unwrap();
            // What is left stays for the drop, but for one more.
            // SAFETY: the producer has ended.
            if let Some((seen, _)) = unsafe { mailbox.pop() } {
                assert_eq!(seen, taken);
                taken += 1;
            }
            assert_eq!(std::sync::Arc::strong_count(&witness), 1 + ITEMS - taken);
            drop(mailbox);
            assert_eq!(std::sync::Arc::strong_count(&witness), 1);
        });
    }

    /// Both ends change threads: the ledger's lock makes one producer, the lane's one consumer.
    #[test]
    fn loom_a_mailbox_has_users_that_take_turns() {
        check(Some(5), || {
            let shared = Arc::new((Mailbox::new(), Mutex::new(0), Mutex::new(0)));
            let other = shared.clone();
            let work = |(mailbox, ledger, lane): &(Mailbox<usize>, Mutex<usize>, Mutex<usize>)| {
                for _ in 0..2 {
                    let mut next = ledger.lock();
                    // SAFETY: the ledger's lock is held.
                    unsafe { mailbox.push(*next) };
                    *next += 1;
                    drop(next);
                    let mut seen = lane.lock();
                    // SAFETY: the lane's lock is held.
                    while let Some(item) = unsafe { mailbox.pop() } {
                        assert_eq!(item, *seen);
                        *seen += 1;
                    }
                }
            };
            let thread = thread::spawn(move || work(&other));
            work(&shared);
            thread.join().unwrap();
            // The pushing thread drains afterwards, so nothing is left behind.
            assert_eq!(*shared.2.lock(), 4);
        });
    }
}
