//! The plans of a graph: a question that is asked again is not planned again.

use crate::engine::kernels::loaded::LoadedKernel;
use crate::error::Error;
use crate::sync::Mutex;
use folio_kernel::ContentHash;
use folio_kernel::fuse::{Facts, FuseError, FusedKernel, Graph, Options, Plan};
use std::collections::HashMap;
use std::sync::{Arc, Weak};

/// How many plans a graph keeps: those that were used last.
const KEPT: usize = 16;

/// A question, and its answer.
pub(in crate::graph) struct Planned {
    question: Graph,
    of: (Facts, Options),
    pub(super) plan: Plan,
    /// By the last node of a fused kernel, which no other has: the hash of its content, which takes
    /// its whole text.
    keys: Mutex<HashMap<usize, ContentHash>>,
    /// And its code on the device, as long as a launch keeps that.
    code: Mutex<HashMap<usize, Weak<LoadedKernel>>>,
}

impl Planned {
    /// The key of a fused kernel of the plan.
    pub(super) fn key_of(&self, fused: &FusedKernel) -> ContentHash {
        let at = fused.nodes.last().copied().unwrap_or_default();
        *self.keys.lock().entry(at).or_insert_with(|| fused.key())
    }

    /// The code of a fused kernel of the plan: as it was loaded before, or by `load`.
    pub(super) fn code_of(
        &self,
        fused: &FusedKernel,
        load: impl FnOnce() -> Result<Arc<LoadedKernel>, Error>,
    ) -> Result<(Arc<LoadedKernel>, bool), Error> {
        let at = fused.nodes.last().copied().unwrap_or_default();
        let known = self.code.lock().get(&at).and_then(Weak::upgrade);
        if let Some(code) = known {
            return Ok((code, true));
        }
        let code = load()?;
        self.code.lock().insert(at, Arc::downgrade(&code));
        Ok((code, false))
    }
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
        let (question, plan) = (question.clone(), plan()?);
        let (keys, code) = (Mutex::default(), Mutex::default());
        let planned = Arc::new(Planned { question, of, plan, keys, code });
        let mut all = self.0.lock();
        let old = (all.len() == KEPT).then(|| all.remove(0));
        all.push(planned.clone());
        drop(all);
        drop(old);
        Ok(planned)
    }
}
