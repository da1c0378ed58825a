//! Marks: what a program says of memory that passes data between fused kernels.

use super::fusion::*;
use super::graphs::why;
use super::rig::*;
use super::tests;
use folio::prelude::*;
use folio_core::{
    Result, UsmKind,
    buffer::Marks,
    error::GraphError,
    graph::{AccessScope, FinalizeOptions, Replay},
};

tests![
    marked_memory_is_internal,
    marks_are_checked,
    marked_pointers_are_internal,
    internal_memory_is_as_never_written_after_a_run,
    marks_of_parts_leave_the_memory_as_it_is,
];

#[kernel]
fn accumulates(i: Item, a: In<i32>, x: InOut<i32>) {
    x[i] += a[i];
}

#[kernel(group = 64)]
fn sums_by_groups(g: Group, a: In<i32>, b: In<i32>, c: Out<i32>) {
    g.each(|i| c[i] = a[i] + b[i]);
}

#[kernel(group = 64)]
fn products_by_groups(g: Group, a: In<i32>, b: In<i32>, c: Out<i32>) {
    g.each(|i| c[i] = a[i] * b[i]);
}

/// FUSE-05, FUSE-06: memory of which the program has handles, by marks of buffers and of arguments.
fn marked_memory_is_internal(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let program = Program::new(N);
    let marks = Marks::new().access_scope(AccessScope::Item).internal_memory().no_init();
    let (ins, out) = program.buffers(&rig.rt)?;
    let mut all = (0..3).map(|_| rig.rt.buffer(N)).collect::<Result<Vec<Buffer<i32>>>>()?;
    all[1].mark(marks);
    all[2].mark(marks);
    let [sum, product, scaled] = &mut all[..] else { unreachable!() };
    let graph = rig.rt.graph(&q.device())?;
    graph.add(|cg| cg.run(N, sums(&ins[0], &ins[1], marks.on(&mut *sum))))?;
    graph.add(|cg| cg.run(N, products(marks.on(&*sum), &ins[2], &mut *product)))?;
    graph.add(|cg| cg.run(N, scales(5, marks.on(&*sum), &mut *scaled)))?;
    graph.add(|cg| cg.run(N, sums(&*product, &*scaled, &out)))?;
    let run = require(&graph)?;
    ensure_eq!(launches(rig, &q, &run)?, 1);
    ensure_eq!(out.to_vec()?, program.wanted);
    let fates: Vec<_> = report(&run)?.clusters[0].memories.iter().map(|m| m.fate).collect();
    ensure_eq!(fates, ["register"; 3]);
    for buffer in &all {
        ensure_eq!(buffer.counters().allocations, 0);
    }
    // An argument without the mark: its contents are needed.
    let [sum, ..] = &mut all[..] else { unreachable!() };
    let graph = rig.rt.graph(&q.device())?;
    graph.add(|cg| cg.run(N, sums(&ins[0], &ins[1], marks.on(&mut *sum))))?;
    graph.add(|cg| cg.run(N, sums(&*sum, &ins[2], &out)))?;
    let run = require(&graph)?;
    ensure_eq!(launches(rig, &q, &run)?, 1);
    ensure!(report(&run)?.clusters[0].memories[0].fate != "register", "{}", report(&run)?);
    let wanted = (0..N).map(|k| program.inputs[0][k] + program.inputs[1][k]);
    ensure_eq!(sum.to_vec()?, wanted.collect::<Vec<_>>());
    Ok(())
}

/// FUSE-05, FUSE-11: marks that contradict each other, and marks that are wrong.
fn marks_are_checked(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let (item, group) = (AccessScope::Item, AccessScope::Group);
    let a = rig.rt.buffer_from(data(64, 3))?;
    let (mut y, z) = (rig.rt.buffer(64)?, rig.rt.buffer(64)?.into_shared());
    for (of_buffer, of_argument) in [(item, group), (group, item)] {
        y.mark(Marks::new().access_scope(of_buffer));
        let graph = rig.rt.graph(&q.device())?;
        let marks = Marks::new().access_scope(of_argument);
        graph.add(|cg| cg.run(64, scales(2, &a, marks.on(&mut y))))?;
        graph.add(|cg| cg.run(64, scales(2, &y, &z)))?;
        let refused = why(require(&graph))?;
        ensure!(matches!(refused, GraphError::WrongMark { .. }), "{refused}");
        let run = enable(&graph)?;
        ensure_eq!(launches(rig, &q, &run)?, 2);
        let reason = report(&run)?.to_string();
        let told = format!("an access of {of_argument} scope to a buffer of {of_buffer} scope");
        ensure!(reason.contains(&told), "{reason}");
        let wanted: Vec<_> = data(64, 3).iter().map(|x| 4 * x).collect();
        ensure_eq!(z.to_vec()?, wanted);
        q.run_graph(&graph.finalize()?)?.wait()?;
    }
    // Items read elements of their neighbours.
    let mut y = rig.rt.buffer_from(&[1f32; 64])?;
    y.mark(Marks::new().access_scope(item));
    let z = rig.rt.buffer::<f32, 1>(64)?.into_shared();
    let graph = rig.rt.graph(&q.device())?;
    graph.add(|cg| cg.run(64, multiplies(&z, &z, &mut y)))?;
    graph.add(|cg| cg.run(64, smooths_row(&y, &z)))?;
    let refused = why(require(&graph))?;
    ensure!(matches!(refused, GraphError::WrongMark { .. }), "{refused}");
    let run = enable(&graph)?;
    ensure_eq!(launches(rig, &q, &run)?, 2);
    ensure!(!report(&run)?.refuted.is_empty(), "{}", report(&run)?);
    Ok(())
}

/// FUSE-05, FUSE-09: the seed's second program: device memory by pointers, work-group scope.
fn marked_pointers_are_internal(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let n = 512;
    let inputs = [data(n, 3), data(n, 5), data(n, 9)];
    let hosts = inputs.iter().map(|data| rig.rt.buffer_from(data)).collect::<Result<Vec<_>>>()?;
    let device = || rig.rt.usm::<i32>(&q.device(), UsmKind::Device, n);
    let (mut ins, mut between) = ([device()?, device()?, device()?], device()?);
    let (mut out, mut end) = (device()?, rig.rt.buffer(n)?);
    between.mark(Marks::new().access_scope(AccessScope::Group).internal_memory().no_init());
    let graph = rig.rt.graph(&q.device())?;
    let [in1, in2, in3] = &mut ins;
    let first = graph.add(|cg| cg.copy(&hosts[0], &mut *in1))?;
    let second = graph.add(|cg| cg.copy(&hosts[1], &mut *in2))?;
    let sum = |cg: &mut CommandGroup| cg.run(n, sums_by_groups(&*in1, &*in2, &mut between));
    let kernel = graph.add_after(&[first, second], sum)?;
    let third = graph.add(|cg| cg.copy(&hosts[2], &mut *in3))?;
    let product = |cg: &mut CommandGroup| cg.run(n, products_by_groups(&between, &*in3, &mut out));
    let kernel = graph.add_after(&[third, kernel], product)?;
    graph.add_after(&[kernel], |cg| cg.copy(&out, &mut end))?;
    let run = require(&graph)?;
    ensure_eq!(launches(rig, &q, &run)?, 1);
    let wanted = (0..n).map(|k| (inputs[0][k] + inputs[1][k]) * inputs[2][k]);
    ensure_eq!(end.to_vec()?, wanted.collect::<Vec<_>>());
    let report = report(&run)?;
    ensure!(report.clusters[0].memories.iter().any(|m| m.fate == "register"), "{report}");
    Ok(())
}

/// FUSE-06, BUF-07: fused or not, by runs, whole runs and batches. The first run finds what the
/// program has written, and later ones find zeros. The program finds zeros, too.
fn internal_memory_is_as_never_written_after_a_run(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let a = data(N, 7);
    let input = rig.rt.buffer_from(&a)?;
    let wanted = |before: i32| a.iter().map(|a| 5 * (before + a)).collect::<Vec<_>>();
    let plain = FinalizeOptions::new();
    for options in [plain, plain.enable_fusion(), plain.require_fusion()] {
        for (by_argument, lists) in [(false, true), (true, true), (false, false)] {
            let internal = Marks::new().internal_memory();
            let marks = if by_argument { internal } else { Marks::new() };
            let mut x = rig.rt.buffer_from(&[7; N])?;
            if !by_argument {
                x.mark(internal);
            }
            let out = rig.rt.buffer(N)?.into_shared();
            let graph = rig.rt.graph(&q.device())?;
            graph.add(|cg| cg.run(N, accumulates(&input, marks.on(&mut x))))?;
            graph.add(|cg| cg.run(N, scales(5, marks.on(&x), &out)))?;
            let run = graph.finalize_with(options)?;
            run.replay_as(if lists { Replay::Lists } else { Replay::Commands });
            for before in [7, 0, 0] {
                q.run_graph(&run)?;
                ensure_eq!(out.to_vec()?, wanted(before));
                ensure_eq!(x.to_vec()?, [0; N]);
            }
            q.run_graph(&run)?;
            q.run_graph(&run)?.wait()?;
            ensure_eq!(out.to_vec()?, wanted(0));
            let copied = rig.rt.buffer(N)?.into_shared();
            q.copy(&x, &copied)?;
            ensure_eq!(copied.to_vec()?, [0; N]);
        }
    }
    let mut x = rig.rt.buffer_from(&[7; N])?;
    x.mark(Marks::new().internal_memory());
    let out = rig.rt.buffer(N)?.into_shared();
    for before in [7, 0] {
        q.batch(|q| {
            q.run(N, accumulates(&input, &mut x))?;
            q.run(N, scales(5, &x, &out))
        })?;
        ensure_eq!(out.to_vec()?, wanted(before));
        q.batch_fused(|q| {
            q.run(N, accumulates(&input, &mut x))?;
            q.run(N, scales(5, &x, &out))
        })?;
        ensure_eq!(out.to_vec()?, wanted(0));
        ensure_eq!(x.to_vec()?, [0; N]);
    }
    Ok(())
}

/// FUSE-06: the mark of an argument that is a part says nothing of what is beside it, so the memory
/// is not internal; neither is it if one argument has no mark.
fn marks_of_parts_leave_the_memory_as_it_is(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let (a, internal) = (data(N, 7), Marks::new().internal_memory());
    let input = rig.rt.buffer_from(&a)?;
    for options in [FinalizeOptions::new(), FinalizeOptions::new().require_fusion()] {
        let (mut x, mut y) = (rig.rt.buffer_from(&[7; 2 * N])?, rig.rt.buffer_from(&[7; N])?);
        let outs = [rig.rt.buffer(N)?.into_shared(), rig.rt.buffer(N)?.into_shared()];
        let graph = rig.rt.graph(&q.device())?;
        let part = internal.on(x.slice_mut([N], [N])?);
        graph.add(|cg| cg.run(N, accumulates(&input, part)))?;
        let part = internal.on(x.slice([N], [N])?);
        graph.add(|cg| cg.run(N, scales(5, part, &outs[0])))?;
        graph.add(|cg| cg.run(N, accumulates(&input, internal.on(&mut y))))?;
        graph.add(|cg| cg.run(N, scales(5, &y, &outs[1])))?;
        let run = graph.finalize_with(options)?;
        q.run_graph(&run)?;
        let sums: Vec<i32> = a.iter().map(|a| 7 + a).collect();
        ensure_eq!(x.to_vec()?, [vec![7; N], sums.clone()].concat());
        ensure_eq!(y.to_vec()?, sums);
    }
    Ok(())
}
