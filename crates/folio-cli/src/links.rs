//! How fast bytes move between two memories, measured.

use folio::{DeviceRef, Result, Runtime, UsmKind, UsmPtr};
use serde_json::{Value, json};
use std::time::Instant;

/// Large enough for the bandwidth, small enough for a second on a slow link.
const BYTES: usize = 32 << 20;

/// The first round is not counted: memory may be made when it is first touched.
const ROUNDS: usize = 4;

/// Megabytes a second, of the quickest round.
fn measured(rt: &Runtime, on: &DeviceRef, from: UsmPtr, to: UsmPtr) -> Result<f64> {
    let q = rt.queue_on(on)?;
    let mut best = f64::INFINITY;
    for round in 0..ROUNDS {
        let start = Instant::now();
        let copied = q.submit(|cg| {
            // SAFETY: both have so many bytes, are initialised, and live in the caller, which waits
            // here; only this command uses them.
            unsafe { cg.copy_raw(from, to, [BYTES]) };
            Ok(())
        });
        copied?.wait()?;
        if round > 0 {
            best = best.min(start.elapsed().as_secs_f64());
        }
    }
    Ok(BYTES as f64 / best / 1e6)
}

/// From the host to each device and back, and from each device to each other one.
pub fn all(rt: &Runtime) -> Vec<Value> {
    let devices = rt.devices();
    let mut found = Vec::new();
    let mut note = |from: &str, to: &str, speed: Result<f64>| {
        let (speed, error) = (speed.as_ref().ok(), speed.as_ref().err().map(ToString::to_string));
        found.push(json!({"from": from, "to": to, "megabytes_per_second": speed, "error": error}));
    };
    let device_memory = |on| rt.usm::<u8>(on, UsmKind::Device, BYTES);
    let mut bytes = vec![1u8; BYTES];
    let host = UsmPtr::of_host(rt, bytes.as_mut_ptr(), BYTES);
    for device in &devices {
        let there = |up| {
            let memory = device_memory(device)?;
            match up {
                true => measured(rt, device, host, memory.pointer()),
                false => measured(rt, device, memory.pointer(), host),
            }
        };
        note("host", device.name(), there(true));
        note(device.name(), "host", there(false));
        for other in devices.iter().filter(|other| other.name() != device.name()) {
            let between = || {
                let (from, to) = (device_memory(device)?, device_memory(other)?);
                measured(rt, other, from.pointer(), to.pointer())
            };
            note(device.name(), other.name(), between());
        }
    }
    found
}
