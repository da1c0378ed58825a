//! Raw OpenCL: what the kernels of `raw.cl` take without us, on a CPU (PoCL, for one) or on a GPU.

use cl3::device::CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
use cl3::{
    OpenClRuntime, command_queue, context, device, kernel, load_library, memory, platform, program,
};
use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};

/// A device, and the kernels compiled for it.
pub struct Raw {
    /// What it calls itself.
    pub name: String,
    context: *mut c_void,
    queue: *mut c_void,
    program: *mut c_void,
}

/// An argument.
#[derive(Clone, Copy)]
pub enum Arg {
    /// A number.
    Float(f32),
    /// An extent.
    Count(usize),
    /// Memory that [`Raw::memory`] made.
    Memory(*mut c_void),
}

/// A kernel with its arguments, to be launched.
#[derive(Clone)]
pub struct Call {
    kernel: *mut c_void,
    args: Vec<Arg>,
    from: Vec<usize>,
    items: Vec<usize>,
    group: Option<Vec<usize>>,
}

fn told<T>(what: &str, result: Result<T, i32>) -> Result<T, String> {
    result.map_err(|status| format!("{what}: {}", cl3::error_codes::error_text(status)))
}

/// OpenCL's own functions.
fn library() -> &'static OpenClRuntime {
    load_library().as_ref().expect("a loader, since a device was opened")
}

impl Raw {
    /// The first device of this type that OpenCL knows; or why there is none.
    pub fn open(kind: u64) -> Result<Raw, String> {
        if let Err(error) = load_library() {
            return Err(format!("no OpenCL loader: {error}"));
        }
        let platforms = told("no OpenCL platform", platform::get_platform_ids())?;
        let found =
            platforms.iter().filter_map(|platform| device::get_device_ids(*platform, kind).ok());
        let found = found.flatten().collect::<Vec<_>>();
        let id = *found.first().ok_or("OpenCL has no such device here")?;
        let name = told("name", device::get_device_info(id, device::CL_DEVICE_NAME))?.to_string();
        let name = name.trim_end_matches('\0').to_owned();
        let context = told("context", context::create_context(&[id], null(), None, null_mut()))?;
        // SAFETY: the context is of this device.
        let queue = unsafe { command_queue::create_command_queue(context, id, 0) };
        let queue = told("queue", queue)?;
        let made = program::create_program_with_source(context, &[include_str!("raw.cl")]);
        let program = told("program", made)?;
        // As exact as ours, where the device can be.
        let floats = device::get_device_info(id, device::CL_DEVICE_SINGLE_FP_CONFIG);
        let exact = told("floats", floats)?.to_ulong() & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT != 0;
        let options = if exact { c"-cl-fp32-correctly-rounded-divide-sqrt" } else { c"" };
        let built = program::build_program(program, &[id], options, None, null_mut());
        told("building", built)?;
        Ok(Raw { name, context, queue, program })
    }

    /// Memory with these values. It lives until it is [released](Self::release).
    pub fn memory<T: Copy>(&self, values: &[T]) -> Arg {
        let flags = memory::CL_MEM_READ_WRITE | memory::CL_MEM_COPY_HOST_PTR;
        let from = values.as_ptr().cast_mut().cast();
        // SAFETY: `values` are read while this is called.
        let made = unsafe { memory::create_buffer(self.context, flags, size_of_val(values), from) };
        Arg::Memory(told("memory", made).expect("OpenCL has memory"))
    }

    /// Allocates shared virtual memory, and frees it; false if there is none.
    pub fn allocate(&self, bytes: usize) -> bool {
        let opencl = library();
        let at = opencl.clSVMAlloc(self.context, memory::CL_MEM_READ_WRITE, bytes, 0);
        let at = at.filter(|at| !at.is_null());
        at.and_then(|at| opencl.clSVMFree(self.context, at)).is_some()
    }

    /// Gives memory back.
    pub fn release(&self, memory: Arg) {
        if let Arg::Memory(memory) = memory {
            // SAFETY: made by `memory`; whoever releases it uses it no more.
            told("release", unsafe { memory::release_mem_object(memory) }).expect("it is there");
        }
    }

    /// What is in memory.
    pub fn floats(&self, memory: Arg, len: usize) -> Vec<f32> {
        let Arg::Memory(memory) = memory else { return vec![] };
        let mut values = vec![0.0f32; len];
        let to = values.as_mut_ptr().cast();
        // SAFETY: there is room for so many; the call waits until they are there.
        let read = unsafe {
            command_queue::enqueue_read_buffer(self.queue, memory, 1, 0, 4 * len, to, 0, null())
        };
        told("reading", read).expect("the memory is of this size");
        values
    }

    /// A kernel over items from a position on; dimensions as OpenCL has them, the fastest first.
    pub fn call(
        &self,
        name: &str,
        args: &[Arg],
        from: &[usize],
        items: &[usize],
        group: Option<&[usize]>,
    ) -> Call {
        let name = CString::new(name).expect("a name");
        let kernel = told("kernel", kernel::create_kernel(self.program, &name));
        let kernel = kernel.expect("`raw.cl` has it");
        let group = group.map(<[usize]>::to_vec);
        let (args, from, items) = (args.to_vec(), from.to_vec(), items.to_vec());
        Call { kernel, args, from, items, group }
    }

    /// A sum of `n` values: a value for each 4096, until one is left.
    pub fn sum(&self, n: usize, x: Arg, y: Arg) -> Vec<Call> {
        let (mut calls, mut left, mut from) = (vec![], n, x);
        while left > 1 {
            let groups = left.div_ceil(4096);
            let to = if groups == 1 { y } else { self.memory(&vec![0.0f32; groups]) };
            let args = [Arg::Count(left), from, to];
            calls.push(self.call("sum", &args, &[0], &[groups * 256], Some(&[256])));
            (left, from) = (groups, to);
        }
        calls
    }

    /// Sets arguments and launches, one after the other, without events; and waits.
    pub fn run<'c>(&self, calls: impl IntoIterator<Item = &'c Call>) {
        for call in calls {
            call.set();
            let (dims, from, items) =
                (call.items.len() as u32, call.from.as_ptr(), call.items.as_ptr());
            let group = call.group.as_ref().map_or(null(), Vec::as_ptr);
            let (queue, kernel, none) = (self.queue, call.kernel, null_mut());
            let opencl = library();
            let launched = opencl.clEnqueueNDRangeKernel(
                queue,
                kernel,
                dims,
                from,
                items,
                group,
                0,
                null(),
                none,
            );
            assert_eq!(launched, Some(0), "the launch is right");
        }
        self.finish();
    }

    /// Copies the first bytes of memory so many times, and waits.
    pub fn copy(&self, [from, to]: [Arg; 2], bytes: usize, times: usize) {
        let (Arg::Memory(from), Arg::Memory(to)) = (from, to) else { return };
        for _ in 0..times {
            let (queue, none) = (self.queue, null_mut());
            let copied =
                library().clEnqueueCopyBuffer(queue, from, to, 0, 0, bytes, 0, null(), none);
            assert_eq!(copied, Some(0), "the copy is within both");
        }
        self.finish();
    }

    fn finish(&self) {
        told("waiting", command_queue::finish(self.queue)).expect("the commands run");
    }
}

impl Call {
    /// The same kernel with other arguments.
    pub fn of(&self, args: &[Arg]) -> Call {
        Call { args: args.to_vec(), ..self.clone() }
    }

    fn set(&self) {
        for (at, arg) in (0u32..).zip(&self.args) {
            let count;
            let (size, value): (usize, *const c_void) = match arg {
                Arg::Float(value) => (4, (&raw const *value).cast()),
                Arg::Count(value) => {
                    count = *value as u32;
                    (4, (&raw const count).cast())
                }
                Arg::Memory(memory) => (8, (&raw const *memory).cast()),
            };
            let set = library().clSetKernelArg(self.kernel, at, size, value);
            assert_eq!(set, Some(0), "the kernel has this argument");
        }
    }
}
