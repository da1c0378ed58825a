//! Errors of command graphs.

use super::Label;
use super::text::buffer_name;
use folio_kernel::fuse::FuseError;

/// Why a graph, or a part of it, cannot be made, changed or run. Nodes are numbered in the order in
/// which they were added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// An edge would close a cycle. The graph is as it was.
    #[error("an edge from node {from} {} to node {to} {} closes a cycle", names[0], names[1])]
    Cycle {
        /// Where the edge begins.
        from: usize,
        /// Where it ends.
        to: usize,
        /// The commands of both, or what they are.
        names: [Label; 2],
    },
    /// A node, or the event of a recorded command, is of another graph.
    #[error("node {node} is of another graph")]
    ForeignNode {
        /// Its number in that graph.
        node: usize,
    },
    /// A node was to be exchanged that is in the body of a condition.
    #[error(
        "node {node} {command} is in the body of condition {condition}: add it by `add_updatable`, \
         and let it read a `Parameter`"
    )]
    InBody {
        /// Its number in the body.
        node: usize,
        /// Its command.
        command: Label,
        /// The condition's name, or what it is.
        condition: Label,
    },
    /// A queue, or a graph, is not of the graph's device, or has several devices.
    #[error("it is of {device}, and the {what} of {other}")]
    OtherDevice {
        /// The graph's device.
        device: String,
        /// `queue` or `graph`.
        what: &'static str,
        /// Its device, or devices.
        other: String,
    },
    /// The queue is being recorded already.
    #[error("the queue is being recorded already")]
    AlreadyRecording,
    /// The queue of a block was used when that had ended.
    #[error("the block of this queue has ended: {command} is too late to be of it")]
    BlockEnded {
        /// The command's name, or what it is.
        command: Label,
    },
    /// A queue began or ended to be recorded between commands that rely on each other: see
    /// [`Queue::undivided`](crate::Queue::undivided).
    #[error("the queue began or ended to be recorded between commands that rely on each other")]
    Divided,
    /// Nodes and edges were to be added by hand while queues are recorded.
    #[error("a queue is being recorded: nodes are added by hand before or after that")]
    BeingRecorded,
    /// An event of a recorded command was to be waited for, or asked. The
    /// command has not been submitted.
    #[error("the command of this event was only recorded: wait for the event of a run")]
    OnlyRecorded,
    /// The host was to read or write elements that a command uses which has been recorded by the
    /// same thread, and has not run: it would have seen what was there before.
    #[error(
        "{} cannot be {doing} here: {command} is to {uses} it, and has only been recorded; {instead}",
        buffer_name(.buffer)
    )]
    NotRunYet {
        /// The buffer.
        buffer: Label,
        /// `read` or `written`, by the host.
        doing: &'static str,
        /// The command's name, or what it is.
        command: Label,
        /// `read` or `write`.
        uses: &'static str,
        /// The call to make in its place.
        instead: &'static str,
    },
    /// A queue was to be waited for while it is recorded.
    #[error("the queue is being recorded, and runs nothing that could be waited for")]
    WaitWhileRecording,
    /// A node was to come after the event of a command that is not in the graph.
    #[error("node {command} cannot come after the event of a command outside of the graph")]
    OutsideEvent {
        /// The node's command.
        command: Label,
    },
    /// A command can be done only once, since its closure is called only once.
    #[error("{what} {command} can run only once: use `{instead}`, whose closure is `Fn`")]
    NotRepeatable {
        /// `host task` or `interop task`.
        what: &'static str,
        /// The command.
        command: Label,
        /// The commands that can be repeated.
        instead: &'static str,
    },
    /// A graph holds its buffers, so a view that is to be written back when it is dropped cannot be
    /// one of them.
    #[error(
        "node {command}: view {buffer} is written back when it is dropped, so no graph keeps it"
    )]
    WrittenBack {
        /// The node's command.
        command: Label,
        /// The view.
        buffer: Label,
    },
    /// A node reads parameters, but cannot be described again.
    #[error("node {command} reads a parameter: add it with `add_updatable`")]
    NotUpdatable {
        /// The node's command.
        command: Label,
    },
    /// The value of a condition is one element.
    #[error("the value of a condition is one element, and not {elements}")]
    ConditionSize {
        /// How many elements were passed.
        elements: usize,
    },
    /// A command cannot be in the body of a conditional node.
    #[error("{command} cannot be in the body of a condition: {why}")]
    NotInBody {
        /// The command.
        command: Label,
        /// What it is, or uses.
        why: &'static str,
    },
    /// The condition of a `while` still held after as many iterations as it may have. The cause of
    /// a [`Failure`](super::Failure).
    #[error(
        "`while` node {command} would go on after {limit} iterations, the `limit` of its `while_`: its value, in {}, is not 0",
        buffer_name(.buffer)
    )]
    LimitReached {
        /// The node's name, or what it is.
        command: Label,
        /// What has the value.
        buffer: Label,
        /// How many iterations it may have.
        limit: u64,
    },
    /// Fusion was required of a device that does not fuse kernels.
    #[error("{device} does not fuse kernels, and fusion is required")]
    FeatureNotSupported {
        /// The device.
        device: String,
    },
    /// Fusion was required of kernels that cannot be one launch.
    #[error("fusion is required, but {why}")]
    KernelNotSupported {
        /// Which kernels, and why.
        why: FuseError,
    },
    /// Fusion was required of kernels that the device does not run as one.
    #[error("fusion is required, but {device} does not run `{first}` to `{second}` as one: {why}")]
    FusedKernelRefused {
        /// The device.
        device: String,
        /// The first of the kernels.
        first: String,
        /// The last one.
        second: String,
        /// The device's error.
        why: String,
    },
    /// Marks of a buffer, an access or a pointer contradict each other or what a kernel does.
    #[error("wrong marks: {why}")]
    WrongMark {
        /// How.
        why: FuseError,
    },
    /// The times of a node were asked for that is not timed in that run, or is not of that run.
    #[error(
        "node {node} is not timed in this run: have the executable profile its nodes \
         (`profile_nodes`), or describe the node as `timed`"
    )]
    NotTimed {
        /// Its number.
        node: usize,
    },
    /// A node was to be exchanged for one of another kind.
    #[error("node {node} {command} cannot be exchanged: {why}")]
    OtherShape {
        /// Its number, in the graph that it was added to.
        node: usize,
        /// Its command.
        command: Label,
        /// The difference.
        why: String,
    },
}
