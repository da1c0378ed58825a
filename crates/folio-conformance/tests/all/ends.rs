//! A process ends while threads of its own are in calls of drivers, which take themselves down
//! then.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio::prelude::*;
use folio_core::hal::Backend;
use folio_cpu::CpuBackend;
use folio_cuda::CudaBackend;
use folio_opencl::OpenClBackend;
use folio_vulkan::VulkanBackend;
use std::process::Command;
use std::thread;
use std::time::Duration;

const ENDS: &str = "FOLIO_ENDS_AFTER";

#[kernel]
fn sum(i: Item, x: In<f32>, y: InOut<f32>) {
    y[i] += x[i];
}

/// Launches, reads and allocates for ever.
fn works(rt: &Runtime, turn: usize) -> folio::Result<()> {
    let q = rt.queue()?;
    let x = rt.buffer_from(&[1.0f32; 1000])?;
    let mut y = rt.buffer_from(&[1.0f32; 1000])?;
    loop {
        for _ in 0..20 {
            q.run(1000, sum(&x, &mut y))?;
        }
        match turn % 3 {
            0 => q.wait()?,
            1 => drop(y.to_vec()?),
            _ => {
                let (more, mut z) = (rt.buffer_from(&[1.0f32; 5000])?, rt.buffer::<f32>(5000)?);
                q.run(5000, sum(&more, &mut z))?;
            }
        }
    }
}

/// A process of its own for each time, which ends as it would without the threads.
fn ends_beside_calls<B: Backend + 'static>(test: &str, backend: impl Fn() -> B) {
    if let Some(after) = std::env::var(ENDS).ok().and_then(|text| text.parse().ok()) {
        let rt = Runtime::builder().backend(backend()).build().unwrap();
        works_in_threads(&rt);
        return thread::sleep(Duration::from_millis(after));
    }
    if let Err(why) = backend().devices() {
        return println!("skipped: {}: {}", backend().name(), why.reason);
    }
    for after in [20, 60, 150] {
        let mut own = Command::new(std::env::current_exe().unwrap());
        let name = format!("ends::{test}");
        let own = own.args([&name, "--exact", "--nocapture"]).env(ENDS, after.to_string());
        let out = own.output().unwrap();
        let said = [&out.stdout, &out.stderr].map(|text| String::from_utf8_lossy(text));
        assert!(out.status.success(), "after {after} ms: {}\n{}", out.status, said.concat());
        assert!(said[0].contains("1 passed"), "{}", said[0]);
    }
}

fn works_in_threads(rt: &Runtime) {
    for turn in 0..3 {
        let rt = rt.clone();
        thread::spawn(move || works(&rt, turn));
    }
}

#[test]
fn cpu_ends_beside_calls() {
    ends_beside_calls("cpu_ends_beside_calls", || CpuBackend::new().unwrap());
}

#[test]
fn opencl_ends_beside_calls() {
    ends_beside_calls("opencl_ends_beside_calls", OpenClBackend::new);
}

#[test]
fn vulkan_ends_beside_calls() {
    ends_beside_calls("vulkan_ends_beside_calls", VulkanBackend::new);
}

#[test]
fn cuda_ends_beside_calls() {
    ends_beside_calls("cuda_ends_beside_calls", CudaBackend::new);
}
