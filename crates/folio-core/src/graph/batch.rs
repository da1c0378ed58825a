//! Batches: a block of ordinary submissions that becomes one run.
//!
//! A block is described at a *desk*, a queue and a graph that are kept for the next one. While it
//! is described, it is compared with the blocks that are [known](super::known). One that is known
//! is one operation, if need be after what differs has been exchanged ([`kept`](super::kept) says
//! when). Of any other one the commands are taken out of the graph and submitted one by one, in an
//! order that is kept by the block's *shape*.

use super::conflicts::{After, Conflicts};
use super::fuse::{FinalizeOptions, Unit};
use super::kept::{Batches, Block, MAKES, NEW};
use super::pool::Temporaries;
use super::profile::{Clocks, RunTimes, time};
use super::steps::Steps;
use super::template::{Template, Work};
use super::trail::Trail;
use super::{Inner, NodeKind, Recording, temporaries};
use crate::buffer::StorageHandle;
use crate::engine::pages::storage::StorageId;
use crate::engine::runs::block::{MOVED, On};
use crate::engine::runs::command::Command;
use crate::engine::runs::exchange::BUSY;
use crate::engine::runs::part::{Apart, WAITS};
use crate::error::{Error, GraphError, Label, Result};
use crate::event::Event;
use crate::group::Leases;
use crate::queue::{Inner as QueueInner, Queue};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Where a block is described: kept for the next one, unless the program has kept some of it.
pub(super) struct Desk {
    graph: Arc<Inner>,
    queue: Queue,
    leases: Vec<Arc<StorageHandle>>,
}

/// What the [batches](Queue::batch) of a queue have done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchReport {
    /// Blocks that were submitted.
    pub batches: u64,
    /// Blocks whose order was that of an earlier one: the same commands that use buffers in the
    /// same way, whichever buffers these are, and ranges that overlap in the same way.
    pub found: u64,
    /// Blocks whose order was found anew.
    pub made: u64,
    /// Orders that were given up because 16 others were used later.
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
    pub why_not: Option<&'static str>,
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
    /// A block whose commands are those of earlier ones is one operation of the device from the
    /// fourth time on, if its commands cannot fail by themselves and if it waits for nothing that
    /// may fail. Its scalars, buffers and ranges may be others each time: they are exchanged in the
    /// device's graph, where that takes no longer than to submit the commands.
    /// [`BatchReport::why_not`] says why the latest block was submitted one by one.
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
    /// Each block is planned anew. The code of a fused kernel is found again by its content, so
    /// equal blocks compile nothing. [`BatchReport::kernels`] and [`BatchReport::launches`] tell
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
        let graph = &desk.graph;
        graph.check_queue(self)?;
        let recording = Recording::of(graph, &mut std::iter::once(&desk.queue))?;
        let made = inner.core.engine.storages_made.load(Ordering::Relaxed);
        let result = block(&desk.queue);
        drop(recording);
        let result = result?;
        // Only a block that has made buffers has temporaries.
        let made = inner.core.engine.storages_made.load(Ordering::Relaxed) != made;
        let trail = graph.state.lock().trail.take();
        let (mut why_not, mut leases) = (NEW, Vec::new());
        if let Some(mut trail) = trail {
            match self.run_known(graph, (&mut trail, made), &mut leases) {
                Some(Ok(event)) => {
                    // These have the room for the next block's.
                    trail.leases.append(&mut leases);
                    inner.batches.put_back(desk, trail.leases);
                    return Ok((result, event));
                }
                Some(Err(why)) => why_not = why,
                None => {}
            }
            graph.state.lock().trail = Some(trail);
        }
        let event = self.run_taken(&desk, (options, made), why_not)?;
        drop(leases);
        inner.batches.put_back(desk, Vec::new());
        Ok((result, event))
    }

    /// Submits a block that is known as one operation. None if it is another one; an error says why
    /// its commands have to be submitted one by one. What is to be kept until then is added to
    /// `leases`.
    fn run_known(
        &self,
        graph: &Inner,
        (trail, made): (&mut Trail, bool),
        leases: &mut Vec<Arc<StorageHandle>>,
    ) -> Option<Result<Event, Apart>> {
        let QueueInner { core, id, in_order, devices, batches, .. } = &*self.inner;
        let (device, timed) = (devices[0], self.is_timed());
        let on = On { queue: *id, in_order: *in_order, device, timed };
        let (known, exchanges) = trail.whole()?;
        let known = match exchanges {
            true => match batches.exchange(graph, on, (trail, made), leases) {
                Ok(known) => known,
                Err(why) => return Some(Err(why)),
            },
            false => known.clone(),
        };
        let ran = core.engine.run_block(on, &known.block, &batches.trust);
        if ran.is_ok() {
            batches.count_known(&known, exchanges);
        }
        Some(ran.map(|stamp| Event::new(core.clone(), stamp)))
    }

    /// Submits what has been described, one by one.
    fn run_taken(
        &self,
        desk: &Desk,
        (options, made): (FinalizeOptions, bool),
        why_not: Apart,
    ) -> Result<Event> {
        let (batches, graph) = (&self.inner.batches, &*desk.graph);
        let taken = graph.take((options, made)).map_err(|why| graph.error(why))?;
        let apart = taken.apart(options);
        let Taken {
            mut commands,
            after,
            _leases,
            works,
            launches,
            internal,
            fusion,
            temporaries,
            ..
        } = taken;
        let plant = graph.core.engine.plant;
        // Another thread's block may take the memory out of the pool before this one is submitted.
        let _memories = batches.place(&mut commands, &after, (temporaries, &_leases), plant);
        let block = Block { commands: &commands, works: &works, after: &after, launches, apart };
        let found = batches.find(&block, plant);
        // A block that is known stays so, whatever it has waited for.
        let learns = match why_not {
            NEW | MOVED => found.expected.again || found.expected.often,
            BUSY => batches.has_room(),
            _ => false,
        };
        let learns = learns && apart.is_none() && found.expected.apart.is_none();
        let again = || commands.iter().map(Command::again).collect::<Option<Vec<Command>>>();
        let again = if learns { again() } else { None };
        let clocks = match self.is_timed() {
            true => time(&mut commands, 0.., true, &graph.core.engine),
            false => Clocks::new(),
        };
        let ran =
            graph.run(self, &mut commands, &found.order, (&[], None), (&internal, &fusion))?;
        // Nothing of it names memory beforehand.
        let refused = || Error::Actions { command: Label::NONE, actions: 0 };
        let (mut event, ran) = ran.ok_or_else(refused)?;
        if self.is_timed() {
            event = event.of_run(RunTimes::new(graph.device, true, clocks, &ran).0);
        }
        if why_not == WAITS {
            batches.trust.lock().add_apart(ran.stamps.into_iter().flatten());
        }
        let told = apart.or(found.expected.apart).filter(|_| why_not == NEW).unwrap_or(why_not);
        batches.tell(told);
        if let Some(again) = again {
            batches.learn(graph, again, after, found.kind);
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
    works: Vec<Work>,
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
    /// Why a block of these commands is never one operation, as far as that follows from how they
    /// were described.
    fn apart(&self, options: FinalizeOptions) -> Option<Apart> {
        let all = [
            (options != FinalizeOptions::new(), "its kernels are to be fused"),
            (!self.temporaries.is_empty(), MAKES),
            (!self.internal.is_empty(), "it uses memory that is marked as internal"),
            (!self.fusion.is_empty(), "its kernels are to be fused"),
            (self.nested, "it runs a graph"),
        ];
        all.into_iter().find_map(|(is, why)| is.then_some(why))
    }

    fn add(&mut self, template: Arc<Template>) {
        self.works.push(template.work);
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
            works: Vec::with_capacity(steps.all.len()),
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
        Desk { graph, queue, leases: Vec::new() }
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

impl Batches {
    /// Where a block of a queue is described. One that is to be fused is compared with none.
    fn desk(&self, of: &Queue, compares: bool) -> Desk {
        let (desk, known) = self.take_desk();
        let mut desk = desk.unwrap_or_else(|| Desk::new(of));
        if compares {
            let plant = desk.graph.core.engine.plant;
            let trail = Trail::new(&known, std::mem::take(&mut desk.leases), plant);
            desk.graph.state.lock().trail = trail;
        }
        desk
    }

    /// Keeps it for the next block.
    fn put_back(&self, mut desk: Desk, mut leases: Vec<Arc<StorageHandle>>) {
        if !desk.is_free() {
            return;
        }
        // Buffers may be the program's last handles of them.
        leases.clear();
        desk.leases = leases;
        let mut state = desk.graph.state.lock();
        state.leaves.clear();
        state.nested = false;
        state.conflicts = Conflicts::default();
        let old = std::mem::take(&mut state.leases);
        drop(state);
        drop(old);
        self.give_desk(desk);
    }
}
