//! Managed pointers, implicitly: the second program of the paper P0567 (figure 4), in which a
//! kernel puts its pointers by itself.
//!
//! `FOLIO_DEVICE` chooses the device: `FOLIO_CPU_DOMAINS=2 FOLIO_DEVICE=cpu:1` has a memory of its
//! own without a GPU.
#![forbid(unsafe_code)]

use folio::managed::{ManagedPtr, run};
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

    // The compute operation moves both to the device.
    run(&gpu_executor, 1024, squares(&a, &b)).wait()?;
    // The host has access only where it computes in the same memory.
    let host = rt.host_executor()?;
    assert_eq!(b.read().is_ok(), gpu_executor.shares_memory_with(&host));

    // Back to the host.
    b.get().wait()?;
    println!("{:?}: 31 * 31 = {}", gpu_executor, b.read()?[31]);
    assert!(b.read()?.iter().enumerate().all(|(at, b)| *b == (at * at) as f32));
    Ok(())
}
