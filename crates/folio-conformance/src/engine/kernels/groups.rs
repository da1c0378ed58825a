//! Kernels of work-groups and of all owners: on each device, as functions on the host, and
//! interpreted (KRN-01, KRN-02).

use super::agree::*;
use super::group_code::*;
use crate::engine::rig::*;
use folio::prelude::*;
use folio_interp::interp::Arg;

fn number(k: usize) -> u32 {
    (k as u32).wrapping_mul(0x9e37_79b1) >> 7
}

pub(super) fn tiles_in_local_memory(rig: &Rig) -> Outcome {
    tiles(rig, wave)
}

pub(super) fn tiles(rig: &Rig, of: Floats) -> Outcome {
    let (a, b) = (data([16, 24], of), data([24, 32], |k| of(k + 7)));
    let c = data([16, 32], |_| 0f32);
    let args = vec![a.arg(), b.arg(), Arg::Local, Arg::Local, c.arg()];
    fine(agree_in::<matmul>(rig, (&[16, 32], Some(&[TILE, TILE])), args, |rt, q| {
        let (a, b, mut c) = (a.buffer(rt)?, b.buffer(rt)?, c.buffer(rt)?);
        q.run(c.range(), matmul(&a, &b, &mut c))?;
        Ok(vec![contents(&c)?])
    })?)
}

/// semantics 8.2, 8.3
pub(super) fn folds_of_groups(rig: &Rig) -> Outcome {
    folds_of(rig, &[1, 2, 3, 7, 31, 100], wave, number)
}

pub(super) fn folds_of(
    rig: &Rig,
    sizes: &[usize],
    of: Floats,
    number: fn(usize) -> u32,
) -> Outcome {
    for &size in sizes {
        let n = size * 5;
        let (x, k) = (data([n], of), data([n], number));
        let (sums, most) = (data([5], |_| 0f32), data([5], |_| 0u32));
        let args = vec![x.arg(), k.arg(), sums.arg(), most.arg(), x.arg(), k.arg()];
        fine(agree_in::<folds>(rig, (&[n], Some(&[size])), args, |rt, q| {
            let (sums, most) = (&mut sums.buffer(rt)?, &mut most.buffer(rt)?);
            let (scans, before) = (&mut rt.buffer(n)?, &mut rt.buffer(n)?);
            let call = folds(
                &x.buffer(rt)?,
                &k.buffer(rt)?,
                &mut *sums,
                &mut *most,
                &mut *scans,
                &mut *before,
            );
            q.run(Items::from(n).groups([size]), call)?;
            Ok(vec![contents(sums)?, contents(most)?, contents(scans)?, contents(before)?])
        })?)?;
    }
    Ok(())
}

pub(super) fn groups_sort_and_transpose(rig: &Rig) -> Outcome {
    sorts(rig, number)?;
    let (x, y) = (data([8, 12], noise), data([12, 8], |_| 0));
    let args = vec![x.arg(), Arg::Local, y.arg()];
    fine(agree_in::<transpose>(rig, (&[12, 8], Some(&[4, 4])), args, |rt, q| {
        let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
        q.run(y.range(), transpose(&x, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)
}

pub(super) fn sorts(rig: &Rig, of: fn(usize) -> u32) -> Outcome {
    let x = data([192], of);
    let args = vec![x.arg(), Arg::Local, Arg::Local];
    fine(agree_in::<bitonic>(rig, (&[192], Some(&[64])), args, |rt, q| {
        let mut x = x.buffer(rt)?;
        q.run(192, bitonic(&mut x))?;
        Ok(vec![contents(&x)?])
    })?)?;
    let q = rig.queue()?;
    let mut sorted = x.buffer(&rig.rt)?;
    q.run(192, bitonic(&mut sorted))?;
    let mut wanted = x.values.clone();
    wanted.chunks_mut(64).for_each(|group| group.sort_unstable());
    ensure_eq!(sorted.to_vec()?, wanted);
    Ok(())
}

pub(super) fn tiles_larger_than_groups(rig: &Rig) -> Outcome {
    for size in [1, 5, 16] {
        let (x, y) = (data([80], noise), data([80], |_| 0));
        let args = vec![x.arg(), Arg::Local, y.arg()];
        fine(agree_in::<halo>(rig, (&[80], Some(&[size])), args, |rt, q| {
            let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
            q.run(Items::from(80).groups([size]), halo(&x, &mut y))?;
            Ok(vec![contents(&y)?])
        })?)?;
    }
    Ok(())
}

/// semantics 12.3 to 12.6
pub(super) fn groups_speak_the_language(rig: &Rig) -> Outcome {
    let (x, y) = (data([40], |k| noise(k) % 50), data([40], |_| 0));
    let args = vec![scalar(3u32), x.arg(), Arg::Local, y.arg()];
    fine(agree_in::<spoken>(rig, (&[40], Some(&[8])), args, |rt, q| {
        let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
        q.run(Items::from(40).groups([8]), spoken(3, &x, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)
}

/// semantics 9
pub(super) fn histograms(rig: &Rig) -> Outcome {
    histograms_of(rig, number)
}

pub(super) fn histograms_of(rig: &Rig, of: fn(usize) -> u32) -> Outcome {
    let (x, bins) = (data([3000], of), data([16], |k| k as u32));
    fine(agree::<histogram>(rig, &[3000], vec![x.arg(), bins.arg()], |rt, q| {
        let (x, mut bins) = (x.buffer(rt)?, bins.buffer(rt)?);
        q.run(3000, histogram(&x, &mut bins))?;
        Ok(vec![contents(&bins)?])
    })?)?;
    let args = vec![x.arg(), Arg::Local, bins.arg()];
    fine(agree_in::<local_histogram>(rig, (&[3000], Some(&[60])), args, |rt, q| {
        let (x, mut bins) = (x.buffer(rt)?, bins.buffer(rt)?);
        q.run(Items::from(3000).groups([60]), local_histogram(&x, &mut bins))?;
        Ok(vec![contents(&bins)?])
    })?)
}

/// semantics 9.1
pub(super) fn every_atomic_operation(rig: &Rig) -> Outcome {
    let x = data([50], |k| noise(k) as i64);
    let (bits, f) = (data([50], |k| noise(k + 50) as i64), data([2, 50], wave));
    fine(agree::<atomics>(rig, &[50], vec![x.arg(), bits.arg(), f.arg(), x.arg()], |rt, q| {
        let (x, mut bits, mut f) = (x.buffer(rt)?, bits.buffer(rt)?, f.buffer(rt)?);
        let mut old = rt.buffer(50)?;
        q.run(50, atomics(&x, &mut bits, &mut f, &mut old))?;
        Ok(vec![contents(&bits)?, contents(&f)?, contents(&old)?])
    })?)
}

/// semantics 7.2
pub(super) fn rows_and_chunks(rig: &Rig) -> Outcome {
    let (x, y) = (data([6, 9], wave), data([6, 9], |_| 1f32));
    fine(agree::<softmax>(rig, &[6], vec![x.arg(), y.arg()], |rt, q| {
        let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
        q.run(6, softmax(&x, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)?;
    let rows = data([5, 7], noise);
    fine(agree::<prefix>(rig, &[5], vec![rows.arg()], |rt, q| {
        let mut rows = rows.buffer(rt)?;
        q.run(5, prefix(&mut rows))?;
        Ok(vec![contents(&rows)?])
    })?)?;
    let (x, y, z) = (data([11], noise), data([11], |_| [0; 4]), data([11], |_| [9; 3]));
    fine(agree::<chunks>(rig, &[11], vec![x.arg(), y.arg(), z.arg()], |rt, q| {
        let (x, mut y, mut z) = (x.buffer(rt)?, y.buffer(rt)?, z.buffer(rt)?);
        q.run(11, chunks(&x, &mut y, &mut z))?;
        Ok(vec![contents(&y)?, contents(&z)?])
    })?)?;
    Ok(())
}

/// Rows that a launch does not own stay, and are not brought.
pub(super) fn rows_move_where_they_are_owned(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let page = BufferOptions::new().page([1, 7]);
    let mut rows = rig.rt.buffer_with((&[1; 35], [5, 7]), page)?;
    q.run(1..3, prefix(&mut rows))?;
    let left = rows.to_vec()?;
    ensure_eq!((left[6], left[13], left[20], left[27]), (1, 7, 7, 1));
    ensure_eq!(rows.counters().host_to_device.bytes, 2 * 7 * 4);
    Ok(())
}

/// semantics 8.4
pub(super) fn launch_wide_reductions(rig: &Rig) -> Outcome {
    dots(rig, &[1, 255, 4096, 4097, 20_000], &[1, 3, 50], wave)?;
    statistics_of(rig, noise)
}

pub(super) fn statistics_of(rig: &Rig, of: fn(usize) -> i32) -> Outcome {
    let x = data([70, 90], of);
    let reduce = |len: usize| Arg::Reduce(vec![0; len]);
    let args = vec![x.arg(), reduce(4), reduce(8), reduce(8)];
    fine(agree::<statistics>(rig, &[70, 90], args, |rt, q| {
        let (least, odd, all) = (&mut rt.buffer(1)?, &mut rt.buffer(1)?, &mut rt.buffer(1)?);
        let call = statistics(&x.buffer(rt)?, &mut *least, &mut *odd, &mut *all);
        q.run([70, 90], call)?;
        Ok(vec![contents(least)?, contents(odd)?, contents(all)?])
    })?)
}

/// Products of these many values, and of groups of these sizes.
pub(super) fn dots(rig: &Rig, counts: &[usize], sizes: &[usize], of: Floats) -> Outcome {
    let reduce = || Arg::Reduce(vec![0; 4]);
    for &n in counts {
        let (x, y) = (data([n], of), data([n], |k| of(3 * k)));
        fine(agree::<dot>(rig, &[n], vec![x.arg(), y.arg(), reduce()], |rt, q| {
            let (x, y, mut sum) = (x.buffer(rt)?, y.buffer(rt)?, rt.buffer(1)?);
            q.run(n, dot(&x, &y, &mut sum))?;
            Ok(vec![contents(&sum)?])
        })?)?;
    }
    for &size in sizes {
        let n = size * 301;
        let (x, y) = (data([n], of), data([n], |k| of(5 * k)));
        let args = vec![x.arg(), y.arg(), reduce(), reduce()];
        fine(agree_in::<group_dot>(rig, (&[n], Some(&[size])), args, |rt, q| {
            let (sum, groups) = (&mut rt.buffer(1)?, &mut rt.buffer(1)?);
            let call = group_dot(&x.buffer(rt)?, &y.buffer(rt)?, &mut *sum, &mut *groups);
            q.run(Items::from(n).groups([size]), call)?;
            Ok(vec![contents(sum)?, contents(groups)?])
        })?)?;
    }
    Ok(())
}

/// semantics 8.1, of some values.
fn tree(values: &[f32]) -> f32 {
    let mut x = values.to_vec();
    let mut s = x.len().next_power_of_two();
    while s > 1 {
        s /= 2;
        for i in 0..s {
            if i + s < x.len() {
                x[i] += x[i + s];
            }
        }
        x.truncate(s);
    }
    x[0]
}

/// semantics 8.4, in the words of that section.
fn in_order(values: &[f32]) -> f32 {
    let mut values = values.to_vec();
    while values.len() > 1 {
        let block = |block: &[f32]| {
            let mut lanes: Vec<f32> = block.iter().take(256).copied().collect();
            for (k, value) in block.iter().enumerate().skip(256) {
                lanes[k % 256] += value;
            }
            tree(&lanes)
        };
        values = values.chunks(4096).map(block).collect();
    }
    values[0]
}

/// The bits of a sum do not depend on threads, blocks or devices.
pub(super) fn reductions_of_all_sizes(rig: &Rig) -> Outcome {
    let all: Vec<f32> = (0..20_000).map(wave).collect();
    let ones = rig.rt.buffer_from(vec![1f32; all.len()])?;
    let x = rig.rt.buffer_from(&all)?;
    let mut seed = 12345u64;
    for round in 0..40 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let n = (seed >> 33) as usize % all.len() + 1;
        let wanted = in_order(&all[..n]);
        let q = rig.on(round % rig.rt.devices().len())?;
        let mut sum = rig.rt.buffer::<f32, 1>(1)?;
        q.run(n, dot(&x, &ones, &mut sum))?;
        ensure_eq!(sum.to_vec()?[0].to_bits(), wanted.to_bits(), "{n} values");
    }
    Ok(())
}

/// semantics 11: of whatever width the device's sub-groups are.
pub(super) fn items_of_sub_groups(rig: &Rig) -> Outcome {
    let x: Vec<u32> = (0..120u32).map(|k| k * k % 59 + k / 40).collect();
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let from = rig.rt.buffer_from(&x)?;
        let (mut y, mut halves) = (rig.rt.buffer(120)?, rig.rt.buffer(120)?);
        q.run(120, subgroups(&from, &mut y, &mut halves))?;
        let (y, halves): (Vec<[u32; 13]>, Vec<f32>) = (y.to_vec()?, halves.to_vec()?);
        let width = y.first().map_or(0, |first| first[0] as usize);
        ensure!((1..=128).contains(&width), "sub-groups of {width}");
        for (k, found) in y.iter().enumerate() {
            let (group, local) = (k / 40 * 40, k % 40);
            let (index, lane) = (local / width, local % width);
            let first = group + index * width;
            let of = &x[first..(first + width).min(group + 40)];
            let own = |lane: usize| *of.get(lane).unwrap_or(&x[k]);
            let (up, before) = (&of[..=lane], &of[..lane]);
            let alike = |some: &[u32], key: fn(u32) -> u32| {
                some.iter().filter(|v| key(**v) == key(x[k])).count() as u32
            };
            let (any, all) = (of.iter().any(|v| v % 7 == 0), of.iter().all(|v| v % 7 != 0));
            let wanted = [
                width as u32,
                index as u32,
                lane as u32,
                of.iter().sum(),
                up.iter().sum(),
                before.iter().copied().max().unwrap_or(0),
                any.into(),
                all.into(),
                own(2),
                own(lane ^ 1),
                alike(before, |v| v % 5) + 1000 * alike(before, |v| v),
                alike(of, |v| v % 5),
                of.iter().position(|v| v % 5 == x[k] % 5).unwrap_or(lane) as u32,
            ];
            ensure_eq!(*found, wanted, "item {k}");
            ensure_eq!(halves[k], own(lane ^ 3) as f32 / 2.0, "item {k}");
        }
    }
    Ok(())
}

/// semantics 8.1, 8.3 and 11: floats are combined in the order of the lanes, which are those of the
/// items in row-major order; the last sub-group of a group may have fewer.
pub(super) fn sub_groups_of_rows(rig: &Rig) -> Outcome {
    let (rows, columns) = (5, 7);
    let x = data([2 * rows, 3 * columns], wave);
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let (from, mut y) = (x.buffer(&rig.rt)?, rig.rt.buffer([2 * rows, 3 * columns])?);
        let items = Items::from([2 * rows, 3 * columns]).groups([rows, columns]);
        q.run(items, subgroup_sums(&from, &mut y))?;
        let y: Vec<[f32; 6]> = y.to_vec()?;
        let width = y.first().map_or(0, |first| first[4] as usize);
        ensure!((1..=128).contains(&width), "sub-groups of {width}");
        for group in 0..6 {
            let (top, left) = (group / 3 * rows, group % 3 * columns);
            let place = |item: usize| (top + item / columns) * 3 * columns + left + item % columns;
            let group: Vec<usize> = (0..rows * columns).map(place).collect();
            for lanes in group.chunks(width) {
                sub_group(lanes, &x.values, &y, width)?;
            }
        }
    }
    Ok(())
}

/// The results of the items of a sub-group, by their places, are right.
fn sub_group(lanes: &[usize], x: &[f32], y: &[[f32; 6]], width: usize) -> Outcome {
    let own: Vec<f32> = lanes.iter().map(|at| x[*at]).collect();
    let mut up = own.clone();
    let mut step = 1;
    while step < up.len() {
        let before = up.clone();
        (step..up.len()).for_each(|lane| up[lane] = before[lane - step] + before[lane]);
        step *= 2;
    }
    let least = own.iter().copied().fold(f32::INFINITY, f32::min);
    for (lane, at) in lanes.iter().enumerate() {
        let before = lane.checked_sub(1).map_or(-0.0, |before| up[before]);
        let wanted = [tree(&own), up[lane], before, least, width as f32, lane as f32];
        ensure_eq!(y[*at].map(f32::to_bits), wanted.map(f32::to_bits), "lane {lane} of {lanes:?}");
    }
    Ok(())
}

/// A group reads its own element, as it and those before it left it.
pub(super) fn groups_accumulate(rig: &Rig) -> Outcome {
    let (x, ones) = (data([4, 6], |k| k as i32 * 5 % 23), data([2, 2], |k| k as i32 + 50));
    fine(agree_in::<accumulates>(
        rig,
        (&[4, 6], Some(&[2, 3])),
        vec![x.arg(), ones.arg(), ones.arg()],
        |rt, q| {
            let (x, mut sums, mut seen) = (x.buffer(rt)?, ones.buffer(rt)?, ones.buffer(rt)?);
            q.run(Items::from([4, 6]).groups([2, 3]), accumulates(&x, &mut sums, &mut seen))?;
            Ok(vec![contents(&sums)?, contents(&seen)?])
        },
    )?)
}

/// semantics 1.5
pub(super) fn groups_may_be_left(rig: &Rig) -> Outcome {
    let (x, y) = (data([12], |k| k as i32 % 7), data([12], |_| 0));
    fine(agree_in::<leaves>(rig, (&[12], Some(&[4])), vec![x.arg(), y.arg()], |rt, q| {
        let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
        q.run(Items::from(12).groups([4]), leaves(&x, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)
}

pub(super) fn group_sizes_are_checked(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let (x, mut y) = (rig.rt.buffer_from(&[1; 12])?, rig.rt.buffer::<i32, 1>(12)?);
    refused!(q.run(12, leaves(&x, &mut y)), Error::GroupSize { .. });
    refused!(q.run(Items::from(12).groups([5]), leaves(&x, &mut y)), Error::GroupSize { .. });
    refused!(q.run(Items::from(12).groups([0]), leaves(&x, &mut y)), Error::GroupSize { .. });
    let mut keys = rig.rt.buffer::<u32, 1>(128)?;
    refused!(q.run(Items::from(128).groups([32]), bitonic(&mut keys)), Error::GroupSize { .. });
    refused!(q.run(100, bitonic(&mut keys)), Error::GroupSize { .. });
    let call = dot(&rig.rt.buffer(4)?, &rig.rt.buffer(4)?, rig.rt.buffer(1)?.slice_mut([0], [1])?);
    refused!(q.run(Items::from(4).groups([2]), call), Error::GroupSize { .. });
    // Owners that the argument does not have.
    let mut bins = rig.rt.buffer::<f32, 1>(1)?;
    let call = folds(
        &rig.rt.buffer(8)?,
        &rig.rt.buffer(8)?,
        &mut bins,
        &mut rig.rt.buffer(2)?,
        &mut rig.rt.buffer(8)?,
        &mut rig.rt.buffer(8)?,
    );
    refused!(q.run(Items::from(8).groups([4]), call), Error::LaunchTooLarge { .. });
    let mut none = rig.rt.buffer::<f32, 1>(0)?;
    let call = dot(&rig.rt.buffer(4)?, &rig.rt.buffer(4)?, &mut none);
    refused!(q.run(4, call), Error::NoElement { .. });
    let mut rows = rig.rt.buffer([2, 3])?;
    refused!(q.run(3, prefix(&mut rows)), Error::LaunchTooLarge { .. });
    q.wait()?;
    Ok(())
}

pub(super) fn local_memory_has_bounds(rig: &Rig) -> Outcome {
    let y = data([9], |_| 0);
    let failed =
        agree_in::<too_far>(rig, (&[9], Some(&[9])), vec![Arg::Local, y.arg()], |rt, q| {
            let mut y = y.buffer(rt)?;
            q.run(Items::from(9).groups([9]), too_far(&mut y))?;
            Ok(vec![contents(&y)?])
        })?;
    ensure!(failed.is_some_and(|v| v.to_string().contains("`tile`")), "no violation");
    Ok(())
}

/// 32 GiB for each group: no device is asked for them.
#[kernel]
fn far_too_much(g: Group, tile: Local<[u64; 1 << 16], 65536>, y: Out<u32>) {
    g.each(|i| y[i] = tile[5][3] as u32);
}

pub(super) fn local_memory_has_a_limit(rig: &Rig) -> Outcome {
    let (q, mut y) = (rig.rt.queue()?, rig.rt.buffer::<u32, 1>(8)?);
    let result = q.run(Items::from(8).groups([4]), far_too_much(&mut y));
    let cause = match result {
        Err(Error::Kernel { cause, .. }) => cause,
        other => return Err(Stop::Failed(format!("{other:?}"))),
    };
    ensure_eq!(*cause, folio_core::error::LowerError::LocalMemory(32 << 30));
    Ok(())
}

pub(super) fn anyone_may_write(rig: &Rig) -> Outcome {
    let (at, y) = (data([20], |k| (k as u32 * 7) % 20), data([20], |k| k as u32 * 100));
    fine(agree::<scatter>(rig, &[20], vec![at.arg(), y.arg()], |rt, q| {
        let (at, mut y) = (at.buffer(rt)?, y.buffer(rt)?);
        // SAFETY: the indices differ: 7 and 20 have no common factor.
        let shares = unsafe { folio_core::RacyMemory::new(&mut y) };
        q.run(20, scatter(&at, shares))?;
        Ok(vec![contents(&y)?])
    })?)
}
