//! Programs by hand over CUDA's driver, on its first device: what the benchmarks of the CUDA
//! backend are compared with. A backend must have found a device first, which loads the driver.

use crate::table;
use cudarc::driver::sys;
use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;
use std::time::Duration;

/// The driver's result of a call that cannot fail here.
#[track_caller]
pub fn ok(result: sys::CUresult) {
    assert_eq!(result, sys::CUresult::CUDA_SUCCESS);
}

/// A stream of the current context, which is not ordered with the default one.
pub fn stream() -> sys::CUstream {
    let mut stream = null_mut();
    // SAFETY: a place for the answer.
    ok(unsafe { sys::cuStreamCreateWithPriority(&raw mut stream, 1, 0) });
    stream
}

/// How long something takes, with all that it has put into the stream.
///
/// # Safety
/// The stream is live.
pub unsafe fn timed(stream: sys::CUstream, work: impl FnOnce()) -> Duration {
    table::timed(|| {
        work();
        // SAFETY: our caller's promise.
        ok(unsafe { sys::cuStreamSynchronize(stream) });
    })
}

/// Launches so many blocks of so many threads.
///
/// # Safety
/// The function and the stream are live, and the arguments are what the function has.
#[inline]
pub unsafe fn launch(
    function: sys::CUfunction,
    [blocks, threads]: [[u32; 2]; 2],
    stream: sys::CUstream,
    args: &mut [*mut c_void],
) {
    let ([x, y], [width, height], args, none) = (blocks, threads, args.as_mut_ptr(), null_mut());
    // SAFETY: our caller's promise.
    ok(unsafe { sys::cuLaunchKernel(function, x, y, 1, width, height, 1, 0, stream, args, none) });
}

/// Code that is loaded into the first device's primary context, which is current.
pub struct Code {
    /// That context.
    pub context: sys::CUcontext,
    module: sys::CUmodule,
}

impl Code {
    /// CUDA C.
    pub fn compiled(text: &str) -> Code {
        let ptx = cudarc::nvrtc::compile_ptx(text).expect("it compiles");
        Code::loaded(&CString::new(ptx.to_src()).expect("text"))
    }

    /// PTX.
    pub fn loaded(text: &CStr) -> Code {
        let (mut context, mut module) = (null_mut(), null_mut());
        // SAFETY: the driver is initialised; text that ends with a zero; places for the answers.
        unsafe {
            ok(sys::cuDevicePrimaryCtxRetain(&raw mut context, 0));
            ok(sys::cuCtxSetCurrent(context));
            ok(sys::cuModuleLoadData(&raw mut module, text.as_ptr().cast()));
        }
        Code { context, module }
    }

    /// A kernel.
    pub fn function(&self, name: &CStr) -> sys::CUfunction {
        let mut function = null_mut();
        // SAFETY: a live module; a place for the answer.
        ok(unsafe { sys::cuModuleGetFunction(&raw mut function, self.module, name.as_ptr()) });
        function
    }
}
