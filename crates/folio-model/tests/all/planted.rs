//! For each kind of bug that the model is to find there is one that it finds.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio_model::faulty::{self, Faulty, Misnamed};
use folio_model::features::Tally;
use folio_model::generate::{self, Menu, Target};
use folio_model::planted::{Bug, Planted};
use folio_model::run::PATIENCE;
use folio_model::suite::verdict;
use folio_model::world::Wrap;
use std::sync::Arc;
use std::time::Duration;

/// Runs programs with the bug until one shows it as `shows` says.
fn caught(bug: Bug, target: Target, failures: usize, shows: impl Fn(&str) -> bool) {
    let planted: Arc<dyn Wrap> = Arc::new(Planted(bug));
    // Some are planted in place of a closure.
    let menu = Menu { failures, threads: 0, functions: 0, ..Menu::of(target) };
    // A hang costs its patience; all else is over in milliseconds.
    let hangs = matches!(bug, Bug::LostWakeUp | Bug::FreedEarly);
    let patience = Duration::from_secs(if hangs { 3 } else { 20 });
    let mut others = Vec::new();
    let caught = (1..=3000).any(|seed| {
        let why = verdict(&generate::program(seed, menu), &planted, patience);
        let caught = why.as_deref().is_some_and(&shows);
        others.extend(why.filter(|_| !caught));
        caught
    });
    assert!(caught, "{bug:?} was not caught; otherwise found: {others:?}");
}

fn wrong_value(why: &str) -> bool {
    why.contains("expected 0x") || why.contains("read something else")
}

#[test]
fn planted_missing_alias_check_is_caught() {
    caught(Bug::MissingAliasCheck, Target::Sim, 0, |why| why.contains("expected Aliasing"));
}

#[test]
fn planted_missing_war_edge_is_caught() {
    caught(Bug::MissingWarEdge, Target::Sim, 0, wrong_value);
}

#[test]
fn planted_page_current_too_early_is_caught() {
    caught(Bug::CurrentTooEarly, Target::Sim, 0, wrong_value);
}

#[test]
fn planted_neighbour_page_current_is_caught() {
    caught(Bug::NeighbourCurrent, Target::Sim, 0, |why| wrong_value(why) || why.contains("Tally"));
}

#[test]
fn planted_dropped_transfer_is_caught() {
    caught(Bug::DroppedTransfer, Target::Sim, 0, wrong_value);
}

#[test]
fn planted_dropped_transfer_of_a_cpu_is_caught() {
    caught(Bug::DroppedTransfer, Target::Cpu, 0, wrong_value);
}

/// A transfer between a device and a CPU.
pub(crate) fn dropped_transfer(targets: &[Target]) {
    let beside = targets.iter().find(|target| matches!(target, Target::Machines { cpu: true, .. }));
    caught(Bug::DroppedTransfer, *beside.unwrap(), 0, wrong_value);
}

#[test]
fn planted_needless_transfer_is_caught() {
    caught(Bug::NeedlessTransfer, Target::Sim, 0, |why| why.contains("Tally"));
}

#[test]
fn planted_discard_that_loses_a_border_page_is_caught() {
    caught(Bug::LostBorder, Target::Sim, 0, wrong_value);
}

#[test]
fn planted_unzeroed_memory_is_caught() {
    caught(Bug::Unzeroed, Target::Sim, 0, |why| why.contains("0xa5a5a5a5"));
}

#[test]
fn planted_lost_wake_up_is_caught() {
    caught(Bug::LostWakeUp, Target::Sim, 0, |why| why == "it hangs");
}

#[test]
fn planted_early_free_is_caught() {
    caught(Bug::FreedEarly, Target::Sim, 0, |why| why.contains("freed after its users"));
}

#[test]
fn planted_leak_of_a_runtime_that_is_dropped_is_caught() {
    caught(Bug::Leaked, Target::Cpu, 0, |why| why.starts_with("leaked 0 bytes, allocations: ["));
}

#[test]
fn planted_swallowed_error_is_caught() {
    caught(Bug::SwallowedError, Target::Sim, 100, |why| why.contains("ended with Fine"));
}

#[test]
fn planted_dropped_order_of_raw_commands_is_caught() {
    caught(Bug::DroppedAfter, Target::Sim, 0, wrong_value);
}

#[test]
fn planted_scope_that_does_not_wait_is_caught() {
    caught(Bug::ScopeThatDoesNotWait, Target::Sim, 0, wrong_value);
}

/// POL-03
#[test]
fn planted_lost_writeback_is_caught() {
    caught(Bug::LostWriteback, Target::Sim, 0, |why| {
        (why.contains("came back") || why.contains("step")) && wrong_value(why)
    });
}

/// MEM-01
#[test]
fn planted_eviction_of_only_copies_is_caught() {
    caught(Bug::DirtyEviction, Target::Sim, 0, |why| why.contains("Fine for Need"));
}

/// MEM-01
#[test]
fn planted_eviction_that_does_not_happen_is_caught() {
    caught(Bug::NoEviction, Target::Sim, 0, |why| why.contains("OutOfMemory"));
}

/// LINK-04
#[test]
fn planted_dropped_switch_is_caught() {
    caught(Bug::DroppedSwitch, Target::Sim, 0, |why| {
        wrong_value(why) || why.contains("simulator: ")
    });
}

/// ERR-04: tasks' errors, panics' payloads and captures of what has not run.
#[test]
fn planted_drop_under_a_lock_is_caught() {
    caught(Bug::DropsUnderLock, Target::Sim, 100, |why| why.contains("is dropped under a lock"));
}

/// ERR-01: whenever the failure of a fault has a wrong name of this kind, that is found, and
/// nothing is found where it has none.
fn is_named(name: Misnamed) {
    let mut lies = 0;
    for seed in 1..=12 {
        let program = faulty::program(seed, faulty::USUAL);
        for planned in faulty::plans(&program).unwrap().iter().step_by(9) {
            let faulty = Arc::new(Faulty::with(planned.clone()).misnamed(name));
            let verdict = faulty::verdict_of(&program, &faulty, PATIENCE, &Tally::default());
            assert_eq!(verdict.is_err(), faulty.lies() > 0, "{planned:?} {verdict:?}\n{program:?}");
            lies += faulty.lies();
        }
    }
    assert!(lies > 20, "{lies}");
}

#[test]
fn planted_failure_of_another_device_is_caught() {
    is_named(Misnamed::Device);
}

#[test]
fn planted_failure_of_another_operation_is_caught() {
    is_named(Misnamed::Operation);
}

#[test]
fn planted_failure_with_another_label_is_caught() {
    is_named(Misnamed::Label);
}

#[test]
fn planted_failure_of_another_kind_is_caught() {
    is_named(Misnamed::Cause);
}
