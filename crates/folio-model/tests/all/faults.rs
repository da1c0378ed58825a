//! Each call of a backend may fail, at once or later, or take its device with it (ERR-01 to
//! ERR-04): errors are typed and name the device, what was done there and for whom, nothing leaks,
//! nothing hangs, each failure is told once, what does not depend on it is right, and memory that
//! failure left without contents, or what was computed of that, is shown nowhere (BUF-07).
//!
//! Within a time, each case is a program with one fault; in a soak, a program with each in turn.

use folio_model::faulty;
use folio_model::features::{self, Tally};
use folio_model::suite::{Budget, absent, cases, line};
use std::time::Instant;

#[test]
fn suite_faults() {
    let budget = Budget::of("FAULTS");
    let start = Instant::now();
    let tally = Tally::default();
    let (done, wrong) = cases(budget, 2, &|seed| match budget.cases {
        Some(_) => faulty::sweep(seed, faulty::USUAL, &tally),
        None => faulty::sample(seed, faulty::USUAL, &tally),
    });
    println!("{}", line("faults", done, start.elapsed(), wrong.len(), budget.seed));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let absent = absent(&tally, features::FAULTS, done);
    assert!(absent.is_empty(), "in {done} programs there was never {absent:?}");
    let least = budget.cases.unwrap_or(budget.least);
    assert!(done >= least, "{done} faults, at least {least} asked");
}
