//! OpenCL devices under the engine's suite, bare and validated, with shared virtual memory and
//! without; and together with the CPU in one runtime.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support;
use crate::support::pair::Pair;
use crate::support::there::is_there;
use crate::support::{ADDRESSES, LeftOut};
use folio::prelude::*;
use folio_conformance::engine::kernel_names;
use folio_core::hal::{Backend, DeviceKind};
use folio_cpu::CpuBackend;
use folio_opencl::OpenClBackend;

/// Whether there is a device.
fn there_is_one() -> bool {
    is_there(&OpenClBackend::new())
}

/// The suite, but for what is about closures.
#[track_caller]
fn passes(build: fn() -> OpenClBackend, further: &[LeftOut]) {
    if there_is_one() {
        support::passes(build, further);
    }
}

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

/// KRN-04, KRN-08
#[test]
fn compile_and_pass_opencl() {
    if there_is_one() {
        passes(OpenClBackend::new, &support::addresses(&OpenClBackend::new()));
    }
}

/// As many GPUs are, whose memory the host does not reach.
#[test]
fn compile_and_pass_opencl_without_fine_svm() {
    if there_is_one() {
        let build = || OpenClBackend::without_fine_svm().with_all_svm();
        passes(build, &support::addresses(&build()));
    }
}

#[test]
fn compile_and_pass_opencl_without_svm() {
    passes(OpenClBackend::without_svm, &ADDRESSES);
}

/// The suite over OpenCL and the CPU in one runtime: each kernel on each device, and buffers that
/// go between them.
#[track_caller]
fn both_pass(opencl: fn() -> OpenClBackend, validated: &dyn Fn(&str) -> bool) {
    if there_is_one() {
        let both = move || {
            let cpu = CpuBackend::builder().domains(2).threads(1).build().unwrap();
            Pair(cpu, opencl())
        };
        let left_out = support::left_out(&both(), &support::addresses(&both()));
        let wanted = |name: &str| !support::OF_ONE_KIND.contains(&name);
        support::passes_bare(both, &wanted, &left_out);
        support::passes_validated(both, &|name| wanted(name) && validated(name), &left_out);
    }
}

#[test]
fn compile_and_pass_opencl_and_cpu() {
    both_pass(OpenClBackend::new, &|_| true);
}

/// The same without addresses; the kernels' cases bare.
#[test]
fn compile_and_pass_opencl_without_svm_and_cpu() {
    let kernels = kernel_names();
    both_pass(OpenClBackend::without_svm, &|name| !kernels.contains(&name));
}

/// Shapes for some hundred compute units.
#[test]
fn opencl_computes_several_items_in_a_thread() {
    if there_is_one() {
        let shapes = [(1, 1 << 20), (1, (1 << 21) + 5), (700, 1024), (1001, 1002)];
        support::items::every_item_once(OpenClBackend::new().as_gpus(), &shapes);
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
    if !there_is_one() {
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

#[kernel]
fn step(i: Item, n: i32, x: In<i32>, y: InOut<i32>) {
    y[i] = y[i] * 3 + x[i] - n;
}

#[kernel]
fn picks(i: Item, at: In<u32>, x: In<i32>, y: Out<i32>) {
    y[i] = x[at[i] as usize];
}

/// A buffer goes between the CPU and OpenCL, and is always right; a failure on one side reaches the
/// other.
#[test]
fn opencl_beside_the_cpu() {
    if !there_is_one() {
        return;
    }
    let cpu = CpuBackend::builder().domains(2).threads(1).build().unwrap();
    let rt = Runtime::builder().backend(cpu).backend(OpenClBackend::new()).build().unwrap();
    let queues: Vec<_> = rt.devices().iter().map(|device| rt.queue_on(device).unwrap()).collect();
    let n = 1000;
    let (mut x, mut y): (Vec<i32>, Vec<i32>) = ((0..n).collect(), vec![7; n as usize]);
    let (mut a, mut b) = (rt.buffer_from(&x).unwrap(), rt.buffer_from(&y).unwrap());
    for turn in 0..300 {
        let q = &queues[turn as usize * 7 % 11 % queues.len()];
        let (from, to, source, target) = match turn % 2 {
            0 => (&a, &mut b, &x, &mut y),
            _ => (&b, &mut a, &y, &mut x),
        };
        q.run(to.range(), step(turn, from, to)).unwrap();
        for (to, from) in target.iter_mut().zip(source) {
            *to = to.wrapping_mul(3).wrapping_add(*from).wrapping_sub(turn);
        }
    }
    assert_eq!(a.to_vec().unwrap(), x);
    assert_eq!(b.to_vec().unwrap(), y);
    let at: Vec<u32> = (0..n as u32).map(|k| if k == 700 { 5000 } else { k }).collect();
    let at = rt.buffer_from(&at).unwrap();
    let last = queues.last().unwrap();
    let failed = last.run(n as usize, picks(&at, &a, &mut b)).unwrap();
    let after = queues[0].run(n as usize, step(1, &b, &mut a)).unwrap();
    for event in [failed, after] {
        let error = event.wait().unwrap_err().to_string();
        assert!(error.contains("index [5000] is outside of `x`"), "{error}");
    }
    last.run(
        n as usize,
        picks(&rt.buffer_from(vec![0u32; n as usize]).unwrap(), &at_zero(&rt), &mut b),
    )
    .unwrap();
    assert_eq!(b.to_vec().unwrap(), vec![9; n as usize]);
}

fn at_zero(rt: &Runtime) -> Buffer<i32> {
    rt.buffer_from(&[9]).unwrap()
}
