//! The commands of a graph as one list: graphs within graphs are taken apart, and each command
//! comes after those to which its edges lead.

use super::conflicts::After;
use super::fuse::{FinalizeOptions, Wanted};
use super::order::{Nest, order_of};
use super::template::{Template, Update};
use super::{GraphState, Node, NodeKind, NodeState, What};
use crate::engine::pages::storage::StorageId;
use crate::engine::runs::run::Order;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::ops::Range;
use std::sync::Arc;

/// A command.
#[derive(Clone)]
pub(super) struct Step {
    /// The node, of the graph or of one within it; none for a point where several meet.
    pub(super) node: Option<Node>,
    pub(super) template: Arc<Template>,
    pub(super) update: Option<Update>,
    /// Which of [`Steps::parts`] it is of.
    pub(super) part: u32,
}

/// All commands, in an order that fits their edges.
#[derive(Clone)]
pub(super) struct Steps {
    pub(super) all: Vec<Step>,
    pub(super) order: Arc<Order>,
    /// The edges that were asked for, and the graphs within the graph, each before those within it.
    edges: Arc<After>,
    nests: Vec<Nest>,
    /// The steps that may do something else without an exchange: those that read parameters, and
    /// conditional ones. A run looks at no other step.
    pub(super) varying: Vec<usize>,
    /// The graph itself, and the graphs within it: how each is to be fused, if it is.
    pub(super) parts: Vec<Option<Wanted>>,
    /// Buffers that belong to the graph: no handle outside of it is left.
    pub(super) owned: BTreeSet<StorageId>,
}

impl Steps {
    /// The commands of a graph as it is.
    pub(super) fn of(state: &GraphState, graph: u64) -> Steps {
        let List { all, after, nests, parts, owned } = List::of(state, graph);
        let order = Arc::new(order_by(&all, &after, &nests));
        let varying = varying(&all);
        Steps { all, order, edges: Arc::new(after), nests, varying, parts, owned }
    }

    /// The same for commands that run once, whose order as accesses give it is known otherwise: it
    /// has the edges only.
    pub(super) fn of_batch(state: &GraphState, graph: u64) -> Steps {
        let List { all, after, nests, parts, owned } = List::of(state, graph);
        let order = Arc::new(match nests.is_empty() {
            true => Order { after, ..Order::default() },
            false => order_by(&all, &after, &nests),
        });
        let (edges, nests, varying) = (Arc::default(), Vec::new(), Vec::new());
        Steps { all, order, edges, nests, varying, parts, owned }
    }

    /// Commands with these edges, in place of these.
    pub(super) fn with(&self, all: Vec<Step>, after: After) -> Steps {
        let order = Arc::new(order_by(&all, &after, &[]));
        let (parts, owned, varying) = (self.parts.clone(), self.owned.clone(), varying(&all));
        Steps { all, order, edges: Arc::new(after), nests: Vec::new(), varying, parts, owned }
    }

    /// Says how the graph is to be fused, and graphs within it of which nothing is said.
    pub(super) fn wish(&mut self, options: FinalizeOptions) {
        for part in &mut self.parts {
            *part = part.or(options.wanted());
        }
    }

    /// The order again, after accesses have changed.
    pub(super) fn sort_again(&mut self) {
        self.order = Arc::new(order_by(&self.all, &self.edges, &self.nests));
    }

    /// Looks again for [`varying`](Self::varying) steps, after some were exchanged.
    pub(super) fn find_varying(&mut self) {
        self.varying = varying(&self.all);
    }

    /// The number of a step's node, for errors.
    pub(super) fn number_of(&self, step: usize) -> usize {
        // Where a graph within the graph begins, that of its first node.
        let node = self.all.get(step..).into_iter().flatten().find_map(|step| step.node);
        node.map_or(step, |node| node.at as usize)
    }

    /// The graphs within the graph, and where their commands are.
    pub(super) fn graphs(&self) -> impl Iterator<Item = (Node, Range<usize>)> {
        self.nests.iter().filter_map(|nest| {
            let node = self.all.get(nest.meet() as usize)?.node?;
            Some((node, nest.commands.start as usize..nest.commands.end as usize))
        })
    }

    /// The texts by which two lists are equal: commands, and their order.
    pub(super) fn shape(&self) -> Vec<String> {
        let steps = self.all.iter().zip(&self.order.after);
        steps.map(|(step, after)| format!("{} {after:?}", step.template.shape())).collect()
    }

    /// What differs between the commands at a place of two lists that are equal before it, but not
    /// there: of those in `new`, seen from these.
    pub(super) fn differs(&self, new: &Steps, at: usize) -> String {
        let (Some(own), Some(other)) = (self.all.get(at), new.all.get(at)) else {
            let (more, fewer) = match self.all.len() > new.all.len() {
                true => ("this graph", "the other one"),
                false => ("the other graph", "this one"),
            };
            return format!("{more} goes on where {fewer} has ended");
        };
        let why = other.template.differs(&own.template, true);
        why.unwrap_or_else(|| match self.order.after.get(at) == new.order.after.get(at) {
            true => "the bodies of the condition are others".to_owned(),
            false => "it comes after other nodes".to_owned(),
        })
    }
}

fn varying(all: &[Step]) -> Vec<usize> {
    let varies = |step: &Step| step.update.is_some() || step.template.bodies.is_some();
    (0..all.len()).filter(|at| varies(&all[*at])).collect()
}

fn order_by(all: &[Step], edges: &After, nests: &[Nest]) -> Order {
    order_of(edges.clone(), nests, all.iter().map(|step| &step.template.command.accesses[..]))
}

/// Nodes, each after its predecessors; otherwise in the order in which they were added.
fn sorted(state: &GraphState) -> Vec<u32> {
    let count = state.nodes.len() as u32;
    if !state.backward {
        return (0..count).collect();
    }
    let mut left: Vec<usize> = state.nodes.iter().map(|node| node.before.len()).collect();
    let is_ready = |node: &NodeState| node.before.is_empty();
    let ready = (0..count).filter(|at| is_ready(&state.nodes[*at as usize])).map(Reverse);
    let mut ready: BinaryHeap<Reverse<u32>> = ready.collect();
    let mut sorted = Vec::with_capacity(state.nodes.len());
    while let Some(Reverse(at)) = ready.pop() {
        sorted.push(at);
        for next in &state.nodes[at as usize].successors {
            let left = &mut left[*next as usize];
            *left -= 1;
            if *left == 0 {
                ready.push(Reverse(*next));
            }
        }
    }
    sorted
}

/// A list in the making.
struct List {
    all: Vec<Step>,
    after: After,
    nests: Vec<Nest>,
    parts: Vec<Option<Wanted>>,
    owned: BTreeSet<StorageId>,
}

impl List {
    /// The commands of a graph, and its edges as they were asked for.
    fn of(state: &GraphState, graph: u64) -> List {
        let mut list = List {
            all: Vec::new(),
            after: After::new(),
            nests: Vec::new(),
            parts: vec![None],
            owned: state.owned.clone(),
        };
        // Where the nodes so far end in the list.
        let mut ends = vec![0; state.nodes.len()];
        for at in sorted(state) {
            let node = &state.nodes[at as usize];
            let asked = node.before.iter().filter_map(|edge| Some((edge.from, edge.asked?)));
            let after = asked.map(|(from, uses)| (ends[from as usize], uses)).collect();
            let name = Node { graph, at };
            ends[at as usize] = match &node.what {
                What::One(template, update) => list.push(
                    Step {
                        node: Some(name),
                        template: template.clone(),
                        update: update.clone(),
                        part: 0,
                    },
                    after,
                ),
                What::Graph(sub) => list.push_graph(&sub.steps, after, name),
            };
        }
        list
    }

    fn push(&mut self, step: Step, after: SmallVec<[(u32, bool); 2]>) -> u32 {
        self.all.push(step);
        self.after.push(after);
        self.all.len() as u32 - 1
    }

    /// A point where several meet.
    fn meet(&mut self, node: Option<Node>, after: SmallVec<[(u32, bool); 2]>) -> u32 {
        let template = Arc::new(Template::nothing(NodeKind::Empty));
        self.push(Step { node, template, update: None, part: 0 }, after)
    }

    /// All commands of another list, between two points. Returns where they end.
    fn push_graph(&mut self, steps: &Steps, after: SmallVec<[(u32, bool); 2]>, name: Node) -> u32 {
        let entry = (!after.is_empty()).then(|| self.meet(None, after));
        let base = self.all.len() as u32;
        let first = self.parts.len() as u32;
        self.parts.extend_from_slice(&steps.parts);
        self.owned.extend(&steps.owned);
        for (step, after) in steps.all.iter().zip(&*steps.edges) {
            let after = after.iter().map(|(from, uses)| (base + from, *uses)).collect();
            self.push(Step { part: first + step.part, ..step.clone() }, after);
        }
        self.nests.push(Nest { entry, commands: base..self.all.len() as u32 });
        self.nests.extend(steps.nests.iter().map(|nest| Nest {
            entry: nest.entry.map(|entry| base + entry),
            commands: base + nest.commands.start..base + nest.commands.end,
        }));
        self.meet(Some(name), SmallVec::new())
    }
}

impl Template {
    /// The text by which two are equal but for buffers, ranges and scalars.
    pub(super) fn shape(&self) -> String {
        use std::fmt::Write;
        let mut text = format!("{} {:?}", self.kind, self.work);
        for access in &self.command.accesses {
            // Writing to a string does not fail.
            let _ = write!(text, " {:?}", access.mode);
        }
        if let Some(bodies) = &self.bodies {
            let _ = write!(text, " {:?}", bodies.shape());
        }
        text
    }
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::*;
    use crate::engine::null::Null;
    use crate::graph::{Graph, order};
    use crate::{CommandGroup, Parameter, Result, Runtime};

    fn steps(graph: &Graph) -> Steps {
        Steps::of(&graph.inner.state.lock(), graph.inner.id)
    }

    /// GRAPH-03: what a run looks at before it knows that nothing has changed: the nodes that read
    /// parameters and those with bodies, and no others, however many they are.
    #[test]
    fn runs_look_at_varying_steps_only() {
        let rt = Runtime::builder().backend(Null::new(1)).build().unwrap();
        let buffer = rt.buffer::<u32, 1>(4).unwrap().into_shared();
        let of = |plain: usize, read: usize| {
            let (graph, value) = (rt.graph("null:0").unwrap(), Parameter::new(1));
            for _ in 0..plain {
                graph.add(|cg| cg.fill(&buffer, 1)).unwrap();
            }
            for _ in 0..read {
                let (to, value) = (buffer.clone(), value.clone());
                let describe = move |cg: &mut CommandGroup| -> Result<()> {
                    let value = cg.parameter(&value);
                    cg.fill(&to, value);
                    Ok(())
                };
                graph.add_updatable(&[], describe).unwrap();
            }
            graph
        };
        assert_eq!(steps(&of(1000, 0)).varying, [0usize; 0]);
        let mut both = steps(&of(1000, 2));
        assert_eq!(both.varying, [1000, 1001]);
        assert_eq!(both.with(both.all.clone(), both.edges.to_vec()).varying, [1000, 1001]);
        // A node that comes to read parameters, by an exchange.
        let reads = both.all[1000].clone();
        both.exchange(&[(7, reads.template, reads.update)]);
        assert_eq!(both.varying, [7, 1000, 1001]);
    }

    /// How many pairs of accesses are compared to add a graph's nodes and to finalize it.
    fn comparisons(graph: &Graph) -> u64 {
        let steps = steps(graph);
        let accesses = steps.all.iter().map(|step| &step.template.command.accesses[..]);
        let to_sort = order::tests::comparisons(steps.edges.to_vec(), &steps.nests, accesses);
        let adding = graph.inner.state.lock().conflicts.compared();
        adding + to_sort
    }

    type Build<'b> = &'b dyn Fn(&Runtime, u32) -> Result<Graph>;

    /// GRAPH-01, GRAPH-02: what a graph within a graph costs: pairs of accesses compared, by the
    /// commands that there are in all.
    #[test]
    fn twice_the_commands_in_graphs_within_graphs_take_twice_the_comparisons() {
        let rt = Runtime::builder().backend(Null::new(1)).build().unwrap();
        let one = rt.buffer::<u32, 1>(4).unwrap().into_shared();
        let shared = rt.buffer::<u32, 1>(1 << 16).unwrap().into_shared();
        let fill = |graph: &Graph| graph.add(|cg| cg.fill(&one, 1)).map(drop);
        let part = |graph: &Graph, at: u32, length: usize| {
            let mut part = shared.slice_mut([16 * at as usize], [length])?;
            graph.add(|cg| cg.fill(&mut part, 1)).map(drop)
        };
        let within = |rt: &Runtime, commands: u32, add: &dyn Fn(&Graph, u32) -> Result<()>| {
            let [inner, outer] = [rt.graph("null:0")?, rt.graph("null:0")?];
            (0..commands).try_for_each(|at| add(&inner, at))?;
            let inner = inner.finalize()?;
            outer.add_graph(&[], &inner)?;
            outer.add_graph(&[], &inner)?;
            add(&outer, 0)?;
            Ok(outer)
        };
        let shapes: [(&str, Build<'_>); 6] = [
            ("one buffer, in one graph twice", &|rt, n| within(rt, n, &|graph, _| fill(graph))),
            ("a part for each", &|rt, n| within(rt, n, &|graph, at| part(graph, at, 16))),
            ("parts that overlap", &|rt, n| within(rt, n, &|graph, at| part(graph, at, 24))),
            ("a graph for each", &|rt, n| {
                let (outer, inner) = (rt.graph("null:0")?, rt.graph("null:0")?);
                fill(&inner)?;
                let inner = inner.finalize()?;
                for _ in 0..n {
                    outer.add_graph(&[], &inner)?;
                }
                Ok(outer)
            }),
            ("doubled", &|rt, n| {
                let mut graph = rt.graph("null:0")?;
                fill(&graph)?;
                for _ in 0..n.ilog2() {
                    let half = graph.finalize()?;
                    graph = rt.graph("null:0")?;
                    graph.add_graph(&[], &half)?;
                    graph.add_graph(&[], &half)?;
                }
                Ok(graph)
            }),
            ("one in the other, each after a command", &|rt, n| {
                let mut graph = rt.graph("null:0")?;
                for _ in 0..n / 8 {
                    let inner = graph.finalize()?;
                    graph = rt.graph("null:0")?;
                    let first = graph.add(|cg| cg.fill(&one, 1))?;
                    graph.add_graph(&[first], &inner)?;
                    part(&graph, 0, 16)?;
                }
                Ok(graph)
            }),
        ];
        for (name, shape) in shapes {
            let [once, twice] = [1024, 2048].map(|n| comparisons(&shape(&rt, n).unwrap()));
            assert!(10 * twice <= 21 * once + 1000, "{name}: {once}, {twice} comparisons");
            assert!(twice <= 100 * 2048, "{name}: {twice} comparisons");
        }
    }
}
