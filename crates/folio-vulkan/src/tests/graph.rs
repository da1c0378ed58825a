//! Recordings of graphs: their barriers, and what an update changes in them. Barriers of lanes.

use super::{alloc, found, open, param, place};
use crate::Messages;
use crate::device::VulkanDevice;
use crate::device::queues::Use;
use crate::lane::VulkanLane;
use crate::lane::counts::Counts;
use crate::lane::graph::VulkanGraph;
use folio_core::hal::{
    AllocKind, Allocation, Args, Argument, CopyRect, Device, FillRect, Geometry, Graph, Head,
    KernelHandle, KernelRef, KernelSource, Lane, LaneKind, Node, Op, Order, Param,
};
use folio_kernel::{Access, Binary, Builder, Kernel, Owner, Scalar};
use std::sync::Arc;

const COUNT: usize = 1000;

/// `y[i] = y[i] * 3 + n`
fn grows() -> Kernel {
    let mut b = Builder::items("grows", 1);
    let n = b.scalar("n", Scalar::U32);
    let y = b.view("y", Scalar::U32, 1, Access::InOut, Owner::Item);
    let i = b.position(0);
    let (value, three) = (b.load_at(y, [i]), b.int(Scalar::U32, 3));
    let product = b.binary(Binary::Mul, value, three);
    let sum = b.binary(Binary::Add, product, n);
    b.store_at(y, [i], sum);
    b.finish().unwrap()
}

/// A launch of `grows` with numbers.
struct Step {
    handle: KernelHandle,
    params: [Param; 1],
    scalar: [u8; 8],
    geometry: Geometry,
    proved: bool,
}

impl Step {
    fn new(handle: KernelHandle, y: &Allocation, n: u32) -> Step {
        let mut scalar = [0; 8];
        scalar[..4].copy_from_slice(&n.to_le_bytes());
        let params = [param(y, COUNT, 4, true)];
        let geometry = Geometry::new(1, [1, 1, COUNT]);
        Step { handle, params, scalar, geometry, proved: false }
    }

    fn with(&self, each: &mut dyn FnMut(Op<'_>)) {
        let arguments = [Argument::Value(8)];
        let plain = Args::new(&self.params);
        let proved = self.proved;
        let args = Args { blob: &self.scalar, arguments: &arguments, proved, ..plain };
        each(Op::Launch(KernelRef::Loaded(self.handle), &self.geometry, args));
    }
}

/// A device, a lane, and the kernel `grows`.
struct Rig {
    device: VulkanDevice,
    messages: Messages,
    lane: Arc<dyn Lane>,
    grows: KernelHandle,
    tick: u64,
}

impl Rig {
    fn new() -> Option<Rig> {
        let (found, messages) = found()?;
        let device = open(&found);
        let lane = device.lane(LaneKind::Compute, 0).unwrap();
        let grows = device.load(&KernelSource::Ir(&grows())).unwrap();
        Some(Rig { device, messages, lane, grows, tick: 0 })
    }

    fn numbers(&self) -> Allocation {
        alloc(&self.device, AllocKind::Host, 4 * COUNT as u64)
    }

    fn step(&self, y: &Allocation, n: u32) -> Step {
        Step::new(self.grows, y, n)
    }

    /// A step that cannot fail.
    fn proved(&self, y: &Allocation, n: u32) -> Step {
        Step { proved: true, ..self.step(y, n) }
    }

    /// A graph of launches, each after those.
    fn graph(&self, steps: &[(Step, &[usize])]) -> Arc<dyn Graph> {
        fn within(
            device: &VulkanDevice,
            steps: &[(Step, &[usize])],
            nodes: &[Node<'_>],
        ) -> Arc<dyn Graph> {
            let Some(((step, after), rest)) = steps.split_first() else {
                return device.graph(nodes).unwrap();
            };
            let mut made = None;
            step.with(&mut |op| {
                let mut all = nodes.to_vec();
                all.push(Node { op, after });
                made = Some(within(device, rest, &all));
            });
            made.unwrap()
        }
        within(&self.device, steps, &[])
    }

    fn enqueue(&mut self, op: Op<'_>) {
        self.tick += 1;
        let (tick, order) = (self.tick, Order::AfterPrevious);
        let head = Head { tick, order, waits: &[], label: "", timed: false };
        self.lane.enqueue(&head, op).unwrap();
    }

    fn wait(&self) {
        assert!(self.lane.wait(self.tick, None).unwrap());
        self.lane.failures(&mut |tick, error| panic!("{tick}: {error}"));
        assert!(self.messages.all().is_empty(), "{:?}", self.messages.all());
    }

    /// The counts of a test so far.
    fn counts(&self) -> Counts {
        self.device.0.counts().get()
    }

    /// All numbers, which are equal.
    fn number(&self, y: &Allocation) -> u32 {
        // SAFETY: the allocation has so many numbers, and the lane has ended.
        let at = |at: usize| unsafe { y.host.unwrap().0.cast::<u32>().add(at).read() };
        assert!((0..COUNT).all(|nth| at(nth) == at(0)));
        at(0)
    }
}

/// GRAPH-03: exchanged scalars and memory are written over the recorded ones in the order of the
/// lane, also while earlier replays are under way; nothing is recorded again. Another range is.
#[test]
fn exchanged_arguments_of_vulkan_are_patched() {
    let Some(mut rig) = Rig::new() else { return };
    let y = [rig.numbers(), rig.numbers()];
    let graph = rig.graph(&[(rig.step(&y[0], 1), &[]), (rig.step(&y[0], 2), &[0])]);
    let mut expected = [0u32; 2];
    let mut replay = |rig: &mut Rig, at: usize, n: u32| {
        rig.enqueue(Op::Replay(&graph));
        for n in [n, 2] {
            expected[at] = expected[at].wrapping_mul(3).wrapping_add(n);
        }
        expected
    };
    let before = rig.counts();
    replay(&mut rig, 0, 1);
    let mut wanted = [0; 2];
    for n in 10..30 {
        let at = n as usize % 2;
        rig.step(&y[at], n).with(&mut |op| graph.update(0, op).unwrap());
        rig.step(&y[at], 2).with(&mut |op| graph.update(1, op).unwrap());
        replay(&mut rig, at, n);
        // Once more with the same, of which the graph is told again.
        rig.step(&y[at], n).with(&mut |op| graph.update(0, op).unwrap());
        wanted = replay(&mut rig, at, n);
    }
    rig.wait();
    assert_eq!(y.each_ref().map(|y| rig.number(y)), wanted);
    let done = rig.counts() - before;
    // 41 replays of which none has been seen to end: each of the first four makes a recording. Of
    // the last one, which all others share, exchanges are patched. The last buffer is that of the
    // first exchange: it stays, and the second node with it.
    assert_eq!((done.recordings, done.patches), (4, 36));
    // A half has other blocks.
    let mut half = rig.step(&y[1], 5);
    half.geometry = Geometry::new(1, [1, 1, COUNT / 2]);
    half.with(&mut |op| graph.update(0, op).unwrap());
    rig.enqueue(Op::Replay(&graph));
    rig.wait();
    assert_eq!((rig.counts() - before).recordings, 5);
}

/// The barriers and bound pipelines of a recording of these launches, each after those.
#[test]
fn recordings_of_vulkan_have_barriers_between_levels() {
    let Some(mut rig) = Rig::new() else { return };
    let y: Vec<Allocation> = (0..8).map(|_| rig.numbers()).collect();
    let mut check = |edges: &[&[usize]], barriers: u64| {
        let steps: Vec<_> =
            edges.iter().zip(&y).map(|(after, y)| (rig.step(y, 1), *after)).collect();
        let graph = rig.graph(&steps);
        let before = rig.counts();
        rig.enqueue(Op::Replay(&graph));
        // Before it has been submitted, what is counted is the recording.
        let made = rig.counts() - before;
        let count = edges.len() as u64;
        assert_eq!(
            (made.recordings, made.dispatches, made.binds, made.barriers),
            (1, count, 1, barriers),
            "{edges:?}"
        );
        rig.wait();
    };
    check(&[[].as_slice(); 8], 0);
    check(&[&[], &[0], &[1], &[2], &[3], &[4], &[5], &[6]], 7);
    // A fork, and a join.
    check(&[&[], &[0], &[0], &[0], &[1, 2, 3]], 2);
    // Chains that take turns.
    check(&[&[], &[], &[0], &[1], &[2], &[3]], 2);
    // Behind a fork whose branches are not equally long.
    check(&[&[], &[0], &[1], &[0], &[2, 3]], 3);
}

/// Barriers of a lane are between operations that depend on each other; a batch begins with one.
#[test]
fn lanes_of_vulkan_have_barriers_between_dependent_operations() {
    let Some(mut rig) = Rig::new() else { return };
    let y: Vec<Allocation> = (0..8).map(|_| rig.numbers()).collect();
    let check = |rig: &mut Rig, of: &[usize], barriers: u64| {
        let before = rig.counts();
        for at in of {
            let step = rig.step(&y[*at], 1);
            step.with(&mut |op| rig.enqueue(op));
        }
        rig.wait();
        let done = rig.counts() - before;
        let count = of.len() as u64;
        assert_eq!(
            (done.submissions, done.dispatches, done.binds, done.barriers),
            (1, count, 1, 1 + barriers),
            "{of:?}"
        );
    };
    check(&mut rig, &[0, 1, 2, 3, 4, 5, 6, 7], 0);
    check(&mut rig, &[0; 8], 7);
    // A barrier is for all that came before it.
    check(&mut rig, &[0, 1, 2, 3, 0, 1, 2, 3], 1);
    // Fills by commands and by a kernel, and copies: of several places at once.
    let before = rig.counts();
    let (bytes, half) = (4 * COUNT as u64, 2 * COUNT as u64);
    let part = |at: usize, offset: u64, bytes: u64| FillRect {
        dst: place(&y[at], offset),
        pitch: [0; 2],
        extent: [1, 1, bytes],
    };
    rig.enqueue(Op::Fill(&[part(0, 0, half), part(0, half, half), part(1, 0, bytes)], &[7]));
    let odd = [part(2, 0, 3), part(2, 3, 5)];
    rig.enqueue(Op::Fill(&odd, &[9]));
    let copy = |from: usize, to: usize| CopyRect {
        src: place(&y[from], 0),
        src_pitch: [0; 2],
        dst: place(&y[to], 0),
        dst_pitch: [0; 2],
        extent: [1, 1, bytes],
    };
    rig.enqueue(Op::Copy(&[copy(0, 3), copy(1, 4)]));
    rig.wait();
    let done = rig.counts() - before;
    assert_eq!((done.submissions, done.dispatches, done.barriers), (1, 2, 2));
    assert_eq!(rig.number(&y[4]), 0x0707_0707);
}

/// Replays and launches of one batch have barriers between those that use the same buffers only, by
/// what each replay uses now. A recording that uses many is kept apart from all.
#[test]
fn replays_of_vulkan_have_barriers_between_dependent_operations() {
    let Some(mut rig) = Rig::new() else { return };
    let y: Vec<Allocation> = (0..4).map(|_| rig.numbers()).collect();
    let chain =
        |rig: &Rig, y: &Allocation| rig.graph(&[(rig.proved(y, 1), &[]), (rig.proved(y, 2), &[0])]);
    let graphs: Vec<_> = y.iter().map(|y| chain(&rig, y)).collect();
    // Recorded before anything is counted: a recording has barriers of its own.
    for graph in &graphs {
        rig.enqueue(Op::Replay(graph));
        rig.enqueue(Op::Replay(graph));
    }
    rig.wait();
    let grown = |v: u32, n: u32| v.wrapping_mul(3).wrapping_add(n);
    let twice = |v: u32| grown(grown(v, 1), 2);
    let mut wanted = vec![twice(twice(0)); 4];
    // Replays by number, and launches by number and 10; what replays change.
    let mut check = |rig: &mut Rig, of: &[usize], targets: [usize; 4], barriers: u64| {
        let before = rig.counts();
        for at in of {
            match graphs.get(*at) {
                Some(graph) => {
                    rig.enqueue(Op::Replay(graph));
                    wanted[targets[*at]] = twice(wanted[targets[*at]]);
                }
                None => {
                    rig.step(&y[*at - 10], 1).with(&mut |op| rig.enqueue(op));
                    wanted[*at - 10] = grown(wanted[*at - 10], 1);
                }
            }
        }
        rig.wait();
        let done = rig.counts() - before;
        assert_eq!((done.submissions, done.barriers), (1, 1 + barriers), "{of:?}");
        let found: Vec<u32> = y.iter().map(|y| rig.number(y)).collect();
        assert_eq!(found, wanted, "{of:?}");
    };
    let own = [0, 1, 2, 3];
    check(&mut rig, &[0, 1, 2, 3], own, 0);
    check(&mut rig, &[0, 0], own, 1);
    check(&mut rig, &[0, 1, 0, 1], own, 1);
    check(&mut rig, &[0, 1, 12, 13], own, 0);
    check(&mut rig, &[0, 1, 10, 11], own, 1);
    check(&mut rig, &[10, 0, 11, 1], own, 2);
    // An exchange of memory: words are written before the replay, so one barrier is between these.
    for (node, n) in [(0, 1), (1, 2)] {
        rig.proved(&y[1], n).with(&mut |op| graphs[0].update(node, op).unwrap());
    }
    let moved = [1, 1, 2, 3];
    check(&mut rig, &[0, 2], moved, 1);
    check(&mut rig, &[0, 2], moved, 0);
    check(&mut rig, &[1, 0], moved, 1);
    // Launches that may fail have records, which are cleared before a replay and copied behind it.
    let told = [rig.graph(&[(rig.step(&y[2], 1), &[])]), rig.graph(&[(rig.step(&y[3], 1), &[])])];
    for _ in 0..2 {
        let before = rig.counts();
        told.iter().for_each(|graph| rig.enqueue(Op::Replay(graph)));
        rig.wait();
        assert_eq!((rig.counts() - before).barriers, 5);
    }
}

/// A batch of replays that do not depend on each other records nothing. A batch with another
/// operation begins a command buffer for that.
#[test]
fn replays_of_vulkan_alone_begin_no_command_buffer() {
    let Some(mut rig) = Rig::new() else { return };
    let y: Vec<Allocation> = (0..2).map(|_| rig.numbers()).collect();
    let graphs: Vec<_> =
        y.iter().map(|y| rig.graph(&[(rig.proved(y, 1), &[]), (rig.proved(y, 2), &[0])])).collect();
    let grown = |v: u32, n: u32| v.wrapping_mul(3).wrapping_add(n);
    let mut wanted = [0u32; 2];
    let mut first = 1;
    // Replays by number, and launches by number and 10; what begins for them.
    let mut check = |rig: &mut Rig, of: &[usize], first: u32, begun: u64| {
        let before = rig.counts();
        for at in of {
            let value = &mut wanted[*at % 10];
            match graphs.get(*at) {
                Some(graph) => {
                    rig.enqueue(Op::Replay(graph));
                    *value = grown(grown(*value, if *at == 0 { first } else { 1 }), 2);
                }
                None => {
                    rig.proved(&y[*at - 10], 7).with(&mut |op| rig.enqueue(op));
                    *value = grown(*value, 7);
                }
            }
        }
        rig.wait();
        let done = rig.counts() - before;
        assert_eq!((done.submissions, done.begun), (1, begun), "{of:?}");
        assert_eq!([rig.number(&y[0]), rig.number(&y[1])], wanted, "{of:?}");
    };
    check(&mut rig, &[0], first, 0);
    check(&mut rig, &[0, 1], first, 0);
    check(&mut rig, &[1, 1], first, 1);
    check(&mut rig, &[0, 10], first, 1);
    check(&mut rig, &[10, 0, 1], first, 1);
    check(&mut rig, &[10, 0, 10], first, 2);
    // Other words are written before a replay, once.
    first = 5;
    rig.proved(&y[0], first).with(&mut |op| graphs[0].update(0, op).unwrap());
    check(&mut rig, &[0], first, 1);
    check(&mut rig, &[0], first, 0);
}

/// The buffers of a recording are told up to a number of them; a recording of more is kept apart
/// from all.
#[test]
fn replays_of_vulkan_that_use_many_buffers_are_kept_apart() {
    let Some(mut rig) = Rig::new() else { return };
    let y: Vec<Allocation> = (0..70).map(|_| rig.numbers()).collect();
    let steps = |rig: &Rig, count: usize| -> Vec<(Step, &[usize])> {
        y[..count].iter().map(|y| (rig.proved(y, 1), [].as_slice())).collect()
    };
    let other = rig.numbers();
    // The last buffer is that of the words.
    for (count, barriers) in [(63, 1), (64, 2), (70, 2)] {
        let graph = rig.graph(&steps(&rig, count));
        rig.enqueue(Op::Replay(&graph));
        rig.wait();
        let before = rig.counts();
        rig.step(&other, 1).with(&mut |op| rig.enqueue(op));
        rig.enqueue(Op::Replay(&graph));
        rig.step(&other, 1).with(&mut |op| rig.enqueue(op));
        rig.wait();
        let done = rig.counts() - before;
        // The two launches depend on each other; a barrier behind the replay orders them, too.
        assert_eq!(done.barriers, 1 + barriers, "{count}");
    }
}

/// Short operations are gathered until they are worth a submission, and long ones are not.
#[test]
fn batches_of_vulkan_are_submitted_by_time_and_by_number() {
    let Some(mut rig) = Rig::new() else { return };
    let y = rig.numbers();
    let mut step = rig.step(&y, 0);
    step.geometry = Geometry::new(1, [1, 1, 8]);
    let before = rig.counts();
    for _ in 0..99 {
        step.with(&mut |op| rig.enqueue(op));
    }
    assert_eq!((rig.counts() - before).submissions, 0);
    step.with(&mut |op| rig.enqueue(op));
    assert_eq!((rig.counts() - before).submissions, 1, "many short ones");
    let bytes = 128 << 20;
    let much = alloc(&rig.device, AllocKind::Device, bytes);
    let rect = FillRect { dst: place(&much, 0), pitch: [0; 2], extent: [1, 1, bytes] };
    rig.enqueue(Op::Fill(&[rect], &[1]));
    assert_eq!((rig.counts() - before).submissions, 2, "a long one");
    rig.wait();
}

/// A device without work is given an operation at once, and then twice as many each time; from the
/// beginning when they have been flushed.
#[test]
fn bursts_of_vulkan_are_few_submissions() {
    let Some(mut rig) = Rig::new() else { return };
    let y = rig.numbers();
    let mut step = rig.step(&y, 0);
    step.geometry = Geometry::new(1, [1, 1, 8]);
    let burst = |rig: &mut Rig, count: usize| {
        let before = rig.counts();
        for _ in 0..count {
            step.with(&mut |op| rig.enqueue(op));
            // SAFETY: no other thread uses the device.
            unsafe { rig.device.0.device.device_wait_idle() }.unwrap();
            rig.lane.drive();
        }
        (rig.counts() - before).submissions
    };
    assert_eq!(burst(&mut rig, 1), 1);
    assert_eq!(burst(&mut rig, 62), 5, "2, 4, 8, 16, 32");
    assert_eq!(burst(&mut rig, 10), 0);
    rig.lane.flush();
    assert_eq!(burst(&mut rig, 3), 2, "1, 2");
    rig.wait();
    assert_eq!(burst(&mut rig, 3), 2);
    rig.wait();
}

/// A graph has up to three recordings that are not submitted while they are pending, which replays
/// take in turn, and one more that may be. Once replays have ended, the first does.
#[test]
fn replays_of_vulkan_take_recordings_in_turn() {
    let Some(mut rig) = Rig::new() else { return };
    let y = rig.numbers();
    let graph = rig.graph(&[(rig.step(&y, 1), &[]), (rig.step(&y, 2), &[0])]);
    let mut expected = 0u32;
    let mut replay = |rig: &mut Rig, times: usize| {
        for _ in 0..times {
            rig.enqueue(Op::Replay(&graph));
            expected = expected.wrapping_mul(9).wrapping_add(5);
        }
        expected
    };
    let before = rig.counts();
    for _ in 0..5 {
        replay(&mut rig, 1);
        rig.wait();
    }
    let recordings = |rig: &Rig| (rig.counts() - before).recordings;
    assert_eq!(recordings(&rig), 1, "one after the other");
    for (count, all) in [(2, 2), (3, 3), (4, 4), (40, 4), (3, 4)] {
        let expected = replay(&mut rig, count);
        rig.wait();
        assert_eq!(recordings(&rig), all, "{count} at once");
        assert_eq!(rig.number(&y), expected);
    }
    // An exchange meanwhile is one of all recordings.
    rig.step(&y, 7).with(&mut |op| graph.update(0, op).unwrap());
    let mut expected = rig.number(&y);
    for times in [1, 3, 5] {
        for _ in 0..times {
            rig.enqueue(Op::Replay(&graph));
            expected = expected.wrapping_mul(3).wrapping_add(7).wrapping_mul(3).wrapping_add(2);
        }
        rig.wait();
        assert_eq!(rig.number(&y), expected, "{times} at once");
    }
    assert_eq!((recordings(&rig), (rig.counts() - before).patches), (4, 4));
}

/// The records of a recording's launches are cleared and copied at once, however many they are:
/// more than a lane's chunk of memory has room for.
#[test]
fn records_of_recordings_of_vulkan_follow_one_another() {
    let Some(rig) = Rig::new() else { return };
    let y = rig.numbers();
    const NODES: usize = 1500;
    let step = rig.step(&y, 1);
    let mut made = None;
    step.with(&mut |op| {
        let nodes = vec![Node { op, after: &[] }; NODES];
        made = Some(rig.device.graph(&nodes).unwrap());
    });
    let made = made.unwrap();
    let graph: &VulkanGraph = made.downcast_ref().unwrap();
    let lane = VulkanLane::new(rig.device.0.clone(), Use::Compute).unwrap();
    let recording = graph.turn(&lane).unwrap().recording;
    let counts: Vec<usize> = recording.runs.iter().map(|run| run.count).collect();
    assert_eq!(counts, [NODES]);
}
