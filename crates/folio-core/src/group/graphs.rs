//! What command graphs need of groups.

use super::CommandGroup;
use crate::buffer::StorageHandle;
use crate::error::{Error, GraphError, Label, Result};
use crate::graph::Parameter;
use std::sync::Arc;

/// What a node keeps: its buffers, and failures that are not to be forgotten.
pub(crate) type Leases = (Vec<Arc<StorageHandle>>, Vec<Arc<u32>>);

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

    pub(crate) fn leases(&mut self) -> Leases {
        let storages = self.made.iter().map(|made| made.part.view.storage.clone());
        let storages = storages.collect();
        (storages, std::mem::take(&mut self.rare().pins))
    }
}
