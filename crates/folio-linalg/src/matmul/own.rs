//! Products by a kernel of the own language: tiles in local memory and in the items' variables.
//!
//! A group of 16 x 16 items computes a tile of `16 R` rows and columns, each item `R * R` elements,
//! which are 16 apart. A step takes 16 columns of `A` and rows of `B`. A slot of local memory is
//! what one item has read, `R` values that are 16 rows or columns apart. The item that adds them up
//! reads them beside each other. Which slot an item fills is chosen so that neighbours read
//! neighbouring elements of memory. Of several items no two read the same bank at a time: with a
//! transposed `B` the slots of a column are rotated for that.

use super::{Extents, Matmul, Operands};
use crate::Element;
use crate::element::Kind;
use crate::prelude::*;
use folio::RacyMemory;

/// Items of a group in each dimension, and columns of `A` of a step.
const SIDE: usize = 16;
/// Items of a group.
const ITEMS: usize = SIDE * SIDE;
/// Tiles of the larger size from which on these occupy a GPU.
const ENOUGH_TILES: usize = 200;

#[kernel(group = [1, SIDE, SIDE])]
fn tiles<
    T: Number,
    U: Float + CastFrom<T>,
    const R: usize,
    const TURNED_A: usize,
    const TURNED_B: usize,
>(
    g: Group<3>,
    alpha: U,
    beta: U,
    steps: usize,
    a: In<T, 3>,
    b: In<T, 3>,
    of_a: Local<[U; R], ITEMS>,
    of_b: Local<[U; R], ITEMS>,
    c: Racy<U, 3>,
) {
    let (z, tile_row, tile_column) = g.pos();
    let (row, column) = (tile_row * SIDE * R, tile_column * SIDE * R);
    let sums = g.private([[U::ZERO; R]; R]);
    for step in 0..steps {
        let depth = step * SIDE;
        g.each(|i| {
            let (_, u, v) = i.local_pos();
            let mut own = [U::ZERO; R];
            for j in 0..R {
                if TURNED_A == 0 {
                    let (r, k) = (row + u + SIDE * j, depth + v);
                    if r < a.shape()[1] && k < a.shape()[2] {
                        own[j] = a[(z, r, k)] as U;
                    }
                } else {
                    let (r, k) = (row + v + SIDE * j, depth + u);
                    if k < a.shape()[1] && r < a.shape()[2] {
                        own[j] = a[(z, k, r)] as U;
                    }
                }
            }
            of_a[i] = own;
            let mut own = [U::ZERO; R];
            for j in 0..R {
                if TURNED_B == 0 {
                    let (k, q) = (depth + u, column + v + SIDE * j);
                    if k < b.shape()[1] && q < b.shape()[2] {
                        own[j] = b[(z, k, q)] as U;
                    }
                } else {
                    let (k, q) = (depth + (v + SIDE - u) % SIDE, column + u + SIDE * j);
                    if q < b.shape()[1] && k < b.shape()[2] {
                        own[j] = b[(z, q, k)] as U;
                    }
                }
            }
            of_b[i] = own;
        });
        g.each(|i| {
            let (_, u, v) = i.local_pos();
            for k in 0..SIDE {
                let x = if TURNED_A == 0 { of_a[u * SIDE + k] } else { of_a[k * SIDE + u] };
                let y = if TURNED_B == 0 {
                    of_b[k * SIDE + v]
                } else {
                    of_b[v * SIDE + (k + v) % SIDE]
                };
                for p in 0..R {
                    for q in 0..R {
                        sums[i][p][q] = x[p].mul_add(y[q], sums[i][p][q]);
                    }
                }
            }
        });
    }
    g.each(|i| {
        let (_, u, v) = i.local_pos();
        for p in 0..R {
            for q in 0..R {
                let (r, s) = (row + u + SIDE * p, column + v + SIDE * q);
                if r < c.shape()[1] && s < c.shape()[2] {
                    let product = alpha * sums[i][p][q];
                    let rest = if beta == U::ZERO { U::ZERO } else { beta * c[(z, r, s)] };
                    c[(z, r, s)] = product + rest;
                }
            }
        }
    });
}

/// An element by itself, with the same bits: a CPU computes many beside each other in vectors.
#[kernel]
fn elements<T: Number, U: Float + CastFrom<T>, const TURNED_A: usize, const TURNED_B: usize>(
    i: Item<3>,
    alpha: U,
    beta: U,
    depth: usize,
    a: In<T, 3>,
    b: In<T, 3>,
    c: InOut<U, 3>,
) {
    let (z, r, q) = i.pos();
    let mut sum = U::ZERO;
    for k in 0..depth {
        let x = if TURNED_A == 0 { a[(z, r, k)] as U } else { a[(z, k, r)] as U };
        let y = if TURNED_B == 0 { b[(z, k, q)] as U } else { b[(z, q, k)] as U };
        sum = x.mul_add(y, sum);
    }
    let rest = if beta == U::ZERO { U::ZERO } else { beta * c[i] };
    c[i] = alpha * sum + rest;
}

/// Elements of a row that an item computes: 8 where the tiles occupy a GPU and its registers have
/// room for them.
fn per_item<T: Element>(extents: Extents) -> usize {
    let large = |n: usize| n.div_ceil(8 * SIDE);
    let tiles = extents.batches * large(extents.rows) * large(extents.columns);
    if T::Sum::KIND == Kind::F32 && tiles >= ENOUGH_TILES { 8 } else { 4 }
}

/// Submits the product.
pub(super) fn multiply<T: Element>(
    q: &Queue,
    options: Matmul,
    extents: Extents,
    operands: Operands<'_, T>,
) -> Result<()> {
    let device = q.device();
    if device.info().caps.closures {
        return match options.transposes {
            [false, false] => by_elements::<T, 0, 0>(q, options, extents, operands),
            [false, true] => by_elements::<T, 0, 1>(q, options, extents, operands),
            [true, false] => by_elements::<T, 1, 0>(q, options, extents, operands),
            [true, true] => by_elements::<T, 1, 1>(q, options, extents, operands),
        };
    }
    match (per_item::<T>(extents), options.transposes) {
        (8, [false, false]) => launch::<T, 8, 0, 0>(q, options, extents, operands),
        (8, [false, true]) => launch::<T, 8, 0, 1>(q, options, extents, operands),
        (8, [true, false]) => launch::<T, 8, 1, 0>(q, options, extents, operands),
        (8, [true, true]) => launch::<T, 8, 1, 1>(q, options, extents, operands),
        (_, [false, false]) => launch::<T, 4, 0, 0>(q, options, extents, operands),
        (_, [false, true]) => launch::<T, 4, 0, 1>(q, options, extents, operands),
        (_, [true, false]) => launch::<T, 4, 1, 0>(q, options, extents, operands),
        (_, [true, true]) => launch::<T, 4, 1, 1>(q, options, extents, operands),
    }
}

/// The factors as the kernels take them.
fn factors<T: Element>(options: Matmul) -> [T::Sum; 2] {
    [options.alpha, options.beta].map(<T::Sum as CastFrom<f64>>::cast_from)
}

fn by_elements<T: Element, const TURNED_A: usize, const TURNED_B: usize>(
    q: &Queue,
    options: Matmul,
    extents: Extents,
    operands: Operands<'_, T>,
) -> Result<()> {
    let Operands { a, b, mut c } = operands;
    let ([alpha, beta], depth) = (factors::<T>(options), extents.depth);
    q.submit(|cg| {
        let items = c.range();
        let call = elements::<T, T::Sum, TURNED_A, TURNED_B>(alpha, beta, depth, &a, &b, &mut c);
        cg.label("matmul (own)").run(items, call);
        Ok(())
    })?;
    Ok(())
}

fn launch<T: Element, const R: usize, const TURNED_A: usize, const TURNED_B: usize>(
    q: &Queue,
    options: Matmul,
    extents: Extents,
    operands: Operands<'_, T>,
) -> Result<()> {
    let Operands { a, b, mut c } = operands;
    let [alpha, beta] = factors::<T>(options);
    let items = |n: usize| n.div_ceil(SIDE * R) * SIDE;
    let items = [extents.batches, items(extents.rows), items(extents.columns)];
    let steps = extents.depth.div_ceil(SIDE);
    // SAFETY: an item reads and writes the elements that are 16 apart from its own in its group's
    // tile, which no other item has.
    let c = unsafe { RacyMemory::new(&mut c) };
    q.submit(|cg| {
        let call = tiles::<T, T::Sum, R, TURNED_A, TURNED_B>(alpha, beta, steps, &a, &b, c);
        cg.label("matmul (own)").run(items, call);
        Ok(())
    })?;
    Ok(())
}
