//! Opaque kernels: code in a language of their device's driver, launched over accesses that the
//! command states.

use crate::element::{DeviceType, bytes_of};
use crate::engine::kernels::loaded::LoadedKernel;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::group::{Read, ReadWrite, Write};
pub use crate::hal::{Image, Source};
use crate::runtime::{Core, DeviceRef};
use crate::token::Token;
use crate::usm::UsmPtr;
use folio_kernel::words::Plain;
use smallvec::SmallVec;
use std::sync::Arc;

/// A kernel in OpenCL C, CUDA C or PTX, loaded by one device; see [`DeviceRef::load`] and
/// [`CommandGroup::run_opaque`](crate::CommandGroup::run_opaque). Cheap to clone.
#[derive(Clone)]
pub struct OpaqueKernel {
    pub(crate) core: Arc<Core>,
    pub(crate) device: u16,
    pub(crate) loaded: Arc<LoadedKernel>,
    pub(crate) name: Arc<str>,
}

impl OpaqueKernel {
    /// The entry's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The device that has loaded it.
    pub fn device(&self) -> DeviceRef {
        DeviceRef { core: self.core.clone(), at: self.device }
    }
}

impl std::fmt::Debug for OpaqueKernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "OpaqueKernel {} on {}", Plain(&self.name), self.device().name())
    }
}

impl DeviceRef {
    /// Loads a kernel in a language of the device's driver: entry `name` of `source`.
    ///
    /// What is compiled is kept on disk, as that of kernel functions. Asked for the same again, the
    /// device has it: it keeps what it has loaded for as long as an [`OpaqueKernel`], a graph or a
    /// command under way uses it, and the latest 64 of the others.
    ///
    /// A language of another backend is [`Error::Unsupported`]. Code that does not compile, and an
    /// entry that is not there, are [`Error::Device`], with the compiler's log.
    pub fn load(&self, source: Source<'_>, name: &str) -> Result<OpaqueKernel> {
        self.load_with(source, name, &[])
    }

    /// As [`load`](Self::load), with options for the compiler. PTX and binaries have none.
    ///
    /// What is kept on disk is found by text and options, not by what the text includes from files:
    /// name a version of those in an option (`-DHEADERS=3`), or have nothing kept, with
    /// `FOLIO_CACHE=off`.
    pub fn load_with(
        &self,
        source: Source<'_>,
        name: &str,
        options: &[&str],
    ) -> Result<OpaqueKernel> {
        let loaded = self.core.engine.load_opaque(self.at, source, name, options)?;
        let (core, name) = (self.core.clone(), Arc::from(name));
        Ok(OpaqueKernel { core, device: self.at, loaded, name })
    }
}

/// An argument of an opaque kernel: made from an access or a [`UsmPtr`], or by a function here.
#[derive(Clone, Debug)]
pub struct OpaqueArg(pub(crate) OpaqueValue);

/// What is passed.
#[derive(Clone, Debug)]
pub(crate) enum OpaqueValue {
    Access(Token),
    Pointer(UsmPtr),
    /// In words, of so many bytes.
    Value(SmallVec<[u64; 2]>, usize),
    Local(usize),
}

impl OpaqueArg {
    /// A value, which is copied: a number, or a struct that derives [`DeviceType`]. It has the size
    /// that it has in Rust; a `float3` of OpenCL C, for one, is a `[f32; 4]`.
    pub fn value<T: DeviceType>(value: T) -> OpaqueArg {
        let value = [value];
        let bytes = bytes_of(&value);
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_ne_bytes(word)
        };
        OpaqueArg(OpaqueValue::Value(bytes.chunks(8).map(word).collect(), bytes.len()))
    }

    /// Local memory of each group. In OpenCL C it is what a `__local` parameter points to. In CUDA
    /// C it is dynamic shared memory, `extern __shared__`, which is no parameter; several of these
    /// are one piece there.
    pub fn local(bytes: usize) -> OpaqueArg {
        OpaqueArg(OpaqueValue::Local(bytes))
    }
}

impl<T, const D: usize> From<Read<T, D>> for OpaqueArg {
    fn from(access: Read<T, D>) -> OpaqueArg {
        OpaqueArg(OpaqueValue::Access(access.token))
    }
}

impl<T, const D: usize> From<Write<T, D>> for OpaqueArg {
    fn from(access: Write<T, D>) -> OpaqueArg {
        OpaqueArg(OpaqueValue::Access(access.token))
    }
}

impl<T, const D: usize> From<ReadWrite<T, D>> for OpaqueArg {
    fn from(access: ReadWrite<T, D>) -> OpaqueArg {
        OpaqueArg(OpaqueValue::Access(access.token))
    }
}

impl From<UsmPtr> for OpaqueArg {
    fn from(pointer: UsmPtr) -> OpaqueArg {
        OpaqueArg(OpaqueValue::Pointer(pointer))
    }
}
