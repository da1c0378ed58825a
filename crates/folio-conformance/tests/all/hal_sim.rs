//! The simulated device under the suite, in every configuration, bare and through layers.

use folio_conformance::hal::{names, run_hal};
use folio_core::hal::{Backend, Link, MemoryHome};
use folio_layers::{Faults, Trace, Validate};
use folio_sim::{Builder, DeviceSpec, OpKind, Script, SimBackend};
use std::cell::RefCell;
use std::sync::Arc;

fn two(spec: DeviceSpec) -> Builder {
    SimBackend::builder().devices(2, spec).peers(Link::default())
}

/// Runs the suite bare, validated, traced and with a layer of faults that has none; the device and
/// the validation must be silent. Each test in `unsupported` is, and no other.
#[track_caller]
fn passes(builder: Builder, unsupported: &[&str]) {
    let handles = RefCell::new(Vec::new());
    let sim = || {
        let sim = builder.clone().build();
        handles.borrow_mut().push(sim.handle());
        sim
    };
    let reports = RefCell::new(Vec::new());
    let validated = |inner: Arc<dyn Backend>| -> Box<dyn Backend> {
        let validate = Validate::new();
        reports.borrow_mut().push(validate.report());
        Box::new(folio_layers::Layer::new(validate, inner))
    };
    let factories: [&dyn Fn() -> Box<dyn Backend>; 4] = [
        &|| Box::new(sim()),
        &|| validated(Arc::new(sim())),
        &|| Box::new(Trace::new().polls().over(sim())),
        &|| validated(Arc::new(Faults::new().over(Trace::new().over(sim())))),
    ];
    for factory in factories {
        let summary = run_hal(factory, &[]);
        assert!(summary.is_ok(), "{summary}");
        if summary.only.is_some() {
            continue;
        }
        let skipped: Vec<_> = summary.unsupported.iter().map(|(name, _)| *name).collect();
        assert_eq!(skipped, unsupported, "{summary}");
        assert_eq!(summary.passed.len() + summary.unsupported.len(), names().len());
    }
    for handle in handles.borrow().iter() {
        assert_eq!(handle.violations(), []);
        assert_eq!(handle.live_allocations(), (0, 0), "{:?}", handle.live_labels());
    }
    for report in reports.borrow().iter() {
        assert!(report.is_silent(), "{report:?}");
    }
}

const QUIET: &str = "progress_is_told";

#[test]
fn the_default() {
    let alone = ["devices_wait_for_each_other", QUIET, "copies_between_devices"];
    passes(SimBackend::builder(), &alone);
}

#[test]
fn two_devices_in_any_order() {
    for seed in 0..4 {
        let script = Script::new().seed(seed).jitter(9).overlap(true);
        passes(two(DeviceSpec::new()).script(script), &[QUIET]);
    }
}

#[test]
fn late_and_rarely_visible() {
    let script = Script::new().late(7).latency(OpKind::Copy, 50).visible_every(13);
    passes(two(DeviceSpec::new()).script(script), &[QUIET]);
}

#[test]
fn lanes_that_show_late() {
    let late = two(DeviceSpec::new()).script(Script::new().lags(&[0, 30, 7, 0, 11].repeat(40)));
    passes(late.clone(), &[QUIET]);
    passes(late.notifies(true), &[]);
}

#[test]
fn batching() {
    passes(two(DeviceSpec::new().batch(5)), &[QUIET]);
}

#[test]
fn telling_of_progress() {
    passes(two(DeviceSpec::new()).notifies(true), &[]);
    let script = Script::new().seed(1).jitter(3).overlap(true).visible_every(4);
    passes(two(DeviceSpec::new().batch(3)).script(script).notifies(true), &[]);
}

#[test]
fn without_waits_links_closures_and_timing() {
    let spec = DeviceSpec::new()
        .wait_group(None)
        .closures(false)
        .timing(false)
        .copy_lanes(false)
        .hints(false);
    let skipped = [
        "lanes_wait_for_each_other",
        "devices_wait_for_each_other",
        QUIET,
        "operations_are_timed",
        "copies_between_devices",
        "launches_cover_each_item_once",
        "blocks_are_whole_groups",
        "kernels_find_their_parameters",
        "launches_of_one_lane_run_in_order",
        "accepted_kernels_are_taken",
        "closures_are_dropped_at_completion",
        "panics_are_failures_told_once",
        "violations_are_failures_told_once",
        "a_failure_stays_with_its_operation",
        "hints_are_operations",
    ];
    passes(SimBackend::builder().devices(2, spec), &skipped);
}

#[test]
fn in_the_hosts_memory_and_unified() {
    passes(two(DeviceSpec::new().home(MemoryHome::Host)), &[QUIET]);
    passes(two(DeviceSpec::new().unified(true)), &[QUIET]);
}

#[test]
fn small_memory() {
    passes(two(DeviceSpec::new().memory(1 << 18)), &[QUIET]);
}

/// A backend that is wrong in one way, to see that the suite sees it and that expectations work.
#[test]
fn failures_are_seen_and_expectations_checked() {
    let broken = || -> Box<dyn Backend> {
        let faults = Faults::new();
        let kind = folio_core::hal::HalErrorKind::Driver;
        faults.handle().inject(
            folio_layers::Site::Op(OpKind::Fill),
            3,
            folio_layers::Fault::Later(kind),
        );
        Box::new(faults.over(SimBackend::builder().build()))
    };
    let summary = run_hal(&broken, &[]);
    let failed: Vec<_> = summary.failed.iter().map(|(name, _)| *name).collect();
    assert!(failed.contains(&"fills_with_patterns_of_1_to_32_bytes"), "{summary}");
    let names_its_line = |why: &str| why.contains("crates/folio-conformance/src/hal/");
    assert!(summary.failed.iter().any(|(_, why)| names_its_line(why)), "{summary}");
    let mut expected: Vec<_> = failed.iter().map(|name| (*name, "the third fill fails")).collect();
    assert!(run_hal(&broken, &expected).is_ok());
    expected.push(("a_lane_runs_in_order_", "no such test"));
    expected.push(("memory_is_accounted_for", "it is"));
    assert_eq!(run_hal(&broken, &expected).surprises.len(), 2);
}
