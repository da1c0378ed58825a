//! cuSPARSE: its functions, a handle for each GPU, and products of sparse matrices.
//!
//! The library looks at a matrix once, and keeps what it finds in a descriptor and in a buffer.
//! Both belong to the [`Csr`] and the device. A call compares the addresses of the matrix with
//! those that the library has seen: memory that has moved is looked at again.

use super::OnCuda;
use super::loader::{Loader, Opened, keep_context};
use crate::prelude::*;
use crate::{Csr, LibraryError};
use folio::Shared;
use folio_cuda::{Native, NativeMemory};
use std::any::TypeId;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{from_ref, null_mut, with_exposed_provenance_mut};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

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
    words: unsafe extern "C" fn(Status) -> *const c_char,
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
        if status == 0 {
            return Ok(());
        }
        // SAFETY: the function takes any number, and its answer is a constant or null.
        let words = unsafe {
            let words = (self.words)(status);
            (!words.is_null()).then(|| CStr::from_ptr(words).to_string_lossy().into_owned())
        };
        let status = words.unwrap_or_else(|| format!("status {status}"));
        Err(LibraryError::Call { library: NAME, function, status })
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

/// What the library keeps of a matrix on one device, for products of one shape.
pub(crate) struct Prepared {
    cusparse: Arc<CuSparse>,
    product: Product,
    /// The descriptor of the matrix. It goes before the buffer, which it names.
    seen: Mutex<Option<Seen>>,
    buffer: Shared<u8>,
}

impl Prepared {
    fn enqueue(&self, cuda: &Native) -> Result<(), LibraryError> {
        let [offsets, columns, values, x, y, buffer] = &cuda.memory[..] else {
            return Err(LibraryError::None { what: "a sparse product of other operands" });
        };
        let at = places(cuda, [offsets, columns, values, buffer], x, y);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        self.cusparse.enqueue(self.product, &at, &mut seen)
    }
}

fn places(cuda: &Native, matrix: [&NativeMemory; 4], x: &NativeMemory, y: &NativeMemory) -> Places {
    let dense = |m: &NativeMemory| [m.address, m.pitch[1] as u64];
    Places {
        stream: cuda.stream,
        matrix: matrix.map(|memory| memory.address),
        x: dense(x),
        y: dense(y),
    }
}

/// What libraries keep of a matrix, on each device and for each shape of products.
#[derive(Default)]
pub(crate) struct Preparations(Mutex<Vec<Arc<Prepared>>>);

impl std::fmt::Debug for Preparations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Preparations")
    }
}

impl Preparations {
    fn known(&self, cusparse: &Arc<CuSparse>, product: Product) -> Option<Arc<Prepared>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |known: &&Arc<Prepared>| {
            Arc::ptr_eq(&known.cusparse, cusparse) && known.product == product
        };
        all.iter().find(is_it).cloned()
    }
}

/// The product, if the library takes it: numbers of 32 bits, and types that it has.
fn product_of<T: DeviceType>(a: &Csr<T>, columns: Option<usize>) -> Option<Product> {
    let of = |type_id| TypeId::of::<T>() == type_id;
    let kind = match () {
        () if of(TypeId::of::<f32>()) => R_32F,
        () if of(TypeId::of::<f64>()) => R_64F,
        () => return None,
    };
    let number = |n: usize| i32::try_from(n).ok().map(i64::from);
    let [rows, width] = a.shape.map(number);
    let columns = match columns {
        Some(columns) => Some(number(columns)?),
        None => None,
    };
    Some(Product { rows: rows?, width: width?, values: number(a.values.len())?, columns, kind })
}

impl OnCuda {
    /// Submits a product, if the library is there and takes it. Else `false`.
    pub(crate) fn multiply_sparse<T: DeviceType, const D: usize>(
        &self,
        q: &Queue,
        a: &Csr<T>,
        x: &Slice<'_, T, D>,
        y: &mut SliceMut<'_, T, D>,
    ) -> Result<bool> {
        let columns = (D == 2).then(|| y.range()[D - 1]);
        let (Some(cusparse), Some(product)) = (&self.cusparse, product_of(a, columns)) else {
            return Ok(false);
        };
        let prepared = match a.prepared.known(cusparse, product) {
            Some(known) => known,
            None => prepared(q, cusparse, product, a)?,
        };
        let label = if D == 2 { "spmm (cuSPARSE)" } else { "spmv (cuSPARSE)" };
        let buffer = prepared.buffer.clone();
        let task = move |cuda: &Native| prepared.enqueue(cuda);
        q.submit(|cg| {
            cg.label(label);
            let matrix = (cg.read(&a.offsets), cg.read(&a.columns), cg.read(&a.values));
            let (x, y, buffer) = (cg.read(x), cg.discard(&mut *y), cg.read_write(&buffer));
            let args = (matrix.0, matrix.1, matrix.2, x, y, buffer);
            // SAFETY: the library reads the matrix and `x`, and writes `y` and the buffer, on the
            // stream of the task. The handle lives until the process ends, the descriptor as long
            // as the task.
            unsafe { cg.each_run().capturable().interop(args, task) };
            Ok(())
        })?;
        Ok(true)
    }
}

/// Runs a task over the matrix on a queue of its own: the other one may be recorded.
fn over<T: DeviceType>(
    q: &Queue,
    a: &Csr<T>,
    buffer: Option<&Shared<u8>>,
    task: impl FnOnce(&Native) -> Result<(), LibraryError> + Send + 'static,
) -> Result<()> {
    let command = q.runtime().queue_on(&q.device())?.submit(|cg| {
        cg.label("set-up of cuSPARSE");
        let matrix = (cg.read(&a.offsets), cg.read(&a.columns), cg.read(&a.values));
        match buffer {
            Some(buffer) => {
                let args = (matrix.0, matrix.1, matrix.2, cg.read_write(buffer));
                // SAFETY: the task reads the matrix, and writes the buffer on its stream.
                unsafe { cg.interop(args, task) };
            }
            // SAFETY: the task enqueues nothing.
            None => unsafe { cg.interop(matrix, task) },
        }
        Ok(())
    })?;
    command.wait()
}

/// Has the library say how much memory it needs, and look at the matrix.
fn prepared<T: DeviceType>(
    q: &Queue,
    cusparse: &Arc<CuSparse>,
    product: Product,
    a: &Csr<T>,
) -> Result<Arc<Prepared>> {
    let answer = Arc::new(OnceLock::new());
    let (told, of) = (answer.clone(), cusparse.clone());
    over(q, a, None, move |cuda| {
        let _ = told.set(of.bytes(product, &beside(cuda, product)?)?);
        Ok(())
    })?;
    let bytes = answer.get().copied().unwrap_or(0);
    let buffer = q.runtime().buffer(bytes.max(1))?.into_shared();
    let (cusparse, seen) = (cusparse.clone(), Mutex::default());
    let prepared = Arc::new(Prepared { cusparse, product, seen, buffer });
    let of = prepared.clone();
    over(q, a, Some(&prepared.buffer), move |cuda| {
        let at = beside(cuda, of.product)?;
        let mut seen = of.seen.lock().unwrap_or_else(PoisonError::into_inner);
        *seen = Some(of.cusparse.seen(of.product, &at)?);
        Ok(())
    })?;
    let mut all = a.prepared.0.lock().unwrap_or_else(PoisonError::into_inner);
    all.push(prepared.clone());
    Ok(prepared)
}

/// Places of a matrix without other operands. The values are in their place, and not accessed.
fn beside(cuda: &Native, product: Product) -> Result<Places, LibraryError> {
    let [offsets, columns, values, buffer @ ..] = &cuda.memory[..] else {
        return Err(LibraryError::None { what: "a sparse matrix without memory" });
    };
    let buffer = buffer.first().unwrap_or(values);
    let dense = [values.address, product.columns.unwrap_or(1) as u64];
    let matrix = [offsets, columns, values, buffer].map(|memory| memory.address);
    Ok(Places { stream: cuda.stream, matrix, x: dense, y: dense })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
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

    unsafe extern "C" fn create_vector(
        out: *mut Handle,
        _: i64,
        at: *mut c_void,
        _: c_int,
    ) -> Status {
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

    unsafe extern "C" fn words(status: Status) -> *const c_char {
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
}
