//! Kernels that are functions: what they compute, what they access, and how they fail.

mod agree;
mod associated;
mod borders;
mod cells;
mod checked;
mod code;
mod columns;
mod computations;
mod denied;
mod edges;
mod fast;
mod gallery;
mod group_code;
mod groups;
mod halves;
mod language;
mod limited;
mod limits;
mod outside;
mod owners;
mod positions;
mod printed;
mod rare;
mod scattered;
mod tile;
mod tile_code;
mod vectors;
mod ways;
mod written;

use super::rig::*;
use super::tests;
use agree::*;
use associated::*;
use borders::*;
use cells::*;
use checked::*;
use code::*;
use columns::*;
use computations::*;
use denied::*;
use edges::*;
use fast::*;
use folio::prelude::*;
use folio_core::ir::device::Kernel;
use folio_core::{Cause, Failure, Items, Moves, Shared, UsmKind, Violation, ViolationKind};
use gallery::*;
use groups::*;
use halves::*;
use language::*;
use limited::*;
use limits::*;
use outside::*;
use owners::*;
use positions::*;
use printed::*;
use rare::*;
use scattered::*;
use tile::*;
use vectors::*;
use ways::*;
use written::*;

pub(super) use code::{circles, copies, counts, forgets, items_counted, neighbours};

tests![
    one_dimension,
    more_dimensions,
    structs_and_device_functions,
    loops_walk_through_views,
    generic_kernels,
    edges_of_integers,
    more_of_integers,
    both_forms_fail_alike,
    tiles_in_local_memory,
    folds_of_groups,
    groups_sort_and_transpose,
    products_of_tiles,
    products_of_transposed_tiles,
    rows_of_tiles_are_reduced,
    tiles_are_copied_and_replaced,
    tiles_begin_before_their_views,
    tiles_of_narrow_numbers,
    relaxed_products_are_near,
    relaxed_products_of_odd_tiles,
    relaxed_products_across_memory,
    relaxed_products_along_memory,
    relaxed_products_of_transposed_matrices,
    relaxed_products_begin_in_their_matrices,
    tiles_fit_their_groups,
    tiles_larger_than_groups,
    groups_speak_the_language,
    histograms,
    every_atomic_operation,
    rows_and_chunks,
    rows_move_where_they_are_owned,
    fields_are_written_one_by_one,
    columns_are_items_own,
    vectors_have_their_operators,
    fast_functions_are_near,
    fast_kernels_are_near,
    items_print,
    gliders_glide,
    images_are_drawn,
    words_are_compared,
    graphs_are_walked,
    models_are_fitted,
    fields_are_drawn,
    fluids_keep_their_mass,
    numbers_are_found,
    images_are_filtered,
    tables_are_computed,
    logs_have_a_limit,
    functions_print,
    groups_print,
    orders_of_floats_are_total,
    bytes_are_multiplied_and_added,
    columns_out_of_their_rows,
    columns_move_where_they_are_owned,
    scattered_elements_have_one_writer,
    two_writers_of_one_element_fail,
    the_last_item_writes,
    planes_and_groups_scatter,
    groups_and_nodes_scatter,
    launches_have_claims_of_their_own,
    what_cannot_scatter_is_refused,
    red_and_black_cells_are_items_own,
    sweeps_by_colour_are_those_of_a_loop,
    cells_of_others_are_not_read,
    fields_are_columns,
    columns_of_like_names_are_apart,
    indices_of_columns_are_computed_once,
    columns_have_bounds,
    launch_wide_reductions,
    reductions_of_all_sizes,
    items_of_sub_groups,
    sub_groups_of_rows,
    groups_accumulate,
    groups_may_be_left,
    group_sizes_are_checked,
    groups_have_a_limit,
    kernels_are_prepared_once,
    local_memory_has_bounds,
    local_memory_has_a_limit,
    anyone_may_write,
    halos_are_derived,
    halos_in_two_dimensions,
    rows_are_read_where_they_are_indexed,
    scalars_and_extents_place_reads,
    what_is_not_read_is_not_moved,
    data_dependent_indices_read_everything,
    outputs_are_discarded_where_the_launch_is,
    items_have_their_positions,
    positions_are_arrays_and_tuples,
    rows_of_any_width,
    interiors_and_edges,
    boxes_fail_together,
    parts_count_from_their_beginning,
    arguments_of_all_kinds,
    many_parameters,
    affine_reads_out_of_bounds,
    gathers_out_of_bounds,
    arrays_out_of_bounds,
    atomics_out_of_bounds,
    scattered_writes_out_of_bounds,
    slots_out_of_bounds,
    columns_out_of_bounds,
    reads_by_data_in_two_dimensions,
    panics_have_messages,
    failures_poison_what_was_written_until_it_is_overwritten,
    generic_code_is_made_once,
    nothing_to_compute_is_nothing_done,
    calls_within_groups,
    choices,
    right_sides_wait_for_the_left,
    right_sides_may_leave,
    chains_may_be_long,
    writes_to_arrays_have_their_places,
    variables_have_a_limit,
    positions_are_divided,
    loops_have_all_their_turns_or_fail,
    lengths_are_the_languages,
    groups_go_their_ways,
    loops_of_all_kinds,
    methods_and_operators,
    tuples_and_constants,
    traits_of_others_change_nothing,
    names_of_all_kinds,
    functions_fail_where_they_are,
    blocks_are_a_hint,
    halves_are_rounded_singles,
    all_halves_are_converted,
    all_brains_are_converted,
    linear_algebra,
    contraction_on_request,
    hashes,
    edges_of_floats,
    floats_at_their_edges,
    folds_at_their_edges,
    integers_at_their_edges,
    the_largest_indices,
    prices,
    sixty_four_parameters,
    more_blocks_than_a_grid_has,
    sixty_four_parameters_of_three_dimensions,
    groups_combine_beside_large_local_memory,
    functions_keep_their_limits,
    launches_without_checks,
    guards_prove_indices,
    checks_of_functions_are_found,
    checks_are_reported,
    references_and_loops_are_those_of_rust,
    references_and_loops_in_kernels,
    counts_in_memory_limit_launches,
    items_beyond_a_count_violate_nothing,
    counts_come_from_the_device,
    what_needs_all_items_has_no_count,
    checked_integers_stay_in_their_types,
    checked_operators_fail_as_those_of_rust,
    functions_and_groups_are_checked,
    kernels_are_functions_of_types,
];

/// Elements that a launch brings to device memory that had none of them.
fn brought(rig: &Rig, launch: impl FnOnce(&Queue, &Buffer<i32>) -> Outcome) -> Result<usize, Stop> {
    let q = rig.separate(1)?.remove(0);
    let x = paged(&rig.rt, &(0..100).collect::<Vec<i32>>())?;
    launch(&q, &x)?;
    q.wait()?;
    let Moves { bytes, .. } = x.counters().host_to_device;
    Ok(bytes as usize / 4)
}

/// KRN-09
fn halos_are_derived(rig: &Rig) -> Outcome {
    let moved = brought(rig, |q, x| {
        let mut y = rig.rt.buffer::<i32, 1>(100)?;
        q.run(40..50, neighbours(x, &mut y))?;
        ensure_eq!(y.to_vec()?[38..52], [0, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 0]);
        Ok(())
    })?;
    ensure_eq!(moved, 12);
    Ok(())
}

/// KRN-09
fn halos_in_two_dimensions(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let page = BufferOptions::new().page([1, 1]);
    let x = rig.rt.buffer_with(((0..100).collect::<Vec<i32>>(), [10, 10]), page)?;
    let mut y = rig.rt.buffer::<i32, 2>([10, 10])?;
    q.run([3..5, 1..10], diagonal(&x, &mut y))?;
    let rows = y.to_vec()?;
    ensure_eq!(rows[30..32], [0, 20]);
    ensure_eq!(rows[49..51], [38, 0]);
    ensure_eq!(x.counters().host_to_device.bytes, 2 * 9 * 4);
    Ok(())
}

/// In one dimension by position, in the other by a loop.
fn rows_are_read_where_they_are_indexed(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let page = BufferOptions::new().page([1, 10]);
    let m = rig.rt.buffer_with(((0..100).collect::<Vec<i32>>(), [10, 10]), page)?;
    let mut sums = rig.rt.buffer::<i32, 1>(10)?;
    q.run(2..4, row_sums(&m, &mut sums))?;
    ensure_eq!(sums.to_vec()?[1..5], [0, 245, 345, 0]);
    ensure_eq!(m.counters().host_to_device.bytes, 2 * 10 * 4);
    Ok(())
}

fn scalars_and_extents_place_reads(rig: &Rig) -> Outcome {
    let moved = brought(rig, |q, x| {
        let mut y = rig.rt.buffer::<i32, 1>(4)?;
        q.run(4, at_distance(50, x, &mut y))?;
        ensure_eq!(y.to_vec()?, [50, 51, 52, 53]);
        Ok(())
    })?;
    ensure_eq!(moved, 4);
    let moved = brought(rig, |q, x| {
        let mut y = rig.rt.buffer::<i32, 1>(4)?;
        q.run(1..4, reversed(x, &mut y))?;
        ensure_eq!(y.to_vec()?, [0, 98, 97, 96]);
        Ok(())
    })?;
    ensure_eq!(moved, 3);
    Ok(())
}

fn what_is_not_read_is_not_moved(rig: &Rig) -> Outcome {
    let moved = brought(rig, |q, x| {
        let mut y = rig.rt.buffer::<u64, 1>(2)?;
        q.run(2, lengths(x, &mut y))?;
        ensure_eq!(y.to_vec()?, [100, 100]);
        Ok(())
    })?;
    ensure_eq!(moved, 0);
    Ok(())
}

/// KRN-03
fn data_dependent_indices_read_everything(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let x = paged(&rig.rt, &(0..100).map(|n| n as f32).collect::<Vec<f32>>())?;
    let at = rig.rt.buffer_from(&[7, 70])?;
    let mut y = rig.rt.buffer::<f32, 1>(2)?;
    q.run(2, gathers(&at, &x, &mut y))?;
    ensure_eq!(y.to_vec()?, [7.0, 70.0]);
    ensure_eq!(x.counters().host_to_device.bytes, 400);
    Ok(())
}

/// Not a byte of an output is brought, and what is outside of the launch stays.
fn outputs_are_discarded_where_the_launch_is(rig: &Rig) -> Outcome {
    let q = rig.separate(1)?.remove(0);
    let x = rig.rt.buffer_from(&[5; 10])?;
    let mut y = paged(&rig.rt, &(0..10).collect::<Vec<i32>>())?;
    q.run(3..6, copies(&x, &mut y))?;
    q.wait()?;
    ensure_eq!(y.counters().host_to_device.bytes, 0);
    ensure_eq!(y.to_vec()?, [0, 1, 2, 5, 5, 5, 6, 7, 8, 9]);
    ensure_eq!(y.counters().device_to_host.bytes, 12);
    q.run(8..10, counts(&mut y))?;
    ensure_eq!(y.to_vec()?[7..], [7, 9, 10]);
    ensure_eq!(y.counters().host_to_device.bytes, 8);
    Ok(())
}

fn items_have_their_positions(rig: &Rig) -> Outcome {
    ensure_eq!(
        Items::<2>::from([1..3, 4..4]),
        Items { offset: [1, 4], range: [2, 0], group: None }
    );
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let x = rig.rt.buffer_from((&[1; 60], [3, 4, 5]))?;
        let mut y = rig.rt.buffer::<i32, 3>([3, 4, 5])?;
        q.run([1..3, 2..3, 3..5], shifted(&x, &mut y))?;
        let y = y.to_vec()?;
        for (k, value) in y.into_iter().enumerate() {
            let [a, b, c] = [k / 20, k / 5 % 4, k % 5];
            let inside = a >= 1 && b == 2 && c >= 3;
            let wanted = if inside { 3 + (a as i32 - b as i32) * c as i32 } else { 0 };
            ensure_eq!(value, wanted, "at {a} {b} {c}");
        }
    }
    Ok(())
}

/// However long a row is, each of its items is computed once, and nothing around it.
fn rows_of_any_width(rig: &Rig) -> Outcome {
    let widths = [1, 31, 257, 2046, 4097];
    for (at, n) in (0..rig.rt.devices().len()).flat_map(|at| widths.map(|n| (at, n))) {
        let (q, wide) = (rig.on(at)?, n + 2);
        let ones = |rows| vec![1u32; rows * wide];
        let mut line = rig.rt.buffer_from(ones(1))?;
        let mut plane = rig.rt.buffer_from((ones(4), [4, wide]))?;
        let mut space = rig.rt.buffer_from((ones(12), [3, 4, wide]))?;
        q.run(1..n + 1, stamped_line(&mut line))?;
        q.run([1..3, 1..n + 1], stamped_plane(&mut plane))?;
        q.run([1..2, 1..3, 1..n + 1], stamped_space(&mut space))?;
        let all = [line.to_vec()?, plane.to_vec()?, space.to_vec()?];
        for (rank, values) in (1..).zip(all) {
            for (k, value) in values.into_iter().enumerate() {
                let [a, b, c] = [k / wide / 4, k / wide % 4, k % wide];
                let row = (rank < 3 || a == 1) && (rank < 2 || (1..3).contains(&b));
                let inside = row && (1..=n).contains(&c) && c % 7 != 0;
                let wanted = if inside { 3 + (a * 4 + b) * 5000 + c } else { 1 };
                ensure_eq!(value as usize, wanted, "at {a} {b} {c} of {rank}, width {n}");
            }
        }
    }
    Ok(())
}

/// KRN-03: indices and positions are those of the argument's slice.
fn parts_count_from_their_beginning(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let x = paged(&rig.rt, &(0..20).collect::<Vec<i32>>())?;
        let mut y = rig.rt.buffer::<i32, 1>(20)?;
        q.run(1..3, neighbours(x.slice([5], [4])?, y.slice_mut([10], [5])?))?;
        q.run(4, reversed(x.slice([5], [4])?, y.slice_mut([16], [4])?))?;
        ensure_eq!(y.to_vec()?[10..], [0, 2, 2, 0, 0, 0, 8, 7, 6, 5]);
        let event = q.run(0..2, neighbours(x.slice([5], [4])?, y.slice_mut([0], [2])?))?;
        ensure_eq!(bounds(event.wait())?, ("x".to_owned(), vec![-1], vec![4]));
    }
    Ok(())
}

fn arguments_of_all_kinds(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let x = rig.rt.buffer_from(&[1, 2, 3, 4])?.into_shared();
        let mut y = rig.rt.buffer::<i32, 1>(4)?.into_shared();
        q.run(4, copies(&x, &y))?;
        q.run(4, counts(&mut y))?;
        ensure_eq!(y.to_vec()?, [2, 3, 4, 5]);
        let mut usm = rig.rt.usm::<i32>(&q.device(), UsmKind::Device, 4)?;
        q.run(4, copies(&y, &mut usm))?;
        let (mut low, high) = (rig.rt.buffer::<i32, 1>(4)?, usm.slice(2, 2)?);
        let (a, _) = low.split_at_mut(2)?;
        q.run(2, copies(high, a))?;
        ensure_eq!(low.to_vec()?, [4, 5, 0, 0]);
        let (numbers, mut result) = ([10, 20, 30], [0; 3]);
        rig.rt.scope(|scope| {
            let (from, mut to) = (scope.view(&numbers)?, scope.view_mut(&mut result)?);
            q.run(3, copies(&from, &mut to))?;
            Ok::<_, Error>(())
        })??;
        ensure_eq!(result, numbers);
    }
    Ok(())
}

fn many_parameters(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let x: Vec<Buffer<i32>> =
            (1..5).map(|n| rig.rt.buffer_from(&[n; 8])).collect::<Result<_, _>>()?;
        let (mut e, mut f) = (rig.rt.buffer_from(&[10; 8])?, rig.rt.buffer_from(&[20; 8])?);
        let (mut g, mut h) = (rig.rt.buffer(8)?, rig.rt.buffer(8)?);
        let call = eight(&x[0], &x[1], &x[2], &x[3], 100, &mut e, &mut f, &mut g, 1000, &mut h);
        q.run(8, call)?;
        let all = [&e, &f, &g, &h].map(|b| b.to_vec().map(|v| (v[0], v[7])));
        let wanted = [(111, 111), (22, 22), (3, 3), (1004, 1004)];
        for (found, wanted) in all.into_iter().zip(wanted) {
            ensure_eq!(found?, wanted);
        }
    }
    Ok(())
}

/// The violation of a kernel.
fn violation<T>(result: Result<T, Error>) -> Result<(std::sync::Arc<Failure>, Violation), Stop> {
    let failure = failure(result)?;
    match failure.cause() {
        Cause::Kernel(violation) => Ok((failure.clone(), (**violation).clone())),
        _ => Err(Stop::Failed(failure.to_string())),
    }
}

/// The parameter, index and extent of an access out of bounds.
fn bounds<T>(result: Result<T, Error>) -> Result<(String, Vec<i64>, Vec<usize>), Stop> {
    let (_, violation) = violation(result)?;
    ensure!(violation.site.file.ends_with("code.rs"), "{violation}");
    match violation.kind {
        ViolationKind::OutOfBounds { param, index, extent } => {
            Ok((param.unwrap_or_default(), index, extent))
        }
        _ => Err(Stop::Failed(violation.to_string())),
    }
}

/// KRN-03
fn affine_reads_out_of_bounds(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let x = rig.rt.buffer_from(&[1; 10])?;
        let mut y = rig.rt.buffer::<i32, 1>(10)?;
        let event = q.run(1..10, neighbours(&x, &mut y))?;
        let (failure, first) = violation(event.wait())?;
        ensure_eq!(failure.label(), "neighbours");
        ensure_eq!(first.kernel, "neighbours");
        ensure_eq!(bounds(event.wait())?, ("x".to_owned(), vec![10], vec![10]));
        let m = rig.rt.buffer_from((&[1; 12], [3, 4]))?;
        let mut n = rig.rt.buffer::<i32, 2>([3, 4])?;
        let event = q.run([1..2, 0..3], diagonal(&m, &mut n))?;
        ensure_eq!(bounds(event.wait())?, ("x".to_owned(), vec![0, -1], vec![3, 4]));
        let event = q.run(4, at_distance(usize::MAX, &x, &mut y))?;
        ensure_eq!(bounds(event.wait())?, ("x".to_owned(), vec![-1], vec![10]));
    }
    Ok(())
}

/// KRN-03: memory around what is accessed stays as it is.
fn gathers_out_of_bounds(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let x = rig.rt.buffer_from(&[1.0f32; 10])?;
        let indices = rig.rt.buffer_from(&[0, 1, -5, 3])?;
        let mut y = paged(&rig.rt, &[7.0f32; 8])?;
        let event = q.run(4, gathers(&indices, x.slice([2], [6])?, y.slice_mut([2], [4])?))?;
        ensure_eq!(bounds(event.wait())?, ("x".to_owned(), vec![-5], vec![6]));
        ensure!(failure(y.slice([2], [4])?.to_vec()).is_ok(), "what failed can be read");
        ensure_eq!(y.slice([0], [2])?.to_vec()?, [7.0; 2]);
        ensure_eq!(y.slice([6], [2])?.to_vec()?, [7.0; 2]);
        ensure_eq!(indices.to_vec()?, [0, 1, -5, 3]);
    }
    Ok(())
}

fn arrays_out_of_bounds(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let indices = rig.rt.buffer_from(&[0, 1, 3])?;
        let mut y = rig.rt.buffer::<i32, 1>(3)?;
        let event = q.run(3, array(&indices, &mut y))?;
        ensure_eq!(bounds(event.wait())?, (String::new(), vec![3], vec![3]));
    }
    Ok(())
}

/// KRN-07
fn panics_have_messages(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let mut y = rig.rt.buffer::<i32, 1>(5)?;
        let (failure, violation) = violation(q.run(5, panics(&mut y))?.wait())?;
        ensure_eq!(violation.kind, ViolationKind::Assertion);
        ensure_eq!(violation.site.message.as_deref(), Some("two is too many"));
        ensure!(violation.site.line > 0, "no line");
        ensure!(failure.to_string().contains("two is too many"), "{failure}");
        ensure_eq!(failure.what(), "kernel");
    }
    Ok(())
}

/// KRN-07, ERR-02
fn failures_poison_what_was_written_until_it_is_overwritten(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let (x, zero) = (rig.rt.buffer_from(&[6, 7])?, rig.rt.buffer_from(&[3, 0])?);
        let (mut y, mut z) = (rig.rt.buffer::<i32, 1>(2)?, rig.rt.buffer::<i32, 1>(2)?);
        q.run(2, divides(&x, &zero, &mut y))?;
        let after = q.run(2, copies(&y, &mut z))?;
        let (root, first) = violation(after.wait())?;
        ensure_eq!(first.kind, ViolationKind::DivisionByZero);
        ensure_eq!(failure(y.to_vec())?.id(), root.id());
        ensure_eq!(failure(q.wait())?.id(), root.id());
        q.run(2, copies(&x, &mut y))?;
        q.run(2, counts(&mut y))?;
        ensure_eq!(y.to_vec()?, [7, 8]);
        q.wait()?;
    }
    Ok(())
}

/// Whichever thread asks.
fn generic_code_is_made_once(_: &Rig) -> Outcome {
    let address = || std::ptr::from_ref(blend::<f32>::code()) as usize;
    let other = std::thread::spawn(address).join();
    ensure_eq!(other.ok(), Some(address()));
    ensure!(address() != std::ptr::from_ref(blend::<f64>::code()) as usize, "two kernels are one");
    let simple = || std::ptr::from_ref(saxpy::code()) as usize;
    ensure_eq!(simple(), simple());
    Ok(())
}

fn nothing_to_compute_is_nothing_done(rig: &Rig) -> Outcome {
    let q = rig.queue()?;
    let x = rig.rt.buffer_from(&[1, 2])?;
    let mut y = rig.rt.buffer::<i32, 1>(2)?;
    let before = rig.rt.counters();
    q.run(0, copies(&x, &mut y))?.wait()?;
    q.run(1..1, counts(&mut y))?.wait()?;
    let backwards = std::ops::Range { start: 5, end: 3 };
    q.run([0..2, backwards], diagonal(&square(rig)?, &square(rig)?))?.wait()?;
    ensure_eq!(rig.rt.counters().launches, before.launches);
    ensure_eq!(rig.rt.counters().host_to_device, before.host_to_device);
    Ok(())
}

fn square(rig: &Rig) -> Result<Shared<i32, 2>, Stop> {
    Ok(rig.rt.buffer_from((&[1; 4], [2, 2]))?.into_shared())
}

/// A call is a value; a group takes it with a label, and after events.
fn calls_within_groups(rig: &Rig) -> Outcome {
    for at in 0..rig.rt.devices().len() {
        let q = rig.on(at)?;
        let mut y = rig.rt.buffer_from(&[1, 2])?;
        let call = counts(&mut y);
        let first = q.submit(|cg| {
            cg.label("first").run(2, call);
            Ok(())
        })?;
        let call = panics(y.slice_mut([0], [1])?);
        q.submit(|cg| {
            cg.after(&first).run(1, call);
            Ok(())
        })?;
        ensure_eq!(y.to_vec()?, [1, 3]);
        let call = panics(&mut y);
        let range = [3];
        let refused = q.submit(|cg| {
            cg.label("second").run(range, call);
            Ok(())
        });
        refused!(refused, Error::LaunchTooLarge { .. });
    }
    Ok(())
}
