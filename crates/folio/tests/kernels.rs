//! Functions with `#[kernel]`, for a crate that depends on `folio` only. What they must do everywhere is
//! in `folio-conformance`.
#![allow(clippy::unwrap_used, reason = "tests")]

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
