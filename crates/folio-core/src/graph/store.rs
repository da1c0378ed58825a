//! The store of a queue: from the structure of a block to lists.
//!
//! Blocks of one *class* have commands of the same kinds with the same edges: each can take the
//! place of another one. A class is known from its first block on, and has lists from its second
//! on: several, where a few blocks with other memory take turns. The classes, and the lists of a
//! class, that were not used for the longest make room for others.

use super::conflicts::{After, Edges};
use super::fuse::Planned;
use super::key::{Arguments, Key, Kind};
use super::pool::{Places, Temporaries};
use super::replay::before_of;
use super::template::Template;
use super::why::WhyNot;
use crate::engine::runs::command::Command;
use crate::engine::runs::list::List;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many classes a queue keeps.
pub(super) const CLASSES: usize = 16;

/// How many lists a class keeps: so many blocks with other memory may take turns.
pub(super) const LISTS: usize = 4;

/// A command of a class, and the earlier ones that it comes after.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) edges: Edges,
}

/// The structure of blocks.
pub(super) struct Class {
    pub(super) nodes: Vec<Node>,
    /// Kernels become one where they gain by it.
    pub(super) fuses: bool,
    /// By command: where its scalars begin, and where those of the last one end.
    begins: Vec<u32>,
    pub(super) kernels: usize,
    /// The number of the latest block.
    used: AtomicU64,
}

/// The commands of a block as they were described.
#[derive(Clone)]
pub(super) struct Description {
    /// Without their buffers: the store keeps none.
    pub(super) templates: Arc<[Arc<Template>]>,
    pub(super) arguments: Arc<[Arguments]>,
    /// Of all commands, one behind the other.
    pub(super) scalars: Vec<u64>,
}

/// A block as it runs.
#[derive(Clone)]
pub(super) struct Block {
    pub(super) described: Description,
    /// Its commands, if kernels of it may have become one, or it has temporaries: otherwise they
    /// run as described.
    pub(super) units: Option<Arc<Units>>,
}

/// The commands of a block after fusion.
pub(super) struct Units {
    pub(super) all: Vec<Unit>,
    pub(super) after: After,
    /// Of a whole block: its temporaries, and the memory of those that need some.
    pub(super) temporaries: (Temporaries, Places),
}

/// A command, and those that were described for it.
pub(super) struct Unit {
    pub(super) members: SmallVec<[usize; 4]>,
    pub(super) command: Arc<Command>,
    /// By which they became one.
    pub(super) plan: Option<Arc<Planned>>,
}

/// A list, and the block of which it is.
pub(super) struct StoredList {
    pub(super) block: Block,
    pub(super) list: Arc<List>,
    used: AtomicU64,
}

/// A class and its lists.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) class: Arc<Class>,
    pub(super) lists: SmallVec<[Arc<StoredList>; LISTS]>,
    /// The arguments that lists had before they were exchanged, the latest last.
    past: SmallVec<[Arc<[Arguments]>; LISTS]>,
    /// Why no such block is a list.
    pub(super) why_not: Option<WhyNot>,
}

/// All of a queue's.
#[derive(Default)]
pub(super) struct Store {
    pub(super) all: Arc<Vec<Arc<Entry>>>,
}

impl Class {
    pub(super) fn new(fuses: bool, keys: impl Iterator<Item = (Key, Edges)>) -> Class {
        let (mut nodes, mut begins) = (Vec::new(), vec![0]);
        let mut end = 0;
        for (Key { kind, scalars, .. }, edges) in keys {
            end += scalars.len() as u32;
            begins.push(end);
            nodes.push(Node { kind, edges });
        }
        let kernels = nodes.iter().filter(|node: &&Node| node.kind.is_launch()).count();
        Class { nodes, fuses, begins, kernels, used: AtomicU64::new(0) }
    }

    /// The number of the latest block that was of it.
    pub(super) fn latest(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// The scalars of a command, among those of all.
    pub(super) fn scalars<'s>(&self, at: usize, all: &'s [u64]) -> &'s [u64] {
        let begin = |at: usize| self.begins.get(at).map_or(0, |begin| *begin as usize);
        all.get(begin(at)..begin(at + 1)).unwrap_or_default()
    }
}

impl PartialEq for Class {
    fn eq(&self, other: &Class) -> bool {
        (self.fuses, &self.nodes) == (other.fuses, &other.nodes)
    }
}

impl Block {
    /// The commands that run.
    pub(super) fn commands(&self) -> Vec<&Command> {
        let described = || self.described.templates.iter().map(|template| &template.command);
        match &self.units {
            Some(units) => units.all.iter().map(|unit| &*unit.command).collect(),
            None => described().collect(),
        }
    }

    /// By command that runs: the earlier ones that it comes after.
    pub(super) fn after(&self, class: &Class) -> Vec<Vec<usize>> {
        let commands = self.commands();
        let accesses = commands.iter().map(|command| &command.accesses[..]);
        let before = match &self.units {
            Some(units) => before_of(&units.after, accesses),
            None => before_of(class.nodes.iter().map(|node| &node.edges), accesses),
        };
        let earlier = before.iter().map(|edges| edges.iter().map(|(from, _)| *from as usize));
        earlier.map(Iterator::collect).collect()
    }

    /// Its temporaries, and the memory of those that need some.
    pub(super) fn temporaries(&self) -> Option<&(Temporaries, Places)> {
        Some(&self.units.as_ref()?.temporaries)
    }

    /// How many kernels of the commands are launches of others by now.
    pub(super) fn joined(&self) -> usize {
        let left = self.units.as_ref().map(|units| units.all.len());
        left.map_or(0, |left| self.described.templates.len() - left)
    }
}

impl StoredList {
    pub(super) fn new(block: Block, list: List) -> StoredList {
        StoredList { block, list: Arc::new(list), used: AtomicU64::new(0) }
    }
}

impl Entry {
    fn new(class: Class) -> Entry {
        let (lists, past) = (SmallVec::new(), SmallVec::new());
        Entry { class: Arc::new(class), lists, past, why_not: None }
    }

    /// A list had these arguments before. A block that comes back is worth a list of its own.
    pub(super) fn comes_back(&self, arguments: &[Arguments]) -> bool {
        self.past.iter().any(|past| **past == *arguments)
    }

    /// The block of this number is of the class, and was run by the list.
    pub(super) fn note_used(&self, list: &StoredList, block: u64) {
        self.class.used.store(block, Ordering::Relaxed);
        list.used.store(block, Ordering::Relaxed);
    }

    /// The lists, those first that were not used for the longest.
    pub(super) fn oldest_first(&self) -> SmallVec<[usize; LISTS]> {
        let mut all: SmallVec<[usize; LISTS]> = (0..self.lists.len()).collect();
        all.sort_by_key(|at| self.lists[*at].used.load(Ordering::Relaxed));
        all
    }
}

impl Store {
    fn entry(&mut self, class: &Arc<Class>) -> Option<&mut Entry> {
        let all = Arc::make_mut(&mut self.all);
        all.iter_mut().find(|entry| Arc::ptr_eq(&entry.class, class)).map(Arc::make_mut)
    }

    /// A class, and its lists.
    pub(super) fn find(&self, class: &Class) -> Option<&Arc<Entry>> {
        self.all.iter().find(|entry| *entry.class == *class)
    }

    /// Keeps the class of a block of this number, if it is new. Returns what makes room for it, to
    /// be dropped without a lock.
    pub(super) fn note(&mut self, class: Class, block: u64) -> Option<Arc<Entry>> {
        if let Some(known) = self.find(&class) {
            known.class.used.store(block, Ordering::Relaxed);
            return None;
        }
        class.used.store(block, Ordering::Relaxed);
        let all = Arc::make_mut(&mut self.all);
        let used = |at: &usize| all[*at].class.used.load(Ordering::Relaxed);
        let oldest = (0..all.len()).filter(|_| all.len() >= CLASSES).min_by_key(used);
        let old = oldest.map(|at| all.swap_remove(at));
        all.push(Arc::new(Entry::new(class)));
        old
    }

    /// No block of a class is a list.
    pub(super) fn refuse(&mut self, class: &Arc<Class>, why: WhyNot) {
        if let Some(entry) = self.entry(class) {
            entry.why_not = Some(why);
        }
    }

    /// Keeps a list, in the place of another one if that is there, or of none or the oldest.
    /// Returns what it was, to be dropped without a lock.
    pub(super) fn keep(
        &mut self,
        class: &Arc<Class>,
        (new, old): (&Arc<StoredList>, Option<&Arc<StoredList>>),
    ) -> Option<Arc<StoredList>> {
        let entry = self.entry(class)?;
        let same =
            |old: &Arc<StoredList>| entry.lists.iter().position(|list| Arc::ptr_eq(list, old));
        let full = || entry.oldest_first().first().copied().filter(|_| entry.lists.len() >= LISTS);
        match old.and_then(same).or_else(full) {
            Some(at) => {
                let old = std::mem::replace(&mut entry.lists[at], new.clone());
                let [past, now] = [&old, new].map(|of| &of.block.described.arguments);
                if !Arc::ptr_eq(past, now) && past != now && !entry.comes_back(past) {
                    if entry.past.len() == LISTS {
                        entry.past.remove(0);
                    }
                    entry.past.push(past.clone());
                }
                Some(old)
            }
            None => {
                entry.lists.push(new.clone());
                None
            }
        }
    }

    /// The entry of a list, and where it is there.
    fn place_of(&self, list: &Arc<StoredList>) -> Option<(usize, usize)> {
        let is_it = |other: &Arc<StoredList>| Arc::ptr_eq(other, list);
        let place = |entry: &Arc<Entry>| entry.lists.iter().position(is_it);
        self.all.iter().enumerate().find_map(|(at, entry)| Some((at, place(entry)?)))
    }

    /// The block of this number was run by the list, or a piece of it was.
    pub(super) fn note_used(&self, list: &Arc<StoredList>, block: u64) {
        if let Some((at, _)) = self.place_of(list) {
            self.all[at].note_used(list, block);
        }
    }

    /// Gives up a list that is of no use any more.
    pub(super) fn give_up(&mut self, list: &Arc<StoredList>) {
        if let Some((at, nth)) = self.place_of(list) {
            Arc::make_mut(&mut Arc::make_mut(&mut self.all)[at]).lists.remove(nth);
        }
    }
}
