//! Unified shared memory: allocations that stay where they are.
//!
//! [`Usm`] is the safe form: typed, owned, and tracked like a buffer that lives in one place only.
//! [`UsmPtr`] is the raw form, from a [`Usm`] or a buffer: operations on it are `unsafe`, and their
//! order against everything else is the caller's.

use crate::buffer::{
    AsPart, AsPartMut, Buffer, Part, ReadGuard, Shared, Slice, SliceMut, View, WriteGuard,
    reinterpreted, widen, widen_at,
};
use crate::element::DeviceType;
use crate::engine::memory::storages::AllocationFacts;
use crate::engine::pages::storage::{Alloc, Owner};
use crate::engine::terms::access::RawMem;
use crate::engine::terms::access::{Access, Mode};
use crate::engine::terms::lender::DEVICE_ALIGN;
use crate::engine::terms::link::{Linkage, NotLinked};
use crate::error::{Error, Label, Result};
use crate::geom::Box3;
use crate::hal::{AllocReq, HostPtr, MemBase, MemRef, PointerInfo, RawMemory};
use crate::pages::DomainId;
use crate::runtime::{Core, DeviceRef, Runtime};
use folio_kernel::words;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;

mod exported;

pub use crate::hal::AllocKind as UsmKind;

/// An owned allocation of one device: it never moves. Reads as zero until it is written.
///
/// Kernels of its device use it like a buffer; copies take it from and to anywhere. The host reads
/// and writes `Host` and `Shared` allocations in place, and `Device` ones of devices that
/// compute in the host's memory. Dropping it never blocks.
pub struct Usm<T: DeviceType> {
    pub(crate) view: View,
    kind: UsmKind,
    device: DeviceRef,
    pointer: UsmPtr,
    _elements: PhantomData<fn() -> T>,
}

/// A raw pointer to memory of a runtime: an allocation and an offset. Copying it does not keep the
/// memory alive; commands that name it do, until they are done.
#[derive(Clone, Copy, Debug)]
pub struct UsmPtr {
    pub(crate) at: RawMem,
    runtime: u64,
    address: Option<u64>,
    /// Bytes from here to the end of the allocation.
    bytes: usize,
}

impl UsmPtr {
    fn new(view: &View, alloc: &Alloc, domain: DomainId, bytes: usize) -> UsmPtr {
        let at = RawMem { mem: alloc.mem, domain, storage: Some(view.storage.id) };
        UsmPtr { at, runtime: view.storage.core.id, address: alloc.address, bytes }
    }

    /// The host's memory at `address` as a raw pointer, for commands and for
    /// [`buffer`](Self::buffer). Their caller answers for the memory.
    pub fn of_host(rt: &Runtime, address: *mut u8, bytes: usize) -> UsmPtr {
        let mem = MemRef { base: MemBase::Host(HostPtr(address)), offset: 0 };
        let at = RawMem { mem, domain: DomainId::HOST, storage: None };
        UsmPtr { at, runtime: rt.core.id, address: Some(address as u64), bytes }
    }

    /// The address on the device, where it has one; of host and shared memory, the host's. Kernels
    /// take pointers as arguments, and so work where the two differ, as by Vulkan.
    pub fn address(&self) -> Option<u64> {
        self.address
    }

    /// Bytes from here to the end of the allocation.
    pub fn bytes_left(&self) -> usize {
        self.bytes
    }

    /// `bytes` further on; `None` past the end, of the allocation or of all addresses.
    pub fn offset(mut self, bytes: usize) -> Option<UsmPtr> {
        self.bytes = self.bytes.checked_sub(bytes)?;
        self.at.mem.offset = self.at.mem.offset.checked_add(bytes as u64)?;
        if let Some(address) = &mut self.address {
            *address = address.checked_add(bytes as u64)?;
        }
        Some(self)
    }

    /// Rows of raw memory that begin here, with `bytes` from one to the next.
    pub fn rows(self, bytes: usize) -> UsmRows {
        UsmRows { row: Some(bytes), ..self.into() }
    }

    /// A buffer of `len` elements in this memory, which stays its owner's. If it is `current`, its
    /// contents are the buffer's. Otherwise the buffer is empty and reads as zero.
    /// [`Usm::into_buffer`] gives the memory to the buffer, too.
    ///
    /// A command that names both this buffer and whatever else has that memory, a [`Usm`] for one,
    /// is [`Error::Aliasing`] where they overlap and one is written. Between commands their order
    /// is the caller's business, as part of the promise.
    ///
    /// # Safety
    /// The memory stays valid until the buffer is dropped and everything that uses it is done;
    /// nobody else uses it meanwhile; if `current`, all of it is initialised.
    pub unsafe fn buffer<T: DeviceType>(
        self,
        rt: &Runtime,
        len: usize,
        current: bool,
    ) -> Result<Buffer<T>> {
        const WHAT: &str = "buffer over USM";
        self.check_runtime(&rt.core)?;
        if !self.place().is_multiple_of(align_of::<T>() as u64) {
            let (at, align) = (self.place(), align_of::<T>());
            return Err(Error::Misaligned { what: WHAT, label: Label::NONE, at, align });
        }
        let view = rt.storage::<T>([1, 1, len], 1, crate::BufferOptions::new(), None)?;
        view.storage.imported.store(true, Ordering::Relaxed);
        // The storage has checked that this does not overflow.
        if len * size_of::<T>() > self.bytes {
            let element = size_of::<T>();
            let [element, there] = [element, self.bytes].map(|n| words::count(n as u64, "byte"));
            let why = format!("{} of {element} in {there}", words::count(len as u64, "element"));
            return Err(Error::Configuration { what: WHAT, why });
        }
        let (id, RawMem { mem, domain, .. }) = (view.storage.id, self.at);
        let host = match mem.base {
            MemBase::Host(host) => Some(HostPtr(host.0.wrapping_add(mem.offset as usize))),
            MemBase::Device { .. } => None,
        };
        let (owner, address, clean) = (Owner::User, self.address, current);
        let (pointed, apart) = (false, NotLinked::Usm);
        let alloc = Alloc { mem, address, host, owner, clean, pointed, apart };
        rt.core.engine.enter(|ledger| {
            if !ledger.storages.is_live(&self.at) {
                return Err(Error::Freed { what: WHAT, label: Label::NONE });
            }
            ledger.storages[id.0].adopt(domain, alloc);
            Ok(())
        })?;
        Ok(Buffer::from_view(view))
    }

    /// An error unless it belongs to this runtime.
    pub(crate) fn check_runtime(&self, core: &Core) -> Result<()> {
        if self.runtime == core.id {
            return Ok(());
        }
        let label = self.address.map_or(Label::NONE, |at| Label::from(format!("{at:#x}")));
        Err(Error::WrongRuntime { what: "pointer", label, by: None })
    }

    /// What there is of an address to be aligned.
    pub(crate) fn place(&self) -> u64 {
        self.address.unwrap_or(self.at.mem.offset)
    }
}

/// Raw memory in rows and slices; from [`UsmPtr::rows`], or a [`UsmPtr`] where they lie close.
#[derive(Clone, Copy, Debug)]
pub struct UsmRows {
    pub(crate) pointer: UsmPtr,
    pub(crate) row: Option<usize>,
    pub(crate) slice: Option<usize>,
}

impl UsmRows {
    /// With `bytes` from one slice to the next; without this slices lie close.
    pub fn slices(self, bytes: usize) -> UsmRows {
        UsmRows { slice: Some(bytes), ..self }
    }
}

impl From<UsmPtr> for UsmRows {
    fn from(pointer: UsmPtr) -> UsmRows {
        UsmRows { pointer, row: None, slice: None }
    }
}

/// An allocation of a buffer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Allocation {
    /// Whose memory it is; `None`: the host's.
    pub device: Option<DeviceRef>,
    /// Its address there, where it has one.
    pub address: Option<u64>,
    /// Folio frees it; otherwise the program does.
    pub owned: bool,
    /// Bytes of memory that it has.
    pub bytes: u64,
    /// Bytes of a frame, where its memory comes in frames: then it may have memory for a part of
    /// the buffer only, and its address is that of all of it. See
    /// [`BufferOptions::sparse`](crate::BufferOptions::sparse).
    pub frame: Option<u64>,
    /// How many of the buffer's pages are current there.
    pub current: usize,
    /// How many pages the buffer has.
    pub pages: usize,
}

/// Where the memory of USM is from.
#[derive(Clone, Copy)]
enum Source {
    Own,
    /// Its own, which others may open.
    Exported,
    /// The program's, from a driver.
    Raw(RawMemory),
}

impl Runtime {
    /// Allocates `len` elements on a device, at once. A kind that the device does not have is
    /// [`Error::Unsupported`]. [`Usm::aligned`], [`Usm::exported`] and [`Usm::from_raw`] are the
    /// rarer ways.
    pub fn usm<T: DeviceType>(
        &self,
        device: &DeviceRef,
        kind: UsmKind,
        len: usize,
    ) -> Result<Usm<T>> {
        self.usm_over(device, kind, len, align_of::<T>(), Source::Own)
    }

    fn usm_over<T: DeviceType>(
        &self,
        device: &DeviceRef,
        kind: UsmKind,
        len: usize,
        align: usize,
        source: Source,
    ) -> Result<Usm<T>> {
        if !device.core.same(&self.core) {
            let label = Label::from(device.name());
            return Err(Error::WrongRuntime { what: "device", label, by: None });
        }
        let engine = &self.core.engine;
        let domain = engine.devices[usize::from(device.at)].domain;
        let options = crate::BufferOptions::new().label(format!("usm on {}", device.name()));
        let options = options.page([len.max(1)]);
        let view = self.storage::<T>([1, 1, len], 1, options, Some(domain))?;
        let (id, label) = (view.storage.id, view.storage.label.clone());
        let bytes = len * size_of::<T>();
        let align = align.max(align_of::<T>()) as u64;
        let most = engine.devices[usize::from(device.at)].info.memory;
        if align > most.max(DEVICE_ALIGN) {
            let what = format!("memory aligned to {}", words::bytes(align));
            return Err(Error::Unsupported { device: device.name().to_owned(), what });
        }
        // By way of its address it can be used before any command has a chance to zero it.
        let import = match source {
            Source::Raw(memory) => Some(memory),
            Source::Own | Source::Exported => None,
        };
        let (linked, exported) = (false, matches!(source, Source::Exported));
        let (size, zeroed, label_text) = (bytes as u64, import.is_none(), label.as_str());
        let req =
            AllocReq { kind, size, align, import, zeroed, linked, exported, label: label_text };
        let make = || engine.device_alloc(device.at, req, "USM allocation", &label);
        let mut made = make();
        if matches!(made, Err(Error::OutOfMemory { .. })) {
            engine.reclaim();
            made = make();
        }
        let mut alloc = engine.noting_loss(made)?;
        view.storage.imported.store(import.is_some() || exported, Ordering::Relaxed);
        alloc.clean |= import.is_some();
        let reachable = alloc.host.is_some() && (kind != UsmKind::Device || domain.is_host());
        view.storage.host_reachable.store(reachable, Ordering::Relaxed);
        engine.enter(|ledger| {
            // Data that are written unseen count, also when this has become a buffer.
            ledger.storages[id.0].adopt(domain, alloc);
            ledger.note_memory(id, "USM allocation", (domain, bytes), &alloc);
        });
        let pointer = UsmPtr::new(&view, &alloc, domain, bytes);
        Ok(Usm { view, kind, device: device.clone(), pointer, _elements: PhantomData })
    }

    /// What an address points to, and whose memory that is, if it lies in USM or in the memory of a
    /// buffer on one of the opened devices.
    pub fn query(&self, address: u64) -> Option<(DeviceRef, PointerInfo)> {
        let engine = &self.core.engine;
        let found = self.devices().into_iter().find_map(|device| {
            let opened = engine.devices[usize::from(device.at)].opened.get()?;
            let info = opened.usm().query(address)?;
            Some((device, info))
        });
        found.or_else(|| {
            // A buffer's memory on the host comes from the engine.
            let (start, size) = engine.enter(|ledger| ledger.storages.host_memory_at(address))?;
            let at_home =
                |device: &DeviceRef| engine.devices[usize::from(device.at)].domain.is_host();
            let device = self.devices().into_iter().find(at_home)?;
            let (kind, offset) = (UsmKind::Host, address - start);
            Some((device, PointerInfo { kind, handle: start, offset, size }))
        })
    }
}

impl<T: DeviceType> Usm<T> {
    /// As [`Runtime::usm`], aligned to `align` bytes at least, a power of two.
    pub fn aligned(device: &DeviceRef, kind: UsmKind, len: usize, align: usize) -> Result<Usm<T>> {
        if !align.is_power_of_two() {
            let why = format!("{align} is not a power of two");
            return Err(Error::Configuration { what: "alignment", why });
        }
        device.runtime().usm_over(device, kind, len, align, Source::Own)
    }

    /// Memory of a device that somebody else has allocated, as USM of kind
    /// [`Device`](UsmKind::Device): what it holds counts, and dropping this leaves it to them.
    /// [`into_buffer`](Self::into_buffer) makes a buffer of it. Nothing is allocated, and no budget
    /// counts it.
    ///
    /// The memory is the driver's, of the context that Folio uses: what an
    /// [interop task](crate::CommandGroup::interop) has allocated there, or in CUDA the primary
    /// context. A backend without such memory, or one that can see that it is of another context or
    /// too small, answers [`Error::Unsupported`].
    ///
    /// # Safety
    /// It is memory of `device`, of `len` elements at least, all of them written; it stays valid
    /// until what this returns, or the buffer made of it, is dropped and everything that uses it is
    /// done; and nobody else uses it meanwhile, except as the [raw pointer](Self::pointer) may be
    /// used.
    pub unsafe fn from_raw(device: &DeviceRef, memory: RawMemory, len: usize) -> Result<Usm<T>> {
        let align = align_of::<T>();
        if let RawMemory::Address(at) = memory
            && !at.is_multiple_of(align as u64)
        {
            return Err(Error::Misaligned { what: "USM", label: Label::NONE, at, align });
        }
        device.runtime().usm_over(device, UsmKind::Device, len, align, Source::Raw(memory))
    }

    /// This, which keeps the owner of its memory: `owner` is dropped when this, or the buffer that
    /// is made of it, is dropped and everything that uses the memory is done.
    ///
    /// ```
    /// # fn main() -> folio_core::Result<()> {
    /// # let rt = folio_core::Runtime::builder().build()?;
    /// # let Some(device) = rt.devices().pop() else { return Ok(()) };
    /// let library = std::sync::Arc::new("a library's array");
    /// let usm = rt.usm::<f32>(&device, folio_core::UsmKind::Device, 10)?.keeping(library.clone());
    /// assert_eq!(std::sync::Arc::strong_count(&library), 2);
    /// drop(usm);
    /// # rt.wait()?;
    /// assert_eq!(std::sync::Arc::strong_count(&library), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn keeping(self, owner: impl Send + 'static) -> Usm<T> {
        let storage = &self.view.storage;
        storage.core.engine.keep(storage.id, Box::new(owner));
        self
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        Box3::whole(self.view.dims).volume()
    }

    /// True when it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its shape.
    pub fn shape(&self) -> [usize; 1] {
        [self.len()]
    }

    /// Its kind.
    pub fn kind(&self) -> UsmKind {
        self.kind
    }

    /// Its device.
    pub fn device(&self) -> &DeviceRef {
        &self.device
    }

    /// Its raw pointer. No command knows of what is done by way of its
    /// [address](UsmPtr::address).
    pub fn pointer(&self) -> UsmPtr {
        self.pointer
    }

    /// The name by which the driver's own functions know it: an address, of the host's memory if it
    /// is there, or else an object. It is valid for as long as this is, or the buffer that is made
    /// of it; no command knows of what is done with it. A device may have neither:
    /// [`Error::Unsupported`]. The other way round is [`Usm::from_raw`].
    pub fn raw_memory(&self) -> Result<RawMemory> {
        let engine = &self.view.storage.core.engine;
        let device = &engine.devices[usize::from(self.device.at)];
        let at_host = device.domain.is_host() || self.kind == UsmKind::Host;
        if let Some(address) = self.pointer.address {
            let at = std::ptr::with_exposed_provenance_mut(address as usize);
            let host = RawMemory::Host(HostPtr(at));
            return Ok(if at_host { host } else { RawMemory::Address(address) });
        }
        let object = match (self.pointer.at.mem.base, device.opened.get()) {
            (MemBase::Device { handle, .. }, Some(opened)) => opened.usm().object(handle),
            _ => None,
        };
        object.map(RawMemory::Object).ok_or_else(|| Error::Unsupported {
            device: self.device.name().to_owned(),
            what: "memory that others could use".to_owned(),
        })
    }

    /// A part of it, to read.
    pub fn slice(&self, offset: usize, len: usize) -> Result<Slice<'_, T>> {
        Slice::new(&self.view, [0, 0, offset], [1, 1, len])
    }

    /// A part of it, to write.
    pub fn slice_mut(&mut self, offset: usize, len: usize) -> Result<SliceMut<'_, T>> {
        SliceMut::new(&self.view, [0, 0, offset], [1, 1, len])
    }

    /// A box of it as a command sees it when all of it has the shape `dims`: for copies and fills
    /// in two and three dimensions.
    pub fn window<const D: usize>(
        &self,
        dims: [usize; D],
        offset: [usize; D],
        extent: [usize; D],
    ) -> Result<Slice<'_, T, D>> {
        let view = reinterpreted::<T, D>(&self.view, dims)?;
        Slice::new(&view, widen_at(offset), widen(extent))
    }

    /// As [`window`](Self::window), to write.
    pub fn window_mut<const D: usize>(
        &mut self,
        dims: [usize; D],
        offset: [usize; D],
        extent: [usize; D],
    ) -> Result<SliceMut<'_, T, D>> {
        let view = reinterpreted::<T, D>(&self.view, dims)?;
        SliceMut::new(&view, widen_at(offset), widen(extent))
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
    /// The memory stays where it is, since the program may know where that is.
    pub fn into_buffer(self) -> Buffer<T> {
        let (storage, id) = (&self.view.storage, self.view.storage.id);
        storage.unbind();
        storage.core.engine.unbind(id);
        Buffer::from_view(self.view)
    }

    fn whole(&self) -> Part {
        self.view.whole()
    }
}

impl<T: DeviceType> crate::buffer::Sealed<T, 1> for &Usm<T> {}
impl<T: DeviceType> crate::buffer::SealedMut<T, 1> for &mut Usm<T> {}
#[diagnostic::do_not_recommend]
impl<T: DeviceType> AsPart<T, 1> for &Usm<T> {
    fn as_part(&self) -> Part {
        self.whole()
    }
}

#[diagnostic::do_not_recommend]
impl<T: DeviceType> AsPartMut<T, 1> for &mut Usm<T> {
    fn as_part_mut(&mut self) -> Part {
        self.whole()
    }
}

impl<T: DeviceType> std::fmt::Debug for Usm<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let elements = words::count(self.len() as u64, "element");
        write!(f, "Usm of {elements}, {:?}, on {}", self.kind, self.device.name())
    }
}

impl<T: DeviceType, const D: usize> Buffer<T, D> {
    /// Where the buffer is, or will be, on a device: the same for as long as the allocation is the
    /// buffer's. The first time that an address is asked for of [linked](Self::linkage) memory
    /// which host and device find at different ones, the buffer leaves its link: this waits for the
    /// commands that use the buffer, and the contents are copied once. What has failed with an
    /// error has left the contents as they were.
    ///
    /// Memory without addresses is [`Error::Unsupported`].
    ///
    /// Operations on the pointer are not ordered against the buffer: see
    /// [`CommandGroup::after`](crate::CommandGroup::after), [`Buffer::written`] and
    /// [`Buffer::assume_written`].
    pub fn pointer(&self, device: &DeviceRef) -> Result<UsmPtr> {
        let core: &Arc<Core> = &self.view.storage.core;
        if !device.core.same(core) {
            let label = Label::from(device.name());
            return Err(Error::WrongRuntime { what: "device", label, by: None });
        }
        let (engine, id) = (&core.engine, self.view.storage.id);
        let domain = engine.devices[usize::from(device.at)].domain;
        engine.open(device.at)?;
        let (alloc, bytes) = engine.address_of(id, domain)?;
        Ok(UsmPtr::new(&self.view, &alloc, domain, bytes))
    }

    /// Whether the buffer's memory on the host and on `device` is one: then changing between the
    /// two is a map or an unmap, and no copy. Decided when the device's memory is made, on first
    /// use; a [`pointer`](Self::pointer) may end it.
    pub fn linkage(&self, device: &DeviceRef) -> Result<Linkage> {
        let storage = &self.view.storage;
        if !device.core.same(&storage.core) {
            let label = Label::from(device.name());
            return Err(Error::WrongRuntime { what: "device", label, by: None });
        }
        let engine = &storage.core.engine;
        let domain = engine.devices[usize::from(device.at)].domain;
        if domain.is_host() {
            // Its memory is the host's.
            return Ok(Linkage::Linked);
        }
        Ok(engine.linkage(storage.id, domain))
    }

    /// The buffer's allocations: whose they are, and how much of the latest contents each has.
    ///
    /// ```
    /// # fn main() -> folio_core::Result<()> {
    /// # let rt = folio_core::Runtime::builder().build()?;
    /// let x = rt.buffer_from(&[1, 2, 3])?;
    /// let all = x.allocations();
    /// assert_eq!((all.len(), all[0].current, all[0].owned), (1, 1, true));
    /// assert!(all[0].device.is_none(), "the host's");
    /// # Ok(())
    /// # }
    /// ```
    pub fn allocations(&self) -> Vec<Allocation> {
        let storage = &self.view.storage;
        let engine = &storage.core.engine;
        let all = engine.allocations(storage.id).into_iter();
        all.map(|AllocationFacts { domain, address, owned, current, bytes, frame }| {
            let at = engine.devices.iter().position(|d| d.domain == domain);
            let at = at.filter(|_| !domain.is_host());
            Allocation {
                device: at.map(|at| DeviceRef { core: storage.core.clone(), at: at as u16 }),
                address,
                owned,
                bytes,
                frame,
                current,
                pages: storage.grid.count(),
            }
        })
        .collect()
    }

    /// Takes the buffer's allocation on `device` out of it, as USM. All of the buffer's contents
    /// are brought there first. What the buffer still has elsewhere stays with it: that must be all
    /// of the contents, or else this is [`Error::OnlyCopy`]; read it on the host before, for one.
    ///
    /// [`Error::InUse`] while commands or guards use the buffer. Memory that the buffer does not
    /// own, or that is linked, is [`Error::Unsupported`].
    pub fn take_allocation(&mut self, device: &DeviceRef) -> Result<Usm<T>> {
        let storage = &self.view.storage;
        let core = &storage.core;
        if !device.core.same(core) {
            let label = Label::from(device.name());
            return Err(Error::WrongRuntime { what: "device", label, by: None });
        }
        let engine = &core.engine;
        let domain = engine.devices[usize::from(device.at)].domain;
        engine.open(device.at)?;
        let rt = Runtime { core: core.clone() };
        let len = self.len();
        let options = crate::BufferOptions::new().label(format!("usm on {}", device.name()));
        let options = options.page([len.max(1)]);
        let view = rt.storage::<T>([1, 1, len], 1, options, Some(domain))?;
        let alloc = engine.take_allocation(storage.id, view.storage.id, domain, device.name())?;
        let reachable = alloc.host.is_some() && domain.is_host();
        view.storage.host_reachable.store(reachable, Ordering::Relaxed);
        let imported = storage.imported.load(Ordering::Relaxed);
        view.storage.imported.store(imported, Ordering::Relaxed);
        let pointer = UsmPtr::new(&view, &alloc, domain, len * size_of::<T>());
        let (kind, device) = (UsmKind::Device, device.clone());
        Ok(Usm { view, kind, device, pointer, _elements: PhantomData })
    }

    /// Gives the buffer memory on a device: `usm`, of as many elements, becomes its allocation
    /// there. The contents of the USM do not count. A buffer can have memory of the program's
    /// choice on several devices.
    ///
    /// [`Error::InUse`] while commands use the USM; [`Error::HasMemory`] if the buffer has memory
    /// there already; [`Error::Mismatch`] for another size; [`Error::Misaligned`] if the memory is
    /// not aligned for a type that the buffer had, before a [`reinterpret`](Self::reinterpret). The
    /// error returns the USM.
    #[expect(clippy::result_large_err, reason = "the memory comes back by value")]
    pub fn give_allocation(&mut self, usm: Usm<T>) -> Result<(), (Error, Usm<T>)> {
        let storage = &self.view.storage;
        let refused = if !usm.view.storage.core.same(&storage.core) {
            let label = usm.view.storage.label.clone();
            Some(Error::WrongRuntime { what: "USM", label, by: None })
        } else if usm.len() != self.len() {
            Some(Error::Mismatch {
                what: "allocation for buffer",
                label: storage.label.clone(),
                source_extent: vec![usm.len()],
                target: self.shape().to_vec(),
                needed: None,
            })
        } else {
            let engine = &storage.core.engine;
            let domain = engine.devices[usize::from(usm.device.at)].domain;
            engine.give_allocation(usm.view.storage.id, storage.id, domain, usm.device.name()).err()
        };
        match refused {
            Some(error) => Err((error, usm)),
            None => {
                let imported = usm.view.storage.imported.load(Ordering::Relaxed);
                storage.imported.fetch_or(imported, Ordering::Relaxed);
                Ok(())
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
        let core: &Arc<Core> = &self.view.storage.core;
        if !device.core.same(core) {
            let label = Label::from(device.name());
            return Err(Error::WrongRuntime { what: "device", label, by: None });
        }
        let (engine, storage) = (&core.engine, self.view.storage.id);
        let domain = engine.devices[usize::from(device.at)].domain;
        engine.open(device.at)?;
        let mode = Mode::Discard { whole: true };
        let access = Access::new((storage, &self.view.storage.grid), elements, mode, domain);
        engine.assume_written(&access)
    }

    /// Frees the buffer's allocation on a device. Refused while an operation uses the buffer, and
    /// where it holds the only current copy of a page.
    pub fn release(&mut self, device: &DeviceRef) -> Result<()> {
        let storage = &self.view.storage;
        let (engine, id) = (&storage.core.engine, storage.id);
        if !device.core.same(&storage.core) {
            let label = Label::from(device.name());
            return Err(Error::WrongRuntime { what: "device", label, by: None });
        }
        let domain = engine.devices[usize::from(device.at)].domain;
        if domain.is_host() && storage.policy().is_view() {
            // The program's: what is written elsewhere must come back to it.
            return Err(Error::InUse { buffer: storage.label.clone() });
        }
        engine.enter(|ledger| ledger.release_alloc(id, domain))
    }
}

impl<T: DeviceType, const D: usize> Shared<T, D> {
    fn as_buffer(&self) -> Buffer<T, D> {
        Buffer::from_view(self.view.clone())
    }

    /// As [`Buffer::pointer`].
    pub fn pointer(&self, device: &DeviceRef) -> Result<UsmPtr> {
        self.as_buffer().pointer(device)
    }

    /// As [`Buffer::assume_written`].
    ///
    /// # Safety
    /// As there; what the other handles are used for counts, too.
    pub unsafe fn assume_written(
        &self,
        offset: [usize; D],
        extent: [usize; D],
        device: &DeviceRef,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.as_buffer().assume_written(offset, extent, device) }
    }

    /// As [`Buffer::release`].
    pub fn release(&self, device: &DeviceRef) -> Result<()> {
        self.as_buffer().release(device)
    }
}
