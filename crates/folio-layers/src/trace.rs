//! Records each call of the HAL as a plain value, counts them, and can tell `tracing`.

use crate::graph::Noted;
use crate::layer::{DeviceRef, HeadRef, Hooks, LaneRef, Layer};
use folio_core::hal::{
    AllocKind, AllocReq, Allocation, Backend, CopyRect, Device, FillRect, HalError, Head, Lane,
    LaneKind, Link, Lost, Notify, Op, Order, Side, Tick,
};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// An operation, as it was issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issued {
    /// Its lane's number.
    pub lane: u32,
    /// Its tick.
    pub tick: Tick,
    /// Its order on its lane.
    pub order: Order,
    /// Lanes and ticks that it waits for.
    pub waits: Vec<(Option<u32>, Tick)>,
    /// Its label.
    pub label: String,
    /// The call succeeded.
    pub ok: bool,
}

/// A call of the HAL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A device was opened.
    Open {
        /// Which.
        device: u32,
        /// The call succeeded.
        ok: bool,
    },
    /// A lane was made.
    Lane {
        /// Its device.
        device: u32,
        /// Its number.
        lane: u32,
        /// Its kind.
        kind: LaneKind,
        /// The call succeeded.
        ok: bool,
    },
    /// Access between devices was asked for.
    Peer {
        /// Whose lanes.
        device: u32,
        /// Whose memory.
        other: u32,
        /// The answer.
        link: Option<Link>,
    },
    /// Memory was asked for.
    Alloc {
        /// Of this device.
        device: u32,
        /// Of this kind.
        kind: AllocKind,
        /// Bytes.
        size: u64,
        /// Alignment.
        align: u64,
        /// Its label.
        label: String,
        /// The address.
        handle: Option<u64>,
    },
    /// Memory was given back.
    Free {
        /// To this device.
        device: u32,
        /// This allocation.
        handle: u64,
    },
    /// An operation was issued.
    Op(Issued, Noted),
    /// A lane was flushed.
    Flush {
        /// Which.
        lane: u32,
    },
    /// The engine looked at a lane.
    Completed {
        /// Which.
        lane: u32,
        /// The tick that the engine saw; `None`: the device is lost.
        tick: Option<Tick>,
    },
    /// A thread waited for a lane.
    Wait {
        /// Which.
        lane: u32,
        /// For this tick.
        tick: Tick,
        /// With this result; `None`: the device is lost.
        reached: Option<bool>,
    },
    /// A failure was told.
    Failed {
        /// On this lane.
        lane: u32,
        /// Of this operation.
        tick: Tick,
        /// How.
        error: String,
    },
}

/// Calls of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Devices opened.
    pub opens: u64,
    /// Lanes made.
    pub lanes: u64,
    /// Allocations, also refused ones.
    pub allocs: u64,
    /// Allocations given back.
    pub frees: u64,
    /// Copies, and rectangles in them, and bytes in those.
    pub copies: u64,
    /// Rectangles of all copies.
    pub rects: u64,
    /// Bytes of all copies.
    pub copied: u64,
    /// Fills.
    pub fills: u64,
    /// Bytes of all fills.
    pub filled: u64,
    /// Launches.
    pub launches: u64,
    /// Hints.
    pub hints: u64,
    /// Linked memory was mapped for the host.
    pub maps: u64,
    /// Linked memory was given back to the device.
    pub unmaps: u64,
    /// Replays of graphs.
    pub replays: u64,
    /// Waits of one lane for another that operations carried.
    pub waits: u64,
    /// Flushes.
    pub flushes: u64,
    /// Looks at a lane.
    pub polls: u64,
    /// Waits by the host.
    pub host_waits: u64,
    /// Failures told.
    pub failures: u64,
}

impl Counts {
    fn add(&mut self, head: &HeadRef<'_>, op: Op<'_>) {
        self.waits += head.waits.len() as u64;
        match op {
            Op::Copy(rects) => {
                self.copies += 1;
                self.rects += rects.len() as u64;
                self.copied += rects.iter().map(CopyRect::bytes).sum::<u64>();
            }
            Op::Fill(rects, _) => {
                self.fills += 1;
                self.filled += rects.iter().map(FillRect::bytes).sum::<u64>();
            }
            Op::Launch(..) => self.launches += 1,
            Op::Hint(..) => self.hints += 1,
            Op::Switch(_, _, Side::Device) => self.unmaps += 1,
            Op::Switch(..) => self.maps += 1,
            Op::Replay(_) => self.replays += 1,
            // Only a node of a graph.
            Op::Join | Op::Branch(_) => {}
        }
    }
}

/// The parts to record.
#[derive(Clone, Copy, Debug, Default)]
struct Wanted {
    events: bool,
    polls: bool,
    emit: bool,
}

#[derive(Default)]
struct Book {
    events: Vec<Event>,
    counts: Counts,
}

/// A layer that records. Counts are always kept.
#[derive(Default)]
pub struct Trace {
    wanted: Wanted,
    book: Arc<Mutex<Book>>,
}

/// The record of a [`Trace`].
#[derive(Clone)]
pub struct TraceHandle(Arc<Mutex<Book>>);

impl TraceHandle {
    /// The calls, in the order in which they returned.
    pub fn events(&self) -> Vec<Event> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).events.clone()
    }

    /// How many calls.
    pub fn counts(&self) -> Counts {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).counts
    }

    /// Forgets everything so far.
    pub fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Book::default();
    }
}

impl Trace {
    /// Counts only.
    pub fn new() -> Trace {
        Trace::default()
    }

    /// Keeps each call as an [`Event`].
    pub fn events(mut self) -> Trace {
        self.wanted.events = true;
        self
    }

    /// Keeps looks and flushes too.
    pub fn polls(mut self) -> Trace {
        self.wanted.polls = true;
        self.events()
    }

    /// Tells `tracing`, at level trace, target `folio::hal`, within the engine's calls. The engine
    /// holds locks in some of them: a subscriber to this target does not use the runtime.
    pub fn emit(mut self) -> Trace {
        self.wanted.emit = true;
        self
    }

    /// To read what was recorded.
    pub fn handle(&self) -> TraceHandle {
        TraceHandle(self.book.clone())
    }

    /// Around this backend.
    pub fn over(self, inner: impl Backend) -> Layer<Trace> {
        Layer::new(self, Arc::new(inner))
    }

    fn record(&self, count: impl FnOnce(&mut Counts), event: impl FnOnce() -> Event) {
        let event = (self.wanted.events || self.wanted.emit).then(event);
        if let Some(event) = event.as_ref().filter(|_| self.wanted.emit) {
            folio_core::tell_subscriber(|| tracing::trace!(target: "folio::hal", ?event));
        }
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        count(&mut book.counts);
        book.events.extend(event.filter(|_| self.wanted.events));
    }

    fn poll(&self, count: impl FnOnce(&mut Counts), event: impl FnOnce() -> Event) {
        if self.wanted.polls {
            self.record(count, event);
        } else {
            count(&mut self.book.lock().unwrap_or_else(PoisonError::into_inner).counts);
        }
    }
}

fn issued(lane: &LaneRef, head: &HeadRef<'_>, ok: bool) -> Issued {
    let Head { tick, order, label, .. } = head.inner;
    Issued { lane: lane.id, tick, order, waits: head.waits.to_vec(), label: label.into(), ok }
}

// SAFETY: passes every call on as it is.
unsafe impl Hooks for Trace {
    unsafe fn open(
        &self,
        inner: &dyn Backend,
        index: usize,
        notify: Notify,
    ) -> Result<Arc<dyn Device>, HalError> {
        // SAFETY: the caller's promise.
        let out = unsafe { inner.open(index, notify) };
        let event = || Event::Open { device: index as u32, ok: out.is_ok() };
        self.record(|c| c.opens += 1, event);
        out
    }

    fn lane(
        &self,
        device: &DeviceRef,
        id: u32,
        kind: LaneKind,
        priority: i8,
    ) -> Result<Arc<dyn Lane>, HalError> {
        let out = device.inner.lane(kind, priority);
        let event = || Event::Lane { device: device.index, lane: id, kind, ok: out.is_ok() };
        self.record(|c| c.lanes += 1, event);
        out
    }

    fn peer(&self, device: &DeviceRef, other: &DeviceRef) -> Option<Link> {
        let link = device.inner.peer(&*other.inner);
        self.record(|_| (), || Event::Peer { device: device.index, other: other.index, link });
        link
    }

    fn alloc(&self, device: &DeviceRef, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        let out = device.inner.usm().alloc(req);
        let event = || Event::Alloc {
            device: device.index,
            kind: req.kind,
            size: req.size,
            align: req.align,
            label: req.label.into(),
            handle: out.as_ref().ok().map(|a| a.handle),
        };
        self.record(|c| c.allocs += 1, event);
        out
    }

    fn free(&self, device: &DeviceRef, handle: u64) {
        device.inner.usm().free(handle);
        self.record(|c| c.frees += 1, || Event::Free { device: device.index, handle });
    }

    fn operation(&self, lane: &LaneRef, head: &HeadRef<'_>, op: Op<'_>) -> Result<(), HalError> {
        let out = lane.inner.enqueue(&head.inner, op);
        let event = || Event::Op(issued(lane, head, out.is_ok()), Noted::of(op, head.nodes));
        self.record(|counts| counts.add(head, op), event);
        out
    }

    fn flush(&self, lane: &LaneRef) {
        lane.inner.flush();
        self.poll(|c| c.flushes += 1, || Event::Flush { lane: lane.id });
    }

    fn completed(&self, lane: &LaneRef) -> Result<Tick, Lost> {
        let out = lane.inner.completed();
        let event = || Event::Completed { lane: lane.id, tick: out.as_ref().ok().copied() };
        self.poll(|c| c.polls += 1, event);
        out
    }

    fn wait(&self, lane: &LaneRef, tick: Tick, until: Option<Instant>) -> Result<bool, Lost> {
        let out = lane.inner.wait(tick, until);
        let event = || Event::Wait { lane: lane.id, tick, reached: out.as_ref().ok().copied() };
        self.record(|c| c.host_waits += 1, event);
        out
    }

    fn failures(&self, lane: &LaneRef, sink: &mut dyn FnMut(Tick, HalError)) {
        lane.inner.failures(&mut |tick, error| {
            let event = || Event::Failed { lane: lane.id, tick, error: error.to_string() };
            self.record(|c| c.failures += 1, event);
            sink(tick, error);
        });
    }
}
