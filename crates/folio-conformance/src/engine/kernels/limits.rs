//! Launches and kernels at the limits of what drivers take at once.
#![forbid(unsafe_code)]

use super::code::forgets;
use crate::engine::rig::*;
use folio::prelude::*;
use folio_core::hal::HalErrorKind;
use folio_core::{Cause, Items, KernelType, ViolationKind};

#[kernel]
fn rows(i: Item<2>, y: Out<u32, 2>) {
    let (row, column) = i.pos();
    y[i] = (row * 3 + column) as u32;
}

#[kernel]
fn slices(i: Item<3>, y: Out<u32, 3>) {
    let (slice, row, column) = i.pos();
    y[i] = (slice * 7 + row * 3 + column) as u32;
}

#[kernel]
fn groups_of_rows(g: Group<2>, y: Out<u32, 2>) {
    g.each(|i| {
        let ((row, column), (a, b)) = (i.pos(), i.local_pos());
        y[i] = (row * 100 + column * 10 + a * 3 + b) as u32;
    });
}

/// CACHE-02: kernels are made ready without running, and the second time nothing is compiled for
/// it.
pub(super) fn kernels_are_prepared_once(rig: &Rig) -> Outcome {
    let kernels = [
        KernelType::of::<rows>(),
        KernelType::of::<slices>(),
        KernelType::of::<groups_of_rows>(),
        KernelType::of::<rows>(),
    ];
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let (device, before) = (q.device(), rig.rt.counters());
        let first = device.prepare(&kernels)?;
        ensure_eq!(first.kernels, kernels.len());
        let closures = device.info().caps.closures;
        ensure!(!closures || first.compiled == 0, "{first:?}");
        let again = device.prepare(&kernels)?;
        ensure_eq!((again.kernels, again.compiled), (kernels.len(), 0));
        // A kernel that is none is told, by its name.
        let wrong = device.prepare(&[kernels[0], KernelType::of::<forgets>()]);
        ensure!(
            matches!(&wrong, Err(Error::Kernel { kernel, .. }) if &**kernel == "forgets"),
            "{wrong:?}"
        );
        ensure_eq!(rig.rt.counters(), before, "nothing has run");
        let mut y = rig.rt.buffer::<u32, 2>([4, 1])?;
        q.run(y.range(), rows(&mut y))?;
        ensure_eq!(y.to_vec()?, [0, 3, 6, 9]);
    }
    Ok(())
}

/// CUDA has 65,535 blocks in the slower dimensions of a grid.
pub(super) fn more_blocks_than_a_grid_has(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let mut y = rig.rt.buffer::<u32, 2>([600_000, 1])?;
        q.run(y.range(), rows(&mut y))?;
        let wrong = y.to_vec()?.into_iter().enumerate().find(|(k, v)| *v as usize != k * 3);
        ensure_eq!(wrong, None, "rows");
        let mut y = rig.rt.buffer::<u32, 3>([140_001, 1, 1])?;
        q.run([1..140_001, 0..1, 0..1], slices(&mut y))?;
        let found = y.to_vec()?.into_iter().enumerate();
        let wrong = { found }.find(|(k, v)| *v as usize != k * 7);
        ensure_eq!(wrong, None, "slices");
        let mut y = rig.rt.buffer::<u32, 2>([140_000, 2])?;
        q.run(Items::from([140_000, 2]).groups([2, 1]), groups_of_rows(&mut y))?;
        let wanted = |k: usize| (k / 2) * 100 + (k % 2) * 10 + (k / 2 % 2) * 3;
        let wrong = y.to_vec()?.into_iter().enumerate().find(|(k, v)| *v as usize != wanted(*k));
        ensure_eq!(wrong, None, "groups");
    }
    Ok(())
}

macro_rules! sixty_four {
    ($($name:ident)*) => {
        #[kernel]
        fn sixty_four_boxes(i: Item<3>, $($name: In<i32, 3>,)* y: Out<i64, 3>) {
            let mut sum = 0;
            $(sum = sum * 3 + $name[i] as i64;)*
            y[i] = sum;
        }

        /// KRN-08, in as many dimensions as there are: extents and distances are arguments, too.
        pub(super) fn sixty_four_parameters_of_three_dimensions(rig: &Rig) -> Outcome {
            let shape = [2, 3, 5];
            let values: Vec<i32> = (0..30).map(|k| k * 7919 % 101 - 50).collect();
            let mut factor = 0i64;
            $(let _ = stringify!($name); factor = factor.wrapping_mul(3).wrapping_add(1);)*
            for at in 0..rig.rt.devices().len() {
                $(let $name = rig.rt.buffer_from((&values, shape))?;)*
                let mut y = rig.rt.buffer::<i64, 3>(shape)?;
                rig.on(at)?.run(y.range(), sixty_four_boxes($(&$name,)* &mut y))?;
                let wanted: Vec<i64> =
                    values.iter().map(|v| i64::from(*v).wrapping_mul(factor)).collect();
                ensure_eq!(y.to_vec()?, wanted);
            }
            Ok(())
        }
    };
}
sixty_four! {
    a0 a1 a2 a3 a4 a5 a6 a7 b0 b1 b2 b3 b4 b5 b6 b7 c0 c1 c2 c3 c4 c5 c6 c7 d0 d1 d2 d3 d4 d5 d6 d7
    e0 e1 e2 e3 e4 e5 e6 e7 f0 f1 f2 f3 f4 f5 f6 f7 g0 g1 g2 g3 g4 g5 g6 g7 h0 h1 h2 h3 h4 h5 h6
}

#[kernel]
fn combines(g: Group, x: In<f32>, held: Local<f32, 12_288>, y: Out<f32>) {
    g.each(|i| held[i] = x[i] * 2.0);
    let sum = g.reduce::<Add>(|i| x[i]);
    g.each(|i| y[i] = held[i] + sum);
}

/// 48 KiB of its own, and what it takes to combine a group's values: right, or said to be too much.
pub(super) fn groups_combine_beside_large_local_memory(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let x = rig.rt.buffer_from((0..256).map(|k| k as f32).collect::<Vec<_>>())?;
        let mut y = rig.rt.buffer::<f32, 1>(256)?;
        let sums: [f32; 2] = [8128.0, 24_512.0];
        match rig.on(at)?.run(Items::from(256).groups([128]), combines(&x, &mut y)) {
            Ok(_) => {
                let wanted: Vec<f32> = (0..256).map(|k| k as f32 * 2.0 + sums[k / 128]).collect();
                ensure_eq!(y.to_vec()?, wanted);
            }
            Err(Error::Device { cause, .. }) if matches!(cause.kind, HalErrorKind::Unsupported) => {
                ensure_eq!(y.to_vec()?, [0.0; 256]);
            }
            Err(other) => return Err(other.into()),
        }
    }
    Ok(())
}

#[kernel]
fn reduces(g: Group, y: OutGroup<u64>) {
    let sum = g.reduce::<Add>(|i| i.local_index() as u64);
    y[g] = sum;
}

#[kernel]
fn scans(g: Group, y: OutGroup<u64>) {
    let before = g.exclusive_scan::<Add>(|i| i.local_index() as u64);
    let last = g.reduce::<Max>(|i| before[i]);
    y[g] = last;
}

#[kernel]
fn keeps(g: Group, y: OutGroup<u64>) {
    let kept = g.private(7u64);
    g.each(|i| kept[i] += i.local_index() as u64);
    let last = g.reduce::<Max>(|i| kept[i]);
    y[g] = last;
}

#[kernel]
fn gives(g: Group, y: OutGroup<u64>, total: Reduce<u64, Add>) {
    g.each(|i| total.give(i.local_index() as u64));
    y[g] = 1;
}

/// ERR-01, KRN-08: a group for which no device has memory is refused at once, with the limit.
pub(super) fn groups_have_a_limit(rig: &Rig) -> Outcome {
    const VAST: usize = 1 << 40;
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let (mut y, mut total) = (rig.rt.buffer::<u64, 1>(1)?, rig.rt.buffer::<u64, 1>(1)?);
        let in_one_group = |n: usize, nth: usize, y: &mut Buffer<u64>, total: &mut Buffer<u64>| {
            let items = Items::from(n).groups([n]);
            match nth {
                0 => q.run(items, reduces(y)),
                1 => q.run(items, scans(y)),
                2 => q.run(items, keeps(y)),
                _ => q.run(items, gives(y, total)),
            }
        };
        for nth in 0..4 {
            let error = match in_one_group(VAST, nth, &mut y, &mut total) {
                Err(Error::Device { cause, .. }) => cause,
                Err(other) => return Err(other.into()),
                Ok(_) => return Err(Stop::Failed(format!("kernel {nth}: a group of 2^40 items"))),
            };
            ensure!(matches!(error.kind, HalErrorKind::Unsupported), "{error}");
            let says_limit =
                error.to_string().contains("limit") || error.to_string().contains("most");
            ensure!(says_limit, "{error}");
        }
        for (nth, wanted) in [28, 21, 14, 1].into_iter().enumerate() {
            in_one_group(8, nth, &mut y, &mut total)?;
            ensure_eq!(y.to_vec()?, [wanted], "kernel {nth}");
        }
        ensure_eq!(total.to_vec()?, [28]);
    }
    Ok(())
}

/// A sum of which no compiler knows what it becomes.
#[device_fn]
fn stirred(sum: u32, k: u32) -> u32 {
    sum.wrapping_mul(1_664_525).wrapping_add(k)
}

#[kernel]
fn turns_in_a_row(i: Item, turns: In<u32>, y: Out<u32>) {
    let mut sum = 1;
    for k in 0..turns[i] {
        sum = stirred(sum, k);
    }
    y[i] = sum;
}

#[kernel]
fn turns_in_turns(i: Item, turns: In<u32>, y: Out<u32>) {
    let mut sum = 1;
    for outer in 0..turns[i] / 100 {
        for inner in 0..100 {
            sum = stirred(sum, outer * 100 + inner);
        }
    }
    y[i] = sum;
}

/// An index that is out of bounds if the loop ends before its condition says so, and a way out.
#[kernel]
fn turns_that_are_counted(i: Item, turns: In<u32>, y: Out<u32>) {
    let (mut sum, mut k) = (1, 0);
    while k < turns[i] {
        sum = stirred(sum, k);
        k += 1;
    }
    y[i] = sum;
    if turns[(k - turns[i]) as usize] == 7 {
        return;
    }
    y[i] = sum;
}

#[kernel]
fn turns_of_groups(g: Group, turns: In<u32>, y: Out<u32>) {
    let sums = g.private(1u32);
    g.each(|i| {
        for k in 0..turns[i] {
            sums[i] = stirred(sums[i], k);
        }
    });
    let sum = g.reduce::<Add>(|i| sums[i]);
    g.each(|i| y[i] = if sum == 1 { 0 } else { sums[i] });
}

/// ERR-02: a driver that ends loops early fails the command, and 60,000 turns are few enough.
pub(super) fn loops_have_all_their_turns_or_fail(rig: &Rig) -> Outcome {
    type Run = fn(&Queue, &Buffer<u32>, &mut Buffer<u32>) -> Result<Event, Error>;
    let kernels: [Run; 4] = [
        |q, x, y| q.run(3, turns_in_a_row(x, y)),
        |q, x, y| q.run(3, turns_in_turns(x, y)),
        |q, x, y| q.run(3, turns_that_are_counted(x, y)),
        |q, x, y| q.run(Items::from(3).groups([3]), turns_of_groups(x, y)),
    ];
    let devices = 0..rig.rt.devices().len();
    let each = devices.flat_map(|at| kernels.map(|kernel| (at, kernel)));
    for ((at, kernel), turns) in each.flat_map(|case| [60_000, 70_000].map(|turns| (case, turns))) {
        let q = rig.on(at)?;
        let turns = [500, turns, 0];
        let (x, mut y) = (rig.rt.buffer_from(&turns)?, rig.rt.buffer::<u32, 1>(3)?);
        match kernel(&q, &x, &mut y)?.wait() {
            Ok(()) => ensure_eq!(y.to_vec()?, turns.map(|n| (0..n).fold(1, stirred))),
            Err(Error::Failed(failure)) => {
                let Cause::Kernel(violation) = failure.cause() else {
                    return Err(Stop::Failed(failure.to_string()));
                };
                let ended = matches!(violation.kind, ViolationKind::LoopEnded { .. });
                ensure!(ended && turns[1] > 60_000, "{failure}");
                ensure!(failure.to_string().contains("after 65535 turns"), "{failure}");
            }
            Err(other) => return Err(other.into()),
        }
    }
    Ok(())
}
