//! cuBLAS inside of a command: on Folio's buffers, in Folio's order, without a wait on the host. Without a GPU or
//! the library it says so.

use folio_core::Runtime;
use folio_cuda::{CudaBackend, Native};
use libloading::{Library, Symbol};
use std::error::Error;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

type Status = c_int;
type Create = unsafe extern "C" fn(*mut *mut c_void) -> Status;
type OnHandle = unsafe extern "C" fn(*mut c_void) -> Status;
type SetStream = unsafe extern "C" fn(*mut c_void, *mut c_void) -> Status;
type Saxpy = unsafe extern "C" fn(
    *mut c_void,
    c_int,
    *const f32,
    *const f32,
    c_int,
    *mut f32,
    c_int,
) -> Status;

/// A handle of cuBLAS, for tasks that are called one at a time.
struct Blas {
    library: Library,
    handle: *mut c_void,
}

// SAFETY: a handle may be used by any thread, one at a time.
unsafe impl Send for Blas {}
// SAFETY: as above: this program has one task at a time.
unsafe impl Sync for Blas {}

fn ok(what: &str, status: Status) -> Result<(), String> {
    if status == 0 { Ok(()) } else { Err(format!("{what}: status {status}")) }
}

impl Blas {
    fn new() -> Result<Blas, String> {
        let names = ["libcublas.so.13", "libcublas.so.12", "libcublas.so", "cublas64_12.dll"];
        // SAFETY: the library's initialisers are trusted.
        let found = names.into_iter().find_map(|name| unsafe { Library::new(name) }.ok());
        let library = found.ok_or("cuBLAS is not installed")?;
        let mut handle = null_mut();
        // SAFETY: the type is the function's; a place for the answer.
        let made = unsafe {
            let create: Symbol<'_, Create> = library.get(b"cublasCreate_v2").map_err(text)?;
            create(&raw mut handle)
        };
        ok("cublasCreate", made)?;
        Ok(Blas { library, handle })
    }

    /// Enqueues `y += a * x`.
    fn saxpy(&self, cuda: &Native, a: f32) -> Result<(), String> {
        let [x, y] = &cuda.memory[..] else { return Err("two accesses are needed".to_owned()) };
        let n = x.extent[2] as c_int;
        let at = |address: u64| std::ptr::with_exposed_provenance_mut::<f32>(address as usize);
        // SAFETY: the types are the functions'; the stream is the task's, and `n` elements of each are accessed.
        unsafe {
            let set: Symbol<'_, SetStream> =
                self.library.get(b"cublasSetStream_v2").map_err(text)?;
            let saxpy: Symbol<'_, Saxpy> = self.library.get(b"cublasSaxpy_v2").map_err(text)?;
            ok("cublasSetStream", set(self.handle, cuda.stream))?;
            let (x, y) = (at(x.address), at(y.address));
            ok("cublasSaxpy", saxpy(self.handle, n, &raw const a, x, 1, y, 1))
        }
    }
}

impl Drop for Blas {
    fn drop(&mut self) {
        // SAFETY: ours, and all of its work has ended: the program has read the results.
        let _ = unsafe {
            self.library.get::<OnHandle>(b"cublasDestroy_v2").map(|destroy| destroy(self.handle))
        };
    }
}

fn text(error: libloading::Error) -> String {
    error.to_string()
}

fn main() -> Result<(), Box<dyn Error>> {
    let rt = Runtime::builder().backend(CudaBackend::new()).build()?;
    let Some(device) = rt.devices().into_iter().next() else {
        println!("no GPU: {}", rt.absent().join("; "));
        return Ok(());
    };
    let blas = match Blas::new() {
        Ok(blas) => Arc::new(blas),
        Err(why) => {
            println!("{why}");
            return Ok(());
        }
    };
    let q = rt.in_order_queue_on(&device)?;
    let n = 1 << 20;
    let mut x = rt.buffer::<f32>(n)?;
    let mut y = rt.buffer_from(&vec![1.0f32; n])?;
    for turn in 1..=10 {
        q.submit(|g| {
            g.fill(&mut x, turn as f32);
            Ok(())
        })?;
        let blas = blas.clone();
        q.submit(|g| {
            let accesses = (g.label("saxpy of cuBLAS").read(&x), g.read_write(&mut y));
            // SAFETY: it reads `x` and updates `y`, on the task's stream.
            unsafe { g.interop(accesses, move |cuda: &Native| blas.saxpy(cuda, 2.0)) };
            Ok(())
        })?;
    }
    let out = y.to_vec()?;
    assert!(out.iter().all(|y| *y == 111.0), "{}", out[0]);
    let moved = rt.counters().host_to_device;
    assert_eq!(moved.bytes, 4 * n as u64);
    println!("{device:?}: ten times 2 * x + y by cuBLAS, {} MiB uploaded", moved.bytes >> 20);
    Ok(())
}
