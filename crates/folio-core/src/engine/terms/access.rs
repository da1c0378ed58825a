//! The use of a storage by a command.

use crate::geom::{Box3, Grid};
use crate::hal::MemRef;
use crate::order::hazards::Writing;
use crate::pages::DomainId;
use smallvec::SmallVec;
use std::cmp::Ordering;

/// Index of a storage in the ledger, and its number: where another storage has the index by now, an
/// id that was kept is not that one's.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub(crate) struct StorageId(pub u32, pub u32);

/// In the order in which they were made: which index one gets depends on when others went, and the
/// same program is to be the same commands each time, as ranks of a world rely on.
impl Ord for StorageId {
    fn cmp(&self, other: &StorageId) -> Ordering {
        (self.1, self.0).cmp(&(other.1, other.0))
    }
}

impl PartialOrd for StorageId {
    fn partial_cmp(&self, other: &StorageId) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Frames of an allocation, by their numbers: `to` is none of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub(crate) struct FrameSpan {
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// Memory that a command needs and a storage does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub(crate) struct Need {
    pub(crate) storage: StorageId,
    pub(crate) domain: DomainId,
    pub(crate) what: Lack,
}

/// What of a storage's memory is missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub(crate) enum Lack {
    /// The allocation, of which all is needed.
    Whole,
    /// The allocation, of which a part is needed.
    Part,
    /// Memory for these frames.
    Frames(FrameSpan),
}

/// Memory that is not there, each part of it once.
#[derive(Debug, Default)]
pub(crate) struct Missing(SmallVec<[Need; 4]>);

impl Missing {
    pub(crate) fn push(&mut self, need: Need) {
        self.0.push(need);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In order, each part once; who needs all of an allocation needs the part, too.
    pub(crate) fn tidied(mut self) -> Missing {
        self.0.sort_unstable();
        self.0.dedup_by(|later, first| {
            if (later.storage, later.domain) != (first.storage, first.domain) {
                return false;
            }
            match (&mut first.what, later.what) {
                (Lack::Frames(first), Lack::Frames(later)) if later.from <= first.to => {
                    first.to = first.to.max(later.to);
                    true
                }
                (Lack::Whole | Lack::Part, Lack::Whole | Lack::Part) => true,
                _ => false,
            }
        });
        self
    }
}

impl std::ops::Deref for Missing {
    type Target = [Need];

    fn deref(&self) -> &[Need] {
        &self.0
    }
}

impl FromIterator<Need> for Missing {
    fn from_iter<I: IntoIterator<Item = Need>>(needs: I) -> Missing {
        Missing(needs.into_iter().collect())
    }
}

/// How a command uses the elements of an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Reads.
    Read,
    /// Reads and writes.
    Update,
    /// Writes, and does not care for what was there. `whole`: is known to write every element.
    Discard { whole: bool },
}

impl Mode {
    pub(crate) fn writes(self) -> bool {
        self != Mode::Read
    }

    pub(crate) fn discards(self) -> bool {
        matches!(self, Mode::Discard { .. })
    }

    pub(crate) fn writing(self) -> Writing {
        match self {
            Mode::Discard { whole: true } => Writing::Replace,
            Mode::Discard { whole: false } => Writing::Discard,
            Mode::Read | Mode::Update => Writing::Update,
        }
    }
}

/// An access of a command, in the storage's own elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) storage: StorageId,
    pub(crate) elements: Box3,
    /// They are in all pages that the storage was made with.
    pub(crate) all: bool,
    pub(crate) mode: Mode,
    /// Where it is accessed.
    pub(crate) domain: DomainId,
    /// Where that is kept track of: the same, but for one side of a
    /// [link](crate::engine::memory::link).
    pub(crate) place: DomainId,
}

impl Access {
    /// An access to a storage of this grid.
    #[inline]
    pub(crate) fn new(
        (storage, grid): (StorageId, &Grid),
        elements: Box3,
        mode: Mode,
        domain: DomainId,
    ) -> Access {
        let all = grid.pages_of(&elements) == grid.all();
        Access { storage, elements, all, mode, domain, place: domain }
    }

    /// An access to all of a storage that is not empty.
    #[inline]
    pub(crate) fn whole(
        (storage, grid): (StorageId, &Grid),
        mode: Mode,
        domain: DomainId,
    ) -> Access {
        let elements = Box3::whole(grid.dims);
        Access { storage, elements, all: true, mode, domain, place: domain }
    }
}

/// The memory that a raw pointer names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawMem {
    pub(crate) mem: MemRef,
    pub(crate) domain: DomainId,
    /// Whose memory it is; `None`: the host's, of which the engine knows nothing.
    pub(crate) storage: Option<StorageId>,
}
