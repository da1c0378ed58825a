//! Items of a group that work together: the scan and the sum of each group's part.

use crate::bench::{Bench, Case, Pair, Side, Site, Workload, on_host, on_native, read, told};
use crate::error::Result;
use crate::hand::host::{CHUNK, loops, owned};
use crate::hand::{Arg, Call, Hand, Memory, Native};
use crate::record::Work;
use folio::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// The workload.
pub struct Groups;

/// Items of a group, which divide a chunk.
const GROUP: usize = 256;

#[kernel]
fn scan(g: Group, x: In<u32>, y: Out<u32>) {
    let up = g.inclusive_scan::<Add>(|i| x[i]);
    g.each(|i| y[i] = up[i]);
}

#[kernel]
fn sums(g: Group, x: In<u32>, y: OutGroup<u32>) {
    y[g] = g.reduce::<Add>(|i| x[i]);
}

loops! {
    fn scan_loop(x: &[u32], y: &mut [u32]) {
        for (y, x) in y.chunks_mut(GROUP).zip(x.chunks(GROUP)) {
            let mut sum = 0u32;
            for (y, x) in y.iter_mut().zip(x) {
                sum = sum.wrapping_add(*x);
                *y = sum;
            }
        }
    }
    fn sums_loop(x: &[u32], y: &mut [u32]) {
        for (y, x) in y.iter_mut().zip(x.chunks(GROUP)) {
            *y = x.iter().fold(0, |sum, x| sum.wrapping_add(*x));
        }
    }
}

/// In local memory, as it is written for GPUs.
const TEXT: &str = "
KERNEL GROUP(256, 1) scan(GLOBAL const uint *RESTRICT x, GLOBAL uint *RESTRICT y) {
    LOCAL uint all[256];
    all[LX] = x[X];
    for (uint step = 1; step < 256; step *= 2) {
        BARRIER;
        uint more = LX >= step ? all[LX - step] : 0;
        BARRIER;
        all[LX] += more;
    }
    y[X] = all[LX];
}
KERNEL GROUP(256, 1) sums(GLOBAL const uint *RESTRICT x, GLOBAL uint *RESTRICT y) {
    LOCAL uint all[256];
    all[LX] = x[X];
    for (uint step = 128; step > 0; step /= 2) {
        BARRIER;
        if (LX < step) all[LX] += all[LX + step];
    }
    if (LX == 0) y[GX] = all[0];
}
";

impl Workload for Groups {
    fn name(&self) -> &'static str {
        "groups"
    }

    fn about(&self) -> &'static str {
        "scan and sum of each group of 256; by hand one pass, on drivers in local memory"
    }

    fn unit(&self) -> &'static str {
        "u32"
    }

    fn modes(&self) -> &'static [&'static str] {
        &["scan", "sums"]
    }

    fn sizes(&self, _: &str, site: Site) -> Vec<usize> {
        site.powers(&[22, 16, 24], &[26, 20, 28], 1, 2)
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let (n, is_scan) = (case.size, case.mode == "scan");
        let len = if is_scan { n } else { n / GROUP };
        let work = Work {
            bytes: (4 * (n + len)) as f64,
            launches: 1.0,
            working_set: (4 * (n + len)) as f64,
            ..Work::default()
        };
        let x = bench.words(n, 1);
        let ours = ours(bench, is_scan, len, &x)?;
        let theirs = match &bench.hand {
            Hand::Host => host(is_scan, len, x),
            Hand::Native(native) => driver(native, is_scan, len, &x)?,
        };
        Ok(Pair { tolerance: 0.0, ..bench.pair(work, ours, theirs) })
    }
}

fn ours(bench: &Bench, is_scan: bool, len: usize, x: &[u32]) -> Result<Side> {
    let n = x.len();
    let (x, y) = (bench.buffer([n], x)?, bench.buffer([len], &vec![0u32; len])?);
    let results = y.clone();
    let items = move || Items::from(n).groups([GROUP]);
    Ok(match is_scan {
        true => bench.ours(&results, move |q| q.run(items(), scan(&x, &y)).map(drop)),
        false => bench.ours(&results, move |q| q.run(items(), sums(&x, &y)).map(drop)),
    })
}

fn host(is_scan: bool, len: usize, x: Vec<u32>) -> Side {
    let y = owned(vec![0u32; len]);
    let tell = told(&y);
    let work = move || {
        let (mut y, chunk) = (y.lock(), if is_scan { CHUNK } else { CHUNK / GROUP });
        let chunks = y.par_chunks_mut(chunk).zip(x.par_chunks(CHUNK));
        match is_scan {
            true => chunks.for_each(|(y, x)| scan_loop(x, y)),
            false => chunks.for_each(|(y, x)| sums_loop(x, y)),
        }
    };
    on_host(work, tell)
}

fn driver(native: &Arc<dyn Native>, is_scan: bool, len: usize, x: &[u32]) -> Result<Side> {
    let n = x.len();
    let x = Arc::new(Memory::of(native, x)?);
    let y = Arc::new(Memory::of(native, &vec![0u32; len])?);
    let name = if is_scan { "scan" } else { "sums" };
    let call = Call::new(native, (TEXT, name), [n], [Arg::from(&x), Arg::from(&y)])?;
    Ok(on_native(native, vec![call.grouped([GROUP])], read::<u32>(&y, len)))
}
