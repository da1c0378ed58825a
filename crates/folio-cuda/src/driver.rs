//! The driver: whether it is there, what its answers mean, and contexts.

use cudarc::driver::sys::{self, CUresult};
use folio_core::hal::{Calls, HalError, HalErrorKind, Lost, Unavailable};
use folio_driver::library::Missing;
use folio_driver::loss::Loss;
use std::ffi::CStr;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The driver's functions that are younger than the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Optional {
    /// The driver's version: 13000 of CUDA 13.0.
    pub(crate) version: i32,
    /// Times between events.
    pub(crate) timing: bool,
    /// Prefetching and advising with locations.
    pub(crate) hints: bool,
    /// The driver tells the arguments of kernels.
    pub(crate) arguments: bool,
    /// Graphs of kernels of any context.
    pub(crate) graphs: bool,
    /// Conditional nodes of graphs, whose bodies may copy and fill; those with several bodies.
    pub(crate) conditions: bool,
    pub(crate) choices: bool,
    /// Copies of many rows.
    pub(crate) batches: bool,
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
        let (name, source) =
            ("libcuda of NVIDIA's", "with the driver, the package `nvidia-driver`");
        return Err(Missing::Library { name, source, cause: String::new() }.into());
    }
    // SAFETY: the library is there; nothing is called.
    let has = |name: &str| unsafe { sys::culib().get::<*const ()>(name.as_bytes()).is_ok() };
    // The youngest of the functions that are always used, of CUDA 11.4.
    if !has("cuDeviceGetUuid_v2") {
        return Err(Missing::Version { name: "NVIDIA's driver", needed: "CUDA 11.4" }.into());
    }
    // SAFETY: the function exists.
    let result = unsafe { sys::cuInit(0) };
    if result != CUresult::CUDA_SUCCESS {
        return Err(Unavailable::new(format!("cuInit: {}", describe(result))));
    }
    let mut version = 0;
    // SAFETY: a place for the answer.
    check("cuDriverGetVersion", unsafe { sys::cuDriverGetVersion(&raw mut version) })
        .map_err(|why| Unavailable::new(why.to_string()))?;
    let hints = has("cuMemPrefetchAsync_v2") && has("cuMemAdvise_v2");
    let arguments = has("cuFuncGetParamInfo");
    let graphs = has("cuGraphAddKernelNode_v2") && has("cuGraphExecKernelNodeSetParams_v2");
    let conditions = graphs
        && version >= 12_040
        && has("cuGraphConditionalHandleCreate")
        && has("cuGraphAddNode_v2");
    let choices = conditions && version >= 12_080;
    let (timing, batches) = (has("cuEventElapsedTime_v2"), has("cuMemcpyBatchAsync_v2"));
    Ok(Optional { version, timing, hints, arguments, graphs, conditions, choices, batches })
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
    let said = format!("{call}: {}", describe(result));
    match result {
        // Of what the driver needs for itself: how much that is it does not say.
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
            HalError { message: said.into(), ..HalError::out_of_memory(0, 0, 0) }
        }
        _ => HalError::new(HalErrorKind::Driver, said),
    }
}

/// Calls the driver; tests may have it refuse instead.
#[inline]
pub(crate) fn call(name: &str, call: impl FnOnce() -> CUresult) -> CUresult {
    #[cfg(test)]
    if let Some(refusal) = crate::refusals::refused(name) {
        return refusal;
    }
    let _ = name;
    call()
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
    )
}

/// Until this is dropped, the calling thread may do what the driver otherwise refuses while another
/// thread captures a graph (and what would spoil that): ask how far a stream is, and allocate.
pub(crate) struct Relaxed(sys::CUstreamCaptureMode, PhantomData<*const ()>);

impl Relaxed {
    pub(crate) fn begin() -> Relaxed {
        let mut mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the driver is there; it swaps the thread's mode and this one.
        let _ = unsafe { sys::cuThreadExchangeStreamCaptureMode(&raw mut mode) };
        Relaxed(mode, PhantomData)
    }
}

impl Drop for Relaxed {
    fn drop(&mut self) {
        // SAFETY: as above; the thread gets back what it had.
        let _ = unsafe { sys::cuThreadExchangeStreamCaptureMode(&raw mut self.0) };
    }
}

/// Whether a device is lost, and whether the host still does something for it.
#[derive(Default)]
pub(crate) struct End {
    gone: AtomicBool,
    /// How many of the streams' jobs for the host are at work.
    at_work: AtomicUsize,
}

impl End {
    /// Does a stream's job, unless the device is lost: whoever finds that, and nobody at work,
    /// takes memory back.
    pub(crate) fn work(&self, job: impl FnOnce()) {
        // In this order, and the other way round in `is_over`: one sees the other.
        self.at_work.fetch_add(1, Ordering::SeqCst);
        if !self.gone.load(Ordering::SeqCst) {
            job();
        }
        self.at_work.fetch_sub(1, Ordering::SeqCst);
    }

    fn is_over(&self) -> bool {
        self.gone.load(Ordering::SeqCst) && self.at_work.load(Ordering::SeqCst) == 0
    }
}

/// A device's primary context, which foreign libraries in the process share.
pub(crate) struct Context {
    pub(crate) device: sys::CUdevice,
    pub(crate) raw: sys::CUcontext,
    pub(crate) optional: Optional,
    pub(crate) end: Arc<End>,
    loss: Loss,
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
        Calls::end_with_the_process();
        Ok(Context { device, raw, optional, end: Arc::default(), loss: Loss::default() })
    }

    /// Begins calls, for which it is the thread's.
    #[inline]
    pub(crate) fn enter(&self) -> Result<Calls, HalError> {
        let calls = Calls::begin();
        self.alive()?;
        // SAFETY: the context is retained as long as this lives.
        self.check("cuCtxSetCurrent", unsafe { sys::cuCtxSetCurrent(self.raw) })?;
        Ok(calls)
    }

    /// Whether the device still does something.
    #[inline]
    pub(crate) fn alive(&self) -> Result<(), Lost> {
        if self.end.gone.load(Ordering::Acquire) { Err(self.lost()) } else { Ok(()) }
    }

    /// The loss, as lanes tell it: when nothing of the device touches memory any more.
    pub(crate) fn over(&self) -> Result<(), Lost> {
        if self.end.is_over() { Err(self.lost()) } else { Ok(()) }
    }

    /// Waits for a stream of which the driver has not said for a while how far it is. True if it
    /// has ended; otherwise there is hope, or the device is lost: then the driver does not know
    /// what is in the stream.
    #[cold]
    pub(crate) fn insist(&self, stream: sys::CUstream) -> bool {
        let _calls = Calls::begin();
        let _relaxed = Relaxed::begin();
        // SAFETY: a live stream.
        let result = unsafe { sys::cuStreamSynchronize(stream) };
        // A stream that is captured cannot be waited for, but it goes on.
        let captures = (900..=908).contains(&(result as u32));
        match result {
            CUresult::CUDA_SUCCESS => return true,
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => {}
            _ if captures => {}
            other if is_fatal(other) || self.does_nothing() => {
                drop(self.lose(error("cuStreamSynchronize", other)));
            }
            _ => {}
        }
        false
    }

    /// Whether the context refuses even to be waited for, once all that it does has ended. After
    /// answers that say nothing it may live on.
    fn does_nothing(&self) -> bool {
        let _relaxed = Relaxed::begin();
        // SAFETY: the context is retained; a thread that cannot enter it learns that here, too.
        let waited = unsafe {
            let _ = sys::cuCtxSetCurrent(self.raw);
            sys::cuCtxSynchronize()
        };
        waited == CUresult::CUDA_ERROR_UNKNOWN || is_fatal(waited)
    }

    #[cold]
    fn lost(&self) -> Lost {
        self.loss.lose("the device is lost")
    }

    /// The error of a call's result; some mean that the device is lost.
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
        let says_nothing = result == CUresult::CUDA_ERROR_UNKNOWN;
        if !(is_fatal(result) || says_nothing && self.does_nothing()) {
            return error;
        }
        self.lose(error)
    }

    fn lose(&self, error: HalError) -> HalError {
        // Whoever comes first says why.
        let lost = self.loss.lose(error.message);
        self.end.gone.store(true, Ordering::SeqCst);
        HalError::from(lost)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let _calls = Calls::begin();
        // SAFETY: retained once, and nothing of it is used any more: whatever does holds this. The
        // driver's answer changes nothing here.
        let _ = unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_told_when_nobody_works_for_the_device() {
        let end = End::default();
        let mut worked = 0;
        end.work(|| worked += 1);
        assert!(!end.is_over());
        end.work(|| {
            end.gone.store(true, Ordering::SeqCst);
            assert!(!end.is_over());
            worked += 1;
        });
        assert!(end.is_over());
        end.work(|| worked += 1);
        assert_eq!(worked, 2);
    }
}
