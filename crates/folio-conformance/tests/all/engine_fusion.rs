//! Fused graphs on every kind of device that is here.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use crate::support;
use crate::support::there::is_there;
use crate::support::vulkan as layer;
use folio_conformance::engine::fusion_names;
use folio_core::hal::Backend;
use folio_core::{Error, FinalizeOptions, GraphError, Runtime};
use folio_cpu::CpuBackend;
use folio_model::interp::Interpreter;
use folio_opencl::OpenClBackend;
use folio_sim::{DeviceSpec, SimBackend};
use std::collections::BTreeMap;
use std::sync::Arc;

#[track_caller]
fn passes<B: Backend>(build: impl Fn() -> B + Clone + Send + Sync + 'static) {
    let names = fusion_names();
    support::passes_where(build, &|name| names.contains(&name), &BTreeMap::new());
}

#[test]
fn fused_graphs_on_cpus() {
    passes(|| CpuBackend::builder().threads(2).build().unwrap());
    passes(|| CpuBackend::builder().domains(2).threads(1).build().unwrap());
}

#[test]
fn fused_graphs_on_simulated_devices() {
    passes(|| SimBackend::builder().devices(2, DeviceSpec::new()).build());
    let spec = || DeviceSpec::new().closures(false).ir(Arc::new(Interpreter));
    passes(move || SimBackend::builder().devices(1, spec()).build());
}

/// FUSE-01: a device that runs no kernels fuses none.
#[test]
fn fusion_on_a_device_without_it_is_a_typed_error() {
    let spec = DeviceSpec::new().closures(false);
    let sim = SimBackend::builder().devices(1, spec).build();
    let rt = Runtime::builder().backend(sim).build().unwrap();
    let q = rt.queue().unwrap();
    assert!(!q.device().fuses());
    let (graph, x) = (rt.graph(&q.device()).unwrap(), rt.buffer::<i32>(4).unwrap().share());
    graph.add(|cg| cg.fill(&x, 3)).unwrap();
    let refused = graph.finalize_with(FinalizeOptions::new().require_fusion());
    let Err(Error::Graph { why, .. }) = refused else { panic!("{refused:?}") };
    assert!(matches!(*why, GraphError::FeatureNotSupported { .. }), "{why}");
    let run = graph.finalize_with(FinalizeOptions::new().enable_fusion()).unwrap();
    let report = run.fusion_report().unwrap().unwrap();
    assert!(report.to_string().contains("does not fuse"), "{report}");
    q.run_graph(&run).unwrap();
    assert_eq!(x.to_vec().unwrap(), [3; 4]);
}

#[test]
fn compile_and_fuse_graphs_on_opencl() {
    if is_there(&OpenClBackend::new()) {
        passes(OpenClBackend::new);
    }
}

#[test]
fn compile_and_fuse_graphs_on_vulkan() {
    if is_there(&layer::validated()) {
        passes(layer::validated);
        layer::is_silent();
    }
}
