//! A backend whose device is another process: kernels and memory are there, and a Unix socket is
//! between. It is asynchronous: a thread, the courier, hands operations over in the order in which
//! they came, and tells the engine when they have ended. If the process dies, the device is lost.
//!
//! Operations of all lanes go through one socket in the order in which they were enqueued. The
//! engine names a tick in a wait only when its call has returned, so each wait is kept by that.

mod courier;
mod lane;
pub mod server;
mod wire;

use courier::{Courier, Task};
use folio_core::hal::*;
use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const MEMORY: u64 = 1 << 30;

/// The interpreter computes all items of a group at once, and has so many.
const MOST_ITEMS: usize = 1 << 20;

/// The backend: each device that is opened is a new process.
pub struct RemoteBackend {
    program: PathBuf,
    processes: Arc<Mutex<Vec<u32>>>,
}

impl RemoteBackend {
    /// With the program `remote-device` of this package.
    pub fn new(program: impl Into<PathBuf>) -> RemoteBackend {
        RemoteBackend { program: program.into(), processes: Arc::default() }
    }

    /// The ids of the processes that it has started and will start.
    pub fn processes(&self) -> Arc<Mutex<Vec<u32>>> {
        self.processes.clone()
    }
}

fn info() -> DeviceInfo {
    let mut caps = Caps::default();
    (caps.ir, caps.denormals, caps.exact_div_sqrt, caps.notifies) = (true, true, true, true);
    (caps.f64, caps.atomics64) = (true, true);
    caps.wait_group = Some(WaitGroup(0));
    DeviceInfo {
        name: "another process".into(),
        vendor: "an example".into(),
        driver: env!("CARGO_PKG_VERSION").into(),
        kind: DeviceKind::Accelerator,
        uuid: None,
        home: MemoryHome::Own(0),
        memory: MEMORY,
        compute_units: 1,
        caps,
    }
}

// SAFETY: what it opens keeps the contract of `folio_core::hal`, as said there.
unsafe impl Backend for RemoteBackend {
    fn name(&self) -> &str {
        "remote"
    }
    fn devices(&self) -> Result<Vec<DeviceInfo>, Unavailable> {
        if self.program.is_file() {
            return Ok(vec![info()]);
        }
        Err(Unavailable::new(format!("there is no program {}", self.program.display())))
    }
    unsafe fn open(&self, _: usize, notify: Notify) -> Result<Arc<dyn Device>, HalError> {
        let failed = |error: std::io::Error| {
            let what = format!("{}: {error}", self.program.display());
            HalError::new(HalErrorKind::Driver, what)
        };
        let (ours, theirs) = UnixStream::pair().map_err(failed)?;
        let theirs = Stdio::from(OwnedFd::from(theirs));
        let process = Command::new(&self.program).stdin(theirs).spawn().map_err(failed)?;
        lock(&self.processes).push(process.id());
        let courier = Courier::start(ours, process, notify).map_err(failed)?;
        let (info, live) = (info(), Mutex::default());
        Ok(Arc::new(RemoteDevice { info, live, courier, next: AtomicU64::new(1) }))
    }
}

struct RemoteDevice {
    info: DeviceInfo,
    /// Sizes of what is allocated, by handle.
    live: Mutex<HashMap<u64, u64>>,
    courier: Courier,
    /// For handles and lanes.
    next: AtomicU64,
}

impl RemoteDevice {
    fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

// SAFETY: see its memory and its lanes.
unsafe impl Device for RemoteDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }
    fn usm(&self) -> &dyn UsmAllocator {
        self
    }
    fn lane(&self, _: LaneKind, _: i8) -> Result<Arc<dyn Lane>, HalError> {
        Ok(Arc::new(lane::RemoteLane::new(self.courier.clone(), self.number())))
    }
    fn load(&self, source: &KernelSource<'_>) -> Result<KernelHandle, HalError> {
        let KernelSource::Ir(kernel) = source else {
            return Err(HalError::unsupported("a kernel that is not in IR"));
        };
        let handle = self.number();
        let request = vec![b"load".to_vec(), wire::words([handle]), kernel.to_string().into()];
        self.courier.give(Task::Request(request))?;
        Ok(KernelHandle(handle))
    }
    fn unload(&self, KernelHandle(handle): KernelHandle) {
        // A lost device has no kernels.
        let request = vec![b"unload".to_vec(), wire::words([handle])];
        let _ = self.courier.give(Task::Request(request));
    }
    fn check(&self, _: KernelHandle, launch: &Geometry, _: &[Argument]) -> Result<(), HalError> {
        let group = launch.group.unwrap_or([1; 3]);
        let items = group.iter().try_fold(1, |items: usize, n| items.checked_mul(*n));
        if items.is_some_and(|items| items <= MOST_ITEMS) {
            return Ok(());
        }
        let what = format!("a group of {group:?} (there are {MOST_ITEMS} items at most)");
        Err(HalError::unsupported(&what))
    }
}

// SAFETY: each handle names memory of its own in the other process, until `free`.
unsafe impl UsmAllocator for RemoteDevice {
    fn alloc(&self, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        if req.import.is_some() || req.linked || req.kind != AllocKind::Device {
            return Err(HalError::unsupported("memory that is not in the other process"));
        }
        let mut live = lock(&self.live);
        let in_use: u64 = live.values().sum();
        if req.size > MEMORY - in_use || req.align > MEMORY {
            return Err(HalError::out_of_memory(req.size, in_use, MEMORY));
        }
        let handle = self.number();
        let request = vec![b"allocate".to_vec(), wire::words([handle, req.size])];
        self.courier.give(Task::Request(request))?;
        live.insert(handle, req.size);
        Ok(Allocation { handle, address: None, host: None, zeroed: true })
    }
    fn free(&self, handle: u64) {
        lock(&self.live).remove(&handle);
        // A lost device has no memory.
        let request = vec![b"free".to_vec(), wire::words([handle])];
        let _ = self.courier.give(Task::Request(request));
    }
    fn memory(&self) -> MemoryInfo {
        MemoryInfo { total: MEMORY, in_use: lock(&self.live).values().sum() }
    }
}

/// No code panics under a lock of this crate, so none is left half-way.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
