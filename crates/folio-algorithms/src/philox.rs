//! Random numbers by counting: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers:
//! as easy as 1, 2, 3). A number is a function of seed and place, so that who computes it, and
//! when, does not matter.

use crate::prelude::*;

const ROUNDS: u32 = 10;

/// Philox4x32-10: four random words of a counter and a key. Kernels call it, too.
#[device_fn]
pub fn philox4x32(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let mut c = counter;
    let mut k = key;
    for _ in 0..ROUNDS {
        let a = c[0] as u64 * 0xd251_1f53;
        let b = c[2] as u64 * 0xcd9e_8d57;
        c = [(b >> 32) as u32 ^ c[1] ^ k[0], b as u32, (a >> 32) as u32 ^ c[3] ^ k[1], a as u32];
        k = [k[0] + 0x9e37_79b9, k[1] + 0xbb67_ae85];
    }
    c
}

/// Four random words of a seed, the same at the same place: Philox4x32-10 whose counter is `at`.
/// For kernels, which draw as many as they like, with no state to keep.
///
/// ```
/// use folio::algorithms::{random, uniform_f32};
/// use folio::prelude::*;
///
/// #[kernel]
/// fn hits(i: Item, seed: u64, inside: Reduce<u32, Add>) {
///     let words = random(seed, i.index() as u64);
///     let (x, y) = (uniform_f32(words[0]), uniform_f32(words[1]));
///     if x * x + y * y < 1.0 {
///         inside.give(1);
///     }
/// }
///
/// fn main() -> folio::Result<()> {
///     let rt = folio::runtime()?;
///     let mut inside = rt.buffer::<u32, 1>(1)?;
///     rt.queue()?.run(100_000, hits(1, &mut inside))?;
///     let pi = inside.to_vec()?[0] as f32 / 25_000.0;
///     assert!((pi - std::f32::consts::PI).abs() < 0.03);
///     Ok(())
/// }
/// ```
#[device_fn]
pub fn random(seed: u64, at: u64) -> [u32; 4] {
    philox4x32([at as u32, (at >> 32) as u32, 0, 0], [seed as u32, (seed >> 32) as u32])
}

/// A float from 0 to below 1, of random bits: a multiple of 2^-24, all alike.
#[device_fn]
pub fn uniform_f32(bits: u32) -> f32 {
    (bits >> 8) as f32 * 5.960_464_5e-8
}

/// A float from 0 to below 1, of random bits: a multiple of 2^-53, all alike.
#[device_fn]
pub fn uniform_f64(bits: u64) -> f64 {
    (bits >> 11) as f64 * 1.110_223_024_625_156_5e-16
}

/// A float of the standard normal distribution, of random bits, by Box and Muller.
#[device_fn]
pub fn normal_f32(a: u32, b: u32) -> f32 {
    // Above 0, so that there is a logarithm.
    let distance = (-2.0 * (1.0 - uniform_f32(a)).ln()).sqrt();
    distance * (6.283_185_5 * uniform_f32(b)).cos()
}

/// A float of the standard normal distribution, of random bits, by Box and Muller.
#[device_fn]
pub fn normal_f64(a: u64, b: u64) -> f64 {
    let distance = (-2.0 * (1.0 - uniform_f64(a)).ln()).sqrt();
    distance * (6.283_185_307_179_586 * uniform_f64(b)).cos()
}

#[device_fn]
fn word(seed: u64, at: u64) -> u32 {
    let words = random(seed, at >> 2);
    // Chosen without an index, items become vectors.
    let (odd, second) = (at & 1 != 0, at & 2 != 0);
    let (a, b) = if odd { (words[1], words[3]) } else { (words[0], words[2]) };
    if second { b } else { a }
}

#[device_fn]
fn double_word(seed: u64, at: u64) -> u64 {
    let words = random(seed, at >> 1);
    let (a, b) = if at & 1 != 0 { (words[2], words[3]) } else { (words[0], words[1]) };
    a as u64 | (b as u64) << 32
}

#[kernel]
fn words(i: Item, seed: u64, y: Out<u32>) {
    y[i] = word(seed, i.index() as u64);
}

#[kernel]
fn double_words(i: Item, seed: u64, y: Out<u64>) {
    y[i] = double_word(seed, i.index() as u64);
}

#[kernel]
fn uniform_singles(i: Item, seed: u64, y: Out<f32>) {
    y[i] = uniform_f32(word(seed, i.index() as u64));
}

#[kernel]
fn uniform_doubles(i: Item, seed: u64, y: Out<f64>) {
    y[i] = uniform_f64(double_word(seed, i.index() as u64));
}

#[kernel]
fn normal_singles(i: Item, seed: u64, y: Out<f32>) {
    let bits = double_word(seed, i.index() as u64);
    y[i] = normal_f32(bits as u32, (bits >> 32) as u32);
}

#[kernel]
fn normal_doubles(i: Item, seed: u64, y: Out<f64>) {
    let words = random(seed, i.index() as u64);
    let a = words[0] as u64 | (words[1] as u64) << 32;
    let b = words[2] as u64 | (words[3] as u64) << 32;
    y[i] = normal_f64(a, b);
}

/// Types that can be drawn with all values alike: `u32`, `u64`, and `f32` and `f64` from 0 to below
/// 1.
pub trait Uniform: DeviceType {
    #[doc(hidden)]
    fn fill(q: &Queue, seed: u64, y: &mut SliceMut<'_, Self>) -> Result<()>;
}

/// Types that can be drawn from the standard normal distribution: `f32`, `f64`.
pub trait Normal: DeviceType {
    #[doc(hidden)]
    fn fill(q: &Queue, seed: u64, y: &mut SliceMut<'_, Self>) -> Result<()>;
}

macro_rules! fills {
    ($($distribution:ident $ty:ident $kernel:ident;)*) => {$(
        impl $distribution for $ty {
            fn fill(q: &Queue, seed: u64, y: &mut SliceMut<'_, $ty>) -> Result<()> {
                q.share(y.range(), $kernel(seed, y))?;
                Ok(())
            }
        }
    )*};
}
fills! {
    Uniform u32 words;
    Uniform u64 double_words;
    Uniform f32 uniform_singles;
    Uniform f64 uniform_doubles;
    Normal f32 normal_singles;
    Normal f64 normal_doubles;
}

/// Fills with random numbers: any `u32` or `u64`, `f32` and `f64` from 0 to below 1. The words are
/// those of [`random`], one after the other, one or two for each element.
///
/// ```
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let mut x = rt.buffer::<f32, 1>(1000)?;
/// folio::algorithms::fill_uniform(&q, 42, &mut x)?;
/// assert!(x.read()?.iter().all(|x| (0.0..1.0).contains(x)));
/// # Ok::<(), folio::Error>(())
/// ```
pub fn fill_uniform<T: Uniform, const D: usize>(
    q: &Queue,
    seed: u64,
    mut y: impl AsPartMut<T, D>,
) -> Result<()> {
    T::fill(q, seed, &mut y.slice_all_mut().flat_mut()?)
}

/// Fills with random numbers of the standard normal distribution: [`normal_f32`] of two words of
/// [`random`], [`normal_f64`] of four. They call functions, which devices compute within limits; so
/// the last bits may differ from device to device.
///
/// ```
/// let rt = folio::runtime()?;
/// let q = rt.queue()?;
/// let mut x = rt.buffer::<f64, 1>(10_000)?;
/// folio::algorithms::fill_normal(&q, 42, &mut x)?;
/// let mean = x.read()?.iter().sum::<f64>() / 10_000.0;
/// assert!(mean.abs() < 0.04);
/// # Ok::<(), folio::Error>(())
/// ```
pub fn fill_normal<T: Normal, const D: usize>(
    q: &Queue,
    seed: u64,
    mut y: impl AsPartMut<T, D>,
) -> Result<()> {
    T::fill(q, seed, &mut y.slice_all_mut().flat_mut()?)
}
