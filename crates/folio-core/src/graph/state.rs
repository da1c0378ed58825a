//! A graph's nodes and edges while it can be changed.

use super::NodeKind;
use super::conflicts::Conflicts;
use super::record::Joined;
use super::steps::Steps;
use super::template::{Template, Update};
use super::trail::Trail;
use crate::buffer::StorageHandle;
use crate::engine::pages::storage::StorageId;
use crate::engine::terms::access::{Access, Mode};
use crate::error::Label;
use crate::geom::Box3;
use smallvec::SmallVec;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

#[derive(Default)]
pub(super) struct GraphState {
    pub(super) label: Label,
    pub(super) nodes: Vec<NodeState>,
    pub(super) conflicts: Conflicts,
    /// All that have no successors, and some that had none when that was asked last.
    pub(super) leaves: Vec<u32>,
    /// An edge leads to a node that was added before the one where it begins.
    pub(super) backward: bool,
    /// How many nodes and edges have been looked at for edges that were made: their cost.
    pub(super) looked_at: u64,
    pub(super) queues: Vec<Joined>,
    /// Of recordings: the number of the next, and how many there are.
    pub(super) next: u64,
    pub(super) recordings: usize,
    /// Buffers that nothing outside of the graph can name.
    pub(super) owned: BTreeSet<StorageId>,
    /// Of a block that is, so far, one that is known: then there are no nodes.
    pub(super) trail: Option<Trail>,
    /// Buffers of nodes that do not keep them.
    pub(super) leases: Vec<Arc<StorageHandle>>,
}

pub(super) struct NodeState {
    pub(super) what: What,
    pub(super) before: SmallVec<[Edge; 2]>,
    pub(super) successors: SmallVec<[u32; 2]>,
    /// The latest node to which an edge leads from here, and which of its edges that is.
    pub(super) met: (u32, u32),
}

/// An edge, at the node where it ends.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    pub(super) from: u32,
    /// It was asked for, and whether the later node fails with the earlier. Others are of data.
    pub(super) asked: Option<bool>,
}

pub(super) enum What {
    One(Arc<Template>, Option<Update>),
    Graph(Arc<Sub>),
}

/// A graph as a node.
pub(super) struct Sub {
    pub(super) steps: Arc<Steps>,
    pub(super) label: Label,
    /// The union of the accesses of its commands.
    pub(super) accesses: Vec<Access>,
}

impl What {
    pub(super) fn accesses(&self) -> &[Access] {
        match self {
            What::One(template, _) => &template.command.accesses,
            What::Graph(sub) => &sub.accesses,
        }
    }

    pub(super) fn kind(&self) -> NodeKind {
        match self {
            What::One(template, _) => template.kind,
            What::Graph(_) => NodeKind::Graph,
        }
    }

    pub(super) fn label(&self) -> &Label {
        match self {
            What::One(template, _) => &template.label,
            What::Graph(sub) => &sub.label,
        }
    }

    /// The name of the node in errors.
    pub(super) fn called(&self) -> Label {
        match self {
            What::One(template, _) => template.called(),
            What::Graph(sub) if sub.label.as_str().is_empty() => Label::of(&"graph"),
            What::Graph(sub) => sub.label.clone(),
        }
    }
}

impl GraphState {
    /// How many commands it has.
    pub(super) fn len(&self) -> usize {
        self.nodes.len() + self.trail.as_ref().map_or(0, Trail::len)
    }

    /// Adds a node behind others.
    pub(super) fn push(&mut self, what: What, after: &[(u32, bool)], once: bool) -> u32 {
        self.leave_trail();
        let at = self.nodes.len() as u32;
        let GraphState { nodes, conflicts, .. } = self;
        let mut before: SmallVec<[Edge; 2]> = SmallVec::new();
        // The edge from a node: a new one, or that which there is.
        let mut edge_from = |from: u32, before: &mut SmallVec<[Edge; 2]>| {
            let met = &mut nodes[from as usize].met;
            if met.0 != at {
                *met = (at, before.len() as u32);
                before.push(Edge { from, asked: None });
            }
            met.1 as usize
        };
        for &(from, uses) in after {
            let edge = edge_from(from, &mut before);
            let asked = &mut before[edge].asked;
            *asked = Some(uses || *asked == Some(true));
        }
        if !once {
            conflicts.add(at, what.accesses(), &mut |from, _| {
                edge_from(from, &mut before);
            });
            for edge in &before {
                nodes[edge.from as usize].successors.push(at);
            }
        }
        nodes.push(NodeState { what, before, successors: SmallVec::new(), met: (at, 0) });
        self.leaves.push(at);
        at
    }

    /// The latest command that an access of the host conflicts with: its number, what errors call
    /// it, and whether it writes there. A block's commands are compared only for this.
    pub(super) fn conflicting(
        &mut self,
        storage: StorageId,
        elements: &Box3,
        mode: Mode,
    ) -> Option<(usize, Label, bool)> {
        for at in self.conflicts.commands..self.len() as u32 {
            let accesses = match &self.trail {
                Some(trail) => trail.accesses(at as usize)?,
                None => self.nodes[at as usize].what.accesses().into(),
            };
            self.conflicts.add(at, &accesses, &mut |_, _| ());
        }
        let (at, writes) = self.conflicts.latest(storage, elements, mode)?;
        let at = at as usize;
        let called = match &self.trail {
            Some(trail) => trail.template(at)?.called(),
            None => self.nodes[at].what.called(),
        };
        Some((at, called, writes))
    }

    /// True if there is a way from one node to another. Looks from both ends in turn, so it ends
    /// when all that is near one of them has been seen.
    pub(super) fn leads(&mut self, from: u32, to: u32) -> bool {
        let GraphState { nodes, looked_at, .. } = self;
        let (mut after, mut before) = (HashSet::from([from]), HashSet::from([to]));
        let (mut later, mut earlier) = (vec![from], vec![to]);
        loop {
            let Some(at) = later.pop() else { return false };
            *looked_at += 1 + nodes[at as usize].successors.len() as u64;
            for next in &nodes[at as usize].successors {
                if after.insert(*next) {
                    later.push(*next);
                }
            }
            if at == to || before.contains(&at) {
                return true;
            }
            let Some(at) = earlier.pop() else { return false };
            *looked_at += 1 + nodes[at as usize].before.len() as u64;
            for Edge { from, .. } in &nodes[at as usize].before {
                if before.insert(*from) {
                    earlier.push(*from);
                }
            }
            if after.contains(&at) {
                return true;
            }
        }
    }

    /// Adds an edge that closes no cycle, or says that the one there is was asked for.
    pub(super) fn ask(&mut self, from: u32, to: u32) {
        let GraphState { nodes, looked_at, .. } = self;
        let (ends, begins) = (&nodes[from as usize].successors, &nodes[to as usize].before);
        // Whichever end has fewer edges knows whether there is this one.
        let is_new = match ends.len() < begins.len() {
            true => !ends.contains(&to),
            false => begins.iter().all(|edge| edge.from != from),
        };
        *looked_at += ends.len().min(begins.len()) as u64;
        if is_new {
            nodes[from as usize].successors.push(to);
            nodes[to as usize].before.push(Edge { from, asked: Some(true) });
            return;
        }
        let mut all = nodes[to as usize].before.iter_mut();
        if let Some(edge) = all.find(|edge| edge.from == from) {
            edge.asked = Some(true);
        }
    }

    /// The nodes without successors, in order.
    pub(super) fn leaves(&mut self) -> &[u32] {
        let GraphState { nodes, leaves, looked_at, .. } = self;
        *looked_at += leaves.len() as u64;
        leaves.retain(|at| nodes[*at as usize].successors.is_empty());
        leaves
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::geom::Grid;
    use crate::pages::DomainId;

    fn empty(state: &mut GraphState, after: &[(u32, bool)]) -> u32 {
        let template = Arc::new(Template::nothing(NodeKind::Empty));
        state.push(What::One(template, None), after, false)
    }

    fn many(state: &mut GraphState, n: u32) {
        for _ in 0..n {
            empty(state, &[]);
        }
    }

    /// Adds an edge, unless it closes a cycle; as [`Graph::make_edge`](super::super::Graph) does.
    fn edge(state: &mut GraphState, from: u32, to: u32) -> bool {
        let closes = (from >= to || state.backward) && state.leads(to, from);
        if !closes {
            state.backward |= from > to;
            state.ask(from, to);
        }
        !closes
    }

    type Build = fn(&mut GraphState, u32);

    /// GRAPH-01: what adding nodes and edges costs, whatever the shape: nodes and edges looked at.
    #[test]
    fn twice_the_nodes_and_edges_take_twice_the_looks() {
        let shapes: [(&str, Build); 6] = [
            ("edges forward", |state, n| {
                many(state, n);
                (1..n).for_each(|at| assert!(edge(state, at - 1, at)));
            }),
            ("edges backward", |state, n| {
                many(state, n);
                (1..n).for_each(|at| assert!(edge(state, at, at - 1)));
            }),
            ("edges backward, the last first", |state, n| {
                many(state, n);
                (1..n).rev().for_each(|at| assert!(edge(state, at, at - 1)));
            }),
            ("edges to one", |state, n| {
                many(state, n);
                (1..n).for_each(|at| assert!(edge(state, at, 0)));
            }),
            ("edges from one, twice each", |state, n| {
                many(state, n);
                (1..n).for_each(|at| assert!(edge(state, n - 1, at - 1)));
                (1..n).for_each(|at| assert!(edge(state, n - 1, at - 1)));
            }),
            ("each after all leaves", |state, n| {
                for _ in 0..n {
                    let leaves: Vec<_> = state.leaves().iter().map(|at| (*at, true)).collect();
                    empty(state, &leaves);
                }
            }),
        ];
        for (name, build) in shapes {
            let [once, twice] = [1000, 2000].map(|n| {
                let mut state = GraphState::default();
                build(&mut state, n);
                state.looked_at
            });
            assert!(twice <= 2 * once + 100 && twice <= 20 * 2000, "{name}: {once}, {twice}");
        }
    }

    /// GRAPH-02: a host access in a block finds the latest command in its way, and looks at no
    /// command that an earlier one has looked at.
    #[test]
    fn host_accesses_of_a_block_look_at_each_command_once() {
        let grid = Grid::new([1, 1, 1 << 14], [1, 1, 1 << 10]);
        let part = |at: u32| {
            let first = 4 * at as usize;
            Box3 { min: [0, 0, first], max: [1, 1, first + 4] }
        };
        let storage = StorageId(0, 0);
        let cost = |commands: u32| {
            let mut state = GraphState::default();
            for at in 0..commands {
                let mut template = Template::nothing(NodeKind::Prefetch);
                let access = Access::new((storage, &grid), part(at), Mode::Update, DomainId(1));
                template.command.accesses.push(access);
                state.push(What::One(Arc::new(template), None), &[], true);
                for (asked, found) in [(at, Some(at)), (at / 2, Some(at / 2)), (at + 1, None)] {
                    let conflict = state.conflicting(storage, &part(asked), Mode::Read);
                    let conflict = conflict.map(|(at, _, writes)| (at as u32, writes));
                    assert_eq!(conflict, found.map(|at| (at, true)));
                }
            }
            state.conflicts.compared()
        };
        let [once, twice] = [1000, 2000].map(cost);
        assert!(10 * twice <= 21 * once && twice <= 100 * 2000, "{once}, {twice}");
    }

    /// GRAPH-01, GRAPH-02
    #[test]
    fn edges_close_no_cycle_and_stand_once() {
        let mut state = GraphState::default();
        many(&mut state, 6);
        for (from, to, is_made) in
            [(4, 1, true), (1, 3, true), (3, 0, true), (0, 4, false), (3, 3, false), (0, 5, true)]
        {
            assert_eq!(edge(&mut state, from, to), is_made, "{from} to {to}");
        }
        assert!(edge(&mut state, 4, 1));
        assert!(!edge(&mut state, 5, 4));
        assert_eq!((state.nodes[1].before.len(), state.nodes[4].successors.len()), (1, 1));
        assert_eq!(state.leaves(), [2, 5]);
        // An edge that is named twice is one, along which failure travels.
        let at = empty(&mut state, &[(2, false), (5, false), (2, true)]);
        let asked: Vec<_> =
            state.nodes[at as usize].before.iter().map(|e| (e.from, e.asked)).collect();
        assert_eq!(asked, [(2, Some(true)), (5, Some(false))]);
        assert_eq!(state.leaves(), [at]);
    }
}
