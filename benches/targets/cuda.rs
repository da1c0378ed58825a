//! The CUDA backend's lanes and memory against the driver's own calls, in turns, on the first
//! device (and the second, if there is one): `cargo bench -p folio-benches --bench cuda`.

use cudarc::driver::sys;
use folio::prelude::*;
use folio::{Event, Shared};
use folio_benches::driver::{self, Code, ok};
use folio_benches::table::{compare, heading, is_wanted, line};
use folio_core::hal::{
    AllocKind, AllocReq, Args, Argument, Backend, CopyRect, Device, Geometry, Head, HostPtr,
    KernelRef, KernelSource, Lane, LaneKind, MemBase, MemRef, Notify, Op, Order, Param, Source,
    Tick,
};
use folio_cuda::CudaBackend;
use std::cell::Cell;
use std::ffi::{CStr, c_void};
use std::sync::Arc;
use std::time::{Duration, Instant};

const LAUNCHES: usize = 2_000;
const BYTES: u64 = 256 << 20;
/// Of each piece of memory of a program by hand that streams.
const STREAM: u64 = 4 << 28;

const EMPTY: &CStr = c"
.version 7.0
.target sm_50
.address_size 64
.visible .entry nothing(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {
    ret;
}
";

/// A lane that counts its ticks.
struct Line {
    lane: Arc<dyn Lane>,
    last: Cell<Tick>,
}

impl Line {
    fn new(device: &Arc<dyn Device>, kind: LaneKind) -> Line {
        Line { lane: device.lane(kind, 0).expect("a lane"), last: Cell::new(0) }
    }

    fn head(&self) -> Head<'static> {
        self.last.set(self.last.get() + 1);
        let tick = self.last.get();
        Head { tick, order: Order::AfterPrevious, waits: &[], label: "", timed: false }
    }

    fn finish(&self) {
        assert_eq!(self.lane.wait(self.last.get(), None), Ok(true));
    }

    /// Copies once, and waits.
    fn copy(&self, src: MemRef, dst: MemRef) -> Duration {
        let pitch = [BYTES; 2];
        let copy = CopyRect { src, src_pitch: pitch, dst, dst_pitch: pitch, extent: [1, 1, BYTES] };
        let begun = Instant::now();
        self.lane.enqueue(&self.head(), Op::Copy(&[copy])).expect("a copy");
        self.finish();
        begun.elapsed()
    }
}

fn memory(device: &Arc<dyn Device>, index: u32, kind: AllocKind) -> (MemRef, u64) {
    memory_of(device, index, kind, BYTES)
}

fn memory_of(device: &Arc<dyn Device>, index: u32, kind: AllocKind, size: u64) -> (MemRef, u64) {
    let req = AllocReq {
        kind,
        size,
        align: 256,
        import: None,
        zeroed: false,
        linked: false,
        exported: false,
        label: "",
    };
    let made = device.usm().alloc(&req).expect("memory");
    let base = match (kind, made.host) {
        (AllocKind::Host, Some(at)) => MemBase::Host(at),
        _ => MemBase::Device { device: index, handle: made.handle },
    };
    (MemRef { base, offset: 0 }, made.address.unwrap_or(0))
}

/// Of a program by hand.
struct Stream(sys::CUstream);

impl Stream {
    fn new() -> Stream {
        Stream(driver::stream())
    }

    fn timed(&self, work: impl FnOnce()) -> Duration {
        // SAFETY: it is live: nobody destroys it.
        unsafe { driver::timed(self.0, work) }
    }
}

fn launches(device: &Arc<dyn Device>) {
    let source = Source::Ptx(EMPTY.to_str().expect("text"));
    let code = KernelSource::Opaque { name: "nothing", source, options: &[] };
    let handle = device.load(&code).expect("a kernel");
    let arguments = [0, 1, 2, 3].map(Argument::Memory);
    let (mem, address) = memory(device, 0, AllocKind::Device);
    let one = [1; 3];
    let param = Param {
        mem,
        size: 4,
        write: true,
        dims: one,
        origin: [0; 3],
        extent: one,
        index: [0; 3],
        shape: one,
    };
    let lane = Line::new(device, LaneKind::Compute);
    let ours = || {
        let geometry = Geometry { group: Some([1, 1, 32]), ..Geometry::new(1, [1, 1, 32]) };
        let params = [param; 4];
        let begun = Instant::now();
        for _ in 0..LAUNCHES {
            let args = Args { arguments: &arguments, ..Args::new(&params) };
            let launched = lane
                .lane
                .enqueue(&lane.head(), Op::Launch(KernelRef::Loaded(handle), &geometry, &args));
            launched.expect("a launch");
        }
        lane.finish();
        begun.elapsed()
    };
    let (function, stream) = (Code::loaded(EMPTY).function(c"nothing"), Stream::new());
    let theirs = || {
        stream.timed(|| {
            for _ in 0..LAUNCHES {
                let mut given = [address; 4];
                let mut args: [*mut c_void; 4] = given.each_mut().map(|a| (&raw mut *a).cast());
                // SAFETY: the arguments are what the kernel has.
                unsafe { driver::launch(function, [[1, 1], [32, 1]], stream.0, &mut args) };
            }
        })
    };
    line("a launch with four pointers", compare(101, LAUNCHES, ours, theirs), "cuLaunchKernel");
}

/// Many small copies in one operation, from one half of some memory or of another to the other half
/// of the first.
fn pieces(lane: &Line, stream: &Stream, [to, other]: [(&str, MemRef, u64); 2]) {
    const COUNT: u64 = 64;
    const LEN: u64 = 4096;
    const ROUNDS: usize = 100;
    for (what, mem, address) in [to, other] {
        let at = |mem: MemRef, from: u64, k: u64| MemRef { offset: from + 2 * k * LEN, ..mem };
        let copy = |k| CopyRect {
            src: at(mem, 0, k),
            src_pitch: [LEN; 2],
            dst: at(to.1, BYTES / 2, k),
            dst_pitch: [LEN; 2],
            extent: [1, 1, LEN],
        };
        let copies: Vec<CopyRect> = (0..COUNT).map(copy).collect();
        let ours = || {
            let begun = Instant::now();
            for _ in 0..ROUNDS {
                lane.lane.enqueue(&lane.head(), Op::Copy(&copies)).expect("copies");
            }
            lane.finish();
            begun.elapsed()
        };
        let theirs = || {
            stream.timed(|| {
                for k in (0..ROUNDS).flat_map(|_| 0..COUNT) {
                    let (src, dst) = (address + 2 * k * LEN, to.2 + BYTES / 2 + 2 * k * LEN);
                    // SAFETY: live memory of this size.
                    ok(unsafe { sys::cuMemcpyAsync(dst, src, LEN as usize, stream.0) });
                }
            })
        };
        let _ = (ours(), theirs());
        let both = compare(15, ROUNDS * COUNT as usize, ours, theirs);
        line(&format!("4 KiB of 64 {what}"), both, "cuMemcpyAsync");
    }
}

fn transfers(device: &Arc<dyn Device>) {
    let (mem, address) = memory(device, 0, AllocKind::Device);
    let (locked, locked_at) = memory(device, 0, AllocKind::Host);
    let mut plain = vec![1u8; BYTES as usize];
    let at = plain.as_mut_ptr();
    let pageable = MemRef { base: MemBase::Host(HostPtr(at)), offset: 0 };
    let (up, down) = (Line::new(device, LaneKind::Upload), Line::new(device, LaneKind::Download));
    let (stream, bytes) = (Stream::new(), BYTES as usize);
    // SAFETY: live memory of this size, in each of the closures.
    let raw = |to: u64, from: u64| {
        stream.timed(|| ok(unsafe { sys::cuMemcpyAsync(to, from, bytes, stream.0) }))
    };
    let plain_up = || {
        stream.timed(|| {
            // SAFETY: as above.
            ok(unsafe { sys::cuMemcpyHtoD_v2(address, at.cast(), bytes) })
        })
    };
    let plain_down = || {
        stream.timed(|| {
            // SAFETY: as above.
            ok(unsafe { sys::cuMemcpyDtoH_v2(at.cast(), address, bytes) })
        })
    };
    let n = 256;
    line(
        "upload of page-locked memory, per MiB",
        compare(15, n, || up.copy(locked, mem), || raw(address, locked_at)),
        "cuMemcpyAsync",
    );
    line(
        "download to page-locked memory, per MiB",
        compare(15, n, || down.copy(mem, locked), || raw(locked_at, address)),
        "cuMemcpyAsync",
    );
    line(
        "upload of pageable memory, per MiB",
        compare(15, n, || up.copy(pageable, mem), plain_up),
        "cuMemcpyHtoD",
    );
    line(
        "download to pageable memory, per MiB",
        compare(15, n, || down.copy(mem, pageable), plain_down),
        "cuMemcpyDtoH",
    );
    pieces(
        &up,
        &stream,
        [("inside the device", mem, address), ("from page-locked memory", locked, locked_at)],
    );
    line(
        "copy inside the device, per MiB",
        {
            let (other, other_at) = memory(device, 0, AllocKind::Device);
            compare(15, n, || up.copy(mem, other), || raw(other_at, address))
        },
        "cuMemcpyAsync",
    );
}

fn peers(here: &Arc<dyn Device>, there: &Arc<dyn Device>) {
    let Some(_) = here.peer(&**there) else {
        return println!("no way between the first two devices");
    };
    let (mem, address) = memory(here, 0, AllocKind::Device);
    let (other, other_at) = memory(there, 1, AllocKind::Device);
    let (lane, stream) = (Line::new(here, LaneKind::Peer), Stream::new());
    let ours = || lane.copy(other, mem);
    let theirs = || {
        stream.timed(|| {
            // SAFETY: live memory of this size.
            ok(unsafe { sys::cuMemcpyAsync(address, other_at, BYTES as usize, stream.0) })
        })
    };
    let both = compare(15, 256, ours, theirs);
    line("copy from another device, per MiB", both, "cuMemcpyAsync, peers enabled");
    println!("    {:.0} GB/s", 1.048_576e6 / both[0]);
}

fn allocations(device: &Arc<dyn Device>) {
    let n = 200;
    let ours = || {
        let begun = Instant::now();
        for _ in 0..n {
            let req = AllocReq {
                kind: AllocKind::Device,
                size: 1 << 20,
                align: 256,
                import: None,
                zeroed: false,
                linked: false,
                exported: false,
                label: "",
            };
            let made = device.usm().alloc(&req).expect("memory");
            device.usm().free(made.handle);
        }
        begun.elapsed()
    };
    let theirs = || {
        let begun = Instant::now();
        for _ in 0..n {
            let mut at = 0;
            // SAFETY: a place for the answer; freed once.
            unsafe {
                ok(sys::cuMemAlloc_v2(&raw mut at, 1 << 20));
                ok(sys::cuMemFree_v2(at));
            }
        }
        begun.elapsed()
    };
    line("allocate and free 1 MiB", compare(25, n, ours, theirs), "cuMemAlloc, cuMemFree");
    let page_locked = || {
        let begun = Instant::now();
        let (kind, size, align) = (AllocKind::Host, BYTES, 256);
        let req = AllocReq {
            kind,
            size,
            align,
            import: None,
            zeroed: false,
            linked: false,
            exported: false,
            label: "",
        };
        let made = device.usm().alloc(&req).expect("memory");
        device.usm().free(made.handle);
        begun.elapsed()
    };
    let pageable = || {
        let begun = Instant::now();
        std::hint::black_box(vec![1u8; BYTES as usize]);
        begun.elapsed()
    };
    let both = compare(9, (BYTES >> 20) as usize, page_locked, pageable);
    line("page-locked memory, 256 MiB, per MiB", both, "pageable, written");
}

#[kernel]
fn one(i: Item, a: InOut<f32>) {
    a[i] = a[i] + 1.0;
}

#[kernel]
fn four(i: Item, a: InOut<f32>, b: InOut<f32>, c: InOut<f32>, d: InOut<f32>) {
    a[i] = a[i] + 1.0;
    b[i] = b[i] + 1.0;
    c[i] = c[i] + 1.0;
    d[i] = d[i] + 1.0;
}

#[kernel]
fn sum(i: Item, a: In<f32>, b: In<f32>, c: In<f32>, d: InOut<f32>) {
    d[i] = a[i] + b[i] + c[i];
}

/// The same kernels, written by hand.
const BY_HAND: &str = "
extern \"C\" __global__ void one(float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] += 1.0f;
}
extern \"C\" __global__ void four(float *a, float *b, float *c, float *d, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { a[i] += 1.0f; b[i] += 1.0f; c[i] += 1.0f; d[i] += 1.0f; }
}
extern \"C\" __global__ void sum(const float *a, const float *b, const float *c, float *d, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) d[i] = a[i] + b[i] + c[i];
}
";

/// Launches of kernel functions over buffers with nothing to move, against the same kernels written
/// by hand and launched by the driver's own call.
fn engine(device: &Arc<dyn Device>) {
    engine_with(device, CudaBackend::new(), "");
    engine_with(device, CudaBackend::new().without_courier(), ", no courier");
}

fn engine_with(device: &Arc<dyn Device>, backend: CudaBackend, how: &str) {
    const ITEMS: usize = 256;
    let rt = Runtime::builder().backend(backend).build().expect("a runtime");
    let q = rt.queue_on("cuda:0").expect("a queue");
    let buffers: Vec<Shared<f32>> = (0..64)
        .map(|_| rt.buffer_from(&[1.0f32; ITEMS]).expect("a buffer").into_shared())
        .collect();
    let by_hand = ByHand::new(device, BY_HAND, BYTES);
    let (a, b, c, d) = (&buffers[0], &buffers[1], &buffers[2], &buffers[3]);
    type Ours<'o> = Box<dyn Fn(usize) -> folio::Result<Event> + 'o>;
    let cases: [(&str, &CStr, usize, Ours<'_>); 4] = [
        ("one buffer, dependent", c"one", 1, Box::new(|_| q.run(ITEMS, one(a)))),
        ("four buffers, dependent", c"four", 4, Box::new(|_| q.run(ITEMS, four(a, b, c, d)))),
        ("one written, three read", c"sum", 4, Box::new(|_| q.run(ITEMS, sum(a, b, c, d)))),
        (
            "independent over 64 buffers",
            c"one",
            1,
            Box::new(|k| q.run(ITEMS, one(&buffers[k % 64]))),
        ),
    ];
    for (what, name, pointers, launch) in cases {
        let function = by_hand.code.function(name);
        let ours = || {
            let begun = Instant::now();
            (0..LAUNCHES).for_each(|k| drop(launch(k).expect("a launch")));
            q.wait().expect("no failure");
            begun.elapsed()
        };
        let theirs = || by_hand.launches(function, pointers, ITEMS);
        // The first brings what is to be brought, and compiles.
        let _ = (ours(), theirs());
        line(
            &format!("{what}{how}"),
            compare(151, LAUNCHES, ours, theirs),
            "cuLaunchKernel, by hand",
        );
    }
}

#[kernel]
fn saxpy(i: Item, s: f32, x: In<f32>, y: InOut<f32>) {
    y[i] = s * x[i] + y[i];
}

#[kernel]
fn triad(i: Item, s: f32, b: In<f32>, c: In<f32>, a: Out<f32>) {
    a[i] = b[i] + s * c[i];
}

/// Each thread computes four items, a block's width apart, and loads all of them first.
const STREAMS: &str = "
#define FOUR for (int k = 0; k < 4; k++)
extern \"C\" __global__ void __launch_bounds__(256) saxpy(float s, const float *__restrict__ x, float *__restrict__ y) {
    size_t i = (size_t)blockIdx.x * 1024 + threadIdx.x;
    float a[4], b[4];
    #pragma unroll
    FOUR { a[k] = x[i + k * 256]; b[k] = y[i + k * 256]; }
    #pragma unroll
    FOUR y[i + k * 256] = s * a[k] + b[k];
}
extern \"C\" __global__ void __launch_bounds__(256) triad(float s, const float *__restrict__ b, const float *__restrict__ c, float *__restrict__ a) {
    size_t i = (size_t)blockIdx.x * 1024 + threadIdx.x;
    float p[4], q[4];
    #pragma unroll
    FOUR { p[k] = b[i + k * 256]; q[k] = c[i + k * 256]; }
    #pragma unroll
    FOUR a[i + k * 256] = p[k] + s * q[k];
}
";

/// Kernels that only move data, ten launches at a time, against the same by hand; and what a copy
/// inside the device reaches.
fn streams(device: &Arc<dyn Device>) {
    const TURNS: usize = 10;
    let rt = Runtime::builder().backend(CudaBackend::new()).build().expect("a runtime");
    let q = rt.queue_on("cuda:0").expect("a queue");
    let by_hand = ByHand::new(device, STREAMS, STREAM);
    for power in [20, 22, 24, 28] {
        let n = 1usize << power;
        let (x, z) = (rt.buffer::<f32, 1>(n).expect("x"), rt.buffer::<f32, 1>(n).expect("z"));
        let mut y = rt.buffer::<f32, 1>(n).expect("y");
        let rate = |what: String, words: usize, both: [f64; 3], against: &str| {
            line(&what, both, against);
            println!("    {:.2} TB/s", (4 * words * n) as f64 / both[0] / 1e3);
        };
        let mut ours = |saxpy_or_triad: bool| {
            let begun = Instant::now();
            for _ in 0..TURNS {
                let event = match saxpy_or_triad {
                    true => q.run(n, saxpy(0.5, &x, &mut y)),
                    false => q.run(n, triad(0.5, &x, &z, &mut y)),
                };
                drop(event.expect("a launch"));
            }
            q.wait().expect("no failure");
            begun.elapsed()
        };
        for first in [true, false] {
            let name = if first { c"saxpy" } else { c"triad" };
            let function = by_hand.code.function(name);
            let theirs = || by_hand.streams(function, n, TURNS, !first);
            let _ = (ours(first), theirs());
            let both = compare(15, TURNS, || ours(first), theirs);
            let what = format!("{} of 2^{power} f32", name.to_string_lossy());
            rate(what, 3, both, "by hand, four items a thread");
        }
        let copies = || {
            by_hand.stream.timed(|| {
                for _ in 0..TURNS {
                    let [to, from, ..] = by_hand.memory;
                    // SAFETY: live memory of this size.
                    ok(unsafe { sys::cuMemcpyAsync(to, from, 4 * n, by_hand.stream.0) });
                }
            })
        };
        let both = compare(15, TURNS, copies, copies);
        rate(format!("copy of 2^{power} f32, the driver's"), 2, both, "itself");
    }
}

/// What a program by hand has.
struct ByHand {
    code: Code,
    stream: Stream,
    memory: [u64; 4],
}

impl ByHand {
    fn new(device: &Arc<dyn Device>, text: &str, bytes: u64) -> ByHand {
        let memory = std::array::from_fn(|_| memory_of(device, 0, AllocKind::Device, bytes).1);
        ByHand { code: Code::compiled(text), stream: Stream::new(), memory }
    }

    fn launches(&self, function: sys::CUfunction, pointers: usize, items: usize) -> Duration {
        self.stream.timed(|| {
            for _ in 0..LAUNCHES {
                let (mut given, mut n) = (self.memory, items as i32);
                let mut args = [(&raw mut n).cast::<c_void>(); 5];
                let pairs = args.iter_mut().zip(&mut given[..pointers]);
                pairs.for_each(|(arg, at)| *arg = (&raw mut *at).cast());
                // SAFETY: the arguments are what the kernel has, and further ones, at which nobody
                // looks.
                unsafe { driver::launch(function, [[1, 1], [256, 1]], self.stream.0, &mut args) };
            }
        })
    }

    /// Launches that pass over `n` elements of two arrays, or of three.
    fn streams(&self, function: sys::CUfunction, n: usize, turns: usize, three: bool) -> Duration {
        let shape = [[(n / 1024) as u32, 1], [256, 1]];
        self.stream.timed(|| {
            for _ in 0..turns {
                let (mut scalar, mut memory) = (0.5f32, self.memory);
                let mut args = [(&raw mut scalar).cast::<c_void>(); 4];
                let used = if three { 3 } else { 2 };
                let pairs = args[1..].iter_mut().zip(&mut memory[..used]);
                pairs.for_each(|(arg, at)| *arg = (&raw mut *at).cast());
                // SAFETY: the arguments are what the kernel has, over memory of this size, and
                // further ones, at which nobody looks.
                unsafe { driver::launch(function, shape, self.stream.0, &mut args) };
            }
        })
    }
}

fn main() {
    let backend = CudaBackend::new();
    let devices = match backend.devices() {
        Ok(devices) => devices,
        Err(why) => return println!("skipped: cuda: {}", why.reason),
    };
    println!("{} ({})", devices[0].name, devices[0].driver);
    // SAFETY: this program keeps the contract.
    let open = |index| unsafe { backend.open(index, Notify::none()) }.expect("a device");
    let first = open(0);
    heading();
    type Part = (&'static str, fn(&Arc<dyn Device>));
    let parts: [Part; 5] = [
        ("bare launches", launches),
        ("launches", engine),
        ("streams", streams),
        ("allocations", allocations),
        ("transfers", transfers),
    ];
    parts.into_iter().filter(|(name, _)| is_wanted(name)).for_each(|(_, run)| run(&first));
    if devices.len() > 1 && is_wanted("peers") {
        peers(&first, &open(1));
    }
}
