//! What changed between two runs, beyond the noise.
//!
//! A machine is faster on one day than on another. So a device's drift, the median of all its rows'
//! changes, is taken out of each time; and what changed must show in the ratio to hand-written code
//! of the same run, too.

use crate::record::{Change, Estimate, Matrix, Row, Saved};
use crate::stats::{estimate, median, width};

/// Changes below this are noise, whatever the samples say: two runs place data differently.
const LEAST_NOISE: f64 = 1.07;
/// With fewer figures than this the median of changes says nothing of the machine.
const ENOUGH: usize = 6;

/// The row of a saved run that is the same as this one.
pub fn same<'m>(saved: &'m Matrix, row: &Row) -> Option<&'m Row> {
    saved.rows.iter().find(|other| other.key() == row.key())
}

/// How much slower a device is by now, on the whole.
fn drift(now: &Matrix, saved: &Matrix, device: &str) -> f64 {
    let rows = now.rows.iter().filter(|row| row.device == device);
    let changes: Vec<f64> = rows
        .filter_map(|row| Some((row, same(saved, row)?)))
        .flat_map(|(row, old)| [row.ours_ns / old.ours_ns, row.theirs_ns / old.theirs_ns])
        .collect();
    if changes.len() < ENOUGH { 1.0 } else { median(&changes) }
}

/// How far the control rows of a device are from 1, as a factor.
fn control(matrix: &Matrix, device: &str) -> f64 {
    let rows = matrix.rows.iter().filter(|row| row.is_control && row.device == device);
    rows.map(|row| row.ratio.median.max(1.0 / row.ratio.median)).fold(1.0, f64::max)
}

fn noise(now: &Row, old: &Row, controls: [f64; 2]) -> f64 {
    let sides = [&now.ours, &now.theirs, &old.ours, &old.theirs].map(|times| estimate(times));
    let all = sides.iter().chain([&now.ratio, &old.ratio]).map(width);
    let all = all.chain(controls).filter(|width: &f64| width.is_finite());
    all.fold(LEAST_NOISE, f64::max)
}

fn judge(now: &Row, old: &Row, drift: f64, noise: f64) -> Saved {
    let ours = now.ours_ns / old.ours_ns / drift;
    let theirs = now.theirs_ns / old.theirs_ns / drift;
    let ratio = now.ratio.median / old.ratio.median;
    let (more, less) = (|x: f64| x > noise, |x: f64| x < 1.0 / noise);
    let change = if more(ratio) && more(ours) {
        Change::Slower
    } else if less(ratio) && less(ours) {
        Change::Faster
    } else if less(ratio) && more(theirs) {
        Change::BaselineSlower
    } else if more(ratio) && less(theirs) {
        Change::BaselineFaster
    } else {
        Change::None
    };
    Saved { ours, theirs, ratio, noise, change }
}

/// Notes in each row what changed since the saved run.
pub fn compare(now: &mut Matrix, saved: &Matrix) {
    let judged = now.rows.iter().map(|row| {
        let old = same(saved, row)?;
        let controls = [control(now, &row.device), control(saved, &row.device)];
        let drift = drift(now, saved, &row.device);
        Some(judge(row, old, drift, noise(row, old, controls)))
    });
    let judged: Vec<Option<Saved>> = judged.collect();
    now.rows.iter_mut().zip(judged).for_each(|(row, saved)| row.saved = saved);
}

impl Saved {
    /// By how much it is worse, as a factor; 1 if it is not, beyond the noise.
    pub fn worse(&self) -> f64 {
        match self.change {
            Change::Slower => self.ours,
            Change::BaselineSlower => self.theirs,
            Change::None | Change::Faster | Change::BaselineFaster => 1.0,
        }
    }

    /// How far what changed is from 1, as a factor.
    pub fn extent(&self) -> f64 {
        let change = match self.change {
            Change::None => 1.0,
            Change::Slower | Change::Faster => self.ours,
            Change::BaselineSlower | Change::BaselineFaster => self.theirs,
        };
        change.max(1.0 / change)
    }

    /// What changed and by how much, in words.
    pub fn words(&self) -> Option<String> {
        let (what, by) = match self.change {
            Change::None => return None,
            Change::Slower => ("slower", self.ours),
            Change::Faster => ("faster", self.ours),
            Change::BaselineSlower => ("by hand slower", self.theirs),
            Change::BaselineFaster => ("by hand faster", self.theirs),
        };
        Some(format!("{what}: {by:.2} x its saved time"))
    }
}

/// Rows that became slower by more than so many percent, beyond the noise.
pub fn over_gate(matrix: &Matrix, percent: f64) -> Vec<&Row> {
    let is_over =
        |row: &&Row| row.saved.as_ref().is_some_and(|saved| saved.worse() > 1.0 + percent / 100.0);
    matrix.rows.iter().filter(is_over).collect()
}

/// The estimate of ratios, round by round.
pub fn ratio(ours: &[f64], theirs: &[f64]) -> Estimate {
    estimate(&ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect::<Vec<_>>())
}
