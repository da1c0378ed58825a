//! Names of objects, for people who look at the driver's: in messages and in debuggers.

use crate::device::platform::Shared;
use ash::vk;
use std::ffi::CString;
#[cfg(test)]
use std::sync::{Arc, Mutex};

/// How objects of a device are named, if they can be.
#[derive(Clone)]
pub(crate) struct Names {
    utils: Option<ash::ext::debug_utils::Device>,
    /// The named objects, in order.
    #[cfg(test)]
    pub(crate) given: Arc<Mutex<Vec<(vk::ObjectType, String)>>>,
}

impl Names {
    pub(crate) fn new(shared: &Shared, device: &ash::Device) -> Names {
        let utils =
            shared.names.then(|| ash::ext::debug_utils::Device::new(&shared.instance, device));
        Names {
            utils,
            #[cfg(test)]
            given: Arc::default(),
        }
    }

    /// Names an object of the device, which no other thread names or destroys meanwhile.
    pub(crate) fn set<T: vk::Handle>(&self, object: T, name: &str) {
        let name = if name.is_empty() { "folio" } else { name };
        let (Some(utils), Ok(text)) = (&self.utils, CString::new(name)) else { return };
        let info =
            vk::DebugUtilsObjectNameInfoEXT::default().object_handle(object).object_name(&text);
        // SAFETY: the object is this device's, and used as the caller promises.
        let _ = unsafe { utils.set_debug_utils_object_name(&info) };
        #[cfg(test)]
        if let Ok(mut given) = self.given.lock() {
            given.push((T::TYPE, name.to_owned()));
        }
    }
}
