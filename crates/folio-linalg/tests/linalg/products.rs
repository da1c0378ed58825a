//! Products of dense matrices.

use super::{Rig, tame};
use folio::f16;
use folio::linalg::{Choice, Element, Library, Matmul};
use folio::prelude::*;
use folio_model::rng::Rng;

/// Batches, rows, columns and depth.
const EXTENTS: [[usize; 4]; 6] =
    [[2, 3, 5, 7], [1, 1, 1, 1], [2, 16, 17, 16], [1, 65, 33, 18], [3, 64, 28, 31], [0, 2, 2, 2]];
/// Enough tiles for those of 128 rows and columns.
const MANY: [usize; 4] = [200, 2, 3, 17];
const TURNS: [[bool; 2]; 4] = [[false, true], [false; 2], [true, false], [true; 2]];

/// What is in `a` at a row and a column, which may be passed transposed.
fn at<T: Copy>(a: &[T], [rows, columns]: [usize; 2], is_turned: bool, r: usize, c: usize) -> T {
    if is_turned { a[c * rows + r] } else { a[r * columns + c] }
}

/// The product of one matrix, each step with one rounding.
macro_rules! plain {
    ($sum:ident, $wide:expr) => {
        |options: (f64, f64),
         turns: [bool; 2],
         extents: [usize; 4],
         a: &[_],
         b: &[_],
         c: &[$sum]| {
            let [batches, rows, columns, depth] = extents;
            let (alpha, beta) = (options.0 as $sum, options.1 as $sum);
            let mut out = vec![];
            for z in 0..batches {
                let (a, b) = (&a[z * rows * depth..], &b[z * depth * columns..]);
                for r in 0..rows {
                    for q in 0..columns {
                        let mut sum: $sum = 0.0;
                        for k in 0..depth {
                            let x = $wide(at(a, [rows, depth], turns[0], r, k));
                            let y = $wide(at(b, [depth, columns], turns[1], k, q));
                            sum = x.mul_add(y, sum);
                        }
                        let before = c[(z * rows + r) * columns + q];
                        let rest = if beta == 0.0 { 0.0 } else { beta * before };
                        out.push(alpha * sum + rest);
                    }
                }
            }
            out
        }
    };
}

type Plain<T> = fn(
    (f64, f64),
    [bool; 2],
    [usize; 4],
    &[T],
    &[T],
    &[<T as Element>::Sum],
) -> Vec<<T as Element>::Sum>;

/// The options, the shapes of `A` and `B`, and their numbers of elements.
fn passed(
    factors: (f64, f64),
    turns: [bool; 2],
    [batches, rows, columns, depth]: [usize; 4],
) -> (Matmul, [[usize; 3]; 2]) {
    let mut options = Matmul::new().alpha(factors.0).beta(factors.1);
    let (mut a, mut b) = ([batches, rows, depth], [batches, depth, columns]);
    if turns[0] {
        options = options.transpose_a();
        a.swap(1, 2);
    }
    if turns[1] {
        options = options.transpose_b();
        b.swap(1, 2);
    }
    (options, [a, b])
}

fn in_order<T: Element>(
    rig: &Rig,
    (extents, turns): (&[[usize; 4]], &[[bool; 2]]),
    of: fn(f64) -> T,
    sum_of: fn(f64) -> T::Sum,
    plain: Plain<T>,
) -> folio::Result<()> {
    let (mut rng, linalg) = (Rng::new(7), rig.by(Choice::Own));
    for (turn, extents) in extents.iter().copied().enumerate() {
        let [batches, rows, columns, _] = extents;
        for turns in turns.iter().copied() {
            let factors = [(1.0, 0.0), (0.5, -1.5)][(turn + usize::from(turns[0])) % 2];
            let (options, [of_a, of_b]) = passed(factors, turns, extents);
            let mut some = |n: usize| tame(&mut rng, n);
            let a: Vec<T> = some(of_a.iter().product()).into_iter().map(of).collect();
            let b: Vec<T> = some(of_b.iter().product()).into_iter().map(of).collect();
            let of_c = [batches, rows, columns];
            let c: Vec<_> = some(of_c.iter().product()).into_iter().map(sum_of).collect();
            let (x, y) = (rig.rt.buffer_from((&a, of_a))?, rig.rt.buffer_from((&b, of_b))?);
            let mut z = rig.rt.buffer_from((&c, of_c))?;
            assert_eq!(linalg.matmul_with(options, &x, &y, &mut z)?, Library::Own);
            let wanted = plain(factors, turns, extents, &a, &b, &c);
            assert!(z.to_vec()? == wanted, "{extents:?}, turned {turns:?}");
        }
    }
    Ok(())
}

pub fn own_products_add_in_order(rig: &Rig) -> folio::Result<()> {
    let f32s = plain!(f32, |x: f32| x);
    if rig.is_slow {
        return in_order::<f32>(rig, (&[[1, 3, 5, 7]], &TURNS), |x| x as f32, |x| x as f32, f32s);
    }
    // Compilers are slow, too: of other types one kernel.
    let few = if rig.is_compiled { &TURNS[..1] } else { &TURNS };
    in_order::<f32>(rig, (&EXTENTS, &TURNS), |x| x as f32, |x| x as f32, f32s)?;
    if rig.is_compiled {
        in_order::<f32>(rig, (&[MANY], few), |x| x as f32, |x| x as f32, f32s)?;
    }
    if rig.q.device().info().caps.f64 {
        in_order::<f64>(rig, (&EXTENTS, few), |x| x, |x| x, plain!(f64, |x: f64| x))?;
    }
    let (some, f16s) = ((&EXTENTS[..1], few), plain!(f32, |x: f16| x.to_f32()));
    in_order::<f16>(rig, some, f16::from_f64, |x| x as f32, f16s)?;
    in_order::<bf16>(rig, some, bf16::from_f64, |x| x as f32, plain!(f32, |x: bf16| x.to_f32()))
}

/// Rows of parts are further apart than they are long.
pub fn parts_are_multiplied(rig: &Rig) -> folio::Result<()> {
    let mut rng = Rng::new(8);
    let numbers: Vec<f32> = tame(&mut rng, 40 * 40).into_iter().map(|x| x as f32).collect();
    for choice in rig.choices() {
        let all = rig.rt.buffer_from((&numbers, [40, 40]))?;
        let (a, b) = (all.slice([1, 2], [5, 20])?, all.slice([10, 7], [20, 9])?);
        let mut c = rig.rt.buffer_from((&numbers, [40, 40]))?;
        rig.by(choice).matmul(&a, &b, c.slice_mut([3, 30], [5, 9])?)?;
        let c = c.to_vec()?;
        for (k, (is, was)) in c.iter().zip(&numbers).enumerate() {
            let (r, q) = (k / 40, k % 40);
            let mut wanted = *was;
            if (3..8).contains(&r) && (30..39).contains(&q) {
                let of = |k: usize| numbers[(r - 2) * 40 + 2 + k] * numbers[(10 + k) * 40 + q - 23];
                wanted = (0..20).map(of).sum();
            }
            assert!((is - wanted).abs() < 1e-4, "{choice:?}: {is}, not {wanted}, at {r}, {q}");
        }
    }
    Ok(())
}

pub fn libraries_compute_the_same_within_rounding(rig: &Rig) -> folio::Result<()> {
    let mut rng = Rng::new(9);
    let (auto, own) = (rig.by(Choice::Auto), rig.by(Choice::Own));
    // An interpreter has no library.
    let turns = if rig.is_slow { &[][..] } else { &TURNS };
    for turns in turns.iter().copied() {
        let extents = [2, 13, 21, 34];
        let (options, [of_a, of_b]) = passed((0.5, 2.0), turns, extents);
        let mut some =
            |n: usize| tame(&mut rng, n).into_iter().map(|x| x as f32).collect::<Vec<_>>();
        let a = rig.rt.buffer_from((some(of_a.iter().product()), of_a))?;
        let b = rig.rt.buffer_from((some(of_b.iter().product()), of_b))?;
        let before = some(2 * 13 * 21);
        let mut c =
            [&before, &before].map(|before| rig.rt.buffer_from((before, [2, 13, 21])).unwrap());
        let used = auto.matmul_with(options, &a, &b, &mut c[0])?;
        let has_library = rig.q.device().info().caps.closures;
        assert_eq!(used, if has_library { Library::Gemm } else { used });
        own.matmul_with(options, &a, &b, &mut c[1])?;
        for (is, wanted) in c[0].to_vec()?.into_iter().zip(c[1].to_vec()?) {
            assert!((is - wanted).abs() < 1e-4, "{used}: {is}, not {wanted}");
        }
    }
    Ok(())
}

pub fn without_depth_a_product_is_zero(rig: &Rig) -> folio::Result<()> {
    let (a, b) = (rig.rt.buffer::<f32, 2>([2, 0])?, rig.rt.buffer::<f32, 2>([0, 2])?);
    let mut c = rig.rt.buffer_from((&[f32::NAN; 4], [2, 2]))?;
    rig.by(Choice::Auto).matmul(&a, &b, &mut c)?;
    assert_eq!(c.to_vec()?, [0.0; 4]);
    Ok(())
}

pub fn a_graph_repeats_a_product(rig: &Rig) -> folio::Result<()> {
    for choice in rig.choices() {
        let a = rig.rt.buffer_from((&[1.0f32, 1.0, 0.0, 1.0], [2, 2]))?;
        let c = rig.rt.buffer_from((&[1.0f32, 0.0, 0.0, 1.0], [2, 2]))?.into_shared();
        let d = rig.rt.buffer::<f32, 2>([2, 2])?.into_shared();
        let linalg = rig.by(choice);
        let graph = rig.rt.graph(&rig.q.device())?;
        let recording = graph.record([&rig.q])?;
        linalg.matmul(&c, &a, &d)?;
        linalg.matmul(&d, &a, &c)?;
        drop(recording);
        let run = graph.finalize()?;
        for _ in 0..2 {
            rig.q.run_graph(&run)?;
        }
        assert_eq!(c.to_vec()?, [1.0, 4.0, 0.0, 1.0], "{choice:?}");
    }
    Ok(())
}

pub fn extents_must_fit(rig: &Rig) -> folio::Result<()> {
    let linalg = rig.by(Choice::Auto);
    let (a, b) = (rig.rt.buffer::<f32, 2>([2, 3])?, rig.rt.buffer::<f32, 2>([2, 3])?);
    let mut c = rig.rt.buffer_from((&[5.0f32; 4], [2, 2]))?;
    let refused = linalg.matmul(&a, &b, &mut c);
    assert!(matches!(refused, Err(Error::Mismatch { .. })), "{refused:?}");
    linalg.matmul_with(Matmul::new().transpose_b(), &a, &b, &mut c)?;
    assert_eq!(c.to_vec()?, [0.0; 4]);
    let mut narrow = rig.rt.buffer_from((&[5.0f32; 2], [2, 1]))?;
    let refused = linalg.matmul_with(Matmul::new().transpose_b(), &a, &b, &mut narrow);
    assert!(matches!(refused, Err(Error::Mismatch { .. })), "{refused:?}");
    // Halves have no library on a CPU, nor anything else a device without one.
    let halves = rig.rt.buffer::<f16, 2>([2, 2])?;
    let mut sums = rig.rt.buffer_from((&[5.0f32; 4], [2, 2]))?;
    if linalg.missing().is_empty() {
        let refused = rig.by(Choice::Library).matmul(&halves, &halves, &mut sums);
        if cfg!(feature = "cuda") && rig.q.device().info().caps.captures {
            assert_eq!(refused?, Library::CuBlas);
        } else {
            assert!(matches!(refused, Err(Error::Configuration { .. })), "{refused:?}");
            assert_eq!(sums.to_vec()?, [5.0; 4]);
        }
    }
    Ok(())
}
