//! Ranks in one process, whose messages come late, out of order, or not at all.

use folio_core::hal::{Arrival, NOTE, Rank, Wire, WireError};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Ranks in one process, each of which a thread may have. Time is logical: a step for each
/// [`poll`](Wire::poll) of any rank.
///
/// ```
/// use folio_core::hal::{Arrival, Wire};
/// use folio_sim::SimWorld;
///
/// let world = SimWorld::new(2).late(5).seed(7);
/// let (mut first, mut second) = (world.wire(0), world.wire(1));
/// first.post(1, b"hello")?;
/// let arrival = loop {
///     if let Some(arrival) = second.poll()? {
///         break arrival;
///     }
/// };
/// assert_eq!(arrival, Arrival::Note { from: 0, note: b"hello".to_vec() });
/// # Ok::<(), folio_core::hal::WireError>(())
/// ```
#[derive(Clone)]
pub struct SimWorld {
    shared: Arc<Mutex<Shared>>,
    ranks: Rank,
}

/// What the ranks share.
#[derive(Default)]
struct Shared {
    now: u64,
    /// Messages take up to so many steps.
    late: u64,
    /// One message of so many is lost; 0: none is.
    lost: u64,
    random: u64,
    /// From each rank to each other, in order.
    notes: Vec<VecDeque<Note>>,
    /// Pieces on their way, by when they arrive and which was sent first.
    sent: BTreeMap<[u64; 2], (Name, Sent)>,
    /// Pieces that have arrived and are not awaited yet, and those that are awaited.
    here: HashMap<Name, Sent>,
    awaited: HashMap<Name, Awaited>,
    /// Told to each rank, in this order.
    arrived: Vec<VecDeque<Result<Arrival, WireError>>>,
    /// How often each rank has come to where all meet, and how often it was told.
    met: Vec<[u64; 2]>,
    is_dead: Vec<bool>,
    messages: u64,
    bytes: u64,
}

struct Note {
    due: u64,
    bytes: Vec<u8>,
}

/// A piece's sender, receiver and number.
type Name = (Rank, Rank, u64);

struct Sent {
    memory: *const u8,
    bytes: usize,
}

struct Awaited {
    memory: *mut u8,
    bytes: usize,
}

// SAFETY: the pointers are those that ranks have given to `send` and `receive`, whose memory any
// thread may use until the piece's end is told; nothing else is bound to a thread.
unsafe impl Send for Shared {}

impl Shared {
    fn random(&mut self, below: u64) -> u64 {
        // A linear congruential generator, of which the high bits are good enough.
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 33) % below.max(1)
    }

    fn due(&mut self) -> u64 {
        let late = self.late + 1;
        self.now + self.random(late)
    }

    /// Whether the next message is lost.
    fn is_lost(&mut self) -> bool {
        self.lost > 0 && self.random(self.lost) == 0
    }

    fn is_dead(&self, rank: Rank) -> bool {
        self.is_dead[rank as usize]
    }

    fn tell(&mut self, rank: Rank, what: Result<Arrival, WireError>) {
        self.arrived[rank as usize].push_back(what);
    }

    /// Delivers what is due.
    fn step(&mut self) {
        self.now += 1;
        let ranks = self.arrived.len();
        for way in 0..self.notes.len() {
            let (from, to) = ((way / ranks) as Rank, (way % ranks) as Rank);
            while self.notes[way].front().is_some_and(|note| note.due <= self.now) {
                let Some(Note { bytes: note, .. }) = self.notes[way].pop_front() else { break };
                self.tell(to, Ok(Arrival::Note { from, note }));
            }
        }
        while let Some(first) = self.sent.first_entry().filter(|e| e.key()[0] <= self.now) {
            let (name, sent) = first.remove();
            self.here.insert(name, sent);
            self.deliver(name);
        }
        let times = self.met.iter().map(|[met, _]| *met).min().unwrap_or(0);
        for rank in 0..self.met.len() {
            while self.met[rank][1] < times {
                self.met[rank][1] += 1;
                self.tell(rank as Rank, Ok(Arrival::Together));
            }
        }
    }

    /// Delivers a piece if both of its ends are there.
    fn deliver(&mut self, name: Name) {
        let (from, to, number) = name;
        let is_possible = self.here.contains_key(&name) && !self.is_dead(from) && !self.is_dead(to);
        let Some(other) = is_possible.then(|| self.awaited.remove(&name)).flatten() else { return };
        let Some(Sent { memory, bytes }) = self.here.remove(&name) else { return };
        let (into, expected) = (other.memory, other.bytes);
        if bytes == expected {
            // SAFETY: who has begun the two ends keeps both memories until their ends are told,
            // which is below; no other thread uses them against that; both have so many bytes.
            unsafe { std::ptr::copy(memory, into, bytes) };
        }
        self.tell(from, Ok(Arrival::Sent { to, number }));
        let size = WireError::Size { from, number, expected };
        let received = Arrival::Received { from, number };
        self.tell(to, if bytes == expected { Ok(received) } else { Err(size) });
    }
}

impl SimWorld {
    /// A world of so many ranks, 1 at least, whose messages are there at once.
    pub fn new(ranks: Rank) -> SimWorld {
        let ranks = ranks.max(1);
        let count = ranks as usize;
        let shared = Shared {
            notes: (0..count * count).map(|_| VecDeque::new()).collect(),
            arrived: (0..count).map(|_| VecDeque::new()).collect(),
            met: vec![[0; 2]; count],
            is_dead: vec![false; count],
            random: 1,
            ..Shared::default()
        };
        SimWorld { shared: Arc::new(Mutex::new(shared)), ranks }
    }

    /// Messages take up to so many steps, each its own number, so that pieces overtake each other.
    pub fn late(self, steps: u64) -> SimWorld {
        self.shared().late = steps;
        self
    }

    /// One message of about so many is lost; 0: none is.
    pub fn lost(self, one_of: u64) -> SimWorld {
        self.shared().lost = one_of;
        self
    }

    /// Another order, and other losses.
    pub fn seed(self, seed: u64) -> SimWorld {
        self.shared().random = seed.wrapping_mul(2).wrapping_add(1);
        self
    }

    /// The wire of a rank; there is one for each.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn wire(&self, rank: Rank) -> SimWire {
        assert!(rank < self.ranks, "there is no rank {rank}: the world has {}", self.ranks);
        SimWire { world: self.clone(), me: rank }
    }

    /// From now on nothing comes from this rank, and what is sent to it goes nowhere.
    pub fn kill(&self, rank: Rank) {
        if let Some(is_dead) = self.shared().is_dead.get_mut(rank as usize) {
            *is_dead = true;
        }
    }

    /// How many notes and pieces have been sent so far, also by a rank to itself, and their bytes.
    pub fn messages(&self) -> (u64, u64) {
        let shared = self.shared();
        (shared.messages, shared.bytes)
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self, rank: Rank) -> Result<(), WireError> {
        let ranks = self.ranks;
        if rank < ranks { Ok(()) } else { Err(WireError::NoRank { rank, ranks }) }
    }
}

/// A rank's end of a [`SimWorld`].
pub struct SimWire {
    world: SimWorld,
    me: Rank,
}

impl SimWire {
    /// Counts a message to another rank; `None` if it goes nowhere.
    fn sent(&self, to: Rank, bytes: usize) -> Option<MutexGuard<'_, Shared>> {
        let mut shared = self.world.shared();
        shared.messages += 1;
        shared.bytes += bytes as u64;
        let gone = shared.is_dead(self.me) || shared.is_dead(to) || shared.is_lost();
        (!gone).then_some(shared)
    }
}

// SAFETY: a piece's memory is used in `Shared::deliver` alone, before either end is told, for as
// many bytes as both ends have said.
unsafe impl Wire for SimWire {
    fn ranks(&self) -> Rank {
        self.world.ranks
    }

    fn me(&self) -> Rank {
        self.me
    }

    fn post(&mut self, to: Rank, note: &[u8]) -> Result<(), WireError> {
        self.world.known(to)?;
        if note.len() > NOTE {
            return Err(WireError::Note { bytes: note.len() });
        }
        if let Some(mut shared) = self.sent(to, note.len()) {
            let due = shared.due();
            let way = (self.me * self.world.ranks + to) as usize;
            shared.notes[way].push_back(Note { due, bytes: note.to_vec() });
        }
        Ok(())
    }

    unsafe fn send(
        &mut self,
        to: Rank,
        number: u64,
        from: *const u8,
        bytes: usize,
    ) -> Result<(), WireError> {
        self.world.known(to)?;
        if let Some(mut shared) = self.sent(to, bytes) {
            let (due, messages) = (shared.due(), shared.messages);
            let piece = ((self.me, to, number), Sent { memory: from, bytes });
            shared.sent.insert([due, messages], piece);
        }
        Ok(())
    }

    unsafe fn receive(
        &mut self,
        from: Rank,
        number: u64,
        into: *mut u8,
        bytes: usize,
    ) -> Result<(), WireError> {
        self.world.known(from)?;
        let mut shared = self.world.shared();
        let name = (from, self.me, number);
        shared.awaited.insert(name, Awaited { memory: into, bytes });
        shared.deliver(name);
        Ok(())
    }

    fn poll(&mut self) -> Result<Option<Arrival>, WireError> {
        let mut shared = self.world.shared();
        shared.step();
        if shared.is_dead(self.me) {
            return Ok(None);
        }
        shared.arrived[self.me as usize].pop_front().transpose()
    }

    fn meet(&mut self) -> Result<(), WireError> {
        self.world.shared().met[self.me as usize][0] += 1;
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<(), WireError> {
        Ok(())
    }

    fn abort(&mut self, _status: i32) {
        self.world.shared().is_dead.fill(true);
    }
}

impl Drop for SimWire {
    /// Pieces whose memory may go with this rank are forgotten.
    fn drop(&mut self) {
        let me = self.me;
        let mut shared = self.world.shared();
        shared.sent.retain(|_, (name, _)| name.0 != me);
        shared.here.retain(|name, _| name.0 != me);
        shared.awaited.retain(|name, _| name.1 != me);
    }
}
