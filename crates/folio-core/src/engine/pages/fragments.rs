//! Pages in pieces: what discards of parts have split between domains.
//!
//! A page stays in pieces until all of it is written, or all of it is in one place and nowhere
//! else: what is current somewhere is not copied there again, and a copy that fails loses nothing,
//! since those who had a piece before have it still.

use crate::engine::pages::pieces::Fragment;
use crate::engine::pages::residency::{Outcomes, Residency};
use crate::engine::terms::access::Access;
use crate::geom::Box3;
use crate::order::stamp::Stamp;
use crate::pages::{DomainId, DomainSet};
use smallvec::SmallVec;

/// With more fragments than this a page that is whole somewhere counts as being there only.
const MOST_FRAGMENTS: usize = 64;

/// Where all fragments are.
fn common(fragments: &[Fragment], on: impl Fn(&Fragment) -> DomainSet) -> DomainSet {
    fragments.iter().map(on).reduce(DomainSet::intersect).unwrap_or(DomainSet::EMPTY)
}

/// The fragments of a page in which `new` replaces what was there. Neighbours that are alike are
/// one, so that a page that is written element by element has few, and each write costs no more
/// than that.
fn cut(old: &[Fragment], new: Fragment) -> Vec<Fragment> {
    let (mut kept, mut parts) = (Vec::with_capacity(old.len() + 1), Vec::new());
    for fragment in old {
        if !fragment.elements.overlaps(&new.elements) {
            join_last(&mut kept, fragment.clone());
            continue;
        }
        fragment.elements.subtract(&new.elements, |elements| {
            parts.push(Fragment { elements, ..fragment.clone() });
        });
    }
    for mut part in parts.into_iter().chain([new]) {
        while let Some((at, joined)) = kept
            .iter()
            .enumerate()
            .find_map(|(at, other)| part.joined(other).map(|joined| (at, joined)))
        {
            kept.remove(at);
            part = joined;
        }
        // In the order of their places, so that those that can be joined are next to each other.
        let at = kept.partition_point(|other| other.elements.min < part.elements.min);
        kept.insert(at, part);
    }
    kept
}

/// Appends a fragment, and joins it with those before it, which may have become alike since.
fn join_last(kept: &mut Vec<Fragment>, mut last: Fragment) {
    while let Some(joined) = kept.last().and_then(|before| before.joined(&last)) {
        kept.pop();
        last = joined;
    }
    kept.push(last);
}

impl Residency {
    /// The pieces of `pages`, as known now.
    pub(super) fn learn_pieces(&mut self, pages: &Box3, known: Outcomes<'_>) {
        self.pieces.update(pages, &mut |fragment| fragment.learn(&mut |s| known(s)));
        self.tell_pieces(pages);
    }

    /// Tells the tracker where pages in pieces are whole.
    fn tell_pieces(&mut self, pages: &Box3) {
        let Residency { pieces, tracker, .. } = self;
        pieces.visit(pages, &mut |run, fragments| {
            if !fragments.is_empty() {
                tracker.set(&run, common(fragments, Fragment::on));
            }
        });
    }

    /// All of these pages is on `domain` and nowhere else, no copy brings any of it, and none is in
    /// pieces: a discard of parts of them there splits nothing.
    pub(super) fn is_only_on(&self, pages: &Box3, domain: DomainId) -> bool {
        let here = Some(DomainSet::of(domain));
        self.tracker.uniform(pages) == here
            && self.defined.uniform(pages).is_some_and(|set| set.contains(domain))
            && !self.hazards.any_arriving(pages)
            && self.pieces.are_whole(pages)
    }

    /// The runs of `part`, whose pages an access covers alike, that its discard on `here` splits,
    /// with what they are so far: nothing where no memory has anything.
    fn to_split(
        &self,
        part: &Box3,
        (covered, here): (&Box3, DomainSet),
        known: Outcomes<'_>,
    ) -> Vec<(Box3, Vec<Fragment>)> {
        let elements = Box3::whole(self.grid.elements_of(&Box3::cell(part.min)).extent());
        let only_here = |f: &Fragment| {
            f.domains == here && f.arriving.is_empty() && f.elements.contains(covered)
        };
        let mut runs = Vec::new();
        self.pieces.visit(part, &mut |run, fragments| {
            if fragments.iter().any(only_here) {
            } else if !fragments.is_empty() {
                let whole = common(fragments, |f| f.domains);
                let few = fragments.len() <= MOST_FRAGMENTS || whole.is_empty();
                let one = || vec![Fragment::new(elements, whole)];
                runs.push((run, if few { fragments.to_vec() } else { one() }));
            } else {
                self.tracker.visit(&run, &mut |run, told| {
                    self.defined.visit(&run, &mut |run, defined| {
                        let set = told.intersect(defined);
                        if set.is_empty() {
                            return runs.push((run, Vec::new()));
                        }
                        self.hazards.arriving(&run, |run, arrivals| {
                            let mut whole = Fragment::new(elements, set);
                            for &(domain, stamp) in
                                arrivals.iter().filter(|(to, _)| set.contains(*to))
                            {
                                whole.domains.remove(domain);
                                whole.arriving.push((domain, stamp));
                            }
                            whole.learn(&mut |s| known(s));
                            runs.push((run, vec![whole]));
                        });
                    });
                });
            }
        });
        runs
    }

    /// The fragments of `pages` come to `domain` by the copies `stamps`.
    pub(super) fn gather(&mut self, pages: &Box3, domain: DomainId, stamps: &[Stamp]) {
        self.pieces.update(pages, &mut |fragment| {
            if !fragment.on().contains(domain) {
                fragment.arriving.extend(stamps.iter().map(|stamp| (domain, *stamp)));
            }
        });
        self.tell_pieces(pages);
    }

    /// An access that discards parts of pages that are current elsewhere splits those pages.
    pub(super) fn discard_parts(&mut self, a: &Access, border: &Box3, known: Outcomes<'_>) {
        let here = DomainSet::of(a.place);
        let mut parts: SmallVec<[Box3; 3]> = SmallVec::new();
        self.grid.alike(border, &a.elements, &mut |part| parts.push(part));
        for part in &parts {
            self.learn_pieces(part, known);
            let page = self.grid.elements_of(&Box3::cell(part.min));
            let covered = page.intersect(&a.elements).counted_from(page.min);
            for (run, old) in self.to_split(part, (&covered, here), known) {
                if old.is_empty() {
                    self.tracker.set(&run, here);
                    continue;
                }
                let new = cut(&old, Fragment::new(covered, here));
                self.tracker.set(&run, here.intersect(common(&new, Fragment::on)));
                if new.iter().any(|f| f.domains != here || !f.arriving.is_empty()) {
                    self.pieces.set(&run, new);
                } else {
                    self.pieces.clear(&run);
                    self.hazards.bury(&run);
                }
            }
        }
    }
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use crate::engine::null::Null;
    use crate::pages::steps_taken;
    use crate::{Buffer, BufferOptions, Queue, Result, Runtime};

    const ROWS: usize = 1000;

    /// What it takes page maps to discard columns of rows, of which each is a page.
    fn discard(
        q: &Queue,
        x: &mut Buffer<u32, 2>,
        at: [usize; 2],
        extent: [usize; 2],
    ) -> Result<u64> {
        let before = steps_taken();
        q.submit(|cg| {
            let x = cg.discard(x.slice_mut(at, extent)?);
            cg.host_kernel(extent, x, |_, _| {});
            Ok(())
        })?;
        Ok(steps_taken() - before)
    }

    /// PAGE-05, PAGE-06: parts of pages are discarded at no cost for each page where that splits
    /// none, and where it splits all of them in the same way.
    #[test]
    fn discards_of_parts_that_are_alike_look_at_no_page() {
        let rt = Runtime::builder().backend(Null::new(2)).build().unwrap();
        let [here, there] = ["null:0", "null:1"].map(|at| rt.queue_on(at).unwrap());
        let mut x = rt.buffer_with([ROWS, 8], BufferOptions::new().page([1, 8])).unwrap();
        here.submit(|cg| {
            cg.fill(&mut x, 1u32);
            Ok(())
        })
        .unwrap();
        for q in [&here, &there, &here, &there] {
            for _ in 0..20 {
                let taken = discard(q, &mut x, [0, 1], [ROWS, 6]).unwrap();
                assert!(taken < 300, "{taken} steps for {ROWS} pages");
            }
        }
        let read = |q: &Queue, x: &Buffer<u32, 2>| {
            let made = || rt.counters().device_to_device.operations;
            let before = (steps_taken(), made());
            q.submit(|cg| {
                cg.prefetch(x, crate::Destination::Device);
                Ok(())
            })
            .unwrap();
            (steps_taken() - before.0, made() - before.1)
        };
        for (q, copies) in [(&here, 1), (&there, 2), (&there, 0)] {
            let (taken, made) = read(q, &x);
            assert!(taken < 300 && made == copies, "{taken} steps, {made} copies");
        }
        for row in 0..ROWS {
            discard(&here, &mut x, [row, 1], [1, 1 + row % 6]).unwrap();
        }
        let taken = discard(&there, &mut x, [0, 1], [ROWS, 7]).unwrap();
        assert!(taken >= ROWS as u64, "each page is another, or steps are not counted: {taken}");
    }

    fn fragments(x: &Buffer<u32, 2>) -> usize {
        let storage = &x.view.storage;
        storage
            .core
            .engine
            .enter(|ledger| ledger.storages[storage.id.0].residency.pieces.all().count())
    }

    /// PAGE-06: a page that is written element by element is in as many pieces as its parts have
    /// corners, and not in one for each element; in one when all is written.
    #[test]
    fn neighbours_that_are_alike_are_one_fragment() {
        const SIDE: usize = 24;
        type Order = fn(usize) -> [usize; 2];
        let line: Order = |k| [k / SIDE, k % SIDE];
        let orders: [(&str, Order, usize); 4] = [
            ("rows", line, 4),
            ("rows from the end", |k| [SIDE - 1 - k / SIDE, SIDE - 1 - k % SIDE], 4),
            ("columns", |k| [k % SIDE, k / SIDE], 4),
            (
                "every second one of a row, and then the others",
                |k| {
                    let (row, column) = (k / SIDE, k % SIDE);
                    [row, (2 * column) % SIDE + 2 * column / SIDE]
                },
                SIDE + 3,
            ),
        ];
        for (name, order, most) in orders {
            let rt = Runtime::builder().backend(Null::new(2)).build().unwrap();
            let [here, there] = ["null:0", "null:1"].map(|at| rt.queue_on(at).unwrap());
            let options = BufferOptions::new().page([SIDE, SIDE]);
            let mut x = rt.buffer_with([SIDE, SIDE], options).unwrap();
            there
                .submit(|cg| {
                    cg.fill(&mut x, 1u32);
                    Ok(())
                })
                .unwrap();
            for k in 0..SIDE * SIDE {
                discard(&here, &mut x, order(k), [1, 1]).unwrap();
                assert!(fragments(&x) <= most, "{name}, {k}: {}", fragments(&x));
            }
            assert_eq!(fragments(&x), 0, "{name}: all of it is here");
            assert_eq!(rt.counters().transfers().operations, 0, "{name}");
        }
    }

    /// PAGE-06, XFER-04: what was appended and read elsewhere in turn is one piece, too.
    #[test]
    fn fragments_that_become_alike_are_joined() {
        const LEN: usize = 40;
        let rt = Runtime::builder().backend(Null::new(2)).build().unwrap();
        let [here, there] = ["null:0", "null:1"].map(|at| rt.queue_on(at).unwrap());
        let mut x = rt.buffer_with([1, LEN], BufferOptions::new().page([1, LEN])).unwrap();
        let submit = |q: &Queue, act: &dyn Fn(&mut crate::CommandGroup)| {
            let event = q.submit(|cg| {
                act(cg);
                Ok(())
            });
            event.unwrap().wait().unwrap();
        };
        there
            .submit(|cg| {
                cg.fill(&mut x, 1u32);
                Ok(())
            })
            .unwrap();
        for k in 0..LEN - 1 {
            discard(&here, &mut x, [0, k], [1, 1]).unwrap();
            submit(&there, &|cg| cg.prefetch(&x, crate::Destination::Device));
            assert!(fragments(&x) <= 3, "{k}: {}", fragments(&x));
            let moved = rt.counters().transfers();
            assert_eq!((moved.operations, moved.bytes), (k as u64 + 1, 4 * (k as u64 + 1)));
        }
    }
}
