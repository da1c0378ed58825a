//! What it takes to plan and emit a chain of ten kernels. The time is printed, and not tested.

use super::graph::{Chain, MUL};
use folio_kernel::emit::{Capabilities, Dialect, Form, emit};
use folio_kernel::fuse::Mode;
use std::time::{Duration, Instant};

/// FUSE-08: ten kernels are planned, fused, and emitted as CUDA C.
#[test]
fn ten_kernels_are_fused_and_emitted() {
    let n = 1 << 20;
    let mut chain = Chain::new();
    let (mut from, by) = (chain.memory("x", n), chain.memory("by", n));
    for step in 1..=10 {
        let label = format!("m{step}");
        let to = if step < 10 { chain.temporary(&label, n) } else { chain.memory(&label, n) };
        chain.call("mul", MUL, n, &[from, by, to]);
        from = to;
    }
    let mut best = Duration::MAX;
    for _ in 0..20 {
        let start = Instant::now();
        let plan = chain.plan(Mode::Enable).unwrap();
        let form = Form::new(Dialect::Cuda, true);
        let texts: Vec<_> =
            plan.fused().map(|fused| emit(&fused.kernel, form, &Capabilities::CUDA)).collect();
        best = best.min(start.elapsed());
        assert_eq!((plan.steps.len(), texts.len()), (1, 1));
        assert!(texts.iter().all(Result::is_ok));
    }
    println!("ten kernels fused and emitted in {} us", best.as_micros());
}
