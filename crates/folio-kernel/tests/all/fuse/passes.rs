//! What the code becomes.

use super::graph::{ADD, Chain, FIVE, MUL, SCALED, SUM, UPDATE};
use super::scopes::outcome;
use crate::common::read;
use folio_kernel::fuse::registers;
use folio_kernel::fuse::{
    AccessScope, Argument, Fate, FusedKernel, Mode, Obstacle, Options, OtherWork, Plan, PlanNode,
    Source, Wishes,
};
use folio_kernel::tile::items_per_thread;
use folio_kernel::{Site, Violation, ViolationKind};

fn only(plan: &Plan) -> &FusedKernel {
    let mut all = plan.fused();
    let fused = all.next().unwrap();
    assert!(all.next().is_none() && plan.steps.len() == 1);
    fused
}

/// FUSE-12: the seed's first program without one property.
#[test]
fn temporaries_of_a_block_are_registers_without_properties() {
    let mut chain = Chain::new();
    let [a, b, c, out] = ["in1", "in2", "in3", "out"].map(|name| chain.memory(name, 512));
    let [t1, t2, t3] = ["tmp1", "tmp2", "tmp3"].map(|name| chain.temporary(name, 512));
    chain.call("add", ADD, 512, &[a, b, t1]);
    chain.call("mul", MUL, 512, &[t1, c, t2]);
    chain.call("five", FIVE, 512, &[t1, t3]);
    chain.call("add", ADD, 512, &[t2, t3, out]);
    let plan = chain.plan(Mode::Require).unwrap();
    for temporary in [t1, t2, t3] {
        assert_eq!(outcome(&plan, temporary).fate, Fate::Register);
    }
    let sources: Vec<_> = only(&plan).parameters.iter().map(|param| param.source).collect();
    let argument = |node, param| Source::Argument { node, param: folio_kernel::ParamId(param) };
    assert_eq!(sources, [argument(0, 0), argument(0, 1), argument(1, 1), argument(3, 2)]);
    // A device computes as many items for each thread as with one of the kernels.
    assert_eq!(items_per_thread(&only(&plan).kernel), Some(4));
    let report = plan.explain(&chain.graph);
    assert_eq!((report.launches, report.launches_left), (4, 1));
    // Three writes and four reads of 512 floats.
    assert_eq!(report.bytes_saved, 7 * 512 * 4);
    assert!(report.to_string().contains("`tmp1`: register, 6144 bytes saved"), "{report}");
    assert!(report.json().contains(r#"{"memory":"tmp1","fate":"register","why":null"#));
}

/// FUSE-06: the seed's second program: copies around the kernels, a pointer of work-group scope.
#[test]
fn annotated_pointer_is_internal_and_copies_run_before_and_after() {
    let mut chain = Chain::new();
    let host = ["host1", "host2", "host3", "result"].map(|name| chain.memory(name, 512));
    let [a, b, c, out] = ["in1", "in2", "in3", "out"].map(|name| chain.memory(name, 512));
    let tmp = chain.memory("tmp", 512);
    let scope = Some(AccessScope::Group);
    let pointer = Wishes { scope, internal: true, no_init: true, ..Wishes::default() };
    chain.other(OtherWork::Copy, &[host[0], a]);
    chain.other(OtherWork::Copy, &[host[1], b]);
    let one = chain.call("one", ADD, 512, &[a, b, tmp]);
    chain.other(OtherWork::Copy, &[host[2], c]);
    let two = chain.call("two", MUL, 512, &[tmp, c, out]);
    chain.other(OtherWork::Copy, &[out, host[3]]);
    chain.wish_access(one, 2, pointer);
    chain.wish_access(two, 0, pointer);
    for node in [one, two] {
        chain.at(node).geometry.group = Some([64, 1, 1]);
    }
    let plan = chain.plan(Mode::Require).unwrap();
    let kinds = plan.steps.iter().map(|step| matches!(step, PlanNode::Fused(_)));
    assert_eq!(kinds.collect::<Vec<_>>(), [false, false, false, true, false]);
    // Each element is one item's, so it is in a register.
    assert_eq!(outcome(&plan, tmp).fate, Fate::Register);
    assert_eq!(plan.fused().next().unwrap().geometry.group, Some([64, 1, 1]));
}

/// FUSE-13: a dot product in one launch.
#[test]
fn map_and_reduction_are_one_launch() {
    let mut chain = Chain::new();
    let [x, y] = ["x", "y"].map(|name| chain.memory(name, 1 << 20));
    let (tmp, total) = (chain.temporary("tmp", 1 << 20), chain.memory("total", 1));
    chain.call("mul", MUL, 1 << 20, &[x, y, tmp]);
    chain.call("sum", SUM, 1 << 20, &[tmp, total]);
    let plan = chain.plan(Mode::Enable).unwrap();
    assert_eq!(outcome(&plan, tmp).fate, Fate::Register);
    assert_eq!(only(&plan).parameters.len(), 3);
}

/// The rows of a matrix, each by one item: the greatest of each row is in a register, the row
/// itself is not.
#[test]
fn rows_share_a_launch() {
    let greatest = r#"kernel "greatest" items 1 tile 1
param p0 = "x" view f32 2 in item
param p1 = "most" view f32 1 out item
var v0 = "most" f32
body {
  %0 u64 = query position 0 0
  %1 u64 = const u64 0
  %2 u64 = extent p0 1
  for l0 %3 in %1, %2 {
    %4 f32 = load p0[%0, %3]
    %5 f32 = load v0
    %6 f32 = max %4, %5
    store v0 = %6
  }
  %7 f32 = load v0
  store p1[%0] = %7
}"#;
    let scaled = r#"kernel "scaled" items 1 tile 1
param p0 = "most" view f32 1 in item
param p1 = "x" view f32 2 inout row
body {
  %0 u64 = query position 0 0
  %1 f32 = load p0[%0]
  %2 u64 = const u64 0
  %3 u64 = extent p1 1
  for l0 %4 in %2, %3 {
    %5 f32 = load p1[%0, %4]
    %6 f32 = div %5, %1
    store p1[%0, %4] = %6
  }
}"#;
    let mut chain = Chain::new();
    let (x, most) = (chain.memory("x", 64), chain.temporary("most", 64));
    chain.call("greatest", greatest, 64, &[x, most]);
    chain.call("scaled", scaled, 64, &[most, x]);
    for (node, view) in [(0, 0), (1, 1)] {
        let Argument::View { region, .. } = &mut chain.at(node).arguments[view] else { continue };
        (region.shape, region.extent) = ([64, 32, 1], [64, 32, 1]);
    }
    let plan = chain.plan(Mode::Require).unwrap();
    assert_eq!(outcome(&plan, most).fate, Fate::Register);
    assert_eq!(outcome(&plan, x).kept, Some(Obstacle::NotShown));
    assert_eq!(only(&plan).parameters.len(), 1);
}

/// FUSE-07: a store that a later kernel overwrites is gone.
#[test]
fn overwritten_stores_are_gone() {
    let mut chain = Chain::new();
    let [x, y] = ["x", "y"].map(|name| chain.memory(name, 64));
    chain.call("five", FIVE, 64, &[x, y]);
    chain.call("update", UPDATE, 64, &[x, y]);
    let plan = chain.plan(Mode::Require).unwrap();
    assert_eq!(outcome(&plan, y).fate, Fate::Forwarded { loads: 1, stores: 1 });
    let fused = only(&plan);
    let text = fused.kernel.to_string();
    assert_eq!(text.matches("store").count(), 1, "{text}");
    // What was there before does not matter: the parameter is `Out`.
    assert!(text.contains("view f32 1 out item") && fused.parameters[1].discards, "{text}");
    assert_eq!(text.matches("load").count(), 1, "what both read is loaded once: {text}");
}

/// FUSE-06: without `no_init`, the first load is of what was there before.
#[test]
fn earlier_contents_are_loaded_where_they_are_seen() {
    let mut chain = Chain::new();
    let [x, y, z] = ["x", "y", "z"].map(|name| chain.memory(name, 64));
    let wishes =
        |no_init| folio_kernel::fuse::Wishes { internal: true, no_init, ..Default::default() };
    chain.call("update", UPDATE, 64, &[x, y]);
    chain.call("five", FIVE, 64, &[y, z]);
    let text = |chain: &Chain| only(&chain.plan(Mode::Require).unwrap()).kernel.to_string();
    chain.wish(y, wishes(false));
    let loaded = text(&chain);
    assert!(loaded.contains("\"0.z\" view"), "{loaded}");
    assert!(!loaded.contains("store p1"), "{loaded}");
    chain.wish(y, wishes(true));
    assert!(!text(&chain).contains("\"0.z\" view"));
}

fn scaled() -> Chain {
    let mut chain = Chain::new();
    let [x, out] = ["x", "out"].map(|name| chain.memory(name, 64));
    let tmp = chain.temporary("tmp", 64);
    chain.call("one", SCALED, 64, &[x, tmp]);
    chain.call("two", SCALED, 64, &[tmp, out]);
    chain
}

fn scalars(chain: &Chain, bake: bool) -> usize {
    let plan = chain.plan_with(Options { bake, ..Options::new(Mode::Require) }).unwrap();
    only(&plan).kernel.to_string().matches("scalar u64").count()
}

/// FUSE-07: equal scalars are passed once, if they are the same in every run.
#[test]
fn equal_scalars_are_one_parameter() {
    let mut chain = scaled();
    assert_eq!(scalars(&chain, false), 1);
    let two = Argument::Scalar { bytes: vec![4, 0, 0, 0, 0, 0, 0, 0], fixed: true };
    chain.at(1).arguments[0] = two;
    assert_eq!(scalars(&chain, false), 2);
    let two = Argument::Scalar { bytes: vec![3, 0, 0, 0, 0, 0, 0, 0], fixed: false };
    chain.at(1).arguments[0] = two;
    assert_eq!(scalars(&chain, false), 2);
}

/// Bounds of loops become constants where that is allowed, and nothing else does.
#[test]
fn fixed_bounds_of_loops_are_constants() {
    let mut chain = scaled();
    assert_eq!(scalars(&chain, true), 0);
    let Argument::Scalar { fixed, .. } = &mut chain.at(1).arguments[0] else { return };
    *fixed = false;
    assert_eq!(scalars(&chain, true), 1);
}

/// A kernel that asks for the extent of what is in registers gets it as a number.
#[test]
fn extent_of_an_internal_memory_is_a_number() {
    let last = r#"kernel "last" items 1 tile 1
param p0 = "x" view f32 1 in item
param p1 = "z" view u64 1 out item
body {
  %0 u64 = query position 0 0
  %1 u64 = extent p0 0
  %2 f32 = load p0[%0]
  %3 u64 = cast %2 u64
  %4 u64 = add %1, %3
  store p1[%0] = %4
}"#;
    let mut chain = Chain::new();
    let [x, out] = ["x", "out"].map(|name| chain.memory(name, 64));
    let tmp = chain.temporary("tmp", 70);
    chain.call("five", FIVE, 64, &[x, tmp]);
    chain.call("last", last, 64, &[tmp, out]);
    let plan = chain.plan(Mode::Require).unwrap();
    let fused = only(&plan);
    let is_extent = |source| matches!(source, Source::Extent { .. });
    let extent = fused.parameters.iter().find(|param| is_extent(param.source)).unwrap();
    assert_eq!(fused.number(&chain.graph, extent), Some(70));
}

/// What may be out of bounds stays in memory, where that is seen.
#[test]
fn temporary_that_is_too_small_stays_in_memory() {
    let mut chain = Chain::new();
    let [x, out] = ["x", "out"].map(|name| chain.memory(name, 64));
    let tmp = chain.temporary("tmp", 63);
    chain.call("five", FIVE, 64, &[x, tmp]);
    chain.call("five", FIVE, 64, &[tmp, out]);
    let plan = chain.plan(Mode::Require).unwrap();
    assert_eq!(outcome(&plan, tmp).kept, Some(Obstacle::Bounds));
}

/// FUSE-11: a violation names the original kernel, parameter and place.
#[test]
fn violation_names_the_original_kernel_parameter_and_place() {
    let at = |text: &str, line: u32| {
        let site = format!("site @0 = \"a:b.rs\" {line} 5\nbody");
        text.replace("body", &site).replace("load p0[%0]", "load p0[%0] @0")
    };
    let mut chain = Chain::new();
    let [x, y, z] = ["x", "y", "z"].map(|name| chain.memory(name, 64));
    chain.call("five", &at(FIVE, 7), 64, &[x, y]);
    chain.call("update", &at(UPDATE, 9), 64, &[x, z]);
    let plan = chain.plan(Mode::Require).unwrap();
    let fused = only(&plan);
    let site = |file: &str, line| Site { file: file.to_owned(), line, column: 5, message: None };
    for (node, kernel, line) in [(0, "five", 7), (1, "update", 9)] {
        let kind = |name: &str| ViolationKind::OutOfBounds {
            param: Some(name.to_owned()),
            index: vec![64],
            extent: vec![64],
        };
        // As a device reports it: `0.x` is the one parameter for what both kernels read.
        let told = fused.kernel.sites.iter().find(|site| site.line == line).unwrap().clone();
        let told = Violation { kernel: fused.kernel.name.clone(), kind: kind("0.x"), site: told };
        let wanted =
            Violation { kernel: kernel.to_owned(), kind: kind("x"), site: site("a:b.rs", line) };
        assert_eq!(fused.blame(&chain.graph, &told), Some((node, wanted)));
    }
    let other = Violation {
        kernel: "other".to_owned(),
        kind: ViolationKind::DivisionByZero,
        site: site("b.rs", 1),
    };
    assert_eq!(fused.blame(&chain.graph, &other), None);
}

/// FUSE-08: the code does not depend on ranges that guards take as arguments.
#[test]
fn key_does_not_depend_on_guarded_ranges() {
    let key = |range| {
        let mut chain = Chain::new();
        let [x, y, z] = ["x", "y", "z"].map(|name| chain.memory(name, 64));
        chain.call("five", FIVE, 64, &[x, y]);
        chain.call("five", FIVE, range, &[y, z]);
        only(&chain.plan(Mode::Require).unwrap()).key()
    };
    assert_eq!(key(10), key(20));
    assert_ne!(key(10), key(64));
}

/// FUSE-14: what is live at one point.
#[test]
fn registers_are_what_is_live_at_one_point() {
    // A position of 64 bits and two floats.
    assert_eq!(registers(&read(ADD)), 4);
    assert_eq!(registers(&read(FIVE)), 3);
    // A chain holds no more at once than its kernels.
    let mut chain = Chain::new();
    let mut all: Vec<_> = (0..9).map(|at| chain.temporary(&format!("m{at}"), 64)).collect();
    let ends = ["first", "last"].map(|name| chain.memory(name, 64));
    (all[0], all[8]) = (ends[0], ends[1]);
    for pair in all.windows(2) {
        chain.call("five", FIVE, 64, pair);
    }
    let plan = chain.plan(Mode::Require).unwrap();
    assert_eq!(registers(&only(&plan).kernel), 3);
    // A loop keeps its index, its end, what it adds to, and where it loads from.
    assert_eq!(registers(&read(SCALED)), 6);
}
