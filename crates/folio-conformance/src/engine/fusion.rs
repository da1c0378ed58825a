//! Fused graphs: what becomes one launch, what does not and why, and that the results are those of
//! the kernels one after the other.

use super::graph_lists::has_graphs;
use super::graphs::{graph, why};
use super::rig::*;
use super::tests;
use folio::prelude::*;
use folio_core::{
    Cause, DeviceRef, Executable, Graph, Parameter, Result,
    error::GraphError,
    graph::{FinalizeOptions, FusionReport},
};

tests![
    a_recorded_chain_is_one_launch,
    a_fused_block_needs_no_memory_between_kernels,
    equal_graphs_compile_once,
    another_kernel_of_a_group_compiles_that_group_only,
    groups_meet_at_barriers,
    smaller_launches_run_under_guards,
    parts_and_dimensions_stay_apart,
    neighbours_are_not_fused,
    what_stands_between_kernels_is_named,
    copies_stand_before_and_after,
    graphs_within_graphs_are_fused_apart,
    exchanged_nodes_are_fused_anew,
    violations_name_the_original_kernel,
    what_outlives_a_run_is_no_temporary,
    fused_graphs_have_pictures,
];

#[kernel]
pub(super) fn sums(i: Item, a: In<i32>, b: In<i32>, c: Out<i32>) {
    c[i] = a[i] + b[i];
}

#[kernel]
pub(super) fn products(i: Item, a: In<i32>, b: In<i32>, c: Out<i32>) {
    c[i] = a[i] * b[i];
}

#[kernel]
pub(super) fn scales(i: Item, by: i32, a: In<i32>, c: Out<i32>) {
    c[i] = a[i] * by;
}

#[kernel]
pub(super) fn smooths_row(i: Item, a: In<f32>, c: Out<f32>) {
    let (k, n) = (i.index(), a.len());
    c[i] = if k == 0 || k + 1 == n { a[i] } else { (a[k - 1] + a[k + 1]) * 0.5 };
}

#[kernel]
pub(super) fn multiplies(i: Item, a: In<f32>, b: In<f32>, c: Out<f32>) {
    c[i] = a[i] * b[i];
}

#[kernel]
fn scales_2(i: Item<2>, by: i32, a: In<i32, 2>, c: Out<i32, 2>) {
    c[i] = a[i] * by;
}

#[kernel(group = 16)]
fn doubles_by_groups(g: Group, a: In<i32>, c: Out<i32>) {
    g.each(|i| c[i] = a[i] + a[i]);
}

/// Each item reads the element of another item of its group.
#[kernel(group = 16)]
fn mirrors(g: Group, a: In<i32>, c: Out<i32>) {
    g.each(|i| {
        let other = i.index() - i.local_index() + (15 - i.local_index());
        c[i] = a[other];
    });
}

#[kernel]
fn looks_up(i: Item, at: In<u32>, table: In<i32>, c: Out<i32>) {
    c[i] = table[at[i]];
}

/// 1000 items: more than a piece of a CPU's block, and no multiple of anything.
pub(super) const N: usize = 1000;

pub(super) fn data(n: usize, factor: i32) -> Vec<i32> {
    (0..n as i32).map(|k| k.wrapping_mul(factor) % 1009 - 300).collect()
}

/// Finalizes with fusion required.
pub(super) fn require(graph: &Graph) -> Result<Executable> {
    graph.finalize_with(FinalizeOptions::new().require_fusion())
}

/// Finalizes with fusion enabled.
pub(super) fn enable(graph: &Graph) -> Result<Executable> {
    graph.finalize_with(FinalizeOptions::new().enable_fusion())
}

pub(super) fn report(run: &Executable) -> Result<FusionReport, Stop> {
    run.fusion_report()?.ok_or_else(|| Stop::Failed("no report".into()))
}

/// Launches of one run, which has ended.
pub(super) fn launches(rig: &Rig, q: &Queue, run: &Executable) -> Result<u64, Stop> {
    let before = rig.rt.counters().launches;
    q.run_graph(run)?.wait()?;
    Ok(rig.rt.counters().launches - before)
}

/// The four kernels of the seed's first program, on buffers of which three are temporaries.
pub(super) struct Program {
    pub(super) inputs: [Vec<i32>; 3],
    pub(super) wanted: Vec<i32>,
}

impl Program {
    pub(super) fn new(n: usize) -> Program {
        let inputs = [data(n, 7), data(n, 11), data(n, 13)];
        let wanted = (0..n).map(|k| {
            let sum = inputs[0][k] + inputs[1][k];
            sum * inputs[2][k] + sum * 5
        });
        Program { wanted: wanted.collect(), inputs }
    }

    fn submit(
        &self,
        rt: &Runtime,
        q: &Queue,
        ins: &[Buffer<i32>],
        out: &Shared<i32>,
    ) -> Result<()> {
        let n = self.wanted.len();
        let mut all = [rt.buffer(n)?, rt.buffer(n)?, rt.buffer(n)?];
        let [sum, product, scaled] = &mut all;
        q.run(n, sums(&ins[0], &ins[1], &mut *sum))?;
        q.run(n, products(&*sum, &ins[2], &mut *product))?;
        q.run(n, scales(5, &*sum, &mut *scaled))?;
        q.run(n, sums(&*product, &*scaled, out)).map(drop)
    }

    pub(super) fn buffers(&self, rt: &Runtime) -> Result<(Vec<Buffer<i32>>, Shared<i32>)> {
        let ins = self.inputs.iter().map(|data| rt.buffer_from(data));
        Ok((ins.collect::<Result<_>>()?, rt.buffer(self.wanted.len())?.into_shared()))
    }
}

/// FUSE-01, FUSE-06, FUSE-12, FUSE-14: recorded, without one mark; and unfused.
fn a_recorded_chain_is_one_launch(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        ensure!(q.device().fuses(), "the device does not fuse");
        for n in [1, 64, N, 5003] {
            let program = Program::new(n);
            let (ins, out) = program.buffers(&rig.rt)?;
            let graph = rig.rt.graph(&q.device())?;
            let recording = graph.record(std::slice::from_ref(&q))?;
            program.submit(&rig.rt, &q, &ins, &out)?;
            drop(recording);
            for (run, count) in [(require(&graph)?, 1), (enable(&graph)?, 1)] {
                let before = rig.rt.counters().allocations;
                ensure_eq!(launches(rig, &q, &run)?, count);
                ensure_eq!(out.to_vec()?, program.wanted);
                let made = rig.rt.counters().allocations - before;
                // The inputs, the output, and what data is staged in; not one for a temporary.
                ensure!(made <= 5, "{made} allocations");
                let report = report(&run)?;
                ensure_eq!((report.launches, report.launches_left), (4, 1));
                let fates: Vec<_> = report.clusters[0].memories.iter().map(|m| m.fate).collect();
                ensure_eq!(fates, ["register"; 3]);
                q.fill(&out, 0)?;
                ensure_eq!(launches(rig, &q, &run)?, 1);
                ensure_eq!(out.to_vec()?, program.wanted);
            }
            let run = graph.finalize()?;
            ensure!(run.fusion_report()?.is_none(), "a report of nothing");
            q.fill(&out, 0)?;
            ensure_eq!(launches(rig, &q, &run)?, 4);
            ensure_eq!(out.to_vec()?, program.wanted);
        }
    }
    Ok(())
}

/// FUSE-12: a block of ordinary submissions.
fn a_fused_block_needs_no_memory_between_kernels(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let program = Program::new(N);
    let (ins, out) = program.buffers(&rig.rt)?;
    // Inputs and output are moved and allocated before.
    q.batch(|q| program.submit(&rig.rt, q, &ins, &out))?.1.wait()?;
    ensure_eq!((q.batch_report().kernels, q.batch_report().launches), (4, 4));
    let before = (rig.rt.counters(), q.device().fusion_counters());
    for nth in 1..4 {
        q.fill(&out, 0)?;
        q.batch_fused(|q| program.submit(&rig.rt, q, &ins, &out))?.1.wait()?;
        ensure_eq!((q.batch_report().kernels, q.batch_report().launches), (4, 1));
        let now = rig.rt.counters();
        ensure_eq!(now.launches - before.0.launches, nth);
        ensure_eq!(now.allocations, before.0.allocations);
    }
    let now = q.device().fusion_counters();
    ensure_eq!(now.plans - before.1.plans, 1);
    // Where the device keeps a block that comes again, the third one asks nothing about fusion.
    let asked = (now.kernels - before.1.kernels, now.found - before.1.found);
    ensure!([(3, 2), (2, 1)].contains(&asked), "{asked:?}");
    ensure_eq!(out.to_vec()?, program.wanted);
    // An error in the block submits nothing.
    let before = rig.rt.counters();
    let result: Result<_> = q.batch_fused(|q| {
        program.submit(&rig.rt, q, &ins, &out)?;
        q.fill(out.slice_mut([1], [N])?, 0)
    });
    refused!(result, folio_core::Error::OutOfRange { .. });
    ensure_eq!(rig.rt.counters(), before);
    Ok(())
}

/// FUSE-08: by content, whatever the buffers, the ranges and the scalars.
fn equal_graphs_compile_once(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let of = |n: usize, by: i32| -> Result<(Executable, Shared<i32>, Vec<i32>), Stop> {
        let (from, out) = (data(n, 3), rig.rt.buffer(n)?.into_shared());
        let a = rig.rt.buffer_from(&from)?;
        let graph = rig.rt.graph(&q.device())?;
        let recording = graph.record(std::slice::from_ref(&q))?;
        let mut between = rig.rt.buffer(n)?;
        q.run(n, scales(by, &a, &mut between))?;
        q.run(n, sums(&between, &a, &out))?;
        drop((recording, between));
        let wanted = from.iter().map(|x| x * by + x).collect();
        Ok((require(&graph)?, out, wanted))
    };
    let counters = |device: &DeviceRef| {
        let counters = device.fusion_counters();
        (counters.kernels, counters.found, counters.compiled)
    };
    let none = counters(&q.device());
    let first = of(N, 2)?;
    let one = counters(&q.device());
    ensure_eq!((one.0 - none.0, one.1 - none.1), (1, 0));
    let others = [of(N, 2)?, of(77, 9)?, of(4096, -4)?];
    let all = counters(&q.device());
    ensure_eq!((all.0 - one.0, all.1 - one.1, all.2), (3, 3, one.2));
    for (run, out, wanted) in others.iter().chain([&first]) {
        ensure_eq!(launches(rig, &q, run)?, 1);
        ensure_eq!(out.to_vec()?, *wanted);
    }
    Ok(())
}

/// FUSE-08: two groups in a graph, one of which gets another kernel.
fn another_kernel_of_a_group_compiles_that_group_only(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let a = rig.rt.buffer_from(data(N, 7))?;
    // The sub-graphs are fused apart.
    let of = |adds: bool| -> Result<(Executable, [Shared<i32>; 2])> {
        let outs = [rig.rt.buffer(N)?.into_shared(), rig.rt.buffer(N)?.into_shared()];
        let graph = rig.rt.graph(&q.device())?;
        for (nth, out) in outs.iter().enumerate() {
            let part = rig.rt.graph(&q.device())?;
            let recording = part.record(std::slice::from_ref(&q))?;
            let mut between = rig.rt.buffer(N)?;
            q.run(N, scales(3, &a, &mut between))?;
            match (nth, adds) {
                (0, _) => q.run(N, products(&between, &between, out))?,
                (_, true) => q.run(N, sums(&between, &a, out))?,
                (_, false) => q.run(N, products(&between, &a, out))?,
            };
            drop((recording, between));
            graph.add_graph(&[], &part.finalize()?)?;
        }
        Ok((require(&graph)?, outs))
    };
    let counted = || q.device().fusion_counters();
    let mut results = vec![];
    let mut made = vec![];
    for adds in [true, false, true] {
        let before = counted();
        let (run, outs) = of(adds)?;
        ensure_eq!(launches(rig, &q, &run)?, 2);
        let after = counted();
        made.push((after.kernels - before.kernels, after.found - before.found));
        results.push(outs[1].to_vec()?);
    }
    // The cases of this suite have one runtime each.
    ensure_eq!(made, [(2, 0), (2, 1), (2, 2)]);
    let sum = data(N, 7).iter().map(|x| 3 * x + x).collect::<Vec<_>>();
    let product = data(N, 7).iter().map(|x| 3 * x * x).collect::<Vec<_>>();
    ensure_eq!(results, [sum.clone(), product, sum]);
    Ok(())
}

/// FUSE-02, FUSE-06: a reversed index in the group is right with a barrier, and refused without.
fn groups_meet_at_barriers(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let n = 160;
    let from = data(n, 5);
    let (a, out) = (rig.rt.buffer_from(&from)?, rig.rt.buffer(n)?.into_shared());
    let graph = rig.rt.graph(&q.device())?;
    let recording = graph.record(std::slice::from_ref(&q))?;
    let mut between = rig.rt.buffer(n)?;
    q.run(n, doubles_by_groups(&a, &mut between))?;
    q.run(n, mirrors(&between, &out))?;
    drop((recording, between));
    let wanted: Vec<i32> = (0..n).map(|k| 2 * from[k - k % 16 + 15 - k % 16]).collect();
    let without = why(require(&graph))?;
    ensure!(without.to_string().contains("insert_barriers"), "{without}");
    let apart = enable(&graph)?;
    ensure_eq!(launches(rig, &q, &apart)?, 2);
    ensure_eq!(out.to_vec()?, wanted);
    q.fill(&out, 0)?;
    let run = graph.finalize_with(FinalizeOptions::new().require_fusion().insert_barriers())?;
    ensure_eq!(launches(rig, &q, &run)?, 1);
    ensure_eq!(out.to_vec()?, wanted);
    ensure_eq!(report(&run)?.clusters[0].memories[0].fate, "local");
    // Without one of the other two it has no effect.
    let alone = graph.finalize_with(FinalizeOptions::new().insert_barriers())?;
    ensure_eq!(launches(rig, &q, &alone)?, 2);
    Ok(())
}

/// FUSE-04, FUSE-08: a launch of fewer items, on a part of what the first one writes.
fn smaller_launches_run_under_guards(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    for less in [N - 1, 700, 1] {
        let from = data(N, 17);
        let a = rig.rt.buffer_from(&from)?;
        let (y, z) = (rig.rt.buffer(N)?.into_shared(), rig.rt.buffer_from(&[-1; N])?.into_shared());
        let graph = rig.rt.graph(&q.device())?;
        graph.add(|cg| cg.run(N, scales(3, &a, &y)))?;
        graph.add(|cg| cg.run(less, sums(&y, &a, &z)))?;
        let run = require(&graph)?;
        ensure_eq!(launches(rig, &q, &run)?, 1);
        let wanted = |k: usize| if k < less { 4 * from[k] } else { -1 };
        ensure_eq!(z.to_vec()?, (0..N).map(wanted).collect::<Vec<_>>());
        ensure_eq!(y.to_vec()?, from.iter().map(|x| 3 * x).collect::<Vec<_>>());
    }
    Ok(())
}

/// FUSE-04, FUSE-06: slices, offsets and dimensions.
fn parts_and_dimensions_stay_apart(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    // Two dimensions, on parts of larger buffers.
    let (rows, columns) = (13, 37);
    let from: Vec<i32> = data(20 * 40, 7);
    let a = rig.rt.buffer_from((&from, [20, 40]))?;
    let out = rig.rt.buffer_from((&[0; 800], [20, 40]))?.into_shared();
    let graph = rig.rt.graph(&q.device())?;
    let recording = graph.record(std::slice::from_ref(&q))?;
    let mut between = rig.rt.buffer([rows, columns])?;
    let part = a.slice([2, 3], [rows, columns])?;
    q.run([rows, columns], scales_2(3, part, &mut between))?;
    let part = out.slice_mut([5, 1], [rows, columns])?;
    q.run([rows, columns], scales_2(-2, &between, part))?;
    drop((recording, between));
    let run = require(&graph)?;
    ensure_eq!(launches(rig, &q, &run)?, 1);
    let mut wanted = vec![0; 800];
    for (r, c) in (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))) {
        wanted[(5 + r) * 40 + 1 + c] = -6 * from[(2 + r) * 40 + 3 + c];
    }
    ensure_eq!(out.to_vec()?, wanted);
    // An offset of one of them.
    let (a, y) = (rig.rt.buffer_from(data(N, 3))?, rig.rt.buffer(N)?.into_shared());
    let graph = rig.rt.graph(&q.device())?;
    graph.add(|cg| cg.run(N, scales(2, &a, &y)))?;
    graph.add(|cg| cg.run(5..N, scales(4, &a, &y)))?;
    let refused = why(require(&graph))?;
    ensure!(matches!(refused, GraphError::KernelNotSupported { .. }), "{refused}");
    ensure_eq!(launches(rig, &q, &enable(&graph)?)?, 2);
    let factor = |k: usize| if k < 5 { 2 } else { 4 };
    let wanted = data(N, 3).iter().enumerate().map(|(k, x)| x * factor(k)).collect::<Vec<_>>();
    ensure_eq!(y.to_vec()?, wanted);
    Ok(())
}

/// FUSE-11: a neighbour's read is not fused with its producer, and the reason says so.
fn neighbours_are_not_fused(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let values: Vec<f32> = (0..N).map(|k| (k as f32).sqrt()).collect();
    let (a, b) = (rig.rt.buffer_from(&values)?, rig.rt.buffer_from(vec![2f32; N])?);
    let out = rig.rt.buffer::<f32, 1>(N)?.into_shared();
    let graph = rig.rt.graph(&q.device())?;
    let recording = graph.record(std::slice::from_ref(&q))?;
    let mut between = rig.rt.buffer(N)?;
    q.run(N, multiplies(&a, &b, &mut between))?;
    q.run(N, smooths_row(&between, &out))?;
    drop((recording, between));
    let refused = why(require(&graph))?;
    ensure!(matches!(refused, GraphError::KernelNotSupported { .. }), "{refused}");
    ensure!(refused.to_string().contains("multiplies"), "{refused}");
    let run = enable(&graph)?;
    ensure_eq!(launches(rig, &q, &run)?, 2);
    let report = report(&run)?;
    ensure_eq!((report.launches, report.launches_left, report.unfused.len()), (2, 2, 1));
    ensure_eq!(report.unfused[0].second, "smooths_row");
    let smooth = |k: usize| match k == 0 || k + 1 == N {
        true => 2.0 * values[k],
        false => (2.0 * values[k - 1] + 2.0 * values[k + 1]) * 0.5,
    };
    ensure_eq!(out.to_vec()?, (0..N).map(smooth).collect::<Vec<_>>());
    Ok(())
}

/// FUSE-01, FUSE-04: a host task between two kernels.
fn what_stands_between_kernels_is_named(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let a = rig.rt.buffer_from(data(64, 3))?;
    let (y, z) = (rig.rt.buffer(64)?.into_shared(), rig.rt.buffer(64)?.into_shared());
    graph.add(|cg| cg.run(64, scales(2, &a, &y)))?;
    graph.add(|cg| {
        let mut part = y.slice_mut([0], [1])?;
        let y = cg.label("between").read_write(&mut part);
        cg.each_run().host_task(y, |mut y| y[0] = 7);
        Ok(())
    })?;
    graph.add(|cg| cg.run(64, scales(3, &y, &z)))?;
    let refused = why(require(&graph))?;
    ensure!(refused.to_string().contains("host task"), "{refused}");
    let run = enable(&graph)?;
    ensure_eq!(launches(rig, &q, &run)?, 2);
    let report = report(&run)?;
    ensure!(report.to_string().contains("host task"), "{report}");
    ensure!(report.json().contains("\"launches_left\":2"), "{}", report.json());
    let mut wanted: Vec<i32> = data(64, 3).iter().map(|x| x * 6).collect();
    wanted[0] = 21;
    ensure_eq!(z.to_vec()?, wanted);
    Ok(())
}

/// FUSE-03, FUSE-04: the seed's second program, in which copies surround the kernels.
fn copies_stand_before_and_after(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let inputs = [data(512, 3), data(512, 5), data(512, 9)];
    let hosts = inputs.iter().map(|data| rig.rt.buffer_from(data)).collect::<Result<Vec<_>>>()?;
    let mut devices = (0..3).map(|_| rig.rt.buffer(512)).collect::<Result<Vec<_>>>()?;
    let (out, end) = (rig.rt.buffer(512)?.into_shared(), rig.rt.buffer(512)?.into_shared());
    let recording = graph.record(std::slice::from_ref(&q))?;
    let mut between = rig.rt.buffer(512)?;
    q.copy(&hosts[0], &mut devices[0])?;
    q.copy(&hosts[1], &mut devices[1])?;
    q.run(512, sums(&devices[0], &devices[1], &mut between))?;
    q.copy(&hosts[2], &mut devices[2])?;
    q.run(512, products(&between, &devices[2], &out))?;
    q.copy(&out, &end)?;
    drop((recording, between));
    let run = require(&graph)?;
    ensure_eq!(launches(rig, &q, &run)?, 1);
    let wanted = (0..512).map(|k| (inputs[0][k] + inputs[1][k]) * inputs[2][k]);
    ensure_eq!(end.to_vec()?, wanted.collect::<Vec<_>>());
    Ok(())
}

/// FUSE-01: sub-graphs are how a device-wide barrier is had.
fn graphs_within_graphs_are_fused_apart(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let a = rig.rt.buffer_from(data(N, 3))?;
    let all = (0..4).map(|_| Ok(rig.rt.buffer(N)?.into_shared())).collect::<Result<Vec<_>>>()?;
    let inner =
        |from: &Shared<i32>, middle: &Shared<i32>, to: &Shared<i32>| -> Result<Executable> {
            let graph = rig.rt.graph(&q.device())?;
            graph.add(|cg| cg.run(N, scales(3, from, middle)))?;
            graph.add(|cg| cg.run(N, scales(-2, middle, to)))?;
            graph.finalize()
        };
    graph.add(|cg| cg.copy(&a, &all[0]))?;
    graph.add_graph(&[], &inner(&all[0], &all[1], &all[2])?)?;
    graph.add_graph(&[], &inner(&all[2], &all[3], &all[1])?)?;
    graph.add(|cg| cg.run(N, scales(5, &all[1], &all[0])))?;
    let run = require(&graph)?;
    ensure_eq!(launches(rig, &q, &run)?, 3);
    let report = report(&run)?;
    ensure_eq!((report.launches, report.launches_left), (5, 3));
    let want = data(N, 3).iter().map(|x| x * 180).collect::<Vec<_>>();
    ensure_eq!(all[0].to_vec()?, want);
    // GRAPH-03: no check is left in them, so they are commands as others are.
    for _ in 0..2 {
        q.run_graph(&run)?.wait()?;
    }
    let told = run.replay_report();
    let has = has_graphs(&run.device());
    ensure!(told.why_not().is_none() || !has, "{told:?}");
    ensure_eq!(all[0].to_vec()?, want);
    Ok(())
}

/// GRAPH-03, FUSE-08: other scalars, buffers and ranges, by parameters and by node.
fn exchanged_nodes_are_fused_anew(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let a = rig.rt.buffer_from(data(N, 3))?.into_shared();
    let all = (0..3).map(|_| Ok(rig.rt.buffer(N)?.into_shared())).collect::<Result<Vec<_>>>()?;
    let (by, n) = (Parameter::new(2), Parameter::new(N));
    let read = (by.clone(), n.clone(), a.clone(), all[0].clone());
    graph.add_updatable(&[], move |cg| {
        let (by, n) = (cg.parameter(&read.0), cg.parameter(&read.1));
        cg.run(n, scales(by, &read.2, &read.3));
        Ok(())
    })?;
    let node = graph.add(|cg| cg.run(N, sums(&all[0], &a, &all[1])))?;
    let run = enable(&graph)?;
    let from = data(N, 3);
    let scaled = |by: i32| from.iter().map(|x| x * by).collect::<Vec<i32>>();
    ensure_eq!(launches(rig, &q, &run)?, 1);
    ensure_eq!(all[1].to_vec()?, scaled(3));
    let compiled = q.device().fusion_counters().compiled;
    by.set(10);
    ensure_eq!(launches(rig, &q, &run)?, 1);
    ensure_eq!((all[0].to_vec()?, all[1].to_vec()?), (scaled(10), scaled(11)));
    ensure_eq!(q.device().fusion_counters().compiled, compiled);
    // Fewer items than the other kernel has.
    by.set(1);
    n.set(10);
    ensure_eq!(launches(rig, &q, &run)?, report(&run)?.launches_left as u64);
    ensure_eq!(all[1].to_vec()?[..10], scaled(2)[..10]);
    ensure_eq!(all[1].to_vec()?[10..], scaled(11)[10..]);
    // Another buffer.
    n.set(N);
    run.update(node, |cg| cg.run(N, sums(&all[0], &a, &all[2])))?;
    ensure_eq!(launches(rig, &q, &run)?, 1);
    ensure_eq!(all[2].to_vec()?, scaled(2));
    Ok(())
}

/// FUSE-11: the kernel and the parameter, and not those of the fused kernel.
fn violations_name_the_original_kernel(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let mut at: Vec<u32> = (0..64).collect();
    at[40] = 64;
    let (at, table) = (rig.rt.buffer_from(&at)?, rig.rt.buffer_from(data(64, 3))?);
    let (y, z) = (rig.rt.buffer(64)?.into_shared(), rig.rt.buffer(64)?.into_shared());
    graph.add(|cg| cg.run(64, scales(2, &table, &y)))?;
    graph.add(|cg| cg.run(64, looks_up(&at, &table, &z)))?;
    let run = require(&graph)?;
    let failure = failure(q.run_graph(&run)?.wait())?;
    let Cause::Kernel(violation) = failure.cause() else {
        return Err(Stop::Failed(format!("{failure}")));
    };
    ensure_eq!(violation.kernel, "looks_up");
    ensure!(violation.to_string().contains("`table`"), "{violation}");
    ensure!(violation.site.file.ends_with("fusion.rs"), "{violation:?}");
    Ok(())
}

/// FUSE-12: what a run reads before it writes it is from the run before, whoever has handles.
fn what_outlives_a_run_is_no_temporary(rig: &Rig) -> Outcome {
    let (q, graph) = graph(rig)?;
    let out = rig.rt.buffer(64)?.into_shared();
    let recording = graph.record(std::slice::from_ref(&q))?;
    let mut sum = rig.rt.buffer_from(&[0; 64])?;
    q.run(64, adds(3, &mut sum))?;
    q.run(64, scales(2, &sum, &out))?;
    drop((recording, sum));
    let run = require(&graph)?;
    for nth in 1..4 {
        ensure_eq!(launches(rig, &q, &run)?, 1);
        ensure_eq!(out.to_vec()?, [6 * nth; 64]);
    }
    // A handle that is left sees what the run left.
    let seen = rig.rt.buffer(64)?.into_shared();
    let graph = rig.rt.graph(&q.device())?;
    graph.add(|cg| cg.run(64, scales(4, &out, &seen)))?;
    let other = rig.rt.buffer(64)?.into_shared();
    graph.add(|cg| cg.run(64, scales(2, &seen, &other)))?;
    let run = require(&graph)?;
    ensure_eq!(launches(rig, &q, &run)?, 1);
    ensure_eq!((seen.to_vec()?, other.to_vec()?), (vec![72; 64], vec![144; 64]));
    Ok(())
}

/// FUSE-10
fn fused_graphs_have_pictures(rig: &Rig) -> Outcome {
    let (_q, graph) = graph(rig)?;
    let a = rig.rt.buffer_from(data(64, 3))?;
    let y = rig.rt.buffer_with([64], BufferOptions::new().label("between"))?.into_shared();
    let z = rig.rt.buffer(64)?.into_shared();
    graph.label("picture");
    graph.add(|cg| cg.fill(&y, 0))?;
    graph.add(|cg| cg.run(64, scales(2, &a, &y)))?;
    graph.add(|cg| cg.run(64, scales(3, &y, &z)))?;
    let dot = require(&graph)?.dot()?;
    let wants = [
        "subgraph cluster_1 {\n  label=\"fused `scales+scales`\\n`between`: forwarded, 256 bytes \
         saved; its contents are needed afterwards\";",
        "n1 [label=\"1: kernel `scales`\"];",
        "n1 -> n2 [style=dashed];",
    ];
    for want in wants {
        ensure!(dot.contains(want), "{dot} has no {want}");
    }
    // Commands that are not fused are in a note, with the reason.
    ensure!(!dot.contains("shape=note"), "{dot}");
    graph.add(|cg| {
        let (x, to) = (y.slice([1], [63])?, z.slice_mut([0], [63])?);
        cg.run(63, scales(2, &x, to));
        Ok(())
    })?;
    let dot = enable(&graph)?.dot()?;
    let want = "[shape=note, label=\"not fused: `scales` and `scales`: ";
    ensure!(dot.contains(want), "{dot} has no {want}");
    Ok(())
}
