//! Tensors of other libraries, by DLPack: buffers out, and tensors in, without copies.
//!
//! A [`Tensor`] is an owned tensor in DLPack's layout, whichever library has made it.
//! [`Tensor::export`] and [`Tensor::export_mut`] make one of a buffer, [`Tensor::into_raw`] hands
//! it over; [`Tensor::from_raw`] takes one over, and [`Tensor::import`] makes it a buffer.
//!
//! ```
//! use folio::dlpack::{DLManagedTensorVersioned, Tensor};
//!
//! let rt = folio::runtime()?;
//! let q = rt.queue()?;
//! let mut x = rt.buffer_from((&[1.0f32, 2.0, 3.0, 4.0], [2, 2]))?;
//!
//! // Out: to a library, which ends the tensor by its deleter.
//! let is_host = |device: &folio::DeviceRef| device.name() == "cpu:0";
//! let host = rt.devices().into_iter().find(is_host);
//! # let Some(host) = host else { return Ok(()) };
//! let tensor: Tensor<DLManagedTensorVersioned> = Tensor::export_mut(&mut x, &host)?;
//! let raw = tensor.into_raw();
//! assert!(matches!(q.fill(&mut x, 0.0), Err(folio::Error::HostAccessHeld { .. })));
//!
//! // In: the buffer works in the tensor's memory.
//! // SAFETY: the tensor from above, which nothing else has.
//! let mut y = unsafe { Tensor::from_raw(raw) }?.import::<f32, 2>(&rt)?;
//! q.fill(&mut y, 5.0)?;
//! drop(y); // writes back, and calls the deleter
//! assert_eq!(x.to_vec()?, [5.0; 4]);
//! # Ok::<(), folio::Error>(())
//! ```
//!
//! | memory | out | in |
//! | --- | --- | --- |
//! | the host's | `kDLCPU` | `kDLCPU`, `kDLCUDAHost` |
//! | of a CUDA device | `kDLCUDA` | `kDLCUDA` |
//! | of others | refused | refused |
//!
//! The guide's page *Exchange* has more.

mod abi;
mod layout;
mod tensor;

pub use crate::outside::ReadOnly;
pub use abi::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned, DLPackVersion, DLTensor,
    Managed,
};
pub use layout::{Element, Layout};
pub use tensor::{ImportError, Tensor};

/// Why a tensor is no buffer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A pointer is null.
    #[error("its {what} is null")]
    Null {
        /// Which one.
        what: &'static str,
    },
    /// The struct has another layout.
    #[error("it is of DLPack {}.{}, and this is 1", found.major, found.minor)]
    Version {
        /// Its version.
        found: DLPackVersion,
    },
    /// It has another number of dimensions.
    #[error("it has {found} dimensions, and the buffer {expected}")]
    Dimensions {
        /// How many it has.
        found: i32,
        /// How many the buffer has.
        expected: usize,
    },
    /// It has elements of another type.
    #[error("its elements are of {}, and those of the buffer of {}", named(*found), named(*expected))]
    Type {
        /// Their type.
        found: DLDataType,
        /// That of the buffer.
        expected: DLDataType,
    },
    /// An extent is negative.
    #[error("its extent is {extent} in dimension {dimension}")]
    Extent {
        /// The dimension.
        dimension: usize,
        /// The extent.
        extent: i64,
    },
    /// The elements reach beyond all memory.
    #[error("its elements reach beyond all memory: shape {shape:?}, strides {strides:?}")]
    Range {
        /// The extents.
        shape: Vec<i64>,
        /// The strides, if it has any.
        strides: Option<Vec<i64>>,
    },
    /// The first element is not aligned.
    #[error("its elements begin at {at:#x}, which is not aligned to {align} bytes")]
    Alignment {
        /// The address.
        at: usize,
        /// The alignment of the type.
        align: usize,
    },
    /// The elements do not lie row after row.
    #[error("its strides {strides:?} leave gaps, or are in another order: `to_buffer` copies it")]
    Strides {
        /// The strides, in elements.
        strides: Vec<i64>,
    },
    /// It must not be written.
    #[error("it must not be written: `import_read_only` reads it, `to_buffer` copies it")]
    ReadOnly,
    /// The memory is of a device that the runtime has not.
    #[error("its memory is of device {} of DLPack's kind {}, which the runtime has not", found.device_id, found.device_type)]
    Device {
        /// The device.
        found: DLDevice,
    },
    /// Only the host's memory is copied.
    #[error("it is in a device's memory, which is not copied here")]
    NotOnHost,
}

/// A type in words.
fn named(DLDataType { code, bits, lanes }: DLDataType) -> String {
    let kind = match code {
        DLDataType::INT => "i",
        DLDataType::UINT => "u",
        DLDataType::FLOAT => "f",
        DLDataType::BFLOAT => "bf",
        _ => return format!("{lanes} times {bits} bits of DLPack's type {code}"),
    };
    if lanes == 1 { format!("{kind}{bits}") } else { format!("{lanes} times {kind}{bits}") }
}

impl From<Refusal> for crate::Error {
    fn from(why: Refusal) -> crate::Error {
        crate::Error::Configuration { what: "DLPack tensor", why: why.to_string() }
    }
}
