//! The memory that programs work on, in the forms in which the API gives it: buffers, USM, and the
//! host's own. Types are values here; those who know the type ask for parts with [`slice()`],
//! [`slice_mut()`] and [`pointer`](Handle::pointer).

use crate::compute;
use crate::lend::{self, Back, Words};
use crate::program::{BufferSpec, Memory, Ty, View};
use crate::watched::{Allocator, Trackers};
use folio_core::canary::Canary;
use folio_core::geom::linear;
use folio_core::{
    Buffer, BufferOptions, DeviceRef, DeviceType, Error, Moves, Queue, Result, Runtime, Shared,
    Slice, SliceMut, Usm, UsmPtr,
    buffer::{Policy, Reclaim},
    memory::{Evict, UsmRows},
};
use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// An element.
pub trait Elem: DeviceType {
    /// As a number.
    fn wide(self) -> u64;
    /// The low bits of a number.
    fn narrow(value: u64) -> Self;
    /// A handle of such elements.
    fn handle(buffer: Shared<Self, 3>) -> Handle;
    /// The handle that gives memory of such elements back.
    fn back(back: Reclaim<Words<Self>>) -> Back
    where
        Self: Sized;
    /// USM of such elements.
    fn usm(any: &mut AnyUsm) -> Option<&mut Usm<Self>>;
}

impl Elem for u32 {
    fn wide(self) -> u64 {
        u64::from(self)
    }
    fn narrow(value: u64) -> u32 {
        value as u32
    }
    fn handle(buffer: Shared<u32, 3>) -> Handle {
        Handle::U32(buffer)
    }
    fn back(back: Reclaim<Words<u32>>) -> Back {
        Back::U32(back)
    }
    fn usm(any: &mut AnyUsm) -> Option<&mut Usm<u32>> {
        if let AnyUsm::U32(usm) = any { Some(usm) } else { None }
    }
}

impl Elem for u64 {
    fn wide(self) -> u64 {
        self
    }
    fn narrow(value: u64) -> u64 {
        value
    }
    fn handle(buffer: Shared<u64, 3>) -> Handle {
        Handle::U64(buffer)
    }
    fn back(back: Reclaim<Words<u64>>) -> Back {
        Back::U64(back)
    }
    fn usm(any: &mut AnyUsm) -> Option<&mut Usm<u64>> {
        if let AnyUsm::U64(usm) = any { Some(usm) } else { None }
    }
}

/// USM of any type.
pub enum AnyUsm {
    /// Of `u32`.
    U32(Usm<u32>),
    /// Of `u64`.
    U64(Usm<u64>),
}

/// Memory of any type and shape; buffers are seen in three dimensions.
#[derive(Clone)]
pub enum Handle {
    /// A buffer of `u32`.
    U32(Shared<u32, 3>),
    /// A buffer of `u64`.
    U64(Shared<u64, 3>),
    /// USM.
    Usm(Arc<Mutex<AnyUsm>>),
    /// The host's own.
    Lent(Arc<HostWords>),
}

/// Memory of the host's own, whose users answer for their order.
pub struct HostWords {
    words: *mut [u64],
}

// SAFETY: it is an address; `load` and `store` leave to their callers when it is used.
unsafe impl Send for HostWords {}
// SAFETY: as above.
unsafe impl Sync for HostWords {}

impl HostWords {
    fn new(at: usize, spec: &BufferSpec) -> HostWords {
        let (volume, size) = (spec.dims.iter().product::<usize>(), spec.ty.size());
        let words = vec![0u64; (volume * size).div_ceil(8)].into_boxed_slice();
        let lent = HostWords { words: Box::into_raw(words) };
        for element in (0..volume).filter(|_| spec.initialised) {
            // SAFETY: nobody else knows of the memory, which has that many elements.
            unsafe { store(lent.address(), spec.ty, element, compute::initial(at, element)) };
        }
        lent
    }

    /// Its first byte.
    pub fn address(&self) -> usize {
        self.words.cast::<u8>().expose_provenance()
    }

    fn bytes(&self) -> usize {
        self.words.len() * 8
    }
}

impl Drop for HostWords {
    fn drop(&mut self) {
        // SAFETY: it came from a box, and whoever runs a program keeps it until all is over.
        drop(unsafe { Box::from_raw(self.words) });
    }
}

/// Element `index` of those at an address.
///
/// # Safety
/// The element is there, and no thread writes it meanwhile.
pub unsafe fn load(address: usize, ty: Ty, index: usize) -> u64 {
    let at = std::ptr::with_exposed_provenance::<u8>(address + index * ty.size());
    match ty {
        // SAFETY: the caller's; all memory of programs is aligned for `u64`.
        Ty::U32 => u64::from(unsafe { at.cast::<u32>().read() }),
        // SAFETY: as above.
        Ty::U64 => unsafe { at.cast::<u64>().read() },
    }
}

/// Changes element `index` of those at an address.
///
/// # Safety
/// The element is there, and no other thread uses it meanwhile.
pub unsafe fn store(address: usize, ty: Ty, index: usize, value: u64) {
    let at = std::ptr::with_exposed_provenance_mut::<u8>(address + index * ty.size());
    match ty {
        // SAFETY: the caller's; all memory of programs is aligned for `u64`.
        Ty::U32 => unsafe { at.cast::<u32>().write(value as u32) },
        // SAFETY: as above.
        Ty::U64 => unsafe { at.cast::<u64>().write(value) },
    }
}

/// Values that must live as long as a program's commands, whatever becomes of the handles.
#[derive(Default)]
pub struct Kept {
    memory: Vec<Box<dyn Any + Send + Sync>>,
    /// The handles that give memory back, of the buffers that are views.
    pub backs: Mutex<HashMap<usize, Back>>,
}

/// Makes what a program describes. Slices become buffers only in their scopes. The queue is that of
/// writebacks.
pub fn make(
    (rt, queue): (&Runtime, &Queue),
    at: usize,
    spec: &BufferSpec,
    kept: &mut Kept,
) -> Result<Option<Handle>> {
    Ok(Some(match spec.memory {
        Memory::Borrowed => return Ok(None),
        Memory::Own => own((rt, queue), at, spec, kept)?,
        Memory::Lent => {
            let lent = Arc::new(HostWords::new(at, spec));
            kept.memory.push(Box::new(lent.clone()));
            Handle::Lent(lent)
        }
        Memory::Usm(device, kind) => {
            let (device, len) = (&rt.devices()[device], spec.dims[2]);
            let owner = Canary::new("an owner of USM");
            Handle::Usm(Arc::new(Mutex::new(match spec.ty {
                Ty::U32 => AnyUsm::U32(rt.usm(device, kind, len)?.keeping(owner)),
                Ty::U64 => AnyUsm::U64(rt.usm(device, kind, len)?.keeping(owner)),
            })))
        }
        Memory::Over(_) => match spec.ty {
            Ty::U32 => Handle::U32(over(rt, at, spec, kept)?),
            Ty::U64 => Handle::U64(over(rt, at, spec, kept)?),
        },
    }))
}

fn own(by: (&Runtime, &Queue), at: usize, spec: &BufferSpec, kept: &mut Kept) -> Result<Handle> {
    Ok(match (spec.ty, spec.rank) {
        (Ty::U32, 1) => Handle::U32(buffer::<u32, 1>(by, at, spec, kept)?),
        (Ty::U32, 2) => Handle::U32(buffer::<u32, 2>(by, at, spec, kept)?),
        (Ty::U32, _) => Handle::U32(buffer::<u32, 3>(by, at, spec, kept)?),
        (Ty::U64, 1) => Handle::U64(buffer::<u64, 1>(by, at, spec, kept)?),
        (Ty::U64, 2) => Handle::U64(buffer::<u64, 2>(by, at, spec, kept)?),
        (Ty::U64, _) => Handle::U64(buffer::<u64, 3>(by, at, spec, kept)?),
    })
}

/// The first contents of a buffer.
pub fn contents<T: Elem>(at: usize, spec: &BufferSpec) -> Vec<T> {
    let volume = spec.dims.iter().product();
    (0..volume).map(|i| T::narrow(compute::initial(at, i))).collect()
}

fn buffer<T: Elem, const D: usize>(
    (rt, queue): (&Runtime, &Queue),
    at: usize,
    spec: &BufferSpec,
    kept: &mut Kept,
) -> Result<Shared<T, 3>> {
    let mut options = BufferOptions::new().label(format!("buffer {at}"));
    if let Some(page) = spec.page {
        options = options.page(cut::<D>(page));
    }
    if spec.dense {
        options = options.tracker(Arc::new(Trackers::default()));
    }
    if at % 3 == 1 && !spec.policy.is_view() {
        options = options.allocator(Arc::new(Allocator::default()));
    }
    if let Some((dirty, priority)) = spec.evict {
        let how = if dirty { Evict::dirty() } else { Evict::clean() };
        options = options.evict(how.priority(priority));
    }
    if spec.policy == Policy::SyncBuffer {
        options = options.sync();
    }
    let range = cut::<D>(spec.dims);
    let buffer: Buffer<T, D> = if spec.policy.is_view() {
        let (buffer, back) = lend::view(rt, queue, (at, spec), options)?;
        kept.backs.get_mut().unwrap_or_else(PoisonError::into_inner).insert(at, back);
        buffer
    } else if spec.initialised {
        // Copied, so that it is aligned for whatever it is reinterpreted as.
        let contents = contents::<T>(at, spec);
        rt.buffer_with((&contents, range), options)?
    } else {
        rt.buffer_with(range, options)?
    };
    buffer.into_shared().reinterpret(spec.dims)
}

/// A buffer over memory that is kept until the end.
fn over<T: Elem>(
    rt: &Runtime,
    at: usize,
    spec: &BufferSpec,
    kept: &mut Kept,
) -> Result<Shared<T, 3>> {
    let pointer = match spec.memory {
        Memory::Over(Some((device, kind))) => {
            let device = &rt.devices()[device];
            let mut usm = rt.usm::<T>(device, kind, spec.dims[2])?;
            if spec.initialised {
                let data = contents::<T>(at, spec);
                let filled = rt.queue_on(device)?.submit(|cg| {
                    cg.copy_from_slice(&data, &mut usm);
                    Ok(())
                })?;
                filled.wait()?;
            }
            let pointer = usm.pointer();
            kept.memory.push(Box::new(usm));
            pointer
        }
        _ => {
            let lent = Arc::new(HostWords::new(at, spec));
            kept.memory.push(Box::new(lent.clone()));
            UsmPtr::of_host(rt, std::ptr::with_exposed_provenance_mut(lent.address()), lent.bytes())
        }
    };
    // SAFETY: the memory is kept until everything is over, nobody else knows of it, and it has its
    // contents.
    let buffer = unsafe { pointer.buffer::<T>(rt, spec.dims[2], spec.initialised)? };
    buffer.into_shared().reinterpret(spec.dims)
}

fn assume<T: Elem>(of: &Shared<T, 3>, view: &View, device: &DeviceRef, salt: u32) -> Result<()> {
    let Some(address) = of.pointer(device)?.address() else { return Ok(()) };
    let (min, extent) = (view.part.min, view.part.extent());
    // SAFETY: whoever runs a program has waited for everything, and writes all of it below before
    // anything else is submitted.
    unsafe { of.assume_written(min, extent, device)? };
    for (item, cell) in view.part.cells().enumerate() {
        let at = linear(view.dims, cell);
        // SAFETY: all memory of programs is the host's, the buffer's of this shape, and idle.
        unsafe { store(address as usize, view.ty, at, compute::given(salt, item)) };
    }
    Ok(())
}

/// The last `D` numbers.
pub fn cut<const D: usize>(dims: [usize; 3]) -> [usize; D] {
    std::array::from_fn(|d| dims[3 - D + d])
}

fn locked(usm: &Mutex<AnyUsm>) -> std::sync::MutexGuard<'_, AnyUsm> {
    usm.lock().unwrap_or_else(PoisonError::into_inner)
}

/// No such elements are there.
fn other<R>() -> Result<R> {
    Err(Error::Configuration { what: "view", why: "it is of another type".to_owned() })
}

/// Gives a part to read to `f`.
pub fn slice<T: Elem, const D: usize, R>(
    of: &Handle,
    view: &View,
    f: impl FnOnce(Slice<'_, T, D>) -> R,
) -> Result<R> {
    let (dims, min) = (cut::<D>(view.dims), cut::<D>(view.part.min));
    let extent = cut::<D>(view.part.extent());
    match of {
        Handle::U32(h) => Ok(f(h.reinterpret::<T, D>(dims)?.slice(min, extent)?)),
        Handle::U64(h) => Ok(f(h.reinterpret::<T, D>(dims)?.slice(min, extent)?)),
        Handle::Usm(usm) => match T::usm(&mut locked(usm)) {
            Some(usm) => Ok(f(usm.window(dims, min, extent)?)),
            None => other(),
        },
        Handle::Lent(_) => other(),
    }
}

/// Gives a part to write to `f`.
pub fn slice_mut<T: Elem, const D: usize, R>(
    of: &Handle,
    view: &View,
    f: impl FnOnce(SliceMut<'_, T, D>) -> R,
) -> Result<R> {
    let (dims, min) = (cut::<D>(view.dims), cut::<D>(view.part.min));
    let extent = cut::<D>(view.part.extent());
    match of {
        Handle::U32(h) => Ok(f(h.reinterpret::<T, D>(dims)?.slice_mut(min, extent)?)),
        Handle::U64(h) => Ok(f(h.reinterpret::<T, D>(dims)?.slice_mut(min, extent)?)),
        Handle::Usm(usm) => match T::usm(&mut locked(usm)) {
            Some(usm) => Ok(f(usm.window_mut(dims, min, extent)?)),
            None => other(),
        },
        Handle::Lent(_) => other(),
    }
}

impl Handle {
    /// A view of a slice.
    pub fn of_view<T: Elem>(view: Buffer<T>) -> Result<Handle> {
        let dims = [1, 1, view.len()];
        Ok(T::handle(view.into_shared().reinterpret(dims)?))
    }

    /// The transfers of the buffer.
    pub fn moves(&self) -> Moves {
        match self {
            Handle::U32(h) => h.counters().transfers(),
            Handle::U64(h) => h.counters().transfers(),
            Handle::Usm(_) | Handle::Lent(_) => Moves::default(),
        }
    }

    /// The raw pointer to USM and to the host's own memory.
    pub fn pointer(&self, rt: &Runtime) -> Option<UsmPtr> {
        match self {
            Handle::Usm(usm) => Some(match &*locked(usm) {
                AnyUsm::U32(usm) => usm.pointer(),
                AnyUsm::U64(usm) => usm.pointer(),
            }),
            Handle::Lent(lent) => {
                let start = std::ptr::with_exposed_provenance_mut(lent.address());
                Some(UsmPtr::of_host(rt, start, lent.bytes()))
            }
            Handle::U32(_) | Handle::U64(_) => None,
        }
    }

    /// Gives memory of a buffer back; `None` if it is none.
    pub fn release(&self, device: &DeviceRef) -> Option<Result<()>> {
        match self {
            Handle::U32(h) => Some(h.release(device)),
            Handle::U64(h) => Some(h.release(device)),
            Handle::Usm(_) | Handle::Lent(_) => None,
        }
    }

    /// Writes a part of a buffer where it is on a device; `None` if it is none. Nobody uses it now.
    pub fn assume(&self, view: &View, device: &DeviceRef, salt: u32) -> Option<Result<()>> {
        match self {
            Handle::U32(h) => Some(assume(h, view, device, salt)),
            Handle::U64(h) => Some(assume(h, view, device, salt)),
            Handle::Usm(_) | Handle::Lent(_) => None,
        }
    }

    /// Where a view of raw memory begins, and the bytes to its end.
    pub fn span(&self, rt: &Runtime, view: &View) -> Option<(UsmPtr, usize)> {
        let start = self.pointer(rt)?;
        if view.part.is_empty() {
            return Some((start, 0));
        }
        let last = linear(view.dims, view.part.max.map(|end| end - 1));
        let first = linear(view.dims, view.part.min);
        Some((start.offset(first * view.ty.size())?, (last + 1 - first) * view.ty.size()))
    }

    /// The rows of a view of raw memory.
    pub fn rows(&self, rt: &Runtime, view: &View) -> Option<UsmRows> {
        let [_, rows, columns] = view.dims;
        let size = view.ty.size();
        // Nothing begins anywhere: also where there is no such place.
        let first = if view.part.is_empty() { 0 } else { linear(view.dims, view.part.min) };
        let start = self.pointer(rt)?.offset(first * size)?;
        let [slices, lines, _] = view.part.extent();
        Some(match (slices, lines) {
            (1, 1) => start.into(),
            (1, _) => start.rows(columns * size),
            _ => start.rows(columns * size).slices(rows * columns * size),
        })
    }

    /// USM as a buffer; `None` if it is none, or somebody else has it, too.
    pub fn adopt(self) -> Option<Result<Handle>> {
        let Handle::Usm(usm) = self else { return None };
        let usm = Arc::into_inner(usm)?.into_inner().unwrap_or_else(PoisonError::into_inner);
        Some(match usm {
            AnyUsm::U32(usm) => {
                let dims = [1, 1, usm.len()];
                usm.into_buffer().into_shared().reinterpret(dims).map(Handle::U32)
            }
            AnyUsm::U64(usm) => {
                let dims = [1, 1, usm.len()];
                usm.into_buffer().into_shared().reinterpret(dims).map(Handle::U64)
            }
        })
    }
}
