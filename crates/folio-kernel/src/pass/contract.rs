//! Contraction: products that are used once, by a sum or a difference of the same block, become one
//! fused operation with it. For kernels that ask for it (semantics 5.2): results differ in their
//! last bits.

use crate::ir::{Body, Kernel, Let, Stmt, Value, walk};
use crate::op::{Binary, Op, Unary};
use crate::types::{Scalar, Type};
use std::collections::HashMap;

/// The same kernel, contracted.
pub fn contract(mut kernel: Kernel) -> Kernel {
    let mut uses = vec![0u32; kernel.values.len()];
    walk(&kernel.body, &mut |stmt| {
        for value in stmt.operands() {
            if let Some(uses) = uses.get_mut(value.index()) {
                *uses += 1;
            }
        }
    });
    let body = std::mem::take(&mut kernel.body);
    kernel.body = Contraction { types: &mut kernel.values, uses }.body(body);
    kernel
}

struct Contraction<'k> {
    types: &'k mut Vec<Type>,
    /// By value.
    uses: Vec<u32>,
}

impl Contraction<'_> {
    fn body(&mut self, body: Body) -> Body {
        let mut products = HashMap::new();
        let mut out = Vec::with_capacity(body.len());
        for mut stmt in body {
            for inner in stmt.bodies_mut() {
                *inner = self.body(std::mem::take(inner));
            }
            if let Stmt::Let(define) = &mut stmt {
                self.fuse(define, &products, &mut out);
                if let Op::Binary(Binary::Mul, a, b) = define.op
                    && self.is_float(define.value)
                    && self.uses.get(define.value.index()) == Some(&1)
                {
                    products.insert(define.value, (a, b));
                }
            }
            out.push(stmt);
        }
        out
    }

    /// A sum or difference of a product is one operation. The product stays, unused.
    fn fuse(
        &mut self,
        define: &mut Let,
        products: &HashMap<Value, (Value, Value)>,
        out: &mut Body,
    ) {
        let Op::Binary(how @ (Binary::Add | Binary::Sub), x, y) = define.op else { return };
        let subtracts = how == Binary::Sub;
        define.op = match (products.get(&x), products.get(&y)) {
            (Some(&(a, b)), _) => Op::Fma(a, b, if subtracts { self.minus(y, out) } else { y }),
            (_, Some(&(a, b))) => Op::Fma(if subtracts { self.minus(a, out) } else { a }, b, x),
            _ => return,
        };
    }

    fn minus(&mut self, value: Value, out: &mut Body) -> Value {
        let negated = Value(self.types.len() as u32);
        self.types.push(self.types[value.index()]);
        out.push(Stmt::Let(Let { value: negated, op: Op::Unary(Unary::Neg, value), site: None }));
        negated
    }

    fn is_float(&self, value: Value) -> bool {
        let scalar = self.types.get(value.index()).and_then(|ty| ty.scalar());
        scalar.is_some_and(Scalar::is_float)
    }
}
