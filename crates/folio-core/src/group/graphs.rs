//! What command graphs need of groups.

use super::CommandGroup;
use crate::buffer::StorageHandle;
use crate::error::{Error, GraphError, Label, Result};
use crate::graph::Parameter;
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

/// What a node keeps: its buffers, and failures that are not to be forgotten.
pub(crate) type Leases = SmallVec<[Arc<StorageHandle>; 4]>;

impl CommandGroup {
    /// The value of a parameter, for a command that is described with it. A graph describes the
    /// node again when the value has changed: see
    /// [`Graph::add_updatable`](crate::Graph::add_updatable).
    pub fn parameter<T: Clone + Send + Sync + 'static>(&mut self, parameter: &Parameter<T>) -> T {
        let (value, read) = parameter.read();
        self.rare().parameters.push(read);
        value
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
        self.made.drain(..).map(|made| made.part.view.storage).collect()
    }
}
