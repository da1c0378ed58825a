//! Rounding to integers, exact and without the instructions that not every processor has.
//!
//! A number below 2^23 (`f32`) or 2^52 (`f64`) loses its fraction, by the rounding that all
//! additions do, when that power is added; numbers beyond it have none.

macro_rules! rounding {
    ($float:ident, $whole:expr) => {
        /// From here on, all numbers are integers.
        const WHOLE: $float = $whole;

        /// The nearest integer, ties to even (semantics 5.7).
        #[inline(always)]
        pub fn round_ties_even(x: $float) -> $float {
            let size = x.abs();
            let near = (size + WHOLE) - WHOLE;
            (if size < WHOLE { near } else { x }).copysign(x)
        }

        /// The greatest integer that is not above `x` (semantics 5.7).
        #[inline(always)]
        pub fn floor(x: $float) -> $float {
            let near = round_ties_even(x);
            (if near > x { near - 1.0 } else { near }).copysign(x)
        }

        /// The least integer that is not below `x` (semantics 5.7).
        #[inline(always)]
        pub fn ceil(x: $float) -> $float {
            let near = round_ties_even(x);
            (if near < x { near + 1.0 } else { near }).copysign(x)
        }

        /// The integer part (semantics 5.7).
        #[inline(always)]
        pub fn trunc(x: $float) -> $float {
            floor(x.abs()).copysign(x)
        }

        /// The nearest integer, halves away from zero (semantics 5.7).
        #[inline(always)]
        pub fn round(x: $float) -> $float {
            let size = x.abs();
            let below = floor(size);
            (if size - below >= 0.5 { below + 1.0 } else { below }).copysign(x)
        }

        /// `x`, if it is not beyond the limits; NaN stays.
        #[inline(always)]
        pub(in crate::math) fn within(x: $float, lo: $float, hi: $float) -> $float {
            let x = if x < lo { lo } else { x };
            if x > hi { hi } else { x }
        }
    };
}

pub(super) mod single {
    rounding! { f32, 8_388_608.0 }
}

pub(super) mod double {
    rounding! { f64, 4_503_599_627_370_496.0 }
}
