//! Linked memory: one place with two sides, of which one is active.

use super::*;
use crate::engine::terms::link::Link;

/// A buffer whose memory on the host and on device 1 is one, and the device's turn.
fn linked(t: &mut Rig, name: &str, len: usize, page: usize) -> Buf {
    let x = t.filled(name, len, page);
    t.ledger.storages[x.id.0].link = Some(Link::new(DomainId(1), true));
    x
}

/// LINK-04, LINK-05: a change of sides is a map or an unmap, and no copy.
#[test]
fn sides_take_turns() {
    let mut t = Rig::new();
    let x = linked(&mut t, "x", 8, 4);
    check!(t.kernel("k", 1, &[x.update(0..8)]), "k");
    check!(t.task("h", &[x.read(0..4)]), "map x@1 after (k)", "h after k, map x");
    check!(t.task("g", &[x.read(4..8)]), "g after k, map x");
    check!(
        t.kernel("l", 1, &[x.update(0..8)]),
        "unmap x@1 after (g), (h), (k), map x",
        "l after (g), (h), k, unmap x"
    );
    check!(t.kernel("m", 1, &[x.update(0..8)]), "m after l, unmap x");
    assert_eq!((t.ledger.counters.maps, t.ledger.counters.unmaps), (1, 1));
    assert_eq!(t.ledger.counters.transfers().operations, 0);
}

/// LINK-04, POL-05: memory that is lent to be read is mapped to be read.
#[test]
fn memory_that_is_only_read() {
    let mut t = Rig::new();
    let x = linked(&mut t, "x", 8, 8);
    t.ledger.storages[x.id.0].only_read = true;
    check!(t.task("h", &[x.read(0..8)]), "map x@1", "h after map x");
    assert_eq!(t.ledger.storages[x.id.0].link.map(|link| link.turn.active), Some(Side::HostReads));
    check!(t.kernel("k", 1, &[x.read(0..8)]), "unmap x@1 after (h), map x", "k after unmap x");
}

/// LINK-04: another device reads through the host's side.
#[test]
fn another_device_reads_through_the_host() {
    let mut t = Rig::linked();
    let x = linked(&mut t, "x", 8, 8);
    check!(t.kernel("k", 1, &[x.update(0..8)]), "k");
    check!(
        t.kernel("l", 2, &[x.read(0..8)]),
        "map x@1 after (k)",
        "copy x[0..8] 0->2 after k, map x",
        "l after copy x 0->2, k, map x"
    );
    check!(
        t.kernel("m", 1, &[x.read(0..8)]),
        "unmap x@1 after (copy x 0->2), (k), (l), map x",
        "m after k, unmap x"
    );
}

/// LINK-04: what another device has written comes through the host's side: map, copy, unmap.
#[test]
fn another_device_writes_through_the_host() {
    let mut t = Rig::linked();
    let x = linked(&mut t, "x", 8, 8);
    check!(t.kernel("w", 2, &[x.write(0..8)]), "w");
    check!(
        t.kernel("k", 1, &[x.read(0..8)]),
        "map x@1 after (w)",
        "copy x[0..8] 2->0 after map x, w",
        "unmap x@1 after (copy x 2->0), (w), map x",
        "k after copy x 2->0, map x, unmap x, w"
    );
}

/// XFER-02, LINK-03: zeros are made by the side that needs them.
#[test]
fn zeros_of_linked_memory() {
    let mut t = Rig::new();
    let x = t.buffer("x", 8, 8);
    t.ledger.storages[x.id.0].link = Some(Link::new(DomainId(1), false));
    check!(t.kernel("r", 1, &[x.read(0..8)]), "zero x[0..8]@0", "r after zero x@0");
    check!(
        t.task("h", &[x.read(0..8)]),
        "map x@1 after (r), (zero x@0)",
        "h after map x, zero x@0"
    );
}

/// DEP-02: parts of a page that sides write in turn are no pieces: the memory is one.
#[test]
fn linked_pages_are_in_no_pieces() {
    let mut t = Rig::new();
    let x = linked(&mut t, "x", 8, 8);
    check!(t.kernel("k", 1, &[x.write(0..4)]), "k");
    check!(t.task("h", &[x.write(4..8)]), "map x@1 after (k)", "h after k?, map x");
    check!(
        t.kernel("l", 1, &[x.read(0..8)]),
        "unmap x@1 after (h), (k), map x",
        "l after h, k, unmap x"
    );
}

/// ERR-02: a switch that fails has changed nothing, and is made again.
#[test]
fn a_switch_that_failed_is_made_again() {
    let mut t = Rig::new();
    let x = linked(&mut t, "x", 8, 8);
    check!(t.kernel("k", 1, &[x.update(0..8)]), "k");
    check!(t.task("h", &[x.read(0..8)]), "map x@1 after (k)", "h after k, map x");
    t.fails("map x");
    assert!(t.has_failed("h"));
    check!(t.task("g", &[x.read(0..8)]), "map x@1 after (failed h)", "g after map x");
}

/// ERR-02, LINK-04: what comes after a switch is handed over when that has ended well, on its own
/// lane, too; behind one that fails nothing runs.
#[test]
fn nothing_is_handed_over_behind_a_switch() {
    let mut t = Rig::linked();
    let x = linked(&mut t, "x", 8, 8);
    check!(t.task("h", &[x.update(0..8)]), "map x@1", "h after map x");
    t.ends("map x");
    t.ends("h");
    check!(t.kernel("k", 1, &[x.update(0..8)]), "unmap x@1", "k after unmap x");
    check!(t.kernel("l", 1, &[x.read(0..8)]), "l after k, unmap x");
    assert!(!t.is_deferred("unmap x") && t.is_deferred("k") && t.is_deferred("l"));
    t.fails("unmap x");
    assert!(t.has_failed("k") && t.has_failed("l"));
    assert_eq!(t.ledger.timeline.lanes.iter().map(|lane| lane.issued).sum::<u64>(), 2);
    // The host has it still, but what was to be written is missing.
    check!(t.task("g", &[x.read(0..8)]), "g after failed k");
    check!(
        t.kernel("w", 1, &[x.write(0..8)]),
        "unmap x@1 after (failed g), (failed k), (failed l)",
        "w after (failed g), (failed k), (failed l), unmap x"
    );
    assert!(t.is_deferred("w"));
    t.ends("unmap x");
    assert!(!t.is_deferred("w") && !t.has_failed("w"));
    t.ends("w");
    check!(
        t.kernel("r", 2, &[x.read(0..8)]),
        "map x@1",
        "copy x[0..8] 0->2 after map x",
        "r after copy x 0->2, map x"
    );
    assert!(t.is_deferred("copy x 0->2"));
    t.fails("map x");
    assert!(t.has_failed("r"));
}

/// ERR-02: switches that fail one after the other leave the memory to who had it before the first.
#[test]
fn switches_that_fail_one_after_the_other() {
    let mut t = Rig::new();
    let x = linked(&mut t, "x", 8, 8);
    check!(t.kernel("k", 1, &[x.update(0..8)]), "k");
    check!(t.task("h", &[x.read(0..8)]), "map x@1 after (k)", "h after k, map x");
    check!(
        t.kernel("l", 1, &[x.read(0..8)]),
        "unmap x@1 after (h), (k), map x",
        "l after k, unmap x"
    );
    t.ends("k");
    t.fails("map x");
    assert!(t.has_failed("unmap x") && t.has_failed("l"));
    check!(t.task("g", &[x.read(0..8)]), "map x@1 after (failed h), (failed l)", "g after map x");
}

/// ERR-04: a map that was refused since the device was lost has mapped nothing.
#[test]
fn a_map_that_finds_the_device_lost() {
    let mut t = Rig::new();
    let x = linked(&mut t, "x", 8, 8);
    check!(t.kernel("k", 1, &[x.update(0..8)]), "k");
    t.ends("k");
    check!(t.task("h", &[x.read(0..8)]), "map x@1", "h after map x");
    t.finds_loss("map x");
    assert!(t.has_failed("h"));
    check!(t.task("g", &[x.read(0..8)]), "g after failed loss of x");
}

/// ERR-04: a copy that the loss has stopped does not make the contents what never was.
#[test]
fn a_copy_under_way_when_the_device_is_lost() {
    let mut t = Rig::linked();
    let x = linked(&mut t, "x", 8, 8);
    check!(t.kernel("k", 1, &[x.update(0..8)]), "k");
    t.ends("k");
    check!(
        t.kernel("l", 2, &[x.read(0..8)]),
        "map x@1",
        "copy x[0..8] 0->2 after map x",
        "l after copy x 0->2, map x"
    );
    t.lose(1);
    assert!(t.has_failed("l"));
    check!(t.task("g", &[x.read(0..8)]), "g after failed loss of x");
    check!(t.kernel("m", 2, &[x.read(0..8)]), "m after failed loss of x");
}

/// ERR-04: with the device go the contents that it had to itself.
#[test]
fn a_lost_device_takes_its_side() {
    let mut t = Rig::linked();
    let (x, y) = (linked(&mut t, "x", 8, 8), linked(&mut t, "y", 8, 8));
    check!(t.kernel("k", 1, &[x.update(0..8), y.update(0..8)]), "k");
    check!(t.task("h", &[y.read(0..8)]), "map y@1 after (k)", "h after k, map y");
    t.all_ends();
    t.ends("h");
    t.lose(1);
    check!(t.task("g", &[y.read(0..8)]), "g");
    check!(t.task("f", &[x.read(0..8)]), "f after failed loss of x");
}

/// An access of nothing asks for no turn, and so meets no failure of one.
#[test]
fn nothing_needs_no_turn() {
    let mut t = Rig::linked();
    let x = linked(&mut t, "x", 8, 8);
    check!(t.kernel("k", 1, &[x.update(0..8)]), "k");
    check!(t.task("h", &[x.read(3..3)]), "h");
    check!(t.task("g", &[x.read(0..8)]), "map x@1 after (k)", "g after k, map x");
    t.fails("map x");
    check!(t.kernel("l", 1, &[x.update(3..3)]), "l");
}
