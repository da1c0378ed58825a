//! What few groups have: apart, so that others are small and look at one word for all of it.

use super::{CommandGroup, Purpose, TaskTiming};
use crate::error::{Error, Result};
use crate::graph::{Changes, Recorded};
use crate::marks::Marks;
use std::sync::Arc;

/// What few groups have.
#[derive(Default)]
pub(crate) struct Rare {
    /// The first mistake of the description.
    pub(super) wrong: Option<Error>,
    /// Of a timed host task.
    pub(super) timing: Option<TaskTiming>,
    /// For graphs: the events of recorded commands that it comes after.
    pub(crate) follows: Vec<Recorded>,
    /// The parameters that were read to describe it, and which of their values.
    pub(crate) parameters: Vec<(Arc<dyn Changes>, u64)>,
    /// By argument that is memory: its marks, where it has some.
    pub(crate) marks: Vec<(usize, Marks)>,
}

impl CommandGroup {
    pub(crate) fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// It has nothing of this.
    pub(crate) fn is_plain(&self) -> bool {
        self.rare.is_none()
    }

    /// All of it.
    pub(crate) fn take_rare(&mut self) -> Rare {
        self.rare.take().map(|rare| *rare).unwrap_or_default()
    }

    pub(crate) fn take_marks(&mut self) -> Vec<(usize, Marks)> {
        self.rare.as_mut().map(|rare| std::mem::take(&mut rare.marks)).unwrap_or_default()
    }

    /// The command that it describes is done several times.
    pub(crate) fn is_repeated(&self) -> bool {
        self.purpose == Purpose::RepeatedNode
    }

    pub(crate) fn is_node(&self) -> bool {
        self.purpose != Purpose::Submission
    }

    /// It comes after recorded commands.
    pub(crate) fn follows_recorded(&self) -> Option<&Recorded> {
        self.rare.as_ref()?.follows.first()
    }

    /// When its host task runs, if that is asked for.
    pub(crate) fn take_timing(&mut self) -> Option<TaskTiming> {
        self.rare.as_mut()?.timing.take()
    }

    /// That the description has no mistake so far.
    pub(super) fn check_described(&mut self) -> Result<()> {
        let wrong = self.rare.as_mut().and_then(|rare| rare.wrong.take());
        wrong.map_or(Ok(()), Err)
    }
}
