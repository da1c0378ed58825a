//! Options of fusion for a graph that is finalized.

use folio_kernel::fuse::{Costs, Mode, Options};

/// How a graph is made into what runs: [`Graph::finalize_with`](crate::Graph::finalize_with).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct FinalizeOptions {
    enable: bool,
    require: bool,
    barriers: bool,
    costs: Option<Costs>,
}

impl FinalizeOptions {
    /// Kernels stay as they are.
    pub fn new() -> FinalizeOptions {
        FinalizeOptions::default()
    }

    /// A wish: kernels that gain by it become one launch. It is never an error; what was not fused,
    /// and why, is in the [report](crate::Executable::fusion_report).
    pub fn enable_fusion(self) -> FinalizeOptions {
        FinalizeOptions { enable: true, ..self }
    }

    /// An order: all kernels of the graph become one launch, those of each graph within it another
    /// one. Errors are [`FeatureNotSupported`](crate::error::GraphError::FeatureNotSupported) by a
    /// device that does not fuse, and
    /// [`KernelNotSupported`](crate::error::GraphError::KernelNotSupported) where these kernels
    /// cannot be one launch.
    pub fn require_fusion(self) -> FinalizeOptions {
        FinalizeOptions { require: true, ..self }
    }

    /// Barriers of the work-group between fused kernels, so that an item may use what other items
    /// of its group have left. Without one of the two above it has no effect.
    pub fn insert_barriers(self) -> FinalizeOptions {
        FinalizeOptions { barriers: true, ..self }
    }

    /// `enable_fusion` decides by these constants, and not by [those of the
    /// device](crate::DeviceRef::fusion_costs).
    ///
    /// ```
    /// use folio_core::graph::{FinalizeOptions, FusionCosts};
    ///
    /// // Launches cost nothing, so kernels that pass no data on stay apart.
    /// let costs = FusionCosts { launch_ns: 0, ..FusionCosts::GPU };
    /// let options = FinalizeOptions::new().enable_fusion().costs(costs);
    /// ```
    pub fn costs(self, costs: Costs) -> FinalizeOptions {
        FinalizeOptions { costs: Some(costs), ..self }
    }

    pub(in crate::graph) fn wanted(self) -> Option<Wanted> {
        let mode = match (self.require, self.enable) {
            (true, _) => Mode::Require,
            (false, true) => Mode::Enable,
            (false, false) => return None,
        };
        Some(Wanted { mode, barriers: self.barriers, costs: self.costs })
    }
}

/// Fusion that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::graph) struct Wanted {
    mode: Mode,
    barriers: bool,
    /// In place of the device's.
    pub(super) costs: Option<Costs>,
}

impl Wanted {
    pub(super) fn options(self, bake: bool) -> Options {
        Options { mode: self.mode, insert_barriers: self.barriers, bake }
    }
}
