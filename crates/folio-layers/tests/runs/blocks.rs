//! Blocks that come again: which operations there are, and what these wait for.

use crate::scene::{Commands, N, Numbers, Scene, adds};
use folio::prelude::*;

/// Submits a block so often that it is known.
fn learn(s: &Scene, q: &Queue, block: impl Fn(&Queue)) {
    (0..4).for_each(|_| once(s, q, &block));
}

/// Submits a block, and waits for it.
fn once(s: &Scene, q: &Queue, block: impl Fn(&Queue)) {
    go(q, block);
    s.rt.wait().unwrap();
}

fn go(q: &Queue, block: impl Fn(&Queue)) -> Event {
    let ran = q.batch(|q| {
        block(q);
        Ok(())
    });
    ran.unwrap().1
}

/// Two commands of one buffer.
fn two(n: i32, x: &Numbers) -> impl Fn(&Queue) {
    move |q: &Queue| {
        q.bump(n, x);
        q.bump(2, x);
    }
}

#[test]
fn a_block_that_comes_again_is_one_operation() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let block = |q: &Queue| {
        q.bump(1, &x);
        q.copy_to(&x, &y);
        q.set(&x, 3);
    };
    learn(&s, &s.q, block);
    check!(
        s.held(|| drop(go(&s.q, block))),
        "1 a0: replay [a: run x; b: copy x to y after a; c: fill x 3 after a b]"
    );
}

#[test]
fn blocks_of_the_same_data_come_one_after_the_other() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    learn(&s, &s.q, two(1, &x));
    check!(
        s.held(|| (0..3).for_each(|_| drop(go(&s.q, two(1, &x))))),
        "1 a0: replay [a: run x; b: run x after a]",
        "2 a0: replay [a: run x; b: run x after a] after 1",
        "3 a0: replay [a: run x; b: run x after a] after 2"
    );
}

#[test]
fn a_block_of_a_queue_in_order_is_in_order() {
    let s = Scene::new();
    let [x, y, z] = s.present(["x", "y", "z"]);
    let q = s.in_order();
    let block = |q: &Queue| {
        q.bump(1, &x);
        q.bump(1, &y);
    };
    learn(&s, &q, block);
    let text = s.held(|| {
        q.bump(1, &z);
        go(&q, block);
        q.bump(1, &z);
    });
    check!(
        text,
        "1 a0: run z",
        "2 a0: replay [a: run x; b: run y after a] after 1",
        "3 a0: run z after 2"
    );
}

#[test]
fn a_block_is_known_by_its_queue() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    learn(&s, &s.q, two(1, &x));
    let other = s.on(0);
    check!(s.held(|| drop(go(&other, two(1, &x)))), "1 a0: run x", "2 a0: run x after 1");
}

#[test]
fn other_scalars_are_exchanged() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    learn(&s, &s.q, two(1, &x));
    check!(
        s.held(|| drop(go(&s.q, two(9, &x)))),
        "exchange a: run x",
        "1 a0: replay [a: run x; b: run x after a]"
    );
    check!(s.states(&[&x]), "x: 24");
}

#[test]
fn blocks_with_other_scalars_each_time_are_one_operation_each() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    learn(&s, &s.q, two(1, &x));
    let text = s.tally(|| {
        for n in 10..30 {
            once(&s, &s.q, two(n, &x));
        }
    });
    check!(text, "20 exchange, 20 replay");
}

#[test]
fn equal_blocks_make_and_exchange_nothing() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    learn(&s, &s.q, two(1, &x));
    check!(s.tally(|| (0..20).for_each(|_| once(&s, &s.q, two(1, &x)))), "20 replay");
}

#[test]
fn other_buffers_are_exchanged() {
    let s = Scene::new();
    let [x, y, z] = s.present(["x", "y", "z"]);
    let block = |from: &Numbers| {
        let from = from.clone();
        let to = z.clone();
        move |q: &Queue| {
            q.mix(&from, &to);
            q.bump(1, &to);
        }
    };
    learn(&s, &s.q, block(&x));
    check!(
        s.held(|| drop(go(&s.q, block(&y)))),
        "exchange a: run z(y)",
        "1 a0: replay [a: run z(y); b: run z after a]"
    );
}

#[test]
fn other_ranges_are_exchanged() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let block = |from: usize| {
        let (x, y) = (x.clone(), y.clone());
        move |q: &Queue| {
            q.bump_part(1, &x, from..from + 4);
            q.mix(&x, &y);
        }
    };
    learn(&s, &s.q, block(0));
    check!(
        s.held(|| drop(go(&s.q, block(4)))),
        "exchange a: run x[4..8]",
        "1 a0: replay [a: run x[4..8]; b: run y(x) after a]"
    );
}

#[test]
fn another_value_of_a_fill_is_exchanged() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let block = |value: i32| {
        let x = x.clone();
        move |q: &Queue| {
            q.set(&x, value);
            q.bump(1, &x);
        }
    };
    learn(&s, &s.q, block(0));
    check!(
        s.held(|| drop(go(&s.q, block(5)))),
        "exchange a: fill x 5",
        "1 a0: replay [a: fill x 5; b: run x after a]"
    );
}

#[test]
fn another_order_of_commands_is_another_block() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let turned = |q: &Queue| {
        q.set(&x, 1);
        q.bump(2, &x);
    };
    learn(&s, &s.q, two(1, &x));
    learn(&s, &s.q, turned);
    let text = s.held(|| {
        go(&s.q, two(1, &x));
        go(&s.q, turned);
        go(&s.q, two(1, &x));
    });
    check!(
        text,
        "1 a0: replay [a: run x; b: run x after a]",
        "2 a0: replay [a: fill x 1; b: run x after a] after 1",
        "3 a0: replay [a: run x; b: run x after a] after 2"
    );
}

#[test]
fn buffers_that_take_turns_are_found_again() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let block = |from: &Numbers, to: &Numbers| {
        let (from, to) = (from.clone(), to.clone());
        move |q: &Queue| {
            q.mix(&from, &to);
            q.bump(1, &to);
        }
    };
    for _ in 0..20 {
        once(&s, &s.q, block(&x, &y));
        once(&s, &s.q, block(&y, &x));
    }
    let text = s.tally(|| {
        for _ in 0..10 {
            once(&s, &s.q, block(&x, &y));
            once(&s, &s.q, block(&y, &x));
        }
    });
    check!(text, "20 replay");
}

#[test]
fn data_that_the_host_wrote_are_brought_before_a_block() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    learn(&s, &s.q, two(1, &x));
    x.write().unwrap()[0] = 4;
    check!(
        s.held(|| drop(go(&s.q, two(1, &x)))),
        "1 a.up: copy x h->a",
        "2 a0: replay [a: run x; b: run x after a] after 1"
    );
}

#[test]
fn data_of_another_device_are_brought_before_a_block() {
    let s = Scene::linked(2);
    let [x] = s.present(["x"]);
    learn(&s, &s.q, two(1, &x));
    s.on(1).bump(1, &x).wait().unwrap();
    check!(
        s.held(|| drop(go(&s.q, two(1, &x)))),
        "1 a.peer: copy x b->a",
        "2 a0: replay [a: run x; b: run x after a] after 1"
    );
}

#[test]
fn a_block_that_is_refused_submits_nothing() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    learn(&s, &s.q, two(1, &x));
    let text = s.held(|| {
        let refused = s.q.batch(|q| {
            two(1, &x)(q);
            q.run(N, adds(1, x.slice_mut([4], [8])?))
        });
        assert!(refused.is_err());
    });
    check!(text, "");
}

#[test]
fn a_task_in_a_block_keeps_its_commands_apart_from_others() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let block = |q: &Queue| {
        q.bump(1, &x);
        q.task(&s.book, "t", &x);
        q.bump(2, &x);
    };
    learn(&s, &s.q, block);
    check!(
        s.through(|| drop(go(&s.q, block))),
        "1 a0: run x",
        "2 a.down: copy x a->h after 1",
        "(all ends)",
        "task t",
        "3 a.up: copy x h->a",
        "4 a1: run x after 3"
    );
}

#[test]
fn a_block_in_which_a_check_is_left_is_not_one_operation() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let block = |q: &Queue| {
        q.bump(1, &x);
        q.check_at(N, &x);
        q.bump(2, &x);
    };
    learn(&s, &s.q, block);
    check!(
        s.held(|| drop(go(&s.q, block))),
        "1 a0: run x",
        "2 a0: run x after 1",
        "3 a0: run x after 2"
    );
}

#[test]
fn an_event_within_a_block_is_an_edge() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let block = |q: &Queue| {
        let first = q.bump(1, &x);
        q.put(|cg| cg.after(&first).run(N, adds(1, &y)));
        q.bump(2, &x);
    };
    learn(&s, &s.q, block);
    check!(
        s.held(|| drop(go(&s.q, block))),
        "1 a0: replay [a: run x; b: run y after a; c: run x after a]"
    );
}

#[test]
fn a_command_after_the_event_of_a_block_waits_for_it() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    learn(&s, &s.q, two(1, &x));
    let text = s.held(|| {
        let event = go(&s.q, two(1, &x));
        s.q.put(|cg| cg.after(&event).run(N, adds(1, &y)));
    });
    check!(text, "1 a0: replay [a: run x; b: run x after a]", "2 a1: run y after 1");
}

#[test]
fn a_reduction_is_in_the_operation_of_its_block() {
    let s = Scene::new();
    let [x, sum] = s.present(["x", "sum"]);
    let block = |q: &Queue| {
        q.bump(1, &x);
        q.total(&x, &sum);
    };
    learn(&s, &s.q, block);
    check!(
        s.held(|| drop(go(&s.q, block))),
        "1 a0: replay [a: run x; b: run sum[0..1](x) after a]"
    );
}

#[test]
fn a_failure_before_a_block_fails_it() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    learn(&s, &s.q, two(1, &x));
    s.q.check_at(2, &x);
    go(&s.q, two(1, &x));
    s.q.bump(1, &y);
    check!(s.states(&[&x, &y]), "x: failed", "y: 2");
}
