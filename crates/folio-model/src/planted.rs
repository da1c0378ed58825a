//! Bugs on purpose: what a runtime with one of them does must differ from what the oracle says.
//!
//! Most are planted where the engine meets others, in a layer over the backend or in a page tracker
//! that lies, and look there as the same bug in the engine would: an edge that was forgotten is a
//! wait that is not passed on. Bugs that show nowhere else are in the engine itself.

use crate::program::{Action, BufferSpec};
use crate::world::Wrap;
use folio_core::geom::{Box3, Dims};
use folio_core::hal::{
    AllocReq, Allocation, Backend, HalError, Head, Lost, MemBase, Op, Tick, Wait,
};
use folio_core::pages::{BlockTrackers, DomainId, DomainSet, PageTracker, PageTrackerFactory};
use folio_core::planted::Planted as InEngine;
use folio_core::{Event, RuntimeBuilder, buffer::Policy};
use folio_layers::{DeviceRef, HeadRef, Hooks, LaneRef, Layer};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// A bug.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bug {
    /// A writer does not wait for readers of what it writes.
    #[default]
    MissingWarEdge,
    /// A command does not wait for the copy that brings its data.
    CurrentTooEarly,
    /// A transfer makes the page after it current, too.
    NeighbourCurrent,
    /// A transfer does nothing.
    DroppedTransfer,
    /// A page that has arrived is not known to be there.
    NeedlessTransfer,
    /// A discard takes the page after it, too.
    LostBorder,
    /// Fresh memory is said to hold zeros.
    Unzeroed,
    /// Nobody is told that an operation has ended.
    LostWakeUp,
    /// An allocation is given back while operations use it.
    FreedEarly,
    /// An allocation is not given back.
    Leaked,
    /// A failure is not told.
    SwallowedError,
    /// Accesses of one command that overlap are not refused.
    MissingAliasCheck,
    /// A command does not wait for the events that it is to come after.
    DroppedAfter,
    /// A scope ends before what was done in it.
    ScopeThatDoesNotWait,
    /// A view that is to write back does not.
    LostWriteback,
    /// The only copies go for other memory, whatever the program said.
    DirtyEviction,
    /// Copies do not go that may.
    NoEviction,
    /// Linked memory does not change sides.
    DroppedSwitch,
    /// Values of the program's are dropped under a lock.
    DropsUnderLock,
}

/// Plants a bug in every backend and runtime.
pub struct Planted(pub Bug);

impl Wrap for Planted {
    fn wrap(&self, backend: Arc<dyn Backend>) -> Arc<dyn Backend> {
        Arc::new(Layer::new(Hook { bug: self.0, ..Hook::default() }, backend))
    }

    fn build(&self, builder: RuntimeBuilder) -> RuntimeBuilder {
        let builder = builder.page_tracker(Arc::new(Liars(self.0)));
        let bug = match self.0 {
            Bug::MissingAliasCheck => InEngine::AliasCheck,
            Bug::ScopeThatDoesNotWait => InEngine::ScopeWait,
            Bug::DropsUnderLock => InEngine::DropsUnderLock,
            _ => return builder,
        };
        // SAFETY: kernels of the programs make no reference to an element that outlasts an
        // expression, and what scopes have lent stays where it is (`leaves_scopes_early`).
        unsafe { builder.plant(bug) }
    }

    fn spec(&self, spec: BufferSpec) -> BufferSpec {
        match (self.0, spec.policy) {
            (Bug::LostWriteback, Policy::AsyncWritebackView) => {
                BufferSpec { policy: Policy::AsyncView, ..spec }
            }
            (Bug::LostWriteback, Policy::SyncWritebackView) => {
                BufferSpec { policy: Policy::SyncView, ..spec }
            }
            (Bug::DirtyEviction, _) => {
                BufferSpec { evict: spec.evict.map(|(_, priority)| (true, priority)), ..spec }
            }
            (Bug::NoEviction, _) => BufferSpec { evict: None, ..spec },
            _ => spec,
        }
    }

    fn after(&self, action: &Action, events: &mut Vec<Event>) {
        if self.0 == Bug::DroppedAfter && !action.raw().is_empty() {
            events.clear();
        }
    }

    fn leaves_scopes_early(&self) -> bool {
        self.0 == Bug::ScopeThatDoesNotWait
    }

    // The model has to find the bug by itself.
    fn validated(&self) -> bool {
        false
    }
}

/// The allocations that an operation reads, and writes.
type Uses = (Vec<MemBase>, Vec<MemBase>);

#[derive(Default)]
struct Hook {
    bug: Bug,
    uses: Mutex<HashMap<(u32, Tick), Uses>>,
    copies: Mutex<HashMap<(u32, Tick), ()>>,
    seen: AtomicU64,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Hook {
    /// Issues an operation without the waits that the bug has lost.
    fn issue(
        &self,
        lane: &LaneRef,
        head: &HeadRef<'_>,
        uses: Uses,
        op: Op<'_>,
    ) -> Result<(), HalError> {
        let mut known = locked(&self.uses);
        let lost = |id: Option<u32>, tick: Tick| {
            let Some(id) = id else { return false };
            match self.bug {
                Bug::MissingWarEdge => known.get(&(id, tick)).is_some_and(|(reads, writes)| {
                    let (mine, own) = (&uses.0, &uses.1);
                    own.iter().any(|m| reads.contains(m))
                        && !writes.iter().any(|m| mine.contains(m) || own.contains(m))
                }),
                Bug::CurrentTooEarly => locked(&self.copies).contains_key(&(id, tick)),
                _ => false,
            }
        };
        let waits: Vec<Wait<'_>> = (head.inner.waits.iter().zip(head.waits))
            .filter(|(_, (id, tick))| !lost(*id, *tick))
            .map(|(wait, _)| *wait)
            .collect();
        known.insert((lane.id, head.inner.tick), uses);
        drop(known);
        lane.inner.enqueue(&Head { waits: &waits, ..head.inner }, op)
    }
}

// SAFETY: it breaks the contract on purpose, over simulated devices and the CPU backend, whose
// memory is the host's and stays allocated, or by copies that are left out; the bugs show as wrong
// values there, and as violations.
unsafe impl Hooks for Hook {
    fn alloc(&self, device: &DeviceRef, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        let mut made = device.inner.usm().alloc(req)?;
        made.zeroed |= self.bug == Bug::Unzeroed;
        Ok(made)
    }

    fn free(&self, device: &DeviceRef, handle: u64) {
        if !matches!(self.bug, Bug::FreedEarly | Bug::Leaked) {
            device.inner.usm().free(handle);
        }
    }

    fn operation(&self, lane: &LaneRef, head: &HeadRef<'_>, op: Op<'_>) -> Result<(), HalError> {
        let args = match op {
            Op::Copy(rects) => {
                let uses = (
                    rects.iter().map(|r| r.src.base).collect(),
                    rects.iter().map(|r| r.dst.base).collect(),
                );
                locked(&self.copies).insert((lane.id, head.inner.tick), ());
                let lost = match self.bug {
                    Bug::DroppedTransfer => self.seen.fetch_add(1, Ordering::Relaxed) == 1,
                    _ => false,
                };
                if lost {
                    return self.issue(lane, head, uses, Op::Join);
                }
                return self.issue(lane, head, uses, op);
            }
            Op::Fill(rects, _) => {
                let uses = (Vec::new(), rects.iter().map(|r| r.dst.base).collect());
                return self.issue(lane, head, uses, op);
            }
            Op::Switch(..) if self.bug == Bug::DroppedSwitch => {
                return self.issue(lane, head, Uses::default(), Op::Join);
            }
            Op::Switch(mem, ..) => {
                return self.issue(lane, head, (Vec::new(), vec![mem.base]), op);
            }
            Op::Launch(_, _, args) => args,
            Op::Hint(..) | Op::Replay(_) | Op::Branch(_) | Op::Join => {
                return self.issue(lane, head, Uses::default(), op);
            }
        };
        let part = |write| {
            let params = args.params.iter().filter(|p| p.write == write);
            params.map(|p| p.mem.base).collect::<Vec<_>>()
        };
        let uses = (part(false), part(true));
        let freed = args.params.first().map(|p| p.mem.base);
        let out = self.issue(lane, head, uses, op);
        if self.bug == Bug::FreedEarly
            && let Some(MemBase::Device { handle, .. }) = freed
            && self.seen.fetch_add(1, Ordering::Relaxed) == 0
        {
            lane.device.inner.usm().free(handle);
        }
        out
    }

    fn completed(&self, lane: &LaneRef) -> Result<Tick, Lost> {
        let tick = lane.inner.completed()?;
        Ok(if self.bug == Bug::LostWakeUp { tick.min(2) } else { tick })
    }

    fn wait(&self, lane: &LaneRef, tick: Tick, until: Option<Instant>) -> Result<bool, Lost> {
        if self.bug == Bug::LostWakeUp && tick > 2 {
            std::thread::park();
        }
        lane.inner.wait(tick, until)
    }

    fn failures(&self, lane: &LaneRef, sink: &mut dyn FnMut(Tick, HalError)) {
        let swallow = self.bug == Bug::SwallowedError;
        lane.inner.failures(&mut |tick, error| match swallow {
            // Not dropped, since the engine holds the lane's lock: that would be another bug.
            true => std::mem::forget(error),
            false => sink(tick, error),
        });
    }
}

/// Makes trackers that lie.
struct Liars(Bug);

impl PageTrackerFactory for Liars {
    fn make(&self, pages: Dims) -> Box<dyn PageTracker> {
        Box::new(Liar { bug: self.0, pages, inner: BlockTrackers.make(pages) })
    }
}

struct Liar {
    bug: Bug,
    pages: Dims,
    inner: Box<dyn PageTracker>,
}

impl Liar {
    /// A page more along the last dimension, where there is one.
    fn further(&self, range: &Box3) -> Box3 {
        let mut range = *range;
        range.max[2] = (range.max[2] + 1).min(self.pages[2]);
        range
    }
}

impl PageTracker for Liar {
    fn visit(&self, range: &Box3, out: &mut dyn FnMut(Box3, DomainSet)) {
        self.inner.visit(range, out);
    }

    fn set(&mut self, range: &Box3, current: DomainSet) {
        let lies = self.bug == Bug::LostBorder && !current.is_empty();
        let range = if lies { self.further(range) } else { *range };
        self.inner.set(&range, current);
    }

    fn insert(&mut self, range: &Box3, domain: DomainId) {
        match self.bug {
            Bug::NeighbourCurrent => self.inner.insert(&self.further(range), domain),
            Bug::NeedlessTransfer => {}
            _ => self.inner.insert(range, domain),
        }
    }

    fn remove(&mut self, range: &Box3, domain: DomainId) {
        self.inner.remove(range, domain);
    }

    fn name(&self) -> &'static str {
        "liar"
    }
}
