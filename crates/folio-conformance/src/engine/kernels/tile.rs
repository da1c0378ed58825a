//! Tiles: on each device, as functions on the host, and interpreted; and beside plain loops.

use super::agree::*;
use super::tile_code::*;
use crate::engine::rig::*;
use folio::prelude::*;
use folio_core::error::LowerError;
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
