//! Bugs on purpose, to test those who are to find such: where the engine does the right thing it
//! asks here whether to leave it out. It never is without the feature `planted`, of which only
//! tests know.

/// What a runtime leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// To refuse accesses of one command that overlap.
    AliasCheck,
    /// To wait at the end of a scope.
    ScopeWait,
    /// To keep what a graph leaves in buffers of which the program has handles.
    HeldBuffer,
    /// To keep what the next run of a graph reads.
    LastRun,
    /// To plan fusion anew when a node has been exchanged.
    NewPlan,
    /// To count internal memory as never written after a run.
    InternalMemory,
    /// To keep host tasks where they are among kernels that fusion joins.
    TaskOrder,
    /// To have the commands of a run come after those to which its graph's edges lead.
    LostEdge,
    /// To have a list wait for what other accesses of it wait for than the first.
    FirstOnly,
    /// To have a run fail with the first of those commands whose failure no other one takes over.
    LostFailure,
    /// To compile a list again when a node has been exchanged.
    OldList,
    /// To exchange no node of a device's graph while a replay of it is on its way.
    EarlyExchange,
    /// To give a temporary memory that no other one uses meanwhile.
    SharedAlive,
    /// To compare the values of a kernel call in a block with those of the block that it takes for
    /// it.
    OtherValues,
    /// To exchange commands of a block in the device's graph.
    StaleScalar,
    /// To refuse a list of which another thread has exchanged commands.
    OldVersion,
    /// To stop at the end of a smaller range, where a CPU runs kernels one after the other.
    StageBound,
    /// To hand the pieces of a page to the pages that it is cut into.
    LostPieces,
    /// To give memory to all frames that follow one another.
    FirstFrame,
    /// To bring all boxes of what a part of a spread launch reads.
    FirstBox,
    /// To unlock the ledger before values of the program's are dropped.
    DropsUnderLock,
    /// Something that a plan of fusion does.
    #[cfg(feature = "planted")]
    Fusion(folio_kernel::fuse::Planted),
}

/// The bug of a runtime.
#[derive(Clone, Copy, Default)]
pub(crate) struct Plant {
    #[cfg(feature = "planted")]
    pub(crate) bug: Option<Planted>,
}

impl Plant {
    /// True if the runtime has this bug.
    #[inline(always)]
    pub(crate) fn is(self, _bug: Planted) -> bool {
        #[cfg(feature = "planted")]
        return self.bug == Some(_bug);
        #[cfg(not(feature = "planted"))]
        false
    }

    /// The bug of plans of fusion.
    pub(crate) fn of_fusion(self) -> folio_kernel::fuse::Planted {
        #[cfg(feature = "planted")]
        if let Some(Planted::Fusion(bug)) = self.bug {
            return bug;
        }
        folio_kernel::fuse::Planted::default()
    }
}
