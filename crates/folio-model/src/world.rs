//! Runtimes as programs describe them, with everything that watches over them.

use crate::interp::Interpreter;
use crate::live::Live;
use crate::program::{Action, BufferSpec, Choice, Config, Groups, QueueSpec, Sim};
use crate::run::Record;
use folio_core::canary::Canary;
use folio_core::hal::{Backend, LaneKind, Link, MemoryHome};
use folio_core::sched::{Candidate, Locality, RoundRobin, Scheduler, Task};
use folio_core::{Cause, Event, Failure, Queue, Runtime, RuntimeBuilder, memory::Links};
use folio_cpu::CpuBackend;
use folio_layers::{Layer, Report, Validate};
use folio_sim::{DeviceSpec, OpKind, Script, SimBackend, SimHandle};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A layer around the backend of a program, such as faults or a planted bug.
pub trait Wrap: Send + Sync {
    /// Wraps a backend, the outermost layer but for the one that validates.
    fn wrap(&self, backend: Arc<dyn Backend>) -> Arc<dyn Backend>;
    /// Changes the runtime.
    fn build(&self, builder: RuntimeBuilder) -> RuntimeBuilder {
        builder
    }
    /// Changes how a buffer is made, as a bug in the engine would.
    fn spec(&self, spec: BufferSpec) -> BufferSpec {
        spec
    }
    /// Changes what a command is said to come after, as a bug in the engine would.
    fn after(&self, _: &Action, _: &mut Vec<Event>) {}
    /// Changes what was seen, as a bug in the engine itself would.
    fn seen(&self, _: &mut Record) {}
    /// Whether calls of backends may fail.
    fn fails(&self) -> bool {
        false
    }
    /// Whether a backend has told of something that the handler must be told of.
    fn told(&self) -> bool {
        false
    }
    /// Whether scopes end before what was done in them.
    fn leaves_scopes_early(&self) -> bool {
        false
    }
    /// Whether the layer that validates may be there.
    fn validated(&self) -> bool {
        true
    }
}

/// Nothing.
pub struct Plain;

impl Wrap for Plain {
    fn wrap(&self, backend: Arc<dyn Backend>) -> Arc<dyn Backend> {
        backend
    }
}

/// A failure as the handler was told of it.
#[derive(Clone, Debug)]
pub struct ReportedFailure {
    /// Its number.
    pub id: u64,
    /// The kind of the failed thing.
    pub what: &'static str,
    /// The name of that.
    pub label: String,
    /// Where.
    pub device: String,
    /// Why.
    pub cause: Cause,
}

impl From<&Failure> for ReportedFailure {
    fn from(failure: &Failure) -> ReportedFailure {
        ReportedFailure {
            id: failure.id(),
            what: failure.what(),
            label: failure.label().to_owned(),
            device: failure.device().to_owned(),
            cause: failure.cause().clone(),
        }
    }
}

/// A runtime and its watchers.
pub struct World {
    /// The runtime.
    pub rt: Runtime,
    /// Its queues.
    pub queues: Vec<Queue>,
    /// Of the simulated devices.
    pub sim: Option<SimHandle>,
    /// Of the layer that validates.
    pub reports: Vec<Report>,
    /// The failures that the handler was told of.
    pub told: Arc<Mutex<Vec<ReportedFailure>>>,
    /// Memory of devices that is out, where the runtime cannot be asked for it.
    pub live: Live,
    /// How many simulated devices there are.
    pub simulated: usize,
}

/// Each of three lags on so many lanes: more lanes than three devices have.
const LANES: usize = 8;

/// The lanes that a freeze means.
pub fn frozen(copies: bool) -> &'static [LaneKind] {
    if copies {
        &[LaneKind::Upload, LaneKind::Download, LaneKind::Peer]
    } else {
        &[LaneKind::Compute]
    }
}

fn sim_backend(sim: &Sim) -> SimBackend {
    let mut builder = SimBackend::builder().notifies(sim.notifies);
    // Dearer than a thread of the host is.
    let link = Link::default();
    for device in 0..sim.devices {
        let group = match sim.groups {
            Groups::One => Some(0),
            Groups::Each => Some(device as u32),
            Groups::None => None,
        };
        let mut spec = DeviceSpec::new()
            .wait_group(group)
            .copy_lanes(sim.copy_lanes)
            .batch(sim.batch)
            .max_in_flight(sim.max_in_flight)
            .courier(sim.courier.then_some(1))
            .one_at_a_time(device == 0)
            .host_link(link);
        if sim.ir {
            spec = spec.closures(false).ir(Arc::new(Interpreter));
        }
        if device == 0 && sim.first_on_host {
            spec = spec.home(MemoryHome::Host);
        }
        builder = builder.device(spec);
    }
    if sim.peers {
        builder = builder.peers(link);
    }
    let script = Script::new()
        .latency(OpKind::Launch, sim.late[0])
        .latency(OpKind::Fill, sim.late[0])
        .latency(OpKind::Copy, sim.late[1])
        .jitter(sim.jitter)
        .overlap(sim.overlap)
        .visible_every(sim.visible_every)
        .lags(&sim.lags.repeat(LANES))
        .seed(sim.seed);
    builder.script(script).build()
}

/// CPU backends are made once: their threads cost more than a program.
fn cpu_backend(domains: usize) -> Result<Arc<dyn Backend>, String> {
    static MADE: Mutex<Option<HashMap<usize, Arc<CpuBackend>>>> = Mutex::new(None);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let made = made.get_or_insert_with(HashMap::new);
    if let Some(known) = made.get(&domains) {
        return Ok(known.clone());
    }
    let new = CpuBackend::builder().domains(domains).threads(2).build();
    let new = Arc::new(new.map_err(|e| e.to_string())?);
    made.insert(domains, new.clone());
    Ok(new)
}

impl World {
    /// Makes it.
    pub fn new(config: &Config, wrap: &dyn Wrap) -> Result<World, String> {
        let mut backends: Vec<Arc<dyn Backend>> = Vec::new();
        if let Some(domains) = config.cpu {
            backends.push(cpu_backend(domains)?);
        }
        let mut sim = None;
        if let Some(spec) = &config.sim {
            let backend = sim_backend(spec);
            sim = Some(backend.handle());
            backends.push(Arc::new(backend));
        }
        backends.extend(config.machines.iter().map(|machine| machine.backend()));
        let told: Arc<Mutex<Vec<ReportedFailure>>> = Arc::default();
        let (sink, canary) = (told.clone(), Canary::new("the handler"));
        // The same physical device may be there by two backends.
        let mut builder = Runtime::builder().keep_twins().on_failure(move |failure| {
            canary.runs();
            sink.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(ReportedFailure::from(&**failure));
        });
        let mut reports = Vec::new();
        let live = Live::default();
        for (number, backend) in backends.into_iter().enumerate() {
            let watched = config.abrupt || wrap.fails();
            let backend = if watched { live.watch(number, backend) } else { backend };
            let mut backend = wrap.wrap(backend);
            if config.validate && wrap.validated() {
                let validate = Validate::new();
                reports.push(validate.report());
                backend = Arc::new(Layer::new(validate, backend));
            }
            builder = builder.shared_backend(backend);
        }
        builder = builder.links(if config.links { Links::On } else { Links::Off });
        if let Some((device, bytes)) = config.budget {
            builder = builder.budget(config.device_name(device), bytes);
        }
        let rt = wrap.build(builder).build().map_err(|e| e.to_string())?;
        let queues: Result<Vec<Queue>, String> =
            config.queues.iter().map(|q| queue(&rt, q).map_err(|e| e.to_string())).collect();
        let simulated = config.sim.as_ref().map_or(0, |s| s.devices);
        Ok(World { rt, queues: queues?, sim, reports, told, live, simulated })
    }

    /// Nothing ends on simulated devices from now on.
    pub fn freeze(&self) {
        let Some(sim) = &self.sim else { return };
        for device in 0..self.simulated as u32 {
            for kind in frozen(true).iter().chain(frozen(false)) {
                sim.hold(device, *kind);
            }
        }
    }

    /// Lets everything go on that [`crate::program::What::Freeze`] has stopped.
    pub fn thaw(&self) {
        let Some(sim) = &self.sim else { return };
        for device in 0..self.simulated as u32 {
            for kind in frozen(true).iter().chain(frozen(false)) {
                sim.release(device, *kind);
            }
        }
    }
}

fn queue(rt: &Runtime, spec: &QueueSpec) -> folio_core::Result<Queue> {
    let all = rt.devices();
    match spec.devices.as_slice() {
        [one] if spec.in_order => rt.in_order_queue_on(&all[*one]),
        [one] => rt.queue_on(&all[*one]),
        some => {
            let devices: Vec<_> = some.iter().map(|d| all[*d].clone()).collect();
            rt.queue_over(&devices, Recorded(spec.choice, Canary::new("a scheduler")))
        }
    }
}

thread_local! {
    static CHOSEN: Cell<usize> = const { Cell::new(0) };
}

/// The scheduler's last choice for this thread.
pub fn chosen() -> usize {
    CHOSEN.get()
}

/// A scheduler that tells what it has chosen.
struct Recorded(Choice, Canary);

impl Scheduler for Recorded {
    fn choose(&self, task: &Task<'_>, candidates: &[Candidate<'_>]) -> usize {
        self.1.runs();
        let choice = match self.0 {
            Choice::Locality => Locality.choose(task, candidates),
            Choice::RoundRobin => RoundRobin.choose(task, candidates),
        };
        CHOSEN.set(choice);
        choice
    }
}
