//! Managed pointers, explicitly: the first program of the paper P0567 (figure 3), in which moves
//! and a kernel are chained.
//!
//! `FOLIO_DEVICE` chooses the device: `FOLIO_CPU_DOMAINS=2 FOLIO_DEVICE=cpu:1` has a memory of its
//! own without a GPU.
#![forbid(unsafe_code)]

use folio::managed::{ManagedPtr, put};
use folio::prelude::*;

#[kernel]
fn squares(i: Item, a: In<f32>, b: Out<f32>) {
    b[i] = a[i] * a[i];
}

fn populate(pointer: &ManagedPtr<f32>) -> folio::Result<()> {
    for (at, value) in pointer.discard()?.iter_mut().enumerate() {
        *value = at as f32;
    }
    Ok(())
}

fn main() -> folio::Result<()> {
    // An executor for work on the device, and its allocator.
    let rt = folio::runtime()?;
    let gpu_executor = rt.executor(Selector::from_env()?)?;
    let gpu_allocator = gpu_executor.allocator();

    // The first pointer is allocated on the host, when it is first used there, the second on the
    // device.
    let a = rt.managed::<f32>(1024)?;
    let b = rt.managed_in::<f32>(&gpu_allocator, 1024)?;
    populate(&a)?;

    // A series of compute and data operations. They start at once.
    let done = put(&gpu_executor, &a)
        .then_put(&gpu_executor, &b)
        .then_async(&gpu_executor, 1024, squares(&a, &b))
        .then_get(&gpu_executor, (&a, &b));

    // Wait for them. Until then the host has no access.
    done.wait()?;
    println!("{:?}: 31 * 31 = {}", gpu_executor, b.read()?[31]);
    assert!(b.read()?.iter().enumerate().all(|(at, b)| *b == (at * at) as f32));

    // Only what was outdated has moved: `a` there, `b` back; nothing where the device works in the
    // host's memory, or in memory that is linked with it.
    let (there, back) = (rt.counters().host_to_device.bytes, rt.counters().device_to_host.bytes);
    println!("{there} bytes to the device, {back} bytes to the host");
    assert!(matches!((there, back), (4096, 4096) | (0, 0)));
    Ok(())
}
