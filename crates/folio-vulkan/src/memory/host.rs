//! Bytes that the host moves, by several threads where they are many.

use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZero;
use std::sync::OnceLock;

/// Threads that copy, at most and if they are half of the processor's, and what each takes at
/// least: one alone is slower than the link of a discrete device.
const THREADS: usize = 8;
const SHARE: usize = 256 << 10;

/// Bytes that go from one place to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Move {
    pub(crate) from: *mut u8,
    pub(crate) into: *mut u8,
    pub(crate) bytes: usize,
}

// SAFETY: addresses; the caller of `copy_all` answers for their use.
unsafe impl Send for Move {}
// SAFETY: as above.
unsafe impl Sync for Move {}

impl Move {
    /// What is left behind so many bytes.
    fn behind(self, bytes: usize) -> Move {
        let (from, into) = (self.from.wrapping_add(bytes), self.into.wrapping_add(bytes));
        Move { from, into, bytes: self.bytes - bytes }
    }
}

/// Copies all of it.
///
/// # Safety
/// All places are live, no two overlap, and nothing else uses them against this until it returns.
pub(crate) unsafe fn copy_all(moves: &[Move]) {
    // SAFETY: the caller's promise.
    let copy = |all: &[Move]| unsafe {
        all.iter().for_each(|own| std::ptr::copy_nonoverlapping(own.from, own.into, own.bytes));
    };
    let bytes: usize = moves.iter().map(|own| own.bytes).sum();
    let Some(pool) = pool().filter(|_| bytes >= 2 * SHARE) else { return copy(moves) };
    let shares = shares(moves, bytes, 1 + pool.current_num_threads());
    pool.in_place_scope(|scope| {
        let (own, others) = shares.split_at(shares.len().min(1));
        others.iter().for_each(|share| scope.spawn(move |_| copy(share)));
        own.iter().for_each(|share| copy(share));
    });
}

/// Moves of so many bytes in all, in shares that are worth a thread each.
fn shares(moves: &[Move], bytes: usize, threads: usize) -> Vec<Vec<Move>> {
    let each = bytes.div_ceil((bytes / SHARE).clamp(1, threads));
    let (mut shares, mut room) = (vec![], 0);
    for own in moves {
        let mut left = *own;
        while left.bytes > 0 {
            if room == 0 {
                shares.push(vec![]);
                room = each;
            }
            let now = left.bytes.min(room);
            if let Some(share) = shares.last_mut() {
                share.push(Move { bytes: now, ..left });
            }
            room -= now;
            left = left.behind(now);
        }
    }
    shares
}

/// The threads that help, once a copy is worth them; none if the system gives none.
fn pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let build = || {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get) / 2;
        let helpers = threads.min(THREADS).checked_sub(1).filter(|n| *n > 0)?;
        let name = |at| format!("folio-vulkan-{at}");
        ThreadPoolBuilder::new().num_threads(helpers).thread_name(name).build().ok()
    };
    POOL.get_or_init(build).as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares are of about the same size and have all bytes once, in order.
    #[test]
    fn moves_are_shared_among_threads() {
        let at = |offset: usize| std::ptr::null_mut::<u8>().wrapping_add(offset);
        let of = |start: usize, bytes| Move { from: at(start), into: at(start + 1000), bytes };
        let cases: [(&[usize], usize, usize); 6] = [
            (&[100], 8, 1),
            (&[SHARE, SHARE], 8, 2),
            (&[8 * SHARE + 3], 8, 8),
            (&[8 * SHARE + 3], 1, 1),
            (&[10; 5], 4, 1),
            (&[SHARE - 1, 1, 3 * SHARE, 5, SHARE], 3, 3),
        ];
        for (sizes, threads, count) in cases {
            let mut start = 0;
            let moves: Vec<Move> = sizes
                .iter()
                .map(|bytes| {
                    start += bytes;
                    of(start - bytes, *bytes)
                })
                .collect();
            let shares = shares(&moves, start, threads);
            assert_eq!(shares.len(), count, "{sizes:?} by {threads}");
            let most = start.div_ceil(count);
            let all = |share: &Vec<Move>| share.iter().map(|own| own.bytes).sum::<usize>();
            assert!(shares.iter().all(|share| all(share) <= most), "{sizes:?} by {threads}");
            let mut next = 0;
            for own in shares.iter().flatten() {
                assert_eq!(*own, of(next, own.bytes), "{sizes:?} by {threads}");
                next += own.bytes;
            }
            assert_eq!(next, start);
        }
    }
}
