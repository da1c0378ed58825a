//! The kernels with which tests write some data on a device. They are few, as some devices take a
//! while to compile each of them.

use folio::prelude::*;

#[kernel]
pub(super) fn puts<T: Number>(i: Item, value: T, x: Out<T>) {
    x[i] = value;
}

#[kernel]
pub(super) fn puts_2<T: Number>(i: Item<2>, value: T, x: Out<T, 2>) {
    x[i] = value;
}

#[kernel]
pub(super) fn adds<T: Number>(i: Item, n: T, x: InOut<T>) {
    x[i] = x[i] + n;
}

#[kernel]
pub(super) fn adds_2<T: Number>(i: Item<2>, n: T, x: InOut<T, 2>) {
    x[i] = x[i] + n;
}

#[kernel]
pub(super) fn ramps(i: Item, first: u64, x: InOut<u64>) {
    x[i] += first + i.index() as u64;
}

/// The results tell in which order it ran with which numbers.
#[kernel]
pub(super) fn turns(i: Item, factor: i64, term: i64, x: InOut<i64>) {
    x[i] = (x[i] * factor + term) % 1_000_003;
}

#[kernel]
pub(super) fn turns_both(i: Item, factor: i64, term: i64, x: InOut<i64>, y: InOut<i64>) {
    x[i] = (x[i] * factor + term) % 1_000_003;
    y[i] = (y[i] * factor + term) % 1_000_003;
}

#[kernel]
pub(super) fn counts_both(i: Item, x: InOut<i32>, y: InOut<i32>) {
    x[i] += 1;
    y[i] += 1;
}

#[kernel]
pub(super) fn adds_up(i: Item, x: In<i32>, y: InOut<i32>) {
    y[i] = y[i] * 3 + x[i];
}

#[kernel]
pub(super) fn sums_up(i: Item, x: In<i32>, sum: Reduce<i32, Add>) {
    sum.give(x[i]);
}

#[kernel]
pub(super) fn adds_ten_times(i: Item, x: In<i32>, y: InOut<i32>) {
    y[i] += 10 * x[i];
}

#[kernel]
pub(super) fn fills_three(i: Item, a: Out<i32>, b: Out<i32>, c: InOut<i32>) {
    a[i] = 1;
    b[i] = 2;
    c[i] += 3;
}

#[kernel]
pub(super) fn compares(_i: Item, a: In<i32>, b: In<i32>) {
    assert!(a[2] == b[1]);
}

/// Four accesses of all kinds.
#[kernel]
pub(super) fn takes_four(i: Item, a: InOut<u8>, b: In<u8>, c: In<u8>, d: Out<u8>) {
    a[i] = a[i] + b[i] + c[i];
    d[i] = 9;
}

/// Fails at one item. The others write what is there.
#[kernel]
pub(super) fn fails(i: Item, at: usize, x: InOut<i32>) {
    if i.index() == at {
        panic!("on purpose");
    }
    x[i] = x[i];
}

/// Each row of a slice that begins `skip` rows before what is written.
#[kernel]
pub(super) fn smooths(i: Item<2>, skip: usize, x: In<i32, 2>, y: Out<i32, 2>) {
    let (r, c) = i.pos();
    let row = r + skip;
    let up = if row > 0 { x[(row - 1, c)] } else { 0 };
    let down = if row + 1 < x.shape()[0] { x[(row + 1, c)] } else { 0 };
    y[i] = up + 2 * x[(row, c)] + down;
}

#[kernel]
pub(super) fn places(i: Item<3>, x: Out<i32, 3>) {
    let (a, b, c) = i.pos();
    x[i] = (100 * a + 10 * b + c) as i32 + 1;
}

#[kernel]
pub(super) fn extents(i: Item, a: In<i32>, b: In<i32>, x: Out<i32>) {
    x[i] = 7 + (a.len() + b.len()) as i32;
}
