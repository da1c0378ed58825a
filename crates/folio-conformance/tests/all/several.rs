//! One computation on several devices, each with a band of it: a stencil whose halo is derived from
//! its kernel, and bodies of which each needs all others. Bytes are those that a program by hand
//! would move, and results those of one device: on simulated devices, on CPUs, and on GPUs where
//! there are some.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

#[path = "../../../folio-bench-matrix/src/workloads/several/kernels.rs"]
mod kernels;

use crate::support::gpus;
use folio::prelude::*;
use folio::sched::{Locality, OwnerComputes, Scheduler};
use folio_core::DeviceRef;
use folio_core::hal::{Backend, Link, MemoryHome};
use folio_cpu::CpuBackend;
use folio_cuda::CudaBackend;
use folio_layers::{DeviceRef as HookedDevice, Hooks, Layer};
use folio_model::interp::Interpreter;
use folio_sim::{DeviceSpec, SimBackend};
use kernels::{attract, heat};
use std::sync::Arc;

const COUNTS: [usize; 4] = [1, 2, 4, 8];
const STEPS: usize = 6;

/// What moved in each step, and what was computed.
struct Ran<T> {
    bytes: Vec<usize>,
    result: Vec<T>,
}

/// Runs the steps: each device its band, in turn. The last two are submitted to a queue over all
/// devices, last band first, so that it is the scheduler that finds where a band is at home.
fn steps<T>(
    rt: &Runtime,
    devices: &[DeviceRef],
    scheduler: impl Scheduler + 'static,
    mut band: impl FnMut(&Queue, usize, usize),
    result: impl FnOnce() -> Vec<T>,
) -> Ran<T> {
    let queues: Vec<Queue> = devices.iter().map(|device| rt.queue_on(device).unwrap()).collect();
    let over = rt.queue_over(devices, scheduler).unwrap();
    let mut bytes = Vec::new();
    let mut before = rt.counters().transfers().bytes;
    for step in 0..STEPS {
        for (at, q) in queues.iter().enumerate() {
            match step + 2 < STEPS {
                true => band(q, step, at),
                false => band(&over, step, devices.len() - 1 - at),
            }
        }
        let now = rt.counters().transfers().bytes;
        bytes.push((now - before) as usize);
        before = now;
    }
    rt.wait().unwrap();
    Ran { bytes, result: result() }
}

/// Rows of a plate that are each device's.
fn rows(devices: usize, scale: usize) -> usize {
    8 * scale / devices
}

fn stencil(rt: &Runtime, devices: &[DeviceRef], scale: usize) -> Ran<f32> {
    let (n, columns) = (rows(devices.len(), scale), 16 * scale);
    let all = n * devices.len() + 2;
    let plate: Vec<f32> = (0..all * columns).map(|k| (k * 37 % 1009) as f32).collect();
    let page = || BufferOptions::new().page([1, columns]);
    let old = rt.buffer_with((&plate, [all, columns]), page()).unwrap().into_shared();
    let new = rt.buffer_with((&plate, [all, columns]), page()).unwrap().into_shared();
    let turn = |step| if step % 2 == 0 { (&old, &new) } else { (&new, &old) };
    let band = |q: &Queue, step, at: usize| {
        let (from, to) = turn(step);
        let first = 1 + at * n;
        q.run([first..first + n, 0..columns], heat(from, to)).unwrap();
    };
    steps(rt, devices, Locality, band, || turn(STEPS).0.to_vec().unwrap())
}

/// Bytes of each step by hand. `at_home` is 1 if the first device works in the host's memory, where
/// all data is.
fn stencil_by_hand(devices: usize, at_home: usize, scale: usize) -> Vec<usize> {
    let halo = 2 * (devices - 1);
    // Everything that each device reads: its band and a row on either side.
    let first = (devices - at_home) * (rows(devices, scale) + 2);
    // The other plate's outermost rows, which nobody writes, where they are not yet.
    let outermost = (1 - at_home) + usize::from(devices > at_home);
    let step = |step| match step {
        0 => first,
        1 => halo + outermost,
        _ => halo,
    };
    (0..STEPS).map(|k| step(k) * 16 * scale * size_of::<f32>()).collect()
}

fn bodies(rt: &Runtime, devices: &[DeviceRef], scale: usize) -> Ran<[f32; 4]> {
    let all = 16 * scale;
    let n = all / devices.len();
    let of = |k: usize, by: usize| (k * by % 101) as f32 / 101.0;
    let places: Vec<[f32; 4]> =
        (0..all).map(|k| [of(k, 7), of(k, 31), of(k, 53), 0.01 + of(k, 3)]).collect();
    let page = || BufferOptions::new().page([n]);
    let old = rt.buffer_with(&places, page()).unwrap().into_shared();
    let new = rt.buffer_with::<[f32; 4], 1>([all], page()).unwrap().into_shared();
    let speed = rt.buffer_with((vec![[0.0f32; 4]; all], [all]), page()).unwrap().into_shared();
    let turn = |step| if step % 2 == 0 { (&old, &new) } else { (&new, &old) };
    let band = |q: &Queue, step, at: usize| {
        let (from, to) = turn(step);
        q.run(at * n..(at + 1) * n, attract(1e-3, from, &speed, to)).unwrap();
    };
    // The device that has gathered all places needs the fewest bytes for any band: so it is not by
    // locality.
    steps(rt, devices, OwnerComputes, band, || turn(STEPS).0.to_vec().unwrap())
}

fn bodies_by_hand(devices: usize, at_home: usize, scale: usize) -> Vec<usize> {
    let all = 16 * scale * size_of::<[f32; 4]>();
    // All places to each device and to each the speeds of its own; then each part to all others.
    let first = (devices - at_home) * (all + all / devices);
    (0..STEPS).map(|step| if step == 0 { first } else { (devices - 1) * all }).collect()
}

/// Both computations on 1, 2, 4 and 8 of the devices that a backend has.
fn compute<B: Backend + 'static>(make: impl Fn(usize) -> Option<B>, scale: usize, peers: bool) {
    let mut one = None;
    for n in COUNTS {
        let Some(backend) = make(n) else { continue };
        let rt = Runtime::builder().backend(backend).build().unwrap();
        let devices = &rt.devices()[..n];
        let at_home = usize::from(devices[0].info().home == MemoryHome::Host);
        let (plate, places) = (stencil(&rt, devices, scale), bodies(&rt, devices, scale));
        assert_eq!(plate.bytes, stencil_by_hand(n, at_home, scale), "stencil on {n}");
        assert_eq!(places.bytes, bodies_by_hand(n, at_home, scale), "bodies on {n}");
        println!(
            "{n} devices, bytes of each step: stencil {:?}, bodies {:?}",
            plate.bytes, places.bytes
        );
        let counters = rt.counters();
        assert_eq!(counters.chunks > 0, n > 1 + at_home && !peers, "by way of the host, on {n}");
        let one = one.get_or_insert((plate.result.clone(), places.result.clone()));
        assert!(plate.result == one.0, "the stencil on {n} is not that on one");
        assert!(places.result == one.1, "the bodies on {n} are not those on one");
    }
}

/// BACK-03: what is nowhere yet is spread over the devices, evenly, and each keeps its part, though
/// all of them read everything.
#[test]
fn sim_owners_share_from_the_first_step() {
    let spec = || DeviceSpec::new().closures(false).ir(Arc::new(Interpreter));
    let backend = SimBackend::builder().devices(4, spec()).peers(Link::default()).build();
    let rt = Runtime::builder().backend(backend).build().unwrap();
    let devices = rt.devices();
    let (n, all) = (16, 64);
    let page = || BufferOptions::new().page([n]);
    let places = rt.buffer_with((vec![[0.5f32; 4]; all], [all]), page()).unwrap().into_shared();
    let next = rt.buffer_with::<[f32; 4], 1>([all], page()).unwrap().into_shared();
    let speed = rt.buffer_with((vec![[0.0f32; 4]; all], [all]), page()).unwrap().into_shared();
    let over = rt.queue_over(&devices, OwnerComputes).unwrap();
    let mut homes = Vec::new();
    for step in 0..STEPS {
        let (from, to) = if step % 2 == 0 { (&places, &next) } else { (&next, &places) };
        let band = |at: usize| {
            let event = over.run(at * n..(at + 1) * n, attract(1e-3, from, &speed, to)).unwrap();
            event.wait().unwrap();
            event.device().unwrap().name().to_owned()
        };
        homes.push((0..4).map(band).collect::<Vec<_>>());
    }
    let mut first = homes[0].clone();
    assert!(homes.iter().all(|step| *step == first), "{homes:?}");
    first.sort();
    assert_eq!(first, ["sim:0", "sim:1", "sim:2", "sim:3"]);
}

/// BACK-03, XFER-04, KRN-09
#[test]
fn sim_with_links() {
    let device = || DeviceSpec::new().closures(false).ir(Arc::new(Interpreter));
    let make = |n| Some(SimBackend::builder().devices(n, device()).peers(Link::default()).build());
    compute(make, 4, true);
}

/// XFER-05
#[test]
fn sim_by_way_of_the_host() {
    let device = || DeviceSpec::new().closures(false).ir(Arc::new(Interpreter));
    compute(|n| Some(SimBackend::builder().devices(n, device()).build()), 4, false);
}

#[test]
fn cpu_domains() {
    for peers in [true, false] {
        let make = |n| CpuBackend::builder().domains(n).threads(n).peer(peers).build().ok();
        compute(make, 32, peers);
    }
}

/// Devices that do not reach one another, whatever links there are.
struct Apart;

// SAFETY: it says less than there is.
unsafe impl Hooks for Apart {
    fn peer(&self, _: &HookedDevice, _: &HookedDevice) -> Option<Link> {
        None
    }
}

/// XFER-05
#[test]
fn cuda_gpus_by_way_of_the_host() {
    let there = match CudaBackend::new().devices() {
        Ok(devices) => devices.len(),
        Err(why) => return println!("skipped: cuda: {}", why.reason),
    };
    compute(|n| (n <= there).then(|| Layer::new(Apart, Arc::new(CudaBackend::new()))), 64, false);
    if there == 1 {
        println!("skipped: gpus: there is one; it was used");
    }
}

#[test]
fn cuda_gpus() {
    let there = match CudaBackend::new().devices() {
        Ok(devices) => devices.len(),
        Err(why) => return println!("skipped: cuda: {}", why.reason),
    };
    let peers = gpus::all_are_peers(there.min(8));
    compute(|n| (n <= there).then(CudaBackend::new), 64, peers);
    if there == 1 {
        println!("skipped: gpus: there is one; it was used");
    }
}
