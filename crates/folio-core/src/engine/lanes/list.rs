//! Lists as lanes and the ledger have them: the native graph, and the names, storages and code that
//! its replays need. How lists are made, exchanged and submitted is
//! `runs::list`'s.

use crate::engine::kernels::loaded::LoadedKernel;
use crate::engine::lanes::native::Native;
use crate::engine::terms::access::{Access, RawMem, StorageId};
use crate::error::{Cause, GraphError, Label};
use crate::hal::{HalError, HalErrorKind, HostPtr, MemRef, OpKind};
use std::sync::Arc;

/// Commands that a device does as one operation.
pub(crate) struct List {
    pub(crate) native: Arc<Native>,
    /// The native graph does what this list says while it is of this version.
    pub(in crate::engine) version: u64,
    pub(in crate::engine) uses: Arc<Uses>,
    /// The code that its launches name, or have named before an exchange.
    pub(in crate::engine) code: Vec<Arc<LoadedKernel>>,
    pub(crate) fixed: Arc<ListFacts>,
}

/// The union of a list's accesses.
pub(crate) struct Uses {
    pub(crate) accesses: Vec<Access>,
    /// Where the memory of each was.
    pub(in crate::engine) memory: Vec<Option<AllocNames>>,
}

/// The properties of a list that an exchange leaves as they are.
pub(crate) struct ListFacts {
    /// The memory that its commands name by pointers.
    pub(crate) raw: Vec<RawMem>,
    /// The commands' names, for failures.
    pub(in crate::engine) names: Vec<(&'static str, Label)>,
    /// The conditional nodes, also those in bodies.
    pub(crate) branches: Branches,
    /// By command: the earlier ones that it comes after.
    pub(crate) after: Vec<Vec<usize>>,
    /// How many operations of each kind it has.
    pub(in crate::engine) counts: Counts,
}

/// By kind of operation: how many.
pub(in crate::engine) type Counts = [u64; OpKind::ALL.len()];

/// An allocation: how the device, its kernels and the host name it.
pub(in crate::engine) type AllocNames = (MemRef, Option<u64>, Option<HostPtr>);

impl List {
    /// The storages that its commands use; some of them several times.
    pub(in crate::engine) fn storages(&self) -> impl Iterator<Item = StorageId> {
        self.uses.accesses.iter().map(|access| access.storage)
    }

    /// The code that its launches name.
    pub(crate) fn code(&self) -> &[Arc<LoadedKernel>] {
        &self.code
    }

    /// The name of a command, and its label.
    pub(crate) fn name(&self, node: u32) -> Option<&(&'static str, Label)> {
        self.fixed.names.get(node as usize)
    }

    /// The names and labels of its commands.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&'static str, &Label)> {
        self.fixed.names.iter().map(|(what, label)| (*what, label))
    }

    /// The union of its commands' accesses.
    pub(crate) fn accesses(&self) -> &[Access] {
        &self.uses.accesses
    }

    /// The native graph does what this list says. True for good only under the ledger's lock.
    pub(in crate::engine) fn is_current(&self) -> bool {
        self.native.version() == self.version
    }
}

/// The conditional nodes of a graph, also those in bodies, by number.
#[derive(Default)]
pub(crate) struct Branches(pub(in crate::engine) Vec<BranchNames>);

/// The names of a conditional node, for failures.
pub(in crate::engine) struct BranchNames {
    pub(in crate::engine) command: Label,
    /// The buffer that has its value.
    pub(in crate::engine) buffer: Label,
    /// The most times, if it is a loop.
    pub(in crate::engine) limit: Option<u64>,
}

impl Branches {
    /// The cause of a failure that the device has reported.
    pub(crate) fn cause(&self, error: HalError) -> Cause {
        match error.kind {
            HalErrorKind::Limit(number) => match self.0.get(number as usize) {
                Some(BranchNames { command, buffer, limit: Some(limit) }) => {
                    let (command, buffer, limit) = (command.clone(), buffer.clone(), *limit);
                    Cause::Graph(Arc::new(GraphError::LimitReached { command, buffer, limit }))
                }
                _ => Cause::from(error),
            },
            _ => Cause::from(error),
        }
    }
}
