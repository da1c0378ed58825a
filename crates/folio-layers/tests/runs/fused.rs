//! Fused blocks that come again: which operations there are.

use crate::scene::{N, Numbers, Scene, adds, adds_up, joins};
use folio::Result;
use folio::prelude::*;

fn go<R>(s: &Scene, block: impl FnOnce(&Queue) -> Result<R>) {
    drop(s.q.batch_fused(block).unwrap());
}

/// Two kernels that become one, and a fill.
fn three<'b>(n: i32, x: &'b Numbers, y: &'b Numbers) -> impl Fn(&Queue) -> Result<()> + 'b {
    move |q| {
        q.run(N, adds(n, x))?;
        q.run(N, adds_up(x, y))?;
        q.fill(x, n).map(drop)
    }
}

/// Two kernels that become one: what is between them is the block's own.
fn between(s: &Scene, x: &Numbers, z: &Numbers) {
    go(s, |q| {
        let mut y = s.rt.buffer::<i32, 1>(N)?;
        q.run(N, joins(x, x, &mut y))?;
        q.run(N, joins(x, &y, z)).map(drop)
    });
}

#[test]
fn a_fused_block_that_comes_again_is_one_operation() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    for _ in 0..3 {
        go(&s, three(1, &x, &y));
        s.rt.wait().unwrap();
    }
    check!(s.held(|| go(&s, three(1, &x, &y))), "1 a0: replay [a: run x y; b: fill x 1 after a]");
    check!(s.tally(|| (0..10).for_each(|_| go(&s, three(1, &x, &y)))), "10 replay");
}

#[test]
fn other_scalars_of_a_fused_block_are_exchanged() {
    let s = Scene::new();
    let [x, y] = s.present(["x", "y"]);
    for _ in 0..3 {
        go(&s, three(1, &x, &y));
        s.rt.wait().unwrap();
    }
    let turn = |n: i32| {
        go(&s, three(n, &x, &y));
        s.rt.wait().unwrap();
    };
    check!(s.tally(|| (10..20).for_each(turn)), "20 exchange, 10 replay");
}

#[test]
fn other_buffers_of_a_fused_block_are_exchanged() {
    let s = Scene::new();
    let [x, y, z] = s.present(["x", "y", "z"]);
    for _ in 0..3 {
        go(&s, three(1, &x, &y));
        s.rt.wait().unwrap();
    }
    check!(
        s.held(|| go(&s, three(1, &z, &y))),
        "exchange a: run z y",
        "exchange b: fill z 1",
        "1 a0: replay [a: run z y; b: fill z 1 after a]"
    );
}

#[test]
fn a_fused_block_with_a_buffer_of_its_own_is_one_operation() {
    let s = Scene::new();
    let [x, z] = s.present(["x", "z"]);
    for _ in 0..3 {
        between(&s, &x, &z);
        s.rt.wait().unwrap();
    }
    check!(s.tally(|| (0..10).for_each(|_| between(&s, &x, &z))), "10 replay");
    check!(s.states(&[&z]), "z: 3");
}
