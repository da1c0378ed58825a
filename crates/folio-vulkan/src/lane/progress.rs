//! How far a lane is: the value of its semaphore, which a thread has to ask for.

use super::{Awaited, LaneState, SHORT, VulkanLane};
use crate::device::platform::driver;
use ash::vk;
use folio_core::hal::Tick;
use folio_driver::lock;
use std::time::Duration;

impl VulkanLane {
    /// Takes what has ended from what was submitted.
    pub(super) fn sweep(&self, state: &mut LaneState) {
        if state.flying.is_empty() {
            return;
        }
        // SAFETY: the semaphore is the lane's.
        let asked = unsafe { self.core.device.get_semaphore_counter_value(self.semaphore) };
        let asked = asked.map_err(|result| driver("vkGetSemaphoreCounterValue", result));
        let Ok(value) = self.core.told(asked) else { return };
        while let Some(batch) = state.flying.pop_front_if(|batch| batch.value <= value) {
            self.retire(state, batch);
        }
    }

    /// Looks how far the lane is.
    pub(crate) fn look(&self) {
        self.sweep(&mut self.lock());
    }

    /// Waits for so long at most until something may have changed for a tick.
    pub(super) fn pause(&self, tick: Tick, most: Duration) {
        let (value, waits, busy) = {
            let state = self.lock();
            let waits = state.pending.front().map(|job| job.waits.clone()).unwrap_or_default();
            let of_tick = state.flying.iter().find(|batch| batch.last >= tick);
            // A copy by the host goes on when the first of its parts has ended.
            let next = match state.pending.front().is_some_and(|job| job.has_begun()) {
                true => state.flying.front(),
                false => state.flying.back(),
            };
            (of_tick.or(next).map(|batch| batch.value), waits, state.busy)
        };
        if busy {
            // The thread that copies holds this.
            drop(lock(&self.copying));
            return;
        }
        let _inside = self.core.inside();
        let other = || {
            let flying = |(lane, theirs): &Awaited| match lane.known(*theirs) {
                super::TickState::Flying(value) => Some((lane.semaphore, value)),
                _ => None,
            };
            waits.iter().find_map(flying)
        };
        let Some((semaphore, value)) = value.map(|value| (self.semaphore, value)).or_else(other)
        else {
            return std::thread::sleep(most.min(SHORT));
        };
        let (semaphores, values) = ([semaphore], [value]);
        let wait = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        let nanoseconds = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the semaphore is this lane's, or of one that `waits` holds.
        let waited = unsafe { self.core.device.wait_semaphores(&wait, nanoseconds) };
        if let Err(result) = waited
            && result != vk::Result::TIMEOUT
        {
            let _ = self.core.told::<()>(Err(driver("vkWaitSemaphores", result)));
        }
    }
}
