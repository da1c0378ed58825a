//! Which nodes go together: a deterministic order of the graph, and clusters in it, the kernels of
//! which share a launch.
//!
//! Nodes are taken in order. A kernel joins the cluster with which it shares most bytes and with
//! which it may run, unless something that has to run between them is elsewhere. Copies, fills and
//! host tasks so run before or after a cluster as their dependencies say (FUSE-04).

use super::cost::{Load, joined, load_of};
use super::input::{Call, Facts, Graph, MemoryId, Mode, Options, Planted, Work};
use super::pair::{self, Joint};
use super::pressure::registers;
use super::reason::{Between, FuseError, Reason};
use super::touch::{PreparedCall, prepare};
use std::collections::{BTreeMap, BTreeSet};

/// Units with which a kernel is compared though it shares no memory with them.
const LATEST: usize = 8;

/// What runs as one: a node, or kernels that share a launch.
pub(crate) struct Unit<'g> {
    /// Nodes, in order.
    pub nodes: Vec<usize>,
    /// The kernels, if all of them are kernels that can be fused.
    pub calls: Vec<PreparedCall<'g>>,
    pub joint: Option<Joint>,
    /// What these do.
    pub load: Load,
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
    let (units, users, unfused) = (vec![], BTreeMap::new(), vec![]);
    let mut clusters = Clusters { graph, facts, options, planted, units, unit_of, users, unfused };
    for node in order {
        clusters.place(*node);
    }
    clusters
}

impl<'g> Clusters<'g> {
    fn place(&mut self, node: usize) {
        let call = self.graph.nodes[node].call().and_then(|call| prepare(node, call));
        let Some(call) = call else {
            let load = Load::default();
            self.units.push(Unit { nodes: vec![node], calls: vec![], joint: None, load });
            self.unit_of[node] = self.units.len() - 1;
            return;
        };
        let before = self.before(node);
        let alone = load_of(&call, registers(&call.call.kernel));
        let mut best: Option<(usize, Fit)> = None;
        let mut refused = vec![];
        for at in self.candidates(&call) {
            let Some(last) = self.units[at].nodes.last() else { continue };
            match self.fits(at, (&call, &alone), &before) {
                Ok(fit) => {
                    if best.as_ref().is_none_or(|(_, best)| fit.bytes >= best.bytes) {
                        best = Some((at, fit));
                    }
                }
                Err((first, reason)) => {
                    let first = first.unwrap_or(*last);
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
                let joint = Some(Joint::of(&call));
                let (nodes, calls) = (vec![node], vec![call]);
                self.units.push(Unit { nodes, calls, joint, load: alone });
                self.units.len() - 1
            }
        };
        for memory in self.graph.nodes[node].call().into_iter().flat_map(Call::memories) {
            self.users.entry(memory).or_default().insert(at);
        }
        self.unit_of[node] = at;
    }

    /// The units that a kernel may join: those with which it shares a memory, and the latest.
    fn candidates(&self, call: &PreparedCall<'g>) -> BTreeSet<usize> {
        let users = call.call.memories().filter_map(|memory| self.users.get(&memory));
        let kernels = (0..self.units.len()).rev().filter(|at| self.units[*at].joint.is_some());
        users.flatten().copied().chain(kernels.take(LATEST)).collect()
    }

    /// By unit: a node of another unit that is on a way from it to this node, if there is one.
    fn before(&self, node: usize) -> Vec<Option<usize>> {
        // By unit: a node of it, from which a way leads here.
        let mut through: Vec<Option<usize>> = vec![None; self.units.len()];
        let mut open: Vec<(usize, usize)> = vec![];
        let direct = &self.graph.nodes[node].after;
        open.extend(direct.iter().map(|before| (self.unit_of[*before], *before)));
        let mut seen = vec![false; self.units.len()];
        while let Some((unit, via)) = open.pop() {
            if std::mem::replace(&mut seen[unit], true) {
                continue;
            }
            for member in &self.units[unit].nodes {
                for before in &self.graph.nodes[*member].after {
                    let further = self.unit_of[*before];
                    if further != unit {
                        through[further].get_or_insert(via);
                        open.push((further, *before));
                    }
                }
            }
        }
        through
    }

    /// A kernel's place in a unit. Else the member that prevents it, if one does, and why.
    fn fits(
        &self,
        at: usize,
        (call, alone): (&PreparedCall<'g>, &Load),
        before: &[Option<usize>],
    ) -> Result<Fit, (Option<usize>, Reason)> {
        let unit = &self.units[at];
        let members: Vec<&PreparedCall<'g>> = unit.calls.iter().collect();
        if let Some(between) = before[at] {
            let what = match &self.graph.nodes[between].work {
                Work::Other(what, _) => Between::Other(*what),
                Work::Kernel(_) => Between::Kernel,
            };
            return Err((None, Reason::Between { node: self.graph.node_label(between), what }));
        }
        let joint = unit.joint.unwrap_or(Joint::of(call));
        let joint = pair::join(joint, &members, call).map_err(|reason| (None, reason))?;
        let barriers = joint.groups && self.options.insert_barriers;
        for member in &members {
            pair::order(self.graph, member, call, &joint.space(), (barriers, self.planted))
                .map_err(|reason| (Some(member.node), reason))?;
        }
        let (step, load) = joined((&members, &unit.load), (call, alone));
        let balance = self.facts.costs.weigh(&step);
        if self.options.mode == Mode::Enable && !balance.is_gain() {
            return Err((None, Reason::NoGain(balance)));
        }
        let all: Vec<&PreparedCall<'g>> = members.iter().copied().chain([call]).collect();
        pair::limits(&all, self.facts).map_err(|reason| (None, reason))?;
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
