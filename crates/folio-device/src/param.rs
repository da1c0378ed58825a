//! The arguments of a kernel's entry: words of its scalars, and the block to compute.

use super::{Item, Shared};

/// Positions to compute, from the first to one past the last in each dimension; the slowest first,
/// and with leading dimensions of one position where a launch has fewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positions {
    /// The first.
    pub min: [usize; 3],
    /// The end, behind the last position.
    pub max: [usize; 3],
}

impl Positions {
    /// Calls `body` for each of them: the loop around a kernel's body.
    ///
    /// # Safety
    /// Only what runs a launch makes items, and each once: who has one may write its elements.
    #[inline(always)]
    pub unsafe fn each<const D: usize>(&self, mut body: impl FnMut(Item<'_, D>)) {
        for z in self.min[0]..self.max[0] {
            for y in self.min[1]..self.max[1] {
                for x in self.min[2]..self.max[2] {
                    body(Item::new(last([z, y, x])));
                }
            }
        }
    }
}

/// The dimensions that something of rank `D` has.
#[inline(always)]
pub(super) fn last<const D: usize>(all: [usize; 3]) -> [usize; D] {
    by_dim(|dim| all[3 - D + dim])
}

/// A value for each dimension, one after the other, so that constants stay known. In place of
/// `std::array::from_fn`, whose own functions rustc may not inline: without optimisation across the
/// units of a crate they are calls for each item, and there are no vectors.
#[inline(always)]
pub(super) fn by_dim<const D: usize>(of: impl Fn(usize) -> usize) -> [usize; D] {
    let (mut all, mut dim) = ([0; D], 0);
    while dim < D {
        all[dim] = of(dim);
        dim += 1;
    }
    all
}

/// How many words a scalar takes.
pub const fn words<T>() -> usize {
    size_of::<T>().div_ceil(8)
}

/// Appends a scalar, for [`scalar`] to find: its bytes, and zeros up to the next word.
pub fn put_scalar<T: Shared>(value: T, words: &mut impl Extend<u64>) {
    const {
        assert!(
            T::IN_MEMORY,
            "a kernel's parameter has no bool, no tuple and no enum with data in it"
        )
    };
    let from = (&raw const value).cast::<u8>();
    words.extend((0..self::words::<T>()).map(|word| {
        let mut bytes = [0; 8];
        let len = (size_of::<T>() - 8 * word).min(8);
        // SAFETY: within `value`, all of whose bytes are initialised (no padding: `IN_MEMORY`).
        unsafe { from.add(8 * word).copy_to_nonoverlapping(bytes.as_mut_ptr(), len) };
        u64::from_ne_bytes(bytes)
    }));
}

/// The scalar that begins with the first of these words.
///
/// # Safety
/// [`put_scalar`] made them, of a `T`.
#[inline(always)]
pub unsafe fn scalar<T: Shared>(words: &[u64]) -> T {
    debug_assert!(words.len() >= self::words::<T>());
    // SAFETY: the caller's promise: the bytes of a `T`.
    unsafe { words.as_ptr().cast::<T>().read_unaligned() }
}
