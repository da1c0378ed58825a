//! A trace changes nothing: the lanes are given the same while a subscriber listens.

use crate::scene::{Commands, N, Numbers, Scene, adds, adds_up};
use folio::prelude::*;
use folio_core::graph::{FinalizeOptions, Replay};
use folio_core::sched::Split;

/// What the lanes are given by `act`, without and with a subscriber.
fn both(make: impl Fn() -> (Scene, Vec<Numbers>), act: impl Fn(&Scene, &[Numbers])) -> String {
    let texts = [false, true].map(|heard| {
        let (s, all) = make();
        let act = || act(&s, &all);
        if heard { s.heard(act) } else { s.held(act) }
    });
    assert_eq!(texts[0], texts[1]);
    texts[0].clone()
}

fn scene() -> (Scene, Vec<Numbers>) {
    let s = Scene::new();
    let all = s.present(["x", "y"]).to_vec();
    (s, all)
}

#[test]
fn single_commands_are_the_same_when_a_subscriber_hears_of_them() {
    let text = both(scene, |s, all| {
        s.q.bump(1, &all[0]);
        s.q.mix(&all[0], &all[1]);
        s.q.set(&all[0], 2);
    });
    check!(text, "1 a0: run x", "2 a0: run y(x) after 1", "3 a0: fill x 2 after 2");
}

#[test]
fn a_run_that_a_subscriber_hears_of_is_one_operation() {
    let text = both(scene, |s, all| {
        let run = s.made(|g| {
            g.bump(1, &all[0]);
            g.bump(2, &all[0]);
        });
        (0..3).for_each(|_| s.go(&run));
    });
    check!(
        text,
        "make a graph of 2",
        "1 a0: replay [a: run x; b: run x after a]",
        "2 a0: replay [a: run x; b: run x after a] after 1",
        "3 a0: replay [a: run x; b: run x after a] after 2"
    );
}

#[test]
fn a_run_by_commands_is_the_same_when_a_subscriber_hears_of_it() {
    let text = both(scene, |s, all| {
        let run = s.made(|g| {
            g.bump(1, &all[0]);
            g.set(&all[1], 2);
        });
        run.replay_as(Replay::Commands);
        (0..2).for_each(|_| s.go(&run));
    });
    assert_eq!(text.matches("run x").count(), 2, "{text}");
    assert!(!text.contains("replay"), "{text}");
}

#[test]
fn a_condition_that_a_subscriber_hears_of_is_within_its_run() {
    let text = both(scene, |s, all| {
        let body = s.made(|g| {
            g.bump(1, &all[1]);
        });
        let run = s.made(|g| {
            g.bump(1, &all[0]);
            g.if_(&[], all[0].slice([0], [1]).unwrap(), &body).unwrap();
        });
        (0..2).for_each(|_| s.go(&run));
    });
    assert_eq!(text.matches("by x {run y}").count(), 2, "{text}");
}

#[test]
fn a_fused_run_that_a_subscriber_hears_of_is_one_operation() {
    let text = both(scene, |s, all| {
        let graph = s.graph(|g| {
            g.bump(1, &all[0]);
            g.mix(&all[0], &all[1]);
        });
        let run = graph.finalize_with(FinalizeOptions::new().enable_fusion()).unwrap();
        (0..2).for_each(|_| s.go(&run));
    });
    assert_eq!(text.matches("run x y").count(), 2, "{text}");
}

#[test]
fn a_block_that_a_subscriber_hears_of_is_one_operation() {
    let text = both(scene, |s, all| {
        for _ in 0..3 {
            let block = |q: &Queue| {
                q.run(N, adds(1, &all[0]))?;
                q.fill(&all[1], 1)
            };
            drop(s.q.batch(block).unwrap());
        }
    });
    check!(
        text,
        "1 a0: fill y 1",
        "2 a1: run x",
        "make a graph of 2",
        "3 a1: replay [a: run x; b: fill y 1] after 1 2",
        "4 a1: replay [a: run x; b: fill y 1] after 3"
    );
}

#[test]
fn a_fused_block_that_a_subscriber_hears_of_is_one_operation() {
    let text = both(scene, |s, all| {
        for n in 1..4 {
            let block = |q: &Queue| {
                q.run(N, adds(n, &all[0]))?;
                q.run(N, adds_up(&all[0], &all[1]))
            };
            drop(s.q.batch_fused(block).unwrap());
        }
    });
    check!(
        text,
        "1 a0: run x y",
        "make a graph of 1",
        "2 a0: replay [a: run x y] after 1",
        "exchange a: run x y",
        "3 a0: replay [a: run x y] after 2"
    );
}

#[test]
fn parts_of_a_launch_that_a_subscriber_hears_of_are_the_same() {
    let over_two = || {
        let s = Scene::linked(2);
        let all = s.present(["x", "y"]).to_vec();
        (s, all)
    };
    let text = both(over_two, |s, all| {
        let both = [s.rt.device("sim:0").unwrap(), s.rt.device("sim:1").unwrap()];
        let q = s.rt.queue_over(&both, Split::rows()).unwrap();
        (0..2).for_each(|_| drop(q.spread(N, adds_up(&all[0], &all[1])).unwrap()));
    });
    check!(
        text,
        "1 b.peer: copy x[4..8] a->b",
        "2 a0: run y[0..4](x[0..4])",
        "3 b.peer: copy y[4..8] a->b after 2",
        "4 a0: run y[0..4](x[0..4]) after 2",
        "5 b0: run y[4..8](x[4..8]) after 2 3",
        "6 b0: run y[4..8](x[4..8]) after 3 5"
    );
}
