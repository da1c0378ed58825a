//! Counts of recorded and submitted commands, so that tests can tell.

use folio_driver::lock;
use std::sync::Mutex;

/// The counts of batches and recordings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Barriers between operations, those at the beginnings of batches included.
    pub(crate) barriers: u64,
    pub(crate) dispatches: u64,
    /// Pipelines that were bound.
    pub(crate) binds: u64,
    /// Graphs as command buffers.
    pub(crate) recordings: u64,
    /// Launches of a recording that were given other arguments.
    pub(crate) patches: u64,
    pub(crate) submissions: u64,
    /// Command buffers that batches began.
    pub(crate) begun: u64,
    /// Memory for bytes on their way that was allocated.
    pub(crate) stages: u64,
    /// Lanes that were made.
    pub(crate) lanes: u64,
}

/// The counts of a backend's devices.
#[derive(Debug, Default)]
pub(crate) struct Total(Mutex<Counts>);

impl Total {
    pub(crate) fn add(&self, more: &Counts) {
        let mut all = lock(&self.0);
        all.barriers += more.barriers;
        all.dispatches += more.dispatches;
        all.binds += more.binds;
        all.recordings += more.recordings;
        all.patches += more.patches;
        all.submissions += more.submissions;
        all.begun += more.begun;
        all.stages += more.stages;
        all.lanes += more.lanes;
    }

    /// All so far.
    #[cfg(test)]
    pub(crate) fn get(&self) -> Counts {
        *lock(&self.0)
    }
}

#[cfg(test)]
impl std::ops::Sub for Counts {
    type Output = Counts;

    fn sub(self, before: Counts) -> Counts {
        Counts {
            barriers: self.barriers - before.barriers,
            dispatches: self.dispatches - before.dispatches,
            binds: self.binds - before.binds,
            recordings: self.recordings - before.recordings,
            patches: self.patches - before.patches,
            submissions: self.submissions - before.submissions,
            begun: self.begun - before.begun,
            stages: self.stages - before.stages,
            lanes: self.lanes - before.lanes,
        }
    }
}
