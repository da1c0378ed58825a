//! Cuts: a storage's pages become smaller where parts of launches end, so that what a part reads
//! and writes is whole pages. Pages that come of one page know of themselves what that knew.

use crate::engine::pages::layout::Layout;
use crate::engine::pages::pieces::{Fragment, Pieces};
use crate::engine::pages::residency::Residency;
use crate::engine::pages::tracker::Tracker;
use crate::geom::Box3;
use crate::pages::{BlockTracker, DomainSet, PageMap, PageTracker};
use crate::planted::{Plant, Planted};

impl Residency {
    /// Cuts pages so that none reaches over the edges of these boxes of elements. Of a user's
    /// tracker, which keeps the pages that it was made for, and beyond the limit of a [`Layout`],
    /// pages stay as they are: then parts of launches move more than they need.
    pub(crate) fn cut(&mut self, boxes: &[Box3], plant: Plant) {
        if self.tracker.is_foreign() {
            return;
        }
        let Some(new) = self.grid.cut(boxes) else { return };
        let old = std::mem::replace(&mut self.grid, new);
        let new = &self.grid;
        let all = old.all();
        let moved = |pages: &Box3| new.pages_of(&old.elements_of(pages));
        let mut tracker = BlockTracker::new(new.pages);
        self.tracker.visit(&all, &mut |pages, set| tracker.set(&moved(&pages), set));
        let mut defined = PageMap::new(new.pages, DomainSet::EMPTY);
        self.defined.visit(&all, &mut |pages, set| defined.set(&moved(&pages), set));
        self.hazards.cut(new.pages, &moved);
        let mut pieces = Pieces::new(new.pages);
        self.pieces.visit(&all, &mut |pages, fragments| {
            if fragments.is_empty() {
                return;
            }
            for page in pages.cells().map(Box3::cell) {
                for part in moved(&page).cells().map(Box3::cell) {
                    let fragments = of_part((&old, &page), (new, &part), fragments);
                    let on = fragments.iter().map(Fragment::on).reduce(DomainSet::intersect);
                    tracker.set(&part, on.unwrap_or(DomainSet::EMPTY));
                    pieces.set(&part, fragments);
                }
            }
        });
        if plant.is(Planted::LostPieces) {
            pieces = Pieces::new(new.pages);
        }
        (self.tracker, self.defined, self.pieces) = (Tracker::Own(tracker), defined, pieces);
        self.note_change();
    }
}

/// The fragments of a page as those of a part of it, which is a page.
fn of_part(
    (old, page): (&Layout, &Box3),
    (new, part): (&Layout, &Box3),
    fragments: &[Fragment],
) -> Vec<Fragment> {
    let (whole, own) = (old.elements_of(page), new.elements_of(part));
    let inside = |fragment: &Fragment| {
        let elements = fragment.elements.shifted(whole.min).intersect(&own);
        let elements = (!elements.is_empty()).then(|| elements.counted_from(own.min))?;
        Some(Fragment { elements, ..fragment.clone() })
    };
    fragments.iter().filter_map(inside).collect()
}
