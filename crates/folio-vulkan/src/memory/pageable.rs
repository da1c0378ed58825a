//! Copies of which an end is memory that only the host reaches.
//!
//! The host's share begins when everything ahead of the copy has ended. Where both ends are mapped,
//! the host copies. Elsewhere the bytes go part by part through
//! [`stages`](crate::memory::stages): two parts are on their way at once, so the host fills or
//! empties one stage while the device uses the other. Each part is a batch of its own, whose value
//! of the lane's semaphore says when it has ended.

use crate::device::Core;
use crate::lane::work::{Line, REGIONS, line, lines};
use crate::lane::{State, VulkanLane};
use crate::memory::Block;
use crate::memory::host::{Move, copy_all};
use crate::memory::stages::STAGE;
use ash::vk;
use folio_core::hal::{CopyRect, HalError, HostPtr, MemBase, MemRef, Tick};
use std::collections::VecDeque;
use std::sync::Arc;

/// Parts of a copy that are on their way at once.
const TURNS: usize = 2;
/// Into so many parts a rectangle is cut if they have the least bytes, so that the host's share and
/// the device's overlap in small ones, too.
const PARTS: u64 = 4;
/// Bytes of a part, at least: a submission costs some microseconds.
const LEAST: u64 = 1 << 20;

/// A copy by the host, as far as it has come.
pub(crate) struct HostCopy {
    rects: Vec<CopyRect>,
    rect: usize,
    /// The next line, and where in it to go on.
    line: u64,
    byte: u64,
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
    lands: Vec<Move>,
}

// SAFETY: addresses of the host's memory, which stays until the tick is reached (the HAL's
// contract), and which the one thread that runs the copy uses in the lane's order.
unsafe impl Send for HostCopy {}

/// One end of a line.
enum End {
    Host(*mut u8),
    Device(Arc<Block>),
}

impl HostCopy {
    pub(crate) fn new(rects: Vec<CopyRect>) -> HostCopy {
        let (flying, wrong) = (VecDeque::new(), None);
        HostCopy { rects, rect: 0, line: 0, byte: 0, begun: None, flying, wrong }
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
        // What has failed ends when the device uses no stage of it any more.
        match self.flying.is_empty() {
            true => self.wrong.take().map_or(Ok(self.begun), Err),
            false => Ok(None),
        }
    }

    /// Begins the next part; false if there is none, or no stage for it as long as others fly.
    fn next(&mut self, lane: &VulkanLane, tick: Tick) -> Result<bool, HalError> {
        let Some(rect) = self.rects.get(self.rect).copied() else { return Ok(false) };
        match (end(lane, &rect.src)?, end(lane, &rect.dst)?) {
            (End::Host(from), End::Host(to)) => {
                self.by_host(&rect, from, to);
                Ok(true)
            }
            (End::Device(_), End::Device(_)) => {
                self.next_rect();
                self.fly((lane, tick), (None, vec![]), |state| lane.copy(state, &[rect]))
            }
            (End::Host(from), End::Device(to)) => self.stage_up((lane, tick), &rect, from, &to),
            (End::Device(from), End::Host(to)) => self.stage_down((lane, tick), &rect, &from, to),
        }
    }

    fn next_rect(&mut self) {
        self.rect += 1;
        (self.line, self.byte) = (0, 0);
    }

    /// All of a rectangle, whose two ends are mapped.
    fn by_host(&mut self, rect: &CopyRect, from: *mut u8, to: *mut u8) {
        let moves = |at| {
            let Line { from: ahead, to: behind, bytes } = line(rect, at);
            let (from, into) =
                (from.wrapping_add(ahead as usize), to.wrapping_add(behind as usize));
            Move { from, into, bytes: bytes as usize }
        };
        let mut left = (0..lines(rect)).map(moves).peekable();
        while left.peek().is_some() {
            let moves: Vec<Move> = left.by_ref().take(REGIONS).collect();
            // SAFETY: both are within memory that is there, do not overlap, and nothing else uses
            // them against the operation (the HAL's contract); what the device has written is
            // visible, since its batches have ended.
            unsafe { copy_all(&moves) };
        }
        self.next_rect();
    }

    /// The next part of a rectangle: its lines.
    fn part(&mut self, rect: &CopyRect) -> Vec<Line> {
        let (mut part, mut left) = (vec![], (rect.bytes() / PARTS).clamp(LEAST, STAGE));
        while self.line < lines(rect) && left > 0 && part.len() < REGIONS {
            let whole = line(rect, self.line);
            let rest = whole.bytes - self.byte;
            let now = rest.min(left);
            part.push(Line { from: whole.from + self.byte, to: whole.to + self.byte, bytes: now });
            left -= now;
            if now == rest {
                (self.line, self.byte) = (self.line + 1, 0);
            } else {
                self.byte += now;
            }
        }
        if self.line == lines(rect) {
            self.next_rect();
        }
        part
    }

    /// A stage, and where the host finds it; none if there is none before those that fly are back.
    fn stage(&self, core: &Core) -> Result<Option<(Block, *mut u8)>, HalError> {
        let stage = match core.stages.take(core) {
            Err(_) if !self.flying.is_empty() => return Ok(None),
            taken => taken?,
        };
        match stage.host {
            Some(HostPtr(at)) => Ok(Some((stage, at))),
            None => {
                core.stages.give(core, stage);
                Err(HalError::unsupported("memory without an address of the host"))
            }
        }
    }

    fn stage_up(
        &mut self,
        (lane, tick): (&VulkanLane, Tick),
        rect: &CopyRect,
        from: *mut u8,
        to: &Arc<Block>,
    ) -> Result<bool, HalError> {
        let Some((stage, base)) = self.stage(&lane.core)? else { return Ok(false) };
        let (mut at, mut regions, mut moves) = (0, vec![], vec![]);
        for line in self.part(rect) {
            let into = base.wrapping_add(at as usize);
            let from = from.wrapping_add(line.from as usize);
            moves.push(Move { from, into, bytes: line.bytes as usize });
            let region = vk::BufferCopy::default().src_offset(at).size(line.bytes);
            regions.push(region.dst_offset(to.ahead + line.to));
            at += line.bytes;
        }
        // SAFETY: the host's memory is there (the HAL's contract); the stage has room, and the
        // device does not use it now.
        unsafe { copy_all(&moves) };
        let buffers = (stage.buffer, to.buffer);
        self.fly((lane, tick), (Some(stage), vec![]), |state| {
            lane.regions(state, buffers, &regions)
        })
    }

    fn stage_down(
        &mut self,
        (lane, tick): (&VulkanLane, Tick),
        rect: &CopyRect,
        from: &Arc<Block>,
        to: *mut u8,
    ) -> Result<bool, HalError> {
        let Some((stage, base)) = self.stage(&lane.core)? else { return Ok(false) };
        let (mut at, mut regions, mut lands) = (0, vec![], vec![]);
        for line in self.part(rect) {
            let region = vk::BufferCopy::default().src_offset(from.ahead + line.from);
            regions.push(region.dst_offset(at).size(line.bytes));
            let (from, into) = (base.wrapping_add(at as usize), to.wrapping_add(line.to as usize));
            lands.push(Move { from, into, bytes: line.bytes as usize });
            at += line.bytes;
        }
        let buffers = (from.buffer, stage.buffer);
        self.fly((lane, tick), (Some(stage), lands), |state| lane.regions(state, buffers, &regions))
    }

    /// Gives the device a part, which keeps its stage.
    fn fly(
        &mut self,
        (lane, tick): (&VulkanLane, Tick),
        (stage, lands): (Option<Block>, Vec<Move>),
        record: impl FnOnce(&mut State) -> Result<(), HalError>,
    ) -> Result<bool, HalError> {
        match lane.submit_part(tick, record) {
            Ok(value) => {
                self.flying.push_back(Part { stage, value, lands });
                Ok(true)
            }
            Err(error) => {
                // No command names the stage: none was recorded.
                stage.into_iter().for_each(|stage| lane.core.stages.give(&lane.core, stage));
                Err(error)
            }
        }
    }

    /// What has come from the device goes where it belongs.
    fn land(&mut self, lane: &VulkanLane) {
        lane.look();
        while let Some(part) = self.flying.pop_front_if(|part| lane.has_passed(part.value)) {
            // SAFETY: the host's memory is there (the HAL's contract); the device has ended, and
            // what it has written is visible to the host, since its batch has ended.
            unsafe { copy_all(&part.lands) };
            part.stage.into_iter().for_each(|stage| lane.core.stages.give(&lane.core, stage));
        }
    }
}

/// Where a place is: by an address of the host if there is one.
fn end(lane: &VulkanLane, at: &MemRef) -> Result<End, HalError> {
    match at.base {
        MemBase::Host(HostPtr(base)) => Ok(End::Host(base)),
        MemBase::Device { .. } => {
            let block = lane.block(at)?;
            Ok(match block.host {
                Some(HostPtr(base)) => End::Host(base),
                None => End::Device(block),
            })
        }
    }
}
