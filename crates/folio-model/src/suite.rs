//! Suites: many programs within a budget, and what is said of them.

use crate::features::{Feature, Tally};
use crate::generate::{self, Menu};
use crate::oracle;
use crate::program::Program;
use crate::run::{self, PATIENCE};
use crate::shrink;
use crate::world::Wrap;
use folio_core::canary;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How much a suite does, from the environment.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Seconds.
    pub time: Duration,
    /// A number of cases in place of a time.
    pub cases: Option<u64>,
    /// Fewer are a failure.
    pub least: u64,
    /// The first seed.
    pub seed: u64,
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.trim().parse().ok()
}

impl Budget {
    /// Of the suite with this name, in capitals.
    pub fn of(suite: &str) -> Budget {
        let secs = number(&format!("FOLIO_BUDGET_{suite}_SECS")).unwrap_or(5);
        Budget {
            time: Duration::from_secs(secs),
            cases: number("FOLIO_SOAK_CASES"),
            least: number(&format!("FOLIO_MIN_{suite}")).unwrap_or(1),
            seed: number("FOLIO_SEED").unwrap_or(1),
        }
    }
}

/// Runs a program and says what is wrong with it.
pub fn verdict(program: &Program, wrap: &Arc<dyn Wrap>, patience: Duration) -> Option<String> {
    match run::run(program, wrap, patience) {
        None => Some("it hangs".to_owned()),
        Some(record) => oracle::check(program, &record).err(),
    }
}

/// How long to wait for a program that fails so, and how many smaller ones to try.
fn effort(why: &str) -> (Duration, usize) {
    if why == "it hangs" { (Duration::from_secs(2), 60) } else { (PATIENCE, 1500) }
}

/// A small program that fails as this one does.
pub fn smallest(program: &Program, wrap: &Arc<dyn Wrap>, why: &str) -> Program {
    let hangs = why == "it hangs";
    let (patience, most) = effort(why);
    let fails = |p: &Program| {
        // A failure that depends on time shows at some runs only.
        (0..3).any(|_| match verdict(p, wrap, patience) {
            Some(found) => (found == "it hangs") == hangs && kind(&found) == kind(why),
            None => false,
        })
    };
    shrink::shrink(program, most, &fails)
}

/// Makes a failing program small, and describes it.
pub fn explain(program: &Program, wrap: &Arc<dyn Wrap>, why: &str) -> String {
    let small = smallest(program, wrap, why);
    let now = verdict(&small, wrap, effort(why).0).unwrap_or_else(|| "(not always)".to_owned());
    format!(
        "{why}\nsmallest program found: {now}\n{small:?}\nagain: the same test with \
         FOLIO_SEED={} FOLIO_SOAK_CASES=1",
        program.seed
    )
}

/// The subject of a complaint: its words without numbers.
pub fn kind(why: &str) -> String {
    let words = why.split(|c: char| !c.is_alphabetic()).filter(|w| w.len() > 3);
    words.filter(|w| w.chars().all(char::is_alphabetic)).take(3).collect()
}

/// Runs one case: a seed; an error is what is wrong.
pub type Case<'a> = dyn Fn(u64) -> Result<(), String> + Sync + 'a;

/// Runs cases on a few threads until the budget is used up; returns how many, and complaints.
pub fn cases(budget: Budget, threads: usize, case: &Case<'_>) -> (u64, Vec<String>) {
    let next = AtomicU64::new(0);
    let done = AtomicU64::new(0);
    let wrong: Mutex<Vec<String>> = Mutex::default();
    let until = Instant::now() + budget.time;
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let over = match budget.cases {
                        Some(cases) => at >= cases,
                        None => Instant::now() >= until,
                    };
                    let told = wrong.lock().unwrap_or_else(PoisonError::into_inner).len();
                    if over || told >= 3 {
                        return;
                    }
                    let ended = case(budget.seed.wrapping_add(at));
                    let mut wrong = wrong.lock().unwrap_or_else(PoisonError::into_inner);
                    wrong.extend(ended.err());
                    wrong.extend(canary::noted());
                    drop(wrong);
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Of threads of the engine that have outlived their cases.
    wrong.extend(canary::noted());
    (done.into_inner(), wrong)
}

/// The case of the programs' suite; counts what occurred.
pub fn program_case(
    seed: u64,
    menu: Menu,
    wrap: &Arc<dyn Wrap>,
    tally: &Tally,
) -> Result<(), String> {
    let program = generate::program(seed, menu);
    let wrong = match run::run(&program, wrap, PATIENCE) {
        None => Some("it hangs".to_owned()),
        Some(record) => {
            tally.add(&program, &record);
            oracle::check(&program, &record).err()
        }
    };
    wrong.map_or(Ok(()), |why| Err(explain(&program, wrap, &why)))
}

/// Cases in which all wanted features of a suite occur.
const ENOUGH: u64 = 5000;

/// Complains of what has not occurred in a suite of `done` cases.
pub fn absent(tally: &Tally, wanted: &[Feature], done: u64) -> Vec<Feature> {
    if done < ENOUGH { Vec::new() } else { tally.absent(wanted) }
}

/// The line that a suite prints.
pub fn line(name: &str, cases: u64, time: Duration, wrong: usize, seed: u64) -> String {
    let secs = time.as_secs_f64();
    format!("suite {name}: {cases} cases in {secs:.1} s, {wrong} divergences (seed {seed})")
}
