//! A layer that keeps the operations of all lanes as text.

use folio_core::hal::{
    AllocReq, Allocation, CopyRect, FillRect, Graph, HalError, Lane, LaneKind, MemBase, MemRef,
    Node, Op, Order, Param, Tick,
};
use folio_layers::{DeviceRef, GraphRef, HeadRef, Hooks, LaneRef, NodeRef, Noted};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of an element: all buffers are of `i32`.
const ELEMENT: u64 = size_of::<i32>() as u64;

/// A lane and a tick of it.
type At = (u32, Tick);

/// An operation, and the ticks that it waits for.
struct Issued {
    at: At,
    does: String,
    waits: Vec<At>,
}

/// What happened, in the order of the calls.
enum Line {
    Op(Issued),
    /// Anything else that a test compares.
    Note(String),
}

/// An allocation of a device.
struct Memory {
    name: String,
    bytes: u64,
}

#[derive(Default)]
struct State {
    lines: Vec<Line>,
    /// The device and the kind of each.
    lanes: HashMap<u32, (u32, LaneKind)>,
    memory: HashMap<(u32, u64), Memory>,
}

/// What the lanes were given. Clones share it.
#[derive(Clone, Default)]
pub struct Book(Arc<Mutex<State>>);

impl Book {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line that is no operation.
    pub fn note(&self, what: impl Into<String>) {
        self.lock().lines.push(Line::Note(what.into()));
    }

    /// Forgets all lines.
    pub fn clear(&self) {
        self.lock().lines.clear();
    }

    /// The lines since [`clear`](Self::clear), operations by number.
    pub fn text(&self) -> String {
        self.lock().text()
    }

    /// How often each verb occurs: `3 make, 40 replay`.
    pub fn tally(&self) -> String {
        let state = self.lock();
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for line in &state.lines {
            let (Line::Op(Issued { does, .. }) | Line::Note(does)) = line;
            let verb = does.split(' ').next().unwrap_or_default();
            match counts.iter_mut().find(|(of, _)| *of == verb) {
                Some((_, count)) => *count += 1,
                None => counts.push((verb, 1)),
            }
        }
        counts.sort_unstable();
        let counts: Vec<String> = counts.iter().map(|(of, n)| format!("{n} {of}")).collect();
        counts.join(", ")
    }
}

impl State {
    fn text(&self) -> String {
        let (mut numbers, mut lanes, mut text) = (HashMap::new(), Vec::new(), Vec::new());
        for lines in self.lines.split_inclusive(|line| matches!(line, Line::Note(_))) {
            for op in in_order(lines) {
                let number = numbers.len() + 1;
                numbers.insert(op.at, number);
                let (lane, after) = (self.lane(op.at.0, &mut lanes), after(&op.waits, &numbers));
                text.push(format!("{number} {lane}: {}{after}", op.does));
            }
            if let Some(Line::Note(what)) = lines.last() {
                text.push(what.clone());
            }
        }
        text.join("\n")
    }

    /// What a lane is called. Lanes for kernels have numbers in the order of their first use, as
    /// those that are idle are alike.
    fn lane(&self, id: u32, used: &mut Vec<u32>) -> String {
        let Some((device, kind)) = self.lanes.get(&id) else { return "?".to_owned() };
        if !used.contains(&id) {
            used.push(id);
        }
        let device = letter(*device);
        match kind {
            LaneKind::Compute => {
                let like = |of: &&u32| self.lanes.get(of) == self.lanes.get(&id);
                let nth = used.iter().filter(like).position(|of| *of == id).unwrap_or_default();
                format!("{device}{nth}")
            }
            LaneKind::Upload => format!("{device}.up"),
            LaneKind::Download => format!("{device}.down"),
            LaneKind::Peer => format!("{device}.peer"),
        }
    }

    fn name(&self, mem: MemRef) -> String {
        let (MemBase::Device { device, handle }, memory) = (mem.base, &self.memory) else {
            return "host".to_owned();
        };
        memory.get(&(device, handle)).map_or_else(|| "?".to_owned(), |of| of.name.clone())
    }

    /// A part of an allocation; nothing more than the name if the part is all.
    fn part(&self, mem: MemRef, extent: [u64; 3]) -> String {
        let name = self.name(mem);
        let MemBase::Device { device, handle } = mem.base else { return name };
        let bytes: u64 = extent.iter().product();
        match self.memory.get(&(device, handle)) {
            Some(of) if of.bytes != bytes => {
                format!("{name}[{}..{}]", mem.offset / ELEMENT, (mem.offset + bytes) / ELEMENT)
            }
            _ => name,
        }
    }

    fn copy(&self, rects: &[CopyRect]) -> String {
        let place = |mem: MemRef| match mem.base {
            MemBase::Host(_) => 'h',
            MemBase::Device { device, .. } => letter(device),
        };
        let one = |rect: &CopyRect| {
            let [from, to] = [rect.src, rect.dst].map(|mem| self.part(mem, rect.extent));
            let ways = format!("{}->{}", place(rect.src), place(rect.dst));
            match (rect.src.base, rect.dst.base) {
                (MemBase::Host(_), _) => format!("{to} {ways}"),
                (_, MemBase::Host(_)) => format!("{from} {ways}"),
                _ if from == to => format!("{from} {ways}"),
                _ => format!("{from} to {to}"),
            }
        };
        format!("copy {}", rects.iter().map(one).collect::<Vec<_>>().join(" + "))
    }

    fn fill(&self, rects: &[FillRect], pattern: &[u8]) -> String {
        let one = |rect: &FillRect| self.part(rect.dst, rect.extent);
        let parts = rects.iter().map(one).collect::<Vec<_>>().join(" + ");
        match pattern {
            &[a, b, c, d] => format!("fill {parts} {}", i32::from_ne_bytes([a, b, c, d])),
            _ => format!("fill {parts} 0"),
        }
    }

    /// The writes of a kernel, and then its reads: `run y(x)`.
    fn launch(&self, params: &[Param]) -> String {
        let list = |write: bool| {
            let of = params.iter().filter(|param| param.write == write);
            of.map(|param| self.param(param)).collect::<Vec<_>>().join(" ")
        };
        let (writes, reads) = (list(true), list(false));
        if reads.is_empty() { format!("run {writes}") } else { format!("run {writes}({reads})") }
    }

    fn param(&self, param: &Param) -> String {
        let name = self.name(param.mem);
        let (from, len) = (param.origin[2], param.extent[2]);
        let is_all = param.extent == param.dims;
        if is_all { name } else { format!("{name}[{from}..{}]", from + len) }
    }

    fn op(&self, op: Op<'_>, nodes: &[NodeRef]) -> String {
        match op {
            Op::Copy(rects) => self.copy(rects),
            Op::Fill(rects, pattern) => self.fill(rects, pattern),
            Op::Launch(_, _, args) => self.launch(args.params),
            Op::Replay(_) => {
                let all = nodes.iter().enumerate().map(|(at, node)| self.node(at, node));
                format!("replay [{}]", all.collect::<Vec<_>>().join("; "))
            }
            Op::Hint(mem, ..) => format!("hint {}", self.name(mem)),
            Op::Switch(mem, ..) => format!("switch {}", self.name(mem)),
            Op::Branch(_) | Op::Join => op.name().to_owned(),
        }
    }

    /// A node of a graph, with those that it comes after, by letter.
    fn node(&self, at: usize, node: &NodeRef) -> String {
        let mut text = format!("{}: {}", letter(at as u32), self.noted(&node.does));
        for (nth, before) in node.after.iter().enumerate() {
            text.push_str(if nth == 0 { " after " } else { " " });
            text.push(letter(*before as u32));
        }
        text
    }

    fn noted(&self, noted: &Noted) -> String {
        match noted {
            Noted::Copy(rects) => self.copy(rects),
            Noted::Fill(rects, pattern) => self.fill(rects, pattern),
            Noted::Launch(_, _, params) => self.launch(params),
            Noted::Branch(value, _, steps) => {
                let steps = steps.iter().map(|step| self.noted(step)).collect::<Vec<_>>();
                format!("by {} {{{}}}", self.name(*value), steps.join(", "))
            }
            Noted::Join | Noted::Hint(..) | Noted::Switch(..) | Noted::Replay(_) => {
                "join".to_owned()
            }
        }
    }
}

fn letter(at: u32) -> char {
    char::from_u32('a' as u32 + at).unwrap_or('?')
}

/// Operations behind what they wait for, and otherwise by what they do: several threads may hand
/// over what was submitted, each some of the lanes.
fn in_order(lines: &[Line]) -> Vec<&Issued> {
    let ops = lines.iter().filter_map(|line| match line {
        Line::Op(op) => Some(op),
        Line::Note(_) => None,
    });
    let mut left: Vec<&Issued> = ops.collect();
    let mut all = Vec::new();
    while !left.is_empty() {
        let comes_later = |op: &Issued| {
            let is_behind = |other: &&Issued| other.at.0 == op.at.0 && other.at.1 < op.at.1;
            left.iter().any(|other| is_behind(other) || op.waits.contains(&other.at))
        };
        let ready = left.iter().enumerate().filter(|(_, op)| !comes_later(op));
        let next = ready.min_by_key(|(_, op)| (&op.does, op.at.1)).map_or(0, |(at, _)| at);
        all.push(left.remove(next));
    }
    all
}

/// What an operation waits for, by number; `earlier` is what came before the first line.
fn after(waits: &[At], numbers: &HashMap<At, usize>) -> String {
    let mut known: Vec<usize> = waits.iter().filter_map(|at| numbers.get(at).copied()).collect();
    known.sort_unstable();
    known.dedup();
    let mut text = String::new();
    for number in &known {
        let _ = write!(text, "{}{number}", if text.is_empty() { " after " } else { " " });
    }
    if waits.iter().any(|at| !numbers.contains_key(at)) {
        text.push_str(if text.is_empty() { " after earlier" } else { " earlier" });
    }
    text
}

// SAFETY: passes every call on as it is.
unsafe impl Hooks for Book {
    fn lane(
        &self,
        device: &DeviceRef,
        id: u32,
        kind: LaneKind,
        priority: i8,
    ) -> Result<Arc<dyn Lane>, HalError> {
        self.lock().lanes.insert(id, (device.index, kind));
        device.inner.lane(kind, priority)
    }

    fn alloc(&self, device: &DeviceRef, req: &AllocReq<'_>) -> Result<Allocation, HalError> {
        let made = device.inner.usm().alloc(req)?;
        let memory = Memory { name: req.label.to_owned(), bytes: req.size };
        self.lock().memory.insert((device.index, made.handle), memory);
        Ok(made)
    }

    fn graph(&self, device: &DeviceRef, nodes: &[Node<'_>]) -> Result<Arc<dyn Graph>, HalError> {
        let graph = device.inner.graph(nodes)?;
        self.note(format!("make a graph of {}", nodes.len()));
        Ok(graph)
    }

    fn update(&self, graph: &GraphRef, node: usize, op: Op<'_>) -> Result<(), HalError> {
        graph.inner.update(node, op)?;
        let does = self.lock().op(op, &[]);
        self.note(format!("exchange {}: {does}", letter(node as u32)));
        Ok(())
    }

    fn operation(&self, lane: &LaneRef, head: &HeadRef<'_>, op: Op<'_>) -> Result<(), HalError> {
        let mut state = self.lock();
        let mut waits: Vec<(u32, Tick)> =
            head.waits.iter().map(|(lane, tick)| (lane.unwrap_or(u32::MAX), *tick)).collect();
        if head.inner.order == Order::AfterPrevious && head.inner.tick > 1 {
            waits.push((lane.id, head.inner.tick - 1));
        }
        let (at, does) = ((lane.id, head.inner.tick), state.op(op, head.nodes));
        state.lines.push(Line::Op(Issued { at, does, waits }));
        drop(state);
        lane.inner.enqueue(&head.inner, op)
    }
}
