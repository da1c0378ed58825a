//! Kernels within others: producers where their elements are loaded, consumers where they are
//! stored.

use super::graph::{ADD, Chain, FIVE, GATHER, NEXT};
use folio_kernel::ParamId;
use folio_kernel::fuse::{Fate, Mode, OtherWork, Plan};

/// `z[i] = x[2 * i] + x[2 * i + 1]`
pub const PAIRS: &str = r#"kernel "pairs" items 1 tile 1
param p0 = "x" view f32 1 in item
param p1 = "z" view f32 1 out item
body {
  %0 u64 = query position 0 0
  %1 u64 = add %0, %0
  %2 f32 = load p0[%1]
  %3 u64 = const u64 1
  %4 u64 = add %1, %3
  %5 f32 = load p0[%4]
  %6 f32 = add %2, %5
  store p1[%0] = %6
}
"#;

/// `z[n - 1 - i] = x[i]`
pub const REVERSE: &str = r#"kernel "reverse" items 1 tile 1
param p0 = "x" view f32 1 in item
param p1 = "z" view f32 1 out anyone
body {
  %0 u64 = query position 0 0
  %1 f32 = load p0[%0]
  %2 u64 = extent p1 0
  %3 u64 = const u64 1
  %4 u64 = sub %2, %3
  %5 u64 = sub %4, %0
  store p1[%5] = %1
}
"#;

/// Launches that a plan leaves.
fn launches(plan: &Plan, chain: &Chain) -> usize {
    plan.explain(&chain.graph).launches_left
}

/// All kernels cannot fail.
pub fn infallible(mut chain: Chain) -> Chain {
    for at in 0..chain.graph.nodes.len() {
        if chain.graph.nodes[at].call().is_some() {
            chain.at(at).infallible = true;
        }
    }
    chain
}

/// A map, and sums of pairs of what it gives.
pub fn producer() -> Chain {
    let mut chain = Chain::new();
    let (x, tmp, out) =
        (chain.memory("x", 512), chain.temporary("tmp", 512), chain.memory("z", 256));
    chain.call("five", FIVE, 512, &[x, tmp]);
    chain.call("pairs", PAIRS, 256, &[tmp, out]);
    infallible(chain)
}

/// A kernel that stores elements in another order, and a map of these.
pub fn consumer() -> Chain {
    let mut chain = Chain::new();
    let (x, tmp, out) =
        (chain.memory("x", 512), chain.temporary("tmp", 512), chain.memory("z", 512));
    let reverse = chain.call("reverse", REVERSE, 512, &[x, tmp]);
    chain.call("five", FIVE, 512, &[tmp, out]);
    chain.at(reverse).covers = vec![ParamId(1)];
    infallible(chain)
}

/// The launches that a plan leaves of a graph, after a change.
fn left(mut chain: Chain, change: impl FnOnce(&mut Chain)) -> usize {
    change(&mut chain);
    let plan = chain.plan(Mode::Enable).unwrap();
    launches(&plan, &chain)
}

#[test]
fn producer_and_reader_of_other_ranges_are_one_launch() {
    let chain = producer();
    let plan = chain.plan(Mode::Require).unwrap();
    let fused = plan.fused().next().unwrap();
    assert_eq!((&fused.nodes[..], &fused.inlined[..]), (&[0, 1][..], &[0][..]));
    assert_eq!(fused.parameters.len(), 2, "the temporary is none");
    assert_eq!(fused.outcomes[0].fate, Fate::Register);
    assert!(plan.unfused.is_empty(), "{:?}", plan.unfused);
}

#[test]
fn producer_stays_where_its_element_is_seen_or_it_may_fail() {
    assert_eq!(left(producer(), |_| {}), 1);
    assert_eq!(left(producer(), |chain| chain.at(0).infallible = false), 2);
    assert_eq!(left(producer(), |chain| chain.graph.memories[1].temporary = false), 2);
    let copied = |chain: &mut Chain| {
        let other = chain.memory("other", 512);
        chain.other(OtherWork::Copy, &[folio_kernel::fuse::MemoryId(1), other]);
    };
    assert_eq!(left(producer(), copied), 2);
}

#[test]
fn producer_stays_where_what_it_reads_changes_before_its_reader() {
    let between = |what: OtherWork| {
        let mut chain = Chain::new();
        let (x, tmp) = (chain.memory("x", 512), chain.temporary("tmp", 512));
        let out = chain.memory("z", 256);
        chain.call("five", FIVE, 512, &[x, tmp]);
        chain.other(what, &[x]);
        chain.call("pairs", PAIRS, 256, &[tmp, out]);
        left(infallible(chain), |_| {})
    };
    assert_eq!(between(OtherWork::Fill), 2);
    // The reader itself overwrites it.
    let mut chain = Chain::new();
    let (x, tmp) = (chain.memory("x", 512), chain.temporary("tmp", 512));
    chain.call("five", FIVE, 512, &[x, tmp]);
    chain.call("pairs", PAIRS, 256, &[tmp, x]);
    assert_eq!(left(infallible(chain), |_| {}), 2);
}

#[test]
fn each_element_is_computed_once_by_a_reader() {
    // Each element is loaded by two items.
    let mut chain = Chain::new();
    let (x, tmp, out) =
        (chain.memory("x", 512), chain.temporary("tmp", 512), chain.memory("z", 511));
    let ends = ADD.replace("load p1[%0]", "load p1[%4]");
    let ends = ends.replace("  %1 f32", "  %5 u64 = const u64 1\n  %4 u64 = add %0, %5\n  %1 f32");
    chain.call("five", FIVE, 512, &[x, tmp]);
    chain.call("ends", &ends, 511, &[tmp, tmp, out]);
    assert_eq!(left(infallible(chain), |_| {}), 2);
    // Each is loaded by its neighbour only.
    let mut chain = Chain::new();
    let (x, tmp, out) =
        (chain.memory("x", 512), chain.temporary("tmp", 512), chain.memory("z", 511));
    chain.call("five", FIVE, 512, &[x, tmp]);
    chain.call("next", NEXT, 511, &[tmp, out]);
    assert_eq!(left(infallible(chain), |_| {}), 1);
}

#[test]
fn producer_is_computed_in_each_of_its_readers() {
    let mut chain = Chain::new();
    let (x, at, tmp) =
        (chain.memory("x", 512), chain.memory("at", 100), chain.temporary("tmp", 512));
    let (sums, some) = (chain.memory("sums", 256), chain.memory("some", 100));
    chain.call("five", FIVE, 512, &[x, tmp]);
    chain.call("pairs", PAIRS, 256, &[tmp, sums]);
    chain.call("gather", GATHER, 100, &[at, tmp, some]);
    let chain = infallible(chain);
    let plan = chain.plan(Mode::Enable).unwrap();
    assert!(plan.fused().all(|fused| fused.nodes.contains(&0)), "{}", plan.explain(&chain.graph));
    assert!(plan.steps.iter().all(|step| matches!(step, folio_kernel::fuse::PlanNode::Fused(_))));
}

#[test]
fn consumer_is_computed_where_all_elements_are_stored() {
    let chain = consumer();
    let plan = chain.plan(Mode::Require).unwrap();
    let fused = plan.fused().next().unwrap();
    assert_eq!((&fused.nodes[..], &fused.inlined[..]), (&[0, 1][..], &[1][..]));
    assert_eq!(fused.outcomes[0].fate, Fate::Register);
    assert_eq!(left(consumer(), |chain| chain.at(0).covers.clear()), 2);
    assert_eq!(left(consumer(), |chain| chain.at(1).infallible = false), 2);
    assert_eq!(left(consumer(), |chain| chain.graph.memories[1].temporary = false), 2);
}

#[test]
fn consumer_stays_where_others_see_that_it_comes_early() {
    // The consumer overwrites elements that items of the writer have not read.
    let in_place = |chain: &mut Chain| {
        let of_reverse = chain.at(0).arguments[0].clone();
        chain.at(1).arguments[1] = of_reverse;
    };
    assert_eq!(left(consumer(), in_place), 2);
    let mut chain = Chain::new();
    let (x, tmp, out) =
        (chain.memory("x", 512), chain.temporary("tmp", 512), chain.memory("z", 512));
    let reverse = chain.call("reverse", REVERSE, 512, &[x, tmp]);
    chain.other(OtherWork::Fill, &[out]);
    chain.call("add", ADD, 512, &[tmp, out, x]);
    chain.at(reverse).covers = vec![ParamId(1)];
    assert_eq!(left(infallible(chain), |_| {}), 2);
}
