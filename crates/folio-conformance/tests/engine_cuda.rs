//! Kernel functions on the CUDA backend through the whole engine, where there is a GPU.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

mod support;

use folio::prelude::*;
use folio_conformance::engine::{Factory, run_engine_where};
use folio_core::hal::Backend;
use folio_cpu::CpuBackend;
use folio_cuda::CudaBackend;
use std::sync::Arc;

fn is_there() -> bool {
    match CudaBackend::new().devices() {
        Ok(_) => true,
        Err(why) => {
            println!("skipped: cuda: {}", why.reason);
            false
        }
    }
}

/// KRN-01, KRN-03, KRN-04: the suite, but for what is about closures.
#[test]
fn cuda_passes_the_suite() {
    if !is_there() {
        return;
    }
    support::passes(CudaBackend::new, &[]);
}

/// A part of the suite that is small enough for compute-sanitizer: local memory, barriers, atomics, reductions.
#[test]
fn cuda_checked_kernels() {
    if !is_there() {
        return;
    }
    let checked = [
        "tiles_in_local_memory",
        "folds_of_groups",
        "groups_sort_and_transpose",
        "more_dimensions",
    ];
    let factory: Factory = Arc::new(|| Box::new(CudaBackend::new()));
    let summary = run_engine_where(factory, &[], &|name| checked.contains(&name));
    println!("{summary}");
    assert!(summary.is_ok() && summary.passed.len() == checked.len(), "{summary}");
}

#[kernel]
fn blend(i: Item<2>, s: f32, x: In<f32, 2>, y: InOut<f32, 2>) {
    y[i] = s * x[i] + y[i];
}

/// Launches that are large enough for several items of each thread compute every item once, and leave
/// what is beside them alone: whatever is left over at the end of rows.
#[test]
fn cuda_computes_several_items_in_a_thread() {
    if !is_there() {
        return;
    }
    let rt = Runtime::builder().backend(CudaBackend::new()).build().unwrap();
    let q = rt.queue_on("cuda:0").unwrap();
    for (rows, columns) in [(1, 1 << 21), (1, (1 << 23) + 5), (2048, 1024), (3001, 3002)] {
        let n = rows * columns;
        let x: Vec<f32> = (0..n).map(|k| (k % 1000) as f32).collect();
        let from = rt.buffer_from_with(&x, [rows, columns], BufferOptions::new()).unwrap();
        for edge in [0, 1] {
            let mut to = rt.buffer_from_with(&x, [rows, columns], BufferOptions::new()).unwrap();
            let edge_rows = if rows == 1 { 0 } else { edge };
            let items = [edge_rows..rows - edge_rows, edge..columns - edge];
            q.run(items.clone(), blend(2.0, &from, &mut to)).unwrap();
            for (k, y) in to.to_vec().unwrap().into_iter().enumerate() {
                let (r, c) = (k / columns, k % columns);
                let inside = items[0].contains(&r) && items[1].contains(&c);
                let expected = if inside { 3.0 * x[k] } else { x[k] };
                assert_eq!(y, expected, "{rows} x {columns}, edge {edge}: ({r}, {c})");
            }
        }
    }
}

/// Buffers go from device to device, GPUs and CPUs, and are always right.
#[test]
fn cuda_and_cpu_take_turns() {
    if !is_there() {
        return;
    }
    support::turns::all_take_turns(|| {
        let cpu = CpuBackend::builder().domains(2).threads(2).build().unwrap();
        Runtime::builder().backend(CudaBackend::new()).backend(cpu).build().unwrap()
    });
}
