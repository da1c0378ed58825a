//! Bytes that the host moves: by several threads where they are many.
//!
//! The threads are the process's, made when a copy is first worth them. They copy and do nothing
//! else, so a copy never waits for foreign code.

use folio_core::hal::HostPtr;
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZero;
use std::ops::Range;
use std::sync::OnceLock;

/// Threads that copy: at most so many, and half of the processor's.
const THREADS: usize = 8;
/// Bytes that a thread takes at least. One thread alone is slower than a discrete device's link.
const SHARE: u64 = 256 << 10;

/// Rows of bytes in the host's memory.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// The first byte.
    pub at: HostPtr,
    /// Bytes from one slice, and from one row, to the next.
    pub pitch: [u64; 2],
}

impl Rows {
    /// Rows that begin so many bytes further on.
    #[must_use]
    pub fn ahead(at: HostPtr, bytes: u64, pitch: [u64; 2]) -> Rows {
        Rows { at: HostPtr(at.0.wrapping_add(bytes as usize)), pitch }
    }

    fn row(&self, slice: u64, row: u64) -> *mut u8 {
        self.at.0.wrapping_add((slice * self.pitch[0] + row * self.pitch[1]) as usize)
    }
}

/// Copies slices, rows and bytes.
///
/// # Safety
/// Both places are live memory of this extent, which do not overlap. No other thread uses them
/// against this until the call returns.
pub unsafe fn copy(from: &Rows, to: &Rows, extent: [u64; 3]) {
    // SAFETY: the caller's promise, in each of the calls: shares are disjoint.
    let copy = |share: &Share| unsafe { share.copy(from, to) };
    let is_large = extent.iter().product::<u64>() >= 2 * SHARE;
    let Some(pool) = pool().filter(|_| is_large) else {
        return shares(extent, 1).iter().for_each(copy);
    };
    let shares = shares(extent, 1 + pool.current_num_threads());
    pool.in_place_scope(|scope| {
        let (own, others) = shares.split_at(1);
        others.iter().for_each(|share| scope.spawn(move |_| copy(share)));
        own.iter().for_each(copy);
    });
}

/// Fills slices, rows and bytes with a pattern, which begins anew in each row.
///
/// # Safety
/// The place is live memory of this extent. No other thread uses it until the call returns.
pub unsafe fn fill(to: &Rows, [slices, rows, bytes]: [u64; 3], pattern: &[u8]) {
    for (slice, row) in (0..slices).flat_map(|s| (0..rows).map(move |r| (s, r))) {
        let to = to.row(slice, row);
        for at in (0..bytes as usize).step_by(pattern.len().max(1)) {
            let len = pattern.len().min(bytes as usize - at);
            // SAFETY: the caller's promise; the pattern is borrowed, so it is other memory.
            unsafe { pattern.as_ptr().copy_to_nonoverlapping(to.add(at), len) };
        }
    }
}

/// A thread's share of a rectangle: some of its slices, some rows of each, or some bytes of the
/// only row.
#[derive(Debug, PartialEq)]
struct Share {
    slices: Range<u64>,
    rows: Range<u64>,
    bytes: Range<u64>,
}

impl Share {
    /// # Safety
    /// As for [`copy`], for this share.
    unsafe fn copy(&self, from: &Rows, to: &Rows) {
        let (begin, len) = (self.bytes.start as usize, self.bytes.end - self.bytes.start);
        let rows =
            self.slices.clone().flat_map(|slice| self.rows.clone().map(move |row| (slice, row)));
        for (slice, row) in rows {
            let (from, to) = (from.row(slice, row), to.row(slice, row));
            let (from, to) = (from.wrapping_add(begin), to.wrapping_add(begin));
            // SAFETY: the caller's promise.
            unsafe { from.copy_to_nonoverlapping(to, len as usize) };
        }
    }
}

/// A rectangle in shares that are worth a thread each.
fn shares([slices, rows, bytes]: [u64; 3], threads: usize) -> Vec<Share> {
    let threads = (slices * rows * bytes / SHARE).clamp(1, threads as u64);
    let part = |n: u64, at: u64, of: u64| n * at / of..n * (at + 1) / of;
    let by_slice = threads.min(slices);
    let each = threads / by_slice;
    let (by_row, by_byte) = if rows == 1 { (1, each) } else { (each.min(rows), 1) };
    let share = |at| Share {
        slices: part(slices, at / (by_row * by_byte), by_slice),
        rows: part(rows, at / by_byte % by_row, by_row),
        bytes: part(bytes, at % by_byte, by_byte),
    };
    (0..by_slice * by_row * by_byte).map(share).collect()
}

/// The threads that help; none if the system gives none.
fn pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let build = || {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get) / 2;
        let helpers = threads.min(THREADS).checked_sub(1).filter(|n| *n > 0)?;
        let name = |at| format!("folio-copy-{at}");
        ThreadPoolBuilder::new().num_threads(helpers).thread_name(name).build().ok()
    };
    POOL.get_or_init(build).as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_copy_a_rectangle_once() {
        let extents = [
            [1, 1, 5],
            [1, 1, SHARE * 3 + 7],
            [3, 1, SHARE],
            [2, 5, SHARE / 2 + 1],
            [1000, 3, SHARE / 900],
        ];
        for [slices, rows, bytes] in extents {
            let len = (slices * rows * bytes) as usize;
            let mut source: Vec<u8> = (0..len).map(|k| (k % 251) as u8 + 1).collect();
            let mut target = vec![0u8; len];
            let pitch = [rows * bytes, bytes];
            let from = Rows { at: HostPtr(source.as_mut_ptr()), pitch };
            let to = Rows { at: HostPtr(target.as_mut_ptr()), pitch };
            let all = shares([slices, rows, bytes], 5);
            let size = |s: &Share| -> u64 {
                [&s.slices, &s.rows, &s.bytes].map(|range| range.end - range.start).iter().product()
            };
            assert!(all.len() <= 5, "no more than threads");
            assert_eq!(all.iter().map(size).sum::<u64>(), len as u64, "each byte once");
            // SAFETY: both are live and of this size.
            unsafe { copy(&from, &to, [slices, rows, bytes]) };
            assert_eq!(source, target);
        }
    }

    #[test]
    fn a_pattern_begins_anew_in_each_row() {
        let mut target = [0u8; 12];
        let to = Rows::ahead(HostPtr(target.as_mut_ptr()), 1, [12, 6]);
        // SAFETY: it is live, and of this size from its second byte on.
        unsafe { fill(&to, [1, 2, 5], &[7, 8]) };
        assert_eq!(target, [0, 7, 8, 7, 8, 7, 0, 7, 8, 7, 8, 7]);
    }
}
