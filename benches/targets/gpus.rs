//! Whole jobs on GPUs: copies beside kernels, buffers against managed memory, and a stencil and
//! bodies on as many devices as there are, in turns with what bounds them:
//! `cargo bench -p folio-benches --bench gpus`.

use cudarc::driver::sys;
use folio::prelude::*;
use folio::{DeviceRef, Event, Shared, Usm, UsmKind};
use folio_benches::driver::{self, Code, ok};
use folio_benches::table::{compare, heading, is_wanted, line, timed};
use folio_core::hal::Backend;
use folio_cuda::CudaBackend;
use std::cell::Cell;
use std::ffi::c_void;
use std::time::{Duration, Instant};

/// Enough arithmetic to take about as long as bringing the element.
#[kernel]
fn refine(i: Item, x: In<f32>, y: Out<f32>) {
    let mut v = x[i];
    for _ in 0..1100 {
        v = v * 0.999 + 0.001;
    }
    y[i] = v;
}

/// The same by hand, rounded as often.
const REFINE: &str = "
extern \"C\" __global__ void __launch_bounds__(256) refine(const float *x, float *y) {
    size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
    float v = x[i];
    for (int k = 0; k < 1100; k++) v = __fadd_rn(__fmul_rn(v, 0.999f), 0.001f);
    y[i] = v;
}
";

/// The job by hand: a stream for each stage, and an event behind each chunk of the first two.
struct Streams {
    function: sys::CUfunction,
    streams: [sys::CUstream; 3],
    events: Vec<[sys::CUevent; 2]>,
    /// Page-locked, all chunks of what goes up, and of what comes down.
    host: [*mut c_void; 2],
    /// On the device, likewise.
    device: [u64; 2],
    /// Of a chunk.
    n: usize,
}

impl Streams {
    fn new(chunks: usize, n: usize) -> Streams {
        let function = Code::compiled(REFINE).function(c"refine");
        let (mut host, mut device) = ([std::ptr::null_mut(); 2], [0; 2]);
        let event = || {
            let mut event = std::ptr::null_mut();
            // SAFETY: a place for the answer. 2: without a time.
            ok(unsafe { sys::cuEventCreate(&raw mut event, 2) });
            event
        };
        let bytes = 4 * n * chunks;
        // SAFETY: places for the answers.
        unsafe {
            host.iter_mut().for_each(|at| ok(sys::cuMemHostAlloc(at, bytes, 0)));
            device.iter_mut().for_each(|at| ok(sys::cuMemAlloc_v2(at, bytes)));
        }
        let events = (0..chunks).map(|_| [event(), event()]).collect();
        let streams = [driver::stream(), driver::stream(), driver::stream()];
        Streams { function, streams, events, host, device, n }
    }

    fn job(&self) -> Duration {
        let [up, compute, down] = self.streams;
        timed(|| {
            for (k, [uploaded, computed]) in self.events.iter().enumerate() {
                let (bytes, at) = (4 * self.n, 4 * self.n * k);
                let [mut x, mut y] = self.device.map(|base| base + at as u64);
                let [from, to] = self.host.map(|base| base.wrapping_byte_add(at));
                let mut args = [(&raw mut x).cast::<c_void>(), (&raw mut y).cast()];
                let shape = [[(self.n / 256) as u32, 1], [256, 1]];
                // SAFETY: live streams, events and memory, of so many chunks; the kernel's
                // arguments.
                unsafe {
                    ok(sys::cuMemcpyHtoDAsync_v2(x, from, bytes, up));
                    ok(sys::cuEventRecord(*uploaded, up));
                    ok(sys::cuStreamWaitEvent(compute, *uploaded, 0));
                    driver::launch(self.function, shape, compute, &mut args);
                    ok(sys::cuEventRecord(*computed, compute));
                    ok(sys::cuStreamWaitEvent(down, *computed, 0));
                    ok(sys::cuMemcpyDtoHAsync_v2(to, y, bytes, down));
                }
            }
            // SAFETY: a live stream, which comes last.
            ok(unsafe { sys::cuStreamSynchronize(down) });
        })
    }

    /// Only what the job copies, both directions at once: nothing waits for anything.
    fn copies(&self) -> Duration {
        let [up, _, down] = self.streams;
        timed(|| {
            for k in 0..self.events.len() {
                let (bytes, at) = (4 * self.n, 4 * self.n * k);
                let [x, y] = self.device.map(|base| base + at as u64);
                let [from, to] = self.host.map(|base| base.wrapping_byte_add(at));
                // SAFETY: live streams and memory, of so many chunks.
                unsafe {
                    ok(sys::cuMemcpyHtoDAsync_v2(x, from, bytes, up));
                    ok(sys::cuMemcpyDtoHAsync_v2(to, y, bytes, down));
                }
            }
            // SAFETY: live streams.
            [up, down]
                .into_iter()
                .for_each(|stream| ok(unsafe { sys::cuStreamSynchronize(stream) }));
        })
    }
}

/// A job in chunks: each goes up, is computed with, and comes down. In the best case it takes as
/// long as the slowest of the three stages takes for all chunks, and two chunks more: those of
/// which nothing is beside the first and the last.
fn overlap(rt: &Runtime, passes: usize) {
    const CHUNKS: usize = 64;
    const N: usize = 2 << 20;
    let q = rt.queue_on("cuda:0").expect("a queue");
    let on_host = |_| rt.usm::<f32>(&q.device(), UsmKind::Host, N).expect("host memory");
    let (from, mut to): (Vec<Usm<f32>>, Vec<Usm<f32>>) =
        ((0..CHUNKS).map(on_host).collect(), (0..CHUNKS).map(on_host).collect());
    let buffers = || -> Vec<Shared<f32>> {
        (0..CHUNKS).map(|_| rt.buffer::<f32, 1>(N).expect("a buffer").into_shared()).collect()
    };
    let (x, y) = (buffers(), buffers());
    let mut stages = |which: [bool; 3]| {
        timed(|| {
            for k in 0..CHUNKS {
                if which[0] {
                    let up = q.submit(|g| {
                        g.copy(&from[k], &x[k]);
                        Ok(())
                    });
                    drop(up.expect("a copy"));
                }
                if which[1] {
                    for _ in 0..passes {
                        drop(q.run(N, refine(&x[k], &y[k])).expect("a launch"));
                    }
                }
                if which[2] {
                    let down = q.submit(|g| {
                        g.copy(&y[k], &mut to[k]);
                        Ok(())
                    });
                    drop(down.expect("a copy"));
                }
            }
            q.wait().expect("no failure");
        })
    };
    let names = ["upload", "computation", "download"];
    let alone = [[true, false, false], [false, true, false], [false, false, true]];
    // The first brings memory into being, and compiles.
    let _ = stages([true; 3]);
    let times = alone.map(|which| (0..5).map(|_| stages(which)).min().unwrap_or_default());
    let slowest = (0..3).max_by_key(|at| times[*at]).unwrap_or(0);
    for (name, time) in names.iter().zip(times) {
        println!(
            "    {name} of {CHUNKS} chunks of 8 MiB alone: {:.2} ms",
            1e3 * time.as_secs_f64()
        );
    }
    let stages = std::cell::RefCell::new(stages);
    let run = |which| (stages.borrow_mut())(which);
    let both = compare(15, CHUNKS, || run([true; 3]), || run(alone[slowest]));
    let what = format!("up, compute ({passes}) and down, per chunk");
    line(&what, both, &format!("{} alone", names[slowest]));
    if passes > 1 {
        return;
    }
    let by_hand = Streams::new(CHUNKS, N);
    let _ = by_hand.job();
    let both = compare(15, CHUNKS, || run([true; 3]), || by_hand.job());
    line(&what, both, "three streams and events");
    let both = compare(15, CHUNKS, || run([true; 3]), || by_hand.copies());
    line(&what, both, "its copies alone, both directions at once, by hand");
}

#[kernel]
fn pass(i: Item, x: InOut<f32>) {
    x[i] = x[i] * 0.5 + 1.0;
}

const PASS: &str = "
extern \"C\" __global__ void __launch_bounds__(256) pass(float *x) {
    size_t i = (size_t)blockIdx.x * 1024 + threadIdx.x;
    float a[4];
    #pragma unroll
    for (int k = 0; k < 4; k++) a[k] = x[i + k * 256];
    #pragma unroll
    for (int k = 0; k < 4; k++) x[i + k * 256] = a[k] * 0.5f + 1.0f;
}
";

/// A program by hand with managed memory.
struct Managed {
    function: sys::CUfunction,
    stream: sys::CUstream,
    at: u64,
}

impl Managed {
    /// `n` floats, on the first device.
    fn new(n: usize) -> Managed {
        let (function, mut at) = (Code::compiled(PASS).function(c"pass"), 0);
        // SAFETY: a place for the answer. 1: for every stream.
        ok(unsafe { sys::cuMemAllocManaged(&raw mut at, 4 * n, 1) });
        Managed { function, stream: driver::stream(), at }
    }

    /// Moves a part to the first device, or to the host.
    fn prefetch(&self, part: std::ops::Range<usize>, to_device: bool) {
        use sys::CUmemLocationType as Place;
        let type_ = match to_device {
            true => Place::CU_MEM_LOCATION_TYPE_DEVICE,
            false => Place::CU_MEM_LOCATION_TYPE_HOST,
        };
        let id = sys::CUmemLocation_st__bindgen_ty_1 { id: 0 };
        let location = sys::CUmemLocation { type_, __bindgen_anon_1: id };
        let (at, bytes) = (self.at + 4 * part.start as u64, 4 * part.len());
        // SAFETY: a part of the live allocation.
        ok(unsafe { sys::cuMemPrefetchAsync_v2(at, bytes, location, 0, self.stream) });
    }

    fn pass(&self, n: usize) {
        let (mut at, shape) = (self.at, [[(n / 1024) as u32, 1], [256, 1]]);
        let mut args = [(&raw mut at).cast::<c_void>()];
        // SAFETY: the kernel's argument, over memory of this size.
        unsafe { driver::launch(self.function, shape, self.stream, &mut args) };
    }

    /// The host's view of a part, when the device has ended.
    fn part(&mut self, part: std::ops::Range<usize>) -> &mut [f32] {
        // SAFETY: a live stream; afterwards no kernel uses the memory, which the host may touch,
        // and `self` is borrowed for as long as it does.
        unsafe {
            ok(sys::cuStreamSynchronize(self.stream));
            let begin = std::ptr::with_exposed_provenance_mut::<f32>(self.at as usize);
            std::slice::from_raw_parts_mut(begin.add(part.start), part.len())
        }
    }
}

/// How long the host was at each step of the rounds since the beginning.
#[derive(Default)]
struct Steps {
    times: [Cell<Duration>; 5],
    rounds: Cell<u32>,
}

impl Steps {
    const NAMES: [&str; 5] =
        ["place to write", "write", "to the device, passes", "place to read", "read"];

    fn step<R>(&self, at: usize, work: impl FnOnce() -> R) -> R {
        let begun = Instant::now();
        let result = work();
        self.times[at].set(self.times[at].get() + begun.elapsed());
        result
    }

    fn begin(&self) {
        self.times.iter().for_each(|time| time.set(Duration::ZERO));
        self.rounds.set(0);
    }

    fn tell(&self, whose: &str) {
        let us =
            |time: &Cell<Duration>| 1e6 * time.get().as_secs_f64() / f64::from(self.rounds.get());
        let each = Steps::NAMES.iter().zip(&self.times);
        let each: Vec<_> = each.map(|(name, time)| format!("{name} {:.0} us", us(time))).collect();
        println!("    {whose}: {}", each.join(", "));
    }
}

/// In each round the host rewrites a part, the device passes several times over everything, and the
/// host reads another part: buffers against managed memory, the same job by hand. That can say
/// where memory will be used and not that it will be overwritten: the part is fetched before it is,
/// or page by page as the host comes to it (`is_fetched`).
fn residency(rt: &Runtime, is_fetched: bool) {
    const N: usize = 64 << 20;
    const PARTS: usize = 16;
    const ROUNDS: usize = 8;
    const PASSES: usize = 4;
    let q = rt.queue_on("cuda:0").expect("a queue");
    let part = |k: usize| (k % PARTS) * (N / PARTS)..(k % PARTS + 1) * (N / PARTS);
    let sampled = |values: &[f32]| values.iter().step_by(1000).map(|v| f64::from(*v)).sum::<f64>();
    let zeros = vec![0.0f32; N];
    let page = BufferOptions::new().page([N / PARTS]);
    let mut x = rt.buffer_with(&zeros, page).expect("a buffer");
    let mut managed = Managed::new(N);
    managed.part(0..N).copy_from_slice(&zeros);
    let (mut sum, mut sum_by_hand) = (0.0f64, 0.0f64);
    let (steps, steps_by_hand) = (Steps::default(), Steps::default());
    let mut ours = || {
        timed(|| {
            for round in 0..ROUNDS {
                let (mine, theirs) = (part(round), part(round + 5));
                steps.rounds.set(steps.rounds.get() + 1);
                let mut slice = x.slice_mut([mine.start], [mine.len()]).expect("a part");
                let mut written = steps.step(0, || slice.discard()).expect("its memory");
                steps.step(1, || written.fill(round as f32));
                steps.step(2, || {
                    drop(written);
                    for _ in 0..PASSES {
                        drop(q.run(N, pass(&mut x)).expect("a launch"));
                    }
                });
                let slice = x.slice([theirs.start], [theirs.len()]).expect("a part");
                let read = steps.step(3, || slice.read()).expect("its values");
                sum += steps.step(4, || sampled(&read));
            }
        })
    };
    let mut by_hand = || {
        timed(|| {
            for round in 0..ROUNDS {
                let (mine, theirs) = (part(round), part(round + 5));
                let steps = &steps_by_hand;
                steps.rounds.set(steps.rounds.get() + 1);
                let written = steps.step(0, || {
                    if is_fetched {
                        managed.prefetch(mine.clone(), false);
                    }
                    managed.part(mine)
                });
                steps.step(1, || written.fill(round as f32));
                steps.step(2, || {
                    managed.prefetch(0..N, true);
                    (0..PASSES).for_each(|_| managed.pass(N));
                });
                let read = steps.step(3, || {
                    managed.prefetch(theirs.clone(), false);
                    managed.part(theirs)
                });
                sum_by_hand += steps.step(4, || sampled(read));
            }
        })
    };
    let _ = (ours(), by_hand());
    [&steps, &steps_by_hand].into_iter().for_each(Steps::begin);
    let both = compare(9, ROUNDS, &mut ours, &mut by_hand);
    assert_eq!(sum, sum_by_hand, "both compute the same");
    let how = if is_fetched { "prefetched" } else { "prefetched but for what is overwritten" };
    line("a round of passes over 256 MiB", both, &format!("managed memory, {how}"));
    steps.tell("buffers");
    steps_by_hand.tell("managed memory");
}

#[kernel]
fn begin(i: Item<2>, x: Out<f32, 2>) {
    let (r, c) = i.pos();
    x[i] = (r % 7 + c % 5) as f32;
}

/// Heat in a plate whose outermost rows and columns stay as they are.
#[kernel]
fn heat(i: Item<2>, x: In<f32, 2>, y: Out<f32, 2>) {
    let (r, c) = i.pos();
    if c == 0 || c + 1 == x.shape()[1] {
        y[i] = x[i];
    } else {
        y[i] = 0.25 * (x[(r - 1, c)] + x[(r + 1, c)] + x[(r, c - 1)] + x[(r, c + 1)]);
    }
}

const SIDE: usize = 16_384;

/// A plate, with a band of `SIDE` rows on each device.
struct Plate {
    queues: Vec<Queue>,
    both: [Shared<f32, 2>; 2],
}

impl Plate {
    fn new(rt: &Runtime, devices: &[DeviceRef]) -> Plate {
        let rows = devices.len() * SIDE + 2;
        let page = || BufferOptions::new().page([1, SIDE]);
        let make =
            || rt.buffer_with::<f32, 2>([rows, SIDE], page()).expect("a plate").into_shared();
        let queue = |device: &DeviceRef| rt.queue_on(device).expect("a queue");
        let plate = Plate { queues: devices.iter().map(queue).collect(), both: [make(), make()] };
        for (at, q) in plate.queues.iter().enumerate() {
            let first = if at == 0 { 0 } else { 1 + at * SIDE };
            let end = 1 + (at + 1) * SIDE + usize::from(at + 1 == devices.len());
            for plate in &plate.both {
                drop(q.run([first..end, 0..SIDE], begin(plate)).expect("a launch"));
            }
        }
        plate
    }

    /// Microseconds for each step on the first device: of the kernels, by its clock, and of their
    /// submission.
    fn clock(&self, n: usize) -> [f64; 2] {
        let (q, mut events) = (&self.queues[0], Vec::new());
        let submitted = timed(|| {
            for step in 0..n {
                let (old, new) = (&self.both[step % 2], &self.both[1 - step % 2]);
                let submitted = q.submit(|g| {
                    g.timed().run([1..1 + SIDE, 0..SIDE], heat(old, new));
                    Ok(())
                });
                events.push(submitted.expect("a launch"));
            }
        });
        q.wait().expect("no failure");
        let each = |event: &Event| event.timing().map_or(0, |timing| timing.ended - timing.started);
        let kernels: u64 = events.iter().map(each).sum();
        [kernels as f64, submitted.as_nanos() as f64].map(|ns| ns / 1e3 / n as f64)
    }

    fn steps(&self, n: usize) -> Duration {
        timed(|| {
            for step in 0..n {
                let (old, new) = (&self.both[step % 2], &self.both[1 - step % 2]);
                for (at, q) in self.queues.iter().enumerate() {
                    let first = 1 + at * SIDE;
                    drop(q.run([first..first + SIDE, 0..SIDE], heat(old, new)).expect("a launch"));
                }
            }
            self.queues.iter().for_each(|q| q.wait().expect("no failure"));
        })
    }
}

/// 2, 4 and so on, as many GPUs as there are.
fn counts(devices: &[DeviceRef]) -> impl Iterator<Item = usize> {
    if devices.len() == 1 {
        println!("on several GPUs: there is one");
    }
    let all = devices.len();
    std::iter::successors(Some(2), |n| Some(2 * n)).take_while(move |n| *n <= all)
}

/// The same by hand, on one device.
const HEAT: &str = "
extern \"C\" __global__ void heat(const float *__restrict__ x, float *__restrict__ y, unsigned side) {
    unsigned c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y + 1;
    size_t i = (size_t)r * side + c;
    y[i] = c == 0 || c + 1 == side ? x[i] : 0.25f * (x[i - side] + x[i + side] + x[i - 1] + x[i + 1]);
}
";

/// So many steps by hand.
fn heat_by_hand() -> impl Fn(usize) -> Duration {
    let (function, stream) = (Code::compiled(HEAT).function(c"heat"), driver::stream());
    let both = [(); 2].map(|()| {
        let mut at = 0;
        // SAFETY: a place for the answer.
        ok(unsafe { sys::cuMemAlloc_v2(&raw mut at, 4 * (SIDE + 2) * SIDE) });
        at
    });
    move |steps| {
        let work = || {
            for step in 0..steps {
                let (mut x, mut y, mut side) = (both[step % 2], both[1 - step % 2], SIDE as u32);
                let mut args: [*mut c_void; 3] =
                    [(&raw mut x).cast(), (&raw mut y).cast(), (&raw mut side).cast()];
                let shape = [[side / 64, side / 4], [64, 4]];
                // SAFETY: the kernel's arguments, over memory of `SIDE + 2` rows.
                unsafe { driver::launch(function, shape, stream, &mut args) };
            }
        };
        // SAFETY: nobody destroys the stream.
        unsafe { driver::timed(stream, work) }
    }
}

/// As many rows for each device, on one and on several; on one also against the same by hand, and
/// by its own clock.
fn stencil(rt: &Runtime, devices: &[DeviceRef]) {
    const STEPS: usize = 100;
    let one = Plate::new(rt, &devices[..1]);
    let by_hand = heat_by_hand();
    let _ = (one.steps(4), by_hand(4));
    let both = compare(7, STEPS, || one.steps(STEPS), || by_hand(STEPS));
    line("a step, 16384 squared on one GPU", both, "by hand");
    let [clock, submitted] = one.clock(STEPS);
    println!("    {clock:.0} us each by the GPU's clock, {submitted:.0} us each to submit");
    for n in counts(devices) {
        let several = Plate::new(rt, &devices[..n]);
        let _ = several.steps(4);
        let before = rt.counters().transfers().bytes;
        let _ = several.steps(STEPS);
        let moved = (rt.counters().transfers().bytes - before) as usize / STEPS;
        assert_eq!(moved, 2 * (n - 1) * SIDE * 4, "two rows across each border");
        let both = compare(7, STEPS, || several.steps(STEPS), || one.steps(STEPS));
        line(&format!("a step, 16384 squared on each of {n} GPUs"), both, "one GPU");
        println!("    parallel efficiency {:.3}", 1.0 / both[2]);
    }
}

/// A step of bodies (position and mass) that attract each other.
#[kernel]
fn attract(i: Item, dt: f32, p: In<[f32; 4]>, v: InOut<[f32; 4]>, out: Out<[f32; 4]>) {
    let at = p[i];
    let mut sum_x = 0.0;
    let mut sum_y = 0.0;
    let mut sum_z = 0.0;
    for j in 0..p.len() {
        let other = p[j];
        let x = other[0] - at[0];
        let y = other[1] - at[1];
        let z = other[2] - at[2];
        let near = 1.0 / (x * x + y * y + z * z + 1e-4).sqrt();
        let pull = other[3] * near * near * near;
        sum_x += x * pull;
        sum_y += y * pull;
        sum_z += z * pull;
    }
    let before = v[i];
    let now = [before[0] + dt * sum_x, before[1] + dt * sum_y, before[2] + dt * sum_z, 0.0];
    v[i] = now;
    out[i] = [at[0] + dt * now[0], at[1] + dt * now[1], at[2] + dt * now[2], at[3]];
}

const BODIES: usize = 1 << 17;

/// The same bodies on one device and on several, where each needs all others in each step.
fn bodies(rt: &Runtime, devices: &[DeviceRef]) {
    const STEPS: usize = 20;
    // Each device does one of so many parts.
    let on = |devices: &[DeviceRef], parts: usize| {
        let n = BODIES / parts;
        let of = |k: usize, by: usize| (k * by % 101) as f32 / 101.0;
        let place = |k| [of(k, 7), of(k, 31), of(k, 53), 0.01 + of(k, 3)];
        let places: Vec<[f32; 4]> = (0..BODIES).map(place).collect();
        let make = |values: &[[f32; 4]]| {
            let made = rt.buffer_with(values, BufferOptions::new().page([n]));
            made.expect("bodies").into_shared()
        };
        let (both, speed) = ([(); 2].map(|()| make(&places)), make(&vec![[0.0; 4]; BODIES]));
        let queue = |device: &DeviceRef| rt.queue_on(device).expect("a queue");
        let queues: Vec<Queue> = devices.iter().map(queue).collect();
        move |steps: usize| {
            timed(|| {
                for step in 0..steps {
                    let (from, to) = (&both[step % 2], &both[1 - step % 2]);
                    for (at, q) in queues.iter().enumerate() {
                        let launched = q.run(at * n..(at + 1) * n, attract(1e-6, from, &speed, to));
                        drop(launched.expect("a launch"));
                    }
                }
                queues.iter().for_each(|q| q.wait().expect("no failure"));
            })
        }
    };
    let one = on(&devices[..1], 1);
    let _ = one(2);
    for n in counts(devices) {
        let (several, part) = (on(&devices[..n], n), on(&devices[..1], n));
        let _ = (several(2), part(2));
        let before = rt.counters().transfers().bytes;
        let _ = several(STEPS);
        let moved = (rt.counters().transfers().bytes - before) as usize / STEPS;
        assert_eq!(moved, (n - 1) * BODIES * 16, "each part to all others");
        let both = compare(7, STEPS, || several(STEPS), || one(STEPS));
        line(&format!("a step of 131072 bodies on {n} GPUs"), both, "one GPU");
        println!("    parallel efficiency {:.3}", 1.0 / (both[2] * n as f64));
        let both = compare(7, STEPS, || several(STEPS), || part(STEPS));
        line(&format!("the same, on {n} GPUs"), both, "the part of one of them, alone");
    }
}

fn main() {
    let backend = CudaBackend::new();
    match backend.devices() {
        Ok(devices) => println!("{} x {} ({})", devices.len(), devices[0].name, devices[0].driver),
        Err(why) => return println!("skipped: cuda: {}", why.reason),
    }
    let rt = Runtime::builder().backend(backend).build().expect("a runtime");
    heading();
    if is_wanted("overlap") {
        // Stages that are equally long, and a longer computation.
        [1, 2].into_iter().for_each(|passes| overlap(&rt, passes));
    }
    if is_wanted("residency") {
        [true, false].into_iter().for_each(|is_fetched| residency(&rt, is_fetched));
    }
    let devices: Vec<DeviceRef> =
        rt.devices().into_iter().filter(|device| device.name().starts_with("cuda")).collect();
    if is_wanted("stencil") {
        stencil(&rt, &devices);
    }
    if is_wanted("bodies") {
        bodies(&rt, &devices);
    }
}
