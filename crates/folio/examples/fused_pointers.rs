//! Fusion: the second program of the proposal SYCL_EXT_ONEAPI_GRAPH_FUSION, over device memory
//! that stays where it is. Copies stand before and after the two kernels, which are one launch. The
//! program keeps the allocation between them, so marks say that its contents are not needed.
#![forbid(unsafe_code)]

use folio::prelude::*;
use folio::{
    UsmKind,
    buffer::Marks,
    graph::{AccessScope, FinalizeOptions},
};

#[kernel(group = 64)]
fn kernel_one(g: Group, in1: In<i32>, in2: In<i32>, tmp: Out<i32>) {
    g.each(|i| tmp[i] = in1[i] + in2[i]);
}

#[kernel(group = 64)]
fn kernel_two(g: Group, tmp: In<i32>, in3: In<i32>, out: Out<i32>) {
    g.each(|i| out[i] = tmp[i] * in3[i]);
}

const SIZE: usize = 512;

fn main() -> folio::Result<()> {
    let rt = folio::runtime()?;
    let q = rt.queue()?;
    let data = |factor: i32| (0..SIZE as i32).map(|k| k * factor).collect::<Vec<_>>();
    let (in1, in2) = (rt.buffer_from(data(1))?, rt.buffer_from(data(2))?);
    let (in3, mut out) = (rt.buffer_from(data(3))?, rt.buffer(SIZE)?);

    let device = || rt.usm::<i32>(&q.device(), UsmKind::Device, SIZE);
    let (mut d_in1, mut d_in2, mut d_in3) = (device()?, device()?, device()?);
    let (mut d_tmp, mut d_out) = (device()?, device()?);
    d_tmp.mark(Marks::new().access_scope(AccessScope::Group).internal_memory().no_init());

    let graph = rt.graph(&q.device())?;
    let copy1 = graph.add(|cg| cg.copy(&in1, &mut d_in1))?;
    let copy2 = graph.add(|cg| cg.copy(&in2, &mut d_in2))?;
    let kernel1 = graph
        .add_after(&[copy1, copy2], |cg| cg.run(SIZE, kernel_one(&d_in1, &d_in2, &mut d_tmp)))?;
    let copy3 = graph.add(|cg| cg.copy(&in3, &mut d_in3))?;
    let kernel2 = graph
        .add_after(&[copy3, kernel1], |cg| cg.run(SIZE, kernel_two(&d_tmp, &d_in3, &mut d_out)))?;
    graph.add_after(&[kernel2], |cg| cg.copy(&d_out, &mut out))?;

    let fused = graph.finalize_with(FinalizeOptions::new().require_fusion())?;
    q.run_graph(&fused)?.wait()?;
    if let Some(report) = fused.fusion_report()? {
        print!("{}: {report}", q.device().name());
    }

    assert_eq!(rt.counters().launches, 1);
    let wanted = |k: i32| (k + 2 * k) * 3 * k;
    assert_eq!(out.to_vec()?, (0..SIZE as i32).map(wanted).collect::<Vec<_>>());
    Ok(())
}
