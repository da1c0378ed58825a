//! What fuses with algorithms, counted, with equal bits.

use super::{Rig, tame};
use folio::algorithms::{self, Direction};
use folio::hal::DeviceKind;
use folio::prelude::*;
use folio_model::rng::Rng;

#[kernel]
fn distances(i: Item, from: f32, x: In<f32>, y: Out<f32>) {
    y[i] = (x[i] - from).abs();
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Shift {
    by: f32,
}

#[device_fn]
impl Shift {
    fn map(self, x: i32) -> f32 {
        x as f32 * 0.37 + self.by
    }
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Root {
    of: f32,
}

#[device_fn]
impl Root {
    fn map(self, x: f32) -> [f32; 2] {
        [x.abs().sqrt(), self.of]
    }
}

algorithms::map!(Shift: i32 => f32, Root: f32 => [f32; 2]);

#[kernel]
fn shifts(i: Item, f: Shift, x: In<i32>, y: Out<f32>) {
    y[i] = f.map(x[i]);
}

#[kernel]
fn roots(i: Item, f: Root, x: In<f32>, y: Out<[f32; 2]>) {
    y[i] = f.map(x[i]);
}

#[kernel]
fn grows(i: Item, by: u32, x: InOut<u32>) {
    x[i] = x[i] * 3 + by;
}

/// Functions around a scan have the bits of kernels beside it.
pub fn maps_are_part_of_a_scan(rig: &Rig) -> folio::Result<()> {
    for n in rig.lengths() {
        let x: Vec<i32> = (0..n as i32).map(|k| k.wrapping_mul(7919) % 1009 - 500).collect();
        let x = rig.rt.buffer_from(&x)?;
        let (before, after) = (Shift { by: 0.1 }, Root { of: 3.0 });
        let (mut shifted, mut sums) = (rig.rt.buffer(n)?, rig.rt.buffer(n)?);
        let (mut apart, mut y) = (rig.rt.buffer(n)?, rig.rt.buffer(n)?);
        rig.q.run(n, shifts(before, &x, &mut shifted))?;
        algorithms::inclusive_scan(&rig.q, Add, &shifted, &mut sums)?;
        rig.q.run(n, roots(after, &sums, &mut apart))?;
        algorithms::mapped_inclusive_scan(&rig.q, before, Add, after, &x, &mut y)?;
        assert!(y.to_vec()? == apart.to_vec()?, "inclusive, of {n}");
        if !rig.few {
            algorithms::exclusive_scan(&rig.q, Max, &shifted, &mut sums)?;
            rig.q.run(n, roots(after, &sums, &mut apart))?;
            algorithms::mapped_exclusive_scan(&rig.q, before, Max, after, &x, &mut y)?;
            assert!(y.to_vec()? == apart.to_vec()?, "exclusive, of {n}");
        }
    }
    Ok(())
}

/// Kernels and launches of a block, if the device fuses.
fn counted(rig: &Rig, wanted: (usize, usize)) {
    let report = rig.q.batch_report();
    if rig.q.device().fuses() {
        assert_eq!((report.kernels, report.launches), wanted);
    }
}

pub fn reductions_of_one_array_read_it_once(rig: &Rig) -> folio::Result<()> {
    let x = tame(&mut Rng::new(10), rig.most.min(20_000));
    let x = rig.rt.buffer_from(&x)?;
    let all = |q: &Queue| {
        let sums = (algorithms::reduce(q, Add, &x)?, algorithms::dot(q, &x, &x)?);
        Ok((sums, algorithms::reduce(q, Max, &x)?))
    };
    let ((sum, dot), max) = rig.q.batch_fused(all)?.0;
    counted(rig, (3, 1));
    let ((sum_apart, dot_apart), max_apart) = all(&rig.q)?;
    assert_eq!(sum.get(0)?.to_bits(), sum_apart.get(0)?.to_bits());
    assert_eq!(dot.get(0)?.to_bits(), dot_apart.get(0)?.to_bits());
    assert_eq!(max.get(0)?, max_apart.get(0)?);
    Ok(())
}

pub fn a_map_before_a_reduction_leaves_no_array(rig: &Rig) -> folio::Result<()> {
    let n = rig.most.min(20_000);
    let x = rig.rt.buffer_from(tame(&mut Rng::new(11), n))?;
    let far = |q: &Queue| {
        let mut y = rig.rt.buffer(n)?;
        q.run(n, distances(0.5, &x, &mut y))?;
        algorithms::reduce(q, Add, &y)
    };
    let sum = rig.q.batch_fused(far)?.0;
    counted(rig, (2, 1));
    assert_eq!(sum.get(0)?.to_bits(), far(&rig.q)?.get(0)?.to_bits());
    Ok(())
}

#[kernel]
fn marks(i: Item, from: i32, x: In<i32>, keep: Out<u32>) {
    keep[i] = if (x[i] + from) % 3 == 0 { 1 } else { 0 };
}

/// Some integers.
fn integers(rig: &Rig, most: usize) -> folio::Result<(usize, Buffer<i32>)> {
    let n = rig.most.min(most);
    let x: Vec<i32> = (0..n as i32).map(|k| k.wrapping_mul(7919) % 1009 - 500).collect();
    Ok((n, rig.rt.buffer_from(&x)?))
}

/// Runs a block fused, which saves so many launches, and by itself: both results.
fn twice<R>(
    rig: &Rig,
    saved: usize,
    block: impl Fn(&Queue) -> folio::Result<R>,
) -> folio::Result<[R; 2]> {
    let fused = rig.q.batch_fused(&block)?.0;
    let report = rig.q.batch_report();
    if rig.q.device().fuses() {
        assert_eq!(report.kernels - report.launches, saved, "{report:?}");
    }
    Ok([fused, block(&rig.q)?])
}

/// The device runs the host's code, where a kernel is computed before others only.
fn is_host(rig: &Rig) -> bool {
    rig.q.device().info().caps.closures
}

/// Items take elements in turn.
fn in_turn(rig: &Rig) -> bool {
    let device = rig.q.device();
    device.info().kind == DeviceKind::Cpu && device.limits().subgroup == 1
}

pub fn maps_around_a_scan_are_part_of_it(rig: &Rig) -> folio::Result<()> {
    let (n, x) = integers(rig, 20_000)?;
    // Where items take elements in turn, no launch stores all results.
    let before_only = is_host(rig) || (in_turn(rig) && n > 2048);
    let [fused, apart] = twice(rig, if before_only { 1 } else { 2 }, |q| {
        let (mut shifted, mut sums) = (rig.rt.buffer(n)?, rig.rt.buffer(n)?);
        let mut y = rig.rt.buffer(n)?;
        q.run(n, shifts(Shift { by: 0.1 }, &x, &mut shifted))?;
        algorithms::inclusive_scan(q, Add, &shifted, &mut sums)?;
        q.run(n, roots(Root { of: 3.0 }, &sums, &mut y))?;
        Ok(y)
    })?;
    assert!(fused.to_vec()? == apart.to_vec()?);
    Ok(())
}

pub fn a_map_of_flags_is_part_of_a_compaction(rig: &Rig) -> folio::Result<()> {
    let (n, x) = integers(rig, 20_000)?;
    let [fused, apart] = twice(rig, usize::from(!in_turn(rig)), |q| {
        let mut keep = rig.rt.buffer(n)?;
        q.run(n, marks(1, &x, &mut keep))?;
        algorithms::compact(q, &x, &keep)
    })?;
    assert!(fused.0.to_vec()? == apart.0.to_vec()? && fused.1.to_vec()? == apart.1.to_vec()?);
    Ok(())
}

#[kernel]
fn bins(i: Item, by: u32, x: In<i32>, y: Out<u32>) {
    y[i] = (x[i] as u32).wrapping_mul(by) % 61;
}

pub fn a_map_of_indices_is_part_of_a_histogram(rig: &Rig) -> folio::Result<()> {
    let (n, x) = integers(rig, 20_000)?;
    let [fused, apart] = twice(rig, usize::from(!in_turn(rig)), |q| {
        let mut at = rig.rt.buffer(n)?;
        q.run(n, bins(7, &x, &mut at))?;
        algorithms::histogram(q, &at, 61)
    })?;
    assert!(fused.to_vec()? == apart.to_vec()?);
    Ok(())
}

pub fn a_map_of_keys_is_part_of_an_order(rig: &Rig) -> folio::Result<()> {
    let (n, x) = integers(rig, 20_000)?;
    let [fused, apart] = twice(rig, 1, |q| {
        let mut keys = rig.rt.buffer(n)?;
        q.run(n, shifts(Shift { by: 0.1 }, &x, &mut keys))?;
        algorithms::sort_order(q, Direction::Descending, &keys)
    })?;
    assert!(fused.to_vec()? == apart.to_vec()?);
    Ok(())
}

/// A graph runs what was recorded on what its arrays have then.
pub fn algorithms_are_recorded(rig: &Rig) -> folio::Result<()> {
    let n = rig.most.min(5000);
    let x: Vec<u32> = (0..n as u32).map(|k| k * 7919 % 1009).collect();
    let keep: Vec<u8> = x.iter().map(|x| (x % 3) as u8).collect();
    let (mut x, keep) = (rig.rt.buffer_from(&x)?, rig.rt.buffer_from(&keep)?);
    let (mut sums, mut kept) = (rig.rt.buffer(n)?, rig.rt.buffer(n)?);
    let graph = rig.rt.graph(&rig.q.device())?;
    let recording = graph.record([&rig.q])?;
    algorithms::inclusive_scan(&rig.q, Add, &x, &mut sums)?;
    let count = algorithms::partition(&rig.q, &sums, &keep, &mut kept)?;
    drop(recording);
    let run = graph.finalize()?;
    for turn in 0..3 {
        rig.q.run(n, grows(turn, &mut x))?;
        rig.q.run_graph(&run)?;
        let (mut wanted, mut places) = (rig.rt.buffer(n)?, rig.rt.buffer(n)?);
        algorithms::inclusive_scan(&rig.q, Add, &x, &mut wanted)?;
        let wanted_count = algorithms::partition(&rig.q, &wanted, &keep, &mut places)?;
        assert_eq!(sums.to_vec()?, wanted.to_vec()?);
        assert_eq!(kept.to_vec()?, places.to_vec()?);
        assert_eq!(count.get(0)?, wanted_count.get(0)?);
    }
    Ok(())
}

/// What one run of a graph has counted, kept or claimed is not there in the next one.
pub fn each_run_of_a_graph_begins_anew(rig: &Rig) -> folio::Result<()> {
    let n = rig.most.min(300);
    let at: Vec<u32> = (0..n as u32).map(|k| (k * 7) % n as u32).collect();
    let (at, mut x) = (rig.rt.buffer_from(&at)?, rig.rt.buffer_from(vec![0u32; n])?);
    let all = |q: &Queue, x: &Buffer<u32>, y: &mut Buffer<u32>| {
        algorithms::scatter(q, &at, x, y)?;
        let (kept, count) = algorithms::compact(q, x, x)?;
        let (few, many) = (algorithms::bincount(q, x, 50)?, algorithms::histogram(q, x, 9000)?);
        Ok::<_, Error>(([kept, few, many], count))
    };
    let (mut y, mut wanted_y) = (rig.rt.buffer(n)?, rig.rt.buffer(n)?);
    let graph = rig.rt.graph(&rig.q.device())?;
    let recording = graph.record([&rig.q])?;
    let (results, count) = all(&rig.q, &x, &mut y)?;
    drop(recording);
    let run = graph.finalize()?;
    for turn in 0..3u32 {
        x.write()?.iter_mut().zip(0..).for_each(|(x, k)| *x = (k + turn) % (2 + 20 * turn) / 2);
        rig.q.run_graph(&run)?;
        let (wanted, wanted_count) = all(&rig.q, &x, &mut wanted_y)?;
        assert_eq!((y.to_vec()?, count.get(0)?), (wanted_y.to_vec()?, wanted_count.get(0)?));
        for (result, wanted) in results.iter().zip(&wanted) {
            assert_eq!(result.to_vec()?, wanted.to_vec()?, "turn {turn}");
        }
    }
    Ok(())
}
