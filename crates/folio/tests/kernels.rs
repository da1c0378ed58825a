//! Functions with `#[kernel]`, for a crate that depends on `folio` only. What they must do everywhere is
//! in `folio-conformance`.
#![forbid(unsafe_code)]
#![deny(rust_2018_idioms)]
#![allow(clippy::unwrap_used, reason = "tests")]

use folio::prelude::*;

mod library {
    use folio::prelude::*;

    /// A pair.
    #[derive(Clone, Copy, PartialEq, Debug, DeviceType)]
    #[repr(C)]
    pub struct Pair<T> {
        /// One.
        pub a: T,
        /// And another.
        pub b: T,
    }

    #[device_fn]
    fn swapped<T: DeviceType + Number>(of: Pair<T>) -> Pair<T> {
        Pair { a: of.b, b: of.a }
    }

    /// Documented, like the function that it is.
    #[kernel]
    pub fn swap<T: DeviceType + Number>(i: Item, by: T, x: In<Pair<T>>, y: Out<Pair<T>>) {
        let mut it = swapped(x[i]);
        it.a += by;
        y[i] = it;
    }
}

use library::Pair;

/// KRN-01: kernels are items like others: in modules, generic, with structs that are generic.
#[test]
fn kernels_are_items_like_others() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    let x = rt.buffer_from(&[Pair { a: 1.0f32, b: 2.0 }; 9]).unwrap();
    let mut y = rt.buffer(9).unwrap();
    q.run(y.range(), library::swap(0.5, &x, &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [Pair { a: 2.5, b: 1.0 }; 9]);
    let x = rt.buffer_from(&[Pair { a: 1u8, b: 2 }; 9]).unwrap();
    let mut y = rt.buffer(9).unwrap();
    q.run(1..2, library::swap::<u8>(254, &x, &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap()[..2], [Pair { a: 0, b: 0 }, Pair { a: 0, b: 1 }]);
}

#[kernel]
fn windows(i: Item, first: usize, n: usize, x: In<f32>, y: Out<f32>) {
    let mut sum = 0.0;
    for k in first..first + n {
        sum += x[i.index() + k];
    }
    y[i] = sum;
}

/// KRN-09: what loops read is known as exactly as their ends are.
#[test]
fn loops_access_what_they_read() {
    let cpu = folio::cpu::CpuBackend::builder().domains(2).build().unwrap();
    let rt = Runtime::builder().backend(cpu).build().unwrap();
    let q = rt.queue_on("cpu:1").unwrap();
    let page = BufferOptions::new().page([1]);
    let x = rt.buffer_from_with(&[1.0f32; 1000], [1000], page).unwrap();
    let mut y = rt.buffer(1000).unwrap();
    q.run(100..200, windows(50, 7, &x, &mut y)).unwrap().wait().unwrap();
    // Elements 150 to 255.
    assert_eq!(x.counters().host_to_device.bytes, 106 * 4);
    assert_eq!(y.to_vec().unwrap()[150], 7.0);
}
