//! The work of a node: a command that is checked, and can be submitted again and again.

use super::conditional::Bodies;
use super::{Inner, NodeKind};
use crate::engine::kernels::interop::Body;
use crate::engine::runs::command::{Action, Command, HostBody};
use crate::error::{GraphError, Label, Result};
use crate::graph::Changes;
use crate::group::{CommandGroup, Leases, Purpose, Rare};
use crate::hal::{KernelHandle, KernelId};
use crate::marks::Marks;
use crate::token::GroupId;
use folio_kernel::words::article;
use smallvec::SmallVec;
use std::any::TypeId;
use std::sync::Arc;

/// A command of a graph. It keeps its buffers alive.
pub(crate) struct Template {
    pub(super) kind: NodeKind,
    pub(super) label: Label,
    pub(super) command: Command,
    pub(super) work: Work,
    pub(super) leases: Leases,
    /// The bodies of a conditional node.
    pub(super) bodies: Option<Arc<Bodies>>,
    /// By argument that is memory: its marks, where it has some.
    pub(super) marks: Vec<(usize, Marks)>,
}

/// Which code a command runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Work {
    Closure(KernelId),
    /// By the address of its code.
    Function(usize),
    Loaded(KernelHandle),
    Foreign(TypeId),
    /// None.
    None,
}

impl Work {
    fn of(action: &Action) -> Work {
        let Action::Launch(Some(launch)) = action else { return Work::None };
        if let Some(function) = &launch.function {
            return Work::Function(std::ptr::from_ref(function.code).addr());
        }
        if let Some(foreign) = &launch.foreign {
            return Work::Foreign(foreign.native);
        }
        match (&launch.loaded, &launch.kernel) {
            (Some(handle), _) => Work::Loaded(*handle),
            (None, Some(kernel)) => Work::Closure(kernel.id()),
            (None, None) => Work::None,
        }
    }
}

/// How a node is described again.
pub(super) type Describe = Arc<dyn Fn(&mut CommandGroup) -> Result<()> + Send + Sync>;

/// A node that reads parameters.
#[derive(Clone)]
pub(super) struct Update {
    pub(super) describe: Describe,
    /// The parameters that the node has read, and their versions.
    pub(super) read: Vec<(Arc<dyn Changes>, u64)>,
}

impl Update {
    /// A value that it has read has been exchanged.
    pub(super) fn is_due(&self) -> bool {
        self.read.iter().any(|(parameter, version)| parameter.version() != *version)
    }
}

impl Template {
    /// Completes the command that a group describes for a node. In a `repeated` one, all that is
    /// called can be called again.
    #[inline]
    pub(super) fn finish(
        group: &mut CommandGroup,
        command: &mut Command,
        repeated: bool,
    ) -> Result<()> {
        group.purpose = if repeated { Purpose::RepeatedNode } else { Purpose::Node };
        group.finish(command)?;
        match command.device {
            Some(device) => group.core.engine.open(device).map(|_| ()),
            None => Ok(()),
        }
    }

    /// The node of a command, with what the group of that keeps.
    #[inline]
    pub(super) fn of(command: Command, group: &mut CommandGroup) -> Template {
        let work = Work::of(&command.action);
        let (kind, label) = (kind_of(&command), command.label.clone());
        let marks = group.take_marks();
        let leases = group.leases();
        Template { kind, label, command, work, leases, bodies: None, marks }
    }

    /// The command that `describe` describes for a graph; and what else it told of graphs.
    pub(super) fn described(
        graph: &Inner,
        describe: impl FnOnce(&mut CommandGroup) -> Result<()>,
    ) -> Result<(Template, Rare)> {
        Template::of_group(graph, Template::group(graph, describe)?)
    }

    /// The group that `describe` describes for a graph.
    pub(super) fn group(
        graph: &Inner,
        describe: impl FnOnce(&mut CommandGroup) -> Result<()>,
    ) -> Result<CommandGroup> {
        let id = GroupId::next();
        let mut group = CommandGroup::new(&graph.core, graph.device, id);
        describe(&mut group)?;
        group.expect(id)?;
        Ok(group)
    }

    /// The command of a group; and what else it tells of graphs.
    pub(super) fn of_group(graph: &Inner, mut group: CommandGroup) -> Result<(Template, Rare)> {
        let mut command = Command::new(None, false);
        Template::finish(&mut group, &mut command, true)?;
        let made = Template::of(command, &mut group);
        made.check(graph)?;
        Ok((made, group.take_rare()))
    }

    /// A command that has been a node before. It keeps no buffers.
    pub(super) fn of_command(command: Command) -> Template {
        let (kind, label) = (kind_of(&command), command.label.clone());
        let work = Work::of(&command.action);
        Template { label, command, work, ..Template::nothing(kind) }
    }

    /// A command that does nothing.
    pub(super) fn nothing(kind: NodeKind) -> Template {
        Template {
            kind,
            label: Label::NONE,
            command: Command::new(None, false),
            work: Work::None,
            leases: Leases::default(),
            bodies: None,
            marks: vec![],
        }
    }

    /// The name of the node in errors.
    pub(super) fn called(&self) -> Label {
        if self.label.as_str().is_empty() {
            return Label::from(self.kind.to_string());
        }
        self.label.clone()
    }

    /// The command, and what keeps its buffers.
    pub(super) fn into_parts(self) -> (Command, Leases) {
        (self.command, self.leases)
    }

    /// That it can be done again and again.
    pub(super) fn check(&self, graph: &Inner) -> Result<()> {
        if !self.command.after.is_empty() {
            let command = self.label.clone();
            return Err(graph.error(GraphError::OutsideEvent { command }));
        }
        let (what, instead) = match &self.command.action {
            Action::Task { body: HostBody::Once(_), .. } => ("host task", "each_run().host_task"),
            Action::Launch(Some(launch))
                if launch
                    .foreign
                    .as_ref()
                    .is_some_and(|task| matches!(task.body, Body::Once(_))) =>
            {
                ("interop task", "each_run().interop")
            }
            _ => return Ok(()),
        };
        Err(graph.error(GraphError::NotRepeatable { what, command: self.label.clone(), instead }))
    }

    /// Why one cannot take the place of another one, if it cannot.
    pub(super) fn differs(&self, from: &Template, kernel: bool) -> Option<String> {
        if self.kind != from.kind {
            let [old, new] = [from.kind, self.kind].map(|kind| article(&kind.to_string()));
            return Some(format!("it is {old}, and not {new}"));
        }
        if !kernel {
            return None;
        }
        let modes = |template: &Template| -> SmallVec<[_; 8]> {
            template.command.accesses.iter().map(|access| access.mode).collect()
        };
        let code = self.work != from.work;
        let why = if code { "it runs another kernel" } else { "its accesses are others" };
        (code || modes(self) != modes(from)).then(|| why.to_owned())
    }
}

pub(super) fn kind_of(command: &Command) -> NodeKind {
    match &command.action {
        Action::Launch(Some(launch)) if launch.foreign.is_some() => NodeKind::Interop,
        Action::Launch(_) => NodeKind::Kernel,
        Action::Copy { .. } => NodeKind::Copy,
        Action::Fill { .. } => NodeKind::Fill,
        Action::Hint { .. } => NodeKind::Hint,
        Action::Task { .. } => NodeKind::HostTask,
        // Operations with its kind.
        Action::Conditional(_) | Action::Replay(_) => NodeKind::If,
        Action::Nothing if command.accesses.is_empty() => NodeKind::Empty,
        Action::Nothing => NodeKind::Prefetch,
    }
}
