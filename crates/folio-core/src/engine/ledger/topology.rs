//! The devices of a runtime, their lanes and memories, and what lies between these.

use crate::engine::ledger::DeviceFacts;
use crate::engine::terms::lane::LANES_PER_DEVICE;
use crate::engine::terms::lane::WaitKey;
use crate::error::Failure;
use crate::hal::Link;
use crate::order::stamp::LaneId;
use crate::pages::{DomainId, DomainSet};
use std::collections::HashMap;
use std::sync::Arc;

/// Devices, links and lanes as the ledger knows them.
pub(crate) struct Topology {
    pub(crate) devices: Vec<DeviceFacts>,
    pub(crate) device_names: Arc<[String]>,
    /// The cost of a direct copy between two devices' memories, where the backend makes one.
    pub(crate) links: HashMap<(DomainId, DomainId), Link>,
    /// The cost of a copy between a domain and the host.
    pub(crate) host_links: Vec<Link>,
    /// Domains whose device is lost.
    pub(crate) lost: DomainSet,
    /// Why a device is lost.
    pub(crate) device_lost: Vec<Option<Arc<Failure>>>,
    /// The device of each domain that was opened first.
    pub(crate) domain_device: Vec<Option<u16>>,
    /// The lane that does the work of another one, where a device has fewer.
    pub(crate) lane_alias: Vec<LaneId>,
}

impl Topology {
    pub(crate) fn new(
        devices: Vec<DeviceFacts>,
        device_names: Arc<[String]>,
        host_links: Vec<Link>,
    ) -> Topology {
        let lanes = devices.len() * usize::from(LANES_PER_DEVICE);
        let domains = devices.iter().map(|d| usize::from(d.domain.0) + 1).max().unwrap_or(1);
        Topology {
            device_names,
            links: HashMap::new(),
            host_links,
            lost: DomainSet::EMPTY,
            device_lost: vec![None; devices.len()],
            devices,
            domain_device: vec![None; domains],
            lane_alias: (0..lanes as u16).map(LaneId).collect(),
        }
    }

    /// The first device of a domain, by its name.
    pub(crate) fn domain_name(&self, domain: DomainId) -> String {
        let at = self.devices.iter().position(|device| device.domain == domain);
        let name = at.and_then(|at| self.device_names.get(at));
        name.map_or_else(|| "?".to_owned(), Clone::clone)
    }

    /// A device is lost, and so is what only its memory holds.
    pub(super) fn note_loss(&mut self, device: usize, failure: Arc<Failure>) {
        let domain = self.devices[device].domain;
        if domain != DomainId::HOST {
            self.lost.insert(domain);
        }
        self.device_lost[device] = Some(failure);
    }

    /// A device that is lost and whose memory is among these.
    pub(in crate::engine) fn lost_device_on(&self, domains: DomainSet) -> Option<usize> {
        let has = |at: &usize| domains.contains(self.devices[*at].domain);
        (0..self.devices.len()).find(|at| self.device_lost[*at].is_some() && has(at))
    }

    /// The device of a lane.
    pub(crate) fn device_of(&self, lane: LaneId) -> usize {
        usize::from(lane.0 / LANES_PER_DEVICE)
    }

    pub(crate) fn key(&self, lane: LaneId) -> WaitKey {
        self.devices[self.device_of(lane)].key
    }

    /// A lane can wait for a tick of another one.
    #[inline]
    pub(crate) fn can_wait(&self, lane: LaneId, other: LaneId) -> bool {
        lane == other || self.key(lane).can_wait_for(self.key(other))
    }

    /// The cost of a copy from one domain to another.
    pub(crate) fn link(&self, from: DomainId, to: DomainId) -> Link {
        let host = |d: DomainId| self.host_links.get(usize::from(d.0)).copied().unwrap_or_default();
        if from == DomainId::HOST {
            return host(to);
        }
        if to == DomainId::HOST {
            return host(from);
        }
        if let Some(link) = self.links.get(&(from, to)) {
            return *link;
        }
        let (a, b) = (host(from), host(to));
        Link {
            bytes_per_us: a.bytes_per_us.min(b.bytes_per_us),
            op_ns: a.op_ns.saturating_add(b.op_ns),
        }
    }

    /// A lane of a device that computes in `domain`: `lane` if that is one.
    pub(crate) fn lane_of(&self, domain: DomainId, lane: Option<LaneId>) -> Option<LaneId> {
        if let Some(lane) = lane
            && self.devices[self.device_of(lane)].domain == domain
        {
            return Some(lane);
        }
        let device = self.domain_device.get(usize::from(domain.0)).copied().flatten()?;
        Some(LaneId(device * LANES_PER_DEVICE))
    }
}

#[cfg(all(test, not(loom)))]
pub(super) mod tests {
    use super::*;
    use crate::hal::WaitGroup;

    /// Three devices with memories of their own. The first two wait for each other, and the third
    /// is of another backend.
    pub(in crate::engine::ledger) fn topology() -> Topology {
        let facts = [(1, 0), (2, 0), (3, 1)].map(|(domain, backend)| {
            let key = WaitKey { backend, group: Some(WaitGroup(0)) };
            DeviceFacts { domain: DomainId(domain), key, hints: false }
        });
        let names = ["a:0", "a:1", "b:0"].map(str::to_owned);
        let link = |op_ns| Link { bytes_per_us: 10 * op_ns, op_ns };
        let links = [0, 1, 2, 3].map(link).to_vec();
        let mut topology = Topology::new(facts.to_vec(), Arc::new(names), links);
        topology.domain_device = vec![None, Some(0), Some(1), Some(2)];
        topology
    }

    #[test]
    fn lanes_wait_for_lanes_of_their_group() {
        let topology = topology();
        let can = |lane, other| topology.can_wait(LaneId(lane), LaneId(other));
        assert_eq!([can(0, 0), can(0, 3), can(0, 8), can(0, 16)], [true, true, true, false]);
        let alone = WaitKey { backend: 0, group: None };
        assert!(!alone.can_wait_for(alone), "it names no group");
    }

    #[test]
    fn link_without_a_direct_way_is_the_slower_half_of_two() {
        let mut topology = topology();
        let [host, a, b] = [0, 1, 2].map(DomainId);
        let costs = |topology: &Topology, from, to| {
            let link = topology.link(from, to);
            (link.bytes_per_us, link.op_ns)
        };
        assert_eq!(costs(&topology, host, b), (20, 2));
        assert_eq!(costs(&topology, a, host), (10, 1));
        assert_eq!(costs(&topology, a, b), (10, 3));
        topology.links.insert((a, b), Link { bytes_per_us: 99, op_ns: 9 });
        assert_eq!(costs(&topology, a, b), (99, 9));
        assert_eq!(costs(&topology, b, a), (10, 3), "the other direction");
    }

    #[test]
    fn lane_of_a_memory_is_the_one_that_is_asked_for_if_it_computes_there() {
        let topology = topology();
        let lane = |domain, lane: Option<u16>| {
            topology.lane_of(DomainId(domain), lane.map(LaneId)).map(|lane| lane.0)
        };
        assert_eq!(lane(2, Some(9)), Some(9));
        assert_eq!(lane(2, Some(1)), Some(8));
        assert_eq!(lane(3, None), Some(16));
        assert_eq!(lane(0, None), None, "no device computes on the host");
    }

    #[test]
    fn lost_device_is_found_by_its_memory() {
        let mut topology = topology();
        let both: DomainSet = [1, 3].map(DomainId).into_iter().collect();
        assert_eq!(topology.lost_device_on(both), None);
        topology.note_loss(2, Arc::new(Failure::forgotten()));
        assert_eq!(topology.lost_device_on(both), Some(2));
        assert!(topology.lost.contains(DomainId(3)));
        assert_eq!(topology.lost_device_on(DomainSet::of(DomainId(1))), None);
        assert_eq!(topology.domain_name(DomainId(3)), "b:0");
    }
}
