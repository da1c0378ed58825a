//! KRN-06: a field that a kernel cannot see is not another one that a `Deref` shows: devices would have the first.
use folio::prelude::*;
use std::ops::Deref;

mod inner {
    use super::*;

    #[derive(Clone, Copy, DeviceType)]
    #[repr(C)]
    pub struct Outer<T> {
        n: T,
    }

    pub struct Shown {
        pub n: u32,
    }

    impl Deref for Outer<u32> {
        type Target = Shown;
        fn deref(&self) -> &Shown {
            &Shown { n: 1 << 30 }
        }
    }
}

#[kernel]
fn of_which(i: Item, at: inner::Outer<u32>, x: In<f32>, y: Out<f32>) {
    y[i] = x[at.n];
}

fn main() {}
