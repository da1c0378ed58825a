//! What an operation of a lane, or a node of a graph, does.

use super::{Args, Branch, CopyRect, FillRect, Geometry, Graph, Hint, KernelRef, MemRef, Side};
use std::fmt;
use std::sync::Arc;

/// What one operation does: the same for [`Lane::enqueue`](super::Lane::enqueue) and for the
/// [nodes](super::Node) of a graph.
///
/// A backend refuses an operation that it does not know, as
/// [unsupported](super::HalError::unsupported). An operation to come is one more variant: the
/// compiler then names the layers and the parts of the engine that must know it, and each backend
/// refuses it until it is taught.
#[derive(Clone, Copy, Debug)]
pub enum Op<'a> {
    /// Copies rectangles, all of which may run at once. Memory of the host is read and written in
    /// the lane's order, too: what an operation ahead brings there is what is copied.
    Copy(&'a [CopyRect]),
    /// Fills rectangles with a pattern, repeated; rows are multiples of its length.
    Fill(&'a [FillRect], &'a [u8]),
    /// Runs a kernel. [`Caps::closures`](super::Caps::closures) tells whether
    /// [`KernelRef::Native`] is possible; what is [`KernelRef::Loaded`] was loaded by this device.
    /// Refused, the call leaves the kernel where it is; it never drops one in the call.
    ///
    /// [`KernelRef::Foreign`], where [`Caps::native`](super::Caps::native) names a type, is called
    /// in the call, behind what the operation waits for, without a lock of the backend's. The
    /// operation ends when what the closure has enqueued has ended, also if the closure fails.
    Launch(KernelRef<'a>, &'a Geometry, Args<'a>),
    /// Passes a hint on about this many bytes: no effect on data. Only where
    /// [`Caps::hints`](super::Caps::hints) says so.
    Hint(MemRef, u64, Hint),
    /// Changes who uses a linked allocation ([`AllocReq::linked`](super::AllocReq::linked)), all of
    /// which is named. It is mapped for the host, which may use it at
    /// [`Allocation::host`](super::Allocation::host), always the same place, once the tick is
    /// reached, and finds what the device has written; or it is unmapped for the device. Each of
    /// the two follows the other; the other side's uses have ended. Only where
    /// [`Caps::links`](super::Caps::links) says so.
    Switch(MemRef, u64, Side),
    /// Does what the nodes of a graph do, as one operation. The graph is this device's; the lane
    /// holds it until the operation has ended.
    Replay(&'a Arc<dyn Graph>),
    /// Does what a value chooses. Only as a node of a graph, where
    /// [`Caps::conditions`](super::Caps::conditions) says so.
    Branch(&'a Branch<'a>),
    /// Nothing: it ends when what it comes after has ended.
    Join,
}

macro_rules! kinds {
    ($($kind:ident = $name:literal),* $(,)?) => {
        /// The kinds of operations.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum OpKind {
            $(#[doc = concat!("[`Op::", stringify!($kind), "`].")] $kind,)*
        }

        impl OpKind {
            /// All of them.
            pub const ALL: &[OpKind] = &[$(OpKind::$kind),*];

            /// What it is called in messages.
            pub fn name(self) -> &'static str {
                match self {
                    $(OpKind::$kind => $name,)*
                }
            }
        }

        impl Op<'_> {
            /// Its kind.
            pub fn kind(&self) -> OpKind {
                match self {
                    $(Op::$kind { .. } => OpKind::$kind,)*
                }
            }
        }
    };
}

kinds! {
    Copy = "copy",
    Fill = "fill",
    Launch = "launch",
    Hint = "hint",
    Switch = "switch",
    Replay = "replay",
    Branch = "condition",
    Join = "join",
}

impl fmt::Display for OpKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Op<'_> {
    /// What it is called in messages.
    pub fn name(&self) -> &'static str {
        self.kind().name()
    }
}
