//! Blocks of which a queue's batches have had one before, and of which the device has a graph. A
//! block with the same arguments is one operation at once; one with others, after they have been
//! exchanged in the graph.

use super::alike::{is_alike, is_same};
use super::chains::before_of;
use super::conflicts::{After, Edges, IdMap};
use super::replay::can_fail_with;
use super::shapes::digest_of;
use super::template::Template;
use super::values::Values;
use crate::engine::pages::storage::StorageId;
use crate::engine::plan::union::Union;
use crate::engine::runs::block::Block;
use crate::engine::runs::command::{Action, Command};
use crate::engine::runs::exchange::Exchange;
use crate::engine::runs::part::Apart;
use crate::engine::terms::access::Access;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// How many blocks a queue knows.
pub(super) const KNOWN: usize = 8;

/// A block that was not used for so many blocks makes room for another one.
const STALE: u64 = 8 * KNOWN as u64;

/// A block of which the device has a graph.
pub(super) struct Known {
    /// Without their buffers: what is known keeps none. Blocks of other scalars share them.
    templates: Arc<[Arc<Template>]>,
    /// The scalars of some of them, in the place of their own.
    values: Values,
    /// The commands with these scalars, once they are asked for.
    settled: OnceLock<Vec<Arc<Template>>>,
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
        let (values, settled, used) = (Values::default(), OnceLock::new(), AtomicU64::new(0));
        let edges = after.into();
        Known { templates, values, settled, edges, kernels, kind, block, made, used }
    }

    pub(super) fn len(&self) -> usize {
        self.templates.len()
    }

    /// The commands.
    fn templates(&self) -> &[Arc<Template>] {
        if self.values.is_empty() {
            return &self.templates;
        }
        let settled = |(at, template): (usize, &Arc<Template>)| match self.values.of(at as u32) {
            Some(words) => with_scalars(template, words),
            None => template.clone(),
        };
        self.settled.get_or_init(|| self.templates.iter().enumerate().map(settled).collect())
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = (&Arc<Template>, &Edges)> {
        self.templates().iter().zip(&*self.edges)
    }

    /// As [`nodes`](Self::nodes), but for the scalars.
    pub(super) fn kinds(&self) -> impl Iterator<Item = (&Arc<Template>, &Edges)> {
        self.templates.iter().zip(&*self.edges)
    }

    /// The command of a number.
    pub(super) fn command(&self, at: usize) -> Option<&Command> {
        let templates = match self.values.of(at as u32) {
            Some(_) => self.templates(),
            None => &self.templates,
        };
        Some(&templates.get(at)?.command)
    }

    /// As [`command`](Self::command), but for the scalars.
    pub(super) fn command_like(&self, at: usize) -> Option<&Arc<Template>> {
        self.templates.get(at)
    }

    /// Why the launch of a number cannot be of it with these scalars.
    pub(super) fn why_not(&self, at: u32, words: &[u64]) -> Option<Apart> {
        match &self.templates.get(at as usize)?.command.action {
            Action::Launch(Some(launch)) => can_fail_with(launch, words).map(|why| why.apart()),
            _ => None,
        }
    }

    /// The command of a number comes after these.
    pub(super) fn comes_after(&self, at: usize, edges: &Edges) -> bool {
        self.edges.get(at).is_some_and(|own| own == edges)
    }

    /// The launch of a number has these scalars.
    pub(super) fn has_scalars(&self, at: usize, words: &[u64]) -> bool {
        match (self.values.of(at as u32), self.templates.get(at).map(|of| &of.command.action)) {
            (Some(own), _) => own == words,
            (None, Some(Action::Launch(Some(launch)))) => launch.scalars[..] == *words,
            _ => false,
        }
    }

    /// It has these commands.
    pub(super) fn is_for(&self, commands: &[Command]) -> bool {
        let own = self.templates().iter().map(|template| &template.command);
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
        let mut own = self.kinds();
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
        let mut templates = self.templates().to_vec();
        for (at, new) in changed {
            if let Some(template) = templates.get_mut(at as usize) {
                *template = new;
            }
        }
        let (edges, used) = (edges.clone(), AtomicU64::new(self.used.load(Ordering::Relaxed)));
        let (templates, values, settled) = (templates.into(), Values::default(), OnceLock::new());
        let (kernels, kind, made) = (*kernels, *kind, *made);
        Known { templates, values, settled, edges, kernels, kind, block, made, used }
    }

    /// The block with other scalars of some launches.
    pub(super) fn with_values(&self, values: Values, block: Block) -> Known {
        let Known { templates, edges, kernels, kind, made, .. } = self;
        let (templates, edges) = (templates.clone(), edges.clone());
        let (values, settled) = (values.over(&self.values), OnceLock::new());
        let used = AtomicU64::new(self.used.load(Ordering::Relaxed));
        let (kernels, kind, made) = (*kernels, *kind, *made);
        Known { templates, values, settled, edges, kernels, kind, block, made, used }
    }

    /// A number for the memory and the values that it uses, with these in the place of some.
    pub(super) fn digest(&self, changed: &[Changed], values: &Values) -> u64 {
        let mut new = changed.iter().peekable();
        digest_of(self.templates.iter().enumerate().map(|(at, template)| {
            if let Some((_, new)) = new.next_if(|(of, _)| *of as usize == at) {
                return (&new.command, None);
            }
            (&template.command, values.of(at as u32).or_else(|| self.values.of(at as u32)))
        }))
    }

    /// All commands but for their scalars, with others in the places of some.
    fn commands<'k>(&'k self, changed: &'k [Changed]) -> impl Iterator<Item = &'k Arc<Template>> {
        with_changed(self.kinds(), changed).map(|(template, _)| template)
    }

    /// What is exchanged in the device's graph, for these commands. None if the commands of the
    /// block would come after others than before.
    pub(super) fn exchange<'c>(&self, changed: &'c [Changed]) -> Option<Exchange<'c>> {
        let new = changed.iter().map(|(at, template)| (*at as usize, &template.command, None));
        let new = new.collect();
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

    /// What is exchanged in the device's graph, for these scalars.
    pub(super) fn exchange_values<'c>(&'c self, values: &'c Values) -> Exchange<'c> {
        let new = values.iter().filter_map(|(at, words)| {
            Some((at as usize, &self.templates.get(at as usize)?.command, Some(words)))
        });
        Exchange { changed: new.collect(), accesses: None }
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

/// A command with other scalars. What is known can be done again.
pub(super) fn with_scalars(template: &Arc<Template>, words: &[u64]) -> Arc<Template> {
    let Some(mut command) = template.command.again() else { return template.clone() };
    if let Action::Launch(Some(launch)) = &mut command.action {
        launch.set_scalars(words);
    }
    Arc::new(Template::of_command(command))
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
