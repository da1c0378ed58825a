//! cuSPARSE: its functions, a handle for each GPU, and products of sparse matrices.
//!
//! The library looks at a matrix once, and keeps what it finds in a descriptor and in a buffer.
//! Both belong to the [`Csr`](crate::Csr) and the device. A call compares the addresses of the
//! matrix with those that the library has seen: memory that has moved is looked at again.

mod matrix;

pub(crate) use matrix::Preparations;

use super::loader::{Loader, Opened, Words, checked, keep_context};
use crate::LibraryError;
use std::ffi::{c_int, c_void};
use std::ptr::{from_ref, null_mut, with_exposed_provenance_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

const NAME: &str = "cuSPARSE";
/// Files of the major version with the functions that are called here: of CUDA 12 and 13.
const FILES: [&str; 2] = ["libcusparse.so.12", "libcusparse.so"];

type Handle = *mut c_void;
/// `cusparseStatus_t`, where 0 is success.
type Status = c_int;
type Destroy = unsafe extern "C" fn(Handle) -> Status;

/// `cusparseOperation_t`, `cusparseIndexType_t`, `cusparseIndexBase_t`, `cusparseOrder_t`,
/// `cudaDataType`, `cusparseSpMVAlg_t` and `cusparseSpMMAlg_t` of cuSPARSE 12.
const AS_IT_IS: c_int = 0;
const INDEX_32I: c_int = 2;
const FROM_ZERO: c_int = 0;
const BY_ROWS: c_int = 2;
const R_32F: c_int = 0;
const R_64F: c_int = 1;
const ANY_ALGORITHM: c_int = 0;
/// The algorithm that is made for dense matrices by rows.
const FOR_ROWS: c_int = 6;

/// `cusparseCreateCsr`.
type CreateCsr = unsafe extern "C" fn(
    *mut Handle,
    i64,
    i64,
    i64,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    c_int,
    c_int,
    c_int,
    c_int,
) -> Status;

/// `cusparseSpMV_bufferSize`.
type VectorBytes = unsafe extern "C" fn(
    Handle,
    c_int,
    *const c_void,
    Handle,
    Handle,
    *const c_void,
    Handle,
    c_int,
    c_int,
    *mut usize,
) -> Status;

/// `cusparseSpMV_preprocess` and `cusparseSpMV`.
type Vector = unsafe extern "C" fn(
    Handle,
    c_int,
    *const c_void,
    Handle,
    Handle,
    *const c_void,
    Handle,
    c_int,
    c_int,
    *mut c_void,
) -> Status;

/// `cusparseSpMM_bufferSize`.
type MatrixBytes = unsafe extern "C" fn(
    Handle,
    c_int,
    c_int,
    *const c_void,
    Handle,
    Handle,
    *const c_void,
    Handle,
    c_int,
    c_int,
    *mut usize,
) -> Status;

/// `cusparseSpMM`.
type Matrix = unsafe extern "C" fn(
    Handle,
    c_int,
    c_int,
    *const c_void,
    Handle,
    Handle,
    *const c_void,
    Handle,
    c_int,
    c_int,
    *mut c_void,
) -> Status;

/// The functions that are called.
struct Functions {
    create: unsafe extern "C" fn(*mut Handle) -> Status,
    set_stream: unsafe extern "C" fn(Handle, *mut c_void) -> Status,
    create_csr: CreateCsr,
    destroy_csr: Destroy,
    create_vector: unsafe extern "C" fn(*mut Handle, i64, *mut c_void, c_int) -> Status,
    destroy_vector: Destroy,
    create_matrix:
        unsafe extern "C" fn(*mut Handle, i64, i64, i64, *mut c_void, c_int, c_int) -> Status,
    destroy_matrix: Destroy,
    vector_bytes: VectorBytes,
    look_at: Vector,
    vector: Vector,
    matrix_bytes: MatrixBytes,
    matrix: Matrix,
    words: Words,
    /// Holds the functions in memory.
    _library: Option<Opened>,
}

/// Opens the library, and closes it.
pub(super) fn find(loader: &dyn Loader) -> Result<(), LibraryError> {
    Functions::open(loader).map(drop)
}

impl Functions {
    fn open(loader: &dyn Loader) -> Result<Functions, LibraryError> {
        let library = Opened::first_of(loader, NAME, &FILES)?;
        // SAFETY: the types are those of cuSPARSE's header.
        unsafe {
            Ok(Functions {
                create: library.function("cusparseCreate")?,
                set_stream: library.function("cusparseSetStream")?,
                create_csr: library.function("cusparseCreateCsr")?,
                destroy_csr: library.function("cusparseDestroySpMat")?,
                create_vector: library.function("cusparseCreateDnVec")?,
                destroy_vector: library.function("cusparseDestroyDnVec")?,
                create_matrix: library.function("cusparseCreateDnMat")?,
                destroy_matrix: library.function("cusparseDestroyDnMat")?,
                vector_bytes: library.function("cusparseSpMV_bufferSize")?,
                look_at: library.function("cusparseSpMV_preprocess")?,
                vector: library.function("cusparseSpMV")?,
                matrix_bytes: library.function("cusparseSpMM_bufferSize")?,
                matrix: library.function("cusparseSpMM")?,
                words: library.function("cusparseGetErrorString")?,
                _library: Some(library),
            })
        }
    }

    /// The error of a status, in the library's words.
    fn check(&self, function: &'static str, status: Status) -> Result<(), LibraryError> {
        // SAFETY: the library's function takes any number, and answers with a constant or null.
        unsafe { checked(NAME, self.words, function, status) }
    }
}

/// A handle of the library.
struct Address(Handle);

// SAFETY: any thread may use a handle, one at a time, which locks see to.
unsafe impl Send for Address {}

/// A descriptor of the library, which goes with its owner.
struct Descriptor {
    address: Address,
    destroy: Destroy,
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: a live descriptor, which nothing uses after its owner.
        unsafe { (self.destroy)(self.address.0) };
    }
}

/// cuSPARSE on one GPU. It is kept until the process ends, as is the GPU's context.
pub(crate) struct CuSparse {
    functions: Functions,
    /// The library takes one call at a time for a handle.
    handle: Mutex<Address>,
}

/// A product as cuSPARSE has it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Product {
    rows: i64,
    width: i64,
    values: i64,
    /// Columns of the dense matrix; a vector has none.
    columns: Option<i64>,
    /// The type of the numbers.
    kind: c_int,
}

/// Where the operands of a product are.
struct Places {
    stream: *mut c_void,
    /// Offsets, columns and values of the matrix, and the buffer of the library.
    matrix: [u64; 4],
    /// Addresses of the other operand and of the result, and how far their rows are apart.
    x: [u64; 2],
    y: [u64; 2],
}

/// A sparse matrix as the library has seen it, and where.
struct Seen {
    matrix: [u64; 4],
    csr: Descriptor,
}

/// The number 1 or 0 of a type, for the library to read.
fn factor(kind: c_int, is_one: bool) -> *const c_void {
    match (kind, is_one) {
        (R_64F, true) => from_ref(&1.0f64).cast(),
        (R_64F, false) => from_ref(&0.0f64).cast(),
        (_, true) => from_ref(&1.0f32).cast(),
        (_, false) => from_ref(&0.0f32).cast(),
    }
}

fn pointer(address: u64) -> *mut c_void {
    with_exposed_provenance_mut(address as usize)
}

impl CuSparse {
    /// Opens the library on a device, whose primary context is current.
    pub(crate) fn open(device: i32, loader: &dyn Loader) -> Result<CuSparse, LibraryError> {
        let functions = Functions::open(loader)?;
        keep_context(device)?;
        CuSparse::with(functions)
    }

    fn with(functions: Functions) -> Result<CuSparse, LibraryError> {
        let mut handle = null_mut();
        // SAFETY: a place for the answer.
        let status = unsafe { (functions.create)(&raw mut handle) };
        functions.check("cusparseCreate", status)?;
        Ok(CuSparse { functions, handle: Mutex::new(Address(handle)) })
    }

    fn descriptor(
        &self,
        function: &'static str,
        destroy: Destroy,
        create: impl FnOnce(*mut Handle) -> Status,
    ) -> Result<Descriptor, LibraryError> {
        let mut at = null_mut();
        self.functions.check(function, create(&raw mut at))?;
        Ok(Descriptor { address: Address(at), destroy })
    }

    fn csr(&self, product: Product, at: [u64; 4]) -> Result<Descriptor, LibraryError> {
        let functions = &self.functions;
        let Product { rows, width, values, kind, .. } = product;
        let [offsets, columns, numbers, _] = at.map(pointer);
        // SAFETY: a place for the answer; the extents are those of the memory.
        self.descriptor("cusparseCreateCsr", functions.destroy_csr, |out| unsafe {
            (functions.create_csr)(
                out, rows, width, values, offsets, columns, numbers, INDEX_32I, INDEX_32I,
                FROM_ZERO, kind,
            )
        })
    }

    /// A dense operand of so many rows.
    fn dense(
        &self,
        product: Product,
        rows: i64,
        [address, row]: [u64; 2],
    ) -> Result<Descriptor, LibraryError> {
        let (functions, at, kind) = (&self.functions, pointer(address), product.kind);
        let Some(columns) = product.columns else {
            // SAFETY: a place for the answer; the length is that of the memory.
            return self.descriptor(
                "cusparseCreateDnVec",
                functions.destroy_vector,
                |out| unsafe { (functions.create_vector)(out, rows, at, kind) },
            );
        };
        // SAFETY: a place for the answer; the extents are those of the memory.
        self.descriptor("cusparseCreateDnMat", functions.destroy_matrix, |out| unsafe {
            (functions.create_matrix)(out, rows, columns, row as i64, at, kind, BY_ROWS)
        })
    }

    /// The bytes in which the library works.
    fn bytes(&self, product: Product, at: &Places) -> Result<usize, LibraryError> {
        let (csr, (x, y)) = (self.csr(product, at.matrix)?, self.both(product, at)?);
        let [a, x, y] = [&csr, &x, &y].map(|of| of.address.0);
        let (kind, functions, mut bytes) = (product.kind, &self.functions, 0);
        let (one, zero, none) = (factor(kind, true), factor(kind, false), AS_IT_IS);
        let (handle, out) = (self.on_stream(at.stream)?, &raw mut bytes);
        // SAFETY: a live handle and descriptors; the factors are constants; a place for the answer.
        let (name, status) = unsafe {
            if product.columns.is_none() {
                let (any, size) = (ANY_ALGORITHM, functions.vector_bytes);
                let status = size(handle.0, none, one, a, x, zero, y, kind, any, out);
                ("cusparseSpMV_bufferSize", status)
            } else {
                let size = functions.matrix_bytes;
                let status = size(handle.0, none, none, one, a, x, zero, y, kind, FOR_ROWS, out);
                ("cusparseSpMM_bufferSize", status)
            }
        };
        functions.check(name, status)?;
        Ok(bytes)
    }

    /// Has the library look at the matrix, by what it enqueues. Of products with matrices it keeps
    /// nothing.
    fn seen(&self, product: Product, at: &Places) -> Result<Seen, LibraryError> {
        let seen = Seen { matrix: at.matrix, csr: self.csr(product, at.matrix)? };
        if product.columns.is_none() {
            let look_at = ("cusparseSpMV_preprocess", self.functions.look_at);
            self.by_vector(product, at, &seen.csr, look_at)?;
        }
        Ok(seen)
    }

    /// Enqueues a product of a matrix that was seen here, or is looked at first.
    fn enqueue(
        &self,
        product: Product,
        at: &Places,
        seen: &mut Option<Seen>,
    ) -> Result<(), LibraryError> {
        let known = seen.take().filter(|seen| seen.matrix == at.matrix);
        let known = known.map_or_else(|| self.seen(product, at), Ok)?;
        match product.columns {
            None => {
                let call = ("cusparseSpMV", self.functions.vector);
                self.by_vector(product, at, &known.csr, call)?;
            }
            Some(_) => self.by_matrix(product, at, &known.csr)?,
        }
        *seen = Some(known);
        Ok(())
    }

    fn by_vector(
        &self,
        product: Product,
        at: &Places,
        csr: &Descriptor,
        (name, call): (&'static str, Vector),
    ) -> Result<(), LibraryError> {
        let (x, y) = self.both(product, at)?;
        let [a, x, y] = [csr, &x, &y].map(|of| of.address.0);
        let (kind, buffer) = (product.kind, pointer(at.matrix[3]));
        let (one, zero) = (factor(kind, true), factor(kind, false));
        let handle = self.on_stream(at.stream)?;
        // SAFETY: a live handle and descriptors; the stream and the memory are the task's, which
        // have the product's extents; the factors are constants.
        self.functions.check(name, unsafe {
            call(handle.0, AS_IT_IS, one, a, x, zero, y, kind, ANY_ALGORITHM, buffer)
        })
    }

    fn by_matrix(
        &self,
        product: Product,
        at: &Places,
        csr: &Descriptor,
    ) -> Result<(), LibraryError> {
        let (x, y) = self.both(product, at)?;
        let [a, x, y] = [csr, &x, &y].map(|of| of.address.0);
        let (kind, buffer, none) = (product.kind, pointer(at.matrix[3]), AS_IT_IS);
        let (one, zero) = (factor(kind, true), factor(kind, false));
        let handle = self.on_stream(at.stream)?;
        // SAFETY: as in `by_vector`.
        self.functions.check("cusparseSpMM", unsafe {
            let call = self.functions.matrix;
            call(handle.0, none, none, one, a, x, zero, y, kind, FOR_ROWS, buffer)
        })
    }

    /// The dense operands.
    fn both(
        &self,
        product: Product,
        at: &Places,
    ) -> Result<(Descriptor, Descriptor), LibraryError> {
        Ok((self.dense(product, product.width, at.x)?, self.dense(product, product.rows, at.y)?))
    }

    /// The handle, whose calls go to a stream.
    fn on_stream(&self, stream: *mut c_void) -> Result<MutexGuard<'_, Address>, LibraryError> {
        let handle = self.handle.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: a live handle; the stream is the task's.
        let status = unsafe { (self.functions.set_stream)(handle.0, stream) };
        self.functions.check("cusparseSetStream", status)?;
        Ok(handle)
    }
}

#[cfg(test)]
mod tests;
