//! Live allocations and who touches them.

use super::order::Clock;
use super::region::Region;
use super::rule::{Report, Rule};
use folio_core::hal::{AllocReq, Allocation, HostPtr, MemBase, MemRef, Tick};
use std::collections::HashMap;

/// Whose bytes: the host's, or an allocation's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Space {
    Host,
    Device { device: u32, handle: u64 },
}

/// The kinds of accesses to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    Reads,
    Writes,
    /// The memory must be there, and is not used.
    Names,
}

impl How {
    pub(super) fn of(write: bool) -> How {
        if write { How::Writes } else { How::Reads }
    }

    /// The order of the two matters.
    pub(super) fn conflicts(self, other: How) -> bool {
        use How::{Names, Writes};
        (self == Writes && other != Names) || (other == Writes && self != Names)
    }
}

/// A use of memory by an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) space: Space,
    pub(super) region: Region,
    pub(super) how: How,
}

struct Used {
    access: Access,
    lane: u32,
    tick: Tick,
}

struct Live {
    size: u64,
    host: Option<u64>,
    address: Option<u64>,
    imported: bool,
}

#[derive(Default)]
pub(super) struct Memory {
    live: HashMap<(u32, u64), Live>,
    used: HashMap<Space, Vec<Used>>,
}

fn meets(a: Option<u64>, a_size: u64, b: Option<u64>, b_size: u64) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a < b.saturating_add(b_size) && b < a.saturating_add(a_size))
}

impl Memory {
    pub(super) fn alloc(
        &mut self,
        device: u32,
        req: &AllocReq<'_>,
        made: &Allocation,
        report: &Report,
    ) {
        let host = made.host.map(|HostPtr(p)| p as u64);
        let imported = req.import.is_some();
        let aligned = |at: Option<u64>| at.is_none_or(|at| at.is_multiple_of(req.align.max(1)));
        if !(imported || aligned(host) && aligned(made.address)) {
            report.add(Rule::BackendMemory, format!("{made:?} is not aligned to {}", req.align));
        }
        let others = self.live.iter().filter(|(_, live)| !imported && !live.imported);
        for ((d, handle), live) in others {
            let same = *d == device && meets(made.address, req.size, live.address, live.size);
            if same || meets(host, req.size, live.host, live.size) {
                report.add(Rule::BackendMemory, format!("{made:?} overlaps allocation {handle}"));
            }
        }
        let live = Live { size: req.size, host, address: made.address, imported };
        if self.live.insert((device, made.handle), live).is_some() {
            report.add(Rule::BackendMemory, format!("handle {} is in use", made.handle));
        }
    }

    /// `ended` tells whether an operation has ended for all that the engine knows.
    pub(super) fn free(
        &mut self,
        device: u32,
        handle: u64,
        ended: impl Fn(u32, Tick) -> bool,
        report: &Report,
    ) {
        if self.live.remove(&(device, handle)).is_none() {
            report.add(Rule::Free, format!("device {device} has no allocation {handle}"));
        }
        let used = self.used.remove(&Space::Device { device, handle }).unwrap_or_default();
        for Used { lane, tick, .. } in used {
            if !ended(lane, tick) {
                let what = format!("allocation {handle} is used by tick {tick} of lane {lane}");
                report.add(Rule::Free, what);
            }
        }
    }

    /// Where `region`, counted from `mem`, really is. Reports what is wrong with it.
    pub(super) fn locate(
        &self,
        mem: &MemRef,
        region: Region,
        report: &Report,
    ) -> Option<(Space, Region)> {
        let start = mem.offset.checked_add(region.start)?;
        start.checked_add(region.end() - region.start)?;
        match mem.base {
            MemBase::Device { device, handle } => {
                let Some(live) = self.live.get(&(device, handle)) else {
                    report.add(Rule::Live, format!("allocation {handle} of device {device}"));
                    return None;
                };
                let region = region.at(start);
                if region.end() > live.size {
                    let what = format!("byte {} of {} in {mem:?}", region.end(), live.size);
                    report.add(Rule::Bounds, what);
                    return None;
                }
                // Memory that two allocations share is known by its host address.
                match live.host.filter(|_| live.imported) {
                    Some(host) => Some((Space::Host, region.at(host + start))),
                    None => Some((Space::Device { device, handle }, region)),
                }
            }
            MemBase::Host(HostPtr(base)) => {
                let at = (base as u64).checked_add(start)?;
                at.checked_add(region.end() - region.start)?;
                let owner =
                    self.live.iter().filter(|(_, live)| !live.imported).find_map(|(key, live)| {
                        let offset = at.checked_sub(live.host?)?;
                        (offset < live.size).then_some((*key, offset))
                    });
                Some(match owner {
                    Some(((device, handle), offset)) => {
                        (Space::Device { device, handle }, region.at(offset))
                    }
                    None => (Space::Host, region.at(at)),
                })
            }
        }
    }

    /// Books an access by (`lane`, `tick`), which begins after `clock`; reports races.
    pub(super) fn touch(
        &mut self,
        access: Access,
        (lane, tick): (u32, Tick),
        clock: &Clock,
        ended: impl Fn(u32, Tick) -> bool,
        report: &Report,
    ) {
        let used = self.used.entry(access.space).or_default();
        used.retain(|u| !ended(u.lane, u.tick));
        let racing = used.iter().find(|u| {
            u.access.how.conflicts(access.how)
                && (u.lane, u.tick) != (lane, tick)
                && clock.get(u.lane) < u.tick
                && u.access.region.overlaps(&access.region)
        });
        if let Some(other) = racing {
            let verb = |how| if how == How::Writes { "writes" } else { "reads" };
            let what = format!(
                "tick {tick} of lane {lane} {} what tick {} of lane {} {}, unordered: {:?}",
                verb(access.how),
                other.tick,
                other.lane,
                verb(other.access.how),
                access.space,
            );
            report.add(Rule::Race, what);
        }
        used.push(Used { access, lane, tick });
    }

    /// An operation that will not touch memory after all.
    pub(super) fn untouch(&mut self, lane: u32, tick: Tick) {
        for used in self.used.values_mut() {
            used.retain(|u| (u.lane, u.tick) != (lane, tick));
        }
    }
}
