//! Fast functions by name (semantics 5.9). Floats other than `f32` have none: theirs are exact.

use super::Lower;
use crate::ir::Value;
use crate::op::{Binary, Unary};
use crate::types::Scalar;
use std::f64::consts::{LN_2, LOG2_E};

impl Lower {
    /// An operation in its fast form.
    pub(super) fn fast(&mut self, op: Unary, a: Value, scalar: Scalar) -> Value {
        let fast = op.fast().filter(|_| scalar == Scalar::F32);
        self.builder.unary(fast.unwrap_or(op), a)
    }

    pub(super) fn fast_recip(&mut self, a: Value, scalar: Scalar) -> Value {
        if scalar == Scalar::F32 {
            return self.builder.unary(Unary::FastRecip, a);
        }
        let one = self.one(scalar);
        self.builder.binary(Binary::Div, one, a)
    }

    pub(super) fn fast_quotient(&mut self, (a, b): (Value, Value), scalar: Scalar) -> Value {
        if scalar != Scalar::F32 {
            return self.builder.binary(Binary::Div, a, b);
        }
        let by = self.builder.unary(Unary::FastRecip, b);
        self.builder.binary(Binary::Mul, a, by)
    }

    pub(super) fn fast_exp(&mut self, a: Value, scalar: Scalar) -> Value {
        if scalar != Scalar::F32 {
            return self.builder.unary(Unary::Exp, a);
        }
        let power = self.times(a, LOG2_E);
        self.builder.unary(Unary::FastExp2, power)
    }

    pub(super) fn fast_ln(&mut self, a: Value, scalar: Scalar) -> Value {
        if scalar != Scalar::F32 {
            return self.builder.unary(Unary::Ln, a);
        }
        let power = self.builder.unary(Unary::FastLog2, a);
        self.times(power, LN_2)
    }

    pub(super) fn fast_power(&mut self, (a, b): (Value, Value), scalar: Scalar) -> Value {
        if scalar != Scalar::F32 {
            return self.builder.binary(Binary::Pow, a, b);
        }
        let power = self.builder.unary(Unary::FastLog2, a);
        let power = self.builder.binary(Binary::Mul, power, b);
        self.builder.unary(Unary::FastExp2, power)
    }

    fn times(&mut self, a: Value, by: f64) -> Value {
        let by = self.builder.bits(Scalar::F32, u64::from((by as f32).to_bits()));
        self.builder.binary(Binary::Mul, a, by)
    }
}
