//! Boxes of elements and boxes of pages: the arithmetic that everything else stands on.
//!
//! Everything is three-dimensional inside; a 1D shape `n` is `[1, 1, n]`, a 2D shape `[r, c]` is
//! `[1, r, c]`. The last dimension is contiguous in memory. Pure, no allocation.

/// An extent in three dimensions, slowest first.
pub type Dims = [usize; 3];

/// A half-open box `min..max` of elements or of pages.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Box3 {
    /// First index in each dimension.
    pub min: Dims,
    /// One past the last index in each dimension.
    pub max: Dims,
}

impl std::fmt::Debug for Box3 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [a, b, c] = self.min;
        let [x, y, z] = self.max;
        write!(f, "[{a}..{x}, {b}..{y}, {c}..{z}]")
    }
}

impl Box3 {
    /// The box that contains nothing.
    pub const EMPTY: Box3 = Box3 { min: [0; 3], max: [0; 3] };

    /// The box `0..dims`.
    pub const fn whole(dims: Dims) -> Box3 {
        Box3 { min: [0; 3], max: dims }
    }

    /// The box of `extent` at `offset`; `None` when an end overflows.
    pub fn at(offset: Dims, extent: Dims) -> Option<Box3> {
        let mut max = [0; 3];
        for d in 0..3 {
            max[d] = offset[d].checked_add(extent[d])?;
        }
        Some(Box3 { min: offset, max })
    }

    /// The box that holds the single cell `at`.
    pub const fn cell(at: Dims) -> Box3 {
        Box3 { min: at, max: [at[0] + 1, at[1] + 1, at[2] + 1] }
    }

    /// True when the box holds nothing.
    pub const fn is_empty(&self) -> bool {
        self.min[0] >= self.max[0] || self.min[1] >= self.max[1] || self.min[2] >= self.max[2]
    }

    /// How far the box reaches in each dimension.
    pub const fn extent(&self) -> Dims {
        [
            self.max[0].saturating_sub(self.min[0]),
            self.max[1].saturating_sub(self.min[1]),
            self.max[2].saturating_sub(self.min[2]),
        ]
    }

    /// Number of cells.
    pub const fn volume(&self) -> usize {
        let e = self.extent();
        e[0] * e[1] * e[2]
    }

    /// The cells in both.
    pub fn intersect(&self, other: &Box3) -> Box3 {
        let mut out = *self;
        for d in 0..3 {
            out.min[d] = self.min[d].max(other.min[d]);
            out.max[d] = self.max[d].min(other.max[d]);
        }
        if out.is_empty() { Box3::EMPTY } else { out }
    }

    /// True when they share a cell.
    pub fn overlaps(&self, other: &Box3) -> bool {
        !self.intersect(other).is_empty()
    }

    /// True when every cell of `other` is in `self`.
    pub fn contains(&self, other: &Box3) -> bool {
        other.is_empty()
            || (0..3).all(|d| self.min[d] <= other.min[d] && other.max[d] <= self.max[d])
    }

    /// The smallest box around both.
    pub fn hull(&self, other: &Box3) -> Box3 {
        if self.is_empty() {
            return *other;
        }
        if other.is_empty() {
            return *self;
        }
        let mut out = *self;
        for d in 0..3 {
            out.min[d] = self.min[d].min(other.min[d]);
            out.max[d] = self.max[d].max(other.max[d]);
        }
        out
    }

    /// Calls `out` with disjoint boxes that together are `self` without `hole` (six at most).
    pub fn subtract(&self, hole: &Box3, mut out: impl FnMut(Box3)) {
        let hole = self.intersect(hole);
        if hole.is_empty() {
            if !self.is_empty() {
                out(*self);
            }
            return;
        }
        let mut rest = *self;
        for d in 0..3 {
            if rest.min[d] < hole.min[d] {
                let mut part = rest;
                part.max[d] = hole.min[d];
                out(part);
                rest.min[d] = hole.min[d];
            }
            if hole.max[d] < rest.max[d] {
                let mut part = rest;
                part.min[d] = hole.max[d];
                out(part);
                rest.max[d] = hole.max[d];
            }
        }
    }

    /// The box moved by `by`.
    pub fn shifted(&self, by: Dims) -> Box3 {
        let moved = |at: Dims| [at[0] + by[0], at[1] + by[1], at[2] + by[2]];
        Box3 { min: moved(self.min), max: moved(self.max) }
    }

    /// The box as it is counted from `origin`, which is before it.
    pub fn counted_from(&self, origin: Dims) -> Box3 {
        let from = |at: Dims| [at[0] - origin[0], at[1] - origin[1], at[2] - origin[2]];
        Box3 { min: from(self.min), max: from(self.max) }
    }

    /// Every cell, in row-major order.
    pub fn cells(self) -> impl Iterator<Item = Dims> {
        (self.min[0]..self.max[0]).flat_map(move |z| {
            (self.min[1]..self.max[1])
                .flat_map(move |y| (self.min[2]..self.max[2]).map(move |x| [z, y, x]))
        })
    }

    /// If `self` and `other` differ in one dimension only and touch there, their union.
    pub fn joined(&self, other: &Box3) -> Option<Box3> {
        let mut differs = None;
        for d in 0..3 {
            if self.min[d] != other.min[d] || self.max[d] != other.max[d] {
                if differs.is_some() {
                    return None;
                }
                differs = Some(d);
            }
        }
        let Some(d) = differs else { return Some(*self) };
        (self.max[d] == other.min[d] || other.max[d] == self.min[d]).then(|| self.hull(other))
    }
}

/// Position of `at` in a row-major array of `dims`.
pub const fn linear(dims: Dims, at: Dims) -> usize {
    (at[0] * dims[1] + at[1]) * dims[2] + at[2]
}

/// Number of elements of `dims`; `None` when it overflows.
pub fn checked_volume(dims: Dims) -> Option<usize> {
    dims[0].checked_mul(dims[1])?.checked_mul(dims[2])
}

/// A shape cut into pages of equal size; the last page of a dimension may be partial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    /// The shape, in elements.
    pub dims: Dims,
    /// The size of a page, in elements; never 0.
    pub page: Dims,
    /// The number of pages in each dimension.
    pub pages: Dims,
}

impl Grid {
    /// Cuts `dims` into pages of `page` elements. A page extent of 0 counts as 1, and a page
    /// larger than the shape is cut to it.
    pub fn new(dims: Dims, page: Dims) -> Grid {
        let mut p = [1; 3];
        let mut pages = [0; 3];
        for d in 0..3 {
            p[d] = page[d].clamp(1, dims[d].max(1));
            pages[d] = dims[d].div_ceil(p[d]);
        }
        Grid { dims, page: p, pages }
    }

    /// The number of pages.
    pub const fn count(&self) -> usize {
        self.pages[0] * self.pages[1] * self.pages[2]
    }

    /// The box of all pages.
    pub const fn all(&self) -> Box3 {
        Box3::whole(self.pages)
    }

    /// The pages that overlap `elements` (the *page range* of an access).
    #[inline]
    pub fn pages_of(&self, elements: &Box3) -> Box3 {
        if elements.is_empty() {
            return Box3::EMPTY;
        }
        if self.count() == 1 || (elements.min == [0; 3] && elements.max == self.dims) {
            return self.all();
        }
        self.pages_over(elements)
    }

    fn pages_over(&self, elements: &Box3) -> Box3 {
        let mut out = Box3::EMPTY;
        for d in 0..3 {
            out.min[d] = elements.min[d] / self.page[d];
            out.max[d] = elements.max[d].div_ceil(self.page[d]);
        }
        out.intersect(&self.all())
    }

    /// The pages that lie wholly inside `elements`.
    pub fn pages_inside(&self, elements: &Box3) -> Box3 {
        if elements.is_empty() {
            return Box3::EMPTY;
        }
        let mut out = Box3::EMPTY;
        for d in 0..3 {
            out.min[d] = elements.min[d].div_ceil(self.page[d]);
            out.max[d] = if elements.max[d] >= self.dims[d] {
                self.pages[d]
            } else {
                elements.max[d] / self.page[d]
            };
        }
        if out.is_empty() { Box3::EMPTY } else { out }
    }

    /// The elements of `pages`, cut to the shape.
    pub fn elements_of(&self, pages: &Box3) -> Box3 {
        let mut out = Box3::EMPTY;
        for d in 0..3 {
            out.min[d] = pages.min[d].saturating_mul(self.page[d]).min(self.dims[d]);
            out.max[d] = pages.max[d].saturating_mul(self.page[d]).min(self.dims[d]);
        }
        if out.is_empty() { Box3::EMPTY } else { out }
    }

    /// Calls `out` with boxes of pages (27 at most) that together are `pages`, all of which overlap
    /// `elements`: the pages of a box are of one size, and `elements` has the same part of each.
    pub fn alike(&self, pages: &Box3, elements: &Box3, out: &mut dyn FnMut(Box3)) {
        let ends = [0, 1, 2].map(|d| {
            let (page, first, last) = (self.page[d], pages.min[d], pages.max[d]);
            // The first and the last page are others if they are cut, by an end of the shape, too.
            let [low, high] = [elements.min[d], elements.max[d]];
            let from = if low.is_multiple_of(page) { first } else { low / page + 1 };
            let to = if high.is_multiple_of(page) { last } else { high / page };
            let from = from.clamp(first, last);
            [first, from, to.clamp(from, last), last]
        });
        for cell in Box3::whole([3; 3]).cells() {
            let part = Box3 {
                min: [0, 1, 2].map(|d| ends[d][cell[d]]),
                max: [0, 1, 2].map(|d| ends[d][cell[d] + 1]),
            };
            if !part.is_empty() {
                out(part);
            }
        }
    }

    /// Calls `out` with boxes of elements that together are `part` of each of `pages`, which are of
    /// one size; `part` counts from a page's first element. Where it reaches through a page, it is
    /// one box with its neighbour's.
    pub fn parts_of(&self, pages: &Box3, part: &Box3, out: &mut dyn FnMut(Box3)) {
        if pages.is_empty() {
            return;
        }
        let through = |d: usize| part.min[d] == 0 && part.max[d] == self.page[d];
        // How many pages a box has of each dimension, and how many boxes there are.
        let many = [0, 1, 2].map(|d| if through(d) { pages.extent()[d] } else { 1 });
        let boxes = [0, 1, 2].map(|d| pages.extent()[d] / many[d]);
        for at in Box3::whole(boxes).cells() {
            let first = [0, 1, 2].map(|d| pages.min[d] + at[d] * many[d]);
            out(Box3 {
                min: [0, 1, 2].map(|d| first[d] * self.page[d] + part.min[d]),
                max: [0, 1, 2].map(|d| (first[d] + many[d] - 1) * self.page[d] + part.max[d]),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small_boxes() -> impl Iterator<Item = Box3> {
        Box3::whole([1, 4, 4]).cells().flat_map(|min| {
            Box3::whole([1, 5, 5])
                .cells()
                .map(move |max| Box3 { min, max: [1, max[1], max[2]] })
                .filter(|b| !b.is_empty())
        })
    }

    #[test]
    fn subtraction_is_exact_and_disjoint() {
        for a in small_boxes() {
            for b in small_boxes() {
                let mut parts = Vec::new();
                a.subtract(&b, |p| parts.push(p));
                for cell in Box3::whole([1, 5, 5]).cells() {
                    let cell = Box3::cell(cell);
                    let expect = a.contains(&cell) && !b.contains(&cell);
                    let found = parts.iter().filter(|p| p.contains(&cell)).count();
                    assert_eq!(found, usize::from(expect), "{a:?} - {b:?} at {cell:?}");
                }
            }
        }
    }

    #[test]
    fn page_ranges_are_the_pages_that_overlap() {
        let grid = Grid::new([1, 5, 7], [1, 2, 3]);
        assert_eq!(grid.pages, [1, 3, 3]);
        for b in small_boxes() {
            let touched = grid.pages_of(&b);
            let inside = grid.pages_inside(&b);
            for page in grid.all().cells() {
                let page = Box3::cell(page);
                let elements = grid.elements_of(&page);
                assert_eq!(touched.contains(&page), elements.overlaps(&b));
                assert_eq!(inside.contains(&page), b.contains(&elements), "{b:?} {page:?}");
            }
        }
    }

    #[test]
    fn pages_are_cut_alike() {
        let grid = Grid::new([1, 5, 7], [1, 2, 3]);
        for elements in small_boxes() {
            let pages = grid.pages_of(&elements);
            let mut told = Vec::new();
            grid.alike(&pages, &elements, &mut |part| {
                let cut = |page: Dims| {
                    let all = grid.elements_of(&Box3::cell(page));
                    (all.extent(), all.intersect(&elements).counted_from(all.min))
                };
                let (_, covered) = cut(part.min);
                part.cells().for_each(|page| assert_eq!(cut(page), cut(part.min), "{elements:?}"));
                told.extend(part.cells());
                let mut parts = Vec::new();
                grid.parts_of(&part, &covered, &mut |b| parts.push(b));
                let inside = grid.elements_of(&part).intersect(&elements);
                assert_eq!(parts.iter().map(Box3::volume).sum::<usize>(), inside.volume());
                assert!(parts.iter().all(|b| inside.contains(b)), "{parts:?} of {inside:?}");
                let apart = |(at, b): (usize, &Box3)| parts[..at].iter().all(|a| !a.overlaps(b));
                assert!(parts.iter().enumerate().all(apart));
            });
            told.sort_unstable();
            assert_eq!(told, pages.cells().collect::<Vec<_>>(), "{elements:?}");
        }
        let mut rows = Vec::new();
        let grid = Grid::new([1, 100, 8], [1, 1, 8]);
        let (pages, column) = (Box3::whole([1, 100, 1]), Box3 { min: [0; 3], max: [1, 1, 3] });
        grid.parts_of(&pages, &column, &mut |b| rows.push(b));
        assert_eq!(rows, [Box3::whole([1, 100, 3])]);
    }

    #[test]
    fn empty_shapes_have_no_pages() {
        let grid = Grid::new([1, 1, 0], [1, 1, 0]);
        assert_eq!(grid.count(), 0);
        assert!(grid.pages_of(&Box3::whole([1, 1, 1])).is_empty());
        assert!(grid.elements_of(&grid.all()).is_empty());
    }

    #[test]
    fn ends_that_overflow_are_no_boxes() {
        assert_eq!(Box3::at([0, 0, 2], [1, 1, usize::MAX]), None);
        assert_eq!(checked_volume([2, usize::MAX, 1]), None);
    }
}
