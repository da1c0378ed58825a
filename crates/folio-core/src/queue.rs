//! Queues: where commands are submitted.

use crate::buffer::{AsPart, AsPartMut};
use crate::call::{AnyCall, KernelCall, RunsIn};
use crate::element::{DeviceType, bytes_of};
use crate::engine::runs::command::Command;
use crate::engine::threads::wait::WaitEnd;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::graph::{self, Batches, Called, Period, Recorder};
use crate::group::{CommandGroup, grouped};
use crate::hal::Geometry;
use crate::items::{IntoItems, Items};
use crate::order::stamp::Stamp;
use crate::pages::DomainId;
use crate::report::Counters;
use crate::runtime::{Core, DeviceRef, Runtime};
use crate::scatter::groups_of;
use crate::sched::{Candidate, Scheduler, Split, Task};
use crate::spread::Meter;
use crate::sync::Mutex;
use crate::token::GroupId;
use folio_device::Kernel;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A queue of one device. Out of order unless made otherwise: commands run as soon as what they
/// depend on is done. Handles are cheap to clone and may be used from many threads at once.
#[derive(Clone)]
pub struct Queue {
    pub(crate) inner: Arc<Inner>,
    /// Its commands ask for [`Event::timing`].
    timed: bool,
    /// Its commands are of this period of the recorder.
    within: Option<Period>,
    /// Its commands run on this one of its devices.
    on: Option<u16>,
}

pub(crate) struct Inner {
    pub(crate) core: Arc<Core>,
    pub(crate) id: u32,
    /// One, or several for the scheduler to choose from.
    pub(crate) devices: SmallVec<[u16; 2]>,
    pub(crate) in_order: bool,
    pub(crate) scheduler: Option<Arc<dyn Scheduler>>,
    sequence: AtomicU64,
    /// How many commands the scheduler has given to each device.
    placed: SmallVec<[AtomicU64; 2]>,
    /// The graph that its commands are recorded into.
    pub(crate) recorder: Recorder,
    pub(crate) batches: Batches,
    /// Where its scheduler measures.
    pub(crate) meter: Option<Mutex<Meter>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if crate::engine::pages::tracker::leaks_inside() {
            return;
        }
        let id = self.id;
        self.core.engine.enter(|ledger| {
            ledger.queues.close(id, &ledger.timeline, &mut ledger.outbox);
        });
    }
}

impl Queue {
    pub(crate) fn new(
        core: Arc<Core>,
        devices: SmallVec<[u16; 2]>,
        in_order: bool,
        scheduler: Option<Arc<dyn Scheduler>>,
    ) -> Queue {
        let core = core.apart();
        let id = core.engine.enter(|ledger| ledger.queues.open());
        let (sequence, placed) = (AtomicU64::new(0), devices.iter().map(|_| AtomicU64::new(0)));
        let placed = placed.collect();
        let measures = scheduler.as_ref().is_some_and(|scheduler| scheduler.measures());
        Queue {
            inner: Arc::new(Inner {
                core,
                id,
                devices,
                in_order,
                scheduler,
                sequence,
                placed,
                recorder: Recorder::default(),
                batches: Batches::default(),
                meter: measures.then(Mutex::default),
            }),
            timed: false,
            within: None,
            on: None,
        }
    }

    /// Its device; the first, if it has several.
    pub fn device(&self) -> DeviceRef {
        DeviceRef { core: self.inner.core.clone(), at: self.on_devices()[0] }
    }

    /// The same queue, on this one of its devices.
    pub(crate) fn on_device(&self, at: u16) -> Queue {
        Queue { on: Some(at), ..self.clone() }
    }

    /// Those of its devices that this handle's commands may run on; not none.
    pub(crate) fn on_devices(&self) -> &[u16] {
        self.on.as_ref().map_or(&self.inner.devices, std::slice::from_ref)
    }

    /// The runtime that it is of.
    pub fn runtime(&self) -> Runtime {
        Runtime { core: self.inner.core.clone() }
    }

    /// All of its devices.
    pub fn devices(&self) -> Vec<DeviceRef> {
        let device = |at: &u16| DeviceRef { core: self.inner.core.clone(), at: *at };
        self.on_devices().iter().map(device).collect()
    }

    /// Asks the scheduler, if there is one and something to choose.
    #[inline]
    fn choose(&self, group: &CommandGroup) -> u16 {
        let inner = &self.inner;
        let Some(scheduler) = inner.scheduler.as_ref().filter(|_| self.on.is_none()) else {
            return self.on_devices()[0];
        };
        let engine = &inner.core.engine;
        let (label, range, accesses) = group.for_scheduler();
        let sequence = inner.sequence.fetch_add(1, Ordering::Relaxed);
        let task = Task { label, range, sequence };
        let loads: SmallVec<[[u64; 3]; 4]> = engine.enter(|ledger| {
            (inner.devices.iter()).map(|d| ledger.view().residency(*d, &accesses)).collect()
        });
        let memory: SmallVec<[u64; 4]> = accesses.iter().map(|a| u64::from(a.storage.0)).collect();
        let meter = inner.meter.as_ref().map(|meter| meter.lock());
        let kernel = group.kernel();
        let times = |nth: usize, at: u16, bytes: u64| {
            let Some(meter) = &meter else { return (0, None) };
            let domain = engine.devices[usize::from(at)].domain;
            let link = engine.read(|ledger| ledger.topology.link(DomainId::HOST, domain));
            let move_ns = if bytes == 0 { 0 } else { link.estimate_ns(bytes, 1) };
            let run_ns = match &kernel {
                Some((name, items)) => meter.rates.ns_of((name, at), *items),
                None => Some(0),
            };
            (meter.schedule.begin(nth, &memory, move_ns), run_ns)
        };
        let candidates: SmallVec<[Candidate<'_>; 4]> = (inner.devices.iter().zip(&loads))
            .zip(&inner.placed)
            .enumerate()
            .map(|(nth, ((at, [bytes_to_move, bytes_to_take, in_flight]), placed))| {
                let (starts_ns, run_ns) = times(nth, *at, *bytes_to_move);
                let entry = &engine.devices[usize::from(*at)];
                Candidate {
                    name: &entry.name,
                    bytes_to_move: *bytes_to_move,
                    bytes_to_take: *bytes_to_take,
                    in_flight: *in_flight,
                    placed: placed.load(Ordering::Relaxed),
                    compute_units: entry.info.compute_units,
                    starts_ns,
                    run_ns,
                }
            })
            .collect();
        // The scheduler is the program's code.
        drop(meter);
        let choice = scheduler.choose(&task, &candidates);
        let choice = if choice < inner.devices.len() { choice } else { 0 };
        inner.placed[choice].fetch_add(1, Ordering::Relaxed);
        if let Some(meter) = &inner.meter {
            let Candidate { starts_ns, run_ns, .. } = candidates[choice];
            let end = starts_ns.saturating_add(run_ns.unwrap_or(0));
            meter.lock().schedule.place(choice, &memory, end);
        }
        inner.devices[choice]
    }

    /// Has a kernel timed, if the scheduler measures.
    fn metered(&self, group: &mut CommandGroup) -> Option<(Arc<str>, usize)> {
        let meter = self.inner.meter.as_ref()?;
        let kernel = group.kernel()?;
        meter.lock().look(&self.inner.core.engine);
        group.timed();
        Some(kernel)
    }

    /// Notes such a kernel, which was submitted.
    fn note_metered(&self, kernel: Option<(Arc<str>, usize)>, device: Option<u16>, stamp: Stamp) {
        if let (Some(meter), Some((name, items)), Some(device)) =
            (&self.inner.meter, kernel, device)
        {
            meter.lock().submitted(name, (device, items), stamp);
        }
    }

    /// Asks the scheduler for a command that is recorded.
    fn choose_recorded(&self, group: &mut CommandGroup) {
        if self.inner.devices.len() > 1 {
            group.device = self.choose(group);
        }
    }

    /// True when each command waits for the one before.
    pub fn is_in_order(&self) -> bool {
        self.inner.in_order
    }

    /// The same queue, through which commands are timed: their events have [`Event::timing`], as if
    /// each command had asked by [`CommandGroup::timed`]. So have those of runs of graphs and of
    /// batches, from the first operation to the last.
    ///
    /// ```
    /// # use folio_core::{Queue, Result, Runtime};
    /// fn filled_in(q: &Queue, rt: &Runtime) -> Result<Option<u64>> {
    ///     let mut x = rt.buffer::<f32, 2>([512, 512])?;
    ///     let event = q.timed().fill(&mut x, 1.0)?;
    ///     event.wait()?;
    ///     Ok(event.timing().map(|timing| timing.ended - timing.started)) // nanoseconds
    /// }
    /// ```
    pub fn timed(&self) -> Queue {
        Queue { timed: true, ..self.clone() }
    }

    /// What is submitted through this handle is timed.
    pub(crate) fn is_timed(&self) -> bool {
        self.timed
    }

    /// The same queue, for commands that rely on each other. Where the queue has begun or ended to
    /// be recorded since this call, a command is refused
    /// ([`GraphError::Divided`](crate::error::GraphError::Divided)): so none runs without those
    /// before it.
    ///
    /// ```
    /// # use folio_core::{Queue, Result, Runtime};
    /// fn example(q: &Queue, rt: &Runtime) -> Result<()> {
    ///     let (mut x, together) = (rt.buffer::<i32, 1>(4)?, q.undivided());
    ///     together.fill(&mut x, 1)?;
    ///     let recording = rt.graph(&q.device())?.record([q])?;
    ///     assert!(together.fill(&mut x, 2).is_err());
    ///     drop(recording);
    ///     q.undivided().fill(&mut x, 3)?;
    ///     Ok(())
    /// }
    /// ```
    #[must_use]
    pub fn undivided(&self) -> Queue {
        let within = self.within.or_else(|| Some(self.inner.recorder.period()));
        Queue { within, ..self.clone() }
    }

    /// The graph that it is recorded into.
    #[inline]
    pub(crate) fn recorder(&self) -> Result<Option<Arc<graph::Inner>>> {
        self.inner.recorder.graph(self.within)
    }

    /// A group of this queue, to be described.
    #[inline]
    pub(crate) fn group(&self, id: GroupId) -> CommandGroup {
        let inner = &self.inner;
        let mut group = CommandGroup::new(&inner.core, self.on_devices()[0], id);
        if self.timed {
            group.timed();
        }
        group
    }

    /// Submits a command group: `build` says what it accesses and does. A group that does nothing
    /// is a synchronisation point of what it accesses.
    ///
    /// Returns as soon as the command is on its way. An error means that nothing has been changed.
    pub fn submit<R>(&self, build: impl FnOnce(&mut CommandGroup) -> Result<R>) -> Result<Event> {
        let inner = &self.inner;
        let id = GroupId::next();
        let mut group = self.group(id);
        build(&mut group)?;
        group.expect(id)?;
        if !group.is_plain()
            && let Some(several) = group.take_several()?
        {
            return several.submit(self, &group);
        }
        if let Some(graph) = self.recorder_of(&group)? {
            self.choose_recorded(&mut group);
            return graph.record(self, std::slice::from_mut(&mut group));
        }
        let kernel = self.metered(&mut group);
        let mut command = Command::new(Some(inner.id), inner.in_order);
        self.complete(&mut group, &mut command)?;
        // Until here the group keeps its storages alive, from here on the ledger.
        let stamp = inner.core.engine.submit(&mut command)?;
        self.note_metered(kernel, command.device, stamp);
        let timing = group.take_timing();
        Ok(Event::of_command(group.core, stamp, &mut command, timing))
    }

    /// The command that a group describes, for one of the devices.
    #[inline]
    fn complete(&self, group: &mut CommandGroup, command: &mut Command) -> Result<()> {
        group.device = self.choose(group);
        self.complete_there(group, command)
    }

    /// The command that a group describes, for its device.
    #[inline]
    fn complete_there(&self, group: &mut CommandGroup, command: &mut Command) -> Result<()> {
        group.finish(command)?;
        match command.device {
            Some(device) => self.inner.core.engine.open(device).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Runs a kernel call for `items`, as a command of its own: see
    /// [`CommandGroup::run`](CommandGroup::run).
    pub fn run<const D: usize>(
        &self,
        items: impl IntoItems<D>,
        call: impl RunsIn<D>,
    ) -> Result<Event> {
        self.run_any(&items.into_items().geometry(), &mut call.call().any)
    }

    /// The same, compiled once for all kernels. The call is left without arguments.
    fn run_any(&self, items: &Geometry, call: &mut AnyCall) -> Result<Event> {
        if self.tunes() { self.tune_call(items, call) } else { self.run_call(items, call) }
    }

    /// The same, of a call that nothing measures.
    #[inline]
    pub(crate) fn run_call(&self, items: &Geometry, call: &mut AnyCall) -> Result<Event> {
        if call.scatters() {
            return self.run_boxes(&[*items], call.clone());
        }
        if let Some(event) = self.follow_call(items, call) {
            return Ok(event);
        }
        self.act(&mut |cg| cg.run_here(items, call))
    }

    /// The event of a call in a block that is, so far, one that is known.
    #[inline]
    fn follow_call(&self, items: &Geometry, call: &mut AnyCall) -> Option<Event> {
        let one = self.inner.devices.len() == 1 && !self.timed;
        let graph = self.recorder().ok()?.filter(|_| one)?;
        let AnyCall { kernel, scalars, given, .. } = call;
        let code = kernel.code().ok()?;
        let group = grouped(kernel.function, &code.ir, items).ok()?;
        let (geometry, name) = (Geometry { group, ..*items }, &kernel.function.name);
        graph.follow_call(self, Called { name, code, geometry, scalars }, given)
    }

    /// Sets every element of a buffer or slice to `value`, as a command of its own: see
    /// [`CommandGroup::fill`](CommandGroup::fill).
    ///
    /// ```
    /// # use folio_core::{Queue, Result, Runtime};
    /// # fn example(q: &Queue, rt: &Runtime) -> Result<()> {
    /// let mut x = rt.buffer([3, 4])?;
    /// q.fill(&mut x, 7)?;
    /// q.fill(x.slice_mut([0, 0], [1, 4])?, 8)?; // one row
    /// assert_eq!((x.get([0, 3])?, x.get([1, 3])?), (8, 7));
    /// # Ok(())
    /// # }
    /// ```
    pub fn fill<T: DeviceType, const D: usize>(
        &self,
        mut to: impl AsPartMut<T, D>,
        value: T,
    ) -> Result<Event> {
        let mut to = to.slice_all_mut();
        if let Some(split) = self.split()
            && let Some(event) = self.fill_shared(&split, &to.as_part_mut(), bytes_of(&[value]))?
        {
            return Ok(event);
        }
        self.act(&mut |cg| cg.fill(&mut to, value))
    }

    /// Copies a buffer or slice to another one of the same extent, as a command of its own: see
    /// [`CommandGroup::copy`](CommandGroup::copy).
    ///
    /// ```
    /// # use folio_core::{Queue, Result, Runtime};
    /// # fn example(q: &Queue, rt: &Runtime) -> Result<()> {
    /// let x = rt.buffer_from(&[1, 2, 3, 4])?;
    /// let mut y = rt.buffer(4)?;
    /// q.copy(&x, &mut y)?;
    /// q.copy(x.slice([3], [1])?, y.slice_mut([0], [1])?)?;
    /// assert_eq!(y.to_vec()?, [4, 2, 3, 4]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn copy<T: DeviceType, const D: usize, const E: usize>(
        &self,
        from: impl AsPart<T, D>,
        mut to: impl AsPartMut<T, E>,
    ) -> Result<Event> {
        let (from, mut to) = (from.slice_all(), to.slice_all_mut());
        if let Some(split) = self.split()
            && let Some(event) = self.copy_shared(&split, &from.as_part(), &to.as_part_mut())?
        {
            return Ok(event);
        }
        self.act(&mut |cg| cg.copy(&from, &mut to))
    }

    /// Submits a command that `act` describes: behind a pointer, so that `submit` is not compiled
    /// for each kernel.
    fn act(&self, act: &mut dyn FnMut(&mut CommandGroup)) -> Result<Event> {
        self.submit(|cg| {
            act(cg);
            Ok(())
        })
    }

    /// Runs a kernel call for each of several boxes of items, as a command each, all of which are
    /// checked before the first is submitted. The event is that of all of them: done when they are,
    /// failed if one is.
    ///
    /// ```
    /// use folio_core::ir::device::Kernel;
    /// use folio_core::{Items, KernelCall, Queue, Result};
    ///
    /// /// A stencil without guards, and another one for where it would look beyond.
    /// fn stencil<A: Kernel, B: Kernel>(
    ///     q: &Queue,
    ///     all: Items<2>,
    ///     inner: KernelCall<A, 2>,
    ///     outer: KernelCall<B, 2>,
    /// ) -> Result<()> {
    ///     q.run(all.interior(1), inner)?;
    ///     q.run_each(all.edge(1), outer)?;
    ///     Ok(())
    /// }
    /// ```
    pub fn run_each<K: Kernel, const D: usize>(
        &self,
        boxes: impl IntoIterator<Item = Items<D>>,
        call: KernelCall<K, D>,
    ) -> Result<Event> {
        let boxes: Vec<_> = boxes.into_iter().map(|items| items.geometry()).collect();
        self.run_boxes(&boxes, call.any)
    }

    fn run_boxes(&self, boxes: &[Geometry], call: AnyCall) -> Result<Event> {
        self.run_groups(groups_of(&self.runtime(), &|| self.empty_group(), boxes, call)?)
    }

    /// Runs the commands of groups, which make one launch: all of them, or none.
    pub(crate) fn run_groups(&self, mut groups: Vec<CommandGroup>) -> Result<Event> {
        let inner = &self.inner;
        if let Some(graph) = self.recorder()? {
            groups.iter_mut().for_each(|group| self.choose_recorded(group));
            return graph.record(self, &mut groups);
        }
        // The groups keep the storages alive until the ledger does.
        let mut commands = Vec::with_capacity(groups.len());
        for group in &mut groups {
            let mut command = Command::new(Some(inner.id), inner.in_order);
            self.complete(group, &mut command)?;
            commands.push(command);
        }
        let ran = inner.core.engine.run_all(inner.id, &mut commands)?;
        let events = ran
            .stamps
            .iter()
            .zip(&commands)
            .map(|(stamp, command)| Event::new(inner.core.clone(), *stamp).on(command.device));
        Ok(Event::of_all(&inner.core, events.collect()))
    }

    /// The split by which its devices share fills, copies, and launches by [`share`](Self::share):
    /// that of its scheduler. None of a queue of one device.
    pub fn split(&self) -> Option<Split> {
        let scheduler = self.inner.scheduler.as_ref().filter(|_| self.on_devices().len() > 1);
        scheduler?.split()
    }

    /// A group that describes nothing yet.
    pub(crate) fn empty_group(&self) -> CommandGroup {
        self.group(GroupId::next())
    }

    /// A group for one of its devices.
    pub(crate) fn group_on(&self, device: u16) -> CommandGroup {
        let mut group = self.group(GroupId::next());
        group.device = device;
        group
    }

    /// That a command could be submitted, or recorded.
    pub(crate) fn check(&self, group: &mut CommandGroup) -> Result<()> {
        let mut command = Command::new(None, false);
        match self.recorder_of(group)? {
            Some(graph) => graph.finish(group, &mut command),
            None => self.complete_there(group, &mut command),
        }
    }

    /// Submits the parts of a launch as one command of the queue, which is done when all are.
    pub(crate) fn submit_parts(&self, mut groups: Vec<CommandGroup>) -> Result<Event> {
        let inner = &self.inner;
        let recorder = groups.first().map(|group| self.recorder_of(group)).transpose()?;
        if let Some(graph) = recorder.flatten() {
            return graph.record(self, &mut groups);
        }
        // The groups keep the storages alive until the ledger does.
        let (mut commands, mut kernels) = (Vec::with_capacity(groups.len()), Vec::new());
        let timed = groups.iter().any(|group| group.is_timed());
        for group in &mut groups {
            let mut command = Command::new(Some(inner.id), false);
            kernels.push(self.metered(group));
            self.complete_there(group, &mut command)?;
            commands.push(command);
        }
        let ran = inner.core.engine.run_parts((inner.id, inner.in_order), &mut commands)?;
        for ((kernel, command), stamp) in kernels.into_iter().zip(&commands).zip(&ran.stamps) {
            self.note_metered(kernel, command.device, *stamp);
        }
        let event = Event::new(inner.core.clone(), ran.stamp);
        let on_devices = ran.stamps.iter().zip(&commands);
        let parts: Vec<Stamp> =
            on_devices.filter_map(|(stamp, command)| command.device.map(|_| *stamp)).collect();
        Ok(match &commands[..] {
            [one] => event.on(one.device),
            _ if timed => event.of_parts(parts),
            _ => event,
        })
    }

    /// An event for everything submitted to this queue so far; what is submitted later waits for
    /// it.
    pub fn barrier(&self) -> Result<Event> {
        let inner = &self.inner;
        if let Some(graph) = self.recorder()? {
            return graph.record_barrier(self);
        }
        let after: SmallVec<[Stamp; 4]> =
            inner.core.engine.enter(|ledger| ledger.queues.stamps_of(inner.id, &ledger.timeline));
        let mut command = Command::new(Some(inner.id), true);
        command.after = after;
        let stamp = inner.core.engine.submit(&mut command)?;
        inner.core.engine.enter(|ledger| ledger.queues.fence(inner.id, stamp));
        Ok(Event::new(inner.core.clone(), stamp))
    }

    /// Waits for everything submitted to this queue so far. Returns each failure of one of its
    /// commands once, the oldest first; call again for the next. The first 1000 are kept for this.
    pub fn wait(&self) -> Result<()> {
        self.wait_until(None).map(|_| ())
    }

    /// As [`wait`](Self::wait), until the time is over (`false`).
    pub fn wait_timeout(&self, time: Duration) -> Result<bool> {
        self.wait_until(Instant::now().checked_add(time))
    }

    fn wait_until(&self, until: Option<Instant>) -> Result<bool> {
        let inner = &self.inner;
        self.refuse_wait()?;
        let engine = &inner.core.engine;
        let stamps: SmallVec<[Stamp; 4]> =
            engine.enter(|ledger| ledger.queues.stamps_of(inner.id, &ledger.timeline));
        for stamp in stamps {
            if let WaitEnd::TimedOut = engine.wait(stamp, until)? {
                return Ok(false);
            }
        }
        match engine.enter(|ledger| ledger.queues.take_failure(inner.id)) {
            Some(failure) => Err(Error::failed(failure)),
            None => Ok(true),
        }
    }

    /// What this queue has moved, filled and launched.
    pub fn counters(&self) -> Counters {
        let id = self.inner.id;
        self.inner.core.engine.enter(|ledger| ledger.queues[id].counters)
    }
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = &self.inner.core.engine.devices[usize::from(self.inner.devices[0])].name;
        write!(f, "Queue {} on {name}", self.inner.id)
    }
}
