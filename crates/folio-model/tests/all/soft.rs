//! Arithmetic by simpler operations ([`folio_kernel::soft`]) against the interpreter and, for the
//! functions of semantics 5.8, against `folio_device::math`, bit by bit (KRN-04).
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio_device::math::{double, single};
use folio_kernel::launch::Launch;
use folio_kernel::soft::{Exact, Fused, softened};
use folio_kernel::{
    Access, Binary, Builder, Compare, Kernel, Op, Owner, Scalar, Stmt, Unary, Value, verify, walk,
};
use folio_model::interp::{self, Arg, Order, float};
use folio_model::rng::Rng;

/// Bits of a float of any size, often near a power of two, in the middle, or at an end.
fn some_bits(rng: &mut Rng, of: Scalar) -> u64 {
    let fraction = if of == Scalar::F64 { 52u32 } else { 23 };
    let any = rng.next() & of.mask();
    match rng.below(8) {
        0 => any & !of.mask() >> 1 | any >> (of.bits() - 1) << (of.bits() - 1),
        1 => {
            let ends =
                [0, 1, (1 << fraction) - 1, 1 << fraction, of.mask() >> 1 & !((1 << fraction) - 1)];
            ends[rng.below(5)] | any & !(of.mask() >> 1)
        }
        // Few bits, and an exponent near to that of one.
        2..=4 => {
            let bias = if of == Scalar::F64 { 1023 } else { 127 };
            let near = (bias - 12u64 + rng.below(24) as u64) << fraction;
            let rest = any & ((1 << fraction) - 1);
            near | rest >> (rng.below(2) * rng.below(fraction as usize)) | any & !(of.mask() >> 1)
        }
        5 => any & !(((1 << fraction) - 1) >> rng.below(8)),
        _ => any,
    }
}

/// `out = op(a, b, c)`, and the arguments.
fn run(
    of: Scalar,
    to: Scalar,
    op: &dyn Fn([Value; 3]) -> Op,
    columns: &[Vec<u64>; 3],
    soft: Option<Exact>,
) -> Vec<u64> {
    let mut b = Builder::items("soft", 1);
    let inputs = ["a", "b", "c"].map(|name| b.view(name, of, 1, Access::In, Owner::Item));
    let out = b.view("out", to, 1, Access::Out, Owner::Item);
    let i = b.position(0);
    let values = inputs.map(|input| b.load_at(input, [i]));
    let op = op(values);
    let compares = matches!(op, Op::Compare(..));
    let result = b.op(op);
    let result = if compares { b.cast(result, to) } else { result };
    b.store_at(out, [i], result);
    let mut kernel: Kernel = b.finish().unwrap();
    if let Some(exact) = soft {
        kernel = softened(&kernel, exact);
        verify::verify(&kernel).unwrap();
    }
    evaluated(&kernel, (of, to), columns)
}

/// The last of a kernel's views, the others being these columns.
fn evaluated(kernel: &Kernel, (of, to): (Scalar, Scalar), columns: &[Vec<u64>]) -> Vec<u64> {
    let count = columns[0].len();
    let view = |of: Scalar, column: &[u64]| {
        let size = of.size() as usize;
        let bytes = column.iter().flat_map(|bits| bits.to_le_bytes()[..size].to_vec());
        Arg::View { extent: vec![count as u64], bytes: bytes.collect() }
    };
    let mut args: Vec<_> = columns.iter().map(|column| view(of, column)).collect();
    args.push(view(to, &vec![0; count]));
    let launch = Launch {
        range: [count as u64, 1, 1],
        group: [1; 3],
        extents: vec![[count as u64, 1, 1]; args.len()],
        scalars: vec![None; args.len()],
        ..Launch::default()
    };
    let ran = interp::run(kernel, &launch, &mut args, Order::Forward, 1 << 40).ok().unwrap();
    assert!(ran.failure.is_none(), "{:?}", ran.failure);
    let Some(Arg::View { bytes, .. }) = args.pop() else { unreachable!() };
    let bits = |bytes: &[u8]| bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
    bytes.chunks(to.size() as usize).map(bits).collect()
}

fn columns(seed: u64, of: Scalar, count: usize) -> [Vec<u64>; 3] {
    let mut rng = Rng::new(seed);
    [(); 3].map(|()| (0..count).map(|_| some_bits(&mut rng, of)).collect())
}

fn same(of: Scalar, a: u64, b: u64) -> bool {
    let nan = |bits| of.is_float() && float::value(of, bits).is_nan();
    a == b || (nan(a) && nan(b))
}

const COUNT: usize = 4000;

/// With nothing that the device rounds correctly but sums and products.
const NOTHING: Exact = Exact::NONE;

/// KRN-04: quotients, roots, remainders, fused products, rounding and conversions are those of the
/// interpreter.
#[test]
fn exact_operations_are_exact() {
    type Make = fn([Value; 3]) -> Op;
    let all: [(&str, Make); 14] = [
        ("/", |[a, b, _]| Op::Binary(Binary::Div, a, b)),
        ("sqrt", |[a, ..]| Op::Unary(Unary::Sqrt, a)),
        ("%", |[a, b, _]| Op::Binary(Binary::Rem, a, b)),
        ("fma", |[a, b, c]| Op::Fma(a, b, c)),
        ("floor", |[a, ..]| Op::Unary(Unary::Floor, a)),
        ("ceil", |[a, ..]| Op::Unary(Unary::Ceil, a)),
        ("trunc", |[a, ..]| Op::Unary(Unary::Trunc, a)),
        ("round", |[a, ..]| Op::Unary(Unary::Round, a)),
        ("round_even", |[a, ..]| Op::Unary(Unary::RoundEven, a)),
        ("min", |[a, b, _]| Op::Binary(Binary::Min, a, b)),
        ("max", |[a, b, _]| Op::Binary(Binary::Max, a, b)),
        ("neg", |[a, ..]| Op::Unary(Unary::Neg, a)),
        ("abs", |[a, ..]| Op::Unary(Unary::Abs, a)),
        ("copysign", |[a, b, _]| Op::Binary(Binary::CopySign, a, b)),
    ];
    for of in [Scalar::F32, Scalar::F64, Scalar::F16, Scalar::Bf16] {
        let columns = columns(7, of, COUNT);
        for (name, make) in &all {
            let wanted = run(of, of, make, &columns, None);
            let fused = Fused { f32: true, f64: true };
            for exact in [
                NOTHING,
                Exact { doubles: true, ..NOTHING },
                Exact { doubles: true, conversions: true, ..NOTHING },
                Exact { fused, ..NOTHING },
                Exact { fused, doubles: true, conversions: true, ..NOTHING },
                Exact { fuses_normals: true, ..NOTHING },
                Exact { fuses_normals: true, doubles: true, ..NOTHING },
            ] {
                let found = run(of, of, make, &columns, Some(exact));
                for (at, (wanted, found)) in wanted.iter().zip(&found).enumerate() {
                    let operands = [0, 1, 2].map(|column| columns[column][at]);
                    assert!(
                        same(of, *wanted, *found),
                        "{of} {name} {operands:x?}: {found:x}, not {wanted:x}"
                    );
                }
            }
        }
    }
}

/// Bits of a quotient's operands, such that it is next to the middle of two floats; and of an
/// operand whose root is.
fn near_a_middle(rng: &mut Rng) -> [u64; 3] {
    // Exponent fields within the branch that does not compute by integers, at its ends, and
    // outside.
    const FIELDS: [u64; 8] = [1, 65, 66, 67, 127, 189, 190, 254];
    let (field, other) = (FIELDS[rng.below(8)], FIELDS[rng.below(8)]);
    // The nearest 24 bits, and how many have been left out.
    let nearest = |wide: u64| {
        let down = 40 - wide.leading_zeros();
        (((wide + (1 << (down - 1))) >> down).min(0xff_ffff), u64::from(down))
    };
    let float = |field: u64, significand: u64| field << 23 | significand & 0x7f_ffff;
    let (middle, divisor) =
        (rng.next() & 0x1ff_ffff | 0x100_0001, rng.next() & 0xff_ffff | 0x80_0000);
    let sign = rng.next() & 1 << 31;
    let dividend = nearest(middle * divisor).0;
    let (square, down) = nearest(middle * middle);
    let even = field & !1 | down & 1;
    [float(field, dividend) | sign, float(other, divisor), float(even.clamp(1, 254), square)]
}

/// KRN-04: quotients and roots by doubles or fused products, and those just outside of their branch.
#[test]
fn quotients_and_roots_near_a_middle_are_exact() {
    let mut rng = Rng::new(11);
    let mut columns = [(); 3].map(|()| vec![]);
    for _ in 0..20_000 {
        let all = near_a_middle(&mut rng);
        columns.iter_mut().zip(all).for_each(|(column, bits)| column.push(bits));
    }
    type Make = fn([Value; 3]) -> Op;
    let all: [(&str, Make); 2] = [
        ("/", |[a, b, _]| Op::Binary(Binary::Div, a, b)),
        ("sqrt", |[_, _, c]| Op::Unary(Unary::Sqrt, c)),
    ];
    for (name, make) in all {
        let wanted = run(Scalar::F32, Scalar::F32, &make, &columns, None);
        let fused = Fused { f32: true, f64: false };
        let ways = [
            Exact { doubles: true, ..NOTHING },
            Exact { doubles: true, conversions: true, ..NOTHING },
            Exact { fused, ..NOTHING },
            Exact { fuses_normals: true, doubles: true, ..NOTHING },
        ];
        for exact in ways {
            let found = run(Scalar::F32, Scalar::F32, &make, &columns, Some(exact));
            let wrong = (0..wanted.len()).find(|at| wanted[*at] != found[*at]);
            let operands = wrong.map(|at| [0, 1, 2].map(|column| columns[column][at]));
            assert_eq!(operands, None, "{name}, bits");
        }
    }
}

/// Significands of an `f32` dividend whose quotient by this divisor is next to the middle of two
/// floats: `dividend * 2^up` is `of` away from an odd multiple, of which the quotient's last place has
/// two.
fn dividends_near_a_middle(divisor: u64, of: i64, up: u32) -> Option<u64> {
    let down = divisor.trailing_zeros();
    let odd = divisor >> down;
    if odd == 1 || of % (1 << down) != 0 {
        return None;
    }
    // Two's reciprocal in numbers modulo the odd part.
    let (half, mut dividend) = (odd.div_ceil(2), (of >> down).rem_euclid(odd as i64) as u64);
    for _ in 0..up - down {
        dividend = dividend * half % odd;
    }
    let least = (1u64 << 23).saturating_sub(dividend).div_ceil(odd);
    let dividend = dividend + least * odd;
    let (product, divisor) = (((dividend as i64) << up) - of, divisor as i64);
    let fits = dividend < 1 << 24 && (dividend as i64 >= divisor) == (up == 24);
    (fits && product % divisor == 0 && product / divisor % 2 == 1).then_some(dividend)
}

/// KRN-04: quotients and roots by fused products, where those are nearest to being wrong: each
/// divisor with each dividend that leaves the quotient less than a 2^24th of the last place away from
/// the middle of two floats, and each root. Here of some divisors and roots; of all where
/// `FOLIO_SOAK_CASES` is set (two minutes).
#[test]
fn quotients_and_roots_are_never_in_the_middle() {
    let stride = if std::env::var_os("FOLIO_SOAK_CASES").is_some() { 1 } else { 1009 };
    let fused = Fused { f32: true, f64: false };
    let exact = Exact { fused, ..NOTHING };
    let float = |significand: u64| 127 << 23 | significand & 0x7f_ffff;
    let ends = (1 << 24) - 300..1 << 24;
    let divisors: Vec<u64> = (1 << 23..1 << 24).step_by(stride).chain(ends).collect();
    for some in divisors.chunks(1 << 16) {
        let mut columns = [(); 3].map(|()| vec![]);
        for divisor in some {
            for of in [-4, -3, -2, -1, 1, 2, 3, 4] {
                for dividend in [24, 25].map(|up| dividends_near_a_middle(*divisor, of, up)) {
                    let Some(dividend) = dividend else { continue };
                    columns[0].push(float(dividend));
                    columns[1].push(float(*divisor));
                }
            }
        }
        columns[2] = columns[0].clone();
        assert!(columns[0].len() > some.len());
        let divide: &dyn Fn([Value; 3]) -> Op = &|[a, b, _]| Op::Binary(Binary::Div, a, b);
        let found = run(Scalar::F32, Scalar::F32, divide, &columns, Some(exact));
        for (at, found) in found.into_iter().enumerate() {
            let [a, b] = [0, 1].map(|column| f32::from_bits(columns[column][at] as u32));
            assert_eq!(found, u64::from((a / b).to_bits()), "{a:e} / {b:e}");
        }
    }
    let all: Vec<u64> = (127 << 23..129 << 23).step_by(stride).collect();
    for some in all.chunks(1 << 16) {
        let columns = [some.to_vec(), some.to_vec(), some.to_vec()];
        let root: &dyn Fn([Value; 3]) -> Op = &|[a, ..]| Op::Unary(Unary::Sqrt, a);
        let found = run(Scalar::F32, Scalar::F32, root, &columns, Some(exact));
        for (x, found) in some.iter().zip(found) {
            let x = f32::from_bits(*x as u32);
            assert_eq!(found, u64::from(x.sqrt().to_bits()), "root of {x:e}");
        }
    }
}

/// An operation of each element and a literal, as it is softened.
fn with_literal(of: Scalar, literal: u64, op: &dyn Fn(Value, Value) -> Op) -> Kernel {
    let mut b = Builder::items("soft", 1);
    let x = b.view("x", of, 1, Access::In, Owner::Item);
    let i = b.position(0);
    let (value, literal) = (b.load_at(x, [i]), b.bits(of, literal));
    let result = b.op(op(value, literal));
    let compares = b.type_of(result) == Scalar::Bool.into();
    let result = if compares { b.cast(result, Scalar::U32) } else { result };
    let y = b.view("y", b.type_of(result), 1, Access::Out, Owner::Item);
    b.store_at(y, [i], result);
    let kernel = softened(&b.finish().unwrap(), Exact { doubles: true, ..NOTHING });
    verify::verify(&kernel).unwrap();
    kernel
}

fn count(kernel: &Kernel, is: &dyn Fn(&Op) -> bool) -> usize {
    let mut count = 0;
    walk(&kernel.body, &mut |stmt| {
        count += usize::from(matches!(stmt, Stmt::Let(define) if is(&define.op)));
    });
    count
}

/// KRN-04: a quotient by a literal power of two is a product, where that is exact.
#[test]
fn quotients_by_powers_of_two_are_products() {
    let divides = |a, b| Op::Binary(Binary::Div, a, b);
    let product = |op: &Op| matches!(op, Op::Binary(Binary::Mul, ..));
    let singles =
        [8.0f32, -0.5, 1.0, f32::MIN_POSITIVE, f32::from_bits(253 << 23)].map(f32::to_bits);
    let doubles = [8.0f64, -0.25, f64::MIN_POSITIVE].map(f64::to_bits);
    let singles = singles.map(|bits| (Scalar::F32, u64::from(bits)));
    let all = singles.into_iter().chain(doubles.map(|bits| (Scalar::F64, bits)));
    for (of, literal) in all {
        let columns = columns(5, of, COUNT);
        let kernel = with_literal(of, literal, &divides);
        assert_eq!(count(&kernel, &product), 1, "{of} {literal:#x}");
        let found = evaluated(&kernel, (of, of), &columns[..1]);
        let divisors = [columns[0].clone(), vec![literal; COUNT], columns[2].clone()];
        let wanted = run(of, of, &|[a, b, _]| divides(a, b), &divisors, None);
        for at in 0..COUNT {
            let (wanted, found) = (wanted[at], found[at]);
            assert!(same(of, wanted, found), "{:#x} / {literal:#x}: {found:#x}", columns[0][at]);
        }
    }
    // Whose reciprocals are denormal, or no floats.
    let others = [f32::from_bits(254 << 23), 3.0, 0.0, f32::INFINITY, f32::from_bits(1 << 22)];
    for literal in others.map(f32::to_bits) {
        let kernel = with_literal(Scalar::F32, literal.into(), &divides);
        assert!(count(&kernel, &product) > 1, "{literal:#x}");
    }
}

/// KRN-04: devices that take denormals for zero where they compare are asked where a literal is far
/// from both.
#[test]
fn comparisons_with_normal_literals_are_the_device_s() {
    let is_float = |kernel: &Kernel, value: &Value| {
        kernel.type_of(*value).and_then(folio_kernel::Type::scalar) == Some(Scalar::F32)
    };
    let of_floats = |literal: f32, turned: bool| {
        let bits = u64::from(literal.to_bits());
        let kernel = with_literal(Scalar::F32, bits, &|a, b| {
            let (a, b) = if turned { (b, a) } else { (a, b) };
            Op::Compare(Compare::Lt, a, b)
        });
        count(&kernel, &|op| matches!(op, Op::Compare(_, a, _) if is_float(&kernel, a)))
    };
    for turned in [false, true] {
        for far in [1.0, -3.5, f32::MIN_POSITIVE, f32::INFINITY, f32::NAN] {
            assert_eq!(of_floats(far, turned), 1, "{far}");
        }
        for near in [0.0, -0.0, f32::from_bits(1), -f32::from_bits(0x7f_ffff)] {
            assert_eq!(of_floats(near, turned), 0, "{near}");
        }
    }
}

/// KRN-04: comparisons by integers, of numbers of all sizes, with and without a device that has the
/// rest; those of halves are such of singles.
#[test]
fn comparisons_of_singles_are_exact() {
    let all = [Compare::Lt, Compare::Le, Compare::Gt, Compare::Ge, Compare::Eq, Compare::Ne];
    for of in [Scalar::F32, Scalar::F64, Scalar::F16, Scalar::Bf16] {
        let mut columns = columns(11, of, COUNT);
        // Equal ones, opposite ones, the least denormals and zeros.
        let sign = 1 << (of.bits() - 1);
        for at in 0..COUNT / 8 {
            columns[1][8 * at] = columns[0][8 * at];
            columns[1][8 * at + 1] = columns[0][8 * at + 1] ^ sign;
            columns[0][8 * at + 2] = (at as u64 % 3) | (sign * (at as u64 / 3 % 2));
            columns[1][8 * at + 2] = (at as u64 / 6 % 3) | (sign * (at as u64 / 18 % 2));
        }
        for op in all {
            let make = |[a, b, _]: [Value; 3]| Op::Compare(op, a, b);
            let wanted = run(of, Scalar::U32, &make, &columns, None);
            for exact in [NOTHING, Exact { f32: true, conversions: true, ..NOTHING }] {
                let found = run(of, Scalar::U32, &make, &columns, Some(exact));
                for (at, (wanted, found)) in wanted.iter().zip(&found).enumerate() {
                    let operands = [columns[0][at], columns[1][at]];
                    assert_eq!(wanted, found, "{of} {op:?} {operands:x?}");
                }
            }
        }
    }
}

/// KRN-04: all halves to wider formats and back, and wider ones to halves.
#[test]
fn conversions_of_halves_are_exact() {
    for half in [Scalar::F16, Scalar::Bf16] {
        let all: Vec<u64> = (0..=u64::from(u16::MAX)).collect();
        let halves = [all.clone(), all.clone(), all];
        for other in Scalar::ALL.iter().copied().filter(|other| *other != Scalar::Bool) {
            let mut rng = Rng::new(3);
            let some = |_| match other.is_float() {
                true => some_bits(&mut rng, other),
                false => (rng.next() & other.mask()) >> (rng.below(other.bits() as usize)),
            };
            let column: Vec<u64> = (0..COUNT).map(some).collect();
            let others = [column.clone(), column.clone(), column];
            for (from, to, columns) in [(half, other, &halves), (other, half, &others)] {
                let make = |[a, ..]: [Value; 3]| Op::Cast(a, to);
                let wanted = run(from, to, &make, columns, None);
                let found = run(from, to, &make, columns, Some(NOTHING));
                for (at, (wanted, found)) in wanted.iter().zip(&found).enumerate() {
                    let a = columns[0][at];
                    assert!(
                        same(to, *wanted, *found),
                        "{from} {a:x} as {to}: {found:x}, not {wanted:x}"
                    );
                }
            }
        }
    }
}

/// KRN-04: `f32` as `f64` and back, of all sizes, denormals among them.
#[test]
fn conversions_of_singles_are_exact() {
    for (from, to) in [(Scalar::F32, Scalar::F64), (Scalar::F64, Scalar::F32)] {
        let mut columns = columns(5, from, COUNT);
        // What becomes denormal, or nearly so.
        let small = (0..600).map(|at| match from {
            Scalar::F32 => 1 << (at % 24),
            _ => ((1023 - 155 + at as u64 / 16) << 52) | (0x9e37_79b9_7f4a_7c15 >> (at % 52 + 12)),
        });
        columns[0].splice(..600, small);
        if from == Scalar::F64 {
            // In the middle of two floats, and next to it, of all sizes that `f32` have and beyond.
            let mut rng = Rng::new(6);
            let middle = |at: u64| {
                let float = (860 + at % 310) << 52 | rng.next() & (0xf_ffff << 32 | 0xe000_0000);
                let lost = [0, 1 << 28, (1 << 28) - 1, (1 << 28) + 1, (1 << 29) - 1, 1];
                float | lost[rng.below(6)] | rng.next() & 1 << 63
            };
            columns[0].extend((0..2000).map(middle));
            columns[1].resize(columns[0].len(), 0);
            columns[2].resize(columns[0].len(), 0);
        }
        let make = |[a, ..]: [Value; 3]| Op::Cast(a, to);
        let wanted = run(from, to, &make, &columns, None);
        let found = run(from, to, &make, &columns, Some(NOTHING));
        for (at, (wanted, found)) in wanted.iter().zip(&found).enumerate() {
            let a = columns[0][at];
            assert!(same(to, *wanted, *found), "{from} {a:x} as {to}: {found:x}, not {wanted:x}");
        }
    }
}

/// KRN-04: functions are those of the CPU, to the bit.
#[test]
fn functions_are_those_of_the_cpu() {
    type One = (Unary, fn(f32) -> f32, fn(f64) -> f64);
    let ones: [One; 18] = [
        (Unary::Rsqrt, single::rsqrt, double::rsqrt),
        (Unary::Cbrt, single::cbrt, double::cbrt),
        (Unary::Exp, single::exp, double::exp),
        (Unary::Exp2, single::exp2, double::exp2),
        (Unary::ExpM1, single::exp_m1, double::exp_m1),
        (Unary::Ln, single::ln, double::ln),
        (Unary::Log2, single::log2, double::log2),
        (Unary::Log10, single::log10, double::log10),
        (Unary::Ln1p, single::ln_1p, double::ln_1p),
        (Unary::Sin, single::sin, double::sin),
        (Unary::Cos, single::cos, double::cos),
        (Unary::Tan, single::tan, double::tan),
        (Unary::Asin, single::asin, double::asin),
        (Unary::Acos, single::acos, double::acos),
        (Unary::Atan, single::atan, double::atan),
        (Unary::Sinh, single::sinh, double::sinh),
        (Unary::Cosh, single::cosh, double::cosh),
        (Unary::Tanh, single::tanh, double::tanh),
    ];
    type Two = (Binary, fn(f32, f32) -> f32, fn(f64, f64) -> f64);
    let twos: [Two; 3] = [
        (Binary::Pow, single::powf, double::powf),
        (Binary::Atan2, single::atan2, double::atan2),
        (Binary::Hypot, single::hypot, double::hypot),
    ];
    let exact = Exact { fused: Fused::NONE, fuses_normals: false, ..Exact::ALL };
    for of in [Scalar::F32, Scalar::F64] {
        let columns = columns(11, of, COUNT);
        let check = |name: &str, make: &dyn Fn([Value; 3]) -> Op, is: &dyn Fn(u64, u64) -> u64| {
            for exact in [exact, NOTHING].into_iter().take(if of == Scalar::F32 { 2 } else { 1 }) {
                let found = run(of, of, make, &columns, Some(exact));
                for (at, found) in found.iter().enumerate() {
                    let (a, b) = (columns[0][at], columns[1][at]);
                    let wanted = is(a, b);
                    assert!(
                        same(of, wanted, *found),
                        "{of} {name} {a:x} {b:x}: {found:x}, not {wanted:x}"
                    );
                }
            }
        };
        for (op, narrow, wide) in ones {
            check(op.name(), &|[a, ..]| Op::Unary(op, a), &|a, _| match of {
                Scalar::F32 => narrow(f32::from_bits(a as u32)).to_bits().into(),
                _ => wide(f64::from_bits(a)).to_bits(),
            });
        }
        for (op, narrow, wide) in twos {
            check(op.name(), &|[a, b, _]| Op::Binary(op, a, b), &|a, b| match of {
                Scalar::F32 => {
                    narrow(f32::from_bits(a as u32), f32::from_bits(b as u32)).to_bits().into()
                }
                _ => wide(f64::from_bits(a), f64::from_bits(b)).to_bits(),
            });
        }
    }
}
