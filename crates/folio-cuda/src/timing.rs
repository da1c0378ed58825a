//! When timed operations ran: two events each, against one of the device's opening.

use crate::driver::Context;
use crate::memory::NON_BLOCKING;
use cudarc::driver::sys::{self, CUresult};
use folio_core::hal::{HalError, Tick, Timing};
use folio_driver::{lock, retire};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A device's clock: nanoseconds since it was opened. The driver counts in `f32` milliseconds, so
/// after an hour a beginning is known to a quarter of a millisecond; lengths are always exact to
/// half a microsecond.
pub(crate) struct Clock {
    context: Arc<Context>,
    zero: sys::CUevent,
    opened: Instant,
}

// SAFETY: events may be used by any thread.
unsafe impl Send for Clock {}
// SAFETY: as above.
unsafe impl Sync for Clock {}

fn new_event(context: &Context) -> Result<sys::CUevent, HalError> {
    let mut event = null_mut();
    // SAFETY: a place for the answer; the context is current.
    context.check("cuEventCreate", unsafe { sys::cuEventCreate(&raw mut event, 0) })?;
    Ok(event)
}

impl Clock {
    /// Starts; the context is current.
    pub(crate) fn start(context: Arc<Context>) -> Result<Clock, HalError> {
        let mut clock = Clock { zero: new_event(&context)?, context, opened: Instant::now() };
        // On a stream of its own: the default one would wait for what others do.
        let mut stream = null_mut();
        // SAFETY: a place for the answer; event and stream are live, and the stream is destroyed
        // once.
        unsafe {
            let made = sys::cuStreamCreateWithPriority(&raw mut stream, NON_BLOCKING, 0);
            clock.context.check("cuStreamCreateWithPriority", made)?;
            let recorded = sys::cuEventRecord(clock.zero, stream);
            let ended = sys::cuEventSynchronize(clock.zero);
            let _ = sys::cuStreamDestroy_v2(stream);
            clock.context.check("cuEventRecord", recorded)?;
            clock.context.check("cuEventSynchronize", ended)?;
        }
        // The device's zero is just before ours: nothing begins before it was queued.
        clock.opened = Instant::now();
        Ok(clock)
    }

    fn now(&self) -> u64 {
        self.opened.elapsed().as_nanos() as u64
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        if let Ok(_calls) = self.context.enter() {
            // SAFETY: ours.
            let _ = unsafe { sys::cuEventDestroy_v2(self.zero) };
        }
    }
}

/// The timed operations of a lane.
#[derive(Default)]
pub(crate) struct Times(Mutex<retire::Times<Timed>>);

struct Timed {
    queued: u64,
    begin: sys::CUevent,
    end: sys::CUevent,
}

// SAFETY: events may be used by any thread.
unsafe impl Send for Timed {}

impl Times {
    /// Does `work` between two events of the stream. The context is current.
    pub(crate) fn around(
        &self,
        clock: &Clock,
        (tick, stream): (Tick, sys::CUstream),
        work: impl FnOnce() -> Result<(), HalError>,
    ) -> Result<(), HalError> {
        let context = &*clock.context;
        let record = |event| {
            // SAFETY: both are live.
            context.check("cuEventRecord", unsafe { sys::cuEventRecord(event, stream) })
        };
        let (begin, end) = (new_event(context)?, new_event(context)?);
        let queued = clock.now();
        if let Some(old) = lock(&self.0).note(tick, Timed { queued, begin, end }) {
            old.forget();
        }
        record(begin)?;
        work()?;
        record(end)
    }

    /// Of an operation that has ended. The context is current.
    pub(crate) fn of(&self, clock: &Clock, tick: Tick) -> Option<Timing> {
        let all = lock(&self.0);
        let timed = all.of(tick)?;
        let nanoseconds = |from, to| {
            let mut milliseconds = 0f32;
            // SAFETY: events of one context.
            let result = unsafe { sys::cuEventElapsedTime_v2(&raw mut milliseconds, from, to) };
            let known = result == CUresult::CUDA_SUCCESS;
            known.then_some((f64::from(milliseconds) * 1e6).max(0.0) as u64)
        };
        let started = nanoseconds(clock.zero, timed.begin)?.max(timed.queued);
        let ended = started + nanoseconds(timed.begin, timed.end)?;
        Some(Timing { queued: timed.queued, started, ended })
    }

    /// Gives all events back. The context is current.
    pub(crate) fn forget(&self) {
        lock(&self.0).drain().for_each(Timed::forget);
    }
}

impl Timed {
    fn forget(self) {
        // SAFETY: ours; the driver keeps what a stream still needs of them.
        unsafe {
            let _ = sys::cuEventDestroy_v2(self.begin);
            let _ = sys::cuEventDestroy_v2(self.end);
        }
    }
}
