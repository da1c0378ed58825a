//! Conversions of halves, swept (semantics 2.2, 4.4).
#![forbid(unsafe_code)]

use super::agree::fine;
use super::language::mapped_all;
use crate::engine::rig::*;
use folio::prelude::*;
use folio_core::{bf16, f16};

macro_rules! sweeps {
    ($widens:ident $back:ident $narrows:ident $ty:ident) => {
        /// The bits as `f32`; of what is no number they are unspecified.
        #[kernel]
        fn $widens(i: Item, x: In<$ty>, y: Out<u32>) {
            let wide = x[i] as f32;
            y[i] = if wide.is_nan() { 0 } else { wide.to_bits() };
        }

        /// By way of `f64`, and back.
        #[kernel]
        fn $back(i: Item, x: In<$ty>, y: Out<u16>) {
            let wide = x[i] as f64;
            y[i] = if wide.is_nan() { 0 } else { (wide as $ty).to_bits() };
        }

        #[kernel]
        fn $narrows(i: Item, x: In<f32>, y: Out<u16>) {
            y[i] = (x[i] as $ty).to_bits();
        }
    };
}
sweeps!(widens back narrows f16);
sweeps!(brains_widen brains_back brains_narrow bf16);

/// All patterns of 16 bits.
const ALL: usize = 1 << 16;

/// The middle between a number and the next larger one, and the two floats around that: where
/// rounding turns.
fn around(k: usize, [own, before]: [f32; 2]) -> f32 {
    let middle = own + (own - before) / 2.0;
    match k % 3 {
        0 => middle.next_down(),
        1 => middle,
        _ => middle.next_up(),
    }
}

/// Semantics 4.4: all halves to wider formats and back; and to halves all floats at which rounding
/// turns.
pub(super) fn all_halves_are_converted(rig: &Rig) -> Outcome {
    let of = |k: usize| f16::from_bits(k as u16);
    fine(mapped_all(rig, ALL, of, 0, |x, y| widens(x, y))?)?;
    fine(mapped_all(rig, ALL, of, 0, |x, y| back(x, y))?)?;
    let largest = usize::from(f16::MAX.to_bits());
    let middles = |k: usize| {
        let at = (k / 3).clamp(1, largest);
        around(k, [at, at - 1].map(|at| of(at).to_f32()))
    };
    let both = |k: usize| if k.is_multiple_of(2) { middles(k / 2) } else { -middles(k / 2) };
    fine(mapped_all(rig, 6 * (largest + 1), both, 0, |x, y| narrows(x, y))?)
}

/// The same of `bf16`; as `f32` that are not denormal, which devices may lose.
pub(super) fn all_brains_are_converted(rig: &Rig) -> Outcome {
    let (least, largest) = (usize::from(bf16::MIN_POSITIVE.to_bits()), ALL / 2 - 1);
    let normal = |at: usize| bf16::from_bits(at.clamp(least, largest) as u16);
    let of = |k: usize| if k < ALL / 2 { normal(k) } else { -normal(k - ALL / 2) };
    fine(mapped_all(rig, ALL, of, 0, |x, y| brains_widen(x, y))?)?;
    fine(mapped_all(rig, ALL, of, 0, |x, y| brains_back(x, y))?)?;
    let end = usize::from(bf16::MAX.to_bits());
    let middles = |k: usize| {
        let at = (k / 3).clamp(least + 1, end);
        around(k, [at, at - 1].map(|at| bf16::from_bits(at as u16).to_f32()))
    };
    let both = |k: usize| if k.is_multiple_of(2) { middles(k / 2) } else { -middles(k / 2) };
    fine(mapped_all(rig, 6 * (end + 1), both, 0, |x, y| brains_narrow(x, y))?)
}
