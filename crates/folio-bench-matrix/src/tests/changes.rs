//! Changes between two runs, from samples that are made up.

use super::{control, row, usual};
use crate::compare::{compare, over_gate};
use crate::output::table::table;
use crate::record::{Change, Matrix};

fn changes(now: &mut Matrix, saved: &Matrix) -> Vec<Change> {
    compare(now, saved);
    now.rows.iter().map(|row| row.saved.map_or(Change::None, |saved| saved.change)).collect()
}

/// BENCH-02: another run of the same build has changed nothing, even on a machine that is half as
/// fast by now.
#[test]
fn two_runs_of_one_build_differ_by_noise_only() {
    for by in [1.0, 2.0, 0.5] {
        let (saved, mut now) = (usual(1.0, 1), usual(by, 4));
        assert_eq!(changes(&mut now, &saved), [Change::None; 4], "{by}");
        assert!(over_gate(&now, 5.0).is_empty());
        assert!(table(&now, Some(5.0)).contains("gate: no row is more than 5 % slower"));
    }
}

/// BENCH-02: a slow-down of ours and one of a baseline are found, told apart, and over the gate.
#[test]
fn slow_downs_of_either_side_are_over_the_gate() {
    let saved = usual(1.0, 1);
    let mut now = usual(1.0, 2);
    now.rows[0] = row("copy", [150.0, 90.0], 2);
    now.rows[1] = row("mul", [100.0, 165.0], 2);
    now.rows[2] = row("add", [100.0, 200.0], 2);
    let expected = [Change::Slower, Change::BaselineSlower, Change::Faster, Change::None];
    assert_eq!(changes(&mut now, &saved), expected);
    let over: Vec<&str> = over_gate(&now, 20.0).iter().map(|row| row.mode.as_str()).collect();
    assert_eq!(over, ["copy", "mul"]);
    assert!(over_gate(&now, 60.0).is_empty());
    let text = table(&now, Some(20.0));
    for words in ["copy, 2^16 f32: slower: 1.5", "by hand slower: 1.5", "gate FAILED"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

/// BENCH-02: what a control row is off by is noise everywhere.
#[test]
fn changes_within_what_the_controls_are_off_by_are_noise() {
    let saved = usual(1.0, 1);
    let mut now = usual(1.0, 2);
    now.rows[0] = row("copy", [150.0, 90.0], 2);
    now.rows.push(control(1.8));
    assert_eq!(changes(&mut now, &saved)[0], Change::None);
    assert!(table(&now, None).contains("Controls are up to 80 % off 1.0"));
}
