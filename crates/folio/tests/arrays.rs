//! Arrays of `ndarray`: with the feature of that name.
#![cfg(all(feature = "ndarray", feature = "cpu"))]
#![allow(clippy::unwrap_used, reason = "tests")]

use folio::arrays::{Arrays, AsArray, AsArrayMut};
use ndarray::{Array1, Array2, Array3, Axis, array, s};

#[test]
fn an_array_by_value_gives_its_memory_and_others_are_copied() {
    let rt = folio::runtime().unwrap();
    let a = Array2::from_shape_fn((3, 4), |(r, c)| (10 * r + c) as i32);
    let at = a.as_ptr();
    let wanted: Vec<i32> = a.iter().copied().collect();
    let copied = rt.buffer_of(&a).unwrap();
    assert_eq!((copied.shape(), copied.to_vec().unwrap()), ([3, 4], wanted.clone()));
    let turned = rt.buffer_of(&a.t()).unwrap();
    assert_eq!((turned.shape(), turned.get([3, 2]).unwrap()), ([4, 3], 23));
    let part = rt.buffer_of(&a.slice(s![.., 1..3])).unwrap();
    assert_eq!(part.to_vec().unwrap(), [1, 2, 11, 12, 21, 22]);
    let moved = rt.buffer_of(a.clone()).unwrap();
    assert_eq!((moved.to_vec().unwrap(), moved.counters().allocations), (wanted, 0));
    let moved = rt.buffer_of(a).unwrap();
    assert_eq!(moved.read().unwrap().as_ptr(), at);
    // An array by value in another order, and the rest of one.
    let turned = rt.buffer_of(array![[1u8, 2], [3, 4]].reversed_axes()).unwrap();
    assert_eq!(turned.to_vec().unwrap(), [1, 3, 2, 4]);
    let mut rest = Array1::from(vec![1u64, 2, 3, 4, 5]);
    rest.slice_collapse(s![1..4]);
    assert_eq!(rt.buffer_of(rest).unwrap().to_vec().unwrap(), [2, 3, 4]);
    let none = rt.buffer_of(Array3::<f32>::zeros((2, 0, 3))).unwrap();
    assert_eq!((none.shape(), none.to_vec().unwrap()), ([2, 0, 3], vec![]));
}

#[test]
fn guards_are_seen_as_arrays() {
    let rt = folio::runtime().unwrap();
    let q = rt.queue().unwrap();
    let mut x = rt.buffer_from((&[1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])).unwrap();
    assert_eq!(x.read().unwrap().array().sum_axis(Axis(0)), array![5.0, 7.0, 9.0]);
    x.write().unwrap().array_mut().row_mut(1).fill(0.5);
    q.fill(x.slice_mut([0, 0], [1, 1]).unwrap(), 9.0).unwrap();
    assert_eq!(x.read().unwrap().array(), array![[9.0, 2.0, 3.0], [0.5, 0.5, 0.5]]);
    let row = x.slice([1, 0], [1, 3]).unwrap();
    assert_eq!(row.read().unwrap().array().dim(), (1, 3));
    let cube = rt.buffer::<u8, 3>([2, 2, 2]).unwrap();
    assert_eq!(cube.read().unwrap().array(), Array3::<u8>::zeros((2, 2, 2)));
}

/// Buffers without elements have extents of which there is no array.
#[test]
fn buffers_of_nothing_are_arrays_of_nothing() {
    const MAX: usize = usize::MAX;
    let rt = folio::runtime().unwrap();
    let shapes = [[0, MAX, MAX], [MAX, 0, 2], [1 << 32, 1 << 31, 0], [1 << 31, 0, 1 << 31]];
    for shape in shapes {
        let mut x = rt.buffer::<u8, 3>(shape).unwrap();
        let known = shape == shapes[3];
        let wanted = if known { shape } else { [0; 3] };
        assert_eq!(x.read().unwrap().array().shape(), wanted);
        assert_eq!(x.write().unwrap().array_mut().shape(), wanted);
        assert_eq!(x.read().unwrap().array().iter().count(), 0);
    }
}
