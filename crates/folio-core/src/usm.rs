//! Unified shared memory: allocations that stay where they are.
//!
//! [`Usm`] is the safe form: typed, owned, and tracked like a buffer that lives in one place only.
//! [`UsmPtr`] is the raw form, from a [`Usm`] or a buffer: operations on it are `unsafe`, and their
//! order against everything else is the caller's.

use crate::buffer::{
    AsPart, AsPartMut, Buffer, Part, ReadGuard, Slice, SliceMut, View, WriteGuard,
};
use crate::element::DeviceType;
use crate::engine::access::{Access, Mode};
use crate::engine::stamp::Stamp;
use crate::engine::storage::Alloc;
use crate::error::{Error, Label, Result};
use crate::geom::Box3;
use crate::hal::{MemRef, PointerInfo};
use crate::pages::{DomainId, DomainSet};
use crate::runtime::{Core, DeviceRef, Runtime};
use std::marker::PhantomData;
use std::sync::Arc;

pub use crate::hal::AllocKind as UsmKind;

/// An owned allocation of one device: it never moves. Reads as zero until it is written.
///
/// Kernels of its device use it like a buffer; copies take it from and to anywhere. The host reads
/// and writes `Host` and `Shared` allocations in place, and `Device` ones of devices that
/// compute in the host's memory. Dropping it never blocks.
pub struct Usm<T: DeviceType> {
    view: View,
    kind: UsmKind,
    device: DeviceRef,
    pointer: UsmPtr,
    _elements: PhantomData<fn() -> T>,
}

/// A raw pointer to device memory: an allocation and an offset. Copying it does not keep the
/// memory alive.
#[derive(Clone, Copy, Debug)]
pub struct UsmPtr {
    pub(crate) mem: MemRef,
    pub(crate) domain: DomainId,
    address: Option<u64>,
    /// Bytes from here to the end of the allocation.
    bytes: usize,
}

impl UsmPtr {
    pub(crate) fn new(alloc: &Alloc, domain: DomainId, bytes: usize) -> UsmPtr {
        let mem = MemRef { base: alloc.base, offset: 0 };
        UsmPtr { mem, domain, address: alloc.address, bytes }
    }

    /// The address on the device, where it has one.
    pub fn address(&self) -> Option<u64> {
        self.address.map(|address| address + self.mem.offset)
    }

    /// Bytes from here to the end of the allocation.
    pub fn bytes_left(&self) -> usize {
        self.bytes
    }

    /// `bytes` further on; `None` past the end.
    pub fn offset(mut self, bytes: usize) -> Option<UsmPtr> {
        self.bytes = self.bytes.checked_sub(bytes)?;
        self.mem.offset += bytes as u64;
        Some(self)
    }
}

impl Runtime {
    /// Allocates `len` elements on a device, at once.
    pub fn usm<T: DeviceType>(
        &self,
        device: &DeviceRef,
        kind: UsmKind,
        len: usize,
    ) -> Result<Usm<T>> {
        self.usm_aligned(device, kind, len, align_of::<T>())
    }

    /// As [`usm`](Self::usm), aligned to `align` bytes at least, a power of two.
    pub fn usm_aligned<T: DeviceType>(
        &self,
        device: &DeviceRef,
        kind: UsmKind,
        len: usize,
        align: usize,
    ) -> Result<Usm<T>> {
        if !Arc::ptr_eq(&device.core, &self.core) {
            let label = Label::from(device.name());
            return Err(Error::WrongRuntime { what: "device", label });
        }
        if !align.is_power_of_two() {
            let why = format!("{align} is not a power of two");
            return Err(Error::Configuration { what: "alignment", why });
        }
        let engine = &self.core.engine;
        let domain = engine.devices[usize::from(device.at)].domain;
        let options = crate::BufferOptions::new().label(format!("usm on {}", device.name()));
        let options = options.page([len.max(1)]);
        let view = self.storage::<T>([1, 1, len], 1, options, Some(domain))?;
        let (id, label) = (view.storage.id, view.storage.label.clone());
        let bytes = len * size_of::<T>();
        let alloc = engine.device_alloc(
            device.at,
            kind,
            bytes,
            align.max(align_of::<T>()) as u64,
            "USM allocation",
            &label,
        )?;
        let reachable = alloc.host.is_some() && (kind != UsmKind::Device || domain.is_host());
        view.storage.host_reachable.store(reachable, std::sync::atomic::Ordering::Relaxed);
        engine.enter(|ledger| ledger.adopt(id, domain, alloc));
        let pointer = UsmPtr::new(&alloc, domain, bytes);
        Ok(Usm { view, kind, device: device.clone(), pointer, _elements: PhantomData })
    }

    /// What an address points to, if it lies in memory of one of the opened devices.
    pub fn query(&self, address: u64) -> Option<(DeviceRef, PointerInfo)> {
        self.devices().into_iter().find_map(|device| {
            let opened = self.core.engine.devices[usize::from(device.at)].opened.get()?;
            let info = opened.usm().query(address)?;
            Some((device, info))
        })
    }

    /// A buffer over memory that somebody else owns; `current`: its contents count, otherwise
    /// the buffer is empty and reads as zero.
    ///
    /// # Safety
    /// The memory stays valid until the buffer is dropped and everything that uses it is done; nobody
    /// else uses it meanwhile; `pointer` is of this runtime; if `current`, all of it is initialised.
    pub unsafe fn buffer_over<T: DeviceType>(
        &self,
        pointer: UsmPtr,
        len: usize,
        current: bool,
    ) -> Result<Buffer<T>> {
        let bytes = len.checked_mul(size_of::<T>());
        let aligned = pointer.address().is_none_or(|a| a % align_of::<T>() as u64 == 0);
        if bytes.is_none_or(|bytes| bytes > pointer.bytes) || !aligned || pointer.mem.offset != 0 {
            let why = format!(
                "{len} elements of {} bytes over {} bytes at offset {}",
                size_of::<T>(),
                pointer.bytes,
                pointer.mem.offset
            );
            return Err(Error::Configuration { what: "buffer over USM", why });
        }
        let view = self.storage::<T>([1, 1, len], 1, crate::BufferOptions::new(), None)?;
        let (id, domain) = (view.storage.id, pointer.domain);
        let host = match pointer.mem.base {
            crate::hal::MemBase::Host(host) => Some(host),
            crate::hal::MemBase::Device { .. } => None,
        };
        let owner = crate::engine::storage::Owner::User;
        let (base, address) = (pointer.mem.base, pointer.address);
        let alloc = Alloc { base, address, host, owner, clean: current };
        self.core.engine.enter(|ledger| {
            ledger.adopt(id, domain, alloc);
            if current {
                let storage = &mut ledger.storages[id.0];
                let all = storage.grid.all();
                storage.tracker.set(&all, DomainSet::of(domain));
            }
        });
        Ok(Buffer::from_view(view))
    }
}

impl<T: DeviceType> Usm<T> {
    /// Number of elements.
    pub fn len(&self) -> usize {
        Box3::whole(self.view.dims).volume()
    }

    /// True when it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its kind.
    pub fn kind(&self) -> UsmKind {
        self.kind
    }

    /// Its device.
    pub fn device(&self) -> &DeviceRef {
        &self.device
    }

    /// Its raw pointer.
    pub fn pointer(&self) -> UsmPtr {
        self.pointer
    }

    /// A part of it, to read.
    pub fn slice(&self, offset: usize, len: usize) -> Result<Slice<'_, T>> {
        Slice::new(&self.view, [0, 0, offset], [1, 1, len])
    }

    /// A part of it, to write.
    pub fn slice_mut(&mut self, offset: usize, len: usize) -> Result<SliceMut<'_, T>> {
        SliceMut::new(&self.view, [0, 0, offset], [1, 1, len])
    }

    /// The host's access to read, where the host reaches the memory.
    pub fn read(&self) -> Result<ReadGuard<T>> {
        self.slice(0, self.len())?.read()
    }

    /// The host's access to write, where the host reaches the memory.
    pub fn write(&mut self) -> Result<WriteGuard<T>> {
        let part = (&mut *self).as_part_mut();
        WriteGuard::take(&part, Mode::Update)
    }

    /// Makes a buffer of it, without copying: the memory is the buffer's allocation on this device.
    pub fn into_buffer(self) -> Buffer<T> {
        let (storage, id) = (&self.view.storage, self.view.storage.id);
        storage.unbind();
        storage.core.engine.enter(|ledger| ledger.storages[id.0].home = None);
        Buffer::from_view(self.view)
    }

    fn whole(&self) -> Part {
        Part { view: self.view.clone(), part: Box3::whole(self.view.dims) }
    }
}

impl<T: DeviceType> crate::buffer::Sealed for Usm<T> {}
impl<T: DeviceType> AsPart<T, 1> for &Usm<T> {
    fn as_part(&self) -> Part {
        self.whole()
    }
}

impl<T: DeviceType> AsPartMut<T, 1> for &mut Usm<T> {
    fn as_part_mut(&mut self) -> Part {
        self.whole()
    }
}

impl<T: DeviceType> std::fmt::Debug for Usm<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Usm of {} elements, {:?}, on {}", self.len(), self.kind, self.device.name())
    }
}

impl<T: DeviceType, const D: usize> Buffer<T, D> {
    /// Where the buffer is, or will be, on a device: the same for as long as the buffer lives.
    /// Operations on the pointer are not ordered against the buffer: see
    /// [`CommandGroup::after`](crate::CommandGroup::after), [`Buffer::written`] and
    /// [`Buffer::assume_written`].
    pub fn pointer(&self, device: &DeviceRef) -> Result<UsmPtr> {
        let core: &Arc<Core> = &self.view.storage.core;
        if !Arc::ptr_eq(&device.core, core) {
            let label = Label::from(device.name());
            return Err(Error::WrongRuntime { what: "device", label });
        }
        let (engine, id) = (&core.engine, self.view.storage.id);
        let domain = engine.devices[usize::from(device.at)].domain;
        engine.open(device.at)?;
        loop {
            let found = engine.enter(|ledger| {
                let storage = &ledger.storages[id.0];
                storage.alloc(domain).map(|a| UsmPtr::new(a, domain, storage.bytes()))
            });
            match found {
                Some(pointer) if pointer.address.is_some() => return Ok(pointer),
                Some(_) => {
                    let label = &self.view.storage.label;
                    let what = format!("addresses of its memory (buffer {label})");
                    return Err(Error::Unsupported { device: device.name().to_owned(), what });
                }
                None => engine.allocate(&[(id, domain)])?,
            }
        }
    }

    /// Says that something outside of Folio's sight has written a part of the buffer on `device`.
    ///
    /// # Safety
    /// It has, all of the part; and nothing that was submitted before still uses the buffer.
    pub unsafe fn assume_written(
        &mut self,
        offset: [usize; D],
        extent: [usize; D],
        device: &DeviceRef,
    ) -> Result<()> {
        let part = self.slice_mut(offset, extent)?.part;
        let (elements, exact) = part.view.in_storage(&part.part);
        if !exact {
            let why = "a part that is no box of the elements it was made with".to_owned();
            return Err(Error::Reinterpret { buffer: part.view.storage.label.clone(), why });
        }
        self.pointer(device)?;
        let (engine, storage) = (&self.view.storage.core.engine, self.view.storage.id);
        let domain = engine.devices[usize::from(device.at)].domain;
        let mode = Mode::Discard { whole: true };
        let grid = &self.view.storage.grid;
        let access = Access::new((storage, grid), elements, mode, domain);
        engine.enter(|ledger| ledger.mark(&[access], Stamp::DONE));
        Ok(())
    }

    /// Frees the buffer's allocation on a device. Refused while an operation uses the buffer, and
    /// where it holds the only current copy of a page.
    pub fn release(&mut self, device: &DeviceRef) -> Result<()> {
        let storage = &self.view.storage;
        let (engine, id) = (&storage.core.engine, storage.id);
        if !Arc::ptr_eq(&device.core, &storage.core) {
            let label = Label::from(device.name());
            return Err(Error::WrongRuntime { what: "device", label });
        }
        let domain = engine.devices[usize::from(device.at)].domain;
        if domain.is_host() && storage.borrowed.load(std::sync::atomic::Ordering::Relaxed) {
            // A scope's own: what is written elsewhere must come back to it.
            return Err(Error::InUse { buffer: storage.label.clone() });
        }
        engine.enter(|ledger| ledger.release_alloc(id, domain))
    }
}
