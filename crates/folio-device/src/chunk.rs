//! Chunks of values that several blocks of a launch write, or parts of a block: each writes where
//! its values are, and counts them when it leaves the chunk. No lock: threads that reduce many
//! short blocks at once would wait for each other.

use super::Shared;
use std::cell::{RefCell, UnsafeCell};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Values of a chunk.
pub(super) const CHUNK: usize = 4096;

/// Chunks whose memory a thread keeps for the next ones: those of a band of rows, with 32 KiB each.
const KEPT: usize = 18;

/// Memory for a chunk's values, one after the other, of at most a word each.
type Values = [UnsafeCell<u64>; CHUNK];

thread_local! {
    static UNUSED: RefCell<Vec<Box<Values>>> = const { RefCell::new(vec![]) };
}

/// Zeros, or what an earlier chunk has left.
fn memory() -> Box<Values> {
    // A thread that is ending has kept nothing.
    let unused = UNUSED.try_with(|unused| unused.borrow_mut().pop()).ok().flatten();
    unused.unwrap_or_else(|| {
        let zeros: Box<[u64]> = vec![0; CHUNK].into();
        // SAFETY: so many words, and an `UnsafeCell` of a word is laid out as one.
        unsafe { Box::from_raw(Box::into_raw(zeros).cast::<Values>()) }
    })
}

fn keep(memory: Box<Values>) {
    let _ = UNUSED.try_with(|unused| {
        let mut unused = unused.borrow_mut();
        if unused.len() < KEPT {
            unused.push(memory);
        }
    });
}

/// A chunk of a launch that is being written.
#[derive(Debug, Default)]
struct ChunkSlot {
    /// Its memory, or null.
    values: AtomicPtr<Values>,
    /// How many of its values were counted.
    known: AtomicUsize,
}

/// The chunks of a launch, by number.
#[derive(Debug)]
pub(super) struct SharedChunks {
    places: Box<[ChunkSlot]>,
    /// Chunks that have memory.
    open: AtomicUsize,
}

/// A chunk all of whose values are written, and whose memory is used by this thread alone.
pub(super) struct Whole(*mut Values);

impl SharedChunks {
    pub(super) fn new(chunks: usize) -> SharedChunks {
        let places = (0..chunks).map(|_| ChunkSlot::default()).collect();
        SharedChunks { places, open: AtomicUsize::new(0) }
    }

    /// No value is known. No block of the launch is being computed.
    pub(super) fn clear(&self) {
        if self.open.swap(0, Ordering::Relaxed) == 0 {
            return;
        }
        for place in &self.places {
            place.known.store(0, Ordering::Relaxed);
            drop(self.take(place));
        }
    }

    /// Takes a chunk's memory out of its place.
    fn take(&self, place: &ChunkSlot) -> Option<Whole> {
        let values = place.values.swap(std::ptr::null_mut(), Ordering::Acquire);
        // Not `then_some`: what it drops where there is none would be null.
        (!values.is_null()).then(|| Whole(values))
    }

    /// Where the values of a chunk are; null if there is no such chunk. The memory stays until all
    /// are counted.
    pub(super) fn enter<T: Shared>(&self, chunk: usize) -> *mut T {
        const { assert!(size_of::<T>() <= 8 && align_of::<T>() <= 8) };
        let Some(place) = self.places.get(chunk) else { return std::ptr::null_mut() };
        let there = place.values.load(Ordering::Acquire);
        if !there.is_null() {
            return there.cast();
        }
        let new = Box::into_raw(memory());
        let order = (Ordering::AcqRel, Ordering::Acquire);
        match place.values.compare_exchange(std::ptr::null_mut(), new, order.0, order.1) {
            Ok(_) => {
                self.open.fetch_add(1, Ordering::Relaxed);
                new.cast()
            }
            Err(there) => {
                drop(Whole(new));
                there.cast()
            }
        }
    }

    /// So many more of a chunk's `len` values were written. Gives the memory to the thread that
    /// counts the last.
    pub(super) fn leave(&self, chunk: usize, count: usize, len: usize) -> Option<Whole> {
        let place = self.places.get(chunk)?;
        // Release what this block has written; acquire, for the last one, what others have.
        if place.known.fetch_add(count, Ordering::AcqRel) + count != len {
            return None;
        }
        // A graph runs the launch again.
        place.known.store(0, Ordering::Relaxed);
        self.open.fetch_sub(1, Ordering::Relaxed);
        self.take(place)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }
}

impl Drop for SharedChunks {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Drop for Whole {
    /// The thread keeps the memory for its next chunk.
    fn drop(&mut self) {
        // SAFETY: made by `Box::into_raw` in `enter`, and taken out of its place once (`take`), or
        // never put into one; so no other thread uses it.
        keep(unsafe { Box::from_raw(self.0) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_that_were_left_half_written_are_cleared_and_the_others_are_not_there() {
        let chunks = SharedChunks::new(3);
        chunks.clear();
        assert!(!chunks.enter::<u32>(1).is_null());
        assert!(chunks.leave(1, 5, 10).is_none());
        chunks.clear();
        assert_eq!(chunks.len(), 0);
        // The count begins anew.
        let first = chunks.enter::<u32>(1);
        assert_eq!(first, chunks.enter::<u32>(1));
        assert!(chunks.leave(1, 4, 10).is_none());
        assert!(chunks.leave(1, 6, 10).is_some());
        assert!(chunks.enter::<u32>(3).is_null());
        // One that is dropped half written gives its memory back.
        chunks.enter::<u64>(2);
    }
}
