//! Commands that cannot be fused: an error under `require_fusion`. Under `enable_fusion` the same
//! graph has the right results, by more than one launch, and the report says why.

use super::fusion::*;
use super::graphs::{graph, why};
use super::rig::*;
use super::tests;
use folio::prelude::*;
use folio_core::{Graph, Items, error::GraphError};

tests![
    kernels_without_ir_are_not_fused,
    ranges_that_hold_each_other_not_are_apart,
    dimensions_that_differ_are_apart,
    groups_of_other_sizes_are_apart,
    a_reduction_is_apart_from_what_uses_it,
    a_task_in_the_middle_of_many_is_named,
];

/// Both requests for a graph: the error's text and, of the run, so many launches and the reason.
fn apart(rig: &Rig, q: &Queue, graph: &Graph, (left, reason): (u64, &str)) -> Outcome {
    let refused = why(require(graph))?;
    ensure!(matches!(refused, GraphError::KernelNotSupported { .. }), "{refused}");
    ensure!(refused.to_string().contains(reason), "{refused}, not {reason}");
    let run = enable(graph)?;
    ensure_eq!(launches(rig, q, &run)?, left);
    let report = report(&run)?;
    ensure!(report.unfused.iter().any(|pair| pair.why.contains(reason)), "{report}");
    Ok(())
}

/// FUSE-01, FUSE-04: a closure between two kernels.
fn kernels_without_ir_are_not_fused(rig: &Rig) -> Outcome {
    rig.closures()?;
    let (q, graph) = graph(rig)?;
    let a = rig.rt.buffer_from(data(N, 3))?;
    let [y, z] = [rig.rt.buffer(N)?.into_shared(), rig.rt.buffer(N)?.into_shared()];
    graph.add(|cg| cg.run(N, scales(2, &a, &y)))?;
    graph.add(|cg| {
        let x = cg.label("closure").read_write(&y);
        cg.host_kernel([N], x, |i, mut x| x[i] += i.index() as i32);
        Ok(())
    })?;
    graph.add(|cg| cg.run(N, scales(3, &y, &z)))?;
    let refused = why(require(&graph))?;
    ensure!(matches!(refused, GraphError::KernelNotSupported { .. }), "{refused}");
    ensure!(refused.to_string().contains("kernel without IR"), "{refused}");
    let run = enable(&graph)?;
    ensure_eq!(launches(rig, &q, &run)?, 3);
    let report = report(&run)?;
    ensure!(report.to_string().contains("kernel without IR"), "{report}");
    let wanted = data(N, 3).into_iter().enumerate().map(|(k, x)| 3 * (2 * x + k as i32));
    ensure_eq!(z.to_vec()?, wanted.collect::<Vec<_>>());
    Ok(())
}

#[kernel]
fn scales_2(i: Item<2>, by: i32, a: In<i32, 2>, c: Out<i32, 2>) {
    c[i] = a[i] * by;
}

/// FUSE-04: neither of two ranges is a part of the other.
fn ranges_that_hold_each_other_not_are_apart(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let a = rig.rt.buffer_from((data(256, 3), [16, 16]))?;
    let c = rig.rt.buffer_from((vec![-1; 256], [16, 16]))?.into_shared();
    graph.add(|cg| cg.run([8, 16], scales_2(2, &a, &c)))?;
    graph.add(|cg| cg.run([16, 8], scales_2(5, &a, &c)))?;
    apart(rig, &q, &graph, (2, "neither of the ranges"))?;
    let wanted = data(256, 3).into_iter().enumerate().map(|(k, x)| match (k / 16, k % 16) {
        (_, ..8) => 5 * x,
        (..8, _) => 2 * x,
        _ => -1,
    });
    ensure_eq!(c.to_vec()?, wanted.collect::<Vec<_>>());
    Ok(())
}

/// FUSE-04: one dimension and two.
fn dimensions_that_differ_are_apart(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let (a, b) = (rig.rt.buffer_from(data(64, 3))?, rig.rt.buffer_from((data(64, 5), [8, 8]))?);
    let (y, z) = (rig.rt.buffer(64)?.into_shared(), rig.rt.buffer::<i32, 2>([8, 8])?.into_shared());
    graph.add(|cg| cg.run(64, scales(2, &a, &y)))?;
    graph.add(|cg| cg.run([8, 8], scales_2(3, &b, &z)))?;
    apart(rig, &q, &graph, (2, "over 1 dimensions, the other over 2"))?;
    let scaled = |by: i32, factor| data(64, factor).iter().map(|x| by * x).collect::<Vec<_>>();
    ensure_eq!((y.to_vec()?, z.to_vec()?), (scaled(2, 3), scaled(3, 5)));
    Ok(())
}

#[kernel]
fn adds_by_groups(g: Group, a: In<i32>, c: Out<i32>) {
    g.each(|i| c[i] = a[i] + g.size()[0] as i32);
}

/// FUSE-04: groups of 8 items, and of 16.
fn groups_of_other_sizes_are_apart(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let a = rig.rt.buffer_from(data(64, 3))?;
    let [y, z] = [rig.rt.buffer(64)?.into_shared(), rig.rt.buffer(64)?.into_shared()];
    let items = |size: usize| Items::from(64).groups([size]);
    graph.add(|cg| cg.run(items(8), adds_by_groups(&a, &y)))?;
    graph.add(|cg| cg.run(items(16), adds_by_groups(&y, &z)))?;
    apart(rig, &q, &graph, (2, "one has groups of [8, 1, 1], the other of [16, 1, 1]"))?;
    ensure_eq!(z.to_vec()?, data(64, 3).iter().map(|x| x + 24).collect::<Vec<_>>());
    Ok(())
}

#[kernel]
fn adds_up(i: Item, a: In<i32>, sum: Reduce<i32, Add>) {
    sum.give(a[i]);
}

#[kernel]
fn adds_sum(i: Item, sum: In<i32>, c: InOut<i32>) {
    c[i] += sum[0];
}

/// FUSE-13: a sum is complete when its launch ends.
fn a_reduction_is_apart_from_what_uses_it(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let a = rig.rt.buffer_from(data(N, 3))?;
    let (sum, c) = (rig.rt.buffer(1)?.into_shared(), rig.rt.buffer_from(data(N, 5))?.into_shared());
    graph.add(|cg| cg.run(N, adds_up(&a, &sum)))?;
    graph.add(|cg| cg.run(N, adds_sum(&sum, &c)))?;
    let refused = why(require(&graph))?;
    ensure!(refused.to_string().contains("the result of a reduction"), "{refused}");
    let run = enable(&graph)?;
    q.run_graph(&run)?.wait()?;
    let report = report(&run)?;
    ensure_eq!(report.launches_left, 2);
    ensure!(report.to_string().contains("the result of a reduction"), "{report}");
    let all: i32 = data(N, 3).iter().sum();
    ensure_eq!(c.to_vec()?, data(N, 5).iter().map(|x| x + all).collect::<Vec<_>>());
    Ok(())
}

/// FUSE-04: what is before the task is one launch, and what is after it another one.
fn a_task_in_the_middle_of_many_is_named(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let a = rig.rt.buffer_from(data(N, 3))?;
    let all = (0..4).map(|_| Ok(rig.rt.buffer(N)?.into_shared()));
    let all = all.collect::<folio_core::Result<Vec<_>>>()?;
    graph.add(|cg| cg.run(N, scales(2, &a, &all[0])))?;
    graph.add(|cg| cg.run(N, sums(&all[0], &a, &all[1])))?;
    graph.add(|cg| {
        let x = cg.label("between").read_write(&all[1]);
        cg.each_run().host_task(x, |mut x| x[5] = 7);
        Ok(())
    })?;
    graph.add(|cg| cg.run(N, scales(-1, &all[1], &all[2])))?;
    graph.add(|cg| cg.run(N, sums(&all[2], &all[0], &all[3])))?;
    let refused = why(require(&graph))?;
    ensure!(refused.to_string().contains("a host task"), "{refused}");
    let run = enable(&graph)?;
    ensure_eq!(launches(rig, &q, &run)?, 2);
    let report = report(&run)?;
    ensure_eq!((report.launches, report.launches_left), (4, 2));
    ensure!(report.to_string().contains("`between`, which is a host task"), "{report}");
    let wanted = |(k, x): (usize, &i32)| if k == 5 { 2 * x - 7 } else { -x };
    ensure_eq!(all[3].to_vec()?, data(N, 3).iter().enumerate().map(wanted).collect::<Vec<_>>());
    Ok(())
}
