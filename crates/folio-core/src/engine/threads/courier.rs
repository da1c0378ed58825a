//! Threads that hand operations over where that is a call of microseconds into a driver
//! ([`Caps::courier`](crate::hal::Caps::courier)). While a device has enough to do, a submitter
//! leaves its operations in the mailboxes and goes on; the device's courier empties them. The
//! engine's work and the driver's are done side by side, each from warm caches. A device that is
//! waited for often is given its operations by the submitters themselves, without the way from
//! thread to thread.
//!
//! An awake courier takes a processor. At most as many devices have one as half of the processors
//! ([`engage`]). Submitters to the others hand over themselves.
//!
//! A courier is *awake*, and then looks for operations again and again, or asleep. A courier that a
//! submitter saw awake sees, before it sleeps, what was put into a mailbox until then: each of the
//! two writes, passes a fence, and then reads what the other one writes.

use crate::engine::Engine;
use crate::engine::kernels::interop;
use crate::engine::lanes::{FAR, LaneShared, Lanes};
use crate::engine::terms::lane::LANES_PER_DEVICE;
use crate::hal::Tick;
use crate::order::stamp::LaneId;
use crate::panics::contain;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use crate::sync::{Condvar, Mutex};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Operations in a mailbox with which submitters slow down: those on their way should stay in the
/// caches.
const BACKLOG: u64 = 64;
/// While throttled, a submitter re-reads the backlog about once per this many operations handed
/// over: each read takes the cache line from the courier, which writes it for each operation.
const PAUSES: u64 = 4;
/// With so many there, submitters wait until they are fewer; and hand over themselves if the
/// courier is held up.
const TOO_MANY: u64 = 1024;
/// Operations that a courier hands over of a lane, at most, before it offers the backend its thread
/// and turns to the next lane: also what comes in the meantime.
const TURN: u64 = 256;
/// How often a waiter finds another thread at its lane, before it takes its turn or sleeps.
const OTHERS: u32 = if cfg!(loom) { 1 } else { 100 };
/// How often it sees that a courier has handed over nothing more, which may give a driver many
/// operations at once, before that counts as held up.
const COURIERS: u32 = if cfg!(loom) { 1 } else { 1000 };
/// How often a courier looks for operations before it sleeps: some 50 microseconds.
const LOOKS: u32 = if cfg!(loom) { 1 } else { 1000 };

/// The courier of a device.
#[repr(align(128))]
pub(crate) struct Courier {
    /// Written by it alone.
    awake: AtomicBool,
    /// A thread waits for the device: it should sleep as soon as nothing is left to hand over.
    rest: AtomicBool,
    state: Mutex<CourierState>,
    wake: Condvar,
}

#[derive(Default)]
struct CourierState {
    /// The thread is there.
    running: bool,
    called: bool,
}

impl Courier {
    fn new() -> Courier {
        Courier {
            awake: AtomicBool::new(false),
            rest: AtomicBool::new(false),
            state: Mutex::default(),
            wake: Condvar::new(),
        }
    }

    /// Makes the thread look.
    pub(crate) fn call(&self) {
        self.state.lock().called = true;
        self.wake.notify_all();
    }

    /// Until it is called.
    fn sleep(&self) {
        let mut state = self.state.lock();
        while !std::mem::replace(&mut state.called, false) {
            state = self.wake.wait_until(state, None);
        }
    }
}

/// How many couriers there may be.
fn most_couriers(processors: usize) -> usize {
    (processors / 2).max(1)
}

/// A device's side of its courier.
#[repr(align(128))]
pub(crate) struct CourierSide {
    pub(crate) courier: Courier,
    /// How often submitters have handed over themselves since a thread waited or the courier was
    /// called.
    ahead: AtomicU64,
    /// As often as it takes to call it.
    most: u64,
}

impl CourierSide {
    #[inline]
    fn is_awake(&self) -> bool {
        self.courier.awake.load(Ordering::Relaxed)
    }

    /// True if the operations that are in the lane's mailbox may be left to the courier, which has
    /// handed over so many for the device.
    #[inline]
    fn takes(&self, lane: &LaneShared, enqueued: impl Fn() -> Tick) -> bool {
        // After the push, which this thread has done, or the one whose lock it has had.
        fence(Ordering::SeqCst);
        if !self.is_awake() {
            return false;
        }
        // Looking takes a cache line from the courier, so it is done seldom.
        if !lane.is_due(BACKLOG / 4) || lane.backlog() < BACKLOG {
            return true;
        }
        // The courier may be calling this task.
        if interop::inside() {
            return lane.backlog() < TOO_MANY;
        }
        for _ in 0..(BACKLOG / 4).div_ceil(PAUSES) {
            (0..PAUSES).for_each(|_| pause());
            if lane.backlog() <= BACKLOG / 2 {
                break;
            }
        }
        // A lane that is held back for want of room is not the courier's.
        let is_served = || self.is_awake() && !lane.stalled.load(Ordering::Acquire);
        let enqueued = || is_served().then(&enqueued);
        become_fewer(lane, TOO_MANY, enqueued)
    }

    /// A courier whose thread is started by the model itself.
    #[cfg(all(test, loom))]
    pub(crate) fn running() -> CourierSide {
        let state = Mutex::new(CourierState { running: true, called: false });
        let courier = Courier { state, ..Courier::new() };
        CourierSide { courier, ahead: AtomicU64::new(0), most: 1 }
    }
}

/// Gives the first devices that ask for them their couriers. A device asks by
/// [`Caps::courier`](crate::hal::Caps::courier).
pub(crate) fn engage<'d>(asking: impl Iterator<Item = (u32, &'d mut Option<CourierSide>)>) {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    for (most, courier) in asking.take(most_couriers(processors)) {
        let (ahead, most) = (AtomicU64::new(0), u64::from(most));
        *courier = Some(CourierSide { courier: Courier::new(), ahead, most });
    }
}

/// Waits until there are fewer operations in the lane's mailbox than so many; false if no thread
/// hands any over, or none is to (none; else how many have been handed over).
pub(in crate::engine) fn become_fewer(
    lane: &LaneShared,
    many: u64,
    mut enqueued: impl FnMut() -> Option<Tick>,
) -> bool {
    let mut patience = Patience::default();
    while lane.backlog() >= many {
        if enqueued().is_none_or(|enqueued| patience.is_over(enqueued, COURIERS)) {
            return false;
        }
        pause();
    }
    true
}

/// The patience of a thread that waits until another one has handed something over.
#[derive(Default)]
pub(in crate::engine) struct Patience {
    /// How often it has seen that the other one does not get on.
    looks: u32,
    enqueued: Tick,
}

impl Patience {
    /// So many operations have been handed over; true once that has been so for so many looks.
    pub(in crate::engine) fn is_over(&mut self, enqueued: Tick, looks: u32) -> bool {
        if self.enqueued != enqueued {
            *self = Patience { looks: 0, enqueued };
        }
        self.looks += 1;
        self.looks > looks
    }
}

/// Some microseconds, as long as a driver's call.
fn pause() {
    #[cfg(not(loom))]
    (0..64).for_each(|_| std::hint::spin_loop());
    #[cfg(loom)]
    crate::sync::yield_now();
}

fn look_again() {
    #[cfg(not(loom))]
    std::hint::spin_loop();
    #[cfg(loom)]
    crate::sync::yield_now();
}

fn lanes_of(device: usize) -> impl Iterator<Item = LaneId> {
    let first = device as u16 * LANES_PER_DEVICE;
    (first..first + LANES_PER_DEVICE).map(LaneId)
}

impl Engine {
    /// Sees to it that a lane's operations are handed over, by this thread or by the device's
    /// courier.
    #[inline]
    pub(crate) fn hand_over(&self, lane: LaneId) {
        let at = usize::from(lane.0 / LANES_PER_DEVICE);
        match &self.devices[at].courier {
            None => self.drain(lane),
            Some(engaged) => self.hand_over_by(engaged, at, lane),
        }
    }

    fn hand_over_by(&self, engaged: &CourierSide, at: usize, lane: LaneId) {
        let Some(shared) = self.table.shared(lane) else { return };
        if engaged.takes(shared, || self.enqueued(at)) {
            return;
        }
        self.drain(lane);
        if shared.stalled.load(Ordering::Relaxed) {
            return;
        }
        // Others may count at the same time; it need not be exact.
        let ahead = engaged.ahead.load(Ordering::Relaxed) + 1;
        engaged.ahead.store(ahead, Ordering::Relaxed);
        if ahead >= engaged.most {
            engaged.ahead.store(0, Ordering::Relaxed);
            self.wake_courier(&engaged.courier, at);
        }
    }

    /// Sees to it that an awaited operation is handed over: up to `tick`, or `until` then.
    pub(super) fn hand_over_before_waiting(
        &self,
        lane: LaneId,
        tick: Tick,
        until: Option<Instant>,
    ) {
        let Some(shared) = self.table.shared(lane) else { return };
        let at = usize::from(lane.0 / LANES_PER_DEVICE);
        let device = &self.devices[at];
        if let Some(engaged) = &device.courier {
            engaged.ahead.store(0, Ordering::Relaxed);
            if engaged.is_awake() {
                engaged.courier.rest.store(true, Ordering::Relaxed);
            }
        }
        // The thread that is at it makes progress with each driver's call, or is in foreign code
        // for long. A courier that is at another lane of the device does, too.
        let courier = device.courier.as_ref().filter(|_| device.info.caps.one_at_a_time);
        let is_carried = || courier.is_some_and(CourierSide::is_awake) && shared.is_waiting();
        let mut patience = Patience::default();
        let mut told = false;
        loop {
            let enqueued = shared.enqueued();
            if enqueued >= tick {
                return;
            }
            // The courier marks its end: to do so beside it would hold it up.
            if courier.is_some() && !told && tick - enqueued <= FAR {
                shared.expect_wait_for(tick);
                told = true;
            }
            let carried = is_carried();
            if !carried && self.try_drain(lane) {
                return;
            }
            if until.is_some_and(|until| until <= Instant::now()) {
                return;
            }
            let over = match carried {
                true => patience.is_over(self.enqueued(at), COURIERS),
                // Another thread that is at it does not keep this one waiting.
                false => patience.is_over(patience.enqueued, OTHERS),
            };
            if over {
                break;
            }
            pause();
        }
        let Some(until) = until else { return self.drain(lane) };
        while shared.enqueued() < tick && !self.try_drain(lane) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(Duration::from_micros(100)));
        }
    }

    /// How many operations the native lanes of a device have been given, all together.
    fn enqueued(&self, device: usize) -> Tick {
        lanes_of(device)
            .filter_map(|lane| Some(self.table.shared(lane)?.enqueued()))
            .fold(0, Tick::wrapping_add)
    }

    fn wake_courier(&self, courier: &Courier, at: usize) {
        let mut state = courier.state.lock();
        if self.closing.load(Ordering::SeqCst) {
            return;
        }
        state.called = true;
        let start = !std::mem::replace(&mut state.running, true);
        drop(state);
        courier.wake.notify_all();
        let Some(me) = self.me.upgrade().filter(|_| start) else { return };
        let thread = std::thread::Builder::new().name("folio courier".to_owned());
        if thread.spawn(move || me.carry(at)).is_err() {
            // Submitters go on by themselves; the next call tries again.
            courier.state.lock().running = false;
        }
    }

    /// What the courier of a device does until the engine closes.
    pub(crate) fn carry(self: Arc<Self>, at: usize) {
        let Some(CourierSide { courier, .. }) = &self.devices[at].courier else { return };
        let lanes = || lanes_of(at);
        let waits = |lane: LaneId| self.table.shared(lane).is_some_and(LaneShared::is_waiting);
        loop {
            courier.sleep();
            loop {
                courier.awake.store(true, Ordering::Relaxed);
                let mut looks = 0;
                while looks < LOOKS {
                    looks += 1;
                    for lane in lanes().filter(|lane| waits(*lane)) {
                        // Whatever a driver does, submitters rely on this thread. Lanes take turns.
                        contain(|| _ = self.try_drain_until(lane, |lane| lane.enqueued() + TURN));
                        looks = 0;
                    }
                    if looks > 0 && courier.rest.swap(false, Ordering::Relaxed) {
                        break;
                    }
                    look_again();
                }
                courier.awake.store(false, Ordering::Relaxed);
                fence(Ordering::SeqCst);
                if !lanes().any(waits) {
                    break;
                }
            }
            let mut state = courier.state.lock();
            if self.closing.load(Ordering::SeqCst) {
                state.running = false;
                return;
            }
        }
    }
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::*;
    use crate::engine::lanes::tests::filled;
    use crate::engine::null::{AWAITED, FLUSHES, Null, PANICS};
    use crate::error::Cause;
    use crate::{Buffer, Error, Event, Queue, Result, Runtime};
    use std::cell::Cell;

    fn submit(q: &Queue, x: &mut Buffer<u32>, label: &str) -> Result<Event> {
        q.submit(|cg| {
            cg.label(label);
            let x = cg.read_write(x);
            cg.host_kernel([1], x, |_, _| {});
            Ok(())
        })
    }

    /// A waiter has other lanes flushed where lanes hold operations back.
    #[test]
    fn waits_flush_what_holds_back() {
        for batches in [false, true] {
            let backend = Null { batches, held: Some(Arc::default()), ..Null::new(1) };
            let rt = Runtime::builder().backend(backend.clone()).build().unwrap();
            let q = rt.queue_on("null:0").unwrap();
            let [mut x, mut y] = [0, 1].map(|_| rt.buffer::<u32, 1>(4).unwrap());
            let [first, _] = [&mut x, &mut y].map(|x| submit(&q, x, "").unwrap());
            // By this thread.
            let before = FLUSHES.get();
            assert!(!first.wait_timeout(Duration::from_millis(1)).unwrap());
            assert_eq!(FLUSHES.get() > before, batches);
            backend.lanes().iter().for_each(|lane| lane.ended.store(1, Ordering::Release));
            q.wait().unwrap();
        }
    }

    /// A courier takes what is submitted, unless it is asleep, or the lane is full and the courier
    /// does not get on. A task that it may be calling does not wait for it.
    #[test]
    fn couriers_take_what_they_can() {
        let (courier, ahead, most) = (Courier::new(), AtomicU64::new(0), 1);
        let engaged = CourierSide { courier, ahead, most };
        let takes = |engaged: &CourierSide, ticks, stalled| {
            let lane = filled(Arc::default(), ticks);
            lane.stalled.store(stalled, Ordering::Relaxed);
            let asked = Cell::new(0);
            let takes = engaged.takes(&lane, || {
                asked.set(asked.get() + 1);
                7
            });
            (takes, asked.get())
        };
        assert_eq!(takes(&engaged, 1, false), (false, 0));
        engaged.courier.awake.store(true, Ordering::Relaxed);
        assert_eq!(takes(&engaged, TOO_MANY - 1, false), (true, 0));
        assert_eq!(takes(&engaged, TOO_MANY, true), (false, 0));
        let (taken, asked) = takes(&engaged, TOO_MANY, false);
        assert!(!taken && asked > COURIERS);
        let task = |ticks| interop::within(|| takes(&engaged, ticks, false));
        assert_eq!([TOO_MANY - 1, TOO_MANY].map(task), [(true, 0), (false, 0)]);
    }

    /// Where waits leave a driver to the courier, it hears of what is waited for, unless that is
    /// far off; where they do not, the waiter sees to it.
    #[test]
    fn couriers_hear_what_is_waited_for() {
        for (one_at_a_time, submitted, heard) in
            [(true, 200, &[200][..]), (true, FAR, &[FAR]), (true, FAR + 1, &[]), (false, 200, &[])]
        {
            let null = Null { courier: Some(1000), one_at_a_time, ..Null::new(1) };
            let rt = Runtime::builder().backend(null).build().unwrap();
            let engaged = rt.core.engine.devices[0].courier.as_ref().unwrap();
            // One that does nothing, and a reaper that does not look.
            engaged.courier.state.lock().running = true;
            rt.core.engine.reapers[0].pretend(true);
            engaged.courier.awake.store(true, Ordering::Relaxed);
            let q = rt.queue_on("null:0").unwrap();
            let mut x = rt.buffer::<u32, 1>(4).unwrap();
            let all: Vec<_> = (0..submitted + 3).map(|_| submit(&q, &mut x, "").unwrap()).collect();
            AWAITED.take();
            all[submitted as usize - 1].wait().unwrap();
            let what = format!("{one_at_a_time}, {submitted}");
            assert_eq!(AWAITED.take(), heard, "{what}");
            // It has been handed over.
            all[submitted as usize - 2].wait().unwrap();
            assert!(AWAITED.take().is_empty(), "{what}");
            rt.core.engine.reapers[0].pretend(false);
            rt.core.engine.wake_reaper(0);
        }
    }

    /// A backend that panics has failed, for the waiter alone, on the thread of a submitter and on
    /// a courier.
    #[test]
    fn panics_of_backends_are_failures() {
        for courier in [None, Some(1)] {
            let rt = Runtime::builder().backend(Null { courier, ..Null::new(1) }).build().unwrap();
            let q = rt.queue_on("null:0").unwrap();
            let mut all: Vec<_> = (0..40).map(|_| rt.buffer::<u32, 1>(4).unwrap()).collect();
            let mut submit = |at: usize, label: &str| submit(&q, &mut all[at], label).unwrap();
            (0..20).for_each(|at| drop(submit(at, "")));
            let failed = submit(20, PANICS);
            let fine = submit(21, "");
            let Err(Error::Failed(failure)) = failed.wait() else { panic!("it did not fail") };
            assert!(matches!(failure.cause, Cause::Panic(_)), "{failure}");
            fine.wait().unwrap();
            submit(22, "").wait().unwrap();
        }
    }

    #[test]
    fn couriers_leave_processors_to_submitters() {
        assert_eq!([16, 4, 2, 1, 0].map(most_couriers), [8, 2, 1, 1, 1]);
    }

    /// However many devices there are: few have couriers, and all get what they are given.
    #[test]
    fn devices_beyond_half_of_the_processors_have_no_courier() {
        const DEVICES: usize = 40;
        let backend = Null { courier: Some(1), ..Null::new(DEVICES as u32) };
        let rt = Runtime::builder().backend(backend).build().unwrap();
        let couriers = || rt.core.engine.devices.iter().filter_map(|d| d.courier.as_ref());
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        assert_eq!(couriers().count(), most_couriers(processors).min(DEVICES));
        for at in 0..DEVICES {
            let q = rt.queue_on(&format!("null:{at}")[..]).unwrap();
            let mut x = rt.buffer::<u32, 1>(4).unwrap();
            (0..100).for_each(|_| drop(submit(&q, &mut x, "").unwrap()));
            q.wait().unwrap();
        }
        assert!(couriers().all(|engaged| engaged.courier.state.lock().running));
    }
}
