//! The ranges of integers in a launch by their operands, wherever they are computed: for indices
//! without a linear form, such as positions that are held to limits, and numbers of less than 64
//! bits.

use crate::interval::{self, Interval};
use crate::ir::{Kernel, Stmt, Value, walk};
use crate::linear::Symbol;
use crate::op::{Binary, Op, Unary};
use crate::types::Scalar;

/// How a number comes about; of others by where they are among the steps.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    /// Nothing is known but its type.
    Any,
    Exactly(i128),
    Symbol(Symbol),
    Unary(Unary, usize),
    Binary(Binary, usize, usize),
    Either(usize, usize),
    Cast(usize),
    /// The variable of a loop, from its start to before its end.
    Turn(usize, usize),
}

impl Origin {
    fn parts(&self) -> [Option<usize>; 2] {
        match *self {
            Origin::Any | Origin::Exactly(_) | Origin::Symbol(_) => [None; 2],
            Origin::Unary(_, a) | Origin::Cast(a) => [Some(a), None],
            Origin::Binary(_, a, b) | Origin::Either(a, b) | Origin::Turn(a, b) => {
                [Some(a), Some(b)]
            }
        }
    }

    fn parts_mut(&mut self) -> [Option<&mut usize>; 2] {
        match self {
            Origin::Any | Origin::Exactly(_) | Origin::Symbol(_) => [None, None],
            Origin::Unary(_, a) | Origin::Cast(a) => [Some(a), None],
            Origin::Binary(_, a, b) | Origin::Either(a, b) | Origin::Turn(a, b) => {
                [Some(a), Some(b)]
            }
        }
    }
}

/// Steps that need no memory of their own.
const FEW: usize = 32;

/// Integers of a kernel, in the order in which they are computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Computed {
    steps: Vec<(Scalar, Origin)>,
    /// By value: where it is, if it is an integer.
    places: Vec<Option<usize>>,
    /// By step: something bounds it, whatever the launch.
    bounded: Vec<bool>,
}

impl Computed {
    /// All integers of a verified kernel.
    pub(crate) fn of(kernel: &Kernel) -> Computed {
        let places = vec![None; kernel.values.len()];
        let mut computed = Computed { places, ..Computed::default() };
        walk(&kernel.body, &mut |stmt| match stmt {
            Stmt::Let(define) => computed.enter(kernel, define.value, &define.op),
            Stmt::For { index, start, end, .. } => {
                let ends = computed.place(*start).zip(computed.place(*end));
                let step = ends.map_or(Origin::Any, |(start, end)| Origin::Turn(start, end));
                computed.push(kernel, *index, step);
            }
            _ => {}
        });
        computed
    }

    fn place(&self, value: Value) -> Option<usize> {
        self.places.get(value.index()).copied().flatten()
    }

    fn push(&mut self, kernel: &Kernel, value: Value, step: Origin) {
        let scalar = kernel.type_of(value).and_then(|ty| ty.scalar());
        let Some(scalar) = scalar.filter(|scalar| scalar.is_int()) else { return };
        let of = |part: usize| self.bounded.get(part).is_some_and(|bounded| *bounded);
        let bounded = match step {
            // A number of few bits is small.
            Origin::Any => scalar.bits() < 32,
            Origin::Binary(Binary::Min | Binary::Max | Binary::And, a, b) => of(a) || of(b),
            Origin::Binary(Binary::Rem, _, b) => of(b),
            Origin::Exactly(_) | Origin::Symbol(_) => true,
            _ => step.parts().into_iter().flatten().all(of),
        };
        if let Some(place) = self.places.get_mut(value.index()) {
            *place = Some(self.steps.len());
        }
        self.steps.push((scalar, step));
        self.bounded.push(bounded);
    }

    fn enter(&mut self, kernel: &Kernel, value: Value, op: &Op) {
        let at = |value: &Value| self.place(*value);
        let step = match op {
            Op::Const(scalar, bits) if scalar.is_int() => Some(Origin::Exactly(scalar.int(*bits))),
            Op::Zero(_) => Some(Origin::Exactly(0)),
            Op::Arg(param) => Some(Origin::Symbol(Symbol::Arg(*param))),
            Op::Extent(param, dim) => Some(Origin::Symbol(Symbol::Extent(*param, *dim))),
            Op::Query { query, dim, copy } => {
                Some(Origin::Symbol(Symbol::Query(*query, *dim, *copy)))
            }
            Op::Unary(op, a) => at(a).map(|a| Origin::Unary(*op, a)),
            Op::Binary(op, a, b) => at(a).zip(at(b)).map(|(a, b)| Origin::Binary(*op, a, b)),
            Op::Select(_, a, b) => at(a).zip(at(b)).map(|(a, b)| Origin::Either(a, b)),
            Op::Cast(a, _) => at(a).map(Origin::Cast),
            _ => None,
        };
        self.push(kernel, value, step.unwrap_or(Origin::Any));
    }

    /// Where a value is, if more is known of it than its type.
    pub(crate) fn known(&self, value: Value) -> Option<usize> {
        self.place(value).filter(|place| self.bounded.get(*place).is_some_and(|bounded| *bounded))
    }

    /// Keeps only what these are computed of; tells where they are then.
    pub(crate) fn keep<'p>(&mut self, places: impl Iterator<Item = &'p mut usize>) {
        let mut wanted = vec![false; self.steps.len()];
        let places: Vec<&mut usize> = places.collect();
        places.iter().for_each(|place| wanted[**place] = true);
        for (at, (_, step)) in self.steps.iter().enumerate().rev() {
            if wanted[at] {
                step.parts().into_iter().flatten().for_each(|part| wanted[part] = true);
            }
        }
        let mut left = 0;
        let moved: Vec<usize> = wanted
            .iter()
            .map(|wanted| {
                left += usize::from(*wanted);
                left.saturating_sub(1)
            })
            .collect();
        let mut all = wanted.into_iter();
        self.steps.retain(|_| all.next().unwrap_or(false));
        let parts = self.steps.iter_mut().flat_map(|(_, step)| step.parts_mut()).flatten();
        parts.chain(places).for_each(|place| *place = moved[*place]);
        (self.places, self.bounded) = (vec![], vec![]);
    }

    /// Gives `then` what all can be in a launch, of which `of` tells what is known. For few,
    /// nothing is allocated.
    pub(crate) fn values<R>(
        &self,
        of: &dyn Fn(Symbol) -> Option<Interval>,
        then: impl FnOnce(&[Interval]) -> R,
    ) -> R {
        let (mut few, mut many) = ([Interval::exactly(0); FEW], vec![]);
        let values = match few.get_mut(..self.steps.len()) {
            Some(few) => few,
            None => {
                many.resize(self.steps.len(), Interval::exactly(0));
                many.as_mut_slice()
            }
        };
        for (place, (scalar, step)) in self.steps.iter().enumerate() {
            let all = Interval::of(*scalar);
            let at = |part: &usize| values.get(*part).copied().unwrap_or(all);
            values[place] = match step {
                Origin::Any => all,
                Origin::Exactly(value) => Interval::exactly(*value),
                Origin::Symbol(symbol) => of(*symbol).map_or(all, |known| known.wrapped(*scalar)),
                Origin::Unary(op, a) if self.is(*a, *scalar) => {
                    interval::unary(*op, *scalar, at(a))
                }
                // The amount of a shift has a type of its own; only small ones are known.
                Origin::Binary(_, _, b) if !self.is(*b, *scalar) && at(b).lo < 0 => all,
                Origin::Binary(op, a, b) => interval::binary(*op, *scalar, at(a), at(b)),
                Origin::Unary(..) => all,
                Origin::Either(a, b) => at(a).join(at(b)),
                Origin::Cast(a) => at(a).wrapped(*scalar),
                Origin::Turn(start, end) => {
                    let (start, end) = (at(start), at(end));
                    Interval::new(start.lo, start.hi.max(end.hi - 1))
                }
            };
        }
        then(values)
    }

    fn is(&self, at: usize, scalar: Scalar) -> bool {
        self.steps.get(at).is_some_and(|(of, _)| *of == scalar)
    }

    /// The range of an index, of these values. An index that was below 0 before its cast is so
    /// here, and not beyond all extents.
    pub(crate) fn index(&self, at: usize, values: &[Interval]) -> Option<Interval> {
        match self.steps.get(at) {
            Some((_, Origin::Cast(of))) => values.get(*of).copied(),
            _ => values.get(at).copied(),
        }
    }
}
