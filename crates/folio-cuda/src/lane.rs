//! A lane: a stream.

use crate::copy;
use crate::device::Core;
use crate::driver::{Context, Relaxed, call};
use crate::fill;
use crate::graph::CudaGraph;
use crate::memory::{NON_BLOCKING, location};
use crate::module::Destination;
use crate::native::Native;
use crate::pageable::Staging;
use crate::progress::Progress;
use crate::timing::Times;
use crate::verdict::Replay;
use crate::way::Way;
use cudarc::driver::sys;
use folio_core::hal::{
    Advice, AllocKind, Args, Calls, Geometry, Graph, HalError, Head, Hint, KernelRef, Lane, Lost,
    MemBase, MemRef, Op, Tick, Timing, UsmAllocator,
};
use std::ptr::null_mut;
use std::sync::Arc;
use std::time::Instant;

pub(crate) struct CudaLane {
    stream: sys::CUstream,
    progress: Progress,
    staging: Staging,
    times: Times,
    device: Arc<Core>,
}

// SAFETY: streams may be used by any thread.
unsafe impl Send for CudaLane {}
// SAFETY: as above.
unsafe impl Sync for CudaLane {}

impl CudaLane {
    pub(crate) fn new(device: Arc<Core>, priority: i8) -> Result<CudaLane, HalError> {
        let context = device.context.clone();
        let _calls = context.enter()?;
        let (mut least, mut greatest, mut stream) = (0, 0, null_mut());
        // SAFETY: places for the answers.
        unsafe {
            let asked = sys::cuCtxGetStreamPriorityRange(&raw mut least, &raw mut greatest);
            context.check("cuCtxGetStreamPriorityRange", asked)?;
            // The smaller the number, the more urgent.
            let priority = (-i32::from(priority)).clamp(greatest, least);
            let made = sys::cuStreamCreateWithPriority(&raw mut stream, NON_BLOCKING, priority);
            context.check("cuStreamCreateWithPriority", made)?;
        }
        let (progress, staging) = (Progress::new(context.clone(), stream), Staging::new(context));
        Ok(CudaLane { stream, progress, staging, times: Times::default(), device })
    }

    fn context(&self) -> &Context {
        &self.device.context
    }

    fn way(&self) -> Way<'static> {
        Way::Stream(self.stream)
    }

    /// Puts an operation behind what it waits for. Whether that goes well or not, its tick is over
    /// when what comes before has ended.
    #[inline]
    fn issue(
        &self,
        head: &Head<'_>,
        work: impl FnOnce() -> Result<(), HalError>,
    ) -> Result<(), HalError> {
        let _calls = Calls::begin();
        let _range = self.device.ranges.and_then(|ranges| ranges.begin(head.label));
        let entered = self.context().enter();
        let done = entered.and_then(|_| {
            self.wait_for(head)?;
            match (&self.device.clock, head.timed) {
                (Some(clock), true) => self.times.around(clock, (head.tick, self.stream), work),
                _ => work(),
            }
        });
        self.progress.issue(head.tick);
        done
    }

    /// Whoever waits for the operation relies on what it waits for, whether it goes well or not: so
    /// that is waited for here where the driver refuses to have the stream wait.
    fn wait_for(&self, head: &Head<'_>) -> Result<(), HalError> {
        for wait in head.waits {
            let Some(other) = wait.lane.downcast_ref::<CudaLane>() else {
                return Err(HalError::unsupported("waiting for another backend's lane"));
            };
            if std::ptr::eq(other, self) {
                continue;
            }
            let waited = self.wait_in_stream(other, wait.tick);
            let _calls = self.context().enter()?;
            if waited.is_err() {
                // The work of a lost device is over.
                let _ = other.progress.wait(wait.tick, None);
                let _calls = self.context().enter()?;
            }
        }
        Ok(())
    }

    /// Has the stream wait for a tick of another lane. Afterwards the other one's context may be
    /// current.
    fn wait_in_stream(&self, other: &CudaLane, tick: Tick) -> Result<(), HalError> {
        let wait = |event| {
            // SAFETY: the event is live while the other lane is, which the caller holds.
            call("cuStreamWaitEvent", || unsafe { sys::cuStreamWaitEvent(self.stream, event, 0) })
        };
        let waited = if std::ptr::eq(self.context(), other.context()) {
            other.progress.at(tick, false, wait)?
        } else {
            // A mark may have to be made, in the other's context.
            let _calls = other.context().enter()?;
            let waited = other
                .progress
                .at(tick, true, |event| self.context().enter().map(|_calls| wait(event)))?;
            waited.transpose()?
        };
        waited.map_or(Ok(()), |result| self.context().check("cuStreamWaitEvent", result))
    }
}

impl CudaLane {
    fn launch(
        &self,
        head: &Head<'_>,
        kernel: KernelRef<'_>,
        geometry: &Geometry,
        args: &Args<'_>,
    ) -> Result<(), HalError> {
        self.issue(head, || {
            let handle = match kernel {
                KernelRef::Loaded(handle) => handle,
                KernelRef::Foreign(task) => {
                    let called = task.call(&Native::new(self.context(), self.stream, args.params));
                    // The task may have entered another context.
                    let entered = self.context().enter();
                    return called.and(entered.map(drop));
                }
                KernelRef::Native(_) => {
                    return Err(HalError::unsupported("running the host's closures"));
                }
            };
            let to = Destination {
                context: self.context(),
                memory: &self.device.memory,
                way: self.way(),
            };
            let record = |points: &_| self.progress.verdicts.record(head.tick, points);
            self.device.kernels.get(handle)?.launch(to, geometry, args, record)
        })
    }

    fn replay(&self, head: &Head<'_>, graph: &Arc<dyn Graph>) -> Result<(), HalError> {
        self.issue(head, || {
            let Some(ours) = graph.downcast_ref::<CudaGraph>() else {
                return Err(HalError::unsupported("replaying another backend's graph"));
            };
            let said = ours.launch(self.stream)?;
            // SAFETY: what is kept below is dropped when this tick has ended, or with the lane,
            // whose stream has then ended.
            let taken = said.as_ref().map_or(Ok(()), |said| unsafe { said.take_down(self.stream) });
            let (tick, graph) = (head.tick, graph.clone());
            self.progress.verdicts.replays(Replay { tick, graph, said });
            taken
        })
    }

    fn hint(&self, head: &Head<'_>, mem: MemRef, bytes: u64, hint: Hint) -> Result<(), HalError> {
        self.issue(head, || {
            let MemBase::Device { handle, .. } = mem.base else { return Ok(()) };
            let (at, bytes) = (handle + mem.offset, bytes as usize);
            let managed = |info: folio_core::hal::PointerInfo| info.kind == AllocKind::Shared;
            if !self.device.memory.query(at).is_some_and(managed) {
                // Only managed memory is ever elsewhere.
                return Ok(());
            }
            let on_device = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
            let here = location(on_device, self.context().device);
            let host = location(sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_HOST, 0);
            use sys::CUmem_advise as Say;
            let advise = |what, place| {
                // SAFETY: managed memory of ours, live for the length of the operation.
                let result = unsafe { sys::cuMemAdvise_v2(at, bytes, what, place) };
                self.context().check("cuMemAdvise", result)
            };
            match hint {
                Hint::Prefetch => {
                    // SAFETY: as above.
                    let result =
                        unsafe { sys::cuMemPrefetchAsync_v2(at, bytes, here, 0, self.stream) };
                    self.context().check("cuMemPrefetchAsync", result)
                }
                Hint::Advise(Advice::ReadMostly) => {
                    advise(Say::CU_MEM_ADVISE_SET_READ_MOSTLY, here)
                }
                Hint::Advise(Advice::PreferDevice) => {
                    advise(Say::CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here)
                }
                Hint::Advise(Advice::PreferHost) => {
                    advise(Say::CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host)
                }
                Hint::Advise(Advice::UsedByDevice) => {
                    advise(Say::CU_MEM_ADVISE_SET_ACCESSED_BY, here)
                }
                Hint::Advise(Advice::Nothing) => {
                    advise(Say::CU_MEM_ADVISE_UNSET_READ_MOSTLY, here)?;
                    advise(Say::CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, here)?;
                    advise(Say::CU_MEM_ADVISE_UNSET_ACCESSED_BY, here)
                }
                // Hints of later versions have no effect here.
                _ => Ok(()),
            }
        })
    }
}

// SAFETY: a stream runs its operations in order, after the events that it was told to wait for;
// an event tells that all before it have ended, and is seen by the host when they are visible.
unsafe impl Lane for CudaLane {
    fn enqueue(&self, head: &Head<'_>, op: Op<'_>) -> Result<(), HalError> {
        match op {
            Op::Copy(rects) => self.issue(head, || {
                // SAFETY: the engine's part of the contract: live memory, ordered by this lane.
                unsafe { copy::enqueue_all(self.context(), self.stream, &self.staging, rects) }
            }),
            Op::Fill(rects, pattern) => self.issue(head, || {
                rects.iter().try_for_each(|rect| {
                    // SAFETY: as in `copy`.
                    unsafe { fill::enqueue(self.context(), self.way(), rect, pattern) }
                })
            }),
            Op::Launch(kernel, geometry, args) => self.launch(head, kernel, geometry, &args),
            Op::Hint(mem, bytes, hint) => self.hint(head, mem, bytes, hint),
            Op::Replay(graph) => self.replay(head, graph),
            Op::Join => self.issue(head, || Ok(())),
            _ => self.refuse(head, HalError::unsupported(op.name())),
        }
    }

    fn awaited(&self, _: Tick) {
        if let Ok(_calls) = self.context().enter() {
            // Whoever waits makes the mark otherwise.
            let _ = self.progress.mark_last();
        }
    }

    fn flush(&self) {
        if let Ok(_calls) = self.context().enter() {
            // A loss is told by `completed`; any other trouble comes again in `wait`.
            let _ = self.progress.look();
        }
    }

    fn drive(&self) {
        if self.progress.is_wanted()
            && let Ok(_calls) = self.context().enter()
        {
            // As in `flush`.
            let _ = self.progress.look_again();
        }
    }

    fn completed(&self) -> Result<Tick, Lost> {
        self.context().over()?;
        Ok(self.progress.done())
    }

    fn wait(&self, tick: Tick, until: Option<Instant>) -> Result<bool, Lost> {
        self.progress.wait(tick, until)
    }

    fn failures(&self, sink: &mut dyn FnMut(Tick, HalError)) {
        // Whatever else fails after its call has lost the device.
        self.progress.retired.failures(sink);
    }

    fn timing(&self, tick: Tick) -> Option<Timing> {
        let clock = self.device.clock.as_ref()?;
        let _calls = self.context().enter().ok()?;
        (self.progress.done() >= tick).then(|| self.times.of(clock, tick)).flatten()
    }
}

impl Drop for CudaLane {
    fn drop(&mut self) {
        let Ok(_calls) = self.context().enter() else { return };
        let _relaxed = Relaxed::begin();
        // SAFETY: ours. What was handed over ends first: pieces of the staging may be in use.
        let _ = unsafe { sys::cuStreamSynchronize(self.stream) };
        self.times.forget();
        // SAFETY: ours, and nobody uses it any more.
        let _ = unsafe { sys::cuStreamDestroy_v2(self.stream) };
    }
}
