//! Messages of the validation layer, and refusals of the probe.

use ash::vk;
use folio_driver::lock;
use std::ffi::{CStr, c_void};
use std::sync::{Arc, Mutex};

/// Messages that are kept, at most: a program that is wrong may say the same for ever.
const MOST: usize = 256;

/// Messages of the validation layer about a backend's calls, and about those of other backends with
/// the layer while this one is there: a process has one instance with it. Also why a device was
/// found to do less than it says.
#[derive(Clone, Debug, Default)]
pub struct Messages(Arc<Mutex<Vec<String>>>);

impl Messages {
    /// All of it so far: the first 256 messages.
    pub fn all(&self) -> Vec<String> {
        lock(&self.0).clone()
    }

    pub(crate) fn add(&self, text: String) {
        add(&self.0, text);
    }

    /// How the layer is told where to say it. The messages live as long as what is created.
    pub(crate) fn create_info(&self) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
        use vk::{
            DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Kind,
        };
        let own: *const Mutex<Vec<String>> = &*self.0;
        vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(Severity::WARNING | Severity::ERROR)
            .message_type(Kind::VALIDATION | Kind::PERFORMANCE)
            .pfn_user_callback(Some(say))
            .user_data(own.cast_mut().cast())
    }
}

unsafe extern "system" fn say(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    all: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes one message.
    let message = unsafe { data.as_ref() }.map(|data| data.p_message).filter(|at| !at.is_null());
    let Some(message) = message else { return vk::FALSE };
    // SAFETY: its text ends with a zero.
    let text = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    // SAFETY: the pointer is that of `create_info`; whoever created the messenger keeps the
    // messages until it is destroyed (`Shared`).
    if let Some(all) = unsafe { all.cast::<Mutex<Vec<String>>>().as_ref() } {
        add(all, text);
    }
    vk::FALSE
}

fn add(all: &Mutex<Vec<String>>, text: String) {
    let mut all = lock(all);
    if all.len() < MOST {
        all.push(text);
    }
}
