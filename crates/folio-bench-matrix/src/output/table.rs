//! The table on the terminal.

use super::{amount, best_peer, time, title, trust, without_rows};
use crate::compare;
use crate::record::{Device, LeftOut, Matrix, Row};
use std::fmt::Write;

/// The table, with all that belongs to it.
pub fn table(matrix: &Matrix, gate: Option<f64>) -> String {
    let mut text = String::new();
    head(&mut text, matrix);
    let is_compared = matrix.rows.iter().any(|row| row.saved.is_some());
    let has_peers = matrix.rows.iter().any(|row| !row.peers.is_empty());
    for device in &matrix.devices {
        device_head(&mut text, device, [has_peers, is_compared]);
        let rows = matrix.rows.iter().filter(|row| row.device == device.name);
        rows.for_each(|row| line(&mut text, row, has_peers));
    }
    let _ = writeln!(text, "\n{}", trust(matrix).0);
    for device in without_rows(matrix) {
        let _ = writeln!(text, "NO ROW of {device} was measured: see what was left out.");
    }
    list(&mut text, "left out", &matrix.left_out);
    list(&mut text, "FAILED", &matrix.failed);
    changes(&mut text, matrix);
    if let Some(percent) = gate {
        gated(&mut text, matrix, percent);
    }
    text
}

fn head(text: &mut String, matrix: &Matrix) {
    let Matrix { machine, source, started, seconds, rows, .. } = matrix;
    let commit =
        source.commit.as_deref().map_or("unknown", |commit| &commit[..commit.len().min(12)]);
    let changed = if source.is_changed { " with changes" } else { "" };
    let _ = writeln!(
        text,
        "{started}, commit {commit}{changed}, {} with {} threads, {}; {} rows in {seconds:.0} s",
        machine.processor,
        machine.threads,
        machine.system,
        rows.len(),
    );
}

fn device_head(text: &mut String, device: &Device, [has_peers, is_compared]: [bool; 2]) {
    let peaks = &device.peaks;
    let _ = writeln!(text, "\n{}: {}, {}", device.name, device.product, device.driver.trim());
    let _ = writeln!(
        text,
        "  probes by hand: {}B/s, {}flop/s, {}launches/s, up {}B/s, down {}B/s",
        amount(peaks.bytes),
        amount(peaks.flops),
        amount(peaks.launches),
        amount(peaks.upload),
        amount(peaks.download),
    );
    let peers = peer_column(["to peer".to_owned(), "best peer".to_owned()]);
    let _ = writeln!(
        text,
        "  {:<56} {:>9} {:>9} {:>6}  {:<13} {:<15} {}{}",
        "row",
        "ours",
        device.by_hand,
        "ratio",
        "95 %",
        "of the peak",
        if has_peers { &peers } else { "" },
        if is_compared { "saved" } else { "" },
    );
}

/// Our time by the best opponent's, and that opponent.
fn peer_column([ratio, name]: [String; 2]) -> String {
    format!("{ratio:>7} {name:<32} ")
}

fn line(text: &mut String, row: &Row, has_peers: bool) {
    let peak = row.peak.as_ref();
    let peak = peak.map_or("-".to_owned(), |part| format!("{:.0} % {}", part.percent, part.of));
    let dash = || ["-".to_owned(), String::new()];
    let best =
        best_peer(row).map_or_else(dash, |(peer, name)| [format!("{:.2}", peer.ratio), name]);
    let peers = if has_peers { peer_column(best) } else { String::new() };
    let saved = row.saved.map_or(String::new(), |saved| format!("{:.2}", saved.ratio));
    let _ = writeln!(
        text,
        "  {:<56} {:>9} {:>9} {:>6.2}  {:<13} {peak:<15} {peers}{saved}",
        title(row),
        time(row.ours_ns),
        time(row.theirs_ns),
        row.ratio.median,
        format!("{:.2} to {:.2}", row.ratio.low, row.ratio.high),
    );
}

fn list(text: &mut String, what: &str, all: &[LeftOut]) {
    if !all.is_empty() {
        let _ = writeln!(text, "\n{what}:");
    }
    for LeftOut { what, reason } in all {
        let _ = writeln!(text, "  {what}: {reason}");
    }
}

fn changes(text: &mut String, matrix: &Matrix) {
    let compared = matrix.rows.iter().filter(|row| row.saved.is_some()).count();
    if compared == 0 {
        return;
    }
    let _ = writeln!(
        text,
        "\nchanged since the saved run, beyond the noise ({compared} rows compared):"
    );
    let changed: Vec<String> = matrix.rows.iter().filter_map(change).collect();
    let none = "  nothing\n".to_owned();
    text.push_str(&if changed.is_empty() { none } else { changed.concat() });
}

fn change(row: &Row) -> Option<String> {
    let saved = row.saved?;
    let words = saved.words()?;
    let noise = 100.0 * (saved.noise - 1.0);
    Some(format!("  {}: {}: {words} (noise {noise:.0} %)\n", row.device, title(row)))
}

fn gated(text: &mut String, matrix: &Matrix, percent: f64) {
    let over = compare::over_gate(matrix, percent);
    if over.is_empty() {
        let _ = writeln!(text, "\ngate: no row is more than {percent} % slower");
        return;
    }
    let _ = writeln!(text, "\ngate FAILED: more than {percent} % slower, beyond the noise:");
    for row in over {
        let _ = writeln!(text, "  {}: {}", row.device, title(row));
    }
}
