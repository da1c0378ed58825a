//! The code of kernels for the CPU: for every instruction set the same bits, and bounds that are
//! looked at for whole blocks are looked at (semantics 5.2, 5.8, 7.5).
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use folio::ir::device::Instructions;
use folio::prelude::*;
use folio::{Cause, ViolationKind};

#[kernel]
fn mixed(i: Item, a: f32, x: In<f32>, y: InOut<f32>) {
    let before = y[i];
    y[i] = (a * x[i] + before).sin() * x[i].exp() + before.mul_add(a, x[i]);
}

#[kernel]
fn heat(i: Item<2>, k: f32, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    if r == 0 || c == 0 || r + 1 == x.shape()[0] || c + 1 == x.shape()[1] {
        y[i] = x[i];
        return;
    }
    let around = x[(r - 1, c)] + x[(r + 1, c)] + x[(r, c - 1)] + x[(r, c + 1)];
    y[i] = x[i] + k * (around - 4.0 * x[i]);
}

#[kernel]
fn product(i: Item<2>, a: In<f64, 2>, b: In<f64, 2>, y: Out<f64, 2>) {
    let (r, c) = i.pos();
    let mut sum = 0.0;
    for k in 0..a.shape()[1] {
        sum += a[(r, k)] * b[(k, c)];
    }
    y[i] = sum;
}

#[kernel]
fn gather(i: Item, at: In<u32>, x: In<f32>, y: Out<f32>) {
    y[i] = x[at[i]] / x[i];
}

/// Local memory, a phase with a loop, and both scans.
#[kernel]
fn grouped(g: Group, x: In<f32>, tile: Local<f32, 300>, y: Out<f32>) {
    let turns = g.size()[0];
    g.each(|i| tile[i] = x[i]);
    let sums = g.private(0.0);
    g.each(|i| {
        let own = tile[i];
        let mut sum = own;
        for k in 0..turns {
            sum = sum * 0.75 + tile[k] * own;
        }
        sums[i] = sum;
    });
    let up = g.inclusive_scan::<Add>(|i| sums[i]);
    let ranks = g.exclusive_scan::<Add>(|i| i.local_index() as u32);
    g.each(|i| y[i] = up[i] + ranks[i] as f32);
}

fn values(n: usize, from: f32) -> Vec<f32> {
    (0..n).map(|k| from + ((k * 7919) % 1009) as f32 * 0.0137).collect()
}

/// The bits of everything that the kernels above compute.
fn all(rt: &Runtime) -> Vec<u64> {
    let q = rt.queue().unwrap();
    let n = 10_007;
    let (x, mut y) =
        (rt.buffer_from(values(n, 0.1)).unwrap(), rt.buffer_from(values(n, 3.0)).unwrap());
    let mut bits = vec![];
    q.run(n, mixed(1.3, &x, &mut y)).unwrap();
    bits.extend(y.to_vec().unwrap().iter().map(|y| u64::from(y.to_bits())));

    let (rows, columns) = (97, 103);
    let x2 = rt.buffer_from((values(rows * columns, 0.0), [rows, columns])).unwrap();
    let mut y2 = rt.buffer::<f32, 2>([rows, columns]).unwrap();
    q.run(y2.range(), heat(0.2, &x2, &mut y2)).unwrap();
    bits.extend(y2.to_vec().unwrap().iter().map(|y| u64::from(y.to_bits())));

    let wide: Vec<f64> = values(rows * columns, 1.0).iter().map(|x| f64::from(*x).sqrt()).collect();
    let a = rt.buffer_from((&wide, [rows, columns])).unwrap();
    let b = rt.buffer_from((&wide, [columns, rows])).unwrap();
    let mut ab = rt.buffer::<f64, 2>([rows, rows]).unwrap();
    q.run(ab.range(), product(&a, &b, &mut ab)).unwrap();
    bits.extend(ab.to_vec().unwrap().iter().map(|y| y.to_bits()));

    let at: Vec<u32> = (0..n as u32).map(|k| k * 31 % n as u32).collect();
    let at = rt.buffer_from(&at).unwrap();
    q.run(n, gather(&at, &x, &mut y)).unwrap();
    bits.extend(y.to_vec().unwrap().iter().map(|y| u64::from(y.to_bits())));

    for size in [7, 64, 300] {
        let items = n / size * size;
        let mut y = rt.buffer::<f32, 1>(items).unwrap();
        q.run(Items::from(items).groups([size]), grouped(&x, &mut y)).unwrap();
        bits.extend(y.to_vec().unwrap().iter().map(|y| u64::from(y.to_bits())));
    }
    bits
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    let rt = folio::runtime().unwrap();
    assert_eq!(Instructions::Any.limit(), Instructions::Any);
    let plain = all(&rt);
    for better in [Instructions::Avx2, Instructions::Avx512] {
        if better.limit() != better {
            println!("left out: {better:?}, which this processor lacks");
            continue;
        }
        assert!(all(&rt) == plain, "{better:?}");
    }
}

/// The violation of a launch of so many items: the index and extent.
fn beyond(of: folio::Result<folio::Event>) -> (Vec<i64>, Vec<usize>) {
    let Err(Error::Failed(failure)) = of.unwrap().wait() else { panic!("nothing failed") };
    let Cause::Kernel(violation) = failure.cause() else { panic!("{failure}") };
    match &violation.kind {
        ViolationKind::OutOfBounds { index, extent, .. } => (index.clone(), extent.clone()),
        other => panic!("{other:?}"),
    }
}

#[kernel]
fn shifted(i: Item, by: usize, x: In<f32>, y: Out<f32>) {
    y[i] = x[i + by];
}

#[kernel]
fn folded(i: Item, first: i32, less: usize, x: In<f32>, y: Out<f32>) {
    let mut sum = x[first];
    for k in 0..x.len() - less {
        sum += x[k];
        if k > 200 {
            break;
        }
    }
    y[i] = sum;
}

/// KRN-03: blocks that are taken as a whole are as checked as single items, at both of their ends.
#[test]
fn large_launches_are_checked() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    let n = 4000;
    let x = rt.buffer_from(vec![1.0f32; n]).unwrap();
    let mut y = rt.buffer::<f32, 1>(n).unwrap();
    assert_eq!(beyond(q.run(n, shifted(1, &x, &mut y))), (vec![n as i64], vec![n]));
    // The index wraps: item 0 reads -1.
    assert_eq!(beyond(q.run(n, shifted(usize::MAX, &x, &mut y))), (vec![-1], vec![n]));
    // Far beyond the end of the world, and back.
    let (index, _) = beyond(q.run(n, shifted(1 << 63, &x, &mut y)));
    assert!(index[0] < 0 && index[0] - i64::MIN < n as i64);
    q.run(n - 1, shifted(1, &x, &mut y)).unwrap().wait().unwrap();
    // Loops with ends that wrap, and narrow indices below 0.
    assert_eq!(beyond(q.run(100, folded(-1, 0, &x, &mut y))), (vec![-1], vec![n]));
    let short = rt.buffer_from(&[1.0f32; 10]).unwrap();
    let (index, extent) = beyond(q.run(100, folded(0, 11, &short, &mut y)));
    assert!((10..=201).contains(&index[0]) && extent == [10], "{index:?}");
    q.run(100, folded(0, 10, &short, &mut y)).unwrap().wait().unwrap();
}

/// A kernel in which the user's name for an index is also one of the macro's own.
macro_rules! with_name {
    ($name:ident, $x:ident, $k:ident, $read:expr) => {
        #[kernel]
        fn $name(i: Item, $k: usize, $x: In<f32>, y: Out<f32>) {
            let k = 0usize;
            y[i] = $read + $x[k];
        }
    };
}
with_name!(from_macro, x, k, x[k]);

/// The arrays of a loop are one by name, and two by their macros.
macro_rules! beside {
    ($name:ident, $a:ident, $before:stmt) => {
        #[kernel]
        fn $name(i: Item, y: Out<f32>) {
            $before;
            let a = [1.0, 2.0];
            let mut sum = i.index() as f32;
            for (x, z) in $a.iter().zip(a.iter()) {
                sum = sum * 10.0 + x * z;
            }
            y[i] = sum;
        }
    };
}
beside!(of_two_macros, a, let a = [3.0, 4.0, 5.0]);

/// A macro's `k` is not the user's.
#[test]
fn names_of_macros_are_others() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    let x = rt.buffer_from(values(100, 5.0)).unwrap();
    let mut y = rt.buffer::<f32, 1>(100).unwrap();
    q.run(100, from_macro(7, &x, &mut y)).unwrap();
    let values = values(100, 5.0);
    assert_eq!(y.to_vec().unwrap()[99], values[7] + values[0]);
    assert_eq!(beyond(q.run(100, from_macro(100, &x, &mut y))), (vec![100], vec![100]));
    let mut sums = rt.buffer::<f32, 1>(2).unwrap();
    q.run(2, of_two_macros(&mut sums)).unwrap();
    assert_eq!(sums.to_vec().unwrap(), [38.0, 138.0]);
}
