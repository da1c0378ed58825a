//! Chunks of values that several blocks of a launch write, or parts of a block: each writes where
//! its values are, under no lock, and counts them when it leaves the chunk.

use super::Shared;
use std::cell::{RefCell, UnsafeCell};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Values of a chunk.
pub(super) const CHUNK: usize = 4096;

/// Chunks whose memory a thread keeps for the next ones: those of a band of rows, with 32 KiB each.
const KEPT: usize = 18;

thread_local! {
    static UNUSED: RefCell<Vec<Memory>> = const { RefCell::new(vec![]) };
}

/// Memory for a chunk's values, one after the other, of at most a word each. It is no `Box`: a move
/// of that would end the pointers into it.
#[derive(Debug)]
pub(super) struct Memory(Vec<UnsafeCell<u64>>);

impl Memory {
    fn new() -> Memory {
        // A thread that is ending has kept nothing.
        let unused = UNUSED.try_with(|unused| unused.borrow_mut().pop()).ok().flatten();
        unused.unwrap_or_else(|| Memory((0..CHUNK).map(|_| UnsafeCell::new(0)).collect()))
    }

    /// It is not needed any more.
    pub(super) fn keep(self) {
        let _ = UNUSED.try_with(|unused| {
            let mut unused = unused.borrow_mut();
            if unused.len() < KEPT {
                unused.push(self);
            }
        });
    }
}

/// The chunks of a launch that are being written, by number; and how many of their values were
/// counted.
#[derive(Debug, Default)]
pub(super) struct SharedChunks(Mutex<HashMap<usize, (Memory, usize)>>);

impl SharedChunks {
    /// No value is known.
    pub(super) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Where the values of a chunk are. The memory stays until all are counted.
    pub(super) fn enter<T: Shared>(&self, chunk: usize) -> *mut T {
        const { assert!(size_of::<T>() <= 8 && align_of::<T>() <= 8) };
        let mut chunks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (memory, _) = chunks.entry(chunk).or_insert_with(|| (Memory::new(), 0));
        UnsafeCell::raw_get(memory.0.as_ptr()).cast()
    }

    /// So many more of a chunk's `len` values were written. Gives the memory to the thread that
    /// counts the last.
    pub(super) fn leave(&self, chunk: usize, count: usize, len: usize) -> Option<Memory> {
        let mut chunks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, known) = chunks.get_mut(&chunk)?;
        *known += count;
        let all = *known == len;
        all.then(|| chunks.remove(&chunk)).flatten().map(|(memory, _)| memory)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}
