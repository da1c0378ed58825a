//! Somebody else in the process captures a graph, in the driver's strictest mode, while a runtime
//! is at work: neither is in the other's way.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use cudarc::driver::sys::{self, CUresult};
use folio_core::hal::{Backend, Source};
use folio_core::{Runtime, UsmKind};
use folio_cuda::CudaBackend;
use std::ptr::null_mut;

const DOUBLE: &str = "
extern \"C\" __global__ void twice(unsigned *x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }
";
const N: usize = 1 << 20;

fn ok(result: CUresult) {
    assert_eq!(result, CUresult::CUDA_SUCCESS);
}

/// All that a runtime asks of the driver, from its beginning to its end.
fn work() {
    let rt = Runtime::builder().backend(CudaBackend::new()).build().unwrap();
    let q = rt.queue_on("cuda:0").unwrap();
    let twice = q.device().load(Source::CudaC(DOUBLE), "twice").unwrap();
    let kinds = [UsmKind::Device, UsmKind::Host, UsmKind::Shared];
    let _usm = kinds.map(|kind| rt.usm::<u32>(&q.device(), kind, N).unwrap());
    let mut x = rt.buffer_from(vec![1u32; N]).unwrap();
    for _ in 0..100 {
        let launched = q.submit(|g| {
            let x = g.timed().read_write(&mut x);
            // SAFETY: as many threads as elements.
            unsafe { g.run_opaque(N, &twice, [x.into()]) };
            Ok(())
        });
        launched.unwrap().wait().unwrap();
    }
    assert_eq!(x.to_vec().unwrap()[N - 1], 0);
}

#[test]
fn cuda_others_may_capture() {
    if let Err(why) = CudaBackend::new().devices() {
        return println!("skipped: cuda: {}", why.reason);
    }
    let (mut context, mut stream, mut graph, mut at) = (null_mut(), null_mut(), null_mut(), 0);
    // SAFETY: the backend has initialised the driver; places for the answers; what is captured is
    // never run.
    unsafe {
        ok(sys::cuDevicePrimaryCtxRetain(&raw mut context, 0));
        ok(sys::cuCtxSetCurrent(context));
        ok(sys::cuMemAlloc_v2(&raw mut at, 64));
        ok(sys::cuStreamCreate(&raw mut stream, 1));
        let strict = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
        ok(sys::cuStreamBeginCapture_v2(stream, strict));
        ok(sys::cuMemsetD8Async(at, 1, 64, stream));
        std::thread::spawn(work).join().unwrap();
        ok(sys::cuMemsetD8Async(at, 2, 64, stream));
        ok(sys::cuStreamEndCapture(stream, &raw mut graph));
        assert!(!graph.is_null());
        ok(sys::cuGraphDestroy(graph));
        ok(sys::cuStreamDestroy_v2(stream));
        ok(sys::cuMemFree_v2(at));
        ok(sys::cuDevicePrimaryCtxRelease_v2(0));
    }
}
