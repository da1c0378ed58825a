//! Several backends in one runtime: which devices there are, and why others are not.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio_core::hal::{DeviceKind, HalErrorKind, MemoryHome};
use folio_core::{DeviceRef, Error, Event, Queue, Runtime, RuntimeBuilder, Selector, UsmKind};
use folio_cpu::CpuBackend;
use folio_layers::{Fault, Faults, Site};
use folio_sim::{DeviceSpec, SimBackend};

fn sim(name: &str, uuids: &[Option<u8>]) -> SimBackend {
    let spec = |id: &Option<u8>| match id {
        Some(id) => DeviceSpec::new().uuid([*id; 16]),
        None => DeviceSpec::new(),
    };
    let builder = SimBackend::builder().name(name);
    uuids.iter().fold(builder, |builder, id| builder.device(spec(id))).build()
}

fn names(rt: &Runtime) -> Vec<String> {
    rt.devices().iter().map(|d| d.name().to_owned()).collect()
}

fn works(rt: &Runtime, q: &Queue) {
    let mut x = rt.buffer_from(&[1; 4]).unwrap();
    q.submit(|cg| {
        let x = cg.read_write(&mut x);
        cg.host_kernel([4], x, |i, mut x| x[i] += 1);
        Ok(())
    })
    .unwrap();
    assert_eq!(x.to_vec().unwrap(), [2; 4]);
}

fn build(builder: RuntimeBuilder) -> Runtime {
    builder.build().unwrap()
}

/// BACK-04: one physical device under two APIs is there once, by the one that was added first; the
/// other is named, with the reason; both are there if that is asked for.
#[test]
fn twins_are_used_once() {
    // Two devices of `one` are also `other`'s, in another order; each has one of its own, and there
    // are some that do not say who they are.
    let builder = || {
        Runtime::builder()
            .backend(sim("one", &[Some(1), Some(2), None]))
            .backend(sim("other", &[Some(2), Some(3), None, Some(1)]))
    };
    let rt = build(builder());
    assert_eq!(names(&rt), ["one:0", "one:1", "one:2", "other:1", "other:2"]);
    assert_eq!(rt.missing_backends().len(), 2);
    let why: Vec<_> = rt.missing_backends().iter().filter(|why| why.contains("already")).collect();
    assert!(why[0].starts_with("other:0: ") && why[1].starts_with("other:3: "), "{why:?}");
    // A twin that was left out is not found by its name, and the error says why.
    match rt.queue_on("other:3") {
        Err(error @ Error::DeviceNotFound { .. }) => {
            let text = error.to_string();
            assert!(text.contains("one:0") && text.contains("other:3: "), "{text}");
        }
        other => panic!("{other:?}"),
    }
    for name in names(&rt) {
        works(&rt, &rt.queue_on(name.as_str()).unwrap());
    }
    let rt = build(builder().keep_twins());
    assert_eq!(rt.devices().len(), 7);
    assert!(rt.missing_backends().is_empty());
    works(&rt, &rt.queue_on("other:3").unwrap());
    // The same order the other way round.
    let rt = Runtime::builder().backend(sim("other", &[Some(1)])).backend(sim("one", &[Some(1)]));
    assert_eq!(names(&rt.build().unwrap()), ["other:0"]);
    // One backend may show a device as several.
    let rt = Runtime::builder().backend(sim("one", &[Some(1), Some(1)])).build().unwrap();
    assert_eq!(names(&rt), ["one:0", "one:1"]);
}

/// BACK-04: by backend, name, part of the product's name, kind, capability; the exact name wins.
#[test]
fn devices_are_chosen_in_all_ways() {
    let builder = Runtime::builder()
        .backend(SimBackend::builder().devices(11, DeviceSpec::new()).build())
        .backend(CpuBackend::builder().domains(2).threads(1).build().unwrap())
        .backend(sim("sim", &[None]))
        .backend(sim("device", &[None]));
    let rt = build(builder);
    let name = |selector: Selector| rt.device(selector).map(|d| d.name().to_owned());
    assert_eq!(name("sim:1".into()).unwrap(), "sim:1");
    assert_eq!(name("sim:10".into()).unwrap(), "sim:10");
    assert_eq!(name("cpu".into()).unwrap(), "cpu:0");
    // A second backend of one name.
    assert_eq!(name("sim#1:0".into()).unwrap(), "sim#1:0");
    assert_eq!(name("simulated device sim:7".to_owned().into()).unwrap(), "sim:7");
    // All of these are simulated devices by their products' names.
    assert_eq!(name("device".into()).unwrap(), "device:0");
    assert_eq!(name(DeviceKind::Cpu.into()).unwrap(), "cpu:0");
    assert_eq!(name(Selector::any()).unwrap(), "cpu:0", "a CPU comes before simulated devices");
    let separate = Selector::any().kind(DeviceKind::Cpu).that(|d| d.home != MemoryHome::Host);
    assert_eq!(name(separate).unwrap(), "cpu:1");
    let timed = Selector::any().named("sim").that(|d| d.caps.timing && d.memory > 0);
    assert_eq!(name(timed).unwrap(), "sim:0");
    let wrong = Selector::any().named("sim").kind(DeviceKind::Gpu).that(|_| true);
    let text = name(wrong).unwrap_err().to_string();
    assert!(text.starts_with("no device fits `sim` of kind Gpu with the wanted capability; there"));
    assert!(names(&rt).iter().all(|name| text.contains(name.as_str())), "{text}");
}

/// BACK-01: a missing driver is no device and a reason; other backends work.
#[test]
fn a_missing_driver_is_a_reason() {
    let missing = || {
        let faults = Faults::new();
        faults.handle().inject(Site::Devices, 1, Fault::Now(HalErrorKind::Driver));
        faults.over(sim("gone", &[None, None]))
    };
    let rt = build(Runtime::builder().backend(missing()).backend(sim("there", &[None])));
    assert_eq!(names(&rt), ["there:0"]);
    assert_eq!(rt.missing_backends(), ["gone: injected fault"]);
    works(&rt, &rt.queue().unwrap());
    let text = rt.queue_on("gone").unwrap_err().to_string();
    assert_eq!(
        text,
        "no device fits `gone`; there are: there:0 (simulated device there:0); gone: injected fault"
    );
    match Runtime::builder().backend(missing()).budget("gone:0", 1).build() {
        Err(Error::Configuration { what: "budget", why }) => {
            assert!(why.contains("gone:0"), "{why}")
        }
        other => panic!("{other:?}"),
    }
    // None at all: buffers can still be made and used by the host.
    let rt = Runtime::builder().backend(missing()).build().unwrap();
    assert!(rt.devices().is_empty());
    let text = rt.queue().unwrap_err().to_string();
    assert_eq!(text, "no device fits any device; there are: none; gone: injected fault");
    assert_eq!(rt.buffer_from(&[7]).unwrap().to_vec().unwrap(), [7]);
    rt.shutdown(std::time::Duration::ZERO).unwrap();
}

/// BACK-01, ERR-01: a device that cannot be opened, or lacks a lane, is an error of the first
/// command that wants it, with its name; a later attempt may do better, and others are not
/// concerned.
#[test]
fn a_device_that_does_not_open_is_an_error() {
    let lanes = {
        let faults = Faults::new();
        let handle = faults.handle();
        let rt = build(Runtime::builder().backend(faults.over(sim("sim", &[None]))));
        works(&rt, &rt.queue().unwrap());
        handle.counts()[&Site::Lane]
    };
    for site in [Site::Open, Site::Lane] {
        for nth in 1..=3 {
            let faults = Faults::new();
            let handle = faults.handle();
            handle.inject(site, nth, Fault::Now(HalErrorKind::Driver));
            let rt = build(Runtime::builder().backend(faults.over(sim("sim", &[None, None]))));
            let (a, b) = (rt.queue_on("sim:0").unwrap(), rt.queue_on("sim:1").unwrap());
            let mut refused = 0;
            for q in [&a, &b, &a, &b] {
                match q.submit(|cg| {
                    cg.host_kernel([1], (), |_, ()| {});
                    Ok(())
                }) {
                    Ok(event) => event.wait().unwrap(),
                    Err(Error::Device { device, doing, .. }) => {
                        assert_eq!((device.as_str(), doing.as_str()), (q.device().name(), "open"));
                        refused += 1;
                    }
                    Err(other) => panic!("{other}"),
                }
            }
            assert_eq!(refused, handle.fired().len(), "{site:?} {nth}");
            works(&rt, &a);
            works(&rt, &b);
            // No lane of an attempt that has failed belongs to the device of the next one.
            let in_vain = if site == Site::Lane { nth } else { 0 };
            assert_eq!(handle.counts()[&Site::Lane], 2 * lanes + in_vain, "{site:?} {nth}");
        }
    }
}

/// MEM-01, LINK-01, ERR-01: a driver that refuses the n-th allocation of a program, for all n and
/// for each reason: a typed error, at once, that changes nothing; what was got for the same command
/// is given back; and the same call then succeeds.
#[test]
fn any_allocation_may_be_refused() {
    let kinds = [HalErrorKind::OutOfMemory { asked: 1, in_use: 2, limit: 3 }, HalErrorKind::Driver];
    for kind in kinds {
        let driver = matches!(kind, HalErrorKind::Driver);
        let mut refusals = 0;
        for nth in 1..=12 {
            let faults = Faults::new();
            let handle = faults.handle();
            // A refusal for want of memory is looked into once more before it counts.
            handle.inject(Site::Alloc, nth, Fault::Now(kind.clone()));
            handle.inject(Site::Alloc, nth + 1, Fault::Now(kind.clone()));
            let sim = sim("sim", &[None, None]);
            let allocator = sim.handle();
            let rt = build(Runtime::builder().backend(faults.over(sim)));
            let (a, b) = (rt.queue_on("sim:0").unwrap(), rt.queue_on("sim:1").unwrap());
            let x = rt.buffer_from(&[1; 4]).unwrap().into_shared();
            let (y, z) = (
                rt.buffer::<i32, 1>(4).unwrap().into_shared(),
                rt.buffer::<i32, 1>(4).unwrap().into_shared(),
            );
            let step = |q: &Queue| {
                q.submit(|cg| {
                    let (x, y, z) = (cg.read(&x), cg.read_write(&y), cg.read_write(&z));
                    cg.host_kernel([4], (x, y, z), |i, (x, mut y, mut z)| {
                        y[i] += x[i];
                        z[i] += y[i];
                    });
                    Ok(())
                })
            };
            let mut wanted = 0;
            for q in [&a, &b, &a] {
                loop {
                    let budgets = || rt.devices().iter().map(DeviceRef::budget).collect::<Vec<_>>();
                    let before = (rt.counters(), budgets(), allocator.live_allocations());
                    let error = match step(q) {
                        Ok(_) => break,
                        Err(error) => error,
                    };
                    let after = (rt.counters(), budgets(), allocator.live_allocations());
                    assert_eq!(before, after, "{error}");
                    let device = q.device().name().to_owned();
                    match &error {
                        Error::OutOfMemory {
                            device: at, asked: 16, in_use: 2, limit: 3, ..
                        } => {
                            assert_eq!((at, false), (&device, driver));
                        }
                        Error::Device { device: at, doing, .. } => {
                            assert_eq!((at, true), (&device, driver));
                            assert!(doing.contains("16 bytes for buffer"), "{doing}");
                        }
                        other => panic!("{other}"),
                    }
                    wanted += 1;
                    refusals += 1;
                    assert!(wanted < 4, "{error}");
                }
            }
            assert_eq!(z.to_vec().unwrap(), [6; 4]);
            rt.wait().unwrap();
        }
        assert!(refusals >= 6, "{kind:?}: {refusals}");
    }
}

/// USM-01: a kernel uses USM of its own device's memory and no other, though the host may reach it:
/// the memory of one backend is nothing that another one could find.
#[test]
fn kernels_refuse_usm_of_other_memories() {
    let builder = Runtime::builder()
        .backend(CpuBackend::builder().domains(2).threads(1).build().unwrap())
        .backend(sim("sim", &[None]));
    let rt = build(builder);
    let devices = rt.devices();
    for kind in [UsmKind::Device, UsmKind::Host, UsmKind::Shared] {
        for (home, owner) in devices.iter().enumerate() {
            for (at, device) in devices.iter().enumerate() {
                let mut x = rt.usm::<u32>(owner, kind, 4).unwrap();
                let q = rt.queue_on(device).unwrap();
                let ran = q.submit(|cg| {
                    let x = cg.read_write(&mut x);
                    cg.host_kernel([4], x, |i, mut x| x[i] += 1);
                    Ok(())
                });
                let filled = q.submit(|cg| {
                    cg.fill(&mut x, 7);
                    Ok(())
                });
                let refused =
                    |r: &Result<Event, Error>| matches!(r, Err(Error::NotAccessible { .. }));
                let both = (refused(&ran), refused(&filled));
                assert_eq!(both, (at != home, at != home), "{kind:?} of {owner:?} on {device:?}");
                // To name none of its elements is to use nothing.
                let mut y = rt.buffer::<u32, 1>(4).unwrap();
                q.submit(|cg| {
                    let (x, y) = (cg.read(x.slice(0, 0)?), cg.read_write(&mut y));
                    cg.host_kernel([4], (x, y), |i, (_, mut y)| y[i] += 1);
                    Ok(())
                })
                .unwrap();
                assert_eq!(y.to_vec().unwrap(), [1; 4], "{kind:?} of {owner:?} on {device:?}");
                // A host task may, where the host reaches it.
                let reached = kind != UsmKind::Device || owner.info().home == MemoryHome::Host;
                let task = q.submit(|cg| {
                    let x = cg.read(&x);
                    cg.host_task(x, |_| ());
                    Ok(())
                });
                assert_eq!(task.is_ok(), reached, "{kind:?} of {owner:?}");
            }
        }
    }
    rt.wait().unwrap();
}
