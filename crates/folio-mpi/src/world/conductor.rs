//! The thread that makes all calls of the wire, and does the jobs of lanes.

use super::commands::Key;
use super::device::Own;
use super::job::{Copies, Job, OwnedOp, Work, bytes_of, copy_on_host, packing, unpacking};
use super::note::{KEYS, LaneName, Note};
use super::state::{Shared, State};
use folio_core::hal::*;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

/// Between two beats.
const BEAT: Duration = Duration::from_millis(100);
/// Turns without progress after which the conductor sleeps.
const RESTLESS: u32 = 200;
/// Its sleep while something is under way, and while nothing is.
const NAP: Duration = Duration::from_micros(50);
const SLEEP: Duration = Duration::from_millis(1);

pub(crate) struct Conductor {
    wire: Box<dyn Wire>,
    shared: Arc<Shared>,
    patience: Duration,
    /// When each rank has said something.
    heard: Vec<Instant>,
    beaten: Instant,
    /// Ranks that do nothing but wait.
    waiting: Vec<bool>,
    /// Commands of devices that are not open here yet.
    early: HashMap<(u32, u32), Vec<u32>>,
    /// When something has happened that was no beat.
    moved: Instant,
    /// Ranks that have left.
    left: HashSet<Rank>,
    has_left: bool,
    /// Jobs that have begun, one for each lane.
    active: HashMap<LaneName, Active>,
    /// Lanes of devices here, on which the conductor copies.
    copying: HashMap<(u32, u32, LaneKind), Copying>,
    /// Pieces of which a rank has told.
    pilots: HashMap<(Rank, Key), (u64, u64)>,
    /// Verdicts of launches elsewhere that have come before their jobs.
    verdicts: HashMap<Key, Option<String>>,
    /// Memory on its way.
    sending: HashMap<(Rank, u64), Arc<Memory>>,
    receiving: HashMap<(Rank, u64), LaneName>,
    /// Memory that the wire may still write, of pieces for which no job waits.
    abandoned: HashMap<(Rank, u64), Memory>,
    /// The next piece's number, for each rank.
    numbers: Vec<u64>,
    /// Why the wire is of no use any more.
    broken: Option<Arc<str>>,
}

/// Bytes at a place that stays.
struct Memory(Box<[u8]>);

impl Memory {
    fn new(bytes: usize) -> Memory {
        Memory(vec![0; bytes].into_boxed_slice())
    }
}

/// A lane of a device here, and its next tick.
struct Copying {
    lane: Arc<dyn Lane>,
    tick: Tick,
}

/// A job that has begun.
struct Active {
    lane: LaneName,
    tick: Tick,
    key: Key,
    /// The rank of its lane's device.
    rank: Rank,
    rest: Vec<Part>,
    failure: Option<HalError>,
}

/// A part of a job that is left.
enum Part {
    /// A copy here, with memory that it uses.
    Copy { by: (u32, u32, LaneKind), tick: Tick, then: Then },
    /// A message has not been told of.
    Pilot { from: Rank, device: Option<u32>, rects: Vec<CopyRect> },
    /// A message is on its way.
    Message { from: Rank, number: u64, device: Option<u32>, rects: Vec<CopyRect>, memory: Memory },
    /// A launch elsewhere has not ended.
    Verdict,
    /// Kernels have not been dropped.
    Drop,
}

/// The step behind a copy.
enum Then {
    Nothing,
    /// Memory that is not used any more.
    Free {
        _memory: Memory,
    },
    Send {
        to: Option<Rank>,
        memory: Memory,
    },
}

impl Conductor {
    pub(crate) fn new(wire: Box<dyn Wire>, shared: Arc<Shared>, patience: Duration) -> Conductor {
        let ranks = wire.ranks() as usize;
        let now = Instant::now();
        Conductor {
            wire,
            shared,
            patience,
            heard: vec![now; ranks],
            beaten: now,
            waiting: vec![false; ranks],
            early: HashMap::new(),
            moved: now,
            left: HashSet::new(),
            has_left: false,
            active: HashMap::new(),
            copying: HashMap::new(),
            pilots: HashMap::new(),
            verdicts: HashMap::new(),
            sending: HashMap::new(),
            receiving: HashMap::new(),
            abandoned: HashMap::new(),
            numbers: vec![0; ranks],
            broken: None,
        }
    }

    fn others(&self) -> impl Iterator<Item = Rank> + use<> {
        let me = self.shared.me;
        (0..self.shared.ranks).filter(move |rank| *rank != me)
    }

    /// Until all ranks have left.
    pub(crate) fn work(mut self) {
        let mut idle = 0;
        loop {
            let mut is_busy = self.arrivals();
            is_busy |= self.begin();
            is_busy |= self.go_on();
            if is_busy {
                self.moved = Instant::now();
            }
            self.judge();
            self.beat();
            self.tear();
            if self.leave() {
                break;
            }
            idle = if is_busy { 0 } else { idle + 1 };
            if idle > RESTLESS {
                let nap = if self.is_at_work() { NAP } else { SLEEP };
                let state = self.shared.lock();
                if state.outbox.is_empty() {
                    drop(self.shared.wake.wait_timeout(state, nap));
                }
            } else if idle > 0 {
                thread::yield_now();
            }
        }
        let Conductor { wire, shared, sending, abandoned, broken, .. } = self;
        // Memory that the wire may still use stays; a wire that is broken cannot be closed.
        sending.into_values().for_each(std::mem::forget);
        abandoned.into_values().for_each(std::mem::forget);
        match broken {
            None => drop(wire.close()),
            Some(_) => drop(wire),
        }
        shared.driven().is_over = true;
        shared.drive.notify_all();
        shared.lock().has_ended = true;
        shared.tell();
    }

    fn is_at_work(&self) -> bool {
        !(self.active.is_empty() && self.sending.is_empty())
            || self.shared.lock().lanes.values().any(|lane| !lane.waiting.is_empty())
    }

    /// Takes the arrivals that the wire has for this rank.
    fn arrivals(&mut self) -> bool {
        let mut any = false;
        while self.broken.is_none() {
            match self.wire.poll() {
                Ok(None) => break,
                Ok(Some(arrival)) => any |= self.arrived(arrival),
                Err(error) => self.breaks(&error),
            }
        }
        any
    }

    /// The wire has failed: the other ranks are out of reach.
    fn breaks(&mut self, error: &WireError) {
        let why: Arc<str> = format!("the wire between ranks has failed: {error}").into();
        for rank in self.others() {
            self.lose(rank, &why);
        }
        self.broken = Some(why);
    }

    /// Whether it was more than a beat.
    fn arrived(&mut self, arrival: Arrival) -> bool {
        match arrival {
            Arrival::Note { from, note } => {
                if let Some(heard) = self.heard.get_mut(from as usize) {
                    *heard = Instant::now();
                }
                let Some(note) = Note::decode(&note) else { return false };
                let is_beat = matches!(note, Note::Beat { .. } | Note::Keys { .. });
                self.note(from, note);
                return !is_beat;
            }
            Arrival::Sent { to, number } => {
                self.sending.remove(&(to, number));
            }
            Arrival::Received { from, number } => {
                self.abandoned.remove(&(from, number));
                if let Some(lane) = self.receiving.remove(&(from, number)) {
                    self.received(lane, from, number);
                }
            }
            Arrival::Together => {}
        }
        true
    }

    fn note(&mut self, from: Rank, note: Note) {
        let shared = self.shared.clone();
        let mut state = shared.lock();
        match note {
            Note::Hello { backend, count, index, memory } => {
                let all = state.hellos.entry((backend, from)).or_default();
                all.resize(count as usize, None);
                if let Some(place) = all.get_mut(index as usize) {
                    *place = Some(memory);
                }
                shared.tell();
            }
            Note::Pilot { key, number, bytes } => {
                self.pilots.insert((from, key), (number, bytes));
            }
            Note::Verdict { key, failure } => {
                self.verdicts.insert(key, failure);
            }
            Note::Beat { waits } => self.waiting[from as usize] = waits,
            Note::Keys { device, keys } => {
                if let Some(commands) = state.commands.get_mut(&device) {
                    commands.told(&keys);
                } else {
                    self.early.entry(device).or_default().extend(keys);
                }
            }
            Note::Bye => {
                self.left.insert(from);
            }
            Note::Apart(why) => {
                state.apart.get_or_insert_with(|| format!("rank {from}: {why}").into());
            }
        }
    }

    /// A message has arrived: from its memory it goes to where it belongs.
    fn received(&mut self, lane: LaneName, from: Rank, number: u64) {
        let Some(mut active) = self.active.remove(&lane) else { return };
        let is_it = |part: &Part| match part {
            Part::Message { from: f, number: n, .. } => (*f, *n) == (from, number),
            _ => false,
        };
        // The memory of a lane that has been told to be lost may be gone.
        if self.apart().is_some() {
            self.active.insert(lane, active);
            return;
        }
        if let Some(at) = active.rest.iter().position(is_it)
            && let Part::Message { device, rects, mut memory, .. } = active.rest.swap_remove(at)
        {
            let rects = unpacking(&rects, &mut memory.0);
            match device {
                Some(device) => {
                    let then = Then::Free { _memory: memory };
                    self.copy(lane, &mut active, (device, LaneKind::Upload), &rects, then);
                }
                None => {
                    for rect in &rects {
                        // SAFETY: the operation has begun and not ended, so its memory is live and
                        // its own; the message's is this thread's.
                        unsafe { copy_on_host(rect) };
                    }
                }
            }
        }
        self.active.insert(lane, active);
    }

    /// Copies on a lane of a device here.
    fn copy(
        &mut self,
        of: LaneName,
        active: &mut Active,
        (device, kind): (u32, LaneKind),
        rects: &[CopyRect],
        then: Then,
    ) {
        let by = (of.backend(), device, kind);
        let copying = match self.copying_lane(by) {
            Ok(copying) => copying,
            Err(error) => {
                active.failure.get_or_insert(error);
                return;
            }
        };
        copying.tick += 1;
        let head = Head {
            tick: copying.tick,
            order: Order::AfterPrevious,
            waits: &[],
            label: "",
            timed: false,
        };
        let given = copying.lane.enqueue(&head, Op::Copy(rects));
        copying.lane.flush();
        copying.lane.drive();
        let tick = copying.tick;
        if let Err(error) = given {
            active.failure.get_or_insert(error);
        }
        active.rest.push(Part::Copy { by, tick, then });
    }

    fn copying_lane(
        &mut self,
        by @ (backend, device, kind): (u32, u32, LaneKind),
    ) -> Result<&mut Copying, HalError> {
        if !self.copying.contains_key(&by) {
            let owner = self.shared.lock().backends.get(&backend).and_then(|own| own.upgrade());
            let device = owner.and_then(|own: Arc<Own>| own.here(device));
            let device =
                device.ok_or_else(|| HalError::unsupported("a device that is not open"))?;
            self.copying.insert(by, Copying { lane: device.lane(kind, 0)?, tick: 0 });
        }
        self.copying.get_mut(&by).ok_or_else(|| HalError::unsupported("a device that is not open"))
    }

    /// Begins jobs whose turn it is, and posts what others have to say.
    fn begin(&mut self) -> bool {
        let shared = self.shared.clone();
        let mut state = shared.lock();
        let outbox = std::mem::take(&mut state.outbox);
        let names: Vec<LaneName> = state.lanes.keys().copied().collect();
        let (mut begun, mut given) = (Vec::new(), Vec::new());
        for name in names {
            let mut is_free = !self.active.contains_key(&name);
            while let Some(job) = next(&mut state, name, is_free) {
                let Some(lane) = state.lanes.get(&name) else { break };
                match (&lane.own, job.work) {
                    (Some(own), Work::Own(op)) => {
                        given.push((name, own.clone(), job.tick, job.order, job.label, op));
                    }
                    (_, work) => {
                        is_free = false;
                        begun.push(((lane.rank, name, job.tick, job.key), work));
                    }
                }
            }
        }
        drop(state);
        let any = !(begun.is_empty() && given.is_empty() && outbox.is_empty());
        for (to, note) in outbox {
            match to {
                Some(rank) => self.post(rank, &note),
                None => self.tell_all(&note),
            }
        }
        for (name, own, tick, order, label, op) in given {
            let head = Head { tick, order, waits: &[], label: &label, timed: false };
            self.give(name, &own, &head, op);
        }
        for ((rank, lane, tick, key), work) in begun {
            let active = Active { lane, tick, key, rank, rest: Vec::new(), failure: None };
            match work {
                Work::Copies(copies) => self.begin_job(active, copies),
                Work::Own(_) | Work::Verdict => {
                    let rest = vec![Part::Verdict];
                    self.begin_job(Active { rest, ..active }, Copies::default());
                }
            }
        }
        any
    }

    /// Gives an operation to a device's own lane, which another thread drives: kernels are the
    /// program's code.
    fn give(&self, name: LaneName, own: &Arc<dyn Lane>, head: &Head<'_>, op: OwnedOp) {
        let failure = op.give(&**own, head).err();
        let left = op.left();
        let mut state = self.shared.lock();
        if let Some(lane) = state.lanes.get_mut(&name) {
            if let Some(error) = failure {
                if let Some((_, words)) = lane.awaited.get_mut(&head.tick) {
                    *words = Some(error.to_string());
                }
                lane.failures.push((head.tick, error));
            }
            lane.unused.extend(left.map(|kernel| (head.tick, Some(kernel))));
            lane.given = head.tick;
        }
        drop(state);
        self.shared.tell();
        let mut driven = self.shared.driven();
        driven.lanes.push((own.clone(), head.tick));
        driven.unused.push(name);
        drop(driven);
        self.shared.drive.notify_all();
    }

    fn begin_job(&mut self, mut active: Active, copies: Copies) {
        let lane = active.lane;
        // The memory of a lane that has been told to be lost may be gone.
        let is_elsewhere = active.rank != self.shared.me;
        if let Some(why) = self.apart().filter(|_| is_elsewhere) {
            let failure = Some(HalError::new(HalErrorKind::Driver, why));
            return self.end(Active { failure, rest: Vec::new(), ..active });
        }
        active.rest.push(Part::Drop);
        for rect in copies.local {
            let place = |memory: &MemRef| match memory.base {
                MemBase::Host(_) => None,
                MemBase::Device { device, .. } => Some(device),
            };
            let by = match (place(&rect.src), place(&rect.dst)) {
                (None, None) => {
                    // SAFETY: the operation has begun and not ended, so its memory is live and its
                    // own.
                    unsafe { copy_on_host(&rect) };
                    continue;
                }
                (Some(device), None) => (device, LaneKind::Download),
                (None, Some(device)) => (device, LaneKind::Upload),
                (Some(_), Some(device)) => (device, LaneKind::Peer),
            };
            self.copy(lane, &mut active, by, &[rect], Then::Nothing);
        }
        let sent = if self.shared.ranks > 1 { copies.sent } else { Vec::new() };
        for sent in sent {
            let mut memory = Memory::new(bytes_of(&sent.rects));
            let rects = packing(&sent.rects, &mut memory.0);
            let then = Then::Send { to: sent.to, memory };
            self.copy(lane, &mut active, (sent.device, LaneKind::Download), &rects, then);
        }
        active.rest.extend(copies.received.into_iter().map(|received| Part::Pilot {
            from: received.from,
            device: received.device,
            rects: received.rects,
        }));
        self.active.insert(lane, active);
    }

    /// Goes on with all jobs; ends those of which nothing is left.
    fn go_on(&mut self) -> bool {
        let mut any = false;
        let lanes: Vec<LaneName> = self.active.keys().copied().collect();
        for lane in lanes {
            let Some(mut active) = self.active.remove(&lane) else { continue };
            let mut rest = std::mem::take(&mut active.rest);
            let before = rest.len();
            for part in rest.drain(..) {
                if let Some(part) = self.part(&mut active, part) {
                    active.rest.push(part);
                }
            }
            any |= active.rest.len() != before;
            if active.rest.is_empty() {
                self.end(active);
            } else {
                self.active.insert(lane, active);
            }
        }
        any
    }

    /// Goes on with a part; none is left if it has ended.
    fn part(&mut self, active: &mut Active, part: Part) -> Option<Part> {
        let (lane, tick) = (active.lane, active.tick);
        match part {
            Part::Copy { by, tick, then } => {
                let copying = self.copying.get(&by)?;
                copying.lane.drive();
                match copying.lane.completed() {
                    Ok(ended) if ended < tick => return Some(Part::Copy { by, tick, then }),
                    Ok(_) => {}
                    Err(lost) => {
                        active.failure.get_or_insert(lost.into());
                    }
                }
                copying.lane.failures(&mut |_, error| {
                    active.failure.get_or_insert(error);
                });
                if let Then::Send { to, memory } = then {
                    self.send(active.key, to, memory, active.failure.is_some());
                }
                None
            }
            Part::Pilot { from, device, rects } => {
                let Some((number, bytes)) = self.pilots.remove(&(from, active.key)) else {
                    if let Some(why) = self.out_of_reach(from) {
                        active.failure.get_or_insert(HalError::new(HalErrorKind::Driver, why));
                        return None;
                    }
                    return Some(Part::Pilot { from, device, rects });
                };
                let expected = bytes_of(&rects);
                if bytes != expected as u64 {
                    let why = format!("rank {from} could not send {expected} bytes");
                    active.failure.get_or_insert(HalError::new(HalErrorKind::Driver, why));
                    return None;
                }
                let mut memory = Memory::new(expected);
                let into = memory.0.as_mut_ptr();
                // SAFETY: the memory stays with the part, or with what is abandoned, until the
                // piece's end is told.
                if let Err(error) = unsafe { self.wire.receive(from, number, into, expected) } {
                    active.failure.get_or_insert(failed(&error));
                    return None;
                }
                self.receiving.insert((from, number), lane);
                Some(Part::Message { from, number, device, rects, memory })
            }
            Part::Message { from, number, device, rects, memory } => {
                let Some(why) = self.out_of_reach(from) else {
                    return Some(Part::Message { from, number, device, rects, memory });
                };
                self.receiving.remove(&(from, number));
                self.abandoned.insert((from, number), memory);
                active.failure.get_or_insert(HalError::new(HalErrorKind::Driver, why));
                None
            }
            Part::Verdict => match self.verdicts.remove(&active.key) {
                Some(None) => None,
                Some(Some(words)) => {
                    let words = format!("on rank {}: {words}", active.rank);
                    active.failure.get_or_insert(HalError::new(HalErrorKind::Driver, words));
                    None
                }
                None if self.out_of_reach(active.rank).is_some() => None,
                None => Some(Part::Verdict),
            },
            Part::Drop => {
                let state = self.shared.lock();
                let lane = state.lanes.get(&lane);
                let is_there = |lane: &super::state::LaneState| {
                    lane.unused.iter().any(|(unused, _)| *unused <= tick)
                };
                lane.is_some_and(is_there).then_some(Part::Drop)
            }
        }
    }

    /// Nothing happens here but that this rank waits for others.
    fn waits(&self) -> bool {
        let waits = |part: &Part| matches!(part, Part::Pilot { .. } | Part::Verdict);
        let is_waiting = self.active.values().any(|active| active.rest.iter().any(waits));
        is_waiting && self.moved.elapsed() > 3 * BEAT
    }

    fn apart(&self) -> Option<Arc<str>> {
        self.shared.lock().apart.clone()
    }

    /// Why nothing comes from a rank any more.
    fn out_of_reach(&self, rank: Rank) -> Option<Arc<str>> {
        let has_left = self.left.contains(&rank);
        self.apart().or_else(|| has_left.then(|| format!("rank {rank} has left the world").into()))
    }

    fn end(&mut self, active: Active) {
        let Active { lane, tick, failure, .. } = active;
        let mut state = self.shared.lock();
        let Some(lane) = state.lanes.get_mut(&lane) else { return };
        lane.failures.extend(failure.map(|error| (tick, error)));
        lane.ended = tick;
        let notify = lane.notify.clone();
        drop(state);
        self.shared.tell();
        notify.progress();
    }

    /// Sends memory to a rank, or to all others; after a failure, that there is none.
    fn send(&mut self, key: Key, to: Option<Rank>, memory: Memory, has_failed: bool) {
        let memory = Arc::new(memory);
        let receivers: Vec<Rank> = match to {
            Some(rank) => vec![rank],
            None => self.others().collect(),
        };
        for rank in receivers {
            if self.out_of_reach(rank).is_some() {
                continue;
            }
            let number = self.numbers[rank as usize];
            self.numbers[rank as usize] += 1;
            let bytes = if has_failed { u64::MAX } else { memory.0.len() as u64 };
            self.post(rank, &Note::Pilot { key, number, bytes });
            if has_failed {
                continue;
            }
            let (from, length) = (memory.0.as_ptr(), memory.0.len());
            // SAFETY: the memory stays among what is being sent until the piece's end is told.
            match unsafe { self.wire.send(rank, number, from, length) } {
                Ok(()) => {
                    self.sending.insert((rank, number), memory.clone());
                    let sent = &mut self.shared.lock().sent[rank as usize];
                    *sent = (sent.0 + 1, sent.1 + length as u64);
                }
                Err(error) => self.breaks(&error),
            }
        }
    }

    fn post(&mut self, to: Rank, note: &Note) {
        if self.broken.is_some() {
            return;
        }
        if let Err(error) = self.wire.post(to, &note.encode()) {
            self.breaks(&error);
        }
    }

    /// Ranks that have left listen until this one has.
    fn tell_all(&mut self, note: &Note) {
        for rank in self.others() {
            self.post(rank, note);
        }
    }

    /// Tells the others how launches have ended that they wait for.
    fn judge(&mut self) {
        let mut verdicts = Vec::new();
        let mut state = self.shared.lock();
        for lane in state.lanes.values_mut() {
            if lane.awaited.is_empty() {
                continue;
            }
            let Some(own) = &lane.own else { continue };
            let ended = own.completed().unwrap_or(Tick::MAX);
            lane.take_failures();
            while let Some(first) = lane.awaited.first_entry().filter(|e| *e.key() <= ended) {
                let (key, failure) = first.remove();
                verdicts.push(Note::Verdict { key, failure });
            }
        }
        drop(state);
        verdicts.iter().for_each(|note| self.tell_all(note));
    }

    /// Says that this rank lives and how far it is; ranks that say nothing are lost.
    fn beat(&mut self) {
        if self.beaten.elapsed() < BEAT {
            return;
        }
        self.beaten = Instant::now();
        let waits = self.waits();
        let mut notes = vec![Note::Beat { waits }];
        let mut state = self.shared.lock();
        let mut apart = None;
        for (device, commands) in &mut state.commands {
            if let Some(keys) = self.early.remove(device) {
                commands.told(&keys);
            }
            for keys in commands.untold().chunks(KEYS) {
                notes.push(Note::Keys { device: *device, keys: keys.to_vec() });
            }
            let rank = commands.rank();
            if let Some(name) = commands.differs(waits && self.waiting[rank as usize]) {
                apart = Some(format!(
                    "rank {rank} does not do the same: of device {} it does not have {name}",
                    device.1
                ));
            }
        }
        if let Some(why) = apart {
            state.tear(&why);
        }
        drop(state);
        if self.shared.ranks > 1 {
            notes.iter().for_each(|note| self.tell_all(note));
        }
        let late: Vec<Rank> = self
            .others()
            .filter(|rank| !self.left.contains(rank))
            .filter(|rank| self.heard[*rank as usize].elapsed() > self.patience)
            .collect();
        for rank in late {
            let secs = self.patience.as_secs_f64();
            let why: Arc<str> = format!("rank {rank} has said nothing for {secs} s").into();
            self.lose(rank, &why);
        }
    }

    /// A rank is lost, and with it the world: without it no other can do the same.
    fn lose(&mut self, rank: Rank, why: &str) {
        self.shared.lock().tear(why);
        // Nothing that is sent to it arrives; the wire has the memory until the process ends.
        let gone = self.sending.extract_if(|(to, _), _| *to == rank);
        gone.for_each(|(_, memory)| std::mem::forget(memory));
    }

    /// Once the ranks are apart, devices elsewhere are lost: when no job of theirs copies any more,
    /// since the engine then takes their memory to be unused.
    fn tear(&mut self) {
        let copies = |part: &Part| matches!(part, Part::Copy { .. });
        let is_copying =
            |active: &Active| active.rank != self.shared.me && active.rest.iter().any(copies);
        let mut state = self.shared.lock();
        if state.is_torn || state.apart.is_none() || self.active.values().any(is_copying) {
            return;
        }
        state.is_torn = true;
        let notifies: Vec<Notify> = state.lanes.values().map(|lane| lane.notify.clone()).collect();
        drop(state);
        self.shared.tell();
        notifies.iter().for_each(Notify::progress);
    }

    /// Leaves when nothing of this rank is under way; the end comes when all have left.
    fn leave(&mut self) -> bool {
        let state = self.shared.lock();
        let is_done = state.is_leaving && state.lanes.is_empty() && state.outbox.is_empty();
        drop(state);
        if !is_done || self.is_at_work() {
            return false;
        }
        if !self.has_left {
            self.tell_all(&Note::Bye);
            self.has_left = true;
        }
        self.others().all(|rank| self.out_of_reach(rank).is_some())
    }
}

fn failed(error: &WireError) -> HalError {
    HalError::new(HalErrorKind::Driver, error.to_string())
}

/// The next job of a lane, if all that it waits for has ended. A lane that the conductor serves
/// must be free; the device's own lane has an order of its own.
fn next(state: &mut MutexGuard<'_, State>, name: LaneName, is_free: bool) -> Option<Job> {
    let job = state.lanes.get(&name)?.waiting.front()?;
    let has_own = matches!(job.work, Work::Own(_));
    let is_ready = job.waits.iter().all(|(lane, tick)| state.ended(*lane) >= *tick);
    ((has_own || is_free) && is_ready)
        .then(|| state.lanes.get_mut(&name)?.waiting.pop_front())
        .flatten()
}
