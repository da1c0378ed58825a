//! Small pieces of memory that host and device reach: the words of launches, which the device reads
//! first of all, and the records of what they did wrong, which the host reads. A lane has some
//! chunks of each, which it uses again when what used them has ended.

use crate::device::Core;
use crate::memory::Block;
use ash::vk;
use folio_core::hal::{AllocKind, HalError};
use folio_kernel::emit::Record;
use folio_kernel::emit::spirv::Module;

/// Bytes of a chunk.
const CHUNK: u64 = 64 << 10;
/// Chunks that a lane keeps for later.
const KEPT: usize = 8;

/// Words of a record, which pieces are multiples of: records of launches follow one another.
pub(crate) const RECORD: usize = Record::WORDS.next_multiple_of(ALIGN / 8);
/// Pieces begin at a multiple of this, in bytes.
const ALIGN: usize = 16;

/// The purposes of pieces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Store {
    /// The host writes them, and the device reads them.
    Words,
    /// The other way round.
    Records,
}

impl Store {
    pub(crate) const COUNT: usize = 2;
}

/// A lane's chunks that nothing uses, and the one that pieces are taken from.
#[derive(Debug)]
pub(crate) struct Arena {
    of: Store,
    free: Vec<Block>,
    current: Option<Chunk>,
}

#[derive(Debug)]
struct Chunk {
    block: Block,
    used: u64,
}

/// A piece: words that the host writes, at an address of the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) address: u64,
    pub(crate) buffer: vk::Buffer,
    /// Where it begins in the buffer, in bytes.
    pub(crate) offset: u64,
    at: *mut u64,
    words: usize,
}

// SAFETY: a piece is one lane's, which uses it under its lock.
unsafe impl Send for Piece {}

impl Piece {
    /// Writes words; those beyond the piece are left out.
    pub(crate) fn write(&self, words: &[u64]) {
        for (at, word) in words.iter().take(self.words).enumerate() {
            // SAFETY: within the piece, which is mapped for as long as its chunk is there, and
            // which the device does not use yet (`Arena::take`).
            unsafe { self.at.add(at).write_volatile(*word) };
        }
    }

    /// A record of those that it is as long as.
    pub(crate) fn part(&self, nth: usize) -> Option<Piece> {
        let from = nth * RECORD;
        let words = self.words.checked_sub(from)?.min(Record::WORDS);
        let bytes = 8 * from as u64;
        Some(Piece {
            address: self.address + bytes,
            offset: self.offset + bytes,
            at: self.at.wrapping_add(from),
            words,
            ..*self
        })
    }

    /// The failure of a launch, if it has left one: this is its record, and the device has ended.
    pub(crate) fn failure(&self, of: &Module) -> Option<HalError> {
        let violation = of.points.violation(&Record(self.read()))?;
        Some(HalError::violation(Box::new(violation)))
    }

    /// The words, once the device has ended.
    fn read<const N: usize>(&self) -> [u64; N] {
        std::array::from_fn(|at| match at < self.words {
            // SAFETY: within the piece, whose chunk is there (`Arena::recycle` comes later).
            true => unsafe { self.at.add(at).read_volatile() },
            false => 0,
        })
    }
}

impl Arena {
    pub(crate) fn new(of: Store) -> Arena {
        Arena { of, free: vec![], current: None }
    }

    /// An arena of each kind.
    pub(crate) fn all() -> [Arena; Store::COUNT] {
        [Store::Words, Store::Records].map(Arena::new)
    }

    /// A piece of so many words. A chunk that is full goes to `full`, to be kept until what uses it
    /// has ended.
    pub(crate) fn take(
        &mut self,
        core: &Core,
        words: usize,
        full: &mut Vec<Block>,
    ) -> Result<Piece, HalError> {
        let bytes = (8 * words).next_multiple_of(ALIGN).max(ALIGN) as u64;
        self.make_room(core, bytes, full)?;
        let none = || HalError::unsupported("memory without an address of the host");
        let chunk = self.current.as_mut().ok_or_else(none)?;
        let host = chunk.block.host.ok_or_else(none)?;
        let from = chunk.used;
        chunk.used += bytes;
        let at = host.0.wrapping_add(from as usize).cast();
        let Block { address, buffer, ahead, .. } = chunk.block;
        Ok(Piece { address: address + from, buffer, offset: ahead + from, at, words })
    }

    /// Has the next pieces, of so many bytes in all, follow one another. A chunk that is full goes
    /// to `full`.
    pub(crate) fn make_room(
        &mut self,
        core: &Core,
        bytes: u64,
        full: &mut Vec<Block>,
    ) -> Result<(), HalError> {
        if self.current.as_ref().is_some_and(|c| c.used + bytes <= c.block.size) {
            return Ok(());
        }
        let own = match self.free.iter().position(|block| block.size >= bytes) {
            Some(at) => self.free.swap_remove(at),
            None => self.fresh(core, bytes.max(CHUNK))?,
        };
        let before = self.current.replace(Chunk { block: own, used: 0 });
        full.extend(before.map(|chunk| chunk.block));
        Ok(())
    }

    fn fresh(&self, core: &Core, bytes: u64) -> Result<Block, HalError> {
        let (memory, layout) = (&core.memory, (bytes, 256));
        match self.of {
            Store::Words => memory.arguments(&core.device, layout, "folio arguments"),
            Store::Records => memory.block(&core.device, AllocKind::Host, layout, "folio records"),
        }
    }

    /// The chunk that is used now goes with what uses it, so that all of it comes back.
    pub(crate) fn seal(&mut self, full: &mut Vec<Block>) {
        // A chunk that is nearly empty goes on; its batch ends before it is used up.
        if self.current.as_ref().is_some_and(|chunk| chunk.used > CHUNK / 2) {
            full.extend(self.current.take().map(|chunk| chunk.block));
        }
    }

    /// Takes back chunks whose commands have ended.
    pub(crate) fn recycle(&mut self, core: &Core, full: Vec<Block>) {
        for block in full {
            match self.free.len() < KEPT {
                true => self.free.push(block),
                false => core.memory.release(&core.device, block),
            }
        }
    }

    /// Gives all back. Nothing uses any of it.
    pub(crate) fn destroy(&mut self, core: &Core) {
        let current = self.current.take().map(|chunk| chunk.block);
        for block in self.free.drain(..).chain(current) {
            core.memory.release(&core.device, block);
        }
    }
}
