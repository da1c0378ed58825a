//! Kernels that deny run-time checks (KRN-10): a launch in which a check is left is refused, and
//! the error says which. The report lists the checks of any kernel.

use crate::engine::rig::*;
use folio::prelude::*;
use folio_core::error::{Check, CheckKind};

#[kernel(deny_checks)]
fn averages(i: Item, by: usize, x: In<i32>, y: Out<i32>) {
    y[i] = (x[i] + x[i + by]) / 2;
}

#[kernel(deny_checks)]
fn behind_guards(i: Item<2>, x: In<i32, 2>, y: InOut<i32, 2>) {
    let (r, c) = i.pos();
    if r > 0 && c + 1 < x.shape()[1] {
        y[i] += x[(r - 1, c + 1)];
    }
}

#[kernel(deny_checks)]
fn leaves_early(i: Item, x: In<i32>, y: InOut<i32>) {
    if i.index() + 1 >= x.len() {
        return;
    }
    y[i] += x[i + 1];
}

#[kernel(deny_checks)]
fn holds<const N: usize>(i: Item, x: In<i32>, y: Out<i32>) {
    y[i] = x[(i.index() + 1).min(x.len() - 1)] / N as i32;
}

#[device_fn]
fn share(of: i32, by: i32) -> i32 {
    of / by
}

#[kernel(deny_checks)]
fn shares(i: Item, by: i32, x: In<i32>, y: Out<i32>) {
    y[i] = share(x[i], by);
}

#[kernel]
fn gathers(i: Item, by: i32, at: In<u32>, x: In<i32>, y: Out<i32>) {
    assert!(by < 100, "too large");
    y[i] = x[at[i] as usize] / by + x[(at[i] & 3) as usize];
}

/// The parameter and the indices of a check, or what else it is.
fn said(check: &Check) -> (String, Vec<(i128, i128)>) {
    match &check.kind {
        CheckKind::Index { param, index, .. } => (param.clone().unwrap_or_default(), index.clone()),
        CheckKind::HostIndex { param } => (format!("host {param}"), vec![]),
        other => (format!("{other:?}"), vec![]),
    }
}

/// The kernel, and what is left of a refused launch.
fn refused(launch: Result<Event, Error>) -> Result<(String, Vec<Check>), Stop> {
    match launch {
        Err(Error::ChecksLeft { kernel, checks }) => Ok((kernel.to_string(), checks.to_vec())),
        other => Err(Stop::Failed(format!("{other:?}"))),
    }
}

pub(super) fn launches_without_checks(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let x = rig.rt.buffer_from((0..20).collect::<Vec<i32>>())?;
        let mut y = rig.rt.buffer::<i32, 1>(20)?;
        q.run(10, averages(4, &x, &mut y))?;
        q.run(10..18, averages(2, &x, &mut y))?;
        ensure_eq!(y.to_vec()?[8..12], [10, 11, 11, 12]);
        // A launch refuses accesses that depend on its extents and scalars, before it does
        // anything.
        let launched = q.counters().launches;
        let (kernel, left) = refused(q.run(18, averages(3, &x, &mut y)))?;
        ensure_eq!(kernel, "averages");
        ensure_eq!(left.iter().map(said).collect::<Vec<_>>(), [("x".to_owned(), vec![(3, 20)])]);
        let site = &left[0].site;
        ensure!(site.file.ends_with("denied.rs") && site.line == 10, "{site:?}");
        ensure_eq!(q.counters().launches, launched);
        ensure_eq!(y.to_vec()?[8..12], [10, 11, 11, 12]);
        q.run(0, averages(99, &x, &mut y))?;
    }
    Ok(())
}

pub(super) fn guards_prove_indices(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let x = rig.rt.buffer_from((&[1; 900], [30, 30]))?;
        let mut y = rig.rt.buffer_from((&[0; 900], [30, 30]))?;
        q.run(y.range(), behind_guards(&x, &mut y))?;
        ensure_eq!(y.to_vec()?.iter().sum::<i32>(), 29 * 29);
        let line = rig.rt.buffer_from((0..20).collect::<Vec<i32>>())?;
        let mut sums = rig.rt.buffer_from(&[100; 30])?;
        q.run(30, leaves_early(&line, &mut sums))?;
        ensure_eq!(sums.to_vec()?[17..21], [118, 119, 100, 100]);
        q.run(30, holds::<2>(&line, &mut sums))?;
        ensure_eq!(sums.to_vec()?[15..21], [8, 8, 9, 9, 9, 9]);
        // The view is a row shorter: the guard tells nothing of that.
        let less = x.slice([0, 0], [28, 30])?;
        let (_, left) = refused(q.run(y.range(), behind_guards(less, &mut y)))?;
        ensure_eq!(left.len(), 1);
        ensure_eq!(said(&left[0]), ("x".to_owned(), vec![(0, 28), (1, 29)]));
    }
    Ok(())
}

pub(super) fn checks_of_functions_are_found(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let x = rig.rt.buffer_from(&[8; 10])?;
        let mut y = rig.rt.buffer::<i32, 1>(10)?;
        let (_, left) = refused(q.run(10, shares(2, &x, &mut y)))?;
        ensure_eq!(left.len(), 1);
        ensure_eq!((&left[0].kind, left[0].site.line), (&CheckKind::Division, 36));
    }
    Ok(())
}

pub(super) fn checks_are_reported(rig: &Rig) -> Outcome {
    let (at, x) = (rig.rt.buffer_from(&[0u32; 10])?, rig.rt.buffer_from(&[8; 10])?);
    let mut y = rig.rt.buffer::<i32, 1>(10)?;
    let left = gathers(2, &at, &x, &mut y).checks(10)?;
    let any = (0, u32::MAX.into());
    ensure_eq!(
        left.iter().map(said).collect::<Vec<_>>(),
        [
            ("x".to_owned(), vec![any]),
            ("host x".to_owned(), vec![]),
            ("Assertion".to_owned(), vec![]),
            ("Division".to_owned(), vec![]),
        ]
    );
    ensure!(left[2].to_string().ends_with("an assertion: too large"), "{}", left[2]);
    ensure_eq!(averages(3, &x, &mut y).checks(7)?, []);
    ensure_eq!(averages(3, &x, &mut y).checks(8)?.len(), 1);
    ensure_eq!(averages(3, &x, &mut y).checks(0)?, []);
    Ok(())
}
