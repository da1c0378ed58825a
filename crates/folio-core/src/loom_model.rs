//! How loom models run, here and in the crates above.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Runs a model in every interleaving, or in those with so many preemptions. The environment's
/// `LOOM_MAX_PREEMPTIONS` and `LOOM_MAX_DURATION` count, too. Says how far it got, for xtask.
#[allow(clippy::print_stdout, reason = "xtask reads it")]
pub fn check(preemptions: Option<usize>, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(preemptions);
    builder.max_branches = 20_000;
    // Loom looks at its clock at each checkpoint only.
    builder.checkpoint_interval = 100;
    let runs = Arc::new(AtomicUsize::new(0));
    let count = runs.clone();
    let started = Instant::now();
    builder.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        model();
    });
    let (runs, time) = (runs.load(Ordering::Relaxed), started.elapsed());
    let out_of_time = builder.max_duration.is_some_and(|most| time >= most);
    let cut = out_of_time && (runs + 1).is_multiple_of(builder.checkpoint_interval);
    let word = if cut { "cut short after" } else { "complete:" };
    println!("model {word} {runs} interleavings in {:.1} s", time.as_secs_f64());
}
