//! Where a block that is being recorded is along a block that is [known](super::known). As long as
//! its commands are those, or of their kinds, no graph is built of them.

use super::State;
use super::alike::{Called, is_alike, is_free_of_scalars, is_plain, is_same, makes};
use super::conflicts::Edges;
use super::known::{Changed, Known, with_changed, with_scalars};
use super::state::What;
use super::template::Template;
use super::values::Values;
use crate::buffer::StorageHandle;
use crate::call::Passed;
use crate::engine::runs::command::Command;
use crate::planted::{Plant, Planted};
use crate::queue::Queue;
use crate::runtime::Core;
use std::sync::Arc;

/// How many edges of a command are compared with those of a known one: each with all others.
const MOST_EDGES: usize = 32;

/// How far a block that is being recorded is one that is known.
pub(super) struct Trail {
    all: Arc<Vec<Arc<Known>>>,
    /// Which of them.
    one: usize,
    /// So many of its commands have been recorded.
    at: usize,
    /// Those of them that do something else than the known ones, in order. They keep their buffers.
    changed: Vec<Changed>,
    /// The scalars of those of them that differ in nothing else.
    values: Values,
    plant: Plant,
    /// The buffers of the others.
    pub(super) leases: Vec<Arc<StorageHandle>>,
}

impl Trail {
    /// One at the beginning of the first of these, if there are some.
    pub(super) fn new(
        all: &Arc<Vec<Arc<Known>>>,
        leases: Vec<Arc<StorageHandle>>,
        plant: Plant,
    ) -> Option<Trail> {
        let (all, changed, values) = (all.clone(), Vec::new(), Values::default());
        (!all.is_empty()).then_some(Trail { all, one: 0, at: 0, changed, values, plant, leases })
    }

    fn known(&self) -> Option<&Arc<Known>> {
        self.all.get(self.one)
    }

    /// All commands so far are those of the block.
    fn is_same(&self) -> bool {
        self.changed.is_empty() && self.values.is_empty()
    }

    /// Makes commands of scalars.
    fn settle(&mut self) {
        let values = std::mem::take(&mut self.values);
        if values.is_empty() {
            return;
        }
        let Some(known) = self.known().cloned() else { return };
        let made = |(at, words): (u32, &[u64])| {
            Some((at, with_scalars(known.command_like(at as usize)?, words)))
        };
        self.changed.extend(values.iter().filter_map(made));
        self.changed.sort_unstable_by_key(|(at, _)| *at);
    }

    /// The commands so far, with their edges. They are [settled](Self::settle).
    fn so_far(&self) -> impl Iterator<Item = (&Arc<Template>, &Edges)> {
        let nodes = self.known().into_iter().flat_map(|known| known.nodes()).take(self.at);
        with_changed(nodes, &self.changed)
    }

    /// As [`so_far`](Self::so_far), but for their scalars.
    fn kinds(&self) -> impl Iterator<Item = (&Arc<Template>, &Edges)> {
        let nodes = self.known().into_iter().flat_map(|known| known.kinds()).take(self.at);
        with_changed(nodes, &self.changed)
    }

    /// One of the commands so far, but for its scalars.
    pub(super) fn template(&self, at: usize) -> Option<&Arc<Template>> {
        match self.changed.binary_search_by_key(&(at as u32), |(changed, _)| *changed) {
            Ok(nth) => self.changed.get(nth).map(|(_, template)| template),
            Err(_) => self.known()?.command_like(at),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.at
    }

    /// The block, if all of it has been recorded; and whether it has other commands or scalars.
    pub(super) fn whole(&self) -> Option<(&Arc<Known>, bool)> {
        let known = self.known().filter(|known| known.len() == self.at)?;
        Some((known, !self.is_same()))
    }

    /// The scalars of launches that differ in these only, if nothing else differs.
    pub(super) fn values(&self) -> Option<&Values> {
        self.changed.is_empty().then_some(&self.values)
    }

    /// These.
    pub(super) fn take_values(&mut self) -> Values {
        std::mem::take(&mut self.values)
    }

    /// The commands that take the places of others.
    pub(super) fn changed(&mut self) -> &[Changed] {
        self.settle();
        &self.changed
    }

    /// The commands that take the places of others, without their buffers. These are returned, too.
    pub(super) fn take_changed(&mut self) -> Option<(Vec<Changed>, Vec<Arc<StorageHandle>>)> {
        let mut leases = Vec::new();
        for (_, template) in &mut self.changed {
            // Nothing else has it.
            leases.extend(std::mem::take(&mut Arc::get_mut(template)?.leases));
        }
        Some((std::mem::take(&mut self.changed), leases))
    }

    /// The block that has been recorded is this one, of which it was made.
    pub(super) fn is_now(&mut self, known: Arc<Known>) {
        (self.all, self.one) = (Arc::new(vec![known]), 0);
        self.changed.clear();
        self.values = Values::default();
    }

    /// Whether the next command, which is that of which `is_same` says so, is that of a known
    /// block.
    fn goes_on(&mut self, edges: &Edges, is_same: impl Fn(&Known, usize) -> bool) -> bool {
        let begins_same = self.is_same();
        let Trail { all, one, at, .. } = self;
        let fits = |known: &Known| known.comes_after(*at, edges) && is_same(known, *at);
        let Some(known) = all.get(*one) else { return false };
        if !fits(known) {
            let begins = |other: &Known| fits(other) && other.begins_as(known, *at);
            match all.iter().position(|other| begins_same && begins(other)) {
                Some(other) => *one = other,
                None => return false,
            }
        }
        *at += 1;
        true
    }

    /// Whether the next command can take the place of that of a known block, which is like those
    /// that `is_alike` says.
    fn goes_on_like(&mut self, edges: &Edges, is_alike: impl Fn(&Command) -> bool) -> bool {
        let fits = |known: &Known| {
            let own = known.command_like(self.at);
            known.comes_after(self.at, edges) && own.is_some_and(|own| is_alike(&own.command))
        };
        let stays = !self.is_same() && self.known().is_some_and(|known| fits(known));
        if !stays {
            let begins = |known: &Known| fits(known) && known.begins_like(self.kinds());
            let all = self.all.iter().enumerate().filter(|(_, known)| begins(known));
            // Graphs of a kind take turns: the one that was used last may be on its way.
            let Some((one, _)) = all.min_by_key(|(_, known)| known.latest()) else { return false };
            self.go_to(one);
        }
        self.at += 1;
        true
    }

    /// Goes on along another known block, whose commands so far are of the same kinds.
    fn go_to(&mut self, one: usize) {
        if one == self.one {
            return;
        }
        self.settle();
        let Some(other) = self.all.get(one) else { return };
        let pairs = self.so_far().zip(other.nodes()).enumerate();
        let differs =
            pairs.filter(|(_, ((own, _), (other, _)))| !is_same(&own.command, &other.command));
        let changed = differs.map(|(at, ((own, _), _))| (at as u32, own.clone())).collect();
        self.changed = changed;
        self.one = one;
    }
}

/// What the next command of a block is.
#[derive(Clone, Copy)]
pub(super) enum Next {
    /// That of the known block of this number.
    Same(u32),
    /// One of the same kind: it is to [take its place](State::change).
    Like(u32),
}

impl State {
    /// The number of a queue's next command, which comes after these ones besides, if `goes` goes
    /// on along the trail.
    fn next_on_trail(
        &mut self,
        queue: &Queue,
        after: &[(u32, bool)],
        goes: impl FnOnce(&mut Trail, &Edges) -> bool,
    ) -> Option<u32> {
        let trail = self.trail.as_mut()?;
        let Queue { inner, .. } = queue;
        let joined = self.queues.iter_mut().find(|joined| joined.id == inner.id)?;
        let mut edges = Edges::new();
        if after.len() > MOST_EDGES {
            return None;
        }
        for (from, uses) in after.iter().copied().chain(joined.before()) {
            match edges.iter_mut().find(|(known, _)| *known == from) {
                Some((_, known)) => *known |= uses,
                None => edges.push((from, uses)),
            }
        }
        if !goes(trail, &edges) {
            return None;
        }
        let at = trail.at as u32 - 1;
        joined.note(at, inner.in_order);
        Some(at)
    }

    /// What a queue's next command is, which comes after these ones besides.
    pub(super) fn follow(
        &mut self,
        queue: &Queue,
        command: &Command,
        after: &[(u32, bool)],
    ) -> Option<Next> {
        let mut same = true;
        let at = self.next_on_trail(queue, after, |trail, edges| {
            same = trail.goes_on(edges, |known, at| {
                known.command(at).is_some_and(|own| is_same(own, command))
            });
            same || trail.goes_on_like(edges, |known| is_alike(known, command))
        })?;
        Some(if same { Next::Same(at) } else { Next::Like(at) })
    }

    /// The latest command takes the place of the known one.
    pub(super) fn change(&mut self, template: Arc<Template>) {
        if let Some(trail) = &mut self.trail {
            trail.changed.push((trail.at as u32 - 1, template));
        }
    }

    /// The number of a kernel call that has not been made into a command, if what it becomes is the
    /// next command of a known block: what is equal beforehand becomes equal commands. Or it is
    /// that one but for its scalars, where nothing else follows from these.
    pub(super) fn follow_call(
        &mut self,
        queue: &Queue,
        (device, core): (u16, &Core),
        called: Called<'_>,
        given: &[Passed],
    ) -> Option<u32> {
        if !given.iter().all(|passed| is_plain(passed, core)) {
            return None;
        }
        let any = self.trail.as_ref()?.plant.is(Planted::OtherValues);
        self.next_on_trail(queue, &[], |trail, edges| {
            let makes = |own: &Command| makes(own, device, called, given);
            let is_next = |known: &Known, at: usize| {
                known.command_like(at).is_some_and(|own| makes(&own.command))
            };
            let has_values = |known: &Known, at| any || known.has_scalars(at, called.scalars);
            let of_now = |is: &dyn Fn(&Known, usize) -> bool, trail: &Trail| {
                trail.known().is_some_and(|known| is(known, trail.at))
            };
            // As a rule it is the next one of the same block: that is compared once.
            let likely =
                of_now(&|known, at| known.comes_after(at, edges) && is_next(known, at), trail);
            let is_free = || is_free_of_scalars(&called, given);
            let (goes, same) = if likely && of_now(&has_values, trail) {
                trail.at += 1;
                (true, true)
            } else if likely && (!trail.is_same() || trail.all.len() == 1) {
                let goes = is_free();
                trail.at += usize::from(goes);
                (goes, false)
            } else {
                let is_same = |known: &Known, at| is_next(known, at) && has_values(known, at);
                let same = trail.goes_on(edges, is_same);
                (same || is_free() && trail.goes_on_like(edges, makes), same)
            };
            if goes && !same {
                let count = trail.known().map_or(0, |known| known.len());
                trail.values.push(trail.at as u32 - 1, called.scalars, count);
            }
            goes
        })
    }

    /// The number of a barrier with these edges, if it is the next command of a known block.
    pub(super) fn follow_barrier(&mut self, edges: &Edges, barrier: &Command) -> Option<u32> {
        let trail = self.trail.as_mut()?;
        let is_next =
            |known: &Known, at| known.command(at).is_some_and(|own| is_same(own, barrier));
        let goes = trail.goes_on(edges, is_next)
            || trail.goes_on_like(edges, |known| is_alike(known, barrier));
        goes.then(|| trail.at as u32 - 1)
    }

    /// Buffers of commands along the trail.
    pub(super) fn keep(&mut self, buffers: impl Iterator<Item = Arc<StorageHandle>>) {
        match &mut self.trail {
            Some(trail) => trail.leases.extend(buffers),
            None => self.leases.extend(buffers),
        }
    }

    /// Makes nodes of the commands along the trail: it goes elsewhere from here on.
    pub(super) fn leave_trail(&mut self) {
        let Some(mut trail) = self.trail.take() else { return };
        trail.settle();
        for (template, edges) in trail.so_far() {
            self.push(What::One(template.clone(), None), edges, true);
        }
        self.leases = trail.leases;
    }
}
