//! The platforms of hand-written code: rayon on the host's cores, or a driver's own calls.
//!
//! [`Native`] is as thin as it can be: each method is one call of the driver, or a few. Kernels are
//! C for OpenCL and CUDA alike; the words that differ are macros, which each driver's prelude
//! defines ([`opencl`], [`cuda`]); for Vulkan it is turned into GLSL (`glsl`). Nothing is tracked,
//! and nothing is allocated while time runs.
//!
//! | macro | means |
//! | --- | --- |
//! | `KERNEL`, `GLOBAL`, `LOCAL`, `RESTRICT` | what begins a kernel; memory; no other pointer |
//! | `X`, `Y`, `Z` | the item's position, the fastest dimension first |
//! | `LX`, `LY`, `GX` | the position within the group; the group's |
//! | `WITHIN(i, n)` | returns for items beyond `n`, where a launch is rounded up |
//! | `STREAM(..)` | the statements for item `i`; on GPUs for four, a group's width apart |
//! | `WIDE` | a float; on CPUs a vector of 16, for what drivers do not make vectors of |
//! | `BARRIER`, `FMA`, `INCREMENT(p)`, `ADD(p, n)` | of a group; of three floats; atomic |

#[cfg(feature = "cuda")]
pub mod cuda;
#[cfg(feature = "vulkan")]
pub mod glsl;
pub mod host;
#[cfg(feature = "opencl")]
pub mod opencl;
#[cfg(feature = "vulkan")]
pub mod vulkan;

use crate::error::{Error, Result};
use std::sync::Arc;

/// Lanes (command queues, streams) that a [`Native`] has.
pub const LANES: usize = 4;

/// The hand-written side of a device.
#[derive(Clone)]
pub enum Hand {
    /// Rust and rayon.
    Host,
    /// A driver's calls.
    Native(Arc<dyn Native>),
}

/// Where memory is, as the driver names it: a `cl_mem`, or an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The handle or address.
    pub at: usize,
    /// Whether it is an address of shared virtual memory.
    pub is_svm: bool,
}

/// A rectangle within memory: where it begins, and how far apart its rows are, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// Where it begins.
    pub offset: usize,
    /// From row to row.
    pub pitch: usize,
}

/// A side of a copy.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// The device's memory.
    Device(Place),
    /// The host's.
    Host(*mut u8),
}

/// A device, by its driver's own calls. All of a lane's commands run in order.
pub trait Native: Send + Sync {
    /// The API's name.
    fn api(&self) -> &'static str;
    /// Whether it is a processor, and shares the host's memory.
    fn is_cpu(&self) -> bool;
    /// Bytes of its last cache; 0: unknown.
    fn cache_bytes(&self) -> u64;
    /// Lets the calling thread use the device.
    fn enter(&self) -> Result<()>;
    /// Device memory; as shared virtual memory if `svm` and the API tells them apart.
    fn allocate(&self, bytes: usize, svm: bool) -> Result<Place>;
    /// Frees it.
    fn free(&self, place: Place);
    /// Page-locked host memory that lives as long as the process.
    fn host_memory(&self, bytes: usize) -> Result<*mut u8>;
    /// A kernel of its own, to be launched by one thread.
    fn kernel(&self, text: &str, name: &str) -> Result<usize>;
    /// Enqueues a launch.
    fn launch(&self, lane: usize, call: &Call) -> Result<()>;
    /// Enqueues a copy of rows of so many bytes.
    ///
    /// # Safety
    /// Both ends have these rows, and the host's stay until the lane is finished.
    unsafe fn copy(
        &self,
        lane: usize,
        to: (End, Rows),
        from: (End, Rows),
        extent: [usize; 2],
    ) -> Result<()>;
    /// Lets the host use so many bytes of device memory once the first lane has ended, until
    /// [`unmap`](Self::unmap).
    fn map(&self, _: Place, _: usize) -> Result<*mut u8> {
        Err(Error::NotHere(format!("by hand: {} does not map memory of devices", self.api())))
    }
    /// Enqueues that the device has mapped memory again.
    fn unmap(&self, _: Place, _: *mut u8) -> Result<()> {
        Ok(())
    }
    /// An event behind everything in a lane so far. The event lives until [`forget`](Self::forget).
    fn record(&self, lane: usize) -> Result<usize>;
    /// Lets a lane wait for an event.
    fn wait(&self, lane: usize, event: usize) -> Result<()>;
    /// Gives an event back.
    fn forget(&self, event: usize);
    /// Records launches once, to be replayed; `again`: in place of what was recorded as that, which
    /// has ended. Launches that use the same memory run in order.
    fn keep(&self, _: &[Call], _again: Option<usize>) -> Result<usize> {
        Err(Error::NotHere(format!("by hand: {} records no commands", self.api())))
    }
    /// Submits what was recorded, behind all that its lane has. The last replay has ended.
    fn replay(&self, _lane: usize, kept: usize) -> Result<()> {
        Err(Error::NotHere(format!("by hand: {} has not recorded {kept}", self.api())))
    }
    /// Submits what a lane has, and waits until it has ended.
    fn finish(&self, lane: usize) -> Result<()>;
}

/// Memory of a device, freed when dropped.
pub struct Memory {
    native: Arc<dyn Native>,
    /// Where it is.
    pub place: Place,
    /// Its size.
    pub bytes: usize,
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.native.free(self.place);
    }
}

/// Values that are copied as bytes.
///
/// # Safety
/// Without padding, and every pattern of bits is a value.
pub unsafe trait Plain: Copy + 'static {}
// SAFETY: plain numbers.
unsafe impl Plain for f32 {}
// SAFETY: plain numbers.
unsafe impl Plain for u32 {}
// SAFETY: an array of plain numbers.
unsafe impl Plain for [f32; 4] {}

impl Memory {
    /// Memory of so many bytes, unwritten.
    pub fn new(native: &Arc<dyn Native>, bytes: usize, svm: bool) -> Result<Memory> {
        let place = native.allocate(bytes, svm)?;
        Ok(Memory { native: native.clone(), place, bytes })
    }

    /// Memory with these values.
    pub fn of<T: Plain>(native: &Arc<dyn Native>, values: &[T]) -> Result<Memory> {
        let memory = Memory::new(native, size_of_val(values), false)?;
        memory.write(values)?;
        Ok(memory)
    }

    /// Sets its first values, and waits.
    pub fn write<T: Plain>(&self, values: &[T]) -> Result<()> {
        let bytes = size_of_val(values);
        assert!(bytes <= self.bytes, "the values fit");
        let rows = Rows { offset: 0, pitch: bytes };
        let from = End::Host(values.as_ptr().cast_mut().cast());
        // SAFETY: both have so many bytes (asserted), and we wait.
        unsafe {
            self.native.copy(0, (End::Device(self.place), rows), (from, rows), [1, bytes])?;
        }
        self.native.finish(0)
    }

    /// Its first values, when all lanes have ended.
    pub fn read<T: Plain + Default>(&self, len: usize) -> Result<Vec<T>> {
        (0..LANES).try_for_each(|lane| self.native.finish(lane))?;
        let mut values = vec![T::default(); len];
        let bytes = size_of_val(&*values);
        assert!(bytes <= self.bytes, "the values are there");
        let rows = Rows { offset: 0, pitch: bytes };
        let to = End::Host(values.as_mut_ptr().cast());
        // SAFETY: both have so many bytes (asserted), and we wait.
        unsafe {
            self.native.copy(0, (to, rows), (End::Device(self.place), rows), [1, bytes])?;
        }
        self.native.finish(0)?;
        Ok(values)
    }
}

/// An argument of a kernel.
#[derive(Clone)]
pub enum Arg {
    /// A 32-bit number.
    U32(u32),
    /// A float.
    F32(f32),
    /// Memory.
    Memory(Arc<Memory>),
}

impl From<f32> for Arg {
    fn from(value: f32) -> Arg {
        Arg::F32(value)
    }
}

impl From<usize> for Arg {
    fn from(value: usize) -> Arg {
        Arg::U32(value as u32)
    }
}

impl From<&Arc<Memory>> for Arg {
    fn from(memory: &Arc<Memory>) -> Arg {
        Arg::Memory(memory.clone())
    }
}

/// A kernel with arguments and items, to be launched any number of times.
#[derive(Clone)]
pub struct Call {
    /// The driver's handle.
    pub kernel: usize,
    /// The arguments.
    pub args: Vec<Arg>,
    /// Items, the fastest dimension first.
    pub items: [usize; 3],
    /// Dimensions in use.
    pub dims: usize,
    /// The group that the kernel asks for.
    pub group: Option<[usize; 3]>,
}

impl Call {
    /// A kernel of this text over items in up to three dimensions, the fastest first.
    pub fn new<const D: usize, const A: usize>(
        native: &Arc<dyn Native>,
        (text, name): (&str, &str),
        items: [usize; D],
        args: [Arg; A],
    ) -> Result<Call> {
        let kernel = native.kernel(text, name)?;
        let mut all = [1; 3];
        all[..D].copy_from_slice(&items);
        Ok(Call { kernel, args: args.to_vec(), items: all, dims: D, group: None })
    }

    /// In groups of this size, which divides the items.
    pub fn grouped<const D: usize>(mut self, group: [usize; D]) -> Call {
        let mut all = [1; 3];
        all[..D].copy_from_slice(&group);
        self.group = Some(all);
        self
    }

    /// The same kernel with other arguments.
    pub fn with<const A: usize>(&self, args: [Arg; A]) -> Call {
        Call { args: args.to_vec(), ..self.clone() }
    }
}

/// Items of a kernel whose body is in `STREAM`.
pub fn stream_items(native: &Arc<dyn Native>, n: usize) -> usize {
    if native.is_cpu() { n } else { n / 4 }
}

/// The group of a launch on a GPU for which none is asked: one that fills warps.
pub fn usual_group(dims: usize) -> [usize; 3] {
    match dims {
        1 => [256, 1, 1],
        _ => [32, 8, 1],
    }
}

/// For a driver's answer that is not its "success".
pub fn failed(call: &'static str, why: impl ToString) -> Error {
    Error::Driver { call, why: why.to_string() }
}
