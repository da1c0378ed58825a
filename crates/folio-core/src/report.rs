//! Counters: what has been moved, filled, launched and allocated.

/// Copies in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moves {
    /// Rectangles that went from one memory to the other.
    pub operations: u64,
    /// Bytes.
    pub bytes: u64,
    /// Pages, counted once each time they are brought somewhere.
    pub pages: u64,
}

impl Moves {
    pub(crate) fn add(&mut self, operations: u64, bytes: u64, pages: u64) {
        self.operations += operations;
        self.bytes += bytes;
        self.pages += pages;
    }

    /// What came after `before`.
    pub(crate) fn since(&self, before: Moves) -> Moves {
        Moves {
            operations: self.operations - before.operations,
            bytes: self.bytes - before.bytes,
            pages: self.pages - before.pages,
        }
    }
}

/// What happened so far to a buffer, on a queue, or in a runtime. Transfers are counted when they
/// are planned; only copies that the runtime decided on are transfers, a user's own copy commands
/// are `copies`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// From the host's memory to a device's.
    pub host_to_device: Moves,
    /// From a device's memory to the host's.
    pub device_to_host: Moves,
    /// From one device's memory to another's, directly or through the host.
    pub device_to_device: Moves,
    /// Pieces of copies between devices, the user's included, that went by way of the host.
    pub chunks: u64,
    /// Memory of others that a device uses as its own: the host's, such as that of a view, once for
    /// each buffer and device; and a driver's, by
    /// [`Usm::from_raw`](crate::Usm::from_raw). Nothing is allocated for that, and
    /// no budget counts it.
    pub imports: u64,
    /// Bytes of that.
    pub imported_bytes: u64,
    /// Memory of the host that a device which shares it could not use as its own, so that data are
    /// copied: once for each buffer and device. [`Buffer::linkage`](crate::Buffer::linkage) says
    /// why.
    pub refused_imports: u64,
    /// Linked memory was mapped for the host.
    pub maps: u64,
    /// Linked memory was unmapped for its device.
    pub unmaps: u64,
    /// Regions that were zeroed because nothing had written them.
    pub zero_fills: u64,
    /// Copy commands of the user.
    pub copies: u64,
    /// Fill commands of the user.
    pub fills: u64,
    /// Prefetches and advice.
    pub hints: u64,
    /// Kernels handed to a backend.
    pub launches: u64,
    /// Replays of a device's own graphs, each of which is one operation. What their nodes do is
    /// counted as if it had been handed over one by one.
    pub replays: u64,
    /// Host tasks.
    pub host_tasks: u64,
    /// Allocations made, those for packing included.
    pub allocations: u64,
    /// Bytes of the allocations made.
    pub allocated_bytes: u64,
    /// Of those, bytes of page-locked memory on the host.
    pub page_locked_bytes: u64,
    /// Calls by which frames of memory that comes in frames have got memory, each for frames that
    /// follow one another.
    pub frame_maps: u64,
    /// Bytes of those frames.
    pub mapped_bytes: u64,
    /// Bytes of frames that gave memory back while their buffer lived.
    pub unmapped_bytes: u64,
    /// Copies that gave way to memory that was asked for.
    pub evictions: u64,
    /// Bytes of those.
    pub evicted_bytes: u64,
    /// Operations that could not be handed over at once because they wait for the host or for
    /// a backend whose progress theirs cannot see.
    pub deferred: u64,
}

impl Counters {
    /// All transfers together.
    pub fn transfers(&self) -> Moves {
        let all = [self.host_to_device, self.device_to_host, self.device_to_device];
        all.iter().fold(Moves::default(), |mut sum, m| {
            sum.add(m.operations, m.bytes, m.pages);
            sum
        })
    }
}
