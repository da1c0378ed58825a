//! The memory of a device that has a budget: what must fit, and what must not.

use super::{Leeway, Oracle};
use crate::program::{Access, Config, Memory, Program};
use crate::run::Outcome;

/// A budget and what is taken from it.
pub(super) struct Budget {
    domain: usize,
    device: String,
    limit: u64,
    /// Taken by buffers without handles: given back when nobody uses them any more.
    gone: u64,
    /// Buffers that have memory there, unless it has gone for others.
    there: Vec<bool>,
}

impl Budget {
    pub(super) fn of(config: &Config, buffers: usize) -> Option<Budget> {
        let (device, limit) = config.budget?;
        let domain = config.domains()[device];
        let there = vec![false; buffers];
        let device = config.device_name(device);
        Some(Budget { domain, device, limit, gone: 0, there })
    }

    /// Takes what a call needs there; true if it was refused, as it had to be or might be.
    ///
    /// With `leeway`, memory may have gone in ways that are not known here.
    fn take(&mut self, need: &Need, call: &Outcome, leeway: Leeway) -> Result<bool, String> {
        let sum: u64 = need.surely + need.new.iter().map(|(_, bytes)| bytes).sum::<u64>();
        if let Outcome::OutOfMemory { device, bytes, .. } = call {
            let [asked, in_use, limit] = *bytes;
            let named = *device == self.device && limit == self.limit;
            let one = need.new.iter().chain(&need.again).any(|(_, bytes)| *bytes == asked);
            let real = one && in_use + asked > limit;
            let might = sum + need.maybe + self.gone > self.limit;
            return match named && real && might {
                true => Ok(true),
                false => Err(format!("{call:?} for {need:?}, limit {}", self.limit)),
            };
        }
        if sum > self.limit && leeway != Leeway::Loss {
            return Err(format!("{call:?} for {need:?}, limit {}", self.limit));
        }
        need.new.iter().for_each(|(at, _)| self.there[*at] = true);
        Ok(false)
    }
}

/// The memory that a call needs, and that others have meanwhile.
#[derive(Default, Debug)]
struct Need {
    /// Buffers that it needs memory for, and how much.
    new: Vec<(usize, u64)>,
    /// Buffers that have theirs, or had: it may have gone.
    again: Vec<(usize, u64)>,
    /// Memory that does not go for others.
    surely: u64,
    /// Bytes that may be there, and may be in the way.
    maybe: u64,
}

/// Whether memory of a buffer goes when others need it.
enum Goes {
    Never,
    Maybe,
    Surely,
}

fn bytes(program: &Program, buffer: usize) -> u64 {
    let spec = &program.buffers[buffer];
    (spec.dims.iter().product::<usize>() * spec.ty.size()) as u64
}

impl Oracle<'_> {
    /// Memory for a command's accesses; true if there was none.
    pub(super) fn allocate(
        &mut self,
        accesses: &[Access],
        place: usize,
        call: &Outcome,
    ) -> Result<bool, String> {
        let Some(domain) = self.budget.as_ref().map(|budget| budget.domain) else {
            return Ok(false);
        };
        let named = |a: &&Access| self.domain_of(a.view.buffer, place) == domain;
        let named = accesses.iter().filter(named);
        // A command keeps what it names, but needs no memory for nothing.
        let (empty, needed): (Vec<&Access>, _) = named.partition(|a| a.view.part.is_empty());
        let buffers = |some: Vec<&Access>| some.iter().map(|a| a.view.buffer).collect::<Vec<_>>();
        self.take_memory(&buffers(needed), &buffers(empty), call)
    }

    /// Memory of USM, and of buffers over it.
    pub(super) fn allocate_usm(&mut self, at: usize, call: &Outcome) -> Result<bool, String> {
        let device = match self.program.buffers[at].memory {
            Memory::Usm(device, _) | Memory::Over(Some((device, _))) => device,
            _ => return Ok(false),
        };
        let here = |budget: &Budget| budget.domain == self.domains[device];
        match self.budget.as_ref().is_some_and(here) {
            true => self.take_memory(&[at], &[], call),
            false => Ok(false),
        }
    }

    fn take_memory(
        &mut self,
        needed: &[usize],
        kept: &[usize],
        call: &Outcome,
    ) -> Result<bool, String> {
        let Some(budget) = &self.budget else { return Ok(false) };
        let mut need = Need::default();
        for at in 0..self.program.buffers.len() {
            let bytes = bytes(self.program, at);
            match (needed.contains(&at), budget.there[at]) {
                (true, false) => need.new.push((at, bytes)),
                (true, true) => {
                    need.surely += bytes;
                    need.again.push((at, bytes));
                }
                (false, true) => match self.goes(at, budget.domain) {
                    Goes::Never => need.surely += bytes,
                    _ if kept.contains(&at) => need.maybe += bytes,
                    Goes::Maybe => need.maybe += bytes,
                    Goes::Surely => {}
                },
                (false, false) => {}
            }
        }
        let leeway = self.leeway;
        self.budget.as_mut().map_or(Ok(false), |budget| budget.take(&need, call, leeway))
    }

    /// Whether a buffer's memory in `domain` goes when others need it.
    fn goes(&self, at: usize, domain: usize) -> Goes {
        let Some((dirty, _)) = self.program.buffers[at].evict else { return Goes::Never };
        let pages = &self.storages[at].pages;
        let held = self.guards.iter().any(|guard| guard.buffer == at);
        match pages.only_on(domain) {
            // The copy may have gone before.
            _ if held || pages.doubted() || self.leeway != Leeway::None => Goes::Maybe,
            true if !dirty => Goes::Never,
            _ => Goes::Surely,
        }
    }

    /// A buffer's memory in `domain` was given back, at once.
    pub(super) fn released(&mut self, at: usize, domain: usize) {
        let goes = |b: &&mut Budget| b.there[at] && b.domain == domain;
        if let Some(budget) = self.budget.as_mut().filter(goes) {
            budget.there[at] = false;
        }
    }

    /// A handle is gone.
    pub(super) fn deallocate(&mut self, at: usize) {
        let below = match self.program.buffers[at].memory {
            Memory::Over(Some((device, _))) => Some(self.domains[device]),
            _ => None,
        };
        let bytes = bytes(self.program, at);
        // Memory below a buffer over USM stays.
        let goes = |b: &&mut Budget| b.there[at] && below != Some(b.domain);
        if let Some(budget) = self.budget.as_mut().filter(goes) {
            budget.there[at] = false;
            budget.gone += bytes;
        }
    }
}
