//! The plan: what runs in which order, and the fused kernels.

use super::cluster::{Clusters, Refusal, Unit, clusters, contradiction, linearise};
use super::cost::{Balance, Costs, Load, load_of};
use super::inline::inline;
use super::input::{
    Argument, Call, Facts, Geometry, Graph, Inlining, Mode, Node, Options, OtherWork, Planted,
    Region, Users, Work,
};
use super::intern::{Interning, Outcome, internalise, narrow_access};
use super::join::{JoinedKernel, Parameter, Source, bake, join};
use super::local::local_bytes;
use super::made::Made;
use super::pair;
use super::pair::View;
use super::pressure::registers;
use super::reason::{FuseError, Reason, Refutation};
use super::scope::{AccessScope, of_access};
use super::tidy::{pass_on, share, tidy};
use super::touch::{PreparedCall, Space};
use crate::fault::Fault;
use crate::hash::ContentHash;
use crate::ir::{Access, Kernel, Owner, Param, ParamKind};
use crate::outputs;
use crate::verify::verify;
use crate::violation::{Violation, ViolationKind};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// Kernels that have become one.
#[derive(Clone, Debug)]
pub struct FusedKernel {
    /// The nodes, in the order in which each item runs them.
    pub nodes: Vec<usize>,
    /// Nodes that are computed where others load what they give or store what they take: they may
    /// be of several fused kernels.
    pub inlined: Vec<usize>,
    /// The kernel, verified.
    pub kernel: Arc<Kernel>,
    /// Over what it is launched.
    pub geometry: Geometry,
    /// By parameter of the kernel: where its argument comes from.
    pub parameters: Vec<Parameter>,
    /// The fates of the memories that these kernels write.
    pub outcomes: Vec<Outcome>,
    /// Scalars that are constants in the code. With others, the code is another one.
    pub baked: u32,
    /// The cost model's estimate.
    pub balance: Balance,
}

/// A node of the plan.
#[derive(Clone, Debug)]
pub enum PlanNode {
    /// A node, as it is.
    Node(usize),
    /// Several nodes in one launch.
    Fused(Box<FusedKernel>),
}

/// The answer: a graph's nodes in a valid order, some of them fused.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// In order. Copies, fills and host tasks stand before or after the kernels as they depend.
    pub steps: Vec<PlanNode>,
    /// Kernels that do not share a launch, and why.
    pub unfused: Vec<Refusal>,
    /// Properties that are wrong.
    pub refuted: Vec<Refutation>,
}

impl Plan {
    /// The fused kernels, in order.
    pub fn fused(&self) -> impl Iterator<Item = &FusedKernel> {
        self.steps.iter().filter_map(|step| match step {
            PlanNode::Fused(fused) => Some(&**fused),
            PlanNode::Node(_) => None,
        })
    }
}

/// Fuses a graph: a pure function, which gives the same answer for the same question.
pub fn plan(graph: &Graph, facts: &Facts, options: Options) -> Result<Plan, FuseError> {
    planted(graph, facts, options, Planted::default())
}

/// As [`plan()`], with mistakes.
#[doc(hidden)]
pub fn planted(
    graph: &Graph,
    facts: &Facts,
    options: Options,
    planted: Planted,
) -> Result<Plan, FuseError> {
    let order = linearise(graph)?;
    let wrong = || (0..graph.nodes.len()).find_map(|node| contradiction(graph, node));
    if let (Mode::Require, Some(wrong)) = (options.mode, wrong()) {
        return Err(FuseError::Scopes(wrong));
    }
    if !facts.fuses {
        return match options.mode {
            Mode::Require => Err(FuseError::Device),
            Mode::Enable => {
                let steps = order.into_iter().map(PlanNode::Node).collect();
                Ok(Plan { steps, ..Plan::default() })
            }
        };
    }
    let clusters = clusters(graph, &order, facts, options, planted);
    let refuted = refuted(graph, &clusters);
    if let (Mode::Require, Some(refuted)) = (options.mode, refuted.first()) {
        return Err(FuseError::Refuted(refuted.clone()));
    }
    let users = Users::of(graph);
    let mut plan = Plan { refuted, ..Plan::default() };
    let mut steps = vec![];
    for at in clusters.ordered() {
        let unit = &clusters.units[at];
        let mut made = fuse((graph, &users), unit, facts, (options, planted));
        // The registers are known only now.
        if let (Mode::Enable, Some(Ok(fused))) = (options.mode, &made)
            && !fused.balance.is_gain()
        {
            made = Some(Err(Reason::NoGain(Box::new(fused.balance))));
        }
        match made {
            None => steps.extend(alone(unit, &facts.costs)),
            Some(Ok(fused)) => steps.push(together(unit, fused)),
            Some(Err(reason)) => {
                let (first, second) = (unit.nodes[0], unit.nodes[unit.nodes.len() - 1]);
                if options.mode == Mode::Require {
                    return Err(kernels(graph, first, second, reason));
                }
                plan.unfused.push(Refusal { first, second, reason });
                steps.extend(alone(unit, &facts.costs));
            }
        }
    }
    if facts.inlines > Inlining::None {
        steps = inline((graph, &users), steps, facts, options.mode);
    }
    plan.steps = steps.into_iter().map(|made| made.step).collect();
    if options.mode == Mode::Require && launches(graph, &plan.steps) > 1 {
        required(graph, &clusters)?;
    }
    let is_joined = |pair: &&Refusal| {
        let mut fused = plan.fused();
        fused.any(|of| of.nodes.contains(&pair.first) && of.nodes.contains(&pair.second))
    };
    let apart: Vec<Refusal> = clusters.apart().filter(|pair| !is_joined(pair)).cloned().collect();
    plan.unfused.extend(apart);
    Ok(plan)
}

/// The nodes of a unit as steps of their own.
fn alone<'u, 'g>(unit: &'u Unit<'g>, costs: &'u Costs) -> impl Iterator<Item = Made<'g>> + 'u {
    unit.nodes.iter().map(|node| {
        let call = unit.calls.iter().find(|call| call.node == *node);
        let load = call.map(|call| load_of(call, registers(&call.call.kernel), costs));
        let geometry = call.map_or(Geometry::over([1; 3]), |call| call.call.geometry);
        Made {
            step: PlanNode::Node(*node),
            calls: call.cloned().into_iter().collect(),
            geometry,
            load: load.unwrap_or_default(),
        }
    })
}

/// The nodes of a unit as one step.
fn together<'g>(unit: &Unit<'g>, fused: FusedKernel) -> Made<'g> {
    let (geometry, load) = (fused.geometry, fused.balance.load);
    Made { step: PlanNode::Fused(Box::new(fused)), calls: unit.calls.clone(), geometry, load }
}

/// A node that is launched.
fn is_launch(graph: &Graph, node: usize) -> bool {
    match &graph.nodes[node].work {
        Work::Kernel(_) | Work::Other(OtherWork::OpaqueKernel | OtherWork::Library, _) => true,
        Work::Other(..) => false,
    }
}

fn launches(graph: &Graph, steps: &[PlanNode]) -> usize {
    let is_one = |step: &&PlanNode| match step {
        PlanNode::Node(node) => is_launch(graph, *node),
        PlanNode::Fused(_) => true,
    };
    steps.iter().filter(is_one).count()
}

fn kernels(graph: &Graph, first: usize, second: usize, reason: Reason) -> FuseError {
    let (first, second) = (graph.node_label(first), graph.node_label(second));
    FuseError::Kernels { first, second, reason: Box::new(reason) }
}

/// All kernels of the graph are in one unit.
fn required(graph: &Graph, clusters: &Clusters<'_>) -> Result<(), FuseError> {
    let is_kernel = |node: &usize| is_launch(graph, *node);
    let launches = || clusters.units.iter().filter(|unit| unit.nodes.iter().any(is_kernel));
    if launches().count() < 2 {
        return Ok(());
    }
    let label = |unit: &Unit<'_>| unit.nodes.first().copied().unwrap_or_default();
    let mut all = launches().map(label);
    let (first, second) = (all.next().unwrap_or_default(), all.next().unwrap_or_default());
    if let Some(node) = launches().find(|unit| unit.joint.is_none()).map(label) {
        let other = if node == first { second } else { first };
        let name = graph.node_label(node);
        let reason = match &graph.nodes[node].work {
            Work::Other(what, _) => Reason::NoIr { node: name, what: *what },
            Work::Kernel(_) => Reason::Arguments { node: name },
        };
        return Err(kernels(graph, other, node, reason));
    }
    match clusters.apart().next() {
        Some(pair) => Err(kernels(graph, pair.first, pair.second, pair.reason.clone())),
        None => Err(kernels(graph, first, second, Reason::Unrelated)),
    }
}

/// A view of a call, and which of its arguments that is.
#[derive(Clone, Copy)]
struct Scoped<'c> {
    call: &'c PreparedCall<'c>,
    nth: usize,
    view: View<'c>,
}

/// Views of regions that have a scope, by region. Of views that are alike the first and the last
/// stand for all: what comes before one of them comes before the last.
fn scoped<'c>(graph: &Graph, clusters: &'c Clusters<'_>) -> Vec<Vec<Scoped<'c>>> {
    let says = |view: &View<'_>| {
        let memory = graph.memories.get(view.region.memory.index());
        view.wishes.scope.is_some() || memory.is_some_and(|memory| memory.wishes.scope.is_some())
    };
    let mut calls: Vec<_> = clusters.units.iter().flat_map(|unit| &unit.calls).collect();
    calls.sort_by_key(|call| call.node);
    let views = calls.into_iter().flat_map(|call| {
        View::all(call).enumerate().map(move |(nth, view)| Scoped { call, nth, view })
    });
    let mut regions: BTreeMap<Region, (bool, HashMap<_, [Scoped<'_>; 2]>)> = BTreeMap::new();
    for scoped in views {
        let Scoped { call, nth, view } = scoped;
        let (has_scope, alike) = regions.entry(view.region).or_default();
        *has_scope |= says(&view);
        let kernel = Arc::as_ptr(&call.call.kernel);
        let key = (kernel, nth, call.call.geometry, view.wishes, view.touches);
        alike.entry(key).or_insert([scoped; 2])[1] = scoped;
    }
    // Most graphs have no such properties.
    let regions = regions.into_values().filter(|(has_scope, _)| *has_scope);
    let sorted = regions.map(|(_, alike)| {
        let mut all: Vec<Scoped<'_>> = alike.into_values().flatten().collect();
        all.sort_by_key(|of| (of.call.node, of.nth));
        all.dedup_by_key(|of| (of.call.node, of.nth));
        all
    });
    sorted.collect()
}

/// Access scopes that an analysis shows to be wrong (FUSE-11).
fn refuted(graph: &Graph, clusters: &Clusters<'_>) -> Vec<Refutation> {
    let mut all: Vec<((usize, usize), Refutation)> = vec![];
    for views in scoped(graph, clusters) {
        for a in &views {
            for b in views.iter().filter(|b| a.call.node <= b.call.node && a.view.is_same(&b.view))
            {
                let found = contradicted(graph, (a.call, &a.view), (b.call, &b.view));
                all.extend(found.map(|found| ((a.call.node, b.call.node), found)));
            }
        }
    }
    all.sort_by_key(|(nodes, _)| *nodes);
    let mut known = HashSet::new();
    all.into_iter().map(|(_, found)| found).filter(|found| known.insert(found.clone())).collect()
}

fn contradicted(
    graph: &Graph,
    (first, a): (&PreparedCall<'_>, &View<'_>),
    (second, b): (&PreparedCall<'_>, &View<'_>),
) -> Option<Refutation> {
    let memory = graph.memories.get(a.region.memory.index())?;
    // A buffer's property is about all kernels, an access's about its own.
    let scope: AccessScope = match first.node == second.node {
        true => of_access(a.wishes.scope, memory.wishes.scope).ok()??,
        false => memory.wishes.scope?,
    };
    let (x, y) = (first.call.geometry, second.call.geometry);
    let shape = (first.call.kernel.shape.rank, x.offset);
    if shape != (second.call.kernel.shape.rank, y.offset) {
        return None;
    }
    let range = std::array::from_fn(|dim| x.range[dim].min(y.range[dim]));
    let space = Space { rank: shape.0, range, group: x.group };
    let groups = scope == AccessScope::Group;
    if groups && (x.group.is_none() || x.group != y.group) {
        return None;
    }
    let touches = a.touches.iter().flat_map(|x| b.touches.iter().map(move |y| (x, y)));
    let mut refuting = touches.filter_map(|(x, y)| pair::refutes(x, y, &space, groups));
    let elements = refuting.next()?;
    let memory = graph.memory_label(a.region.memory);
    let kernel = second.call.kernel.name.clone();
    Some(Refutation { memory, scope, kernel, elements })
}

/// Makes one kernel of a unit's; none where it has only one node.
fn fuse(
    (graph, users): (&Graph, &Users),
    unit: &Unit<'_>,
    facts: &Facts,
    (options, planted): (Options, Planted),
) -> Option<Result<FusedKernel, Reason>> {
    let joint = unit.joint.filter(|_| unit.calls.len() > 1)?;
    let calls = &unit.calls[..];
    let mut joined = join(calls, joint, options, planted);
    let interning = Interning { graph, users, nodes: &unit.nodes, calls, joint, facts, planted };
    let (outcomes, vars) = internalise(&interning, &mut joined);
    let baked = if options.bake { bake(&mut joined, calls) } else { 0 };
    share(&mut joined.kernel);
    pass_on(&mut joined.kernel, &vars);
    tidy(&mut joined, &vars);
    narrow_access(&mut joined);
    own(&mut joined.kernel);
    let JoinedKernel { kernel, parameters } = joined;
    if let Err(error) = verify(&kernel) {
        return Some(Err(Reason::NotWellFormed(Box::new(error))));
    }
    let geometry = Geometry { range: joint.range, offset: joint.offset, group: joint.group };
    let (registers, local) = (registers(&kernel), local_bytes(&kernel));
    let balance = facts.costs.weigh(&Load { registers, local, ..unit.load });
    let (nodes, kernel) = (unit.nodes.clone(), Arc::new(kernel));
    Some(Ok(FusedKernel {
        nodes,
        inlined: vec![],
        kernel,
        geometry,
        parameters,
        outcomes,
        baked,
        balance,
    }))
}

/// Declares what the joined code does with its outputs, where that is more than their owners may:
/// legality has shown that there are no races.
pub(crate) fn own(kernel: &mut Kernel) {
    for _ in 0..2 * kernel.params.len() {
        let Err(error) = outputs::check(kernel) else { return };
        let named = |wanted: &str, kernel: &Kernel| {
            kernel.params.iter().position(|param| param.name == *wanted)
        };
        let (at, written) = match &error.fault {
            Fault::NotOwn { name, .. } => (named(name, kernel), true),
            Fault::NotWritten { name, .. } => (named(name, kernel), false),
            _ => return,
        };
        let Some(ParamKind::View { access, owner, .. }) = at.map(|at| &mut kernel.params[at].kind)
        else {
            return;
        };
        match written {
            true => *owner = Owner::Anyone,
            false => *access = Access::InOut,
        }
    }
}

impl FusedKernel {
    /// The name of its content: equal graphs have equal ones, whatever their ranges where guards
    /// take those as arguments (FUSE-08). Backends cache compiled kernels by this name.
    pub fn key(&self) -> ContentHash {
        self.kernel.content_hash()
    }

    /// The value of a parameter that is a number of the launch.
    pub fn number(&self, graph: &Graph, parameter: &Parameter) -> Option<u64> {
        let call = |node: usize| graph.nodes.get(node).and_then(Node::call);
        let geometry = |node: usize| call(node).map(|call: &Call| call.geometry);
        match parameter.source {
            Source::Limit { node, dim } => {
                let (geometry, dim) = (geometry(node)?, usize::from(dim));
                Some(geometry.offset.get(dim)?.wrapping_add(*geometry.range.get(dim)?))
            }
            Source::Range { node, dim } => geometry(node)?.range.get(usize::from(dim)).copied(),
            Source::Extent { node, param, dim } => {
                match call(node)?.arguments.get(param.index())? {
                    Argument::View { region, .. } => region.extent.get(usize::from(dim)).copied(),
                    _ => None,
                }
            }
            Source::Argument { .. } | Source::Scratch(_) => None,
        }
    }

    /// A violation of the fused kernel as the node's whose kernel it is: with its name, its
    /// parameter's name and its place. None if it is not one of this kernel's.
    pub fn blame(&self, graph: &Graph, violation: &Violation) -> Option<(usize, Violation)> {
        let mut violation = violation.clone();
        let (at, file) = violation.site.file.split_once(':')?;
        let node = *self.nodes.get(at.parse::<usize>().ok()?)?;
        violation.site.file = file.to_owned();
        let kernel = &graph.nodes.get(node)?.call()?.kernel;
        violation.kernel = kernel.name.clone();
        if let ViolationKind::OutOfBounds { param: Some(name), .. } = &mut violation.kind {
            let is_it = |param: &&Param| param.name == *name;
            let of_node = |parameter: &Parameter| {
                let mine = parameter.stands_for.iter().find(|(of, _)| *of == node);
                mine.map(|(_, param)| *param)
            };
            let params = self.kernel.params.iter().zip(&self.parameters);
            let original = params.filter(|(param, _)| is_it(param)).find_map(|(_, p)| of_node(p));
            if let Some(param) = original.and_then(|param| kernel.params.get(param.index())) {
                name.clone_from(&param.name);
            }
        }
        Some((node, violation))
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::{Memory, MemoryId};
    use super::super::scope::Wishes;
    use super::*;
    use crate::parse::parse;

    /// FUSE-11: which views are compared with one another for scopes: a few of each memory,
    /// however many kernels use it. What is wrong is found all the same.
    #[test]
    fn twice_the_kernels_with_scopes_take_twice_the_views() {
        let text = r#"kernel "next" items 1 tile 1
param p0 = "x" view f32 1 in item
param p1 = "z" view f32 1 out item
body {
  %0 u64 = query position 0 0
  %1 u64 = const u64 1
  %2 u64 = add %0, %1
  %3 f32 = load p0[%2]
  store p1[%0] = %3
}
"#;
        let kernel = Arc::new(parse(text).unwrap());
        let wishes = Wishes { scope: Some(AccessScope::Item), ..Wishes::default() };
        let of = |kernels: u32| {
            let mut graph = Graph::default();
            for at in 0..kernels {
                let view = |memory| {
                    let region = Region::whole(MemoryId(memory), [65, 1, 1]);
                    Argument::View { region, wishes: Wishes::default() }
                };
                let geometry = Geometry { range: [64, 1, 1], offset: [0; 3], group: None };
                // The first one writes what all read.
                let arguments = vec![view(0), view(if at == 0 { 0 } else { at })];
                let call = Call {
                    kernel: kernel.clone(),
                    geometry,
                    arguments,
                    infallible: false,
                    covers: vec![],
                };
                let (label, work) = (format!("{at}"), Work::Kernel(call));
                graph.nodes.push(Node { label, work, after: vec![] });
            }
            let memory = |at| Memory { label: format!("m{at}"), wishes, ..Memory::default() };
            graph.memories.extend((0..kernels).map(memory));
            let (order, facts) = (linearise(&graph).unwrap(), Facts::GPU);
            let options = Options::new(Mode::Enable);
            let clusters = clusters(&graph, &order, &facts, options, Planted::default());
            let pairs = scoped(&graph, &clusters).iter().map(|views| views.len().pow(2)).sum();
            (refuted(&graph, &clusters), pairs)
        };
        let [(found, once), (again, twice)]: [(_, usize); 2] = [1000, 2000].map(of);
        assert!(found.iter().any(|found| found.memory == "m0"), "{found:?}");
        assert_eq!(found, again);
        assert!(twice <= 2 * once && twice <= 2 * 2000, "{once}, {twice} pairs");
    }
}
