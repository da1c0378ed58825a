//! This crate's suites on the devices of each driver that this machine has: alone, beside a CPU,
//! and beside another driver's devices, which may be the same GPUs.
//!
//! Where there is a GPU:
//! `FOLIO_BUDGET_PROGRAMS_CUDA_SECS=60 FOLIO_BUDGET_FAULTS_CUDA_SECS=60
//! cargo test -p folio-model --test all drivers::suite_ -- --nocapture`.
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::{emit, fused_wide, fusion_costs, graphs, graphs_fused, machines, managed, planted};
use folio_model::on_each_driver;

on_each_driver! {
    #[test]
    fn suite_programs(driver) {
        machines::programs(&driver.suite("PROGRAMS"), &machines::forms(driver));
    }

    #[test]
    fn suite_faults(driver) {
        machines::faults(&driver.suite("FAULTS"), &machines::forms(driver));
    }

    #[test]
    fn compile_programs_of_twins(driver) {
        if let Some(twins) = machines::twins(driver) {
            machines::programs("TWINS", &twins);
        }
    }

    #[test]
    fn compile_faults_of_twins(driver) {
        if let Some(twins) = machines::twins(driver) {
            machines::faults("TWINS", &twins);
        }
    }

    /// MEM-01
    #[test]
    fn planted_dropped_transfer_of_a_driver_is_caught(driver) {
        planted::dropped_transfer(&machines::forms(driver));
    }

    /// GRAPH-01, GRAPH-03, GRAPH-07, GRAPH-08
    #[test]
    fn suite_graphs(driver) {
        graphs::over(&driver.suite("GRAPHS"), &|| driver.builder());
    }

    /// GRAPH-01, GRAPH-03, GRAPH-07, GRAPH-08
    #[test]
    fn compile_graphs_of_twins(driver) {
        if let Some(other) = driver.neighbour() {
            graphs::over("TWINS", &|| driver.builder().keep_twins().backend(other.open()));
        }
    }

    /// FUSE-11, FUSE-12
    #[test]
    fn suite_graphs_fused(driver) {
        graphs_fused::over(&driver.suite("GRAPHS_FUSED"), driver.builder());
    }

    /// FUSE-11, FUSE-12
    #[test]
    fn compile_fused_graphs_of_twins(driver) {
        if let Some(other) = driver.neighbour() {
            graphs_fused::over("TWINS", driver.builder().keep_twins().backend(other.open()));
        }
    }

    /// FUSE-11
    #[test]
    fn suite_graphs_fused_wide(driver) {
        fused_wide::over(&driver.suite("GRAPHS_FUSED_WIDE"), driver.builder());
    }

    /// FUSE-10
    #[test]
    fn measured_costs_decide(driver) {
        let test = format!("drivers::measured_costs_decide::{}", driver.name);
        fusion_costs::by_itself(&test, || {
            fusion_costs::measured_costs_decide(&driver.builder().build().unwrap());
        });
    }

    /// KRN-01
    #[test]
    fn suite_kernels(driver) {
        emit::kernels_on(driver);
    }

    /// KRN-01
    #[test]
    fn compile_kernels_of_twins(driver) {
        emit::kernels_on_twins(driver);
    }

    /// KRN-01: what compilers compute is what the interpreter does; functions of semantics 5.8
    /// nearly so.
    #[test]
    fn compile_constants(driver) {
        emit::constants_on(driver);
    }

    /// KRN-01
    #[test]
    fn compile_comparisons_of_widened_numbers(driver) {
        emit::compares_widened_numbers(driver);
    }

    /// MPTR-01, MPTR-02, MPTR-03, MPTR-04, MPTR-06, MPTR-07
    #[test]
    fn suite_managed(driver) {
        managed::on(driver);
    }
}
