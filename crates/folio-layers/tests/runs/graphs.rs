//! Runs of executables that are not new: which operations there are, and what these wait for.

use crate::scene::{Commands, N, Scene, adds};
use folio_core::graph::Replay;

#[test]
fn a_chain_is_one_operation() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let run = s.warm(|g| {
        (0..3).for_each(|n| {
            g.bump(n, &x);
        })
    });
    check!(s.held(|| s.go(&run)), "1 a0: replay [a: run x; b: run x after a; c: run x after b]");
}

#[test]
fn a_fan_is_one_operation() {
    let s = Scene::new();
    let [x, y, z] = s.present(["x", "y", "z"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.bump(2, &y);
        g.merge(&x, &y, &z);
    });
    check!(s.held(|| s.go(&run)), "1 a0: replay [a: run x; b: run y; c: run z(x y) after a b]");
}

#[test]
fn chains_beside_each_other_are_one_operation() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let run = s.warm(|g| {
        for n in 0..2 {
            g.bump(n, &x);
            g.bump(n, &y);
        }
    });
    check!(
        s.held(|| s.go(&run)),
        "1 a0: replay [a: run x; b: run y; c: run x after a; d: run y after b]"
    );
}

#[test]
fn copies_and_fills_are_nodes() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let run = s.warm(|g| {
        g.set(&x, 5);
        g.copy_to(&x, &y);
        g.bump(1, &y);
    });
    check!(
        s.held(|| s.go(&run)),
        "1 a0: replay [a: fill x 5; b: copy x to y after a; c: run y after b]"
    );
}

#[test]
fn a_write_comes_after_reads_and_reads_beside_each_other() {
    let s = Scene::new();
    let [x, y, z] = s.present(["x", "y", "z"]);
    let run = s.warm(|g| {
        g.mix(&x, &y);
        g.mix(&x, &z);
        g.set(&x, 3);
    });
    check!(s.held(|| s.go(&run)), "1 a0: replay [a: run y(x); b: run z(x); c: fill x 3 after a b]");
}

#[test]
fn parts_of_a_buffer_conflict_where_they_overlap() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let run = s.warm(|g| {
        g.bump_part(1, &x, 0..4);
        g.bump_part(1, &x, 4..8);
        g.bump_part(1, &x, 3..5);
    });
    check!(
        s.held(|| s.go(&run)),
        "1 a0: replay [a: run x[0..4]; b: run x[4..8]; c: run x[3..5] after a b]"
    );
}

#[test]
fn edges_that_were_asked_for_are_edges_of_nodes() {
    let s = Scene::new();
    let [x, y, z] = s.present(["x", "y", "z"]);
    let run = s.warm(|g| {
        let first = g.bump(1, &x);
        let second = g.add_after(&[first], |cg| cg.run(N, adds(1, &y))).unwrap();
        let third = g.bump(1, &z);
        g.make_edge(second, third).unwrap();
    });
    check!(s.held(|| s.go(&run)), "1 a0: replay [a: run x; b: run y after a; c: run z after b]");
}

#[test]
fn empty_nodes_pass_edges_on() {
    let s = Scene::new();
    let [x, y, z] = s.present(["x", "y", "z"]);
    let run = s.warm(|g| {
        let before = [g.bump(1, &x), g.bump(1, &y)];
        let meet = g.add_after(&before, |_| ()).unwrap();
        g.add_after(&[meet], |cg| cg.run(N, adds(1, &z))).unwrap();
    });
    check!(
        s.held(|| s.go(&run)),
        "1 a0: replay [a: run x; b: run y; c: join after a b; d: run z after c]"
    );
}

#[test]
fn a_graph_within_a_graph_is_in_its_operation() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let inner = s.made(|g| {
        g.bump(1, &x);
        g.mix(&x, &y);
    });
    let run = s.warm(|g| {
        g.set(&x, 2);
        g.add_graph(&[], &inner).unwrap();
        g.copy_to(&y, &x);
    });
    check!(
        s.held(|| s.go(&run)),
        "1 a0: replay [a: fill x 2; b: run x after a; c: run y(x) after b; d: join after c; e: copy y to x after b c]"
    );
}

#[test]
fn a_graph_that_is_a_node_twice_is_in_there_twice() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let inner = s.made(|g| {
        g.bump(1, &x);
    });
    let run = s.warm(|g| {
        let first = g.add_graph(&[], &inner).unwrap();
        g.add_graph(&[first], &inner).unwrap();
    });
    check!(
        s.held(|| s.go(&run)),
        "1 a0: replay [a: run x; b: join after a; c: join after b; d: run x after a c; e: join after d]"
    );
}

#[test]
fn a_recorded_graph_runs_as_one_by_hand() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let run = s.warm(|g| {
        let recording = g.record([&s.q]).unwrap();
        s.q.bump(1, &x);
        s.q.copy_to(&x, &y);
        drop(recording);
    });
    check!(s.held(|| s.go(&run)), "1 a0: replay [a: run x; b: copy x to y after a]");
}

#[test]
fn a_recorded_queue_in_order_gives_edges() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let q = s.in_order();
    let run = s.warm(|g| {
        let recording = g.record([&q]).unwrap();
        q.bump(1, &x);
        q.bump(1, &y);
        drop(recording);
    });
    check!(s.held(|| s.go(&run)), "1 a0: replay [a: run x; b: run y after a]");
}

#[test]
fn a_run_waits_for_what_wrote_its_data() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let run = s.warm(|g| {
        (0..2).for_each(|n| {
            g.bump(n, &x);
        })
    });
    let text = s.held(|| {
        s.q.bump(1, &x);
        s.go(&run);
    });
    check!(text, "1 a0: run x", "2 a0: replay [a: run x; b: run x after a] after 1");
}

#[test]
fn a_run_waits_for_what_reads_its_data() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let run = s.warm(|g| {
        (0..2).for_each(|n| {
            g.bump(n, &x);
        })
    });
    let text = s.held(|| {
        s.q.mix(&x, &y);
        s.go(&run);
    });
    check!(text, "1 a0: run y(x)", "2 a0: replay [a: run x; b: run x after a] after 1");
}

#[test]
fn a_command_waits_for_the_run_that_wrote_its_data() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.bump(2, &x);
    });
    let text = s.held(|| {
        s.go(&run);
        s.q.mix(&x, &y);
        s.q.bump(1, &y);
    });
    check!(
        text,
        "1 a0: replay [a: run x; b: run x after a]",
        "2 a0: run y(x) after 1",
        "3 a0: run y after 2"
    );
}

#[test]
fn a_command_with_other_data_waits_for_no_run() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let run = s.warm(|g| {
        (0..2).for_each(|n| {
            g.bump(n, &x);
        })
    });
    let text = s.held(|| {
        s.go(&run);
        s.q.bump(1, &y);
    });
    check!(text, "1 a0: replay [a: run x; b: run x after a]", "2 a1: run y");
}

#[test]
fn runs_of_one_executable_come_one_after_the_other() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let run = s.warm(|g| {
        (0..2).for_each(|n| {
            g.bump(n, &x);
        })
    });
    let text = s.held(|| (0..3).for_each(|_| s.go(&run)));
    check!(
        text,
        "1 a0: replay [a: run x; b: run x after a]",
        "2 a0: replay [a: run x; b: run x after a] after 1",
        "3 a0: replay [a: run x; b: run x after a] after 2"
    );
}

#[test]
fn runs_of_executables_with_other_data_are_side_by_side() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let [one, other] = [&x, &y].map(|x| {
        s.warm(|g| {
            (0..2).for_each(|n| {
                g.bump(n, x);
            })
        })
    });
    let text = s.held(|| {
        s.go(&one);
        s.go(&other);
    });
    check!(
        text,
        "1 a0: replay [a: run x; b: run x after a]",
        "2 a1: replay [a: run y; b: run y after a]"
    );
}

#[test]
fn runs_of_executables_with_the_same_data_come_one_after_the_other() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let one = s.warm(|g| {
        (0..2).for_each(|n| {
            g.bump(n, &x);
        })
    });
    let other = s.warm(|g| {
        g.mix(&x, &y);
        g.bump(1, &y);
    });
    let text = s.held(|| {
        s.go(&one);
        s.go(&other);
        s.go(&one);
    });
    check!(
        text,
        "1 a0: replay [a: run x; b: run x after a]",
        "2 a0: replay [a: run y(x); b: run y after a] after 1",
        "3 a0: replay [a: run x; b: run x after a] after 2"
    );
}

#[test]
fn a_run_in_a_queue_in_order_comes_after_the_latest_command() {
    let s = Scene::new();
    let [x, y, z] = s.present(["x", "y", "z"]);
    let run = s.warm(|g| {
        (0..2).for_each(|n| {
            g.bump(n, &x);
        })
    });
    let q = s.in_order();
    let text = s.held(|| {
        q.bump(1, &y);
        q.run_graph(&run).unwrap();
        q.bump(1, &z);
    });
    check!(
        text,
        "1 a0: run y",
        "2 a0: replay [a: run x; b: run x after a] after 1",
        "3 a0: run z after 2"
    );
}

#[test]
fn a_run_comes_after_the_events_that_it_names() {
    let s = Scene::new();
    let [x, y, z] = s.present(["x", "y", "z"]);
    let run = s.warm(|g| {
        (0..2).for_each(|n| {
            g.bump(n, &x);
        })
    });
    let text = s.held(|| {
        let before = [s.q.bump(1, &y), s.q.bump(1, &z)];
        s.q.run_graph_after(&run, &[&before[0], &before[1]]).unwrap();
    });
    check!(
        text,
        "1 a0: run y",
        "2 a1: run z",
        "3 a0: replay [a: run x; b: run x after a] after 1 2"
    );
}

#[test]
fn a_command_after_the_event_of_a_run_waits_for_it() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let run = s.warm(|g| {
        (0..2).for_each(|n| {
            g.bump(n, &x);
        })
    });
    let text = s.held(|| {
        let event = s.q.run_graph(&run).unwrap();
        s.q.put(|cg| cg.after(&event).run(N, adds(1, &y)));
    });
    check!(text, "1 a0: replay [a: run x; b: run x after a]", "2 a1: run y after 1");
}

#[test]
fn a_barrier_waits_for_a_run() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let run = s.warm(|g| {
        (0..2).for_each(|n| {
            g.bump(n, &x);
        })
    });
    let text = s.through(|| {
        s.go(&run);
        let meet = s.q.barrier().unwrap();
        s.q.put(|cg| cg.after(&meet).run(N, adds(1, &y)));
    });
    check!(text, "1 a0: replay [a: run x; b: run x after a]", "(all ends)", "2 a1: run y");
}

#[test]
fn single_commands_were_asked_for() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let run = s.warm(|g| {
        g.set(&x, 1);
        g.copy_to(&x, &y);
        g.bump(1, &y);
    });
    run.replay_as(Replay::Commands);
    check!(
        s.held(|| s.go(&run)),
        "1 a0: fill x 1",
        "2 a0: copy x to y after 1",
        "3 a0: run y after 2"
    );
}

#[test]
fn single_commands_wait_for_what_each_uses() {
    let s = Scene::new();
    let [x, y, z] = s.present(["x", "y", "z"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.bump(1, &y);
        g.merge(&x, &y, &z);
    });
    run.replay_as(Replay::Commands);
    let text = s.held(|| {
        s.q.bump(1, &y);
        s.go(&run);
    });
    check!(text, "1 a0: run x", "2 a1: run y", "3 a1: run y after 2", "4 a0: run z(x y) after 1 3");
}

#[test]
fn a_reduction_is_a_node() {
    let s = Scene::new();
    let [x, sum] = s.present(["x", "sum"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.total(&x, &sum);
        g.bump(1, &sum);
    });
    check!(
        s.held(|| s.go(&run)),
        "1 a0: replay [a: run x; b: run sum[0..1](x) after a; c: run sum after b]"
    );
}

#[test]
fn an_empty_graph_is_no_operation() {
    let s = Scene::new();
    let run = s.warm(|_| ());
    check!(s.held(|| s.go(&run)), "");
}

#[test]
fn one_command_is_one_operation() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
    });
    check!(s.held(|| s.go(&run)), "1 a0: run x");
}
