//! The simulated device under the engine's suite, in many configurations, bare and validated.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use folio_conformance::engine::{Factory, names, run_engine_where};
use folio_core::hal::{Backend, Link, MemoryHome};
use folio_layers::{Report, Validate};
use folio_sim::{Builder, DeviceSpec, OpKind, Script, SimBackend, SimHandle};
use std::sync::{Arc, Mutex};

/// What the engine is known to get wrong: nothing.
const EXPECTED: &[(&str, &str)] = &[];

/// Run apart: see `lies_keep_the_contract`.
const LIARS: &[&str] = &["lies_show_nothing_foreign", "reports_outside_the_question_are_cut"];

/// Runs the suite, bare and validated; the device and the validation must be silent.
#[track_caller]
fn passes(builder: &Builder) {
    run(builder, EXPECTED, &|name| !LIARS.contains(&name));
}

#[track_caller]
fn run(builder: &Builder, expected: &[(&str, &str)], wanted: &dyn Fn(&str) -> bool) {
    let handles: Arc<Mutex<Vec<SimHandle>>> = Arc::default();
    let reports: Arc<Mutex<Vec<Arc<Report>>>> = Arc::default();
    let sim = {
        let (builder, handles) = (builder.clone(), handles.clone());
        move || {
            let sim = builder.clone().build();
            handles.lock().unwrap().push(sim.handle());
            sim
        }
    };
    let bare: Factory = {
        let sim = sim.clone();
        Arc::new(move || Box::new(sim()))
    };
    let validated: Factory = {
        let reports = reports.clone();
        Arc::new(move || -> Box<dyn Backend> {
            let validate = Validate::new();
            reports.lock().unwrap().push(Arc::new(validate.report()));
            Box::new(validate.over(sim()))
        })
    };
    for factory in [bare, validated] {
        let summary = run_engine_where(factory, expected, wanted);
        println!("{summary}");
        assert!(summary.is_ok(), "{summary}");
        let wanted = names().into_iter().filter(|name| wanted(name)).count();
        let known = summary.unsupported.len() + summary.expected.len();
        assert_eq!(summary.passed.len() + known, wanted);
    }
    for handle in handles.lock().unwrap().iter() {
        assert_eq!(handle.violations(), []);
    }
    for report in reports.lock().unwrap().iter() {
        assert!(report.is_silent(), "{report:?}");
    }
}

fn four(spec: DeviceSpec) -> Builder {
    SimBackend::builder().devices(4, spec)
}

#[test]
fn one_device() {
    passes(&SimBackend::builder());
}

#[test]
fn four_devices_with_links() {
    passes(&four(DeviceSpec::new()).peers(Link::default()));
}

#[test]
fn four_devices_through_the_host() {
    passes(&four(DeviceSpec::new()));
}

/// XFER-04: so dear that even threads of the host pack them.
#[test]
fn dear_rows() {
    let link = Link { row_ns: 1_000_000, ..Link::default() };
    passes(&four(DeviceSpec::new().host_link(link)).peers(link));
    passes(&four(DeviceSpec::new().host_link(link)));
}

#[test]
fn chaos() {
    for seed in 0..3 {
        let script = Script::new().seed(seed).jitter(9).overlap(true).visible_every(3);
        passes(&four(DeviceSpec::new()).peers(Link::default()).script(script));
    }
}

#[test]
fn slow_copies() {
    passes(&four(DeviceSpec::new()).script(Script::new().latency(OpKind::Copy, 50)));
}

#[test]
fn without_native_waits() {
    let script = Script::new().seed(5).jitter(4);
    passes(&four(DeviceSpec::new().wait_group(None)).script(script));
}

#[test]
fn without_native_waits_between_devices() {
    let device = |group| DeviceSpec::new().wait_group(Some(group));
    let builder = SimBackend::builder().device(device(0)).device(device(1)).device(device(2));
    passes(&builder.peers(Link::default()));
}

#[test]
fn one_lane_for_everything() {
    passes(&four(DeviceSpec::new().copy_lanes(false)));
}

#[test]
fn batching() {
    passes(&four(DeviceSpec::new().batch(5)));
    passes(&four(DeviceSpec::new().batch(5).wait_group(None)));
}

#[test]
fn few_in_flight() {
    passes(&four(DeviceSpec::new().max_in_flight(2)));
}

#[test]
fn telling_of_progress() {
    passes(&four(DeviceSpec::new()).peers(Link::default()).notifies(true));
}

#[test]
fn in_the_hosts_memory_and_unified() {
    let builder = SimBackend::builder()
        .device(DeviceSpec::new().home(MemoryHome::Host))
        .device(DeviceSpec::new().unified(true))
        .device(DeviceSpec::new().home(MemoryHome::Own(9)))
        .device(DeviceSpec::new().home(MemoryHome::Own(9)));
    passes(&builder);
}

/// BUF-03: pointers are `Unsupported`, and everything else works. USM-02: without hints.
#[test]
fn without_addresses_and_hints() {
    passes(&four(DeviceSpec::new().addresses(false).hints(false)));
}

/// PAGE-05: results are right in the sense of the tests, bare.
#[test]
fn lies_show_nothing() {
    let mixed = SimBackend::builder()
        .device(DeviceSpec::new().home(MemoryHome::Host))
        .devices(2, DeviceSpec::new());
    for builder in [four(DeviceSpec::new()), mixed.script(Script::new().seed(3).jitter(7))] {
        let factory: Factory = Arc::new(move || Box::new(builder.clone().build()));
        let summary = run_engine_where(factory, &[], &|name| LIARS.contains(&name));
        assert!(summary.is_ok(), "{summary}");
    }
}

/// PAGE-05
#[test]
fn lies_keep_the_contract() {
    run(&four(DeviceSpec::new()), &[], &|name| LIARS.contains(&name));
    let home = DeviceSpec::new().home(MemoryHome::Host);
    run(&four(home), &[], &|name| LIARS.contains(&name));
}
