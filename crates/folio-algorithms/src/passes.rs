//! A sort by radix: as one launch where the keys fit a tile, else pass by pass. Each pass counts
//! the keys of each digit, and moves each key to its place.

use crate::digits::{count, place, sort_few};
use crate::keys::{Bits, Rule};
use crate::prelude::*;
use crate::scan::exclusive_scan;
use crate::tiles::{DIGITS, SUBGROUPS, count_chunks, place_chunks, sort_tile};
use crate::{private, racy_whole};
use folio::hal::DeviceKind;
use folio::ir::device::CastFrom;
use folio::{DeviceRef, RacyMemory};

/// Kernels of a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// Each item has a chunk.
    Items {
        /// Keys of a chunk.
        chunk: usize,
    },
    /// Groups have chunks, of which they order tiles.
    Groups {
        /// Items of a group: [`SUBGROUPS`] sub-groups at most.
        items: usize,
        /// Keys of an item.
        each: usize,
        /// Keys of a chunk.
        chunk: usize,
    },
}

impl Way {
    /// The way that suits the queue's devices: counts and moves may run on different ones.
    pub(crate) fn of(q: &Queue, key_bytes: usize, n: usize) -> Way {
        let mut ways = q.devices().into_iter().map(|device| Way::on(&device, key_bytes, n));
        let first = ways.next();
        let all_alike = ways.all(|way| Some(way) == first);
        first.filter(|_| all_alike).unwrap_or(Way::Items { chunk: 1 << 6 })
    }

    /// The way that suits a device.
    fn on(device: &DeviceRef, key_bytes: usize, n: usize) -> Way {
        let limits = device.limits();
        let width = limits.subgroup as usize;
        match device.info().kind {
            // Threads of a CPU go through long chunks; other devices have more items, with less
            // memory for each.
            DeviceKind::Cpu if width == 1 => Way::Items { chunk: 1 << 14 },
            _ if width == 1 => Way::Items { chunk: 1 << 6 },
            _ => {
                let each = if key_bytes > 4 { 8 } else { 16 };
                let room = LARGE * each * (key_bytes + size_of::<u32>()) + COUNTS_BYTES;
                let (items, local) = (SUBGROUPS * width, limits.local_memory as usize);
                let is_large =
                    items >= LARGE && limits.group_items >= LARGE as u64 && local >= room;
                let (items, each) = if is_large { (LARGE, each) } else { (items.min(64), 16) };
                let tiles = n.div_ceil(items * 16 * FEW_CHUNKS).max(1);
                let chunk = items * 16 * if tiles > MOST_TILES { TILES } else { tiles };
                Way::Groups { items, each, chunk }
            }
        }
    }

    /// Digits, and chunks of so many keys.
    fn counts(self, n: usize) -> (usize, usize) {
        match self {
            Way::Items { chunk } if chunk < 1 << 10 => (16, n.div_ceil(chunk)),
            Way::Items { chunk } | Way::Groups { chunk, .. } => (DIGITS, n.div_ceil(chunk)),
        }
    }

    /// So many keys are sorted by one launch.
    pub(crate) fn alone(self) -> usize {
        match self {
            Way::Items { chunk } if chunk < 1 << 10 => 0,
            Way::Items { chunk } => chunk,
            Way::Groups { items, each, .. } => items * each,
        }
    }

    /// Groups add up the counts of all chunks: a scan of them is no launch of its own.
    fn sums_counts(self, n: usize) -> bool {
        matches!(self, Way::Groups { chunk, .. } if n.div_ceil(chunk) <= FEW_CHUNKS)
    }
}

/// Items of a group that orders large tiles.
const LARGE: usize = 256;
/// Tiles that a group orders one after the other, whose counts are shared: at most where each group
/// reads the counts of all chunks, and where they are scanned.
const MOST_TILES: usize = 8;
const TILES: usize = 2;
/// Chunks at most of which each group reads all counts.
const FEW_CHUNKS: usize = 128;
/// Local memory of a tile beside its keys and their order.
const COUNTS_BYTES: usize = (SUBGROUPS + 2) * DIGITS * size_of::<u32>();

/// Keys and their values.
pub(crate) type Pairs<'a, 'b, B, T> = (&'a mut SliceMut<'b, B>, &'a mut SliceMut<'b, T>);

pub(crate) fn copied<T: DeviceType>(
    q: &Queue,
    from: &SliceMut<'_, T>,
    to: &mut SliceMut<'_, T>,
) -> Result<()> {
    if !from.is_empty() {
        q.submit(|cg| {
            cg.copy(from, to);
            Ok(())
        })?;
    }
    Ok(())
}

/// Sorts keys by their digits, from the lowest one on.
#[derive(Clone, Copy)]
pub(crate) struct Passes<'a, B: Bits> {
    pub(crate) q: &'a Queue,
    pub(crate) rule: Rule<B>,
    pub(crate) bits: u32,
    pub(crate) way: Way,
}

impl<B: Bits + CastFrom<u64>> Passes<'_, B>
where
    usize: CastFrom<B>,
{
    /// In one launch.
    pub(crate) fn alone<T: DeviceType + Value, const VALUES: usize>(
        self,
        (keys, values): Pairs<'_, '_, B, T>,
    ) -> Result<()> {
        let Passes { q, rule, bits, way } = self;
        let (n, rt) = (keys.len(), q.runtime());
        let mut other_values = private::<T>(&rt, values.len())?;
        let Way::Groups { items, each, .. } = way else {
            let mut others = private::<B>(&rt, n)?;
            // SAFETY: there is one item.
            let keys = unsafe { RacyMemory::new(keys) };
            // SAFETY: as above.
            let others = unsafe { RacyMemory::new(&mut others) };
            // SAFETY: as above.
            let values = unsafe { RacyMemory::new(values) };
            // SAFETY: as above.
            let other_values = unsafe { RacyMemory::new(&mut other_values) };
            let call = sort_few::<B, T, VALUES>(rule, bits, keys, values, others, other_values);
            q.run(1, call)?;
            return Ok(());
        };
        copied(q, values, &mut other_values.slice_mut([0], [values.len()])?)?;
        // SAFETY: there is one group; each item writes places of its own after a barrier, before
        // which all were read.
        let keys = unsafe { RacyMemory::new(keys) };
        // SAFETY: as above, and each place is written.
        let placed = unsafe { racy_whole(values) };
        let (launch, of) = (Items::from(items).groups([items]), &other_values);
        match (items == LARGE, each) {
            (true, 8) => {
                q.run(launch, sort_tile::<B, T, 2048, 8, VALUES>(rule, bits, of, keys, placed))?
            }
            (true, _) => {
                q.run(launch, sort_tile::<B, T, 4096, 16, VALUES>(rule, bits, of, keys, placed))?
            }
            _ => {
                q.run(launch, sort_tile::<B, T, 1024, 16, VALUES>(rule, bits, of, keys, placed))?
            }
        };
        Ok(())
    }

    /// Pass by pass: in memory of the sort's own, which no other command changes between a count
    /// and the move that relies on it, and in the last pass to where the keys belong. The first
    /// count copies the keys. Values come from where they are.
    pub(crate) fn all<T: DeviceType + Value, const VALUES: usize>(
        self,
        sorted: Pairs<'_, '_, B, T>,
    ) -> Result<()> {
        let Passes { q, bits, way, .. } = self;
        let (n, values_len, rt) = (sorted.0.len(), sorted.1.len(), q.runtime());
        let (mut one, mut two) = (private::<B>(&rt, n)?, private::<B>(&rt, n)?);
        let mut one_values = private::<T>(&rt, values_len)?;
        let mut two_values = private::<T>(&rt, values_len)?;
        let (all, all_values) = ([n], [values_len]);
        let mut from = (one.slice_mut([0], all)?, one_values.slice_mut([0], all_values)?);
        let mut to = (two.slice_mut([0], all)?, two_values.slice_mut([0], all_values)?);
        let (radix, chunks) = way.counts(n);
        let step = radix.ilog2();
        if bits <= step {
            copied(q, sorted.1, &mut from.1)?;
        }
        let mut counts = private::<u32>(&rt, radix * chunks)?;
        let mut starts = private::<u32>(&rt, radix * chunks)?;
        for shift in (0..bits).step_by(step as usize) {
            let pass = Pass { of: self, shift };
            if shift == 0 {
                pass.count(&sorted.0.slice_all(), &mut counts, &mut from.0)?;
            } else {
                pass.count(&from.0.slice_all(), &mut counts, &mut to.0.slice_mut([0], [0])?)?;
            }
            let before = if way.sums_counts(n) {
                &counts
            } else {
                exclusive_scan(q, Add, &counts, &mut starts)?;
                &starts
            };
            let keys = from.0.slice_all();
            let (is_first, is_last) = (shift == 0, shift + step >= bits);
            if is_last {
                let into = (&mut *sorted.0, &mut *sorted.1);
                pass.place::<T, VALUES>(before, (&keys, &from.1.slice_all()), into)?;
            } else {
                let values = if is_first { sorted.1.slice_all() } else { from.1.slice_all() };
                pass.place::<T, VALUES>(before, (&keys, &values), (&mut to.0, &mut to.1))?;
            }
            if shift + step < bits {
                std::mem::swap(&mut from, &mut to);
            }
        }
        Ok(())
    }
}

/// A pass by one digit.
struct Pass<'a, B: Bits> {
    of: Passes<'a, B>,
    shift: u32,
}

impl<B: Bits + CastFrom<u64>> Pass<'_, B>
where
    usize: CastFrom<B>,
{
    /// Counts digits, and copies the keys if there is room for copies.
    fn count(
        &self,
        keys: &Slice<'_, B>,
        counts: &mut Buffer<u32>,
        copies: &mut SliceMut<'_, B>,
    ) -> Result<()> {
        let Pass { of: Passes { q, rule, way, .. }, shift } = *self;
        let (radix, chunks) = way.counts(keys.len());
        // SAFETY: an item or a group writes what is its own modulo the number of chunks, so that
        // all of it is written, and nothing is read.
        let shared = unsafe { racy_whole(counts) };
        // SAFETY: a copy is written by the item that reads its key; there are as many as keys, or
        // none.
        let copies = unsafe { racy_whole(copies) };
        match way {
            Way::Items { chunk } if radix == 16 => {
                q.run(chunks, count::<B, 16>(rule, shift, chunk, keys, shared, copies))?
            }
            Way::Items { chunk } => {
                q.run(chunks, count::<B, DIGITS>(rule, shift, chunk, keys, shared, copies))?
            }
            Way::Groups { items, chunk, .. } => {
                let launch = Items::from(chunks * items).groups([items]);
                let (digit, of) =
                    if way.sums_counts(keys.len()) { (1, DIGITS) } else { (chunks, 1) };
                q.run(
                    launch,
                    count_chunks::<B>(rule, shift, chunk, digit, of, keys, shared, copies),
                )?
            }
        };
        Ok(())
    }

    fn place<T: DeviceType + Value, const VALUES: usize>(
        &self,
        starts: &Buffer<u32>,
        (keys, values): (&Slice<'_, B>, &Slice<'_, T>),
        (placed, placed_values): Pairs<'_, '_, B, T>,
    ) -> Result<()> {
        let Pass { of: Passes { q, rule, way, .. }, shift } = *self;
        let (radix, chunks) = way.counts(keys.len());
        // SAFETY: there are fewer than 2^32 keys, in memory of the sort's own, which no command has
        // written since they were counted: where this runs, the count has run, since the queue is
        // not divided. From each start on there is therefore room for the keys of this chunk and
        // digit, and for no others; each place is written once, and none is read.
        let placed = unsafe { racy_whole(placed) };
        // SAFETY: as above: values are placed as their keys are, and without `VALUES` there is no
        // place.
        let others = unsafe { racy_whole(placed_values) };
        let (items, chunk) = match way {
            Way::Items { chunk } if radix == 16 => {
                let call = place::<B, T, 16, VALUES>(
                    rule, shift, chunk, starts, keys, values, placed, others,
                );
                q.run(chunks, call)?;
                return Ok(());
            }
            Way::Items { chunk } => {
                let call = place::<B, T, DIGITS, VALUES>(
                    rule, shift, chunk, starts, keys, values, placed, others,
                );
                q.run(chunks, call)?;
                return Ok(());
            }
            Way::Groups { items, chunk, .. } => (items, chunk),
        };
        let launch = Items::from(chunks * items).groups([items]);
        let sums = u32::from(way.sums_counts(keys.len()));
        macro_rules! run {
            ($items:expr, $tile:literal, $high:literal, $each:literal, $order:literal) => {{
                let call = place_chunks::<B, T, $items, $tile, $high, $each, $order>(
                    rule, shift, chunk, sums, starts, keys, values, placed, others,
                );
                q.run(launch, call)?
            }};
        }
        let is_wide = B::WIDTH > 32;
        match (items == LARGE, is_wide, VALUES > 0) {
            (true, true, true) => run!(LARGE, 2048, 2048, 8, 2048),
            (true, true, false) => run!(LARGE, 2048, 2048, 8, 1),
            (true, false, true) => run!(LARGE, 4096, 1, 16, 4096),
            (true, false, false) => run!(LARGE, 4096, 1, 16, 1),
            (false, true, true) => run!(0, 1024, 1024, 16, 1024),
            (false, true, false) => run!(0, 1024, 1024, 16, 1),
            (false, false, true) => run!(0, 1024, 1, 16, 1024),
            (false, false, false) => run!(0, 1024, 1, 16, 1),
        };
        Ok(())
    }
}
