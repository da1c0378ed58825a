//! Messages between the ranks of a world.

use std::fmt;

/// A process of a world: the first is 0.
pub type Rank = u32;

/// The most bytes of a note ([`Wire::post`]).
pub const NOTE: usize = 256;

/// See [`Wire`].
pub const NUMBERS: u64 = 1 << 15;

/// What joins the ranks of a world, which are processes that all run the same program. One thread
/// opens it and makes all calls. None of them waits, but for the end of [`Wire::close`].
///
/// There are two kinds of messages. *Notes* are short, arrive at any time, and from one rank to
/// another in the order in which they were posted. *Pieces of memory* go where their receiver has
/// said; both ends name a piece by the same number, and begin pieces in any order. Those under way
/// from one rank to another at one time have numbers within [`NUMBERS`] of each other.
///
/// # Safety
/// Memory given to [`Wire::send`] and [`Wire::receive`] is used until [`Wire::poll`] has told of
/// the piece's end, and no longer; of a wire that is dropped before, until the process ends. A
/// piece that has arrived holds the bytes that were sent.
pub unsafe trait Wire {
    /// How many ranks there are: 1 at least.
    fn ranks(&self) -> Rank;

    /// The rank of this process.
    fn me(&self) -> Rank;

    /// Sends a note of at most [`NOTE`] bytes, to this rank, too.
    fn post(&mut self, to: Rank, note: &[u8]) -> Result<(), WireError>;

    /// Begins to send `bytes` bytes as piece `number`.
    ///
    /// # Safety
    /// They may be read from here on until the piece's end is told, and are not written
    /// meanwhile.
    unsafe fn send(
        &mut self,
        to: Rank,
        number: u64,
        from: *const u8,
        bytes: usize,
    ) -> Result<(), WireError>;

    /// Begins to receive piece `number`, which has so many bytes. If it has another size,
    /// [`Wire::poll`] fails by [`WireError::Size`] instead of telling of its end, and nothing
    /// behind the memory is written.
    ///
    /// # Safety
    /// The memory may be written from here on until the piece's end is told, and is not used
    /// meanwhile.
    unsafe fn receive(
        &mut self,
        from: Rank,
        number: u64,
        into: *mut u8,
        bytes: usize,
    ) -> Result<(), WireError>;

    /// Makes progress, and tells the next thing that has happened, if there is one.
    fn poll(&mut self) -> Result<Option<Arrival>, WireError>;

    /// Says that this rank has come to a point where all ranks meet; [`Arrival::Together`] tells
    /// when they have.
    fn meet(&mut self) -> Result<(), WireError>;

    /// Leaves the world. All ranks do so once nothing is under way, and then this waits for them.
    fn close(self: Box<Self>) -> Result<(), WireError>;

    /// Ends all ranks of the world, as far as they can be reached; this process, too, where the
    /// launcher does so.
    fn abort(&mut self, status: i32);
}

/// What [`Wire::poll`] tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A note of another rank, or of this one.
    Note {
        /// Its sender.
        from: Rank,
        /// Its bytes.
        note: Vec<u8>,
    },
    /// A piece has been sent: its memory may be written.
    Sent {
        /// Its receiver.
        to: Rank,
        /// Its number.
        number: u64,
    },
    /// A piece has arrived.
    Received {
        /// Its sender.
        from: Rank,
        /// Its number.
        number: u64,
    },
    /// All ranks have met ([`Wire::meet`]).
    Together,
}

/// Why messages do not get through.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WireError {
    /// There is no such rank.
    NoRank {
        /// The rank.
        rank: Rank,
        /// How many there are.
        ranks: Rank,
    },
    /// A note is longer than [`NOTE`].
    Note {
        /// Its bytes.
        bytes: usize,
    },
    /// A piece that was received has another size than its receiver was told.
    Size {
        /// Its sender.
        from: Rank,
        /// Its number.
        number: u64,
        /// The size that was expected, in bytes.
        expected: usize,
    },
    /// A call of the library failed.
    Library {
        /// Its name.
        call: &'static str,
        /// The library's words.
        words: String,
    },
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WireError::NoRank { rank, ranks } => {
                write!(f, "there is no rank {rank}: the world has {ranks}")
            }
            WireError::Note { bytes } => {
                write!(f, "a note of {bytes} bytes is longer than {NOTE}")
            }
            WireError::Size { from, number, expected } => write!(
                f,
                "piece {number} of rank {from} has another size than the {expected} bytes expected"
            ),
            WireError::Library { call, words } => write!(f, "{call} failed: {words}"),
        }
    }
}

impl std::error::Error for WireError {}
