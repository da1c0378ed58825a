//! The OpenCL backend against OpenCL's own calls and hand-written kernels, in turns, on the first
//! GPU or else the first CPU: `cargo bench -p folio-benches --bench opencl [FILTER]`.

use cl3::device::{CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU};
use folio::prelude::*;
use folio::{Event, Shared};
use folio_benches::check::{Floats, assert_close, values};
use folio_benches::kernels;
use folio_benches::raw::{Arg, Call, Raw};
use folio_benches::table::{compare, heading, is_wanted, line, timed};
use folio_core::hal::{AllocKind, AllocReq, Backend, DeviceKind, Notify};
use folio_opencl::OpenClBackend;

const LAUNCHES: usize = 2_000;
/// Launches of a turn where data are large, at least; and items of a turn. It is kernels that are
/// compared, and not how long a wait for one takes ([`Bench::bursts`]).
const TURNS: usize = 10;
const ITEMS: usize = 1 << 25;

type Group = (&'static str, fn(&Bench));
type Launch<'l> = Box<dyn Fn(usize) -> folio::Result<Event> + 'l>;

fn ok<T>(result: folio::Result<T>) -> T {
    result.expect("the benchmark's program is right")
}

/// The same device twice: by way of Folio, and by OpenCL's own functions.
struct Bench {
    rt: Runtime,
    q: Queue,
    cl: Raw,
    gpu: bool,
}

impl Bench {
    fn open() -> Result<Bench, String> {
        let (cl, gpu) = match Raw::open(CL_DEVICE_TYPE_GPU) {
            Ok(cl) => (cl, true),
            Err(_) => (Raw::open(CL_DEVICE_TYPE_CPU)?, false),
        };
        let rt = ok(Runtime::builder().backend(OpenClBackend::new()).build());
        let kind = if gpu { DeviceKind::Gpu } else { DeviceKind::Cpu };
        let device = rt.devices().into_iter().find(|device| device.info().kind == kind);
        let device = device.expect("Folio finds what OpenCL has");
        assert_eq!(device.info().name, cl.name.trim(), "both sides have the same device");
        Ok(Bench { q: ok(rt.queue_on(&device)), rt, cl, gpu })
    }

    /// What a GPU is given, and what a CPU is.
    fn sizes<T>(&self, gpu: T, cpu: T) -> T {
        if self.gpu { gpu } else { cpu }
    }

    fn of<const D: usize>(&self, data: &[f32], range: [usize; D]) -> Buffer<f32, D> {
        ok(self.rt.buffer_from((data, range)))
    }

    /// Kernel functions over buffers with nothing to move.
    fn launches(&self) {
        let items = 256;
        let make = |_| ok(self.rt.buffer_from(vec![1.0f32; items])).into_shared();
        let all: Vec<Shared<f32>> = (0..64).map(make).collect();
        let memory: Vec<Arg> = (0..64).map(|_| self.cl.memory(&vec![1.0f32; items])).collect();
        let (q, a, b, c, d) = (&self.q, &all[0], &all[1], &all[2], &all[3]);
        let call = |name: &str, args: &[Arg]| self.cl.call(name, args, &[0], &[items], None);
        let one = call("one", &memory[..1]);
        let cases: [(&str, Vec<Call>, Launch<'_>); 4] = [
            (
                "one buffer, dependent",
                vec![one.clone()],
                Box::new(|_| q.run(items, kernels::one(a))),
            ),
            (
                "four buffers, dependent",
                vec![call("four", &memory[..4])],
                Box::new(|_| q.run(items, kernels::four(a, b, c, d))),
            ),
            (
                "one written, three read",
                vec![call("added", &memory[..4])],
                Box::new(|_| q.run(items, kernels::added(a, b, c, d))),
            ),
            (
                "independent over 64 buffers",
                (0..64).map(|k| one.of(&memory[k..][..1])).collect(),
                Box::new(|k| q.run(items, kernels::one(&all[k % 64]))),
            ),
        ];
        for (what, calls, launch) in cases {
            let ours = || {
                timed(|| {
                    (0..LAUNCHES).for_each(|k| drop(ok(launch(k))));
                    ok(q.wait());
                })
            };
            let theirs = || timed(|| self.cl.run(calls.iter().cycle().take(LAUNCHES)));
            // The first brings what is to be brought, and compiles.
            let _ = (ours(), theirs());
            line(what, compare(self.sizes(101, 21), LAUNCHES, ours, theirs), "enqueued by hand");
        }
    }

    /// A few launches of a kernel of some microseconds, and a wait for them.
    fn bursts(&self) {
        let n = 1 << self.sizes(20, 16);
        let data = values(n);
        let (x, y) = (self.of(&data, [n]).into_shared(), self.of(&data, [n]).into_shared());
        let [p, q] = std::array::from_fn(|_| self.cl.memory(&data));
        let call = self.cl.call("saxpy", &[Arg::Float(0.25), p, q], &[0], &[n], None);
        for launches in [1, 3, 10, 100] {
            let ours = || {
                timed(|| {
                    let run = |_| drop(ok(self.q.run(n, kernels::saxpy(0.25, &x, &y))));
                    (0..launches).for_each(run);
                    ok(self.q.wait());
                })
            };
            let theirs = || timed(|| self.cl.run(std::iter::repeat_n(&call, launches)));
            let _ = (ours(), theirs());
            let what = format!("{launches} of 2^{} f32, and a wait", n.ilog2());
            line(&what, compare(101, launches, ours, theirs), "by hand");
        }
        [p, q].into_iter().for_each(|memory| self.cl.release(memory));
    }

    /// Tiny launches that follow one another, the same again and again: by a graph's replay, as a
    /// block that comes again, and one by one.
    fn replays(&self) {
        let items = 16;
        let x = ok(self.rt.buffer_from(vec![1.0f32; items])).into_shared();
        let y = self.cl.memory(&vec![1.0f32; items]);
        let call = self.cl.call("one", &[y], &[0], &[items], None);
        for launches in [2, 10, 100] {
            let graph = ok(self.rt.graph(&self.q.device()));
            for _ in 0..launches {
                ok(graph.add(|cg| cg.run(items, kernels::one(&x))));
            }
            let run = ok(graph.finalize());
            let each = |q: &Queue| {
                (0..launches).try_for_each(|_| q.run(items, kernels::one(&x)).map(drop))
            };
            let sides: [(&str, &dyn Fn()); 3] = [
                ("replay", &|| drop(ok(self.q.run_graph(&run)))),
                ("batch", &|| drop(ok(self.q.batch(each)))),
                ("one by one", &|| ok(each(&self.q))),
            ];
            let times = LAUNCHES / launches;
            let theirs = || timed(|| self.cl.run(std::iter::repeat_n(&call, times * launches)));
            for (how, side) in sides {
                let ours = || {
                    timed(|| {
                        (0..times).for_each(|_| side());
                        ok(self.q.wait());
                    })
                };
                let _ = (ours(), theirs());
                let what = format!("{launches} launches, {how}");
                let rounds = self.sizes(101, 21);
                line(&what, compare(rounds, times * launches, ours, theirs), "enqueued by hand");
            }
        }
        self.cl.release(y);
    }

    /// Memory that comes and goes.
    fn allocations(&self) {
        if !self.cl.allocate(64) {
            return println!("skipped: allocations: no shared virtual memory");
        }
        // SAFETY: devices of this backend keep the HAL's contract; nothing is told to anybody.
        let device = unsafe { OpenClBackend::new().with_all_svm().open(0, Notify::none()) };
        let device = device.expect("the first device opens");
        for (what, bytes) in [("4 KiB", 1 << 12), ("16 MiB", 1 << 24), ("1 GiB", 1 << 30)] {
            let (n, kind) = (if bytes < 1 << 30 { 50 } else { 3 }, AllocKind::Device);
            let req = AllocReq {
                kind,
                size: bytes,
                align: 256,
                import: None,
                zeroed: false,
                linked: false,
                exported: false,
                label: "",
            };
            let ours = || {
                timed(|| {
                    for _ in 0..n {
                        let made = device.usm().alloc(&req).expect("memory");
                        device.usm().free(made.handle);
                    }
                })
            };
            let theirs = || timed(|| assert!((0..n).all(|_| self.cl.allocate(bytes as usize))));
            // The first is the driver's.
            let _ = (ours(), theirs());
            let what = format!("allocate and free {what}");
            line(&what, compare(15, n, ours, theirs), "clSVMAlloc, clSVMFree");
        }
    }

    /// Kernels that only move data, and what a copy inside the device reaches.
    fn streams(&self) {
        for power in self.sizes(vec![20, 22, 24, 26, 28], vec![16, 20, 24]) {
            let n = 1usize << power;
            let turns = TURNS.max(ITEMS / n);
            let data = values(n);
            let (x, z, mut y) = (self.of(&data, [n]), self.of(&data, [n]), self.of(&data, [n]));
            let memory: [Arg; 3] = std::array::from_fn(|_| self.cl.memory(&data));
            let rate = |what: String, words: usize, both: [f64; 3], against: &str| {
                line(&what, both, against);
                println!("    {:.1} GB/s", (4 * words * n) as f64 / both[0]);
            };
            for (name, args) in [("saxpy", &memory[1..]), ("triad", &memory[..])] {
                let args: Vec<Arg> = [Arg::Float(0.25)].into_iter().chain(args.to_vec()).collect();
                let call = match self.gpu {
                    true => {
                        let name = format!("{name}_by_four");
                        self.cl.call(&name, &args, &[0], &[n / 4], Some(&[256]))
                    }
                    false => self.cl.call(name, &args, &[0], &[n], None),
                };
                let mut ours = || {
                    timed(|| {
                        for _ in 0..turns {
                            drop(ok(match name {
                                "saxpy" => self.q.run(n, kernels::saxpy(0.25, &x, &mut y)),
                                _ => self.q.run(n, kernels::triad(0.25, &x, &z, &mut y)),
                            }));
                        }
                        ok(self.q.wait());
                    })
                };
                let theirs = || timed(|| self.cl.run(std::iter::repeat_n(&call, turns)));
                let _ = (ours(), theirs());
                let both = compare(15, turns, ours, theirs);
                rate(format!("{name} of 2^{power} f32"), 3, both, "by hand");
            }
            if power <= 24 {
                let theirs = self.cl.floats(memory[2], n);
                assert_close("streams", &ok(y.to_vec()), &theirs);
            }
            let copies = || timed(|| self.cl.copy([memory[0], memory[1]], 4 * n, turns));
            let both = compare(15, turns, copies, copies);
            rate(format!("copy of 2^{power} f32, the driver's"), 2, both, "itself");
            memory.iter().for_each(|memory| self.cl.release(*memory));
        }
    }

    /// Both sides in turns; `calls` are of memory that begins as ours is now.
    fn line<T: DeviceType + Floats, const D: usize>(
        &self,
        what: String,
        (mine, ours): (
            &mut Buffer<T, D>,
            impl Fn(&Queue, &mut Buffer<T, D>) -> folio::Result<Event>,
        ),
        calls: impl Fn(&Raw, Arg) -> Vec<Call>,
    ) {
        let memory = self.cl.memory(&ok(mine.to_vec()));
        let calls = calls(&self.cl, memory);
        // Several in a row: it is kernels that are compared, and not how long a wait for one takes.
        let turns = 8;
        let run = || {
            timed(|| {
                (1..turns).for_each(|_| drop(ok(ours(&self.q, mine))));
                ok(ours(&self.q, mine).and_then(|event| event.wait()));
            })
        };
        let by_hand = || timed(|| self.cl.run(calls.iter().cycle().take(turns * calls.len())));
        let figures = compare(15, turns, run, by_hand);
        line(&what, figures, "by hand");
        let ours: Vec<f32> = ok(mine.to_vec()).iter().flat_map(|v| v.floats().to_vec()).collect();
        assert_close(&what, &ours, &self.cl.floats(memory, ours.len()));
        self.cl.release(memory);
    }

    fn stencils(&self) {
        let n = self.sizes(16_384, 2048);
        let x = values(n * n);
        let (mine, mut out) = (self.of(&x, [n, n]), self.of(&vec![0.0; n * n], [n, n]));
        let ours = |q: &Queue, y: &mut _| q.run([1..n - 1, 1..n - 1], kernels::heat(0.2, &mine, y));
        let what = format!("stencil {n}x{n}, interior");
        self.line(what, (&mut out, ours), |cl, y| {
            let args = [Arg::Float(0.2), Arg::Count(n), cl.memory(&x), y];
            vec![match self.gpu {
                true => cl.call("heat_in_groups", &args, &[1, 1], &[n, n], Some(&[32, 8])),
                false => cl.call("heat", &args, &[1, 1], &[n - 2, n - 2], None),
            }]
        });
    }

    fn products(&self) {
        let n = self.sizes(4096, 512);
        let (a, b) = (values(n * n), values(n * n));
        let (mine, other) = (self.of(&a, [n, n]), self.of(&b, [n, n]));
        let mut out = self.of(&vec![0.0; n * n], [n, n]);
        let args = |cl: &Raw, y: Arg| [Arg::Count(n), cl.memory(&a), cl.memory(&b), y];
        let ours = |q: &Queue, y: &mut _| q.run([n, n], kernels::matmul(&mine, &other, y));
        self.line(format!("matmul {n}, naive"), (&mut out, ours), |cl, y| {
            let group = self.gpu.then_some(&[32, 8][..]);
            vec![cl.call("matmul", &args(cl, y), &[0, 0], &[n, n], group)]
        });
        let ours = |q: &Queue, y: &mut _| q.run([n, n], kernels::tiled(&mine, &other, y));
        self.line(format!("matmul {n}, tiles"), (&mut out, ours), |cl, y| {
            vec![cl.call("tiled", &args(cl, y), &[0, 0], &[n, n], Some(&[16, 16]))]
        });
    }

    fn functions(&self) {
        let shift = self.sizes(26, 20);
        let n = 1 << shift;
        let x = values(n);
        let strike: Vec<f32> = x.iter().map(|x| 2.0 - x).collect();
        let (mine, other, mut out) = (self.of(&x, [n]), self.of(&strike, [n]), self.of(&x, [n]));
        let group = self.gpu.then_some(&[256][..]);
        let ours = |q: &Queue, y: &mut _| q.run(n, kernels::exp(&mine, y));
        self.line(format!("exp, 2^{shift}"), (&mut out, ours), |cl, y| {
            vec![cl.call("exponential", &[cl.memory(&x), y], &[0], &[n], group)]
        });
        let ours = |q: &Queue, y: &mut _| q.run(n, kernels::black_scholes(0.02, &mine, &other, y));
        self.line(format!("Black-Scholes, 2^{shift}"), (&mut out, ours), |cl, y| {
            let args = [Arg::Float(0.02), cl.memory(&x), cl.memory(&strike), y];
            vec![cl.call("black_scholes", &args, &[0], &[n], group)]
        });
    }

    fn sums(&self) {
        let shift = self.sizes(28, 22);
        let n = 1 << shift;
        let x = values(n);
        let (mine, mut out) = (self.of(&x, [n]), self.of(&[0.0], [1]));
        let ours = |q: &Queue, sum: &mut _| q.run(n, kernels::sum(&mine, sum));
        self.line(format!("sum, 2^{shift}"), (&mut out, ours), |cl, y| cl.sum(n, cl.memory(&x), y));
    }

    fn bodies(&self) {
        let n = self.sizes(65_536, 4096);
        let p: Vec<[f32; 4]> = values(4 * n).as_chunks().0.to_vec();
        let (mine, mut out) = (ok(self.rt.buffer_from(&p)), ok(self.rt.buffer_from(&p)));
        let ours = |q: &Queue, y: &mut _| q.run(n, kernels::bodies(&mine, y));
        self.line(format!("{n} bodies"), (&mut out, ours), |cl, y| {
            let group = self.gpu.then_some(&[256][..]);
            vec![cl.call("bodies", &[Arg::Count(n), cl.memory(&p), y], &[0], &[n], group)]
        });
    }
}

fn main() {
    let bench = match Bench::open() {
        Ok(bench) => bench,
        Err(why) => return println!("skipped: opencl: {why}"),
    };
    println!("{}", bench.cl.name);
    heading();
    let groups: [Group; 10] = [
        ("allocations", Bench::allocations),
        ("launches", Bench::launches),
        ("bursts", Bench::bursts),
        ("replays", Bench::replays),
        ("streams", Bench::streams),
        ("stencils", Bench::stencils),
        ("products", Bench::products),
        ("functions", Bench::functions),
        ("sums", Bench::sums),
        ("bodies", Bench::bodies),
    ];
    for (name, run) in groups {
        if is_wanted(name) {
            run(&bench);
        }
    }
}
