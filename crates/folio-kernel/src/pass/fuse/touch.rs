//! The accesses of a call: each access of a view as a map from items, or groups, to elements.

use super::edit::accessed;
use super::input::{Argument, Call};
use super::reason::Elements;
use crate::flow::{self, Seen, Use};
use crate::interval::Interval;
use crate::ir::{Kernel, ParamKind, Stmt, Value, walk};
use crate::launch::Launch;
use crate::linear::{Linear, Symbol};
use crate::op::Query;

/// `sum(factors[d] * position(d)) + constant`, or the same of group indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Affine {
    pub factors: [i64; 3],
    pub constant: i64,
}

impl Affine {
    /// Equal sums have equal positions along this axis, for positions of such a range: each factor
    /// reaches further than all smaller ones together, as in `row * width + column`.
    fn tells(&self, axis: usize, range: &[u64; 3]) -> bool {
        let mut axes: Vec<usize> = (0..3).filter(|dim| self.factors[*dim] != 0).collect();
        axes.sort_by_key(|dim| self.factors[*dim].unsigned_abs());
        let mut reach = 0i128;
        for dim in &axes {
            let factor = i128::from(self.factors[*dim].unsigned_abs());
            if factor <= reach {
                return false;
            }
            let steps = i128::from(range[*dim].saturating_sub(1));
            reach = reach.saturating_add(factor.saturating_mul(steps));
        }
        // Beyond this, sums modulo 2^64 may be equal.
        axes.contains(&axis) && reach < 1 << 63
    }
}

/// An index in one dimension of a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Index {
    /// As a sum of the item's positions.
    pub item: Option<Affine>,
    /// As a sum of the group's indices.
    pub group: Option<Affine>,
    /// It is the position, in this dimension, of an item of the own group.
    pub within: bool,
}

/// One access.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Touch {
    pub does: Use,
    /// By dimension of the view.
    pub at: Vec<Index>,
    /// It is in bounds.
    pub proved: bool,
    /// Elements that an item accesses there, by loops: a row has many.
    pub walks: u64,
    /// A loop of the kernel loads or stores elements of the view.
    pub in_loop: bool,
}

impl Touch {
    /// It stores, or may.
    pub fn writes(&self) -> bool {
        self.does != Use::Read
    }
}

/// How two accesses, by different items or kernels, can meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meeting {
    /// Only those of one item.
    Item,
    /// Only those of one group.
    Group,
    /// Any.
    Anywhere(Elements),
}

/// The items over which both accesses are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Space {
    pub rank: u8,
    pub range: [u64; 3],
    pub group: Option<[u64; 3]>,
}

/// How two accesses of the same view meet.
pub(crate) fn meeting(a: &Touch, b: &Touch, space: &Space) -> Meeting {
    let both = || a.at.iter().zip(&b.at);
    let dims = |of: &dyn Fn(usize) -> u64| {
        (0..usize::from(space.rank)).filter(|dim| of(*dim) > 1).collect::<Vec<_>>()
    };
    let by_item = |axis: usize| {
        both()
            .any(|(a, b)| a.item.is_some_and(|of| a.item == b.item && of.tells(axis, &space.range)))
    };
    if dims(&|dim| space.range[dim]).into_iter().all(by_item) {
        return Meeting::Item;
    }
    if let Some(size) = space.group {
        let counts: [u64; 3] = std::array::from_fn(|dim| space.range[dim] / size[dim].max(1));
        let count = |dim: usize| counts[dim];
        let by_group = |axis: usize| {
            both().enumerate().any(|(dim, (a, b))| {
                let shared = a.group.filter(|of| of.tells(axis, &counts));
                (dim == axis && a.within && b.within) || (shared.is_some() && a.group == b.group)
            })
        };
        if dims(&count).into_iter().all(by_group) {
            return Meeting::Group;
        }
    }
    Meeting::Anywhere(elements(a, b))
}

fn elements(a: &Touch, b: &Touch) -> Elements {
    let mut apart = [0; 3];
    for (dim, (a, b)) in a.at.iter().zip(&b.at).enumerate() {
        let (Some(a), Some(b)) = (a.item, b.item) else { return Elements::Unknown };
        if a.factors != b.factors {
            return Elements::Different;
        }
        apart[dim.min(2)] = b.constant.wrapping_sub(a.constant);
    }
    if apart == [0; 3] { Elements::Different } else { Elements::Neighbour(apart) }
}

/// A call with what its kernel does to each parameter.
#[derive(Clone, Debug)]
pub(crate) struct PreparedCall<'g> {
    pub node: usize,
    pub call: &'g Call,
    /// By parameter.
    pub touches: Vec<Vec<Touch>>,
}

/// The launch as analyses see it; none where arguments do not fit.
fn launch(call: &Call) -> Option<Launch> {
    let (kernel, geometry) = (&call.kernel, &call.geometry);
    let mut launch = Launch {
        range: geometry.range,
        offset: geometry.offset,
        group: geometry.group.filter(|_| kernel.shape.groups).unwrap_or_default(),
        ..Launch::default()
    };
    if kernel.params.len() != call.arguments.len() {
        return None;
    }
    for (param, argument) in kernel.params.iter().zip(&call.arguments) {
        let (mut extent, mut scalar) = ([1; 3], None);
        match (&param.kind, argument) {
            (ParamKind::Scalar(ty), Argument::Scalar { bytes, fixed }) => {
                if bytes.len() as u64 != kernel.types.layout(*ty).0 {
                    return None;
                }
                let int = ty.scalar().filter(|scalar| scalar.is_int() && *fixed);
                scalar = int.map(|scalar| scalar.int(word(bytes)));
            }
            (ParamKind::View { .. }, Argument::View { region, .. }) => extent = region.extent,
            (ParamKind::Reduce { .. }, Argument::Reduce(_))
            | (ParamKind::Local { .. }, Argument::Local) => {}
            _ => return None,
        }
        launch.extents.push(extent);
        launch.scalars.push(scalar);
    }
    Some(launch)
}

/// The bits of a scalar of at most 8 bytes.
pub(crate) fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Analyses a call; none where its arguments, shape or groups do not fit.
pub(crate) fn prepare(node: usize, call: &Call) -> Option<PreparedCall<'_>> {
    let kernel = &*call.kernel;
    let (rank, groups) = (usize::from(kernel.shape.rank), kernel.shape.groups);
    let cut = |size: [u64; 3]| {
        (0..rank).all(|dim| size[dim] > 0 && call.geometry.range[dim].is_multiple_of(size[dim]))
    };
    let fits = call.geometry.group.map_or(!groups, |size| !groups || cut(size));
    let launch = launch(call).filter(|_| kernel.shape.tile == 1 && fits)?;
    let mut touches = vec![vec![]; kernel.params.len()];
    let (turns, in_loops) = (turns(kernel), in_loops(kernel));
    for seen in flow::analyse(kernel, &launch).accesses.iter().filter(|seen| !seen.never) {
        if let Some(list) = touches.get_mut(seen.param.index()) {
            let mut touch = touch(kernel, &launch, &turns, seen);
            touch.in_loop = in_loops[seen.param.index()];
            if !list.contains(&touch) {
                list.push(touch);
            }
        }
    }
    Some(PreparedCall { node, call, touches })
}

/// The numbers of the turns of a kernel's loops.
fn turns(kernel: &Kernel) -> Vec<Value> {
    let mut turns = vec![];
    walk(&kernel.body, &mut |stmt| {
        if let Stmt::For { index, .. } = stmt {
            turns.push(*index);
        }
    });
    turns
}

/// By parameter: a loop accesses its elements.
fn in_loops(kernel: &Kernel) -> Vec<bool> {
    let mut all = vec![false; kernel.params.len()];
    walk(&kernel.body, &mut |stmt| {
        if let Stmt::For { body, .. } | Stmt::Loop { body, .. } = stmt {
            walk(body, &mut |stmt| {
                if let Some(param) = accessed(stmt) {
                    all[param.index()] = true;
                }
            });
        }
    });
    all
}

/// How many elements an access reaches from one item, where loops count through them. One that
/// data lead to counts as one.
fn walks(launch: &Launch, turns: &[Value], seen: &Seen) -> u64 {
    let of_dim = |(form, reach): (&Option<Linear>, &Interval)| {
        let form = form.as_ref()?;
        let counted = |symbol: &Symbol| matches!(symbol, Symbol::Value(of) if turns.contains(of));
        if !form.terms.iter().any(|(symbol, _)| counted(symbol)) {
            return None;
        }
        // What is left of the reach of all items without their positions'.
        let mut reach = reach.hi.checked_sub(reach.lo)?;
        for (symbol, factor) in form.terms.iter().filter(|(symbol, _)| !counted(symbol)) {
            let known = launch.symbol(*symbol)?;
            let width = known.hi.checked_sub(known.lo)?;
            reach = reach.checked_sub(width.checked_mul(i128::from(factor.unsigned_abs()))?)?;
        }
        u64::try_from(reach.checked_add(1)?).ok()
    };
    let dims = seen.forms.iter().zip(&seen.indices).map(|dim| of_dim(dim).unwrap_or(1));
    dims.fold(1, u64::saturating_mul)
}

fn touch(kernel: &Kernel, launch: &Launch, turns: &[Value], seen: &Seen) -> Touch {
    let local = |dim: usize| {
        let range = seen.in_group.get(dim).copied().flatten();
        let size = launch.group.get(dim).map_or(0, |size| i128::from(*size));
        kernel.shape.groups && range.is_some_and(|range| range.lo >= 0 && range.hi < size)
    };
    let index = |(dim, form): (usize, &Option<Linear>)| {
        let mut index = form.as_ref().map_or(Index::default(), |form| index(form, launch));
        let own = Affine { factors: std::array::from_fn(|d| i64::from(d == dim)), constant: 0 };
        index.within = local(dim) || index.item == Some(own);
        index
    };
    let at = seen.forms.iter().enumerate().map(index).collect();
    let walks = walks(launch, turns, seen);
    Touch { does: seen.does, at, proved: seen.proved, walks, in_loop: false }
}

/// A form as a sum of positions, and as one of group indices. What is the same for the whole launch
/// is a number.
fn index(form: &Linear, launch: &Launch) -> Index {
    let (mut items, mut groups, mut locals) = ([0i64; 3], [0i64; 3], [0i64; 3]);
    let mut constant = form.constant;
    for (symbol, factor) in &form.terms {
        match symbol {
            Symbol::Query(Query::Position, dim, _) => items[usize::from(*dim).min(2)] = *factor,
            Symbol::Query(Query::GroupId, dim, _) => groups[usize::from(*dim).min(2)] = *factor,
            Symbol::Query(Query::LocalId, dim, _) => locals[usize::from(*dim).min(2)] = *factor,
            Symbol::Query(Query::Subgroup | Query::Lane | Query::SubgroupSize, ..) => {
                return Index::default();
            }
            known => match launch.symbol(*known).and_then(|known| known.single()) {
                Some(known) => {
                    constant = constant.wrapping_add((known as i64).wrapping_mul(*factor));
                }
                None => return Index::default(),
            },
        }
    }
    // Position is offset + group * size + local.
    for dim in 0..3 {
        let (size, by) = (launch.group[dim] as i64, locals[dim]);
        if by != 0 && groups[dim] == by.wrapping_mul(size) {
            items[dim] = items[dim].wrapping_add(by);
            constant = constant.wrapping_sub(by.wrapping_mul(launch.offset[dim] as i64));
            (groups[dim], locals[dim]) = (0, 0);
        }
    }
    let none = [0; 3];
    let item = Affine { factors: items, constant };
    let group = Affine { factors: groups, constant };
    Index {
        item: (groups == none && locals == none).then_some(item),
        group: (items == none && locals == none).then_some(group),
        within: false,
    }
}
