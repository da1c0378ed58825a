//! Properties of devices by extensions, where they have these.

use crate::kernels::fma;
use ash::vk;
use folio_kernel::emit::spirv::Adds;
use folio_kernel::soft::Fused;
use std::ffi::CStr;

pub(crate) fn has_extension(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    name: &CStr,
) -> bool {
    // SAFETY: the device is of this instance.
    let all = unsafe { instance.enumerate_device_extension_properties(physical) };
    let named = |e: &vk::ExtensionProperties| e.extension_name_as_c_str() == Ok(name);
    all.is_ok_and(|all| all.iter().any(named))
}

/// A structure of an extension's, where the device has that.
fn more<T: vk::ExtendsPhysicalDeviceProperties2 + Default>(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    extension: &CStr,
) -> Option<T> {
    if !has_extension(instance, physical, extension) {
        return None;
    }
    let mut found = T::default();
    let mut all = vk::PhysicalDeviceProperties2::default().push_next(&mut found);
    // SAFETY: the device is of this instance; the extension is there, so the structure is known.
    unsafe { instance.get_physical_device_properties2(physical, &mut all) };
    Some(found)
}

/// Whose `mul_add` is an instruction of the device's.
pub(crate) fn fused(instance: &ash::Instance, physical: vk::PhysicalDevice) -> Fused {
    if !has_extension(instance, physical, fma::NAME) {
        return Fused::NONE;
    }
    let mut found = fma::Features::of(Fused::NONE);
    let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut found);
    // SAFETY: the device is of this instance; the extension is there, so the structure is known.
    unsafe { instance.get_physical_device_features2(physical, &mut all) };
    found.fused()
}

/// Which floats the device adds atomically to memory of its own, as its driver says.
pub(crate) fn float_adds(instance: &ash::Instance, physical: vk::PhysicalDevice) -> Adds {
    if !has_extension(instance, physical, ash::ext::shader_atomic_float::NAME) {
        return Adds::default();
    }
    let mut found = vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT::default();
    let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut found);
    // SAFETY: the device is of this instance; the extension is there, so the structure is known.
    unsafe { instance.get_physical_device_features2(physical, &mut all) };
    Adds {
        f32: found.shader_buffer_float32_atomic_add == vk::TRUE,
        f64: found.shader_buffer_float64_atomic_add == vk::TRUE,
    }
}

/// To how many bytes memory of the host is aligned that the device takes as its own.
pub(crate) fn host_import(instance: &ash::Instance, physical: vk::PhysicalDevice) -> Option<u64> {
    type Host = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT<'static>;
    let host = more::<Host>(instance, physical, ash::ext::external_memory_host::NAME)?;
    Some(host.min_imported_host_pointer_alignment.max(1))
}

/// Units of a GPU whose driver does not tell. A guess: it keeps launches of some size in many
/// blocks.
const UNITS: u32 = 32;

/// How many units a GPU has, each of which runs some blocks at once: NVIDIA's multiprocessors,
/// AMD's compute units, Arm's cores. Vulkan itself does not tell.
pub(crate) fn compute_units(instance: &ash::Instance, physical: vk::PhysicalDevice) -> u32 {
    type Nvidia = vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV<'static>;
    type Amd = vk::PhysicalDeviceShaderCoreProperties2AMD<'static>;
    type Arm = vk::PhysicalDeviceShaderCoreBuiltinsPropertiesARM<'static>;
    let nvidia = || more::<Nvidia>(instance, physical, ash::nv::shader_sm_builtins::NAME);
    let amd = || more::<Amd>(instance, physical, ash::amd::shader_core_properties2::NAME);
    let arm = || more::<Arm>(instance, physical, ash::arm::shader_core_builtins::NAME);
    let told = nvidia().map(|found| found.shader_sm_count);
    let told = told.or_else(|| amd().map(|found| found.active_compute_unit_count));
    let told = told.or_else(|| arm().map(|found| found.shader_core_count));
    told.filter(|units| *units > 0).unwrap_or(UNITS)
}

/// How much of a heap the driver advises this process to use (`VK_EXT_memory_budget`).
pub(crate) fn budget(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    heap: usize,
) -> Option<u64> {
    if !has_extension(instance, physical, ash::ext::memory_budget::NAME) {
        return None;
    }
    let mut found = vk::PhysicalDeviceMemoryBudgetPropertiesEXT::default();
    let mut all = vk::PhysicalDeviceMemoryProperties2::default().push_next(&mut found);
    // SAFETY: the device is of this instance; the extension is there, so the structure is known.
    unsafe { instance.get_physical_device_memory_properties2(physical, &mut all) };
    found.heap_budget.get(heap).copied().filter(|bytes| *bytes > 0)
}
