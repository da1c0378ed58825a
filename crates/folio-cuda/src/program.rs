//! Code: PTX, cubins and fat binaries, which the driver loads, and CUDA C, which NVRTC compiles.

use crate::compiler::Compiler;
use crate::driver::Context;
use crate::memory::address;
use crate::module::{Destination, LoadedKernel};
use crate::opaque::Opaque;
use cudarc::driver::sys::{self, CUfunction_attribute as Attribute};
use folio_core::error::Label;
use folio_core::hal::{Args, Geometry, HalError, HalErrorKind, KernelSource, Source};
use folio_driver::lock;
use folio_kernel::emit::Points;
use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex};

/// Code that the driver has loaded. The module is dropped while its context is current, or lost.
pub(crate) struct Module(sys::CUmodule);

// SAFETY: modules may be used by any thread.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

/// A function of a module.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Entry(pub(crate) sys::CUfunction);

// SAFETY: functions may be used by any thread.
unsafe impl Send for Entry {}
// SAFETY: as above.
unsafe impl Sync for Entry {}

impl Entry {
    /// The driver's attribute of it. The context is current.
    pub(crate) fn attribute(self, context: &Context, which: Attribute) -> Result<u32, HalError> {
        let mut value = 0;
        // SAFETY: the function exists; a place for the answer.
        let asked = unsafe { sys::cuFuncGetAttribute(&raw mut value, which, self.0) };
        context.check("cuFuncGetAttribute", asked).map(|()| value.max(0).cast_unsigned())
    }

    /// Lets it have so much dynamic shared memory; false if the device has not as much. The context
    /// is current.
    pub(crate) fn allow(self, context: &Context, bytes: u32) -> Result<bool, HalError> {
        let (which, bytes) = (DYNAMIC, bytes.min(i32::MAX.cast_unsigned()).cast_signed());
        // SAFETY: the function exists.
        let set = unsafe { sys::cuFuncSetAttribute(self.0, which, bytes) };
        match context.check("cuFuncSetAttribute", set) {
            Err(error) if matches!(error.kind, HalErrorKind::Lost) => Err(error),
            set => Ok(set.is_ok()),
        }
    }
}

/// How much dynamic shared memory a function may have.
pub(crate) const DYNAMIC: Attribute = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;

/// Begins as a cubin or a fat binary does.
fn is_binary(image: &[u8]) -> bool {
    matches!(image, [0x7f, b'E', b'L', b'F', ..] | [0x50, 0xed, 0x55, 0xba, ..])
}

pub(crate) fn build(message: impl Into<String>) -> HalError {
    HalError::new(HalErrorKind::Build, message.into())
}

impl Module {
    /// From what the user wrote. `name` is for messages. The context is current.
    pub(crate) fn new(
        context: &Context,
        compiler: &Compiler,
        name: &str,
        source: &Source<'_>,
        options: &[&str],
    ) -> Result<Module, HalError> {
        let text = |text: &str| CString::new(text).map_err(|_| build("the text has a zero byte"));
        match source {
            Source::CudaC(code) => Module::compiled(context, compiler, name, &text(code)?, options),
            // Such a text is a binary to the driver, which would believe what it says of its
            // length.
            Source::Ptx(code) if is_binary(code.as_bytes()) => Err(build("the code is no PTX")),
            Source::Ptx(code) => Module::load(context, text(code)?.as_bytes_with_nul()),
            Source::CudaBinary(image) => Module::load(context, image.bytes()),
            _ => Err(HalError::unsupported(source.language())),
        }
    }

    /// From CUDA C.
    pub(crate) fn compiled(
        context: &Context,
        compiler: &Compiler,
        name: &str,
        text: &CStr,
        options: &[&str],
    ) -> Result<Module, HalError> {
        compiler.cubin(name, text, options, |cubin| Module::load(context, cubin))
    }

    /// The kernel of this name.
    pub(crate) fn entry(&self, context: &Context, name: &str) -> Result<Entry, HalError> {
        let entry = CString::new(name).map_err(|_| build("a kernel's name has a zero byte"))?;
        let mut function = null_mut();
        // SAFETY: the module is loaded; the name ends with a zero.
        let result = unsafe { sys::cuModuleGetFunction(&raw mut function, self.0, entry.as_ptr()) };
        if result == sys::CUresult::CUDA_ERROR_NOT_FOUND {
            let name = Label::from(name);
            let what = format!("there is no kernel {name} in the code (is it `extern \"C\"`?)");
            return Err(build(what));
        }
        context.check("cuModuleGetFunction", result)?;
        Ok(Entry(function))
    }

    /// From an image: PTX with its zero, or a whole cubin or fat binary.
    pub(crate) fn load(context: &Context, image: &[u8]) -> Result<Module, HalError> {
        // The driver is told no length, so that what is nothing of the kind is not for it.
        if !is_binary(image) && image.last() != Some(&0) {
            return Err(build("the code is neither a cubin nor a fat binary"));
        }
        const LOG: usize = 16 << 10;
        use sys::CUjit_option as Jit;
        let (mut module, mut log) = (null_mut(), vec![0u8; LOG]);
        let mut options = [Jit::CU_JIT_ERROR_LOG_BUFFER, Jit::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), std::ptr::without_provenance_mut(LOG)];
        let count = options.len() as u32;
        // SAFETY: an image that tells its own length; options with their values, which are live.
        let result = unsafe {
            let (options, values) = (options.as_mut_ptr(), values.as_mut_ptr());
            sys::cuModuleLoadDataEx(&raw mut module, image.as_ptr().cast(), count, options, values)
        };
        match context.check("cuModuleLoadData", result) {
            Ok(()) => Ok(Module(module)),
            Err(error) if matches!(error.kind, HalErrorKind::Lost) => Err(error),
            Err(error) => {
                let said = CStr::from_bytes_until_nul(&log).unwrap_or_default().to_string_lossy();
                Err(build(format!("{} {}", error.message, said.trim())))
            }
        }
    }
}

/// A kernel of ours in PTX, which the driver loads when something needs it first.
pub(crate) struct Ready {
    /// With a zero at its end, for the driver.
    text: &'static str,
    name: &'static str,
    loaded: Mutex<Option<(Module, Entry)>>,
}

impl Ready {
    pub(crate) fn new(text: &'static str, name: &'static str) -> Ready {
        Ready { text, name, loaded: Mutex::default() }
    }

    /// The context is current.
    pub(crate) fn entry(&self, context: &Context) -> Result<Entry, HalError> {
        let mut loaded = lock(&self.loaded);
        if let Some((_, entry)) = &*loaded {
            return Ok(*entry);
        }
        let module = Module::load(context, self.text.as_bytes())?;
        let entry = module.entry(context, self.name)?;
        *loaded = Some((module, entry));
        Ok(entry)
    }

    /// Nothing needs it any more. The context is current, or lost.
    pub(crate) fn unload(&self) {
        drop(lock(&self.loaded).take());
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: ours, and no launch uses it any more.
        let _ = unsafe { sys::cuModuleUnload(self.0) };
    }
}

/// The kernel of a handle.
pub(crate) enum Loaded {
    /// A kernel of the user's.
    Opaque(Box<Opaque>),
    /// A kernel in IR.
    Kernel(Box<LoadedKernel>),
}

/// The properties of a device that its code depends on.
pub(crate) struct Target {
    pub(crate) compiler: Compiler,
    pub(crate) multiprocessors: u32,
    /// Bytes of a launch's arguments, at most.
    pub(crate) argument_bytes: u32,
    /// Bytes of a block's shared memory, where a kernel asks for more than usual.
    pub(crate) shared: u32,
    /// The same for products by matrix units; 0 without those that the emitter names.
    pub(crate) units: u32,
}

impl Loaded {
    /// The context is current.
    pub(crate) fn new(
        context: &Context,
        target: &Target,
        source: &KernelSource<'_>,
    ) -> Result<Loaded, HalError> {
        match source {
            KernelSource::Opaque { name, source, options } => {
                let opaque = Opaque::new(context, &target.compiler, (name, source), options)?;
                Ok(Loaded::Opaque(Box::new(opaque)))
            }
            KernelSource::Ir(kernel) => {
                let function = LoadedKernel::new(context, target, kernel)?;
                Ok(Loaded::Kernel(Box::new(function)))
            }
            _ => Err(HalError::unsupported("code of this kind")),
        }
    }

    /// Launches it. `record` gives the address of a clear record, for a kernel in which something
    /// can fail. The context is current.
    #[inline]
    pub(crate) fn launch(
        &self,
        to: Destination<'_>,
        geometry: &Geometry,
        args: &Args<'_>,
        record: impl FnOnce(&Arc<Points>) -> Result<u64, HalError>,
    ) -> Result<(), HalError> {
        match self {
            Loaded::Opaque(kernel) => kernel.launch(to.context, to.way, geometry, args),
            Loaded::Kernel(function) => {
                let start = |at: usize| args.params.get(at).map_or(0, |param| address(&param.mem));
                function.launch(to, geometry, args, start, record)
            }
        }
    }
}
