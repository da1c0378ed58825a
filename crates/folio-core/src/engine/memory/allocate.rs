//! Memory for storages: what a command lacks is made before it runs, all of it or nothing.
//!
//! Memory of a device is [linked](super::link) with the host's where that can be. Where there is no
//! memory, that of other storages [gives way](super::evict).

use crate::allocator::AllocatorFault;
use crate::engine::Engine;
use crate::engine::ledger::Ledger;
use crate::engine::memory::evict::{Pressure, Takeover};
use crate::engine::memory::frames::NewFrames;
use crate::engine::memory::host_memory::ProgramMemory;
use crate::engine::memory::link::Prospect;
use crate::engine::pages::frames::Frames;
use crate::engine::pages::storage::{Alloc, Garbage, Owner, StorageId};
use crate::engine::terms::access::{Access, Lack, Missing, Need};
use crate::engine::terms::link::NotLinked;
use crate::engine::terms::note::Note;
use crate::error::{Error, Label};
use crate::pages::DomainId;
use smallvec::SmallVec;

/// Whose memory an allocation may take over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Takes {
    /// Memory that nothing uses.
    Idle,
    /// Memory that commands use, too: what is submitted next comes after them.
    InUse,
}

/// The kind of memory that is asked for.
#[derive(Clone, Copy)]
struct MemoryRequest<'a> {
    /// Where there is no memory, it is taken over from a storage that is not among these.
    take: Option<&'a [StorageId]>,
    /// The memory has an address, which the program gets.
    pointed: bool,
}

/// The kind of memory that was refused, where room can be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Short {
    /// Memory, or budget.
    Memory,
    /// Memory of the program's allocator.
    OfProgram,
}

impl Short {
    fn of<T>(made: &Result<T, Error>) -> Option<Short> {
        match made {
            Err(Error::OutOfMemory { .. }) => Some(Short::Memory),
            Err(Error::Allocator { fault: AllocatorFault::Refused, .. }) => Some(Short::OfProgram),
            _ => None,
        }
    }
}

/// Where the memory of a storage on a domain comes from.
enum Origin {
    /// The memory is one with the host's.
    Link(Alloc, Prospect),
    /// The memory is the storage's own there.
    Own(Alloc),
    /// The memory is that of another storage.
    Other(Takeover),
    /// The storage's own addresses, whose memory comes in frames of so many bytes.
    Reserved(Alloc, u64),
    /// Frames of the storage's memory.
    Frames(NewFrames),
}

/// Memory for a storage, and its bytes.
struct NewMemory {
    id: StorageId,
    domain: DomainId,
    bytes: usize,
    origin: Origin,
}

impl Engine {
    /// Allocates all of `missing`, or nothing. Nothing uses that memory yet.
    pub(crate) fn allocate(&self, missing: &[(StorageId, DomainId)]) -> Result<(), Error> {
        self.allocate_for(&whole_of(missing), &[], Takes::Idle)
    }

    /// As [`allocate`](Self::allocate), for a command of these accesses: memory that they do not
    /// use may have to go.
    pub(crate) fn allocate_for(
        &self,
        missing: &Missing,
        uses: &[Access],
        takes: Takes,
    ) -> Result<(), Error> {
        self.allocate_as(missing, uses, (takes, false))
    }

    /// As [`allocate`](Self::allocate), of one, while memory of others is short: `keep` does not
    /// give way.
    pub(super) fn allocate_beside(
        &self,
        whose: (StorageId, DomainId),
        keep: SmallVec<[StorageId; 4]>,
    ) -> Result<(), Error> {
        let missing = whole_of(&[whose]);
        self.with_room(&[whose.1], (keep, &[]), |_| {
            self.try_allocate(&missing, MemoryRequest { take: None, pointed: false })
        })
    }

    /// Memory for all frames of a storage on a domain.
    pub(super) fn back_all(&self, id: StorageId, domain: DomainId) -> Result<(), Error> {
        let all = self.enter(|ledger| {
            let frames = ledger.storages[id.0].frames(domain)?;
            Some(Need { storage: id, domain, what: Lack::Frames(frames.all()) })
        });
        self.allocate_as(&all.into_iter().collect(), &[], (Takes::Idle, false))
    }

    /// Memory whose address the program gets; [`Error::Unsupported`] where it has none.
    pub(super) fn allocate_pointed(&self, id: StorageId, domain: DomainId) -> Result<(), Error> {
        self.allocate_as(&whole_of(&[(id, domain)]), &[], (Takes::Idle, true))
    }

    fn allocate_as(
        &self,
        missing: &Missing,
        uses: &[Access],
        (takes, pointed): (Takes, bool),
    ) -> Result<(), Error> {
        // Here, where no lock is held.
        for need in missing.iter().filter(|need| !need.domain.is_host()) {
            self.open(self.first_on(need.domain))?;
        }
        let domains: SmallVec<[DomainId; 4]> = missing.iter().map(|need| need.domain).collect();
        let needed = missing.iter().map(|need| need.storage);
        let keep = needed.chain(uses.iter().map(|a| a.storage)).collect();
        self.with_room(&domains, (keep, uses), |spared| {
            let take = spared.filter(|_| takes == Takes::InUse);
            self.try_allocate(missing, MemoryRequest { take, pointed })
        })
    }

    /// Makes memory on these domains. Where it is short, that of other storages may go, but not of
    /// `keep`, and frames that `uses` does not name. `make` is told what does not give way, from
    /// the time on when memory is short.
    pub(super) fn with_room<T>(
        &self,
        domains: &[DomainId],
        (keep, uses): (SmallVec<[StorageId; 4]>, &[Access]),
        make: impl Fn(Option<&[StorageId]>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut made = make(None);
        if Short::of(&made).is_some() {
            self.reclaim();
            let programs = self.programs_of(&keep);
            let mut pressure = Pressure::new(keep, uses);
            made = make(Some(&pressure.spared));
            while let Some(short) = Short::of(&made) {
                pressure.programs = (short == Short::OfProgram).then(|| programs.clone());
                if !self.evict(domains, &mut pressure) {
                    break;
                }
                made = make(Some(&pressure.spared));
            }
        }
        self.noting_loss(made)
    }

    /// Looks for memory that is unused: its last users may have ended, and no thread has polled
    /// their lanes since.
    pub(crate) fn reclaim(&self) {
        self.look_at_lanes();
        self.enter(Ledger::poll_all);
    }

    fn try_allocate(&self, missing: &Missing, wanted: MemoryRequest<'_>) -> Result<(), Error> {
        // Foreign code, and so before the lock.
        let mut given = self.ask_programs(missing)?;
        // Two threads that need the same must not both take it from the budget.
        let traced = crate::foreign::listening();
        let one_at_a_time = self.allocating.lock();
        let mut made: SmallVec<[NewMemory; 4]> = SmallVec::new();
        let mut result = Ok(());
        // With linked memory of a device comes the host's.
        let devices = missing.iter().filter(|need| !need.domain.is_host());
        let hosts = missing.iter().filter(|need| need.domain.is_host());
        for need in devices.chain(hosts) {
            let Need { storage: id, domain, .. } = *need;
            let linked = |new: &NewMemory| new.id == id && matches!(new.origin, Origin::Link(..));
            if domain.is_host() && made.iter().any(linked) {
                // If it does not come, the caller asks again.
                continue;
            }
            match self.make_one(need, wanted, (&made, &mut given)) {
                Ok(new) => made.extend(new),
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        let failed = result.is_err();
        if failed {
            // Before another thread can ask for the same frames.
            made.iter().filter_map(NewMemory::frames).for_each(|new| self.undo_frames(new));
        }
        let outbox = {
            let mut ledger = self.lock();
            ledger.traced = traced;
            for new in made {
                match failed {
                    true => ledger.outbox.garbage.extend(new.garbage()),
                    false => ledger.receive(new),
                }
            }
            std::mem::take(&mut ledger.outbox)
        };
        drop(one_at_a_time);
        self.deliver(outbox);
        result
    }

    /// Memory for one storage, which may have got some meanwhile.
    fn make_one(
        &self,
        need: &Need,
        wanted: MemoryRequest<'_>,
        (made, given): (&[NewMemory], &mut ProgramMemory<'_>),
    ) -> Result<Option<NewMemory>, Error> {
        let Need { storage: id, domain, what } = *need;
        if let Lack::Frames(span) = what {
            let frames = self.back_frames((id, domain), span)?;
            let new = |frames| NewMemory { id, domain, bytes: 0, origin: Origin::Frames(frames) };
            return Ok(frames.map(new));
        }
        let frame = self.frame_of(domain);
        let (bytes, label, of_program, frame) = {
            let ledger = self.lock();
            let storage = &ledger.storages[id.0];
            if storage.alloc(domain).is_some() {
                return Ok(None);
            }
            let frame = storage.wants_frames(frame, what == Lack::Part);
            (storage.bytes(), storage.label.clone(), storage.allocator.is_some(), frame)
        };
        let new = |origin| Ok(Some(NewMemory { id, domain, bytes, origin }));
        if domain.is_host() && of_program {
            // If the storage had memory when the program was asked, the caller asks again.
            return given.take(id).map_or(Ok(None), |memory| new(Origin::Own(memory.alloc)));
        }
        let mut apart = NotLinked::Usm;
        if !domain.is_host() {
            match self.allocate_linked(id, domain, wanted.pointed)? {
                Ok((alloc, prospect)) => return new(Origin::Link(alloc, prospect)),
                Err(why) => apart = why,
            }
        }
        if let Some(frame) = frame {
            let alloc = self.reserve_frames(domain, bytes, &label)?;
            return new(Origin::Reserved(Alloc { apart, ..alloc }, frame));
        }
        let own = match wanted.pointed {
            true => self.allocate_addressed(domain, bytes, &label),
            false => self.allocate_one(domain, bytes, "buffer", &label),
        };
        match own {
            Ok(alloc) => new(Origin::Own(Alloc { apart, pointed: wanted.pointed, ..alloc })),
            Err(error @ Error::OutOfMemory { .. }) => {
                let from = self.find_giver((id, domain), wanted.take, made).ok_or(error)?;
                new(Origin::Other(Takeover { from, to: id, domain, apart }))
            }
            Err(error) => Err(error),
        }
    }

    /// Memory that has an address.
    pub(super) fn allocate_addressed(
        &self,
        domain: DomainId,
        bytes: usize,
        label: &Label,
    ) -> Result<Alloc, Error> {
        let alloc = self.allocate_one(domain, bytes, "buffer", label)?;
        if alloc.address.is_none() {
            self.free(Garbage { alloc, bytes, domain });
            return Err(no_address(&self.domain_name(domain), label));
        }
        Ok(alloc)
    }

    /// Whose memory a storage takes over; not that of `take`, nor what others take.
    fn find_giver(
        &self,
        (to, domain): (StorageId, DomainId),
        take: Option<&[StorageId]>,
        made: &[NewMemory],
    ) -> Option<StorageId> {
        let mut keep: SmallVec<[StorageId; 8]> = SmallVec::from_slice(take?);
        keep.extend(made.iter().filter_map(|new| match &new.origin {
            Origin::Other(takeover) if takeover.domain == domain => Some(takeover.from),
            _ => None,
        }));
        // The caller holds a lock, and delivers what this leaves in the outbox.
        let ledger = &mut *self.lock();
        let facts = (&ledger.timeline, &ledger.topology);
        ledger.storages.giver((to, domain), &keep, facts)
    }
}

/// The error of memory whose address is asked for, and that has none.
pub(super) fn no_address(device: &str, label: &Label) -> Error {
    let what = format!("addresses of its memory (buffer {label})");
    Error::Unsupported { device: device.to_owned(), what }
}

impl NewMemory {
    /// The memory that is to be freed if the storage does not get it.
    fn garbage(&self) -> Option<Garbage> {
        let (domain, bytes) = (self.domain, self.bytes);
        match self.origin {
            Origin::Link(alloc, _) | Origin::Own(alloc) => Some(Garbage { alloc, bytes, domain }),
            Origin::Reserved(alloc, _) => Some(Garbage { alloc, bytes: 0, domain }),
            Origin::Other(_) | Origin::Frames(_) => None,
        }
    }

    fn frames(&self) -> Option<&NewFrames> {
        match &self.origin {
            Origin::Frames(new) => Some(new),
            _ => None,
        }
    }
}

/// All memory of these storages, each on a domain.
fn whole_of(missing: &[(StorageId, DomainId)]) -> Missing {
    let whole = |(storage, domain): &(StorageId, DomainId)| Need {
        storage: *storage,
        domain: *domain,
        what: Lack::Whole,
    };
    missing.iter().map(whole).collect()
}

impl Ledger {
    /// A storage gets the memory that was made for it. Memory that has become impossible is still
    /// missing: the caller asks again.
    fn receive(&mut self, new: NewMemory) {
        let garbage = new.garbage();
        let NewMemory { id, domain, bytes, origin } = new;
        let alloc = match origin {
            Origin::Link(alloc, prospect) => {
                let lost = self.topology.lost;
                if !self.storages[id.0].commit_link(domain, alloc, &prospect, lost) {
                    return self.outbox.garbage.extend(garbage);
                }
                alloc
            }
            Origin::Own(alloc) => {
                self.stay_apart(id, domain, alloc.apart);
                let storage = &mut self.storages[id.0];
                storage.set_alloc(domain, alloc);
                if alloc.clean {
                    storage.residency.holds(domain);
                }
                alloc
            }
            Origin::Other(takeover) => {
                if self.take_over(&takeover) {
                    self.stay_apart(id, domain, takeover.apart);
                }
                return;
            }
            Origin::Reserved(alloc, frame) => {
                self.stay_apart(id, domain, alloc.apart);
                let storage = &mut self.storages[id.0];
                storage.set_alloc(domain, alloc);
                storage.frames.push(Frames::new(domain, frame, bytes));
                return;
            }
            Origin::Frames(new) => return self.receive_frames(&new),
        };
        self.note_memory(id, "buffer", (domain, bytes), &alloc);
    }

    /// Counts and traces memory that a storage has got.
    pub(crate) fn note_memory(
        &mut self,
        id: StorageId,
        what: &'static str,
        (on, bytes): (DomainId, usize),
        alloc: &Alloc,
    ) {
        let (label, bytes) = (self.storages[id.0].label.clone(), bytes as u64);
        let imported = matches!(alloc.owner, Owner::Imported(..));
        self.trace(|| Note::Allocate { what, label, on, bytes, imported });
        self.count(Some(id), None, |c| {
            let (times, sum) = match imported {
                true => (&mut c.imports, &mut c.imported_bytes),
                false => (&mut c.allocations, &mut c.allocated_bytes),
            };
            *times += 1;
            *sum += bytes;
        });
    }
}
