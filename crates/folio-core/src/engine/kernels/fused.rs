//! The fused kernels of a device: the code that it has loaded, by content, and what making them has
//! cost. Fusion itself is above the engine (`graph/fuse`).

use crate::engine::kernels::loaded::{LoadedKernel, LoadedTable};
use crate::error::Label;
use crate::hal::NativeKernel;
use crate::sync::Mutex;
use folio_kernel::ContentHash;
use folio_kernel::fuse::Costs;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// The properties of a fused launch.
#[derive(Clone)]
pub(crate) struct Fused {
    /// The names of its parameters that are memory, in their order.
    pub(crate) names: Vec<Label>,
    /// For devices that run the host's code.
    pub(crate) chain: Option<Arc<dyn NativeChain>>,
    /// On other devices.
    pub(crate) loaded: Option<Arc<LoadedKernel>>,
    /// Why one of them may fail by itself, if one may: a check is left in it.
    pub(crate) fails: Option<Arc<str>>,
    /// A kernel of it has a reduction over the launch.
    pub(crate) reduces: bool,
    /// The scalars of the launch that are scalars of its kernels.
    pub(crate) sources: Vec<ScalarSource>,
}

/// Words of a fused launch, and where they are among the scalars of its kernels, one behind the
/// other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ScalarSource {
    pub(crate) at: usize,
    pub(crate) from: usize,
    pub(crate) count: usize,
}

impl Fused {
    /// Gives a launch of loaded code the scalars of its kernels.
    pub(crate) fn set_scalars(&self, scalars: &mut [u64], words: &[u64]) {
        for ScalarSource { at, from, count } in self.sources.iter().copied() {
            if let (Some(own), Some(new)) =
                (scalars.get_mut(at..at + count), words.get(from..from + count))
            {
                own.copy_from_slice(new);
            }
        }
    }
}

/// Kernel functions that run as one on the host's code.
pub(crate) trait NativeChain: Send + Sync {
    /// The kernel of one run; none if one of the functions has none.
    fn native(self: Arc<Self>) -> Option<NativeKernel>;

    /// The same functions with other scalars: those of all of them, one behind the other.
    fn with_scalars(&self, words: &[u64]) -> Arc<dyn NativeChain>;
}

/// The cost of the fusion of a device's graphs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FusionCounters {
    /// Graphs, and parts of graphs, that were planned.
    pub plans: u64,
    /// Commands that plans were asked about, each as often as it was.
    pub nodes: u64,
    /// How long that took.
    pub planning: Duration,
    /// Fused kernels that plans had.
    pub kernels: u64,
    /// Kernels whose code was there.
    pub found: u64,
    /// Kernels that the device has compiled. A device that runs the host's code compiles none.
    pub compiled: u64,
    /// How long that took.
    pub compiling: Duration,
}

/// The fused kernels of a device.
#[derive(Default)]
pub(crate) struct FusedKernels {
    /// By all of their content, and not by its hash: a device runs what is found, and texts with
    /// one hash can be made. Held while one is compiled, so that it is compiled once.
    pub(crate) loaded: Mutex<LoadedTable<String>>,
    /// And the contents of the chains that were made.
    pub(crate) counters: Mutex<(FusionCounters, HashSet<ContentHash>)>,
    /// The device's costs, once it has been asked: as it was measured, if it was.
    pub(crate) costs: Mutex<Option<Costs>>,
}
