//! Tiles: values that a whole group holds together. Here they are arrays, and what they do are
//! loops in the order that `docs/semantics.md` fixes: the results' bits are those of every device.

use super::combine::{Combine, tree};
use super::group::Group;
use super::shared::Shared;
use super::slot::{Slot, Slotted, zeroed};
use super::{In, OutTile, Spot, View};
use folio_kernel::source::Entry;
use half::{bf16, f16};

/// A matrix of `R` rows and `C` columns that a work-group holds together: each item has a part of
/// it, in registers where the device has enough.
///
/// What is done with a tile is done by all items of the group, so it is written between phases. The
/// group is one of 8 x 8, 16 x 16 or 32 x 32 items, and `R` and `C` are 1, or multiples of 8, 16 or
/// 32.
#[derive(Clone, Debug)]
pub struct Tile<T, const R: usize, const C: usize> {
    /// Row by row.
    elements: Box<[T]>,
}

#[diagnostic::do_not_recommend]
// SAFETY: the extents and the elements are the type's own.
unsafe impl<T: Shared, const R: usize, const C: usize> Slotted for Tile<T, R, C> {
    fn entry() -> Entry {
        const { assert!(R > 0 && C > 0, "a tile has rows and columns") };
        const { assert!(R <= 1024 && C <= 1024, "a tile has 1,024 rows and columns at most") };
        Entry::Tile(T::describe, R as u32, C as u32)
    }
}

impl<T> Slot<T> {
    /// The slot has this value's type.
    #[inline(always)]
    pub fn of(self, value: T) -> T {
        value
    }
}

impl<T: Shared, const R: usize, const C: usize> Tile<T, R, C> {
    /// All elements are zero.
    #[inline(always)]
    pub fn zero() -> Self {
        Self::fill(zeroed())
    }

    /// All elements have this value.
    #[inline(always)]
    pub fn fill(value: T) -> Self {
        Tile { elements: vec![value; R * C].into_boxed_slice() }
    }

    #[inline(always)]
    fn rows(&self) -> impl Iterator<Item = &[T]> {
        self.elements.chunks_exact(C)
    }

    /// What a function gives for each element.
    #[inline(always)]
    pub fn map<U: Shared>(&self, f: impl Fn(T) -> U) -> Tile<U, R, C> {
        Tile { elements: self.elements.iter().map(|x| f(*x)).collect() }
    }

    /// What a function gives for each element, of its row and column within the tile and of it.
    #[inline(always)]
    pub fn map_indexed<U: Shared>(&self, f: impl Fn((usize, usize), T) -> U) -> Tile<U, R, C> {
        let row = |(r, row): (usize, &[T])| {
            let f = &f;
            row.iter().enumerate().map(move |(c, x)| f((r, c), *x)).collect::<Vec<_>>()
        };
        Tile { elements: self.rows().enumerate().flat_map(row).collect() }
    }

    /// What a function gives for each element and that of another tile. Of a tile of one row or one
    /// column it is the same for all rows or columns.
    #[inline(always)]
    pub fn zip<S: Shared, U: Shared, const P: usize, const Q: usize>(
        &self,
        other: &Tile<S, P, Q>,
        f: impl Fn(T, S) -> U,
    ) -> Tile<U, R, C> {
        const {
            assert!(
                (P == R || P == 1) && (Q == C || Q == 1),
                "the other tile has as many rows and columns, or one"
            );
        };
        let mut elements = Vec::with_capacity(R * C);
        for (r, row) in self.rows().enumerate() {
            let others = &other.elements[if P == 1 { 0 } else { r * Q }..][..Q];
            if Q == C {
                elements.extend(row.iter().zip(others).map(|(x, y)| f(*x, *y)));
            } else {
                elements.extend(row.iter().map(|x| f(*x, others[0])));
            }
        }
        Tile { elements: elements.into_boxed_slice() }
    }

    /// Each row as one value (semantics 8.1).
    #[inline(always)]
    pub fn reduce_rows<O: Combine<T>>(&self) -> Tile<T, R, 1> {
        let mut elements = self.elements.clone();
        Tile { elements: elements.chunks_exact_mut(C).map(tree::<O, T>).collect() }
    }

    /// Each column as one value (semantics 8.1).
    #[inline(always)]
    pub fn reduce_columns<O: Combine<T>>(&self) -> Tile<T, 1, C> {
        let mut elements = self.elements.to_vec();
        let (mut rows, mut half) = (R, R.next_power_of_two());
        while half > 1 {
            half /= 2;
            let (low, high) = elements.split_at_mut(half.min(rows) * C);
            for (a, b) in low.iter_mut().zip(&high[..rows.saturating_sub(half) * C]) {
                *a = O::combine(*a, *b);
            }
            rows = rows.min(half);
        }
        elements.truncate(C);
        Tile { elements: elements.into_boxed_slice() }
    }

    /// Adds the product of two matrices. Each element takes the products of its row and column one
    /// by one, in order: floats by [`mul_add`](f32::mul_add), and integers wrap.
    #[inline(always)]
    pub fn add_product<S: Factor<T>, const K: usize>(
        &mut self,
        a: &Tile<S, R, K>,
        b: &Tile<S, K, C>,
    ) {
        const { assert!(K.is_multiple_of(8), "a product is over a multiple of 8 elements") };
        if R.is_multiple_of(8) && C.is_multiple_of(16) {
            self.add_blocks::<S, K, 8, 16>(a, b);
        } else if R.is_multiple_of(8) && C.is_multiple_of(8) {
            self.add_blocks::<S, K, 8, 8>(a, b);
        } else if C.is_multiple_of(8) {
            self.add_blocks::<S, K, 1, 8>(a, b);
        } else {
            self.add_blocks::<S, K, 1, 1>(a, b);
        }
    }

    /// The product in blocks of `M` rows and `N` columns, whose sums stay in registers.
    #[inline(always)]
    fn add_blocks<S: Factor<T>, const K: usize, const M: usize, const N: usize>(
        &mut self,
        a: &Tile<S, R, K>,
        b: &Tile<S, K, C>,
    ) {
        for r in (0..R).step_by(M) {
            for c in (0..C).step_by(N) {
                let mut sums = [[zeroed::<T>(); N]; M];
                for (m, sums) in sums.iter_mut().enumerate() {
                    sums.copy_from_slice(&self.elements[(r + m) * C + c..][..N]);
                }
                for k in 0..K {
                    let row = &b.elements[k * C + c..][..N];
                    for (m, sums) in sums.iter_mut().enumerate() {
                        let x = a.elements[(r + m) * K + k];
                        for (sum, y) in sums.iter_mut().zip(row) {
                            *sum = S::add_product(x, *y, *sum);
                        }
                    }
                }
                for (m, sums) in sums.iter().enumerate() {
                    self.elements[(r + m) * C + c..][..N].copy_from_slice(sums);
                }
            }
        }
    }
}

/// Elements of the depth of a relaxed product that are added at a time.
const DEEP: usize = 32;

/// The part of a matrix from an index on, to the right and below: what a relaxed product takes.
#[derive(Clone, Copy, Debug)]
pub struct Corner<'m, T, const D: usize> {
    view: View<'m, In<T, D>, T, D>,
    /// In the view.
    at: [usize; D],
    /// Rows are the view's columns.
    turned: bool,
}

impl<T: Shared, const D: usize> Corner<'_, T, D> {
    /// Rows, or columns, that there are.
    fn extent(&self, back: usize) -> usize {
        let back = if self.turned { 3 - back } else { back };
        self.view.shape()[D - back].saturating_sub(self.at[D - back])
    }

    /// A tile of it that begins so many rows and columns further on.
    #[inline(always)]
    fn tile<const R: usize, const C: usize>(&self, rows: usize, columns: usize) -> Tile<T, R, C> {
        let mut at = self.at;
        if self.turned {
            at.swap(D - 2, D - 1);
        }
        at[D - 2] = at[D - 2].wrapping_add(rows);
        at[D - 1] = at[D - 1].wrapping_add(columns);
        match self.turned {
            false => load(self.view, at),
            true => load_transposed(self.view, at),
        }
    }
}

/// The part of a view that begins at an index.
#[inline(always)]
pub fn corner<'m, T: Shared, const D: usize>(
    view: View<'m, In<T, D>, T, D>,
    at: impl Spot<D>,
) -> Corner<'m, T, D> {
    const { assert!(D > 1, "products are of matrices: `In<T, 2>`, or `In<T, 3>` of several of them") };
    Corner { view, at: at.spot(), turned: false }
}

/// The part of a view's transpose that begins at an index of that.
#[inline(always)]
pub fn corner_transposed<'m, T: Shared, const D: usize>(
    view: View<'m, In<T, D>, T, D>,
    at: impl Spot<D>,
) -> Corner<'m, T, D> {
    let mut corner = corner(view, at);
    corner.at.swap(D - 2, D - 1);
    corner.turned = true;
    corner
}

impl<const R: usize, const C: usize> Tile<f32, R, C> {
    /// Adds the product of parts of two matrices: of so many columns of `a` and rows of `b`, or as
    /// many as both have; nothing if one of them begins outside of its matrix. Devices with matrix
    /// units compute it by these, in another order and with other roundings (semantics 5.11); all
    /// others as [`add_product`](Self::add_product) does.
    #[inline(always)]
    pub fn add_relaxed_product<S: Relaxed, const D: usize, const E: usize>(
        &mut self,
        a: Corner<'_, S, D>,
        b: Corner<'_, S, E>,
        depth: usize,
    ) {
        let has_some = a.extent(2) > 0 && b.extent(1) > 0;
        let depth = if has_some { depth.min(a.extent(1)).min(b.extent(2)) } else { 0 };
        for first in (0..depth).step_by(DEEP) {
            let mut x: Tile<S, R, DEEP> = a.tile(0, first);
            let mut y: Tile<S, DEEP, C> = b.tile(first, 0);
            if let Some(left) = Some(depth - first).filter(|left| *left < DEEP) {
                x.elements.chunks_exact_mut(DEEP).for_each(|row| row[left..].fill(zeroed()));
                y.elements[left * C..].fill(zeroed());
            }
            self.add_product(&x, &y);
        }
    }
}

/// Elements of which matrix units multiply: `f16` and `bf16` as they are, and `f32` with 11 bits of
/// each (TF32).
///
/// # Safety
/// Devices compute relaxed products of it as the semantics allow.
#[diagnostic::on_unimplemented(
    message = "there are no relaxed products of `{Self}`",
    note = "there are of `f16`, `bf16` and `f32`"
)]
pub unsafe trait Relaxed: Factor<f32> {}

// SAFETY: matrix units have these, or the product is one of `Factor`.
unsafe impl Relaxed for f16 {}
// SAFETY: as above.
unsafe impl Relaxed for bf16 {}
// SAFETY: as above.
unsafe impl Relaxed for f32 {}

/// Elements whose products are added up as `S`: numbers of that type, `f16` and `bf16` as `f32`,
/// `i8` and `u8` as `i32`.
///
/// # Safety
/// An implementation computes what devices compute: a fused operation of floats, and else a product
/// and a sum that wrap.
#[diagnostic::on_unimplemented(
    message = "products of `{Self}` are not added up as `{S}`",
    note = "`f32` and `f64` are, and integers of 32 and 64 bits; `f16` and `bf16` as `f32`, `i8` and `u8` as `i32`"
)]
pub unsafe trait Factor<S>: Shared {
    /// `sum + a * b`
    fn add_product(a: Self, b: Self, sum: S) -> S;
}

macro_rules! factors {
    ($($of:ident $sum:ident |$a:ident, $b:ident, $s:ident| $more:expr;)*) => {$(
        // SAFETY: the same in Rust; the kernel suite compares both.
        unsafe impl Factor<$sum> for $of {
            #[inline(always)]
            fn add_product($a: $of, $b: $of, $s: $sum) -> $sum {
                $more
            }
        }
    )*};
}
factors! {
    f32 f32 |a, b, sum| a.mul_add(b, sum);
    f64 f64 |a, b, sum| a.mul_add(b, sum);
    f16 f32 |a, b, sum| a.to_f32().mul_add(b.to_f32(), sum);
    bf16 f32 |a, b, sum| a.to_f32().mul_add(b.to_f32(), sum);
    i32 i32 |a, b, sum| sum.wrapping_add(a.wrapping_mul(b));
    u32 u32 |a, b, sum| sum.wrapping_add(a.wrapping_mul(b));
    i64 i64 |a, b, sum| sum.wrapping_add(a.wrapping_mul(b));
    u64 u64 |a, b, sum| sum.wrapping_add(a.wrapping_mul(b));
    i8 i32 |a, b, sum| sum.wrapping_add(i32::from(a) * i32::from(b));
    u8 i32 |a, b, sum| sum.wrapping_add(i32::from(a) * i32::from(b));
}

/// The tile of a view that begins at an index. Elements outside of the view are zero.
#[inline(always)]
#[track_caller]
pub fn load<T: Shared, const R: usize, const C: usize, const D: usize>(
    view: View<'_, In<T, D>, T, D>,
    at: impl Spot<D>,
) -> Tile<T, R, C> {
    const { assert!(D > 1, "tiles are of matrices: `In<T, 2>`, or `In<T, 3>` of several of them") };
    let (mut tile, at) = (Tile::zero(), at.spot());
    for (r, row) in tile.elements.chunks_exact_mut(C).enumerate() {
        let mut first = at;
        first[D - 2] = first[D - 2].wrapping_add(r);
        view.copy_row(first, row);
    }
    tile
}

/// The tile of a view's transpose that begins at an index of that.
#[inline(always)]
#[track_caller]
pub fn load_transposed<T: Shared, const R: usize, const C: usize, const D: usize>(
    view: View<'_, In<T, D>, T, D>,
    at: impl Spot<D>,
) -> Tile<T, R, C> {
    let mut at = at.spot();
    at.swap(D - 2, D - 1);
    let turned = load::<T, C, R, D>(view, at);
    let mut tile = Tile::zero();
    for (c, row) in turned.rows().enumerate() {
        for (r, value) in row.iter().enumerate() {
            tile.elements[r * C + c] = *value;
        }
    }
    tile
}

impl<T: Shared, const R: usize, const C: usize, const D: usize>
    View<'_, OutTile<T, R, C, D>, T, D>
{
    /// Writes the group's tile. The part of it that is outside of the view is left out.
    #[inline(always)]
    #[track_caller]
    pub fn put(self, group: Group<'_, D>, tile: Tile<T, R, C>) {
        const { assert!(D > 1, "tiles are of matrices: `OutTile<T, R, C>`") };
        let mut at = group.at();
        at[D - 2] = at[D - 2].wrapping_mul(R);
        at[D - 1] = at[D - 1].wrapping_mul(C);
        for (r, row) in tile.rows().enumerate() {
            let mut first = at;
            first[D - 2] = first[D - 2].wrapping_add(r);
            // SAFETY: the group's tile is its own: groups have different indices, and this is the
            // only access of the view.
            unsafe { self.write_row(first, row) };
        }
    }
}
