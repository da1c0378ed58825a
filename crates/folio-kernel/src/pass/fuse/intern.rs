//! Internalisation: what becomes of each memory that passes data between the kernels of a cluster.

use super::assign::{Assign, drop_overwritten};
use super::edit::{Maker, accessed};
use super::input::{Argument, Facts, Graph, MemoryId, Planted, Users};
use super::join::{JoinedKernel, Parameter, Source, region};
use super::local::{Slots, local_bytes};
use super::pair::Joint;
use super::reason::Obstacle;
use super::scope::{AccessScope, Wishes, of_both};
use super::tidy::numbers_for_extents;
use super::touch::{Meeting, PreparedCall, Touch, meeting};
use crate::flow::Use;
use crate::ir::{
    Access, Body, Kernel, Let, Param, ParamId, ParamKind, Place, Stmt, VarDecl, VarId,
};
use crate::op::{Binary, Op, Query};
use crate::types::Scalar;

/// Where the contents of a memory are while a fused kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// In registers. The memory is not used.
    Register,
    /// In local memory of this many bytes. `stored` says whether the memory gets the result, too;
    /// if not, it is not used.
    Local {
        /// Bytes of a group.
        bytes: u64,
        /// Stores reach the memory as well.
        stored: bool,
    },
    /// In memory, but what is stored is not loaded again: this many loads are gone.
    Forwarded {
        /// In the code of the kernels.
        loads: u32,
        /// Stores that are gone, because later ones overwrite them.
        stores: u32,
    },
    /// In memory.
    Memory,
}

/// Which element of a memory an item, or a group, accesses in all kernels of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Home {
    /// The elements at the positions of the items, or of items of the own group.
    Items,
    /// The one at the group's own index.
    Groups,
}

/// The fate of a memory that a cluster writes and that passes data between its kernels, or that is
/// said or known to be internal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Which.
    pub memory: MemoryId,
    /// Where it is.
    pub fate: Fate,
    /// Which elements are accessed by whom, where that is as simple as this.
    pub home: Option<Home>,
    /// Why it is not in registers or local memory alone.
    pub kept: Option<Obstacle>,
    /// Bytes of memory traffic that one run saves.
    pub bytes_saved: u64,
}

/// A view of the fused kernel, and what the kernels do with it.
struct Candidate<'c> {
    memory: MemoryId,
    param: ParamId,
    /// With the node that accesses it.
    touches: Vec<(usize, &'c Touch)>,
    /// By access of a kernel: its properties, with those of the memory.
    wishes: Vec<Wishes>,
}

pub(crate) struct Interning<'c> {
    pub graph: &'c Graph,
    pub users: &'c Users,
    pub nodes: &'c [usize],
    pub calls: &'c [PreparedCall<'c>],
    pub joint: Joint,
    pub facts: &'c Facts,
    pub planted: Planted,
}

/// Internalises what can be; gives the outcomes and the variables that this made.
pub(crate) fn internalise(
    of: &Interning<'_>,
    joined: &mut JoinedKernel,
) -> (Vec<Outcome>, Vec<VarId>) {
    let mut outcomes: Vec<Outcome> = vec![];
    let mut vars = vec![];
    let mut left = of.facts.local_memory.saturating_sub(local_bytes(&joined.kernel));
    for at in 0..joined.parameters.len() {
        let Some(found) = of.candidate(joined, at) else { continue };
        let several =
            joined.parameters.iter().enumerate().any(|(other, parameter)| {
                other != at && of.memory(parameter) == Some(found.memory)
            });
        let outcome = match several {
            true => of.kept(found.memory, Obstacle::Views),
            false => of.decide(joined, &found, &mut vars, &mut left),
        };
        let told = outcome.fate != Fate::Memory || of.passes_data(joined, &found);
        if told && !outcomes.iter().any(|known| known.memory == outcome.memory) {
            outcomes.push(outcome);
        }
    }
    (outcomes, vars)
}

impl<'c> Interning<'c> {
    fn memory(&self, parameter: &Parameter) -> Option<MemoryId> {
        region(parameter, self.calls).map(|region| region.memory)
    }

    fn kept(&self, memory: MemoryId, why: Obstacle) -> Outcome {
        Outcome { memory, fate: Fate::Memory, home: None, kept: Some(why), bytes_saved: 0 }
    }

    /// The view, if one of the kernels writes it.
    fn candidate(&self, joined: &JoinedKernel, at: usize) -> Option<Candidate<'c>> {
        let parameter = &joined.parameters[at];
        let memory = self.memory(parameter)?;
        let (mut touches, mut wishes) = (vec![], vec![]);
        for (node, param) in &parameter.stands_for {
            let call = self.calls.iter().find(|call| call.node == *node)?;
            touches.extend(call.touches[param.index()].iter().map(|touch| (*node, touch)));
            if let Some(Argument::View { wishes: own, .. }) = call.call.arguments.get(param.index())
            {
                let of_memory = self.graph.memories.get(memory.index());
                let of_memory = of_memory.map_or(Wishes::default(), |memory| memory.wishes);
                // Contradictions were refused before.
                wishes.push(own.within(of_memory).unwrap_or_default());
            }
        }
        let written = touches.iter().any(|(_, touch)| touch.writes());
        let param = ParamId(at as u32);
        written.then_some(Candidate { memory, param, touches, wishes })
    }

    /// Nothing but this cluster can see what is left in the memory.
    fn disposable(&self, of: &Candidate<'_>) -> Result<(), Obstacle> {
        if self.planted.nothing_is_needed {
            return Ok(());
        }
        let temporary = self.is_temporary(of);
        if !temporary && !of.wishes.iter().all(|wishes| wishes.internal) {
            return Err(Obstacle::Needed);
        }
        let memory = self.graph.memories.get(of.memory.index());
        let elsewhere = memory.and_then(|memory| memory.elsewhere.as_ref());
        let other = self.users.other_than(of.memory, self.nodes);
        match (elsewhere, other) {
            (None, None) => Ok(()),
            // The first of them is told.
            (Some(work), None) => Err(Obstacle::UsedBy { node: work.label.clone() }),
            (Some(work), _) if work.before => Err(Obstacle::UsedBy { node: work.label.clone() }),
            (_, Some(at)) => Err(Obstacle::UsedBy { node: self.graph.node_label(at) }),
        }
    }

    /// Several kernels use it, or it is said or known to be internal: there is something to tell.
    fn passes_data(&self, joined: &JoinedKernel, of: &Candidate<'_>) -> bool {
        let several = joined.parameters[of.param.index()].stands_for.len() > 1;
        let said = of.wishes.iter().any(|wishes| wishes.internal || wishes.scope.is_some());
        several || said || self.is_temporary(of)
    }

    fn is_temporary(&self, of: &Candidate<'_>) -> bool {
        self.graph.memories.get(of.memory.index()).is_some_and(|memory| memory.temporary)
    }

    /// Its earlier contents are of no use.
    fn is_fresh(&self, of: &Candidate<'_>) -> bool {
        (self.is_temporary(of) || of.wishes.iter().all(|wishes| wishes.no_init))
            && self.users.is_unused_before(of.memory, self.nodes)
    }

    /// The scope that the accesses' properties have together: none where nobody says anything.
    fn requested(&self, of: &Candidate<'_>) -> Option<Option<AccessScope>> {
        let any = of.wishes.iter().any(|wishes| wishes.scope.is_some());
        let scopes = of.wishes.iter().map(|wishes| wishes.scope);
        any.then(|| scopes.reduce(of_both).flatten())
    }

    fn decide(
        &self,
        joined: &mut JoinedKernel,
        of: &Candidate<'_>,
        vars: &mut Vec<VarId>,
        left: &mut u64,
    ) -> Outcome {
        if of.touches.iter().any(|(_, touch)| touch.does == Use::Atomic) {
            return self.kept(of.memory, Obstacle::Atomic);
        }
        let requested = self.requested(of);
        let allowed = match requested {
            Some(None) if !self.is_temporary(of) => Err(Obstacle::Scopes),
            _ => Ok(()),
        };
        let in_bounds = of.touches.iter().all(|(_, touch)| touch.proved);
        let in_bounds = if in_bounds { Ok(()) } else { Err(Obstacle::Bounds) };
        let alone = allowed.and_then(|()| self.disposable(of)).and(in_bounds.clone());
        if self.one_for_each_item(of) && !in_uniform_code(&joined.kernel, of.param) {
            return self.in_variable(joined, of, alone, vars);
        }
        let Some(classes) = self.of_groups(of) else {
            return self.kept(of.memory, Obstacle::NotShown);
        };
        let stored = match &alone {
            Ok(()) => false,
            // Asked for, and needed afterwards: loads are of local memory, stores of both.
            Err(Obstacle::Needed) if requested == Some(Some(AccessScope::Group)) => true,
            Err(why) => return self.kept(of.memory, why.clone()),
        };
        match in_bounds.and_then(|()| self.in_local(joined, of, &classes, stored, left)) {
            Ok(bytes) => {
                let kept = alone.err();
                let fate = Fate::Local { bytes, stored };
                let bytes_saved = self.traffic(of, &joined.kernel, !stored);
                Outcome { memory: of.memory, fate, home: self.home(of), kept, bytes_saved }
            }
            Err(why) => self.kept(of.memory, why),
        }
    }

    /// Each item has one element, which no other item accesses, in all kernels.
    fn one_for_each_item(&self, of: &Candidate<'_>) -> bool {
        if self.planted.forwards_across_items {
            return true;
        }
        let Some((_, first)) = of.touches.first() else { return false };
        let element = |touch: &Touch| {
            let mut both = touch.at.iter().zip(&first.at);
            both.all(|(a, b)| a.item.is_some() && a.item == b.item)
        };
        let space = self.joint.space();
        of.touches
            .iter()
            .all(|(_, touch)| element(touch) && meeting(touch, first, &space) == Meeting::Item)
    }

    /// Whose elements they are, if each index is a position or a group's index.
    fn home(&self, of: &Candidate<'_>) -> Option<Home> {
        let rank = usize::from(self.joint.rank);
        let indices = || of.touches.iter().flat_map(|(_, touch)| touch.at.iter().enumerate());
        if !of.touches.iter().all(|(_, touch)| touch.at.len() == rank) {
            return None;
        }
        let own = |dim: usize| super::touch::Affine {
            factors: std::array::from_fn(|axis| i64::from(axis == dim)),
            constant: 0,
        };
        if indices().all(|(_, index)| index.within) {
            return Some(Home::Items);
        }
        indices().all(|(dim, index)| index.group == Some(own(dim))).then_some(Home::Groups)
    }

    /// Each group has elements of its own; by dimension of the view, whether those are at the
    /// positions of its items (else there is one of them).
    fn of_groups(&self, of: &Candidate<'_>) -> Option<Vec<bool>> {
        let space = self.joint.space();
        space.group?;
        let (_, first) = of.touches.first()?;
        let class = |dim: usize| {
            let all = || of.touches.iter().map(|(_, touch)| &touch.at[dim]);
            if dim < usize::from(space.rank) && all().all(|index| index.within) {
                return Some(true);
            }
            let same = |index: &super::touch::Index| {
                index.group.is_some() && index.group == first.at[dim].group
            };
            all().all(same).then_some(false)
        };
        let classes: Option<Vec<bool>> = (0..first.at.len()).map(class).collect();
        let own = |a: &Touch| {
            of.touches.iter().all(|(_, b)| !matches!(meeting(a, b, &space), Meeting::Anywhere(_)))
        };
        classes.filter(|_| of.touches.iter().all(|(_, touch)| own(touch)))
    }

    /// Bytes that are not loaded, and not stored where `stores` says so.
    fn traffic(&self, of: &Candidate<'_>, kernel: &Kernel, stores: bool) -> u64 {
        let size = kernel.elements(of.param).map_or(0, |(ty, _)| kernel.types.layout(ty).0);
        let kernels = self.calls.iter().map(|call| {
            let mine = || of.touches.iter().filter(|(node, _)| *node == call.node);
            let reads = u64::from(mine().any(|(_, touch)| touch.does == Use::Read));
            let writes = u64::from(stores && mine().any(|(_, touch)| touch.writes()));
            let range = &call.call.geometry.range;
            let items = range.iter().fold(1u64, |all, n| all.saturating_mul(*n));
            items.saturating_mul(size).saturating_mul(reads + writes)
        });
        kernels.fold(0, u64::saturating_add)
    }

    /// The item's element in a variable: in place of the memory, or beside it.
    fn in_variable(
        &self,
        joined: &mut JoinedKernel,
        of: &Candidate<'_>,
        alone: Result<(), Obstacle>,
        vars: &mut Vec<VarId>,
    ) -> Outcome {
        let kernel = &mut joined.kernel;
        let Some((element, _)) = kernel.elements(of.param) else {
            return self.kept(of.memory, Obstacle::NotShown);
        };
        let size = kernel.types.layout(element).0;
        let var = VarId(kernel.vars.len() as u32);
        let name = kernel.params[of.param.index()].name.clone();
        kernel.vars.push(VarDecl { name, ty: element, uniform: false });
        vars.push(var);
        let mut body = std::mem::take(&mut kernel.body);
        let in_place = alone.is_ok();
        let mut assign = Assign::new(of.param, var, !in_place, in_place);
        assign.run(&mut body);
        let (missed, loads) = (assign.missed, assign.loads);
        let stores = match in_place {
            false if of.touches.iter().all(|(_, touch)| touch.proved) => {
                drop_overwritten(&mut body, of.param)
            }
            _ => 0,
        };
        let fresh = self.is_fresh(of);
        if in_place && missed && !fresh {
            let first = self.earlier(kernel, of, var);
            body.splice(0..0, first);
        }
        joined.kernel.body = body;
        self.without_view(joined, of);
        let items = self.joint.range.iter().fold(1u64, |all, n| all.saturating_mul(*n));
        let saved = u64::from(loads + stores).saturating_mul(size).saturating_mul(items);
        let (fate, bytes_saved) = match in_place {
            true => (Fate::Register, self.traffic(of, &joined.kernel, true)),
            false if loads + stores == 0 => (Fate::Memory, 0),
            false => (Fate::Forwarded { loads, stores }, saved),
        };
        let bytes_saved = match fate {
            Fate::Register => bytes_saved.max(size.saturating_mul(items)),
            _ => bytes_saved,
        };
        Outcome { memory: of.memory, fate, home: self.home(of), kept: alone.err(), bytes_saved }
    }

    /// The item's element, as sums of positions; statements at the beginning that load what it had
    /// before into the variable, where it is in bounds.
    fn earlier(&self, kernel: &mut Kernel, of: &Candidate<'_>, var: VarId) -> Body {
        let Some((_, first)) = of.touches.first() else { return vec![] };
        let element = kernel.vars[var.index()].ty;
        let mut maker = Maker { kernel, body: vec![] };
        let (mut at, mut conditions) = (vec![], vec![]);
        for (dim, index) in first.at.iter().enumerate() {
            let Some(form) = index.item else { return vec![] };
            let mut sum = maker.index(Op::Const(Scalar::U64, form.constant as u64));
            for (axis, factor) in form.factors.iter().enumerate().filter(|(_, f)| **f != 0) {
                let query = Query::Position;
                let mut part = maker.index(Op::Query { query, dim: axis as u8, copy: 0 });
                if *factor != 1 {
                    let by = maker.index(Op::Const(Scalar::U64, *factor as u64));
                    part = maker.binary(Binary::Mul, part, by);
                }
                sum = if form.constant == 0 && form.factors.iter().filter(|f| **f != 0).count() == 1
                {
                    part
                } else {
                    maker.binary(Binary::Add, sum, part)
                };
            }
            let extent = maker.index(Op::Extent(of.param, dim as u8));
            conditions.push(maker.below(sum, extent));
            at.push(sum);
        }
        let cond = maker.all(&conditions);
        let mut body = std::mem::take(&mut maker.body);
        let value = maker.op(element, Op::Load(Place::element(of.param, at)));
        maker.body.push(Stmt::Store { place: Place::var(var), value, site: None });
        let then = maker.body;
        match cond {
            Some(cond) => body.push(Stmt::If { cond, then, otherwise: vec![] }),
            None => body.extend(then),
        }
        match self.joint.groups {
            true => vec![Stmt::Phase { once: false, body }],
            false => body,
        }
    }

    /// Where the view is not accessed any more, its extents become numbers.
    fn without_view(&self, joined: &mut JoinedKernel, of: &Candidate<'_>) {
        let mut used = false;
        crate::ir::walk(&joined.kernel.body, &mut |stmt| {
            used |= accessed(stmt) == Some(of.param);
        });
        let JoinedKernel { kernel, parameters } = joined;
        let Some((node, param)) = parameters[of.param.index()].stands_for.first().copied() else {
            return;
        };
        if used {
            return;
        }
        let name = kernel.params[of.param.index()].name.clone();
        numbers_for_extents(kernel, of.param, &mut |kernel, dim| {
            let name = format!("{name}.extent.{dim}");
            kernel.params.push(Param { name, kind: ParamKind::Scalar(Scalar::U64.into()) });
            let source = Source::Extent { node, param, dim };
            parameters.push(Parameter { source, stands_for: vec![], discards: false });
            ParamId(kernel.params.len() as u32 - 1)
        });
    }

    /// The group's elements in local memory: how many bytes.
    fn in_local(
        &self,
        joined: &mut JoinedKernel,
        of: &Candidate<'_>,
        classes: &[bool],
        stored: bool,
        left: &mut u64,
    ) -> Result<u64, Obstacle> {
        let group = self.joint.group.ok_or(Obstacle::NotShown)?;
        let (element, _) = joined.kernel.elements(of.param).ok_or(Obstacle::NotShown)?;
        let sizes: Vec<u64> = classes
            .iter()
            .enumerate()
            .map(|(dim, many)| if *many { group[dim] } else { 1 })
            .collect();
        let len = sizes.iter().try_fold(1u64, |all, n| all.checked_mul(*n));
        let size = joined.kernel.types.layout(element).0;
        let bytes = len.and_then(|len| len.checked_mul(size)).unwrap_or(u64::MAX);
        let available = *left;
        let count = len.and_then(|len| u32::try_from(len).ok());
        let (Some(count), true) = (count, bytes <= available) else {
            return Err(Obstacle::LocalMemory { needed: bytes, available });
        };
        let fresh = self.is_fresh(of);
        // Earlier contents are loaded by the items at whose positions they are.
        let reloads = !fresh && !self.written_first(of);
        if reloads
            && !(classes.iter().all(|many| *many) && classes.len() == usize::from(self.joint.rank))
        {
            return Err(Obstacle::Contents);
        }
        *left -= bytes;
        let kernel = &mut joined.kernel;
        let local = ParamId(kernel.params.len() as u32);
        let name = format!("{}.local", kernel.params[of.param.index()].name);
        kernel.params.push(Param { name, kind: ParamKind::Local { element, len: count } });
        let source = Source::Scratch(of.memory);
        joined.parameters.push(Parameter { source, stands_for: vec![], discards: false });
        let slots = Slots { view: of.param, local, classes, sizes: &sizes, stored };
        slots.redirect(kernel);
        if reloads {
            let phase = slots.reload(kernel, element);
            kernel.body.insert(0, phase);
        }
        self.without_view(joined, of);
        Ok(bytes)
    }

    /// The first kernel that uses it writes all of each group's elements and reads none.
    fn written_first(&self, of: &Candidate<'_>) -> bool {
        let Some((node, _)) = of.touches.first() else { return false };
        let Some(call) = self.calls.iter().find(|call| call.node == *node) else { return false };
        call.call.kernel.params.iter().zip(&call.call.arguments).any(|(param, argument)| {
            let whole = matches!(
                param.kind,
                ParamKind::View { access: Access::Out, owner, .. } if owner != crate::Owner::Anyone
            );
            whole && argument.memory() == Some(of.memory)
        }) && call.call.geometry.range == self.joint.range
    }
}

/// Uniform code of a group kernel accesses the view.
fn in_uniform_code(kernel: &Kernel, param: ParamId) -> bool {
    fn uniform(body: &[Stmt], param: ParamId) -> bool {
        body.iter().any(|stmt| match stmt {
            Stmt::Phase { .. } | Stmt::Collect { .. } => false,
            other => {
                accessed(other) == Some(param)
                    || other.bodies().into_iter().any(|body| uniform(body, param))
            }
        })
    }
    kernel.shape.groups && uniform(&kernel.body, param)
}

/// Views that are loaded and stored become `Out` where fusion has removed the loads.
pub(crate) fn narrow_access(joined: &mut JoinedKernel) {
    let mut loaded = vec![false; joined.kernel.params.len()];
    crate::ir::walk(&joined.kernel.body, &mut |stmt| {
        if let (Stmt::Let(Let { .. }), Some(param)) = (stmt, accessed(stmt)) {
            loaded[param.index()] = true;
        }
    });
    let params = joined.kernel.params.iter_mut().zip(&joined.parameters).zip(loaded);
    for ((param, parameter), loaded) in params {
        if let ParamKind::View { access, .. } = &mut param.kind
            && *access == Access::InOut
            && parameter.discards
            && !loaded
        {
            *access = Access::Out;
        }
    }
}
