//! Which nodes go together: a deterministic order of the graph, and clusters in it, the kernels of
//! which share a launch.
//!
//! Nodes are taken in order. A kernel joins the cluster with which it shares most bytes and with
//! which it may run, unless something that has to run between them is elsewhere. Copies, fills and
//! host tasks so run before or after a cluster as their dependencies say (FUSE-04).

use super::cost::{Load, joined, load_of};
use super::input::{Argument, Call, Facts, Graph, MemoryId, Mode, Options, Planted, Work};
use super::pair::{self, Joint};
use super::pressure::registers;
use super::reason::{Between, Contradiction, FuseError, Reason};
use super::touch::{PreparedCall, prepare};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Units with which a kernel is compared though it shares no memory with them.
const LATEST: usize = 8;

/// Units with which a kernel is compared of those that share a memory with it: the latest.
const SHARING: usize = 16;

/// How many kernels find no room in a launch before it counts as full: a smaller one may fit.
const FULL: u32 = 4;

/// Only so many of the latest launches may get more kernels, unless all are to become one. Older
/// ones stay as they are, so that a kernel costs the same in a graph of any size.
const OPEN: usize = 64;

/// A unit of work: a node, or kernels that share a launch.
pub(crate) struct Unit<'g> {
    /// Nodes, in order.
    pub nodes: Vec<usize>,
    /// The kernels, if all of them are kernels that can be fused.
    pub calls: Vec<PreparedCall<'g>>,
    pub joint: Option<Joint>,
    /// The load of these kernels.
    pub load: Load,
    /// For how many kernels it had no room. After the first one, only kernels are compared with it
    /// that share a memory; after [`FULL`], none.
    full: u32,
    /// No unit before it, by whatever way, may get more kernels.
    settled: bool,
    /// The latest node for which [`Clusters::before`] has seen it.
    seen: usize,
}

impl<'g> Unit<'g> {
    fn new(node: usize, call: Option<PreparedCall<'g>>, load: Load) -> Unit<'g> {
        let joint = call.as_ref().map(Joint::of);
        let (nodes, calls) = (vec![node], call.into_iter().collect());
        Unit { nodes, calls, joint, load, full: 0, settled: false, seen: usize::MAX }
    }
}

/// A place for a kernel in a unit.
struct Fit {
    joint: Joint,
    /// Bytes that they share.
    bytes: u64,
    load: Load,
}

/// Two kernels that do not share a launch, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A node, by number.
    pub first: usize,
    /// A later one.
    pub second: usize,
    /// Why.
    pub reason: Reason,
}

/// A property of one of a kernel's accesses that contradicts its memory's.
pub(crate) fn contradiction(graph: &Graph, node: usize) -> Option<Contradiction> {
    let call = graph.nodes.get(node)?.call()?;
    call.arguments.iter().find_map(|argument| {
        let Argument::View { region, wishes } = argument else { return None };
        let memory = graph.memories.get(region.memory.index())?;
        let why = wishes.within(memory.wishes).err()?;
        let (node, memory) = (graph.node_label(node), graph.memory_label(region.memory));
        Some(Contradiction { node, memory, why })
    })
}

/// A valid order of the nodes: of those that can be next, the one that was added first (FUSE-03).
pub(crate) fn linearise(graph: &Graph) -> Result<Vec<usize>, FuseError> {
    let count = graph.nodes.len();
    let mut missing: Vec<usize> = graph.nodes.iter().map(|node| node.after.len()).collect();
    let mut followers = vec![vec![]; count];
    for (at, node) in graph.nodes.iter().enumerate() {
        for before in &node.after {
            match followers.get_mut(*before) {
                Some(list) => list.push(at),
                None => return Err(FuseError::Order { node: graph.node_label(at) }),
            }
        }
    }
    let free = (0..count).filter(|at| missing[*at] == 0);
    let mut free: BTreeSet<usize> = free.collect();
    let mut order = Vec::with_capacity(count);
    while let Some(at) = free.pop_first() {
        order.push(at);
        for follower in &followers[at] {
            missing[*follower] -= 1;
            if missing[*follower] == 0 {
                free.insert(*follower);
            }
        }
    }
    match (0..count).find(|at| missing[*at] > 0) {
        Some(at) => Err(FuseError::Order { node: graph.node_label(at) }),
        None => Ok(order),
    }
}

pub(crate) struct Clusters<'g> {
    graph: &'g Graph,
    facts: &'g Facts,
    options: Options,
    planted: Planted,
    /// In the order of their first nodes.
    pub units: Vec<Unit<'g>>,
    /// By node: its unit.
    unit_of: Vec<usize>,
    /// By memory: the units whose kernels use it.
    users: BTreeMap<MemoryId, BTreeSet<usize>>,
    pub unfused: Vec<Refusal>,
    /// The units that have kernels.
    launches: Vec<usize>,
    /// How many units have been looked at: the cost of it all.
    pub looked_at: usize,
}

/// Clusters of the nodes.
pub(crate) fn clusters<'g>(
    graph: &'g Graph,
    order: &[usize],
    facts: &'g Facts,
    options: Options,
    planted: Planted,
) -> Clusters<'g> {
    let unit_of = vec![usize::MAX; graph.nodes.len()];
    let mut clusters = Clusters {
        graph,
        facts,
        options,
        planted,
        units: vec![],
        unit_of,
        users: BTreeMap::new(),
        unfused: vec![],
        launches: vec![],
        looked_at: 0,
    };
    for node in order {
        clusters.place(*node);
    }
    clusters
}

impl<'g> Clusters<'g> {
    fn place(&mut self, node: usize) {
        let call = self.graph.nodes[node].call().and_then(|call| prepare(node, call));
        let Some(call) = call else {
            self.units.push(Unit::new(node, None, Load::default()));
            self.unit_of[node] = self.units.len() - 1;
            return;
        };
        let before = self.before(node);
        let alone = load_of(&call, registers(&call.call.kernel), &self.facts.costs);
        let mut best: Option<(usize, Fit)> = None;
        let mut refused = vec![];
        for at in self.candidates(&call) {
            self.looked_at += 1;
            let Some(last) = self.units[at].nodes.last().copied() else { continue };
            match self.fits(at, (&call, &alone), &before) {
                Ok(fit) => {
                    if best.as_ref().is_none_or(|(_, best)| fit.bytes >= best.bytes) {
                        best = Some((at, fit));
                    }
                }
                Err((first, reason)) => {
                    self.units[at].full += u32::from(reason.is_limit());
                    let first = first.unwrap_or(last);
                    refused.push(Refusal { first, second: node, reason });
                }
            }
        }
        self.unfused.extend(refused);
        let at = match best {
            Some((at, fit)) => {
                let unit = &mut self.units[at];
                unit.nodes.push(node);
                unit.calls.push(call);
                (unit.joint, unit.load) = (Some(fit.joint), fit.load);
                at
            }
            None => {
                self.units.push(Unit::new(node, Some(call), alone));
                self.launches.push(self.units.len() - 1);
                self.units.len() - 1
            }
        };
        for memory in self.graph.nodes[node].call().into_iter().flat_map(Call::memories) {
            self.users.entry(memory).or_default().insert(at);
        }
        self.unit_of[node] = at;
    }

    /// The first unit that may get more kernels.
    fn first_open(&self) -> usize {
        let launches = self.launches.len();
        let old = launches.checked_sub(OPEN).filter(|_| self.options.mode == Mode::Enable);
        old.and_then(|at| self.launches.get(at)).copied().unwrap_or(0)
    }

    /// The units that a kernel may join: those with which it shares a memory, and the latest.
    fn candidates(&self, call: &PreparedCall<'g>) -> BTreeSet<usize> {
        let first = self.first_open();
        let users = call.call.memories().filter_map(|memory| self.users.get(&memory));
        let users = users.flat_map(|users| users.range(first..).rev().take(SHARING)).copied();
        let users = users.filter(|at| self.units[*at].full < FULL);
        let latest = self.launches.iter().rev().take(LATEST).copied();
        users.chain(latest.filter(|at| *at >= first && self.units[*at].full == 0)).collect()
    }

    /// By unit that may get more kernels: a node of another unit that is on a way from it to this
    /// node, if there is one.
    fn before(&mut self, node: usize) -> HashMap<usize, usize> {
        let first = self.first_open();
        let Clusters { graph, units, unit_of, looked_at, .. } = self;
        let mut through: HashMap<usize, usize> = HashMap::new();
        let direct = graph.nodes[node].after.iter();
        let mut open: Vec<(usize, usize)> = direct.map(|at| (unit_of[*at], *at)).collect();
        // Those that get no more kernels, and may come after some that do.
        let mut unsettled: Vec<usize> = vec![];
        let before = |units: &[Unit<'_>], unit: usize| -> Vec<(usize, usize)> {
            let nodes = units[unit].nodes.iter().flat_map(|member| &graph.nodes[*member].after);
            let all = nodes.map(|before| (unit_of[*before], *before));
            all.filter(|(further, _)| *further != unit).collect()
        };
        while let Some((unit, via)) = open.pop() {
            if units[unit].settled || std::mem::replace(&mut units[unit].seen, node) == node {
                continue;
            }
            *looked_at += 1;
            if unit < first {
                unsettled.push(unit);
            }
            for (further, at) in before(units, unit) {
                if further >= first {
                    through.entry(further).or_insert(via);
                }
                open.push((further, at));
            }
        }
        unsettled.sort_unstable();
        for unit in unsettled {
            units[unit].settled =
                before(units, unit).iter().all(|(further, _)| units[*further].settled);
        }
        through
    }

    /// A kernel's place in a unit. Else the member that prevents it, if one does, and why.
    fn fits(
        &self,
        at: usize,
        (call, alone): (&PreparedCall<'g>, &Load),
        before: &HashMap<usize, usize>,
    ) -> Result<Fit, (Option<usize>, Reason)> {
        let unit = &self.units[at];
        // Nothing joins a unit of such a kernel, so that is its only one.
        let mut alone_in = unit.nodes.iter().take(1).chain([&call.node]);
        if let Some(wrong) = alone_in.find_map(|node| contradiction(self.graph, *node)) {
            return Err((None, Reason::Scopes(wrong)));
        }
        let members: Vec<&PreparedCall<'g>> = unit.calls.iter().collect();
        if let Some(&between) = before.get(&at) {
            let what = match &self.graph.nodes[between].work {
                Work::Other(what, _) => Between::Other(*what),
                Work::Kernel(_) => Between::Kernel,
            };
            return Err((None, Reason::Between { node: self.graph.node_label(between), what }));
        }
        let joint = unit.joint.unwrap_or(Joint::of(call));
        let joint = pair::join(joint, &members, call).map_err(|why| (None, Reason::Shapes(why)))?;
        let barriers = joint.groups && self.options.insert_barriers;
        for member in &members {
            pair::order(self.graph, member, call, &joint.space(), (barriers, self.planted))
                .map_err(|reason| (Some(member.node), reason))?;
        }
        let costs = &self.facts.costs;
        let (step, load) = joined((&members, &unit.load), (call, alone), (&joint, costs));
        let balance = costs.weigh(&step);
        if self.options.mode == Mode::Enable && !balance.is_gain() {
            return Err((None, Reason::NoGain(Box::new(balance))));
        }
        let all: Vec<&PreparedCall<'g>> = members.iter().copied().chain([call]).collect();
        pair::limits(&all, self.facts).map_err(|why| (None, Reason::Shortage(why)))?;
        Ok(Fit { joint, bytes: step.saved, load })
    }

    /// The pairs that are in different units at the end.
    pub fn apart(&self) -> impl Iterator<Item = &Refusal> {
        self.unfused.iter().filter(|pair| self.unit_of[pair.first] != self.unit_of[pair.second])
    }

    /// Units in a valid order: of those that can be next, the one whose first node comes first.
    pub fn ordered(&self) -> Vec<usize> {
        let mut missing: Vec<BTreeSet<usize>> = vec![];
        let mut followers: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.units.len()];
        for (at, unit) in self.units.iter().enumerate() {
            let before = unit.nodes.iter().flat_map(|node| &self.graph.nodes[*node].after);
            let before = before.map(|node| self.unit_of[*node]).filter(|unit| *unit != at);
            let before: BTreeSet<usize> = before.collect();
            for unit in &before {
                followers[*unit].insert(at);
            }
            missing.push(before);
        }
        let mut free: BTreeSet<usize> =
            (0..missing.len()).filter(|at| missing[*at].is_empty()).collect();
        let mut order = vec![];
        while let Some(at) = free.pop_first() {
            order.push(at);
            for follower in &followers[at] {
                missing[*follower].remove(&at);
                if missing[*follower].is_empty() {
                    free.insert(*follower);
                }
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuse::{Argument, Geometry, Memory, Node, Region, Wishes};
    use crate::parse::parse;
    use std::sync::Arc;

    const ADDS: &str = r#"kernel "adds" items 1 tile 1
param p0 = "x" view f32 1 in item
param p1 = "z" view f32 1 out item
body {
  %0 u64 = query position 0 0
  %1 f32 = load p0[%0]
  %2 f32 = add %1, %1
  store p1[%0] = %2
}
"#;

    /// How many units are looked at for so many kernels, each of which reads and writes these
    /// memories and comes after that node.
    fn cost(kernels: usize, of: impl Fn(usize) -> ([u32; 2], Option<usize>)) -> usize {
        let kernel = Arc::new(parse(ADDS).unwrap());
        let mut graph = Graph::default();
        for at in 0..kernels {
            let (memories, after) = of(at);
            let view = |memory: u32| {
                let (memory, shape) = (MemoryId(memory), [64, 1, 1]);
                let region = Region { memory, shape, origin: [0; 3], extent: shape };
                Argument::View { region, wishes: Wishes::default() }
            };
            let geometry = Geometry { range: [64, 1, 1], offset: [0; 3], group: None };
            let arguments = memories.map(view).to_vec();
            let call = Call {
                kernel: kernel.clone(),
                geometry,
                arguments,
                infallible: false,
                covers: vec![],
            };
            let (label, after) = (format!("{at}"), after.into_iter().collect());
            graph.nodes.push(Node { label, work: Work::Kernel(call), after });
            let most = *memories.iter().max().unwrap() as usize + 1;
            let known = graph.memories.len();
            let memory = |at| Memory { label: format!("m{at}"), ..Memory::default() };
            graph.memories.extend((known..most.max(known)).map(memory));
        }
        let order = linearise(&graph).unwrap();
        let facts = Facts { views: 12, ..Facts::GPU };
        let options = Options::new(Mode::Enable);
        clusters(&graph, &order, &facts, options, Planted::default()).looked_at
    }

    /// FUSE-01, GRAPH-01: what fusion compares for a kernel is bounded, whatever the graph's size.
    #[test]
    fn twice_the_kernels_take_twice_the_looks() {
        type Shape = fn(usize) -> ([u32; 2], Option<usize>);
        let shapes: [(&str, Shape); 4] = [
            ("a chain", |at| ([at as u32, at as u32 + 1], at.checked_sub(1))),
            ("kernels of their own", |at| ([2 * at as u32, 2 * at as u32 + 1], None)),
            ("all read one memory", |at| ([0, at as u32 + 1], None)),
            ("two chains in turn", |at| ([at as u32, at as u32 + 2], at.checked_sub(2))),
        ];
        for (name, shape) in shapes {
            let [once, twice] = [4000, 8000].map(|kernels| cost(kernels, shape));
            assert!(10 * twice <= 22 * once && twice <= 100 * 8000, "{name}: {once}, {twice}");
        }
    }
}
