//! Random graphs of kernels, and the oracle of their fusion: what the plan of a graph leaves in
//! memories is, bit for bit, what its nodes leave one after the other.

mod generate;
mod run;
mod write;

pub use generate::{Case, generate};
pub use run::{Contents, check, fused, unfused};

/// The case of the suite.
pub fn case(seed: u64) -> Result<(), String> {
    let again = format!(
        "again: FOLIO_SEED={seed} FOLIO_SOAK_CASES=1 cargo test -p folio-model suite_fusion"
    );
    let case = generate(seed).map_err(|error| format!("not well formed: {error}\n{again}"))?;
    let plan = folio_kernel::fuse::plan(&case.graph, &case.facts, case.options);
    let plan = plan.map_err(|error| format!("{error}\n{again}"))?;
    check(&case, &plan, &case.graph).map_err(|why| {
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
