//! Host closures on devices that run them.

use super::Test;
use super::rig::{Map, Outcome, Rig, ensure, geometry, run};
use folio_core::geom::{Box3, Dims, linear};
use folio_core::hal::{
    BlockKernel, Geometry, HalErrorKind, KernelRef, LaneKind, NativeKernel, Param, ParamPtr,
    Verdict,
};
use folio_core::{Violation, ViolationKind, error::Site};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

pub(super) const TESTS: &[Test] = &[
    ("launches_cover_each_item_once", launches_cover_each_item_once),
    ("blocks_are_whole_groups", blocks_are_whole_groups),
    ("kernels_find_their_parameters", kernels_find_their_parameters),
    ("launches_of_one_lane_run_in_order", launches_of_one_lane_run_in_order),
    ("accepted_kernels_are_taken", accepted_kernels_are_taken),
    ("closures_are_dropped_at_completion", closures_are_dropped_at_completion),
    ("panics_are_failures_told_once", panics_are_failures_told_once),
    ("violations_are_failures_told_once", violations_are_failures_told_once),
    ("a_failure_stays_with_its_operation", a_failure_stays_with_its_operation),
];

/// Counts how often it meets each item, and blocks that cut a group.
struct Visit {
    seen: Arc<Vec<AtomicU32>>,
    cut: Arc<AtomicU32>,
    geometry: Geometry,
}

impl BlockKernel for Visit {
    unsafe fn run(&self, _: &[ParamPtr], block: &Box3) -> Verdict {
        let range = self.geometry.range;
        for cell in block.cells() {
            if let Some(count) = self.seen.get(linear(range, cell)) {
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
        let unit = self.geometry.group.unwrap_or([1; 3]);
        let whole = |at: &Dims| (0..3).all(|d| at[d].is_multiple_of(unit[d]));
        if !Box3::whole(range).contains(block) || !whole(&block.min) || !whole(&block.max) {
            self.cut.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

fn visits(rig: &Rig, shapes: &[(Dims, Option<Dims>)]) -> Outcome {
    rig.each_with_closures(|seat| {
        let mut queue = seat.queue(LaneKind::Compute)?;
        for &(range, group) in shapes {
            let geometry = Geometry { group, ..geometry(range) };
            let seen: Arc<Vec<_>> =
                Arc::new((0..geometry.items()).map(|_| AtomicU32::new(0)).collect());
            let cut = Arc::new(AtomicU32::new(0));
            let kernel = Visit { seen: seen.clone(), cut: cut.clone(), geometry };
            queue.launch(&[], kernel, &geometry, &[])?;
            queue.finish()?;
            let wrong = seen.iter().filter(|n| n.load(Ordering::Relaxed) != 1).count();
            ensure!(wrong == 0, "{wrong} items of {range:?} not met exactly once");
            ensure!(cut.load(Ordering::Relaxed) == 0, "blocks cut groups of {geometry:?}");
        }
        Ok(())
    })
}

fn launches_cover_each_item_once(rig: &Rig) -> Outcome {
    let ranges = [[1, 1, 1], [1, 1, 7], [1, 1, 100_003], [1, 5, 3], [1, 1000, 3], [3, 5, 7]];
    visits(rig, &ranges.map(|range| (range, None)))
}

fn blocks_are_whole_groups(rig: &Rig) -> Outcome {
    let shapes = [
        ([1, 1, 96], Some([1, 1, 32])),
        ([1, 1, 7], Some([1, 1, 7])),
        ([1, 12, 64], Some([1, 4, 16])),
        ([6, 6, 6], Some([2, 3, 6])),
    ];
    visits(rig, &shapes)
}

/// The little-endian numbers in `bytes`.
fn numbers(bytes: &[u8]) -> Vec<u32> {
    let number = |b: &[u8]| b.iter().rev().fold(0u32, |n, b| n << 8 | u32::from(*b));
    bytes.chunks_exact(4).map(number).collect()
}

fn kernels_find_their_parameters(rig: &Rig) -> Outcome {
    rig.each_with_closures(|seat| {
        let dims = [3, 6, 8];
        let items: usize = dims.iter().product();
        let memory = seat.memory(4 * items as u64)?;
        let mut queue = seat.queue(LaneKind::Compute)?;
        queue.fill(&[run(memory.at(0), memory.size)], &[0])?;
        // A box inside the shape: its neighbours keep their zeros.
        let (origin, extent) = ([1, 2, 3], [2, 3, 4]);
        let param = Param { origin, extent, shape: extent, ..memory.param(dims, true) };
        let set = Map(|old: u32, i| old + 1 + i as u32);
        queue.launch(&[], set, &geometry(extent), &[param])?;
        let found = numbers(&queue.read(&memory)?);
        let access = Box3::at(origin, extent).unwrap_or(Box3::EMPTY);
        for cell in Box3::whole(dims).cells() {
            let i = linear(dims, cell);
            let inside = access.contains(&Box3::cell(cell));
            let expect = if inside { 1 + i as u32 } else { 0 };
            ensure!(found[i] == expect, "{} at {cell:?}, not {expect}", found[i]);
        }
        Ok(())
    })
}

fn launches_of_one_lane_run_in_order(rig: &Rig) -> Outcome {
    rig.each_with_closures(|seat| {
        const N: usize = 1000;
        let memory = seat.memory(4 * N as u64)?;
        let mut queue = seat.queue(LaneKind::Compute)?;
        queue.fill(&[run(memory.at(0), memory.size)], &[0])?;
        let params = [memory.param([1, 1, N], true)];
        let mut expect = 0u32;
        for step in 0..50 {
            let map = Map(move |old: u32, _| old.wrapping_mul(3).wrapping_add(step));
            queue.launch(&[], map, &geometry([1, 1, N]), &params)?;
            expect = expect.wrapping_mul(3).wrapping_add(step);
        }
        let found = numbers(&queue.read(&memory)?);
        ensure!(found.iter().all(|n| *n == expect), "launches of one lane overtook each other");
        Ok(())
    })
}

/// The engine drops a kernel that is not taken.
fn accepted_kernels_are_taken(rig: &Rig) -> Outcome {
    rig.each_with_closures(|seat| {
        let mut queue = seat.queue(LaneKind::Compute)?;
        let kernel = Cell::new(Some(NativeKernel::new(Map(|_, _| 0))));
        queue.launch_ref(&[], KernelRef::Native(&kernel), &geometry([1; 3]), &[])?;
        ensure!(kernel.take().is_none(), "the kernel was accepted and left");
        queue.finish()
    })
}

fn closures_are_dropped_at_completion(rig: &Rig) -> Outcome {
    rig.each_with_closures(|seat| {
        let memory = seat.memory(4)?;
        let mut queue = seat.queue(LaneKind::Compute)?;
        let token = Arc::new(());
        for round in 0..8 {
            let held = token.clone();
            let map = Map(move |_, _| {
                let _ = &held;
                1
            });
            queue.launch(&[], map, &geometry([1; 3]), &[memory.param([1; 3], true)])?;
            queue.finish()?;
            ensure!(Arc::strong_count(&token) == 1, "round {round}: the closure lives on");
        }
        Ok(())
    })
}

struct Panics;

impl BlockKernel for Panics {
    unsafe fn run(&self, _: &[ParamPtr], _: &Box3) -> Verdict {
        // Not `panic!`, which would print: this one is on purpose.
        std::panic::resume_unwind(Box::new("on purpose"));
    }
}

fn panics_are_failures_told_once(rig: &Rig) -> Outcome {
    told_once(
        rig,
        || Panics,
        |kind| matches!(kind, HalErrorKind::Panic(p) if p.message() == "on purpose"),
    )
}

struct Violates;

impl BlockKernel for Violates {
    unsafe fn run(&self, _: &[ParamPtr], block: &Box3) -> Verdict {
        let site =
            Site { file: "here".into(), line: 1, column: block.min[0] as u32, message: None };
        Err(Box::new(Violation { kernel: "it".into(), kind: ViolationKind::DivisionByZero, site }))
    }
}

fn violations_are_failures_told_once(rig: &Rig) -> Outcome {
    told_once(
        rig,
        || Violates,
        |kind| matches!(kind, HalErrorKind::Violation(v) if v.kernel == "it"),
    )
}

fn told_once<K: BlockKernel>(
    rig: &Rig,
    kernel: fn() -> K,
    expected: fn(&HalErrorKind) -> bool,
) -> Outcome {
    rig.each_with_closures(|seat| {
        let mut queue = seat.queue(LaneKind::Compute)?;
        for _ in 0..4 {
            // A backend that runs it in the call may also say so in the call.
            let mut told = match queue.launch(&[], kernel(), &geometry([1, 1, 999]), &[]) {
                Ok(()) => Vec::new(),
                Err(error) => vec![(queue.last, error)],
            };
            queue.finish()?;
            told.extend(queue.failures());
            let right = matches!(&told[..], [(tick, error)] if *tick == queue.last
                && expected(&error.kind));
            ensure!(right, "tick {}: {told:?}", queue.last);
            let again = queue.failures();
            ensure!(again.is_empty(), "told again: {again:?}");
        }
        Ok(())
    })
}

fn a_failure_stays_with_its_operation(rig: &Rig) -> Outcome {
    rig.each_with_closures(|seat| {
        let memory = seat.memory(64)?;
        let mut queue = seat.queue(LaneKind::Compute)?;
        let mut told = Vec::new();
        for tick in 1..=8 {
            if tick % 2 == 1 {
                let failed = queue.launch(&[], Panics, &geometry([1; 3]), &[]);
                told.extend(failed.err().map(|_| tick));
            } else {
                queue.fill(&[run(memory.at(0), 64)], &[tick as u8])?;
            }
        }
        let found = queue.read(&memory)?;
        told.extend(queue.failures().into_iter().map(|(tick, _)| tick));
        told.sort_unstable();
        ensure!(told == [1, 3, 5, 7], "failed: {told:?}");
        ensure!(found == [8; 64], "operations after a failure did not run");
        Ok(())
    })
}
