//! KRN-01, POL-05: what is in device memory has no padding and no invalid values.
use folio::prelude::*;

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Padded {
    small: u8,
    large: u32,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Picky {
    flag: bool,
}

fn main() {}
