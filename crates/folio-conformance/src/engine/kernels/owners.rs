//! Parts of what items own: fields of elements, and columns.
#![forbid(unsafe_code)]

use super::agree::*;
use crate::engine::rig::*;
use folio::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Motion {
    pub at: [i32; 2],
    pub velocity: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Body<T> {
    pub mass: T,
    pub motion: Motion,
    pub kind: T,
}

/// On each path all fields are written: as parts, as a whole, and of a part as a whole.
#[kernel]
pub fn fields<T: Number>(i: Item, x: In<i32>, y: Out<Body<T>>) {
    let value = x[i];
    y[i].mass = value as T;
    if value > 3 {
        y[i].kind = T::lit(4.0);
        y[i].motion.velocity = value - 1;
        y[i].motion.at = [value, i.index() as i32];
    } else if value > 0 {
        y[i].motion = Motion { at: [1, value], velocity: 7 };
        (y[i]).kind = T::ZERO;
    } else {
        y[i] = Body { mass: T::ONE, motion: Motion { at: [value, 2], velocity: 3 }, kind: T::ONE };
        y[i].motion.velocity = 5;
    }
    let motion = Motion { at: [0; 2], velocity: value };
    if value == 9 {
        y[i].motion = motion;
    }
}

#[kernel]
pub fn fields_in_phases(g: Group<2>, x: In<i32, 2>, y: Out<Motion, 2>) {
    g.each(|i| y[i].at = [x[i]; 2]);
    let n = g.size()[0] as i32;
    g.each(|i| y[i].velocity = n + x[i]);
}

#[kernel]
pub fn sums_of_columns(i: Item, x: In<i32, 2>, y: OutColumn<i32>) {
    let mut sum = 0;
    for k in 0..y.shape()[0] {
        sum += x[(k, i)];
        y[(k, i)] = sum;
    }
}

#[kernel]
pub fn butterflies(i: Item, y: InOutColumn<f32>) {
    let (a, b) = (y[(0, i)], y[(1, i)]);
    y[(0, i)] = a + b;
    y[(1, i)] = a - b;
    y[(1, i)] *= 0.5;
}

#[kernel]
pub fn columns_of_groups(g: Group, y: InOutColumn<i32>) {
    g.each(|i| {
        for k in 1..y.shape()[0] {
            y[(k, i)] += y[(k - 1, i)];
        }
    });
}

#[kernel]
pub fn far_in_columns(i: Item, at: usize, y: InOutColumn<i32>) {
    y[(at * i.index(), i)] = 5;
}

/// KRN-02
pub(super) fn fields_are_written_one_by_one(rig: &Rig) -> Outcome {
    let x = data([70], |k| k as i32 % 13 - 2);
    let none = Body { mass: 9u32, motion: Motion { at: [9; 2], velocity: 9 }, kind: 9 };
    let y = data([70], |_| none);
    fine(agree::<fields<u32>>(rig, &[70], vec![x.arg(), y.arg()], |rt, q| {
        let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
        q.run(70, fields(&x, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)?;
    let (x, y) = (data([6, 8], |k| k as i32), data([6, 8], |_| none.motion));
    let shape = (&[6, 8][..], Some(&[3, 4][..]));
    fine(agree_in::<fields_in_phases>(rig, shape, vec![x.arg(), y.arg()], |rt, q| {
        let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
        q.run(folio_core::Items::from([6, 8]).groups([3, 4]), fields_in_phases(&x, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)?;
    Ok(())
}

/// KRN-02
pub(super) fn columns_are_items_own(rig: &Rig) -> Outcome {
    let (x, y) = (data([5, 70], noise), data([5, 70], |_| 1));
    fine(agree::<sums_of_columns>(rig, &[70], vec![x.arg(), y.arg()], |rt, q| {
        let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
        q.run(70, sums_of_columns(&x, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)?;
    let (halves, flat) = (data([2, 33], wave), data([66], wave));
    fine(agree::<butterflies>(rig, &[33], vec![halves.arg()], |rt, q| {
        let mut y = flat.buffer(rt)?;
        q.run(33, butterflies(y.in_shape_mut([2, 33])?))?;
        Ok(vec![contents(&y)?])
    })?)?;
    let shape = (&[12][..], Some(&[4][..]));
    let y = data([7, 12], noise);
    fine(agree_in::<columns_of_groups>(rig, shape, vec![y.arg()], |rt, q| {
        let mut y = y.buffer(rt)?;
        q.run(folio_core::Items::from(12).groups([4]), columns_of_groups(&mut y))?;
        Ok(vec![contents(&y)?])
    })?)
}

/// Semantics 7.5: the item 4 of five, and no other.
pub(super) fn columns_out_of_their_rows(rig: &Rig) -> Outcome {
    let y = data([4, 5], noise);
    let found = agree::<far_in_columns>(rig, &[5], vec![scalar(1usize), y.arg()], |rt, q| {
        let mut y = y.buffer(rt)?;
        q.run(5, far_in_columns(1, &mut y))?;
        Ok(vec![contents(&y)?])
    })?;
    ensure!(found.is_some(), "row 4 of four");
    Ok(())
}

/// Columns that a launch does not own stay.
pub(super) fn columns_move_where_they_are_owned(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let x = rig.rt.buffer_from((&[1; 35], [5, 7]))?;
    let mut y = rig.rt.buffer_with((&[9; 35], [5, 7]), BufferOptions::new().page([5, 1]))?;
    q.run(1..3, sums_of_columns(&x, &mut y))?;
    ensure_eq!(y.counters().host_to_device.bytes, 0);
    ensure_eq!(y.to_vec()?[28..], [9, 5, 5, 9, 9, 9, 9]);
    Ok(())
}
