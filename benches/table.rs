//! Medians of runs that take turns, and a table of them.

use std::time::{Duration, Instant};

/// Whether a part of a benchmark is asked for: by no word, or by one that its name contains. Cargo
/// passes `--bench`.
pub fn is_wanted(part: &str) -> bool {
    let mut words = std::env::args().skip(1).filter(|word| !word.starts_with("--")).peekable();
    words.peek().is_none() || words.any(|word| part.contains(word.as_str()))
}

/// How long something takes.
pub fn timed(run: impl FnOnce()) -> Duration {
    let started = Instant::now();
    run();
    started.elapsed()
}

/// The median time, in nanoseconds per operation.
pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Runs both sides `rounds` times, in turns, so that what disturbs one disturbs the other; tells
/// the median nanoseconds per operation of each, and the median ratio of neighbours.
pub fn compare(
    rounds: usize,
    n: usize,
    mut ours: impl FnMut() -> Duration,
    mut theirs: impl FnMut() -> Duration,
) -> [f64; 3] {
    let per = |time: Duration| time.as_nanos() as f64 / n as f64;
    let pairs: Vec<[f64; 2]> = (0..rounds).map(|_| [per(ours()), per(theirs())]).collect();
    let all = |f: fn(&[f64; 2]) -> f64| median(pairs.iter().map(f).collect());
    [all(|p| p[0]), all(|p| p[1]), all(|p| p[0] / p[1])]
}

/// Prints the heading of the table.
pub fn heading() {
    println!("{:<46} {:>10} {:>10} {:>8}   against", "what", "ours", "theirs", "ratio");
}

/// Prints a line of the table.
pub fn line(what: &str, [ours, theirs, ratio]: [f64; 3], against: &str) {
    println!("{what:<46} {:>10} {:>10} {ratio:>8.2}   {against}", time(ours), time(theirs));
}

fn time(ns: f64) -> String {
    match ns {
        ..1e4 => format!("{ns:.0} ns"),
        ..1e7 => format!("{:.1} us", ns / 1e3),
        _ => format!("{:.1} ms", ns / 1e6),
    }
}
