//! A simulated lane: checks what it is given, queues it, and looks at the timeline.

use crate::graph::SimGraph;
use crate::shared::Core;
use crate::timeline::{World, gone};
use crate::work::{Code, Launch, Op, Phase, Work};
use folio_core::hal::{
    self, Args, Geometry, HalError, Head, KernelRef, Lane, Lost, MemBase, MemRef, OpKind, Tick,
    Timing, WaitGroup,
};
use std::sync::Arc;
use std::time::Instant;

pub(crate) struct SimLane {
    pub(crate) core: Arc<Core>,
    pub(crate) device: u32,
    pub(crate) id: usize,
    pub(crate) group: Option<WaitGroup>,
    pub(crate) closures: bool,
}

impl SimLane {
    /// Queues an operation, whose work it takes. A refused one takes its place and its tick, and
    /// does nothing; its work stays.
    fn issue(&self, head: &Head<'_>, kind: OpKind, work: &mut Work) -> Result<(), HalError> {
        self.core.shared.change(|world| {
            let lost = world.lost(self.id).map(gone);
            let (waits, checked) = match self.check_ticks(world, head) {
                Ok(waits) => (waits, lost.map_or_else(|| self.check_work(world, work), Err)),
                Err(error) => (Vec::new(), Err(lost.unwrap_or(error))),
            };
            for &(lane, tick) in &waits {
                // A foreign wait flushes what it waits for.
                let other = &mut world.lanes[lane];
                other.given = other.given.max(tick);
            }
            let batch = world.devices[self.device as usize].spec.batch;
            let queued = world.now;
            let lane = &mut world.lanes[self.id];
            lane.issued += 1;
            lane.pending.push_back(Op {
                tick: lane.issued,
                kind,
                order: head.order,
                waits,
                work: match checked {
                    Ok(()) => std::mem::replace(work, Work::Nothing),
                    Err(_) => Work::Nothing,
                },
                label: head.label.into(),
                timed: head.timed,
                phase: Phase::Waiting,
                queued,
                started: queued,
            });
            if lane.issued - lane.given.min(lane.issued) >= batch || checked.is_err() {
                lane.given = lane.issued;
            }
            checked
        })
    }

    fn check_ticks(
        &self,
        world: &mut World,
        head: &Head<'_>,
    ) -> Result<Vec<(usize, Tick)>, HalError> {
        let next = world.lanes[self.id].issued + 1;
        if head.tick != next {
            let what = format!("lane {} expects tick {next}, not {}", self.id, head.tick);
            return Err(world.violate("ticks are consecutive", what));
        }
        let mut waits = Vec::with_capacity(head.waits.len());
        for wait in head.waits {
            let other = wait.lane.downcast_ref::<SimLane>();
            let Some(other) = other.filter(|l| Arc::ptr_eq(&l.core, &self.core)) else {
                let what = format!("lane {} waits for a lane of another backend", self.id);
                return Err(world.violate("waits stay in a wait group", what));
            };
            if other.id != self.id && (self.group.is_none() || self.group != other.group) {
                let what = format!("lane {} cannot wait for lane {}", self.id, other.id);
                return Err(world.violate("waits stay in a wait group", what));
            }
            if wait.tick > world.lanes[other.id].issued {
                let what = format!("tick {} of lane {} is not issued", wait.tick, other.id);
                return Err(world.violate("waits name issued ticks", what));
            }
            waits.push((other.id, wait.tick));
        }
        Ok(waits)
    }

    fn check_work(&self, world: &mut World, work: &Work) -> Result<(), HalError> {
        if work.any(&|work| matches!(work, Work::Fill(_, pattern) if pattern.is_empty())) {
            return Err(world.violate("patterns are not empty", "a fill without one".to_owned()));
        }
        let memory = work.memory();
        memory.iter().try_for_each(|(mem, span)| self.check_memory(world, mem, *span))?;
        let mut unbacked = None;
        work.each_row(&mut |mem, bytes| {
            if let MemBase::Device { handle, .. } = mem.base
                && !world.memory.is_backed(handle, &bytes)
            {
                unbacked = unbacked.take().or(Some((handle, bytes)));
            }
        });
        match unbacked {
            None => Ok(()),
            Some((handle, bytes)) => {
                let what = format!("bytes {bytes:?} of allocation {handle}");
                Err(world.violate("frames that are used have memory", what))
            }
        }
    }

    fn check_memory(
        &self,
        world: &mut World,
        mem: &MemRef,
        span: Option<u64>,
    ) -> Result<(), HalError> {
        let Some(span) = span else {
            return Err(world.violate("shapes do not overflow", format!("{mem:?}")));
        };
        let MemBase::Device { device, handle } = mem.base else { return Ok(()) };
        if let Err(what) = world.memory.find(device, handle, mem.offset, span) {
            return Err(world.violate("memory is live and in bounds", what));
        }
        if !world.reaches(self.device, device) {
            let what = format!("device {} does not reach device {device}", self.device);
            return Err(world.violate("memory is reachable", what));
        }
        Ok(())
    }

    fn give_all(&self) {
        self.core.shared.change(|world| {
            let lane = &mut world.lanes[self.id];
            lane.given = lane.issued;
        });
    }

    fn launch(
        &self,
        head: &Head<'_>,
        kernel: KernelRef<'_>,
        geometry: &Geometry,
        args: &Args<'_>,
    ) -> Result<(), HalError> {
        let work = |code| {
            let params = args.params.to_vec();
            Work::Launch(Arc::new(Launch { code, geometry: *geometry, params }))
        };
        let given = match kernel {
            KernelRef::Native(given) if self.closures => given,
            KernelRef::Native(_) | KernelRef::Foreign(_) => {
                return self.refuse(head, HalError::unsupported("a native kernel"));
            }
            KernelRef::Loaded(handle) => {
                let found = self.core.shared.change(|world| world.loaded(self.device, handle));
                return match found {
                    Ok(kernel) => {
                        let code = Code::Ir(kernel, args.blob.into(), args.proved);
                        self.issue(head, OpKind::Launch, &mut work(code))
                    }
                    Err(error) => self.refuse(head, error),
                };
            }
        };
        let Some(kernel) = given.take() else {
            return self.refuse(head, HalError::unsupported("a launch of nothing"));
        };
        let mut work = work(Code::Native(kernel));
        let result = self.issue(head, OpKind::Launch, &mut work);
        if let Work::Launch(launch) = work
            && let Some(Launch { code: Code::Native(kernel), .. }) = Arc::into_inner(launch)
        {
            given.set(Some(kernel));
        }
        result
    }
}

// SAFETY: the timeline runs operations one at a time after what they are ordered after, never
// touches memory of a refused one, ends each once, and shows a tick when its failures are there.
unsafe impl Lane for SimLane {
    fn enqueue(&self, head: &Head<'_>, op: hal::Op<'_>) -> Result<(), HalError> {
        let work = match op {
            hal::Op::Launch(kernel, geometry, args) => {
                return self.launch(head, kernel, geometry, &args);
            }
            hal::Op::Hint(mem, bytes, _) => Some(Work::Hint(mem, bytes)),
            hal::Op::Switch(mem, bytes, to) => Some(Work::Switch(mem, bytes, to)),
            hal::Op::Replay(graph) => graph.downcast_ref::<SimGraph>().map(SimGraph::replay),
            _ => Work::plain(op),
        };
        match work {
            Some(mut work) => self.issue(head, op.kind(), &mut work),
            None => self.refuse(head, HalError::unsupported(op.name())),
        }
    }

    fn flush(&self) {
        self.give_all();
        self.core.shared.catch_up();
    }

    fn drive(&self) {
        self.core.shared.catch_up();
    }

    fn completed(&self) -> Result<Tick, Lost> {
        self.core.shared.look();
        let world = self.core.shared.lock();
        world.lost(self.id).cloned().map_or(Ok(world.lanes[self.id].visible), Err)
    }

    fn wait(&self, tick: Tick, until: Option<Instant>) -> Result<bool, Lost> {
        self.give_all();
        self.core.shared.wait(self.id, tick, until)
    }

    fn failures(&self, sink: &mut dyn FnMut(Tick, HalError)) {
        let failures = self.core.shared.lock().lanes[self.id].take_failures();
        failures.into_iter().for_each(|(tick, error)| sink(tick, error));
    }

    fn timing(&self, tick: Tick) -> Option<Timing> {
        let world = self.core.shared.lock();
        let timings = &world.lanes[self.id].timings;
        timings.iter().rev().find(|(t, _)| *t == tick).map(|(_, timing)| *timing)
    }
}
