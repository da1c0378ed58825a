//! Data four times as large as the device's memory: chunks give way to later ones.
//!
//! The CPU acts as two devices here, of which the second has a budget of four chunks and a sum.
//! Sixteen chunks are added up there, three times over. On a GPU, a budget is not needed: its
//! memory is the limit. Chunks in page-locked memory are copied fastest there:
//! `BufferOptions::page_locked`.
#![forbid(unsafe_code)]

use folio::cpu::CpuBackend;
use folio::prelude::*;
use folio::{BufferOptions, memory::Evict};
use std::error::Error;

const CHUNKS: usize = 16;
const LEN: usize = 1 << 18;
const BYTES: u64 = (LEN * size_of::<f32>()) as u64;
/// How many chunks the device has room for.
const ROOM: u64 = 4;
const ROUNDS: usize = 3;

#[kernel]
fn add(i: Item, x: In<f32>, sum: InOut<f32>) {
    sum[i] += x[i];
}

fn main() -> Result<(), Box<dyn Error>> {
    let rt = Runtime::builder()
        .backend(CpuBackend::builder().domains(2).build()?)
        .budget("cpu:1", (ROOM + 1) * BYTES)
        .build()?;
    let q = rt.queue_on("cpu:1")?;

    // Chunks may be freed on the device: their data are on the host, too.
    let chunk = |at: usize| {
        let values = vec![at as f32; LEN];
        rt.buffer_with(values, BufferOptions::new().evict(Evict::clean()))
    };
    let chunks = (0..CHUNKS).map(chunk).collect::<folio::Result<Vec<Buffer<f32>>>>()?;
    let mut sum = rt.buffer::<f32, 1>(LEN)?;

    for round in 1..=ROUNDS {
        for chunk in &chunks {
            q.run(LEN, add(chunk, &mut sum))?;
        }
        let (limit, used) = rt.device("cpu:1")?.budget();
        println!("round {round}: {used} of {limit} bytes in use");
        assert!(used <= limit);
    }
    // A chunk takes over the memory of an earlier one: it is copied there after the kernel that
    // uses it, and no thread waits.
    assert_eq!(rt.counters().allocations, ROOM + 1);

    let wanted = (ROUNDS * CHUNKS * (CHUNKS - 1) / 2) as f32;
    assert!(sum.read()?.iter().all(|value| *value == wanted));
    let counters = rt.counters();
    println!(
        "{} bytes of data, {} chunks fit, {} evictions, {} bytes to the device",
        CHUNKS as u64 * BYTES,
        ROOM,
        counters.evictions,
        counters.host_to_device.bytes
    );
    assert!(counters.evictions >= (CHUNKS as u64 - ROOM) * ROUNDS as u64);
    Ok(())
}
