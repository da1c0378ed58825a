//! Launches that wait for other lanes, and graphs, against streams, events and graphs by hand, in
//! turns, on the first device: `cargo bench -p folio-benches --bench graphs`.

use cudarc::driver::sys;
use folio::prelude::*;
use folio_benches::driver::{self, Code, ok};
use folio_benches::table::{compare, heading, line, timed};
use folio_core::hal::{
    AllocKind, AllocReq, Args, Argument, Backend, Device, Geometry, Graph, Head, KernelRef,
    KernelSource, Lane, LaneKind, MemBase, MemRef, Node, Notify, Op, Order, Param, Source, Tick,
    Wait,
};
use folio_cuda::CudaBackend;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Arc;
use std::time::Duration;

/// Items of each launch.
const ITEMS: usize = 256;
/// Launches, updates and replays of a turn.
const TURN: usize = 2_000;

/// How that is done by hand.
const TWO: &str = "two streams and events";

const BY_HAND: &str = "
extern \"C\" __global__ void one(float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] += 1.0f;
}
extern \"C\" __global__ void meet(float *a, float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { a[i] += b[i]; b[i] = 0.5f; }
}
extern \"C\" __global__ void add(float *a, unsigned n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] += by;
}
";

#[kernel]
fn one(i: Item, a: InOut<f32>) {
    a[i] = a[i] + 1.0;
}

#[kernel]
fn meet(i: Item, a: InOut<f32>, b: InOut<f32>) {
    a[i] = a[i] + b[i];
    b[i] = 0.5;
}

/// What a program by hand has: the primary context, two streams, two pieces of memory, events.
struct ByHand {
    code: Code,
    streams: [sys::CUstream; 2],
    memory: [u64; 2],
    events: [sys::CUevent; 2],
}

impl ByHand {
    fn new() -> ByHand {
        let code = Code::compiled(BY_HAND);
        let memory = |_| {
            let mut at = 0;
            // SAFETY: a place for the answer.
            ok(unsafe { sys::cuMemAlloc_v2(&raw mut at, 4 * ITEMS) });
            at
        };
        let event = |_| {
            let mut event = null_mut();
            // SAFETY: as above. 2: without a time.
            ok(unsafe { sys::cuEventCreate(&raw mut event, 2) });
            event
        };
        let streams = [0, 1].map(|_| driver::stream());
        ByHand { code, streams, memory: [0, 1].map(memory), events: [0, 1].map(event) }
    }

    fn launch(&self, function: sys::CUfunction, stream: usize, memory: &[u64]) {
        let (mut given, mut n, stream) = (memory.to_vec(), ITEMS as i32, self.streams[stream]);
        let mut args: Vec<*mut c_void> = given.iter_mut().map(|a| (&raw mut *a).cast()).collect();
        args.push((&raw mut n).cast());
        // SAFETY: the arguments are what the kernel has.
        unsafe { driver::launch(function, [[1, 1], [256, 1]], stream, &mut args) };
    }

    /// Lets the stream `to` go on behind what the stream `from` has.
    fn behind(&self, from: usize, to: usize) {
        // SAFETY: live streams, a live event.
        unsafe {
            ok(sys::cuEventRecord(self.events[from], self.streams[from]));
            ok(sys::cuStreamWaitEvent(self.streams[to], self.events[from], 0));
        }
    }

    /// Two launches side by side, and one behind both, again and again, over two streams with an
    /// event at each end.
    fn meetings(&self) -> Duration {
        let ([single, both], [first, second]) = ([c"one", c"meet"], self.memory);
        let [single, both] = [single, both].map(|name| self.code.function(name));
        timed(|| {
            for _ in 0..TURN / 3 {
                self.launch(single, 0, &[first]);
                self.launch(single, 1, &[second]);
                self.behind(1, 0);
                self.launch(both, 0, &[first, second]);
                self.behind(0, 1);
            }
            self.finish();
        })
    }

    fn finish(&self) {
        // SAFETY: live streams.
        self.streams.iter().for_each(|stream| ok(unsafe { sys::cuStreamSynchronize(*stream) }));
    }
}

/// Two launches side by side, and one behind both, through the engine.
fn meetings(backend: CudaBackend, how: &str) {
    let rt = Runtime::builder().backend(backend).build().expect("a runtime");
    let q = rt.queue_on("cuda:0").expect("a queue");
    let buffer = || rt.buffer_from(&[0.5f32; ITEMS]).expect("a buffer").into_shared();
    let (a, b, by_hand) = (buffer(), buffer(), ByHand::new());
    let ours = || {
        timed(|| {
            for _ in 0..TURN / 3 {
                drop(q.run(ITEMS, one(&a)).expect("a launch"));
                drop(q.run(ITEMS, one(&b)).expect("a launch"));
                drop(q.run(ITEMS, meet(&a, &b)).expect("a launch"));
            }
            q.wait().expect("no failure");
        })
    };
    let theirs = || by_hand.meetings();
    // The first brings what is to be brought, and compiles.
    let _ = (ours(), theirs());
    let both = compare(101, TURN / 3 * 3, ours, theirs);
    line(&format!("two launches and one behind both{how}"), both, TWO);
}

/// The same by lanes of the HAL, told as the engine tells it: what a wait between lanes costs,
/// wherever the engine would place these launches.
fn lanes(device: &Arc<dyn Device>) {
    let (by_hand, source) = (ByHand::new(), Source::CudaC(BY_HAND));
    let load = |name| device.load(&KernelSource::Opaque { name, source, options: &[] });
    let [single, both] = ["one", "meet"].map(|name| load(name).expect("a kernel"));
    let [a, b] = [(); 2].map(|()| param(&**device));
    let lanes = [(); 2].map(|()| device.lane(LaneKind::Compute, 0).expect("a lane"));
    let mut ticks = [0; 2];
    let blob = (ITEMS as u64).to_le_bytes();
    let geometry = Geometry { group: Some([1, 1, 256]), ..Geometry::new(1, [1, 1, ITEMS]) };
    // Behind a tick of the other lane.
    let mut launch = |at: usize, kernel, params: &[Param], behind: Tick| {
        let other = [Wait { lane: &lanes[1 - at], tick: behind }];
        let waits = if behind > 0 { &other[..] } else { &[] };
        ticks[at] += 1;
        let (tick, order) = (ticks[at], Order::AfterPrevious);
        let head = Head { tick, order, waits, label: "", timed: false };
        let memory = (0..params.len()).map(|at| Argument::Memory(at as u16));
        let arguments: Vec<_> = memory.chain([Argument::Value(4)]).collect();
        let args = Args { blob: &blob, arguments: &arguments, ..Args::new(params) };
        let launched =
            lanes[at].enqueue(&head, Op::Launch(KernelRef::Loaded(kernel), &geometry, &args));
        launched.expect("a launch");
        tick
    };
    let mut last = 0;
    let ours = || {
        timed(|| {
            for _ in 0..TURN / 3 {
                launch(0, single, &[a], 0);
                let one = launch(1, single, &[b], last);
                lanes[1].awaited(one);
                last = launch(0, both, &[a, b], one);
                lanes[0].awaited(last);
            }
            assert_eq!(lanes[0].wait(last, None), Ok(true));
        })
    };
    let theirs = || by_hand.meetings();
    line("the same by two lanes of the HAL", compare(101, TURN / 3 * 3, ours, theirs), TWO);
}

/// Memory of a device, for all items.
fn param(device: &dyn Device) -> Param {
    let (size, align) = (4 * ITEMS as u64, 256);
    let (kind, import) = (AllocKind::Device, None);
    let req = AllocReq {
        kind,
        size,
        align,
        import,
        zeroed: true,
        linked: false,
        exported: false,
        label: "",
    };
    let handle = device.usm().alloc(&req).expect("memory").handle;
    let mem = MemRef { base: MemBase::Device { device: 0, handle }, offset: 0 };
    let (all, none) = ([1, 1, ITEMS], [0; 3]);
    Param {
        mem,
        size: 4,
        write: true,
        dims: all,
        origin: none,
        extent: all,
        index: none,
        shape: all,
    }
}

/// A graph of one launch: exchanging its scalar, and replaying it.
fn graphs(device: &Arc<dyn Device>) {
    let by_hand = ByHand::new();
    let source = Source::CudaC(BY_HAND);
    let kernel = device.load(&KernelSource::Opaque { name: "add", source, options: &[] });
    let kernel = kernel.expect("a kernel");
    let (params, arguments) =
        ([param(&**device)], [Argument::Memory(0), Argument::Value(4), Argument::Value(4)]);
    let geometry = Geometry { group: Some([1, 1, 256]), ..Geometry::new(1, [1, 1, ITEMS]) };
    let with = |by: f32, then: &mut dyn FnMut(Op<'_>)| {
        let blob = [ITEMS as u64, u64::from(by.to_bits())].map(u64::to_le_bytes).concat();
        let args = Args { blob: &blob, arguments: &arguments, ..Args::new(&params) };
        then(Op::Launch(KernelRef::Loaded(kernel), &geometry, &args));
    };
    let mut made = None;
    with(1.0, &mut |op| made = Some(device.graph(&[Node { op, after: &[] }]).expect("a graph")));
    let graph: Arc<dyn Graph> = made.expect("a graph");

    let (function, mut raw, mut exec, mut node) =
        (by_hand.code.function(c"add"), null_mut(), null_mut(), null_mut());
    let set = |by: f32, call: &mut dyn FnMut(*const sys::CUDA_KERNEL_NODE_PARAMS)| {
        let (mut at, mut n, mut by) = (by_hand.memory[0], ITEMS as u32, by);
        let mut args: [*mut c_void; 3] =
            [(&raw mut at).cast(), (&raw mut n).cast(), (&raw mut by).cast()];
        call(&sys::CUDA_KERNEL_NODE_PARAMS {
            func: function,
            gridDimX: 1,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: 256,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            kernelParams: args.as_mut_ptr(),
            extra: null_mut(),
            kern: null_mut(),
            ctx: by_hand.code.context,
        });
    };
    // SAFETY: places for the answers; the arguments are what the kernel has.
    unsafe {
        ok(sys::cuGraphCreate(&raw mut raw, 0));
        set(1.0, &mut |params| {
            ok(sys::cuGraphAddKernelNode_v2(&raw mut node, raw, null_mut(), 0, params));
        });
        ok(sys::cuGraphInstantiateWithFlags(&raw mut exec, raw, 0));
    }
    let ours = || {
        timed(|| {
            for k in 0..TURN {
                with(k as f32, &mut |op| graph.update(0, op).expect("an update"));
            }
        })
    };
    let theirs = || {
        timed(|| {
            for k in 0..TURN {
                // SAFETY: a live graph and its node; the arguments are what the kernel has.
                set(k as f32, &mut |params| unsafe {
                    ok(sys::cuGraphExecKernelNodeSetParams_v2(exec, node, params));
                });
            }
        })
    };
    line("exchanging a scalar of a graph", compare(51, TURN, ours, theirs), "the driver's call");

    let lane: Arc<dyn Lane> = device.lane(LaneKind::Compute, 0).expect("a lane");
    let mut tick = 0;
    let ours = || {
        timed(|| {
            for _ in 0..TURN {
                tick += 1;
                let order = Order::AfterPrevious;
                let head = Head { tick, order, waits: &[], label: "", timed: false };
                lane.enqueue(&head, Op::Replay(&graph)).expect("a replay");
            }
            assert_eq!(lane.wait(tick, None), Ok(true));
        })
    };
    let theirs = || {
        timed(|| {
            // SAFETY: a live graph, a live stream.
            (0..TURN).for_each(|_| ok(unsafe { sys::cuGraphLaunch(exec, by_hand.streams[0]) }));
            by_hand.finish();
        })
    };
    line("replaying a graph of one launch", compare(51, TURN, ours, theirs), "cuGraphLaunch");
}

fn main() {
    let backend = CudaBackend::new();
    match backend.devices() {
        Ok(devices) => println!("{} ({})", devices[0].name, devices[0].driver),
        Err(why) => return println!("skipped: cuda: {}", why.reason),
    }
    // SAFETY: this program keeps the contract.
    let device = unsafe { backend.open(0, Notify::none()) }.expect("a device");
    heading();
    meetings(CudaBackend::new(), "");
    meetings(CudaBackend::new().without_courier(), ", no courier");
    lanes(&device);
    graphs(&device);
}
