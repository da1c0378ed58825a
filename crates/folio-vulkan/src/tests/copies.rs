//! Copies between the device and the host's memory: what is staged, and what waits.

use super::{alloc, open, place};
use crate::device::platform::Found;
use crate::device::queues::Use;
use crate::lane::VulkanLane;
use crate::{Messages, VulkanBackend};
use folio_core::hal::{
    AllocKind, CopyRect, Device, FillRect, Graph, Head, HostPtr, Lane, LaneKind, MemBase, MemRef,
    Node, Op, Order, UsmAllocator, Wait,
};
use folio_core::{
    BufferOptions, Runtime,
    memory::{Evict, Links},
};
use std::sync::Arc;

/// The first device, as if it did not share its memory with the host.
fn discrete() -> Option<(Found, Messages)> {
    let backend = VulkanBackend::new().validated().as_discrete();
    match backend.found() {
        Ok(all) => Some((all[0].clone(), backend.messages())),
        Err(why) => {
            println!("skipped: vulkan: {}", why.reason);
            None
        }
    }
}

fn host(at: *mut u8, offset: u64) -> MemRef {
    MemRef { base: MemBase::Host(HostPtr(at)), offset }
}

fn rect(src: MemRef, dst: MemRef, extent: [u64; 3]) -> CopyRect {
    let [_, rows, bytes] = extent;
    let pitch = [rows * bytes, bytes];
    CopyRect { src, src_pitch: pitch, dst, dst_pitch: pitch, extent }
}

fn enqueue(lane: &VulkanLane, tick: u64, op: Op<'_>) {
    let head = Head { tick, order: Order::AfterPrevious, waits: &[], label: "", timed: false };
    lane.enqueue(&head, op).unwrap();
}

/// The device does later operations of the lane only when the test lets it.
struct Gate<'l> {
    lane: &'l VulkanLane,
    semaphore: ash::vk::Semaphore,
    value: u64,
}

impl<'l> Gate<'l> {
    fn new(lane: &'l VulkanLane, tick: u64) -> Gate<'l> {
        let (semaphore, value) = lane.core.timeline().unwrap();
        let value = value + 1;
        let mut state = lane.state();
        lane.open_behind(&mut state, tick, vec![], vec![(semaphore, value)]);
        Gate { lane, semaphore, value }
    }

    /// Lets it.
    fn open(self) {
        let signal =
            ash::vk::SemaphoreSignalInfo::default().semaphore(self.semaphore).value(self.value);
        // SAFETY: the semaphore is the test's, and has a smaller value.
        unsafe { self.lane.core.device.signal_semaphore(&signal) }.unwrap();
        self.lane.core.keep_timeline(self.semaphore);
    }
}

/// A lane submits what it has when the device has nothing of it to do, and gathers meanwhile.
#[test]
fn operations_of_vulkan_are_gathered_while_others_are_under_way() {
    let Some((found, messages)) = discrete() else { return };
    let device = open(&found);
    let lane = VulkanLane::new(device.0.clone(), Use::Compute).unwrap();
    let made = alloc(&device, AllocKind::Device, 4096);
    let before = device.0.counts().get();
    let fill = FillRect { dst: place(&made, 0), pitch: [0; 2], extent: [1, 1, 4096] };
    let gate = Gate::new(&lane, 1);
    for tick in 1..=50 {
        enqueue(&lane, tick, Op::Fill(&[fill], &[1, 2, 3, 4]));
        lane.drive();
    }
    assert_eq!((device.0.counts().get() - before).submissions, 1);
    gate.open();
    assert!(lane.wait(50, None).unwrap());
    assert_eq!((device.0.counts().get() - before).submissions, 2);
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}

/// The device copies memory that is named by an address of the host's and page-locked: nothing is
/// staged, and nothing waits for the host. Rectangles of which a byte is outside are staged.
#[test]
fn copies_of_page_locked_memory_of_vulkan_are_the_devices() {
    let Some((found, messages)) = discrete() else { return };
    let device = open(&found);
    let lane = VulkanLane::new(device.0.clone(), Use::Compute).unwrap();
    const BYTES: u64 = 3000;
    let [from, to] = [(); 2].map(|()| alloc(&device, AllocKind::Host, BYTES));
    let there = alloc(&device, AllocKind::Device, BYTES);
    let [from, to] = [from, to].map(|made| made.host.unwrap().0);
    // SAFETY: the allocation has so many bytes, and nothing uses them.
    let bytes = unsafe { std::slice::from_raw_parts_mut(from, BYTES as usize) };
    (0..).zip(&mut *bytes).for_each(|(at, byte): (u64, _)| *byte = (at * 7 + at / 251) as u8);
    let before = device.0.counts().get();
    let gate = Gate::new(&lane, 1);
    // Two of three lines of 1000 bytes, each in parts.
    let up = rect(host(from, 1000), place(&there, 0), [2, 5, 200]);
    let down = rect(place(&there, 0), host(to, 500), [2, 5, 200]);
    enqueue(&lane, 1, Op::Copy(&[up]));
    enqueue(&lane, 2, Op::Copy(&[down]));
    lane.flush();
    let done = device.0.counts().get() - before;
    assert_eq!((done.submissions, done.stages), (1, 0), "both were submitted behind the gate");
    gate.open();
    assert!(lane.wait(2, None).unwrap());
    let seen = |at: u64, count: u64| {
        // SAFETY: the allocation has so many bytes, and the lane has ended.
        unsafe { std::slice::from_raw_parts(to.add(at as usize), count as usize) }
    };
    assert!(seen(500, 2000) == &bytes[1000..]);
    assert!(seen(0, 500).iter().chain(seen(2500, 500)).all(|byte| *byte == 0));
    // Memory of the program's, which the device does not reach.
    let mut other = vec![0u8; BYTES as usize];
    enqueue(&lane, 3, Op::Copy(&[rect(place(&there, 0), host(other.as_mut_ptr(), 0), [1, 1, 9])]));
    assert!(lane.wait(3, None).unwrap());
    assert_eq!((device.0.counts().get() - before).stages, 1);
    assert_eq!(other[..10], [&bytes[1000..1009], &[0]].concat());
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}

/// Graphs have such copies as nodes. They hold the memory that they name by the host's address, so
/// that nothing else is there while they can be replayed.
#[test]
fn graphs_of_vulkan_copy_page_locked_memory() {
    let Some((found, messages)) = discrete() else { return };
    let device = open(&found);
    let lane = device.lane(LaneKind::Compute, 0).unwrap();
    let [from, there] = [AllocKind::Host, AllocKind::Device].map(|kind| alloc(&device, kind, 4096));
    let at = from.host.unwrap().0;
    let up = [rect(host(at, 0), place(&there, 0), [1, 1, 4096])];
    let down = [rect(place(&there, 0), host(at, 2048), [1, 1, 2048])];
    let nodes = [Node { op: Op::Copy(&up), after: &[] }, Node { op: Op::Copy(&down), after: &[0] }];
    let graph: Arc<dyn Graph> = device.graph(&nodes).unwrap();
    // SAFETY: the allocation has so many bytes, and nothing uses them.
    unsafe { at.write_bytes(5, 2048) };
    assert!(super::run(&lane, &[Op::Replay(&graph)]).is_empty());
    // SAFETY: as above; the lane has ended.
    let seen = unsafe { std::slice::from_raw_parts(at, 4096) };
    assert!(seen.iter().all(|byte| *byte == 5));
    let mut other = [0u8; 16];
    let pageable = [rect(host(other.as_mut_ptr(), 0), place(&there, 0), [1, 1, 16])];
    let refused = device.graph(&[Node { op: Op::Copy(&pageable), after: &[] }]);
    assert!(refused.is_err_and(|error| error.to_string().contains("a copy by the host")));
    device.free(from.handle);
    let again = alloc(&device, AllocKind::Host, 4096);
    assert_ne!(again.host.unwrap().0, at, "the graph holds what it copies");
    device.free(again.handle);
    drop((lane, device));
    drop(graph);
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}

/// LINK-02: copies of page-locked buffers stage nothing, also where memory is short; those of
/// others do.
#[test]
fn page_locked_buffers_of_vulkan_are_never_staged() {
    const COUNT: usize = 1 << 20;
    const BYTES: u64 = 4 * COUNT as u64;
    for is_locked in [true, false] {
        let backend = VulkanBackend::new().validated().as_discrete();
        let (counts, messages) = match backend.found() {
            Ok(all) => (all[0].shared.counts.clone(), backend.messages()),
            Err(why) => return println!("skipped: vulkan: {}", why.reason),
        };
        let builder = Runtime::builder().backend(backend).links(Links::Off);
        let rt = builder.budget("vulkan:0", BYTES).build().unwrap();
        let q = rt.queue_on("vulkan:0").unwrap();
        let before = counts.get();
        let options = || {
            let options = BufferOptions::new().evict(Evict::dirty());
            if is_locked { options.page_locked(&q.device()) } else { options }
        };
        let mut all: Vec<_> =
            (0..3).map(|_| rt.buffer_with::<u32, 1>(COUNT, options()).unwrap()).collect();
        for (value, buffer) in (1..).zip(&mut all) {
            // There is room for one: the others are written to the host.
            q.fill(buffer, value).unwrap();
        }
        for (value, buffer) in (1..).zip(&mut all) {
            assert!(buffer.to_vec().unwrap().iter().all(|found| *found == value));
        }
        let stages = (counts.get() - before).stages;
        assert_eq!(stages == 0, is_locked, "{stages} stages");
        drop((all, q, rt));
        assert!(messages.all().is_empty(), "{:?}", messages.all());
    }
}

/// Bytes on their way go through the same memory again and again, two parts at once.
#[test]
fn stages_of_vulkan_are_used_again() {
    let Some((found, messages)) = discrete() else { return };
    let device = open(&found);
    let kinds = [LaneKind::Upload, LaneKind::Download];
    let [up, down] = kinds.map(|kind| device.lane(kind, 0).unwrap());
    // Some parts, the last of which is not whole.
    const BYTES: u64 = (20 << 20) + 5;
    let there = alloc(&device, AllocKind::Device, BYTES);
    let mut from: Vec<u8> = (0..BYTES).map(|at| (at * 7 + at / 251) as u8).collect();
    let mut to = vec![0u8; BYTES as usize];
    let before = device.0.counts().get();
    for round in 1..=10u64 {
        from[round as usize] = 0;
        let source = rect(host(from.as_mut_ptr(), 0), place(&there, 0), [1, 1, BYTES]);
        let target = rect(place(&there, 0), host(to.as_mut_ptr(), 0), [1, 1, BYTES]);
        for (lane, rect) in [(&up, source), (&down, target)] {
            let tick = round;
            let head =
                Head { tick, order: Order::AfterPrevious, waits: &[], label: "", timed: true };
            lane.enqueue(&head, Op::Copy(&[rect])).unwrap();
            assert!(lane.wait(tick, None).unwrap());
            let timing = lane.timing(tick).unwrap();
            assert!(timing.queued <= timing.started && timing.started <= timing.ended);
        }
        assert!(from == to, "round {round}");
    }
    let done = device.0.counts().get() - before;
    // Of 5 MiB, and what is left.
    assert_eq!((done.stages, done.submissions), (2, 10 * 2 * 5));
    drop((up, down));
    // The buffer, and the two stages.
    assert_eq!(device.0.memory.report().0, 3);
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}

/// An engine opens one lane for kernels: batches of several would take turns on the one queue.
#[test]
fn runtimes_have_one_lane_for_kernels_of_vulkan() {
    let Some((found, _)) = discrete() else { return };
    assert_eq!(found.info.caps.compute_lanes, 1);
    let backend = VulkanBackend::new().validated();
    let counts = backend.found().unwrap()[0].shared.counts.clone();
    let rt = Runtime::builder().backend(backend).build().unwrap();
    let before = counts.get();
    let q = rt.queue_on("vulkan:0").unwrap();
    let mut x = rt.buffer::<u32, 1>(16).unwrap();
    q.fill(&mut x, 1).unwrap();
    assert_eq!(x.to_vec().unwrap(), [1; 16]);
    // And one for each direction of copies.
    assert_eq!((counts.get() - before).lanes, 4);
}

/// A copy by the host begins when what it waits for on another lane has ended, though no thread
/// asks that lane how far it is.
#[test]
fn copies_by_the_host_see_what_they_wait_for_on_other_lanes_of_vulkan() {
    let Some((found, messages)) = discrete() else { return };
    let device = open(&found);
    let [first, second] = [(); 2].map(|()| device.lane(LaneKind::Download, 0).unwrap());
    let there = alloc(&device, AllocKind::Device, 4096);
    let mut to = vec![0u8; 4096];
    let fill = FillRect { dst: place(&there, 0), pitch: [0; 2], extent: [1, 1, 4096] };
    let down = rect(place(&there, 0), host(to.as_mut_ptr(), 0), [1, 1, 4096]);
    let mut head = Head { tick: 1, order: Order::Free, waits: &[], label: "", timed: false };
    first.enqueue(&head, Op::Fill(&[fill], &[7])).unwrap();
    let waits = [Wait { lane: &first, tick: 1 }];
    head.waits = &waits;
    second.enqueue(&head, Op::Copy(&[down])).unwrap();
    assert!(second.wait(1, None).unwrap());
    assert!(to.iter().all(|byte| *byte == 7));
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}
