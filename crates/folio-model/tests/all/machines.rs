//! Random programs, and faults, on the devices of this machine: alone, and beside a CPU in one
//! runtime.
//!
//! Where there is a GPU:
//! `FOLIO_BUDGET_PROGRAMS_CUDA_SECS=60 FOLIO_BUDGET_FAULTS_CUDA_SECS=60
//! cargo test -p folio-model --test all cuda -- --nocapture`.

use folio_core::hal::Backend;
use folio_cuda::CudaBackend;
use folio_model::faulty;
use folio_model::features::Tally;
use folio_model::generate::{Menu, Target};
use folio_model::machine::Machine;
use folio_model::suite::{Budget, cases, line, program_case};
use folio_model::world::{Plain, Wrap};
use folio_opencl::OpenClBackend;
use folio_vulkan::{Messages, VulkanBackend};
use std::sync::Arc;
use std::time::Instant;

/// Machines, as long as the process; an error is which has no devices, and why.
fn find(backends: Vec<Arc<dyn Backend>>) -> Result<&'static [Machine], String> {
    let mut machines = Vec::new();
    for backend in backends {
        let name = backend.name().to_owned();
        machines.push(Machine::new(backend).map_err(|why| format!("{name}: {why}"))?);
    }
    Ok(machines.leak())
}

/// OpenCL with shared virtual memory and without, alone and beside a CPU.
fn opencl() -> Result<Vec<Target>, String> {
    let with = find(vec![Arc::new(OpenClBackend::new().with_all_svm())])?;
    let without = find(vec![Arc::new(OpenClBackend::without_svm())])?;
    let both_ways = |machines| [false, true].map(|cpu| Target::Machines { machines, cpu });
    Ok([with, without].into_iter().flat_map(both_ways).collect())
}

/// Vulkan with its validation layer, alone, beside a CPU, beside OpenCL, and as if its devices did
/// not share the host's memory; what the layer says, which is of the whole process.
fn vulkan() -> Result<(Vec<Target>, Messages), String> {
    let backend = VulkanBackend::new().validated();
    let messages = backend.messages();
    let backend: Arc<dyn Backend> = Arc::new(backend);
    let alone = find(vec![backend.clone()])?;
    let mut targets = [false, true].map(|cpu| Target::Machines { machines: alone, cpu }).to_vec();
    let discrete = find(vec![Arc::new(VulkanBackend::new().validated().as_discrete())])?;
    targets.extend([false, true].map(|cpu| Target::Machines { machines: discrete, cpu }));
    if let Ok(both) = find(vec![backend, Arc::new(OpenClBackend::new())]) {
        targets.push(Target::Machines { machines: both, cpu: true });
    }
    Ok((targets, messages))
}

/// Runs a suite where there are such devices; the layer has nothing to say.
fn on_vulkan(targets: Result<(Vec<Target>, Messages), String>, suite: impl FnOnce(&[Target])) {
    let (targets, messages) = match targets {
        Ok((targets, messages)) => (Ok(targets), messages),
        Err(why) => (Err(why), Messages::default()),
    };
    on(targets, suite);
    let said = messages.all();
    assert!(said.is_empty(), "{} messages: {}", said.len(), said[0]);
}

#[test]
fn suite_programs_vulkan() {
    on_vulkan(vulkan(), |targets| programs("programs_vulkan", "PROGRAMS_VULKAN", targets));
}

#[test]
fn suite_faults_vulkan() {
    on_vulkan(vulkan(), |targets| faults("faults_vulkan", "FAULTS_VULKAN", targets));
}

/// CUDA alone, and beside a CPU.
fn cuda() -> Result<Vec<Target>, String> {
    let machines = find(vec![Arc::new(CudaBackend::new())])?;
    Ok([false, true].map(|cpu| Target::Machines { machines, cpu }).to_vec())
}

/// CUDA and OpenCL in one runtime, on the same GPU where that has both.
fn cuda_and_opencl() -> Result<Vec<Target>, String> {
    let machines = find(vec![Arc::new(CudaBackend::new()), Arc::new(OpenClBackend::new())])?;
    Ok([false, true].map(|cpu| Target::Machines { machines, cpu }).to_vec())
}

/// CUDA and Vulkan in one runtime, on the same GPU where that has both; what the layer says.
fn cuda_and_vulkan() -> Result<(Vec<Target>, Messages), String> {
    let backend = VulkanBackend::new().validated();
    let messages = backend.messages();
    let machines = find(vec![Arc::new(CudaBackend::new()), Arc::new(backend)])?;
    Ok(([false, true].map(|cpu| Target::Machines { machines, cpu }).to_vec(), messages))
}

/// Runs a suite where there are such devices.
fn on(targets: Result<Vec<Target>, String>, suite: impl FnOnce(&[Target])) {
    match targets {
        Ok(targets) => suite(&targets),
        Err(why) => println!("skipped: {why}"),
    }
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
    on(opencl(), |targets| programs("programs_opencl", "PROGRAMS_OPENCL", targets));
}

#[test]
fn suite_faults_opencl() {
    on(opencl(), |targets| faults("faults_opencl", "FAULTS_OPENCL", targets));
}

#[test]
fn cuda_runs_programs() {
    on(cuda(), |targets| programs("programs_cuda", "PROGRAMS_CUDA", targets));
}

#[test]
fn cuda_meets_faults() {
    on(cuda(), |targets| faults("faults_cuda", "FAULTS_CUDA", targets));
}

#[test]
fn cuda_and_opencl_run_programs() {
    on(cuda_and_opencl(), |targets| programs("programs_both", "PROGRAMS_CUDA", targets));
}

#[test]
fn cuda_and_opencl_meet_faults() {
    on(cuda_and_opencl(), |targets| faults("faults_both", "FAULTS_CUDA", targets));
}

#[test]
fn cuda_and_vulkan_run_programs() {
    let suite = |targets: &[Target]| programs("programs_twins", "PROGRAMS_VULKAN", targets);
    on_vulkan(cuda_and_vulkan(), suite);
}

#[test]
fn cuda_and_vulkan_meet_faults() {
    let suite = |targets: &[Target]| faults("faults_twins", "FAULTS_VULKAN", targets);
    on_vulkan(cuda_and_vulkan(), suite);
}
