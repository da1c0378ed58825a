//! Conditional nodes as nodes of the device's own graphs.

use crate::engine::kernels::loaded::LoadedKernel;
use crate::engine::lanes::Payload;
use crate::engine::lanes::list::{BranchNames, Branches};
use crate::engine::ledger::Ledger;
use crate::engine::runs::command::{Action, Command};
use crate::engine::runs::conditional::Conditional;
use crate::engine::runs::list::op_of;
use crate::error::Label;
use crate::hal::{BodyNode, Branch, Choice, MemRef, Op};
use std::sync::Arc;

/// A conditional node, until a graph of the device's is made of it.
pub(crate) struct Draft {
    pub(crate) choice: Choice,
    pub(crate) bytes: usize,
    /// Among the conditional nodes of the graph.
    pub(crate) number: u32,
    /// Where its value is: known under the ledger's lock.
    pub(crate) value: Option<MemRef>,
    pub(crate) bodies: Vec<Vec<Member>>,
    node: Arc<Conditional>,
}

/// A command of a body.
pub(crate) struct Member {
    command: Command,
    payload: Option<Payload>,
    /// If it is a conditional node itself.
    branch: Option<Draft>,
}

/// By command: a draft of it, if it is a conditional node. `None` if a command of a body can run
/// only once.
pub(crate) fn drafts(commands: &[Command], all: &mut Branches) -> Option<Vec<Option<Draft>>> {
    let draft = |command: &Command| match &command.action {
        Action::Conditional(node) => Draft::of(node, &command.label, all).map(Some),
        _ => Some(None),
    };
    commands.iter().map(draft).collect()
}

impl Draft {
    /// Of a command that is a conditional node. `None` for one of whose commands one can run only
    /// once. The ledger is not locked: what commands call is the user's to clone.
    fn of(node: &Arc<Conditional>, label: &Label, all: &mut Branches) -> Option<Draft> {
        let number = u32::try_from(all.0.len()).ok()?;
        let limit = match node.choice {
            Choice::While { limit } => Some(limit),
            Choice::If | Choice::Switch => None,
        };
        all.0.push(BranchNames { command: label.clone(), buffer: Label::NONE, limit });
        let mut bodies = Vec::with_capacity(node.bodies.len());
        for commands in &node.bodies {
            let members = commands.iter().map(|command| Member::of(command, all));
            bodies.push(members.collect::<Option<Vec<Member>>>()?);
        }
        let (choice, bytes, node) = (node.choice, node.value.bytes, node.clone());
        Some(Draft { choice, bytes, number, value: None, bodies, node })
    }

    /// Finds its memory.
    pub(crate) fn locate(&mut self, ledger: &Ledger, all: &mut Branches) {
        let value = &self.node.value;
        let storage = &ledger.storages[value.access.storage.0];
        let alloc = storage.alloc(value.access.domain);
        self.value = alloc.map(|alloc| alloc.at(value.offset));
        if let Some(names) = all.0.get_mut(self.number as usize) {
            names.buffer = storage.label.clone();
        }
        for member in self.bodies.iter_mut().flatten() {
            match &mut member.branch {
                Some(branch) => branch.locate(ledger, all),
                None => {
                    let Command { action, accesses, .. } = &mut member.command;
                    member.payload = ledger.storages.node_payload(action, accesses);
                }
            }
        }
    }

    /// The node. Without memory for the value it has no body either.
    pub(super) fn step(&mut self) -> BodyNode<'_> {
        let Draft { choice, bytes, number, value, .. } = *self;
        let Some(value) = value else { return BodyNode::Op(Op::Join) };
        let bodies = self.bodies.iter_mut();
        let bodies = bodies.map(|members| members.iter_mut().map(Member::step).collect()).collect();
        BodyNode::Branch(Branch { choice, value, bytes, number, bodies })
    }

    /// The code that its bodies run.
    pub(crate) fn code(&self, out: &mut Vec<Arc<LoadedKernel>>) {
        for member in self.bodies.iter().flatten() {
            out.extend(member.payload.as_ref().and_then(Payload::uses).cloned());
            member.branch.iter().for_each(|branch| branch.code(out));
        }
    }
}

impl Member {
    fn of(command: &Command, all: &mut Branches) -> Option<Member> {
        let mut command = command.again()?;
        command.arm();
        let branch = match &command.action {
            Action::Conditional(node) => Some(Draft::of(node, &command.label, all)?),
            _ => None,
        };
        Some(Member { command, payload: None, branch })
    }

    fn step(&mut self) -> BodyNode<'_> {
        match &mut self.branch {
            Some(branch) => branch.step(),
            None => BodyNode::Op(op_of(&mut self.payload)),
        }
    }
}
