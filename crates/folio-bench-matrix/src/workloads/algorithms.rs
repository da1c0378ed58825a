//! Algorithms: a sum, a scan, a sort and a transpose.

use crate::bench::{Bench, Case, Pair, Side, Site, Workload, on_host, on_native, read, told};
use crate::error::Result;
use crate::hand::host::{CHUNK, loops, owned};
use crate::hand::{Arg, Call, Hand, Memory, Native};
use crate::record::Work;
use folio::algorithms::{self, Direction};
use folio::prelude::*;
use rayon::prelude::*;
use std::sync::Arc;

/// The workload.
pub struct Algorithms;

#[kernel]
fn sum(i: Item, x: In<u32>, sum: Reduce<u32, Add>) {
    sum.give(x[i]);
}

loops! {
    fn sum_loop(x: &[u32], sum: &mut u32) {
        *sum = x.iter().fold(0, |sum, x| sum.wrapping_add(*x));
    }
}

/// Counts wrap, so results are exact in any order. A group has 256 items, and a part of the data.
const TEXT: &str = "
#define SCAN_LOCAL(all) \\
    for (uint step = 1; step < 256; step *= 2) { \\
        BARRIER; \\
        uint more = LX >= step ? all[LX - step] : 0; \\
        BARRIER; \\
        all[LX] += more; \\
    } \\
    BARRIER;
// The sum of each part.
KERNEL GROUP(256, 1) sums(uint n, uint part, GLOBAL const uint *RESTRICT x,
                          GLOBAL uint *RESTRICT sum) {
    LOCAL uint all[256];
    size_t end = (GX + 1) * part < n ? (GX + 1) * part : n;
    uint own = 0;
    for (size_t i = GX * part + LX; i < end; i += 256) own += x[i];
    all[LX] = own;
    for (uint step = 128; step > 0; step /= 2) {
        BARRIER;
        if (LX < step) all[LX] += all[LX + step];
    }
    if (LX == 0) sum[GX] = all[0];
}
// In one group: what comes before each of `n` values.
KERNEL GROUP(256, 1) before(uint n, GLOBAL uint *x) {
    LOCAL uint all[256];
    uint each = (n + 255) / 256, first = LX * each;
    uint end = first + each < n ? first + each : n, own = 0;
    for (uint i = first; i < end; i++) own += x[i];
    all[LX] = own;
    SCAN_LOCAL(all)
    uint sum = all[LX] - own;
    for (uint i = first; i < end; i++) { uint value = x[i]; x[i] = sum; sum += value; }
}
// The scan of each part, 4096 at a time: each item takes 16 neighbours.
KERNEL GROUP(256, 1) scan(uint n, uint part, GLOBAL const uint *RESTRICT x,
                          GLOBAL const uint *RESTRICT before, GLOBAL uint *RESTRICT y) {
    LOCAL uint all[256];
    size_t end = (GX + 1) * part < n ? (GX + 1) * part : n;
    uint sum = before[GX];
    for (size_t tile = GX * part; tile < end; tile += 4096) {
        size_t first = tile + LX * 16, last = first + 16 < end ? first + 16 : end;
        uint own = 0;
        for (size_t i = first; i < last; i++) own += x[i];
        all[LX] = own;
        SCAN_LOCAL(all)
        uint at = sum + all[LX] - own;
        for (size_t i = first; i < last; i++) { at += x[i]; y[i] = at; }
        sum += all[255];
        BARRIER;
    }
}
// A tile of 16 by 16 for each group, of which no two items of a row meet in a bank.
KERNEL GROUP(16, 16) transpose(uint rows, uint columns, GLOBAL const uint *RESTRICT x,
                               GLOBAL uint *RESTRICT y) {
    LOCAL uint all[272];
    all[LY * 17 + LX] = x[Y * columns + X];
    BARRIER;
    y[(X - LX + LY) * rows + Y - LY + LX] = all[LX * 17 + LY];
}
// Radix sort, eight bits at a time; an item takes a part, so that it stays stable.
KERNEL count(uint n, uint part, uint items, uint shift, GLOBAL const uint *RESTRICT x,
             GLOBAL uint *RESTRICT counts) {
    WITHIN(X, items);
    size_t end = (X + 1) * part < n ? (X + 1) * part : n;
    for (uint d = 0; d < 256; d++) counts[d * items + X] = 0;
    for (size_t i = X * part; i < end; i++) counts[(x[i] >> shift & 255) * items + X]++;
}
KERNEL scatter(uint n, uint part, uint items, uint shift, GLOBAL const uint *RESTRICT x,
               GLOBAL uint *RESTRICT counts, GLOBAL uint *RESTRICT y) {
    WITHIN(X, items);
    size_t end = (X + 1) * part < n ? (X + 1) * part : n;
    for (size_t i = X * part; i < end; i++) y[counts[(x[i] >> shift & 255) * items + X]++] = x[i];
}
";

impl Workload for Algorithms {
    fn name(&self) -> &'static str {
        "algorithms"
    }

    fn about(&self) -> &'static str {
        "sum, inclusive scan, sort and transpose of u32; by hand on drivers, a plain radix sort"
    }

    fn unit(&self) -> &'static str {
        "u32"
    }

    fn modes(&self) -> &'static [&'static str] {
        &["reduction", "scan", "sort", "transpose"]
    }

    fn sizes(&self, _: &str, site: Site) -> Vec<usize> {
        site.powers(&[20, 16, 24], &[24, 20, 27], 1, 2)
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let (n, x) = (case.size, bench.words(case.size, 1));
        // A sort in digits of eight bits reads and writes all four times.
        let words = match case.mode {
            "reduction" => 1,
            "scan" | "transpose" => 2,
            _ => 8,
        };
        let work = Work {
            bytes: (4 * words * n) as f64,
            launches: 1.0,
            working_set: (8 * n) as f64,
            ..Work::default()
        };
        let ours = ours(bench, case.mode, &x)?;
        let theirs = match &bench.hand {
            Hand::Host => host(case.mode, x),
            Hand::Native(native) => driver(native, case.mode, &x)?,
        };
        Ok(Pair { tolerance: 0.0, ..bench.pair(work, ours, theirs) })
    }
}

fn ours(bench: &Bench, mode: &str, x: &[u32]) -> Result<Side> {
    let n = x.len();
    if mode == "transpose" {
        let [rows, columns] = sides(n);
        let (x, y) =
            (bench.buffer([rows, columns], x)?, bench.buffer([columns, rows], &vec![0; n])?);
        let results = y.clone();
        return Ok(bench.ours(&results, move |q| algorithms::transpose(q, &x, &y)));
    }
    let x = bench.buffer([n], x)?;
    let y = bench.buffer([n], &vec![0u32; n])?;
    let total = bench.buffer([1], &[0u32])?;
    let out = if mode == "reduction" { total.clone() } else { y.clone() };
    Ok(match mode {
        "reduction" => bench.ours(&out, move |q| q.run(n, sum(&x, &total)).map(drop)),
        "scan" => bench.ours(&out, move |q| algorithms::inclusive_scan(q, Add, &x, &y)),
        _ => bench.ours(&out, move |q| {
            q.copy(&x, &y)?;
            algorithms::sort(q, Direction::Ascending, &y)
        }),
    })
}

/// Rows and columns of a power of two.
fn sides(n: usize) -> [usize; 2] {
    let rows = 1 << (n.ilog2() / 2);
    [rows, n / rows]
}

fn total(x: &[u32]) -> u32 {
    let mut sum = 0;
    sum_loop(x, &mut sum);
    sum
}

fn host(mode: &str, x: Vec<u32>) -> Side {
    let y = owned(vec![0u32; if mode == "reduction" { 1 } else { x.len() }]);
    let tell = told(&y);
    match mode {
        "reduction" => on_host(
            move || {
                let sum = x.par_chunks(CHUNK).map(total).reduce(|| 0, u32::wrapping_add);
                y.lock()[0] = sum;
            },
            tell,
        ),
        "scan" => on_host(move || scan(&x, &mut y.lock()), tell),
        "transpose" => on_host(move || transpose(&x, &mut y.lock()), tell),
        _ => on_host(
            move || {
                let mut y = y.lock();
                y.copy_from_slice(&x);
                y.par_sort_unstable();
            },
            tell,
        ),
    }
}

/// In two passes.
fn scan(x: &[u32], y: &mut [u32]) {
    let mut before: Vec<u32> = x.par_chunks(CHUNK).map(total).collect();
    let mut sum = 0u32;
    before.iter_mut().for_each(|own| {
        let next = sum.wrapping_add(*own);
        *own = sum;
        sum = next;
    });
    let chunks = y.par_chunks_mut(CHUNK).zip(x.par_chunks(CHUNK)).zip(before);
    chunks.for_each(|((y, x), before)| {
        let mut sum = before;
        for (y, x) in y.iter_mut().zip(x) {
            sum = sum.wrapping_add(*x);
            *y = sum;
        }
    });
}

/// In tiles of 16 by 16.
fn transpose(x: &[u32], y: &mut [u32]) {
    let [rows, columns] = sides(x.len());
    y.par_chunks_mut(16 * rows).enumerate().for_each(|(tile, y)| {
        for row in (0..rows).step_by(16) {
            for c in 0..16 {
                for r in row..row + 16 {
                    y[c * rows + r] = x[r * columns + tile * 16 + c];
                }
            }
        }
    });
}

fn driver(native: &Arc<dyn Native>, mode: &str, x: &[u32]) -> Result<Side> {
    let n = x.len();
    let memory = |len: usize| Memory::of(native, &vec![0u32; len]).map(Arc::new);
    let x = Arc::new(Memory::of(native, x)?);
    let (groups, y) = (n.div_ceil(4096).min(1024), memory(n)?);
    // Whole tiles.
    let part = n.div_ceil(groups).next_multiple_of(4096);
    let groups = n.div_ceil(part);
    let of = |name, groups: usize, args: [Arg; 4]| -> Result<Call> {
        Ok(Call::new(native, (TEXT, name), [groups * 256], args)?.grouped([256]))
    };
    let sums = |from: &Arc<Memory>, to: &Arc<Memory>, n: usize, part: usize, groups| {
        of("sums", groups, [n.into(), part.into(), Arg::from(from), Arg::from(to)])
    };
    let before = |of: &Arc<Memory>, n: usize| -> Result<Call> {
        Ok(Call::new(native, (TEXT, "before"), [256], [n.into(), Arg::from(of)])?.grouped([256]))
    };
    let of_parts = memory(groups)?;
    match mode {
        "reduction" => {
            let total = memory(1)?;
            let calls = vec![
                sums(&x, &of_parts, n, part, groups)?,
                sums(&of_parts, &total, groups, groups, 1)?,
            ];
            Ok(on_native(native, calls, read::<u32>(&total, 1)))
        }
        "scan" => {
            let args = [n.into(), part.into(), Arg::from(&x), Arg::from(&of_parts), Arg::from(&y)];
            let scan = Call::new(native, (TEXT, "scan"), [groups * 256], args)?.grouped([256]);
            let calls =
                vec![sums(&x, &of_parts, n, part, groups)?, before(&of_parts, groups)?, scan];
            Ok(on_native(native, calls, read::<u32>(&y, n)))
        }
        "transpose" => {
            let [rows, columns] = sides(n);
            let args = [rows.into(), columns.into(), Arg::from(&x), Arg::from(&y)];
            let call = Call::new(native, (TEXT, "transpose"), [columns, rows], args)?;
            Ok(on_native(native, vec![call.grouped([16, 16])], read::<u32>(&y, n)))
        }
        _ => {
            let items = if native.is_cpu() { 64 } else { 4096 }.min(n);
            let (counts, other) = (memory(256 * items)?, memory(n)?);
            let each = n.div_ceil(items);
            let mut calls = Vec::new();
            for (digit, [from, to]) in
                [[&x, &other], [&other, &y], [&y, &other], [&other, &y]].into_iter().enumerate()
            {
                let head: [Arg; 4] = [n.into(), each.into(), items.into(), (8 * digit).into()];
                let [a, b, c, d] = head;
                let args =
                    [a.clone(), b.clone(), c.clone(), d.clone(), from.into(), (&counts).into()];
                calls.push(Call::new(native, (TEXT, "count"), [items], args)?);
                calls.push(before(&counts, 256 * items)?);
                let args = [a, b, c, d, from.into(), (&counts).into(), to.into()];
                calls.push(Call::new(native, (TEXT, "scatter"), [items], args)?);
            }
            Ok(on_native(native, calls, read::<u32>(&y, n)))
        }
    }
}
