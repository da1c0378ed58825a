//! Products, transforms and solvers beside plain Rust: on the CPU with one and two domains,
//! interpreted, and on the devices of each driver.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod products;
mod sparse;
mod transforms;

use folio::error::GraphError;
use folio::hal::Backend;
use folio::linalg::{Choice, Linalg, Transform};
use folio::prelude::*;
use folio_cpu::CpuBackend;
use folio_model::interp::Interpreter;
use folio_model::on_each_driver;
use folio_model::rng::Rng;
use folio_sim::{DeviceSpec, SimBackend};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where the calls run.
struct Rig {
    rt: Runtime,
    q: Queue,
    /// An interpreter computes: small extents only.
    is_slow: bool,
    /// A driver compiles the kernels.
    is_compiled: bool,
    /// Devices are CUDA's: NVIDIA's GPUs by OpenCL and Vulkan have no libraries.
    is_cuda: bool,
}

impl Rig {
    fn new(backend: impl Backend) -> Rig {
        let rt = Runtime::builder().backend(backend).build().unwrap();
        // The last device: of two domains the one that is not the host's.
        let device = rt.devices().pop().unwrap();
        let q = rt.queue_on(&device).unwrap();
        Rig { rt, q, is_slow: false, is_compiled: false, is_cuda: false }
    }

    /// Those of which an interpreter has one.
    fn choices(&self) -> Vec<Choice> {
        if self.is_slow { vec![Choice::Own] } else { vec![Choice::Own, Choice::Auto] }
    }

    fn by(&self, choice: Choice) -> Linalg {
        Linalg::new(&self.q).unwrap().with_choice(choice)
    }
}

type Check = fn(&Rig) -> folio::Result<()>;

/// Computations, each with its check.
const CHECKS: &[Check] = &[
    products::own_products_add_in_order,
    products::parts_are_multiplied,
    products::libraries_compute_the_same_within_rounding,
    products::without_depth_a_product_is_zero,
    products::a_graph_repeats_a_product,
    products::extents_must_fit,
    transforms::transforms_are_sums,
    transforms::real_numbers_have_half_of_the_frequencies,
    transforms::frequencies_need_not_be_those_of_real_numbers,
    transforms::parts_are_transformed_in_place_of_them,
    transforms::a_graph_repeats_a_transform,
    transforms::what_does_not_fit_is_refused,
    sparse::rows_are_added_in_order,
    sparse::dense_columns_are_multiplied,
    sparse::libraries_multiply_the_same_within_rounding,
    sparse::a_graph_repeats_a_sparse_product,
    sparse::malformed_matrices_are_refused,
    sparse::a_solver_ends_at_its_tolerance,
    sparse::a_solver_of_zero_does_nothing,
    sparse::a_solver_shows_what_it_cannot_solve,
];

#[test]
fn cpu_with_one_domain() {
    let rig = Rig::new(CpuBackend::builder().threads(2).build().unwrap());
    for check in CHECKS {
        check(&rig).unwrap();
    }
}

#[test]
fn cpu_with_two_domains() {
    let rig = Rig::new(CpuBackend::builder().domains(2).threads(1).build().unwrap());
    for check in CHECKS {
        check(&rig).unwrap();
    }
}

/// Another thread begins and ends recordings of the queue: a transform has run, or is in the graph
/// as a whole, or is refused.
#[test]
fn a_recording_begins_and_ends_between_the_commands() {
    const N: usize = 4096;
    let rig = Rig::new(CpuBackend::builder().threads(2).build().unwrap());
    let (graph, linalg) = (rig.rt.graph(&rig.q.device()).unwrap(), rig.by(Choice::Own));
    let x = rig.rt.buffer_from(&[[1.0f32, 0.0]; N]).unwrap();
    let [none, mut whole] = [[[0.0f32; 2]; N]; 2];
    whole[0] = [N as f32, 0.0];
    let (is_done, mut refused) = (AtomicBool::new(false), 0);
    let wrong = std::thread::scope(|threads| {
        threads.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                drop(graph.record([&rig.q]).unwrap());
            }
        });
        let mut wrong = (0..2000).filter_map(|turn| {
            let mut y = rig.rt.buffer(N).unwrap();
            let result = linalg.fft(Transform::Forward, 1, &x, &mut y).map(drop);
            let now = y.to_vec().unwrap();
            refused += usize::from(result.is_err());
            let is_whole = match &result {
                Ok(()) => now == whole || now == none,
                Err(Error::Graph { why, .. }) => **why == GraphError::Divided,
                Err(_) => false,
            };
            let is_enough = turn >= 60 && refused > 0;
            (!is_whole || is_enough).then_some((is_whole, result))
        });
        let wrong = wrong.next();
        is_done.store(true, Ordering::Relaxed);
        wrong
    });
    assert!(matches!(wrong, Some((true, _))), "{wrong:?}, {refused} refused");
}

/// A program has all threads of rayon's common pool wait for results of the libraries.
#[test]
fn threads_of_rayon_may_wait() {
    let rig = Rig::new(CpuBackend::builder().threads(2).build().unwrap());
    let (ends, ended) = std::sync::mpsc::channel();
    let begins = std::sync::Barrier::new(rayon::current_num_threads());
    std::thread::spawn(move || {
        let waits = rayon::broadcast(|_| {
            begins.wait();
            let linalg = rig.by(Choice::Library);
            let rows = rig.rt.buffer_from((&[[1.0f32, 0.0]; 1 << 12], [4, 1 << 10]))?;
            let mut frequencies = rig.rt.buffer([4, 1 << 10])?;
            linalg.fft(Transform::Forward, 1, &rows, &mut frequencies)?;
            let a = rig.rt.buffer_from((vec![1.0f32; 1 << 16], [256, 256]))?;
            let mut c = rig.rt.buffer([256, 256])?;
            linalg.matmul(&a, &a, &mut c)?;
            Ok::<_, Error>((frequencies.get([3, 0])?[0], c.get([255, 255])?))
        });
        ends.send(waits.into_iter().collect::<folio::Result<Vec<_>>>()).unwrap();
    });
    let time_out = std::time::Duration::from_secs(100);
    let results = ended.recv_timeout(time_out).expect("nothing has ended").unwrap();
    assert!(results.iter().all(|both| *both == (1024.0, 256.0)), "{results:?}");
}

#[test]
fn interpreted() {
    let spec = DeviceSpec::new().closures(false).ir(Arc::new(Interpreter));
    let sim = SimBackend::builder().device(spec).build();
    let handle = sim.handle();
    let rig = Rig { is_slow: true, ..Rig::new(sim) };
    for check in CHECKS {
        check(&rig).unwrap();
    }
    assert_eq!(handle.violations(), []);
}

on_each_driver! {
    /// All of them where a driver compiles the kernels.
    #[test]
    fn compile_all(driver) {
        let is_cuda = driver.name == "cuda";
        let rig = Rig { is_compiled: true, is_cuda, ..Rig::new(driver.open()) };
        for check in CHECKS {
            check(&rig).unwrap();
        }
    }
}

/// Floats of which sums stay finite.
fn tame(rng: &mut Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| f64::from(rng.next() as i32) * 1e-9).collect()
}
