//! Fused kernels against the same kernels one after the other.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::emit::{compare, launch};
use folio_kernel::emit::{Dialect, Form};
use folio_kernel::fuse::{
    Fate, Graph, OtherWork, Planted, Reason, Shapes, Sharing, Work, plan, planted,
};
use folio_model::compilers::opencl::OpenCl;
use folio_model::fusion::{Case, Ended, arguments_of, case, check, generate};
use folio_model::interp::{self, Order, same};
use folio_model::suite::{Budget, cases, line};
use launch::How;
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

/// The suite's graphs are fused in every way, and refused for every reason.
#[test]
fn random_graphs_fuse_in_all_ways_and_are_refused_for_all_reasons() {
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    let mut count = |what| *seen.entry(what).or_default() += 1;
    for seed in 0..1500 {
        let case = generate(seed).unwrap();
        let plan = plan(&case.graph, &case.facts, case.options).unwrap();
        count(match check(&case, &plan, &case.graph).unwrap() {
            Ended::Endless => "endless",
            Ended::Failed => "failed",
            Ended::Same => "same",
        });
        for fused in plan.fused() {
            count("fused");
            if fused.kernel.shape.groups {
                count("groups");
            }
            if !fused.inlined.is_empty() {
                count(if fused.kernel.shape.groups { "inlined, groups" } else { "inlined" });
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
            count(match &pair.reason {
                Reason::Between { .. } => "between",
                Reason::Shapes(Shapes::Range { .. }) => "range",
                Reason::Shapes(Shapes::Ranges { .. }) => "ranges",
                Reason::Shapes(Shapes::Tree { .. }) => "tree",
                Reason::Memory { why: Sharing::Conflict { .. }, .. } => "conflict",
                Reason::Memory { why: Sharing::Barrier { .. }, .. } => "barrier",
                Reason::Memory { why: Sharing::Atomics, .. } => "atomics",
                Reason::Memory { why: Sharing::Result, .. } => "result",
                Reason::NoGain(balance) if balance.lost_ns > 0 => "too many registers",
                Reason::NoGain(_) => "no gain",
                _ => "other",
            });
        }
    }
    println!("{seen:?}");
    assert!(!seen.contains_key("other"), "{seen:?}");
    for (what, least) in [
        ("same", 800),
        ("failed", 50),
        ("fused", 500),
        ("inlined", 1),
        ("inlined, groups", 1),
        ("groups", 200),
        ("guards", 100),
        ("reductions", 50),
        ("register", 100),
        ("local", 20),
        ("forwarded", 100),
        ("between", 20),
        ("range", 20),
        ("ranges", 2),
        ("tree", 10),
        ("conflict", 100),
        ("barrier", 20),
        ("atomics", 10),
        ("result", 10),
        ("no gain", 20),
        ("too many registers", 20),
    ] {
        assert!(seen.get(what).is_some_and(|n| *n >= least), "{what}: {seen:?}");
    }
}

/// Whether the oracle finds a mistake in one of some graphs.
fn found(mistake: impl Fn(&Case) -> Result<Ended, String>) -> bool {
    (0..3000).any(|seed| mistake(&generate(seed).unwrap()).is_err())
}

fn with(planted_now: Planted) -> bool {
    found(|case| {
        let plan = planted(&case.graph, &case.facts, case.options, planted_now);
        check(case, &plan.unwrap(), &case.graph)
    })
}

#[test]
fn planted_missing_guard_is_caught() {
    assert!(with(Planted { no_guards: true, ..Planted::default() }));
}

#[test]
fn planted_forwarding_across_items_is_caught() {
    assert!(with(Planted { forwards_across_items: true, ..Planted::default() }));
}

#[test]
fn planted_internalising_what_is_needed_later_is_caught() {
    assert!(with(Planted { nothing_is_needed: true, ..Planted::default() }));
}

#[test]
fn planted_hazards_across_items_are_caught() {
    assert!(with(Planted { no_read_after_write: true, ..Planted::default() }));
    assert!(with(Planted { no_write_after_read: true, ..Planted::default() }));
}

/// A host task that depends on nothing runs at another place.
#[test]
fn planted_reordered_host_task_is_caught() {
    assert!(found(|case| {
        let mut graph: Graph = case.graph.clone();
        let is_host = |graph: &Graph, at: usize| {
            matches!(graph.nodes[at].work, Work::Other(OtherWork::HostTask, _))
        };
        for at in 0..graph.nodes.len() {
            let mut after = std::mem::take(&mut graph.nodes[at].after);
            after.retain(|before| !is_host(&graph, *before) && !is_host(&graph, at));
            graph.nodes[at].after = after;
        }
        check(case, &plan(&graph, &case.facts, case.options).unwrap(), &case.graph)
    }));
}

/// The same graph with other ranges of the kernels that run over a part of the items.
fn resized(case: &Case) -> Option<Case> {
    let mut other = case.clone();
    let calls = || case.graph.nodes.iter().filter_map(|node| node.call());
    let full = calls().map(|call| call.geometry.range).max()?;
    let mut changed = false;
    for node in &mut other.graph.nodes {
        let Work::Kernel(call) = &mut node.work else { continue };
        for (range, full) in call.geometry.range.iter_mut().zip(full) {
            if *range < full && full > 2 {
                let before = *range;
                *range = if before + 1 < full { before + 1 } else { 1 };
                changed |= before != *range;
            }
        }
    }
    changed.then_some(other)
}

/// FUSE-08: the code of a fused kernel is that of another range, too: where its guards take their
/// limits as arguments. With the old limits it would be wrong.
#[test]
fn cached_kernel_of_another_range_is_right_and_old_limits_are_caught() {
    let (mut same_code, mut caught) = (0, 0);
    for seed in 0..2000 {
        let case = generate(seed).unwrap();
        let Some(other) = resized(&case) else { continue };
        let plans = [&case, &other].map(|c| plan(&c.graph, &c.facts, c.options).unwrap());
        check(&other, &plans[1], &other.graph).unwrap();
        let keys = plans.each_ref().map(|plan| plan.fused().map(|f| f.key()).collect::<Vec<_>>());
        let guarded = plans[0].fused().any(|fused| fused.kernel.to_string().contains("limit"));
        if guarded && keys[0] == keys[1] {
            same_code += 1;
            caught += u32::from(check(&other, &plans[1], &case.graph).is_err());
        }
    }
    println!("{same_code} with the same code, {caught} with old limits caught");
    assert!(same_code > 20 && caught > 5);
}

/// FUSE-08: equal graphs give equal code.
#[test]
fn equal_graphs_give_equal_code() {
    for seed in 0..300 {
        let texts = [0; 2].map(|_| {
            let case = generate(seed).unwrap();
            let plan = plan(&case.graph, &case.facts, case.options).unwrap();
            let texts = plan.fused().map(|fused| fused.kernel.to_string());
            (texts.collect::<Vec<_>>(), format!("{:?}", plan.unfused))
        });
        assert_eq!(texts[0], texts[1]);
    }
}

/// OpenCL computes the same as the interpreter with fused kernels.
#[test]
fn opencl_runs_fused_kernels() {
    let device = match OpenCl::first() {
        Ok(device) => device,
        Err(why) => return println!("skipped: opencl: {why}"),
    };
    let mut ran = 0;
    for seed in 0..25 {
        let case = generate(seed).unwrap();
        let plan = plan(&case.graph, &case.facts, case.options).unwrap();
        for fused in plan.fused() {
            let mut kernel = (*fused.kernel).clone();
            compare::exact(&mut kernel);
            let (launch, args) = arguments_of(fused, &case.graph, &case.contents);
            let mut wanted = args.clone();
            let Ok(there) = interp::run(&kernel, &launch, &mut wanted, Order::Forward, 300_000)
            else {
                continue;
            };
            if there.failure.is_some() {
                continue;
            }
            let form = Form::new(Dialect::OpenCl, true);
            let how = How { form, block: 4, margin: 1 };
            let found = launch::run(device, &kernel, &launch, &args, &how).unwrap();
            assert_eq!(found.violation, None);
            same(&kernel, &wanted, &found.args).unwrap();
            ran += 1;
        }
    }
    println!("{ran} fused kernels");
    assert!(ran > 10, "{ran}");
}
