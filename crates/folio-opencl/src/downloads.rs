//! Memory of the host that commands are about to write.
//!
//! A driver may read what is uploaded when it is told to, or any time until that has ended: OpenCL
//! does not let the memory change in between, and NVIDIA's driver (580) reads little of it at once.
//! Memory that a download is still to write is uploaded once the download has ended.

use crate::cl::Event;
use folio_core::hal::{CopyRect, HostPtr, MemBase};
use folio_driver::lock;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

/// Downloads among which those that have ended are looked for.
const MANY: usize = 64;

/// Downloads under way, oldest first; some may have ended.
#[derive(Debug, Default)]
pub(crate) struct Downloads(Mutex<VecDeque<(Range<usize>, Arc<Event>)>>);

impl Downloads {
    fn lock(&self) -> MutexGuard<'_, VecDeque<(Range<usize>, Arc<Event>)>> {
        lock(&self.0)
    }

    /// The addresses are written by the time of the event.
    pub(crate) fn note(&self, to: Range<usize>, written: Arc<Event>) {
        let mut all = self.lock();
        while all.pop_front_if(|(_, event)| event.is_over()).is_some() {}
        if all.len() >= MANY && all.len().is_power_of_two() {
            all.retain(|(_, event)| !event.is_over());
        }
        all.push_back((to, written));
    }

    /// Waits until nothing that was enqueued writes any more what a rectangle is copied from. Of a
    /// download that fails its lane tells.
    pub(crate) fn wait_before(&self, rect: &CopyRect) {
        if let MemBase::Host(HostPtr(base)) = rect.src.base {
            let start = base.addr() + rect.src.offset as usize;
            let ([slices, rows, bytes], [slice, row]) = (rect.extent, rect.src_pitch);
            let length = (slices - 1) * slice + (rows - 1) * row + bytes;
            let under_way = self.that_write(&(start..start + length as usize));
            under_way.iter().for_each(|event| event.wait_over());
        }
    }

    /// Downloads that are still to write some of these addresses.
    fn that_write(&self, from: &Range<usize>) -> Vec<Arc<Event>> {
        let meets = |to: &Range<usize>| to.start < from.end && from.start < to.end;
        let all = self.lock();
        let met = all.iter().filter(|(to, event)| meets(to) && !event.is_over());
        met.map(|(_, event)| event.clone()).collect()
    }
}
