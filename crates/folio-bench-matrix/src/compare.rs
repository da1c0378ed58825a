//! Changes between two runs, beyond the noise.
//!
//! A machine is faster on one day than on another. A device's drift, the median of all its rows'
//! changes, is therefore taken out of each time; and a change must show in the ratio to
//! hand-written code of the same run, too.

use crate::record::{Change, Estimate, Matrix, Row, Saved};
use crate::stats::{median, of_passes};

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

/// How two estimates compare: beyond each other by more than a margin, or not.
#[derive(Clone, Copy)]
struct Gap {
    /// The new median by the old one.
    change: f64,
    is_more: bool,
    is_less: bool,
    /// Up to this factor there would be no gap.
    noise: f64,
}

/// Estimates differ if their intervals do, by more than the margin.
fn gap(now: Estimate, old: Estimate, drift: f64, margin: f64) -> Gap {
    let up = margin * (old.high / old.median) * (now.median / now.low);
    let down = margin * (old.median / old.low) * (now.high / now.median);
    let change = now.median / old.median / drift;
    Gap { change, is_more: change > up, is_less: change < 1.0 / down, noise: up.max(down) }
}

fn judge(now: &Row, old: &Row, drift: f64, margin: f64) -> Saved {
    let ours = |row: &Row| of_passes(&row.ours, &row.passes);
    let theirs = |row: &Row| of_passes(&row.theirs, &row.passes);
    let ours = gap(ours(now), ours(old), drift, margin);
    let theirs = gap(theirs(now), theirs(old), drift, margin);
    let ratio = gap(now.ratio, old.ratio, 1.0, margin);
    // The slower side comes first: both sides can have changed.
    let change = if ratio.is_more && ours.is_more {
        Change::Slower
    } else if ratio.is_less && theirs.is_more {
        Change::BaselineSlower
    } else if ratio.is_less && ours.is_less {
        Change::Faster
    } else if ratio.is_more && theirs.is_less {
        Change::BaselineFaster
    } else {
        Change::None
    };
    let noise = ratio.noise;
    Saved { ours: ours.change, theirs: theirs.change, ratio: ratio.change, noise, change }
}

/// Notes in each row what changed since the saved run.
pub fn compare(now: &mut Matrix, saved: &Matrix) {
    let judged = now.rows.iter().map(|row| {
        let old = same(saved, row)?;
        let controls = [control(now, &row.device), control(saved, &row.device)];
        let margin = controls.into_iter().fold(LEAST_NOISE, f64::max);
        Some(judge(row, old, drift(now, saved, &row.device), margin))
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

    /// The ratio's median changed. More samples tell whether that is noise.
    pub fn is_suspect(&self) -> bool {
        self.ratio.max(1.0 / self.ratio) > LEAST_NOISE
    }

    /// The change and its size, in words.
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
pub fn ratio(ours: &[f64], theirs: &[f64], passes: &[usize]) -> Estimate {
    let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
    of_passes(&ratios, passes)
}
