//! Threads of the CPU's libraries.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::OnceLock;

/// Calls `compute`, whose parallel loops run on threads of the libraries' own: all threads of
/// rayon's common pool may be the program's, and wait for the result.
pub(crate) fn on_own_threads<R: Send>(compute: impl FnOnce() -> R + Send) -> R {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let named = || ThreadPoolBuilder::new().thread_name(|nth| format!("folio-linalg-{nth}"));
    match POOL.get_or_init(|| named().build().ok()) {
        Some(pool) => pool.install(compute),
        None => compute(),
    }
}
