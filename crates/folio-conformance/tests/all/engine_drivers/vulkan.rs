//! Vulkan devices under the engine's suite, bare and validated, and together with the CPU in one
//! runtime; the validation layer has nothing to say.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support;
use crate::support::pair::Pair;
use crate::support::there::is_there;
use crate::support::turns;
use crate::support::vulkan as layer;
use folio::prelude::*;
use folio_core::hal::{Backend, DeviceInfo, DeviceKind};
use folio_cpu::CpuBackend;
use folio_cuda::CudaBackend;
use folio_vulkan::VulkanBackend;

fn there_is_one() -> bool {
    is_there(&VulkanBackend::new().validated())
}

/// KRN-04, KRN-08
#[test]
fn compile_and_pass_vulkan() {
    if there_is_one() {
        support::passes(layer::validated, &support::addresses(&layer::validated()));
        layer::is_silent();
    }
}

/// As on discrete GPUs, whose memory the host does not reach.
#[test]
fn compile_and_pass_vulkan_as_discrete() {
    if there_is_one() {
        let build = || layer::validated().as_discrete();
        support::passes(build, &support::addresses(&build()));
        layer::is_silent();
    }
}

/// The suite over Vulkan and the CPU in one runtime: each kernel on each device, and buffers that
/// go between them.
#[test]
fn compile_and_pass_vulkan_and_cpu() {
    if there_is_one() {
        let both = || {
            let cpu = CpuBackend::builder().domains(2).threads(1).build().unwrap();
            Pair(cpu, layer::validated())
        };
        let left_out = support::left_out(&both(), &support::addresses(&both()));
        let wanted = |name: &str| !support::OF_ONE_KIND.contains(&name);
        support::passes_bare(both, &wanted, &left_out);
        support::passes_validated(both, &wanted, &left_out);
        layer::is_silent();
    }
}

/// Shapes for some hundred compute units.
#[test]
fn vulkan_computes_several_items_in_a_thread() {
    if there_is_one() {
        let shapes = [(1, 1 << 20), (1, (1 << 21) + 5), (700, 1024), (1001, 1002)];
        support::items::every_item_once(layer::validated(), &shapes);
        layer::is_silent();
    }
}

/// BACK-04: a GPU by CUDA and by Vulkan is known to be one; between the two a buffer goes by way of
/// the host, and as often as needed.
#[test]
fn cuda_and_vulkan_take_turns() {
    let cuda = CudaBackend::new();
    if !there_is_one() || !is_there(&cuda) {
        return;
    }
    let is_gpu = |device: &DeviceInfo| device.kind == DeviceKind::Gpu;
    for twin in layer::validated().devices().unwrap().into_iter().filter(is_gpu) {
        let same = |device: &DeviceInfo| device.uuid == twin.uuid;
        assert!(cuda.devices().unwrap().iter().any(same), "{twin:?}");
    }
    let both = || {
        let builder = Runtime::builder().backend(CudaBackend::new()).backend(layer::validated());
        builder.keep_twins().build().unwrap()
    };
    turns::all_take_turns(both);
    turns::failures_reach_all(&both());
    layer::is_silent();
}
