//! As much of OpenCL as it takes to run emitted kernels: the loader, found when the tests run, one
//! device, programs, buffers, launches.

use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

type Id = *mut c_void;

macro_rules! functions {
    ($($name:ident: fn($($arg:ty),*) -> $result:ty;)*) => {
        #[allow(non_snake_case, reason = "the names that OpenCL has for them")]
        struct Functions { $($name: unsafe extern "system" fn($($arg),*) -> $result,)* }

        impl Functions {
            fn of(library: &Library) -> Result<Functions, String> {
                // SAFETY: these are the types that the OpenCL specification gives the functions;
                // the library is kept as long as they are.
                unsafe {
                    Ok(Functions { $($name: *library
                        .get(concat!(stringify!($name), "\0").as_bytes())
                        .map_err(|error| error.to_string())?,)* })
                }
            }
        }
    };
}
functions! {
    clGetPlatformIDs: fn(u32, *mut Id, *mut u32) -> i32;
    clGetDeviceIDs: fn(Id, u64, u32, *mut Id, *mut u32) -> i32;
    clGetDeviceInfo: fn(Id, u32, usize, *mut c_void, *mut usize) -> i32;
    clCreateContext: fn(*const isize, u32, *const Id, *const c_void, *mut c_void, *mut i32) -> Id;
    clCreateCommandQueue: fn(Id, Id, u64, *mut i32) -> Id;
    clCreateProgramWithSource: fn(Id, u32, *const *const c_char, *const usize, *mut i32) -> Id;
    clBuildProgram: fn(Id, u32, *const Id, *const c_char, *const c_void, *mut c_void) -> i32;
    clGetProgramBuildInfo: fn(Id, Id, u32, usize, *mut c_void, *mut usize) -> i32;
    clReleaseProgram: fn(Id) -> i32;
    clCreateKernel: fn(Id, *const c_char, *mut i32) -> Id;
    clReleaseKernel: fn(Id) -> i32;
    clSetKernelArg: fn(Id, u32, usize, *const c_void) -> i32;
    clCreateBuffer: fn(Id, u64, usize, *mut c_void, *mut i32) -> Id;
    clReleaseMemObject: fn(Id) -> i32;
    clEnqueueNDRangeKernel: fn(Id, Id, u32, *const usize, *const usize, *const usize, u32, *const Id, *mut Id) -> i32;
    clEnqueueReadBuffer: fn(Id, Id, u32, usize, usize, *mut c_void, u32, *const Id, *mut Id) -> i32;
}

/// A device.
pub struct OpenCl {
    call: Functions,
    device: Id,
    context: Id,
    queue: Id,
    /// Its name.
    pub name: String,
    /// The extensions that it has.
    pub extensions: String,
    _library: Library,
}

// SAFETY: OpenCL's objects may be used from any thread (only `clSetKernelArg` of one kernel may
// not from two at once, and each kernel here is used by the thread that made it).
unsafe impl Send for OpenCl {}
// SAFETY: as above.
unsafe impl Sync for OpenCl {}

/// A program's kernel, or what its compiler said.
pub struct Program<'d> {
    device: &'d OpenCl,
    program: Id,
    /// The compiler's messages, warnings included.
    pub log: String,
}

/// Memory of the device.
pub struct Memory<'d> {
    device: &'d OpenCl,
    buffer: Id,
    len: usize,
}

/// An argument of a kernel.
pub enum Argument<'a> {
    /// Its bytes.
    Bytes(&'a [u8]),
    /// Memory.
    Memory(&'a Memory<'a>),
    /// Local memory of so many bytes.
    Local(usize),
}

fn fine(what: &str, code: i32) -> Result<(), String> {
    if code == 0 { Ok(()) } else { Err(format!("{what}: OpenCL error {code}")) }
}

fn ended(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|error| error.to_string())
}

/// A log without what NVIDIA's compiler says of every kernel there is: that it may become part of
/// another one.
pub fn without_remarks(log: &str) -> String {
    let said = log.lines().filter(|line| !line.contains("overriding noinline attribute"));
    said.collect::<Vec<_>>().join("\n").trim().to_owned()
}

impl OpenCl {
    /// The first device there is, opened once for all tests of a process; an error says why there
    /// is none.
    pub fn first() -> Result<&'static OpenCl, &'static str> {
        static FIRST: OnceLock<Result<OpenCl, String>> = OnceLock::new();
        FIRST.get_or_init(OpenCl::open).as_ref().map_err(String::as_str)
    }

    fn open() -> Result<OpenCl, String> {
        let name = match std::env::consts::OS {
            "windows" => "OpenCL.dll",
            "macos" => "/System/Library/Frameworks/OpenCL.framework/OpenCL",
            _ => "libOpenCL.so.1",
        };
        // SAFETY: an OpenCL loader's initialisation asks nothing of its caller.
        let library = unsafe { Library::new(name) }.map_err(|error| error.to_string())?;
        let call = Functions::of(&library)?;
        let (mut platforms, mut count) = ([null_mut(); 16], 0);
        // SAFETY: there is room for 16.
        let code = unsafe { (call.clGetPlatformIDs)(16, platforms.as_mut_ptr(), &mut count) };
        fine("no platform", code)?;
        let mut device = null_mut();
        let found = platforms.iter().take(count as usize).any(|platform| {
            // SAFETY: a platform that was given; room for one device.
            unsafe {
                (call.clGetDeviceIDs)(*platform, u64::from(u32::MAX), 1, &mut device, null_mut())
                    == 0
            }
        });
        if !found {
            return Err("no platform has a device".to_owned());
        }
        let mut code = 0;
        // SAFETY: a device that was given; no properties, no callback.
        let context =
            unsafe { (call.clCreateContext)(null(), 1, &device, null(), null_mut(), &mut code) };
        fine("context", code)?;
        // SAFETY: the context was made for this device.
        let queue = unsafe { (call.clCreateCommandQueue)(context, device, 0, &mut code) };
        fine("queue", code)?;
        let mut opencl = OpenCl {
            call,
            device,
            context,
            queue,
            name: String::new(),
            extensions: String::new(),
            _library: library,
        };
        opencl.name = opencl.text(0x102b);
        opencl.extensions = opencl.text(0x1030);
        Ok(opencl)
    }

    fn text(&self, what: u32) -> String {
        let mut bytes = vec![0u8; 1 << 16];
        // SAFETY: there is room for that many bytes.
        let code = unsafe {
            (self.call.clGetDeviceInfo)(
                self.device,
                what,
                bytes.len(),
                bytes.as_mut_ptr().cast(),
                null_mut(),
            )
        };
        let text = CStr::from_bytes_until_nul(&bytes).unwrap_or_default();
        if code == 0 { text.to_string_lossy().into_owned() } else { String::new() }
    }

    /// Compiles a text.
    pub fn compile(&self, text: &str, options: &[&str]) -> Result<Program<'_>, String> {
        let options = ended(&options.join(" "))?;
        let (start, len) = (text.as_ptr().cast::<c_char>(), text.len());
        let mut code = 0;
        // SAFETY: one text of this length.
        let program = unsafe {
            (self.call.clCreateProgramWithSource)(self.context, 1, &start, &len, &mut code)
        };
        fine("program", code)?;
        // SAFETY: the program is of this device's context; no callback.
        let code = unsafe {
            (self.call.clBuildProgram)(
                program,
                1,
                &self.device,
                options.as_ptr(),
                null(),
                null_mut(),
            )
        };
        let mut log = vec![0u8; 1 << 16];
        // SAFETY: there is room for that many bytes.
        unsafe {
            (self.call.clGetProgramBuildInfo)(
                program,
                self.device,
                0x1183,
                log.len(),
                log.as_mut_ptr().cast(),
                null_mut(),
            );
        }
        let log = CStr::from_bytes_until_nul(&log).unwrap_or_default().to_string_lossy();
        let program = Program { device: self, program, log: without_remarks(&log) };
        match code {
            0 => Ok(program),
            _ => Err(format!("not compiled ({code}): {}", program.log)),
        }
    }

    /// Memory with these bytes.
    pub fn memory(&self, bytes: &[u8]) -> Result<Memory<'_>, String> {
        let mut copy = bytes.to_vec();
        copy.resize(bytes.len().max(8), 0);
        let mut code = 0;
        // SAFETY: the bytes are copied (`CL_MEM_COPY_HOST_PTR`) from as many as there are.
        let buffer = unsafe {
            (self.call.clCreateBuffer)(
                self.context,
                1 | 1 << 5,
                copy.len(),
                copy.as_mut_ptr().cast(),
                &mut code,
            )
        };
        fine("buffer", code)?;
        Ok(Memory { device: self, buffer, len: bytes.len() })
    }
}

impl Program<'_> {
    /// Runs an entry and waits for its end. Sizes are by axis, the fastest first.
    ///
    /// # Safety
    /// The arguments are those of the entry.
    pub unsafe fn run(
        &self,
        entry: &str,
        arguments: &[Argument<'_>],
        threads: [usize; 3],
        block: [usize; 3],
    ) -> Result<(), String> {
        let call = &self.device.call;
        let name = ended(entry)?;
        let mut code = 0;
        // SAFETY: the program was built.
        let kernel = unsafe { (call.clCreateKernel)(self.program, name.as_ptr(), &mut code) };
        fine("kernel", code)?;
        for (at, argument) in arguments.iter().enumerate() {
            let (size, value) = match argument {
                Argument::Bytes(bytes) => (bytes.len(), bytes.as_ptr().cast()),
                Argument::Memory(memory) => (size_of::<Id>(), (&raw const memory.buffer).cast()),
                Argument::Local(bytes) => (*bytes, null()),
            };
            // SAFETY: `value` is of this size.
            let code = unsafe { (call.clSetKernelArg)(kernel, at as u32, size, value) };
            fine(&format!("argument {at}"), code)?;
        }
        // SAFETY: the caller's promise, and three sizes each.
        let code = unsafe {
            (call.clEnqueueNDRangeKernel)(
                self.device.queue,
                kernel,
                3,
                null(),
                threads.as_ptr(),
                block.as_ptr(),
                0,
                null(),
                null_mut(),
            )
        };
        // SAFETY: an enqueued kernel keeps itself.
        unsafe { (call.clReleaseKernel)(kernel) };
        fine("launch", code)
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: it is ours.
        unsafe { (self.device.call.clReleaseProgram)(self.program) };
    }
}

impl Memory<'_> {
    /// The contents, when all launches have ended.
    pub fn read(&self) -> Result<Vec<u8>, String> {
        let mut bytes = vec![0; self.len];
        if self.len == 0 {
            return Ok(bytes);
        }
        // SAFETY: a blocking read of as many bytes as there is room for; the queue is in order.
        let code = unsafe {
            (self.device.call.clEnqueueReadBuffer)(
                self.device.queue,
                self.buffer,
                1,
                0,
                self.len,
                bytes.as_mut_ptr().cast(),
                0,
                null(),
                null_mut(),
            )
        };
        fine("read", code).map(|()| bytes)
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        // SAFETY: it is ours.
        unsafe { (self.device.call.clReleaseMemObject)(self.buffer) };
    }
}
