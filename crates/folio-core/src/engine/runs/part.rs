//! Parts of a run: commands that cannot fail by themselves, as one operation. They are a chain, or
//! the whole run.
//!
//! Such an operation waits for all that its commands wait for, and fails as one. That must not be
//! seen: each command has to fail as if it had been submitted by itself. None of them has a check
//! left, so only the failure of something before the part could tell them apart. In a chain each
//! later command uses what the first has led to. A part is one operation if all that it waits for
//! is one of
//!
//! - what each of its entries, the commands that come after no other one of it, waits for, and
//!   fails with in the same way;
//! - an earlier part of the same graph of which the same is true, so that only the device can fail
//!   it;
//! - a copy that brings data for it, zeroes something or changes the side of linked memory, and
//!   that comes after nothing that could fail but by the device.
//!
//! Otherwise its commands are submitted one by one. Should the device fail a part by itself, or
//! what brings data for it, all of its commands have failed, and so have the parts that come after
//! it.

use crate::engine::ledger::Ledger;
use crate::engine::pages::storage::StorageId;
use crate::engine::plan::apply::For;
use crate::engine::plan::{Step, What};
use crate::engine::runs::block::SLOW;
use crate::engine::runs::command::Command;
use crate::engine::runs::whole::Whole;
use crate::engine::terms::access::Access;
use crate::order::hazards::{Dep, Deps, Outcome};
use crate::order::stamp::Stamp;
use crate::pages::DomainId;
use crate::planted::{Plant, Planted};
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Why a part is not one operation this time.
pub(crate) type Apart = &'static str;

/// A reason that names a place in the program's source. Each is kept for ever, and once: there are
/// no more than checks in the source.
pub(crate) fn apart_for_good(why: String) -> Apart {
    static KNOWN: Mutex<BTreeSet<Apart>> = Mutex::new(BTreeSet::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.get(&*why) {
        return known;
    }
    let why = &*Box::leak(why.into_boxed_str());
    known.insert(why);
    why
}

pub(crate) const TRACED: Apart = "a trace subscriber sees each command";
const TRACKER: Apart = "a page tracker of the program's knows where data are";
pub(in crate::engine) const MOVES: Apart =
    "data must be brought that something may still fail to write";
pub(crate) const WAITS: Apart =
    "something that has not ended may fail some of its commands, and others not";
const FAILED: Apart = "something has failed that one of its commands uses";

/// A part that is one operation.
pub(crate) struct Joined {
    pub(crate) stamp: Stamp,
    /// Only the device can fail it.
    pub(crate) sure: bool,
    /// What brings data for it. Only the device can fail these.
    pub(crate) brought: SmallVec<[Stamp; 2]>,
}

impl Ledger {
    /// Submits a part as one operation. If its commands have to be submitted one by one, nothing
    /// has changed but that data may have been brought for them. `known`: what only the device can
    /// fail.
    pub(crate) fn join(
        &mut self,
        command: &mut Command,
        whole: &Whole,
        known: &dyn Fn(Stamp) -> bool,
        plant: Plant,
    ) -> Result<Joined, Apart> {
        if self.traced {
            return Err(TRACED);
        }
        let foreign = |at: &Access| self.storages[at.storage.0].residency.tracker().is_foreign();
        if command.accesses.iter().any(foreign) {
            return Err(TRACKER);
        }
        if !whole.fixed.is_chain && whole.native.graph.is_slow() {
            return Err(SLOW);
        }
        let (mut deps, lane) = self.begin(command);
        let common = deps.clone();
        let raw = self.raw_usm(command);
        let brought = match plant.is(Planted::StaleEntry) {
            true => Deps::new(),
            false => {
                let who = For { queue: command.queue, label: &command.label, lane };
                let of = (&command.accesses[..], &raw[..]);
                self.bring_for_part(of, whole, who, known, &mut deps)?
            }
        };
        match plant.is(Planted::FirstOnly) {
            true => {
                whole.fixed.members.iter().take(1).for_each(|one| self.own_deps(one, &mut deps))
            }
            false => self.hazard_deps(&command.accesses, &mut deps),
        }
        for &(id, domain) in &raw {
            self.storages[id.0].residency.arrivals(domain, &mut deps);
        }
        let brought: SmallVec<[Stamp; 2]> = brought.iter().map(|dep| dep.stamp).collect();
        let known = |stamp| known(stamp) || brought.contains(&stamp);
        let sure = self.is_even(&deps, &common, whole, &known)?;
        let stamp = self.act(command, lane, deps);
        self.end(command, &raw, stamp);
        self.note_in_queue(command.queue, stamp, command.in_order);
        Ok(Joined { stamp, sure, brought })
    }

    /// Brings what a part needs. What the first command of a chain needs is brought as if that came
    /// by itself, so a failure there fails the part in the same way. The rest is brought, and told,
    /// if only the device can fail that.
    fn bring_for_part(
        &mut self,
        (accesses, raw): (&[Access], &[(StorageId, DomainId)]),
        whole: &Whole,
        who: For<'_>,
        known: &dyn Fn(Stamp) -> bool,
        deps: &mut Deps,
    ) -> Result<Deps, Apart> {
        if self.is_ready(accesses, raw, deps) {
            return Ok(Deps::new());
        }
        if let Some(first) = whole.fixed.members.first().filter(|_| whole.fixed.is_chain) {
            let mut accesses = first.accesses.clone();
            for access in &mut accesses {
                access.place = self.storages[access.storage.0].place(access.domain);
            }
            let raw = self.raw_usm(first);
            self.prepare(&accesses, &raw, who, &mut deps.clone());
        }
        let mut plan = self.plan_of(accesses, raw, deps);
        match plan.steps.iter().find_map(|step| self.why_unsure(step, known)) {
            Some(why) => return Err(why),
            None => deps.append(&mut plan.deps),
        }
        let mut brought = Deps::new();
        self.apply(plan, who, &mut brought);
        deps.extend(brought.iter().cloned());
        Ok(brought)
    }

    /// Why something else than the device may fail a step of a plan.
    fn why_unsure(&self, step: &Step, known: &dyn Fn(Stamp) -> bool) -> Option<Apart> {
        let residency = &self.storages[step.storage.0].residency;
        let mut before = Deps::new();
        residency.turn_deps(&mut before);
        match &step.what {
            What::Bring { copies, .. } => {
                copies.iter().for_each(|of| before.extend(of.after.iter().cloned()));
            }
            What::Zero { after, .. } => before.extend(after.iter().cloned()),
            What::Switch { .. } => residency.all_deps(&mut before),
            What::Complete => return None,
            What::Lost { .. } => return Some(FAILED),
        }
        before.iter().find_map(|dep| match self.timeline.outcome(dep.stamp) {
            Outcome::Fine => None,
            Outcome::Failed => {
                let failures = &self.timeline.failures;
                failures.along(dep.stamp, dep.flow).map(|_| FAILED)
            }
            Outcome::Pending => {
                let may_fail = !known(dep.stamp) && dep.flow.carries(true);
                may_fail.then_some(MOVES)
            }
        })
    }

    /// What a command of a part waits for by its data.
    fn own_deps(&self, command: &Command, deps: &mut Deps) {
        for access in &command.accesses {
            let mut access = *access;
            access.place = self.storages[access.storage.0].place(access.domain);
            self.storages[access.storage.0].residency.deps(&access, deps);
        }
        for (id, domain) in self.raw_usm(command) {
            self.storages[id.0].residency.arrivals(domain, deps);
        }
    }

    /// Whether only the device can fail a part with these dependencies, of which all of its
    /// commands have those in `common`. An error if what comes before it could fail one of its
    /// commands and not another.
    fn is_even(
        &self,
        deps: &Deps,
        common: &Deps,
        whole: &Whole,
        known: &dyn Fn(Stamp) -> bool,
    ) -> Result<bool, Apart> {
        let timeline = &self.timeline;
        let entries = || {
            let all = whole.fixed.members.iter().zip(&whole.fixed.after);
            let entries = all.filter(|(_, after)| after.is_empty());
            let deps = entries.map(|(entry, _)| {
                let mut deps = common.clone();
                self.own_deps(entry, &mut deps);
                deps
            });
            deps.collect::<Vec<Deps>>()
        };
        let mut of_entries = None;
        let mut sure = true;
        for dep in deps {
            match timeline.outcome(dep.stamp) {
                Outcome::Fine => continue,
                Outcome::Failed if timeline.failures.along(dep.stamp, dep.flow).is_some() => {
                    return Err(FAILED);
                }
                Outcome::Failed => continue,
                Outcome::Pending if known(dep.stamp) => continue,
                Outcome::Pending => {}
            }
            let carries = |dep: &Dep| [false, true].map(|spoilt| dep.flow.carries(spoilt));
            let own = carries(dep);
            let fails_with_it = |entry: &Deps| {
                let of_entry = entry.iter().filter(|of| of.stamp == dep.stamp).map(carries);
                let of_entry = of_entry.reduce(|a, b| [a[0] | b[0], a[1] | b[1]]);
                of_entry.is_some_and(|of| (of[0] || !own[0]) && (of[1] || !own[1]))
            };
            let entries: &Vec<Deps> = of_entries.get_or_insert_with(entries);
            if entries.is_empty() || !entries.iter().all(fails_with_it) {
                return Err(WAITS);
            }
            sure &= !own[1];
        }
        Ok(sure)
    }
}

/// The commands of a part, with their numbers, to be submitted one by one. What they call is the
/// engine's own code.
pub(crate) fn again(whole: &Whole) -> impl Iterator<Item = (u32, Command)> {
    let members = whole.fixed.at.iter().copied().zip(&whole.fixed.members);
    members.filter_map(|(at, member)| {
        let mut command = member.again()?;
        command.arm();
        Some((at, command))
    })
}
