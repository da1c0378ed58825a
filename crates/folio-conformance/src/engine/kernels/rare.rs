//! Rare parts of the language of kernels: ways out where a value is asked for, long chains, arrays
//! in variables at their limits.
#![forbid(unsafe_code)]
#![allow(clippy::diverging_sub_expression, reason = "that is what some of these are about")]

use super::agree::*;
use super::language::{mapped, mapped_all};
use crate::engine::rig::*;
use folio::prelude::*;
use folio_core::{Violation, ViolationKind, error::LowerError};

#[device_fn]
fn half_of_even(n: i32) -> i32 {
    let _ = n % 2 == 0 || {
        return 100;
    };
    n / 2
}

/// The right operand of `&&` and `||` may leave, and decides nothing then.
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

/// More arms than compilers take braces in each other.
macro_rules! many_arms {
    ($($n:literal)*) => {
        #[kernel]
        fn many_arms(i: Item, x: In<i32>, y: Out<i32>) {
            y[i] = match x[i] {
                $($n => $n,)*
                261 => {
                    y[i] = 5;
                    return;
                }
                n if n > 270 => -n,
                _ => -1000,
            };
        }
    };
}
many_arms! {
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33
    34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
    65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95
    96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119
    120 121 122 123 124 125 126 127 128 129 130 131 132 133 134 135 136 137 138 139 140 141 142
    143 144 145 146 147 148 149 150 151 152 153 154 155 156 157 158 159 160 161 162 163 164 165
    166 167 168 169 170 171 172 173 174 175 176 177 178 179 180 181 182 183 184 185 186 187 188
    189 190 191 192 193 194 195 196 197 198 199 200 201 202 203 204 205 206 207 208 209 210 211
    212 213 214 215 216 217 218 219 220 221 222 223 224 225 226 227 228 229 230 231 232 233 234
    235 236 237 238 239 240 241 242 243 244 245 246 247 248 249 250 251 252 253 254 255 256 257
    258 259
}

macro_rules! many_tests {
    ($($n:literal)*) => {
        #[kernel]
        fn many_tests(i: Item, x: In<i32>, y: Out<i32>) {
            let (n, mut sum) = (x[i], 5);
            for k in 0..2 {
                if n < k {
                    sum += 1;
                } else if n == 7 {
                    continue;
                } else if n > 280 {
                    break;
                } $(else if n == $n {
                    sum += $n;
                })*
                sum *= 2;
            }
            y[i] = sum;
        }
    };
}
many_tests! {
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33
    34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
    65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95
}

/// semantics 6.1, 12.4
pub(super) fn chains_may_be_long(rig: &Rig) -> Outcome {
    fine(mapped_all(rig, 300, |k| k as i32 - 5, 0, |x, y| many_arms(x, y))?)?;
    fine(mapped_all(rig, 300, |k| k as i32 - 5, 0, |x, y| many_tests(x, y))?)
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

#[kernel]
fn rows(i: Item, width: usize, n: usize, x: In<i32>, y: InOut<i32>) {
    let (row, _) = (i.index() / width, i.index() % width);
    for j in 0..n {
        y[i] += x[j] + row as i32;
    }
}

/// A division is computed, also where a loop that would need it has no turns. Semantics 10.1
pub(super) fn positions_are_divided(rig: &Rig) -> Outcome {
    let (x, y) = (data([64], |k| k as i32), data([64], |k| 2 * k as i32));
    let divided = |width: usize, n: usize| {
        let args = vec![scalar(width), scalar(n), x.arg(), y.arg()];
        agree::<rows>(rig, &[64], args, |rt, q| {
            let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
            q.run(64, rows(width, n, &x, &mut y))?;
            Ok(vec![contents(&y)?])
        })
    };
    fine(divided(7, 20)?)?;
    for n in [0, 20] {
        let failed = divided(0, n)?.map(|violation| violation.kind);
        ensure_eq!(failed, Some(ViolationKind::DivisionByZero));
    }
    Ok(())
}

/// A user's name for a type that the language has, too.
mod named {
    use folio::prelude::*;

    #[expect(non_camel_case_types, dead_code, reason = "that is what this is about")]
    type usize = u8;

    #[kernel]
    pub fn long_array(i: Item, x: In<i32>, y: Out<i32>) {
        let mut a = [1i32; 300];
        a[i.index() + 100] = x[i];
        y[i] = a[i.index() + 100] + a[299];
    }
}

pub(super) fn lengths_are_the_languages(rig: &Rig) -> Outcome {
    fine(mapped(rig, |k| k as i32, 0, |x, y| named::long_array(x, y))?)
}

#[kernel]
fn too_large(i: Item, y: Out<u32>) {
    let mut a = [0u8; 1 << 36];
    a[i.index()] = 1;
    y[i] = a[5] as u32;
}

#[kernel]
fn too_large_in_all(i: Item, y: Out<u32>) {
    let a = [[i.index(); 1024]; 9];
    y[i] = a[3][i.index()] as u32;
}

#[kernel]
fn too_large_an_element(i: Item, x: In<[u32; 16_385]>, y: Out<u32>) {
    let a = x[i];
    y[i] = a[i.index()];
}

/// A thread's stack holds what is in variables, so that is told, and not tried.
pub(super) fn variables_have_a_limit(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let (q, mut y) = (rig.on(at)?, rig.rt.buffer::<u32, 1>(1)?);
        let x = rig.rt.buffer_from(&[[1u32; 16_385]])?;
        let all = [
            (q.run(1, too_large(&mut y)), 1u64 << 36),
            (q.run(1, too_large_in_all(&mut y)), 9 << 13),
            (q.run(1, too_large_an_element(&x, &mut y)), 16_385 * 4),
        ];
        for (result, wanted) in all {
            match result {
                Err(Error::Kernel { cause, .. }) => {
                    ensure_eq!(*cause, LowerError::Variable(wanted));
                }
                other => return Err(Stop::Failed(format!("{other:?}"))),
            }
        }
    }
    Ok(())
}
