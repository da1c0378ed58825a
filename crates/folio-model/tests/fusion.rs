//! Fused kernels against the same kernels one after the other (FUSE-11).
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio_kernel::fuse::{Fate, Reason, plan};
use folio_model::fusion::{case, generate};
use folio_model::suite::{Budget, cases, line};
use std::collections::BTreeMap;
use std::time::Instant;

/// FUSE-11: random graphs leave the same bits, fused and not.
#[test]
fn suite_fusion() {
    let budget = Budget::of("FUSION");
    let start = Instant::now();
    let (done, wrong) = cases(budget, 2, &case);
    println!("{}", line("fusion", done, start.elapsed(), wrong.len(), budget.seed));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let least = budget.cases.unwrap_or(budget.least);
    assert!(done >= least, "{done} graphs, at least {least} asked");
}

/// What the suite's graphs are: fused in every way, and refused for every reason.
#[test]
fn random_graphs_fuse_in_all_ways_and_are_refused_for_all_reasons() {
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    let mut count = |what| *seen.entry(what).or_default() += 1;
    for seed in 0..1500 {
        let case = generate(seed).unwrap();
        let plan = plan(&case.graph, &case.facts, case.options).unwrap();
        for fused in plan.fused() {
            count("fused");
            if fused.kernel.shape.groups {
                count("groups");
            }
            if fused.kernel.to_string().contains("limit") {
                count("guards");
            }
            if fused.kernel.to_string().contains("contribute") {
                count("reductions");
            }
            for outcome in &fused.outcomes {
                count(match outcome.fate {
                    Fate::Register => "register",
                    Fate::Local { stored: true, .. } => "local, stored",
                    Fate::Local { .. } => "local",
                    Fate::Forwarded { .. } => "forwarded",
                    Fate::Memory => "memory",
                });
            }
        }
        for pair in &plan.unfused {
            count(match pair.reason {
                Reason::Between { .. } => "between",
                Reason::Range { .. } => "range",
                Reason::Ranges { .. } => "ranges",
                Reason::Tree { .. } => "tree",
                Reason::Conflict { .. } => "conflict",
                Reason::Barrier { .. } => "barrier",
                Reason::Atomics { .. } => "atomics",
                Reason::Result { .. } => "result",
                Reason::NoGain => "no gain",
                _ => "other",
            });
        }
    }
    println!("{seen:?}");
    assert!(!seen.contains_key("other"), "{seen:?}");
    for (what, least) in [
        ("fused", 500),
        ("groups", 200),
        ("guards", 100),
        ("reductions", 50),
        ("register", 100),
        ("local", 20),
        ("forwarded", 100),
        ("between", 20),
        ("range", 20),
        ("ranges", 5),
        ("tree", 10),
        ("conflict", 100),
        ("barrier", 20),
        ("atomics", 10),
        ("result", 10),
        ("no gain", 20),
    ] {
        assert!(seen.get(what).is_some_and(|n| *n >= least), "{what}: {seen:?}");
    }
}
