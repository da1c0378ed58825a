//! Transforms by kernels of the own language.
//!
//! A power of two is transformed in passes of 16, 4 and 2 (Stockham's order, so that no pass only
//! moves). Other lengths are a convolution of powers of two (Bluestein's). Each dimension follows
//! the one after it.

use super::tables::{Chirps, FINE, Roots, root};
use super::{Extents, Real, Transform};
use crate::Linalg;
use crate::prelude::*;
use folio::{RacyMemory, Shared};
use folio_macros::{DeviceType, device_fn};

/// Items of a group, at most.
const ITEMS: usize = 256;

/// The 16th roots of one that passes of 16 multiply with: `k` times the angle, up to 9.
#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Sixteenths<T: Number> {
    at: [[T; 2]; 10],
}

#[device_fn]
pub(super) fn times<T: Number>(a: [T; 2], b: [T; 2]) -> [T; 2] {
    [a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]]
}

/// The transform of four, of which `sign` is 1 for the forward one.
#[device_fn]
fn four<T: Number>(a: [T; 2], b: [T; 2], c: [T; 2], d: [T; 2], sign: T) -> [[T; 2]; 4] {
    let (sum, rest) = ([a[0] + c[0], a[1] + c[1]], [a[0] - c[0], a[1] - c[1]]);
    let (odd, gap) = ([b[0] + d[0], b[1] + d[1]], [sign * (b[1] - d[1]), sign * (d[0] - b[0])]);
    [
        [sum[0] + odd[0], sum[1] + odd[1]],
        [rest[0] + gap[0], rest[1] + gap[1]],
        [sum[0] - odd[0], sum[1] - odd[1]],
        [rest[0] - gap[0], rest[1] - gap[1]],
    ]
}

/// One pass along a dimension: an item transforms `R` elements, which are `apart`. Groups are as
/// the array's shape wants them, and may reach beyond it. Passes before have transformed `mask + 1`
/// elements together, a power of two of so many `bits`. Angles are multiples of `stride`.
#[kernel]
fn pass<T: Number, const R: usize, const AXIS: usize>(
    g: Group<3>,
    sign: T,
    apart: usize,
    mask: usize,
    bits: usize,
    stride: usize,
    sixteenths: Sixteenths<T>,
    fine: In<[T; 2]>,
    coarse: In<[T; 2]>,
    x: In<[T; 2], 3>,
    y: Racy<[T; 2], 3>,
) {
    g.each(|i| {
        let (a, b, c) = i.pos();
        let (planes, rows, columns) = if AXIS == 0 {
            (apart, x.shape()[1], x.shape()[2])
        } else if AXIS == 1 {
            (x.shape()[0], apart, x.shape()[2])
        } else {
            (x.shape()[0], x.shape()[1], apart)
        };
        if a < planes && b < rows && c < columns {
            let j = if AXIS == 0 {
                a
            } else if AXIS == 1 {
                b
            } else {
                c
            };
            let k = j & mask;
            let angle = k * stride;
            let one = times(fine[angle % FINE], coarse[angle / FINE]);
            let mut turns = [[T::ONE, T::ZERO]; R];
            turns[1] = [one[0], sign * one[1]];
            for r in 2..R {
                turns[r] = times(turns[r / 2], turns[(r + 1) / 2]);
            }
            let mut v = [[T::ZERO; 2]; R];
            for r in 0..R {
                let at = j + r * apart;
                let value = if AXIS == 0 {
                    x[(at, b, c)]
                } else if AXIS == 1 {
                    x[(a, at, c)]
                } else {
                    x[(a, b, at)]
                };
                v[r] = times(value, turns[r]);
            }
            let mut out = v;
            if R == 16 {
                for p in 0..4 {
                    let part =
                        four(v[p % R], v[(p + 4) % R], v[(p + 8) % R], v[(p + 12) % R], sign);
                    for q in 0..4 {
                        let turn = sixteenths.at[p * q];
                        v[(p + 4 * q) % R] = times(part[q], [turn[0], sign * turn[1]]);
                    }
                }
                for q in 0..4 {
                    let f = 4 * q;
                    let part = four(v[f % R], v[(f + 1) % R], v[(f + 2) % R], v[(f + 3) % R], sign);
                    for p in 0..4 {
                        out[(q + 4 * p) % R] = part[p];
                    }
                }
            } else if R == 4 {
                let part = four(v[0], v[1], v[2 % R], v[3 % R], sign);
                for p in 0..4 {
                    out[p % R] = part[p];
                }
            } else {
                out[0] = [v[0][0] + v[1][0], v[0][1] + v[1][1]];
                out[1] = [v[0][0] - v[1][0], v[0][1] - v[1][1]];
            }
            let before = mask + 1;
            let first = (j >> bits) * before * R + k;
            for r in 0..R {
                let at = first + r * before;
                if AXIS == 0 {
                    y[(at, b, c)] = out[r];
                } else if AXIS == 1 {
                    y[(a, at, c)] = out[r];
                } else {
                    y[(a, b, at)] = out[r];
                }
            }
        }
    });
}

/// Multiplies by the chirp along a dimension, and adds zeros behind.
#[kernel]
fn chirped<T: Number>(
    i: Item<3>,
    axis: usize,
    sign: T,
    chirp: In<[T; 2]>,
    x: In<[T; 2], 3>,
    y: Out<[T; 2], 3>,
) {
    let (a, b, c) = i.pos();
    let k = if axis == 0 {
        a
    } else if axis == 1 {
        b
    } else {
        c
    };
    let mut value = [T::ZERO; 2];
    if k < chirp.len() {
        value = times(x[(a, b, c)], [chirp[k][0], sign * chirp[k][1]]);
    }
    y[i] = value;
}

/// Multiplies by the transform of the chirps.
#[kernel]
fn convolved<T: Number>(i: Item<3>, axis: usize, by: In<[T; 2], 3>, x: InOut<[T; 2], 3>) {
    let (a, b, c) = i.pos();
    let k = if axis == 0 {
        a
    } else if axis == 1 {
        b
    } else {
        c
    };
    x[i] = times(x[i], by[(0, 0, k)]);
}

/// Multiplies by the chirp and a factor, without what is behind.
#[kernel]
fn unchirped<T: Number>(
    i: Item<3>,
    axis: usize,
    sign: T,
    factor: T,
    chirp: In<[T; 2]>,
    x: In<[T; 2], 3>,
    y: Out<[T; 2], 3>,
) {
    let (a, b, c) = i.pos();
    let k = if axis == 0 {
        a
    } else if axis == 1 {
        b
    } else {
        c
    };
    let value = times(x[(a, b, c)], [chirp[k][0], sign * chirp[k][1]]);
    y[i] = [factor * value[0], factor * value[1]];
}

/// Submits a transform.
pub(super) fn transform<T: Real>(
    linalg: &Linalg,
    q: &Queue,
    transform: Transform,
    extents: Extents,
    x: &Slice<'_, [T; 2], 3>,
    y: &mut SliceMut<'_, [T; 2], 3>,
) -> Result<()> {
    let axes: Vec<usize> = extents.axes().collect();
    let line = |axis| Line { linalg, q, axis, transform, shape: extents.shape };
    let [first, middle @ .., last] = &axes[..] else {
        return match axes[..] {
            [axis] => line(axis).transform(x, y),
            _ => q.copy(x, y).map(drop),
        };
    };
    let between = scratch(linalg, extents.shape)?;
    match middle {
        [middle] => {
            line(*first).transform(x, &mut *y)?;
            line(*middle).transform(&*y, &between)?;
        }
        _ => line(*first).transform(x, &between)?,
    }
    line(*last).transform(&between, y)
}

/// Memory of a transform's own.
pub(super) fn scratch<T: Real>(linalg: &Linalg, shape: [usize; 3]) -> Result<Shared<[T; 2], 3>> {
    let options = folio::BufferOptions::new().own_tracker();
    Ok(linalg.q.runtime().buffer_with(shape, options)?.into_shared())
}

/// A transform along one dimension.
#[derive(Clone, Copy)]
struct Line<'l> {
    linalg: &'l Linalg,
    q: &'l Queue,
    axis: usize,
    transform: Transform,
    /// Of the whole array.
    shape: [usize; 3],
}

impl Line<'_> {
    fn len(self) -> usize {
        self.shape[self.axis]
    }

    /// The same along so many elements.
    fn of_len(mut self, n: usize, transform: Transform) -> Self {
        self.shape[self.axis] = n;
        Line { transform, ..self }
    }

    fn sign<T: Real>(self) -> T {
        if self.transform == Transform::Forward {
            T::ONE
        } else {
            <T as CastFrom<f64>>::cast_from(-1.0)
        }
    }

    fn transform<T: Real>(
        self,
        x: impl AsPart<[T; 2], 3>,
        mut y: impl AsPartMut<[T; 2], 3>,
    ) -> Result<()> {
        let (x, mut y) = (x.slice_all(), y.slice_all_mut());
        match self.len().is_power_of_two() {
            true => self.passes(&x, &mut y),
            false => self.by_convolution(&x, &mut y),
        }
    }

    /// A power of two.
    fn passes<T: Real>(
        self,
        x: &Slice<'_, [T; 2], 3>,
        y: &mut SliceMut<'_, [T; 2], 3>,
    ) -> Result<()> {
        let radices = radices(self.len());
        let roots = self.linalg.tables.roots::<T>(&self.q.runtime(), self.len())?;
        let between = match &radices[..] {
            [_] => None,
            _ => Some(scratch(self.linalg, self.shape)?),
        };
        let mut before = 1;
        for (step, radix) in radices.iter().enumerate() {
            let pass = Pass { line: self, roots: &roots, radix: *radix, before };
            let ends_in_y = (radices.len() - 1 - step).is_multiple_of(2);
            match (step, ends_in_y, &between) {
                (0, false, Some(between)) => pass.launch(x, between)?,
                (0, ..) | (_, _, None) => pass.launch(x, &mut *y)?,
                (_, true, Some(between)) => pass.launch(between, &mut *y)?,
                (_, false, Some(between)) => pass.launch(&*y, between)?,
            }
            before *= radix;
        }
        Ok(())
    }

    fn by_convolution<T: Real>(
        self,
        x: &Slice<'_, [T; 2], 3>,
        y: &mut SliceMut<'_, [T; 2], 3>,
    ) -> Result<()> {
        let (n, q, axis) = (self.len(), self.q, self.axis);
        let Chirps { chirp, transformed } = self.chirps::<T>()?;
        let padded = self.of_len((2 * n - 1).next_power_of_two(), Transform::Forward);
        let wave = scratch::<T>(self.linalg, padded.shape)?;
        let other = scratch::<T>(self.linalg, padded.shape)?;
        q.run(padded.shape, chirped(axis, self.sign::<T>(), &chirp, x, &wave))?;
        padded.transform(&wave, &other)?;
        let by = &transformed[usize::from(self.transform == Transform::Inverse)];
        q.run(padded.shape, convolved(axis, by, &other))?;
        padded.of_len(padded.len(), Transform::Inverse).transform(&other, &wave)?;
        let factor = <T as CastFrom<f64>>::cast_from(1.0 / padded.len() as f64);
        q.run(self.shape, unchirped(axis, self.sign::<T>(), factor, &chirp, &wave, y))?;
        Ok(())
    }

    fn chirps<T: Real>(self) -> Result<Chirps<T>> {
        let (n, rt) = (self.len(), self.q.runtime());
        self.linalg.tables.chirps(n, || {
            let squared = |k: usize| (k as u128 * k as u128 % (2 * n as u128)) as usize;
            let chirp: Vec<[T; 2]> = (0..n).map(|k| root(squared(k), 2 * n)).collect();
            // A queue of its own: the other one may be recorded.
            let q = rt.queue_on(&self.q.device())?;
            let transformed = [-1.0, 1.0]
                .map(<T as CastFrom<f64>>::cast_from)
                .map(|sign| self.waves(&q, &chirp, sign));
            let [forward, inverse] = transformed;
            let chirp = rt.buffer_from(&chirp)?.into_shared();
            Ok(Chirps { chirp, transformed: [forward?, inverse?] })
        })
    }

    /// The transform of the chirps on both sides of 0.
    fn waves<T: Real>(self, q: &Queue, chirp: &[[T; 2]], sign: T) -> Result<Shared<[T; 2], 3>> {
        let n = chirp.len();
        let m = (2 * n - 1).next_power_of_two();
        let mut wave = vec![[T::ZERO; 2]; m];
        for (k, [re, im]) in chirp.iter().copied().enumerate() {
            let value = [re, times([sign, T::ZERO], [im, T::ZERO])[0]];
            wave[k] = value;
            wave[(m - k) % m] = value;
        }
        let wave = q.runtime().buffer_from((&wave, [1, 1, m]))?;
        let transformed = scratch(self.linalg, [1, 1, m])?;
        let shape = [1, 1, m];
        let line = Line { q, axis: 2, transform: Transform::Forward, shape, ..self };
        line.transform(&wave, &transformed)?;
        Ok(transformed)
    }
}

/// The passes of a power of two.
fn radices(n: usize) -> Vec<usize> {
    let bits = n.trailing_zeros() as usize;
    let mut all = vec![16; bits / 4];
    all.extend([&[][..], &[2], &[4], &[4, 2]][bits % 4]);
    all
}

/// One pass.
#[derive(Clone, Copy)]
struct Pass<'p, T: DeviceType> {
    line: Line<'p>,
    roots: &'p Roots<T>,
    radix: usize,
    before: usize,
}

impl<T: Real> Pass<'_, T> {
    fn launch(self, x: impl AsPart<[T; 2], 3>, y: impl AsPartMut<[T; 2], 3>) -> Result<()> {
        match (self.radix, self.line.axis) {
            (16, 0) => self.of::<16, 0>(x, y),
            (16, 1) => self.of::<16, 1>(x, y),
            (16, _) => self.of::<16, 2>(x, y),
            (4, 0) => self.of::<4, 0>(x, y),
            (4, 1) => self.of::<4, 1>(x, y),
            (4, _) => self.of::<4, 2>(x, y),
            (_, 0) => self.of::<2, 0>(x, y),
            (_, 1) => self.of::<2, 1>(x, y),
            (_, _) => self.of::<2, 2>(x, y),
        }
    }

    fn of<const R: usize, const AXIS: usize>(
        self,
        x: impl AsPart<[T; 2], 3>,
        y: impl AsPartMut<[T; 2], 3>,
    ) -> Result<()> {
        let Pass { line, roots: Roots { fine, coarse }, before, .. } = self;
        let sixteenths = Sixteenths { at: std::array::from_fn(|k| root::<T>(k, 16)) };
        let apart = line.len() / R;
        let (mask, bits) = (before - 1, before.trailing_zeros() as usize);
        let (sign, stride) = (line.sign::<T>(), apart / before);
        let mut items = line.shape;
        items[AXIS] = apart;
        let group = group_of(items);
        let all: [usize; 3] = std::array::from_fn(|dim| items[dim].next_multiple_of(group[dim]));
        let items = Items::from(all).groups(group);
        // SAFETY: a pass only permutes its elements' places: of each line, an item writes `R`
        // places that no other item has, and `y` is not read.
        let y = unsafe { RacyMemory::new(y) };
        line.q.submit(|cg| {
            let call =
                pass::<T, R, AXIS>(sign, apart, mask, bits, stride, sixteenths, fine, coarse, x, y);
            cg.label("fft (own)").run(items, call);
            Ok(())
        })?;
        Ok(())
    }
}

/// Items of a group: as many columns as there are up to 256, and then rows and planes.
fn group_of(items: [usize; 3]) -> [usize; 3] {
    let mut left = ITEMS;
    let mut take = |n: usize| {
        let some = n.next_power_of_two().min(left);
        left /= some;
        some
    };
    let [planes, rows, columns] = items;
    let (columns, rows) = (take(columns), take(rows));
    [take(planes), rows, columns]
}
