//! Floats of many bits, with truncating arithmetic. Nothing overflows.

use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

/// A number of 64 N bits: `±bits * 2^exponent`, where the highest bit is set (but for 0).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Big<const N: usize> {
    negative: bool,
    exponent: i64,
    /// The lowest word first.
    bits: [u64; N],
}

/// Room for the product of the longest numbers.
const LONGEST: usize = 44;

impl<const N: usize> Big<N> {
    /// 0
    pub const ZERO: Big<N> = Big { negative: false, exponent: 0, bits: [0; N] };

    /// An integer.
    pub fn int(value: i64) -> Big<N> {
        let mut bits = [0; N];
        bits[0] = value.unsigned_abs();
        Big { negative: value < 0, exponent: 0, bits }.normal()
    }

    /// A finite float.
    pub fn float(value: f64) -> Big<N> {
        let raw = value.to_bits();
        let (biased, fraction) = ((raw >> 52 & 0x7ff) as i64, raw & ((1 << 52) - 1));
        let mut bits = [0; N];
        bits[0] = if biased == 0 { fraction } else { fraction | 1 << 52 };
        Big { negative: value < 0.0, exponent: biased.max(1) - 1075, bits }.normal()
    }

    /// With another number of words.
    pub fn resized<const M: usize>(self) -> Big<M> {
        let mut bits = [0; M];
        let count = N.min(M);
        bits[M - count..].copy_from_slice(&self.bits[N - count..]);
        let exponent = self.exponent + 64 * (N as i64 - M as i64);
        Big { negative: self.negative, exponent, bits }.normal()
    }

    fn normal(mut self) -> Big<N> {
        let Some(top) = self.bits.iter().rposition(|word| *word != 0) else { return Self::ZERO };
        let shift = 64 * (N - 1 - top) as u32 + self.bits[top].leading_zeros();
        self.bits = shifted_left(self.bits, shift);
        self.exponent -= i64::from(shift);
        self
    }

    /// Whether it is 0.
    pub fn is_zero(&self) -> bool {
        self.bits[N - 1] == 0
    }

    /// Whether it is less than 0.
    pub fn is_negative(&self) -> bool {
        self.negative && !self.is_zero()
    }

    /// Without its sign.
    pub fn abs(self) -> Big<N> {
        Big { negative: false, ..self }
    }

    /// k, where `2^k <= |self| < 2^(k + 1)`.
    pub fn log2(&self) -> i64 {
        self.exponent + 64 * N as i64 - 1
    }

    /// `self * 2^k`
    pub fn times_power(self, k: i64) -> Big<N> {
        if self.is_zero() { self } else { Big { exponent: self.exponent + k, ..self } }
    }

    /// The highest 128 bits as an integer, of which the last is set if anything follows, and the
    /// power of two that it is to be multiplied with.
    pub fn top(&self) -> (u128, i64) {
        let high = u128::from(self.bits[N - 1]) << 64 | u128::from(self.bits[N - 2]);
        let more = self.bits[..N - 2].iter().any(|word| *word != 0);
        (high | u128::from(more), self.exponent + 64 * (N as i64 - 2))
    }

    /// Roughly, as a float; 0 or infinite if it is too small or too great.
    pub fn near(&self) -> f64 {
        if self.is_zero() {
            return 0.0;
        }
        let k = self.log2();
        let size = self.bits[N - 1] as f64 / 9_223_372_036_854_775_808.0;
        let half = (k / 2).clamp(-1000, 1000) as i32;
        let size =
            size * 2f64.powi(half) * 2f64.powi((k - i64::from(half)).clamp(-1000, 1000) as i32);
        if self.negative { -size } else { size }
    }

    /// The nearest integer's low two bits, and what is left.
    pub fn quarters(self) -> (u64, Big<N>) {
        let half = Big::<N>::int(1).times_power(-1);
        let mut whole = self.abs() + half;
        let behind = -whole.exponent;
        if whole.log2() < 0 {
            return (0, self);
        }
        for (at, word) in whole.bits.iter_mut().enumerate() {
            let cut = (behind - 64 * at as i64).clamp(0, 64);
            *word = if cut == 64 { 0 } else { *word >> cut << cut };
        }
        let low = shifted_right(whole.bits, behind.max(0) as u32)[0] & 3;
        let left = self.abs() - whole;
        (
            if self.negative { low.wrapping_neg() & 3 } else { low },
            if self.negative { -left } else { left },
        )
    }

    /// `self / divisor`
    pub fn over(mut self, divisor: u64) -> Big<N> {
        let mut rest = 0u128;
        for word in self.bits.iter_mut().rev() {
            let part = rest << 64 | u128::from(*word);
            *word = (part / u128::from(divisor)) as u64;
            rest = part % u128::from(divisor);
        }
        self.normal()
    }

    /// `1 / self`, by Newton's method.
    pub fn reciprocal(self) -> Big<N> {
        let k = self.log2();
        let scaled = self.times_power(-k);
        let mut x = Big::float(1.0 / scaled.near());
        for _ in 0..rounds(N) {
            x = x + x * (Big::int(1) - scaled * x);
        }
        x.times_power(-k)
    }

    /// The square root of a number that is not negative, by Newton's method.
    pub fn sqrt(self) -> Big<N> {
        if self.is_zero() {
            return self;
        }
        let k = self.log2().div_euclid(2);
        let scaled = self.times_power(-2 * k);
        let mut y = Big::float(1.0 / scaled.near().sqrt());
        for _ in 0..rounds(N) {
            y = y + (y * (Big::int(1) - scaled * y * y)).times_power(-1);
        }
        (scaled * y).times_power(k)
    }

    fn compare_size(&self, other: &Big<N>) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            _ => self
                .exponent
                .cmp(&other.exponent)
                .then_with(|| self.bits.iter().rev().cmp(other.bits.iter().rev())),
        }
    }
}

/// Rounds of Newton's method, from 50 bits on.
fn rounds(words: usize) -> u32 {
    (64 * words).div_ceil(50).next_power_of_two().ilog2()
}

fn shifted_left<const N: usize>(bits: [u64; N], by: u32) -> [u64; N] {
    let (words, by) = ((by / 64) as usize, by % 64);
    std::array::from_fn(|at| {
        let word = |back: usize| at.checked_sub(words + back).map_or(0, |at| bits[at]);
        if by == 0 { word(0) } else { word(0) << by | word(1) >> (64 - by) }
    })
}

fn shifted_right<const N: usize>(bits: [u64; N], by: u32) -> [u64; N] {
    let (words, by) = ((by / 64) as usize, by % 64);
    std::array::from_fn(|at| {
        let word = |on: usize| bits.get(at + words + on).copied().unwrap_or(0);
        if by == 0 { word(0) } else { word(0) >> by | word(1) << (64 - by) }
    })
}

impl<const N: usize> Neg for Big<N> {
    type Output = Big<N>;
    fn neg(self) -> Big<N> {
        Big { negative: !self.negative, ..self }
    }
}

impl<const N: usize> Add for Big<N> {
    type Output = Big<N>;
    fn add(self, other: Big<N>) -> Big<N> {
        let (mut great, small) = match self.compare_size(&other) {
            Ordering::Less => (other, self),
            _ => (self, other),
        };
        let apart = great.exponent.saturating_sub(small.exponent);
        if small.is_zero() || apart >= 64 * N as i64 {
            return great;
        }
        let aligned = shifted_right(small.bits, apart as u32);
        let subtract = great.negative != small.negative;
        let mut carry = false;
        for (word, other) in great.bits.iter_mut().zip(aligned) {
            let (first, more) = match subtract {
                true => word.overflowing_sub(other),
                false => word.overflowing_add(other),
            };
            let (second, again) = match subtract {
                true => first.overflowing_sub(carry.into()),
                false => first.overflowing_add(carry.into()),
            };
            (*word, carry) = (second, more || again);
        }
        if carry {
            great.bits = shifted_right(great.bits, 1);
            great.bits[N - 1] |= 1 << 63;
            great.exponent += 1;
        }
        great.normal()
    }
}

impl<const N: usize> Sub for Big<N> {
    type Output = Big<N>;
    fn sub(self, other: Big<N>) -> Big<N> {
        self + -other
    }
}

impl<const N: usize> Mul for Big<N> {
    type Output = Big<N>;
    fn mul(self, other: Big<N>) -> Big<N> {
        let mut all = [0u64; LONGEST];
        for (i, a) in self.bits.iter().enumerate() {
            let mut carry = 0u128;
            for (j, b) in other.bits.iter().enumerate() {
                let sum = u128::from(*a) * u128::from(*b) + u128::from(all[i + j]) + carry;
                all[i + j] = sum as u64;
                carry = sum >> 64;
            }
            all[i + N] = carry as u64;
        }
        // The product has one leading zero at most.
        let lead = (all[2 * N - 1] >> 63 == 0) as u32;
        let bits = std::array::from_fn(|at| match lead {
            0 => all[N + at],
            _ => all[N + at] << 1 | all[N + at - 1] >> 63,
        });
        let exponent = self.exponent + other.exponent + 64 * N as i64 - i64::from(lead);
        Big { negative: self.negative != other.negative, exponent, bits }.normal()
    }
}
