//! The functions of `f32`.

mod arc;
mod exp;
mod ln;
mod pow;
mod root;
mod trig;

use super::round::single::within;

pub use super::round::single::{ceil, floor, round, round_ties_even, trunc};
pub use arc::{acos, asin, atan, atan2};
pub use exp::{cosh, exp, exp_m1, exp2, sinh, tanh};
pub use ln::{ln, ln_1p, log2, log10};
pub use pow::powf;
pub use root::{cbrt, hypot, rsqrt};
pub use trig::{cos, sin, tan};
