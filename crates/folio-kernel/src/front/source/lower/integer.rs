//! Methods of integers that are several operations.

use super::Lower;
use crate::ir::{Stmt, Value};
use crate::op::{Binary, Compare, Op, Unary};
use crate::types::Scalar;

impl Lower {
    /// How far two numbers are apart: it fits the unsigned type.
    pub(super) fn distance(&mut self, a: Value, b: Value, scalar: Scalar) -> Value {
        let (low, high) =
            (self.builder.binary(Binary::Min, a, b), self.builder.binary(Binary::Max, a, b));
        let apart = self.builder.binary(Binary::Sub, high, low);
        self.cast(apart, scalar.unsigned())
    }

    /// The remainder that is not negative.
    pub(super) fn least_remainder(&mut self, a: Value, b: Value, scalar: Scalar) -> Value {
        let rest = self.builder.binary(Binary::Rem, a, b);
        if scalar.is_int() && !scalar.is_signed() {
            return rest;
        }
        let zero = self.builder.bits(scalar, 0);
        let negative = self.builder.compare(Compare::Lt, rest, zero);
        let size = self.builder.unary(Unary::Abs, b);
        let above = self.builder.binary(Binary::Add, rest, size);
        self.builder.op(Op::Select(negative, above, rest))
    }

    /// An integer that orders floats as `total_cmp` does: their bits, of which those of negative
    /// floats but for the sign are turned.
    pub(super) fn total_key(&mut self, a: Value, scalar: Scalar) -> Value {
        let (signed, unsigned) = match scalar.bits() {
            64 => (Scalar::I64, Scalar::U64),
            16 => (Scalar::I16, Scalar::U16),
            _ => (Scalar::I32, Scalar::U32),
        };
        let bits = self.builder.op(Op::Bits(a, unsigned));
        let bits = self.cast(bits, signed);
        let last = self.builder.bits(signed, u64::from(scalar.bits()) - 1);
        let sign = self.builder.binary(Binary::Shr, bits, last);
        let most = self.builder.bits(signed, scalar.mask() >> 1);
        let turned = self.builder.binary(Binary::And, sign, most);
        self.builder.binary(Binary::Xor, bits, turned)
    }

    /// The quotient of numbers without sign, rounded up.
    pub(super) fn quotient_up(&mut self, a: Value, b: Value, scalar: Scalar) -> Value {
        let whole = self.builder.binary(Binary::Div, a, b);
        let rest = self.builder.binary(Binary::Rem, a, b);
        let zero = self.builder.bits(scalar, 0);
        let even = self.builder.compare(Compare::Eq, rest, zero);
        let one = self.one(scalar);
        let above = self.builder.binary(Binary::Add, whole, one);
        self.builder.op(Op::Select(even, whole, above))
    }

    /// A quotient or remainder, and whether there is one: not by zero, nor beyond the type.
    pub(super) fn quotient_if(
        &mut self,
        op: Binary,
        (a, b): (Value, Value),
        scalar: Scalar,
    ) -> (Value, Value) {
        let zero = self.builder.bits(scalar, 0);
        let mut none = self.builder.compare(Compare::Eq, b, zero);
        // Division by this never fails.
        let least = self.cast(none, scalar);
        let by = self.builder.binary(Binary::Or, b, least);
        let value = self.builder.binary(op, a, by);
        if scalar.is_signed() {
            let (first, minus) = (1 << (scalar.bits() - 1), scalar.mask());
            let (first, minus) =
                (self.builder.bits(scalar, first), self.builder.bits(scalar, minus));
            let is_first = self.builder.compare(Compare::Eq, a, first);
            let is_minus = self.builder.compare(Compare::Eq, b, minus);
            let beyond = self.builder.binary(Binary::And, is_first, is_minus);
            none = self.builder.binary(Binary::Or, none, beyond);
        }
        (value, self.builder.unary(Unary::Not, none))
    }

    /// What an operation of integers gives, wrapping, and whether its type has the exact value not.
    pub(super) fn with_overflow(
        &mut self,
        op: Binary,
        (a, b): (Value, Value),
        scalar: Scalar,
    ) -> (Value, Value) {
        let value = self.builder.binary(op, a, b);
        let zero = self.builder.bits(scalar, 0);
        let beyond = match (op, scalar.is_signed()) {
            (Binary::Add, false) => self.builder.compare(Compare::Lt, value, a),
            (Binary::Sub, false) => self.builder.compare(Compare::Lt, a, b),
            (Binary::Mul, false) => {
                let high = self.builder.binary(Binary::MulHi, a, b);
                self.builder.compare(Compare::Ne, high, zero)
            }
            (Binary::Mul, true) => {
                let high = self.builder.binary(Binary::MulHi, a, b);
                let last = self.builder.bits(scalar, scalar.bits() as u64 - 1);
                let sign = self.builder.binary(Binary::Shr, value, last);
                self.builder.compare(Compare::Ne, high, sign)
            }
            // The sign is another one than both have, or than the first where they differ.
            (_, true) => {
                let first = self.builder.binary(Binary::Xor, a, value);
                let other = if op == Binary::Add { value } else { a };
                let second = self.builder.binary(Binary::Xor, b, other);
                let both = self.builder.binary(Binary::And, first, second);
                self.builder.compare(Compare::Lt, both, zero)
            }
            _ => self.builder.compare(Compare::Ne, zero, zero),
        };
        (value, beyond)
    }

    /// The end of the type that is nearest to a product beyond it.
    pub(super) fn end_of_product(&mut self, (a, b): (Value, Value), scalar: Scalar) -> Value {
        let bits = scalar.bits() as u64;
        let all = u64::MAX >> (64 - bits);
        if !scalar.is_signed() {
            return self.builder.bits(scalar, all);
        }
        let most = self.builder.bits(scalar, all >> 1);
        let least = self.builder.unary(Unary::Not, most);
        let zero = self.builder.bits(scalar, 0);
        let signs = self.builder.binary(Binary::Xor, a, b);
        let negative = self.builder.compare(Compare::Lt, signs, zero);
        self.builder.op(Op::Select(negative, least, most))
    }

    /// `a` to the power of a `u32`, bit by bit. Products wrap, so their order does not matter.
    pub(super) fn power(&mut self, a: Value, n: Value, scalar: Scalar) -> Value {
        let (power, base) = (self.var("power", scalar), self.var("base", scalar));
        let bits = self.var("bits", Scalar::U32);
        let one = self.one(scalar);
        self.builder.set(power, one);
        self.builder.set(base, a);
        self.builder.set(bits, n);
        let (start, end) = (self.builder.index(0), self.builder.index(32));
        let (label, index) = (self.builder.label(), self.builder.value(Scalar::U64.into()));
        self.builder.begin(false);
        let (so_far, factor, left) =
            (self.builder.get(power), self.builder.get(base), self.builder.get(bits));
        let bit = self.builder.bits(Scalar::U32, 1);
        let last = self.builder.binary(Binary::And, left, bit);
        let odd = self.builder.compare(Compare::Eq, last, bit);
        let more = self.builder.binary(Binary::Mul, so_far, factor);
        let so_far = self.builder.op(Op::Select(odd, more, so_far));
        self.builder.set(power, so_far);
        let square = self.builder.binary(Binary::Mul, factor, factor);
        self.builder.set(base, square);
        let left = self.builder.binary(Binary::Shr, left, bit);
        self.builder.set(bits, left);
        let body = self.builder.end();
        self.builder.push(Stmt::For { label, index, start, end, body });
        self.builder.get(power)
    }
}
