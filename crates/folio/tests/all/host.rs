//! Kernels on slices, without a runtime.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "tests")]

use folio::prelude::*;
use folio::{Cause, Violation, ViolationKind};

#[kernel]
fn saxpy(i: Item, a: f32, x: In<f32>, y: InOut<f32>) {
    y[i] = a * x[i] + y[i];
}

/// An element without bytes.
#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Mark {}

#[kernel]
fn marks(i: Item, y: Scatter<Mark>) {
    y[i.index()] = Mark {};
}

#[kernel]
fn red(i: Item, y: RedBlack<u32, 0, 1>) {
    y[i] += 1;
}

#[kernel]
fn scale<T: Number>(i: Item, by: T, x: InOut<T>) {
    x[i] = by * x[i];
}

#[kernel]
fn transpose(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    y[i] = x[(c, r)];
}

#[kernel]
fn every_kind(
    i: Item,
    pair: OutChunk<u32, 2>,
    row: OutRow<u32>,
    more: InOutRow<u32>,
    column: OutColumn<u32>,
    bins: Atomic<u32>,
    sum: Reduce<u32, Add>,
) {
    let k = i.index() as u32;
    pair[i] = [k, k + 1];
    for c in 0..row.shape()[1] {
        row[(i, c)] = k * 10 + c as u32;
        more[(i, c)] += 1;
    }
    for r in 0..column.shape()[0] {
        column[(r, i)] = k + r as u32;
    }
    bins.add(k % 2, k);
    sum.give(k);
}

#[kernel]
fn turns(i: Item, count: Racy<u32>, at: Racy<u32>) {
    count[0] += 1;
    at[i.index()] = count[0];
}

#[kernel]
fn group_sums(
    g: Group,
    x: In<f32>,
    tile: Local<f32, 4>,
    sums: OutGroup<f32>,
    total: Reduce<f32, Add>,
) {
    g.each(|i| {
        tile[i] = x[i];
        total.give(x[i]);
    });
    let mut sum = 0.0;
    for k in 0..4 {
        sum += tile[k];
    }
    sums[g] = sum;
}

#[kernel]
fn picks(i: Item, at: In<u32>, x: In<f32>, y: Out<f32>) {
    assert!(at[i] != 7, "seven");
    y[i] = x[at[i]] / 2.0;
}

fn violation(result: folio::Result<()>) -> Violation {
    let Err(Error::Failed(failure)) = result else { unreachable!("{result:?}") };
    let Cause::Kernel(violation) = failure.cause() else { unreachable!("{failure}") };
    assert_eq!(failure.device(), "host");
    (**violation).clone()
}

/// KRN-01: a kernel is run by a unit test as a function is.
#[test]
fn slices_are_arguments() {
    let (x, mut y) = (vec![1.0; 10], [0.5; 10]);
    saxpy::host(2..10, 2.0, &x, &mut y).unwrap();
    assert_eq!(y, [0.5, 0.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5]);
    saxpy::host(2, 1.0, &x[8..], &mut y[..2]).unwrap();
    assert_eq!(y[..3], [1.5, 1.5, 2.5]);
    let mut numbers = vec![1u8, 100, 200];
    scale::host(3, 3, &mut numbers).unwrap();
    assert_eq!(numbers, [3, 44, 88]);
    let mut out = [0.0; 6];
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    transpose::host([3, 2], (&x, [2, 3]), (&mut out, [3, 2])).unwrap();
    assert_eq!(out, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    transpose::host((2, 3), (&out, (3, 2)), (&mut y[..6], (2, 3))).unwrap();
    assert_eq!(y[..6], x);
}

#[test]
fn every_kind_of_parameter() {
    let (mut pair, mut row, mut more) = ([[9; 2]; 3], [9; 6], vec![1; 6]);
    let (mut bins, mut sum) = ([1; 2], [77]);
    let rows = [3, 2];
    let mut column = [0; 6];
    let columns = (&mut column, [2, 3]);
    let (row_of, more_of) = ((&mut row, rows), (&mut more, rows));
    every_kind::host(3, &mut pair, row_of, more_of, columns, &mut bins, &mut sum).unwrap();
    assert_eq!(column, [0, 1, 2, 1, 2, 3]);
    assert_eq!(pair, [[0, 1], [1, 2], [2, 3]]);
    assert_eq!((row, more), ([0, 1, 10, 11, 20, 21], vec![2; 6]));
    assert_eq!((bins, sum), ([3, 2], [3]));
    let (x, mut sums, mut total) = ([1.0; 8], [0.0; 2], [5.0]);
    let items = Items::from(8).groups([4]);
    group_sums::host(items, &x, &mut sums, &mut total).unwrap();
    assert_eq!((sums, total), ([4.0; 2], [8.0]));
    // Without items nothing is written.
    group_sums::host(Items::from(0).groups([4]), &x, &mut sums, &mut total).unwrap();
    assert_eq!((sums, total), ([4.0; 2], [8.0]));
}

/// Items run one after the other, in row-major order: even what may race does not.
#[test]
fn items_have_their_turns() {
    let (mut count, mut at) = ([0], [0; 1000]);
    turns::host(1000, &mut count, &mut at).unwrap();
    assert!(at.into_iter().eq(1..=1000));
}

/// KRN-03, KRN-07: what fails a command is an error here, and says where.
#[test]
fn violations_are_errors() {
    let (x, mut y) = ([1.0; 4], [9.0; 3]);
    let found = violation(picks::host(3, &[1, 4, 2], &x, &mut y));
    let wanted =
        ViolationKind::OutOfBounds { param: Some("x".to_owned()), index: vec![4], extent: vec![4] };
    assert_eq!((found.kernel.as_str(), &found.kind), ("picks", &wanted));
    assert!(found.site.file.ends_with("host.rs") && found.site.line > 0, "{found}");
    let found = violation(picks::host(1, &[7], &x, &mut y));
    assert_eq!(found.kind, ViolationKind::Assertion);
    assert_eq!(found.site.message.as_deref(), Some("seven"));
}

#[test]
fn launches_that_do_not_fit_are_refused() {
    let (x, mut y) = ([1.0; 4], [0.0; 4]);
    let refused = saxpy::host(1..5, 1.0, &x, &mut y).unwrap_err();
    assert!(matches!(refused, Error::LaunchTooLarge { access: 1, .. }), "{refused}");
    assert!(saxpy::host(usize::MAX - 1..usize::MAX, 1.0, &x, &mut y).is_err());
    let refused = transpose::host([2, 2], (&x, [2, 2]), (&mut y, [3, 2])).unwrap_err();
    assert_eq!(refused.to_string(), "slice: `y` has 4 elements, not [3, 2]");
    let refused = transpose::host([1, 1], (&x, [usize::MAX, 2]), (&mut y, [2, 2])).unwrap_err();
    assert!(matches!(refused, Error::Configuration { .. }), "{refused}");
    let (mut sums, mut total) = ([0.0; 1], [0.0]);
    let refused = group_sums::host(8, &x, &mut sums, &mut total).unwrap_err();
    assert!(matches!(refused, Error::GroupSize { .. }), "{refused}");
    let grouped = Items::from(8).groups([4]);
    let refused = group_sums::host(grouped, &x, &mut sums, &mut total).unwrap_err();
    assert!(matches!(refused, Error::LaunchTooLarge { .. }), "{refused}");
    let vast = Items::from(1 << 40).groups([1 << 40]);
    let refused = group_sums::host(vast, &x, &mut sums, &mut total).unwrap_err();
    assert!(refused.to_string().contains("256 MiB"), "{refused}");
    let refused = marks::host(1, &mut [Mark {}; 1 << 62][..]).unwrap_err();
    assert!(matches!(refused, Error::TooLarge { .. }), "{refused}");
    // Cells whose numbers would wrap are no cells.
    let refused = red::host(1 << 63..(1 << 63) + 1, (&mut [0; 2], [2])).unwrap_err();
    assert!(matches!(refused, Error::LaunchRange { .. }), "{refused}");
    let none: &mut [f32] = &mut [];
    let grouped = Items::from(4).groups([4]);
    let refused = group_sums::host(grouped, &x, &mut sums, none).unwrap_err();
    assert!(matches!(refused, Error::NoElement { access: 2, .. }), "{refused}");
}
