//! Which launches are told that no index can be out of bounds: of those, devices that compile
//! kernels run a text without tests.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio::prelude::*;
use folio_core::hal::{HalError, Op};
use folio_layers::{HeadRef, Hooks, LaneRef, Layer};
use folio_model::interp::Interpreter;
use folio_sim::{DeviceSpec, SimBackend};
use std::sync::{Arc, Mutex};

/// Notes of each launch whether it is proved.
#[derive(Clone, Default)]
struct LaunchNotes(Arc<Mutex<Vec<bool>>>);

// SAFETY: it looks at launches, and passes them on.
unsafe impl Hooks for LaunchNotes {
    fn operation(&self, lane: &LaneRef, head: &HeadRef<'_>, op: Op<'_>) -> Result<(), HalError> {
        if let Op::Launch(_, _, args) = op {
            self.0.lock().unwrap().push(args.proved);
        }
        lane.inner.enqueue(&head.inner, op)
    }
}

/// A runtime with a device that interprets kernels, and what its launches were told.
fn open() -> (Runtime, Queue, LaunchNotes) {
    let told = LaunchNotes::default();
    let device = DeviceSpec::new().closures(false).ir(Arc::new(Interpreter));
    let sim = Arc::new(SimBackend::builder().device(device).build());
    let rt = Runtime::builder().backend(Layer::new(told.clone(), sim)).build().unwrap();
    let q = rt.queue().unwrap();
    (rt, q, told)
}

impl LaunchNotes {
    /// What has been told since the last time, when all is done.
    fn since(&self, q: &Queue) -> Vec<bool> {
        q.wait().unwrap();
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[kernel(group = [4, 4])]
fn product(
    g: Group<2>,
    a: In<f32, 2>,
    b: In<f32, 2>,
    ta: Local<f32, 16>,
    tb: Local<f32, 16>,
    y: Out<f32, 2>,
) {
    let acc = g.private(0.0);
    for t in 0..a.shape()[1] / 4 {
        g.each(|i| {
            let ((r, k), (row, column)) = (i.local_pos(), i.pos());
            ta[i] = a[(row, t * 4 + k)];
            tb[i] = b[(t * 4 + r, column)];
        });
        g.each(|i| {
            let (r, k) = i.local_pos();
            for j in 0..4 {
                acc[i] += ta[r * 4 + j] * tb[j * 4 + k];
            }
        });
    }
    g.each(|i| y[i] = acc[i]);
}

/// Local memory and loops over tiles: that tiles are within the matrices depends on these.
#[test]
fn groups_are_proved() {
    let (rt, q, told) = open();
    let of = |rows, columns| rt.buffer_from((vec![1.0f32; rows * columns], [rows, columns]));
    let (a, b, mut y) = (of(8, 12).unwrap(), of(12, 8).unwrap(), of(8, 8).unwrap());
    q.run([8, 8], product(&a, &b, &mut y)).unwrap();
    assert_eq!(told.since(&q), [true]);
    assert_eq!(y.to_vec().unwrap(), [12.0; 64]);
    // The second tile of rows is not there, which the command says when it has failed.
    let low = of(7, 8).unwrap();
    q.run([8, 8], product(&a, &low, &mut y)).unwrap();
    assert!(q.wait().is_err());
    assert_eq!(std::mem::take(&mut *told.0.lock().unwrap()), [false]);
}

#[kernel]
fn guarded(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    if r == 0 || c == 0 || r + 1 == x.shape()[0] || c + 1 == x.shape()[1] {
        y[i] = 0.0;
        return;
    }
    y[i] = x[(r - 1, c)] + x[(r + 1, c)] + x[(r, c - 1)] + x[(r, c + 1)];
}

#[kernel]
fn swapped(i: Item, x: In<[f32; 2]>, y: Out<[f32; 2]>) {
    let of = x[i];
    y[i] = [of[1], of[0]];
}

#[kernel]
fn gather(i: Item, at: In<u32>, x: In<f32>, y: Out<f32>) {
    y[i] = x[at[i] as usize];
}

/// What conditions exclude, and arrays whose indices are known, need no tests; what data say does.
#[test]
fn conditions_and_arrays_are_proved() {
    let (rt, q, told) = open();
    let x = rt.buffer_from((&[1.0f32; 64], [8, 8])).unwrap();
    let mut y = rt.buffer::<f32, 2>([8, 8]).unwrap();
    q.run([8, 8], guarded(&x, &mut y)).unwrap();
    assert_eq!(told.since(&q), [true]);
    let pairs = rt.buffer_from(&[[1.0f32, 2.0]; 5]).unwrap();
    let mut other = rt.buffer::<[f32; 2], 1>(5).unwrap();
    q.run(5, swapped(&pairs, &mut other)).unwrap();
    assert_eq!(told.since(&q), [true]);
    assert_eq!(other.to_vec().unwrap(), [[2.0, 1.0]; 5]);
    let (at, from) = (rt.buffer_from(&[0u32; 5]).unwrap(), rt.buffer_from(&[1.0f32; 5]).unwrap());
    let mut to = rt.buffer::<f32, 1>(5).unwrap();
    q.run(5, gather(&at, &from, &mut to)).unwrap();
    assert_eq!(told.since(&q), [false]);
}

#[kernel]
fn behind(i: Item, first: usize, x: In<f32>, y: Out<f32>) {
    if i.index() >= first {
        y[i] = x[i.index() - first];
    } else {
        y[i] = 0.0;
    }
}

/// Launches that are always others are not all analysed: that would take longer than they do.
#[test]
fn not_every_new_launch_is_analysed() {
    let (rt, q, told) = open();
    let x = rt.buffer_from(&[1.0f32; 8]).unwrap();
    let mut y = rt.buffer::<f32, 1>(8).unwrap();
    for first in 0..1000 {
        q.run(8, behind(first, &x, &mut y)).unwrap();
    }
    let proved = told.since(&q).into_iter().filter(|proved| *proved).count();
    assert!((64..100).contains(&proved), "{proved} of 1000");
    // Those that come again are known.
    for _ in 0..1000 {
        q.run(8, behind(3, &x, &mut y)).unwrap();
    }
    let proved = told.since(&q).into_iter().filter(|proved| *proved).count();
    assert!(proved > 900, "{proved} of 1000");
}

#[kernel]
fn scaled(i: Item, by: f32, least: usize, x: In<f32>, y: Out<f32>) {
    y[i] = 0.0;
    if i.index() >= least && i.index() < x.len() {
        y[i] = by * x[i.index() - least];
    }
}

/// Floats are nothing that a proof depends on, so launches that differ in these only are one.
#[test]
fn other_floats_are_no_other_launch() {
    let (rt, q, told) = open();
    let (x, mut y) = (rt.buffer_from(&[1.0f32; 16]).unwrap(), rt.buffer::<f32, 1>(20).unwrap());
    for by in 0..300 {
        q.run(20, scaled(by as f32, 1, &x, &mut y)).unwrap();
    }
    assert_eq!(told.since(&q), [true; 300]);
}

#[kernel]
fn doubled(i: Item, n: usize, x: In<f32>, y: Out<f32>) {
    let n1 = n + n;
    let n2 = n1 + n1;
    let n3 = n2 + n2;
    let n4 = n3 + n3;
    let n5 = n4 + n4;
    let n6 = n5 + n5;
    let n7 = n6 + n6;
    let n8 = n7 + n7;
    let n9 = n8 + n8;
    let n10 = n9 + n9;
    let n11 = n10 + n10;
    let n12 = n11 + n11;
    let n13 = n12 + n12;
    let n14 = n13 + n13;
    let n15 = n14 + n14;
    let n16 = n15 + n15;
    let n17 = n16 + n16;
    let n18 = n17 + n17;
    let n19 = n18 + n18;
    let n20 = n19 + n19;
    let n21 = n20 + n20;
    let n22 = n21 + n21;
    let n23 = n22 + n22;
    let n24 = n23 + n23;
    let n25 = n24 + n24;
    let n26 = n25 + n25;
    let n27 = n26 + n26;
    let n28 = n27 + n27;
    let n29 = n28 + n28;
    let n30 = n29 + n29;
    let n31 = n30 + n30;
    let n32 = n31 + n31;
    let n33 = n32 + n32;
    let n34 = n33 + n33;
    let n35 = n34 + n34;
    let n36 = n35 + n35;
    let n37 = n36 + n36;
    let n38 = n37 + n37;
    let n39 = n38 + n38;
    let n40 = n39 + n39;
    y[i] = 0.0;
    if i.index() < n40 && i.index() + 1 < x.len() {
        y[i] = x[i.index() + 1];
    }
}

/// What a condition says is followed back through sums, once for each.
#[test]
fn sums_of_sums_are_looked_at_once() {
    let (rt, q, told) = open();
    let (x, mut y) = (rt.buffer_from(&[1.0f32; 16]).unwrap(), rt.buffer::<f32, 1>(20).unwrap());
    q.run(20, doubled(1, &x, &mut y)).unwrap();
    assert_eq!(told.since(&q), [true]);
    assert_eq!(y.to_vec().unwrap()[13..17], [1.0, 1.0, 0.0, 0.0]);
}

/// As far as paths say, the index that the library's macro has of itself.
mod paths {
    pub const FIRST: usize = 1 << 40;
}
macro_rules! of_two_crates {
    () => {
        folio_conformance::indexed_twice!($crate::paths::FIRST);
    };
}
of_two_crates!();

/// One path may be two constants, one of each crate whose macros wrote it: each index is looked at.
#[test]
fn indices_of_two_crates_are_two() {
    let rt = Runtime::builder().backend(folio_cpu::CpuBackend::new().unwrap()).build().unwrap();
    let (q, x) = (rt.queue().unwrap(), rt.buffer::<f32, 1>(4096).unwrap());
    let mut y = rt.buffer::<f32, 1>(4096).unwrap();
    let done = q.run(4096, indexed_twice(&x, &mut y)).unwrap().wait();
    assert!(done.unwrap_err().to_string().contains("1099511627776"));
}
