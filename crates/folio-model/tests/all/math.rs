//! The functions that kernels call, against their exact values (semantics 5.7 and 5.8, KRN-04).

use folio_device::math::{double, single};
use folio_device::ops;
use folio_kernel::{Binary, Scalar, Unary};
use folio_model::exact::{self, Exact};
use folio_model::rng::Rng;
use folio_model::suite::{Budget, cases, line};
use std::sync::Mutex;
use std::time::Instant;

/// A function of one, and the limit of its error.
struct One {
    op: Unary,
    limit: f64,
    single: fn(f32) -> f32,
    double: fn(f64) -> f64,
    /// The greatest error in a block.
    block: fn(u32) -> Worst,
}

macro_rules! ones {
    ($($op:ident $limit:literal $name:ident;)*) => {
        &[$(One {
            op: Unary::$op,
            limit: $limit as f64,
            single: |x| ops::$name(x),
            double: |x| ops::$name(x),
            block: |first| block(first, |x| single::$name(x), |x| double::$name(x)),
        }),*]
    };
}

/// The table of semantics 5.8.
const ONES: &[One] = ones! {
    Exp 3 exp; Exp2 3 exp2; ExpM1 3 exp_m1; Ln 3 ln; Log2 3 log2; Log10 3 log10; Ln1p 3 ln_1p;
    Sin 4 sin; Cos 4 cos; Tan 5 tan; Asin 4 asin; Acos 4 acos; Atan 5 atan;
    Sinh 4 sinh; Cosh 4 cosh; Tanh 5 tanh; Cbrt 2 cbrt; Rsqrt 2 rsqrt;
};

/// A function whose exact values are known is in the table.
#[test]
fn every_function_has_a_limit() {
    for op in Unary::ALL {
        let is_there = ONES.iter().any(|one| one.op == *op);
        assert_eq!(exact::unary(*op, 0.5).is_some(), is_there, "{op:?}");
    }
}

/// A function of two, and the limit of its error.
struct Two {
    op: Binary,
    limit: f64,
    single: fn(f32, f32) -> f32,
    double: fn(f64, f64) -> f64,
}

macro_rules! twos {
    ($($op:ident $limit:literal $name:ident;)*) => {
        &[$(Two {
            op: Binary::$op,
            limit: $limit as f64,
            single: |x, y| ops::$name(x, y),
            double: |x, y| ops::$name(x, y),
        }),*]
    };
}

const TWOS: &[Two] = twos! { Pow 16 powf; Atan2 6 atan2; Hypot 4 hypot; };

/// Where functions are special, and what is next to that.
const EDGES: &[f64] = &[
    0.0,
    1.0,
    2.0,
    3.0,
    4.0,
    0.5,
    0.25,
    0.75,
    1.5,
    2.5,
    10.0,
    100.0,
    1000.0,
    0.1,
    8.0,
    27.0,
    std::f64::consts::LN_2,
    std::f64::consts::E,
    std::f64::consts::PI,
    std::f64::consts::FRAC_PI_2,
    std::f64::consts::FRAC_PI_4,
    std::f64::consts::SQRT_2,
    std::f64::consts::FRAC_1_SQRT_2,
    0.346_573_590_279_972_65,
    2.0 / 3.0,
    4.0 / 3.0,
    0.414_213_562_373_095,
    2.414_213_562_373_095,
    17.5,
    37.5,
    88.722_839,
    89.415_99,
    103.972_08,
    128.0,
    149.0,
    150.0,
    709.782_712_893_384,
    710.475_860_073_943_9,
    745.133_219_101_941_1,
    1024.0,
    1074.0,
    1075.0,
    4_294_967_296.0,
    8_388_608.0,
    16_777_216.0,
    1.844_674_407_370_955_2e19,
    7.922_816_251_426_434e28,
    4_503_599_627_370_496.0,
    9_007_199_254_740_992.0,
    1.175_494_350_822_287_5e-38,
    1.401_298_464_324_817e-45,
    3.402_823_466_385_288_6e38,
    2.225_073_858_507_201_4e-308,
    5e-324,
    1.797_693_134_862_315_7e308,
    1e22,
    5.319_372_648_326_541e255,
    6.381_956_970_095_103e255,
    1.25e-8,
    3e-8,
    2e-4,
    1e-17,
    f64::INFINITY,
];

/// Arguments: edges and their neighbours, floats of all sizes, and those of sizes in use.
fn arguments(count: u64, seed: u64) -> impl Iterator<Item = f64> {
    let mut rng = Rng::new(seed);
    let near = EDGES.iter().flat_map(|edge| {
        let bits = edge.to_bits();
        let wide = [bits, bits.saturating_add(1), bits.saturating_sub(1)].map(f64::from_bits);
        let edge = *edge as f32;
        let narrow = [edge.to_bits().saturating_add(1), edge.to_bits().saturating_sub(1)];
        let narrow = narrow.map(|bits| f64::from(f32::from_bits(bits)));
        [wide[0], wide[1], wide[2], narrow[0], narrow[1]].into_iter().flat_map(|x| [x, -x])
    });
    let random = (0..count).map(move |k| {
        let bits = rng.next();
        let fraction = (bits >> 11) as f64 / 4_503_599_627_370_496.0 - 1.0;
        match k % 8 {
            0 => f64::from_bits(bits),
            1 => f64::from(f32::from_bits(bits as u32)),
            2 => fraction,
            3 => fraction * 10.0,
            4 => fraction * 100.0,
            5 => fraction * 800.0,
            6 => 1.0 + fraction * 2f64.powi(-((bits & 63) as i32)),
            // Next to multiples of a quarter of a turn.
            _ => (bits & 0xfff) as f64 * std::f64::consts::FRAC_PI_2 * (1.0 + fraction * 1e-9),
        }
    });
    near.chain(random).chain([f64::NAN])
}

/// The greatest error, and where.
#[derive(Clone, Copy)]
struct Worst(f64, [f64; 2]);

impl Worst {
    fn note(&mut self, error: f64, at: [f64; 2]) {
        if error > self.0 || error.is_nan() {
            *self = Worst(error, at);
        }
    }
}

#[track_caller]
fn report(name: &str, of: Scalar, worst: Worst, limit: f64) {
    let Worst(error, [x, y]) = worst;
    println!("{name} {of}: {error:.3} ULP at {x:e}, {y:e}; the limit is {limit}");
    assert!(error <= limit, "{name} {of}: {error} ULP at {x:e}, {y:e}");
}

#[test]
fn functions_of_one_keep_their_limits() {
    for One { op, limit, single, double, .. } in ONES {
        let (mut narrow, mut wide) = (Worst(0.0, [0.0; 2]), Worst(0.0, [0.0; 2]));
        for x in arguments(12_000, 5) {
            let exact = exact::unary(*op, x).unwrap();
            wide.note(exact.error(Scalar::F64, double(x)), [x; 2]);
            let x = x as f32;
            let exact = exact::unary(*op, x.into()).unwrap();
            narrow.note(exact.error(Scalar::F32, single(x).into()), [x.into(); 2]);
        }
        report(op.name(), Scalar::F32, narrow, *limit);
        report(op.name(), Scalar::F64, wide, *limit);
    }
}

#[test]
fn functions_of_two_keep_their_limits() {
    for Two { op, limit, single, double } in TWOS {
        let (mut narrow, mut wide) = (Worst(0.0, [0.0; 2]), Worst(0.0, [0.0; 2]));
        let mut check = |x: f64, y: f64| {
            let exact = exact::binary(*op, x, y).unwrap();
            wide.note(exact.error(Scalar::F64, double(x, y)), [x, y]);
            let (x, y) = (x as f32, y as f32);
            let exact = exact::binary(*op, x.into(), y.into()).unwrap();
            narrow.note(exact.error(Scalar::F32, single(x, y).into()), [x.into(), y.into()]);
        };
        for (x, y) in arguments(40_000, 6).zip(arguments(40_000, 7)) {
            check(x, y);
            // Powers that are neither 0 nor infinite.
            let y = y % 1000.0 / x.abs().log2();
            check(x, y);
        }
        for x in arguments(0, 1).step_by(5) {
            arguments(0, 1).step_by(5).for_each(|y| check(x, y));
        }
        report(op.name(), Scalar::F32, narrow, *limit);
        report(op.name(), Scalar::F64, wide, *limit);
    }
}

/// How far an `f32` result is from what `f64` gives, in units of its last place. Without branches,
/// since this is done very often.
#[inline(always)]
fn error_to_double(result: f32, double: f64) -> f64 {
    let end = 2f64.powi(128);
    let bounded = |x: f64| if x.abs() < end { x } else { end.copysign(x) };
    let exponent = (double.to_bits() >> 52 & 0x7ff).clamp(1023 - 126, 1023 + 127);
    let unit = f64::from_bits((exponent - 23) << 52);
    let error = (bounded(f64::from(result)) - bounded(double)).abs() / unit;
    let one_nan = if result.is_nan() == double.is_nan() { 0.0 } else { f64::INFINITY };
    if result.is_nan() | double.is_nan() { one_nan } else { error }
}

/// Neighbouring floats of one case; this many cases see all `f32` for one function.
const BLOCK: u32 = 1 << 20;
const BLOCKS: u64 = (1 << 32) / BLOCK as u64;

#[inline(always)]
fn block(first: u32, single: impl Fn(f32) -> f32, double: impl Fn(f64) -> f64) -> Worst {
    const ROW: u32 = 1024;
    let mut worst = Worst(0.0, [0.0; 2]);
    let mut errors = [0.0; ROW as usize];
    for row in (0..BLOCK).step_by(ROW as usize) {
        let float = |k: usize| f32::from_bits(first + row + k as u32);
        for (k, error) in errors.iter_mut().enumerate() {
            *error = error_to_double(single(float(k)), double(float(k).into()));
        }
        for (k, error) in errors.iter().enumerate() {
            worst.note(*error, [float(k).into(); 2]);
        }
    }
    worst
}

/// All functions of one `f32`, for all `f32`, against those of `f64`: BLOCKS cases for each. They
/// take turns, and the blocks of a function come in an order that spreads over all sizes.
#[test]
fn suite_math() {
    let budget = Budget::of("MATH");
    let start = Instant::now();
    let worst = Mutex::new(vec![Worst(0.0, [0.0; 2]); ONES.len()]);
    let case = |seed: u64| {
        let which = (seed % ONES.len() as u64) as usize;
        let block_of = (seed / ONES.len() as u64).wrapping_mul(1597).wrapping_add(1000) % BLOCKS;
        let One { op, limit, block, .. } = &ONES[which];
        let here = block(block_of as u32 * BLOCK);
        let mut worst = worst.lock().unwrap();
        worst[which].note(here.0, here.1);
        let Worst(error, [x, _]) = here;
        match error <= *limit {
            true => Ok(()),
            false => Err(format!("{} of {x:e}: {error} ULP (FOLIO_SEED={seed})", op.name())),
        }
    };
    let (done, wrong) = cases(budget, 2, &case);
    println!("{}", line("math", done, start.elapsed(), wrong.len(), budget.seed));
    for (One { op, .. }, Worst(error, [x, _])) in ONES.iter().zip(worst.into_inner().unwrap()) {
        println!("{}: {error:.3} ULP at {x:e}", op.name());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let least = budget.cases.unwrap_or(budget.least);
    assert!(done >= least, "{done} blocks, at least {least} asked");
}

/// semantics 5.8: what C's Annex F says of special points, apart from the exact functions.
#[test]
fn special_points_are_exact() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let table: &[(Unary, f64, f64)] = &[
        (Unary::Exp, 0.0, 1.0),
        (Unary::Exp, -0.0, 1.0),
        (Unary::Exp, inf, inf),
        (Unary::Exp, -inf, 0.0),
        (Unary::Exp2, 0.0, 1.0),
        (Unary::Exp2, 10.0, 1024.0),
        (Unary::Exp2, inf, inf),
        (Unary::Exp2, -inf, 0.0),
        (Unary::ExpM1, 0.0, 0.0),
        (Unary::ExpM1, -0.0, -0.0),
        (Unary::ExpM1, inf, inf),
        (Unary::ExpM1, -inf, -1.0),
        (Unary::Ln, 1.0, 0.0),
        (Unary::Ln, 0.0, -inf),
        (Unary::Ln, -0.0, -inf),
        (Unary::Ln, -1.0, nan),
        (Unary::Ln, inf, inf),
        (Unary::Log2, 1.0, 0.0),
        (Unary::Log2, 8.0, 3.0),
        (Unary::Log2, 0.0, -inf),
        (Unary::Log2, -1.0, nan),
        (Unary::Log2, inf, inf),
        (Unary::Log10, 1.0, 0.0),
        (Unary::Log10, 0.0, -inf),
        (Unary::Log10, -1.0, nan),
        (Unary::Log10, inf, inf),
        (Unary::Ln1p, 0.0, 0.0),
        (Unary::Ln1p, -0.0, -0.0),
        (Unary::Ln1p, -1.0, -inf),
        (Unary::Ln1p, -2.0, nan),
        (Unary::Ln1p, inf, inf),
        (Unary::Sin, 0.0, 0.0),
        (Unary::Sin, -0.0, -0.0),
        (Unary::Sin, inf, nan),
        (Unary::Sin, -inf, nan),
        (Unary::Cos, 0.0, 1.0),
        (Unary::Cos, -0.0, 1.0),
        (Unary::Cos, inf, nan),
        (Unary::Tan, 0.0, 0.0),
        (Unary::Tan, -0.0, -0.0),
        (Unary::Tan, -inf, nan),
        (Unary::Asin, 0.0, 0.0),
        (Unary::Asin, -0.0, -0.0),
        (Unary::Asin, 1.5, nan),
        (Unary::Asin, inf, nan),
        (Unary::Acos, 1.0, 0.0),
        (Unary::Acos, -1.5, nan),
        (Unary::Acos, -inf, nan),
        (Unary::Atan, 0.0, 0.0),
        (Unary::Atan, -0.0, -0.0),
        (Unary::Sinh, 0.0, 0.0),
        (Unary::Sinh, -0.0, -0.0),
        (Unary::Sinh, inf, inf),
        (Unary::Sinh, -inf, -inf),
        (Unary::Cosh, 0.0, 1.0),
        (Unary::Cosh, -0.0, 1.0),
        (Unary::Cosh, -inf, inf),
        (Unary::Tanh, 0.0, 0.0),
        (Unary::Tanh, -0.0, -0.0),
        (Unary::Tanh, inf, 1.0),
        (Unary::Tanh, -inf, -1.0),
        (Unary::Cbrt, 0.0, 0.0),
        (Unary::Cbrt, -0.0, -0.0),
        (Unary::Cbrt, inf, inf),
        (Unary::Cbrt, -inf, -inf),
        (Unary::Rsqrt, 0.0, inf),
        (Unary::Rsqrt, -0.0, -inf),
        (Unary::Rsqrt, inf, 0.0),
        (Unary::Rsqrt, -1.0, nan),
        (Unary::Rsqrt, 4.0, 0.5),
    ];
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    for One { op, single, double, .. } in ONES {
        assert!(double(nan).is_nan() && single(f32::NAN).is_nan(), "{}", op.name());
        for (_, x, y) in table.iter().filter(|row| row.0 == *op) {
            let (wide, narrow) = (double(*x), f64::from(single(*x as f32)));
            assert!(same(wide, *y), "{}({x:e}) is {wide:e}", op.name());
            assert!(same(narrow, *y), "{}({x:e}) is {narrow:e}", op.name());
            let exact = exact::unary(*op, *x).unwrap();
            assert!(same(f64::from_bits(exact.rounded(Scalar::F64)), *y), "{exact:?}");
        }
    }
}

/// semantics 5.7: rounding to integers is exact, signs of zeros included.
#[test]
fn roundings_are_those_of_rust() {
    macro_rules! check {
        ($x:ident: $($name:ident)*) => {$(
            let (ours, rust) = (double::$name($x), $x.$name());
            assert!(ours.to_bits() == rust.to_bits() || $x.is_nan(), "{} {:e}", stringify!($name), $x);
            let x = $x as f32;
            let (ours, rust) = (single::$name(x), x.$name());
            assert!(ours.to_bits() == rust.to_bits() || x.is_nan(), "{} {x:e}", stringify!($name));
            assert!(!$x.is_nan() || (double::$name($x).is_nan() && ours.is_nan()));
        )*};
    }
    let halves = (-1000..1000).map(|k| f64::from(k) * 0.25);
    for x in arguments(400_000, 3).chain(halves) {
        check!(x: floor ceil trunc round round_ties_even);
    }
}

/// The measure itself sees an error of one place.
#[test]
fn errors_are_seen() {
    let exact = exact::unary(Unary::Sin, 1e22).unwrap();
    // The sine of 10^22 is -0.8522008497671888017..
    let nearest = f64::from_bits(exact.rounded(Scalar::F64));
    assert_eq!(nearest, -0.852_200_849_767_188_8);
    assert!(exact.error(Scalar::F64, nearest) <= 0.5);
    let next = f64::from_bits(nearest.to_bits() + 2);
    let error = exact.error(Scalar::F64, next);
    assert!((1.5..=2.5).contains(&error), "{error}");
    assert_eq!(exact.error(Scalar::F64, f64::NAN), f64::INFINITY);
    let zero = exact::unary(Unary::Sin, -0.0).unwrap();
    assert!(matches!(zero, Exact::Special(_)) && zero.error(Scalar::F32, 0.0) == f64::INFINITY);
}
