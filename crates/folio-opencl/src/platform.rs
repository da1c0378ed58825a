//! Platforms and their devices: what there is, before anything is opened.

use crate::cl::{Context, answer, call, check, run};
use crate::downloads::Downloads;
use crate::memory::Memory;
use crate::module::Target;
use crate::native::Native;
use folio_core::geom::Dims;
use folio_core::hal::{
    Caps, DeviceInfo, DeviceKind, HalError, HalErrorKind, MemoryHome, Unavailable, WaitGroup,
};
use folio_driver::lock;
use opencl_sys::{
    CL_DEVICE_AVAILABLE, CL_DEVICE_EXTENSIONS, CL_DEVICE_GLOBAL_MEM_SIZE,
    CL_DEVICE_HOST_UNIFIED_MEMORY, CL_DEVICE_MAX_COMPUTE_UNITS, CL_DEVICE_MAX_MEM_ALLOC_SIZE,
    CL_DEVICE_MAX_WORK_ITEM_SIZES, CL_DEVICE_NAME, CL_DEVICE_NOT_FOUND, CL_DEVICE_PLATFORM,
    CL_DEVICE_SVM_CAPABILITIES, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, CL_DEVICE_SVM_FINE_GRAIN_BUFFER,
    CL_DEVICE_TYPE, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU,
    CL_DEVICE_VENDOR, CL_DEVICE_VENDOR_ID, CL_DRIVER_VERSION, CL_PLATFORM_VERSION, cl_device_id,
    cl_platform_id,
};
use std::any::TypeId;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex};

/// `CL_DEVICE_UUID_KHR`, of the extension `cl_khr_device_uuid`.
const DEVICE_UUID: u32 = 0x106A;

/// A driver's devices, which share a context.
#[derive(Debug)]
pub(crate) struct Platform {
    devices: Vec<DeviceId>,
    /// All of them are CPUs with fine-grained memory, for which a context is asked as a whole.
    cpus: bool,
    /// The program's, which is used in place of an own one.
    given: Option<Context>,
    /// Made when the first of its devices is opened.
    shared: Mutex<Option<Arc<Shared>>>,
}

/// The state that the devices of a platform share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Goes first: it is of the context.
    pub(crate) memory: Memory,
    pub(crate) context: Context,
    /// All devices are CPUs whose memory is the host's.
    pub(crate) cpus: bool,
    pub(crate) downloads: Downloads,
}

/// A device's name in OpenCL; valid as long as the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceId(pub(crate) cl_device_id);

// SAFETY: a name, which any thread may use.
unsafe impl Send for DeviceId {}
// SAFETY: as above.
unsafe impl Sync for DeviceId {}

/// The kind of shared virtual memory that a device has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Svm {
    None,
    /// The memory has addresses, and the host does not reach it.
    Coarse,
    /// The host reaches it, too.
    Fine,
}

/// A device that is there.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) platform: Arc<Platform>,
    pub(crate) id: DeviceId,
    pub(crate) svm: Svm,
    pub(crate) target: Target,
    pub(crate) info: DeviceInfo,
}

impl Platform {
    fn id(&self) -> Result<cl_platform_id, HalError> {
        let none = || HalError::new(HalErrorKind::Driver, "a platform without devices");
        platform_of(*self.devices.first().ok_or_else(none)?)
    }

    pub(crate) fn shared(&self) -> Result<Arc<Shared>, HalError> {
        let mut shared = lock(&self.shared);
        if let Some(shared) = &*shared {
            return Ok(shared.clone());
        }
        let ids: Vec<_> = self.devices.iter().map(|id| id.0).collect();
        let _one = lock(&ONE_AT_A_TIME);
        let (memory, downloads) = (Memory::new(), Downloads::default());
        let context = match &self.given {
            Some(context) => context.again()?,
            None => Context::new(self.id()?, &ids)?,
        };
        let made = Arc::new(Shared { memory, context, cpus: self.cpus, downloads });
        crate::memory::add(&made);
        Ok(shared.insert(made).clone())
    }
}

/// Drivers come up when they are first asked, and not all of them can be asked by two threads then.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The devices of all platforms, with no more of shared virtual memory than this, or `all` of that;
/// each as one of its own if they are to be `apart`.
pub(crate) fn find(most: Svm, all: bool, apart: bool) -> Result<Vec<Found>, Unavailable> {
    let _one = lock(&ONE_AT_A_TIME);
    let why = |error: HalError| Unavailable::new(error.message.to_string());
    // A platform or a device that does not say what it is leaves the others.
    let mut broken = None;
    let mut contexts = Vec::new();
    for platform in platforms().map_err(why)? {
        let mut note = |error| _ = broken.get_or_insert(error);
        let asked = version(platform).and_then(|version| Ok((version, devices(platform)?)));
        let (version, ids) = asked.map_err(&mut note).unwrap_or_default();
        let mut known: Vec<_> = ids
            .into_iter()
            .filter_map(|id| describe(id, &version).map_err(&mut note).ok())
            .collect();
        while !known.is_empty() {
            let rest = known.split_off(if apart { 1 } else { known.len() });
            contexts.push(std::mem::replace(&mut known, rest));
        }
    }
    let mut found = Vec::new();
    for (group, devices) in (0..).zip(contexts) {
        add(&mut found, group, devices, (most, all, None));
    }
    if found.is_empty() {
        let none = || {
            Unavailable::new(
                "no OpenCL platform has a device: is a driver installed, and does `OCL_ICD_VENDORS` name its folder? A \
                 GPU's vendor has its driver; the package `pocl-opencl-icd` (Debian, Ubuntu) or `pocl` has one for the \
                 processor",
            )
        };
        return Err(broken.map_or_else(none, why));
    }
    Ok(found)
}

/// The devices of a context of the program's.
pub(crate) fn find_in(context: &Context, most: Svm, all: bool) -> Result<Vec<Found>, HalError> {
    let _one = lock(&ONE_AT_A_TIME);
    let describe = |id| {
        let id = DeviceId(id);
        describe(id, &version(platform_of(id)?)?)
    };
    let devices = context.devices()?.into_iter().map(describe).collect::<Result<Vec<_>, _>>()?;
    let mut found = Vec::new();
    add(&mut found, 0, devices, (most, all, Some(context.again()?)));
    Ok(found)
}

/// Adds the devices of a context that is there, or will be.
fn add(
    found: &mut Vec<Found>,
    group: u32,
    devices: Vec<Properties>,
    (most, all, given): (Svm, bool, Option<Context>),
) {
    let ids: Vec<_> = devices.iter().map(|device| device.id).collect();
    let useless = is_nvidia(&ids) && (!all || ids.len() > 1);
    let most = if useless { Svm::None } else { most };
    let cpus = devices
        .iter()
        .all(|device| device.info.kind == DeviceKind::Cpu && device.svm.min(most) == Svm::Fine);
    let platform = Arc::new(Platform { devices: ids, cpus, given, shared: Mutex::new(None) });
    for Properties { id, svm, target, mut info } in devices {
        info.home = MemoryHome::Own(found.len() as u32);
        info.caps.wait_group = Some(WaitGroup(group));
        let (platform, svm) = (platform.clone(), svm.min(most));
        found.push(Found { platform, id, svm, target, info });
    }
}

/// The error of a loader without a platform (`cl_khr_icd`).
const PLATFORM_NOT_FOUND: i32 = -1001;

pub(crate) fn platforms() -> Result<Vec<cl_platform_id>, HalError> {
    let mut count = 0;
    // SAFETY: only the number is asked for.
    let status = unsafe { call!(clGetPlatformIDs(0, null_mut(), &raw mut count)) }?;
    if status == PLATFORM_NOT_FOUND {
        return Ok(Vec::new());
    }
    check("clGetPlatformIDs", status)?;
    let mut ids = vec![null_mut(); count as usize];
    // SAFETY: there is room for so many.
    unsafe { run!(clGetPlatformIDs(count, ids.as_mut_ptr(), null_mut())) }?;
    Ok(ids)
}

/// Of a platform whose compiler is new its devices' driver may be as it was.
pub(crate) fn version(platform: cl_platform_id) -> Result<String, HalError> {
    // SAFETY: there is room for so many bytes.
    let bytes = answer(0, |size, to, len| unsafe {
        run!(clGetPlatformInfo(platform, CL_PLATFORM_VERSION, size, to, len))
    });
    bytes.map(|bytes| words(&bytes))
}

fn devices(platform: cl_platform_id) -> Result<Vec<DeviceId>, HalError> {
    let kinds = CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR;
    let mut count = 0;
    // SAFETY: only the number is asked for.
    let status = unsafe { call!(clGetDeviceIDs(platform, kinds, 0, null_mut(), &raw mut count)) }?;
    if status == CL_DEVICE_NOT_FOUND {
        return Ok(Vec::new());
    }
    check("clGetDeviceIDs", status)?;
    let mut ids = vec![null_mut(); count as usize];
    // SAFETY: there is room for so many.
    unsafe { run!(clGetDeviceIDs(platform, kinds, count, ids.as_mut_ptr(), null_mut())) }?;
    let there = |id: &DeviceId| number(*id, CL_DEVICE_AVAILABLE).ok() != Some(0);
    Ok(ids.into_iter().map(DeviceId).filter(|id| there(id)).collect())
}

fn bytes(id: DeviceId, what: u32) -> Result<Vec<u8>, HalError> {
    // SAFETY: there is room for so many bytes.
    answer(0, |size, to, len| unsafe { run!(clGetDeviceInfo(id.0, what, size, to, len)) })
}

/// A number of up to 8 bytes.
pub(crate) fn number(id: DeviceId, what: u32) -> Result<u64, HalError> {
    let found = bytes(id, what)?;
    let mut word = [0; 8];
    let len = found.len().min(8);
    word[..len].copy_from_slice(&found[..len]);
    Ok(u64::from_ne_bytes(word))
}

fn platform_of(id: DeviceId) -> Result<cl_platform_id, HalError> {
    let platform = number(id, CL_DEVICE_PLATFORM)?;
    Ok(std::ptr::with_exposed_provenance_mut(platform as usize))
}

/// Items of a group in each dimension, at most; the slowest first.
pub(crate) fn widest(id: DeviceId) -> Dims {
    let found = bytes(id, CL_DEVICE_MAX_WORK_ITEM_SIZES).unwrap_or_default();
    let mut sizes = found.chunks_exact(size_of::<usize>()).map(|size| {
        let mut word = [0; size_of::<usize>()];
        word.copy_from_slice(size);
        usize::from_ne_bytes(word).max(1)
    });
    let mut dims = [(); 3].map(|()| sizes.next().unwrap_or(usize::MAX));
    dims.reverse();
    dims
}

fn text(id: DeviceId, what: u32) -> Result<String, HalError> {
    bytes(id, what).map(|bytes| words(&bytes))
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end_matches('\0').trim().to_owned()
}

/// Whether devices of NVIDIA's are among them, which are better off without shared virtual memory:
/// their driver (580) takes half a millisecond to allocate some, and 0.4 s for a gibibyte, and
/// launches over it take longer. A context of several devices in which some was ever allocated is
/// never given back, with 260 MB of each device, and buffers over it are copies there.
fn is_nvidia(ids: &[DeviceId]) -> bool {
    const NVIDIA: u64 = 0x10DE;
    ids.iter().any(|id| number(*id, CL_DEVICE_VENDOR_ID).ok() == Some(NVIDIA))
}

fn svm_of(id: DeviceId) -> Svm {
    // Devices older than OpenCL 2.0 do not know the question.
    let caps = number(id, CL_DEVICE_SVM_CAPABILITIES).unwrap_or(0);
    if caps & CL_DEVICE_SVM_FINE_GRAIN_BUFFER != 0 {
        Svm::Fine
    } else if caps & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER != 0 {
        Svm::Coarse
    } else {
        Svm::None
    }
}

/// Memory of the host that begins with one of its pages is what integrated GPUs use without a copy.
const PAGE: u64 = 4096;

/// A device's properties, before it has its place among the others.
struct Properties {
    id: DeviceId,
    svm: Svm,
    target: Target,
    info: DeviceInfo,
}

/// PoCL 4 and 5 end the process where launches of a kernel overlap of which a later one is larger
/// (docs/drivers.md): these come one after the other.
fn takes_one_launch(platform: &str) -> bool {
    let version = platform.split_once("PoCL ").and_then(|(_, version)| version.split('.').next());
    version.is_some_and(|major| matches!(major, "4" | "5"))
}

fn describe(id: DeviceId, platform: &str) -> Result<Properties, HalError> {
    let ask = |what| number(id, what);
    let kind = match ask(CL_DEVICE_TYPE)? {
        kind if kind & CL_DEVICE_TYPE_GPU != 0 => DeviceKind::Gpu,
        kind if kind & CL_DEVICE_TYPE_CPU != 0 => DeviceKind::Cpu,
        _ => DeviceKind::Accelerator,
    };
    let extensions = text(id, CL_DEVICE_EXTENSIONS)?;
    let mut caps = Caps::default();
    caps.ir = true;
    caps.native = Some(TypeId::of::<Native>());
    caps.copy_lanes = true;
    if takes_one_launch(platform) {
        caps.compute_lanes = 1;
    }
    caps.timing = true;
    caps.shapes = folio_driver::launch::SHAPES;
    caps.courier = Caps::spare_courier().filter(|_| kind == DeviceKind::Gpu);
    caps.one_at_a_time = true;
    caps.batches = caps.courier.is_none();
    caps.max_alloc = ask(CL_DEVICE_MAX_MEM_ALLOC_SIZE)?;
    // Deprecated since OpenCL 2.0, and still what drivers say.
    caps.unified = ask(CL_DEVICE_HOST_UNIFIED_MEMORY).is_ok_and(|unified| unified != 0);
    let target = Target::of(id, &extensions)?;
    (caps.denormals, caps.exact_div_sqrt) = (target.denormals, target.exact);
    target.tell(&mut caps);
    let align = if kind == DeviceKind::Cpu { target.part_align as u64 } else { PAGE };
    caps.links = caps.unified.then(|| align.next_power_of_two());
    let has_uuid = extensions.contains("cl_khr_device_uuid");
    let uuid = has_uuid.then(|| bytes(id, DEVICE_UUID).ok()?.try_into().ok()).flatten();
    let info = DeviceInfo {
        name: text(id, CL_DEVICE_NAME)?,
        vendor: text(id, CL_DEVICE_VENDOR)?,
        driver: format!("{platform}, {}", text(id, CL_DRIVER_VERSION)?),
        kind,
        uuid,
        home: MemoryHome::Own(0),
        memory: ask(CL_DEVICE_GLOBAL_MEM_SIZE)?,
        compute_units: ask(CL_DEVICE_MAX_COMPUTE_UNITS)? as u32,
        caps,
    };
    Ok(Properties { id, svm: svm_of(id), target, info })
}

#[cfg(test)]
mod tests {
    use super::takes_one_launch;

    #[test]
    fn versions_of_pocl_that_take_one_launch_are_known() {
        for (version, expected) in [
            ("OpenCL 3.0 PoCL 3.1+debian  Linux, None+Asserts, RELOC, SPIR, LLVM 14.0.6", false),
            ("OpenCL 3.0 PoCL 4.0+debian  Linux", true),
            ("OpenCL 3.0 PoCL 5.0-debian  Linux, None+Asserts, RELOC, LLVM 16.0.6, DISTRO", true),
            ("OpenCL 3.0 PoCL 6.0  Linux", false),
            ("OpenCL 2.0 pocl 1.8", false),
            ("OpenCL 3.0 CUDA 13.0.84", false),
            ("OpenCL 3.0 PoCL", false),
        ] {
            assert_eq!(takes_one_launch(version), expected, "{version}");
        }
    }
}
