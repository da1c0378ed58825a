//! A kernel's use of each parameter: launch by launch from [`crate::flow`], and once for all from
//! the linear forms of its indices.

use crate::computed::Computed;
use crate::flow::{self, Use};
use crate::interval::Interval;
use crate::ir::{Kernel, ParamId, ParamKind, Place, Root, Stmt, Value, walk};
use crate::launch::Launch;
use crate::linear::{self, Linear, Symbol};
use crate::op::Op;
use crate::types::Scalar;

/// Who reaches which elements, from narrow to wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Nobody touches it.
    Unused,
    /// Each item the element at its own position, only.
    Item,
    /// Each item elements at positions of its own group, only.
    Group,
    /// Anything.
    Anywhere,
}

/// A parameter's use in one launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamUse {
    /// Loaded, or used atomically.
    pub read: bool,
    /// Stored to, or used atomically.
    pub written: bool,
    /// Who reaches what.
    pub scope: Scope,
    /// Everything that is loaded or changed lies in this box: by dimension from the first
    /// index to the last. None if nothing is touched.
    pub hull: Option<Vec<Interval>>,
    /// No access needs a check.
    pub proved: bool,
}

/// The uses that a launch of a verified kernel makes of its parameters. A kernel's arrays in
/// variables are `arrays_proved` if none of them needs a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchUse {
    /// By parameter.
    pub params: Vec<ParamUse>,
    /// No access to an array in a variable needs a check.
    pub arrays_proved: bool,
}

/// Analyses a launch.
pub fn of_launch(kernel: &Kernel, launch: &Launch) -> LaunchUse {
    let found = flow::analyse(kernel, launch);
    let unused =
        ParamUse { read: false, written: false, scope: Scope::Unused, hull: None, proved: true };
    let mut params = vec![unused; kernel.params.len()];
    for seen in found.accesses.iter().filter(|seen| !seen.never) {
        let Some(param) = params.get_mut(seen.param.index()) else { continue };
        param.read |= seen.does != Use::Write;
        param.written |= seen.does != Use::Read;
        param.proved &= seen.proved;
        param.scope = param.scope.max(scope(kernel, launch, seen));
        param.hull = Some(match param.hull.take() {
            None => seen.indices.clone(),
            Some(hull) => hull.iter().zip(&seen.indices).map(|(a, b)| a.join(*b)).collect(),
        });
    }
    LaunchUse { params, arrays_proved: found.arrays.iter().all(|array| array.proved) }
}

fn scope(kernel: &Kernel, launch: &Launch, seen: &flow::Seen) -> Scope {
    let whole = seen.forms.len() == usize::from(kernel.shape.rank);
    if whole && is_own(&seen.forms) {
        return Scope::Item;
    }
    let inside = |(dim, range): (usize, &Option<Interval>)| {
        let size = launch.group.get(dim).map_or(0, |size| i128::from(*size));
        range.is_some_and(|range| range.lo >= 0 && range.hi < size)
    };
    let grouped = whole && kernel.shape.groups && seen.in_group.iter().enumerate().all(inside);
    if grouped { Scope::Group } else { Scope::Anywhere }
}

/// The indices are the item's position, in one of a thread's copies.
pub(crate) fn is_own(forms: &[Option<Linear>]) -> bool {
    (0..16).any(|copy| {
        let mut dims = forms.iter().enumerate();
        dims.all(|(dim, form)| form.as_ref() == Some(&Linear::position(dim as u8, copy)))
    })
}

/// A distinct way to index a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Loaded, stored, or used atomically.
    pub does: Use,
    /// By dimension; none where the index is no sum of what is known.
    pub forms: Vec<Option<Linear>>,
    /// By dimension: where such an index is among what is computed.
    computed: Vec<Option<usize>>,
}

impl Pattern {
    /// By dimension, how far from the item's own position: a stencil's neighbour. None if it is
    /// not at a fixed distance.
    pub fn offsets(&self) -> Option<Vec<i64>> {
        let offset = |(dim, form): (usize, &Option<Linear>)| {
            let rest = form.as_ref()?.plus(&Linear::position(dim as u8, 0), -1);
            rest.terms.is_empty().then_some(rest.constant)
        };
        self.forms.iter().enumerate().map(offset).collect()
    }
}

/// By dimension: from the first index to one past the last.
pub type Ends = [(u64, u64); 3];

/// The elements of a view that a launch reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reads {
    /// The box; none if nothing is read.
    pub ends: Option<Ends>,
    /// All reads are shown to be inside the box.
    pub proved: bool,
}

/// The variable of a loop: from where, and to before where it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Turn {
    variable: Value,
    start: Linear,
    end: Linear,
    /// Its type has a sign.
    signed: bool,
}

/// The loops whose variables have known ends.
fn turns(kernel: &Kernel, forms: &[Option<Linear>]) -> Vec<Turn> {
    let mut turns = vec![];
    walk(&kernel.body, &mut |stmt| {
        if let Stmt::For { index, start, end, .. } = stmt
            && let Some(Some(start)) = forms.get(start.index())
            && let Some(Some(end)) = forms.get(end.index())
            && [start, end].iter().all(|form| is_known(form, &turns))
        {
            let scalar = kernel.type_of(*index).and_then(|ty| ty.scalar());
            let signed = scalar.is_some_and(Scalar::is_signed);
            let (start, end) = (start.clone(), end.clone());
            turns.push(Turn { variable: *index, start, end, signed });
        }
    });
    turns
}

/// There is nothing in a form that depends on data.
fn is_known(form: &Linear, turns: &[Turn]) -> bool {
    form.terms.iter().all(|(symbol, _)| match symbol {
        Symbol::Value(value) => turns.iter().any(|turn| turn.variable == *value),
        _ => true,
    })
}

/// A kernel's uses of its parameters, whatever the launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// By parameter.
    pub params: Vec<Vec<Pattern>>,
    /// Variables of counted loops, in the order of loops.
    turns: Vec<Turn>,
    /// Of what indices are that are no sums.
    computed: Computed,
}

impl Summary {
    /// Of a verified kernel.
    pub fn of(kernel: &Kernel) -> Summary {
        let forms = linear::forms(kernel);
        let turns = turns(kernel, &forms);
        let mut computed = Computed::of(kernel);
        let mut params: Vec<Vec<Pattern>> = vec![vec![]; kernel.params.len()];
        let mut see = |place: &Place, does: Use| {
            let Root::Element(param, at) = &place.root else { return };
            let view = kernel.params.get(param.index()).map(|p| &p.kind);
            let Some(ParamKind::View { .. } | ParamKind::Local { .. }) = view else { return };
            let affine = |value: &Value| {
                let form = forms.get(value.index())?.as_ref()?;
                is_known(form, &turns).then(|| form.clone())
            };
            let forms: Vec<Option<Linear>> = at.iter().map(affine).collect();
            let unknown = at.iter().zip(&forms).map(|(value, form)| match form {
                None => computed.known(*value),
                Some(_) => None,
            });
            let unknown = unknown.collect();
            let pattern = Pattern { does, forms, computed: unknown };
            if let Some(list) = params.get_mut(param.index())
                && !list.contains(&pattern)
            {
                list.push(pattern);
            }
        };
        walk(&kernel.body, &mut |stmt| match stmt {
            Stmt::Let(define) => match &define.op {
                Op::Load(place) => see(place, Use::Read),
                Op::Atomic(_, place, _) => see(place, Use::Atomic),
                _ => {}
            },
            Stmt::Store { place, .. } => see(place, Use::Write),
            _ => {}
        });
        let patterns = params.iter_mut().flatten();
        computed.keep(patterns.flat_map(|pattern| pattern.computed.iter_mut().flatten()));
        Summary { params, turns, computed }
    }

    /// By dimension, the least and greatest distance from the own position at which a parameter is
    /// read: its halo. None if some read is not at a fixed distance, or there is none.
    pub fn halo(&self, param: ParamId) -> Option<Vec<(i64, i64)>> {
        let reads = self.params.get(param.index())?.iter().filter(|p| p.does == Use::Read);
        let mut halo: Option<Vec<(i64, i64)>> = None;
        for pattern in reads {
            let offsets = pattern.offsets()?;
            halo = Some(match halo {
                None => offsets.iter().map(|o| (*o, *o)).collect(),
                Some(h) => {
                    h.iter().zip(&offsets).map(|(h, o)| (h.0.min(*o), h.1.max(*o))).collect()
                }
            });
        }
        halo
    }

    /// The box of a view's elements that a launch reads, clipped to its extent: where indices are
    /// sums of positions, extents, scalars (`of` tells what these can be) and variables of loops
    /// over such, or such that are held to limits; in dimensions of other indices, all of it.
    /// (KRN-03, KRN-09)
    pub fn read_box(
        &self,
        param: ParamId,
        extent: &[u64; 3],
        of: &dyn Fn(Symbol) -> Option<Interval>,
    ) -> Reads {
        let Some(patterns) = self.params.get(param.index()) else {
            return Reads { ends: None, proved: false };
        };
        let range = |symbol| self.symbol(symbol, of);
        self.computed.values(of, |values| self.read_ends(patterns, extent, &range, values))
    }

    fn read_ends(
        &self,
        patterns: &[Pattern],
        extent: &[u64; 3],
        of: &dyn Fn(Symbol) -> Option<Interval>,
        values: &[Interval],
    ) -> Reads {
        let (mut hull, mut proved): (Option<Ends>, bool) = (None, true);
        for pattern in patterns.iter().filter(|pattern| pattern.does != Use::Write) {
            let Reads { ends, proved: inside } = self.pattern_ends(pattern, extent, of, values);
            proved &= inside;
            let Some(ends) = ends else { continue };
            hull = Some(match hull {
                None => ends,
                Some(hull) => std::array::from_fn(|dim| {
                    (hull[dim].0.min(ends[dim].0), hull[dim].1.max(ends[dim].1))
                }),
            });
        }
        Reads { ends: hull, proved }
    }

    /// As [`read_box`](Self::read_box), a box for each way in which the view is indexed: together
    /// they may be less than the box around them. Boxes may overlap.
    pub fn read_boxes(
        &self,
        param: ParamId,
        extent: &[u64; 3],
        of: &dyn Fn(Symbol) -> Option<Interval>,
    ) -> Vec<Ends> {
        let Some(patterns) = self.params.get(param.index()) else { return vec![] };
        let range = |symbol| self.symbol(symbol, of);
        self.computed.values(of, |values| {
            let reads = patterns.iter().filter(|pattern| pattern.does != Use::Write);
            let ends = |pattern| self.pattern_ends(pattern, extent, &range, values).ends;
            reads.filter_map(ends).collect()
        })
    }

    /// What is read by one way to index.
    fn pattern_ends(
        &self,
        pattern: &Pattern,
        extent: &[u64; 3],
        of: &dyn Fn(Symbol) -> Option<Interval>,
        values: &[Interval],
    ) -> Reads {
        let (mut ends, mut proved) = ([(0, 1); 3], true);
        for (dim, form) in pattern.forms.iter().enumerate() {
            let range = match (form, pattern.computed.get(dim)) {
                (None, Some(Some(at))) => self.computed.index(*at, values),
                (form, _) => form.as_ref().and_then(|form| form.range(of)),
            };
            let range = range.filter(exact);
            let all = Interval { lo: 0, hi: i128::from(extent[dim]) - 1 };
            proved &= range.is_some_and(|range| all.contains(range));
            ends[dim] = range.map_or((0, extent[dim]), |range| clip(range, extent[dim]));
        }
        let none = ends.iter().any(|(first, end)| first >= end);
        Reads { ends: (!none).then_some(ends), proved }
    }

    /// The range of a symbol: the variable of a loop is anything from its start to before its end.
    fn symbol(&self, symbol: Symbol, of: &dyn Fn(Symbol) -> Option<Interval>) -> Option<Interval> {
        let Symbol::Value(value) = symbol else { return of(symbol) };
        let Turn { start, end, signed, .. } =
            self.turns.iter().find(|turn| turn.variable == value)?;
        // There forms hold exactly, and from 0 on signed and unsigned numbers are the same.
        let least = if *signed { i64::MIN } else { 0 };
        let plain =
            |range: &Interval| range.lo >= i128::from(least) && range.hi <= i128::from(i64::MAX);
        let range = |form: &Linear| form.range(&|s| self.symbol(s, of)).filter(plain);
        let (start, end) = (range(start)?, range(end)?);
        Some(Interval::new(start.lo, start.hi.max(end.hi - 1)))
    }
}

/// Forms hold modulo 2^64. Below 0 and above -2^63 an index is beyond every extent, as it is here.
fn exact(range: &Interval) -> bool {
    range.lo >= i128::from(i64::MIN) && range.hi <= i128::from(u64::MAX)
}

fn clip(range: Interval, extent: u64) -> (u64, u64) {
    let end = i128::from(extent);
    (range.lo.clamp(0, end) as u64, (range.hi + 1).clamp(0, end) as u64)
}
