//! The sequential model: applies the steps one after another to plain bytes, and says where a
//! record differs.

mod budget;
mod memory;
mod outside;
mod report;
mod values;
mod views;

use crate::compute;
use crate::place;
use crate::program::{Access, Action, BufferSpec, Ends, Mode, Program, Skip, Step, View, What};
use crate::residency::Tally;
use crate::run::{Outcome, Record, Seen};
use budget::Budget;
use folio_core::geom::Box3;
use memory::Storage;
use std::collections::{HashMap, HashSet};

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
    /// The failures that each queue's wait has returned.
    told: Vec<Vec<String>>,
    /// Commands that have failed by themselves.
    own: Vec<String>,
    /// Buffers that were written by their address: what was zeroed beside that may fail unmet.
    assumed: Vec<usize>,
    /// The transfers of each buffer in all.
    totals: Vec<Tally>,
    budget: Option<Budget>,
    /// Bytes that commands copied up, down and between devices, which are no transfers.
    carried: [u64; 3],
    leeway: Leeway,
}

type Verdict = Result<(), String>;

/// The reasons for failures that the program does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leeway {
    /// Nothing.
    None,
    /// A call of a backend failed. Something of the command for which it was made fails; data that
    /// do not depend on that are as right as ever.
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
    if program.config.abrupt && leeway != Leeway::None {
        // Nobody has asked how anything ended.
        return oracle.reports(record);
    }
    let seen: HashMap<u32, &Seen> = record.steps.iter().map(|s| (s.id, s)).collect();
    oracle.made(record)?;
    for step in &program.steps {
        if let Some(seen) = seen.get(&step.id) {
            oracle.step(step, seen).map_err(|why| format!("step {}: {why}", step.id))?;
        }
    }
    oracle.guards.clear();
    oracle.finals(record)?;
    oracle.backs(record)?;
    oracle.totals(record)?;
    oracle.reports(record)?;
    oracle.sums(record)
}

impl<'a> Oracle<'a> {
    fn new(program: &'a Program) -> Oracle<'a> {
        let domains = program.config.domains();
        let specs = program.buffers.iter().enumerate();
        let storages = specs.map(|(at, spec)| Storage::new(at, spec, &domains)).collect();
        let queues = program.config.queues.len();
        Oracle {
            program,
            domains,
            storages,
            guards: Vec::new(),
            ends: HashMap::new(),
            roots: vec![Default::default(); queues],
            told: vec![Vec::new(); queues],
            own: Vec::new(),
            assumed: Vec::new(),
            totals: vec![Tally::default(); program.buffers.len()],
            budget: Budget::of(&program.config, program.buffers.len()),
            carried: [0; 3],
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
            What::Release { buffer, device } => self.release(*buffer, self.domains[*device], seen),
            What::Assume { view, device } => self.assume(view, self.domains[*device], seen),
            What::Adopt { buffer } => {
                self.storages[*buffer].home = None;
                match &seen.call {
                    Outcome::Fine => Ok(()),
                    other => Err(format!("USM became no buffer: {other:?}")),
                }
            }
            What::Enter { .. } => match &seen.call {
                Outcome::Fine => Ok(()),
                other => Err(format!("no view: {other:?}")),
            },
            What::Leave { buffer } => {
                self.host(&self.whole(*buffer), Mode::Read, None, seen)?;
                self.storages[*buffer].closed = true;
                Ok(())
            }
            What::Drop { buffer } => self.drop_buffer(*buffer, seen),
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
        (elements, access.mode.discards() && exact)
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

    /// A call that has failed because a backend's has, and so has changed nothing. By which names
    /// it may fail, [`crate::blame`] knows.
    fn refused(&self, call: &Outcome) -> bool {
        self.leeway != Leeway::None && call.is_refused()
    }

    /// Where a command that runs in `place` has a buffer.
    fn domain_of(&self, buffer: usize, place: usize) -> usize {
        self.storages[buffer].home.unwrap_or(place)
    }

    /// USM is used where it is; copies go anywhere.
    fn accessible(&self, action: &Action, place: usize) -> bool {
        match action {
            Action::Copy { .. } | Action::Upload { .. } => true,
            Action::RawFill { to: view } | Action::RawHint { view } => {
                self.domain_of(view.buffer, 0) == place
            }
            _ => action.accesses().iter().all(|(access, _)| {
                let storage = &self.storages[access.view.buffer];
                let here = self.domain_of(access.view.buffer, place) == place;
                here || (action.on_host() && storage.reachable) || access.view.part.is_empty()
            }),
        }
    }

    /// The reason to refuse a command.
    fn refusal(&self, action: &Action, place: usize, nothing: bool) -> Option<Outcome> {
        let accesses: Vec<Access> = action.accesses().into_iter().map(|(a, _)| a).collect();
        for (at, a) in accesses.iter().enumerate() {
            let writes = |b: &Access| a.mode != Mode::Read || b.mode != Mode::Read;
            if accesses[..at].iter().any(|b| writes(b) && place::overlap(&a.view, &b.view)) {
                return Some(Outcome::Aliasing);
            }
        }
        if !self.accessible(action, place) {
            return Some(Outcome::NotAccessible);
        }
        accesses.iter().filter(|_| !nothing).find_map(|a| {
            let ended = self.storages[a.view.buffer].closed.then_some(Outcome::Ended);
            ended.or_else(|| self.held(a).then_some(Outcome::Held))
        })
    }

    fn submit(&mut self, queue: usize, action: &Action, after: &[u32], seen: &Seen) -> Verdict {
        let mut accesses: Vec<Access> = action.accesses().into_iter().map(|(a, _)| a).collect();
        let nothing = action.is_empty();
        if self.refused(&seen.call) {
            return Ok(());
        }
        let device = self.program.config.queues[queue].devices[seen.device];
        let place = if action.on_host() { 0 } else { self.domains[device] };
        if let Some(expected) = self.refusal(action, place, nothing) {
            return match seen.call == expected {
                true => Ok(()),
                false => Err(format!("submission: {:?}, expected {expected:?}", seen.call)),
            };
        }
        if nothing {
            accesses.clear();
        }
        if self.allocate(&accesses, place, &seen.call)? {
            return Ok(());
        }
        if seen.call != Outcome::Fine {
            return Err(format!("submission: {:?}", seen.call));
        }
        self.carry(action, place);
        let mut must: Vec<String> = Vec::new();
        for event in after {
            if let Some(Outcome::Failed(_, label)) = self.ends.get(event) {
                must.push(label.clone());
            }
        }
        let may = self.meet(&accesses, place, &mut must);
        self.moves(&accesses, place, !(must.is_empty() && may.is_empty()), seen)?;
        let planned = action.ends() != Ends::Well && !nothing;
        self.ends.insert(seen.id, seen.end.clone());
        self.judge(queue, seen, &must, &may, planned)?;
        self.excuse(&accesses, place, &seen.end);
        let failed = match &seen.end {
            Outcome::Failed(_, label) => Some(label.as_str()),
            _ => None,
        };
        let outputs = if nothing { Vec::new() } else { self.compute(seen, action, failed)? };
        self.mark(&accesses, place, failed);
        if let Some(root) = failed.filter(|root| may.iter().any(|label| label == root)) {
            self.spoil(&accesses, place, root);
        }
        if failed.is_some() {
            let written = action.raw().into_iter().filter(|(_, writes)| *writes);
            written.for_each(|(view, _)| self.storages[view.buffer].forget(&view));
        }
        for (view, cell, value) in outputs {
            let storage = &mut self.storages[view.buffer];
            match failed {
                None => storage.put(&view, cell, value),
                Some(_) => storage.may_put(&view, cell, value),
            }
        }
        Ok(())
    }

    /// The failures that the accesses meet: those that they must take (added), those that they may.
    fn meet(&self, accesses: &[Access], place: usize, must: &mut Vec<String>) -> Vec<String> {
        let mut may = Vec::new();
        for access in accesses {
            let (elements, discards) = self.resolve(access);
            let domain = self.domain_of(access.view.buffer, place);
            let pages = &self.storages[access.view.buffer].pages;
            // Linked memory is that of two domains.
            let memory = (!self.program.config.links).then_some(domain);
            may.extend(pages.taints(&elements, memory, discards));
            if !discards {
                must.extend(pages.failures(&elements));
            }
        }
        may
    }

    /// Brings what the accesses need, and compares that with what was moved.
    fn moves(&mut self, accesses: &[Access], place: usize, doomed: bool, seen: &Seen) -> Verdict {
        let mut tallies: HashMap<usize, Tally> = HashMap::new();
        for access in accesses {
            let (elements, discards) = self.resolve(access);
            let domain = self.domain_of(access.view.buffer, place);
            let tally = tallies.entry(access.view.buffer).or_default();
            // Nor is it known what has gone for others.
            let goes = self.program.buffers[access.view.buffer].evict.is_some();
            tally.uncertain |= self.program.config.links || goes;
            let pages = &mut self.storages[access.view.buffer].pages;
            if discards {
                // After a copy that failed it may count as an update.
                tally.uncertain |= pages.uncertain(&elements);
            } else {
                pages.bring(&elements, domain, doomed, tally);
            }
        }
        tallies.iter().for_each(|(buffer, tally)| self.totals[*buffer].add(tally));
        for (buffer, moved) in &seen.moved {
            let tally = tallies.get(buffer).copied().unwrap_or_default();
            let right = tally.fits(moved);
            // Transfers by other threads meanwhile are among them; the sum is right.
            let alone = !self.program.buffers[*buffer].shared || self.program.threads() == 1;
            let links = self.program.config.links;
            if alone && !right && !tally.uncertain && !links && self.leeway != Leeway::Loss {
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
                let gone =
                    ["buffer ", "usm on ", "view"].iter().any(|what| label.starts_with(what));
                let lost = self.leeway == Leeway::Loss && (label.is_empty() || gone);
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

    /// A fault of a command may have been one of its transfers, or a change of the side that uses
    /// linked memory: that fails all that uses the buffer before it is known.
    fn excuse(&mut self, accesses: &[Access], place: usize, end: &Outcome) {
        let Outcome::Failed(_, label) = end else { return };
        if self.leeway == Leeway::None {
            return;
        }
        for access in accesses {
            let elements = match self.program.config.links {
                true => Box3::whole(self.storages[access.view.buffer].spec.dims),
                false => self.resolve(access).0,
            };
            let domain = self.domain_of(access.view.buffer, place);
            let pages = &mut self.storages[access.view.buffer].pages;
            pages.taint(&elements, domain, label);
            pages.doubt(&elements);
        }
    }

    /// Marks pages and bytes as a command leaves them.
    fn mark(&mut self, accesses: &[Access], place: usize, failed: Option<&str>) {
        for access in accesses.iter().filter(|a| a.mode != Mode::Read) {
            let (elements, discards) = self.resolve(access);
            let domain = self.domain_of(access.view.buffer, place);
            let storage = &mut self.storages[access.view.buffer];
            if discards {
                storage.pages.discard(&elements, domain, failed);
                if let Some(root) = failed {
                    storage.pages.taint(&elements, domain, root);
                }
            } else {
                storage.pages.update(&elements, domain, failed);
            }
            if failed.is_some() || access.mode.discards() {
                storage.loosen(&access.view);
            }
            // A device's failure leaves pages without contents; USM shows that to raw commands.
            if failed.is_some() && storage.home.is_some() && self.leeway != Leeway::None {
                storage.loosen_pages(&elements);
            }
        }
    }

    /// A command has failed that may have run on memory which a failed one has spoilt: then what it
    /// should have changed is spoilt, too.
    fn spoil(&mut self, accesses: &[Access], place: usize, root: &str) {
        for access in accesses.iter().filter(|a| a.mode != Mode::Read) {
            let (elements, _) = self.resolve(access);
            let domain = self.domain_of(access.view.buffer, place);
            self.storages[access.view.buffer].pages.taint(&elements, domain, root);
        }
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
        let storage = &self.storages[view.buffer];
        if storage.home.is_some() && !storage.reachable {
            return match seen.call {
                Outcome::NotAccessible => Ok(false),
                _ => Err(format!("host access: {:?}, expected NotAccessible", seen.call)),
            };
        }
        if storage.closed {
            return match seen.call {
                Outcome::Ended => Ok(false),
                _ => Err(format!("host access: {:?}, expected Ended", seen.call)),
            };
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
                self.storages[view.buffer].compare(view, &seen.data, mode.discards())?;
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
                if !must.contains(&label) && !may.contains(&label) {
                    self.own.push(label.clone());
                }
                self.excuse(&[access], 0, &seen.call);
                self.mark(&[access], 0, Some(&label));
                Ok(false)
            }
            other => Err(format!("host access: {other:?}; what it reads failed: {must:?}")),
        }
    }

    /// All of a buffer.
    fn whole(&self, buffer: usize) -> View {
        let BufferSpec { ty, dims, .. } = self.storages[buffer].spec;
        View { buffer, ty, dims, part: Box3::whole(dims) }
    }

    /// A transfer for the host has failed.
    fn excused(&self, view: &View, label: &str) -> bool {
        match self.leeway {
            Leeway::None => false,
            Leeway::Fault => label == self.program.buffer_label(view.buffer),
            Leeway::Loss => label.is_empty() || label == self.program.buffer_label(view.buffer),
        }
    }
}
