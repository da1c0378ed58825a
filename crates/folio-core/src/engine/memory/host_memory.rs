//! Memory on the host that the engine takes and gives back: from the program's allocator where a
//! buffer names one, and else from the global allocator. The host's memory of all buffers comes and
//! goes here.
//!
//! A [`Lender`] goes wherever the memory goes, from one storage to another one, too. Memory of a
//! program's allocator owns a reference to that, which [`give_back`] takes: the allocator outlives
//! its memory. The ledger gives each allocation away once (`Outbox::garbage`), so each is given
//! back once.
//!
//! Allocators of programs are foreign code: a panic ends here, and no lock is held. Their memory is
//! asked for before `Engine::allocating` is locked, as [`ProgramMemory`]; what no storage has taken
//! by the end of the attempt goes back.

use crate::engine::Engine;
use crate::engine::ledger::Ledger;
use crate::engine::pages::storage::StorageState;
use crate::engine::pages::storage::{Alloc, Garbage, Owner, StorageId};
use crate::engine::terms::access::{Missing, Need};
use crate::engine::terms::lender::ALLOCATED;
use crate::engine::terms::lender::{HostMemory, Lender, Program, take};
use crate::error::{Error, Label};
use crate::hal::HostPtr;
use crate::pages::DomainId;
use smallvec::SmallVec;
use std::alloc::Layout;

/// Memory that programs' allocators have given for storages that do not have it yet. The rest goes
/// back when this is dropped, without a lock.
pub(in crate::engine) struct ProgramMemory<'e> {
    engine: &'e Engine,
    memory: SmallVec<[(StorageId, Garbage); 1]>,
}

impl ProgramMemory<'_> {
    /// That of a storage.
    pub(in crate::engine) fn take(&mut self, id: StorageId) -> Option<Garbage> {
        let at = self.memory.iter().position(|(of, _)| *of == id)?;
        Some(self.memory.swap_remove(at).1)
    }
}

impl Drop for ProgramMemory<'_> {
    fn drop(&mut self) {
        self.memory.drain(..).for_each(|(_, rest)| self.engine.free(rest));
    }
}

impl Engine {
    /// Asks programs' allocators for what `missing` names on the host. Called without any lock.
    pub(super) fn ask_programs(&self, missing: &Missing) -> Result<ProgramMemory<'_>, Error> {
        let mut given = ProgramMemory { engine: self, memory: SmallVec::new() };
        for need in missing.iter().filter(|need| need.domain.is_host()) {
            let Need { storage: id, domain, .. } = *need;
            let wanted = self.enter(|ledger| ledger.storages[id.0].wants_of_program());
            let Some((program, bytes, label)) = wanted else { continue };
            let alloc = self.host_alloc(Some(&program), bytes, "buffer", &label)?;
            given.memory.push((id, Garbage { alloc, bytes, domain }));
        }
        Ok(given)
    }

    /// The allocators of the program that give these storages memory on the host.
    pub(super) fn programs_of(&self, storages: &[StorageId]) -> SmallVec<[Program; 1]> {
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
    pub(super) fn take_host(
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

    /// Makes memory of the program the host's allocation of a new buffer, contents included. The
    /// memory counts against the host's budget. After an error the memory is still the caller's.
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
        self.enter(|ledger| ledger.storages[id.0].adopt(DomainId::HOST, alloc));
        Ok(())
    }
}

impl StorageState {
    /// The program's allocator that gives a storage its memory on the host, if it has none yet; and
    /// how many bytes of it.
    fn wants_of_program(&self) -> Option<(Program, usize, Label)> {
        let program = self.allocator.clone()?;
        let lacks = self.alloc(DomainId::HOST).is_none();
        lacks.then(|| (program, self.bytes(), self.label.clone()))
    }
}

#[cfg(all(test, not(loom), not(miri)))]
#[path = "host_memory_tests.rs"]
mod tests;
