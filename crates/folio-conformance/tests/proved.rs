//! Which launches are told that no index can be out of bounds: of those, devices that compile kernels run a
//! text without tests.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio::prelude::*;
use folio_core::hal::{HalError, Head};
use folio_layers::{HeadRef, Hooks, LaneRef, Layer, Op};
use folio_model::interp::Interpreter;
use folio_sim::{DeviceSpec, SimBackend};
use std::sync::{Arc, Mutex};

/// Notes of each launch whether it is proved.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<bool>>>);

// SAFETY: it looks at launches, and passes them on.
unsafe impl Hooks for Told {
    fn operation(
        &self,
        _: &LaneRef,
        head: &HeadRef<'_>,
        op: Op<'_>,
        issue: impl FnOnce(&Head<'_>) -> Result<(), HalError>,
    ) -> Result<(), HalError> {
        if let Op::Launch(_, _, args) = op {
            self.0.lock().unwrap().push(args.proved);
        }
        issue(&head.inner)
    }
}

/// A runtime with a device that interprets kernels, and what its launches were told.
fn open() -> (Runtime, Queue, Told) {
    let told = Told::default();
    let device = DeviceSpec::new().closures(false).ir(Arc::new(Interpreter));
    let sim = Arc::new(SimBackend::builder().device(device).build());
    let rt = Runtime::builder().backend(Layer::new(told.clone(), sim)).build().unwrap();
    let q = rt.queue().unwrap();
    (rt, q, told)
}

impl Told {
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
    let of = |rows, columns| {
        rt.buffer_from_with(&vec![1.0f32; rows * columns], [rows, columns], BufferOptions::new())
    };
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
    let x = rt.buffer_from_with(&[1.0f32; 64], [8, 8], BufferOptions::new()).unwrap();
    let mut y = rt.buffer_with::<f32, 2>([8, 8], BufferOptions::new()).unwrap();
    q.run([8, 8], guarded(&x, &mut y)).unwrap();
    assert_eq!(told.since(&q), [true]);
    let pairs = rt.buffer_from(&[[1.0f32, 2.0]; 5]).unwrap();
    let mut other = rt.buffer::<[f32; 2]>(5).unwrap();
    q.run(5, swapped(&pairs, &mut other)).unwrap();
    assert_eq!(told.since(&q), [true]);
    assert_eq!(other.to_vec().unwrap(), [[2.0, 1.0]; 5]);
    let (at, from) = (rt.buffer_from(&[0u32; 5]).unwrap(), rt.buffer_from(&[1.0f32; 5]).unwrap());
    let mut to = rt.buffer::<f32>(5).unwrap();
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
    let mut y = rt.buffer::<f32>(8).unwrap();
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
