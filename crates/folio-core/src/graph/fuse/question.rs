//! A graph's commands as the question that fusion is asked.

use super::{Draft, Piece};
use crate::engine::kernels::launch::{Function, Launch};
use crate::engine::pages::storage::StorageId;
use crate::engine::runs::command::Action;
use crate::graph::replay::can_fail;
use crate::graph::steps::{Step, Steps};
use crate::graph::template::Template;
use crate::hal::{Geometry, Param};
use crate::planted::Planted;
use folio_kernel::fuse::{
    Argument, Call, Geometry as Over, Graph, Memory, MemoryId, Node, OtherWork, Region, Users,
    Wishes, Work,
};
use folio_kernel::{ParamId, ParamKind};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::Ordering;

/// The question, and what its numbers mean: nodes are the pieces of a draft.
pub(super) struct Question {
    pub(super) graph: Graph,
    pub(super) users: Users,
    pub(super) memories: HashMap<StorageId, MemoryId>,
}

/// A command, and one of its accesses.
type Use = (usize, usize);

/// The launch of a kernel function.
pub(in crate::graph) fn function_of(step: &Step) -> Option<(&Launch, &Function)> {
    let Action::Launch(Some(launch)) = &step.template.command.action else { return None };
    Some((launch, launch.function.as_ref()?))
}

/// The memories of a question.
struct Memories<'d> {
    draft: &'d Draft<'d>,
    ids: HashMap<StorageId, MemoryId>,
    all: Vec<Memory>,
}

impl Memories<'_> {
    fn of(&mut self, template: &Template, access: usize) -> MemoryId {
        let storage = template.command.accesses[access].storage;
        let Memories { draft, ids, all } = self;
        *ids.entry(storage).or_insert_with(|| {
            let handle = template.leases.get(access);
            all.push(Memory {
                label: handle.map_or(String::new(), |handle| handle.label.as_str().to_owned()),
                temporary: draft.temporaries.contains(&storage),
                wishes: handle.map_or(Wishes::default(), |handle| handle.marked().0),
                elsewhere: draft.elsewhere(storage),
            });
            MemoryId(all.len() as u32 - 1)
        })
    }
}

/// Three dimensions as a kernel of this rank numbers them.
fn leading(dims: [usize; 3], rank: u8, beyond: u64) -> [u64; 3] {
    let first = 3 - usize::from(rank);
    std::array::from_fn(|dim| dims.get(first + dim).map_or(beyond, |n| *n as u64))
}

fn geometry(geometry: &Geometry) -> Over {
    let Geometry { rank, offset, range, group, .. } = *geometry;
    Over {
        range: leading(range, rank, 1),
        offset: leading(offset, rank, 0),
        group: group.map(|group| leading(group, rank, 1)),
    }
}

/// The box of a memory that an argument shows, of which a launch may access a part.
fn region(memory: MemoryId, param: &Param, rank: u8) -> Region {
    let origin = std::array::from_fn(|dim| param.origin[dim].wrapping_sub(param.index[dim]));
    Region {
        memory,
        shape: leading(param.dims, rank, 1),
        origin: leading(origin, rank, 0),
        extent: leading(param.shape, rank, 1),
    }
}

/// The bytes of a scalar whose words these begin with.
fn bytes(words: &[u64], size: usize) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).take(size).collect()
}

impl Draft<'_> {
    /// The question of one part of the graph. Other parts' kernels are no kernels here.
    pub(super) fn question(&self, part: u32, is_fixed: &dyn Fn(usize) -> bool) -> Question {
        let mut memories = Memories { draft: self, ids: HashMap::new(), all: vec![] };
        let shared = self.shared();
        let nodes = self.pieces.iter().enumerate().map(|(at, piece)| {
            let label = self.label(at).as_str().to_owned();
            let fixed = is_fixed(piece.first());
            let call = self.step(at).filter(|step| step.part == part && !self.is_strange(step));
            let call = call.and_then(|step| call_of(step, fixed, &mut memories));
            let work = match call {
                Some(call) => Work::Kernel(call),
                None => self.other(at, part, &mut memories, &shared),
            };
            Node { label, work, after: self.pieces_before(at) }
        });
        let mut nodes: Vec<Node> = nodes.collect();
        if self.graph.core.engine.plant.is(Planted::TaskOrder) {
            let is_task = |node: &Node| matches!(node.work, Work::Other(OtherWork::HostTask, _));
            let tasks: Vec<bool> = nodes.iter().map(is_task).collect();
            for (at, node) in nodes.iter_mut().enumerate() {
                node.after.retain(|before| !tasks[at] && !tasks[*before]);
            }
        }
        let Memories { ids, all, .. } = memories;
        let graph = Graph { nodes, memories: all };
        Question { users: Users::of(&graph), graph, memories: ids }
    }

    fn other(
        &self,
        piece: usize,
        part: u32,
        memories: &mut Memories<'_>,
        shared: &HashMap<usize, Vec<Use>>,
    ) -> Work {
        let step = self.step(piece);
        let own = step.map_or(0, |step| step.template.command.accesses.len());
        let own = step.into_iter().flat_map(|step| (0..own).map(move |at| (step, at)));
        let inner = shared.get(&piece).into_iter().flatten();
        let inner = inner.filter_map(|(at, access)| Some((self.steps.all.get(*at)?, *access)));
        let all = own.chain(inner).map(|(step, access)| memories.of(&step.template, access));
        let mut all: Vec<MemoryId> = all.collect();
        all.sort_unstable();
        all.dedup();
        let what = match step {
            Some(step) if step.part == part => step.template.kind.other(),
            // Launches of its own, which are nothing to this part.
            _ => OtherWork::Marker,
        };
        Work::Other(what, all)
    }

    /// By part within this one: memories that it has in common with commands of this one.
    fn shared(&self) -> HashMap<usize, Vec<Use>> {
        let mut shared: HashMap<usize, Vec<Use>> = HashMap::new();
        if !self.pieces.iter().any(|piece| matches!(piece, Piece::Part(_))) {
            return shared;
        }
        let own = (0..self.pieces.len()).filter_map(|at| self.step(at));
        let own = own.flat_map(|step| &step.template.command.accesses);
        let own: BTreeSet<StorageId> = own.map(|access| access.storage).collect();
        for storage in own {
            let Some(users) = self.users.get(&storage) else { continue };
            let from = |command: usize| users.partition_point(|at| (*at as usize) < command);
            let mut next = from(self.within.start);
            while let Some(user) = users.get(next).map(|at| *at as usize) {
                if user >= self.within.end {
                    break;
                }
                next += 1;
                let piece = self.piece_of(user);
                let Piece::Part(part) = &self.pieces[piece] else { continue };
                let mut accesses = self.steps.all[user].template.command.accesses.iter();
                let access = accesses.position(|access| access.storage == storage);
                shared.entry(piece).or_default().extend(access.map(|access| (user, access)));
                // The first use of a memory stands for all within the part.
                next = from(part.range.end);
            }
        }
        shared
    }

    /// It is of another device, or uses memory of which more would have to be known: that of
    /// another storage as well, or one in elements of several sizes.
    fn is_strange(&self, step: &Step) -> bool {
        let template = &step.template;
        template.command.device.is_some_and(|device| device != self.graph.device)
            || template.leases.iter().any(|handle| handle.imported.load(Ordering::Relaxed))
            || template.command.accesses.iter().any(|a| self.of_several_sizes.contains(&a.storage))
    }
}

/// Memories that commands use in elements of several sizes.
pub(super) fn of_several_sizes(steps: &Steps) -> HashSet<StorageId> {
    let mut sizes: HashMap<StorageId, u32> = HashMap::new();
    let mut several: HashSet<StorageId> = HashSet::new();
    for step in &steps.all {
        let Some((launch, _)) = function_of(step) else { continue };
        for (param, token) in launch.params.iter().zip(&launch.tokens) {
            let storage = step.template.command.accesses[token.at].storage;
            if *sizes.entry(storage).or_insert(param.size) != param.size {
                several.insert(storage);
            }
        }
    }
    several
}

/// A launch overwrites all of an argument, and reads nothing of it.
fn covers_all(step: &Step, launch: &Launch, nth: usize) -> bool {
    let (Some(param), Some(token)) = (launch.params.get(nth), launch.tokens.get(nth)) else {
        return false;
    };
    let access = step.template.command.accesses.get(token.at);
    let is_whole = (param.index, param.extent) == ([0; 3], param.shape);
    access.is_some_and(|access| is_whole && access.mode.discards())
}

/// The launch of a step; none where it is not one that could be fused.
fn call_of(step: &Step, fixed: bool, memories: &mut Memories<'_>) -> Option<Call> {
    let (launch, function) = function_of(step)?;
    let kernel = &function.code.ir;
    let (mut word, mut nth) = (0, 0);
    let (mut arguments, mut covers) = (Vec::with_capacity(kernel.params.len()), vec![]);
    for param in &kernel.params {
        let memory = |memories: &mut Memories<'_>, nth: usize| {
            let (param, token) = (launch.params.get(nth)?, launch.tokens.get(nth)?);
            Some((param, memories.of(&step.template, token.at)))
        };
        arguments.push(match param.kind {
            ParamKind::Scalar(ty) => {
                let size = kernel.types.layout(ty).0 as usize;
                let bytes = bytes(launch.scalars.get(word..)?, size);
                word += size.div_ceil(8);
                Argument::Scalar { bytes, fixed }
            }
            ParamKind::View { rank, .. } => {
                let (param, memory) = memory(memories, nth)?;
                let wishes = step.marks_of(nth).0;
                if covers_all(step, launch, nth) {
                    covers.push(ParamId(arguments.len() as u32));
                }
                nth += 1;
                Argument::View { region: region(memory, param, rank), wishes }
            }
            ParamKind::Reduce { .. } => {
                let (_, memory) = memory(memories, nth)?;
                nth += 1;
                Argument::Reduce(memory)
            }
            ParamKind::Local { .. } => Argument::Local,
        });
    }
    let (geometry, infallible) = (geometry(&launch.geometry), can_fail(launch).is_none());
    Some(Call { kernel: kernel.clone(), geometry, arguments, infallible, covers })
}
