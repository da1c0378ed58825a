//! Sub-groups on the CPU: of one item each (semantics 11.1), so no item has to be asked.

use super::combine::Combine;
use super::ops::Number;
use super::{Group, GroupItem};

impl<const D: usize> Group<'_, D> {
    /// Items of a sub-group; the group's last one can have fewer.
    #[inline(always)]
    pub fn subgroup_size(self) -> usize {
        1
    }
}

impl<const D: usize> GroupItem<'_, D> {
    /// Items of a sub-group; the group's last one can have fewer.
    #[inline(always)]
    pub fn subgroup_size(self) -> usize {
        1
    }

    /// The number of its sub-group in the group.
    #[inline(always)]
    pub fn subgroup_index(self) -> usize {
        self.local_index()
    }

    /// Its number in its sub-group.
    #[inline(always)]
    pub fn subgroup_lane(self) -> usize {
        0
    }

    /// Whether `x` holds for an item of its sub-group.
    #[inline(always)]
    pub fn subgroup_any(self, x: bool) -> bool {
        x
    }

    /// Whether `x` holds for all items of its sub-group.
    #[inline(always)]
    pub fn subgroup_all(self, x: bool) -> bool {
        x
    }

    /// The value of the item with number `lane` in its sub-group; its own if there is none.
    #[inline(always)]
    pub fn subgroup_broadcast<T: Number>(self, x: T, lane: u32) -> T {
        let _ = lane;
        x
    }

    /// The value of the item whose number in the sub-group is its own `^ mask`; its own if there is
    /// none.
    #[inline(always)]
    pub fn subgroup_shuffle_xor<T: Number>(self, x: T, mask: u32) -> T {
        let _ = mask;
        x
    }

    /// Which items of its sub-group give a value of the same bits: how many of them are before it,
    /// how many there are with itself, and the number of the first of them in the sub-group.
    #[inline(always)]
    pub fn subgroup_match<T: Number>(self, x: T) -> [u32; 3] {
        let _ = x;
        [0, 1, 0]
    }

    /// The values of the sub-group's items as one.
    #[inline(always)]
    pub fn subgroup_reduce<O: Combine<T>, T>(self, x: T) -> T {
        x
    }

    /// The values of the sub-group's items up to and with its own as one.
    #[inline(always)]
    pub fn subgroup_inclusive_scan<O: Combine<T>, T>(self, x: T) -> T {
        x
    }

    /// The values of the sub-group's items before its own as one.
    #[inline(always)]
    pub fn subgroup_exclusive_scan<O: Combine<T>, T>(self, x: T) -> T {
        let _ = x;
        O::IDENTITY
    }
}
