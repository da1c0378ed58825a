//! Copies between memories: which way they take, and who does them.

use crate::engine::lanes::Payload;
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
pub(crate) const UPLOAD: u16 = COMPUTE_LANES;
pub(crate) const DOWNLOAD: u16 = COMPUTE_LANES + 1;
const PEER: u16 = COMPUTE_LANES + 2;

/// Which way a copy takes.
#[derive(Clone, Copy)]
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

impl Ledger {
    /// A lane of the device that does the copies of a memory, if there is one.
    pub(crate) fn copy_lane(&self, domain: DomainId, offset: u16) -> Option<LaneId> {
        let device = self.topology.domain_device.get(usize::from(domain.0)).copied().flatten()?;
        let lane = LaneId(device * LANES_PER_DEVICE + offset);
        Some(self.topology.lane_alias[usize::from(lane.0)])
    }

    pub(crate) fn route(&self, from: DomainId, to: DomainId) -> Route {
        let lane = |domain, offset| self.copy_lane(domain, offset);
        let way = if from == to {
            lane(to, COMPUTE).map(Route::Direct)
        } else if from == DomainId::HOST {
            lane(to, UPLOAD).map(Route::Direct)
        } else if to == DomainId::HOST {
            lane(from, DOWNLOAD).map(Route::Direct)
        } else if self.topology.links.contains_key(&(from, to)) {
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
        copies.or_else(|| self.topology.lane_of(domain, lane)).map_or(Route::Host, Route::Direct)
    }

    /// Submits a copy, whichever way it takes.
    pub(crate) fn copy(
        &mut self,
        job: CopyJob<'_>,
        from: DomainId,
        to: DomainId,
        rects: SmallVec<[CopyRect; 2]>,
    ) -> Stamp {
        self.copy_by(job, self.route(from, to), rects)
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
            // SAFETY: the engine checked the rectangle against both allocations, keeps them
            // alive, and lets nobody else write the one or use the other meanwhile.
            unsafe {
                let (from, to) = (src.0.add(from as usize), dst.0.add(to as usize));
                from.copy_to_nonoverlapping(to, bytes as usize);
            }
        }
    }
    true
}
