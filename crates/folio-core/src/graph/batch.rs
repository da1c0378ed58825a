//! Batches: a block of ordinary submissions that becomes one command.
//!
//! A block is described at a *desk*, a queue and a graph that are kept for the next one. While it
//! is described, it is compared with the blocks of the queue's [store](super::store), along a
//! [trail](super::trail). The first block of a class is submitted one by one. From the second on a
//! block is a list ([`blocks`](super::blocks)).

use super::blocks::On;
use super::conflicts::{After, Conflicts};
use super::fuse::{FinalizeOptions, Unit};
use super::key::Key;
use super::order::order_of;
use super::pool::{Pool, Temporaries};
use super::profile::{Clocks, RunTimes, time_each};
use super::replay::before_of;
use super::steps::Steps;
use super::store::{Class, Store};
use super::template::Template;
use super::trail::Trail;
use super::why::WhyNot;
use super::{Inner, NodeKind, Recording, temporaries};
use crate::buffer::StorageHandle;
use crate::engine::pages::storage::StorageId;
use crate::engine::runs::command::Command;
use crate::error::{Error, GraphError, Label, Result};
use crate::event::Event;
use crate::group::Leases;
use crate::planted::Plant;
use crate::queue::{Inner as QueueInner, Queue};
use crate::sync::Mutex;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Where a block is described: kept for the next one, unless the program has kept some of it.
pub(super) struct Desk {
    graph: Arc<Inner>,
    queue: Queue,
    trail: Trail,
}

/// What the [batches](Queue::batch) of a queue have done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchReport {
    /// Blocks that were submitted.
    pub batches: u64,
    /// Blocks of commands that the queue knew: of the same kinds, with the same edges, over
    /// whichever buffers and ranges.
    pub found: u64,
    /// Blocks of commands that the queue has known since.
    pub made: u64,
    /// Kinds of blocks that were given up because 16 others were used later.
    pub evicted: u64,
    /// Blocks that were one operation of the device.
    pub replayed: u64,
    /// Those of them that had other scalars, buffers or ranges than the device's graph: these were
    /// exchanged in it.
    pub exchanged: u64,
    /// Graphs of the device's that were made for that.
    pub graphs: u64,
    /// Why the commands of the latest block were submitted one by one. None if they were one
    /// operation.
    pub why_not: Option<WhyNot>,
    /// Commands of the latest block; several fused kernels are one.
    pub commands: usize,
    /// Kernels that the latest block has described.
    pub kernels: usize,
    /// Launches of the latest block: fewer than kernels, where [`Queue::batch_fused`] has fused.
    pub launches: usize,
    /// Buffers that the latest block has made, has written before it read them, and has dropped.
    pub temporaries: usize,
    /// Memories that are kept for temporaries of later blocks, of which 16 at most; one goes when
    /// 16 blocks with temporaries have not used it.
    pub memories: usize,
    /// Bytes of these, on one device.
    pub bytes: u64,
}

impl Queue {
    /// Submits what `block` submits as one run: planned and placed in one go, and as one command of
    /// this queue. The block gets a queue to submit to, of the same device and in order if this one
    /// is. Returns what the block returns, and the event of the run.
    ///
    /// A block whose commands are those of an earlier one is one operation of the device, and one
    /// command: it waits for what its commands wait for, and fails as one. Its commands must not be
    /// able to fail by themselves. Its scalars, buffers and ranges may be others each time: they are
    /// exchanged in the device's graph. [`BatchReport::why_not`] says why the latest block was
    /// submitted one by one.
    ///
    /// An error of the block submits nothing. Within the block, events can only be passed to
    /// [`CommandGroup::after`](crate::CommandGroup::after), and data are as they were before it:
    /// what the block has written cannot be read there
    /// ([`GraphError::NotRunYet`](crate::GraphError::NotRunYet)).
    ///
    /// ```
    /// # use folio_core::{Queue, Result, Runtime};
    /// fn steps(q: &Queue, rt: &Runtime) -> Result<()> {
    ///     let (mut x, mut y) = (rt.buffer::<i32, 1>(4)?, rt.buffer::<i32, 1>(4)?);
    ///     for step in 0..10 {
    ///         q.batch(|q| {
    ///             q.fill(&mut x, step)?;
    ///             q.copy(&x, &mut y)
    ///         })?;
    ///         std::mem::swap(&mut x, &mut y);
    ///     }
    ///     assert_eq!((x.to_vec()?, q.batch_report().found), (vec![9; 4], 9));
    ///     Ok(())
    /// }
    /// ```
    pub fn batch<R>(&self, block: impl FnOnce(&Queue) -> Result<R>) -> Result<(R, Event)> {
        self.batch_as(FinalizeOptions::new(), block)
    }

    /// As [`batch`](Self::batch), and kernels that gain by it become one launch, as by
    /// [`FinalizeOptions::enable_fusion`]. A buffer that the block makes, writes and drops is a
    /// temporary: between kernels of one launch it needs no memory.
    ///
    /// A block that comes again is not planned again, whatever its scalars and buffers are. The code
    /// of a fused kernel is found again by its content. [`BatchReport::kernels`] and [`BatchReport::launches`] tell
    /// what the latest block became.
    ///
    /// ```
    /// # use folio_core::{Queue, Result, Runtime};
    /// fn step(q: &Queue, rt: &Runtime) -> Result<()> {
    ///     let mut y = rt.buffer::<i32, 1>(4)?;
    ///     q.batch_fused(|q| {
    ///         let mut x = rt.buffer::<i32, 1>(4)?;
    ///         q.fill(&mut x, 3)?;
    ///         q.copy(&x, &mut y)
    ///     })?;
    ///     assert_eq!(y.to_vec()?, [3; 4]);
    ///     Ok(())
    /// }
    /// ```
    pub fn batch_fused<R>(&self, block: impl FnOnce(&Queue) -> Result<R>) -> Result<(R, Event)> {
        self.batch_as(FinalizeOptions::new().enable_fusion(), block)
    }

    fn batch_as<R>(
        &self,
        options: FinalizeOptions,
        block: impl FnOnce(&Queue) -> Result<R>,
    ) -> Result<(R, Event)> {
        let inner = &self.inner;
        self.refuse_recorded(&"batch", GraphError::AlreadyRecording)?;
        let desk = inner.batches.desk(self, options == FinalizeOptions::new());
        desk.graph.check_queue(self)?;
        let recording = Recording::of(&desk.graph, &mut std::iter::once(&desk.queue))?;
        let made = inner.core.engine.storages_made.load(Ordering::Relaxed);
        let result = block(&desk.queue);
        drop(recording);
        let result = result?;
        // Only a block that has made buffers has temporaries.
        let made = inner.core.engine.storages_made.load(Ordering::Relaxed) != made;
        let trail = desk.graph.state.lock().trail.take();
        let mut why_not = WhyNot::First;
        if let Some(mut trail) = trail {
            match self.run_found((&desk.graph, made), &mut trail) {
                Ok(event) => {
                    inner.batches.put_back(desk, trail);
                    return Ok((result, event));
                }
                Err(why) => why_not = why,
            }
            desk.graph.state.lock().trail = Some(trail);
        }
        let event = self.run_taken(&desk, (options, made), why_not)?;
        inner.batches.put_back(desk, Trail::default());
        Ok((result, event))
    }

    /// Submits a block that the queue knows, as one command. An error says why its commands have to
    /// be submitted one by one.
    fn run_found(&self, of: (&Inner, bool), trail: &mut Trail) -> Result<Event, WhyNot> {
        let QueueInner { core, id, in_order, devices, batches, .. } = &*self.inner;
        let label = Label::of(&"batch");
        let on = On {
            queue: *id,
            in_order: *in_order,
            device: devices[0],
            timed: self.is_timed(),
            label: &label,
            after: &[],
            behind: &[],
        };
        batches.run(of, on, trail).map(|stamp| Event::new(core.clone(), stamp))
    }

    /// Submits what has been described, one by one.
    fn run_taken(
        &self,
        desk: &Desk,
        (options, made): (FinalizeOptions, bool),
        why_not: WhyNot,
    ) -> Result<Event> {
        let (batches, graph) = (&self.inner.batches, &*desk.graph);
        let taken = graph.take((options, made)).map_err(|why| graph.error(why))?;
        let never = taken.never(options);
        let Taken { mut commands, after, _leases, launches, internal, fusion, temporaries, .. } =
            taken;
        let plant = graph.core.engine.plant;
        // Another thread's block may take the memory out of the pool before this one is submitted.
        let _memories = batches.place(&mut commands, &after, (temporaries, &_leases), plant);
        batches.note((&commands, &after), launches, (never, why_not));
        let accesses = commands.iter().map(|command| &command.accesses[..]);
        let order = order_of(after, &[], accesses);
        let clocks = match self.is_timed() {
            true => time_each(&mut commands, true, &graph.core.engine),
            false => Clocks::new(),
        };
        let ran = graph.run(self, &mut commands, &order, (&[], None), (&internal, &fusion))?;
        // No command is a list.
        let refused = || Error::Actions { command: Label::NONE, actions: 0 };
        let (mut event, ran) = ran.ok_or_else(refused)?;
        if self.is_timed() {
            event = event.of_run(RunTimes::new(graph.device, true, clocks, &ran).0);
        }
        Ok(event)
    }

    /// What [`batch`](Self::batch) has done on this queue.
    pub fn batch_report(&self) -> BatchReport {
        self.inner.batches.report()
    }
}

/// What a block has described.
struct Taken {
    commands: Vec<Command>,
    after: After,
    /// Until the ledger keeps the buffers.
    _leases: Vec<Leases>,
    /// Kernels that were described, and the launches that they are.
    launches: (usize, usize),
    /// What counts as never written after the run.
    internal: Vec<StorageId>,
    /// By command, if a subscriber listens.
    fusion: Vec<Option<Arc<str>>>,
    temporaries: Temporaries,
    /// It has run a graph.
    nested: bool,
}

impl Taken {
    /// Why no block of these commands is a list, as far as that follows from how they were
    /// described.
    fn never(&self, options: FinalizeOptions) -> Option<WhyNot> {
        let makes = !self.temporaries.is_empty() || !self.internal.is_empty();
        let all = [
            (self.nested, WhyNot::RunsGraph),
            (makes, WhyNot::MakesBuffers),
            (options != FinalizeOptions::new(), WhyNot::First),
        ];
        all.into_iter().find_map(|(is, why)| is.then_some(why))
    }

    fn add(&mut self, template: Arc<Template>) {
        match Arc::try_unwrap(template) {
            Ok(template) => {
                let (command, leases) = template.into_parts();
                self.commands.push(command);
                self._leases.push(leases);
            }
            Err(shared) => {
                let nothing = || Command::new(None, false);
                self.commands.push(shared.command.again().unwrap_or_else(nothing));
                self._leases.push(shared.leases.clone());
            }
        }
    }
}

impl Inner {
    /// Takes all commands out of the graph, fused if that is wished. Graphs that the block runs are
    /// taken apart.
    fn take(&self, (options, made): (FinalizeOptions, bool)) -> Result<Taken, GraphError> {
        let mut state = self.state.lock();
        state.leave_trail();
        let nested = std::mem::take(&mut state.nested);
        let mut steps = Steps::of_batch(&state, self.id);
        let nodes = std::mem::take(&mut state.nodes);
        drop(state);
        // The steps are the only owners now, but of what other graphs have, which can be repeated.
        drop(nodes);
        steps.wish(options);
        let wished = steps.parts.iter().any(Option::is_some);
        if made || wished {
            steps.owned.extend(temporaries::owned(&steps, self.core.engine.plant));
        }
        let temporaries = if made { self.temporaries(&steps) } else { Temporaries::new() };
        let fused = match wished {
            true => {
                // The next block may have other scalars, so none becomes a constant.
                Some(self.fuse(&steps, &|_| false)?)
            }
            false => None,
        };
        let kernels = |steps: &Steps| {
            steps.all.iter().filter(|step| step.template.kind == NodeKind::Kernel).count()
        };
        let launches = kernels(&steps);
        let mut taken = Taken {
            commands: Vec::with_capacity(steps.all.len()),
            after: After::new(),
            _leases: Vec::with_capacity(steps.all.len()),
            launches: (launches, launches),
            internal: steps.internal(self.core.engine.plant),
            fusion: Vec::new(),
            temporaries,
            nested,
        };
        let Steps { all, order, .. } = steps;
        let Some(fused) = fused else {
            taken.after = Arc::unwrap_or_clone(order).after;
            all.into_iter().for_each(|step| taken.add(step.template));
            return Ok(taken);
        };
        taken.after = fused.after;
        let mut all: Vec<_> = all.into_iter().map(|step| Some(step.template)).collect();
        for Unit { members, template, fusion } in fused.units {
            taken.fusion.push(fusion);
            let own = members.iter().filter_map(|at| all.get_mut(*at)?.take());
            match template {
                None => own.for_each(|template| taken.add(template)),
                Some(template) => {
                    taken._leases.extend(own.map(|template| template.leases.clone()));
                    taken.launches.1 -= members.len() - 1;
                    taken.add(template);
                }
            }
        }
        Ok(taken)
    }
}

impl Desk {
    fn new(of: &Queue) -> Desk {
        let QueueInner { core, devices, in_order, .. } = &*of.inner;
        let graph = Inner::new(core.clone(), devices[0], true);
        graph.state.lock().label = Label::of(&"batch");
        let queue = Queue::new(core.clone(), devices.clone(), *in_order, None);
        Desk { graph, queue, trail: Trail::default() }
    }

    /// The program has kept nothing of it: neither the queue, which has the graph besides, nor an
    /// event.
    fn is_free(&self) -> bool {
        Arc::strong_count(&self.graph) == 2 && Arc::strong_count(&self.queue.inner) == 1
    }
}

impl Drop for Desk {
    /// The queue may live on. What a block has described that did not run goes now.
    fn drop(&mut self) {
        let mut state = self.graph.state.lock();
        let nodes = std::mem::take(&mut state.nodes);
        let rest = (state.trail.take(), std::mem::take(&mut state.leases));
        drop(state);
        drop((nodes, rest));
    }
}

/// What the batches of a queue have in common.
#[derive(Default)]
pub(crate) struct Batches {
    pub(super) kept: Mutex<Kept>,
}

#[derive(Default)]
pub(super) struct Kept {
    desk: Option<Desk>,
    pub(super) store: Store,
    pub(super) report: BatchReport,
    pool: Pool,
}

impl Batches {
    fn report(&self) -> BatchReport {
        self.kept.lock().report.clone()
    }

    /// Where a block of a queue is described. One that is to be fused is compared with none.
    fn desk(&self, of: &Queue, compares: bool) -> Desk {
        let (desk, known) = {
            let mut kept = self.kept.lock();
            (kept.desk.take(), kept.store.all.clone())
        };
        let mut desk = desk.unwrap_or_else(|| Desk::new(of));
        if compares && !known.is_empty() {
            let plant = desk.graph.core.engine.plant;
            let mut trail = std::mem::take(&mut desk.trail);
            trail.begin(&known, plant);
            desk.graph.state.lock().trail = Some(trail);
        }
        desk
    }

    /// Keeps it for the next block.
    fn put_back(&self, mut desk: Desk, mut trail: Trail) {
        if !desk.is_free() {
            return;
        }
        trail.end();
        desk.trail = trail;
        let mut state = desk.graph.state.lock();
        state.leaves.clear();
        state.nested = false;
        state.conflicts = Conflicts::default();
        let old = std::mem::take(&mut state.leases);
        drop(state);
        drop(old);
        let other = self.kept.lock().desk.replace(desk);
        drop(other);
    }

    /// Notes what a block is that is submitted one by one, and why: that follows from how it was
    /// described, or from this block.
    fn note(
        &self,
        (commands, after): (&[Command], &After),
        launches: (usize, usize),
        (never, why): (Option<WhyNot>, WhyNot),
    ) {
        let class = never
            .is_none()
            .then(|| Class::new(commands.iter().map(Key::of).zip(after.iter().cloned())));
        let mut kept = self.kept.lock();
        let Kept { store, report, .. } = &mut *kept;
        report.batches += 1;
        report.commands = commands.len();
        (report.kernels, report.launches) = launches;
        report.why_not = Some(never.unwrap_or(why));
        let noted = class.map(|class| store.note(class, report.batches));
        let (is_known, old) = noted.unwrap_or_default();
        *(if is_known { &mut report.found } else { &mut report.made }) += 1;
        report.evicted += u64::from(old.is_some());
        drop(kept);
        drop(old);
    }

    /// Gives the temporaries of a block memory. Returns what is given up for that, to be dropped
    /// without a lock.
    fn place(
        &self,
        commands: &mut [Command],
        after: &After,
        (temporaries, leases): (Temporaries, &[Leases]),
        plant: Plant,
    ) -> Vec<Arc<StorageHandle>> {
        let mut kept = self.kept.lock();
        let Kept { report, pool, .. } = &mut *kept;
        report.temporaries = temporaries.len();
        if temporaries.is_empty() {
            return Vec::new();
        }
        let before = before_of(after, commands.iter().map(|command| &command.accesses[..]));
        let handles = leases.iter().flatten();
        let handles = handles.filter(|handle| temporaries.contains_key(&handle.id)).cloned();
        let old = pool.place(commands, &before, (&temporaries, handles.collect()), plant);
        (report.memories, report.bytes) = pool.counts();
        old
    }
}
