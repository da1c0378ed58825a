//! Launches of which a count in memory says how many items run (KRN-04): on every device, on the
//! host, and interpreted.
#![forbid(unsafe_code)]

use super::agree::*;
use super::code::*;
use crate::engine::graphs::graph;
use crate::engine::rig::*;
use folio::prelude::*;
use folio_core::ir::device::{Count, Limited};
use folio_core::{ViolationKind, error::LowerError};

/// With a guard, a neighbour, and a way out.
#[kernel]
fn steps(i: Item, x: In<i32>, y: InOut<i32>) {
    let k = i.index();
    if k > 0 && x[k - 1] == 3 {
        y[i] = -7;
        return;
    }
    for j in 0..k % 5 {
        y[i] += x[j] * 10;
    }
    y[i] += 1;
}

#[kernel]
fn picks(i: Item, at: In<u32>, x: In<i32>, y: Out<i32>) {
    y[i] = x[at[i]];
}

#[kernel]
fn tallies(i: Item, x: In<i32>, bins: Atomic<u32>) {
    bins.add((x[i] as usize) % 8, 1);
}

#[kernel]
fn doubles_count(i: Item, from: In<u32>, count: Out<u32>) {
    count[i] = from[i] * 2;
}

#[kernel]
fn sums_up(i: Item, x: In<i32>, sum: Reduce<i32, Add>) {
    sum.give(x[i]);
}

const ITEMS: usize = 100;

/// A kernel with a loop and a guard, and one of an `Out`: items from the count on change nothing.
fn counted<C: Count + DeviceType>(rig: &Rig, of: C) -> Outcome {
    let (x, y) = (data([ITEMS], |k| noise(k) % 5), data([ITEMS], |k| k as i32));
    let count = data([2], |_| of);
    fine(agree::<Limited<steps, C>>(
        rig,
        &[ITEMS],
        vec![x.arg(), y.arg(), count.arg()],
        |rt, q| {
            let (x, mut y, count) = (x.buffer(rt)?, y.buffer(rt)?, count.buffer(rt)?);
            q.run(ITEMS, steps(&x, &mut y).at_most(&count))?;
            Ok(vec![contents(&y)?, contents(&count)?])
        },
    )?)?;
    fine(agree::<Limited<copies, C>>(
        rig,
        &[ITEMS],
        vec![x.arg(), y.arg(), count.arg()],
        |rt, q| {
            let (x, mut y, count) = (x.buffer(rt)?, y.buffer(rt)?, count.buffer(rt)?);
            q.run(ITEMS, copies(&x, &mut y).at_most(&count))?;
            Ok(vec![contents(&y)?, contents(&count)?])
        },
    )?)
}

pub(super) fn counts_in_memory_limit_launches(rig: &Rig) -> Outcome {
    for count in [0, 1, 37, ITEMS as u64 - 1, ITEMS as u64, 1 << 40, u64::MAX] {
        counted(rig, count)?;
    }
    for count in [0u32, 64, u32::MAX] {
        counted(rig, count)?;
    }
    Ok(())
}

/// What only items from the count on would read is not read; bounds of the others are checked.
pub(super) fn items_beyond_a_count_violate_nothing(rig: &Rig) -> Outcome {
    let at = data([ITEMS], |k| if k == 60 { 1000u32 } else { k as u32 / 2 });
    let (x, y) = (data([ITEMS], noise), data([ITEMS], |k| k as i32));
    let picked = |of: u64| {
        let count = data([1], |_| of);
        let args = vec![at.arg(), x.arg(), y.arg(), count.arg()];
        agree::<Limited<picks, u64>>(rig, &[ITEMS], args, |rt, q| {
            let (at, x, mut y) = (at.buffer(rt)?, x.buffer(rt)?, y.buffer(rt)?);
            let count = count.buffer(rt)?;
            q.run(ITEMS, picks(&at, &x, &mut y).at_most(&count))?;
            Ok(vec![contents(&y)?, contents(&count)?])
        })
    };
    fine(picked(60)?)?;
    let beyond = ViolationKind::OutOfBounds {
        param: Some("x".to_owned()),
        index: vec![1000],
        extent: vec![ITEMS],
    };
    ensure_eq!(picked(61)?.map(|violation| violation.kind), Some(beyond));
    Ok(())
}

/// The count comes from a kernel before, and no host reads it: alone, in blocks, and in a graph
/// that runs with other counts.
pub(super) fn counts_come_from_the_device(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let (rt, q) = (&rig.rt, rig.on(at)?);
        let x = rt.buffer_from(&[1i32; 5000])?;
        let run = |q: &Queue, from: &Buffer<u32>, y: &mut Buffer<i32>, fused: Option<bool>| {
            let mut count = rt.buffer::<u32, 1>(1)?;
            let mut both = |q: &Queue| {
                q.run(1, doubles_count(from, &mut count))?;
                q.run(5000, copies(&x, &mut *y).at_most(&count))?;
                q.run(5000, counts(&mut *y)).map(drop)
            };
            match fused {
                None => both(q),
                Some(false) => q.batch(both).map(drop),
                Some(true) => q.batch_fused(both).map(drop),
            }
        };
        for (half, fused) in
            [(1000u32, None), (30, Some(false)), (40, Some(false)), (7, Some(true))]
        {
            let (from, mut y) = (rt.buffer_from(&[half])?, rt.buffer_from(&[5; 5000])?);
            run(&q, &from, &mut y, fused)?;
            let kept = y.to_vec()?;
            ensure_eq!(kept.iter().filter(|value| **value == 2).count(), 2 * half as usize);
            ensure!(kept[2 * half as usize..].iter().all(|value| *value == 6), "{fused:?}");
        }
        let mut bins = rt.buffer::<u32, 1>(8)?;
        q.run(5000, tallies(&x, &mut bins).at_most(&rt.buffer_from(&[4321u64])?))?;
        ensure_eq!(bins.to_vec()?[..3], [0, 4321, 0]);
    }
    let (q, graph) = graph(rig)?;
    let (x, y) = (rig.rt.buffer_from(&[9i32; 50])?, rig.rt.buffer::<i32, 1>(50)?.into_shared());
    let count = rig.rt.buffer::<u32, 1>(1)?.into_shared();
    graph.add(|cg| {
        cg.run(50, copies(&x, &y).at_most(&count));
        Ok(())
    })?;
    let graph = graph.finalize()?;
    for wanted in [20u32, 3, 33] {
        q.fill(&count, wanted)?;
        q.fill(&y, 0)?;
        q.run_graph(&graph)?;
        let kept = y.to_vec()?;
        ensure_eq!(kept.iter().filter(|value| **value == 9).count(), wanted as usize);
        ensure_eq!(kept[wanted as usize - 1..][..2], [9, 0]);
    }
    Ok(())
}

pub(super) fn what_needs_all_items_has_no_count(rig: &Rig) -> Outcome {
    let (q, count) = (rig.on(0)?, rig.rt.buffer_from(&[3u64])?);
    let (x, mut y) = (rig.rt.buffer_from(&[1i32; 10])?, rig.rt.buffer::<i32, 1>(10)?);
    let mut sum = rig.rt.buffer::<i32, 1>(1)?;
    match q.run(10, sums_up(&x, &mut sum).at_most(&count)) {
        Err(Error::Kernel { cause, .. }) => {
            ensure!(matches!(*cause, LowerError::Limit(_)), "{cause}");
        }
        other => return Err(Stop::Failed(format!("{other:?}"))),
    }
    let none = rig.rt.buffer::<u64, 1>(0)?;
    refused!(q.run(10, copies(&x, &mut y).at_most(&none)), Error::NoElement { .. });
    Ok(())
}
