//! Strips of a phase: rows of a group that are computed together, as strips of item kernels are
//! ([`strip`](super::strip)).

use super::group::three;
use super::param::{by_dim, last};
use super::strip::most;
use super::{Group, GroupItem, Item, Lane};

/// A loop of so many turns at most is unrolled by rustc, if their number is known: it is left to
/// the items.
const UNROLLED: usize = 16;
/// So is a loop over fewer items of a row: with both unrolled, LLVM finds no vectors.
const ROLLED: usize = 16;
/// Rows of fewer items are no vectors.
const LEAST: usize = 8;

impl<'g, const D: usize> Group<'g, D> {
    /// The items of a phase in strips, if that is worth it: for loops of so many turns, whose
    /// number rustc may know, and with such room for variables.
    ///
    /// # Safety
    /// A lane's item is asked of its own row.
    #[inline(always)]
    pub unsafe fn strips(
        self,
        turns: usize,
        fixed: bool,
        variables: &[usize],
    ) -> Option<GroupStrips<'g, D>> {
        let most = most(variables)?;
        let size = three(self.size);
        let unrolled = fixed && turns <= UNROLLED && size[2] >= ROLLED;
        if unrolled || size[2] < LEAST {
            return None;
        }
        let columns = size[2].min(most);
        Some(GroupStrips { group: self, next: [0; 3], rows: most / columns, columns })
    }
}

/// All strips of a group.
#[derive(Debug)]
pub struct GroupStrips<'g, const D: usize> {
    group: Group<'g, D>,
    /// Where the next one begins.
    next: [usize; 3],
    /// How many rows and columns each has at most.
    rows: usize,
    columns: usize,
}

impl<'g, const D: usize> Iterator for GroupStrips<'g, D> {
    type Item = GroupStrip<'g, D>;

    #[inline(always)]
    fn next(&mut self) -> Option<GroupStrip<'g, D>> {
        let size = three(self.group.size);
        let first @ [z, y, x] = self.next;
        if z >= size[0] {
            return None;
        }
        let (rows, columns) = (self.rows.min(size[1] - y), self.columns.min(size[2] - x));
        self.next = if x + columns < size[2] {
            [z, y, x + columns]
        } else if y + rows < size[1] {
            [z, y + rows, 0]
        } else {
            [z + 1, 0, 0]
        };
        Some(GroupStrip { group: self.group, first, rows, columns })
    }
}

/// Rows of a group, or neighbours in one: a loop that all items have in common runs once for it.
/// With one row at a time, each turn of that loop would wait for the one before.
#[derive(Clone, Copy, Debug)]
pub struct GroupStrip<'g, const D: usize> {
    group: Group<'g, D>,
    first: [usize; 3],
    rows: usize,
    columns: usize,
}

impl<'g, const D: usize> GroupStrip<'g, D> {
    /// Its rows.
    #[inline(always)]
    pub fn rows(self) -> impl Iterator<Item = GroupRow<'g, D>> {
        (0..self.rows).map(move |row| GroupRow { strip: self, row })
    }
}

/// Neighbours of a strip in the last dimension.
#[derive(Clone, Copy, Debug)]
pub struct GroupRow<'g, const D: usize> {
    strip: GroupStrip<'g, D>,
    row: usize,
}

impl<'g, const D: usize> GroupRow<'g, D> {
    /// The number in the strip of its first item.
    #[inline(always)]
    fn first(self) -> usize {
        self.row.wrapping_mul(self.strip.columns)
    }

    /// Its items.
    #[inline(always)]
    pub fn lanes(self) -> impl Iterator<Item = Lane> {
        let GroupStrip { rows, columns, .. } = self.strip;
        Lane::each(self.first(), columns, rows.wrapping_mul(columns))
    }

    /// An item.
    #[inline(always)]
    pub fn item(self, lane: Lane) -> GroupItem<'g, D> {
        let GroupStrip { group: Group { size, first, .. }, first: [z, y, x], .. } = self.strip;
        let column = x.wrapping_add(lane.number().wrapping_sub(self.first()));
        let local = last([z, y.wrapping_add(self.row), column]);
        let at = by_dim(|dim| first[dim].wrapping_add(local[dim]));
        let row = |row: usize, dim: usize| row.wrapping_mul(size[dim]).wrapping_add(local[dim]);
        let mut number = 0;
        for dim in 0..D {
            number = row(number, dim);
        }
        GroupItem { item: Item::new(at), local, number }
    }
}
