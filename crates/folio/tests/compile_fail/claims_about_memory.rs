//! KRN-02, FUSE-05: unsafe code alone says of memory what the engine does not check: that items do
//! not race, that a scope is right, what a driver's kernel or task accesses, what is at an address
//! and whether it has been written; and what a device of the program's own does.
#![forbid(unsafe_code)]
use folio::prelude::*;
use folio::{buffer::{Marks, Overwritten}, memory::RawMemory, opaque::{Image, OpaqueKernel}, DeviceRef, RacyMemory, Usm};
use folio::{buffer::ViewPolicy, UsmPtr};

fn races(x: &mut Buffer<f32>) {
    let _ = RacyMemory::new(&mut *x);
    let _ = Overwritten::new(x);
}

fn scopes(x: &mut Buffer<f32>) {
    x.mark(Marks::new().access_scope(folio::graph::AccessScope::Item).trusted());
}

fn images(bytes: &[u8]) {
    let _ = Image::new(bytes);
}

fn commands(cg: &mut CommandGroup, kernel: &OpaqueKernel, at: UsmPtr) {
    cg.run_opaque([1], kernel, []);
    cg.copy_raw(at, at, [1]);
    cg.fill_raw(at, [1], 0u32);
    cg.interop((), |_: &u32| ());
}

fn addresses(rt: &Runtime, device: &DeviceRef, x: &mut Buffer<f32>) {
    let _ = Usm::<f32>::from_raw(device, RawMemory::Address(64), 1);
    let _ = rt.view_raw::<f32, 1>([1], std::ptr::dangling_mut(), ViewPolicy::Sync);
    let _ = x.assume_written([0], [1], device);
}

/// What a device, memory of the host, or what a closure is given is, says its trait.
struct Mine;
impl folio::hal::Backend for Mine {}
impl folio::hal::Device for Mine {}
impl folio::hal::Lane for Mine {}
impl folio::hal::Graph for Mine {}
impl folio::hal::UsmAllocator for Mine {}
impl folio::buffer::HostStorage for Mine {}
impl folio::memory::HostAllocator for Mine {}
impl folio::KernelArgs<1> for Mine {}
impl folio::HostArgs for Mine {}

fn main() {}
