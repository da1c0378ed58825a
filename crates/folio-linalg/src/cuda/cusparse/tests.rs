//! The calls of cuSPARSE, with functions that only count.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

use super::*;
use std::cell::Cell;

thread_local! {
    /// Descriptors that live, and how often the library has looked at a matrix.
    static LIVE: Cell<i32> = const { Cell::new(0) };
    static LOOKS: Cell<i32> = const { Cell::new(0) };
}

unsafe extern "C" fn create(handle: *mut Handle) -> Status {
    // SAFETY: a place for the answer.
    unsafe { *handle = with_exposed_provenance_mut(16) };
    0
}

unsafe extern "C" fn set_stream(_: Handle, stream: *mut c_void) -> Status {
    stream.addr() as Status
}

fn descriptor(out: *mut Handle, of: *mut c_void) -> Status {
    LIVE.set(LIVE.get() + 1);
    // SAFETY: a place for the answer.
    unsafe { *out = of };
    0
}

unsafe extern "C" fn create_csr(
    out: *mut Handle,
    rows: i64,
    _: i64,
    _: i64,
    offsets: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
    _: c_int,
    _: c_int,
    _: c_int,
    _: c_int,
) -> Status {
    if rows == 13 { 3 } else { descriptor(out, offsets) }
}

unsafe extern "C" fn create_vector(out: *mut Handle, _: i64, at: *mut c_void, _: c_int) -> Status {
    descriptor(out, at)
}

unsafe extern "C" fn create_matrix(
    out: *mut Handle,
    _: i64,
    columns: i64,
    row: i64,
    at: *mut c_void,
    _: c_int,
    _: c_int,
) -> Status {
    if row < columns { 3 } else { descriptor(out, at) }
}

unsafe extern "C" fn destroy(_: Handle) -> Status {
    LIVE.set(LIVE.get() - 1);
    0
}

unsafe extern "C" fn vector_bytes(
    _: Handle,
    _: c_int,
    _: *const c_void,
    _: Handle,
    _: Handle,
    _: *const c_void,
    _: Handle,
    _: c_int,
    _: c_int,
    bytes: *mut usize,
) -> Status {
    // SAFETY: a place for the answer.
    unsafe { *bytes = 24 };
    0
}

unsafe extern "C" fn look_at(
    _: Handle,
    _: c_int,
    _: *const c_void,
    _: Handle,
    _: Handle,
    _: *const c_void,
    _: Handle,
    _: c_int,
    _: c_int,
    _: *mut c_void,
) -> Status {
    LOOKS.set(LOOKS.get() + 1);
    0
}

/// Fails with the address of the vector.
unsafe extern "C" fn vector(
    _: Handle,
    _: c_int,
    _: *const c_void,
    _: Handle,
    x: Handle,
    _: *const c_void,
    _: Handle,
    _: c_int,
    _: c_int,
    _: *mut c_void,
) -> Status {
    x.addr() as Status
}

unsafe extern "C" fn matrix_bytes(
    _: Handle,
    _: c_int,
    _: c_int,
    _: *const c_void,
    _: Handle,
    _: Handle,
    _: *const c_void,
    _: Handle,
    _: c_int,
    _: c_int,
    bytes: *mut usize,
) -> Status {
    // SAFETY: a place for the answer.
    unsafe { *bytes = 48 };
    0
}

/// Fails with the address of the result, unless the factors are 1 and 0.
unsafe extern "C" fn matrix(
    _: Handle,
    _: c_int,
    _: c_int,
    one: *const c_void,
    _: Handle,
    _: Handle,
    zero: *const c_void,
    y: Handle,
    _: c_int,
    _: c_int,
    _: *mut c_void,
) -> Status {
    // SAFETY: the factors of a product of `f64`.
    let factors = unsafe { [*one.cast::<f64>(), *zero.cast::<f64>()] };
    if factors == [1.0, 0.0] { y.addr() as Status } else { 99 }
}

unsafe extern "C" fn words(status: Status) -> *const std::ffi::c_char {
    if status == 6 { c"an internal operation failed".as_ptr() } else { std::ptr::null() }
}

fn fake() -> CuSparse {
    CuSparse::with(Functions {
        create,
        set_stream,
        create_csr,
        destroy_csr: destroy,
        create_vector,
        destroy_vector: destroy,
        create_matrix,
        destroy_matrix: destroy,
        vector_bytes,
        look_at,
        vector,
        matrix_bytes,
        matrix,
        words,
        _library: None,
    })
    .unwrap()
}

const VECTOR: Product = Product { rows: 5, width: 4, values: 9, columns: None, kind: R_32F };
const MATRIX: Product = Product { columns: Some(3), kind: R_64F, ..VECTOR };

fn places(offsets: u64, x: u64, y: u64) -> Places {
    Places { stream: null_mut(), matrix: [offsets, 2, 3, 4], x: [x, 3], y: [y, 3] }
}

#[test]
fn a_matrix_is_looked_at_once_where_it_is() {
    let (cusparse, mut seen) = (fake(), None);
    for (offsets, looks) in [(8, 1), (8, 1), (9, 2), (9, 2), (8, 3)] {
        cusparse.enqueue(VECTOR, &places(offsets, 0, 0), &mut seen).unwrap();
        assert_eq!((LOOKS.get(), LIVE.get()), (looks, 1));
    }
    drop(seen);
    assert_eq!(LIVE.get(), 0);
}

#[test]
fn the_library_says_how_much_memory_it_needs() {
    assert_eq!(fake().bytes(VECTOR, &places(8, 0, 0)), Ok(24));
    assert_eq!(fake().bytes(MATRIX, &places(8, 0, 0)), Ok(48));
    assert_eq!(LIVE.get(), 0);
}

#[test]
fn a_failing_function_is_an_error_with_the_librarys_words() {
    let (cusparse, mut seen) = (fake(), None);
    let mut failed = |product, at: Places| {
        let failed = cusparse.enqueue(product, &at, &mut seen).unwrap_err();
        assert!(seen.is_none());
        failed.to_string()
    };
    let wanted = "cuSPARSE: cusparseSpMV failed: an internal operation failed";
    assert_eq!(failed(VECTOR, places(8, 6, 0)), wanted);
    assert_eq!(failed(MATRIX, places(8, 0, 7)), "cuSPARSE: cusparseSpMM failed: status 7");
    let wanted = "cuSPARSE: cusparseCreateCsr failed: status 3";
    assert_eq!(failed(Product { rows: 13, ..VECTOR }, places(8, 0, 0)), wanted);
    let wanted = "cuSPARSE: cusparseCreateDnMat failed: status 3";
    assert_eq!(failed(Product { columns: Some(4), ..MATRIX }, places(8, 0, 0)), wanted);
    let stream = with_exposed_provenance_mut(5);
    let wanted = "cuSPARSE: cusparseSetStream failed: status 5";
    assert_eq!(failed(VECTOR, Places { stream, ..places(8, 0, 0) }), wanted);
    assert_eq!(LIVE.get(), 0);
}
