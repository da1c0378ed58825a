//! Runs graphs and plans by the interpreter, on bytes.

use super::Case;
use crate::interp::{Arg, Device, Failure, Order, Stop, run_like};
use folio_kernel::fuse::{
    Argument, Call, Fate, FusedKernel, Graph, OtherWork, Plan, PlanNode, Region, Source, Work,
};
use folio_kernel::launch::Launch;
use folio_kernel::{Kernel, ParamKind, Violation};

/// By memory: its bytes.
pub type Contents = Vec<Vec<u8>>;

/// Statements of a launch; the kernels are small.
const BUDGET: u64 = 300_000;

/// In sub-groups of more than one, of which the last one of a group may be narrower.
const DEVICE: Device = Device { width: 3, cpu_functions: false };

/// The violations of nodes.
type Failures = Vec<(usize, Violation)>;

/// Calls `see` with the place in memory of each element of a region, in row-major order.
fn elements(region: &Region, see: &mut dyn FnMut(usize)) {
    let Region { shape, origin, extent, .. } = *region;
    for x in 0..extent[0] {
        for y in 0..extent[1] {
            for z in 0..extent[2] {
                let row = (origin[0] + x) * shape[1] + origin[1] + y;
                see((row * shape[2] + origin[2] + z) as usize);
            }
        }
    }
}

fn argument(kernel: &Kernel, kind: &ParamKind, given: &Argument, contents: &Contents) -> Arg {
    match (kind, given) {
        (ParamKind::View { element, rank, .. }, Argument::View { region, .. }) => {
            let size = kernel.types.layout(*element).0 as usize;
            let memory = &contents[region.memory.index()];
            let mut bytes = vec![];
            elements(region, &mut |at| {
                bytes.extend_from_slice(&memory[at * size..(at + 1) * size])
            });
            Arg::View { extent: region.extent[..usize::from(*rank)].to_vec(), bytes }
        }
        (_, Argument::Reduce(memory)) => Arg::Reduce(contents[memory.index()].clone()),
        (_, Argument::Scalar { bytes, .. }) => Arg::Scalar(bytes.clone()),
        _ => Arg::Local,
    }
}

fn put_back(kernel: &Kernel, kind: &ParamKind, given: &Argument, arg: &Arg, to: &mut Contents) {
    match (kind, given, arg) {
        (
            ParamKind::View { element, access, .. },
            Argument::View { region, .. },
            Arg::View { bytes, .. },
        ) if *access != folio_kernel::Access::In => {
            let size = kernel.types.layout(*element).0 as usize;
            let memory = &mut to[region.memory.index()];
            let mut from = bytes.chunks(size);
            elements(region, &mut |at| {
                if let Some(bytes) = from.next() {
                    memory[at * size..(at + 1) * size].copy_from_slice(bytes);
                }
            });
        }
        (_, Argument::Reduce(memory), Arg::Reduce(bytes)) => {
            to[memory.index()].clone_from(bytes);
        }
        _ => {}
    }
}

fn launch(kernel: &Kernel, geometry: &folio_kernel::fuse::Geometry) -> Launch {
    Launch {
        range: geometry.range,
        offset: geometry.offset,
        group: geometry.group.filter(|_| kernel.shape.groups).unwrap_or_default(),
        ..Launch::default()
    }
}

fn arguments(kernel: &Kernel, given: &[Argument], contents: &Contents) -> Vec<Arg> {
    let params = kernel.params.iter().zip(given);
    params.map(|(param, given)| argument(kernel, &param.kind, given, contents)).collect()
}

fn run(
    kernel: &Kernel,
    launch: &Launch,
    given: &[Argument],
    order: Order,
    contents: &mut Contents,
) -> Result<Vec<Failure>, Stop> {
    let mut args = arguments(kernel, given, contents);
    let ran = run_like(kernel, launch, &mut args, order, DEVICE, BUDGET)?;
    for ((param, given), arg) in kernel.params.iter().zip(given).zip(&args) {
        put_back(kernel, &param.kind, given, arg, contents);
    }
    Ok(ran.failures)
}

/// The effect of nodes that are no kernels.
fn other(what: OtherWork, memories: &[folio_kernel::fuse::MemoryId], contents: &mut Contents) {
    match (what, memories) {
        (OtherWork::Copy, [from, to]) => {
            let bytes = contents[from.index()].clone();
            let to = &mut contents[to.index()];
            let len = bytes.len().min(to.len());
            to[..len].copy_from_slice(&bytes[..len]);
        }
        (OtherWork::Fill, [memory]) => contents[memory.index()].fill(3),
        (_, all) => {
            for memory in all {
                contents[memory.index()].iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
            }
        }
    }
}

fn call(node: usize, call: &Call, contents: &mut Contents) -> Result<Failures, Stop> {
    let launch = launch(&call.kernel, &call.geometry);
    let failures = run(&call.kernel, &launch, &call.arguments, Order::Forward, contents)?;
    let failures = failures.into_iter().filter_map(|failure| failure.violation(&call.kernel));
    Ok(failures.map(|violation| (node, violation)).collect())
}

/// Runs nodes one after the other, up to the first that fails.
fn unfused(graph: &Graph, contents: &mut Contents) -> Result<Failures, Stop> {
    for (at, node) in graph.nodes.iter().enumerate() {
        match &node.work {
            Work::Other(what, memories) => other(*what, memories, contents),
            Work::Kernel(launched) => {
                let failures = call(at, launched, contents)?;
                if !failures.is_empty() {
                    return Ok(failures);
                }
            }
        }
    }
    Ok(vec![])
}

/// The arguments of a fused kernel: memories and values of this graph, and numbers of that one.
fn given(fused: &FusedKernel, graph: &Graph, numbers: &Graph) -> Vec<Argument> {
    let given = fused.parameters.iter().map(|parameter| match parameter.source {
        Source::Argument { node, param } => {
            let call = graph.nodes[node].call();
            call.map_or(Argument::Local, |call| call.arguments[param.index()].clone())
        }
        Source::Scratch(_) => Argument::Local,
        Source::Limit { .. } | Source::Range { .. } | Source::Extent { .. } => {
            let number = fused.number(numbers, parameter).unwrap_or(u64::MAX);
            Argument::Scalar { bytes: number.to_le_bytes().to_vec(), fixed: false }
        }
    });
    given.collect()
}

/// A fused kernel's launch, and its arguments as the interpreter takes them.
pub fn arguments_of(fused: &FusedKernel, graph: &Graph, contents: &Contents) -> (Launch, Vec<Arg>) {
    let given = given(fused, graph, graph);
    (launch(&fused.kernel, &fused.geometry), arguments(&fused.kernel, &given, contents))
}

/// Runs a fused kernel.
fn together(
    fused: &FusedKernel,
    graph: &Graph,
    numbers: &Graph,
    order: Order,
    contents: &mut Contents,
) -> Result<Failures, Stop> {
    let given = given(fused, graph, numbers);
    let launch = launch(&fused.kernel, &fused.geometry);
    let failures = run(&fused.kernel, &launch, &given, order, contents)?;
    let blame = |failure: Failure| {
        let violation = failure.violation(&fused.kernel)?;
        Some(fused.blame(graph, &violation).unwrap_or((usize::MAX, violation)))
    };
    Ok(failures.into_iter().filter_map(blame).collect())
}

/// Runs a plan's steps, all of them; limits, ranges and extents are those of the graph `numbers`.
fn fused(
    graph: &Graph,
    numbers: &Graph,
    plan: &Plan,
    order: Order,
    contents: &mut Contents,
) -> Result<Failures, Stop> {
    let mut failures = vec![];
    for step in &plan.steps {
        match step {
            PlanNode::Node(at) => match &graph.nodes[*at].work {
                Work::Other(what, memories) => other(*what, memories, contents),
                Work::Kernel(launched) => failures.extend(call(*at, launched, contents)?),
            },
            PlanNode::Fused(one) => {
                failures.extend(together(one, graph, numbers, order, contents)?)
            }
        }
    }
    Ok(failures)
}

/// How a graph's run ended, with which its plan agrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The case takes too long to be compared.
    Endless,
    /// A kernel failed, and so did the fused one, with the same violation.
    Failed,
    /// The same bytes are in all memories that matter.
    Same,
}

/// Says how a plan differs from the case's graph: in what it leaves, in what fails and where, in a
/// temporary that it uses though it says that it does not. The fused kernels get the limits, ranges
/// and extents of the graph `numbers`, which ought to be the same.
pub fn check(case: &Case, plan: &Plan, numbers: &Graph) -> Result<Ended, String> {
    let of = &case.graph;
    let mut wanted = case.contents.clone();
    let Ok(failures) = unfused(of, &mut wanted) else { return Ok(Ended::Endless) };
    let run = |order| {
        let mut found = case.contents.clone();
        let ended = match fused(of, numbers, plan, order, &mut found) {
            Err(Stop::Arguments(why)) => Err(why),
            Err(Stop::Budget) => Ok(Ended::Endless),
            Ok(others) => compare(case, plan, (&failures, &wanted), (&others, &found)),
        };
        ended.map_err(|why| format!("{order:?}: {why}"))
    };
    // Items run in any order, which only atomic operations can see.
    let atomic = plan.fused().any(|fused| fused.kernel.to_string().contains("= atomic "));
    if !atomic {
        run(Order::Backward)?;
    }
    run(Order::Forward)
}

/// The violations and the contents of memories: unfused, and fused.
fn compare(
    case: &Case,
    plan: &Plan,
    (failures, wanted): (&Failures, &Contents),
    (others, found): (&Failures, &Contents),
) -> Result<Ended, String> {
    if let Some((node, _)) = failures.first() {
        return match others.iter().any(|other| failures.contains(other)) {
            true => Ok(Ended::Failed),
            false => Err(format!("node {node} fails with {failures:?}, and fused: {others:?}")),
        };
    }
    if let Some(other) = others.first() {
        return Err(format!("only fused it fails: {other:?}"));
    }
    let unused = plan.fused().flat_map(|fused| &fused.outcomes).filter(|outcome| {
        matches!(outcome.fate, Fate::Register | Fate::Local { stored: false, .. })
    });
    let unused: Vec<usize> = unused.map(|outcome| outcome.memory.index()).collect();
    for (at, memory) in case.graph.memories.iter().enumerate() {
        if unused.contains(&at) && found[at] != case.contents[at] {
            return Err(format!("`{}` is internal, but it is written", memory.label));
        }
        let disposable = memory.temporary || memory.wishes.internal;
        if !disposable && wanted[at] != found[at] {
            let (wanted, found) = (&wanted[at], &found[at]);
            return Err(format!("`{}` is {found:x?}, not {wanted:x?}", memory.label));
        }
    }
    Ok(Ended::Same)
}
