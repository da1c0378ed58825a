//! What memory costs beside a submission: by the driver's own call, by a backend's allocator, and
//! as a submission's first use of a buffer; and what it costs to have another thread do something
//! between two commands. The tests assert counts; they print the times, by which
//! `docs/decisions/32-allocating-is-synchronous.md` was decided.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use cl3::memory::{CL_MEM_READ_WRITE, create_buffer, release_mem_object};
use cudarc::driver::sys;
use folio_core::hal::{AllocKind, AllocReq, Backend, Notify};
use folio_core::{Buffer, BufferOptions, Queue, Runtime, memory::Links};
use folio_model::drivers::Driver;
use folio_model::on_each_driver;
use folio_vulkan::ash::{self, vk};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

const MIB: u64 = 1 << 20;

/// Bytes, and how often they are allocated.
const SIZES: [(u64, usize); 2] = [(MIB, 50), (1024 * MIB, 5)];

/// Bytes that a submission writes.
const PART: usize = 4096;

/// So many submissions are one figure.
const SUBMISSIONS: usize = 200;

/// Times of the driver's call to allocate and to free so many bytes, so often.
type Raw = fn(&Queue, u64, usize) -> Vec<Duration>;

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(f64::NAN, |time| time.as_secs_f64() * 1e6)
}

fn timed<R>(f: impl FnOnce() -> R) -> (Duration, R) {
    let begun = Instant::now();
    let result = f();
    (begun.elapsed(), result)
}

/// What runs on a device with the driver's objects, between commands.
fn natively<N: 'static>(
    q: &Queue,
    rounds: usize,
    round: impl Fn(&N) -> Result<(), String> + Send + 'static,
) -> Vec<Duration> {
    let (send, receive) = channel();
    let done = q.submit(|g| {
        let task = move |native: &N| {
            for _ in 0..rounds {
                let (time, done) = timed(|| round(native));
                done?;
                let _ = send.send(time);
            }
            Ok::<(), String>(())
        };
        // SAFETY: the task enqueues nothing, and frees what it allocates.
        unsafe { g.interop((), task) };
        Ok(())
    });
    done.unwrap().wait().unwrap();
    receive.into_iter().collect()
}

/// The backend's own allocator: the first time, and the others.
fn pooled(backend: &dyn Backend, bytes: u64, rounds: usize) -> (f64, f64) {
    // SAFETY: no command uses the memory.
    let device = unsafe { backend.open(0, Notify::none()) }.unwrap();
    let (kind, align) = (AllocKind::Device, 256);
    let (zeroed, linked, exported, label) = (false, false, false, "time");
    let wanted =
        AllocReq { kind, size: bytes, align, import: None, zeroed, linked, exported, label };
    let round = || device.usm().free(device.usm().alloc(&wanted).unwrap().handle);
    let first = timed(round).0;
    (median(vec![first]), median((0..rounds).map(|_| timed(round).0).collect()))
}

/// A submission to memory that is there, and the first to memory that is not, on an idle queue: the
/// calls, as the submitter sees them.
fn submissions(rt: &Runtime, q: &Queue, bytes: u64, rounds: usize) -> (f64, f64) {
    let fill = |x: &mut Buffer<u8>| {
        // All of its pages: nothing else has to be zeroed.
        let part = x.slice_mut(0, PART).unwrap();
        let (time, event) = timed(|| q.fill(part, 1).unwrap());
        event.wait().unwrap();
        time
    };
    // Allocations are timed, and not frames.
    let options = || BufferOptions::new().page([PART]).sparse(false);
    let fresh = || rt.buffer_with(bytes as usize, options()).unwrap();
    let mut x = fresh();
    fill(&mut x);
    let there = (0..SUBMISSIONS).map(|_| fill(&mut x)).collect();
    let before = rt.counters();
    let first = (0..rounds).map(|_| fill(&mut fresh())).collect();
    let after = rt.counters();
    let made = [after.allocations - before.allocations, after.zero_fills - before.zero_fills];
    assert_eq!(made, [rounds as u64, 0], "each is of fresh memory");
    (median(there), median(first))
}

/// A node that another thread runs, which does nothing, from its submission to its end.
fn handed_over(q: &Queue) -> f64 {
    let one = || {
        let empty = || {
            q.submit(|cg| {
                cg.host_task((), |()| ());
                Ok(())
            })
        };
        timed(|| empty().unwrap().wait().unwrap()).0
    };
    median(std::iter::repeat_with(one).take(SUBMISSIONS).collect())
}

fn prints(driver: &Driver, raw: Option<Raw>) {
    let rt = Runtime::builder().backend((driver.plain)()).links(Links::Off).build().unwrap();
    let device = rt.devices().remove(0);
    let (q, name, info) = (rt.queue_on(&device).unwrap(), device.name(), device.info());
    println!("{name} ({}), us: a node of another thread {:.1}", info.name, handed_over(&q));
    for (bytes, rounds) in SIZES {
        let size = format!("{} MiB", bytes / MIB);
        if info.memory < 4 * bytes || info.caps.max_alloc < bytes {
            println!("{name}, {size}: left out, the device has too little memory");
            continue;
        }
        let by_driver = raw.map(|raw| raw(&q, bytes, rounds));
        assert!(by_driver.iter().all(|times| times.len() == rounds));
        let (cold, warm) = pooled(&(driver.plain)(), bytes, rounds);
        let (there, first) = submissions(&rt, &q, bytes, rounds);
        rt.wait().unwrap();
        assert_eq!(device.budget().1, 0, "all of it is free");
        println!(
            "{name}, {size}, us: driver {:.1}, allocator {warm:.1} (first {cold:.1}), submission \
             {there:.1}, with a new buffer {first:.1}",
            by_driver.map_or(f64::NAN, median)
        );
    }
}

fn cuda(q: &Queue, bytes: u64, rounds: usize) -> Vec<Duration> {
    natively::<folio_cuda::Native>(q, rounds, move |_| {
        let mut at = 0;
        // SAFETY: the task's context is current, and nothing uses the memory.
        let results = unsafe {
            let made = sys::cuMemAlloc_v2(&raw mut at, bytes as usize);
            [made, sys::cuMemFree_v2(at)]
        };
        let fine = results == [sys::CUresult::CUDA_SUCCESS; 2];
        fine.then_some(()).ok_or_else(|| format!("{results:?}"))
    })
}

fn opencl(q: &Queue, bytes: u64, rounds: usize) -> Vec<Duration> {
    natively::<folio_opencl::Native>(q, rounds, move |cl| {
        let none = std::ptr::null_mut();
        // SAFETY: the context is the task's; nothing uses the memory.
        let freed = unsafe {
            create_buffer(cl.context, CL_MEM_READ_WRITE, bytes as usize, none)
                .and_then(|made| release_mem_object(made))
        };
        freed.map_err(|status| format!("OpenCL: {status}"))
    })
}

fn vulkan(q: &Queue, bytes: u64, rounds: usize) -> Vec<Duration> {
    let memory_type = own_memory(&q.device().info().name);
    natively::<folio_vulkan::Native>(q, rounds, move |native| {
        let wanted = vk::MemoryAllocateInfo::default().allocation_size(bytes);
        let wanted = wanted.memory_type_index(memory_type);
        // SAFETY: the device is the task's; nothing uses the memory.
        unsafe {
            let made = native.device.allocate_memory(&wanted, None);
            let made = made.map_err(|result| result.to_string())?;
            native.device.free_memory(made, None);
        }
        Ok(())
    })
}

/// The type of memory of the device of this name that is its own.
fn own_memory(name: &str) -> u32 {
    // SAFETY: an instance without layers or extensions, which is destroyed after its last use.
    unsafe {
        let entry = ash::Entry::load().unwrap();
        let instance = entry.create_instance(&vk::InstanceCreateInfo::default(), None).unwrap();
        let all = instance.enumerate_physical_devices().unwrap();
        let named = |device: &&vk::PhysicalDevice| {
            let properties = instance.get_physical_device_properties(**device);
            properties.device_name_as_c_str().is_ok_and(|found| found.to_bytes() == name.as_bytes())
        };
        let device = *all.iter().find(named).unwrap();
        let found = instance.get_physical_device_memory_properties(device);
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let own = |kind: &vk::MemoryType| kind.property_flags.contains(local);
        let at = found.memory_types_as_slice().iter().position(own).unwrap();
        instance.destroy_instance(None);
        at as u32
    }
}

on_each_driver! {
    /// LINK-01
    #[test]
    fn times_of_allocations(driver) {
        prints(driver, raw(driver));
    }
}

/// The driver's own call, where it is known here.
fn raw(driver: &Driver) -> Option<Raw> {
    match driver.name {
        "cuda" => Some(cuda),
        "opencl" => Some(opencl),
        "vulkan" => Some(vulkan),
        _ => None,
    }
}
