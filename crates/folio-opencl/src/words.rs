//! Words of launches in memory that host and device share, of which a launch is given the place.
//! That is for devices that are CPUs: PoCL copies each argument anew for each launch, and asks for
//! aligned memory where one is a struct.

use crate::copy::KeepAlive;
use crate::memory::{SvmBlock, with_room};
use crate::platform::Shared;
use folio_core::hal::HalError;
use opencl_sys::{CL_MEM_READ_ONLY, CL_MEM_SVM_FINE_GRAIN_BUFFER};
use std::sync::Arc;

/// Bytes of memory that launches are given places in, one after the other.
const CHUNK: usize = 64 << 10;
/// Bytes that one thread reads while another writes the next ones, without being in each other's
/// way.
const LINE: usize = 128;

/// The words of a lane's launches, or of a graph's.
#[derive(Debug, Default)]
pub(crate) struct Words {
    chunk: Option<Arc<SvmBlock>>,
    /// Bytes of it that have been given away. No launch is told when it may be written there again:
    /// a chunk that is full goes when what it was used by has ended.
    used: usize,
    /// The words that were put last, and where they are.
    last: (Vec<u64>, u64),
}

impl Words {
    /// The memory of the words that were put last.
    pub(crate) fn chunk(&self) -> Option<&Arc<SvmBlock>> {
        self.chunk.as_ref()
    }

    /// Where these words are until the next mark's commands have ended. Often they are what the
    /// last launch had.
    pub(crate) fn put(
        &mut self,
        shared: &Shared,
        kept: &mut KeepAlive,
        words: &[u64],
    ) -> Result<u64, HalError> {
        let (last, at) = &self.last;
        if self.chunk.is_some() && last == words {
            return Ok(*at);
        }
        let bytes = size_of_val(words).next_multiple_of(LINE);
        let chunk = match self.chunk.take_if(|chunk| self.used + bytes <= chunk.bytes as usize) {
            Some(chunk) => chunk,
            None => {
                let (flags, size) =
                    (CL_MEM_READ_ONLY | CL_MEM_SVM_FINE_GRAIN_BUFFER, bytes.max(CHUNK));
                let fresh = with_room(|| SvmBlock::new(&shared.context, flags, size as u64))?;
                let fresh = Arc::new(fresh);
                self.used = 0;
                if let Some(full) = self.chunk.take() {
                    kept.push(Box::new(full));
                }
                fresh
            }
        };
        let from = self.used;
        self.used += bytes;
        let to = chunk.start.cast::<u8>().wrapping_add(from).cast::<u64>();
        // SAFETY: within the chunk, whose start is aligned to more than a word, and behind all that
        // has been given away: nobody reads here.
        unsafe { std::ptr::copy_nonoverlapping(words.as_ptr(), to, words.len()) };
        self.chunk = Some(chunk);
        self.last.0.clear();
        self.last.0.extend_from_slice(words);
        self.last.1 = to.expose_provenance() as u64;
        Ok(self.last.1)
    }
}
