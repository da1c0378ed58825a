//! Division, square root, fused multiplication and remainders of floats: by integers alone right to
//! the last bit on every device, whatever its floats do; of most `f32` by what the device rounds
//! correctly.

use super::Exact;
use super::code::N;
use crate::op::{Binary, Compare};
use crate::types::Scalar;

/// A format of floats.
#[derive(Clone, Copy)]
struct Format {
    float: Scalar,
    /// Bits of the fraction.
    fraction: u64,
    bias: u64,
    width: u64,
}

impl Format {
    fn of(scalar: Scalar) -> Format {
        match scalar {
            Scalar::F64 => Format { float: Scalar::F64, fraction: 52, bias: 1023, width: 64 },
            _ => Format { float: Scalar::F32, fraction: 23, bias: 127, width: 32 },
        }
    }

    /// The greatest exponent field: that of infinities.
    fn top(self) -> u64 {
        2 * self.bias + 1
    }

    fn infinity(self) -> u64 {
        self.top() << self.fraction
    }
}

/// A float's parts, as `u64`. The significand's leading bit is that of normal numbers, and the
/// exponent of a denormal is 0 or, in two's complement, less. Of zero nothing is right.
#[derive(Clone, Copy)]
struct Parts<'c> {
    /// 0 or 1.
    sign: N<'c>,
    exponent: N<'c>,
    significand: N<'c>,
}

fn word<'c>(x: N<'c>) -> N<'c> {
    x.raw().cast(Scalar::U64)
}

fn parts<'c>(x: N<'c>) -> Parts<'c> {
    let format = Format::of(x.ty);
    let bits = word(x);
    let field = (bits >> format.fraction) & format.top();
    let rest = bits & ((1 << format.fraction) - 1);
    let up = rest.leading_zeros() - (63 - format.fraction);
    let denormal = field.eq(0u64);
    let significand = denormal.pick(rest << up, rest | (1 << format.fraction));
    let exponent = denormal.pick(up.of_bits(1) - up, field);
    Parts { sign: bits >> (format.width - 1), exponent, significand }
}

/// Signed: the first is less.
fn less<'c>(a: N<'c>, b: u64) -> N<'c> {
    a.as_bits(Scalar::I64).lt(a.of_bits(b).as_bits(Scalar::I64))
}

fn bit<'c>(condition: N<'c>) -> N<'c> {
    condition.cast(Scalar::U64)
}

/// The float of a sign, an exponent and a significand that has three bits more, of which the last
/// says that there are others: rounded to nearest, ties to even.
fn rounded<'c>(format: Format, sign: N<'c>, exponent: N<'c>, significand: N<'c>) -> N<'c> {
    let great = !less(exponent, format.top());
    let small = less(exponent, 1);
    let one = exponent.of_bits(1);
    let down = one - exponent;
    let down = small.pick(down.gt(63u64).pick(down.of_bits(63), down), down.of_bits(0));
    let lost = (significand & ((one << down) - 1u64)).ne(0u64);
    let significand = (significand >> down) | bit(lost);
    let exponent = small.pick(one, exponent);
    let (rest, kept) = (significand & 7u64, significand >> 3u64);
    let up = rest.gt(4u64) | (rest.eq(4u64) & (kept & 1u64).ne(0u64));
    let size = ((exponent - 1u64) << format.fraction) + kept + bit(up);
    let infinite = size.of_bits(format.infinity());
    let size = (great | size.gt(infinite)).pick(infinite, size);
    packed(format, sign, size)
}

fn packed<'c>(format: Format, sign: N<'c>, size: N<'c>) -> N<'c> {
    let bits = size | (sign << (format.width - 1));
    match format.float {
        Scalar::F64 => bits.as_bits(Scalar::F64),
        _ => bits.cast(Scalar::U32).as_bits(Scalar::F32),
    }
}

/// Exponent fields of `f32` between which neither a quotient nor a root is near to an end, nor
/// anything that is computed on the way: what is left of a dividend may be, but then it is too
/// little to matter.
const MIDDLE: std::ops::Range<u64> = 66..190;

/// The bits of a positive `f32` are those of such a number. They have 32 bits.
fn is_middling<'c>(bits: N<'c>) -> N<'c> {
    (bits - (MIDDLE.start << 23)).lt((MIDDLE.end - MIDDLE.start) << 23)
}

/// Factors and an addend of `f32` such that neither they nor the fused product is denormal: they are
/// zeros or middling, and so a product that is not the lesser part of the result has no bit below
/// 2^-109.
pub fn are_usual<'c>(all: [N<'c>; 3]) -> N<'c> {
    let [a, b, c] = all.map(|of| {
        let bits = of.abs().raw();
        is_middling(bits) | bits.eq(0u64)
    });
    a & b & c
}

/// How much greater the exponent field of an `f64` is, where its fraction begins.
const REBIASED: u64 = (1023 - 127) << 52;

/// The `f64` of a positive normal `f32`, by their bits: devices whose conversions lose denormals
/// have none.
fn double_of<'c>(bits: N<'c>) -> N<'c> {
    ((bits.cast(Scalar::U64) << 29u64) + REBIASED).as_bits(Scalar::F64)
}

/// The bits of the nearest `f32`, of which none is as near as another, and which is normal.
fn single_of<'c>(double: N<'c>) -> N<'c> {
    ((double.raw() - REBIASED + (1u64 << 28)) >> 29u64).cast(Scalar::U32)
}

/// The reciprocal of a power of two, if both are normal numbers: the quotient by the one is the
/// product with the other.
pub fn reciprocal(of: Scalar, bits: u64) -> Option<u64> {
    let format = Format::of(of);
    let field = bits >> format.fraction & format.top();
    let is_power = bits & ((1 << format.fraction) - 1) == 0 && (1..format.top()).contains(&field);
    let reciprocal = (2 * format.bias).checked_sub(field).filter(|field| *field > 0)?;
    let sign = bits & 1 << (format.width - 1);
    is_power.then_some(sign | reciprocal << format.fraction)
}

/// The quotient. That of most `f32` is computed by fused products where the device has such, else by
/// doubles where it has those.
pub fn divide<'c>(a: N<'c>, b: N<'c>, exact: Exact) -> N<'c> {
    let any = || any_quotient(a, b, exact.doubles);
    if a.ty != Scalar::F32 || !(exact.fuses() || exact.doubles) {
        return any();
    }
    let [x, y] = [a, b].map(|of| of.abs().raw());
    let middling = is_middling(x) & is_middling(y);
    if exact.fuses() {
        let fuses = middling & (y << 9u64).lt(LONG);
        return a.code.either(Scalar::F32, fuses, || quotient_by_fusing(a, b), any);
    }
    let near = || {
        let sign = (a.raw() ^ b.raw()) & (1u64 << 31);
        (quotient_by_double(x, y) | sign).as_bits(Scalar::F32)
    };
    a.code.either(Scalar::F32, middling, near, any)
}

/// From this the bits of an `f32` are subtracted to estimate its reciprocal.
const RECIPROCAL_SINGLE: u64 = 0x7ef3_11c3;
/// The fraction of a divisor, with nine zeros behind it, from which on [`quotient_by_fusing`] can be
/// wrong.
const LONG: u64 = 0xffff_0000;

/// The quotient of middling `f32`, of which the divisor is not [`LONG`]. The reciprocal is as good as
/// one that is rounded correctly, but where that is nearly in the middle of two floats. A quotient
/// and what it leaves of the dividend, which is exact, are mended twice; so what is rounded last is
/// 2^-25 of the last place away from the exact quotient. It is wrong only if the middle of two
/// floats is as near. All of such dividends and divisors were computed: 34 are wrong, of which the
/// least divisor has a significand of 2^24 - 109 (`quotients_and_roots_are_never_in_the_middle`).
fn quotient_by_fusing<'c>(a: N<'c>, b: N<'c>) -> N<'c> {
    // With the divisor's sign.
    let first = b.raw().of_bits(RECIPROCAL_SINGLE) - b.raw();
    let mut reciprocal = first.as_bits(Scalar::F32);
    let minus = -b;
    for _ in 0..3 {
        let error = minus.times_plus(reciprocal, b.lit(1.0));
        reciprocal = reciprocal.times_plus(error, reciprocal);
    }
    let mut quotient = a * reciprocal;
    for _ in 0..2 {
        let rest = minus.times_plus(quotient, a);
        quotient = rest.times_plus(reciprocal, quotient);
    }
    quotient
}

/// The bits of the quotient of middling `f32`, by theirs. It is at least 2^-49 of itself away from
/// the middle of two floats, since no multiple of a significand is less than one away from another
/// number. What is computed is at most 2^-51 away: the estimate is within 5 %
/// ([`estimated_quotient`]), each step has twice as many digits right, and of the last one and the
/// product four operations round.
fn quotient_by_double<'c>(x: N<'c>, y: N<'c>) -> N<'c> {
    let (dividend, divisor) = (double_of(x), double_of(y));
    let first = divisor.raw().of_bits(RECIPROCAL) - divisor.raw();
    let mut near = first.as_bits(Scalar::F64);
    for _ in 0..4 {
        near = near * (2.0 - divisor * near);
    }
    single_of(dividend * near)
}

fn any_quotient<'c>(a: N<'c>, b: N<'c>, doubles: bool) -> N<'c> {
    let format = Format::of(a.ty);
    let (x, y) = (parts(a), parts(b));
    let less = x.significand.lt(y.significand);
    let code = a.code;
    let (quotient, rest) = match doubles && format.float == Scalar::F32 {
        true => estimated_quotient(x.significand << (bit(less) + 25u64), y.significand),
        false => quotient_by_digits(x.significand << bit(less), y.significand, format),
    };
    let exponent = x.exponent - y.exponent + format.bias - bit(less);
    let sign = x.sign ^ y.sign;
    let significand = (quotient << 1u64) | bit(rest.ne(0u64));
    let result = rounded(format, sign, exponent, significand);
    let zero = packed(format, sign, code.word(0));
    let infinite = packed(format, sign, code.word(format.infinity()));
    let (size_a, size_b) = (word(a.abs()), word(b.abs()));
    let end = size_a.of_bits(format.infinity());
    let result = (size_a.eq(0u64) | size_b.eq(end)).pick(zero, result);
    let result = (size_b.eq(0u64) | size_a.eq(end)).pick(infinite, result);
    let none = (size_a.eq(0u64) & size_b.eq(0u64)) | (size_a.eq(end) & size_b.eq(end));
    (none | size_a.gt(end) | size_b.gt(end)).pick(a.nan(), result)
}

/// Three digits more than a significand has, and what is left.
fn quotient_by_digits<'c>(dividend: N<'c>, divisor: N<'c>, format: Format) -> (N<'c>, N<'c>) {
    let code = dividend.code;
    let rest = code.var(dividend);
    let quotient = code.var(code.word(0));
    code.repeat(code.word(format.fraction + 3), |_| {
        let before = rest.get();
        let fits = before.ge(divisor);
        quotient.set((quotient.get() << 1u64) | bit(fits));
        rest.set(fits.pick(before - divisor, before) << 1u64);
    });
    (quotient.get(), rest.get())
}

/// From this the bits of an `f64` are subtracted to estimate its reciprocal.
const RECIPROCAL: u64 = 0x7fde_6238_22fc_16e6;

/// The same of a dividend of 50 bits and the significand of an `f32`. The estimate is less than one
/// away: an `f64` of `[1, 2)` has its reciprocal within 5 % when its bits are subtracted from a
/// constant, and each step has twice as many digits right. It need not be rounded in any way.
fn estimated_quotient<'c>(dividend: N<'c>, divisor: N<'c>) -> (N<'c>, N<'c>) {
    let bits = ((divisor & 0x7f_ffffu64) << 29u64) | (1023u64 << 52);
    let double = bits.as_bits(Scalar::F64);
    let mut near = (bits.of_bits(RECIPROCAL) - bits).as_bits(Scalar::F64);
    for _ in 0..3 {
        near = near * (2.0 - double * near);
    }
    let scaled = dividend.cast(Scalar::F64) * near * (1.0 / 8_388_608.0);
    let quotient = scaled.cast(Scalar::U32).cast(Scalar::U64);
    let rest = dividend - quotient * divisor;
    let (many, few) = (less(rest, 0), !less(rest, 0) & rest.ge(divisor));
    let rest = many.pick(rest + divisor, few.pick(rest - divisor, rest));
    (many.pick(quotient - 1u64, few.pick(quotient + 1u64, quotient)), rest)
}

/// The square root, in the same ways as [`divide`].
pub fn root<'c>(a: N<'c>, exact: Exact) -> N<'c> {
    let any = || any_root(a, exact.doubles);
    if a.ty != Scalar::F32 || !(exact.fuses() || exact.doubles) {
        return any();
    }
    let near = || match exact.fuses() {
        true => root_by_fusing(a),
        false => root_by_double(a.raw()).as_bits(Scalar::F32),
    };
    a.code.either(Scalar::F32, is_middling(a.raw()), near, any)
}

/// From this half of the bits of an `f32` are subtracted to estimate the reciprocal of its root.
const RECIPROCAL_ROOT_SINGLE: u64 = 0x5f37_59df;

/// The root of a middling `f32`: a root and half of its reciprocal, which are mended together, and
/// then the root alone. That of each number from 1 up to 4 was computed, and is right
/// (`quotients_and_roots_are_never_in_the_middle`).
fn root_by_fusing<'c>(x: N<'c>) -> N<'c> {
    let first = x.raw().of_bits(RECIPROCAL_ROOT_SINGLE) - (x.raw() >> 1u64);
    let first = first.as_bits(Scalar::F32);
    // The half is negative, so that nothing else has to be negated.
    let (mut root, mut half) = (x * first, first * -0.5);
    for _ in 0..3 {
        let error = root.times_plus(half, x.lit(0.5));
        root = root.times_plus(error, root);
        half = half.times_plus(error, half);
    }
    let minus = -x;
    for _ in 0..2 {
        let rest = root.times_plus(root, minus);
        root = rest.times_plus(half, root);
    }
    root
}

/// The bits of the root of a middling `f32`, by its. Of what is in `[1, 4)` it is at least 2^-50
/// away from the middle of two floats, since the square of such a middle has an odd number of 50
/// bits. What is computed is at most 2^-52 away: 26 bits of an estimate, whose square is exact, are
/// mended by what is left.
fn root_by_double<'c>(x: N<'c>) -> N<'c> {
    let double = double_of(x);
    let first = double.raw().of_bits(RECIPROCAL_ROOT) - (double.raw() >> 1u64);
    let mut near = first.as_bits(Scalar::F64);
    for _ in 0..3 {
        near = near * (1.5 - 0.5 * double * near * near);
    }
    let root = ((double * near).raw() + (1u64 << 26)) & !((1u64 << 27) - 1);
    let root = root.as_bits(Scalar::F64);
    single_of(root + (double - root * root) * (0.5 * near))
}

fn any_root<'c>(a: N<'c>, doubles: bool) -> N<'c> {
    let format = Format::of(a.ty);
    let x = parts(a);
    let code = a.code;
    // The exponent without the bias, and even.
    let exponent = x.exponent - format.bias;
    let odd = exponent & 1u64;
    let half = (exponent.as_bits(Scalar::I64) >> 1u64).as_bits(Scalar::U64);
    // One bit more than a significand; a root is never in the middle of two floats.
    let root = match doubles && format.float == Scalar::F32 {
        true => estimated_root(x.significand << (odd + 25u64)),
        false => root_by_digits(x.significand << (odd + 1u64), format),
    };
    let root = (root + (root & 1u64)) >> 1u64;
    let size = root + ((half + (format.bias - 1)) << format.fraction);
    let result = packed(format, code.word(0), size);
    let size = word(a.abs());
    let end = size.of_bits(format.infinity());
    let result = (size.eq(0u64) | word(a).eq(end)).pick(a, result);
    ((a.is_negative() & size.ne(0u64)) | size.gt(end)).pick(a.nan(), result)
}

fn root_by_digits<'c>(of: N<'c>, format: Format) -> N<'c> {
    let code = of.code;
    let rest = code.var(of);
    let (sum, root) = (code.var(code.word(0)), code.var(code.word(0)));
    let first = code.word(1 << (format.fraction + 1));
    code.repeat(code.word(format.fraction + 2), |turn| {
        let bit = first >> turn;
        let (before, left) = (sum.get(), rest.get());
        let tried = before + bit;
        let fits = left.ge(tried);
        sum.set(fits.pick(tried + bit, before));
        root.set(fits.pick(root.get() + bit, root.get()));
        rest.set(fits.pick(left - tried, left) << 1u64);
    });
    root.get()
}

/// From this half of the bits of an `f64` are subtracted to estimate the reciprocal of its root.
const RECIPROCAL_ROOT: u64 = 0x5fe6_eb50_c7b5_37a9;

/// Of 50 bits, rounded down: as [`estimated_quotient`], from a reciprocal root.
fn estimated_root<'c>(of: N<'c>) -> N<'c> {
    let double = of.cast(Scalar::F64);
    let first = of.of_bits(RECIPROCAL_ROOT) - (double.raw() >> 1u64);
    let mut near = first.as_bits(Scalar::F64);
    for _ in 0..3 {
        near = near * (1.5 - 0.5 * double * near * near);
    }
    let root = (double * near).cast(Scalar::U32).cast(Scalar::U64);
    let rest = of - root * root;
    let (many, few) = (less(rest, 0), !less(rest, 0) & rest.gt(root + root));
    many.pick(root - 1u64, few.pick(root + 1u64, root))
}

/// 128 bits.
#[derive(Clone, Copy)]
struct Wide<'c> {
    high: N<'c>,
    low: N<'c>,
}

impl<'c> Wide<'c> {
    /// Shifted right by up to 127, or more; the last bit says that others were lost.
    fn down(self, by: N<'c>) -> Wide<'c> {
        let by = by.gt(127u64).pick(by.of_bits(127), by);
        let far = by.ge(64u64);
        let near = by & 63u64;
        // Two steps, since one of 64 would be none.
        let spill = |x: N<'c>| (x << 1u64) << (near.of_bits(63) - near);
        let zero = by.of_bits(0);
        let lost_near = spill(self.low);
        let lost = far.pick(self.low | spill(self.high), lost_near).ne(0u64);
        let low = far.pick(self.high >> near, (self.low >> near) | spill(self.high));
        Wide { high: far.pick(zero, self.high >> near), low: low | bit(lost) }
    }

    /// Shifted left by up to 127.
    fn up(self, by: N<'c>) -> Wide<'c> {
        let far = by.ge(64u64);
        let near = by & 63u64;
        let spill = (self.low >> 1u64) >> (near.of_bits(63) - near);
        let high = far.pick(self.low << near, (self.high << near) | spill);
        Wide { high, low: far.pick(by.of_bits(0), self.low << near) }
    }

    fn less(self, other: Wide<'c>) -> N<'c> {
        self.high.lt(other.high) | (self.high.eq(other.high) & self.low.lt(other.low))
    }

    fn plus(self, other: Wide<'c>) -> Wide<'c> {
        let low = self.low + other.low;
        Wide { high: self.high + other.high + bit(low.lt(self.low)), low }
    }

    fn minus(self, other: Wide<'c>) -> Wide<'c> {
        let borrow = bit(self.low.lt(other.low));
        Wide { high: self.high - other.high - borrow, low: self.low - other.low }
    }

    fn or(yes: N<'c>, a: Wide<'c>, b: Wide<'c>) -> Wide<'c> {
        Wide { high: yes.pick(a.high, b.high), low: yes.pick(a.low, b.low) }
    }
}

/// `a * b + c`, rounded once.
pub fn fused<'c>(a: N<'c>, b: N<'c>, c: N<'c>) -> N<'c> {
    let format = Format::of(a.ty);
    let (x, y, z) = (parts(a), parts(b), parts(c));
    let to_top = 63 - format.fraction;
    let (p, q) = (x.significand << to_top, y.significand << to_top);
    // Products and sums with the leading bit at 125 or, of a product, 126.
    let (high, low) = (p.mul_hi(q), p * q);
    let product = Wide { high: high >> 1u64, low: (low >> 1u64) | (high << 63u64) };
    let r = z.significand << to_top;
    let none = word(c.abs()).eq(0u64);
    let r = none.pick(r.of_bits(0), r);
    let addend = Wide { high: r >> 2u64, low: r << 62u64 };
    let exponent = x.exponent + y.exponent - format.bias;
    let (sign, other) = (x.sign ^ y.sign, z.sign);
    // Without an addend, the product stays where it is.
    let ahead = none.pick(exponent.of_bits(0), exponent - z.exponent);
    let behind = less(ahead, 0);
    let zero = ahead.of_bits(0);
    let product = product.down(behind.pick(zero - ahead, zero));
    let addend = addend.down(behind.pick(zero, ahead));
    let exponent = behind.pick(z.exponent, exponent);
    let smaller = product.less(addend);
    let same = sign.eq(other);
    let difference = Wide::or(smaller, addend.minus(product), product.minus(addend));
    let sum = Wide::or(same, product.plus(addend), difference);
    let sign = (!same & smaller).pick(other, sign);
    let exact_zero = (sum.high | sum.low).eq(0u64);
    let leading = sum.high.eq(0u64).pick(sum.low.leading_zeros() + 64u64, sum.high.leading_zeros());
    let leading = exact_zero.pick(zero, leading);
    let sum = sum.up(leading);
    let drop = 63 - (format.fraction + 3);
    let lost = ((sum.high & ((1u64 << drop) - 1)) | sum.low).ne(0u64);
    let significand = (sum.high >> drop) | bit(lost);
    let result = rounded(format, sign, exponent + 2u64 - leading, significand);
    let result = exact_zero.pick(packed(format, zero, zero), result);
    // A zero or what is not finite: the product has no error. But it must not overflow alone.
    let size = |x: N<'c>| word(x.abs());
    let end = zero.of_bits(format.infinity());
    let plain = a * b + c;
    let (size_a, size_b) = (size(a), size(b));
    let finite = size_a.lt(end) & size_b.lt(end);
    let special = size_a.eq(0u64) | size_b.eq(0u64) | !finite;
    let result = special.pick(plain, result);
    (finite & size(c).ge(end)).pick(c, result)
}

/// `a * b + c` of `f32`, rounded once, by `f64`: the product is exact there, and the sum is rounded
/// to odd, so that rounding it once more is as if once. Conversions are the device's own if those
/// lose no denormals.
pub fn fused_by_double<'c>(a: N<'c>, b: N<'c>, c: N<'c>, conversions: bool) -> N<'c> {
    let double = |x: N<'c>| if conversions { x.cast(Scalar::F64) } else { widened(x) };
    let single = |x: N<'c>| if conversions { x.cast(Scalar::F32) } else { narrowed(x) };
    let (product, addend) = (double(a) * double(b), double(c));
    let sum = product + addend;
    let part = sum - product;
    let error = (product - (sum - part)) + (addend - part);
    let bits = sum.raw();
    let inexact = error.ne(0.0) & (bits & 1u64).eq(0u64) & sum.abs().lt(f64::INFINITY);
    let outwards = error.gt(0.0).eq(sum.gt(0.0));
    let odd = outwards.pick(bits + 1u64, bits - 1u64);
    single(inexact.pick(odd, bits).as_bits(Scalar::F64))
}

/// What an `f64` is greater, or less, by whose exponent field is that of an `f32`.
const REBIASING: u64 = (1023 + 896) << 52;
const UNBIASING: u64 = (1023 - 896) << 52;

/// An `f32` as `f64`: its bits are those of an `f64` whose exponent has the other bias, which a
/// product mends, of denormals, too. The kernel has `f64`, which keep theirs.
pub fn widened<'c>(x: N<'c>) -> N<'c> {
    let size = word(x.abs());
    let shifted = size << 29u64;
    let scale = size.of_bits(REBIASING).as_bits(Scalar::F64);
    let scaled = (shifted.as_bits(Scalar::F64) * scale).raw();
    // Infinities and NaN.
    let is_end = size.ge(Format::of(Scalar::F32).infinity());
    let size = is_end.pick(shifted | Format::of(Scalar::F64).infinity(), scaled);
    packed(Format::of(Scalar::F64), word(x) >> 31u64, size)
}

/// An `f64` as `f32`, rounded to nearest, ties to even: as above. Of the fraction 26 bits stay,
/// the last of which says that others were lost, so that the product loses none that matters even
/// where it is denormal.
pub fn narrowed<'c>(x: N<'c>) -> N<'c> {
    let (from, to) = (Format::of(Scalar::F64), Format::of(Scalar::F32));
    let size = x.abs().raw();
    let rest = (1u64 << 26) - 1;
    let lost = bit((size & rest).ne(0u64));
    let odd = (size & !rest) | (lost << 26u64);
    let scale = size.of_bits(UNBIASING).as_bits(Scalar::F64);
    let scaled = (odd.as_bits(Scalar::F64) * scale).raw();
    let even = (scaled >> 29u64) & 1u64;
    let rounded = (scaled + even + 0x0fff_ffffu64) >> 29u64;
    let infinite = rounded.of_bits(to.infinity());
    let rounded = rounded.gt(infinite).pick(infinite, rounded);
    let result = packed(to, x.raw() >> 63u64, rounded);
    size.gt(from.infinity()).pick(result.nan(), result)
}

/// The exact remainder of the truncated quotient.
pub fn remainder<'c>(a: N<'c>, b: N<'c>) -> N<'c> {
    let format = Format::of(a.ty);
    let (x, y) = (parts(a), parts(b));
    let code = a.code;
    let (size_a, size_b) = (word(a.abs()), word(b.abs()));
    let far = x.exponent - y.exponent;
    let smaller = size_a.lt(size_b);
    let end = far.of_bits(format.infinity());
    let none = size_a.ge(end) | size_b.gt(end) | size_b.eq(0u64);
    let nothing = smaller | none | size_a.eq(0u64);
    // The first turn subtracts without a shift.
    let turns = nothing.pick(far.of_bits(0), far + 1u64);
    let rest = code.var(x.significand);
    code.repeat(turns, |turn| {
        let shifted = rest.get() << bit(turn.ne(0u64));
        rest.set(shifted.ge(y.significand).pick(shifted - y.significand, shifted));
    });
    let left = rest.get();
    // Normal again: in front of the three bits that rounding takes, of which none is set.
    let leading = left.leading_zeros();
    let up = leading - (63 - format.fraction);
    let exponent = y.exponent - up;
    let result = rounded(format, x.sign, exponent, (left << up) << 3u64);
    let zero = packed(format, x.sign, code.word(0));
    let result = left.eq(0u64).pick(zero, result);
    let result = smaller.pick(a, result);
    let result = size_a.eq(0u64).pick(a, result);
    none.pick(a.nan(), result)
}

/// To nearest, ties to even (semantics 5.7).
pub fn nearest_even<'c>(x: N<'c>) -> N<'c> {
    let whole = x.lit(if x.ty == Scalar::F64 { 4_503_599_627_370_496.0 } else { 8_388_608.0 });
    let size = x.abs();
    let near = (size + whole) - whole;
    size.lt(whole).pick(near, x).copysign(x)
}

pub fn floor<'c>(x: N<'c>) -> N<'c> {
    let near = nearest_even(x);
    let (below, above) = beside(near, x);
    let up = x.is_negative();
    ((up & below) | (!up & above)).pick(near - 1.0, near).copysign(x)
}

pub fn ceil<'c>(x: N<'c>) -> N<'c> {
    let near = nearest_even(x);
    let (below, above) = beside(near, x);
    let up = x.is_negative();
    ((up & above) | (!up & below)).pick(near + 1.0, near).copysign(x)
}

/// Whether a float is less or more than another one of the same sign, without the signs. As
/// integers: devices may take a denormal for zero where they compare.
fn beside<'c>(near: N<'c>, x: N<'c>) -> (N<'c>, N<'c>) {
    let (near, size) = (near.abs().raw(), x.abs().raw());
    (near.lt(size), near.gt(size))
}

pub fn trunc<'c>(x: N<'c>) -> N<'c> {
    floor(x.abs()).copysign(x)
}

pub fn round<'c>(x: N<'c>) -> N<'c> {
    let size = x.abs();
    let below = floor(size);
    (size - below).ge(0.5).pick(below + 1.0, below).copysign(x)
}

/// A comparison of `f32` by integers, whose order is that of the numbers; both zeros are 0.
pub fn compared<'c>(op: Compare, a: N<'c>, b: N<'c>) -> N<'c> {
    let key = |of: N<'c>| {
        let raw = of.as_bits(Scalar::I32);
        let mirrored = raw.of_bits(1 << 31).binary(Binary::Sub, raw);
        raw.lt(raw.of_bits(0)).pick(mirrored, raw)
    };
    let is_number = |of: N<'c>| {
        let size = of.abs().raw();
        size.le(size.of_bits(u64::from(f32::INFINITY.to_bits())))
    };
    let holds = key(a).compare(op, key(b));
    let both = is_number(a) & is_number(b);
    if op == Compare::Ne { holds | !both } else { holds & both }
}

/// The lesser or greater (semantics 5.5).
pub fn extreme<'c>(a: N<'c>, b: N<'c>, least: bool) -> N<'c> {
    let (beyond, own) = match least {
        true => (a.lt(b), a.is_negative()),
        false => (a.gt(b), !a.is_negative()),
    };
    (b.is_nan() | beyond | (a.eq(b) & own)).pick(a, b)
}

/// The same of `f32` by integers, of whose order a negative zero is less than the other.
pub fn extreme_by_bits<'c>(a: N<'c>, b: N<'c>, least: bool) -> N<'c> {
    let key = |of: N<'c>| {
        let raw = of.as_bits(Scalar::I32);
        raw ^ ((raw >> 31u64) & 0x7fff_ffffu64)
    };
    let is_nan = |of: N<'c>| of.abs().raw().gt(Format::of(Scalar::F32).infinity());
    let beyond = if least { key(a).lt(key(b)) } else { key(a).gt(key(b)) };
    (is_nan(b) | (beyond & !is_nan(a))).pick(a, b)
}
