//! Work that an algorithm itself divides among the devices of a queue.

use super::has_own_shape;
use crate::buffer::{AsPart, Slice};
use crate::element::DeviceType;
use crate::error::{Error, Label, Result};
use crate::geom::Box3;
use crate::queue::Queue;
use crate::runtime::DeviceRef;
use crate::sched::rounded;
use std::ops::Range;

impl Queue {
    /// The same queue, whose commands run on this one of its devices: no scheduler is asked, and
    /// nothing is shared.
    ///
    /// ```
    /// # use folio_core::{Queue, Result, Runtime};
    /// # use folio_core::sched::Locality;
    /// fn zeros(rt: &Runtime) -> Result<()> {
    ///     let q = rt.queue_over(&rt.devices(), Locality)?;
    ///     for device in q.devices() {
    ///         let mut x = rt.buffer::<f32, 1>(1000)?;
    ///         q.on(&device)?.fill(&mut x, 0.0)?;
    ///     }
    ///     q.wait() // for all of them
    /// }
    /// ```
    pub fn on(&self, device: &DeviceRef) -> Result<Queue> {
        if !device.core.same(&self.inner.core) {
            let label = Label::from(device.name());
            return Err(Error::WrongRuntime { what: "device", label, by: None });
        }
        if !self.on_devices().contains(&device.at) {
            let names: Vec<String> = self.devices().iter().map(|of| of.name().to_owned()).collect();
            let wanted = format!("`{}` of a queue", device.name());
            return Err(Error::DeviceNotFound { wanted, there: names.join(", ") });
        }
        Ok(self.on_device(device.at))
    }

    /// The elements that each device of a queue with a [split](Self::split) works on, and the queue
    /// [on](Self::on) that device: for an algorithm whose kernels compute with the index of their
    /// group, or write what is not an item's own, so that no launch of them can be
    /// [spread](Self::spread). Each device runs them on a slice.
    ///
    /// Shares begin at multiples of `unit` elements, and follow where the elements were computed. A
    /// slice of at most 65,536 elements that was not, memory in one place, and a queue without a
    /// split have one share: all elements, and this queue.
    ///
    /// ```
    /// # use folio_core::{Buffer, Queue, Result};
    /// /// Copies chunks of 1000 elements, each where it is.
    /// fn copies(q: &Queue, x: &Buffer<f32>, y: &mut Buffer<f32>) -> Result<()> {
    ///     for (q, own) in q.shares(x, 1000)? {
    ///         let (at, n) = ([own.start], [own.len()]);
    ///         q.copy(x.slice(at, n)?, y.slice_mut(at, n)?)?;
    ///     }
    ///     Ok(())
    /// }
    /// ```
    pub fn shares<T: DeviceType>(
        &self,
        x: impl AsPart<T, 1>,
        unit: usize,
    ) -> Result<Vec<(Queue, Range<usize>)>> {
        let x: Slice<'_, T> = x.slice_all();
        let (part, all) = (x.as_part(), Box3::whole([1, 1, x.len()]));
        let parts = match self.split() {
            Some(split) => self.parts_of_memory(&split, &part)?,
            None => None,
        };
        let Some(parts) = parts else { return Ok(vec![(self.clone(), 0..x.len())]) };
        let own = parts.iter().map(|of| rounded(of, &all, [1, 1, unit]));
        let shares = self.on_devices().iter().zip(own).filter(|(_, own)| !own.is_empty());
        let shares: Vec<(&u16, Box3)> = shares.collect();
        if has_own_shape(&part.view) {
            // A share brings no more than it reads.
            let boxes: Vec<Box3> =
                shares.iter().map(|(_, own)| own.shifted(part.part.min)).collect();
            let engine = &self.inner.core.engine;
            let id = part.view.storage.id;
            engine.enter(|ledger| ledger.storages.cut(id, &boxes, engine.plant));
        }
        let on = |(device, own): (&u16, Box3)| (self.on_device(*device), own.min[2]..own.max[2]);
        Ok(shares.into_iter().map(on).collect())
    }
}
