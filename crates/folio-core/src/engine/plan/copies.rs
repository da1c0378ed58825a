//! Copies between memories: which way they take, and who does them.

use crate::engine::lanes::Payload;
use crate::engine::ledger::topology::Topology;
use crate::engine::ledger::{Body, Ledger, NewOp};
use crate::engine::pages::storage::StorageId;
use crate::engine::plan::apply::For;
use crate::engine::terms::lane::{COMPUTE_LANES, LANES_PER_DEVICE};
use crate::engine::terms::staging::Staging;
use crate::error::Cause;
use crate::hal::{CopyRect, HalError, MemBase};
use crate::order::hazards::Deps;
use crate::order::stamp::{LaneId, Stamp};
use crate::pages::DomainId;
use smallvec::SmallVec;
use std::sync::Arc;

/// Which of a device's lanes do which copies.
const COMPUTE: u16 = 0;
pub(super) const UPLOAD: u16 = COMPUTE_LANES;
pub(super) const DOWNLOAD: u16 = COMPUTE_LANES + 1;
const PEER: u16 = COMPUTE_LANES + 2;

/// Which way a copy takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// On this lane.
    Direct(LaneId),
    /// To the host on one lane, from there on the other.
    Staged(LaneId, LaneId),
    /// Both ends in host memory, and no device to copy there.
    Host,
}

/// A copy on its way to be submitted.
pub(crate) struct CopyJob<'a> {
    pub(crate) what: &'static str,
    pub(crate) who: For<'a>,
    pub(crate) timed: bool,
    pub(crate) deps: Deps,
    pub(crate) storages: SmallVec<[StorageId; 4]>,
    pub(crate) staging: Option<Arc<Staging>>,
    /// See [`NewOp::defines`].
    pub(crate) defines: bool,
}

impl CopyJob<'_> {
    fn op(self, body: Body) -> NewOp {
        NewOp {
            what: self.what,
            label: self.who.label.clone(),
            queue: self.who.queue,
            timed: self.timed,
            deps: self.deps,
            storages: self.storages,
            staging: self.staging,
            defines: self.defines,
            nodes: None,
            body,
        }
    }
}

impl Topology {
    /// A lane of the device that does the copies of a memory, if there is one.
    pub(super) fn copy_lane(&self, domain: DomainId, offset: u16) -> Option<LaneId> {
        let device = self.domain_device.get(usize::from(domain.0)).copied().flatten()?;
        let lane = LaneId(device * LANES_PER_DEVICE + offset);
        Some(self.lane_alias[usize::from(lane.0)])
    }

    pub(crate) fn route(&self, from: DomainId, to: DomainId) -> Route {
        let lane = |domain, offset| self.copy_lane(domain, offset);
        let way = if from == to {
            lane(to, COMPUTE).map(Route::Direct)
        } else if from == DomainId::HOST {
            lane(to, UPLOAD).map(Route::Direct)
        } else if to == DomainId::HOST {
            lane(from, DOWNLOAD).map(Route::Direct)
        } else if self.links.contains_key(&(from, to)) {
            lane(to, PEER).map(Route::Direct)
        } else {
            lane(from, DOWNLOAD).zip(lane(to, UPLOAD)).map(|(down, up)| Route::Staged(down, up))
        };
        way.unwrap_or(Route::Host)
    }

    /// The way of a copy within a device's memory: to and from memory that is the host's, too, as
    /// if it were the host's; else on `lane`, which was chosen for the command, if that is the
    /// memory's.
    pub(crate) fn route_within(
        &self,
        domain: DomainId,
        of_host: [bool; 2],
        lane: Option<LaneId>,
    ) -> Route {
        let copies = match of_host {
            [true, false] => self.copy_lane(domain, UPLOAD),
            [false, true] => self.copy_lane(domain, DOWNLOAD),
            _ => None,
        };
        // A device without lanes for copies has the first in their place.
        let copies = copies.filter(|lane| lane.0 % LANES_PER_DEVICE >= COMPUTE_LANES);
        copies.or_else(|| self.lane_of(domain, lane)).map_or(Route::Host, Route::Direct)
    }
}

impl Ledger {
    /// Submits a copy, whichever way it takes.
    pub(crate) fn copy(
        &mut self,
        job: CopyJob<'_>,
        from: DomainId,
        to: DomainId,
        rects: SmallVec<[CopyRect; 2]>,
    ) -> Stamp {
        self.copy_by(job, self.topology.route(from, to), rects)
    }

    /// As [`copy`](Self::copy), this way.
    pub(crate) fn copy_by(
        &mut self,
        job: CopyJob<'_>,
        route: Route,
        rects: SmallVec<[CopyRect; 2]>,
    ) -> Stamp {
        match route {
            Route::Direct(lane) => {
                self.submit(job.op(Body::Lane(lane, Payload::Copy(rects.into_vec()))))
            }
            Route::Staged(down, up) => self.copy_staged(job, (down, up), &rects),
            Route::Host => self.submit(job.op(Body::Host(Box::new(move || {
                if rects.iter().all(copy_on_host) {
                    return Ok(());
                }
                Err(Cause::Backend(HalError::unsupported("a copy without a device that can"))
                    .into())
            })))),
        }
    }
}

/// Copies between two places in host memory; `false` if they are not.
fn copy_on_host(rect: &CopyRect) -> bool {
    let (MemBase::Host(src), MemBase::Host(dst)) = (rect.src.base, rect.dst.base) else {
        return false;
    };
    let [slices, rows, bytes] = rect.extent;
    for slice in 0..slices {
        for row in 0..rows {
            let from = rect.src.offset + slice * rect.src_pitch[0] + row * rect.src_pitch[1];
            let to = rect.dst.offset + slice * rect.dst_pitch[0] + row * rect.dst_pitch[1];
            // SAFETY: the engine checked the rectangle against both allocations, keeps them alive,
            // and lets no other operation write the one or use the other meanwhile.
            unsafe {
                let (from, to) = (src.0.add(from as usize), dst.0.add(to as usize));
                from.copy_to_nonoverlapping(to, bytes as usize);
            }
        }
    }
    true
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::engine::ledger::DeviceFacts;
    use crate::engine::terms::lane::WaitKey;
    use crate::hal::Link;

    /// Two devices with memories of their own, of which the second has no lanes for copies.
    fn topology() -> Topology {
        let key = WaitKey { backend: 0, group: None };
        let facts = |at| DeviceFacts { domain: DomainId(at), key, hints: false };
        let names = ["a:0", "a:1"].map(str::to_owned);
        let mut topology = Topology::new([1, 2].map(facts).to_vec(), Arc::new(names), vec![]);
        topology.domain_device = vec![None, Some(0), Some(1)];
        for copies in COMPUTE_LANES..LANES_PER_DEVICE {
            topology.lane_alias[usize::from(LANES_PER_DEVICE + copies)] = LaneId(LANES_PER_DEVICE);
        }
        topology
    }

    #[test]
    fn copy_takes_the_lane_of_its_direction_or_goes_by_way_of_the_host() {
        let mut topology = topology();
        let [host, one, two] = [0, 1, 2].map(DomainId);
        let direct = |lane| Route::Direct(LaneId(lane));
        assert_eq!(topology.route(host, host), Route::Host);
        assert_eq!(topology.route(host, one), direct(UPLOAD));
        assert_eq!(topology.route(one, host), direct(DOWNLOAD));
        assert_eq!(topology.route(host, two), direct(LANES_PER_DEVICE));
        let [down, up] = [DOWNLOAD, LANES_PER_DEVICE].map(LaneId);
        assert_eq!(topology.route(one, two), Route::Staged(down, up));
        topology.links.insert((two, one), Link::default());
        assert_eq!(topology.route(two, one), direct(PEER));
    }

    #[test]
    fn copy_within_a_memory_stays_on_the_lane_of_its_command() {
        let (topology, one) = (topology(), DomainId(1));
        let own = Some(LaneId(2));
        let route = |of_host, lane| topology.route_within(one, of_host, lane);
        assert_eq!(route([false, false], own), Route::Direct(LaneId(2)));
        assert_eq!(route([true, true], None), Route::Direct(LaneId(0)));
        assert_eq!(route([true, false], own), Route::Direct(LaneId(UPLOAD)));
        assert_eq!(route([false, true], own), Route::Direct(LaneId(DOWNLOAD)));
        // Lanes of another device's memory do not count.
        let other = Some(LaneId(LANES_PER_DEVICE));
        assert_eq!(route([false, false], other), Route::Direct(LaneId(0)));
    }
}
