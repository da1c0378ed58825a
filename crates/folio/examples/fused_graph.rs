//! Fusion: the first program of the proposal SYCL_EXT_ONEAPI_GRAPH_FUSION, in which four kernels
//! become one launch. Three buffers pass data between the kernels, and none of them gets memory:
//! nothing but the graph has a handle of theirs, so no property has to say it.
#![forbid(unsafe_code)]

use folio::prelude::*;
use folio::{Executable, graph::FinalizeOptions};

#[kernel]
fn adds(i: Item, in1: In<i32>, in2: In<i32>, out: Out<i32>) {
    out[i] = in1[i] + in2[i];
}

#[kernel]
fn kernel_one(i: Item, tmp1: In<i32>, in3: In<i32>, tmp2: Out<i32>) {
    tmp2[i] = tmp1[i] * in3[i];
}

#[kernel]
fn kernel_two(i: Item, tmp1: In<i32>, tmp3: Out<i32>) {
    tmp3[i] = tmp1[i] * 5;
}

const SIZE: usize = 512;

/// Records the program with these buffers.
fn recorded(q: &Queue, ins: &[Buffer<i32>; 3], out: &mut Buffer<i32>) -> folio::Result<Executable> {
    let rt = q.runtime();
    let graph = rt.graph(&q.device())?;
    let recording = graph.record(std::slice::from_ref(q))?;
    let (mut tmp1, mut tmp2, mut tmp3) = (rt.buffer(SIZE)?, rt.buffer(SIZE)?, rt.buffer(SIZE)?);
    q.run(SIZE, adds(&ins[0], &ins[1], &mut tmp1))?;
    q.run(SIZE, kernel_one(&tmp1, &ins[2], &mut tmp2))?;
    q.run(SIZE, kernel_two(&tmp1, &mut tmp3))?;
    q.run(SIZE, adds(&tmp2, &tmp3, out))?;
    drop((recording, tmp1, tmp2, tmp3));
    // An error, if the four cannot be one launch.
    graph.finalize_with(FinalizeOptions::new().require_fusion())
}

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let q = rt.queue()?;
    let data = |factor: i32| (0..SIZE as i32).map(|k| k * factor).collect::<Vec<_>>();
    let ins = [rt.buffer_from(data(1))?, rt.buffer_from(data(2))?, rt.buffer_from(data(3))?];
    let mut out = rt.buffer(SIZE)?;

    let fused = recorded(&q, &ins, &mut out)?;
    q.run_graph(&fused)?.wait()?;
    if let Some(report) = fused.fusion_report()? {
        print!("{}: {report}", q.device().name());
    }

    assert_eq!(rt.counters().launches, 1);
    let wanted = |k: i32| (k + 2 * k) * 3 * k + (k + 2 * k) * 5;
    assert_eq!(out.to_vec()?, (0..SIZE as i32).map(wanted).collect::<Vec<_>>());
    Ok(())
}
