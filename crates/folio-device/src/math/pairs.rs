//! Numbers as sums of two `f64`, of which the second is what the first has lost by rounding.

/// `a + b`, where `|a| >= |b|` or `a` is 0.
#[inline(always)]
pub fn sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// A number without the lower half of its bits, and these.
#[inline(always)]
fn halves(x: f64) -> (f64, f64) {
    let high = f64::from_bits(x.to_bits() & 0xffff_ffff_f800_0000);
    (high, x - high)
}

/// `a * b`, where nothing overflows or becomes denormal.
#[inline(always)]
pub fn product(a: f64, b: f64) -> (f64, f64) {
    let ((a1, a2), (b1, b2)) = (halves(a), halves(b));
    let product = a * b;
    (product, (((a1 * b1 - product) + a1 * b2) + a2 * b1) + a2 * b2)
}
