//! Random programs, and faults, on the devices of this machine: alone, and beside a CPU in one runtime.
//!
//! Where there is a GPU:
//! `FOLIO_BUDGET_PROGRAMS_SECS=60 cargo test -p folio-model --test machines cuda -- --nocapture`.

use folio_core::hal::Backend;
use folio_cuda::CudaBackend;
use folio_model::faulty;
use folio_model::features::Tally;
use folio_model::generate::{Menu, Target};
use folio_model::machine::Machine;
use folio_model::suite::{Budget, cases, line, program_case};
use folio_model::world::{Plain, Wrap};
use folio_opencl::OpenClBackend;
use std::sync::Arc;
use std::time::Instant;

/// A machine, as long as the process; without devices, the reason why is said.
fn find(backends: Vec<Arc<dyn Backend>>) -> Option<&'static [Machine]> {
    let mut machines = Vec::new();
    for backend in backends {
        let name = backend.name().to_owned();
        match Machine::new(backend) {
            Ok(machine) => machines.push(machine),
            Err(why) => {
                println!("skipped: {name}: {why}");
                return None;
            }
        }
    }
    Some(machines.leak())
}

/// OpenCL with shared virtual memory and without, alone and beside a CPU.
fn opencl() -> Option<Vec<Target>> {
    let with = find(vec![Arc::new(OpenClBackend::new())])?;
    let without = find(vec![Arc::new(OpenClBackend::without_svm())])?;
    let each = [with, without].into_iter();
    Some(
        each.flat_map(|machines| [false, true].map(|cpu| Target::Machines { machines, cpu }))
            .collect(),
    )
}

/// CUDA alone, beside a CPU, and beside OpenCL on the same GPU.
fn cuda() -> Option<Vec<Target>> {
    let alone = find(vec![Arc::new(CudaBackend::new())])?;
    let mut targets = [false, true].map(|cpu| Target::Machines { machines: alone, cpu }).to_vec();
    let both = find(vec![Arc::new(CudaBackend::new()), Arc::new(OpenClBackend::new())]);
    targets.extend(both.map(|machines| Target::Machines { machines, cpu: false }));
    Some(targets)
}

type Case<'a> = &'a (dyn Fn(u64, &Tally) -> Result<(), String> + Sync);

fn suite(name: &str, budget: &str, case: Case<'_>) {
    let (budget, start, tally) = (Budget::of(budget), Instant::now(), Tally::default());
    let (done, wrong) = cases(budget, 2, &|seed| case(seed, &tally));
    println!("{}", line(name, done, start.elapsed(), wrong.len(), budget.seed));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    for (feature, programs) in tally.counts() {
        println!("  {programs} with {feature}");
    }
    let least = budget.cases.unwrap_or(budget.least);
    assert!(done >= least, "{done} cases, at least {least} asked");
}

fn programs(name: &str, budget: &str, targets: &[Target]) {
    let plain: Arc<dyn Wrap> = Arc::new(Plain);
    suite(name, budget, &|seed, tally| {
        let target = targets[(seed % targets.len() as u64) as usize];
        program_case(seed, Menu::of(target), &plain, tally)
    });
}

fn faults(name: &str, budget: &str, targets: &[Target]) {
    let soak = Budget::of(budget).cases.is_some();
    suite(name, budget, &|seed, tally| match soak {
        true => faulty::sweep(seed, targets, tally),
        false => faulty::sample(seed, targets, tally),
    });
}

#[test]
fn suite_programs_opencl() {
    if let Some(targets) = opencl() {
        programs("programs_opencl", "PROGRAMS_OPENCL", &targets);
    }
}

#[test]
fn suite_faults_opencl() {
    if let Some(targets) = opencl() {
        faults("faults_opencl", "FAULTS_OPENCL", &targets);
    }
}

#[test]
fn suite_programs_cuda() {
    if let Some(targets) = cuda() {
        programs("programs (cuda)", "PROGRAMS", &targets);
    }
}

#[test]
fn suite_faults_cuda() {
    if let Some(targets) = cuda() {
        faults("faults (cuda)", "FAULTS", &targets);
    }
}
