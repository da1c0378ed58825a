//! Pictures of graphs, as text: DOT for Graphviz, and JSON.

use super::{Graph, State};
use crate::text::Plain;
use std::fmt::{self, Write};

impl Graph {
    /// The graph for Graphviz. Edges that were asked for are drawn as lines, those of data with
    /// dashes.
    ///
    /// ```
    /// # use folio_core::{Result, Runtime};
    /// fn example(rt: &Runtime) -> Result<()> {
    ///     let graph = rt.graph("cpu")?;
    ///     let mut x = rt.buffer::<i32>(4)?;
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
    /// name, predecessors, and those of them that only data make.
    pub fn json(&self) -> String {
        let device = self.inner.device_name();
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = json(&self.inner.state.lock(), &device, &mut text);
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

fn dot(state: &State, out: &mut String) -> fmt::Result {
    writeln!(out, "digraph {} {{", Quoted(state.label.as_str()))?;
    writeln!(out, "  node [shape=box];")?;
    for (at, node) in state.nodes.iter().enumerate() {
        let (kind, label) = (node.what.kind(), node.what.label());
        let mut text = format!("{at}: {kind}");
        if !label.as_str().is_empty() {
            // As it is shown, which escapes.
            let _ = write!(text, " `{}`", label.as_str());
        }
        writeln!(out, "  n{at} [label={}];", Quoted(&text))?;
        for edge in &node.before {
            let style = if edge.asked.is_some() { "" } else { " [style=dashed]" };
            writeln!(out, "  n{} -> n{at}{style};", edge.from)?;
        }
    }
    writeln!(out, "}}")
}

fn json(state: &State, device: &str, out: &mut String) -> fmt::Result {
    let (name, device) = (Quoted(state.label.as_str()), Quoted(device));
    write!(out, "{{\"name\":{name},\"device\":{device},\"nodes\":[")?;
    for (at, node) in state.nodes.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let (kind, label) = (node.what.kind(), Quoted(node.what.label().as_str()));
        write!(out, "{comma}{{\"node\":{at},\"kind\":\"{kind}\",\"name\":{label}")?;
        let mut list = |name: &str, only_data: bool| {
            let edges = node.before.iter().filter(|edge| !only_data || edge.asked.is_none());
            let from: Vec<String> = edges.map(|edge| edge.from.to_string()).collect();
            write!(out, ",\"{name}\":[{}]", from.join(","))
        };
        list("after", false)?;
        list("data", true)?;
        out.push('}');
    }
    out.push_str("]}");
    Ok(())
}
