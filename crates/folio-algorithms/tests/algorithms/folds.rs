//! Reductions and scans.

use super::{Rig, floats, tame, words};
use folio::algorithms;
use folio::ir::device::Combine;
use folio::prelude::*;
use folio_model::rng::Rng;
use std::fmt::Debug;

/// Semantics 8.1.
fn tree<T: Copy>(values: &mut [T], combine: fn(T, T) -> T) -> Option<T> {
    let mut n = values.len();
    let mut s = n.next_power_of_two();
    while s > 1 {
        s /= 2;
        for i in 0..s.min(n.saturating_sub(s)) {
            values[i] = combine(values[i], values[i + s]);
        }
        n = n.min(s);
    }
    values.first().copied()
}

/// Semantics 8.4.
fn reduced<T: Copy, O: Combine<T>>(_: O, values: &[T]) -> T {
    let mut values: Vec<T> = values.iter().map(|x| O::combine(O::IDENTITY, *x)).collect();
    while values.len() > 1 {
        let block = |block: &[T]| {
            let lane = |l: usize| block[l..].iter().step_by(256).copied().reduce(O::combine);
            let mut lanes: Vec<T> = (0..block.len().min(256)).filter_map(lane).collect();
            tree(&mut lanes, O::combine)
        };
        values = values.chunks(4096).filter_map(block).collect();
    }
    values.first().copied().unwrap_or(O::IDENTITY)
}

/// Semantics 8.3, inclusive.
fn stepped<T: Copy>(mut x: Vec<T>, combine: fn(T, T) -> T) -> Vec<T> {
    let mut d = 1;
    while d < x.len() {
        for i in (d..x.len()).rev() {
            x[i] = combine(x[i - d], x[i]);
        }
        d *= 2;
    }
    x
}

/// The exclusive scan of a chunk as the algorithms' documentation has it, and beside it the
/// inclusive one.
fn scanned_chunk<T: Copy, O: Combine<T>>(values: &[T], tile: usize, mut start: T) -> Vec<(T, T)> {
    let mut all = vec![];
    for tile in values.chunks(tile) {
        let fold = |own: &[T]| own.iter().copied().fold(O::IDENTITY, O::combine);
        let own: Vec<T> = tile.chunks(8).map(fold).collect();
        let mut earlier = stepped(own, O::combine);
        earlier.insert(0, O::IDENTITY);
        for (own, earlier) in tile.chunks(8).zip(earlier) {
            let mut sum = O::combine(start, earlier);
            for x in own {
                all.push((sum, O::combine(sum, *x)));
                sum = O::combine(sum, *x);
            }
        }
        start = all.last().map_or(start, |(_, sum)| *sum);
    }
    all
}

/// The scans of all elements.
fn scanned<T: Copy, O: Combine<T>>(values: &[T]) -> Vec<(T, T)> {
    if values.len() <= 2048 {
        return scanned_chunk::<T, O>(values, 2048, O::IDENTITY);
    }
    let chunk = values.len().div_ceil(1024 * 2048).next_power_of_two() * 1024;
    let total = |chunk: &[T]| {
        let lane = |l: usize| chunk[l..].iter().step_by(256).copied().reduce(O::combine);
        tree(&mut (0..chunk.len().min(256)).filter_map(lane).collect::<Vec<_>>(), O::combine)
    };
    let totals: Vec<T> = values.chunks(chunk).filter_map(total).collect();
    let before = scanned_chunk::<T, O>(&totals, 2048, O::IDENTITY);
    let each = values.chunks(chunk).zip(before);
    each.flat_map(|(x, (before, _))| scanned_chunk::<T, O>(x, 1024, before)).collect()
}

/// Bits, with one NaN for all.
trait Bits: Copy + Debug {
    fn bits(self) -> u64;
}
impl Bits for f32 {
    fn bits(self) -> u64 {
        if self.is_nan() { u64::MAX } else { self.to_bits().into() }
    }
}
macro_rules! bits {
    ($($ty:ident)*) => {$(
        impl Bits for $ty {
            fn bits(self) -> u64 {
                self as u64
            }
        }
    )*};
}
bits! { u8 i16 u32 i32 u64 i64 }

fn same<T: Bits>(what: &str, ours: &[T], wanted: &[T]) {
    assert_eq!(ours.len(), wanted.len(), "{what}");
    for (at, (a, b)) in ours.iter().zip(wanted).enumerate() {
        assert_eq!(a.bits(), b.bits(), "{what}: {a:?} and {b:?} at {at} of {}", ours.len());
    }
}

fn reduces<T: Number + DeviceType + Bits, O: Combine<T>>(
    rig: &Rig,
    op: O,
    values: &[T],
) -> folio::Result<()> {
    let x = rig.rt.buffer_from(values)?;
    let ours = algorithms::reduce(&rig.q, op, &x)?.to_vec()?;
    same("reduce", &ours, &[reduced(op, values)]);
    Ok(())
}

pub fn reductions(rig: &Rig) -> folio::Result<()> {
    let mut rng = Rng::new(1);
    for n in rig.lengths() {
        let (wild, sums, whole) = (floats(&mut rng, n), tame(&mut rng, n), words(&mut rng, n));
        reduces(rig, Add, &sums)?;
        reduces(rig, Min, &wild)?;
        if !rig.few {
            reduces(rig, Max, &wild)?;
            reduces(rig, Add, &whole)?;
            reduces(rig, Xor, &whole)?;
            let bytes: Vec<u8> = whole.iter().map(|x| *x as u8 | 1).collect();
            reduces(rig, Mul, &bytes)?;
            reduces(rig, And, &bytes)?;
            let signed: Vec<i16> = whole.iter().map(|x| *x as i16).collect();
            reduces(rig, Or, &signed)?;
            reduces(rig, Min, &signed)?;
        }
        let (a, b) = (rig.rt.buffer_from(&sums)?, rig.rt.buffer_from(&wild)?);
        let ours = algorithms::dot(&rig.q, &a, &a)?.to_vec()?;
        let squares: Vec<f32> = sums.iter().map(|x| x * x).collect();
        same("dot", &ours, &[reduced(Add, &squares)]);
        let part = |x: &[f32]| x[n / 3..n / 2].to_vec();
        let ours = algorithms::dot(&rig.q, a.slice([n / 3], [n / 2 - n / 3])?, {
            b.slice([n / 3], [n / 2 - n / 3])?
        })?;
        let products: Vec<f32> = part(&sums).iter().zip(part(&wild)).map(|(x, y)| x * y).collect();
        same("dot of parts", &ours.to_vec()?, &[reduced(Add, &products)]);
    }
    Ok(())
}

pub fn indices_of_extremes(rig: &Rig) -> folio::Result<()> {
    let mut rng = Rng::new(2);
    for n in rig.lengths() {
        let values: Vec<i32> = (0..n).map(|_| rng.below(n / 2 + 1) as i32 - 7).collect();
        let x = rig.rt.buffer_from(&values)?;
        let first = |wanted: Option<&i32>| {
            values.iter().position(|x| Some(x) == wanted).map_or(u64::MAX, |at| at as u64)
        };
        let ours = algorithms::arg_min(&rig.q, &x)?.to_vec()?;
        assert_eq!(ours, [first(values.iter().min())]);
        let ours = algorithms::arg_max(&rig.q, &x)?.to_vec()?;
        assert_eq!(ours, [first(values.iter().max())]);
    }
    let x = rig.rt.buffer_from(&[f32::NAN, 3.0, -0.0, 0.0, f32::NAN, -1.0, -1.0])?;
    assert_eq!(algorithms::arg_min(&rig.q, &x)?.to_vec()?, [5]);
    assert_eq!(algorithms::arg_min(&rig.q, x.slice([0], [5])?)?.to_vec()?, [2]);
    assert_eq!(algorithms::arg_max(&rig.q, &x)?.to_vec()?, [1]);
    assert_eq!(algorithms::arg_max(&rig.q, x.slice([4], [1])?)?.to_vec()?, [u64::MAX]);
    Ok(())
}

fn scans_of<T: Number + DeviceType + Bits, O: Combine<T>>(
    rig: &Rig,
    op: O,
    values: &[T],
) -> folio::Result<()> {
    let x = rig.rt.buffer_from(values)?;
    let mut y = rig.rt.buffer(values.len())?;
    let (before, up): (Vec<T>, Vec<T>) = scanned::<T, O>(values).into_iter().unzip();
    algorithms::inclusive_scan(&rig.q, op, &x, &mut y)?;
    same("inclusive", &y.to_vec()?, &up);
    algorithms::exclusive_scan(&rig.q, op, &x, &mut y)?;
    same("exclusive", &y.to_vec()?, &before);
    Ok(())
}

pub fn scans(rig: &Rig) -> folio::Result<()> {
    let mut rng = Rng::new(3);
    for n in rig.lengths() {
        let (wild, sums, whole) = (floats(&mut rng, n), tame(&mut rng, n), words(&mut rng, n));
        scans_of(rig, Add, &sums)?;
        let signed: Vec<i64> = whole.iter().map(|x| *x as i64 | 1).collect();
        scans_of(rig, Max, &signed)?;
        if rig.few {
            continue;
        }
        scans_of(rig, Min, &wild)?;
        scans_of(rig, Add, &whole)?;
        scans_of(rig, Mul, &signed)?;
        // Beside a plain loop, whose order does not matter here.
        let x = rig.rt.buffer_from(&whole)?;
        let mut y = rig.rt.buffer(n)?;
        algorithms::inclusive_scan(&rig.q, Add, &x, &mut y)?;
        let mut sum = 0u64;
        for (at, (x, y)) in whole.iter().zip(y.to_vec()?).enumerate() {
            sum = sum.wrapping_add(*x);
            assert_eq!(y, sum, "at {at} of {n}");
        }
    }
    Ok(())
}

/// Elements beside a part stay as they are.
pub fn scans_of_parts(rig: &Rig) -> folio::Result<()> {
    let values: Vec<i32> = (0..3000).collect();
    let x = rig.rt.buffer_from(&values)?;
    let mut y = rig.rt.buffer_from(vec![-1; 2000])?;
    algorithms::exclusive_scan(&rig.q, Add, x.slice([5], [1500])?, y.slice_mut([100], [1500])?)?;
    let all = y.to_vec()?;
    let mut sum = 0;
    for (at, y) in all.into_iter().enumerate() {
        if (100..1600).contains(&at) {
            assert_eq!(y, sum);
            sum += at as i32 - 95;
        } else {
            assert_eq!(y, -1);
        }
    }
    Ok(())
}

/// Reductions and random numbers take any shape, row after row; `flat` gives one dimension to the
/// others.
pub fn shapes_are_taken_row_after_row(rig: &Rig) -> folio::Result<()> {
    let all: Vec<u32> = (0..210).map(|k| (k * 37 + 11) % 211).collect();
    let mut x = rig.rt.buffer_from((&all, [5, 6, 7]))?;
    let sum = algorithms::reduce(&rig.q, Add, &x)?.get(0)?;
    assert_eq!(sum, all.iter().sum::<u32>());
    assert_eq!(algorithms::dot(&rig.q, &x, &x)?.get(0)?, all.iter().map(|x| x * x).sum::<u32>());
    let least = all.iter().enumerate().min_by_key(|(_, x)| **x).map(|(at, _)| at as u64);
    assert_eq!(Some(algorithms::arg_min(&rig.q, &x)?.get(0)?), least);
    // Whole planes are contiguous, a box is not.
    let planes = algorithms::reduce(&rig.q, Max, x.slice([1, 0, 0], [2, 6, 7])?)?.get(0)?;
    assert_eq!(Some(planes), all[42..126].iter().max().copied());
    let gaps = algorithms::reduce(&rig.q, Max, x.slice([1, 0, 0], [2, 6, 6])?).map(drop);
    assert!(matches!(gaps, Err(Error::NotContiguous { .. })), "{gaps:?}");

    let mut sums = rig.rt.buffer([5, 6, 7])?;
    algorithms::inclusive_scan(&rig.q, Add, x.flat(), sums.flat_mut())?;
    assert_eq!(sums.get([4, 5, 6])?, sum);
    algorithms::sort(
        &rig.q.on(&rig.q.device())?,
        algorithms::Direction::Ascending,
        x.slice_mut([1, 0, 0], [2, 6, 7])?.flat_mut()?,
    )?;
    let mut wanted = all;
    wanted[42..126].sort();
    assert_eq!(x.to_vec()?, wanted);

    let (mut line, mut grid) = (rig.rt.buffer::<f32, 1>(210)?, rig.rt.buffer::<f32, 2>([14, 15])?);
    algorithms::fill_uniform(&rig.q, 7, &mut line)?;
    algorithms::fill_uniform(&rig.q, 7, &mut grid)?;
    assert_eq!(grid.to_vec()?, line.to_vec()?);
    Ok(())
}

pub fn lengths_must_fit(rig: &Rig) -> folio::Result<()> {
    let x = rig.rt.buffer_from(&[1u32; 300])?;
    let mut y = rig.rt.buffer_from(&[7u32; 299])?;
    let refused = algorithms::inclusive_scan(&rig.q, Add, &x, &mut y);
    assert!(matches!(refused, Err(Error::Mismatch { .. })), "{refused:?}");
    let refused = algorithms::dot(&rig.q, &y, &x).map(drop);
    assert!(matches!(refused, Err(Error::Mismatch { .. })), "{refused:?}");
    assert_eq!(y.to_vec()?, [7; 299]);
    Ok(())
}

/// Segments of all lengths, also without elements, beside what is documented.
pub fn segments_become_one_each(rig: &Rig) -> folio::Result<()> {
    let mut rng = Rng::new(8);
    for n in rig.lengths() {
        let (sums, whole) = (tame(&mut rng, n), words(&mut rng, n));
        let most = if n > 20_000 { 3000 } else { 200 };
        let mut offsets = vec![0u32];
        while let Some(left) = n.checked_sub(offsets[offsets.len() - 1] as usize).filter(|n| *n > 0)
        {
            let len = rng.below(most).min(left);
            offsets.push((n - left + len) as u32);
        }
        let at = rig.rt.buffer_from(&offsets)?;
        let mut y = rig.rt.buffer(offsets.len() - 1)?;
        algorithms::segmented_reduce(&rig.q, Add, &at, &rig.rt.buffer_from(&sums)?, &mut y)?;
        same("segments", &y.to_vec()?, &segmented(Add, &offsets, &sums));
        if !rig.few {
            let mut y = rig.rt.buffer(offsets.len() - 1)?;
            algorithms::segmented_reduce(&rig.q, Max, &at, &rig.rt.buffer_from(&whole)?, &mut y)?;
            same("segments", &y.to_vec()?, &segmented(Max, &offsets, &whole));
        }
    }
    for wrong in [[0i64, 2, 4], [-1, 2, 3]] {
        let (at, x) = (rig.rt.buffer_from(&wrong)?, rig.rt.buffer_from(&[1u8; 3])?);
        let mut y = rig.rt.buffer(2)?;
        algorithms::segmented_reduce(&rig.q, Add, &at, &x, &mut y)?;
        assert!(matches!(y.to_vec(), Err(Error::Failed(_))), "{wrong:?}");
    }
    Ok(())
}

fn segmented<T: Copy, O: Combine<T>>(_: O, offsets: &[u32], values: &[T]) -> Vec<T> {
    let of = |at: &[u32]| {
        let segment = &values[at[0] as usize..at[1] as usize];
        let lane = |l: usize| segment.iter().skip(l).step_by(64).copied();
        let mut lanes: Vec<T> = (0..64).map(|l| lane(l).fold(O::IDENTITY, O::combine)).collect();
        tree(&mut lanes, O::combine)
    };
    offsets.windows(2).filter_map(of).collect()
}

/// The inclusive scan of a chunk whose runs begin at `heads`.
fn runs_of_chunk<T: Copy, O: Combine<T>>(heads: &[bool], values: &[T], mut start: T) -> Vec<T> {
    let mut all = vec![];
    for (heads, values) in heads.chunks(1024).zip(values.chunks(1024)) {
        let fold = |(heads, values): (&[bool], &[T])| {
            let from =
                |sum, (head, x): (&bool, &T)| O::combine(if *head { O::IDENTITY } else { sum }, *x);
            let sum = heads.iter().zip(values).fold(O::IDENTITY, from);
            (heads.contains(&true), sum)
        };
        let folds = heads.chunks(8).zip(values.chunks(8)).map(fold).collect();
        let both = |(before, sum): (bool, T), (head, own): (bool, T)| {
            if head { (true, own) } else { (before, O::combine(sum, own)) }
        };
        let folds = stepped(folds, both);
        for (item, (heads, values)) in heads.chunks(8).zip(values.chunks(8)).enumerate() {
            let mut sum = match item.checked_sub(1).map(|before| folds[before]) {
                None => start,
                Some((true, earlier)) => earlier,
                Some((false, earlier)) => O::combine(start, earlier),
            };
            for (head, x) in heads.iter().zip(values) {
                sum = O::combine(if *head { O::IDENTITY } else { sum }, *x);
                all.push(sum);
            }
        }
        start = all.last().copied().unwrap_or(start);
    }
    all
}

/// The inclusive scan by key, as the algorithms' documentation has it.
fn runs_scanned<T: Copy, O: Combine<T>>(_: O, keys: &[u16], values: &[T]) -> Vec<T> {
    let chunk = values.len().div_ceil(1024 * 2048).next_power_of_two() * 1024;
    let heads: Vec<bool> = (0..keys.len()).map(|k| k == 0 || keys[k] != keys[k - 1]).collect();
    let total = |(heads, values): (&[bool], &[T])| {
        let mut total = O::IDENTITY;
        for (heads, values) in heads.chunks(1024).zip(values.chunks(1024)).rev() {
            let head = heads.iter().rposition(|head| *head);
            let lane = |l: usize| {
                let of_run = |slot: &usize| *slot >= head.unwrap_or(0);
                let slots = (l..values.len()).step_by(256).filter(of_run);
                slots.fold(O::IDENTITY, |sum, slot| O::combine(sum, values[slot]))
            };
            let mut lanes: Vec<T> = (0..256).map(lane).collect();
            total = O::combine(tree(&mut lanes, O::combine).unwrap_or(O::IDENTITY), total);
            if head.is_some() {
                break;
            }
        }
        (heads.contains(&true), total)
    };
    let (begins, totals): (Vec<bool>, Vec<T>) =
        heads.chunks(chunk).zip(values.chunks(chunk)).map(total).unzip();
    let mut before = vec![O::IDENTITY];
    before.extend(runs_of_chunk::<T, O>(&begins, &totals, O::IDENTITY));
    let each = heads.chunks(chunk).zip(values.chunks(chunk)).zip(before);
    each.flat_map(|((heads, values), start)| runs_of_chunk::<T, O>(heads, values, start)).collect()
}

/// Each run begins with what changes nothing; for integers any order gives the same.
pub fn runs_are_scanned_each(rig: &Rig) -> folio::Result<()> {
    let mut rng = Rng::new(9);
    for n in rig.lengths() {
        for most in [3, 5000] {
            if rig.most <= 1000 && most > n {
                continue;
            }
            let mut keys: Vec<u16> = vec![];
            while keys.len() < n {
                let (len, key) = (1 + rng.below(most), rng.below(3) as u16);
                keys.extend(vec![key; len.min(n - keys.len())]);
            }
            let x = words(&mut rng, n);
            let (mut before, mut up) = (vec![], vec![]);
            for (at, (key, x)) in keys.iter().zip(&x).enumerate() {
                let goes_on = at > 0 && keys[at - 1] == *key;
                let sum = if goes_on { up[at - 1] } else { 0u64 };
                before.push(sum);
                up.push(sum.wrapping_add(*x));
            }
            let sums = tame(&mut rng, n);
            let wanted = runs_scanned(Add, &keys, &sums);
            let (keys, x) = (rig.rt.buffer_from(&keys)?, rig.rt.buffer_from(&x)?);
            let (mut y, mut z) = (rig.rt.buffer(n)?, rig.rt.buffer(n)?);
            let sums = rig.rt.buffer_from(&sums)?;
            algorithms::inclusive_scan_by_key(&rig.q, Add, &keys, &sums, &mut z)?;
            same("floats by key", &z.to_vec()?, &wanted);
            algorithms::inclusive_scan_by_key(&rig.q, Add, &keys, &x, &mut y)?;
            same("inclusive by key", &y.to_vec()?, &up);
            if !rig.few {
                algorithms::exclusive_scan_by_key(&rig.q, Add, &keys, &x, &mut y)?;
                same("exclusive by key", &y.to_vec()?, &before);
            }
        }
    }
    Ok(())
}
