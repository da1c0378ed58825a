//! A GPU that is there twice, by CUDA and by OpenCL, in one runtime; and that two backends can be
//! tested as one.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support;
use crate::support::pair::Pair;
use crate::support::turns;
use folio::prelude::*;
use folio_conformance::engine::kernel_names;
use folio_core::hal::{Backend, DeviceInfo};
use folio_cpu::CpuBackend;
use folio_cuda::CudaBackend;
use folio_model::drivers::CUDA;
use folio_opencl::OpenClBackend;
use folio_sim::SimBackend;
use std::collections::BTreeMap;

fn all() -> Pair<CudaBackend, OpenClBackend> {
    Pair(CudaBackend::new(), OpenClBackend::new())
}

/// NVIDIA's devices, by CUDA and by OpenCL, where there are both.
fn both() -> Option<[Vec<DeviceInfo>; 2]> {
    let nvidias = |backend: &dyn Backend| match backend.devices() {
        Ok(devices) => {
            let theirs = |device: &DeviceInfo| device.vendor.contains("NVIDIA");
            let devices: Vec<_> = devices.into_iter().filter(theirs).collect();
            if devices.is_empty() { Err("no device of NVIDIA's".into()) } else { Ok(devices) }
        }
        Err(why) => Err(why.reason),
    };
    let found = [&CudaBackend::new() as &dyn Backend, &OpenClBackend::new()].map(|backend| {
        // Either backend may be there, and be required, without the other.
        nvidias(backend).map_err(|why| println!("skipped: twins: {}: {why}", backend.name())).ok()
    });
    let [Some(cuda), Some(opencl)] = found else { return None };
    Some([cuda, opencl])
}

/// A runtime with each GPU twice.
fn runtime() -> Runtime {
    let builder = Runtime::builder().backend(CudaBackend::new()).backend(OpenClBackend::new());
    builder.keep_twins().build().unwrap()
}

/// BACK-04: both APIs say the same of who a GPU is; so it is used once, unless more is asked for.
#[test]
fn cuda_and_opencl_name_the_same_gpus() {
    let Some([cuda, opencl]) = both() else { return };
    for gpu in &cuda {
        let twin = opencl.iter().find(|twin| twin.uuid == gpu.uuid);
        assert!(gpu.uuid.is_some() && twin.is_some(), "{gpu:?} is not among {opencl:?}");
        assert_eq!(twin.unwrap().name, gpu.name);
    }
    let once = Runtime::builder().backend(CudaBackend::new()).backend(OpenClBackend::new());
    let once = once.build().unwrap();
    let left_out = once.missing_backends().iter().filter(|why| why.contains("already")).count();
    assert_eq!(left_out, cuda.len(), "{:?}", once.missing_backends());
    assert_eq!(runtime().devices().len(), once.devices().len() + cuda.len());
}

/// The suite, with cases of several memories over both.
#[test]
fn cuda_and_opencl_pass_the_suite() {
    if both().is_some() && CUDA.is_there() {
        support::passes_bare(all, &|_| true, &left_out());
    }
}

/// Without the cases of kernels, for which OpenCL's contexts are made too slowly to do it twice.
#[test]
fn cuda_and_opencl_pass_the_suite_validated() {
    if both().is_some() && CUDA.is_there() {
        support::passes_validated(all, &|name| !kernel_names().contains(&name), &left_out());
    }
}

/// OpenCL's memory has no addresses on NVIDIA's devices.
fn left_out() -> BTreeMap<&'static str, usize> {
    support::left_out(&all(), &support::addresses(&all()))
}

/// A simulated device and CPUs, so that none of this is new where there is a GPU.
#[test]
fn two_backends_are_tested_as_one() {
    let both = || {
        let cpu = CpuBackend::builder().domains(2).threads(1).build().unwrap();
        Pair(SimBackend::builder().build(), cpu)
    };
    let left_out = support::left_out(&both(), &[]);
    support::passes_where(both, &|name| !support::OF_ONE_KIND.contains(&name), &left_out);
    let rt = || Runtime::builder().backend(both()).build().unwrap();
    turns::all_take_turns(rt);
    turns::failures_reach_all(&rt());
}
