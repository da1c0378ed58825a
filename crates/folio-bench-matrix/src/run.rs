//! A run of the matrix: which rows there are, in which order, and how long each may take.

use crate::bench::{Case, Effort, Site, Workload};
use crate::compare;
use crate::devices::{self, Subject};
use crate::error::{Error, Result};
use crate::machine;
use crate::measure::{Limits, Samples, measure};
use crate::options::Options;
use crate::record::{Device, FORMAT, LeftOut, Matrix, Part, Row, Work};
use crate::stats::median;
use indicatif::{ProgressBar, ProgressStyle};
use std::time::{Duration, Instant};

/// Passes over all rows. Each begins anew with fresh data, so that what differs from minute to
/// minute and from allocation to allocation is in the samples.
const PASSES: usize = 3;

/// How often a row that seems to have changed is measured again.
const CONFIRMATIONS: usize = 2;

/// A row that is to be measured.
struct Entry<'w> {
    subject: usize,
    workload: &'w dyn Workload,
    case: Case,
    /// Where the size is among the workload's.
    rank: usize,
}

/// The rows: by device, controls first, then small sizes of everything. Rows that the time does not
/// reach are thus large, and every device tells how far it can be trusted.
fn entries<'w>(
    sites: &[Site],
    workloads: &[&'w dyn Workload],
    options: &Options,
) -> Vec<Entry<'w>> {
    let mut all = Vec::new();
    for (subject, site) in sites.iter().enumerate() {
        for workload in workloads {
            for mode in workload.modes() {
                for (rank, size) in workload.sizes(mode, *site).iter().enumerate() {
                    if options.wants(*workload, mode, *size) {
                        let case = Case { mode, size: *size };
                        all.push(Entry { subject, workload: *workload, case, rank });
                    }
                }
            }
        }
    }
    all.sort_by_key(|entry| (entry.subject, !entry.workload.is_control(), entry.rank));
    all
}

/// Shows how far it is. Silent where standard error is no terminal.
fn bar(count: usize) -> ProgressBar {
    let bar = ProgressBar::new(count as u64);
    let style = "{bar:30} {pos}/{len} rows, {eta} left  {wide_msg}";
    bar.with_style(
        ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
    )
}

/// Measures everything that the options ask for.
pub fn run(
    options: &Options,
    registry: &[&dyn Workload],
    saved: Option<&Matrix>,
) -> Result<Matrix> {
    let (started, now) = (Instant::now(), machine::now());
    let workloads = options.workloads(registry)?;
    let rt = devices::runtime()?;
    let host = machine::machine();
    let (found, mut left_out) = devices::find(&rt, options)?;
    let mut subjects = Vec::new();
    let opening = ProgressBar::new_spinner();
    opening.enable_steady_tick(Duration::from_millis(500));
    for device in &found {
        opening.set_message(format!("opens and probes {}", device.name()));
        match devices::open(&rt, device, &host, options) {
            Ok(subject) => subjects.push(subject),
            Err(why) => {
                left_out.push(LeftOut { what: device.name().to_owned(), reason: why.to_string() })
            }
        }
    }
    opening.finish_and_clear();
    let mut matrix = Matrix {
        format: FORMAT,
        program: concat!("folio-bench-matrix ", env!("CARGO_PKG_VERSION")).to_owned(),
        started: now,
        seconds: 0.0,
        options: std::env::args().skip(1).collect(),
        seed: options.seed,
        source: machine::source(),
        machine: host,
        devices: subjects.iter().map(|subject| subject.device.clone()).collect(),
        rows: Vec::new(),
        left_out,
        failed: Vec::new(),
    };
    let sites: Vec<Site> = subjects.iter().map(|subject| subject.site).collect();
    let entries = entries(&sites, &workloads, options);
    if entries.iter().all(|entry| entry.workload.is_control()) {
        let filters = format!(
            "workloads {:?}, modes {:?}, backends {:?}, sizes {:?}",
            options.workload, options.mode, options.backend, options.size
        );
        return Err(Error::NothingLeft { filters });
    }
    // Opening devices and probing them takes as long as it takes.
    let seconds = options.seconds().map(Duration::from_secs);
    let deadline = seconds.map(|seconds| Instant::now() + seconds);
    let rows = Rows { subjects: &subjects, options, deadline };
    rows.measure_all(&entries, &mut matrix);
    if let Some(saved) = saved {
        confirm(&rows, &entries, &mut matrix, saved);
    }
    let order = |row: &Row| {
        let device = found.iter().position(|device| device.name() == row.device);
        let workload = registry.iter().position(|workload| workload.name() == row.workload);
        (device, workload)
    };
    matrix.rows.sort_by_key(order);
    matrix.seconds = started.elapsed().as_secs_f64();
    Ok(matrix)
}

/// Measures rows that seem to have changed again, while there is time, and judges by all samples. A
/// bad second of the machine is then a part of them only.
fn confirm(rows: &Rows<'_>, entries: &[Entry<'_>], matrix: &mut Matrix, saved: &Matrix) {
    compare::compare(matrix, saved);
    for _ in 0..CONFIRMATIONS {
        for entry in entries {
            let row = matrix.rows.iter_mut().find(|row| entry.is(row, rows.subjects));
            let is_suspect = |row: &&mut Row| row.saved.is_some_and(|saved| saved.is_suspect());
            let Some(row) = row.filter(is_suspect) else { continue };
            if rows.deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                break;
            }
            // A row that fails here did not fail before, and is known to be right.
            if let Ok(again) = rows.row(entry, rows.limits(None, 1)) {
                add(row, &again);
            }
        }
        compare::compare(matrix, saved);
    }
}

/// Adds the samples of another measurement.
fn add(row: &mut Row, again: &Row) {
    let before = row.ours_ns;
    row.passes.extend(&again.passes);
    row.ours.extend(&again.ours);
    row.theirs.extend(&again.theirs);
    (row.ours_ns, row.theirs_ns) = (median(&row.ours), median(&row.theirs));
    row.ratio = compare::ratio(&row.ours, &row.theirs, &row.passes);
    if let Some(part) = &mut row.peak {
        part.percent *= before / row.ours_ns;
    }
}

/// When the first of so many devices has used its share of the time.
fn share(now: Instant, until: Instant, devices: usize) -> Instant {
    now + until.saturating_duration_since(now) / u32::try_from(devices.max(1)).unwrap_or(u32::MAX)
}

/// The subjects and settings with which rows are measured.
#[derive(Clone, Copy)]
struct Rows<'r> {
    subjects: &'r [Subject],
    options: &'r Options,
    deadline: Option<Instant>,
}

impl Entry<'_> {
    fn device<'s>(&self, subjects: &'s [Subject]) -> &'s Device {
        &subjects[self.subject].device
    }

    fn is(&self, row: &Row, subjects: &[Subject]) -> bool {
        let Case { mode, size } = self.case;
        row.key() == (&*self.device(subjects).name, self.workload.name(), mode, size as u64)
    }

    fn title(&self, subjects: &[Subject]) -> String {
        let (name, Case { mode, size }) = (self.workload.name(), self.case);
        let comma = if mode.is_empty() { "" } else { ", " };
        let unit = self.workload.unit();
        format!("{}: {name}{comma}{mode}, {size} {unit}", self.device(subjects).name)
    }
}

impl Rows<'_> {
    /// Measures each device in turn, with an equal share of the time: one whose driver compiles for
    /// long takes it from no other.
    fn measure_all(&self, entries: &[Entry<'_>], matrix: &mut Matrix) {
        let bar = bar(entries.len() * PASSES);
        bar.enable_steady_tick(Duration::from_millis(500));
        let devices: Vec<&[Entry<'_>]> =
            entries.chunk_by(|one, next| one.subject == next.subject).collect();
        for (nth, entries) in devices.iter().enumerate() {
            let share = |until| share(Instant::now(), until, devices.len() - nth);
            let rows = Rows { deadline: self.deadline.map(share), ..*self };
            rows.measure_device(entries, matrix, &bar);
        }
        bar.finish_and_clear();
    }

    fn measure_device(&self, entries: &[Entry<'_>], matrix: &mut Matrix, bar: &ProgressBar) {
        for pass in 0..PASSES {
            for (at, entry) in entries.iter().enumerate() {
                bar.set_message(entry.title(self.subjects));
                let left = entries.len() * (PASSES - pass) - at;
                self.pass(pass, entry, left, matrix);
                bar.inc(1);
            }
        }
    }

    /// A pass of a row, of which so many are left. Controls are measured whatever the time.
    fn pass(&self, pass: usize, entry: &Entry<'_>, left: usize, matrix: &mut Matrix) {
        let what = entry.title(self.subjects);
        let row = matrix.rows.iter().position(|row| entry.is(row, self.subjects));
        if pass > 0 && row.is_none() {
            return;
        }
        let is_over = self.deadline.is_some_and(|deadline| deadline <= Instant::now());
        if is_over && (pass > 0 || !entry.workload.is_control()) {
            let reason = "the time was used up (--budget)".to_owned();
            matrix.left_out.extend((pass == 0).then_some(LeftOut { what, reason }));
            return;
        }
        match (self.row(entry, self.limits(self.deadline, left)), row) {
            (Ok(more), Some(row)) => add(&mut matrix.rows[row], &more),
            (Ok(new), None) => matrix.rows.push(new),
            (Err(why), row) => {
                // A row that failed once has no figure.
                row.map(|row| matrix.rows.remove(row));
                let list = if why.is_skip() { &mut matrix.left_out } else { &mut matrix.failed };
                list.push(LeftOut { what, reason: why.to_string() });
            }
        }
    }

    /// An equal share of what time is left.
    fn limits(&self, deadline: Option<Instant>, rows: usize) -> Limits {
        let (sample, rounds, time) = match self.options.effort() {
            Effort::Quick => (3, [3, 11], 350),
            Effort::Normal => (5, [5, 15], 800),
            Effort::Full => (10, [9, 35], 3500),
        };
        let share = deadline.map(|at| at.saturating_duration_since(Instant::now()) / rows as u32);
        let time = Duration::from_millis(time).min(share.unwrap_or(Duration::MAX));
        Limits { sample: Duration::from_millis(sample), rounds, time }
    }

    fn row(&self, entry: &Entry<'_>, limits: Limits) -> Result<Row> {
        let started = Instant::now();
        let Subject { bench, device, .. } = &self.subjects[entry.subject];
        let mut pair = entry.workload.prepare(bench, entry.case)?;
        let time = limits.time.saturating_sub(started.elapsed());
        let Samples { times, ours, theirs, check } = measure(&mut pair, Limits { time, ..limits })?;
        let ours_ns = median(&ours);
        Ok(Row {
            workload: entry.workload.name().to_owned(),
            mode: entry.case.mode.to_owned(),
            size: entry.case.size as u64,
            unit: entry.workload.unit().to_owned(),
            device: device.name.clone(),
            against: pair.against,
            is_control: entry.workload.is_control(),
            times: times as u64,
            ours_ns,
            theirs_ns: median(&theirs),
            ratio: compare::ratio(&ours, &theirs, &[]),
            passes: vec![ours.len()],
            peak: part(&pair.work, device, ours_ns),
            work: pair.work,
            saved: None,
            tolerance: pair.tolerance,
            check,
            peers: Vec::new(),
            ours,
            theirs,
        })
    }
}

/// Which peak bounds the work, and how much of that it reaches in so many nanoseconds.
fn part(work: &Work, device: &Device, ns: f64) -> Option<Part> {
    let (peaks, cache) = (&device.peaks, device.cache as f64);
    let is_cached = work.working_set <= 2.0 * cache;
    let bounds = [
        ("bandwidth", work.bytes, peaks.bytes),
        ("arithmetic", work.flops, peaks.flops),
        ("launches", work.launches, peaks.launches),
        ("upload", work.upload, peaks.upload),
        ("download", work.download, peaks.download),
    ];
    let seconds =
        bounds.map(|(of, amount, peak)| (of, if peak > 0.0 { amount / peak } else { 0.0 }));
    let (of, least) = seconds.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    // The memory bounds nothing that stays in the caches.
    let is_memory = of == "bandwidth" || (device.is_cpu && of.ends_with("load"));
    let is_known = least > 0.0 && !(is_memory && is_cached);
    is_known.then(|| Part { of: of.to_owned(), percent: 100.0 * least * 1e9 / ns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::ALL;
    use clap::Parser;

    /// BENCH-02: controls come first on each device, and small sizes before large ones.
    #[test]
    fn entries_begin_with_controls_on_every_device() {
        let options = Options::parse_from(["x", "--full", "-w", "stream"]);
        let workloads = options.workloads(ALL).unwrap();
        let site = |is_gpu| Site { effort: Effort::Full, is_gpu };
        let all = entries(&[site(false), site(true)], &workloads, &options);
        let devices: Vec<_> = all.chunk_by(|one, next| one.subject == next.subject).collect();
        assert_eq!(devices.len(), 2, "a device's rows are together");
        for of_device in devices {
            let controls = of_device.iter().take_while(|entry| entry.workload.is_control()).count();
            assert_eq!(controls, 3);
            let rows = &of_device[controls..];
            assert!(rows.len() > 10 && rows.iter().all(|entry| !entry.workload.is_control()));
            assert!(rows.is_sorted_by_key(|entry| entry.rank));
        }
    }

    /// BENCH-01: what a device leaves of its share, those after it have; what it takes beyond, they
    /// have not.
    #[test]
    fn shares_are_equal_parts_of_the_time_that_is_left() {
        let (now, second) = (Instant::now(), Duration::from_secs(1));
        let until = now + 30 * second;
        assert_eq!(share(now, until, 3), now + 10 * second);
        assert_eq!(share(now + 4 * second, until, 2), now + 17 * second);
        assert_eq!(share(now + 17 * second, until, 1), until);
        assert_eq!(share(until + second, until, 2), until + second, "nothing is left");
    }
}
