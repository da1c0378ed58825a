//! Work of the host in a stream's order: copies and fills of memory that the device cannot reach.

use crate::driver::{Context, End, call};
use cudarc::driver::sys;
use folio_core::hal::{HalError, HostPtr};
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::ffi::c_void;
use std::num::NonZero;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Threads that copy, at most and if they are half of the processor's, and what each takes at
/// least: one alone is much slower than the link.
const THREADS: usize = 8;
const SHARE: u64 = 256 << 10;

/// Rows of bytes in the host's memory: slices, rows and bytes, and from one to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub(crate) at: HostPtr,
    pub(crate) pitch: [u64; 2],
}

impl Rows {
    fn row(&self, slice: u64, row: u64) -> *mut u8 {
        self.at.0.wrapping_add((slice * self.pitch[0] + row * self.pitch[1]) as usize)
    }
}

/// What a thread of the driver does when the stream comes to it.
pub(crate) enum Job {
    Copy { from: Rows, to: Rows, extent: [u64; 3] },
    Fill { to: Rows, extent: [u64; 3], pattern: Vec<u8> },
}

impl Job {
    /// Puts it into a stream of the current context.
    ///
    /// # Safety
    /// When the stream comes to it, the memory that it names is live, and nobody else uses it
    /// against its mode until it has ended.
    pub(crate) unsafe fn enqueue(
        self,
        context: &Context,
        stream: sys::CUstream,
    ) -> Result<(), HalError> {
        // What the stream comes to when the device is lost is not done: its memory may be somebody
        // else's.
        let job = Box::into_raw(Box::new((self, context.end.clone())));
        // SAFETY: `run` gets what it expects, once.
        let result = call("cuLaunchHostFunc", || unsafe {
            sys::cuLaunchHostFunc(stream, Some(run), job.cast::<c_void>())
        });
        context.check("cuLaunchHostFunc", result).inspect_err(|_| {
            // SAFETY: the driver did not take it.
            drop(unsafe { Box::from_raw(job) });
        })
    }

    /// # Safety
    /// As for [`Job::enqueue`], now.
    unsafe fn run(&self) {
        match self {
            Job::Copy { from, to, extent } => {
                let pool = pool();
                let shares = shares(*extent, 1 + pool.map_or(0, ThreadPool::current_num_threads));
                // SAFETY: the caller's promise, in each of the calls: shares are disjoint.
                let copy = |share: &Share| unsafe { share.copy(from, to) };
                match pool.filter(|_| shares.len() > 1) {
                    Some(pool) => {
                        pool.in_place_scope(|scope| {
                            let (own, others) = shares.split_at(1);
                            others.iter().for_each(|share| scope.spawn(move |_| copy(share)));
                            own.iter().for_each(copy);
                        });
                    }
                    None => shares.iter().for_each(copy),
                }
            }
            Job::Fill { to, extent: [slices, rows, bytes], pattern } => {
                for (slice, row) in (0..*slices).flat_map(|s| (0..*rows).map(move |r| (s, r))) {
                    let to = to.row(slice, row);
                    for at in (0..*bytes as usize).step_by(pattern.len().max(1)) {
                        let len = pattern.len().min(*bytes as usize - at);
                        // SAFETY: the caller's promise; the pattern is our own.
                        unsafe { pattern.as_ptr().copy_to_nonoverlapping(to.add(at), len) };
                    }
                }
            }
        }
    }
}

/// What one thread copies of a rectangle: some of its slices, some rows of each, or some bytes of
/// the only row.
#[derive(Debug, PartialEq)]
struct Share {
    slices: Range<u64>,
    rows: Range<u64>,
    bytes: Range<u64>,
}

impl Share {
    /// # Safety
    /// As for [`Job::enqueue`], now, for this share.
    unsafe fn copy(&self, from: &Rows, to: &Rows) {
        let (begin, len) = (self.bytes.start as usize, self.bytes.end - self.bytes.start);
        let rows =
            self.slices.clone().flat_map(|slice| self.rows.clone().map(move |row| (slice, row)));
        for (slice, row) in rows {
            let (from, to) = (from.row(slice, row), to.row(slice, row));
            let (from, to) = (from.wrapping_add(begin), to.wrapping_add(begin));
            // SAFETY: the caller's promise; source and destination never overlap (`CopyRect`).
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

/// The threads that help that of the driver, once somebody needs them; none if the system gives
/// none.
fn pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let build = || {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get) / 2;
        let helpers = threads.min(THREADS).checked_sub(1).filter(|n| *n > 0)?;
        let name = |at| format!("folio-cuda-copy-{at}");
        ThreadPoolBuilder::new().num_threads(helpers).thread_name(name).build().ok()
    };
    POOL.get_or_init(build).as_ref()
}

unsafe extern "C" fn run(job: *mut c_void) {
    // SAFETY: `enqueue` made it, and the driver calls once.
    let both = unsafe { Box::from_raw(job.cast::<(Job, Arc<End>)>()) };
    let (job, end) = &*both;
    // SAFETY: the stream has come to it: `enqueue`'s promise holds. Nothing in it panics.
    end.work(|| unsafe { job.run() });
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
            let job = Job::Copy { from, to, extent: [slices, rows, bytes] };
            // SAFETY: both are live and of this size.
            unsafe { job.run() };
            assert_eq!(source, target);
        }
    }
}
