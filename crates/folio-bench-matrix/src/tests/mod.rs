//! Tests of the matrix as a whole.

#![allow(clippy::unwrap_used, reason = "a panic is a failed test")]

mod changes;
mod checks;
mod files;
mod glance;
mod page;
mod peers;
mod planted;

use crate::compare;
use crate::record::{Device, Estimate, FORMAT, Machine, Matrix, Peaks, Row, Source, Work};
use crate::stats::median;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by tests that use all cores, so that they do not disturb each other.
static MACHINE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A row whose samples are `ours` and `theirs` nanoseconds with some noise, equal for equal seeds.
fn row(mode: &str, [ours, theirs]: [f64; 2], seed: u64) -> Row {
    let wave = |k: u64, by: u64| 1.0 + 0.004 * ((k * by + seed) % 7) as f64;
    let samples = |ns: f64, by: u64| (0..15).map(|k| ns * wave(k, by)).collect::<Vec<f64>>();
    let (ours, theirs) = (samples(ours, 3), samples(theirs, 5));
    Row {
        workload: "stream".to_owned(),
        mode: mode.to_owned(),
        size: 1 << 16,
        unit: "f32".to_owned(),
        device: "cpu:0".to_owned(),
        against: "rayon".to_owned(),
        is_control: false,
        times: 4,
        ours_ns: median(&ours),
        theirs_ns: median(&theirs),
        ratio: compare::ratio(&ours, &theirs, &[]),
        passes: vec![15],
        work: Work { bytes: 1e6, flops: 1e6, ..Work::default() },
        peak: None,
        saved: None,
        tolerance: 1e-3,
        check: vec![2.0, 1.0, 3.0],
        peers: Vec::new(),
        ours,
        theirs,
    }
}

/// A matrix of rows of one device.
fn matrix(rows: Vec<Row>) -> Matrix {
    let peaks = Peaks { bytes: 4e10, flops: 4e11, ..Peaks::default() };
    Matrix {
        format: FORMAT,
        program: "test".to_owned(),
        started: "2026-11-27 01:30:00 UTC".to_owned(),
        seconds: 1.0,
        options: vec!["--quick".to_owned()],
        seed: 1,
        source: Source::default(),
        machine: Machine::default(),
        devices: vec![Device {
            name: "cpu:0".to_owned(),
            backend: "cpu".to_owned(),
            product: "a <processor> & more".to_owned(),
            driver: "1".to_owned(),
            by_hand: "rayon".to_owned(),
            is_cpu: true,
            cache: 1 << 20,
            peaks,
        }],
        rows,
        left_out: Vec::new(),
        failed: Vec::new(),
    }
}

/// Four rows, all `by` times as slow as usual.
fn usual(by: f64, seed: u64) -> Matrix {
    let row = |mode, ours: f64, theirs: f64| row(mode, [ours * by, theirs * by], seed);
    matrix(vec![
        row("copy", 100.0, 90.0),
        row("mul", 100.0, 110.0),
        row("add", 200.0, 200.0),
        row("triad", 300.0, 250.0),
    ])
}

/// A control that reads so much.
fn control(ratio: f64) -> Row {
    let all = Estimate { median: ratio, low: ratio, high: ratio, ..Estimate::default() };
    Row { is_control: true, ratio: all, ..row("bandwidth", [100.0, 100.0], 0) }
}
