//! Operations: what computes one value.

use crate::ir::{ParamId, Place, Value};
use crate::names::names;
use crate::types::{Scalar, Type};

names! {
    /// Operations with one operand, whose type is also the result's (but for the counts of bits).
    pub enum Unary {
        Neg = "neg", Not = "not", Abs = "abs",
        /// Yields `u32`, as do the next two.
        CountOnes = "count_ones", LeadingZeros = "leading_zeros", TrailingZeros = "trailing_zeros",
        ReverseBits = "reverse_bits", SwapBytes = "swap_bytes",
        Floor = "floor", Ceil = "ceil", Trunc = "trunc", Round = "round", RoundEven = "round_even",
        Sqrt = "sqrt", Rsqrt = "rsqrt", Cbrt = "cbrt",
        Exp = "exp", Exp2 = "exp2", ExpM1 = "exp_m1",
        Ln = "ln", Log2 = "log2", Log10 = "log10", Ln1p = "ln_1p",
        Sin = "sin", Cos = "cos", Tan = "tan", Asin = "asin", Acos = "acos", Atan = "atan",
        Sinh = "sinh", Cosh = "cosh", Tanh = "tanh",
        /// Of `f32` only, as are the next six: as near as semantics 5.9 says.
        FastRecip = "fast_recip", FastSqrt = "fast_sqrt", FastRsqrt = "fast_rsqrt",
        FastExp2 = "fast_exp2", FastLog2 = "fast_log2", FastSin = "fast_sin", FastCos = "fast_cos",
    }
}

impl Unary {
    /// The fast form of an operation (semantics 5.9), which floats of 32 bits have.
    pub fn fast(self) -> Option<Unary> {
        Some(match self {
            Unary::Sqrt => Unary::FastSqrt,
            Unary::Rsqrt => Unary::FastRsqrt,
            Unary::Exp2 => Unary::FastExp2,
            Unary::Log2 => Unary::FastLog2,
            Unary::Sin => Unary::FastSin,
            Unary::Cos => Unary::FastCos,
            _ => return None,
        })
    }

    /// The operation is a fast form.
    pub fn is_fast(self) -> bool {
        self == Unary::FastRecip || Unary::ALL.iter().any(|op| op.fast() == Some(self))
    }
}

names! {
    /// Operations with two operands of one type, which is the result's (but the amount of a shift
    /// or rotation is any integer).
    pub enum Binary {
        Add = "add", Sub = "sub", Mul = "mul", Div = "div", Rem = "rem", Min = "min", Max = "max",
        And = "and", Or = "or", Xor = "xor",
        Shl = "shl", Shr = "shr", RotateLeft = "rotate_left", RotateRight = "rotate_right",
        SatAdd = "sat_add", SatSub = "sat_sub", MulHi = "mul_hi",
        Pow = "pow", Atan2 = "atan2", Hypot = "hypot", CopySign = "copy_sign",
    }
}

names! {
    /// Comparisons of scalars of one type; the result is a `bool`.
    pub enum Compare { Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge" }
}

names! {
    /// Questions about where an item is; all answers are `u64`. The answers up to `Lane` differ
    /// between the items of a group. Most are asked for a dimension.
    pub enum Query {
        Position = "position", LocalId = "local_id", Subgroup = "subgroup", Lane = "lane",
        GroupId = "group_id", GroupSize = "group_size", GroupCount = "group_count",
        Range = "range", Offset = "offset", SubgroupSize = "subgroup_size",
    }
}

impl Query {
    /// The answer is the same for a whole group.
    pub fn is_uniform(self) -> bool {
        !matches!(self, Query::Position | Query::LocalId | Query::Subgroup | Query::Lane)
    }

    /// Asked for a dimension; the others are asked for dimension 0.
    pub fn has_dimension(self) -> bool {
        !matches!(self, Query::Subgroup | Query::Lane | Query::SubgroupSize)
    }

    /// Has an answer in group kernels only.
    pub fn needs_group(self) -> bool {
        !matches!(self, Query::Position | Query::Range | Query::Offset)
    }
}

names! {
    /// The operations of reductions and scans.
    pub enum Combine {
        Add = "add", Mul = "mul", Min = "min", Max = "max", And = "and", Or = "or", Xor = "xor",
    }
}

impl Combine {
    /// The operation that combines two values.
    pub fn binary(self) -> Binary {
        match self {
            Combine::Add => Binary::Add,
            Combine::Mul => Binary::Mul,
            Combine::Min => Binary::Min,
            Combine::Max => Binary::Max,
            Combine::And => Binary::And,
            Combine::Or => Binary::Or,
            Combine::Xor => Binary::Xor,
        }
    }

    /// The bits of the identity; none where the type has no such operation.
    pub fn identity(self, of: Scalar) -> Option<u64> {
        use Combine::{Add, And, Max, Min, Mul, Or, Xor};
        if of.is_float() {
            let (zero, one, inf) = match of {
                Scalar::F16 => (0x8000, 0x3c00, 0x7c00),
                Scalar::Bf16 => (0x8000, 0x3f80, 0x7f80),
                Scalar::F32 => (0x8000_0000, 0x3f80_0000, 0x7f80_0000),
                _ => (1 << 63, 0x3ff0 << 48, 0x7ff0 << 48),
            };
            return match self {
                Add => Some(zero),
                Mul => Some(one),
                Min => Some(inf),
                Max => Some(inf | zero),
                And | Or | Xor => None,
            };
        }
        let (least, greatest) = of.limits().filter(|_| of.is_int())?;
        let value = match self {
            Add | Or | Xor => 0,
            Mul => 1,
            Min => greatest,
            Max => least,
            And => -1,
        };
        Some(value as u64 & of.mask())
    }
}

names! {
    /// Atomic operations; each yields the old value.
    pub enum Atomic {
        Load = "load", Add = "add", Sub = "sub", Min = "min", Max = "max",
        And = "and", Or = "or", Xor = "xor", Exchange = "exchange",
        /// Operands: what is expected, and what is stored if that was there.
        CompareExchange = "compare_exchange",
    }
}

impl Atomic {
    /// Number of operands beside the place.
    pub fn operands(self) -> usize {
        match self {
            Atomic::Load => 0,
            Atomic::CompareExchange => 2,
            _ => 1,
        }
    }
}

names! {
    /// Operations that the items of a sub-group do together.
    pub enum Subgroup {
        Any = "any", All = "all",
        /// Second operand: the lane, `u32`.
        Broadcast = "broadcast",
        /// Second operand: what the own lane is combined with, `u32`.
        ShuffleXor = "shuffle_xor",
        /// The lanes with equal bits, as a `u32`: how many are before the own one, how many there
        /// are (from bit 8 on), and the first of them (from bit 16 on).
        Match = "match",
    }
}

names! {
    /// How values of several items are combined.
    pub enum Fold { Reduce = "reduce", Inclusive = "inclusive_scan", Exclusive = "exclusive_scan" }
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A literal, by its bits.
    Const(Scalar, u64),
    /// All zero bits, of any type.
    Zero(Type),
    /// The value of a scalar parameter.
    Arg(ParamId),
    /// The extent of a view in a dimension, `u64`.
    Extent(ParamId, u8),
    /// Where the item is. In a kernel of several items per thread, `copy` says which of them a
    /// `position` is of; 0 otherwise.
    Query {
        /// The question.
        query: Query,
        /// The dimension.
        dim: u8,
        /// Which of the thread's items.
        copy: u8,
    },
    /// An operation on a single operand.
    Unary(Unary, Value),
    /// Two operands.
    Binary(Binary, Value, Value),
    /// A comparison.
    Compare(Compare, Value, Value),
    /// `a * b + c`, rounded once.
    Fma(Value, Value, Value),
    /// The third, plus the products of the bytes of the first two, which are `u32`: bytes with a
    /// sign if the third is an `i32`, without one if it is a `u32`. It wraps.
    Dot4(Value, Value, Value),
    /// The second if the first is true, else the third; all are evaluated before.
    Select(Value, Value, Value),
    /// The value as another scalar type.
    Cast(Value, Scalar),
    /// The bits as another scalar type of equal width.
    Bits(Value, Scalar),
    /// A struct or array of its parts.
    Make(Type, Vec<Value>),
    /// A part of a struct or array.
    Part(Value, u32),
    /// The value at a place.
    Load(Place),
    /// An atomic operation.
    Atomic(Atomic, Place, Vec<Value>),
    /// Together with the sub-group.
    Subgroup(Subgroup, Vec<Value>),
    /// A reduction or scan over the sub-group.
    SubgroupFold(Fold, Combine, Value),
}

impl Op {
    /// The place that the operation reads or changes.
    pub fn place(&self) -> Option<&Place> {
        match self {
            Op::Load(place) | Op::Atomic(_, place, _) => Some(place),
            Op::Const(..)
            | Op::Zero(_)
            | Op::Arg(_)
            | Op::Extent(..)
            | Op::Query { .. }
            | Op::Unary(..)
            | Op::Binary(..)
            | Op::Compare(..)
            | Op::Fma(..)
            | Op::Dot4(..)
            | Op::Select(..)
            | Op::Cast(..)
            | Op::Bits(..)
            | Op::Make(..)
            | Op::Part(..)
            | Op::Subgroup(..)
            | Op::SubgroupFold(..) => None,
        }
    }

    /// The operation takes few instructions, and calls nothing.
    pub fn is_short(&self) -> bool {
        match self {
            Op::Unary(op, _) => {
                matches!(op, Unary::Neg | Unary::Not | Unary::Abs | Unary::Sqrt | Unary::Rsqrt)
                    || op.is_fast()
            }
            Op::Binary(op, ..) => !matches!(op, Binary::Pow | Binary::Atan2 | Binary::Hypot),
            Op::Atomic(..) | Op::Subgroup(..) | Op::SubgroupFold(..) => false,
            Op::Const(..)
            | Op::Zero(_)
            | Op::Arg(_)
            | Op::Extent(..)
            | Op::Query { .. }
            | Op::Compare(..)
            | Op::Fma(..)
            | Op::Dot4(..)
            | Op::Select(..)
            | Op::Cast(..)
            | Op::Bits(..)
            | Op::Make(..)
            | Op::Part(..)
            | Op::Load(_) => true,
        }
    }

    /// The values that it uses, in order.
    pub fn operands(&self) -> Vec<Value> {
        match self {
            Op::Const(..) | Op::Zero(_) | Op::Arg(_) | Op::Extent(..) | Op::Query { .. } => vec![],
            Op::Unary(_, a)
            | Op::Cast(a, _)
            | Op::Bits(a, _)
            | Op::Part(a, _)
            | Op::SubgroupFold(_, _, a) => vec![*a],
            Op::Binary(_, a, b) | Op::Compare(_, a, b) => vec![*a, *b],
            Op::Fma(a, b, c) | Op::Dot4(a, b, c) | Op::Select(a, b, c) => vec![*a, *b, *c],
            Op::Make(_, parts) | Op::Subgroup(_, parts) => parts.clone(),
            Op::Load(place) => place.operands(),
            Op::Atomic(_, place, args) => {
                let mut all = place.operands();
                all.extend(args);
                all
            }
        }
    }

    /// Applies `change` to each value that it uses.
    pub fn map(&mut self, change: &mut dyn FnMut(&mut Value)) {
        match self {
            Op::Const(..) | Op::Zero(_) | Op::Arg(_) | Op::Extent(..) | Op::Query { .. } => {}
            Op::Unary(_, a)
            | Op::Cast(a, _)
            | Op::Bits(a, _)
            | Op::Part(a, _)
            | Op::SubgroupFold(_, _, a) => change(a),
            Op::Binary(_, a, b) | Op::Compare(_, a, b) => [a, b].into_iter().for_each(change),
            Op::Fma(a, b, c) | Op::Dot4(a, b, c) | Op::Select(a, b, c) => {
                [a, b, c].into_iter().for_each(change)
            }
            Op::Make(_, parts) | Op::Subgroup(_, parts) => parts.iter_mut().for_each(change),
            Op::Load(place) => place.map(change),
            Op::Atomic(_, place, args) => {
                place.map(change);
                args.iter_mut().for_each(change);
            }
        }
    }
}
