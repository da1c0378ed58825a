//! Boxes that together are what a part of a launch reads.

use crate::geom::Box3;
use smallvec::SmallVec;

/// Boxes that may overlap.
pub(super) type Boxes = SmallVec<[Box3; 8]>;

/// More boxes than this are one: each is an access of its own.
const MOST: usize = 8;

/// The same elements in fewer boxes, where two are one box together; all elements between them
/// where there are many.
pub(super) fn merged(mut boxes: Boxes) -> Boxes {
    boxes.retain(|b| !b.is_empty());
    let mut at = 0;
    while at < boxes.len() {
        let both =
            (at + 1..boxes.len()).find_map(|other| Some((other, one(&boxes[at], &boxes[other])?)));
        match both {
            Some((other, both)) => {
                boxes.swap_remove(other);
                boxes[at] = both;
                // What it is now may be one with a box that it was not one with.
                at = 0;
            }
            None => at += 1,
        }
    }
    if boxes.len() > MOST
        && let Some(hull) = boxes.iter().copied().reduce(|all, b| all.hull(&b))
    {
        boxes = std::iter::once(hull).collect();
    }
    boxes
}

/// Both as one box, if they are one.
fn one(a: &Box3, b: &Box3) -> Option<Box3> {
    let hull = a.hull(b);
    let equal = (0..3).filter(|d| (a.min[*d], a.max[*d]) == (b.min[*d], b.max[*d])).count();
    let apart = (0..3).any(|d| a.max[d] < b.min[d] || b.max[d] < a.min[d]);
    (hull == *a || hull == *b || equal >= 2 && !apart).then_some(hull)
}

/// How many elements are in the boxes and not in `but`.
pub(super) fn beyond(boxes: &[Box3], but: &Box3) -> usize {
    let mut seen: Vec<Box3> = vec![*but];
    let mut count = 0;
    for b in boxes {
        let mut left = vec![*b];
        for known in &seen {
            let mut rest = Vec::new();
            left.iter().for_each(|part| part.subtract(known, |b| rest.push(b)));
            left = rest;
        }
        count += left.iter().map(Box3::volume).sum::<usize>();
        seen.push(*b);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(rows: [usize; 2], columns: [usize; 2]) -> Box3 {
        Box3 { min: [0, rows[0], columns[0]], max: [1, rows[1], columns[1]] }
    }

    #[test]
    fn neighbours_of_all_items_are_few_boxes() {
        let around = |by: &[(usize, usize)]| {
            let moved = |(r, c): &(usize, usize)| square([3 + r, 7 + r], [2 + c, 9 + c]);
            merged(by.iter().map(moved).collect())
        };
        let five = around(&[(0, 1), (1, 0), (1, 1), (1, 2), (2, 1)]);
        assert_eq!(*five, [square([3, 9], [3, 10]), square([4, 8], [2, 11])]);
        assert_eq!(beyond(&five, &square([4, 8], [3, 10])), 2 * 4 + 2 * 7);
        let nine: Vec<_> = (0..9).map(|k| (k / 3, k % 3)).collect();
        assert_eq!(*around(&nine), [square([3, 9], [2, 11])]);
        let apart: Vec<_> = (0..10).map(|k| (20 * k, 20 * k)).collect();
        assert_eq!(around(&apart).len(), 1);
    }

    #[test]
    fn elements_are_counted_once() {
        let a = square([0, 4], [0, 4]);
        assert_eq!(beyond(&[a, a], &Box3::EMPTY), 16);
        assert_eq!(beyond(&[a, square([2, 6], [2, 6])], &square([0, 1], [0, 8])), 12 + 12);
    }
}
