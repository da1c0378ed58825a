//! Copies of which an end is memory that only the host reaches.
//!
//! The host's share begins when everything ahead of the copy has ended. Where both ends are mapped,
//! the host copies. Elsewhere the bytes go part by part through
//! [`stages`](crate::memory::stages): two parts are on their way at once, so the host fills or
//! empties one stage while the device uses the other. Each part is a batch of its own, whose value
//! of the lane's semaphore says when it has ended.

use crate::device::Core;
use crate::lane::copy::REGIONS;
use crate::lane::{LaneState, VulkanLane};
use crate::memory::Block;
use crate::memory::stages::STAGE;
use folio_core::hal::{CopyRect, HalError, HostPtr, MemBase, MemRef, Tick};
use folio_driver::host::{Rows, copy};
use folio_driver::rect::{Cut, Parts, Rect};
use std::collections::VecDeque;
use std::sync::Arc;

/// Parts of a copy that are on their way at once.
const TURNS: usize = 2;
/// A rectangle is cut so that the host's share and the device's overlap in small ones, too. A
/// submission costs some microseconds.
const CUT: Cut = Cut { parts: 4, least: 1 << 20, most: STAGE, rows: REGIONS as u64 };

/// A copy by the host, as far as it has come.
pub(crate) struct HostCopy {
    rects: std::vec::IntoIter<CopyRect>,
    /// The rectangle that has been begun, and its parts that have not.
    current: Option<(CopyRect, Parts)>,
    /// When it began, since everything ahead had ended.
    begun: Option<u64>,
    /// Parts that the device has been given, the first one first.
    flying: VecDeque<Part>,
    /// Why no further part is begun.
    wrong: Option<HalError>,
}

/// A part of a rectangle on its way.
struct Part {
    /// None of what the device copies on its own.
    stage: Option<Block>,
    /// The value of the lane's semaphore when the device has ended.
    value: u64,
    /// To the host: what goes where it belongs then.
    landing: Option<Landing>,
}

/// Bytes in a stage, and where they belong.
struct Landing {
    from: Rows,
    to: Rows,
    extent: [u64; 3],
}

/// An end of a rectangle.
enum CopyEnd {
    Host(HostPtr),
    Device(Arc<Block>),
}

impl HostCopy {
    pub(crate) fn new(rects: Vec<CopyRect>) -> HostCopy {
        let (rects, flying) = (rects.into_iter(), VecDeque::new());
        HostCopy { rects, current: None, begun: None, flying, wrong: None }
    }

    /// Parts of it may be on their way: it need not wait for anything ahead.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun.is_some()
    }

    /// Gives its stages back, none of which the device uses any more.
    pub(crate) fn release(&mut self, core: &Core) {
        for stage in self.flying.drain(..).filter_map(|part| part.stage) {
            core.stages.give(core, stage);
        }
    }

    /// Goes on as far as that goes without waiting, behind everything that is ahead. Returns when
    /// it began if it is done, and nothing if the device is at work for it.
    pub(crate) fn run(&mut self, lane: &VulkanLane, tick: Tick) -> Result<Option<u64>, HalError> {
        self.begun.get_or_insert_with(|| lane.core.now());
        self.land(lane);
        while self.wrong.is_none() && self.flying.len() < TURNS {
            match self.next(lane, tick) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => self.wrong = Some(error),
            }
        }
        // A copy that has failed ends when the device uses no stage of it any more.
        match self.flying.is_empty() {
            true => self.wrong.take().map_or(Ok(self.begun), Err),
            false => Ok(None),
        }
    }

    /// Begins the next part; false if there is none, or no stage for it as long as others fly.
    fn next(&mut self, lane: &VulkanLane, tick: Tick) -> Result<bool, HalError> {
        let current = self.current.take().filter(|(_, parts)| !parts.is_over());
        let next = || self.rects.next().map(|rect| (rect, Rect::from(&rect).parts(&CUT)));
        let Some((rect, parts)) = current.or_else(next) else { return Ok(false) };
        let host = (lane, tick);
        match (end(lane, &rect.src)?, end(lane, &rect.dst)?) {
            (CopyEnd::Host(from), CopyEnd::Host(to)) => {
                let Rect { src, src_pitch, dst, dst_pitch, extent } = Rect::from(&rect).joined();
                let (from, to) =
                    (Rows::ahead(from, src, src_pitch), Rows::ahead(to, dst, dst_pitch));
                // SAFETY: both are within memory that is there, do not overlap, and nothing else
                // uses them against the operation (the HAL's contract); what the device has written
                // is visible, since its batches have ended.
                unsafe { copy(&from, &to, extent) };
                Ok(true)
            }
            (CopyEnd::Device(_), CopyEnd::Device(_)) => {
                self.fly(host, (None, None), |state| lane.copy(state, &[rect]))
            }
            (CopyEnd::Host(from), CopyEnd::Device(to)) => {
                self.current = Some((rect, parts));
                self.stage_up(host, from, &to)
            }
            (CopyEnd::Device(from), CopyEnd::Host(to)) => {
                self.current = Some((rect, parts));
                self.stage_down(host, &from, to)
            }
        }
    }

    /// The next part, a stage for it, and where the host finds that; none if there is no stage
    /// before those that fly are back.
    fn stage(&mut self, core: &Core) -> Result<Option<(Rect, Block, HostPtr)>, HalError> {
        let stage = match core.stages.take(core) {
            Err(_) if !self.flying.is_empty() => return Ok(None),
            taken => taken?,
        };
        match (stage.host, self.current.as_mut().and_then(|(_, parts)| parts.next())) {
            (Some(at), Some(part)) => Ok(Some((part, stage, at))),
            _ => {
                core.stages.give(core, stage);
                Err(HalError::unsupported("memory without an address of the host"))
            }
        }
    }

    fn stage_up(
        &mut self,
        (lane, tick): (&VulkanLane, Tick),
        from: HostPtr,
        to: &Arc<Block>,
    ) -> Result<bool, HalError> {
        let Some((part, stage, at)) = self.stage(&lane.core)? else { return Ok(false) };
        let from = Rows::ahead(from, part.src, part.src_pitch);
        let staged = Rows { at, pitch: part.to_packed(0).dst_pitch };
        // SAFETY: the host's memory is there (the HAL's contract); the stage has room, and the
        // device does not use it now.
        unsafe { copy(&from, &staged, part.extent) };
        let (buffers, part) = ((stage.buffer, to.buffer), part.from_packed(0));
        self.fly((lane, tick), (Some(stage), None), |state| {
            lane.copy_part(state, buffers, [0, to.ahead], &part)
        })
    }

    fn stage_down(
        &mut self,
        (lane, tick): (&VulkanLane, Tick),
        from: &Arc<Block>,
        to: HostPtr,
    ) -> Result<bool, HalError> {
        let Some((part, stage, at)) = self.stage(&lane.core)? else { return Ok(false) };
        let to = Rows::ahead(to, part.dst, part.dst_pitch);
        let (buffers, part) = ((from.buffer, stage.buffer), part.to_packed(0));
        let staged = Rows { at, pitch: part.dst_pitch };
        let landing = Landing { from: staged, to, extent: part.extent };
        self.fly((lane, tick), (Some(stage), Some(landing)), |state| {
            lane.copy_part(state, buffers, [from.ahead, 0], &part)
        })
    }

    /// Gives the device a part, which keeps its stage.
    fn fly(
        &mut self,
        (lane, tick): (&VulkanLane, Tick),
        (stage, landing): (Option<Block>, Option<Landing>),
        record: impl FnOnce(&mut LaneState) -> Result<(), HalError>,
    ) -> Result<bool, HalError> {
        match lane.submit_part(tick, record) {
            Ok(value) => {
                self.flying.push_back(Part { stage, value, landing });
                Ok(true)
            }
            Err(error) => {
                // No command names the stage: none was recorded.
                stage.into_iter().for_each(|stage| lane.core.stages.give(&lane.core, stage));
                Err(error)
            }
        }
    }

    /// Copies data that have come from the device to where they belong.
    fn land(&mut self, lane: &VulkanLane) {
        lane.look();
        while let Some(part) = self.flying.pop_front_if(|part| lane.has_passed(part.value)) {
            if let Some(Landing { from, to, extent }) = part.landing {
                // SAFETY: the host's memory is there (the HAL's contract); the device has ended,
                // and what it has written is visible to the host, since its batch has ended.
                unsafe { copy(&from, &to, extent) };
            }
            part.stage.into_iter().for_each(|stage| lane.core.stages.give(&lane.core, stage));
        }
    }
}

/// Where a place is: by an address of the host if there is one.
fn end(lane: &VulkanLane, at: &MemRef) -> Result<CopyEnd, HalError> {
    match at.base {
        MemBase::Host(base) => Ok(CopyEnd::Host(base)),
        MemBase::Device { .. } => {
            let block = lane.block(at)?;
            Ok(match block.host {
                Some(base) => CopyEnd::Host(base),
                None => CopyEnd::Device(block),
            })
        }
    }
}
