//! A device's properties, as its backend tells them.

use folio_kernel::Scalar;
use std::any::TypeId;

/// The broad class of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceKind {
    /// The host's processor, or a part of it.
    Cpu,
    /// A graphics processor.
    Gpu,
    /// Any other accelerator.
    Accelerator,
    /// A device that exists in software only, for tests.
    Simulated,
}

/// Which physical memory a device computes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemoryHome {
    /// The host's memory, at the host's addresses: buffers have one allocation for both.
    Host,
    /// Memory of its own. Devices of one backend with an equal key share it.
    Own(u32),
}

/// The cost of a copy between two memories: `op_ns + bytes / bytes_per_us`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Throughput in bytes per microsecond (MB/s).
    pub bytes_per_us: u64,
    /// Fixed cost of one operation in nanoseconds.
    pub op_ns: u64,
}

impl Link {
    /// Estimated nanoseconds for `ops` operations that move `bytes` together.
    pub fn estimate_ns(&self, bytes: u64, ops: u64) -> u64 {
        let moved = (u128::from(bytes) * 1000) / u128::from(self.bytes_per_us.max(1));
        u64::try_from(moved).unwrap_or(u64::MAX).saturating_add(ops.saturating_mul(self.op_ns))
    }
}

impl Default for Link {
    /// A plain PCIe-like link: 12 GB/s, 2 us an operation.
    fn default() -> Link {
        Link { bytes_per_us: 12_000, op_ns: 2_000 }
    }
}

/// Lanes of one backend whose devices have equal groups can wait for each other's ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WaitGroup(pub u32);

/// A device's capabilities. Everything optional is off by default.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Caps {
    /// Lanes can wait natively for lanes of devices of the same backend with the same group;
    /// `None`: not even two lanes of this device can.
    pub wait_group: Option<WaitGroup>,
    /// Host and device share one physical memory.
    pub unified: bool,
    /// Runs kernels that are host closures.
    pub closures: bool,
    /// Loads kernels in IR ([`super::KernelSource::Ir`]). The engine launches kernel functions so
    /// where the device does not run the host's code.
    pub ir: bool,
    /// The type of what [`super::KernelRef::Foreign`] is called with, if it can be.
    pub native: Option<TypeId>,
    /// Graphs take a [`super::KernelRef::Foreign`]: it is called while the graph is made, and what
    /// it enqueues is enqueued at each replay.
    pub captures: bool,
    /// Graphs take an [`Op::Branch`](super::Op::Branch). A branch that the driver cannot have is
    /// [unsupported](super::HalErrorKind::Unsupported).
    pub conditions: bool,
    /// Calls [`super::Notify::progress`]; otherwise the engine polls.
    pub notifies: bool,
    /// Lanes on which kernels run that do not depend on each other: from 1 to 4. A backend where
    /// kernels of several lanes would take turns on one queue of the driver has one.
    pub compute_lanes: u16,
    /// Has lanes for uploads and downloads that run beside compute; otherwise copies share the
    /// compute lane.
    pub copy_lanes: bool,
    /// [`super::Lane::timing`] works.
    pub timing: bool,
    /// [`super::Op::Hint`] works; without it hints have no effect.
    pub hints: bool,
    /// `f32` that are denormal are kept; otherwise they may be replaced by zeros of the same sign.
    pub denormals: bool,
    /// Divisions and square roots of `f32` are correctly rounded; otherwise they are within 3 ULP.
    pub exact_div_sqrt: bool,
    /// There is linked memory ([`super::AllocReq::linked`]), also over the host's where that is
    /// aligned to so many bytes.
    pub links: Option<u64>,
    /// Memory can be exported to other drivers ([`super::AllocReq::exported`]).
    pub exports: bool,
    /// Memory of the device's own can come in frames of so many bytes
    /// ([`super::UsmAllocator::reserve`]); `None`: an allocation has all of its memory.
    pub frame: Option<u64>,
    /// How much of [`DeviceInfo::memory`] the driver advises to use, in bytes, if it says: other
    /// programs may have some. The number is the device's budget where the program sets none.
    pub budget: Option<u64>,
    /// Kernels have `f64`.
    pub f64: bool,
    /// Kernels have atomic operations on 64 bits.
    pub atomics64: bool,
    /// The largest single allocation, in bytes.
    pub max_alloc: u64,
    /// Items of a group of any kernel, at most; `u64::MAX` where only its memory limits it. The
    /// engine holds launches to this and to [`local_memory`](Caps::local_memory) where the device
    /// runs the host's code; other devices refuse them by themselves ([`super::Device::check`]).
    pub group_items: u64,
    /// Bytes of local memory that a group of any kernel can have.
    pub local_memory: u64,
    /// Bytes of local memory that the groups share which a compute unit has in flight; 0 if that is
    /// not known.
    pub unit_local_memory: u64,
    /// Ways in which launches of items are cut into blocks and threads, with equal bits
    /// ([`Geometry::shape`](super::Geometry::shape)); 1 where there is no choice.
    pub shapes: u8,
    /// Items of a sub-group: 1 where there are none.
    pub subgroup: u32,
    /// Types of elements of which matrix units compute relaxed products of tiles (semantics 5.11).
    pub tiles: &'static [Scalar],
    /// Most parameters of one kernel.
    pub max_params: usize,
    /// Most operations that the engine hands to one lane before some end.
    pub max_in_flight: u32,
    /// Once so many operations have been handed over and nobody has waited for any, a thread of the
    /// engine's, the device's courier, makes these calls, and submitting takes no longer than the
    /// engine's own work. For devices where each is microseconds in a driver
    /// ([`Caps::spare_courier`]); `None`: no such thread. No more devices have one than half as
    /// many as there are processors, the first that ask.
    pub courier: Option<u32>,
    /// Calls for two lanes of the device by two threads take longer than one after the other.
    /// Whoever waits then leaves what is to be handed over to the courier, while that gets on.
    pub one_at_a_time: bool,
    /// Lanes may hold operations back until [`super::Lane::flush`]. The engine calls it some 50 us
    /// after something has been handed over, at longest after a millisecond or two, where nobody
    /// waits for it; but not while a lane is given one operation right after the other and nobody
    /// awaits any: then the lane itself passes them on, some hundreds later at most, and begins
    /// with them.
    pub batches: bool,
    /// Copies to and from the host's memory.
    pub host_link: Link,
}

impl Default for Caps {
    fn default() -> Caps {
        Caps {
            wait_group: None,
            unified: false,
            closures: false,
            ir: false,
            native: None,
            captures: false,
            conditions: false,
            notifies: false,
            compute_lanes: 4,
            copy_lanes: false,
            timing: false,
            hints: false,
            denormals: false,
            exact_div_sqrt: false,
            links: None,
            exports: false,
            frame: None,
            budget: None,
            f64: false,
            atomics64: false,
            max_alloc: u64::MAX,
            group_items: u64::MAX,
            // The least that OpenCL and Vulkan devices have.
            local_memory: 16 << 10,
            unit_local_memory: 0,
            shapes: 1,
            subgroup: 1,
            tiles: &[],
            max_params: 64,
            max_in_flight: 4096,
            courier: None,
            one_at_a_time: false,
            batches: false,
            host_link: Link::default(),
        }
    }
}

impl Caps {
    /// The usual [`courier`](Caps::courier) of a device: there is one if the host has a processor
    /// to spare.
    pub fn spare_courier() -> Option<u32> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        (processors >= 4).then_some(16)
    }
}

/// The features that kernels can use on a device, and how much of each. A program asks before it
/// chooses how large its groups are, or which element type it computes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// `f64`.
    pub f64: bool,
    /// `f16` and `bf16`. They are formats of storage: every device so far computes them in `f32`.
    pub f16: bool,
    /// Atomic operations on 64 bits.
    pub atomics64: bool,
    /// Items of a group, in all its dimensions together; `u64::MAX` where only memory limits them.
    pub group_items: u64,
    /// Bytes of local memory of a group.
    pub local_memory: u64,
    /// Items of a sub-group: 1 where there are none.
    pub subgroup: u32,
    /// Bytes of the device's memory.
    pub memory: u64,
}

/// A device's properties before it is opened.
#[derive(Clone, Debug)]
pub struct DeviceInfo {
    /// The product's name.
    pub name: String,
    /// Who made it.
    pub vendor: String,
    /// The driver and its version.
    pub driver: String,
    /// Its class.
    pub kind: DeviceKind,
    /// The same physical device seen through two APIs has equal ids.
    pub uuid: Option<[u8; 16]>,
    /// Where its memory is.
    pub home: MemoryHome,
    /// Size of its memory in bytes ([`super::UsmAllocator::memory`] knows what is left).
    pub memory: u64,
    /// How many kernels' blocks run at once, roughly; the load balancer's unit.
    pub compute_units: u32,
    /// Its capabilities.
    pub caps: Caps,
}

impl DeviceInfo {
    /// The features that kernels can use on it.
    pub fn limits(&self) -> Limits {
        let Caps { f64, atomics64, group_items, local_memory, subgroup, .. } = self.caps;
        let memory = self.memory;
        Limits { f64, f16: true, atomics64, group_items, local_memory, subgroup, memory }
    }
}
