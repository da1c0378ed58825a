//! The algorithms on all cores, beside rayon:
//! `cargo bench -p folio-benches --bench algorithms [FILTER]`.

use folio::algorithms::{self, Direction};
use folio::prelude::*;
use folio_benches::by_hand;
use folio_benches::table::{compare, heading, line};
use rayon::prelude::*;
use std::time::{Duration, Instant};

const ROUNDS: usize = 15;
const N: usize = 1 << 20;

fn ok<T>(result: folio::Result<T>) -> T {
    result.expect("the benchmark's program is right")
}

fn timed(run: impl FnOnce()) -> Duration {
    let started = Instant::now();
    run();
    started.elapsed()
}

fn words() -> Vec<u32> {
    (0..N as u32).map(|k| k.wrapping_mul(0x9e37_79b9) ^ k >> 7).collect()
}

fn floats() -> Vec<f32> {
    words().into_iter().map(|x| x as i32 as f32 * 1e-6).collect()
}

struct Bench {
    rt: Runtime,
    q: Queue,
}

impl Bench {
    /// Both sides in turns, each to its end.
    fn line(
        &self,
        what: &str,
        ours: impl Fn(&Queue) -> folio::Result<()>,
        theirs: impl FnMut(),
        against: &str,
    ) {
        let mut theirs = theirs;
        let run = || timed(|| ok(ours(&self.q).and_then(|()| self.q.wait())));
        line(what, compare(ROUNDS, N / 1000, run, || timed(&mut theirs)), against);
    }

    fn reductions(&self) {
        let x = floats();
        let mine = ok(self.rt.buffer_from(&x));
        let ours = |q: &Queue| algorithms::reduce(q, Add, &mine).map(drop);
        let theirs = || {
            std::hint::black_box(by_hand::sum(&x));
        };
        self.line("reduce of f32, 2^20", ours, theirs, "rayon, eight lanes");
    }

    fn scans<T: Number + DeviceType + std::ops::Add<Output = T> + Default>(&self, x: Vec<T>)
    where
        combine::Add: folio::ir::device::Combine<T>,
    {
        let mut y = vec![T::default(); N];
        let (mine, out) = (ok(self.rt.buffer_from(&x)), ok(self.rt.buffer(N)).into_shared());
        let ours = |q: &Queue| algorithms::inclusive_scan(q, Add, &mine, &out);
        let what = format!("inclusive scan of {}, 2^20", std::any::type_name::<T>());
        self.line(&what, ours, || by_hand::scan(&x, &mut y), "rayon, two passes");
    }

    fn sorts(&self) {
        let (x, mut y) = (words(), vec![0; N]);
        let (mine, out) =
            (ok(self.rt.buffer_from(&x)), ok(self.rt.buffer::<u32, 1>(N)).into_shared());
        let ours = |q: &Queue| {
            q.submit(|cg| {
                cg.copy(&mine, &out);
                Ok(())
            })?;
            algorithms::sort(q, Direction::Ascending, &out)
        };
        let theirs = || {
            y.copy_from_slice(&x);
            y.par_sort_unstable();
        };
        self.line("sort of u32, 2^20", ours, theirs, "rayon, par_sort_unstable");
        assert!(ok(out.to_vec()) == y, "both sides sort");

        let (x, mut y) = (floats(), vec![(0.0, 0); N]);
        let (mine, out) =
            (ok(self.rt.buffer_from(&x)), ok(self.rt.buffer::<f32, 1>(N)).into_shared());
        let values = ok(self.rt.buffer::<u32, 1>(N)).into_shared();
        let ours = |q: &Queue| {
            q.submit(|cg| {
                cg.copy(&mine, &out);
                Ok(())
            })?;
            algorithms::sort_by_key(q, Direction::Ascending, &out, &values)
        };
        let theirs = || {
            y.iter_mut().zip(&x).enumerate().for_each(|(k, (y, x))| *y = (*x, k));
            y.par_sort_by(|a, b| a.0.total_cmp(&b.0));
        };
        self.line("sort by f32, u32 along, 2^20", ours, theirs, "rayon, par_sort_by over pairs");
    }

    fn transposes(&self) {
        let n = 1024;
        let (x, mut y) = (floats(), vec![0.0; N]);
        let mine = ok(self.rt.buffer_from((&x, [n, n])));
        let out = ok(self.rt.buffer([n, n])).into_shared();
        let ours = |q: &Queue| algorithms::transpose(q, &mine, &out);
        let theirs = || by_hand::transpose(n, &x, &mut y);
        self.line("transpose of f32, 1024x1024", ours, theirs, "rayon, tiles of 16x16");
        assert!(ok(out.to_vec()) == y, "both sides transpose");
    }

    fn draws(&self) {
        let mut y = vec![0.0; N];
        let out = ok(self.rt.buffer::<f32, 1>(N)).into_shared();
        let ours = |q: &Queue| algorithms::fill_uniform(q, 7, &out);
        let theirs = || by_hand::uniform(7, &mut y);
        self.line("uniform f32, 2^20", ours, theirs, "rayon, SplitMix64");
    }
}

fn main() {
    // Cargo passes `--bench`.
    let filter: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let rt = ok(folio::runtime());
    let bench = Bench { q: ok(rt.queue()), rt };
    println!("per 1000 elements");
    heading();
    let groups: [(&str, &dyn Fn()); 5] = [
        ("reductions", &|| bench.reductions()),
        ("scans", &|| {
            bench.scans(floats());
            bench.scans(words().into_iter().map(u64::from).collect());
        }),
        ("sorts", &|| bench.sorts()),
        ("transposes", &|| bench.transposes()),
        ("draws", &|| bench.draws()),
    ];
    for (name, run) in groups {
        if filter.is_empty() || filter.iter().any(|word| name.contains(word.as_str())) {
            run();
        }
    }
}
