//! OpenCL, by its own calls.

use super::{Arg, Call, End, LANES, Native, Place, Rows, failed, usual_group};
use crate::error::{Error, Result};
use cl3::device::CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
use cl3::{OpenClRuntime, command_queue, context, device, event, kernel, load_library};
use cl3::{memory, platform, program};
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::{Mutex, PoisonError};

const PRELUDE: &str = "
#pragma OPENCL FP_CONTRACT OFF
#define KERNEL kernel void
#define FUNCTION
#define GLOBAL global
#define LOCAL local
#define RESTRICT restrict
#define X get_global_id(0)
#define Y get_global_id(1)
#define Z get_global_id(2)
#define LX get_local_id(0)
#define LY get_local_id(1)
#define GX get_group_id(0)
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define FMA(a, b, c) fma(a, b, c)
#define INCREMENT(p) atomic_inc(p)
#define ADD(p, n) atomic_add(p, n)
#define GROUP(x, y) __attribute__((reqd_work_group_size(x, y, 1)))
";
const ON_CPUS: &str = "
#define WIDE float16
#define WITHIN(i, n)
#define STREAM(...) { size_t i = X; __VA_ARGS__ }
";
const ON_GPUS: &str = "
#define WIDE float
#define WITHIN(i, n) if ((i) >= (n)) return
#define ONE_OF_FOUR(k, ...) { size_t i = GX * 1024 + k * 256 + LX; __VA_ARGS__ }
#define STREAM(...) ONE_OF_FOUR(0, __VA_ARGS__) ONE_OF_FOUR(1, __VA_ARGS__) \\
                    ONE_OF_FOUR(2, __VA_ARGS__) ONE_OF_FOUR(3, __VA_ARGS__)
";

/// A device with a context and queues of its own.
pub struct OpenCl {
    device: usize,
    context: usize,
    queues: [usize; LANES],
    is_cpu: bool,
    cache: u64,
    options: CString,
    programs: Mutex<HashMap<String, usize>>,
}

fn told<T>(call: &'static str, result: std::result::Result<T, i32>) -> Result<T> {
    result.map_err(|status| failed(call, cl3::error_codes::error_text(status)))
}

fn done(call: &'static str, status: Option<i32>) -> Result<()> {
    match status {
        Some(0) => Ok(()),
        Some(status) => Err(failed(call, cl3::error_codes::error_text(status))),
        None => Err(failed(call, "the loader does not have it")),
    }
}

fn library() -> Result<&'static OpenClRuntime> {
    load_library().as_ref().map_err(|why| failed("the OpenCL loader", why))
}

fn ptr(handle: usize) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(handle)
}

impl OpenCl {
    /// The device of this name; of several, the `nth`.
    pub fn open(name: &str, nth: usize) -> Result<OpenCl> {
        library()?;
        let kinds = device::CL_DEVICE_TYPE_ALL;
        let mut found = Vec::new();
        for platform in told("clGetPlatformIDs", platform::get_platform_ids())? {
            for id in device::get_device_ids(platform, kinds).unwrap_or_default() {
                let info =
                    told("clGetDeviceInfo", device::get_device_info(id, device::CL_DEVICE_NAME))?;
                if info.to_string().trim_end_matches('\0').trim() == name {
                    found.push(id);
                }
            }
        }
        let id = *found.get(nth).ok_or_else(|| failed("clGetDeviceIDs", format!("no '{name}'")))?;
        let ask = |what| told("clGetDeviceInfo", device::get_device_info(id, what));
        let floats = ask(device::CL_DEVICE_SINGLE_FP_CONFIG)?.to_ulong();
        let exact = floats & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT != 0;
        let options = if exact { c"-cl-fp32-correctly-rounded-divide-sqrt" } else { c"" };
        let context = context::create_context(&[id], null(), None, null_mut());
        let context = told("clCreateContext", context)?;
        let mut queues = [0; LANES];
        for queue in &mut queues {
            // SAFETY: the context is of this device.
            let made = unsafe { command_queue::create_command_queue(context, id, 0) };
            *queue = told("clCreateCommandQueue", made)?.expose_provenance();
        }
        Ok(OpenCl {
            device: id.expose_provenance(),
            context: context.expose_provenance(),
            queues,
            is_cpu: ask(device::CL_DEVICE_TYPE)?.to_ulong() & device::CL_DEVICE_TYPE_CPU != 0,
            cache: ask(device::CL_DEVICE_GLOBAL_MEM_CACHE_SIZE)?.to_ulong(),
            options: options.to_owned(),
            programs: Mutex::default(),
        })
    }

    fn program(&self, text: &str) -> Result<usize> {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = programs.get(text) {
            return Ok(*program);
        }
        let kind = if self.is_cpu { ON_CPUS } else { ON_GPUS };
        // A single text: cl3 0.13 passes several without the lengths that it should.
        let all = format!("{PRELUDE}{kind}{text}");
        let made = program::create_program_with_source(ptr(self.context), &[&all]);
        let made = told("clCreateProgramWithSource", made)?;
        let device = [ptr(self.device)];
        if let Err(status) = program::build_program(made, &device, &self.options, None, null_mut())
        {
            let log =
                program::get_program_build_info(made, device[0], program::CL_PROGRAM_BUILD_LOG);
            let log = log.map_or(String::new(), |log| log.to_string());
            let why = cl3::error_codes::error_text(status);
            return Err(failed("clBuildProgram", format!("{why}\n{log}")));
        }
        programs.insert(text.to_owned(), made.expose_provenance());
        Ok(made.expose_provenance())
    }

    fn queue(&self, lane: usize) -> *mut c_void {
        ptr(self.queues[lane % LANES])
    }
}

/// As OpenCL has a rectangle: where it begins within a row and by rows.
fn origin(rows: Rows) -> [usize; 3] {
    match rows.pitch {
        0 => [rows.offset, 0, 0],
        pitch => [rows.offset % pitch, rows.offset / pitch, 0],
    }
}

/// A copy of rows, by the call for plain memory where there is one row.
struct Copy {
    queue: *mut c_void,
    there: Rows,
    here: Rows,
    extent: [usize; 2],
}

impl Copy {
    fn region(&self) -> [usize; 3] {
        [self.extent[1], self.extent[0], 1]
    }

    fn is_plain(&self) -> bool {
        self.extent[0] == 1
    }

    fn within(&self, from: *mut c_void, to: *mut c_void) -> Result<Option<i32>> {
        let Copy { queue, there, here, extent } = *self;
        let (library, none, event) = (library()?, null(), null_mut());
        if self.is_plain() {
            let (begin, end, bytes) = (here.offset, there.offset, extent[1]);
            return Ok(
                library.clEnqueueCopyBuffer(queue, from, to, begin, end, bytes, 0, none, event)
            );
        }
        let (begin, end, region) = (origin(here), origin(there), self.region());
        let (begin, end, region) = (begin.as_ptr(), end.as_ptr(), region.as_ptr());
        let [a, b] = [here.pitch, there.pitch];
        Ok(library.clEnqueueCopyBufferRect(
            queue, from, to, begin, end, region, a, 0, b, 0, 0, none, event,
        ))
    }

    fn up(&self, from: *mut u8, to: *mut c_void) -> Result<Option<i32>> {
        let Copy { queue, there, here, extent } = *self;
        let (library, none, event) = (library()?, null(), null_mut());
        if self.is_plain() {
            let (at, bytes, from) = (there.offset, extent[1], from.wrapping_add(here.offset));
            return Ok(library.clEnqueueWriteBuffer(
                queue,
                to,
                0,
                at,
                bytes,
                from.cast(),
                0,
                none,
                event,
            ));
        }
        let (begin, end, region) = (origin(here), origin(there), self.region());
        let (begin, end, region) = (begin.as_ptr(), end.as_ptr(), region.as_ptr());
        let ([a, b], from) = ([there.pitch, here.pitch], from.cast());
        Ok(library.clEnqueueWriteBufferRect(
            queue, to, 0, end, begin, region, a, 0, b, 0, from, 0, none, event,
        ))
    }

    fn down(&self, from: *mut c_void, to: *mut u8) -> Result<Option<i32>> {
        let Copy { queue, there, here, extent } = *self;
        let (library, none, event) = (library()?, null(), null_mut());
        if self.is_plain() {
            let (at, bytes, to) = (here.offset, extent[1], to.wrapping_add(there.offset));
            return Ok(library.clEnqueueReadBuffer(
                queue,
                from,
                0,
                at,
                bytes,
                to.cast(),
                0,
                none,
                event,
            ));
        }
        let (begin, end, region) = (origin(here), origin(there), self.region());
        let (begin, end, region) = (begin.as_ptr(), end.as_ptr(), region.as_ptr());
        let ([a, b], to) = ([here.pitch, there.pitch], to.cast());
        Ok(library.clEnqueueReadBufferRect(
            queue, from, 0, begin, end, region, a, 0, b, 0, to, 0, none, event,
        ))
    }
}

impl Native for OpenCl {
    fn api(&self) -> &'static str {
        "OpenCL"
    }

    fn is_cpu(&self) -> bool {
        self.is_cpu
    }

    fn cache_bytes(&self) -> u64 {
        self.cache
    }

    fn enter(&self) -> Result<()> {
        Ok(())
    }

    fn allocate(&self, bytes: usize, svm: bool) -> Result<Place> {
        if svm {
            let flags = memory::CL_MEM_READ_WRITE;
            let at = library()?.clSVMAlloc(ptr(self.context), flags, bytes, 0);
            let at = at.filter(|at| !at.is_null()).ok_or_else(|| {
                Error::NotHere("by hand: OpenCL has no shared virtual memory here".to_owned())
            })?;
            return Ok(Place { at: at.expose_provenance(), is_svm: true });
        }
        let flags = memory::CL_MEM_READ_WRITE;
        // SAFETY: no host memory is passed.
        let made = unsafe { memory::create_buffer(ptr(self.context), flags, bytes, null_mut()) };
        Ok(Place { at: told("clCreateBuffer", made)?.expose_provenance(), is_svm: false })
    }

    fn free(&self, place: Place) {
        if place.is_svm {
            if let Ok(library) = library() {
                library.clSVMFree(ptr(self.context), ptr(place.at));
            }
            return;
        }
        // SAFETY: its owner is being dropped. A failure leaves the memory with the driver.
        let _ = unsafe { memory::release_mem_object(ptr(place.at)) };
    }

    fn host_memory(&self, bytes: usize) -> Result<*mut u8> {
        let flags = memory::CL_MEM_READ_WRITE | memory::CL_MEM_ALLOC_HOST_PTR;
        // SAFETY: no host memory is passed.
        let made = unsafe { memory::create_buffer(ptr(self.context), flags, bytes, null_mut()) };
        let made = told("clCreateBuffer", made)?;
        let (mut at, flags) = (null_mut(), memory::CL_MAP_READ | memory::CL_MAP_WRITE);
        // SAFETY: all of a live buffer, which is never unmapped.
        let mapped = unsafe {
            command_queue::enqueue_map_buffer(
                self.queue(0),
                made,
                1,
                flags,
                0,
                bytes,
                &mut at,
                0,
                null(),
            )
        };
        told("clEnqueueMapBuffer", mapped)?;
        Ok(at.cast())
    }

    fn map(&self, place: Place, bytes: usize) -> Result<*mut u8> {
        let (mut at, flags) = (null_mut(), memory::CL_MAP_READ | memory::CL_MAP_WRITE);
        let (queue, none) = (self.queue(0), null());
        // SAFETY: so many bytes of a live buffer; the call blocks.
        let mapped = unsafe {
            command_queue::enqueue_map_buffer(
                queue,
                ptr(place.at),
                1,
                flags,
                0,
                bytes,
                &mut at,
                0,
                none,
            )
        };
        self.forget(told("clEnqueueMapBuffer", mapped)?.expose_provenance());
        Ok(at.cast())
    }

    fn unmap(&self, place: Place, at: *mut u8) -> Result<()> {
        let (queue, none) = (self.queue(0), null());
        // SAFETY: what `map` has given.
        let done = unsafe {
            command_queue::enqueue_unmap_mem_object(queue, ptr(place.at), at.cast(), 0, none)
        };
        self.forget(told("clEnqueueUnmapMemObject", done)?.expose_provenance());
        Ok(())
    }

    fn kernel(&self, text: &str, name: &str) -> Result<usize> {
        let program = self.program(text)?;
        let name = CString::new(name).map_err(|why| failed("clCreateKernel", why))?;
        let made = kernel::create_kernel(ptr(program), &name);
        told("clCreateKernel", made).map(<*mut c_void>::expose_provenance)
    }

    fn launch(&self, lane: usize, call: &Call) -> Result<()> {
        let (library, kernel) = (library()?, ptr(call.kernel));
        for (at, arg) in (0u32..).zip(&call.args) {
            let status = match arg {
                Arg::U32(value) => {
                    library.clSetKernelArg(kernel, at, 4, (&raw const *value).cast())
                }
                Arg::F32(value) => {
                    library.clSetKernelArg(kernel, at, 4, (&raw const *value).cast())
                }
                Arg::Memory(memory) if memory.place.is_svm => {
                    library.clSetKernelArgSVMPointer(kernel, at, ptr(memory.place.at))
                }
                Arg::Memory(memory) => {
                    let at_memory = ptr(memory.place.at);
                    library.clSetKernelArg(kernel, at, 8, (&raw const at_memory).cast())
                }
            };
            done("clSetKernelArg", status)?;
        }
        let group = call.group.or((!self.is_cpu).then(|| usual_group(call.dims)));
        let mut items = call.items;
        if let Some(group) = group {
            items.iter_mut().zip(group).for_each(|(n, g)| *n = n.next_multiple_of(g));
        }
        let group = group.as_ref().map_or(null(), |group| group.as_ptr());
        let (queue, dims) = (self.queue(lane), call.dims as u32);
        let status = library.clEnqueueNDRangeKernel(
            queue,
            kernel,
            dims,
            null(),
            items.as_ptr(),
            group,
            0,
            null(),
            null_mut(),
        );
        done("clEnqueueNDRangeKernel", status)
    }

    unsafe fn copy(
        &self,
        lane: usize,
        (to, there): (End, Rows),
        (from, here): (End, Rows),
        extent: [usize; 2],
    ) -> Result<()> {
        let copy = Copy { queue: self.queue(lane), there, here, extent };
        let status = match (to, from) {
            (End::Host(to), End::Host(from)) => {
                for row in 0..extent[0] {
                    let at = [there, here].map(|r| r.offset + row * r.pitch);
                    // SAFETY: our caller's promise.
                    unsafe { from.add(at[1]).copy_to_nonoverlapping(to.add(at[0]), extent[1]) };
                }
                Some(0)
            }
            (End::Device(to), End::Device(from)) => copy.within(ptr(from.at), ptr(to.at))?,
            (End::Device(to), End::Host(from)) => copy.up(from, ptr(to.at))?,
            (End::Host(to), End::Device(from)) => copy.down(ptr(from.at), to)?,
        };
        done("a copy", status)
    }

    fn record(&self, lane: usize) -> Result<usize> {
        let mut made = null_mut();
        let status =
            library()?.clEnqueueMarkerWithWaitList(self.queue(lane), 0, null(), &raw mut made);
        done("clEnqueueMarkerWithWaitList", status)?;
        told("clFlush", command_queue::flush(self.queue(lane)))?;
        Ok(made.expose_provenance())
    }

    fn wait(&self, lane: usize, event: usize) -> Result<()> {
        let (events, none) = ([ptr(event)], null_mut());
        let status =
            library()?.clEnqueueBarrierWithWaitList(self.queue(lane), 1, events.as_ptr(), none);
        done("clEnqueueBarrierWithWaitList", status)
    }

    fn forget(&self, event: usize) {
        // SAFETY: `record` made it, and the caller uses it no more.
        let _ = unsafe { event::release_event(ptr(event)) };
    }

    fn finish(&self, lane: usize) -> Result<()> {
        told("clFinish", command_queue::finish(self.queue(lane)))
    }
}
