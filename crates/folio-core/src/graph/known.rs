//! Blocks that a queue's batches have had before, with the same arguments. While a block is
//! recorded, its commands are compared with those of such a block. As long as they are the same, no
//! graph is built of them; if they all are, the block is one operation of the device.

use super::State;
use super::conflicts::After;
use super::state::What;
use super::template::Template;
use crate::buffer::{Part, StorageHandle};
use crate::call::Passed;
use crate::engine::block::Block;
use crate::engine::command::{Action, Command, End, Place};
use crate::engine::launch::Launch;
use crate::error::Label;
use crate::hal::{Geometry, Param};
use crate::planted::{Plant, Planted};
use crate::queue::Queue;
use crate::runtime::Core;
use folio_device::Code;
use folio_kernel::ParamKind;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::Ordering;

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
    plant: Plant,
    /// The buffers of these.
    pub(super) leases: Vec<Arc<StorageHandle>>,
}

impl Trail {
    /// One at the beginning of the first of these, if there are some.
    pub(super) fn new(
        all: &Arc<Vec<Arc<Known>>>,
        leases: Vec<Arc<StorageHandle>>,
        plant: Plant,
    ) -> Option<Trail> {
        (!all.is_empty()).then(|| Trail { all: all.clone(), one: 0, at: 0, plant, leases })
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

    /// Whether the next command, which is like those that `is_same` says, is that of a known block.
    fn goes_on(&mut self, edges: &Edges, is_same: impl Fn(&Command) -> bool) -> bool {
        let Trail { all, one, at, .. } = self;
        let fits = |known: &Known| {
            let node = known.nodes.get(*at);
            node.is_some_and(|node| node.edges == *edges && is_same(&node.template.command))
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

/// A call of a kernel function, as it was made.
#[derive(Clone, Copy)]
pub(crate) struct Called<'c> {
    pub(crate) name: &'static &'static str,
    pub(crate) code: &'static Code,
    pub(crate) geometry: Geometry,
    pub(crate) scalars: &'c [u64],
}

impl State {
    /// The number of a queue's next command, if it goes on along the trail.
    fn next_on_trail(&mut self, queue: &Queue, is_same: impl Fn(&Command) -> bool) -> Option<u32> {
        let trail = self.trail.as_mut()?;
        let Queue { inner, .. } = queue;
        let joined = self.queues.iter_mut().find(|joined| joined.id == inner.id)?;
        let mut edges: Edges = joined.before().collect();
        edges.dedup();
        if !trail.goes_on(&edges, is_same) {
            return None;
        }
        let at = trail.at as u32 - 1;
        joined.note(at, inner.in_order);
        Some(at)
    }

    /// The number of a queue's next command, if it goes on along the trail. It is taken then.
    pub(super) fn follow(&mut self, queue: &Queue, command: &mut Command) -> Option<u32> {
        let at = self.next_on_trail(queue, |known| is_same(known, command))?;
        if let Action::Launch(launch) = &mut command.action
            && let Some(launch) = launch.take()
        {
            launch.recycle();
        }
        Some(at)
    }

    /// The same of a kernel call that has not been made into a command: what is equal beforehand
    /// becomes equal commands.
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
        self.next_on_trail(queue, |known| makes(known, device, (called, any), given))
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

/// An argument of which a command depends only on what [`makes`] compares.
fn is_plain(passed: &Passed, core: &Core) -> bool {
    let Part { view, marks, .. } = &passed.part;
    let storage = &*view.storage;
    marks.is_none()
        && storage.core.same(core)
        && storage.home().is_none()
        && !storage.imported.load(Ordering::Relaxed)
        && storage.managed.get().is_none()
}

/// The call becomes this command.
fn makes(
    command: &Command,
    device: u16,
    (called, any_values): (Called<'_>, bool),
    given: &[Passed],
) -> bool {
    let Action::Launch(Some(launch)) = &command.action else { return false };
    let Called { name, code, geometry, scalars } = called;
    let Some(function) = &launch.function else { return false };
    let argument = |nth: usize, passed: &Passed| {
        let Passed { param: number, part: Part { view, part, .. }, mode } = passed;
        let (Some(access), Some(param)) = (command.accesses.get(nth), launch.params.get(nth))
        else {
            return false;
        };
        let extent = match code.ir.params.get(*number).map(|param| &param.kind) {
            // Of these only the first element counts.
            Some(ParamKind::Reduce { .. }) => [1; 3],
            _ => part.extent(),
        };
        let begins = |dim: usize| part.min[dim] == param.origin[dim].wrapping_sub(param.index[dim]);
        access.storage == view.storage.id
            && access.mode == *mode
            && param.shape == extent
            && param.dims == view.dims
            && param.size as usize == view.element_bytes
            && begins(0)
            && begins(1)
            && begins(2)
            && !part.is_empty()
    };
    std::ptr::eq(function.code, code)
        && (command.device, command.timed) == (Some(device), false)
        && command.label == Label::of(name)
        && launch.geometry == geometry
        && (launch.scalars[..] == *scalars || any_values)
        && launch.params.len() == given.len()
        && command.accesses.len() == given.len()
        && given.iter().enumerate().all(|(nth, passed)| argument(nth, passed))
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
