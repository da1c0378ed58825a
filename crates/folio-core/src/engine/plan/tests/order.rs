//! What comes after what.

use super::*;

/// DEP-02: a write comes after the readers; a read after the writer.
#[test]
fn reads_and_writes() {
    let mut t = Rig::new();
    let x = t.buffer("x", 8, 8);
    check!(t.kernel("w", 1, &[x.write(0..8)]), "w");
    check!(t.kernel("r", 1, &[x.read(0..8)]), "r after w");
    check!(t.kernel("s", 1, &[x.read(0..8)]), "s after w");
    check!(t.kernel("v", 1, &[x.write(0..8)]), "v after (r), (s), (w)");
    check!(t.kernel("q", 1, &[x.read(0..8)]), "q after v");
}

/// DEP-03: what has ended needs no waiting.
#[test]
fn what_has_ended_is_not_waited_for() {
    let mut t = Rig::new();
    let x = t.buffer("x", 8, 8);
    check!(t.kernel("w", 1, &[x.write(0..8)]), "w");
    t.ends("w");
    check!(t.kernel("u", 1, &[x.update(0..8)]), "u");
}

/// DEP-01: operations on different pages have nothing to do with each other.
#[test]
fn different_pages() {
    let mut t = Rig::new();
    let x = t.buffer("x", 8, 4);
    check!(t.kernel("v", 1, &[x.write(0..4)]), "v");
    check!(t.kernel("w", 1, &[x.write(4..8)]), "w");
    check!(t.kernel("r", 1, &[x.read(0..8)]), "r after v, w");
}

/// DEP-01: parts of one page are told apart by page only.
#[test]
fn parts_of_one_page_are_in_order() {
    let mut t = Rig::new();
    let x = t.buffer("x", 8, 8);
    check!(t.kernel("v", 1, &[x.update(0..4)]), "zero x[0..8]@1", "v after zero x@1");
    check!(t.kernel("w", 1, &[x.update(4..8)]), "w after v, zero x@1");
}

/// USM-02: an in-order queue keeps its order, with nothing in common.
#[test]
fn an_in_order_queue() {
    let mut t = Rig::new();
    t.in_order = true;
    let (x, y) = (t.buffer("x", 8, 8), t.buffer("y", 8, 8));
    check!(t.kernel("v", 1, &[x.write(0..8)]), "v");
    check!(t.kernel("w", 1, &[y.write(0..8)]), "w after (v)");
    check!(t.task("h", &[]), "h after (w)");
    check!(t.kernel("k", 2, &[]), "k after (h)");
}

/// DEP-03: a task of the host has no lane: what comes after it is deferred, and what is
/// independent of it is not.
#[test]
fn deferral() {
    let mut t = Rig::new();
    let (x, y) = (t.buffer("x", 8, 8), t.buffer("y", 8, 8));
    check!(t.task("h", &[x.write(0..8)]), "h");
    check!(
        t.kernel("k", 1, &[x.read(0..8)]),
        "copy x[0..8] 0->1 after h",
        "k after copy x 0->1, h"
    );
    check!(t.kernel("l", 1, &[y.write(0..8)]), "l");
    assert_eq!(t.ledger.counters.deferred, 2, "the copy, and the kernel after it");
    assert!(t.is_deferred("k") && !t.is_deferred("l"));
    t.ends("h");
    assert!(!t.is_deferred("k"), "it is placed");
    check!(t.kernel("m", 1, &[x.update(0..8)]), "m after (k), copy x 0->1");
}

/// DEP-03: lanes that cannot wait for each other defer, too.
#[test]
fn deferral_between_lanes() {
    let mut t = Rig::with(false);
    let x = t.buffer("x", 8, 8);
    check!(t.kernel("w", 1, &[x.write(0..8)]), "w");
    check!(
        t.kernel("r", 2, &[x.read(0..8)]),
        "copy x[0..8] 1->2 after w",
        "r after copy x 1->2, w"
    );
    assert!(t.is_deferred("r"));
    check!(t.kernel("s", 1, &[x.read(0..8)]), "s after w");
    assert!(!t.is_deferred("s"), "on the lane of the writer");
}

/// DEP-02: a copy comes after the copy that brought what it reads.
#[test]
fn a_copy_after_a_copy() {
    let mut t = Rig::linked();
    let slow = Link { bytes_per_us: 1, op_ns: 1_000_000 };
    t.ledger.topology.host_links[2] = slow;
    let x = t.filled("x", 8, 8);
    check!(t.kernel("k", 1, &[x.read(0..8)]), "copy x[0..8] 0->1", "k after copy x 0->1");
    check!(
        t.kernel("l", 2, &[x.read(0..8)]),
        "copy x[0..8] 1->2 after copy x 0->1",
        "l after copy x 1->2"
    );
}

/// DEP-02: a write on one device comes after the copy that reads its old value there.
#[test]
fn a_write_comes_after_the_copy_from_it() {
    let mut t = Rig::linked();
    let x = t.buffer("x", 8, 8);
    check!(t.kernel("w", 1, &[x.write(0..8)]), "w");
    t.ends("w");
    check!(t.kernel("r", 2, &[x.read(0..8)]), "copy x[0..8] 1->2", "r after copy x 1->2");
    check!(t.kernel("v", 1, &[x.write(0..8)]), "v after (copy x 1->2), (r)");
}

/// DEP-02: a copy into a memory comes after who still reads the old value there.
#[test]
fn a_copy_comes_after_readers_of_what_it_replaces() {
    let mut t = Rig::linked();
    let x = t.filled("x", 8, 8);
    check!(t.kernel("r", 1, &[x.read(0..8)]), "copy x[0..8] 0->1", "r after copy x 0->1");
    check!(t.kernel("w", 2, &[x.write(0..8)]), "w after (copy x 0->1), (r)");
    check!(
        t.kernel("s", 1, &[x.read(0..8)]),
        "copy x[0..8] 2->1 after (copy x 0->1), w",
        "s after copy x 2->1, w"
    );
}

/// DEP-04: a barrier comes after everything, and everything after it.
#[test]
fn a_fence() {
    let mut t = Rig::new();
    let (x, y) = (t.buffer("x", 8, 8), t.buffer("y", 8, 8));
    check!(t.kernel("v", 1, &[x.write(0..8)]), "v");
    let fence = t.stamp("v");
    t.ledger.queues.get_mut(0).expect("the queue").fence = fence;
    check!(t.kernel("w", 1, &[y.write(0..8)]), "w after (v)");
}

/// A guard refuses what conflicts with it, page by page.
#[test]
fn guards() {
    let mut t = Rig::new();
    let x = t.filled("x", 8, 4);
    t.hold(x, 0..4, false);
    check!(t.kernel("r", 1, &[x.read(0..8)]), "copy x[0..8] 0->1", "r after copy x 0->1");
    check!(t.kernel("w", 1, &[x.write(0..4)]), "refused");
    check!(t.kernel("v", 1, &[x.write(4..8)]), "v after (copy x 0->1), (r)");
}

/// A guard that writes refuses reads.
#[test]
fn guards_that_write() {
    let mut t = Rig::new();
    let x = t.filled("x", 8, 4);
    t.hold(x, 0..4, true);
    check!(t.kernel("r", 1, &[x.read(0..4)]), "refused");
    check!(t.kernel("s", 1, &[x.read(4..8)]), "copy x[4..8] 0->1", "s after copy x 0->1");
}

/// DEP-02: many readers of one lane are one.
#[test]
fn readers_of_one_lane_are_one() {
    let mut t = Rig::new();
    let x = t.buffer("x", 8, 8);
    check!(t.kernel("w", 1, &[x.write(0..8)]), "w");
    for at in 0..6 {
        t.kernel(&format!("r{at}"), 1, &[x.read(0..8)]);
    }
    check!(t.kernel("v", 1, &[x.write(0..8)]), "v after (r1), (r2), (r3), (r5), (w)");
}

/// DEP-04: a task of the host comes after the copy that brings its data.
#[test]
fn a_task_reads_what_a_device_wrote() {
    let mut t = Rig::new();
    let x = t.buffer("x", 8, 4);
    check!(t.kernel("w", 1, &[x.write(0..8)]), "w");
    check!(t.task("h", &[x.read(0..4)]), "copy x[0..4] 1->0 after w", "h after copy x 1->0, w");
    check!(
        t.task("g", &[x.update(0..8)]),
        "copy x[4..8] 1->0 after w",
        "g after (h), copy x 1->0, w"
    );
    check!(
        t.kernel("k", 1, &[x.read(0..8)]),
        "copy x[0..8] 0->1 after (w), copy x 1->0, g",
        "k after copy x 0->1, g"
    );
}

/// DEP-02: a diamond.
#[test]
fn a_diamond() {
    let mut t = Rig::linked();
    let [a, b, c] = ["a", "b", "c"].map(|name| t.buffer(name, 4, 4));
    check!(t.kernel("top", 1, &[a.write(0..4)]), "top");
    check!(t.kernel("left", 1, &[a.read(0..4), b.write(0..4)]), "left after top");
    check!(
        t.kernel("right", 2, &[a.read(0..4), c.write(0..4)]),
        "copy a[0..4] 1->2 after top",
        "right after copy a 1->2, top"
    );
    check!(
        t.kernel("join", 1, &[b.read(0..4), c.read(0..4), a.update(0..4)]),
        "copy c[0..4] 2->1 after right",
        "join after (copy a 1->2), copy c 2->1, left, right, top"
    );
}

/// MEM-01: who uses only an empty part of what is to make room is waited for, too.
#[test]
fn users_of_an_empty_part() {
    let mut t = Rig::new();
    let x = t.filled("x", 8, 8);
    check!(t.task("h", &[x.read(0..0)]), "h");
    assert_eq!(t.ledger.timeline.user_of(x.id), Some(t.stamp("h")));
    t.ends("h");
    assert_eq!(t.ledger.timeline.user_of(x.id), None);
    check!(t.kernel("k", 1, &[x.read(0..0)]), "k");
    assert_eq!(t.ledger.timeline.user_of(x.id), Some(t.stamp("k")));
}
