//! Blocks of which a queue's batches have had one before, and of which the device has a graph. A
//! block with the same arguments is one operation at once; one with others, after they have been
//! exchanged in the graph.

use super::alike::{is_alike, is_same};
use super::chains::before_of;
use super::conflicts::{After, Edges, IdMap};
use super::template::Template;
use crate::engine::access::Access;
use crate::engine::block::Block;
use crate::engine::command::{Action, Command};
use crate::engine::exchange::Exchange;
use crate::engine::storage::StorageId;
use crate::engine::union::Union;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many blocks a queue knows.
pub(super) const KNOWN: usize = 8;

/// A block that was not used for so many blocks makes room for another one.
const STALE: u64 = 8 * KNOWN as u64;

/// A block of which the device has a graph.
pub(super) struct Known {
    /// Without their buffers: what is known keeps none.
    templates: Vec<Arc<Template>>,
    edges: Arc<[Edges]>,
    pub(super) kernels: usize,
    /// Which [kind](super::shapes::Kind) of block it is.
    pub(super) kind: u64,
    pub(super) block: Block,
    /// The numbers of the block for which the graph was made, and of the latest that was one
    /// operation by it: 0 if none was.
    made: u64,
    used: AtomicU64,
}

/// A command that takes the place of the one of this number.
pub(super) type Changed = (u32, Arc<Template>);

impl Known {
    /// The `made`th block of a queue.
    pub(super) fn new(
        commands: Vec<Command>,
        after: After,
        block: Block,
        (kind, made): (u64, u64),
    ) -> Known {
        let is_launch = |command: &&Command| matches!(command.action, Action::Launch(_));
        let kernels = commands.iter().filter(is_launch).count();
        let templates = commands.into_iter().map(Template::of_command).map(Arc::new).collect();
        let used = AtomicU64::new(0);
        Known { templates, edges: after.into(), kernels, kind, block, made, used }
    }

    pub(super) fn len(&self) -> usize {
        self.templates.len()
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = (&Arc<Template>, &Edges)> {
        self.templates.iter().zip(&*self.edges)
    }

    /// The command of a number, and its edges.
    pub(super) fn node(&self, at: usize) -> Option<(&Command, &Edges)> {
        Some((&self.templates.get(at)?.command, self.edges.get(at)?))
    }

    /// It has these commands.
    pub(super) fn is_for(&self, commands: &[Command]) -> bool {
        let own = self.templates.iter().map(|template| &template.command);
        self.len() == commands.len() && own.zip(commands).all(|(own, other)| is_same(own, other))
    }

    /// Its first commands are those of the other.
    pub(super) fn begins_as(&self, other: &Known, count: usize) -> bool {
        let mut pairs = self.nodes().zip(other.nodes()).take(count);
        self.len().min(other.len()) >= count
            && pairs
                .all(|((a, before), (b, after))| before == after && is_same(&a.command, &b.command))
    }

    /// Its first commands are of the kinds of these, with the same edges.
    pub(super) fn begins_like<'t>(
        &self,
        mut others: impl Iterator<Item = (&'t Arc<Template>, &'t Edges)>,
    ) -> bool {
        let mut own = self.nodes();
        others.all(|(other, edges)| {
            let node = own.next();
            node.is_some_and(|(own, before)| {
                before == edges && is_alike(&own.command, &other.command)
            })
        })
    }

    /// What was one operation by it latest is the block of this number.
    pub(super) fn note_used(&self, number: u64) {
        self.used.store(number, Ordering::Relaxed);
    }

    /// A block was one operation by it.
    pub(super) fn was_used(&self) -> bool {
        self.used.load(Ordering::Relaxed) > 0
    }

    /// The number of the latest block that it was made or used for.
    pub(super) fn latest(&self) -> u64 {
        self.used.load(Ordering::Relaxed).max(self.made)
    }

    /// It makes room for another one at the block of this number.
    pub(super) fn is_stale(&self, number: u64) -> bool {
        self.latest() + STALE <= number
    }

    /// The block with other commands in the places of some.
    pub(super) fn with(&self, changed: Vec<Changed>, block: Block) -> Known {
        let Known { edges, kernels, kind, made, .. } = self;
        let mut templates = self.templates.clone();
        for (at, new) in changed {
            if let Some(template) = templates.get_mut(at as usize) {
                *template = new;
            }
        }
        let (edges, used) = (edges.clone(), AtomicU64::new(self.used.load(Ordering::Relaxed)));
        Known { templates, edges, kernels: *kernels, kind: *kind, block, made: *made, used }
    }

    /// All commands, with others in the places of some.
    pub(super) fn commands<'k>(
        &'k self,
        changed: &'k [Changed],
    ) -> impl Iterator<Item = &'k Arc<Template>> {
        with_changed(self.nodes(), changed).map(|(template, _)| template)
    }

    /// What is exchanged in the device's graph, for these commands. None if the commands of the
    /// block would come after others than before.
    pub(super) fn exchange<'c>(&self, changed: &'c [Changed]) -> Option<Exchange<'c>> {
        let new = changed.iter().map(|(at, template)| (*at as usize, &template.command)).collect();
        let uses = |(at, new): &Changed| {
            let old = self.templates.get(*at as usize).map(|old| &old.command.accesses[..]);
            old.is_some_and(|old| uses_same(old, &new.command.accesses))
        };
        let accesses = match changed.iter().all(uses) {
            true => None,
            false => Some(self.renamed(changed).or_else(|| self.ordered(changed))?),
        };
        Some(Exchange { changed: new, accesses })
    }

    /// What all commands use together, if they are those of the block over other storages: one in
    /// the place of each. Then they come after the same ones.
    fn renamed(&self, changed: &[Changed]) -> Option<Vec<Access>> {
        let [mut new, mut old]: [IdMap<StorageId>; 2] = Default::default();
        let mut is_for = |one: StorageId, other: StorageId| {
            *new.entry(one).or_insert(other) == other && *old.entry(other).or_insert(one) == one
        };
        for (before, now) in self.templates.iter().zip(self.commands(changed)) {
            let (before, now) = (&before.command.accesses, &now.command.accesses);
            let mut pairs = before.iter().zip(now);
            if !pairs.all(|(a, b)| is_same_part(a, b) && is_for(a.storage, b.storage)) {
                return None;
            }
        }
        let rename =
            |access: &Access| Some(Access { storage: *new.get(&access.storage)?, ..*access });
        self.block.uses().iter().map(rename).collect()
    }

    /// What all commands use together, if they come after the same ones as before.
    fn ordered(&self, changed: &[Changed]) -> Option<Vec<Access>> {
        let all = || self.commands(changed).map(|template| &template.command.accesses[..]);
        let before = before_of(&self.edges, all());
        let mut pairs = before.iter().zip(self.block.after());
        if !pairs
            .all(|(now, old)| now.iter().map(|(from, _)| *from as usize).eq(old.iter().copied()))
        {
            return None;
        }
        let mut union = Union::default();
        all().flatten().for_each(|access| union.add(access, true));
        Some(union.into_accesses())
    }
}

/// Nodes, with others in the places of some.
pub(super) fn with_changed<'k>(
    nodes: impl Iterator<Item = (&'k Arc<Template>, &'k Edges)>,
    changed: &'k [Changed],
) -> impl Iterator<Item = (&'k Arc<Template>, &'k Edges)> {
    let mut changed = changed.iter().peekable();
    nodes.enumerate().map(move |(at, (template, edges))| {
        let new = changed.next_if(|(of, _)| *of as usize == at);
        (new.map_or(template, |(_, new)| new), edges)
    })
}

fn uses_same(a: &[Access], b: &[Access]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.storage == b.storage && is_same_part(a, b))
}

fn is_same_part(a: &Access, b: &Access) -> bool {
    (a.elements, a.pages, a.all) == (b.elements, b.pages, b.all)
        && (a.mode, a.domain) == (b.mode, b.domain)
}
