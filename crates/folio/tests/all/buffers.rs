//! How buffers are made, asked for their shape, and indexed on the host. BUF-01, BUF-05, BUF-07,
//! POL-07
#![forbid(unsafe_code)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may panic"
)]

use folio::cpu::CpuBackend;
use folio::prelude::*;
use folio::{Coords, WriteGuard, buffer::ElementIndex};
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

fn cpu(domains: usize) -> Runtime {
    let backend = CpuBackend::builder().domains(domains).threads(2).build().unwrap();
    Runtime::builder().backend(backend).build().unwrap()
}

/// The message of a panic.
fn panics<R>(f: impl FnOnce() -> R) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).err().expect("a panic");
    let text = payload.downcast_ref::<String>().cloned();
    text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap()
}

fn shapes<const D: usize>(rt: &Runtime, written: impl Coords<D>, shape: [usize; D]) {
    let mut x = rt.buffer::<i32, D>(written).unwrap();
    let count = shape.iter().product();
    assert_eq!((x.shape(), x.range(), x.len()), (shape, shape, count));
    assert_eq!(x.read().unwrap().shape(), shape);
    assert_eq!(x.write().unwrap().shape(), shape);
    assert_eq!(x.discard().unwrap().shape(), shape);
    let mut part = x.slice_mut([0; D], shape).unwrap();
    assert_eq!((part.shape(), part.write_rows().unwrap().shape()), (shape, shape));
    let part = x.slice([0; D], shape).unwrap();
    assert_eq!((part.shape(), part.read_rows().unwrap().shape()), (shape, shape));
    assert_eq!(x.to_vec().unwrap(), vec![0; count]);
    assert_eq!(x.into_shared().shape(), shape);
}

#[test]
fn shapes_are_numbers_arrays_and_tuples() {
    let rt = cpu(1);
    shapes(&rt, 5, [5]);
    shapes(&rt, [5], [5]);
    shapes(&rt, [2, 3], [2, 3]);
    shapes(&rt, (2, 3), [2, 3]);
    shapes(&rt, [2, 3, 4], [2, 3, 4]);
    shapes(&rt, (2, 3, 4), [2, 3, 4]);
    for empty in [[0, 5], [5, 0], [0, 0]] {
        shapes(&rt, empty, empty);
    }
    shapes(&rt, 0, [0]);
    let scope = rt.scope(|s| s.view(&[1, 2, 3]).map(|view| view.shape()));
    assert_eq!(scope.unwrap().unwrap(), [3]);
    assert_eq!(rt.buffer::<u8, 1>([7]).unwrap().shape(), [7]);
}

#[test]
fn dimensions_and_elements_follow_from_use() {
    let rt = cpu(1);
    let mut x = rt.buffer([2, 2]).unwrap();
    x.write().unwrap()[(1, 1)] = 5u16;
    let y: Buffer<u16, 2> = rt.buffer_from((&[0, 0, 0, 5], (2, 2))).unwrap();
    assert_eq!(x.to_vec().unwrap(), y.to_vec().unwrap());
    let z: Buffer<f32> = rt.buffer_from(&[1.0, 2.0]).unwrap();
    assert_eq!(z.get(1).unwrap(), 2.0);
}

#[test]
fn what_is_too_large_is_refused() {
    let rt = cpu(1);
    for shape in [[usize::MAX, 2], [1 << 40, 1 << 40]] {
        let refused = rt.buffer::<u64, 2>(shape);
        assert!(matches!(refused, Err(Error::TooLarge { extent, .. }) if extent == shape));
    }
}

#[test]
fn a_wrong_length_names_both() {
    let rt = cpu(1);
    let options = || BufferOptions::new().label("plate");
    for refused in [
        rt.buffer_with((&[1, 2, 3, 4], [2, 3]), options()),
        rt.buffer_with((vec![1, 2, 3, 4], (2, 3)), options()),
        rt.buffer_with((vec![1; 4], [2, 3]), options()),
    ] {
        let text = refused.unwrap_err().to_string();
        assert!(text.contains("plate") && text.contains("[4] and [2, 3]"), "{text}");
    }
    for shape in [[0, 3], [usize::MAX, usize::MAX], [5, 1]] {
        let refused = rt.buffer_from((&[1, 2, 3, 4], shape));
        let Err(Error::Mismatch { source_extent, target, .. }) = refused else {
            panic!("{shape:?}: {refused:?}")
        };
        assert_eq!((source_extent, target), (vec![4], shape.to_vec()));
    }
}

#[test]
fn references_are_copied_and_free_at_once() {
    let rt = cpu(1);
    let mut data = vec![1u32, 2, 3];
    let wanted = data.clone();
    let slice: &[u32] = &data;
    let made = [
        rt.buffer_from(&data).unwrap(),
        rt.buffer_from(slice).unwrap(),
        rt.buffer_from(&[1, 2, 3]).unwrap(),
        rt.buffer_from(data.as_slice()).unwrap(),
        rt.buffer_from(data.clone()).unwrap(),
        rt.buffer_from(&std::sync::Arc::<[u32]>::from(slice)).unwrap(),
        rt.buffer_from(Cow::from(slice)).unwrap(),
        rt.buffer_from(&rt.buffer_from(slice).unwrap().read().unwrap()).unwrap(),
    ];
    data.fill(9);
    for x in made {
        assert_eq!(x.to_vec().unwrap(), wanted);
    }
    assert_eq!(rt.buffer_from::<u8, 1>(&[]).unwrap().len(), 0);
}

#[test]
fn a_vector_by_value_is_not_copied() {
    let rt = cpu(2);
    let host = rt.device("cpu:0").unwrap();
    let mut data = Vec::with_capacity(3000);
    data.extend(0..1000u64);
    let at = data.as_ptr() as u64;
    let mut x = rt.buffer_from(data).unwrap();
    assert_eq!(x.pointer(&host).unwrap().address(), Some(at));
    assert_eq!((x.counters().allocations, x.counters().transfers().bytes), (0, 0));
    assert_eq!(host.budget().1, 8000);

    // In the host's memory kernels use it in place.
    let q = rt.queue_on(&host).unwrap();
    q.run(1000, doubled(&mut x)).unwrap();
    assert_eq!(x.get(999).unwrap(), 1998);
    assert_eq!((x.counters().allocations, x.counters().transfers().bytes), (0, 0));

    // Elsewhere it is brought, and back.
    let q = rt.queue_on("cpu:1").unwrap();
    q.run(1000, doubled(&mut x)).unwrap();
    assert_eq!(x.to_vec().unwrap(), (0..1000).map(|n| 4 * n).collect::<Vec<_>>());
    let did = x.counters();
    assert_eq!(
        (did.allocations, did.host_to_device.bytes, did.device_to_host.bytes),
        (1, 8000, 8000)
    );

    let grid: Buffer<u64, 2> =
        rt.buffer_from((vec![1, 2, 3, 4].into_boxed_slice(), [2, 2])).unwrap();
    assert_eq!((grid.get([1, 0]).unwrap(), grid.counters().allocations), (3, 0));
    let none = rt.buffer_from(Vec::<u64>::with_capacity(10)).unwrap();
    assert!(none.to_vec().unwrap().is_empty());
    drop((x, grid));
    rt.wait().unwrap();
    assert_eq!(host.budget().1, 0);
}

#[kernel]
fn doubled(i: Item, x: InOut<u64>) {
    x[i] = 2 * x[i];
}

#[test]
fn adopted_memory_is_a_buffers_as_any_other() {
    let rt = cpu(2);
    let q = rt.queue_on("cpu:1").unwrap();
    let host = rt.device("cpu:0").unwrap();
    let mut x = rt.buffer_from(vec![3u64; 100]).unwrap();
    assert!(matches!(x.release(&host), Err(Error::OnlyCopy { .. })));
    q.run(100, doubled(&mut x)).unwrap().wait().unwrap();
    // The vector's memory goes, and other memory comes.
    x.release(&host).unwrap();
    assert_eq!(host.budget().1, 0);
    assert_eq!((x.to_vec().unwrap(), x.counters().allocations), (vec![6; 100], 2));
    let bytes = rt.buffer_from(vec![1u64]).unwrap().reinterpret::<u8, 1>([8]).unwrap();
    assert_eq!(bytes.to_vec().unwrap(), 1u64.to_ne_bytes());
}

#[test]
fn adopted_memory_counts_against_the_budget() {
    let backend = CpuBackend::builder().threads(1).build().unwrap();
    let rt = Runtime::builder().backend(backend).budget("host", 1000).build().unwrap();
    let held = rt.buffer_from(vec![1u8; 600]).unwrap();
    let refused = rt.buffer_with(vec![2u8; 600], BufferOptions::new().label("more"));
    let Err(Error::OutOfMemory { label, asked, in_use, limit, .. }) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!((label.as_str(), asked, in_use, limit), ("more", 600, 600, 1000));
    drop(held);
    assert_eq!(rt.buffer_from(vec![2u8; 600]).unwrap().get(599).unwrap(), 2);
}

#[test]
fn one_element_is_read_where_it_is() {
    let rt = cpu(2);
    let q = rt.queue_on("cpu:1").unwrap();
    let options = BufferOptions::new().label("x").page([10]);
    let mut x = rt.buffer_with(((0..100).collect::<Vec<u64>>(), 100), options).unwrap();
    q.run(100, doubled(&mut x)).unwrap();
    assert_eq!(x.get(42).unwrap(), 84);
    assert_eq!(x.counters().device_to_host.pages, 1);
    assert_eq!(x.slice(40, 10).unwrap().get(9).unwrap(), 98);
    assert_eq!(x.counters().device_to_host.pages, 1);

    let text = x.get(100).unwrap_err().to_string();
    assert!(text.contains("`x`") && text.contains("[100]"), "{text}");
    let outside = x.slice([40], [10]).unwrap().get([10]);
    let Err(Error::OutOfRange { offset, range, .. }) = outside else { panic!("{outside:?}") };
    assert_eq!((offset, range), (vec![10], vec![10]));
    assert!(x.get(usize::MAX).is_err() && rt.buffer::<u64, 1>(0).unwrap().get(0).is_err());

    let cube = rt.buffer_from(((0..24).collect::<Vec<u8>>(), [2, 3, 4])).unwrap().into_shared();
    assert_eq!((cube.get([1, 2, 3]).unwrap(), cube.get((0, 1, 0)).unwrap()), (23, 4));
    assert!(cube.get((0, 3, 0)).is_err());
    // A write guard keeps readers of single elements out as well.
    let guard = cube.write().unwrap();
    assert!(matches!(cube.get((0, 0, 0)), Err(Error::HostAccessHeld { .. })));
    drop(guard);
}

/// BUF-06: the elements of any shape in one dimension, borrowed: to read, to write, and of parts
/// without gaps.
#[test]
fn any_shape_is_flat_without_a_copy() {
    let rt = cpu(2);
    let q = rt.queue_on("cpu:1").unwrap();
    let mut grid = rt.buffer_from(((0..24).collect::<Vec<u64>>(), [4, 6])).unwrap();
    q.run(24, doubled(grid.flat_mut())).unwrap();
    q.run(6, doubled(grid.slice_mut([2, 0], [1, 6]).unwrap().flat_mut().unwrap())).unwrap();
    q.run(2, doubled(grid.slice_mut([1, 2], [1, 2]).unwrap().flat_mut().unwrap())).unwrap();
    let factor = |at| if (12..18).contains(&at) || (8..10).contains(&at) { 4 } else { 2 };
    let wanted: Vec<u64> = (0..24).map(|at| at * factor(at)).collect();
    assert_eq!((grid.flat().to_vec().unwrap(), grid.to_vec().unwrap()), (wanted.clone(), wanted));
    assert_eq!((grid.flat().len(), grid.flat().get(13).unwrap()), (24, 52));

    let refused = grid.slice([0, 1], [2, 5]).unwrap().flat().map(drop).unwrap_err();
    let Error::NotContiguous { extent, .. } = &refused else { panic!("{refused:?}") };
    assert_eq!(extent, &[2, 5]);
    let text = refused.to_string();
    assert!(text.contains("`read_rows()`") && text.contains("`to_vec()`"), "{text}");

    let shared = grid.into_shared();
    q.fill(shared.flat_mut(), 1).unwrap();
    let same = q.copy(shared.flat(), shared.flat_mut());
    assert!(matches!(same, Err(Error::Aliasing { .. })), "{same:?}");
    let empty = rt.buffer::<f32, 2>([0, 3]).unwrap();
    assert!(empty.flat().is_empty() && empty.flat().to_vec().unwrap().is_empty());
}

/// Reads and writes at a position, and beside it.
fn at<P: ElementIndex<i32, D, Output = i32> + Copy, const D: usize>(
    guard: &mut WriteGuard<i32, D>,
    position: P,
    flat: usize,
) {
    assert_eq!(guard[position], guard[flat]);
    guard[position] += 100;
    assert_eq!((guard[position], guard[flat]), (flat as i32 + 100, flat as i32 + 100));
    guard[flat] -= 100;
}

#[test]
fn guards_are_indexed_by_positions_numbers_and_ranges() {
    let rt = cpu(1);
    let mut line = rt.buffer_from((0..24).collect::<Vec<i32>>()).unwrap();
    let mut guard = line.write().unwrap();
    at(&mut guard, 5, 5);
    at(&mut guard, [5], 5);
    assert_eq!((&guard[2..4], &guard[22..], &guard[..1]), (&[2, 3][..], &[22, 23][..], &[0][..]));
    assert_eq!((guard[..].len(), guard[2..=3].len(), guard[..=3].len()), (24, 2, 4));
    drop(guard);

    let mut grid = line.reinterpret::<i32, 2>([4, 6]).unwrap();
    let mut guard = grid.write().unwrap();
    at(&mut guard, [2, 3], 15);
    at(&mut guard, (3, 5), 23);
    guard[6..12].fill(1);
    drop(guard);
    let guard = grid.read().unwrap();
    assert_eq!((guard[[1, 2]], guard[(0, 5)], guard[12]), (1, 5, 12));
    drop(guard);
    // From the part's own first element on.
    let row = grid.slice([2, 0], [2, 6]).unwrap();
    assert_eq!((row.read().unwrap()[(0, 1)], row.read().unwrap()[[1, 0]]), (13, 18));

    let mut cube = grid.reinterpret::<i32, 3>((2, 3, 4)).unwrap();
    let mut guard = cube.write().unwrap();
    at(&mut guard, [1, 0, 3], 15);
    at(&mut guard, (1, 2, 3), 23);
}

#[test]
fn rows_are_indexed_by_positions() {
    let rt = cpu(1);
    let mut grid = rt.buffer_from(((0..24).collect::<Vec<i32>>(), [4, 6])).unwrap();
    let mut inner = grid.slice_mut([1, 1], [2, 4]).unwrap();
    let mut rows = inner.write_rows().unwrap();
    assert_eq!((rows[[0, 0]], rows[(1, 3)]), (7, 16));
    rows[(1, 3)] = -1;
    drop(rows);
    let inner = grid.slice((1, 1), (2, 4)).unwrap();
    let rows = inner.read_rows().unwrap();
    assert_eq!((rows[(1, 3)], rows.shape()), (-1, [2, 4]));
    assert!(panics(|| rows[[2, 0]]).contains("[2, 0] is outside of a shape of [2, 4]"));
    assert!(panics(|| rows[(0, 4)]).contains("[0, 4]"));

    let cube = rt.buffer_from(((0..24).collect::<Vec<i32>>(), [2, 3, 4])).unwrap();
    let rows = cube.slice([0, 1, 1], [2, 2, 2]).unwrap().read_rows().unwrap();
    assert_eq!((rows[[1, 1, 0]], rows[(0, 0, 1)]), (21, 6));
}

/// A column that is not there is not the next row's.
#[test]
fn positions_outside_of_a_guard_panic() {
    let rt = cpu(1);
    let mut grid = rt.buffer::<i32, 2>([2, 3]).unwrap();
    let guard = grid.read().unwrap();
    assert!(panics(|| guard[(0, 3)]).contains("position [0, 3] is outside of a shape of [2, 3]"));
    assert!(panics(|| guard[[2, 0]]).contains("[2, 0]"));
    assert!(panics(|| guard[(0, usize::MAX)]).contains("outside"));
    assert!(panics(|| guard[6]).contains("index out of bounds"));
    drop(guard);
    let mut guard = grid.write().unwrap();
    assert!(panics(|| guard[(1, 3)] = 1).contains("[1, 3]"));
    drop(guard);
    let empty = rt.buffer::<i32, 2>([0, 3]).unwrap();
    assert!(panics(|| empty.read().unwrap()[(0, 0)]).contains("[0, 3]"));
}

#[test]
fn views_of_closures_and_tasks_have_shapes_and_positions() {
    let rt = cpu(1);
    let q = rt.queue().unwrap();
    let m = rt.buffer_from((&[1, 2, 3, 4, 5, 6], [2, 3])).unwrap();
    let mut t = rt.buffer::<i32, 2>([3, 2]).unwrap();
    q.submit(|cg| {
        let (m, t) = (cg.read(&m), cg.discard(&mut t));
        cg.host_kernel([3, 2], (m, t), |i, (m, mut t)| {
            let (r, c) = i.pos();
            assert_eq!((m.shape(), t.shape()), ([2, 3], [3, 2]));
            assert_eq!((m.get((c, r)), m.get([2, 0])), (Some(m[[c, r]]), None));
            t.put(i, m[(c, r)]);
        });
        Ok(())
    })
    .unwrap();
    q.submit(|cg| {
        let (m, t) = (cg.read(&m), cg.read_write(&mut t));
        cg.host_task((m, t), |(m, mut t)| {
            let [rows, columns] = t.shape();
            for (r, c) in (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))) {
                assert_eq!(t[(r, c)], m[[c, r]]);
                t[[r, c]] *= 10;
            }
            assert!(panics(|| m[(0, 3)]).contains("[0, 3]"));
        });
        Ok(())
    })
    .unwrap();
    let mut line = t.reinterpret::<i32, 1>(6).unwrap();
    q.submit(|cg| {
        let line = cg.read_write(&mut line);
        cg.host_task(line, |mut line| {
            assert_eq!((line[0], line[[1]], &line[4..]), (10, 40, &[30, 60][..]));
            line[5] = 7;
        });
        Ok(())
    })
    .unwrap();
    assert_eq!(line.to_vec().unwrap(), [10, 40, 20, 50, 30, 7]);
}
