//! The order of operations: vector clocks over lanes.
//!
//! A clock says of each lane up to which tick everything has ended. An operation's clock is what
//! has ended before it begins: what the host had seen when it was issued, what it waits for, and,
//! unless it is `Free`, all of its lane.

use folio_core::hal::{Order, Tick};
use std::collections::{BTreeSet, HashSet, VecDeque};

/// Ticks by lane number.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock(Vec<Tick>);

impl Clock {
    pub(super) fn get(&self, lane: u32) -> Tick {
        self.0.get(lane as usize).copied().unwrap_or(0)
    }

    pub(super) fn raise(&mut self, lane: u32, tick: Tick) {
        let lane = lane as usize;
        if self.0.len() <= lane {
            self.0.resize(lane + 1, 0);
        }
        self.0[lane] = self.0[lane].max(tick);
    }

    fn join(&mut self, other: &Clock) {
        for (lane, tick) in other.0.iter().enumerate() {
            self.raise(lane as u32, *tick);
        }
    }
}

/// The state of one lane.
pub(super) struct LaneState {
    pub(super) device: u32,
    pub(super) issued: Tick,
    /// Ticks up to here have returned from their calls.
    pub(super) returned: Tick,
    /// How far it has said that it is. The host may know of more, by what waited for it.
    pub(super) said: Tick,
    /// A call is under way.
    pub(super) in_call: bool,
    /// Failures told, by calls and later.
    pub(super) told: BTreeSet<Tick>,
    /// Everything that has ended when all operations so far have.
    sum: Clock,
    /// `sum` after each tick that the host has not seen end.
    sums: VecDeque<(Tick, Clock)>,
}

/// All lanes, and what the host has seen.
#[derive(Default)]
pub(super) struct Lanes {
    lanes: Vec<Option<LaneState>>,
    pub(super) host: Clock,
}

impl Lanes {
    pub(super) fn add(&mut self, id: u32, device: u32) {
        let id = id as usize;
        if self.lanes.len() <= id {
            self.lanes.resize_with(id + 1, || None);
        }
        self.lanes[id] = Some(LaneState {
            device,
            issued: 0,
            returned: 0,
            said: 0,
            in_call: false,
            told: BTreeSet::new(),
            sum: Clock::default(),
            sums: VecDeque::new(),
        });
    }

    pub(super) fn get(&mut self, id: u32) -> Option<&mut LaneState> {
        self.lanes.get_mut(id as usize)?.as_mut()
    }

    /// For all that the engine knows, `tick` of `lane` has ended, or never will.
    pub(super) fn ended(&self, lane: u32, tick: Tick, lost: &HashSet<u32>) -> bool {
        let state = self.lanes.get(lane as usize).and_then(|l| l.as_ref());
        self.host.get(lane) >= tick || state.is_none_or(|l| lost.contains(&l.device))
    }

    /// Issues the next tick; what has ended before it begins.
    pub(super) fn issue(
        &mut self,
        id: u32,
        order: Order,
        waits: &[(Option<u32>, Tick)],
    ) -> Option<Clock> {
        let mut clock = self.host.clone();
        for &(lane, tick) in waits {
            let lane = lane?;
            self.join_until(&mut clock, lane, tick);
        }
        let state = self.get(id)?;
        if order == Order::AfterPrevious {
            clock.join(&state.sum);
            clock.raise(id, state.issued);
        }
        state.issued += 1;
        state.sum.join(&clock);
        state.sum.raise(id, state.issued);
        state.sums.push_back((state.issued, state.sum.clone()));
        Some(clock)
    }

    /// The lane has said, to the host, that everything up to `tick` has ended.
    pub(super) fn seen(&mut self, id: u32, tick: Tick) {
        let mut host = std::mem::take(&mut self.host);
        self.join_until(&mut host, id, tick);
        self.host = host;
        if let Some(state) = self.get(id) {
            state.said = state.said.max(tick);
            while state.sums.front().is_some_and(|(t, _)| *t <= tick) {
                state.sums.pop_front();
            }
        }
    }

    fn join_until(&mut self, clock: &mut Clock, lane: u32, tick: Tick) {
        if let Some(state) = self.get(lane)
            && let Some((_, sum)) = state.sums.iter().rev().find(|(t, _)| *t <= tick)
        {
            clock.join(sum);
        }
        clock.raise(lane, tick);
    }
}
