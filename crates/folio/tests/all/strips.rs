//! Kernels whose loops run outside of the items (`device::Strip`) give what Rust gives for the same
//! body, item by item: names, scopes, and what is kept from one loop to the next are the body's.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "tests")]

use folio::error::{Check, CheckKind};
use folio::prelude::*;

/// The questions that items can be asked in Rust, too.
trait Number {
    fn index(self) -> usize;
}
impl Number for usize {
    fn index(self) -> usize {
        self
    }
}

/// A body as a kernel, and as a function of one item over slices.
macro_rules! both {
    ($kernel:ident, $plain:ident: |$i:ident, $n:ident, $x:ident, $y:ident| { $($body:tt)* }) => {
        #[kernel]
        fn $kernel($i: Item, $n: usize, $x: In<f32>, $y: InOut<f32>) {
            $($body)*
        }
        #[allow(unused_variables, clippy::all, clippy::pedantic, reason = "it has to be the kernel's body")]
        fn $plain($i: usize, $n: usize, $x: &[f32], $y: &mut [f32]) {
            $($body)*
        }
    };
}

both!(sums, plain_sums: |i, n, x, y| {
    let own = x[i];
    let mut sum = 0.0;
    let mut most = own;
    for j in 0..n {
        let other = x[j];
        sum += other * own;
        if other > most {
            most = other - sum;
        }
    }
    y[i] = sum + most;
});

both!(hides, plain_hides: |i, n, x, y| {
    let k = i.index();
    let k = k + 1;
    let own = x[k];
    let own = own * 2.0;
    let mut sum = own;
    for j in 0..n {
        let own = x[j] + sum;
        let k = j * 2;
        sum += own * x[k];
    }
    let (before, own) = (own, sum);
    for _ in 0..n {
        let x = own - before * 0.5;
        sum += x;
    }
    let x = x[k];
    y[i] = sum + x + own + before;
});

both!(nests, plain_nests: |i, n, x, y| {
    let half = n - n;
    let mut sum = y[i];
    let mut odd = false;
    for a in (half..=n).rev() {
        let mut row = x[i] + x[a];
        for b in (0..n + a).step_by(3) {
            let at = a + b;
            row = row * 0.5 + x[at];
            for c in 0..2 {
                row += x[b + c];
            }
            odd = !odd;
            let scaled = if odd { row * 0.25 } else { row };
            for _ in b..a {
                sum -= scaled;
            }
        }
        y[i] = y[i] + row;
        sum += row;
    }
    y[i] = if odd { y[i] - sum } else { y[i] + sum };
});

both!(places, plain_places: |i, n, x, y| {
    let at = i.index();
    let mut last = at;
    for k in 0..n {
        let from = at + k;
        let near = [x[from], x[at], x[from + 1]];
        last = last % 100 * 3 + k;
        for d in 0..3 {
            y[i] += near[d] * (last % 7) as f32;
        }
    }
    y[i] += last as f32;
});

both!(wide, plain_wide: |i, n, x, y| {
    let mut all = [x[i]; 33];
    for k in 0..n {
        all[1] = all[2] + x[k];
        all[2] = all[1] * 0.5;
    }
    y[i] = all[1] + all[2] + all[32];
});

// Arrays with elements of their own for each item.
both!(gathers, plain_gathers: |i, n, x, y| {
    let mut all = [x[i]; 24];
    for k in 0..n {
        for j in 0..24 {
            all[j] = all[j] * 0.5 + x[k + j];
        }
    }
    let mut sum = 0.0;
    for j in 0..24 {
        sum += all[j];
    }
    y[i] = sum;
});

// An array is indexed by what is made of the loop's variable, and the other one is in registers.
both!(picks, plain_picks: |i, n, x, y| {
    let mut all = [x[i], 0.5, 0.25];
    let mut few = [0.0f32; 3];
    for k in 0..n {
        all[k % 3] += x[k];
        for j in 0..3 {
            few[(2 - j) as usize] += all[j] * 0.5;
        }
    }
    y[i] = few[0] - few[1] + few[2];
});

// Rows of an array, and of an array that is used as a whole, too.
both!(rows, plain_rows: |i, n, x, y| {
    let mut turns = [[0.0f32; 3]; 20];
    let mut sums = [0.0f32; 20];
    for k in 0..20 {
        turns[k][1] = x[i] * k as f32;
        turns[k][k % 3] += 0.5;
        sums[k] = x[k];
    }
    for a in 0..n {
        let b = x[a];
        for k in 0..20 {
            let row = turns[(k + a) % 20];
            sums[k] += b * turns[k][1] - row[2];
            sums[k] *= 0.75;
        }
    }
    for k in 0..20 {
        y[i] += sums[k];
    }
});

// What is the same for all items is computed once for them: elements at an index that is read,
// branches, pairs.
both!(tables, plain_tables: |i, n, x, y| {
    let mut sum = y[i];
    for k in 0..n {
        let kind = (x[k] * 10.0) as usize % 7;
        let of = x[kind];
        let (near, far) = if of > 1.0 { (of, 0.5) } else if kind == 2 { (1.0, -of) } else { (-of, 1.5) };
        let is_near = !(near > far) && kind != 3;
        let weight = -near.abs().max(far);
        sum = sum * 0.5 + if is_near { near } else { far } * y[i] + weight;
    }
    y[i] = sum;
});

// A name of its own in the loop, for what is changed outside of it.
both!(hides_changed, plain_hides_changed: |i, n, x, y| {
    let mut sum = x[i];
    for k in 0..n {
        sum += x[k];
        let sum = sum * 0.5;
        y[i] += sum;
    }
    y[i] += sum;
});

// Positions that no lane needs.
both!(idles, plain_idles: |i, n, x, y| {
    let mut sum = 0.0;
    for k in 0..n {
        sum += x[k];
    }
    y[i] = sum;
    for k in 0..n {
        let at = i.index() + k;
    }
    let last = i.index() + n;
});

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Large {
    some: [f32; 20],
    more: [f32; 20],
}

#[device_fn]
fn large_of(x: f32) -> Large {
    Large { some: [x; 20], more: [1.0; 20] }
}

// More than strips have room for, which only rustc sees.
both!(large, plain_large: |i, n, x, y| {
    let mut all = large_of(x[i]);
    let mut sum = 0.0;
    for k in 0..n {
        for j in 0..16 {
            all.some[j] = all.some[j] * 0.5 + x[k];
            all.more[j + 1] += all.some[j];
        }
        sum += all.more[3];
    }
    y[i] = sum + all.some[15] + all.more[16] + all.more[19];
});

/// Names that a macro has brought are others than the user's of the same text.
macro_rules! with_own_name {
    ($kernel:ident, $plain:ident: |$i:ident, $n:ident, $x:ident, $y:ident| $sum:ident) => {
        both!($kernel, $plain: |$i, $n, $x, $y| {
            let mut sum = $x[$i];
            let mut $sum = 0.0;
            for k in 0..$n {
                sum = sum * 0.5 + $x[k];
                $sum += sum;
            }
            $y[$i] = sum - $sum;
        });
    };
}
with_own_name!(names, plain_names: |i, n, x, y| sum);

fn values(n: usize) -> Vec<f32> {
    (0..n).map(|k| 0.5 + (k * 7919 % 1009) as f32 / 1009.0).collect()
}

#[test]
fn strips_compute_what_items_do_one_by_one() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    macro_rules! equal {
        ($($kernel:ident $plain:ident)*) => {$(
            for (items, n) in [(1, 9), (15, 0), (16, 1), (130, 20), (5003, 33)] {
                let x = values(items + 2 * n + 64);
                let mut expected = values(items);
                let (on_device, mut y) = (rt.buffer_from(&x).unwrap(), rt.buffer_from(&expected).unwrap());
                (0..items).for_each(|i| $plain(i, n, &x, &mut expected));
                q.run(items, $kernel(n, &on_device, &mut y)).unwrap();
                let bits = |all: &[f32]| all.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                let what = stringify!($kernel);
                assert_eq!(bits(&y.to_vec().unwrap()), bits(&expected), "{what}, {items} items, n {n}");
            }
        )*};
    }
    equal! {
        sums plain_sums
        hides plain_hides
        hides_changed plain_hides_changed
        nests plain_nests
        places plain_places
        idles plain_idles
        wide plain_wide
        gathers plain_gathers
        picks plain_picks
        rows plain_rows
        tables plain_tables
        large plain_large
        names plain_names
    }
}

/// Slots of an item's own element.
#[kernel]
fn chunks<const N: usize>(i: Item, n: usize, x: In<f32>, y: OutChunk<f32, N>) {
    let mut sums = [0.0; N];
    for k in 0..n {
        let other = x[k];
        for j in 0..N {
            sums[j] += other * x[i] - j as f32;
        }
    }
    for j in 0..N {
        y[i][j] = sums[j];
    }
}

#[kernel]
fn by_kind(i: Item, n: usize, kinds: In<u32>, table: In<f32>, y: Out<f32>) {
    let mut sum = 0.0;
    for k in 0..n {
        let of = table[kinds[k]];
        sum += of;
    }
    y[i] = sum;
}

#[kernel]
fn by_own_kind(i: Item, n: usize, kinds: In<u32>, table: In<f32>, y: Out<f32>) {
    let mut sum = 0.0;
    for k in 0..n {
        sum += table[kinds[i]] + k as f32;
    }
    y[i] = sum;
}

#[test]
fn chunks_are_those_of_each_item() {
    fn check<const N: usize>(q: &Queue, x: &Buffer<f32>) {
        let mut y = q.runtime().buffer::<[f32; N], 1>(200).unwrap();
        q.run(200, chunks(9, x, &mut y)).unwrap();
        let (x, y) = (x.to_vec().unwrap(), y.to_vec().unwrap());
        for i in [0, 1, 127, 128, 199] {
            let of = |j: usize| (0..9).fold(0.0, |sum, k| sum + (x[k] * x[i] - j as f32));
            assert_eq!(y[i], std::array::from_fn(of), "{i} of {N}");
        }
    }
    let rt = folio::runtime().unwrap();
    let (q, x) = (rt.queue().unwrap(), rt.buffer_from(values(200)).unwrap());
    check::<1>(&q, &x);
    check::<4>(&q, &x);
    check::<33>(&q, &x);
    check::<300>(&q, &x);
}

/// KRN-10
#[test]
fn loops_that_run_item_by_item_are_told() {
    let rt = folio::runtime().unwrap();
    let (q, table) = (rt.queue().unwrap(), rt.buffer_from(values(40)).unwrap());
    let mut y = rt.buffer::<f32, 1>(40).unwrap();
    let kinds = rt.buffer_from(&[39u32; 40]).unwrap();
    let apart = |checks: Vec<Check>| {
        let mut all = checks.into_iter().filter(|check| check.kind == CheckKind::ItemByItem);
        all.next().map(|check| (check.site.column, check.to_string()))
    };
    let left = by_kind(40, &kinds, &table, &mut y).checks(40).unwrap();
    assert!(!left.is_empty());
    assert_eq!(apart(left), None);
    let (column, text) =
        apart(by_own_kind(40, &kinds, &table, &mut y).checks(40).unwrap()).unwrap();
    assert_eq!(column, 22);
    assert!(text.ends_with(": for this, loops run item by item on CPUs"), "{text}");
    // What is outside is told all the same.
    q.run(40, by_kind(40, &kinds, &table, &mut y)).unwrap().wait().unwrap();
    let kinds = rt.buffer_from(&[40u32; 40]).unwrap();
    let outside = q.run(40, by_kind(40, &kinds, &table, &mut y)).unwrap().wait();
    assert!(matches!(outside, Err(Error::Failed(_))));
}

#[kernel]
fn blurred(i: Item<3>, radius: usize, x: In<f64, 3>, y: Out<f64, 3>) {
    let (z, r, c) = i.pos();
    let mut sum = 0.0;
    for dr in 0..2 * radius + 1 {
        for dc in 0..2 * radius + 1 {
            sum = sum * 0.5 + x[(z, r + dr - radius, c + dc - radius)];
        }
    }
    y[i] = sum;
}

/// Of three dimensions, and with an edge that is checked, item by item.
#[test]
fn strips_end_where_checks_begin() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    let [planes, rows, columns] = [3, 11, 150];
    let x: Vec<f64> = values(planes * rows * columns).iter().map(|x| f64::from(*x)).collect();
    let grid = [planes, rows, columns];
    let on_device = rt.buffer_from((&x, grid)).unwrap();
    let mut y = rt.buffer::<f64, 3>(grid).unwrap();
    let inside = [0..planes, 2..rows - 2, 2..columns - 2];
    q.run(inside, blurred(2, &on_device, &mut y)).unwrap().wait().unwrap();
    let y = y.to_vec().unwrap();
    let at = |z: usize, r: usize, c: usize| (z * rows + r) * columns + c;
    for (z, r, c) in [(0, 2, 2), (1, 5, 77), (2, 8, 147), (2, 8, 130), (0, 3, 129)] {
        let mut sum = 0.0;
        for dr in 0..5 {
            (0..5).for_each(|dc| sum = sum * 0.5 + x[at(z, r + dr - 2, c + dc - 2)]);
        }
        assert_eq!(y[at(z, r, c)].to_bits(), f64::to_bits(sum), "{z} {r} {c}");
    }
    let mut y = rt.buffer::<f64, 3>(grid).unwrap();
    let beyond = q.run([0..planes, 2..rows - 2, 1..columns - 2], blurred(2, &on_device, &mut y));
    assert!(matches!(beyond.unwrap().wait(), Err(Error::Failed(_))));
}
