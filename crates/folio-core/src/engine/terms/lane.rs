//! Lanes by their numbers, and which of them can wait for each other.

use crate::hal::WaitGroup;

/// Lanes per device: at most four for kernels, one for each direction of copies. Lanes that a
/// device does without are aliases of another one ([`Topology::lane_alias`]).
pub(crate) const LANES_PER_DEVICE: u16 = 8;
pub(crate) const COMPUTE_LANES: u16 = 4;

/// Which lanes can wait for each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WaitKey {
    pub(crate) backend: u16,
    pub(crate) group: Option<WaitGroup>,
}

impl WaitKey {
    pub(crate) fn can_wait_for(self, other: WaitKey) -> bool {
        self.backend == other.backend && self.group.is_some() && self.group == other.group
    }
}
