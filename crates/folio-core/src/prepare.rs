//! Kernels that are made ready before they are launched.

use crate::call::code_of;
use crate::error::{Error, Result};
use crate::hal::compiled_here;
use crate::runtime::DeviceRef;
use folio_device::{Built, Kernel};
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// A kernel by its type, which has the name of the function: see [`DeviceRef::prepare`].
#[derive(Clone, Copy)]
pub struct KernelType {
    name: &'static str,
    code: fn() -> &'static Built,
}

impl KernelType {
    /// That of a `#[kernel]` function: `KernelType::of::<saxpy>()`, and of a generic one
    /// `KernelType::of::<dot<f32>>()`.
    pub const fn of<K: Kernel>() -> KernelType {
        KernelType { name: K::FUNCTION.name, code: K::code }
    }
}

impl fmt::Debug for KernelType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`", self.name)
    }
}

/// What [`DeviceRef::prepare`] has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preparation {
    /// Kernels that are ready now.
    pub kernels: usize,
    /// Programs that the device's compiler has made for that: none for kernels that were ready, or
    /// in the cache of compiled programs. A kernel may have several, for different launches.
    pub compiled: u64,
}

impl DeviceRef {
    /// Makes kernels ready on the device, without running them: several at once, on as many threads
    /// as there are processors, as far as the driver's compiler lets them. A first launch compiles
    /// its kernel otherwise, and the next one waits for it.
    ///
    /// A kernel that the device refuses is the error; the others are ready all the same. A device
    /// that runs the host's code compiles nothing.
    ///
    /// ```
    /// # mod folio { pub use folio_core::*; }
    /// # use folio_core::{KernelType, Runtime};
    /// # fn ready(rt: &Runtime) -> folio_core::Result<()> {
    /// let device = rt.device("gpu")?;
    /// let kernels: Vec<KernelType> = vec![ /* KernelType::of::<saxpy>() */ ];
    /// let prepared = device.prepare(&kernels)?;
    /// println!("{} programs compiled", prepared.compiled);
    /// assert_eq!(device.prepare(&kernels)?.compiled, 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn prepare(&self, kernels: &[KernelType]) -> Result<Preparation> {
        self.core.engine.open(self.at)?;
        let work = Work::new(self, kernels);
        let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        std::thread::scope(|scope| {
            for _ in 1..threads.min(kernels.len()) {
                // This thread does what no other one does.
                let name = "folio prepare".to_owned();
                let _ = std::thread::Builder::new().name(name).spawn_scoped(scope, || work.run());
            }
            work.run();
        });
        work.done()
    }
}

/// Kernels that threads take one by one.
struct Work<'w> {
    device: &'w DeviceRef,
    kernels: &'w [KernelType],
    next: AtomicUsize,
    done: Mutex<(Preparation, Option<(usize, Error)>)>,
}

impl<'w> Work<'w> {
    fn new(device: &'w DeviceRef, kernels: &'w [KernelType]) -> Work<'w> {
        Work { device, kernels, next: AtomicUsize::new(0), done: Mutex::default() }
    }

    fn run(&self) {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(kernel) = self.kernels.get(number) else { return };
            let before = compiled_here();
            let ready = self.ready(kernel);
            let compiled = compiled_here() - before;
            crate::hal::tell_compiled();
            let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
            let (prepared, wrong) = &mut *done;
            prepared.compiled += compiled;
            match ready {
                Ok(()) => prepared.kernels += 1,
                // The first of the list is told, whichever was found first.
                Err(error) if wrong.as_ref().is_none_or(|(at, _)| number < *at) => {
                    *wrong = Some((number, error));
                }
                Err(_) => {}
            }
        }
    }

    fn ready(&self, kernel: &KernelType) -> Result<()> {
        let code = code_of(kernel.name, (kernel.code)())?;
        self.device.core.engine.prepare(self.device.at, code)
    }

    fn done(self) -> Result<Preparation> {
        let (prepared, wrong) = self.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        wrong.map_or(Ok(prepared), |(_, error)| Err(error))
    }
}
