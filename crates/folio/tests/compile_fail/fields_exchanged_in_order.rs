//! KRN-06: as in `fields_exchanged`, of the same fields in another order.
#![forbid(unsafe_code)]
use folio::prelude::*;
use folio_test_exchange::fields;

#[derive(Clone, Copy, DeviceType)]
#[fields(b: f32, a: u32)]
#[repr(C)]
struct OtherOrder {
    a: u32,
    b: f32,
}

fn main() {}
