//! An OpenCL device that can do less: what a kernel needs beyond it is an error that names it,
//! everything else is right in another form, and the device goes on.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use crate::support;
use folio::prelude::*;
use folio_core::hal::{DeviceKind, HalErrorKind};
use folio_cpu::CpuBackend;
use folio_model::drivers::OPENCL;
use folio_opencl::{Capabilities, OpenClBackend};

/// What nearly every device can do, and more than is asked of it here.
const PLENTY: Capabilities = Capabilities {
    f64: true,
    atomics64: true,
    local_memory: 32 << 10,
    argument_bytes: 1024,
    block: 256,
    units: 0,
};

/// A runtime with such a device; none if there is no device.
fn limited_to(limit: Capabilities) -> Option<(Runtime, Queue)> {
    if !OPENCL.is_there() {
        return None;
    }
    let backend = OpenClBackend::new().limited_to(limit);
    let rt = Runtime::builder().backend(backend).build().unwrap();
    let q = rt.queue().unwrap();
    Some((rt, q))
}

#[kernel]
fn halves(i: Item, x: InOut<f64>) {
    x[i] = x[i] / 2.0;
}

#[kernel]
fn doubles(i: Item, x: InOut<u32>) {
    x[i] = x[i] * 2;
}

#[kernel]
fn counts(_i: Item, n: Atomic<u64>) {
    n.add(0, 1);
}

#[kernel]
fn counts_narrow(_i: Item, n: Atomic<u32>) {
    n.add(0, 1);
}

/// Each group turns its items round.
#[kernel(group = [64])]
fn turns(g: Group, room: Local<u32, 64>, x: InOut<u32>) {
    g.each(|i| room[i] = x[i]);
    g.each(|i| x[i] = room[63 - i.local_index()]);
}

/// Each group adds up its items.
#[kernel(group = [64])]
fn adds_up(g: Group, x: In<u32>, sums: OutGroup<u32>) {
    sums[g] = g.reduce::<Add>(|i| x[i]);
}

/// The same, of what it has turned round.
#[kernel(group = [64])]
fn turns_and_adds_up(g: Group, room: Local<u32, 64>, x: InOut<u32>, sums: OutGroup<u32>) {
    g.each(|i| room[i] = x[i]);
    g.each(|i| x[i] = room[63 - i.local_index()]);
    sums[g] = g.reduce::<Add>(|i| x[i]);
}

#[kernel]
fn total(i: Item, x: In<u32>, sum: Reduce<u32, Add>) {
    sum.give(x[i]);
}

#[kernel]
fn four(i: Item, k: u32, a: In<u32>, b: In<u32>, c: In<u32>, d: InOut<u32>) {
    d[i] = k * (a[i] + b[i] + c[i] + d[i]);
}

/// What is refused, in the call.
#[track_caller]
fn unsupported(result: folio::Result<folio::Event>) -> String {
    match result {
        Err(Error::Device { device, doing, cause }) => {
            assert!(matches!(cause.kind, HalErrorKind::Unsupported), "{cause}");
            format!("{device}: {doing}: {}", cause.message)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_a_device_lacks_is_named_and_it_goes_on() {
    let limit = Capabilities { f64: false, atomics64: false, ..PLENTY };
    let Some((rt, q)) = limited_to(limit) else { return };
    let mut x = rt.buffer_from(&[1.0f64; 100]).unwrap();
    let error = unsupported(q.run(100, halves(&mut x)));
    assert!(
        error.starts_with("opencl:0: ") && error.contains("kernel `halves` needs `f64`"),
        "{error}"
    );
    assert!(error.contains("parameter `x`"), "{error}");
    let mut n = rt.buffer_from(&[0u64]).unwrap();
    let error = unsupported(q.run(100, counts(&mut n)));
    assert!(error.contains("kernel `counts` needs atomic operations on 64 bits"), "{error}");
    // Nothing has been done, and nothing is in the way of what comes next.
    assert_eq!(x.to_vec().unwrap(), [1.0; 100]);
    let mut n = rt.buffer_from(&[0u32]).unwrap();
    q.run(100, counts_narrow(&mut n)).unwrap();
    assert_eq!(n.to_vec().unwrap(), [100]);
}

/// A launch that needs so much local memory by its text: on a device with less it is refused, and
/// the error says how much it is; with that it runs. Drivers may add a little of their own,
/// NVIDIA's up to four bytes.
fn needs_local_memory(text: u64, run: impl Fn(u64) -> Option<Result<(), String>>) {
    let (mut has, mut refused) = (text - 1, Vec::new());
    loop {
        match run(has) {
            None => return,
            Some(Ok(())) => break,
            Some(Err(error)) => {
                let (needs, rest) = error.split_once(" bytes of local memory").unwrap();
                assert!(rest.contains(&format!("(the device has {has})")), "{error}");
                refused.push(has);
                has = needs.rsplit(' ').next().unwrap().parse().unwrap();
                assert!(has > refused[refused.len() - 1] && has < text + 16, "{error}");
            }
        }
    }
    // The text alone was too much, and one byte less than what it runs with is.
    assert_eq!(refused[0], text - 1);
    assert!(run(has - 1).unwrap().is_err(), "{has} bytes are more than are needed");
}

#[test]
fn local_memory_has_a_limit() {
    needs_local_memory(256, |bytes| {
        let (rt, q) = limited_to(Capabilities { local_memory: bytes, ..PLENTY })?;
        let mut x = rt.buffer_from((0..64).collect::<Vec<u32>>()).unwrap();
        let run = q.run(64, turns(&mut x));
        if run.is_err() {
            return Some(Err(unsupported(run)));
        }
        assert_eq!(x.to_vec().unwrap(), (0..64).rev().collect::<Vec<_>>());
        Some(Ok(()))
    });
}

/// What a group collects is in local memory, beside the kernel's own: 8 bytes for each item.
#[test]
fn local_memory_to_combine_has_the_same_limit() {
    for (own, needed) in [(false, 512), (true, 768)] {
        needs_local_memory(needed, |bytes| {
            let (rt, q) = limited_to(Capabilities { local_memory: bytes, ..PLENTY })?;
            let mut x = rt.buffer_from((0..128).collect::<Vec<u32>>()).unwrap();
            let mut sums = rt.buffer_from(&[7u32; 2]).unwrap();
            let run = match own {
                false => q.run(128, adds_up(&x, &mut sums)),
                true => q.run(128, turns_and_adds_up(&mut x, &mut sums)),
            };
            if run.is_err() {
                let error = unsupported(run);
                assert!(error.contains("of local memory for a group of [1, 1, 64]"), "{error}");
                assert_eq!(sums.to_vec().unwrap(), [7; 2]);
                return Some(Err(error));
            }
            assert_eq!(sums.to_vec().unwrap(), [63 * 32, 191 * 32]);
            Some(Ok(()))
        });
    }
}

#[test]
fn groups_have_a_limit() {
    for (block, fits) in [(63, false), (64, true)] {
        let Some((rt, q)) = limited_to(Capabilities { block, ..PLENTY }) else { return };
        let mut x = rt.buffer_from((0..128).collect::<Vec<u32>>()).unwrap();
        let run = q.run(128, turns(&mut x));
        if fits {
            run.unwrap();
            let turned: Vec<u32> = (0..64).rev().chain((64..128).rev()).collect();
            assert_eq!(x.to_vec().unwrap(), turned);
        } else {
            let error = unsupported(run);
            let why = "launch kernel `turns`: a group of [1, 1, 64] is not supported (of this kernel, 63 items at most); \
                smaller ones are, `#[kernel(group = 32)]`";
            assert!(error.contains(why), "{error}");
            // Nothing has been done, and the device goes on.
            assert_eq!(x.to_vec().unwrap(), (0..128).collect::<Vec<_>>());
            let mut y = rt.buffer_from(&[3u32; 500]).unwrap();
            q.run(500, doubles(&mut y)).unwrap();
            assert_eq!(y.to_vec().unwrap(), [6; 500]);
        }
    }
}

#[kernel]
fn each_once(g: Group, x: InOut<u32>) {
    g.each(|i| x[i] = x[i] + 1);
}

/// Groups as large as no device of OpenCL has them are refused in the call; a CPU has them.
#[test]
fn groups_beyond_any_device() {
    if !OPENCL.is_there() {
        return;
    }
    let backend = OpenClBackend::new();
    let cpu = CpuBackend::builder().threads(1).build().unwrap();
    let rt = Runtime::builder().backend(backend).backend(cpu).build().unwrap();
    let n = 1 << 17;
    let mut x = rt.buffer_from(vec![0u32; n]).unwrap();
    let mut run = |q: &Queue, group| q.run(Items::from(n).groups([group]), each_once(&mut x));
    let (device, cpu) = (rt.queue_on("opencl:0").unwrap(), rt.queue_on("cpu").unwrap());
    run(&device, 32).unwrap();
    let before = rt.counters();
    let error = unsupported(run(&device, n / 2));
    assert!(error.contains("launch kernel `each_once`: a group of [1, 1, 65536]"), "{error}");
    assert_eq!(rt.counters(), before);
    run(&cpu, n / 2).unwrap();
    assert_eq!(x.to_vec().unwrap(), vec![2; n]);
}

#[kernel]
fn counts_rows(_i: Item<2>, n: Atomic<u32>) {
    n.add(0, 1);
}

#[kernel]
fn counts_groups(g: Group, n: Atomic<u32>) {
    g.once(|| n.add(0, 1));
}

/// Drivers count groups in 32 bits.
#[test]
fn launches_of_too_many_groups() {
    let Some((_rt, q)) = limited_to(PLENTY) else { return };
    let mut n = q.runtime().buffer::<u32, 1>(1).unwrap();
    let most = 1 << 31;
    // On GPUs a group has several rows.
    let rows = q.run([most * 256 + 1, 1], counts_rows(&mut n));
    let groups = q.run(Items::from(most + 1).groups([1]), counts_groups(&mut n));
    for launched in [rows, groups] {
        let error = launched.unwrap().wait().unwrap_err();
        assert!(matches!(error, Error::Failed(_)), "{error}");
        assert!(error.to_string().contains("more than 2^31 groups"), "{error}");
    }
    let mut n = q.runtime().buffer::<u32, 1>(1).unwrap();
    q.run([4, 1], counts_rows(&mut n)).unwrap();
    assert_eq!(n.to_vec().unwrap(), [4]);
}

/// 32 KiB.
#[device_fn]
fn scattered(k: usize) -> u64 {
    let mut all = [0u64; 4096];
    for j in 0..4096 {
        all[j * 7 % 4096] = (j * k) as u64;
    }
    let mut sum = 0;
    for j in 0..4096 {
        sum += all[j * 13 % 4096] % 5;
    }
    sum
}

#[device_fn]
fn four_times(k: usize) -> u64 {
    scattered(k) + scattered(k + 1) + scattered(k + 2) + scattered(k + 3)
}

#[kernel]
fn shallow(i: Item, y: Out<u64>) {
    y[i] = four_times(i.index()) + four_times(i.index() + 4);
}

#[kernel]
fn deep(i: Item, y: Out<u64>) {
    let k = i.index();
    let more = four_times(k + 8) + four_times(k + 12) + four_times(k + 16) + four_times(k + 20);
    let most = four_times(k + 24) + four_times(k + 28) + four_times(k + 32) + four_times(k + 36);
    y[i] = four_times(k) + four_times(k + 4) + more + most;
}

#[kernel]
fn own_arrays(g: Group, y: Out<u32>) {
    let own = g.private([0u32; 512]);
    g.each(|i| own[i][i.local_index() % 512] = 1);
    g.each(|i| y[i] = own[i][i.local_index() % 512]);
}

/// Variables of a thread, or of all items of a group, are on the stack of a thread of a CPU: what
/// is beyond it is refused, and what is not is right.
#[test]
fn variables_have_a_limit_on_cpus() {
    if !OPENCL.is_there() {
        return;
    }
    let backend = OpenClBackend::new();
    let cpu = CpuBackend::builder().threads(1).build().unwrap();
    let rt = Runtime::builder().backend(backend).backend(cpu).build().unwrap();
    let (device, cpu) = (rt.queue_on("opencl:0").unwrap(), rt.queue_on("cpu").unwrap());
    let is_cpu = device.device().info().kind == DeviceKind::Cpu;
    let n = 2048;
    let mut y = rt.buffer::<u64, 1>(n).unwrap();
    let mut of = |q: &Queue, is_deep| {
        let launched = if is_deep { q.run(n, deep(&mut y)) } else { q.run(n, shallow(&mut y)) };
        launched.and_then(|_| y.to_vec())
    };
    assert_eq!(of(&device, false).unwrap(), of(&cpu, false).unwrap());
    let far = of(&cpu, true).unwrap();
    match of(&device, true) {
        Ok(values) => assert!(!is_cpu && values == far),
        // A GPU's driver has a limit, too.
        Err(error) => {
            let why = if is_cpu { "a thread's stack" } else { "CL_OUT_OF_RESOURCES" };
            let said = error.to_string();
            assert!(said.contains("kernel `deep`") && said.contains(why), "{said}");
        }
    }
    let mut y = rt.buffer::<u32, 1>(n).unwrap();
    for (items, fits) in [(64, true), (128, true), (1024, false), (2048, false)] {
        let launched = device.run(Items::from(n).groups([items]), own_arrays(&mut y));
        match launched {
            Ok(_) => assert_eq!(y.to_vec().unwrap(), vec![1; n]),
            Err(error) => assert!(!fits && error.to_string().contains("a group of"), "{error}"),
        }
    }
}

/// Items, reductions, and many arguments on a device whose groups and arguments are small.
#[test]
fn small_groups_and_few_arguments_do_all_the_same() {
    for block in [1, 7, 16] {
        let limit = Capabilities { block, argument_bytes: 64, ..PLENTY };
        let Some((rt, q)) = limited_to(limit) else { return };
        let values: Vec<u32> = (0..10_000).collect();
        let (a, b, c) = (rt.buffer_from(&values), rt.buffer_from(&values), rt.buffer_from(&values));
        let mut d = rt.buffer_from(&values).unwrap();
        q.run(10_000, four(3, &a.unwrap(), &b.unwrap(), &c.unwrap(), &mut d)).unwrap();
        let mut sum = rt.buffer(1).unwrap();
        q.run(10_000, total(&d, &mut sum)).unwrap();
        assert_eq!(d.to_vec().unwrap(), values.iter().map(|k| 12 * k).collect::<Vec<_>>());
        assert_eq!(sum.to_vec().unwrap(), [12 * 9_999 * 5_000], "groups of {block}");
        let backend = OpenClBackend::new().limited_to(limit).as_gpus();
        support::items::every_item_once(backend, &[(1, 5_000), (31, 33)]);
    }
}
