//! Memory of temporaries: those of equal shape share it where their lifetimes do not meet.
//!
//! A temporary is written before it is read in each run, and nothing outside of the run can name
//! it. So its accesses may as well be of another buffer of that shape, as long as all commands that
//! use that one come before it in the graph. Then sharing adds no edge between commands that could
//! run side by side. The buffer that is not used any more is never given memory.

use super::replay::{Before, before_of};
use super::steps::{Step, Steps};
use super::template::Template;
use super::{Executable, Inner};
use crate::buffer::StorageHandle;
use crate::engine::pages::storage::StorageId;
use crate::engine::runs::command::{Action, Command};
use crate::engine::terms::access::Access;
use crate::error::Result;
use crate::geom::Grid;
use crate::planted::{Plant, Planted};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet};
use std::sync::Arc;

/// How many earlier commands are looked at to find that a temporary comes after another one.
const LOOKED_AT: usize = 1024;

/// How many memories of its shape are asked whether a temporary can have them: those that were
/// used last.
const ASKED: usize = 64;

/// How many memories a queue's batches keep, and after how many batches with temporaries one goes
/// that none of them has used.
const KEPT: usize = 16;

/// The properties of a memory for a temporary.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Shape {
    grid: Grid,
    element_bytes: usize,
    align: usize,
}

impl Shape {
    fn bytes(&self) -> u64 {
        (self.grid.dims.iter().product::<usize>() * self.element_bytes) as u64
    }
}

/// By temporary: its shape.
pub(super) type Temporaries = BTreeMap<StorageId, Shape>;

/// By temporary: whose memory it has.
pub(super) type Places = BTreeMap<StorageId, StorageId>;

/// The memory of a graph's temporaries: see [`Executable::memory`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphMemory {
    /// Buffers that belong to the graph and that its commands use.
    pub temporaries: usize,
    /// The memories that they share.
    pub memories: usize,
    /// The bytes that these hold now, wherever they are: none before the first run.
    pub bytes: u64,
    /// The bytes that the temporaries would hold on one device if they shared nothing.
    pub unshared_bytes: u64,
}

impl Executable {
    /// The memory of the graph's temporaries: of buffers that were made for it, of which the
    /// program has no handle, and that each run writes before it reads them. Temporaries of one
    /// shape share memory where their lifetimes do not meet. Those that fusion keeps out of memory
    /// are not counted.
    ///
    /// ```
    /// # use folio_core::{Result, Runtime};
    /// fn example(rt: &Runtime) -> Result<()> {
    ///     let (graph, mut out) = (rt.graph("cpu")?, rt.buffer::<i32, 1>(4)?);
    ///     let mut all = (0..5).map(|_| rt.buffer::<i32, 1>(4)).collect::<Result<Vec<_>>>()?;
    ///     graph.add(|cg| cg.fill(&mut all[0], 7))?;
    ///     for at in 1..5 {
    ///         let (from, to) = all.split_at_mut(at);
    ///         graph.add(|cg| cg.copy(&from[at - 1], &mut to[0]))?;
    ///     }
    ///     graph.add(|cg| cg.copy(&all[4], &mut out))?;
    ///     drop(all);
    ///     let memory = graph.finalize()?.memory()?;
    ///     assert_eq!((memory.temporaries, memory.memories), (5, 2));
    ///     Ok(())
    /// }
    /// ```
    pub fn memory(&self) -> Result<GraphMemory> {
        let (temporaries, places) = self.places()?;
        let own: BTreeSet<StorageId> = places.values().copied().collect();
        let bytes = self.engine().enter(|ledger| {
            let held = |id: &StorageId| match ledger.storages.get(id.0) {
                Some(storage) => storage.allocs().count() * storage.bytes(),
                None => 0,
            };
            own.iter().map(held).sum::<usize>() as u64
        });
        Ok(GraphMemory {
            temporaries: places.len(),
            memories: own.len(),
            bytes,
            unshared_bytes: places.keys().filter_map(|id| Some(temporaries.get(id)?.bytes())).sum(),
        })
    }
}

impl Inner {
    /// Which temporaries these commands have, of those that can share memory.
    pub(super) fn temporaries(&self, steps: &Steps) -> Temporaries {
        let engine = &self.core.engine;
        let mut found = steps.temporaries(engine.plant);
        if found.is_empty() {
            return Temporaries::new();
        }
        for step in &steps.all {
            if let Action::Conditional(_) = &step.template.command.action {
                // A condition names the memory that its bodies use.
                for access in &step.template.command.accesses {
                    found.remove(&access.storage);
                }
            }
        }
        engine.enter(|ledger| found.retain(|id| ledger.storages.can_share_memory(*id)));
        let handles = steps.all.iter().flat_map(|step| &step.template.leases);
        let handles = handles.filter(|handle| found.contains(&handle.id));
        handles.map(|handle| (handle.id, handle.shape())).collect()
    }

    /// Commands whose temporaries share memory, and which memory each has.
    pub(super) fn pooled(
        &self,
        steps: &Arc<Steps>,
        temporaries: &Temporaries,
    ) -> (Arc<Steps>, Places) {
        if temporaries.is_empty() {
            return (steps.clone(), Places::new());
        }
        let accesses = || steps.all.iter().map(|step| &step.template.command.accesses[..]);
        let before = before_of(&steps.order.after, accesses());
        let places = share(temporaries, &before, accesses(), &[], self.core.engine.plant);
        let all: Option<Vec<Step>> = steps.all.iter().map(|step| step.moved(&places)).collect();
        match all {
            Some(all) => (Arc::new(steps.with(all, steps.order.after.clone())), places),
            // A command that runs only once is in no executable.
            None => (steps.clone(), Places::new()),
        }
    }
}

impl Step {
    /// The step, over the memory that its temporaries have.
    fn moved(&self, places: &Places) -> Option<Step> {
        let is_moved = |access: &Access| places.get(&access.storage) != Some(&access.storage);
        let mut accesses = self.template.command.accesses.iter();
        if !accesses.any(|access| places.contains_key(&access.storage) && is_moved(access)) {
            return Some(self.clone());
        }
        let of = &self.template;
        let mut command = of.command.again()?;
        move_to(&mut command, places);
        let template = Template {
            kind: of.kind,
            label: of.label.clone(),
            command,
            work: of.work,
            leases: of.leases.clone(),
            bodies: of.bodies.clone(),
            marks: of.marks.clone(),
        };
        Some(Step { template: Arc::new(template), ..self.clone() })
    }
}

/// Has a command use the memory that its temporaries have.
pub(super) fn move_to(command: &mut Command, places: &Places) {
    for access in &mut command.accesses {
        access.storage = places.get(&access.storage).copied().unwrap_or(access.storage);
    }
}

impl StorageHandle {
    pub(super) fn shape(&self) -> Shape {
        Shape {
            grid: self.grid,
            element_bytes: self.element_bytes,
            align: self.align.load(std::sync::atomic::Ordering::Relaxed),
        }
    }
}

/// A memory, and what has used it so far.
struct Memory {
    id: StorageId,
    users: Vec<u32>,
}

/// Which memory each temporary has that commands use: that of another one, or one of `kept`, which
/// nothing of the run has used, or its own.
pub(super) fn share<'a>(
    temporaries: &Temporaries,
    before: &Before,
    accesses: impl Iterator<Item = &'a [Access]>,
    kept: &[(StorageId, Shape)],
    plant: Plant,
) -> Places {
    let mut users: BTreeMap<StorageId, Vec<u32>> = BTreeMap::new();
    for (at, accesses) in accesses.enumerate() {
        for access in accesses.iter().filter(|access| temporaries.contains_key(&access.storage)) {
            let users = users.entry(access.storage).or_default();
            if users.last() != Some(&(at as u32)) {
                users.push(at as u32);
            }
        }
    }
    let mut users: Vec<(StorageId, Vec<u32>)> = users.into_iter().collect();
    users.sort_by_key(|(_, users)| users.first().copied());
    // Of each shape, those that nothing has used; and the others, the latest used last.
    let mut unused: HashMap<Shape, Vec<StorageId>> = HashMap::new();
    kept.iter().rev().for_each(|(id, shape)| unused.entry(*shape).or_default().push(*id));
    let mut memories: HashMap<Shape, Vec<Memory>> = HashMap::new();
    let mut places = Places::new();
    for (id, users) in users {
        let Some(shape) = temporaries.get(&id).copied() else { continue };
        let memories = memories.entry(shape).or_default();
        if let Some(kept) = unused.get_mut(&shape).and_then(Vec::pop) {
            places.insert(id, kept);
            memories.push(Memory { id: kept, users });
            continue;
        }
        let earlier = all_before(before, &users);
        let planted = plant.is(Planted::SharedAlive);
        let is_over = |memory: &Memory| {
            let over = memory.users.iter().all(|user| earlier.contains(user));
            // No command has one memory twice.
            over || planted && memory.users.iter().all(|user| !users.contains(user))
        };
        let first = memories.len().saturating_sub(ASKED);
        match memories[first..].iter().position(is_over) {
            Some(at) => {
                let Memory { id: place, users: mut known } = memories.remove(first + at);
                places.insert(id, place);
                if !planted {
                    known.clear();
                }
                known.extend(users);
                memories.push(Memory { id: place, users: known });
            }
            None => {
                places.insert(id, id);
                memories.push(Memory { id, users });
            }
        }
    }
    places
}

/// Commands that come before each of these: as far as they are found soon.
fn all_before(before: &Before, users: &[u32]) -> HashSet<u32> {
    let mut reached: HashSet<u32> = HashSet::new();
    let mut all: Option<HashSet<u32>> = None;
    for user in users {
        let edges = before.get(*user as usize);
        let follows =
            edges.is_some_and(|edges| edges.iter().any(|(from, _)| reached.contains(from)));
        reached.insert(*user);
        if follows {
            continue;
        }
        let mut seen: HashSet<u32> = HashSet::new();
        let mut left = BinaryHeap::from([*user]);
        // The latest first: what it comes after is near, as a rule.
        while let Some(at) = left.pop().filter(|_| seen.len() < LOOKED_AT) {
            for (from, _) in before.get(at as usize).into_iter().flatten() {
                if seen.insert(*from) {
                    left.push(*from);
                }
            }
        }
        all = Some(match all {
            Some(all) => all.intersection(&seen).copied().collect(),
            None => seen,
        });
    }
    all.unwrap_or_default()
}

/// The memory that a queue's batches keep for their temporaries.
#[derive(Default)]
pub(super) struct Pool {
    kept: Vec<Kept>,
    /// Batches with temporaries.
    batches: u64,
}

struct Kept {
    handle: Arc<StorageHandle>,
    used: u64,
}

impl Pool {
    /// What it holds, and of which size that is.
    pub(super) fn counts(&self) -> (usize, u64) {
        (self.kept.len(), self.kept.iter().map(|kept| kept.handle.shape().bytes()).sum())
    }

    /// Gives the temporaries of a block memory. Returns which, and handles of it, to be kept until
    /// the block is submitted, and such as it has given up. All are to be dropped without a lock.
    pub(super) fn place(
        &mut self,
        commands: &mut [Command],
        before: &Before,
        (temporaries, handles): (&Temporaries, Vec<Arc<StorageHandle>>),
        plant: Plant,
    ) -> (Places, Vec<Arc<StorageHandle>>) {
        self.batches += 1;
        let kept: Vec<_> =
            self.kept.iter().map(|kept| (kept.handle.id, kept.handle.shape())).collect();
        let accesses = commands.iter().map(|command| &command.accesses[..]);
        let places = share(temporaries, before, accesses, &kept, plant);
        commands.iter_mut().for_each(|command| move_to(command, &places));
        let used: BTreeSet<StorageId> = places.values().copied().collect();
        for kept in self.kept.iter_mut().filter(|kept| used.contains(&kept.handle.id)) {
            kept.used = self.batches;
        }
        let mut known: BTreeSet<StorageId> = kept.iter().map(|(id, _)| *id).collect();
        for handle in handles {
            if used.contains(&handle.id) && known.insert(handle.id) {
                self.kept.push(Kept { handle, used: self.batches });
            }
        }
        (places, self.held(&used))
    }

    /// Gives a block the memory that an equal one has had, and returns it as [`place`](Self::place)
    /// does. None if some of it is there no more.
    pub(super) fn place_again(&mut self, places: &Places) -> Option<Vec<Arc<StorageHandle>>> {
        let used: BTreeSet<StorageId> = places.values().copied().collect();
        let is_used = |kept: &&mut Kept| used.contains(&kept.handle.id);
        if self.kept.iter_mut().filter(is_used).count() < used.len() {
            return None;
        }
        self.batches += 1;
        let now = self.batches;
        self.kept.iter_mut().filter(is_used).for_each(|kept| kept.used = now);
        Some(self.held(&used))
    }

    /// Handles of the memory that a block uses, and such as is given up.
    fn held(&mut self, used: &BTreeSet<StorageId>) -> Vec<Arc<StorageHandle>> {
        self.kept.sort_by_key(|kept| std::cmp::Reverse(kept.used));
        let now = self.batches;
        let lasts = |(nth, kept): &(usize, &Kept)| *nth < KEPT && kept.used + KEPT as u64 > now;
        let count = self.kept.iter().enumerate().take_while(lasts).count();
        let of_block = self.kept[..count].iter().filter(|kept| used.contains(&kept.handle.id));
        let mut handles: Vec<_> = of_block.map(|kept| kept.handle.clone()).collect();
        handles.extend(self.kept.split_off(count).into_iter().map(|kept| kept.handle));
        handles
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::engine::terms::access::Mode;
    use crate::pages::DomainId;

    /// How many memories temporaries have that commands use as told: the numbers of those they
    /// read, and of those they write.
    fn memories(commands: &[(&[u32], &[u32])], shape: impl Fn(u32) -> usize) -> usize {
        let mut temporaries = Temporaries::new();
        let mut all: Vec<Vec<Access>> = Vec::new();
        for (reads, writes) in commands {
            let mut accesses = Vec::new();
            let reads = reads.iter().map(|id| (id, Mode::Read));
            for (id, mode) in
                reads.chain(writes.iter().map(|id| (id, Mode::Discard { whole: true })))
            {
                let grid = Grid::new([1, 1, shape(*id)], [1, 1, 4]);
                accesses.push(Access::whole((StorageId(*id, 0), &grid), mode, DomainId(1)));
                temporaries.insert(StorageId(*id, 0), Shape { grid, element_bytes: 4, align: 4 });
            }
            all.push(accesses);
        }
        let after = vec![Default::default(); all.len()];
        let accesses = || all.iter().map(Vec::as_slice);
        let before = before_of(&after, accesses());
        let places = share(&temporaries, &before, accesses(), &[], Plant::default());
        places.values().collect::<BTreeSet<_>>().len()
    }

    /// GRAPH-07: also among commands that could run side by side.
    #[test]
    fn temporaries_share_memory_where_lifetimes_do_not_meet() {
        let chain: &[(&[u32], &[u32])] =
            &[(&[], &[0]), (&[0], &[1]), (&[1], &[2]), (&[2], &[3]), (&[3], &[])];
        assert_eq!(memories(chain, |_| 8), 2);
        assert_eq!(memories(chain, |id| 8 + id as usize), 4);
        assert_eq!(memories(chain, |id| 8 + id as usize % 2), 2);
        // Two chains that do not meet.
        let two: &[(&[u32], &[u32])] = &[(&[], &[0]), (&[0], &[]), (&[], &[1]), (&[1], &[])];
        assert_eq!(memories(two, |_| 8), 2);
        // One that is used until the end.
        let long: &[(&[u32], &[u32])] =
            &[(&[], &[0]), (&[0], &[1]), (&[1], &[2]), (&[0, 2], &[3]), (&[3], &[])];
        assert_eq!(memories(long, |_| 8), 3);
    }
}
