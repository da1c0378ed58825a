//! Controls: the same hand-written code on both sides. Their ratio must read 1.0; how far it is
//! from that is how far the machine can be trusted.

use crate::bench::{Bench, Case, Pair, Site, Workload};
use crate::error::Result;
use crate::workloads::{launch, nbody, stream};

/// The workload.
pub struct Control;

impl Workload for Control {
    fn name(&self) -> &'static str {
        "control"
    }

    fn about(&self) -> &'static str {
        "hand-written code against itself: must read 1.0"
    }

    fn unit(&self) -> &'static str {
        "rounds"
    }

    fn modes(&self) -> &'static [&'static str] {
        &["bandwidth", "arithmetic", "launches"]
    }

    fn sizes(&self, _: &str, _: Site) -> Vec<usize> {
        vec![1]
    }

    fn is_control(&self) -> bool {
        true
    }

    fn prepare(&self, bench: &Bench, case: Case) -> Result<Pair> {
        let side = || match case.mode {
            "bandwidth" => {
                stream::by_hand(bench, "triad", if bench.is_gpu() { 1 << 26 } else { 1 << 22 })
            }
            "arithmetic" => nbody::by_hand(bench, if bench.is_gpu() { 1 << 15 } else { 1 << 11 }),
            _ => launch::by_hand(bench, 100),
        };
        let (work, ours) = side()?;
        let (_, theirs) = side()?;
        Ok(Pair { against: "itself".to_owned(), ..bench.pair(work, ours, theirs) })
    }
}
