//! Guards that some items in the middle are for: sources, rows, areas.

use super::*;
use folio::ir::device::items_by_form as of_block;

// A point; and indices that are held to the border.
both!(heated, plain_heated: |i, n, x, y| {
    let (r, c) = i.pos();
    let (rows, columns) = (x.shape()[0], x.shape()[1]);
    let across = x[(r, c.max(1) - 1)] + x[(r, (c + 1).min(columns - 1))];
    let mut v = across * x[(r.max(1) - 1, c)] - x[((r + 1).min(rows - 1), c)];
    if r == rows / 2 && c == columns / 2 {
        v += 3.0;
    }
    y[i] = v;
});

both!(nested, plain_nested: |i, n, x, y| {
    let (r, c) = i.pos();
    let (rows, columns) = (x.shape()[0], x.shape()[1]);
    if r == 0 || c == 0 || r == rows - 1 || columns - 1 == c {
        y[i] = -x[i];
        return;
    }
    let mut v = x[(r - 1, c)] + x[(r + 1, c)] - x[(r, c - 1)] * x[(r, c + 1)];
    if r == n + 1 {
        if c == n {
            v += 1.0;
        } else if c == 2 * n + 1 || c == columns - 2 {
            v -= 1.0;
        }
    }
    if !(r != 2 && c != 3) {
        v *= 0.5;
    }
    y[i] = v;
});

both!(chosen, plain_chosen: |i, n, x, y| {
    let (r, c) = i.pos();
    let columns = x.shape()[1];
    let v = match c {
        0 => 1.0,
        last if last + 1 == columns => 2.0 * last as f32,
        40..=41 | 60 => 3.0,
        _ => x[(r, c - 1)] + x[(r, c + 1)],
    };
    y[i] = match (r, c) {
        (0, _) | (_, 2) => v - 1.0,
        (2..4, 5) if n > 1 => v * 2.0,
        (above, left) if above == n && left == 1 => v * 4.0,
        _ => v + x[(r - 1, c)],
    };
});

both!(named, plain_named: |i, n, x, y| {
    let (r, c) = i.pos();
    let (rows, columns) = (x.shape()[0], x.shape()[1]);
    let inner = r > 0 && c > 0 && r + 1 < rows && c + 1 < columns;
    let hot = r == n && c == columns / 3;
    let (flag, mut v) = (n > 0, if inner { x[(r - 1, c + 1)] } else { 0.25 });
    if !inner || hot {
        v += 1.0;
    }
    if flag && hot && c > 7 {
        v += 2.0;
    }
    if hot || r * 2 == rows {
        v -= x[i];
    }
    y[i] = v;
});

both!(area, plain_area: |i, n, x, y| {
    let (r, c) = i.pos();
    let mut v = x[(r.saturating_sub(1), c.saturating_sub(n))];
    if r >= n && r < n + 3 && c >= 2 * n && c < 2 * n + 20 {
        v += x[i];
    }
    if c < x.shape()[1] / 2 {
        v *= 0.5;
    }
    y[i] = v;
});

/// As at borders.
#[test]
fn guards_of_few_items_are_what_items_do_one_by_one() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    for set in [Instructions::Any, Instructions::Avx2, Instructions::Avx512] {
        set.limit();
        equal! { rt, q:
            heated plain_heated 1
            nested plain_nested 2
            chosen plain_chosen 3
            named plain_named 1
            area plain_area 1
        }
    }
}

/// How many items of all of a grid of this shape are computed with checks, without, and in the
/// interior, where the number is `n`.
fn items_by_form<K: Kernel>(shape: [usize; 2], n: u64) -> [usize; 3] {
    let block = Positions { min: [0; 3], max: [1, shape[0], shape[1]] };
    let launch = Launched::new(block.min, block.max, [1; 3], 0);
    // SAFETY: it looks at shapes and scalars; no memory is read.
    unsafe { of_block::<K>(&[n], &[view(shape); 2], &block, &launch) }
}

/// Only the items that a guard is for are not of the interior: a guard of one point costs its point
/// and no more, in whatever way it is written.
#[test]
fn guards_of_few_items_leave_the_others_in_the_interior() {
    let (shape, all) = ([200, 300], 200 * 300);
    let border = all - 198 * 298;
    // Reads at the border are proved, as their indices are held to it.
    assert_eq!(items_by_form::<heated>(shape, 0), [0, border + 1, all - border - 1]);
    // A row, a row and a column more, but not where those are of the border.
    let [checked, proved, interior] = items_by_form::<nested>(shape, 20);
    assert_eq!((checked, proved, interior), (border, 2 * 298 + 198 - 2, 196 * 297));
    // Rows 0, and columns 0, 2, 40, 41, 60, 299, and a point of row 2 to 4 in column 5.
    let [checked, proved, interior] = items_by_form::<chosen>(shape, 20);
    assert_eq!((checked, proved + interior), (200 + 200 + 298, 199 * 298));
    assert_eq!(interior, 199 * (300 - 6) - 2 - 1);
    // The place of the number is not looked at.
    let [checked, proved, interior] = items_by_form::<area>(shape, 20);
    assert_eq!((checked, proved, interior), (0, all - 199 * 280, 199 * 280));
    // The border, row 100 and a point.
    let [checked, proved, interior] = items_by_form::<named>(shape, 20);
    assert_eq!((checked, proved + interior), (300 + 199, 199 * 299));
    assert_eq!(interior, 197 * 298 - 1);
    assert_eq!(items_by_form::<plainly>(shape, 20), [20 * 300, 0, 180 * 300]);
}

#[kernel]
fn held_sum(i: Item<2>, x: In<f32, 2>, y: InOut<f32, 2>, sum: Reduce<f32, Add>) {
    let (r, c) = i.pos();
    let across = x[(r, c.max(1) - 1)] + x[(r, (c + 1).min(x.shape()[1] - 1))];
    let mut v = across * x[(r.max(1) - 1, c)];
    if r == x.shape()[0] / 2 {
        v -= 2.0;
    }
    y[i] = v;
    sum.give(v);
}

#[kernel]
fn plain_sum(i: Item<2>, y: In<f32, 2>, sum: Reduce<f32, Add>) {
    sum.give(y[i]);
}

/// KRN-04: what values come to does not depend on the parts in which their items are computed.
#[test]
fn sums_of_blocks_with_a_border_are_those_of_whole_ones() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    for shape in [[1, 1], [7, 9], [64, 130], [300, 257], [20_000, 5]] {
        let data = values(shape[0] * shape[1]);
        let x = rt.buffer_from((&data, shape)).unwrap();
        let mut y = rt.buffer::<f32, 2>(shape).unwrap();
        let mut sums = [rt.buffer::<f32, 1>(1).unwrap(), rt.buffer::<f32, 1>(1).unwrap()];
        q.run(shape, held_sum(&x, &mut y, &mut sums[0])).unwrap();
        q.run(shape, plain_sum(&y, &mut sums[1])).unwrap();
        let [cut, whole] = sums.map(|sum| sum.to_vec().unwrap()[0].to_bits());
        assert_eq!(cut, whole, "{shape:?}");
    }
}
