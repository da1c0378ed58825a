//! Programs as plain data: what is made, and what is done with it, step by step.
//!
//! A program says nothing of how it is run; [`crate::run`] gives it to a runtime, and
//! [`crate::oracle`] to a sequential model. Steps that make no sense (because shrinking has
//! removed what they refer to) have no effect in either.

use crate::machine::Machine;
use folio_core::geom::{Box3, Dims};
use folio_core::hal::MemoryHome;
use folio_core::{UsmKind, buffer::Policy};
use std::collections::HashMap;

/// Element types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    /// `u32`.
    U32,
    /// `u64`.
    U64,
}

impl Ty {
    /// Bytes of an element.
    pub fn size(self) -> usize {
        match self {
            Ty::U32 => 4,
            Ty::U64 => 8,
        }
    }
}

/// Who of the simulated devices can wait for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    /// Everybody for everybody.
    One,
    /// Lanes of one device for each other.
    Each,
    /// Nobody for anybody.
    None,
}

/// Simulated devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sim {
    /// How many.
    pub devices: usize,
    /// The first computes in the host's memory.
    pub first_on_host: bool,
    /// Native waits.
    pub groups: Groups,
    /// Lanes for copies.
    pub copy_lanes: bool,
    /// Direct copies between devices.
    pub peers: bool,
    /// Latency of kernels and fills, and of copies.
    pub late: [u64; 2],
    /// Random latency.
    pub jitter: u64,
    /// Free operations overtake each other.
    pub overlap: bool,
    /// Batching of completion.
    pub visible_every: u64,
    /// How much later lanes show what has ended, in turn.
    pub lags: [u64; 3],
    /// Batching of submission.
    pub batch: u64,
    /// Most operations in flight.
    pub max_in_flight: u32,
    /// Has couriers, called at once.
    pub courier: bool,
    /// Tells of progress by a thread.
    pub notifies: bool,
    /// Runs no closures, and has kernels interpreted.
    pub ir: bool,
    /// The seed of its order.
    pub seed: u64,
}

/// How a queue over several devices chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// [`folio_core::sched::Locality`].
    Locality,
    /// [`folio_core::sched::RoundRobin`].
    RoundRobin,
}

/// A queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSpec {
    /// Its devices, by their place in the runtime; several are scheduled over.
    pub devices: Vec<usize>,
    /// Each command waits for the one before.
    pub in_order: bool,
    /// For several devices.
    pub choice: Choice,
}

/// Whose memory a buffer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Its own, wherever it is needed.
    Own,
    /// USM of this device, and no buffer until [`What::Adopt`].
    Usm(usize, UsmKind),
    /// A buffer over USM of this device, or without one over memory of the host's.
    Over(Option<(usize, UsmKind)>),
    /// Memory of the host, of which the runtime knows nothing: for raw commands only.
    Lent,
    /// A slice of the host's, as long as the scope of [`What::Enter`] goes on.
    Borrowed,
}

impl Memory {
    /// The name of USM of a device, also of what a buffer is over.
    pub fn usm_label(config: &Config, device: usize) -> String {
        format!("usm on {}", config.device_name(device))
    }
}

/// A buffer, or other memory that programs work on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferSpec {
    /// Whose memory it has. With any but its own it has one dimension and one page.
    pub memory: Memory,
    /// Its elements.
    pub ty: Ty,
    /// Its dimensions.
    pub rank: usize,
    /// Its shape, widened to three dimensions.
    pub dims: Dims,
    /// Its pages, widened; `None`: the default.
    pub page: Option<Dims>,
    /// Made from data.
    pub initialised: bool,
    /// Tracked by the plain tracker.
    pub dense: bool,
    /// The thread that uses it.
    pub thread: usize,
    /// All threads use it, each its own pages.
    pub shared: bool,
    /// Of what is its own: whether it is a view, and what its drop does.
    pub policy: Policy,
    /// Its copies may go for others: also those that are the only ones, and in which order.
    pub evict: Option<(bool, i32)>,
}

/// The runtime of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Domains of a CPU backend.
    pub cpu: Option<usize>,
    /// Simulated devices; they come after the CPU's.
    pub sim: Option<Sim>,
    /// Backends of this machine; their devices come last.
    pub machines: &'static [Machine],
    /// Kernels are functions, and not closures: always for devices that run no closures.
    pub functions: bool,
    /// With the layer that checks the contract.
    pub validate: bool,
    /// Bytes that may be allocated in the memory of a device.
    pub budget: Option<(usize, u64)>,
    /// At the end everything is dropped, the runtime too, while commands may be under way.
    pub abrupt: bool,
    /// Allocations are linked wherever that can be. Transfers are not foretold then.
    pub links: bool,
    /// Queues.
    pub queues: Vec<QueueSpec>,
}

impl Config {
    /// The backends, in their order in the runtime: names, and how many devices each has.
    pub fn backends(&self) -> Vec<(&str, usize)> {
        let cpu = self.cpu.map(|domains| ("cpu", domains));
        let sim = self.sim.as_ref().map(|sim| ("sim", sim.devices));
        let machines = self.machines.iter().map(|m| (m.name(), m.homes().len()));
        cpu.into_iter().chain(sim).chain(machines).collect()
    }

    /// The names of devices.
    pub fn names(&self) -> Vec<String> {
        let name = |(name, devices)| (0..devices).map(move |at| format!("{name}:{at}"));
        self.backends().into_iter().flat_map(name).collect()
    }

    /// The name of a device.
    pub fn device_name(&self, device: usize) -> String {
        self.names().swap_remove(device)
    }

    /// The memory domain of each device: 0 is the host.
    pub fn domains(&self) -> Vec<usize> {
        let mut domains: Vec<usize> = (0..self.cpu.unwrap_or(0)).collect();
        let mut next = self.cpu.unwrap_or(1).max(1);
        if let Some(sim) = &self.sim {
            for device in 0..sim.devices {
                if device == 0 && sim.first_on_host {
                    domains.push(0);
                } else {
                    domains.push(next);
                    next += 1;
                }
            }
        }
        for machine in self.machines {
            let mut known = HashMap::new();
            domains.extend(machine.homes().iter().map(|home| match home {
                MemoryHome::Host => 0,
                MemoryHome::Own(_) => *known.entry(*home).or_insert_with(|| {
                    next += 1;
                    next - 1
                }),
            }));
        }
        domains
    }

    /// Some device takes kernels only that it can load.
    pub fn runs_no_closures(&self) -> bool {
        !self.machines.is_empty() || self.sim.as_ref().is_some_and(|sim| sim.ir)
    }

    /// The backend of this machine that a device is of.
    pub fn machine(&self, device: usize) -> Option<&'static Machine> {
        let before = self.cpu.unwrap_or(0) + self.sim.as_ref().map_or(0, |sim| sim.devices);
        let mut at = device.checked_sub(before)?;
        self.machines.iter().find(|machine| {
            let here = at < machine.homes().len();
            at = at.saturating_sub(machine.homes().len());
            here
        })
    }
}

/// A part of a buffer, seen as elements of some type in some shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// The buffer.
    pub buffer: usize,
    /// As which elements.
    pub ty: Ty,
    /// In which shape; as many bytes as the buffer.
    pub dims: Dims,
    /// Which of them.
    pub part: Box3,
}

/// How a command uses a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `read`.
    Read,
    /// `write`: what is not written stays.
    Write,
    /// `read_write`.
    ReadWrite,
    /// `discard`.
    Discard,
    /// A kernel function's [`Overwritten`](folio_core::buffer::Overwritten) argument, of which the
    /// items write all; elsewhere a `discard`.
    Overwrite,
}

impl Mode {
    /// What was there before does not count.
    pub fn discards(self) -> bool {
        matches!(self, Mode::Discard | Mode::Overwrite)
    }
}

/// An access of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The view.
    pub view: View,
    /// How.
    pub mode: Mode,
}

/// Which items write: all but those with `number % every == which`.
pub type Skip = Option<(usize, usize)>;

/// How an action ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// Well.
    Well,
    /// With a panic.
    Panics,
    /// With an error (host tasks).
    Fails,
}

/// The kinds of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Items compute from what they read anywhere and write their own elements. All of one type.
    Kernel {
        /// Dimensions of the launch.
        rank: usize,
        /// The launch range, widened.
        range: Dims,
        /// Up to two reads, then one or two others.
        accesses: Vec<Access>,
        /// Who does not write.
        skip: Skip,
        /// How it ends.
        ends: Ends,
    },
    /// A closure on the host.
    Task {
        /// The view that it reads.
        read: Option<View>,
        /// The view that it changes.
        write: Option<Access>,
        /// The elements that it leaves.
        skip: Skip,
        /// How it ends.
        ends: Ends,
    },
    /// A copy; parts of equal extent and type.
    Copy {
        /// From.
        from: View,
        /// To.
        to: View,
    },
    /// A copy from a slice.
    Upload {
        /// To.
        to: View,
    },
    /// A fill.
    Fill {
        /// The view.
        to: View,
    },
    /// Brings data to the host.
    UpdateHost {
        /// Which.
        view: View,
    },
    /// Brings data to the queue's device, or hints of USM.
    Prefetch {
        /// Which.
        view: View,
    },
    /// Hints how USM is going to be used.
    Advise {
        /// Which.
        view: View,
    },
    /// Hints of raw memory.
    RawHint {
        /// Which.
        view: View,
    },
    /// A copy between raw memory; parts of equal extent and type.
    RawCopy {
        /// From.
        from: View,
        /// To.
        to: View,
    },
    /// A fill of raw memory.
    RawFill {
        /// The view.
        to: View,
    },
    /// A kernel or a host task that finds what it uses by its address: nobody knows of it.
    RawRun {
        /// As a host task.
        on_host: bool,
        /// The view that it reads.
        read: Option<View>,
        /// The view that it writes, all of it.
        write: View,
        /// How it ends.
        ends: Ends,
    },
}

impl Action {
    /// All accesses in the order in which the engine gets them, with `whole` for discards that are
    /// known to write everything.
    pub fn accesses(&self) -> Vec<(Access, bool)> {
        let read = |view: &View| (Access { view: *view, mode: Mode::Read }, false);
        let whole = |view: &View| (Access { view: *view, mode: Mode::Discard }, true);
        match self {
            Action::Kernel { accesses, .. } => accesses.iter().map(|a| (*a, false)).collect(),
            Action::Task { read: r, write, .. } => {
                r.iter().map(read).chain(write.iter().map(|w| (*w, false))).collect()
            }
            Action::Copy { from, to } => vec![read(from), whole(to)],
            Action::Upload { to } | Action::Fill { to } => vec![whole(to)],
            Action::UpdateHost { view } | Action::Prefetch { view } | Action::Advise { view } => {
                vec![read(view)]
            }
            Action::RawCopy { .. }
            | Action::RawFill { .. }
            | Action::RawRun { .. }
            | Action::RawHint { .. } => Vec::new(),
        }
    }

    /// The views that it uses without an access, and whether it writes them.
    pub fn raw(&self) -> Vec<(View, bool)> {
        match self {
            Action::RawCopy { from, to } => vec![(*from, false), (*to, true)],
            Action::RawFill { to } => vec![(*to, true)],
            // The memory must be there, and is not used.
            Action::RawHint { view } => vec![(*view, false)],
            Action::RawRun { read, write, .. } => {
                read.iter().map(|r| (*r, false)).chain([(*write, true)]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// All buffers that it names.
    pub fn buffers(&self) -> Vec<usize> {
        let tracked = self.accesses().into_iter().map(|(a, _)| a.view.buffer);
        tracked.chain(self.raw().into_iter().map(|(v, _)| v.buffer)).collect()
    }

    /// Whether it needs its data on the host.
    pub fn on_host(&self) -> bool {
        matches!(
            self,
            Action::Task { .. } | Action::UpdateHost { .. } | Action::RawRun { on_host: true, .. }
        )
    }

    /// No item of it runs.
    pub fn is_empty(&self) -> bool {
        match self {
            Action::Kernel { range, .. } => range.contains(&0),
            Action::RawRun { write, .. } => write.part.is_empty(),
            _ => false,
        }
    }

    /// How it is meant to end.
    pub fn ends(&self) -> Ends {
        match self {
            Action::Kernel { ends, .. }
            | Action::Task { ends, .. }
            | Action::RawRun { ends, .. } => *ends,
            _ => Ends::Well,
        }
    }
}

/// The kinds of steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A command.
    Submit {
        /// Where.
        queue: usize,
        /// The command.
        action: Action,
        /// After the events of these steps.
        after: Vec<u32>,
    },
    /// The host reads a part.
    Read {
        /// Which.
        view: View,
    },
    /// The host writes a part through a guard.
    Write {
        /// Which.
        view: View,
        /// Without what was there.
        overwrite: bool,
        /// The elements that it leaves.
        skip: Skip,
    },
    /// The host reads a part and holds the guard until another step.
    Hold {
        /// Which.
        view: View,
        /// As the only one.
        writes: bool,
    },
    /// Gives the guards of this thread back.
    Unhold,
    /// Frees the memory of a buffer on a device, if nobody needs it.
    Release {
        /// Which.
        buffer: usize,
        /// Whose.
        device: usize,
    },
    /// The host writes a part on a device, by its address, and says so.
    Assume {
        /// Which: elements of the buffer as it was made.
        view: View,
        /// Where.
        device: usize,
    },
    /// Makes a buffer of USM.
    Adopt {
        /// Which.
        buffer: usize,
    },
    /// Begins a scope in which a slice is a buffer.
    Enter {
        /// Which.
        buffer: usize,
    },
    /// Ends that scope, if it is the innermost.
    Leave {
        /// Which.
        buffer: usize,
    },
    /// Drops the handle of a buffer.
    Drop {
        /// Which.
        buffer: usize,
    },
    /// Waits for a queue.
    WaitQueue {
        /// Which.
        queue: usize,
    },
    /// Waits for the event of a step.
    WaitEvent {
        /// Which.
        step: u32,
    },
    /// A barrier.
    Barrier {
        /// Of which queue.
        queue: usize,
    },
    /// Nothing ends on a simulated device's copy lanes (or compute lanes) for a while: until a
    /// step waits.
    Freeze {
        /// Which, among the simulated ones.
        device: usize,
        /// Copies, or kernels.
        copies: bool,
    },
}

impl What {
    /// The buffers that it names.
    pub fn buffers(&self) -> Vec<usize> {
        match self {
            What::Submit { action, .. } => action.buffers(),
            What::Read { view }
            | What::Write { view, .. }
            | What::Hold { view, .. }
            | What::Assume { view, .. } => vec![view.buffer],
            What::Adopt { buffer }
            | What::Enter { buffer }
            | What::Leave { buffer }
            | What::Drop { buffer }
            | What::Release { buffer, .. } => vec![*buffer],
            _ => Vec::new(),
        }
    }
}

/// A step, with a number that shrinking does not change: what it computes depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The number.
    pub id: u32,
    /// Who does it.
    pub thread: usize,
    /// The kind of step.
    pub what: What,
}

/// A program.
#[derive(Clone, PartialEq, Eq)]
pub struct Program {
    /// The seed that made it.
    pub seed: u64,
    /// Its runtime.
    pub config: Config,
    /// Its buffers.
    pub buffers: Vec<BufferSpec>,
    /// Its steps; those of one thread in order.
    pub steps: Vec<Step>,
}

impl Program {
    /// The queue that covers the writeback of a buffer.
    pub fn queue_of(&self, buffer: usize) -> usize {
        buffer % self.config.queues.len()
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.steps.iter().map(|s| s.thread + 1).max().unwrap_or(1)
    }

    /// The name of a buffer in failures.
    pub fn buffer_label(&self, buffer: usize) -> String {
        match self.buffers[buffer].memory {
            Memory::Own | Memory::Lent => format!("buffer {buffer}"),
            Memory::Usm(device, _) => Memory::usm_label(&self.config, device),
            Memory::Over(_) => String::new(),
            Memory::Borrowed => "view".to_owned(),
        }
    }

    /// The name of a step, as command and in failures.
    pub fn label(step: u32) -> String {
        format!("step {step}")
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "program of seed {}", self.seed)?;
        writeln!(f, "  {:?}", Config { queues: Vec::new(), ..self.config.clone() })?;
        for (at, queue) in self.config.queues.iter().enumerate() {
            writeln!(f, "  queue {at}: {queue:?}")?;
        }
        for (at, buffer) in self.buffers.iter().enumerate() {
            writeln!(f, "  buffer {at}: {buffer:?}")?;
        }
        for step in &self.steps {
            writeln!(f, "  {:>3} (thread {}): {:?}", step.id, step.thread, step.what)?;
        }
        Ok(())
    }
}
