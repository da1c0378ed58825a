//! Functions of floats: `exp`, and the price of an option by Black and Scholes.

use crate::bench::{Bench, Case, Pair, Side, Site, Workload, on_host, on_native, read, told};
use crate::error::Result;
use crate::hand::host::{CHUNK, loops, owned};
use crate::hand::{Arg, Call, Hand, Memory, Native};
use crate::record::Work;
use folio::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// The workload.
pub struct Functions;

const RATE: f32 = 0.02;

#[kernel]
fn exponential(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = x[i].exp();
}

#[device_fn]
fn normal(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.2316419 * x.abs());
    let series = 0.319_381_53
        + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429)));
    let tail = 0.398_942_28 * (-0.5 * x * x).exp() * t * series;
    if x < 0.0 { tail } else { 1.0 - tail }
}

#[kernel]
fn black_scholes(i: Item, rate: f32, spot: In<f32>, strike: In<f32>, call: Out<f32>) {
    let (s, k, v) = (spot[i], strike[i], 0.3);
    let d1 = ((s / k).ln() + rate + 0.5 * v * v) / v;
    call[i] = s * normal(d1) - k * (-rate).exp() * normal(d1 - v);
}

#[inline(always)]
fn normal_by_hand(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.2316419 * x.abs());
    let series = 0.319_381_53
        + t * (-0.356_563_78 + t * (1.781_477_9 + t * (-1.821_255_9 + t * 1.330_274_5)));
    let tail = 0.398_942_3 * (-0.5 * x * x).exp() * t * series;
    if x < 0.0 { tail } else { 1.0 - tail }
}

loops! {
    fn exp_loop(x: &[f32], _z: &[f32], y: &mut [f32]) {
        y.iter_mut().zip(x).for_each(|(y, x)| *y = x.exp());
    }
    fn black_scholes_loop(spot: &[f32], strike: &[f32], call: &mut [f32]) {
        for ((call, s), k) in call.iter_mut().zip(spot).zip(strike) {
            let v = 0.3f32;
            let d1 = ((s / k).ln() + RATE + 0.5 * v * v) / v;
            *call = s * normal_by_hand(d1) - k * (-RATE).exp() * normal_by_hand(d1 - v);
        }
    }
}

const TEXT: &str = "
KERNEL exponential(uint n, float rate, GLOBAL const float *RESTRICT x,
                   GLOBAL const float *RESTRICT z, GLOBAL float *RESTRICT y) {
    WITHIN(X, n);
    y[X] = exp(x[X]);
}
#ifdef __CUDACC__
__device__
#endif
float normal(float x) {
    float t = 1.0f / (1.0f + 0.2316419f * fabs(x));
    float series = 0.31938153f
        + t * (-0.356563782f + t * (1.781477937f + t * (-1.821255978f + t * 1.330274429f)));
    float tail = 0.39894228f * exp(-0.5f * x * x) * t * series;
    return x < 0.0f ? tail : 1.0f - tail;
}
KERNEL black_scholes(uint n, float rate, GLOBAL const float *RESTRICT spot,
                     GLOBAL const float *RESTRICT strike, GLOBAL float *RESTRICT call) {
    WITHIN(X, n);
    float s = spot[X], k = strike[X], v = 0.3f;
    float d1 = (log(s / k) + rate + 0.5f * v * v) / v;
    call[X] = s * normal(d1) - k * exp(-rate) * normal(d1 - v);
}
";

impl Workload for Functions {
    fn name(&self) -> &'static str {
        "functions"
    }

    fn about(&self) -> &'static str {
        "exp, and Black-Scholes; by hand with the system's or the driver's functions"
    }

    fn unit(&self) -> &'static str {
        "f32"
    }

    fn modes(&self) -> &'static [&'static str] {
        &["exp", "black-scholes"]
    }

    fn sizes(&self, _: &str, site: Site) -> Vec<usize> {
        site.powers(&[20, 16, 24], &[26, 20, 28], 1, 2)
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let (n, is_exp) = (case.size, case.mode == "exp");
        let x = bench.floats(n, 1);
        let strike: Vec<f32> = x.iter().map(|x| 2.0 - x).collect();
        let work = Work {
            bytes: (if is_exp { 8 } else { 12 } * n) as f64,
            launches: 1.0,
            working_set: (if is_exp { 8 } else { 12 } * n) as f64,
            ..Work::default()
        };
        let ours = ours(bench, is_exp, [&x, &strike])?;
        let theirs = match &bench.hand {
            Hand::Host => host(is_exp, x, strike),
            Hand::Native(native) => driver(native, is_exp, [&x, &strike])?,
        };
        Ok(bench.pair(work, ours, theirs))
    }
}

fn ours(bench: &Bench, is_exp: bool, [x, strike]: [&[f32]; 2]) -> Result<Side> {
    let n = x.len();
    let (x, strike) = (bench.buffer([n], x)?, bench.buffer([n], strike)?);
    let y = bench.buffer([n], &vec![0.0f32; n])?;
    let out = y.clone();
    Ok(bench.ours(&out, move |q| match is_exp {
        true => q.run(n, exponential(&x, &y)).map(drop),
        false => q.run(n, black_scholes(RATE, &x, &strike, &y)).map(drop),
    }))
}

fn host(is_exp: bool, x: Vec<f32>, strike: Vec<f32>) -> Side {
    let y = owned(vec![0.0f32; x.len()]);
    let tell = told(&y);
    let one = if is_exp { exp_loop } else { black_scholes_loop };
    let work = move || {
        let mut y = y.lock();
        let parts = y.par_chunks_mut(CHUNK).zip(x.par_chunks(CHUNK)).zip(strike.par_chunks(CHUNK));
        parts.for_each(|((y, x), k)| one(x, k, y));
    };
    on_host(work, tell)
}

fn driver(native: &Arc<dyn Native>, is_exp: bool, [x, strike]: [&[f32]; 2]) -> Result<Side> {
    let n = x.len();
    let (x, k) = (Arc::new(Memory::of(native, x)?), Arc::new(Memory::of(native, strike)?));
    let y = Arc::new(Memory::of(native, &vec![0.0f32; n])?);
    let args = [n.into(), RATE.into(), Arg::from(&x), Arg::from(&k), Arg::from(&y)];
    let name = if is_exp { "exponential" } else { "black_scholes" };
    let call = Call::new(native, (TEXT, name), [n], args)?;
    Ok(on_native(native, vec![call], read::<f32>(&y, n)))
}
