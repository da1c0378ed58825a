//! A storage in the ledger: a buffer's or a USM allocation's memory, wherever it is.

use crate::engine::pages::frames::Frames;
use crate::engine::pages::residency::Residency;
use crate::engine::pages::tracker::Tracker;
pub(crate) use crate::engine::terms::access::StorageId;
use crate::engine::terms::access::{Access, Mode};
use crate::engine::terms::evict::Evict;
use crate::engine::terms::lender::{Lender, Program};
use crate::engine::terms::link::{Link, NotLinked};
use crate::error::Label;
use crate::geom::{Box3, Grid};
use crate::hal::{CopyRect, HostPtr, MemBase, MemRef};
use crate::order::stamp::Stamp;
use crate::pages::DomainId;
use crate::report::Counters;
use smallvec::SmallVec;

/// An allocation of a storage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alloc {
    /// Its first byte.
    pub(crate) mem: MemRef,
    /// Where kernels of the device find it, if it has an address.
    pub(crate) address: Option<u64>,
    /// Where the host finds it, if it can.
    pub(crate) host: Option<HostPtr>,
    /// Who frees it.
    pub(crate) owner: Owner,
    /// The memory held zeros, or what the storage may show, from the start: then it always will.
    pub(crate) clean: bool,
    /// The program has its address: it is not evicted, and has no turns with another side.
    pub(crate) pointed: bool,
    /// Why it is not one with the host's memory, where it is a device's and is not linked.
    pub(crate) apart: NotLinked,
}

impl Alloc {
    /// Memory of the host, by its address.
    pub(crate) fn of_host(host: HostPtr, owner: Owner, clean: bool) -> Alloc {
        let mem = MemRef { base: MemBase::Host(host), offset: 0 };
        let (address, host) = (Some(host.0 as u64), Some(host));
        Alloc { mem, address, host, owner, clean, pointed: false, apart: NotLinked::Usm }
    }

    /// Host and device find it at one address.
    pub(crate) fn has_one_address(&self) -> bool {
        self.address.is_some_and(|at| self.host.is_some_and(|host| host.0 as u64 == at))
    }

    /// Its address that is not aligned so, if it has one.
    pub(crate) fn misaligned(&self, align: u64) -> Option<u64> {
        let host = self.host.map(|host| host.0 as u64);
        [self.address, host].into_iter().flatten().find(|address| !address.is_multiple_of(align))
    }

    /// The place `offset` bytes into it.
    pub(crate) fn at(&self, offset: u64) -> MemRef {
        MemRef { base: self.mem.base, offset: self.mem.offset + offset }
    }
}

/// Bytes from the beginning of one allocation to that of another one, if they are of one address
/// space or one driver's object: then they may overlap.
pub(crate) fn distance(
    (domain, a): (DomainId, &Alloc),
    (other, b): (DomainId, &Alloc),
) -> Option<i128> {
    let between = |a: u64, b: u64| i128::from(b) - i128::from(a);
    if let (Some(a), Some(b)) = (a.host, b.host) {
        return Some(between(a.0 as u64, b.0 as u64));
    }
    if domain != other {
        return None;
    }
    if let (Some(a), Some(b)) = (a.address, b.address) {
        return Some(between(a, b));
    }
    (a.mem.base == b.mem.base).then(|| between(a.mem.offset, b.mem.offset))
}

/// Who frees an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The engine, by giving it back to the allocator that it is from: the program's or the global
    /// one, by which also a `Vec` of the program was allocated.
    Host(Lender),
    /// The engine, with the allocator of this device (an index of the runtime), by this handle.
    Device(u16, u64),
    /// The program, or another library. The device's allocator has only a name for it, this handle,
    /// which the engine gives back. No budget counts it.
    Imported(u16, u64),
    /// Somebody else.
    User,
}

/// Memory to give back outside the ledger.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Garbage {
    pub(crate) alloc: Alloc,
    pub(crate) bytes: usize,
    pub(crate) domain: DomainId,
}

/// A host guard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard {
    pub(crate) id: u64,
    /// Whose memory it shows.
    pub(crate) domain: DomainId,
    pub(crate) pages: Box3,
    pub(crate) writes: bool,
}

/// Who may use a storage. A life only goes on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Life {
    /// Any command that names it.
    Open,
    /// What was submitted: the scope of a view is over.
    Closed,
    /// What was submitted: the user's last handle is gone.
    Dropped,
}

/// A storage.
#[repr(align(128))]
pub(crate) struct StorageState {
    pub(crate) label: Label,
    pub(crate) element_bytes: usize,
    /// The number of its [`StorageId`].
    pub(crate) number: u32,
    /// The largest alignment of the element types that the program has seen it by.
    pub(crate) align: u64,
    pub(crate) residency: Residency,
    pub(crate) allocs: SmallVec<[Option<Alloc>; 2]>,
    /// The frames of those of its allocations whose memory comes in frames.
    pub(crate) frames: Vec<Frames>,
    /// Its memory comes in frames, or does not; where the program has not said, if a part of it is
    /// all that is needed at first.
    pub(crate) sparse: Option<bool>,
    /// Who gives it memory on the host, if the program has said so.
    pub(crate) allocator: Option<Program>,
    /// Its copies may go when memory is short.
    pub(crate) evict: Option<Evict>,
    /// When it was used last, in submissions; kept for those that may go.
    pub(crate) used: u64,
    /// The program has lent its memory on the host only to be read.
    pub(crate) only_read: bool,
    /// Two of them that are one memory.
    pub(crate) link: Option<Link>,
    /// Its memory on the host may hold anything where nothing was brought since: it was linked to a
    /// device that is lost, or what was to come there has failed.
    pub(crate) torn: bool,
    /// The only domain on which it exists: USM.
    pub(crate) home: Option<DomainId>,
    pub(crate) guards: SmallVec<[Guard; 1]>,
    /// Operations in flight that use the memory.
    pub(crate) in_use: u32,
    pub(crate) life: Life,
    /// Scopes and drops that wait: the storage stays until they let go.
    pub(crate) holds: u32,
    /// Keep memory of the program; dropped with the storage.
    pub(crate) keepers: Vec<Box<dyn Send>>,
    pub(crate) counters: Counters,
    /// USM: raw commands that may be under way.
    pub(crate) raw: SmallVec<[Stamp; 2]>,
}

impl StorageState {
    /// A storage without memory.
    pub(crate) fn new(
        label: Label,
        (grid, element_bytes): (Grid, usize),
        tracker: Tracker,
        home: Option<DomainId>,
    ) -> StorageState {
        StorageState {
            label,
            element_bytes,
            number: 0,
            align: 1,
            residency: Residency::new(grid, tracker),
            allocs: SmallVec::new(),
            frames: Vec::new(),
            sparse: None,
            allocator: None,
            evict: None,
            used: 0,
            only_read: false,
            link: None,
            torn: false,
            home,
            guards: SmallVec::new(),
            in_use: 0,
            life: Life::Open,
            holds: 0,
            keepers: Vec::new(),
            counters: Counters::default(),
            raw: SmallVec::new(),
        }
    }

    /// An access to a box of its elements.
    pub(crate) fn access(
        &self,
        id: StorageId,
        elements: Box3,
        mode: Mode,
        domain: DomainId,
    ) -> Access {
        let grid = &self.residency.grid;
        let all = grid.pages_of(&elements) == grid.all();
        Access { storage: id, elements, all, mode, domain, place: domain }
    }

    /// The allocation on `domain`.
    pub(crate) fn alloc(&self, domain: DomainId) -> Option<&Alloc> {
        self.allocs.get(domain.0 as usize)?.as_ref()
    }

    /// Its allocations, by domain.
    pub(crate) fn allocs(&self) -> impl Iterator<Item = (DomainId, &Alloc)> {
        self.allocs
            .iter()
            .enumerate()
            .filter_map(|(domain, alloc)| Some((DomainId(domain as u8), alloc.as_ref()?)))
    }

    pub(crate) fn alloc_mut(&mut self, domain: DomainId) -> Option<&mut Alloc> {
        self.allocs.get_mut(usize::from(domain.0))?.as_mut()
    }

    /// Folio frees the memory of `domain`, as this or as the other side of a link.
    pub(crate) fn owns(&self, domain: DomainId) -> bool {
        let owned = |domain| {
            let owner = self.alloc(domain).map(|alloc| alloc.owner);
            matches!(owner, Some(Owner::Host(_) | Owner::Device(..)))
        };
        let linked = self.link.filter(|link| link.joins(domain));
        owned(domain) || linked.is_some_and(|link| owned(link.device) || owned(DomainId::HOST))
    }

    pub(crate) fn set_alloc(&mut self, domain: DomainId, alloc: Alloc) {
        let at = domain.0 as usize;
        while self.allocs.len() <= at {
            self.allocs.push(None);
        }
        self.allocs[at] = Some(alloc);
    }

    pub(crate) fn remove_alloc(&mut self, domain: DomainId) {
        if let Some(place) = self.allocs.get_mut(usize::from(domain.0)) {
            *place = None;
        }
        self.frames.retain(|frames| frames.domain != domain);
    }

    /// Bytes of the whole storage.
    pub(crate) fn bytes(&self) -> usize {
        let d = self.residency.grid.dims;
        d[0] * d[1] * d[2] * self.element_bytes
    }

    /// Bytes from one slice, and from one row, to the next.
    pub(crate) fn pitch(&self) -> [u64; 2] {
        let d = self.residency.grid.dims;
        [(d[1] * d[2] * self.element_bytes) as u64, (d[2] * self.element_bytes) as u64]
    }

    /// The memory of `elements` on `domain`: its first byte, and slices, rows and bytes.
    pub(crate) fn rect(&self, domain: DomainId, elements: &Box3) -> Option<(MemRef, [u64; 3])> {
        let alloc = self.alloc(domain)?;
        let at = crate::geom::linear(self.residency.grid.dims, elements.min) * self.element_bytes;
        let e = elements.extent();
        let extent = [e[0] as u64, e[1] as u64, (e[2] * self.element_bytes) as u64];
        Some((alloc.at(at as u64), extent))
    }

    /// The copies of boxes of elements from one domain to another.
    pub(crate) fn copies(
        &self,
        source: DomainId,
        target: DomainId,
        boxes: &[Box3],
    ) -> SmallVec<[CopyRect; 2]> {
        let pitch = self.pitch();
        let copy = |elements: &Box3| {
            let ((src, extent), (dst, _)) =
                self.rect(source, elements).zip(self.rect(target, elements))?;
            Some(CopyRect { src, src_pitch: pitch, dst, dst_pitch: pitch, extent })
        };
        boxes.iter().filter_map(copy).collect()
    }

    /// The guard that forbids an access to `pages`, if there is one.
    pub(crate) fn held(&self, pages: &Box3, writes: bool) -> bool {
        self.guards.iter().any(|g| (writes || g.writes) && g.pages.overlaps(pages))
    }

    /// The pages of `range` into which something may be copied on `domain`: whatever a user's
    /// tracker says of them, not those that a guard shows there.
    pub(crate) fn unheld(&self, range: &Box3, domain: DomainId, out: &mut dyn FnMut(Box3)) {
        let mut parts: SmallVec<[Box3; 4]> = SmallVec::from_slice(&[*range]);
        let foreign = self.residency.tracker().is_foreign();
        for guard in self.guards.iter().filter(|guard| foreign && guard.domain == domain) {
            let mut left = SmallVec::new();
            parts.iter().for_each(|part| part.subtract(&guard.pages, |rest| left.push(rest)));
            parts = left;
        }
        parts.into_iter().for_each(out);
    }

    /// The keepers of its memory on a device, which go with that. Keepers are of the host's memory
    /// where that is the program's.
    pub(crate) fn device_keepers(&mut self) -> Vec<Box<dyn Send>> {
        match self.alloc(DomainId::HOST) {
            Some(host) if host.owner == Owner::User => Vec::new(),
            _ => std::mem::take(&mut self.keepers),
        }
    }

    /// True when nothing refers to it any more.
    pub(crate) fn over(&self) -> bool {
        self.life == Life::Dropped && self.in_use == 0 && self.holds == 0
    }
}
