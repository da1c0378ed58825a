//! BabelStream's six kernels: what moves most data for its arithmetic.

use crate::bench::{Bench, Case, Pair, Side, Site, Workload, on_host, on_native, read, side, told};
use crate::error::{Error, Result};
use crate::hand::host::{CHUNK, Owned, loops, owned};
use crate::hand::{Arg, Call, End, Hand, Memory, Native, Rows, stream_items};
use crate::record::Work;
use folio::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// The workload.
pub struct Stream;

const SCALAR: f32 = 0.4;
/// Ours is the kernel; by hand the driver copies within the device's memory.
const COPIED: &str = "copy, by hand the driver's own";

#[kernel]
fn copy(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = x[i];
}

#[kernel]
fn mul(i: Item, s: f32, x: In<f32>, y: Out<f32>) {
    y[i] = s * x[i];
}

#[kernel]
fn add(i: Item, x: In<f32>, z: In<f32>, y: Out<f32>) {
    y[i] = x[i] + z[i];
}

#[kernel]
fn triad(i: Item, s: f32, x: In<f32>, z: In<f32>, y: Out<f32>) {
    y[i] = x[i] + s * z[i];
}

/// The array grows by a part that becomes no larger, so that many rounds stay finite.
#[kernel]
fn nstream(i: Item, s: f32, x: In<f32>, z: In<f32>, y: InOut<f32>) {
    y[i] = s * y[i] + x[i] + s * z[i];
}

#[kernel]
fn dot(i: Item, x: In<f32>, z: In<f32>, sum: Reduce<f32, Add>) {
    sum.give(x[i] * z[i]);
}

loops! {
    fn copy_loop(x: &[f32], y: &mut [f32]) {
        y.copy_from_slice(x);
    }
    fn mul_loop(x: &[f32], y: &mut [f32]) {
        y.iter_mut().zip(x).for_each(|(y, x)| *y = SCALAR * x);
    }
    fn add_loop(x: &[f32], z: &[f32], y: &mut [f32]) {
        y.iter_mut().zip(x).zip(z).for_each(|((y, x), z)| *y = x + z);
    }
    fn triad_loop(x: &[f32], z: &[f32], y: &mut [f32]) {
        y.iter_mut().zip(x).zip(z).for_each(|((y, x), z)| *y = x + SCALAR * z);
    }
    fn nstream_loop(x: &[f32], z: &[f32], y: &mut [f32]) {
        y.iter_mut().zip(x).zip(z).for_each(|((y, x), z)| *y = SCALAR * *y + x + SCALAR * z);
    }
    fn dot_loop(x: &[f32], z: &[f32], sum: &mut f32) {
        let mut all = [0.0f32; 64];
        for (x, z) in x.as_chunks::<64>().0.iter().zip(z.as_chunks::<64>().0) {
            all.iter_mut().zip(x).zip(z).for_each(|((all, x), z)| *all += x * z);
        }
        *sum = all.iter().sum();
    }
}

const TEXT: &str = "
KERNEL copy(float s, GLOBAL const float *RESTRICT x, GLOBAL const float *RESTRICT z,
            GLOBAL float *RESTRICT y) { STREAM(y[i] = x[i];) }
KERNEL mul(float s, GLOBAL const float *RESTRICT x, GLOBAL const float *RESTRICT z,
           GLOBAL float *RESTRICT y) { STREAM(y[i] = s * x[i];) }
KERNEL add(float s, GLOBAL const float *RESTRICT x, GLOBAL const float *RESTRICT z,
           GLOBAL float *RESTRICT y) { STREAM(y[i] = x[i] + z[i];) }
KERNEL triad(float s, GLOBAL const float *RESTRICT x, GLOBAL const float *RESTRICT z,
             GLOBAL float *RESTRICT y) { STREAM(y[i] = x[i] + s * z[i];) }
KERNEL nstream(float s, GLOBAL const float *RESTRICT x, GLOBAL const float *RESTRICT z,
               GLOBAL float *RESTRICT y) { STREAM(y[i] = s * y[i] + x[i] + s * z[i];) }
// A sum for each group of 256 items; then that of the sums, in one group.
KERNEL GROUP(256, 1) product(uint n, uint part, GLOBAL const float *RESTRICT x,
                             GLOBAL const float *RESTRICT z, GLOBAL float *RESTRICT sums) {
    LOCAL float all[256];
    size_t end = (GX + 1) * part < n ? (GX + 1) * part : n;
    float own = 0.0f;
    for (size_t i = GX * part + LX; i < end; i += 256) own += x[i] * z[i];
    all[LX] = own;
    for (uint step = 128; step > 0; step /= 2) {
        BARRIER;
        if (LX < step) all[LX] += all[LX + step];
    }
    if (LX == 0) sums[GX] = all[0];
}
";

impl Workload for Stream {
    fn name(&self) -> &'static str {
        "stream"
    }

    fn about(&self) -> &'static str {
        "BabelStream: copy, mul, add, triad, nstream and dot"
    }

    fn unit(&self) -> &'static str {
        "f32"
    }

    fn modes(&self) -> &'static [&'static str] {
        &["copy", "mul", "add", "triad", "nstream", "dot", COPIED]
    }

    fn sizes(&self, _: &str, site: Site) -> Vec<usize> {
        // The second is beyond most caches, so that a quick run has a figure of the memory.
        site.powers(&[16, 25, 20, 22, 24], &[20, 26, 22, 24, 28], 2, 4)
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let (work, theirs) = by_hand(bench, case.mode, case.size)?;
        Ok(bench.pair(work, ours(bench, case.mode, case.size)?, theirs))
    }
}

/// The work of a kernel, and the hand-written side of it.
pub fn by_hand(bench: &Bench, mode: &'static str, n: usize) -> Result<(Work, Side)> {
    let (words, flops) = match mode {
        "copy" | COPIED => (2, 0),
        "mul" => (2, 1),
        "add" => (3, 1),
        "triad" => (3, 2),
        "nstream" => (4, 4),
        _ => (2, 2),
    };
    let arrays = words.min(3);
    let work = Work {
        bytes: (4 * words * n) as f64,
        flops: (flops * n) as f64,
        launches: 1.0,
        working_set: (4 * arrays * n) as f64,
        ..Work::default()
    };
    let [x, z] = [1, 2].map(|which| bench.floats(n, which));
    let side = match &bench.hand {
        Hand::Host if mode == COPIED => {
            return Err(Error::NotHere("by hand: the host's copy is that of `copy`".to_owned()));
        }
        Hand::Host => host(mode, x, z),
        Hand::Native(native) => driver(native, mode, [&x, &z])?,
    };
    Ok((work, side))
}

fn results(mode: &str, n: usize) -> Vec<f32> {
    vec![0.0; if mode == "dot" { 1 } else { n }]
}

fn ours(bench: &Bench, mode: &str, n: usize) -> Result<Side> {
    let x = bench.buffer([n], &bench.floats(n, 1))?;
    let z = bench.buffer([n], &bench.floats(n, 2))?;
    let y = bench.buffer([results(mode, n).len()], &results(mode, n))?;
    let out = y.clone();
    Ok(match mode {
        "copy" | COPIED => bench.ours(&out, move |q| q.run(n, copy(&x, &y)).map(drop)),
        "mul" => bench.ours(&out, move |q| q.run(n, mul(SCALAR, &x, &y)).map(drop)),
        "add" => bench.ours(&out, move |q| q.run(n, add(&x, &z, &y)).map(drop)),
        "triad" => bench.ours(&out, move |q| q.run(n, triad(SCALAR, &x, &z, &y)).map(drop)),
        "nstream" => bench.ours(&out, move |q| q.run(n, nstream(SCALAR, &x, &z, &y)).map(drop)),
        _ => bench.ours(&out, move |q| q.run(n, dot(&x, &z, &y)).map(drop)),
    })
}

fn host(mode: &str, x: Vec<f32>, z: Vec<f32>) -> Side {
    let y: Owned<f32> = owned(results(mode, x.len()));
    let tell = told(&y);
    if mode == "dot" {
        return on_host(
            move || {
                let part = |(x, z): (&[f32], &[f32])| {
                    let mut sum = 0.0;
                    dot_loop(x, z, &mut sum);
                    sum
                };
                let sum = x.par_chunks(CHUNK).zip(z.par_chunks(CHUNK)).map(part).sum();
                y.lock()[0] = sum;
            },
            tell,
        );
    }
    let one: fn(&[f32], &[f32], &mut [f32]) = match mode {
        "copy" => |x, _, y| copy_loop(x, y),
        "mul" => |x, _, y| mul_loop(x, y),
        "add" => |x, z, y| add_loop(x, z, y),
        "triad" => |x, z, y| triad_loop(x, z, y),
        _ => |x, z, y| nstream_loop(x, z, y),
    };
    on_host(
        move || {
            let mut y = y.lock();
            let parts = y.par_chunks_mut(CHUNK).zip(x.par_chunks(CHUNK)).zip(z.par_chunks(CHUNK));
            parts.for_each(|((y, x), z)| one(x, z, y));
        },
        tell,
    )
}

fn driver(native: &Arc<dyn Native>, mode: &str, [x, z]: [&[f32]; 2]) -> Result<Side> {
    let (n, y) = (x.len(), results(mode, x.len()));
    let (x, z) = (Arc::new(Memory::of(native, x)?), Arc::new(Memory::of(native, z)?));
    let (y, len) = (Arc::new(Memory::of(native, &y)?), y.len());
    let tell = read::<f32>(&y, len);
    if mode == COPIED {
        let owner = native.clone();
        let (rows, extent) = (Rows { offset: 0, pitch: 4 * n }, [1, 4 * n]);
        let run = move |times| {
            let (to, from) = (End::Device(y.place), End::Device(x.place));
            for _ in 0..times {
                // SAFETY: both have so many bytes.
                unsafe { owner.copy(0, (to, rows), (from, rows), extent)? };
            }
            owner.finish(0)
        };
        return Ok(side(run, tell));
    }
    if mode != "dot" {
        let args = [SCALAR.into(), Arg::from(&x), Arg::from(&z), Arg::from(&y)];
        let call = Call::new(native, (TEXT, mode), [stream_items(native, n)], args)?;
        return Ok(on_native(native, vec![call], tell));
    }
    let (groups, part) = (n.div_ceil(4096).min(1024), n.div_ceil(n.div_ceil(4096).min(1024)));
    let sums = Arc::new(Memory::of(native, &vec![0.0f32; groups])?);
    let ones = Arc::new(Memory::of(native, &vec![1.0f32; groups])?);
    let args = [n.into(), part.into(), Arg::from(&x), Arg::from(&z), Arg::from(&sums)];
    let first = Call::new(native, (TEXT, "product"), [groups * 256], args)?.grouped([256]);
    let args = [groups.into(), groups.into(), Arg::from(&sums), Arg::from(&ones), Arg::from(&y)];
    let second = Call::new(native, (TEXT, "product"), [256], args)?.grouped([256]);
    Ok(on_native(native, vec![first, second], tell))
}
