//! Random graphs of kernels, and the oracle of their fusion: what the plan of a graph leaves in
//! memories is, bit for bit, what its nodes leave one after the other.

mod generate;
mod run;
mod write;

pub use generate::{Case, generate};
pub use run::{Contents, Ended, arguments_of, check};

use folio_kernel::emit::{Capabilities, Dialect, Form, emit};
use folio_kernel::fuse::{Mode, Options, Plan};
use folio_kernel::outputs;
use folio_kernel::parse::parse;
use folio_kernel::verify::verify;

/// The case of the suite.
pub fn case(seed: u64) -> Result<(), String> {
    let again = format!(
        "again: FOLIO_SEED={seed} FOLIO_SOAK_CASES=1 cargo test -p folio-model suite_fusion"
    );
    let case = generate(seed).map_err(|error| format!("not well formed: {error}\n{again}"))?;
    let plan = folio_kernel::fuse::plan(&case.graph, &case.facts, case.options);
    let plan = plan.map_err(|error| format!("{error}\n{again}"))?;
    let right = check(&case, &plan, &case.graph).and_then(|_| well_formed(&plan));
    let right = right.and_then(|()| required(&case));
    right.map_err(|why| {
        let report = plan.explain(&case.graph);
        let kernels: Vec<_> = plan.fused().map(|fused| fused.kernel.to_string()).collect();
        let calls = case.graph.nodes.iter().filter_map(|node| {
            let call = node.call()?;
            let (geometry, arguments) = (call.geometry, &call.arguments);
            Some(format!("{}\n{geometry:?}\n{arguments:?}", call.kernel))
        });
        let calls: Vec<_> = calls.collect();
        format!("{why}\n{report}\n{}\n---\n{}\n{again}", calls.join("\n"), kernels.join("\n"))
    })
}

/// Fused kernels are read back from their texts, are well formed, and are C (FUSE-08).
fn well_formed(plan: &Plan) -> Result<(), String> {
    for fused in plan.fused() {
        let text = fused.kernel.to_string();
        let again = parse(&text).map_err(|error| format!("not read back: {error}"))?;
        if again != *fused.kernel {
            return Err(format!("read back as something else: {text}"));
        }
        verify(&again).map_err(|error| error.to_string())?;
        outputs::check(&again).map_err(|error| error.to_string())?;
        for dialect in [Dialect::OpenCl, Dialect::Cuda] {
            emit(&again, Form::new(dialect, true), &Capabilities::CUDA)
                .map_err(|lacks| lacks.to_string())?;
        }
    }
    Ok(())
}

/// Fusion that is required is one launch and right, or an error that says why (FUSE-01).
fn required(case: &Case) -> Result<(), String> {
    let options = Options { mode: Mode::Require, ..case.options };
    let Ok(plan) = folio_kernel::fuse::plan(&case.graph, &case.facts, options) else {
        return Ok(());
    };
    let left = plan.explain(&case.graph).launches_left;
    if left > 1 {
        return Err(format!("{left} launches, where one is required"));
    }
    check(case, &plan, &case.graph).map(|_| ()).map_err(|why| format!("required: {why}"))
}
