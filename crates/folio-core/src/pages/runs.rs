//! Joins boxes that arrive in row-major order: into rows, rows into planes, planes into blocks.

use crate::geom::{Box3, Dims};

/// Boxes not yet reported, because the next one may still join them; one for each dimension.
pub(super) struct Runs<V> {
    open: [Option<(Box3, V)>; 3],
}

impl<V: Copy + Eq> Runs<V> {
    /// Nothing open.
    pub(super) fn new() -> Runs<V> {
        Runs { open: [None; 3] }
    }

    /// Takes the next box; what it cannot join any more is reported.
    pub(super) fn push(&mut self, at: Box3, value: V, out: &mut impl FnMut(Box3, V)) {
        self.hand(3, (at, value), out);
    }

    /// Reports the rest.
    pub(super) fn finish(mut self, out: &mut impl FnMut(Box3, V)) {
        for d in (0..3).rev() {
            if let Some(last) = self.open[d].take() {
                self.hand(d, last, out);
            }
        }
    }

    /// Offers `next` to the dimensions below `from`, fastest first.
    fn hand(&mut self, from: usize, mut next: (Box3, V), out: &mut impl FnMut(Box3, V)) {
        for d in (0..from).rev() {
            match &mut self.open[d] {
                Some((open, value)) if *value == next.1 && continues(open, &next.0, d) => {
                    open.max[d] = next.0.max[d];
                    return;
                }
                slot => match slot.replace(next) {
                    Some(done) => next = done,
                    None => return,
                },
            }
        }
        out(next.0, next.1);
    }
}

/// True when `b` begins in dimension `d` where `a` ends, and is as wide in the others.
pub(super) fn continues(a: &Box3, b: &Box3, d: usize) -> bool {
    a.max[d] == b.min[d] && (0..3).all(|e| e == d || (a.min[e] == b.min[e] && a.max[e] == b.max[e]))
}

/// Reports the cells `from..to` of a row-major array of `dims` as boxes, five at most.
pub(super) fn boxes_of_span(dims: Dims, mut from: usize, to: usize, mut out: impl FnMut(Box3)) {
    let (row, plane) = (dims[2], dims[1] * dims[2]);
    while from < to {
        let left = to - from;
        let at = [from / plane, from % plane / row, from % row];
        let extent = if left >= plane && from.is_multiple_of(plane) {
            [left / plane, dims[1], row]
        } else if left >= row && at[2] == 0 {
            [1, (left / row).min(dims[1] - at[1]), row]
        } else {
            [1, 1, left.min(row - at[2])]
        };
        let part = Box3 { min: at, max: [0, 1, 2].map(|d| at[d] + extent[d]) };
        out(part);
        from += part.volume();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::linear;

    fn joined(boxes: &[Box3]) -> Vec<Box3> {
        let mut found = Vec::new();
        let mut runs = Runs::new();
        for b in boxes {
            runs.push(*b, 0, &mut |b, _| found.push(b));
        }
        runs.finish(&mut |b, _| found.push(b));
        found
    }

    #[test]
    fn spans_become_at_most_five_boxes_and_join_again() {
        let dims = [3, 4, 5];
        for from in 0..60 {
            for to in from..=60 {
                let mut boxes = Vec::new();
                boxes_of_span(dims, from, to, |b| boxes.push(b));
                assert!(boxes.len() <= 5, "{from}..{to}: {boxes:?}");
                let cells: Vec<usize> =
                    boxes.iter().flat_map(|b| b.cells().map(|c| linear(dims, c))).collect();
                let mut sorted = cells.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (from..to).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn all_cells_of_a_box_join_into_it() {
        let whole = Box3 { min: [1, 2, 3], max: [4, 4, 6] };
        let cells: Vec<Box3> = whole.cells().map(Box3::cell).collect();
        assert_eq!(joined(&cells), [whole]);
    }

    #[test]
    fn a_part_of_a_row_stays_apart() {
        let row = |y, a, b| Box3 { min: [0, y, a], max: [1, y + 1, b] };
        assert_eq!(
            joined(&[row(0, 0, 2), row(1, 0, 1), row(1, 1, 2), row(2, 0, 1)]),
            [Box3 { min: [0, 0, 0], max: [1, 2, 2] }, row(2, 0, 1)]
        );
    }
}
