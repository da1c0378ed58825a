//! Which nodes go together: a deterministic order of the graph, and groups in it.
//!
//! Nodes are taken in order. A kernel joins the group with which it shares most bytes and with which
//! it may run, unless something that has to run between them is elsewhere. Copies, fills and host
//! tasks so run before or after a group as their dependencies say (FUSE-04).

use super::input::{Facts, Graph, Mode, Options, Planted, Work};
use super::pair::{self, Joint};
use super::reason::{Between, FuseError, Reason};
use super::touch::{Prepared, prepare};

/// What runs as one: a node, or kernels that share a launch.
pub(crate) struct Unit<'g> {
    /// Nodes, in order.
    pub nodes: Vec<usize>,
    /// The kernels, if all of them are kernels that can be fused.
    pub calls: Vec<Prepared<'g>>,
    pub joint: Option<Joint>,
}

/// Two kernels that do not share a launch, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfused {
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
    let mut free: std::collections::BTreeSet<usize> = free.collect();
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
    pub unfused: Vec<Unfused>,
}

/// Groups the nodes.
pub(crate) fn clusters<'g>(
    graph: &'g Graph,
    order: &[usize],
    facts: &'g Facts,
    options: Options,
    planted: Planted,
) -> Clusters<'g> {
    let unit_of = vec![usize::MAX; graph.nodes.len()];
    let mut clusters =
        Clusters { graph, facts, options, planted, units: vec![], unit_of, unfused: vec![] };
    for node in order {
        clusters.place(*node);
    }
    clusters
}

impl<'g> Clusters<'g> {
    fn place(&mut self, node: usize) {
        let call = self.graph.nodes[node].call().and_then(|call| prepare(node, call));
        let Some(call) = call else {
            self.units.push(Unit { nodes: vec![node], calls: vec![], joint: None });
            self.unit_of[node] = self.units.len() - 1;
            return;
        };
        let before = self.before(node);
        let mut best: Option<(u64, usize, Joint)> = None;
        let mut refused = vec![];
        for (at, unit) in self.units.iter().enumerate() {
            let Some(last) = unit.nodes.last().filter(|_| unit.joint.is_some()) else { continue };
            match self.fits(at, &call, &before) {
                Ok((bytes, joint)) => {
                    if best.is_none_or(|(most, ..)| bytes >= most) {
                        best = Some((bytes, at, joint));
                    }
                }
                Err((first, reason)) => {
                    let first = first.unwrap_or(*last);
                    refused.push(Unfused { first, second: node, reason });
                }
            }
        }
        self.unfused.extend(refused);
        let at = match best {
            Some((_, at, joint)) => {
                let unit = &mut self.units[at];
                unit.nodes.push(node);
                unit.calls.push(call);
                unit.joint = Some(joint);
                at
            }
            None => {
                let joint = Some(Joint::of(&call));
                self.units.push(Unit { nodes: vec![node], calls: vec![call], joint });
                self.units.len() - 1
            }
        };
        self.unit_of[node] = at;
    }

    /// By unit: the node that is the way from it to this node through another unit, if there is one.
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

    /// Whether a kernel may join a unit; what they share, and where they then run. Else the member
    /// that prevents it, if one does, and why.
    fn fits(
        &self,
        at: usize,
        call: &Prepared<'g>,
        before: &[Option<usize>],
    ) -> Result<(u64, Joint), (Option<usize>, Reason)> {
        let unit = &self.units[at];
        let members: Vec<&Prepared<'g>> = unit.calls.iter().collect();
        if let Some(between) = before[at] {
            let what = match &self.graph.nodes[between].work {
                Work::Foreign(what, _) => Between::Foreign(*what),
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
        let bytes = members.iter().map(|member| pair::shared_bytes(member, call)).max();
        let bytes = bytes.unwrap_or(0);
        let items = |range: &[u64; 3]| range.iter().fold(1u64, |all, n| all.saturating_mul(*n));
        // One element that all items read is no reason to share a launch.
        let gains = bytes >= items(&call.call.geometry.range).max(1)
            || items(&joint.range) <= self.facts.few_items;
        if self.options.mode == Mode::Enable && !gains {
            return Err((None, Reason::NoGain));
        }
        let all: Vec<&Prepared<'g>> = members.iter().copied().chain([call]).collect();
        pair::limits(&all, self.facts).map_err(|reason| (None, reason))?;
        Ok((bytes, joint))
    }

    /// Units in a valid order: of those that can be next, the one whose first node comes first.
    pub fn ordered(&self) -> Vec<usize> {
        let mut missing: Vec<std::collections::BTreeSet<usize>> = vec![];
        for (at, unit) in self.units.iter().enumerate() {
            let before = unit.nodes.iter().flat_map(|node| &self.graph.nodes[*node].after);
            missing
                .push(before.map(|node| self.unit_of[*node]).filter(|unit| *unit != at).collect());
        }
        let mut order = vec![];
        let mut done = vec![false; self.units.len()];
        while let Some(next) =
            (0..done.len()).find(|at| !done[*at] && missing[*at].iter().all(|unit| done[*unit]))
        {
            done[next] = true;
            order.push(next);
        }
        order
    }
}
