//! The contract of backends.
//!
//! A backend presents *devices*; a device owns *memory* and executes work on *lanes*. Everything
//! clever (what to copy, what waits for what, what failed because of what) is the engine's; a
//! backend moves bytes and runs kernels in the order that it is told, and reports how far it got.
//!
//! # The contract
//!
//! The traits are `unsafe` because the engine's soundness rests on these promises. `folio-layers`
//! checks them at run time, `folio-conformance` tests them, and `folio-sim` keeps them without any
//! driver: copy it to start a new one.
//!
//! **Who checks what.** The engine validates everything that a user can get wrong before it calls
//! a backend: memory references lie inside live allocations of a device that the lane can reach,
//! rectangles do not overflow, a kernel's parameters do not alias. A backend need not check again;
//! that is why [`Backend::open`], by which everything else is reached, is unsafe to call.
//!
//! **Ticks.** A lane is an in-order queue. Each call of [`Lane::enqueue`] carries the next tick of
//! that lane: 1, 2, 3, without gaps. Calls come one at a time per lane (the engine holds the lane's
//! lock), from changing threads. All other methods may be called at any time from any thread.
//!
//! **Every tick is reached.** An operation that fails, in the call or later, counts as finished
//! when everything has finished that it comes after: on its lane, and by its waits. Its failure is
//! told once through the call's result or through [`Lane::failures`], and later operations of the
//! lane run as if it had not failed. A call that returns an error has consumed its tick; what it
//! had begun of its work has ended when that is reached; later operations that wait for that tick
//! rely on what it waited for. (A backend puts [`Op::Join`] in its place.) Only the loss of the
//! device is sticky: calls may return [`HalErrorKind::Lost`] as soon as the driver says so, and
//! [`Lane::completed`] and [`Lane::wait`] return [`Lost`] from when nothing of the device touches
//! memory any more.
//!
//! **Kernels.** An operation owns its host code until it ends: [`Lane::enqueue`] takes it out of
//! its [`KernelRef::Native`]. A launch that is refused leaves it there. A closure's captures are
//! the user's, and so is its drop, which may submit to this very lane; the engine, which holds the
//! lane's lock during the call, drops what was left when it has let go.
//!
//! **Graphs.** A backend may take operations that a program repeats all at once, with their order
//! among one another ([`Device::graph`]), and do them again in one operation of a lane
//! ([`Op::Replay`]), which begins when its first node can and ends when all have; a failure of one
//! is the replay's, and if several fail, that of the first in the graph's order that the backend
//! knows of. Each node may run when those have ended that it names. Memory and loaded code to which
//! nodes refer are there for as long as the graph may be replayed, and the engine's promises for
//! operations hold for the nodes of each replay: nobody else uses their memory against its mode, so
//! that no two replays of one graph overlap. Their tick order says that, or a wait;
//! [`Graph::update`] concerns replays that are not issued yet.
//!
//! **Completion.** `completed() >= t` means: every operation up to `t` has ended, what it wrote is
//! visible to the host and to any lane that starts later, its closure and parameters are dropped,
//! and each failure among them is already available from `failures`. A tick tells nothing of other
//! lanes: an operation may show as ended before the lane of a tick that it waited for shows that
//! tick. The engine reports an operation after every tick that it waited for, whatever lane shows
//! first.
//!
//! **Order.** An operation with [`Order::AfterPrevious`] starts after all earlier operations of its
//! lane; with [`Order::Free`] it may overlap them (never the ones named in its waits). An operation
//! starts after all of its [`Head::waits`]. The engine names a lane of another device there only
//! where both devices report the same [`Caps::wait_group`], and only ticks whose call has returned.
//! A wait for a tick is one for everything up to it. A batching backend flushes the lane that is
//! waited for. A wait for a tick of a lost device ends as if the tick had been reached: what that
//! means for the data is the engine's business.
//!
//! **Progress.** Once a call returned, the work proceeds without further calls, except that a
//! batching backend may hold it back until [`Lane::flush`], and that a backend may leave work to
//! the threads that call [`Lane::drive`], [`Lane::flush`] and [`Lane::wait`]. The engine calls
//! these without any lock, and one of them again and again while it is interested in a lane; the
//! others may be called under its locks, and so run and drop no kernel. After a lane makes
//! progress, a backend whose [`Caps::notifies`] is set calls [`Notify::progress`].
//!
//! **Memory.** An allocation stays valid until [`UsmAllocator::free`]; the engine calls that only
//! after every operation that names it has been reached, or its device is lost. A request to import
//! memory that a device cannot use fails as [`HalErrorKind::Unsupported`]; it never falls back to
//! fresh memory. A reserved allocation ([`UsmAllocator::reserve`]) has memory where it was
//! [mapped](UsmAllocator::map), at one address all its life; the engine calls map, unmap and free
//! of an allocation one at a time. Memory of a peer is named only after [`Device::peer`] has
//! returned a link to it.
//!
//! **Leaving.** Handles may be dropped with work under way. Work that was handed over is finished
//! or discarded, closures are dropped, and nothing is freed that the device may still use.
//!
//! The process may end while threads are in calls: see [`Calls`].
//!
//! **No panics.** A backend contains panics of kernels and reports them as [`HalErrorKind::Panic`].
//! The backend never calls back into the engine except through [`Notify`].

mod calls;
mod caps;
mod compiling;
mod error;
mod graph;
mod kernel;
mod mem;
mod notify;
mod op;
mod opaque;
mod wire;

pub use calls::Calls;
pub use caps::{Caps, DeviceInfo, DeviceKind, Limits, Link, MemoryHome, WaitGroup};
pub use compiling::compiling;
pub(crate) use compiling::{compiled_here, tell as tell_compiled};
pub use error::{HalError, HalErrorKind, Lost, PanicPayload, Unavailable};
pub use graph::{BodyNode, Branch, Choice, Graph, Node};
pub use kernel::{
    Args, Block, BlockKernel, Geometry, KernelHandle, KernelId, KernelRef, KernelSource, NativeIr,
    NativeKernel, Param, ParamPtr, Verdict,
};
pub use mem::{
    Advice, AllocKind, AllocReq, Allocation, CopyRect, Exported, ExportedFile, FillRect, Hint,
    HostPtr, MemBase, MemRef, MemoryInfo, PointerInfo, RawMemory, Side,
};
pub use notify::Notify;
pub use op::{Op, OpKind};
pub use opaque::{Argument, Foreign, Image, Source};
pub use wire::{Arrival, NOTE, NUMBERS, Rank, Wire, WireError};

use std::any::Any;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// A position on a lane; the first operation has tick 1.
pub type Tick = u64;

/// A family of devices behind one API.
///
/// # Safety
/// The devices that it opens keep the contract of this module.
pub unsafe trait Backend: Send + Sync + 'static {
    /// Short lower-case name, the part before the colon in `cpu:0`.
    fn name(&self) -> &str;

    /// The devices that are there. Opens none. Without a driver: why there are none.
    fn devices(&self) -> Result<Vec<DeviceInfo>, Unavailable>;

    /// Opens device `index` of [`Backend::devices`]. Called at most once per index and runtime.
    ///
    /// # Safety
    /// Who uses the device, its memory and its lanes keeps the engine's part of this module's
    /// contract: they check nothing.
    unsafe fn open(&self, index: usize, notify: Notify) -> Result<Arc<dyn Device>, HalError>;
}

/// An opened device.
///
/// # Safety
/// Keeps the contract of this module.
pub unsafe trait Device: Any + Send + Sync {
    /// The properties that [`Backend::devices`] told of this device.
    fn info(&self) -> &DeviceInfo;

    /// The device's memory.
    fn usm(&self) -> &dyn UsmAllocator;

    /// A new lane. `priority` 0 is normal, higher is more urgent; a backend may ignore it.
    fn lane(&self, kind: LaneKind, priority: i8) -> Result<Arc<dyn Lane>, HalError>;

    /// Makes code launchable: [`KernelSource::Ir`] where [`Caps::ir`] says so,
    /// [`KernelSource::Opaque`] in the driver's languages. Code that it cannot build is
    /// [`HalErrorKind::Build`], with the log. The code stays loaded until [`Device::unload`], or
    /// until the device goes. Backends that run host code only keep the default.
    fn load(&self, source: &KernelSource<'_>) -> Result<KernelHandle, HalError> {
        let _ = source;
        Err(HalError::unsupported("loading kernels"))
    }

    /// Compiles what launches of a loaded kernel may need and is not there yet, within
    /// [`compiling`]; several threads may do so at once. Devices that compile a kernel when it is
    /// loaded, or not at all, keep the default.
    fn prepare(&self, handle: KernelHandle) -> Result<(), HalError> {
        let _ = handle;
        Ok(())
    }

    /// Drops code that [`Device::load`] has returned. Called once, after every operation and graph
    /// that names it has ended. Backends that run host code only keep the default.
    fn unload(&self, handle: KernelHandle) {
        let _ = handle;
    }

    /// The reason to refuse a launch of a loaded kernel, as far as the driver tells: arguments that
    /// are not the kernel's ([`HalErrorKind::Arguments`]), or more than the device has. Asked
    /// before each launch of an opaque kernel, and, without arguments, before each launch in
    /// groups. Devices without limits keep the default.
    fn check(
        &self,
        handle: KernelHandle,
        geometry: &Geometry,
        arguments: &[Argument],
    ) -> Result<(), HalError> {
        let _ = (handle, geometry, arguments);
        Ok(())
    }

    /// Makes a graph of operations. A graph that the device cannot have is
    /// [`HalErrorKind::Unsupported`]; devices without graphs keep the default.
    fn graph(&self, nodes: &[Node<'_>]) -> Result<Arc<dyn Graph>, HalError> {
        let _ = nodes;
        Err(HalError::unsupported("graphs"))
    }

    /// How this device's lanes reach the memory of `other`, a device of the same backend; `None`
    /// when they cannot. Enables what must be enabled.
    fn peer(&self, other: &dyn Device) -> Option<Link> {
        let _ = other;
        None
    }
}

/// A device's memory.
///
/// # Safety
/// Keeps the contract of this module; in particular allocations do not overlap.
pub unsafe trait UsmAllocator: Send + Sync {
    /// Allocates. Out of memory is [`HalErrorKind::OutOfMemory`] with the sizes.
    fn alloc(&self, req: &AllocReq<'_>) -> Result<Allocation, HalError>;

    /// Gives an allocation back. Does not wait and cannot fail.
    fn free(&self, handle: u64);

    /// Reserves addresses for an allocation of [`AllocKind::Device`] that has no memory yet: only
    /// where [`Caps::frame`] says so, and neither imported, zeroed, linked nor exported. Memory
    /// comes to its frames by [`map`](Self::map). No operation uses other bytes of it than those of
    /// frames that have memory.
    fn reserve(&self, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        let _ = req;
        Err(HalError::unsupported("memory in frames"))
    }

    /// Gives memory to the frames of a reserved allocation in these bytes, all of it or none; it
    /// may hold anything. The range begins and ends with a frame, and none of them has memory.
    fn map(&self, handle: u64, bytes: Range<u64>) -> Result<(), HalError> {
        let _ = (handle, bytes);
        Err(HalError::unsupported("memory in frames"))
    }

    /// Takes the memory of the frames in these bytes back, all of which have some that no operation
    /// uses. Does not fail. [`free`](Self::free) takes back what frames have then.
    fn unmap(&self, handle: u64, bytes: Range<u64>) {
        let _ = (handle, bytes);
    }

    /// How much there is.
    fn memory(&self) -> MemoryInfo;

    /// The budget has changed: from now on the driver has back what is kept of freed memory as far
    /// as that and what is in use are more than so many bytes together. May wait for what is being
    /// given back. Devices that keep none keep the default.
    fn trim(&self, most: u64) {
        let _ = most;
    }

    /// How an allocation goes by for the driver's own functions, if it has no address: a `cl_mem`.
    /// The object is valid for as long as the allocation.
    fn object(&self, handle: u64) -> Option<*mut c_void> {
        let _ = handle;
        None
    }

    /// Gives an allocation's memory to other drivers, if it was [asked for](AllocReq::exported)
    /// so.
    fn export(&self, handle: u64) -> Result<Exported, HalError> {
        let _ = handle;
        Err(HalError::unsupported("memory for other drivers"))
    }

    /// The memory that a pointer points to, when it points into this device's memory.
    fn query(&self, address: u64) -> Option<PointerInfo> {
        let _ = address;
        None
    }
}

/// The main work of a lane; a device with one hardware queue may give all kinds the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaneKind {
    /// Kernels, and copies inside the device.
    Compute,
    /// Host to device.
    Upload,
    /// Device to host.
    Download,
    /// From other devices' memory to this one's.
    Peer,
}

/// Whether an operation waits for what its lane was given before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// After everything earlier on this lane.
    AfterPrevious,
    /// Independent of what is unfinished on this lane.
    Free,
}

/// A tick of another lane that an operation waits for.
#[derive(Clone, Copy)]
pub struct Wait<'a> {
    /// The other lane.
    pub lane: &'a Arc<dyn Lane>,
    /// Its tick.
    pub tick: Tick,
}

/// The head that every operation carries.
#[derive(Clone, Copy)]
pub struct Head<'a> {
    /// This operation's tick.
    pub tick: Tick,
    /// Its order on its own lane.
    pub order: Order,
    /// The ticks of other lanes that it waits for.
    pub waits: &'a [Wait<'a>],
    /// The user's name for it, or empty.
    pub label: &'a str,
    /// Whether [`Lane::timing`] will be asked.
    pub timed: bool,
}

/// When an operation ran, in nanoseconds of one clock per device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Timing {
    /// Handed to the device.
    pub queued: u64,
    /// Began.
    pub started: u64,
    /// Ended.
    pub ended: u64,
}

impl Timing {
    /// From where the first of two began to where the last of them ended, by the same clock.
    pub(crate) fn and(self, other: Timing) -> Timing {
        Timing {
            queued: self.queued.min(other.queued),
            started: self.started.min(other.started),
            ended: self.ended.max(other.ended),
        }
    }
}

/// An in-order queue of one device.
///
/// # Safety
/// Keeps the contract of this module.
pub unsafe trait Lane: Any + Send + Sync {
    /// Takes an operation. What the lane cannot do is refused as
    /// [`HalErrorKind::Unsupported`]; its tick is reached all the same ([`refuse`](Lane::refuse)).
    fn enqueue(&self, head: &Head<'_>, op: Op<'_>) -> Result<(), HalError>;

    /// Refuses an operation: a [`Op::Join`] takes its tick.
    fn refuse(&self, head: &Head<'_>, error: HalError) -> Result<(), HalError> {
        self.enqueue(head, Op::Join)?;
        Err(error)
    }

    /// Another lane is about to wait for this tick, the last that was handed over; or a thread,
    /// while the device's courier goes on ([`Caps::one_at_a_time`]). A backend that knows the ends
    /// of some ticks only should know that of this one: otherwise they would wait for what comes
    /// behind it, too.
    fn awaited(&self, tick: Tick) {
        let _ = tick;
    }

    /// Submits what a batching backend holds back.
    fn flush(&self) {}

    /// Offers the calling thread, which holds no engine lock and asks for nothing: a backend may
    /// run short work that is ready here, in the lane's order. The engine does so whenever it has
    /// handed operations over.
    fn drive(&self) {}

    /// Everything up to this tick has ended.
    fn completed(&self) -> Result<Tick, Lost>;

    /// Waits until `tick` has ended (`true`) or `until` has passed (`false`). Flushes first.
    fn wait(&self, tick: Tick, until: Option<Instant>) -> Result<bool, Lost>;

    /// Tells each failure of an ended operation once, in tick order.
    fn failures(&self, sink: &mut dyn FnMut(Tick, HalError));

    /// When the operation at `tick` ran, if it was timed and has ended.
    fn timing(&self, tick: Tick) -> Option<Timing> {
        let _ = tick;
        None
    }
}

impl dyn Device {
    /// The backend's own type behind the trait object.
    pub fn downcast_ref<T: Device>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

impl dyn Lane {
    /// The backend's own type behind the trait object.
    pub fn downcast_ref<T: Lane>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}
