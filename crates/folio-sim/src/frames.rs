//! Memory in frames: addresses that are reserved, and frames of them that have memory.
//!
//! The bytes of all of it are the host's and there from the start. Frames without memory hold
//! [`UNBACKED`], and are to hold it still when they get memory, or when the allocation goes: so
//! writes to them show as violations, and reads as wrong values.

use crate::memory::{Block, FRESH};
use std::ops::Range;

/// The bytes of frames without memory.
pub const UNBACKED: u8 = 0xC7;

/// The frames of an allocation.
pub(crate) struct Frames {
    /// Bytes of one.
    size: u64,
    /// By frame, whether it has memory.
    backed: Vec<bool>,
}

impl Frames {
    /// None of a block's frames has memory.
    pub(crate) fn new(block: &Block, size: u64) -> Frames {
        block.fill(0..block.size(), UNBACKED);
        Frames { size, backed: vec![false; block.size().div_ceil(size) as usize] }
    }

    /// The frames of these bytes; the error says what is wrong with them.
    fn at(&self, bytes: &Range<u64>) -> Result<Range<usize>, String> {
        let [from, to] = [bytes.start, bytes.end].map(|at| (at / self.size) as usize);
        let whole = [bytes.start, bytes.end].iter().all(|at| at.is_multiple_of(self.size));
        match whole && from < to && to <= self.backed.len() {
            true => Ok(from..to),
            false => Err(format!("{bytes:?} are not frames of {} bytes", self.size)),
        }
    }

    /// The bytes of a block in a frame.
    fn bytes(&self, block: &Block, frame: usize) -> Range<u64> {
        let from = frame as u64 * self.size;
        from..(from + self.size).min(block.size())
    }

    /// Changes whether frames have memory; the error says what is wrong with that.
    pub(crate) fn set(
        &mut self,
        block: &Block,
        bytes: &Range<u64>,
        backed: bool,
    ) -> Result<(), String> {
        for frame in self.at(bytes)? {
            let own = self.bytes(block, frame);
            if std::mem::replace(&mut self.backed[frame], backed) == backed {
                return Err(format!("frame {frame}: memory is {backed} already"));
            }
            if backed && !block.holds(own.clone(), UNBACKED) {
                return Err(format!("frame {frame} was written without memory"));
            }
            block.fill(own, if backed { FRESH } else { UNBACKED });
        }
        Ok(())
    }

    /// Bytes of the frames that have memory.
    pub(crate) fn in_use(&self) -> u64 {
        self.backed.iter().filter(|backed| **backed).count() as u64 * self.size
    }

    /// All of these bytes have memory.
    pub(crate) fn are_backed(&self, bytes: &Range<u64>) -> bool {
        let frames = bytes.start / self.size..bytes.end.div_ceil(self.size);
        frames.into_iter().all(|frame| self.backed.get(frame as usize) == Some(&true))
    }

    /// Nothing wrote to frames without memory.
    pub(crate) fn are_intact(&self, block: &Block) -> bool {
        let mut empty = self.backed.iter().enumerate().filter(|(_, backed)| !**backed);
        empty.all(|(frame, _)| block.holds(self.bytes(block, frame), UNBACKED))
    }
}
