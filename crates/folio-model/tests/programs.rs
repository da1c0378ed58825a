//! Random programs against the oracle (DEP-01, DEP-02, PAGE-01 to PAGE-06, XFER-01 to XFER-04,
//! BUF-06, BUF-07, ERR-02, ERR-03).

use folio_model::generate::{Menu, Target};
use folio_model::suite::{Budget, cases, line, program_case};
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
    let (done, wrong) = cases(budget, 2, &|seed| program_case(seed, menu(seed), &plain));
    println!("{}", line("programs", done, start.elapsed(), wrong.len(), budget.seed));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let least = budget.cases.unwrap_or(budget.least);
    assert!(done >= least, "{done} programs, at least {least} asked");
}
