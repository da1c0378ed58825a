//! Page-locked memory on the host, for buffers that ask for it.
//!
//! The memory is made when the buffer is, by a device's backend, and is the buffer's memory on the
//! host like any other: backends know it by its address. The memory is no link: transfers stay
//! transfers, and are faster. Once it is given back ([`release`](crate::Buffer::release), or
//! eviction), the host's memory is ordinary.

use crate::engine::Engine;
use crate::engine::pages::storage::{Alloc, Garbage, StorageId};
use crate::error::Error;
use crate::hal::{AllocKind, AllocReq};
use crate::pages::DomainId;

impl Engine {
    /// Gives a new storage memory on the host that device `at` has page-locked. The memory counts
    /// against the host's budget, since none of the device's memory is used.
    pub(crate) fn page_lock(&self, id: StorageId, at: u16) -> Result<(), Error> {
        let (bytes, label) = {
            let ledger = self.lock();
            let storage = &ledger.storages[id.0];
            (storage.bytes() as u64, storage.label.clone())
        };
        let request = AllocReq {
            kind: AllocKind::Host,
            size: bytes,
            align: crate::engine::terms::lender::DEVICE_ALIGN,
            import: None,
            zeroed: true,
            linked: false,
            exported: false,
            label: label.as_str(),
        };
        let budget = (&*self.host_budget, "host");
        let made = self.alloc_within(budget, at, request, "buffer", &label)?;
        let Some(host) = made.host else {
            self.free(Garbage { alloc: made, bytes: bytes as usize, domain: DomainId::HOST });
            let device = self.devices[usize::from(at)].name.clone();
            let what = format!("page-locked memory for buffer {label}: the host does not reach it");
            return Err(Error::Unsupported { device, what });
        };
        let alloc = Alloc::of_host(host, made.owner, made.clean);
        self.enter(|ledger| {
            let storage = &mut ledger.storages[id.0];
            storage.set_alloc(DomainId::HOST, alloc);
            storage.residency.holds(DomainId::HOST);
            ledger.note_memory(id, "buffer", (DomainId::HOST, bytes as usize), &alloc);
            ledger.count(Some(id), None, |c| c.page_locked_bytes += bytes);
        });
        Ok(())
    }
}
