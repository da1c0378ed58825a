//! Kernels as programs have them, with random and with edge inputs: in the Rust form, interpreted,
//! and on each device the same bits; and the functions, through kernels, within their limits
//! (KRN-04, KRN-08).
#![forbid(unsafe_code)]

use super::agree::*;
use super::language::mapped_all;
use crate::engine::rig::*;
use folio::prelude::*;
use folio_core::ir::device::Float;
use folio_core::ir::{Binary, Scalar, Unary};
use folio_interp::exact;
use folio_interp::rng::Rng;

#[kernel]
fn triad(i: Item, s: f64, b: In<f64>, c: In<f64>, a: Out<f64>) {
    a[i] = b[i] + s * c[i];
}

#[kernel]
fn around(i: Item<3>, x: In<f64, 3>, y: Out<f64, 3>) {
    let (a, b, c) = i.pos();
    let n = x.shape();
    let inside = a > 0 && b > 0 && c > 0 && a + 1 < n[0] && b + 1 < n[1] && c + 1 < n[2];
    y[i] = if inside {
        let sides = x[(a - 1, b, c)] + x[(a + 1, b, c)] + x[(a, b - 1, c)] + x[(a, b + 1, c)];
        (sides + x[(a, b, c - 1)] + x[(a, b, c + 1)]) / 6.0
    } else {
        x[i]
    };
}

#[kernel]
fn matmul(i: Item<2>, a: In<f32, 2>, b: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    let mut sum = 0.0;
    for k in 0..a.shape()[1] {
        sum += a[(r, k)] * b[(k, c)];
    }
    y[i] = sum;
}

const KEYS: [u32; 4] = [0xcc9e_2d51, 0x1b87_3593, 0x85eb_ca6b, 0xc2b2_ae35];

#[device_fn]
fn mixed(mut h: u32) -> u32 {
    for k in 0..2 {
        h ^= h >> (16 - 3 * k);
        h *= KEYS[(k + 2) as usize];
    }
    h ^ h >> 16
}

/// A hash of a seed fills a small twister, which is turned and tempered.
#[kernel]
fn twister(i: Item, x: In<u32>, y: Out<u32>) {
    let mut state = [0; 8];
    let mut h = x[i];
    for k in 0..8 {
        h = mixed((h * KEYS[0]).rotate_left(15) * KEYS[1] + k as u32);
        state[k] = h;
    }
    for turn in 0..3 {
        for k in 0..8 {
            let both = (state[k] & 0x8000_0000) | (state[(k + 1) % 8] & 0x7fff_ffff);
            let twist = match both & 1 {
                1 => 0x9908_b0df,
                _ => 0,
            };
            state[k] = state[(k + 5) % 8] ^ (both >> 1) ^ twist ^ turn;
        }
    }
    let mut out = state[(x[i] % 8) as usize];
    out ^= out >> 11;
    out ^= (out << 7) & 0x9d2c_5680;
    out ^= (out << 15) & 0xefc6_0000;
    y[i] = out ^ out >> 18;
}

#[device_fn]
fn bits_of(x: f32) -> u32 {
    if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() }
}

/// Whatever is exact, on pairs of floats.
#[kernel]
fn floats(i: Item, x: In<f32>, y: Out<[u32; 20]>) {
    let n = x.len();
    let (a, b) = (x[i], x[(i.index() * 7 + 1) % n]);
    y[i] = [
        bits_of(a + b),
        bits_of(a - b),
        bits_of(a * b),
        bits_of(a / b),
        bits_of(a % b),
        bits_of(a.min(b)),
        bits_of(a.max(b)),
        bits_of(a.mul_add(b, a)),
        bits_of(a.sqrt()),
        bits_of(a.floor()),
        bits_of(a.round()),
        bits_of(a.round_ties_even()),
        bits_of(a.copysign(b)),
        bits_of(a.signum()),
        bits_of(-a.abs()),
        a as i32 as u32,
        a as u8 as u32,
        (a as i64 >> 7) as u32,
        bits_of((a as f64 * b as f64) as f32),
        (a < b) as u32 | ((a == b) as u32) << 1 | ((a.is_finite()) as u32) << 2,
    ];
}

#[device_fn]
fn normal<T: Float>(x: T) -> T {
    let t = T::ONE / (T::ONE + T::lit(0.231_641_9) * x.abs());
    let series = T::lit(0.319_381_530)
        + t * (T::lit(-0.356_563_782)
            + t * (T::lit(1.781_477_937)
                + t * (T::lit(-1.821_255_978) + t * T::lit(1.330_274_429))));
    let tail = T::lit(0.398_942_280_401_432_7) * (T::lit(-0.5) * x * x).exp() * t * series;
    if x < T::ZERO { tail } else { T::ONE - tail }
}

/// A call's and a put's price.
#[kernel]
fn black_scholes<T: Float>(
    i: Item,
    rate: T,
    spot: In<T>,
    strike: In<T>,
    call: Out<T>,
    put: Out<T>,
) {
    let (s, k, volatility) = (spot[i], strike[i], T::lit(0.3));
    let d1 = ((s / k).ln() + rate + T::lit(0.5) * volatility * volatility) / volatility;
    let d2 = d1 - volatility;
    let discounted = k * (-rate).exp();
    let price = s * normal(d1) - discounted * normal(d2);
    call[i] = price;
    put[i] = price - s + discounted;
}

macro_rules! sixty_four {
    ($($name:ident)*) => {
        #[kernel]
        fn sixty_four(i: Item, scale: i64, $($name: In<i32>,)* y: Out<i64>) {
            let mut sum = 0;
            $(sum = sum * 3 + $name[i] as i64;)*
            y[i] = sum * scale;
        }

        /// KRN-08: with the item's output and the scalar, 64.
        pub(super) fn sixty_four_parameters(rig: &Rig) -> Outcome {
            let (x, y) = (data([9], noise), data([9], |_| 0i64));
            let mut args = vec![scalar(-5i64)];
            $(let _ = stringify!($name); args.push(x.arg());)*
            args.push(y.arg());
            ensure_eq!(args.len(), 64);
            fine(agree::<sixty_four>(rig, &[9], args, |rt, q| {
                $(let $name = x.buffer(rt)?;)*
                let mut y = y.buffer(rt)?;
                q.run(9, sixty_four(-5, $(&$name,)* &mut y))?;
                Ok(vec![contents(&y)?])
            })?)
        }
    };
}
sixty_four! {
    a0 a1 a2 a3 a4 a5 a6 a7 b0 b1 b2 b3 b4 b5 b6 b7 c0 c1 c2 c3 c4 c5 c6 c7 d0 d1 d2 d3 d4 d5 d6 d7
    e0 e1 e2 e3 e4 e5 e6 e7 f0 f1 f2 f3 f4 f5 f6 f7 g0 g1 g2 g3 g4 g5 g6 g7 h0 h1 h2 h3 h4 h5
}

pub(super) fn linear_algebra(rig: &Rig) -> Outcome {
    algebra(rig, |k| wave(k).into(), wave)
}

pub(super) fn algebra(rig: &Rig, double: fn(usize) -> f64, single: Floats) -> Outcome {
    let (b, c, a) = (data([70], double), data([70], |k| double(k + 7)), data([70], |_| 0f64));
    let args = vec![scalar(0.7f64), b.arg(), c.arg(), a.arg()];
    fine(agree::<triad>(rig, &[70], args, |rt, q| {
        let (b, c, mut a) = (b.buffer(rt)?, c.buffer(rt)?, a.buffer(rt)?);
        q.run(70, triad(0.7, &b, &c, &mut a))?;
        Ok(vec![contents(&a)?])
    })?)?;
    let (x, y) = (data([5, 6, 7], double), data([5, 6, 7], |_| 0f64));
    fine(agree::<around>(rig, &[5, 6, 7], vec![x.arg(), y.arg()], |rt, q| {
        let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
        q.run(y.range(), around(&x, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)?;
    // CPUs compute neighbours together: some columns, and what is left; or too few for that.
    for n in [5, 21] {
        let (a, b, y) = (data([6, 9], single), data([9, n], single), data([6, n], |_| 0f32));
        fine(agree::<matmul>(rig, &[6, n], vec![a.arg(), b.arg(), y.arg()], |rt, q| {
            let (a, b, mut y) = (a.buffer(rt)?, b.buffer(rt)?, y.buffer(rt)?);
            q.run(y.range(), matmul(&a, &b, &mut y))?;
            Ok(vec![contents(&y)?])
        })?)?;
    }
    Ok(())
}

#[kernel(contract)]
fn contracted(i: Item, a: In<f32>, b: In<f32>, y: Out<f32>) {
    y[i] = a[i] * b[i] - b[i];
}

/// semantics 5.2: each element is rounded once or twice, and once wherever the IR is computed.
pub(super) fn contraction_on_request(rig: &Rig) -> Outcome {
    let (a, b): (Vec<f32>, Vec<f32>) = (0..100).map(|k| (wave(k), wave(k + 9))).unzip();
    let once: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a.mul_add(*b, -b)).collect();
    let twice: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a * b - b).collect();
    ensure!(once != twice, "the test's data tell nothing");
    for device in rig.rt.devices() {
        let (x, z) = (rig.rt.buffer_from(&a)?, rig.rt.buffer_from(&b)?);
        let mut y = rig.rt.buffer::<f32, 1>(a.len())?;
        rig.rt.queue_on(&device)?.run(y.range(), contracted(&x, &z, &mut y))?;
        let found = y.to_vec()?;
        let rust = device.info().caps.closures && found == twice;
        ensure!(found == once || rust, "{}: {found:?}", device.info().name);
    }
    Ok(())
}

/// semantics 3
pub(super) fn hashes(rig: &Rig) -> Outcome {
    let edges = [0, 1, u32::MAX, 1 << 31, 31, 32];
    let x = |k: usize| edges.get(k).copied().unwrap_or(noise(k) as u32);
    fine(mapped_all(rig, 200, x, 0, |x, y| twister(x, y))?)
}

/// semantics 4, 5: NaN, infinities, denormals, and what saturates.
pub(super) fn edges_of_floats(rig: &Rig) -> Outcome {
    let edges = [
        0.0,
        1.0,
        f32::NAN,
        f32::INFINITY,
        f32::MIN_POSITIVE,
        1e-45,
        1.1e-38,
        f32::MAX,
        0.5,
        1.5,
        2.5,
        0.1,
        255.9,
        256.0,
        2_147_483_648.0,
        9.3e18,
        8_388_609.0,
    ];
    let x = |k: usize| match edges.get(k / 2) {
        Some(edge) => edge * if k.is_multiple_of(2) { 1.0 } else { -1.0 },
        None => f32::from_bits(noise(k) as u32),
    };
    // The number of elements and 7 have no common factor, so many pairs occur.
    fine(mapped_all(rig, 509, x, [0; 20], |x, y| floats(x, y))?)
}

/// Black and Scholes, against the same with the functions of `f64` that this machine has.
pub(super) fn prices(rig: &Rig) -> Outcome {
    let n = 300;
    let price = |k: usize| 20.0 + (k * 37 % 101) as f64;
    let wanted = |s: f64, k: f64| {
        let d1 = ((s / k).ln() + 0.02 + 0.045) / 0.3;
        let tail = |x: f64| {
            let t = 1.0 / (1.0 + 0.231_641_9 * x.abs());
            let poly = t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429));
            let tail = 0.398_942_280_401_432_7
                * (-0.5 * x * x).exp()
                * t
                * (0.319_381_530 + t * (-0.356_563_782 + poly));
            if x < 0.0 { tail } else { 1.0 - tail }
        };
        let call = s * tail(d1) - k * (-0.02f64).exp() * tail(d1 - 0.3);
        (call, call - s + k * (-0.02f64).exp())
    };
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let spots: Vec<f64> = (0..n).map(price).collect();
        let strikes: Vec<f64> = (0..n).map(|k| price(k * 3 + 1)).collect();
        let (s, k) = (rig.rt.buffer_from(&spots)?, rig.rt.buffer_from(&strikes)?);
        let (mut call, mut put) = (rig.rt.buffer::<f64, 1>(n)?, rig.rt.buffer::<f64, 1>(n)?);
        q.run(n, black_scholes(0.02, &s, &k, &mut call, &mut put))?;
        let narrow = |all: &[f64]| all.iter().map(|x| *x as f32).collect::<Vec<_>>();
        let s = rig.rt.buffer_from(narrow(&spots))?;
        let k = rig.rt.buffer_from(narrow(&strikes))?;
        let (mut call32, mut put32) = (rig.rt.buffer::<f32, 1>(n)?, rig.rt.buffer::<f32, 1>(n)?);
        q.run(n, black_scholes(0.02f32, &s, &k, &mut call32, &mut put32))?;
        let (call, put) = (call.to_vec()?, put.to_vec()?);
        let (call32, put32) = (call32.to_vec()?, put32.to_vec()?);
        for at in 0..n {
            let (c, p) = wanted(spots[at], strikes[at]);
            let near = |x: f64, y: f64, by: f64| (x - y).abs() <= by * spots[at].max(strikes[at]);
            ensure!(near(call[at], c, 1e-14) && near(put[at], p, 1e-14), "{at}: {} {c}", call[at]);
            let narrow = near(call32[at].into(), c, 2e-6) && near(put32[at].into(), p, 2e-6);
            ensure!(narrow, "{at}: {} {c}, {} {p}", call32[at], put32[at]);
        }
    }
    Ok(())
}

/// Arguments for functions: edges, and random ones of all sizes and of those in use.
fn arguments(rng: &mut Rng) -> Vec<f64> {
    let edges = [0.0, 1.0, 0.5, 2.0, 1e-8, 88.7, 709.7, 1e22, 5e-324, f64::MAX, f64::INFINITY];
    let mut all: Vec<f64> = edges.iter().flat_map(|x| [*x, -*x]).chain([f64::NAN]).collect();
    all.extend((0..60).map(|k| match k % 3 {
        0 => f64::from_bits(rng.next()),
        1 => (rng.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0,
        _ => ((rng.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0) * 100.0,
    }));
    all
}

macro_rules! functions {
    ($($kernel:ident $method:ident $op:ident $limit:literal;)*; $($kernel2:ident $method2:ident $op2:ident $limit2:literal;)*) => {
        $(
            #[kernel]
            fn $kernel<T: Float>(i: Item, x: In<T>, y: Out<T>) {
                y[i] = x[i].$method();
            }
        )*
        $(
            #[kernel]
            fn $kernel2<T: Float>(i: Item, a: In<T>, b: In<T>, y: Out<T>) {
                y[i] = a[i].$method2(b[i]);
            }
        )*

        /// semantics 5.8, in `f32` and `f64`.
        pub(super) fn functions_keep_their_limits(rig: &Rig) -> Outcome {
            let mut rng = Rng::new(11);
            let x = arguments(&mut rng);
            let mut other = arguments(&mut rng);
            other.rotate_left(7);
            let narrow = |all: &[f64]| all.iter().map(|x| *x as f32).collect::<Vec<_>>();
            let (x32, other32) = (narrow(&x), narrow(&other));
            for at in 0..rig.rt.devices().len() {
                let q = rig.on(at)?;
                let wide = (rig.rt.buffer_from(&x)?, rig.rt.buffer_from(&other)?);
                let single = (rig.rt.buffer_from(&x32)?, rig.rt.buffer_from(&other32)?);
                let mut y = rig.rt.buffer::<f64, 1>(x.len())?;
                let mut z = rig.rt.buffer::<f32, 1>(x.len())?;
                $(
                    q.run(y.range(), $kernel(&wide.0, &mut y))?;
                    q.run(z.range(), $kernel(&single.0, &mut z))?;
                    let (found, found32) = (y.to_vec()?, z.to_vec()?);
                    for k in 0..x.len() {
                        let name = stringify!($method);
                        let exact = exact::unary(Unary::$op, x[k]);
                        let error = exact.map(|exact| exact.error(Scalar::F64, found[k]));
                        ensure!(error.is_some_and(|e| e <= $limit as f64), "{name} {:e}: {error:?}", x[k]);
                        let exact = exact::unary(Unary::$op, x32[k].into());
                        let error = exact.map(|exact| exact.error(Scalar::F32, found32[k].into()));
                        ensure!(error.is_some_and(|e| e <= $limit as f64), "{name} {:e}: {error:?}", x32[k]);
                    }
                )*
                $(
                    q.run(y.range(), $kernel2(&wide.0, &wide.1, &mut y))?;
                    q.run(z.range(), $kernel2(&single.0, &single.1, &mut z))?;
                    let (found, found32) = (y.to_vec()?, z.to_vec()?);
                    for k in 0..x.len() {
                        let name = stringify!($method2);
                        let exact = exact::binary(Binary::$op2, x[k], other[k]);
                        let error = exact.map(|exact| exact.error(Scalar::F64, found[k]));
                        ensure!(error.is_some_and(|e| e <= $limit2 as f64), "{name} {:e}: {error:?}", x[k]);
                        let exact = exact::binary(Binary::$op2, x32[k].into(), other32[k].into());
                        let error = exact.map(|exact| exact.error(Scalar::F32, found32[k].into()));
                        ensure!(error.is_some_and(|e| e <= $limit2 as f64), "{name} {:e}: {error:?}", x32[k]);
                    }
                )*
            }
            Ok(())
        }
    };
}
functions! {
    exp_of exp Exp 3; exp2_of exp2 Exp2 3; exp_m1_of exp_m1 ExpM1 3; ln_of ln Ln 3; log2_of log2 Log2 3;
    log10_of log10 Log10 3; ln_1p_of ln_1p Ln1p 3; sin_of sin Sin 4; cos_of cos Cos 4; tan_of tan Tan 5;
    asin_of asin Asin 4; acos_of acos Acos 4; atan_of atan Atan 5; sinh_of sinh Sinh 4; cosh_of cosh Cosh 4;
    tanh_of tanh Tanh 5; cbrt_of cbrt Cbrt 2; rsqrt_of rsqrt Rsqrt 2;
    ;
    powf_of powf Pow 16; atan2_of atan2 Atan2 6; hypot_of hypot Hypot 4;
}

/// Each number beside the next one.
#[kernel]
fn orders<T: Float>(i: Item, x: In<T>, y: Out<u32>) {
    let (a, b) = (x[i], x[(i.index() + 1) % x.len()]);
    let asked = [
        a.total_cmp(&b).is_lt(),
        a.total_cmp(&b).is_le(),
        a.total_cmp(&b).is_gt(),
        a.total_cmp(&b).is_ge(),
        a.total_cmp(&b).is_eq(),
        a.total_cmp(&b).is_ne(),
    ];
    let mut bits = 0;
    for k in 0..6 {
        bits |= (asked[k] as u32) << k;
    }
    y[i] = bits;
}

/// semantics 5.10: the order of `total_cmp`, with zeros and NaN of both signs.
pub(super) fn orders_of_floats_are_total(rig: &Rig) -> Outcome {
    macro_rules! orders {
        ($ty:ident $bits:ident $all:expr) => {{
            let all: [$bits; 12] = $all;
            let n = all.len() * all.len();
            // Each pair is beside each other somewhere.
            let x = data([2 * n], |k| {
                $ty::from_bits(all[(k % 2 * (k / 2) + (1 - k % 2) * (k / 2 / 12)) % 12])
            });
            let y = data([2 * n], |_| 0u32);
            fine(agree::<orders<$ty>>(rig, &[2 * n], vec![x.arg(), y.arg()], |rt, q| {
                let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
                q.run(2 * n, orders(&x, &mut y))?;
                Ok(vec![contents(&y)?])
            })?)?;
        }};
    }
    let single = [0, 1, 0x3f80_0000, 0x7f80_0000, 0x7fc0_0000, 0x7f80_0001]
        .map(|of: u32| [of, of | 1 << 31]);
    let double = [0, 1, 0x3ff0 << 48, 0x7ff0 << 48, 0x7ff8 << 48, (0x7ff0 << 48) + 1]
        .map(|of: u64| [of, of | 1 << 63]);
    let half = [0, 1, 0x3c00, 0x7c00, 0x7e00, 0x7c01].map(|of: u16| [of, of | 1 << 15]);
    orders!(f32 u32 std::array::from_fn(|k| single[k / 2][k % 2]));
    orders!(f64 u64 std::array::from_fn(|k| double[k / 2][k % 2]));
    orders!(f16 u16 std::array::from_fn(|k| half[k / 2][k % 2]));
    Ok(())
}

#[kernel]
fn quads(i: Item, a: In<u32>, b: In<u32>, y: Out<i32>, z: Out<u32>) {
    y[i] = a[i].dot4_i8(b[i], 2_147_483_000 - (a[i] & 511) as i32);
    z[i] = a[i].dot4_u8(b[i], 4_294_967_000) + a[i].dot4_u8(3, 0);
}

/// semantics 3.7
pub(super) fn bytes_are_multiplied_and_added(rig: &Rig) -> Outcome {
    let edges = [0, u32::MAX, 0x8080_8080, 0x7f7f_7f7f, 0x8000_7f01];
    let word =
        |k: usize| edges.get(k % 25 / 5).map_or(0, |of| if k < 25 { *of } else { noise(k) as u32 });
    let other = |k: usize| if k < 25 { edges[k % 5] } else { noise(k + 77) as u32 };
    let (a, b) = (data([200], word), data([200], other));
    let (y, z) = (data([200], |_| 0i32), data([200], |_| 0u32));
    let args = vec![a.arg(), b.arg(), y.arg(), z.arg()];
    fine(agree::<quads>(rig, &[200], args, |rt, q| {
        let (a, b, mut y, mut z) = (a.buffer(rt)?, b.buffer(rt)?, y.buffer(rt)?, z.buffer(rt)?);
        q.run(200, quads(&a, &b, &mut y, &mut z))?;
        Ok(vec![contents(&y)?, contents(&z)?])
    })?)?;
    let signed = |a: i8, b: i8| 4 * i32::from(a) * i32::from(b);
    ensure_eq!(
        folio_core::ir::device::ops::dot4_i8(0x8080_8080, 0x7f7f_7f7f, 5),
        5 + signed(-128, 127)
    );
    Ok(())
}
