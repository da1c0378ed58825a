//! Layers see what the replays of graphs do, as it is by then. The backend below has graphs that do
//! nothing.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

mod common;

use common::*;
use folio_core::hal::*;
use folio_layers::{
    DeviceRef, Event, Fault, FaultHandle, Faults, HeadRef, Hooks, LaneRef, Layer, Noted, OpKind,
    Report, Rule, Site, Trace, TraceHandle, Validate,
};
use folio_sim::SimBackend;
use std::sync::Arc;

struct Nothing;

// SAFETY: it touches nothing.
unsafe impl Graph for Nothing {
    fn update(&self, node: usize, _: Op<'_>) -> Result<(), HalError> {
        if node < 100 { Ok(()) } else { Err(HalError::unsupported("so large a number")) }
    }
}

struct WithGraphs;

// SAFETY: passes everything on, but for replays, which touch nothing.
unsafe impl Hooks for WithGraphs {
    fn graph(&self, _: &DeviceRef, _: &[Node<'_>]) -> Result<Arc<dyn Graph>, HalError> {
        Ok(Arc::new(Nothing))
    }

    fn operation(&self, lane: &LaneRef, head: &HeadRef<'_>, op: Op<'_>) -> Result<(), HalError> {
        match op {
            Op::Replay(_) if !head.nodes.is_empty() => lane.inner.enqueue(&head.inner, Op::Join),
            _ => lane.inner.enqueue(&head.inner, op),
        }
    }
}

struct Stack {
    rig: Rig,
    report: Report,
    faults: FaultHandle,
    trace: TraceHandle,
}

fn stack(plan: &[(Site, Fault)]) -> Stack {
    let (validate, faults, trace) = (Validate::new(), Faults::new(), Trace::new().events());
    plan.iter().for_each(|(site, fault)| faults.handle().inject(*site, 1, fault.clone()));
    let (report, handle, seen) = (validate.report(), faults.handle(), trace.handle());
    let below = Layer::new(WithGraphs, Arc::new(SimBackend::builder().build()));
    let rig = rig(validate.over(faults.over(trace.over(below))));
    Stack { rig, report, faults: handle, trace: seen }
}

/// A fill of 16 bytes, then one of other memory behind it or not, and what joins them.
fn graph(rig: &Rig, first: MemRef, second: MemRef, after: &[usize]) -> Arc<dyn Graph> {
    let (first, second) = ([run(first, 16)], [run(second, 16)]);
    let nodes = [
        Node { op: Op::Fill(&first, &[1]), after: &[] },
        Node { op: Op::Fill(&second, &[2]), after },
        Node { op: Op::Join, after: &[0, 1] },
    ];
    rig.devices[0].graph(&nodes).unwrap()
}

fn rules(report: &Report) -> Vec<Rule> {
    report.violations().into_iter().map(|violation| violation.rule).collect()
}

#[test]
fn nodes_are_ordered_where_they_touch_the_same() {
    for (same, after, expected) in
        [(false, &[][..], &[][..]), (true, &[0], &[]), (true, &[], &[Rule::Race])]
    {
        let s = stack(&[]);
        let (lane, mem, other) = (s.rig.lane(0), s.rig.alloc(0, 16), s.rig.alloc(0, 16));
        let graph = graph(&s.rig, mem, if same { mem } else { other }, after);
        lane.enqueue(&head(1, &[]), Op::Replay(&graph)).unwrap();
        assert_eq!(rules(&s.report), expected, "{:?}", s.report);
    }
}

/// Order that goes by way of other nodes is order.
#[test]
fn what_comes_before_comes_before_all_that_follows() {
    let s = stack(&[]);
    let (lane, mem) = (s.rig.lane(0), s.rig.alloc(0, 16));
    let rect = [run(mem, 16)];
    let fill = |after| Node { op: Op::Fill(&rect, &[1]), after };
    let nodes = [fill(&[]), Node { op: Op::Join, after: &[0] }, fill(&[1])];
    let graph = s.rig.devices[0].graph(&nodes).unwrap();
    lane.enqueue(&head(1, &[]), Op::Replay(&graph)).unwrap();
    assert!(s.report.is_silent(), "{:?}", s.report);
}

#[test]
fn replays_are_ordered_with_other_operations() {
    let s = stack(&[]);
    let (lane, other) = (s.rig.lane(0), s.rig.lane(0));
    let (mem, more) = (s.rig.alloc(0, 16), s.rig.alloc(0, 16));
    let graph = graph(&s.rig, mem, more, &[]);
    fill(&other, 1, &[], mem).unwrap();
    let wait = [Wait { lane: &other, tick: 1 }];
    lane.enqueue(&head(1, &wait), Op::Replay(&graph)).unwrap();
    assert!(s.report.is_silent(), "{:?}", s.report);
    fill(&other, 2, &[], more).unwrap();
    assert_eq!(rules(&s.report), [Rule::Race]);
}

/// The next replay does what was exchanged; an exchange that fails changes nothing here.
#[test]
fn updates_are_seen() {
    let s = stack(&[]);
    let (lane, mem, other) = (s.rig.lane(0), s.rig.alloc(0, 16), s.rig.alloc(0, 16));
    let graph = graph(&s.rig, mem, other, &[]);
    lane.enqueue(&head(1, &[]), Op::Replay(&graph)).unwrap();
    let beyond = [run(other, 32)];
    assert!(graph.update(100, Op::Fill(&beyond, &[2])).is_err());
    lane.enqueue(&head(2, &[]), Op::Replay(&graph)).unwrap();
    assert!(s.report.is_silent(), "{:?}", s.report);
    graph.update(1, Op::Fill(&beyond, &[2])).unwrap();
    lane.enqueue(&head(3, &[]), Op::Replay(&graph)).unwrap();
    assert_eq!(rules(&s.report), [Rule::Bounds]);
    assert_eq!(s.trace.counts().replays, 3);
    let replays = s.trace.events().into_iter().filter_map(|event| match event {
        Event::Op(issued, Noted::Replay(nodes)) => Some((issued.tick, nodes[1].clone())),
        _ => None,
    });
    let second = |rect| Noted::Fill(vec![rect], vec![2]);
    let before = second(run(other, 16));
    assert_eq!(
        replays.collect::<Vec<_>>(),
        [(1, before.clone()), (2, before), (3, second(beyond[0]))]
    );
}

#[test]
fn launches_of_graphs_are_of_what_is_loaded() {
    let s = stack(&[]);
    let (lane, geometry) = (s.rig.lane(0), Geometry::new(1, [1; 3]));
    let op = Op::Launch(KernelRef::Loaded(KernelHandle(77)), &geometry, Args::new(&[]));
    let graph = s.rig.devices[0].graph(&[Node { op, after: &[] }]).unwrap();
    lane.enqueue(&head(1, &[]), Op::Replay(&graph)).unwrap();
    assert_eq!(rules(&s.report), [Rule::Caps]);
}

#[test]
fn graphs_meet_faults() {
    let driver = || HalErrorKind::Driver;
    let s = stack(&[(Site::Graph, Fault::Now(driver()))]);
    assert!(s.rig.devices[0].graph(&[]).is_err());

    let s = stack(&[
        (Site::Update, Fault::Now(driver())),
        (Site::Op(OpKind::Replay), Fault::Later(HalErrorKind::Unsupported)),
    ]);
    let (lane, mem, other) = (s.rig.lane(0), s.rig.alloc(0, 16), s.rig.alloc(0, 16));
    let graph = graph(&s.rig, mem, other, &[]);
    assert!(graph.update(0, Op::Join).is_err());
    lane.enqueue(&head(1, &[]), Op::Replay(&graph)).unwrap();
    lane.enqueue(&head(2, &[]), Op::Replay(&graph)).unwrap();
    assert_eq!(lane.wait(2, None), Ok(true));
    let mut failed = Vec::new();
    lane.failures(&mut |tick, error| failed.push((tick, error.kind)));
    assert!(matches!(failed[..], [(1, HalErrorKind::Unsupported)]), "{failed:?}");
    assert_eq!((s.faults.counts()[&Site::Op(OpKind::Replay)], s.faults.fired().len()), (2, 2));
    assert!(s.report.is_silent(), "{:?}", s.report);
}

/// A graph that is not the layer's is for the backend to refuse.
#[test]
fn graphs_of_others_are_refused() {
    let s = stack(&[]);
    let (lane, graph): (_, Arc<dyn Graph>) = (s.rig.lane(0), Arc::new(Nothing));
    let refused = lane.enqueue(&head(1, &[]), Op::Replay(&graph)).unwrap_err();
    assert!(matches!(refused.kind, HalErrorKind::Unsupported), "{refused}");
    assert!(s.report.is_silent(), "{:?}", s.report);
}
