//! Emitted SPIR-V: random kernels are valid modules of Vulkan, and nothing in them may be
//! contracted (KRN-01, KRN-04). On devices they run by way of the backend.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio_kernel::Kernel;
use folio_kernel::emit::spirv::{Capabilities, Form, emit};
use folio_kernel::soft::Exact;
use folio_kernel::tile::tile;
use folio_model::compilers::spirv::{contractible, other_functions, validate, validator};
use folio_model::kernels::generate;
use folio_model::suite::{Budget, cases, line};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Square roots, and the places of bits.
const FUNCTIONS: [u32; 3] = [31, 73, 75];

/// Emits a kernel in all forms, and says what is wrong; how many operations of floats there are.
fn check(kernel: &Kernel, caps: &Capabilities) -> Result<usize, String> {
    let tiled = tile(kernel, 2).ok();
    let mut floats = 0;
    for kernel in [Some(kernel), tiled.as_ref()].into_iter().flatten() {
        for checked in [true, false] {
            let module = emit(kernel, Form { checked }, caps).map_err(|lacks| lacks.to_string())?;
            validate(&module.words).map_err(|why| format!("{why}\n{kernel}"))?;
            let (all, free) = contractible(&module.words);
            floats += all;
            if free > 0 {
                return Err(format!("{free} of {all} operations may be contracted\n{kernel}"));
            }
            let others = other_functions(&module.words, &FUNCTIONS);
            if !others.is_empty() {
                return Err(format!("functions that need not be exact: {others:?}\n{kernel}"));
            }
        }
    }
    Ok(floats)
}

#[test]
fn suite_spirv_is_valid() {
    if let Err(why) = validator() {
        return println!("skipped: vulkan: {why}");
    }
    let inexact = Exact { f32: false, f64: false, doubles: false, conversions: false };
    let all = [Capabilities::ALL, Capabilities { exact: inexact, ..Capabilities::ALL }];
    let floats = AtomicUsize::new(0);
    let case = |seed: u64| {
        let case = generate(seed).map_err(|error| error.to_string())?;
        let found = check(&case.kernel, &all[seed as usize % 2])
            .map_err(|why| format!("seed {seed}: {why}"))?;
        floats.fetch_add(found, Ordering::Relaxed);
        Ok(())
    };
    let (budget, start) = (Budget::of("SPIRV"), Instant::now());
    let (done, wrong) = cases(budget, 2, &case);
    println!("{}", line("spirv", done, start.elapsed(), wrong.len(), budget.seed));
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(floats.into_inner() > 100, "no floats are computed with");
}
