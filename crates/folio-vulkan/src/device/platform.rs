//! The loader, an instance, and what its devices say of themselves.

use crate::device::calls::{self, Alone, Inside};
use crate::device::extensions::{budget, compute_units, float_adds, fused, host_import};
use crate::device::messages::Messages;
use crate::device::queues;
use crate::kernels::fma;
use crate::kernels::module::Target;
use crate::kernels::outline::Offered;
use crate::kernels::subgroups::Subgroups;
use crate::lane::counts::Total;
use crate::lane::native::Native;
use crate::memory::types::{Purpose, best};
use ash::vk;
use folio_core::hal::{
    Calls, Caps, DeviceInfo, DeviceKind, HalError, HalErrorKind, MemoryHome, Unavailable, WaitGroup,
};
use folio_driver::library::Missing;
use folio_driver::lock;
use folio_kernel::emit;
use folio_kernel::emit::spirv::{Adds, Capabilities, Control, Controls};
use folio_kernel::soft::{Exact, Fused};
use std::any::TypeId;
use std::ffi::{CStr, c_char};
use std::sync::{Arc, Mutex};

/// The layer that looks at every call.
const VALIDATION: &CStr = c"VK_LAYER_KHRONOS_validation";

/// The loader's library and an instance: one of each kind in a process, which stays until that
/// ends. NVIDIA's driver cannot be loaded any more after some twenty instances, and layers that
/// are unloaded while a process ends crash (docs/drivers.md).
#[derive(Clone)]
struct Loaded {
    entry: ash::Entry,
    instance: ash::Instance,
    /// Whether objects can be named.
    names: bool,
    /// The messages at its making.
    _messages: Messages,
}

/// The bare one, and the one with the validation layer.
static LOADED: Mutex<[Option<Loaded>; 2]> = Mutex::new([const { None }; 2]);

/// An instance as a backend and its devices have it.
pub(crate) struct Shared {
    pub(crate) instance: ash::Instance,
    messenger: Option<(ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    /// Whether objects can be named.
    pub(crate) names: bool,
    /// The place to which the messenger writes.
    pub(crate) messages: Messages,
    /// The counts of the devices.
    pub(crate) counts: Arc<Total>,
    #[cfg(test)]
    pub(crate) planted: crate::planted::Planted,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("instance", &self.instance.handle()).finish()
    }
}

/// The error of a driver's call.
pub(crate) fn driver(what: &str, result: vk::Result) -> HalError {
    let kind = match result {
        vk::Result::ERROR_DEVICE_LOST => HalErrorKind::Lost,
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
            return HalError::out_of_memory(0, 0, 0);
        }
        _ => HalErrorKind::Driver,
    };
    HalError::new(kind, format!("{what}: {result}"))
}

impl Loaded {
    fn get(validated: bool, messages: &Messages) -> Result<Loaded, Unavailable> {
        let mut all = lock(&LOADED);
        let own = &mut all[usize::from(validated)];
        if let Some(loaded) = own {
            return Ok(loaded.clone());
        }
        let loaded = Loaded::new(validated, messages)?;
        Ok(own.insert(loaded).clone())
    }

    /// Loads the loader, and makes an instance.
    fn new(validated: bool, messages: &Messages) -> Result<Loaded, Unavailable> {
        // SAFETY: the loader is a library whose initialisers do nothing that this process relies
        // on.
        let entry = unsafe { ash::Entry::load() }.map_err(|error| Missing::Library {
            name: "Vulkan loader",
            source: "as the package `libvulkan1` (Debian, Ubuntu), `vulkan-loader` (Fedora) or `vulkan-icd-loader` \
                     (Arch)",
            cause: error.to_string(),
        })?;
        let failed = |what: &str, result: vk::Result| {
            Unavailable::new(format!(
                "{what}: {result} (is there a driver, with what it needs? A GPU's vendor has its own; the package \
                 `mesa-vulkan-drivers` has others)"
            ))
        };
        // SAFETY: the loader is there for as long as `entry`.
        let version = unsafe { entry.try_enumerate_instance_version() }
            .map_err(|result| failed("vkEnumerateInstanceVersion", result))?
            .unwrap_or(vk::API_VERSION_1_0);
        if version < vk::API_VERSION_1_3 {
            return Err(Missing::Version { name: "the Vulkan loader", needed: "1.3" }.into());
        }
        let application =
            vk::ApplicationInfo::default().engine_name(c"folio").api_version(vk::API_VERSION_1_3);
        let mut extensions: Vec<*const c_char> = vec![];
        let mut layers: Vec<*const c_char> = vec![];
        // SAFETY: as above.
        let known = unsafe { entry.enumerate_instance_extension_properties(None) };
        let has = |name: &CStr| {
            let named = |e: &vk::ExtensionProperties| e.extension_name_as_c_str() == Ok(name);
            known.as_ref().is_ok_and(|all| all.iter().any(named))
        };
        let names = has(ash::ext::debug_utils::NAME);
        if names {
            extensions.push(ash::ext::debug_utils::NAME.as_ptr());
        }
        if validated {
            // SAFETY: as above.
            let all = unsafe { entry.enumerate_instance_layer_properties() }
                .map_err(|result| failed("vkEnumerateInstanceLayerProperties", result))?;
            if !names || !all.iter().any(|layer| layer.layer_name_as_c_str() == Ok(VALIDATION)) {
                return Err(Unavailable::new("there is no validation layer"));
            }
            layers.push(VALIDATION.as_ptr());
        }
        let mut said = messages.create_info();
        let mut create = vk::InstanceCreateInfo::default()
            .application_info(&application)
            .enabled_extension_names(&extensions)
            .enabled_layer_names(&layers);
        if validated {
            create = create.push_next(&mut said);
        }
        // SAFETY: all that the description points to is there during the call; the messages stay
        // as long as the instance.
        let instance = unsafe { entry.create_instance(&create, None) }
            .map_err(|result| failed("vkCreateInstance", result))?;
        Ok(Loaded { entry, instance, names, _messages: messages.clone() })
    }
}

impl Shared {
    fn new(validated: bool, messages: Messages) -> Result<Shared, Unavailable> {
        let Loaded { entry, instance, names, .. } = Loaded::get(validated, &messages)?;
        let mut shared = Shared {
            instance,
            messenger: None,
            names,
            messages,
            counts: Arc::default(),
            #[cfg(test)]
            planted: Default::default(),
        };
        if validated {
            let utils = ash::ext::debug_utils::Instance::new(&entry, &shared.instance);
            let create = shared.messages.create_info();
            // SAFETY: the messages outlive the messenger (`Drop`).
            let own = unsafe { utils.create_debug_utils_messenger(&create, None) };
            let own = own.map_err(|result| {
                Unavailable::new(format!("vkCreateDebugUtilsMessengerEXT: {result}"))
            })?;
            shared.messenger = Some((utils, own));
        }
        Ok(shared)
    }
}

impl Shared {
    /// Begins calls of the driver.
    pub(crate) fn inside(&self) -> Inside {
        calls::inside(self.messenger.is_some())
    }

    /// Begins the making of a device.
    pub(crate) fn alone(&self) -> Alone {
        calls::alone(self.messenger.is_some())
    }

    /// Ends a device.
    pub(crate) fn end(&self, ends: impl FnOnce() + 'static) {
        calls::end(self.messenger.is_some(), ends);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if Calls::are_over() {
            return;
        }
        let _inside = self.inside();
        if let Some((utils, messenger)) = self.messenger.take() {
            // SAFETY: it is this value's, which devices hold.
            unsafe { utils.destroy_debug_utils_messenger(messenger, None) };
        }
    }
}

/// A device that is there.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) shared: Arc<Shared>,
    pub(crate) physical: vk::PhysicalDevice,
    pub(crate) info: DeviceInfo,
    pub(crate) target: Target,
}

/// All devices that can be used, or why there are none.
pub(crate) fn find(validated: bool, messages: &Messages) -> Result<Vec<Found>, Unavailable> {
    let _alone = calls::alone(validated);
    let shared = Arc::new(Shared::new(validated, messages.clone())?);
    // SAFETY: the instance is there.
    let all = unsafe { shared.instance.enumerate_physical_devices() }
        .map_err(|result| Unavailable::new(format!("vkEnumeratePhysicalDevices: {result}")))?;
    let (mut found, mut unusable) = (vec![], vec![]);
    for physical in all {
        match describe(&shared, physical, found.len() as u32) {
            Ok(device) => found.push(device),
            Err(why) => unusable.push(why),
        }
    }
    match (found.is_empty(), unusable.is_empty()) {
        (false, _) => Ok(found),
        (_, true) => Err(Unavailable::new("Vulkan has no devices")),
        _ => Err(Unavailable::new(unusable.join("; "))),
    }
}

fn text(characters: &[c_char]) -> String {
    let bytes: Vec<u8> = characters.iter().map(|c| *c as u8).take_while(|c| *c != 0).collect();
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

/// A device's features, as far as they matter.
#[derive(Default)]
struct Features {
    core: vk::PhysicalDeviceFeatures,
    v11: vk::PhysicalDeviceVulkan11Features<'static>,
    v12: vk::PhysicalDeviceVulkan12Features<'static>,
    v13: vk::PhysicalDeviceVulkan13Features<'static>,
}

impl Features {
    fn of(shared: &Shared, physical: vk::PhysicalDevice) -> Features {
        let mut features = Features::default();
        let Features { v11, v12, v13, .. } = &mut features;
        let mut all =
            vk::PhysicalDeviceFeatures2::default().push_next(v11).push_next(v12).push_next(v13);
        // SAFETY: the device is of this instance, and of version 1.3, which knows these structures.
        unsafe { shared.instance.get_physical_device_features2(physical, &mut all) };
        let core = all.features;
        features.core = core;
        for next in [&mut features.v11.p_next, &mut features.v12.p_next, &mut features.v13.p_next] {
            *next = std::ptr::null_mut();
        }
        features
    }

    /// The features that every device needs and this one lacks.
    fn missing(&self) -> Vec<&'static str> {
        let wanted = [
            (self.core.shader_int64, "64-bit integers"),
            (self.v12.buffer_device_address, "addresses of buffers"),
            (self.v12.vulkan_memory_model, "Vulkan's memory model"),
            (self.v12.timeline_semaphore, "timeline semaphores"),
            (self.v13.synchronization2, "synchronization2"),
            (self.v13.maintenance4, "maintenance4"),
        ];
        let missing = wanted.into_iter().filter(|(there, _)| *there == vk::FALSE);
        missing.map(|(_, name)| name).collect()
    }
}

fn describe(
    shared: &Arc<Shared>,
    physical: vk::PhysicalDevice,
    index: u32,
) -> Result<Found, String> {
    let instance = &shared.instance;
    // SAFETY: the device is of this instance.
    let plain = unsafe { instance.get_physical_device_properties(physical) };
    let name = text(&plain.device_name);
    if plain.api_version < vk::API_VERSION_1_3 {
        return Err(format!("{name} is older than Vulkan 1.3"));
    }
    let mut v11 = vk::PhysicalDeviceVulkan11Properties::default();
    let mut v12 = vk::PhysicalDeviceVulkan12Properties::default();
    let mut v13 = vk::PhysicalDeviceVulkan13Properties::default();
    let mut all = vk::PhysicalDeviceProperties2::default()
        .push_next(&mut v11)
        .push_next(&mut v12)
        .push_next(&mut v13);
    // SAFETY: as above; version 1.3 knows these structures.
    unsafe { instance.get_physical_device_properties2(physical, &mut all) };
    let limits = all.properties.limits;
    let features = Features::of(shared, physical);
    let missing = features.missing();
    if !missing.is_empty() {
        return Err(format!("{name} lacks {}", missing.join(", ")));
    }
    // SAFETY: as above.
    let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
    let Some(mut chosen) = queues::families(&families) else {
        return Err(format!("{name} does not compute"));
    };
    if features.v12.host_query_reset == vk::FALSE {
        // The host resets timestamps of queues that only copy.
        chosen.copies = None;
    }
    // SAFETY: as above.
    let memory = unsafe { instance.get_physical_device_memory_properties(physical) };
    let kind = match plain.device_type {
        vk::PhysicalDeviceType::CPU => DeviceKind::Cpu,
        vk::PhysicalDeviceType::OTHER => DeviceKind::Accelerator,
        _ => DeviceKind::Gpu,
    };
    let integrated = plain.device_type == vk::PhysicalDeviceType::INTEGRATED_GPU;
    let mut caps = Caps::default();
    caps.ir = true;
    caps.native = Some(TypeId::of::<Native>());
    caps.wait_group = Some(WaitGroup(index));
    // There is one queue for kernels. Batches of several lanes would follow one another there,
    // each behind a barrier; what is independent overlaps within a batch.
    caps.compute_lanes = 1;
    caps.copy_lanes = true;
    caps.batches = true;
    let ticks = families.get(chosen.compute as usize).map(|family| family.timestamp_valid_bits);
    caps.shapes = folio_driver::launch::SHAPES;
    caps.timing = ticks.is_some_and(|bits| bits > 0);
    caps.unified = kind == DeviceKind::Cpu || integrated;
    caps.max_alloc = v11.max_memory_allocation_size.min(v13.max_buffer_size);
    caps.local_memory = limits.max_compute_shared_memory_size.into();
    let heap = bulk(&memory, caps.unified);
    caps.budget = heap.and_then(|heap| budget(instance, physical, heap));
    let of_heap = heap.and_then(|heap| memory.memory_heaps.get(heap));
    let mut info = DeviceInfo {
        name,
        vendor: vendor(plain.vendor_id),
        driver: format!("{} {}", text(&v12.driver_name), text(&v12.driver_info)),
        kind,
        uuid: Some(v11.device_uuid),
        home: MemoryHome::Own(index),
        memory: of_heap.map_or(0, |heap| heap.size),
        compute_units: match kind {
            DeviceKind::Cpu => std::thread::available_parallelism().map_or(1, usize::from) as u32,
            _ => compute_units(instance, physical),
        },
        caps,
    };
    let import = host_import(instance, physical);
    // Pages of the host: beyond the end of what is linked, nothing of the page is touched.
    let links = import.filter(|align| info.caps.unified && *align <= PAGE);
    info.caps.links = links.map(|align| if kind == DeviceKind::Cpu { LINE } else { align });
    info.caps.exports = exports(instance, physical);
    let (subgroup, subgroups) = Subgroups::of(&features.v13, &v11, &v13);
    let mut capabilities = capabilities(&features, &v12, &limits, fused(instance, physical));
    capabilities.subgroup = subgroup;
    let adds = float_adds(instance, physical);
    capabilities.adds = Adds { f64: adds.f64 && capabilities.base.f64, ..adds };
    let target = Target {
        import,
        capabilities,
        // Until a probe has measured them.
        denormals: false,
        checked: false,
        families: chosen,
        most_blocks: limits.max_compute_work_group_count.map(u64::from),
        most_threads: limits.max_compute_work_group_size,
        subgroups,
        period: limits.timestamp_period,
        offered: offered(&features, &v11, &v12, &capabilities),
    };
    Ok(Found { shared: shared.clone(), physical, info, target })
}

/// To how many bytes the host's own memory is aligned that a device which is a CPU takes.
const LINE: u64 = 64;
/// A page of the host's memory, at least.
pub(crate) const PAGE: u64 = 4096;

#[cfg(unix)]
use crate::memory::external::is_offered as exports;

#[cfg(not(unix))]
fn exports(_: &ash::Instance, _: vk::PhysicalDevice) -> bool {
    false
}

fn vendor(id: u32) -> String {
    let known = match id {
        0x1002 => "AMD",
        0x10de => "NVIDIA",
        0x8086 => "Intel",
        0x13b5 => "Arm",
        0x5143 => "Qualcomm",
        0x106b => "Apple",
        0x10005 => "Mesa",
        _ => return format!("vendor {id:#x}"),
    };
    known.to_owned()
}

/// The heap that bulk data is in.
fn bulk(memory: &vk::PhysicalDeviceMemoryProperties, unified: bool) -> Option<usize> {
    let types = best(memory, u32::MAX, if unified { Purpose::Both } else { Purpose::Bulk });
    let own = memory.memory_types_as_slice().get(types.trailing_zeros() as usize)?;
    Some(own.heap_index as usize)
}

/// Turns that lavapipe lets all loops of an item have (`LP_MAX_TGSI_LOOP_ITERATIONS`).
const TURNS: u32 = 65_535;

fn capabilities(
    features: &Features,
    v12: &vk::PhysicalDeviceVulkan12Properties<'_>,
    limits: &vk::PhysicalDeviceLimits,
    fma: Fused,
) -> Capabilities {
    let is = |flag: vk::Bool32| flag == vk::TRUE;
    let (core, f12) = (&features.core, &features.v12);
    let all = vk::ShaderFloatControlsIndependence::ALL;
    let f64 = is(core.shader_float64);
    let wide = f64 && v12.denorm_behavior_independence == all;
    let wide_rounds = f64 && v12.rounding_mode_independence == all;
    Capabilities {
        // Hiding would make products with literal zeros right on lavapipe, whose compiler then
        // takes minutes for some kernels (docs/drivers.md).
        hides: false,
        turns: (v12.driver_id == vk::DriverId::MESA_LLVMPIPE).then_some(TURNS),
        base: emit::Capabilities {
            f64,
            atomics64: is(f12.shader_buffer_int64_atomics),
            local_memory: limits.max_compute_shared_memory_size.into(),
            argument_bytes: 0,
            block: limits.max_compute_work_group_invocations,
            units: 0,
        },
        int8: is(f12.shader_int8) && is(f12.storage_buffer8_bit_access),
        int16: is(core.shader_int16) && is(features.v11.storage_buffer16_bit_access),
        local_atomics64: is(f12.shader_shared_int64_atomics),
        subgroup: 1,
        adds: Adds::default(),
        // Until a probe has measured it.
        exact: Exact { doubles: f64, fused: Fused::NONE, fuses_normals: false, ..Exact::ALL },
        fma,
        controls: Controls {
            f32: Control {
                zeros: is(v12.shader_signed_zero_inf_nan_preserve_float32),
                nearest: is(v12.shader_rounding_mode_rte_float32),
                denormals: is(v12.shader_denorm_preserve_float32),
            },
            f64: Control {
                zeros: f64 && is(v12.shader_signed_zero_inf_nan_preserve_float64),
                nearest: wide_rounds && is(v12.shader_rounding_mode_rte_float64),
                denormals: wide && is(v12.shader_denorm_preserve_float64),
            },
        },
    }
}

/// The features that modules of others may use: those that [`create`] asks for.
fn offered(
    features: &Features,
    v11: &vk::PhysicalDeviceVulkan11Properties<'_>,
    v12: &vk::PhysicalDeviceVulkan12Properties<'_>,
    own: &Capabilities,
) -> Offered {
    let is = |flag: vk::Bool32| flag == vk::TRUE;
    let f12 = &features.v12;
    let of_floats = |f16, f32, f64| is(f16) || is(f32) || is(f64);
    let subgroups = match v11.subgroup_supported_stages.contains(vk::ShaderStageFlags::COMPUTE) {
        true => v11.subgroup_supported_operations,
        false => vk::SubgroupFeatureFlags::empty(),
    };
    Offered {
        f16: is(f12.shader_float16),
        f64: is(features.core.shader_float64),
        int8: is(f12.shader_int8),
        int16: is(features.core.shader_int16),
        memory8: is(f12.storage_buffer8_bit_access),
        memory16: is(features.v11.storage_buffer16_bit_access),
        atomics64: is(f12.shader_buffer_int64_atomics) || is(f12.shader_shared_int64_atomics),
        fused: own.fma != Fused::NONE,
        device_scope: is(f12.vulkan_memory_model_device_scope),
        variable_pointers: [
            is(features.v11.variable_pointers_storage_buffer),
            is(features.v11.variable_pointers),
        ],
        adds: own.adds,
        subgroups,
        controls: [
            of_floats(
                v12.shader_denorm_preserve_float16,
                v12.shader_denorm_preserve_float32,
                v12.shader_denorm_preserve_float64,
            ),
            of_floats(
                v12.shader_denorm_flush_to_zero_float16,
                v12.shader_denorm_flush_to_zero_float32,
                v12.shader_denorm_flush_to_zero_float64,
            ),
            of_floats(
                v12.shader_signed_zero_inf_nan_preserve_float16,
                v12.shader_signed_zero_inf_nan_preserve_float32,
                v12.shader_signed_zero_inf_nan_preserve_float64,
            ),
            of_floats(
                v12.shader_rounding_mode_rte_float16,
                v12.shader_rounding_mode_rte_float32,
                v12.shader_rounding_mode_rte_float64,
            ),
            of_floats(
                v12.shader_rounding_mode_rtz_float16,
                v12.shader_rounding_mode_rtz_float32,
                v12.shader_rounding_mode_rtz_float64,
            ),
        ],
    }
}

/// Creates the device, with those features of its that code uses.
pub(crate) fn create(found: &Found) -> Result<ash::Device, HalError> {
    let (instance, target) = (&found.shared.instance, &found.target);
    let there = Features::of(&found.shared, found.physical);
    let mut fma = fma::Features::of(target.capabilities.fma);
    let adds = target.capabilities.adds;
    let mut atomic_floats = vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT::default()
        .shader_buffer_float32_atomic_add(adds.f32)
        .shader_buffer_float64_atomic_add(adds.f64);
    let priorities = [1.0];
    let families = [Some(target.families.compute), target.families.copies];
    let queue = |family| {
        vk::DeviceQueueCreateInfo::default()
            .queue_family_index(family)
            .queue_priorities(&priorities)
    };
    let queues: Vec<_> = families.into_iter().flatten().map(queue).collect();
    let core = vk::PhysicalDeviceFeatures::default()
        .shader_int64(true)
        .shader_int16(there.core.shader_int16 == vk::TRUE)
        .shader_float64(there.core.shader_float64 == vk::TRUE);
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default()
        .storage_buffer16_bit_access(there.v11.storage_buffer16_bit_access == vk::TRUE)
        .variable_pointers_storage_buffer(there.v11.variable_pointers_storage_buffer == vk::TRUE)
        .variable_pointers(there.v11.variable_pointers == vk::TRUE);
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default()
        .buffer_device_address(true)
        .vulkan_memory_model(true)
        .vulkan_memory_model_device_scope(there.v12.vulkan_memory_model_device_scope == vk::TRUE)
        .shader_float16(there.v12.shader_float16 == vk::TRUE)
        .timeline_semaphore(true)
        .host_query_reset(target.families.copies.is_some())
        .shader_int8(there.v12.shader_int8 == vk::TRUE)
        .storage_buffer8_bit_access(there.v12.storage_buffer8_bit_access == vk::TRUE)
        .shader_buffer_int64_atomics(there.v12.shader_buffer_int64_atomics == vk::TRUE)
        .shader_shared_int64_atomics(there.v12.shader_shared_int64_atomics == vk::TRUE);
    let mut v13 = vk::PhysicalDeviceVulkan13Features::default()
        .synchronization2(true)
        .maintenance4(true)
        .subgroup_size_control(there.v13.subgroup_size_control == vk::TRUE)
        .compute_full_subgroups(there.v13.compute_full_subgroups == vk::TRUE);
    let optional = [
        (target.import.is_some(), ash::ext::external_memory_host::NAME),
        (found.info.caps.exports, ash::khr::external_memory_fd::NAME),
        (fma.is_there(), fma::NAME),
        (adds != Adds::default(), ash::ext::shader_atomic_float::NAME),
    ];
    let wanted = optional.iter().filter(|(has, _)| *has);
    let extensions: Vec<_> = wanted.map(|(_, name)| name.as_ptr()).collect();
    let mut create = vk::DeviceCreateInfo::default()
        .enabled_extension_names(&extensions)
        .queue_create_infos(&queues)
        .enabled_features(&core)
        .push_next(&mut v11)
        .push_next(&mut v12)
        .push_next(&mut v13);
    if fma.is_there() {
        create = create.push_next(&mut fma);
    }
    if adds != Adds::default() {
        create = create.push_next(&mut atomic_floats);
    }
    // SAFETY: all that the description points to is there during the call, and all features are the
    // device's.
    unsafe { instance.create_device(found.physical, &create, None) }
        .map_err(|result| driver("vkCreateDevice", result))
}
