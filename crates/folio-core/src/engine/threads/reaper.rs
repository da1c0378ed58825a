//! A thread per backend that looks after what no thread waits for: deferred work whose lane has
//! come far enough, futures, leases. Started with the first operation, asleep while there is
//! nothing to do.

use crate::engine::Engine;
use crate::engine::lanes::Lanes;
use crate::engine::terms::lane::LANES_PER_DEVICE;
use crate::order::stamp::LaneId;
use crate::sync::atomic::Ordering;
use crate::sync::{Condvar, Mutex};
use smallvec::SmallVec;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often finished operations are looked for when no thread waits for them.
const HOUSEKEEPING: Duration = Duration::from_millis(20);
/// The range of pauses between two looks at a backend that cannot notify.
const POLL: (Duration, Duration) = (Duration::from_micros(20), Duration::from_micros(500));
/// The same of one that holds operations back, while no thread waits for any: the longest, once
/// nothing new has come.
const BATCH: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(1));
/// A lane that holds operations back and has been given one so often since the last look gets on by
/// itself: to flush it would take its lock and the driver's from the thread that hands them over.
/// Unless one of them is awaited.
const FLOWS: Duration = Duration::from_micros(25);

/// The mailbox of a reaper thread.
#[derive(Default)]
pub(crate) struct Reaper {
    state: Mutex<ReaperState>,
    wake: Condvar,
}

#[derive(Default)]
struct ReaperState {
    running: bool,
    called: bool,
}

impl Reaper {
    /// A reaper whose thread is started by the model itself.
    #[cfg(all(test, loom))]
    pub(crate) fn running() -> Reaper {
        let state = ReaperState { running: true, called: false };
        Reaper { state: Mutex::new(state), wake: Condvar::new() }
    }

    /// As if the thread were there: none looks.
    #[cfg(all(test, not(loom)))]
    pub(super) fn pretend(&self, running: bool) {
        self.state.lock().running = running;
    }

    /// Makes the thread look again.
    pub(crate) fn call(&self) {
        self.state.lock().called = true;
        self.wake.notify_all();
    }

    pub(crate) fn sleep(&self, most: Option<Duration>) {
        // No time passes in a model.
        let until = most.filter(|_| !cfg!(loom)).map(|most| Instant::now() + most);
        let mut state = self.state.lock();
        while !state.called {
            state = self.wake.wait_until(state, until);
            if until.is_some_and(|until| Instant::now() >= until) {
                break;
            }
        }
        state.called = false;
    }
}

/// The work that a reaper finds.
#[derive(Default)]
struct Outlook {
    progress: bool,
    /// Somebody waits for ticks.
    watched: bool,
    /// Operations are not accounted for yet.
    in_flight: bool,
    /// The fewest operations that a lane which holds some back has been given since the last look,
    /// of those that have been given any.
    given: u64,
    /// Nothing is unflushed, nothing new arrived since the last look, no other lane has anything to
    /// do, and no thread waits for an end. The next submission calls the reaper.
    may_sleep: bool,
    /// The thread is not needed any more.
    over: bool,
}

/// How long a reaper sleeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rest {
    /// Until it asks the backend again, for those who wait.
    Poll,
    /// Until it has the backend give what it holds back.
    Batch,
    /// Until it looks after what is left.
    Keep,
    /// Until it is called.
    Sleep,
}

/// Whether that many operations in so long are one after the other.
fn flows(given: u64, pause: Duration) -> bool {
    given >= 2 && FLOWS.saturating_mul(given.try_into().unwrap_or(u32::MAX)) >= pause
}

/// The pause after one of so long, by what a lane has been given since: longer and longer, but for
/// what comes now and then, which is to be flushed soon.
fn next_batch(last: Duration, given: u64) -> Duration {
    match given {
        0 => (last * 2).min(BATCH.1),
        _ if flows(given, last) => (last * 2).min(BATCH.1 / 2),
        _ => BATCH.0,
    }
}

impl Outlook {
    /// After this look. After progress that no thread waits for it stays for one more look: a
    /// submitter that finds it asleep for good would have to call it, again and again. Until then
    /// no thread calls it, unless the reaper may sleep.
    fn rest(&self, notifies: bool, batches: bool, closing: bool) -> Rest {
        let stays = self.in_flight || self.progress;
        match self.watched {
            true if !notifies => Rest::Poll,
            _ if batches && stays && !self.may_sleep => Rest::Batch,
            true => Rest::Keep,
            false if stays || closing => Rest::Keep,
            false => Rest::Sleep,
        }
    }
}

impl Engine {
    /// Calls the reaper of a backend, and starts it if need be.
    pub(crate) fn wake_reaper(&self, backend: usize) {
        let reaper = &self.reapers[backend];
        let mut state = reaper.state.lock();
        state.called = true;
        let start = !std::mem::replace(&mut state.running, true);
        drop(state);
        if !start {
            reaper.wake.notify_all();
            return;
        }
        let Some(me) = self.me.upgrade() else { return };
        let spawned = std::thread::Builder::new()
            .name("folio reaper".to_owned())
            .spawn(move || me.reap(backend));
        if spawned.is_err() {
            // Threads that wait poll for themselves; the next call tries again.
            reaper.state.lock().running = false;
        }
    }

    pub(crate) fn reap(self: Arc<Self>, backend: usize) {
        let reaper = self.reapers[backend].clone();
        let notify = self.notifies[backend].clone();
        let notifies = self.devices.iter().any(|d| d.backend == backend && d.info.caps.notifies);
        let batches = self.devices.iter().any(|d| d.backend == backend && d.info.caps.batches);
        let (mut pause, mut batch) = (POLL.0, BATCH.0);
        let mut armed = false;
        loop {
            let look = self.look(backend, batch);
            if look.over {
                reaper.state.lock().running = false;
                // The others may have waited for what ended here.
                self.look_if_closing();
                return;
            }
            let closing = self.closing.load(Ordering::SeqCst);
            if look.progress {
                pause = POLL.0;
                armed = false;
                if look.watched || closing {
                    continue;
                }
            }
            if look.watched && notifies && !armed {
                // Progress from here on is told; what came before is seen by one more look. A
                // backend that no thread waits for is not armed, so it need not tell.
                notify.arm();
                armed = true;
                continue;
            }
            armed = false;
            match look.rest(notifies, batches, closing) {
                Rest::Poll => {
                    reaper.sleep(Some(pause));
                    pause = (pause * 2).min(POLL.1);
                }
                Rest::Batch => {
                    batch = next_batch(batch, look.given);
                    reaper.sleep(Some(batch));
                }
                Rest::Keep => reaper.sleep(Some(HOUSEKEEPING)),
                Rest::Sleep => reaper.sleep(None),
            }
        }
    }

    /// Looks at all lanes of a backend, after such a pause.
    fn look(&self, backend: usize, pause: Duration) -> Outlook {
        let devices = self.devices.iter().enumerate().filter(|(_, d)| d.backend == backend);
        let lanes = devices.flat_map(|(at, _)| {
            let first = at as u16 * LANES_PER_DEVICE;
            (first..first + LANES_PER_DEVICE).map(LaneId)
        });
        let of_backend = lanes.clone();
        let news = |lane| {
            let shared = self.table.shared(lane)?;
            Some((shared, lane, shared.news()))
        };
        let all: SmallVec<[_; LANES_PER_DEVICE as usize]> =
            lanes.clone().filter_map(news).collect();
        let fed = all.iter().filter(|(_, lane, news)| *news > 0 && self.holds_back(*lane));
        let given = fed.map(|(.., news)| *news).min().unwrap_or(0);
        let flows = |lane, news| flows(news, pause) && self.holds_back(lane);
        // All of them before any that has to be handed something: that may take as long as an
        // interop task.
        let waiting = all.iter().filter(|(_, lane, news)| !flows(*lane, *news));
        waiting.for_each(|(shared, ..)| shared.native.flush());
        let mut stalled = false;
        for &(shared, _, news) in &all {
            if shared.stalled.load(Ordering::Acquire) {
                let _ = shared.drain(&*self.table, shared.mailbox.pushed());
                stalled |= shared.stalled.load(Ordering::Acquire);
                shared.native.flush();
            } else if news == 0 && shared.is_held_up() {
                // The thread that was to hand that over is held up.
                let until = shared.mailbox.pushed();
                stalled |= shared.try_drain(&*self.table, until) == Some(true);
                shared.native.flush();
            }
        }
        let mut awaited: SmallVec<[_; LANES_PER_DEVICE as usize]> = SmallVec::new();
        let mut look = self.enter(|ledger| {
            let mut look = Outlook { watched: stalled, given, ..Outlook::default() };
            for lane in lanes {
                look.progress |= ledger.poll(lane);
                let state = &ledger.timeline.lanes[usize::from(lane.0)];
                if !state.watches.is_empty() || !state.wakers.is_empty() {
                    look.watched = true;
                    awaited.push(lane);
                    awaited.extend(state.held.map(|(holder, _)| holder));
                }
                look.in_flight |= !state.idle();
            }
            let idle = !look.in_flight && !look.watched && !look.progress;
            let no_slots = ledger.timeline.live_slots == 0;
            let closing = self.closing.load(Ordering::SeqCst);
            let (mut holds_back, mut rest) = (false, true);
            for lane in of_backend {
                let state = &ledger.timeline.lanes[usize::from(lane.0)];
                let Some(shared) = self.table.shared(lane) else { continue };
                let holds = self.holds_back(lane);
                holds_back |= holds;
                // Operations that were submitted since then were not flushed above.
                rest &= if holds { shared.looked() == state.issued } else { state.idle() };
            }
            look.may_sleep =
                holds_back && rest && given == 0 && !look.watched && no_slots && !closing;
            ledger.timeline.reaper_idle[backend] = idle || look.may_sleep;
            let quiet = no_slots && ledger.timeline.lanes.iter().all(|l| l.idle());
            look.over = idle && quiet && closing;
            look
        });
        // Who awaits something there, and nothing else, hears of it only so.
        let awaited =
            all.iter().filter(|(_, lane, news)| flows(*lane, *news) && awaited.contains(lane));
        for &(shared, lane, _) in awaited {
            shared.native.flush();
            look.progress |= self.enter(|ledger| ledger.poll(lane));
        }
        look
    }

    /// Something has ended without a lane: if it was the last of all, the reapers may leave.
    pub(super) fn look_if_closing(&self) {
        if self.closing.load(Ordering::SeqCst) {
            self.reapers.iter().for_each(|reaper| reaper.call());
        }
    }

    /// The user's last handle is gone: the reapers finish what is under way and leave.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
        for reaper in &self.reapers {
            reaper.call();
        }
        let engaged = self.devices.iter().filter_map(|device| device.courier.as_ref());
        engaged.for_each(|engaged| engaged.courier.call());
    }
}

#[cfg(test)]
mod tests {
    use super::{BATCH, Outlook, Rest, flows, next_batch};
    use std::iter::successors;
    use std::time::Duration;

    /// One after the other in any pause but the longest.
    const MANY: u64 = 20;

    /// Whatever a backend that batches may be given before the reaper's next look is not held back
    /// for long: that is when no thread would call the reaper, or something is under way.
    #[test]
    fn what_is_held_back_is_given_soon() {
        let looks = |f: fn(&mut Outlook)| {
            let mut look = Outlook::default();
            f(&mut look);
            [false, true].map(|batches| look.rest(true, batches, false))
        };
        assert_eq!(looks(|_| ()), [Rest::Sleep; 2]);
        assert_eq!(looks(|look| look.in_flight = true), [Rest::Keep, Rest::Batch]);
        assert_eq!(looks(|look| look.progress = true), [Rest::Keep, Rest::Batch]);
        let waited = looks(|look| (look.watched, look.in_flight) = (true, true));
        assert_eq!(waited, [Rest::Keep, Rest::Batch]);
        // The next submission calls the reaper.
        let asleep = looks(|look| (look.in_flight, look.may_sleep) = (true, true));
        assert_eq!(asleep, [Rest::Keep; 2]);
        let polled = Outlook { watched: true, in_flight: true, ..Outlook::default() };
        assert_eq!(polled.rest(false, true, false), Rest::Poll);
    }

    /// A stream of operations is looked at less and less; once it has ended, and where one comes
    /// now and then, what is held back is flushed soon.
    #[test]
    fn streams_are_left_alone() {
        let after = |given| successors(Some(BATCH.0), move |last| Some(next_batch(*last, given)));
        let longest = |given| after(given).nth(10);
        assert_eq!([0, 1].map(longest), [Some(BATCH.1), Some(BATCH.0)]);
        assert_eq!([MANY, u64::MAX].map(longest), [Some(BATCH.1 / 2); 2]);
        assert_eq!(next_batch(BATCH.1, 2 * MANY), BATCH.1 / 2);
        assert_eq!([1, MANY].map(|given| next_batch(BATCH.1, given)), [BATCH.0; 2]);
        // The same in each pause, whatever it is: one for each 20 microseconds, and for each 30.
        let pauses = [50, 100, 200, 400, 500].map(|us| (us, Duration::from_micros(us)));
        assert!(pauses.iter().all(|&(us, pause)| flows(us / 20, pause)));
        assert!(!pauses.iter().any(|&(us, pause)| flows(us / 30, pause)));
    }

    /// A reaper leaves operations under way alone once none is held back; the submitter of the next
    /// one then calls it. No submitter has to where something new has come, is awaited, has not
    /// been handed over, or is still to be placed; nor at the end.
    #[cfg(all(not(loom), not(miri)))]
    #[test]
    fn nothing_held_back_is_nothing_to_do() {
        use crate::engine::null::Null;
        use std::pin::pin;
        use std::sync::{Arc, atomic::Ordering};
        use std::task::{Context, Waker};

        for batches in [true, false] {
            let backend = Null { batches, held: Some(Arc::default()), ..Null::new(1) };
            let rt = crate::Runtime::builder().backend(backend.clone()).build().unwrap();
            let q = rt.queue_on("null:0").unwrap();
            let mut x = rt.buffer::<u32, 1>(4).unwrap();
            let mut submit = || {
                q.submit(|g| {
                    let x = g.read_write(&mut x);
                    g.host_kernel([1], x, |_, _| {});
                    Ok(())
                })
                .unwrap()
            };
            let engine = &rt.core.engine;
            // No other thread looks.
            engine.reapers[0].pretend(true);
            let look = || {
                let look = engine.look(0, BATCH.0);
                assert_eq!(engine.enter(|ledger| ledger.timeline.reaper_idle[0]), look.may_sleep);
                (look.in_flight, look.may_sleep)
            };
            let called = || std::mem::take(&mut engine.reapers[0].state.lock().called);
            submit();
            assert!(called());
            assert_eq!(look(), (true, false), "something new has come");
            submit();
            assert_eq!((called(), look()), (false, (true, false)));
            assert_eq!(look(), (true, batches));
            submit();
            assert_eq!((called(), look()), (batches, (true, false)));
            let (go, begun) = std::sync::mpsc::channel::<()>();
            let task = q
                .submit(|g| {
                    g.host_task((), move |()| _ = begun.recv());
                    Ok(())
                })
                .unwrap();
            assert_eq!([look(), look()], [(true, false); 2], "it may call for something");
            go.send(()).unwrap();
            task.wait().unwrap();
            drop(task);
            assert_eq!(look(), (true, batches));
            let last = submit();
            let mut last = pin!(last);
            assert!(last.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            assert_eq!([look(), look()], [(true, false); 2], "somebody awaits it");
            backend.lanes().iter().for_each(|lane| lane.ended.store(4, Ordering::Release));
            assert!(last.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
            // It has been submitted, and another thread holds its lane's lock.
            let lane = engine.table.all().find(|lane| lane.mailbox.pushed() > 0).unwrap();
            std::thread::scope(|s| {
                let lock = lane.hold_up();
                let before = lane.mailbox.pushed();
                let submitted = s.spawn(submit);
                while lane.mailbox.pushed() == before {
                    std::thread::yield_now();
                }
                assert_eq!([look(), look()], [(true, false); 2], "it is not handed over");
                drop(lock);
                submitted.join().unwrap();
            });
            assert_eq!([look(), look()], [(true, false), (true, batches)]);
            engine.closing.store(true, Ordering::SeqCst);
            assert_eq!(look(), (true, false));
            engine.closing.store(false, Ordering::SeqCst);
            engine.reapers[0].pretend(false);
            engine.wake_reaper(0);
            backend.lanes().iter().for_each(|lane| lane.ended.store(1000, Ordering::Release));
        }
    }

    #[cfg(all(not(loom), not(miri)))]
    #[test]
    fn a_host_task_after_a_kernel_that_has_ended_calls_no_reaper() {
        use crate::engine::null::Null;
        use std::sync::{Arc, atomic::Ordering};

        let backend = Null { held: Some(Arc::default()), ..Null::new(1) };
        let rt = crate::Runtime::builder().backend(backend.clone()).build().unwrap();
        let q = rt.queue_on("null:0").unwrap();
        let engine = &rt.core.engine;
        engine.reapers[0].pretend(true);
        let called = || std::mem::take(&mut engine.reapers[0].state.lock().called);
        let kernel = q.submit(|g| {
            g.host_kernel([1], (), |_, _| {});
            Ok(())
        });
        let kernel = kernel.unwrap();
        assert!(called(), "of a kernel under way");
        let task = || {
            let submitted = q.submit(|g| {
                g.after(&kernel).host_task((), |()| ());
                Ok(())
            });
            submitted.unwrap()
        };
        let early = task();
        assert!(called(), "a task waits for it");
        backend.lanes().iter().for_each(|lane| lane.ended.store(1, Ordering::Release));
        let late = task();
        assert!(!called());
        early.wait().unwrap();
        late.wait().unwrap();
        engine.reapers[0].pretend(false);
        engine.wake_reaper(0);
    }

    /// Nor does it where a device that holds nothing back is at work beside one that does: its
    /// submitters need not call.
    #[cfg(all(not(loom), not(miri)))]
    #[test]
    fn devices_at_work_beside_one_that_rests() {
        use crate::engine::null::Null;
        use std::sync::{Arc, atomic::Ordering};

        let backend = Null { batches: true, held: Some(Arc::default()), ..Null::new(2) };
        let rt = crate::Runtime::builder().backend(backend.clone()).build().unwrap();
        let engine = &rt.core.engine;
        engine.reapers[0].pretend(true);
        for (device, times) in [("null:0", 2), ("null:1", 1)] {
            let q = rt.queue_on(device).unwrap();
            let mut x = rt.buffer::<u32, 1>(4).unwrap();
            for _ in 0..times {
                let submitted = q.submit(|g| {
                    let x = g.read_write(&mut x);
                    g.host_kernel([1], x, |_, _| {});
                    Ok(())
                });
                submitted.unwrap();
            }
        }
        let look = || {
            let look = engine.look(0, BATCH.0);
            (look.in_flight, look.may_sleep)
        };
        assert_eq!([look(), look(), look()], [(true, false); 3]);
        // All of the second device, and half of the first one's.
        backend.lanes().iter().for_each(|lane| lane.ended.store(1, Ordering::Release));
        assert_eq!([look(), look()], [(true, true); 2]);
        engine.reapers[0].pretend(false);
        engine.wake_reaper(0);
        backend.lanes().iter().for_each(|lane| lane.ended.store(1000, Ordering::Release));
    }

    /// A lane that is given one operation after the other is not flushed, unless a thread awaits
    /// one of them; and is once nothing more comes.
    #[cfg(all(not(loom), not(miri)))]
    #[test]
    fn streams_are_flushed_for_who_awaits_them() {
        use crate::engine::null::{FLUSHES, Null};
        use std::pin::pin;
        use std::sync::{Arc, atomic::Ordering};
        use std::task::{Context, Waker};

        let backend = Null { batches: true, held: Some(Arc::default()), ..Null::new(1) };
        let rt = crate::Runtime::builder().backend(backend.clone()).build().unwrap();
        let q = rt.queue_on("null:0").unwrap();
        let mut x = rt.buffer::<u32, 1>(4).unwrap();
        let mut stream = |len| {
            let submit = |_| {
                q.submit(|g| {
                    let x = g.read_write(&mut x);
                    g.host_kernel([1], x, |_, _| {});
                    Ok(())
                })
            };
            (0..len).map(submit).last().unwrap().unwrap()
        };
        // No other thread looks.
        rt.core.engine.reapers[0].pretend(true);
        let looks = || {
            let before = FLUSHES.get();
            let look = rt.core.engine.look(0, BATCH.0);
            (FLUSHES.get() - before, look.given, look.watched)
        };
        stream(1);
        let (all, ..) = looks();
        stream(MANY);
        assert_eq!(looks(), (all - 1, MANY, false));
        assert_eq!(looks(), (all, 0, false));
        let mut last = pin!(stream(MANY));
        assert!(last.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(looks(), (all, MANY, true));
        // An operation that a flush ends is seen in the same look: no other thread may ever tell.
        let mut last = pin!(stream(MANY));
        assert!(last.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        backend.lanes().iter().for_each(|lane| lane.ends_flushed.store(true, Ordering::Release));
        assert!(rt.core.engine.look(0, BATCH.0).progress);
        assert!(last.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
        rt.core.engine.reapers[0].pretend(false);
        rt.core.engine.wake_reaper(0);
        backend.lanes().iter().for_each(|lane| lane.ended.store(1000, Ordering::Release));
    }
}
