//! Kernels with a border: with guards, and with indices that are held to limits. Their results are
//! those of the same body in Rust, for each item of every shape; faults are told, wherever they
//! are; and the interior is computed as if there were no border (KRN-03, KRN-09).
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use folio::cpu::CpuBackend;
use folio::ir::device::{Gaps, Instructions, Kernel, Launched, ParamPtr, Positions};
use folio::prelude::*;
use folio::{Cause, ViolationKind};
use std::ops::{Index, IndexMut, Range};

/// An item in plain Rust.
#[derive(Clone, Copy)]
struct At(usize, usize);

impl At {
    fn pos(self) -> (usize, usize) {
        (self.0, self.1)
    }
}

/// A grid in plain Rust.
struct Grid {
    data: Vec<f32>,
    shape: [usize; 2],
}

impl Grid {
    fn shape(&self) -> [usize; 2] {
        self.shape
    }
    fn place(&self, (r, c): (usize, usize)) -> usize {
        assert!(r < self.shape[0] && c < self.shape[1], "({r}, {c})");
        r * self.shape[1] + c
    }
}
impl Index<(usize, usize)> for Grid {
    type Output = f32;
    fn index(&self, at: (usize, usize)) -> &f32 {
        &self.data[self.place(at)]
    }
}
impl Index<At> for Grid {
    type Output = f32;
    fn index(&self, at: At) -> &f32 {
        &self[at.pos()]
    }
}
impl IndexMut<At> for Grid {
    fn index_mut(&mut self, at: At) -> &mut f32 {
        let place = self.place(at.pos());
        &mut self.data[place]
    }
}

/// A body as a kernel, and as a function of one item.
macro_rules! both {
    ($kernel:ident, $plain:ident: |$i:ident, $n:ident, $x:ident, $y:ident| { $($body:tt)* }) => {
        #[kernel]
        #[allow(unused_variables, reason = "not all use all")]
        fn $kernel($i: Item<2>, $n: usize, $x: In<f32, 2>, $y: InOut<f32, 2>) {
            $($body)*
        }
        #[allow(unused_variables, clippy::all, clippy::pedantic, reason = "it has to be the kernel's body")]
        fn $plain($i: At, $n: usize, $x: &Grid, $y: &mut Grid) {
            $($body)*
        }
    };
}

both!(inside, plain_inside: |i, n, x, y| {
    let (r, c) = i.pos();
    let (rows, columns) = (x.shape()[0], x.shape()[1]);
    if r > 0 && r + 1 < rows && c > 0 && c + 1 < columns {
        y[i] = x[(r - 1, c)] + x[(r + 1, c)] + x[(r, c - 1)] * x[(r, c + 1)] - y[i];
    }
});

both!(returns, plain_returns: |i, n, x, y| {
    let (r, c) = i.pos();
    if r == 0 || c < 1 || r >= x.shape()[0] - 1 || x.shape()[1] - 1 <= c {
        y[i] = 0.5 * x[i];
        return;
    }
    y[i] = x[(r - 1, c)] + x[(r + 1, c)] + x[(r, c - 1)] + x[(r, c + 1)];
});

both!(otherwise, plain_otherwise: |i, n, x, y| {
    let (r, c) = i.pos();
    let inner = r >= n && c >= n && r + n < x.shape()[0] && c + n < x.shape()[1];
    if !inner {
        y[i] = 1.0;
    } else {
        let mut sum = 0.0;
        for k in 0..2 * n + 1 {
            sum += x[(r + k - n, c)] - x[(r, c + k - n)] * 0.5;
        }
        y[i] = sum;
    }
});

both!(wide, plain_wide: |i, n, x, y| {
    let (r, c) = i.pos();
    if !(r >= n && r + n < x.shape()[0]) || c < n || c + n >= x.shape()[1] {
        return;
    }
    y[i] = x[(r - n, c)] + x[(r + n, c)] + x[(r, c - n)] + x[(r, c + n)];
});

both!(sides, plain_sides: |i, n, x, y| {
    let (r, c) = i.pos();
    let above = if r > 0 { x[(r - 1, c)] } else { 2.0 };
    let below = if r + 1 < x.shape()[0] { x[(r + 1, c)] } else { 3.0 };
    let left = if c == 0 { 4.0 } else { x[(r, c - 1)] };
    let right = if x.shape()[1] - 1 == c { 5.0 } else { x[(r, c + 1)] };
    y[i] = above - below + left * right;
});

both!(indices, plain_indices: |i, n, x, y| {
    let (r, c) = i.pos();
    let (rows, columns) = (x.shape()[0], x.shape()[1]);
    let above = if r > 0 { r - 1 } else { rows - 1 };
    let below = if r + 1 < rows { r + 1 } else { 0 };
    let left = if c == 0 { columns - 1 } else { c - 1 };
    let right = if c == columns - 1 { 0 } else if c > 0 { c + 1 } else { c + 1 };
    y[i] = x[(above, c)] - x[(below, c)] + x[(r, left)] * x[(r, right)];
});

both!(held, plain_held: |i, n, x, y| {
    let (r, c) = i.pos();
    let (rows, columns) = (x.shape()[0], x.shape()[1]);
    let left = c.saturating_sub(n);
    let right = (columns - 1).min(c.saturating_add(n));
    let across = x[(r, left)] - x[(r, right)];
    y[i] = x[(r.max(1) - 1, c)] + x[((r + 1).min(rows - 1), c)] * across + x[((r + n).clamp(n.min(rows - 1), rows - 1), c)];
});

both!(held_back, plain_held_back: |i, n, x, y| {
    let (r, c) = i.pos();
    let last = x.shape()[0].saturating_sub(r + 1);
    y[i] = x[(last.min(n), c)] + x[(n.max(r).min(x.shape()[0] - 1), c)] - x[((1usize.max(c) - 1).min(r), c)];
});

both!(signed, plain_signed: |i, n, x, y| {
    let (r, c) = i.pos();
    let mut sum = 0.0;
    for dr in -1..=1 {
        for dc in -2..=1 {
            let (a, b) = (r as isize + dr, c as isize + dc);
            if a >= 0 && a < x.shape()[0] as isize && b >= 0 && b < x.shape()[1] as isize {
                sum = sum * 0.5 + x[(a as usize, b as usize)];
            }
        }
    }
    y[i] = sum;
});

both!(narrow, plain_narrow: |i, n, x, y| {
    let (r, c) = i.pos();
    let (rows, columns) = (x.shape()[0] as i32, x.shape()[1] as i32);
    let mut sum = 0.0;
    for dr in -1..2 {
        for dc in -1..=n as i32 {
            let a = (r as i32 + dr).clamp(0, rows - 1);
            let b = (c as i32 + dc).max(0).min(columns - 1);
            sum = sum * 0.5 + x[(a as usize, b as usize)];
        }
    }
    y[i] = sum;
});

both!(narrow_unsigned, plain_narrow_unsigned: |i, n, x, y| {
    let (r, c) = i.pos();
    let (a, b) = (r as u32, c as u32);
    if a < 2 || b == 0 || b as usize + 1 == x.shape()[1] {
        return;
    }
    y[i] = x[((a - 2) as usize, (b + 1) as usize)] + x[(a as usize, (b - 1) as usize)];
});

// Guards that no block decides, and such that are the other way round than most.
both!(odd, plain_odd: |i, n, x, y| {
    let (r, c) = i.pos();
    if (r + c) % 2 == 0 && r > 0 && c > 0 {
        y[i] = x[(r - 1, c - 1)];
    } else if r < c {
        y[i] = 7.0;
    } else if c < n {
        y[i] += x[(r, c)] + 1.0;
    }
    if r <= n || c > 1000 {
        y[i] -= 1.0;
    }
});

both!(middle, plain_middle: |i, n, x, y| {
    let (r, c) = i.pos();
    if r == x.shape()[0] / 2 && c != x.shape()[1] / 2 {
        y[i] = 9.0;
    }
    if r < x.shape()[0] / 2 {
        y[i] += x[(r + 1, c)];
    } else {
        y[i] -= x[(r - r / 2, c)];
    }
});

// Names that are bound again, and a condition that does something.
both!(names, plain_names: |i, n, x, y| {
    let (r, c) = i.pos();
    let r = r + 1;
    let mut k = 0;
    if { k += 1; r > k } && c > 0 {
        let c = c - 1;
        y[i] = x[(r - 2, c)];
    }
    let mut c = c;
    if c > 0 {
        c -= 1;
    }
    if c + 1 < x.shape()[1] {
        y[i] += x[(r - 1, c + 1)] * k as f32;
    }
});

fn values(n: usize) -> Vec<f32> {
    (0..n).map(|k| 0.5 + (k * 7919 % 1009) as f32 / 1009.0).collect()
}

const SHAPES: [[usize; 2]; 11] = [
    [1, 1],
    [1, 100],
    [100, 1],
    [2, 50],
    [3, 3],
    [7, 9],
    [8, 64],
    [33, 65],
    [64, 130],
    [5, 1000],
    [130, 70],
];

/// The results of a body for these items, item by item.
fn plain(
    body: fn(At, usize, &Grid, &mut Grid),
    n: usize,
    (x, y): (&Grid, &[f32]),
    [rows, columns]: [Range<usize>; 2],
) -> Vec<f32> {
    let mut y = Grid { data: y.to_vec(), shape: x.shape };
    for r in rows {
        columns.clone().for_each(|c| body(At(r, c), n, x, &mut y));
    }
    y.data
}

/// All of a grid, and a part of it.
fn parts([rows, columns]: [usize; 2]) -> [[Range<usize>; 2]; 2] {
    [[0..rows, 0..columns], [rows / 3..rows, columns / 5..columns - columns / 4]]
}

/// Each kernel computes what the function beside it does for each item, on these rows and columns
/// at least.
macro_rules! equal {
    ($rt:ident, $q:ident: $($kernel:ident $plain:ident $least:literal)*) => {$(
        for (shape, n) in SHAPES.iter().flat_map(|shape| [0, 1, 3].map(|n| (*shape, n))) {
            if shape.iter().any(|size| *size < $least) || n + $least > shape[0] + 1 {
                continue;
            }
            let what = format!("{}, {shape:?}, {n}", stringify!($kernel));
            let x = Grid { data: values(shape[0] * shape[1]), shape };
            let start = values(x.data.len() + 1)[1..].to_vec();
            let on_device = $rt.buffer_from((&x.data, shape)).unwrap();
            for part in parts(shape) {
                let mut y = $rt.buffer_from((&start, shape)).unwrap();
                $q.run(part.clone(), $kernel(n, &on_device, &mut y)).unwrap().wait().expect(&what);
                let expected = plain($plain, n, (&x, &start), part.clone());
                let bits = |all: &[f32]| all.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&y.to_vec().unwrap()), bits(&expected), "{what}, {part:?}");
            }
        }
    )*};
}

#[test]
fn borders_are_what_items_do_one_by_one() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    for set in [Instructions::Any, Instructions::Avx2, Instructions::Avx512] {
        set.limit();
        equal! { rt, q:
            inside plain_inside 1
            returns plain_returns 1
            otherwise plain_otherwise 1
            wide plain_wide 1
            sides plain_sides 1
            indices plain_indices 2
            held plain_held 1
            held_back plain_held_back 1
            signed plain_signed 1
            narrow plain_narrow 1
            narrow_unsigned plain_narrow_unsigned 1
            odd plain_odd 1
            middle plain_middle 2
            names plain_names 1
        }
    }
}

/// Slices have borders of their own.
#[test]
fn borders_are_those_of_slices() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    let (all, shape, first) = ([90, 110], [70, 85], [11, 13]);
    let data = values(all[0] * all[1]);
    let within = |r: usize, c: usize| (r + first[0]) * all[1] + c + first[1];
    let own = (0..shape[0]).flat_map(|r| (0..shape[1]).map(move |c| within(r, c)));
    let x = Grid { data: own.clone().map(|at| data[at]).collect(), shape };
    let on_device = rt.buffer_from((&data, all)).unwrap();
    let mut y = rt.buffer_from((&data, all)).unwrap();
    let slice = on_device.slice(first, shape).unwrap();
    q.run(shape, held(2, &slice, y.slice_mut(first, shape).unwrap())).unwrap();
    let mut expected = data.clone();
    let given = plain(plain_held, 2, (&x, &x.data), [0..shape[0], 0..shape[1]]);
    own.zip(given).for_each(|(at, value)| expected[at] = value);
    assert_eq!(y.to_vec().unwrap(), expected);
}

/// The count of undecided guards of a kernel of a grid and a number, for these rows and columns of
/// a view of this shape.
fn undecided<K: Kernel>(shape: [usize; 2], [rows, columns]: [Range<usize>; 2]) -> usize {
    let block = Positions { min: [0, rows.start, columns.start], max: [1, rows.end, columns.end] };
    let gaps = Gaps::untold();
    // SAFETY: it looks at shapes and scalars; no memory is read.
    unsafe { K::undecided(&[1], &[view(shape); 2], &block, &Launched::plain(), &gaps) }
}

/// A view of this shape, of no memory.
fn view(shape: [usize; 2]) -> ParamPtr {
    let [dims, none] = [[1, shape[0], shape[1]], [0; 3]];
    ParamPtr {
        base: std::ptr::null_mut(),
        dims,
        origin: none,
        extent: dims,
        index: none,
        shape: dims,
    }
}

#[kernel]
fn plainly(i: Item<2>, n: usize, x: In<f32, 2>, y: InOut<f32, 2>) {
    let (r, c) = i.pos();
    y[i] = x[(r + n, c)];
}

/// In the interior nothing is left of guards: otherwise the vectors would be.
#[test]
fn guards_are_decided_in_the_interior() {
    let (shape, interior) = ([50, 80], [3..47, 3..77]);
    macro_rules! all {
        ($($kernel:ident)*) => {$({
            let what = stringify!($kernel);
            assert_eq!(undecided::<$kernel>(shape, interior.clone()), 0, "{what}");
            for (rows, columns) in [(0..50, 3..77), (3..47, 0..80)] {
                let open = undecided::<$kernel>(shape, [rows, columns]);
                assert!(open > 0, "{what}: {open:?}");
            }
        })*};
    }
    all! { inside returns otherwise wide sides indices held signed narrow narrow_unsigned }
    assert_eq!(undecided::<plainly>(shape, [0..50, 0..80]), 0, "it has no guard");
}

/// The violation of a launch.
fn failed(of: folio::Result<folio::Event>) -> ViolationKind {
    let Err(Error::Failed(failure)) = of.unwrap().wait() else { panic!("nothing failed") };
    let Cause::Kernel(violation) = failure.cause() else { panic!("{failure}") };
    violation.kind.clone()
}

#[kernel]
fn too_far(i: Item<2>, by: usize, at: In<u32>, x: In<f32, 2>, y: InOut<f32, 2>) {
    let (r, c) = i.pos();
    if r > 0 && r + 1 < x.shape()[0] && c > 0 {
        y[i] = x[(r - 1, c + by)] + x[(r + 1, c.min(x.shape()[1]))] + x[(at[c] as usize, c)];
    }
}

#[kernel]
fn fails_there(i: Item<2>, by: In<u32>, x: In<f32, 2>, y: InOut<f32, 2>) {
    let (r, c) = i.pos();
    if r == 0 || c == 0 {
        assert!(by[r + c] < 100, "at the border");
        return;
    }
    y[i] = x[i] + (r as u32 / by[c]) as f32;
    assert!(by[r] < 50, "inside");
}

/// KRN-03: what is wrong behind a guard, at the border and where it is not guarded is told as by
/// item and item.
#[test]
fn what_is_wrong_inside_and_outside_of_guards_is_told() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    for shape in [[9, 12], [70, 90]] {
        let [rows, columns] = shape;
        let (places, numbers) = (vec![1u32; columns], vec![7u32; rows + columns]);
        let x = rt.buffer_from((values(rows * columns), shape)).unwrap();
        let at = |places: &[u32]| rt.buffer_from(places).unwrap();
        let fine = at(&places);
        let all = [0..rows, 0..columns];
        let far = |items: &[Range<usize>; 2], by: usize, places: &Buffer<u32>| {
            let mut y = rt.buffer::<f32, 2>(shape).unwrap();
            q.run(items.clone(), too_far(by, places, &x, &mut y))
        };
        far(&all, 0, &fine).unwrap().wait().unwrap();
        // The last column reads beyond the row, but behind the guard only.
        let ViolationKind::OutOfBounds { param, index, extent } = failed(far(&all, 1, &fine))
        else {
            panic!("another kind")
        };
        assert_eq!((param.as_deref(), &extent), (Some("x"), &vec![rows, columns]));
        assert!(
            index[1] == columns as i64 && (0..rows as i64 - 2).contains(&index[0]),
            "{index:?}"
        );
        far(&[0..rows, 0..columns - 1], 1, &fine).unwrap().wait().unwrap();
        // Data that is wrong for one column.
        let mut wrong = places.clone();
        wrong[columns / 2] = 1000;
        let wrong = at(&wrong);
        let expected = vec![1000, columns as i64 / 2];
        let kind = failed(far(&all, 0, &wrong));
        let ViolationKind::OutOfBounds { index, .. } = kind else { panic!("{kind:?}") };
        assert_eq!(index, expected);
        far(&[0..1, 0..columns], 0, &wrong).unwrap().wait().unwrap();

        let run = |place: usize, number: u32, items: [Range<usize>; 2]| {
            let mut numbers = numbers.clone();
            numbers[place] = number;
            let by = at(&numbers);
            let mut y = rt.buffer::<f32, 2>(shape).unwrap();
            q.run(items, fails_there(&by, &x, &mut y))
        };
        run(0, 99, all.clone()).unwrap().wait().unwrap();
        assert_eq!(failed(run(0, 100, all.clone())), ViolationKind::Assertion);
        assert_eq!(failed(run(columns - 1, 0, all.clone())), ViolationKind::DivisionByZero);
        assert_eq!(failed(run(rows - 1, 60, all.clone())), ViolationKind::Assertion);
        // At the border no item divides.
        run(columns - 1, 0, [0..1, 0..columns]).unwrap().wait().unwrap();
    }
}

/// KRN-09: at the border indices that are held to limits have the halo that they have elsewhere.
#[test]
fn held_indices_move_the_halo_alone() {
    let cpu = CpuBackend::builder().domains(2).build().unwrap();
    let rt = Runtime::builder().backend(cpu).build().unwrap();
    let q = rt.queue_on("cpu:1").unwrap();
    let shape = [100, 64];
    let data = values(shape[0] * shape[1]);
    let moved = |call: u8, n: usize| {
        [0..10, 20..40, 90..100].map(|rows: Range<usize>| {
            let pages = || BufferOptions::new().page([1, 64]);
            let x = rt.buffer_with((&data, shape), pages()).unwrap();
            let mut y = rt.buffer_with::<f32, 2>(shape, pages()).unwrap();
            let items = [rows, 0..64];
            let ran = match call {
                0 => q.run(items, held_rows(n, &x, &mut y)),
                1 => q.run(items, narrow(n, &x, &mut y)),
                _ => q.run(items, signed(n, &x, &mut y)),
            };
            ran.unwrap().wait().unwrap();
            x.counters().host_to_device.bytes / (64 * 4)
        })
    };
    assert_eq!(moved(0, 1), [11, 22, 11]);
    assert_eq!(moved(0, 3), [13, 24, 11]);
    assert_eq!([moved(1, 1), moved(2, 1)], [[11, 22, 11]; 2]);
}

#[kernel]
fn held_rows(i: Item<2>, n: usize, x: In<f32, 2>, y: InOut<f32, 2>) {
    let (r, c) = i.pos();
    let last = x.shape()[0] - 1;
    y[i] = x[(r.saturating_sub(1), c)] + x[((r + n).min(last), c)] + x[(r.max(1) - 1, c)];
}

mod few;
