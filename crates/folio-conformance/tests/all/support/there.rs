//! Whether a backend has devices.

use folio_core::hal::Backend;

/// Says so, as tests do that are skipped, if it has none.
pub fn is_there(backend: &dyn Backend) -> bool {
    let found = backend.devices();
    if let Err(why) = &found {
        println!("skipped: {}: {}", backend.name(), why.reason);
    }
    found.is_ok()
}
