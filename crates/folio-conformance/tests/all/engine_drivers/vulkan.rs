//! What Vulkan's devices alone do; the validation layer has nothing to say.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio::prelude::*;
use folio::{DeviceRef, Usm, UsmKind};
use folio_core::hal::{Backend, DeviceKind};
use folio_cpu::CpuBackend;
use folio_model::drivers::{CUDA, VULKAN, validated};
use folio_model::suite::Budget;
use std::fs;
use std::process::Command;
use std::sync::Arc;

const N: usize = 100_000;

#[kernel]
fn grow(i: Item, by: i32, x: InOut<i32>) {
    x[i] = x[i] * 3 + by;
}

/// Threads and open files of this process, and its memory in bytes.
#[cfg(target_os = "linux")]
fn held() -> [usize; 3] {
    let [tasks, files] = ["task", "fd"].map(|all| fs::read_dir(format!("/proc/self/{all}")));
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = pages.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap();
    [tasks.unwrap().count(), files.unwrap().count(), 4096 * pages]
}

/// QUAL-03: runtimes, their buffers and kernels come and go, a thousand times, fewer on a GPU, or
/// as often as a soak says, and leave no thread, no file and no memory behind.
#[cfg(target_os = "linux")]
#[test]
fn runtimes_of_vulkan_come_and_go() {
    // Threads of other tests are not counted: this has a process of its own.
    const ALONE: &str = "FOLIO_CYCLES_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let name = "engine_drivers::vulkan::runtimes_of_vulkan_come_and_go";
        let mut own = Command::new(std::env::current_exe().unwrap());
        let out = own.args([name, "--exact", "--nocapture"]).env(ALONE, "1").output().unwrap();
        let said = [out.stdout, out.stderr].map(|text| String::from_utf8(text).unwrap());
        println!("{}", said.concat());
        assert!(out.status.success() && said[0].contains("1 passed"));
        return;
    }
    if !VULKAN.is_there() {
        return;
    }
    // A device takes a GPU's driver some tenths of a second.
    let usual = if std::env::var_os("FOLIO_TESTS_ON_GPUS").is_some() { 60 } else { 1_000 };
    let cycles = Budget::of("CYCLES_VULKAN").cases.unwrap_or(usual);
    let backend: Arc<dyn Backend> = Arc::new(validated());
    let cycle = |turn: u64| {
        let rt = Runtime::builder().shared_backend(backend.clone()).build().unwrap();
        let q = rt.queue_on("vulkan").unwrap();
        let mut x = rt.buffer::<i32, 1>(1000).unwrap();
        q.run(1000, grow(turn as i32, &mut x)).unwrap();
        assert_eq!(x.to_vec().unwrap(), [turn as i32; 1000], "cycle {turn}");
    };
    (0..cycles / 4).for_each(cycle);
    let early = held();
    (0..cycles - cycles / 4).for_each(cycle);
    let late = held();
    println!("{early:?} after a quarter, {late:?} at the end: threads, files, bytes");
    // The last runtime's threads may be on their way out.
    let most = [early[0] + 10, early[1] + 10, early[2] + (32 << 20)];
    assert!(late.iter().zip(most).all(|(now, most)| *now < most), "{early:?}, {late:?}");
    VULKAN.finds_nothing();
}

/// Two devices that are one write each what the other has written. Nothing is copied, and what the
/// first one has made is there until the second one has done with it.
fn are_one_memory(rt: &Runtime, own: &DeviceRef, other: &DeviceRef) {
    let mut x = Usm::<i32>::exported(own, N).unwrap();
    // SAFETY: each command comes after the one before, and the host takes no guard.
    let mut y = unsafe { x.open_on(other) }.unwrap();
    let queues = [own, other].map(|device| rt.queue_on(device).unwrap());
    let (before, mut expected) = (rt.counters(), 0i32);
    let mut last: Option<Event> = None;
    for turn in 0..20 {
        let at = turn as usize % 2;
        let event = queues[at].submit(|g| {
            if let Some(event) = &last {
                g.after(event);
            }
            g.run(N, grow(turn, if at == 0 { &mut x } else { &mut y }));
            Ok(())
        });
        (last, expected) = (Some(event.unwrap()), expected.wrapping_mul(3).wrapping_add(turn));
    }
    drop(x);
    last.unwrap().wait().unwrap();
    let after = rt.counters();
    assert_eq!(after.launches - before.launches, 20);
    let moved = |counters: &folio::Counters| {
        [counters.host_to_device, counters.device_to_host, counters.device_to_device]
    };
    assert_eq!(moved(&before), moved(&after));
    let mut y = y.into_buffer();
    assert_eq!(y.to_vec().unwrap(), vec![expected; N]);
    queues[1].run(N, grow(1, &mut y)).unwrap();
    assert_eq!(y.to_vec().unwrap(), vec![expected.wrapping_mul(3).wrapping_add(1); N]);
}

/// USM-01: a GPU by Vulkan and by CUDA has one memory, where Vulkan's driver exports it.
#[test]
fn cuda_and_vulkan_have_one_memory() {
    if !VULKAN.is_there() || !CUDA.is_there() {
        return;
    }
    let builder = CUDA.builder().backend(validated());
    let rt = builder.keep_twins().build().unwrap();
    let devices = rt.devices();
    let mut pairs = 0;
    let of = |api: &'static str| devices.iter().filter(move |d| d.name().starts_with(api));
    for own in of("vulkan:").filter(|device| device.info().caps.exports) {
        for twin in of("cuda:").filter(|device| device.info().uuid == own.info().uuid) {
            are_one_memory(&rt, own, twin);
            pairs += 1;
            println!("{own:?} and {twin:?} have one memory");
        }
    }
    let is_gpu = |device: &&DeviceRef| device.info().kind == DeviceKind::Gpu;
    match of("vulkan:").filter(is_gpu).any(|device| device.info().caps.exports) {
        true => assert!(pairs > 0, "{devices:?}"),
        false => println!("skipped: vulkan exports: no GPU exports memory"),
    }
    VULKAN.finds_nothing();
}

/// USM-01: so have two devices of Vulkan that are one; memory of others is refused.
#[test]
fn twins_of_vulkan_have_one_memory() {
    if !VULKAN.is_there() {
        return;
    }
    let cpu = CpuBackend::builder().threads(1).build().unwrap();
    let builder = Runtime::builder().backend(validated()).backend(validated());
    let rt = builder.backend(cpu).keep_twins().build().unwrap();
    let devices = rt.devices();
    let (own, cpu) = (&devices[0], rt.device("cpu").unwrap());
    let twin = devices[1..].iter().find(|device| device.info().uuid == own.info().uuid).unwrap();
    let refused = |error: folio::Error, why: &str| {
        assert!(matches!(error, Error::Unsupported { .. }), "{error:?}");
        assert!(error.to_string().contains(why), "{error}");
    };
    refused(Usm::<i32>::exported(&cpu, N).unwrap_err(), "memory for other drivers");
    if !own.info().caps.exports {
        return println!("skipped: vulkan exports: {own:?} exports no memory");
    }
    are_one_memory(&rt, own, twin);
    let plain = rt.usm::<i32>(own, UsmKind::Device, N).unwrap();
    refused(plain.export().unwrap_err(), "not made for other drivers");
    let exported = Usm::<i32>::exported(own, N).unwrap();
    // SAFETY: refused.
    refused(unsafe { exported.open_on(&cpu) }.unwrap_err(), "another device");
    VULKAN.finds_nothing();
}
