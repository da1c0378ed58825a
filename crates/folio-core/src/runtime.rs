//! The runtime: backends, devices, and what is made from them.

use crate::buffer::{BufferOptions, End, StorageHandle, View, default_page};
use crate::element::DeviceType;
use crate::engine::Engine;
use crate::engine::devices::DeviceEntry;
use crate::engine::kernels::Kernels;
use crate::engine::lanes::port::LaneTable;
use crate::engine::ledger::{DeviceFacts, Ledger};
use crate::engine::pages::storage::StorageState;
use crate::engine::pages::tracker::{Foreign, Tracker};
use crate::engine::terms::budget::Budget;
use crate::engine::terms::evict::Evict;
use crate::engine::terms::link::Links;
use crate::engine::threads::courier;
use crate::engine::threads::reaper::Reaper;
use crate::error::{Error, Failure, Label, Result};
use crate::foreign::in_kernel;
use crate::geom::{Dims, Grid};
use crate::graph::{FusionCounters, Recordings};
use crate::hal::{Backend, DeviceInfo, Limits, Link, MemoryHome, Notify};
use crate::ir::Scalar;
use crate::pages::{BlockTracker, DomainId, PageTrackerFactory};
use crate::planted::Plant;
#[cfg(feature = "planted")]
use crate::planted::Planted;
use crate::program;
use crate::queue::Queue;
use crate::report::Counters;
use crate::sched::Scheduler;
use crate::select::Selector;
use crate::sync::Mutex;
use crate::tune::Tunings;
use folio_kernel::words::Plain;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

/// A runtime, as its handles hold it. Whatever hands out handles by the million, such as a queue
/// its events, does so from a core of its own, and in a cache line of its own, so that threads
/// which use different queues do not count in one place.
#[derive(Clone)]
#[repr(align(128))]
pub(crate) struct Core {
    pub(crate) engine: Arc<Engine>,
    /// Tells runtimes apart.
    pub(crate) id: u64,
    pub(crate) recordings: Arc<Recordings>,
    /// Never looked at: it is its drop that counts.
    _open: Arc<Open>,
}

/// Shared by all cores of a runtime; when the last handle goes, the engine closes.
struct Open(Arc<Engine>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.close();
        self.0.take_leave();
    }
}

impl Core {
    fn new(engine: Arc<Engine>, id: u64) -> Arc<Core> {
        let open = Arc::new(Open(engine.clone()));
        Arc::new(Core { engine, id, recordings: Arc::default(), _open: open })
    }

    /// Another one, of the same runtime.
    pub(crate) fn apart(&self) -> Arc<Core> {
        Arc::new(self.clone())
    }

    /// True for two of one runtime.
    pub(crate) fn same(&self, other: &Core) -> bool {
        self.id == other.id
    }
}

/// A runtime: its devices, and the data and work on them. Cheap to clone.
///
/// **Dropping the last handle does not wait for submitted work.** (Queues, buffers, events and
/// guards are handles, too.) The work runs on, but only for as long as the process lives: a program
/// that returns from `main` takes it with it. Read the results, or call [`wait`](Runtime::wait) or
/// [`shutdown`](Runtime::shutdown) first; or write `#[folio::main]`, which waits. If work has not
/// ended then, a line on standard error says which, unless there is a
/// [handler](RuntimeBuilder::on_failure), the thread panics, or `FOLIO_QUIET=1` is set.
#[derive(Clone)]
pub struct Runtime {
    pub(crate) core: Arc<Core>,
}

/// A device of a runtime.
#[derive(Clone)]
pub struct DeviceRef {
    pub(crate) core: Arc<Core>,
    pub(crate) at: u16,
}

impl DeviceRef {
    /// The runtime that it is of.
    pub(crate) fn runtime(&self) -> Runtime {
        Runtime { core: self.core.clone() }
    }

    fn entry(&self) -> &DeviceEntry {
        &self.core.engine.devices[usize::from(self.at)]
    }

    /// Its name in this runtime: backend and number, such as `cpu:0`.
    pub fn name(&self) -> &str {
        &self.entry().name
    }

    /// Kernels of a graph can become one launch on it.
    pub fn fuses(&self) -> bool {
        self.core.engine.fusion_facts(self.at).of_plan.fuses
    }

    /// What the fusion of graphs has cost on it.
    pub fn fusion_counters(&self) -> FusionCounters {
        self.core.engine.fusion_counters(self.at)
    }

    /// What is known of it.
    pub fn info(&self) -> &DeviceInfo {
        &self.entry().info
    }

    /// What kernels can use on it, and how much: `f64`, the largest group, local memory.
    ///
    /// ```
    /// # use folio_core::Runtime;
    /// fn group_for(device: &folio_core::DeviceRef) -> usize {
    ///     device.limits().group_items.min(256) as usize
    /// }
    /// ```
    pub fn limits(&self) -> Limits {
        self.info().limits()
    }

    /// Types of elements of which it has matrix units, which compute relaxed products
    /// ([`Tile::add_relaxed_product`](crate::Tile::add_relaxed_product)). Those of other elements
    /// are loops.
    pub fn tiles(&self) -> &'static [Scalar] {
        self.info().caps.tiles
    }

    /// Bytes that the runtime may allocate in its memory, and bytes that it has. Devices of one
    /// memory, such as those that compute in the host's, share one budget.
    pub fn budget(&self) -> (u64, u64) {
        let budget = self.core.engine.budget(self.at);
        (budget.limit(), budget.in_use())
    }

    /// Changes how many bytes the runtime may allocate on it. What is allocated stays; what the
    /// device keeps of freed memory beyond that goes back to its driver.
    pub fn set_budget(&self, bytes: u64) {
        self.core.engine.set_budget(self.at, bytes);
    }
}

impl std::fmt::Debug for DeviceRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.name(), self.info().name)
    }
}

/// Makes a [`Runtime`].
#[derive(Default)]
pub struct RuntimeBuilder {
    backends: Vec<Arc<dyn Backend>>,
    handler: Option<crate::engine::Handler>,
    tracker: Option<Arc<dyn PageTrackerFactory>>,
    links: Option<Links>,
    device_times: Option<bool>,
    tune: Option<bool>,
    evict: Option<Evict>,
    budgets: Vec<(String, u64)>,
    keep_twins: bool,
    absent: Vec<String>,
    plant: Plant,
    shows_progress: bool,
}

impl RuntimeBuilder {
    /// Plants a bug in the engine.
    ///
    /// # Safety
    /// With it, safe code can do what it must not; what comes of that is the caller's.
    #[cfg(feature = "planted")]
    #[must_use]
    pub unsafe fn plant(mut self, bug: Planted) -> RuntimeBuilder {
        self.plant.bug = Some(bug);
        self
    }

    /// Adds a backend. Devices are found when the runtime is made, and opened on first use.
    #[must_use]
    pub fn backend(mut self, backend: impl Backend) -> RuntimeBuilder {
        self.backends.push(Arc::new(backend));
        self
    }

    /// As [`backend`](Self::backend), for one that is shared already.
    #[must_use]
    pub fn shared_backend(mut self, backend: Arc<dyn Backend>) -> RuntimeBuilder {
        self.backends.push(backend);
        self
    }

    /// Puts a layer around each backend that the builder has so far.
    ///
    /// ```
    /// # use folio_core::hal::Backend;
    /// # use folio_core::RuntimeBuilder;
    /// # use std::sync::Arc;
    /// # fn checked(builder: RuntimeBuilder, check: impl Fn(Arc<dyn Backend>) -> Arc<dyn Backend>)
    /// # -> folio_core::Result<()> {
    /// let rt = builder.layer(|backend| check(backend)).build()?;
    /// # drop(rt);
    /// # Ok(())
    /// # }
    /// # checked(folio_core::Runtime::builder(), |backend| backend).unwrap();
    /// ```
    #[must_use]
    pub fn layer(
        mut self,
        layer: impl FnMut(Arc<dyn Backend>) -> Arc<dyn Backend>,
    ) -> RuntimeBuilder {
        self.backends = self.backends.into_iter().map(layer).collect();
        self
    }

    /// Who is told of each failure of submitted work, once, when it is found. Called from any
    /// thread, without locks.
    ///
    /// Without this, a failure that no call has returned by the time the runtime's last handle goes
    /// is written to standard error, in one line; so is one that is found after that. A call
    /// returns a failure when it is a wait, a read, or an event's `status`. A handler replaces
    /// that: with one, the runtime writes nothing. Under `#[folio::main]` such a failure also makes
    /// the program fail, with a handler, too.
    #[must_use]
    pub fn on_failure(
        mut self,
        handler: impl Fn(&Arc<Failure>) + Send + Sync + 'static,
    ) -> RuntimeBuilder {
        self.handler = Some(Box::new(handler));
        self
    }

    /// How buffers keep track of their pages, unless they say otherwise.
    #[must_use]
    pub fn page_tracker(mut self, tracker: Arc<dyn PageTrackerFactory>) -> RuntimeBuilder {
        self.tracker = Some(tracker);
        self
    }

    /// What may happen to the copies of buffers when memory is short, unless they say otherwise.
    #[must_use]
    pub fn evict(mut self, how: Evict) -> RuntimeBuilder {
        self.evict = Some(how);
        self
    }

    /// Whether buffers on the host and on devices that share its memory are one allocation.
    /// Without this `FOLIO_LINKS` says it: `auto`, `on` or `off`.
    #[must_use]
    pub fn links(mut self, links: Links) -> RuntimeBuilder {
        self.links = Some(links);
        self
    }

    /// Devices time by their own clocks what a subscriber of `tracing` is told of. The event
    /// `complete` of an operation has `device_begin` and `device_ns` then, in nanoseconds, where
    /// the device can tell ([`Caps::timing`](crate::hal::Caps::timing)). Without a subscriber,
    /// commands are timed only where they ask for it ([`Queue::timed`]). The variable
    /// `FOLIO_DEVICE_TIMES` says it where this does not: `on` or `off`.
    #[must_use]
    pub fn device_times(mut self, on: bool) -> RuntimeBuilder {
        self.device_times = Some(on);
        self
    }

    /// Every [`Queue::run`] measures the shapes of its launches as [`Queue::tune`] does, until one
    /// is chosen. The variable `FOLIO_TUNE` says it where this does not: `on` or `off`.
    #[must_use]
    pub fn tune(mut self, on: bool) -> RuntimeBuilder {
        self.tune = Some(on);
        self
    }

    /// How many bytes may be allocated in the memory of a device (by name, such as `cpu:1`) or of
    /// the `host`, which is also that of devices such as `cpu:0`.
    #[must_use]
    pub fn budget(mut self, device: impl Into<String>, bytes: u64) -> RuntimeBuilder {
        self.budgets.push((device.into(), bytes));
        self
    }

    /// Shows a physical device as often as backends have it. Without this the second and later
    /// views of one device (by its UUID) are left out.
    #[must_use]
    pub fn keep_twins(mut self) -> RuntimeBuilder {
        self.keep_twins = true;
        self
    }

    /// Tells of a backend that the program does not have, and why.
    /// [`Runtime::missing_backends`] lists it, and so do errors about devices that are not there.
    ///
    /// ```
    /// # fn main() -> folio_core::Result<()> {
    /// let builder = folio_core::Runtime::builder();
    /// let rt = builder.missing_backend("metal: there is no such backend yet").build()?;
    /// let error = rt.device("metal").err().map(|error| error.to_string());
    /// assert!(error.is_some_and(|text| text.contains("no such backend yet")));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn missing_backend(mut self, why: impl Into<String>) -> RuntimeBuilder {
        self.absent.push(why.into());
        self
    }

    /// Writes a line to standard error while drivers compile kernels, in this process: once that
    /// has taken a second, and where standard error is a terminal. Without this the library is
    /// silent.
    #[must_use]
    pub fn show_progress(mut self) -> RuntimeBuilder {
        self.shows_progress = true;
        self
    }

    /// Makes the runtime.
    pub fn build(mut self) -> Result<Runtime> {
        if self.backends.len() > 60 {
            let why = "more than 60 of them".to_owned();
            return Err(Error::Configuration { what: "backends", why });
        }
        if self.links.is_none() {
            self.links = Some(links_of_environment()?);
        }
        if self.device_times.is_none() {
            self.device_times = Some(switch_of_environment(TIMES_VARIABLE)?);
        }
        if self.tune.is_none() {
            self.tune = Some(switch_of_environment(TUNE_VARIABLE)?);
        }
        let host_budget = Arc::new(Budget::new(u64::MAX));
        let (devices, mut absent) = find_devices(&self.backends, self.keep_twins, &host_budget)?;
        absent.append(&mut self.absent);
        for (name, bytes) in &self.budgets {
            if name == "host" {
                host_budget.set_limit(*bytes);
                continue;
            }
            match devices.iter().find(|d| d.name == *name) {
                Some(device) => device.budget.set_limit(*bytes),
                None => {
                    let (there, name) = (names(&devices), Plain(name));
                    let why = format!("no device is called {name}; there are {there}");
                    return Err(Error::Configuration { what: "budget", why });
                }
            }
        }
        if self.shows_progress {
            crate::progress::show();
        }
        let engine = new_engine(self, devices, host_budget, absent);
        program::add(&engine);
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Ok(Runtime { core: Core::new(engine, id) })
    }
}

/// The variable that says whether allocations are linked.
const LINKS_VARIABLE: &str = "FOLIO_LINKS";

fn links_of_environment() -> Result<Links> {
    match of_environment(LINKS_VARIABLE).as_ref() {
        "" | "auto" => Ok(Links::Auto),
        "on" => Ok(Links::On),
        "off" => Ok(Links::Off),
        value => Err(wrong_variable(LINKS_VARIABLE, value, "`auto`, `on` or `off` is possible")),
    }
}

/// The variable that says whether devices time what a subscriber is told of.
const TIMES_VARIABLE: &str = "FOLIO_DEVICE_TIMES";

const TUNE_VARIABLE: &str = "FOLIO_TUNE";

fn switch_of_environment(variable: &str) -> Result<bool> {
    match of_environment(variable).as_ref() {
        "" | "off" | "0" => Ok(false),
        "on" | "1" => Ok(true),
        value => Err(wrong_variable(variable, value, "`on` or `off` is possible")),
    }
}

/// The value of a variable; empty where there is none.
fn of_environment(variable: &str) -> String {
    std::env::var_os(variable).unwrap_or_default().to_string_lossy().into_owned()
}

fn wrong_variable(variable: &str, value: &str, allowed: &str) -> Error {
    let [variable, value, allowed] = [variable, value, allowed].map(str::to_owned);
    Error::Environment { variable, value, allowed }
}

fn names(devices: &[DeviceEntry]) -> String {
    let names: Vec<&str> = devices.iter().map(|d| d.name.as_str()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Asks the backends for their devices, and gives each memory its domain.
fn find_devices(
    backends: &[Arc<dyn Backend>],
    keep_twins: bool,
    host_budget: &Arc<Budget>,
) -> Result<(Vec<DeviceEntry>, Vec<String>)> {
    let mut devices: Vec<DeviceEntry> = Vec::new();
    let mut absent = Vec::new();
    let mut domains: HashMap<(usize, u32), DomainId> = HashMap::new();
    for (at, backend) in backends.iter().enumerate() {
        let found = match backend.devices() {
            Ok(found) => found,
            Err(why) => {
                absent.push(format!("{}: {}", Plain(backend.name()), why.reason));
                continue;
            }
        };
        let again = backends[..at].iter().filter(|b| b.name() == backend.name()).count();
        let backend_name = Plain(backend.name()).to_string();
        for (index, mut info) in found.into_iter().enumerate() {
            info.name = Plain(&info.name).to_string();
            let twin = |d: &DeviceEntry| d.backend != at && d.info.uuid == info.uuid;
            if !keep_twins && info.uuid.is_some() && devices.iter().any(twin) {
                absent.push(format!("{backend_name}:{index}: {} is there already", info.name));
                continue;
            }
            let domain = match info.home {
                MemoryHome::Host => DomainId::HOST,
                MemoryHome::Own(key) => {
                    let next = DomainId((domains.len() + 1) as u8);
                    *domains.entry((at, key)).or_insert(next)
                }
            };
            if domain.0 >= 64 || devices.len() >= 4000 {
                let why = format!(
                    "no room for {backend_name}:{index}: all backends together have 63 memories and 4000 devices at most",
                );
                return Err(Error::Configuration { what: "devices", why });
            }
            let suffix = if again == 0 { String::new() } else { format!("#{again}") };
            let name = format!("{backend_name}{suffix}:{index}");
            let same = |d: &&DeviceEntry| d.domain == domain;
            let budget = match devices.iter().find(same) {
                _ if domain.is_host() => host_budget.clone(),
                Some(other) => other.budget.clone(),
                None => {
                    let advised = info.caps.budget.unwrap_or(info.memory);
                    Arc::new(Budget::new(advised.min(info.memory)))
                }
            };
            devices.push(DeviceEntry {
                backend: at,
                index,
                name,
                info,
                domain,
                budget,
                opened: OnceLock::new(),
                kernels: Kernels::new(),
                courier: None,
            });
        }
    }
    let asking = devices.iter_mut().filter_map(|d| Some((d.info.caps.courier?, &mut d.courier)));
    courier::engage(asking);
    Ok((devices, absent))
}

fn new_engine(
    builder: RuntimeBuilder,
    devices: Vec<DeviceEntry>,
    host_budget: Arc<Budget>,
    absent: Vec<String>,
) -> Arc<Engine> {
    let RuntimeBuilder {
        backends, handler, tracker, plant, links, evict, device_times, tune, ..
    } = builder;
    let facts = devices.iter().map(|d| DeviceFacts {
        domain: d.domain,
        key: crate::engine::terms::lane::WaitKey {
            backend: d.backend as u16,
            group: d.info.caps.wait_group,
        },
        hints: d.info.caps.hints,
    });
    let domains = devices.iter().map(|d| usize::from(d.domain.0) + 1).max().unwrap_or(1);
    let mut host_links = vec![Link::default(); domains];
    for device in devices.iter().rev() {
        let at = usize::from(device.domain.0);
        host_links[at] = device.info.caps.host_link;
    }
    let device_names: Arc<[String]> = devices.iter().map(|d| d.name.clone()).collect();
    let table = Arc::new(LaneTable::new(devices.len()));
    let mut ledger =
        Ledger::new(facts.collect(), device_names, host_links, backends.len(), table.clone());
    ledger.host_budget = host_budget.clone();
    ledger.device_times = device_times.unwrap_or_default();
    let reapers: Vec<Arc<Reaper>> = backends.iter().map(|_| Arc::default()).collect();
    let notifies = reapers.iter().map(|reaper| {
        let reaper = reaper.clone();
        Notify::new(move || reaper.call())
    });
    let notifies = notifies.collect();
    Arc::new_cyclic(|me: &Weak<Engine>| Engine {
        ledger: Mutex::new(ledger),
        changed: crate::sync::Condvar::new(),
        table,
        devices,
        backends,
        notifies,
        reapers,
        host: crate::engine::threads::host::HostThreads::default(),
        handler,
        links: links.unwrap_or_default(),
        evict,
        tracker,
        host_budget,
        absent,
        storages_made: crate::sync::atomic::AtomicU64::new(0),
        closing: crate::sync::atomic::AtomicBool::new(false),
        tunings: Tunings::new(tune.unwrap_or_default()),
        opening: Mutex::new(()),
        allocating: Mutex::new(()),
        plant,
        me: me.clone(),
    })
}

impl Runtime {
    /// Starts describing a runtime.
    pub fn builder() -> RuntimeBuilder {
        RuntimeBuilder::default()
    }

    /// The devices that there are.
    pub fn devices(&self) -> Vec<DeviceRef> {
        let count = self.core.engine.devices.len() as u16;
        (0..count).map(|at| DeviceRef { core: self.core.clone(), at }).collect()
    }

    /// Why backends have no devices, or fewer.
    pub fn missing_backends(&self) -> &[String] {
        &self.core.engine.absent
    }

    /// The device that fits `selector`: a name such as `cpu:1`, a backend such as `cuda`, a kind
    /// such as `gpu`, or a [`Selector`] with more to say.
    pub fn device(&self, selector: impl Into<Selector>) -> Result<DeviceRef> {
        selector.into().find(self)
    }

    /// An out-of-order queue of the best device (`FOLIO_DEVICE` chooses another one).
    pub fn queue(&self) -> Result<Queue> {
        self.queue_on(Selector::from_env()?)
    }

    /// An out-of-order queue of a device.
    pub fn queue_on(&self, selector: impl Into<Selector>) -> Result<Queue> {
        let device = self.device(selector)?;
        Ok(Queue::new(self.core.clone(), SmallVec::from_slice(&[device.at]), false, None))
    }

    /// A queue in which each command waits for the one before.
    pub fn in_order_queue_on(&self, selector: impl Into<Selector>) -> Result<Queue> {
        let device = self.device(selector)?;
        Ok(Queue::new(self.core.clone(), SmallVec::from_slice(&[device.at]), true, None))
    }

    /// A queue whose commands run where `scheduler` says, on any of `devices` (all, if empty).
    pub fn queue_over(
        &self,
        devices: &[DeviceRef],
        scheduler: impl Scheduler + 'static,
    ) -> Result<Queue> {
        if let Some(other) = devices.iter().find(|d| !d.core.same(&self.core)) {
            let label = Label::from(other.name());
            return Err(Error::WrongRuntime { what: "device", label, by: None });
        }
        let mut all: SmallVec<[u16; 2]> = devices.iter().map(|d| d.at).collect();
        if all.is_empty() {
            all = (0..self.core.engine.devices.len() as u16).collect();
        }
        if all.is_empty() {
            return Err(self.not_found("any device".to_owned()));
        }
        Ok(Queue::new(self.core.clone(), all, false, Some(Arc::new(scheduler))))
    }

    pub(crate) fn not_found(&self, wanted: String) -> Error {
        let engine = &self.core.engine;
        let named = |d: &DeviceEntry| format!("{} ({})", d.name, d.info.name);
        let mut there = engine.devices.iter().map(named).collect::<Vec<_>>().join(", ");
        if there.is_empty() {
            there.push_str("none");
        }
        for why in &engine.absent {
            there.push_str("; ");
            there.push_str(why);
        }
        let number = wanted.to_lowercase();
        let number = number.strip_prefix("`cpu:").and_then(|rest| rest.split('`').next());
        if let Some(number) = number.and_then(|number| number.parse::<u8>().ok()) {
            let count = u16::from(number) + 1;
            there.push_str(&format!("; `FOLIO_CPU_DOMAINS={count}` makes the CPU {count} devices"));
        }
        Error::DeviceNotFound { wanted, there }
    }

    /// A new storage, known to the ledger, without memory.
    pub(crate) fn storage<T: DeviceType>(
        &self,
        dims: Dims,
        rank: usize,
        options: BufferOptions,
        home: Option<DomainId>,
    ) -> Result<View> {
        const { T::CHECKED };
        self.storage_of((size_of::<T>(), align_of::<T>()), (dims, rank), options, home)
    }

    /// The same, of elements of so many bytes with this alignment.
    pub(crate) fn storage_of(
        &self,
        (element_bytes, align): (usize, usize),
        (dims, rank): (Dims, usize),
        options: BufferOptions,
        home: Option<DomainId>,
    ) -> Result<View> {
        let label = options.label;
        let refused = |what: &'static str, why: &str| {
            Err(Error::Configuration { what, why: format!("buffer {label}: {why}") })
        };
        if element_bytes == 0 {
            return refused("element type", "elements need a size");
        }
        if align > crate::engine::terms::lender::ALIGN {
            return refused("element type", "elements are aligned to 64 bytes at most");
        }
        let bytes = crate::geom::checked_volume(dims).and_then(|n| n.checked_mul(element_bytes));
        if bytes.is_none_or(|bytes| bytes > isize::MAX as usize) {
            let extent = dims[3 - rank..].to_vec();
            return Err(Error::TooLarge { what: "buffer", label, extent, element_bytes });
        }
        let page = match options.page {
            None => default_page(dims, element_bytes),
            Some(page) if page.len() == rank && page.iter().all(|p| *p > 0) => {
                let mut all = [1; 3];
                all[3 - rank..].copy_from_slice(&page);
                all
            }
            Some(_) => return refused("page", "one extent above 0 for each dimension"),
        };
        let grid = Grid::new(dims, page);
        let chosen = options.tracker.as_ref().or(self.core.engine.tracker.as_ref());
        let tracker = match chosen.filter(|_| !options.own_tracker) {
            None => Tracker::Own(BlockTracker::new(grid.pages)),
            Some(factory) => Tracker::Foreign(Foreign::new(factory.make(grid.pages))),
        };
        let mut state = StorageState::new(label.clone(), (grid, element_bytes), tracker, home);
        state.align = align as u64;
        state.evict = options.evict.or(self.core.engine.evict);
        state.sparse = options.sparse;
        state.allocator = options.allocator;
        let core = self.core.clone();
        let id = core.engine.new_storage(state);
        let mut storage = StorageHandle::new(core, id, label, (grid, element_bytes, align), home);
        storage.end = options.sync.then(|| Box::new(End::that_waits()));
        let storage = Arc::new(storage);
        Ok(View::new(storage, (dims, rank), element_bytes))
    }

    /// What the runtime has moved, filled, launched and allocated so far.
    pub fn counters(&self) -> Counters {
        self.core.engine.enter(|ledger| ledger.counters())
    }

    /// Waits until everything submitted so far is done. Then it returns the oldest failure that no
    /// call has returned yet, such as that of a command whose event was dropped; call again for the
    /// next. The first 1000 are kept for this.
    ///
    /// ```
    /// use folio_core::{Error, Result, Runtime};
    ///
    /// fn save(rt: &Runtime) -> Result<()> {
    ///     let q = rt.queue()?;
    ///     q.submit(|cg| {
    ///         cg.label("save").host_task((), |()| Err("the disk is full"));
    ///         Ok(())
    ///     })?; // the event is dropped
    ///     assert!(matches!(rt.wait(), Err(Error::Failed(failure)) if failure.label() == "save"));
    ///     rt.wait() // each failure once: now `Ok`
    /// }
    /// ```
    pub fn wait(&self) -> Result<()> {
        let engine = &self.core.engine;
        engine.wait_idle(None)?;
        engine
            .enter(|ledger| ledger.untold.next())
            .map_or(Ok(()), |failure| Err(Error::failed(failure)))
    }

    /// Refuses new work from now on and waits for what is under way, for at most `time`.
    /// [`Error::Deadline`] says what was left; it runs on nevertheless. In a kernel it is
    /// [`Error::WaitInKernel`], and changes nothing.
    pub fn shutdown(&self, time: Duration) -> Result<()> {
        if in_kernel() {
            return Err(Error::WaitInKernel);
        }
        self.core.engine.enter(|ledger| ledger.shutdown = true);
        self.core.engine.wait_idle(Instant::now().checked_add(time))
    }
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Runtime with {}", names(&self.core.engine.devices))
    }
}
