//! Graphs of the shapes that steps of programs have: which node uses what. Each node is a kernel of
//! one item, so what is measured is what the graph costs. On the CPU backend with one domain.

use crate::submit::runtime;
use folio::prelude::*;
use folio_core::{
    Graph, Result,
    graph::{Replay, ReplayReport},
};
use std::time::{Duration, Instant};

#[kernel]
fn alone(i: Item, y: InOut<f32>) {
    y[i] = 0.5 * y[i] + 1.0;
}

#[kernel]
fn behind(i: Item, x: In<f32>, y: InOut<f32>) {
    y[i] = 0.5 * y[i] + x[i];
}

#[kernel]
fn joins(i: Item, a: In<f32>, b: In<f32>, y: InOut<f32>) {
    y[i] = 0.5 * y[i] + a[i] * b[i];
}

/// Elements of each buffer, of which nodes use parts.
const LEN: usize = 64;

/// A part of a buffer, which is known by its name: where it begins, and how long it is.
type Part = (&'static str, usize, usize);

/// A node's inputs, and the buffers that it changes.
type Node = (Vec<Part>, Part);

fn all(name: &'static str) -> Part {
    (name, 0, LEN)
}

fn node(reads: &[&'static str], writes: &'static str) -> Node {
    (reads.iter().map(|name| all(name)).collect(), all(writes))
}

/// 26 nodes: neighbours, six kinds of forces side by side, of which one is by way of a grid, their
/// sum, and the motion.
pub fn molecular_dynamics() -> Vec<Node> {
    [
        (&[][..], "x"),
        (&["x"], "cells"),
        (&["x", "cells"], "list"),
        (&[], "f"),
        (&["x"], "bonds"),
        (&["x"], "angles"),
        (&["x"], "dihedrals"),
        (&["x"], "impropers"),
        (&["x", "list"], "near"),
        (&["x", "list"], "border"),
        (&["x"], "halo"),
        (&["x"], "grid"),
        (&[], "grid"),
        (&[], "grid"),
        (&[], "grid"),
        (&["x", "grid"], "far"),
        (&["bonds", "angles"], "f"),
        (&["dihedrals", "impropers"], "f"),
        (&["near", "border"], "f"),
        (&["far", "halo"], "f"),
        (&["f"], "v"),
        (&["v"], "x"),
        (&["v"], "x"),
        (&["v"], "kinetic"),
        (&["f", "x"], "virial"),
        (&["kinetic"], "v"),
    ]
    .map(|(reads, writes)| node(reads, writes))
    .into()
}

/// 100 nodes: three stages, each with an exchange with eight neighbours, fluxes inside and at six
/// borders, and their sum; and what decides on the length of the next step.
pub fn mesh() -> Vec<Node> {
    let mut nodes = vec![node(&["q"], "old")];
    for _ in 0..3 {
        for at in 0..8 {
            let part = |name| (name, 8 * at, 8);
            nodes.push((vec![part("q")], part("sent")));
            nodes.push((vec![part("sent")], part("halo")));
        }
        nodes.extend(["fx", "fy", "fz"].map(|flux| node(&["q"], flux)));
        nodes.extend((0..6).map(|at| (vec![("halo", 8 * at, 8)], ("borders", 8 * at, 8))));
        nodes.push(node(&["fx", "fy"], "rest"));
        nodes.push(node(&["fz", "borders"], "rest"));
        nodes.push(node(&[], "rest"));
        nodes.push(node(&["rest", "old"], "q"));
    }
    nodes.extend((0..8).map(|at| (vec![("q", 8 * at, 8)], ("speeds", at, 1))));
    nodes.push(node(&["speeds"], "dt"));
    nodes.extend(["mass", "energy", "momentum"].map(|sum| node(&["q"], sum)));
    nodes
}

/// 929 nodes: 29 layers of 32, each with eight heads side by side over one residual, and the last
/// norm.
pub fn transformer() -> Vec<Node> {
    let mut nodes = Vec::new();
    for _ in 0..29 {
        nodes.push(node(&["residual"], "norm"));
        nodes.extend(["queries", "keys", "values"].map(|to| node(&["norm"], to)));
        for head in 0..8 {
            let part = |name| (name, 8 * head, 8);
            nodes.push((vec![part("queries"), part("keys")], part("scores")));
            nodes.push((vec![], part("scores")));
            nodes.push((vec![part("scores"), part("values")], part("heads")));
        }
        nodes.push(node(&["heads"], "joined"));
        nodes.push(node(&["joined"], "residual"));
        nodes.push(node(&["residual"], "wide"));
        nodes.push(node(&["wide"], "residual"));
    }
    nodes.push(node(&["residual"], "norm"));
    nodes
}

/// The cost of a graph, from the first to the last.
#[derive(Debug)]
pub struct Costs {
    /// Adding its nodes.
    pub build: Duration,
    /// Finalizing it.
    pub finalize: Duration,
    /// The first run, which has the device make its graphs, and each of those after that.
    pub first: Duration,
    /// See [`first`](Self::first).
    pub later: Duration,
    /// The same commands by themselves.
    pub by_command: Duration,
}

fn add(graph: &Graph, (reads, writes): &Node, buffer: &dyn Fn(&str) -> Shared<f32>) -> Result<()> {
    let (to, from) = (buffer(writes.0), |nth: usize| buffer(reads[nth].0));
    let part = |nth: usize| (reads[nth].1, reads[nth].2);
    graph.add(|cg| {
        let y = to.slice_mut([writes.1], [writes.2])?;
        match reads.len() {
            0 => cg.run(1, alone(y)),
            1 => {
                let (x, (at, n)) = (from(0), part(0));
                cg.run(1, behind(x.slice([at], [n])?, y));
            }
            _ => {
                let ([a, b], [p, r]) = ([0, 1].map(from), [0, 1].map(part));
                cg.run(1, joins(a.slice([p.0], [p.1])?, b.slice([r.0], [r.1])?, y));
            }
        }
        Ok(())
    })?;
    Ok(())
}

/// The cost of a graph of these nodes, the least of so many times, and what its runs were in the
/// end.
pub fn costs(nodes: &[Node], times: usize) -> Result<(Costs, ReplayReport)> {
    let rt = runtime()?;
    let (q, mut buffers) = (rt.queue_on("cpu:0")?, std::collections::HashMap::new());
    for name in nodes.iter().flat_map(|(reads, to)| reads.iter().chain([to])).map(|part| part.0) {
        buffers.insert(name, rt.buffer_from(&[1.0f32; LEN])?.into_shared());
    }
    let timed = |run: &dyn Fn() -> Result<()>| {
        let started = Instant::now();
        run().map(|()| started.elapsed())
    };
    let (mut best, mut report) = ([Duration::MAX; 5], ReplayReport::default());
    for _ in 0..times {
        let graph = rt.graph("cpu:0")?;
        let buffer = |name: &str| buffers[name].clone();
        let build = timed(&|| nodes.iter().try_for_each(|node| add(&graph, node, &buffer)))?;
        let started = Instant::now();
        let made = graph.finalize()?;
        let finalize = started.elapsed();
        let run = || q.run_graph(&made)?.wait();
        let first = timed(&run)?;
        let least = || -> Result<Duration> {
            let all = (0..20).map(|_| timed(&run)).collect::<Result<Vec<_>>>()?;
            Ok(all.into_iter().min().unwrap_or_default())
        };
        let later = least()?;
        report = made.replay_report();
        made.replay_as(Replay::Commands);
        let own = [build, finalize, first, later, least()?];
        best = std::array::from_fn(|at| best[at].min(own[at]));
    }
    let [build, finalize, first, later, by_command] = best;
    Ok((Costs { build, finalize, first, later, by_command }, report))
}
