//! The page: one file, without network access.

use super::plots::Plot;
use super::{amount, best_peer, class, name, of_medians, size, time, title, trust, without_rows};
use crate::error::Result;
use crate::record::{Change, Matrix, Row};
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

/// A row as the page shows it.
#[derive(Serialize)]
struct Line {
    device: String,
    workload: String,
    title: String,
    name: String,
    size: String,
    sort_size: u64,
    ours: String,
    ours_ns: f64,
    theirs: String,
    theirs_ns: f64,
    against: String,
    ratio: String,
    ratio_value: f64,
    interval: String,
    class: &'static str,
    low: f64,
    median: f64,
    high: f64,
    peak: String,
    peak_value: f64,
    peer: String,
    peer_ratio: String,
    peer_class: &'static str,
    peer_value: f64,
    saved: String,
    saved_value: f64,
    changed: String,
    changed_class: &'static str,
}

/// The rows of a workload on a device, at a glance.
#[derive(Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The device's name.
    pub device: String,
    /// The workload's name.
    pub workload: String,
    /// How many there are.
    pub rows: usize,
    /// Median, worst, best: the ratio, and its class. Of an even number, the median is the worse
    /// of the two rows in the middle.
    pub ratios: Vec<[String; 2]>,
    /// The name of the worst row.
    pub worst: String,
}

/// A device as the page shows it.
#[derive(Serialize)]
struct Card {
    name: String,
    product: String,
    driver: String,
    by_hand: String,
    peaks: Vec<[String; 2]>,
}

/// A plot as the page shows it.
#[derive(Serialize)]
struct Figure {
    caption: String,
    svg: String,
}

/// The values of the template.
#[derive(Serialize)]
struct Page<'m> {
    style: &'static str,
    script: &'static str,
    matrix: &'m Matrix,
    commit: Option<&'m str>,
    minutes: String,
    memory: String,
    cards: Vec<Card>,
    summaries: Vec<Summary>,
    lines: Vec<Line>,
    workloads: Vec<&'m str>,
    without_rows: Vec<&'m str>,
    figures: Vec<Figure>,
    trust: String,
    is_trusted: bool,
    is_compared: bool,
    has_peaks: bool,
    has_peers: bool,
}

/// Where a ratio is on a line from a sixteenth to sixteen, in percent.
fn place(ratio: f64) -> f64 {
    ((ratio.log2() + 4.0) / 8.0 * 100.0).clamp(0.0, 100.0)
}

/// A line for each workload of each device, in the order of the rows.
pub fn summaries(matrix: &Matrix) -> Vec<Summary> {
    let rows: Vec<&Row> = matrix.rows.iter().filter(|row| !row.is_control).collect();
    let alike =
        |one: &&Row, next: &&Row| (&one.device, &one.workload) == (&next.device, &next.workload);
    let summary = |rows: &[&Row]| {
        let mut sorted = rows.to_vec();
        sorted.sort_by(|a, b| a.ratio.median.total_cmp(&b.ratio.median));
        let (best, worst) = (sorted.first()?, sorted.last()?);
        let told = |row: &Row| {
            let ratio = &row.ratio;
            [format!("{:.2}", ratio.median), class(ratio).to_owned()]
        };
        Some(Summary {
            device: best.device.clone(),
            workload: best.workload.clone(),
            rows: rows.len(),
            ratios: [sorted[sorted.len() / 2], worst, best].map(told).to_vec(),
            worst: title(worst),
        })
    };
    rows.chunk_by(alike).filter_map(summary).collect()
}

fn line(row: &Row) -> Line {
    let peer = best_peer(row);
    let peer_value = peer.as_ref().map_or(-1.0, |(peer, _)| peer.ratio);
    let (ratio, peak, saved) = (&row.ratio, row.peak.as_ref(), row.saved.as_ref());
    Line {
        device: row.device.clone(),
        workload: row.workload.clone(),
        title: title(row),
        name: name(row),
        size: if row.is_control {
            String::new()
        } else {
            format!("{} {}", size(row.size), row.unit)
        },
        sort_size: row.size,
        ours: time(row.ours_ns),
        ours_ns: row.ours_ns,
        theirs: time(row.theirs_ns),
        theirs_ns: row.theirs_ns,
        against: row.against.clone(),
        ratio: format!("{:.2}", ratio.median),
        ratio_value: ratio.median,
        interval: format!("{:.2} to {:.2}", ratio.low, ratio.high),
        class: class(ratio),
        low: place(ratio.low),
        median: place(ratio.median),
        high: place(ratio.high),
        peak: peak.map_or(String::new(), |part| format!("{:.0} % {}", part.percent, part.of)),
        peak_value: peak.map_or(-1.0, |part| part.percent),
        peer_ratio: if peer.is_some() { format!("{peer_value:.2}") } else { String::new() },
        peer_class: class(&of_medians(peer_value)),
        peer_value,
        peer: peer.map_or(String::new(), |(_, name)| name),
        saved: saved.map_or(String::new(), |saved| format!("{:.2}", saved.ratio)),
        saved_value: saved.map_or(-1.0, |saved| saved.ratio),
        changed: saved.and_then(|saved| saved.words()).unwrap_or_default(),
        changed_class: match saved.map(|saved| saved.change) {
            Some(Change::Slower | Change::BaselineSlower) => "slower",
            Some(Change::Faster | Change::BaselineFaster) => "faster",
            Some(Change::None) | None => "",
        },
    }
}

fn cards(matrix: &Matrix) -> Vec<Card> {
    let card = |device: &crate::record::Device| {
        let peaks = &device.peaks;
        let all = [
            ("memory", peaks.bytes, "B/s"),
            ("arithmetic", peaks.flops, "flop/s"),
            ("launches", peaks.launches, "/s"),
            ("upload", peaks.upload, "B/s"),
            ("download", peaks.download, "B/s"),
        ];
        Card {
            name: device.name.clone(),
            product: device.product.clone(),
            driver: device.driver.trim().to_owned(),
            by_hand: device.by_hand.clone(),
            peaks: all.map(|(what, value, unit)| [what.to_owned(), amount(value) + unit]).to_vec(),
        }
    };
    matrix.devices.iter().map(card).collect()
}

/// The page of a matrix with its plots.
pub fn page(matrix: &Matrix, plots: &[Plot]) -> Result<String> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_template("page.html", include_str!("page.html"))?;
    let mut workloads: Vec<&str> = matrix.rows.iter().map(|row| row.workload.as_str()).collect();
    workloads.sort_unstable();
    workloads.dedup();
    let figures: Vec<Figure> = plots
        .iter()
        .map(|plot| Figure { caption: plot.caption.clone(), svg: plot.svg.inline() })
        .collect();
    let (trust, is_trusted) = trust(matrix);
    // The rows to look at come first.
    let mut lines: Vec<Line> = matrix.rows.iter().map(line).collect();
    lines.sort_by(|a, b| b.ratio_value.total_cmp(&a.ratio_value));
    let page = Page {
        style: concat!(include_str!("plot.css"), include_str!("page.css")),
        script: include_str!("page.js"),
        matrix,
        commit: matrix.source.commit.as_deref().map(|commit| &commit[..commit.len().min(12)]),
        minutes: format!("{:.1}", matrix.seconds / 60.0),
        memory: amount(matrix.machine.memory as f64) + "B",
        cards: cards(matrix),
        summaries: summaries(matrix),
        lines,
        without_rows: without_rows(matrix),
        workloads,
        figures,
        is_compared: matrix.rows.iter().any(|row| row.saved.is_some()),
        has_peers: matrix.rows.iter().any(|row| !row.peers.is_empty()),
        has_peaks: matrix.rows.iter().any(|row| row.peak.is_some()),
        trust,
        is_trusted,
    };
    Ok(environment.get_template("page.html")?.render(Serde(&page))?)
}
