//! Random programs, and faults, on the devices of a driver.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio_core::hal::Backend;
use folio_model::drivers::Driver;
use folio_model::faulty;
use folio_model::features::Tally;
use folio_model::generate::{Menu, Target};
use folio_model::machine::Machine;
use folio_model::suite::{Budget, cases, line, program_case};
use folio_model::world::{Plain, Wrap};
use std::sync::Arc;
use std::time::Instant;

/// Devices of these backends in one runtime, alone and beside a CPU; as long as the process.
fn targets<const N: usize>(backends: [Arc<dyn Backend>; N]) -> [Target; 2] {
    let machines: &'static [Machine] =
        Vec::leak(backends.map(|backend| Machine::new(backend).unwrap()).into());
    [false, true].map(|cpu| Target::Machines { machines, cpu })
}

/// The driver's devices in each form.
pub(crate) fn forms(driver: &Driver) -> Vec<Target> {
    driver.forms.iter().flat_map(|form| targets([Arc::new((form.open)())])).collect()
}

/// The driver's devices and those of another one, if there are some: the same GPUs, where these
/// have both.
pub(crate) fn twins(driver: &Driver) -> Option<Vec<Target>> {
    let other = driver.neighbour()?;
    Some(targets([Arc::new(driver.open()), Arc::new(other.open())]).into())
}

type Case<'a> = &'a (dyn Fn(u64, &Tally) -> Result<(), String> + Sync);

fn suite(name: &str, case: Case<'_>) {
    let (budget, start, tally) = (Budget::of(name), Instant::now(), Tally::default());
    let (done, wrong) = cases(budget, 2, &|seed| case(seed, &tally));
    println!("{}", line(&name.to_lowercase(), done, start.elapsed(), wrong.len(), budget.seed));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    for (feature, programs) in tally.counts() {
        println!("  {programs} with {feature}");
    }
    let least = budget.cases.unwrap_or(budget.least);
    assert!(done >= least, "{done} cases, at least {least} asked");
}

/// Runs random programs within the budget of this name.
pub(crate) fn programs(name: &str, targets: &[Target]) {
    let plain: Arc<dyn Wrap> = Arc::new(Plain);
    suite(name, &|seed, tally| {
        let target = targets[(seed % targets.len() as u64) as usize];
        program_case(seed, Menu::of(target), &plain, tally)
    });
}

/// Runs programs with faults within the budget of this name.
pub(crate) fn faults(name: &str, targets: &[Target]) {
    let soak = Budget::of(name).cases.is_some();
    suite(name, &|seed, tally| match soak {
        true => faulty::sweep(seed, targets, tally),
        false => faulty::sample(seed, targets, tally),
    });
}
