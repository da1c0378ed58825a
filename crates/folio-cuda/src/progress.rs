//! How far a stream is. An event for each operation would cost more than the operation, so few
//! ticks are *marked*, by an event behind them: each [`EVERY`] operations, and whenever somebody
//! is interested in what is not marked yet.

use crate::driver::{Context, Relaxed, call};
use crate::verdict::Verdicts;
use cudarc::driver::sys::{self, CUresult};
use folio_core::hal::{Calls, HalError, Lost, Tick};
use folio_driver::lock;
use folio_driver::retire::Retired;
use std::collections::VecDeque;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A mark for so many operations.
pub(crate) const EVERY: u64 = 64;
/// For so many operations each gets a mark after another device had to wait for more than it had
/// asked for: one that gets a row of another's would otherwise wait for all that the other has been
/// given meanwhile.
const EACH: u64 = 256;
/// How long a wait looks again and again before it sleeps in between: for a part of the time that
/// it has waited, so that it is late by no more than that, and for no longer than so. (To be woken
/// by the driver takes up to half a millisecond.)
const SPIN: Duration = Duration::from_micros(500);
const PART: u32 = 64;
const NAP: Duration = Duration::from_millis(2);
/// So long the driver may refuse to say how far a stream is, before it is waited for in the driver.
const REFUSED: Duration = Duration::from_secs(1);

/// Of one stream.
pub(crate) struct Progress {
    context: Arc<Context>,
    stream: sys::CUstream,
    /// The last tick whose operation the stream has.
    issued: AtomicU64,
    /// What has ended, as far as known.
    pub(crate) retired: Retired,
    /// The last tick with a mark.
    marked: AtomicU64,
    /// The last tick at which somebody looked how far the stream is, because it was given so many.
    looked: AtomicU64,
    /// Somebody was interested in what was issued up to here.
    wanted: AtomicU64,
    /// Up to here each operation gets a mark.
    each: AtomicU64,
    /// What launches say, which is read before they count as ended.
    pub(crate) verdicts: Verdicts,
    state: Mutex<ProgressState>,
    /// Held by the thread that asks how far the stream is. `retired` changes under it.
    asking: Mutex<()>,
}

// SAFETY: streams and events may be used by any thread.
unsafe impl Send for Progress {}
// SAFETY: as above.
unsafe impl Sync for Progress {}

#[derive(Default)]
struct ProgressState {
    /// Oldest first.
    marks: VecDeque<(Tick, sys::CUevent)>,
    spare: Vec<sys::CUevent>,
    /// The last mark that the stream has passed.
    passed: Tick,
}

/// A new event without a time.
pub(crate) fn new_event(context: &Context) -> Result<sys::CUevent, HalError> {
    let mut event = null_mut();
    // `CU_EVENT_DISABLE_TIMING`.
    // SAFETY: a place for the answer; the context is current.
    let made = call("cuEventCreate", || unsafe { sys::cuEventCreate(&raw mut event, 2) });
    context.check("cuEventCreate", made)?;
    Ok(event)
}

impl Progress {
    pub(crate) fn new(context: Arc<Context>, stream: sys::CUstream) -> Progress {
        let [issued, marked, looked, wanted, each] = std::array::from_fn(|_| AtomicU64::new(0));
        let verdicts = Verdicts::new(context.clone());
        let (state, asking) = (Mutex::default(), Mutex::default());
        Progress {
            context,
            stream,
            issued,
            retired: Retired::default(),
            marked,
            looked,
            wanted,
            each,
            verdicts,
            state,
            asking,
        }
    }

    /// The stream has got the operation of this tick. The context is current.
    #[inline]
    pub(crate) fn issue(&self, tick: Tick) {
        self.issued.store(tick, Ordering::Release);
        let due = tick - self.looked.load(Ordering::Relaxed) >= EVERY;
        if due || tick < self.each.load(Ordering::Relaxed) {
            let marked = self.mark_last();
            if due {
                self.looked.store(tick, Ordering::Relaxed);
                // Whatever fails here fails again where a caller asks.
                let _ = marked.and_then(|()| self.look_again());
            }
        }
    }

    /// Marks what is issued. The context is current.
    pub(crate) fn mark_last(&self) -> Result<(), HalError> {
        self.mark(&mut lock(&self.state))
    }

    /// Up to here all has ended, as far as known.
    pub(crate) fn done(&self) -> Tick {
        self.retired.done()
    }

    /// Whether somebody is interested in what has not ended, as far as known.
    #[inline]
    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed) > self.done()
    }

    /// Looks again, for who was interested before.
    pub(crate) fn look_again(&self) -> Result<(), HalError> {
        // Whoever else is at it does this, too, or soon comes back.
        match self.asking.try_lock() {
            Ok(_asking) => self.ask(),
            Err(_) => Ok(()),
        }
    }

    /// Marks what is issued, and looks how far the stream is. The context is current.
    pub(crate) fn look(&self) -> Result<(), HalError> {
        self.wanted.store(self.issued.load(Ordering::Acquire), Ordering::Relaxed);
        self.mark_last()?;
        let _asking = lock(&self.asking);
        self.ask()
    }

    /// The same for a tick, which may have a mark.
    fn look_for(&self, tick: Tick) -> Result<(), HalError> {
        if self.marked.load(Ordering::Relaxed) < tick {
            return self.look();
        }
        self.wanted.fetch_max(tick, Ordering::Relaxed);
        let _asking = lock(&self.asking);
        self.ask()
    }

    fn ask(&self) -> Result<(), HalError> {
        let passed = self.sweep()?;
        self.ended(passed);
        Ok(())
    }

    fn mark(&self, state: &mut ProgressState) -> Result<(), HalError> {
        // An operation that is being issued may be counted by the next mark only.
        let tick = self.issued.load(Ordering::Acquire);
        if tick <= self.marked.load(Ordering::Relaxed) {
            return Ok(());
        }
        let event = match state.spare.pop() {
            Some(event) => event,
            None => new_event(&self.context)?,
        };
        // SAFETY: both are live.
        let result = call("cuEventRecord", || unsafe { sys::cuEventRecord(event, self.stream) });
        if let Err(error) = self.context.check("cuEventRecord", result) {
            state.spare.push(event);
            return Err(error);
        }
        state.marks.push_back((tick, event));
        self.marked.store(tick, Ordering::Relaxed);
        Ok(())
    }

    /// How far the stream is.
    fn sweep(&self) -> Result<Tick, HalError> {
        let _calls = self.context.enter()?;
        let _relaxed = Relaxed::begin();
        let mut state = lock(&self.state);
        let ProgressState { marks, spare, passed, .. } = &mut *state;
        // The first has been passed or not; which is the last that has, few questions tell.
        let (mut least, mut asked) = (0, 0);
        let mut most = marks.len();
        while least < most {
            // SAFETY: live until the lane's end.
            match call("cuEventQuery", || unsafe { sys::cuEventQuery(marks[asked].1) }) {
                CUresult::CUDA_ERROR_NOT_READY => most = asked,
                result => {
                    self.context.check("cuEventQuery", result)?;
                    least = asked + 1;
                }
            }
            asked = least.midpoint(most);
        }
        for (tick, event) in marks.drain(..least) {
            *passed = tick;
            spare.push(event);
        }
        Ok(*passed)
    }

    /// Waits in the driver for what the stream has.
    #[cold]
    fn insist(&self) {
        let _calls = Calls::begin();
        let issued = self.issued.load(Ordering::Acquire);
        if self.context.insist(self.stream) {
            let _asking = lock(&self.asking);
            self.ended(issued);
        }
    }

    /// Failures first, then the tick.
    fn ended(&self, tick: Tick) {
        let before = self.done();
        if before < tick {
            self.verdicts.read(before, tick, &self.retired);
            self.retired.ended(tick);
        }
    }

    /// An event at or soon behind `tick`; none if that has ended. The context is current. It is
    /// good for a call that the caller makes under `with`; later it may mark something else.
    pub(crate) fn at<R>(
        &self,
        tick: Tick,
        by_another_device: bool,
        with: impl FnOnce(sys::CUevent) -> R,
    ) -> Result<Option<R>, HalError> {
        if self.done() >= tick {
            return Ok(None);
        }
        let mut state = lock(&self.state);
        if self.marked.load(Ordering::Relaxed) < tick {
            self.mark(&mut state)?;
        }
        let at = state.marks.partition_point(|(marked, _)| *marked < tick);
        let Some((marked, event)) = state.marks.get(at) else { return Ok(None) };
        if by_another_device && *marked > tick {
            self.each.store(*marked + EACH, Ordering::Relaxed);
        }
        Ok(Some(with(*event)))
    }

    /// Waits until `tick` has ended (`true`) or `until` has passed (`false`).
    pub(crate) fn wait(&self, tick: Tick, until: Option<Instant>) -> Result<bool, Lost> {
        let begun = Instant::now();
        let mut refused = None;
        loop {
            let looked = self.context.enter().and_then(|_calls| self.look_for(tick));
            // That the driver says nothing does not mean that the stream has ended: only a device
            // that is lost has.
            if looked.is_err() {
                self.context.over()?;
            }
            let since = looked.is_err().then(|| refused.unwrap_or_else(Instant::now));
            refused = since.filter(|since| {
                let enough = self.context.alive().is_ok() && since.elapsed() >= REFUSED;
                if enough {
                    self.insist();
                }
                !enough
            });
            if self.done() >= tick {
                return Ok(true);
            }
            let now = Instant::now();
            if until.is_some_and(|until| now >= until) {
                return Ok(false);
            }
            let waited = now - begun;
            if waited < SPIN {
                std::hint::spin_loop();
            } else {
                let nap = (waited / PART).min(NAP);
                std::thread::sleep(until.map_or(nap, |until| nap.min(until - now)));
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let Ok(_calls) = self.context.enter() else { return };
        let state = std::mem::take(&mut *lock(&self.state));
        for event in state.spare.into_iter().chain(state.marks.into_iter().map(|(_, e)| e)) {
            // SAFETY: ours; the driver keeps what a stream still needs of it.
            let _ = unsafe { sys::cuEventDestroy_v2(event) };
        }
    }
}
