//! A kernel within others of other ranges or with groups, by what passes between them.
//!
//! - A *producer* gives one element of a temporary for each of its items. The readers of the
//!   temporary compute the element where they load it: each element about once in each of them. The
//!   cost model weighs what is read and computed again.
//! - A *consumer* takes one element of a temporary for each of its items. The kernel that writes
//!   the temporary, all of it, computes the consumer's item where it stores the element.
//!
//! Either way the item is the index of the access, and the temporary and a launch are gone.

use super::cost::{Balance, Costs, Load};
use super::edit::{accessed, place};
use super::guest::Guest;
use super::input::{Argument, Facts, Graph, Inlining, MemoryId, Mode, Users};
use super::intern::{Fate, Outcome};
use super::join::JoinedKernel;
use super::made::Made;
use super::pair::View;
use super::plan::{FusedKernel, PlanNode};
use super::pressure::registers;
use super::touch::{Affine, PreparedCall, Touch};
use crate::flow::Use;
use crate::ir::{Access, Kernel, Let, Owner, Param, ParamId, ParamKind, Stmt, walk};
use crate::op::{Op, Query};
use std::sync::Arc;

/// Steps from one kernel to the other, at most: so a step costs the same in a graph of any
/// size.
const REACH: usize = 64;

/// Computes producers where their elements are loaded, and consumers where theirs are stored.
pub(crate) fn inline<'g>(
    (graph, users): (&Graph, &Users),
    steps: Vec<Made<'g>>,
    facts: &Facts,
    mode: Mode,
) -> Vec<Made<'g>> {
    let mut step_of = vec![0; graph.nodes.len()];
    for (at, step) in steps.iter().enumerate() {
        step.nodes().iter().for_each(|node| step_of[*node] = at);
    }
    let mut steps: Vec<Option<Made<'g>>> = steps.into_iter().map(Some).collect();
    for at in 0..steps.len() {
        let search = Search { graph, users, steps: &steps, step_of: &step_of, facts, mode };
        let hosts = search.readers(at).or_else(|| search.writer(at));
        let Some(hosts) = hosts else { continue };
        for (host, made) in hosts {
            steps[host] = Some(made);
        }
        steps[at] = None;
    }
    steps.into_iter().flatten().collect()
}

struct Search<'s, 'g> {
    graph: &'s Graph,
    users: &'s Users,
    /// Without those that are computed elsewhere.
    steps: &'s [Option<Made<'g>>],
    /// By node.
    step_of: &'s [usize],
    facts: &'s Facts,
    mode: Mode,
}

impl<'s, 'g> Search<'s, 'g> {
    /// The readers of a step's temporary, with that computed in them. None where the step stays.
    fn readers(&self, at: usize) -> Option<Vec<(usize, Made<'g>)>> {
        let producer = self.producer(at)?;
        let readers: Vec<usize> = self.readers_of(&producer, at)?;
        let (first, last) = (*readers.first()?, *readers.last()?);
        self.is_free(&producer, (at, first, last))?;
        let mut step = Balance::default();
        let mut all = vec![];
        for reader in readers {
            let (made, more) = self.computed_in(&producer, reader, reader == first)?;
            step.gained_ns = step.gained_ns.saturating_add(more.gained_ns);
            step.lost_ns = step.lost_ns.saturating_add(more.lost_ns);
            step.unfused_ns = step.unfused_ns.saturating_add(more.unfused_ns);
            all.push((reader, made));
        }
        (self.mode == Mode::Require || step.is_gain()).then_some(all)
    }

    fn producer(&self, at: usize) -> Option<Guest<'s, 'g>> {
        let made = self.guest(at)?;
        let view = only(made.kernel()?, Access::Out)?;
        Some(Guest { is_first: true, ..self.sharing(made, view)? })
    }

    /// A kernel of items that cannot fail, and that writes nothing but each item's own elements.
    fn guest(&self, at: usize) -> Option<&'s Made<'g>> {
        let made = self.steps[at].as_ref()?;
        let kernel = made.kernel()?;
        let cannot_fail = made.calls.iter().all(|call| call.call.infallible);
        let is_one = !kernel.shape.groups && cannot_fail && writes_its_own_alone(kernel);
        is_one.then_some(made)
    }

    /// The kernel with its view of a temporary that has an element for each of its items.
    fn sharing(&self, made: &'s Made<'g>, view: ParamId) -> Option<Guest<'s, 'g>> {
        let kernel = made.kernel()?;
        let region = *made.region(view)?;
        let geometry = made.geometry;
        let is_whole = (geometry.offset, geometry.range) == ([0; 3], region.extent);
        let (_, rank) = kernel.elements(view)?;
        let memory = self.graph.memories.get(region.memory.index())?;
        let is_one = is_whole && rank == kernel.shape.rank;
        let is_unseen = memory.temporary && memory.elsewhere.is_none();
        let guest = Guest { made, memory: region.memory, view, region, is_first: false };
        (is_one && is_unseen).then_some(guest)
    }

    /// The steps that use the memory: all of them only load it, in bounds, by the same view.
    fn readers_of(&self, of: &Guest<'_, '_>, at: usize) -> Option<Vec<usize>> {
        let mut readers = vec![];
        for node in self.users.of_memory(of.memory) {
            let step = self.step_of[*node];
            if step != at && !readers.contains(&step) {
                readers.push(step);
            }
        }
        readers.sort_unstable();
        let after = readers.iter().all(|reader| *reader > at && *reader - at <= REACH);
        let only_loads =
            |reader: &usize| self.steps[*reader].as_ref().is_some_and(|step| only_loads(of, step));
        let only_load = readers.iter().all(only_loads);
        (after && only_load).then_some(readers)
    }

    /// Nothing from the producer to its last reader changes what it reads, and what comes after it
    /// by an edge may come after its first reader.
    fn is_free(&self, of: &Guest<'_, '_>, (at, first, last): (usize, usize, usize)) -> Option<()> {
        let reads = || View::all_of(&of.made.calls).filter(|view| view.region.memory != of.memory);
        let changes = |step: &Made<'_>| self.changes(step, &reads);
        let follows = |step: &Made<'_>| {
            let mut before = step.nodes().iter().flat_map(|node| &self.graph.nodes[*node].after);
            before.any(|before| of.made.nodes().contains(before))
        };
        let mut until_last = self.steps[at + 1..=last].iter().flatten();
        let mut until_first = self.steps[at + 1..first].iter().flatten();
        (!until_last.any(changes) && !until_first.any(follows)).then_some(())
    }

    /// A reader with the producer in it, and what that gains and loses.
    fn computed_in(
        &self,
        of: &Guest<'s, 'g>,
        reader: usize,
        is_first: bool,
    ) -> Option<(Made<'g>, Balance)> {
        let made = self.steps[reader].as_ref()?;
        let loads = evaluations(&made.calls, of)?;
        let load = if is_first { of.made.load } else { Load::default() };
        self.with(of, made, (Price::of_reader(of, made, loads), load))
    }

    /// A kernel with a guest in it, and what that gains and loses.
    fn with(
        &self,
        of: &Guest<'s, 'g>,
        made: &Made<'g>,
        (price, guest): (Price, Load),
    ) -> Option<(Made<'g>, Balance)> {
        let JoinedKernel { kernel, parameters } = made.with(of)?;
        self.has_room(&kernel)?;
        let registers = registers(&kernel);
        let (load, balance) = price.weigh(&self.facts.costs, (&made.load, &guest), registers);
        let fate = Fate::Register;
        let bytes_saved = price.saved(&guest);
        let outcome = Outcome { memory: of.memory, fate, home: None, kept: None, bytes_saved };
        let mut outcomes: Vec<Outcome> = made.outcomes().to_vec();
        let is_counted = guest.items > 0;
        let of_guest = of.made.outcomes().iter().cloned();
        outcomes.extend(of_guest.map(|of| match is_counted {
            true => of,
            false => Outcome { bytes_saved: 0, ..of },
        }));
        outcomes.push(outcome);
        let mut parts = [made, of.made];
        parts.rotate_left(usize::from(of.is_first));
        let nodes = parts.iter().flat_map(|part| part.nodes()).copied().collect();
        let calls = parts.iter().flat_map(|part| &part.calls).cloned().collect();
        let fused = FusedKernel {
            nodes,
            inlined: made.inlined().iter().chain(of.made.nodes()).copied().collect(),
            kernel: Arc::new(kernel),
            geometry: made.geometry,
            parameters,
            outcomes,
            baked: made.baked() + of.made.baked(),
            balance,
        };
        let step = PlanNode::Fused(Box::new(fused));
        Some((Made { step, calls, geometry: made.geometry, load }, balance))
    }

    /// The device takes a kernel as long as this, and as many memories.
    fn has_room(&self, kernel: &Kernel) -> Option<()> {
        let mut statements = 0;
        walk(&kernel.body, &mut |_| statements += 1);
        let memory = |param: &&Param| {
            matches!(param.kind, ParamKind::View { .. } | ParamKind::Reduce { .. })
        };
        let memories = kernel.params.iter().filter(memory).count();
        (statements <= self.facts.statements && memories <= self.facts.views).then_some(())
    }

    /// The kernel that writes what a step takes, with that computed in it. None where the step
    /// stays.
    fn writer(&self, at: usize) -> Option<Vec<(usize, Made<'g>)>> {
        let made = self.guest(at).filter(|_| self.facts.inlines == Inlining::All)?;
        let params = made.kernel()?.params.len() as u32;
        (0..params).find_map(|view| {
            let guest = self.sharing(made, ParamId(view))?;
            let writer = self.writer_of(&guest, at)?;
            let host = self.steps[writer].as_ref()?;
            let price = Price::of_writer(&guest);
            let (made, balance) = self.with(&guest, host, (price, guest.made.load))?;
            let is_wanted = self.mode == Mode::Require || balance.is_gain();
            is_wanted.then(|| vec![(writer, made)])
        })
    }

    /// The one step that uses a guest's temporary beside it: it stores each element, and loads
    /// none.
    fn writer_of(&self, of: &Guest<'_, '_>, at: usize) -> Option<usize> {
        let users = self.users.of_memory(of.memory).iter().map(|node| self.step_of[*node]);
        let mut others: Vec<usize> = users.filter(|step| *step != at).collect();
        others.dedup();
        let [writer] = others[..] else { return None };
        let host = self.steps[writer].as_ref().filter(|_| writer < at && at - writer <= REACH)?;
        (takes_its_own(of) && stores_all(of, host)).then_some(())?;
        self.may_come_before(of, (writer, at)).then_some(writer)
    }

    /// A step computes the same right where its elements are stored as at its own place.
    fn may_come_before(&self, of: &Guest<'_, '_>, (writer, at): (usize, usize)) -> bool {
        let used = || View::all_of(&of.made.calls).filter(|view| view.region.memory != of.memory);
        let written = || used().filter(|view| view.touches.iter().any(Touch::writes));
        let clashes = |step: &Made<'_>| {
            let uses = View::all_of(&step.calls)
                .any(|view| written().any(|written| view.may_overlap(&written)));
            uses || self.changes(step, &used)
        };
        let is_after = |step: &Made<'_>| {
            let mut before = of.made.nodes().iter().flat_map(|node| &self.graph.nodes[*node].after);
            before.any(|before| step.nodes().contains(before))
        };
        let mut between = self.steps[writer + 1..at].iter().flatten();
        let mut with_writer = self.steps[writer..at].iter().flatten();
        !with_writer.any(clashes) && !between.any(is_after)
    }

    /// A step writes one of these views, or may.
    fn changes<'v, V: Iterator<Item = View<'v>>>(
        &self,
        step: &Made<'_>,
        of: &dyn Fn() -> V,
    ) -> bool {
        if !step.calls.is_empty() {
            return step.calls.iter().any(|call| writes(call, of));
        }
        step.nodes().iter().any(|node| {
            let mut used = self.graph.nodes[*node].memories();
            used.any(|used| of().any(|view| view.region.memory == used))
        })
    }
}

/// Each item of a consumer loads its own element only.
fn takes_its_own(of: &Guest<'_, '_>) -> bool {
    let own = |touch: &Touch| {
        touch.does == Use::Read
            && touch.at.iter().enumerate().all(|(dim, at)| {
                let factors = std::array::from_fn(|axis| i64::from(axis == dim));
                at.item == Some(Affine { factors, constant: 0 })
            })
    };
    let mut views = View::all_of(&of.made.calls).filter(|view| view.region.memory == of.memory);
    views.all(|view| view.region == of.region && view.touches.iter().all(own))
}

/// A step stores each element of a guest's temporary, as a whole and in bounds, and loads none.
fn stores_all(of: &Guest<'_, '_>, host: &Made<'_>) -> bool {
    let Some(param) = host.param_of(of.memory) else { return false };
    let Some(own) = View::all_of(&of.made.calls).find(|view| view.region == of.region) else {
        return false;
    };
    let stores = |call: &PreparedCall<'_>| {
        let in_bounds =
            |touch: &Touch| touch.does == Use::Write && (touch.proved || call.call.infallible);
        let params = call.call.kernel.params.iter().zip(&call.call.arguments);
        let ids = (0..).map(ParamId);
        let covers = ids.zip(params).filter(|(_, (_, given))| given.memory() == Some(of.memory));
        let mut covers = covers.map(|(id, (param, _))| match param.kind {
            ParamKind::View { access: Access::Out, owner: Owner::Item, .. } => {
                call.call.geometry.range == of.region.extent
            }
            _ => call.call.covers.contains(&id),
        });
        let mut views = View::all(call).filter(|view| view.region.memory == of.memory);
        covers.all(|covers| covers)
            && views.all(|view| view.is_same(&own) && view.touches.iter().all(in_bounds))
    };
    let mut in_parts = false;
    let Some(kernel) = host.kernel() else { return false };
    walk(&kernel.body, &mut |stmt| {
        let is_part = place(stmt).is_some_and(|place| !place.path.is_empty());
        in_parts |= accessed(stmt) == Some(param) && (is_part || matches!(stmt, Stmt::Let(_)));
    });
    !in_parts && host.calls.iter().all(stores)
}

/// A step uses the producer's memory by loads in bounds alone, by the same view.
fn only_loads(of: &Guest<'_, '_>, reader: &Made<'_>) -> bool {
    let Some(own) = View::all_of(&of.made.calls).find(|view| view.region == of.region) else {
        return false;
    };
    let loads = |call: &PreparedCall<'_>| {
        let in_bounds =
            |touch: &Touch| touch.does == Use::Read && (touch.proved || call.call.infallible);
        let mut views = View::all(call).filter(|view| view.region.memory == of.memory);
        views.all(|view| view.is_same(&own) && view.touches.iter().all(in_bounds))
    };
    let is_read = reader.param_of(of.memory).and_then(|param| {
        let kind = &reader.kernel()?.params.get(param.index())?.kind;
        Some(matches!(kind, ParamKind::View { access: Access::In, .. }))
    });
    is_read == Some(true) && reader.calls.iter().all(loads)
}

/// A kernel writes one of these views.
fn writes<'v, V: Iterator<Item = View<'v>>>(call: &PreparedCall<'_>, of: &dyn Fn() -> V) -> bool {
    let used = |memory: MemoryId| of().any(|view| view.region.memory == memory);
    let results = call.call.arguments.iter().any(|argument| match argument {
        Argument::Reduce(memory) => used(*memory),
        _ => false,
    });
    let is_written = |view: &View<'_>| view.touches.iter().any(Touch::writes);
    let mut written = View::all(call).filter(is_written);
    results || written.any(|written| of().any(|view| view.may_overlap(&written)))
}

/// Bytes that a kernel with a guest moves otherwise.
struct Price {
    /// Bytes of the temporary that it does not load or store.
    loaded: u64,
    /// Bytes that the guest moves in it, and its statements as bytes.
    instead: u64,
}

/// Statements that take as long as a byte of memory: a GPU of 3 TB/s has some 30 operations a byte,
/// and a core some 5.
const STATEMENTS_OF_A_BYTE: u64 = 4;

impl Price {
    fn of_reader(producer: &Guest<'_, '_>, reader: &Made<'_>, loads: u64) -> Price {
        let views = View::all_of(&producer.made.calls);
        let element = |view: &View<'_>| view.element_bytes();
        let reads = views.filter(|view| !view.touches.iter().any(Touch::writes));
        let read: u64 = reads.map(|view| element(&view)).sum();
        let of_memory = |view: &View<'_>| view.region.memory == producer.memory;
        let own = View::all_of(&reader.calls).filter(of_memory).map(|view| element(&view));
        let mut statements = 0;
        if let Some(kernel) = producer.made.kernel() {
            walk(&kernel.body, &mut |_| statements += 1);
        }
        let instead = read.saturating_add(statements / STATEMENTS_OF_A_BYTE);
        Price {
            loaded: loads.saturating_mul(own.max().unwrap_or(0)),
            instead: loads.saturating_mul(instead),
        }
    }

    /// A kernel that stores what a consumer makes of its elements, in their place.
    fn of_writer(consumer: &Guest<'_, '_>) -> Price {
        let of_memory = |view: &View<'_>| view.region.memory == consumer.memory;
        let bytes = View::all_of(&consumer.made.calls).find(of_memory).map_or(0, |v| v.bytes());
        Price { loaded: bytes, instead: consumer.made.load.traffic.saturating_sub(bytes) }
    }

    /// Bytes that are not moved any more.
    fn saved(&self, producer: &Load) -> u64 {
        let before = producer.traffic.saturating_add(self.loaded);
        before.saturating_sub(self.instead)
    }

    /// The load of the reader with the producer, and the gain and loss of that.
    fn weigh(
        &self,
        costs: &Costs,
        (reader, producer): (&Load, &Load),
        registers: u32,
    ) -> (Load, Balance) {
        let is_first = producer.items > 0;
        let load = Load {
            launches: reader.launches + u64::from(is_first),
            traffic: reader.traffic.saturating_add(producer.traffic),
            stretched: reader.stretched.saturating_add(producer.stretched),
            saved: reader.saved.saturating_add(self.saved(producer)),
            working_set: reader.working_set.max(producer.working_set),
            registers,
            ..*reader
        };
        let step = Load { launches: u64::from(is_first), saved: self.saved(producer), ..load };
        let mut balance = costs.weigh(&step);
        let more = self.instead.saturating_sub(producer.traffic.saturating_add(self.loaded));
        let rate = if balance.cached { costs.cache_rate } else { costs.memory_rate };
        let extra = u128::from(more) * 1000 / u128::from(rate.max(1));
        balance.lost_ns = balance.lost_ns.saturating_add(u64::try_from(extra).unwrap_or(u64::MAX));
        (load, balance)
    }
}

/// How often a reader computes an element at most: about once, where each has a load of its own.
/// Elements that a loop goes through by an index that is not a sum are shared by its items, if
/// these are fewer than the elements.
fn evaluations(calls: &[PreparedCall<'_>], of: &Guest<'_, '_>) -> Option<u64> {
    let elements = count(of.region.extent);
    let mut all = 0u64;
    let mut is_shared = false;
    for call in calls {
        let items = count(call.call.geometry.range);
        for view in View::all(call).filter(|view| view.region.memory == of.memory) {
            for touch in view.touches {
                let is_sum = touch.at.iter().all(|at| at.item.is_some() || at.group.is_some());
                if is_sum || touch.walks > 1 || !touch.in_loop {
                    all = all.saturating_add(items.saturating_mul(touch.walks));
                } else if items.saturating_mul(2) <= elements {
                    is_shared = true;
                } else {
                    return None;
                }
            }
        }
    }
    if is_shared {
        all = all.saturating_add(elements);
    }
    (all <= elements.saturating_add(elements / 2)).then_some(all.min(elements))
}

fn count(range: [u64; 3]) -> u64 {
    range.iter().fold(1, |all, n| all.saturating_mul(*n))
}

/// The one view of a kernel that is used so.
fn only(kernel: &Kernel, wanted: Access) -> Option<ParamId> {
    let is_it = |(_, param): &(usize, &Param)| matches!(param.kind, ParamKind::View { access, .. } if access == wanted);
    let mut all = kernel.params.iter().enumerate().filter(is_it);
    let (at, _) = all.next().filter(|_| all.next().is_none())?;
    Some(ParamId(at as u32))
}

/// A kernel whose items write their own elements as a whole, read none of these, have no other
/// effect, and know of themselves only where they are.
fn writes_its_own_alone(kernel: &Kernel) -> bool {
    let is_plain = |param: &Param| {
        matches!(
            param.kind,
            ParamKind::Scalar(_)
                | ParamKind::View { access: Access::In, .. }
                | ParamKind::View { access: Access::Out, owner: Owner::Item, .. }
        )
    };
    let mut is_one = kernel.params.iter().all(is_plain);
    walk(&kernel.body, &mut |stmt| {
        let Stmt::Let(Let { op, .. }) = stmt else {
            is_one &= !matches!(stmt, Stmt::Assert { .. } | Stmt::Contribute { .. });
            return;
        };
        is_one &= match op {
            Op::Query { query: Query::Position, copy, .. } => *copy == 0,
            Op::Query { query, .. } => *query == Query::Range,
            Op::Load(_) => accessed(stmt).is_none_or(|param| {
                let kind = kernel.params.get(param.index()).map(|param| &param.kind);
                matches!(kind, Some(ParamKind::View { access: Access::In, .. }))
            }),
            Op::Atomic(..) | Op::Subgroup(..) | Op::SubgroupFold(..) => false,
            _ => true,
        };
    });
    is_one
}
