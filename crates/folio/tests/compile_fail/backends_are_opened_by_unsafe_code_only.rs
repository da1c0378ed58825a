//! Below the engine nothing is checked: the code that opens a device answers for its use.
use folio::hal::{Backend, Notify};

fn main() {
    let backend = folio::cpu::CpuBackend::new().unwrap();
    let _ = backend.open(0, Notify::none());
}
