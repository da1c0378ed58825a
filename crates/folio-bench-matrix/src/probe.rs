//! The peaks of a device, by hand, of which "percent of the peak" is a percentage.
//!
//! Memory is written before it is read, since untouched pages are one page of zeros in a cache.
//! Arrays are larger than the caches. Each figure is the best of several runs.

use crate::bench::Bench;
use crate::error::Result;
use crate::hand::host::loops;
use crate::hand::{Arg, Call, End, Hand, Memory, Native, Rows, stream_items};
use crate::record::Peaks;
use rayon::prelude::*;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs of a probe.
const RUNS: usize = 12;
/// Launches of which the time is taken together.
const LAUNCHES: usize = 1000;
/// Steps of a chain of fused operations.
const STEPS: usize = 1 << 16;
/// Chains beside each other, so that none waits for itself.
const CHAINS: usize = 8;

const TEXT: &str = "
KERNEL triad(float a, GLOBAL const float *RESTRICT x, GLOBAL const float *RESTRICT z,
            GLOBAL float *RESTRICT y) {
    STREAM(y[i] = x[i] + a * z[i];)
}
KERNEL update(float a, GLOBAL const float *RESTRICT x, GLOBAL const float *RESTRICT z,
              GLOBAL float *RESTRICT y) {
    STREAM(y[i] = x[i] + a * y[i];)
}
KERNEL arithmetic(uint steps, float a, GLOBAL WIDE *y) {
    WIDE b = y[X] * 0.0f + a;
    WIDE v0 = y[X], v1 = v0 + b, v2 = v1 + b, v3 = v2 + b, v4 = v3 + b, v5 = v4 + b, v6 = v5 + b;
    WIDE v7 = v6 + b;
    for (uint k = 0; k < steps; k++) {
        v0 = FMA(v0, b, b); v1 = FMA(v1, b, b); v2 = FMA(v2, b, b); v3 = FMA(v3, b, b);
        v4 = FMA(v4, b, b); v5 = FMA(v5, b, b); v6 = FMA(v6, b, b); v7 = FMA(v7, b, b);
    }
    y[X] = v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7;
}
KERNEL nothing(uint n, GLOBAL float *y) {
    if (X > n) y[X] = 0.0f;
}
";

fn best(mut run: impl FnMut() -> Result<()>) -> Result<f64> {
    run()?;
    let mut least = Duration::MAX;
    for _ in 0..RUNS {
        let started = Instant::now();
        run()?;
        least = least.min(started.elapsed());
    }
    Ok(least.as_secs_f64().max(1e-9))
}

/// Floats of an array that no cache holds: four times the last one, within reason, in whole groups
/// of a launch.
fn beyond(cache: u64) -> usize {
    ((cache * 4).clamp(64 << 20, 1 << 30) as usize / 4).next_multiple_of(1024)
}

/// Probes a device.
pub fn peaks(bench: &Bench, cache: u64) -> Result<Peaks> {
    match &bench.hand {
        Hand::Host => host(cache),
        Hand::Native(native) => driver(native, cache),
    }
}

loops! {
    fn triad(a: f32, x: &[f32], z: &[f32], y: &mut [f32]) {
        for ((y, x), z) in y.iter_mut().zip(x).zip(z) {
            *y = x + a * z;
        }
    }
    fn update(a: f32, x: &[f32], y: &mut [f32]) {
        y.iter_mut().zip(x).for_each(|(y, x)| *y = x + a * *y);
    }
    fn total(x: &[f32], sum: &mut f32) {
        let mut all = [0.0f32; 64];
        for x in x.as_chunks::<64>().0 {
            all.iter_mut().zip(x).for_each(|(all, x)| *all += x);
        }
        *sum = all.iter().sum();
    }
    fn chains(a: f32, v: &mut [[f32; 16]; CHAINS]) {
        let mut own = *v;
        for _ in 0..STEPS {
            for l in 0..16 {
                for own in &mut own {
                    own[l] = own[l].mul_add(a, a);
                }
            }
        }
        *v = own;
    }
}

fn nothing() {
    black_box(());
}

fn host(cache: u64) -> Result<Peaks> {
    const PART: usize = 1 << 16;
    let n = beyond(cache);
    let fill = |value: f32| (0..n).into_par_iter().map(|k| value + k as f32).collect::<Vec<f32>>();
    let (x, z, mut y) = (fill(1.0), fill(2.0), fill(3.0));
    let both = best(|| {
        let parts = y.par_chunks_mut(PART).zip(x.par_chunks(PART)).zip(z.par_chunks(PART));
        parts.for_each(|((y, x), z)| triad(0.5, x, z, y));
        Ok(())
    })?;
    let updated = best(|| {
        y.par_chunks_mut(PART).zip(x.par_chunks(PART)).for_each(|(y, x)| update(0.5, x, y));
        Ok(())
    })?;
    let read = best(|| {
        let part = |x: &[f32]| {
            let mut sum = 0.0;
            total(x, &mut sum);
            sum
        };
        black_box(x.par_chunks(PART).map(part).sum::<f32>());
        Ok(())
    })?;
    let copied = best(|| {
        crate::hand::host::copy(&x, &mut y);
        Ok(())
    })?;
    let threads = rayon::current_num_threads();
    let computed = best(|| {
        (0..threads).into_par_iter().for_each(|k| {
            let mut v = [[k as f32; 16]; CHAINS];
            chains(black_box(0.5), &mut v);
            black_box(v);
        });
        Ok(())
    })?;
    let launched = best(|| {
        rayon::scope(|scope| (0..LAUNCHES).for_each(|_| scope.spawn(|_| nothing())));
        Ok(())
    })?;
    let bytes = 4.0 * n as f64;
    Ok(Peaks {
        bytes: (3.0 * bytes / both.min(updated)).max(bytes / read),
        flops: (2 * STEPS * CHAINS * 16 * threads) as f64 / computed,
        launches: LAUNCHES as f64 / launched,
        upload: bytes / copied,
        download: bytes / copied,
        working_set: bytes,
    })
}

fn driver(native: &Arc<dyn Native>, cache: u64) -> Result<Peaks> {
    native.enter()?;
    let n = beyond(cache);
    let values: Vec<f32> = (0..n).map(|k| k as f32).collect();
    let [x, z, y] = [0; 3].map(|_| Memory::of(native, &values).map(Arc::new));
    let (x, z, y) = (x?, z?, y?);
    let run = |calls: &Call, times: usize| {
        (0..times).try_for_each(|_| native.launch(0, calls))?;
        native.finish(0)
    };
    let triad_args = [Arg::F32(0.5), Arg::from(&x), Arg::from(&z), Arg::from(&y)];
    let items = [stream_items(native, n)];
    let triad = Call::new(native, (TEXT, "triad"), items, triad_args.clone())?;
    let both = best(|| run(&triad, 4))? / 4.0;
    let update = Call::new(native, (TEXT, "update"), items, triad_args)?;
    let updated = best(|| run(&update, 4))? / 4.0;
    let (items, wide) = if native.is_cpu() { (1 << 10, 16) } else { (1 << 20, 1) };
    let steps = 1 << 12;
    let args = [Arg::from(steps), Arg::F32(0.5), Arg::from(&y)];
    let arithmetic = Call::new(native, (TEXT, "arithmetic"), [items], args)?;
    let computed = best(|| run(&arithmetic, 1))?;
    let args = [Arg::from(256), Arg::from(&y)];
    let nothing = Call::new(native, (TEXT, "nothing"), [256], args)?;
    let launched = best(|| run(&nothing, LAUNCHES))?;
    let bytes = 4 * n;
    let host = native.host_memory(bytes)?;
    // SAFETY: so many floats; nothing else uses them.
    unsafe { values.as_ptr().copy_to_nonoverlapping(host.cast(), n) };
    let rows = Rows { offset: 0, pitch: bytes };
    let ends = [(End::Device(x.place), rows), (End::Host(host), rows)];
    let copied = |to, from| {
        best(|| {
            // SAFETY: both have so many bytes, and we wait.
            unsafe { native.copy(0, to, from, [1, bytes]) }?;
            native.finish(0)
        })
    };
    let bytes = bytes as f64;
    Ok(Peaks {
        bytes: 3.0 * bytes / both.min(updated),
        flops: (2 * steps * CHAINS * items * wide) as f64 / computed,
        launches: LAUNCHES as f64 / launched,
        upload: bytes / copied(ends[0], ends[1])?,
        download: bytes / copied(ends[1], ends[0])?,
        working_set: bytes,
    })
}
