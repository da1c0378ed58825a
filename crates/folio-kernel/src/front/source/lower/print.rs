//! Values that `print!` writes, as `folio_device::printed` has them.

use super::Lower;
use crate::ir::Value;
use crate::op::{Binary, Op};
use crate::types::Scalar;

/// The number of a type's kind.
pub(super) fn printed_kind(scalar: Scalar) -> u64 {
    match scalar {
        Scalar::Bool => 0,
        Scalar::F32 => 3,
        Scalar::F64 => 4,
        Scalar::F16 => 5,
        Scalar::Bf16 => 6,
        integer if integer.is_signed() => 1,
        _ => 2,
    }
}

impl Lower {
    /// 32 bits of a value that is extended to 64, from this one on.
    pub(super) fn printed(&mut self, a: Value, scalar: Scalar, from: u64) -> Value {
        let bits = match scalar {
            Scalar::F64 => Scalar::U64,
            Scalar::F32 => Scalar::U32,
            Scalar::F16 | Scalar::Bf16 => Scalar::U16,
            other => other,
        };
        let a = if scalar.is_float() { self.builder.op(Op::Bits(a, bits)) } else { a };
        let wide = self.cast(a, Scalar::U64);
        let down = self.builder.bits(Scalar::U64, from);
        let word = self.builder.binary(Binary::Shr, wide, down);
        self.cast(word, Scalar::U32)
    }
}
