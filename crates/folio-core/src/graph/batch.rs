//! Batches: a block of ordinary submissions that becomes one run.

use super::chains::before_of;
use super::conflicts::{After, number_of, order_of};
use super::fuse::{FinalizeOptions, Unit};
use super::pool::{Pool, Temporaries};
use super::steps::Steps;
use super::template::{Template, Work};
use super::{Inner, NodeKind, Recording, temporaries};
use crate::buffer::StorageHandle;
use crate::engine::command::Command;
use crate::engine::replay::Order;
use crate::engine::storage::StorageId;
use crate::error::{Error, GraphError, Label, Result};
use crate::event::Event;
use crate::group::Leases;
use crate::planted::{Plant, Planted};
use crate::queue::Queue;
use crate::sync::Mutex;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How many shapes of blocks a queue keeps.
const SHAPES: usize = 16;

/// What the batches of a queue have in common.
#[derive(Default)]
pub(crate) struct Batches(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// The latest used first.
    shapes: Vec<(Vec<u64>, Arc<Order>)>,
    report: BatchReport,
    pool: Pool,
}

/// What the [batches](Queue::batch) of a queue have done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchReport {
    /// Blocks that were submitted.
    pub batches: u64,
    /// Blocks whose order was that of an earlier one: the same commands that use buffers in the
    /// same way, whichever buffers these are.
    pub found: u64,
    /// Blocks whose order was found anew.
    pub made: u64,
    /// Orders that were given up because 16 others were used later.
    pub evicted: u64,
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
    /// An error of the block submits nothing. Within the block, events can only be passed to
    /// [`CommandGroup::after`](crate::CommandGroup::after), and data are as they were before it:
    /// what the block has written cannot be read there
    /// ([`GraphError::NotRunYet`](crate::GraphError::NotRunYet)).
    ///
    /// ```
    /// # use folio_core::{Queue, Result, Runtime};
    /// fn steps(q: &Queue, rt: &Runtime) -> Result<()> {
    ///     let (mut x, mut y) = (rt.buffer::<i32>(4)?, rt.buffer::<i32>(4)?);
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
    ///     let mut y = rt.buffer::<i32>(4)?;
    ///     q.batch_fused(|q| {
    ///         let mut x = rt.buffer::<i32>(4)?;
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
        let device = inner.devices[0];
        let graph = Inner::new(inner.core.clone(), device, true);
        graph.state.lock().label = Label::of(&"batch");
        graph.check_queue(self)?;
        if inner.recorder.graph().is_some() {
            return Err(graph.error(GraphError::AlreadyRecording));
        }
        let queue = Queue::new(inner.core.clone(), inner.devices.clone(), inner.in_order, None);
        let recording = Recording::of(&graph, &mut std::iter::once(&queue))?;
        let made = inner.core.engine.storages_made.load(Ordering::Relaxed);
        let result = block(&queue);
        drop(recording);
        let result = result?;
        // Only a block that has made buffers has temporaries.
        let made = inner.core.engine.storages_made.load(Ordering::Relaxed) != made;
        let taken = graph.take((options, made)).map_err(|why| graph.error(why))?;
        let Taken { mut commands, after, _leases, works, launches, internal, fusion, temporaries } =
            taken;
        let plant = graph.core.engine.plant;
        let old = inner.batches.place(&mut commands, &after, (temporaries, &_leases), plant);
        drop(old);
        let order = inner.batches.order(&commands, &works, (after, launches), plant);
        let ran = graph.run(self, &mut commands, &order, (&[], None), (&internal, &fusion))?;
        // Nothing of it names memory beforehand.
        let refused = || Error::Actions { command: Label::NONE, actions: 0 };
        Ok((result, ran.ok_or_else(refused)?.0))
    }

    /// What [`batch`](Self::batch) has done on this queue.
    pub fn batch_report(&self) -> BatchReport {
        self.inner.batches.0.lock().report
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
}

impl Taken {
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

impl Batches {
    /// Gives the temporaries of a block memory. Returns what is given up for that, to be dropped
    /// without a lock.
    fn place(
        &self,
        commands: &mut [Command],
        after: &After,
        (temporaries, leases): (Temporaries, &[Leases]),
        plant: Plant,
    ) -> Vec<Arc<StorageHandle>> {
        let mut kept = self.0.lock();
        let Kept { report, pool, .. } = &mut *kept;
        report.temporaries = temporaries.len();
        if temporaries.is_empty() {
            return Vec::new();
        }
        let before = before_of(after, commands.iter().map(|command| &command.accesses[..]));
        let handles = leases.iter().flat_map(|leases| &leases.0);
        let handles = handles.filter(|handle| temporaries.contains_key(&handle.id)).cloned();
        let old = pool.place(commands, &before, (&temporaries, handles.collect()), plant);
        (report.memories, report.bytes) = pool.counts();
        old
    }

    /// The order of commands: that of an earlier block, if it was the same but for its buffers and
    /// values.
    fn order(
        &self,
        commands: &[Command],
        works: &[Work],
        (after, launches): (After, (usize, usize)),
        plant: Plant,
    ) -> Arc<Order> {
        let key = key_of(commands, works, &after);
        let mut kept = self.0.lock();
        let Kept { shapes, report, .. } = &mut *kept;
        report.batches += 1;
        report.commands = commands.len();
        (report.kernels, report.launches) = launches;
        let is_equal = |other: &Vec<u64>| {
            let count = other.len() == key.len();
            *other == key || count && plant.is(Planted::OtherStructure)
        };
        if let Some(at) = shapes.iter().position(|(other, _)| is_equal(other)) {
            report.found += 1;
            shapes[..=at].rotate_right(1);
            return shapes[0].1.clone();
        }
        report.made += 1;
        let accesses = commands.iter().map(|command| &command.accesses[..]);
        let order = Arc::new(order_of(after, accesses));
        if shapes.len() == SHAPES {
            shapes.pop();
            report.evicted += 1;
        }
        shapes.insert(0, (key, order.clone()));
        order
    }
}

/// All that the order of commands follows from. Storages are named by where they come first.
fn key_of(commands: &[Command], works: &[Work], after: &After) -> Vec<u64> {
    let mut names: HashMap<StorageId, u64> = HashMap::new();
    let mut key = Vec::with_capacity(8 * commands.len());
    for ((command, work), after) in commands.iter().zip(works).zip(after) {
        let mut hasher = DefaultHasher::new();
        (command.action.name(), work).hash(&mut hasher);
        key.extend([hasher.finish(), after.len() as u64, command.accesses.len() as u64]);
        key.extend(after.iter().map(|(at, uses)| u64::from(*at) << 1 | u64::from(*uses)));
        for access in &command.accesses {
            let next = names.len() as u64;
            let name = *names.entry(access.storage).or_insert(next);
            key.push(name << 2 | number_of(access.mode));
            let corners = access.elements.min.iter().chain(&access.elements.max);
            key.extend(corners.map(|n| *n as u64));
        }
    }
    key
}
