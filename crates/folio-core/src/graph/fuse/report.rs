//! Reports of a graph's fusion, and the graph with it as a picture.

use super::{Draft, Ready};
use crate::error::Label;
use crate::graph::NodeKind;
use crate::graph::picture::{Drawn, Quoted, json};
use crate::graph::steps::Steps;
use folio_kernel::fuse::{
    Explanation, FusedKernel, Graph, PairReport, Plan, PlanNode, Refusal, Work,
};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Adds a report to another one.
pub(super) fn add(report: &mut Explanation, more: Explanation) {
    report.launches += more.launches;
    report.launches_left += more.launches_left;
    report.bytes_saved = report.bytes_saved.saturating_add(more.bytes_saved);
    report.clusters.extend(more.clusters);
    report.unfused.extend(more.unfused);
    report.refuted.extend(more.refuted);
}

/// Nothing was fused, for this reason.
pub(super) fn add_reason(report: &mut Explanation, device: &str, why: &str) {
    let why = format!("device {device}: {why}");
    report.unfused.push(PairReport {
        first: String::new(),
        second: String::new(),
        why,
        balance: None,
    });
}

/// A fused kernel could not be made, so that its kernels are launches of their own.
pub(super) fn not_made(report: &mut Explanation, fused: &FusedKernel, graph: &Graph, why: &str) {
    let labels = || fused.nodes.iter().filter_map(|at| graph.nodes.get(*at)).map(|n| &n.label);
    let key = fused.key().to_string();
    if let Some(at) = report.clusters.iter().position(|cluster| cluster.key == key) {
        let cluster = report.clusters.remove(at);
        let saved = cluster.memories.iter().map(|memory| memory.bytes_saved);
        report.bytes_saved = saved.fold(report.bytes_saved, u64::saturating_sub);
    }
    report.launches_left += fused.nodes.len().saturating_sub(1);
    report.unfused.push(PairReport {
        first: labels().next().cloned().unwrap_or_default(),
        second: labels().next_back().cloned().unwrap_or_default(),
        why: why.to_owned(),
        balance: None,
    });
}

/// The lines of traces about the command of a plan's step (OBS-02).
pub(super) struct FusionLines<'t> {
    pub(super) plan: &'t Plan,
    pub(super) graph: &'t Graph,
    pub(super) draft: &'t Draft<'t>,
    /// By node: the refusals that name it.
    pub(super) refusals: HashMap<usize, Vec<usize>>,
    pub(super) part: u32,
    /// The device fuses.
    pub(super) fuses: bool,
}

/// By node: the refusals of a plan that name it.
pub(super) fn by_node(plan: &Plan) -> HashMap<usize, Vec<usize>> {
    let mut all: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, refusal) in plan.unfused.iter().enumerate() {
        all.entry(refusal.first).or_default().push(at);
        all.entry(refusal.second).or_default().push(at);
    }
    all
}

impl FusionLines<'_> {
    /// Lines: the fused kernel, and each kernel that is apart from it, with the reason. None for
    /// what is no kernel of this part.
    pub(super) fn of(&self, step: &PlanNode) -> Option<Arc<str>> {
        let (nodes, mut lines) = match step {
            PlanNode::Node(at) => {
                let known = self.draft.step(*at).filter(|step| step.part == self.part)?;
                (known.template.kind == NodeKind::Kernel).then_some(())?;
                (std::slice::from_ref(at), vec![])
            }
            PlanNode::Fused(fused) => {
                let text = fused.explain(self.graph).to_string();
                (&fused.nodes[..], text.lines().map(|line| line.trim().to_owned()).collect())
            }
        };
        let named = nodes.iter().filter_map(|node| self.refusals.get(node)).flatten().copied();
        let named: BTreeSet<usize> = named.collect();
        for Refusal { first, second, reason } in
            named.into_iter().filter_map(|at| self.plan.unfused.get(at))
        {
            let other = match (nodes.contains(first), nodes.contains(second)) {
                (true, false) => second,
                (false, true) => first,
                _ => continue,
            };
            let other = self.graph.nodes.get(*other).map_or("", |node| &node.label);
            lines.push(format!("not fused with `{other}`: {reason}"));
        }
        if lines.is_empty() {
            let why = match &self.graph.nodes.get(*nodes.first()?)?.work {
                Work::Other(what, _) => format!("it is {what}"),
                Work::Kernel(_) if !self.fuses => "the device does not fuse kernels".to_owned(),
                Work::Kernel(_) => "no kernel of the graph can share a launch with it".to_owned(),
            };
            lines.push(format!("not fused: {why}"));
        }
        Some(lines.join("\n").into())
    }
}

/// Lines as one string of DOT.
fn lines<'t>(all: impl Iterator<Item = &'t str>) -> String {
    let quoted = all.map(|line| Quoted(line).to_string());
    let quoted: Vec<String> = quoted.map(|line| line[1..line.len() - 1].to_owned()).collect();
    format!("\"{}\"", quoted.join("\\n"))
}

impl Ready {
    /// The commands as they were described, with a box around each fused kernel, which says what
    /// became of its temporaries, and a note of what was not fused.
    pub(in crate::graph) fn dot(&self, label: &Label, steps: &Steps) -> String {
        use std::fmt::Write;
        let mut out = String::new();
        let nodes: Vec<Drawn<'_>> = Drawn::of_steps(steps).collect();
        // Writing to a string does not fail.
        // A kernel that several compute is drawn in the first of these.
        let mut drawn = HashSet::new();
        let _ = writeln!(out, "digraph {} {{\n  node [shape=box];", Quoted(label.as_str()));
        for (at, (members, step)) in self.members.iter().zip(&self.steps.all).enumerate() {
            let is_fused = members.len() > 1;
            if is_fused {
                let name = format!("fused `{}`", step.template.label.as_str());
                let told = self.fusion.get(at).and_then(Option::as_deref).unwrap_or_default();
                // Of what is told of it, the lines that begin with the name of a memory.
                let fates = told.lines().filter(|line| line.starts_with('`'));
                let text = lines(std::iter::once(&*name).chain(fates));
                let _ = writeln!(out, "  subgraph cluster_{at} {{\n  label={text};");
            }
            for member in members {
                let is_new = drawn.insert(*member);
                if let Some(node) = nodes.get(*member).filter(|_| is_new) {
                    let _ = node.dot(&mut out, &format!("n{member}"), Some(*member));
                }
            }
            if is_fused {
                out.push_str("  }\n");
            }
        }
        for (at, node) in nodes.iter().enumerate() {
            let _ = node.edges(&mut out, "", &format!("n{at}"));
        }
        let unfused = self.report.iter().flat_map(|report| &report.unfused);
        let unfused = unfused.map(|PairReport { first, second, why, .. }| {
            format!("not fused: `{first}` and `{second}`: {why}")
        });
        let unfused: Vec<String> = unfused.collect();
        if !unfused.is_empty() {
            let text = lines(unfused.iter().map(String::as_str));
            let _ = writeln!(out, "  unfused [shape=note, label={text}];");
        }
        out.push_str("}\n");
        out
    }

    /// The commands as they were described, each with the number of that which runs for it.
    pub(in crate::graph) fn json(&self, label: &Label, device: &str, steps: &Steps) -> String {
        let mut of = vec![None; steps.all.len()];
        for (at, members) in self.members.iter().enumerate() {
            members.iter().for_each(|member| of[*member] = Some(at));
        }
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = json(label, device, Drawn::of_steps(steps).zip(of), &mut out);
        out
    }
}
