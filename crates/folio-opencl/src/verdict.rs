//! The records of launches: one for each that can fail, in the device's memory. The records since
//! the last mark are read with the next one, and cleared for whoever uses them again.

use crate::cl::{Buffer, Event, Queue, run};
use crate::memory::with_room;
use crate::module::Built;
use crate::platform::Shared;
use folio_core::hal::{HalError, Tick};
use folio_core::ir::emit::Record;
use folio_driver::verdict::failure;
use opencl_sys::CL_FALSE;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// Records of a lane, which is also the most launches between two marks.
pub(crate) const SLOTS: usize = 64;

/// The records of a lane.
pub(crate) struct Verdicts {
    /// Words from one record to the next: each is a part of the buffer.
    stride: usize,
    memory: Option<(Vec<Buffer>, Buffer)>,
    /// Whose the records are, from the first on.
    used: Vec<LaunchOrigin>,
    tick: Tick,
    node: Option<usize>,
    /// The records that were read of a replay with more launches than there are records. The next
    /// mark tells them.
    pub(crate) early: Vec<Readback>,
}

/// The launch of an operation, or of a node of a replay.
struct LaunchOrigin {
    tick: Tick,
    node: Option<usize>,
    of: Arc<Built>,
}

/// Records on their way to the host.
pub(crate) struct Readback {
    stride: usize,
    words: Box<[u64]>,
    of: Vec<LaunchOrigin>,
}

impl Readback {
    /// The failures among them. Only after the event of their mark.
    pub(crate) fn failures(self) -> impl Iterator<Item = (Tick, HalError)> {
        let Readback { stride, words, of } = self;
        of.into_iter().enumerate().filter_map(move |(slot, LaunchOrigin { tick, node, of })| {
            let mut record = Record::default();
            let from = slot * stride;
            record.0.copy_from_slice(words.get(from..from + Record::WORDS)?);
            let failure = failure(of.points(), &record)?;
            Some((tick, node.into_iter().fold(failure, HalError::at_node)))
        })
    }
}

impl Verdicts {
    /// For a device whose parts of buffers are aligned to so many bytes.
    pub(crate) fn new(align: usize) -> Verdicts {
        let stride = (8 * Record::WORDS).next_multiple_of(align.next_multiple_of(8)) / 8;
        let (used, early) = (Vec::new(), Vec::new());
        Verdicts { stride, memory: None, used, tick: 0, node: None, early }
    }

    /// There is no record left: a mark must come before another launch.
    pub(crate) fn is_full(&self) -> bool {
        self.used.len() >= SLOTS
    }

    pub(crate) fn begin(&mut self, tick: Tick) {
        (self.tick, self.node) = (tick, None);
    }

    /// Launches from here on are this node's.
    pub(crate) fn begin_node(&mut self, node: usize) {
        self.node = Some(node);
    }

    /// Makes room for the record of a replay's next launch. Its other records may be read before.
    pub(crate) fn make_room(&mut self, queue: &Queue) -> Result<(), HalError> {
        if self.is_full() {
            let told = self.tell(queue)?.map(|(_, told)| told);
            self.early.extend(told);
        }
        Ok(())
    }

    /// The record of the next launch.
    pub(crate) fn slot(&mut self, shared: &Shared, queue: &Queue) -> Result<&Buffer, HalError> {
        if self.memory.is_none() {
            self.memory = Some(with_room(|| make(shared, queue, 8 * self.stride))?);
        }
        let slots = self.memory.as_ref().map(|(slots, _)| slots);
        let slot = slots.and_then(|slots| slots.get(self.used.len()));
        slot.ok_or_else(|| HalError::unsupported("more launches without a mark"))
    }

    /// The launch is held, or has been enqueued.
    pub(crate) fn used(&mut self, by: Arc<Built>) {
        self.used.push(LaunchOrigin { tick: self.tick, node: self.node, of: by });
    }

    /// There is something to be read.
    pub(crate) fn are_used(&self) -> bool {
        !self.used.is_empty()
    }

    /// Reads and clears what was used, if anything.
    pub(crate) fn tell(&mut self, queue: &Queue) -> Result<Option<(Event, Readback)>, HalError> {
        let Some((_, memory)) = self.memory.as_ref().filter(|_| !self.used.is_empty()) else {
            return Ok(None);
        };
        let mut words = vec![0u64; self.used.len() * self.stride].into_boxed_slice();
        let (bytes, to) = (size_of_val(&*words), words.as_mut_ptr().cast::<c_void>());
        let mut event = null_mut();
        // SAFETY: so many bytes of the buffer; the words are kept until a mark's event behind this
        // (`Mark`, `Verdicts::early`).
        unsafe {
            run!(clEnqueueReadBuffer(
                queue.0,
                memory.0,
                CL_FALSE,
                0,
                bytes,
                to,
                0,
                null(),
                &raw mut event
            ))
        }?;
        let event = Event(event);
        let told = Readback { stride: self.stride, words, of: std::mem::take(&mut self.used) };
        if clear(queue, memory, bytes).is_err() {
            // The next launch gets other ones.
            self.memory = None;
        }
        Ok(Some((event, told)))
    }
}

fn clear(queue: &Queue, memory: &Buffer, bytes: usize) -> Result<(), HalError> {
    let zero = 0u64;
    let pattern = (&raw const zero).cast::<c_void>();
    // SAFETY: so many bytes of the buffer; the pattern is copied in the call.
    unsafe {
        run!(clEnqueueFillBuffer(queue.0, memory.0, pattern, 8, 0, bytes, 0, null(), null_mut()))
    }
}

/// Cleared records, and the memory that they are parts of.
fn make(shared: &Shared, queue: &Queue, stride: usize) -> Result<(Vec<Buffer>, Buffer), HalError> {
    let bytes = SLOTS * stride;
    let memory = Buffer::new(&shared.context, bytes)?;
    clear(queue, &memory, bytes)?;
    let slots = (0..SLOTS).map(|slot| memory.part(slot * stride, stride));
    let slots = slots.collect::<Result<_, HalError>>()?;
    Ok((slots, memory))
}
