//! Recordings of graphs, and what an update changes in them.

use super::{alloc, found, open, param};
use crate::graph::VulkanGraph;
use folio_core::hal::{
    AllocKind, Allocation, Args, Argument, Device, Geometry, Graph, Head, KernelHandle, KernelRef,
    KernelSource, LaneKind, Node, Op, Order, Param,
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

/// What `grows` is asked to do with numbers, as a graph's node.
struct Step {
    handle: KernelHandle,
    params: [Param; 1],
    scalar: [u8; 8],
    geometry: Geometry,
}

impl Step {
    fn new(handle: KernelHandle, y: &Allocation, n: u32) -> Step {
        let mut scalar = [0; 8];
        scalar[..4].copy_from_slice(&n.to_le_bytes());
        let params = [param(y, COUNT, 4, true)];
        Step { handle, params, scalar, geometry: Geometry::new(1, [1, 1, COUNT]) }
    }

    fn with(&self, each: &mut dyn FnMut(Op<'_>)) {
        let arguments = [Argument::Value(8)];
        let plain = Args::new(&self.params);
        let args = Args { blob: &self.scalar, arguments: &arguments, ..plain };
        each(Op::Launch(KernelRef::Loaded(self.handle), &self.geometry, &args));
    }
}

/// GRAPH-03: exchanged scalars are written over the recorded ones in the order of the lane, also
/// while earlier replays are under way; nothing is recorded again. Another range is.
#[test]
fn exchanged_scalars_of_vulkan_are_patched() {
    let Some((found, messages)) = found() else { return };
    let device = open(&found);
    let y = alloc(&device, AllocKind::Host, 4 * COUNT as u64);
    let handle = device.load(&KernelSource::Ir(&grows())).unwrap();
    let (mut own, second) = (Step::new(handle, &y, 1), Step::new(handle, &y, 2));
    let mut made = None;
    own.with(&mut |first| {
        second.with(&mut |op| {
            let nodes = [Node { op: first, after: &[] }, Node { op, after: &[0] }];
            made = Some(device.graph(&nodes).unwrap());
        });
    });
    let graph: Arc<dyn Graph> = made.unwrap();
    let lane = device.lane(LaneKind::Compute, 0).unwrap();
    let recording = || {
        let graph: &VulkanGraph = graph.downcast_ref().unwrap();
        graph.recorded().unwrap()
    };
    let (mut tick, mut expected) = (0, 0u32);
    let mut replay = |scalars: [u32; 2]| {
        tick += 1;
        let head = Head { tick, order: Order::AfterPrevious, waits: &[], label: "", timed: false };
        lane.enqueue(&head, Op::Replay(&graph)).unwrap();
        for scalar in scalars {
            expected = expected.wrapping_mul(3).wrapping_add(scalar);
        }
        (tick, expected)
    };
    replay([1, 2]);
    let first = recording();
    for n in 10..20 {
        own = Step::new(handle, &y, n);
        own.with(&mut |op| graph.update(0, op).unwrap());
        replay([n, 2]);
        // Once more with the same.
        replay([n, 2]);
    }
    assert!(Arc::ptr_eq(&recording(), &first), "recorded once");
    let (last, wanted) = replay([19, 2]);
    assert!(lane.wait(last, None).unwrap());
    let number = |at: usize| {
        // SAFETY: the allocation has so many numbers, and the lane has ended.
        unsafe { y.host.unwrap().0.cast::<u32>().add(at).read() }
    };
    assert!((0..COUNT).all(|at| number(at) == wanted));
    own.geometry = Geometry::new(1, [1, 1, COUNT / 2]);
    own.with(&mut |op| graph.update(0, op).unwrap());
    let (last, half) = replay([19, 2]);
    assert!(lane.wait(last, None).unwrap());
    assert!(!Arc::ptr_eq(&recording(), &first), "another range is recorded");
    assert_eq!([number(0), number(COUNT - 1)], [half, wanted.wrapping_mul(3).wrapping_add(2)]);
    lane.failures(&mut |tick, error| panic!("{tick}: {error}"));
    assert!(messages.all().is_empty(), "{:?}", messages.all());
}
