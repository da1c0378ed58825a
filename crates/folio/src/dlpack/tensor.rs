//! Owned tensors, and the buffers that they become.

use super::Refusal;
use super::abi::{DLDevice, DLManagedTensorVersioned, DLTensor, Managed};
use super::layout::{Element, Layout, rows};
use crate::buffer::{AsPart, AsPartMut, Loan, ViewPolicy};
use crate::hal::{MemoryHome, RawMemory};
use crate::outside::{OwnedElements, ReadOnly};
use crate::{Buffer, BufferOptions, DeviceRef, Error, Result, Runtime, Usm};
use std::ffi::c_void;
use std::ptr::NonNull;

/// An owned tensor, in the layout of DLPack since version 1 or before it. The drop calls its
/// deleter.
pub struct Tensor<M: Managed = DLManagedTensorVersioned> {
    raw: NonNull<M>,
}

// SAFETY: who makes one from a pointer says that any thread may use and end it (`from_raw`); ours
// own a loan, which is `Send`.
unsafe impl<M: Managed> Send for Tensor<M> {}

/// A tensor that has become no buffer, and why. With `?` it becomes an [`Error`].
pub struct ImportError<M: Managed> {
    /// Why.
    pub error: Error,
    /// The reason, if it is in the tensor.
    pub refusal: Option<Refusal>,
    /// The tensor as it was. `None` if it has been ended.
    pub tensor: Option<Tensor<M>>,
}

impl<M: Managed> From<Box<ImportError<M>>> for Error {
    fn from(refused: Box<ImportError<M>>) -> Error {
        refused.error
    }
}

impl<M: Managed> std::fmt::Debug for ImportError<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Debug::fmt(&self.error, f)
    }
}

impl<M: Managed> std::fmt::Display for ImportError<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(&self.error, f)
    }
}

impl<M: Managed> std::error::Error for ImportError<M> {}

/// The owner of an exported tensor.
struct Export<M> {
    managed: M,
    shape: Box<[i64]>,
    strides: Box<[i64]>,
    /// Keeps the memory where it is, and others from using it.
    _loan: Box<dyn Send>,
}

/// Ends an exported tensor: its loan is over.
unsafe extern "C" fn ended<M: Managed>(managed: *mut M) {
    if managed.is_null() {
        return;
    }
    // SAFETY: DLPack's rule: the consumer calls it once, with the tensor, whose manager `exported`
    // has made by `Box::into_raw`.
    drop(unsafe { Box::from_raw((*managed).manager().cast::<Export<M>>()) });
}

/// The device by its name in DLPack, if it has one.
fn named(device: &DeviceRef) -> Result<DLDevice> {
    let number = device.name().strip_prefix("cuda:").and_then(|number| number.parse().ok());
    if let Some(device_id) = number {
        return Ok(DLDevice { device_type: DLDevice::CUDA, device_id });
    }
    if device.info().home == MemoryHome::Host {
        return Ok(DLDevice { device_type: DLDevice::CPU, device_id: 0 });
    }
    let what = "tensors of DLPack in its memory".to_owned();
    Err(Error::Unsupported { device: device.name().to_owned(), what })
}

fn exported<M: Managed, T: Element, const D: usize>(
    device: DLDevice,
    loan: Loan<T, D>,
) -> Tensor<M> {
    let (shape, is_mutable) = (loan.shape(), loan.is_mutable());
    let data = std::ptr::with_exposed_provenance_mut::<c_void>(loan.address() as usize);
    let tensor = DLTensor {
        data,
        device,
        ndim: D as i32,
        dtype: T::TYPE,
        shape: std::ptr::null_mut(),
        strides: std::ptr::null_mut(),
        byte_offset: 0,
    };
    let export = Export {
        managed: M::new(tensor, std::ptr::null_mut(), ended::<M>, is_mutable),
        // A buffer's extents are below 2^63.
        shape: shape.map(|extent| extent as i64).into(),
        strides: rows(shape).into(),
        _loan: Box::new(loan),
    };
    let export = Box::into_raw(Box::new(export));
    // SAFETY: the box from above, which nothing else has yet. The arrays stay where they are, and
    // are the consumer's to read until it calls the deleter.
    let raw = unsafe {
        let tensor = DLTensor {
            shape: (*export).shape.as_mut_ptr(),
            strides: (*export).strides.as_mut_ptr(),
            ..tensor
        };
        (*export).managed = M::new(tensor, export.cast(), ended::<M>, is_mutable);
        NonNull::new_unchecked(&raw mut (*export).managed)
    };
    Tensor { raw }
}

impl Tensor {
    /// The latest contents of a buffer or a part of it, on `device`, for a library that reads them.
    /// Waits until they are there.
    ///
    /// Until the library lets go, commands that would write are refused with
    /// [`Error::HostAccessHeld`], and the memory stays where it is. A part with gaps is
    /// [`Error::NotContiguous`]; a device that DLPack has no name for is [`Error::Unsupported`].
    ///
    /// A library is done with the memory, also on streams of its own, when it calls the deleter.
    pub fn export<T: Element, const D: usize>(
        x: impl AsPart<T, D>,
        device: &DeviceRef,
    ) -> Result<Tensor> {
        Ok(exported(named(device)?, device.lend(x)?))
    }
}

impl<M: Managed> Tensor<M> {
    /// As [`export`](Tensor::export), for a library that may write, too: until it lets go, all
    /// other uses are refused. Tensors before version 1 are only made so, since they cannot say
    /// that they are not to be written.
    pub fn export_mut<T: Element, const D: usize>(
        x: impl AsPartMut<T, D>,
        device: &DeviceRef,
    ) -> Result<Tensor<M>> {
        Ok(exported(named(device)?, device.lend_mut(x)?))
    }

    /// The tensor as another library takes it, which calls its deleter in the end. Nothing else
    /// does.
    pub fn into_raw(self) -> *mut M {
        std::mem::ManuallyDrop::new(self).raw.as_ptr()
    }

    /// Takes over a tensor of another library.
    ///
    /// A struct of another major version is [`Refusal::Version`], and its deleter is called.
    ///
    /// # Safety
    /// `raw` is null, or a tensor as DLPack describes it, which this owns from now on: its deleter
    /// has not been called, and may be called by any thread. Until it is called:
    /// - `shape` points to `ndim` numbers, and so does `strides` unless it is null;
    /// - all elements that these describe are initialised memory of the device that it names, and
    ///   all writes to them are done;
    /// - nothing else writes them, and unless it is read-only nothing else reads them.
    pub unsafe fn from_raw(raw: *mut M) -> Result<Tensor<M>, Refusal> {
        let raw = NonNull::new(raw).ok_or(Refusal::Null { what: "struct" })?;
        let tensor = Tensor { raw };
        match tensor.managed().other_version() {
            Some(found) => Err(Refusal::Version { found }),
            None => Ok(tensor),
        }
    }

    fn managed(&self) -> &M {
        // SAFETY: the tensor is this one's (`from_raw`), and nothing changes the struct.
        unsafe { self.raw.as_ref() }
    }

    /// The description.
    pub fn as_dl(&self) -> &DLTensor {
        self.managed().tensor()
    }

    /// It must not be written.
    pub fn is_read_only(&self) -> bool {
        self.managed().is_read_only()
    }

    /// Checks the description, and says where the elements are. Looks at no element.
    pub fn layout<T: Element, const D: usize>(&self) -> Result<Layout<D>, Refusal> {
        // SAFETY: `from_raw` asks for it.
        unsafe { Layout::read::<T>(self.as_dl()) }
    }

    fn is_on_host(&self) -> bool {
        [DLDevice::CPU, DLDevice::CUDA_HOST].contains(&self.as_dl().device.device_type)
    }

    /// A new buffer with a copy of the elements, whatever their strides, from the host's memory.
    pub fn to_buffer<T: Element, const D: usize>(&self, rt: &Runtime) -> Result<Buffer<T, D>> {
        let layout = self.layout::<T, D>()?;
        if !self.is_on_host() {
            return Err(Refusal::NotOnHost.into());
        }
        let at = |number| layout.address(size_of::<T>(), number);
        // SAFETY: the elements are initialised memory of the host (`from_raw`), where the layout
        // says; every bit pattern is a `T`.
        let read = |at| unsafe { std::ptr::with_exposed_provenance::<T>(at).read_unaligned() };
        let mut all: Vec<T> = Vec::new();
        // An element may stand in many places: the memory of all is not there yet.
        if all.try_reserve_exact(layout.len()).is_err() {
            let (extent, element_bytes) = (layout.shape.to_vec(), size_of::<T>());
            let (what, label) = ("copy of a DLPack tensor", "".into());
            return Err(Error::TooLarge { what, label, extent, element_bytes });
        }
        all.extend((0..layout.len()).map(|number| read(at(number))));
        rt.buffer_from((all, layout.shape))
    }

    /// A buffer that works in the tensor's memory. The tensor is ended when the buffer is dropped
    /// and everything that uses it is done. Of the host's memory, the drop waits, and leaves the
    /// latest contents there; of a device's, the drop does not wait.
    ///
    /// Refused is what must not be written, and elements that do not lie row after row:
    /// [`import_read_only`](Self::import_read_only) and [`to_buffer`](Self::to_buffer) take these.
    pub fn import<T: Element, const D: usize>(
        self,
        rt: &Runtime,
    ) -> Result<Buffer<T, D>, Box<ImportError<M>>> {
        if self.is_read_only() {
            return Err(self.refused(Refusal::ReadOnly));
        }
        self.imported(rt, ViewPolicy::SyncWriteback, BufferOptions::new())
    }

    /// As [`import`](Self::import), to read. The drop does not wait, and writes nothing.
    pub fn import_read_only<T: Element, const D: usize>(
        self,
        rt: &Runtime,
    ) -> Result<ReadOnly<T, D>, Box<ImportError<M>>> {
        // A program's own tracker could have data copied into the memory.
        let options = BufferOptions::new().own_tracker();
        self.imported(rt, ViewPolicy::Async, options).map(ReadOnly::new)
    }

    fn imported<T: Element, const D: usize>(
        self,
        rt: &Runtime,
        policy: ViewPolicy<'_>,
        options: BufferOptions,
    ) -> Result<Buffer<T, D>, Box<ImportError<M>>> {
        let layout = match self.layout::<T, D>() {
            Ok(layout) => layout,
            Err(why) => return Err(self.refused(why)),
        };
        let (at, align) = (layout.start, align_of::<T>());
        if !layout.is_compact() {
            return Err(self.refused(Refusal::Strides { strides: layout.strides.to_vec() }));
        }
        if !layout.is_empty() && !at.is_multiple_of(align) {
            return Err(self.refused(Refusal::Alignment { at, align }));
        }
        if self.is_on_host() {
            // SAFETY: as many elements, compact and aligned as checked above. The tensor keeps
            // them, and nothing else uses them until its deleter is called (`from_raw`).
            let owned = unsafe { OwnedElements::new(at, layout.len(), self) };
            return match rt.view(layout.shape, owned, policy.with(options)) {
                Ok((buffer, _)) => Ok(buffer),
                Err(refused) => Err(refused.storage.owner.failed(refused.error)),
            };
        }
        let found = self.as_dl().device;
        let name = format!("cuda:{}", found.device_id);
        let there = rt.devices().into_iter().find(|device| device.name() == name);
        let Some(device) = there.filter(|_| found.device_type == DLDevice::CUDA) else {
            return Err(self.refused(Refusal::Device { found }));
        };
        if layout.is_empty() {
            return rt.buffer(layout.shape).map_err(|error| self.failed(error));
        }
        let memory = RawMemory::Address(at as u64);
        // SAFETY: memory of the device with as many elements (`from_raw`), which the tensor keeps.
        match unsafe { Usm::<T>::from_raw(&device, memory, layout.len()) } {
            Ok(usm) => {
                let buffer = usm.keeping(self).into_buffer().reinterpret(layout.shape);
                buffer.map_err(|error| Box::new(ImportError { error, refusal: None, tensor: None }))
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    fn refused(self, why: Refusal) -> Box<ImportError<M>> {
        Box::new(ImportError { error: why.clone().into(), refusal: Some(why), tensor: Some(self) })
    }

    fn failed(self, error: Error) -> Box<ImportError<M>> {
        Box::new(ImportError { error, refusal: None, tensor: Some(self) })
    }
}

impl<M: Managed> Drop for Tensor<M> {
    fn drop(&mut self) {
        if let Some(deleter) = self.managed().deleter() {
            // SAFETY: the tensor is this one's, and this is its end.
            unsafe { deleter(self.raw.as_ptr()) };
        }
    }
}
