//! A [`Wire`] over a library of MPI.

use crate::error::Error;
use crate::library::{Calls, Constants, Handle, Status, first_line};
use folio_core::hal::{Arrival, NOTE, NUMBERS, Rank, Wire, WireError};
use std::collections::VecDeque;
use std::ffi::{c_char, c_int, c_void};

/// The most bytes of one message: lengths are of 31 bits.
const MOST: usize = 1 << 30;

/// Room for a library's words about an error.
const WORDS: usize = 1024;

/// The tag of notes, on a communicator of their own.
const NOTES: c_int = 0;

/// Ranks joined by MPI. The thread that has made it makes all calls, since a raw pointer keeps it
/// from others.
pub(crate) struct MpiWire<H: Handle> {
    calls: Calls<H>,
    constants: Constants<H>,
    /// Notes, and pieces of memory.
    notes: H,
    pieces: H,
    me: Rank,
    ranks: Rank,
    arrived: VecDeque<Arrival>,
    /// Notes that are being sent; their bytes stay where they are until then.
    posted: Vec<(H, Box<[u8]>)>,
    moving: Vec<Moving<H>>,
    meeting: Option<H>,
    _of_one_thread: std::marker::PhantomData<*const ()>,
}

/// A piece under way.
struct Moving<H> {
    /// The messages that are not done.
    messages: Vec<(H, usize)>,
    other: Rank,
    number: u64,
    /// The bytes that are expected, if it is received.
    received: Option<usize>,
    is_of_other_size: bool,
}

impl<H: Handle> MpiWire<H> {
    /// Joins the world.
    pub(crate) fn join(calls: Calls<H>, constants: Constants<H>) -> Result<MpiWire<H>, Error> {
        let mut before = 0;
        // SAFETY: possible before MPI is joined; the number may be written.
        unsafe { (calls.initialized)(&mut before) };
        if before != 0 {
            return Err(Error::Twice);
        }
        let (none, mut level) = (std::ptr::null_mut(), 0);
        // SAFETY: MPI has not been joined in this process; the program's words need not be given.
        let status = unsafe {
            (calls.init_thread)(none, std::ptr::null_mut(), constants.funneled, &mut level)
        };
        let mut wire = MpiWire {
            notes: constants.world,
            pieces: constants.world,
            calls,
            constants,
            me: 0,
            ranks: 1,
            arrived: VecDeque::new(),
            posted: Vec::new(),
            moving: Vec::new(),
            meeting: None,
            _of_one_thread: std::marker::PhantomData,
        };
        wire.check("MPI_Init_thread", status)?;
        wire.set_up()?;
        Ok(wire)
    }

    /// Communicators of its own, with calls that return their errors.
    fn set_up(&mut self) -> Result<(), WireError> {
        let world = self.constants.world;
        let errors = self.constants.errors_return;
        // SAFETY: MPI has been joined; handles are the library's own.
        let status = unsafe { (self.calls.set_errhandler)(world, errors) };
        self.check("MPI_Comm_set_errhandler", status)?;
        let mut made = [world; 2];
        for handle in &mut made {
            // SAFETY: as above; the copy has the error handler of the original.
            let status = unsafe { (self.calls.comm_dup)(world, handle) };
            self.check("MPI_Comm_dup", status)?;
        }
        [self.notes, self.pieces] = made;
        let (mut me, mut ranks) = (0, 1);
        // SAFETY: as above; the numbers may be written.
        let status = unsafe { (self.calls.comm_rank)(world, &mut me) };
        self.check("MPI_Comm_rank", status)?;
        // SAFETY: as above.
        let status = unsafe { (self.calls.comm_size)(world, &mut ranks) };
        self.check("MPI_Comm_size", status)?;
        (self.me, self.ranks) = (me.unsigned_abs(), ranks.unsigned_abs());
        Ok(())
    }

    /// The error of a call, in the library's words.
    fn check(&mut self, call: &'static str, status: c_int) -> Result<(), WireError> {
        if status == 0 {
            return Ok(());
        }
        let mut text = vec![0u8; WORDS];
        let mut length = 0;
        // SAFETY: the text has room for the longest words of any library.
        unsafe {
            (self.calls.error_string)(status, text.as_mut_ptr().cast::<c_char>(), &mut length)
        };
        Err(WireError::Library { call, words: first_line(&text, length) })
    }

    fn known(&self, rank: Rank) -> Result<c_int, WireError> {
        let ranks = self.ranks;
        if rank < ranks { Ok(rank.cast_signed()) } else { Err(WireError::NoRank { rank, ranks }) }
    }

    /// Whether a request has ended, and with which status.
    fn has_ended(&mut self, request: &mut H) -> Result<Option<Status>, WireError> {
        let (mut flag, mut status) = (0, Status::default());
        // SAFETY: the request is one that the library has made, or none; a status has room for that
        // of each interface.
        let code = unsafe { (self.calls.test)(request, &mut flag, &mut status) };
        self.check("MPI_Test", code)?;
        Ok((flag != 0).then_some(status))
    }

    /// Bytes of the message that a status tells of.
    fn bytes(&mut self, status: &Status) -> Result<usize, WireError> {
        let mut count = 0;
        // SAFETY: the library has written the status.
        let code = unsafe { (self.calls.get_count)(status, self.constants.byte, &mut count) };
        self.check("MPI_Get_count", code)?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Takes the next note that has come.
    fn note(&mut self) -> Result<Option<Arrival>, WireError> {
        let (mut flag, mut status) = (0, Status::default());
        let mut message = self.constants.no_request;
        let any = self.constants.any_source;
        // SAFETY: the communicator is this wire's own; the library writes what follows it.
        let code = unsafe {
            (self.calls.improbe)(any, NOTES, self.notes, &mut flag, &mut message, &mut status)
        };
        self.check("MPI_Improbe", code)?;
        if flag == 0 {
            return Ok(None);
        }
        let from = status.0[self.constants.source_at].unsigned_abs();
        let bytes = self.bytes(&status)?.min(NOTE);
        let mut note = vec![0u8; bytes];
        let (into, byte) = (note.as_mut_ptr().cast::<c_void>(), self.constants.byte);
        // SAFETY: the message is the one that was found; the memory has room for its bytes.
        let code =
            unsafe { (self.calls.mrecv)(into, bytes as c_int, byte, &mut message, &mut status) };
        self.check("MPI_Mrecv", code)?;
        Ok(Some(Arrival::Note { from, note }))
    }

    /// Looks at each piece under way, and keeps those that are not done.
    fn look_at_pieces(&mut self) -> Result<(), WireError> {
        let mut moving = std::mem::take(&mut self.moving);
        let looked = moving.iter_mut().try_for_each(|piece| self.look_at(piece));
        let mut other_size = None;
        moving.retain(|piece| {
            let is_done = piece.messages.is_empty();
            let (other, number) = (piece.other, piece.number);
            match piece.received {
                Some(expected) if is_done && piece.is_of_other_size => {
                    other_size = Some(WireError::Size { from: other, number, expected });
                }
                Some(_) if is_done => {
                    self.arrived.push_back(Arrival::Received { from: other, number });
                }
                None if is_done => self.arrived.push_back(Arrival::Sent { to: other, number }),
                _ => {}
            }
            !is_done
        });
        self.moving = moving;
        looked.and(other_size.map_or(Ok(()), Err))
    }

    fn look_at(&mut self, piece: &mut Moving<H>) -> Result<(), WireError> {
        let mut at = 0;
        while at < piece.messages.len() {
            let (request, expected) = &mut piece.messages[at];
            let Some(status) = self.has_ended(request)? else {
                at += 1;
                continue;
            };
            let expected = *expected;
            piece.messages.swap_remove(at);
            if piece.received.is_some() && self.bytes(&status)? != expected {
                piece.is_of_other_size = true;
            }
        }
        Ok(())
    }

    fn look_at_posted(&mut self) -> Result<(), WireError> {
        let mut posted = std::mem::take(&mut self.posted);
        let mut failed = Ok(());
        posted.retain_mut(|(request, _)| match self.has_ended(request) {
            Ok(ended) => ended.is_none(),
            Err(error) => {
                failed = Err(error);
                true
            }
        });
        self.posted = posted;
        failed
    }
}

impl<H: Handle> Drop for MpiWire<H> {
    fn drop(&mut self) {
        // The library may read these until the process ends.
        std::mem::forget(std::mem::take(&mut self.posted));
    }
}

/// The messages of a piece: where each begins, and its bytes. An empty piece is one message.
fn messages(bytes: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = bytes.div_ceil(MOST).max(1);
    (0..count).map(move |k| (k * MOST, (bytes - k * MOST).min(MOST)))
}

fn tag(number: u64) -> c_int {
    (number % NUMBERS) as c_int
}

// SAFETY: memory is given to MPI_Isend and MPI_Irecv, which use it until MPI_Test says that they
// have ended, and no further than the bytes that they are told.
unsafe impl<H: Handle> Wire for MpiWire<H> {
    fn ranks(&self) -> Rank {
        self.ranks
    }

    fn me(&self) -> Rank {
        self.me
    }

    fn post(&mut self, to: Rank, note: &[u8]) -> Result<(), WireError> {
        let to = self.known(to)?;
        if note.len() > NOTE {
            return Err(WireError::Note { bytes: note.len() });
        }
        let note: Box<[u8]> = note.into();
        let mut request = self.constants.no_request;
        let (from, count) = (note.as_ptr().cast::<c_void>(), note.len() as c_int);
        // SAFETY: the bytes stay in their box until the request has ended.
        let code = unsafe {
            (self.calls.isend)(
                from,
                count,
                self.constants.byte,
                to,
                NOTES,
                self.notes,
                &mut request,
            )
        };
        self.posted.push((request, note));
        self.check("MPI_Isend", code)
    }

    unsafe fn send(
        &mut self,
        to: Rank,
        number: u64,
        from: *const u8,
        bytes: usize,
    ) -> Result<(), WireError> {
        let other = self.known(to)?;
        let mut piece = Moving {
            messages: Vec::new(),
            other: to,
            number,
            received: None,
            is_of_other_size: false,
        };
        let mut begun = Ok(());
        for (at, count) in messages(bytes) {
            let mut request = self.constants.no_request;
            let byte = self.constants.byte;
            // SAFETY: the caller says that the bytes are there until the piece's end is told.
            let code = unsafe {
                let from = from.add(at).cast::<c_void>();
                let count = count as c_int;
                (self.calls.isend)(from, count, byte, other, tag(number), self.pieces, &mut request)
            };
            piece.messages.push((request, count));
            begun = begun.and(self.check("MPI_Isend", code));
        }
        self.moving.push(piece);
        begun
    }

    unsafe fn receive(
        &mut self,
        from: Rank,
        number: u64,
        into: *mut u8,
        bytes: usize,
    ) -> Result<(), WireError> {
        let other = self.known(from)?;
        let mut piece = Moving {
            messages: Vec::new(),
            other: from,
            number,
            received: Some(bytes),
            is_of_other_size: false,
        };
        let mut begun = Ok(());
        for (at, count) in messages(bytes) {
            let mut request = self.constants.no_request;
            let byte = self.constants.byte;
            // SAFETY: by the caller's word the bytes are this message's until the piece's end is
            // told.
            let code = unsafe {
                let into = into.add(at).cast::<c_void>();
                let count = count as c_int;
                (self.calls.irecv)(into, count, byte, other, tag(number), self.pieces, &mut request)
            };
            piece.messages.push((request, count));
            begun = begun.and(self.check("MPI_Irecv", code));
        }
        self.moving.push(piece);
        begun
    }

    fn poll(&mut self) -> Result<Option<Arrival>, WireError> {
        if let Some(arrival) = self.arrived.pop_front() {
            return Ok(Some(arrival));
        }
        self.look_at_posted()?;
        self.look_at_pieces()?;
        if let Some(note) = self.note()? {
            self.arrived.push_back(note);
        }
        if let Some(mut request) = self.meeting.take() {
            match self.has_ended(&mut request)? {
                Some(_) => self.arrived.push_back(Arrival::Together),
                None => self.meeting = Some(request),
            }
        }
        Ok(self.arrived.pop_front())
    }

    fn meet(&mut self) -> Result<(), WireError> {
        let mut request = self.constants.no_request;
        // SAFETY: the communicator is this wire's own.
        let code = unsafe { (self.calls.ibarrier)(self.notes, &mut request) };
        self.check("MPI_Ibarrier", code)?;
        self.meeting = Some(request);
        Ok(())
    }

    fn close(mut self: Box<Self>) -> Result<(), WireError> {
        while !self.posted.is_empty() {
            self.look_at_posted()?;
            std::thread::yield_now();
        }
        // SAFETY: nothing of this wire is under way, as its owner says and as was looked at.
        let code = unsafe { (self.calls.finalize)() };
        self.check("MPI_Finalize", code)
    }

    fn abort(&mut self, status: i32) {
        // SAFETY: MPI has been joined.
        unsafe { (self.calls.abort)(self.constants.world, status) };
    }
}
