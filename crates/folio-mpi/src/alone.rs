//! A world of one rank.

use folio_core::hal::{Arrival, NOTE, Rank, Wire, WireError};
use std::collections::VecDeque;

/// A world of one rank. Its messages go to itself.
#[derive(Default)]
pub struct Alone {
    arrived: VecDeque<Result<Arrival, WireError>>,
    /// Pieces whose other end has not come yet.
    sent: Vec<(u64, *const u8, usize)>,
    awaited: Vec<(u64, *mut u8, usize)>,
}

impl Alone {
    /// One rank.
    pub fn new() -> Alone {
        Alone::default()
    }

    fn known(&self, rank: Rank) -> Result<(), WireError> {
        if rank == 0 { Ok(()) } else { Err(WireError::NoRank { rank, ranks: 1 }) }
    }

    /// Moves a piece once both ends are there.
    fn meet_ends(&mut self) {
        let of = |(k, (number, ..)): (usize, &(u64, *mut u8, usize))| {
            let s = self.sent.iter().position(|(sent, ..)| sent == number)?;
            Some((k, s))
        };
        let Some((k, s)) = self.awaited.iter().enumerate().find_map(of) else { return };
        let (number, into, expected) = self.awaited.swap_remove(k);
        let (_, from, bytes) = self.sent.swap_remove(s);
        self.arrived.push_back(Ok(Arrival::Sent { to: 0, number }));
        if bytes != expected {
            self.arrived.push_back(Err(WireError::Size { from: 0, number, expected }));
            return;
        }
        // SAFETY: who began the two ends keeps both memories until their ends are told, and no
        // other thread uses them against that; both have so many bytes. They may be one memory.
        unsafe { std::ptr::copy(from, into, bytes) };
        self.arrived.push_back(Ok(Arrival::Received { from: 0, number }));
    }
}

// SAFETY: memory is used in `meet_ends` only, before either end is told, for as many bytes as both
// ends have said.
unsafe impl Wire for Alone {
    fn ranks(&self) -> Rank {
        1
    }

    fn me(&self) -> Rank {
        0
    }

    fn post(&mut self, to: Rank, note: &[u8]) -> Result<(), WireError> {
        self.known(to)?;
        if note.len() > NOTE {
            return Err(WireError::Note { bytes: note.len() });
        }
        self.arrived.push_back(Ok(Arrival::Note { from: 0, note: note.to_vec() }));
        Ok(())
    }

    unsafe fn send(
        &mut self,
        to: Rank,
        number: u64,
        from: *const u8,
        bytes: usize,
    ) -> Result<(), WireError> {
        self.known(to)?;
        self.sent.push((number, from, bytes));
        self.meet_ends();
        Ok(())
    }

    unsafe fn receive(
        &mut self,
        from: Rank,
        number: u64,
        into: *mut u8,
        bytes: usize,
    ) -> Result<(), WireError> {
        self.known(from)?;
        self.awaited.push((number, into, bytes));
        self.meet_ends();
        Ok(())
    }

    fn poll(&mut self) -> Result<Option<Arrival>, WireError> {
        self.arrived.pop_front().transpose()
    }

    fn meet(&mut self) -> Result<(), WireError> {
        self.arrived.push_back(Ok(Arrival::Together));
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<(), WireError> {
        Ok(())
    }

    fn abort(&mut self, _status: i32) {}
}
