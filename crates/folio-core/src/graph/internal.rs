//! Memory of [`Marks::internal_memory`](crate::buffer::Marks::internal_memory). What a run leaves
//! there is not used, so after the run it counts as never written, fused or not (FUSE-06). Fusion
//! may keep it in registers, and no program can tell.

use super::fuse::function_of;
use super::steps::{Step, Steps};
use crate::buffer::StorageHandle;
use crate::engine::pages::storage::StorageId;
use crate::marks::Marks;
use crate::planted::{Plant, Planted};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

impl StorageHandle {
    /// Its marks. What [cannot be internal](Self::may_be_internal) is not.
    pub(super) fn marked(&self) -> Marks {
        let mut marks = *self.marks.lock();
        marks.0.internal = marks.0.internal && self.may_be_internal();
        marks
    }

    /// The engine sees all uses of its memory. That is not so of memory that the program has lent,
    /// that comes from another library, or that managed pointers reach.
    fn may_be_internal(&self) -> bool {
        let lent = self.borrowed.load(Ordering::Relaxed) || self.imported.load(Ordering::Relaxed);
        let ends = self.home().is_none() && self.end.is_some();
        !lent && !ends && self.managed.get().is_none()
    }
}

impl Step {
    /// The marks of an argument that is memory. A part of a memory is not internal by the mark of
    /// an argument: the program has said nothing of what lies beside it.
    pub(super) fn marks_of(&self, argument: usize) -> Marks {
        let mut all = self.template.marks.iter();
        let Some((_, marks)) = all.find(|(at, _)| *at == argument) else { return Marks::new() };
        let mut marks = *marks;
        let whole = || {
            let (launch, _) = function_of(self)?;
            let param = launch.params.get(argument)?;
            let handle = self.template.leases.get(launch.tokens.get(argument)?.at)?;
            Some(param.shape == param.dims && handle.may_be_internal())
        };
        marks.0.internal = marks.0.internal && whole() == Some(true);
        marks
    }

    /// An access is internal, by the mark of the argument that it is for.
    fn is_internal(&self, access: usize) -> bool {
        if self.template.marks.is_empty() {
            return false;
        }
        let Some((launch, _)) = function_of(self) else { return false };
        let argument = launch.tokens.iter().position(|token| token.at == access);
        argument.is_some_and(|argument| self.marks_of(argument).0.internal)
    }
}

impl Steps {
    /// The memories that a run writes and that are internal: by their own marks, or by those of
    /// all arguments that use them.
    pub(super) fn internal(&self, plant: Plant) -> Vec<StorageId> {
        if plant.is(Planted::InternalMemory) {
            return Vec::new();
        }
        let is_marked = |step: &Step| {
            let handles = &step.template.leases;
            !step.template.marks.is_empty()
                || handles.iter().any(|handle| handle.marks.lock().0.internal)
        };
        if !self.all.iter().any(is_marked) {
            return Vec::new();
        }
        // By memory: all accesses so far are internal, and one of them writes.
        let mut found: BTreeMap<StorageId, (bool, bool)> = BTreeMap::new();
        for step in &self.all {
            let template = &step.template;
            for (at, access) in template.command.accesses.iter().enumerate() {
                let known = found.entry(access.storage).or_insert_with(|| (true, false));
                known.1 |= access.mode.writes();
                if known.0 {
                    let handle = template.leases.get(at);
                    let own = handle.is_some_and(|handle| handle.marked().0.internal);
                    known.0 = own || step.is_internal(at);
                }
            }
        }
        found.into_iter().filter(|(_, both)| *both == (true, true)).map(|(id, _)| id).collect()
    }
}
