//! Red and black cells: items own every other cell, and read those between (KRN-02).
#![forbid(unsafe_code)]

use super::agree::*;
use crate::engine::rig::*;
use folio::prelude::*;
use folio_core::ViolationKind;

/// A step of Gauss and Seidel, at the cells of a colour.
#[kernel]
fn relaxed<const COLOUR: usize>(i: Item<2>, b: In<f32, 2>, y: RedBlack<f32, COLOUR>) {
    let (r, k) = i.pos();
    let c = 2 * k + (r + COLOUR) % 2;
    let [rows, columns] = y.shape();
    if r == 0 || r + 1 == rows || c == 0 || c + 1 >= columns {
        return;
    }
    let around = y[(r - 1, c)] + y[(r + 1, c)] + y[(r, c - 1)] + y[(r, c + 1)];
    y[i] += 0.9 * (0.25 * (around - b[(r, c)]) - y[i]);
}

#[kernel]
fn pairs(i: Item, y: RedBlack<u32, 1, 1>) {
    let k = 2 * i.index();
    y[i] = y[i] * 10 + y[k];
}

#[kernel]
fn in_space(i: Item<3>, y: RedBlack<i32, 0, 3>) {
    let (a, b, k) = i.pos();
    let c = 2 * k + (a + b) % 2;
    y[i] += if c > 0 { y[(a, b, c - 1)] } else { -1 };
}

/// Reads a cell of its own colour.
#[kernel]
fn own_colour(i: Item, y: RedBlack<u32, 0, 1>) {
    if i.index() == 2 {
        y[i] = y[6usize];
    }
}

pub(super) fn red_and_black_cells_are_items_own(rig: &Rig) -> Outcome {
    let (b, y) = (data([9, 12], wave), data([9, 12], |k| wave(k + 30)));
    let args = || vec![b.arg(), y.arg()];
    fine(agree::<relaxed<0>>(rig, &[9, 6], args(), |rt, q| {
        let (b, mut y) = (b.buffer(rt)?, y.buffer(rt)?);
        q.run(y.half(), relaxed::<0>(&b, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)?;
    fine(agree::<relaxed<1>>(rig, &[9, 6], args(), |rt, q| {
        let (b, mut y) = (b.buffer(rt)?, y.buffer(rt)?);
        q.run(y.half(), relaxed::<1>(&b, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)?;
    let line = data([40], |k| k as u32);
    fine(agree::<pairs>(rig, &[20], vec![line.arg()], |rt, q| {
        let mut y = line.buffer(rt)?;
        q.run(y.half(), pairs(&mut y))?;
        Ok(vec![contents(&y)?])
    })?)?;
    let space = data([3, 4, 6], noise);
    fine(agree::<in_space>(rig, &[3, 4, 3], vec![space.arg()], |rt, q| {
        let mut y = space.buffer(rt)?;
        q.run(y.half(), in_space(&mut y))?;
        Ok(vec![contents(&y)?])
    })?)
}

/// Both colours in turn are the sweep that a loop makes over the cells of one, then the other.
pub(super) fn sweeps_by_colour_are_those_of_a_loop(rig: &Rig) -> Outcome {
    const ROWS: usize = 7;
    const COLUMNS: usize = 9;
    let at = |r: usize, c: usize| r * COLUMNS + c;
    let b: Vec<f32> = (0..ROWS * COLUMNS).map(wave).collect();
    let mut wanted = vec![0.5f32; ROWS * COLUMNS];
    for colour in [0, 1, 0, 1] {
        for (r, c) in (1..ROWS - 1).flat_map(|r| (1..COLUMNS - 1).map(move |c| (r, c))) {
            if (r + c) % 2 == colour {
                let sides = wanted[at(r - 1, c)] + wanted[at(r + 1, c)];
                let around = sides + wanted[at(r, c - 1)] + wanted[at(r, c + 1)];
                wanted[at(r, c)] += 0.9 * (0.25 * (around - b[at(r, c)]) - wanted[at(r, c)]);
            }
        }
    }
    for device in 0..rig.rt.devices().len() {
        let (rt, q) = (&rig.rt, rig.on(device)?);
        let b = rt.buffer_from((&b, [ROWS, COLUMNS]))?;
        let mut y = rt.buffer_from((&[0.5f32; ROWS * COLUMNS], [ROWS, COLUMNS]))?;
        for _ in 0..2 {
            q.run(y.half(), relaxed::<0>(&b, &mut y))?;
            q.run(y.half(), relaxed::<1>(&b, &mut y))?;
        }
        ensure_eq!(y.to_vec()?, wanted);
    }
    Ok(())
}

pub(super) fn cells_of_others_are_not_read(rig: &Rig) -> Outcome {
    let y = data([12], |k| k as u32);
    let failed = agree::<own_colour>(rig, &[6], vec![y.arg()], |rt, q| {
        let mut y = y.buffer(rt)?;
        q.run(y.half(), own_colour(&mut y))?;
        Ok(vec![contents(&y)?])
    })?;
    let failed = failed.map(|violation| (violation.kind, violation.site.message));
    let text = folio_core::ir::source::OTHERS_CELL.to_owned();
    ensure_eq!(failed, Some((ViolationKind::Assertion, Some(text))));
    Ok(())
}
