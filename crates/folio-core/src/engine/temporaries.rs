//! Temporaries: device or host memory for the time of a packed copy.
//!
//! They are storages that nobody has a handle of. So the ledger keeps them as long as an operation
//! uses them, whatever becomes of the others. One that nobody uses any more is kept for the next
//! packed copy, until memory is short or nothing has been going on for a while.
//!
//! They are made before a command is accepted, and *held* until it is submitted. Other commands may
//! take what is held, and a command whose temporaries cannot be made, or are gone, does without.

use super::Engine;
use super::ledger::Ledger;
use super::storage::{Garbage, StorageId, StorageState};
use super::trace::Note;
use super::tracker::Tracker;
use crate::error::{Error, Label};
use crate::geom::Grid;
use crate::hal::MemRef;
use crate::pages::{BlockTracker, DomainId};
use smallvec::SmallVec;
use std::time::{Duration, Instant};

/// Bytes of temporaries in one memory, but for a single one that is larger.
const MOST: u64 = 32 << 20;
/// Sizes are powers of two from here on, so that one temporary fits many copies.
const LEAST: u64 = 64 << 10;
/// How people see them.
const LABEL: &str = "packed rows";

/// A memory, and bytes of it.
pub(crate) type Piece = (DomainId, u64);
pub(crate) type Pieces = SmallVec<[Piece; 4]>;

/// A temporary that is to be used.
#[derive(Clone, Copy)]
pub(crate) struct Stop {
    pub(crate) id: StorageId,
    /// Its first byte.
    pub(crate) mem: MemRef,
}

struct Temporary {
    id: StorageId,
    mem: MemRef,
    piece: Piece,
    /// No operation uses it, since then.
    idle: bool,
    since: Instant,
    /// How many commands that are not submitted yet count on it.
    held: u32,
}

/// All temporaries.
#[derive(Default)]
pub(crate) struct Temporaries {
    all: Vec<Temporary>,
    /// None is kept any more.
    over: bool,
}

/// What a command wants: what is there, and what must be made.
#[derive(Default)]
pub(crate) struct Wanted {
    there: SmallVec<[StorageId; 4]>,
    lacking: Pieces,
}

impl Temporaries {
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The smallest idle one for `piece`.
    fn fit(&mut self, (domain, bytes): Piece) -> Option<&mut Temporary> {
        let fits = |t: &&mut Temporary| t.idle && t.piece.0 == domain && t.piece.1 >= bytes;
        self.all.iter_mut().filter(fits).min_by_key(|t| t.piece.1)
    }

    /// Takes temporaries for both pieces, in different memories.
    pub(crate) fn take(&mut self, near: Piece, far: Piece) -> Option<[Stop; 2]> {
        self.fit(far)?;
        let take = |t: &mut Temporary| {
            t.idle = false;
            Stop { id: t.id, mem: t.mem }
        };
        Some([take(self.fit(near)?), take(self.fit(far)?)])
    }

    /// Which of `pieces` are there, and the sizes of those to make.
    fn look_for(&mut self, pieces: &[Piece]) -> Wanted {
        let mut wanted = Wanted::default();
        for &(domain, bytes) in pieces {
            match self.fit((domain, bytes)) {
                Some(temporary) => {
                    temporary.idle = false;
                    wanted.there.push(temporary.id);
                }
                None => wanted.lacking.push((domain, bytes.next_power_of_two().max(LEAST))),
            }
        }
        self.all.iter_mut().filter(|t| wanted.there.contains(&t.id)).for_each(|t| t.idle = true);
        wanted
    }

    /// Bytes of temporaries on `domain`.
    fn bytes_on(&self, domain: DomainId) -> u64 {
        self.all.iter().filter(|t| t.piece.0 == domain).map(|t| t.piece.1).sum()
    }

    /// True if there would be too many with these.
    fn too_many(&self, more: &[Piece]) -> bool {
        more.iter().any(|(domain, _)| {
            let new: u64 = more.iter().filter(|p| p.0 == *domain).map(|p| p.1).sum();
            let there = self.bytes_on(*domain);
            there > 0 && there + new > MOST
        })
    }
}

impl Ledger {
    /// What is to be made for `pieces`, if that is not too much.
    pub(crate) fn look_for(&mut self, pieces: &[Piece]) -> Wanted {
        let wanted = self.temporaries.look_for(pieces);
        if !self.temporaries.too_many(&wanted.lacking) {
            return wanted;
        }
        // Others than those that are kept.
        self.free_temporaries(Duration::ZERO);
        let wanted = self.temporaries.look_for(pieces);
        if self.temporaries.too_many(&wanted.lacking) { Wanted::default() } else { wanted }
    }

    /// A new one, which is held.
    fn add_temporary(&mut self, new: Garbage) -> StorageId {
        let Garbage { alloc, bytes, domain } = new;
        let grid = Grid::new([1, 1, bytes], [1, 1, bytes]);
        let tracker = Tracker::Own(BlockTracker::new(grid.pages));
        let label = Label::from(LABEL);
        let mut state = StorageState::new(label.clone(), (grid, 1), tracker, Some(domain));
        (state.temporary, state.dropped) = (true, true);
        let id = StorageId(self.storages.insert(state));
        self.adopt(id, domain, alloc);
        let piece = (domain, bytes as u64);
        self.trace(|| Note::Allocate { what: "temporary", label, on: domain, bytes: piece.1 });
        let since = Instant::now();
        let mem = alloc.mem;
        self.temporaries.all.push(Temporary { id, mem, piece, idle: true, since, held: 1 });
        id
    }

    /// The last operation that used a temporary has ended.
    pub(crate) fn give_temporary(&mut self, id: StorageId) {
        let Some(at) = self.temporaries.all.iter().position(|t| t.id == id) else { return };
        let temporary = &mut self.temporaries.all[at];
        (temporary.idle, temporary.since) = (true, Instant::now());
        self.keep_or_free(at);
    }

    fn unhold(&mut self, ids: &[StorageId]) {
        for id in ids {
            if let Some(at) = self.temporaries.all.iter().position(|t| t.id == *id) {
                self.temporaries.all[at].held -= 1;
                self.keep_or_free(at);
            }
        }
        // Somebody must see to it that those that are not used go.
        self.outbox.reapers |= u64::from(!self.temporaries.is_empty());
    }

    fn keep_or_free(&mut self, at: usize) {
        let Temporary { id, piece: (domain, _), idle, held, .. } = self.temporaries.all[at];
        let full = self.temporaries.bytes_on(domain) > MOST;
        if idle && held == 0 && (full || self.temporaries.over || self.lost.contains(domain)) {
            self.temporaries.all.swap_remove(at);
            self.discard_storage(id);
        }
    }

    /// Frees those that nobody has used for so long.
    pub(crate) fn free_temporaries(&mut self, time: Duration) {
        let free = |t: &Temporary| t.idle && t.held == 0 && t.since.elapsed() >= time;
        let (old, kept) = std::mem::take(&mut self.temporaries.all).into_iter().partition(free);
        let old: Vec<Temporary> = old;
        self.temporaries.all = kept;
        old.iter().for_each(|t| self.discard_storage(t.id));
    }

    /// Nothing more will be submitted.
    pub(crate) fn keep_no_temporaries(&mut self) {
        self.temporaries.over = true;
        self.free_temporaries(Duration::ZERO);
    }
}

/// The temporaries that are held for a command; until this goes, which takes the ledger.
pub(crate) struct Held<'a> {
    engine: &'a Engine,
    ids: SmallVec<[StorageId; 4]>,
    /// They have been made, or cannot be.
    tried: bool,
}

impl<'a> Held<'a> {
    pub(crate) fn new(engine: &'a Engine) -> Held<'a> {
        Held { engine, ids: SmallVec::new(), tried: false }
    }

    /// Makes what is wanted, all of it or nothing. Called without the ledger.
    pub(crate) fn make(&mut self, lacking: &[Piece]) {
        let mut made: SmallVec<[Garbage; 4]> = SmallVec::new();
        for piece in lacking {
            match self.engine.noting_loss(self.make_one(*piece)) {
                Ok(new) => made.push(new),
                Err(_) => return made.into_iter().for_each(|new| self.engine.free(new)),
            }
        }
        self.engine.enter(|ledger| {
            self.ids.extend(made.into_iter().map(|new| ledger.add_temporary(new)));
        });
    }

    fn make_one(&self, (domain, bytes): Piece) -> Result<Garbage, Error> {
        let (label, bytes) = (Label::from(LABEL), bytes as usize);
        let make = || self.engine.allocate_one(domain, bytes, "temporary", &label);
        let alloc = match make() {
            Err(Error::OutOfMemory { .. }) => {
                self.engine.reclaim();
                make()
            }
            other => other,
        };
        Ok(Garbage { alloc: alloc?, bytes, domain })
    }

    /// What must be made for a command that wants this; once. What is there is held meanwhile.
    pub(crate) fn lacking(
        &mut self,
        ledger: &mut Ledger,
        wanted: impl FnOnce(&mut Ledger) -> Wanted,
    ) -> Pieces {
        if std::mem::replace(&mut self.tried, true) {
            return Pieces::new();
        }
        let Wanted { there, lacking } = wanted(ledger);
        if !lacking.is_empty() {
            let held = ledger.temporaries.all.iter_mut().filter(|t| there.contains(&t.id));
            held.for_each(|t| t.held += 1);
            self.ids.extend(there);
        }
        lacking
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if !self.ids.is_empty() {
            self.engine.enter(|ledger| ledger.unhold(&self.ids));
        }
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;
    use crate::engine::ledger::LaneTable;
    use crate::engine::storage::{Alloc, Owner};
    use crate::hal::{HostPtr, MemBase};
    use std::sync::Arc;

    const HERE: DomainId = DomainId(1);
    const THERE: DomainId = DomainId(2);

    fn ledger() -> Ledger {
        let table = Arc::new(LaneTable::new(0));
        Ledger::new(Vec::new(), Arc::new([]), Vec::new(), 0, table)
    }

    /// A temporary whose memory is never touched; not held.
    fn add(ledger: &mut Ledger, domain: DomainId, bytes: u64) -> StorageId {
        let mem = MemRef { base: MemBase::Host(HostPtr(std::ptr::null_mut())), offset: 0 };
        let alloc = Alloc { mem, address: None, host: None, owner: Owner::User, clean: false };
        let id = ledger.add_temporary(Garbage { alloc, bytes: bytes as usize, domain });
        ledger.unhold(&[id]);
        id
    }

    fn use_both(ledger: &mut Ledger, bytes: u64) -> Option<[StorageId; 2]> {
        let stops = ledger.temporaries.take((HERE, bytes), (THERE, bytes))?;
        let ids = stops.map(|stop| stop.id);
        ledger.retain(&ids);
        Some(ids)
    }

    /// XFER-04: the smallest that fits, in both memories or in none, and by one copy at a time.
    #[test]
    fn both_ends_or_none() {
        let mut ledger = ledger();
        let large = add(&mut ledger, HERE, 4 * LEAST);
        assert_eq!(use_both(&mut ledger, 10), None);
        let small = add(&mut ledger, HERE, LEAST);
        let far = add(&mut ledger, THERE, LEAST);
        assert_eq!(use_both(&mut ledger, LEAST + 1), None, "too large for the far end");
        assert_eq!(use_both(&mut ledger, LEAST), Some([small, far]));
        assert_eq!(use_both(&mut ledger, 10), None, "in use");
        let wanted = ledger.look_for(&[(HERE, 10), (THERE, 10), (HERE, LEAST + 1)]);
        assert_eq!(wanted.there.as_slice(), [large]);
        assert_eq!(wanted.lacking.as_slice(), [(THERE, LEAST), (HERE, 2 * LEAST)]);
        ledger.release(&[small, far]);
        assert_eq!(use_both(&mut ledger, 10), Some([small, far]), "used again");
    }

    /// XFER-04, MEM-01: those of a memory have a limit. What is idle makes room; what is in use, or
    /// held, does not; and one that is larger than that is not kept.
    #[test]
    fn there_is_an_end_to_temporaries() {
        let mut ledger = ledger();
        for domain in [HERE, THERE, HERE, THERE] {
            add(&mut ledger, domain, MOST / 2);
        }
        let first = use_both(&mut ledger, MOST / 2).unwrap();
        let more = [(HERE, MOST), (THERE, 1)];
        assert!(ledger.look_for(&more).lacking.is_empty(), "too many");
        assert_eq!(ledger.outbox.garbage.len(), 2, "those that are idle");
        assert_eq!(ledger.look_for(&[(HERE, MOST / 2)]).lacking.as_slice(), [(HERE, MOST / 2)]);
        ledger.release(&first);
        let wanted = ledger.look_for(&more);
        assert_eq!(wanted.lacking.as_slice(), [(HERE, MOST), (THERE, LEAST)], "idle ones go");
        assert!(ledger.temporaries.is_empty());
        let giant = ledger.look_for(&[(HERE, 4 * MOST)]);
        assert_eq!(giant.lacking.as_slice(), [(HERE, 4 * MOST)], "one alone");
        add(&mut ledger, HERE, 4 * MOST);
        assert!(ledger.temporaries.is_empty(), "nobody holds it");
        assert_eq!(ledger.outbox.garbage.len(), 5, "each once");
    }
}
