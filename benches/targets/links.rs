//! Linked memory on a CPU by way of OpenCL, beside the same without links:
//! `cargo bench -p folio-benches --bench links`.

use folio::prelude::*;
use folio_benches::table::{compare, heading, line};
use folio_core::{Linkage, Links};
use folio_opencl::OpenClBackend;
use std::time::{Duration, Instant};

const ROUNDS: usize = 15;
/// 64 MiB.
const N: usize = 1 << 24;
const TURNS: usize = 4;

#[kernel]
fn add(i: Item, n: u32, x: InOut<u32>) {
    x[i] += n;
}

fn ok<T>(result: folio::Result<T>) -> T {
    result.expect("the benchmark's program is right")
}

/// A buffer that a device and the host use in turn.
struct Bench {
    q: Queue,
    x: Buffer<u32>,
    /// What each element is by now.
    value: u32,
}

impl Bench {
    fn new(links: Links) -> Bench {
        let rt = ok(Runtime::builder().backend(OpenClBackend::new()).links(links).build());
        let (q, mut x) = (ok(rt.queue()), ok(rt.buffer(N)));
        ok(q.run(N, add(0, &mut x)));
        let linked = ok(x.linkage(&q.device())) == Linkage::Linked;
        assert_eq!(linked, links != Links::Off, "{:?}", x.linkage(&q.device()));
        Bench { q, x, value: 0 }
    }

    fn adds(&mut self) {
        ok(self.q.run(N, add(1, &mut self.x)));
        self.value += 1;
    }

    /// A kernel on all of it, and the host reads one element.
    fn reads_one(&mut self) {
        self.adds();
        assert_eq!(ok(self.x.get(N / 2)), self.value);
    }

    /// A kernel on all of it, and the host reads and writes all of it.
    fn writes_all(&mut self) {
        self.adds();
        let mut all = ok(self.x.write());
        all.iter_mut().for_each(|x| *x += 1);
        self.value += 1;
        assert_eq!(all[N / 2], self.value);
    }
}

fn timed(bench: &mut Bench, turn: fn(&mut Bench)) -> Duration {
    let started = Instant::now();
    (0..TURNS).for_each(|_| turn(bench));
    started.elapsed()
}

fn main() {
    let (mut linked, mut apart) = (Bench::new(Links::Auto), Bench::new(Links::Off));
    heading();
    for (what, turn) in [
        ("kernel, host reads and writes all", Bench::writes_all as fn(&mut Bench)),
        ("kernel, host reads an element", Bench::reads_one),
    ] {
        let (ours, theirs) = (|| timed(&mut linked, turn), || timed(&mut apart, turn));
        line(what, compare(ROUNDS, TURNS, ours, theirs), "FOLIO_LINKS=off");
    }
}
