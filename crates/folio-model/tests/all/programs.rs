//! Random programs against the oracle (DEP-01, DEP-02, PAGE-01 to PAGE-06, XFER-01 to XFER-04,
//! BUF-03, BUF-06, BUF-07, DEP-04, MEM-01, POL-07, USM-01, USM-02, ERR-02, ERR-03).

use folio_model::features::{self, Tally};
use folio_model::generate::{Menu, Target};
use folio_model::suite::{Budget, absent, cases, line, program_case};
use folio_model::world::{Plain, Wrap};
use std::sync::Arc;
use std::time::Instant;

/// Seeds say which kind of runtime a program is for, so that one seed is one program.
fn menu(seed: u64) -> Menu {
    Menu::of(match seed % 8 {
        0..=4 => Target::Sim,
        5 | 6 => Target::Cpu,
        _ => Target::Mixed,
    })
}

#[test]
fn suite_programs() {
    let budget = Budget::of("PROGRAMS");
    let plain: Arc<dyn Wrap> = Arc::new(Plain);
    let start = Instant::now();
    let tally = Tally::default();
    let case = |seed| program_case(seed, menu(seed), &plain, &tally);
    let (done, wrong) = cases(budget, 2, &case);
    println!("{}", line("programs", done, start.elapsed(), wrong.len(), budget.seed));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    for (feature, programs) in tally.counts() {
        println!("  {programs} with {feature}");
    }
    let absent = absent(&tally, features::ALL, done);
    assert!(absent.is_empty(), "in {done} programs there was never {absent:?}");
    let least = budget.cases.unwrap_or(budget.least);
    assert!(done >= least, "{done} programs, at least {least} asked");
}
