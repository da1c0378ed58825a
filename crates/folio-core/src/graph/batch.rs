//! Batches: a block of ordinary submissions that becomes one command.
//!
//! A block is described at a *desk*, a queue and a graph that are kept for the next one. While it
//! is described, it is compared with the blocks of the queue's [store](super::store), along a
//! [trail](super::trail). The first block of a class is submitted one by one. From the second on a
//! block is a list ([`blocks`](super::blocks)).

use super::blocks::On;
use super::conflicts::{After, Conflicts};
use super::fuse::{FinalizeOptions, Plans};
use super::items::Items;
use super::order::order_of;
use super::pieces::{Commands, Joined, Pieces};
use super::pool::{Places, Pool, Temporaries};
use super::profile::{Clocks, RunTimes};
use super::replay::before_of;
use super::steps::{Step, Steps};
use super::store::{Class, Entry, Store};
use super::template::Template;
use super::trail::Trail;
use super::why::WhyNot;
use super::{Inner, NodeKind, Recording, fuse, temporaries};
use crate::buffer::StorageHandle;
use crate::engine::pages::storage::StorageId;
use crate::engine::runs::command::Command;
use crate::engine::runs::run::Order;
use crate::error::{Error, GraphError, Label, Result};
use crate::event::Event;
use crate::group::Leases;
use crate::planted::Plant;
use crate::queue::{Inner as QueueInner, Queue};
use crate::sync::Mutex;
use smallvec::smallvec;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Where a block is described: kept for the next one, unless the program has kept some of it.
pub(super) struct Desk {
    graph: Arc<Inner>,
    queue: Queue,
    trail: Trail,
}

/// Counts of a queue's [batches](Queue::batch).
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
    /// able to fail by themselves. Its scalars, buffers and ranges may be others each time: the
    /// device's graph exchanges them. [`BatchReport::why_not`] says why the latest block was
    /// submitted one by one.
    ///
    /// An error of the block submits nothing. Within the block, events can only be passed to
    /// [`CommandGroup::after`](crate::CommandGroup::after), and data are as they were before it:
    /// what the block has written cannot be read there
    /// ([`GraphError::NotRunYet`](crate::error::GraphError::NotRunYet)).
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
    /// A block that comes again is planned once and is one operation of the device, as any block:
    /// its scalars, buffers and ranges are exchanged. [`BatchReport::kernels`] and
    /// [`BatchReport::launches`] tell what the latest block became.
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
        let desk = inner.batches.desk(self, fuses(options));
        desk.graph.check_queue(self)?;
        let recording = Recording::of(&desk.graph, &mut std::iter::once(&desk.queue))?;
        let made = inner.core.engine.storages_made.load(Ordering::Relaxed);
        let result = block(&desk.queue);
        drop(recording);
        let result = result?;
        // Only a block that has made buffers has temporaries.
        let made = inner.core.engine.storages_made.load(Ordering::Relaxed) != made;
        let trail = desk.graph.state.lock().trail.take();
        if let Some(mut trail) = trail {
            if let Some(event) = self.run_found((&desk.graph, made), &mut trail) {
                inner.batches.put_back(desk, trail);
                return Ok((result, event));
            }
            desk.graph.state.lock().trail = Some(trail);
        }
        let event = self.run_taken(&desk, (options, made))?;
        inner.batches.put_back(desk, Trail::default());
        Ok((result, event))
    }

    /// Submits a block that the queue knows by its trail, as one command. None if the queue does
    /// not know it so.
    fn run_found(&self, of: (&Inner, bool), trail: &mut Trail) -> Option<Event> {
        let QueueInner { core, batches, .. } = &*self.inner;
        let label = Label::of(&"batch");
        let stamp = batches.run(of, self.here(&label), trail)?;
        Some(Event::new(core.clone(), stamp))
    }

    /// Where its blocks run.
    fn here<'l>(&self, label: &'l Label) -> On<'l> {
        let QueueInner { id, in_order, devices, .. } = &*self.inner;
        On {
            queue: *id,
            in_order: *in_order,
            device: devices[0],
            timed: self.is_timed(),
            label,
            fusion: None,
            after: &[],
            behind: &[],
        }
    }

    /// Submits what has been described: lists that the queue knows, and the commands between these.
    fn run_taken(&self, desk: &Desk, (options, made): (FinalizeOptions, bool)) -> Result<Event> {
        let (batches, graph) = (&self.inner.batches, &*desk.graph);
        let mut taken = graph.take((options, made)).map_err(|why| graph.error(why))?;
        // Another thread's block may take the memory out of the pool before this one is submitted.
        let _memories = batches.place(&mut taken, graph.core.engine.plant);
        let BlockContents {
            commands,
            after,
            joined,
            launches,
            leases: _leases,
            internal,
            fusion,
            ..
        } = taken;
        let mut commands = Commands::new(commands, after, joined);
        let accesses = commands.iter().map(|command| &command.accesses[..]);
        let order = order_of(commands.after.clone(), &[], accesses);
        let told = (&internal[..], &fusion[..]);
        for _ in 0..TRIES {
            let pieces = batches.pieces(graph, &commands);
            match self.run_pieces((graph, told), &mut commands, (&pieces, &order)) {
                Ok(Some(event)) => {
                    batches.note(&pieces, commands.len(), launches);
                    return Ok(event);
                }
                // The memory of a list is elsewhere by now.
                Ok(None) => batches.forget(&pieces),
                Err(error) if pieces.lists().next().is_none() => return Err(error),
                // The command by itself says the error.
                Err(_) => break,
            }
        }
        let pieces = Pieces::single(commands.len(), WhyNot::Busy);
        let ran = self.run_pieces((graph, told), &mut commands, (&pieces, &order))?;
        batches.note(&pieces, commands.len(), launches);
        // No command is a list.
        ran.ok_or(Error::Actions { command: Label::NONE, actions: 0 })
    }

    /// Submits the pieces of a block. None, and nothing is submitted, if a list is to be compiled
    /// again.
    fn run_pieces(
        &self,
        (graph, (internal, fusion)): (&Inner, RunFacts<'_>),
        commands: &mut Commands,
        (pieces, order): (&Pieces, &Order),
    ) -> Result<Option<Event>> {
        let items = Items::new(pieces.items(graph.device), order);
        let once = || Error::Actions { command: Label::NONE, actions: 0 };
        let label = Label::of(&"batch");
        let run = items.commands(&label, |at| commands.take(at));
        let mut run = run.ok_or_else(once)?;
        let (engine, timed) = (&graph.core.engine, self.is_timed());
        let clocks = if timed { items.time(&mut run, true, engine) } else { Clocks::new() };
        let fusion = items.fusion(fusion);
        let ran = graph.run(self, &mut run, &items.order, (&[], None), (internal, &fusion));
        if !matches!(ran, Ok(Some(_))) {
            let single = items.all.iter().zip(run).filter(|(item, _)| item.list.is_none());
            single.for_each(|(item, command)| commands.put_back(item.at[0], command));
        }
        let Some((event, ran)) = ran? else { return Ok(None) };
        let times = |event: Event| event.of_run(RunTimes::new(graph.device, true, clocks, &ran).0);
        Ok(Some(if timed { times(event) } else { event }))
    }

    /// The counts of [`batch`](Self::batch) on this queue.
    pub fn batch_report(&self) -> BatchReport {
        self.inner.batches.report()
    }
}

/// What counts as never written after a run; and by command what is told of its fusion.
type RunFacts<'t> = (&'t [StorageId], &'t [Option<Arc<str>>]);

/// How often a block has lists compiled again, which another thread's work outdates at once.
const TRIES: usize = 4;

/// The commands of a block, and the rest of its description.
#[derive(Default)]
struct BlockContents {
    commands: Vec<Command>,
    after: After,
    /// Until the ledger keeps the buffers.
    leases: Vec<Leases>,
    /// Kernels that were described, and the launches that they are.
    launches: (usize, usize),
    /// Memory that counts as never written after the run.
    internal: Vec<StorageId>,
    /// By command, if a subscriber listens.
    fusion: Vec<Option<Arc<str>>>,
    temporaries: Temporaries,
    joined: Option<Joined>,
}

impl BlockContents {
    fn add(&mut self, template: Arc<Template>) {
        match Arc::try_unwrap(template) {
            Ok(template) => {
                let (command, leases) = template.into_parts();
                self.commands.push(command);
                self.leases.push(leases);
            }
            Err(shared) => {
                let nothing = || Command::new(None, false);
                self.commands.push(shared.command.again().unwrap_or_else(nothing));
                self.leases.push(shared.leases.clone());
            }
        }
    }
}

impl Inner {
    /// Takes all commands out of the graph, fused if that is wished. Graphs that the block runs are
    /// taken apart.
    fn take(&self, (options, made): (FinalizeOptions, bool)) -> Result<BlockContents, GraphError> {
        let mut state = self.state.lock();
        state.leave_trail();
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
        let kernels = |step: &&Step| step.template.kind == NodeKind::Kernel;
        let launches = steps.all.iter().filter(kernels).count();
        // Equal blocks have other temporaries.
        let is_kept = wished || !temporaries.is_empty();
        let mut taken = BlockContents {
            launches: (launches, launches),
            internal: steps.internal(self.core.engine.plant),
            temporaries,
            joined: is_kept.then(|| Joined::new(&steps, wished)),
            ..BlockContents::default()
        };
        // The next block may have other scalars, so none becomes a constant.
        let fused = wished.then(|| self.fuse(&steps, &|_| false)).transpose()?;
        let Steps { all, order, .. } = steps;
        let Some(fused) = fused else {
            taken.after = Arc::unwrap_or_clone(order).after;
            if let Some(joined) = &mut taken.joined {
                joined.members = (0..all.len()).map(|at| (smallvec![at], None)).collect();
            }
            all.into_iter().for_each(|step| taken.add(step.template));
            return Ok(taken);
        };
        taken.after = fused.after;
        let mut all: Vec<_> = all.into_iter().map(|step| Some(step.template)).collect();
        for fuse::Unit { members, template, plan, fusion } in fused.units {
            taken.fusion.push(fusion);
            let own = members.iter().filter_map(|at| all.get_mut(*at)?.take());
            match template {
                None => own.for_each(|template| taken.add(template)),
                Some(template) => {
                    let before = taken.leases.len();
                    taken.leases.extend(own.map(|template| template.leases.clone()));
                    // A kernel that others compute, too, is of the first of these.
                    taken.launches.1 -= taken.leases.len() - before - 1;
                    taken.add(template);
                }
            }
            taken.joined.iter_mut().for_each(|of| of.members.push((members.clone(), plan.clone())));
        }
        Ok(taken)
    }
}

fn fuses(options: FinalizeOptions) -> bool {
    options != FinalizeOptions::new()
}

impl Desk {
    fn new(of: &Queue, plans: &Arc<Plans>) -> Desk {
        let QueueInner { core, devices, in_order, .. } = &*of.inner;
        let graph = Inner::over(core.clone(), devices[0], true, plans.clone());
        graph.state.lock().label = Label::of(&"batch");
        let scheduler = of.inner.scheduler.clone();
        let queue = Queue::new(core.clone(), devices.clone(), *in_order, scheduler);
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

/// The state that a queue's batches share.
#[derive(Default)]
pub(crate) struct Batches {
    pub(super) kept: Mutex<Kept>,
    plans: Arc<Plans>,
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

    /// Where a block of a queue is described.
    fn desk(&self, of: &Queue, fuses: bool) -> Desk {
        let (desk, known) = {
            let mut kept = self.kept.lock();
            (kept.desk.take(), kept.store.all.clone())
        };
        let mut desk = desk.unwrap_or_else(|| Desk::new(of, &self.plans));
        if !known.is_empty() {
            let plant = desk.graph.core.engine.plant;
            let mut trail = std::mem::take(&mut desk.trail);
            trail.begin(&known, fuses, plant);
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
        state.conflicts = Conflicts::default();
        let old = std::mem::take(&mut state.leases);
        drop(state);
        drop(old);
        let other = self.kept.lock().desk.replace(desk);
        drop(other);
    }

    /// Notes what a block was.
    fn note(&self, pieces: &Pieces, commands: usize, launches: (usize, usize)) {
        let mut kept = self.kept.lock();
        let Kept { store, report, .. } = &mut *kept;
        report.batches += 1;
        report.commands = commands;
        (report.kernels, report.launches) = launches;
        report.why_not.clone_from(&pieces.why_not);
        *(if pieces.known { &mut report.found } else { &mut report.made }) += 1;
        report.exchanged += u64::from(pieces.exchanged);
        report.replayed += u64::from(pieces.why_not.is_none());
        pieces.lists().for_each(|list| store.note_used(list, report.batches));
    }

    /// The class that is equal to this one, and its lists.
    pub(super) fn entry_of(&self, class: &Class) -> Option<Arc<Entry>> {
        self.kept.lock().store.find(class).cloned()
    }

    /// Keeps a class. The next block of it is a list.
    pub(super) fn note_class(&self, class: Class) {
        let mut kept = self.kept.lock();
        let Kept { store, report, .. } = &mut *kept;
        let old = store.note(class, report.batches + 1);
        report.evicted += u64::from(old.is_some());
        drop(kept);
        drop(old);
    }

    /// Gives a block the memory that the temporaries of an equal one have had, as
    /// [`place`](Self::place) does. None if some of it is there no more.
    pub(super) fn place_again(
        &self,
        (temporaries, places): &(Temporaries, Places),
    ) -> Option<Vec<Arc<StorageHandle>>> {
        let mut kept = self.kept.lock();
        let Kept { report, pool, .. } = &mut *kept;
        let held = pool.place_again(places)?;
        report.temporaries = temporaries.len();
        (report.memories, report.bytes) = pool.counts();
        Some(held)
    }

    /// Gives up lists, which are outdated.
    fn forget(&self, pieces: &Pieces) {
        let mut kept = self.kept.lock();
        pieces.lists().for_each(|list| kept.store.give_up(list));
    }

    /// Gives the temporaries of a block memory. Returns what is given up for that, to be dropped
    /// without a lock.
    fn place(&self, taken: &mut BlockContents, plant: Plant) -> Vec<Arc<StorageHandle>> {
        let BlockContents { commands, after, leases, temporaries, joined, .. } = taken;
        let mut kept = self.kept.lock();
        let Kept { report, pool, .. } = &mut *kept;
        report.temporaries = temporaries.len();
        if temporaries.is_empty() {
            return Vec::new();
        }
        let before = before_of(&*after, commands.iter().map(|command| &command.accesses[..]));
        let handles = leases.iter().flatten();
        let handles = handles.filter(|handle| temporaries.contains_key(&handle.id)).cloned();
        let of = (&*temporaries, handles.collect());
        let (places, old) = pool.place(commands, &before, of, plant);
        if let Some(joined) = joined {
            joined.temporaries = (std::mem::take(temporaries), places);
        }
        (report.memories, report.bytes) = pool.counts();
        old
    }
}
