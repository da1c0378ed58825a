//! What somebody writes by hand for two cores or more: rayon over chunks or rows of slices, with
//! the loops compiled for the same instruction sets as kernels are.

use folio::ir::device::Instructions;
use rayon::prelude::*;

/// Elements that a thread takes at a time.
const CHUNK: usize = 1 << 14;

/// Gives each loop a version for each instruction set, and a function that takes the best.
macro_rules! loops {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $ty:ty),*) $body:block)*) => {$(
        $(#[$doc])*
        fn $name($($arg: $ty),*) {
            #[inline(always)]
            fn any($($arg: $ty),*) $body
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($arg: $ty),*) { any($($arg),*) }
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
                fn avx512($($arg: $ty),*) { any($($arg),*) }
                match Instructions::best() {
                    // SAFETY: the processor has them.
                    Instructions::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: as above.
                    Instructions::Avx2 => return unsafe { avx2($($arg),*) },
                    Instructions::Any => {}
                }
            }
            any($($arg),*)
        }
    )*};
}

loops! {
    fn saxpy_loop(a: f32, x: &[f32], y: &mut [f32]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y += a * x;
        }
    }
    fn triad_loop(a: f32, x: &[f32], z: &[f32], y: &mut [f32]) {
        for ((y, x), z) in y.iter_mut().zip(x).zip(z) {
            *y = x + a * z;
        }
    }
    fn heat_loop(k: f32, above: &[f32], x: &[f32], below: &[f32], y: &mut [f32]) {
        let n = y.len() - 1;
        let (above, x, below) = (&above[..n + 1], &x[..n + 1], &below[..n + 1]);
        for c in 1..n {
            let around = above[c] + below[c] + x[c - 1] + x[c + 1];
            y[c] = x[c] + k * (around - 4.0 * x[c]);
        }
    }
    /// The border goes on as it ends.
    fn clamped_loop(k: f32, above: &[f32], x: &[f32], below: &[f32], y: &mut [f32]) {
        let n = y.len() - 1;
        let (above, x, below) = (&above[..n + 1], &x[..n + 1], &below[..n + 1]);
        for c in 1..n {
            let around = above[c] + below[c] + x[c - 1] + x[c + 1];
            y[c] = x[c] + k * (around - 4.0 * x[c]);
        }
        for (c, left, right) in [(0, 0, 1), (n, n - 1, n)] {
            let around = above[c] + below[c] + x[left] + x[right];
            y[c] = x[c] + k * (around - 4.0 * x[c]);
        }
    }
    fn row_times(row: &[f32], b: &[f32], y: &mut [f32]) {
        let n = y.len();
        for (c, y) in y.iter_mut().enumerate() {
            let mut sum = 0.0;
            for (k, a) in row.iter().enumerate() {
                sum += a * b[k * n + c];
            }
            *y = sum;
        }
    }
    fn row_times_by_rows(row: &[f32], b: &[f32], y: &mut [f32]) {
        let n = y.len();
        y.fill(0.0);
        for (k, a) in row.iter().enumerate() {
            for (y, b) in y.iter_mut().zip(&b[k * n..(k + 1) * n]) {
                *y += a * b;
            }
        }
    }
    fn gather_loop(at: &[u32], x: &[f32], y: &mut [f32]) {
        for (y, at) in y.iter_mut().zip(at) {
            *y = x[*at as usize];
        }
    }
    /// Nobody looks whether an index is inside.
    fn gather_loop_unchecked(at: &[u32], x: &[f32], y: &mut [f32]) {
        for (y, at) in y.iter_mut().zip(at) {
            // SAFETY: the benchmark's indices are.
            *y = unsafe { *x.get_unchecked(*at as usize) };
        }
    }
    /// Of rows of `n`; nobody looks here either, nor in the next one.
    fn gather_2d_loop(n: usize, row: &[u32], column: &[u32], x: &[f32], y: &mut [f32]) {
        for ((y, row), column) in y.iter_mut().zip(row).zip(column) {
            // SAFETY: the benchmark's indices are inside.
            *y = unsafe { *x.get_unchecked(*row as usize * n + *column as usize) };
        }
    }
    fn displaced_loop(first: usize, by: &[u32], x: &[f32], y: &mut [f32]) {
        for (k, (y, by)) in y.iter_mut().zip(by).enumerate() {
            let at = first + k + *by as usize;
            // SAFETY: the benchmark's indices are inside.
            let of = |at: usize| unsafe { *x.get_unchecked(at) };
            *y = of(at) + of(at + 1) + of(at + 2);
        }
    }
    /// A band of rows, tile by tile.
    fn tiles(a: &[f32], b: &[f32], y: &mut [f32], n: usize) {
        const TILE: usize = 16;
        for c in (0..n).step_by(TILE) {
            let mut acc = [[0.0f32; TILE]; TILE];
            for t in (0..n).step_by(TILE) {
                let ta: [[f32; TILE]; TILE] =
                    std::array::from_fn(|r| std::array::from_fn(|k| a[r * n + t + k]));
                let tb: [[f32; TILE]; TILE] =
                    std::array::from_fn(|r| std::array::from_fn(|k| b[(t + r) * n + c + k]));
                for r in 0..TILE {
                    for j in 0..TILE {
                        for k in 0..TILE {
                            acc[r][k] += ta[r][j] * tb[j][k];
                        }
                    }
                }
            }
            for (r, acc) in acc.iter().enumerate() {
                y[r * n + c..][..TILE].copy_from_slice(acc);
            }
        }
    }
    /// The same, in tiles of a side that is known when it runs.
    fn tiles_of(side: usize, a: &[f32], b: &[f32], y: &mut [f32], n: usize) {
        let (mut ta, mut tb) = ([0.0f32; 1024], [0.0f32; 1024]);
        for c in (0..n).step_by(side) {
            let mut acc = [0.0f32; 1024];
            for t in (0..n).step_by(side) {
                for r in 0..side {
                    ta[r * side..][..side].copy_from_slice(&a[r * n + t..][..side]);
                    tb[r * side..][..side].copy_from_slice(&b[(t + r) * n + c..][..side]);
                }
                for r in 0..side {
                    let acc = &mut acc[r * side..][..side];
                    for j in 0..side {
                        let (a, row) = (ta[r * side + j], &tb[j * side..][..side]);
                        for (acc, b) in acc.iter_mut().zip(row) {
                            *acc += a * b;
                        }
                    }
                }
            }
            for r in 0..side {
                y[r * n + c..][..side].copy_from_slice(&acc[r * side..][..side]);
            }
        }
    }
    /// In parts of so many.
    fn scan_loop(size: usize, x: &[f32], y: &mut [f32]) {
        for (y, x) in y.chunks_mut(size).zip(x.chunks(size)) {
            let mut sum = 0.0;
            for (y, x) in y.iter_mut().zip(x) {
                sum += x;
                *y = sum;
            }
        }
    }
    fn scan_integers_loop(size: usize, x: &[u32], y: &mut [u32]) {
        for (y, x) in y.chunks_mut(size).zip(x.chunks(size)) {
            let mut sum = 0u32;
            for (y, x) in y.iter_mut().zip(x) {
                sum = sum.wrapping_add(*x);
                *y = sum;
            }
        }
    }
    fn group_sums_loop(size: usize, x: &[u32], y: &mut [u32]) {
        for (y, x) in y.iter_mut().zip(x.chunks(size)) {
            *y = x.iter().fold(0, |sum, x| sum.wrapping_add(*x));
        }
    }
    /// 256 sums beside each other, and then theirs.
    fn sum_loop(x: &[f32], sum: &mut f32) {
        let mut all = [0.0f32; 256];
        for x in x.chunks(256) {
            for (all, x) in all.iter_mut().zip(x) {
                *all += x;
            }
        }
        let mut half = 128;
        while half > 0 {
            for k in 0..half {
                all[k] += all[k + half];
            }
            half /= 2;
        }
        *sum = all[0];
    }
    fn black_scholes_loop(rate: f32, spot: &[f32], strike: &[f32], call: &mut [f32]) {
        for ((call, s), k) in call.iter_mut().zip(spot).zip(strike) {
            let v = 0.3f32;
            let d1 = ((s / k).ln() + rate + 0.5 * v * v) / v;
            *call = s * normal(d1) - k * (-rate).exp() * normal(d1 - v);
        }
    }
    fn exp_loop(x: &[f32], y: &mut [f32]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y = x.exp();
        }
    }
    fn bodies_loop(all: &[[f32; 4]], at: &[[f32; 4]], out: &mut [[f32; 4]]) {
        for (out, at) in out.iter_mut().zip(at) {
            let mut sum = [0.0; 3];
            for other in all {
                let [x, y, z] = [other[0] - at[0], other[1] - at[1], other[2] - at[2]];
                let near = 1.0 / (x * x + y * y + z * z + 1e-4).sqrt();
                let pull = other[3] * near * near * near;
                sum = [sum[0] + x * pull, sum[1] + y * pull, sum[2] + z * pull];
            }
            *out = [sum[0], sum[1], sum[2], 0.0];
        }
    }
    /// 16 bodies at a time: what lanes over items come to.
    fn bodies_in_lanes(all: &[[f32; 4]], at: &[[f32; 4]], out: &mut [[f32; 4]]) {
        for (out, at) in out.chunks_exact_mut(16).zip(at.chunks_exact(16)) {
            let mut sum = [[0.0f32; 16]; 3];
            let own: [[f32; 16]; 3] = std::array::from_fn(|d| std::array::from_fn(|l| at[l][d]));
            for other in all {
                for l in 0..16 {
                    let [x, y, z] = [other[0] - own[0][l], other[1] - own[1][l], other[2] - own[2][l]];
                    let near = 1.0 / (x * x + y * y + z * z + 1e-4).sqrt();
                    let pull = other[3] * near * near * near;
                    sum[0][l] += x * pull;
                    sum[1][l] += y * pull;
                    sum[2][l] += z * pull;
                }
            }
            for (l, out) in out.iter_mut().enumerate() {
                *out = [sum[0][l], sum[1][l], sum[2][l], 0.0];
            }
        }
    }
}

#[inline(always)]
fn normal(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.2316419 * x.abs());
    let series = 0.319_381_53
        + t * (-0.356_563_78 + t * (1.781_477_9 + t * (-1.821_255_9 + t * 1.330_274_5)));
    let tail = 0.398_942_3 * (-0.5 * x * x).exp() * t * series;
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// `y = a * x + y`
pub fn saxpy(a: f32, x: &[f32], y: &mut [f32]) {
    y.par_chunks_mut(CHUNK).zip(x.par_chunks(CHUNK)).for_each(|(y, x)| saxpy_loop(a, x, y));
}

/// `y = x + a * z`
pub fn triad(a: f32, x: &[f32], z: &[f32], y: &mut [f32]) {
    let chunks = y.par_chunks_mut(CHUNK).zip(x.par_chunks(CHUNK)).zip(z.par_chunks(CHUNK));
    chunks.for_each(|((y, x), z)| triad_loop(a, x, z, y));
}

/// A stencil of five points within a square of `n`; its border stays.
pub fn heat(k: f32, n: usize, x: &[f32], y: &mut [f32]) {
    y.par_chunks_mut(n).enumerate().with_min_len(8).for_each(|(r, y)| {
        if r > 0 && r + 1 < n {
            let row = |r: usize| &x[r * n..(r + 1) * n];
            heat_loop(k, row(r - 1), row(r), row(r + 1), y);
        }
    });
}

/// The same for all of a square, whose border goes on as it ends.
pub fn clamped(k: f32, n: usize, x: &[f32], y: &mut [f32]) {
    y.par_chunks_mut(n).enumerate().with_min_len(8).for_each(|(r, y)| {
        let row = |r: usize| &x[r * n..(r + 1) * n];
        clamped_loop(k, row(r.max(1) - 1), row(r), row((r + 1).min(n - 1)), y);
    });
}

/// How often there is each number below `bins`, chunk by chunk.
pub fn histogram(x: &[u32], bins: &mut [u32]) {
    let n = bins.len();
    let count = |mut own: Vec<u32>, x: &[u32]| {
        x.iter().for_each(|x| own[*x as usize % n] += 1);
        own
    };
    let add = |mut a: Vec<u32>, b: Vec<u32>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        a
    };
    let all = x.par_chunks(CHUNK).fold(|| vec![0; n], count).reduce(|| vec![0; n], add);
    bins.iter_mut().zip(all).for_each(|(bin, more)| *bin += more);
}

/// The product of two squares of `n`, each element by itself.
pub fn matmul(n: usize, a: &[f32], b: &[f32], y: &mut [f32]) {
    y.par_chunks_mut(n).zip(a.par_chunks(n)).for_each(|(y, row)| row_times(row, b, y));
}

/// The same, in an order that vectors like.
pub fn matmul_by_rows(n: usize, a: &[f32], b: &[f32], y: &mut [f32]) {
    y.par_chunks_mut(n).zip(a.par_chunks(n)).for_each(|(y, row)| row_times_by_rows(row, b, y));
}

/// `y = x[at]`
pub fn gather(at: &[u32], x: &[f32], y: &mut [f32]) {
    y.par_chunks_mut(CHUNK).zip(at.par_chunks(CHUNK)).for_each(|(y, at)| gather_loop(at, x, y));
}

/// The same, without a look at the indices.
pub fn gather_unchecked(at: &[u32], x: &[f32], y: &mut [f32]) {
    let chunks = y.par_chunks_mut(CHUNK).zip(at.par_chunks(CHUNK));
    chunks.for_each(|(y, at)| gather_loop_unchecked(at, x, y));
}

/// `y = x[(row, column)]` of rows of `n`, without a look at the indices.
pub fn gather_2d_unchecked(n: usize, row: &[u32], column: &[u32], x: &[f32], y: &mut [f32]) {
    let places = row.par_chunks(CHUNK).zip(column.par_chunks(CHUNK));
    let chunks = y.par_chunks_mut(CHUNK).zip(places);
    chunks.for_each(|(y, (row, column))| gather_2d_loop(n, row, column, x, y));
}

/// Three neighbours of where an element's data says, without a look at the indices.
pub fn displaced_unchecked(by: &[u32], x: &[f32], y: &mut [f32]) {
    let chunks = y.par_chunks_mut(CHUNK).zip(by.par_chunks(CHUNK)).enumerate();
    chunks.for_each(|(chunk, (y, by))| displaced_loop(chunk * CHUNK, by, x, y));
}

/// The product of two squares of `n`, which 16 divides, tile by tile.
pub fn tiled(n: usize, a: &[f32], b: &[f32], y: &mut [f32]) {
    y.par_chunks_mut(16 * n).zip(a.par_chunks(16 * n)).for_each(|(y, a)| tiles(a, b, y, n));
}

/// The same in tiles of a side which divides `n`, and is at most 32.
pub fn tiled_by(side: usize, n: usize, a: &[f32], b: &[f32], y: &mut [f32]) {
    let bands = y.par_chunks_mut(side * n).zip(a.par_chunks(side * n));
    bands.for_each(|(y, a)| tiles_of(side, a, b, y, n));
}

/// The sum of each part of so many, which divide 16,384.
pub fn group_sums(size: usize, x: &[u32], y: &mut [u32]) {
    let chunks = y.par_chunks_mut(CHUNK / size).zip(x.par_chunks(CHUNK));
    chunks.for_each(|(y, x)| group_sums_loop(size, x, y));
}

/// The scan of each part of so many, which divide 16,384.
pub fn scan(size: usize, x: &[f32], y: &mut [f32]) {
    y.par_chunks_mut(CHUNK).zip(x.par_chunks(CHUNK)).for_each(|(y, x)| scan_loop(size, x, y));
}

/// The same of integers.
pub fn scan_integers(size: usize, x: &[u32], y: &mut [u32]) {
    let chunks = y.par_chunks_mut(CHUNK).zip(x.par_chunks(CHUNK));
    chunks.for_each(|(y, x)| scan_integers_loop(size, x, y));
}

/// The sum of all.
pub fn sum(x: &[f32]) -> f32 {
    let of = |x: &[f32]| {
        let mut sum = 0.0;
        sum_loop(x, &mut sum);
        sum
    };
    x.par_chunks(CHUNK).map(of).sum()
}

/// Prices of options.
pub fn black_scholes(rate: f32, spot: &[f32], strike: &[f32], call: &mut [f32]) {
    let chunks =
        call.par_chunks_mut(CHUNK).zip(spot.par_chunks(CHUNK)).zip(strike.par_chunks(CHUNK));
    chunks.for_each(|((call, s), k)| black_scholes_loop(rate, s, k, call));
}

/// `y = exp(x)`
pub fn exp(x: &[f32], y: &mut [f32]) {
    y.par_chunks_mut(CHUNK).zip(x.par_chunks(CHUNK)).for_each(|(y, x)| exp_loop(x, y));
}

/// What all bodies (position and mass) do to each.
pub fn bodies(all: &[[f32; 4]], out: &mut [[f32; 4]]) {
    out.par_chunks_mut(256)
        .zip(all.par_chunks(256))
        .for_each(|(out, at)| bodies_loop(all, at, out));
}

/// The same, 16 at a time.
pub fn bodies_by_lanes(all: &[[f32; 4]], out: &mut [[f32; 4]]) {
    let chunks = out.par_chunks_mut(256).zip(all.par_chunks(256));
    chunks.for_each(|(out, at)| bodies_in_lanes(all, at, out));
}
