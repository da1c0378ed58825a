//! Arrays of Python in and out by DLPack: objects with `__dlpack__`, which give capsules.

use crate::{runtime, told};
use folio::dlpack::{
    DLDevice, DLManagedTensor, DLManagedTensorVersioned, Managed, ReadOnly, Refusal, Tensor,
};
use folio::{Buffer, Runtime};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::CStr;

/// Whose memory an array is in.
#[derive(Clone, Copy)]
pub enum Place {
    Host,
    /// The GPU with this number.
    Cuda(i32),
}

/// The names of a capsule in DLPack's protocol.
trait Named: Managed {
    const NAME: &'static CStr;
    /// After another library has taken what it holds.
    const USED: &'static CStr;
}

impl Named for DLManagedTensorVersioned {
    const NAME: &'static CStr = c"dltensor_versioned";
    const USED: &'static CStr = c"used_dltensor_versioned";
}

impl Named for DLManagedTensor {
    const NAME: &'static CStr = c"dltensor";
    const USED: &'static CStr = c"used_dltensor";
}

/// The tensor of a capsule, if it has such a one; the capsule is used then.
fn taken<M: Named>(capsule: &Bound<'_, PyAny>) -> PyResult<Option<Tensor<M>>> {
    // SAFETY: a capsule, or another object, of which the first call says that it is none. The name
    // is changed before anything else, so that the capsule ends nothing.
    let raw = unsafe {
        if ffi::PyCapsule_IsValid(capsule.as_ptr(), M::NAME.as_ptr()) == 0 {
            return Ok(None);
        }
        let raw = ffi::PyCapsule_GetPointer(capsule.as_ptr(), M::NAME.as_ptr());
        if raw.is_null() || ffi::PyCapsule_SetName(capsule.as_ptr(), M::USED.as_ptr()) != 0 {
            return Err(PyErr::fetch(capsule.py()));
        }
        raw
    };
    // SAFETY: a capsule of this name holds such a tensor, by DLPack's protocol, and it is ours
    // since the name says so. Who calls a function of this module lets no other thread use the
    // array meanwhile, and has synchronised a GPU that still writes it (README). Arrays of one call
    // that share memory are refused by the functions (`is_apart`).
    unsafe { Tensor::from_raw(raw.cast()) }.map(Some).map_err(told)
}

/// An array that was handed in.
pub enum Input {
    Versioned(Tensor<DLManagedTensorVersioned>),
    Before(Tensor<DLManagedTensor>),
}

impl Input {
    /// Takes the array of any object with `__dlpack__`.
    pub fn take(object: &Bound<'_, PyAny>) -> PyResult<Input> {
        let py = object.py();
        if !object.hasattr("__dlpack__")? {
            let kind = object.get_type().name()?.to_string();
            let what = "has no `__dlpack__`; arrays of NumPy, PyTorch, CuPy and JAX have it";
            return Err(PyTypeError::new_err(format!("'{kind}' {what}")));
        }
        let words = PyDict::new(py);
        words.set_item("max_version", (1, 0))?;
        let capsule = match object.call_method("__dlpack__", (), Some(&words)) {
            // A library from before version 1 knows no such word.
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                object.call_method0("__dlpack__")?
            }
            given => given?,
        };
        if let Some(tensor) = taken::<DLManagedTensorVersioned>(&capsule)? {
            return Ok(Input::Versioned(tensor));
        }
        match taken::<DLManagedTensor>(&capsule)? {
            Some(tensor) => Ok(Input::Before(tensor)),
            None => Err(PyTypeError::new_err("`__dlpack__` gave no capsule with a tensor")),
        }
    }

    /// Where the array is.
    pub fn place(&self) -> Place {
        let device = match self {
            Input::Versioned(tensor) => tensor.as_dl().device,
            Input::Before(tensor) => tensor.as_dl().device,
        };
        match device.device_type {
            DLDevice::CUDA => Place::Cuda(device.device_id),
            _ => Place::Host,
        }
    }

    /// The first address of the array's bytes, and the first one behind them.
    fn bytes<const D: usize>(&self) -> Result<(usize, usize), Refusal> {
        Ok(match self {
            Input::Versioned(tensor) => tensor.layout::<f32, D>()?.bytes,
            Input::Before(tensor) => tensor.layout::<f32, D>()?.bytes,
        })
    }

    /// Fails if this array has memory of another one, which is to be written.
    pub fn is_apart<const D: usize, const E: usize>(&self, written: &Input) -> PyResult<()> {
        let of = |bytes: Result<_, Refusal>| bytes.map_err(told);
        let ((from, end), (start, behind)) = (of(self.bytes::<D>())?, of(written.bytes::<E>())?);
        match from < behind && start < end {
            true => {
                Err(PyValueError::new_err("the array that is written shares memory with another"))
            }
            false => Ok(()),
        }
    }

    /// A buffer to read: the array's memory, or a copy where elements do not lie row after row.
    pub fn read<const D: usize>(self, rt: &Runtime) -> folio::Result<Read<D>> {
        match self {
            Input::Versioned(tensor) => read(tensor, rt),
            Input::Before(tensor) => read(tensor, rt),
        }
    }

    /// A buffer in the array's memory, to write.
    pub fn write<const D: usize>(self, rt: &Runtime) -> folio::Result<Buffer<f32, D>> {
        match self {
            Input::Versioned(tensor) => Ok(tensor.import(rt)?),
            Input::Before(tensor) => Ok(tensor.import(rt)?),
        }
    }
}

fn read<M: Named, const D: usize>(tensor: Tensor<M>, rt: &Runtime) -> folio::Result<Read<D>> {
    match tensor.import_read_only(rt) {
        Ok(there) => Ok(Read::There(there)),
        Err(mut refused) => match (refused.tensor.take(), &refused.refusal) {
            (Some(tensor), Some(Refusal::Strides { .. } | Refusal::Alignment { .. })) => {
                tensor.to_buffer(rt).map(Read::Copied)
            }
            _ => Err(refused.error),
        },
    }
}

/// An array that is read.
pub enum Read<const D: usize> {
    There(ReadOnly<f32, D>),
    Copied(Buffer<f32, D>),
}

impl<const D: usize> Read<D> {
    pub fn buffer(&self) -> &Buffer<f32, D> {
        match self {
            Read::There(buffer) => buffer,
            Read::Copied(buffer) => buffer,
        }
    }
}

/// A matrix that a function of this module has made: `numpy.from_dlpack` and the like take it
/// without a copy.
#[pyclass]
pub struct Array {
    buffer: Buffer<f32, 2>,
    place: Place,
}

impl Array {
    pub fn new(buffer: Buffer<f32, 2>, place: Place) -> Array {
        Array { buffer, place }
    }
}

#[pymethods]
impl Array {
    #[getter]
    fn shape(&self) -> (usize, usize) {
        self.buffer.shape().into()
    }

    /// The elements, row after row.
    fn tolist(&self) -> PyResult<Vec<Vec<f32>>> {
        let all = self.buffer.to_vec().map_err(told)?;
        let columns = self.buffer.shape()[1].max(1);
        Ok(all.chunks(columns).map(<[f32]>::to_vec).collect())
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        match self.place {
            Place::Host => (DLDevice::CPU, 0),
            Place::Cuda(number) => (DLDevice::CUDA, number),
        }
    }

    /// Until who takes it lets go, nothing else uses the array. Work on it is done, so that every
    /// stream may go on at once.
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__(
        &mut self,
        py: Python<'_>,
        stream: Option<Py<PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Py<PyAny>> {
        let _ = stream;
        if copy == Some(true) || dl_device.is_some_and(|at| at != self.__dlpack_device__()) {
            let what = "an array of this module is given as it is, where it is";
            return Err(pyo3::exceptions::PyBufferError::new_err(what));
        }
        match max_version {
            Some((1.., _)) => self.capsule::<DLManagedTensorVersioned>(py),
            _ => self.capsule::<DLManagedTensor>(py),
        }
    }
}

impl Array {
    fn capsule<M: Named>(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let rt = runtime()?;
        let device = match self.place {
            Place::Host => rt.device("cpu"),
            Place::Cuda(number) => rt.device(format!("cuda:{number}").as_str()),
        };
        let device = device.map_err(told)?;
        let tensor = Tensor::<M>::export_mut(&mut self.buffer, &device).map_err(told)?;
        let raw = tensor.into_raw();
        // SAFETY: the name is for ever, and `unused` looks whether the tensor was taken.
        let made = unsafe { ffi::PyCapsule_New(raw.cast(), M::NAME.as_ptr(), Some(unused::<M>)) };
        if made.is_null() {
            // SAFETY: the tensor from above, which no capsule has.
            drop(unsafe { Tensor::from_raw(raw) });
            return Err(PyErr::fetch(py));
        }
        // SAFETY: a new object that is ours.
        Ok(unsafe { Bound::from_owned_ptr(py, made) }.unbind())
    }
}

/// The end of a capsule: a tensor that was not taken is ended here.
unsafe extern "C" fn unused<M: Named>(capsule: *mut ffi::PyObject) {
    // SAFETY: Python calls it with the capsule, once. A capsule that was taken has another name.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, M::NAME.as_ptr()) != 0 {
            let raw = ffi::PyCapsule_GetPointer(capsule, M::NAME.as_ptr());
            drop(Tensor::<M>::from_raw(raw.cast()));
        }
    }
}
