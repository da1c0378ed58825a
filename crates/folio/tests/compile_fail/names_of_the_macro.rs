//! KRN-06: users do not name what the macro generates: a constant in an index would have one value
//! where it is looked at for a block, and another where it is used.
#![forbid(unsafe_code)]
use folio::prelude::*;

trait Pick {
    const AT: u32;
    type Element: DeviceType + folio::ir::device::Shared;
}
impl<M> Pick for M {
    const AT: u32 = if size_of::<M>() == 7 { 0 } else { 1 << 31 };
    type Element = u8;
}
#[allow(non_camel_case_types, reason = "a name as the macro has them")]
type __M = [u8; 7];

#[kernel]
fn in_an_index(i: Item, n: u32, x: In<f32>, y: Out<f32>) {
    y[i] = x[<__M as Pick>::AT + n];
}

#[kernel]
fn in_a_type(i: Item, x: In<<__M as Pick>::Element>, y: Out<u8>) {
    y[i] = x[i];
}

#[allow(unused_macros, reason = "its definition is the test")]
macro_rules! mode {
    () => {
        __M
    };
}

#[kernel]
fn in_a_type_by_a_macro(i: Item, x: In<<mode!() as Pick>::Element>, y: Out<u8>) {
    y[i] = x[i];
}

/// A mode of the table, and one that runs: an index in the description, and the next in Rust.
#[kernel]
fn in_an_index_by_a_macro(i: Item, x: In<f32>, y: Out<f32>) {
    y[i] = x[i.index() + <mode!() as Pick>::AT as usize];
}

#[device_fn]
fn in_a_function_by_a_macro(k: u32) -> u32 {
    let n: [<mode!() as Pick>::Element; 1] = [0];
    picks::<{ at!() }>(k) + n[0] as u32
}

#[device_fn]
fn picks<const AT: u32>(k: u32) -> u32 {
    k + AT
}

#[kernel(group = <__M as Pick>::AT as usize)]
fn in_a_size(g: Group, y: Out<u8>) {
    g.each(|i| y[i] = 1);
}

#[device_fn]
fn in_a_function(n: u32) -> u32 {
    n + r#__s::AT
}

fn main() {}
