//! Graphs by way of the HAL, where there is a GPU: they do what their operations would do one by
//! one, also when parameters have been exchanged, and each replay tells its own failures.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio_core::hal::{
    AllocKind, AllocReq, Allocation, Args, Argument, Backend, CopyRect, Device, FillRect, Geometry,
    Graph, HalError, HalErrorKind, Head, HostPtr, KernelHandle, KernelRef, KernelSource, Lane,
    LaneKind, MemBase, MemRef, Node, Notify, Op, Order, Param, Source, Tick,
};
use folio_cuda::CudaBackend;
use folio_kernel::parse::parse;
use std::cell::Cell;
use std::sync::Arc;

const ADD: &str = "
extern \"C\" __global__ void add(unsigned *at, unsigned n, unsigned by) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) at[i] += by;
}
";

/// `y[i] = x[at[i]]`
const GATHER: &str = r#"
kernel "gather" items 1 tile 1
param p0 = "at" view u64 1 in item
param p1 = "x" view u32 1 in item
param p2 = "y" view u32 1 out item
body {
  %0 u64 = query position 0 0
  %1 u64 = load p0[%0]
  %2 u32 = load p1[%1]
  store p2[%0] = %2
}"#;

const TOTAL: &str = r#"
kernel "total" items 1 tile 1
param p0 = "x" view u32 1 in item
param p1 = "all" reduce u32 add
body {
  %0 u64 = query position 0 0
  %1 u32 = load p0[%0]
  contribute p1 = %1
}"#;

/// A device, a lane of it, and how many operations that has.
struct Rig {
    device: Arc<dyn Device>,
    lane: Arc<dyn Lane>,
    tick: Cell<Tick>,
}

/// Memory of so many words: the device's, or the host's, which both reach.
#[derive(Clone, Copy)]
struct Words {
    made: Allocation,
    n: usize,
}

impl Rig {
    fn open() -> Option<Rig> {
        let backend = CudaBackend::new();
        if let Err(why) = backend.devices() {
            println!("skipped: cuda: {}", why.reason);
            return None;
        }
        // SAFETY: these tests keep the contract.
        let device = unsafe { backend.open(0, Notify::none()) }.unwrap();
        let lane = device.lane(LaneKind::Compute, 0).unwrap();
        Some(Rig { device, lane, tick: Cell::new(0) })
    }

    fn words(&self, kind: AllocKind, n: usize) -> Words {
        let (size, import, zeroed) = (4 * n as u64, None, true);
        let req = AllocReq {
            kind,
            size,
            align: 8,
            import,
            zeroed,
            linked: false,
            exported: false,
            label: "",
        };
        Words { made: self.device.usm().alloc(&req).unwrap(), n }
    }

    fn load(&self, ir: &str) -> KernelHandle {
        self.device.load(&KernelSource::Ir(&parse(ir).unwrap())).unwrap()
    }

    /// Puts a replay behind what the lane has; says its tick.
    fn replay(&self, graph: &Arc<dyn Graph>) -> Tick {
        let tick = self.tick.get() + 1;
        self.tick.set(tick);
        let order = Order::AfterPrevious;
        let head = Head { tick, order, waits: &[], label: "", timed: false };
        self.lane.enqueue(&head, Op::Replay(graph)).unwrap();
        tick
    }

    /// Waits for all, and tells which ticks have failed, and why.
    fn failed(&self) -> Vec<(Tick, HalError)> {
        assert!(self.lane.wait(self.tick.get(), None).unwrap());
        let mut failed = Vec::new();
        self.lane.failures(&mut |tick, error| failed.push((tick, error)));
        failed
    }
}

impl Words {
    fn from(&self, word: usize) -> MemRef {
        let base = match self.made.host {
            Some(at) => MemBase::Host(at),
            None => MemBase::Device { device: 0, handle: self.made.handle },
        };
        MemRef { base, offset: 4 * word as u64 }
    }

    /// The words of the host, when nothing uses them.
    fn get(&self) -> Vec<u32> {
        let at = self.made.host.unwrap().0.cast::<u32>();
        // SAFETY: so many words of memory that is zeroed, and not in use.
        (0..self.n).map(|k| unsafe { at.add(k).read() }).collect()
    }

    fn put(&self, words: impl IntoIterator<Item = u32>) {
        let at = self.made.host.unwrap().0.cast::<u32>();
        // SAFETY: as above.
        words.into_iter().take(self.n).enumerate().for_each(|(k, w)| unsafe { at.add(k).write(w) });
    }

    fn param(&self, size: u32, write: bool) -> Param {
        let dims = [1, 1, 4 * self.n / size as usize];
        let (origin, extent, index) = ([0; 3], dims, [0; 3]);
        Param { mem: self.param_at(), size, write, dims, origin, extent, index, shape: dims }
    }

    /// Kernels reach the host's by its handle.
    fn param_at(&self) -> MemRef {
        MemRef { base: MemBase::Device { device: 0, handle: self.made.handle }, offset: 0 }
    }
}

fn row(src: MemRef, dst: MemRef, words: usize) -> CopyRect {
    let bytes = 4 * words as u64;
    CopyRect { src, src_pitch: [bytes; 2], dst, dst_pitch: [bytes; 2], extent: [1, 1, bytes] }
}

fn all(dst: MemRef, words: usize) -> FillRect {
    let bytes = 4 * words as u64;
    FillRect { dst, pitch: [bytes; 2], extent: [1, 1, bytes] }
}

fn node<'a>(op: Op<'a>, after: &'a [usize]) -> Node<'a> {
    Node { op, after }
}

fn refused<T>(result: Result<T, HalError>, said: &str) {
    match result {
        Ok(_) => panic!("it is not refused, though {said}"),
        Err(error) => {
            assert!(matches!(error.kind, HalErrorKind::Unsupported), "{error}");
            assert!(error.to_string().contains(said), "{error}");
        }
    }
}

/// Two branches and what joins them: fills of two kinds, copies of rows and of rectangles, a
/// kernel; then with another scalar, in another place, over another range.
#[test]
fn cuda_replays_graphs() {
    let Some(rig) = Rig::open() else { return };
    const N: usize = 3000;
    let [x, y, z] = [(); 3].map(|()| rig.words(AllocKind::Device, N));
    let out = rig.words(AllocKind::Host, 3 * N);
    let source = Source::CudaC(ADD);
    let add = rig.device.load(&KernelSource::Opaque { name: "add", source, options: &[] }).unwrap();
    let arguments = [Argument::Memory(0), Argument::Value(4), Argument::Value(4)];
    let blob = |n: usize, by: u64| [n as u64, by].map(u64::to_le_bytes).concat();
    let (geometry, sevens) = (Geometry::new(1, [1, 1, N]), blob(N, 7));
    let params = [x.param(4, true)];
    let sevens = Args { blob: &sevens, arguments: &arguments, ..Args::new(&params) };
    let pattern = [1u32, 2, 3].map(u32::to_ne_bytes).concat();
    // Of 30 rows of 100 words, the first 10 words of each second row.
    let square = CopyRect {
        src: y.from(0),
        src_pitch: [4 * N as u64, 800],
        dst: z.from(0),
        dst_pitch: [4 * N as u64, 400],
        extent: [1, 15, 40],
    };
    let down = [x, y, z].map(|words| words.from(0));
    let down: Vec<CopyRect> = (0..3).map(|k| row(down[k], out.from(k * N), N)).collect();
    let made = rig.device.graph(&[
        node(Op::Fill(&[all(x.from(0), N)], &5u32.to_ne_bytes()), &[]),
        node(Op::Fill(&[all(y.from(0), N)], &pattern), &[]),
        node(Op::Fill(&[all(z.from(0), N)], &[9]), &[]),
        node(Op::Launch(KernelRef::Loaded(add), &geometry, sevens), &[0]),
        node(Op::Copy(&[square]), &[1, 2]),
        node(Op::Join, &[3, 4]),
        node(Op::Copy(&down), &[5]),
    ]);
    let graph = made.unwrap();
    let expect = |[five, by]: [u32; 2], added: std::ops::Range<usize>, what: &str| {
        let out = out.get();
        let word = |k: usize| (k % 3) as u32 + 1;
        for k in 0..N {
            let x = five + if added.contains(&k) { by } else { 0 };
            let (r, c) = (k / 100, k % 100);
            let z = if r < 15 && c < 10 { word(r * 200 + c) } else { 0x0909_0909 };
            assert_eq!([out[k], out[N + k], out[2 * N + k]], [x, word(k), z], "{what}: {k}");
        }
        out_clear(&out, N);
    };
    for turn in 0..3 {
        out.put(vec![0; 3 * N]);
        rig.replay(&graph);
        assert!(rig.failed().is_empty());
        expect([5, 7], 0..N, &format!("turn {turn}"));
    }
    // Other scalars; fewer items, from another place on.
    let eights = blob(N, 8);
    let eights = Args { blob: &eights, arguments: &arguments, ..Args::new(&params) };
    graph.update(3, Op::Launch(KernelRef::Loaded(add), &geometry, eights)).unwrap();
    rig.replay(&graph);
    assert!(rig.failed().is_empty());
    expect([5, 8], 0..N, "another scalar");
    let part = [Param { origin: [0, 0, 1000], extent: [1, 1, 500], ..params[0] }];
    let (range, nines) = (Geometry::new(1, [1, 1, 500]), blob(500, 9));
    let nines = Args { blob: &nines, arguments: &arguments, ..Args::new(&part) };
    graph.update(3, Op::Launch(KernelRef::Loaded(add), &range, nines)).unwrap();
    graph.update(0, Op::Fill(&[all(x.from(0), N)], &6u32.to_ne_bytes())).unwrap();
    rig.replay(&graph);
    rig.replay(&graph);
    assert!(rig.failed().is_empty());
    expect([6, 9], 1000..1500, "another range");
    // A copy goes elsewhere: where `x` was there is what `z` was.
    let mut other = down.clone();
    (other[0].src, other[2].src) = (other[2].src, other[0].src);
    graph.update(6, Op::Copy(&other)).unwrap();
    rig.replay(&graph);
    assert!(rig.failed().is_empty());
    let out = out.get();
    assert_eq!((out[0], out[2 * N], out[2 * N + 1000]), (1, 6, 15));
}

/// All of it was written.
fn out_clear(out: &[u32], n: usize) {
    assert!(out.len() == 3 * n && out.iter().all(|word| *word != 0));
}

/// Replays that are under way at a time: the one that reads out of bounds has failed, and says
/// where; the others have not.
#[test]
fn cuda_replays_tell_their_own_failures() {
    let Some(rig) = Rig::open() else { return };
    const N: usize = 1000;
    let [x, y] = [(); 2].map(|()| rig.words(AllocKind::Device, N));
    let at = rig.words(AllocKind::Device, 2 * N);
    let steps: Vec<Words> = (0..4).map(|_| rig.words(AllocKind::Host, 2 * N)).collect();
    for (k, step) in steps.iter().enumerate() {
        let index = |i: usize| if k == 2 && i == 77 { 5000 } else { (i * 7 % N) as u32 };
        step.put((0..N).flat_map(|i| [index(i), 0]));
    }
    let gather = rig.load(GATHER);
    let params = [at.param(8, false), x.param(4, false), y.param(4, true)];
    let (geometry, args) = (Geometry::new(1, [1, 1, N]), Args::new(&params));
    let made = rig.device.graph(&[
        node(Op::Fill(&[all(x.from(0), N)], &3u32.to_ne_bytes()), &[]),
        node(Op::Launch(KernelRef::Loaded(gather), &geometry, args), &[0]),
    ]);
    let graph = made.unwrap();
    let mut wrong = 0;
    for (k, step) in steps.iter().enumerate() {
        let tick = rig.tick.get() + 1;
        rig.tick.set(tick);
        let order = Order::AfterPrevious;
        let head = Head { tick, order, waits: &[], label: "", timed: false };
        rig.lane.enqueue(&head, Op::Copy(&[row(step.from(0), at.from(0), 2 * N)])).unwrap();
        let tick = rig.replay(&graph);
        if k == 2 {
            wrong = tick;
        }
    }
    // The graph's lane holds what it still needs.
    drop(graph);
    let failed = rig.failed();
    assert_eq!(failed.len(), 1, "{failed:?}");
    let (tick, error) = &failed[0];
    assert_eq!(*tick, wrong);
    assert!(error.to_string().contains("index [5000] is outside of `x`"), "{error}");
}

/// A reduction over the launch, which needs memory, and more of it when the range grows.
#[test]
fn cuda_graphs_reduce() {
    let Some(rig) = Rig::open() else { return };
    const N: usize = 400_000;
    let x = rig.words(AllocKind::Device, N);
    let sum = rig.words(AllocKind::Host, 1);
    let total = rig.load(TOTAL);
    let over = |n: usize| {
        [Param { extent: [1, 1, n], shape: [1, 1, n], ..x.param(4, false) }, sum.param(4, true)]
    };
    let range = |n: usize| Geometry::new(1, [1, 1, n]);
    let (few, many) = (over(50_000), over(N));
    let made = rig.device.graph(&[
        node(Op::Fill(&[all(x.from(0), N)], &2u32.to_ne_bytes()), &[]),
        node(Op::Launch(KernelRef::Loaded(total), &range(50_000), Args::new(&few)), &[0]),
    ]);
    let graph = made.unwrap();
    for (n, params) in [(50_000, &few), (N, &many), (50_000, &few)] {
        graph
            .update(1, Op::Launch(KernelRef::Loaded(total), &range(n), Args::new(params)))
            .unwrap();
        sum.put([7]);
        rig.replay(&graph);
        assert!(rig.failed().is_empty());
        assert_eq!(sum.get(), [2 * n as u32]);
    }
}

#[test]
fn cuda_refuses_what_graphs_cannot() {
    let Some(rig) = Rig::open() else { return };
    let x = rig.words(AllocKind::Device, 100);
    let mut pageable = [0u32; 100];
    let to = MemRef { base: MemBase::Host(HostPtr(pageable.as_mut_ptr().cast())), offset: 0 };
    let copy = [row(x.from(0), to, 100)];
    refused(rig.device.graph(&[node(Op::Copy(&copy), &[])]), "not page-locked");
    let fill = [all(x.from(0), 100)];
    let fill = Op::Fill(&fill, &[1, 2, 3, 4]);
    refused(rig.device.graph(&[node(fill, &[1]), node(fill, &[])]), "after a later one");
    let graph = rig.device.graph(&[node(fill, &[]), node(Op::Join, &[0])]).unwrap();
    refused(graph.update(2, fill), "does not have");
    refused(graph.update(1, fill), "exchange");
    let two = [row(x.from(0), x.from(50), 10), row(x.from(20), x.from(70), 10)];
    refused(graph.update(0, Op::Copy(&two)), "exchang");
    refused(graph.update(0, Op::Copy(&[])), "1 commands of the driver for 0");
    assert!(graph.update(1, Op::Join).is_ok(), "nothing for nothing");
    // An empty graph is one, and so is one whose nodes do nothing.
    for nodes in [&[][..], &[node(Op::Copy(&[]), &[]), node(Op::Join, &[0, 0])]] {
        let graph = rig.device.graph(nodes).unwrap();
        rig.replay(&graph);
        assert!(rig.failed().is_empty());
    }
}
