//! The rule of runs and blocks: a run of an executable, or a block that comes again, is *one
//! command*. All of it waits for what any of its commands waits for, and it fails as one. A run is
//! cut only at host tasks, at commands that may fail by themselves, at conditions that the device
//! cannot decide, and where memory of another device is brought. A block with such a command is
//! submitted one by one.

use crate::scene::{Commands, N, Numbers, Scene};
use folio::prelude::*;
use folio_core::Graph;

fn block(s: &Scene, build: impl FnOnce(&Queue)) {
    s.q.batch(|q| {
        build(q);
        Ok(())
    })
    .unwrap();
}

/// A block of two commands of one buffer.
fn twice(s: &Scene, x: &Numbers) {
    block(s, |q| {
        q.bump(1, x);
        q.bump(2, x);
    });
}

/// A condition that the device decides cuts nothing.
#[test]
fn a_choice_of_the_device_is_within_a_list() {
    let s = Scene::new();
    let [flag, x] = s.present(["flag", "x"]);
    let body = s.made(|g| {
        g.bump(1, &x);
        g.bump(2, &x);
    });
    let run = s.warm(|g| {
        g.bump(1, &flag);
        g.bump(1, &x);
        g.if_(&[], flag.slice([0], [1]).unwrap(), &body).unwrap();
        g.bump(1, &x);
    });
    check!(
        s.held(|| s.go(&run)),
        "1 a0: replay [a: run flag; b: run x; c: by flag {run x, run x} after a b; d: run x after c]"
    );
}

/// The limit of a loop fails all of the run.
#[test]
fn a_loop_of_the_device_is_within_a_list() {
    let s = Scene::new();
    let [left, x] = s.present(["left", "x"]);
    let body = s.made(|g| {
        g.bump(1, &x);
        g.bump(-1, &left);
    });
    let run = s.warm(|g| {
        g.set(&left, 3);
        g.while_(&[], left.slice([0], [1]).unwrap(), 10, &body).unwrap();
        g.bump(1, &x);
    });
    check!(
        s.held(|| s.go(&run)),
        "1 a0: replay [a: fill left 3; b: by left {run x, run left} after a; c: run x after b]"
    );
}

/// Commands are compared by their keys.
#[test]
fn an_update_from_a_graph_exchanges_what_differs() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let build = |g: &Graph, n: i32| {
        g.bump(1, &x);
        g.bump(n, &x);
        g.copy_to(&x, &y);
    };
    let run = s.warm(|g| build(g, 2));
    run.update_from(&s.graph(|g| build(g, 3))).unwrap();
    check!(
        s.held(|| s.go(&run)),
        "exchange b: run x",
        "1 a0: replay [a: run x; b: run x after a; c: copy x to y after b]"
    );
}

#[test]
fn other_memory_of_a_buffer_has_the_list_compiled_again() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let run = s.warm(|g| {
        (0..2).for_each(|n| {
            g.bump(n, &x);
        })
    });
    x.read().unwrap();
    x.release(&s.q.device()).unwrap();
    let text = s.tally(|| (0..4).for_each(|_| s.q.run_graph(&run).unwrap().wait().unwrap()));
    check!(text, "1 copy, 1 make, 4 replay");
    check!(s.states(&[&x]), "x: 7");
}

#[test]
fn the_first_run_is_a_list() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let run = s.made(|g| {
        g.bump(1, &x);
        g.bump(2, &x);
    });
    let text = s.held(|| (0..3).for_each(|_| s.go(&run)));
    check!(
        text,
        "make a graph of 2",
        "1 a0: replay [a: run x; b: run x after a]",
        "2 a0: replay [a: run x; b: run x after a] after 1",
        "3 a0: replay [a: run x; b: run x after a] after 2"
    );
}

#[test]
fn the_first_block_alone_is_submitted_by_commands() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let text = s.held(|| {
        (0..5).for_each(|_| twice(&s, &x));
    });
    check!(
        text,
        "1 a0: run x",
        "2 a0: run x after 1",
        "make a graph of 2",
        "3 a0: replay [a: run x; b: run x after a] after 2",
        "4 a0: replay [a: run x; b: run x after a] after 3",
        "5 a0: replay [a: run x; b: run x after a] after 4",
        "6 a0: replay [a: run x; b: run x after a] after 5"
    );
}

#[test]
fn a_run_waits_for_what_one_of_its_commands_waits_for() {
    let s = Scene::new();
    let [x, y, z] = s.present(["x", "y", "z"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.bump(1, &y);
        g.merge(&x, &y, &z);
    });
    let text = s.held(|| {
        s.q.bump(1, &y);
        s.go(&run);
    });
    check!(
        text,
        "1 a0: run y",
        "2 a0: replay [a: run x; b: run y; c: run z(x y) after a b] after 1"
    );
}

#[test]
fn a_chain_waits_for_what_a_later_command_waits_for() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.mix(&x, &y);
    });
    let text = s.held(|| {
        s.q.bump(1, &y);
        s.go(&run);
    });
    check!(text, "1 a0: run y", "2 a0: replay [a: run x; b: run y(x) after a] after 1");
}

#[test]
fn a_block_waits_for_what_one_of_its_commands_waits_for() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let turn = || {
        block(&s, |q| {
            q.bump(1, &x);
            q.bump(1, &y);
        });
    };
    (0..4).for_each(|_| turn());
    s.rt.wait().unwrap();
    let text = s.held(|| {
        s.q.bump(1, &y);
        turn();
    });
    check!(text, "1 a0: run y", "2 a0: replay [a: run x; b: run y] after 1");
}

#[test]
fn runs_of_which_commands_often_wait_stay_one_operation() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let run = s.warm(|g| {
        for n in 0..2 {
            g.bump(n, &x);
            g.bump(n, &y);
        }
    });
    for _ in 0..4 {
        drop(s.held(|| {
            s.q.bump(1, &y);
            s.go(&run);
        }));
    }
    check!(
        s.held(|| s.go(&run)),
        "1 a0: replay [a: run x; b: run y; c: run x after a; d: run y after b]"
    );
}

/// A run fails as one, so `z` fails with `y`.
#[test]
fn a_failure_before_one_command_of_a_run_fails_the_run() {
    let s = Scene::new();
    let [x, y, z] = s.present(["x", "y", "z"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.bump(1, &y);
        g.bump(1, &z);
        g.mix(&x, &z);
    });
    s.q.check_at(2, &y);
    s.go(&run);
    check!(s.states(&[&x, &y, &z]), "x: failed", "y: failed", "z: failed");
}

#[test]
fn a_failure_before_one_command_of_a_block_fails_the_block() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let turn = || {
        block(&s, |q| {
            q.bump(1, &x);
            q.bump(1, &y);
        });
        drop(s.rt.wait());
    };
    (0..4).for_each(|_| turn());
    s.q.check_at(2, &y);
    turn();
    check!(s.states(&[&x, &y]), "x: failed", "y: failed");
}

/// A check cuts the run at a topological cut.
#[test]
fn a_check_beside_a_chain_leaves_the_chain() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.check_at(N, &y);
        g.bump(2, &x);
        g.bump(1, &y);
        g.bump(3, &x);
    });
    check!(
        s.held(|| s.go(&run)),
        "1 a0: replay [a: run x; b: run x after a; c: run x after b]",
        "2 a1: run y",
        "3 a1: run y after 2"
    );
}

/// As above, for a host task.
#[test]
fn a_task_beside_a_chain_leaves_the_chain() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.task(&s.book, "t", &y);
        g.bump(2, &x);
        g.bump(1, &y);
        g.bump(3, &x);
    });
    check!(
        s.through(|| s.go(&run)),
        "1 a.down: copy y a->h",
        "2 a0: replay [a: run x; b: run x after a; c: run x after b]",
        "(all ends)",
        "task t",
        "3 a.up: copy y h->a",
        "4 a1: run y after 3"
    );
}

/// Commands before the task are one operation, and those behind it.
#[test]
fn commands_before_a_task_are_a_list() {
    let s = Scene::new();
    let [x, y, z] = s.present(["x", "y", "z"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.bump(1, &y);
        g.merge(&x, &y, &z);
        g.task(&s.book, "t", &z);
        g.mix(&z, &x);
        g.mix(&z, &y);
    });
    check!(
        s.through(|| s.go(&run)),
        "1 a0: replay [a: run x; b: run y; c: run z(x y) after a b]",
        "2 a.down: copy z a->h after 1",
        "(all ends)",
        "task t",
        "3 a.up: copy z h->a",
        "4 a0: replay [a: run x(z); b: run y(z)] after 3"
    );
}

#[test]
fn a_task_cuts_a_block() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let turn = || {
        block(&s, |q| {
            q.bump(1, &x);
            q.bump(2, &x);
            q.task(&s.book, "t", &x);
            q.bump(3, &x);
            q.bump(4, &x);
        });
    };
    (0..4).for_each(|_| turn());
    s.rt.wait().unwrap();
    check!(
        s.through(turn),
        "1 a0: replay [a: run x; b: run x after a]",
        "2 a.down: copy x a->h after 1",
        "(all ends)",
        "task t",
        "3 a.up: copy x h->a",
        "4 a1: replay [a: run x; b: run x after a] after 3"
    );
}

#[test]
fn a_check_that_is_left_cuts_a_block() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let turn = || {
        block(&s, |q| {
            q.bump(1, &x);
            q.bump(2, &x);
            q.check_at(N, &x);
        });
    };
    (0..4).for_each(|_| turn());
    s.rt.wait().unwrap();
    check!(s.held(turn), "1 a0: replay [a: run x; b: run x after a]", "2 a0: run x after 1");
}

#[test]
fn a_block_that_runs_a_graph_is_one_operation() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let inner = s.made(|g| {
        g.bump(1, &x);
        g.bump(2, &x);
    });
    let turn = || {
        block(&s, |q| {
            q.run_graph(&inner).unwrap();
            q.bump(3, &x);
        });
    };
    (0..4).for_each(|_| turn());
    s.rt.wait().unwrap();
    check!(
        s.held(turn),
        "1 a0: replay [a: run x; b: run x after a; c: join after b; d: run x after b]"
    );
}

#[test]
fn a_block_that_makes_a_buffer_is_one_operation() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let turn = || {
        block(&s, |q| {
            let t = s.fresh("t");
            q.set(&t, 2);
            q.mix(&t, &x);
        });
        s.rt.wait().unwrap();
    };
    (0..4).for_each(|_| turn());
    check!(s.tally(|| (0..5).for_each(|_| turn())), "5 replay");
}

/// A store keeps more kinds of blocks than these.
#[test]
fn nine_kinds_of_blocks_in_turns_are_counted() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let turn = |kind: usize| {
        block(&s, |q| (0..kind + 2).for_each(|_| drop(q.bump(1, &x))));
        s.rt.wait().unwrap();
    };
    (0..4).for_each(|_| (0..9).for_each(turn));
    check!(s.tally(|| (0..9).for_each(turn)), "9 replay");
}

#[test]
fn a_run_whose_data_may_still_fail_elsewhere_comes_behind_the_copy() {
    let s = Scene::linked(2);
    let [x, y] = s.present(["x", "y"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.mix(&x, &y);
        g.bump(1, &y);
    });
    let other = s.on(1);
    let text = s.held(|| {
        other.check_at(N, &y);
        s.go(&run);
    });
    check!(
        text,
        "1 b.peer: copy y a->b",
        "2 b0: run y after 1",
        "3 a.peer: copy y b->a after 1 2",
        "4 a0: replay [a: run x; b: run y(x) after a; c: run y after b] after 1 2 3"
    );
}

/// The store finds a list of each memory, so the blocks run on a lane each.
#[test]
fn equal_blocks_of_other_data_have_a_list_each() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    (0..4).for_each(|_| twice(&s, &x));
    s.rt.wait().unwrap();
    (0..4).for_each(|_| twice(&s, &y));
    s.rt.wait().unwrap();
    let text = s.held(|| {
        twice(&s, &x);
        twice(&s, &y);
    });
    check!(
        text,
        "make a graph of 2",
        "1 a0: replay [a: run x; b: run x after a]",
        "2 a1: replay [a: run y; b: run y after a]"
    );
}

#[test]
fn a_block_behind_a_pending_command_waits_for_it() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    (0..4).for_each(|_| twice(&s, &x));
    s.rt.wait().unwrap();
    let text = s.held(|| {
        s.q.bump(1, &x);
        twice(&s, &x);
        s.q.bump(1, &x);
    });
    check!(
        text,
        "1 a0: run x",
        "2 a0: replay [a: run x; b: run x after a] after 1",
        "3 a0: run x after 2"
    );
}

#[test]
fn a_block_behind_a_run_waits_for_it() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.bump(2, &x);
    });
    (0..4).for_each(|_| twice(&s, &x));
    s.rt.wait().unwrap();
    let text = s.held(|| {
        s.go(&run);
        twice(&s, &x);
        s.go(&run);
    });
    check!(
        text,
        "1 a0: replay [a: run x; b: run x after a]",
        "2 a0: replay [a: run x; b: run x after a] after 1",
        "3 a0: replay [a: run x; b: run x after a] after 2"
    );
}

#[test]
fn an_empty_block_that_comes_again_is_a_replay_of_nothing() {
    let s = Scene::new();
    (0..4).for_each(|_| block(&s, |_| ()));
    s.rt.wait().unwrap();
    check!(s.held(|| block(&s, |_| ())), "1 a0: replay []");
}
