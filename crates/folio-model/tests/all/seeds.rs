//! What a suite prints of a failure shows it again: its seed alone, and its small program.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio_model::features::Tally;
use folio_model::generate::{self, Menu, Target};
use folio_model::planted::{Bug, Planted};
use folio_model::program::Program;
use folio_model::run::PATIENCE;
use folio_model::suite::{Budget, cases, explain, kind, program_case, smallest, verdict};
use folio_model::world::Wrap;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// Set where this test is a suite that somebody runs once more.
const AGAIN: &str = "FOLIO_TEST_AGAIN";

/// A bug that shows in the same way at every run.
fn planted() -> Arc<dyn Wrap> {
    Arc::new(Planted(Bug::LostBorder))
}

fn program(seed: u64) -> Program {
    generate::program(seed, menu())
}

fn menu() -> Menu {
    Menu { failures: 0, threads: 0, functions: 0, steady: true, ..Menu::of(Target::Sim) }
}

/// What a suite prints that meets the bug.
fn suite(budget: Budget) -> Vec<String> {
    let (planted, tally) = (planted(), Tally::default());
    cases(budget, 1, &|seed| program_case(seed, menu(), &planted, &tally)).1
}

#[test]
fn the_printed_seed_shows_the_failure_again() {
    if std::env::var_os(AGAIN).is_some() {
        let wrong = suite(Budget::of("PLANTED"));
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
        return;
    }
    let most = Budget { time: Duration::ZERO, cases: Some(3000), least: 1, seed: 1 };
    let wrong = suite(most);
    assert!(!wrong.is_empty(), "the bug was not caught");
    for told in &wrong {
        let (_, settings) = told.split_once("again: the same test with ").unwrap();
        let settings = settings.split_whitespace().map(|word| word.split_once('=').unwrap());
        let again = Command::new(std::env::current_exe().unwrap())
            .args(["seeds::the_printed_seed_shows_the_failure_again", "--exact", "--nocapture"])
            .env(AGAIN, "1")
            .envs(settings)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&again.stderr);
        assert!(!again.status.success(), "it passes: {told}");
        assert!(text.contains(told.lines().next().unwrap()), "{told}\nand again\n{text}");
    }
}

#[test]
fn the_smallest_program_fails_alike_and_needs_each_of_its_steps() {
    let planted = planted();
    let fails = |program: &Program| verdict(program, &planted, PATIENCE).map(|why| kind(&why));
    let mut all = (1..=3000).map(program);
    let (program, alike) = all.find_map(|p| Some((p.clone(), fails(&p)?))).unwrap();
    let why = verdict(&program, &planted, PATIENCE).unwrap();
    let small = smallest(&program, &planted, &why);
    assert!(small.steps.len() < program.steps.len(), "{small:?}");
    assert_eq!(fails(&small).as_ref(), Some(&alike), "{small:?}");
    assert!(explain(&program, &planted, &why).contains(&format!("{small:?}")), "{small:?}");
    for at in 0..small.steps.len() {
        let mut less = small.clone();
        less.steps.remove(at);
        assert_ne!(fails(&less).as_ref(), Some(&alike), "step {at} of {small:?}");
    }
}
