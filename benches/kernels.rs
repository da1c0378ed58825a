//! Kernels; [`hand`](crate::hand) has what they are compared with.

use folio::prelude::*;

/// `y = a * x + y`
#[kernel]
pub fn saxpy(i: Item, a: f32, x: In<f32>, y: InOut<f32>) {
    y[i] = a * x[i] + y[i];
}

/// `y = x + a * z`
#[kernel]
pub fn triad(i: Item, a: f32, x: In<f32>, z: In<f32>, y: Out<f32>) {
    y[i] = x[i] + a * z[i];
}

#[device_fn]
fn mixed(k: f32, x: f32, around: f32) -> f32 {
    x + k * (around - 4.0 * x)
}

/// A stencil of five points, for the interior.
#[kernel]
pub fn heat(i: Item<2>, k: f32, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    y[i] = mixed(k, x[i], x[(r - 1, c)] + x[(r + 1, c)] + x[(r, c - 1)] + x[(r, c + 1)]);
}

/// The same for all of a grid, with a guard.
#[kernel]
pub fn guarded(i: Item<2>, k: f32, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    if r == 0 || c == 0 || r + 1 == x.shape()[0] || c + 1 == x.shape()[1] {
        y[i] = 0.0;
        return;
    }
    y[i] = mixed(k, x[i], x[(r - 1, c)] + x[(r + 1, c)] + x[(r, c - 1)] + x[(r, c + 1)]);
}

/// The same with the work behind the guard. What is at the border stays.
#[kernel]
pub fn inside(i: Item<2>, k: f32, x: In<f32, 2>, y: InOut<f32, 2>) {
    let (r, c) = i.pos();
    let (rows, columns) = (x.shape()[0], x.shape()[1]);
    if r > 0 && r + 1 < rows && c > 0 && c + 1 < columns {
        y[i] = mixed(k, x[i], x[(r - 1, c)] + x[(r + 1, c)] + x[(r, c - 1)] + x[(r, c + 1)]);
    }
}

/// The same for all of a grid, whose border goes on as it ends.
#[kernel]
pub fn clamped(i: Item<2>, k: f32, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    let (rows, columns) = (x.shape()[0], x.shape()[1]);
    let (above, below) = (r.max(1) - 1, (r + 1).min(rows - 1));
    let (left, right) = (c.saturating_sub(1), (c + 1).clamp(0, columns - 1));
    y[i] = mixed(k, x[i], x[(above, c)] + x[(below, c)] + x[(r, left)] + x[(r, right)]);
}

/// The same, with a source in the middle.
#[kernel]
pub fn heated(i: Item<2>, k: f32, power: f32, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    let (rows, columns) = (x.shape()[0], x.shape()[1]);
    let (above, below) = (r.max(1) - 1, (r + 1).min(rows - 1));
    let (left, right) = (c.saturating_sub(1), (c + 1).clamp(0, columns - 1));
    let mut v = mixed(k, x[i], x[(above, c)] + x[(below, c)] + x[(r, left)] + x[(r, right)]);
    if r == rows / 2 && c == columns / 2 {
        v += power;
    }
    y[i] = v;
}

/// As `clamped`, with the sum of what it writes.
#[kernel]
pub fn clamped_sum(i: Item<2>, k: f32, x: In<f32, 2>, y: Out<f32, 2>, sum: Reduce<f32, Add>) {
    let (r, c) = i.pos();
    let (rows, columns) = (x.shape()[0], x.shape()[1]);
    let (above, below) = (r.max(1) - 1, (r + 1).min(rows - 1));
    let (left, right) = (c.saturating_sub(1), (c + 1).clamp(0, columns - 1));
    let v = mixed(k, x[i], x[(above, c)] + x[(below, c)] + x[(r, left)] + x[(r, right)]);
    y[i] = v;
    sum.give(v);
}

/// How often there is each number below the length of `bins`.
#[kernel]
pub fn histogram(i: Item, x: In<u32>, bins: Atomic<u32>) {
    bins.add(x[i] as usize % bins.len(), 1);
}

/// A product of matrices, each element by itself.
#[kernel]
pub fn matmul(i: Item<2>, a: In<f32, 2>, b: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    let mut sum = 0.0;
    for k in 0..a.shape()[1] {
        sum += a[(r, k)] * b[(k, c)];
    }
    y[i] = sum;
}

/// `y = x[at]`
#[kernel]
pub fn gather(i: Item, at: In<u32>, x: In<f32>, y: Out<f32>) {
    y[i] = x[at[i]];
}

/// `y = x[(row, column)]`
#[kernel]
pub fn gather_2d(i: Item, row: In<u32>, column: In<u32>, x: In<f32, 2>, y: Out<f32>) {
    y[i] = x[(row[i] as usize, column[i] as usize)];
}

/// Three neighbours of where an element's data says.
#[kernel]
pub fn displaced(i: Item, by: In<u32>, x: In<f32>, y: Out<f32>) {
    let at = i.index() + by[i] as usize;
    y[i] = x[at] + x[at + 1] + x[at + 2];
}

/// One more for each element.
#[kernel]
pub fn increments(i: Item, x: InOut<u64>) {
    x[i] += 1;
}

/// So much more for each element.
#[kernel]
pub fn increases(i: Item, by: u64, x: InOut<u64>) {
    x[i] += by;
}

/// `y = exp(x)`
#[kernel]
pub fn exp(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = x[i].exp();
}

/// What all bodies (position and mass) do to each.
#[kernel]
pub fn bodies(i: Item, p: In<[f32; 4]>, out: Out<[f32; 4]>) {
    let at = p[i];
    let mut sum_x = 0.0;
    let mut sum_y = 0.0;
    let mut sum_z = 0.0;
    for j in 0..p.len() {
        let other = p[j];
        let x = other[0] - at[0];
        let y = other[1] - at[1];
        let z = other[2] - at[2];
        let near = 1.0 / (x * x + y * y + z * z + 1e-4).sqrt();
        let pull = other[3] * near * near * near;
        sum_x += x * pull;
        sum_y += y * pull;
        sum_z += z * pull;
    }
    out[i] = [sum_x, sum_y, sum_z, 0.0];
}

/// The side of a tile.
pub const TILE: usize = 16;

/// A product of matrices, tile by tile in local memory.
#[kernel(group = [TILE, TILE])]
pub fn tiled(
    g: Group<2>,
    a: In<f32, 2>,
    b: In<f32, 2>,
    ta: Local<f32, 256>,
    tb: Local<f32, 256>,
    y: Out<f32, 2>,
) {
    let acc = g.private(0.0);
    for t in 0..a.shape()[1] / TILE {
        g.each(|i| {
            let ((r, k), (row, column)) = (i.local_pos(), i.pos());
            ta[i] = a[(row, t * TILE + k)];
            tb[i] = b[(t * TILE + r, column)];
        });
        g.each(|i| {
            let (r, k) = i.local_pos();
            let mut sum = acc[i];
            for j in 0..TILE {
                sum += ta[r * TILE + j] * tb[j * TILE + k];
            }
            acc[i] = sum;
        });
    }
    g.each(|i| y[i] = acc[i]);
}

/// The same, in tiles of other sides that rustc knows.
macro_rules! tiled {
    ($($name:ident $side:literal)*) => {$(
        #[kernel(group = [$side, $side])]
        pub fn $name(
            g: Group<2>,
            a: In<f32, 2>,
            b: In<f32, 2>,
            ta: Local<f32, 1024>,
            tb: Local<f32, 1024>,
            y: Out<f32, 2>,
        ) {
            let acc = g.private(0.0);
            for t in 0..a.shape()[1] / $side {
                g.each(|i| {
                    let ((r, k), (row, column)) = (i.local_pos(), i.pos());
                    ta[i] = a[(row, t * $side + k)];
                    tb[i] = b[(t * $side + r, column)];
                });
                g.each(|i| {
                    let (r, k) = i.local_pos();
                    let mut sum = acc[i];
                    for j in 0..$side {
                        sum += ta[r * $side + j] * tb[j * $side + k];
                    }
                    acc[i] = sum;
                });
            }
            g.each(|i| y[i] = acc[i]);
        }
    )*};
}
tiled! { tiled_8 8 tiled_32 32 }

/// The same, in tiles as large as the launch's groups.
#[kernel]
pub fn tiled_by_group(
    g: Group<2>,
    a: In<f32, 2>,
    b: In<f32, 2>,
    ta: Local<f32, 1024>,
    tb: Local<f32, 1024>,
    y: Out<f32, 2>,
) {
    let acc = g.private(0.0);
    let side = g.size()[0];
    for t in 0..a.shape()[1] / side {
        g.each(|i| {
            let ((r, k), (row, column)) = (i.local_pos(), i.pos());
            ta[i] = a[(row, t * side + k)];
            tb[i] = b[(t * side + r, column)];
        });
        g.each(|i| {
            let (r, k) = i.local_pos();
            let mut sum = acc[i];
            for j in 0..side {
                sum += ta[r * side + j] * tb[j * side + k];
            }
            acc[i] = sum;
        });
    }
    g.each(|i| y[i] = acc[i]);
}

/// The scan of each group.
#[kernel]
pub fn scan(g: Group, x: In<f32>, y: Out<f32>) {
    let up = g.inclusive_scan::<Add>(|i| x[i]);
    g.each(|i| y[i] = up[i]);
}

/// The same of integers.
#[kernel]
pub fn scan_integers(g: Group, x: In<u32>, y: Out<u32>) {
    let up = g.inclusive_scan::<Add>(|i| x[i]);
    g.each(|i| y[i] = up[i]);
}

/// The same in local memory, step by step (Hillis and Steele), as it is written for GPUs.
#[kernel]
pub fn scan_by_steps(g: Group, x: In<u32>, tile: Local<u32, 1024>, y: Out<u32>) {
    let before = g.private(0);
    g.each(|i| tile[i] = x[i]);
    let mut by = 1;
    while by < g.size()[0] {
        g.each(|i| {
            let k = i.local_index();
            before[i] = if k >= by { tile[k - by] } else { 0 };
        });
        g.each(|i| tile[i] = tile[i] + before[i]);
        by *= 2;
    }
    g.each(|i| y[i] = tile[i]);
}

/// The sum of each group.
#[kernel]
pub fn group_sums(g: Group, x: In<u32>, y: OutGroup<u32>) {
    y[g] = g.reduce::<Add>(|i| x[i]);
}

/// The same by a tree in local memory.
#[kernel]
pub fn group_sums_by_tree(g: Group, x: In<u32>, tile: Local<u32, 1024>, y: OutGroup<u32>) {
    let other = g.private(0);
    g.each(|i| tile[i] = x[i]);
    let mut by = g.size()[0] / 2;
    while by > 0 {
        g.each(|i| {
            let k = i.local_index();
            other[i] = if k < by { tile[k + by] } else { 0 };
        });
        g.each(|i| tile[i] = tile[i] + other[i]);
        by /= 2;
    }
    y[g] = tile[0];
}

/// The sum of all.
#[kernel]
pub fn sum(i: Item, x: In<f32>, sum: Reduce<f32, Add>) {
    sum.give(x[i]);
}

#[device_fn]
fn normal(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.2316419 * x.abs());
    let series = 0.319_381_53
        + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429)));
    let tail = 0.398_942_28 * (-0.5 * x * x).exp() * t * series;
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// Prices of options.
#[kernel]
pub fn black_scholes(i: Item, rate: f32, spot: In<f32>, strike: In<f32>, call: Out<f32>) {
    let (s, k, v) = (spot[i], strike[i], 0.3);
    let d1 = ((s / k).ln() + rate + 0.5 * v * v) / v;
    call[i] = s * normal(d1) - k * (-rate).exp() * normal(d1 - v);
}

/// `a += 1`, where the launch is what costs.
#[kernel]
pub fn one(i: Item, a: InOut<f32>) {
    a[i] = a[i] + 1.0;
}

/// The same of four views.
#[kernel]
pub fn four(i: Item, a: InOut<f32>, b: InOut<f32>, c: InOut<f32>, d: InOut<f32>) {
    a[i] = a[i] + 1.0;
    b[i] = b[i] + 1.0;
    c[i] = c[i] + 1.0;
    d[i] = d[i] + 1.0;
}

/// `d = a + b + c`
#[kernel]
pub fn added(i: Item, a: In<f32>, b: In<f32>, c: In<f32>, d: InOut<f32>) {
    d[i] = a[i] + b[i] + c[i];
}
