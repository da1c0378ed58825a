//! cuBLAS: its functions, a handle for each GPU, and products.

use super::OnCuda;
use super::loader::{Loader, Opened, Words, checked, keep_context};
use crate::element::Kind;
use crate::matmul::{Extents, Matmul, Operands};
use crate::prelude::*;
use crate::{Element, LibraryError};
use folio_cuda::{Native, NativeMemory};
use std::ffi::{c_int, c_longlong, c_void};
use std::ptr::{from_ref, null_mut, with_exposed_provenance_mut};
use std::sync::{Mutex, PoisonError};

const NAME: &str = "cuBLAS";
/// Files of the major versions with the functions that are called here.
const FILES: [&str; 3] = ["libcublas.so.13", "libcublas.so.12", "libcublas.so"];

type Handle = *mut c_void;
/// `cublasStatus_t`, where 0 is success.
type Status = c_int;

/// `cublasOperation_t`, `cudaDataType`, `cublasComputeType_t` and `cublasGemmAlgo_t` of cuBLAS 12
/// and 13.
const AS_IT_IS: c_int = 0;
const TRANSPOSED: c_int = 1;
const R_32F: c_int = 0;
const R_64F: c_int = 1;
const R_16F: c_int = 2;
const R_16BF: c_int = 14;
const COMPUTE_32F: c_int = 68;
const COMPUTE_64F: c_int = 70;
const ANY_ALGORITHM: c_int = -1;

/// `cublasGemmStridedBatchedEx`.
type Gemm = unsafe extern "C" fn(
    Handle,
    c_int,
    c_int,
    c_int,
    c_int,
    c_int,
    *const c_void,
    *const c_void,
    c_int,
    c_int,
    c_longlong,
    *const c_void,
    c_int,
    c_int,
    c_longlong,
    *const c_void,
    *mut c_void,
    c_int,
    c_int,
    c_longlong,
    c_int,
    c_int,
    c_int,
) -> Status;

/// The functions that are called.
struct Functions {
    create: unsafe extern "C" fn(*mut Handle) -> Status,
    set_stream: unsafe extern "C" fn(Handle, *mut c_void) -> Status,
    set_workspace: unsafe extern "C" fn(Handle, *mut c_void, usize) -> Status,
    gemm: Gemm,
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
        // SAFETY: the types are those of cuBLAS's header.
        unsafe {
            Ok(Functions {
                create: library.function("cublasCreate_v2")?,
                set_stream: library.function("cublasSetStream_v2")?,
                set_workspace: library.function("cublasSetWorkspace_v2")?,
                gemm: library.function("cublasGemmStridedBatchedEx")?,
                words: library.function("cublasGetStatusString")?,
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

/// cuBLAS on one GPU. It is kept until the process ends, as is the GPU's context.
pub(crate) struct CuBlas {
    functions: Functions,
    /// The library takes one call at a time for a handle.
    handle: Mutex<Address>,
}

/// A library's handle.
struct Address(Handle);

// SAFETY: any thread may use a handle, one at a time, which the lock sees to.
unsafe impl Send for Address {}

impl CuBlas {
    /// Opens the library on a device, whose primary context is current.
    pub(crate) fn open(device: i32, loader: &dyn Loader) -> Result<CuBlas, LibraryError> {
        let functions = Functions::open(loader)?;
        keep_context(device)?;
        CuBlas::with(functions)
    }

    fn with(functions: Functions) -> Result<CuBlas, LibraryError> {
        let mut handle = null_mut();
        // SAFETY: a place for the answer.
        let status = unsafe { (functions.create)(&raw mut handle) };
        functions.check("cublasCreate", status)?;
        Ok(CuBlas { functions, handle: Mutex::new(Address(handle)) })
    }

    /// Enqueues a product.
    fn enqueue(&self, call: &Call, cuda: &Target) -> Result<(), LibraryError> {
        let Call { kind, operations, extents: [m, n, k], batches, alpha, beta } = call;
        let [[a, lda, next_a], [b, ldb, next_b], [c, ldc, next_c]] = cuda.matrices;
        let at = |address: u64| with_exposed_provenance_mut::<c_void>(address as usize);
        let (input, sum, compute) = types(*kind);
        let handle = self.handle.lock().unwrap_or_else(PoisonError::into_inner);
        let functions = &self.functions;
        // SAFETY: a live handle; the stream and the memory are the task's, which have the extents;
        // the factors are read before the call returns.
        unsafe {
            let status = (functions.set_stream)(handle.0, cuda.stream);
            functions.check("cublasSetStream", status)?;
            let [workspace, bytes] = cuda.workspace;
            let status = (functions.set_workspace)(handle.0, at(workspace), bytes as usize);
            functions.check("cublasSetWorkspace", status)?;
            let status = (functions.gemm)(
                handle.0,
                operations[0],
                operations[1],
                *m,
                *n,
                *k,
                alpha.pointer(),
                at(a),
                input,
                lda as c_int,
                next_a as c_longlong,
                at(b),
                input,
                ldb as c_int,
                next_b as c_longlong,
                beta.pointer(),
                at(c),
                sum,
                ldc as c_int,
                next_c as c_longlong,
                *batches,
                compute,
                ANY_ALGORITHM,
            );
            functions.check("cublasGemmStridedBatchedEx", status)
        }
    }
}

/// The types of inputs, of sums, and in which is computed.
fn types(kind: Kind) -> (c_int, c_int, c_int) {
    match kind {
        Kind::F32 => (R_32F, R_32F, COMPUTE_32F),
        Kind::F64 => (R_64F, R_64F, COMPUTE_64F),
        Kind::F16 => (R_16F, R_32F, COMPUTE_32F),
        Kind::Bf16 => (R_16BF, R_32F, COMPUTE_32F),
    }
}

/// A factor in the type in which is computed.
#[derive(Clone, Copy)]
enum Factor {
    F32(f32),
    F64(f64),
}

impl Factor {
    fn of(kind: Kind, factor: f64) -> Factor {
        match kind {
            Kind::F64 => Factor::F64(factor),
            _ => Factor::F32(factor as f32),
        }
    }

    fn pointer(&self) -> *const c_void {
        match self {
            Factor::F32(factor) => from_ref(factor).cast(),
            Factor::F64(factor) => from_ref(factor).cast(),
        }
    }
}

/// A product as cuBLAS has it. Its matrices are stored column after column, so that ours are their
/// transposes to it: `C' = B' A'`.
struct Call {
    kind: Kind,
    operations: [c_int; 2],
    extents: [c_int; 3],
    batches: c_int,
    alpha: Factor,
    beta: Factor,
}

/// Where a call works.
struct Target {
    stream: *mut c_void,
    /// Address, distance of rows and distance of matrices, in the library's order.
    matrices: [[u64; 3]; 3],
    /// Address and bytes.
    workspace: [u64; 2],
}

impl Target {
    fn of(cuda: &Native) -> Result<Target, LibraryError> {
        let [a, b, c, workspace] = &cuda.memory[..] else {
            return Err(LibraryError::None { what: "a product of other operands" });
        };
        let place = |m: &NativeMemory| [m.address, m.pitch[1] as u64, m.pitch[0] as u64];
        if [a, b, c].iter().any(|m| c_int::try_from(m.pitch[1]).is_err()) {
            return Err(LibraryError::None { what: "a product of rows that are so far apart" });
        }
        Ok(Target {
            stream: cuda.stream,
            matrices: [place(b), place(a), place(c)],
            workspace: [workspace.address, workspace.extent[2] as u64],
        })
    }
}

/// The library takes extents of 32 bits.
fn takes(extents: Extents) -> bool {
    let Extents { batches, rows, columns, depth } = extents;
    [batches, rows, columns, depth].iter().all(|n| c_int::try_from(*n).is_ok())
}

impl OnCuda {
    /// Submits a product, if the library is there and takes its extents; else gives back the
    /// operands.
    pub(crate) fn multiply<'s, T: Element>(
        &self,
        q: &Queue,
        options: Matmul,
        extents: Extents,
        operands: Operands<'s, T>,
    ) -> Result<Option<Operands<'s, T>>> {
        let Some(cublas) = self.cublas.clone().filter(|_| takes(extents)) else {
            return Ok(Some(operands));
        };
        let Operands { a, b, mut c } = operands;
        let Extents { batches, rows, columns, depth } = extents;
        let operation = |yes| if yes { TRANSPOSED } else { AS_IT_IS };
        let [of_a, of_b] = options.transposes.map(operation);
        let call = Call {
            kind: T::KIND,
            operations: [of_b, of_a],
            extents: [columns, rows, depth].map(|n| n as c_int),
            batches: batches as c_int,
            alpha: Factor::of(T::KIND, options.alpha),
            beta: Factor::of(T::KIND, options.beta),
        };
        let task = move |cuda: &Native| cublas.enqueue(&call, &Target::of(cuda)?);
        q.submit(|cg| {
            let (a, b) = (cg.label("matmul (cuBLAS)").read(&a), cg.read(&b));
            if options.beta == 0.0 {
                let args = (a, b, cg.discard(&mut c), cg.discard(&self.workspace));
                // SAFETY: the library reads `a` and `b`, and writes `c` and the workspace, on the
                // task's stream. The handle lives until the process ends; factors go with the call.
                unsafe { cg.each_run().capturable().interop(args, task) };
            } else {
                let args = (a, b, cg.read_write(&mut c), cg.discard(&self.workspace));
                // SAFETY: as above; `c` is read, too.
                unsafe { cg.each_run().capturable().interop(args, task) };
            }
            Ok(())
        })?;
        Ok(None)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    /// The number of the status that the library's functions give for a stream of this address.
    unsafe extern "C" fn create(handle: *mut Handle) -> Status {
        // SAFETY: a place for the answer.
        unsafe { *handle = with_exposed_provenance_mut(16) };
        0
    }

    unsafe extern "C" fn set_stream(_: Handle, stream: *mut c_void) -> Status {
        stream.addr() as Status
    }

    unsafe extern "C" fn set_workspace(_: Handle, _: *mut c_void, bytes: usize) -> Status {
        bytes as Status
    }

    unsafe extern "C" fn words(status: Status) -> *const std::ffi::c_char {
        if status == 14 { c"an internal operation failed".as_ptr() } else { std::ptr::null() }
    }

    /// Fails with the first address, unless the arguments are those of `call`.
    unsafe extern "C" fn gemm(
        _: Handle,
        _: c_int,
        _: c_int,
        m: c_int,
        n: c_int,
        k: c_int,
        alpha: *const c_void,
        a: *const c_void,
        input: c_int,
        lda: c_int,
        _: c_longlong,
        _: *const c_void,
        _: c_int,
        _: c_int,
        _: c_longlong,
        _: *const c_void,
        _: *mut c_void,
        sum: c_int,
        _: c_int,
        _: c_longlong,
        _: c_int,
        _: c_int,
        _: c_int,
    ) -> Status {
        // SAFETY: the factor of an `f32` product.
        let alpha = unsafe { *alpha.cast::<f32>() };
        let is_right = [m, n, k, lda, input, sum] == [2, 3, 4, 5, R_16F, R_32F] && alpha == 0.5;
        if is_right { a.addr() as Status } else { 99 }
    }

    fn fake() -> CuBlas {
        let functions =
            Functions { create, set_stream, set_workspace, gemm, words, _library: None };
        CuBlas::with(functions).unwrap()
    }

    fn enqueue(stream: usize, bytes: u64, a: u64) -> Result<(), LibraryError> {
        let call = Call {
            kind: Kind::F16,
            operations: [AS_IT_IS; 2],
            extents: [2, 3, 4],
            batches: 1,
            alpha: Factor::of(Kind::F16, 0.5),
            beta: Factor::of(Kind::F16, 0.0),
        };
        let stream = with_exposed_provenance_mut(stream);
        let matrices = [[a, 5, 0], [0; 3], [0; 3]];
        fake().enqueue(&call, &Target { stream, matrices, workspace: [0, bytes] })
    }

    #[test]
    fn a_call_passes_its_arguments() {
        assert_eq!(enqueue(0, 0, 0), Ok(()));
    }

    #[test]
    fn a_failing_function_is_an_error_with_the_librarys_words() {
        let failed = |stream, bytes, a| enqueue(stream, bytes, a).unwrap_err().to_string();
        let wanted = "cuBLAS: cublasGemmStridedBatchedEx failed: an internal operation failed";
        assert_eq!(failed(0, 0, 14), wanted);
        assert_eq!(failed(7, 0, 14), "cuBLAS: cublasSetStream failed: status 7");
        assert_eq!(failed(0, 8, 14), "cuBLAS: cublasSetWorkspace failed: status 8");
    }
}
