//! The sequential model: applies the steps one after another to plain bytes, and says where a
//! record differs.
//!
//! Bytes are *exact*, or *loose* (a discard did not write them: zero or any earlier value of them),
//! or *wild* (computed from loose ones, or left by a failed command: nothing is known).

use crate::compute;
use crate::place;
use crate::program::{Access, Action, BufferSpec, Ends, Mode, Program, Skip, Step, View, What};
use crate::residency::{Residency, Tally};
use crate::run::{Outcome, Record, Seen};
use crate::typed::task_value;
use folio_core::geom::{Box3, Dims, linear};
use std::collections::{HashMap, HashSet};

/// What is known of a byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    Exact,
    Loose,
    Wild,
}

struct Storage {
    spec: BufferSpec,
    bytes: Vec<u8>,
    known: Vec<Known>,
    /// Every value that each byte ever had.
    past: Vec<[u64; 4]>,
    pages: Residency,
    dropped: bool,
}

/// A guard that the host holds.
struct Guard {
    buffer: usize,
    pages: Box3,
    writes: bool,
}

struct Oracle<'a> {
    program: &'a Program,
    domains: Vec<usize>,
    storages: Vec<Storage>,
    guards: Vec<Guard>,
    ends: HashMap<u32, Outcome>,
    /// Roots of each queue: those that must be told, and those that may be.
    roots: Vec<[HashSet<String>; 2]>,
    /// What each queue's wait has returned.
    told: Vec<Vec<String>>,
    /// Commands that have failed by themselves.
    own: Vec<String>,
    uploaded: u64,
    leeway: Leeway,
}

type Verdict = Result<(), String>;

/// What else than the program may make something fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leeway {
    /// Nothing.
    None,
    /// One call of a backend failed. Something of the command for which it was made fails; what
    /// does not depend on that is as right as ever.
    Fault,
    /// A device was lost: much may fail, and what does not is right.
    Loss,
}

/// Says what is wrong with a record, if anything is.
pub fn check(program: &Program, record: &Record) -> Verdict {
    check_with(program, record, Leeway::None)
}

/// As [`check`], where a backend has failed.
pub fn check_with(program: &Program, record: &Record, leeway: Leeway) -> Verdict {
    if let Some(wrong) = record.wrong.first() {
        return Err(wrong.clone());
    }
    let mut oracle = Oracle { leeway, ..Oracle::new(program) };
    let seen: HashMap<u32, &Seen> = record.steps.iter().map(|s| (s.id, s)).collect();
    for step in &program.steps {
        if let Some(seen) = seen.get(&step.id) {
            oracle.step(step, seen).map_err(|why| format!("step {}: {why}", step.id))?;
        }
    }
    oracle.guards.clear();
    oracle.finals(record)?;
    oracle.reports(record)?;
    oracle.sums(record)
}

impl<'a> Oracle<'a> {
    fn new(program: &'a Program) -> Oracle<'a> {
        let storages = program.buffers.iter().enumerate().map(|(at, spec)| storage(at, spec));
        let queues = program.config.queues.len();
        Oracle {
            program,
            domains: program.config.domains(),
            storages: storages.collect(),
            guards: Vec::new(),
            ends: HashMap::new(),
            roots: vec![Default::default(); queues],
            told: vec![Vec::new(); queues],
            own: Vec::new(),
            uploaded: 0,
            leeway: Leeway::None,
        }
    }

    fn step(&mut self, step: &Step, seen: &Seen) -> Verdict {
        match &step.what {
            What::Submit { queue, action, after } => self.submit(*queue, action, after, seen),
            What::Read { view } => self.host(view, Mode::Read, None, seen).map(|_| ()),
            What::Hold { view, writes } => {
                let mode = if *writes { Mode::Write } else { Mode::Read };
                if self.host(view, mode, None, seen)? {
                    let storage = &self.storages[view.buffer];
                    let pages = storage.pages.pages_of(&place::in_buffer(view, &storage.spec).0);
                    self.guards.push(Guard { buffer: view.buffer, pages, writes: *writes });
                }
                Ok(())
            }
            What::Write { view, overwrite, skip } => {
                let mode = if *overwrite { Mode::Discard } else { Mode::Write };
                self.host(view, mode, Some(*skip), seen).map(|_| ())
            }
            What::Unhold => {
                self.guards.clear();
                Ok(())
            }
            What::Drop { buffer } => {
                self.storages[*buffer].dropped = true;
                Ok(())
            }
            What::WaitQueue { queue } => match &seen.call {
                Outcome::Fine => Ok(()),
                Outcome::Failed(_, label) => {
                    self.told[*queue].push(label.clone());
                    Ok(())
                }
                other => Err(format!("queue wait ended with {other:?}")),
            },
            What::WaitEvent { step } => match self.ends.get(step) {
                Some(end) if *end != seen.call => {
                    Err(format!("waited: {:?}, ended: {end:?}", seen.call))
                }
                _ => Ok(()),
            },
            What::Barrier { queue } => {
                self.ends.insert(step.id, seen.end.clone());
                match &seen.end {
                    Outcome::Failed(_, label) if self.roots[*queue][1].contains(label) => Ok(()),
                    // Another thread may have failed on a shared queue later in our order.
                    Outcome::Failed(..) if self.program.threads() > 1 => Ok(()),
                    Outcome::Fine => Ok(()),
                    other => Err(format!("barrier ended with {other:?}")),
                }
            }
            What::Freeze { .. } => Ok(()),
        }
    }

    /// The access in the buffer's own elements; `true` when it discards.
    fn resolve(&self, access: &Access) -> (Box3, bool) {
        let (elements, exact) =
            place::in_buffer(&access.view, &self.storages[access.view.buffer].spec);
        (elements, access.mode == Mode::Discard && exact)
    }

    fn held(&self, access: &Access) -> bool {
        let storage = &self.storages[access.view.buffer];
        let pages = storage.pages.pages_of(&self.resolve(access).0);
        self.guards.iter().any(|g| {
            g.buffer == access.view.buffer
                && (g.writes || access.mode != Mode::Read)
                && g.pages.overlaps(&pages)
        })
    }

    /// A call that has failed because a backend's has, and so has changed nothing.
    fn refused(&self, call: &Outcome) -> bool {
        let named = |text: &str| text.contains("sim:") || text.contains("cpu:");
        matches!(call, Outcome::Other(text) if self.leeway != Leeway::None && named(text))
    }

    /// What speaks against a command.
    fn refusal(&self, accesses: &[Access], nothing: bool) -> Option<Outcome> {
        for (at, a) in accesses.iter().enumerate() {
            let writes = |b: &Access| a.mode != Mode::Read || b.mode != Mode::Read;
            if accesses[..at].iter().any(|b| writes(b) && place::overlap(&a.view, &b.view)) {
                return Some(Outcome::Aliasing);
            }
        }
        let held = !nothing && accesses.iter().any(|a| self.held(a));
        held.then_some(Outcome::Held)
    }

    fn submit(&mut self, queue: usize, action: &Action, after: &[u32], seen: &Seen) -> Verdict {
        let mut accesses: Vec<Access> = action.accesses().into_iter().map(|(a, _)| a).collect();
        let nothing = matches!(action, Action::Kernel { range, .. } if range.contains(&0));
        if self.refused(&seen.call) {
            return Ok(());
        }
        if let Some(expected) = self.refusal(&accesses, nothing) {
            return match seen.call == expected {
                true => Ok(()),
                false => Err(format!("submission: {:?}, expected {expected:?}", seen.call)),
            };
        }
        if seen.call != Outcome::Fine {
            return Err(format!("submission: {:?}", seen.call));
        }
        if nothing {
            accesses.clear();
        }
        let device = self.program.config.queues[queue].devices[seen.device];
        let domain = if action.on_host() { 0 } else { self.domains[device] };
        if let Action::Upload { to } = action
            && domain != 0
        {
            self.uploaded += (to.part.volume() * to.ty.size()) as u64;
        }
        let mut must: Vec<String> = Vec::new();
        for event in after {
            if let Some(Outcome::Failed(_, label)) = self.ends.get(event) {
                must.push(label.clone());
            }
        }
        let may = self.meet(&accesses, domain, &mut must);
        self.moves(&accesses, domain, !(must.is_empty() && may.is_empty()), seen)?;
        let planned = action.ends() != Ends::Well && !nothing;
        self.ends.insert(seen.id, seen.end.clone());
        self.judge(queue, seen, &must, &may, planned)?;
        self.excuse(&accesses, domain, &seen.end);
        let failed = match &seen.end {
            Outcome::Failed(_, label) => Some(label.as_str()),
            _ => None,
        };
        let values = failed.is_none() && !nothing;
        let outputs = if values { self.compute(seen, action)? } else { Vec::new() };
        self.mark(&accesses, domain, failed);
        for (view, cell, value) in outputs {
            self.storages[view.buffer].put(&view, cell, value);
        }
        Ok(())
    }

    /// What failures the accesses meet: those that they must take (added), those that they may.
    fn meet(&self, accesses: &[Access], domain: usize, must: &mut Vec<String>) -> Vec<String> {
        let mut may = Vec::new();
        for access in accesses {
            let (elements, discards) = self.resolve(access);
            let pages = &self.storages[access.view.buffer].pages;
            may.extend(pages.taints(&elements, domain, discards));
            if !discards {
                must.extend(pages.failures(&elements));
            }
        }
        may
    }

    /// Brings what the accesses need, and compares that with what was moved.
    fn moves(&mut self, accesses: &[Access], domain: usize, doomed: bool, seen: &Seen) -> Verdict {
        let mut tallies: HashMap<usize, Tally> = HashMap::new();
        for access in accesses {
            let (elements, discards) = self.resolve(access);
            let tally = tallies.entry(access.view.buffer).or_default();
            let pages = &mut self.storages[access.view.buffer].pages;
            if discards {
                // After a copy that failed it may count as an update.
                tally.uncertain |= pages.uncertain(&elements);
            } else {
                pages.bring(&elements, domain, doomed, tally);
            }
        }
        for (buffer, moved) in &seen.moved {
            let tally = tallies.get(buffer).copied().unwrap_or_default();
            let pages = tally.pages[0]..=tally.pages[1];
            let right = moved.bytes == tally.bytes
                && pages.contains(&moved.pages)
                && moved.operations <= tally.operations;
            if !right && !tally.uncertain && self.leeway != Leeway::Loss {
                return Err(format!("buffer {buffer}: {moved:?}, expected {tally:?}"));
            }
        }
        Ok(())
    }

    /// Whether the command ended as it should.
    fn judge(
        &mut self,
        queue: usize,
        seen: &Seen,
        must: &[String],
        may: &[String],
        planned: bool,
    ) -> Verdict {
        let own = Program::label(seen.id);
        self.roots[queue][1].extend(must.iter().chain(may).cloned());
        match &seen.end {
            Outcome::Failed(_, label) => {
                let fault = self.leeway != Leeway::None && *label == own;
                // The device, or the data that was there only.
                let gone = label.is_empty() || label.starts_with("buffer ");
                let lost = self.leeway == Leeway::Loss && gone;
                let by_itself = (planned && *label == own) || fault || lost;
                if !must.contains(label) && !may.contains(label) && !by_itself {
                    return Err(format!("failed because of {label}, not of {must:?} {may:?}"));
                }
                self.roots[queue].iter_mut().for_each(|r| {
                    r.insert(label.clone());
                });
                if by_itself && !lost {
                    self.own.push(own);
                }
                Ok(())
            }
            Outcome::Fine if must.is_empty() && !planned => Ok(()),
            other => {
                Err(format!("ended with {other:?}; it depends on {must:?}, planned {planned}"))
            }
        }
    }

    /// A fault of a command may have been one of its transfers.
    fn excuse(&mut self, accesses: &[Access], domain: usize, end: &Outcome) {
        let Outcome::Failed(_, label) = end else { return };
        if self.leeway == Leeway::None {
            return;
        }
        for access in accesses {
            let (elements, _) = self.resolve(access);
            let pages = &mut self.storages[access.view.buffer].pages;
            pages.taint(&elements, domain, label);
            pages.doubt(&elements);
        }
    }

    /// What pages and bytes are after a command.
    fn mark(&mut self, accesses: &[Access], domain: usize, failed: Option<&str>) {
        for access in accesses.iter().filter(|a| a.mode != Mode::Read) {
            let (elements, discards) = self.resolve(access);
            let storage = &mut self.storages[access.view.buffer];
            if discards {
                storage.pages.discard(&elements, domain, failed);
                if let Some(root) = failed {
                    storage.pages.taint(&elements, domain, root);
                }
            } else {
                storage.pages.update(&elements, domain, failed);
            }
            match failed {
                Some(_) => storage.forget(&access.view),
                None if access.mode == Mode::Discard => storage.loosen(&access.view),
                None => {}
            }
        }
    }

    /// What a command that ran writes: views, cells, values if known.
    fn compute(&self, seen: &Seen, action: &Action) -> Result<Vec<Put>, String> {
        let salt = seen.id;
        let mut out = Vec::new();
        match action {
            Action::Kernel { range, accesses, skip, .. } => {
                self.kernel(salt, *range, accesses, *skip, &mut out);
            }
            Action::Task { read, write, skip, .. } => {
                let input: Vec<Option<u64>> = read.map(|r| self.values(&r)).unwrap_or_default();
                let known: Option<Vec<u64>> = input.iter().copied().collect();
                if let Some(known) = known {
                    let digest = known.iter().fold(1, |d, v| compute::with(d, *v));
                    if digest != seen.digest {
                        return Err("a host task read something else".to_owned());
                    }
                }
                if let Some(w) = write {
                    self.task(salt, &input, w, *skip, &mut out);
                }
            }
            Action::Copy { from, to } => {
                for (source, target) in from.part.cells().zip(to.part.cells()) {
                    let value = self.storages[from.buffer].get(from, source);
                    out.push((*to, target, value));
                }
            }
            Action::Upload { to } | Action::Fill { to } => {
                let fill = matches!(action, Action::Fill { .. });
                for (item, cell) in to.part.cells().enumerate() {
                    let item = if fill { 0 } else { item };
                    out.push((*to, cell, Some(compute::given(salt, item))));
                }
            }
            Action::Update { .. } | Action::UpdateHost { .. } => {}
        }
        Ok(out)
    }

    fn kernel(&self, salt: u32, range: Dims, accesses: &[Access], skip: Skip, out: &mut Vec<Put>) {
        for item in Box3::whole(range).cells() {
            let number = linear(range, item);
            let mut acc = Some(compute::start(salt, number));
            let reads = accesses.iter().filter(|a| a.mode == Mode::Read);
            for (nth, read) in reads.enumerate() {
                let [_, rows, columns] = read.view.part.extent();
                let volume = read.view.part.volume();
                if volume > 0 {
                    let at = compute::reads_at(salt, number, nth, volume);
                    let cell = [at / (rows * columns), at / columns % rows, at % columns];
                    let cell = plus(read.view.part.min, cell);
                    let value = self.storages[read.view.buffer].get(&read.view, cell);
                    acc = acc.zip(value).map(|(acc, v)| compute::with(acc, v));
                }
            }
            if !compute::writes(skip, number) {
                continue;
            }
            let (mut outs, mut inouts) = (0, 0);
            for access in accesses.iter().filter(|a| a.mode != Mode::Read) {
                let cell = plus(access.view.part.min, item);
                let value = if access.mode == Mode::ReadWrite {
                    inouts += 1;
                    let old = self.storages[access.view.buffer].get(&access.view, cell);
                    acc.zip(old).map(|(acc, old)| compute::updated(acc, old, inouts - 1))
                } else {
                    outs += 1;
                    acc.map(|acc| compute::written(acc, outs - 1))
                };
                out.push((access.view, cell, value));
            }
        }
    }

    fn task(
        &self,
        salt: u32,
        input: &[Option<u64>],
        write: &Access,
        skip: Skip,
        out: &mut Vec<Put>,
    ) {
        for (item, cell) in write.view.part.cells().enumerate() {
            if !compute::writes(skip, item) {
                continue;
            }
            let old = self.storages[write.view.buffer].get(&write.view, cell);
            let keep = write.mode != Mode::Discard;
            let at = compute::reads_at(salt, item, 0, input.len());
            let known = (input.is_empty() || input[at].is_some()) && (!keep || old.is_some());
            let plain: Vec<u64> = input.iter().map(|v| v.unwrap_or(0)).collect();
            let old = old.filter(|_| keep);
            out.push((write.view, cell, known.then(|| task_value(salt, item, &plain, old))));
        }
    }

    fn values(&self, view: &View) -> Vec<Option<u64>> {
        view.part.cells().map(|cell| self.storages[view.buffer].get(view, cell)).collect()
    }

    /// An access of the host; `true` when it was granted.
    fn host(
        &mut self,
        view: &View,
        mode: Mode,
        writes: Option<Skip>,
        seen: &Seen,
    ) -> Result<bool, String> {
        let access = Access { view: *view, mode };
        if self.refused(&seen.call) {
            return Ok(false);
        }
        if self.held(&access) {
            return match seen.call {
                Outcome::Held => Ok(false),
                _ => Err(format!("host access: {:?}, expected Held", seen.call)),
            };
        }
        let mut must = Vec::new();
        let may = self.meet(&[access], 0, &mut must);
        self.moves(&[access], 0, !(must.is_empty() && may.is_empty()), seen)?;
        match &seen.call {
            Outcome::Fine if must.is_empty() => {
                self.storages[view.buffer].compare(view, &seen.data, mode == Mode::Discard)?;
                self.mark(&[access], 0, None);
                for (item, cell) in view.part.cells().enumerate() {
                    if writes.is_some_and(|skip| compute::writes(skip, item)) {
                        let value = Some(compute::given(seen.id, item));
                        self.storages[view.buffer].put(view, cell, value);
                    }
                }
                Ok(true)
            }
            Outcome::Failed(_, label)
                if must.contains(label) || may.contains(label) || self.excused(view, label) =>
            {
                let label = label.clone();
                if !must.contains(&label) && !may.contains(&label) && !label.is_empty() {
                    self.own.push(label.clone());
                }
                self.excuse(&[access], 0, &seen.call);
                self.mark(&[access], 0, Some(&label));
                Ok(false)
            }
            other => Err(format!("host access: {other:?}; what it reads failed: {must:?}")),
        }
    }

    /// A transfer for the host has failed.
    fn excused(&self, view: &View, label: &str) -> bool {
        match self.leeway {
            Leeway::None => false,
            Leeway::Fault => label == format!("buffer {}", view.buffer),
            Leeway::Loss => label.is_empty() || label == format!("buffer {}", view.buffer),
        }
    }

    fn finals(&mut self, record: &Record) -> Verdict {
        for (at, found) in record.finals.iter().enumerate() {
            let Some((call, data)) = found else { continue };
            let spec = self.storages[at].spec.clone();
            let part = Box3::whole(spec.dims);
            let view = View { buffer: at, ty: spec.ty, dims: spec.dims, part };
            let seen = Seen {
                id: u32::MAX,
                call: call.clone(),
                end: Outcome::Fine,
                device: 0,
                data: data.clone(),
                digest: 0,
                moved: Vec::new(),
            };
            self.host(&view, Mode::Read, None, &seen)
                .map_err(|why| format!("at the end: {why}"))?;
        }
        Ok(())
    }

    /// Each root once to the handler, and once from each queue that has it.
    fn reports(&mut self, record: &Record) -> Verdict {
        let ids: HashSet<u64> = record.told.iter().map(|t| t.0).collect();
        if ids.len() != record.told.len() {
            return Err(format!("the handler was told twice: {:?}", record.told));
        }
        if self.leeway == Leeway::Loss {
            return Ok(());
        }
        let mut told: Vec<&str> = record.told.iter().map(|(_, label, _)| label.as_str()).collect();
        let mut own: Vec<&str> = self.own.iter().map(String::as_str).collect();
        told.sort_unstable();
        own.sort_unstable();
        if told != own {
            return Err(format!("the handler was told of {told:?}; {own:?} failed"));
        }
        for (at, rest) in record.queues.iter().enumerate() {
            let mut all = self.told[at].clone();
            all.extend(rest.iter().map(|(_, label)| label.clone()));
            let set: HashSet<String> = all.iter().cloned().collect();
            let [must, may] = &self.roots[at];
            if set.len() != all.len() || !must.is_subset(&set) || !set.is_subset(may) {
                return Err(format!("queue {at} told {all:?}; expected {must:?}, at most {may:?}"));
            }
        }
        Ok(())
    }

    /// What the runtime says that it moved is what simulated devices did.
    fn sums(&self, record: &Record) -> Verdict {
        let (Some((runtime, sim)), Some(spec)) = (&record.sums, &self.program.config.sim) else {
            return Ok(());
        };
        if self.program.config.cpu.is_some()
            || spec.first_on_host
            || !self.own.is_empty()
            || self.leeway != Leeway::None
        {
            return Ok(());
        }
        let between = runtime.device_to_device.bytes;
        let (peer, staged) = if spec.peers { (between, 0) } else { (0, between) };
        let expected = [
            runtime.host_to_device.bytes + staged + self.uploaded,
            runtime.device_to_host.bytes + staged,
            peer,
        ];
        let done = [sim.uploaded, sim.downloaded, sim.peer];
        if expected == done {
            return Ok(());
        }
        Err(format!("bytes up, down and between devices: {done:?}, counted: {expected:?}"))
    }
}

type Put = (View, Dims, Option<u64>);

fn plus(a: Dims, b: Dims) -> Dims {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

fn storage(at: usize, spec: &BufferSpec) -> Storage {
    let volume: usize = spec.dims.iter().product();
    let size = spec.ty.size();
    let mut bytes = vec![0; volume * size];
    let mut past = vec![[0; 4]; volume * size];
    past.iter_mut().for_each(|p| p[0] |= 1);
    if spec.initialised {
        for element in 0..volume {
            let value = compute::initial(at, element).to_le_bytes();
            bytes[element * size..][..size].copy_from_slice(&value[..size]);
        }
        for (byte, past) in bytes.iter().zip(&mut past) {
            past[usize::from(*byte >> 6)] |= 1 << (byte & 63);
        }
    }
    let current = u64::from(spec.initialised);
    let pages = Residency::new(place::grid(spec), size, current);
    let known = vec![Known::Exact; bytes.len()];
    Storage { spec: spec.clone(), bytes, known, past, pages, dropped: false }
}

impl Storage {
    fn range(view: &View, cell: Dims) -> std::ops::Range<usize> {
        let start = linear(view.dims, cell) * view.ty.size();
        start..start + view.ty.size()
    }

    /// The value of an element, if it is known.
    fn get(&self, view: &View, cell: Dims) -> Option<u64> {
        let range = Storage::range(view, cell);
        let exact = self.known[range.clone()].iter().all(|k| *k == Known::Exact);
        exact.then(|| self.raw(range))
    }

    fn raw(&self, range: std::ops::Range<usize>) -> u64 {
        let bytes = self.bytes[range].iter().rev();
        bytes.fold(0, |value, byte| value << 8 | u64::from(*byte))
    }

    fn put(&mut self, view: &View, cell: Dims, value: Option<u64>) {
        for (nth, at) in Storage::range(view, cell).enumerate() {
            match value {
                Some(value) => {
                    let byte = (value >> (8 * nth)) as u8;
                    self.bytes[at] = byte;
                    self.known[at] = Known::Exact;
                    self.past[at][usize::from(byte >> 6)] |= 1 << (byte & 63);
                }
                None => self.forget_byte(at),
            }
        }
    }

    fn forget_byte(&mut self, at: usize) {
        self.known[at] = Known::Wild;
        self.past[at] = [u64::MAX; 4];
    }

    /// Nothing is known of a part any more.
    fn forget(&mut self, view: &View) {
        for start in place::offsets(view) {
            (start..start + view.ty.size()).for_each(|at| self.forget_byte(at));
        }
    }

    /// A part is zero or something earlier now.
    fn loosen(&mut self, view: &View) {
        for start in place::offsets(view) {
            for known in &mut self.known[start..start + view.ty.size()] {
                *known = if *known == Known::Wild { Known::Wild } else { Known::Loose };
            }
        }
    }

    /// Compares a part with what was read of it. `earlier`: an earlier value will do.
    fn compare(&self, view: &View, found: &[u64], earlier: bool) -> Verdict {
        if found.len() != view.part.volume() {
            return Err(format!("{} elements, expected {}", found.len(), view.part.volume()));
        }
        for (cell, found) in view.part.cells().zip(found) {
            for (nth, at) in Storage::range(view, cell).enumerate() {
                let byte = (found >> (8 * nth)) as u8;
                let past = self.past[at][usize::from(byte >> 6)] & 1 << (byte & 63) != 0;
                let right = match self.known[at] {
                    Known::Exact => byte == self.bytes[at] || (earlier && past),
                    Known::Loose => past,
                    Known::Wild => true,
                };
                if !right {
                    let (known, b) = (self.known[at], view.buffer);
                    let expected = self.raw(Storage::range(view, cell));
                    return Err(format!(
                        "buffer {b} at {cell:?}: {found:#x}, expected {expected:#x} ({known:?})"
                    ));
                }
            }
        }
        Ok(())
    }
}
