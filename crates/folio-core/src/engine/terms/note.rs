//! Notes that the engine takes under the ledger's lock, to tell a trace subscriber afterwards.

use crate::error::Label;
use crate::geom::Box3;
use crate::order::hazards::Deps;
use crate::order::stamp::{LaneId, Stamp};
use crate::pages::DomainId;
use crate::report::Moves;
use folio_kernel::checks::Check;
use smallvec::SmallVec;
use std::sync::Arc;

/// Where an operation is: its lane, unless it is the host's, and its tick, if it has got one.
pub(crate) type LaneTick = (Option<LaneId>, Option<u64>);

/// The dependencies of a command, and the transfers for it.
pub(crate) struct Plan {
    pub(crate) what: &'static str,
    pub(crate) label: Label,
    /// The kernel, if it launches one that has a name.
    pub(crate) kernel: Option<Arc<str>>,
    pub(crate) stamp: Stamp,
    pub(crate) accesses: usize,
    pub(crate) after: Deps,
    pub(crate) moves: Moves,
    /// The run-time checks that are left in a launch of a `#[kernel]`.
    pub(crate) checks: Option<Box<[Check]>>,
    /// Its kernel has fast forms, whose bits differ between devices.
    pub(crate) fast: bool,
    /// Which fusion it took part in, or why it did not.
    pub(crate) fusion: Option<Arc<str>>,
}

/// Something that happened.
pub(crate) enum Note {
    /// A command was accepted.
    Plan(Box<Plan>),
    /// Memory was allocated, or a device has memory of others as its own.
    Allocate { what: &'static str, label: Label, on: DomainId, bytes: u64, imported: bool },
    /// A transfer was planned.
    Transfer {
        label: Label,
        stamp: Stamp,
        after: Deps,
        from: DomainId,
        to: DomainId,
        /// Elements.
        boxes: SmallVec<[Box3; 2]>,
        bytes: u64,
        pages: u64,
    },
    /// Memory that was never written is zeroed.
    Zero { label: Label, stamp: Stamp, after: Deps, on: DomainId, boxes: SmallVec<[Box3; 2]> },
    /// Linked memory is mapped for the host, or unmapped for its device.
    Switch { label: Label, stamp: Stamp, after: Deps, on: DomainId, maps: bool },
    /// An operation got its place.
    Launch { what: &'static str, label: Label, stamp: Stamp, place: LaneTick },
    /// An operation ended, or will not run. A timed one has its times in its lane.
    Complete {
        what: &'static str,
        label: Label,
        stamp: Stamp,
        place: LaneTick,
        failed: bool,
        timed: bool,
    },
    /// A command of an operation that is several ends with it. Told before that, with its number.
    Member { what: &'static str, label: Label, stamp: Stamp, number: usize },
}
