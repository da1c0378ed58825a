//! Operations on scalars as C expressions (semantics 3 to 5). Operands are names or literals, so
//! they need no parentheses.

use super::helpers::Helpers;
use crate::emit::Dialect;
use crate::op::{Binary, Combine, Compare, Unary};
use crate::types::Scalar;

/// Writes expressions, and notes the functions that they call.
pub struct Scalars<'h> {
    pub dialect: Dialect,
    pub helpers: &'h mut Helpers,
}

/// The unsigned type in which integers of this one are computed.
fn word(scalar: Scalar) -> &'static str {
    if scalar.bits() == 64 { "u64" } else { "u32" }
}

/// The unsigned type of the same width.
fn unsigned(scalar: Scalar) -> &'static str {
    match scalar.bits() {
        8 => "u8",
        16 => "u16",
        32 => "u32",
        _ => "u64",
    }
}

/// The bits of an integer, extended by zeros to the type of [`word`].
fn bits(scalar: Scalar, a: &str) -> String {
    match word(scalar) == unsigned(scalar) {
        true => format!("({}){a}", word(scalar)),
        false => format!("({})({}){a}", word(scalar), unsigned(scalar)),
    }
}

/// Functions within which PoCL converts to an integer what none is like: where its compiler knows
/// that this is a NaN, the result is undefined. Where the first of the two is NaN, the second is
/// the result.
fn of_nan(function: &str, operands: &[String]) -> Option<(String, String)> {
    match (function, operands) {
        (
            "floor" | "ceil" | "trunc" | "round" | "exp" | "exp2" | "expm1" | "sinh" | "tanh",
            [x],
        ) => Some((x.clone(), x.clone())),
        ("pow", [x, y]) => Some((y.clone(), format!("{x} == 1 ? {x} : {y}"))),
        _ => None,
    }
}

impl Scalars<'_> {
    /// A float as one that is computed with (semantics 2.2).
    fn wide(&mut self, scalar: Scalar, a: &str) -> String {
        match scalar {
            Scalar::F16 => format!("{}({a})", self.helpers.fixed("f32_of_f16")),
            Scalar::Bf16 => format!("{}({a})", self.helpers.fixed("f32_of_bf16")),
            _ => a.to_owned(),
        }
    }

    /// A computed number, in the type that is kept.
    fn narrow(&mut self, scalar: Scalar, computed: String) -> String {
        match scalar {
            Scalar::F16 => format!("{}({computed})", self.helpers.fixed("f16_of_f32")),
            Scalar::Bf16 => format!("{}({computed})", self.helpers.fixed("bf16_of_f32")),
            _ => computed,
        }
    }

    fn call(&mut self, scalar: Scalar, name: &str, operands: &[&str]) -> String {
        let operands: Vec<_> = operands.iter().map(|a| self.wide(scalar, a)).collect();
        let called = self.call_wide(scalar, name, &operands);
        self.narrow(scalar, called)
    }

    /// Of what is computed with, as that.
    fn call_wide(&mut self, scalar: Scalar, name: &str, operands: &[String]) -> String {
        let function = self.dialect.function(name, scalar == Scalar::F64);
        let called = format!("{function}({})", operands.join(", "));
        match of_nan(name, operands) {
            Some((of, result)) if self.dialect == Dialect::OpenCl => {
                format!("{}({of}, {result}, {called})", self.helpers.fixed("OR_NAN"))
            }
            _ => called,
        }
    }

    /// An operation on a single operand.
    pub fn unary(&mut self, op: Unary, of: Scalar, a: &str) -> String {
        if of.is_float() { self.float_unary(op, of, a) } else { self.int_unary(op, of, a) }
    }

    fn int_unary(&mut self, op: Unary, of: Scalar, a: &str) -> String {
        let (t, w, wide) = (of.name(), word(of), of.bits() == 64);
        let spare = 32u32.saturating_sub(of.bits());
        let fixed = |narrow, broad| if wide { broad } else { narrow };
        match op {
            Unary::Not if of == Scalar::Bool => format!("!{a}"),
            Unary::Neg => format!("({t})(({w})0 - ({w}){a})"),
            Unary::Abs => format!("({a} < 0 ? ({t})(({w})0 - ({w}){a}) : {a})"),
            Unary::CountOnes => {
                format!("{}({})", self.helpers.fixed(fixed("ones_u32", "ones_u64")), bits(of, a))
            }
            Unary::LeadingZeros => {
                let count = self.helpers.fixed(fixed("clz_u32", "clz_u64"));
                let less = if spare > 0 { format!(" - {spare}u") } else { String::new() };
                format!("{count}({}){less}", bits(of, a))
            }
            Unary::TrailingZeros => {
                let count = self.helpers.fixed(fixed("ctz_u32", "ctz_u64"));
                // A bit beyond the type ends the count.
                let end = if spare > 0 { format!(" | 1u << {}", of.bits()) } else { String::new() };
                format!("{count}({}{end})", bits(of, a))
            }
            Unary::ReverseBits | Unary::SwapBytes => {
                let name = match op {
                    Unary::ReverseBits => fixed("reverse_u32", "reverse_u64"),
                    _ => fixed("swap_u32", "swap_u64"),
                };
                let turned = format!("{}({})", self.helpers.fixed(name), bits(of, a));
                let down = if spare > 0 { format!(" >> {spare}") } else { String::new() };
                format!("({t})({turned}{down})")
            }
            Unary::Not => format!("({t})~({w}){a}"),
            // The rest are of floats. The interpreter gives another answer, so that what both
            // forget is found.
            _ => a.to_owned(),
        }
    }

    fn float_unary(&mut self, op: Unary, of: Scalar, a: &str) -> String {
        let name = match op {
            Unary::Neg => {
                let wide = self.wide(of, a);
                return self.narrow(of, format!("-{wide}"));
            }
            Unary::Abs => "fabs",
            Unary::Floor => "floor",
            Unary::Ceil => "ceil",
            Unary::Trunc => "trunc",
            Unary::Round => "round",
            // PoCL 3.1 converts to an integer on the way, whether that is in its range or not.
            Unary::RoundEven if self.dialect == Dialect::OpenCl => {
                let fixed = if of == Scalar::F64 { "even_f64" } else { "even_f32" };
                let (name, wide) = (self.helpers.fixed(fixed), self.wide(of, a));
                return self.narrow(of, format!("{name}({wide})"));
            }
            Unary::RoundEven => "rint",
            Unary::Sqrt => "sqrt",
            Unary::Rsqrt => "rsqrt",
            Unary::Cbrt => "cbrt",
            Unary::Exp => "exp",
            Unary::Exp2 => "exp2",
            Unary::ExpM1 => "expm1",
            Unary::Ln => "log",
            Unary::Log2 => "log2",
            Unary::Log10 => "log10",
            Unary::Ln1p => "log1p",
            Unary::Sin => "sin",
            Unary::Cos => "cos",
            Unary::Tan => "tan",
            Unary::Asin => "asin",
            Unary::Acos => "acos",
            Unary::Atan => "atan",
            Unary::Sinh => "sinh",
            Unary::Cosh => "cosh",
            // PoCL's is NaN at infinity. From 20 on it is 1 in every format.
            Unary::Tanh if self.dialect == Dialect::OpenCl => {
                let (wide, one) =
                    (self.wide(of, a), if of == Scalar::F64 { "1.0" } else { "1.0f" });
                let far = format!("fabs({wide}) > {}", one.replace('1', "20"));
                let near = self.call_wide(of, "tanh", std::slice::from_ref(&wide));
                return self.narrow(of, format!("({far} ? copysign({one}, {wide}) : {near})"));
            }
            Unary::Tanh => "tanh",
            Unary::FastRecip
            | Unary::FastSqrt
            | Unary::FastRsqrt
            | Unary::FastExp2
            | Unary::FastLog2
            | Unary::FastSin
            | Unary::FastCos => return format!("{}({a})", self.helpers.fixed(op.name())),
            // Of integers only.
            Unary::Not
            | Unary::CountOnes
            | Unary::LeadingZeros
            | Unary::TrailingZeros
            | Unary::ReverseBits
            | Unary::SwapBytes => return a.to_owned(),
        };
        self.call(of, name, &[a])
    }

    /// Two operands. An integer's divisor is not 0; an amount is an integer of any type.
    pub fn binary(&mut self, op: Binary, of: Scalar, a: &str, b: &str) -> String {
        match of {
            Scalar::Bool => match op {
                Binary::Or => format!("({a} || {b})"),
                Binary::Xor => format!("({a} != {b})"),
                _ => format!("({a} && {b})"),
            },
            _ if of.is_float() => self.float_binary(op, of, a, b),
            _ => self.int_binary(op, of, a, b),
        }
    }

    fn int_binary(&mut self, op: Binary, of: Scalar, a: &str, b: &str) -> String {
        let (t, w, width) = (of.name(), word(of), of.bits());
        let exact = matches!(of, Scalar::U32 | Scalar::U64);
        let modular = |sign: char| match exact {
            true => format!("{a} {sign} {b}"),
            false => format!("({t})(({w}){a} {sign} ({w}){b})"),
        };
        let amount = format!("((u32){b} & {}u)", width - 1);
        match op {
            Binary::Add => modular('+'),
            Binary::Sub => modular('-'),
            Binary::Mul => modular('*'),
            Binary::And => modular('&'),
            Binary::Or => modular('|'),
            Binary::Xor => modular('^'),
            Binary::Div | Binary::Rem if of.is_signed() => {
                format!("{}({a}, {b})", self.helpers.divide(of, op == Binary::Rem))
            }
            Binary::Div => format!("({t})({a} / {b})"),
            Binary::Rem => format!("({t})({a} % {b})"),
            Binary::Min => format!("({a} < {b} ? {a} : {b})"),
            Binary::Max => format!("({a} > {b} ? {a} : {b})"),
            Binary::Shl => format!("({t})(({w}){a} << {amount})"),
            Binary::Shr => format!("({t})({a} >> {amount})"),
            Binary::RotateLeft | Binary::RotateRight => {
                let (there, back) = match op {
                    Binary::RotateLeft => ("<<", ">>"),
                    _ => (">>", "<<"),
                };
                let (x, rest) = (bits(of, a), format!("((0u - (u32){b}) & {}u)", width - 1));
                format!("({t})({x} {there} {amount} | {x} {back} {rest})")
            }
            Binary::SatAdd | Binary::SatSub => {
                let add = op == Binary::SatAdd;
                let name = match (of, add) {
                    (Scalar::U64, true) => self.helpers.fixed("sat_add_u64"),
                    (Scalar::U64, false) => self.helpers.fixed("sat_sub_u64"),
                    (Scalar::I64, true) => self.helpers.fixed("sat_add_i64"),
                    (Scalar::I64, false) => self.helpers.fixed("sat_sub_i64"),
                    _ => {
                        let sign = if add { '+' } else { '-' };
                        return format!("{}((i64){a} {sign} (i64){b})", self.helpers.clamp(of));
                    }
                };
                format!("{name}({a}, {b})")
            }
            Binary::MulHi => match of {
                Scalar::I64 => format!("{}({a}, {b})", self.helpers.fixed("high_i64")),
                Scalar::U64 => format!("{}({a}, {b})", self.helpers.fixed("high_u64")),
                _ if of.is_signed() => format!("({t})((i64){a} * (i64){b} >> {width})"),
                _ => format!("({t})((u64){a} * (u64){b} >> {width})"),
            },
            // Of floats only.
            Binary::Pow | Binary::Atan2 | Binary::Hypot | Binary::CopySign => a.to_owned(),
        }
    }

    fn float_binary(&mut self, op: Binary, of: Scalar, a: &str, b: &str) -> String {
        let sign = match op {
            Binary::Add => '+',
            Binary::Sub => '-',
            Binary::Mul => '*',
            Binary::Div => '/',
            Binary::Rem => return self.call(of, "fmod", &[a, b]),
            Binary::Pow => return self.call(of, "pow", &[a, b]),
            Binary::Atan2 => return self.call(of, "atan2", &[a, b]),
            Binary::Hypot => return self.call(of, "hypot", &[a, b]),
            Binary::CopySign => return self.call(of, "copysign", &[a, b]),
            Binary::Min | Binary::Max => {
                let computed = if of == Scalar::F64 { Scalar::F64 } else { Scalar::F32 };
                let name = self.helpers.extreme(computed, op == Binary::Min);
                let (a, b) = (self.wide(of, a), self.wide(of, b));
                return self.narrow(of, format!("{name}({a}, {b})"));
            }
            // Of integers only.
            _ => return a.to_owned(),
        };
        let (a, b) = (self.wide(of, a), self.wide(of, b));
        self.narrow(of, format!("{a} {sign} {b}"))
    }

    /// The operation of a reduction.
    pub fn combine(&mut self, combine: Combine, of: Scalar, a: &str, b: &str) -> String {
        self.binary(combine.binary(), of, a, b)
    }

    /// `a * b + c`, rounded once.
    pub fn fma(&mut self, of: Scalar, a: &str, b: &str, c: &str) -> String {
        self.call(of, "fma", &[a, b, c])
    }

    /// `c` and the products of four bytes.
    pub fn dot4(&mut self, signed: bool, a: &str, b: &str, c: &str) -> String {
        let name = self.helpers.fixed(if signed { "dot4_i32" } else { "dot4_u32" });
        format!("{name}({a}, {b}, {c})")
    }

    /// A comparison.
    pub fn compare(&mut self, op: Compare, of: Scalar, a: &str, b: &str) -> String {
        let sign = match op {
            Compare::Eq => "==",
            Compare::Ne => "!=",
            Compare::Lt => "<",
            Compare::Le => "<=",
            Compare::Gt => ">",
            Compare::Ge => ">=",
        };
        let (a, b) = match of.is_float() {
            true => (self.wide(of, a), self.wide(of, b)),
            false => (a.to_owned(), b.to_owned()),
        };
        format!("{a} {sign} {b}")
    }

    /// A conversion (semantics 4).
    pub fn cast(&mut self, from: Scalar, a: &str, to: Scalar) -> String {
        let t = to.name();
        match (from.is_float(), to.is_float()) {
            _ if from == to => a.to_owned(),
            (false, false) => format!("({t}){a}"),
            (false, true) => self.of_int(from, a, to),
            (true, false) => {
                let computed = if from == Scalar::F64 { Scalar::F64 } else { Scalar::F32 };
                let name = self.helpers.round_to(computed, to);
                format!("{name}({})", self.wide(from, a))
            }
            (true, true) if from == Scalar::F64 && to != Scalar::F32 => {
                let odd = format!("{}({a})", self.helpers.fixed("odd_of_f64"));
                self.narrow(to, odd)
            }
            (true, true) => {
                let wide = self.wide(from, a);
                match to {
                    Scalar::F32 | Scalar::F64 => format!("({t}){wide}"),
                    _ => self.narrow(to, wide),
                }
            }
        }
    }

    fn of_int(&mut self, from: Scalar, a: &str, to: Scalar) -> String {
        match to {
            // Integers that an `f32` rounds are beyond the range of `f16`.
            Scalar::F16 => self.narrow(to, format!("(f32){a}")),
            Scalar::Bf16 if from.bits() <= 16 => self.narrow(to, format!("(f32){a}")),
            Scalar::Bf16 if from.is_signed() => {
                format!("{}((i64){a})", self.helpers.fixed("bf16_of_i64"))
            }
            Scalar::Bf16 => format!("{}((u64){a})", self.helpers.fixed("bf16_of_u64")),
            _ => format!("({}){a}", to.name()),
        }
    }

    /// The same bits as another type.
    pub fn bits(&mut self, from: Scalar, a: &str, to: Scalar) -> String {
        let raw = match from {
            Scalar::F32 => format!("BITS_F32({a})"),
            Scalar::F64 => format!("BITS_F64({a})"),
            _ => a.to_owned(),
        };
        match to {
            _ if from == to => a.to_owned(),
            Scalar::F32 => format!("F32_BITS((u32){raw})"),
            Scalar::F64 => format!("F64_BITS((u64){raw})"),
            _ => format!("({}){raw}", to.name()),
        }
    }
}
