//! A storage in a shape: which of its bytes a part has.

use super::{Part, StorageHandle};
use crate::error::{Error, Result};
use crate::geom::{Box3, Dims};
use crate::marks::Marks;
use std::sync::Arc;

/// A storage in the shape in which somebody sees it.
#[derive(Clone)]
pub(crate) struct View {
    pub(crate) storage: Arc<StorageHandle>,
    pub(crate) dims: Dims,
    pub(crate) rank: u8,
    pub(crate) element_bytes: usize,
    /// It has the storage's own shape.
    own: bool,
}

impl View {
    pub(crate) fn new(
        storage: Arc<StorageHandle>,
        (dims, rank): (Dims, usize),
        element_bytes: usize,
    ) -> View {
        let own = dims == storage.grid.dims && element_bytes == storage.element_bytes;
        View { storage, dims, rank: rank as u8, element_bytes, own }
    }

    /// All of it.
    #[inline]
    pub(crate) fn whole(&self) -> Part {
        let part = Box3::whole(self.dims);
        let whole = self.own && !part.is_empty();
        Part { view: self.clone(), part, whole, marks: Marks::new(), overwritten: false }
    }

    /// The same elements in one dimension.
    pub(crate) fn flat(&self) -> View {
        let dims = [1, 1, Box3::whole(self.dims).volume()];
        View::new(self.storage.clone(), (dims, 1), self.element_bytes)
    }

    /// The extents that the user sees.
    pub(crate) fn visible(&self, dims: Dims) -> Vec<usize> {
        dims[3 - usize::from(self.rank)..].to_vec()
    }

    /// Checks that a part lies inside.
    pub(crate) fn part(&self, offset: Dims, extent: Dims) -> Result<Box3> {
        match Box3::at(offset, extent) {
            Some(part) if Box3::whole(self.dims).contains(&part) && fits(&part, self.dims) => {
                Ok(part)
            }
            _ => Err(Error::OutOfRange {
                buffer: self.storage.label.clone(),
                offset: self.visible(offset),
                extent: self.visible(extent),
                range: self.visible(self.dims),
            }),
        }
    }

    /// A part of this view in the storage's own elements: exact where both have one shape,
    /// otherwise rounded up, with `false`.
    #[inline]
    pub(crate) fn in_storage(&self, part: &Box3) -> (Box3, bool) {
        if self.own {
            return (if part.is_empty() { Box3::EMPTY } else { *part }, true);
        }
        self.rounded(part)
    }

    fn rounded(&self, part: &Box3) -> (Box3, bool) {
        let own = &self.storage;
        if part.is_empty() {
            return (Box3::EMPTY, true);
        }
        let (start, end) = self.bytes(part);
        let first = start / own.element_bytes;
        let last = (end - 1) / own.element_bytes;
        let [_, rows, columns] = own.grid.dims;
        let at = |i: usize| [i / (rows * columns), i / columns % rows, i % columns];
        let (a, b) = (at(first), at(last));
        let mut out = Box3 { min: a, max: [b[0] + 1, b[1] + 1, b[2] + 1] };
        // A run of elements over several rows or slices touches whole ones in between.
        if a[0] != b[0] {
            (out.min[1], out.max[1]) = (0, rows);
        }
        if a[0] != b[0] || a[1] != b[1] {
            (out.min[2], out.max[2]) = (0, columns);
        }
        let covered = out.volume() * own.element_bytes;
        let exact = part.volume() * self.element_bytes == covered && end - start == covered;
        (out, exact)
    }

    /// First byte of a part, and one past its last.
    fn bytes(&self, part: &Box3) -> (usize, usize) {
        let last = [part.max[0] - 1, part.max[1] - 1, part.max[2] - 1];
        let start = crate::geom::linear(self.dims, part.min) * self.element_bytes;
        let end = (crate::geom::linear(self.dims, last) + 1) * self.element_bytes;
        (start, end)
    }

    /// True when two parts of one storage share a byte.
    pub(crate) fn shares(&self, part: &Box3, other: &View, theirs: &Box3) -> bool {
        if part.is_empty() || theirs.is_empty() {
            return false;
        }
        if self.dims == other.dims && self.element_bytes == other.element_bytes {
            return part.overlaps(theirs);
        }
        self.shares_at(part, other, theirs, 0)
    }

    /// True when parts of two storages share a byte, where the memory of the other one begins so
    /// many bytes after that of this one.
    pub(crate) fn shares_at(&self, part: &Box3, other: &View, theirs: &Box3, after: i128) -> bool {
        if part.is_empty() || theirs.is_empty() {
            return false;
        }
        let ends =
            |by: i128| move |(start, end): (usize, usize)| (start as i128 + by, end as i128 + by);
        // Both in rising order, so each is passed once.
        let mut mine = self.rows(part).map(ends(0)).peekable();
        let mut others = other.rows(theirs).map(ends(after)).peekable();
        while let (Some(a), Some(b)) = (mine.peek(), others.peek()) {
            if a.0 < b.1 && b.0 < a.1 {
                return true;
            }
            if a.1 < b.1 {
                mine.next()
            } else {
                others.next()
            };
        }
        false
    }

    /// The contiguous runs of bytes of a part, in rising order.
    fn rows(&self, part: &Box3) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (part, dims, bytes) = (*part, self.dims, self.element_bytes);
        let lines = Box3 { min: part.min, max: [part.max[0], part.max[1], part.min[2] + 1] };
        lines.cells().map(move |first| {
            let start = crate::geom::linear(dims, first) * bytes;
            (start, start + (part.max[2] - part.min[2]) * bytes)
        })
    }
}

fn fits(part: &Box3, dims: Dims) -> bool {
    (0..3).all(|d| part.min[d] <= dims[d] && part.max[d] <= dims[d])
}
