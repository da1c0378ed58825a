//! The simulated device under the engine's suite, in many configurations, bare and validated.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support;
use crate::support::{ADDRESSES, LeftOut};
use folio_conformance::engine::{Factory, names, run_engine_where};
use folio_core::hal::{Link, MemoryHome};
use folio_sim::{Builder, DeviceSpec, OpKind, Script, SimBackend, SimHandle};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Run apart: see `lies_keep_the_contract`.
const LIARS: &[&str] = &["lies_show_nothing_foreign", "reports_outside_the_question_are_cut"];

#[track_caller]
fn passes(builder: &Builder) {
    passes_but(builder, &[]);
}

/// As [`passes`], where more is left out.
#[track_caller]
fn passes_but(builder: &Builder, further: &[LeftOut]) {
    let left_out = support::left_out(&builder.clone().build(), further);
    run(builder, &|name| !LIARS.contains(&name), &left_out);
}

/// Runs the suite, bare and validated; the device must be silent, too.
#[track_caller]
fn run(builder: &Builder, wanted: &dyn Fn(&str) -> bool, left_out: &BTreeMap<&'static str, usize>) {
    let handles: Arc<Mutex<Vec<SimHandle>>> = Arc::default();
    let (builder, own) = (builder.clone(), handles.clone());
    let build = move || {
        let sim = builder.clone().build();
        own.lock().unwrap().push(sim.handle());
        sim
    };
    support::passes_where(build, wanted, left_out);
    for handle in handles.lock().unwrap().iter() {
        assert_eq!(handle.violations(), []);
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

/// Operations that overtake each other, by a seed of their own.
#[track_caller]
fn passes_in_chaos(seed: u64) {
    let script = Script::new().seed(seed).jitter(9).overlap(true).visible_every(3);
    passes(&four(DeviceSpec::new()).peers(Link::default()).script(script));
}

#[test]
fn chaos() {
    passes_in_chaos(0);
}

#[test]
fn chaos_of_a_second_kind() {
    passes_in_chaos(1);
}

#[test]
fn chaos_of_a_third_kind() {
    passes_in_chaos(2);
}

#[test]
fn lanes_that_show_late() {
    let script = Script::new().seed(2).jitter(4).lags(&[5, 60, 0].repeat(16));
    passes(&four(DeviceSpec::new()).peers(Link::default()).script(script));
}

/// With slow copies this case waits as long as all others together: it has a test of its own.
const POLLED: &str = "streams_that_are_polled";

fn with_slow_copies() -> Builder {
    four(DeviceSpec::new()).script(Script::new().latency(OpKind::Copy, 50))
}

#[test]
fn slow_copies() {
    let builder = with_slow_copies();
    let left_out = support::left_out(&builder.clone().build(), &[]);
    run(&builder, &|name| name != POLLED && !LIARS.contains(&name), &left_out);
}

#[test]
fn slow_copies_of_polled_streams() {
    assert!(names().contains(&POLLED));
    run(&with_slow_copies(), &|name| name == POLLED, &BTreeMap::new());
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
fn one_lane_for_kernels() {
    passes(&four(DeviceSpec::new().compute_lanes(1)));
}

#[test]
fn one_lane_for_everything() {
    passes(&four(DeviceSpec::new().copy_lanes(false)));
    passes(&four(DeviceSpec::new().compute_lanes(1).copy_lanes(false)));
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
fn couriers() {
    passes(&four(DeviceSpec::new().courier(Some(1))));
    passes(&four(DeviceSpec::new().courier(Some(1)).max_in_flight(2)).notifies(true));
    passes(&four(DeviceSpec::new().courier(Some(1)).one_at_a_time(true)));
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
    let builder = four(DeviceSpec::new().addresses(false).hints(false));
    passes_but(&builder, &ADDRESSES);
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
    run(&four(DeviceSpec::new()), &|name| LIARS.contains(&name), &BTreeMap::new());
    let home = DeviceSpec::new().home(MemoryHome::Host);
    run(&four(home), &|name| LIARS.contains(&name), &BTreeMap::new());
}
