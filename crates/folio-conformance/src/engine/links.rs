//! Linked allocations: one memory for the host and a device that shares it.

use super::rig::*;
use super::tests;
use folio_core::hal::MemoryHome;
use folio_core::{
    DeviceRef, Error, Queue, Runtime, UsmKind,
    buffer::{HostStorage, ViewPolicy},
    memory::{Linkage, Links, NotLinked},
};

tests![
    sides_change_without_a_copy,
    fresh_memory_is_one,
    fresh_memory_of_a_run_is_one,
    links_are_over_the_programs_memory,
    a_discard_as_first_access_links_too,
    misaligned_memory_stays_apart,
    links_can_be_switched_off,
    one_of_two_devices_is_linked,
    reading_all_along_copies_nothing,
    imports_are_no_allocations,
    buffers_of_usm_say_that_they_are_apart,
    linked_memory_is_released,
    linked_views_come_back,
    views_that_write_nothing_back_hold_values,
    scopes_end_what_was_imported,
    failed_kernels_on_linked_memory,
];

/// A runtime that links, and queues of those of its devices that can.
pub(super) fn linking(rig: &Rig) -> Result<(Runtime, Vec<Queue>), Stop> {
    let rt = rig.builder().links(Links::On).build()?;
    let can = |d: &DeviceRef| d.info().caps.links.is_some() && d.info().home != MemoryHome::Host;
    let queues = rt.devices().into_iter().filter(can).map(|d| rt.queue_on(&d));
    let queues = queues.collect::<Result<Vec<_>, _>>()?;
    if queues.is_empty() {
        return unsupported("devices that link");
    }
    Ok((rt, queues))
}

/// Maps, unmaps and copies.
fn counts(rt: &Runtime) -> [u64; 3] {
    let counters = rt.counters();
    [counters.maps, counters.unmaps, counters.transfers().operations]
}

/// LINK-04, LINK-05: a device writes and the host reads: one map. Back again: one unmap.
fn sides_change_without_a_copy(rig: &Rig) -> Outcome {
    let (rt, queues) = linking(rig)?;
    for q in &queues {
        let before = counts(&rt);
        let mut x = rt.buffer_from(&[1; 1000])?;
        add(q, &mut x, 1)?;
        ensure_eq!(x.linkage(&q.device())?, Linkage::Linked);
        ensure_eq!(x.to_vec()?, [2; 1000]);
        let after = counts(&rt);
        ensure_eq!([after[0] - before[0], after[1] - before[1], after[2] - before[2]], [1, 0, 0]);
        add(q, &mut x, 1)?;
        add(q, &mut x, 1)?;
        ensure_eq!(x.to_vec()?, [4; 1000]);
        ensure_eq!(x.get(3)?, 4);
        let after = counts(&rt);
        ensure_eq!([after[0] - before[0], after[1] - before[1], after[2] - before[2]], [2, 1, 0]);
    }
    Ok(())
}

/// LINK-03: without memory on the host, the host's side is the device's memory, mapped.
fn fresh_memory_is_one(rig: &Rig) -> Outcome {
    let (rt, queues) = linking(rig)?;
    for q in &queues {
        let before = rt.counters().allocations;
        let mut x = rt.buffer::<i32, 1>(500)?;
        ensure_eq!(x.linkage(&q.device())?, Linkage::Undecided);
        add(q, &mut x, 7)?;
        ensure_eq!(x.to_vec()?, [7; 500]);
        ensure_eq!(x.linkage(&q.device())?, Linkage::Linked);
        ensure_eq!(rt.counters().allocations - before, 1, "one for both sides");
        x.write()?.fill(1);
        add(q, &mut x, 1)?;
        ensure_eq!(x.to_vec()?, [2; 500]);
    }
    ensure_eq!(rt.counters().transfers().operations, 0);
    Ok(())
}

/// LINK-03: so it is where one run uses both sides first, whose memory is made at once.
fn fresh_memory_of_a_run_is_one(rig: &Rig) -> Outcome {
    let (rt, queues) = linking(rig)?;
    for q in &queues {
        let before = rt.counters().allocations;
        let (graph, mut x) = (rt.graph(&q.device())?, rt.buffer::<i32, 1>(8)?);
        graph.add(|cg| cg.run(8, adds(1, &mut x)))?;
        graph.add(|cg| {
            let x = cg.read_write(&mut x);
            cg.each_run().host_task(x, |mut x| x.iter_mut().for_each(|x| *x += 40));
            Ok(())
        })?;
        graph.add(|cg| cg.run(8, adds(1, &mut x)))?;
        q.run_graph(&graph.finalize()?)?;
        ensure_eq!(x.to_vec()?, [42; 8]);
        ensure_eq!(x.linkage(&q.device())?, Linkage::Linked);
        ensure_eq!(rt.counters().allocations - before, 1, "one for both sides");
    }
    ensure_eq!(rt.counters().transfers().operations, 0);
    Ok(())
}

/// Elements that begin at any alignment that a device may need.
pub(super) struct Pages(Vec<Page>);

#[derive(Clone)]
#[repr(align(4096))]
struct Page([i32; 1024]);

/// How many elements there are.
pub(super) const N: usize = 2048;

impl Pages {
    pub(super) fn new() -> Pages {
        Pages(vec![Page([1; 1024]); N / 1024])
    }

    pub(super) fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }

    pub(super) fn elements(&self) -> Vec<i32> {
        self.0.iter().flat_map(|page| page.0).collect()
    }
}

// SAFETY: the vector's memory, which is its alone and stays where it is.
unsafe impl HostStorage for Pages {
    type Element = i32;

    fn as_mut_ptr(&mut self) -> *mut i32 {
        self.0.as_mut_ptr().cast()
    }

    fn len(&self) -> usize {
        N
    }
}

/// Memory of the host that devices use as their own, and such that they could not.
fn imports(rt: &Runtime) -> [u64; 2] {
    [rt.counters().imports, rt.counters().refused_imports]
}

/// LINK-01, LINK-03, POL-03: the memory of a view is imported once, however often it is used.
fn links_are_over_the_programs_memory(rig: &Rig) -> Outcome {
    let (rt, queues) = linking(rig)?;
    for (q, nth) in queues.iter().zip(1..) {
        let data = Pages::new();
        let address = data.address();
        let before = counts(&rt)[2];
        let (mut x, mut back) = rt.view(N, data, ViewPolicy::SyncWriteback).map_err(Error::from)?;
        add(q, &mut x, 1)?;
        ensure_eq!(x.linkage(&q.device())?, Linkage::Linked);
        ensure_eq!(x.get(0)?, 2);
        add(q, &mut x, 0)?;
        ensure_eq!((x.counters().imports, x.counters().refused_imports), (1, 0));
        ensure_eq!(imports(&rt), [nth, 0]);
        drop(x);
        let data = back.take()?;
        ensure_eq!((data.address(), data.elements()), (address, vec![2; N]));
        ensure_eq!(counts(&rt)[2], before, "copies");
    }
    Ok(())
}

/// LINK-03
fn a_discard_as_first_access_links_too(rig: &Rig) -> Outcome {
    let (rt, queues) = linking(rig)?;
    for q in &queues {
        let (mut x, mut back) =
            rt.view(N, Pages::new(), ViewPolicy::SyncWriteback).map_err(Error::from)?;
        q.run(N, puts(5, &mut x))?;
        ensure_eq!(x.linkage(&q.device())?, Linkage::Linked);
        drop(x);
        ensure_eq!(back.take()?.elements(), vec![5; N]);
    }
    ensure_eq!(counts(&rt)[2], 0);
    Ok(())
}

/// LINK-02: it is apart, right, and says why.
fn misaligned_memory_stays_apart(rig: &Rig) -> Outcome {
    let (rt, queues) = linking(rig)?;
    for q in &queues {
        let align = q.device().info().caps.links.unwrap_or(1);
        if align <= 4 {
            return unsupported("a device that needs aligned memory");
        }
        let mut data = vec![1; 1000];
        let at = usize::from((data.as_ptr() as u64).is_multiple_of(align));
        rt.scope(|scope| -> Outcome {
            let mut x = scope.view_mut(&mut data[at..])?;
            add(q, &mut x, 1)?;
            ensure_eq!(x.linkage(&q.device())?, Linkage::NotLinked(NotLinked::Misaligned(align)));
            ensure_eq!(x.get(0)?, 2);
            add(q, &mut x, 0)?;
            ensure_eq!((x.counters().imports, x.counters().refused_imports), (0, 1));
            Ok(())
        })??;
        ensure_eq!(data[at..], vec![2; 1000 - at]);
    }
    ensure_eq!(imports(&rt), [0, queues.len() as u64]);
    Ok(())
}

/// LINK-02
fn links_can_be_switched_off(rig: &Rig) -> Outcome {
    let (_, queues) = linking(rig)?;
    let names: Vec<String> = queues.iter().map(|q| q.device().name().to_owned()).collect();
    let rt = rig.builder().links(Links::Off).build()?;
    for name in &names {
        let q = rt.queue_on(name.as_str())?;
        let mut x = rt.buffer_from(&[1; 100])?;
        add(&q, &mut x, 1)?;
        ensure_eq!(x.linkage(&q.device())?, Linkage::NotLinked(NotLinked::SwitchedOff));
        ensure_eq!(x.to_vec()?, [2; 100]);
    }
    let all = rt.counters();
    ensure_eq!((all.maps, all.transfers().operations), (0, 2 * names.len() as u64));
    Ok(())
}

/// LINK-02, LINK-04: of two devices that share the host's memory one is linked; data go to the
/// other one by way of the host's side.
fn one_of_two_devices_is_linked(rig: &Rig) -> Outcome {
    let (rt, queues) = linking(rig)?;
    let [a, b, ..] = &queues[..] else { return unsupported("2 devices that link") };
    let mut x = rt.buffer_from(&[1; 256])?;
    for turn in 0..4 {
        add(if turn % 2 == 0 { a } else { b }, &mut x, 1)?;
    }
    ensure_eq!(x.linkage(&a.device())?, Linkage::Linked);
    ensure_eq!(x.linkage(&b.device())?, Linkage::NotLinked(NotLinked::LinkedToAnother));
    ensure_eq!(x.to_vec()?, [5; 256]);
    // To b and back, twice; the last time only to the host's side.
    let [maps, unmaps, copies] = counts(&rt);
    ensure_eq!((maps, unmaps, copies), (2, 1, 4));
    Ok(())
}

/// LINK-05: a view that is only read is never copied.
fn reading_all_along_copies_nothing(rig: &Rig) -> Outcome {
    let (rt, queues) = linking(rig)?;
    for q in &queues {
        let data = Page([1; 1024]);
        let mut sum = rt.buffer::<i32, 1>(1024)?;
        rt.scope(|scope| -> Outcome {
            let x = scope.view(&data.0)?;
            for _ in 0..3 {
                q.run(1024, copies(&x, &mut sum))?;
            }
            Ok(())
        })??;
        ensure_eq!(data.0, [1; 1024]);
        ensure_eq!(counts(&rt)[2], 0);
        ensure_eq!(sum.to_vec()?, data.0);
    }
    Ok(())
}

/// LINK-03, MEM-01: nothing is allocated for a view on a device that uses its memory, so no budget
/// counts it.
fn imports_are_no_allocations(rig: &Rig) -> Outcome {
    for q in linking(rig)?.1 {
        let name = q.device().name().to_owned();
        let rt = rig.builder().links(Links::On).budget(&name, 64).build()?;
        let q = rt.queue_on(name.as_str())?;
        let (mut x, mut back) =
            rt.view(N, Pages::new(), ViewPolicy::SyncWriteback).map_err(Error::from)?;
        add(&q, &mut x, 1)?;
        ensure_eq!(x.linkage(&q.device())?, Linkage::Linked);
        for counters in [x.counters(), rt.counters()] {
            ensure_eq!((counters.imports, counters.imported_bytes), (1, 4 * N as u64));
            ensure_eq!((counters.allocations, counters.allocated_bytes), (0, 0));
        }
        ensure_eq!(q.device().budget(), (64, 0));
        let owned: Vec<bool> = x.allocations().iter().map(|a| a.owned).collect();
        ensure_eq!(owned, [false; 2], "all of it is the program's");
        drop(x);
        ensure_eq!((back.take()?.elements(), q.device().budget().1), (vec![2; N], 0));
    }
    Ok(())
}

/// LINK-02: memory that was USM is not one with the host's, and that is what one is told.
fn buffers_of_usm_say_that_they_are_apart(rig: &Rig) -> Outcome {
    let (rt, queues) = linking(rig)?;
    for q in &queues {
        let device = q.device();
        let usm = || rt.usm::<i32>(&device, UsmKind::Device, 100);
        let mut given = rt.buffer_from(&[1; 100])?;
        given.give_allocation(usm()?).map_err(|(error, _)| error)?;
        for mut x in [usm()?.into_buffer(), given] {
            ensure_eq!(x.linkage(&device)?, Linkage::NotLinked(NotLinked::Usm));
            let before = x.to_vec()?[0];
            add(q, &mut x, 1)?;
            ensure_eq!(x.to_vec()?, [before + 1; 100]);
            ensure_eq!(x.linkage(&device)?, Linkage::NotLinked(NotLinked::Usm));
            x.release(&device)?;
            ensure_eq!(x.linkage(&device)?, Linkage::Undecided);
            add(q, &mut x, 1)?;
            ensure_eq!(x.to_vec()?, [before + 2; 100]);
        }
    }
    Ok(())
}

/// BUF-01: of two sides that are one, the one that holds the only current copy stays.
fn linked_memory_is_released(rig: &Rig) -> Outcome {
    let (rt, queues) = linking(rig)?;
    for q in &queues {
        let mut x = rt.buffer_from(&[1; 100])?;
        add(q, &mut x, 1)?;
        q.wait()?;
        refused!(x.release(&q.device()), Error::OnlyCopy { .. });
        ensure_eq!(x.to_vec()?, [2; 100]);
        x.release(&q.device())?;
        ensure_eq!(x.to_vec()?, [2; 100]);
        ensure_eq!(x.linkage(&q.device())?, Linkage::Undecided);
        add(q, &mut x, 1)?;
        ensure_eq!(x.to_vec()?, [3; 100]);
    }
    Ok(())
}

/// POL-04, LINK-03
fn linked_views_come_back(rig: &Rig) -> Outcome {
    let (rt, queues) = linking(rig)?;
    for q in &queues {
        for round in 0..20 {
            let made = rt.view(N, Pages::new(), ViewPolicy::AsyncWriteback(q));
            let (mut x, mut back) = made.map_err(Error::from)?;
            for _ in 0..round % 4 {
                add(q, &mut x, 1)?;
            }
            drop(x);
            ensure_eq!(back.take()?.elements(), vec![1 + round % 4; N]);
        }
    }
    Ok(())
}

/// LINK-03, POL-03: memory that was unmapped is mapped before the program gets it back.
fn views_that_write_nothing_back_hold_values(rig: &Rig) -> Outcome {
    let (rt, queues) = linking(rig)?;
    for q in &queues {
        for policy in [ViewPolicy::Async, ViewPolicy::Sync] {
            let before = counts(&rt);
            let (mut x, mut back) = rt.view(N, Pages::new(), policy).map_err(Error::from)?;
            add(q, &mut x, 1)?;
            ensure_eq!(x.get(5)?, 2);
            add(q, &mut x, 1)?;
            drop(x);
            let came = back.take()?;
            ensure!(came.elements().iter().all(|x| (1..=3).contains(x)), "not its values");
            let [maps, unmaps, copies] = counts(&rt);
            ensure_eq!([maps - before[0], unmaps - before[1], copies - before[2]], [2, 1, 0]);
        }
        // Also at the end of a scope, whose view is leaked.
        let mut pages = Pages::new();
        // SAFETY: the elements of the pages, which are borrowed.
        let slice = unsafe { std::slice::from_raw_parts_mut(pages.as_mut_ptr(), N) };
        rt.scope(|scope| -> Outcome {
            let mut x = scope.view_mut_with(N, slice, ViewPolicy::Async)?;
            add(q, &mut x, 1)?;
            ensure_eq!(x.get(5)?, 2);
            add(q, &mut x, 1)?;
            ensure_eq!(x.linkage(&q.device())?, Linkage::Linked);
            std::mem::forget(x);
            Ok(())
        })??;
        ensure!(pages.elements().iter().all(|x| (1..=3).contains(x)), "not its values");
    }
    Ok(())
}

/// LINK-03, POL-03: the memory may be freed after the scope, so no device has it as its own any
/// more, also where the program still has the view.
fn scopes_end_what_was_imported(rig: &Rig) -> Outcome {
    let (rt, queues) = linking(rig)?;
    for q in &queues {
        let mut pages = Pages::new();
        // SAFETY: the elements of the pages, which are borrowed.
        let slice = unsafe { std::slice::from_raw_parts_mut(pages.as_mut_ptr(), N) };
        let before = imports(&rt)[0];
        let (x, during) = rt.scope(|scope| -> Result<_, Error> {
            let mut x = scope.view_mut_with(N, slice, ViewPolicy::SyncWriteback)?;
            add(q, &mut x, 1)?;
            let during = x.linkage(&q.device())?;
            Ok((x, during))
        })??;
        ensure_eq!((imports(&rt)[0] - before, during), (1, Linkage::Linked));
        ensure_eq!(x.linkage(&q.device())?, Linkage::Undecided);
        ensure_eq!(pages.elements(), [2; N]);
        drop(pages);
        drop(x);
    }
    Ok(())
}

/// ERR-02, POL-05
fn failed_kernels_on_linked_memory(rig: &Rig) -> Outcome {
    let (rt, queues) = linking(rig)?;
    for q in &queues {
        let (mut x, mut back) =
            rt.view(100, vec![1; 100], ViewPolicy::SyncWriteback).map_err(Error::from)?;
        q.run(100, fails(3, &mut x))?;
        drop(x);
        let came = failed_storage(back.take())?.0;
        ensure!(came.iter().all(|v| (1..=2).contains(v)), "{came:?}");
        let _ = q.wait();
    }
    Ok(())
}
