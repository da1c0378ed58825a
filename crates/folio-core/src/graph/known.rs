//! Blocks that a queue's batches have had before, with the same arguments. While a block is
//! recorded, its commands are compared with those of such a block. As long as they are the same, no
//! graph is built of them; if they all are, the block is one operation of the device.

use super::State;
use super::conflicts::After;
use super::record::Joined;
use super::state::What;
use super::template::Template;
use crate::buffer::StorageHandle;
use crate::engine::block::Block;
use crate::engine::command::{Action, Command, End, Place};
use crate::engine::launch::Launch;
use crate::hal::Param;
use smallvec::SmallVec;
use std::sync::Arc;

/// A block that is one operation.
pub(super) struct Known {
    nodes: Vec<KnownNode>,
    pub(super) kernels: usize,
    pub(super) block: Block,
}

struct KnownNode {
    /// Without its buffers: what is known keeps none.
    template: Arc<Template>,
    edges: Edges,
}

type Edges = SmallVec<[(u32, bool); 2]>;

impl Known {
    pub(super) fn new(commands: Vec<Command>, after: After, block: Block) -> Known {
        let is_launch = |command: &&Command| matches!(command.action, Action::Launch(_));
        let kernels = commands.iter().filter(is_launch).count();
        let nodes = commands.into_iter().zip(after).map(|(command, edges)| KnownNode {
            template: Arc::new(Template::of_command(command)),
            edges,
        });
        Known { nodes: nodes.collect(), kernels, block }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Its first commands are those of the other.
    fn begins_as(&self, other: &Known, count: usize) -> bool {
        let mut pairs = self.nodes.iter().zip(&other.nodes).take(count);
        let same = |a: &KnownNode, b: &KnownNode| {
            a.edges == b.edges && is_same(&a.template.command, &b.template.command)
        };
        self.len().min(other.len()) >= count && pairs.all(|(a, b)| same(a, b))
    }
}

/// How far a block that is being recorded is one that is known.
pub(super) struct Trail {
    all: Arc<Vec<Arc<Known>>>,
    /// Which of them.
    one: usize,
    /// So many of its commands have been recorded.
    at: usize,
    /// The buffers of these.
    pub(super) leases: Vec<Arc<StorageHandle>>,
}

impl Trail {
    /// One at the beginning of the first of these, if there are some.
    pub(super) fn new(
        all: &Arc<Vec<Arc<Known>>>,
        leases: Vec<Arc<StorageHandle>>,
    ) -> Option<Trail> {
        (!all.is_empty()).then(|| Trail { all: all.clone(), one: 0, at: 0, leases })
    }

    fn known(&self) -> Option<&Arc<Known>> {
        self.all.get(self.one)
    }

    /// The commands so far.
    pub(super) fn templates(&self) -> impl DoubleEndedIterator<Item = &Arc<Template>> {
        let nodes = self.known().and_then(|known| known.nodes.get(..self.at)).unwrap_or(&[]);
        nodes.iter().map(|node| &node.template)
    }

    pub(super) fn len(&self) -> usize {
        self.at
    }

    /// The block, if all of it has been recorded.
    pub(super) fn whole(&self) -> Option<&Arc<Known>> {
        self.known().filter(|known| known.nodes.len() == self.at)
    }

    /// Whether the next command is that of a known block.
    fn goes_on(&mut self, command: &Command, edges: &Edges) -> bool {
        let Trail { all, one, at, .. } = self;
        let fits = |known: &Known| {
            let node = known.nodes.get(*at);
            node.is_some_and(|node| {
                node.edges == *edges && is_same(&node.template.command, command)
            })
        };
        let Some(known) = all.get(*one) else { return false };
        if !fits(known) {
            let begins = |other: &Known| fits(other) && other.begins_as(known, *at);
            match all.iter().position(|other| begins(other)) {
                Some(other) => *one = other,
                None => return false,
            }
        }
        *at += 1;
        true
    }
}

impl State {
    /// The number of a queue's next command, if it goes on along the trail. Its buffers are taken.
    pub(super) fn follow(
        &mut self,
        (queue, in_order): (u32, bool),
        template: &mut Template,
    ) -> Option<u32> {
        let trail = self.trail.as_mut()?;
        let joined = self.queues.iter_mut().find(|joined| joined.id == queue)?;
        let mut edges: Edges = joined.before().collect();
        edges.dedup();
        if !template.marks.is_empty() || !trail.goes_on(&template.command, &edges) {
            return None;
        }
        trail.leases.extend(template.leases.0.drain(..));
        if let Action::Launch(launch) = &mut template.command.action
            && let Some(launch) = launch.take()
        {
            launch.recycle();
        }
        let at = trail.at as u32 - 1;
        Joined::note(joined, at, in_order);
        Some(at)
    }

    /// Makes nodes of the commands along the trail: it goes elsewhere from here on.
    pub(super) fn leave_trail(&mut self) {
        let Some(trail) = self.trail.take() else { return };
        let nodes = trail.known().and_then(|known| known.nodes.get(..trail.at));
        for KnownNode { template, edges } in nodes.unwrap_or(&[]) {
            self.push(What::One(template.clone(), None), edges, true);
        }
        self.leases = trail.leases;
    }
}

/// Both do the same with the same memory.
fn is_same(a: &Command, b: &Command) -> bool {
    let accesses = || {
        let pairs = a.accesses.iter().zip(&b.accesses);
        pairs.into_iter().all(|(a, b)| {
            (a.storage, a.mode, a.domain) == (b.storage, b.mode, b.domain)
                && (a.elements, a.pages) == (b.elements, b.pages)
        })
    };
    (a.device, a.timed, a.accesses.len()) == (b.device, b.timed, b.accesses.len())
        && a.after.is_empty()
        && b.after.is_empty()
        && a.label == b.label
        && accesses()
        && do_same(&a.action, &b.action)
}

fn do_same(a: &Action, b: &Action) -> bool {
    match (a, b) {
        (Action::Launch(Some(a)), Action::Launch(Some(b))) => launch_same(a, b),
        (Action::Fill { to: a, pattern }, Action::Fill { to: b, pattern: other }) => {
            pattern == other && is_same_place(a, b)
        }
        (Action::Copy { from: a, to: b }, Action::Copy { from: c, to: d }) => {
            is_same_place(a, c) && is_same_place(b, d)
        }
        _ => false,
    }
}

/// Only kernel functions are compared: of nothing else is it known what it does.
fn launch_same(a: &Launch, b: &Launch) -> bool {
    let (Some(f), Some(g)) = (&a.function, &b.function) else { return false };
    let plain = |launch: &Launch| {
        launch.opaque.is_none() && launch.fused.is_none() && launch.foreign.is_none()
    };
    let param = |a: &Param, b: &Param| {
        (a.size, a.write, a.dims, a.origin) == (b.size, b.write, b.dims, b.origin)
            && (a.extent, a.index, a.shape) == (b.extent, b.index, b.shape)
    };
    std::ptr::eq(f.code, g.code)
        && plain(a)
        && plain(b)
        && a.geometry == b.geometry
        && a.scalars == b.scalars
        && a.loaded == b.loaded
        && a.tokens.len() == b.tokens.len()
        && a.tokens.iter().zip(&b.tokens).all(|(a, b)| a.at == b.at)
        && a.params.len() == b.params.len()
        && a.params.iter().zip(&b.params).all(|(a, b)| param(a, b))
}

fn is_same_place(a: &Place, b: &Place) -> bool {
    let end = match (&a.end, &b.end) {
        (End::Access(a), End::Access(b)) => a == b,
        _ => false,
    };
    end && (a.offset, a.pitch, a.extent) == (b.offset, b.pitch, b.extent)
}
