//! Temporaries: buffers that only a graph can name, since the last handle outside of it is gone, and
//! which nothing had written before. They are uninitialised at the beginning of each run.

use super::steps::Steps;
use super::{Inner, State};
use crate::buffer::StorageHandle;
use crate::engine::storage::StorageId;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Inner {
    /// Adds the storages that are temporaries from now on to those of the graph.
    pub(super) fn find_temporaries(&self, state: &mut State, steps: &mut Steps) {
        let found = self.temporaries_of(steps);
        state.temporaries.extend(&found);
        steps.temporaries.extend(found);
    }

    /// The storages of commands that only these commands hold, and that nothing has written.
    pub(super) fn temporaries_of(&self, steps: &Steps) -> BTreeSet<StorageId> {
        let mut seen = BTreeSet::new();
        let mut held: HashMap<StorageId, (&Arc<StorageHandle>, usize)> = HashMap::new();
        for step in &steps.all {
            // A graph that is a node twice has each command once.
            if !seen.insert(Arc::as_ptr(&step.template)) {
                continue;
            }
            for handle in &step.template.leases.0 {
                held.entry(handle.id).or_insert((handle, 0)).1 += 1;
            }
        }
        let own = held.into_iter().filter(|(id, (handle, count))| {
            Arc::strong_count(handle) == *count
                && handle.is_plain()
                && !steps.temporaries.contains(id)
        });
        let own: Vec<StorageId> = own.map(|(id, _)| id).collect();
        if own.is_empty() {
            return BTreeSet::new();
        }
        let pristine = |ledger: &mut crate::engine::ledger::Ledger| {
            own.iter().copied().filter(|id| ledger.is_pristine(*id)).collect()
        };
        self.core.engine.enter(pristine)
    }
}

impl StorageHandle {
    /// It is a buffer's, over memory of the engine's alone.
    fn is_plain(&self) -> bool {
        self.home().is_none()
            && self.end.is_none()
            && self.managed.get().is_none()
            && !self.borrowed.load(Ordering::Relaxed)
            && !self.imported.load(Ordering::Relaxed)
    }
}
