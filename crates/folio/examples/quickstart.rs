//! The first program: saxpy over two buffers, and what the runtime did for it.
//!
//! ```sh
//! cargo run --release --example quickstart
//! FOLIO_CPU_DOMAINS=2 FOLIO_DEVICE=cpu:1 cargo run --release --example quickstart
//! ```
//!
//! The second line makes the CPU act as two devices with separate memory and computes on the one
//! that is not the host's: now the data has to move, and the program is the same.
#![forbid(unsafe_code)]

use folio::prelude::*;
use std::time::Instant;

const N: usize = 1 << 22;
const ROUNDS: usize = 10;

#[kernel]
fn saxpy(i: Item, a: f32, x: In<f32>, y: InOut<f32>) {
    y[i] = a * x[i] + y[i];
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Every backend that is compiled in, set up from the environment.
    let rt = folio::runtime()?;
    println!("devices:");
    for device in rt.devices() {
        println!("  {device:?}");
    }
    let q = rt.queue()?; // the best device, or the one that FOLIO_DEVICE names
    println!("running on {}", q.device().name());

    let x = rt.buffer_from(&vec![1.0f32; N])?; // copied; the vector is free
    let mut y = rt.buffer::<f32>(N)?; // no memory yet; reads as zero

    let start = Instant::now();
    for _ in 0..ROUNDS {
        q.run(N, saxpy(2.0, &x, &mut y))?;
    }
    // Waits for the ten kernels, because they write `y`, and brings `y` to the host if it is
    // elsewhere.
    let result = y.read()?;
    let time = start.elapsed();

    let wanted = 2.0 * ROUNDS as f32;
    if let Some(at) = result.iter().position(|v| *v != wanted) {
        return Err(format!("y[{at}] is {}, not {wanted}", result[at]).into());
    }
    let did = rt.counters();
    println!(
        "{ROUNDS} kernels over {N} elements took {:.2} ms, first use included",
        1e3 * time.as_secs_f64()
    );
    println!("moved to the device: {:>9} bytes", did.host_to_device.bytes);
    println!("moved to the host:   {:>9} bytes", did.device_to_host.bytes);
    println!("allocations: {}, {} bytes together", did.allocations, did.allocated_bytes);
    println!("every element is {wanted}, as it should be");
    Ok(())
}
