//! The memory of a device that has a budget: what must fit, and what must not.

use super::{Leeway, Oracle};
use crate::program::{Access, Config, Memory, Program};
use crate::run::Outcome;

/// A budget and what is taken from it.
pub(super) struct Budget {
    domain: usize,
    device: String,
    limit: u64,
    /// Taken by buffers that have handles, and for good.
    live: u64,
    /// Taken by buffers without handles: given back when nobody uses them any more.
    gone: u64,
    /// Who has memory there.
    there: Vec<bool>,
}

impl Budget {
    pub(super) fn of(config: &Config, buffers: usize) -> Option<Budget> {
        let (device, limit) = config.budget?;
        let domain = config.domains()[device];
        let there = vec![false; buffers];
        let device = config.device_name(device);
        Some(Budget { domain, device, limit, live: 0, gone: 0, there })
    }

    /// Takes what `needed` are going to have there; true if the call was refused, as it had to be
    /// or might be.
    ///
    /// With `leeway`, memory may have gone in ways that are not known here.
    fn take(
        &mut self,
        needed: &[(usize, u64)],
        call: &Outcome,
        leeway: Leeway,
    ) -> Result<bool, String> {
        let new: Vec<(usize, u64)> =
            needed.iter().copied().filter(|(at, _)| !self.there[*at]).collect();
        let sum: u64 = self.live + new.iter().map(|(_, bytes)| bytes).sum::<u64>();
        if let Outcome::OutOfMemory { device, bytes, .. } = call {
            let [asked, in_use, limit] = *bytes;
            let named = *device == self.device && limit == self.limit;
            let real = new.iter().any(|(_, bytes)| *bytes == asked) && in_use + asked > limit;
            let might = sum + self.gone > self.limit;
            return match named && real && might {
                true => Ok(true),
                false => Err(format!("{call:?} for {new:?}, {} in use", self.live)),
            };
        }
        if sum > self.limit && leeway != Leeway::Loss {
            return Err(format!("{call:?} for {new:?}, {} of {} in use", self.live, self.limit));
        }
        self.live = sum;
        new.iter().for_each(|(at, _)| self.there[*at] = true);
        Ok(false)
    }
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
        let mut needed: Vec<(usize, u64)> = Vec::new();
        for access in accesses {
            let at = access.view.buffer;
            let here = self.domain_of(at, place) == domain && !access.view.part.is_empty();
            if here && !needed.iter().any(|(other, _)| *other == at) {
                needed.push((at, bytes(self.program, at)));
            }
        }
        let leeway = self.leeway;
        self.budget.as_mut().map_or(Ok(false), |budget| budget.take(&needed, call, leeway))
    }

    /// Memory of USM, and of buffers over it.
    pub(super) fn allocate_usm(&mut self, at: usize, call: &Outcome) -> Result<bool, String> {
        let device = match self.program.buffers[at].memory {
            Memory::Usm(device, _) | Memory::Over(Some((device, _))) => device,
            _ => return Ok(false),
        };
        let needed = [(at, bytes(self.program, at))];
        match &mut self.budget {
            Some(budget) if budget.domain == self.domains[device] => {
                budget.take(&needed, call, self.leeway)
            }
            _ => Ok(false),
        }
    }

    /// A buffer's memory in `domain` was given back, at once.
    pub(super) fn released(&mut self, at: usize, domain: usize) {
        let bytes = bytes(self.program, at);
        let goes = |b: &&mut Budget| b.there[at] && b.domain == domain;
        if let Some(budget) = self.budget.as_mut().filter(goes) {
            budget.there[at] = false;
            budget.live -= bytes;
        }
    }

    /// A handle is gone.
    pub(super) fn deallocate(&mut self, at: usize) {
        let below = match self.program.buffers[at].memory {
            Memory::Over(Some((device, _))) => Some(self.domains[device]),
            _ => None,
        };
        let bytes = bytes(self.program, at);
        // What is below a buffer over USM stays.
        let goes = |b: &&mut Budget| b.there[at] && below != Some(b.domain);
        if let Some(budget) = self.budget.as_mut().filter(goes) {
            budget.there[at] = false;
            budget.live -= bytes;
            budget.gone += bytes;
        }
    }
}
