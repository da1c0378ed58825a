//! Reads and counts where data says: a gather, and a histogram.

use crate::bench::{Bench, Case, Pair, Side, Site, Workload, on_host, on_native, read, told};
use crate::error::Result;
use crate::hand::host::{CHUNK, loops, owned};
use crate::hand::{Arg, Call, Hand, Memory, Native};
use crate::record::Work;
use folio::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// The workload.
pub struct Indices;

/// Bins of the histogram.
const BINS: usize = 256;
/// Elements that a near gather reads from.
const NEAR: usize = 4096;

#[kernel]
fn gather(i: Item, at: In<u32>, x: In<f32>, y: Out<f32>) {
    y[i] = x[at[i]];
}

#[kernel]
fn histogram(i: Item, x: In<u32>, bins: Atomic<u32>) {
    bins.add(x[i] as usize % bins.len(), 1);
}

loops! {
    fn gather_loop(at: &[u32], x: &[f32], y: &mut [f32]) {
        for (y, at) in y.iter_mut().zip(at) {
            // SAFETY: the indices are remainders by the length.
            *y = unsafe { *x.get_unchecked(*at as usize) };
        }
    }
}

const TEXT: &str = "
KERNEL gather(uint n, GLOBAL const uint *RESTRICT at, GLOBAL const float *RESTRICT x,
              GLOBAL float *RESTRICT y) {
    WITHIN(X, n);
    y[X] = x[at[X]];
}
// Each group of 256 items counts its part for itself, and then adds what it has.
KERNEL GROUP(256, 1) histogram(uint n, uint part, GLOBAL const uint *RESTRICT x,
                               GLOBAL uint *RESTRICT bins) {
    LOCAL uint mine[256];
    mine[LX] = 0;
    BARRIER;
    size_t end = (GX + 1) * part < n ? (GX + 1) * part : n;
    for (size_t i = GX * part + LX; i < end; i += 256) INCREMENT(&mine[x[i] % 256]);
    BARRIER;
    ADD(&bins[LX], mine[LX]);
}
";

impl Workload for Indices {
    fn name(&self) -> &'static str {
        "indices"
    }

    fn about(&self) -> &'static str {
        "gathers, unchecked by hand, and a histogram of 256 bins"
    }

    fn unit(&self) -> &'static str {
        "elements"
    }

    fn modes(&self) -> &'static [&'static str] {
        &["gather", "gather, near", "histogram"]
    }

    fn sizes(&self, _: &str, site: Site) -> Vec<usize> {
        site.powers(&[20, 16, 24], &[24, 20, 28], 1, 2)
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let n = case.size;
        let words = bench.words(n, 1);
        if case.mode == "histogram" {
            let work = Work {
                bytes: (4 * n) as f64,
                launches: 1.0,
                working_set: (4 * n) as f64,
                ..Work::default()
            };
            return histograms(bench, work, words);
        }
        let from = if case.mode == "gather" { n } else { NEAR };
        let at: Vec<u32> = words.iter().map(|word| word % from as u32).collect();
        let work = Work {
            bytes: (8 * n + 4 * from.min(n)) as f64,
            launches: 1.0,
            working_set: (8 * n + 4 * from) as f64,
            ..Work::default()
        };
        gathers(bench, work, at, bench.floats(from, 2))
    }
}

fn gathers(bench: &Bench, work: Work, at: Vec<u32>, x: Vec<f32>) -> Result<Pair> {
    let n = at.len();
    let ours = {
        let (at, x) = (bench.buffer([n], &at)?, bench.buffer([x.len()], &x)?);
        let y = bench.buffer([n], &vec![0.0f32; n])?;
        let out = y.clone();
        bench.ours(&out, move |q| q.run(n, gather(&at, &x, &y)).map(drop))
    };
    let theirs = match &bench.hand {
        Hand::Host => {
            let y = owned(vec![0.0f32; n]);
            let tell = told(&y);
            let work = move || {
                let mut y = y.lock();
                let chunks = y.par_chunks_mut(CHUNK).zip(at.par_chunks(CHUNK));
                chunks.for_each(|(y, at)| gather_loop(at, &x, y));
            };
            on_host(work, tell)
        }
        Hand::Native(native) => {
            let (at, x) = (Arc::new(Memory::of(native, &at)?), Arc::new(Memory::of(native, &x)?));
            let y = Arc::new(Memory::of(native, &vec![0.0f32; n])?);
            let args = [n.into(), Arg::from(&at), Arg::from(&x), Arg::from(&y)];
            let call = Call::new(native, (TEXT, "gather"), [n], args)?;
            on_native(native, vec![call], read::<f32>(&y, n))
        }
    };
    Ok(bench.pair(work, ours, theirs))
}

fn histograms(bench: &Bench, work: Work, x: Vec<u32>) -> Result<Pair> {
    let n = x.len();
    let ours = {
        let (x, bins) = (bench.buffer([n], &x)?, bench.buffer([BINS], &[0u32; BINS])?);
        let out = bins.clone();
        bench.ours(&out, move |q| q.run(n, histogram(&x, &bins)).map(drop))
    };
    let theirs = match &bench.hand {
        Hand::Host => {
            let bins = owned(vec![0u32; BINS]);
            let tell = told(&bins);
            on_host(move || count(&x, &mut bins.lock()), tell)
        }
        Hand::Native(native) => driver(native, &x)?,
    };
    Ok(Pair { tolerance: 0.0, ..bench.pair(work, ours, theirs) })
}

/// Each chunk counts for itself.
fn count(x: &[u32], bins: &mut [u32]) {
    let one = |mut own: Vec<u32>, x: &[u32]| {
        x.iter().for_each(|x| own[*x as usize % BINS] += 1);
        own
    };
    let add = |mut a: Vec<u32>, b: Vec<u32>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    let all = x.par_chunks(CHUNK).fold(|| vec![0; BINS], one).reduce(|| vec![0; BINS], add);
    bins.iter_mut().zip(all).for_each(|(bin, more)| *bin = bin.wrapping_add(more));
}

fn driver(native: &Arc<dyn Native>, x: &[u32]) -> Result<Side> {
    let (n, groups) = (x.len(), x.len().div_ceil(4096).min(1024));
    let x = Arc::new(Memory::of(native, x)?);
    let bins = Arc::new(Memory::of(native, &[0u32; BINS])?);
    let args = [n.into(), n.div_ceil(groups).into(), Arg::from(&x), Arg::from(&bins)];
    let call = Call::new(native, (TEXT, "histogram"), [groups * 256], args)?.grouped([256]);
    Ok(on_native(native, vec![call], read::<u32>(&bins, BINS)))
}
