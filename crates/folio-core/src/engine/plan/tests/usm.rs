//! Memory that a program can use by its address.

use super::*;

/// USM is where it is: a command moves nothing of it.
#[test]
fn usm_is_not_moved() {
    let mut t = Rig::new();
    let x = t.add("x", [1, 1, 8], [1, 1, 4], Some(1));
    t.ledger.storages[x.id.0].residency.adopt(DomainId(1));
    check!(t.kernel("w", 1, &[x.update(0..4)]), "w");
    check!(t.kernel("r", 1, &[x.read(0..8)]), "r after w");
}

/// USM-02: a raw command is in order with nothing but what the program says; zeros that a command
/// needs come after it.
#[test]
fn zeros_come_after_raw_commands() {
    let mut t = Rig::new();
    let x = t.add("x", [1, 1, 8], [1, 1, 4], Some(1));
    check!(t.raw("f", 1, x), "zero x[0..8]@1", "f after zero x@1");
    check!(t.raw("g", 1, x), "g after (zero x@1)");
    check!(t.kernel("r", 1, &[x.read(0..8)]), "r after zero x@1");
}

/// USM-02: after a failed copy or fill the memory is defined again before a raw command uses it.
#[test]
fn raw_commands_find_defined_memory() {
    let mut t = Rig::new();
    let x = t.add("x", [1, 1, 8], [1, 1, 8], Some(1));
    check!(t.kernel("w", 1, &[x.write(0..8)]), "w");
    t.fails("w");
    check!(t.raw("f", 1, x), "zero x[0..8]@1 after (failed w)", "f after zero x@1");
}

/// BUF-03: what lies beside a part that the program says it has written is zeroed.
#[test]
fn surroundings() {
    let mut t = Rig::new();
    let x = t.buffer("x", 16, 8);
    check!(t.assume_written("a", 1, x.write(4..12)), "zero x[0..4 + 12..16]@1", "a");
    check!(t.kernel("r", 1, &[x.read(0..16)]), "r after a");
    check!(
        t.kernel("s", 2, &[x.read(0..8)]),
        "copy x[0..8] 1->2 after a",
        "s after a, copy x 1->2"
    );
}

/// BUF-03: a whole part needs no zeros.
#[test]
fn no_surroundings() {
    let mut t = Rig::new();
    let x = t.buffer("x", 16, 8);
    check!(t.assume_written("a", 1, x.write(0..16)), "a");
    check!(t.kernel("s", 2, &[x.read(0..16)]), "copy x[0..16] 1->2", "s after copy x 1->2");
}
