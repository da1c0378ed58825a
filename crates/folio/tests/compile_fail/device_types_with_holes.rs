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

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Nothing {}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct OfNothing {
    a: u32,
    nothing: Nothing,
    b: u32,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct OfAnEmptyArray {
    a: u32,
    nothing: [u32; 0],
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Pair<A, B> {
    a: A,
    b: B,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct OfPairs {
    pairs: [Pair<u32, Nothing>; 2],
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C, packed)]
struct Packed {
    small: u8,
    large: u32,
}

fn buffers_of_pairs(rt: &folio::Runtime) {
    let _ = rt.buffer::<[Pair<u8, u32>; 3], 1>(5);
}

fn main() {}
