//! Pictures of graphs, as text: DOT for Graphviz, and JSON.

use super::replay::before;
use super::steps::Steps;
use super::template::Template;
use super::{Graph, GraphState, NodeKind, NodeState, What};
use crate::error::Label;
use folio_kernel::words::Plain;
use std::collections::BTreeSet;
use std::fmt::{self, Write};

impl Graph {
    /// The graph for Graphviz. Edges that were asked for are drawn as lines, those of data with
    /// dashes. Graphs that are nodes, and the bodies of conditions, are boxes of commands beside
    /// their node. The program `folio` makes a picture of the text: `folio draw`.
    ///
    /// ```
    /// # use folio_core::{Result, Runtime};
    /// fn example(rt: &Runtime) -> Result<()> {
    ///     let graph = rt.graph("cpu")?;
    ///     let mut x = rt.buffer::<i32, 1>(4)?;
    ///     graph.label("small").add(|cg| cg.label("clear").fill(&mut x, 0))?;
    ///     let dot = graph.dot();
    ///     assert!(dot.starts_with("digraph \"small\" {") && dot.contains("0: fill `clear`"));
    ///     Ok(())
    /// }
    /// ```
    pub fn dot(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = dot(&self.inner.state.lock(), &mut text);
        text
    }

    /// The graph as JSON: its name, its device, and a list of nodes, each with its number, kind,
    /// name, predecessors, and those of them that only data make. A graph that is a node, and a
    /// condition, have `bodies`, each with its name and a list of nodes like this one.
    pub fn json(&self) -> String {
        let device = self.inner.device_name();
        let mut text = String::new();
        let state = self.inner.state.lock();
        let nodes = state.nodes.iter().map(|node| (Drawn::of_node(node), None));
        // Writing to a string does not fail.
        let _ = json(&state.label, &device, nodes, &mut text);
        text
    }
}

/// A string of DOT or JSON.
pub(super) struct Quoted<'t>(pub(super) &'t str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = Plain(self.0).to_string();
        f.write_char('"')?;
        for c in plain.chars() {
            if matches!(c, '"' | '\\') {
                f.write_char('\\')?;
            }
            f.write_char(c)?;
        }
        f.write_char('"')
    }
}

/// A node, as pictures show it.
pub(super) struct Drawn<'s> {
    pub(super) kind: NodeKind,
    pub(super) label: &'s Label,
    /// The graphs that it is made of: what each is called, and its commands.
    pub(super) bodies: Vec<(String, &'s Steps)>,
    /// Where edges begin that lead to it, and whether they were asked for. Others are of data.
    pub(super) before: Vec<(u32, bool)>,
}

impl<'s> Drawn<'s> {
    fn of_node(node: &'s NodeState) -> Drawn<'s> {
        let bodies = match &node.what {
            What::One(template, _) => template.drawn_bodies(),
            What::Graph(sub) => vec![(String::new(), &*sub.steps)],
        };
        let before = node.before.iter().map(|edge| (edge.from, edge.asked.is_some())).collect();
        Drawn { kind: node.what.kind(), label: node.what.label(), bodies, before }
    }

    /// All commands of a list.
    pub(super) fn of_steps(steps: &'s Steps) -> impl Iterator<Item = Drawn<'s>> {
        let all = steps.all.iter().zip(&steps.order.after).zip(before(steps));
        all.map(|((step, asked), before)| {
            let Template { kind, label, .. } = &*step.template;
            let asked: BTreeSet<u32> = asked.iter().map(|(from, _)| *from).collect();
            let is_asked = |at: u32| asked.contains(&at);
            let before = before.into_iter().map(|(from, _)| (from, is_asked(from))).collect();
            Drawn { kind: *kind, label, bodies: step.template.drawn_bodies(), before }
        })
    }

    /// Its kind and its name, which is quoted where it is shown.
    fn text(&self) -> String {
        match self.label.as_str() {
            "" => self.kind.to_string(),
            label => format!("{} `{label}`", self.kind),
        }
    }

    /// The node, and what it is made of in a box with it.
    pub(super) fn dot(&self, out: &mut String, id: &str, number: Option<usize>) -> fmt::Result {
        let text = match number {
            Some(number) => format!("{number}: {}", self.text()),
            None => self.text(),
        };
        if self.bodies.is_empty() {
            return writeln!(out, "  {id} [label={}];", Quoted(&text));
        }
        writeln!(out, "  subgraph cluster_{id} {{\n  {id} [label={}];", Quoted(&text))?;
        for (nth, (name, steps)) in self.bodies.iter().enumerate() {
            let body = format!("{id}_{nth}");
            writeln!(out, "  subgraph cluster_{body} {{\n  label={};", Quoted(name))?;
            for (at, step) in Drawn::of_steps(steps).enumerate() {
                let own = format!("{body}_{at}");
                step.dot(out, &own, None)?;
                if step.before.is_empty() {
                    writeln!(out, "  {id} -> {own} [style=dotted];")?;
                }
                step.edges(out, &body, &own)?;
            }
            writeln!(out, "  }}")?;
        }
        writeln!(out, "  }}")
    }

    /// The edges that lead to it.
    pub(super) fn edges(&self, out: &mut String, graph: &str, own: &str) -> fmt::Result {
        let joint = if graph.is_empty() { "n" } else { "_" };
        self.before.iter().try_for_each(|(from, asked)| {
            let style = if *asked { "" } else { " [style=dashed]" };
            writeln!(out, "  {graph}{joint}{from} -> {own}{style};")
        })
    }

    fn json(&self, out: &mut String, at: usize, launch: Option<usize>) -> fmt::Result {
        let (kind, name) = (self.kind, Quoted(self.label.as_str()));
        let from = |only_data: bool| -> String {
            let all = self.before.iter().filter(|(_, asked)| !only_data || !asked);
            all.map(|(from, _)| from.to_string()).collect::<Vec<_>>().join(",")
        };
        write!(out, "{}{{\"node\":{at},\"kind\":\"{kind}\",\"name\":{name}", comma(at))?;
        write!(out, ",\"after\":[{}],\"data\":[{}]", from(false), from(true))?;
        if let Some(launch) = launch {
            write!(out, ",\"command\":{launch}")?;
        }
        if !self.bodies.is_empty() {
            out.write_str(",\"bodies\":[")?;
            for (nth, (name, steps)) in self.bodies.iter().enumerate() {
                write!(out, "{}{{\"name\":{},\"nodes\":[", comma(nth), Quoted(name))?;
                for (at, step) in Drawn::of_steps(steps).enumerate() {
                    step.json(out, at, None)?;
                }
                out.write_str("]}")?;
            }
            out.write_str("]")?;
        }
        out.write_str("}")
    }
}

fn comma(before: usize) -> &'static str {
    if before == 0 { "" } else { "," }
}

impl Template {
    fn drawn_bodies(&self) -> Vec<(String, &Steps)> {
        self.bodies.as_ref().map(|bodies| bodies.named().collect()).unwrap_or_default()
    }
}

fn dot(state: &GraphState, out: &mut String) -> fmt::Result {
    writeln!(out, "digraph {} {{", Quoted(state.label.as_str()))?;
    writeln!(out, "  node [shape=box];")?;
    for (at, node) in state.nodes.iter().map(Drawn::of_node).enumerate() {
        let id = format!("n{at}");
        node.dot(out, &id, Some(at))?;
        node.edges(out, "", &id)?;
    }
    writeln!(out, "}}")
}

/// Nodes, each with the number of the command that it runs as, if that is told.
pub(super) fn json<'s>(
    label: &Label,
    device: &str,
    nodes: impl Iterator<Item = (Drawn<'s>, Option<usize>)>,
    out: &mut String,
) -> fmt::Result {
    let (name, device) = (Quoted(label.as_str()), Quoted(device));
    write!(out, "{{\"name\":{name},\"device\":{device},\"nodes\":[")?;
    for (at, (node, launch)) in nodes.enumerate() {
        node.json(out, at, launch)?;
    }
    out.write_str("]}")
}
