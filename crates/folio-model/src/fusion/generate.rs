//! Random graphs: kernels that pass data on, in several shapes, with copies, fills and host tasks
//! between them, with and without properties.

use super::write::{Bound, Pool, kernel};
use crate::rng::Rng;
use folio_kernel::fuse::{
    AccessScope, Argument, Call, Costs, Facts, Geometry, Graph, Memory, MemoryId, Mode, Node,
    Options, OtherWork, Wishes, Work,
};
use folio_kernel::launch::Launch;
use folio_kernel::{Kernel, Scalar, VerifyError, checks};
use std::sync::Arc;

/// A graph with something in its memories.
#[derive(Clone, Debug)]
pub struct Case {
    /// The graph.
    pub graph: Graph,
    /// By memory: what is there before.
    pub contents: Vec<Vec<u8>>,
    /// The device.
    pub facts: Facts,
    /// How to fuse.
    pub options: Options,
}

/// A memory of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Store {
    pub memory: MemoryId,
    pub scalar: Scalar,
    /// Scalars of an element; more than one are an array.
    pub parts: u32,
    pub rank: u8,
    /// Of one view.
    pub extent: [u64; 3],
    /// The number of views of this extent, which lie one after the other, along dimension 0.
    pub views: u64,
    pub role: Role,
}

/// The contents of a memory: an element or a row for each item, or an element for each group;
/// integers for atomic operations; one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Items,
    Rows,
    Groups,
    Atomic,
    Result,
}

const SCALARS: [Scalar; 6] =
    [Scalar::F32, Scalar::I32, Scalar::U64, Scalar::U8, Scalar::F64, Scalar::I16];

/// A device on which kernels that share nothing gain by one launch, one on which they do not, and
/// one on which registers are rare, too.
const COSTS: [Costs; 3] = [
    Costs::GPU,
    Costs { launch_ns: 0, cache_rate: 1, registers: u32::MAX, ..Costs::GPU },
    Costs { launch_ns: 0, cache_rate: 1, registers: 3, units: 1, unit_items: 8, ..Costs::GPU },
];

/// Makes the case with this seed; an error is a mistake of the generator.
pub fn generate(seed: u64) -> Result<Case, VerifyError> {
    let mut rng = Rng::new(seed);
    let rank = if rng.chance(60) { 1 } else { rng.within(1, 3) as u8 };
    let mut geometry = Geometry { range: [1; 3], offset: [0; 3], group: None };
    let mut group = [1; 3];
    for (dim, size) in group.iter_mut().enumerate().take(usize::from(rank)) {
        *size = rng.within(1, 4) as u64;
        geometry.range[dim] = *size * rng.within(1, if rank == 1 { 6 } else { 3 }) as u64;
        geometry.offset[dim] = if rng.chance(15) { rng.below(3) as u64 } else { 0 };
    }
    geometry.group = Some(group);
    let scalars = [rng.pick(&SCALARS), rng.pick(&SCALARS)];
    let mut case = Case {
        graph: Graph::default(),
        contents: vec![],
        facts: Facts { costs: rng.pick(&COSTS), ..Facts::GPU },
        options: Options {
            mode: Mode::Enable,
            insert_barriers: rng.chance(50),
            bake: rng.chance(30),
        },
    };
    let stores = memories(&mut case, &mut rng, rank, &geometry, scalars);
    let mut pool = Pool { rank, geometry, stores, written: vec![], scalars };
    for _ in 0..rng.within(2, 7) {
        let node = match rng.below(12) {
            0 => other(&pool, &mut rng),
            _ => call(&mut pool, &mut rng)?,
        };
        after_all(&mut case.graph, node);
    }
    Ok(case)
}

fn memories(
    case: &mut Case,
    rng: &mut Rng,
    rank: u8,
    geometry: &Geometry,
    scalars: [Scalar; 2],
) -> Vec<Store> {
    let mut stores = vec![];
    let items: [u64; 3] = std::array::from_fn(|dim| geometry.range[dim] + geometry.offset[dim]);
    let group = geometry.group.unwrap_or([1; 3]);
    let groups: [u64; 3] = std::array::from_fn(|dim| geometry.range[dim] / group[dim]);
    for at in 0..rng.within(4, 8) {
        let role = match rng.below(12) {
            0 => Role::Groups,
            1 => Role::Atomic,
            2 => Role::Result,
            3 if rank == 1 => Role::Rows,
            _ => Role::Items,
        };
        let (rank, extent) = match role {
            Role::Items => (rank, items),
            Role::Rows => (2, [items[0], rng.within(1, 3) as u64, 1]),
            Role::Groups => (rank, groups),
            Role::Atomic => (1, [rng.within(1, 5) as u64, 1, 1]),
            Role::Result => (1, [1; 3]),
        };
        let scalar = match role {
            Role::Atomic => rng.pick(&[Scalar::U32, Scalar::I64]),
            _ => rng.pick(&scalars),
        };
        let temporary = role != Role::Atomic && rng.chance(35);
        let scope = match rng.below(8) {
            0 => Some(AccessScope::Item),
            1 => Some(AccessScope::Group),
            _ => None,
        };
        let (internal, no_init) = (rng.chance(12), rng.chance(20));
        let wishes = Wishes { scope, internal, no_init, ..Wishes::default() };
        case.graph.memories.push(Memory {
            label: format!("m{at}"),
            temporary,
            wishes,
            elsewhere: None,
        });
        let plain = role == Role::Items;
        let parts = if plain && rng.chance(15) { 2 } else { 1 };
        let views = if plain && rng.chance(12) { 2 } else { 1 };
        let size = u64::from(parts) * scalar.size();
        let count = extent.iter().product::<u64>() * views * size;
        // Of what is said not to be used before, nothing may be seen.
        let zero = temporary || no_init;
        let byte = |rng: &mut Rng| if zero { 0 } else { rng.below(6) as u8 };
        case.contents.push((0..count).map(|_| byte(rng)).collect());
        let memory = MemoryId(at as u32);
        stores.push(Store { memory, scalar, parts, rank, extent, views, role });
    }
    stores
}

fn other(pool: &Pool, rng: &mut Rng) -> Node {
    let any = |rng: &mut Rng| pool.stores[rng.below(pool.stores.len())].memory;
    let (a, b) = (any(rng), any(rng));
    let (what, memories) = match rng.below(3) {
        0 if a != b => (OtherWork::Copy, vec![a, b]),
        1 => (OtherWork::Fill, vec![a]),
        _ => (OtherWork::HostTask, vec![a]),
    };
    Node { label: what.to_string(), work: Work::Other(what, memories), after: vec![] }
}

fn call(pool: &mut Pool, rng: &mut Rng) -> Result<Node, VerifyError> {
    let Bound { kernel, arguments, partial, writes } = kernel(pool, rng)?;
    let mut geometry = pool.geometry;
    if !kernel.shape.groups {
        geometry.group = geometry.group.filter(|_| rng.chance(10));
    }
    if partial {
        for dim in 0..usize::from(pool.rank) {
            geometry.range[dim] = rng.within(0, geometry.range[dim] as usize) as u64;
        }
    }
    pool.written.extend(writes);
    let label = kernel.name.clone();
    let infallible = cannot_fail(&kernel, &geometry, &arguments);
    let (kernel, covers) = (Arc::new(kernel), vec![]);
    let call = Call { kernel, geometry, arguments, infallible, covers };
    Ok(Node { label, work: Work::Kernel(call), after: vec![] })
}

/// No check is left in a launch.
fn cannot_fail(kernel: &Kernel, geometry: &Geometry, arguments: &[Argument]) -> bool {
    let extent = |argument: &Argument| match argument {
        Argument::View { region, .. } => region.extent,
        _ => [1; 3],
    };
    let launch = Launch {
        range: geometry.range,
        offset: geometry.offset,
        group: geometry.group.filter(|_| kernel.shape.groups).unwrap_or_default(),
        extents: arguments.iter().map(extent).collect(),
        scalars: vec![None; arguments.len()],
    };
    checks::of_kernel(kernel).is_empty()
        && checks::of_launch(kernel, &launch, &|_| false).is_empty()
}

/// Memories that a node uses, and whether it may write them.
fn uses(node: &Node) -> Vec<(MemoryId, bool)> {
    match &node.work {
        Work::Other(OtherWork::Copy, memories) => {
            memories.iter().enumerate().map(|(at, memory)| (*memory, at > 0)).collect()
        }
        Work::Other(_, memories) => memories.iter().map(|memory| (*memory, true)).collect(),
        Work::Kernel(call) => {
            let params = call.kernel.params.iter().zip(&call.arguments);
            let memory = |(param, given): (&folio_kernel::Param, &Argument)| {
                let reads = matches!(
                    param.kind,
                    folio_kernel::ParamKind::View { access: folio_kernel::Access::In, .. }
                );
                Some((given.memory()?, !reads))
            };
            params.filter_map(memory).collect()
        }
    }
}

/// Adds a node after all with which it shares a memory that one of them writes.
fn after_all(graph: &mut Graph, mut node: Node) {
    let mine = uses(&node);
    let conflicts = |other: &Node| {
        let theirs = uses(other);
        theirs.iter().any(|(memory, writes)| {
            mine.iter().any(|(own, mine)| own == memory && (*writes || *mine))
        })
    };
    let before = graph.nodes.iter().enumerate().filter(|(_, other)| conflicts(other));
    node.after = before.map(|(at, _)| at).collect();
    graph.nodes.push(node);
}
