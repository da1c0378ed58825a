use std::cell::Cell;

use super::*;
use crate::pages::testing::{Rng, picture, seeds};

fn set(ids: &[u8]) -> DomainSet {
    ids.iter().map(|id| DomainId(*id)).collect()
}

fn span(from: usize, to: usize) -> Box3 {
    Box3 { min: [0, 0, from], max: [1, 1, to] }
}

/// 1 ns a byte, and 1000 ns an operation, unless said otherwise.
const LINK: Link = Link { bytes_per_us: 1000, op_ns: 1000 };

fn plan(needs: &[Need], cost: impl Fn(DomainId) -> Link) -> Vec<(u8, Box3)> {
    let mut out = vec![Transfer { source: DomainId(9), elements: Box3::EMPTY }];
    Planner::new().plan(needs, 1, &cost, &mut out);
    out.iter().map(|t| (t.source.0, t.elements)).collect()
}

/// Every needed element once, from a source that has it; nothing else.
fn check(needs: &[Need], plan: &[(u8, Box3)], note: &str) {
    let moved: usize = plan.iter().map(|(_, b)| b.volume()).sum();
    assert_eq!(moved, needs.iter().map(|n| n.elements.volume()).sum::<usize>(), "{note}");
    for need in needs {
        let mut served = 0;
        for (source, elements) in plan {
            let part = elements.intersect(&need.elements).volume();
            assert!(part == 0 || need.sources.contains(DomainId(*source)), "{note}: {need:?}");
            served += part;
        }
        assert_eq!(served, need.elements.volume(), "{note}: {need:?}");
    }
    for (i, (_, a)) in plan.iter().enumerate() {
        assert!(plan[..i].iter().all(|(_, b)| !a.overlaps(b)), "{note}: twice");
    }
}

/// Estimated nanoseconds and operations.
fn cost_of(plan: &[(u8, Box3)], links: &[Link]) -> (u64, usize) {
    let each = plan.iter().map(|(s, b)| links[usize::from(*s)].estimate_ns(b.volume() as u64, 1));
    (each.sum(), plan.len())
}

/// The least cost of any choice of sources for needs on a line, by trying all.
fn brute_force(needs: &[Need], links: &[Link]) -> (u64, usize) {
    let ways: usize = needs.iter().map(|n| n.sources.len()).product();
    let costs = (0..ways).map(|mut way| {
        let mut plan: Vec<(u8, Box3)> = Vec::new();
        for need in needs {
            let source = need.sources.iter().nth(way % need.sources.len()).unwrap().0;
            way /= need.sources.len();
            match plan.last_mut() {
                Some((s, b)) if *s == source && b.max[2] == need.elements.min[2] => {
                    *b = b.hull(&need.elements);
                }
                _ => plan.push((source, need.elements)),
            }
        }
        cost_of(&plan, links)
    });
    costs.min().unwrap_or((0, 0))
}

/// XFER-04: in one dimension no plan takes less time or, at equal time, fewer operations; by trial
/// of all choices of sources.
#[test]
fn lines_cost_the_least_there_is() {
    for seed in seeds(3000) {
        let mut rng = Rng::new(seed);
        let links: Vec<Link> = (0..3)
            .map(|_| Link {
                bytes_per_us: [1000, 500, 1000][rng.below(3)],
                op_ns: [0, 10, 10, 100][rng.below(4)],
            })
            .collect();
        let (mut needs, mut x) = (Vec::new(), 0);
        for _ in 0..rng.below(7) {
            x += rng.below(3) / 2;
            let end = x + 1 + rng.below(20);
            let ids: Vec<u8> = (0..3).filter(|_| rng.below(2) == 0).collect();
            let ids = if ids.is_empty() { vec![1] } else { ids };
            needs.push(Need { elements: span(x, end), sources: set(&ids) });
            x = end;
        }
        let expect = brute_force(&needs, &links);
        needs.reverse();
        let found = plan(&needs, |d| links[usize::from(d.0)]);
        check(&needs, &found, &format!("seed {seed}"));
        assert_eq!(cost_of(&found, &links), expect, "seed {seed}: {needs:?} {found:?}");
    }
}

/// XFER-04: exactly the elements asked for, each once.
#[test]
fn boxes_of_all_kinds_are_served_exactly_and_no_slower_than_from_one_source() {
    for seed in seeds(2000) {
        let mut rng = Rng::new(seed);
        let dims = [1 + rng.below(3), 1 + rng.below(4), 1 + rng.below(5)];
        let mut needs: Vec<Need> = Vec::new();
        for _ in 0..rng.below(25) {
            let elements = rng.box_in(dims).intersect(&Box3::whole(dims));
            let sources = set(&[rng.below(4) as u8, rng.below(4) as u8, 2]);
            let sources = if rng.below(9) == 0 { set(&[3]) } else { sources };
            if !elements.is_empty() && needs.iter().all(|n| !n.elements.overlaps(&elements)) {
                needs.push(Need { elements, sources });
            }
        }
        let links = [0, 1, 2, 3].map(|_| Link {
            bytes_per_us: 1000 / (1 + rng.below(4) as u64 * 3),
            op_ns: rng.below(3) as u64 * 5,
        });
        let found = plan(&needs, |d| links[usize::from(d.0)]);
        check(&needs, &found, &format!("seed {seed}"));
        assert_eq!(found, plan(&needs, |d| links[usize::from(d.0)]), "seed {seed}");
        for only in 0..4 {
            let one = |n: &Need| Need { elements: n.elements, sources: set(&[only]) };
            if needs.iter().all(|n| n.sources.contains(DomainId(only))) {
                let alone: Vec<Need> = needs.iter().map(one).collect();
                let alone = plan(&alone, |d| links[usize::from(d.0)]);
                // Transfers are rounded down one by one here, and together in the planner.
                let slack = (found.len() + alone.len()) as u64;
                let (time, _) = cost_of(&found, &links);
                assert!(time <= cost_of(&alone, &links).0 + slack, "seed {seed}, source {only}");
            }
        }
    }
}

/// XFER-04
#[test]
fn a_notched_square_is_two_rectangles() {
    let needs: Vec<Need> = picture(&["110", "111", "110"])
        .into_iter()
        .map(|elements| Need { elements, sources: set(&[0]) })
        .collect();
    let columns = (0, Box3 { min: [0, 0, 0], max: [1, 3, 2] });
    let rest = (0, Box3 { min: [0, 1, 2], max: [1, 2, 3] });
    assert_eq!(plan(&needs, |_| LINK), [columns, rest]);
}

/// XFER-04: least time, then the smaller domain id.
#[test]
fn the_fast_link_wins_and_the_lowest_of_equals() {
    let needs = [
        Need { elements: span(0, 10), sources: set(&[1, 2, 3]) },
        Need { elements: span(20, 30), sources: set(&[1, 2, 3]) },
    ];
    let fast = |d: DomainId| Link { bytes_per_us: if d.0 == 1 { 1 } else { 1000 }, op_ns: 5 };
    assert_eq!(plan(&needs, fast), [(2, span(0, 10)), (2, span(20, 30))]);
    assert_eq!(plan(&needs[..1], fast), [(2, span(0, 10))]);
    assert_eq!(plan(&needs, |_| LINK), [(1, span(0, 10)), (1, span(20, 30))]);
}

/// XFER-04: bytes over the rate, and a price for each operation.
#[test]
fn a_shared_source_saves_an_operation_where_that_pays() {
    let needs = [
        Need { elements: span(0, 100), sources: set(&[0, 1]) },
        Need { elements: span(100, 200), sources: set(&[1]) },
    ];
    let slower =
        |op_ns| move |d: DomainId| Link { bytes_per_us: 1000 - 500 * u64::from(d.0), op_ns };
    assert_eq!(plan(&needs, slower(1000)), [(1, span(0, 200))]);
    assert_eq!(plan(&needs, slower(10)), [(0, span(0, 100)), (1, span(100, 200))]);
}

/// XFER-04: one request, two sources.
#[test]
fn halves_of_a_plane_come_from_where_each_is_fast() {
    // Row by row an operation costs more than the fast link saves; for the half as a whole not.
    let row =
        |y, a, b, sources| Need { elements: Box3 { min: [0, y, a], max: [1, y + 1, b] }, sources };
    let needs: Vec<Need> =
        (0..100).flat_map(|y| [row(y, 0, 10, set(&[0, 1])), row(y, 10, 20, set(&[1]))]).collect();
    let link = |d: DomainId| Link { bytes_per_us: if d.0 == 0 { 10_000 } else { 1000 }, op_ns: 50 };
    let half = |a, b| Box3 { min: [0, 0, a], max: [1, 100, b] };
    assert_eq!(plan(&needs, link), [(0, half(0, 10)), (1, half(10, 20))]);
}

/// XFER-04
#[test]
fn several_sources_where_none_has_everything() {
    let needs = [
        Need { elements: span(0, 1), sources: set(&[4]) },
        Need { elements: span(1, 2), sources: set(&[4, 5]) },
        Need { elements: span(2, 3), sources: set(&[5, 6]) },
        Need { elements: span(3, 4), sources: set(&[6]) },
    ];
    assert_eq!(plan(&needs, |_| LINK), [(4, span(0, 2)), (6, span(2, 4))]);
}

#[test]
fn needs_that_ask_for_nothing_get_nothing() {
    let empty = Need { elements: Box3::EMPTY, sources: set(&[1]) };
    let nowhere = Need { elements: span(0, 4), sources: DomainSet::EMPTY };
    assert_eq!(plan(&[], |_| LINK), []);
    assert_eq!(plan(&[empty], |_| LINK), []);
    assert_eq!(plan(&[nowhere], |_| LINK), []);
    assert_eq!(plan(&[empty, nowhere, empty], |_| LINK), []);
}

#[test]
fn one_need_takes_no_memory_and_links_are_asked_for_once() {
    let (mut planner, mut out) = (Planner::new(), Vec::with_capacity(1));
    let room = out.capacity();
    let asked = Cell::new(0);
    let link = |_| {
        asked.set(asked.get() + 1);
        LINK
    };
    let mut need = Need { elements: span(0, 4), sources: set(&[7]) };
    planner.plan(&[need], 4, &link, &mut out);
    assert_eq!((out.len(), out[0].source, asked.get()), (1, DomainId(7), 0));
    assert_eq!((planner.needs.capacity(), planner.boxes.capacity(), out.capacity()), (0, 0, room));
    need.sources = set(&[7, 8]);
    let other = Need { elements: span(4, 9), sources: set(&[8]) };
    planner.plan(&[need, other], 4, &link, &mut out);
    assert_eq!((out.len(), asked.get()), (1, 2));
}

#[test]
fn large_patterns_come_out_whole() {
    let n: usize = if cfg!(miri) { 400 } else { 100_000 };
    let side = n.isqrt();
    let two = |i: usize| set(if i.is_multiple_of(3) { &[1] } else { &[1, 2] });
    let stripes: Vec<Need> = (0..n)
        .map(|i| Need {
            elements: Box3::cell([0, 2 * i, 0]).hull(&Box3::cell([0, 2 * i, 99])),
            sources: two(i),
        })
        .collect();
    assert_eq!(plan(&stripes, |_| LINK).len(), n);
    let columns: Vec<Need> = (0..n)
        .map(|i| Need {
            elements: Box3::cell([0, 0, 2 * i]).hull(&Box3::cell([0, n, 2 * i])),
            sources: two(i),
        })
        .collect();
    assert_eq!(plan(&columns, |_| LINK).len(), n);
    let checkers: Vec<Need> = (0..n)
        .map(|i| [0, i / side, 2 * (i % side) + (i / side) % 2])
        .enumerate()
        .map(|(i, at)| Need { elements: Box3::cell(at), sources: two(i) })
        .collect();
    assert_eq!(plan(&checkers, |_| LINK).len(), n);
    let full: Vec<Need> = Box3::whole([4, side / 2, side / 2])
        .cells()
        .map(|at| Need { elements: Box3::cell(at), sources: set(&[3]) })
        .collect();
    assert_eq!(plan(&full, |_| LINK), [(3, Box3::whole([4, side / 2, side / 2]))]);
    let stairs: Vec<Need> = (0..n)
        .map(|i| Need {
            elements: Box3::cell([0, i, i]).hull(&Box3::cell([0, i, n])),
            sources: set(&[3]),
        })
        .collect();
    assert_eq!(plan(&stairs, |_| LINK).len(), n);
}
