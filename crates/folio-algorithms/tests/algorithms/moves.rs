//! Sorting, compacting, transposing.

use super::{Rig, floats, words};
use folio::algorithms::{self, Direction, Key};
use folio::ir::device::Shared as Value;
use folio::prelude::*;
use folio_model::rng::Rng;
use std::cmp::Ordering;

const BOTH: [Direction; 2] = [Direction::Ascending, Direction::Descending];

/// A key with its order.
type Order<K> = fn(&K, &K) -> Ordering;

/// Keys, their order, and values by key, beside the stable sort of slices.
fn sorts<K: Key + Value + PartialEq>(
    rig: &Rig,
    keys: &[K],
    order: Order<K>,
    bits: fn(K) -> u64,
) -> folio::Result<()> {
    let bits = |keys: &[K]| keys.iter().map(|key| bits(*key)).collect::<Vec<_>>();
    for direction in BOTH {
        let mut wanted: Vec<u32> = (0..keys.len() as u32).collect();
        wanted.sort_by(|a, b| {
            let order = order(&keys[*a as usize], &keys[*b as usize]);
            if direction == Direction::Ascending { order } else { order.reverse() }
        });
        let in_order: Vec<K> = wanted.iter().map(|at| keys[*at as usize]).collect();
        let mut x = rig.rt.buffer_from(keys)?;
        assert_eq!(algorithms::sort_order(&rig.q, direction, &x)?.to_vec()?, wanted);
        let values: Vec<[u32; 3]> = (0..keys.len() as u32).map(|k| [k, !k, 7]).collect();
        let (mut y, mut values) = (rig.rt.buffer_from(keys)?, rig.rt.buffer_from(&values)?);
        algorithms::sort_by_key(&rig.q, direction, &mut y, &mut values)?;
        assert_eq!(bits(&y.to_vec()?), bits(&in_order));
        let wanted: Vec<_> = wanted.into_iter().map(|k| [k, !k, 7]).collect();
        assert!(values.to_vec()? == wanted, "values of {}", keys.len());
        algorithms::sort(&rig.q, direction, &mut x)?;
        assert_eq!(bits(&x.to_vec()?), bits(&in_order));
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
            assert_eq!((y.len(), count.to_vec()?), (n, vec![wanted.len() as u32]));
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
        assert_eq!((y.to_vec()?, count), ([&kept[..], &stay].concat(), vec![kept.len() as u32]));
        let count = algorithms::partition(&rig.q, &a, &flags, &mut y)?.to_vec()?;
        assert_eq!((y.to_vec()?, count), ([&kept[..], &rest].concat(), vec![kept.len() as u32]));
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
        assert_eq!((y.len(), count.to_vec()?), (n, vec![wanted.len() as u32]));
        wanted.resize(n, 0.0);
        assert_eq!(y.to_vec()?, wanted);
    }
    Ok(())
}

/// Before anything is allocated.
pub fn what_32_bits_cannot_number_is_refused(rig: &Rig) -> folio::Result<()> {
    let n = 1 << 32;
    let (x, keep) = (rig.rt.buffer::<u8, 1>(n)?, rig.rt.buffer::<u32, 1>(n)?);
    let refused = algorithms::sort_order(&rig.q, Direction::Ascending, &x).map(drop);
    assert!(matches!(refused, Err(Error::TooLarge { .. })), "{refused:?}");
    let refused = algorithms::compact(&rig.q, &x, &keep).map(drop);
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
