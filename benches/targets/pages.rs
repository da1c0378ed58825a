//! The cost of page tracking, beside plain arrays. Each group holds both.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use folio_benches::baseline::page_array;
use folio_benches::pages::{Pages, Pattern, one_page};
use std::time::Duration;

const N: usize = 20_000;
const PATTERNS: [Pattern; 3] = [Pattern::Uniform, Pattern::Stripes, Pattern::Checkerboard];

fn scaled(iterations: u64, n: usize, mut run: impl FnMut() -> Duration) -> Duration {
    let runs = iterations.div_ceil(n as u64);
    let total: Duration = (0..runs).map(|_| run()).sum();
    total.mul_f64(iterations as f64 / (runs * n as u64) as f64)
}

fn submissions(c: &mut Criterion) {
    let mut group = c.benchmark_group("submit to one page");
    for pages in [10, 1_000, 100_000, 1_000_000] {
        group.bench_function(BenchmarkId::new("folio", pages), |b| {
            let run = || one_page(N, pages).expect("the benchmark's program is right");
            b.iter_custom(|i| scaled(i, N, run));
        });
        group.bench_function(BenchmarkId::new("array", pages), |b| {
            b.iter_custom(|i| scaled(i, N, || page_array(N, pages)));
        });
    }
    group.finish();
}

fn tracking(c: &mut Criterion) {
    let mut group = c.benchmark_group("track one page");
    for pattern in PATTERNS {
        for side in [30, 1000] {
            let mut pages = Pages::new(side, pattern);
            let what = format!("{pattern:?} {side}x{side}");
            group.bench_function(BenchmarkId::new("folio", &what), |b| {
                b.iter_custom(|i| scaled(i, N, || pages.touch(N)));
            });
            group.bench_function(BenchmarkId::new("array", &what), |b| {
                b.iter_custom(|i| scaled(i, N, || pages.touch_plain(N)));
            });
        }
    }
    group.finish();
}

fn planning(c: &mut Criterion) {
    let mut group = c.benchmark_group("plan 100x100 pages");
    for pattern in PATTERNS {
        let mut pages = Pages::new(100, pattern);
        group.bench_function(BenchmarkId::new("folio", format!("{pattern:?}")), |b| {
            b.iter(|| pages.plan());
        });
        group.bench_function(BenchmarkId::new("rows", format!("{pattern:?}")), |b| {
            b.iter(|| pages.plan_plain());
        });
    }
    group.finish();
}

criterion_group!(benches, submissions, tracking, planning);
criterion_main!(benches);
