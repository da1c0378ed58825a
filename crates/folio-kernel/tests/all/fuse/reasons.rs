//! What is fused, what is not, and why.

use super::graph::{ADD, Chain, DOUBLE, FIVE, GATHER, MIRROR, NEXT, SUM, UPDATE};
use super::scopes::outcome;
use crate::common::read;
use folio_kernel::access::of_launch;
use folio_kernel::fuse::{
    Argument, Between, Elements, Facts, Fate, FuseError, Geometry, Hazard, Mode, Obstacle, Options,
    OtherWork, Plan, PlanNode, Reason, Region, Shapes, Sharing, Shortage, Work, plan,
};
use folio_kernel::launch::Launch;

const BARRIERS: Options = Options { mode: Mode::Require, insert_barriers: true, bake: false };

/// Nodes by step.
fn steps(plan: &Plan) -> Vec<Vec<usize>> {
    let nodes = |step: &PlanNode| match step {
        PlanNode::Node(node) => vec![*node],
        PlanNode::Fused(fused) => fused.nodes.clone(),
    };
    plan.steps.iter().map(nodes).collect()
}

/// The reason why two kernels are apart: the same under both requests.
#[track_caller]
fn reason(chain: &Chain) -> Reason {
    let plan = chain.plan(Mode::Enable).unwrap();
    assert_eq!(plan.fused().count(), 0, "{}", plan.explain(&chain.graph));
    let reason = plan.unfused[0].reason.clone();
    match chain.plan(Mode::Require) {
        Err(FuseError::Kernels { reason: required, .. }) => assert_eq!(reason, *required),
        other => panic!("{other:?}"),
    }
    reason
}

/// A producer of `tmp` and its consumer.
fn pair(first: &str, second: &str) -> Chain {
    let mut chain = Chain::new();
    let [x, tmp, out] = ["x", "tmp", "out"].map(|name| chain.memory(name, 64));
    chain.call("first", first, 64, &[x, tmp]);
    chain.call("second", second, 64, &[tmp, out]);
    chain
}

fn conflict(hazard: Hazard, elements: Elements) -> Reason {
    Reason::Memory { memory: "tmp".to_owned(), why: Sharing::Conflict { hazard, elements } }
}

/// FUSE-11: the consumer reads what a neighbour writes.
#[test]
fn neighbour_read_of_a_temporary_is_not_fused_with_its_producer() {
    let found = reason(&pair(FIVE, NEXT));
    let by = Elements::Neighbour([1, 0, 0]);
    assert_eq!(found, conflict(Hazard::ReadAfterWrite, by));
    let text = "`tmp`: the second reads what the first writes, at an item's neighbour (+1)";
    assert_eq!(found.to_string(), text);
}

/// FUSE-11: write-after-read across items.
#[test]
fn what_a_neighbour_reads_is_not_overwritten_in_the_same_launch() {
    let mut chain = Chain::new();
    let [x, tmp, out] = ["x", "tmp", "out"].map(|name| chain.memory(name, 64));
    chain.call("next", NEXT, 64, &[tmp, out]);
    chain.call("five", FIVE, 64, &[x, tmp]);
    let by = Elements::Neighbour([-1, 0, 0]);
    assert_eq!(reason(&chain), conflict(Hazard::WriteAfterRead, by));
}

#[test]
fn index_that_depends_on_data_is_not_known() {
    let mut chain = Chain::new();
    let [x, at, tmp, out] = ["x", "at", "tmp", "out"].map(|name| chain.memory(name, 64));
    chain.call("five", FIVE, 64, &[x, tmp]);
    chain.call("gather", GATHER, 64, &[at, tmp, out]);
    assert_eq!(reason(&chain), conflict(Hazard::ReadAfterWrite, Elements::Unknown));
}

/// A gather of what no kernel writes is no reason.
#[test]
fn what_is_only_read_is_read_anywhere() {
    let mut chain = Chain::new();
    let [x, at, tmp, out] = ["x", "at", "tmp", "out"].map(|name| chain.memory(name, 64));
    chain.call("gather", GATHER, 64, &[at, x, tmp]);
    chain.call("add", ADD, 64, &[tmp, x, out]);
    assert_eq!(steps(&chain.plan(Mode::Require).unwrap()), [[0, 1]]);
}

/// FUSE-04: offsets and dimensions differ.
#[test]
fn geometry_that_cannot_be_joined_is_a_reason() {
    let mut chain = pair(FIVE, FIVE);
    chain.at(1).geometry.offset[0] = 1;
    chain.at(1).geometry.range[0] = 63;
    assert_eq!(reason(&chain), Reason::Shapes(Shapes::Offset { first: [0; 3], second: [1, 0, 0] }));

    let mut chain = pair(FIVE, FIVE);
    let mut kernel = (*chain.at(1).kernel).clone();
    kernel.shape.rank = 2;
    chain.at(1).kernel = kernel.into();
    assert_eq!(reason(&chain), Reason::Shapes(Shapes::Rank { first: 1, second: 2 }));

    let mut chain = pair(FIVE, FIVE);
    chain.at(0).geometry.group = Some([8, 1, 1]);
    chain.at(1).geometry.group = Some([16, 1, 1]);
    assert_eq!(
        reason(&chain),
        Reason::Shapes(Shapes::Group { first: [8, 1, 1], second: [16, 1, 1] })
    );
}

/// FUSE-04: smaller ranges run under guards, but for groups and reductions.
#[test]
fn smaller_range_is_guarded_where_the_kernel_can_be() {
    let mut chain = pair(FIVE, FIVE);
    chain.at(1).geometry.range[0] = 40;
    let plan = chain.plan(Mode::Require).unwrap();
    assert_eq!(steps(&plan), [[0, 1]]);
    assert!(plan.fused().next().unwrap().kernel.to_string().contains("\"1.limit.0\""));

    let mut chain = pair(FIVE, SUM);
    chain.at(1).geometry.range[0] = 40;
    assert!(matches!(reason(&chain), Reason::Shapes(Shapes::Range { has: "reductions", .. })));

    let mut chain = Chain::new();
    let [x, tmp, out] = ["x", "tmp", "out"].map(|name| chain.memory(name, 64));
    chain.call("five", FIVE, 64, &[x, tmp]);
    chain.grouped(DOUBLE, 40, 8, &[tmp, out]);
    assert!(matches!(reason(&chain), Reason::Shapes(Shapes::Range { has: "groups", .. })));
}

/// FUSE-06: different views of a memory, or the same elements of another type.
#[test]
fn views_that_may_overlap_are_a_reason() {
    let mut chain = pair(FIVE, FIVE);
    let tmp = folio_kernel::fuse::MemoryId(1);
    let half = Region { memory: tmp, shape: [64, 1, 1], origin: [8, 0, 0], extent: [40, 1, 1] };
    chain.at(1).geometry.range[0] = 40;
    chain.at(1).arguments[0] = Argument::View { region: half, wishes: Default::default() };
    let hazard = Hazard::ReadAfterWrite;
    assert_eq!(
        reason(&chain),
        Reason::Memory { memory: "tmp".to_owned(), why: Sharing::Views { hazard } }
    );
    let chain = pair(FIVE, &FIVE.replace("f32", "i32").replace("5.0", "5"));
    assert_eq!(
        reason(&chain),
        Reason::Memory { memory: "tmp".to_owned(), why: Sharing::Views { hazard } }
    );
}

/// Halves of one memory do not meet.
#[test]
fn views_that_are_apart_share_a_launch() {
    let mut chain = pair(FIVE, FIVE);
    for (node, view, origin) in [(0, 1, 0), (1, 0, 32)] {
        let memory = folio_kernel::fuse::MemoryId(1);
        let (shape, origin) = ([64, 1, 1], [origin, 0, 0]);
        let region = Region { memory, shape, origin, extent: [32, 1, 1] };
        chain.at(node).arguments[view] = Argument::View { region, wishes: Default::default() };
        chain.at(node).geometry.range[0] = 32;
    }
    assert_eq!(steps(&chain.plan(Mode::Require).unwrap()), [[0, 1]]);
}

/// FUSE-02: within a group, a barrier is enough, and there is one only if it is asked for.
#[test]
fn mirrored_read_in_a_group_needs_inserted_barriers() {
    let mut chain = Chain::new();
    let [x, out] = ["x", "out"].map(|name| chain.memory(name, 64));
    let tmp = chain.temporary("tmp", 64);
    chain.grouped(DOUBLE, 64, 8, &[x, tmp]);
    chain.grouped(MIRROR, 64, 8, &[tmp, out]);
    let hazard = Hazard::ReadAfterWrite;
    assert_eq!(
        reason(&chain),
        Reason::Memory { memory: "tmp".to_owned(), why: Sharing::Barrier { hazard } }
    );
    let barriers = Options { insert_barriers: true, ..Options::new(Mode::Require) };
    let found = chain.plan_with(barriers).unwrap();
    assert_eq!(outcome(&found, tmp).fate, Fate::Local { bytes: 32, stored: false });
    // Its slots are shown to be in bounds, so no access of local memory is tested.
    let kernel = &found.fused().next().unwrap().kernel;
    let launch = Launch {
        range: [64, 1, 1],
        group: [8, 1, 1],
        extents: vec![[64, 1, 1]; 3],
        scalars: vec![None; 3],
        ..Launch::default()
    };
    assert!(of_launch(kernel, &launch).params.iter().all(|param| param.proved));
    let facts = Facts { local_memory: 16, ..Facts::GPU };
    let found = plan(&chain.graph, &facts, barriers).unwrap();
    let kept = Obstacle::LocalMemory { needed: 32, available: 16 };
    assert_eq!(outcome(&found, tmp).kept, Some(kept));
}

/// FUSE-02: without `insert_barriers`, phases of different kernels have no barrier between them.
#[test]
fn barriers_are_between_kernels_only_where_they_are_asked_for() {
    let mut chain = Chain::new();
    let [x, tmp, out] = ["x", "tmp", "out"].map(|name| chain.memory(name, 64));
    chain.grouped(DOUBLE, 64, 8, &[x, tmp]);
    chain.call("five", FIVE, 64, &[tmp, out]);
    let phases =
        |plan: Plan| plan.fused().next().unwrap().kernel.to_string().matches("phase").count();
    assert_eq!(phases(chain.plan(Mode::Require).unwrap()), 1);
    assert_eq!(phases(chain.plan_with(BARRIERS).unwrap()), 2);
}

/// FUSE-02: a barrier is outside of the guard of a smaller kernel.
#[test]
fn barriers_are_outside_of_guards() {
    let mut chain = Chain::new();
    let [x, tmp, out] = ["x", "tmp", "out"].map(|name| chain.memory(name, 64));
    chain.grouped(DOUBLE, 64, 8, &[x, tmp]);
    chain.call("five", FIVE, 40, &[tmp, out]);
    let plan = chain.plan_with(BARRIERS).unwrap();
    let text = plan.fused().next().unwrap().kernel.to_string();
    let guard = text.find("  if ").unwrap();
    assert!(text[..guard].matches("phase").count() == 2, "{text}");
    assert_eq!(text[guard..].matches("phase").count(), 0, "{text}");
}

/// FUSE-13: a reduction comes last in its group; who uses its result is in the next launch.
#[test]
fn result_of_a_reduction_is_not_used_in_its_launch() {
    let mut chain = Chain::new();
    let [x, y, tmp] = ["x", "y", "tmp"].map(|name| chain.memory(name, 64));
    let total = chain.memory("total", 1);
    chain.call("add", ADD, 64, &[x, y, tmp]);
    chain.call("sum", SUM, 64, &[tmp, total]);
    let one = FIVE.replace("%1 f32 = load p0[%0]", "%4 u64 = const u64 0\n%1 f32 = load p0[%4]");
    chain.call("scale", &one, 64, &[total, tmp]);
    let plan = chain.plan(Mode::Enable).unwrap();
    assert_eq!(steps(&plan), [vec![0, 1], vec![2]]);
    let found = plan.unfused.iter().find(|pair| pair.first == 1).unwrap();
    assert_eq!(found.reason, Reason::Memory { memory: "total".to_owned(), why: Sharing::Result });
}

/// FUSE-13: with groups the fixed tree of a reduction over items would be another one.
#[test]
fn reduction_over_items_is_not_joined_with_groups() {
    let mut chain = Chain::new();
    let [x, tmp] = ["x", "tmp"].map(|name| chain.memory(name, 64));
    let total = chain.memory("total", 1);
    chain.grouped(DOUBLE, 64, 8, &[x, tmp]);
    chain.call("sum", SUM, 64, &[tmp, total]);
    assert_eq!(reason(&chain), Reason::Shapes(Shapes::Tree { kernel: "sum".to_owned() }));
}

/// FUSE-13: independent kernels share a launch where they are small.
#[test]
fn independent_kernels_share_a_launch_where_they_are_small() {
    let chain = |items: u64| {
        let mut chain = Chain::new();
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| chain.memory(name, items));
        chain.call("one", FIVE, items, &[a, b]);
        chain.call("two", FIVE, items, &[c, d]);
        chain
    };
    assert_eq!(chain(1 << 10).plan(Mode::Enable).unwrap().steps.len(), 1);
    let large = chain(1 << 26).plan(Mode::Enable).unwrap();
    assert_eq!(large.steps.len(), 2);
    assert!(matches!(large.unfused[0].reason, Reason::NoGain(_)), "{large:?}");
    assert_eq!(chain(1 << 26).plan(Mode::Require).unwrap().steps.len(), 1);
}

/// FUSE-03, FUSE-04: copies and fills run before or after the kernels where they may.
#[test]
fn copies_are_hoisted_and_sunk() {
    let mut chain = Chain::new();
    let names = ["host", "x", "y", "tmp", "out"];
    let [host, x, y, tmp, out] = names.map(|name| chain.memory(name, 64));
    chain.other(OtherWork::Copy, &[host, x]);
    chain.call("five", FIVE, 64, &[x, tmp]);
    chain.other(OtherWork::Fill, &[y]);
    chain.call("add", ADD, 64, &[tmp, y, out]);
    chain.other(OtherWork::Copy, &[out]);
    let plan = chain.plan(Mode::Require).unwrap();
    assert_eq!(steps(&plan), [vec![0], vec![2], vec![1, 3], vec![4]]);
}

/// FUSE-01, FUSE-04: a host task that has to run between kernels.
#[test]
fn host_task_in_the_middle_prevents_fusion() {
    let mut chain = Chain::new();
    let [x, tmp, out] = ["x", "tmp", "out"].map(|name| chain.memory(name, 64));
    chain.call("first", FIVE, 64, &[x, tmp]);
    chain.other(OtherWork::HostTask, &[tmp]);
    chain.call("second", FIVE, 64, &[tmp, out]);
    let what = Between::Other(OtherWork::HostTask);
    assert_eq!(reason(&chain), Reason::Between { node: "a host task".to_owned(), what });
    assert_eq!(steps(&chain.plan(Mode::Enable).unwrap()), [[0], [1], [2]]);
}

/// FUSE-01: what `require_fusion` refuses `enable_fusion` runs as it is.
#[test]
fn opaque_kernels_and_devices_that_do_not_fuse_are_errors_only_under_require() {
    let mut chain = pair(FIVE, FIVE);
    let opaque = Work::Other(OtherWork::OpaqueKernel, vec![folio_kernel::fuse::MemoryId(2)]);
    chain.node("native", opaque, &[folio_kernel::fuse::MemoryId(2)]);
    let error = chain.plan(Mode::Require).unwrap_err();
    let wanted = "`first` and `native` cannot be one launch: `native` is a kernel without IR";
    assert_eq!(error.to_string(), wanted);
    assert_eq!(steps(&chain.plan(Mode::Enable).unwrap()), [vec![0, 1], vec![2]]);

    let facts = Facts { fuses: false, ..Facts::GPU };
    let ask = |mode| plan(&chain.graph, &facts, Options::new(mode));
    assert_eq!(ask(Mode::Require).unwrap_err(), FuseError::Device);
    assert_eq!(ask(Mode::Enable).unwrap().steps.len(), 3);
}

/// FUSE-03: dependencies may point at later nodes, but not in a circle.
#[test]
fn order_is_that_of_dependencies() {
    let mut chain = pair(FIVE, FIVE);
    chain.graph.nodes.swap(0, 1);
    (chain.graph.nodes[0].after, chain.graph.nodes[1].after) = (vec![1], vec![]);
    assert_eq!(steps(&chain.plan(Mode::Require).unwrap()), [[1, 0]]);
    chain.graph.nodes[1].after = vec![0];
    let error = chain.plan(Mode::Enable).unwrap_err();
    assert!(matches!(error, FuseError::Order { .. }), "{error}");
}

/// Interleaved chains of different ranges are two groups.
#[test]
fn interleaved_chains_are_groups_of_their_own() {
    let mut chain = Chain::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| chain.memory(name, 64));
    let [x, y, z] = ["x", "y", "z"].map(|name| chain.memory(name, 64));
    for (from, to, other, next) in [(a, b, x, y), (b, c, y, z)] {
        chain.call("one", FIVE, 64, &[from, to]);
        let two = chain.call("two", FIVE, 32, &[other, next]);
        chain.at(two).geometry.offset[0] = 1;
    }
    assert_eq!(steps(&chain.plan(Mode::Enable).unwrap()), [[0, 2], [1, 3]]);
}

/// What a device cannot hold.
#[test]
fn limits_of_the_device_are_reasons() {
    let chain = pair(FIVE, UPDATE);
    let ask = |facts| {
        let error = plan(&chain.graph, &facts, Options::new(Mode::Require)).unwrap_err();
        let FuseError::Kernels { reason, .. } = error else { panic!("{error}") };
        *reason
    };
    let views = ask(Facts { views: 2, ..Facts::GPU });
    assert_eq!(views, Reason::Shortage(Shortage::Views { needed: 3, available: 2 }));
    let long = ask(Facts { statements: 9, ..Facts::GPU });
    assert_eq!(long, Reason::Shortage(Shortage::Statements { needed: 10, most: 9 }));
}

/// FUSE-14: in a large graph a kernel is compared with few others.
#[test]
fn kernel_of_a_large_graph_is_compared_with_few_others() {
    let mut chain = Chain::new();
    let all: Vec<_> = (0..301).map(|at| chain.memory(&format!("m{at}"), 512)).collect();
    for at in 0..300 {
        let text = if at % 2 == 0 { FIVE } else { NEXT };
        chain.call("k", text, 512, &[all[at], all[at + 1]]);
    }
    let plan = chain.plan(Mode::Enable).unwrap();
    // A neighbour's read follows its producer in another launch, with what comes next.
    assert_eq!(plan.fused().count(), 149);
    assert!(plan.unfused.len() < 300 * 10, "{}", plan.unfused.len());
}

/// A matrix in one dimension: each item has an element, if rows are as wide as they are launched.
#[test]
fn element_of_a_row_is_the_item_s_where_rows_do_not_overlap() {
    let rows = |width: u64, columns: u64| {
        let text = format!(
            r#"kernel "rows" items 2 tile 1
param p0 = "x" view f32 1 in item
param p1 = "z" view f32 1 inout anyone
body {{
  %0 u64 = query position 0 0
  %1 u64 = query position 1 0
  %2 u64 = const u64 {width}
  %3 u64 = mul %0, %2
  %4 u64 = add %3, %1
  %5 f32 = load p0[%4]
  store p1[%4] = %5
}}"#
        );
        let mut chain = Chain::new();
        let [x, out] = ["x", "out"].map(|name| chain.memory(name, 64));
        let tmp = chain.temporary("tmp", 64);
        let over = Geometry::over([8, columns, 1]);
        chain.launch("one", read(&text), over, &[x, tmp]);
        chain.launch("two", read(&text), over, &[tmp, out]);
        (chain.plan(Mode::Require), tmp)
    };
    let (plan, tmp) = rows(8, 8);
    assert_eq!(outcome(&plan.unwrap(), tmp).fate, Fate::Register);
    let error = rows(7, 8).0.unwrap_err().to_string();
    assert!(error.contains("at elements that differ between them"), "{error}");
}
