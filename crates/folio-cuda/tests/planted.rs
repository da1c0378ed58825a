//! Errors planted for compute-sanitizer, which `cargo xtask gpu-test` expects to be found, each by
//! the tool that it is named for. Without that tool they do no harm, and the driver has nothing to
//! say about them.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use cudarc::driver::sys::{self, CUresult};
use folio_core::hal::Backend;
use folio_cuda::CudaBackend;
use std::ffi::CString;
use std::ptr::null_mut;

/// The driver allocates whole pages: what is written behind this is nobody's.
const BYTES: usize = 256;

const CODE: &str = "
extern \"C\" __global__ void memcheck(unsigned *at) {
    at[64 + threadIdx.x] = 1;
}
extern \"C\" __global__ void racecheck(unsigned *at) {
    __shared__ unsigned all[64];
    all[threadIdx.x] = threadIdx.x;
    at[threadIdx.x] = all[63 - threadIdx.x];
}
extern \"C\" __global__ void initcheck(unsigned *at) {
    at[threadIdx.x] += 1;
}
extern \"C\" __global__ void synccheck(unsigned *at) {
    __shared__ unsigned all[64];
    all[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 4) {
        __syncwarp(0xffff0000);
        at[threadIdx.x] = all[3 - threadIdx.x];
    }
}
";

fn ok(result: CUresult) {
    assert_eq!(result, CUresult::CUDA_SUCCESS);
}

/// Runs a kernel over memory that nobody has written.
fn run(name: &str) {
    if let Err(why) = CudaBackend::new().devices() {
        return println!("skipped: cuda: {}", why.reason);
    }
    let ptx = CString::new(cudarc::nvrtc::compile_ptx(CODE).unwrap().to_src()).unwrap();
    let name = CString::new(name).unwrap();
    let (mut context, mut module, mut function, mut at) = (null_mut(), null_mut(), null_mut(), 0);
    // SAFETY: the backend has initialised the driver; strings end with zeros, places for answers
    // are live. The kernels are wrong as said above: none writes more than 256 bytes behind an
    // allocation of 256, which the driver rounds up to its page of 2 MiB.
    unsafe {
        ok(sys::cuDevicePrimaryCtxRetain(&raw mut context, 0));
        ok(sys::cuCtxSetCurrent(context));
        ok(sys::cuModuleLoadData(&raw mut module, ptx.as_ptr().cast()));
        ok(sys::cuModuleGetFunction(&raw mut function, module, name.as_ptr()));
        ok(sys::cuMemAlloc_v2(&raw mut at, BYTES));
        let mut arguments = [(&raw mut at).cast()];
        let (arguments, none) = (arguments.as_mut_ptr(), null_mut());
        ok(sys::cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, null_mut(), arguments, none));
        // Under the tool it may be an error; without it, it is none.
        let ended = sys::cuCtxSynchronize();
        let _ = (sys::cuMemFree_v2(at), sys::cuModuleUnload(module));
        let _ = sys::cuDevicePrimaryCtxRelease_v2(0);
        ok(ended);
    }
}

#[test]
fn planted_memcheck() {
    run("memcheck");
}

#[test]
fn planted_racecheck() {
    run("racecheck");
}

#[test]
fn planted_initcheck() {
    run("initcheck");
}

#[test]
fn planted_synccheck() {
    run("synccheck");
}
