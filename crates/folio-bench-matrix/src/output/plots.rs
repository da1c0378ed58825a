//! The plots: a curve of sizes for each workload, bars of ratios to code by hand and to
//! libraries, and a roofline for each device.

use super::svg::{Axis, COLOURS, Svg};
use super::{amount, best_peer, class, name, of_medians, size, time, title};
use crate::record::{Device, Estimate, Matrix, Row};
use std::collections::BTreeMap;

/// A plot with the name of its file.
pub struct Plot {
    /// Without the extension.
    pub name: String,
    /// Its contents, in a sentence.
    pub caption: String,
    /// The picture.
    pub svg: Svg,
}

/// All plots of a matrix.
pub fn plots(matrix: &Matrix) -> Vec<Plot> {
    let mut all = Vec::new();
    for device in &matrix.devices {
        let rows: Vec<&Row> = matrix.rows.iter().filter(|row| row.device == device.name).collect();
        if !rows.is_empty() {
            all.extend(opponents(device, &rows));
            all.push(ratios(device, &rows));
            all.extend(roofline(device, &rows));
            all.extend(curves(device, &rows));
        }
    }
    all
}

fn file(kind: &str, device: &Device, more: &str) -> String {
    format!("{kind}-{}{more}", device.name).replace(|c: char| !c.is_ascii_alphanumeric(), "-")
}

/// Narrow enough for a phone, which shows all of it.
const WIDTH: f64 = 420.0;
/// Left of a line of text, and right of it.
const EDGE: f64 = 12.0;
/// For the labels of an axis.
const MARGIN: f64 = 82.0;
/// Where the axes end: half of a label is right of it.
const RIGHT: f64 = WIDTH - 20.0;
/// The space of an axis below it: for its labels and its name.
const BELOW: f64 = 40.0;

/// A ratio as a bar from 1.0 on, below its name.
struct Bar {
    name: String,
    ratio: Estimate,
    words: String,
}

/// The bars below each other, on one axis.
fn bars(heading: &str, caption: &str, bars: &[Bar]) -> Svg {
    const LINE: f64 = 30.0;
    let height = 66.0 + LINE * bars.len() as f64;
    let mut svg = Svg::new([WIDTH, height], caption);
    svg.text("title", "start", [EDGE, 22.0], heading);
    let values = bars.iter().flat_map(|bar| [bar.ratio.low, bar.ratio.high, 0.8, 1.25]);
    let axis = Axis::around(values, [EDGE, WIDTH - EDGE], false);
    for tick in axis.ticks() {
        let x = axis.at(tick);
        svg.line("grid", [x, 36.0], [x, height - 24.0]);
        svg.text("small", "middle", [x, height - 10.0], &format!("{tick}"));
    }
    svg.line("one", [axis.at(1.0), 36.0], [axis.at(1.0), height - 24.0]);
    for (at, bar) in bars.iter().enumerate() {
        let Estimate { median, low, high, .. } = bar.ratio;
        let y = 50.0 + LINE * at as f64;
        svg.text("", "start", [EDGE, y], &bar.name);
        svg.text("", "end", [WIDTH - EDGE, y], &format!("{median:.2}"));
        let (one, end, y) = (axis.at(1.0), axis.at(median), y + 9.0);
        let size = [(one - end).abs().max(1.5), 8.0];
        svg.bar(class(&bar.ratio), [one.min(end), y - 4.0], size, &bar.words);
        svg.line("whisker", [axis.at(low), y], [axis.at(high), y]);
    }
    svg
}

/// All rows beside code by hand.
fn ratios(device: &Device, rows: &[&Row]) -> Plot {
    let (name, by_hand) = (&device.name, &device.by_hand);
    let caption = format!("{name}: time of ours by that of {by_hand}. Left of 1 we are faster.");
    let all = rows.iter().map(|row| {
        let (name, ratio) = (title(row), row.ratio);
        let Estimate { median, low, high, .. } = ratio;
        let words = format!("{name}: {median:.2} (95 %: {low:.2} to {high:.2})");
        Bar { name, ratio, words }
    });
    let svg = bars(&format!("{name}: ratio to {by_hand}"), &caption, &Vec::from_iter(all));
    Plot { name: file("ratios", device, ""), caption, svg }
}

/// Each workload's largest size beside the library that is the fastest in that row.
fn opponents(device: &Device, rows: &[&Row]) -> Option<Plot> {
    let mut largest: Vec<&Row> = Vec::new();
    for row in rows.iter().filter(|row| !row.peers.is_empty()) {
        match largest.iter_mut().find(|other| name(other) == name(row)) {
            Some(other) if other.size < row.size => *other = row,
            Some(_) => {}
            None => largest.push(row),
        }
    }
    let all = largest.into_iter().filter_map(|row| {
        let (peer, version) = best_peer(row)?;
        let [ours, theirs] = [row.ours_ns, peer.ns].map(time);
        let words = format!("{}: {ours} of ours, {theirs} of {version}", title(row));
        // The line is short: a mode says most of a workload, and a word names a library.
        let what = if row.mode.is_empty() { &row.workload } else { &row.mode };
        let library = peer.name.split(' ').next().unwrap_or_default();
        let name = format!("{what}, {} {}: {library}", size(row.size), row.unit);
        Some(Bar { name, ratio: of_medians(peer.ratio), words })
    });
    let all = Vec::from_iter(all);
    if all.is_empty() {
        return None;
    }
    let name = &device.name;
    let caption = format!(
        "{name}: time of ours by that of the fastest library in each row. Left of 1 we are faster."
    );
    let svg = bars(&format!("{name}: ratio to the fastest library"), &caption, &all);
    Some(Plot { name: file("opponents", device, ""), caption, svg })
}

/// Rows that compute and move data, under what probes reached.
fn roofline(device: &Device, rows: &[&Row]) -> Option<Plot> {
    let rows: Vec<&&Row> = rows
        .iter()
        .filter(|row| row.work.flops > 0.0 && row.work.bytes > 0.0 && !row.is_control)
        .collect();
    if rows.is_empty() {
        return None;
    }
    let caption = format!(
        "{}: operations a second by operations per byte. The line is what probes reached; what stays in caches can be above its slope.",
        device.name
    );
    let peaks = &device.peaks;
    let mut colours = BTreeMap::new();
    for row in &rows {
        let next = colours.len();
        colours.entry(series(row)).or_insert(next);
    }
    let legend =
        Legend::new("hollow: by hand", true, colours.iter().map(|(name, c)| (&**name, *c)));
    let bottom = 360.0;
    let mut svg = Svg::new([WIDTH, bottom + BELOW + legend.height()], &caption);
    svg.text("title", "start", [EDGE, 22.0], &format!("{}: roofline", device.name));
    let intensity = |row: &Row| row.work.flops / row.work.bytes;
    let rate = |row: &Row, ns: f64| row.work.flops / ns * 1e9;
    let ridge = peaks.flops / peaks.bytes;
    let xs = rows.iter().map(|row| intensity(row)).chain([ridge * 2.0, ridge / 2.0]);
    let x = Axis::around(xs, [MARGIN, RIGHT], true);
    let ys = rows.iter().flat_map(|row| [rate(row, row.ours_ns), rate(row, row.theirs_ns)]);
    let y = Axis::around(ys.chain([peaks.flops * 1.2]), [bottom, 40.0], true);
    axes(
        &mut svg,
        x,
        y,
        "operations per byte",
        |rate| format!("{}flop/s", amount(rate)),
        |tick| if *tick < 1e4 { tick.to_string() } else { amount(*tick) },
    );
    let ends = [1e-9, ridge, 1e9];
    let roof = ends.map(|at| [x.at(at), y.at((at * peaks.bytes).min(peaks.flops))]);
    let first = x.ticks().first().copied().unwrap_or(ridge);
    let roof = [[x.at(first), y.at((first * peaks.bytes).min(peaks.flops))], roof[1], roof[2]];
    svg.path("roof", &roof);
    for row in rows {
        let class = format!("c{}", colours.get(&series(row)).unwrap_or(&0) % COLOURS);
        for (ns, side, open) in [(row.theirs_ns, "by hand", " open"), (row.ours_ns, "ours", "")] {
            let words = format!("{}, {side}: {}flop/s", title(row), amount(rate(row, ns)));
            svg.dot(&format!("{class}{open}"), [x.at(intensity(row)), y.at(rate(row, ns))], &words);
        }
    }
    legend.draw(&mut svg, bottom + BELOW);
    Some(Plot { name: file("roofline", device, ""), caption, svg })
}

fn axes(
    svg: &mut Svg,
    x: Axis,
    y: Axis,
    name: &str,
    of_y: impl Fn(f64) -> String,
    of_x: impl Fn(&f64) -> String,
) {
    let (ys, xs) = (y.ticks(), x.ticks());
    for tick in &ys {
        let at = y.at(*tick);
        svg.line("grid", [MARGIN, at], [RIGHT, at]);
        svg.text("small", "end", [MARGIN - 6.0, at + 4.0], &of_y(*tick));
    }
    for tick in &xs {
        let at = x.at(*tick);
        svg.line("grid", [at, 40.0], [at, y.at(0.0)]);
        svg.text("small", "middle", [at, y.at(0.0) + 15.0], &of_x(tick));
    }
    svg.text("small", "middle", [(MARGIN + RIGHT) / 2.0, y.at(0.0) + 31.0], name);
}

/// The rows of one colour in a roofline.
fn series(row: &Row) -> String {
    format!("{} {}", row.workload, row.mode)
}

/// The legend of the colours, below the axes: in as many columns as the longest name leaves room
/// for.
struct Legend<'n> {
    hand: &'static str,
    dots: bool,
    names: Vec<(&'n str, usize)>,
    columns: usize,
}

impl<'n> Legend<'n> {
    const LINE: f64 = 17.0;
    /// As wide as a character is at most, on average.
    const CHARACTER: f64 = 6.0;

    fn new(
        hand: &'static str,
        dots: bool,
        names: impl Iterator<Item = (&'n str, usize)>,
    ) -> Legend<'n> {
        let names: Vec<_> = names.collect();
        let longest = names.iter().map(|(name, _)| name.chars().count()).chain([hand.len()]).max();
        let width = 30.0 + Self::CHARACTER * longest.unwrap_or(0) as f64;
        Legend { hand, dots, names, columns: (((WIDTH - 2.0 * EDGE) / width) as usize).max(1) }
    }

    fn height(&self) -> f64 {
        10.0 + Self::LINE * (1 + self.names.len().div_ceil(self.columns)) as f64
    }

    fn draw(&self, svg: &mut Svg, top: f64) {
        svg.text("small", "start", [EDGE, top + 12.0], self.hand);
        let lines = self.names.len().div_ceil(self.columns).max(1);
        for (at, (name, colour)) in self.names.iter().enumerate() {
            let x = EDGE + (WIDTH - 2.0 * EDGE) / self.columns as f64 * (at / lines) as f64;
            let y = top + 12.0 + Self::LINE * (1 + at % lines) as f64;
            let class = format!("c{}", colour % COLOURS);
            match self.dots {
                true => svg.dot(&class, [x + 6.0, y - 4.0], name),
                false => svg.line(&class, [x, y - 4.0], [x + 14.0, y - 4.0]),
            }
            let name = if name.is_empty() { "ours" } else { name };
            svg.text("small", "start", [x + 20.0, y], name);
        }
    }
}

/// A size at an axis.
fn count(tick: f64) -> String {
    let whole = tick as u64;
    if whole.is_power_of_two() || whole < 10_000 { size(whole) } else { amount(tick) }
}

/// For each workload with several sizes: times by size.
fn curves(device: &Device, rows: &[&Row]) -> Vec<Plot> {
    let mut workloads: Vec<&str> = rows.iter().map(|row| row.workload.as_str()).collect();
    workloads.dedup();
    workloads.iter().filter_map(|workload| curve(device, workload, rows)).collect()
}

fn curve(device: &Device, workload: &str, rows: &[&Row]) -> Option<Plot> {
    let mut modes: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.workload == workload) {
        modes.entry(&row.mode).or_default().push(row);
    }
    modes.retain(|_, rows| rows.len() > 1);
    let shown: Vec<&Row> = modes.values().flatten().copied().collect();
    let unit = &shown.first()?.unit;
    let (bottom, name) = (320.0, format!("{}: {workload}", device.name));
    let caption = format!("{name}: time by size, both logarithmic.");
    let names: Vec<&str> = modes.keys().copied().collect();
    let legend = Legend::new("dashed: by hand", false, names.into_iter().zip(0..));
    let mut svg = Svg::new([WIDTH, bottom + BELOW + legend.height()], &caption);
    svg.text("title", "start", [EDGE, 22.0], &name);
    let x = Axis::around(shown.iter().map(|row| row.size as f64), [MARGIN, RIGHT], false);
    let times = shown.iter().flat_map(|row| [row.ours_ns, row.theirs_ns]);
    let y = Axis::around(times, [bottom, 40.0], true);
    axes(&mut svg, x, y, unit, time, |tick| count(*tick));
    for (colour, (mode, rows)) in modes.iter_mut().enumerate() {
        rows.sort_by_key(|row| row.size);
        let class = format!("c{}", colour % COLOURS);
        for (hand, words) in [(true, "by hand"), (false, "ours")] {
            let ns = |row: &Row| if hand { row.theirs_ns } else { row.ours_ns };
            let at = |row: &&Row| [x.at(row.size as f64), y.at(ns(row))];
            let points: Vec<[f64; 2]> = rows.iter().map(at).collect();
            svg.path(&format!("{class}{}", if hand { " hand" } else { "" }), &points);
            for (row, point) in rows.iter().zip(points) {
                let words =
                    format!("{mode}, {} {unit}, {words}: {}", size(row.size), time(ns(row)));
                svg.dot(&format!("{class}{}", if hand { " open" } else { "" }), point, &words);
            }
        }
    }
    legend.draw(&mut svg, bottom + BELOW);
    Some(Plot { name: file("sizes", device, &format!("-{workload}")), caption, svg })
}
