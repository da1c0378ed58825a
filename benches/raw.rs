//! Raw OpenCL on a CPU (PoCL, for one): what the kernels of `raw.cl` take without us.

use cl3::{command_queue, context, device, kernel, memory, platform, program};
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
pub struct Call {
    kernel: *mut c_void,
    from: Vec<usize>,
    items: Vec<usize>,
    group: Option<Vec<usize>>,
}

fn told<T>(what: &str, result: Result<T, i32>) -> Result<T, String> {
    result.map_err(|status| format!("{what}: {}", cl3::error_codes::error_text(status)))
}

impl Raw {
    /// The first CPU that OpenCL knows; or why there is none.
    pub fn open() -> Result<Raw, String> {
        if let Err(error) = cl3::load_library() {
            return Err(format!("no OpenCL loader: {error}"));
        }
        let platforms = told("no OpenCL platform", platform::get_platform_ids())?;
        let cpus = platforms.iter().filter_map(|platform| {
            device::get_device_ids(*platform, device::CL_DEVICE_TYPE_CPU).ok()
        });
        let cpu = *cpus.flatten().collect::<Vec<_>>().first().ok_or("OpenCL has no CPU here")?;
        let name = told("name", device::get_device_info(cpu, device::CL_DEVICE_NAME))?.to_string();
        let name = name.trim_end_matches('\0').to_owned();
        let context = told("context", context::create_context(&[cpu], null(), None, null_mut()))?;
        // SAFETY: the context is of this device.
        let queue = unsafe { command_queue::create_command_queue(context, cpu, 0) };
        let queue = told("queue", queue)?;
        let made = program::create_program_with_source(context, &[include_str!("raw.cl")]);
        let program = told("program", made)?;
        let built = program::build_program(program, &[cpu], c"", None, null_mut());
        told("building", built)?;
        Ok(Raw { name, context, queue, program })
    }

    /// Memory with these values. It lives as long as the process.
    pub fn memory<T: Copy>(&self, values: &[T]) -> Arg {
        let flags = memory::CL_MEM_READ_WRITE | memory::CL_MEM_COPY_HOST_PTR;
        let from = values.as_ptr().cast_mut().cast();
        // SAFETY: `values` are read while this is called.
        let made = unsafe { memory::create_buffer(self.context, flags, size_of_val(values), from) };
        Arg::Memory(told("memory", made).expect("OpenCL has memory"))
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
        for (at, arg) in (0u32..).zip(args) {
            let count;
            let (size, value): (usize, *const c_void) = match arg {
                Arg::Float(value) => (4, (&raw const *value).cast()),
                Arg::Count(value) => {
                    count = *value as u32;
                    (4, (&raw const count).cast())
                }
                Arg::Memory(memory) => (8, (&raw const *memory).cast()),
            };
            // SAFETY: the value has this size, and is copied.
            let set = unsafe { kernel::set_kernel_arg(kernel, at, size, value) };
            told("argument", set).expect("the kernel has it");
        }
        let group = group.map(<[usize]>::to_vec);
        Call { kernel, from: from.to_vec(), items: items.to_vec(), group }
    }

    /// Launches them one after the other, and waits.
    pub fn run(&self, calls: &[Call]) {
        for call in calls {
            let (dims, from, items) =
                (call.items.len() as u32, call.from.as_ptr(), call.items.as_ptr());
            let group = call.group.as_ref().map_or(null(), Vec::as_ptr);
            // SAFETY: indices of the kernels in `raw.cl` are within the memory that they are given.
            let launched = unsafe {
                let (queue, kernel) = (self.queue, call.kernel);
                command_queue::enqueue_nd_range_kernel(
                    queue,
                    kernel,
                    dims,
                    from,
                    items,
                    group,
                    0,
                    null(),
                )
            };
            let event = told("launch", launched).expect("the launch is right");
            // SAFETY: nobody else has it.
            let _ = unsafe { cl3::event::release_event(event) };
        }
        told("waiting", command_queue::finish(self.queue)).expect("the kernels run");
    }
}
