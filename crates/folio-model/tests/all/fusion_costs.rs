//! What fusion costs and gains on a device, as it is measured there (FUSE-10).
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::graphs_fused::builder;
use folio::prelude::*;
use std::process::Command;

/// Runs `body` in a process that keeps nothing on disk: what a busy machine measures here is not
/// what other tests plan by.
pub(crate) fn by_itself(test: &str, body: impl FnOnce()) {
    const ALONE: &str = "FOLIO_COSTS_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return body();
    }
    let mut own = Command::new(std::env::current_exe().unwrap());
    own.args([test, "--exact", "--nocapture"]);
    let out = own.env(ALONE, "1").env("FOLIO_CACHE", "off").output().unwrap();
    let said = [out.stdout, out.stderr].map(|text| String::from_utf8(text).unwrap());
    println!("{}", said.concat());
    assert!(out.status.success() && said[0].contains("1 passed"));
}

/// Constants are measured on each device, and then graphs are fused by them.
pub(crate) fn measured_costs_decide(rt: &Runtime) {
    for device in rt.devices() {
        let usual = device.fusion_costs();
        let costs = device.measure_fusion_costs().unwrap();
        println!("{}: {costs:?}", device.name());
        assert!(costs.launch_ns > 0 && costs.memory_rate > 0, "{costs:?}");
        assert!(costs.cache_rate >= costs.memory_rate, "{costs:?}");
        assert_eq!((costs.registers, device.fusion_costs()), (usual.registers, costs));
    }
}

#[test]
fn measured_costs_are_those_that_decide() {
    by_itself("fusion_costs::measured_costs_are_those_that_decide", || {
        measured_costs_decide(&builder(1).build().unwrap());
    });
}
