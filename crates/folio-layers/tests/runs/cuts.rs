//! Where a run is cut: at host tasks, at commands that may fail by themselves, at conditions.

use crate::scene::{Commands, N, Scene};

#[test]
fn a_task_cuts_a_run_in_two() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.copy_to(&x, &y);
        g.task(&s.book, "t", &y);
        g.bump(2, &y);
        g.copy_to(&y, &x);
    });
    check!(
        s.through(|| s.go(&run)),
        "1 a0: replay [a: run x; b: copy x to y after a]",
        "2 a.down: copy y a->h after 1",
        "(all ends)",
        "task t",
        "3 a.up: copy y h->a",
        "4 a0: replay [a: run y; b: copy y to x after a] after 3"
    );
}

#[test]
fn two_tasks_cut_a_run_in_three() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let run = s.warm(|g| {
        for name in ["t", "u"] {
            g.bump(1, &x);
            g.bump(2, &x);
            g.task(&s.book, name, &x);
        }
        g.bump(3, &x);
        g.bump(4, &x);
    });
    check!(
        s.through(|| s.go(&run)),
        "1 a0: replay [a: run x; b: run x after a]",
        "2 a.down: copy x a->h after 1",
        "(all ends)",
        "task t",
        "3 a.up: copy x h->a",
        "4 a1: replay [a: run x; b: run x after a] after 3",
        "5 a.down: copy x a->h after 3 4",
        "task u",
        "6 a.up: copy x h->a",
        "7 a1: replay [a: run x; b: run x after a] after 6"
    );
}

#[test]
fn tasks_alone_are_no_operation() {
    let s = Scene::new();
    let [x] = s.buffers(["x"]);
    let run = s.warm(|g| {
        g.task(&s.book, "t", &x);
        g.task(&s.book, "u", &x);
    });
    check!(s.tally(|| s.go(&run)), "2 task");
}

#[test]
fn a_check_that_is_left_cuts_a_run() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.bump(2, &x);
        g.check_at(N, &x);
        g.bump(3, &x);
        g.bump(4, &x);
    });
    check!(
        s.held(|| s.go(&run)),
        "1 a0: replay [a: run x; b: run x after a]",
        "2 a0: run x after 1",
        "3 a0: replay [a: run x; b: run x after a] after 2"
    );
}

#[test]
fn a_closure_cuts_a_run() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.bump(2, &x);
        g.closure(&x);
        g.bump(3, &x);
        g.bump(4, &x);
    });
    check!(
        s.held(|| s.go(&run)),
        "1 a0: replay [a: run x; b: run x after a]",
        "2 a0: run x after 1",
        "3 a0: replay [a: run x; b: run x after a] after 2"
    );
}

#[test]
fn bodies_of_conditions_nest() {
    let s = Scene::new();
    let [flag, other, x] = s.present(["flag", "other", "x"]);
    let inner = s.made(|g| {
        g.bump(1, &x);
    });
    let outer = s.made(|g| {
        g.bump(2, &x);
        g.if_(&[], other.slice([0], [1]).unwrap(), &inner).unwrap();
    });
    let run = s.warm(|g| {
        g.if_(&[], flag.slice([0], [1]).unwrap(), &outer).unwrap();
    });
    check!(s.held(|| s.go(&run)), "1 a0: replay [a: by flag {run x, by other {run x}}]");
}

#[test]
fn a_condition_with_a_check_in_its_body_is_the_hosts() {
    let s = Scene::new();
    let [flag, x] = s.present(["flag", "x"]);
    let body = s.made(|g| {
        g.check_at(N, &x);
    });
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.if_(&[], flag.slice([0], [1]).unwrap(), &body).unwrap();
        g.bump(1, &x);
    });
    check!(s.tally(|| s.go(&run)), "1 copy, 3 run");
}

#[test]
fn a_failure_of_a_check_reaches_what_uses_its_data() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let run = s.warm(|g| {
        g.bump(1, &y);
        g.bump(1, &y);
    });
    s.q.check_at(2, &x);
    let bad = s.made(|g| {
        g.check_at(2, &x);
        g.bump(1, &x);
    });
    s.go(&bad);
    s.go(&run);
    check!(s.states(&[&x, &y]), "x: failed", "y: 7");
}

#[test]
fn a_failure_before_a_run_fails_it() {
    let s = Scene::new();
    let [x, y, z] = s.present(["x", "y", "z"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.mix(&x, &y);
    });
    s.q.check_at(2, &x);
    s.go(&run);
    s.q.bump(1, &z);
    check!(s.states(&[&x, &y, &z]), "x: failed", "y: failed", "z: 2");
}
