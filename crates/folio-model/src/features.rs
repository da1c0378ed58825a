//! Features of programs that were run: a suite in which a feature has never occurred has not tested
//! it.

use crate::order::Order;
use crate::program::{Action, Memory, Mode, Program, Step, View, What};
use crate::run::{Outcome, Record, Seen};
use folio_core::{UsmKind, buffer::Policy};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// A kind of thing, by name.
pub type Feature = &'static str;

/// The features that the suite of programs must have seen.
pub const ALL: &[Feature] = &[
    "a copy of raw memory in one dimension",
    "a copy of raw memory in two dimensions",
    "a copy of raw memory in three dimensions",
    "a fill of raw memory",
    "a hint of raw memory",
    "a prefetch",
    "advice",
    "memory that was given back",
    "memory that was the only one",
    "a buffer written by its address",
    "a kernel that uses memory by its address",
    "a host task that uses memory by its address",
    "raw memory ordered by an event",
    "raw memory ordered by a command in between",
    "raw memory ordered by its queue",
    "a raw command that failed",
    "a raw command of which what it comes after failed",
    "a kernel over device USM",
    "a kernel over host USM",
    "a kernel over shared USM",
    "a host task over USM",
    "a host guard of USM",
    "a copy from a buffer to USM",
    "a copy from USM to a buffer",
    "USM that is not accessible",
    "USM dropped while raw commands may use it",
    "USM that became a buffer",
    "a buffer over USM",
    "a buffer over the host's memory",
    "a buffer seen as another type or shape",
    "a part of a page discarded",
    "accesses that overlap",
    "data that a host guard holds",
    "a command that failed",
    "a queue of two threads",
    "a buffer of two threads",
    "a scope",
    "a scope in a scope",
    "a scope that ended with a failure",
    "a view of a scope that is over",
    "a budget that was exceeded",
    "memory that was not made",
    "a runtime dropped at once",
    "a kernel function",
    "an argument that is overwritten",
    "a kernel that a device loaded",
    "linked memory that changed sides",
    "copies that gave way to other memory",
    "a view that came back",
    "a view that was written back",
    "a view that was written back for a queue",
    "a writeback that failed",
    "a view that is left when the runtime goes",
];

/// The features that the suite of faults must have seen.
pub const FAULTS: &[Feature] = &[
    "memory that was not made",
    "a command that failed",
    "a raw command that failed",
    "a raw command of which what it comes after failed",
    "a prefetch",
    "a hint of raw memory",
    "memory that was given back",
    "a buffer written by its address",
    "raw memory ordered by an event",
    "raw memory ordered by a command in between",
    "USM that became a buffer",
    "a buffer over USM",
    "a budget that was exceeded",
    "a runtime dropped at once",
    "a kernel that a device loaded",
    "linked memory that changed sides",
    "copies that gave way to other memory",
    "a view that was written back",
    "a view that was written back for a queue",
    "a writeback that failed",
];

/// How often each has occurred.
#[derive(Default)]
pub struct Tally(Mutex<BTreeMap<Feature, u64>>);

impl Tally {
    /// Counts what occurred in a program.
    pub fn add(&self, program: &Program, record: &Record) {
        let found = of(program, record);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.into_iter().for_each(|feature| *all.entry(feature).or_default() += 1);
    }

    /// In how many programs each has occurred.
    pub fn counts(&self) -> BTreeMap<Feature, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The wanted features that have never occurred.
    pub fn absent(&self, wanted: &[Feature]) -> Vec<Feature> {
        let counts = self.counts();
        wanted.iter().copied().filter(|feature| !counts.contains_key(feature)).collect()
    }
}

/// The features of a program.
pub fn of(program: &Program, record: &Record) -> BTreeSet<Feature> {
    let mut looker = Looker {
        program,
        orders: vec![Order::new(program); program.threads()],
        usm: program.buffers.iter().map(|b| matches!(b.memory, Memory::Usm(..))).collect(),
        queues: BTreeMap::new(),
        buffers: BTreeMap::new(),
        scopes: vec![0; program.threads()],
        found: BTreeSet::new(),
    };
    let seen = record.steps.iter().map(|s| (s.id, s)).collect::<BTreeMap<_, _>>();
    if record.made.iter().any(|made| *made != Outcome::Fine) {
        looker.found.insert("memory that was not made");
    }
    if record.sums.as_ref().is_some_and(|(all, _)| all.maps > 0 && all.unmaps > 0) {
        looker.found.insert("linked memory that changed sides");
    }
    if record.sums.as_ref().is_some_and(|(all, _)| all.evictions > 0) {
        looker.found.insert("copies that gave way to other memory");
    }
    if program.config.abrupt && record.backs.iter().any(Option::is_some) {
        looker.found.insert("a view that is left when the runtime goes");
    }
    if program.config.abrupt {
        looker.found.insert("a runtime dropped at once");
    }
    for step in &program.steps {
        if let Some(seen) = seen.get(&step.id) {
            looker.step(step, seen);
        }
    }
    looker.found
}

struct Looker<'a> {
    program: &'a Program,
    orders: Vec<Order>,
    /// Buffers that are USM still.
    usm: Vec<bool>,
    /// The threads of each queue, and of each buffer.
    queues: BTreeMap<usize, BTreeSet<usize>>,
    buffers: BTreeMap<usize, BTreeSet<usize>>,
    /// How many scopes each thread is in.
    scopes: Vec<usize>,
    found: BTreeSet<Feature>,
}

impl Looker<'_> {
    fn step(&mut self, step: &Step, seen: &Seen) {
        match &step.what {
            What::Submit { queue, action, after } => {
                self.command(step, seen, (*queue, action, after));
            }
            What::Read { view } | What::Write { view, .. } | What::Hold { view, .. }
                if seen.call == Outcome::Fine && self.usm[view.buffer] =>
            {
                self.found.insert("a host guard of USM");
            }
            What::Drop { buffer } => {
                self.view(self.program.buffers[*buffer].policy, &seen.call);
                let in_flight = !self.orders[step.thread].handle_needs(*buffer, true).is_empty();
                if self.usm[*buffer] && in_flight {
                    self.found.insert("USM dropped while raw commands may use it");
                }
            }
            What::Enter { .. } => {
                let depth = &mut self.scopes[step.thread];
                *depth += 1;
                self.found.insert(if *depth > 1 { "a scope in a scope" } else { "a scope" });
            }
            What::Leave { .. } => {
                self.scopes[step.thread] -= 1;
                if seen.call != Outcome::Fine {
                    self.found.insert("a scope that ended with a failure");
                }
            }
            What::Release { .. } if seen.call == Outcome::Fine => {
                self.found.insert("memory that was given back");
            }
            What::Assume { .. } if seen.call == Outcome::Fine => {
                self.found.insert("a buffer written by its address");
            }
            What::Adopt { buffer } => {
                self.usm[*buffer] = false;
                self.found.insert("USM that became a buffer");
            }
            _ => {}
        }
        match seen.call {
            Outcome::Aliasing => self.found.insert("accesses that overlap"),
            Outcome::Held => self.found.insert("data that a host guard holds"),
            Outcome::OnlyCopy => self.found.insert("memory that was the only one"),
            Outcome::Ended => self.found.insert("a view of a scope that is over"),
            Outcome::OutOfMemory { .. } => self.found.insert("a budget that was exceeded"),
            Outcome::NotAccessible => self.found.insert("USM that is not accessible"),
            _ => false,
        };
        self.orders[step.thread].note(step, seen);
    }

    fn view(&mut self, policy: Policy, call: &Outcome) {
        let name = match (policy, call) {
            _ if !policy.is_view() => return,
            (_, Outcome::Failed(..)) if policy.writes_back() => "a writeback that failed",
            (Policy::AsyncWritebackView, _) => "a view that was written back for a queue",
            (Policy::SyncWritebackView, _) => "a view that was written back",
            _ => "a view that came back",
        };
        self.found.insert(name);
    }

    fn command(&mut self, step: &Step, seen: &Seen, command: (usize, &Action, &[u32])) {
        let (queue, action, after) = command;
        if seen.call != Outcome::Fine {
            return;
        }
        let threads = self.queues.entry(queue).or_default();
        threads.insert(step.thread);
        if threads.len() > 1 {
            self.found.insert("a queue of two threads");
        }
        self.ordered(step.thread, queue, action, after);
        if let Outcome::Failed(_, label) = &seen.end {
            self.found.insert("a command that failed");
            if !action.raw().is_empty() {
                let own = *label == Program::label(step.id);
                self.found.insert(match own {
                    true => "a raw command that failed",
                    false => "a raw command of which what it comes after failed",
                });
            }
        }
        for (access, _) in action.accesses() {
            let threads = self.buffers.entry(access.view.buffer).or_default();
            threads.insert(step.thread);
            if threads.len() > 1 {
                self.found.insert("a buffer of two threads");
            }
            self.access(action, &access.view, access.mode);
        }
        self.kind(action);
    }

    /// The ways in which a command is ordered after those that use raw memory.
    fn ordered(&mut self, thread: usize, queue: usize, action: &Action, after: &[u32]) {
        let order = &self.orders[thread];
        let Some(missing) = order.missing(action, queue, &[]) else { return };
        for step in missing {
            self.found.insert(match after.contains(&step) {
                true => "raw memory ordered by an event",
                false => "raw memory ordered by a command in between",
            });
        }
        if self.program.config.queues[queue].in_order && order.follows(action) {
            self.found.insert("raw memory ordered by its queue");
        }
    }

    fn access(&mut self, action: &Action, view: &View, mode: Mode) {
        let spec = &self.program.buffers[view.buffer];
        if let Memory::Over(over) = spec.memory {
            self.found.insert(match over {
                Some(_) => "a buffer over USM",
                None => "a buffer over the host's memory",
            });
        }
        if (view.ty, view.dims) != (spec.ty, spec.dims) {
            self.found.insert("a buffer seen as another type or shape");
        }
        if mode == Mode::Overwrite && self.program.config.functions && !view.part.is_empty() {
            self.found.insert("an argument that is overwritten");
        }
        let page = spec.page.unwrap_or(spec.dims);
        let cuts = |d: usize| {
            let (low, high) = (view.part.min[d], view.part.max[d]);
            !low.is_multiple_of(page[d]) || (!high.is_multiple_of(page[d]) && high != view.dims[d])
        };
        if mode.discards() && view.dims == spec.dims && (0..3).any(cuts) {
            self.found.insert("a part of a page discarded");
        }
        if let (true, Memory::Usm(_, kind)) = (self.usm[view.buffer], spec.memory) {
            match action {
                Action::Kernel { .. } => self.found.insert(match kind {
                    UsmKind::Device => "a kernel over device USM",
                    UsmKind::Host => "a kernel over host USM",
                    UsmKind::Shared => "a kernel over shared USM",
                }),
                Action::Task { .. } => self.found.insert("a host task over USM"),
                _ => false,
            };
        }
    }

    fn kind(&mut self, action: &Action) {
        let feature = match action {
            Action::Kernel { .. } if self.program.config.runs_no_closures() => {
                "a kernel that a device loaded"
            }
            Action::Kernel { .. } if self.program.config.functions => "a kernel function",
            Action::RawCopy { from, .. } => match from.part.extent() {
                [1, 1, _] => "a copy of raw memory in one dimension",
                [1, ..] => "a copy of raw memory in two dimensions",
                _ => "a copy of raw memory in three dimensions",
            },
            Action::RawFill { .. } => "a fill of raw memory",
            Action::RawHint { .. } => "a hint of raw memory",
            Action::Prefetch { .. } => "a prefetch",
            Action::Advise { .. } => "advice",
            Action::RawRun { on_host: true, .. } => "a host task that uses memory by its address",
            Action::RawRun { .. } => "a kernel that uses memory by its address",
            Action::Copy { from, to } if self.usm[from.buffer] && !self.usm[to.buffer] => {
                "a copy from USM to a buffer"
            }
            Action::Copy { from, to } if self.usm[to.buffer] && !self.usm[from.buffer] => {
                "a copy from a buffer to USM"
            }
            _ => return,
        };
        self.found.insert(feature);
    }
}
