//! Memory of a work-group: local arrays, and what items keep between phases. Each thread has one
//! arena, used again by group after group.

use std::cell::{Cell, RefCell};
use std::mem::MaybeUninit;

/// Whole vectors, and a cache line.
const ALIGN: usize = 64;

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Unit(#[expect(dead_code, reason = "memory for others")] MaybeUninit<[u8; ALIGN]>);

/// Memory that is given out piece by piece and taken back as a whole.
#[derive(Debug, Default)]
pub(super) struct Arena {
    /// Boxes, held by their pointers. All but the last are full.
    chunks: RefCell<Vec<*mut [Unit]>>,
    /// Units of the last chunk that are given out.
    used: Cell<usize>,
}

fn chunk(units: usize) -> *mut [Unit] {
    Box::into_raw(vec![Unit(MaybeUninit::uninit()); units].into_boxed_slice())
}

impl Arena {
    /// Room for `len` elements, aligned for vectors: valid until [`Arena::reset`], and of one
    /// owner.
    pub(super) fn room<T>(&self, len: usize) -> *mut T {
        const { assert!(align_of::<T>() <= ALIGN) };
        let units = size_of::<T>().saturating_mul(len).div_ceil(ALIGN);
        let mut chunks = self.chunks.borrow_mut();
        let last = chunks.last().copied();
        let first = self.used.get();
        if let Some(last) = last
            && units <= last.len() - first
        {
            self.used.set(first + units);
            return last.cast::<Unit>().wrapping_add(first).cast();
        }
        let new = chunk(last.map_or(0, |last| 2 * last.len()).max(units).max(64));
        chunks.push(new);
        self.used.set(units);
        new.cast()
    }

    /// Takes back everything. If it was in several pieces, it will be in one.
    ///
    /// # Safety
    /// Nobody uses what was given out.
    pub(super) unsafe fn reset(&self) {
        let pieces = self.chunks.borrow().len();
        if pieces > 1 {
            let all = self.chunks.borrow().iter().map(|chunk| chunk.len()).sum();
            self.free();
            self.chunks.borrow_mut().push(chunk(all));
        }
        self.used.set(0);
    }

    fn free(&self) {
        for chunk in self.chunks.borrow_mut().drain(..) {
            // SAFETY: from `Box::into_raw`, in `chunk`, and not in the list any more.
            drop(unsafe { Box::from_raw(chunk) });
        }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.free();
    }
}

thread_local! {
    static ARENA: Cell<Option<Box<Arena>>> = const { Cell::new(None) };
}

/// The thread's arena, lent; another one within a kernel that is run within a kernel. Who has it
/// gives it back by dropping it.
#[derive(Debug)]
pub(super) struct ArenaLoan(Box<Arena>);

impl ArenaLoan {
    pub(super) fn new() -> ArenaLoan {
        ArenaLoan(ARENA.try_with(Cell::take).ok().flatten().unwrap_or_default())
    }
}

impl std::ops::Deref for ArenaLoan {
    type Target = Arena;
    #[inline(always)]
    fn deref(&self) -> &Arena {
        &self.0
    }
}

impl Drop for ArenaLoan {
    fn drop(&mut self) {
        // A thread that is ending keeps nothing.
        let _ = ARENA.try_with(|kept| kept.set(Some(std::mem::take(&mut self.0))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_are_apart_and_one_chunk_is_enough_in_the_end() {
        let arena = Arena::default();
        for round in 0..3 {
            let rooms: Vec<_> = (1..40).map(|n| (arena.room::<u64>(n * 7), n * 7)).collect();
            for (at, (room, len)) in rooms.iter().enumerate() {
                assert_eq!(*room as usize % ALIGN, 0);
                // SAFETY: the arena gave room for so many.
                (0..*len).for_each(|k| unsafe { room.add(k).write((at * 1000 + k) as u64) });
            }
            for (at, (room, len)) in rooms.iter().enumerate() {
                // SAFETY: written above.
                let found: Vec<_> = (0..*len).map(|k| unsafe { room.add(k).read() }).collect();
                assert!(found.iter().enumerate().all(|(k, x)| *x == (at * 1000 + k) as u64));
            }
            // SAFETY: the rooms are not used any more.
            unsafe { arena.reset() };
            assert_eq!(arena.chunks.borrow().len(), 1, "round {round}");
        }
    }
}
