//! What a suite says is missing, and the reasons for it.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use folio_conformance::hal::Summary;

/// A missing feature has a reason, and each reason is needed.
#[test]
fn what_is_left_out_is_held_against_its_reasons() {
    let unsupported = ["graphs", "hints", "graphs"].map(|what| ("a test", what.to_owned()));
    let summary = Summary { unsupported: unsupported.into(), ..Summary::default() };
    let (graphs, hints) = (("graphs", "not yet"), ("hints", "none"));
    assert_eq!(summary.check_left_out(&[graphs, hints]), Ok(()));
    let unexplained = summary.check_left_out(&[graphs]).unwrap_err();
    assert_eq!(unexplained, "left out without a reason: hints");
    let stale = summary.check_left_out(&[graphs, ("timing", "no clock"), hints]).unwrap_err();
    assert_eq!(stale, "no longer left out: timing (no clock)");
}
