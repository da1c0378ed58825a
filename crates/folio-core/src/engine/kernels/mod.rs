//! Kernels that a device has loaded, each once. A launch of a kernel function looks its handle up
//! without a lock: the table only grows, and goes with the device. For kernels that a program makes
//! while it runs there is [`loaded`].

pub(crate) mod blame;
pub(crate) mod fused;
pub(crate) mod interop;
pub(crate) mod launch;
pub(crate) mod loaded;

use crate::engine::Engine;
use crate::engine::kernels::fused::FusedKernels;
use crate::engine::kernels::loaded::{LoadedKernel, LoadedTable};
use crate::error::Error;
use crate::foreign::tell;
use crate::hal::{HalErrorKind, KernelHandle, KernelSource, Source};
use crate::sync::Mutex;
use folio_kernel::code::Code;
use folio_kernel::words::Plain;
use std::sync::{Arc, OnceLock};

/// Lists, one for each value of a hash.
const LISTS: usize = 64;

/// The handles of a device, by the code that they are of.
pub(crate) struct Kernels {
    lists: [List; LISTS],
    /// Held while one is compiled, so that it is compiled once.
    opaque: Mutex<LoadedTable<OpaqueCode>>,
    pub(crate) fused: FusedKernels,
}

/// The source of an opaque kernel: language, code, entry and options.
#[derive(PartialEq, Eq, Hash)]
struct OpaqueCode(&'static str, Box<[u8]>, Box<str>, Box<[String]>);

/// Kernels of one value of the hash. One at a time is loaded of a list, so that each is loaded
/// once; those of different lists are compiled at once.
#[derive(Default)]
struct List {
    first: Link,
    loading: Mutex<()>,
}

/// The rest of a list: nothing yet, or one more.
type Link = OnceLock<Box<Loaded>>;

struct Loaded {
    code: &'static Code,
    handle: KernelHandle,
    next: Link,
}

impl Kernels {
    pub(crate) fn new() -> Kernels {
        let lists = std::array::from_fn(|_| List::default());
        let (opaque, fused) = (Mutex::default(), FusedKernels::default());
        Kernels { lists, opaque, fused }
    }

    fn list(&self, code: &'static Code) -> &List {
        &self.lists[std::ptr::from_ref(code).addr() / align_of::<Code>() % LISTS]
    }

    /// The handle of a code, or where it belongs. Code lives as long as the program, so its address
    /// names it.
    fn find(&self, code: &'static Code) -> Result<KernelHandle, &Link> {
        let mut link = &self.list(code).first;
        while let Some(loaded) = link.get() {
            if std::ptr::eq(loaded.code, code) {
                return Ok(loaded.handle);
            }
            link = &loaded.next;
        }
        Err(link)
    }
}

impl Engine {
    /// The handle of a kernel on a device, which loads it if it has not yet.
    pub(crate) fn load(&self, at: u16, code: &'static Code) -> Result<KernelHandle, Error> {
        let entry = &self.devices[usize::from(at)];
        match entry.kernels.find(code) {
            Ok(handle) => Ok(handle),
            Err(_) => self.noting_loss(self.load_now(at, code)),
        }
    }

    #[cold]
    fn load_now(&self, at: u16, code: &'static Code) -> Result<KernelHandle, Error> {
        let entry = &self.devices[usize::from(at)];
        let device = self.open(at)?;
        let one_at_a_time = entry.kernels.list(code).loading.lock();
        let link = match entry.kernels.find(code) {
            Ok(handle) => return Ok(handle),
            Err(link) => link,
        };
        let handle = device.load(&KernelSource::Ir(&code.ir)).map_err(|cause| {
            let doing = format!("load kernel `{}`", code.name);
            Error::Device { device: entry.name.clone(), doing, cause }
        })?;
        link.get_or_init(|| Box::new(Loaded { code, handle, next: OnceLock::new() }));
        drop(one_at_a_time);
        tell(
            || tracing::debug!(target: "folio", device = entry.name, kernel = &*code.name, "loaded"),
        );
        Ok(handle)
    }

    /// Makes a kernel ready on a device, if it has to load it: launches of it compile nothing more.
    pub(crate) fn prepare(&self, at: u16, code: &'static Code) -> Result<(), Error> {
        let entry = &self.devices[usize::from(at)];
        if entry.info.caps.closures {
            return Ok(());
        }
        let handle = self.load(at, code)?;
        let ready = self.open(at)?.prepare(handle).map_err(|cause| {
            let doing = format!("prepare kernel `{}`", code.name);
            Error::Device { device: entry.name.clone(), doing, cause }
        });
        self.noting_loss(ready)
    }

    /// An opaque kernel of a device, which loads it if it has not yet.
    pub(crate) fn load_opaque(
        &self,
        at: u16,
        source: Source<'_>,
        name: &str,
        options: &[&str],
    ) -> Result<Arc<LoadedKernel>, Error> {
        self.noting_loss(self.load_opaque_now(at, source, name, options))
    }

    fn load_opaque_now(
        &self,
        at: u16,
        source: Source<'_>,
        name: &str,
        options: &[&str],
    ) -> Result<Arc<LoadedKernel>, Error> {
        let entry = &self.devices[usize::from(at)];
        let device = self.open(at)?;
        let owned = options.iter().map(|option| (*option).to_owned()).collect();
        let code = OpaqueCode(source.language(), source.code().into(), name.into(), owned);
        let mut loaded = entry.kernels.opaque.lock();
        if let Some(known) = loaded.find(&code) {
            return Ok(known);
        }
        let made = device.load(&KernelSource::Opaque { name, source, options });
        let handle = made.map_err(|cause| {
            let device = entry.name.clone();
            match cause.kind {
                HalErrorKind::Unsupported => {
                    let what =
                        format!("kernels in {} (kernel `{}`)", source.language(), Plain(name));
                    Error::Unsupported { device, what }
                }
                _ => {
                    let doing = format!("load kernel `{}`", Plain(name));
                    Error::Device { device, doing, cause }
                }
            }
        })?;
        let kernel = Arc::new(LoadedKernel::new(device, handle, None));
        loaded.add(code, &kernel);
        drop(loaded);
        tell(|| tracing::debug!(target: "folio", device = entry.name, kernel = name, "loaded"));
        Ok(kernel)
    }
}
