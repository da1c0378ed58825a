//! Whether there are GPUs by CUDA, and ways between them.

use cudarc::driver::sys::{self, CUresult};
use folio_core::hal::{Backend, Device, Notify};
use folio_cuda::CudaBackend;
use std::sync::{Arc, OnceLock};

/// Says so if there is none. Otherwise all are open from then on: a context takes up to 0.7 s to
/// make, and backends of this process find theirs made.
pub fn are_there() -> bool {
    static OPEN: OnceLock<Vec<Arc<dyn Device>>> = OnceLock::new();
    let backend = CudaBackend::new();
    match backend.devices() {
        Ok(devices) => {
            // SAFETY: nothing is done with them.
            let open = |at| unsafe { backend.open(at, Notify::none()) }.unwrap();
            OPEN.get_or_init(|| (0..devices.len()).map(open).collect());
            true
        }
        Err(why) => {
            println!("skipped: cuda: {}", why.reason);
            false
        }
    }
}

/// Whether each of the first so many GPUs reaches each other one, as the driver says by itself.
/// Only where there are so many.
pub fn all_are_peers(count: usize) -> bool {
    let device = |at: usize| {
        let mut device = 0;
        // SAFETY: the driver has been loaded, and a place for the answer is there.
        let got = unsafe { sys::cuDeviceGet(&raw mut device, at as i32) };
        assert_eq!(got, CUresult::CUDA_SUCCESS);
        device
    };
    let reaches = |a: usize, b: usize| {
        let mut can = 0;
        // SAFETY: as above.
        let asked = unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, device(a), device(b)) };
        assert_eq!(asked, CUresult::CUDA_SUCCESS);
        can != 0
    };
    (0..count).all(|a| (0..count).all(|b| a == b || reaches(a, b)))
}
