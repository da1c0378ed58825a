//! Parts of the engine's suite on GPUs by CUDA that compute-sanitizer looks at.

use folio_conformance::engine::{Factory, run_engine_where};
use folio_cuda::CudaBackend;
use folio_model::drivers::CUDA;
use std::sync::Arc;

/// A part of the suite that is small enough for compute-sanitizer: local memory, barriers, atomics,
/// reductions.
#[test]
fn cuda_checked_kernels() {
    if !CUDA.is_there() {
        return;
    }
    passes_checked(&[
        "tiles_in_local_memory",
        "folds_of_groups",
        "histograms",
        "every_atomic_operation",
        "launch_wide_reductions",
        "groups_sort_and_transpose",
        "more_dimensions",
    ]);
}

/// Another part of it, of graphs: updates, temporaries, conditions, blocks that come again.
#[test]
fn cuda_checked_graphs() {
    if !CUDA.is_there() {
        return;
    }
    passes_checked(&[
        "temporaries_of_a_graph_share_memory",
        "batches_find_the_memory_of_their_temporaries_again",
        "many_exchanges_make_one_list",
        "parameters_are_exchanged_between_runs",
        "usm_pointers_are_exchanged_by_parameters",
        "a_loop_is_one_operation_of_a_device_that_has_conditions",
        "a_switch_runs_the_body_of_its_number",
        "a_batch_that_comes_again_is_one_operation",
    ]);
}

/// Another part of it, of fused graphs: registers, local memory, barriers, guards, reductions,
/// rows, pointers, blocks.
#[test]
fn cuda_checked_fusion() {
    if !CUDA.is_there() {
        return;
    }
    passes_checked(&[
        "a_recorded_chain_is_one_launch",
        "a_fused_block_needs_no_memory_between_kernels",
        "groups_meet_at_barriers",
        "smaller_launches_run_under_guards",
        "parts_and_dimensions_stay_apart",
        "copies_stand_before_and_after",
        "exchanged_nodes_are_fused_anew",
        "reductions_end_a_fused_launch",
        "rows_of_a_softmax_are_one_launch",
        "marked_pointers_are_internal",
        "internal_memory_is_as_never_written_after_a_run",
    ]);
}

/// Tests of the suite, under compute-sanitizer. All of them are there.
fn passes_checked(checked: &[&str]) {
    let factory: Factory = Arc::new(|| Box::new(CudaBackend::new()));
    let summary = run_engine_where(factory, &[], &|name| checked.contains(&name));
    println!("{summary}");
    let all = summary.only.is_some() || summary.passed.len() == checked.len();
    assert!(summary.is_ok() && all, "{summary}");
    // Devices are closed by threads of their runtimes; compute-sanitizer does not bear that while
    // the process ends.
    let is_reaper = |task: std::fs::DirEntry| {
        let name = std::fs::read_to_string(task.path().join("comm"));
        name.is_ok_and(|name| name.starts_with("folio reaper"))
    };
    let tasks = || std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    while tasks().any(is_reaper) {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}
