//! NVIDIA's libraries, opened when they are there.

mod cublas;
mod cufft;
mod loader;

pub(crate) use loader::System;

use crate::prelude::*;
use crate::{Library, LibraryError};
use cublas::CuBlas;
use cufft::CuFft;
use folio::Shared;
use folio_cuda::Native;
use loader::Loader;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// NVIDIA's libraries that this machine has, or why it has not, whatever its devices are.
pub fn libraries() -> [(Library, Result<(), LibraryError>); 2] {
    [(Library::CuBlas, cublas::find(&System)), (Library::CuFft, cufft::find(&System))]
}

/// Bytes in which the libraries work: as much as NVIDIA advises for cuBLAS on GPUs of compute
/// capability 9.
const WORKSPACE_BYTES: usize = 32 << 20;

/// The libraries of one GPU, or why they are not there.
#[derive(Clone)]
struct Libraries {
    cublas: Result<Arc<CuBlas>, LibraryError>,
    cufft: Result<Arc<CuFft>, LibraryError>,
}

/// What is open, for each `CUdevice`. No thread submits or waits while it has the lock.
static OPEN: Mutex<BTreeMap<i32, Libraries>> = Mutex::new(BTreeMap::new());

impl Libraries {
    /// Those of a device, whose primary context is current. What was missing is looked for again.
    fn of_device(device: i32, loader: &dyn Loader) -> Libraries {
        let mut all = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.remove(&device);
        let (cublas, cufft) =
            known.map_or((None, None), |known| (known.cublas.ok(), known.cufft.ok()));
        let cublas = cublas.map_or_else(|| CuBlas::open(device, loader).map(Arc::new), Ok);
        let cufft = cufft.map_or_else(|| CuFft::open(device, loader).map(Arc::new), Ok);
        let open = Libraries { cublas, cufft };
        all.insert(device, open.clone());
        open
    }
}

/// What calls of the libraries on a device share.
pub(crate) struct OnCuda {
    cublas: Option<Arc<CuBlas>>,
    cufft: Option<Arc<CuFft>>,
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
        let none = LibraryError::None { what: "anything" };
        let all = opened.get().cloned();
        let all = all.unwrap_or(Libraries { cublas: Err(none.clone()), cufft: Err(none) });
        let missing = all.cublas.as_ref().err().into_iter().chain(all.cufft.as_ref().err());
        let missing = missing.cloned().collect();
        let workspace = q.runtime().buffer(WORKSPACE_BYTES)?.into_shared();
        let (cublas, cufft) = (all.cublas.ok(), all.cufft.ok());
        Ok((OnCuda { cublas, cufft, workspace, work: Mutex::default() }, missing))
    }
}
