//! Products of sparse matrices, and solvers.

use super::{Rig, tame};
use folio::linalg::{Choice, ConjugateGradient, Csr, Library};
use folio::prelude::*;
use folio_model::rng::Rng;

/// A random matrix as rows: empty ones, short ones, and one that is longer than local memory.
fn random(
    rng: &mut Rng,
    [rows, columns]: [usize; 2],
    long: usize,
) -> (Vec<u32>, Vec<u32>, Vec<f32>) {
    let (mut offsets, mut of) = (vec![0], vec![]);
    for row in 0..rows {
        let values = if row == rows / 2 { long } else { rng.below(9) };
        of.extend((0..values).map(|_| rng.below(columns) as u32));
        offsets.push(of.len() as u32);
    }
    let values = tame(rng, of.len()).into_iter().map(|x| x as f32).collect();
    (offsets, of, values)
}

pub fn rows_are_added_in_order(rig: &Rig) -> folio::Result<()> {
    let (mut rng, linalg) = (Rng::new(11), rig.by(Choice::Own));
    let extents = [([1, 1], 1), ([0, 3], 0), ([20, 30], 2500), ([300, 70], 5000), ([2000, 20], 9)];
    for (shape, long) in extents {
        if rig.is_slow && shape[0] > 20 {
            continue;
        }
        let (offsets, columns, values) = random(&mut rng, shape, long);
        let a = Csr::from_rows(&rig.rt, shape, &offsets, &columns, &values)?;
        let x: Vec<f32> = tame(&mut rng, shape[1]).into_iter().map(|x| x as f32).collect();
        let (x, numbers) = (rig.rt.buffer_from(&x)?, x);
        // A part of a buffer: what is around it stays.
        let mut y = rig.rt.buffer_from(vec![7.0f32; shape[0] + 2])?;
        assert_eq!(linalg.spmv(&a, &x, y.slice_mut(1, shape[0])?)?, Library::Own);
        let mut wanted = vec![7.0f32];
        for ends in offsets.windows(2) {
            let of = |k: usize| values[k] * numbers[columns[k] as usize];
            wanted.push((ends[0] as usize..ends[1] as usize).fold(0.0, |sum, k| sum + of(k)));
        }
        wanted.push(7.0);
        assert!(y.to_vec()? == wanted, "{shape:?}");
    }
    Ok(())
}

pub fn dense_columns_are_multiplied(rig: &Rig) -> folio::Result<()> {
    let linalg = rig.by(Choice::Auto);
    let triplets = [(1, 0, 2.0f32), (0, 1, 1.0), (1, 0, 0.5), (1, 2, -1.0)];
    let a = Csr::from_triplets(&rig.rt, [2, 3], triplets)?;
    assert_eq!((a.shape(), a.values()), ([2, 3], 3));
    let x = rig.rt.buffer_from((&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [3, 2]))?;
    let mut y = rig.rt.buffer([2, 2])?;
    linalg.spmm(&a, &x, &mut y)?;
    assert_eq!(y.to_vec()?, [3.0, 4.0, -2.5, -1.0]);
    let refused = linalg.spmm(&a, &y.slice([0, 0], [2, 2])?, &mut rig.rt.buffer([2, 2])?);
    assert!(matches!(refused, Err(Error::Mismatch { .. })), "{refused:?}");
    Ok(())
}

/// Parts of vectors and of matrices, several times: a library keeps what it knows of the matrix.
pub fn libraries_multiply_the_same_within_rounding(rig: &Rig) -> folio::Result<()> {
    let (mut rng, shape) = (Rng::new(12), if rig.is_slow { [9, 7] } else { [700, 300] });
    let (offsets, columns, values) = random(&mut rng, shape, if rig.is_slow { 20 } else { 2500 });
    let a = Csr::from_rows(&rig.rt, shape, &offsets, &columns, &values)?;
    let wide: Vec<f64> = values.iter().copied().map(f64::from).collect();
    let wide = Csr::from_rows(&rig.rt, shape, &offsets, &columns, &wide)?;
    let [rows, depth] = shape;
    let all = tame(&mut rng, (depth + 1) * 5);
    let x = rig.rt.buffer_from((&all, [depth + 1, 5]))?;
    let flat = rig.rt.buffer_from(all.iter().map(|x| *x as f32).collect::<Vec<_>>())?;
    for _ in 0..3 {
        let mut results = [vec![], vec![]];
        for (choice, result) in [Choice::Own, Choice::Auto].into_iter().zip(&mut results) {
            let linalg = rig.by(choice);
            let mut y = rig.rt.buffer_from(vec![7.0f32; rows + 2])?;
            let used = linalg.spmv(&a, flat.slice([3], [depth])?, y.slice_mut([1], [rows])?)?;
            let mut z = rig.rt.buffer_from((vec![7.0f64; rows * 5], [rows, 5]))?;
            let of = (x.slice([1, 1], [depth, 3])?, z.slice_mut([0, 2], [rows, 3])?);
            assert_eq!(linalg.spmm(&wide, of.0, of.1)?, used);
            // NVIDIA's is the only library for sparse matrices.
            let has_library = choice == Choice::Auto && rig.is_cuda && linalg.missing().is_empty();
            assert_eq!(used, if has_library { Library::CuSparse } else { Library::Own });
            result.extend(y.to_vec()?.into_iter().map(f64::from));
            result.extend(z.to_vec()?);
        }
        let [own, library] = results;
        for (at, (own, library)) in own.iter().zip(&library).enumerate() {
            let far = (own - library).abs();
            assert!(far <= 1e-4 * own.abs().max(1.0), "{library}, not {own}, at {at}");
        }
    }
    Ok(())
}

/// A matrix that no call has used before, in a graph.
pub fn a_graph_repeats_a_sparse_product(rig: &Rig) -> folio::Result<()> {
    for choice in rig.choices() {
        let a = Csr::from_triplets(&rig.rt, [2, 2], [(0, 0, 2.0f32), (1, 0, 1.0), (1, 1, 1.0)])?;
        let linalg = rig.by(choice);
        let [x, y] = [[1.0f32, 1.0], [0.0; 2]].map(|all| rig.rt.buffer_from(&all));
        let (x, y) = (x?.into_shared(), y?.into_shared());
        let graph = rig.rt.graph(&rig.q.device())?;
        let recording = graph.record([&rig.q])?;
        linalg.spmv(&a, &x, &y)?;
        linalg.spmv(&a, &y, &x)?;
        drop(recording);
        let run = graph.finalize()?;
        rig.q.run_graph(&run)?;
        assert_eq!(x.to_vec()?, [4.0, 4.0]);
        rig.q.run_graph(&run)?;
        assert_eq!(x.to_vec()?, [16.0, 16.0]);
    }
    Ok(())
}

pub fn malformed_matrices_are_refused(rig: &Rig) -> folio::Result<()> {
    let of = |shape, offsets: &[u32], columns: &[u32], values: &[f32]| {
        Csr::from_rows(&rig.rt, shape, offsets, columns, values)
    };
    let wrong = [
        of([2, 2], &[0, 1], &[0], &[1.0]),
        of([2, 2], &[0, 2, 1], &[0], &[1.0]),
        of([2, 2], &[1, 1, 1], &[0], &[1.0]),
        of([2, 2], &[0, 1, 1], &[2], &[1.0]),
        of([2, 2], &[0, 1, 1], &[], &[1.0]),
        of([2, 2], &[0, 1, 2], &[0], &[1.0]),
        Csr::from_triplets(&rig.rt, [2, 2], [(2, 0, 1.0)]),
        Csr::from_triplets(&rig.rt, [usize::MAX, 2], [(2, 0, 1.0)]),
    ];
    for (at, matrix) in wrong.into_iter().enumerate() {
        assert!(matches!(matrix, Err(Error::Configuration { .. })), "{at}: {matrix:?}");
    }
    Ok(())
}

/// Poisson's equation on a square, whose sides are fixed.
fn poisson(rig: &Rig, side: usize) -> folio::Result<Csr<f32>> {
    let mut all = vec![];
    for r in 0..side {
        for c in 0..side {
            let at = r * side + c;
            all.push((at, at, 4.0f32));
            if c > 0 {
                all.extend([(at, at - 1, -1.0), (at - 1, at, -1.0)]);
            }
            if r > 0 {
                all.extend([(at, at - side, -1.0), (at - side, at, -1.0)]);
            }
        }
    }
    Csr::from_triplets(&rig.rt, [side * side; 2], all)
}

pub fn a_solver_ends_at_its_tolerance(rig: &Rig) -> folio::Result<()> {
    let side = if rig.is_slow { 4 } else { 24 };
    let linalg = rig.by(Choice::Auto);
    let mut solver = ConjugateGradient::new(&linalg, poisson(rig, side)?, 1e-4, 500)?;
    let b: Vec<f32> = tame(&mut Rng::new(5), side * side).into_iter().map(|x| x as f32).collect();
    let right = rig.rt.buffer_from(&b)?;
    let mut x = rig.rt.buffer::<f32, 1>(side * side)?;
    for _ in 0..2 {
        q_fill(rig, &mut x)?;
        solver.solve(&right, &mut x)?;
        let iterations = solver.iterations().get(0)?;
        assert!((3..120).contains(&iterations), "{iterations} iterations");
        let mut ax = rig.rt.buffer(side * side)?;
        linalg.spmv(&poisson(rig, side)?, &x, &mut ax)?;
        let square = |x: f32| f64::from(x) * f64::from(x);
        let rest: f64 = ax.to_vec()?.iter().zip(&b).map(|(ax, b)| square(ax - b)).sum();
        let whole: f64 = b.iter().map(|b| square(*b)).sum();
        assert!(rest <= 4e-8 * whole, "{rest} of {whole}");
    }
    // From the solution on there is nothing to do, or little that was rounded.
    solver.solve(&right, &mut x)?;
    assert!(solver.iterations().get(0)? < 5);
    Ok(())
}

fn q_fill(rig: &Rig, x: &mut Buffer<f32>) -> folio::Result<()> {
    rig.q.fill(x, 0.0).map(drop)
}

pub fn a_solver_of_zero_does_nothing(rig: &Rig) -> folio::Result<()> {
    let mut solver = ConjugateGradient::new(&rig.by(Choice::Auto), poisson(rig, 3)?, 1e-4, 500)?;
    let b = rig.rt.buffer::<f32, 1>(9)?;
    let mut x = rig.rt.buffer::<f32, 1>(9)?;
    solver.solve(&b, &mut x)?;
    assert_eq!((x.to_vec()?, solver.iterations().get(0)?), (vec![0.0; 9], 0));
    let refused = solver.solve(&b, &mut rig.rt.buffer::<f32, 1>(8)?);
    assert!(matches!(refused, Err(Error::Mismatch { .. })), "{refused:?}");
    Ok(())
}

/// Numbers that are not finite, or too large to be squared, are seen in the solution.
pub fn a_solver_shows_what_it_cannot_solve(rig: &Rig) -> folio::Result<()> {
    let linalg = rig.by(Choice::Auto);
    for (of_a, of_b) in [(f32::NAN, 1.0), (1.0, f32::NAN), (1.0, 1e30)] {
        let a = Csr::from_triplets(&rig.rt, [2, 2], [(0, 0, of_a), (1, 1, of_a)])?;
        let mut solver = ConjugateGradient::new(&linalg, a, 1e-4, 10)?;
        let (b, mut x) = (rig.rt.buffer_from(&[of_b; 2])?, rig.rt.buffer::<f32, 1>(2)?);
        solver.solve(&b, &mut x)?;
        let x = x.to_vec()?;
        assert!(x.iter().all(|x| !x.is_finite()), "{of_a}, {of_b}: {x:?}");
    }
    for tolerance in [-1.0, f32::NAN] {
        let refused = ConjugateGradient::new(&linalg, poisson(rig, 2)?, tolerance, 10).map(drop);
        assert!(matches!(refused, Err(Error::Configuration { .. })), "{refused:?}");
    }
    Ok(())
}
