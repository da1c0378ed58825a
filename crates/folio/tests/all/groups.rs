//! Phases whose items are computed in strips, and without tests of indices where those of a block
//! cannot be outside, give what their items give one by one; and a block with indices outside says
//! so.
#![forbid(unsafe_code)]
#![deny(rust_2018_idioms)]
#![allow(clippy::unwrap_used, reason = "tests")]

use folio::combine::{Add, Mul};
use folio::ir::device::Combine;
use folio::prelude::*;

fn values(n: usize) -> Vec<f32> {
    (0..n).map(|k| 0.5 + (k * 7919 % 1009) as f32 / 1009.0).collect()
}

/// Bits, so that NaNs are equal.
fn bits(of: &[f32]) -> Vec<u32> {
    of.iter().map(|x| x.to_bits()).collect()
}

/// Loops in loops, what is kept from one to the next and from phase to phase, and names that hide
/// names.
#[kernel]
fn folds(g: Group, n: usize, x: In<f32>, tile: Local<f32, 200>, y: InOut<f32>) {
    let acc = g.private(1.0);
    let turns = n + g.size()[0] / 2;
    for t in 0..g.count()[0] {
        g.each(|i| {
            let (own, at) = (x[i], i.local_index());
            tile[i] = own + x[t * g.size()[0] + at];
        });
        g.each(|i| {
            let own = tile[i];
            let mut sum = acc[i];
            let twice = 2 * turns;
            for j in 0..turns {
                let other = x[j] - own;
                for k in (0..n + 17).rev() {
                    sum = sum * 0.5 + x[k] * other;
                }
                let own = sum;
                if own > 1.0 {
                    sum = own - 1.0;
                }
            }
            for j in 0..twice {
                sum += x[j % 7];
            }
            acc[i] = sum;
        });
    }
    g.each(|i| y[i] = y[i] + acc[i]);
}

#[test]
fn phases_compute_what_items_do_one_by_one() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    for (groups, size, n) in [(1, 200, 0), (3, 130, 5), (4, 8, 20), (2, 17, 1), (5, 3, 9)] {
        let (items, turns) = (groups * size, n + size / 2);
        let x = values(items.max(turns).max(n + 17));
        let mut expected = values(items);
        for (i, y) in expected.iter_mut().enumerate() {
            let mut sum = 1.0f32;
            for t in 0..groups {
                let own = x[i] + x[t * size + i % size];
                for j in 0..turns {
                    (0..n + 17).rev().for_each(|k| sum = sum * 0.5 + x[k] * (x[j] - own));
                    if sum > 1.0 {
                        sum -= 1.0;
                    }
                }
                (0..2 * turns).for_each(|j| sum += x[j % 7]);
            }
            *y += sum;
        }
        let (on_device, mut y) =
            (rt.buffer_from(&x).unwrap(), rt.buffer_from(values(items)).unwrap());
        q.run(Items::from(items).groups([size]), folds(n, &on_device, &mut y)).unwrap();
        assert_eq!(bits(&y.to_vec().unwrap()), bits(&expected), "{groups} of {size}, n {n}");
    }
}

/// In three dimensions, of which the last is the strips'.
#[kernel]
fn places(g: Group<3>, n: usize, x: In<f32>, tile: Local<f32, 120>, y: Out<f32, 3>) {
    g.each(|i| {
        let ((a, b, c), (z, r, k)) = (i.local_pos(), i.pos());
        tile[i] = (100 * a + 10 * b + c) as f32 + x[(z + r + k) % 64];
    });
    let (first, _, last) = g.pos();
    g.each(|i| {
        let (z, _, c) = i.local_pos();
        let mut sum = 0.0;
        for k in 0..n {
            let (across, down) = ((k + c) % 10, k % 3);
            sum = sum * 0.5 + tile[(z * 3 + down) * 10 + across];
        }
        y[i] = sum + (first * 1000 + last) as f32;
    });
}

#[test]
fn phases_know_positions_in_three_dimensions() {
    let (rt, size, groups) = (folio::runtime().unwrap(), [4, 3, 10], [2, 2, 3]);
    let range: [usize; 3] = std::array::from_fn(|dim| size[dim] * groups[dim]);
    let (x, n) = (values(64), 40);
    let on_device = rt.buffer_from(&x).unwrap();
    let mut y = rt.buffer::<f32, 3>(range).unwrap();
    let q = rt.queue().unwrap();
    q.run(Items::from(range).groups(size), places(n, &on_device, &mut y)).unwrap();
    let y = y.to_vec().unwrap();
    for (at, y) in y.iter().enumerate() {
        let (z, r, c) = (at / range[2] / range[1], at / range[2] % range[1], at % range[2]);
        let (first, last) = (z / 4, c / 10);
        let mut sum = 0.0f32;
        for k in 0..n {
            let (a, b, d) = (z % 4, k % 3, (k + c % 10) % 10);
            let row = r / 3 * 3 + b;
            let place = x[(first * 4 + a + row + last * 10 + d) % 64];
            sum = sum * 0.5 + ((100 * a + 10 * b + d) as f32 + place);
        }
        assert_eq!(*y, sum + (first * 1000 + last) as f32, "{z} {r} {c}");
    }
}

/// The last group looks behind the end of `x`, and all of them behind that of `tile` if `n` is
/// large.
#[kernel(group = 32)]
fn ahead(g: Group, n: usize, x: In<f32>, tile: Local<f32, 64>, y: Out<f32>) {
    g.each(|i| tile[i] = x[i + 32]);
    g.each(|i| {
        let own = i.local_index();
        let mut sum = 0.0;
        for k in 0..n {
            sum += tile[own + k];
        }
        y[i] = sum;
    });
}

#[test]
fn what_is_outside_is_said_and_nothing_else_is_touched() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    let launch = |items: usize, n: usize, len: usize| {
        let x = rt.buffer_from(values(len)).unwrap();
        let mut y = rt.buffer::<f32, 1>(items).unwrap();
        let ran = q.run(Items::from(items).groups([32]), ahead(n, &x, &mut y)).unwrap().wait();
        ran.map(|()| y.to_vec().unwrap())
    };
    let x = values(128);
    let expected = |i: usize| (i % 32..32).fold(0.0, |sum, k| sum + x[i / 32 * 32 + k + 32]);
    let expected: Vec<f32> = (0..96).map(expected).collect();
    assert_eq!(launch(96, 33, 128).unwrap(), expected);
    let error = launch(96, 33, 127).unwrap_err().to_string();
    assert!(error.contains("`x`") && error.contains("127"), "{error}");
    let error = launch(96, 34, 128).unwrap_err().to_string();
    assert!(error.contains("`tile`") && error.contains("64"), "{error}");
}

/// A product in tiles as large as the launch's groups.
#[kernel]
fn tiles(
    g: Group<2>,
    a: In<f32, 2>,
    b: In<f32, 2>,
    ta: Local<f32, 1024>,
    tb: Local<f32, 1024>,
    y: Out<f32, 2>,
) {
    let acc = g.private(0.0);
    let side = g.size()[0];
    for t in 0..a.shape()[1] / side {
        g.each(|i| {
            let ((r, k), (row, column)) = (i.local_pos(), i.pos());
            ta[i] = a[(row, t * side + k)];
            tb[i] = b[(t * side + r, column)];
        });
        g.each(|i| {
            let (r, k) = i.local_pos();
            let mut sum = acc[i];
            for j in 0..side {
                sum += ta[r * side + j] * tb[j * side + k];
            }
            acc[i] = sum;
        });
    }
    g.each(|i| y[i] = acc[i]);
}

/// The same, in tiles of which rustc knows the size.
macro_rules! fixed_tiles {
    ($name:ident, $side:literal) => {
        #[kernel(group = [$side, $side])]
        fn $name(
            g: Group<2>,
            a: In<f32, 2>,
            b: In<f32, 2>,
            ta: Local<f32, 1024>,
            tb: Local<f32, 1024>,
            y: Out<f32, 2>,
        ) {
            let acc = g.private(0.0);
            for t in 0..a.shape()[1] / $side {
                g.each(|i| {
                    let ((r, k), (row, column)) = (i.local_pos(), i.pos());
                    ta[i] = a[(row, t * $side + k)];
                    tb[i] = b[(t * $side + r, column)];
                });
                g.each(|i| {
                    let (r, k) = i.local_pos();
                    let mut sum = acc[i];
                    for j in 0..$side {
                        sum += ta[r * $side + j] * tb[j * $side + k];
                    }
                    acc[i] = sum;
                });
            }
            g.each(|i| y[i] = acc[i]);
        }
    };
}
fixed_tiles!(tiles_of_8, 8);
fixed_tiles!(tiles_of_16, 16);
fixed_tiles!(tiles_of_17, 17);

#[test]
fn tiles_of_every_size_give_the_product() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    for side in [1, 2, 3, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32] {
        let [rows, depth, columns] = [2, 3, 2].map(|count| count * side);
        let (a, b) = (values(rows * depth), values(depth * columns));
        let mut expected = vec![0.0f32; rows * columns];
        for (at, y) in expected.iter_mut().enumerate() {
            let (r, c) = (at / columns, at % columns);
            (0..depth).for_each(|k| *y += a[r * depth + k] * b[k * columns + c]);
        }
        let a = rt.buffer_from((&a, [rows, depth])).unwrap();
        let b = rt.buffer_from((&b, [depth, columns])).unwrap();
        let range = || Items::from([rows, columns]).groups([side, side]);
        let mut y = rt.buffer([rows, columns]).unwrap();
        q.run(range(), tiles(&a, &b, &mut y)).unwrap();
        assert_eq!(bits(&y.to_vec().unwrap()), bits(&expected), "tiles of {side}");
        let mut y = rt.buffer([rows, columns]).unwrap();
        let ran = match side {
            8 => q.run(range(), tiles_of_8(&a, &b, &mut y)),
            16 => q.run(range(), tiles_of_16(&a, &b, &mut y)),
            17 => q.run(range(), tiles_of_17(&a, &b, &mut y)),
            _ => continue,
        };
        ran.unwrap();
        assert_eq!(bits(&y.to_vec().unwrap()), bits(&expected), "fixed tiles of {side}");
    }
}

/// Both scans, in each turn in the memory of the turn before.
#[kernel]
fn scans<T: Number, O: Combine<T>>(g: Group, turns: usize, x: In<T>, up: Out<T>, before: Out<T>) {
    let up_to = g.private(O::IDENTITY);
    let earlier = g.private(O::IDENTITY);
    for t in 0..turns {
        let own = g.inclusive_scan::<O>(|i| x[t * g.count()[0] * g.size()[0] + i.index()]);
        let first = g.exclusive_scan::<O>(|i| own[i]);
        g.each(|i| {
            up_to[i] = own[i];
            earlier[i] = first[i];
        });
    }
    g.each(|i| {
        up[i] = up_to[i];
        before[i] = earlier[i];
    });
}

/// The inclusive scan, as semantics 8.3 has it.
fn scanned<T: Number, O: Combine<T>>(values: &[T]) -> Vec<T> {
    let (mut all, mut by) = (values.to_vec(), 1);
    while by < all.len() {
        let before = all.clone();
        (by..all.len()).for_each(|at| all[at] = O::combine(before[at - by], before[at]));
        by *= 2;
    }
    all
}

/// Groups of many sizes; `bits` makes equal what is compared.
fn check_scans<T, O>(value: impl Fn(usize) -> T, bits: impl Fn(T) -> u64)
where
    T: Number + DeviceType,
    O: Combine<T>,
{
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    let all = |values: &[T]| values.iter().map(|value| bits(*value)).collect::<Vec<_>>();
    for size in (1..20).chain([31, 32, 33, 47, 64, 100, 255, 256, 257, 1000]) {
        let (groups, turns) = (3, 2);
        let x: Vec<T> = (0..turns * groups * size).map(&value).collect();
        let (mut up, mut before) = (vec![], vec![]);
        for own in x[(turns - 1) * groups * size..].chunks(size) {
            let own = scanned::<T, O>(own);
            before.push(O::IDENTITY);
            before.extend(&scanned::<T, O>(&own)[..size - 1]);
            up.extend(own);
        }
        let x = rt.buffer_from(&x).unwrap();
        let (mut a, mut b) = (rt.buffer(groups * size).unwrap(), rt.buffer(groups * size).unwrap());
        let items = Items::from(groups * size).groups([size]);
        q.run(items, scans::<T, O>(turns, &x, &mut a, &mut b)).unwrap();
        assert_eq!(all(&a.to_vec().unwrap()), all(&up), "inclusive, groups of {size}");
        assert_eq!(all(&b.to_vec().unwrap()), all(&before), "exclusive, groups of {size}");
    }
}

/// KRN-04: scans of floats have the order that is written; of integers, and of least and greatest
/// values, any order gives the same.
#[test]
fn scans_of_every_size_have_the_order_of_their_steps() {
    // The payload of a NaN is of no meaning.
    let float = |x: f32| u64::from(if x.is_nan() { f32::NAN } else { x }.to_bits());
    let odd = |k: usize| [f32::NAN, -0.0, 0.0, f32::NAN, 3.0, -7.5, f32::INFINITY][k * 31 % 7];
    check_scans::<f32, Add>(|k| 0.1 + (k * 7919 % 1009) as f32 * 0.37, float);
    check_scans::<f32, Mul>(|k| 0.75 + (k * 7919 % 1009) as f32 / 2000.0, float);
    check_scans::<f32, Add>(odd, float);
    check_scans::<f32, Min>(odd, float);
    check_scans::<f32, Max>(odd, float);
    check_scans::<f32, Min>(|_| f32::NAN, float);
    check_scans::<f64, Add>(|k| 1.0 / (k + 3) as f64, f64::to_bits);
    check_scans::<u32, Add>(|k| (k as u32).wrapping_mul(0x9e37_79b9), u64::from);
    check_scans::<u32, Mul>(|k| k as u32 | 1, u64::from);
    check_scans::<i64, Max>(|k| (k as i64 * 31 % 17) - 9, |x| x as u64);
    check_scans::<u8, Xor>(|k| k as u8, u64::from);
    check_scans::<i16, Min>(|k| (k as i16).wrapping_mul(77), |x| x as u64);
}
