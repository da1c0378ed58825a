//! Memory that is taken over while commands use it.

use super::*;
use crate::engine::memory::evict::{EvictStep, Pressure, Takeover};
use crate::engine::terms::evict::Evict;
use crate::engine::terms::link::NotLinked;
use smallvec::SmallVec;

/// A buffer whose memory on device 1 is that device's, and may go.
fn chunk(t: &mut Rig, name: &str, there: bool) -> Buf {
    let x = t.filled(name, 8, 4);
    let storage = &mut t.ledger.storages[x.id.0];
    storage.evict = Some(Evict::clean());
    let alloc =
        Alloc { owner: Owner::Device(0, 1), ..*storage.alloc(DomainId(1)).expect("it has") };
    storage.remove_alloc(DomainId(1));
    if there {
        storage.set_alloc(DomainId(1), alloc);
    }
    x
}

/// Whose memory on device 1 the engine finds for the first.
fn giver(t: &mut Rig, to: Buf, keep: &[StorageId]) -> Option<StorageId> {
    let Ledger { storages, timeline, topology, .. } = &mut t.ledger;
    storages.giver((to.id, DomainId(1)), keep, (timeline, topology))
}

/// The first takes over what the engine finds on device 1.
fn takes(t: &mut Rig, to: Buf) -> Option<StorageId> {
    let domain = DomainId(1);
    let from = giver(t, to, &[to.id])?;
    let apart = NotLinked::NotShared;
    t.ledger.take_over(&Takeover { from, to: to.id, domain, apart }).then_some(from)
}

/// MEM-01, XFER-05: two pieces of memory for any number of chunks. Each chunk's copy comes after
/// the kernel that used its memory last, and after no other one.
#[test]
fn chunks_take_turns() {
    let mut t = Rig::new();
    let [a, b] = ["a", "b"].map(|name| chunk(&mut t, name, true));
    let [c, d] = ["c", "d"].map(|name| chunk(&mut t, name, false));
    check!(t.kernel("ka", 1, &[a.read(0..8)]), "copy a[0..8] 0->1", "ka after copy a 0->1");
    check!(t.kernel("kb", 1, &[b.read(0..8)]), "copy b[0..8] 0->1", "kb after copy b 0->1");
    assert_eq!(takes(&mut t, c), Some(a.id));
    check!(
        t.kernel("kc", 1, &[c.read(0..8)]),
        "copy c[0..8] 0->1 after (copy a 0->1), (ka)",
        "kc after copy c 0->1"
    );
    assert_eq!(takes(&mut t, d), Some(b.id));
    check!(
        t.kernel("kd", 1, &[d.read(0..8)]),
        "copy d[0..8] 0->1 after (copy b 0->1), (kb)",
        "kd after copy d 0->1"
    );
    t.ends("ka");
    assert_eq!(takes(&mut t, a), Some(c.id));
    check!(
        t.kernel("again", 1, &[a.read(0..8)]),
        "copy a[0..8] 0->1 after (copy c 0->1), (kc)",
        "again after copy a 0->1"
    );
    assert!(!["copy c 0->1", "copy d 0->1", "again"].into_iter().any(|name| t.is_deferred(name)));
    assert_eq!((t.ledger.counters.evictions, t.ledger.counters.evicted_bytes), (3, 24));
    assert!(t.ledger.outbox.garbage.is_empty(), "nothing is freed");
}

/// MEM-01: a write of everything brings nothing, and comes after who used its memory.
#[test]
fn a_discard_comes_after_earlier_users() {
    let mut t = Rig::new();
    let (a, b) = (chunk(&mut t, "a", true), chunk(&mut t, "b", false));
    check!(t.kernel("k", 1, &[a.read(0..8)]), "copy a[0..8] 0->1", "k after copy a 0->1");
    assert_eq!(takes(&mut t, b), Some(a.id));
    check!(t.kernel("w", 1, &[b.write(0..8)]), "w after (copy a 0->1), (k)");
    check!(t.kernel("r", 1, &[b.read(0..8)]), "r after w");
}

/// MEM-01: as fresh memory, it is zeroed where nothing is brought.
#[test]
fn zeros_come_after_earlier_users() {
    let mut t = Rig::new();
    let (a, b) = (chunk(&mut t, "a", true), chunk(&mut t, "b", false));
    t.ledger.storages[b.id.0].residency.forget(&b.grid.all(), &|_| Outcome::Fine);
    check!(t.kernel("k", 1, &[a.read(0..8)]), "copy a[0..8] 0->1", "k after copy a 0->1");
    assert_eq!(takes(&mut t, b), Some(a.id));
    check!(
        t.kernel("r", 1, &[b.read(4..8)]),
        "zero b[4..8]@1 after (copy a 0->1), (k)",
        "r after zero b@1"
    );
}

/// MEM-01: the host writes what a copy to the lost memory still reads, and comes after that.
#[test]
fn a_write_comes_after_the_copy_from_there() {
    let mut t = Rig::new();
    let (a, b) = (chunk(&mut t, "a", true), chunk(&mut t, "b", false));
    check!(t.kernel("k", 1, &[a.read(0..8)]), "copy a[0..8] 0->1", "k after copy a 0->1");
    assert_eq!(takes(&mut t, b), Some(a.id));
    check!(t.task("h", &[a.update(0..8)]), "h after (copy a 0->1), (k)");
}

/// MEM-01: what is idle goes first. Only copies go, and only those that surely are copies.
#[test]
fn what_is_not_elsewhere_stays() {
    let mut t = Rig::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| chunk(&mut t, name, true));
    let d = chunk(&mut t, "d", false);
    check!(t.kernel("ka", 1, &[a.read(0..8)]), "copy a[0..8] 0->1", "ka after copy a 0->1");
    check!(t.kernel("wb", 1, &[b.write(0..8)]), "wb");
    check!(t.kernel("wc", 1, &[c.write(0..8)]), "wc");
    check!(t.task("hc", &[c.read(0..8)]), "copy c[0..8] 1->0 after wc", "hc after copy c 1->0, wc");
    assert_eq!(giver(&mut t, d, &[a.id]), None, "the copy of c has not ended");
    t.ends("copy c 1->0");
    assert_eq!(giver(&mut t, d, &[a.id]), Some(c.id));
    assert_eq!(giver(&mut t, d, &[]), Some(a.id), "used before c");
    t.ends("hc");
    assert_eq!(giver(&mut t, d, &[]), Some(c.id), "it is idle");
    let small = t.filled("small", 4, 4);
    t.ledger.storages[small.id.0].remove_alloc(DomainId(1));
    assert_eq!(giver(&mut t, small, &[]), None, "of another size");
}

/// MEM-01: commands that use memory keep it, whichever buffer has it by now.
#[test]
fn earlier_users_keep_the_memory() {
    let mut t = Rig::new();
    let (a, b) = (chunk(&mut t, "a", true), chunk(&mut t, "b", false));
    check!(t.kernel("k", 1, &[a.read(0..8)]), "copy a[0..8] 0->1", "k after copy a 0->1");
    assert_eq!(takes(&mut t, b), Some(a.id));
    t.ledger.storages[b.id.0].life = crate::engine::pages::storage::Life::Dropped;
    assert!(!t.ledger.storages[b.id.0].over());
    t.ends("copy a 0->1");
    assert!(!t.ledger.storages[b.id.0].over());
    let before = t.ledger.outbox.garbage.len();
    t.ends("k");
    assert!(t.ledger.outbox.garbage.len() > before, "now it is freed");
    assert_eq!(t.ledger.storages[a.id.0].in_use, 0);
}

/// MEM-01: a submitter that is far ahead waits.
#[test]
fn memory_with_many_users_stays() {
    let mut t = Rig::new();
    let (a, b) = (chunk(&mut t, "a", true), chunk(&mut t, "b", false));
    for at in 0..64 {
        t.kernel(&format!("k{at}"), 1, &[a.read(0..8)]);
    }
    assert_eq!(giver(&mut t, b, &[]), None, "and the copy");
    t.ends("k0");
    assert_eq!(giver(&mut t, b, &[]), Some(a.id));
}

/// MEM-01: a copy of low priority goes first, also where a command uses it. One of high priority
/// is not taken over instead, though it is idle and of the size that is needed.
#[test]
fn low_priority_goes_first_busy_or_not() {
    let mut t = Rig::new();
    let [low, high] = ["low", "high"].map(|name| chunk(&mut t, name, true));
    let (d, domain) = (chunk(&mut t, "d", false), DomainId(1));
    t.ledger.storages[high.id.0].evict = Some(Evict::clean().priority(1));
    check!(
        t.kernel("kh", 1, &[high.read(0..8)]),
        "copy high[0..8] 0->1",
        "kh after copy high 0->1"
    );
    t.ends("copy high 0->1");
    t.ends("kh");
    check!(t.kernel("kl", 1, &[low.read(0..8)]), "copy low[0..8] 0->1", "kl after copy low 0->1");
    assert_eq!(giver(&mut t, d, &[]), Some(low.id), "it is in use");
    let small = t.filled("small", 4, 4);
    t.ledger.storages[small.id.0].remove_alloc(domain);
    let other = t.filled("other", 4, 4);
    t.ledger.storages[other.id.0].remove_alloc(domain);
    let alloc = *t.ledger.storages[high.id.0].alloc(domain).expect("it has");
    t.ledger.storages[other.id.0].set_alloc(domain, alloc);
    t.ledger.storages[other.id.0].evict = Some(Evict::clean().priority(1));
    assert_eq!(giver(&mut t, small, &[low.id]), Some(other.id));
    assert_eq!(giver(&mut t, small, &[]), None, "the low one goes first, not so");
    let mut pressure = Pressure::new(SmallVec::new(), &[]);
    let step = t.ledger.evict_one(domain, &pressure);
    assert!(matches!(step, EvictStep::Wait(id, _) if id == low.id));
    pressure.spared.push(low.id);
    assert!(matches!(t.ledger.evict_one(domain, &pressure), EvictStep::Freed));
    assert!(t.ledger.storages[other.id.0].alloc(domain).is_none(), "it was not used");
    assert!(matches!(t.ledger.evict_one(domain, &pressure), EvictStep::Freed));
    assert!(matches!(t.ledger.evict_one(domain, &pressure), EvictStep::Nothing));
}
