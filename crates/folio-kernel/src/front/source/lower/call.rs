//! Calls of device functions, which are inlined, and methods.

use super::super::tree::{At, Expr, Pattern};
use super::super::{Entry, Function};
use super::method::{self, Method};
use super::print::printed_kind;
use super::{Closure, Frame, Lower, LowerError, MOST_CALLS, Operand, Result, U64};
use crate::ir::{ParamKind, Stmt, Value};
use crate::op::{Binary, Combine, Compare, Op, Subgroup, Unary};
use crate::types::{Composite, Scalar};
use std::rc::Rc;

impl Lower {
    pub(super) fn call(&mut self, at: u16, args: &[Expr]) -> Result<Operand> {
        let function = match (self.frame.table.get(usize::from(at)), args) {
            (Some(Entry::Function(function)), _) => *function,
            (Some(Entry::Combine(combine)), [a, b]) => {
                let combine = combine.binary();
                let (a, b) = (self.of(a)?, self.of(b)?);
                return Ok(Operand::Value(self.builder.binary(combine, a, b)));
            }
            _ => return Err(LowerError::Unsupported("this call")),
        };
        let table = (function.table)();
        let mut given = Vec::with_capacity(args.len());
        for (at, arg) in args.iter().enumerate() {
            given.push(match table.get(at) {
                // The caller's variable, or a part of it, under the parameter's name.
                Some(Entry::Place(_)) => self.place(arg)?,
                _ => {
                    let value = self.expr(arg)?;
                    self.resolve(value)?
                }
            });
        }
        self.inline(function, table, given)
    }

    /// A closure, which has what it can name as it is here.
    pub(super) fn closure(&self, of: &Rc<(Pattern, Expr)>) -> Operand {
        let Frame { function, table, locals, .. } = &self.frame;
        Operand::Closure(Rc::new(Closure {
            of: of.clone(),
            function,
            table: table.clone(),
            locals: locals.clone(),
            calls: self.calls.clone(),
        }))
    }

    /// The call of a closure, whose body is inlined.
    pub(super) fn apply(&mut self, at: u16, args: &[Expr]) -> Result<Operand> {
        let Some(Operand::Closure(closure)) = self.frame.locals.get(&at).cloned() else {
            return Err(LowerError::Unsupported("this call"));
        };
        let mut given = Vec::with_capacity(args.len());
        for arg in args {
            let value = self.expr(arg)?;
            given.push(self.resolve(value)?);
        }
        self.applied(&closure, given)
    }

    /// What a closure gives.
    pub(super) fn applied(&mut self, closure: &Closure, given: Vec<Operand>) -> Result<Operand> {
        self.inlined += 1;
        if self.inlined > MOST_CALLS {
            return Err(LowerError::Calls);
        }
        let mut frame = Frame::of(closure.function, closure.table.clone(), None);
        frame.locals.clone_from(&closure.locals);
        let outer = std::mem::replace(&mut self.frame, frame);
        let calls = std::mem::replace(&mut self.calls, closure.calls.clone());
        let (pattern, gives) = &*closure.of;
        self.bind(pattern, Operand::Tuple(given))?;
        let given = self.expr(gives)?;
        let given = self.resolve(given)?;
        (self.frame, self.calls) = (outer, calls);
        Ok(given)
    }

    /// Refuses functions that call themselves. A generic one may call another instance of itself,
    /// by an operator of a struct of structs: those have other tables, and are few.
    fn enter(&mut self, function: &'static Function) -> Result<()> {
        let same = |call: &&&Function| std::ptr::eq(call.body, function.body);
        let depth = self.calls.iter().filter(same).count();
        let again = self
            .calls
            .iter()
            .filter(same)
            .any(|call| call.table as usize == function.table as usize);
        if again || depth > 16 {
            let within = self.calls.iter().rposition(|call| std::ptr::eq(call.body, function.body));
            let through = self.calls.iter().skip(within.map_or(0, |at| at + 1));
            let (name, through) = (function.name, through.map(|call| call.name).collect());
            return Err(LowerError::Recursion(name, through));
        }
        self.inlined += 1;
        if self.inlined > MOST_CALLS {
            return Err(LowerError::Calls);
        }
        self.calls.push(function);
        Ok(())
    }

    /// The body of a device function, in a block that `return` leaves.
    pub(super) fn inline(
        &mut self,
        function: &'static Function,
        table: Vec<Entry>,
        given: Vec<Operand>,
    ) -> Result<Operand> {
        self.enter(function)?;
        let result = match table.get(function.params.len()) {
            Some(Entry::Type(ty)) => {
                let ty = ty(self.builder.types());
                Some(self.var(function.name, ty))
            }
            _ => None,
        };
        let label = self.builder.label();
        let frame = Frame::of(function, table, Some((label, result)));
        let outer = std::mem::replace(&mut self.frame, frame);
        for (at, given) in given.into_iter().enumerate() {
            self.frame.locals.insert(at as u16, given);
        }
        self.builder.begin(false);
        let body = self.body(function)?;
        let gives = self.block(&body)?;
        if let (Some(var), false) = (result, matches!(gives, Operand::Unit)) {
            let value = self.value(gives)?;
            self.builder.set(var, value);
        }
        let body = self.builder.end();
        self.calls.pop();
        self.frame = outer;
        self.builder.push(Stmt::Block { label, body, product: None });
        Ok(match result {
            Some(var) => Operand::Value(self.builder.get(var)),
            None => Operand::Unit,
        })
    }

    pub(super) fn method(
        &mut self,
        receiver: &Expr,
        name: &'static str,
        args: &[Expr],
        at: At,
    ) -> Result<Operand> {
        let given = self.expr(receiver)?;
        if let Operand::Tile(tile) = &given {
            return self.tile_method(tile, name, args);
        }
        if let Some(answer) = self.asks(&given, name) {
            return Ok(answer);
        }
        if let (Operand::Item, Some(op)) = (&given, name.strip_prefix("subgroup_"))
            && let Some(op) = Subgroup::of_name(op)
        {
            let args: Result<Vec<_>> = args.iter().map(|arg| self.of(arg)).collect();
            let value = self.builder.op(Op::Subgroup(op, args?));
            return if op == Subgroup::Match {
                self.matched(value)
            } else {
                Ok(Operand::Value(value))
            };
        }
        if let Operand::View(param) = given
            && let Some(result) = self.parameter(param, name, args, at)?
        {
            return Ok(result);
        }
        match (&given, name) {
            (Operand::Item, "index") => return Ok(Operand::Value(self.builder.position(0))),
            (Operand::Item, "pos") => {
                let rank = self.builder.kernel().shape.rank;
                let part = |dim| Operand::Value(self.builder.position(dim));
                return Ok(Operand::Tuple((0..rank).map(part).collect()));
            }
            (Operand::View(param), "len") => {
                if let Some(ParamKind::Local { len, .. }) = self.kind(*param) {
                    return Ok(Operand::Value(self.builder.index(len.into())));
                }
                return Ok(Operand::Value(self.builder.extent(*param, 0)));
            }
            (Operand::Shape(extents), "len") => {
                let len = extents.len() as u64;
                return Ok(Operand::Value(self.builder.index(len)));
            }
            (Operand::Value(_) | Operand::Place(..), "len") => {
                let ty = match given {
                    Operand::Value(value) => self.builder.type_of(value),
                    Operand::Place(_, ty) => ty,
                    _ => U64,
                };
                if let Some(Composite::Array { len, .. }) = self.builder.types().get(ty) {
                    let len = u64::from(*len);
                    return Ok(Operand::Value(self.builder.index(len)));
                }
            }
            (Operand::View(param), "shape") => {
                let rank = self.builder.kernel().elements(*param).map_or(1, |(_, rank)| rank);
                let extents = (0..rank).map(|dim| self.builder.extent(*param, dim)).collect();
                return Ok(Operand::Shape(extents));
            }
            _ => {}
        }
        let a = self.value(given)?;
        let mut rest = Vec::with_capacity(args.len());
        for arg in args {
            rest.push(self.of(arg)?);
        }
        self.site(at);
        let scalar = self.builder.type_of(a).scalar();
        let scalar = scalar.ok_or(LowerError::Unsupported(name))?;
        let b = |at: usize| rest.get(at).copied().ok_or(LowerError::Unsupported(name));
        let value = match method::find(name).ok_or(LowerError::Unsupported(name))? {
            // A number without a sign is its own absolute value; there is no operation for it.
            Method::Unary(Unary::Abs) if scalar.is_int() && !scalar.is_signed() => a,
            Method::Unary(op) => self.builder.unary(op, a),
            Method::Binary(op) => {
                let b = b(0)?;
                self.builder.binary(op, a, b)
            }
            Method::Fma => {
                let (b, c) = (b(0)?, b(1)?);
                self.builder.op(Op::Fma(a, b, c))
            }
            Method::Fast(op) => self.fast(op, a, scalar),
            Method::FastRecip => self.fast_recip(a, scalar),
            Method::FastDiv => {
                let b = b(0)?;
                self.fast_quotient((a, b), scalar)
            }
            Method::FastExp => self.fast_exp(a, scalar),
            Method::FastLn => self.fast_ln(a, scalar),
            Method::FastPow => {
                let b = b(0)?;
                self.fast_power((a, b), scalar)
            }
            Method::Clamp => {
                let (lo, hi) = (b(0)?, b(1)?);
                let low = self.builder.binary(Binary::Max, a, lo);
                self.builder.binary(Binary::Min, low, hi)
            }
            Method::Recip => {
                let one = self.one(scalar);
                self.builder.binary(Binary::Div, one, a)
            }
            Method::Fract => {
                let whole = self.builder.unary(Unary::Trunc, a);
                self.builder.binary(Binary::Sub, a, whole)
            }
            Method::ToBits => {
                let to = match scalar.bits() {
                    64 => Scalar::U64,
                    16 => Scalar::U16,
                    _ => Scalar::U32,
                };
                self.builder.op(Op::Bits(a, to))
            }
            Method::To(scalar) => self.cast(a, scalar),
            Method::Dot4 => {
                let (b, c) = (b(0)?, b(1)?);
                self.builder.op(Op::Dot4(a, b, c))
            }
            Method::Total(op) => {
                let b = b(0)?;
                let (a, b) = (self.total_key(a, scalar), self.total_key(b, scalar));
                self.builder.compare(op, a, b)
            }
            Method::PrintedKind => self.builder.bits(Scalar::U32, printed_kind(scalar)),
            Method::Printed(from) => self.printed(a, scalar, from),
            Method::OfInverse(op) => {
                let inverse = self.builder.unary(Unary::Not, a);
                self.builder.unary(op, inverse)
            }
            Method::UnsignedAbs => {
                let size = self.builder.unary(Unary::Abs, a);
                self.cast(size, scalar.unsigned())
            }
            Method::AbsDiff => self.distance(a, b(0)?, scalar),
            Method::RemEuclid => self.least_remainder(a, b(0)?, scalar),
            Method::DivCeil => self.quotient_up(a, b(0)?, scalar),
            Method::Checked(op) => {
                let (value, beyond) = self.with_overflow(op, (a, b(0)?), scalar);
                let fits = self.builder.unary(Unary::Not, beyond);
                return Ok(Operand::Tuple(vec![Operand::Value(fits), Operand::Value(value)]));
            }
            Method::CheckedQuotient(op) => {
                let (value, fits) = self.quotient_if(op, (a, b(0)?), scalar);
                return Ok(Operand::Tuple(vec![Operand::Value(fits), Operand::Value(value)]));
            }
            Method::SatMul => {
                let b = b(0)?;
                let (value, beyond) = self.with_overflow(Binary::Mul, (a, b), scalar);
                let end = self.end_of_product((a, b), scalar);
                self.builder.op(Op::Select(beyond, end, value))
            }
            Method::IntPow => self.power(a, b(0)?, scalar),
            Method::Signum => {
                let one = self.one(scalar);
                let signed = self.builder.binary(Binary::CopySign, one, a);
                let nan = self.builder.compare(Compare::Ne, a, a);
                self.builder.op(Op::Select(nan, a, signed))
            }
            Method::Powi => {
                let n = b(0)?;
                let n = self.cast(n, scalar);
                self.builder.binary(Binary::Pow, a, n)
            }
            Method::IsNan => self.builder.compare(Compare::Ne, a, a),
            Method::ToInfinity(op) => {
                let infinite = Combine::Min.identity(scalar).unwrap_or(0);
                let infinite = self.builder.bits(scalar, infinite);
                let size = self.builder.unary(Unary::Abs, a);
                self.builder.compare(op, size, infinite)
            }
        };
        Ok(Operand::Value(value))
    }

    pub(super) fn one(&mut self, scalar: Scalar) -> Value {
        let bits = Combine::Mul.identity(scalar).unwrap_or(1);
        self.builder.bits(scalar, bits)
    }
}
