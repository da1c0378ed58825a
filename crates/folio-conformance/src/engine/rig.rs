//! Helpers of tests: a runtime over the backend, its devices by kind, small commands.

use super::Factory;
pub(super) use super::kernels::copies;
pub(super) use super::steps::*;
pub(super) use crate::suite::{Outcome, Stop, ensure, ensure_eq, unsupported};
use folio_core::canary::Canary;
use folio_core::hal::MemoryHome;
use folio_core::{
    Buffer, BufferOptions, Cause, DeviceRef, DeviceType, Error, Event, Failure, Queue, Runtime,
    RuntimeBuilder, Status, buffer::ReclaimError, memory::Links,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a test may take before it counts as hanging. Some have drivers compile dozens of
/// kernels.
pub(super) const PATIENCE: Duration = Duration::from_secs(50);

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Failed(error.to_string())
    }
}

impl<O> From<ReclaimError<O>> for Stop {
    fn from(error: ReclaimError<O>) -> Stop {
        Stop::Failed(error.to_string())
    }
}

/// A runtime over a fresh backend.
pub(super) struct Rig {
    pub(super) rt: Runtime,
    factory: Factory,
}

impl Rig {
    pub(super) fn open(factory: Factory) -> Result<Rig, Stop> {
        let builder = Runtime::builder().shared_backend(Arc::from(factory()));
        let rt = builder.links(Links::Off).build()?;
        let able = |d: &DeviceRef| d.info().caps.closures || d.info().caps.ir;
        if rt.devices().is_empty() || !rt.devices().iter().all(able) {
            return unsupported("devices that run kernels");
        }
        Ok(Rig { rt, factory })
    }

    /// For tests of what only closures can do.
    pub(super) fn closures(&self) -> Outcome {
        if self.rt.devices().iter().all(|d| d.info().caps.closures) {
            Ok(())
        } else {
            unsupported("devices that run closures")
        }
    }

    /// For another runtime, over a backend of its own. Without links, as this one, so that what is
    /// moved is known.
    pub(super) fn builder(&self) -> RuntimeBuilder {
        Runtime::builder().shared_backend(self.backend()).links(Links::Off)
    }

    /// A fresh backend.
    pub(super) fn backend(&self) -> Arc<dyn folio_core::hal::Backend> {
        Arc::from((self.factory)())
    }

    /// A queue of the first device.
    pub(super) fn queue(&self) -> Result<Queue, Stop> {
        self.on(0)
    }

    /// A queue of device `at`.
    pub(super) fn on(&self, at: usize) -> Result<Queue, Stop> {
        on(&self.rt, at)
    }

    /// Queues on `n` devices, each with memory of its own.
    pub(super) fn separate(&self, n: usize) -> Result<Vec<Queue>, Stop> {
        separate(&self.rt, n)
    }
}

/// A queue of device `at` of a runtime.
pub(super) fn on(rt: &Runtime, at: usize) -> Result<Queue, Stop> {
    match rt.devices().get(at) {
        Some(device) => Ok(rt.queue_on(device)?),
        None => unsupported(&format!("{} devices", at + 1)),
    }
}

/// Queues on `n` devices of a runtime, each with memory of its own.
pub(super) fn separate(rt: &Runtime, n: usize) -> Result<Vec<Queue>, Stop> {
    let mut homes = Vec::new();
    let mut queues = Vec::new();
    for device in rt.devices() {
        let home = device.info().home;
        if home != MemoryHome::Host && !homes.contains(&home) && queues.len() < n {
            homes.push(home);
            queues.push(rt.queue_on(&device)?);
        }
    }
    if queues.len() < n {
        return unsupported(&format!("{n} devices with memory of their own"));
    }
    Ok(queues)
}

/// A buffer of `n` pages of one element.
pub(super) fn paged<T: DeviceType>(rt: &Runtime, data: &[T]) -> Result<Buffer<T>, Stop> {
    Ok(rt.buffer_with((data, [data.len()]), BufferOptions::new().page([1]))?)
}

/// Writes `value` to `n` elements from `at` on, discarding.
pub(super) fn set(
    q: &Queue,
    x: &mut Buffer<i32>,
    at: usize,
    n: usize,
    value: i32,
) -> Result<Event, Error> {
    q.run(n, puts(value, x.slice_mut([at], [n])?))
}

/// Adds `value` to all elements.
pub(super) fn add(q: &Queue, x: &mut Buffer<i32>, value: i32) -> Result<Event, Error> {
    q.run(x.len(), adds(value, x))
}

/// Copies `x` to `y` in a kernel.
pub(super) fn read_into(q: &Queue, x: &Buffer<i32>, y: &mut Buffer<i32>) -> Result<Event, Error> {
    q.run(x.len(), copies(x, y))
}

/// Something that a host task can wait for without the runtime. Opens when dropped, so that a
/// failing test ends.
#[derive(Default)]
pub(super) struct Gate(Arc<AtomicBool>);

/// The other end of a [`Gate`]. Its canary stands for what a task captures.
pub(super) struct Door(Arc<AtomicBool>, Canary);

impl Gate {
    pub(super) fn new() -> Gate {
        Gate::default()
    }

    pub(super) fn door(&self) -> Door {
        Door(self.0.clone(), Canary::new("a task"))
    }

    pub(super) fn open(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
    }
}

impl Door {
    pub(super) fn pass(&self) {
        self.1.runs();
        let start = Instant::now();
        while !self.0.load(Ordering::Acquire) && start.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_micros(50));
        }
    }
}

/// A command that ends when the gate opens.
pub(super) fn gated(q: &Queue, gate: &Gate) -> Result<Event, Stop> {
    let door = gate.door();
    Ok(q.submit(|cg| {
        cg.host_task((), move |()| door.pass());
        Ok(())
    })?)
}

/// Waits, without telling the runtime, until `done`.
pub(super) fn eventually(what: &str, mut done: impl FnMut() -> bool) -> Outcome {
    let start = Instant::now();
    while !done() {
        ensure!(start.elapsed() < PATIENCE / 4, "never: {what}");
        std::thread::sleep(Duration::from_micros(100));
    }
    Ok(())
}

/// The storage that came back with a failure, and the failure.
pub(super) fn failed_storage<O>(
    result: Result<O, ReclaimError<O>>,
) -> Result<(O, Arc<Failure>), Stop> {
    match result {
        Err(ReclaimError { error, storage: Some(storage) }) => {
            Ok((storage, failure(Err::<(), _>(error))?))
        }
        Err(refused) => Err(refused.into()),
        Ok(_) => Err(Stop::Failed("it should have failed".into())),
    }
}

/// The failure in a result.
pub(super) fn failure<T>(result: Result<T, Error>) -> Result<Arc<Failure>, Stop> {
    match result {
        Err(Error::Failed(failure)) => Ok(failure),
        Err(other) => Err(Stop::Failed(format!("not a failure of work: {other}"))),
        Ok(_) => Err(Stop::Failed("no failure".into())),
    }
}

/// The message of a panic of a closure or a kernel, if that is what a failure is.
pub(super) fn panic_message(failure: &Failure) -> Option<String> {
    match failure.cause() {
        Cause::Panic(payload) => Some(payload.message().to_owned()),
        Cause::Kernel(violation) => violation.site.message.as_deref().map(str::to_owned),
        _ => None,
    }
}

pub(super) fn is_pending(event: &Event) -> bool {
    matches!(event.status(), Status::Pending)
}

/// Fails unless `$result` is an error of this kind.
macro_rules! refused {
    ($result:expr, $($pattern:tt)+) => {
        match $result {
            Err($($pattern)+) => {}
            Err(other) => return Err($crate::suite::Stop::Failed(format!(
                "{}:{}: expected {}, got {other:?}", file!(), line!(), stringify!($($pattern)+)
            ))),
            Ok(_) => return Err($crate::suite::Stop::Failed(format!(
                "{}:{}: expected {}, but it was accepted",
                file!(), line!(), stringify!($($pattern)+)
            ))),
        }
    };
}
pub(super) use refused;
