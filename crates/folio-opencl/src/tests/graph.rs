//! Graphs: what a replay asks of the driver, and what becomes of what a graph has.

use super::faults::TOTAL;
use super::*;
use folio_core::hal::{Graph, Hint, Node};

/// Adds a number to each item.
const ADD: &str = "kernel \"add\" items 1 tile 1
param p0 = \"k\" scalar f32
param p1 = \"x\" view f32 1 inout item
body {
    %0 f32 = arg p0
    %1 u64 = query position 0 0
    %2 f32 = load p1[%1]
    %3 f32 = add %2, %0
    store p1[%1] = %3
}";

const LEN: usize = 256;

/// A launch as a node.
#[derive(Clone)]
struct Step {
    kernel: KernelHandle,
    params: Vec<Param>,
    blob: [u8; 8],
    proved: bool,
    geometry: Geometry,
}

impl Step {
    fn args(&self) -> Args<'_> {
        Args { blob: &self.blob, proved: self.proved, ..Args::new(&self.params) }
    }
}

/// A lane, and kernels that nodes launch.
struct Rig {
    bench: Bench,
    add: KernelHandle,
}

impl Rig {
    /// With words by value, and as the device is: on one that is a CPU they are in shared memory.
    fn all() -> impl Iterator<Item = Rig> {
        let open: [fn() -> Option<Bench>; 2] =
            [|| Bench::open(LEN), || Bench::with(OpenClBackend::new(), LEN)];
        open.into_iter().filter_map(|open| {
            let bench = open()?;
            let add = bench.device.load(&KernelSource::Ir(&parse(ADD).unwrap())).unwrap();
            bench.copy(&mut [0.0; LEN], true);
            Some(Rig { bench, add })
        })
    }

    fn add(&self, number: f32, items: usize) -> Step {
        let mut blob = [0; 8];
        blob[..4].copy_from_slice(&number.to_ne_bytes());
        let (params, geometry) = (vec![self.bench.param(LEN)], Geometry::new(1, [1, 1, items]));
        Step { kernel: self.add, params, blob, proved: true, geometry }
    }

    /// A test of each index is left.
    fn twice(&self, elements: usize) -> Step {
        let (params, geometry) = (vec![self.bench.param(elements)], Geometry::new(1, [1, 1, LEN]));
        Step { kernel: self.bench.twice, params, blob: [0; 8], proved: false, geometry }
    }

    fn graph(&self, steps: &[Step]) -> Arc<dyn Graph> {
        let args: Vec<Args<'_>> = steps.iter().map(Step::args).collect();
        let ops = steps
            .iter()
            .zip(&args)
            .map(|(step, args)| Op::Launch(KernelRef::Loaded(step.kernel), &step.geometry, *args));
        let nodes: Vec<Node<'_>> = ops.map(|op| Node { op, after: &[] }).collect();
        self.bench.device.graph(&nodes).unwrap()
    }

    fn replay(&self, graph: &Arc<dyn Graph>) {
        self.bench.lane.enqueue(&self.bench.head(&[]), Op::Replay(graph)).unwrap();
    }

    fn values(&self) -> Vec<f32> {
        let mut values = vec![0.0; LEN];
        self.bench.copy(&mut values, false);
        values
    }

    /// The failures of the last operation, by their nodes.
    #[track_caller]
    fn failed(&self) -> Vec<Option<u32>> {
        self.bench.finish();
        let failures = self.bench.failures();
        let ticks: Vec<Tick> = failures.iter().map(|(tick, _)| *tick).collect();
        assert!(ticks.iter().all(|tick| *tick == self.bench.last.get()), "{failures:?}");
        failures.into_iter().map(|(_, error)| error.node).collect()
    }
}

fn update(graph: &Arc<dyn Graph>, node: usize, step: &Step) {
    let kernel = KernelRef::Loaded(step.kernel);
    graph.update(node, Op::Launch(kernel, &step.geometry, step.args())).unwrap();
}

fn of(calls: &BTreeMap<&'static str, usize>, function: &str) -> usize {
    calls.get(function).copied().unwrap_or(0)
}

/// GRAPH-03: the plan is made once. A replay is one call for each launch, and sets no argument.
#[test]
fn replays_of_opencl_set_no_arguments() {
    for rig in Rig::all() {
        let graph = rig.graph(&(1..=10).map(|k| rig.add(k as f32, LEN)).collect::<Vec<_>>());
        for _ in 0..3 {
            let calls = calls_of(|| rig.replay(&graph));
            assert_eq!(calls, BTreeMap::from([("clEnqueueNDRangeKernel", 10)]));
        }
        assert_eq!(rig.values(), [165.0; LEN]);
        assert_eq!(rig.failed(), []);
    }
}

/// GRAPH-03: what is exchanged holds for later replays, and not for one that is under way.
#[test]
fn updates_of_opencl_do_not_reach_replays_under_way() {
    for rig in Rig::all() {
        let graph = rig.graph(&[rig.add(1.0, LEN), rig.add(2.0, LEN)]);
        let gate = rig.bench.gate();
        let mut numbers = [1.0, 2.0];
        let mut expected = 0.0;
        for turn in 0..100 {
            rig.replay(&graph);
            expected += numbers[0] + numbers[1];
            let node = turn % 2;
            numbers[node] = turn as f32;
            update(&graph, node, &rig.add(numbers[node], LEN));
        }
        // Another kernel, over other elements.
        update(&graph, 0, &rig.twice(LEN));
        update(&graph, 1, &rig.add(0.5, LEN / 2));
        rig.replay(&graph);
        rig.bench.lane.flush();
        gate.open();
        let mut all = vec![2.0 * expected; LEN];
        all[..LEN / 2].fill(2.0 * expected + 0.5);
        assert_eq!(rig.values(), all);
        assert_eq!(rig.failed(), []);
    }
}

/// The objects of nodes that were exchanged are given back meanwhile, and all others with their
/// graph, though a replay of it is under way.
#[test]
fn graphs_give_back_what_they_have() {
    let _one = ONE_COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    for rig in Rig::all() {
        let graph = rig.graph(&[rig.add(1.0, LEN), rig.add(0.0, LEN), rig.twice(LEN)]);
        let updates = calls_of(|| {
            for turn in 0..2000 {
                update(&graph, 1, &rig.add(turn as f32, LEN));
                rig.replay(&graph);
                if turn % 100 == 0 {
                    rig.bench.finish();
                }
            }
            rig.bench.finish();
        });
        let counts = ["clCreateKernel", "clReleaseKernel"].map(|function| of(&updates, function));
        assert_eq!(counts, [2000; 2], "{updates:?}");
        // 512 launches share an allocation for their words.
        let words = ["clSVMAlloc", "clSVMFree"].map(|function| of(&updates, function));
        assert!(words[0] <= 4 && words[0] - words[1] <= 1, "{updates:?}");
        let gate = rig.bench.gate();
        rig.replay(&graph);
        drop(graph);
        rig.bench.lane.flush();
        gate.open();
        let ended = calls_of(|| rig.bench.finish());
        assert_eq!(of(&ended, "clReleaseKernel"), 3, "{ended:?}");
    }
}

/// A replay says which of its nodes has done wrong: the first, if several have. The replay may have
/// more launches than a lane has records.
#[test]
fn replays_of_opencl_name_the_first_node_that_fails() {
    for rig in Rig::all() {
        let mut steps = vec![rig.twice(LEN); 200];
        for wrong in [150, 70, 90] {
            steps[wrong] = rig.twice(LEN - 1);
        }
        let graph = rig.graph(&steps);
        let calls = calls_of(|| rig.replay(&graph));
        // Of each launch, only the place of its record is set; and full records are read.
        let counts = ["clEnqueueNDRangeKernel", "clSetKernelArg", "clEnqueueReadBuffer"];
        assert_eq!(counts.map(|function| of(&calls, function)), [200, 200, 3], "{calls:?}");
        assert_eq!(rig.failed(), [Some(70)]);
        update(&graph, 70, &rig.twice(LEN));
        rig.replay(&graph);
        assert_eq!(rig.failed(), [Some(90)]);
        // A launch that the driver refuses comes after it.
        refuse("clEnqueueNDRangeKernel", 95);
        rig.replay(&graph);
        was_refused();
        assert_eq!(rig.failed(), [Some(90)]);
        refuse("clEnqueueNDRangeKernel", 80);
        rig.replay(&graph);
        was_refused();
        assert_eq!(rig.failed(), [Some(80)]);
        for wrong in [90, 150] {
            update(&graph, wrong, &rig.twice(LEN));
        }
        rig.replay(&graph);
        assert_eq!(rig.failed(), []);
    }
}

/// Replays of launches are held as launches are: the first goes at once, and the next together.
#[test]
fn replays_of_few_launches_are_held() {
    for rig in Rig::all() {
        let steps = [rig.add(1.0, LEN), rig.add(2.0, LEN), rig.add(4.0, LEN)];
        let graph = rig.graph(&steps);
        let launched = |run: &dyn Fn()| of(&calls_of(run), "clEnqueueNDRangeKernel");
        // The next replays do not end before the gate is open.
        let gate = rig.bench.gate();
        let counts: Vec<usize> = (0..8).map(|_| launched(&|| rig.replay(&graph))).collect();
        assert_eq!(counts, [3, 3, 0, 6, 0, 0, 9, 0]);
        // The replays are of the graph as it was then.
        update(&graph, 1, &rig.add(0.0, LEN));
        rig.replay(&graph);
        // A replay fails if one of its launches is refused.
        refuse("clEnqueueNDRangeKernel", 4);
        assert_eq!(launched(&|| rig.bench.enqueue()), 4);
        was_refused();
        rig.bench.lane.flush();
        gate.open();
        assert_eq!(rig.failed(), [Some(1)]);
        assert_eq!(rig.values(), [8.0 * 7.0 + 1.0; LEN]);
    }
}

/// Launches of two lanes that wait for each other have the records of their own lane.
#[test]
fn lanes_take_turns_with_a_graph_of_opencl() {
    for rig in Rig::all() {
        let graph = rig.graph(&[rig.add(1.0, LEN), rig.twice(LEN)]);
        let wrong = rig.graph(&[rig.twice(LEN), rig.twice(LEN - 1)]);
        let other = rig.bench.beside();
        let mut lanes = [&rig.bench, &other];
        for turn in 0..20 {
            let waits = [Wait { lane: &lanes[1].lane, tick: lanes[1].last.get() }];
            let graph = if turn % 5 == 4 { &wrong } else { &graph };
            lanes[0].lane.enqueue(&lanes[0].head(&waits), Op::Replay(graph)).unwrap();
            lanes.swap(0, 1);
        }
        for (lane, turns) in [(&rig.bench, [4, 14]), (&other, [9, 19])] {
            lane.finish();
            let told = lane.failures();
            let told: Vec<_> = told.iter().map(|(tick, error)| (*tick, error.node)).collect();
            let last = lane.last.get() - 10;
            assert_eq!(told, turns.map(|turn| (last + turn / 2 + 1, Some(1))));
        }
    }
}

/// The memory of a sum belongs to its node: nothing is set or made at a replay.
#[test]
fn sums_of_opencl_are_prepared() {
    const MANY: usize = 65536;
    for open in [|| Bench::open(MANY), || Bench::with(OpenClBackend::new(), MANY)] {
        let Some(bench) = open() else { return };
        let kernel = bench.device.load(&KernelSource::Ir(&parse(TOTAL).unwrap())).unwrap();
        let made = bench.device.usm().alloc(&request(64)).unwrap();
        let mem = MemRef { base: MemBase::Device { device: 0, handle: made.handle }, offset: 0 };
        let one = Param { mem, dims: [1; 3], extent: [1; 3], shape: [1; 3], ..bench.param(1) };
        let params = [Param { write: false, ..bench.param(MANY) }, one];
        let (geometry, args) = (Geometry::new(1, [1, 1, MANY]), Args::new(&params));
        let args = Args { proved: true, ..args };
        let rect = |src, dst| CopyRect {
            src,
            src_pitch: [4; 2],
            dst,
            dst_pitch: [4; 2],
            extent: [1, 1, 4],
        };
        let back = [rect(mem, bench.memory)];
        let kernel = KernelRef::Loaded(kernel);
        let nodes = [
            Node { op: Op::Launch(kernel, &geometry, args), after: &[] },
            Node { op: Op::Copy(&back), after: &[0] },
        ];
        let graph = bench.device.graph(&nodes).unwrap();
        bench.copy(&mut vec![1.0; MANY], true);
        // The first element becomes the sum.
        let mut expected = 1.0;
        for _ in 0..3 {
            let replay = || {
                bench.lane.enqueue(&bench.head(&[]), Op::Replay(&graph)).unwrap();
            };
            let calls = calls_of(replay);
            expected += (MANY - 1) as f32;
            assert!(of(&calls, "clEnqueueNDRangeKernel") >= 2, "{calls:?}");
            assert_eq!(of(&calls, "clEnqueueCopyBuffer"), 1);
            assert_eq!(calls.len(), 2, "{calls:?}");
        }
        let mut values = [0.0; 2];
        bench.copy(&mut values, false);
        assert_eq!(values, [expected, 1.0]);
        assert!(bench.failures().is_empty());
    }
}

/// A replay that is timed has the times of its first and last command. A pattern that OpenCL does
/// not have is sent at each replay, and goes when that has ended.
#[test]
fn replays_of_opencl_are_timed_and_marked() {
    for rig in Rig::all() {
        let bench = &rig.bench;
        let fill = [FillRect { dst: bench.memory, pitch: [768; 2], extent: [1, 1, 768] }];
        let copy = CopyRect {
            src: bench.memory,
            src_pitch: [3; 2],
            dst: MemRef { offset: 1021, ..bench.memory },
            dst_pitch: [3; 2],
            extent: [1, 1, 3],
        };
        let nodes = [
            Node { op: Op::Fill(&fill, &[7, 8, 9]), after: &[] },
            Node { op: Op::Join, after: &[0] },
            Node { op: Op::Copy(&[copy]), after: &[1] },
        ];
        let graph = bench.device.graph(&nodes).unwrap();
        for timed in [false, true] {
            let calls = calls_of(|| {
                let head = Head { timed, ..bench.head(&[]) };
                bench.lane.enqueue(&head, Op::Replay(&graph)).unwrap();
            });
            let counts = ["clEnqueueWriteBufferRect", "clEnqueueCopyBuffer"];
            assert_eq!(counts.map(|function| of(&calls, function)), [1, 1], "{calls:?}");
            let markers = of(&calls, "clEnqueueMarkerWithWaitList");
            // The marker is for sent data, or for the change to a queue that has times.
            assert_eq!(markers, 1, "{calls:?}");
            let tick = bench.last.get();
            assert_eq!(bench.lane.wait(tick, None), Ok(true));
            let timing = bench.lane.timing(tick);
            assert_eq!(timing.is_some(), timed);
            assert!(timing.is_none_or(|t| t.queued <= t.started && t.started <= t.ended));
        }
        let bytes: Vec<u8> = rig.values().iter().flat_map(|value| value.to_ne_bytes()).collect();
        let filled = bytes[..768].chunks(3).all(|three| three == [7, 8, 9]);
        assert!(filled && bytes[1021..] == [7, 8, 9], "{bytes:?}");
    }
}

/// A graph has no more than the device does by itself; and it is one device's.
#[test]
fn what_opencl_has_in_no_graph() {
    let Some(rig) = Rig::all().next() else { return };
    let bench = &rig.bench;
    let mut values = [0.0f32; LEN];
    let base = MemBase::Host(HostPtr(values.as_mut_ptr().cast()));
    let host = MemRef { base, offset: 0 };
    let rect =
        |src, dst| CopyRect { src, src_pitch: [8; 2], dst, dst_pitch: [8; 2], extent: [1, 1, 8] };
    let (up, down) = ([rect(host, bench.memory)], [rect(bench.memory, host)]);
    let fill = [FillRect { dst: host, pitch: [8; 2], extent: [1, 1, 8] }];
    let task = |_: &dyn std::any::Any| Ok(());
    let (none, one, args) = (Cell::new(None), Geometry::new(1, [1; 3]), Args::new(&[]));
    let graph = rig.graph(&[rig.add(1.0, LEN)]);
    let refused = [
        Op::Copy(&up),
        Op::Copy(&down),
        Op::Fill(&fill, &[0]),
        Op::Launch(KernelRef::Foreign(&task), &one, args),
        Op::Launch(KernelRef::Native(&none), &one, args),
        Op::Hint(bench.memory, 8, Hint::Prefetch),
        Op::Switch(bench.memory, 8, Side::HostReads),
        Op::Replay(&graph),
    ];
    for op in refused {
        let made = bench.device.graph(&[Node { op, after: &[] }]);
        let is_unsupported = |error: &HalError| matches!(error.kind, HalErrorKind::Unsupported);
        assert!(made.is_err_and(|error| is_unsupported(&error)), "{}", op.name());
        assert!(graph.update(0, op).is_err_and(|error| is_unsupported(&error)));
    }
    assert!(graph.update(1, Op::Join).is_err());
    let other = Bench::open(LEN).unwrap();
    let told = other.lane.enqueue(&other.head(&[]), Op::Replay(&graph));
    assert!(told.is_err_and(|error| matches!(error.kind, HalErrorKind::Unsupported)));
    other.finish();
    rig.replay(&graph);
    assert_eq!(rig.values(), [1.0; LEN]);
}

/// A device that is lost makes no graphs, exchanges nothing, and takes no replays; what was
/// enqueued before ends.
#[test]
fn graphs_of_a_lost_device_are_refused() {
    for rig in Rig::all() {
        let graph = rig.graph(&[rig.add(1.0, LEN)]);
        rig.replay(&graph);
        refuse_for("clEnqueueMarkerWithWaitList", 0..1, CL_DEVICE_NOT_AVAILABLE);
        rig.bench.lane.flush();
        was_refused();
        let head = rig.bench.head(&[]);
        let lost = |error: &HalError| matches!(error.kind, HalErrorKind::Lost);
        assert!(rig.bench.lane.enqueue(&head, Op::Replay(&graph)).is_err_and(|e| lost(&e)));
        assert!(graph.update(0, Op::Join).is_err_and(|error| lost(&error)));
        let made = rig.bench.device.graph(&[Node { op: Op::Join, after: &[] }]);
        assert!(made.is_err_and(|error| lost(&error)));
        assert!(rig.bench.lane.wait(rig.bench.last.get(), None).is_err());
    }
}
