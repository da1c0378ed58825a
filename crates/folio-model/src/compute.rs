//! The functions that kernels and host tasks of programs compute: of everything that they read, so
//! that a stale value or a wrong order shows in the result. Used by the runtime's closures and by
//! the oracle alike; kernel functions have their own ([`crate::functions`]).

use crate::program::Skip;
use crate::rng::mix;

/// Where item `item` reads in its `nth` input of so many elements.
pub fn reads_at(salt: u32, item: usize, nth: usize, volume: usize) -> usize {
    (item * 7 + nth + mix(u64::from(salt), nth as u64) as usize % 64) % volume.max(1)
}

/// The first value of an item.
pub fn start(salt: u32, item: usize) -> u64 {
    mix(u64::from(salt) + 1, item as u64)
}

/// After reading `value`.
pub fn with(acc: u64, value: u64) -> u64 {
    mix(acc, value)
}

/// Mixed into what is written, and into what is updated.
pub const WRITTEN: u64 = 100;
/// As [`WRITTEN`], and greater.
pub const UPDATED: u64 = 200;

/// The value that an item writes to its `nth` output.
pub fn written(acc: u64, nth: usize) -> u64 {
    mix(acc, nth as u64 + WRITTEN)
}

/// The value that an item makes of `old` in its `nth` input and output.
pub fn updated(acc: u64, old: u64, nth: usize) -> u64 {
    mix(mix(acc, old), nth as u64 + UPDATED)
}

/// Whether an item writes.
pub fn writes(skip: Skip, item: usize) -> bool {
    skip.is_none_or(|(every, which)| item % every != which)
}

/// The value that a step fills or uploads.
pub fn given(salt: u32, item: usize) -> u64 {
    mix(u64::from(salt) + 7, item as u64)
}

/// The data that buffer `buffer` is made from.
pub fn initial(buffer: usize, element: usize) -> u64 {
    mix(buffer as u64 + 1_000_000, element as u64)
}
