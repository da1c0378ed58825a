//! Everything that can go wrong, as one tree.
//!
//! A failed call returns an [`Error`] and has changed nothing. Work that fails later is an
//! [`Error::Failed`] that carries a [`Failure`]: every event that depends on the work, every read
//! of what it should have written, and its queue's `wait` give the same one; the handler of the
//! runtime is told once. A failure that no call has returned is returned by the runtime's `wait`;
//! without a handler it is written to standard error when the runtime's last handle goes.

use crate::allocator::AllocatorFault;
use crate::hal::{HalError, HalErrorKind, PanicPayload};
pub use folio_kernel::checks::{Check, CheckKind};
pub use folio_kernel::source::LowerError;
use folio_kernel::words;
use folio_kernel::words::Plain;
pub use folio_kernel::{Site, Violation, ViolationKind};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use text::{
    access_name, access_to, buffer_name, by_way_of, checks_left, from_offset, gone, in_groups,
    mismatch, of_kernel, of_limit, of_parameter, one_buffer, place, used, used_buffer,
};
pub(crate) use text::{listed, operations};

/// `Result` with Folio's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The name that a user gave a buffer or command, or nothing. Messages and traces show it in one
/// line: what would act on the text around it, such as a line's end, is escaped there.
#[derive(Clone, Default)]
pub struct Label(Name);

/// Names of kernels are the program's, so that launches count no references. Two words, since
/// labels are in errors.
#[derive(Clone)]
enum Name {
    OfProgram(Option<&'static &'static str>),
    Given(Arc<str>),
}

impl Default for Name {
    fn default() -> Name {
        Name::OfProgram(None)
    }
}

impl Label {
    /// No name.
    pub const NONE: Label = Label(Name::OfProgram(None));

    /// That of a kernel.
    pub(crate) fn of(kernel: &'static &'static str) -> Label {
        Label(Name::OfProgram(Some(kernel)))
    }

    fn name(&self) -> Option<&str> {
        match &self.0 {
            Name::OfProgram(name) => name.copied(),
            Name::Given(name) => Some(name),
        }
    }

    /// The name, or an empty string.
    pub fn as_str(&self) -> &str {
        self.name().unwrap_or("")
    }
}

impl PartialEq for Label {
    fn eq(&self, other: &Label) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Label {}

impl<S: Into<Arc<str>>> From<S> for Label {
    fn from(name: S) -> Label {
        Label(Name::Given(name.into()))
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "`{}`", Plain(name)),
            None => f.write_str("without a name"),
        }
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An error of this library.
///
/// `Debug` shows the text of `Display`, so that `fn main() -> folio::Result<()>` prints it; `{:#?}`
/// shows the fields.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A range reaches past the end of its buffer, or its end overflows.
    #[error("{}: {} is outside {range:?}", buffer_name(.buffer), place(.offset, .extent))]
    OutOfRange {
        /// The buffer.
        buffer: Label,
        /// Where the range begins.
        offset: Vec<usize>,
        /// How far it reaches.
        extent: Vec<usize>,
        /// The buffer's own range.
        range: Vec<usize>,
    },
    /// A size in bytes does not fit the address space.
    #[error("{what} {label}: {extent:?} elements of {} are too large", words::bytes(*.element_bytes as u64))]
    TooLarge {
        /// The thing that was to be made.
        what: &'static str,
        /// Its name.
        label: Label,
        /// The extent asked for.
        extent: Vec<usize>,
        /// Bytes of one element.
        element_bytes: usize,
    },
    /// Two accesses of one command overlap, and one of them writes.
    #[error(
        "command {command}: {} and {} overlap in {}, and one of them is written: pass parts that \
         do not overlap, or a buffer for each",
        access_name(accesses[0], &parameters[0]), access_name(accesses[1], &parameters[1]),
        one_buffer(.buffer)
    )]
    Aliasing {
        /// The command.
        command: Label,
        /// The buffer.
        buffer: Label,
        /// Which of the command's accesses, or of the kernel's arguments that are memory.
        accesses: [usize; 2],
        /// The kernel's parameters for these; without names where the command calls no `#[kernel]`.
        parameters: [Label; 2],
    },
    /// A handle belongs to another runtime.
    #[error("{}{what} {label} belongs to another runtime", used(.by))]
    WrongRuntime {
        /// The kind of handle.
        what: &'static str,
        /// Its name.
        label: Label,
        /// What uses it, if that is a command.
        by: Option<UseSite>,
    },
    /// An access handle of another command group was used.
    #[error("command {command}: an access that was made for another command group")]
    ForeignAccess {
        /// The command.
        command: Label,
    },
    /// A command group may hold one action.
    #[error("command {command} has {actions} actions, and may have one: submit a command for each")]
    Actions {
        /// The command.
        command: Label,
        /// How many it has.
        actions: usize,
    },
    /// No device fits.
    #[error("no device fits {wanted}; there are: {there}")]
    DeviceNotFound {
        /// The device that was asked for.
        wanted: String,
        /// The devices that there are, and why backends have none.
        there: String,
    },
    /// Not enough memory, or not enough budget.
    #[error(
        "out of memory on {device} for {what} {label}: asked for {}, {}{} in use",
        words::bytes(*.asked), words::bytes(*.in_use), of_limit(*.limit)
    )]
    OutOfMemory {
        /// Where.
        device: String,
        /// What the memory was for.
        what: &'static str,
        /// Its name.
        label: Label,
        /// Bytes asked for.
        asked: u64,
        /// Bytes in use.
        in_use: u64,
        /// Bytes allowed: `u64::MAX` where there is no budget.
        limit: u64,
    },
    /// An allocator of the program ([`HostAllocator`](crate::memory::HostAllocator)) gave no memory
    /// that can be used.
    #[error(
        "the program's allocator, for {what} {label}: asked for {asked} bytes aligned to {align}, \
         {fault}"
    )]
    Allocator {
        /// What the memory was for.
        what: &'static str,
        /// Its name.
        label: Label,
        /// Bytes asked for.
        asked: u64,
        /// The alignment asked for.
        align: usize,
        /// The fault of the allocator.
        fault: AllocatorFault,
    },
    /// A guard of the host holds the data; nothing queues behind user code.
    #[error(
        "{}{} is held by a guard (of `read`, `write` or the like) or a loan: drop that first",
        used(.by), used_buffer(.buffer, .by)
    )]
    HostAccessHeld {
        /// The buffer.
        buffer: Label,
        /// What uses it, if that is a command.
        by: Option<UseSite>,
    },
    /// Memory cannot be given back while operations or guards use it.
    #[error("{} is in use: drop, or `close`, what has it (handles, guards, executables) and wait for its commands", buffer_name(.buffer))]
    InUse {
        /// The buffer.
        buffer: Label,
    },
    /// A buffer has memory on a device, and cannot be given other memory there.
    #[error(
        "{} has memory on {device} already: give that back (`release`), or take it \
         (`take_allocation`), before you give it other memory", buffer_name(.buffer)
    )]
    HasMemory {
        /// The buffer.
        buffer: Label,
        /// The device.
        device: String,
    },
    /// Memory cannot be given back while it is the only one to hold some data.
    #[error("{}: that allocation holds the only current copy of some pages", buffer_name(.buffer))]
    OnlyCopy {
        /// The buffer.
        buffer: Label,
    },
    /// A host task waits for something that waits for this very host task, maybe by way of others
    /// that wait.
    #[error("host task {task} would wait for its own completion{}", by_way_of(.through))]
    WaitsForItself {
        /// The host task that asked.
        task: Label,
        /// The other host tasks that wait for each other.
        through: Arc<[Label]>,
    },
    /// A kernel, or the drop of what it captured, waits for something of the runtime, which could
    /// be itself.
    #[error("a kernel cannot wait for commands or for a buffer's data")]
    WaitInKernel,
    /// A part of several rows with gaps between them was asked for as one slice.
    #[error(
        "a part of {extent:?} of {} is not contiguous in memory: take it by rows (`read_rows()`, \
         `write_rows()`), or copy it (`to_vec()`)",
        buffer_name(.buffer)
    )]
    NotContiguous {
        /// The buffer.
        buffer: Label,
        /// The part's extent.
        extent: Vec<usize>,
    },
    /// A reinterpretation does not fit.
    #[error("{} cannot be reinterpreted: {why}", buffer_name(.buffer))]
    Reinterpret {
        /// The buffer.
        buffer: Label,
        /// The requirement that does not fit.
        why: String,
    },
    /// A launch is larger than what one of its outputs covers.
    #[error(
        "command {command}: a launch over {launch:?} from {offset:?} on reaches beyond {}, \
         which covers {extent:?}", access_to(*access, .parameter, .buffer)
    )]
    LaunchTooLarge {
        /// The command.
        command: Label,
        /// The launch range.
        launch: Vec<usize>,
        /// The position of the first item.
        offset: Vec<usize>,
        /// Which of the kernel's arguments that are memory.
        access: usize,
        /// The kernel's parameter; without a name where the command calls no `#[kernel]`.
        parameter: Label,
        /// Its buffer; without a name, that of the kernel's parameter.
        buffer: Label,
        /// The elements that the access covers.
        extent: Box<[usize]>,
    },
    /// A launch has more items, or positions further on, than there can be.
    #[error("command {command}: a launch over {launch:?}{}: {why}", from_offset(.offset))]
    LaunchRange {
        /// The command.
        command: Label,
        /// The launch range.
        launch: Vec<usize>,
        /// The position of the first item.
        offset: Vec<usize>,
        /// What is wrong.
        why: &'static str,
    },
    /// A parameter for what the items give, combined ([`Reduce`](crate::Reduce)), or the count of
    /// [`KernelCall::at_most`](crate::KernelCall::at_most), has no element.
    #[error(
        "command {command}: {} has one value for the whole launch, in its first element: it needs at \
         least one element, and has none", access_to(*access, .parameter, .buffer)
    )]
    NoElement {
        /// The command.
        command: Label,
        /// Which of the kernel's arguments that are memory.
        access: usize,
        /// The kernel's parameter.
        parameter: Label,
        /// Its buffer; without a name, that of the kernel's parameter.
        buffer: Label,
    },
    /// Groups that a kernel cannot be launched in.
    #[error("kernel `{}` over {launch:?}{}: {why}", Plain(.kernel), in_groups(.group))]
    GroupSize {
        /// The kernel.
        kernel: Arc<str>,
        /// The launch range.
        launch: Vec<usize>,
        /// The group's size, if there is one.
        group: Vec<usize>,
        /// What is wrong.
        why: &'static str,
    },
    /// A launch that several devices cannot share ([`Queue::spread`](crate::Queue::spread)).
    #[error("kernel `{}` cannot be spread over devices: {}", Plain(.kernel), of_parameter(.parameter, .why))]
    NotSpread {
        /// The kernel.
        kernel: Arc<str>,
        /// The parameter, if it is one's.
        parameter: Label,
        /// What stands in the way.
        why: Arc<str>,
    },
    /// A kernel that cannot be launched anywhere: `Out` of which not everything is written, for
    /// one.
    #[error("kernel `{}`: {}", Plain(.kernel), of_kernel(.cause))]
    Kernel {
        /// The kernel.
        kernel: Arc<str>,
        /// What is wrong with it.
        cause: Arc<LowerError>,
    },
    /// A launch of a kernel with `#[kernel(deny_checks)]` in which run-time checks are left.
    #[error("kernel `{}` denies checks, and this launch has {}", Plain(.kernel), checks_left(.checks))]
    ChecksLeft {
        /// The kernel.
        kernel: Arc<str>,
        /// The work that is left, and where.
        checks: Arc<[Check]>,
    },
    /// Two things that must be of one size are not.
    #[error("{what} {label}: {}", mismatch(.what, .source_extent, .target, .needed))]
    Mismatch {
        /// `command`, or what was to be made.
        what: &'static str,
        /// Its name.
        label: Label,
        /// Extent of the source, or of the first argument.
        source_extent: Vec<usize>,
        /// Extent of the destination, or of what the other arguments are to be.
        target: Vec<usize>,
        /// The extent that the destination must have, where that is not the extent of the source.
        needed: Option<Vec<usize>>,
    },
    /// A USM allocation cannot be reached from there.
    #[error("USM allocation {label} on {home} cannot be accessed by a kernel on {device}")]
    NotAccessible {
        /// The allocation.
        label: Label,
        /// Where it is.
        home: String,
        /// Who wanted it.
        device: String,
    },
    /// A managed pointer was used where it is not accessible.
    #[error("managed pointer {pointer} is not accessible on {wanted}: it is {place}")]
    Inaccessible {
        /// The pointer.
        pointer: Label,
        /// Where it was used.
        wanted: String,
        /// Where it is accessible, or on its way to.
        place: String,
    },
    /// A task moves a managed pointer, which tasks may be using.
    #[error("a task cannot move managed pointer {pointer}: chain the move to the task's future")]
    MoveInTask {
        /// The pointer.
        pointer: Label,
    },
    /// A stream at the end of a channel failed.
    #[error("stream of managed pointer {pointer}, after {}: {}", words::bytes(*.bytes), Plain(&.cause.to_string()))]
    Stream {
        /// The pointer.
        pointer: Label,
        /// How many bytes had passed.
        bytes: u64,
        /// The error of the stream.
        cause: Arc<std::io::Error>,
    },
    /// The memory behind a raw pointer, or the storage of a view, has been given back.
    #[error("{what} {label}: {}", gone(.what))]
    Freed {
        /// The command that was to use it; or the [`view`](crate::buffer::Reclaim::take) whose
        /// storage was to be taken again.
        what: &'static str,
        /// Its name.
        label: Label,
    },
    /// A raw pointer is not aligned for its elements.
    #[error("{what} {label}: {at:#x} is no place for elements aligned to {align}")]
    Misaligned {
        /// The command that was to use it.
        what: &'static str,
        /// Its name.
        label: Label,
        /// The address or, where there is none, the offset; or a distance between rows.
        at: u64,
        /// The alignment that elements need.
        align: usize,
    },
    /// The storage behind a view has been taken back.
    #[error(
        "the scope of view {label} has ended, and its data are the program's again: use the view within the scope, \
             or make a buffer that owns its data, `rt.buffer_from(&data)?`"
    )]
    ScopeEnded {
        /// The view.
        label: Label,
    },
    /// A device or backend cannot do this.
    #[error("{device} does not support {what}")]
    Unsupported {
        /// Who.
        device: String,
        /// The thing that it cannot do.
        what: String,
    },
    /// A setting in the environment is wrong.
    #[error("environment variable {variable}={value:?}: {allowed}")]
    Environment {
        /// The variable.
        variable: String,
        /// Its value.
        value: String,
        /// The allowed values.
        allowed: String,
    },
    /// A setting of a builder is wrong.
    #[error("{what}: {why}")]
    Configuration {
        /// Which.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The runtime takes no more work.
    #[error("the runtime has been shut down")]
    ShutDown,
    /// A shutdown ran past its deadline.
    #[error(
        "{} not finished in time: {}",
        operations(*.unfinished, ["was", "were"]), listed(.left, *.unfinished)
    )]
    Deadline {
        /// How many were left.
        unfinished: usize,
        /// The first of them, of each lane and of what waits in none the oldest first.
        left: Vec<PendingWork>,
    },
    /// A device could not be opened, or a driver refused a call.
    #[error("{device}: {doing}: {cause}")]
    Device {
        /// Which.
        device: String,
        /// The call that was made.
        doing: String,
        /// The backend's error.
        cause: HalError,
    },
    /// Something is wrong with a command graph.
    #[error("graph {graph}: {why}")]
    Graph {
        /// The graph.
        graph: Label,
        /// What is wrong.
        why: Box<GraphError>,
    },
    /// Work that had been submitted failed.
    #[error("{0}")]
    Failed(Arc<Failure>),
}

/// Where a command uses something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UseSite {
    /// The command.
    pub command: Label,
    /// Which of its accesses, or of the kernel's arguments that are memory; none for what it waits
    /// for.
    pub access: Option<usize>,
    /// The kernel's parameter; without a name where the command calls no `#[kernel]`.
    pub parameter: Label,
}

/// Work that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PendingWork {
    /// The kind of operation: `kernel`, `copy`, `transfer`, `host task`.
    pub what: &'static str,
    /// The command's name.
    pub label: Label,
    /// The device that has it, or `host`.
    pub device: String,
}

impl fmt::Display for PendingWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} on {}", self.what, self.label, self.device)
    }
}

/// A failure of submitted work: one root, shared by everything that depends on it.
///
/// `Debug` shows the text of `Display`, and `{:#?}` the fields.
pub struct Failure {
    pub(crate) id: u64,
    pub(crate) what: &'static str,
    pub(crate) label: Label,
    pub(crate) device: String,
    pub(crate) cause: Cause,
    /// A call has returned it, or it has been written to standard error.
    pub(crate) told: AtomicBool,
}

/// Why submitted work failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Cause {
    /// The backend said so.
    Backend(HalError),
    /// Code of the user panicked.
    Panic(PanicPayload),
    /// A kernel did what it must not: an index out of bounds, a division by zero, a failed
    /// assertion.
    Kernel(Arc<Violation>),
    /// A host task or an interop task returned this.
    Task(Arc<dyn std::error::Error + Send + Sync>),
    /// The only current copy of the data was on a device that is lost.
    DataLost,
    /// Something went wrong in a run of a command graph.
    Graph(Arc<GraphError>),
    /// The command failed so long ago that nothing else is known of it: a runtime keeps how the
    /// newest 65,536 commands have failed. All such failures have the [id](Failure::id) 0.
    Forgotten,
}

impl Error {
    /// For a call that returns it: from now on the failure counts as told.
    pub(crate) fn failed(failure: Arc<Failure>) -> Error {
        failure.told.store(true, Ordering::Relaxed);
        Error::Failed(failure)
    }
}

impl Failure {
    pub(crate) fn new(
        id: u64,
        what: &'static str,
        label: Label,
        device: String,
        cause: Cause,
    ) -> Failure {
        Failure { id, what, label, device, cause, told: AtomicBool::new(false) }
    }

    /// That of commands whose own failures are not kept any more. They have been told.
    pub(crate) fn forgotten() -> Failure {
        let (label, told) = (Label::NONE, AtomicBool::new(true));
        let (device, cause) = (String::new(), Cause::Forgotten);
        Failure { id: 0, what: "a command", label, device, cause, told }
    }

    /// No call has returned it yet, nor is it written.
    pub(crate) fn untold(&self) -> bool {
        !self.told.load(Ordering::Relaxed)
    }

    /// Names the failure: equal for everything that failed because of it.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The kind of operation that failed: `kernel`, `copy`, `fill`, `host task`.
    pub fn what(&self) -> &'static str {
        self.what
    }

    /// The command's name.
    pub fn label(&self) -> &str {
        self.label.as_str()
    }

    /// The device on which it failed.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// Why.
    pub fn cause(&self) -> &Cause {
        &self.cause
    }
}

impl Drop for Failure {
    fn drop(&mut self) {
        // A panic's payload and a task's error are the user's, and so is their drop.
        let cause = std::mem::replace(&mut self.cause, Cause::DataLost);
        crate::panics::contain(|| drop(cause));
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cause {
            Cause::Forgotten => write!(f, "{} failed: ", self.what)?,
            _ => write!(f, "{} {} on {} failed: ", self.what, self.label, self.device)?,
        }
        match &self.cause {
            // Whose name has been said.
            Cause::Kernel(violation) if violation.kernel == self.label.as_str() => {
                violation.place().fmt(f)
            }
            cause => cause.fmt(f),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Backend(error) => error.fmt(f),
            Cause::Kernel(violation) => violation.fmt(f),
            Cause::Panic(payload) => write!(f, "panicked: {}", payload.message()),
            Cause::Task(error) => error.fmt(f),
            Cause::DataLost => f.write_str("the only current copy was on a lost device"),
            Cause::Graph(error) => error.fmt(f),
            Cause::Forgotten => {
                f.write_str("too long ago to know more: many others have failed since")
            }
        }
    }
}

impl std::error::Error for Failure {}

impl From<HalError> for Cause {
    fn from(error: HalError) -> Cause {
        match error.kind {
            HalErrorKind::Panic(payload) => Cause::Panic(payload),
            HalErrorKind::Violation(violation) => Cause::Kernel(violation),
            HalErrorKind::Task(error) => Cause::Task(error),
            _ => Cause::Backend(error),
        }
    }
}

mod fields;
mod graph;
pub use graph::GraphError;
#[cfg(test)]
mod tests;
mod text;
