//! Copies of memory that is not page-locked.
//!
//! The driver would make the caller wait for such a copy, and for all that comes before it. The
//! copy therefore goes by way of page-locked pieces, in the stream's order: the host's share runs
//! on a stream of its own, some pieces ahead of or behind the device's.

use crate::copy;
use crate::driver::{Context, Relaxed, call};
use crate::host::Job;
use crate::memory::NON_BLOCKING;
use crate::progress::new_event;
use crate::way::Way;
use cudarc::driver::sys;
use folio_core::hal::{HalError, HostPtr};
use folio_driver::host::Rows;
use folio_driver::lock;
use folio_driver::rect::{Cut, Rect};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex};

/// How much goes at a time, and in how many pieces' memory.
const PIECE: u64 = 8 << 20;
const PIECES: usize = 4;
/// Less than all pieces goes in smaller parts, so that the host's share and the device's overlap.
const CUT: Cut = Cut { parts: PIECES as u64, least: 1 << 20, most: PIECE, rows: u64::MAX };

/// A lane's staging memory, from its first such copy on.
pub(crate) struct Staging {
    context: Arc<Context>,
    made: Mutex<Option<Made>>,
}

struct Made {
    /// For the host's share.
    host: sys::CUstream,
    begun: sys::CUevent,
    pieces: [Piece; PIECES],
    next: usize,
}

// SAFETY: the driver's objects may be used by any thread, and the memory is reached by way of
// their streams only.
unsafe impl Send for Made {}

#[derive(Clone, Copy)]
struct Piece {
    memory: HostPtr,
    /// The lane's last use of it, and the host's.
    lane: sys::CUevent,
    host: sys::CUevent,
}

impl Staging {
    pub(crate) fn new(context: Arc<Context>) -> Staging {
        Staging { context, made: Mutex::new(None) }
    }

    /// From pageable memory to where the driver reaches; `rect`'s source is of no meaning but for
    /// its pitch.
    ///
    /// # Safety
    /// When the stream comes to it, the memory is live and nobody else uses it against its mode.
    pub(crate) unsafe fn upload(
        &self,
        stream: sys::CUstream,
        from: HostPtr,
        rect: &Rect,
    ) -> Result<(), HalError> {
        let mut made = lock(&self.made);
        let made = self.make(&mut made)?;
        // SAFETY: the caller's promise.
        let done = unsafe { self.upload_by(made, stream, from, rect) };
        done.inspect_err(|_| self.end(made, stream))
    }

    /// # Safety
    /// As for [`Staging::upload`]; after an error the host's share may go on.
    unsafe fn upload_by(
        &self,
        made: &mut Made,
        stream: sys::CUstream,
        from: HostPtr,
        rect: &Rect,
    ) -> Result<(), HalError> {
        // The host's memory must not be read before the lane has come here.
        self.record(made.begun, stream)?;
        self.wait(made.begun, made.host)?;
        for part in rect.parts(&CUT) {
            let (piece, extent) = (made.turn(), part.extent);
            let user = Rows::ahead(from, part.src, part.src_pitch);
            let staged = part.from_packed(piece.memory.0.expose_provenance() as u64);
            let packed = Rows { at: piece.memory, pitch: staged.src_pitch };
            self.wait(piece.lane, made.host)?;
            // SAFETY: the caller's promise; the piece is ours, and its last user is waited for.
            unsafe {
                Job::Copy { from: user, to: packed, extent }.enqueue(&self.context, made.host)?
            };
            self.record(piece.host, made.host)?;
            self.wait(piece.host, stream)?;
            // SAFETY: as above.
            unsafe { copy::enqueue_rect(&staged, &self.context, Way::Stream(stream))? };
            self.record(piece.lane, stream)?;
        }
        Ok(())
    }

    /// From where the driver reaches to pageable memory; `rect`'s destination is of no meaning but
    /// for its pitch.
    ///
    /// # Safety
    /// As for [`Staging::upload`].
    pub(crate) unsafe fn download(
        &self,
        stream: sys::CUstream,
        rect: &Rect,
        to: HostPtr,
    ) -> Result<(), HalError> {
        let mut made = lock(&self.made);
        let made = self.make(&mut made)?;
        // SAFETY: the caller's promise.
        let done = unsafe { self.download_by(made, stream, rect, to) };
        done.inspect_err(|_| self.end(made, stream))
    }

    /// # Safety
    /// As for [`Staging::download`]; after an error the host's share may go on.
    unsafe fn download_by(
        &self,
        made: &mut Made,
        stream: sys::CUstream,
        rect: &Rect,
        to: HostPtr,
    ) -> Result<(), HalError> {
        let mut last = None;
        for part in rect.parts(&CUT) {
            let (piece, extent) = (made.turn(), part.extent);
            let user = Rows::ahead(to, part.dst, part.dst_pitch);
            let staged = part.to_packed(piece.memory.0.expose_provenance() as u64);
            let packed = Rows { at: piece.memory, pitch: staged.dst_pitch };
            self.wait(piece.host, stream)?;
            // SAFETY: the caller's promise; the piece is ours, and its last user is waited for.
            unsafe { copy::enqueue_rect(&staged, &self.context, Way::Stream(stream))? };
            self.record(piece.lane, stream)?;
            self.wait(piece.lane, made.host)?;
            // SAFETY: as above.
            unsafe {
                Job::Copy { from: packed, to: user, extent }.enqueue(&self.context, made.host)?
            };
            self.record(piece.host, made.host)?;
            last = Some(piece.host);
        }
        // The lane goes on when the host has it all.
        last.map_or(Ok(()), |event| self.wait(event, stream))
    }

    /// Waits for both shares of a copy that failed halfway: events may be missing that would say
    /// when pieces are free.
    #[cold]
    fn end(&self, made: &Made, stream: sys::CUstream) {
        let _relaxed = Relaxed::begin();
        for stream in [made.host, stream] {
            // SAFETY: a live stream. If the device is lost, jobs of the host are waited for where
            // that is told.
            let _ = unsafe { sys::cuStreamSynchronize(stream) };
        }
    }

    fn record(&self, event: sys::CUevent, stream: sys::CUstream) -> Result<(), HalError> {
        // SAFETY: both are live.
        let made = call("cuEventRecord", || unsafe { sys::cuEventRecord(event, stream) });
        self.context.check("cuEventRecord", made)
    }

    fn wait(&self, event: sys::CUevent, stream: sys::CUstream) -> Result<(), HalError> {
        // SAFETY: both are live. An event that was never recorded is not waited for.
        let result =
            call("cuStreamWaitEvent", || unsafe { sys::cuStreamWaitEvent(stream, event, 0) });
        self.context.check("cuStreamWaitEvent", result)
    }

    fn make<'m>(&self, made: &'m mut Option<Made>) -> Result<&'m mut Made, HalError> {
        if made.is_none() {
            let _relaxed = Relaxed::begin();
            let mut new = Made::default();
            if let Err(error) = new.fill(&self.context) {
                new.give_back();
                return Err(error);
            }
            *made = Some(new);
        }
        made.as_mut().ok_or_else(|| HalError::unsupported("staging"))
    }
}

impl Made {
    /// Makes what there is to be; after an error a part of it. The context is current.
    fn fill(&mut self, context: &Context) -> Result<(), HalError> {
        let (mut memory, bytes) = (null_mut(), PIECE as usize * PIECES);
        // SAFETY: places for the answers.
        unsafe {
            let made = sys::cuStreamCreateWithPriority(&raw mut self.host, NON_BLOCKING, 0);
            context.check("cuStreamCreateWithPriority", made)?;
            let made = call("cuMemHostAlloc", || sys::cuMemHostAlloc(&raw mut memory, bytes, 0));
            context.check("cuMemHostAlloc", made)?;
        }
        for (at, piece) in self.pieces.iter_mut().enumerate() {
            piece.memory = HostPtr(memory.cast::<u8>().wrapping_add(at * PIECE as usize));
        }
        let pieces = self.pieces.iter_mut().flat_map(|piece| [&mut piece.lane, &mut piece.host]);
        for event in pieces.chain([&mut self.begun]) {
            *event = new_event(context)?;
        }
        Ok(())
    }

    /// Gives back what there is. The context is current, and the lane's stream has ended.
    fn give_back(self) {
        // SAFETY: ours, and once the host's stream has ended, too, nothing uses it any more.
        unsafe {
            if !self.host.is_null() {
                let _ = sys::cuStreamSynchronize(self.host);
                let _ = sys::cuStreamDestroy_v2(self.host);
            }
            let pieces = self.pieces.iter().flat_map(|piece| [piece.lane, piece.host]);
            for event in pieces.chain([self.begun]).filter(|event| !event.is_null()) {
                let _ = sys::cuEventDestroy_v2(event);
            }
            let memory = self.pieces[0].memory.0;
            if !memory.is_null() {
                let _ = sys::cuMemFreeHost(memory.cast());
            }
        }
    }

    /// The piece whose turn it is.
    fn turn(&mut self) -> Piece {
        self.next = (self.next + 1) % PIECES;
        self.pieces[self.next]
    }
}

impl Default for Made {
    fn default() -> Made {
        let none = Piece { memory: HostPtr(null_mut()), lane: null_mut(), host: null_mut() };
        Made { host: null_mut(), begun: null_mut(), pieces: [none; PIECES], next: 0 }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let made = lock(&self.made).take();
        let Some(made) = made else { return };
        let Ok(_calls) = self.context.enter() else { return };
        let _relaxed = Relaxed::begin();
        made.give_back();
    }
}
