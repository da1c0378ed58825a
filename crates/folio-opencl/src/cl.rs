//! OpenCL's functions and objects, as little of them as this backend needs.
//!
//! The loader is opened when something is first asked of it, so that a program starts on machines
//! without one. Objects release themselves; OpenCL counts references, so commands under way keep
//! what they use (but not shared virtual memory), and any thread may use any object (of kernels'
//! arguments see `module`).

use cl3::{OpenClRuntime, load_library};
use folio_core::hal::{HalError, HalErrorKind};
use folio_driver::library::Missing;
use folio_driver::memory::is_short;
use opencl_sys::{
    CL_BUFFER_CREATE_TYPE_REGION, CL_BUILD_PROGRAM_FAILURE, CL_COMPILE_PROGRAM_FAILURE,
    CL_COMPILER_NOT_AVAILABLE, CL_COMPLETE, CL_CONTEXT_DEVICES, CL_CONTEXT_PLATFORM,
    CL_DEVICE_NOT_AVAILABLE, CL_EVENT_COMMAND_EXECUTION_STATUS, CL_INVALID_BINARY,
    CL_INVALID_BUILD_OPTIONS, CL_LINK_PROGRAM_FAILURE, CL_MEM_ASSOCIATED_MEMOBJECT, CL_MEM_CONTEXT,
    CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_MEM_OBJECT_BUFFER, CL_MEM_READ_WRITE, CL_MEM_SIZE,
    CL_MEM_TYPE, CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES, CL_PROFILING_COMMAND_END,
    CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_START, CL_QUEUE_PROFILING_ENABLE, CL_SUCCESS,
    cl_buffer_region, cl_command_queue, cl_context, cl_device_id, cl_event, cl_int, cl_kernel,
    cl_mem, cl_mem_flags, cl_platform_id, cl_program,
};
use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The loader, or why there is none.
pub(crate) fn library() -> Result<&'static OpenClRuntime, HalError> {
    load_library().as_ref().map_err(|error| {
        let source = "with drivers or as the package `ocl-icd-libopencl1` (Debian, Ubuntu) or `ocl-icd` (Fedora, Arch)";
        Missing::Library { name: "OpenCL loader", source, cause: error.to_string() }.into()
    })
}

/// The meaning of a status.
pub(crate) fn check(what: &str, status: cl_int) -> Result<(), HalError> {
    let short = HalErrorKind::OutOfMemory { asked: 0, in_use: 0, limit: 0 };
    let kind = match status {
        CL_SUCCESS => return Ok(()),
        CL_MEM_OBJECT_ALLOCATION_FAILURE | CL_OUT_OF_HOST_MEMORY => short,
        // Some drivers say it like this.
        CL_OUT_OF_RESOURCES if matches!(what, "clCreateBuffer" | "clBuildProgram") => short,
        CL_DEVICE_NOT_AVAILABLE => HalErrorKind::Lost,
        CL_BUILD_PROGRAM_FAILURE
        | CL_COMPILE_PROGRAM_FAILURE
        | CL_COMPILER_NOT_AVAILABLE
        | CL_INVALID_BINARY
        | CL_INVALID_BUILD_OPTIONS
        | CL_LINK_PROGRAM_FAILURE => HalErrorKind::Build,
        _ => HalErrorKind::Driver,
    };
    let text = cl3::error_codes::error_text(status);
    Err(HalError::new(kind, format!("{what}: {text} ({status})")))
}

/// Does nothing. `cl3` has OpenCL's functions as safe ones, which they are not: with this in each
/// call, each call is in an unsafe block that says why it is right.
pub(crate) const unsafe fn foreign() {}

/// Nothing but tests keeps a function from being called.
#[cfg(not(test))]
pub(crate) const fn called(_: &str) -> Result<(), HalError> {
    Ok(())
}
#[cfg(test)]
pub(crate) use crate::tests::called;

/// Calls a function that the loader has, and gives what it returns.
macro_rules! call {
    ($function:ident($($argument:expr),* $(,)?)) => {{
        $crate::cl::foreign();
        $crate::cl::called(stringify!($function)).and_then(|()| $crate::cl::library()).and_then(|library| {
            let absent = || folio_core::hal::HalError::unsupported(stringify!($function));
            library.$function($($argument),*).ok_or_else(absent)
        })
    }};
}
pub(crate) use call;

/// Calls a function that returns a status.
macro_rules! run {
    ($function:ident($($argument:expr),* $(,)?)) => {
        $crate::cl::call!($function($($argument),*))
            .and_then(|status| $crate::cl::check(stringify!($function), status))
    };
}
pub(crate) use run;

/// The driver's answer, as a list of `T`, which any bits are. `ask` is given how many bytes
/// there is room for, the place, and, where it is asked how long the answer is, a place for that.
pub(crate) fn answer<T: Copy>(
    none: T,
    ask: impl Fn(usize, *mut c_void, *mut usize) -> Result<(), HalError>,
) -> Result<Vec<T>, HalError> {
    let mut bytes = 0;
    ask(0, null_mut(), &raw mut bytes)?;
    let mut all = vec![none; bytes / size_of::<T>()];
    ask(size_of_val(&*all), all.as_mut_ptr().cast(), null_mut())?;
    Ok(all)
}

/// Memory that has been given back, which is counted before it happens.
static GONE: AtomicU64 = AtomicU64::new(0);

/// While this stays what it is, buffers of one name are one buffer, and memory at one address is
/// one memory: drivers use names and addresses again.
pub(crate) fn memory_gone() -> u64 {
    GONE.load(Ordering::Relaxed)
}

/// A buffer, or shared virtual memory, is about to be given back.
pub(crate) fn memory_goes() {
    GONE.fetch_add(1, Ordering::Relaxed);
}

macro_rules! objects {
    ($($(#[$doc:meta])* $name:ident: $raw:ty, $release:ident $(, $before:expr)?;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) struct $name(pub(crate) $raw);

        // SAFETY: OpenCL's objects may be used and released by any thread.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}

        impl Drop for $name {
            fn drop(&mut self) {
                $($before;)?
                // SAFETY: made by a call that gave one reference, which is given back here.
                let _ = unsafe { call!($release(self.0)) };
            }
        }
    )*};
}
objects! {
    /// Devices of one platform, their memory and programs.
    Context: cl_context, clReleaseContext;
    /// An in-order queue.
    Queue: cl_command_queue, clReleaseCommandQueue;
    /// The end of a command.
    Event: cl_event, clReleaseEvent;
    /// Memory.
    Buffer: cl_mem, clReleaseMemObject, memory_goes();
    /// Text and what was built of it.
    Program: cl_program, clReleaseProgram;
    /// An entry of a program.
    Kernel: cl_kernel, clReleaseKernel;
}

impl Context {
    /// The platform is named, because libraries such as `ocl` ask contexts for it.
    pub(crate) fn new(
        platform: cl_platform_id,
        devices: &[cl_device_id],
    ) -> Result<Context, HalError> {
        let properties = [CL_CONTEXT_PLATFORM, platform.expose_provenance() as isize, 0];
        let mut status = 0;
        // SAFETY: devices of this platform, a list that ends with zero, no callback.
        let made = unsafe {
            call!(clCreateContext(
                properties.as_ptr(),
                devices.len() as u32,
                devices.as_ptr(),
                None,
                null_mut(),
                &raw mut status
            ))
        }?;
        check("clCreateContext", status)?;
        Ok(Context(made))
    }

    /// Another reference to it, which keeps it.
    pub(crate) fn again(&self) -> Result<Context, HalError> {
        // SAFETY: a live context, whose new reference is what is returned.
        unsafe { Context::retained(self.0) }
    }

    /// A context of the program's, which this keeps.
    ///
    /// # Safety
    /// The context exists, and is not yet released.
    pub(crate) unsafe fn retained(context: cl_context) -> Result<Context, HalError> {
        // SAFETY: the caller's promise.
        unsafe { run!(clRetainContext(context)) }?;
        Ok(Context(context))
    }

    /// Its devices.
    pub(crate) fn devices(&self) -> Result<Vec<cl_device_id>, HalError> {
        // SAFETY: a live context; there is room for so many bytes.
        answer(null_mut(), |size, to, len| unsafe {
            run!(clGetContextInfo(self.0, CL_CONTEXT_DEVICES, size, to, len))
        })
    }
}

impl Queue {
    /// In order. Its commands have timestamps if they are to have them.
    pub(crate) fn new(
        context: &Context,
        device: cl_device_id,
        timed: bool,
    ) -> Result<Queue, HalError> {
        let properties = if timed { CL_QUEUE_PROFILING_ENABLE } else { 0 };
        let mut status = 0;
        // SAFETY: the device is the context's.
        let made =
            unsafe { call!(clCreateCommandQueue(context.0, device, properties, &raw mut status)) }?;
        check("clCreateCommandQueue", status)?;
        Ok(Queue(made))
    }

    pub(crate) fn flush(&self) -> Result<(), HalError> {
        // SAFETY: a live queue.
        unsafe { run!(clFlush(self.0)) }
    }

    /// Waits until everything so far has ended.
    pub(crate) fn finish(&self) -> Result<(), HalError> {
        // SAFETY: a live queue.
        unsafe { run!(clFinish(self.0)) }
    }

    /// An event for everything so far.
    pub(crate) fn marker(&self) -> Result<Event, HalError> {
        let mut event = null_mut();
        // SAFETY: a live queue; no wait list.
        unsafe { run!(clEnqueueMarkerWithWaitList(self.0, 0, null(), &raw mut event)) }?;
        Ok(Event(event))
    }

    /// Later commands wait for these events, of commands that are on their way: here, if the
    /// queue cannot.
    pub(crate) fn waits_for(&self, events: &[Arc<Event>]) {
        if !events.is_empty() && self.try_waits_for(events).is_err() {
            events.iter().for_each(|event| event.wait_over());
        }
    }

    /// The same, if the queue can.
    pub(crate) fn try_waits_for(&self, events: &[Arc<Event>]) -> Result<(), HalError> {
        let raw: Vec<_> = events.iter().map(|event| event.0).collect();
        let (count, first) = (raw.len() as u32, raw.as_ptr());
        // SAFETY: a live queue; events of its context, which the caller keeps for the call.
        unsafe { run!(clEnqueueBarrierWithWaitList(self.0, count, first, null_mut())) }
    }
}

/// An answer of OpenCL about a memory object: a number, or a name.
///
/// # Safety
/// The object is live.
unsafe fn ask(object: cl_mem, what: u32) -> Result<usize, HalError> {
    let mut answer = [0u8; size_of::<usize>()];
    let (to, room) = (answer.as_mut_ptr().cast::<c_void>(), answer.len());
    let mut len = 0;
    // SAFETY: a live object (the caller's promise); there is room for any answer.
    unsafe { run!(clGetMemObjectInfo(object, what, room, to, &raw mut len)) }?;
    let (number, _) = answer.split_at(len.min(room));
    let mut word = [0; size_of::<usize>()];
    word[..number.len()].copy_from_slice(number);
    Ok(usize::from_ne_bytes(word))
}

impl Buffer {
    /// Memory of the driver's own. Commands that use it hold it when this is gone.
    pub(crate) fn new(context: &Context, bytes: usize) -> Result<Buffer, HalError> {
        // SAFETY: nothing of the host's.
        unsafe { Buffer::over(context, CL_MEM_READ_WRITE, bytes, null_mut()) }
    }

    /// Memory as the flags say, which may be over memory that is there.
    ///
    /// # Safety
    /// If the flags say so, `at` leads to so many bytes, which are copied in the call, or live as
    /// long as the buffer and the commands that use it.
    pub(crate) unsafe fn over(
        context: &Context,
        flags: cl_mem_flags,
        bytes: usize,
        at: *mut c_void,
    ) -> Result<Buffer, HalError> {
        let mut status = 0;
        // SAFETY: a live context, and the caller's promise.
        let made = unsafe { call!(clCreateBuffer(context.0, flags, bytes, at, &raw mut status)) }?;
        check("clCreateBuffer", status)?;
        Ok(Buffer(made))
    }

    /// A part of it, of so many bytes from a place on that is aligned as the device says. Kernels
    /// may do with it what they may with the whole.
    pub(crate) fn part(&self, origin: usize, size: usize) -> Result<Buffer, HalError> {
        // SAFETY: a live buffer.
        if unsafe { ask(self.0, CL_MEM_ASSOCIATED_MEMOBJECT) }? != 0 {
            return Err(HalError::unsupported("a part of a buffer that is itself a part of one"));
        }
        let region = cl_buffer_region { origin, size };
        let (what, at) = (CL_BUFFER_CREATE_TYPE_REGION, (&raw const region).cast::<c_void>());
        let mut status = 0;
        // SAFETY: the driver refuses what is no part of the buffer.
        let part = unsafe { call!(clCreateSubBuffer(self.0, 0, what, at, &raw mut status)) }?;
        check("clCreateSubBuffer", status)?;
        Ok(Buffer(part))
    }

    /// A buffer of somebody else's, of so many bytes at least, which keeps it.
    pub(crate) fn shared(
        context: &Context,
        object: cl_mem,
        bytes: usize,
    ) -> Result<Buffer, HalError> {
        // SAFETY: a live object: who asked for this promised it.
        let ask = |what| unsafe { ask(object, what) };
        if ask(CL_MEM_CONTEXT)? != context.0.addr() {
            return Err(HalError::unsupported("a buffer of another context"));
        }
        let size = ask(CL_MEM_SIZE)?;
        if ask(CL_MEM_TYPE)? != CL_MEM_OBJECT_BUFFER as usize || size < bytes {
            let what = format!("memory that is no buffer of {bytes} bytes (it has {size})");
            return Err(HalError::unsupported(&what));
        }
        // SAFETY: a live object, whose new reference is this one's.
        unsafe { run!(clRetainMemObject(object)) }?;
        Ok(Buffer(object))
    }
}

impl Kernel {
    /// The entry of this name of a program that is built.
    pub(crate) fn new(program: &Program, entry: &str) -> Result<Kernel, HalError> {
        let nul = |_| HalError::new(HalErrorKind::Build, "a name with a zero byte");
        let entry = CString::new(entry).map_err(nul)?;
        let mut status = 0;
        // SAFETY: a program that is built, and a name that ends.
        let kernel = unsafe { call!(clCreateKernel(program.0, entry.as_ptr(), &raw mut status)) }?;
        check("clCreateKernel", status)?;
        Ok(Kernel(kernel))
    }
}

impl Event {
    /// How far the command is, or how it failed.
    fn status(&self) -> Result<cl_int, HalError> {
        let mut status: cl_int = 0;
        // SAFETY: a live event; the answer is a `cl_int`.
        unsafe {
            run!(clGetEventInfo(
                self.0,
                CL_EVENT_COMMAND_EXECUTION_STATUS,
                size_of::<cl_int>(),
                (&raw mut status).cast::<c_void>(),
                null_mut()
            ))
        }?;
        Ok(status)
    }

    /// Whether the command has ended; the error of one that failed. A driver that cannot say it now
    /// says it later.
    pub(crate) fn ended(&self) -> Result<bool, HalError> {
        let status = match self.status() {
            Err(error) if is_short(&error) => return Ok(false),
            status => status?,
        };
        if status < 0 {
            check("a command", status)?;
        }
        Ok(status == CL_COMPLETE)
    }

    /// Whether the command touches nothing any more: it has ended or failed, or the driver, which
    /// does not say how far it is, does not wait for it either.
    pub(crate) fn is_over(&self) -> bool {
        match self.status() {
            Ok(status) => status <= CL_COMPLETE,
            Err(error) if is_short(&error) => false,
            Err(_) => self.wait().err().is_none_or(|error| !is_short(&error)),
        }
    }

    pub(crate) fn wait(&self) -> Result<(), HalError> {
        // SAFETY: one live event.
        unsafe { run!(clWaitForEvents(1, &raw const self.0)) }
    }

    /// Waits until the command touches nothing any more, however it ends.
    pub(crate) fn wait_over(&self) {
        while self.wait().is_err() && !self.is_over() {
            std::thread::yield_now();
        }
    }

    /// When the command was given, began, and ended.
    pub(crate) fn times(&self) -> Result<[u64; 3], HalError> {
        let whats =
            [CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END];
        let mut times = [0u64; 3];
        for (what, time) in whats.into_iter().zip(&mut times) {
            let to = std::ptr::from_mut(time).cast::<c_void>();
            // SAFETY: a live event of a queue with timestamps; the answer is a `cl_ulong`.
            unsafe { run!(clGetEventProfilingInfo(self.0, what, 8, to, null_mut())) }?;
        }
        Ok(times)
    }
}
