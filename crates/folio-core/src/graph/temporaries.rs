//! Temporaries: buffers that only a graph can name, as the last handle outside of it is gone, and
//! of which each run writes every element before it reads it. So nothing outside of a run can read
//! what the run leaves there, and no run reads what an earlier one has left.

use super::boxes::Boxes;
use super::conflicts::IdMap;
use super::key::Arguments;
use super::pool::Temporaries;
use super::steps::Steps;
use super::trail::is_same_part;
use crate::buffer::StorageHandle;
use crate::engine::pages::storage::StorageId;
use crate::engine::terms::access::Access;
use crate::planted::{Plant, Planted};
use smallvec::SmallVec;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The buffers of commands that only these commands hold.
pub(super) fn owned(steps: &Steps, plant: Plant) -> BTreeSet<StorageId> {
    let mut seen = BTreeSet::new();
    // A graph that is a node twice has each command once.
    let once = steps.all.iter().filter(|step| seen.insert(Arc::as_ptr(&step.template)));
    let own = only(once.flat_map(|step| &step.template.leases), plant);
    own.map(|handle| handle.id).collect()
}

/// The buffers of which these are all handles.
pub(super) fn only<'h>(
    handles: impl Iterator<Item = &'h Arc<StorageHandle>>,
    plant: Plant,
) -> impl Iterator<Item = &'h Arc<StorageHandle>> {
    let mut held: IdMap<(&Arc<StorageHandle>, usize)> = IdMap::default();
    handles.for_each(|handle| held.entry(handle.id).or_insert((handle, 0)).1 += 1);
    let own = held.into_values().filter(move |(handle, count)| {
        // A count that is read too large, as a handle is being dropped, finds one temporary less.
        let alone = Arc::strong_count(handle) == *count || plant.is(Planted::HeldBuffer);
        alone && handle.is_plain()
    });
    own.map(|(handle, _)| handle)
}

/// Storages of a block in the place of another one's: its temporaries in the place of that one's,
/// and all others for themselves. What the other block writes before it reads, this one does, too.
pub(super) struct Renames<'t> {
    own: &'t Temporaries,
    others: Option<&'t Temporaries>,
    pairs: SmallVec<[(StorageId, StorageId); 8]>,
}

impl<'t> Renames<'t> {
    pub(super) fn new(own: &'t Temporaries, others: Option<&'t Temporaries>) -> Renames<'t> {
        Renames { own, others, pairs: SmallVec::new() }
    }

    /// A storage is, or can be, in the place of another one.
    fn is_for(&mut self, own: StorageId, other: StorageId) -> bool {
        if own == other {
            return true;
        }
        let met = self.pairs.iter().find(|pair| pair.0 == own || pair.1 == other);
        if let Some(pair) = met {
            return *pair == (own, other);
        }
        let shape = self.own.get(&own);
        let can_be = shape.is_some() && shape == self.others.and_then(|all| all.get(&other));
        self.pairs.extend(can_be.then_some((own, other)));
        can_be
    }

    /// Arguments are those of another block's command.
    pub(super) fn are_arguments(&mut self, own: &Arguments, others: &Arguments) -> bool {
        own.words == others.words && self.are_storages(&own.storages, &others.storages)
    }

    /// Storages are those of another block's command.
    pub(super) fn are_storages(&mut self, own: &[StorageId], others: &[StorageId]) -> bool {
        let mut pairs = own.iter().zip(others);
        own.len() == others.len() && pairs.all(|(own, other)| self.is_for(*own, *other))
    }

    /// Accesses are those of another block's command.
    pub(super) fn are_accesses(&mut self, own: &[Access], others: &[Access]) -> bool {
        let mut pairs = own.iter().zip(others);
        own.len() == others.len()
            && pairs.all(|(a, b)| self.is_for(a.storage, b.storage) && is_same_part(a, b))
    }
}

/// Arguments are those of another block's command, if each storage is the same or `can_be` in the
/// place of the other one. Where two are one buffer, they are so in both.
pub(super) fn are_like(
    own: &Arguments,
    others: &Arguments,
    can_be: impl Fn(usize, &StorageId) -> bool,
) -> bool {
    let all = || own.storages.iter().zip(&others.storages);
    own.words == others.words
        && own.storages.len() == others.storages.len()
        && all().enumerate().all(|(nth, (own, other))| {
            (own == other || can_be(nth, other))
                && all().take(nth).all(|before| (before.0 == own) == (before.1 == other))
        })
}

impl Steps {
    /// The temporaries among the storages that belong to the graph. An exchanged command may use
    /// them in another way, so it is asked for what runs, and not kept.
    pub(super) fn temporaries(&self, plant: Plant) -> BTreeSet<StorageId> {
        let mut found = self.owned.clone();
        if found.is_empty() || plant.is(Planted::LastRun) {
            return found;
        }
        let mut written: HashMap<StorageId, Boxes<()>> = HashMap::new();
        for step in &self.all {
            let accesses = &step.template.command.accesses;
            let mine = || accesses.iter().filter(|access| self.owned.contains(&access.storage));
            for access in mine().filter(|access| !access.mode.discards()) {
                if found.contains(&access.storage)
                    && !is_covered(access, written.entry(access.storage).or_default())
                {
                    found.remove(&access.storage);
                }
            }
            for access in mine().filter(|access| access.mode.writes()) {
                let written = written.entry(access.storage).or_default();
                if found.contains(&access.storage) && !is_covered(access, written) {
                    written.insert(access.elements, ());
                }
            }
        }
        found
    }
}

/// All elements of an access are in these boxes.
fn is_covered(access: &Access, written: &mut Boxes<()>) -> bool {
    let mut left = vec![access.elements];
    left.retain(|part| !part.is_empty());
    written.find(&access.elements, |known, ()| {
        let mut rest = Vec::new();
        left.iter().for_each(|part| part.subtract(known, |part| rest.push(part)));
        left = rest;
        // Many parts are one case in many.
        !left.is_empty() && left.len() <= MOST_PARTS
    });
    left.is_empty()
}

/// Parts of an access that are looked for; a buffer that is written in more pieces is no temporary.
const MOST_PARTS: usize = 64;

impl StorageHandle {
    /// The storage is a buffer's, over memory of the engine's alone.
    fn is_plain(&self) -> bool {
        self.home().is_none()
            && self.end.is_none()
            && self.managed.get().is_none()
            && !self.borrowed.load(Ordering::Relaxed)
            && !self.imported.load(Ordering::Relaxed)
    }
}
