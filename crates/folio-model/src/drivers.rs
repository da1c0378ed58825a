//! The backends over drivers, as tests open them: one table for all crates. A backend is in each
//! test of [`on_each_driver`](crate::on_each_driver) and [`on_each_form`](crate::on_each_form) when
//! it has a row here and its lines in these two macros.

use folio_core::hal::{Backend, Device, DeviceInfo, DeviceKind, HalError, Notify, Unavailable};
use folio_core::{Runtime, RuntimeBuilder};
use folio_cuda::CudaBackend;
use folio_kernel::emit::spirv::Capabilities;
use folio_kernel::soft::Exact;
use folio_opencl::{Cache, OpenClBackend};
use folio_vulkan::{Messages, VulkanBackend};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Opens a backend.
pub type Open = fn() -> Opened;

/// A backend over a driver.
pub struct Driver {
    /// The backend's name.
    pub name: &'static str,
    /// Opens it as programs do, without checks of its own.
    pub plain: Open,
    /// Its devices as they are, and then with other memory: each is a line of
    /// [`on_each_form`](crate::on_each_form).
    pub forms: &'static [Form],
    /// Backends whose devices are given different code for a kernel; the first is code for GPUs.
    pub codes: &'static [Open],
    /// Devices take long to open, so tests keep them open.
    is_slow_to_open: bool,
    /// What its own checks have found in this process.
    findings: fn() -> Vec<String>,
    /// The first form, which all tests of a process share.
    opened: OnceLock<Opened>,
}

/// A backend whose devices have a kind of memory.
pub struct Form {
    /// Opens it.
    pub open: Open,
    /// Reasons for which it leaves cases of the HAL's suite out.
    pub lacks: &'static [&'static str],
    /// As if the host did not reach the memory of any device.
    pub is_discrete: bool,
}

const fn form(open: Open, lacks: &'static [&'static str]) -> Form {
    Form { open, lacks, is_discrete: false }
}

/// CUDA.
pub static CUDA: Driver = Driver {
    name: "cuda",
    plain: cuda,
    forms: &[form(cuda, &["closures", "notifications", "links between devices"])],
    codes: &[cuda],
    is_slow_to_open: true,
    findings: Vec::new,
    opened: OnceLock::new(),
};

const LACKS_OF_OPENCL: &[&str] = &["closures", "notifications", "hints", "links between devices"];

/// OpenCL: with shared virtual memory, with such as the host does not reach, and without. Code is
/// for GPUs, and for memory with addresses and without.
pub static OPENCL: Driver = Driver {
    name: "opencl",
    plain: opencl,
    forms: &[
        form(opencl, LACKS_OF_OPENCL),
        form(|| Opened::new(OpenClBackend::without_fine_svm().with_all_svm()), LACKS_OF_OPENCL),
        form(|| Opened::new(OpenClBackend::without_svm()), LACKS_OF_OPENCL),
    ],
    codes: &[
        || uncached(OpenClBackend::new().as_gpus()),
        || uncached(OpenClBackend::new().with_all_svm()),
        || uncached(OpenClBackend::without_svm()),
    ],
    is_slow_to_open: false,
    findings: Vec::new,
    opened: OnceLock::new(),
};

const LACKS_OF_VULKAN: &[&str] = &[
    "closures",
    "notifications",
    "hints",
    "links between devices",
    "native waits between the first two devices",
];

/// Vulkan with its validation layer; then as if the host did not reach the devices' memory. Code
/// is for what the device rounds correctly, as if it did nothing so, and as if it had no
/// sub-groups.
pub static VULKAN: Driver = Driver {
    name: "vulkan",
    plain: || Opened::new(VulkanBackend::new()),
    forms: &[
        form(|| Opened::new(validated()), LACKS_OF_VULKAN),
        Form {
            is_discrete: true,
            ..form(|| Opened::new(validated().as_discrete()), LACKS_OF_VULKAN)
        },
    ],
    codes: &[
        || Opened::new(validated()),
        || limited_to(Capabilities { exact: Exact::NONE, ..Capabilities::ALL }),
        || limited_to(Capabilities { subgroup: 1, ..Capabilities::ALL }),
    ],
    is_slow_to_open: false,
    findings: || {
        let all = MESSAGES.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().flat_map(Messages::all).collect()
    },
    opened: OnceLock::new(),
};

/// All of them.
static ALL: [&Driver; 3] = [&CUDA, &OPENCL, &VULKAN];

/// A test for each driver, `name::cuda` and so on, skipped where the driver has no device. After
/// it, the driver's own checks have found nothing.
#[macro_export]
macro_rules! on_each_driver {
    ($($(#[doc = $about:literal])* #[test] fn $test:ident($driver:ident) $body:block)*) => {$(
        $(#[doc = $about])*
        fn $test($driver: &'static $crate::drivers::Driver) $body

        mod $test {
            #[test]
            fn cuda() {
                $crate::drivers::CUDA.passes(super::$test);
            }

            #[test]
            fn opencl() {
                $crate::drivers::OPENCL.passes(super::$test);
            }

            #[test]
            fn vulkan() {
                $crate::drivers::VULKAN.passes(super::$test);
            }
        }
    )*};
}

/// As `on_each_driver`, for each form of each driver.
#[macro_export]
macro_rules! on_each_form {
    ($($(#[doc = $about:literal])*
    #[test] fn $test:ident($driver:ident, $form:ident) $body:block)*) => {$(
        $(#[doc = $about])*
        fn $test(
            $driver: &'static $crate::drivers::Driver,
            $form: &'static $crate::drivers::Form,
        ) $body

        mod $test {
            #[test]
            fn cuda() {
                $crate::drivers::CUDA.passes_as(0, super::$test);
            }

            #[test]
            fn opencl() {
                $crate::drivers::OPENCL.passes_as(0, super::$test);
            }

            #[test]
            fn opencl_without_fine_svm() {
                $crate::drivers::OPENCL.passes_as(1, super::$test);
            }

            #[test]
            fn opencl_without_svm() {
                $crate::drivers::OPENCL.passes_as(2, super::$test);
            }

            #[test]
            fn vulkan() {
                $crate::drivers::VULKAN.passes_as(0, super::$test);
            }

            #[test]
            fn vulkan_as_discrete() {
                $crate::drivers::VULKAN.passes_as(1, super::$test);
            }
        }
    )*};
}

impl Driver {
    /// The backend with its devices as they are, one for the process.
    pub fn open(&self) -> Opened {
        self.opened.get_or_init(self.forms[0].open).clone()
    }

    /// Whether it has a device; says why not, as tests do that are skipped.
    pub fn is_there(&self) -> bool {
        let backend = (self.plain)();
        let found = backend.devices();
        match &found {
            Ok(devices) if self.is_slow_to_open => keep_open(&backend, devices.len()),
            Ok(_) => {}
            Err(why) => println!("skipped: {}: {}", self.name, why.reason),
        }
        found.is_ok()
    }

    /// Whether one of its devices is a GPU.
    pub fn has_gpus(&self) -> bool {
        let is_gpu = |device: &DeviceInfo| device.kind == DeviceKind::Gpu;
        self.open().devices().is_ok_and(|all| all.iter().any(is_gpu))
    }

    /// The next driver of the table, if it has devices here: each is tested beside one other.
    pub fn neighbour(&self) -> Option<&'static Driver> {
        let at = ALL.iter().position(|of| of.name == self.name)?;
        let next = ALL[(at + 1) % ALL.len()];
        match next.open().devices() {
            Ok(_) => return Some(next),
            Err(why) => println!("skipped: twins: {}: {}", next.name, why.reason),
        }
        None
    }

    /// A runtime's builder that has this backend.
    pub fn builder(&self) -> RuntimeBuilder {
        Runtime::builder().backend(self.open())
    }

    /// The name of a suite on its devices: `PROGRAMS` is `PROGRAMS_CUDA`.
    pub fn suite(&self, name: &str) -> String {
        format!("{name}_{}", self.name.to_uppercase())
    }

    /// Runs a test of it.
    #[track_caller]
    pub fn passes(&'static self, test: fn(&'static Driver)) {
        if self.is_there() {
            test(self);
            self.finds_nothing();
        }
    }

    /// Runs a test of one of its forms.
    #[track_caller]
    pub fn passes_as(&'static self, form: usize, test: fn(&'static Driver, &'static Form)) {
        if self.is_there() {
            test(self, &self.forms[form]);
            self.finds_nothing();
        }
    }

    /// Its own checks have found nothing in this process.
    #[track_caller]
    pub fn finds_nothing(&self) {
        let all = (self.findings)();
        assert!(all.is_empty(), "{} findings: {}", all.len(), all[..all.len().min(4)].join("\n"));
    }
}

/// A backend that several runtimes may share: it looks for devices and measures what they compute
/// once, and opens them for each runtime.
#[derive(Clone)]
pub struct Opened(Arc<dyn Backend>);

impl Opened {
    fn new(backend: impl Backend) -> Opened {
        Opened(Arc::new(backend))
    }
}

// SAFETY: the backend's own answers, passed on.
unsafe impl Backend for Opened {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn devices(&self) -> Result<Vec<DeviceInfo>, Unavailable> {
        self.0.devices()
    }

    unsafe fn open(&self, index: usize, notify: Notify) -> Result<Arc<dyn Device>, HalError> {
        // SAFETY: the caller's promise, passed on.
        unsafe { self.0.open(index, notify) }
    }
}

/// A context of CUDA takes up to 0.7 s to make, and backends of this process find theirs made.
fn keep_open(backend: &Opened, count: usize) {
    static OPEN: OnceLock<Vec<Arc<dyn Device>>> = OnceLock::new();
    // SAFETY: nothing is done with them.
    let open = |at| unsafe { backend.open(at, Notify::none()) }.ok();
    OPEN.get_or_init(|| (0..count).filter_map(open).collect());
}

fn cuda() -> Opened {
    Opened::new(CudaBackend::new())
}

fn opencl() -> Opened {
    Opened::new(OpenClBackend::new())
}

fn uncached(backend: OpenClBackend) -> Opened {
    Opened::new(backend.cache(Cache::off()))
}

static MESSAGES: Mutex<Vec<Messages>> = Mutex::new(vec![]);

/// Vulkan whose calls the validation layer looks at; [`VULKAN`] finds what the layer says.
pub fn validated() -> VulkanBackend {
    let backend = VulkanBackend::new().validated();
    MESSAGES.lock().unwrap_or_else(PoisonError::into_inner).push(backend.messages());
    backend
}

fn limited_to(caps: Capabilities) -> Opened {
    Opened::new(validated().limited_to(caps))
}
