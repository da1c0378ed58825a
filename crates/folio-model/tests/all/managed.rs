//! Random programs of managed pointers against their model (MPTR-01, MPTR-02, MPTR-03, MPTR-04,
//! MPTR-06, MPTR-07).
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio_core::hal::{Link, MemoryHome};
use folio_core::{Runtime, RuntimeBuilder, memory::Links};
use folio_cpu::CpuBackend;
use folio_model::drivers::Driver;
use folio_model::managed::{case, mistaken};
use folio_model::suite::{Budget, cases, line};
use folio_sim::{DeviceSpec, Script, SimBackend};
use std::time::Instant;

fn cpu(domains: usize) -> CpuBackend {
    CpuBackend::builder().domains(domains).threads(2).build().unwrap()
}

/// Devices with and without direct paths, in the host's memory and in one of their own, and linked
/// with it wherever that can be.
fn devices(seed: u64) -> RuntimeBuilder {
    let builder = Runtime::builder().links(links(seed));
    let script = Script::new().seed(seed).jitter(seed / 6 % 5).overlap(seed.is_multiple_of(2));
    let sim = SimBackend::builder().script(script);
    let at_home = DeviceSpec::new().home(MemoryHome::Host);
    match seed % 6 {
        0 => builder.backend(sim.devices(3, DeviceSpec::new()).peers(Link::default()).build()),
        1 => builder.backend(sim.devices(2, DeviceSpec::new().wait_group(None)).build()),
        2 => builder.backend(sim.device(at_home).device(DeviceSpec::new()).build()),
        3 => builder.backend(sim.device(DeviceSpec::new()).notifies(true).build()).backend(cpu(1)),
        4 => builder.backend(cpu(3)),
        _ => builder.backend(cpu(1)),
    }
}

fn links(seed: u64) -> Links {
    if seed / 12 % 2 == 1 { Links::On } else { Links::Off }
}

fn suite(name: &str, case: impl Fn(u64) -> Result<(), String> + Sync) {
    let (budget, start) = (Budget::of("MANAGED"), Instant::now());
    let (done, wrong) = cases(budget, 2, &case);
    println!("{}", line(name, done, start.elapsed(), wrong.len(), budget.seed));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let least = budget.cases.unwrap_or(budget.least);
    assert!(done >= least, "{done} cases, at least {least} asked");
}

#[test]
fn suite_managed() {
    suite("managed", |seed| case(seed, devices(seed)));
}

/// The suite finds a model that forgets additions.
#[test]
fn mistakes_of_the_model_are_found() {
    let found = (0..12).filter(|seed| mistaken(*seed, devices(*seed)).is_err()).count();
    assert!(found >= 10, "found in {found} of 12 programs");
}

/// On the devices of a driver, each other time beside a CPU with memory of its own.
pub(crate) fn on(driver: &Driver) {
    suite(&format!("managed_{}", driver.name), |seed| {
        let builder = driver.builder().links(links(seed));
        case(seed, if seed.is_multiple_of(2) { builder } else { builder.backend(cpu(2)) })
    });
}
