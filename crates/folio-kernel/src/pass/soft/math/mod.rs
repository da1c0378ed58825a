//! The functions of semantics 5.8, as code of the IR: `generated` is made of those that a CPU
//! computes with, `math` in `folio-device`.

#[rustfmt::skip]
mod generated;

use super::code::N;
use crate::op::{Binary, Unary};
use crate::types::Scalar;
use generated::{double, single};

/// A function of one number; none if the operation is no such function.
pub fn unary<'c>(op: Unary, x: N<'c>) -> Option<N<'c>> {
    let is_double = x.ty == Scalar::F64;
    let of =
        |one: fn(N<'c>) -> N<'c>, other: fn(N<'c>) -> N<'c>| if is_double { other } else { one };
    let function = match op {
        Unary::Rsqrt => of(single::root::rsqrt, double::root::rsqrt),
        Unary::Cbrt => of(single::root::cbrt, double::root::cbrt),
        Unary::Exp => of(single::exp::exp, double::exp::exp),
        Unary::Exp2 => of(single::exp::exp2, double::exp::exp2),
        Unary::ExpM1 => of(single::exp::exp_m1, double::exp::exp_m1),
        Unary::Ln => of(single::ln::ln, double::ln::ln),
        Unary::Log2 => of(single::ln::log2, double::ln::log2),
        Unary::Log10 => of(single::ln::log10, double::ln::log10),
        Unary::Ln1p => of(single::ln::ln_1p, double::ln::ln_1p),
        Unary::Sin => of(single::trig::sin, double::trig::sin),
        Unary::Cos => of(single::trig::cos, double::trig::cos),
        Unary::Tan => of(single::trig::tan, double::trig::tan),
        Unary::Asin => of(single::arc::asin, double::arc::asin),
        Unary::Acos => of(single::arc::acos, double::arc::acos),
        Unary::Atan => of(single::arc::atan, double::arc::atan),
        Unary::Sinh => of(single::exp::sinh, double::exp::sinh),
        Unary::Cosh => of(single::exp::cosh, double::exp::cosh),
        Unary::Tanh => of(single::exp::tanh, double::exp::tanh),
        _ => return None,
    };
    Some(function(x))
}

/// A function of two numbers; none if the operation is no such function.
pub fn binary<'c>(op: Binary, x: N<'c>, y: N<'c>) -> Option<N<'c>> {
    Some(match (op, x.ty == Scalar::F64) {
        (Binary::Pow, false) => single::pow::powf(x, y),
        (Binary::Pow, true) => double::pow::powf(x, y),
        (Binary::Atan2, false) => single::arc::atan2(x, y),
        (Binary::Atan2, true) => double::arc::atan2(x, y),
        (Binary::Hypot, false) => single::root::hypot(x, y),
        (Binary::Hypot, true) => double::root::hypot(x, y),
        _ => return None,
    })
}

/// Functions of `f32` that compute in `f64`.
pub fn unary_widens(op: Unary) -> bool {
    matches!(op, Unary::Cbrt | Unary::Sin | Unary::Cos | Unary::Tan)
}

/// Functions of two `f32` that compute in `f64`.
pub fn binary_widens(op: Binary) -> bool {
    matches!(op, Binary::Pow | Binary::Atan2 | Binary::Hypot)
}

/// The words of `2/pi` for an argument whose exponent is so much above that of 1/2: without a table
/// in memory.
fn words<'c>(place: N<'c>) -> [N<'c>; 3] {
    let row = place >> 3u64;
    let row = row.gt(128u64).pick(row.of_bits(128), row);
    // One zero word ahead, so that no bit is before the first word.
    let first = (row << 3u64) + (64u64 - 55);
    let (word, bit) = (first >> 6u64, first & 63u64);
    let list = |at: i64| match usize::try_from(at - 1) {
        Ok(at) => generated::turns::TWO_OVER_PI.get(at).copied().unwrap_or(0),
        Err(_) => 0,
    };
    // Selected by the bits of the word's number, the last first.
    let chosen = |ahead: i64| {
        let mut all: Vec<N<'c>> = (0..32).map(|at| place.of_bits(list(at + ahead))).collect();
        for level in 0..5u64 {
            let high = (word & (1u64 << level)).ne(0u64);
            all = all.chunks(2).map(|pair| high.pick(pair[1], pair[0])).collect();
        }
        all[0]
    };
    let words: [N<'c>; 4] = [0, 1, 2, 3].map(chosen);
    let spill = |x: N<'c>| (x >> 1u64) >> (bit.of_bits(63) - bit);
    let joined = |at: usize| (words[at] << bit) | spill(words[at + 1]);
    [joined(0), joined(1), joined(2)]
}
