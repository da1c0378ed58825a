//! What few groups have: apart, so that others are small and look at one word for all of it.

use super::{CommandGroup, TaskTiming};
use crate::error::{Error, Result};
use crate::graph::{Changes, Recorded};
use crate::marks::Marks;
use std::sync::Arc;

/// What few groups have.
#[derive(Default)]
pub(crate) struct Rare {
    /// The first mistake of the description.
    pub(super) wrong: Option<Error>,
    /// Of the events that the group comes after.
    pub(super) pins: Vec<Arc<u32>>,
    /// Of a timed host task.
    pub(super) timing: Option<TaskTiming>,
    /// For graphs: the command is done several times.
    pub(crate) repeated: bool,
    /// It is a node: the graph makes the host's form of a kernel function when it runs.
    pub(crate) is_node: bool,
    /// The events of recorded commands that it comes after.
    pub(crate) follows: Vec<Arc<Recorded>>,
    /// The parameters that were read to describe it, and which of their values.
    pub(crate) parameters: Vec<(Arc<dyn Changes>, u64)>,
    /// By argument that is memory: its marks, where it has some.
    pub(crate) marks: Vec<(usize, Marks)>,
}

impl CommandGroup {
    pub(crate) fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// The command that it describes is done several times.
    pub(crate) fn is_repeated(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.repeated)
    }

    pub(crate) fn is_node(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.is_node)
    }

    /// It comes after recorded commands.
    pub(crate) fn follows_recorded(&self) -> Option<&Arc<Recorded>> {
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
