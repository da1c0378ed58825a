//! Sorting, compacting, transposing.

use super::{Rig, floats, words};
use folio::algorithms::{self, Direction, Key};
use folio::ir::device::{CastFrom, Int, Number, Shared as Value};
use folio::prelude::*;
use folio_model::rng::Rng;
use std::cmp::Ordering;

const BOTH: [Direction; 2] = [Direction::Ascending, Direction::Descending];

/// A key with its order.
type Order<K> = fn(&K, &K) -> Ordering;

/// The values of keys that are sorted along with them.
fn sorted_by_key<K: Key + Value, T: DeviceType + Value>(
    rig: &Rig,
    direction: Direction,
    keys: &[K],
    value: fn(u32) -> T,
    (bits, wanted): (fn(K) -> u64, &[u64]),
) -> folio::Result<Vec<T>> {
    let values: Vec<T> = (0..keys.len() as u32).map(value).collect();
    let (mut x, mut values) = (rig.rt.buffer_from(keys)?, rig.rt.buffer_from(&values)?);
    algorithms::sort_by_key(&rig.q, direction, &mut x, &mut values)?;
    assert!(x.to_vec()?.into_iter().map(bits).eq(wanted.iter().copied()), "{} keys", keys.len());
    values.to_vec()
}

/// Keys, their order, and values by key, beside the stable sort of slices.
fn sorts<K: Key + Value + PartialEq>(
    rig: &Rig,
    keys: &[K],
    order: Order<K>,
    bit: fn(K) -> u64,
) -> folio::Result<()> {
    let bits = |keys: &[K]| keys.iter().map(|key| bit(*key)).collect::<Vec<_>>();
    for direction in BOTH {
        let mut wanted: Vec<u32> = (0..keys.len() as u32).collect();
        wanted.sort_by(|a, b| {
            let order = order(&keys[*a as usize], &keys[*b as usize]);
            if direction == Direction::Ascending { order } else { order.reverse() }
        });
        let in_order: Vec<K> = wanted.iter().map(|at| keys[*at as usize]).collect();
        let in_order = bits(&in_order);
        let sorted = (bit, &*in_order);
        let mut x = rig.rt.buffer_from(keys)?;
        assert_eq!(algorithms::sort_order(&rig.q, direction, &x)?.to_vec()?, wanted);
        // A constant: each pair of types takes the compiler seconds.
        if const { size_of::<K>() == 2 || size_of::<K>() == 4 } {
            if !rig.few || size_of::<K>() == 2 {
                let mut order = rig.rt.buffer::<u64, 1>(wanted.len())?;
                algorithms::sort_order_into(&rig.q, direction, &x, &mut order)?;
                assert!(order.to_vec()?.into_iter().eq(wanted.iter().map(|k| u64::from(*k))));
            }
            let moved = sorted_by_key(rig, direction, keys, |k| [k, !k, 7], sorted)?;
            assert!(moved.into_iter().eq(wanted.iter().map(|k| [*k, !k, 7])), "{}", keys.len());
        }
        assert_eq!(sorted_by_key(rig, direction, keys, |k| k, sorted)?, wanted);
        algorithms::sort(&rig.q, direction, &mut x)?;
        assert_eq!(bits(&x.to_vec()?), in_order);
    }
    Ok(())
}

/// Each type at one of the lengths in turn, and all at some.
pub fn keys_are_sorted(rig: &Rig) -> folio::Result<()> {
    let mut rng = Rng::new(4);
    for (turn, n) in rig.lengths().into_iter().enumerate() {
        let whole = words(&mut rng, n);
        let wild = floats(&mut rng, n);
        let all = !rig.few && [1, 257].contains(&n);
        macro_rules! integers {
            ($($at:literal $ty:ident)*) => {$(
                if all || turn % 6 == $at {
                    let keys: Vec<$ty> = whole.iter().map(|x| *x as $ty).collect();
                    sorts(rig, &keys, $ty::cmp, |key| key as u64)?;
                }
            )*};
        }
        integers! { 0 u32 0 i8 1 i32 1 u8 2 u64 2 i16 3 i64 3 u16 4 usize 5 isize }
        if all || turn % 2 == 0 {
            sorts(rig, &wild, f32::total_cmp, |key| key.to_bits().into())?;
        }
        if all || turn % 2 == 1 {
            let wild: Vec<f64> = wild.iter().map(|x| f64::from(*x) * 1e-30).collect();
            sorts(rig, &wild, f64::total_cmp, f64::to_bits)?;
        }
    }
    Ok(())
}

/// Keys of one pass and of several, in tiles that are full and in others.
pub fn keys_of_tiles(rig: &Rig, n: usize) -> folio::Result<()> {
    let mut rng = Rng::new(7);
    let keys: Vec<i8> = (0..n).map(|_| rng.next() as i8).collect();
    let mut wanted: Vec<u32> = (0..n as u32).collect();
    wanted.sort_by_key(|at| keys[*at as usize]);
    let x = rig.rt.buffer_from(&keys)?;
    assert_eq!(algorithms::sort_order(&rig.q, Direction::Ascending, &x)?.to_vec()?, wanted);
    let mut keys: Vec<f32> = floats(&mut rng, 300);
    let mut x = rig.rt.buffer_from(&keys)?;
    algorithms::sort(&rig.q, Direction::Descending, &mut x)?;
    keys.sort_by(|a, b| b.total_cmp(a));
    let bits = |keys: &[f32]| keys.iter().map(|key| key.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&x.to_vec()?), bits(&keys));
    Ok(())
}

/// Keys in order, in reverse, and all alike.
pub fn keys_without_disorder(rig: &Rig) -> folio::Result<()> {
    let n = rig.most.min(20_000) as u32;
    for keys in [(0..n).collect(), (0..n).rev().collect(), vec![7; n as usize]] {
        sorts(rig, &keys, u32::cmp, u64::from)?;
    }
    Ok(())
}

/// Elements beside a part stay as they are, and a buffer that is too short is refused.
pub fn parts_are_sorted(rig: &Rig) -> folio::Result<()> {
    let keys: Vec<i32> = (0..1000).map(|k| (k * 7919) % 1009 - 500).collect();
    let mut x = rig.rt.buffer_from(&keys)?;
    algorithms::sort(&rig.q, Direction::Ascending, x.slice_mut([100], [700])?)?;
    let mut wanted = keys.clone();
    wanted[100..800].sort();
    assert_eq!(x.to_vec()?, wanted);
    let mut values = rig.rt.buffer::<f32, 1>(999)?;
    let refused = algorithms::sort_by_key(&rig.q, Direction::Ascending, &mut x, &mut values);
    assert!(matches!(refused, Err(Error::Mismatch { .. })), "{refused:?}");
    assert_eq!(x.to_vec()?, wanted);
    Ok(())
}

pub fn kept_elements_are_beside_each_other(rig: &Rig) -> folio::Result<()> {
    let mut rng = Rng::new(5);
    for n in rig.lengths() {
        for of in [1, 2, 9] {
            let x: Vec<[f32; 2]> = (0..n).map(|k| [k as f32, 0.5]).collect();
            let keep: Vec<u32> = (0..n).map(|_| (rng.below(of) as u32) << 9).collect();
            let (a, flags) = (rig.rt.buffer_from(&x)?, rig.rt.buffer_from(&keep)?);
            let (y, count) = algorithms::compact(&rig.q, &a, &flags)?;
            let wanted: Vec<_> =
                x.into_iter().zip(keep).filter(|(_, keep)| *keep > 0).map(|(x, _)| x).collect();
            assert_eq!((y.len(), count.to_vec()?), (n, vec![wanted.len() as u64]));
            let mut y = y.to_vec()?;
            assert!(y.iter().skip(wanted.len()).all(|rest| *rest == [0.0; 2]));
            y.truncate(wanted.len());
            assert!(y == wanted, "{n} of {of}");
        }
    }
    Ok(())
}

/// What is not kept follows, and memory beyond what is kept stays.
pub fn elements_are_divided_in_their_order(rig: &Rig) -> folio::Result<()> {
    let mut rng = Rng::new(6);
    for n in rig.lengths() {
        let x: Vec<u64> = (0..n as u64).collect();
        let keep: Vec<u8> = (0..n).map(|_| rng.below(3) as u8).collect();
        let (kept, rest): (Vec<u64>, Vec<u64>) =
            x.iter().partition(|k| keep.get(**k as usize).is_some_and(|keep| *keep > 0));
        let (a, flags) = (rig.rt.buffer_from(&x)?, rig.rt.buffer_from(&keep)?);
        let mut y = rig.rt.buffer_from(vec![7u64; n])?;
        let count = algorithms::compact_into(&rig.q, &a, &flags, &mut y)?.to_vec()?;
        let stay = vec![7; rest.len()];
        assert_eq!((y.to_vec()?, count), ([&kept[..], &stay].concat(), vec![kept.len() as u64]));
        let count = algorithms::partition(&rig.q, &a, &flags, &mut y)?.to_vec()?;
        assert_eq!((y.to_vec()?, count), ([&kept[..], &rest].concat(), vec![kept.len() as u64]));
    }
    let (x, keep) = (rig.rt.buffer_from(&[1u8; 3000])?, rig.rt.buffer_from(&[1u8; 3000])?);
    let mut y = rig.rt.buffer(2999)?;
    algorithms::compact_into(&rig.q, &x, &keep, &mut y)?;
    assert!(matches!(y.to_vec(), Err(Error::Failed(_))), "one place is missing");
    Ok(())
}

pub fn equal_neighbours_become_one(rig: &Rig) -> folio::Result<()> {
    let mut rng = Rng::new(7);
    for n in rig.lengths() {
        let x: Vec<f32> = (0..n).map(|_| rng.below(3) as f32).collect();
        let (y, count) = algorithms::unique(&rig.q, &rig.rt.buffer_from(&x)?)?;
        let mut wanted = x;
        wanted.dedup();
        assert_eq!((y.len(), count.to_vec()?), (n, vec![wanted.len() as u64]));
        wanted.resize(n, 0.0);
        assert_eq!(y.to_vec()?, wanted);
    }
    Ok(())
}

/// More chunks than each group looks at all of.
pub fn many_elements(rig: &Rig) -> folio::Result<()> {
    let n = 1_100_000;
    let mut rng = Rng::new(12);
    let keys: Vec<u32> = (0..n).map(|_| rng.next() as u32).collect();
    let keep: Vec<u8> = keys.iter().map(|key| (key >> 30) as u8).collect();
    let (mut x, flags) = (rig.rt.buffer_from(&keys)?, rig.rt.buffer_from(&keep)?);
    let mut sums = rig.rt.buffer(n)?;
    algorithms::inclusive_scan(&rig.q, Add, &x, &mut sums)?;
    let wanted = keys.iter().scan(0u32, |sum, key| {
        *sum = sum.wrapping_add(*key);
        Some(*sum)
    });
    assert!(sums.to_vec()?.into_iter().eq(wanted));
    let count = algorithms::partition(&rig.q, &x, &flags, &mut sums)?;
    let (kept, rest): (Vec<u32>, Vec<u32>) = keys.iter().partition(|key| **key >> 30 > 0);
    assert_eq!(count.get(0)?, kept.len() as u64);
    assert!(sums.to_vec()? == [kept, rest].concat());
    let (values, count) = algorithms::unique(&rig.q, &flags)?;
    let mut wanted = keep;
    wanted.dedup();
    assert_eq!(count.get(0)?, wanted.len() as u64);
    assert!(values.to_vec()?[..wanted.len()] == wanted);
    algorithms::sort(&rig.q, Direction::Ascending, &mut x)?;
    let mut sorted = keys;
    sorted.sort();
    assert!(x.to_vec()? == sorted);
    Ok(())
}

/// Before anything is allocated.
pub fn what_32_bits_cannot_number_is_refused(rig: &Rig) -> folio::Result<()> {
    let n = 1 << 32;
    let x = rig.rt.buffer::<u8, 1>(n)?;
    let refused = algorithms::sort_order(&rig.q, Direction::Ascending, &x).map(drop);
    assert!(matches!(refused, Err(Error::TooLarge { .. })), "{refused:?}");
    let refused = algorithms::bincount(&rig.q, &x, 256).map(drop);
    assert!(matches!(refused, Err(Error::TooLarge { .. })), "{refused:?}");
    let mut counts = rig.rt.buffer::<u32, 1>(256)?;
    let refused = algorithms::histogram_into(&rig.q, &x, &mut counts);
    assert!(matches!(refused, Err(Error::TooLarge { .. })), "{refused:?}");
    let mut order = rig.rt.buffer::<u32, 1>(n)?;
    let refused = algorithms::sort_order_into(&rig.q, Direction::Ascending, &x, &mut order);
    assert!(matches!(refused, Err(Error::TooLarge { .. })), "{refused:?}");
    Ok(())
}

fn transposes<T: DeviceType + Value + PartialEq>(
    rig: &Rig,
    [rows, columns]: [usize; 2],
    of: fn(usize) -> T,
) -> folio::Result<()> {
    let values: Vec<T> = (0..rows * columns).map(of).collect();
    let x = rig.rt.buffer_from((&values, [rows, columns]))?;
    let mut y = rig.rt.buffer([columns, rows])?;
    algorithms::transpose(&rig.q, &x, &mut y)?;
    let wanted: Vec<T> =
        (0..columns * rows).map(|k| values[k % rows * columns + k / rows]).collect();
    assert!(y.to_vec()? == wanted, "{rows} by {columns}");
    Ok(())
}

pub fn rows_become_columns(rig: &Rig) -> folio::Result<()> {
    let some = [0, 1, 3, 15, 16, 17, 32, 50];
    for shape in some.iter().flat_map(|rows| some.map(|columns| [*rows, columns])) {
        transposes(rig, shape, |k| k as f32)?;
    }
    transposes(rig, [33, 18], |k| [k as u8; 3])?;
    transposes(rig, [33, 18], |k| [k as u64; 9])?;
    if rig.most > 5000 {
        transposes(rig, [700, 1025], |k| k as u64)?;
    }
    let x = rig.rt.buffer::<f32, 2>([3, 4])?;
    let mut y = rig.rt.buffer([3, 4])?;
    let refused = algorithms::transpose(&rig.q, &x, &mut y);
    let needed = |error: &Error| match error {
        Error::Mismatch { needed, .. } => needed.clone(),
        _ => None,
    };
    assert_eq!(refused.as_ref().err().and_then(needed), Some(vec![4, 3]), "{refused:?}");
    Ok(())
}

fn counts<T: Number + Int + DeviceType>(rig: &Rig, x: &[T], bins: usize) -> folio::Result<()>
where
    u64: CastFrom<T>,
    i128: From<T>,
{
    let mut wanted = vec![0; bins];
    for k in x {
        wanted[i128::from(*k).clamp(0, bins as i128 - 1) as usize] += 1u32;
    }
    let a = rig.rt.buffer_from(x)?;
    assert_eq!(algorithms::histogram(&rig.q, &a, bins)?.to_vec()?, wanted, "{bins} bins");
    let mut sums = rig.rt.buffer_from(vec![9u64; bins])?;
    algorithms::histogram_into(&rig.q, &a, &mut sums)?;
    assert!(sums.to_vec()?.into_iter().eq(wanted.iter().map(|k| u64::from(*k))), "{bins} bins");
    if x.iter().all(|k| (0..bins as i128).contains(&i128::from(*k))) {
        assert_eq!(algorithms::bincount(&rig.q, &a, bins)?.to_vec()?, wanted, "{bins} bins");
    }
    Ok(())
}

/// The index that a failed command reached for, and the extent that it is outside of.
fn outside<T>(result: folio::Result<T>) -> (Option<Vec<i64>>, Option<Vec<usize>>) {
    let Err(Error::Failed(failure)) = result else { return (None, None) };
    let folio::Cause::Kernel(violation) = failure.cause() else { return (None, None) };
    match &violation.kind {
        folio::ViolationKind::OutOfBounds { index, extent, .. } => {
            (Some(index.clone()), Some(extent.clone()))
        }
        _ => (None, None),
    }
}

/// Few bins and many; indices outside are clamped, or fail with their number.
pub fn indices_are_counted(rig: &Rig) -> folio::Result<()> {
    let mut rng = Rng::new(6);
    for (turn, n) in rig.lengths().into_iter().enumerate() {
        let x: Vec<u32> = (0..n).map(|_| rng.below(300) as u32).collect();
        counts(rig, &x, [300, 7, 2048, 2049, 8192, 8193][turn % 6])?;
        let x: Vec<u8> = (0..n).map(|_| rng.next() as u8).collect();
        counts(rig, &x, 256)?;
        let x: Vec<i64> = (0..n).map(|_| (rng.next() as i64) >> rng.below(64)).collect();
        counts(rig, &x, 1 + turn)?;
        counts(rig, &vec![u64::MAX; n], 3)?;
    }
    let x = rig.rt.buffer_from(&[1i32, -1, 2])?;
    let counted = algorithms::bincount(&rig.q, &x, 3)?.to_vec();
    assert_eq!(outside(counted), (Some(vec![-1]), Some(vec![3])));
    Ok(())
}

/// All orders of axes, of three dimensions and fewer, beside a copy one by one.
pub fn axes_are_permuted(rig: &Rig) -> folio::Result<()> {
    const ORDERS: [[usize; 3]; 6] =
        [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    for from in [[1, 1, 1], [3, 1, 5], [2, 33, 40], [0, 4, 4], [5, 32, 3]] {
        let n = from.iter().product::<usize>();
        let values: Vec<u64> = (0..n as u64).collect();
        let x = rig.rt.buffer_from((&values, from))?;
        for axes in ORDERS {
            let to = axes.map(|axis| from[axis]);
            let mut y = rig.rt.buffer(to)?;
            algorithms::permute(&rig.q, axes, &x, &mut y)?;
            let wanted = (0..n).map(|k| {
                let at = [k / (to[1] * to[2]), k / to[2] % to[1], k % to[2]];
                let mut of = [0; 3];
                axes.iter().zip(at).for_each(|(axis, at)| of[*axis] = at);
                values[(of[0] * from[1] + of[1]) * from[2] + of[2]]
            });
            let wanted: Vec<u64> = if n == 0 { vec![] } else { wanted.collect() };
            assert_eq!(y.to_vec()?, wanted, "{axes:?} of {from:?}");
        }
    }
    let x = rig.rt.buffer_from((&[1, 2, 3, 4, 5, 6], [2, 3]))?;
    let mut y = rig.rt.buffer([3, 2])?;
    algorithms::permute(&rig.q, [1, 0], &x, &mut y)?;
    assert_eq!(y.to_vec()?, [1, 4, 2, 5, 3, 6]);
    for axes in [[0, 1], [1, 1], [1, 2]] {
        let refused = algorithms::permute(&rig.q, axes, &x, &mut y);
        assert!(matches!(refused, Err(Error::Mismatch { .. })), "{axes:?}: {refused:?}");
    }
    Ok(())
}

/// Each index once, in some order: to their places and back. An index outside fails, and so do two
/// equal ones, which the failure names.
pub fn elements_are_scattered(rig: &Rig) -> folio::Result<()> {
    let mut rng = Rng::new(8);
    for n in rig.lengths() {
        let mut at: Vec<u32> = (0..n as u32).collect();
        (1..n).for_each(|k| at.swap(k, rng.below(k + 1)));
        let values: Vec<[u16; 3]> = (0..n).map(|k| [k as u16, 1, 2]).collect();
        let (at, x) = (rig.rt.buffer_from(&at)?, rig.rt.buffer_from(&values)?);
        let (mut y, mut z) = (rig.rt.buffer(n + 3)?, rig.rt.buffer(n)?);
        algorithms::scatter(&rig.q, &at, &x, &mut y)?;
        algorithms::gather(&rig.q, &at, &y, &mut z)?;
        assert!(z.to_vec()? == values, "{n}");
        assert_eq!(y.to_vec()?[n..], [[0; 3]; 3]);
    }
    // Indices of other types, and a place in each word of bits that is named twice.
    let at = rig.rt.buffer_from(&[66i64, 0, 33])?;
    let (x, mut y) = (rig.rt.buffer_from(&[1u8, 2, 3])?, rig.rt.buffer(67)?);
    algorithms::scatter(&rig.q, &at, &x, &mut y)?;
    let y: Vec<u8> = y.to_vec()?;
    assert_eq!((y[66], y[0], y[33], y.iter().filter(|y| **y > 0).count()), (1, 2, 3, 3));
    for place in [0u64, 31, 32, 63, 64] {
        let at = [70, place, 40, 41, 66, place, 69, 69];
        let (at, x) = (rig.rt.buffer_from(&at)?, rig.rt.buffer_from(&[1.5f32; 8])?);
        let mut y = rig.rt.buffer::<f32, 1>(71)?;
        algorithms::scatter(&rig.q, &at, &x, &mut y)?;
        assert_eq!(outside(y.to_vec()).0, Some(vec![1, 5]), "{place}");
    }
    let index = |at: &[u32]| -> folio::Result<Option<Vec<i64>>> {
        let (at, x) = (rig.rt.buffer_from(at)?, rig.rt.buffer_from(vec![1.5f32; at.len()])?);
        let mut y = rig.rt.buffer::<f32, 1>(5000)?;
        algorithms::scatter(&rig.q, &at, &x, &mut y)?;
        Ok(outside(y.to_vec()).0)
    };
    assert_eq!(index(&[4, 5000])?, Some(vec![5000]));
    let at = rig.rt.buffer_from(&[0i32, -1])?;
    let mut y = rig.rt.buffer::<i32, 1>(5)?;
    algorithms::scatter(&rig.q, &at, &at, &mut y)?;
    assert_eq!(outside(y.to_vec()).0, Some(vec![-1]));
    let mut at: Vec<u32> = (0..4500).collect();
    at[4400] = 17;
    assert_eq!(index(&at)?, Some(vec![17, 4400]));
    Ok(())
}

/// Memory that a failed command was to overwrite is not shown, also when a part is written again.
pub fn memory_of_a_failed_gather_is_not_shown(rig: &Rig) -> folio::Result<()> {
    let (at, x) = (rig.rt.buffer_from(vec![9u32; 600])?, rig.rt.buffer_from(&[7u32; 9])?);
    let mut y = rig.rt.buffer::<u32, 1>(600)?;
    algorithms::gather(&rig.q, &at, &x, &mut y)?;
    let failed = y.to_vec();
    assert!(matches!(failed, Err(Error::Failed(_))), "{failed:?}");
    rig.q.fill(y.slice_mut([0], [300])?, 5)?;
    let rest = y.slice([300], [300])?.to_vec().unwrap_or_default();
    assert!(rest.iter().all(|y| [0, 7].contains(y)), "{rest:?}");
    Ok(())
}

/// Beside the stable sort of both; parts whose elements are all in one of them.
pub fn sequences_are_merged(rig: &Rig) -> folio::Result<()> {
    let mut rng = Rng::new(9);
    for n in rig.lengths() {
        let m = if n == 0 { 40 } else { rng.below(n) };
        for direction in BOTH {
            let mut all = [floats(&mut rng, n), floats(&mut rng, m)];
            let order = |a: &f32, b: &f32| match direction {
                Direction::Ascending => a.total_cmp(b),
                Direction::Descending => b.total_cmp(a),
            };
            all.iter_mut().for_each(|all| all.sort_by(order));
            let (a, b) = (rig.rt.buffer_from(&all[0])?, rig.rt.buffer_from(&all[1])?);
            let mut y = rig.rt.buffer(n + m)?;
            algorithms::merge(&rig.q, direction, &a, &b, &mut y)?;
            let mut wanted = all.concat();
            wanted.sort_by(order);
            let bits = |all: &[f32]| all.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert!(bits(&y.to_vec()?) == bits(&wanted), "{n} and {m}");
        }
    }
    Ok(())
}

/// Segments of all sizes, none, and empty ones.
pub fn segments_are_sorted(rig: &Rig) -> folio::Result<()> {
    let mut rng = Rng::new(10);
    for n in rig.lengths().into_iter().filter(|n| *n <= 66_000) {
        for count in [0, 1, 7, 300] {
            let mut bounds: Vec<u32> = (0..count).map(|_| rng.below(n + 1) as u32).collect();
            bounds.sort();
            let mut keys: Vec<i16> = (0..n).map(|_| rng.next() as i16).collect();
            let (at, mut x) = (rig.rt.buffer_from(&bounds)?, rig.rt.buffer_from(&keys)?);
            algorithms::sort_segments(&rig.q, Direction::Descending, &at, &mut x)?;
            let mut first = 0;
            for end in bounds.iter().map(|end| *end as usize).chain([n]) {
                keys[first..end].sort_by(|a, b| b.cmp(a));
                first = end;
            }
            assert!(x.to_vec()? == keys, "{count} bounds in {n}");
        }
    }
    Ok(())
}
