//! Several OpenCL platforms in one runtime: the machine's own, where it has several, and otherwise
//! a driver's devices, each with a context of its own. PoCL has two devices in a process that asks
//! for them.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support;
use crate::support::turns;
use folio::prelude::*;
use folio_conformance::engine::kernel_names;
use folio_core::hal::{Backend, DeviceInfo};
use folio_opencl::{Native, OpenClBackend};
use std::collections::{BTreeMap, HashSet};
use std::process::Command;
use std::sync::mpsc::channel;

/// Set in a process with two devices.
const TWO: &str = "FOLIO_TEST_TWO_DEVICES";

/// How many there are that do not share a context.
fn platforms(devices: &[DeviceInfo]) -> usize {
    let groups = devices.iter().map(|device| device.caps.wait_group.map(|group| group.0));
    groups.collect::<HashSet<_>>().len()
}

/// Runs a test over the machine's platforms, if it has several, and in another process over devices
/// apart.
#[track_caller]
fn each(name: &str, test: impl Fn(fn() -> OpenClBackend)) {
    let there = match OpenClBackend::new().devices() {
        Ok(devices) => platforms(&devices),
        Err(why) => return println!("skipped: opencl: {}", why.reason),
    };
    if std::env::var_os(TWO).is_some() {
        let devices = OpenClBackend::new().apart().devices().unwrap();
        return match devices.len() {
            1 => println!("skipped: opencl platforms: one device"),
            _ => test(|| OpenClBackend::new().apart()),
        };
    }
    if there > 1 {
        println!("{there} platforms");
        test(OpenClBackend::new);
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("opencl_platforms::{name}"), "--nocapture"]);
    let ran = command.env(TWO, "1").env("POCL_DEVICES", "pthread pthread").output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    print!("{said}");
    assert!(ran.status.success() && said.contains("1 passed"), "{ran:?}");
}

/// A queue on one device of each platform.
fn queues(rt: &Runtime) -> Vec<Queue> {
    let mut seen = HashSet::new();
    let mut first =
        |device: &folio::DeviceRef| seen.insert(device.info().caps.wait_group.unwrap().0);
    let devices = rt.devices().into_iter().filter(|device| first(device));
    devices.map(|device| rt.queue_on(&device).unwrap()).collect()
}

#[kernel]
fn step(i: Item, by: u32, x: InOut<u32>) {
    x[i] = x[i] * 5 + by;
}

/// BACK-01: all devices are there, each under a name and with memory of its own; those of a
/// platform have its context, and no others.
#[test]
fn opencl_platforms_have_contexts_of_their_own() {
    each("opencl_platforms_have_contexts_of_their_own", |build| {
        let infos = build().devices().unwrap();
        assert!(platforms(&infos) > 1, "{infos:?}");
        let rt = Runtime::builder()
            .backend(build())
            .links(folio_core::memory::Links::Off)
            .build()
            .unwrap();
        assert_eq!(rt.devices().len(), infos.len(), "{:?}", rt.missing_backends());
        let (mut names, mut homes, mut ids) = (HashSet::new(), HashSet::new(), HashSet::new());
        let mut contexts = BTreeMap::new();
        for device in rt.devices() {
            let (tell, told) = channel();
            let event = rt.queue_on(&device).unwrap().submit(|g| {
                // SAFETY: it enqueues nothing.
                unsafe {
                    g.interop((), move |cl: &Native| {
                        tell.send((cl.context.addr(), cl.device.addr())).unwrap();
                    });
                }
                Ok(())
            });
            event.unwrap().wait().unwrap();
            let (context, id) = told.recv().unwrap();
            let group = device.info().caps.wait_group.unwrap().0;
            assert_eq!(*contexts.entry(group).or_insert(context), context, "{device:?}");
            names.insert(device.name().to_owned());
            homes.insert(device.info().home);
            ids.insert(id);
        }
        let different: HashSet<_> = contexts.values().collect();
        assert_eq!(different.len(), platforms(&infos), "{contexts:?}");
        assert_eq!([names.len(), homes.len(), ids.len()], [infos.len(); 3], "{infos:?}");
    });
}

/// XFER-05: between platforms data goes by way of the host, what is outdated and nothing else.
#[test]
fn opencl_platforms_exchange_what_is_outdated() {
    each("opencl_platforms_exchange_what_is_outdated", |build| {
        let rt = Runtime::builder()
            .backend(build())
            .links(folio_core::memory::Links::Off)
            .build()
            .unwrap();
        let n = 1 << 16;
        let mut expected: Vec<u32> = (0..n as u32).collect();
        let page = BufferOptions::new().page([1 << 10]);
        let mut x = rt.buffer_with(&expected, page).unwrap();
        let queues = queues(&rt);
        let mut run = |q: &Queue, end: usize, by: u32| {
            let before = x.counters();
            q.run(end, step(by, &mut x)).unwrap();
            let after = x.counters();
            expected[..end].iter_mut().for_each(|x| *x = x.wrapping_mul(5).wrapping_add(by));
            let chunks = after.chunks - before.chunks;
            let [up, across] = [before, after].map(|c| [c.host_to_device, c.device_to_device]);
            let [up, across] = [0, 1].map(|k| across[k].bytes - up[k].bytes);
            ([up, across, after.device_to_host.bytes], chunks)
        };
        let [a, b] = &queues[..2] else { unreachable!("two platforms") };
        let all = 4 * n as u64;
        assert_eq!(run(a, n, 1), ([all, 0, 0], 0));
        assert_eq!(run(b, n / 2, 2), ([0, all / 2, 0], 1));
        assert_eq!(run(b, n / 4, 3), ([0, 0, 0], 0));
        assert_eq!(run(a, n, 4), ([0, all / 2, 0], 1));
        assert_eq!(run(b, n / 8, 5), ([0, all / 8, 0], 1));
        assert_eq!(x.to_vec().unwrap(), expected);
        assert_eq!(x.counters().device_to_host.bytes, all);
    });
}

/// The same between devices that share a context is a copy from one to the other.
#[test]
fn opencl_devices_of_one_context_need_no_host() {
    let run = |build: fn() -> OpenClBackend, chunks: u64| {
        let rt = Runtime::builder()
            .backend(build())
            .links(folio_core::memory::Links::Off)
            .build()
            .unwrap();
        let mut x = rt.buffer_from(&[1u32; 100]).unwrap();
        for device in &rt.devices()[..2] {
            rt.queue_on(device).unwrap().run(100, step(1, &mut x)).unwrap();
        }
        assert_eq!(x.to_vec().unwrap(), [31; 100]);
        let counters = x.counters();
        assert_eq!((counters.device_to_device.bytes, counters.chunks), (400, chunks));
    };
    each("opencl_devices_of_one_context_need_no_host", |build| {
        if std::env::var_os(TWO).is_some() {
            run(OpenClBackend::new, 0);
            run(build, 1);
        }
    });
}

#[test]
fn opencl_platforms_take_turns() {
    each("opencl_platforms_take_turns", |build| {
        let rt = || Runtime::builder().backend(build()).build().unwrap();
        turns::all_take_turns(rt);
        turns::failures_reach_all(&rt());
    });
}

/// The suite, without cases of kernels, of which each needs one device.
#[test]
fn compile_and_pass_opencl_platforms() {
    each("compile_and_pass_opencl_platforms", |build| {
        let kernels = kernel_names();
        let wanted = |name: &str| !kernels.contains(&name);
        let left_out = support::left_out(&build(), &support::addresses(&build()));
        support::passes_where(build, &wanted, &left_out);
    });
}
