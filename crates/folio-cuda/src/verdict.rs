//! The records of launches of kernels in IR: one each, in memory of the host that the device
//! reaches, so that reading one that is empty costs a look.

use crate::driver::{Context, Relaxed};
use crate::graph_failures::{GraphFailures, Page};
use folio_core::hal::{Graph, HalError, Tick};
use folio_driver::lock;
use folio_driver::retire::Retired;
use folio_driver::verdict::failure;
use folio_kernel::emit::Points;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// Records of a lane: as many as the engine has operations under way on one
/// (`Caps::max_in_flight`), which is how many the driver takes before it makes callers wait.
pub(crate) const IN_FLIGHT: usize = 1024;

/// A record has a line of its own.
pub(crate) const STRIDE: usize = 64;

/// The records of a lane, from its first launch that can fail on.
pub(crate) struct Verdicts {
    context: Arc<Context>,
    state: Mutex<PendingVerdicts>,
}

#[derive(Default)]
struct PendingVerdicts {
    records: Option<Page>,
    /// By tick modulo `IN_FLIGHT`: what was launched and has not been asked yet.
    launched: Vec<Option<(Tick, Arc<Points>)>>,
    /// How many of those there are.
    open: usize,
    /// Oldest first.
    replays: VecDeque<Replay>,
}

/// A graph at work, and what its launches say this time, where they can.
pub(crate) struct Replay {
    pub(crate) tick: Tick,
    /// Nothing of it is given back before the replay has ended.
    pub(crate) graph: Arc<dyn Graph>,
    pub(crate) said: Option<GraphFailures>,
}

/// The number of a tick's record.
fn place(tick: Tick) -> usize {
    tick as usize % IN_FLIGHT
}

impl Verdicts {
    pub(crate) fn new(context: Arc<Context>) -> Verdicts {
        Verdicts { context, state: Mutex::default() }
    }

    /// The device's address of the record for a launch. The context is current.
    pub(crate) fn record(&self, tick: Tick, points: &Arc<Points>) -> Result<u64, HalError> {
        let mut state = lock(&self.state);
        let records = match &state.records {
            Some(records) => records,
            None => {
                let records = Page::new(&self.context, IN_FLIGHT * STRIDE)?;
                state.launched.resize(IN_FLIGHT, None);
                state.records.insert(records)
            }
        };
        let address = records.record(place(tick)).expose_provenance() as u64;
        state.launched[place(tick)] = Some((tick, points.clone()));
        state.open += 1;
        Ok(address)
    }

    /// A replay is under way.
    pub(crate) fn replays(&self, replay: Replay) {
        lock(&self.state).replays.push_back(replay);
    }

    /// Reads what was said up to `done`, by launches and replays that have ended.
    pub(crate) fn read(&self, from: Tick, done: Tick, retired: &Retired) {
        self.read_launches(from, done, retired);
        let mut state = lock(&self.state);
        let ended = state.replays.partition_point(|replay| replay.tick <= done);
        let ended: Vec<Replay> = state.replays.drain(..ended).collect();
        drop(state);
        // The last to hold a graph gives back what it has.
        for Replay { tick, said, graph: _held } in ended {
            let error = said.as_ref().and_then(GraphFailures::read);
            error.into_iter().for_each(|error| retired.fail(tick, error));
        }
    }

    fn read_launches(&self, from: Tick, done: Tick, retired: &Retired) {
        let mut state = lock(&self.state);
        if state.open == 0 {
            return;
        }
        // Older ticks have been read before, or have been driven out by younger ones.
        let from = from.max(done.saturating_sub(IN_FLIGHT as u64));
        for tick in from + 1..=done {
            let PendingVerdicts { records, launched, open, .. } = &mut *state;
            let Some(records) = records else { return };
            let Some(slot) = launched.get_mut(place(tick)) else { return };
            if slot.as_ref().is_none_or(|(at, _)| *at != tick) {
                continue;
            }
            let points = slot.take().map(|(_, points)| points);
            *open -= 1;
            let at = records.record(place(tick));
            // SAFETY: one of the records; the launch that could write it has ended.
            let first = unsafe { AtomicU32::from_ptr(at.cast()) }.load(Ordering::Acquire);
            if first == 0 {
                continue;
            }
            // SAFETY: as above.
            let record = unsafe { std::mem::take(&mut *at) };
            let error = points.and_then(|points| failure(&points, &record));
            error.into_iter().for_each(|error| retired.fail(tick, error));
        }
    }
}

impl Drop for Verdicts {
    fn drop(&mut self) {
        let (records, replays) = {
            let mut state = lock(&self.state);
            (state.records.take(), std::mem::take(&mut state.replays))
        };
        // The lane's stream has ended.
        drop(replays);
        if let Some(records) = records
            && let Ok(_calls) = self.context.enter()
        {
            let _relaxed = Relaxed::begin();
            // SAFETY: ours, and the lane's stream has ended.
            unsafe { records.free() };
        }
    }
}
