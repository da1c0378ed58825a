//! Arithmetic by simpler operations: for devices whose own is not what the semantics ask for.
//!
//! [`softened`] makes of a kernel one that computes the same with fewer kinds of operations, which
//! every device does alike: integers, `+ - *` of `f32` and `f64`, comparisons, selects, moves of
//! bits, and conversions between floats and integers that are in range. The other operations
//! become:
//!
//! | operation | by |
//! | --- | --- |
//! | `f16`, `bf16` | `f32`, and conversions of bits |
//! | functions (semantics 5.8) | the straight lines of `math` in `folio-device` |
//! | `mul_add` | integers of 128 bits; of `f32` by `f64`, if there is that; not where the device's rounds once, or does so of numbers that are not denormal and are such |
//! | `/`, square root | where the device does not round them correctly: digit by digit; of `f32` by `mul_add` that rounds once, or by `f64`, if there is that; by a literal power of two as a product |
//! | `%` | digit by digit |
//! | rounding, minimum, maximum, signs | comparisons and bits |
//! | conversions between `f32` and `f64` | where the device's lose denormals: shifted bits and a product that mends the exponent |
//! | comparisons of `f32` | those of integers, where the device takes denormals for zero; not with literals of normal size |
//!
//! The result is a verified kernel with the same parameters, so everything else that is known of
//! kernels holds for it, and the interpreter can run it: tests compare it bit by bit.

mod code;
mod float;
mod half;
mod math;

use crate::ir::{Body, Kernel, Let, Stmt, Value, walk};
use crate::op::{Binary, Compare, Op, Unary};
use crate::types::Scalar;
use code::{Code, N};
use std::collections::HashMap;

/// The operations of a device that are as exact as the semantics ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Exact {
    /// Division and square root of `f32` are correctly rounded.
    pub f32: bool,
    /// The same of `f64`.
    pub f64: bool,
    /// There are `f64`: then `f32` is fused by them.
    pub doubles: bool,
    /// Conversions between `f32` and `f64` lose no denormals.
    pub conversions: bool,
    /// Comparisons of `f32` lose no denormals.
    pub comparisons: bool,
    /// `mul_add` rounds once.
    pub fused: Fused,
    /// That of `f32` does where no number is denormal, neither an operand nor the result.
    pub fuses_normals: bool,
}

impl Exact {
    /// Nothing but sums and products.
    pub const NONE: Exact = Exact {
        f32: false,
        f64: false,
        doubles: false,
        conversions: false,
        comparisons: false,
        fused: Fused::NONE,
        fuses_normals: false,
    };

    /// Everything.
    pub const ALL: Exact = Exact {
        f32: true,
        f64: true,
        doubles: true,
        conversions: true,
        comparisons: true,
        fused: Fused { f32: true, f64: true },
        fuses_normals: true,
    };

    /// `mul_add` of `f32` rounds once where no number is denormal.
    fn fuses(self) -> bool {
        self.fused.f32 || self.fuses_normals
    }
}

/// Whose `mul_add` the device rounds once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fused {
    /// That of `f32`.
    pub f32: bool,
    /// That of `f64`.
    pub f64: bool,
}

impl Fused {
    /// Of none.
    pub const NONE: Fused = Fused { f32: false, f64: false };
}

/// The kernel in fewer kinds of operations.
pub fn softened(kernel: &Kernel, exact: Exact) -> Kernel {
    let once = pass(kernel, exact);
    // What is still fused is what the device fuses.
    let exact = Exact { fused: Fused { f32: true, f64: true }, ..exact };
    // Functions divide, too; and what stands for them, or for a minimum, compares.
    let divides = exact.f32 && (exact.f64 || !exact.doubles) && exact.conversions;
    let twice = if divides && exact.comparisons { once } else { pass(&once, exact) };
    if exact.comparisons { twice } else { pass(&twice, exact) }
}

fn pass(kernel: &Kernel, exact: Exact) -> Kernel {
    let code = Code::new(kernel.values.clone(), kernel.vars.clone(), kernel.labels);
    let softener = Softener { kernel, exact, literals: literals(kernel), code: &code };
    let body = softener.body(&kernel.body, kernel.shape.groups);
    let (values, vars, labels) = code.lists();
    Kernel { values, vars, labels, body, ..kernel.clone() }
}

/// The kernel computes in `f64` where its source has only `f32`: the operation's name.
pub fn widens(kernel: &Kernel, op: &Op) -> Option<&'static str> {
    let of = |value: &Value| kernel.type_of(*value).and_then(crate::Type::scalar);
    match op {
        Op::Unary(op, a) if math::unary_widens(*op) && of(a) != Some(Scalar::F64) => {
            Some(op.name())
        }
        Op::Binary(op, a, _) if math::binary_widens(*op) && of(a) != Some(Scalar::F64) => {
            Some(op.name())
        }
        _ => None,
    }
}

/// The bits of the values that are literals.
fn literals(kernel: &Kernel) -> HashMap<Value, u64> {
    let mut all = HashMap::new();
    walk(&kernel.body, &mut |stmt| {
        if let Stmt::Let(Let { value, op: Op::Const(_, bits), .. }) = stmt {
            all.insert(*value, *bits);
        }
    });
    all
}

struct Softener<'k> {
    kernel: &'k Kernel,
    exact: Exact,
    literals: HashMap<Value, u64>,
    code: &'k Code,
}

impl<'k> Softener<'k> {
    fn body(&self, body: &Body, uniform: bool) -> Body {
        self.code.within(|code| {
            for stmt in body {
                let before = code.set_uniform(uniform);
                self.stmt(stmt, uniform);
                code.set_uniform(before);
            }
        })
    }

    fn stmt(&self, stmt: &Stmt, uniform: bool) {
        if let Stmt::Let(define) = stmt
            && let Some(soft) = self.soft(&define.op)
        {
            return self.code.push(Stmt::Let(Let {
                value: define.value,
                // The same, under the name that others have for it.
                op: match soft.ty {
                    Scalar::Bool => Op::Binary(Binary::Or, soft.value, soft.value),
                    ty => Op::Bits(soft.value, ty),
                },
                site: define.site,
            }));
        }
        let mut own = stmt.clone();
        let items = matches!(stmt, Stmt::Phase { .. } | Stmt::Collect { .. });
        for body in own.bodies_mut() {
            *body = self.body(body, uniform && !items);
        }
        self.code.push(own);
    }

    fn n(&self, value: &Value) -> N<'k> {
        let ty = self.kernel.type_of(*value).and_then(crate::Type::scalar);
        self.code.value(*value, ty.unwrap_or(Scalar::U64))
    }

    /// What an operation computes in other ways; none if it stays.
    fn soft(&self, op: &Op) -> Option<N<'k>> {
        match op {
            Op::Unary(op, a) => self.unary(*op, self.n(a)),
            Op::Binary(op, a, b) => self.binary(*op, self.n(a), self.n(b)),
            Op::Compare(op, a, b) if is_half(self.n(a).ty) => {
                let (a, b) = (half::widened(self.n(a)), half::widened(self.n(b)));
                Some(self.code.op(Op::Compare(*op, a.value, b.value), Scalar::Bool))
            }
            Op::Compare(op, a, b) if self.n(a).ty == Scalar::F32 && !self.exact.comparisons => {
                let is_any = !self.is_far_from_zero(a) && !self.is_far_from_zero(b);
                is_any.then(|| float::compared(*op, self.n(a), self.n(b)))
            }
            Op::Fma(a, b, c) => self.fma(self.n(a), self.n(b), self.n(c)),
            Op::Cast(a, to) => self.cast(self.n(a), *to),
            _ => None,
        }
    }

    fn unary(&self, op: Unary, a: N<'k>) -> Option<N<'k>> {
        if !a.ty.is_float() {
            return None;
        }
        match op {
            Unary::Neg => return Some(a.negated()),
            Unary::Abs => return Some(a.abs()),
            _ => {}
        }
        if is_half(a.ty) {
            let wide = half::widened(a);
            let result = self.unary(op, wide).unwrap_or_else(|| wide.unary(op));
            return Some(half::narrowed(result, a.ty));
        }
        match op {
            Unary::Floor => Some(float::floor(a)),
            Unary::Ceil => Some(float::ceil(a)),
            Unary::Trunc => Some(float::trunc(a)),
            Unary::Round => Some(float::round(a)),
            Unary::RoundEven => Some(float::nearest_even(a)),
            Unary::Sqrt if self.is_exact(a.ty) => None,
            Unary::Sqrt => Some(float::root(a, self.exact)),
            _ => math::unary(op, a),
        }
    }

    fn binary(&self, op: Binary, a: N<'k>, b: N<'k>) -> Option<N<'k>> {
        if !a.ty.is_float() {
            return None;
        }
        if op == Binary::CopySign {
            return Some(a.copysign(b));
        }
        if is_half(a.ty) {
            let (x, y) = (half::widened(a), half::widened(b));
            let result = self.binary(op, x, y).unwrap_or_else(|| x.binary(op, y));
            return Some(half::narrowed(result, a.ty));
        }
        match op {
            Binary::Min | Binary::Max => {
                let by_bits = a.ty == Scalar::F32 && !self.exact.comparisons;
                let extreme = if by_bits { float::extreme_by_bits } else { float::extreme };
                Some(extreme(a, b, op == Binary::Min))
            }
            Binary::Rem => Some(float::remainder(a, b)),
            Binary::Div if !self.is_exact(a.ty) => {
                let literal = self.literals.get(&b.value);
                let reciprocal = literal.and_then(|bits| float::reciprocal(b.ty, *bits));
                Some(match reciprocal {
                    Some(bits) => a * a.of_bits(bits),
                    None => float::divide(a, b, self.exact),
                })
            }
            _ => math::binary(op, a, b),
        }
    }

    fn fma(&self, a: N<'k>, b: N<'k>, c: N<'k>) -> Option<N<'k>> {
        if is_half(a.ty) {
            let [x, y, z] = [a, b, c].map(half::widened);
            let own = || self.code.op(Op::Fma(x.value, y.value, z.value), Scalar::F32);
            return Some(half::narrowed(self.fma(x, y, z).unwrap_or_else(own), a.ty));
        }
        let is_double = a.ty == Scalar::F64;
        if if is_double { self.exact.fused.f64 } else { self.exact.fused.f32 } {
            return None;
        }
        let any = || match self.exact.doubles && !is_double {
            true => float::fused_by_double(a, b, c, self.exact.conversions),
            false => float::fused(a, b, c),
        };
        Some(match self.exact.fuses_normals && !is_double {
            true => {
                let usual = float::are_usual([a, b, c]);
                self.code.either(Scalar::F32, usual, || a.times_plus(b, c), any)
            }
            false => any(),
        })
    }

    fn cast(&self, a: N<'k>, to: Scalar) -> Option<N<'k>> {
        if a.ty == to {
            return None;
        }
        if a.ty == Scalar::F32 && to == Scalar::Bool && !self.exact.comparisons {
            return Some(float::compared(Compare::Ne, a, a.of_bits(0)));
        }
        match (is_half(a.ty), is_half(to)) {
            (true, true) => Some(half::narrowed(half::widened(a), to)),
            (true, false) => Some(half::widened(a).cast(to)),
            (false, true) => Some(match a.ty {
                Scalar::F32 => half::narrowed(a, to),
                Scalar::F64 => half::narrowed(half::odd_single(a), to),
                _ => half::of_integer(a, to),
            }),
            (false, false) if self.exact.conversions => None,
            (false, false) => match (a.ty, to) {
                (Scalar::F32, Scalar::F64) => Some(float::widened(a)),
                (Scalar::F64, Scalar::F32) => Some(float::narrowed(a)),
                _ => None,
            },
        }
    }

    /// A literal `f32` that is neither zero nor denormal: it compares with denormals as with zeros.
    fn is_far_from_zero(&self, value: &Value) -> bool {
        let literal = self.literals.get(value).map(|bits| f32::from_bits(*bits as u32).abs());
        literal.is_some_and(|size| size.is_nan() || size >= f32::MIN_POSITIVE)
    }

    fn is_exact(&self, ty: Scalar) -> bool {
        if ty == Scalar::F64 { self.exact.f64 } else { self.exact.f32 }
    }
}

fn is_half(ty: Scalar) -> bool {
    matches!(ty, Scalar::F16 | Scalar::Bf16)
}
