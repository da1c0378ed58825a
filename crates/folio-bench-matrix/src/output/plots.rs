//! The plots: a curve of sizes for each workload, bars of ratios, and a roofline for each device.

use super::svg::{Axis, COLOURS, Svg};
use super::{amount, size, time, title};
use crate::record::{Device, Matrix, Row};
use std::collections::BTreeMap;

/// A plot with the name of its file.
pub struct Plot {
    /// Without the extension.
    pub name: String,
    /// What it shows, in a sentence.
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

/// Wide enough for names at the left.
const WIDTH: f64 = 820.0;
/// For the labels of an axis.
const MARGIN: f64 = 88.0;

fn ratios(device: &Device, rows: &[&Row]) -> Plot {
    const LINE: f64 = 17.0;
    const LEFT: f64 = 380.0;
    let height = 70.0 + LINE * rows.len() as f64;
    let caption = format!(
        "{}: time of ours by that of {}. Left of 1 we are faster.",
        device.name, device.by_hand
    );
    let mut svg = Svg::new([WIDTH, height], &caption);
    svg.text(
        "title",
        "start",
        [12.0, 22.0],
        &format!("{}: ratio to {}", device.name, device.by_hand),
    );
    let values = rows.iter().flat_map(|row| [row.ratio.low, row.ratio.high, 0.8, 1.25]);
    let axis = Axis::around(values, [LEFT, WIDTH - 60.0], false);
    for tick in axis.ticks() {
        let x = axis.at(tick);
        svg.line("grid", [x, 36.0], [x, height - 24.0]);
        svg.text("small", "middle", [x, height - 10.0], &format!("{tick}"));
    }
    for (at, row) in rows.iter().enumerate() {
        let (y, ratio) = (48.0 + LINE * at as f64, row.ratio);
        svg.text("", "end", [LEFT - 8.0, y + 4.0], &title(row));
        let class = match ratio.median {
            ..0.95 => "faster",
            ..1.05 => "near",
            _ => "slower",
        };
        let (one, end) = (axis.at(1.0), axis.at(ratio.median));
        let words = format!(
            "{}: {:.2} (95 %: {:.2} to {:.2})",
            title(row),
            ratio.median,
            ratio.low,
            ratio.high
        );
        svg.bar(class, [one.min(end), y - 5.0], [(one - end).abs().max(1.5), 10.0], &words);
        svg.line("whisker", [axis.at(ratio.low), y], [axis.at(ratio.high), y]);
        svg.text("small", "start", [WIDTH - 52.0, y + 4.0], &format!("{:.2}", ratio.median));
    }
    svg.line("one", [axis.at(1.0), 36.0], [axis.at(1.0), height - 24.0]);
    Plot { name: file("ratios", device, ""), caption, svg }
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
    let (height, peaks) = (380.0, &device.peaks);
    let mut svg = Svg::new([WIDTH, height], &caption);
    svg.text("title", "start", [12.0, 22.0], &format!("{}: roofline", device.name));
    let intensity = |row: &Row| row.work.flops / row.work.bytes;
    let rate = |row: &Row, ns: f64| row.work.flops / ns * 1e9;
    let ridge = peaks.flops / peaks.bytes;
    let xs = rows.iter().map(|row| intensity(row)).chain([ridge * 2.0, ridge / 2.0]);
    let x = Axis::around(xs, [MARGIN, WIDTH - 200.0], true);
    let ys = rows.iter().flat_map(|row| [rate(row, row.ours_ns), rate(row, row.theirs_ns)]);
    let y = Axis::around(ys.chain([peaks.flops * 1.2]), [height - 46.0, 40.0], true);
    axes(
        &mut svg,
        x,
        y,
        "operations per byte",
        |rate| format!("{}flop/s", amount(rate)),
        f64::to_string,
    );
    let ends = [1e-9, ridge, 1e9];
    let roof = ends.map(|at| [x.at(at), y.at((at * peaks.bytes).min(peaks.flops))]);
    let first = x.ticks().first().copied().unwrap_or(ridge);
    let roof = [[x.at(first), y.at((first * peaks.bytes).min(peaks.flops))], roof[1], roof[2]];
    svg.path("roof", &roof);
    let mut colours = BTreeMap::new();
    for row in rows {
        let next = colours.len();
        let colour = *colours.entry(format!("{} {}", row.workload, row.mode)).or_insert(next);
        let class = format!("c{}", colour % COLOURS);
        for (ns, side, open) in [(row.theirs_ns, "by hand", " open"), (row.ours_ns, "ours", "")] {
            let words = format!("{}, {side}: {}flop/s", title(row), amount(rate(row, ns)));
            svg.dot(&format!("{class}{open}"), [x.at(intensity(row)), y.at(rate(row, ns))], &words);
        }
    }
    legend(&mut svg, colours.iter().map(|(name, colour)| (name.as_str(), *colour)), true);
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
        svg.line("grid", [MARGIN, at], [WIDTH - 200.0, at]);
        svg.text("small", "end", [MARGIN - 6.0, at + 4.0], &of_y(*tick));
    }
    for tick in &xs {
        let at = x.at(*tick);
        svg.line("grid", [at, 40.0], [at, y.at(0.0)]);
        svg.text("small", "middle", [at, y.at(0.0) + 15.0], &of_x(tick));
    }
    svg.text("small", "middle", [(MARGIN + WIDTH - 200.0) / 2.0, y.at(0.0) + 31.0], name);
}

fn legend<'n>(svg: &mut Svg, names: impl Iterator<Item = (&'n str, usize)>, dots: bool) {
    let x = WIDTH - 186.0;
    let mut last = 0.0;
    for (at, (name, colour)) in names.enumerate() {
        let y = 48.0 + 17.0 * at as f64;
        let class = format!("c{}", colour % COLOURS);
        if dots {
            svg.dot(&class, [x + 6.0, y - 4.0], name);
        } else {
            svg.line(&class, [x, y - 4.0], [x + 14.0, y - 4.0]);
        }
        svg.text("small", "start", [x + 20.0, y], if name.is_empty() { "ours" } else { name });
        last = y;
    }
    let hand = if dots { "hollow: by hand" } else { "dashed: by hand" };
    svg.text("small", "start", [x, last + 20.0], hand);
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
    let (height, name) = (340.0, format!("{}: {workload}", device.name));
    let caption = format!("{name}: time by size, both logarithmic.");
    let mut svg = Svg::new([WIDTH, height], &caption);
    svg.text("title", "start", [12.0, 22.0], &name);
    let x = Axis::around(shown.iter().map(|row| row.size as f64), [MARGIN, WIDTH - 200.0], false);
    let times = shown.iter().flat_map(|row| [row.ours_ns, row.theirs_ns]);
    let y = Axis::around(times, [height - 46.0, 40.0], true);
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
    legend(&mut svg, modes.keys().copied().zip(0..), false);
    Some(Plot { name: file("sizes", device, &format!("-{workload}")), caption, svg })
}
