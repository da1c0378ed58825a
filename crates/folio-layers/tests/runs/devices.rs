//! Runs on several devices: what is brought, and from where.

use crate::scene::{Commands, N, Scene, adds};

#[test]
fn what_is_on_the_host_is_brought_first() {
    let s = Scene::new();
    let [x, y] = s.buffers(["x", "y"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.mix(&x, &y);
    });
    x.write().unwrap()[0] = 5;
    check!(
        s.held(|| s.go(&run)),
        "1 a.up: copy x h->a",
        "2 a0: replay [a: run x; b: run y(x) after a] after 1"
    );
}

#[test]
fn what_two_commands_read_is_brought_once() {
    let s = Scene::new();
    let [x, y, z] = s.buffers(["x", "y", "z"]);
    let run = s.warm(|g| {
        g.mix(&x, &y);
        g.mix(&x, &z);
        g.mix(&y, &z);
    });
    [&x, &y].iter().for_each(|x| x.write().unwrap()[0] = 5);
    check!(
        s.held(|| s.go(&run)),
        "1 a.up: copy x h->a",
        "2 a.up: copy y h->a",
        "3 a0: replay [a: run y(x); b: run z(x); c: run z(y) after a b] after 2"
    );
}

#[test]
fn what_is_written_first_is_not_brought() {
    let s = Scene::new();
    let [x, y] = s.buffers(["x", "y"]);
    let run = s.warm(|g| {
        g.set(&x, 2);
        g.mix(&x, &y);
    });
    x.write().unwrap()[0] = 5;
    check!(s.held(|| s.go(&run)), "1 a0: replay [a: fill x 2; b: run y(x) after a]");
}

#[test]
fn results_are_brought_where_the_next_command_is() {
    let s = Scene::linked(2);
    let [x, y] = s.present(["x", "y"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.bump(2, &x);
    });
    let other = s.on(1);
    let text = s.held(|| {
        s.go(&run);
        other.mix(&x, &y);
    });
    check!(
        text,
        "1 a0: replay [a: run x; b: run x after a]",
        "2 b.peer: copy x a->b after 1",
        "3 b.peer: copy y a->b",
        "4 b0: run y(x) after 1 3"
    );
}

#[test]
fn results_go_by_way_of_the_host_without_a_link() {
    let s = Scene::of(2);
    let [x] = s.present(["x"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.bump(2, &x);
    });
    let other = s.on(1);
    let text = s.held(|| {
        s.go(&run);
        other.bump(1, &x);
    });
    check!(
        text,
        "1 a0: replay [a: run x; b: run x after a]",
        "2 a.down: copy x a->h after 1",
        "3 b.up: copy x h->b after 1 2",
        "4 b0: run x after 1 3"
    );
}

#[test]
fn data_of_another_device_are_brought_before_a_run() {
    let s = Scene::linked(2);
    let [x, y] = s.present(["x", "y"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.mix(&x, &y);
    });
    s.on(1).bump(1, &x).wait().unwrap();
    check!(
        s.held(|| s.go(&run)),
        "1 a.peer: copy x b->a",
        "2 a0: replay [a: run x; b: run y(x) after a] after 1"
    );
}

#[test]
fn data_of_another_device_come_by_the_host_without_a_link() {
    let s = Scene::of(2);
    let [x, y] = s.present(["x", "y"]);
    let run = s.warm(|g| {
        g.bump(1, &x);
        g.mix(&x, &y);
    });
    s.on(1).bump(1, &x).wait().unwrap();
    check!(
        s.held(|| s.go(&run)),
        "1 b.down: copy x b->h",
        "2 a.up: copy x h->a after 1",
        "3 a0: replay [a: run x; b: run y(x) after a] after 2"
    );
}

#[test]
fn graphs_of_two_devices_hand_over_what_they_write() {
    let s = Scene::linked(2);
    let [x] = s.present(["x"]);
    let build = |g: &folio_core::Graph| {
        (0..2).for_each(|n| {
            g.bump(n, &x);
        })
    };
    let (one, other, q) = (s.warm(build), s.made_on(1, build), s.on(1));
    (0..2).for_each(|_| q.run_graph(&other).unwrap().wait().unwrap());
    s.q.run_graph(&one).unwrap().wait().unwrap();
    let text = s.held(|| {
        s.go(&one);
        q.run_graph(&other).unwrap();
        s.go(&one);
    });
    check!(
        text,
        "1 a0: replay [a: run x; b: run x after a]",
        "2 b.peer: copy x a->b after 1",
        "3 b0: replay [a: run x; b: run x after a] after 1 2",
        "4 a.peer: copy x b->a after 2 3",
        "5 a1: replay [a: run x; b: run x after a] after 1 2 3 4"
    );
}

#[test]
fn graphs_of_two_devices_read_the_same_side_by_side() {
    let s = Scene::linked(2);
    let [x, y, z] = s.present(["x", "y", "z"]);
    let one = s.warm(|g| {
        (0..2).for_each(|_| {
            g.mix(&x, &y);
        })
    });
    let other = s.made_on(1, |g| {
        (0..2).for_each(|_| {
            g.mix(&x, &z);
        })
    });
    let q = s.on(1);
    (0..2).for_each(|_| q.run_graph(&other).unwrap().wait().unwrap());
    let text = s.held(|| {
        s.go(&one);
        q.run_graph(&other).unwrap();
    });
    check!(
        text,
        "1 a0: replay [a: run y(x); b: run y(x) after a]",
        "2 b0: replay [a: run z(x); b: run z(x) after a]"
    );
}

#[test]
fn a_write_on_another_device_comes_after_the_reads_of_a_run() {
    let s = Scene::linked(2);
    let [x, y] = s.present(["x", "y"]);
    let run = s.warm(|g| {
        (0..2).for_each(|_| {
            g.mix(&x, &y);
        })
    });
    let q = s.on(1);
    let text = s.held(|| {
        s.go(&run);
        q.set(&x, 3);
        s.q.put(|cg| cg.run(N, adds(1, &x)));
    });
    check!(
        text,
        "1 a0: replay [a: run y(x); b: run y(x) after a]",
        "2 b0: fill x 3 after 1",
        "3 a.peer: copy x b->a after 2",
        "4 a1: run x after 2 3"
    );
}

#[test]
fn a_device_that_waits_for_no_other_gets_its_run_when_that_ended() {
    let s = Scene::apart(2);
    let [x] = s.present(["x"]);
    let run = s.warm(|g| {
        (0..2).for_each(|n| {
            g.bump(n, &x);
        })
    });
    let q = s.on(1);
    let text = s.through(|| {
        s.go(&run);
        q.bump(1, &x);
    });
    check!(
        text,
        "1 a0: replay [a: run x; b: run x after a]",
        "2 a.down: copy x a->h after 1",
        "(all ends)",
        "3 b.up: copy x h->b",
        "4 b0: run x after 3"
    );
}
