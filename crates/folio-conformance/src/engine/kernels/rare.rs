//! What bodies of kernels may contain and seldom do: ways out where a value is asked for, long chains, arrays in
//! variables at their limits.
#![allow(clippy::diverging_sub_expression, reason = "that is what some of these are about")]

use super::agree::*;
use super::language::mapped;
use crate::engine::rig::*;
use folio::prelude::*;
use folio_core::{Violation, ViolationKind};

#[device_fn]
fn half_of_even(n: i32) -> i32 {
    let _ = n % 2 == 0 || {
        return 100;
    };
    n / 2
}

/// What is on the right of `&&` and `||` may leave, and decides nothing then.
#[kernel]
fn leaves(i: Item, x: In<i32>, y: Out<i32>) {
    y[i] = -1;
    let _ = x[i] > 3 || return;
    let mut sum = 0;
    for k in 0..20 {
        let _ = k < x[i] || break;
        let _ = k % 3 != 1 || continue;
        let _ = sum > 50 && {
            y[i] = sum;
            return;
        };
        sum += k;
    }
    let () = y[i] = sum + half_of_even(x[i]);
}

#[kernel]
fn panics_on_the_right(i: Item, x: In<i32>, y: Out<i32>) {
    let _ = x[i] != 40 || panic!("forty");
    y[i] = x[i];
}

/// semantics 3.5, 12.3
pub(super) fn right_sides_may_leave(rig: &Rig) -> Outcome {
    fine(mapped(rig, |k| k as i32, 0, |x, y| leaves(x, y))?)?;
    let failed = mapped(rig, |k| k as i32, 0, |x, y| panics_on_the_right(x, y))?;
    ensure_eq!(failed.and_then(|v| v.site.message).as_deref(), Some("forty"));
    Ok(())
}

const STORED: u32 = line!() + 5;

#[kernel]
fn stores(i: Item, x: In<i32>, y: Out<i32>) {
    let mut a = [1, 2, 3];
    a[x[i] as usize] = 9;
    y[i] = a[0];
}

const ADDED: u32 = line!() + 5;

#[kernel]
fn adds(i: Item, x: In<i32>, y: Out<i32>) {
    let mut a = [1, 2, 3];
    a[x[i] as usize] += 9;
    y[i] = a[0];
}

/// KRN-07, semantics 7.5, 10.1
pub(super) fn writes_to_arrays_have_their_places(rig: &Rig) -> Outcome {
    let once = |k| if k == 17 { 3 } else { k as i32 % 3 };
    let place = |failed: Option<Violation>| failed.map(|v| (v.kind, v.site.line));
    let outside = ViolationKind::OutOfBounds { param: None, index: vec![3], extent: vec![3] };
    let stored = place(mapped(rig, once, 0, |x, y| stores(x, y))?);
    ensure_eq!(stored, Some((outside.clone(), STORED)));
    let added = place(mapped(rig, once, 0, |x, y| adds(x, y))?);
    ensure_eq!(added, Some((outside, ADDED)));
    Ok(())
}
