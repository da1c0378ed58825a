//! Functions in loops, against the system's, which are called for each element: nanoseconds of one
//! element, and the speed-up of each instruction set.
//! `cargo bench -p folio-device --bench math [FILTER]`

#![cfg_attr(not(target_arch = "x86_64"), allow(unused, reason = "only a message there"))]

use folio_device::math::{double, single};
use std::time::Instant;

/// Arguments of a loop: they stay in the nearest cache.
const N: usize = 1024;
const ROUNDS: usize = 60;

type Loop<T> = unsafe fn(&[T; N], &[T; N], &mut [T; N]);

/// Of a function: its name, the system's, ours for any processor, for AVX2, for AVX-512.
type Row<T> = (&'static str, [Loop<T>; 4]);

/// A loop over a function, compiled with a feature.
macro_rules! body {
    ($name:ident $float:ident $feature:meta: $function:expr; 1) => {
        #[$feature]
        fn $name(x: &[$float; N], _: &[$float; N], out: &mut [$float; N]) {
            out.iter_mut().zip(x).for_each(|(out, x)| *out = $function(*x));
        }
    };
    ($name:ident $float:ident $feature:meta: $function:expr; 2) => {
        #[$feature]
        fn $name(x: &[$float; N], y: &[$float; N], out: &mut [$float; N]) {
            for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
                *out = $function(*x, *y);
            }
        }
    };
}
macro_rules! rows {
    ($table:ident $float:ident $module:ident: $($name:ident $count:tt)*) => {
        #[cfg(target_arch = "x86_64")]
        const $table: &[Row<$float>] = &[$({
            body! { system $float inline(never): $float::$name; $count }
            body! { plain $float inline(never): $module::$name; $count }
            body! { avx2 $float target_feature(enable = "avx2,fma"): $module::$name; $count }
            body! { avx512 $float
                target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"):
                $module::$name; $count }
            (stringify!($name), [system, plain, avx2, avx512])
        }),*];
    };
}
macro_rules! both {
    ($($rows:tt)*) => {
        rows! { SINGLE f32 single: $($rows)* }
        rows! { DOUBLE f64 double: $($rows)* }
    };
}
both! {
    exp 1 exp2 1 exp_m1 1 ln 1 log2 1 log10 1 ln_1p 1 sin 1 cos 1 tan 1 asin 1 acos 1 atan 1
    sinh 1 cosh 1 tanh 1 cbrt 1 powf 2 atan2 2 hypot 2 floor 1 round 1
}

/// Nanoseconds of an element, at best.
fn time<T: Copy>(run: Loop<T>, x: &[T; N], y: &[T; N]) -> f64 {
    let mut out = *x;
    let once = |_| {
        let start = Instant::now();
        for _ in 0..20 {
            // SAFETY: only loops whose features the processor has are timed.
            unsafe { run(x, y, std::hint::black_box(&mut out)) };
        }
        start.elapsed().as_nanos() as f64 / (20 * N) as f64
    };
    (0..ROUNDS).map(once).fold(f64::INFINITY, f64::min)
}

fn table<T: Copy>(kind: &str, rows: &[Row<T>], sets: usize, filter: &str, number: fn(f64) -> T) {
    let x: [T; N] = std::array::from_fn(|k| number((k as f64 + 0.5) / N as f64));
    let y: [T; N] = std::array::from_fn(|k| number((k * 7 % N) as f64 * 0.01 - 3.0));
    for (name, loops) in rows.iter().filter(|(name, _)| name.contains(filter)) {
        let times: Vec<f64> = loops[..sets].iter().map(|run| time(*run, &x, &y)).collect();
        print!("{kind} {name:<8} {:>8.2}", times[0]);
        times[1..].iter().for_each(|ns| print!(" {ns:>8.2} ({:>4.1})", times[0] / ns));
        println!();
    }
}

#[cfg(target_arch = "x86_64")]
fn main() {
    let filter = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    let sets = 2 + usize::from(avx2) + usize::from(avx2 && avx512);
    println!("ns per element: the system's, ours for any processor, with AVX2, with AVX-512");
    table("f32", SINGLE, sets, &filter, |x| x as f32);
    table("f64", DOUBLE, sets, &filter, |x| x);
}

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    println!("the instruction sets that are compared are those of x86-64");
}
