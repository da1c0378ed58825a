//! A pass of a radix sort where items have sub-groups. A group goes through its chunk of the keys
//! tile by tile: sub-groups rank keys among those of their digit, the ranks order the tile in local
//! memory, and runs of one digit are written.
//!
//! The order of the result depends on the order of keys alone: sub-groups have consecutive pieces
//! of the tile, and an item's keys are a sub-group's width apart. So the width may be any.

use crate::keys::{Bits, Rule, ordered};
use crate::prelude::*;
use folio::ir::device::CastFrom;

/// Values of a digit.
pub(crate) const DIGITS: usize = 256;
/// Sub-groups of a group, of which each counts digits for itself.
pub(crate) const SUBGROUPS: usize = 8;
/// All bits of where a count is: a sub-group's number is less than [`SUBGROUPS`].
const COUNTS: u32 = (SUBGROUPS * DIGITS) as u32 - 1;

/// Counts the digits of each group's chunk; the counts of digits are `digit_apart` elements from
/// each other, and those of chunks `chunk_apart`. Copies the keys, if there are `copies`.
#[kernel]
pub(crate) fn count_chunks<B: Bits>(
    g: Group,
    rule: Rule<B>,
    shift: u32,
    chunk: usize,
    digit_apart: usize,
    chunk_apart: usize,
    keys: In<B>,
    own: LocalAtomic<u32, 2048>,
    counts: Racy<u32>,
    copies: Racy<B>,
) where
    usize: CastFrom<B>,
{
    let first = g.index() * chunk;
    let end = (first + chunk).min(keys.len());
    let items = g.size()[0];
    g.each(|i| {
        let copy = i.local_index() / 32 % SUBGROUPS * DIGITS;
        let mut at = first + i.local_index();
        while at + 3 * items < end {
            let mut some = [B::ZERO; 4];
            for k in 0..4 {
                some[k] = keys[at + k * items];
            }
            for k in 0..4 {
                if at + k * items < copies.len() {
                    copies[at + k * items] = some[k];
                }
                own.add(copy + ((ordered(rule, some[k]) >> shift) as usize & (DIGITS - 1)), 1);
            }
            at += 4 * items;
        }
        while at < end {
            let key = keys[at];
            if at < copies.len() {
                copies[at] = key;
            }
            own.add(copy + ((ordered(rule, key) >> shift) as usize & (DIGITS - 1)), 1);
            at += items;
        }
    });
    g.each(|i| {
        let mut digit = i.local_index();
        while digit < DIGITS {
            let mut sum = 0;
            for copy in 0..SUBGROUPS {
                sum += own.load(copy * DIGITS + digit);
            }
            counts[digit * digit_apart + g.index() * chunk_apart] = sum;
            digit += items;
        }
    });
}

/// Moves the keys of each group's chunk, and with many `VALUES` what belongs to them, to their
/// places among those of their digit. A group has `ITEMS`, or any number, which is 0. A tile has
/// `TILE` keys at most, of which an item has `EACH`: they are ordered by way of local memory, where
/// `HIGH` of them have more than 32 bits, and `VALUES` of them also where they come from: as many
/// as `TILE`, or 1 where there is nothing of the kind. With `sums_counts`, `starts` has the counts
/// of chunks, those of one chunk beside each other, and each group adds up what is before its own
/// keys.
#[kernel]
pub(crate) fn place_chunks<
    B: Bits + CastFrom<u64>,
    T: Value,
    const ITEMS: usize,
    const TILE: usize,
    const HIGH: usize,
    const EACH: usize,
    const VALUES: usize,
>(
    g: Group,
    rule: Rule<B>,
    shift: u32,
    chunk: usize,
    sums_counts: u32,
    starts: In<u32>,
    keys: In<B>,
    values: In<T>,
    counts: LocalAtomic<u32, 2048>,
    next: LocalAtomic<u32, 256>,
    ahead: LocalAtomic<u32, 256>,
    sums: LocalAtomic<u32, 8>,
    low: LocalAtomic<u32, TILE>,
    high: LocalAtomic<u32, HIGH>,
    order: LocalAtomic<u32, VALUES>,
    placed: Racy<B>,
    placed_values: Racy<T>,
) where
    usize: CastFrom<B>,
{
    let groups = g.count()[0];
    // A compiler knows who has which digit, if it knows how many items there are.
    let items = if ITEMS > 0 { ITEMS } else { g.size()[0] };
    let (all, each) = (items as u32, EACH as u32);
    // Items that have digits of their own, and how many each has.
    let digits_each = (DIGITS as u32 + all - 1) / all;
    let begin = g.index() * chunk;
    let end = (begin + chunk).min(keys.len());
    let own = g.private([B::ZERO; EACH]);
    // Of each of an item's keys, its rank in the sub-group, and its digit from bit 16 on.
    let rank = g.private([0u32; EACH]);
    let before = g.private(0u32);
    let mut first = begin;
    if sums_counts > 0 {
        g.each(|i| {
            let mut sum = 0;
            for k in 0..digits_each {
                let digit = i.local_index() as u32 * digits_each + k;
                if digit < DIGITS as u32 {
                    let mut earlier = 0;
                    let mut all = 0;
                    for chunk in 0..groups as u32 {
                        let count = starts[chunk * DIGITS as u32 + digit];
                        earlier += if chunk < g.index() as u32 { count } else { 0 };
                        all += count;
                    }
                    next.exchange(digit, earlier);
                    ahead.exchange(digit, all);
                    sum += all;
                }
            }
            before[i] = sum;
        });
        let lower = g.exclusive_scan::<Add>(|i| before[i]);
        g.each(|i| {
            let mut start = lower[i];
            for k in 0..digits_each {
                let digit = i.local_index() as u32 * digits_each + k;
                if digit < DIGITS as u32 {
                    next.add(digit, start);
                    start += ahead.load(digit);
                }
            }
        });
    } else {
        g.each(|i| {
            let mut digit = i.local_index();
            while digit < DIGITS {
                next.exchange(digit, starts[digit * groups + g.index()]);
                digit += items;
            }
        });
    }
    while first < end {
        let count = (end - first).min(items * EACH) as u32;
        g.each(|i| {
            let width = (i.subgroup_size() as u32).min(all);
            let from = i.subgroup_index() as u32 * each * width + i.subgroup_lane() as u32;
            for k in 0..EACH {
                let at = from + k as u32 * width;
                if at < count {
                    own[i][k] = keys[first as u32 + at];
                }
            }
        });
        for k in 0..EACH {
            g.each(|i| {
                let width = (i.subgroup_size() as u32).min(all);
                let subgroup = i.subgroup_index() as u32;
                let at = (subgroup * each + k as u32) * width + i.subgroup_lane() as u32;
                // What the last tile lacks is behind all of its keys.
                let digit = if at < count {
                    ((ordered(rule, own[i][k]) >> shift) as usize & (DIGITS - 1)) as u32
                } else {
                    DIGITS as u32 - 1
                };
                let [ahead, alike, leader] = i.subgroup_match(digit as u8);
                let mut start = 0;
                if ahead == 0 {
                    start = counts.add(subgroup * DIGITS as u32 + digit & COUNTS, alike);
                }
                let start = i.subgroup_broadcast(start, leader);
                rank[i][k] = (start + ahead) | digit << 16;
            });
        }
        g.each(|i| {
            let mut sum = 0;
            for k in 0..digits_each {
                let digit = i.local_index() as u32 * digits_each + k;
                if digit < DIGITS as u32 {
                    for subgroup in 0..SUBGROUPS as u32 {
                        sum += counts.load(subgroup * DIGITS as u32 + digit);
                    }
                }
            }
            before[i] = i.subgroup_exclusive_scan::<Add>(sum);
            let total = i.subgroup_reduce::<Add>(sum);
            if i.subgroup_lane() == 0 {
                sums.exchange(i.subgroup_index(), total);
            }
        });
        g.each(|i| {
            let mut start = before[i];
            for subgroup in 0..i.subgroup_index() as u32 {
                start += sums.load(subgroup);
            }
            for k in 0..digits_each {
                let digit = i.local_index() as u32 * digits_each + k;
                if digit < DIGITS as u32 {
                    let from = start;
                    for subgroup in 0..SUBGROUPS as u32 {
                        start += counts.exchange(subgroup * DIGITS as u32 + digit, start);
                    }
                    let to = next.add(digit, start - from);
                    ahead.exchange(digit, to - from);
                }
            }
        });
        g.each(|i| {
            let width = (i.subgroup_size() as u32).min(all);
            let subgroup = i.subgroup_index() as u32;
            let (keys, ranks) = (own[i], rank[i]);
            for k in 0..EACH {
                let at = (subgroup * each + k as u32) * width + i.subgroup_lane() as u32;
                if at < count {
                    let start = counts.load(subgroup * DIGITS as u32 + (ranks[k] >> 16) & COUNTS);
                    let to = start + (ranks[k] & 0xffff);
                    let key = keys[k] as usize;
                    low.exchange(to, key as u32);
                    if HIGH > 1 {
                        high.exchange(to, (key >> 32) as u32);
                    }
                    if VALUES > 1 {
                        order.exchange(to, at);
                    }
                }
            }
        });
        g.each(|i| {
            for k in 0..EACH {
                let at = i.local_index() as u32 + k as u32 * all;
                if at < count {
                    let mut bits = low.load(at) as u64;
                    if HIGH > 1 {
                        bits |= (high.load(at) as u64) << 32;
                    }
                    let key = bits as B;
                    let digit = ((ordered(rule, key) >> shift) as usize & (DIGITS - 1)) as u32;
                    let to = ahead.load(digit) + at;
                    placed[to] = key;
                    if VALUES > 1 {
                        placed_values[to] = values[first as u32 + order.load(at)];
                    }
                }
            }
            let mut counter = i.local_index() as u32;
            while counter < (SUBGROUPS * DIGITS) as u32 {
                counts.exchange(counter, 0);
                counter += all;
            }
        });
        first += items * EACH;
    }
}

/// Sorts the keys of one tile by all of their digits, and with `VALUES` what belongs to them. There
/// is one group. Its phases of ranks are those of `place_tiles`, since a device function has none.
/// Keys stay where they are in the tile until their order is known.
#[kernel]
pub(crate) fn sort_tile<
    B: Bits,
    T: Value,
    const TILE: usize,
    const EACH: usize,
    const VALUES: usize,
>(
    g: Group,
    rule: Rule<B>,
    bits: u32,
    values: In<T>,
    counts: LocalAtomic<u32, 2048>,
    sums: LocalAtomic<u32, 8>,
    order: LocalAtomic<u32, TILE>,
    tile: Local<B, TILE>,
    keys: Racy<B>,
    placed_values: Racy<T>,
) where
    usize: CastFrom<B>,
{
    let (n, all) = (keys.len(), g.size()[0] as u32);
    let count = n as u32;
    // Of an item: how many keys it has, and digits.
    let each = (count + all - 1) / all;
    let digits_each = (DIGITS as u32 + all - 1) / all;
    tile.fill(|k| keys[k.min(n - 1)]);
    let rank = g.private([0u32; EACH]);
    let from = g.private([0u32; EACH]);
    let before = g.private(0u32);
    let mut shift = 0;
    while shift < bits {
        for k in 0..EACH {
            if (k as u32) < each {
                g.each(|i| {
                    let width = (i.subgroup_size() as u32).min(all);
                    let subgroup = i.subgroup_index() as u32;
                    let at = (subgroup * each + k as u32) * width + i.subgroup_lane() as u32;
                    let mut digit = DIGITS as u32 - 1;
                    if at < count {
                        let key = if shift > 0 { order.load(at) } else { at };
                        from[i][k] = key;
                        digit =
                            ((ordered(rule, tile[key]) >> shift) as usize & (DIGITS - 1)) as u32;
                    }
                    let [ahead, alike, leader] = i.subgroup_match(digit as u8);
                    let mut start = 0;
                    if ahead == 0 {
                        start = counts.add(subgroup * DIGITS as u32 + digit, alike);
                    }
                    let start = i.subgroup_broadcast(start, leader);
                    rank[i][k] = (start + ahead) | digit << 16;
                });
            }
        }
        g.each(|i| {
            let mut sum = 0;
            for k in 0..digits_each {
                let digit = i.local_index() as u32 * digits_each + k;
                if digit < DIGITS as u32 {
                    for subgroup in 0..SUBGROUPS as u32 {
                        sum += counts.load(subgroup * DIGITS as u32 + digit);
                    }
                }
            }
            before[i] = i.subgroup_exclusive_scan::<Add>(sum);
            let total = i.subgroup_reduce::<Add>(sum);
            if i.subgroup_lane() == 0 {
                sums.exchange(i.subgroup_index(), total);
            }
        });
        g.each(|i| {
            let mut start = before[i];
            for subgroup in 0..i.subgroup_index() as u32 {
                start += sums.load(subgroup);
            }
            for k in 0..digits_each {
                let digit = i.local_index() as u32 * digits_each + k;
                if digit < DIGITS as u32 {
                    for subgroup in 0..SUBGROUPS as u32 {
                        start += counts.exchange(subgroup * DIGITS as u32 + digit, start);
                    }
                }
            }
        });
        g.each(|i| {
            let width = (i.subgroup_size() as u32).min(all);
            let subgroup = i.subgroup_index() as u32;
            let (ranks, keys) = (rank[i], from[i]);
            for k in 0..EACH {
                let at = (subgroup * each + k as u32) * width + i.subgroup_lane() as u32;
                if (k as u32) < each && at < count {
                    let start = counts.load(subgroup * DIGITS as u32 + (ranks[k] >> 16));
                    order.exchange(start + (ranks[k] & 0xffff), keys[k]);
                }
            }
        });
        g.each(|i| {
            let mut counter = i.local_index() as u32;
            while counter < (SUBGROUPS * DIGITS) as u32 {
                counts.exchange(counter, 0);
                counter += all;
            }
        });
        shift += 8;
    }
    g.each(|i| {
        let mut at = i.local_index();
        while at < n {
            let from = order.load(at);
            keys[at] = tile[from];
            if VALUES != 0 {
                placed_values[at] = values[from];
            }
            at += g.size()[0];
        }
    });
}
