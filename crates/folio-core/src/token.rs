//! Names for the accesses of a command group, by which closures and launches refer to them.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Names a command group, so that its accesses cannot be used in another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct GroupId(u64);

impl GroupId {
    /// From a range of the thread's own, so that threads do not share a counter.
    pub(crate) fn next() -> GroupId {
        const RANGE: u64 = 1 << 20;
        static NEXT: AtomicU64 = AtomicU64::new(0);
        thread_local!(static LAST: Cell<u64> = const { Cell::new(0) });
        let last = LAST.get();
        let next = match last % RANGE {
            0 => NEXT.fetch_add(RANGE, Ordering::Relaxed),
            _ => last,
        };
        LAST.set(next + 1);
        GroupId(next)
    }
}

/// Which access of which group.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub(crate) group: GroupId,
    pub(crate) at: usize,
}
