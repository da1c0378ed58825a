//! Ways between GPUs, by CUDA.

use cudarc::driver::sys::{self, CUresult};

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
