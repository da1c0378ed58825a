//! One table of ratios, quickly: `cargo bench -p folio-benches --bench summary [FILTER]`.

use folio_benches::baseline::{
    fifo_chain, fifo_outstanding, fifo_threads, page_array, rayon_chain,
};
use folio_benches::graphs::Tasks;
use folio_benches::pages::{Pages, Pattern, one_page};
use folio_benches::submit::{
    CHAIN, Shape, kernel_chain, outstanding, outstanding_in_one_page, stream, threads, usm_chain,
    wide,
};
use folio_benches::table::{compare, heading, line};
use folio_core::Result;
use std::time::Duration;

const ROUNDS: usize = 9;
const N: usize = 100_000;

fn ok<T>(result: Result<T>) -> T {
    result.expect("the benchmark's program is right")
}

type Group = (&'static str, fn());

const GROUPS: &[Group] = &[
    ("submit", submit),
    ("threads", many_threads),
    #[cfg(feature = "metrics")]
    ("held", held),
    ("outstanding", many),
    ("pages", pages),
    ("graphs", graphs),
];

fn submit() {
    let shape = |buffers, range, in_order| Shape { buffers, range, in_order };
    let fifo = "locked fifo of boxed closures";
    for (what, shape) in [
        ("chain, range 1", CHAIN),
        ("chain, range 64", shape(1, 64, false)),
        ("chain, range 1, in-order queue", shape(1, 1, true)),
        ("independent over 64 buffers, range 1", shape(64, 1, false)),
        ("independent over 64 buffers, range 64", shape(64, 64, false)),
    ] {
        let ours = || ok(stream(N, shape));
        line(what, compare(ROUNDS, N, ours, || fifo_chain(N, shape.range)), fifo);
    }
    let ours = || ok(kernel_chain(N));
    line(
        "chain of a kernel function, range 1",
        compare(ROUNDS, N, ours, || fifo_chain(N, 1)),
        fifo,
    );
    let closures = || ok(stream(N, CHAIN));
    line("the same", compare(ROUNDS, N, ours, closures), "the chain of closures");
    line("chain, USM", compare(ROUNDS, N, || ok(usm_chain(N)), || fifo_chain(N, 1)), fifo);
    let against = compare(ROUNDS, N, || ok(stream(N, CHAIN)), || rayon_chain(N));
    line("chain, range 1", against, "rayon scope, each spawns the next");
    for range in [1, 64] {
        let one = || ok(stream(N / 50, shape(1, range, false))) * 64;
        let against = compare(ROUNDS, N / 50, || ok(wide(N / 50, range)), one);
        let what = format!("64 accesses in each command, range {range}");
        line(&what, against, "64 commands of one access");
    }
}

fn many_threads() {
    for count in [1, 2, 4, 8] {
        let fifos = || fifo_threads(N, count);
        let against = compare(ROUNDS, N * count, || ok(threads(N, count)), fifos);
        line(&format!("{count} threads"), against, "a locked fifo for each");
    }
    for count in [2, 4, 8] {
        let one = || ok(threads(N, 1)) * count as u32;
        let against = compare(ROUNDS, N * count, || ok(threads(N, count)), one);
        let against = [against[0], against[1], 1.0 / against[2]];
        line(&format!("{count} threads, throughput"), against, "one thread");
    }
}

/// The share of time in which a submission holds the ledger. Measuring it costs two clock readings
/// each, so that the share is a little too high and the times above are not to be had beside it.
#[cfg(feature = "metrics")]
fn held() {
    use folio_core::metrics::ledger_held;
    for count in [1, 2, 4, 8] {
        let mut shares = Vec::new();
        for _ in 0..ROUNDS {
            let before = ledger_held();
            let time = ok(threads(N, count));
            shares.push((ledger_held() - before).as_secs_f64() / time.as_secs_f64());
        }
        let share = 100.0 * folio_benches::table::median(shares);
        println!("{:<46} {share:>9.0}%", format!("{count} threads, ledger held"));
    }
}

fn many() {
    for n in [1_000, 10_000, 100_000] {
        let per = |time: Duration| time * (N / n) as u32;
        let ours = || per(ok(outstanding(n))[0]);
        let theirs = || per(fifo_outstanding(n));
        let what = format!("{n} outstanding: submit");
        line(&what, compare(ROUNDS, N, ours, theirs), "push into the fifo");
    }
    let few = || ok(outstanding(1_000))[0] * 100;
    let flat = compare(ROUNDS, N, || ok(outstanding(N))[0], few);
    line("100000 outstanding: submit", flat, "at 1000 outstanding");
    let few = || ok(outstanding(1_000))[1] * 100;
    let flat = compare(ROUNDS, N, || ok(outstanding(N))[1], few);
    line("100000 outstanding: release and run", flat, "at 1000 outstanding");
    let few = || ok(outstanding_in_one_page(400)) * 25;
    let flat = compare(ROUNDS, 10_000, || ok(outstanding_in_one_page(10_000)), few);
    line("10000 outstanding ranges of one page: submit", flat, "at 400 outstanding");
}

fn pages() {
    for count in [10, 1_000, 100_000, 1_000_000] {
        let ours = || ok(one_page(N, count));
        let few = compare(ROUNDS, N, ours, || ok(one_page(N, 10)));
        line(&format!("one of {count} pages"), few, "one of 10 pages");
    }
    let plain = compare(ROUNDS, N, || ok(one_page(N, 1_000_000)), || page_array(N, 1_000_000));
    line("one of 1000000 pages", plain, "array of last writers, no task");
    for pattern in [Pattern::Uniform, Pattern::Stripes, Pattern::Checkerboard] {
        for side in [30, 1000] {
            let mut pages = Pages::new(side, pattern);
            let mut plain = Pages::new(side, pattern);
            let ours = || pages.touch(N);
            let what = format!("track one of {side}x{side} pages, {pattern:?}");
            line(&what, compare(ROUNDS, N, ours, || plain.touch_plain(N)), "plain array");
        }
        let (mut pages, mut plain) = (Pages::new(100, pattern), Pages::new(100, pattern));
        let (got, rows) = (pages.plan().1, plain.plan_plain().1);
        let against = compare(ROUNDS, 1, || pages.plan().0, || plain.plan_plain().0);
        let what = format!("plan 100x100 pages, {pattern:?}: {got} copies");
        line(&what, against, &format!("loop over rows: {rows} copies"));
    }
}

fn graphs() {
    for count in [26, 100, 929, 2_000, 100_000] {
        let mut tasks = ok(Tasks::new(count));
        let again = ok(Tasks::new(count));
        let against = compare(ROUNDS, count, || ok(tasks.record()), || ok(again.finalize()));
        line(&format!("record {count} tiny tasks, each"), against, "finalize them");
    }
    for count in [10, 100, 1000] {
        let tasks = ok(Tasks::new(count));
        let against = compare(ROUNDS, count, || ok(tasks.replay()), || ok(tasks.one_by_one()));
        line(&format!("replay of {count} tiny tasks, each"), against, "one by one");
    }
    for count in [2, 3, 10, 100] {
        let tasks = ok(Tasks::new(count));
        let against = compare(ROUNDS, count, || ok(tasks.batch()), || ok(tasks.one_by_one()));
        line(&format!("batch of {count} tiny tasks, each"), against, "one by one");
    }
}

fn main() {
    // Cargo passes `--bench`.
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    heading();
    for (name, run) in GROUPS {
        if words.is_empty() || words.iter().any(|w| name.contains(w.as_str())) {
            run();
        }
    }
}
