//! Lanes of devices, here and elsewhere.

use super::commands::{Commands, described};
use super::device::{Own, Place, place_of};
use super::job::{Copies, Job, OwnedKernel, OwnedLaunch, OwnedOp, Work, copies_of};
use super::note::LaneName;
use folio_core::hal::*;
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Who waits looks again after this at the latest.
const MOMENT: Duration = Duration::from_millis(100);

/// A device's loaded kernels.
#[derive(Default)]
pub(crate) struct Kernels {
    loaded: Mutex<HashMap<u64, Known>>,
    /// Native ones, by the address of their description, which this keeps.
    native: Mutex<HashMap<usize, (Arc<folio_core::ir::Kernel>, bool)>>,
}

/// A kernel's name, and the scalars of its launch.
type Named = (Arc<str>, Vec<u64>);

struct Known {
    name: Arc<str>,
    /// A launch in which all indices are proved cannot fail.
    is_safe: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn is_safe(kernel: &folio_core::ir::Kernel) -> bool {
    folio_core::ir::checks::of_kernel(kernel).is_empty()
}

impl Kernels {
    pub(crate) fn loaded(&self, handle: KernelHandle, source: &KernelSource<'_>) {
        let known = match source {
            KernelSource::Ir(kernel) => {
                Known { name: (*kernel.name).into(), is_safe: is_safe(kernel) }
            }
            KernelSource::Opaque { name, .. } => Known { name: (*name).into(), is_safe: false },
            _ => return,
        };
        lock(&self.loaded).insert(handle.0, known);
    }

    pub(crate) fn unloaded(&self, handle: KernelHandle) {
        lock(&self.loaded).remove(&handle.0);
    }

    fn is_native_safe(&self, kernel: &Arc<folio_core::ir::Kernel>) -> bool {
        let mut native = lock(&self.native);
        let key = Arc::as_ptr(kernel) as usize;
        native.entry(key).or_insert_with(|| (kernel.clone(), is_safe(kernel))).1
    }

    /// The name and the scalars of a launch's kernel, and whether it can fail.
    fn of(&self, kernel: &KernelRef<'_>, args: &Args<'_>) -> (Option<Named>, bool) {
        match kernel {
            KernelRef::Loaded(handle) => match lock(&self.loaded).get(&handle.0) {
                Some(known) => {
                    (Some((known.name.clone(), Vec::new())), !(args.proved && known.is_safe))
                }
                None => (None, true),
            },
            KernelRef::Native(cell) => {
                let Some(native) = cell.take() else { return (None, true) };
                let described = native.described().map(|of| {
                    let can_fail = !(args.proved && self.is_native_safe(of.ir));
                    (Some(((*of.ir.name).into(), of.scalars.to_vec())), can_fail)
                });
                cell.set(Some(native));
                described.unwrap_or((None, true))
            }
            KernelRef::Foreign(_) => (None, true),
        }
    }
}

pub(crate) struct WorldLane {
    pub(crate) name: LaneName,
    pub(crate) rank: Rank,
    /// The device's own lane, where operations go on to it; those of other lanes are the
    /// conductor's.
    pub(crate) own: Option<Arc<dyn Lane>>,
    pub(crate) world: Arc<Own>,
    pub(crate) kernels: Arc<Kernels>,
}

impl Drop for WorldLane {
    fn drop(&mut self) {
        let removed = self.world.shared.lock().lanes.remove(&self.name);
        // Kernels in it are the program's, and are dropped without the lock.
        drop(removed);
    }
}

impl WorldLane {
    fn is_here(&self) -> bool {
        self.rank == self.world.shared.me
    }

    /// A memory reference as the device's own backend has it.
    fn here(&self, memory: MemRef) -> Result<MemRef, HalError> {
        match (memory.base, place_of(&memory, self.world.shared.me, self.world.each())) {
            (_, Place::Host) => Ok(memory),
            (MemBase::Device { handle, .. }, Place::Here(device)) => {
                Ok(MemRef { base: MemBase::Device { device, handle }, ..memory })
            }
            _ => Err(HalError::unsupported("memory of another rank in this operation")),
        }
    }

    /// An operation of the device's own lane, with all that it names.
    fn owned(&self, op: &Op<'_>) -> Result<OwnedOp, HalError> {
        let owned = match op {
            Op::Copy(rects) => {
                let here = |rect: &CopyRect| {
                    Ok(CopyRect { src: self.here(rect.src)?, dst: self.here(rect.dst)?, ..*rect })
                };
                OwnedOp::Copy(rects.iter().map(here).collect::<Result<_, HalError>>()?)
            }
            Op::Fill(rects, pattern) => {
                let here = |rect: &FillRect| Ok(FillRect { dst: self.here(rect.dst)?, ..*rect });
                let rects = rects.iter().map(here).collect::<Result<_, HalError>>()?;
                OwnedOp::Fill(rects, (*pattern).into())
            }
            Op::Launch(kernel, geometry, args) if args.arguments.is_empty() => {
                let here = |param: &Param| Ok(Param { mem: self.here(param.mem)?, ..*param });
                let params = args.params.iter().map(here).collect::<Result<_, HalError>>()?;
                let kernel = match kernel {
                    KernelRef::Loaded(handle) => OwnedKernel::Loaded(*handle),
                    KernelRef::Native(cell) => OwnedKernel::Native(Cell::new(cell.take())),
                    KernelRef::Foreign(_) => return Err(HalError::unsupported("interop tasks")),
                };
                let (geometry, blob, proved) = (**geometry, args.blob.to_vec(), args.proved);
                OwnedOp::Launch(Box::new(OwnedLaunch { kernel, geometry, params, blob, proved }))
            }
            Op::Join => OwnedOp::Join,
            _ => return Err(HalError::unsupported(op.name())),
        };
        Ok(owned)
    }

    /// An operation's work for the conductor, and the kernel that is not needed.
    fn work(
        &self,
        op: &Op<'_>,
        has_verdict: bool,
    ) -> Result<(Work, Option<NativeKernel>), HalError> {
        if self.own.is_some() {
            return Ok((Work::Own(self.owned(op)?), None));
        }
        let (me, each, is_here) = (self.world.shared.me, self.world.each(), self.is_here());
        let launched = |unused| match has_verdict {
            true => (Work::Verdict, unused),
            false => (Work::Copies(Copies::default()), unused),
        };
        match op {
            Op::Copy(rects) => Ok((Work::Copies(copies_of(rects, me, each)), None)),
            Op::Launch(KernelRef::Native(cell), ..) if !is_here => Ok(launched(cell.take())),
            Op::Launch(KernelRef::Loaded(_), ..) if !is_here => Ok(launched(None)),
            Op::Fill(..) if !is_here => Ok((Work::Copies(Copies::default()), None)),
            Op::Join => Ok((Work::Copies(Copies::default()), None)),
            _ => Err(HalError::unsupported(op.name())),
        }
    }
}

// SAFETY: operations go on to the device's own lane in their order, once all has ended for which
// they wait, and name no memory of other ranks: that lane keeps the contract for them. Of all
// other lanes the conductor does one operation after the other, tells ends in their order, and
// touches memory only before an operation's end.
unsafe impl Lane for WorldLane {
    fn enqueue(&self, head: &Head<'_>, op: Op<'_>) -> Result<(), HalError> {
        let (kernel, can_fail) = match &op {
            Op::Launch(kernel, _, args) => self.kernels.of(kernel, args),
            _ => (None, false),
        };
        let named = kernel.as_ref().map(|(name, scalars)| (&**name, &scalars[..]));
        let shared = &self.world.shared;
        let (backend, device) = (self.name.backend(), self.name.device());
        let mut state = shared.lock();
        let number = |device, handle| {
            state.commands.get(&(backend, device)).map_or(0, |of| of.number(handle))
        };
        let command = described(device, &op, named, head.label, &number);
        let (rank, me) = (self.rank, shared.me);
        let new = || Commands::new(rank, me);
        let commands = state.commands.entry((backend, device)).or_insert_with(new);
        let key = commands.add(&command);
        if let Some(lost) = state.lost().filter(|_| !self.is_here()) {
            return Err(lost.into());
        }
        drop(state);
        let is_awaited = can_fail && shared.ranks > 1;
        let (work, unused, refused) = match self.work(&op, is_awaited) {
            Ok((work, unused)) => (work, unused, None),
            // In its place, nothing.
            Err(error) if self.own.is_some() => (Work::Own(OwnedOp::Join), None, Some(error)),
            Err(error) => (Work::Copies(Copies::default()), None, Some(error)),
        };
        let name_of = |wait: &Wait<'_>| {
            let lane = wait.lane.downcast_ref::<WorldLane>()?;
            Some((lane.name, wait.tick))
        };
        let waits = head.waits.iter().filter_map(name_of).collect();
        let mut state = shared.lock();
        let Some(lane) = state.lanes.get_mut(&self.name) else { return Ok(()) };
        let has_unused = unused.is_some();
        lane.unused.extend(unused.map(|kernel| (head.tick, Some(kernel))));
        if is_awaited && self.own.is_some() {
            let words = refused.as_ref().map(HalError::to_string);
            lane.awaited.insert(head.tick, (key, words));
        }
        let (tick, order, label) = (head.tick, head.order, head.label.into());
        lane.waiting.push_back(Job { tick, key, order, waits, label, work });
        drop(state);
        shared.wake.notify_all();
        if has_unused {
            shared.driven().unused.push(self.name);
            shared.drive.notify_all();
        }
        refused.map_or(Ok(()), Err)
    }

    fn flush(&self) {
        self.world.shared.drop_unused(self.name);
        if let Some(own) = &self.own {
            own.flush();
        }
    }

    fn drive(&self) {
        self.world.shared.drop_unused(self.name);
        if let Some(own) = &self.own {
            own.drive();
        }
    }

    fn completed(&self) -> Result<Tick, Lost> {
        if let Some(own) = &self.own {
            return own.completed();
        }
        let state = self.world.shared.lock();
        let lost = state.lost().filter(|_| !self.is_here());
        lost.map_or_else(|| Ok(state.lanes.get(&self.name).map_or(0, |lane| lane.ended)), Err)
    }

    fn wait(&self, tick: Tick, until: Option<Instant>) -> Result<bool, Lost> {
        loop {
            self.world.shared.drop_unused(self.name);
            let state = self.world.shared.lock();
            if let Some(lost) = state.lost().filter(|_| !self.is_here()) {
                return Err(lost);
            }
            let lane = state.lanes.get(&self.name);
            let (given, ended) = lane.map_or((0, 0), |lane| (lane.given, lane.ended));
            if let Some(own) = self.own.as_ref().filter(|_| given >= tick) {
                drop(state);
                return own.wait(tick, until);
            }
            let left =
                until.map_or(MOMENT, |until| until.saturating_duration_since(Instant::now()));
            if ended >= tick || left.is_zero() {
                return Ok(ended >= tick);
            }
            drop(self.world.shared.wait_for(state, left.min(MOMENT)));
            if let Some(own) = &self.own {
                own.drive();
            }
        }
    }

    fn failures(&self, sink: &mut dyn FnMut(Tick, HalError)) {
        let mut state = self.world.shared.lock();
        let Some(lane) = state.lanes.get_mut(&self.name) else { return };
        lane.take_failures();
        let mut failures = std::mem::take(&mut lane.failures);
        drop(state);
        failures.sort_by_key(|(tick, _)| *tick);
        failures.into_iter().for_each(|(tick, error)| sink(tick, error));
    }
}
