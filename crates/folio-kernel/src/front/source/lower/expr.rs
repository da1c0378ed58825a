//! Expressions: numbers, operators, fields, what is made of parts.

use super::super::tree::{At, Expr};
use super::super::{Entry, Function};
use super::place::known;
use super::{Lower, LowerError, Operand, Result, fits_a_variable};
use crate::ir::{ParamId, Stmt, Value};
use crate::op::{Binary, Compare, Op, Unary};
use crate::types::{Composite, Field, Scalar, Struct, Type};
use std::collections::HashMap;

/// An operator of a kernel that is `checked`: its word, that of the same without a check, the
/// operation, and what is wrong where its type lacks the result.
type Checked = (&'static str, &'static str, Binary, &'static str);

/// All of them, with Rust's messages, as `operators` of `folio-device` have them.
const CHECKED: &[Checked] = &[
    ("+?", "+", Binary::Add, "attempt to add with overflow"),
    ("-?", "-", Binary::Sub, "attempt to subtract with overflow"),
    ("*?", "*", Binary::Mul, "attempt to multiply with overflow"),
];

impl Lower {
    pub(super) fn expr(&mut self, expr: &Expr) -> Result<Operand> {
        match expr {
            Expr::Unit => Ok(Operand::Unit),
            Expr::Number(digits, ty) => self.number(digits, *ty),
            Expr::Bool(value) => {
                Ok(Operand::Value(self.builder.bits(Scalar::Bool, u64::from(*value))))
            }
            Expr::Local(local) => match self.frame.locals.get(local) {
                Some(given) => Ok(given.clone()),
                None => Err(LowerError::Unsupported("this name")),
            },
            Expr::Const(at) => self.constant(*at),
            Expr::Binary(op, a, b, function, at) => self.binary(op, a, b, *function, *at),
            Expr::Unary(op, a, function) => {
                let a = self.of(a)?;
                if let Some(function) = self.operator_of(*function) {
                    return self.inline(function, (function.table)(), vec![Operand::Value(a)]);
                }
                let op = if *op == '-' { Unary::Neg } else { Unary::Not };
                Ok(Operand::Value(self.builder.unary(op, a)))
            }
            Expr::Cast(a, ty) => {
                let a = self.of(a)?;
                let to = self.entry_type(*ty)?.scalar();
                let to = to.ok_or(LowerError::Unsupported("as"))?;
                Ok(Operand::Value(self.cast(a, to)))
            }
            Expr::FromBits(a, ty) => {
                let a = self.of(a)?;
                let to = self.entry_type(*ty)?.scalar();
                let to = to.ok_or(LowerError::Unsupported("from_bits"))?;
                Ok(Operand::Value(self.builder.op(Op::Bits(a, to))))
            }
            Expr::SubgroupFold(fold, combine, value) => {
                let (combine, value) = (self.combine(*combine)?, self.of(value)?);
                Ok(Operand::Value(self.builder.op(Op::SubgroupFold(*fold, combine, value))))
            }
            Expr::Method(receiver, name, args, at) => self.method(receiver, name, args, *at),
            Expr::Call(at, args) => self.call(*at, args),
            Expr::Closure(of) => Ok(self.closure(of)),
            Expr::Apply(at, args) => self.apply(*at, args),
            Expr::Field(base, name) => self.field(base, name),
            Expr::Index(base, index, at) => self.index(base, index, *at),
            Expr::Tuple(parts) => {
                let part = |part| {
                    let given = self.expr(part)?;
                    self.resolve(given)
                };
                let parts: Result<Vec<_>> = parts.iter().map(part).collect();
                Ok(Operand::Tuple(parts?))
            }
            Expr::Struct(ty, fields) => self.structure(*ty, fields),
            Expr::Array(parts) => {
                let parts: Result<Vec<_>> = parts.iter().map(|part| self.of(part)).collect();
                self.array(parts?)
            }
            Expr::Repeat(part, count) => {
                let part = self.of(part)?;
                match self.frame.table.get(usize::from(*count)) {
                    Some(Entry::Const(_, count)) => {
                        let count = count.first().copied().unwrap_or(0);
                        // Before there are so many parts.
                        let (bytes, _) =
                            self.builder.kernel().types.layout(self.builder.type_of(part));
                        fits_a_variable(bytes.saturating_mul(count))?;
                        self.array(vec![part; count as usize])
                    }
                    _ => Err(LowerError::Unsupported("this length")),
                }
            }
            Expr::If(links, otherwise) => self.branch(links, otherwise.as_ref()),
            Expr::Block(block) => self.block(block),
            Expr::Scope(number, block) => self.scope(*number, block),
            Expr::Loop(number, block) => self.repeat(*number, None, block),
            Expr::Each(..)
            | Expr::Once(_)
            | Expr::Collect(..)
            | Expr::Private(_)
            | Expr::Fill(..) => self.grouped(expr),
            Expr::Tile(..) | Expr::TileOf(..) | Expr::TileFold(..) => self.tiled(expr),
            other => self.statement(other).map(|()| Operand::Unit),
        }
    }

    pub(super) fn number(&mut self, digits: &'static str, ty: u16) -> Result<Operand> {
        let wrong = |scalar: Scalar| LowerError::Number(digits, scalar.to_string());
        let scalar = self.entry_type(ty)?.scalar();
        let scalar = scalar.ok_or(LowerError::Unsupported("this number"))?;
        let bits = match scalar {
            Scalar::F32 => digits.parse::<f32>().map(|x| u64::from(x.to_bits())).ok(),
            Scalar::F64 => digits.parse::<f64>().map(f64::to_bits).ok(),
            _ => digits.parse::<i128>().map(|x| x as u64).ok(),
        };
        let bits = bits.ok_or_else(|| wrong(scalar))?;
        Ok(Operand::Value(self.builder.bits(scalar, bits)))
    }

    pub(super) fn cast(&mut self, a: Value, to: Scalar) -> Value {
        // `bool as f32` is no cast of Rust.
        self.builder.cast(a, to)
    }

    pub(super) fn operator(&mut self, op: &str, a: Value, b: Value) -> Result<Value> {
        let compare = |op| Some(Op::Compare(op, a, b));
        let binary = |op| Some(Op::Binary(op, a, b));
        let op = match op {
            "+" => binary(Binary::Add),
            "-" => binary(Binary::Sub),
            "*" => binary(Binary::Mul),
            "/" => binary(Binary::Div),
            "%" => binary(Binary::Rem),
            "&" | "&&" => binary(Binary::And),
            "|" | "||" => binary(Binary::Or),
            "^" => binary(Binary::Xor),
            "<<" => binary(Binary::Shl),
            ">>" => binary(Binary::Shr),
            "==" => compare(Compare::Eq),
            "!=" => compare(Compare::Ne),
            "<" => compare(Compare::Lt),
            "<=" => compare(Compare::Le),
            ">" => compare(Compare::Gt),
            ">=" => compare(Compare::Ge),
            _ => None,
        };
        let op = op.ok_or(LowerError::Unsupported("this operator"))?;
        Ok(self.builder.op(op))
    }

    pub(super) fn binary(
        &mut self,
        op: &'static str,
        a: &Expr,
        b: &Expr,
        function: Option<u16>,
        at: At,
    ) -> Result<Operand> {
        if matches!(op, "&&" | "||") && !self.is_plain(b) {
            return self.lazy(op, a, b);
        }
        let a = self.of(a)?;
        let b = self.of(b)?;
        self.operated(op, a, b, function, at).map(Operand::Value)
    }

    /// An operator, of numbers or as a struct has it.
    pub(super) fn operated(
        &mut self,
        op: &'static str,
        a: Value,
        b: Value,
        function: Option<u16>,
        at: At,
    ) -> Result<Value> {
        if let Some(function) = self.operator_of(function) {
            let given = vec![Operand::Value(a), Operand::Value(b)];
            let given = self.inline(function, (function.table)(), given)?;
            return self.value(given);
        }
        if matches!(op, "is" | "==" | "!=") && self.is_enum(a) {
            let [first, second] = [a, b].map(|of| self.builder.op(Op::Part(of, 0)));
            let op = if op == "!=" { op } else { "==" };
            let number = self.operated(op, first, second, None, at)?;
            return (1..self.parts(a)).try_fold(number, |all, part| {
                let is = self.is_alike(a, b, part, at)?;
                self.operator("&", all, is)
            });
        }
        let op = if op == "is" { "==" } else { op };
        let compares = matches!(op, "==" | "!=" | "<" | "<=" | ">" | ">=");
        match self.builder.type_of(a).scalar() {
            None if compares => return Err(LowerError::Comparison(op)),
            None => return Err(LowerError::Unsupported(op)),
            Some(Scalar::Bool) => return self.of_bools(op, a, b),
            Some(_) => {}
        }
        if let Some(checked) = CHECKED.iter().find(|checked| checked.0 == op) {
            return self.checked(checked, (a, b), at);
        }
        self.site(at);
        self.operator(op, a, b)
    }

    /// An operation of a function that is `checked`: of integers it fails beyond their type.
    fn checked(&mut self, of: &Checked, (a, b): (Value, Value), at: At) -> Result<Value> {
        let &(_, plain, op, message) = of;
        let integer = self.builder.type_of(a).scalar().filter(|scalar| scalar.is_int());
        let Some(scalar) = integer.filter(|_| !self.gives) else {
            self.site(at);
            return self.operator(plain, a, b);
        };
        let (value, beyond) = self.with_overflow(op, (a, b), scalar);
        let fits = self.builder.unary(Unary::Not, beyond);
        let site = self.site_of(at, Some(message));
        self.builder.assert(fits, site);
        Ok(value)
    }

    /// Whether it is an enum, which is a struct that begins with a number. Rustc has seen to it
    /// that no other struct is compared. Enums with data are, with constants of patterns.
    fn is_enum(&mut self, of: Value) -> bool {
        let ty = self.builder.type_of(of);
        matches!(self.builder.types().get(ty), Some(Composite::Struct(of)) if is_enum(of))
    }

    fn parts(&mut self, of: Value) -> u32 {
        let ty = self.builder.type_of(of);
        self.builder.types().parts(ty)
    }

    /// Whether a part of a value is that of a constant: data of a variant, as patterns compare it.
    fn is_alike(&mut self, a: Value, b: Value, part: u32, at: At) -> Result<Value> {
        let [a, b] = [a, b].map(|of| self.builder.op(Op::Part(of, part)));
        if self.builder.type_of(a).scalar().is_some() {
            return self.operated("==", a, b, None, at);
        }
        let yes = self.builder.bits(Scalar::Bool, 1);
        (0..self.parts(a)).try_fold(yes, |all, part| {
            let is = self.is_alike(a, b, part, at)?;
            self.operator("&", all, is)
        })
    }

    /// An operator of two `bool`: the IR has no order of them.
    fn of_bools(&mut self, op: &'static str, a: Value, b: Value) -> Result<Value> {
        let (op, a, b) = match op {
            "<" => ("&", self.builder.unary(Unary::Not, a), b),
            "<=" => ("|", self.builder.unary(Unary::Not, a), b),
            ">" => ("&", a, self.builder.unary(Unary::Not, b)),
            ">=" => ("|", a, self.builder.unary(Unary::Not, b)),
            _ => (op, a, b),
        };
        self.operator(op, a, b)
    }

    /// The function that an operator is for structs.
    fn operator_of(&self, entry: Option<u16>) -> Option<&'static Function> {
        match self.frame.table.get(usize::from(entry?))? {
            Entry::Function(function) => Some(*function),
            _ => None,
        }
    }

    fn constant(&mut self, at: u16) -> Result<Operand> {
        let Some(Entry::Const(ty, bits)) = self.frame.table.get(usize::from(at)).cloned() else {
            return Err(LowerError::Unsupported("this constant"));
        };
        let ty = ty(self.builder.types());
        let value = self.made_of(ty, &mut bits.into_iter())?;
        Ok(Operand::Value(value))
    }

    /// A value of these numbers.
    fn made_of(&mut self, ty: Type, bits: &mut dyn Iterator<Item = u64>) -> Result<Value> {
        if let Some(scalar) = ty.scalar() {
            let bits = bits.next().ok_or(LowerError::Unsupported("this constant"))?;
            return Ok(self.builder.bits(scalar, bits));
        }
        let count = self.builder.types().parts(ty);
        let parts: Result<Vec<_>> = (0..count)
            .map(|at| {
                let part = self.builder.types().part(ty, at).unwrap_or(ty);
                self.made_of(part, bits)
            })
            .collect();
        Ok(self.builder.op(Op::Make(ty, parts?)))
    }

    /// The right side only if it decides.
    pub(super) fn lazy(&mut self, op: &'static str, a: &Expr, b: &Expr) -> Result<Operand> {
        let first = self.of(a)?;
        let var = self.var("lazy", Scalar::Bool);
        self.builder.set(var, first);
        self.builder.begin(false);
        // An operand that leaves decides nothing.
        let second = self.expr(b)?;
        if !matches!(second, Operand::Unit) {
            let second = self.value(second)?;
            self.builder.set(var, second);
        }
        let decides = self.builder.end();
        let (then, otherwise) = if op == "&&" { (decides, vec![]) } else { (vec![], decides) };
        self.builder.push(Stmt::If { cond: first, then, otherwise });
        Ok(Operand::Value(self.builder.get(var)))
    }

    pub(super) fn field(&mut self, base: &Expr, name: &'static str) -> Result<Operand> {
        let given = self.expr(base)?;
        if let Operand::Tuple(parts) = &given {
            let part = name.parse().ok().and_then(|at: usize| parts.get(at));
            return part.cloned().ok_or(LowerError::Unsupported("this field"));
        }
        let ty = match &given {
            Operand::Place(_, ty) => *ty,
            Operand::Value(value) => self.builder.type_of(*value),
            _ => return Err(LowerError::Unsupported("this field")),
        };
        let (at, part) = match self.builder.types().get(ty) {
            Some(Composite::Struct(s)) => {
                let at = s.fields.iter().position(|field| field.name == name);
                at.map(|at| (at as u32, s.fields[at].ty))
            }
            _ => None,
        }
        .ok_or(LowerError::Unsupported("this field"))?;
        match given {
            Operand::Place(place, _) => Ok(Operand::Place(place.part(at), part)),
            other => {
                let value = self.value(other)?;
                Ok(Operand::Value(self.builder.op(Op::Part(value, at))))
            }
        }
    }

    pub(super) fn structure(
        &mut self,
        ty: u16,
        fields: &[(&'static str, Expr)],
    ) -> Result<Operand> {
        let ty = self.entry_type(ty)?;
        let mut values = HashMap::new();
        for (name, expr) in fields {
            values.insert(*name, self.of(expr)?);
        }
        let (fields, variants) = match self.builder.types().get(ty) {
            Some(Composite::Struct(s)) => (s.fields.clone(), is_enum(s)),
            _ => (vec![], false),
        };
        let base = values.get("..").copied();
        let part = |(at, field): (usize, &Field)| match (values.get(field.name.as_str()), base) {
            (Some(value), _) => Ok(*value),
            (None, Some(base)) => Ok(self.builder.op(Op::Part(base, at as u32))),
            // Data of another variant.
            _ if variants => self.made_of(field.ty, &mut std::iter::repeat(0)),
            _ => Err(LowerError::Unsupported("this struct")),
        };
        let parts: Result<Vec<_>> = fields.iter().enumerate().map(part).collect();
        Ok(Operand::Value(self.builder.op(Op::Make(ty, parts?))))
    }

    pub(super) fn array(&mut self, parts: Vec<Value>) -> Result<Operand> {
        let first = parts.first().ok_or(LowerError::Unsupported("an empty array"))?;
        let element = self.builder.type_of(*first);
        let ty = self.builder.types().array(element, parts.len() as u32);
        Ok(Operand::Value(self.builder.op(Op::Make(ty, parts))))
    }

    /// Computing it when it does not decide changes nothing: no load, division, call, exit, or
    /// method that may fail or that a parameter has.
    fn is_plain(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Number(..) | Expr::Bool(_) | Expr::Local(_) | Expr::Const(_) => true,
            Expr::Binary(op, a, b, function, _) => {
                let can_fail = matches!(*op, "/" | "%") || CHECKED.iter().any(|of| of.0 == *op);
                let number = self.operator_of(*function).is_none();
                number && !can_fail && self.is_plain(a) && self.is_plain(b)
            }
            Expr::Unary(_, a, function) => {
                self.operator_of(*function).is_none() && self.is_plain(a)
            }
            Expr::Cast(a, _) | Expr::FromBits(a, _) | Expr::Field(a, _) => self.is_plain(a),
            Expr::Method(a, name, args, _) => {
                let harmless = match self.view_of(a) {
                    Some(_) => matches!(*name, "len" | "shape"),
                    None => !matches!(*name, "rem_euclid" | "div_ceil"),
                };
                harmless && self.is_plain(a) && args.iter().all(|arg| self.is_plain(arg))
            }
            Expr::Index(of, at, _) => match (&**of, known(at)) {
                (Expr::Method(view, "shape", ..), Some(dim)) => {
                    let view = self.view_of(view);
                    let elements = view.and_then(|view| self.builder.kernel().elements(view));
                    elements.is_some_and(|(_, rank)| dim < usize::from(rank))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// The parameter that an expression names, if it is a view or local memory.
    fn view_of(&self, expr: &Expr) -> Option<ParamId> {
        let Expr::Local(local) = expr else { return None };
        match self.frame.locals.get(local) {
            Some(Operand::View(param)) => Some(*param),
            _ => None,
        }
    }
}

/// A struct that stands for an enum: its number is first, and no struct of a program's has a field
/// of this name beside others.
fn is_enum(of: &Struct) -> bool {
    match &of.fields[..] {
        [number] => number.name == "number",
        [number, ..] => number.name == "#",
        [] => false,
    }
}
