//! NVIDIA's libraries, opened when they are there.

mod cublas;
mod cufft;
mod cusparse;
mod loader;

pub(crate) use cusparse::Preparations;
pub(crate) use loader::System;

use crate::prelude::*;
use crate::{Library, LibraryError};
use cublas::CuBlas;
use cufft::CuFft;
use cusparse::CuSparse;
use folio::Shared;
use folio_cuda::Native;
use loader::Loader;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// NVIDIA's libraries that this machine has, or why it has not, whatever its devices are.
pub fn libraries() -> [(Library, Result<(), LibraryError>); 3] {
    [
        (Library::CuBlas, cublas::find(&System)),
        (Library::CuFft, cufft::find(&System)),
        (Library::CuSparse, cusparse::find(&System)),
    ]
}

/// Bytes in which the libraries work: as much as NVIDIA advises for cuBLAS on GPUs of compute
/// capability 9.
const WORKSPACE_BYTES: usize = 32 << 20;

/// The libraries of one GPU, or why they are not there.
#[derive(Clone)]
struct Libraries {
    cublas: Result<Arc<CuBlas>, LibraryError>,
    cufft: Result<Arc<CuFft>, LibraryError>,
    cusparse: Result<Arc<CuSparse>, LibraryError>,
}

/// What is open, for each `CUdevice`. No thread submits or waits while it has the lock.
static OPEN: Mutex<BTreeMap<i32, Libraries>> = Mutex::new(BTreeMap::new());

impl Default for Libraries {
    fn default() -> Libraries {
        let none = LibraryError::None { what: "anything" };
        Libraries { cublas: Err(none.clone()), cufft: Err(none.clone()), cusparse: Err(none) }
    }
}

impl Libraries {
    /// Those of a device, whose primary context is current. What was missing is looked for again.
    fn of_device(device: i32, loader: &dyn Loader) -> Libraries {
        let mut all = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.remove(&device).unwrap_or_default();
        let Libraries { cublas, cufft, cusparse } = known;
        let open = Libraries {
            cublas: cublas.or_else(|_| CuBlas::open(device, loader).map(Arc::new)),
            cufft: cufft.or_else(|_| CuFft::open(device, loader).map(Arc::new)),
            cusparse: cusparse.or_else(|_| CuSparse::open(device, loader).map(Arc::new)),
        };
        all.insert(device, open.clone());
        open
    }
}

/// What calls of the libraries on a device share.
pub(crate) struct OnCuda {
    cublas: Option<Arc<CuBlas>>,
    cufft: Option<Arc<CuFft>>,
    cusparse: Option<Arc<CuSparse>>,
    /// Memory of the libraries' own. Each call states that it writes here, so that no two calls use
    /// it at a time.
    workspace: Shared<u8>,
    /// The same for transforms that need more.
    work: Mutex<Option<Shared<u8>>>,
}

impl OnCuda {
    /// Opens the libraries in the device's context, by a task on a queue of its own: another queue
    /// may be recorded. Gives also what is missing.
    pub(crate) fn open(
        q: &Queue,
        loader: &'static dyn Loader,
    ) -> Result<(OnCuda, Vec<LibraryError>)> {
        let opened = Arc::new(OnceLock::new());
        let answer = opened.clone();
        let task = move |cuda: &Native| {
            let _ = answer.set(Libraries::of_device(cuda.device, loader));
        };
        let command = q.runtime().queue_on(&q.device())?.submit(|cg| {
            // SAFETY: the task enqueues nothing that uses memory of the program.
            unsafe { cg.label("set-up of libraries").interop((), task) };
            Ok(())
        })?;
        command.wait()?;
        let Libraries { cublas, cufft, cusparse } = opened.get().cloned().unwrap_or_default();
        let missing = [cublas.as_ref().err(), cufft.as_ref().err(), cusparse.as_ref().err()];
        let missing = missing.into_iter().flatten().cloned().collect();
        let workspace = q.runtime().buffer(WORKSPACE_BYTES)?.into_shared();
        let (cublas, cufft, cusparse) = (cublas.ok(), cufft.ok(), cusparse.ok());
        Ok((OnCuda { cublas, cufft, cusparse, workspace, work: Mutex::default() }, missing))
    }
}
