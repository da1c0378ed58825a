//! The driver: whether it is there, what its answers mean, and contexts.

use cudarc::driver::sys::{self, CUresult};
use folio_core::hal::{HalError, HalErrorKind, Lost, Unavailable};
use std::ffi::CStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// The driver's functions that are younger than the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Optional {
    /// Times between events.
    pub(crate) timing: bool,
    /// Prefetching and advising with locations.
    pub(crate) hints: bool,
    /// What arguments a kernel has.
    pub(crate) arguments: bool,
    /// Graphs of kernels of any context.
    pub(crate) graphs: bool,
}

/// The driver, or why there is none. cudarc panics where a library or a function is missing, so
/// this is asked before anything else is called.
pub(crate) fn present() -> Result<Optional, Unavailable> {
    static DRIVER: OnceLock<Result<Optional, Unavailable>> = OnceLock::new();
    DRIVER.get_or_init(look).clone()
}

fn look() -> Result<Optional, Unavailable> {
    // SAFETY: loads the driver's library, whose initialisers are trusted.
    if !unsafe { sys::is_culib_present() } {
        return Err(Unavailable::new("NVIDIA's driver library (libcuda) is not installed"));
    }
    // SAFETY: the library is there; nothing is called.
    let has = |name: &str| unsafe { sys::culib().get::<*const ()>(name.as_bytes()).is_ok() };
    // The youngest of the functions that are always used, of CUDA 11.4.
    if !has("cuDeviceGetUuid_v2") {
        return Err(Unavailable::new("NVIDIA's driver is older than CUDA 11.4"));
    }
    // SAFETY: the function exists.
    let result = unsafe { sys::cuInit(0) };
    if result != CUresult::CUDA_SUCCESS {
        return Err(Unavailable::new(format!("cuInit: {}", describe(result))));
    }
    let hints = has("cuMemPrefetchAsync_v2") && has("cuMemAdvise_v2");
    let arguments = has("cuFuncGetParamInfo");
    let graphs = has("cuGraphAddKernelNode_v2") && has("cuGraphExecKernelNodeSetParams_v2");
    Ok(Optional { timing: has("cuEventElapsedTime_v2"), hints, arguments, graphs })
}

/// Name and meaning of a result, in the driver's words.
pub(crate) fn describe(result: CUresult) -> String {
    let text = |of: unsafe fn(CUresult, *mut *const std::ffi::c_char) -> CUresult| {
        let mut text = std::ptr::null();
        // SAFETY: the driver writes a pointer to a string of its own, or null.
        unsafe {
            of(result, &raw mut text);
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    };
    let name = text(sys::cuGetErrorName).unwrap_or_else(|| format!("error {}", result as u32));
    match text(sys::cuGetErrorString) {
        Some(meaning) => format!("{name}: {meaning}"),
        None => name,
    }
}

/// The error of a call that has nothing to do with a context.
pub(crate) fn check(call: &str, result: CUresult) -> Result<(), HalError> {
    match result {
        CUresult::CUDA_SUCCESS => Ok(()),
        _ => Err(error(call, result)),
    }
}

#[cold]
fn error(call: &str, result: CUresult) -> HalError {
    HalError::new(HalErrorKind::Driver, format!("{call}: {}", describe(result)))
}

/// After these a context does nothing more.
fn is_fatal(result: CUresult) -> bool {
    use CUresult as R;
    matches!(
        result,
        R::CUDA_ERROR_ILLEGAL_ADDRESS
            | R::CUDA_ERROR_LAUNCH_FAILED
            | R::CUDA_ERROR_LAUNCH_TIMEOUT
            | R::CUDA_ERROR_ASSERT
            | R::CUDA_ERROR_HARDWARE_STACK_ERROR
            | R::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | R::CUDA_ERROR_MISALIGNED_ADDRESS
            | R::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | R::CUDA_ERROR_INVALID_PC
            | R::CUDA_ERROR_ECC_UNCORRECTABLE
            | R::CUDA_ERROR_NVLINK_UNCORRECTABLE
            | R::CUDA_ERROR_CONTAINED
            | R::CUDA_ERROR_TENSOR_MEMORY_LEAK
            | R::CUDA_ERROR_MPS_CLIENT_TERMINATED
            | R::CUDA_ERROR_CONTEXT_IS_DESTROYED
            | R::CUDA_ERROR_EXTERNAL_DEVICE
            | R::CUDA_ERROR_DEINITIALIZED
            | R::CUDA_ERROR_UNKNOWN
    )
}

/// A device's primary context, which foreign libraries in the process share.
pub(crate) struct Context {
    pub(crate) device: sys::CUdevice,
    pub(crate) raw: sys::CUcontext,
    pub(crate) optional: Optional,
    gone: AtomicBool,
    why: OnceLock<Lost>,
}

// SAFETY: contexts may be used by any thread.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    pub(crate) fn retain(device: sys::CUdevice, optional: Optional) -> Result<Context, HalError> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: a device that the driver named.
        let result = unsafe { sys::cuDevicePrimaryCtxRetain(&raw mut raw, device) };
        check("cuDevicePrimaryCtxRetain", result)?;
        Ok(Context { device, raw, optional, gone: AtomicBool::new(false), why: OnceLock::new() })
    }

    /// Makes it the calling thread's.
    #[inline]
    pub(crate) fn enter(&self) -> Result<(), HalError> {
        self.alive()?;
        // SAFETY: the context is retained as long as this lives.
        self.check("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(self.raw) })
    }

    /// Whether the device still does something.
    #[inline]
    pub(crate) fn alive(&self) -> Result<(), Lost> {
        if self.gone.load(Ordering::Acquire) { Err(self.lost()) } else { Ok(()) }
    }

    #[cold]
    fn lost(&self) -> Lost {
        self.why.get().cloned().unwrap_or_else(|| Lost::new("the device is lost"))
    }

    /// What a call's result means; some mean that the device is lost.
    #[inline]
    pub(crate) fn check(&self, call: &str, result: CUresult) -> Result<(), HalError> {
        match result {
            CUresult::CUDA_SUCCESS => Ok(()),
            _ => Err(self.failed(call, result)),
        }
    }

    #[cold]
    fn failed(&self, call: &str, result: CUresult) -> HalError {
        let error = error(call, result);
        if !is_fatal(result) {
            return error;
        }
        // Whoever comes first says why.
        let lost = self.why.get_or_init(|| Lost::new(error.message));
        self.gone.store(true, Ordering::Release);
        HalError::from(lost.clone())
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained once, and nothing of it is used any more: whatever does holds this.
        // What the driver answers changes nothing now.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}
