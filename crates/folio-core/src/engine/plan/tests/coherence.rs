//! What is moved, and from where.

use super::*;

/// XFER-03: a read of what the host has is one copy; of what is there, none.
#[test]
fn data_are_brought_once() {
    let mut t = Rig::new();
    let x = t.filled("x", 8, 4);
    check!(t.kernel("k", 1, &[x.read(0..8)]), "copy x[0..8] 0->1", "k after copy x 0->1");
    check!(t.kernel("l", 1, &[x.read(0..8)]), "l after copy x 0->1");
    check!(t.kernel("m", 2, &[x.read(0..8)]), "copy x[0..8] 0->2", "m after copy x 0->2");
    t.all_ends();
    check!(t.kernel("n", 1, &[x.read(0..8)]), "n");
}

/// XFER-03: only the pages of an access are moved.
#[test]
fn only_what_is_used_is_moved() {
    let mut t = Rig::new();
    let x = t.filled("x", 16, 4);
    check!(t.kernel("k", 1, &[x.read(5..7)]), "copy x[4..8] 0->1", "k after copy x 0->1");
    check!(t.kernel("l", 1, &[x.read(0..16)]), "copy x[0..4 + 8..16] 0->1", "l after copy x 0->1");
}

/// DEP-03: two readers of one copy wait for the copy, and not for each other.
#[test]
fn two_readers_of_one_copy() {
    let mut t = Rig::new();
    let x = t.filled("x", 8, 8);
    check!(t.kernel("r", 1, &[x.read(0..8)]), "copy x[0..8] 0->1", "r after copy x 0->1");
    check!(t.kernel("s", 1, &[x.read(0..8)]), "s after copy x 0->1");
    check!(t.kernel("w", 1, &[x.update(0..8)]), "w after (r), (s), copy x 0->1");
}

/// DEP-02: what one device has written is brought to the other one after that.
#[test]
fn a_copy_comes_after_the_writer() {
    let mut t = Rig::new();
    let x = t.filled("x", 8, 8);
    check!(t.kernel("w", 1, &[x.write(0..8)]), "w");
    check!(
        t.kernel("r", 2, &[x.read(0..8)]),
        "copy x[0..8] 1->2 after w",
        "r after copy x 1->2, w"
    );
    check!(t.kernel("v", 2, &[x.update(0..8)]), "v after (r), copy x 1->2, w");
    check!(
        t.kernel("s", 1, &[x.read(0..8)]),
        "copy x[0..8] 2->1 after (w), copy x 1->2, v",
        "s after copy x 2->1, v"
    );
}

/// XFER-01: a write that replaces everything moves nothing.
#[test]
fn a_discard_moves_nothing() {
    let mut t = Rig::new();
    let x = t.filled("x", 8, 4);
    check!(t.kernel("w", 1, &[x.write(0..8)]), "w");
    check!(t.kernel("v", 2, &[x.discard(0..8)]), "zero x[0..8]@2", "v after (w), zero x@2");
}

/// PAGE-06: a discard of a part of a page leaves the rest where it is, and each part is brought
/// from where it is.
#[test]
fn parts_of_a_page() {
    let mut t = Rig::new();
    let x = t.filled("x", 8, 8);
    check!(t.kernel("w", 1, &[x.write(0..4)]), "zero x[0..8]@1", "w after zero x@1");
    check!(
        t.kernel("r", 2, &[x.read(0..8)]),
        "copy x[4..8] 0->2 after w",
        "copy x[0..4] 1->2 after w, zero x@1",
        "r after copy x 0->2, copy x 1->2, w"
    );
    check!(
        t.kernel("s", 1, &[x.read(0..8)]),
        "copy x[4..8] 0->1 after (zero x@1), w",
        "s after copy x 0->1, w, zero x@1"
    );
    check!(
        t.task("h", &[x.read(0..8)]),
        "copy x[0..4] 1->0 after copy x 0->1, w, zero x@1",
        "h after copy x 1->0, w"
    );
}

/// PAGE-06: two devices write halves of one page, in order, since order is by page; nothing of it
/// is moved.
#[test]
fn two_writers_of_one_page() {
    let mut t = Rig::linked();
    let x = t.filled("x", 8, 8);
    check!(t.kernel("v", 1, &[x.write(0..4)]), "zero x[0..8]@1", "v after zero x@1");
    check!(
        t.kernel("w", 2, &[x.write(4..8)]),
        "zero x[0..8]@2",
        "w after (v), (zero x@1), zero x@2"
    );
    check!(
        t.kernel("r", 1, &[x.read(0..8)]),
        "copy x[4..8] 2->1 after (zero x@1), v, w, zero x@2",
        "r after copy x 2->1, v, w, zero x@1"
    );
    check!(
        t.task("h", &[x.read(0..8)]),
        "copy x[0..8] 1->0 after copy x 2->1, v, w, zero x@1",
        "h after copy x 1->0, v, w"
    );
}

/// PAGE-06: an update of a part of a page brings the page.
#[test]
fn an_update_of_a_part() {
    let mut t = Rig::new();
    let x = t.filled("x", 8, 8);
    check!(t.kernel("u", 1, &[x.update(2..3)]), "copy x[0..8] 0->1", "u after copy x 0->1");
    check!(
        t.kernel("v", 2, &[x.update(5..6)]),
        "copy x[0..8] 1->2 after copy x 0->1, u",
        "v after (copy x 0->1), copy x 1->2, u"
    );
}

/// XFER-04: neighbouring pages are one rectangle, others are several of one copy.
#[test]
fn rectangles_are_merged() {
    let mut t = Rig::new();
    let x = t.filled("x", 24, 4);
    check!(t.kernel("k", 1, &[x.read(4..8)]), "copy x[4..8] 0->1", "k after copy x 0->1");
    check!(t.kernel("l", 1, &[x.read(16..20)]), "copy x[16..20] 0->1", "l after copy x 0->1");
    check!(
        t.kernel("m", 1, &[x.read(0..24)]),
        "copy x[0..4 + 8..16 + 20..24] 0->1",
        "m after copy x 0->1"
    );
}

/// XFER-04: pages of several owners come from each of them.
#[test]
fn several_sources() {
    let mut t = Rig::linked();
    let x = t.filled("x", 12, 4);
    check!(t.kernel("v", 1, &[x.write(0..4)]), "v");
    check!(t.kernel("w", 2, &[x.write(4..8)]), "w");
    check!(
        t.task("h", &[x.read(0..12)]),
        "copy x[0..4] 1->0 after v",
        "copy x[4..8] 2->0 after w",
        "h after copy x 1->0, copy x 2->0, v, w"
    );
    check!(
        t.kernel("r", 1, &[x.read(0..12)]),
        "copy x[4..12] 0->1 after copy x 2->0, w",
        "r after copy x 0->1, v, w"
    );
}

/// XFER-04: of several sources the fast one is taken.
#[test]
fn the_fast_source_is_taken() {
    let mut t = Rig::linked();
    let fast = Link { bytes_per_us: 1 << 20, op_ns: 1 };
    t.ledger.topology.links.insert((DomainId(1), DomainId(2)), fast);
    let x = t.filled("x", 8, 8);
    check!(t.kernel("k", 1, &[x.read(0..8)]), "copy x[0..8] 0->1", "k after copy x 0->1");
    check!(
        t.kernel("l", 2, &[x.read(0..8)]),
        "copy x[0..8] 1->2 after copy x 0->1",
        "l after copy x 1->2"
    );
}

/// XFER-05: without a link, what is on another device goes by way of the host, and is not current
/// there.
#[test]
fn copies_without_a_link_are_staged() {
    let mut t = Rig::new();
    let x = t.buffer("x", 8, 8);
    check!(t.kernel("w", 1, &[x.write(0..8)]), "w");
    check!(
        t.kernel("r", 2, &[x.read(0..8)]),
        "copy x[0..8] 1->2 after w",
        "r after copy x 1->2, w"
    );
    assert_eq!(t.ledger.counters.chunks, 1, "in one chunk");
    check!(t.task("h", &[x.read(0..8)]), "copy x[0..8] 1->0 after w", "h after copy x 1->0, w");
}

/// XFER-02: what was never written is zeros where it is first used.
#[test]
fn what_nobody_wrote_is_zeros() {
    let mut t = Rig::new();
    let x = t.buffer("x", 8, 4);
    check!(t.kernel("r", 1, &[x.read(0..4)]), "zero x[0..4]@1", "r after zero x@1");
    check!(t.kernel("s", 1, &[x.read(0..8)]), "zero x[4..8]@1", "s after zero x@1");
    check!(t.kernel("w", 1, &[x.write(0..8)]), "w after (r), (s), (zero x@1)");
    check!(
        t.kernel("u", 2, &[x.update(0..8)]),
        "copy x[0..8] 1->2 after w",
        "u after copy x 1->2, w"
    );
}

/// XFER-02: zeros that one memory has are no contents: another memory is zeroed, too.
#[test]
fn zeros_are_not_copied() {
    let mut t = Rig::new();
    let x = t.buffer("x", 8, 8);
    check!(t.kernel("r", 1, &[x.read(0..8)]), "zero x[0..8]@1", "r after zero x@1");
    check!(t.kernel("s", 2, &[x.read(0..8)]), "zero x[0..8]@2", "s after zero x@2");
}

/// XFER-02: what is known to be written is not zeroed; what may be left alone is.
#[test]
fn a_whole_write_needs_no_zeros() {
    let mut t = Rig::new();
    let (x, y) = (t.buffer("x", 8, 4), t.buffer("y", 8, 4));
    check!(
        t.kernel("w", 1, &[x.write(0..8), y.discard(0..8)]),
        "zero y[0..8]@1",
        "w after zero y@1"
    );
    check!(t.kernel("v", 2, &[x.write(2..8)]), "zero x[0..4]@2", "v after (w), zero x@2");
}

/// XFER-02: of a range that was written in part, the rest is zeros.
#[test]
fn uninitialised_ranges() {
    let mut t = Rig::new();
    let x = t.buffer("x", 16, 4);
    check!(t.kernel("w", 1, &[x.write(4..8)]), "w");
    check!(t.kernel("r", 1, &[x.read(0..16)]), "zero x[0..4 + 8..16]@1", "r after w, zero x@1");
    check!(
        t.kernel("s", 2, &[x.read(0..16)]),
        "copy x[4..8] 1->2 after w",
        "zero x[0..4 + 8..16]@2",
        "s after copy x 1->2, w, zero x@2"
    );
}

/// XFER-02: the host reads zeros, too.
#[test]
fn the_host_reads_zeros() {
    let mut t = Rig::new();
    let x = t.buffer("x", 8, 8);
    check!(t.task("h", &[x.read(0..8)]), "zero x[0..8]@0", "h after zero x@0");
}

/// XFER-03: a prefetch brings data, and is no access that others wait for.
#[test]
fn a_prefetch_brings_data() {
    let mut t = Rig::new();
    let x = t.filled("x", 8, 8);
    check!(t.prefetch("p", 1, &[x.read(0..8)]), "copy x[0..8] 0->1", "p after copy x 0->1");
    check!(t.kernel("k", 1, &[x.read(0..8)]), "k after copy x 0->1");
}

/// XFER-03: a chain over two devices moves each value once in each direction.
#[test]
fn ping_pong() {
    let mut t = Rig::linked();
    let x = t.filled("x", 4, 4);
    check!(t.kernel("a", 1, &[x.update(0..4)]), "copy x[0..4] 0->1", "a after copy x 0->1");
    check!(
        t.kernel("b", 2, &[x.update(0..4)]),
        "copy x[0..4] 1->2 after a, copy x 0->1",
        "b after (copy x 0->1), a, copy x 1->2"
    );
    check!(
        t.kernel("c", 1, &[x.update(0..4)]),
        "copy x[0..4] 2->1 after (copy x 0->1), b, copy x 1->2",
        "c after (copy x 1->2), b, copy x 2->1"
    );
    check!(
        t.task("h", &[x.read(0..4)]),
        "copy x[0..4] 1->0 after c, copy x 2->1",
        "h after c, copy x 1->0"
    );
}

/// XFER-03: a stencil over two devices moves its halo only.
#[test]
fn a_halo() {
    let mut t = Rig::linked();
    let (x, y) = (t.filled("x", 32, 4), t.buffer("y", 32, 4));
    check!(
        t.kernel("left", 1, &[x.read(0..20), y.write(0..16)]),
        "copy x[0..20] 0->1",
        "left after copy x 0->1"
    );
    check!(
        t.kernel("right", 2, &[x.read(12..32), y.write(16..32)]),
        "copy x[12..32] 0->2",
        "right after copy x 0->2"
    );
    t.all_ends();
    check!(
        t.kernel("left", 1, &[y.read(0..20), x.write(0..16)]),
        "copy y[16..20] 2->1",
        "left after copy y 2->1"
    );
    check!(
        t.kernel("right", 2, &[y.read(12..32), x.write(16..32)]),
        "copy y[12..16] 1->2",
        "right after copy y 1->2"
    );
}

/// XFER-03: two accesses of one command to one buffer bring each page once.
#[test]
fn two_accesses_to_one_buffer() {
    let mut t = Rig::new();
    let x = t.filled("x", 16, 4);
    check!(
        t.kernel("k", 1, &[x.read(0..8), x.read(4..12)]),
        "copy x[0..8] 0->1",
        "copy x[8..12] 0->1",
        "k after copy x 0->1"
    );
    check!(
        t.kernel("l", 2, &[x.read(0..8), x.update(8..16)]),
        "copy x[0..8] 0->2",
        "copy x[8..16] 0->2",
        "l after (copy x 0->1), (k), copy x 0->2"
    );
}

/// XFER-02: nor is a page zeroed twice.
#[test]
fn two_accesses_to_what_nobody_wrote() {
    let mut t = Rig::new();
    let x = t.buffer("x", 16, 4);
    check!(
        t.kernel("k", 1, &[x.read(0..8), x.read(4..12), x.write(12..16)]),
        "zero x[0..8]@1",
        "zero x[8..12]@1",
        "k after zero x@1"
    );
}

/// PAGE-06: a command that reads one part of a page and discards another one finds what it reads.
#[test]
fn a_read_and_a_discard_of_one_page() {
    let mut t = Rig::new();
    let x = t.filled("x", 8, 8);
    check!(
        t.kernel("k", 1, &[x.write(4..8), x.read(0..4)]),
        "copy x[0..8] 0->1",
        "k after copy x 0->1"
    );
    check!(
        t.task("h", &[x.read(0..8)]),
        "copy x[4..8] 1->0 after copy x 0->1, k",
        "h after copy x 1->0, k"
    );
}

/// A command without elements needs nothing.
#[test]
fn nothing_is_needed_for_nothing() {
    let mut t = Rig::new();
    let x = t.filled("x", 8, 8);
    check!(t.kernel("k", 1, &[x.read(3..3)]), "k");
    check!(t.kernel("l", 1, &[x.write(8..8)]), "l");
}
