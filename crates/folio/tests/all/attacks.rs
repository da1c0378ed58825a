//! Attacks of a program with a kernel's own parts, as far as it compiles: it reaches no memory, and
//! what goes wrong is told. Attacks that do not compile are in `compile_fail`. KRN-02, KRN-06
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use folio::ir::device::ops::Plus;
use folio::ir::device::{Inlined, Mode};
use folio::ir::source::Entry;
use folio::prelude::*;
use folio::{Cause, ViolationKind};

fn outside(result: folio::Result<()>) -> Vec<i64> {
    let Err(Error::Failed(failure)) = result else { panic!("{result:?}") };
    let Cause::Kernel(violation) = failure.cause() else { panic!("{failure:?}") };
    match &violation.kind {
        ViolationKind::OutOfBounds { index, .. } => index.clone(),
        other => panic!("{other:?}"),
    }
}

/// An operator by hand: for devices a device function, in Rust a nested kernel that goes wrong
/// itself.
#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Nests {
    n: u32,
}

#[device_fn]
fn first(a: Nests, b: Nests) -> Nests {
    Nests { n: a.n + b.n - b.n }
}

#[kernel]
fn inner(i: Item, x: In<u32>, y: Out<u32>) {
    y[i] = x[i + 10];
}

// SAFETY: both give what is on the left.
unsafe impl Plus for Nests {
    fn plus<M: Mode>(self, _: Nests) -> Nests {
        assert_eq!(outside(inner::host(1, &[1], &mut [0])), [10]);
        self
    }
    fn entry() -> Entry {
        Entry::Function(<first as Inlined>::FUNCTION)
    }
}

/// An operator by hand whose entry calls kernels, as the macro probes the one that it is used in.
#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Probes {
    n: u32,
}

#[device_fn]
fn sum(a: Probes, b: Probes) -> Probes {
    Probes { n: a.n + b.n }
}

#[kernel]
fn inner_of<T: Number>(i: Item, x: In<T>, y: Out<T>) {
    y[i] = x[i];
}

// SAFETY: both give the sum.
unsafe impl Plus for Probes {
    fn plus<M: Mode>(self, other: Probes) -> Probes {
        sum(self, other)
    }
    fn entry() -> Entry {
        assert_eq!(outside(inner::host(1, &[1], &mut [0])), [10]);
        let rt =
            Runtime::builder().backend(folio::cpu::CpuBackend::new().unwrap()).build().unwrap();
        let (q, x) = (rt.queue().unwrap(), rt.buffer_from(&[5u32; 3]).unwrap());
        let mut y = rt.buffer::<u32, 1>(3).unwrap();
        q.run(3, inner_of(&x, &mut y)).unwrap();
        assert_eq!(y.to_vec().unwrap(), [5; 3]);
        Entry::Function(<sum as Inlined>::FUNCTION)
    }
}

#[kernel]
fn outer_of<T: Number>(i: Item, x: In<T>, n: In<u32>, y: Out<u32>, z: Out<T>) {
    let sum = Probes { n: n[i] } + Probes { n: 1 };
    y[i] = sum.n;
    z[i] = x[i];
}

/// ERR-04, KRN-06: what probes a kernel may launch others, generic ones too.
#[test]
fn an_entry_may_call_kernels() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    let x = rt.buffer_from(&[7u32; 4]).unwrap();
    let (mut y, mut z) = (rt.buffer::<u32, 1>(4).unwrap(), rt.buffer::<u32, 1>(4).unwrap());
    q.run(4, outer_of(&x, &x, &mut y, &mut z)).unwrap().wait().unwrap();
    assert_eq!((y.to_vec().unwrap(), z.to_vec().unwrap()), (vec![8; 4], vec![7; 4]));
}

#[device_fn]
fn is_even(n: u32) -> bool {
    if n == 0 { true } else { is_odd(n - 1) }
}

#[device_fn]
fn is_odd(n: u32) -> bool {
    if n == 0 { false } else { is_even(n - 1) }
}

#[kernel]
fn evens(i: Item, y: Out<u32>) {
    y[i] = if is_even(i.index() as u32) { 1 } else { 0 };
}

/// ERR-01, KRN-06: functions that call each other are named when a kernel with them is launched.
#[test]
fn functions_that_call_each_other_are_refused_by_the_launch() {
    let rt = folio::runtime().unwrap();
    let mut y = rt.buffer::<u32, 1>(4).unwrap();
    let refused = rt.queue().unwrap().run(4, evens(&mut y)).unwrap_err();
    let text = "kernel `evens`: device function `is_even` calls itself by way of `is_odd`; recursion is not \
                possible on devices: write a loop";
    assert_eq!(refused.to_string(), text);
}

#[kernel]
fn outer(i: Item, x: In<u32>, y: Out<u32>) {
    let far = x[i + 1000];
    let nests = Nests { n: far } + Nests { n: far };
    y[i] = nests.n;
}

#[kernel]
fn outer_is_fine(i: Item, x: In<u32>, y: Out<u32>) {
    let nests = Nests { n: x[i] } + Nests { n: 1 };
    y[i] = nests.n;
}

/// ERR-04: a kernel within a kernel takes nothing of what went wrong around it, and adds nothing.
#[test]
fn a_nested_kernel_does_not_change_what_went_wrong() {
    assert_eq!(outside(outer::host(2, &[7; 2], &mut [0; 2])), [1000]);
    let mut y = [0; 2];
    outer_is_fine::host(2, &[7; 2], &mut y).unwrap();
    assert_eq!(y, [7; 2]);
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    let x = rt.buffer_from(&[7u32; 4]).unwrap();
    let mut y = rt.buffer_from(&[0u32; 4]).unwrap();
    assert_eq!(outside(q.run(4, outer(&x, &mut y)).unwrap().wait()), [1000]);
    q.run(4, outer_is_fine(&x, &mut y)).unwrap().wait().unwrap();
    assert_eq!(y.to_vec().unwrap(), [7; 4]);
}

/// No two are equal, as its trait says, which devices do not ask.
#[derive(Clone, Copy, DeviceType)]
#[repr(u32)]
enum Way {
    Left,
    Right,
}

impl PartialEq for Way {
    fn eq(&self, _: &Way) -> bool {
        false
    }
}

#[kernel]
fn ways<T: Number>(i: Item, x: In<T>, y: Out<u32>) {
    let way = if x[i] == T::ZERO { Way::Left } else { Way::Right };
    y[i] = if way == Way::Left { 1 } else { 2 };
}

mod of_another_name {
    use super::Way as u32;
    use folio::prelude::*;

    #[device_fn]
    pub fn is_left(way: u32) -> bool {
        let left: u32 = u32::Left;
        way == left
    }
}

#[kernel]
fn lefts(i: Item, x: In<u32>, y: Out<u32>) {
    let way = if x[i] == 0 { Way::Left } else { Way::Right };
    y[i] = if of_another_name::is_left(way) { 1 } else { 2 };
}

/// KRN-03: the description says what is equal, and no trait of the program's.
#[test]
fn variants_are_equal_by_their_numbers() {
    let mut y = [0; 3];
    ways::host(3, &[0.0f32, 1.0, 0.0], &mut y).unwrap();
    assert_eq!(y, [1, 2, 1]);
    lefts::host(3, &[5, 0, 0], &mut y).unwrap();
    assert_eq!(y, [2, 1, 1]);
}

#[kernel(checked)]
fn counts_down(i: Item, x: In<u64>, y: Out<u64>) {
    let mut left = x[i];
    while left != u64::MAX / 2 {
        left -= 1;
    }
    y[i] = left;
}

/// A loop that a failure alone ends is ended by that.
#[test]
fn a_checked_kernel_does_not_go_on_for_ever() {
    let Err(Error::Failed(failure)) = counts_down::host(3, &[0, 1, 9], &mut [0; 3]) else {
        panic!("it has failed")
    };
    let Cause::Kernel(violation) = failure.cause() else { panic!("{failure:?}") };
    assert_eq!(violation.site.message.as_deref(), Some("attempt to subtract with overflow"));
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    let x = rt.buffer_from(&[0, 1, 9]).unwrap();
    let mut y = rt.buffer(3).unwrap();
    assert!(q.run(3, counts_down(&x, &mut y)).unwrap().wait().is_err());
}

/// KRN-02: each count is read where it lies, as what it is.
#[test]
fn of_two_counts_both_limit_a_launch() {
    const ITEMS: usize = 200;
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    let x = rt.buffer_from(&[7u32; ITEMS]).unwrap();
    for (wide, short) in [(3u64, 150u32), (150, 3), (0, 9), (9, 0), (u64::MAX, u32::MAX)] {
        let counts = (rt.buffer_from(&[wide]).unwrap(), rt.buffer_from(&[short]).unwrap());
        let mut y = rt.buffer::<u32, 1>(ITEMS).unwrap();
        q.run(ITEMS, outer_is_fine(&x, &mut y).at_most(&counts.0).at_most(&counts.1)).unwrap();
        let kept = y.to_vec().unwrap().into_iter().filter(|y| *y == 7).count();
        assert_eq!(kept as u64, wide.min(short.into()).min(ITEMS as u64), "{wide} {short}");
    }
    let (none, one) = (rt.buffer::<u64, 1>(0).unwrap(), rt.buffer_from(&[1u32]).unwrap());
    let mut y = rt.buffer::<u32, 1>(ITEMS).unwrap();
    let refused = q.run(ITEMS, outer_is_fine(&x, &mut y).at_most(&none).at_most(&one));
    assert!(matches!(refused, Err(Error::NoElement { .. })), "{refused:?}");
}

#[kernel]
fn cells(i: Item, y: RedBlack<u32, 0, 1>) {
    y[i] += 1;
}

#[kernel]
fn numbers(i: Item, y: Out<u32>) {
    y[i] = i.index() as u32;
}

#[kernel]
fn sums_around(i: Item, x: In<u32>, sum: Reduce<u32, Add>) {
    sum.give(x[i.index() % x.len()]);
}

/// A position twice as large would wrap to the cell of another item, and one further on in a buffer
/// to none.
#[test]
fn positions_so_far_on_that_they_wrap_are_refused() {
    let cpu = folio::cpu::CpuBackend::builder().domains(2).build().unwrap();
    let rt = Runtime::builder().backend(cpu).build().unwrap();
    let q = rt.queue_over(&rt.devices(), folio::sched::Split::rows()).unwrap();
    let refused = |result: folio::Result<()>| matches!(result, Err(Error::LaunchRange { .. }));
    let mut x = rt.buffer::<u32, 1>(100).unwrap();
    assert!(refused(q.run(1 << 63..(1 << 63) + 3, cells(&mut x)).map(drop)));
    assert!(refused(q.run((1 << 53) + 1, cells(&mut x)).map(drop)));
    assert_eq!(x.to_vec().unwrap(), [0; 100]);
    // A buffer of which is known who has which part.
    q.spread(100, numbers(&mut x)).unwrap();
    let (part, mut sum) = (x.slice(16, 50).unwrap(), rt.buffer::<u32, 1>(1).unwrap());
    let last = usize::MAX - 8..usize::MAX;
    let call = sums_around(&part, &mut sum);
    assert!(refused(q.explain_spread(last.clone(), &call).map(drop)));
    assert!(refused(q.spread(last, call).map(drop)));
}
