//! What has failed, and what was lost.

use super::*;

/// ERR-02: who reads what a failed command should have written fails, and brings nothing.
#[test]
fn readers_of_a_failure_bring_nothing() {
    let mut t = Rig::new();
    let (x, y) = (t.buffer("x", 8, 8), t.filled("y", 8, 8));
    check!(t.kernel("w", 1, &[x.write(0..8)]), "w");
    t.fails("w");
    check!(t.kernel("r", 2, &[x.read(0..8), y.read(0..8)]), "r after failed w");
    assert!(t.has_failed("r"));
}

/// ERR-02: a write of everything ends a failure: nothing remains of what it may have left.
#[test]
fn a_write_ends_a_failure() {
    let mut t = Rig::new();
    let x = t.buffer("x", 8, 8);
    check!(t.kernel("w", 1, &[x.write(0..8)]), "w");
    t.fails("w");
    check!(t.kernel("v", 1, &[x.write(0..8)]), "v after (failed w)");
    check!(t.kernel("r", 1, &[x.read(0..8)]), "r after v");
}

/// ERR-02: so does one that may leave elements alone, over zeros.
#[test]
fn a_discard_after_a_failure_is_over_zeros() {
    let mut t = Rig::new();
    let x = t.buffer("x", 8, 8);
    check!(t.kernel("w", 1, &[x.write(0..8)]), "w");
    t.fails("w");
    check!(
        t.kernel("v", 1, &[x.discard(0..8)]),
        "zero x[0..8]@1 after (failed w)",
        "v after (failed w), zero x@1"
    );
}

/// ERR-02, PAGE-06: memory into which a copy is under way, of data that are outdated, is zeroed
/// before a part of a page is written there: that copy may fail.
#[test]
fn a_part_is_written_where_an_outdated_copy_arrives() {
    let mut t = Rig::new();
    let x = t.filled("x", 8, 8);
    check!(t.kernel("r", 1, &[x.read(0..8)]), "copy x[0..8] 0->1", "r after copy x 0->1");
    check!(t.kernel("w", 2, &[x.write(0..8)]), "w after (copy x 0->1), (r)");
    check!(
        t.kernel("v", 1, &[x.write(2..4)]),
        "zero x[0..8]@1 after (copy x 0->1), (w)",
        "v after (w), zero x@1"
    );
    t.fails("copy x 0->1");
    t.all_ends();
    assert!(t.has_failed("r") && !t.has_failed("v"));
    check!(t.kernel("s", 1, &[x.read(0..8)]), "copy x[0..2 + 4..8] 2->1", "s after copy x 2->1");
}

/// ERR-02: what was on its way when the writer failed fails with it.
#[test]
fn a_failure_reaches_what_is_under_way() {
    let mut t = Rig::new();
    let x = t.buffer("x", 8, 8);
    check!(t.kernel("w", 1, &[x.write(0..8)]), "w");
    check!(
        t.kernel("r", 2, &[x.read(0..8)]),
        "copy x[0..8] 1->2 after w",
        "r after copy x 1->2, w"
    );
    check!(t.kernel("v", 1, &[x.write(0..8)]), "v after (copy x 1->2), (r), (w)");
    t.fails("w");
    t.all_ends();
    assert!(t.has_failed("r") && !t.has_failed("v"));
}

/// ERR-02, XFER-04: a copy that has failed brought nothing: the data are brought again from where
/// they still are.
#[test]
fn a_copy_that_failed_is_made_again() {
    let mut t = Rig::new();
    let x = t.filled("x", 8, 8);
    check!(t.kernel("r", 1, &[x.read(0..8)]), "copy x[0..8] 0->1", "r after copy x 0->1");
    t.fails("copy x 0->1");
    t.all_ends();
    assert!(t.has_failed("r"));
    check!(
        t.kernel("s", 1, &[x.read(0..8)]),
        "copy x[0..8] 0->1 after (failed r)",
        "s after copy x 0->1"
    );
}

/// ERR-02, PAGE-06: of a page in pieces, a failed copy loses nothing.
#[test]
fn a_failed_copy_of_a_piece() {
    let mut t = Rig::linked();
    let x = t.filled("x", 8, 8);
    check!(t.kernel("w", 1, &[x.write(0..4)]), "zero x[0..8]@1", "w after zero x@1");
    t.ends("w");
    check!(
        t.kernel("r", 2, &[x.read(0..8)]),
        "copy x[4..8] 0->2",
        "copy x[0..4] 1->2",
        "r after copy x 0->2, copy x 1->2"
    );
    t.fails("copy x 1->2");
    t.all_ends();
    check!(
        t.kernel("s", 2, &[x.read(0..8)]),
        "copy x[4..8] 0->2 after (failed r)",
        "copy x[0..4] 1->2 after (failed r)",
        "s after copy x 0->2, copy x 1->2"
    );
    check!(
        t.kernel("u", 1, &[x.update(0..8)]),
        "copy x[4..8] 0->1 after (copy x 0->2), (copy x 1->2), (s)",
        "u after (copy x 0->2), (copy x 1->2), (s), copy x 0->1"
    );
}

/// ERR-02: zeros that failed are made again.
#[test]
fn zeros_that_failed() {
    let mut t = Rig::new();
    let x = t.buffer("x", 8, 8);
    check!(t.kernel("r", 1, &[x.read(0..8)]), "zero x[0..8]@1", "r after zero x@1");
    t.fails("zero x@1");
    t.all_ends();
    check!(
        t.kernel("s", 1, &[x.read(0..8)]),
        "zero x[0..8]@1 after (failed r)",
        "s after zero x@1"
    );
}

/// ERR-02: who has failed for another reason leaves the pages of others alone.
#[test]
fn other_pages_are_fine() {
    let mut t = Rig::new();
    let x = t.buffer("x", 8, 4);
    check!(t.kernel("v", 1, &[x.write(0..4)]), "v");
    check!(t.kernel("w", 1, &[x.write(4..8)]), "w");
    t.fails("v");
    t.all_ends();
    check!(t.kernel("r", 1, &[x.read(4..8)]), "r");
    check!(t.kernel("s", 1, &[x.read(0..8)]), "s after failed v");
}

/// ERR-04: what only a lost device had is gone, and told; what others have too is not.
#[test]
fn what_a_lost_device_had() {
    let mut t = Rig::linked();
    let (x, y) = (t.buffer("x", 8, 8), t.filled("y", 8, 8));
    check!(
        t.kernel("w", 1, &[x.write(0..8), y.read(0..8)]),
        "copy y[0..8] 0->1",
        "w after copy y 0->1"
    );
    t.all_ends();
    t.lose(1);
    check!(t.kernel("r", 2, &[y.read(0..8)]), "copy y[0..8] 0->2", "r after copy y 0->2");
    check!(t.kernel("s", 2, &[x.read(0..8)]), "s after failed loss of x");
    check!(t.kernel("v", 2, &[x.write(0..8)]), "v after (failed loss of x), (failed s)");
    check!(t.kernel("q", 2, &[x.read(0..8)]), "q after v");
}

/// ERR-04: a lost device is no source, however fast.
#[test]
fn a_lost_device_is_no_source() {
    let mut t = Rig::linked();
    let fast = Link { bytes_per_us: 1 << 20, op_ns: 1 };
    t.ledger.topology.links.insert((DomainId(1), DomainId(2)), fast);
    let x = t.filled("x", 8, 8);
    check!(t.kernel("k", 1, &[x.read(0..8)]), "copy x[0..8] 0->1", "k after copy x 0->1");
    t.all_ends();
    t.lose(1);
    check!(t.kernel("l", 2, &[x.read(0..8)]), "copy x[0..8] 0->2", "l after copy x 0->2");
}

/// ERR-04: of a page in pieces, the piece of a lost device is gone.
#[test]
fn a_lost_piece() {
    let mut t = Rig::linked();
    let x = t.filled("x", 8, 8);
    check!(t.kernel("w", 1, &[x.write(0..4)]), "zero x[0..8]@1", "w after zero x@1");
    t.all_ends();
    t.lose(1);
    check!(t.kernel("v", 2, &[x.write(0..4)]), "zero x[0..8]@2", "v after zero x@2");
    check!(
        t.task("h", &[x.read(0..8)]),
        "copy x[0..4] 2->0 after v, zero x@2",
        "h after copy x 2->0, v"
    );
}

/// ERR-02: a failed task of the host.
#[test]
fn a_failed_task() {
    let mut t = Rig::new();
    let x = t.buffer("x", 8, 8);
    check!(t.task("h", &[x.write(0..8)]), "h");
    check!(
        t.kernel("k", 1, &[x.read(0..8)]),
        "copy x[0..8] 0->1 after h",
        "k after copy x 0->1, h"
    );
    t.fails("h");
    assert!(t.has_failed("k"));
    check!(t.kernel("l", 1, &[x.read(0..8)]), "l after failed h");
}
