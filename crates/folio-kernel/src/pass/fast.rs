//! Fast forms: what a kernel computes with `f32` by functions and divisions, as near as semantics
//! 5.9 says. For kernels that ask for it: results differ between devices.

use crate::ir::{Body, Kernel, Let, Stmt, Value, walk};
use crate::op::{Binary, Op, Unary};
use crate::types::{Scalar, Type};
use std::f64::consts::{LN_2, LOG2_E, LOG10_2};

/// The same kernel, by fast forms.
pub fn fast(mut kernel: Kernel) -> Kernel {
    let body = std::mem::take(&mut kernel.body);
    kernel.body = Forms { types: &mut kernel.values }.body(body);
    kernel
}

/// Whether a kernel has fast forms.
pub fn is_fast(kernel: &Kernel) -> bool {
    let mut found = false;
    walk(&kernel.body, &mut |stmt| {
        let Stmt::Let(define) = stmt else { return };
        found |= matches!(define.op, Op::Unary(op, _) if op.is_fast());
    });
    found
}

struct Forms<'k> {
    types: &'k mut Vec<Type>,
}

impl Forms<'_> {
    fn body(&mut self, body: Body) -> Body {
        let mut out = Vec::with_capacity(body.len());
        for mut stmt in body {
            for inner in stmt.bodies_mut() {
                *inner = self.body(std::mem::take(inner));
            }
            if let Stmt::Let(define) = &mut stmt
                && self.types.get(define.value.index()) == Some(&Type::Scalar(Scalar::F32))
            {
                self.change(define, &mut out);
            }
            out.push(stmt);
        }
        out
    }

    /// The last of the operations that give the value; those before it go to `out`.
    fn change(&mut self, define: &mut Let, out: &mut Body) {
        define.op = match define.op {
            Op::Binary(Binary::Div, a, b) => {
                let by = self.unary(Unary::FastRecip, b, out);
                Op::Binary(Binary::Mul, a, by)
            }
            Op::Unary(Unary::Exp, a) => {
                let power = self.times(a, LOG2_E, out);
                Op::Unary(Unary::FastExp2, power)
            }
            Op::Unary(Unary::Ln, a) => self.logarithm(a, LN_2, out),
            Op::Unary(Unary::Log10, a) => self.logarithm(a, LOG10_2, out),
            Op::Unary(Unary::Tan, a) => {
                let (sin, cos) =
                    (self.unary(Unary::FastSin, a, out), self.unary(Unary::FastCos, a, out));
                let by = self.unary(Unary::FastRecip, cos, out);
                Op::Binary(Binary::Mul, sin, by)
            }
            Op::Unary(op, a) => Op::Unary(op.fast().unwrap_or(op), a),
            _ => return,
        };
    }

    /// The logarithm to the base whose logarithm of 2 this is.
    fn logarithm(&mut self, a: Value, of_two: f64, out: &mut Body) -> Op {
        let power = self.unary(Unary::FastLog2, a, out);
        let by = self.constant(of_two, out);
        Op::Binary(Binary::Mul, power, by)
    }

    fn times(&mut self, a: Value, by: f64, out: &mut Body) -> Value {
        let by = self.constant(by, out);
        self.value(Op::Binary(Binary::Mul, a, by), out)
    }

    fn constant(&mut self, value: f64, out: &mut Body) -> Value {
        self.value(Op::Const(Scalar::F32, u64::from((value as f32).to_bits())), out)
    }

    fn unary(&mut self, op: Unary, a: Value, out: &mut Body) -> Value {
        self.value(Op::Unary(op, a), out)
    }

    fn value(&mut self, op: Op, out: &mut Body) -> Value {
        let value = Value(self.types.len() as u32);
        self.types.push(Scalar::F32.into());
        out.push(Stmt::Let(Let { value, op, site: None }));
        value
    }
}
