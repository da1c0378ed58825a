//! KRN-06: what an `impl` of device functions cannot have.
use folio::prelude::*;

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Pair {
    a: f32,
    b: f32,
}

#[device_fn]
impl Pair {
    fn by_reference(&self) -> f32 {
        1.0
    }
    fn min(self) -> f32 {
        self.a
    }
    fn generic<T>(self, t: T) -> f32 {
        self.a
    }
    fn of_views(self, x: In<f32>) -> f32 {
        x[0]
    }
}

#[device_fn]
impl Default for Pair {
    fn default() -> Pair {
        Pair { a: 0.0, b: 0.0 }
    }
}

#[device_fn]
enum NoImpl {}

fn main() {}
