//! The algorithms beside plain Rust, to the bit: on the CPU with one and two domains, interpreted,
//! and on the devices of each driver.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod blocks;
mod draws;
mod folds;
mod fused;
mod launches;
mod moves;
mod shared;

use folio::algorithms::{self, Direction};
use folio::error::GraphError;
use folio::hal::Backend;
use folio::prelude::*;
use folio::sched::{Candidate, Scheduler, Task};
use folio_cpu::CpuBackend;
use folio_model::interp::{InSubgroups, Interpreter};
use folio_model::on_each_driver;
use folio_model::rng::Rng;
use folio_sim::{DeviceSpec, SimBackend};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where the algorithms run.
struct Rig {
    rt: Runtime,
    q: Queue,
    /// Elements of the largest inputs.
    most: usize,
    /// Compilers are slow: fewer types, and fewer sizes of groups.
    few: bool,
}

impl Rig {
    fn new(backend: impl Backend, most: usize) -> Rig {
        let rt = Runtime::builder().backend(backend).build().unwrap();
        // The last device: of two domains the one that is not the host's.
        let device = rt.devices().pop().unwrap();
        let q = rt.queue_on(&device).unwrap();
        Rig { rt, q, most, few: false }
    }

    /// Lengths around powers of two and sizes of groups, random ones, and a large one.
    fn lengths(&self) -> Vec<usize> {
        if self.few {
            let some = [0, 1, 256, 1025, 2049, 8193, 66_000];
            return some.into_iter().filter(|n| *n <= self.most).collect();
        }
        let mut all = vec![0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 255, 256, 257, 511, 512, 513, 1000];
        all.extend([1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 16_383, 16_384, 16_385]);
        all.extend([65_535, 65_536, 65_537, 65_536 + 300]);
        let mut rng = Rng::new(self.most as u64);
        all.extend([rng.below(5000), rng.below(100_000), 1_000_000]);
        all.retain(|n| *n <= self.most);
        all
    }
}

type Check = fn(&Rig) -> folio::Result<()>;

/// Computations, each with its check.
const CHECKS: &[Check] = &[
    folds::reductions,
    folds::indices_of_extremes,
    folds::scans,
    folds::scans_of_parts,
    folds::runs_are_scanned_each,
    folds::segments_become_one_each,
    folds::lengths_must_fit,
    folds::shapes_are_taken_row_after_row,
    moves::keys_are_sorted,
    moves::keys_without_disorder,
    moves::parts_are_sorted,
    moves::kept_elements_are_beside_each_other,
    moves::elements_are_divided_in_their_order,
    moves::equal_neighbours_become_one,
    moves::what_32_bits_cannot_number_is_refused,
    moves::rows_become_columns,
    fused::maps_are_part_of_a_scan,
    fused::algorithms_are_recorded,
    fused::each_run_of_a_graph_begins_anew,
    fused::reductions_of_one_array_read_it_once,
    fused::a_map_before_a_reduction_leaves_no_array,
    fused::maps_around_a_scan_are_part_of_it,
    fused::a_map_of_flags_is_part_of_a_compaction,
    fused::a_map_of_indices_is_part_of_a_histogram,
    fused::a_map_of_keys_is_part_of_an_order,
    moves::indices_are_counted,
    moves::axes_are_permuted,
    moves::elements_are_scattered,
    moves::memory_of_a_failed_gather_is_not_shown,
    moves::sequences_are_merged,
    moves::segments_are_sorted,
    draws::uniform_numbers,
    draws::normal_numbers,
    draws::kernels_draw,
];

/// Checks of kernels that become part of algorithms.
const FUSED: &[Check] =
    &[fused::maps_around_a_scan_are_part_of_it, fused::a_map_of_flags_is_part_of_a_compaction];

#[test]
fn cpu_with_one_domain() {
    let rig = Rig::new(CpuBackend::builder().threads(2).build().unwrap(), 1_000_000);
    for check in CHECKS {
        check(&rig).unwrap();
    }
}

#[test]
fn cpu_with_two_domains() {
    let cpu = CpuBackend::builder().domains(2).threads(1).build().unwrap();
    let rig = Rig::new(cpu, 100_000);
    for check in CHECKS {
        check(&rig).unwrap();
    }
}

/// Another thread writes keys and flags between the commands of an algorithm: results are of some
/// of its values, and nothing is written where it does not belong.
#[test]
fn others_may_write_between_the_commands() {
    const N: usize = 70_000;
    let rig = Rig::new(CpuBackend::builder().threads(2).build().unwrap(), N);
    let keys = rig.rt.buffer::<u32, 1>(N).unwrap().into_shared();
    let other = rig.rt.queue_on(rig.q.device().name()).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            for turn in 0u32.. {
                if is_done.load(Ordering::Relaxed) {
                    break;
                }
                let value = if turn % 2 == 0 { u32::MAX } else { 0 };
                let event = other.fill(&keys, value).unwrap();
                if turn % 8 == 0 {
                    event.wait().unwrap();
                }
            }
        });
        for turn in 0..150 {
            algorithms::sort(&rig.q, Direction::Ascending, &keys).unwrap();
            let (kept, count) = algorithms::compact(&rig.q, &keys, &keys).unwrap();
            let mut parts = rig.rt.buffer::<u32, 1>(N).unwrap();
            algorithms::partition(&rig.q, &keys, &keys, &mut parts).unwrap();
            let wrong = keys.to_vec().and(kept.to_vec()).and(parts.to_vec()).and(count.to_vec());
            if wrong.is_err() {
                is_done.store(true, Ordering::Relaxed);
            }
            wrong.unwrap_or_else(|why| panic!("turn {turn}: {why}"));
        }
        is_done.store(true, Ordering::Relaxed);
    });
}

/// Another thread begins and ends recordings of the queue: a sort has run, or is in the graph as a
/// whole, or is refused. A move of keys without the count before it would lose some.
#[test]
fn a_recording_begins_and_ends_between_the_commands() {
    const N: usize = 40_000;
    let rig = Rig::new(CpuBackend::builder().threads(2).build().unwrap(), N);
    let graph = rig.rt.graph(&rig.q.device()).unwrap();
    let keys = words(&mut Rng::new(3), N);
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    let is_done = AtomicBool::new(false);
    let mut refused = 0;
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                drop(graph.record([&rig.q]).unwrap());
            }
        });
        let mut wrong = None;
        for turn in 0..60 {
            let mut x = rig.rt.buffer_from(&keys).unwrap();
            let result = algorithms::sort(&rig.q, Direction::Ascending, &mut x);
            let now = x.to_vec().unwrap();
            let is_whole = match &result {
                Ok(()) => now == sorted || now == keys,
                Err(Error::Graph { why, .. }) => **why == GraphError::Divided && now == keys,
                Err(_) => false,
            };
            refused += usize::from(result.is_err());
            if !is_whole {
                wrong = Some((turn, result));
                break;
            }
        }
        is_done.store(true, Ordering::Relaxed);
        assert!(wrong.is_none(), "{wrong:?}");
    });
    assert!(refused > 0, "no recording was in the way");
}

/// A scheduler gives each command to the other of two devices, one of which has sub-groups.
#[test]
fn devices_of_a_queue_may_differ() {
    struct InTurn;
    impl Scheduler for InTurn {
        fn choose(&self, task: &Task<'_>, candidates: &[Candidate<'_>]) -> usize {
            task.sequence as usize % candidates.len()
        }
    }
    let spec = DeviceSpec::new().closures(false).ir(Arc::new(InSubgroups(8)));
    let cpu = CpuBackend::builder().threads(2).build().unwrap();
    let sim = SimBackend::builder().device(spec).build();
    let rt = Runtime::builder().backend(sim).backend(cpu).build().unwrap();
    for order in [["sim:0", "cpu:0"], ["cpu:0", "sim:0"]] {
        let q = rt.queue_over(&order.map(|name| rt.device(name).unwrap()), InTurn).unwrap();
        let rig = Rig { rt: rt.clone(), q, most: 600, few: true };
        moves::keys_are_sorted(&rig).unwrap();
        moves::kept_elements_are_beside_each_other(&rig).unwrap();
        moves::indices_are_counted(&rig).unwrap();
        folds::scans(&rig).unwrap();
    }
}

#[test]
fn interpreted() {
    let spec = DeviceSpec::new().closures(false).ir(Arc::new(Interpreter));
    let sim = SimBackend::builder().device(spec).build();
    let handle = sim.handle();
    let rig = Rig::new(sim, 1000);
    for check in CHECKS {
        check(&rig).unwrap();
    }
    assert_eq!(handle.violations(), []);
}

/// What goes by sub-groups gives the same whatever their width is, also where it is no power of
/// two; on large tiles from 32 items on.
#[test]
fn interpreted_in_subgroups() {
    for width in [2, 3, 8, 32, 128] {
        let spec = DeviceSpec::new().closures(false).ir(Arc::new(InSubgroups(width)));
        let rig = Rig::new(SimBackend::builder().device(spec).build(), 0);
        for n in [2, 100, if width < 32 { 500 } else { 4300 }] {
            moves::keys_of_tiles(&rig, n).unwrap();
        }
    }
}

#[test]
fn cpu_fuses_maps_and_algorithms() {
    let rig = Rig::new(CpuBackend::builder().threads(2).build().unwrap(), 1_000_000);
    for check in FUSED {
        check(&rig).unwrap();
    }
}

on_each_driver! {
    /// Kernels beside algorithms where a driver compiles both.
    #[test]
    fn compile_fused(driver) {
        let rig = Rig { few: true, ..Rig::new(driver.open(), 66_000) };
        for check in FUSED {
            check(&rig).unwrap();
        }
    }
}

on_each_driver! {
    /// All of them where a driver compiles the kernels.
    #[test]
    fn compile_all(driver) {
        let rig = Rig { few: true, ..Rig::new(driver.open(), 66_000) };
        for check in CHECKS {
            check(&rig).unwrap();
        }
        moves::many_elements(&rig).unwrap();
    }
}

/// Floats of all sizes and signs, with zeros, infinities and NaN.
fn floats(rng: &mut Rng, n: usize) -> Vec<f32> {
    let edges =
        [0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MIN_POSITIVE, f32::MAX];
    let one = |_| match rng.below(8) {
        0 => edges[rng.below(edges.len())],
        1 => rng.below(5) as f32,
        _ => (rng.next() as i32) as f32 * 1e-6,
    };
    (0..n).map(one).collect()
}

/// Floats that sums stay finite with.
fn tame(rng: &mut Rng, n: usize) -> Vec<f32> {
    (0..n).map(|_| (rng.next() as i32) as f32 * 1e-6).collect()
}

fn words(rng: &mut Rng, n: usize) -> Vec<u64> {
    (0..n).map(|_| rng.next() >> (rng.below(2) * 60)).collect()
}
