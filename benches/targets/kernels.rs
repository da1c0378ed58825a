//! Kernels on all cores, beside hand-written rayon code with the same instruction sets:
//! `cargo bench -p folio-benches --bench kernels [FILTER]`.

use folio::ir::device::Instructions;
use folio::prelude::*;
use folio_benches::table::{compare, heading, line};
use folio_benches::{hand, kernels};
use std::time::{Duration, Instant};

const ROUNDS: usize = 15;
const HAND: &str = "rayon, same instructions";

type Group = (&'static str, fn(&Bench));

fn ok<T>(result: folio::Result<T>) -> T {
    result.expect("the benchmark's program is right")
}

fn timed(run: impl FnOnce()) -> Duration {
    let started = Instant::now();
    run();
    started.elapsed()
}

fn values(n: usize) -> Vec<f32> {
    (0..n).map(|k| 0.5 + (k * 7919 % 1009) as f32 / 1009.0).collect()
}

struct Bench {
    rt: Runtime,
    q: Queue,
}

impl Bench {
    fn of<const D: usize>(&self, data: &[f32], range: [usize; D]) -> Buffer<f32, D> {
        ok(self.rt.buffer_from_with(data, range, BufferOptions::new()))
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

    fn streams(&self) {
        for shift in [16, 22] {
            let n = 1 << shift;
            let (x, mut y) = (values(n), values(n));
            let (mine, mut out) = (self.of(&x, [n]), self.of(&y, [n]));
            let ours = |q: &Queue, y: &mut _| q.run(n, kernels::saxpy(0.3, &mine, y));
            let theirs = |y: &mut [f32]| hand::saxpy(0.3, &x, y);
            self.line((&format!("saxpy, 2^{shift}"), n), (&mut out, ours), (&mut y, theirs), HAND);
            let z = values(n);
            let other = self.of(&z, [n]);
            let ours = |q: &Queue, y: &mut _| q.run(n, kernels::triad(0.3, &mine, &other, y));
            let theirs = |y: &mut [f32]| hand::triad(0.3, &x, &z, y);
            self.line((&format!("triad, 2^{shift}"), n), (&mut out, ours), (&mut y, theirs), HAND);
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
            let ours = |q: &Queue, y: &mut _| q.run([n, n], kernels::guarded(0.2, &mine, y));
            let what = format!("stencil {n}x{n}, with a guard");
            self.line((&what, n * n), (&mut out, ours), (&mut y, theirs), "rayon, interior");
        }
    }

    fn products(&self) {
        let n = 512;
        let (a, b, mut y) = (values(n * n), values(n * n), vec![0.0; n * n]);
        let (mine, other, mut out) =
            (self.of(&a, [n, n]), self.of(&b, [n, n]), self.of(&y, [n, n]));
        let ours = |q: &Queue, y: &mut _| q.run([n, n], kernels::matmul(&mine, &other, y));
        let theirs = |y: &mut [f32]| hand::matmul(n, &a, &b, y);
        let what = format!("matmul {n}, naive");
        self.line((&what, n * n), (&mut out, ours), (&mut y, theirs), HAND);
        let theirs = |y: &mut [f32]| hand::matmul_by_rows(n, &a, &b, y);
        self.line((&what, n * n), (&mut out, ours), (&mut y, theirs), "rayon, loops interchanged");
    }

    fn functions(&self) {
        let n = 1 << 20;
        let (x, mut y) = (values(n), vec![0.0; n]);
        let at: Vec<u32> = (0..n).map(|k| (k * 7919 % n) as u32).collect();
        let (mine, mut out) = (self.of(&x, [n]), self.of(&y, [n]));
        let places = ok(self.rt.buffer_from(&at));
        let ours = |q: &Queue, y: &mut _| q.run(n, kernels::gather(&places, &mine, y));
        let theirs = |y: &mut [f32]| hand::gather(&at, &x, y);
        self.line(
            ("gather, 2^20, checked", n),
            (&mut out, ours),
            (&mut y, theirs),
            "rayon, checked",
        );
        // The system's function has other last bits, so the results are not compared.
        let run =
            || timed(|| ok(self.q.run(n, kernels::exp(&mine, &mut out)).and_then(|e| e.wait())));
        let figures = compare(ROUNDS, n / 1000, run, || timed(|| hand::exp(&x, &mut y)));
        line("exp, 2^20", figures, "rayon, the system's exp");
    }

    fn bodies(&self) {
        let n = 4096;
        let p: Vec<[f32; 4]> = values(4 * n).as_chunks().0.to_vec();
        let mut y = vec![[0.0; 4]; n];
        let (mine, mut out) = (ok(self.rt.buffer_from(&p)), ok(self.rt.buffer_from(&y)));
        let ours = |q: &Queue, y: &mut _| q.run(n, kernels::bodies(&mine, y));
        let what = format!("{n} bodies");
        let theirs = |y: &mut [[f32; 4]]| hand::bodies(&p, y);
        self.line((&what, n * n), (&mut out, ours), (&mut y, theirs), HAND);
        let theirs = |y: &mut [[f32; 4]]| hand::bodies_by_lanes(&p, y);
        self.line(
            (&what, n * n),
            (&mut out, ours),
            (&mut y, theirs),
            "rayon, 16 lanes over bodies",
        );
    }
}

fn main() {
    // Cargo passes `--bench`.
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let rt = ok(folio::runtime());
    let bench = Bench { q: ok(rt.queue()), rt };
    println!("per 1000 elements; instructions: {:?}", Instructions::best());
    heading();
    let groups: [Group; 5] = [
        ("streams", Bench::streams),
        ("stencils", Bench::stencils),
        ("products", Bench::products),
        ("functions", Bench::functions),
        ("bodies", Bench::bodies),
    ];
    for (name, run) in groups {
        if words.is_empty() || words.iter().any(|word| name.contains(word.as_str())) {
            run(&bench);
        }
    }
}
