//! Sums and rows in fused launches: map and reduction, a norm, a softmax.

use super::fusion::*;
use super::rig::*;
use super::tests;
use folio::prelude::*;

tests![reductions_end_a_fused_launch, a_norm_is_two_launches, rows_of_a_softmax_are_one_launch,];

#[kernel]
fn adds_all(i: Item, a: In<f32>, sum: Reduce<f32, Add>) {
    sum.give(a[i]);
}

/// FUSE-13: a dot product in one launch, in the bits of two.
fn reductions_end_a_fused_launch(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    for n in [1, 100, N, 70_001] {
        let values = |by: f32| (0..n).map(|k| (k as f32 * by).sin()).collect::<Vec<_>>();
        let (a, b) = (rig.rt.buffer_from(values(0.37))?, rig.rt.buffer_from(values(1.1))?);
        let sum = rig.rt.buffer::<f32, 1>(1)?.into_shared();
        let graph = rig.rt.graph(&q.device())?;
        let recording = graph.record(std::slice::from_ref(&q))?;
        let mut between = rig.rt.buffer(n)?;
        q.run(n, multiplies(&a, &b, &mut between))?;
        q.run(n, adds_all(&between, &sum))?;
        drop((recording, between));
        q.run_graph(&graph.finalize()?)?.wait()?;
        let wanted = sum.to_vec()?[0].to_bits();
        let run = require(&graph)?;
        // A reduction may take more than one launch of the device's own.
        ensure_eq!(report(&run)?.launches_left, 1);
        for _ in 0..3 {
            q.fill(&sum, 0.0)?;
            q.run_graph(&run)?.wait()?;
            ensure_eq!(sum.to_vec()?[0].to_bits(), wanted);
        }
        // One command is no list.
        ensure_eq!(run.replay_report().replays, 0);
    }
    Ok(())
}

#[kernel]
fn roots(i: Item, sum: In<f32>, norm: Out<f32>) {
    norm[i] = sum[i].sqrt();
}

/// FUSE-13: squares and their sum are one launch; the root needs what is complete at its end.
fn a_norm_is_two_launches(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    for n in [1, N, 9_001] {
        let values: Vec<f32> = (0..n).map(|k| (k as f32 * 0.7).cos()).collect();
        let (x, norm) = (rig.rt.buffer_from(values)?, rig.rt.buffer::<f32, 1>(1)?.into_shared());
        let graph = rig.rt.graph(&q.device())?;
        let recording = graph.record(std::slice::from_ref(&q))?;
        let mut squares = rig.rt.buffer(n)?;
        let mut sum = rig.rt.buffer(1)?;
        q.run(n, multiplies(&x, &x, &mut squares))?;
        q.run(n, adds_all(&squares, &mut sum))?;
        q.run(1, roots(&sum, &norm))?;
        drop((recording, squares, sum));
        q.run_graph(&graph.finalize()?)?.wait()?;
        let wanted = norm.to_vec()?[0].to_bits();
        q.fill(&norm, 0.0)?;
        let run = enable(&graph)?;
        ensure_eq!(report(&run)?.launches_left, 2);
        q.run_graph(&run)?.wait()?;
        ensure_eq!(norm.to_vec()?[0].to_bits(), wanted);
    }
    Ok(())
}

#[kernel]
fn greatest_of_rows(i: Item, x: In<f32, 2>, most: Out<f32>) {
    let mut found = x[(i, 0)];
    for c in 1..x.shape()[1] {
        found = found.max(x[(i, c)]);
    }
    most[i] = found;
}

#[kernel]
fn powers_of_rows(i: Item, x: In<f32, 2>, most: In<f32>, y: OutRow<f32>) {
    for c in 0..y.shape()[1] {
        y[(i, c)] = (x[(i, c)] - most[i]).exp();
    }
}

#[kernel]
fn sums_of_rows(i: Item, y: In<f32, 2>, sum: Out<f32>) {
    let mut all = 0.0;
    for c in 0..y.shape()[1] {
        all += y[(i, c)];
    }
    sum[i] = all;
}

#[kernel]
fn parts_of_rows(i: Item, sum: In<f32>, y: InOutRow<f32>) {
    for c in 0..y.shape()[1] {
        y[(i, c)] /= sum[i];
    }
}

/// FUSE-13: a softmax, row by row, in four kernels. Values that rows have in common are in
/// registers.
fn rows_of_a_softmax_are_one_launch(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    for [rows, columns] in [[1, 1], [70, 33], [5, 1000]] {
        let values: Vec<f32> = (0..rows * columns).map(|k| (k as f32 * 0.37).sin() * 9.0).collect();
        let x = rig.rt.buffer_from((values, [rows, columns]))?;
        let y = rig.rt.buffer([rows, columns])?.into_shared();
        let graph = rig.rt.graph(&q.device())?;
        let recording = graph.record(std::slice::from_ref(&q))?;
        let [mut most, mut sum] = [rig.rt.buffer(rows)?, rig.rt.buffer(rows)?];
        q.run(rows, greatest_of_rows(&x, &mut most))?;
        q.run(rows, powers_of_rows(&x, &most, &y))?;
        q.run(rows, sums_of_rows(&y, &mut sum))?;
        q.run(rows, parts_of_rows(&sum, &y))?;
        drop((recording, most, sum));
        q.run_graph(&graph.finalize()?)?.wait()?;
        let bits = |y: &[f32]| y.iter().map(|y| y.to_bits()).collect::<Vec<_>>();
        let wanted = bits(&y.to_vec()?);
        q.fill(&y, 0.0)?;
        let run = require(&graph)?;
        ensure_eq!(launches(rig, &q, &run)?, 1);
        ensure_eq!(bits(&y.to_vec()?), wanted);
        let fates: Vec<_> = report(&run)?.clusters[0].memories.iter().map(|m| m.fate).collect();
        ensure_eq!(fates.iter().filter(|fate| **fate == "register").count(), 2);
    }
    Ok(())
}
