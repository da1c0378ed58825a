//! KRN-06: signatures that no kernel has.
use folio::prelude::*;

#[kernel]
fn without_item(x: In<f32>) {}

#[kernel]
fn item_later(x: In<f32>, i: Item) {}

#[kernel]
fn returns(i: Item) -> f32 {
    1.0
}

#[kernel]
fn references(i: Item, x: &f32, y: *const f32, z: [f32], f: fn(), g: impl Copy) {}

#[kernel]
async fn later(i: Item) {}

#[kernel]
const fn early(i: Item) {}

#[device_fn]
const fn earlier(x: i32) -> i32 {
    x
}

#[kernel]
unsafe fn promises(i: Item) {}

#[kernel]
extern "C" fn foreign(i: Item) {}

#[kernel]
fn lifetimes<'a>(i: Item) {}

#[kernel]
fn patterns(i: Item, (a, b): (f32, f32), __block: f32) {}

#[kernel]
fn raw_names(i: Item, r#__number: usize, s: Reduce<u32, Add>) {
    s.give(__number as u32);
}

#[kernel(quick)]
fn arguments(i: Item) {}

#[kernel]
struct NoFunction;

#[kernel]
fn flags(i: Item, on: bool, pair: (f32, f32), y: Out<f32>) {
    y[i] = 1.0;
}

#[device_fn]
fn endless(n: i32) -> i32 {
    if n > 0 { endless(n - 1) } else { 0 }
}

#[kernel]
fn unbound<T>(i: Item, x: In<T>, y: Out<T>) {
    y[i] = x[i];
}

#[kernel]
fn ranks(i: Item<4>, x: In<f32, 4>, y: Out<f32, 0>) {}

fn main() {}
