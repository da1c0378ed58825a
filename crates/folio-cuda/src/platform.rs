//! The backend: which devices there are.

use crate::compiler::CompiledPrograms;
use crate::device::{CudaDevice, UNITS};
use crate::driver::{self, Optional};
use crate::frames::frame_of;
use crate::native::Native;
use crate::nvtx::{self, Ranges};
use crate::verdict::IN_FLIGHT;
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};
use folio_cache::{Bundle, Cache};
use folio_core::hal::{
    Backend, Calls, Caps, Device, DeviceInfo, DeviceKind, HalError, HalErrorKind, Link, MemoryHome,
    Notify, Unavailable, WaitGroup,
};
use folio_kernel::Scalar;
use std::any::TypeId;
use std::ffi::CStr;
use std::sync::Arc;

/// PCIe 4 or 5 with page-locked memory; the price is that of a small copy.
const HOST: Link = Link { bytes_per_us: 25_000, op_ns: 4_000 };

/// All of NVIDIA's devices that the driver shows.
#[derive(Debug)]
pub struct CudaBackend {
    kept: CompiledPrograms,
    courier: bool,
    ranges: Option<&'static Ranges>,
}

impl CudaBackend {
    /// The backend. Whether there is a driver, [`Backend::devices`] says. Compiled code is kept
    /// where the environment says ([`Cache::from_environment`]). Where that says that a profiler of
    /// NVIDIA's is attached (`NVTX_INJECTION64_PATH`, which profilers set), and NVTX is installed,
    /// that sees the labels of commands as ranges.
    pub fn new() -> CudaBackend {
        let kept = CompiledPrograms { cache: Cache::from_environment(), bundle: Bundle::default() };
        CudaBackend { kept, courier: true, ranges: nvtx::attached() }
    }

    /// Has no threads that hand operations over ([`Caps::courier`]): each that submits calls the
    /// driver itself.
    #[must_use]
    pub fn without_courier(mut self) -> CudaBackend {
        self.courier = false;
        self
    }

    #[cfg(all(test, target_os = "linux"))]
    pub(crate) fn with_ranges(mut self, ranges: &'static Ranges) -> CudaBackend {
        self.ranges = Some(ranges);
        self
    }

    /// With another cache of compiled code.
    #[must_use]
    pub fn cache(mut self, cache: Cache) -> CudaBackend {
        self.kept.cache = cache;
        self
    }

    /// With code that was compiled elsewhere, for devices of the same kind: no kernel in it needs
    /// NVRTC.
    ///
    /// ```no_run
    /// use folio_cuda::{Bundle, CudaBackend};
    ///
    /// // From `cargo xtask bundle`, or `folio bundle`; `include_bytes!` has it in the program.
    /// let file = std::fs::read("kernels.bundle")?;
    /// // SAFETY: the file came with the program.
    /// let bundle = unsafe { Bundle::from_bytes(&file) }?;
    /// let backend = CudaBackend::new().bundle(bundle);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bundle(mut self, bundle: Bundle) -> CudaBackend {
        self.kept.bundle = bundle;
        self
    }
}

impl Default for CudaBackend {
    fn default() -> CudaBackend {
        CudaBackend::new()
    }
}

/// The driver's devices that Folio runs on: those with memory in a stream's order. All have it but
/// those of a mode for displays (Windows' WDDM on old GPUs) and some virtual ones.
fn usable() -> Result<Vec<sys::CUdevice>, HalError> {
    let mut count = 0;
    // SAFETY: the driver is initialised.
    driver::check("cuDeviceGetCount", unsafe { sys::cuDeviceGetCount(&raw mut count) })?;
    let of = |ordinal| {
        let mut device = 0;
        // SAFETY: as above.
        let result = unsafe { sys::cuDeviceGet(&raw mut device, ordinal) };
        driver::check(&format!("cuDeviceGet({ordinal})"), result).map(|()| device)
    };
    let mut all = (0..count).map(of).collect::<Result<Vec<_>, _>>()?;
    all.retain(|device| {
        attribute(*device, Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) != 0
    });
    if all.is_empty() {
        let what = match count {
            0 => "the driver shows no device",
            _ => "the driver's devices have no memory pools",
        };
        return Err(HalError::new(HalErrorKind::Driver, what));
    }
    Ok(all)
}

fn find(index: usize) -> Result<sys::CUdevice, HalError> {
    let missing = || HalError::new(HalErrorKind::Driver, format!("no device {index}"));
    usable()?.get(index).copied().ok_or_else(missing)
}

/// A device's attribute; 0 where it does not know the question.
pub(crate) fn attribute(device: sys::CUdevice, which: Attribute) -> i32 {
    let mut value = 0;
    // SAFETY: the driver is initialised.
    let result = unsafe { sys::cuDeviceGetAttribute(&raw mut value, which, device) };
    if result == sys::CUresult::CUDA_SUCCESS { value } else { 0 }
}

fn name(device: sys::CUdevice) -> Result<String, HalError> {
    let mut name = [0; 256];
    // SAFETY: 256 bytes for the name and its end.
    let result = unsafe { sys::cuDeviceGetName(name.as_mut_ptr(), 256, device) };
    driver::check("cuDeviceGetName", result)?;
    // SAFETY: the driver ends the name with a zero, within the array.
    Ok(unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned())
}

fn info(
    index: usize,
    device: sys::CUdevice,
    optional: Optional,
    courier: bool,
) -> Result<DeviceInfo, HalError> {
    let (mut memory, mut uuid) = (0, sys::CUuuid { bytes: [0; 16] });
    // SAFETY: places for the answers.
    unsafe {
        driver::check("cuDeviceTotalMem", sys::cuDeviceTotalMem_v2(&raw mut memory, device))?;
        driver::check("cuDeviceGetUuid", sys::cuDeviceGetUuid_v2(&raw mut uuid, device))?;
    }
    let version = optional.version;
    let of = |which| attribute(device, which);
    let mut caps = Caps::default();
    caps.wait_group = Some(WaitGroup(0));
    caps.unified = of(Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0;
    caps.copy_lanes = of(Attribute::CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT) > 0;
    caps.ir = true;
    caps.native = Some(TypeId::of::<Native>());
    caps.captures = true;
    caps.conditions = optional.conditions;
    caps.timing = optional.timing;
    caps.shapes = folio_driver::launch::SHAPES;
    // As NVRTC is told.
    (caps.denormals, caps.exact_div_sqrt) = (true, true);
    caps.hints =
        optional.hints && of(Attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS) != 0;
    caps.frame = frame_of(device);
    caps.max_alloc = memory as u64;
    let bytes = |which| u64::try_from(of(which)).unwrap_or(0);
    caps.local_memory = bytes(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    caps.unit_local_memory =
        bytes(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    // Every GPU from Maxwell on, and none is older that CUDA 12 drives.
    (caps.f64, caps.atomics64, caps.subgroup) = (true, true, 32);
    if of(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= UNITS {
        caps.tiles = &[Scalar::F16, Scalar::Bf16, Scalar::F32];
    }
    caps.group_items = bytes(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    caps.max_params = 64;
    caps.courier = Caps::spare_courier().filter(|_| courier);
    caps.max_in_flight = IN_FLIGHT as u32;
    caps.host_link = HOST;
    Ok(DeviceInfo {
        name: name(device)?,
        vendor: "NVIDIA".to_owned(),
        driver: format!("CUDA {}.{}", version / 1000, version % 1000 / 10),
        kind: DeviceKind::Gpu,
        uuid: Some(uuid.bytes.map(|byte| byte as u8)),
        home: MemoryHome::Own(index as u32),
        memory: memory as u64,
        compute_units: of(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).max(1) as u32,
        caps,
    })
}

// SAFETY: its devices keep the contract, see `CudaDevice`.
unsafe impl Backend for CudaBackend {
    fn name(&self) -> &str {
        "cuda"
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>, Unavailable> {
        let _calls = Calls::begin();
        let optional = driver::present()?;
        let all = || -> Result<Vec<_>, HalError> {
            let found = usable()?.into_iter().enumerate();
            found.map(|(index, device)| info(index, device, optional, self.courier)).collect()
        };
        all().map_err(|error| Unavailable::new(error.to_string()))
    }

    unsafe fn open(&self, index: usize, _: Notify) -> Result<Arc<dyn Device>, HalError> {
        let _calls = Calls::begin();
        let missing = |why: Unavailable| HalError::new(HalErrorKind::Driver, why.reason);
        let optional = driver::present().map_err(missing)?;
        let device = find(index)?;
        let info = info(index, device, optional, self.courier)?;
        let (kept, ranges) = (self.kept.clone(), self.ranges);
        Ok(Arc::new(CudaDevice::open(device, info, optional, kept, ranges)?))
    }
}
