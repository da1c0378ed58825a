//! The trail of a block that is being recorded, along the classes and lists of its queue's
//! [store](super::store). As long as its commands are of the kinds of a class, no graph is built of
//! them; as long as their arguments are those of a list, no commands.

use super::GraphState;
use super::conflicts::Edges;
use super::key::{Arguments, Called, Key, is_free_of_scalars, is_plain};
use super::pool::Temporaries;
use super::state::What;
use super::store::{Block, Class, Description, Entry, StoredList};
use super::template::Template;
use super::temporaries::{Renames, are_like, only};
use crate::buffer::StorageHandle;
use crate::call::Passed;
use crate::engine::pages::storage::StorageId;
use crate::engine::runs::command::{Action, Command};
use crate::engine::terms::access::Access;
use crate::group::Leases;
use crate::marks::Marks;
use crate::pages::DomainId;
use crate::planted::{Plant, Planted};
use crate::queue::Queue;
use crate::runtime::Core;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How many edges of a command are compared with those of a known one: each with all others.
const MOST_EDGES: usize = 32;

/// A block that is being recorded. Kept for the next block, with the room that it has.
#[derive(Default)]
pub(super) struct Trail {
    /// None between blocks.
    all: Option<Arc<Vec<Arc<Entry>>>>,
    /// The class of the commands so far, among those.
    class: usize,
    commands: Vec<Recorded>,
    /// The scalars of all commands so far.
    scalars: Vec<u64>,
    /// The storages of those that are [renamed](Recorded::Renamed).
    storages: Vec<StorageId>,
    /// The key of the latest command.
    key: Key,
    plant: Plant,
    /// By the numbers of their commands: the buffers of those that do not keep theirs.
    leases: Vec<(u32, Arc<StorageHandle>)>,
    /// The block is to be fused.
    fuses: bool,
}

/// A command of the block.
enum Recorded {
    /// The one of a list of the class, but for its scalars.
    Stored(u32),
    /// The one of a list, but for its scalars and over other storages, which begin here: buffers of
    /// the block in the place of the list's temporaries.
    Renamed(u32, u32),
    /// Another one of its kind, and its arguments.
    Own(Arc<Template>, Arguments),
}

/// The place of the next command of a block.
#[derive(Clone, Copy)]
pub(super) enum Next {
    /// The one of a list with this number.
    Same(u32),
    /// One of the same kind: it is to be [added](GraphState::add_own).
    Own(u32),
}

impl Trail {
    /// Begins a block.
    pub(super) fn begin(&mut self, all: &Arc<Vec<Arc<Entry>>>, fuses: bool, plant: Plant) {
        self.all = Some(all.clone());
        (self.fuses, self.plant) = (fuses, plant);
        // Often the next block is as the latest one.
        let latest = (0..all.len()).filter(|at| all[*at].class.fuses == fuses);
        let latest = latest.max_by_key(|at| all[*at].class.latest());
        self.class = latest.unwrap_or(all.len());
        self.commands.clear();
        self.scalars.clear();
        self.storages.clear();
    }

    /// Ends it. Its room is for the next block.
    pub(super) fn end(&mut self) {
        self.all = None;
        self.commands.clear();
        // Buffers may be the program's last handles of them.
        self.leases.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.commands.len()
    }

    fn all(&self) -> &[Arc<Entry>] {
        self.all.as_ref().map_or(&[], |all| all)
    }

    fn entry(&self) -> Option<&Arc<Entry>> {
        self.all().get(self.class)
    }

    /// The class of the block, if there is one of exactly its commands, and its lists.
    pub(super) fn found(&mut self) -> Option<Arc<Entry>> {
        let len = self.commands.len();
        let own = &self.entry()?.class;
        if own.nodes.len() != len {
            let is_it = |other: &Arc<Entry>| {
                let nodes = &other.class.nodes;
                nodes.len() == len
                    && other.class.fuses == self.fuses
                    && own.nodes.get(..len) == Some(&nodes[..])
            };
            let other = self.all().iter().position(is_it)?;
            self.go_to(other);
        }
        self.entry().cloned()
    }

    /// The block of a list of the class.
    fn list_at(&self, list: u32) -> Option<&Description> {
        Some(&self.entry()?.lists.get(list as usize)?.block.described)
    }

    /// The command of a number, but for its scalars and the storages of a renamed one.
    pub(super) fn template(&self, at: usize) -> Option<&Arc<Template>> {
        match self.commands.get(at)? {
            Recorded::Stored(list) | Recorded::Renamed(list, _) => {
                self.list_at(*list)?.templates.get(at)
            }
            Recorded::Own(template, _) => Some(template),
        }
    }

    fn arguments(&self, at: usize) -> Option<Cow<'_, Arguments>> {
        let of = |list: u32| self.list_at(list)?.arguments.get(at);
        Some(match self.commands.get(at)? {
            Recorded::Stored(list) => Cow::Borrowed(of(*list)?),
            Recorded::Renamed(list, _) => {
                let (storages, words) = (self.renamed(at)?.into(), of(*list)?.words.clone());
                Cow::Owned(Arguments { storages, words })
            }
            Recorded::Own(_, arguments) => Cow::Borrowed(arguments),
        })
    }

    /// The storages of a renamed command.
    fn renamed(&self, at: usize) -> Option<&[StorageId]> {
        let Recorded::Renamed(list, begin) = self.commands.get(at)? else { return None };
        let known = self.list_at(*list)?.arguments.get(at)?;
        self.storages.get(*begin as usize..)?.get(..known.storages.len())
    }

    /// The accesses of the command of a number.
    pub(super) fn accesses(&self, at: usize) -> Option<Cow<'_, [Access]>> {
        let known = &self.template(at)?.command.accesses;
        let over = |(known, storage): (&Access, &StorageId)| Access { storage: *storage, ..*known };
        Some(match self.renamed(at) {
            Some(storages) => known.iter().zip(storages).map(over).collect(),
            None => Cow::Borrowed(known),
        })
    }

    /// The command of a number is a list's, but for its scalars and temporaries.
    fn is_of(&self, at: usize, list: &Description, renames: &mut Renames<'_>) -> bool {
        let (Some(arguments), Some(own)) = (self.arguments(at), self.accesses(at)) else {
            return false;
        };
        let others = list.arguments.get(at).zip(list.templates.get(at));
        others.is_some_and(|(of, other)| {
            // Which elements a launch accesses may follow from its scalars.
            renames.are_arguments(&arguments, of)
                && renames.are_accesses(&own, &other.command.accesses)
        })
    }

    /// The scalars of the command of a number.
    fn scalars_of<'s>(&'s self, class: &Class, at: usize) -> &'s [u64] {
        class.scalars(at, &self.scalars)
    }

    /// The command of a number.
    fn command(&self, at: usize) -> Option<Arc<Template>> {
        let (template, class) = (self.template(at)?, &self.entry()?.class);
        let words = self.scalars_of(class, at);
        match (&template.command.action, self.renamed(at)) {
            (_, Some(storages)) => Some(with_arguments(template, words, storages)),
            (Action::Launch(Some(launch)), None) if launch.scalars[..] != *words => {
                Some(with_arguments(template, words, &[]))
            }
            (_, None) => Some(template.clone()),
        }
    }

    /// Goes on along another class that begins with the commands so far. Those that its lists do
    /// not have become the block's own.
    fn go_to(&mut self, class: usize) {
        let lists = self.all().get(class).map(|entry| entry.lists.clone()).unwrap_or_default();
        let none = Temporaries::new();
        for at in 0..self.commands.len() {
            let is_of = |list: &Arc<StoredList>| {
                self.is_of(at, &list.block.described, &mut Renames::new(&none, None))
            };
            let known = lists.iter().position(is_of);
            let new = match (known, &self.commands[at]) {
                (Some(nth), _) => Some(Recorded::Stored(nth as u32)),
                (None, Recorded::Own(..)) => None,
                (None, Recorded::Stored(_) | Recorded::Renamed(..)) => self.own(at),
            };
            let Some(new) = new else { continue };
            if let Recorded::Own(template, _) = std::mem::replace(&mut self.commands[at], new)
                && let Ok(template) = Arc::try_unwrap(template)
            {
                let buffers = template.leases.into_iter();
                self.leases.extend(buffers.map(|buffer| (at as u32, buffer)));
            }
        }
        self.class = class;
    }

    /// The command of a number as one of the block's own.
    fn own(&self, at: usize) -> Option<Recorded> {
        Some(Recorded::Own(self.command(at)?, self.arguments(at)?.into_owned()))
    }

    /// The next command, whose key is there, is of the class; or of another one that begins alike.
    /// For the first one that is a class with a list that has it, if there is one.
    fn goes_on(&mut self, edges: &Edges) -> bool {
        let at = self.commands.len();
        let fits = |entry: &Arc<Entry>| {
            let node = entry.class.nodes.get(at).filter(|_| entry.class.fuses == self.fuses);
            node.is_some_and(|node| node.edges == *edges && node.kind == self.key.kind)
        };
        let has_it = |entry: &Arc<Entry>| {
            let has = |list: &Arc<StoredList>| {
                list.block.described.arguments.get(at) == Some(&self.key.arguments)
            };
            at > 0 || entry.lists.iter().any(has)
        };
        let Some(own) = self.entry() else { return false };
        let own_fits = fits(own);
        if own_fits && has_it(own) {
            return true;
        }
        let begins = |other: &Arc<Entry>| {
            fits(other) && other.class.nodes.get(..at) == own.class.nodes.get(..at)
        };
        let other = self.all().iter().position(|other| has_it(other) && begins(other));
        let other =
            other.or_else(|| self.all().iter().position(|other| !own_fits && begins(other)));
        if let Some(other) = other {
            self.go_to(other);
        }
        other.is_some() || own_fits
    }

    /// The list of the class that has the next command, of which `is` tells besides.
    fn list_of(&self, is: impl Fn(&Class, &Description) -> bool) -> Option<u32> {
        let (at, class) = (self.commands.len(), &self.entry()?.class);
        self.find_list(|list| {
            let list = &list.block.described;
            list.arguments.get(at) == Some(&self.key.arguments) && is(class, list)
        })
    }

    /// As [`list_of`](Self::list_of), but for buffers in the place of the list's temporaries.
    fn list_like(
        &self,
        given: &[Passed],
        is: impl Fn(&Class, &Description) -> bool,
    ) -> Option<u32> {
        let (at, class) = (self.commands.len(), &self.entry()?.class);
        self.find_list(|list| {
            let Block { described, .. } = &list.block;
            let Some((temporaries, _)) = list.block.temporaries() else { return false };
            let can_be = |nth: usize, other: &StorageId| {
                let own = given.get(nth).map(|passed| passed.part.view.storage.shape());
                own.is_some() && own.as_ref() == temporaries.get(other)
            };
            let known = described.arguments.get(at);
            known.is_some_and(|known| are_like(&self.key.arguments, known, can_be))
                && is(class, described)
        })
    }

    /// A list of the class.
    fn find_list(&self, is: impl Fn(&StoredList) -> bool) -> Option<u32> {
        let lists = &self.entry()?.lists;
        // As a rule the one that the latest command was of.
        let latest = match self.commands.last() {
            Some(Recorded::Stored(list) | Recorded::Renamed(list, _)) => *list as usize,
            _ => 0,
        };
        let count = lists.len();
        let nth = (0..count).map(|nth| (latest + nth) % count).find(|nth| is(&lists[*nth]))?;
        Some(nth as u32)
    }

    fn push(&mut self, command: Recorded) -> u32 {
        self.scalars.extend_from_slice(&self.key.scalars);
        self.commands.push(command);
        self.commands.len() as u32 - 1
    }

    /// The list that has the memory of all commands, but for these temporaries, and whether it has
    /// their scalars.
    pub(super) fn list(&self, temporaries: &Temporaries) -> Option<(Arc<StoredList>, bool)> {
        let entry = self.entry()?;
        let has_memory = |(nth, list): &(usize, &Arc<StoredList>)| {
            let others = list.block.temporaries().map(|(all, _)| all);
            let mut renames = Renames::new(temporaries, others);
            self.commands.iter().enumerate().all(|(at, command)| match command {
                Recorded::Stored(of) if *of as usize == *nth => true,
                Recorded::Renamed(of, _) if *of as usize == *nth => {
                    let known = list.block.described.arguments.get(at);
                    let both = self.renamed(at).zip(known);
                    both.is_some_and(|(own, known)| renames.are_storages(own, &known.storages))
                }
                _ => self.is_of(at, &list.block.described, &mut renames),
            })
        };
        let all = || entry.lists.iter().enumerate().filter(has_memory).map(|(_, list)| list);
        if let Some(list) = all().find(|list| list.block.described.scalars == self.scalars) {
            return Some((list.clone(), true));
        }
        // Lists that differ in scalars take turns.
        let list = all().find(|list| list.list.native.is_idle()).or_else(|| all().next())?;
        Some((list.clone(), false))
    }

    /// Its buffers of which nothing else has a handle.
    pub(super) fn temporaries(&self) -> Temporaries {
        only(self.handles(), self.plant).map(|handle| (handle.id, handle.shape())).collect()
    }

    /// One of its buffers is such. Commands are not compared for what buffers are.
    pub(super) fn uses(&self, is: fn(&Arc<StorageHandle>) -> bool) -> bool {
        self.handles().any(is)
    }

    fn handles(&self) -> impl Iterator<Item = &Arc<StorageHandle>> {
        let own = self.commands.iter().flat_map(|command| match command {
            Recorded::Own(template, _) => &template.leases[..],
            Recorded::Stored(_) | Recorded::Renamed(..) => &[],
        });
        self.leases.iter().map(|(_, handle)| handle).chain(own)
    }

    /// All commands, without their buffers, which the trail keeps.
    pub(super) fn take(&mut self) -> Option<Description> {
        let Trail { commands, leases, .. } = self;
        for (at, command) in (0..).zip(commands) {
            if let Recorded::Own(template, _) = command
                && let Some(template) = Arc::get_mut(template)
            {
                leases.extend(template.leases.drain(..).map(|handle| (at, handle)));
            }
        }
        let all = || 0..self.len();
        Some(Description {
            templates: all().map(|at| self.command(at)).collect::<Option<_>>()?,
            arguments: all()
                .map(|at| Some(self.arguments(at)?.into_owned()))
                .collect::<Option<_>>()?,
            scalars: self.scalars.clone(),
        })
    }

    /// The scalars of all commands.
    pub(super) fn scalars(&self) -> &[u64] {
        &self.scalars
    }
}

/// A command with other scalars, and over other storages, where there are some. What is known can
/// be done again.
fn with_arguments(
    template: &Arc<Template>,
    words: &[u64],
    storages: &[StorageId],
) -> Arc<Template> {
    let Some(mut command) = template.command.again() else { return template.clone() };
    if let Action::Launch(Some(launch)) = &mut command.action {
        launch.set_scalars(words);
    }
    let accesses = command.accesses.iter_mut().zip(storages);
    accesses.for_each(|(access, storage)| access.storage = *storage);
    Arc::new(Template::of_command(command))
}

impl GraphState {
    /// Goes on along the trail, if `goes` does, by a queue's next command, which comes after these
    /// ones besides.
    fn next_on_trail<R>(
        &mut self,
        queue: &Queue,
        after: &[(u32, bool)],
        goes: impl FnOnce(&mut Trail, &Edges) -> Option<(u32, R)>,
    ) -> Option<R> {
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
        let (at, next) = goes(trail, &edges)?;
        joined.note(at, inner.in_order);
        Some(next)
    }

    /// What a queue's next command is, which comes after these ones besides.
    pub(super) fn follow(
        &mut self,
        queue: &Queue,
        command: &Command,
        after: &[(u32, bool)],
    ) -> Option<Next> {
        self.next_on_trail(queue, after, |trail, edges| trail.follow(edges, command))
    }

    /// A command of the block's own, which [`follow`](Self::follow) has asked for.
    pub(super) fn add_own(&mut self, template: Arc<Template>) {
        if let Some(trail) = &mut self.trail {
            let arguments = trail.key.arguments.clone();
            trail.push(Recorded::Own(template, arguments));
        }
    }

    /// The number of a kernel call that has not been made into a command, if what it becomes is the
    /// next command of a list: what is equal beforehand becomes equal commands. Or it is that one
    /// but for its scalars, where nothing else follows from these.
    pub(super) fn follow_call(
        &mut self,
        queue: &Queue,
        (device, domain, core): (u16, DomainId, &Core),
        called: Called<'_>,
        given: &[Passed],
    ) -> Option<u32> {
        let trail = self.trail.as_mut()?;
        if !given.iter().all(|passed| is_plain(passed, core))
            || !trail.key.set_call((device, domain), &called, given)
        {
            return None;
        }
        self.next_on_trail(queue, &[], |trail, edges| {
            let is_free = |own: &[u64]| {
                called.code.knows_as_equal(own, called.scalars)
                    || is_free_of_scalars(&called, given)
            };
            let at = trail.follow_call(edges, given, is_free)?;
            Some((at, at))
        })
    }

    /// The number of a barrier with these edges, if it is the next command of a class.
    pub(super) fn follow_barrier(&mut self, edges: &Edges, barrier: &Arc<Template>) -> Option<u32> {
        let trail = self.trail.as_mut()?;
        let (at, next) = trail.follow(edges, &barrier.command)?;
        if let Next::Own(_) = next {
            self.add_own(barrier.clone());
        }
        Some(at)
    }

    /// Buffers of commands along the trail.
    pub(super) fn keep(&mut self, buffers: impl Iterator<Item = Arc<StorageHandle>>) {
        match &mut self.trail {
            Some(trail) => {
                let at = trail.len().saturating_sub(1) as u32;
                trail.leases.extend(buffers.map(|handle| (at, handle)));
            }
            None => self.leases.extend(buffers),
        }
    }

    /// Makes nodes of the commands along the trail: it goes elsewhere from here on.
    pub(super) fn leave_trail(&mut self) {
        let Some(mut trail) = self.trail.take() else { return };
        let Some(class) = trail.entry().map(|entry| entry.class.clone()) else { return };
        let mut leases = std::mem::take(&mut trail.leases);
        leases.sort_by_key(|(of, _)| *of);
        let mut leases = leases.into_iter().peekable();
        for (at, node) in class.nodes.iter().take(trail.len()).enumerate() {
            let own = std::iter::from_fn(|| leases.next_if(|(of, _)| *of as usize == at));
            let own: Leases = own.map(|(_, handle)| handle).collect();
            let Some(template) = trail.command(at) else { continue };
            let template = match template.command.again().filter(|_| !own.is_empty()) {
                Some(command) => {
                    Arc::new(Template { leases: own, ..Template::of_command(command) })
                }
                None => {
                    self.leases.extend(own);
                    template
                }
            };
            self.push(What::One(template, None), &node.edges, true);
        }
    }
}

impl Trail {
    /// The next command: its number, and whether it is that of a list.
    fn follow(&mut self, edges: &Edges, command: &Command) -> Option<(u32, Next)> {
        self.key.set(command);
        if self.key.kind.is_unknown() || !self.goes_on(edges) {
            return None;
        }
        let at = self.commands.len();
        // The accesses of a launch may follow from its scalars.
        let is = |class: &Class, list: &Description| {
            let own = list.templates.get(at).map(|own| &own.command.accesses);
            class.scalars(at, &list.scalars) == self.key.scalars
                || own.is_some_and(|own| uses_same(own, &command.accesses))
        };
        match self.list_of(is) {
            Some(list) => {
                let at = self.push(Recorded::Stored(list));
                Some((at, Next::Same(at)))
            }
            None => Some((at as u32, Next::Own(at as u32))),
        }
    }

    /// The next command, of a call. `is_free`: nothing else follows from its scalars, where they
    /// are others than those of a list.
    fn follow_call(
        &mut self,
        edges: &Edges,
        given: &[Passed],
        is_free: impl Fn(&[u64]) -> bool,
    ) -> Option<u32> {
        if !self.goes_on(edges) {
            return None;
        }
        let (at, any) = (self.commands.len(), self.plant.is(Planted::OtherValues));
        let has_scalars = |class: &Class, list: &Description| {
            let own = class.scalars(at, &list.scalars);
            own == self.key.scalars || is_free(own) || any
        };
        let Some(list) = self.list_of(has_scalars) else {
            let list = self.list_like(given, has_scalars)?;
            let begin = self.storages.len() as u32;
            self.storages.extend_from_slice(&self.key.arguments.storages);
            return Some(self.push(Recorded::Renamed(list, begin)));
        };
        if any && let Some(entry) = self.all().get(self.class) {
            let known = &entry.lists[list as usize].block.described.scalars;
            let own = entry.class.scalars(at, known);
            self.key.scalars = own.to_vec();
        }
        Some(self.push(Recorded::Stored(list)))
    }
}

/// What a block leaves in this buffer is not used after it.
pub(super) fn is_internal(handle: &Arc<StorageHandle>) -> bool {
    handle.marks.lock().0.internal
}

/// Fusion knows more of this buffer than its commands tell.
pub(super) fn is_marked(handle: &Arc<StorageHandle>) -> bool {
    handle.imported.load(Ordering::Relaxed) || *handle.marks.lock() != Marks::new()
}

pub(super) fn uses_same(a: &[Access], b: &[Access]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.storage == b.storage && is_same_part(a, b))
}

pub(super) fn is_same_part(a: &Access, b: &Access) -> bool {
    (a.elements, a.all) == (b.elements, b.all) && (a.mode, a.domain) == (b.mode, b.domain)
}
