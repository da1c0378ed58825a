//! The cost of a submission, beside hand-written code. Each group holds both:
//! `cargo bench -p folio-benches --bench submit`. With `--features metrics` it also tells how long
//! the ledger is held.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use folio_benches::baseline::{fifo_chain, fifo_outstanding, fifo_threads, rayon_chain};
use folio_benches::submit::{
    Shape, kernel_chain, outstanding, outstanding_in_one_page, stream, threads, usm_chain, wide,
};
use folio_core::Result;
use std::time::Duration;

/// Commands in one run; criterion's iterations are scaled to runs of this many.
const N: usize = 20_000;

fn ok<T>(result: Result<T>) -> T {
    result.expect("the benchmark's program is right")
}

/// The time of `iterations` operations, from runs of `n`.
fn scaled(iterations: u64, n: usize, mut run: impl FnMut() -> Duration) -> Duration {
    let runs = iterations.div_ceil(n as u64);
    let total: Duration = (0..runs).map(|_| run()).sum();
    total.mul_f64(iterations as f64 / (runs * n as u64) as f64)
}

fn streams(c: &mut Criterion) {
    for (name, buffers, in_order) in
        [("chain", 1, false), ("in order", 1, true), ("independent", 64, false)]
    {
        let mut group = c.benchmark_group(name);
        group.throughput(Throughput::Elements(1));
        for range in [1, 64] {
            let shape = Shape { buffers, range, in_order };
            group.bench_function(BenchmarkId::new("folio", range), |b| {
                b.iter_custom(|i| scaled(i, N, || ok(stream(N, shape))));
            });
            group.bench_function(BenchmarkId::new("fifo", range), |b| {
                b.iter_custom(|i| scaled(i, N, || fifo_chain(N, range)));
            });
        }
        group.finish();
    }
}

fn others(c: &mut Criterion) {
    let mut group = c.benchmark_group("other chains");
    group.bench_function("folio, a kernel function", |b| {
        b.iter_custom(|i| scaled(i, N, || ok(kernel_chain(N))));
    });
    group.bench_function("folio, USM", |b| {
        b.iter_custom(|i| scaled(i, N, || ok(usm_chain(N))));
    });
    for range in [1, 64] {
        group.bench_function(format!("folio, 64 accesses, range {range}"), |b| {
            b.iter_custom(|i| scaled(i, N / 20, || ok(wide(N / 20, range))));
        });
    }
    group.bench_function("rayon", |b| b.iter_custom(|i| scaled(i, N, || rayon_chain(N))));
    group.finish();
}

fn from_threads(c: &mut Criterion) {
    let mut group = c.benchmark_group("threads");
    for count in [1, 2, 4, 8] {
        group.bench_function(BenchmarkId::new("folio", count), |b| {
            b.iter_custom(|i| scaled(i, N * count, || ok(threads(N, count))));
        });
        group.bench_function(BenchmarkId::new("fifo each", count), |b| {
            b.iter_custom(|i| scaled(i, N * count, || fifo_threads(N, count)));
        });
    }
    group.finish();
}

fn outstanding_work(c: &mut Criterion) {
    let mut group = c.benchmark_group("outstanding");
    group.sample_size(10);
    for n in [1_000, 10_000, 100_000] {
        for (at, what) in ["folio, submit", "folio, run"].into_iter().enumerate() {
            group.bench_function(BenchmarkId::new(what, n), |b| {
                b.iter_custom(|i| scaled(i, n, || ok(outstanding(n))[at]));
            });
        }
        group.bench_function(BenchmarkId::new("fifo", n), |b| {
            b.iter_custom(|i| scaled(i, n, || fifo_outstanding(n)));
        });
    }
    for n in [400, 10_000] {
        group.bench_function(BenchmarkId::new("folio, ranges of one page", n), |b| {
            b.iter_custom(|i| scaled(i, n, || ok(outstanding_in_one_page(n))));
        });
    }
    group.finish();
}

/// The share of time in which a submission holds the ledger. To measure it costs two clock
/// readings each: the share is a little too high, and the times above are longer for it.
#[cfg(feature = "metrics")]
fn held(_: &mut Criterion) {
    use folio_core::metrics::ledger_held;
    for count in [1, 2, 4, 8] {
        let before = ledger_held();
        let time = ok(threads(5 * N, count));
        let share = (ledger_held() - before).as_secs_f64() / time.as_secs_f64();
        println!("{count} threads, ledger held: {:.0} %", 100.0 * share);
    }
}

#[cfg(not(feature = "metrics"))]
fn held(_: &mut Criterion) {}

criterion_group!(benches, streams, others, from_threads, outstanding_work, held);
criterion_main!(benches);
