//! The scan of a group (semantics 8.3): steps over all items, the first by 1, each further one by
//! twice as much as the one before.
//!
//! A step reads what the step before has just written, moved by some values. A processor cannot
//! read parts of two vectors before both are in the cache, behind every earlier write of the group.
//! So no vector is read but as it was written. The steps by 1 and 2 are taken while the values are
//! written ([`Fours`]); those by 4, 8 and 16 of a chunk, whose values are moved in registers; all
//! others are by whole chunks. These are compiled by themselves: within a kernel that knows how
//! many chunks there are the loops are unrolled, and LLVM finds no vectors.

use super::Instructions;
use super::combine::Combine;
use super::shared::Shared;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Values of a chunk: LLVM makes vectors of an array of so many.
pub(super) const CHUNK: usize = 16;

/// Neighbours.
pub(super) type Chunk<T> = [T; CHUNK];

/// Takes the steps by 1 and 2 of values that come one by one: LLVM makes vectors of a loop that
/// keeps values for its next turns, but not of one that keeps an array.
pub(super) struct Fours<O, T> {
    /// The value before.
    last: T,
    /// It and the one before it as one.
    two: T,
    /// The same, of one value earlier.
    earlier: T,
    _combines: PhantomData<O>,
}

impl<O: Combine<T>, T: Shared> Fours<O, T> {
    #[inline(always)]
    pub(super) fn new() -> Fours<O, T> {
        let none = O::NEUTRAL;
        Fours { last: none, two: none, earlier: none, _combines: PhantomData }
    }

    /// This value and the three before as one.
    #[inline(always)]
    pub(super) fn next(&mut self, value: T) -> T {
        let two = O::combine(self.last, value);
        let four = O::combine(self.earlier, two);
        (self.last, self.earlier, self.two) = (value, self.two, two);
        four
    }
}

/// The steps by 4, 8 and 16: each value and the 31 before as one, or all before where any order
/// will do.
#[inline(always)]
fn chunks<O: Combine<T>, T: Shared>(fours: &[Chunk<T>], to: &mut [MaybeUninit<Chunk<T>>]) {
    let both = O::combine;
    let (mut before, mut last) = ([O::NEUTRAL; CHUNK], [O::NEUTRAL; CHUNK]);
    for (to, fours) in to.iter_mut().zip(fours) {
        let fours = *fours;
        let at = |lane: usize| if lane < CHUNK { before[lane] } else { fours[lane - CHUNK] };
        let mut all = [O::NEUTRAL; CHUNK];
        for lane in 0..CHUNK {
            let earlier = both(at(lane + 4), at(lane + 8));
            let sixteen = both(earlier, both(at(lane + 12), at(lane + 16)));
            all[lane] = both(last[lane], sixteen);
            last[lane] = if O::ANY_ORDER { all[lane] } else { sixteen };
        }
        to.write(all);
        before = fours;
    }
}

/// All steps but the first two, in one of both rows: whether it is the other one.
#[inline(always)]
fn steps<O: Combine<T>, T: Shared>(
    fours: &mut [Chunk<T>],
    other: &mut [MaybeUninit<Chunk<T>>],
) -> bool {
    chunks::<O, T>(fours, other);
    // SAFETY: as many as `fours` has, each of which was written above.
    let (mut from, mut to) = (unsafe { other.assume_init_mut() }, fours);
    let (mut by, mut in_other) = (2, true);
    while !O::ANY_ORDER && by < from.len() {
        let (low, high) = to.split_at_mut(by);
        low.copy_from_slice(&from[..by]);
        let pairs = from.as_flattened().iter().zip(from[by..].as_flattened());
        for (to, (a, b)) in high.as_flattened_mut().iter_mut().zip(pairs) {
            *to = O::combine(*a, *b);
        }
        (from, to, in_other) = (to, from, !in_other);
        by *= 2;
    }
    in_other
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<O: Combine<T>, T: Shared>(
    fours: &mut [Chunk<T>],
    other: &mut [MaybeUninit<Chunk<T>>],
) -> bool {
    steps::<O, T>(fours, other)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
fn avx512<O: Combine<T>, T: Shared>(
    fours: &mut [Chunk<T>],
    other: &mut [MaybeUninit<Chunk<T>>],
) -> bool {
    steps::<O, T>(fours, other)
}

/// The inclusive scan of values of which [`Fours`] has taken the first steps, in one of both rows,
/// which have as many chunks: whether it is the other one. What is behind the last value is of no
/// meaning.
#[inline(never)]
pub(super) fn scan<O: Combine<T>, T: Shared>(
    fours: &mut [Chunk<T>],
    other: &mut [MaybeUninit<Chunk<T>>],
) -> bool {
    match Instructions::best() {
        // SAFETY: the processor has them (`limit`).
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512 => unsafe { avx512::<O, T>(fours, other) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2 => unsafe { avx2::<O, T>(fours, other) },
        _ => steps::<O, T>(fours, other),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Add, Max, Min, Xor};
    use super::*;

    /// As semantics 8.3 says it.
    fn by_steps<O: Combine<T>, T: Shared>(values: &[T]) -> Vec<T> {
        let mut all = values.to_vec();
        let mut by = 1;
        while by < all.len() {
            let before = all.clone();
            (by..all.len()).for_each(|at| all[at] = O::combine(before[at - by], before[at]));
            by *= 2;
        }
        all
    }

    fn scanned<O: Combine<T>, T: Shared>(values: &[T]) -> Vec<T> {
        let mut first = Fours::<O, T>::new();
        let mut fours: Vec<T> = values.iter().map(|value| first.next(*value)).collect();
        fours.resize(values.len().next_multiple_of(CHUNK), O::NEUTRAL);
        let mut fours = fours.as_chunks().0.to_vec();
        let mut other = vec![MaybeUninit::uninit(); fours.len()];
        if scan::<O, T>(&mut fours, &mut other) {
            // SAFETY: as many as `fours` has, which were written.
            fours = other.iter().map(|chunk| unsafe { chunk.assume_init() }).collect();
        }
        fours.as_flattened()[..values.len()].to_vec()
    }

    /// Of every length, with what `same` makes of values compared.
    fn scans<O: Combine<T>, T: Shared, S: PartialEq + std::fmt::Debug>(
        value: impl Fn(usize) -> T,
        same: impl Fn(T) -> S,
    ) {
        for len in (0..70).chain([127, 128, 200, 255, 256, 257, 1000]) {
            let values: Vec<T> = (0..len).map(&value).collect();
            let all = |values: Vec<T>| values.into_iter().map(&same).collect::<Vec<_>>();
            assert_eq!(all(scanned::<O, T>(&values)), all(by_steps::<O, T>(&values)), "{len}");
        }
    }

    /// The payload of a NaN is nobody's.
    fn bits(x: f32) -> u32 {
        if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() }
    }

    #[test]
    fn scans_have_the_order_of_their_steps() {
        scans::<Add, f32, _>(|k| 0.1 + (k * 7919 % 1009) as f32, bits);
        scans::<Add, f64, _>(|k| 1.0 / (k + 3) as f64, f64::to_bits);
        scans::<Add, u32, _>(|k| (k as u32).wrapping_mul(0x9e37_79b9), |x| x);
        scans::<Xor, u8, _>(|k| k as u8, |x| x);
        scans::<Max, i64, _>(|k| (k as i64 * 31 % 17) - 9, |x| x);
    }

    /// A NaN gives way to any number, which the identity would hide: no value is before the first.
    #[test]
    fn scans_keep_what_is_no_number() {
        let (all, each, first) = (
            |_| f32::NAN,
            |k| [f32::NAN, 0.0, -0.0][k % 3],
            |k| [f32::NAN, -0.0][usize::from(k > 20)],
        );
        scans::<Min, f32, _>(all, bits);
        scans::<Max, f32, _>(each, bits);
        scans::<Min, f32, _>(each, bits);
        scans::<Max, f32, _>(first, bits);
        scans::<Add, f32, _>(first, bits);
        scans::<Add, f32, _>(|_| -0.0, bits);
    }
}
