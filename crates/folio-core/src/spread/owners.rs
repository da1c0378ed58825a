//! The division of a buffer's elements among devices, which later launches keep to.

use super::{WholeLaunch, has_own_shape};
use crate::buffer::StorageHandle;
use crate::call::Passed;
use crate::geom::{Box3, Dims};
use crate::sched::{Parts, Split, tile};
use folio_kernel::Owner;
use smallvec::SmallVec;
use std::sync::Arc;

/// A launch of at most so many items is computed where its data are, however uneven that is: to
/// move them costs more than the wait for the busiest device.
pub(super) const SMALL: usize = 1 << 16;

/// Who computes which elements of a buffer.
#[derive(Clone, Debug)]
pub(crate) struct Owners {
    pub(super) devices: SmallVec<[u16; 2]>,
    pub(super) split: Split,
    /// The elements that have an owner, and those of each device.
    pub(super) items: Box3,
    pub(super) parts: Parts,
}

impl Owners {
    /// A buffer that is written from `at` on remembers its division.
    pub(super) fn remember_of(&self, storage: &StorageHandle, at: Dims) {
        let mut known = storage.owners.lock();
        let is_part = known.as_ref().is_some_and(|known| {
            known.is_of(&self.devices, &self.split) && known.items.volume() > self.items.volume()
        });
        if !is_part {
            let moved = |part: &Box3| if part.is_empty() { *part } else { part.shifted(at) };
            let parts = self.parts.iter().map(moved).collect();
            let items = self.items.shifted(at);
            let old = known.replace(Arc::new(Owners { items, parts, ..self.clone() }));
            // Without the lock: the function of its split is the user's.
            drop(known);
            drop(old);
        }
    }

    /// The buffers that a launch has written at its items' positions remember its division.
    pub(super) fn remember(&self, launch: &WholeLaunch<'_>) {
        for (storage, at) in launch.placed().filter_map(|(passed, own)| {
            let written = own && passed.mode.writes();
            written.then_some((&passed.part.view.storage, passed.part.part.min))
        }) {
            self.remember_of(storage, at);
        }
    }

    pub(super) fn is_of(&self, devices: &[u16], split: &Split) -> bool {
        *self.devices == *devices && self.split.is_same(split)
    }

    /// The parts of a launch over elements of the buffer from `at` on. A part at an edge reaches
    /// beyond, since launches with and without a border alternate.
    pub(super) fn parts_of(&self, items: &Box3, at: Dims) -> Parts {
        let all = items.shifted(at);
        let part = |part: &Box3| {
            let mut part = *part;
            if part.is_empty() {
                return part;
            }
            for d in 0..3 {
                if part.min[d] == self.items.min[d] {
                    part.min[d] = 0;
                }
                if part.max[d] == self.items.max[d] {
                    part.max[d] = usize::MAX;
                }
            }
            let part = part.intersect(&all);
            if part.is_empty() { part } else { part.counted_from(at) }
        };
        self.parts.iter().map(part).collect()
    }
}

impl<'c> WholeLaunch<'c> {
    /// The arguments whose elements are in the positions of the launch, those first that items own,
    /// with whether they do.
    fn placed(&self) -> impl Iterator<Item = (&'c Passed, bool)> {
        let rank = self.geometry.rank;
        let given = self.given;
        let placed = move |passed: &&Passed| {
            let view = &passed.part.view;
            view.rank == rank && has_own_shape(view)
        };
        let owned = |passed: &&Passed| {
            self.is_of(passed, Owner::Item)
                || !passed.mode.writes() && self.code.reads_own(passed.param)
        };
        let of_items: SmallVec<[bool; 8]> = given.iter().map(|passed| owned(&passed)).collect();
        let others = of_items.clone();
        let own = given.iter().zip(of_items).filter(|(_, own)| *own);
        let rest = given.iter().zip(others).filter(|(passed, own)| !own && !passed.mode.writes());
        own.chain(rest).filter(move |(passed, _)| placed(passed))
    }
}

/// The parts of a launch where its data are, if these were divided in the same way before, and the
/// parts are worth to keep.
pub(super) fn kept(
    (devices, split): (&[u16], &Split),
    launch: &WholeLaunch<'_>,
    (items, unit): (&Box3, Dims),
    keeps: &dyn Fn(&StorageHandle, &Parts) -> bool,
) -> Option<Parts> {
    launch.placed().find_map(|(passed, _)| {
        let storage = &passed.part.view.storage;
        let owners = storage.owners.lock().clone()?;
        if !owners.is_of(devices, split) {
            return None;
        }
        let parts = owners.parts_of(items, passed.part.part.min);
        (tile(&parts, items, unit) && keeps(storage, &parts)).then_some(parts)
    })
}

/// Parts where data are, which are not much less even than fresh ones.
pub(super) fn is_even(items: &Box3, [parts, fresh]: [&Parts; 2]) -> bool {
    let most = |parts: &Parts| parts.iter().map(Box3::volume).max().unwrap_or(0);
    items.volume() <= SMALL || most(parts) <= most(fresh) / 4 * 5
}
