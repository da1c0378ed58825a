//! Whether there are GPUs by CUDA.

use folio_core::hal::{Backend, Device, Notify};
use folio_cuda::CudaBackend;
use std::sync::{Arc, OnceLock};

/// Says so if there is none. Otherwise all are open from then on: a context takes up to 0.7 s to make, and backends of
/// this process find theirs made.
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
