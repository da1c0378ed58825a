//! Fills and copies that all devices of a queue share: each works on what it has, or is to have.

use super::owners::SMALL;
use super::{Owners, has_own_shape};
use crate::buffer::Part;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::geom::{Box3, Dims};
use crate::group::CommandGroup;
use crate::queue::Queue;
use crate::sched::{Split, tile};

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
        let (devices, storage) = (&self.inner.devices, &to.view.storage);
        let (items, at) = (Box3::whole(to.part.extent()), to.part.min);
        let one_place = storage.home().is_some()
            || storage.managed.get().is_some()
            || !storage.core.same(&self.inner.core);
        if !has_own_shape(&to.view) || items.is_empty() || one_place {
            return Ok(None);
        }
        let known = storage.owners.lock().clone();
        let known = known.filter(|owners| owners.is_of(devices, split));
        let known = known.map(|owners| owners.parts_of(&items, at));
        let parts = match known.filter(|parts| tile(parts, &items, [1; 3])) {
            Some(parts) => parts,
            None if items.volume() <= SMALL => return Ok(None),
            None => split
                .parts(&items, (to.view.rank.into(), [1; 3]), devices.len())
                .map_err(|why| Error::Configuration { what: "split", why })?,
        };
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
        let (devices, split) = (devices.clone(), split.clone());
        Owners { devices, split, items, parts }.remember_of(storage, at);
        Ok(Some(event))
    }
}
