//! The threads of host tasks: as many as there are tasks at a time, since a task may block on
//! anything; idle ones stay for a while.

use crate::engine::Engine;
use crate::engine::ledger::HostWork;
use crate::engine::threads::wait::EndObligation;
use crate::error::Cause;
use crate::foreign::listening;
use crate::hal::{HalError, HalErrorKind, PanicPayload};
use crate::order::stamp::SlotId;
use crate::panics::contain;
use crate::sync::{Condvar, Mutex};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a thread without work stays.
const IDLE: Duration = Duration::from_secs(2);

#[derive(Default)]
struct Jobs {
    waiting: VecDeque<(Arc<Engine>, SlotId, HostWork)>,
    idle: usize,
    /// Nobody is left who could bring work.
    over: bool,
}

/// The threads that run host tasks.
pub(crate) struct HostThreads {
    shared: Arc<(Mutex<Jobs>, Condvar)>,
    /// From when on the times of host tasks count.
    epoch: Instant,
}

impl Default for HostThreads {
    fn default() -> HostThreads {
        HostThreads { shared: Arc::default(), epoch: Instant::now() }
    }
}

impl HostThreads {
    pub(crate) fn epoch(&self) -> Instant {
        self.epoch
    }
}

impl Drop for HostThreads {
    /// The engine is gone, and with it all tasks: idle threads end now.
    fn drop(&mut self) {
        self.shared.0.lock().over = true;
        self.shared.1.notify_all();
    }
}

impl Engine {
    /// Runs a host task on a thread of its own.
    pub(crate) fn start_host_task(&self, slot: SlotId, work: HostWork) {
        let Some(me) = self.me.upgrade() else { return };
        let shared = self.host.shared.clone();
        let mut jobs = shared.0.lock();
        jobs.waiting.push_back((me, slot, work));
        if jobs.idle >= jobs.waiting.len() {
            drop(jobs);
            shared.1.notify_one();
            return;
        }
        drop(jobs);
        let threads = shared.clone();
        let spawned = std::thread::Builder::new()
            .name("folio host task".to_owned())
            .spawn(move || run_jobs(&threads.0, &threads.1, IDLE));
        if let Err(error) = spawned {
            // No thread to be had: the latest task fails, unless another thread took it.
            let job = shared.0.lock().waiting.pop_back();
            if let Some((engine, slot, work)) = job {
                contain(|| drop(work));
                let message = format!("no thread for a host task: {error}");
                let cause = Cause::Backend(HalError::new(HalErrorKind::Driver, message));
                engine.enter(|ledger| ledger.host_done(slot, Err(cause.into())));
            }
        }
    }
}

fn run_jobs(jobs: &Mutex<Jobs>, wake: &Condvar, patience: Duration) {
    loop {
        let mut held = jobs.lock();
        let until = Instant::now() + patience;
        while held.waiting.is_empty() {
            if held.over || Instant::now() >= until {
                return;
            }
            held.idle += 1;
            held = wake.wait_until(held, Some(until));
            held.idle -= 1;
        }
        let job = held.waiting.pop_front();
        drop(held);
        if let Some((engine, slot, work)) = job {
            let ending = EndObligation::new(&engine, slot);
            let result = catch_unwind(AssertUnwindSafe(work))
                .unwrap_or_else(|payload| Err(Cause::Panic(PanicPayload::new(payload)).into()));
            // A subscriber that is asked here may not wait for this task.
            let traced = listening();
            drop(ending);
            engine.enter_as(traced, |ledger| ledger.host_done(slot, result));
            engine.look_if_closing();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn idle_threads_end_with_their_engine() {
        let host = HostThreads::default();
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let shared = host.shared.clone();
                std::thread::spawn(move || run_jobs(&shared.0, &shared.1, Duration::from_hours(1)))
            })
            .collect();
        while host.shared.0.lock().idle < threads.len() {
            std::thread::yield_now();
        }
        drop(host);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    }
}
