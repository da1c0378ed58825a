//! Tiles: on each device, as functions on the host, and interpreted; and beside plain loops.

use super::agree::*;
use super::tile_code::*;
use crate::engine::rig::*;
use folio::prelude::*;
use folio_core::error::LowerError;
use folio_core::ir::Scalar;
use folio_core::ir::device::Kernel;
use folio_interp::interp::Arg;

/// The arguments, and the local arrays that the kernel's tiles take.
fn with_staging<K: Kernel>(mut args: Vec<Arg>) -> Result<Vec<Arg>, Stop> {
    let code = K::code().as_ref().map_err(|error| Stop::Failed(error.to_string()))?;
    args.resize_with(code.ir.params.len(), || Arg::Local);
    Ok(args)
}

fn groups([rows, columns]: [usize; 2], [r, c]: [usize; 2]) -> [usize; 2] {
    [rows.div_ceil(r) * 8, columns.div_ceil(c) * 8]
}

/// Sums of products in order, as `mul_add` has them.
fn product(
    a: &dyn Fn(usize, usize) -> f32,
    b: &dyn Fn(usize, usize) -> f32,
    k: usize,
    first: f32,
    (r, c): (usize, usize),
) -> f32 {
    (0..k).fold(first, |sum, k| a(r, k).mul_add(b(k, c), sum))
}

pub(super) fn products_of_tiles(rig: &Rig) -> Outcome {
    for [n, k, m] in [[16, 8, 24], [5, 3, 7], [37, 29, 50], [16, 1, 1], [33, 0, 25]] {
        let (a, b) = (data([n, k], wave), data([k, m], |at| wave(at + 7)));
        let c = data([n, m], |_| 9f32);
        let args = with_staging::<tile_products>(vec![a.arg(), b.arg(), c.arg()])?;
        let items = groups([n, m], [16, 24]);
        fine(agree_in::<tile_products>(rig, (&items, Some(&[8, 8])), args, |rt, q| {
            let (a, b, mut c) = (a.buffer(rt)?, b.buffer(rt)?, c.buffer(rt)?);
            q.run(items, tile_products(&a, &b, &mut c))?;
            Ok(vec![contents(&c)?])
        })?)?;
        let mut made = c.buffer(&rig.rt)?;
        rig.on(0)?
            .run(items, tile_products(&a.buffer(&rig.rt)?, &b.buffer(&rig.rt)?, &mut made))?;
        let (of_a, of_b) = (|r, j| a.values[r * k + j], |j: usize, c| b.values[j * m + c]);
        let wanted = (0..n * m).map(|at| product(&of_a, &of_b, k, 0.0, (at / m, at % m)).max(-4.0));
        ensure!(made.to_vec()? == wanted.collect::<Vec<_>>(), "the product of {n} x {k} x {m}");
    }
    Ok(())
}

pub(super) fn products_of_transposed_tiles(rig: &Rig) -> Outcome {
    for [n, k, m] in [[16, 16, 16], [21, 35, 9]] {
        let (a, b) = (data([2, k, n], wave), data([2, m, k], |at| wave(at + 7)));
        let c = data([2, n, m], |_| 0f32);
        let args = with_staging::<turned_products>(vec![a.arg(), b.arg(), c.arg()])?;
        let [rows, columns] = groups([n, m], [16, 16]);
        let items = [2, rows, columns];
        fine(agree_in::<turned_products>(rig, (&items, Some(&[1, 8, 8])), args, |rt, q| {
            let (a, b, mut c) = (a.buffer(rt)?, b.buffer(rt)?, c.buffer(rt)?);
            q.run(items, turned_products(&a, &b, &mut c))?;
            Ok(vec![contents(&c)?])
        })?)?;
        let mut made = c.buffer(&rig.rt)?;
        let call = turned_products(&a.buffer(&rig.rt)?, &b.buffer(&rig.rt)?, &mut made);
        rig.on(0)?.run(items, call)?;
        let wanted = (0..2 * n * m).map(|at| {
            let (z, at) = (at / (n * m), at % (n * m));
            let of_a = |r, j| a.values[(z * k + j) * n + r];
            let of_b = |j, c| b.values[(z * m + c) * k + j];
            product(&of_a, &of_b, k, 0.25, (at / m, at % m))
        });
        ensure!(made.to_vec()? == wanted.collect::<Vec<_>>(), "the product of {n} x {k} x {m}");
    }
    Ok(())
}

pub(super) fn rows_of_tiles_are_reduced(rig: &Rig) -> Outcome {
    for [n, k, m] in [[16, 16, 16], [19, 11, 40]] {
        let (x, b) = (data([n, k], wave), data([k, m], |at| wave(at + 3)));
        let (most, c) = (data([n, 1], |_| 0f32), data([n, m], |_| 0f32));
        let args = vec![x.arg(), b.arg(), scalar(1.5f32), most.arg(), c.arg()];
        let args = with_staging::<soft_products>(args)?;
        let items = groups([n, m], [16, 16]);
        fine(agree_in::<soft_products>(rig, (&items, Some(&[8, 8])), args, |rt, q| {
            let (x, b) = (x.buffer(rt)?, b.buffer(rt)?);
            let (mut most, mut c) = (most.buffer(rt)?, c.buffer(rt)?);
            q.run(items, soft_products(&x, &b, 1.5, &mut most, &mut c))?;
            Ok(vec![contents(&most)?, contents(&c)?])
        })?)?;
    }
    Ok(())
}

pub(super) fn tiles_are_copied_and_replaced(rig: &Rig) -> Outcome {
    let number = |k: usize| (k as i32).wrapping_mul(0x9e37_79b1_u32 as i32) >> 7;
    let x = data([32, 29], number);
    let (y, z) = (data([32, 29], |_| 0i32), data([2, 29], |_| 0i32));
    let args = with_staging::<kept_tiles>(vec![x.arg(), y.arg(), z.arg()])?;
    let items = groups([32, 29], [16, 16]);
    fine(agree_in::<kept_tiles>(rig, (&items, Some(&[8, 8])), args, |rt, q| {
        let (x, mut y, mut z) = (x.buffer(rt)?, y.buffer(rt)?, z.buffer(rt)?);
        q.run(items, kept_tiles(&x, &mut y, &mut z))?;
        Ok(vec![contents(&y)?, contents(&z)?])
    })?)
}

pub(super) fn tiles_begin_before_their_views(rig: &Rig) -> Outcome {
    const SIDE: usize = 29;
    let number = |k: usize| (k as i32).wrapping_mul(0x9e37_79b1_u32 as i32) >> 9;
    let (x, y) = (data([SIDE; 2], number), data([SIDE; 2], |_| 0i32));
    let args = with_staging::<edge_tiles>(vec![Arg::Local, x.arg(), y.arg()])?;
    let items = groups([SIDE; 2], [16, 16]);
    fine(agree_in::<edge_tiles>(rig, (&items, Some(&[8, 8])), args, |rt, q| {
        let (x, mut y) = (x.buffer(rt)?, y.buffer(rt)?);
        q.run(items, edge_tiles(&x, &mut y))?;
        Ok(vec![contents(&y)?])
    })?)?;
    let mut made = y.buffer(&rig.rt)?;
    rig.on(0)?.run(items, edge_tiles(&x.buffer(&rig.rt)?, &mut made))?;
    // Of the tile that begins three rows and five columns before its group's.
    let at = |r: usize, c: usize| match (r.checked_sub(3), c.checked_sub(5)) {
        (Some(r), Some(c)) if r < SIDE && c < SIDE => x.values[r * SIDE + c],
        _ => 0,
    };
    let sum = |of: &dyn Fn(usize) -> i32| (0..16).map(of).fold(0, i32::wrapping_add);
    let wanted = (0..SIDE * SIDE).map(|k| {
        let (r, c) = (k / SIDE, k % SIDE);
        let (row, column) =
            (sum(&|c0| at(r, c / 16 * 16 + c0)), sum(&|r0| at(r / 16 * 16 + r0, c)));
        // 16 times 1, 2, 3 and 4.
        [row, column, 8, 21, 160]
            .into_iter()
            .fold(at(r, c), |all, next| all.wrapping_mul(31).wrapping_add(next))
    });
    ensure!(made.to_vec()? == wanted.collect::<Vec<_>>(), "tiles before their view");
    Ok(())
}

pub(super) fn tiles_of_narrow_numbers(rig: &Rig) -> Outcome {
    let [n, k, m] = [20, 21, 17];
    let narrow = |at| bf16::from_f32(wave(at));
    let (a, b) = (data([n, k], narrow), data([k, m], |at| narrow(at + 7)));
    let byte = |at: usize| (at.wrapping_mul(0x9e37_79b1) >> 9) as i8;
    let (p, q) = (data([n, k], byte), data([k, m], |at| byte(at + 5)));
    let (c, r) = (data([n, m], |_| 0f32), data([n, m], |_| 0i32));
    let args = vec![a.arg(), b.arg(), p.arg(), q.arg(), c.arg(), r.arg()];
    let args = with_staging::<narrow_tiles>(args)?;
    let items = groups([n, m], [16, 16]);
    fine(agree_in::<narrow_tiles>(rig, (&items, Some(&[8, 8])), args, |rt, queue| {
        let (a, b, p, q) = (a.buffer(rt)?, b.buffer(rt)?, p.buffer(rt)?, q.buffer(rt)?);
        let (mut c, mut r) = (c.buffer(rt)?, r.buffer(rt)?);
        queue.run(items, narrow_tiles(&a, &b, &p, &q, &mut c, &mut r))?;
        Ok(vec![contents(&c)?, contents(&r)?])
    })?)
}

/// A factor of a relaxed product: its elements as they are computed with, in a matrix of `rows` x
/// `columns` of which `z` are beside each other.
struct Part<T> {
    values: Vec<T>,
    extent: [usize; 3],
}

impl<T: DeviceType + Copy> Part<T> {
    fn new(extent: [usize; 3], turned: bool, of: impl Fn(f32) -> T, seed: usize) -> Part<T> {
        let [z, rows, columns] = extent;
        let extent = if turned { [z, columns, rows] } else { extent };
        let values = (0..z * rows * columns).map(|at| of(wave(at + seed))).collect();
        Part { values, extent }
    }

    fn at(&self, turned: bool, [z, r, c]: [usize; 3]) -> T {
        let [_, rows, columns] = self.extent;
        let (r, c) = if turned { (c, r) } else { (r, c) };
        self.values[(z * rows + r) * columns + c]
    }
}

/// A relaxed product: matrices, extents, what is transposed, and where its depth begins and how far
/// it is.
struct Relaxed {
    matrices: usize,
    extents: [usize; 3],
    turned: [bool; 2],
    first: usize,
    depth: usize,
}

impl Relaxed {
    /// What there is of the depth.
    fn depth(&self) -> std::ops::Range<usize> {
        let end = self.extents[1].min(self.first.saturating_add(self.depth));
        self.first.min(end)..end
    }

    /// Each element of a result is within the limit of semantics 5.11, and has the bits of loops
    /// where the device has no units for it.
    fn check<T: DeviceType + Copy>(
        &self,
        (a, b): (&Part<T>, &Part<T>),
        wide: impl Fn(T) -> f32,
        (found, by_units, what): (&[f32], bool, &str),
    ) -> Outcome {
        let [n, _, m] = self.extents;
        let rounded = if size_of::<T>() == 4 { 2f64.powi(-10) } else { 0.0 };
        let limit = f64::from(self.depth().len() as u32 + 1) * 2f64.powi(-22) + rounded;
        for (at, found) in found.iter().enumerate() {
            let [z, r, c] = [at / (n * m), at / m % n, at % m];
            let (mut sum, mut exact) = (BEGIN, f64::from(BEGIN));
            let mut size = exact.abs();
            for k in self.depth() {
                let x = wide(a.at(self.turned[0], [z, r, k]));
                let y = wide(b.at(self.turned[1], [z, k, c]));
                sum = x.mul_add(y, sum);
                exact += f64::from(x) * f64::from(y);
                size += (f64::from(x) * f64::from(y)).abs();
            }
            let error = (f64::from(*found) - exact).abs();
            let extents = self.extents;
            let is_near = error <= limit * size;
            ensure!(is_near, "{what}, {extents:?} at {z}, {r}, {c}: {found}, {exact}");
            ensure!(
                by_units || sum == *found,
                "{what}, {extents:?} at {z}, {r}, {c}: {found}, {sum}"
            );
        }
        Ok(())
    }
}

/// Launches a kernel of two dimensions for each product, and compares.
macro_rules! relaxed {
    ($rig:expr, $kernel:ident, $element:ident, $of:expr, $wide:expr, $turned:expr, $tile:expr, $side:expr) => {
        for (extents, first, depth) in RELAXED {
            let of = Relaxed { matrices: 1, extents, turned: $turned, first, depth };
            let [n, k, m] = extents;
            let a = Part::new([1, n, k], of.turned[0], $of, 1);
            let b = Part::new([1, k, m], of.turned[1], $of, 8);
            let items = [n.div_ceil($tile[0]) * $side, m.div_ceil($tile[1]) * $side];
            for at in 0..$rig.rt.devices().len() {
                let rt = &$rig.rt;
                let x = rt.buffer_from((&a.values, [a.extent[1], a.extent[2]]))?;
                let y = rt.buffer_from((&b.values, [b.extent[1], b.extent[2]]))?;
                let mut c = rt.buffer::<f32, 2>([n, m])?;
                $rig.on(at)?.run(items, $kernel(first, depth, &x, &y, &mut c))?;
                let by_units = rt.devices()[at].tiles().contains(&Scalar::$element);
                let found = c.to_vec()?;
                of.check((&a, &b), $wide, (&found, by_units, stringify!($kernel)))?;
            }
        }
    };
}

/// Extents of products, where their depth begins, and how far it is.
const RELAXED: [([usize; 3], usize, usize); 4] = [
    ([17, 29, 20], 0, usize::MAX),
    ([20, 45, 17], 3, 41),
    // More steps than are in local memory at a time, of rows that begin at 16 bytes.
    ([16, 112, 24], 8, 104),
    ([9, 5, 25], 5, 3),
];

pub(super) fn relaxed_products_are_near(rig: &Rig) -> Outcome {
    let narrow = bf16::from_f32;
    relaxed!(rig, relaxed_products, Bf16, narrow, bf16::to_f32, [false; 2], [16, 32], 8);
    Ok(())
}

pub(super) fn relaxed_products_of_odd_tiles(rig: &Rig) -> Outcome {
    relaxed!(rig, relaxed_by_loops, F16, f16::from_f32, f16::to_f32, [false; 2], [8, 24], 8);
    Ok(())
}

pub(super) fn relaxed_products_across_memory(rig: &Rig) -> Outcome {
    let same = |x: f32| x;
    relaxed!(rig, relaxed_across, F32, same, same, [true, false], [16, 32], 8);
    Ok(())
}

pub(super) fn relaxed_products_along_memory(rig: &Rig) -> Outcome {
    let same = |x: f32| x;
    relaxed!(rig, relaxed_along, F32, same, same, [false, true], [32, 16], 8);
    Ok(())
}

pub(super) fn relaxed_products_of_transposed_matrices(rig: &Rig) -> Outcome {
    for (extents, first, depth) in RELAXED {
        let of = Relaxed { matrices: 2, extents, turned: [true; 2], first, depth };
        let [n, k, m] = extents;
        let a = Part::new([of.matrices, n, k], true, f16::from_f32, 1);
        let b = Part::new([of.matrices, k, m], true, f16::from_f32, 8);
        let items = [of.matrices, n.div_ceil(32) * 8, m.div_ceil(16) * 8];
        for at in 0..rig.rt.devices().len() {
            let rt = &rig.rt;
            let x = rt.buffer_from((&a.values, a.extent))?;
            let y = rt.buffer_from((&b.values, b.extent))?;
            let mut c = rt.buffer::<f32, 3>([of.matrices, n, m])?;
            rig.on(at)?.run(items, relaxed_of_turned(first, depth, &x, &y, &mut c))?;
            let by_units = rt.devices()[at].tiles().contains(&Scalar::F16);
            let found = c.to_vec()?;
            of.check((&a, &b), f16::to_f32, (&found, by_units, "relaxed_of_turned"))?;
        }
    }
    Ok(())
}

/// Nothing is added if a corner begins outside of its matrix, also before it.
pub(super) fn relaxed_products_begin_in_their_matrices(rig: &Rig) -> Outcome {
    let before = usize::MAX - 3;
    let places = [(before, 0), (0, before), (16, 0), (0, 32), (before, before)];
    for at in 0..rig.rt.devices().len() {
        let ones = |of: [usize; 2]| rig.rt.buffer_from((&vec![f16::ONE; of[0] * of[1]], of));
        let (x, y) = (ones([16, 16])?, ones([16, 32])?);
        let run = |(row, column)| -> Result<Vec<f32>, Stop> {
            let mut c = rig.rt.buffer::<f32, 2>([16, 32])?;
            rig.on(at)?.run([8, 8], relaxed_from(row, column, &x, &y, &mut c))?;
            Ok(c.to_vec()?)
        };
        for place in places {
            ensure_eq!(run(place)?, vec![BEGIN; 16 * 32], "{place:?}");
        }
        ensure_eq!(run((0, 0))?, vec![BEGIN + 16.0; 16 * 32]);
    }
    Ok(())
}

pub(super) fn tiles_fit_their_groups(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let (q, mut y) = (rig.on(at)?, rig.rt.buffer::<f32, 2>([16, 16])?);
        let all = [
            (q.run([4, 4], tiles_of_few(&mut y)), LowerError::TileGroup),
            (q.run([8, 8], tiles_of_parts(&mut y)), LowerError::TileExtents(8, 12, 8)),
        ];
        for (result, wanted) in all {
            match result {
                Err(Error::Kernel { cause, .. }) => ensure_eq!(*cause, wanted),
                other => return Err(Stop::Failed(format!("{other:?}"))),
            }
        }
    }
    Ok(())
}
