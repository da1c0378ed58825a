//! Interop tasks: closures that record commands of their own.

use super::{Awaited, PAUSE, TickState, VulkanLane};
use crate::lane::native::Native;
use folio_core::hal::{Foreign, HalError, Head, Param};
use folio_driver::lock;

impl VulkanLane {
    /// Calls a closure that records commands, without the lane's state: nobody else records or
    /// submits for the lane meanwhile, since the batch is this call's. Operations that it waits for
    /// are submitted, or done by this thread, before.
    pub(super) fn foreign(
        &self,
        head: &Head<'_>,
        waits: Vec<Awaited>,
        params: &[Param],
        task: &dyn Foreign,
    ) -> Result<(), HalError> {
        self.come_to(head.tick - 1)?;
        let mut values = vec![];
        for wait in &waits {
            values.extend(self.value_when_known(wait)?);
        }
        let inside = self.core.inside();
        let queued = if head.timed { self.core.now() } else { 0 };
        let mut state = self.lock();
        state.issued = head.tick;
        match values.is_empty() {
            true => drop(self.open(&mut state, head.tick)),
            false => self.open_behind(&mut state, head.tick, waits, values),
        }
        if let Err(error) = self.open_now(&mut state).map(drop) {
            self.end_with_last(&mut state, head.tick);
            return Err(error);
        }
        let time = if head.timed { self.begin_time(&mut state) } else { None };
        let Some(mut batch) = state.open.take() else {
            self.end_with_last(&mut state, head.tick);
            return Err(HalError::unsupported("commands"));
        };
        batch.barrier_of_all(&self.core);
        state.busy = true;
        drop(state);
        // The task may do anything, and wait for threads that are in calls.
        drop(inside);
        let copying = lock(&self.copying);
        let native = Native::new(&self.core, batch.commands, params);
        let called = native.and_then(|native| task.call(&native));
        drop(copying);
        let _inside = self.core.inside();
        batch.barrier_of_all(&self.core);
        batch.last = head.tick;
        batch.load.add(0);
        let mut state = self.lock();
        (state.open, state.busy) = (Some(batch), false);
        if let Some(own) = time {
            self.end_time(&mut state, (head.tick, queued), own);
        }
        drop(state);
        // The thread that is told drops what a task has returned.
        called.unwrap_or_else(|error| self.retired.fail(head.tick, error));
        Ok(())
    }

    /// Waits until all jobs up to a tick are recorded or done.
    fn come_to(&self, tick: u64) -> Result<(), HalError> {
        loop {
            let inside = self.core.inside();
            self.progress_to(tick, true);
            self.core.lost()?;
            let state = self.lock();
            if state.pending.is_empty() && !state.busy {
                return Ok(());
            }
            drop(state);
            self.submit_to(tick);
            drop(inside);
            self.pause(tick, PAUSE);
        }
    }

    /// The value of a semaphore to wait for, if what is waited for is not over.
    fn value_when_known(
        &self,
        wait: &Awaited,
    ) -> Result<Option<(ash::vk::Semaphore, u64)>, HalError> {
        let (lane, tick) = wait;
        loop {
            let inside = self.core.inside();
            lane.progress_to(*tick, true);
            lane.submit_to(*tick);
            drop(inside);
            self.core.lost()?;
            match Self::value_of(wait) {
                TickState::Over => return Ok(None),
                TickState::Flying(value) => return Ok(Some((lane.semaphore, value))),
                TickState::Held => lane.pause(*tick, PAUSE),
            }
        }
    }
}
