//! The end of a program: what the host reads then, who was told of what, and the sums.

use super::{Leeway, Oracle, Verdict};
use crate::program::{Action, Memory, Mode};
use crate::run::{Outcome, Record, Seen};
use std::collections::HashSet;

impl Oracle<'_> {
    /// Buffers are made unless a backend has failed.
    pub(super) fn made(&mut self, record: &Record) -> Verdict {
        for (at, call) in record.made.iter().enumerate() {
            if self.refused(call) || self.allocate_usm(at, call)? {
                continue;
            }
            if *call != Outcome::Fine {
                return Err(format!("buffer {at} was not made: {call:?}"));
            }
            let spec = &self.storages[at].spec;
            if let (Memory::Over(Some((device, _))), true) = (spec.memory, spec.initialised) {
                let bytes = spec.dims[2] * spec.ty.size();
                self.copied(0, self.domains[device], bytes);
            }
        }
        Ok(())
    }

    /// Counts the bytes that a command copies between memories.
    pub(super) fn carry(&mut self, action: &Action, place: usize) {
        let (from, to) = match action {
            Action::Upload { to } => (0, to),
            Action::Copy { from, to } => (self.domain_of(from.buffer, place), to),
            Action::RawCopy { from, to } => (self.domain_of(from.buffer, 0), to),
            _ => return,
        };
        let raw = matches!(action, Action::RawCopy { .. });
        let target = self.domain_of(to.buffer, if raw { 0 } else { place });
        self.copied(from, target, to.part.volume() * to.ty.size());
    }

    fn copied(&mut self, from: usize, to: usize, bytes: usize) {
        let peers = self.program.config.sim.as_ref().is_some_and(|sim| sim.peers);
        let ways: &[usize] = match (from, to) {
            (0, 0) => &[],
            (0, _) => &[0],
            (_, 0) => &[1],
            (a, b) if a == b => &[],
            _ if peers => &[2],
            _ => &[0, 1],
        };
        ways.iter().for_each(|way| self.carried[*way] += bytes as u64);
    }

    pub(super) fn finals(&mut self, record: &Record) -> Verdict {
        for (at, found) in record.finals.iter().enumerate() {
            let Some((call, data)) = found else { continue };
            let view = self.whole(at);
            let seen = Seen::at_the_end(call.clone(), data.clone());
            // USM has become a buffer by then.
            self.storages[at].home = None;
            self.host(&view, Mode::Read, None, &seen)
                .map_err(|why| format!("at the end: {why}"))?;
        }
        Ok(())
    }

    /// The transfers of each buffer, whichever command caused them.
    pub(super) fn totals(&self, record: &Record) -> Verdict {
        for (at, moved) in record.moved.iter().enumerate() {
            let (Some(moved), total) = (moved, &self.totals[at]) else { continue };
            let known = !total.uncertain && !self.program.config.links;
            if self.leeway == Leeway::None && known && !total.fits(moved) {
                return Err(format!("buffer {at} in all: {moved:?}, expected {total:?}"));
            }
        }
        Ok(())
    }

    /// Each root once to the handler, and once from each queue that has it.
    pub(super) fn reports(&mut self, record: &Record) -> Verdict {
        let ids: HashSet<u64> = record.told.iter().map(|t| t.id).collect();
        if ids.len() != record.told.len() {
            return Err(format!("the handler was told twice: {:?}", record.told));
        }
        let unasked = self.program.config.abrupt && self.leeway == Leeway::Fault;
        if self.leeway == Leeway::Loss || unasked {
            return Ok(());
        }
        let mut told: Vec<&str> = record.told.iter().map(|t| t.label.as_str()).collect();
        let mut own: Vec<&str> = self.own.iter().map(String::as_str).collect();
        if self.leeway == Leeway::Fault {
            // The writeback of what is to go may have failed, and then that stays.
            let goes = |b: &usize| self.program.buffers[*b].evict.is_some_and(|(dirty, _)| dirty);
            let evicted = (0..self.program.buffers.len()).filter(goes);
            let unmet: HashSet<String> = (self.assumed.iter().copied().chain(evicted))
                .map(|b| self.program.buffer_label(b))
                .collect();
            told.retain(|label| own.contains(label) || !unmet.contains(*label));
        }
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

    /// The runtime's transfers are those of simulated devices.
    pub(super) fn sums(&self, record: &Record) -> Verdict {
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
        let [up, down, across] = self.carried;
        let expected = [
            runtime.host_to_device.bytes + staged + up,
            runtime.device_to_host.bytes + staged + down,
            peer + across,
        ];
        let done = [sim.uploaded, sim.downloaded, sim.peer];
        if expected == done {
            return Ok(());
        }
        Err(format!("bytes up, down and between devices: {done:?}, counted: {expected:?}"))
    }
}
