//! Vulkan devices.
//!
//! Four folders keep the code. Each says at its top what it keeps:
//!
//! * `device`: the loader and the devices that it finds (`platform`, `extensions`, `queues`), what
//!   is measured of them (`probe`), and the validation layer's `messages`;
//! * `memory`: allocations, the `types` of memory, and copies by the host (`pageable`);
//! * `kernels`: those in IR (`module`) and those of others (`opaque`, `outline`), and how a launch
//!   is cut (`threads`);
//! * `lane`: an in-order queue, its commands (`copy`), `barriers`, and replays (`graph`).
//!
//! The loader is looked for when devices are; without one, without a driver or a device of Vulkan
//! 1.3 there are no devices, and a reason.
//!
//! * Kernels are loaded as IR, which `folio_kernel::emit::spirv` makes SPIR-V of. The argument of a
//!   launch is one address, of words that it reads: no descriptor sets. The failure of a launch is
//!   in a record behind such an address.
//! * A lane is an in-order queue over a timeline semaphore, whose operations are submitted several
//!   at a time. Lanes use the device's one queue, so an engine has one lane for kernels; lanes for
//!   copies use a queue of another family where that was [asked for](VulkanBackend::copy_queue).
//!   Barriers are between operations of which one writes what the other accesses.
//! * Memory is a buffer with an address. Where host and device share one memory, the host copies to
//!   and from it directly; elsewhere by way of memory that both reach. Page-locked memory is such:
//!   the device copies it, by whichever address it is named.
//! * Kernels that the user has in SPIR-V are in `opaque`. An interop task gets a [`Native`].
//! * Properties of floats that devices do not tell are measured once, when they are looked for.
//!
//! ```
//! use folio_core::Runtime;
//! use folio_vulkan::VulkanBackend;
//!
//! let rt = Runtime::builder().backend(VulkanBackend::new()).build()?;
//! for device in rt.devices() {
//!     println!("{device:?}");
//! }
//! println!("{:?}", rt.missing_backends());
//! # Ok::<(), folio_core::Error>(())
//! ```

mod device;
mod kernels;
mod lane;
mod memory;
#[cfg(test)]
mod planted;

#[cfg(test)]
mod tests;

pub use ash;
pub use device::messages::Messages;
pub use folio_kernel::emit::spirv::Capabilities;
pub use lane::native::{Native, NativeMemory};

pub use folio_cache::{Cache, Counts};

use device::VulkanDevice;
use device::platform::{Found, find};
use folio_core::hal::{Backend, Device, DeviceInfo, HalError, HalErrorKind, Notify, Unavailable};
use std::sync::{Arc, OnceLock};

/// All Vulkan devices of the machine; [`default`](VulkanBackend::default) is one without a cache.
#[derive(Debug, Default)]
pub struct VulkanBackend {
    validated: bool,
    discrete: bool,
    checked: bool,
    copy_queue: bool,
    limit: Option<Capabilities>,
    cache: Cache,
    messages: Messages,
    found: OnceLock<Result<Vec<Found>, Unavailable>>,
}

impl VulkanBackend {
    /// Nothing is looked for yet. Compiled pipelines are kept where the environment says
    /// ([`Cache::from_environment`]). `FOLIO_VULKAN_COPY_QUEUE=on` is as
    /// [`copy_queue`](Self::copy_queue).
    pub fn new() -> VulkanBackend {
        let copy_queue = std::env::var_os("FOLIO_VULKAN_COPY_QUEUE").is_some_and(|is| is == "on");
        let cache = Cache::from_environment();
        VulkanBackend { cache, copy_queue, ..VulkanBackend::default() }
    }

    /// With another cache of compiled pipelines.
    #[must_use]
    pub fn cache(self, cache: Cache) -> VulkanBackend {
        VulkanBackend { cache, ..self }
    }

    /// With the validation layer, which looks at every call. Messages of the layer are in
    /// [`messages`](Self::messages). Without the layer there are no devices, and a reason.
    #[must_use]
    pub fn validated(self) -> VulkanBackend {
        VulkanBackend { validated: true, ..self }
    }

    /// Believes no proof: each launch tests each index that its kernel computes. An index beyond
    /// its argument therefore fails the launch, even where a proof was wrong. For debugging, since
    /// kernels become slower. `Validate` of `folio-layers` tests the memory that operations name.
    #[must_use]
    pub fn checked(self) -> VulkanBackend {
        VulkanBackend { checked: true, ..self }
    }

    /// As if no device shared its memory with the host: copies go by way of memory that both reach.
    #[must_use]
    pub fn as_discrete(self) -> VulkanBackend {
        VulkanBackend { discrete: true, ..self }
    }

    /// With a queue that only copies, for the lanes that do, so that copies run beside kernels. The
    /// queue is used where a device has one, has memory of its own, and can time what that queue
    /// does. Without this, all lanes submit to one queue.
    #[must_use]
    pub fn copy_queue(self, copy_queue: bool) -> VulkanBackend {
        VulkanBackend { copy_queue, ..self }
    }

    /// As if no device could do more than this. A kernel that needs more is refused with an error
    /// that names the need.
    #[must_use]
    pub fn limited_to(self, limit: Capabilities) -> VulkanBackend {
        VulkanBackend { limit: Some(limit), ..self }
    }

    /// The messages of the validation layer, also after the backend is gone.
    pub fn messages(&self) -> Messages {
        self.messages.clone()
    }

    fn found(&self) -> Result<&[Found], Unavailable> {
        let found = self.found.get_or_init(|| {
            let mut all = find(self.validated, &self.messages)?;
            let mut unusable = vec![];
            all.retain_mut(|device| match device::probe::measure(device) {
                Ok(()) => {
                    kernels::subgroups::measure(device);
                    true
                }
                Err(why) => {
                    unusable.push(why);
                    false
                }
            });
            if all.is_empty() {
                return Err(Unavailable::new(unusable.join("; ")));
            }
            for device in &mut all {
                device.target.checked = self.checked;
                if self.discrete {
                    (device.info.caps.unified, device.info.caps.links) = (false, None);
                }
                if !self.copy_queue || device.info.caps.unified {
                    device.target.families.copies = None;
                }
                if let Some(limit) = self.limit {
                    device.target.limit(limit);
                }
                device.target.tell(&mut device.info.caps);
            }
            Ok(all)
        });
        found.as_ref().map(Vec::as_slice).map_err(Clone::clone)
    }
}

// SAFETY: the devices keep the HAL's contract; see `VulkanDevice`.
unsafe impl Backend for VulkanBackend {
    fn name(&self) -> &str {
        "vulkan"
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>, Unavailable> {
        Ok(self.found()?.iter().map(|found| found.info.clone()).collect())
    }

    unsafe fn open(&self, index: usize, _: Notify) -> Result<Arc<dyn Device>, HalError> {
        let found = self.found().ok().and_then(|all| all.get(index)).ok_or_else(|| {
            HalError::new(HalErrorKind::Driver, format!("there is no device {index}"))
        })?;
        Ok(Arc::new(VulkanDevice::open(found, self.cache.clone())?))
    }
}
