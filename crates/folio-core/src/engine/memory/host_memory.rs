//! Memory on the host that the engine takes and gives back: from the program's allocator where a
//! buffer names one, and else from the global allocator. The host's memory of all buffers comes and
//! goes here.
//!
//! A [`Lender`] goes wherever the memory goes, from one storage to another one, too. One of a
//! program's allocator owns a reference to that, which [`give_back`] takes: the allocator outlives
//! its memory. The ledger gives each allocation away once (`Outbox::garbage`), so each is given
//! back once.
//!
//! Allocators of programs are foreign code: a panic ends here, and no lock is held. So memory of a
//! program's is asked for before `Engine::allocating` is locked, as [`Given`]; what no storage has
//! taken by the end of the attempt goes back.

use crate::allocator::{AllocatorFault, Global, HostAllocator};
use crate::engine::Engine;
use crate::engine::ledger::Ledger;
use crate::engine::pages::storage::{Alloc, Garbage, Owner, StorageId};
use crate::engine::terms::staging::ALLOCATED;
use crate::error::{Error, Label};
use crate::hal::{HostPtr, PanicPayload};
use crate::pages::DomainId;
use crate::panics::contain;
use smallvec::SmallVec;
use std::alloc::Layout;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::Arc;

/// An allocator of the program.
#[derive(Clone)]
pub(crate) struct Program(Arc<Named>);

/// One thing that a thin pointer names.
struct Named(Arc<dyn HostAllocator>);

impl Program {
    pub(crate) fn new(allocator: Arc<dyn HostAllocator>) -> Program {
        Program(Arc::new(Named(allocator)))
    }

    /// Both are one allocator, whichever options named it.
    fn is(&self, other: &Named) -> bool {
        std::ptr::addr_eq(Arc::as_ptr(&self.0.0), Arc::as_ptr(&other.0))
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an allocator of the program")
    }
}

/// Where memory on the host is from, and so how it goes back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lender {
    layout: Layout,
    /// The program's allocator, of which this owns a reference; `None`: the global one.
    named: Option<NonNull<Named>>,
}

// SAFETY: a pointer to a `Named`, which may be used and dropped by any thread, since a
// `HostAllocator` may.
unsafe impl Send for Lender {}
// SAFETY: as above.
unsafe impl Sync for Lender {}

impl Lender {
    /// Memory of the global allocator, by this layout: the engine's own, or that of a `Vec`.
    pub(crate) fn global(layout: Layout) -> Lender {
        Lender { layout, named: None }
    }

    /// From one of these allocators.
    pub(in crate::engine) fn is_one_of(&self, programs: &[Program]) -> bool {
        // SAFETY: this owns a reference until `give_back`, which takes it.
        let named = self.named.map(|named| unsafe { named.as_ref() });
        named.is_some_and(|named| programs.iter().any(|program| program.is(named)))
    }
}

/// Memory on the host that goes to one owner.
pub(crate) struct HostMemory {
    pub(crate) at: HostPtr,
    pub(crate) lender: Lender,
    /// It holds zeros.
    pub(crate) clean: bool,
}

/// Takes memory from the program's allocator, or from the global one. An empty piece is no business
/// of a program's.
pub(crate) fn take(program: Option<&Program>, bytes: usize) -> Result<HostMemory, AllocatorFault> {
    let layout = layout(bytes).ok_or(AllocatorFault::Refused)?;
    let program = program.filter(|_| bytes > 0);
    let asked = match program {
        None => Global.allocate(layout),
        Some(Program(named)) => {
            let asked = catch_unwind(AssertUnwindSafe(|| named.0.allocate(layout)));
            asked.map_err(|payload| panicked(PanicPayload::new(payload)))?
        }
    };
    let block = asked.ok_or(AllocatorFault::Refused)?;
    let at = NonNull::new(block.at).ok_or(AllocatorFault::Null)?;
    // The reference is `give_back`'s to take.
    let named = program.map(|Program(named)| Arc::into_raw(named.clone()).cast_mut());
    let lender = Lender { layout, named: named.and_then(NonNull::new) };
    let at = HostPtr(at.as_ptr());
    if !at.0.addr().is_multiple_of(layout.align()) {
        // SAFETY: it was given just now, by this layout, and nothing has used it.
        unsafe { give_back(at, lender) };
        return Err(AllocatorFault::Misaligned(at.0 as u64));
    }
    Ok(HostMemory { at, lender, clean: block.zeroed })
}

/// The layout of so many bytes on the host, which may be none.
fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.max(1), ALLOCATED).ok()
}

fn panicked(payload: PanicPayload) -> AllocatorFault {
    let message = Arc::from(payload.message());
    // Its drop is foreign code, too.
    contain(|| drop(payload));
    AllocatorFault::Panicked(message)
}

/// Gives memory back to its allocator.
///
/// # Safety
/// The memory is of this lender, is given back once, and nothing uses it any more.
pub(crate) unsafe fn give_back(at: HostPtr, lender: Lender) {
    let Some(at) = NonNull::new(at.0) else { return };
    let Some(named) = lender.named else {
        // SAFETY: the caller's promise: it came from the global allocator by this layout.
        return unsafe { Global.deallocate(at, lender.layout) };
    };
    // SAFETY: `take` has made it by `into_raw`, and this is the one call that takes it.
    let named = unsafe { Arc::from_raw(named.as_ptr()) };
    // SAFETY: the caller's promise: this allocator gave it for this layout.
    contain(|| unsafe { named.0.deallocate(at, lender.layout) });
    contain(|| drop(named));
}

/// Memory that programs' allocators have given for storages that do not have it yet. The rest goes
/// back when this is dropped, without a lock.
pub(in crate::engine) struct Given<'e> {
    engine: &'e Engine,
    memory: SmallVec<[(StorageId, Garbage); 1]>,
}

impl Given<'_> {
    /// That of a storage.
    pub(in crate::engine) fn take(&mut self, id: StorageId) -> Option<Garbage> {
        let at = self.memory.iter().position(|(of, _)| *of == id)?;
        Some(self.memory.swap_remove(at).1)
    }
}

impl Drop for Given<'_> {
    fn drop(&mut self) {
        self.memory.drain(..).for_each(|(_, rest)| self.engine.free(rest));
    }
}

impl Engine {
    /// Asks programs' allocators for what `missing` names on the host. Called without any lock.
    pub(in crate::engine) fn ask_programs(
        &self,
        missing: &[(StorageId, DomainId)],
    ) -> Result<Given<'_>, Error> {
        let mut given = Given { engine: self, memory: SmallVec::new() };
        for (id, domain) in missing.iter().copied().filter(|(_, domain)| domain.is_host()) {
            let wanted = self.enter(|ledger| ledger.wants_of_program(id));
            let Some((program, bytes, label)) = wanted else { continue };
            let alloc = self.host_alloc(Some(&program), bytes, "buffer", &label)?;
            given.memory.push((id, Garbage { alloc, bytes, domain }));
        }
        Ok(given)
    }

    /// The allocators of the program that give these storages memory on the host.
    pub(in crate::engine) fn programs_of(&self, storages: &[StorageId]) -> SmallVec<[Program; 1]> {
        let program = |ledger: &Ledger, id: &StorageId| ledger.storages[id.0].allocator.clone();
        self.enter(|ledger| storages.iter().filter_map(|id| program(ledger, id)).collect())
    }

    /// Memory on the host, within its budget.
    pub(in crate::engine) fn host_alloc(
        &self,
        program: Option<&Program>,
        bytes: usize,
        what: &'static str,
        label: &Label,
    ) -> Result<Alloc, Error> {
        self.take_host(bytes, what, label)?;
        let HostMemory { at, lender, clean } = take(program, bytes).map_err(|fault| {
            self.host_budget.give(bytes as u64);
            match program {
                None => self.no_host_memory(bytes, what, label),
                Some(_) => {
                    let (asked, label) = (bytes as u64, label.clone());
                    Error::Allocator { what, label, asked, align: ALLOCATED, fault }
                }
            }
        })?;
        Ok(Alloc::of_host(at, Owner::Host(lender), clean))
    }

    /// Counts host memory against the host's budget.
    pub(in crate::engine) fn take_host(
        &self,
        bytes: usize,
        what: &'static str,
        label: &Label,
    ) -> Result<(), Error> {
        match self.host_budget.take(bytes as u64) {
            true => Ok(()),
            false => Err(self.no_host_memory(bytes, what, label)),
        }
    }

    fn no_host_memory(&self, bytes: usize, what: &'static str, label: &Label) -> Error {
        Error::OutOfMemory {
            device: "host".to_owned(),
            what,
            label: label.clone(),
            asked: bytes as u64,
            in_use: self.host_budget.in_use(),
            limit: self.host_budget.limit(),
        }
    }

    /// Makes memory of the program the host's allocation of a new buffer, contents included. It
    /// counts against the host's budget. After an error the memory is still the caller's.
    ///
    /// # Safety
    /// `at` came from the global allocator by `layout`. It has as many initialised bytes as the
    /// storage, and nothing else uses or frees it from now on, unless this fails.
    pub(crate) unsafe fn adopt_host(
        &self,
        id: StorageId,
        at: HostPtr,
        layout: Layout,
    ) -> Result<(), Error> {
        let (bytes, label) = self.enter(|ledger| {
            let storage = &ledger.storages[id.0];
            (storage.bytes(), storage.label.clone())
        });
        self.take_host(bytes, "buffer", &label).or_else(|_| {
            self.reclaim();
            self.take_host(bytes, "buffer", &label)
        })?;
        let alloc = Alloc::of_host(at, Owner::Host(Lender::global(layout)), true);
        self.enter(|ledger| ledger.adopt(id, DomainId::HOST, alloc));
        Ok(())
    }
}

impl Ledger {
    /// The program's allocator that gives a storage its memory on the host, if it has none yet; and
    /// how many bytes of it.
    fn wants_of_program(&self, id: StorageId) -> Option<(Program, usize, Label)> {
        let storage = &self.storages[id.0];
        let program = storage.allocator.clone()?;
        let lacks = storage.alloc(DomainId::HOST).is_none();
        lacks.then(|| (program, storage.bytes(), storage.label.clone()))
    }
}

#[cfg(all(test, not(loom), not(miri)))]
#[path = "host_memory_tests.rs"]
mod tests;
