//! Which commands of a graph conflict: use elements of one storage, and one of them writes.

use crate::engine::access::{Access, Mode};
use crate::engine::replay::Order;
use crate::engine::storage::StorageId;
use crate::geom::Box3;
use smallvec::SmallVec;
use std::collections::HashMap;

/// The accesses so far that later ones may conflict with.
#[derive(Default)]
pub(super) struct Conflicts(HashMap<StorageId, Vec<Former>>);

struct Former {
    at: u32,
    elements: Box3,
    writes: bool,
}

impl Conflicts {
    /// Command `at` is the next one, with these accesses. `found` is told of the earlier ones that
    /// it conflicts with, maybe repeatedly, and whether it uses what they write.
    pub(super) fn add(&mut self, at: u32, accesses: &[Access], found: &mut dyn FnMut(u32, bool)) {
        for access in accesses.iter().filter(|access| !access.elements.is_empty()) {
            let writes = access.mode.writes();
            let formers = self.0.entry(access.storage).or_default();
            formers.retain(|former| {
                if former.at == at || !(writes || former.writes) {
                    return true;
                }
                if !former.elements.overlaps(&access.elements) {
                    return true;
                }
                found(former.at, former.writes && !access.mode.discards());
                // What comes later conflicts with this one, too.
                !(writes && access.elements.contains(&former.elements))
            });
            formers.push(Former { at, elements: access.elements, writes });
        }
    }
}

/// The edges of each command to earlier ones, and whether it fails with them.
pub(super) type After = Vec<SmallVec<[(u32, bool); 2]>>;

/// The order of commands with these edges and accesses.
pub(super) fn order_of<'a>(after: After, accesses: impl Iterator<Item = &'a [Access]>) -> Order {
    let (mut comes_after, mut is_used) = (vec![false; after.len()], vec![false; after.len()]);
    let mut conflicts = Conflicts::default();
    for (at, (edges, accesses)) in after.iter().zip(accesses).enumerate() {
        let mut follow = |before: u32, uses: bool| {
            comes_after[at] = true;
            is_used[before as usize] |= uses;
        };
        edges.iter().for_each(|&(before, uses)| follow(before, uses));
        conflicts.add(at as u32, accesses, &mut follow);
    }
    let without = |flags: &[bool]| -> Vec<u32> {
        (0..flags.len() as u32).filter(|at| !flags[*at as usize]).collect()
    };
    Order { first: without(&comes_after), last: without(&is_used), after }
}

/// A number for a way of access.
pub(super) fn number_of(mode: Mode) -> u64 {
    match mode {
        Mode::Read => 0,
        Mode::Update => 1,
        Mode::Discard { whole: false } => 2,
        Mode::Discard { whole: true } => 3,
    }
}
