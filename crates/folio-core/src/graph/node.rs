//! Nodes of graphs: what they are called by, and what they are.

use crate::error::{Error, Result};
use folio_kernel::fuse::OtherWork;
use std::fmt;

/// The result of a closure that describes a node: `()`, or a `Result`.
pub trait NodeResult {
    #[doc(hidden)]
    fn into_result(self) -> Result<()>;
}

impl NodeResult for () {
    fn into_result(self) -> Result<()> {
        Ok(())
    }
}

impl<R> NodeResult for Result<R, Error> {
    fn into_result(self) -> Result<()> {
        self.map(drop)
    }
}

/// A node of a [`Graph`](crate::Graph), and of what is made of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Node {
    pub(super) graph: u64,
    pub(super) at: u32,
}

macro_rules! kinds {
    ($($kind:ident = $name:literal, $other:ident: $what:literal,)*) => {
        /// The kind of a node.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum NodeKind {
            $(#[doc = $what] $kind,)*
        }

        impl NodeKind {
            /// For fusion, where it is no kernel of which there is IR.
            pub(super) fn other(self) -> OtherWork {
                match self {
                    $(NodeKind::$kind => OtherWork::$other,)*
                }
            }
        }

        impl fmt::Display for NodeKind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(NodeKind::$kind => $name,)*
                })
            }
        }
    };
}

kinds! {
    Empty = "empty node", Marker: "Only a point in the order.",
    Barrier = "barrier", Marker: "A barrier of a recorded queue.",
    Kernel = "kernel", OpaqueKernel: "A kernel.",
    Copy = "copy", Copy: "A copy.",
    Fill = "fill", Fill: "A fill.",
    Hint = "hint", Marker: "A hint about USM: a prefetch, or advice.",
    Prefetch = "prefetch", Marker: "Brings data of a buffer somewhere.",
    HostTask = "host task", HostTask: "A host task.",
    Interop = "interop task", Library: "A task that calls a driver, or a library over it.",
    Graph = "graph", Marker: "All of another graph.",
    If = "if", Marker: "A choice of two graphs, or none.",
    While = "while", Marker: "A graph again and again.",
    Switch = "switch", Marker: "A choice of several graphs.",
}
