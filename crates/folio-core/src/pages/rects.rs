//! Covers disjoint boxes by few rectangles: their exact union, no cell twice.
//!
//! Boxes that touch no other stay as they are. The rest are joined into rows, rows into planes,
//! planes into blocks. That is the least there can be in one dimension. In more, their union is
//! also cut anew: into maximal runs along one dimension, equal neighbours of which are joined along
//! a second and then a third, for each order of the dimensions in which the boxes differ. The
//! fewest win. (The true minimum is a matching problem in two dimensions and NP-hard in three.)
//! Everything is O(n log n), and O(n) where boxes come in order and none touch.

use std::collections::BTreeMap;

use super::apart::TouchMarks;
use super::runs::continues;
use crate::geom::Box3;

/// Joins boxes; keeps its memory between calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Merger {
    touched: Vec<bool>,
    alone: Vec<Box3>,
    trial: Vec<Box3>,
    sweep: Sweep,
}

impl Merger {
    /// Replaces `boxes`, which are disjoint, by as few as it finds with the same union.
    ///
    /// Never more than before, never more than rows then planes then blocks, and in two dimensions
    /// never more than maximal runs of either.
    pub(super) fn merge(&mut self, boxes: &mut Vec<Box3>) {
        boxes.sort_unstable();
        join(boxes, 2);
        TouchMarks::mark(boxes, &mut self.touched);
        self.alone.clear();
        let mut touched = self.touched.iter();
        boxes.retain(|b| {
            let stays = touched.next() == Some(&true);
            if !stays {
                self.alone.push(*b);
            }
            stays
        });
        if boxes.is_empty() {
            return std::mem::swap(boxes, &mut self.alone);
        }
        self.merge_touching(boxes);
        if !self.alone.is_empty() {
            boxes.append(&mut self.alone);
            boxes.sort_unstable();
        }
    }

    /// The same, without a look for boxes that touch no other.
    fn merge_touching(&mut self, boxes: &mut Vec<Box3>) {
        join_all(boxes);
        // Two boxes that do not join are no box; and a line is minimal.
        if boxes.len() <= 2 {
            return;
        }
        let volume = volume_of(boxes);
        let varies = [0, 1, 2].map(|d| {
            boxes.iter().any(|b| b.min[d] != boxes[0].min[d] || b.max[d] != boxes[0].max[d])
        });
        for (run, across) in [(2, 1), (1, 2), (2, 0), (0, 2), (1, 0), (0, 1)] {
            if !varies[run] || !varies[across] {
                continue;
            }
            self.trial.clear();
            self.sweep.cut(boxes, run, across, &mut self.trial);
            join_all(&mut self.trial);
            // Boxes that overlap, against the contract, come out smaller: then leave them alone.
            let same = volume_of(&self.trial) == volume;
            if same && self.trial.len() < boxes.len() {
                std::mem::swap(boxes, &mut self.trial);
            }
        }
    }
}

/// The cells of all boxes together, if they are disjoint.
fn volume_of(boxes: &[Box3]) -> usize {
    boxes.iter().map(Box3::volume).fold(0, usize::wrapping_add)
}

/// Joins boxes that touch along the last dimension, then the middle one, then the first.
fn join_all(boxes: &mut Vec<Box3>) {
    for d in (0..3).rev() {
        let (e, f) = ((d + 1) % 3, (d + 2) % 3);
        let key = |b: &Box3| [b.min[e], b.max[e], b.min[f], b.max[f], b.min[d]];
        boxes.sort_unstable_by_key(key);
        join(boxes, d);
    }
    boxes.sort_unstable();
}

/// Joins boxes that continue the one before them along dimension `d`.
fn join(boxes: &mut Vec<Box3>, d: usize) {
    boxes.dedup_by(|next, open| {
        let joins = continues(open, next, d);
        if joins {
            open.max[d] = next.max[d];
        }
        joins
    });
}

/// A box that begins or ends at a position of the sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    /// The box's extent in the third dimension: boxes that differ in it are not mixed.
    slab: (usize, usize),
    at: usize,
    lo: usize,
    hi: usize,
    begins: bool,
}

/// A maximal run that is open since position `since` of the sweep.
#[derive(Clone, Copy, Debug)]
struct Run {
    lo: usize,
    hi: usize,
    since: usize,
}

/// Sweeps a line of maximal runs along one dimension across another.
#[derive(Clone, Debug, Default)]
struct Sweep {
    edges: Vec<Edge>,
    /// The open runs by where they begin: disjoint, and no two touch.
    open: BTreeMap<usize, Run>,
    /// Open runs that touch an edge of the present position.
    taken: Vec<Run>,
    /// Where the cover of the line rises and falls, near those edges.
    deltas: Vec<(usize, i64)>,
}

impl Sweep {
    /// Cuts the union of `boxes` into maximal runs along `run`, equal ones joined along `across`.
    fn cut(&mut self, boxes: &[Box3], run: usize, across: usize, out: &mut Vec<Box3>) {
        let third = 3 - run - across;
        self.edges.clear();
        self.open.clear();
        for b in boxes {
            let slab = (b.min[third], b.max[third]);
            let (lo, hi) = (b.min[run], b.max[run]);
            self.edges.push(Edge { slab, at: b.min[across], lo, hi, begins: true });
            self.edges.push(Edge { slab, at: b.max[across], lo, hi, begins: false });
        }
        self.edges.sort_unstable();
        let edges = std::mem::take(&mut self.edges);
        for here in edges.chunk_by(|a, b| (a.slab, a.at) == (b.slab, b.at)) {
            let Edge { slab, at, .. } = here[0];
            self.step(here, |done| {
                let mut part = Box3::EMPTY;
                (part.min[third], part.max[third]) = slab;
                (part.min[run], part.max[run]) = (done.lo, done.hi);
                (part.min[across], part.max[across]) = (done.since, at);
                out.push(part);
            });
        }
        self.edges = edges;
    }

    /// Moves the line over the edges of one position; `out` gets the runs that end there.
    fn step(&mut self, edges: &[Edge], mut out: impl FnMut(Run)) {
        self.taken.clear();
        self.deltas.clear();
        let at = edges[0].at;
        for edge in edges {
            while let Some((&key, &run)) = self.open.range(..=edge.hi).next_back() {
                if run.hi < edge.lo {
                    break;
                }
                self.open.remove(&key);
                self.taken.push(run);
                self.deltas.extend([(run.lo, 1), (run.hi, -1)]);
            }
            let rise = if edge.begins { 1 } else { -1 };
            self.deltas.extend([(edge.lo, rise), (edge.hi, -rise)]);
        }
        self.taken.sort_unstable_by_key(|run| run.lo);
        self.deltas.sort_unstable();
        let (mut cover, mut lo) = (0, 0);
        for here in self.deltas.chunk_by(|a, b| a.0 == b.0) {
            let (before, hi) = (cover, here[0].0);
            cover += here.iter().map(|(_, rise)| rise).sum::<i64>();
            if before <= 0 && cover > 0 {
                lo = hi;
            } else if before > 0 && cover <= 0 {
                let mut since = at;
                if let Ok(same) = self.taken.binary_search_by_key(&lo, |run| run.lo)
                    && self.taken[same].hi == hi
                {
                    since = std::mem::replace(&mut self.taken[same].since, at);
                }
                self.open.insert(lo, Run { lo, hi, since });
            }
        }
        self.taken.iter().filter(|run| run.since < at).for_each(|run| out(*run));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::Dims;
    use crate::pages::testing::{Rng, picture, seeds};

    fn merged(mut boxes: Vec<Box3>) -> Vec<Box3> {
        Merger::default().merge(&mut boxes);
        boxes
    }

    /// Cells of `dims` that `bits` has, and a check that `boxes` are those, each once.
    fn check(dims: Dims, bits: u64, boxes: &[Box3], note: &str) {
        for (i, cell) in Box3::whole(dims).cells().enumerate() {
            let count = boxes.iter().filter(|b| b.contains(&Box3::cell(cell))).count();
            assert_eq!(count as u64, bits >> i & 1, "{note}, bits {bits:b}: {cell:?}, {boxes:?}");
        }
    }

    fn cells(dims: Dims, bits: u64) -> Vec<Box3> {
        let all = Box3::whole(dims).cells().enumerate();
        all.filter(|(i, _)| bits >> i & 1 == 1).map(|(_, cell)| Box3::cell(cell)).collect()
    }

    /// Maximal runs along `run`, joined where equal along `across`, counted the slow way.
    fn greedy(dims: Dims, bits: u64, run: usize, across: usize) -> usize {
        let mut boxes = cells(dims, bits);
        for d in [run, across, 3 - run - across] {
            let mut i = 0;
            while i < boxes.len() {
                let next = (0..boxes.len()).find(|&j| continues(&boxes[i], &boxes[j], d));
                match next {
                    Some(j) => {
                        boxes[i] = boxes[i].hull(&boxes[j]);
                        boxes.remove(j);
                        i = 0;
                    }
                    None => i += 1,
                }
            }
        }
        boxes.len()
    }

    /// XFER-04: never more rectangles than greedy maximal runs along either dimension.
    #[test]
    fn all_small_sets_are_covered_by_no_more_than_maximal_runs() {
        for (dims, step) in [([1, 1, 9], 1), ([1, 3, 3], 1), ([1, 3, 4], 3), ([2, 2, 3], 5)] {
            let step = if cfg!(miri) { 211 } else { step };
            for bits in (0..1u64 << Box3::whole(dims).volume()).step_by(step) {
                let boxes = merged(cells(dims, bits));
                check(dims, bits, &boxes, "cells");
                let bound = greedy(dims, bits, 2, 1).min(greedy(dims, bits, 1, 2));
                assert!(boxes.len() <= bound, "{dims:?} {bits:b}: {boxes:?}");
            }
        }
    }

    #[test]
    fn a_notch_in_any_plane_takes_two() {
        let rows = picture(&["110", "111", "110"]);
        for turn in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]] {
            let turned =
                |b: &Box3| Box3 { min: turn.map(|d| b.min[d]), max: turn.map(|d| b.max[d]) };
            assert_eq!(merged(rows.iter().map(turned).collect()).len(), 2, "{turn:?}");
        }
        let runs = vec![
            Box3 { min: [0, 0, 0], max: [1, 1, 2] },
            Box3 { min: [0, 1, 0], max: [1, 2, 3] },
            Box3 { min: [0, 2, 0], max: [1, 3, 2] },
        ];
        assert_eq!(
            merged(runs),
            [Box3 { min: [0, 0, 0], max: [1, 3, 2] }, Box3 { min: [0, 1, 2], max: [1, 2, 3] }]
        );
    }

    #[test]
    fn boxes_of_any_size_keep_their_union() {
        for seed in seeds(2000) {
            let mut rng = Rng::new(seed);
            let dims = [1 + rng.below(3), 1 + rng.below(4), 1 + rng.below(5)];
            let (mut boxes, mut bits) = (Vec::new(), 0u64);
            for _ in 0..rng.below(12) {
                let next = rng.box_in(dims).intersect(&Box3::whole(dims));
                if !next.is_empty() && boxes.iter().all(|b: &Box3| !b.overlaps(&next)) {
                    boxes.push(next);
                }
            }
            for (i, cell) in Box3::whole(dims).cells().enumerate() {
                bits |= u64::from(boxes.iter().any(|b| b.contains(&Box3::cell(cell)))) << i;
            }
            let given = boxes.len();
            let found = merged(boxes);
            check(dims, bits, &found, &format!("seed {seed}"));
            assert!(found.len() <= given, "seed {seed}");
        }
    }

    #[test]
    fn a_run_goes_on_where_boxes_change_and_their_union_does_not() {
        let part = |y, from, to| Box3 { min: [0, y, from], max: [1, y + 1, to] };
        let (mut sweep, mut out) = (Sweep::default(), Vec::new());
        sweep.cut(&[part(0, 0, 3), part(1, 0, 1), part(1, 1, 3)], 2, 1, &mut out);
        assert_eq!(out, [Box3::whole([1, 2, 3])]);
    }

    #[test]
    fn boxes_that_overlap_are_left_as_they_are() {
        let cross = vec![
            Box3 { min: [0, 1, 0], max: [1, 2, 3] },
            Box3 { min: [0, 0, 1], max: [1, 3, 2] },
            Box3::cell([0, 0, 0]),
        ];
        assert_eq!(merged(cross).len(), 3);
    }
}
