//! Legality: which kernels may share a launch (DESIGN, "the rule for sharing a loop").
//!
//! Kernels that share a launch run item by item: all of the first kernel of an item before the
//! second one, and items in any order. For each memory that one of them writes, an item of one
//! kernel must therefore not meet another item of the other kernel at an element. Within a group, a
//! barrier between the two orders what meets there.

use super::input::{Argument, Facts, Graph, Planted, Region};
use super::reason::{Elements, Hazard, Reason, Shapes, Sharing, Shortage};
use super::scope::{AccessScope, Wishes, of_both};
use super::touch::{Meeting, PreparedCall, Space, Touch, meeting};
use crate::flow::Use;
use crate::ir::{Kernel, Param, ParamKind, walk};
use crate::types::{Composite, Type, Types};

/// Where the kernels of a cluster run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Joint {
    pub rank: u8,
    pub offset: [u64; 3],
    /// The largest range; every kernel's is a part of it from the first item on.
    pub range: [u64; 3],
    /// Items of a group, if a kernel says.
    pub group: Option<[u64; 3]>,
    /// One of them is a group kernel, so the fused kernel is.
    pub groups: bool,
}

impl Joint {
    pub fn of(call: &PreparedCall<'_>) -> Joint {
        let (shape, geometry) = (call.call.kernel.shape, call.call.geometry);
        Joint {
            rank: shape.rank,
            offset: geometry.offset,
            range: geometry.range,
            group: geometry.group,
            groups: shape.groups,
        }
    }

    pub fn space(&self) -> Space {
        Space { rank: self.rank, range: self.range, group: self.group.filter(|_| self.groups) }
    }
}

fn has_reductions(kernel: &Kernel) -> bool {
    kernel.params.iter().any(|param| matches!(param.kind, ParamKind::Reduce { .. }))
}

/// The geometry of a cluster and one more kernel.
pub(crate) fn join(
    joint: Joint,
    members: &[&PreparedCall<'_>],
    more: &PreparedCall<'_>,
) -> Result<Joint, Shapes> {
    let with = Joint::of(more);
    if joint.rank != with.rank {
        return Err(Shapes::Rank { first: joint.rank, second: with.rank });
    }
    if joint.offset != with.offset {
        return Err(Shapes::Offset { first: joint.offset, second: with.offset });
    }
    if let (Some(first), Some(second)) = (joint.group, with.group)
        && first != second
    {
        return Err(Shapes::Group { first, second });
    }
    let groups = joint.groups || with.groups;
    let all = || members.iter().copied().chain([more]);
    let by_items = |call: &PreparedCall<'_>| {
        let kernel = &*call.call.kernel;
        !kernel.shape.groups && has_reductions(kernel)
    };
    if let Some(call) = all().find(|call| groups && by_items(call)) {
        return Err(Shapes::Tree { kernel: call.call.kernel.name.clone() });
    }
    let range: [u64; 3] = std::array::from_fn(|dim| joint.range[dim].max(with.range[dim]));
    let (first, second) = (joint.range, with.range);
    if range != first && range != second {
        return Err(Shapes::Ranges { first, second });
    }
    for call in all().filter(|call| call.call.geometry.range != range) {
        let kernel = &*call.call.kernel;
        let has = match (kernel.shape.groups, has_reductions(kernel)) {
            (true, _) => "groups",
            (_, true) => "reductions",
            _ => continue,
        };
        return Err(Shapes::Range { first, second, kernel: kernel.name.clone(), has });
    }
    let group = joint.group.or(with.group);
    Ok(Joint { range, group, groups, ..joint })
}

/// Two types of different kernels have the same values.
pub(crate) fn same_type(a: (&Types, Type), b: (&Types, Type)) -> bool {
    match (a.0.get(a.1), b.0.get(b.1)) {
        (None, None) => a.1 == b.1,
        (
            Some(Composite::Array { element, len }),
            Some(Composite::Array { element: other, len: count }),
        ) => len == count && same_type((a.0, *element), (b.0, *other)),
        (Some(Composite::Struct(x)), Some(Composite::Struct(y))) => {
            let mut fields = x.fields.iter().zip(&y.fields);
            (x.size, x.align, x.fields.len(), &x.name) == (y.size, y.align, y.fields.len(), &y.name)
                && fields.all(|(x, y)| {
                    (x.offset, &x.name) == (y.offset, &y.name)
                        && same_type((a.0, x.ty), (b.0, y.ty))
                })
        }
        _ => false,
    }
}

/// A view argument and its parameter.
#[derive(Clone, Copy)]
pub(crate) struct View<'g> {
    pub region: Region,
    pub wishes: Wishes,
    pub touches: &'g [Touch],
    pub param: &'g Param,
    types: &'g Types,
}

impl<'g> View<'g> {
    /// The views of a call.
    pub fn all(call: &'g PreparedCall<'_>) -> impl Iterator<Item = View<'g>> {
        let kernel = &*call.call.kernel;
        let params = kernel.params.iter().zip(&call.call.arguments).zip(&call.touches);
        params.filter_map(|((param, argument), touches)| match argument {
            Argument::View { region, wishes } => {
                let (region, wishes) = (*region, *wishes);
                Some(View { region, wishes, touches, param, types: &kernel.types })
            }
            _ => None,
        })
    }

    /// The views of several calls.
    pub fn all_of(calls: &'g [PreparedCall<'g>]) -> impl Iterator<Item = View<'g>> {
        calls.iter().flat_map(View::all)
    }

    /// Both show the same elements in the same way.
    pub fn is_same(&self, other: &View<'_>) -> bool {
        self.region == other.region && self.alike(other)
    }

    fn alike(&self, other: &View<'_>) -> bool {
        match (&self.param.kind, &other.param.kind) {
            (
                ParamKind::View { element: a, rank: m, .. },
                ParamKind::View { element: b, rank: n, .. },
            ) => m == n && same_type((self.types, *a), (other.types, *b)),
            _ => false,
        }
    }

    /// Bytes of an element.
    pub fn element_bytes(&self) -> u64 {
        match self.param.kind {
            ParamKind::View { element, .. } => self.types.layout(element).0,
            _ => 0,
        }
    }

    /// Bytes of all of it.
    pub fn bytes(&self) -> u64 {
        let count = self.region.extent.iter().fold(1u64, |all, n| all.saturating_mul(*n));
        count.saturating_mul(self.element_bytes())
    }

    /// Elements of both may be in the same place.
    pub fn may_overlap(&self, other: &View<'_>) -> bool {
        let apart = self.alike(other) && self.region.is_apart(&other.region);
        self.region.memory == other.region.memory && !apart
    }
}

fn hazard(first: bool, second: bool) -> Option<Hazard> {
    match (first, second) {
        (true, true) => Some(Hazard::WriteAfterWrite),
        (true, false) => Some(Hazard::ReadAfterWrite),
        (false, true) => Some(Hazard::WriteAfterRead),
        (false, false) => None,
    }
}

/// Whether the second kernel may follow the first one in a launch; `barriers`: there are barriers
/// between them.
pub(crate) fn order(
    graph: &Graph,
    first: &PreparedCall<'_>,
    second: &PreparedCall<'_>,
    space: &Space,
    (barriers, planted): (bool, Planted),
) -> Result<(), Reason> {
    results(graph, first, second)?;
    results(graph, second, first)?;
    for a in View::all(first) {
        for b in View::all(second).filter(|b| a.may_overlap(b)) {
            let refused = |why| Reason::Memory { memory: graph.memory_label(a.region.memory), why };
            let any = |view: &View<'_>| view.touches.iter().any(Touch::writes);
            let Some(between) = hazard(any(&a), any(&b)) else { continue };
            let atomic = |view: &View<'_>| view.touches.iter().any(|t| t.does == Use::Atomic);
            if atomic(&a) || atomic(&b) {
                return Err(refused(Sharing::Atomics));
            }
            if !a.is_same(&b) {
                return Err(refused(Sharing::Views { hazard: between }));
            }
            let believed = believed(graph, &a, &b);
            elements((&a, &b), believed, space, (barriers, planted)).map_err(refused)?;
        }
    }
    Ok(())
}

/// The scope of two accesses, if it was promised to be right.
fn believed(graph: &Graph, a: &View<'_>, b: &View<'_>) -> Option<AccessScope> {
    let of_memory = graph.memories.get(a.region.memory.index())?.wishes;
    let [a, b] = [a, b].map(|view| view.wishes.within(of_memory).unwrap_or_default());
    of_both(a.scope, b.scope).filter(|_| a.trusted && b.trusted)
}

fn elements(
    (a, b): (&View<'_>, &View<'_>),
    believed: Option<AccessScope>,
    space: &Space,
    (barriers, planted): (bool, Planted),
) -> Result<(), Sharing> {
    for x in a.touches {
        for y in b.touches {
            let Some(hazard) = hazard(x.writes(), y.writes()) else { continue };
            let missed = match hazard {
                Hazard::ReadAfterWrite => planted.no_read_after_write,
                Hazard::WriteAfterRead => planted.no_write_after_read,
                Hazard::WriteAfterWrite => false,
            };
            if missed {
                continue;
            }
            let meeting = match (meeting(x, y, space), believed) {
                (Meeting::Anywhere(Elements::Unknown), Some(AccessScope::Item)) => Meeting::Item,
                (Meeting::Anywhere(Elements::Unknown), Some(AccessScope::Group))
                    if space.group.is_some() =>
                {
                    Meeting::Group
                }
                (known, _) => known,
            };
            match meeting {
                Meeting::Item => {}
                Meeting::Group if barriers => {}
                Meeting::Group => return Err(Sharing::Barrier { hazard }),
                Meeting::Anywhere(elements) => {
                    return Err(Sharing::Conflict { hazard, elements });
                }
            }
        }
    }
    Ok(())
}

/// The results of reductions are written when the launch ends.
fn results(graph: &Graph, one: &PreparedCall<'_>, other: &PreparedCall<'_>) -> Result<(), Reason> {
    for argument in &one.call.arguments {
        let Argument::Reduce(memory) = argument else { continue };
        if other.call.arguments.iter().any(|argument| argument.memory() == Some(*memory)) {
            return Err(Reason::Memory {
                memory: graph.memory_label(*memory),
                why: Sharing::Result,
            });
        }
    }
    Ok(())
}

/// Fails with the limit of the device that the kernels together exceed.
pub(crate) fn limits(members: &[&PreparedCall<'_>], facts: &Facts) -> Result<(), Shortage> {
    let mut views: Vec<View<'_>> = vec![];
    let (mut results, mut local, mut statements) = (0, 0u64, 0);
    for call in members {
        walk(&call.call.kernel.body, &mut |_| statements += 1);
        for view in View::all(call) {
            if !views.iter().any(|known| known.is_same(&view)) {
                views.push(view);
            }
        }
        for param in &call.call.kernel.params {
            match param.kind {
                ParamKind::Reduce { .. } => results += 1,
                ParamKind::Local { element, len } => {
                    let size = call.call.kernel.types.layout(element).0;
                    local = local.saturating_add(size.saturating_mul(len.into()));
                }
                _ => {}
            }
        }
    }
    let needed = views.len() + results;
    if needed > facts.views {
        return Err(Shortage::Views { needed, available: facts.views });
    }
    if statements > facts.statements {
        return Err(Shortage::Statements { needed: statements, most: facts.statements });
    }
    if local > facts.local_memory {
        let available = facts.local_memory;
        return Err(Shortage::LocalMemory { needed: local, available });
    }
    Ok(())
}

/// An access that shows a property of work-item scope, or of work-group scope, to be wrong.
pub(crate) fn refutes(a: &Touch, b: &Touch, space: &Space, groups: bool) -> Option<Elements> {
    let Meeting::Anywhere(elements @ Elements::Neighbour(by)) = meeting(a, b, space) else {
        return None;
    };
    // The neighbour's element is one that another item, or an item of another group, accesses.
    let unit = |index: &super::touch::Index, dim: usize| {
        index
            .item
            .is_some_and(|of| of.factors.iter().enumerate().all(|(d, f)| *f == i64::from(d == dim)))
    };
    let reaches = |dim: usize| by[dim] == 0 || by[dim].unsigned_abs() < space.range[dim];
    let several = |dim: usize| {
        let size = space.group.map_or(1, |size| size[dim].max(1));
        by[dim] != 0 && (!groups || space.range[dim] > size)
    };
    let simple = (0..a.at.len()).all(|dim| unit(&a.at[dim], dim) && dim < 3);
    (simple && (0..3).all(reaches) && (0..a.at.len()).any(several)).then_some(elements)
}
