//! Positions and extents as arrays and as tuples: both forms compute the same.
#![forbid(unsafe_code)]

use super::*;

#[kernel]
fn as_arrays(i: Item<2>, x: In<i32, 2>, n: Atomic<u32, 2>, y: Out<i32, 2>) {
    let [r, c] = i.pos();
    let [rows, columns] = x.shape();
    let [last_row, last] = [rows - 1, columns - 1];
    n.add([r % 2, 0], 1);
    let opposite = [last_row - r, last - c];
    let mut sum = x[[r, c]] * 3 + x[[last_row - r, c]] - x[[r, (c + 1) % columns]];
    for k in 0..columns {
        sum += x[[0, k]] * x[opposite];
    }
    y[i] = sum;
}

#[kernel]
fn as_tuples(i: Item<2>, x: In<i32, 2>, n: Atomic<u32, 2>, y: Out<i32, 2>) {
    let (r, c) = i.pos();
    let (rows, columns) = x.shape();
    let (last_row, last) = (rows - 1, columns - 1);
    n.add((r % 2, 0), 1);
    let opposite = (last_row - r, last - c);
    let mut sum = x[(r, c)] * 3 + x[(last_row - r, c)] - x[(r, (c + 1) % columns)];
    for k in 0..columns {
        sum += x[(0, k)] * x[opposite];
    }
    y[i] = sum;
}

#[kernel]
fn by_numbers(i: Item<2>, x: In<i32, 2>, n: Atomic<u32, 2>, y: Out<i32, 2>) {
    let p = i.pos();
    let shape = x.shape();
    n.add([i.pos()[0] % 2, 0], 1);
    let last = shape[0] - 1;
    let mut sum = x[[p[0], p[1]]] * 3 + x[[last - i.pos()[0], (p)[1]]];
    sum -= x[[p[0], (p[1] + 1) % shape[1]]];
    for k in 0..shape[1] {
        sum += x[[0, k]] * x[[last - p[0], shape[1] - 1 - p.1]];
    }
    y[i] = sum + (x.len() - 35) as i32;
}

#[kernel]
fn turned(i: Item<3>, x: In<u16, 3>, y: Out<u16, 3>) {
    let [a, b, c] = i.pos();
    let (l, m, n) = x.shape();
    y[i] = x[[l - 1 - a, m - 1 - b, n - 1 - c]] - x[[a, b, c]] * x[(a, b, 0)] + x.len() as u16;
}

#[kernel]
fn in_groups(g: Group<2>, x: In<i32, 2>, y: Out<i32, 2>) {
    let (h, w) = g.size();
    let [row, column] = g.pos();
    let (down, across) = g.count();
    g.each(|i| {
        let p = i.local_pos();
        let own = x[[row * h + p[0], column * w + p[1]]];
        y[i] = own * (p[0] * w + i.local_pos()[1]) as i32 - (down * across) as i32;
    });
}

#[kernel]
fn of_rows(i: Item, x: In<i32, 2>, y: OutRow<i32>) {
    let [_, columns] = y.shape();
    for c in 0..columns {
        y[[i, c]] = x[[i, columns - 1 - c]];
    }
}

fn plane(k: usize) -> i32 {
    (k * k % 101) as i32 - 50
}

/// KRN-01
pub(super) fn positions_are_arrays_and_tuples(rig: &Rig) -> Outcome {
    let (x, n, y) = (data([5, 7], plane), data([2, 1], |_| 0u32), data([5, 7], |_| 0));
    let args = || vec![x.arg(), n.arg(), y.arg()];
    fine(agree::<as_arrays>(rig, &[5, 7], args(), |rt, q| {
        let (x, mut n, mut y) = (x.buffer(rt)?, n.buffer(rt)?, y.buffer(rt)?);
        q.run((5, 7), as_arrays(&x, &mut n, &mut y))?;
        Ok(vec![contents(&n)?, contents(&y)?])
    })?)?;
    fine(agree::<as_tuples>(rig, &[5, 7], args(), |rt, q| {
        let (x, mut n, mut y) = (x.buffer(rt)?, n.buffer(rt)?, y.buffer(rt)?);
        q.run([5, 7], as_tuples(&x, &mut n, &mut y))?;
        Ok(vec![contents(&n)?, contents(&y)?])
    })?)?;
    fine(agree::<by_numbers>(rig, &[5, 7], args(), |rt, q| {
        let (x, mut n, mut y) = (x.buffer(rt)?, n.buffer(rt)?, y.buffer(rt)?);
        q.run([5, 7], by_numbers(&x, &mut n, &mut y))?;
        Ok(vec![contents(&n)?, contents(&y)?])
    })?)?;
    let (q, m) = (rig.on(0)?, x.buffer(&rig.rt)?);
    let zeros = || rig.rt.buffer([5, 7]);
    let (mut n, mut y) = (rig.rt.buffer([2, 1])?, [zeros()?, zeros()?, zeros()?]);
    q.run((5, 7), as_arrays(&m, &mut n, &mut y[0]))?;
    q.run([5, 7], as_tuples(&m, &mut n, &mut y[1]))?;
    q.run([5, 7], by_numbers(&m, &mut n, &mut y[2]))?;
    ensure_eq!(y[0].to_vec()?, y[1].to_vec()?);
    ensure_eq!(y[0].to_vec()?, y[2].to_vec()?);
    ensure_eq!(n.to_vec()?, [63, 42]);
    let (x, y) = (data([3, 4, 5], |k| (k * 7) as u16), data([3, 4, 5], |_| 0u16));
    fine(agree::<turned>(rig, &[3, 4, 5], vec![x.arg(), y.arg()], |rt, q| {
        let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
        q.run((3, 4, 5), turned(&x, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)?;
    let (x, y) = (data([4, 6], plane), data([4, 6], |_| 0));
    fine(agree::<of_rows>(rig, &[4], vec![x.arg(), y.arg()], |rt, q| {
        let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
        q.run(4, of_rows(&x, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)?;
    fine(agree_in::<in_groups>(rig, (&[4, 6], Some(&[2, 3])), vec![x.arg(), y.arg()], |rt, q| {
        let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
        q.run(Items::from((4, 6)).groups([2, 3]), in_groups(&x, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)
}
