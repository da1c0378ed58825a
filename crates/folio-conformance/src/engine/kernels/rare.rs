//! What bodies of kernels may contain and seldom do: ways out where a value is asked for, long chains, arrays in
//! variables at their limits.
#![allow(clippy::diverging_sub_expression, reason = "that is what some of these are about")]

use super::agree::*;
use super::language::mapped;
use crate::engine::rig::*;
use folio::prelude::*;

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
