//! KRN-06: kernels that are functions of a type, and functions that print, where they cannot.
use folio::prelude::*;

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Model<T> {
    factor: T,
}

#[device_fn]
impl<T: Number> Model<T> {
    #[kernel]
    fn of_self(&self, i: Item, y: Out<f32>) {
        y[i] = 1.0;
    }

    #[kernel]
    fn with_its_own<U: Number>(i: Item, x: In<T>, y: Out<U>) {
        y[i] = x[i] as U;
    }

    #[kernel]
    fn that_is_wrong(i: Item, y: Out<f32>) {
        y[i] = missing(1.0);
    }
}

#[device_fn]
fn prints_nowhere(x: f32) -> f32 {
    print!("{x}");
    x
}

#[device_fn]
fn prints_of_no_item(x: f32, log: Log) -> f32 {
    print!("{x}");
    x
}

#[kernel(group = 8)]
fn prints_of_a_group(g: Group, y: Out<u32>, log: Log) {
    print!("group");
    g.once(|| {
        print!("once");
    });
    g.each(|i| y[i] = 1);
}

fn main() {}
