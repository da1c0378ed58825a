//! Emitted C against the interpreter: random kernels in OpenCL C run on a device (PoCL will do) and give
//! the same bits, functions are within their limits, and the same kernels in CUDA C++ compile (KRN-01).
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

#[path = "emit/compare.rs"]
mod compare;
#[path = "emit/launch.rs"]
mod launch;
#[path = "emit/nvrtc.rs"]
mod nvrtc;
#[path = "emit/opencl.rs"]
mod opencl;

use compare::{exact, same};
use folio_kernel::access::of_launch;
use folio_kernel::emit::{Capabilities, Dialect, Form, emit};
use folio_kernel::tile::tile;
use folio_kernel::{Kernel, Violation, ViolationKind};
use folio_model::interp::{self, BLOCK, Failure, Order};
use folio_model::kernels::{Case, generate};
use folio_model::suite::{Budget, cases, line};
use launch::{How, Ran};
use nvrtc::Nvrtc;
use opencl::OpenCl;
use std::time::Instant;

/// Runs a suite over the seeds of a budget.
fn suite(name: &str, case: &(dyn Fn(u64) -> Result<(), String> + Sync)) {
    let budget = Budget::of(&name.to_uppercase());
    let start = Instant::now();
    let (done, wrong) = cases(budget, 2, case);
    println!("{}", line(name, done, start.elapsed(), wrong.len(), budget.seed));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let least = budget.cases.unwrap_or(budget.least);
    assert!(done >= least, "{done} kernels, at least {least} asked");
}

fn seeded(seed: u64, suite: &str, why: String) -> String {
    format!("{why}\nagain: FOLIO_SEED={seed} FOLIO_SOAK_CASES=1 cargo test -p folio-model {suite}")
}

#[test]
fn suite_emit_opencl() {
    let device = match OpenCl::first() {
        Ok(device) => device,
        Err(why) => return println!("skipped: opencl: {why}"),
    };
    println!("{}", device.name);
    let case = |seed| {
        let case = generate(seed).map_err(|error| error.to_string())?;
        agrees(&device, case, seed).map_err(|why| seeded(seed, "suite_emit_opencl", why))
    };
    suite("emit", &case);
}

/// The device computes what the interpreter does: with checks, without where none are needed, and with
/// several items for each thread.
fn agrees(device: &OpenCl, mut case: Case, seed: u64) -> Result<(), String> {
    exact(&mut case.kernel);
    let mut args = case.args.clone();
    let Ok(ran) = interp::run(&case.kernel, &case.launch, &mut args, Order::Forward, 300_000)
    else {
        return Ok(());
    };
    let found = of_launch(&case.kernel, &case.launch);
    let proved = found.arrays_proved && found.params.iter().all(|param| param.proved);
    let how = |checked| How {
        form: Form { dialect: Dialect::OpenCl, checked },
        block: [1, 3, 4][seed as usize % 3],
        margin: seed as usize % 2,
    };
    let compare = |kernel: &Kernel, how: &How| {
        let there = launch::run(device, kernel, &case.launch, &case.args, how)?;
        outcome(&case, ran.failure.as_ref(), &args, &there)
            .map_err(|why| format!("{why}\n{kernel}\n{:?}\n{}", case.launch, there.text))
    };
    compare(&case.kernel, &how(true))?;
    if proved {
        compare(&case.kernel, &how(false))?;
    }
    let last = usize::from(case.kernel.shape.rank) - 1;
    if let Ok(tiled) = tile(&case.kernel, 2)
        && case.launch.range[last].is_multiple_of(2 * BLOCK)
    {
        compare(&tiled, &How { block: BLOCK as usize, ..how(true) })?;
    }
    Ok(())
}

fn outcome(
    case: &Case,
    failure: Option<&Failure>,
    args: &[interp::Arg],
    there: &Ran,
) -> Result<(), String> {
    match (failure, &there.violation) {
        (None, None) => same(&case.kernel, args, &there.args),
        (Some(failure), Some(violation)) => {
            let alone = !case.kernel.shape.groups && case.launch.range.iter().product::<u64>() == 1;
            match possible(violation) && (!alone || alike(failure, violation)) {
                true => Ok(()),
                false => Err(format!("{violation:?}, not {failure:?}")),
            }
        }
        (failure, violation) => Err(format!("{violation:?}, not {failure:?}")),
    }
}

/// An index that is said to be out of bounds is.
fn possible(violation: &Violation) -> bool {
    match &violation.kind {
        ViolationKind::OutOfBounds { index, extent, .. } => {
            index.len() == extent.len()
                && index.iter().zip(extent).any(|(i, n)| *i as u64 >= *n as u64)
        }
        _ => true,
    }
}

/// The same failure: what an item does first is the same everywhere.
fn alike(failure: &Failure, violation: &Violation) -> bool {
    let site = failure.site.as_ref().is_none_or(|site| *site == violation.site);
    failure.kind == violation.kind && site
}

#[test]
fn suite_nvrtc() {
    let compiler = match Nvrtc::load() {
        Ok(compiler) => compiler,
        Err(why) => return println!("skipped: nvrtc: {why}"),
    };
    let options: Vec<_> = Dialect::Cuda
        .options(true)
        .iter()
        .copied()
        .chain(["--gpu-architecture=compute_80"])
        .collect();
    let case = |seed| {
        let case = generate(seed).map_err(|error| error.to_string())?;
        let compile = |kernel: &Kernel, checked| {
            let form = Form { dialect: Dialect::Cuda, checked };
            let module = emit(kernel, form, &Capabilities::CUDA).map_err(|e| e.to_string())?;
            let (_, log) = compiler
                .compile(&module.text, &options)
                .map_err(|why| format!("{why}\n{}", module.text))?;
            if log.is_empty() { Ok(()) } else { Err(format!("{log}\n{}", module.text)) }
        };
        // One of the forms of each kernel.
        let compiled = match tile(&case.kernel, 4) {
            Ok(tiled) if seed % 3 == 0 => compile(&tiled, true),
            _ => compile(&case.kernel, seed % 2 == 0),
        };
        compiled.map_err(|why| seeded(seed, "suite_nvrtc", why))
    };
    suite("nvrtc", &case);
}
