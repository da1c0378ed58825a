//! Emitted SPIR-V: random kernels are valid modules of Vulkan, and nothing in them may be
//! contracted (KRN-01, KRN-04). On devices they run by way of the backend.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use folio_kernel::emit::spirv::{Capabilities, Form, emit};
use folio_kernel::soft::{Exact, Fused};
use folio_kernel::tile::tile;
use folio_kernel::{Access, Builder, Kernel, Op, Owner, Scalar};
use folio_model::compilers::spirv::{
    contractible, instructions, other_functions, validate, validator,
};
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
    let inexact = Exact {
        f32: false,
        f64: false,
        doubles: false,
        conversions: false,
        comparisons: false,
        fused: Fused::NONE,
    };
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

/// KRN-04: where a device rounds `mul_add` once, it is asked for that, with what the extension
/// wants; elsewhere for nothing of it. No validator here knows it, and no device has it.
#[test]
fn fused_products_are_asked_of_devices_that_have_them() {
    const CAPABILITY: u32 = 17;
    const EXTENSION: u32 = 10;
    const FUSED: u32 = 4427;
    let kernel = |of: Scalar| {
        let mut b = Builder::items("k", 1);
        let x = b.view("x", of, 1, Access::InOut, Owner::Item);
        let i = b.position(0);
        let value = b.load_at(x, [i]);
        let fused = b.op(Op::Fma(value, value, value));
        b.store_at(x, [i], fused);
        b.finish().unwrap()
    };
    let used = |of: Scalar, fused: Fused| {
        let exact = Exact { fused, ..Capabilities::ALL.exact };
        let caps = Capabilities { exact, ..Capabilities::ALL };
        let words = emit(&kernel(of), Form { checked: true }, &caps).unwrap().words;
        let all = instructions(&words);
        let name = u32::from_le_bytes(*b"SPV_");
        let count = |op: u32, is: &dyn Fn(&[u32]) -> bool| {
            all.iter().filter(|(own, operands)| *own == op && is(operands)).count()
        };
        let places = [CAPABILITY, EXTENSION].map(|op| all.iter().rposition(|(own, _)| *own == op));
        if let [capability, Some(extension)] = places {
            assert!(capability < Some(extension), "capabilities come first");
        }
        [
            count(CAPABILITY, &|of| of == [6030]),
            count(EXTENSION, &|of| of.first() == Some(&name)),
            count(FUSED, &|of| of.len() == 5),
        ]
    };
    let (none, f32, f64) =
        (Fused::NONE, Fused { f32: true, f64: false }, Fused { f32: false, f64: true });
    // Halves are fused as `f32`.
    let all = [(Scalar::F32, f32), (Scalar::F16, f32), (Scalar::Bf16, f32), (Scalar::F64, f64)];
    for (of, fused) in all {
        assert_eq!(used(of, fused), [1, 1, 1], "{of}");
        assert_eq!(used(of, none), [0, 0, 0], "{of}");
        let other = Fused { f32: fused.f64, f64: fused.f32 };
        assert_eq!(used(of, other), [0, 0, 0], "{of}");
    }
}
