//! `VK_KHR_shader_fma`, which is newer than `ash`: by it `mul_add` is one operation of the device,
//! rounded once. Not seen to run: no driver here has it.

use ash::vk;
use folio_kernel::soft::Fused;
use std::ffi::CStr;

pub(crate) const NAME: &CStr = c"VK_KHR_shader_fma";

/// `VkPhysicalDeviceShaderFmaFeaturesKHR`.
#[repr(C)]
pub(crate) struct Features {
    s_type: vk::StructureType,
    next: *mut std::ffi::c_void,
    half: vk::Bool32,
    single: vk::Bool32,
    double: vk::Bool32,
}

impl Features {
    pub(crate) fn of(fused: Fused) -> Features {
        Features {
            // `VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FMA_FEATURES_KHR`, of extension 580.
            s_type: vk::StructureType::from_raw(1_000_579_000),
            next: std::ptr::null_mut(),
            half: vk::FALSE,
            single: fused.f32.into(),
            double: fused.f64.into(),
        }
    }

    pub(crate) fn fused(&self) -> Fused {
        Fused { f32: self.single == vk::TRUE, f64: self.double == vk::TRUE }
    }

    /// Something of it is wanted.
    pub(crate) fn is_there(&self) -> bool {
        self.fused() != Fused::NONE
    }
}

// SAFETY: it begins as all structures of Vulkan do that others lead to, with its type and a
// pointer; Vulkan lets what asks for features, and what makes a device, lead to it.
unsafe impl vk::ExtendsPhysicalDeviceFeatures2 for Features {}
// SAFETY: as above.
unsafe impl vk::ExtendsDeviceCreateInfo for Features {}
