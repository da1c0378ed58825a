//! The structs of DLPack, as C has them.

use std::ffi::c_void;

/// The version of the structs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct DLPackVersion {
    /// Structs of another one have another layout.
    pub major: u32,
    /// Additions.
    pub minor: u32,
}

/// A device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct DLDevice {
    /// Its kind: see the constants.
    pub device_type: i32,
    /// Its number among those.
    pub device_id: i32,
}

impl DLDevice {
    /// The host.
    pub const CPU: i32 = 1;
    /// An NVIDIA GPU.
    pub const CUDA: i32 = 2;
    /// The host's memory, page-locked by CUDA.
    pub const CUDA_HOST: i32 = 3;
}

/// A type of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct DLDataType {
    /// What the bits mean: see the constants.
    pub code: u8,
    /// How many a number has.
    pub bits: u8,
    /// Numbers of an element.
    pub lanes: u16,
}

impl DLDataType {
    /// An integer with a sign.
    pub const INT: u8 = 0;
    /// An integer without a sign.
    pub const UINT: u8 = 1;
    /// An IEEE float.
    pub const FLOAT: u8 = 2;
    /// A bfloat.
    pub const BFLOAT: u8 = 4;
}

/// Memory, and what is in it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DLTensor {
    /// Where it begins.
    pub data: *mut c_void,
    /// Whose memory it is.
    pub device: DLDevice,
    /// How many dimensions there are.
    pub ndim: i32,
    /// The type of an element.
    pub dtype: DLDataType,
    /// The extent of each dimension.
    pub shape: *mut i64,
    /// From one element of a dimension to the next, in elements; null: row after row.
    pub strides: *mut i64,
    /// From `data` to the first element.
    pub byte_offset: u64,
}

/// A tensor and its owner: before version 1.
#[derive(Debug)]
#[repr(C)]
pub struct DLManagedTensor {
    /// The tensor.
    pub dl_tensor: DLTensor,
    /// The owner's.
    pub manager_ctx: *mut c_void,
    /// Called once, with this struct, when the consumer is done.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

/// A tensor and its owner: since version 1.
#[derive(Debug)]
#[repr(C)]
pub struct DLManagedTensorVersioned {
    /// The version of this struct.
    pub version: DLPackVersion,
    /// The owner's.
    pub manager_ctx: *mut c_void,
    /// Called once, with this struct, when the consumer is done.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
    /// See the constants.
    pub flags: u64,
    /// The tensor.
    pub dl_tensor: DLTensor,
}

impl DLManagedTensorVersioned {
    /// Of [`flags`](Self::flags): the consumer does not write.
    pub const READ_ONLY: u64 = 1;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::DLManagedTensor {}
    impl Sealed for super::DLManagedTensorVersioned {}
}

/// A tensor with its owner, in one of the two layouts.
pub trait Managed: sealed::Sealed + Sized + 'static {
    #[doc(hidden)]
    fn new(
        dl_tensor: DLTensor,
        manager_ctx: *mut c_void,
        deleter: Deleter<Self>,
        is_mutable: bool,
    ) -> Self;

    #[doc(hidden)]
    fn tensor(&self) -> &DLTensor;

    #[doc(hidden)]
    fn manager(&self) -> *mut c_void;

    #[doc(hidden)]
    fn is_read_only(&self) -> bool;

    /// The version, if it is none of ours.
    #[doc(hidden)]
    fn other_version(&self) -> Option<DLPackVersion>;

    #[doc(hidden)]
    fn deleter(&self) -> Option<Deleter<Self>>;
}

/// Ends a tensor.
pub type Deleter<M> = unsafe extern "C" fn(*mut M);

impl Managed for DLManagedTensor {
    fn new(dl_tensor: DLTensor, manager_ctx: *mut c_void, deleter: Deleter<Self>, _: bool) -> Self {
        DLManagedTensor { dl_tensor, manager_ctx, deleter: Some(deleter) }
    }

    fn tensor(&self) -> &DLTensor {
        &self.dl_tensor
    }

    fn manager(&self) -> *mut c_void {
        self.manager_ctx
    }

    fn is_read_only(&self) -> bool {
        false
    }

    fn other_version(&self) -> Option<DLPackVersion> {
        None
    }

    fn deleter(&self) -> Option<Deleter<Self>> {
        self.deleter
    }
}

/// The version that is written, and whose major number is read.
pub(super) const VERSION: DLPackVersion = DLPackVersion { major: 1, minor: 1 };

impl Managed for DLManagedTensorVersioned {
    fn new(
        dl_tensor: DLTensor,
        manager_ctx: *mut c_void,
        deleter: Deleter<Self>,
        is_mutable: bool,
    ) -> Self {
        let (version, deleter) = (VERSION, Some(deleter));
        let flags = if is_mutable { 0 } else { Self::READ_ONLY };
        DLManagedTensorVersioned { version, manager_ctx, deleter, flags, dl_tensor }
    }

    fn tensor(&self) -> &DLTensor {
        &self.dl_tensor
    }

    fn manager(&self) -> *mut c_void {
        self.manager_ctx
    }

    fn is_read_only(&self) -> bool {
        self.flags & Self::READ_ONLY != 0
    }

    fn other_version(&self) -> Option<DLPackVersion> {
        Some(self.version).filter(|version| version.major != VERSION.major)
    }

    fn deleter(&self) -> Option<Deleter<Self>> {
        self.deleter
    }
}
