//! More elements than 2^32 and memory beyond 4 GiB, on the CPU, and on GPUs by CUDA where there are
//! some (it takes 4.3 GB); and launches beyond a grid of CUDA's, by each driver.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio::prelude::*;
use folio_core::Error;
use folio_core::hal::Backend;
use folio_cpu::CpuBackend;
use folio_model::drivers::CUDA;
use folio_model::on_each_driver;

const MANY: usize = (1 << 32) + 300;

#[kernel]
fn number(i: Item, y: Out<u8>) {
    let at = i.index();
    y[i] = (at >> 24) as u8 ^ at as u8;
}

#[kernel]
fn number_2d(i: Item<2>, from: u64, y: Out<u8, 2>) {
    let (row, column) = i.pos();
    y[i] = (row * 3 + ((column + from as usize) >> 24)) as u8;
}

#[kernel]
fn shifted(i: Item, by: u64, x: In<u8>, y: Out<u8>) {
    y[i] = x[i.index() + by as usize];
}

#[kernel]
fn number_3d(i: Item<3>, y: Out<u32, 3>) {
    let (slice, row, column) = i.pos();
    y[i] = (slice * 5 + row * 3 + column) as u32;
}

#[kernel]
fn number_groups(g: Group<2>, y: Out<u32, 2>) {
    g.each(|i| {
        let (row, column) = i.pos();
        y[i] = (g.pos().0 + row * 2 + column) as u32;
    });
}

/// Slices, rows and groups beyond the 65,535 that CUDA's grids have.
fn is_cut(backend: impl Backend + 'static) -> folio::Result<()> {
    const N: usize = 70_001;
    let rt = Runtime::builder().backend(backend).build()?;
    let q = rt.queue()?;
    for range in [[N, 1, 3], [1, N, 2], [N, 2, 1]] {
        let mut y = rt.buffer::<u32, 3>(range)?;
        q.run(y.range(), number_3d(&mut y))?;
        let [slices, rows, columns] = range;
        let at = |k: usize| k / (rows * columns) * 5 + k / columns % rows * 3 + k % columns;
        let wanted: Vec<u32> = (0..slices * rows * columns).map(|k| at(k) as u32).collect();
        assert!(y.to_vec()? == wanted, "{range:?}");
    }
    let mut y = rt.buffer::<u32, 2>([N, 2])?;
    q.run(Items::from(y.range()).groups([1, 2]), number_groups(&mut y))?;
    let wanted: Vec<u32> = (0..2 * N).map(|k| (k / 2 * 3 + k % 2) as u32).collect();
    assert!(y.to_vec()? == wanted, "groups");
    Ok(())
}

/// KRN-08
#[test]
fn cpu_beyond_a_grid() {
    is_cut(CpuBackend::new().unwrap()).unwrap();
}

on_each_driver! {
    /// KRN-08
    #[test]
    fn beyond_a_grid(driver) {
        is_cut(driver.open()).unwrap();
    }
}

fn numbered(at: usize) -> u8 {
    (at >> 24) as u8 ^ at as u8
}

fn works(backend: impl Backend + 'static) -> folio::Result<()> {
    let rt = Runtime::builder().backend(backend).build()?;
    let q = rt.queue()?;
    let mut y = rt.buffer::<u8, 1>(MANY)?;
    q.run(MANY, number(&mut y))?;
    let ends = [0, (1 << 31) - 5, 1 << 31, (1 << 32) - 5, 1 << 32, MANY - 10];
    for start in ends {
        let found = y.slice([start], [10])?.to_vec()?;
        let expected: Vec<u8> = (start..start + 10).map(numbered).collect();
        assert_eq!(found, expected, "from {start}");
    }
    // Reads, copies and fills that begin beyond, and indices that only a scalar tells.
    let mut z = rt.buffer::<u8, 1>(16)?;
    q.run(16, shifted(1 << 32, &y, &mut z))?;
    assert_eq!(z.to_vec()?, (1 << 32..(1 << 32) + 16).map(numbered).collect::<Vec<_>>());
    let (far, near) = (y.slice([(1 << 32) + 100], [4])?, z.slice_mut([2], [4])?);
    q.submit(|cg| {
        cg.copy(far, near);
        Ok(())
    })?;
    assert_eq!(z.slice([2], [4])?.to_vec()?, [100, 101, 102, 103].map(|k| numbered((1 << 32) + k)));
    q.submit(|cg| {
        cg.fill(y.slice_mut([(1 << 32) + 3], [2])?, 7);
        Ok(())
    })?;
    assert_eq!(y.slice([(1 << 32) + 2], [4])?.to_vec()?[1..3], [7, 7]);
    // What does not fit is refused by name.
    let outside = q.run(16, shifted(MANY as u64 - 8, &y, &mut z))?;
    assert!(matches!(outside.wait(), Err(Error::Failed(_))));
    assert!(matches!(rt.buffer::<u64, 1>(1 << 61), Err(Error::TooLarge { .. })));
    drop((y, z));
    // Rows so long, and several of them.
    let mut rows = rt.buffer::<u8, 2>([2, 1 << 31])?;
    let from = (1 << 31) - 2;
    q.run([2, 2], number_2d(from as u64, rows.slice_mut([0, from], [2, 2])?))?;
    let last = rows.slice([0, from], [2, 2])?.to_vec()?;
    assert_eq!(last, [127, 127, 130, 130]);
    Ok(())
}

/// KRN-08
#[test]
fn cpu_beyond_four_gib() {
    works(CpuBackend::new().unwrap()).unwrap();
}

/// KRN-08
#[test]
fn cuda_beyond_four_gib() {
    if CUDA.is_there() {
        works(CUDA.open()).unwrap();
    }
}
