//! Memory: budgets, what is allocated and given back.

use super::rig::*;
use super::tests;
use folio_core::hal::DeviceKind;
use folio_core::{BufferOptions, Error, Runtime, UsmKind};

tests![
    budgets_are_kept_and_named,
    exceeding_a_budget_changes_nothing,
    budgets_can_be_raised,
    budgets_of_devices_that_are_not_there,
    memory_is_given_back,
    one_memory_has_one_budget,
    two_threads_need_the_same_memory_once,
    memory_of_what_has_ended_is_there_again,
    a_host_budget_that_ends_anywhere,
];

/// Bytes in use on all devices.
fn in_use(rt: &Runtime) -> u64 {
    rt.devices().iter().map(|d| d.budget().1).sum()
}

/// MEM-01, ERR-01
fn budgets_are_kept_and_named(rig: &Rig) -> Outcome {
    let name = rig.separate(1)?[0].device().name().to_owned();
    let rt = rig.builder().budget(name.as_str(), 1000).build()?;
    let device = rt.device(name.as_str())?;
    let q = rt.queue_on(&device)?;
    ensure_eq!(device.budget(), (1000, 0));
    let mut x = rt.buffer_with::<i32, 1>([150], BufferOptions::new().label("first"))?;
    let mut y = rt.buffer_with::<i32, 1>([150], BufferOptions::new().label("second"))?;
    add(&q, &mut x, 1)?;
    match add(&q, &mut y, 1) {
        Err(Error::OutOfMemory { device, label, asked, in_use, limit, .. }) => {
            ensure_eq!((device.as_str(), label.as_str()), (name.as_str(), "second"));
            ensure_eq!((asked, in_use, limit), (600, 600, 1000));
        }
        other => return Err(Stop::Failed(format!("{other:?}"))),
    }
    ensure_eq!(device.budget(), (1000, 600));
    ensure_eq!((x.to_vec()?, y.to_vec()?), (vec![1; 150], vec![0; 150]));
    drop(x);
    eventually("the memory is free", || device.budget().1 == 0)?;
    add(&q, &mut y, 2)?;
    ensure_eq!(y.to_vec()?, [2; 150]);
    let rt = rig.builder().budget("host", 100).build()?;
    refused!(rt.buffer_from(&[1u8; 101]), Error::OutOfMemory { .. });
    let x = rt.buffer::<u8, 1>(101)?;
    refused!(x.read(), Error::OutOfMemory { .. });
    rt.buffer_from(&[1u8; 100])?.to_vec()?;
    rt.buffer_from(&[1u8; 100])?.to_vec()?;
    Ok(())
}

/// MEM-01, LINK-01: budgets that end at the first, second, .. allocation of a command.
fn exceeding_a_budget_changes_nothing(rig: &Rig) -> Outcome {
    const EACH: u64 = 256;
    let name = rig.separate(1)?[0].device().name().to_owned();
    for fits in 0..=4 {
        let rt = rig.builder().budget(name.as_str(), fits * EACH).build()?;
        let device = rt.device(name.as_str())?;
        let q = rt.queue_on(&device)?;
        let mut a = rt.buffer_from(&[1u8; EACH as usize])?;
        let b = rt.buffer_from(&[2u8; EACH as usize])?;
        let c = rt.buffer::<u8, 1>(EACH as usize)?;
        let mut d = rt.buffer_from(&[4u8; EACH as usize])?;
        let before = rt.counters();
        let result = q.run(EACH as usize, takes_four(&mut a, &b, &c, &mut d));
        if fits == 4 {
            result?.wait()?;
            ensure_eq!(device.budget().1, 4 * EACH);
            ensure_eq!((a.read()?[0], d.read()?[1]), (3, 9));
        } else {
            refused!(result, Error::OutOfMemory { .. });
            ensure_eq!(rt.counters(), before, "{fits}");
            ensure_eq!(device.budget().1, 0, "{fits}: kept what it had got");
            ensure_eq!((a.read()?[0], b.read()?[0], c.read()?[0], d.read()?[0]), (1, 2, 0, 4));
            device.set_budget(u64::MAX);
            q.run(EACH as usize, adds(1, &mut a))?;
            ensure_eq!(a.to_vec()?, [2; EACH as usize]);
        }
        q.wait()?;
        drop((a, b, c, d));
        eventually("everything is given back", || in_use(&rt) == 0)?;
    }
    Ok(())
}

/// MEM-01
fn budgets_can_be_raised(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let mut x = rig.rt.buffer::<i32, 1>(1000)?;
    q.device().set_budget(0);
    refused!(add(&q, &mut x, 1), Error::OutOfMemory { .. });
    q.device().set_budget(4000);
    add(&q, &mut x, 1)?;
    // Memory that is there stays.
    q.device().set_budget(0);
    add(&q, &mut x, 1)?;
    ensure_eq!(x.to_vec()?, [2; 1000]);
    Ok(())
}

/// MEM-01, ERR-01
fn budgets_of_devices_that_are_not_there(rig: &Rig) -> Outcome {
    refused!(rig.builder().budget("nowhere:7", 1).build(), Error::Configuration { .. });
    Ok(())
}

/// BUF-01, POL-04
fn memory_is_given_back(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        for _ in 0..50 {
            let mut x = rig.rt.buffer_from(&[1; 1000])?;
            add(&q, &mut x, 1)?;
        }
    }
    rig.rt.wait()?;
    eventually("everything is given back", || in_use(&rig.rt) == 0)?;
    Ok(())
}

/// MEM-01, BUF-04: devices of one memory share its budget, whichever of them is asked.
fn one_memory_has_one_budget(rig: &Rig) -> Outcome {
    let devices = rig.rt.devices();
    for (at, first) in devices.iter().enumerate() {
        for other in &devices[at + 1..] {
            let shared = first.info().home == other.info().home;
            other.set_budget(12_345 + at as u64);
            ensure_eq!(first.budget().0 == 12_345 + at as u64, shared, "{first:?} {other:?}");
            if shared {
                let mut x = rig.rt.buffer::<u8, 1>(100_000)?;
                let q = rig.rt.queue_on(first)?;
                let fill = q.submit(|cg| {
                    cg.fill(&mut x, 1);
                    Ok(())
                });
                refused!(fill, Error::OutOfMemory { .. });
                let usm = rig.rt.usm::<u8>(other, UsmKind::Device, 10_000)?;
                ensure_eq!(first.budget(), other.budget());
                ensure!(first.budget().1 >= 10_000, "{:?}", first.budget());
                drop(usm);
            }
            other.set_budget(u64::MAX);
        }
    }
    Ok(())
}

/// MEM-01: many threads are the first to need a buffer on a device that has room for it once.
fn two_threads_need_the_same_memory_once(rig: &Rig) -> Outcome {
    let name = rig.separate(1)?[0].device().name().to_owned();
    for _ in 0..20 {
        let rt = rig.builder().budget(name.as_str(), 400).build()?;
        let x = rt.buffer_from(&[1i32; 100])?.into_shared();
        let q = rt.queue_on(name.as_str())?;
        let results = std::thread::scope(|scope| {
            let threads = (0..4).map(|_| scope.spawn(|| q.run(100, adds(1, &x))));
            let threads: Vec<_> = threads.collect();
            threads.into_iter().map(|t| t.join()).collect::<Vec<_>>()
        });
        for result in results {
            result.map_err(|_| Stop::Failed("a thread panicked".into()))??;
        }
        ensure_eq!(x.to_vec()?, [5; 100]);
    }
    Ok(())
}

/// MEM-01: the work has ended and its buffer is gone, though nobody has waited for it.
fn memory_of_what_has_ended_is_there_again(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    if q.device().info().kind == DeviceKind::Simulated {
        return unsupported("work that ends without being looked at");
    }
    q.device().set_budget(400);
    for _ in 0..20 {
        let mut x = rig.rt.buffer::<i32, 1>(100)?;
        eventually("the memory is there again", || set(&q, &mut x, 0, 100, 1).is_ok())?;
    }
    Ok(())
}

/// MEM-01, LINK-01, ERR-01: the host's budget ends at the first, second, .. allocation of a task,
/// of a read, of a construction.
fn a_host_budget_that_ends_anywhere(rig: &Rig) -> Outcome {
    const EACH: u64 = 256;
    let far = rig.separate(1)?[0].device().name().to_owned();
    for fits in 0..=3 {
        let rt = rig.builder().budget("host", fits * EACH).build()?;
        let q = rt.queue_on(far.as_str())?;
        let label = |name: &str| BufferOptions::new().label(name);
        let mut all = Vec::new();
        for name in ["a", "b", "c"] {
            let mut x = rt.buffer_with::<u8, 1>([EACH as usize], label(name))?;
            q.submit(|cg| {
                cg.fill(&mut x, 3);
                Ok(())
            })?;
            all.push(x.into_shared());
        }
        rt.wait()?;
        let before = rt.counters();
        let task = q.submit(|cg| {
            let views = (cg.read(&all[0]), cg.read(&all[1]), cg.read(&all[2]));
            cg.host_task(views, |(a, b, c)| {
                assert!([a.to_vec(), b.to_vec(), c.to_vec()].iter().all(|v| v[0] == 3));
            });
            Ok(())
        });
        if fits == 3 {
            task?.wait()?;
            refused!(rt.buffer_from(&[1u8]), Error::OutOfMemory { .. });
            continue;
        }
        match task {
            Err(Error::OutOfMemory { device, label, asked, in_use, limit, .. }) => {
                let nth = ["a", "b", "c"][fits as usize];
                ensure_eq!((device.as_str(), label.as_str()), ("host", nth));
                ensure_eq!((asked, in_use, limit), (EACH, fits * EACH, fits * EACH));
            }
            other => return Err(Stop::Failed(format!("{other:?}"))),
        }
        ensure_eq!(rt.counters(), before, "{fits}");
        // As much as fits can still be had: nothing of the refused task was kept.
        for (n, x) in all.iter().enumerate() {
            match x.to_vec() {
                Ok(data) => ensure_eq!(data, [3; EACH as usize]),
                Err(Error::OutOfMemory { .. }) => ensure!(n as u64 >= fits, "{n} of {fits}"),
                Err(other) => return Err(other.into()),
            }
        }
        refused!(rt.buffer_from(&[1u8; EACH as usize]), Error::OutOfMemory { .. });
    }
    Ok(())
}
