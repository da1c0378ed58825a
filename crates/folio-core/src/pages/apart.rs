//! Finds the boxes that touch no other, in one pass: no cover of the union can do without them, so
//! that nobody need look for a better one. In fragmented states that is most of them.
//!
//! Works where boxes lie in layers, in these in rows, and in these beside each other, as the pages
//! of a grid do. Of anything else it says nothing.

use crate::geom::Box3;
use std::ops::Range;

/// Boxes in row-major order.
pub(super) struct TouchMarks<'a> {
    boxes: &'a [Box3],
    touched: &'a mut Vec<bool>,
}

/// The boxes are in no layers and rows.
struct Irregular;

impl TouchMarks<'_> {
    /// Says of each of `boxes`, which are in row-major order, whether it may share more than an
    /// edge with another. All may, if they are not in layers and rows.
    pub(super) fn mark(boxes: &[Box3], touched: &mut Vec<bool>) {
        touched.clear();
        touched.resize(boxes.len(), false);
        let mut marks = TouchMarks { boxes, touched };
        if marks.within(0..boxes.len(), 0).is_err() {
            touched.fill(true);
        }
    }

    /// The first boxes of `range` with one extent in dimension `d`, and that extent.
    fn group(&self, range: &Range<usize>, d: usize) -> Option<(Range<usize>, (usize, usize))> {
        let extent = |b: &Box3| (b.min[d], b.max[d]);
        let all = &self.boxes[range.clone()];
        let first = extent(all.first()?);
        let end = all.iter().position(|b| extent(b) != first).unwrap_or(all.len());
        Some((range.start..range.start + end, first))
    }

    /// Marks what touches within `range`, whose boxes are alike before dimension `d`.
    fn within(&mut self, mut range: Range<usize>, d: usize) -> Result<(), Irregular> {
        let mut before: Option<(Range<usize>, (usize, usize))> = None;
        while let Some((group, extent)) = self.group(&range, d) {
            range.start = group.end;
            match d {
                2 if group.len() > 1 => return Err(Irregular),
                2 => {}
                _ => self.within(group.clone(), d + 1)?,
            }
            if let Some((other, (_, end))) = before {
                if end > extent.0 {
                    return Err(Irregular);
                }
                if end == extent.0 {
                    self.between(other, group.clone(), d + 1)?;
                }
            }
            before = Some((group, extent));
        }
        Ok(())
    }

    /// Marks what overlaps from dimension `d` on, of boxes that meet before it.
    fn between(
        &mut self,
        mut a: Range<usize>,
        mut b: Range<usize>,
        d: usize,
    ) -> Result<(), Irregular> {
        if d == 3 {
            a.chain(b).for_each(|at| self.touched[at] = true);
            return Ok(());
        }
        let (mut of_a, mut of_b) = (self.group(&a, d), self.group(&b, d));
        while let (Some((one, p)), Some((other, q))) = (&of_a, &of_b) {
            if p.0 < q.1 && q.0 < p.1 {
                // Rows of which one has several beside it could be looked at again and again.
                if d < 2 && p != q {
                    return Err(Irregular);
                }
                self.between(one.clone(), other.clone(), d + 1)?;
            }
            let (p, q, next) = (p.1, q.1, [one.end, other.end]);
            if p <= q {
                a.start = next[0];
                of_a = self.group(&a, d);
            }
            if q <= p {
                b.start = next[1];
                of_b = self.group(&b, d);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::testing::{Rng, picture, seeds};

    fn touched(boxes: &[Box3]) -> Vec<bool> {
        let mut touched = Vec::new();
        TouchMarks::mark(boxes, &mut touched);
        touched
    }

    /// Two disjoint boxes share a face, or a part of one: they meet in one dimension and overlap in
    /// the others.
    fn share(a: &Box3, b: &Box3) -> bool {
        let meet = |d: usize| a.max[d] == b.min[d] || b.max[d] == a.min[d];
        let overlap = |d: usize| a.min[d] < b.max[d] && b.min[d] < a.max[d];
        (0..3).any(|d| meet(d) && (0..3).all(|e| e == d || overlap(e)))
    }

    #[test]
    fn a_checkerboard_touches_at_edges_only() {
        let board = picture(&["101", "010", "101"]);
        assert_eq!(touched(&board), [false; 5]);
        let with_two = picture(&["1010", "0100", "1011"]);
        assert_eq!(touched(&with_two), [false, false, false, false, true, true]);
    }

    /// What is not marked shares no face; on pages of a grid, what is marked does.
    #[test]
    fn marks_equal_a_comparison_of_all_pairs() {
        for seed in seeds(3000) {
            let mut rng = Rng::new(seed);
            let dims = [1 + rng.below(3), 1 + rng.below(4), 1 + rng.below(5)];
            let pages = rng.below(2) == 0;
            let mut boxes: Vec<Box3> = Vec::new();
            if pages {
                let all = Box3::whole(dims);
                boxes.extend(all.cells().filter(|_| rng.below(3) == 0).map(Box3::cell));
            } else {
                for _ in 0..rng.below(8) {
                    let next = rng.box_in(dims).intersect(&Box3::whole(dims));
                    if !next.is_empty() && boxes.iter().all(|b| !b.overlaps(&next)) {
                        boxes.push(next);
                    }
                }
            }
            boxes.sort_unstable();
            let found = touched(&boxes);
            for (at, b) in boxes.iter().enumerate() {
                let shares = boxes.iter().any(|other| share(b, other));
                assert!(found[at] || !shares, "seed {seed}: {b:?} of {boxes:?}");
                assert!(!pages || found[at] == shares, "seed {seed}: {b:?} of {boxes:?}");
            }
        }
    }

    #[test]
    fn boxes_that_overlap_or_lie_anyhow_all_may_touch() {
        let tall = Box3 { min: [0, 0, 0], max: [1, 3, 1] };
        assert_eq!(touched(&[tall, Box3::cell([0, 1, 5])]), [true; 2]);
        assert_eq!(touched(&[tall, tall]), [true; 2]);
    }
}
