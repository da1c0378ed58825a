//! The pages of a storage: of one size, and cut further where parts of launches have ended.

use crate::geom::{Box3, Dims, Grid};
use smallvec::SmallVec;

/// A storage is cut at so many places of a dimension at most, beside those where its pages of one
/// size end. Each page more costs the steps of plans and of hazards.
const MOST_CUTS: usize = 128;

/// The shape of a storage, in pages. In a storage that has been cut they differ in size.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// The shape, in elements.
    pub(crate) dims: Dims,
    /// The number of pages in each dimension of pages.
    pub(crate) pages: Dims,
    /// The pages of one size.
    grid: Grid,
    cuts: Option<Box<Cuts>>,
}

/// What a storage has that was cut.
#[derive(Clone, Debug)]
struct Cuts {
    /// By dimension, where pages begin, and where the last one ends.
    ends: [Vec<usize>; 3],
    /// By dimension, the pages from which on they are of another size.
    changes: [Vec<usize>; 3],
    /// By dimension of pages, the dimension of elements that it is. The most pages are in the last
    /// one: what lies beside a cut is one run there, and not one in each row.
    order: [usize; 3],
}

impl Cuts {
    /// Pages by the dimensions of elements, as they are by those of pages.
    fn turned(&self, pages: &Box3) -> Box3 {
        let Box3 { min, max } = pages;
        Box3 { min: self.order.map(|d| min[d]), max: self.order.map(|d| max[d]) }
    }

    /// The inverse of [`turned`](Self::turned).
    fn unturned(&self, pages: &Box3) -> Box3 {
        let mut turned = *pages;
        for (at, d) in self.order.into_iter().enumerate() {
            (turned.min[d], turned.max[d]) = (pages.min[at], pages.max[at]);
        }
        turned
    }
}

impl From<Grid> for Layout {
    fn from(grid: Grid) -> Layout {
        let (dims, pages) = (grid.dims, grid.pages);
        Layout { dims, pages, grid, cuts: None }
    }
}

impl Layout {
    /// The box of all pages.
    pub(crate) fn all(&self) -> Box3 {
        Box3::whole(self.pages)
    }

    /// The pages that overlap `elements`.
    #[inline]
    pub(crate) fn pages_of(&self, elements: &Box3) -> Box3 {
        match &self.cuts {
            None => self.grid.pages_of(elements),
            Some(_) if elements.is_empty() => Box3::EMPTY,
            Some(cuts) => cuts
                .turned(&Box3 {
                    min: [0, 1, 2]
                        .map(|d| cuts.ends[d].partition_point(|end| *end <= elements.min[d]) - 1),
                    max: [0, 1, 2]
                        .map(|d| cuts.ends[d].partition_point(|end| *end < elements.max[d])),
                })
                .intersect(&self.all()),
        }
    }

    /// The pages that lie wholly inside `elements`.
    pub(crate) fn pages_inside(&self, elements: &Box3) -> Box3 {
        let Some(cuts) = &self.cuts else { return self.grid.pages_inside(elements) };
        let ends = &cuts.ends;
        if elements.is_empty() {
            return Box3::EMPTY;
        }
        let inside = Box3 {
            min: [0, 1, 2].map(|d| ends[d].partition_point(|end| *end < elements.min[d])),
            max: [0, 1, 2].map(|d| ends[d].partition_point(|end| *end <= elements.max[d]) - 1),
        };
        if inside.is_empty() { Box3::EMPTY } else { cuts.turned(&inside) }
    }

    /// The elements of `pages`.
    pub(crate) fn elements_of(&self, pages: &Box3) -> Box3 {
        let Some(cuts) = &self.cuts else { return self.grid.elements_of(pages) };
        let at = |d: usize, page: usize| cuts.ends[d][page.min(cuts.ends[d].len() - 1)];
        let pages = cuts.unturned(pages);
        let elements = Box3 {
            min: [0, 1, 2].map(|d| at(d, pages.min[d])),
            max: [0, 1, 2].map(|d| at(d, pages.max[d])),
        };
        if elements.is_empty() { Box3::EMPTY } else { elements }
    }

    /// As [`Grid::alike`]; of cut pages there may be more boxes.
    pub(crate) fn alike(&self, pages: &Box3, elements: &Box3, out: &mut dyn FnMut(Box3)) {
        let Some(cuts) = &self.cuts else { return self.grid.alike(pages, elements, out) };
        let (Cuts { ends, changes, .. }, pages) = (&**cuts, cuts.unturned(pages));
        let runs = [0, 1, 2].map(|d| {
            let covered = |page: usize| {
                let (first, end) = (ends[d][page], ends[d][page + 1]);
                let [from, to] = [elements.min[d], elements.max[d]].map(|at| at.clamp(first, end));
                [end - first, from - first, to - first]
            };
            // Pages between these are alike: of one size, and inside or outside of the elements.
            let edges = [elements.min[d], elements.max[d]];
            let at_edges = edges.map(|at| ends[d].partition_point(|end| *end <= at));
            let at_edges = at_edges.into_iter().flat_map(|end| [end.saturating_sub(1), end]);
            let mut starts: SmallVec<[usize; 16]> =
                changes[d].iter().copied().chain(at_edges).chain([pages.min[d]]).collect();
            starts.retain(|page| (pages.min[d]..pages.max[d]).contains(page));
            starts.sort_unstable();
            starts.dedup();
            let mut runs: Vec<[usize; 2]> = vec![];
            for (at, page) in starts.iter().enumerate() {
                let end = starts.get(at + 1).copied().unwrap_or(pages.max[d]);
                match runs.last_mut() {
                    Some(run) if covered(run[0]) == covered(*page) => run[1] = end,
                    _ => runs.push([*page, end]),
                }
            }
            runs
        });
        for at in Box3::whole([0, 1, 2].map(|d| runs[d].len())).cells() {
            out(cuts.turned(&Box3 {
                min: [0, 1, 2].map(|d| runs[d][at[d]][0]),
                max: [0, 1, 2].map(|d| runs[d][at[d]][1]),
            }));
        }
    }

    /// As [`Grid::parts_of`], for pages that are of one size.
    pub(crate) fn parts_of(&self, pages: &Box3, part: &Box3, out: &mut dyn FnMut(Box3)) {
        let Some(cuts) = self.cuts.as_ref().filter(|_| !pages.is_empty()) else {
            return self.grid.parts_of(pages, part, out);
        };
        let size = self.elements_of(&Box3::cell(pages.min)).extent();
        let pages = cuts.unturned(pages);
        let through = |d: usize| part.min[d] == 0 && part.max[d] == size[d];
        let many = [0, 1, 2].map(|d| if through(d) { pages.extent()[d] } else { 1 });
        let boxes = [0, 1, 2].map(|d| pages.extent()[d] / many[d]);
        for at in Box3::whole(boxes).cells() {
            let first = [0, 1, 2].map(|d| pages.min[d] + at[d] * many[d]);
            let max = [0, 1, 2].map(|d| first[d] + many[d]);
            let run = self.elements_of(&cuts.turned(&Box3 { min: first, max }));
            out(Box3 {
                min: [0, 1, 2].map(|d| run.min[d] + part.min[d]),
                max: [0, 1, 2].map(|d| run.max[d] - size[d] + part.max[d]),
            });
        }
    }

    /// The same storage, of which no page reaches over the edges of these boxes of elements. None
    /// if that is so already, or if it had too many pages then.
    pub(crate) fn cut(&self, boxes: &[Box3]) -> Option<Layout> {
        let regular = |d: usize| (0..self.grid.pages[d]).map(move |page| page * self.grid.page[d]);
        let (mut ends, mut pages) = ([vec![], vec![], vec![]], [0; 3]);
        for d in 0..3 {
            let known = self.cuts.as_ref().map(|cuts| &cuts.ends[d]);
            let known: Vec<usize> = match known {
                Some(known) => known.clone(),
                None => regular(d).chain([self.dims[d]]).collect(),
            };
            let edges = boxes.iter().flat_map(|part| [part.min[d], part.max[d]]);
            let inside = edges.filter(|edge| *edge < self.dims[d]);
            let mut all: Vec<usize> = known.into_iter().chain(inside).collect();
            all.sort_unstable();
            all.dedup();
            pages[d] = all.len() - 1;
            ends[d] = all;
        }
        let few = (0..3).all(|d| pages[d] <= self.grid.pages[d] + MOST_CUTS);
        let fits = crate::geom::checked_volume(pages).is_some();
        let all = self.cuts.as_ref().map_or(self.all(), |cuts| cuts.unturned(&self.all()));
        let changes = [0, 1, 2].map(|d| {
            let size = |page: usize| ends[d][page + 1] - ends[d][page];
            (1..pages[d]).filter(|page| size(*page) != size(page - 1)).collect()
        });
        let mut order = [0, 1, 2];
        order.sort_by_key(|d| pages[*d]);
        (pages != all.max && few && fits).then(|| Layout {
            pages: order.map(|d| pages[d]),
            cuts: Some(Box::new(Cuts { ends, changes, order })),
            ..self.clone()
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn boxes(dims: Dims) -> impl Iterator<Item = Box3> {
        Box3::whole(dims).cells().flat_map(move |min| {
            Box3::whole([dims[0] + 1, dims[1] + 1, dims[2] + 1])
                .cells()
                .map(move |max| Box3 { min, max })
                .filter(|b| !b.is_empty())
        })
    }

    fn cut_twice() -> Option<Layout> {
        let cut = |z: [usize; 2], y: [usize; 2], x: [usize; 2]| Box3 {
            min: [z[0], y[0], x[0]],
            max: [z[1], y[1], x[1]],
        };
        let layout = Layout::from(Grid::new([2, 5, 7], [2, 2, 3]));
        let once = layout.cut(&[cut([0, 1], [1, 4], [0, 7])])?;
        let twice = once.cut(&[cut([0, 2], [0, 5], [2, 5])])?;
        // Of 2, 4 and 3 pages, and of 2, 4 and 5.
        assert_eq!((once.pages, twice.pages), ([2, 3, 4], [2, 4, 5]));
        assert!(twice.cut(&[cut([1, 2], [1, 2], [3, 5])]).is_none());
        Some(twice)
    }

    #[test]
    fn cut_pages_are_a_grid() {
        let layout = cut_twice().unwrap();
        let all: Vec<Box3> = layout.all().cells().map(Box3::cell).collect();
        let sum: usize = all.iter().map(|page| layout.elements_of(page).volume()).sum();
        assert_eq!(sum, 2 * 5 * 7);
        for b in boxes(layout.dims) {
            let (touched, inside) = (layout.pages_of(&b), layout.pages_inside(&b));
            for page in &all {
                let elements = layout.elements_of(page);
                assert_eq!(touched.contains(page), elements.overlaps(&b), "{b:?} {page:?}");
                assert_eq!(inside.contains(page), b.contains(&elements), "{b:?} {page:?}");
            }
        }
    }

    #[test]
    fn cut_pages_are_told_alike() {
        let layout = cut_twice().unwrap();
        for elements in boxes(layout.dims) {
            let pages = layout.pages_of(&elements);
            let mut told = Vec::new();
            layout.alike(&pages, &elements, &mut |part| {
                let cut = |page: Dims| {
                    let all = layout.elements_of(&Box3::cell(page));
                    (all.extent(), all.intersect(&elements).counted_from(all.min))
                };
                part.cells().for_each(|page| assert_eq!(cut(page), cut(part.min), "{elements:?}"));
                told.extend(part.cells());
                let mut parts = Vec::new();
                layout.parts_of(&part, &cut(part.min).1, &mut |b| parts.push(b));
                let inside = layout.elements_of(&part).intersect(&elements);
                assert_eq!(parts.iter().map(Box3::volume).sum::<usize>(), inside.volume());
                assert!(parts.iter().all(|b| inside.contains(b)), "{parts:?} of {inside:?}");
            });
            told.sort_unstable();
            assert_eq!(told, pages.cells().collect::<Vec<_>>(), "{elements:?}");
        }
    }

    #[test]
    fn what_lies_within_a_border_is_few_runs_however_many_rows_there_are() {
        let inner = Box3 { min: [0, 1, 1], max: [1, 4999, 99] };
        let layout = Layout::from(Grid::new([1, 5000, 100], [1, 1, 100])).cut(&[inner]).unwrap();
        let mut map = crate::pages::PageMap::new(layout.pages, 0);
        map.set(&layout.pages_of(&inner), 1);
        let (mut runs, mut elements) = (0, 0);
        map.visit(&layout.all(), &mut |pages, value| {
            runs += 1;
            elements += value * layout.elements_of(&pages).volume();
        });
        assert!(runs <= 5, "{runs}");
        assert_eq!(elements, inner.volume());
        let mut told = 0;
        layout.alike(&layout.pages_of(&inner), &inner, &mut |_| told += 1);
        assert_eq!(told, 1);
    }

    #[test]
    fn cuts_end_somewhere() {
        let mut layout = Layout::from(Grid::new([1, 1, 1000], [1, 1, 1000]));
        let mut cuts = 0;
        while let Some(cut) = layout.cut(&[Box3 { min: [0, 0, 3 * cuts + 1], max: [1, 1, 1000] }]) {
            (layout, cuts) = (cut, cuts + 1);
        }
        assert_eq!((cuts, layout.pages), (MOST_CUTS, [1, 1, 1 + MOST_CUTS]));
    }
}
