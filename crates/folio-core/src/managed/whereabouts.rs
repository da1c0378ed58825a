//! Where a managed pointer is accessible: the one thing that it has beyond a buffer.
//!
//! A move is a command, so its end is an event. A pointer keeps the regions in which it is
//! accessible, and the moves that were triggered since. `settle` takes over the moves that have
//! ended: a move that went well makes its target the region, a failed one changes nothing.
//!
//! A trigger takes three steps: `begin` writes down the move (from here on the old region has no
//! access), the command is submitted without a lock of this module, and `moved` or `stayed` says
//! how that went. No call into the engine is made while the state is locked, since the engine may
//! run code of the user's, and that may use the pointer.
//!
//! This says who *may* access. That every access sees the latest data is the engine's promise,
//! which depends on nothing here: a mistake in this file cannot break memory safety. So threads may
//! move one pointer at once: the move that was triggered last counts.

use crate::buffer::StorageHandle;
use crate::error::{Error, Label, Result};
use crate::event::Event;
use crate::pages::{DomainId, DomainSet};
use crate::queue::Queue;
use crate::sync::Mutex;
use smallvec::SmallVec;
use std::sync::Arc;

/// The state of one managed pointer, shared by its handles.
pub(crate) struct Whereabouts(Mutex<RegionState>);

/// So many moves are kept before a trigger looks which of them have ended.
const KEPT: usize = 4;

struct RegionState {
    /// It is accessible in several regions at once, and in none of them written.
    read_only: bool,
    /// Where it is accessible by all moves that have ended.
    at: DomainSet,
    /// Moves that may be under way, the oldest first.
    moves: SmallVec<[Move; KEPT]>,
    /// Moves that were triggered so far.
    triggered: u64,
    /// Host guards.
    guards: usize,
    /// Of the executor that moved it last.
    mover: Option<Queue>,
}

#[derive(Clone)]
struct Move {
    ticket: u64,
    to: DomainId,
    /// None while its command is being submitted.
    event: Option<Event>,
    done: bool,
}

/// Names a move of a pointer that `begin` has written down.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket(u64);

impl RegionState {
    /// Where commands that are submitted now may access it.
    fn may(&self, domain: DomainId) -> bool {
        let coming = |m: &Move| m.to == domain;
        match self.moves.last() {
            None => self.at.contains(domain),
            Some(last) if !self.read_only => coming(last),
            Some(_) => self.at.contains(domain) || self.moves.iter().any(coming),
        }
    }

    /// The host may access it now.
    fn on_host(&self) -> bool {
        self.at.contains(DomainId::HOST) && (self.read_only || self.moves.is_empty())
    }

    /// Takes over the moves that have ended well.
    fn fold(&mut self) {
        if self.read_only {
            let at = &mut self.at;
            self.moves.iter().filter(|m| m.done).for_each(|m| at.insert(m.to));
            return self.moves.retain(|m| !m.done);
        }
        // What went before a move that is over has been overtaken.
        if let Some(last) = self.moves.iter().rposition(|m| m.done) {
            self.at = DomainSet::of(self.moves[last].to);
            self.moves.drain(..=last);
        }
    }
}

impl Whereabouts {
    /// Of a pointer that begins at `at`, where `mover` may have allocated it. Several domains are
    /// one region: memory that they share.
    pub(crate) fn new(at: DomainSet, mover: Option<Queue>) -> Whereabouts {
        let moves = SmallVec::new();
        let state = RegionState { read_only: false, at, moves, triggered: 0, guards: 0, mover };
        Whereabouts(Mutex::new(state))
    }

    /// From now on it is only read.
    pub(crate) fn freeze(&self) {
        self.0.lock().read_only = true;
    }

    /// Takes over the moves that have ended, by what `ended` says of their events: a host that asks
    /// for access has the devices asked, a submission has not.
    fn poll_moves(&self, ended: fn(&Event) -> Option<bool>) {
        let (read_only, moves) = {
            let state = self.0.lock();
            (state.read_only, state.moves.clone())
        };
        let mut known: SmallVec<[(u64, bool); KEPT]> = SmallVec::new();
        for one in moves.iter().rev() {
            let Some(well) = one.event.as_ref().and_then(ended) else { continue };
            known.push((one.ticket, well));
            // What went before it has been overtaken.
            if well && !read_only {
                break;
            }
        }
        if known.is_empty() {
            return;
        }
        let mut state = self.0.lock();
        for (ticket, well) in known {
            let Some(at) = state.moves.iter().position(|m| m.ticket == ticket) else { continue };
            if well {
                state.moves[at].done = true;
            } else {
                state.moves.remove(at);
            }
        }
        state.fold();
    }

    /// True when the host may access it now.
    pub(crate) fn is_on_host(&self) -> bool {
        self.poll_moves(Event::ended_well);
        self.0.lock().on_host()
    }

    /// True when commands that are submitted now may access it in a domain.
    pub(crate) fn is_at(&self, domain: DomainId) -> bool {
        self.poll_moves(Event::known_to_end_well);
        self.0.lock().may(domain)
    }

    /// The moves that a command in `domain` comes after, or where the pointer is instead.
    pub(crate) fn before_command(
        &self,
        domain: DomainId,
    ) -> std::result::Result<SmallVec<[Event; 2]>, Elsewhere> {
        self.poll_moves(Event::known_to_end_well);
        let state = self.0.lock();
        if !state.may(domain) {
            return Err(state.elsewhere());
        }
        if state.read_only && state.at.contains(domain) {
            return Ok(SmallVec::new());
        }
        let coming = state.moves.iter().rev().find(|m| m.to == domain);
        Ok(coming.and_then(|m| m.event.clone()).into_iter().collect())
    }

    /// Triggers a move: the old region loses access. `None` if it is there already.
    pub(crate) fn begin(&self, to: DomainId) -> std::result::Result<Option<Ticket>, GuardHold> {
        let mut state = self.0.lock();
        if state.moves.len() >= KEPT {
            drop(state);
            self.poll_moves(Event::known_to_end_well);
            state = self.0.lock();
        }
        let there = state.at.contains(to);
        if there && (state.read_only || state.moves.is_empty()) {
            return Ok(None);
        }
        if state.guards > 0 && !state.read_only {
            return Err(GuardHold);
        }
        state.triggered += 1;
        let ticket = state.triggered;
        state.moves.push(Move { ticket, to, event: None, done: false });
        Ok(Some(Ticket(ticket)))
    }

    /// The move's command is on its way.
    pub(crate) fn moved(&self, ticket: Option<Ticket>, event: &Event, by: &Queue) {
        let mut state = self.0.lock();
        if let Some(Ticket(ticket)) = ticket
            && let Some(this) = state.moves.iter_mut().find(|m| m.ticket == ticket)
        {
            this.event = Some(event.clone());
        }
        // A queue's last handle tells the engine, which must not be called with the lock.
        let before = state.mover.replace(by.clone());
        drop(state);
        drop(before);
    }

    /// The move's command was refused.
    pub(crate) fn stayed(&self, ticket: Option<Ticket>) {
        let Some(Ticket(ticket)) = ticket else { return };
        let mut state = self.0.lock();
        state.moves.retain(|m| m.ticket != ticket);
    }

    /// The queue of the executor that moved it last.
    pub(crate) fn mover(&self) -> Option<Queue> {
        self.0.lock().mover.clone()
    }
}

/// A host guard keeps it where it is.
pub(crate) struct GuardHold;

/// Where a pointer is that is not where it was wanted.
#[derive(Clone, Copy)]
pub(crate) struct Elsewhere {
    at: DomainSet,
    to: Option<DomainId>,
}

impl RegionState {
    fn elsewhere(&self) -> Elsewhere {
        Elsewhere { at: self.at, to: self.moves.last().map(|m| m.to) }
    }
}

impl Elsewhere {
    /// The error of an access to `storage` on `wanted`.
    #[cold]
    pub(crate) fn error(self, storage: &StorageHandle, wanted: DomainId) -> Error {
        let name = |domain| storage.core.engine.domain_name(domain);
        let place = match self.to {
            Some(to) => format!("on its way to {}", name(to)),
            None => {
                let names: Vec<String> = self.at.iter().map(name).collect();
                format!("on {}", names.join(" and "))
            }
        };
        let pointer = storage.label.clone();
        Error::Inaccessible { pointer, wanted: name(wanted), place }
    }
}

/// A host access to a storage: while it lives, a managed pointer is not moved away.
pub(crate) struct HostAccess(Arc<StorageHandle>);

impl HostAccess {
    /// Of any storage: `None` where it is no managed pointer's.
    #[inline]
    pub(crate) fn begin(storage: &Arc<StorageHandle>) -> Result<Option<HostAccess>> {
        match storage.managed.get() {
            None => Ok(None),
            Some(managed) => HostAccess::of(storage, managed).map(Some),
        }
    }

    fn of(storage: &Arc<StorageHandle>, managed: &Whereabouts) -> Result<HostAccess> {
        managed.poll_moves(Event::ended_well);
        let mut state = managed.0.lock();
        if !state.on_host() {
            let elsewhere = state.elsewhere();
            drop(state);
            return Err(elsewhere.error(storage, DomainId::HOST));
        }
        state.guards += 1;
        Ok(HostAccess(storage.clone()))
    }
}

impl Drop for HostAccess {
    fn drop(&mut self) {
        if let Some(managed) = self.0.managed.get() {
            managed.0.lock().guards -= 1;
        }
    }
}

/// The error of a pointer that a host guard holds.
#[cold]
pub(crate) fn held(label: &Label) -> Error {
    Error::HostAccessHeld { buffer: label.clone(), by: None }
}
