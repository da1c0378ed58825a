//! What runs exchange in the device's graphs.

use crate::scene::{Commands, N, Numbers, Scene, adds, adds_up};
use folio_core::{Executable, Graph, Parameter};

/// Two commands, of which the first reads the parameter.
fn by_parameter(g: &Graph, n: &Parameter<i32>, x: &Numbers) {
    let (n, of) = (n.clone(), x.clone());
    g.add_updatable(&[], move |cg| {
        let n = cg.parameter(&n);
        cg.run(N, adds(n, &of));
        Ok(())
    })
    .unwrap();
    g.bump(1, x);
}

/// A run that is one operation, in which `n` is a scalar.
fn with_scalar(s: &Scene, n: &Parameter<i32>, x: &Numbers) -> Executable {
    s.warm(|g| by_parameter(g, n, x))
}

#[test]
fn a_scalar_is_exchanged_in_its_node() {
    let s = Scene::new();
    let ([x], n) = (s.present(["x"]), Parameter::new(1));
    let run = with_scalar(&s, &n, &x);
    n.set(5);
    check!(s.held(|| s.go(&run)), "exchange a: run x", "1 a0: replay [a: run x; b: run x after a]");
    check!(s.states(&[&x]), "x: 11");
}

#[test]
fn a_parameter_that_keeps_its_value_exchanges_nothing() {
    let s = Scene::new();
    let ([x], n) = (s.present(["x"]), Parameter::new(1));
    let run = with_scalar(&s, &n, &x);
    check!(s.held(|| s.go(&run)), "1 a0: replay [a: run x; b: run x after a]");
}

#[test]
fn a_scalar_of_each_run_is_exchanged_in_each() {
    let s = Scene::new();
    let ([x], n) = (s.present(["x"]), Parameter::new(1));
    let run = with_scalar(&s, &n, &x);
    let text = s.tally(|| {
        for value in 10..30 {
            n.set(value);
            s.q.run_graph(&run).unwrap().wait().unwrap();
        }
    });
    check!(text, "20 exchange, 20 replay");
}

#[test]
fn runs_of_the_same_values_make_and_exchange_nothing() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let run = s.warm(|g| {
        (0..3).for_each(|n| {
            g.bump(n, &x);
        })
    });
    check!(s.tally(|| (0..20).for_each(|_| s.go(&run))), "20 replay");
}

#[test]
fn a_buffer_is_exchanged_in_its_node() {
    let s = Scene::new();
    let [x, y, z] = s.present(["x", "y", "z"]);
    let from = Parameter::new(x.clone());
    let run = s.warm(|g| {
        let (from, to) = (from.clone(), z.clone());
        g.add_updatable(&[], move |cg| {
            let from = cg.parameter(&from);
            cg.run(N, adds_up(&from, &to));
            Ok(())
        })
        .unwrap();
        g.bump(1, &z);
    });
    from.set(y.clone());
    let text = s.held(|| {
        s.q.bump(1, &y);
        s.go(&run);
    });
    check!(
        text,
        "1 a0: run y",
        "exchange a: run z(y)",
        "2 a0: replay [a: run z(y); b: run z after a] after 1"
    );
}

#[test]
fn a_fill_and_a_copy_are_exchanged() {
    let s = Scene::new();
    let [x, y, z] = s.present(["x", "y", "z"]);
    let (value, to) = (Parameter::new(1), Parameter::new(y.clone()));
    let run = s.warm(|g| {
        let (value, of) = (value.clone(), x.clone());
        g.add_updatable(&[], move |cg| {
            let value = cg.parameter(&value);
            cg.fill(&of, value);
            Ok(())
        })
        .unwrap();
        let (to, of) = (to.clone(), x.clone());
        g.add_updatable(&[], move |cg| {
            let to = cg.parameter(&to);
            cg.copy(&of, &to);
            Ok(())
        })
        .unwrap();
    });
    value.set(7);
    to.set(z.clone());
    check!(
        s.held(|| s.go(&run)),
        "exchange a: fill x 7",
        "exchange b: copy x to z",
        "1 a0: replay [a: fill x 7; b: copy x to z after a]"
    );
}

#[test]
fn a_range_is_exchanged() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    let at = Parameter::new(0usize);
    let run = s.warm(|g| {
        let (at, of) = (at.clone(), x.clone());
        g.add_updatable(&[], move |cg| {
            let at = cg.parameter(&at);
            cg.run(4, adds(1, of.slice_mut([at], [4])?));
            Ok(())
        })
        .unwrap();
        g.mix(&x, &y);
    });
    at.set(4);
    check!(
        s.held(|| s.go(&run)),
        "exchange a: run x[4..8]",
        "1 a0: replay [a: run x[4..8]; b: run y(x) after a]"
    );
}

#[test]
fn an_update_exchanges_one_node() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let mut second = None;
    let run = s.warm(|g| {
        g.bump(1, &x);
        second = Some(g.bump(2, &x));
        g.bump(3, &x);
    });
    run.update(second.unwrap(), |cg| cg.run(N, adds(7, &x))).unwrap();
    check!(
        s.held(|| s.go(&run)),
        "exchange b: run x",
        "1 a0: replay [a: run x; b: run x after a; c: run x after b]"
    );
    check!(s.states(&[&x]), "x: 24");
}

#[test]
fn an_update_of_a_graph_within_exchanges_it_in_all_places() {
    let s = Scene::new();
    let [x] = s.present(["x"]);
    let mut node = None;
    let inner = s.made(|g| node = Some(g.bump(1, &x)));
    let run = s.warm(|g| {
        let first = g.add_graph(&[], &inner).unwrap();
        g.add_graph(&[first], &inner).unwrap();
    });
    run.update(node.unwrap(), |cg| cg.run(N, adds(7, &x))).unwrap();
    check!(
        s.held(|| s.go(&run)),
        "exchange a: run x",
        "exchange d: run x",
        "1 a0: replay [a: run x; b: join after a; c: join after b; d: run x after a c; e: join after d]"
    );
}

#[test]
fn exchanges_around_a_task_are_in_its_parts() {
    let s = Scene::new();
    let ([x], n) = (s.present(["x"]), Parameter::new(1));
    let run = s.warm(|g| {
        by_parameter(g, &n, &x);
        g.task(&s.book, "t", &x);
        by_parameter(g, &n, &x);
    });
    n.set(4);
    check!(
        s.through(|| s.go(&run)),
        "exchange a: run x",
        "exchange a: run x",
        "1 a0: replay [a: run x; b: run x after a]",
        "2 a.down: copy x a->h after 1",
        "(all ends)",
        "task t",
        "3 a.up: copy x h->a",
        "4 a1: replay [a: run x; b: run x after a] after 3"
    );
    check!(s.states(&[&x]), "x: 19");
}

#[test]
fn a_scalar_is_exchanged_while_earlier_runs_are_pending() {
    let s = Scene::new();
    let ([x], n) = (s.present(["x"]), Parameter::new(1));
    let run = with_scalar(&s, &n, &x);
    let text = s.held(|| {
        for value in 10..13 {
            n.set(value);
            s.go(&run);
        }
    });
    check!(
        text,
        "exchange a: run x",
        "1 a0: replay [a: run x; b: run x after a]",
        "exchange a: run x",
        "2 a0: replay [a: run x; b: run x after a] after 1",
        "exchange a: run x",
        "3 a0: replay [a: run x; b: run x after a] after 2"
    );
}
