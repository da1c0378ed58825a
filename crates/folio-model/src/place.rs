//! Where views lie: their bytes, and the elements and pages of the buffer that they stand for.

use crate::program::{BufferSpec, View};
use folio_core::geom::{Box3, Dims, Grid, linear};

/// The shape of a page when nobody chose: the buffers of programs are below 64 KiB, one page.
pub fn grid(spec: &BufferSpec) -> Grid {
    Grid::new(spec.dims, spec.page.unwrap_or(spec.dims))
}

/// The first byte of each element of a view's part, in order.
pub fn offsets(view: &View) -> impl Iterator<Item = usize> + use<> {
    let view = *view;
    view.part.cells().map(move |cell| linear(view.dims, cell) * view.ty.size())
}

/// True when two views of one buffer share a byte.
pub fn overlap(a: &View, b: &View) -> bool {
    a.buffer == b.buffer
        && offsets(a).any(|x| {
            let mut theirs = offsets(b);
            theirs.any(|y| x < y + b.ty.size() && y < x + a.ty.size())
        })
}

/// The elements of the buffer that a view stands for, and whether that is exact. Through another
/// shape it is rounded up to whole rows and slices (BUF-06).
pub fn in_buffer(view: &View, spec: &BufferSpec) -> (Box3, bool) {
    if view.part.is_empty() {
        return (Box3::EMPTY, true);
    }
    if view.dims == spec.dims && view.ty == spec.ty {
        return (view.part, true);
    }
    let size = spec.ty.size();
    let end = |max: Dims| [max[0] - 1, max[1] - 1, max[2] - 1];
    let start = linear(view.dims, view.part.min) * view.ty.size();
    let stop = (linear(view.dims, end(view.part.max)) + 1) * view.ty.size();
    let [_, rows, columns] = spec.dims;
    let at = |i: usize| [i / (rows * columns), i / columns % rows, i % columns];
    let (first, last) = (at(start / size), at((stop - 1) / size));
    let mut hull = Box3 { min: first, max: [last[0] + 1, last[1] + 1, last[2] + 1] };
    if first[0] != last[0] {
        (hull.min[1], hull.max[1]) = (0, rows);
    }
    if first[0] != last[0] || first[1] != last[1] {
        (hull.min[2], hull.max[2]) = (0, columns);
    }
    let covered = hull.volume() * size;
    let exact = view.part.volume() * view.ty.size() == covered && stop - start == covered;
    (hull, exact)
}
