//! Which steps are known to be over before which others begin.
//!
//! Accesses order themselves; raw memory is ordered by nobody but events, queues in order, waits,
//! and accesses of other things. A generator asks here what it has still to say, and a runner
//! whether it was said: a step of which the order is not known has no effect, whatever shrinking or
//! a refused call has taken away. An `Order` knows the steps of one thread.

use crate::place;
use crate::program::{
    Access, Action, BufferSpec, Memory, Mode, Program, QueueSpec, Step, View, What,
};
use crate::run::{Outcome, Seen};
use folio_core::geom::Box3;
use std::collections::HashMap;

/// A set of steps.
#[derive(Clone, Default, Debug)]
struct Steps(Vec<u64>);

impl Steps {
    fn insert(&mut self, step: u32) {
        let word = step as usize / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (step % 64);
    }

    fn contains(&self, step: u32) -> bool {
        self.0.get(step as usize / 64).is_some_and(|word| word & 1 << (step % 64) != 0)
    }

    fn add(&mut self, other: &Steps) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }
}

/// A command's use of a part of some memory.
#[derive(Clone, Copy)]
struct Use {
    step: u32,
    buffer: usize,
    part: Box3,
    writes: bool,
    raw: bool,
    /// By its address: nothing keeps the memory.
    address: bool,
}

impl Use {
    fn conflicts(&self, other: &Use) -> bool {
        self.buffer == other.buffer
            && (self.writes || other.writes)
            && self.part.overlaps(&other.part)
    }
}

/// Whether raw commands may use some memory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ready {
    Never,
    Always,
    /// If this went well.
    After(u32),
}

#[derive(Clone, Default)]
struct Line {
    in_order: bool,
    last: Option<u32>,
    fence: Option<u32>,
    all: Steps,
}

/// The known order of a thread's steps.
#[derive(Clone)]
pub struct Order {
    specs: Vec<BufferSpec>,
    lines: Vec<Line>,
    /// For each command, all that are over when it begins.
    before: HashMap<u32, Steps>,
    /// Over by now.
    done: Steps,
    uses: Vec<Use>,
    /// The commands whose failure each command takes over.
    flow: HashMap<u32, Steps>,
    /// Known to have ended well.
    well: Steps,
    /// Whether raw commands may use it: of a command, known to the runtime, that was to write all
    /// of it, the failure must be theirs, since the runtime zeroes what it should have written.
    ready: Vec<Ready>,
    /// Held by guards of the host.
    held: Vec<usize>,
}

impl Order {
    /// Before the first step.
    pub fn new(program: &Program) -> Order {
        Order::of(&program.buffers, &program.config.queues)
    }

    /// As [`new`](Self::new), of a program in the making.
    pub fn of(buffers: &[BufferSpec], queues: &[QueueSpec]) -> Order {
        let line = |q: &QueueSpec| Line { in_order: q.in_order, ..Line::default() };
        Order {
            specs: buffers.to_vec(),
            lines: queues.iter().map(line).collect(),
            before: HashMap::new(),
            done: Steps::default(),
            uses: Vec::new(),
            flow: HashMap::new(),
            well: Steps::default(),
            ready: buffers.iter().map(ready).collect(),
            held: Vec::new(),
        }
    }

    /// Raw commands may use it.
    pub fn ready(&self, buffer: usize) -> bool {
        self.ready[buffer] != Ready::Never
    }

    fn hull(&self, view: &View) -> Box3 {
        place::in_buffer(view, &self.specs[view.buffer]).0
    }

    fn uses_of(&self, step: u32, action: &Action) -> Vec<Use> {
        let tracked =
            action.accesses().into_iter().filter(|_| !action.is_empty()).map(|(a, _)| Use {
                step,
                buffer: a.view.buffer,
                part: self.hull(&a.view),
                writes: a.mode != Mode::Read,
                raw: false,
                address: false,
            });
        let address = matches!(action, Action::RawRun { .. });
        let raw = action.raw().into_iter().map(|(view, writes)| Use {
            step,
            buffer: view.buffer,
            part: self.hull(&view),
            writes,
            raw: true,
            address,
        });
        tracked.chain(raw).collect()
    }

    /// The steps that are over before a command begins.
    fn known(&self, uses: &[Use], queue: usize, after: &[u32]) -> Steps {
        let line = &self.lines[queue];
        let last = line.last.filter(|_| line.in_order);
        let said = after.iter().copied().chain(last).chain(line.fence);
        let conflicts = |u: &&Use| !u.raw && uses.iter().any(|own| !own.raw && own.conflicts(u));
        let tracked = self.uses.iter().filter(conflicts).map(|u| u.step);
        let mut known = self.done.clone();
        for step in said.chain(tracked) {
            self.add(step, &mut known);
        }
        known
    }

    fn add(&self, step: u32, to: &mut Steps) {
        if let Some(before) = self.before.get(&step) {
            to.insert(step);
            to.add(before);
        }
    }

    /// The commands that this one must come after and that nothing puts before it; `None` if it
    /// makes no sense.
    pub fn missing(&self, action: &Action, queue: usize, after: &[u32]) -> Option<Vec<u32>> {
        let raw = action.raw();
        if raw.iter().any(|(v, _)| !self.ready(v.buffer) || self.held.contains(&v.buffer)) {
            return None;
        }
        if let [(from, _), (to, _)] = raw.as_slice()
            && place::overlap(from, to)
        {
            return None;
        }
        let uses = self.uses_of(0, action);
        let known = self.known(&uses, queue, after);
        let matters = |u: &&Use| uses.iter().any(|own| (own.raw || u.raw) && own.conflicts(u));
        let missing = self.uses.iter().filter(matters).map(|u| u.step);
        let missing = missing.filter(|step| !known.contains(*step));
        // And those of which the failure must be theirs.
        let flow = self.flow_of(after);
        let filled = raw.iter().filter_map(|(v, _)| match self.ready[v.buffer] {
            Ready::After(step) => Some(step),
            _ => None,
        });
        let filled = filled.filter(|step| !self.well.contains(*step) && !flow.contains(*step));
        Some(missing.chain(filled).collect())
    }

    fn flow_of(&self, after: &[u32]) -> Steps {
        let mut flow = Steps::default();
        for step in after {
            if let Some(further) = self.flow.get(step) {
                flow.insert(*step);
                flow.add(further);
            }
        }
        flow
    }

    /// Whether it conflicts with a command before it, over raw memory of one of the two.
    pub fn follows(&self, action: &Action) -> bool {
        let uses = self.uses_of(0, action);
        let matters = |u: &Use| uses.iter().any(|own| (own.raw || u.raw) && own.conflicts(u));
        self.uses.iter().any(matters)
    }

    /// Commands after which `step` is over, other than itself.
    pub fn ways_after(&self, step: u32) -> Vec<u32> {
        let mut all: Vec<u32> = (self.before.iter())
            .filter(|(_, before)| before.contains(step))
            .map(|(other, _)| *other)
            .collect();
        all.sort_unstable();
        all
    }

    /// A command was submitted.
    fn submitted(&mut self, step: u32, action: &Action, queue: usize, after: &[u32]) {
        let uses = self.uses_of(step, action);
        let known = self.known(&uses, queue, after);
        self.before.insert(step, known);
        self.flow.insert(step, self.flow_of(after));
        self.uses.extend(uses);
        let line = &mut self.lines[queue];
        line.last = Some(step);
        line.all.insert(step);
        for (Access { view, mode }, _) in action.accesses() {
            let usm = matches!(self.specs[view.buffer].memory, Memory::Usm(..));
            if usm && mode.discards() && view.part == Box3::whole(view.dims) {
                self.ready[view.buffer] = Ready::After(step);
            }
        }
    }

    /// A barrier was submitted.
    fn fenced(&mut self, step: u32, queue: usize) {
        let mut before = self.done.clone();
        self.everything_of(queue, &mut before);
        self.before.insert(step, before);
        let line = &mut self.lines[queue];
        (line.last, line.fence) = (Some(step), Some(step));
        line.all.insert(step);
    }

    fn everything_of(&self, queue: usize, to: &mut Steps) {
        let all = &self.lines[queue].all;
        self.before.keys().filter(|s| all.contains(**s)).for_each(|step| self.add(*step, to));
    }

    /// A queue was waited for.
    fn waited_for_queue(&mut self, queue: usize) {
        let mut done = std::mem::take(&mut self.done);
        self.everything_of(queue, &mut done);
        self.done = done;
    }

    /// The event of a step was waited for.
    fn waited_for(&mut self, step: u32) {
        let mut done = std::mem::take(&mut self.done);
        self.add(step, &mut done);
        self.done = done;
    }

    fn host_use(&self, view: &View, writes: bool) -> Use {
        let (buffer, part) = (view.buffer, self.hull(view));
        Use { step: 0, buffer, part, writes, raw: false, address: false }
    }

    /// The commands that must be over before the host uses a part: its guards wait for those that
    /// the runtime knows.
    pub fn host_needs(&self, view: &View, writes: bool) -> Vec<u32> {
        let own = self.host_use(view, writes);
        let lent = self.specs[view.buffer].memory == Memory::Lent;
        let matters = |u: &&Use| (u.raw || lent) && own.conflicts(u);
        let all = self.uses.iter().filter(matters).map(|u| u.step);
        all.filter(|step| !self.done.contains(*step)).collect()
    }

    /// The host has had a part.
    fn host_had(&mut self, view: &View, writes: bool) {
        let own = self.host_use(view, writes);
        let conflicts = |u: &&Use| !u.raw && own.conflicts(u);
        let over: Vec<u32> = self.uses.iter().filter(conflicts).map(|u| u.step).collect();
        over.into_iter().for_each(|step| self.waited_for(step));
    }

    /// The commands that must be over before a handle goes: those that use its memory by address
    /// (`all`: all that use it unknown to the runtime).
    pub fn handle_needs(&self, buffer: usize, all: bool) -> Vec<u32> {
        let matters = |u: &&Use| u.buffer == buffer && (u.address || (all && u.raw));
        let steps = self.uses.iter().filter(matters).map(|u| u.step);
        steps.filter(|step| !self.done.contains(*step)).collect()
    }

    /// Notes the order after a step, from the record of it.
    pub fn note(&mut self, step: &Step, seen: &Seen) {
        let ended = matches!(seen.call, Outcome::Fine | Outcome::Failed(..));
        match &step.what {
            // Whatever they ended with, they have waited.
            What::WaitQueue { queue } if ended => self.waited_for_queue(*queue),
            What::WaitEvent { step } if seen.call != Outcome::Fine && ended => {
                self.waited_for(*step);
            }
            _ if seen.call == Outcome::Fine => self.done_well(step),
            _ => {}
        }
    }

    /// Notes the order after a step that was accepted.
    pub fn done_well(&mut self, step: &Step) {
        match &step.what {
            What::Submit { queue, action, after } => {
                self.submitted(step.id, action, *queue, after);
            }
            What::Barrier { queue } => self.fenced(step.id, *queue),
            What::WaitQueue { queue } => self.waited_for_queue(*queue),
            What::WaitEvent { step } => {
                self.waited_for(*step);
                self.well.add(&self.flow_of(&[*step]));
            }
            What::Read { view } => self.host_had(view, false),
            What::Write { view, .. } => self.host_had(view, true),
            What::Hold { view, writes } => {
                self.host_had(view, *writes);
                self.held.push(view.buffer);
            }
            What::Unhold => self.held.clear(),
            What::Adopt { buffer } => {
                self.ready[*buffer] = Ready::Never;
                self.specs[*buffer].memory = Memory::Own;
            }
            What::Leave { buffer } => {
                let BufferSpec { ty, dims, .. } = self.specs[*buffer];
                self.host_had(&View { buffer: *buffer, ty, dims, part: Box3::whole(dims) }, true);
            }
            What::Enter { .. }
            | What::Drop { .. }
            | What::Freeze { .. }
            | What::Release { .. }
            | What::Assume { .. } => {}
        }
    }
}

fn ready(spec: &BufferSpec) -> Ready {
    match spec.memory {
        Memory::Lent | Memory::Usm(..) => Ready::Always,
        Memory::Own | Memory::Over(_) | Memory::Borrowed => Ready::Never,
    }
}
