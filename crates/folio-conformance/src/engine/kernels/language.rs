//! The language of kernels, each part of it in a kernel: the Rust form and the IR agree (KRN-01,
//! KRN-06).
#![forbid(unsafe_code)]

use super::agree::*;
use crate::engine::rig::*;
use folio::prelude::*;
use folio_core::ir::device::Kernel;
use folio_core::{KernelCall, Violation, ViolationKind, bf16, f16};
use folio_interp::interp::Arg;
use std::ops::{Add, Mul, Neg, Sub};

/// Agreement on a kernel that makes one output of one input.
pub(super) fn mapped<K: Kernel, A: DeviceType, B: DeviceType>(
    rig: &Rig,
    x: impl Fn(usize) -> A,
    none: B,
    call: impl Fn(&Buffer<A>, &mut Buffer<B>) -> KernelCall<K, 1>,
) -> Result<Option<Violation>, Stop> {
    mapped_all(rig, 64, x, none, call)
}

/// The same with this many elements.
pub(super) fn mapped_all<K: Kernel, A: DeviceType, B: DeviceType>(
    rig: &Rig,
    n: usize,
    x: impl Fn(usize) -> A,
    none: B,
    call: impl Fn(&Buffer<A>, &mut Buffer<B>) -> KernelCall<K, 1>,
) -> Result<Option<Violation>, Stop> {
    let (x, y) = (data([n], x), data([n], |_| none));
    agree::<K>(rig, &[n], vec![x.arg(), y.arg()], |rt, q| {
        let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
        q.run(n, call(&x, &mut y))?;
        Ok(vec![contents(&y)?])
    })
}

const FEW: i32 = 3;
const TABLE: [u32; 5] = [2, 3, 5, 7, 11];

#[kernel]
fn matches(i: Item, x: In<i32>, y: Out<i32>) {
    let n = x[i];
    let a = match n % 8 {
        0 => 100,
        1 | 2 => 200 + n,
        FEW => 300,
        -7..=-5 => -400,
        k @ (4 | 5) if k > 4 && n > 0 => k * 5,
        k if k < 0 => -k,
        i32::MAX => 1,
        _ => n / 3,
    };
    let even = n & 1 == 0;
    let b = match (even, n % 3) {
        (true, 0) => 1,
        (false, 0 | 1) => 2,
        (_, -2..2) => 3,
        (true, rest) => rest,
        (false, _) => {
            y[i] = 9;
            return;
        }
    };
    match even {
        true => y[i] = a + b,
        false => y[i] = a - b,
    }
}

/// Names that are one part or another.
#[kernel]
fn alternatives(i: Item, x: In<i32>, y: Out<i32>) {
    let (a, b) = (x[i] % 3, x[i] / 3 % 3);
    let first = match (a, b) {
        (n, 0) | (0, n) => n,
        (n @ 1, _) | (_, n @ (1 | -1)) => n + 10,
        _ => 99,
    };
    let second = match ((a, first), b, x[i]) {
        ((1, n), m, _) | ((m, 2), n, _) | ((n, 0), 0 | 1, m) => n * 5 - m,
        ((_, n), (1 | 2), _) | (_, n, -40..) => n,
        (_, _, n) if n < -45 => 7,
        _ => 8,
    };
    y[i] = first * 100 + second;
}

/// The right operand of `&&` and `||` is computed if it decides.
#[kernel]
fn lazily(i: Item, x: In<i32>, n: Atomic<u32>, y: Out<i32>) {
    let (a, b) = (x[i], x[i] % 4);
    let counted = a > 40 && n.add(0, 1) < 1000;
    let odd = b == 0 || a.rem_euclid(b) == 1;
    let inside = b != 0 && !(a < 0 || n.max(1, a as u32) > 2000) && x.shape()[0] > i.index() + 1;
    y[i] = counted as i32 + 2 * (odd as i32) + 4 * (inside as i32);
}

/// More values than a `u64` counts; none gets to the last.
#[kernel]
fn to_the_last(i: Item, x: In<i32>, y: Out<i32>) {
    let few = x[i] as u32 as u64 % 9;
    let (mut sum, mut turns) = (0, 0);
    for k in 0..=u64::MAX {
        if k > few {
            break;
        }
        sum += k as i32;
    }
    for k in (i64::MIN..=i64::MAX).rev() {
        turns += 1;
        if k + few as i64 == i64::MAX {
            break;
        }
    }
    for k in (few..=u64::MAX).step_by(1) {
        if k > 12 {
            break;
        }
        sum += 100 * k as i32;
    }
    for k in u64::MAX - few..=u64::MAX {
        turns += (k & 1) as i32;
    }
    y[i] = sum * 20 + turns;
}

#[device_fn]
fn order(a: bool, b: bool) -> u32 {
    (a < b) as u32 + 2 * ((a <= b) as u32) + 4 * ((a > b) as u32) + 8 * ((a >= b) as u32)
}

/// Locals hide views and the item.
#[kernel]
fn hides(i: Item, x: In<f32>, y: Out<f32>) {
    let mut x = x[i];
    if x > 0.5 {
        x = 0.5;
    }
    x += order(x > 0.0, x < 0.25) as f32;
    let last = {
        let mut i = i.index();
        i = i * 2;
        i += 1;
        let mut y = [V2 { x, y: 1.0 }; 2];
        y[i % 2].x = 3.0;
        y[0].y -= x;
        y = [y[1], y[0]];
        y[0].x + y[1].y * i as f32
    };
    y[i] = last - x;
}

#[kernel]
fn loops(i: Item, x: In<i32>, y: Out<i32>) {
    let n = (x[i] as u32 % 20) as i32;
    let mut sum = 0;
    'outer: for a in 0..n {
        for b in (0..=a).rev() {
            if b == 7 {
                continue 'outer;
            }
            if a * b > 90 {
                break 'outer;
            }
            sum += a * 3 - b;
        }
        sum += 1000;
    }
    for k in (1..n).step_by(3) {
        sum ^= k << 4;
    }
    for k in (-5..=n).rev().step_by(n as usize / 4) {
        sum = sum * 3 + k;
    }
    for k in (0u8..=255).step_by(50) {
        sum += k as i32;
    }
    let mut tries = 0;
    let found = loop {
        tries += 1;
        if tries * tries >= n {
            break tries;
        }
    };
    let late;
    if found > 3 {
        late = found * 2;
    } else {
        late = -found;
    }
    let named = 'block: {
        if sum < 0 {
            break 'block 1;
        }
        if late > 5 {
            break 'block late;
        }
        sum & 0xff
    };
    y[i] = sum + found + late + named;
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct V2<T> {
    pub x: T,
    pub y: T,
}

#[device_fn]
impl<T: Number> V2<T> {
    pub const ONES: V2<T> = V2 { x: T::ONE, y: T::ONE };

    fn new(x: T, y: T) -> Self {
        V2 { x, y }
    }

    fn dot(self, b: Self) -> T {
        self.x * b.x + self.y * b.y
    }

    fn norm2(self) -> T {
        self.dot(self)
    }

    fn bumped(mut self, mut by: T) -> Self {
        by += T::ONE;
        self.x += by;
        self + Self::ONES
    }
}

#[device_fn]
impl<T: Number> Add for V2<T> {
    type Output = V2<T>;
    fn add(self, b: V2<T>) -> V2<T> {
        V2::new(self.x + b.x, self.y + b.y)
    }
}

#[device_fn]
impl<T: Number> Sub for V2<T> {
    type Output = Self;
    fn sub(self, b: Self) -> Self {
        V2 { x: self.x - b.x, y: self.y - b.y }
    }
}

#[device_fn]
impl<T: Number> Mul<T> for V2<T> {
    type Output = V2<T>;
    fn mul(self, by: T) -> V2<T> {
        V2::new(self.x * by, self.y * by)
    }
}

#[device_fn]
impl<T: Number> Neg for V2<T> {
    type Output = V2<T>;
    fn neg(self) -> V2<T> {
        V2 { x: -self.x, y: -self.y }
    }
}

#[kernel]
fn vectors(i: Item, x: In<V2<f32>>, y: Out<V2<f32>>) {
    let a = x[i];
    let b = V2::new(0.5, 2.0);
    let mut c = (a - b) * 3.0 + -a;
    c += a.bumped(1.0);
    c.y -= V2::<f32>::ONES.dot(b) + c.norm2();
    y[i] = c;
}

#[kernel]
fn generic_vectors<T: Number>(i: Item, x: In<V2<T>>, y: Out<T>) {
    let shift = V2::new(T::lit(3.0), 7 as T);
    y[i] = (x[i] + shift * T::ONE).norm2() - T::ZERO + i.index() as T;
}

#[device_fn]
fn both(a: (i32, u32), flip: bool) -> (u32, i32) {
    let (n, m) = a;
    if flip { (m, n) } else { (n as u32, m as i32) }
}

#[kernel]
fn tuples(i: Item, x: In<i32>, y: Out<i32>) {
    let mut state = (x[i], (TABLE[(x[i] & 3) as usize], true));
    state.0 += 1;
    state.1.1 = state.0 > 3;
    let (n, (m, flag)) = state;
    let (p, q) = both((n, m), flag);
    let pairs = [(p, 1), (m, 2), (7, 3)];
    let mut sum = q;
    for k in 0..3 {
        let (a, b) = pairs[k];
        sum += a as i32 * b;
    }
    y[i] = sum + V2::<i32>::ONES.x;
}

/// Names with underscores, keywords, shadowing.
#[kernel]
fn r#match(r#type: Item, r#in: In<i32>, r#mut: i32, r#static: i32, r#fn: Out<i32>) {
    let _v = r#in[r#type];
    let _w = _v + 1;
    let _w = _w * r#mut;
    let _by = 2;
    let mut k = [_w, _by];
    k[0] += {
        let _w = r#static;
        _w - _v
    };
    let none = 5;
    let r#loop = V2 { x: k[0], y: k[1] };
    r#fn[r#type] = r#loop.x * none + r#loop.y;
}

macro_rules! hygienic {
    ($name:ident, $a:ident, $e:expr) => {
        #[kernel]
        fn $name(i: Item, x: In<i32>, y: Out<i32>) {
            let $a = x[i];
            let a = 100;
            y[i] = $e + a;
        }
    };
}
hygienic!(of_a_macro, a, a * 2);

/// A kernel whose parts are fragments of all kinds.
macro_rules! of_fragments {
    ($vis:vis $name:ident $ty:ty, $function:path, $x:ident $at:expr, $of:pat, $by:expr, $least:literal, $do:block) => {
        #[kernel]
        $vis fn $name(i: Item, $x: In<$ty>, y: Out<$ty>) {
            let k = match $x[$at] {
                $of => $function($x[$at]),
                $least => <$ty>::MAX,
                _ => 2 * $by,
            };
            let n: $ty = $do;
            y[i] = k - $by * n + $least.abs();
        }
    };
}
of_fragments!(pub(super) of_a_macro_of_parts i32, self::doubled, x x.len() - 1, 1..=1000, 3 + 4, -1i32, { 1 + 1 });

#[device_fn]
fn doubled(x: i32) -> i32 {
    x + x
}

const ASSERTED: u32 = line!() + 4;

#[device_fn]
fn reciprocal(x: i32) -> i32 {
    assert!(x != 40, "forty has no reciprocal");
    1000 / x
}

#[kernel]
fn reciprocals(i: Item, x: In<i32>, y: Out<i32>) {
    y[i] = reciprocal(x[i]);
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Rest {
    of: i32,
}

const DIVIDED: u32 = line!() + 6;

#[device_fn]
impl std::ops::Add for Rest {
    type Output = Rest;
    fn add(self, other: Rest) -> Rest {
        Rest { of: self.of + 100 / other.of }
    }
}

#[device_fn]
impl std::ops::Rem for Rest {
    type Output = Rest;
    fn rem(self, other: Rest) -> Rest {
        Rest { of: self.of % other.of }
    }
}

#[kernel]
fn sums_of_rests(i: Item, x: In<i32>, y: Out<i32>) {
    y[i] = (Rest { of: 3 } + Rest { of: x[i] }).of;
}

#[kernel]
fn rests(i: Item, x: In<i32>, y: Out<i32>) {
    y[i] = (Rest { of: 3 } % Rest { of: x[i] }).of;
}

/// Without end, if a function that fails only returned.
#[kernel]
fn halts(i: Item, x: In<i32>, y: Out<i32>) {
    let mut n = 0;
    while n == 0 {
        n = reciprocal(x[i]);
    }
    y[i] = n;
}

/// semantics 6.2: nobody knows that it ends.
#[kernel]
fn collatz(i: Item, x: In<i32>, y: Out<i32>) {
    let mut n = x[i] as u64 + 1;
    let mut steps = 0;
    while n != 1 {
        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    assert!(n == 1);
    y[i] = steps;
}

macro_rules! halves {
    ($name:ident $ty:ident) => {
        #[kernel]
        fn $name(i: Item, x: In<$ty>, y: Out<$ty>) {
            let a = x[i];
            let b = x[(i.index() * 7 + 3) % x.len()];
            let c = 1.5 as $ty;
            let mut r = a * b + c / a - b % c;
            r += a.mul_add(b, c).abs().min(b).max(c).sqrt();
            r = if a < b || a.is_infinite() { r.floor() } else { -r.copysign(b) };
            let n = a as i32 + (b as f64 * 3.0) as i32 % 7;
            let mut sum =
                r + n as $ty + $ty::from_f32(a.to_f32() * 0.1) + (f64::from(a) / 3.0) as $ty;
            sum += $ty::from_bits(a.to_bits() & 0x83ff) + b.fract() + c.signum();
            y[i] = if sum.is_nan() { $ty::ONE } else { sum };
        }
    };
}
halves!(halves f16);
halves!(brains bf16);

/// semantics 2.2: bit by bit, at every sixteenth pattern.
pub(super) fn halves_are_rounded_singles(rig: &Rig) -> Outcome {
    let bits = |k: usize| (k * 16 + k % 16) as u16;
    let x = |k| f16::from_bits(bits(k));
    fine(mapped_all(rig, 4096, x, f16::ZERO, |x, y| halves(x, y))?)?;
    let x = |k| bf16::from_bits(bits(k));
    fine(mapped_all(rig, 4096, x, bf16::ZERO, |x, y| brains(x, y))?)
}

/// semantics 12.4
pub(super) fn choices(rig: &Rig) -> Outcome {
    fine(mapped(rig, |k| k as i32 - 30, 0, |x, y| matches(x, y))?)?;
    fine(mapped(rig, noise, 0, |x, y| matches(x, y))?)?;
    fine(mapped_all(rig, 96, |k| k as i32 - 48, 0, |x, y| alternatives(x, y))?)
}

/// semantics 12.3
pub(super) fn right_sides_wait_for_the_left(rig: &Rig) -> Outcome {
    let x = data([64], |k| k as i32 - 9);
    let (n, y) = (data([2], |_| 0u32), data([64], |_| 0));
    let args = vec![x.arg(), n.arg(), y.arg()];
    fine(agree::<lazily>(rig, &[64], args, |rt, q| {
        let (x, mut n, mut y) = (x.buffer(rt)?, n.buffer(rt)?, y.buffer(rt)?);
        q.run(64, lazily(&x, &mut n, &mut y))?;
        Ok(vec![contents(&n)?, contents(&y)?])
    })?)
}

/// semantics 6.1, 12.3
pub(super) fn loops_of_all_kinds(rig: &Rig) -> Outcome {
    fine(mapped(rig, |k| k as i32, 0, |x, y| loops(x, y))?)?;
    fine(mapped(rig, |k| k as i32 + 1, 0, |x, y| collatz(x, y))?)?;
    fine(mapped(rig, |k| k as i32, 0, |x, y| to_the_last(x, y))?)
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Here {
    n: i32,
}

#[device_fn]
impl Here {
    #[cfg(target_endian = "little")]
    fn sign(self) -> i32 {
        self.n
    }

    #[cfg(not(target_endian = "little"))]
    fn sign(self) -> i32 {
        self.n
    }
}

#[kernel]
fn signs(i: Item, x: In<Here>, y: Out<i32>) {
    y[i] = x[i].sign();
}

pub(super) fn methods_and_operators(rig: &Rig) -> Outcome {
    let v = |k| V2 { x: wave(k), y: wave(k + 9) };
    fine(mapped(rig, v, v(0), |x, y| vectors(x, y))?)?;
    fine(mapped(rig, v, 0f32, |x, y| generic_vectors(x, y))?)?;
    let v = |k: usize| V2 { x: k as i64 - 9, y: i64::MAX >> k };
    fine(mapped(rig, v, 0i64, |x, y| generic_vectors(x, y))?)?;
    let (a, b) = (v(3), v(5));
    ensure_eq!((a + b - b * 2).norm2(), (a - b).dot(-(b - a)));
    fine(mapped(rig, |k| Here { n: k as i32 }, 0, |x, y| signs(x, y))?)
}

pub(super) fn tuples_and_constants(rig: &Rig) -> Outcome {
    fine(mapped(rig, noise, 0, |x, y| tuples(x, y))?)
}

/// Traits for all types, with methods of the names of Folio's own.
mod quiet {
    use folio::prelude::*;

    #[expect(dead_code, reason = "nothing is to call them")]
    trait Lent {
        fn value<T>(&self, _: T) {}
        fn memory<T>(&self, _: T) {}
        fn local(&self) {}
        fn open<T>(&self, _: T) {}
        fn close<T>(&self, _: T) {}
        fn each<T>(&self, _: T) {}
        fn rows<T>(&self, _: T) {}
        fn groups<T>(&self, _: T) {}
        fn strips<T>(&self, _: T) {}
        fn run<T>(&self, _: T) {}
        fn fill<T>(&self, _: T) {}
        fn writing(&self) {}
        fn reading(&self) {}
        fn structure<T>(&self, _: T) {}
    }
    impl<T> Lent for T {}

    #[expect(dead_code, reason = "nothing is to call them")]
    trait Taken: Sized {
        fn value<T>(self, _: T) {}
        fn memory<T>(self, _: T) {}
        fn local(self) {}
        fn open<T>(self, _: T) {}
        fn close<T>(self, _: T) {}
        fn each<T>(self, _: T) {}
        fn rows<T>(self, _: T) {}
        fn groups<T>(self, _: T) {}
        fn strips<T>(self, _: T) {}
        fn run<T>(self, _: T) {}
        fn give<T>(self, _: T) {}
        fn take<T>(self, _: T) {}
        fn local_index(self) {}
    }
    impl<T> Taken for T {}

    #[kernel]
    pub fn shifted(i: Item, by: i32, x: In<i32>, sum: Reduce<i32, Add>, y: Out<i32>) {
        sum.give(x[i]);
        y[i] = x[i] + by;
    }

    #[kernel]
    pub fn turned(
        g: Group,
        by: i32,
        x: In<i32>,
        tile: Local<i32, 8>,
        full: Local<i32, 8>,
        sum: Reduce<i32, Add>,
        y: Out<i32>,
    ) {
        full.fill(|k| k as i32);
        g.each(|i| {
            tile[i] = x[i] + by;
            sum.give(x[i]);
        });
        g.each(|i| y[i] = tile[7 - i.local_index()] + full[i.local_index()]);
    }
}

/// Without the standard prelude no method of its traits is in the way of the user's.
#[no_implicit_prelude]
mod bare {
    use ::folio::prelude::*;

    #[expect(dead_code, reason = "nothing is to call them")]
    trait Turned: ::core::marker::Sized {
        fn rev(self) -> ::core::ops::Range<usize> {
            0..1 << 40
        }
        fn step_by(self, _: usize) -> ::core::ops::Range<usize> {
            0..1 << 40
        }
    }
    impl<T> Turned for T {}

    #[kernel]
    pub fn backwards(i: Item, x: In<i32>, y: Out<i32>) {
        let mut sum = 0;
        for k in (0..x.len()).rev() {
            sum = sum * 3 + x[k];
        }
        for k in (0..x.len()).rev().step_by(3) {
            sum -= x[k];
        }
        y[i] = sum;
    }
}

/// The names of a kernel's call, and of what runs it, are not looked for among the user's.
pub(super) fn traits_of_others_change_nothing(rig: &Rig) -> Outcome {
    let x = data([64], |k| k as i32 - 5);
    let y = data([64], |_| 0);
    let sum = || Arg::Reduce(vec![0; 4]);
    let args = vec![scalar(3), x.arg(), sum(), y.arg()];
    fine(agree::<quiet::shifted>(rig, &[64], args, |rt, q| {
        let (x, mut sum, mut y) = (x.buffer(rt)?, rt.buffer(1)?, y.buffer(rt)?);
        q.run(64, quiet::shifted(3, &x, &mut sum, &mut y))?;
        Ok(vec![contents(&sum)?, contents(&y)?])
    })?)?;
    let args = vec![scalar(3), x.arg(), Arg::Local, Arg::Local, sum(), y.arg()];
    fine(agree_in::<quiet::turned>(rig, (&[64], Some(&[8])), args, |rt, q| {
        let (x, mut sum, mut y) = (x.buffer(rt)?, rt.buffer(1)?, y.buffer(rt)?);
        q.run(Items::from(64).groups([8]), quiet::turned(3, &x, &mut sum, &mut y))?;
        Ok(vec![contents(&sum)?, contents(&y)?])
    })?)?;
    let (x, mut sum, mut y) = ([4, 5], [0], [0; 2]);
    quiet::shifted::host(2, 3, &x, &mut sum, &mut y)?;
    ensure_eq!((sum, y), ([9], [7, 8]));
    fine(mapped(rig, |k| k as i32, 0, |x, y| bare::backwards(x, y))?)
}

pub(super) fn names_of_all_kinds(rig: &Rig) -> Outcome {
    fine(mapped(rig, noise, 0, |x, y| of_a_macro(x, y))?)?;
    fine(mapped(rig, wave, 0.0, |x, y| hides(x, y))?)?;
    fine(mapped(rig, noise, 0, |x, y| of_a_macro_of_parts(x, y))?)?;
    let (x, y) = (data([64], noise), data([64], |_| 0));
    let args = vec![x.arg(), scalar(3), scalar(-8), y.arg()];
    fine(agree::<r#match>(rig, &[64], args, |rt, q| {
        let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
        q.run(64, r#match(&x, 3, -8, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)
}

/// KRN-07, semantics 10.2: what fails in a function ends the item, at the place in the function.
pub(super) fn functions_fail_where_they_are(rig: &Rig) -> Outcome {
    let failed = mapped(rig, |k| k as i32 - 24, 0, |x, y| reciprocals(x, y))?;
    let site = failed.map(|violation| (violation.kind, violation.site.line));
    ensure_eq!(site, Some((ViolationKind::DivisionByZero, ASSERTED + 1)));
    for (line, failed) in [
        (DIVIDED, mapped(rig, |k| k as i32 - 24, 0, |x, y| sums_of_rests(x, y))?),
        (DIVIDED + 8, mapped(rig, |k| k as i32 - 24, 0, |x, y| rests(x, y))?),
    ] {
        let site = failed.map(|violation| (violation.kind, violation.site.line));
        ensure_eq!(site, Some((ViolationKind::DivisionByZero, line)), "in an operator");
    }
    let failed = mapped(rig, |k| k as i32 + 1, 0, |x, y| halts(x, y))?;
    ensure_eq!(failed.as_ref().map(|violation| violation.site.line), Some(ASSERTED));
    ensure_eq!(failed.and_then(|v| v.site.message).as_deref(), Some("forty has no reciprocal"));
    // Called by others, it is a function like others.
    ensure_eq!(reciprocal(3), 333);
    let panicked = std::panic::catch_unwind(|| reciprocal(40));
    ensure!(panicked.is_err(), "an assertion that fails is nothing");
    Ok(())
}

#[kernel(block = 48)]
fn in_small_blocks(i: Item, x: In<u32>, y: Out<u32>) {
    y[i] = x[i] * 3 + x[x.len() - 1 - i.index()];
}

#[kernel(block = [8, 1, 4096])]
fn in_large_blocks(i: Item<3>, x: In<u32>, y: Out<u32, 3>) {
    let (a, b, c) = i.pos();
    y[i] = x[(a * 7 + b * 5 + c) % x.len()];
}

/// KRN-07: a block is a hint, whatever its size: results are those of any other.
pub(super) fn blocks_are_a_hint(rig: &Rig) -> Outcome {
    for n in [1, 47, 1000] {
        let (x, y) = (data([n], |k| k as u32), data([n], |_| 0u32));
        fine(agree::<in_small_blocks>(rig, &[n], vec![x.arg(), y.arg()], |rt, q| {
            let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
            q.run(n, in_small_blocks(&x, &mut y))?;
            Ok(vec![contents(&y)?])
        })?)?;
    }
    let (x, y) = (data([30], |k| k as u32), data([9, 5, 33], |_| 0u32));
    fine(agree::<in_large_blocks>(rig, &[9, 5, 33], vec![x.arg(), y.arg()], |rt, q| {
        let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
        q.run([9, 5, 33], in_large_blocks(&x, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)
}
