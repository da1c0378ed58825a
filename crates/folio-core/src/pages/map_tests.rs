use super::*;
use crate::pages::testing::{GRIDS, Rng, seeds};

/// The obvious page map.
struct Model {
    pages: Dims,
    values: Vec<u8>,
}

impl Model {
    fn new(pages: Dims, value: u8) -> Model {
        Model { pages, values: vec![value; Box3::whole(pages).volume()] }
    }

    fn update(&mut self, range: &Box3, f: impl Fn(u8) -> u8) {
        for page in range.intersect(&Box3::whole(self.pages)).cells() {
            let at = linear(self.pages, page);
            self.values[at] = f(self.values[at]);
        }
    }

    fn check(&self, map: &PageMap<u8>, range: &Box3, note: &str) {
        let inside = range.intersect(&Box3::whole(self.pages));
        let mut seen = vec![0; self.values.len()];
        let mut boxes = Vec::new();
        map.visit(range, &mut |at, value| {
            assert!(!at.is_empty() && inside.contains(&at), "{note}: {at:?} in {range:?}");
            for page in at.cells() {
                seen[linear(self.pages, page)] += 1;
                assert_eq!(value, self.values[linear(self.pages, page)], "{note}: {page:?}");
            }
            boxes.push((at, value));
        });
        for page in Box3::whole(self.pages).cells() {
            let expect = usize::from(inside.contains(&Box3::cell(page)));
            assert_eq!(seen[linear(self.pages, page)], expect, "{note}: {page:?} of {range:?}");
        }
        for (a, b) in boxes.iter().zip(boxes.iter().skip(1)) {
            assert!(a.0.min < b.0.min, "{note}: order");
        }
        for (a, value) in &boxes {
            let longer = boxes.iter().any(|(b, other)| {
                other == value
                    && b.min[2] == a.max[2]
                    && (0..2).all(|d| a.min[d] < b.max[d] && b.min[d] < a.max[d])
            });
            assert!(!longer, "{note}: {a:?} ends early");
        }
        let alike = inside.cells().all(|p| {
            Some(&self.values[linear(self.pages, p)]) == {
                self.values.get(linear(self.pages, inside.min))
            }
        });
        let uniform =
            (alike && !inside.is_empty()).then(|| self.values[linear(self.pages, inside.min)]);
        assert_eq!(map.uniform(range), uniform, "{note}: {range:?}");
        if uniform.is_some() {
            assert_eq!(boxes.len(), 1, "{note}: a uniform range is one box");
        }
    }
}

fn invariant(map: &PageMap<u8>, note: &str) {
    for slot in 0..map.store.len() {
        let block = map.store.slot(slot).block;
        assert_eq!(map.store.find(block), Some(slot), "{note}");
        assert_eq!(map.store.next(block), Some(block), "{note}");
        let pages = map.block_pages(block);
        let found = pages.cells().filter(|p| map.get(*p) != map.base).count();
        assert!(found > 0, "{note}: block {block} is ordinary");
        match map.store.slot(slot).body {
            Body::Uniform(value) => assert_ne!(value, map.base, "{note}"),
            Body::Table { differs, .. } => assert_eq!(differs, found, "{note}"),
        }
    }
}

fn program(seed: u64, ops: usize) {
    let mut rng = Rng::new(seed);
    let pages = GRIDS[seed as usize % GRIDS.len()];
    let mut map = PageMap::new(pages, 0u8);
    let mut model = Model::new(pages, 0);
    for op in 0..ops {
        let note = format!("seed {seed}, grid {pages:?}, op {op}");
        let (range, value) = (rng.box_in(pages), rng.below(4) as u8);
        if rng.below(2) == 0 {
            map.set(&range, value);
            model.update(&range, |_| value);
        } else {
            let table = [rng.below(4) as u8, rng.below(4) as u8, rng.below(4) as u8, value];
            let mut counted = 0;
            map.update(&range, &mut |at, v| {
                counted += at.volume();
                table[usize::from(v)]
            });
            model.update(&range, |v| table[usize::from(v)]);
            assert_eq!(counted, range.intersect(&Box3::whole(pages)).volume(), "{note}");
        }
        for (at, page) in Box3::whole(pages).cells().enumerate() {
            assert_eq!(map.get(page), model.values[at], "{note}: {page:?}");
        }
        invariant(&map, &note);
        model.check(&map, &rng.box_in(pages), &note);
        model.check(&map, &Box3::whole(pages), &note);
    }
}

#[test]
fn random_programs_equal_the_model() {
    for seed in seeds(600) {
        program(seed, if cfg!(miri) { 20 } else { 60 });
    }
}

#[test]
fn every_two_sets_of_small_grids_equal_the_model() {
    for pages in [[1, 1, 4], [1, 2, 3], [2, 2, 2]] {
        let boxes: Vec<Box3> = Box3::whole(pages)
            .cells()
            .flat_map(|min| {
                let max = pages.map(|n| n + 1);
                Box3::whole(max).cells().map(move |max| Box3 { min, max })
            })
            .filter(|b| !b.is_empty())
            .collect();
        for a in &boxes {
            for b in boxes.iter().step_by(if cfg!(miri) { 7 } else { 1 }) {
                let (mut map, mut model) = (PageMap::new(pages, 0), Model::new(pages, 0));
                for (range, value) in [(a, 1), (b, 2)] {
                    map.set(range, value);
                    model.update(range, |_| value);
                }
                map.update(a, &mut |_, v| v ^ 2);
                model.update(a, |v| v ^ 2);
                model.check(&map, &Box3::whole(pages), &format!("{a:?} {b:?}"));
                model.check(&map, b, &format!("{a:?} {b:?}"));
            }
        }
    }
}

fn steps(f: impl FnOnce()) -> u64 {
    let before = steps_taken();
    f();
    steps_taken() - before
}

#[test]
fn one_page_costs_the_same_in_any_grid() {
    let cost = |pages: usize| {
        let mut map = PageMap::new([1, 1, pages], 0u8);
        let page = Box3::cell([0, 0, pages - 1]);
        map.set(&page, 1);
        let set = steps(|| map.set(&page, 2));
        let get = steps(|| assert_eq!(map.get([0, 0, pages - 1]), 2));
        let update = steps(|| map.update(&page, &mut |_, v| v + 1));
        let uniform = steps(|| assert_eq!(map.uniform(&page), Some(3)));
        [set, get, update, uniform]
    };
    assert_eq!(cost(10), cost(1_000_000));
    assert!(cost(10).iter().all(|steps| (1..10).contains(steps)), "{:?}", cost(10));
    // A block that starts or stops to be exceptional also walks the tree of blocks: one word per
    // level, of which there are 3 instead of 1.
    let toggle = |pages: usize| {
        let mut map = PageMap::new([1, 1, pages], 0u8);
        let page = Box3::cell([0, 0, pages - 1]);
        steps(|| map.set(&page, 1)) + steps(|| map.set(&page, 0))
    };
    assert_eq!(toggle(1_000_000) - toggle(10), 4);
}

#[test]
fn the_whole_grid_costs_what_differs() {
    let pages = [1, 1000, 1000];
    let whole = Box3::whole(pages);
    let mut map = PageMap::new(pages, 0u8);
    for page in [[0, 0, 0], [0, 500, 501], [0, 500, 900], [0, 999, 999]] {
        map.set(&Box3::cell(page), 1);
    }
    let mut boxes = 0;
    assert!(steps(|| map.visit(&whole, &mut |_, _| boxes += 1)) < 100);
    assert_eq!(boxes, 11);
    assert!(steps(|| assert_eq!(map.uniform(&whole), None)) < 10);
    assert!(steps(|| map.update(&whole, &mut |_, v| v + 1)) < 1000);
    assert_eq!((map.base, map.get([0, 500, 501]), map.store.len()), (1, 2, 4));
    assert!(steps(|| map.set(&whole, 7)) < 5);
    assert_eq!((map.uniform(&whole), map.store.len()), (Some(7), 0));
    // A column crosses every row, but rows without exceptions in them cost nothing.
    map.set(&Box3::cell([0, 500, 501]), 1);
    let column = Box3 { min: [0, 0, 501], max: [1, 1000, 502] };
    assert!(steps(|| map.visit(&column, &mut |_, _| {})) < 50);
}

#[test]
fn blocks_that_equal_the_base_again_are_dropped() {
    let mut map = PageMap::new([1, 1, 1000], 0u8);
    for x in 0..1000 {
        map.set(&Box3::cell([0, 0, x]), 1);
    }
    assert_eq!(map.store.len(), 16);
    for x in 0..1000 {
        map.set(&Box3::cell([0, 0, x]), 0);
    }
    assert_eq!(map.store.len(), 0);
    // A range that is as good as whole, so that the base does not change.
    map.set(&Box3 { min: [0, 0, 1], max: [1, 1, 1000] }, 3);
    map.update(&Box3 { min: [0, 0, 1], max: [1, 1, 1001] }, &mut |_, _| 0);
    assert_eq!(map.store.len(), 0);
}

#[test]
fn a_warm_map_allocates_nothing() {
    let pages = [1, 30, 100];
    let mut map = PageMap::new(pages, 0u8);
    let round = |map: &mut PageMap<u8>| {
        let mut rng = Rng::new(7);
        for _ in 0..2000 {
            let (range, value) = (rng.box_in(pages), rng.below(4) as u8);
            if rng.below(3) == 0 {
                map.update(&range, &mut |_, v| (v + value) % 4);
            } else {
                map.set(&range, value);
            }
        }
        map.set(&Box3::whole(pages), 0);
    };
    round(&mut map);
    let warm = map.capacities();
    round(&mut map);
    assert_eq!(map.capacities(), warm);
    assert_eq!(PageMap::new([1 << 20; 3], 0u8).capacities(), ([0; 5], 0), "new takes no memory");
}
