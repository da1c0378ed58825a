//! Kernels on all cores, beside hand-written rayon code with the same instruction sets, and beside
//! raw OpenCL on the same CPU where there is one:
//! `cargo bench -p folio-benches --bench kernels -- [FILTER] [--any | --avx2]`, which limits the
//! instructions of both.

use cl3::device::CL_DEVICE_TYPE_CPU;
use folio::ir::device::Instructions;
use folio::prelude::*;
use folio_benches::check::{Floats, assert_close, values};
use folio_benches::raw::{Arg, Call, Raw};
use folio_benches::table::{compare, heading, line, timed};
use folio_benches::{hand, kernels};
use std::cell::{Cell, RefCell};

const ROUNDS: usize = 61;
const HAND: &str = "rayon, same instructions";
const UNCHECKED: &str = "rayon, unchecked";

type Group = (&'static str, fn(&Bench));

fn ok<T>(result: folio::Result<T>) -> T {
    result.expect("the benchmark's program is right")
}

struct Bench {
    rt: Runtime,
    q: Queue,
    /// OpenCL on this CPU, if there is one.
    cl: Option<Raw>,
}

impl Bench {
    fn of<const D: usize>(&self, data: &[f32], range: [usize; D]) -> Buffer<f32, D> {
        ok(self.rt.buffer_from((data, range)))
    }

    /// Both sides in turns; the results must be equal to the bit.
    fn line<T: DeviceType + PartialEq, const D: usize>(
        &self,
        (what, items): (&str, usize),
        (mine, ours): (
            &mut Buffer<T, D>,
            impl Fn(&Queue, &mut Buffer<T, D>) -> folio::Result<folio::Event>,
        ),
        (yours, theirs): (&mut [T], impl Fn(&mut [T])),
        against: &str,
    ) {
        let run = || timed(|| ok(ours(&self.q, mine).and_then(|event| event.wait())));
        let figures = compare(ROUNDS, items / 1000, run, || timed(|| theirs(yours)));
        line(what, figures, against);
        assert!(ok(mine.to_vec()) == *yours, "{what}: both sides compute the same");
    }

    /// The same with raw OpenCL; `calls` are of memory that begins as ours is now.
    fn raw<T: DeviceType + Floats, const D: usize>(
        &self,
        (what, items): (&str, usize),
        (mine, ours): (
            &mut Buffer<T, D>,
            impl Fn(&Queue, &mut Buffer<T, D>) -> folio::Result<folio::Event>,
        ),
        calls: impl Fn(&Raw, Arg) -> Vec<Call>,
    ) {
        let Some(cl) = &self.cl else { return };
        let begin = ok(mine.to_vec());
        let memory = cl.memory(&begin);
        let calls = calls(cl, memory);
        let run = || timed(|| ok(ours(&self.q, mine).and_then(|event| event.wait())));
        let figures = compare(ROUNDS, items / 1000, run, || timed(|| cl.run(&calls)));
        line(what, figures, "raw OpenCL");
        let ours: Vec<f32> = ok(mine.to_vec()).iter().flat_map(|v| v.floats().to_vec()).collect();
        assert_close(what, &ours, &cl.floats(memory, ours.len()));
    }

    fn streams(&self) {
        for shift in [16, 22] {
            let n = 1 << shift;
            let (x, mut y) = (values(n), values(n));
            let (mine, mut out) = (self.of(&x, [n]), self.of(&y, [n]));
            let ours = |q: &Queue, y: &mut _| q.run(n, kernels::saxpy(0.3, &mine, y));
            let theirs = |y: &mut [f32]| hand::saxpy(0.3, &x, y);
            let what = format!("saxpy, 2^{shift}");
            self.line((&what, n), (&mut out, ours), (&mut y, theirs), HAND);
            self.raw((&what, n), (&mut out, ours), |cl, y| {
                let args = [Arg::Float(0.3), cl.memory(&x), y];
                vec![cl.call("saxpy", &args, &[0], &[n], None)]
            });
            let z = values(n);
            let other = self.of(&z, [n]);
            let ours = |q: &Queue, y: &mut _| q.run(n, kernels::triad(0.3, &mine, &other, y));
            let theirs = |y: &mut [f32]| hand::triad(0.3, &x, &z, y);
            let what = format!("triad, 2^{shift}");
            self.line((&what, n), (&mut out, ours), (&mut y, theirs), HAND);
            self.raw((&what, n), (&mut out, ours), |cl, y| {
                let args = [Arg::Float(0.3), cl.memory(&x), cl.memory(&z), y];
                vec![cl.call("triad", &args, &[0], &[n], None)]
            });
        }
    }

    fn stencils(&self) {
        for n in [512, 2048] {
            let (x, mut y) = (values(n * n), vec![0.0; n * n]);
            let (mine, mut out) = (self.of(&x, [n, n]), self.of(&y, [n, n]));
            let ours =
                |q: &Queue, y: &mut _| q.run([1..n - 1, 1..n - 1], kernels::heat(0.2, &mine, y));
            let theirs = |y: &mut [f32]| hand::heat(0.2, n, &x, y);
            let what = format!("stencil {n}x{n}, interior");
            self.line((&what, n * n), (&mut out, ours), (&mut y, theirs), HAND);
            self.raw((&what, n * n), (&mut out, ours), |cl, y| {
                let args = [Arg::Float(0.2), Arg::Count(n), cl.memory(&x), y];
                vec![cl.call("heat", &args, &[1, 1], &[n - 2, n - 2], None)]
            });
            let ours = |q: &Queue, y: &mut _| q.run([n, n], kernels::guarded(0.2, &mine, y));
            let what = format!("stencil {n}x{n}, with a guard");
            self.line((&what, n * n), (&mut out, ours), (&mut y, theirs), "rayon, interior");
            let ours = |q: &Queue, y: &mut _| q.run([n, n], kernels::inside(0.2, &mine, y));
            let what = format!("stencil {n}x{n}, in a guard");
            self.line((&what, n * n), (&mut out, ours), (&mut y, theirs), "rayon, interior");
            let ours = |q: &Queue, y: &mut _| q.run([n, n], kernels::clamped(0.2, &mine, y));
            let theirs = |y: &mut [f32]| hand::clamped(0.2, n, &x, y);
            let what = format!("stencil {n}x{n}, clamped");
            self.line((&what, n * n), (&mut out, ours), (&mut y, theirs), "rayon, border apart");
            let ours = |q: &Queue, y: &mut _| q.run([n, n], kernels::heated(0.2, 3.0, &mine, y));
            let theirs = |y: &mut [f32]| {
                hand::clamped(0.2, n, &x, y);
                y[n / 2 * n + n / 2] += 3.0;
            };
            let what = format!("stencil {n}x{n}, clamped, with a source");
            self.line((&what, n * n), (&mut out, ours), (&mut y, theirs), "rayon, border apart");
            let (total, sum) = (RefCell::new(ok(self.rt.buffer(1))), Cell::new(0.0));
            let ours = |q: &Queue, y: &mut _| {
                q.run([n, n], kernels::clamped_sum(0.2, &mine, y, &mut *total.borrow_mut()))
            };
            let theirs = |y: &mut [f32]| {
                hand::clamped(0.2, n, &x, y);
                sum.set(hand::sum(y));
            };
            let what = format!("stencil {n}x{n}, clamped, and its sum");
            self.line((&what, n * n), (&mut out, ours), (&mut y, theirs), "rayon, two passes");
        }
    }

    /// Of numbers in no order, of few values and of one.
    fn histograms(&self) {
        let n = 1 << 20;
        let numbers: Vec<u32> = (0..n as u32).map(|k| k.wrapping_mul(0x9e37_79b9) >> 12).collect();
        for (bins, same) in [(10, false), (256, false), (256, true), (4096, false)] {
            let x = if same { vec![7; n] } else { numbers.clone() };
            let (mine, mut out) = (ok(self.rt.buffer_from(&x)), ok(self.rt.buffer(bins)));
            let ours = |q: &Queue, y: &mut _| q.run(n, kernels::histogram(&mine, y));
            let theirs = |y: &mut [u32]| hand::histogram(&x, y);
            let what =
                format!("histogram, 2^20 in {bins}{}", if same { ", all the same" } else { "" });
            let mut y = vec![0; bins];
            self.line((&what, n), (&mut out, ours), (&mut y, theirs), "rayon, bins of its own");
        }
    }

    fn products(&self) {
        let n = 512;
        let (a, b, mut y) = (values(n * n), values(n * n), vec![0.0; n * n]);
        let (mine, other, mut out) =
            (self.of(&a, [n, n]), self.of(&b, [n, n]), self.of(&y, [n, n]));
        let args = |cl: &Raw, y: Arg| [Arg::Count(n), cl.memory(&a), cl.memory(&b), y];
        let ours = |q: &Queue, y: &mut _| q.run([n, n], kernels::matmul(&mine, &other, y));
        let theirs = |y: &mut [f32]| hand::matmul(n, &a, &b, y);
        let what = format!("matmul {n}, naive");
        self.line((&what, n * n), (&mut out, ours), (&mut y, theirs), HAND);
        let theirs = |y: &mut [f32]| hand::matmul_by_rows(n, &a, &b, y);
        self.line((&what, n * n), (&mut out, ours), (&mut y, theirs), "rayon, loops interchanged");
        self.raw((&what, n * n), (&mut out, ours), |cl, y| {
            vec![cl.call("matmul", &args(cl, y), &[0, 0], &[n, n], None)]
        });
        let ours = |q: &Queue, y: &mut _| q.run([n, n], kernels::tiled(&mine, &other, y));
        let theirs = |y: &mut [f32]| hand::tiled(n, &a, &b, y);
        let what = format!("matmul {n}, tiles");
        self.line((&what, n * n), (&mut out, ours), (&mut y, theirs), HAND);
        let rows = |y: &mut [f32]| hand::matmul_by_rows(n, &a, &b, y);
        self.line((&what, n * n), (&mut out, ours), (&mut y, rows), "rayon, loops interchanged");
        self.raw((&what, n * n), (&mut out, ours), |cl, y| {
            vec![cl.call("tiled", &args(cl, y), &[0, 0], &[n, n], Some(&[16, 16]))]
        });
    }

    /// Against the same tiles by hand, of which rustc does not know the side.
    fn tiles(&self) {
        let n = 512;
        let (a, b, mut y) = (values(n * n), values(n * n), vec![0.0; n * n]);
        let (mine, other, mut out) =
            (self.of(&a, [n, n]), self.of(&b, [n, n]), self.of(&y, [n, n]));
        let rows = |y: &mut [f32]| hand::matmul_by_rows(n, &a, &b, y);
        let against = "rayon, loops interchanged";
        for side in [8, 32] {
            let ours = |q: &Queue, y: &mut _| match side {
                8 => q.run([n, n], kernels::tiled_8(&mine, &other, y)),
                _ => q.run([n, n], kernels::tiled_32(&mine, &other, y)),
            };
            let theirs = |y: &mut [f32]| hand::tiled_by(side, n, &a, &b, y);
            let what = format!("matmul {n}, tiles of {side}");
            self.line((&what, n * n), (&mut out, ours), (&mut y, theirs), HAND);
            self.line((&what, n * n), (&mut out, ours), (&mut y, rows), against);
        }
        for side in [8, 16, 32] {
            let items = || Items::from([n, n]).groups([side, side]);
            let ours =
                |q: &Queue, y: &mut _| q.run(items(), kernels::tiled_by_group(&mine, &other, y));
            let what = format!("matmul {n}, tiles of the launch's {side}");
            let theirs = |y: &mut [f32]| hand::tiled_by(side, n, &a, &b, y);
            self.line((&what, n * n), (&mut out, ours), (&mut y, theirs), HAND);
            self.line((&what, n * n), (&mut out, ours), (&mut y, rows), against);
        }
    }

    /// Of floats each side adds in another order.
    fn scans(&self) {
        for (shift, size) in [16, 22].into_iter().flat_map(|n| [64, 256, 1024].map(|s| (n, s))) {
            let n = 1 << shift;
            let (x, mut y) = (values(n), vec![0.0; n]);
            let (mine, mut out) = (self.of(&x, [n]), self.of(&y, [n]));
            let items = || Items::from(n).groups([size]);
            let what = format!("scans of {size}, 2^{shift}");
            let ours = |q: &Queue, y: &mut _| q.run(items(), kernels::scan(&mine, y));
            let run = || timed(|| ok(ours(&self.q, &mut out).and_then(|e| e.wait())));
            let theirs = || timed(|| hand::scan(size, &x, &mut y));
            line(&what, compare(ROUNDS, n / 1000, run, theirs), HAND);
            assert_close(&what, &ok(out.to_vec()), &y);
            let integers: Vec<u32> = (0..n as u32).map(|k| k.wrapping_mul(7919)).collect();
            let (mine, mut out) = (ok(self.rt.buffer_from(&integers)), ok(self.rt.buffer(n)));
            let ours = |q: &Queue, y: &mut _| q.run(items(), kernels::scan_integers(&mine, y));
            let theirs = |y: &mut [u32]| hand::scan_integers(size, &integers, y);
            let integer = format!("{what}, integers");
            self.line((&integer, n), (&mut out, ours), (&mut vec![0; n], theirs), HAND);
            let ours = |q: &Queue, y: &mut _| q.run(items(), kernels::scan_by_steps(&mine, y));
            let what = format!("{what}, by steps in local memory");
            self.line((&what, n), (&mut out, ours), (&mut vec![0; n], theirs), HAND);
            self.group_sums(size, &integers, &mine);
        }
    }

    fn group_sums(&self, size: usize, x: &[u32], mine: &Buffer<u32>) {
        let (n, groups) = (x.len(), x.len() / size);
        let mut out = ok(self.rt.buffer(groups));
        let items = || Items::from(n).groups([size]);
        let theirs = |y: &mut [u32]| hand::group_sums(size, x, y);
        let what = format!("sums of {size}, {n}");
        let ours = |q: &Queue, y: &mut _| q.run(items(), kernels::group_sums(mine, y));
        self.line((&what, n), (&mut out, ours), (&mut vec![0; groups], theirs), HAND);
        let what = format!("{what}, by a tree in local memory");
        let ours = |q: &Queue, y: &mut _| q.run(items(), kernels::group_sums_by_tree(mine, y));
        self.line((&what, n), (&mut out, ours), (&mut vec![0; groups], theirs), HAND);
    }

    fn gathers(&self) {
        let n = 1 << 20;
        let (x, mut y) = (values(n), vec![0.0; n]);
        let at: Vec<u32> = (0..n).map(|k| (k * 7919 % n) as u32).collect();
        let (mine, mut out) = (self.of(&x, [n]), self.of(&y, [n]));
        let places = ok(self.rt.buffer_from(&at));
        let ours = |q: &Queue, y: &mut _| q.run(n, kernels::gather(&places, &mine, y));
        let what = ("gather, 2^20, checked", n);
        let theirs = |y: &mut [f32]| hand::gather(&at, &x, y);
        self.line(what, (&mut out, ours), (&mut y, theirs), "rayon, checked");
        let theirs = |y: &mut [f32]| hand::gather_unchecked(&at, &x, y);
        self.line(what, (&mut out, ours), (&mut y, theirs), UNCHECKED);
        self.raw(what, (&mut out, ours), |cl, y| {
            vec![cl.call("gather", &[cl.memory(&at), cl.memory(&x), y], &[0], &[n], None)]
        });
        // Of what is in the nearest cache, so that the memory's time does not hide the test's.
        let near: Vec<u32> = at.iter().map(|at| at % 4096).collect();
        let places = ok(self.rt.buffer_from(&near));
        let ours = |q: &Queue, y: &mut _| q.run(n, kernels::gather(&places, &mine, y));
        let theirs = |y: &mut [f32]| hand::gather_unchecked(&near, &x, y);
        let what = ("gather, 2^20 from 4096, checked", n);
        let checked = |y: &mut [f32]| hand::gather(&near, &x, y);
        self.line(what, (&mut out, ours), (&mut y, checked), "rayon, checked");
        self.line(what, (&mut out, ours), (&mut y, theirs), UNCHECKED);
        // Of a part of something larger.
        let (first, count) = (1000, 4096);
        let part = || mine.slice([first], [count]);
        let ours = |q: &Queue, y: &mut _| q.run(n, kernels::gather(&places, &part()?, y));
        let theirs = |y: &mut [f32]| hand::gather_unchecked(&near, &x[first..], y);
        let what = ("gather, 2^20 from a slice of 4096, checked", n);
        self.line(what, (&mut out, ours), (&mut y, theirs), UNCHECKED);
        // In two dimensions, of which each is tested.
        let side = 64;
        let square = self.of(&x[..side * side], [side, side]);
        let row: Vec<u32> = near.iter().map(|at| at / side as u32).collect();
        let column: Vec<u32> = near.iter().map(|at| at % side as u32).collect();
        let rows = ok(self.rt.buffer_from(&row));
        let columns = ok(self.rt.buffer_from(&column));
        let ours = |q: &Queue, y: &mut _| q.run(n, kernels::gather_2d(&rows, &columns, &square, y));
        let theirs = |y: &mut [f32]| hand::gather_2d_unchecked(side, &row, &column, &x, y);
        let what = ("gather, 2^20 from 64x64, checked", n);
        self.line(what, (&mut out, ours), (&mut y, theirs), UNCHECKED);
        // Neighbours of what the data says.
        let far = 62;
        let by: Vec<u32> = near.iter().map(|at| at % far).collect();
        let shifts = ok(self.rt.buffer_from(&by));
        let m = n - far as usize - 2;
        let mut less = self.of(&y[..m], [m]);
        let ours = |q: &Queue, y: &mut _| q.run(m, kernels::displaced(&shifts, &mine, y));
        let theirs = |y: &mut [f32]| hand::displaced_unchecked(&by, &x, y);
        let what = ("three displaced neighbours, 2^20, checked", m);
        self.line(what, (&mut less, ours), (&mut y[..m], theirs), UNCHECKED);
    }

    /// The system's functions have other last bits.
    fn functions(&self) {
        let n = 1 << 20;
        let (x, mut y) = (values(n), vec![0.0; n]);
        let (mine, mut out) = (self.of(&x, [n]), self.of(&y, [n]));
        let ours = |q: &Queue, y: &mut _| q.run(n, kernels::exp(&mine, y));
        let run = || timed(|| ok(ours(&self.q, &mut out).and_then(|e| e.wait())));
        let figures = compare(ROUNDS, n / 1000, run, || timed(|| hand::exp(&x, &mut y)));
        line("exp, 2^20", figures, "rayon, the system's exp");
        assert_close("exp", &ok(out.to_vec()), &y);
        self.raw(("exp, 2^20", n), (&mut out, ours), |cl, y| {
            vec![cl.call("exponential", &[cl.memory(&x), y], &[0], &[n], None)]
        });
        let strike: Vec<f32> = x.iter().map(|x| 2.0 - x).collect();
        let other = self.of(&strike, [n]);
        let ours = |q: &Queue, y: &mut _| q.run(n, kernels::black_scholes(0.02, &mine, &other, y));
        let run = || timed(|| ok(ours(&self.q, &mut out).and_then(|e| e.wait())));
        let theirs = || timed(|| hand::black_scholes(0.02, &x, &strike, &mut y));
        let figures = compare(ROUNDS, n / 1000, run, theirs);
        line("Black-Scholes, 2^20", figures, "rayon, the system's functions");
        assert_close("Black-Scholes", &ok(out.to_vec()), &y);
        self.raw(("Black-Scholes, 2^20", n), (&mut out, ours), |cl, y| {
            let args = [Arg::Float(0.02), cl.memory(&x), cl.memory(&strike), y];
            vec![cl.call("black_scholes", &args, &[0], &[n], None)]
        });
    }

    /// Every side adds in another order.
    fn sums(&self) {
        for shift in [16, 22] {
            let n = 1 << shift;
            let x = values(n);
            let (mine, mut out) = (self.of(&x, [n]), self.of(&[0.0], [1]));
            let what = format!("sum, 2^{shift}");
            let ours = |q: &Queue, sum: &mut _| q.run(n, kernels::sum(&mine, sum));
            let run = || timed(|| ok(ours(&self.q, &mut out).and_then(|e| e.wait())));
            let mut sum = 0.0;
            let figures = compare(ROUNDS, n / 1000, run, || timed(|| sum = hand::sum(&x)));
            line(&what, figures, HAND);
            assert_close(&what, &ok(out.to_vec()), &[sum]);
            self.raw((&what, n), (&mut out, ours), |cl, y| cl.sum(n, cl.memory(&x), y));
        }
    }

    fn bodies(&self) {
        for n in [4096, 16_384] {
            let p: Vec<[f32; 4]> = values(4 * n).as_chunks().0.to_vec();
            let mut y = vec![[0.0; 4]; n];
            let (mine, mut out) = (ok(self.rt.buffer_from(&p)), ok(self.rt.buffer_from(&y)));
            let ours = |q: &Queue, y: &mut _| q.run(n, kernels::bodies(&mine, y));
            let what = format!("{n} bodies");
            let theirs = |y: &mut [[f32; 4]]| hand::bodies_by_lanes(&p, y);
            let lanes = "rayon, 16 lanes over bodies";
            self.line((&what, n * n), (&mut out, ours), (&mut y, theirs), lanes);
            self.raw((&what, n * n), (&mut out, ours), |cl, y| {
                vec![cl.call("bodies", &[Arg::Count(n), cl.memory(&p), y], &[0], &[n], None)]
            });
            if n < 10_000 {
                let theirs = |y: &mut [[f32; 4]]| hand::bodies(&p, y);
                self.line((&what, n * n), (&mut out, ours), (&mut y, theirs), HAND);
            }
        }
    }
}

fn main() {
    // Cargo passes `--bench`.
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let rt = ok(folio::runtime());
    let cl = match Raw::open(CL_DEVICE_TYPE_CPU) {
        Ok(cl) => Some(cl),
        Err(reason) => {
            println!("raw OpenCL skipped: {reason}");
            None
        }
    };
    for (word, set) in [("--any", Instructions::Any), ("--avx2", Instructions::Avx2)] {
        if std::env::args().any(|argument| argument == word) {
            set.limit();
        }
    }
    let bench = Bench { q: ok(rt.queue()), rt, cl };
    println!("per 1000 elements; instructions: {:?}", Instructions::best());
    if let Some(cl) = &bench.cl {
        println!("raw OpenCL: {}", cl.name);
    }
    heading();
    let groups: [Group; 10] = [
        ("streams", Bench::streams),
        ("stencils", Bench::stencils),
        ("products", Bench::products),
        ("tiles", Bench::tiles),
        ("scans", Bench::scans),
        ("gathers", Bench::gathers),
        ("histograms", Bench::histograms),
        ("functions", Bench::functions),
        ("sums", Bench::sums),
        ("bodies", Bench::bodies),
    ];
    for (name, run) in groups {
        if words.is_empty() || words.iter().any(|word| name.contains(word.as_str())) {
            run(&bench);
        }
    }
}
