//! What few groups have: apart, so that others are small and look at one word for all of it.

use super::several::Several;
use super::{CommandGroup, Purpose, TaskTiming};
use crate::engine::runs::command::Command;
use crate::engine::terms::access::Access;
use crate::error::{Error, Label, Result};
use crate::geom::Box3;
use crate::graph::{Changes, Recorded};
use crate::marks::Marks;
use smallvec::SmallVec;
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
    /// By access: the boxes of elements that it is, where these are several.
    pub(crate) boxes: Vec<(usize, SmallVec<[Box3; 8]>)>,
    /// The launch that takes several commands.
    pub(super) several: Option<Several>,
}

impl CommandGroup {
    pub(crate) fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Its command is timed.
    pub(crate) fn is_timed(&self) -> bool {
        self.timed
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

    /// The launch that it is, if that takes several commands. It is all that the group does then.
    pub(crate) fn take_several(&mut self) -> Result<Option<Several>> {
        let Some(rare) = &mut self.rare else { return Ok(None) };
        let (Some(several), None) = (rare.several.take(), &rare.wrong) else { return Ok(None) };
        match (self.actions, &self.made[..]) {
            (1, []) => Ok(Some(several)),
            (1, _) => Err(several.not_alone()),
            (actions, _) => Err(Error::Actions { command: self.label.clone(), actions }),
        }
    }

    /// Describes a group that is a part of what this one does.
    pub(crate) fn describe_part(&self, part: &mut CommandGroup) {
        if self.label != Label::NONE {
            part.label = self.label.clone();
        }
        part.timed |= self.timed;
        part.after.extend_from_slice(&self.after);
        if let Some(rare) = &self.rare {
            part.rare().follows.extend_from_slice(&rare.follows);
        }
    }

    /// That the description has no mistake so far, and is that of one command.
    pub(super) fn check_described(&mut self) -> Result<()> {
        let Some(rare) = &mut self.rare else { return Ok(()) };
        match (rare.wrong.take(), rare.several.take()) {
            (Some(wrong), _) => Err(wrong),
            (None, Some(several)) => Err(several.not_one()),
            (None, None) => Ok(()),
        }
    }

    /// Accesses of several boxes are one for each of them.
    pub(super) fn part_accesses(&self, command: &mut Command) {
        for (at, boxes) in self.rare.iter().flat_map(|rare| &rare.boxes) {
            let ([first, others @ ..], Some(access)) = (&boxes[..], command.accesses.get_mut(*at))
            else {
                continue;
            };
            (access.elements, access.all) = (*first, false);
            let access = *access;
            let others = others.iter().map(|elements| Access { elements: *elements, ..access });
            command.accesses.extend(others);
        }
    }
}
