//! Fusion as a pure function: legality and its reasons, properties, what the code becomes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

mod common;

#[path = "fuse/graph.rs"]
mod graph;

use common::read;
use folio_kernel::fuse::*;
use graph::*;

#[test]
fn show() {
    let mut g = Chain::new();
    let [a, b, c, out] = ["a", "b", "c", "out"].map(|name| g.memory(name, 512));
    let [t1, t2, t3] = ["t1", "t2", "t3"].map(|name| g.temporary(name, 512));
    g.call("add", ADD, 512, &[a, b, t1]);
    g.call("mul", MUL, 512, &[t1, c, t2]);
    g.call("five", FIVE, 512, &[t1, t3]);
    g.call("add", ADD, 512, &[t2, t3, out]);
    let plan = g.plan(Mode::Require).unwrap();
    println!("{}", plan.explain(&g.graph));
    for f in plan.fused() {
        println!("{}\n{:?}", f.kernel, f.parameters);
    }
    println!("{}", plan.explain(&g.graph).json());
}
