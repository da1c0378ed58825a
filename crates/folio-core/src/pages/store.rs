//! The blocks of a page map that differ from its base value, in storage that is recycled.
//!
//! A block is a number; an exceptional block has a slot, which holds one value for all of its
//! pages or the place of a table of them. Slots are dense and unordered, `dir` finds the slot of a
//! block, `order` finds the next exceptional block. A `dir` entry means something only if the slot
//! that it names exists and names the block back, so forgetting all slots takes constant time.

use super::map::step;
use super::ordered::OrderedSet;

/// Most pages of a block: a table of domain sets is then eight cache lines.
pub(super) const BLOCK: usize = 64;

/// The value of each page of an exceptional block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Body<V> {
    /// The same value, which is not the base.
    Uniform(V),
    /// Table number `table`; `differs` of its pages do not have the base value.
    Table {
        /// Which table.
        table: usize,
        /// How many pages differ from the base: at 0 the block is exceptional no more.
        differs: usize,
    },
}

/// An exceptional block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot<V> {
    /// The block's number.
    pub(super) block: usize,
    /// Its pages.
    pub(super) body: Body<V>,
}

/// All exceptional blocks.
#[derive(Clone, Debug)]
pub(super) struct Store<V> {
    dir: Vec<usize>,
    order: OrderedSet,
    slots: Vec<Slot<V>>,
    tables: Vec<V>,
    /// Tables handed out since the last `clear`; those in `free` are among them.
    used: usize,
    free: Vec<usize>,
}

impl<V: Copy + Eq> Store<V> {
    /// No exceptional block, and no memory.
    pub(super) fn new() -> Store<V> {
        Store {
            dir: Vec::new(),
            order: OrderedSet::default(),
            slots: Vec::new(),
            tables: Vec::new(),
            used: 0,
            free: Vec::new(),
        }
    }

    /// How many blocks are exceptional.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Forgets all blocks, keeps all memory. Constant time.
    pub(super) fn clear(&mut self) {
        step();
        self.slots.clear();
        self.free.clear();
        self.used = 0;
        self.order.clear();
    }

    /// The slot of `block`, if it is exceptional.
    pub(super) fn find(&self, block: usize) -> Option<usize> {
        step();
        let slot = *self.dir.get(block)?;
        (self.slots.get(slot)?.block == block).then_some(slot)
    }

    /// The first exceptional block from `block` on.
    pub(super) fn next(&self, block: usize) -> Option<usize> {
        self.order.next(block)
    }

    /// The slot with number `slot`, which is below `len`.
    pub(super) fn slot(&self, slot: usize) -> Slot<V> {
        self.slots[slot]
    }

    /// Makes `block`, of `blocks` in the map, exceptional; it must not be so already.
    pub(super) fn insert(&mut self, blocks: usize, block: usize, body: Body<V>) -> usize {
        step();
        if self.dir.len() < blocks {
            self.dir = vec![0; blocks];
            self.order = OrderedSet::new(blocks);
        }
        let slot = self.slots.len();
        self.dir[block] = slot;
        self.order.insert(block);
        self.slots.push(Slot { block, body });
        slot
    }

    /// Makes the block of `slot` ordinary; the last slot takes its place.
    pub(super) fn remove(&mut self, slot: usize) {
        step();
        self.release(slot);
        self.order.remove(self.slots[slot].block);
        self.slots.swap_remove(slot);
        if let Some(moved) = self.slots.get(slot) {
            self.dir[moved.block] = slot;
        }
    }

    /// Gives the block of `slot` one value for all pages.
    pub(super) fn make_uniform(&mut self, slot: usize, value: V) {
        step();
        self.release(slot);
        self.slots[slot].body = Body::Uniform(value);
    }

    /// Gives the block of `slot` a table full of `value`, unless it has one; returns its number.
    pub(super) fn make_table(&mut self, slot: usize, value: V, differs: usize) -> usize {
        step();
        if let Body::Table { table, .. } = self.slots[slot].body {
            return table;
        }
        let table = self.free.pop().unwrap_or_else(|| {
            self.used += 1;
            self.used - 1
        });
        if self.tables.len() < self.used * BLOCK {
            self.tables.resize(self.used * BLOCK, value);
        }
        self.table_mut(table).fill(value);
        self.slots[slot].body = Body::Table { table, differs };
        table
    }

    /// Says how many pages of the table of `slot` differ from the base.
    pub(super) fn set_differs(&mut self, slot: usize, count: usize) {
        if let Body::Table { differs, .. } = &mut self.slots[slot].body {
            *differs = count;
        }
    }

    /// The values of table number `table`, which a slot names.
    pub(super) fn table(&self, table: usize) -> &[V] {
        &self.tables[table * BLOCK..(table + 1) * BLOCK]
    }

    /// The same, to change.
    pub(super) fn table_mut(&mut self, table: usize) -> &mut [V] {
        &mut self.tables[table * BLOCK..(table + 1) * BLOCK]
    }

    /// Takes the table of `slot` back, if it has one.
    fn release(&mut self, slot: usize) {
        if let Body::Table { table, .. } = self.slots[slot].body {
            self.free.push(table);
        }
    }

    /// Heap capacities, for tests of what is recycled.
    #[cfg(test)]
    pub(super) fn capacities(&self) -> [usize; 5] {
        [
            self.dir.capacity(),
            self.order.capacity(),
            self.slots.capacity(),
            self.tables.capacity(),
            self.free.capacity(),
        ]
    }
}
