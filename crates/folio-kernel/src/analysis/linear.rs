//! Linear forms of 64-bit integers: `position 0 - 1`, `2 * %7 + extent p1 0`. They hold modulo
//! 2^64; where the form's range of values lies within a type's, they hold exactly.

use crate::interval::Interval;
use crate::ir::{Kernel, ParamId, Stmt, Value, walk};
use crate::op::{Binary, Op, Query, Unary};
use crate::types::Scalar;

/// The terms of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Symbol {
    /// Where the item is: question, dimension, copy.
    Query(Query, u8, u8),
    /// An extent.
    Extent(ParamId, u8),
    /// A scalar parameter.
    Arg(ParamId),
    /// Any other value.
    Value(Value),
}

/// A sum of symbols with factors, and a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Linear {
    /// Symbols, rising, with factors that are not 0.
    pub terms: Vec<(Symbol, i64)>,
    /// The constant that is added.
    pub constant: i64,
}

impl Linear {
    /// The form of a single symbol.
    pub fn symbol(symbol: Symbol) -> Linear {
        Linear { terms: vec![(symbol, 1)], constant: 0 }
    }

    /// A number.
    pub fn constant(constant: i64) -> Linear {
        Linear { terms: vec![], constant }
    }

    /// The position in a dimension.
    pub fn position(dim: u8, copy: u8) -> Linear {
        Linear::symbol(Symbol::Query(Query::Position, dim, copy))
    }

    /// The factor of a symbol.
    pub fn factor(&self, symbol: Symbol) -> i64 {
        self.terms.iter().find(|(s, _)| *s == symbol).map_or(0, |(_, f)| *f)
    }

    /// `self + other * factor`.
    #[must_use]
    pub fn plus(&self, other: &Linear, factor: i64) -> Linear {
        let mut terms = self.terms.clone();
        for (symbol, f) in &other.terms {
            let f = f.wrapping_mul(factor);
            match terms.binary_search_by_key(symbol, |(s, _)| *s) {
                Ok(at) => terms[at].1 = terms[at].1.wrapping_add(f),
                Err(at) => terms.insert(at, (*symbol, f)),
            }
        }
        terms.retain(|(_, f)| *f != 0);
        let constant = self.constant.wrapping_add(other.constant.wrapping_mul(factor));
        Linear { terms, constant }
    }

    /// The values of the form, if they can be bounded.
    pub fn range(&self, of: &dyn Fn(Symbol) -> Option<Interval>) -> Option<Interval> {
        let mut sum = Interval::exactly(self.constant.into());
        for (symbol, factor) in &self.terms {
            let (range, factor) = (of(*symbol)?, i128::from(*factor));
            let ends = (range.lo.checked_mul(factor)?, range.hi.checked_mul(factor)?);
            let (lo, hi) = (ends.0.min(ends.1), ends.0.max(ends.1));
            sum = Interval { lo: sum.lo.checked_add(lo)?, hi: sum.hi.checked_add(hi)? };
        }
        Some(sum)
    }
}

/// The forms of all values of 64-bit integers; none for other types.
pub fn forms(kernel: &Kernel) -> Vec<Option<Linear>> {
    let wide = |ty: crate::Type| matches!(ty.scalar(), Some(Scalar::I64 | Scalar::U64));
    let unknown = |(at, ty): (usize, &crate::Type)| {
        wide(*ty).then(|| Linear::symbol(Symbol::Value(Value(at as u32))))
    };
    let mut forms: Vec<_> = kernel.values.iter().enumerate().map(unknown).collect();
    walk(&kernel.body, &mut |stmt| {
        if let Stmt::Let(define) = stmt
            && kernel.type_of(define.value).is_some_and(wide)
            && let Some(form) = form(kernel, &define.op, &forms)
        {
            forms[define.value.index()] = Some(form);
        }
    });
    forms
}

fn form(kernel: &Kernel, op: &Op, known: &[Option<Linear>]) -> Option<Linear> {
    let of = |value: &Value| known.get(value.index())?.as_ref();
    match op {
        Op::Const(scalar, bits) => Some(Linear::constant(scalar.int(*bits) as i64)),
        Op::Zero(_) => Some(Linear::constant(0)),
        Op::Arg(param) => Some(Linear::symbol(Symbol::Arg(*param))),
        Op::Extent(param, dim) => Some(Linear::symbol(Symbol::Extent(*param, *dim))),
        Op::Query { query, dim, copy } => Some(Linear::symbol(Symbol::Query(*query, *dim, *copy))),
        Op::Unary(Unary::Neg, a) => Some(Linear::default().plus(of(a)?, -1)),
        Op::Binary(Binary::Add, a, b) => Some(of(a)?.plus(of(b)?, 1)),
        Op::Binary(Binary::Sub, a, b) => Some(of(a)?.plus(of(b)?, -1)),
        Op::Binary(Binary::Mul, a, b) => {
            let (a, b) = (of(a)?, of(b)?);
            match (a.terms.is_empty(), b.terms.is_empty()) {
                (_, true) => Some(Linear::default().plus(a, b.constant)),
                (true, _) => Some(Linear::default().plus(b, a.constant)),
                _ => None,
            }
        }
        Op::Binary(Binary::Shl, a, b) => {
            let by = of(b).filter(|b| b.terms.is_empty())?.constant & 63;
            Some(Linear::default().plus(of(a)?, 1i64.wrapping_shl(by as u32)))
        }
        // Between `i64` and `u64` the bits stay.
        Op::Cast(a, _) | Op::Bits(a, _) => match kernel.type_of(*a)?.scalar()? {
            Scalar::I64 | Scalar::U64 => of(a).cloned(),
            _ => None,
        },
        _ => None,
    }
}
