//! A lane: an in-order queue, and what is known of how far it is.
//!
//! *Marks* are ticks with an event: those of copies and fills, those for which others are about to
//! wait, and the tail when a caller asks for it, or has not asked for long. Memory of the host that
//! commands still use, and objects that nothing else keeps, stay with the mark that comes after
//! them. A lane's state has a lock of its own, so that other lanes can take events from it; nobody
//! holds two of them.
//!
//! How far it is, and when a lost device's are over, is in `progress`.

mod progress;

use crate::cl::{Buffer, Event, Queue};
use crate::copy::{Commands, KeepAlive};
use crate::device::{Core, Loaded};
use crate::graph::OpenClGraph;
use crate::launch_batch::LaunchBatch;
use crate::memory::PointerCache;
use crate::module::{Way, launch};
use crate::native::Native;
use crate::verdict::{Readback, Verdicts};
use crate::words::Words;
use folio_core::hal::{
    Args, Foreign, Geometry, Graph, HalError, HalErrorKind, Head, KernelRef, Lane, Lost, Op, Param,
    Tick, Timing,
};
use folio_driver::lock;
use folio_driver::memory::is_short;
use folio_driver::reduce::Scratch;
use folio_driver::retire::{Retired, Times};
use opencl_sys::cl_command_queue;
use std::collections::VecDeque;
use std::mem::take;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Operations after which the tail is marked, so that what they use is given back. An event takes
/// NVIDIA's driver twice as long as a launch.
pub(crate) const MARK_EVERY: u64 = 256;
/// Operations after which whoever has handed them over looks how far the queue is.
const LOOK_EVERY: u64 = 64;
/// Operations after which the driver is to begin with those that are not held, on a lane on which
/// some always are: nobody else says so while it is given one operation after the other.
pub(crate) const FLUSH_EVERY: u64 = 256;
/// Between two looks of a wait with a deadline, which OpenCL has no call for.
const PAUSE: Duration = Duration::from_micros(50);
/// How long whoever drops a lane waits for what is left of its commands.
const LEAVING: Duration = Duration::from_secs(1);

/// A tick with an event.
struct Mark {
    tick: Tick,
    event: Arc<Event>,
    /// Only its drop counts.
    _kept: KeepAlive,
    /// Records that its event brings.
    told: Vec<Readback>,
}

struct LaneState {
    queue: Queue,
    /// The queue has timestamps.
    is_timed: bool,
    issued: Tick,
    /// Rising.
    marks: VecDeque<Mark>,
    /// The last mark.
    marked: Tick,
    /// The operations after the last mark count as so many more than they are.
    weight: u64,
    /// The last operation when the lane last looked for marks that it has passed.
    looked: Tick,
    /// An interop task may be enqueuing commands, without the lock.
    foreign: bool,
    /// Launches that are still to be enqueued.
    batch: LaunchBatch,
    /// Of commands after the last mark.
    kept: KeepAlive,
    words: Words,
    known: PointerCache,
    verdicts: Verdicts,
    scratch: Scratch<Buffer>,
    /// Something may have been enqueued, or is held, since the last flush.
    unflushed: bool,
    /// The last operation when the queue was last flushed.
    flushed: Tick,
    /// The first and the last command of an operation.
    times: Times<[Arc<Event>; 2]>,
}

/// A lane of an OpenCL device.
pub(crate) struct OpenClLane {
    core: Arc<Core>,
    state: Mutex<LaneState>,
    /// Apart from the state, which whoever enqueues holds during the driver's calls, while failures
    /// are asked for under the engine's lock. Taken within the state, and nothing within it.
    retired: Retired,
    /// Somebody is interested in what was issued up to here.
    wanted: AtomicU64,
}

impl OpenClLane {
    pub(crate) fn new(core: Arc<Core>) -> Result<OpenClLane, HalError> {
        let queue = Queue::new(&core.shared.context, core.id.0, false)?;
        let state = LaneState {
            queue,
            is_timed: false,
            issued: 0,
            marks: VecDeque::new(),
            marked: 0,
            weight: 0,
            looked: 0,
            foreign: false,
            batch: LaunchBatch::new(core.info.kind),
            kept: KeepAlive::default(),
            words: Words::default(),
            known: PointerCache::default(),
            verdicts: Verdicts::new(core.target.part_align),
            scratch: Scratch::default(),
            unflushed: false,
            flushed: 0,
            times: Times::default(),
        };
        let (state, wanted) = (Mutex::new(state), AtomicU64::new(0));
        Ok(OpenClLane { core, state, retired: Retired::default(), wanted })
    }

    fn lock(&self) -> MutexGuard<'_, LaneState> {
        lock(&self.state)
    }

    /// Enqueues what is held.
    #[cfg(test)]
    pub(crate) fn enqueue(&self) {
        self.lock().enqueue();
    }

    /// Keeps a failure until its tick has ended. A failure that is the device's loss is told as
    /// such when that is over.
    fn fail(&self, (tick, mut error): (Tick, HalError)) {
        if matches!(error.kind, HalErrorKind::Lost) {
            self.core.lose(&error);
            error.kind = HalErrorKind::Driver;
        }
        self.retired.fail(tick, error);
    }

    /// The driver refuses what makes the lane go on: later, where it is short of memory, or for
    /// ever.
    fn refused(&self, error: &HalError) {
        if is_short(error) {
            std::thread::sleep(PAUSE);
        } else {
            self.core.lose(error);
        }
    }

    /// An event for a tick, or for one after it; none if the queue has been seen to have passed it.
    fn event(&self, state: &mut LaneState, tick: Tick) -> Result<Option<Arc<Event>>, HalError> {
        if self.done() >= tick {
            return Ok(None);
        }
        if let Some(mark) = state.marks.iter().find(|mark| mark.tick >= tick) {
            return Ok(Some(mark.event.clone()));
        }
        self.mark(state)?;
        Ok(state.marks.back().map(|mark| mark.event.clone()))
    }

    /// Marks what is issued, unless the device is lost: a lane that counts as over is given no more
    /// reads of what its launches say.
    fn mark(&self, state: &mut LaneState) -> Result<(), HalError> {
        self.core.lost()?;
        state.mark(None)
    }

    /// The events that an operation waits for, with what they wait for on its way.
    fn waits(&self, head: &Head<'_>) -> Result<Vec<Arc<Event>>, HalError> {
        let mut events = Vec::new();
        for wait in head.waits {
            let other = wait.lane.downcast_ref::<OpenClLane>();
            let ours = |other: &&OpenClLane| Arc::ptr_eq(&other.core.shared, &self.core.shared);
            let Some(other) = other.filter(ours) else {
                let what = "a wait for a lane of another context";
                return Err(HalError::new(HalErrorKind::Driver, what));
            };
            // A lane is in order.
            if !std::ptr::eq(other, self) {
                events.extend(self.event_of(other, wait.tick));
            }
        }
        Ok(events)
    }

    /// An event for a tick of another lane, which is on its way; none if that is over, or this lane
    /// does nothing more.
    fn event_of(&self, other: &OpenClLane, tick: Tick) -> Option<Arc<Event>> {
        while self.core.lost().is_ok() {
            // Whoever waits for a command that fails fails, too: the host waits for the rest of a
            // lost device's.
            if !other.core.is_told() {
                std::thread::sleep(PAUSE);
                continue;
            }
            if other.core.lost().is_err() {
                break;
            }
            let mut state = other.lock();
            let event = other.event(&mut state, tick);
            match event.and_then(|event| state.flush().map(|()| event)) {
                Ok(event) => return event,
                Err(error) => {
                    drop(state);
                    other.refused(&error);
                }
            }
        }
        None
    }

    /// Enqueues an operation. The operation fails in the call only where that enqueues nothing, and
    /// otherwise later: whatever has been enqueued runs, and its tick is reached after that.
    fn issue(
        &self,
        head: &Head<'_>,
        work: impl FnOnce(&mut Commands<'_>) -> Result<(), HalError>,
    ) -> Result<(), HalError> {
        let waits = self.waits(head);
        let mut state = self.lock();
        // A mark takes what was told before; it stands for what came before.
        let room = if state.verdicts.is_full() { self.mark(&mut state) } else { Ok(()) };
        let times = if head.timed { self.with_times(&mut state) } else { Ok(()) };
        state.issued = head.tick;
        state.unflushed = true;
        self.core.lost()?;
        let is_due = head.tick - state.marked + state.weight >= MARK_EVERY;
        let LaneState { queue, batch, kept, words, known, verdicts, scratch, .. } = &mut *state;
        verdicts.begin(head.tick);
        let uses = (kept, words, known, verdicts, scratch, batch);
        // A launch that is to be marked has an event, and no marker after it.
        let told = head.timed || is_due;
        let mut commands = Commands::new(&self.core, queue, uses, (head.tick, told, head.timed));
        // Whatever becomes of it, what comes later relies on what it waits for.
        let result = waits.and_then(|waits| {
            commands.wait_for(&waits);
            room.and(times)?;
            work(&mut commands)
        });
        let Commands { first, last, weight, .. } = commands;
        state.weight += weight;
        if let Err(error) = result {
            self.fail((head.tick, error));
        }
        if let Err(error) = state.note(head, first, last) {
            self.fail((head.tick, error));
        }
        let due = state.issued - state.looked >= LOOK_EVERY && !state.marks.is_empty();
        drop(state);
        if due {
            self.try_look();
        }
        Ok(())
    }
}

impl OpenClLane {
    /// Calls a closure that enqueues commands, without the lane's lock. Their tick is issued after
    /// them.
    fn foreign(
        &self,
        head: &Head<'_>,
        params: &[Param],
        task: &dyn Foreign,
    ) -> Result<(), HalError> {
        let native = self
            .behind_waits(head)
            .and_then(|(queue, first)| Ok((Native::new(&self.core, queue, params)?, first)));
        let called = native.and_then(|(native, first)| task.call(&native).map(|()| first));
        let mut state = self.lock();
        state.foreign = false;
        state.issued = head.tick;
        state.unflushed = true;
        // The error of a task is told before anything else, and dropped by whoever is told.
        let first = called.unwrap_or_else(|error| {
            self.fail((head.tick, error));
            None
        });
        self.core.lost()?;
        let last = first.as_ref().map(|_| state.queue.marker().map(Arc::new)).transpose();
        if let Err(error) = last.and_then(|last| state.note(head, first, last)) {
            self.fail((head.tick, error));
        }
        Ok(())
    }

    /// From here on commands have timestamps, with which all take longer (a twentieth of small
    /// ones, PoCL 3.1): on another queue, which goes on where this one ends. If the driver refuses
    /// any of that, this one stays.
    fn with_times(&self, state: &mut LaneState) -> Result<(), HalError> {
        if state.is_timed {
            return Ok(());
        }
        let queue = Queue::new(&self.core.shared.context, self.core.id.0, true)?;
        // All that this queue has been given has a mark, since the next queue is the one that is
        // asked how far it is.
        if state.issued > state.marked {
            self.mark(state)?;
        }
        // Behind what clears records after the mark.
        let end = Arc::new(state.queue.marker()?);
        state.queue.flush()?;
        queue.try_waits_for(&[end])?;
        (state.queue, state.is_timed) = (queue, true);
        Ok(())
    }

    /// Enqueues what an operation waits for; the queue, and an event before what comes next if that
    /// is timed.
    fn behind_waits(
        &self,
        head: &Head<'_>,
    ) -> Result<(cl_command_queue, Option<Arc<Event>>), HalError> {
        let waits = self.waits(head)?;
        let mut state = self.lock();
        self.core.lost()?;
        state.enqueue();
        if head.timed {
            self.with_times(&mut state)?;
        }
        state.queue.waits_for(&waits);
        let first = if head.timed { Some(Arc::new(state.queue.marker()?)) } else { None };
        state.foreign = true;
        Ok((state.queue.0, first))
    }
}

impl LaneState {
    /// Enqueues what is held.
    fn enqueue(&mut self) {
        self.batch.enqueue(&self.queue, false);
    }

    fn flush(&mut self) -> Result<(), HalError> {
        self.enqueue();
        if self.unflushed {
            self.queue.flush()?;
            (self.unflushed, self.flushed) = (false, self.issued);
        }
        Ok(())
    }

    /// Marks the last tick, with an event of its own and nothing else: on a device that is lost
    /// nobody hears what launches have said.
    fn mark_end(&mut self) -> Result<(), HalError> {
        self.enqueue();
        let event = Arc::new(self.queue.marker()?);
        self.marked_by(event, None);
        Ok(())
    }

    /// Waits for so long at most until all that was enqueued is over.
    fn ends_within(&mut self, most: Duration) -> bool {
        let begun = Instant::now();
        let mut marked = self.issued == self.marked || self.mark_end().is_ok();
        marked &= self.flush().is_ok();
        while marked && !self.marks.iter().all(|mark| mark.event.is_over()) {
            if begun.elapsed() >= most {
                return false;
            }
            std::thread::sleep(PAUSE);
        }
        marked
    }

    fn marked_by(&mut self, event: Arc<Event>, last: Option<Readback>) {
        self.unflushed = true;
        let (_kept, mut told) = (take(&mut self.kept), take(&mut self.verdicts.early));
        told.extend(last);
        (self.marked, self.weight) = (self.issued, 0);
        self.marks.push_back(Mark { tick: self.issued, event, _kept, told });
    }

    /// Marks the last tick, with its own event if it has one, or can have one.
    fn mark(&mut self, event: Option<Arc<Event>>) -> Result<(), HalError> {
        // Where records are to be read, the event is that of the read, which comes after the
        // launches.
        let told = event.is_none() && !self.verdicts.are_used();
        let last = self.batch.enqueue(&self.queue, told).map(Arc::new);
        let event = event.or(last);
        let (event, told) = match (self.verdicts.tell(&self.queue)?, event) {
            (Some((event, told)), _) => (Arc::new(event), Some(told)),
            (None, Some(event)) => (event, None),
            (None, None) => (Arc::new(self.queue.marker()?), None),
        };
        self.marked_by(event, told);
        Ok(())
    }

    /// After an operation: its mark and its timestamps.
    fn note(
        &mut self,
        head: &Head<'_>,
        first: Option<Arc<Event>>,
        last: Option<Arc<Event>>,
    ) -> Result<(), HalError> {
        if last.is_some() || self.issued - self.marked + self.weight >= MARK_EVERY {
            self.mark(last.clone())?;
        }
        if let (true, Some(first), Some(last)) = (head.timed, first, last) {
            self.times.note(head.tick, [first, last]);
        }
        Ok(())
    }
}

impl OpenClLane {
    fn replay(&self, head: &Head<'_>, graph: &Arc<dyn Graph>) -> Result<(), HalError> {
        match graph.downcast_ref::<OpenClGraph>() {
            Some(graph) if graph.is_of(&self.core) => {
                self.issue(head, |commands| graph.replay(commands))
            }
            _ => self.refuse(head, HalError::unsupported("a graph of another device")),
        }
    }

    fn launch(
        &self,
        head: &Head<'_>,
        kernel: KernelRef<'_>,
        geometry: &Geometry,
        args: &Args<'_>,
    ) -> Result<(), HalError> {
        let handle = match kernel {
            KernelRef::Loaded(handle) => handle,
            KernelRef::Foreign(task) => return self.foreign(head, args.params, task),
            KernelRef::Native(_) => {
                return self.refuse(head, HalError::unsupported("a kernel of the host"));
            }
        };
        match self.core.loaded(handle) {
            Ok(Loaded::Kernel(function)) => {
                // The texts are compiled while nothing is locked.
                let texts = function.texts(&self.core, geometry, args);
                self.issue(head, |commands| launch(texts?, Way::Lane(commands), geometry, args))
            }
            Ok(Loaded::Opaque(kernel)) => {
                self.issue(head, |commands| kernel.launch(commands, geometry, args))
            }
            Err(error) => self.issue(head, |_| Err(error.clone())),
        }
    }
}

// SAFETY: the queue runs what it is given in order, after barriers for what each operation waits
// for; a tick shows when its commands, and all before, have ended.
unsafe impl Lane for OpenClLane {
    fn enqueue(&self, head: &Head<'_>, op: Op<'_>) -> Result<(), HalError> {
        match op {
            Op::Copy(rects) => {
                // The wait may take long, so nothing is locked.
                rects.iter().for_each(|rect| self.core.shared.downloads.wait_before(rect));
                self.issue(head, |commands| rects.iter().try_for_each(|rect| commands.copy(rect)))
            }
            Op::Fill(rects, pattern) => self.issue(head, |commands| {
                rects.iter().try_for_each(|rect| commands.fill(rect, pattern))
            }),
            Op::Launch(kernel, geometry, args) => self.launch(head, kernel, geometry, &args),
            Op::Switch(mem, _, to) => self.issue(head, |commands| commands.switch(&mem, to)),
            Op::Join => self.issue(head, |_| Ok(())),
            Op::Replay(graph) => self.replay(head, graph),
            _ => self.refuse(head, HalError::unsupported(op.name())),
        }
    }

    fn awaited(&self, tick: Tick) {
        let mut state = self.lock();
        if state.issued == tick && state.marked < tick {
            // Whoever waits makes the mark otherwise.
            let _ = self.mark(&mut state);
        }
    }

    fn flush(&self) {
        let mut state = self.lock();
        if self.done() >= state.issued || self.core.gone().is_err() {
            return;
        }
        // Once nothing new comes, one look is to show that all has ended.
        let rests = self.wanted.swap(state.issued, Ordering::Relaxed) == state.issued;
        let is_due = state.marks.is_empty() || rests && state.marked < state.issued;
        let marked = if is_due { self.mark(&mut state) } else { Ok(()) };
        let flushed = marked.and_then(|()| state.flush());
        drop(state);
        // A loss is told by `completed`.
        flushed.unwrap_or_else(|error| self.refused(&error));
        self.look();
    }

    fn drive(&self) {
        // A flush that fails is tried again at the next drive.
        let mut state = self.lock();
        // A device that has nothing to do, as far as known, is given what there is.
        let held = state.batch.len() as u64;
        if held > 0 && self.done() + held < state.issued && self.core.info.caps.batches {
            // The first of them were not held.
            let begun = state.flushed > self.done();
            if !begun || state.issued - state.flushed >= FLUSH_EVERY {
                state.flushed = state.issued;
                let _ = state.queue.flush();
            }
            return;
        }
        let _ = state.flush();
        drop(state);
        if self.wanted.load(Ordering::Relaxed) > self.done() {
            self.try_look();
        }
    }

    fn completed(&self) -> Result<Tick, Lost> {
        self.core.gone()?;
        Ok(self.done())
    }

    fn wait(&self, tick: Tick, until: Option<Instant>) -> Result<bool, Lost> {
        loop {
            self.look();
            self.core.gone()?;
            if self.done() >= tick {
                return Ok(true);
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(false);
            }
            let event = match self.core.lost() {
                Ok(()) => {
                    let mut state = self.lock();
                    let event = self.event(&mut state, tick);
                    event.and_then(|event| state.flush().map(|()| event))
                }
                Err(_) => Ok(None),
            };
            match event {
                // The look tells the failure of an event.
                Ok(Some(event)) if left.is_none() => drop(event.wait()),
                // Somebody else has seen it pass.
                Ok(None) if self.core.lost().is_ok() => std::thread::yield_now(),
                Ok(_) => std::thread::sleep(left.map_or(PAUSE, |left| left.min(PAUSE))),
                Err(error) => self.refused(&error),
            }
        }
    }

    fn failures(&self, sink: &mut dyn FnMut(Tick, HalError)) {
        self.retired.failures(sink);
    }

    fn timing(&self, tick: Tick) -> Option<Timing> {
        let state = self.lock();
        let [first, last] = state.times.of(tick)?;
        if !last.ended().ok()? {
            return None;
        }
        let [queued, started, _] = first.times().ok()?;
        let [_, _, ended] = last.times().ok()?;
        Some(Timing { queued, started, ended })
    }
}

impl Drop for OpenClLane {
    fn drop(&mut self) {
        let gone = self.core.gone().is_err();
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Commands that are under way write to what they were given, and to the devices' memory.
        // Most end soon; what does not keeps all that for as long as the process. None is of a
        // device that is gone.
        let over = gone || state.ends_within(LEAVING);
        if !over {
            self.core.shared.memory.stays();
        }
        // Before the context, which may go with the device.
        let left = (take(&mut state.marks), take(&mut state.kept), take(&mut state.words));
        let early = take(&mut state.verdicts.early);
        if !over || !left.1.is_empty() {
            std::mem::forget((left, early));
        }
    }
}
