//! Barriers as they were recorded: none is missing, and the planted loss of one is found.

use super::{alloc, found, open, param, place, twice};
use crate::Messages;
use crate::device::VulkanDevice;
use crate::device::queues::Use;
use crate::lane::VulkanLane;
use crate::lane::audit::{Event, Operation, Random, Uses, conflict, unordered};
use crate::lane::graph::VulkanGraph;
use folio_core::hal::{
    AllocKind, Allocation, Args, CopyRect, Device, FillRect, Geometry, Graph, Head, KernelHandle,
    KernelRef, KernelSource, Lane, Node, Op, Order, Param,
};
use std::sync::Arc;

const COUNT: usize = 64;
const BUFFERS: usize = 4;

/// An operation from one buffer to another.
#[derive(Clone, Copy, Debug)]
enum What {
    Launch,
    Copy,
    /// By a command.
    Fill,
    /// By a kernel.
    Odd,
    /// Of a graph: a launch from the one to the other, which may fail, and a copy back.
    Replay,
}

struct Rig {
    device: VulkanDevice,
    messages: Messages,
    lane: Arc<VulkanLane>,
    twice: KernelHandle,
    all: Vec<Allocation>,
    /// By the buffer that they begin with, and the other.
    graphs: Vec<Vec<Arc<dyn Graph>>>,
    tick: u64,
}

impl Rig {
    fn new() -> Option<Rig> {
        let (found, messages) = found()?;
        let device = open(&found);
        let lane = VulkanLane::new(device.0.clone(), Use::Compute).unwrap();
        let twice = device.load(&KernelSource::Ir(&twice())).unwrap();
        let all = (0..BUFFERS).map(|_| alloc(&device, AllocKind::Device, 4 * COUNT as u64));
        let all = all.collect();
        let graphs = vec![];
        let mut rig = Rig { device, messages, lane, twice, all, graphs, tick: 0 };
        let graph = |from: usize, to: usize| {
            let back: [(What, [usize; 2], &[usize]); 2] =
                [(What::Launch, [from, to], &[]), (What::Copy, [to, from], &[0])];
            let mut made = None;
            within(&rig, &back, &[], &mut |nodes| made = Some(rig.device.graph(nodes).unwrap()));
            made.unwrap()
        };
        let of = |from: usize| (0..BUFFERS).map(|to| graph(from, to)).collect();
        rig.graphs = (0..BUFFERS).map(of).collect();
        Some(rig)
    }

    fn with(&self, what: What, [from, to]: [usize; 2], each: &mut dyn FnMut(Op<'_>)) {
        let graph = self.graphs.get(from).and_then(|of| of.get(to));
        let (from, to) = (&self.all[from], &self.all[to]);
        let bytes = 4 * COUNT as u64;
        match what {
            What::Replay => each(Op::Replay(graph.unwrap())),
            What::Launch => {
                let params: [Param; 2] = [param(from, COUNT, 4, false), param(to, COUNT, 4, true)];
                let geometry = Geometry::new(1, [1, 1, COUNT]);
                let args = Args::new(&params);
                each(Op::Launch(KernelRef::Loaded(self.twice), &geometry, args));
            }
            What::Copy => each(Op::Copy(&[CopyRect {
                src: place(from, 0),
                src_pitch: [0; 2],
                dst: place(to, 0),
                dst_pitch: [0; 2],
                extent: [1, 1, bytes],
            }])),
            What::Fill | What::Odd => {
                let odd = u64::from(matches!(what, What::Odd));
                let extent = [1, 1, bytes - odd];
                let rect = FillRect { dst: place(to, odd), pitch: [0; 2], extent };
                each(Op::Fill(&[rect], &[1, 2, 3, 4]));
            }
        }
    }

    fn enqueue(&mut self, op: Op<'_>) {
        self.tick += 1;
        let (tick, order) = (self.tick, Order::AfterPrevious);
        let head = Head { tick, order, waits: &[], label: "", timed: false };
        self.lane.enqueue(&head, op).unwrap();
    }

    /// Has operations run, some of them in a batch of their own, and says what was recorded.
    fn recorded(&mut self, steps: &[(What, [usize; 2], bool)]) -> Vec<Event> {
        for (what, places, flush) in steps {
            let mut made = None;
            let tick = self.tick + 1;
            let lane = self.lane.clone();
            self.with(*what, *places, &mut |op| {
                let order = Order::AfterPrevious;
                let head = Head { tick, order, waits: &[], label: "", timed: false };
                made = Some(lane.enqueue(&head, op));
            });
            made.unwrap().unwrap();
            self.tick = tick;
            if *flush {
                self.lane.flush();
            }
        }
        assert!(self.lane.wait(self.tick, None).unwrap());
        std::mem::take(&mut *self.device.0.trail.lock().unwrap())
    }
}

fn step(random: &mut Random) -> (What, [usize; 2], bool) {
    let all = [What::Launch, What::Copy, What::Fill, What::Odd, What::Replay];
    let what = all[random.below(all.len())];
    let from = random.below(BUFFERS);
    let to = (from + 1 + random.below(BUFFERS - 1)) % BUFFERS;
    (what, [from, to], random.below(8) == 0)
}

/// Batches that a lane records, whatever they are of, lack no barrier, within and between them.
#[test]
fn random_batches_of_vulkan_lack_no_barrier() {
    let Some(mut rig) = Rig::new() else { return };
    let mut random = Random(1);
    for case in 0..50 {
        let steps: Vec<_> = (0..1 + random.below(30)).map(|_| step(&mut random)).collect();
        let events = rig.recorded(&steps);
        let operations = events.iter().filter(|event| matches!(event, Event::Operation(_))).count();
        assert!(operations >= steps.len(), "case {case}: {steps:?}");
        assert_eq!(unordered(&events, conflict), None, "case {case}: {events:#?}");
    }
    assert!(rig.messages.all().is_empty(), "{:?}", rig.messages.all());
}

/// Each operation uses what the one before has written. Any barrier that is not recorded is
/// therefore found to be missing, also at the beginning of a batch.
#[test]
fn planted_loss_of_a_recorded_barrier_of_vulkan_is_found() {
    let Some(mut rig) = Rig::new() else { return };
    let first = [What::Launch, What::Copy, What::Launch, What::Odd, What::Fill, What::Launch];
    let all = [&first[..], &[What::Replay]].concat();
    let steps: Vec<_> = (0..14)
        .map(|at| (all[at % all.len()], [at % BUFFERS, (at + 1) % BUFFERS], at % 5 == 4))
        .collect();
    // Graphs are recorded by then.
    rig.recorded(&steps);
    // Fills use only what they write: each is behind what used that.
    let before = rig.device.0.counts().get();
    assert_eq!(unordered(&rig.recorded(&steps), conflict), None);
    let barriers = (rig.device.0.counts().get() - before).barriers;
    let (mut found, mut quiet) = (0, vec![]);
    for nth in 1..=barriers {
        rig.device.0.shared.planted.omit_barrier(nth);
        match unordered(&rig.recorded(&steps), conflict) {
            Some(_) => found += 1,
            None => quiet.push(nth),
        }
    }
    // The first barrier has nothing before it.
    assert_eq!((found, quiet), (barriers - 1, vec![1]));
    assert!(rig.messages.all().is_empty(), "{:?}", rig.messages.all());
}

/// Recordings of graphs have a barrier wherever an edge leads; the planted loss of one is found.
#[test]
fn planted_loss_of_a_barrier_of_a_recording_of_vulkan_is_found() {
    let Some(mut rig) = Rig::new() else { return };
    // A fork, a chain beside it, and where they meet, which uses all.
    let nodes: [(What, [usize; 2], &[usize]); 5] = [
        (What::Launch, [0, 1], &[]),
        (What::Copy, [1, 2], &[0]),
        (What::Odd, [3, 3], &[]),
        (What::Launch, [3, 0], &[0, 2]),
        (What::Copy, [2, 0], &[1, 3]),
    ];
    let depends = |one: &Operation, other: &Operation| match (&one.uses, &other.uses) {
        (Uses::Node(one), Uses::Node(other)) => nodes[*other].2.contains(one),
        _ => false,
    };
    let mut replay = |omitted: u64| {
        let mut graph = None;
        within(&rig, &nodes, &[], &mut |nodes| graph = Some(rig.device.graph(nodes).unwrap()));
        let graph = graph.unwrap();
        rig.device.0.shared.planted.omit_barrier(omitted);
        rig.enqueue(Op::Replay(&graph));
        rig.device.0.shared.planted.omit_barrier(0);
        let events = rig.recorded(&[]);
        assert_eq!(unordered(&events, conflict), None, "{events:#?}");
        let graph: &VulkanGraph = graph.downcast_ref().unwrap();
        let recording = graph.turn(&rig.lane).unwrap().recording;
        let barriers =
            recording.trail.iter().filter(|event| matches!(event, Event::Barrier(_))).count();
        (unordered(&recording.trail, depends).is_some(), barriers)
    };
    assert_eq!(replay(0), (false, 2));
    assert_eq!(replay(1), (true, 1));
    assert_eq!(replay(2), (true, 1));
    assert!(rig.messages.all().is_empty(), "{:?}", rig.messages.all());
}

/// Calls back with all nodes.
fn within(
    rig: &Rig,
    left: &[(What, [usize; 2], &[usize])],
    made: &[Node<'_>],
    each: &mut dyn FnMut(&[Node<'_>]),
) {
    let Some(((what, places, after), left)) = left.split_first() else { return each(made) };
    rig.with(*what, *places, &mut |op| {
        let mut all = made.to_vec();
        all.push(Node { op, after });
        within(rig, left, &all, each);
    });
}
