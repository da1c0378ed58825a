//! What command graphs need of groups.

use super::CommandGroup;
use crate::buffer::StorageHandle;
use crate::error::{Error, GraphError, Label, Result};
use crate::graph::{Changes, Parameter, Recorded};
use crate::marks::Marks;
use smallvec::SmallVec;
use std::sync::Arc;

/// What becomes of a command that is described.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Purpose {
    /// It is submitted.
    #[default]
    Submission,
    /// It is a node of a graph that runs once. The graph makes the host's form of a kernel function
    /// when it runs.
    Node,
    /// It is a node that is done several times.
    RepeatedNode,
}

/// What few groups know of graphs.
#[derive(Default)]
pub(crate) struct ForGraph {
    /// The events of recorded commands that it comes after.
    pub(crate) follows: Vec<Recorded>,
    /// The parameters that were read to describe it, and which of their values.
    pub(crate) parameters: Vec<(Arc<dyn Changes>, u64)>,
    /// By argument that is memory: its marks, where it has some.
    pub(crate) marks: Vec<(usize, Marks)>,
}

/// What a node keeps: its buffers, and failures that are not to be forgotten.
pub(crate) type Leases = (SmallVec<[Arc<StorageHandle>; 4]>, Vec<Arc<u32>>);

impl CommandGroup {
    pub(crate) fn graph(&mut self) -> &mut ForGraph {
        self.for_graph.get_or_insert_default()
    }

    /// The value of a parameter, for a command that is described with it. A graph describes the
    /// node again when the value has changed: see
    /// [`Graph::add_updatable`](crate::Graph::add_updatable).
    pub fn parameter<T: Clone + Send + Sync + 'static>(&mut self, parameter: &Parameter<T>) -> T {
        let (value, read) = parameter.read();
        self.graph().parameters.push(read);
        value
    }

    /// What it has told of graphs, if it has.
    pub(crate) fn take_for_graph(&mut self) -> ForGraph {
        self.for_graph.take().map(|told| *told).unwrap_or_default()
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
        self.for_graph.as_ref()?.follows.first()
    }

    /// That a graph may keep the storages.
    pub(super) fn check_lease(&self) -> Result<()> {
        if !self.is_repeated() {
            return Ok(());
        }
        let storages = self.made.iter().map(|made| &made.part.view.storage);
        match storages.into_iter().find(|storage| storage.policy().writes_back()) {
            None => Ok(()),
            Some(view) => {
                let (command, buffer) = (self.label.clone(), view.label.clone());
                let why = Box::new(GraphError::WrittenBack { command, buffer });
                Err(Error::Graph { graph: Label::NONE, why })
            }
        }
    }

    /// Takes its buffers, once it is finished.
    pub(crate) fn leases(&mut self) -> Leases {
        let storages = self.made.drain(..).map(|made| made.part.view.storage);
        (storages.collect(), std::mem::take(&mut self.pins))
    }
}
