//! Rows as columns.

use crate::prelude::*;
use folio::Error;

/// Rows and columns of a tile, which goes by way of local memory.
const TILE: usize = 16;
/// Bytes of a tile at most: what all devices have.
const MOST: usize = 16 << 10;

#[kernel(group = [TILE, TILE])]
fn tiles<T: Value>(g: Group<2>, x: In<T, 2>, tile: Local<T, 256>, y: Out<T, 2>) {
    let (row, column) = g.pos();
    g.each(|i| {
        let (r, c) = i.local_pos();
        tile[i] = x[(column * TILE + r, row * TILE + c)];
    });
    g.each(|i| {
        let (r, c) = i.local_pos();
        y[i] = tile[c * TILE + r];
    });
}

#[kernel]
fn elements<T: Value>(i: Item<2>, x: In<T, 2>, y: Out<T, 2>) {
    let (r, c) = i.pos();
    y[i] = x[(c, r)];
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
    let ([rows, columns], from) = (y.range(), x.range());
    if from != [columns, rows] {
        let [wanted_columns, wanted_rows] = from;
        return Err(Error::Mismatch {
            what: "command",
            label: "transpose".into(),
            source_extent: from.to_vec(),
            target: vec![rows, columns],
            needed: Some(vec![wanted_rows, wanted_columns]),
        });
    }
    let tiled = |n: usize| if size_of::<T>() * TILE * TILE > MOST { 0 } else { n / TILE * TILE };
    let (r, c) = (tiled(rows), tiled(columns));
    if r * c > 0 {
        q.run([r, c], tiles::<T>(&x, &mut y))?;
    }
    for rest in [[0..r, c..columns], [r..rows, 0..columns]] {
        if rest.iter().all(|range| !range.is_empty()) {
            q.run(rest, elements::<T>(&x, &mut y))?;
        }
    }
    Ok(())
}
