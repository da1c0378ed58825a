//! Fills and copies that all devices of a queue share: each works on what it has, or is to have.

use super::owners::SMALL;
use super::{Owners, has_own_shape};
use crate::buffer::Part;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::geom::{Box3, Dims};
use crate::group::CommandGroup;
use crate::queue::Queue;
use crate::sched::{Parts, Split, tile};
use std::sync::Arc;

impl Queue {
    /// Fills a part, each device its own elements. None if one device is to do it.
    pub(crate) fn fill_shared(
        &self,
        split: &Split,
        to: &Part,
        pattern: &[u8],
    ) -> Result<Option<Event>> {
        self.shared(split, to, &mut |cg, min, extent| {
            cg.fill_bytes(to.part(min, extent)?, pattern);
            Ok(())
        })
    }

    /// Copies a part, each device its own elements of the target. None if one device is to do it.
    pub(crate) fn copy_shared(
        &self,
        split: &Split,
        from: &Part,
        to: &Part,
    ) -> Result<Option<Event>> {
        let is_apart = from.view.storage.id != to.view.storage.id
            || !from.view.shares(&from.part, &to.view, &to.part);
        if from.part.extent() != to.part.extent() || !is_apart {
            return Ok(None);
        }
        self.shared(split, to, &mut |cg, min, extent| {
            cg.copy_part(from.part(min, extent)?, to.part(min, extent)?);
            Ok(())
        })
    }

    /// Submits a command for each device that has some of what is written. None if the part is
    /// small, and is not known to be divided.
    fn shared(
        &self,
        split: &Split,
        to: &Part,
        describe: &mut dyn FnMut(&mut CommandGroup, Dims, Dims) -> Result<()>,
    ) -> Result<Option<Event>> {
        let (devices, storage) = (self.on_devices(), &to.view.storage);
        let (items, at) = (Box3::whole(to.part.extent()), to.part.min);
        if !has_own_shape(&to.view) {
            return Ok(None);
        }
        let Some(parts) = self.parts_of_memory(split, to)? else { return Ok(None) };
        let full = || devices.iter().zip(&parts).filter(|(_, part)| !part.is_empty());
        let mut groups = Vec::new();
        for (device, part) in full() {
            let mut group = self.group_on(*device);
            describe(&mut group, part.min, part.extent())?;
            groups.push(group);
        }
        let boxes: Vec<Box3> = full().map(|(_, part)| part.shifted(at)).collect();
        let engine = &self.inner.core.engine;
        engine.enter(|ledger| ledger.storages.cut(storage.id, &boxes, engine.plant));
        let event = self.submit_parts(groups)?;
        let (devices, split) = (devices.into(), split.clone());
        Owners { devices, split, items, parts }.remember_of(storage, at);
        Ok(Some(event))
    }

    /// The elements of each device, where the devices are to share work on a part of a buffer: by
    /// its owners, or else as the split says. None if the part is small and has no owners, or is in
    /// one place.
    pub(super) fn parts_of_memory(&self, split: &Split, of: &Part) -> Result<Option<Parts>> {
        let (devices, storage) = (self.on_devices(), &of.view.storage);
        let (items, at) = (Box3::whole(of.part.extent()), of.part.min);
        let one_place = storage.home().is_some()
            || storage.managed.get().is_some()
            || !storage.core.same(&self.inner.core);
        if items.is_empty() || one_place {
            return Ok(None);
        }
        let known = storage.owners.lock().clone();
        let is_of = |owners: &Arc<Owners>| owners.is_of(devices, split);
        let known = known.filter(|owners| has_own_shape(&of.view) && is_of(owners));
        let known = known.map(|owners| owners.parts_of(&items, at));
        match known.filter(|parts| tile(parts, &items, [1; 3])) {
            None if items.volume() <= SMALL => Ok(None),
            None => split
                .parts(&items, (of.view.rank.into(), [1; 3]), devices.len())
                .map(Some)
                .map_err(|why| Error::Configuration { what: "split", why }),
            known => Ok(known),
        }
    }
}
