//! What each backend over a driver does through the whole engine: alone, with CPUs, and beside
//! another driver's devices, which may be the same GPUs.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support;
use crate::support::pair::Pair;
use crate::support::turns;
use folio_conformance::engine::kernel_names;
use folio_core::hal::{Backend, DeviceInfo, DeviceKind};
use folio_cpu::CpuBackend;
use folio_model::drivers::{Driver, Form, Opened};
use folio_model::{on_each_driver, on_each_form};

on_each_form! {
    /// KRN-01, KRN-03, KRN-04, KRN-08
    #[test]
    fn compile_and_pass(driver, form) {
        let backend = (form.open)();
        let left_out = support::left_out(&backend, &support::addresses(&backend));
        support::passes_bare(move || backend.clone(), &wanted(driver, form), &left_out);
    }

    /// KRN-01, KRN-03, KRN-04, KRN-08
    #[test]
    fn compile_and_pass_validated(driver, form) {
        let backend = (form.open)();
        let left_out = support::left_out(&backend, &support::addresses(&backend));
        support::passes_validated(move || backend.clone(), &wanted(driver, form), &left_out);
    }
}

on_each_driver! {
    /// Each kernel on each device, and buffers that go between them.
    #[test]
    fn compile_and_pass_with_cpus(driver) {
        let both = with_cpus(driver);
        let left_out = support::left_out(&both(), &support::addresses(&both()));
        support::passes_bare(both, &is_of_several, &left_out);
    }

    #[test]
    fn compile_and_pass_with_cpus_validated(driver) {
        let both = with_cpus(driver);
        let left_out = support::left_out(&both(), &support::addresses(&both()));
        support::passes_validated(both, &is_of_several, &left_out);
    }

    /// Shapes for some hundred compute units, and for GPUs.
    #[test]
    fn several_items_in_a_thread_are_computed(driver) {
        let shapes = match driver.has_gpus() {
            true => [(1, 1 << 21), (1, (1 << 23) + 5), (2048, 1024), (3001, 3002)],
            false => [(1, 1 << 20), (1, (1 << 21) + 5), (700, 1024), (1001, 1002)],
        };
        support::items::every_item_once((driver.codes[0])(), &shapes);
    }

    /// Buffers go from device to device, and are always right; failures reach all.
    #[test]
    fn compile_and_take_turns_with_cpus(driver) {
        let build = || {
            let cpu = CpuBackend::builder().domains(2).threads(2).build().unwrap();
            driver.builder().backend(cpu).build().unwrap()
        };
        turns::all_take_turns(build);
        turns::failures_reach_all(&build());
    }

    /// BACK-04: a GPU by two drivers is known to be one; between the two a buffer goes by way of
    /// the host, and as often as needed.
    #[test]
    fn compile_and_take_turns_with_twins(driver) {
        let Some(other) = driver.neighbour() else { return };
        if driver.has_gpus() && other.has_gpus() {
            let [ours, theirs] = [driver, other].map(gpus);
            let is_known = |twin: &DeviceInfo| ours.iter().any(|own| own.uuid == twin.uuid);
            assert!(theirs.iter().any(is_known), "{ours:?} and {theirs:?}");
        }
        let build = || driver.builder().backend(other.open()).keep_twins().build().unwrap();
        turns::all_take_turns(build);
        turns::failures_reach_all(&build());
        other.finds_nothing();
    }
}

fn with_cpus(driver: &Driver) -> impl Fn() -> Pair<Opened, CpuBackend> + Clone + use<> {
    let backend = driver.open();
    move || {
        let cpu = CpuBackend::builder().domains(2).threads(1).build().unwrap();
        Pair(backend.clone(), cpu)
    }
}

/// All cases; of those of kernels each fourth where PoCL would take minutes to compile all of them
/// once more: without fine-grained memory launches have their words elsewhere, so each text is
/// another one.
fn wanted(driver: &Driver, form: &Form) -> impl Fn(&str) -> bool {
    let is_first = std::ptr::eq(form, &raw const driver.forms[0]);
    let all = is_first || driver.name != "opencl" || driver.has_gpus();
    let kernels = kernel_names();
    move |name| {
        let at = kernels.iter().position(|kernel| *kernel == name);
        all || at.is_none_or(|at| at % 4 == 0)
    }
}

/// Without cases that take the devices of a backend to be of one kind.
fn is_of_several(name: &str) -> bool {
    !support::OF_ONE_KIND.contains(&name)
}

fn gpus(driver: &Driver) -> Vec<DeviceInfo> {
    let mut devices = driver.open().devices().unwrap();
    devices.retain(|device| device.kind == DeviceKind::Gpu);
    devices
}
