//! OpenCL devices.
//!
//! Someone who knows another backend finds the same here: `device`, `memory`, `lane`, `copy`
//! (copies and fills), `module` (kernels; `program`, how they are built; `threads`, how launches
//! are cut; `reduce`, how reductions end; `verdict`, how they fail; `words`, where CPUs find what
//! they are given), `graph`, and `cl`, the driver's functions. Apart from those: `platform`
//! (contexts), `pool` (memory that is kept), `downloads` (what uploads wait for). The loader is
//! looked for when devices are; without one, or without a platform, there are no devices, and a
//! reason.
//!
//! * A context for each platform, so its devices' lanes wait for each other and reach each other's
//!   memory.
//! * A lane is an in-order queue. Its ticks are known by events of some of its commands: of copies
//!   and fills, of one launch in many, and of the tail when a caller asks. Launches are kept in a
//!   `launch_batch` until they are several, or a thread waits.
//! * Kernels are loaded as IR, which `folio_kernel::emit` makes OpenCL C of: with tests of indices,
//!   and without for launches that need none. The failure of a launch is in a record, which is read
//!   with the lane's next event. Compiled programs are kept on disk ([`Cache`]).
//! * A graph is a list of kernel objects, copies and fills. Each object has its arguments once for
//!   all, and a replay enqueues them one after the other: they run in that order.
//! * A launch has at most 2^31 groups, of the kernel's or of our choice, since drivers count them
//!   in 32 bits: beyond that it fails. On devices that are CPUs the variables of a group's items
//!   have 1 MiB together (semantics 2.4).
//! * Kernels that the user wrote in OpenCL C are in `opaque`. An interop task gets a [`Native`].
//!   With the Cargo feature `ocl` it has objects of the crate `ocl` (`Native::ocl`).
//! * Memory is a buffer; where the device has shared virtual memory, and a buffer over that is that
//!   memory, over that, so that it has an address (on NVIDIA's devices only if you
//!   [say so](OpenClBackend::with_all_svm)). Host and shared USM need the fine-grained kind.
//!
//! ```
//! use folio_core::Runtime;
//! use folio_opencl::OpenClBackend;
//!
//! let rt = Runtime::builder().backend(OpenClBackend::new()).build()?;
//! for device in rt.devices() {
//!     println!("{device:?}");
//! }
//! println!("{:?}", rt.missing_backends());
//! # Ok::<(), folio_core::Error>(())
//! ```

mod cl;
mod copy;
mod device;
mod downloads;
mod graph;
mod lane;
mod launch_batch;
mod memory;
mod module;
mod native;
mod opaque;
mod platform;
mod pool;
mod program;
mod reduce;
mod threads;
mod verdict;
#[cfg(feature = "ocl")]
mod with_ocl;
mod words;

#[cfg(test)]
mod tests;

pub use folio_cache::{Cache, Counts};
pub use folio_core::ir::emit::Capabilities;
pub use native::{Native, NativeMemory};
#[cfg(feature = "ocl")]
pub use with_ocl::Ocl;

use cl::Context;
use device::OpenClDevice;
use folio_core::hal::{
    Backend, Device, DeviceInfo, DeviceKind, HalError, HalErrorKind, Notify, Unavailable,
};
use folio_core::ir::emit::Cut;
use opencl_sys::cl_context;
use platform::{Found, Svm, find, find_in};
use std::sync::{Arc, OnceLock};

/// All OpenCL devices of the machine, or those [of a context](OpenClBackend::of_context).
#[derive(Debug)]
pub struct OpenClBackend {
    /// At most.
    svm: Svm,
    all_svm: bool,
    as_gpus: bool,
    apart: bool,
    limit: Option<Capabilities>,
    cache: Cache,
    given: Option<Context>,
    found: OnceLock<Result<Vec<Found>, Unavailable>>,
}

impl OpenClBackend {
    /// Nothing is looked for yet. Compiled programs are kept where the environment says
    /// ([`Cache::from_environment`]).
    pub fn new() -> OpenClBackend {
        let cache = Cache::from_environment();
        let found = OnceLock::new();
        let (svm, limit) = (Svm::Fine, None);
        let (all_svm, as_gpus, apart, given) = (false, false, false, None);
        OpenClBackend { svm, all_svm, as_gpus, apart, limit, cache, given, found }
    }

    /// The devices of a context that the program has made, and this context in place of an own one:
    /// the program's buffers, programs and queues of that context then work with Folio's. The
    /// context is kept until the last runtime with this backend is gone.
    ///
    /// # Errors
    /// The driver's, if it does not know the context.
    ///
    /// # Safety
    /// The context is one of the process, and has not been released.
    pub unsafe fn of_context(context: cl_context) -> Result<OpenClBackend, HalError> {
        // SAFETY: the caller's promise.
        let given = Some(unsafe { Context::retained(context) }?);
        Ok(OpenClBackend { given, ..OpenClBackend::new() })
    }

    /// As if no device had shared virtual memory: then memory has no addresses, and the host does
    /// not reach any.
    pub fn without_svm() -> OpenClBackend {
        OpenClBackend { svm: Svm::None, ..OpenClBackend::new() }
    }

    /// As if no device had shared virtual memory that the host reaches: then memory of devices has
    /// addresses, and there is no other. On NVIDIA's it has none, unless
    /// [`with_all_svm`](Self::with_all_svm) says so.
    pub fn without_fine_svm() -> OpenClBackend {
        OpenClBackend { svm: Svm::Coarse, ..OpenClBackend::new() }
    }

    /// With shared virtual memory also on NVIDIA's devices, where memory has no addresses
    /// otherwise, since their driver takes long to allocate it, and longer for launches over it;
    /// and does not keep it right where there are several devices, which have none in either case,
    /// unless they are [`apart`](Self::apart).
    #[must_use]
    pub fn with_all_svm(self) -> OpenClBackend {
        OpenClBackend { all_svm: true, ..self }
    }

    /// As if all devices were GPUs, on which large launches have several items for each thread.
    #[must_use]
    pub fn as_gpus(self) -> OpenClBackend {
        OpenClBackend { as_gpus: true, ..self }
    }

    /// As if each device were a platform of its own: with a context for each, so that copies
    /// between devices go by way of the host.
    #[must_use]
    pub fn apart(self) -> OpenClBackend {
        OpenClBackend { apart: true, ..self }
    }

    /// As if no device could do more than this. A kernel that needs more is refused with an error
    /// that names the need.
    #[must_use]
    pub fn limited_to(self, limit: Capabilities) -> OpenClBackend {
        OpenClBackend { limit: Some(limit), ..self }
    }

    /// With another cache of compiled programs.
    #[must_use]
    pub fn cache(self, cache: Cache) -> OpenClBackend {
        OpenClBackend { cache, ..self }
    }

    fn found(&self) -> Result<&[Found], Unavailable> {
        let found = self.found.get_or_init(|| match &self.given {
            Some(context) => find_in(context, self.svm, self.all_svm)
                .map_err(|error| Unavailable::new(error.message.to_string())),
            None => find(self.svm, self.all_svm, self.apart),
        });
        found.as_ref().map(Vec::as_slice).map_err(Clone::clone)
    }
}

impl Default for OpenClBackend {
    fn default() -> OpenClBackend {
        OpenClBackend::new()
    }
}

// SAFETY: the devices keep the HAL's contract; see `OpenClDevice`.
unsafe impl Backend for OpenClBackend {
    fn name(&self) -> &str {
        "opencl"
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>, Unavailable> {
        let limited = |found: &Found| {
            let mut info = found.info.clone();
            if let Some(limit) = self.limit {
                found.target.limited_to(limit).tell(&mut info.caps);
            }
            info
        };
        Ok(self.found()?.iter().map(limited).collect())
    }

    unsafe fn open(&self, index: usize, _: Notify) -> Result<Arc<dyn Device>, HalError> {
        let found = self.found().ok().and_then(|all| all.get(index)).ok_or_else(|| {
            HalError::new(HalErrorKind::Driver, format!("there is no device {index}"))
        })?;
        let target = self.limit.map_or(found.target, |limit| found.target.limited_to(limit));
        let gpu = self.as_gpus || found.info.kind == DeviceKind::Gpu;
        let cut = if gpu { Cut::Gpu } else { Cut::Cpu };
        let cache = self.cache.clone();
        Ok(Arc::new(OpenClDevice::open(found, index as u32, (target, cut), cache)?))
    }
}
