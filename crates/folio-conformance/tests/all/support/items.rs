//! Launches in which a thread may compute several items.

use folio::prelude::*;
use folio_core::hal::Backend;

#[kernel]
fn blend(i: Item<2>, s: f32, x: In<f32, 2>, y: InOut<f32, 2>) {
    y[i] = s * x[i] + y[i];
}

/// Launches over arrays of these rows and columns compute every item once, and leave what is beside
/// them alone: whatever is left over at the end of rows.
#[track_caller]
pub fn every_item_once(backend: impl Backend + 'static, shapes: &[(usize, usize)]) {
    let rt = Runtime::builder().backend(backend).build().unwrap();
    let q = rt.queue_on(&rt.devices()[0]).unwrap();
    for &(rows, columns) in shapes {
        let n = rows * columns;
        let x: Vec<f32> = (0..n).map(|k| (k % 1000) as f32).collect();
        let from = rt.buffer_from((&x, [rows, columns])).unwrap();
        for edge in [0, 1] {
            let mut to = rt.buffer_from((&x, [rows, columns])).unwrap();
            let edge_rows = if rows == 1 { 0 } else { edge };
            let items = [edge_rows..rows - edge_rows, edge..columns - edge];
            q.run(items.clone(), blend(2.0, &from, &mut to)).unwrap();
            for (k, y) in to.to_vec().unwrap().into_iter().enumerate() {
                let (r, c) = (k / columns, k % columns);
                let inside = items[0].contains(&r) && items[1].contains(&c);
                let expected = if inside { 3.0 * x[k] } else { x[k] };
                assert_eq!(y, expected, "{rows} x {columns}, edge {edge}: ({r}, {c})");
            }
        }
    }
}
