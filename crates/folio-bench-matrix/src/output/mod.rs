//! The outputs for a person: a table, plots, a page. All are made of a [`Matrix`] alone.

pub mod files;
pub mod page;
pub mod plots;
pub mod svg;
pub mod table;
pub mod terminal;

use crate::record::{Estimate, Matrix, Peer, Row};

/// Nanoseconds, with three digits or so.
pub fn time(ns: f64) -> String {
    match ns {
        ..1e3 => format!("{ns:.0} ns"),
        ..1e5 => format!("{:.1} us", ns / 1e3),
        ..1e6 => format!("{:.0} us", ns / 1e3),
        ..1e8 => format!("{:.1} ms", ns / 1e6),
        ..1e9 => format!("{:.0} ms", ns / 1e6),
        _ => format!("{:.1} s", ns / 1e9),
    }
}

/// A number with a prefix: `41.2 G`.
pub fn amount(value: f64) -> String {
    let scales = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    match scales.iter().find(|(scale, _)| value >= *scale) {
        Some((scale, prefix)) => format!("{:.1} {prefix}", value / scale),
        None => format!("{value:.1} "),
    }
}

/// A size, as a power of two where it is a large one.
pub fn size(size: u64) -> String {
    match size.is_power_of_two() && size >= 4096 {
        true => format!("2^{}", size.ilog2()),
        false => size.to_string(),
    }
}

/// The workload and mode of a row.
pub fn name(row: &Row) -> String {
    let comma = if row.mode.is_empty() { "" } else { ", " };
    format!("{}{comma}{}", row.workload, row.mode)
}

/// A row's name in a table, without its device.
pub fn title(row: &Row) -> String {
    if row.is_control {
        return name(row);
    }
    format!("{}, {} {}", name(row), size(row.size), row.unit)
}

/// The best opponent of a row, with its version.
pub fn best_peer(row: &Row) -> Option<(&Peer, String)> {
    let peer = row.peers.first()?;
    Some((peer, format!("{} {}", peer.name, peer.version)))
}

/// The ratio to a peer, which is of medians alone.
pub fn of_medians(ratio: f64) -> Estimate {
    Estimate { median: ratio, low: ratio, high: ratio, ..Estimate::default() }
}

/// The colour of a ratio: none where its interval reaches to within 5 % of 1.0.
pub fn class(ratio: &Estimate) -> &'static str {
    match (ratio.low, ratio.high) {
        (_, ..0.95) => "faster",
        (1.05.., _) => "slower",
        _ => "near",
    }
}

/// How far the controls are from 1.0: the words for it, and whether figures can be trusted.
pub fn trust(matrix: &Matrix) -> (String, bool) {
    let controls = matrix.rows.iter().filter(|row| row.is_control);
    let off =
        controls.map(|row| row.ratio.median.max(1.0 / row.ratio.median)).max_by(f64::total_cmp);
    let Some(off) = off else {
        return (
            "No control was measured: nothing says how far figures can be trusted.".to_owned(),
            false,
        );
    };
    let percent = 100.0 * (off - 1.0);
    if off <= 1.05 {
        return (format!("Controls read 1.0 within {percent:.1} %."), true);
    }
    (
        format!(
            "Controls are up to {percent:.0} % off 1.0: this machine was busy, or its clock changed. Trust no smaller difference."
        ),
        false,
    )
}

/// Devices that were opened and have no row but controls.
pub fn without_rows(matrix: &Matrix) -> Vec<&str> {
    let has_row = |name: &str| matrix.rows.iter().any(|row| !row.is_control && row.device == name);
    let names = matrix.devices.iter().map(|device| &*device.name);
    names.filter(|name| !has_row(name)).collect()
}
