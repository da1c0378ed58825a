//! Random numbers.

use super::Rig;
use folio::algorithms::{
    fill_normal, fill_uniform, normal_f64, philox4x32, random, uniform_f32, uniform_f64,
};
use folio::prelude::*;

/// From the authors' `kat_vectors`.
#[test]
fn known_answers() {
    let all = u32::MAX;
    assert_eq!(philox4x32([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
    assert_eq!(
        philox4x32([all; 4], [all; 2]),
        [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
    );
    assert_eq!(
        philox4x32(
            [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xa409_3822, 0x299f_31d0]
        ),
        [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
    );
}

#[test]
fn uniform_floats_are_below_1() {
    assert_eq!(uniform_f32(u32::MAX), 1.0 - f32::EPSILON / 2.0);
    assert_eq!(uniform_f64(u64::MAX), 1.0 - f64::EPSILON / 2.0);
    assert_eq!((uniform_f32(255), uniform_f64(2047)), (0.0, 0.0));
    assert!(normal_f64(u64::MAX, 0).is_finite() && normal_f64(0, 0) == 0.0);
}

/// The same numbers everywhere, and those that a plain loop draws.
pub fn uniform_numbers(rig: &Rig) -> folio::Result<()> {
    let seed = 0x1234_5678_9abc_def0;
    for n in [0, 1, 2, 3, 4, 5, 255, 1027] {
        let words: Vec<u32> = (0..n as u64).flat_map(|at| random(seed, at)).collect();
        let pairs = || words.chunks(2).map(|w| u64::from(w[0]) | u64::from(w[1]) << 32);
        let mut x = rig.rt.buffer::<u32, 1>(n)?;
        fill_uniform(&rig.q, seed, &mut x)?;
        assert_eq!(x.to_vec()?, words[..n]);
        let mut x = rig.rt.buffer::<u64, 1>(n)?;
        fill_uniform(&rig.q, seed, &mut x)?;
        assert_eq!(x.to_vec()?, pairs().take(n).collect::<Vec<_>>());
        let mut x = rig.rt.buffer::<f32, 1>(n)?;
        fill_uniform(&rig.q, seed, &mut x)?;
        assert_eq!(x.to_vec()?, words[..n].iter().map(|w| uniform_f32(*w)).collect::<Vec<_>>());
        let mut x = rig.rt.buffer::<f64, 1>(n)?;
        fill_uniform(&rig.q, seed, &mut x)?;
        assert_eq!(x.to_vec()?, pairs().take(n).map(uniform_f64).collect::<Vec<_>>());
    }
    Ok(())
}

/// Mean, variance, and how many are far out.
pub fn normal_numbers(rig: &Rig) -> folio::Result<()> {
    let n = rig.most.min(100_000);
    let (mut x, mut y) = (rig.rt.buffer::<f32, 1>(n)?, rig.rt.buffer::<f64, 1>(n)?);
    fill_normal(&rig.q, 3, &mut x)?;
    fill_normal(&rig.q, 3, &mut y)?;
    for x in [x.to_vec()?.into_iter().map(f64::from).collect(), y.to_vec()?] {
        let mean = |of: fn(f64) -> f64| x.iter().copied().map(of).sum::<f64>() / n as f64;
        // Four standard deviations of each.
        let by = 4.0 / (n as f64).sqrt();
        assert!(mean(|x| x).abs() < by);
        assert!((mean(|x| x * x) - 1.0).abs() < 1.42 * by);
        assert!((mean(|x| f64::from(x.abs() > 1.0)) - 0.317_310_5).abs() < 0.466 * by);
    }
    Ok(())
}

#[kernel]
fn thrown(i: Item, seed: u64, inside: Reduce<u32, Add>, y: Out<u32>) {
    let words = random(seed, i.index() as u64);
    let (a, b) = (uniform_f32(words[0]), uniform_f32(words[1]));
    let hit = if a * a + b * b < 1.0 { 1 } else { 0 };
    y[i] = hit;
    inside.give(hit);
}

/// Kernels of users draw by themselves.
pub fn kernels_draw(rig: &Rig) -> folio::Result<()> {
    let n = 3000;
    let (mut inside, mut hits) = (rig.rt.buffer(1)?, rig.rt.buffer(n)?);
    rig.q.run(n, thrown(9, &mut inside, &mut hits))?;
    let inside = inside.to_vec()?[0];
    assert_eq!(hits.to_vec()?.iter().sum::<u32>(), inside);
    let quarter = f64::from(inside) / n as f64;
    assert!((quarter - std::f64::consts::FRAC_PI_4).abs() < 0.03, "{quarter}");
    Ok(())
}
