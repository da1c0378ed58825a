//! What the conductor shares with the threads of the program.

use super::commands::{Commands, Key};
use super::device::Own;
use super::job::Job;
use super::note::{LaneName, Note};
use folio_core::hal::{HalError, Lane, Lost, NativeKernel, Notify, Rank, Tick};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// A lane that has not ended is driven again after this.
const AGAIN: Duration = Duration::from_micros(200);

pub(crate) struct Shared {
    pub(crate) me: Rank,
    pub(crate) ranks: Rank,
    state: Mutex<State>,
    /// The conductor has something to do.
    pub(crate) wake: Condvar,
    /// Something has ended.
    told: Condvar,
    /// Lanes that have been given operations, for the thread that drives them.
    driven: Mutex<Driven>,
    pub(crate) drive: Condvar,
}

/// The work of the thread that lends itself to lanes of devices here.
#[derive(Default)]
pub(crate) struct Driven {
    /// Up to the tick that they were given.
    pub(crate) lanes: Vec<(Arc<dyn Lane>, Tick)>,
    /// Lanes with kernels that are not used.
    pub(crate) unused: Vec<LaneName>,
    pub(crate) is_over: bool,
}

pub(crate) struct State {
    pub(crate) lanes: HashMap<LaneName, LaneState>,
    /// The commands of each device, by its backend's number and its own.
    pub(crate) commands: HashMap<(u32, u32), Commands>,
    /// The devices here of each backend, by its number.
    pub(crate) backends: HashMap<u32, Weak<Own>>,
    /// The memory of each device of a rank's backend, as far as the rank has told.
    pub(crate) hellos: HashMap<(u32, Rank), Vec<Option<u64>>>,
    /// To be posted: to one rank, or to all others.
    pub(crate) outbox: Vec<(Option<Rank>, Note)>,
    /// Why the ranks cannot do the same any more: one is lost, or does something else.
    pub(crate) apart: Option<Arc<str>>,
    /// They are apart, and no job for a device elsewhere touches memory any more.
    pub(crate) is_torn: bool,
    /// Messages and bytes sent to each rank.
    pub(crate) sent: Vec<(u64, u64)>,
    pub(crate) is_leaving: bool,
    pub(crate) has_ended: bool,
}

/// A lane of a device, here or elsewhere.
pub(crate) struct LaneState {
    /// The rank that has the device.
    pub(crate) rank: Rank,
    pub(crate) is_elsewhere: bool,
    pub(crate) notify: Notify,
    /// Jobs that have not begun.
    pub(crate) waiting: VecDeque<Job>,
    /// How far the device's own lane has been given operations.
    pub(crate) given: Tick,
    /// Of lanes that the conductor serves: how far it is.
    pub(crate) ended: Tick,
    /// Kernels that no lane has taken, by the ticks of their launches; none while one is dropped.
    pub(crate) unused: Vec<(Tick, Option<NativeKernel>)>,
    /// Failures that the engine has not asked for.
    pub(crate) failures: Vec<(Tick, HalError)>,
    /// Of a lane here: the device's own lane, and the launches whose ends others await.
    pub(crate) own: Option<Arc<dyn Lane>>,
    pub(crate) awaited: BTreeMap<Tick, (Key, Option<String>)>,
}

impl LaneState {
    pub(crate) fn new(
        (rank, is_elsewhere): (Rank, bool),
        notify: Notify,
        own: Option<Arc<dyn Lane>>,
    ) -> LaneState {
        let (waiting, unused, failures, awaited) = Default::default();
        let (given, ended) = (0, 0);
        LaneState {
            rank,
            is_elsewhere,
            notify,
            waiting,
            given,
            ended,
            unused,
            failures,
            own,
            awaited,
        }
    }

    /// Takes the failures of the device's own lane.
    pub(crate) fn take_failures(&mut self) {
        let Some(own) = &self.own else { return };
        own.failures(&mut |tick, error| {
            if let Some((_, words)) = self.awaited.get_mut(&tick) {
                *words = Some(error.to_string());
            }
            self.failures.push((tick, error));
        });
    }
}

impl State {
    /// Why devices elsewhere are lost, once nothing of theirs touches memory any more.
    pub(crate) fn lost(&self) -> Option<Lost> {
        let why = self.apart.as_ref().filter(|_| self.is_torn);
        why.map(|why| Lost::new(why.clone()))
    }

    /// How far a lane is; one that is not there or is lost is waited for no more.
    pub(crate) fn ended(&self, name: LaneName) -> Tick {
        let Some(lane) = self.lanes.get(&name) else { return Tick::MAX };
        match &lane.own {
            Some(own) => own.completed().unwrap_or(Tick::MAX),
            None if lane.is_elsewhere && self.is_torn => Tick::MAX,
            None => lane.ended,
        }
    }

    /// The ranks cannot do the same any more: all are told.
    pub(crate) fn tear(&mut self, why: &str) {
        if self.apart.is_none() {
            self.outbox.push((None, Note::Apart(why.to_owned())));
            self.apart = Some(why.into());
        }
    }
}

impl Shared {
    pub(crate) fn new(me: Rank, ranks: Rank) -> Shared {
        let state = State {
            lanes: HashMap::new(),
            commands: HashMap::new(),
            backends: HashMap::new(),
            hellos: HashMap::new(),
            outbox: Vec::new(),
            apart: None,
            is_torn: false,
            sent: vec![(0, 0); ranks as usize],
            is_leaving: false,
            has_ended: false,
        };
        let (wake, told, driven, drive) = Default::default();
        Shared { me, ranks, state: Mutex::new(state), wake, told, driven, drive }
    }

    /// No code panics under the lock, so no state is left half-way.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something has ended, or a moment.
    pub(crate) fn wait<'s>(&self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.wait_for(state, super::PATIENCE)
    }

    pub(crate) fn wait_for<'s>(
        &self,
        state: MutexGuard<'s, State>,
        at_most: Duration,
    ) -> MutexGuard<'s, State> {
        let waited = self.told.wait_timeout(state, at_most);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    pub(crate) fn driven(&self) -> MutexGuard<'_, Driven> {
        self.driven.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops the kernels that a lane has and does not use. No lock is held: they are the program's.
    pub(crate) fn drop_unused(&self, name: LaneName) {
        let mut state = self.lock();
        let Some(lane) = state.lanes.get_mut(&name) else { return };
        let take =
            |(tick, kernel): &mut (Tick, Option<NativeKernel>)| Some((*tick, kernel.take()?));
        let taken: Vec<(Tick, NativeKernel)> = lane.unused.iter_mut().filter_map(take).collect();
        drop(state);
        if taken.is_empty() {
            return;
        }
        let mut ticks = Vec::new();
        for (tick, kernel) in taken {
            // A panic of the program's code in a drop is contained, as a backend contains one.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(kernel)));
            ticks.push(tick);
        }
        if let Some(lane) = self.lock().lanes.get_mut(&name) {
            lane.unused.retain(|(tick, kernel)| kernel.is_some() || !ticks.contains(tick));
        }
        self.wake.notify_all();
    }

    /// Lends the calling thread to lanes of devices here, whose kernels may run on it: again and
    /// again until they have ended, since other ranks may wait for them and this one not.
    pub(crate) fn drive(&self) {
        let mut driven: Vec<(Arc<dyn Lane>, Tick)> = Vec::new();
        loop {
            let mut given = self.driven();
            while given.lanes.is_empty() && given.unused.is_empty() && !given.is_over {
                if driven.is_empty() {
                    given = self.drive.wait(given).unwrap_or_else(PoisonError::into_inner);
                } else {
                    let waited = self.drive.wait_timeout(given, AGAIN);
                    given = waited.unwrap_or_else(PoisonError::into_inner).0;
                    break;
                }
            }
            if given.is_over && given.unused.is_empty() {
                return;
            }
            driven.append(&mut given.lanes);
            let unused = std::mem::take(&mut given.unused);
            drop(given);
            unused.into_iter().for_each(|lane| self.drop_unused(lane));
            driven.retain(|(lane, tick)| {
                lane.flush();
                lane.drive();
                lane.completed().is_ok_and(|ended| ended < *tick)
            });
        }
    }

    /// Something has ended.
    pub(crate) fn tell(&self) {
        self.told.notify_all();
    }
}
