//! Kernels that are `checked`: sums, differences and products of integers fail beyond their type.
#![forbid(unsafe_code)]

use super::agree::*;
use super::language::mapped;
use crate::engine::rig::*;
use folio::Int;
use folio::prelude::*;
use folio_core::{Violation, ViolationKind};

const SUM: u32 = line!() + 4;

#[kernel(checked)]
fn sums(i: Item, x: In<i32>, y: Out<i32>) {
    y[i] = x[i] * 2 + 7;
}

const CHANGED: u32 = line!() + 5;

#[kernel(checked)]
fn changes(i: Item, x: In<i32>, y: InOut<i32>) {
    let mut k = 0;
    k -= x[i];
    y[i] += k;
}

/// An index before the first is a difference that `usize` lacks.
#[kernel(checked)]
fn before(i: Item, x: In<i32>, y: Out<i32>) {
    y[i] = x[i.index() - 1];
}

#[device_fn]
fn wraps(a: i32) -> i32 {
    a + i32::MAX
}

/// Floats, calls, bits and the methods that wrap are as in other kernels.
#[kernel(checked)]
fn others(i: Item, x: In<i32>, y: Out<i32>) {
    let a = x[i] as f32 * 1e38;
    y[i] = wraps(x[i] & 255).wrapping_mul(3) ^ (a + a) as i32;
}

#[kernel(checked)]
fn all_three<T: Int>(i: Item, a: In<T>, b: In<T>, y: Out<[T; 3]>) {
    y[i] = [a[i] + b[i], a[i] - b[i], a[i] * b[i]];
}

fn told(failed: Option<Violation>) -> Option<(u32, String)> {
    failed.map(|v| (v.site.line, v.site.message.unwrap_or_default()))
}

/// What a pair of integers gives: all of it, or the first operation that its type lacks.
macro_rules! pairs {
    ($rig:ident: $($ty:ident)*) => {$(
        let all = [$ty::MIN, $ty::MAX, 0, 1, 3, $ty::MAX / 2, $ty::MAX / 3 + 1];
        for a in all {
            for b in all {
                let wanted = match (a.checked_add(b), a.checked_sub(b), a.checked_mul(b)) {
                    (None, ..) => Some("attempt to add with overflow"),
                    (_, None, _) => Some("attempt to subtract with overflow"),
                    (.., None) => Some("attempt to multiply with overflow"),
                    _ => None,
                };
                let (x, z) = (data([3], |_| a), data([3], |_| b));
                let y = data([3], |_| [0 as $ty; 3]);
                let args = vec![x.arg(), z.arg(), y.arg()];
                let failed = agree::<all_three<$ty>>($rig, &[3], args, |rt, q| {
                    let (x, z, mut y) = (x.buffer(rt)?, z.buffer(rt)?, y.buffer(rt)?);
                    q.run(3, all_three(&x, &z, &mut y))?;
                    Ok(vec![contents(&y)?])
                })?;
                let message = failed.and_then(|v| v.site.message);
                ensure_eq!(message.as_deref(), wanted, "{a} and {b}");
            }
        }
    )*};
}

/// semantics 3.6
pub(super) fn checked_integers_stay_in_their_types(rig: &Rig) -> Outcome {
    fine(mapped(rig, |k| k as i32, 0, |x, y| sums(x, y))?)?;
    fine(mapped(rig, |k| k as i32 - 9, 0, |x, y| others(x, y))?)?;
    let once = |at: i32| move |k| if k == 17 { at } else { 1 };
    let product = mapped(rig, once(1 << 30), 0, |x, y| sums(x, y))?;
    ensure_eq!(told(product), Some((SUM, "attempt to multiply with overflow".to_owned())));
    let sum = mapped(rig, once(i32::MAX / 2), 0, |x, y| sums(x, y))?;
    ensure_eq!(told(sum), Some((SUM, "attempt to add with overflow".to_owned())));
    let changed = mapped(rig, once(i32::MIN), 0, |x, y| changes(x, y))?;
    ensure_eq!(told(changed), Some((CHANGED, "attempt to subtract with overflow".to_owned())));
    let outside = mapped(rig, |k| k as i32, 0, |x, y| before(x, y))?;
    ensure_eq!(outside.as_ref().map(|v| v.kind.clone()), Some(ViolationKind::Assertion));
    Ok(())
}

const IN_FUNCTION: u32 = line!() + 4;

#[device_fn(checked)]
fn grown(a: i32) -> i32 {
    a * 1000
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Total {
    sum: i32,
}

const IN_METHOD: u32 = line!() + 5;

#[device_fn(checked)]
impl Total {
    fn and(&mut self, a: i32) {
        self.sum += a;
    }
}

#[kernel]
fn of_functions(i: Item, x: In<i32>, y: Out<i32>) {
    let mut total = Total { sum: 7 };
    total.and(x[i] + i32::MAX);
    y[i] = total.sum + grown(x[i]);
}

const IN_PHASE: u32 = line!() + 7;
const IN_GROUP: u32 = line!() + 8;

#[kernel(group = 8, checked)]
fn of_groups(g: Group, x: In<i32>, y: Out<i32>, last: In<i32>) {
    let sum = g.reduce::<Add>(|i| x[i] + i32::MAX);
    g.each(|i| {
        y[i] = x[i] * 2 + (sum & 1);
    });
    let _more = sum * last[0];
}

/// semantics 3.6
pub(super) fn functions_and_groups_are_checked(rig: &Rig) -> Outcome {
    fine(mapped(rig, |k| k as i32 - 2000, 0, |x, y| of_functions(x, y))?)?;
    let once = |at: i32| move |k| if k == 17 { at } else { -2000 };
    let product = mapped(rig, once(i32::MIN / 2), 0, |x, y| of_functions(x, y))?;
    ensure_eq!(told(product), Some((IN_FUNCTION, "attempt to multiply with overflow".to_owned())));
    let sum = mapped(rig, once(-2), 0, |x, y| of_functions(x, y))?;
    ensure_eq!(told(sum), Some((IN_METHOD, "attempt to add with overflow".to_owned())));
    let of = |rig: &Rig, at: i32, by: i32| {
        let x = data([16], |k| if k == 9 { at } else { 1 });
        let (y, last) = (data([16], |_| 0), data([1], |_| by));
        let args = vec![x.arg(), y.arg(), last.arg()];
        agree_in::<of_groups>(rig, (&[16], Some(&[8])), args, |rt, q| {
            let (x, mut y, last) = (x.buffer(rt)?, y.buffer(rt)?, last.buffer(rt)?);
            q.run(16, of_groups(&x, &mut y, &last))?;
            Ok(vec![contents(&y)?, contents(&last)?])
        })
    };
    fine(of(rig, 3, 0)?)?;
    let phase = of(rig, i32::MAX / 2 + 1, 0)?;
    ensure_eq!(told(phase), Some((IN_PHASE, "attempt to multiply with overflow".to_owned())));
    let group = of(rig, 3, i32::MIN)?;
    ensure_eq!(told(group), Some((IN_GROUP, "attempt to multiply with overflow".to_owned())));
    Ok(())
}

/// semantics 3.6
pub(super) fn checked_operators_fail_as_those_of_rust(rig: &Rig) -> Outcome {
    pairs!(rig: i8 u8 i32 u32 i64 u64);
    Ok(())
}
