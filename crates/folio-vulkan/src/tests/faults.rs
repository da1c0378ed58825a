//! Faults, as they are told; and a device's properties, as they are found.

use super::{alloc, found, open, param, place, twice};
use crate::VulkanBackend;
use crate::device::probe;
use folio_core::hal::{
    AllocKind, AllocReq, Args, Device, FillRect, Geometry, HalErrorKind, Head, KernelRef,
    KernelSource, Lane, LaneKind, Op, Order, UsmAllocator, Wait,
};
use folio_core::{Error, Runtime};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A planted loss at a submission: all calls say so from then on, and nothing waits for ever.
#[test]
fn planted_loss_of_a_device_of_vulkan_is_told() {
    let Some((found, messages)) = found() else { return };
    let device = open(&found);
    let made = alloc(&device, AllocKind::Device, 4096);
    let lanes = [(); 2].map(|()| device.lane(LaneKind::Compute, 0).unwrap());
    let fill = FillRect { dst: place(&made, 0), pitch: [0; 2], extent: [1, 1, 4096] };
    let enqueue = |lane: &Arc<dyn Lane>, tick: u64| {
        let head = Head { tick, order: Order::AfterPrevious, waits: &[], label: "", timed: false };
        lane.enqueue(&head, Op::Fill(&[fill], &[1]))
    };
    lanes.iter().for_each(|lane| enqueue(lane, 1).unwrap());
    assert!(lanes[0].wait(1, None).unwrap());
    found.shared.planted.lose_device();
    enqueue(&lanes[0], 2).unwrap();
    let lost = lanes[0].wait(2, None).unwrap_err();
    assert!(lost.reason.contains("vkQueueSubmit2"), "{lost:?}");
    // The other one had something that was not submitted.
    assert!(lanes[1].wait(1, None).is_err() && lanes[1].completed().is_err());
    let refused = [
        enqueue(&lanes[1], 2).unwrap_err(),
        device.lane(LaneKind::Compute, 0).map(drop).unwrap_err(),
        device.load(&KernelSource::Ir(&twice())).map(drop).unwrap_err(),
        device.graph(&[]).map(drop).unwrap_err(),
    ];
    for error in refused {
        assert!(matches!(error.kind, HalErrorKind::Lost), "{error:?}");
    }
    drop(lanes);
    drop(device);
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}

/// ERR-04: the same in a runtime: what waits ends with an error that names the device, and what
/// the host has is there.
#[test]
fn planted_loss_of_a_device_of_vulkan_ends_a_runtime_in_order() {
    let backend = VulkanBackend::new().validated().as_discrete();
    let (shared, messages) = match backend.found() {
        Ok(all) => (all[0].shared.clone(), backend.messages()),
        Err(why) => return println!("skipped: vulkan: {}", why.reason),
    };
    let rt = Runtime::builder().backend(backend).on_failure(|_| {}).build().unwrap();
    let q = rt.queue_on("vulkan:0").unwrap();
    let (mut x, mut y) = (rt.buffer_from(&[1u32, 2, 3]).unwrap(), rt.buffer::<u32, 1>(3).unwrap());
    q.fill(&mut y, 7).unwrap();
    q.wait().unwrap();
    shared.planted.lose_device();
    let told = q.copy(&x, &mut y).and_then(|_| q.wait()).unwrap_err();
    assert!(told.to_string().contains("vulkan:0"), "{told}");
    assert!(
        matches!(y.to_vec(), Err(Error::Failed(_) | Error::Device { .. })),
        "it was there only"
    );
    assert_eq!(x.to_vec().unwrap(), [1, 2, 3]);
    x.write().unwrap()[0] = 9;
    assert_eq!(x.to_vec().unwrap(), [9, 2, 3]);
    drop((x, y, q, rt));
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}

/// MEM-01: no allocation is larger than the driver makes: the call says what was asked, and what
/// is possible.
#[test]
fn allocations_of_vulkan_have_a_limit() {
    let Some((found, messages)) = found() else { return };
    const LESS: u64 = 1 << 20;
    for most in [found.info.caps.max_alloc, LESS] {
        let Some(size) = most.checked_add(1) else { continue };
        let mut found = found.clone();
        found.info.caps.max_alloc = most;
        let device = open(&found);
        let request = AllocReq {
            kind: AllocKind::Device,
            size,
            align: 64,
            import: None,
            zeroed: false,
            linked: false,
            exported: false,
            label: "much",
        };
        let error = device.alloc(&request).unwrap_err();
        let HalErrorKind::OutOfMemory { asked, limit, .. } = error.kind else {
            panic!("{error:?}");
        };
        assert_eq!((asked, limit), (size, most));
        device.free(alloc(&device, AllocKind::Device, LESS).handle);
    }
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}

/// A driver that does not run the probe is not taken for one that rounds wrongly: its error is
/// told.
#[test]
fn planted_failure_of_the_probe_of_vulkan_is_told() {
    let Some((mut found, messages)) = found() else { return };
    found.shared.planted.lose_device();
    let why = probe::measure(&mut found).unwrap_err();
    assert!(why.contains(&found.info.name) && why.contains("vkQueueSubmit2"), "{why}");
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}

/// The capabilities are those that devices tell, and not a guess of Folio's.
#[test]
fn capabilities_of_vulkan_are_what_drivers_tell() {
    let Some((found, _)) = found() else { return };
    let caps = &found.info.caps;
    // SAFETY: the device is of this instance.
    let limits =
        unsafe { found.shared.instance.get_physical_device_properties(found.physical) }.limits;
    assert_eq!(caps.local_memory, u64::from(limits.max_compute_shared_memory_size));
    let (instance, name) = (&found.shared.instance, ash::ext::memory_budget::NAME);
    let told = crate::device::extensions::has_extension(instance, found.physical, name);
    assert_eq!(caps.budget.is_some(), told);
    println!(
        "{} units, budget {:?} of {}",
        found.info.compute_units, caps.budget, found.info.memory
    );
    // MEM-01: what the driver advises is the budget, if it is less than all.
    for (advised, budget) in [(None, u64::MAX), (Some(4096), 4096), (Some(u64::MAX), u64::MAX)] {
        let (mut found, backend) = (found.clone(), VulkanBackend::default());
        found.info.caps.budget = advised;
        let memory = found.info.memory;
        assert!(backend.found.set(Ok(vec![found])).is_ok());
        let rt = Runtime::builder().backend(backend).build().unwrap();
        assert_eq!(rt.devices()[0].budget().0, budget.min(memory), "{advised:?}");
    }
    let limit = crate::Capabilities::ALL;
    let base = folio_kernel::emit::Capabilities { local_memory: 4096, ..limit.base };
    let backend =
        VulkanBackend::new().validated().limited_to(crate::Capabilities { base, ..limit });
    assert_eq!(backend.found().unwrap()[0].info.caps.local_memory, 4096);
}

/// Every kind of object that a device makes has a name, for people who look at the driver's.
#[test]
fn objects_of_vulkan_have_names() {
    use ash::vk::ObjectType as Of;
    let Some((found, messages)) = found() else { return };
    let device = open(&found);
    // Its clock, which is asked when something is timed.
    let lane = device.lane(LaneKind::Compute, 0).unwrap();
    let [x, y] = [(); 2].map(|()| alloc(&device, AllocKind::Device, 4096));
    let handle = device.load(&KernelSource::Ir(&twice())).unwrap();
    let params = [param(&x, 1000, 4, false), param(&y, 1000, 4, true)];
    let (geometry, args) = (Geometry::new(1, [1, 1, 1000]), Args::new(&params));
    let launch = Op::Launch(KernelRef::Loaded(handle), &geometry, args);
    let nodes = [folio_core::hal::Node { op: launch, after: &[] }];
    let graph = device.graph(&nodes).unwrap();
    let head = Head { tick: 1, order: Order::AfterPrevious, waits: &[], label: "", timed: true };
    lane.enqueue(&head, launch).unwrap();
    assert!(lane.wait(1, None).unwrap());
    let head = Head { tick: 2, timed: false, ..head };
    lane.enqueue(&head, Op::Replay(&graph)).unwrap();
    assert!(lane.wait(2, None).unwrap());
    // Memory of the program's, and such as others can open; where there is that.
    let mut pages = vec![0u8; 3 * 4096];
    let align = found.target.import.unwrap_or(1) as usize;
    let at = pages.as_mut_ptr().wrapping_add(pages.as_ptr().align_offset(align.min(4096)));
    let plain = AllocReq {
        kind: AllocKind::Host,
        size: 4096,
        align: 64,
        import: None,
        zeroed: true,
        linked: false,
        exported: false,
        label: "imported",
    };
    let host = folio_core::hal::RawMemory::Host(folio_core::hal::HostPtr(at));
    let imported = device.alloc(&AllocReq { import: Some(host), zeroed: false, ..plain });
    let kind = AllocKind::Device;
    let exported = device.alloc(&AllocReq { kind, exported: true, label: "exported", ..plain });
    let given = device.0.names.given.lock().unwrap().clone();
    let kinds: BTreeSet<i32> = given.iter().map(|(of, _)| of.as_raw()).collect();
    let wanted = [
        Of::DEVICE,
        Of::QUEUE,
        Of::SEMAPHORE,
        Of::COMMAND_BUFFER,
        Of::FENCE,
        Of::DEVICE_MEMORY,
        Of::BUFFER,
        Of::QUERY_POOL,
        Of::SHADER_MODULE,
        Of::PIPELINE_CACHE,
        Of::PIPELINE_LAYOUT,
        Of::PIPELINE,
        Of::COMMAND_POOL,
    ];
    let missing: Vec<_> = wanted.iter().filter(|of| !kinds.contains(&of.as_raw())).collect();
    assert!(missing.is_empty() || !found.shared.names, "{missing:?}");
    let has = |of, name: &str| given.iter().any(|(kind, own)| *kind == of && own == name);
    for (of, name) in [
        (Of::COMMAND_BUFFER, "folio batch"),
        (Of::COMMAND_BUFFER, "folio graph"),
        (Of::COMMAND_BUFFER, "folio at once"),
        (Of::DEVICE_MEMORY, "folio memory"),
        (Of::BUFFER, "test"),
    ] {
        assert!(has(of, name) || !found.shared.names, "{of:?} {name}");
    }
    for (made, name) in [(&imported, "imported"), (&exported, "exported")] {
        let named = has(Of::DEVICE_MEMORY, name) && has(Of::BUFFER, name);
        assert_eq!(named && found.shared.names, made.is_ok() && found.shared.names, "{name}");
    }
    for made in [x, y].into_iter().chain(imported).chain(exported) {
        device.free(made.handle);
    }
    drop((graph, lane));
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}

/// A batch holds the lanes that it waits for. The last handle of a lane may therefore go with a
/// batch of another lane that goes.
#[test]
fn lanes_of_vulkan_go_with_those_that_waited_for_them() {
    let Some((found, messages)) = found() else { return };
    let device = open(&found);
    let made = alloc(&device, AllocKind::Device, 4096);
    let fill = FillRect { dst: place(&made, 0), pitch: [0; 2], extent: [1, 1, 4096] };
    let [first, second] = [(); 2].map(|()| device.lane(LaneKind::Compute, 0).unwrap());
    let mut head = Head { tick: 1, order: Order::Free, waits: &[], label: "", timed: false };
    first.enqueue(&head, Op::Fill(&[fill], &[1])).unwrap();
    let waits = [Wait { lane: &first, tick: 1 }];
    head.waits = &waits;
    second.enqueue(&head, Op::Fill(&[fill], &[2])).unwrap();
    // Submitted, and not looked at again.
    second.awaited(1);
    drop(first);
    drop(second);
    drop(device);
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}
