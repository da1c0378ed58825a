//! Below the engine nothing is checked: whoever opens a device answers for what is done with it.
use folio::hal::{Backend, Notify};

fn main() {
    let backend = folio::cpu::CpuBackend::new().unwrap();
    let _ = backend.open(0, Notify::none());
}
