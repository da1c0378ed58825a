//! Structs that are kept as columns, each in a buffer of its own.
#![forbid(unsafe_code)]

use super::agree::*;
use crate::engine::rig::*;
use folio::prelude::*;
use folio_core::ViolationKind;

#[derive(Clone, Copy, Debug, PartialEq, DeviceType, Columns)]
#[repr(C)]
struct Body {
    at: [f32; 2],
    speed: f32,
    hits: u32,
}

mod other {
    use folio::prelude::*;

    #[derive(Clone, Copy, Debug, PartialEq, DeviceType, Columns)]
    #[repr(C)]
    pub struct Pair {
        pub a: i32,
        pub b: u32,
    }
}
use other::Pair;

#[device_fn]
fn faster(of: Body, by: f32) -> Body {
    Body { speed: of.speed * by, hits: of.hits + 1, at: [of.at[1], by] }
}

/// Elements of columns, and of their elements; whole structs; two arguments of columns, and a
/// parameter whose name a column's has in it.
#[kernel]
fn moves(
    i: Item,
    by: f32,
    p: InOutColumns<Body>,
    q: InColumns<Pair>,
    r: OutColumns<Pair>,
    p_at: Out<u32>,
) {
    let k = i.index();
    p[i].at[1] += by * p[i].speed;
    if q[k].b % 3 == 0 {
        p[i] = faster(p[i], q[q.len() - 1 - k].a as f32);
    } else {
        p[i].hits = q[i].b;
    }
    let pair = q[(q[i].a as usize) % q.len()];
    r[i] = Pair { a: pair.a - 1, b: q[k].b + pair.b - q[k].b };
    p_at[i] = pair.b + p[i].hits;
}

#[device_fn]
fn step(at: &mut usize) -> usize {
    *at += 1;
    *at
}

/// An index that changes something, and a column's element in a struct.
#[kernel]
fn joins_columns(i: Item, q: InColumns<Pair>, r: OutColumns<Pair>, last: Out<u32>) {
    let mut at = i.index();
    let pair = q[step(&mut at) % q.len()];
    let next = Pair { a: q[at % 7].a, b: pair.b };
    r[i] = Pair { a: pair.a * 100 + next.a, b: next.b };
    last[i] = at as u32;
}

const N: usize = 50;

fn body(k: usize) -> Body {
    Body { at: [k as f32, wave(k)], speed: wave(k + 9), hits: (k * 7) as u32 }
}

fn pair(k: usize) -> Pair {
    Pair { a: (k * 31 % 83) as i32, b: (k * 5) as u32 }
}

pub(super) fn fields_are_columns(rig: &Rig) -> Outcome {
    let (at, speed) = (data([N], |k| body(k).at), data([N], |k| body(k).speed));
    let (hits, none) = (data([N], |k| body(k).hits), data([N], |_| 0u32));
    let (a, b) = (data([N], |k| pair(k).a), data([N], |k| pair(k).b));
    let (c, d) = (data([N], |_| 0i32), data([N], |_| 0u32));
    let args = vec![
        scalar(0.5f32),
        at.arg(),
        speed.arg(),
        hits.arg(),
        a.arg(),
        b.arg(),
        c.arg(),
        d.arg(),
        none.arg(),
    ];
    let bodies: Vec<Body> = (0..N).map(body).collect();
    let pairs: Vec<Pair> = (0..N).map(pair).collect();
    fine(agree::<moves>(rig, &[N], args, |rt, queue| {
        let (mut p, q) = (Body::of_rows(rt, &bodies)?, Pair::of_rows(rt, &pairs)?);
        let (mut r, mut sums) = (Pair::empty(rt, N)?, rt.buffer(N)?);
        queue.run(Body::range(&p), moves(0.5, &mut p, &q, &mut r, &mut sums))?;
        let rows = Body::rows(&p)?;
        assert_eq!((rows.len(), rows[7].hits), (N, p.hits.get(7)?));
        let [at, speed, hits] = [contents(&p.at)?, contents(&p.speed)?, contents(&p.hits)?];
        let [a, b] = [contents(&q.a)?, contents(&q.b)?];
        Ok(vec![at, speed, hits, a, b, contents(&r.a)?, contents(&r.b)?, contents(&sums)?])
    })?)
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType, Columns)]
#[repr(C)]
struct Left {
    b_c: u32,
    n: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType, Columns)]
#[repr(C)]
struct Right {
    c: u32,
}

#[device_fn]
fn left<const ADD: u32, const BY: u32>(x: u32) -> Left {
    Left { b_c: (x + ADD) * BY, n: x }
}

/// Columns of two parameters whose names and fields together are alike, and arms of a `match` that
/// assign without braces.
#[kernel]
fn alike(i: Item, a: InOutColumns<Left>, a_b: InColumns<Right>, y: Out<u32>) {
    match a_b[i].c % 4 {
        0 => a[i] = left::<5, 2>(a_b[i].c),
        1 => a[i] = Left { b_c: 1, n: a[i].n },
        2 => a[i].n = 7,
        _ => a[i].b_c += 3,
    }
    match a[i].n {
        7 => y[i] = 70,
        n => y[i] = n + a[i].b_c,
    }
}

pub(super) fn columns_of_like_names_are_apart(rig: &Rig) -> Outcome {
    let (b_c, n, c) = (data([N], |k| k as u32), data([N], |_| 4u32), data([N], |k| k as u32 * 3));
    let none = data([N], |_| 0u32);
    let args = vec![b_c.arg(), n.arg(), c.arg(), none.arg()];
    fine(agree::<alike>(rig, &[N], args, |rt, queue| {
        let left: Vec<Left> = (0..N).map(|k| Left { b_c: k as u32, n: 4 }).collect();
        let right: Vec<Right> = (0..N).map(|k| Right { c: k as u32 * 3 }).collect();
        let (mut a, a_b) = (Left::of_rows(rt, &left)?, Right::of_rows(rt, &right)?);
        let mut y = rt.buffer(N)?;
        queue.run(N, alike(&mut a, &a_b, &mut y))?;
        let of = |c: u32| match c % 4 {
            0 => Left { b_c: (c + 5) * 2, n: c },
            1 => Left { b_c: 1, n: 4 },
            2 => Left { b_c: c / 3, n: 7 },
            _ => Left { b_c: c / 3 + 3, n: 4 },
        };
        let wanted: Vec<Left> = right.iter().map(|right| of(right.c)).collect();
        assert_eq!(Left::rows(&a)?, wanted);
        Ok(vec![contents(&a.b_c)?, contents(&a.n)?, contents(&a_b.c)?, contents(&y)?])
    })?)
}

pub(super) fn indices_of_columns_are_computed_once(rig: &Rig) -> Outcome {
    let (a, b) = (data([N], |k| pair(k).a), data([N], |k| pair(k).b));
    let (c, d, none) = (data([N], |_| 0i32), data([N], |_| 0u32), data([N], |_| 0u32));
    let args = vec![a.arg(), b.arg(), c.arg(), d.arg(), none.arg()];
    let pairs: Vec<Pair> = (0..N).map(pair).collect();
    let wanted = |k: usize| {
        let (own, next) = (pair((k + 1) % N), pair((k + 1) % 7));
        Pair { a: own.a * 100 + next.a, b: own.b }
    };
    fine(agree::<joins_columns>(rig, &[N], args, |rt, queue| {
        let (q, mut r) = (Pair::of_rows(rt, &pairs)?, Pair::empty(rt, N)?);
        let mut last = rt.buffer(N)?;
        queue.run(N, joins_columns(&q, &mut r, &mut last))?;
        assert_eq!(Pair::rows(&r)?, (0..N).map(wanted).collect::<Vec<_>>());
        let [a, b] = [contents(&q.a)?, contents(&q.b)?];
        Ok(vec![a, b, contents(&r.a)?, contents(&r.b)?, contents(&last)?])
    })?)
}

/// A violation names the column.
pub(super) fn columns_have_bounds(rig: &Rig) -> Outcome {
    for device in 0..rig.rt.devices().len() {
        let (rt, queue) = (&rig.rt, rig.on(device)?);
        let wrong = Pair { a: -1, b: 1 };
        let (mut p, q) = (Body::empty(rt, 2)?, Pair::of_rows(rt, &[wrong; 2])?);
        let (mut r, mut sums) = (Pair::empty(rt, 1)?, rt.buffer(1)?);
        refused!(
            queue.run(2, moves(1.0, &mut p, &q, &mut r, &mut sums)),
            Error::LaunchTooLarge { .. }
        );
        let (mut wide, mut sums) = (Pair::empty(rt, 2)?, rt.buffer(2)?);
        let narrow = Pair::of_rows(rt, &[wrong])?;
        let ended = queue.run(2, moves(1.0, &mut p, &narrow, &mut wide, &mut sums))?.wait();
        let Err(Error::Failed(failure)) = ended else {
            return Err(Stop::Failed("nothing is behind the end".to_owned()));
        };
        let folio_core::Cause::Kernel(violation) = failure.cause() else {
            return Err(Stop::Failed(failure.to_string()));
        };
        let column = match &violation.kind {
            ViolationKind::OutOfBounds { param: Some(param), .. } => param.clone(),
            _ => violation.to_string(),
        };
        ensure!(["q.a", "q.b"].contains(&column.as_str()), "{column}");
    }
    Ok(())
}
