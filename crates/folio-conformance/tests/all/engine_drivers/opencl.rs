//! What OpenCL's devices alone do.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::hal_drivers::all_share;
use folio::prelude::*;
use folio_core::hal::{Backend, DeviceKind};
use folio_model::drivers::OPENCL;
use folio_opencl::OpenClBackend;

/// What has been packed for GPUs (`cargo xtask gpu-test`) is not to pass on another device that
/// OpenCL has there: tests take the first.
#[test]
fn opencl_s_first_device_is_a_gpu() {
    if std::env::var_os("FOLIO_TESTS_ON_GPUS").is_none() {
        return println!("skipped: gpus: these tests are for any device");
    }
    let devices = OpenClBackend::new().devices().unwrap();
    assert_eq!(devices[0].kind, DeviceKind::Gpu, "{devices:?}");
}

/// Without fine-grained shared virtual memory no memory is the host's, too.
#[test]
fn opencl_without_svm_shares_no_memory() {
    if OPENCL.is_there() {
        assert!(OPENCL.forms[1..].iter().all(|form| !all_share(&(form.open)())));
    }
}

#[kernel]
fn row_sums(i: Item, x: In<f32, 2>, y: Out<f32>) {
    let mut sum = 0.0;
    for k in 0..x.shape()[1] {
        sum += x[(i.index(), k)];
    }
    y[i] = sum;
}

/// Loops of which compilers are told to make several turns one, of any number of turns.
#[test]
fn opencl_unrolls_loops() {
    if !OPENCL.is_there() {
        return;
    }
    let rt = Runtime::builder().backend(OpenClBackend::new().as_gpus()).build().unwrap();
    let q = rt.queue().unwrap();
    for columns in [1, 15, 16, 17, 100] {
        let x: Vec<f32> = (0..50 * columns).map(|k| (k % 1000) as f32).collect();
        let from = rt.buffer_from((&x, [50, columns])).unwrap();
        let mut sums = rt.buffer(50).unwrap();
        q.run(50, row_sums(&from, &mut sums)).unwrap();
        let wanted: Vec<f32> = x.chunks(columns).map(|row| row.iter().sum()).collect();
        assert_eq!(sums.to_vec().unwrap(), wanted, "{columns} columns");
    }
}
