//! How long kernels took before: a bounded table from kernel to nanoseconds per item, and the
//! decision that follows from it. An estimate can be wrong, forgotten or mixed up by two kernels
//! with equal hashes; only speed suffers.

use crate::trial::{TRIED_NS, Trial, Way};
use folio_core::hal::KernelId;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

/// Below this a launch runs on the submitting thread: about the price of a hop to the pool.
pub(crate) const TINY_NS: u64 = 8_000;
/// From this on a launch is open to threads that are awake: several times what it costs to share.
pub(crate) const SHARED_NS: u64 = 5_000;
/// Blocks for each thread, unless they would be too short or too long.
const BLOCKS_PER_THREAD: usize = 4;
const MOST_BLOCKS_PER_THREAD: usize = 64;
/// A block is no shorter than that: some ten times what a call of it costs.
const SHORT_BLOCK_NS: u64 = 2_500;
/// A block is no longer than that, unless there would be too many.
const LONG_BLOCK_NS: u64 = 25_000;
/// Items of a block of which nothing is known, unless there would be too many.
const UNKNOWN_ITEMS: usize = 4096;
/// Items that stay together where a launch is cut: with fewer, loops over neighbouring items are no
/// vectors.
const VECTOR_ITEMS: usize = 16;
/// Where items are few, so many units for each thread come before vectors.
const UNITS_PER_THREAD: usize = 2;
/// A thread's part of a stage is no shorter: as long as one number takes to pass from a thread to
/// all others. Threads are awake there.
const PART_NS: u64 = 500;
/// The first runs of a kernel are all measured (the very first one mostly measures cold caches).
const MEASURED_RUNS: u64 = 4;

/// Slots; a program with more distinct kernels forgets some.
const SLOTS: usize = 1024;
/// Where a key may be found from its first place on.
const PROBES: usize = 8;

/// A cost is (runs seen, up to [`MEASURED_RUNS`]) in the upper 8 bits and, below, the time of one
/// item in 1/1024 ns.
const RUNS_SHIFT: u32 = 56;
const COST_MASK: u64 = (1 << RUNS_SHIFT) - 1;
const FRACTION: u32 = 10;

/// How an operation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Short enough for any thread: it runs where it is found, a submitting thread included.
    pub tiny: bool,
    /// The time of a tiny operation is recorded; that of others always is.
    pub measure: bool,
    /// Nanoseconds of one thread, if known.
    pub ns: Option<u64>,
    /// The way of this run, where both are tried.
    pub tried: Option<Way>,
}

impl Verdict {
    /// For work whose duration is known beforehand.
    pub(crate) fn of_ns(ns: u64) -> Verdict {
        Verdict { tiny: ns < TINY_NS, measure: false, ns: Some(ns), tried: None }
    }

    /// Whether one thread runs all of it, because sharing would cost more.
    pub(crate) fn is_alone(&self) -> bool {
        self.tried == Some(Way::Alone) || self.ns.is_some_and(|ns| ns < SHARED_NS)
    }

    /// Into how many blocks a launch on this many threads is cut: short enough that no thread is
    /// left with the last of them for long, where others started early or were not interrupted,
    /// and long enough to be worth a call.
    pub(crate) fn blocks(&self, items: usize, threads: usize) -> usize {
        let wanted = threads.saturating_mul(BLOCKS_PER_THREAD);
        let most = threads.saturating_mul(MOST_BLOCKS_PER_THREAD);
        let Some(ns) = self.ns else {
            return wanted.max((items / UNKNOWN_ITEMS).min(most));
        };
        let of = |each: u64| usize::try_from(ns / each).unwrap_or(usize::MAX);
        wanted.max(of(LONG_BLOCK_NS).min(most)).min(of(SHORT_BLOCK_NS)).max(1)
    }

    /// How many of `threads` it is worth, of which all work of a stage takes `all_ns`.
    pub(crate) fn share_of(&self, all_ns: u64, threads: usize) -> usize {
        let ns = u128::from(self.ns.unwrap_or(all_ns)) * threads as u128;
        let share = ns.div_ceil(u128::from(all_ns.max(1)));
        usize::try_from(share).unwrap_or(threads).clamp(1, threads)
    }

    /// Into how many blocks a node of a stage is cut: as many for each thread, so that nodes of one
    /// size are cut at the same places.
    pub(crate) fn blocks_of_stage(&self, threads: usize) -> usize {
        let ns = self.ns.unwrap_or(0) / threads.max(1) as u64;
        let of = |each: u64| usize::try_from(ns / each).unwrap_or(usize::MAX);
        let many = of(SHORT_BLOCK_NS).min(BLOCKS_PER_THREAD);
        let many = many.max(of(LONG_BLOCK_NS).min(MOST_BLOCKS_PER_THREAD)).max(1);
        threads.saturating_mul(many)
    }

    /// How many neighbouring items of a launch stay together: a vector's, unless threads would go
    /// without. Of a launch that takes an unknown time always a vector's: it may have few, long
    /// items, and its time is then learnt from that.
    pub(crate) fn unit(&self, items: usize, threads: usize) -> usize {
        let most = match self.ns {
            None => VECTOR_ITEMS,
            Some(_) => items / threads.saturating_mul(UNITS_PER_THREAD).max(1),
        };
        1 << most.clamp(1, VECTOR_ITEMS).ilog2()
    }
}

/// On how many of `threads` a stage pays that takes one thread so long.
pub(crate) fn pays(ns: u64, threads: usize) -> usize {
    usize::try_from(ns / PART_NS).unwrap_or(usize::MAX).min(threads).max(1)
}

#[derive(Default)]
struct Slot {
    key: AtomicU64,
    cost: AtomicU64,
    /// The time of the last run, for each item.
    last: AtomicU64,
    /// By times for each item.
    trial: Trial,
}

/// The table. Lock-free: every field is a hint.
pub(crate) struct Costs {
    slots: Box<[Slot]>,
}

impl Costs {
    pub(crate) fn new() -> Costs {
        Costs { slots: (0..SLOTS).map(|_| Slot::default()).collect() }
    }

    /// The key of a kernel; never 0.
    pub(crate) fn key(id: KernelId) -> u64 {
        let mut hasher = TakeHashes(0);
        id.hash(&mut hasher);
        hasher.finish().max(1)
    }

    fn places(&self, key: u64) -> impl Iterator<Item = &Slot> {
        let first = usize::try_from(key & (SLOTS as u64 - 1)).unwrap_or(0);
        (0..PROBES).filter_map(move |i| self.slots.get((first + i) & (SLOTS - 1)))
    }

    fn find(&self, key: u64) -> Option<&Slot> {
        self.places(key).find(|slot| slot.is(key))
    }

    /// How to run `items` items of a kernel. `sample` asks for a measurement even of a kernel
    /// that is well known.
    #[inline(always)] // As `Work::judge`.
    pub(crate) fn judge(&self, key: u64, items: usize, sample: bool) -> Verdict {
        let slot = self.find(sized(key, items));
        let cost = slot.map_or(0, |slot| slot.cost.load(Ordering::Relaxed));
        let Some(slot) = slot.filter(|_| cost != 0) else {
            // Its items may be long: never on the submitting thread.
            return Verdict { tiny: false, measure: true, ns: None, tried: None };
        };
        let each = cost & COST_MASK;
        let ns = ns_of(each, items);
        let measure = cost >> RUNS_SHIFT < MEASURED_RUNS || sample;
        let tried =
            if ns < SHARED_NS { None } else { slot.trial.next(each, of_one(TRIED_NS, items)) };
        Verdict { tiny: ns < TINY_NS, measure, ns: Some(ns), tried }
    }

    /// Learns that a launch took so long from its begin to its end, where both ways are tried.
    pub(crate) fn tried(&self, key: u64, items: usize, way: Way, ns: u64) {
        if let Some(slot) = self.find(sized(key, items)) {
            slot.trial.record(way, of_one(ns, items));
        }
    }

    /// Learns that `items` items of a kernel took `ns` of one thread. Up when two runs in a row say
    /// so, since a thread that was interrupted measures too much; down in steps.
    pub(crate) fn record(&self, key: u64, items: usize, ns: u64) {
        let key = sized(key, items);
        let new = of_one(ns, items).clamp(1, COST_MASK);
        let slot = self
            .places(key)
            .find(|slot| matches!(slot.key.load(Ordering::Relaxed), 0) || slot.is(key))
            .or_else(|| self.places(key).next());
        let Some(slot) = slot else { return };
        if !slot.is(key) {
            slot.cost.store(0, Ordering::Relaxed);
            slot.last.store(new, Ordering::Relaxed);
            slot.trial.clear();
            slot.key.store(key, Ordering::Relaxed);
        }
        let old = slot.cost.load(Ordering::Relaxed);
        let last = slot.last.swap(new, Ordering::Relaxed);
        let runs = (old >> RUNS_SHIFT).saturating_add(1).min(MEASURED_RUNS);
        let old = old & COST_MASK;
        let cost = if new >= old { old.max(new.min(last)) } else { old / 4 + new - new / 4 };
        slot.cost.store(runs << RUNS_SHIFT | cost.clamp(1, COST_MASK), Ordering::Relaxed);
    }
}

/// The key of launches of about so many items: what an item takes depends on whether all fit into a
/// cache, and on how many share what a launch costs.
#[inline(always)]
fn sized(key: u64, items: usize) -> u64 {
    let size = u64::from(items.max(1).ilog2() / 2);
    (key ^ size.wrapping_mul(0x9e37_79b9_7f4a_7c15)).max(1)
}

/// The time of so many items of which one takes this.
#[inline(always)] // As `Work::judge`.
fn ns_of(each: u64, items: usize) -> u64 {
    let items_ns = u128::from(each) * items as u128;
    u64::try_from(items_ns >> FRACTION).unwrap_or(u64::MAX)
}

/// The time of one of so many items.
fn of_one(ns: u64, items: usize) -> u64 {
    let scaled = (u128::from(ns) << FRACTION) / (items.max(1) as u128);
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

impl Slot {
    fn is(&self, key: u64) -> bool {
        self.key.load(Ordering::Relaxed) == key
    }
}

/// A `TypeId` is a hash already, and a number beside it tells chains of kernels apart.
struct TakeHashes(u64);

impl Hasher for TakeHashes {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = self.0.rotate_left(1) ^ n;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_tiny(costs: &Costs, items: usize) -> bool {
        costs.judge(7, items, false).tiny
    }

    #[test]
    fn unknown_kernels_are_never_tiny() {
        let costs = Costs::new();
        let unknown = Verdict { tiny: false, measure: true, ns: None, tried: None };
        assert_eq!([1, 16, 1 << 40].map(|items| costs.judge(7, items, false)), [unknown; 3]);
        assert!(!unknown.is_alone());
        assert_eq!([1, 1 << 20, 1 << 60].map(|items| unknown.blocks(items, 2)), [8, 128, 128]);
    }

    #[test]
    fn a_vectors_items_stay_together_where_there_are_enough_of_them() {
        let unknown = Verdict { tiny: false, measure: true, ns: None, tried: None };
        assert_eq!([1, 17, 1 << 40].map(|items| unknown.unit(items, 64)), [16; 3]);
        let known = Verdict::of_ns(1 << 40);
        let units = |threads| [1, 16, 64, 100, 1 << 40].map(|items| known.unit(items, threads));
        assert_eq!(units(1), [1, 8, 16, 16, 16]);
        assert_eq!(units(2), [1, 4, 16, 16, 16]);
        assert_eq!(units(16), [1, 1, 2, 2, 16]);
        assert_eq!(known.unit(usize::MAX, usize::MAX), 1);
    }

    #[test]
    fn blocks_are_neither_short_nor_long() {
        let blocks = |ns, threads| Verdict::of_ns(ns).blocks(1 << 20, threads);
        assert_eq!([20_000, 30_000, 200_000, 1_000_000].map(|ns| blocks(ns, 2)), [8, 8, 8, 40]);
        assert_eq!(
            [20_000, 100_000, 1_000_000, 10_000_000].map(|ns| blocks(ns, 16)),
            [8, 40, 64, 400]
        );
        assert_eq!([0, u64::MAX].map(|ns| blocks(ns, 2)), [1, 128]);
    }

    #[test]
    fn a_measured_kernel_goes_where_its_time_says() {
        let costs = Costs::new();
        (0..2).for_each(|_| costs.record(7, 64, 6_400));
        assert_eq!(
            [64, 79, 81, 255].map(|items| is_tiny(&costs, items)),
            [true, true, false, false]
        );
    }

    #[test]
    fn both_ways_are_tried_of_what_is_neither_tiny_nor_long() {
        let costs = Costs::new();
        let way = |items| costs.judge(7, items, false).tried;
        (0..2).for_each(|_| costs.record(7, 64, 6_400));
        assert_eq!([64, 255].map(way), [Some(Way::Alone); 2]);
        (0..2).for_each(|_| costs.record(7, 1024, 1_024_000));
        assert_eq!(way(1024), None);
        (0..2).for_each(|_| costs.record(7, 16, 1_600));
        assert_eq!([16, 49, 51].map(way), [None, None, Some(Way::Alone)]);
        (0..4).for_each(|_| costs.tried(7, 64, Way::Alone, 6_400));
        assert_eq!([64, 255].map(way), [Some(Way::Shared); 2]);
    }

    #[test]
    fn sizes_are_learnt_apart() {
        let costs = Costs::new();
        (0..2).for_each(|_| costs.record(7, 1, 50));
        (0..2).for_each(|_| costs.record(7, 1 << 20, 1 << 18));
        assert_eq!(costs.judge(7, 1, false).ns, Some(50));
        assert_eq!(costs.judge(7, 1 << 20, false).ns, Some(1 << 18));
    }

    #[test]
    fn one_outlier_is_not_believed_and_two_are() {
        let costs = Costs::new();
        (0..MEASURED_RUNS).for_each(|_| costs.record(7, 1, 50));
        costs.record(7, 1, 5_000_000);
        assert!(is_tiny(&costs, 1));
        costs.record(7, 1, 50);
        costs.record(7, 1, 5_000_000);
        assert!(is_tiny(&costs, 1));
        costs.record(7, 1, 5_000_000);
        assert!(!is_tiny(&costs, 1));
    }

    #[test]
    fn an_estimate_that_is_too_high_comes_down_in_a_few_runs() {
        let costs = Costs::new();
        (0..2).for_each(|_| costs.record(7, 1, 50_000));
        let runs = (0..8).take_while(|_| {
            costs.record(7, 1, 5_000);
            !is_tiny(&costs, 1)
        });
        assert_eq!(runs.count(), 1);
    }

    #[test]
    fn well_known_tiny_kernels_are_measured_on_request_only() {
        let costs = Costs::new();
        for _ in 0..MEASURED_RUNS {
            assert!(costs.judge(7, 1, false).measure);
            costs.record(7, 1, 50);
        }
        assert!(!costs.judge(7, 1, false).measure);
        assert!(costs.judge(7, 1, true).measure);
    }

    #[test]
    fn more_kernels_than_slots_are_forgotten_not_kept() {
        let costs = Costs::new();
        for key in 1..=10 * SLOTS as u64 {
            costs.record(key, 1, 50);
            assert!(costs.judge(key, 1, false).tiny);
        }
        assert_eq!(costs.slots.len(), SLOTS);
    }
}
