//! Slow-downs that are planted into real runs.

use crate::bench::{Bench, Case, Pair, Run, Site, Workload};
use crate::compare::over_gate;
use crate::error::Result;
use crate::execute;
use crate::options::Options;
use crate::record::{Change, Matrix};
use crate::run::run;
use crate::workloads::ALL;
use clap::Parser;
use std::time::Duration;

/// The time of a planted sleep: more than a busy machine takes to wake up a thread.
const SLEEP: Duration = Duration::from_millis(40);

/// The kernels of a stream, in which ours sleeps in one mode and the baseline in another.
struct Slowed(&'static dyn Workload);

fn slowed(mut run: Run) -> Run {
    Box::new(move |times| {
        std::thread::sleep(SLEEP * times as u32);
        run(times)
    })
}

impl Workload for Slowed {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn about(&self) -> &'static str {
        self.0.about()
    }

    fn unit(&self) -> &'static str {
        self.0.unit()
    }

    fn modes(&self) -> &'static [&'static str] {
        self.0.modes()
    }

    fn sizes(&self, mode: &str, site: Site) -> Vec<usize> {
        self.0.sizes(mode, site)
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let mut pair = self.0.prepare(bench, case)?;
        match case.mode {
            "copy" => pair.ours.run = slowed(pair.ours.run),
            "mul" => pair.theirs.run = slowed(pair.theirs.run),
            _ => {}
        }
        Ok(pair)
    }
}

fn stream() -> &'static dyn Workload {
    *ALL.iter().find(|workload| workload.name() == "stream").unwrap()
}

/// BENCH-02: a run that finds no time for a row is a failure, and says which device has none. Its
/// controls are there all the same.
#[test]
fn a_run_without_rows_is_a_failure() {
    let _alone = super::alone();
    let folder = super::files::folder("no-rows");
    let words = "x -b cpu --quick --budget 0 -w stream -s 2^16 -m copy".split(' ');
    let mut options = Options::parse_from(words);
    options.out = folder.clone();
    let control = *ALL.iter().find(|workload| workload.is_control()).unwrap();
    let outcome = execute(&options, &[control, &Slowed(stream())]).unwrap();
    assert!(!outcome.is_good);
    assert!(outcome.text.contains("NO ROW of cpu:0 was measured"), "{}", outcome.text);
    let matrix = Matrix::load(&folder.join("matrix.json")).unwrap();
    assert_eq!(matrix.rows.iter().filter(|row| row.is_control).count(), 3);
    assert_eq!(matrix.rows.len(), 3);
    let out = matrix.left_out.iter().find(|out| out.what == "cpu:0: stream, copy, 65536 f32");
    assert_eq!(out.unwrap().reason, "the time was used up (--budget)");
    let page = std::fs::read_to_string(folder.join("index.html")).unwrap();
    assert!(page.contains("<p class=\"trust bad\">No row of cpu:0 was measured"));
    std::fs::remove_dir_all(&folder).unwrap();
}

fn measured(workload: &dyn Workload, saved: Option<&Matrix>) -> Matrix {
    let options = Options::parse_from(["x", "-b", "cpu", "--quick", "-w", "stream", "-s", "2^16"]);
    run(&options, &[workload], saved).unwrap()
}

/// BENCH-02: a sleep in ours and one in a baseline are found and are over the gate; two runs of the
/// same build are not.
#[test]
fn planted_slow_downs_are_found_and_two_equal_runs_are_not() {
    let _alone = super::alone();
    let saved = measured(stream(), None);
    assert_eq!(saved.rows.len(), 6);
    let same = measured(stream(), Some(&saved));
    let over = over_gate(&same, 100.0);
    assert!(over.is_empty(), "{:?}", over.iter().map(|row| row.saved).collect::<Vec<_>>());

    let slow = measured(&Slowed(stream()), Some(&saved));
    let change = |mode: &str| {
        let row = slow.rows.iter().find(|row| row.mode == mode);
        row.and_then(|row| row.saved).map(|saved| saved.change)
    };
    assert_eq!(change("copy"), Some(Change::Slower));
    assert_eq!(change("mul"), Some(Change::BaselineSlower));
    let over: Vec<&str> = over_gate(&slow, 100.0).iter().map(|row| row.mode.as_str()).collect();
    assert_eq!(over, ["copy", "mul"]);
}
