//! What is told of a graph's fusion, and the graph with it as a picture.

use super::Ready;
use crate::error::Label;
use crate::graph::conflicts::Conflicts;
use crate::graph::picture::Quoted;
use crate::graph::steps::Steps;
use folio_kernel::fuse::{Explanation, FusedKernel, Graph, PairReport};

/// One report of two.
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
    report.unfused.push(PairReport { first: String::new(), second: String::new(), why, balance: None });
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

impl Ready {
    /// The commands as they were described, with a box around each fused kernel.
    pub(in crate::graph) fn dot(&self, label: &Label, steps: &Steps) -> String {
        use std::fmt::Write;
        let mut out = String::new();
        // Writing to a string does not fail.
        let _ = writeln!(out, "digraph {} {{\n  node [shape=box];", Quoted(label.as_str()));
        for (at, (members, step)) in self.members.iter().zip(&self.steps.all).enumerate() {
            let is_fused = members.len() > 1;
            if is_fused {
                let name = format!("fused `{}`", step.template.label.as_str());
                let _ = writeln!(out, "  subgraph cluster_{at} {{\n  label={};", Quoted(&name));
            }
            for member in members {
                let Some(step) = steps.all.get(*member) else { continue };
                let mut text = format!("{member}: {}", step.template.kind);
                if !step.template.label.as_str().is_empty() {
                    let _ = write!(text, " `{}`", step.template.label.as_str());
                }
                let _ = writeln!(out, "  n{member} [label={}];", Quoted(&text));
            }
            if is_fused {
                out.push_str("  }\n");
            }
        }
        let mut conflicts = Conflicts::default();
        for (at, (step, asked)) in steps.all.iter().zip(&steps.order.after).enumerate() {
            let mut known: Vec<u32> = asked.iter().map(|(from, _)| *from).collect();
            for from in &known {
                let _ = writeln!(out, "  n{from} -> n{at};");
            }
            conflicts.add(at as u32, &step.template.command.accesses, &mut |from, _| {
                if !known.contains(&from) {
                    known.push(from);
                    let _ = writeln!(out, "  n{from} -> n{at} [style=dashed];");
                }
            });
        }
        out.push_str("}\n");
        out
    }
}
