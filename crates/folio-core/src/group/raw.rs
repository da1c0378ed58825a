//! Raw memory in command groups: places that are given by pointers.

use super::CommandGroup;
use crate::element::{DeviceType, bytes_of};
use crate::engine::runs::command::{Action, End, MemRect};
use crate::error::{Error, Label, Result};
use crate::geom::Dims;
use crate::hal::{Advice, Hint};
use crate::usm::{UsmPtr, UsmRows};
use smallvec::SmallVec;

impl CommandGroup {
    /// Copies between raw memory: `extent` is bytes; rows and bytes; or slices, rows and bytes.
    ///
    /// # Safety
    /// The source is initialised. The two do not overlap, and nobody else uses their memory against
    /// the command: order is the caller's, with [`after`](Self::after). Memory of
    /// [`UsmPtr::of_host`](crate::UsmPtr::of_host) lives until the command is done. In
    /// a [graph](crate::Graph) all this holds for each run, and for as long as it can be run.
    pub unsafe fn copy_raw<const D: usize>(
        &mut self,
        from: impl Into<UsmRows>,
        to: impl Into<UsmRows>,
        extent: [usize; D],
    ) {
        let extent = crate::buffer::widen(extent);
        let (from, to) = (self.place(from.into(), extent), self.place(to.into(), extent));
        self.raw(from.and_then(|from| Ok(Action::Copy { from, to: to? })));
    }

    /// Sets elements in raw memory of the queue's device to `value`: `extent` is elements; rows and
    /// elements; or slices, rows and elements.
    ///
    /// # Safety
    /// As for [`copy_raw`](Self::copy_raw).
    pub unsafe fn fill_raw<T: DeviceType, const D: usize>(
        &mut self,
        to: impl Into<UsmRows>,
        extent: [usize; D],
        value: T,
    ) {
        let to = to.into();
        let pattern = SmallVec::from_slice(bytes_of(&[value]));
        let filled = self.fill_place::<T>(to, crate::buffer::widen(extent));
        self.raw(filled.map(|to| Action::Fill { to, pattern }));
    }

    /// As [`prefetch`](Self::prefetch), of raw memory of the queue's device.
    ///
    /// # Safety
    /// The memory of a [`UsmPtr::of_host`](crate::UsmPtr::of_host) lives until the
    /// command is done.
    pub unsafe fn prefetch_raw(&mut self, at: UsmPtr, bytes: usize) {
        let at = self.place(at.into(), [1, 1, bytes]);
        self.raw(at.map(|at| Action::Hint { at, hint: Hint::Prefetch }));
    }

    /// As [`advise`](Self::advise), of raw memory of the queue's device.
    ///
    /// # Safety
    /// As for [`prefetch_raw`](Self::prefetch_raw).
    pub unsafe fn advise_raw(&mut self, at: UsmPtr, bytes: usize, advice: Advice) {
        let at = self.place(at.into(), [1, 1, bytes]);
        self.raw(at.map(|at| Action::Hint { at, hint: Hint::Advise(advice) }));
    }

    fn raw(&mut self, action: Result<Action>) {
        match action {
            Ok(action) => self.act_on(action),
            Err(error) => self.refuse(error),
        }
    }

    /// A place to fill with elements of type `T`.
    fn fill_place<T: DeviceType>(&self, to: UsmRows, extent: Dims) -> Result<MemRect> {
        let align = align_of::<T>();
        let steps =
            [Some(to.pointer.place()), to.row.map(|n| n as u64), to.slice.map(|n| n as u64)];
        if let Some(at) =
            steps.into_iter().flatten().find(|step| !step.is_multiple_of(align as u64))
        {
            let label = self.label.clone();
            return Err(Error::Misaligned { what: "command", label, at, align });
        }
        let Some(bytes) = extent[2].checked_mul(size_of::<T>()) else {
            return Err(self.too_large(extent, size_of::<T>()));
        };
        self.place(to, [extent[0], extent[1], bytes])
    }

    pub(super) fn too_large(&self, extent: Dims, element_bytes: usize) -> Error {
        let (label, extent) = (self.label.clone(), extent.to_vec());
        Error::TooLarge { what: "command", label, extent, element_bytes }
    }

    /// A rectangle of raw memory, in bytes.
    fn place(&self, rows: UsmRows, extent: Dims) -> Result<MemRect> {
        let UsmRows { pointer, row, slice } = rows;
        pointer.check_runtime(&self.core)?;
        let [slices, count, bytes] = extent;
        let row = row.unwrap_or(bytes);
        let sizes = || {
            let close = row.checked_mul(count)?;
            let slice = slice.unwrap_or(close);
            let one = row.checked_mul(count.saturating_sub(1))?.checked_add(bytes)?;
            let all = slice.checked_mul(slices.saturating_sub(1))?.checked_add(one)?;
            Some((slice, one, all))
        };
        let (slice, one, all) = sizes().ok_or_else(|| self.too_large(extent, 1))?;
        if (count > 1 && row < bytes) || (slices > 1 && slice < one) {
            let why = format!("rows {row} and slices {slice} bytes apart overlap in {extent:?}");
            return Err(Error::Configuration { what: "pitch", why });
        }
        if !extent.contains(&0) && all > pointer.bytes_left() {
            return Err(Error::OutOfRange {
                buffer: Label::from("raw pointer"),
                offset: vec![pointer.at.mem.offset as usize],
                extent: vec![all],
                range: vec![pointer.at.mem.offset as usize + pointer.bytes_left()],
            });
        }
        Ok(MemRect {
            end: End::Raw(pointer.at),
            offset: 0,
            pitch: [slice as u64, row as u64],
            extent: extent.map(|n| n as u64),
        })
    }
}
