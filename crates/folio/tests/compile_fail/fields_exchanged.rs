//! KRN-06: an attribute below the derive can change the struct: what the derive has read is checked where it is compiled.
#![forbid(unsafe_code)]
use folio::prelude::*;
use folio_test_exchange::fields;

#[derive(Clone, Copy, DeviceType)]
#[fields(a: &'static u32)]
#[repr(C)]
struct OtherType {
    a: u64,
}

#[derive(Clone, Copy, DeviceType)]
#[fields(a: u32, b: &'static u32)]
#[repr(C)]
struct More {
    a: u32,
}

#[derive(Clone, Copy, DeviceType)]
#[fields(a: u32)]
#[repr(C)]
struct Fewer {
    a: u32,
    b: u32,
}

fn main() {}
