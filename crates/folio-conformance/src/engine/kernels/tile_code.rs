//! Kernels whose groups hold tiles.

use folio::prelude::*;

#[kernel(group = [8, 8], deny_checks)]
pub(super) fn tile_products(g: Group<2>, a: In<f32, 2>, b: In<f32, 2>, c: OutTile<f32, 16, 24>) {
    let (row, column) = g.pos();
    let mut sum = Tile::<f32, 16, 24>::zero();
    for k in 0..a.shape()[1].div_ceil(8) {
        let x = a.tile::<16, 8>((row * 16, k * 8));
        let y = b.tile::<8, 24>((k * 8, column * 24));
        sum.add_product(&x, &y);
    }
    c.put(g, sum.map(|x| x.max(-4.0)));
}

/// Both factors are transposed in memory; of several matrices.
#[kernel(group = [1, 8, 8], deny_checks)]
pub(super) fn turned_products(
    g: Group<3>,
    a: In<f32, 3>,
    b: In<f32, 3>,
    c: OutTile<f32, 16, 16, 3>,
) {
    let (z, row, column) = g.pos();
    let mut sum = Tile::<f32, 16, 16>::fill(0.25);
    for k in 0..a.shape()[1].div_ceil(16) {
        let x = a.tile_transposed::<16, 16>((z, row * 16, k * 16));
        let y = b.tile_transposed::<16, 16>((z, k * 16, column * 16));
        sum.add_product(&x, &y);
    }
    c.put(g, sum);
}

/// Each row's parts of its sum, times a matrix: what attention does.
#[kernel(group = [8, 8], deny_checks)]
pub(super) fn soft_products(
    g: Group<2>,
    x: In<f32, 2>,
    b: In<f32, 2>,
    scale: f32,
    most: OutTile<f32, 16, 1>,
    c: OutTile<f32, 16, 16>,
) {
    let (row, column) = g.pos();
    let own = x.tile::<16, 16>((row * 16, 0));
    let width = x.shape()[1];
    let own = own.map_indexed(|(_, at), x| if at < width { x * scale } else { -1.0e30 });
    let max = own.reduce_rows::<Max>();
    let parts = own.zip(&max, |x, max| 1.0 / (1.0 + (max - x)));
    let total = parts.reduce_rows::<Add>();
    let mut sum = Tile::<f32, 16, 16>::zero();
    let factor = b.tile::<16, 16>((0, column * 16));
    sum.add_product(&parts, &factor);
    let result = sum.zip(&total, |x, total| x / total);
    most.put(g, max);
    c.put(g, result);
}

/// Tiles that are kept, copied and replaced.
#[kernel(group = [8, 8], deny_checks)]
pub(super) fn kept_tiles(
    g: Group<2>,
    x: In<i32, 2>,
    y: OutTile<i32, 16, 16>,
    z: OutTile<i32, 1, 16>,
) {
    let (row, column) = g.pos();
    let mut last = x.tile::<16, 16>((row * 16, column * 16));
    let mut sum = Tile::<i32, 16, 16>::fill(3);
    for k in 0..3 {
        let before = last.clone();
        if k == 1 {
            last = last.map(|x| x.wrapping_mul(5) + k as i32);
        } else {
            last = sum.clone();
        }
        sum = sum.zip(&before, |a, b| a.wrapping_sub(b));
        let turned = x.tile_transposed::<16, 16>((column * 16, row * 16));
        sum.add_product(&last, &turned);
        sum.add_product(&turned, &before);
    }
    z.put(g, sum.reduce_columns::<Xor>());
    y.put(g, sum);
}

/// Tiles that begin before their view, names of tiles that become others, reductions of a single
/// row and column, and local memory that is like the one of a reduction.
#[kernel(group = [8, 8])]
pub(super) fn edge_tiles(
    g: Group<2>,
    folded: Local<[i32; 4], 32>,
    x: In<i32, 2>,
    y: OutTile<i32, 16, 16>,
) {
    let (row, column) = g.pos();
    g.once(|| folded[5] = [1, 2, 3, 4]);
    let mut a = x.tile::<16, 16>((row * 16 - 3, column * 16 - 5)).map(|x| x);
    let b = a;
    a = Tile::<i32, 16, 16>::fill(7);
    let mut c = a;
    a = c.map(|x| x + 1);
    c = c.map(|x| x * 3);
    let rows = b.reduce_rows::<Add>();
    let again = rows.reduce_rows::<Add>();
    let columns = b.reduce_columns::<Add>().reduce_columns::<Add>();
    let kept = g.reduce::<Add>(|i| folded[5][i.local_index() % 4]);
    let all = b.zip(&again, |x, y| x * 31 + y).zip(&columns, |x, y| x * 31 + y);
    let all = all.zip(&a, |x, y| x * 31 + y).zip(&c, |x, y| x * 31 + y);
    y.put(g, all.map(|x| x * 31 + kept));
}

#[kernel(group = [8, 8], deny_checks)]
pub(super) fn narrow_tiles(
    g: Group<2>,
    a: In<bf16, 2>,
    b: In<bf16, 2>,
    p: In<i8, 2>,
    q: In<i8, 2>,
    c: OutTile<f32, 16, 16>,
    r: OutTile<i32, 16, 16>,
) {
    let (row, column) = g.pos();
    let mut sum = Tile::<f32, 16, 16>::zero();
    let mut total = Tile::<i32, 16, 16>::zero();
    for k in 0..a.shape()[1].div_ceil(16) {
        let x = a.tile::<16, 16>((row * 16, k * 16));
        let y = b.tile::<16, 16>((k * 16, column * 16));
        sum.add_product(&x, &y);
        total.add_product(
            &p.tile::<16, 16>((row * 16, k * 16)),
            &q.tile::<16, 16>((k * 16, column * 16)),
        );
    }
    c.put(g, sum);
    r.put(g, total);
}

/// What relaxed products begin with.
pub(super) const BEGIN: f32 = 0.25;

#[kernel(group = [8, 8], deny_checks)]
pub(super) fn relaxed_products(
    g: Group<2>,
    first: usize,
    depth: usize,
    a: In<bf16, 2>,
    b: In<bf16, 2>,
    c: OutTile<f32, 16, 32>,
) {
    let (row, column) = g.pos();
    let mut sum = Tile::<f32, 16, 32>::fill(BEGIN);
    let (x, y) = ((row * 16, first), (first, column * 32));
    sum.add_relaxed_product(a.corner(x), b.corner(y), depth);
    c.put(g, sum);
}

/// Corners anywhere, also outside of the matrices.
#[kernel(group = [8, 8])]
pub(super) fn relaxed_from(
    g: Group<2>,
    row: usize,
    column: usize,
    a: In<f16, 2>,
    b: In<f16, 2>,
    c: OutTile<f32, 16, 32>,
) {
    let mut sum = Tile::<f32, 16, 32>::fill(BEGIN);
    sum.add_relaxed_product(a.corner((row, 0)), b.corner((0, column)), 16);
    c.put(g, sum);
}

/// Both factors are transposed in memory, and of several matrices.
#[kernel(group = [1, 8, 8], deny_checks)]
pub(super) fn relaxed_of_turned(
    g: Group<3>,
    first: usize,
    depth: usize,
    a: In<f16, 3>,
    b: In<f16, 3>,
    c: OutTile<f32, 32, 16, 3>,
) {
    let (z, row, column) = g.pos();
    let mut sum = Tile::<f32, 32, 16>::fill(BEGIN);
    sum.add_relaxed_product(
        a.corner_transposed((z, row * 32, first)),
        b.corner_transposed((z, first, column * 16)),
        depth,
    );
    c.put(g, sum);
}

/// Of factors that lie across the depth, twice.
#[kernel(group = [8, 8], deny_checks)]
pub(super) fn relaxed_across(
    g: Group<2>,
    first: usize,
    depth: usize,
    a: In<f32, 2>,
    b: In<f32, 2>,
    c: OutTile<f32, 16, 32>,
) {
    let (row, column) = g.pos();
    let mut sum = Tile::<f32, 16, 32>::fill(BEGIN);
    let half = depth / 2;
    for part in 0..2 {
        let at = first + part * half;
        let depth = if part == 0 { half } else { depth - half };
        let x = (row * 16, at);
        sum.add_relaxed_product(a.corner_transposed(x), b.corner((at, column * 32)), depth);
    }
    c.put(g, sum);
}

/// Of factors that lie along the depth.
#[kernel(group = [8, 8], deny_checks)]
pub(super) fn relaxed_along(
    g: Group<2>,
    first: usize,
    depth: usize,
    a: In<f32, 2>,
    b: In<f32, 2>,
    c: OutTile<f32, 32, 16>,
) {
    let (row, column) = g.pos();
    let mut sum = Tile::<f32, 32, 16>::fill(BEGIN);
    let (x, y) = ((row * 32, first), (first, column * 16));
    sum.add_relaxed_product(a.corner(x), b.corner_transposed(y), depth);
    c.put(g, sum);
}

/// No warp has whole parts of it.
#[kernel(group = [8, 8], deny_checks)]
pub(super) fn relaxed_by_loops(
    g: Group<2>,
    first: usize,
    depth: usize,
    a: In<f16, 2>,
    b: In<f16, 2>,
    c: OutTile<f32, 8, 24>,
) {
    let (row, column) = g.pos();
    let mut sum = Tile::<f32, 8, 24>::fill(BEGIN);
    let (x, y) = ((row * 8, first), (first, column * 24));
    sum.add_relaxed_product(a.corner(x), b.corner(y), depth);
    c.put(g, sum);
}

/// Its group is no square of 64 items or more.
#[kernel(group = [4, 4])]
pub(super) fn tiles_of_few(g: Group<2>, y: OutTile<f32, 16, 16>) {
    y.put(g, Tile::<f32, 16, 16>::zero());
}

/// Its items would have parts of different sizes.
#[kernel(group = [8, 8])]
pub(super) fn tiles_of_parts(g: Group<2>, y: OutTile<f32, 8, 12>) {
    y.put(g, Tile::<f32, 8, 12>::zero());
}
