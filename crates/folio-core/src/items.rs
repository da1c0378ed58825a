//! The items of a launch: a box of positions, its interior, and its edge.

use crate::buffer::{widen, widen_at};
use crate::geom::Box3;
use crate::hal::Geometry;
use smallvec::SmallVec;
use std::ops::Range;

/// The items of a launch, by their positions: from a range of positions in each dimension
/// (`1..n - 1`, `[1..rows - 1, 1..columns - 1]`), or how many there are from position 0 on (`n`,
/// `[rows, columns]`, `buffer.range()`). Tuples say the same as arrays. For kernels of work-groups
/// that do not say it themselves, also how many items are a group:
/// `Items::from([rows, columns]).groups([16, 16])`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Items<const D: usize> {
    /// Position of the first item.
    pub offset: [usize; D],
    /// Number of items in each dimension.
    pub range: [usize; D],
    /// Number of items of a work-group in each dimension; if not given, the kernel says it.
    pub group: Option<[usize; D]>,
}

impl<const D: usize> Items<D> {
    /// Where they are, in three dimensions, for code that is compiled once for all ranks.
    #[inline]
    pub(crate) fn geometry(&self) -> Geometry {
        let (offset, group) = (widen_at(self.offset), self.group.map(widen));
        Geometry { offset, group, ..Geometry::new(D as u8, widen(self.range)) }
    }

    /// The same items, in groups of this size, which divides their number in each dimension.
    pub fn groups(self, size: [usize; D]) -> Items<D> {
        Items { group: Some(size), ..self }
    }

    /// Half as many in the last dimension, for kernels with a [`RedBlack`](crate::RedBlack): an
    /// item for each pair of cells that begins at an even index.
    ///
    /// ```
    /// use folio_core::Items;
    ///
    /// assert_eq!(Items::from([8, 9]).half(), Items::from([8, 5])); // the last cell may be beyond
    /// ```
    #[must_use]
    pub fn half(self) -> Items<D> {
        let mut half = self;
        if let (Some(first), Some(n)) = (half.offset.last_mut(), half.range.last_mut()) {
            let end = first.saturating_add(*n).div_ceil(2);
            *first /= 2;
            *n = if *n == 0 { 0 } else { end - *first };
        }
        half
    }

    /// These without their edge: a kernel for them may look `width` items around without a guard.
    /// There are none if the edge is all.
    ///
    /// ```
    /// use folio_core::Items;
    ///
    /// assert_eq!(Items::from(10).interior(1), Items::from(1..9));
    /// assert_eq!(Items::from([8, 9]).interior([1, 0]), Items::from([1..7, 0..9]));
    /// assert_eq!(Items::from(10).interior([(2, 0)]), Items::from(2..10)); // only in front
    /// ```
    pub fn interior(self, width: impl Into<Margin<D>>) -> Items<D> {
        let margin = width.into();
        let (mut inner, mut none) = (self, false);
        for dim in 0..D {
            let before = margin.before[dim].min(self.range[dim]);
            inner.offset[dim] = self.offset[dim].saturating_add(before);
            inner.range[dim] = (self.range[dim] - before).saturating_sub(margin.after[dim]);
            none |= inner.range[dim] == 0;
        }
        if none { Items { range: [0; D], ..inner } } else { inner }
    }

    /// Those of these that are not in the [`interior`](Self::interior), in boxes, for
    /// [`Queue::run_each`](crate::Queue::run_each).
    pub fn edge(self, width: impl Into<Margin<D>>) -> Edge<D> {
        let inner = self.interior(width);
        let mut boxes = SmallVec::new();
        let of = |items: &Items<D>| Box3::at(widen_at(items.offset), widen(items.range));
        match (of(&self), of(&inner)) {
            (Some(all), Some(hole)) => all.subtract(&hole, |part| {
                let narrow = |dims: [usize; 3]| std::array::from_fn(|dim| dims[3 - D + dim]);
                let (offset, range) = (narrow(part.min), narrow(part.extent()));
                boxes.push(Items { offset, range, group: self.group });
            }),
            // Launching it is an error, which says so.
            _ => boxes.push(self),
        }
        Edge(boxes.into_iter())
    }
}

/// What says the [`Items`] of a launch: all that becomes them by `Into`.
#[diagnostic::on_unimplemented(
    message = "a launch is for items, and `{Self}` says none",
    label = "expected `n`, `a..b`, `[rows, columns]`, or `y.range()`",
    note = "first the items, then the kernel: `q.run(n, f(..))?`",
    note = "items are counted by `usize`: `n as usize`; without the last one: `0..n` for `0..=n - 1`"
)]
pub trait IntoItems<const D: usize> {
    #[doc(hidden)]
    fn into_items(self) -> Items<D>;
}

#[diagnostic::do_not_recommend]
impl<const D: usize, I: Into<Items<D>>> IntoItems<D> for I {
    #[inline(always)]
    fn into_items(self) -> Items<D> {
        self.into()
    }
}

impl<const D: usize> From<[usize; D]> for Items<D> {
    fn from(range: [usize; D]) -> Items<D> {
        Items { offset: [0; D], range, group: None }
    }
}

impl<const D: usize> From<[Range<usize>; D]> for Items<D> {
    fn from(positions: [Range<usize>; D]) -> Items<D> {
        let offset = std::array::from_fn(|d| positions[d].start);
        let range = positions.map(|of| of.end.saturating_sub(of.start));
        Items { offset, range, group: None }
    }
}

/// As tuples: `(rows, columns)`, `(1..rows - 1, 1..columns - 1)`.
macro_rules! tuples {
    ($($count:ident $range:ident),*; $rank:literal) => {
        impl From<($($count,)*)> for Items<$rank> {
            fn from(range: ($($count,)*)) -> Items<$rank> {
                Items::from(<[usize; $rank]>::from(range))
            }
        }

        impl From<($($range<usize>,)*)> for Items<$rank> {
            fn from(positions: ($($range<usize>,)*)) -> Items<$rank> {
                Items::from(<[Range<usize>; $rank]>::from(positions))
            }
        }
    };
}
tuples!(usize Range, usize Range; 2);
tuples!(usize Range, usize Range, usize Range; 3);

impl From<usize> for Items<1> {
    fn from(range: usize) -> Items<1> {
        [range].into()
    }
}

impl From<Range<usize>> for Items<1> {
    fn from(positions: Range<usize>) -> Items<1> {
        [positions].into()
    }
}

/// How wide the edge of a box of items is: the same everywhere (`1`), in each dimension (`[1, 2]`),
/// or also before and after (`[(1, 0), (2, 2)]`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Margin<const D: usize> {
    /// Before the interior, in each dimension.
    pub before: [usize; D],
    /// After the interior, in each dimension.
    pub after: [usize; D],
}

impl<const D: usize> From<usize> for Margin<D> {
    fn from(width: usize) -> Margin<D> {
        [width; D].into()
    }
}

impl<const D: usize> From<[usize; D]> for Margin<D> {
    fn from(widths: [usize; D]) -> Margin<D> {
        Margin { before: widths, after: widths }
    }
}

impl<const D: usize> From<[(usize, usize); D]> for Margin<D> {
    fn from(widths: [(usize, usize); D]) -> Margin<D> {
        Margin { before: widths.map(|of| of.0), after: widths.map(|of| of.1) }
    }
}

/// The edge of a box of items: disjoint boxes, two for each dimension at most.
#[derive(Clone, Debug)]
pub struct Edge<const D: usize>(smallvec::IntoIter<[Items<D>; 6]>);

impl<const D: usize> Iterator for Edge<D> {
    type Item = Items<D>;

    fn next(&mut self) -> Option<Items<D>> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<const D: usize> ExactSizeIterator for Edge<D> {}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often the interior and the edge have each position of a box.
    fn times<const D: usize>(all: Items<D>, width: impl Into<Margin<D>> + Copy) -> Vec<[usize; 2]> {
        let of = |items: Items<D>| Box3::at(widen_at(items.offset), widen(items.range)).unwrap();
        let whole = of(all);
        let mut times = vec![[0; 2]; whole.volume()];
        let mut count = |items: Items<D>, which: usize| {
            for at in of(items).cells() {
                assert!(whole.contains(&Box3::cell(at)), "{items:?} is outside of {all:?}");
                let [z, y, x] = std::array::from_fn(|dim| at[dim] - whole.min[dim]);
                let [_, rows, columns] = whole.extent();
                times[(z * rows + y) * columns + x][which] += 1;
            }
        };
        count(all.interior(width), 0);
        let edge = all.edge(width);
        assert!(edge.len() <= 2 * D, "{edge:?}");
        edge.for_each(|part| count(part, 1));
        times
    }

    #[test]
    fn interior_and_edge_have_each_item_once() {
        let sizes = [0, 1, 2, 3, 5];
        for (rows, columns, width) in sizes_and_widths(&sizes) {
            for before in 0..=width {
                let all = Items::from([3..3 + rows, 1..1 + columns, 0..4]);
                let margin = [(before, width), (width, before), (1, 1)];
                let of = |at: usize, n: usize, (first, last): (usize, usize)| {
                    at >= first && at + last < n
                };
                for (at, [inner, edge]) in times(all, margin).into_iter().enumerate() {
                    let (z, y, x) = (at / (4 * columns), at / 4 % columns, at % 4);
                    let inside =
                        of(z, rows, margin[0]) && of(y, columns, margin[1]) && of(x, 4, margin[2]);
                    assert_eq!((inner == 1, inner + edge), (inside, 1), "{all:?} {margin:?}");
                }
            }
            assert!(times(Items::from([rows, columns]), width).iter().all(|[a, b]| a + b == 1));
            assert!(times(Items::from(2..2 + rows), width).iter().all(|[a, b]| a + b == 1));
        }
    }

    fn sizes_and_widths(sizes: &[usize]) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        let pairs = sizes.iter().flat_map(|a| sizes.iter().map(|b| (*a, *b)));
        pairs.flat_map(|(a, b)| (0..4).map(move |width| (a, b, width)))
    }

    #[test]
    fn edges_of_all_and_of_nothing() {
        let none = Items::from([5, 6]).edge(0);
        assert_eq!((none.len(), Items::from(7).interior(0)), (0, Items::from(7)));
        assert_eq!(Items::from([0, 6]).edge(1).len(), 0);
        assert_eq!(Items::from([2, 6]).edge(1).collect::<Vec<_>>(), [Items::from([2, 6])]);
        assert_eq!(Items::from(9).edge(usize::MAX).collect::<Vec<_>>(), [Items::from(9)]);
        assert_eq!(Items::from([4, 4]).interior([2, 0]).range, [0, 0]);
        // Groups stay, and are checked when they are launched.
        let grouped = Items::from(16).groups([4]);
        assert_eq!(grouped.interior(4), Items::from(4..12).groups([4]));
        assert!(grouped.edge(4).all(|part| part.group == Some([4])));
    }

    #[test]
    fn ends_that_overflow_stay_an_error() {
        let beyond = Items { offset: [usize::MAX - 1], range: [8], group: None };
        let of = |items: Items<1>| Box3::at(widen_at(items.offset), widen(items.range));
        assert!(of(beyond.interior(1)).is_none());
        assert!(beyond.edge(1).any(|part| of(part).is_none()));
    }
}
