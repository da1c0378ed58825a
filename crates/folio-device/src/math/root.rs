//! The steps of cube roots.

/// The cube root of a normal number but for some percent: its exponent divided by 3.
#[inline(always)]
pub fn near_cube_root(x: f64) -> f64 {
    // (1023 - 1023 / 3) 2^20, less what makes the greatest error least.
    const BIAS: u64 = 715_094_163;
    let third = ((x.to_bits() >> 32) * 0xaaaa_aaab) >> 33;
    f64::from_bits((third + BIAS) << 32)
}

/// Halley's step: an error of e becomes one of 2/3 e^3.
#[inline(always)]
pub fn cube_root_step(x: f64, t: f64) -> f64 {
    let cube = t * t * t;
    t - t * ((cube - x) / (cube + cube + x))
}
