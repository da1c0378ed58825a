//! Tiny tasks, run one way so often, for a profiler that counts instructions:
//! `cargo bench -p folio-benches --bench tasks -- WAY TASKS RUNS`. Ways are `batch`, `one`,
//! `replay`, `record`, `finalize`; and batches of which the scalar of a task, those of all, or all
//! buffers change: `scalar`, `scalars`, `buffers`, and these one by one: `one-scalar` and so on.

use folio_benches::graphs::Tasks;

fn main() {
    // Cargo passes `--bench`.
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with("--")).collect();
    let [way, tasks, runs] = &words[..] else {
        return println!("say which way, how many tasks, how many runs");
    };
    let number = |word: &str| word.parse().expect("a number");
    let mut tasks = Tasks::new(number(tasks)).expect("the benchmark's program is right");
    let ran = tasks.runs(way, number(runs));
    println!("{:?} each", ran.expect("the benchmark's program is right"));
}
