//! KRN-03: a device function's IR cannot be claimed for another Rust form: fusion rests on both
//! being one.
#![forbid(unsafe_code)]
use folio::ir::device::Inlined;
use folio::prelude::*;

#[device_fn]
fn get(i: Item, x: In<u32>) -> u32 {
    x[i]
}

struct Far;

impl Inlined for Far {
    const FUNCTION: &'static folio::ir::source::Function = <get as Inlined>::FUNCTION;
}

fn main() {}
