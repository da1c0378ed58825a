//! Rows as columns, and other orders of axes.
//!
//! Tiles go by way of local memory: rows of the source are read, and rows of the result written,
//! elements beside each other. An item keeps four elements of a column in one slot. Of eight rows
//! of slots each has its columns in another order, so that no two slots of a column are in one
//! bank.

use crate::prelude::*;
use crate::racy_whole;
use folio::hal::DeviceKind;
use folio::{Error, buffer::Overwritten};

/// Rows and columns of a tile.
const TILE: usize = 32;
/// Rows of items in a group. Each item has four elements of a tile.
const DOWN: usize = 8;
/// Items of a group.
const ITEMS: usize = DOWN * TILE;
/// Bytes of a tile at most: what all devices have.
const MOST: usize = 16 << 10;

#[kernel(group = [DOWN, TILE])]
fn tiles<T: Value>(g: Group<2>, x: In<T, 2>, tile: Local<[T; 4], ITEMS>, y: Racy<T, 2>) {
    let (down, across) = g.pos();
    let (top, left) = (down * TILE, across * TILE);
    let [rows, columns] = x.shape();
    g.each(|i| {
        let (r, lane) = i.local_pos();
        // Slots beyond the border repeat it, and are not written.
        let c = (left + (lane ^ r)).min(columns - 1);
        let r = top + r;
        tile[i] = if r + 3 * DOWN < rows {
            [x[(r, c)], x[(r + DOWN, c)], x[(r + 2 * DOWN, c)], x[(r + 3 * DOWN, c)]]
        } else {
            let last = rows - 1;
            [
                x[(r.min(last), c)],
                x[((r + DOWN).min(last), c)],
                x[((r + 2 * DOWN).min(last), c)],
                x[((r + 3 * DOWN).min(last), c)],
            ]
        };
    });
    g.each(|i| {
        let (part, lane) = i.local_pos();
        let (r, c) = (lane % DOWN, part * (TILE / DOWN) + lane / DOWN);
        let own = tile[r * TILE + (c ^ r)];
        let (r, c) = (top + r, left + c);
        if c < columns {
            if r + 3 * DOWN < rows {
                for turn in 0..4 {
                    y[(c, r + turn * DOWN)] = own[turn];
                }
            } else {
                for turn in 0..4 {
                    let row = r + turn * DOWN;
                    if row < rows {
                        y[(c, row)] = own[turn];
                    }
                }
            }
        }
    });
}

/// Rows and columns of a tile on a CPU, whose threads go through it without tests.
const SQUARE: usize = 16;

#[kernel(group = [SQUARE, SQUARE])]
fn squares<T: Value>(g: Group<2>, x: In<T, 2>, tile: Local<T, 256>, y: Out<T, 2>) {
    let (row, column) = g.pos();
    g.each(|i| {
        let (r, c) = i.local_pos();
        tile[i] = x[(column * SQUARE + r, row * SQUARE + c)];
    });
    g.each(|i| {
        let (r, c) = i.local_pos();
        y[i] = tile[c * SQUARE + r];
    });
}

#[kernel]
fn elements<T: Value>(i: Item<2>, x: In<T, 2>, y: Out<T, 2>) {
    let (r, c) = i.pos();
    y[i] = x[(c, r)];
}

/// The same for rows of which the source has `rows`, each `row` after the other, in several layers;
/// columns of the result are `column` apart.
#[kernel(group = [1, DOWN, TILE])]
fn layers<T: Value>(
    g: Group<3>,
    rows: usize,
    columns: usize,
    row: usize,
    column: usize,
    layer_from: usize,
    layer_to: usize,
    x: In<T>,
    tile: Local<[T; 4], ITEMS>,
    y: Racy<T>,
) {
    let (layer, down, across) = g.pos();
    let (top, left) = (down * TILE, across * TILE);
    g.each(|i| {
        let (_, r, lane) = i.local_pos();
        let from = layer * layer_from + (left + (lane ^ r)).min(columns - 1);
        let r = top + r;
        tile[i] = if r + 3 * DOWN < rows {
            let (at, apart) = (from + r * row, DOWN * row);
            [x[at], x[at + apart], x[at + 2 * apart], x[at + 3 * apart]]
        } else {
            let last = rows - 1;
            [
                x[from + r.min(last) * row],
                x[from + (r + DOWN).min(last) * row],
                x[from + (r + 2 * DOWN).min(last) * row],
                x[from + (r + 3 * DOWN).min(last) * row],
            ]
        };
    });
    g.each(|i| {
        let (_, part, lane) = i.local_pos();
        let (r, c) = (lane % DOWN, part * (TILE / DOWN) + lane / DOWN);
        let own = tile[r * TILE + (c ^ r)];
        let (r, c) = (top + r, left + c);
        if c < columns {
            let to = layer * layer_to + c * column;
            if r + 3 * DOWN < rows {
                for turn in 0..4 {
                    y[to + r + turn * DOWN] = own[turn];
                }
            } else {
                for turn in 0..4 {
                    let row = r + turn * DOWN;
                    if row < rows {
                        y[to + row] = own[turn];
                    }
                }
            }
        }
    });
}

/// As [`layers`], where an item has a tile of its own.
#[kernel]
fn blocks<T: Value>(
    i: Item<3>,
    rows: usize,
    columns: usize,
    row: usize,
    column: usize,
    layer_from: usize,
    layer_to: usize,
    x: In<T>,
    y: Racy<T>,
) {
    let (layer, down, across) = i.pos();
    let (top, left) = (down * TILE, across * TILE);
    for c in left..(left + TILE).min(columns) {
        for r in top..(top + TILE).min(rows) {
            y[layer * layer_to + c * column + r] = x[layer * layer_from + r * row + c];
        }
    }
}

/// Elements one by one, of a result whose last two dimensions are `rows` and `columns`, from where
/// they are so far apart in each dimension.
#[kernel]
fn strided<T: Value>(i: Item, rows: usize, columns: usize, apart: [usize; 3], x: In<T>, y: Out<T>) {
    let k = i.index();
    let (layer, r, c) = (k / columns / rows, k / columns % rows, k % columns);
    y[i] = x[layer * apart[0] + r * apart[1] + c * apart[2]];
}

fn mismatch(label: &'static str, from: &[usize], to: &[usize], needed: &[usize]) -> Error {
    Error::Mismatch {
        what: "command",
        label: label.into(),
        source_extent: from.to_vec(),
        target: to.to_vec(),
        needed: Some(needed.to_vec()),
    }
}

/// Writes the element at `(r, c)` to `(c, r)`.
///
/// ```
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let x = rt.buffer_from((&[1, 2, 3, 4, 5, 6], [2, 3]))?;
/// let mut y = rt.buffer([3, 2])?;
/// folio::algorithms::transpose(&q, &x, &mut y)?;
/// assert_eq!(y.to_vec()?, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn transpose<T: DeviceType + Value>(
    q: &Queue,
    x: impl AsPart<T, 2>,
    mut y: impl AsPartMut<T, 2>,
) -> Result<()> {
    let (x, mut y) = (x.slice_all(), y.slice_all_mut());
    let [rows, columns] = x.range();
    if y.range() != [columns, rows] {
        return Err(mismatch("transpose", &[rows, columns], &y.range(), &[columns, rows]));
    }
    if rows * columns == 0 {
        return Ok(());
    }
    if q.split().is_some() {
        // A tile has more than its item's own element: a device computes rows of the result.
        q.spread(y.range(), elements::<T>(&x, &mut y))?;
        return Ok(());
    }
    if is_cpu(q) || !fits::<T>(q) {
        return by_squares(q, &x, &mut y);
    }
    let items = [rows.div_ceil(TILE) * DOWN, columns.div_ceil(TILE) * TILE];
    // SAFETY: each element of the result is of one tile, in which one item writes it; none is read.
    let shared = unsafe { racy_whole(&mut y) };
    q.run(items, tiles::<T>(&x, shared))?;
    Ok(())
}

/// Whole squares by way of local memory, and the others one by one.
fn by_squares<T: DeviceType + Value>(
    q: &Queue,
    x: &Slice<'_, T, 2>,
    y: &mut SliceMut<'_, T, 2>,
) -> Result<()> {
    let ([rows, columns], q) = (y.range(), &q.undivided());
    let is_large = size_of::<T>() * SQUARE * SQUARE > MOST;
    let whole = |n: usize| if is_large { 0 } else { n / SQUARE * SQUARE };
    let (r, c) = (whole(rows), whole(columns));
    if r * c > 0 {
        q.run([r, c], squares::<T>(x, &mut *y))?;
    }
    for rest in [[0..r, c..columns], [r..rows, 0..columns]] {
        if rest.iter().all(|range| !range.is_empty()) {
            q.run(rest, elements::<T>(x, &mut *y))?;
        }
    }
    Ok(())
}

fn is_cpu(q: &Queue) -> bool {
    q.device().info().kind == DeviceKind::Cpu
}

/// The device has room for a tile, and groups of its items.
fn fits<T>(q: &Queue) -> bool {
    size_of::<T>() * TILE * TILE <= MOST && q.device().limits().group_items >= ITEMS as u64
}

/// Brings axes into another order: axis `k` of the result is axis `axes[k]` of `x`, in up to three
/// dimensions.
///
/// ```
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let x = rt.buffer_from((&[1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 4]))?;
/// let mut y = rt.buffer([4, 1, 2])?;
/// folio::algorithms::permute(&q, [2, 0, 1], &x, &mut y)?;
/// assert_eq!(y.to_vec()?, [1, 5, 2, 6, 3, 7, 4, 8]);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn permute<T: DeviceType + Value, const D: usize>(
    q: &Queue,
    axes: [usize; D],
    x: impl AsPart<T, D>,
    mut y: impl AsPartMut<T, D>,
) -> Result<()> {
    let (x, mut y) = (x.slice_all(), y.slice_all_mut());
    let (from, to) = (x.range(), y.range());
    if (0..D).any(|axis| !axes.contains(&axis)) {
        let all: Vec<usize> = (0..D).collect();
        return Err(mismatch("permute", &axes, &to, &all));
    }
    let wanted = axes.map(|axis| from[axis]);
    if to != wanted {
        return Err(mismatch("permute", &from, &to, &wanted));
    }
    let (x, mut y) = (x.flat()?, y.flat_mut()?);
    if x.is_empty() {
        return Ok(());
    }
    let ahead = 3 - D;
    let shape =
        |of: &[usize; D]| std::array::from_fn(|dim| if dim < ahead { 1 } else { of[dim - ahead] });
    let axes = std::array::from_fn(|dim| if dim < ahead { dim } else { axes[dim - ahead] + ahead });
    Order { axes, from: shape(&from), to: shape(&to) }.run(q, &x, &mut y)
}

/// How far elements are apart in each dimension.
fn strides(shape: [usize; 3]) -> [usize; 3] {
    [shape[1] * shape[2], shape[2], 1]
}

/// An order of axes, as that of three dimensions.
struct Order {
    axes: [usize; 3],
    from: [usize; 3],
    to: [usize; 3],
}

impl Order {
    fn run<T: DeviceType + Value>(
        self,
        q: &Queue,
        x: &Slice<'_, T>,
        y: &mut SliceMut<'_, T>,
    ) -> Result<()> {
        let Order { axes, from, to } = self;
        let (apart, apart_to) = (strides(from), strides(to));
        let down = axes[2];
        if down == 2 || !fits::<T>(q) || q.split().is_some() {
            let apart = axes.map(|axis| apart[axis]);
            let items = y.range();
            // SAFETY: there is an item for each element.
            let all = unsafe { Overwritten::new(y) };
            q.share(items, strided::<T>(to[1], to[2], apart, x, all))?;
            return Ok(());
        }
        // Where an axis of the source is in the result.
        let is_at = |axis| usize::from(axes[1] == axis);
        let layer = 1 - down;
        let (rows, columns) = (from[down], from[2]);
        let (row, column) = (apart[down], apart_to[is_at(2)]);
        let (of_x, of_y) = (apart[layer], apart_to[is_at(layer)]);
        let [deep, down, across] = [from[layer], rows.div_ceil(TILE), columns.div_ceil(TILE)];
        // SAFETY: each element of the result is of one layer and tile, in which one item writes it;
        // none is read.
        let shared = unsafe { racy_whole(y) };
        if is_cpu(q) {
            let call = blocks::<T>(rows, columns, row, column, of_x, of_y, x, shared);
            q.run([deep, down, across], call)?;
        } else {
            let call = layers::<T>(rows, columns, row, column, of_x, of_y, x, shared);
            q.run([deep, down * DOWN, across * TILE], call)?;
        }
        Ok(())
    }
}
