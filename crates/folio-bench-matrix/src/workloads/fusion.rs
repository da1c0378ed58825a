//! Kernels that pass data on, fused and not: a chain, a pipeline, a map with a reduction, and
//! chains of two to ten equal kernels.
//!
//! By hand, one kernel does the work of all of them, for the unfused rows too. The ratio of an
//! unfused row is thus what fusion saves.

use crate::bench::{Bench, Case, Pair, Side, Site, Workload, on_host, on_native, read, told};
use crate::error::Result;
use crate::hand::host::{CHUNK, Owned, loops, owned};
use crate::hand::{Arg, Call, Hand, Memory, Native, stream_items};
use crate::record::Work;
use folio::prelude::*;
use folio::{Executable, Graph, graph::FinalizeOptions};
use rayon::prelude::*;
use std::sync::Arc;

/// The workload.
pub struct Fusion;

#[kernel]
fn add(i: Item, x: In<f32>, y: In<f32>, z: Out<f32>) {
    z[i] = x[i] + y[i];
}

#[kernel]
fn mul(i: Item, x: In<f32>, y: In<f32>, z: Out<f32>) {
    z[i] = x[i] * y[i];
}

#[kernel]
fn scale(i: Item, s: f32, x: In<f32>, z: Out<f32>) {
    z[i] = s * x[i];
}

#[kernel]
fn expose(i: Item, gain: f32, offset: f32, x: In<f32>, z: Out<f32>) {
    z[i] = gain * x[i] + offset;
}

#[kernel]
fn curve(i: Item, x: In<f32>, z: Out<f32>) {
    let v = x[i];
    z[i] = v * (1.5 - 0.5 * v * v);
}

#[kernel]
fn mix(i: Item, part: f32, x: In<f32>, y: In<f32>, z: Out<f32>) {
    z[i] = x[i] + part * (y[i] - x[i]);
}

#[kernel]
fn advance(i: Item, s: f32, x: In<f32>, y: In<f32>, z: Out<f32>) {
    z[i] = s * x[i] + y[i];
}

#[kernel]
fn total(i: Item, x: In<f32>, sum: Reduce<f32, Add>) {
    sum.give(x[i]);
}

/// The work of the pipeline's kernels on one element.
#[inline(always)]
fn developed(x: f32) -> f32 {
    let curved = |v: f32| v * (1.5 - 0.5 * v * v);
    let exposed = 0.9 * x + 0.05;
    let first = curved(exposed);
    let second = curved(0.8 * first + 0.1);
    let mixed = exposed + 0.6 * (second - exposed);
    let third = curved(0.7 * mixed + 0.2);
    mixed + 0.3 * (third - mixed)
}

/// The work of the kernels of a chain of `K` on one element.
#[inline(always)]
fn advanced<const K: usize>(x: f32, y: f32) -> f32 {
    (0..K).fold(x, |x, step| factor(step) * x + y)
}

/// Powers of two, so that it makes no difference whether a compiler rounds the product.
fn factor(step: usize) -> f32 {
    if step.is_multiple_of(2) { 0.5 } else { 0.25 }
}

loops! {
    fn chain_loop_2(x: &[f32], y: &[f32], z: &mut [f32]) {
        z.iter_mut().zip(x).zip(y).for_each(|((z, x), y)| *z = advanced::<2>(*x, *y));
    }
    fn chain_loop_3(x: &[f32], y: &[f32], z: &mut [f32]) {
        z.iter_mut().zip(x).zip(y).for_each(|((z, x), y)| *z = advanced::<3>(*x, *y));
    }
    fn chain_loop_5(x: &[f32], y: &[f32], z: &mut [f32]) {
        z.iter_mut().zip(x).zip(y).for_each(|((z, x), y)| *z = advanced::<5>(*x, *y));
    }
    fn chain_loop_10(x: &[f32], y: &[f32], z: &mut [f32]) {
        z.iter_mut().zip(x).zip(y).for_each(|((z, x), y)| *z = advanced::<10>(*x, *y));
    }
    fn chain_loop(a: &[f32], b: &[f32], c: &[f32], z: &mut [f32]) {
        z.iter_mut().zip(a).zip(b).zip(c).for_each(|(((z, a), b), c)| {
            let sum = a + b;
            *z = sum * c + 5.0 * sum;
        });
    }
    fn pipeline_loop(x: &[f32], z: &mut [f32]) {
        z.iter_mut().zip(x).for_each(|(z, x)| *z = developed(*x));
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
KERNEL chain(GLOBAL const float *RESTRICT a, GLOBAL const float *RESTRICT b,
             GLOBAL const float *RESTRICT c, GLOBAL float *RESTRICT z) {
    STREAM(float sum = a[i] + b[i]; z[i] = sum * c[i] + 5.0f * sum;)
}
FUNCTION float curved(float v) { return v * (1.5f - 0.5f * v * v); }
FUNCTION float developed(float x) {
    float exposed = 0.9f * x + 0.05f;
    float first = curved(exposed);
    float second = curved(0.8f * first + 0.1f);
    float mixed = exposed + 0.6f * (second - exposed);
    float third = curved(0.7f * mixed + 0.2f);
    return mixed + 0.3f * (third - mixed);
}
KERNEL pipeline(GLOBAL const float *RESTRICT a, GLOBAL const float *RESTRICT b,
                GLOBAL const float *RESTRICT c, GLOBAL float *RESTRICT z) {
    STREAM(z[i] = developed(a[i]);)
}
FUNCTION float advanced(uint k, float x, float y) {
    for (uint step = 0; step < k; step++) x = (step % 2 == 0 ? 0.5f : 0.25f) * x + y;
    return x;
}
KERNEL chain_2(GLOBAL const float *RESTRICT a, GLOBAL const float *RESTRICT b,
               GLOBAL float *RESTRICT z) {
    STREAM(z[i] = advanced(2, a[i], b[i]);)
}
KERNEL chain_3(GLOBAL const float *RESTRICT a, GLOBAL const float *RESTRICT b,
               GLOBAL float *RESTRICT z) {
    STREAM(z[i] = advanced(3, a[i], b[i]);)
}
KERNEL chain_5(GLOBAL const float *RESTRICT a, GLOBAL const float *RESTRICT b,
               GLOBAL float *RESTRICT z) {
    STREAM(z[i] = advanced(5, a[i], b[i]);)
}
KERNEL chain_10(GLOBAL const float *RESTRICT a, GLOBAL const float *RESTRICT b,
                GLOBAL float *RESTRICT z) {
    STREAM(z[i] = advanced(10, a[i], b[i]);)
}
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

impl Workload for Fusion {
    fn name(&self) -> &'static str {
        "fusion"
    }

    fn about(&self) -> &'static str {
        "graphs of kernels, fused and not, each beside one kernel by hand"
    }

    fn unit(&self) -> &'static str {
        "f32"
    }

    fn modes(&self) -> &'static [&'static str] {
        &[
            "chain",
            "chain unfused",
            "pipeline",
            "pipeline unfused",
            "map-reduce",
            "map-reduce unfused",
            "chain of 2",
            "chain of 3",
            "chain of 5",
            "chain of 10",
            "chain of 2 unfused",
            "chain of 3 unfused",
            "chain of 5 unfused",
            "chain of 10 unfused",
        ]
    }

    fn sizes(&self, mode: &str, site: Site) -> Vec<usize> {
        if kernels(mode).is_some() {
            return site.powers(&[16, 24, 20, 10, 12], &[16, 26, 20, 10, 28], 1, 3);
        }
        // The second is beyond most caches.
        site.powers(&[16, 24, 20, 12], &[16, 26, 20, 28], 2, 3)
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let n = case.size;
        let (what, fuses) = match case.mode.strip_suffix(" unfused") {
            Some(what) => (what, false),
            None => (case.mode, true),
        };
        let (arrays, flops) = match what {
            "chain" => (4, 4),
            "pipeline" => (2, 29),
            "map-reduce" => (2, 2),
            _ => (3, 2 * kernels(what).unwrap_or(0)),
        };
        let work = Work {
            bytes: (4 * arrays * n) as f64,
            flops: (flops * n) as f64,
            launches: 1.0,
            working_set: (4 * arrays * n) as f64,
            ..Work::default()
        };
        let data = [1, 2, 3].map(|which| bench.floats(n, which));
        let ours = ours(bench, (what, fuses), &data)?;
        let theirs = match &bench.hand {
            Hand::Host => host(what, data),
            Hand::Native(native) => driver(native, what, &data)?,
        };
        Ok(bench.pair(work, ours, theirs))
    }
}

/// How many kernels a chain of equal ones has.
fn kernels(mode: &str) -> Option<usize> {
    let of = mode.strip_prefix("chain of ")?;
    of.trim_end_matches(" unfused").parse().ok()
}

fn results(what: &str, n: usize) -> Vec<f32> {
    vec![0.0; if what == "map-reduce" { 1 } else { n }]
}

fn ours(bench: &Bench, (what, fuses): (&str, bool), data: &[Vec<f32>; 3]) -> Result<Side> {
    let n = data[0].len();
    let ins = data.iter().map(|data| bench.buffer([n], data)).collect::<Result<Vec<_>>>()?;
    let z = bench.buffer([results(what, n).len()], &results(what, n))?;
    let graph = bench.rt.graph(&bench.device)?;
    let add = match what {
        "chain" => chain,
        "pipeline" => pipeline,
        "map-reduce" => map_reduce,
        "chain of 2" => chain_of::<2>,
        "chain of 3" => chain_of::<3>,
        "chain of 5" => chain_of::<5>,
        _ => chain_of::<10>,
    };
    add(bench, &graph, &ins, &z)?;
    let options = FinalizeOptions::new();
    let options = if fuses { options.enable_fusion() } else { options };
    let run: Executable = graph.finalize_with(options)?;
    Ok(bench.ours(&z, move |q| q.run_graph(&run).map(drop)))
}

/// The temporaries that nodes pass data by: no handle of them is left but the graph's.
fn temporaries(bench: &Bench, n: usize, count: usize) -> Result<Vec<Shared<f32>>> {
    Ok((0..count).map(|_| Ok(bench.rt.buffer(n)?.into_shared())).collect::<folio::Result<_>>()?)
}

fn chain(bench: &Bench, graph: &Graph, ins: &[Shared<f32>], z: &Shared<f32>) -> Result<()> {
    let n = z.len();
    let all = temporaries(bench, n, 3)?;
    graph.add(|cg| cg.run(n, add(&ins[0], &ins[1], &all[0])))?;
    graph.add(|cg| cg.run(n, mul(&all[0], &ins[2], &all[1])))?;
    graph.add(|cg| cg.run(n, scale(5.0, &all[0], &all[2])))?;
    graph.add(|cg| cg.run(n, add(&all[1], &all[2], z)))?;
    Ok(())
}

fn pipeline(bench: &Bench, graph: &Graph, ins: &[Shared<f32>], z: &Shared<f32>) -> Result<()> {
    let n = z.len();
    let all = temporaries(bench, n, 7)?;
    graph.add(|cg| cg.run(n, expose(0.9, 0.05, &ins[0], &all[0])))?;
    graph.add(|cg| cg.run(n, curve(&all[0], &all[1])))?;
    graph.add(|cg| cg.run(n, expose(0.8, 0.1, &all[1], &all[2])))?;
    graph.add(|cg| cg.run(n, curve(&all[2], &all[3])))?;
    graph.add(|cg| cg.run(n, mix(0.6, &all[0], &all[3], &all[4])))?;
    graph.add(|cg| cg.run(n, expose(0.7, 0.2, &all[4], &all[5])))?;
    graph.add(|cg| cg.run(n, curve(&all[5], &all[6])))?;
    graph.add(|cg| cg.run(n, mix(0.3, &all[4], &all[6], z)))?;
    Ok(())
}

fn chain_of<const K: usize>(
    bench: &Bench,
    graph: &Graph,
    ins: &[Shared<f32>],
    z: &Shared<f32>,
) -> Result<()> {
    let n = z.len();
    let mut from = ins[0].clone();
    for step in 0..K {
        let to = if step + 1 < K { bench.rt.buffer(n)?.into_shared() } else { z.clone() };
        graph.add(|cg| cg.run(n, advance(factor(step), &from, &ins[1], &to)))?;
        from = to;
    }
    Ok(())
}

fn map_reduce(bench: &Bench, graph: &Graph, ins: &[Shared<f32>], z: &Shared<f32>) -> Result<()> {
    let n = ins[0].len();
    let all = temporaries(bench, n, 1)?;
    graph.add(|cg| cg.run(n, mul(&ins[0], &ins[1], &all[0])))?;
    graph.add(|cg| cg.run(n, total(&all[0], z)))?;
    Ok(())
}

fn host(what: &'static str, [a, b, c]: [Vec<f32>; 3]) -> Side {
    let z: Owned<f32> = owned(results(what, a.len()));
    let tell = told(&z);
    let once = move || {
        let mut z = z.lock();
        let (a, b, c) = (a.par_chunks(CHUNK), b.par_chunks(CHUNK), c.par_chunks(CHUNK));
        match what {
            "chain" => {
                let parts = z.par_chunks_mut(CHUNK).zip(a).zip(b).zip(c);
                parts.for_each(|(((z, a), b), c)| chain_loop(a, b, c, z));
            }
            "pipeline" => {
                z.par_chunks_mut(CHUNK).zip(a).for_each(|(z, a)| pipeline_loop(a, z));
            }
            of if kernels(of).is_some() => {
                let one = match of {
                    "chain of 2" => chain_loop_2,
                    "chain of 3" => chain_loop_3,
                    "chain of 5" => chain_loop_5,
                    _ => chain_loop_10,
                };
                let parts = z.par_chunks_mut(CHUNK).zip(a).zip(b);
                parts.for_each(|((z, a), b)| one(a, b, z));
            }
            _ => {
                let part = |(a, b): (&[f32], &[f32])| {
                    let mut sum = 0.0;
                    dot_loop(a, b, &mut sum);
                    sum
                };
                z[0] = a.zip(b).map(part).sum();
            }
        }
    };
    on_host(once, tell)
}

fn driver(native: &Arc<dyn Native>, what: &str, data: &[Vec<f32>; 3]) -> Result<Side> {
    let n = data[0].len();
    let ins = data.iter().map(|data| Memory::of(native, data).map(Arc::new));
    let ins = ins.collect::<Result<Vec<_>>>()?;
    let z = results(what, n);
    let (z, len) = (Arc::new(Memory::of(native, &z)?), z.len());
    let tell = read::<f32>(&z, len);
    if kernels(what).is_some() {
        let name = match what {
            "chain of 2" => "chain_2",
            "chain of 3" => "chain_3",
            "chain of 5" => "chain_5",
            _ => "chain_10",
        };
        let args = [Arg::from(&ins[0]), Arg::from(&ins[1]), Arg::from(&z)];
        let call = Call::new(native, (TEXT, name), [stream_items(native, n)], args)?;
        return Ok(on_native(native, vec![call], tell));
    }
    if what != "map-reduce" {
        let args = [Arg::from(&ins[0]), Arg::from(&ins[1]), Arg::from(&ins[2]), Arg::from(&z)];
        let call = Call::new(native, (TEXT, what), [stream_items(native, n)], args)?;
        return Ok(on_native(native, vec![call], tell));
    }
    let (groups, part) = (n.div_ceil(4096).min(1024), n.div_ceil(n.div_ceil(4096).min(1024)));
    let sums = Arc::new(Memory::of(native, &vec![0.0f32; groups])?);
    let ones = Arc::new(Memory::of(native, &vec![1.0f32; groups])?);
    let args = [n.into(), part.into(), Arg::from(&ins[0]), Arg::from(&ins[1]), Arg::from(&sums)];
    let first = Call::new(native, (TEXT, "product"), [groups * 256], args)?.grouped([256]);
    let args = [groups.into(), groups.into(), Arg::from(&sums), Arg::from(&ones), Arg::from(&z)];
    let second = Call::new(native, (TEXT, "product"), [256], args)?.grouped([256]);
    Ok(on_native(native, vec![first, second], tell))
}
