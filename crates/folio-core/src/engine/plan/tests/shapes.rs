//! Two and three dimensions.

use super::*;

/// PAGE-01: a column of pages is one rectangle.
#[test]
fn a_column_of_pages() {
    let mut t = Rig::new();
    let x = t.filled_2d("x", [8, 8], [2, 2]);
    check!(
        t.kernel("k", 1, &[x.read([0..8, 2..4])]),
        "copy x[0..8,2..4] 0->1",
        "k after copy x 0->1"
    );
    check!(
        t.kernel("l", 1, &[x.read([0..8, 0..8])]),
        "copy x[0..8,0..2 + 0..8,4..8] 0->1",
        "l after copy x 0->1"
    );
}

/// PAGE-01: a window is the pages under it.
#[test]
fn a_window() {
    let mut t = Rig::new();
    let x = t.filled_2d("x", [8, 8], [4, 4]);
    check!(
        t.kernel("k", 1, &[x.read([3..5, 0..1])]),
        "copy x[0..8,0..4] 0->1",
        "k after copy x 0->1"
    );
    check!(
        t.kernel("l", 2, &[x.update([0..1, 7..8])]),
        "copy x[0..4,4..8] 0->2",
        "l after copy x 0->2"
    );
}

/// PAGE-01: the last pages of a grid may be smaller.
#[test]
fn pages_at_the_edge() {
    let mut t = Rig::new();
    let x = t.filled_2d("x", [5, 7], [2, 4]);
    check!(
        t.kernel("k", 1, &[x.read([4..5, 4..7])]),
        "copy x[4..5,4..7] 0->1",
        "k after copy x 0->1"
    );
    check!(
        t.kernel("l", 1, &[x.read([0..5, 0..7])]),
        "copy x[0..4,0..7 + 4..5,0..4] 0->1",
        "l after copy x 0->1"
    );
}

/// PAGE-06: rows that a discard leaves alone are brought as parts of their pages.
#[test]
fn a_border_that_is_left_alone() {
    let mut t = Rig::new();
    let x = t.filled_2d("x", [4, 8], [1, 8]);
    check!(t.kernel("k", 1, &[x.discard([1..3, 1..7])]), "zero x[1..3,0..8]@1", "k after zero x@1");
    check!(
        t.task("h", &[x.read([0..4, 0..8])]),
        "copy x[1..3,1..7] 1->0 after k, zero x@1",
        "h after copy x 1->0, k"
    );
}

/// PAGE-01: planes of a cube.
#[test]
fn planes_of_a_cube() {
    let mut t = Rig::new();
    let x = t.add("x", [4, 4, 4], [1, 4, 4], None);
    t.ledger.storages[x.id.0].residency.adopt(DomainId::HOST);
    check!(
        t.kernel("k", 1, &[x.update([1..3, 0..4, 0..4])]),
        "copy x[1..3,0..4,0..4] 0->1",
        "k after copy x 0->1"
    );
    check!(
        t.kernel("l", 2, &[x.read([0..4, 0..4, 0..4])]),
        "copy x[0..1,0..4,0..4 + 3..4,0..4,0..4] 0->2",
        "copy x[1..3,0..4,0..4] 1->2 after copy x 0->1, k",
        "l after copy x 0->2, copy x 1->2, k"
    );
}

/// PAGE-01: bricks of a cube.
#[test]
fn bricks_of_a_cube() {
    let mut t = Rig::new();
    let x = t.add("x", [4, 4, 4], [2, 2, 2], None);
    check!(t.kernel("k", 1, &[x.write([0..2, 0..2, 0..2])]), "k");
    check!(
        t.kernel("l", 1, &[x.read([0..4, 0..2, 0..4])]),
        "zero x[0..2,0..2,2..4 + 2..4,0..2,0..4]@1",
        "l after k, zero x@1"
    );
}

/// XFER-04: a checkerboard comes from both sides.
#[test]
fn a_checkerboard() {
    let mut t = Rig::linked();
    let x = t.filled_2d("x", [2, 4], [1, 1]);
    for at in [[0, 0], [0, 2], [1, 1], [1, 3]] {
        t.kernel("w", 1, &[x.write([at[0]..at[0] + 1, at[1]..at[1] + 1])]);
    }
    t.all_ends();
    check!(
        t.kernel("r", 2, &[x.read([0..2, 0..4])]),
        "copy x[0..1,1..2 + 0..1,3..4 + 1..2,0..1 + 1..2,2..3] 0->2",
        "copy x[0..1,0..1 + 0..1,2..3 + 1..2,1..2 + 1..2,3..4] 1->2",
        "r after copy x 0->2, copy x 1->2"
    );
    check!(
        t.task("h", &[x.read([0..2, 0..4])]),
        "copy x[0..1,0..1 + 0..1,2..3 + 1..2,1..2 + 1..2,3..4] 1->0",
        "h after copy x 1->0"
    );
}
