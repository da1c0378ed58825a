//! A notation for straight-line code of the IR: numbers that write down what is done with them.

use crate::ir::{Body, Label, Let, Place, Stmt, Value, VarDecl, VarId};
use crate::op::{Binary, Compare, Op, Unary};
use crate::types::{Scalar, Type};
use std::cell::RefCell;
use std::ops;

/// Code in the making, and the lists of its kernel that it appends to.
pub struct Code {
    state: RefCell<State>,
}

struct State {
    values: Vec<Type>,
    vars: Vec<VarDecl>,
    labels: u32,
    uniform: bool,
    /// The bodies around what comes next, innermost last; never empty.
    open: Vec<Body>,
}

impl Code {
    /// Appends to these lists of a kernel.
    pub fn new(values: Vec<Type>, vars: Vec<VarDecl>, labels: u32) -> Code {
        let open = vec![vec![]];
        Code { state: RefCell::new(State { values, vars, labels, uniform: false, open }) }
    }

    /// The lists.
    pub fn lists(self) -> (Vec<Type>, Vec<VarDecl>, u32) {
        let state = self.state.into_inner();
        (state.values, state.vars, state.labels)
    }

    /// Variables that follow belong to uniform code: what was so before.
    pub fn set_uniform(&self, uniform: bool) -> bool {
        std::mem::replace(&mut self.state.borrow_mut().uniform, uniform)
    }

    /// A statement.
    pub fn push(&self, stmt: Stmt) {
        if let Some(body) = self.state.borrow_mut().open.last_mut() {
            body.push(stmt);
        }
    }

    /// The statements that `write` writes.
    pub fn within(&self, write: impl FnOnce(&Code)) -> Body {
        self.state.borrow_mut().open.push(vec![]);
        write(self);
        self.state.borrow_mut().open.pop().unwrap_or_default()
    }

    fn fresh(&self, ty: Scalar) -> Value {
        let values = &mut self.state.borrow_mut().values;
        values.push(ty.into());
        Value(values.len() as u32 - 1)
    }

    /// The result of an operation.
    pub fn op(&self, op: Op, ty: Scalar) -> N<'_> {
        let value = self.fresh(ty);
        self.push(Stmt::Let(Let { value, op, site: None }));
        N { code: self, value, ty }
    }

    /// A value that is there.
    pub fn value(&self, value: Value, ty: Scalar) -> N<'_> {
        N { code: self, value, ty }
    }

    /// A literal, by its bits.
    pub fn bits(&self, ty: Scalar, bits: u64) -> N<'_> {
        self.op(Op::Const(ty, bits & ty.mask()), ty)
    }

    /// A literal.
    pub fn number(&self, ty: Scalar, number: f64) -> N<'_> {
        let bits = match ty {
            Scalar::F32 => u64::from((number as f32).to_bits()),
            Scalar::F64 => number.to_bits(),
            _ => number as i64 as u64,
        };
        self.bits(ty, bits)
    }

    /// A literal.
    pub fn f32(&self, number: f32) -> N<'_> {
        self.bits(Scalar::F32, u64::from(number.to_bits()))
    }

    /// A literal.
    pub fn f64(&self, number: f64) -> N<'_> {
        self.bits(Scalar::F64, number.to_bits())
    }

    /// A literal.
    pub fn u32(&self, number: u32) -> N<'_> {
        self.bits(Scalar::U32, u64::from(number))
    }

    /// A literal.
    pub fn u64(&self, number: u64) -> N<'_> {
        self.bits(Scalar::U64, number)
    }

    /// `c0 + c1 x + c2 x^2 + ..`
    pub fn poly_f32<'c>(&'c self, x: N<'c>, all: &[f32]) -> N<'c> {
        polynomial(x, all.iter().map(|number| || self.f32(*number)))
    }

    /// `c0 + c1 x + c2 x^2 + ..`
    pub fn poly_f64<'c>(&'c self, x: N<'c>, all: &[f64]) -> N<'c> {
        polynomial(x, all.iter().map(|number| || self.f64(*number)))
    }

    /// A literal `u64`.
    pub fn word(&self, bits: u64) -> N<'_> {
        self.bits(Scalar::U64, bits)
    }

    /// A variable with a value.
    pub fn var(&self, value: N<'_>) -> Var<'_> {
        let var = self.declared(value.ty);
        var.set(value);
        var
    }

    fn declared(&self, ty: Scalar) -> Var<'_> {
        let mut state = self.state.borrow_mut();
        let (uniform, name) = (state.uniform, "soft".to_owned());
        state.vars.push(VarDecl { name, ty: ty.into(), uniform });
        Var { code: self, var: VarId(state.vars.len() as u32 - 1), ty }
    }

    /// What one of two ways computes: a branch, so that a thread goes one way alone.
    pub fn either<'c>(
        &'c self,
        ty: Scalar,
        cond: N<'c>,
        then: impl FnOnce() -> N<'c>,
        otherwise: impl FnOnce() -> N<'c>,
    ) -> N<'c> {
        let var = self.declared(ty);
        let then = self.within(|_| var.set(then()));
        let otherwise = self.within(|_| var.set(otherwise()));
        self.push(Stmt::If { cond: cond.value, then, otherwise });
        var.get()
    }

    /// What `turn` writes, for each `u64` from 0 up to and without `end`.
    pub fn repeat<'c>(&'c self, end: N<'c>, turn: impl FnOnce(N<'c>)) {
        let start = self.word(0);
        let index = self.fresh(Scalar::U64);
        let label = {
            let mut state = self.state.borrow_mut();
            state.labels += 1;
            state.open.push(vec![]);
            Label(state.labels - 1)
        };
        turn(N { code: self, value: index, ty: Scalar::U64 });
        let body = self.state.borrow_mut().open.pop().unwrap_or_default();
        self.push(Stmt::For { label, index, start: start.value, end: end.value, body });
    }
}

fn polynomial<'c>(x: N<'c>, all: impl DoubleEndedIterator<Item = impl Fn() -> N<'c>>) -> N<'c> {
    let mut sum = None;
    for number in all.rev() {
        let more = sum.map(|sum| x * sum);
        sum = Some(more.map_or_else(&number, |more| number() + more));
    }
    sum.unwrap_or(x)
}

/// A variable.
#[derive(Clone, Copy)]
pub struct Var<'c> {
    code: &'c Code,
    var: VarId,
    ty: Scalar,
}

impl<'c> Var<'c> {
    pub fn set(self, to: N<'c>) {
        let place = Place::var(self.var);
        self.code.push(Stmt::Store { place, value: to.value, site: None });
    }

    pub fn get(self) -> N<'c> {
        self.code.op(Op::Load(Place::var(self.var)), self.ty)
    }
}

/// A number.
#[derive(Clone, Copy)]
pub struct N<'c> {
    pub code: &'c Code,
    pub value: Value,
    pub ty: Scalar,
}

impl<'c> N<'c> {
    /// A literal of the same type.
    pub fn lit(self, number: f64) -> N<'c> {
        self.code.number(self.ty, number)
    }

    /// A literal of the same type, by its bits.
    pub fn of_bits(self, bits: u64) -> N<'c> {
        self.code.bits(self.ty, bits)
    }

    pub fn unary(self, op: Unary) -> N<'c> {
        let counts = matches!(op, Unary::CountOnes | Unary::LeadingZeros | Unary::TrailingZeros);
        let ty = if counts { Scalar::U32 } else { self.ty };
        self.code.op(Op::Unary(op, self.value), ty)
    }

    pub fn binary(self, op: Binary, other: N<'c>) -> N<'c> {
        self.code.op(Op::Binary(op, self.value, other.value), self.ty)
    }

    /// The product and a sum, rounded once.
    pub fn times_plus(self, by: N<'c>, plus: N<'c>) -> N<'c> {
        self.code.op(Op::Fma(self.value, by.value, plus.value), self.ty)
    }

    pub fn compare(self, op: Compare, other: N<'c>) -> N<'c> {
        self.code.op(Op::Compare(op, self.value, other.value), Scalar::Bool)
    }

    pub fn lt(self, other: impl Num<'c>) -> N<'c> {
        self.compare(Compare::Lt, other.like(self))
    }

    pub fn le(self, other: impl Num<'c>) -> N<'c> {
        self.compare(Compare::Le, other.like(self))
    }

    pub fn gt(self, other: impl Num<'c>) -> N<'c> {
        self.compare(Compare::Gt, other.like(self))
    }

    pub fn ge(self, other: impl Num<'c>) -> N<'c> {
        self.compare(Compare::Ge, other.like(self))
    }

    pub fn eq(self, other: impl Num<'c>) -> N<'c> {
        self.compare(Compare::Eq, other.like(self))
    }

    pub fn ne(self, other: impl Num<'c>) -> N<'c> {
        self.compare(Compare::Ne, other.like(self))
    }

    /// The first if this is true, else the second.
    pub fn pick<T: Pick<'c>>(self, yes: T, no: T) -> T {
        T::pick(self, yes, no)
    }

    pub fn cast(self, to: Scalar) -> N<'c> {
        if to == self.ty { self } else { self.code.op(Op::Cast(self.value, to), to) }
    }

    /// The bits as another type of the same width.
    pub fn as_bits(self, to: Scalar) -> N<'c> {
        if to == self.ty { self } else { self.code.op(Op::Bits(self.value, to), to) }
    }

    /// A float's bits, as an unsigned integer of its width.
    pub fn raw(self) -> N<'c> {
        self.as_bits(match self.ty {
            Scalar::F32 => Scalar::U32,
            Scalar::F64 => Scalar::U64,
            Scalar::F16 | Scalar::Bf16 => Scalar::U16,
            other => other,
        })
    }

    fn sign_bit(self) -> N<'c> {
        let raw = self.raw();
        raw.of_bits(1 << (raw.ty.bits() - 1))
    }

    /// By its bits: no device changes them on the way.
    pub fn negated(self) -> N<'c> {
        (self.raw() ^ self.sign_bit()).as_bits(self.ty)
    }

    pub fn abs(self) -> N<'c> {
        (self.raw() & !self.sign_bit()).as_bits(self.ty)
    }

    pub fn copysign(self, of: N<'c>) -> N<'c> {
        let sign = self.sign_bit();
        ((self.raw() & !sign) | (of.raw() & sign)).as_bits(self.ty)
    }

    pub fn is_negative(self) -> N<'c> {
        let raw = self.raw();
        (raw & self.sign_bit()).ne(raw.of_bits(0))
    }

    pub fn is_nan(self) -> N<'c> {
        self.ne(self)
    }

    pub fn nan(self) -> N<'c> {
        self.lit(f64::NAN)
    }

    pub fn infinity(self) -> N<'c> {
        self.lit(f64::INFINITY)
    }

    pub fn is_infinite(self) -> N<'c> {
        self.abs().eq(self.infinity())
    }

    pub fn sqrt(self) -> N<'c> {
        self.unary(Unary::Sqrt)
    }

    pub fn leading_zeros(self) -> N<'c> {
        self.unary(Unary::LeadingZeros).cast(Scalar::U64)
    }

    /// The difference, or zero where that is below.
    pub fn saturating_sub(self, less: N<'c>) -> N<'c> {
        self.lt(less).pick(self.of_bits(0), self - less)
    }

    pub fn mul_hi(self, other: N<'c>) -> N<'c> {
        self.binary(Binary::MulHi, other)
    }
}

/// Numbers that a condition chooses from, one by one.
pub trait Pick<'c> {
    fn pick(cond: N<'c>, yes: Self, no: Self) -> Self;
}

impl<'c> Pick<'c> for N<'c> {
    fn pick(cond: N<'c>, yes: N<'c>, no: N<'c>) -> N<'c> {
        cond.code.op(Op::Select(cond.value, yes.value, no.value), yes.ty)
    }
}

impl<'c> Pick<'c> for (N<'c>, N<'c>) {
    fn pick(cond: N<'c>, yes: Self, no: Self) -> Self {
        (cond.pick(yes.0, no.0), cond.pick(yes.1, no.1))
    }
}

impl<'c> Pick<'c> for (N<'c>, N<'c>, N<'c>) {
    fn pick(cond: N<'c>, yes: Self, no: Self) -> Self {
        (cond.pick(yes.0, no.0), cond.pick(yes.1, no.1), cond.pick(yes.2, no.2))
    }
}

/// A number, or a literal of the type of the number beside it.
pub trait Num<'c> {
    fn like(self, other: N<'c>) -> N<'c>;
}

impl<'c> Num<'c> for N<'c> {
    fn like(self, _: N<'c>) -> N<'c> {
        self
    }
}

impl<'c> Num<'c> for f64 {
    fn like(self, other: N<'c>) -> N<'c> {
        other.lit(self)
    }
}

impl<'c> Num<'c> for u64 {
    fn like(self, other: N<'c>) -> N<'c> {
        other.of_bits(self)
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $op:ident),*) => {$(
        impl<'c, T: Num<'c>> ops::$trait<T> for N<'c> {
            type Output = N<'c>;
            fn $method(self, other: T) -> N<'c> {
                self.binary(Binary::$op, other.like(self))
            }
        }
    )*};
}
operators!(Add add Add, Sub sub Sub, Mul mul Mul, Div div Div, BitAnd bitand And, BitOr bitor Or,
    BitXor bitxor Xor, Shl shl Shl, Shr shr Shr);

macro_rules! literals {
    ($($trait:ident $method:ident),*) => {$(
        impl<'c> ops::$trait<N<'c>> for f64 {
            type Output = N<'c>;
            fn $method(self, other: N<'c>) -> N<'c> {
                other.lit(self).$method(other)
            }
        }
    )*};
}
literals!(Add add, Sub sub, Mul mul, Div div);

impl<'c> ops::Not for N<'c> {
    type Output = N<'c>;
    fn not(self) -> N<'c> {
        self.unary(Unary::Not)
    }
}

impl<'c> ops::Neg for N<'c> {
    type Output = N<'c>;
    fn neg(self) -> N<'c> {
        if self.ty.is_float() { self.negated() } else { self.unary(Unary::Neg) }
    }
}
