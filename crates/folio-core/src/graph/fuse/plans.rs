//! The plans of a graph: a question that is asked again is not planned again.

use crate::sync::Mutex;
use folio_kernel::fuse::{Facts, FuseError, Graph, Options, Plan};
use std::sync::Arc;

/// How many plans a graph keeps: those that were used last.
const KEPT: usize = 16;

/// A question, and its answer.
pub(in crate::graph) struct Planned {
    question: Graph,
    of: (Facts, Options),
    pub(super) plan: Plan,
}

/// The latest plans, in the order in which they were used.
#[derive(Default)]
pub(in crate::graph) struct Plans(Mutex<Vec<Arc<Planned>>>);

impl Plans {
    /// The plan for a question: that of an earlier one, if it was the same but for what no plan
    /// depends on. `named`: the names in what it says of refusals are read.
    pub(super) fn find(
        &self,
        question: &Graph,
        (facts, options, named): (Facts, Options, bool),
        plan: impl FnOnce() -> Result<Plan, FuseError>,
    ) -> Result<Arc<Planned>, FuseError> {
        let of = (facts, options);
        let is_it = |known: &Arc<Planned>| {
            let is_named = !named || question.has_names_of(&known.question);
            known.of == of && is_named && question.is_planned_as(&known.question)
        };
        {
            let mut all = self.0.lock();
            if let Some(at) = all.iter().rposition(is_it) {
                let known = all.remove(at);
                all.push(known.clone());
                return Ok(known);
            }
        }
        // Without the lock: planning may take long.
        let planned = Arc::new(Planned { question: question.clone(), of, plan: plan()? });
        let mut all = self.0.lock();
        let old = (all.len() == KEPT).then(|| all.remove(0));
        all.push(planned.clone());
        drop(all);
        drop(old);
        Ok(planned)
    }
}
