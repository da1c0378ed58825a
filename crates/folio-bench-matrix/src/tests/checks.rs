//! No figure without a checked result.

use crate::bench::{Bench, Case, Counted, Effort, LEAST_SIZE, Pair, Side, Site, Values, Workload};
use crate::devices::find;
use crate::error::{Error, Result};
use crate::measure::{Limits, measure};
use crate::options::{Options, backend};
use crate::record::{Machine, Work};
use crate::run::run;
use crate::workloads::ALL;
use clap::Parser;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

const ONCE: Limits =
    Limits { sample: Duration::ZERO, rounds: [1, 1], time: Duration::from_secs(60) };

fn side(mut next: impl FnMut(u32) -> u32 + 'static) -> Side {
    let value = Rc::new(Cell::new(0));
    let told = value.clone();
    Side {
        run: Box::new(move |times| {
            (0..times).for_each(|_| value.set(next(value.get())));
            Ok(())
        }),
        results: Box::new(move || Ok(Values::U32(vec![told.get()]))),
        counted: None,
    }
}

fn measured(ours: impl FnMut(u32) -> u32 + 'static) -> Result<usize> {
    let mut pair = Pair {
        work: Work::default(),
        against: "itself".to_owned(),
        ours: side(ours),
        theirs: side(|value| value + 1),
        tolerance: 0.0,
        scale: LEAST_SIZE,
    };
    measure(&mut pair, ONCE).map(|samples| samples.ours.len())
}

/// BENCH-02: results are compared before time counts, and after it.
#[test]
fn wrong_results_have_no_figure() {
    assert_eq!(measured(|value| value + 1).unwrap(), 1);
    assert!(matches!(measured(|value| value), Err(Error::NothingDone { side: "ours" })));
    assert!(matches!(measured(|value| value + 2), Err(Error::Mismatch { at: 0, .. })));
    // Right at first, and then no more.
    let late = measured(|value| if value < 2 { value + 1 } else { value });
    assert!(matches!(late, Err(Error::Mismatch { .. })));
}

/// BENCH-02
#[test]
fn what_is_not_a_number_is_wrong() {
    let near = [1e-3, LEAST_SIZE];
    let (nan, one) = (Values::F32(vec![f32::NAN]), Values::F32(vec![1.0]));
    assert!(nan.check(&one, near).is_err());
    assert!(one.check(&Values::F32(vec![1.0005]), near).is_ok());
    assert!(matches!(one.check(&Values::F32(vec![]), near), Err(Error::Lengths { .. })));
}

/// A workload that computes something wrong, but for which nothing else is odd.
struct Wrong;

impl Workload for Wrong {
    fn name(&self) -> &'static str {
        "wrong"
    }

    fn about(&self) -> &'static str {
        "computes something else"
    }

    fn unit(&self) -> &'static str {
        "runs"
    }

    fn modes(&self) -> &'static [&'static str] {
        &[""]
    }

    fn sizes(&self, _: &str, _: Site) -> Vec<usize> {
        vec![1]
    }

    fn prepare(&self, bench: &Bench, _: Case) -> Result<Pair> {
        Ok(bench.pair(Work::default(), side(|value| value + 2), side(|value| value + 1)))
    }
}

/// BENCH-02: such a row is listed as failed.
#[test]
fn a_wrong_row_is_listed_and_has_no_figure() {
    let _alone = super::alone();
    let options = Options::parse_from(["x", "--backend", "cpu", "--quick"]);
    let matrix = run(&options, &[&Wrong], None).unwrap();
    assert!(matrix.rows.is_empty());
    let failed = &matrix.failed[0];
    assert_eq!(failed.what, "cpu:0: wrong, 1 runs");
    assert!(failed.reason.contains("ours 2, by hand 1"), "{}", failed.reason);
}

/// The smallest size of each mode, on each device of a backend: both sides have equal results.
fn all_agree(name: &str) {
    let _alone = super::alone();
    let options = Options::parse_from(["x", "--full"]);
    let rt = crate::devices::runtime().unwrap();
    let (devices, _) = find(&rt, &options).unwrap();
    let of_backend = devices.iter().filter(|device| backend(device.name()) == name);
    let device = match of_backend.clone().next() {
        Some(device) => device,
        None => return println!("skipped: {name}: {}", rt.missing_backends().join("; ")),
    };
    let subject =
        crate::devices::open(&rt, device, &Machine { cache: 1, ..Machine::default() }, &options);
    let (subject, mut checked) = (subject.unwrap(), 0);
    for workload in ALL {
        for mode in workload.modes() {
            let site = Site { effort: Effort::Full, ..subject.site };
            let size = workload.sizes(mode, site).into_iter().min().unwrap();
            let pair = workload.prepare(&subject.bench, Case { mode, size });
            let result = pair.and_then(|mut pair| measure(&mut pair, ONCE));
            match result {
                Ok(_) => checked += 1,
                Err(why) if why.is_skip() => {
                    println!("left out on {name}: {}, {mode}: {why}", workload.name());
                }
                Err(why) => panic!("{}, {mode}, {size} on {name}: {why}", workload.name()),
            }
        }
    }
    assert!(checked > 40, "{checked} rows");
}

/// BENCH-01
#[test]
fn cpu_workloads_agree_with_hand_written_code() {
    all_agree("cpu");
}

/// BENCH-01
#[test]
fn opencl_workloads_agree_with_hand_written_code() {
    all_agree("opencl");
}

/// BENCH-01
#[test]
fn compile_vulkan_workloads_agree_with_hand_written_code() {
    all_agree("vulkan");
}

/// BENCH-01: on a machine with a GPU.
#[test]
fn cuda_workloads_agree_with_hand_written_code() {
    all_agree("cuda");
}

/// BENCH-01: of a side that counts a part of its time, that part is its figure.
#[test]
fn a_part_of_a_run_may_count_alone() {
    let counted = Counted::default();
    let counts = counted.clone();
    let hour = Duration::from_secs(3600);
    let one = side(move |value| {
        counts.add(hour);
        value + 1
    });
    let (work, against) = (Work::default(), String::new());
    let (ours, theirs) = (one.counting(&counted), side(|value| value + 1));
    let mut pair = Pair { work, against, ours, theirs, tolerance: 0.0, scale: LEAST_SIZE };
    let samples = measure(&mut pair, ONCE).unwrap();
    assert_eq!(samples.ours, [hour.as_nanos() as f64]);
    assert_eq!(counted.take(), Duration::ZERO, "each sample has taken what it counted");
}
